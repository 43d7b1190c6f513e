/* file_channels.h - probes based on files, which are most of them on Linux: a list of open files
 * and a list of channels computed from their texts. A probe's own file says which files and what
 * they mean; reading, reasons, uniqueness of names and plausibility are here. Such a probe has
 * ASSAY__FILES_OPS in its operations.
 *
 * One read of the probe reads each file once, then computes each available channel. Impossible
 * values are refused with a reason: a negative energy, power, clock, memory, time, count, fan or
 * share; a share over 1; a temperature below absolute zero. */
#ifndef ASSAY_PROBE_FILE_CHANNELS_H
#define ASSAY_PROBE_FILE_CHANNELS_H

#include "probe/probe.h"
#include "probe/sysfs.h"

struct assay__files_channel;

/** Computes a channel from the texts of its files, all of which were read. False: *reason (static);
 * with *value INFINITY it is an unset limit. */
typedef bool assay__files_compute(const struct assay__files_channel *channel, double *value,
                                  const char **reason);

struct assay__files_channel {
    struct assay__channel shown;
    struct assay__sysfs_file *const *files; /* in the order of the spec's paths */
    size_t file_count;
    assay__files_compute *compute;
    double scale;    /* base units per unit of the file */
    const char *key; /* for compute functions that look for one */
    bool slow;       /* private */
};

/** What the number of a file means. */
struct assay__files_kind {
    const char *quantity, *unit;
    enum assay__channel_kind kind;
    double scale; /* base units per unit of the file */
};

/** What a channel is computed from. Names, paths and keys: static or from the probe's arena. */
struct assay__files_spec {
    const char *name, *rail;
    struct assay__files_kind as;
    /* NULL: the number after the key at the start of a line ("throttled_usec 1200"); without a key
     * the whole file is one integer */
    assay__files_compute *compute;
    const char *key;
    size_t size;              /* of the text; 0: 64 */
    double range;             /* 0: does not wrap (becomes NaN) */
    const char *path;         /* the one file; or … */
    const char *const *paths; /* … several, NULL-terminated */
    /* Its files hardly change: each read of the probe reads only a few of all such files, in
     * turn. */
    bool slow;
    const char *const *states; /* see struct assay__channel */
    const char *source;        /* NULL: the first path */
    const char *reason;        /* not NULL: unavailable for this reason; no file is opened */
    const char *denied;        /* not NULL: the message if permission is refused */
};

/** Memory comes from the arena; assay__files_end reports running out of it. */
struct assay__probe *assay__files_new(struct assay__arena *arena);
/** Adds a channel: opens its files and computes it once. If that fails, the channel exists but is
 * unavailable, with the reason. A name that is taken gets "#2", "#3", …. */
void assay__files_add(struct assay__probe *probe, const struct assay__files_spec *spec);
/** True if a channel of that name was added. */
bool assay__files_has(const struct assay__probe *probe, const char *name);
/** Ends the open: without an available channel, `reason` is the probe's (NULL:
 * the first channel's). Out of memory, also earlier in the arena: the probe is closed and *probe
 * is NULL. */
int assay__files_end(struct assay__probe **probe, const char *reason, struct assay_error *error);

/** The reason if no channel was added, else NULL: for assay__files_end. */
const char *assay__files_none(const struct assay__probe *probe, const char *reason);

void assay__files_read(struct assay__probe *probe, struct assay__probe_reading *readings);
void assay__files_close(struct assay__probe *probe);
/** The part of the operations that all such probes share. */
#define ASSAY__FILES_OPS ASSAY__HEAD_OPS, .read = assay__files_read, .close = assay__files_close

/* --- compute functions that several probes need ----------------------------------------------- */

/** Clock of the line that has the '*' in amdgpu's tables: "1: 1500Mhz *", in Hz. */
assay__files_compute assay__files_by_star;
/** The "mean", "min" or "max" (key) of the integers of all files; zeros count as "no value". */
assay__files_compute assay__files_summary;

#endif
