/* doctor.h - what the parts of assay doctor share: the machine as it was found, and one finding per
 * check. */
#ifndef ASSAY_CLI_DOCTOR_H
#define ASSAY_CLI_DOCTOR_H

#include "base/arena.h"
#include "base/buf.h"
#include "platform/platform.h"
#include "probe/probe.h"

struct assay__json_writer;
struct assay__page;

/* A probe of the table, open. */
struct assay__examined {
    const struct assay__probe_ops *ops;
    struct assay__arena *arena; /* of the probe */
    struct assay__probe *probe; /* NULL: it could not be opened at all */
    const struct assay__channel *channels;
    size_t channel_count, available_count;
    struct assay__probe_reading *readings; /* of the last read */
    const char *reason;                    /* without an available channel; "" */
    double read_ns, slowest_ns; /* one read of all its channels: median and greatest; NaN unknown */
    int reads;
};

/* What the checks look at; read once. */
struct assay__patient {
    struct assay__arena *arena;
    struct assay__machine machine;
    struct assay__disturbance before, after;
    char allowed[512];
    struct assay__examined *probes;
    size_t probe_count;
};

enum assay__verdict {
    ASSAY__VERDICT_GOOD,
    ASSAY__VERDICT_WARNING,
    ASSAY__VERDICT_MISSING,
    ASSAY__VERDICT_UNKNOWN
};

struct assay__diagnosis {
    enum assay__verdict verdict;
    struct assay__buf says;   /* what is so */
    struct assay__buf advice; /* what would change it */
};

typedef void assay__check(const struct assay__patient *patient, struct assay__diagnosis *diagnosis);

/* doctor_system.c */
assay__check assay__check_limits, assay__check_smt, assay__check_turbo, assay__check_swap,
    assay__check_perf_events, assay__check_pmu;

/* doctor_hardware.c */
assay__check assay__check_drivers;

/* doctor_probes.c */

/** Opens every probe and measures what a read costs. 0 or ASSAY_ENOMEM. */
int assay__doctor_probes_open(struct assay__patient *patient);
void assay__doctor_probes_close(struct assay__patient *patient);
/** A limit that the cgroup probe reads; NaN: none, or not known. *known: the file was read.
 *  *source: it, or "". */
double assay__doctor_limit(const struct assay__patient *patient, const char *channel,
                           const char **source, bool *known);
void assay__doctor_probes_text(struct assay__page *page, const struct assay__patient *patient);
void assay__doctor_probes_json(struct assay__json_writer *json,
                               const struct assay__patient *patient);

/* doctor_capture.c: the exit status */
int assay__doctor_capture(const char *folder, bool json);

#endif
