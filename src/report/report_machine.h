/* report_machine.h - reports about this machine: its devices and their ceilings, and whether it is
 * fit for measuring. The commands collect it; documents (report/subject) show it to people, JSON
 * writers (report/json) to programs.
 *
 * Documents: 0 or ASSAY_ENOMEM; what they are about must outlive them. */
#ifndef ASSAY_REPORT_REPORT_MACHINE_H
#define ASSAY_REPORT_REPORT_MACHINE_H

#include "experiment/device_search.h"
#include "probe/capture.h"
#include "probe/hardware.h"
#include "probe/probe.h"
#include "report/doc/doc.h"

struct assay__json_writer;

/* --- devices ---------------------------------------------------------------------------------- */

#define ASSAY__DEVICES_TABLES "devices|hardware|ceilings" /* that CSV shows */

/** The hardware of a device: its driver's name for it, for the CPU the processor; "" unknown. */
const char *assay__found_hardware(const struct assay__found *found,
                                  const struct assay__device *device);
int assay__devices_document(const struct assay__found *found, struct assay__doc **doc);
void assay__devices_json(struct assay__buf *out, const struct assay__found *found);

/* Parts of the document. */

/** A section: processors, kinds of cores, caches, memory. memory_bytes: of the machine (0 unknown);
 * a note says if the nodes do not add up to it. */
void assay__add_topology(struct assay__doc *doc, const struct assay__topology *topology,
                         uint64_t memory_bytes);
/** A section with the GPUs and NPUs. `reached`: for each, the devices that run on it, or unknown
 * with what is missing; NULL: not determined. */
void assay__add_hardware(struct assay__doc *doc, const struct assay__hardware *items, size_t count,
                         const struct assay__datum *reached);
/** A section with a set: where, when and how it was measured; one core next to all cores or, for a
 * device, best and median next to the published peak; notes. `name`: the device's name for the
 * reader ("gpu/cuda:0"); NULL: the CPU. */
void assay__add_ceilings(struct assay__doc *doc, const struct assay__ceilings *set,
                         const char *name);
/** The table for CSV: a row per ceiling. */
struct assay__table *assay__add_ceiling_table(struct assay__doc *doc);
void assay__add_ceiling_rows(struct assay__table *table, const struct assay__ceilings *set,
                             const char *device);

/* Members of the JSON object that is open. */

/** "topology": an object. */
void assay__topology_json(struct assay__json_writer *w, const struct assay__topology *topology);
/** "hardware": an array. */
void assay__hardware_json(struct assay__json_writer *w, const struct assay__hardware *items,
                          size_t count);
/** "ceilings" (an object by name), "ceilings_state", "ceilings_note", "ceilings_measurement".
 *  set NULL: none, and `why`. */
void assay__ceilings_json(struct assay__json_writer *json, const struct assay__ceilings *set,
                          const char *why);

/* --- doctor ----------------------------------------------------------------------------------- */

/* A probe of the table, open. */
struct assay__examined {
    const struct assay__probe_ops *ops;
    struct assay__arena *arena; /* of the probe */
    struct assay__probe *probe; /* NULL: it could not be opened at all */
    const struct assay__channel *channels;
    size_t channel_count, available_count;
    struct assay__probe_reading *readings; /* of the last read */
    const char *reason;                    /* without an available channel; "" */
    double read_ns, slowest_ns; /* one read of all its channels: median and max; NaN unknown */
    int reads;
};

enum assay__health {
    ASSAY__HEALTH_GOOD,
    ASSAY__HEALTH_WARNING,
    ASSAY__HEALTH_MISSING,
    ASSAY__HEALTH_UNKNOWN
};
const char *assay__health_name(enum assay__health health);

struct assay__diagnosis {
    const char *id;
    enum assay__health health;
    struct assay__buf says;   /* what is so */
    struct assay__buf advice; /* what would change it */
};

/** What makes numbers of this machine untrustworthy or unavailable. */
struct assay__checkup {
    const struct assay__diagnosis *checks;
    size_t check_count;
    const struct assay__examined *probes;
    size_t probe_count;
};

#define ASSAY__DOCTOR_TABLES "checks|probes|channels|written|not-written" /* that CSV shows */

int assay__doctor_document(const struct assay__checkup *checkup, struct assay__doc **doc);
void assay__doctor_json(struct assay__buf *out, const struct assay__checkup *checkup);
/** What was copied into the folder, and what could not be. */
int assay__capture_document(const struct assay__capture *capture, const char *folder,
                            struct assay__doc **doc);
void assay__capture_json(struct assay__buf *out, const struct assay__capture *capture,
                         const char *folder);

#endif
