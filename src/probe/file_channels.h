/* file_channels.h - probes that are made of files, which is most of them on Linux: a list of open
 * files and a list of channels computed from their texts. A probe's own file says which files and
 * what they mean; reading, reasons, uniqueness of names and plausibility are here. Such a probe
 * puts assay__files_channels, _reason, _read and _close into its table row.
 *
 * One read of the probe reads each file once, then computes each available channel. What cannot be
 * is refused with a reason: a negative energy, power, clock, memory, time, count, fan or share; a
 * share over 1; a temperature below absolute zero. */
#ifndef ASSAY_PROBE_FILE_CHANNELS_H
#define ASSAY_PROBE_FILE_CHANNELS_H

#include "probe/probe.h"
#include "probe/sysfs.h"

struct assay__files_channel;

/** Computes a channel from the texts of its files, all of which were read.
 * False: *reason (static); with *value INFINITY it is a limit that is not set. */
typedef bool assay__files_compute(const struct assay__files_channel *channel, double *value,
                                  const char **reason);

struct assay__files_channel {
    struct assay__channel shown;
    const struct assay__sysfs_file *const *files; /* in the order of the spec's paths */
    size_t file_count;
    assay__files_compute *compute;
    double scale;         /* base units per unit of the file */
    const char *key;      /* for compute functions that look for one */
    size_t *file_indexes; /* private */
    bool slow;            /* private */
};

/** What a channel is made of. Names, paths and keys: static or from the probe's
 * arena. */
struct assay__files_spec {
    const char *name, *quantity, *rail, *unit;
    enum assay__channel_kind kind;
    double range;                  /* 0: does not wrap (becomes NaN) */
    double scale;                  /* 0: 1 */
    const char *path;              /* the one file; or … */
    const char *const *paths;      /* … several, NULL-terminated */
    assay__files_compute *compute; /* NULL: the whole file is one integer */
    const char *key;
    size_t size; /* of the text; 0: 64 */
    /* Its files hardly change: each read of the probe looks at only a few of all such files, in
     * turn. */
    bool slow;
    const char *const *states; /* see struct assay__channel */
    const char *source;        /* NULL: the first path */
    const char *reason;        /* not NULL: unavailable for this reason; no file is opened */
    const char *denied;        /* not NULL: these words when permission is refused */
};

int assay__files_new(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error);
/** Adds a channel: opens its files and computes it once. When that fails the
 * channel is there and unavailable, with the reason. A name that is taken gets
 * "#2", "#3", …. Errors (no memory) stick and come out of assay__files_end. */
void assay__files_add(struct assay__probe *probe, const struct assay__files_spec *spec);
/** True when a channel of that name was added. */
bool assay__files_has(const struct assay__probe *probe, const char *name);
/** Ends the open: without an available channel, `reason` is the probe's (NULL:
 * the first channel's). On an error the probe is closed and *probe is NULL. */
int assay__files_end(struct assay__probe **probe, const char *reason, struct assay_error *error);

size_t assay__files_channels(const struct assay__probe *probe,
                             const struct assay__channel **channels);
const char *assay__files_reason(const struct assay__probe *probe);
void assay__files_read(struct assay__probe *probe, struct assay__probe_reading *readings);
void assay__files_close(struct assay__probe *probe);

/* --- compute functions that several probes need
 * ------------------------------------------------- */

/** The number behind `key` at the start of a line: "throttled_usec 1200". */
assay__files_compute assay__files_by_key;
/** Clock of the line that has the '*' in amdgpu's tables: "1: 1500Mhz *", in
 * Hz. */
assay__files_compute assay__files_by_star;
/** Mean, least and greatest of the integers of all files; zeros count as "no
 * value". */
assay__files_compute assay__files_mean;
assay__files_compute assay__files_least;
assay__files_compute assay__files_greatest;

#endif
