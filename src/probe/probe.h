/* probe.h - sensors and counters: one file each, one row each in probes.h. A probe reports what it
 * can read here, or why it cannot; a channel that fails during a run becomes unavailable with the
 * reason, and the rest continues.
 *
 * Rules for every probe: nothing is made up (no default, no zero for unknown); a channel that reads
 * a constant zero under load is a fault, not 0 W (the sampler decides that, see sampler.h); reading
 * allocates nothing; files are kept open and read again at offset 0 if the kernel allows that;
 * files are below $ASSAY_FSROOT (platform); foreign libraries and system calls go through a table
 * that a test can replace. */
#ifndef ASSAY_PROBE_H
#define ASSAY_PROBE_H

#include "base/arena.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum assay__channel_kind {
    ASSAY__CHANNEL_GAUGE,   /* the value now: power, temperature, clock, memory in use */
    ASSAY__CHANNEL_COUNTER, /* it grows, and differences count: energy, throttled time, events */
};

struct assay__channel {
    /* "energy.package-0", "power.gpu0", "temperature.nvme", "clock.cpu0": unique within the
     * probe */
    const char *name;
    /* "energy" | "power" | "temperature" | "clock" | "utilization" | "memory" | "fan" | "time" |
     * "count" | "state" | "bandwidth" */
    const char *quantity;
    /* what is measured, for metric names: "package", "core", "dram", "gpu0", "npu", "system"; "" */
    const char *rail;
    const char *unit; /* base unit: "J", "W", "°C", "Hz", "ratio", "B", "s", "1", "1/s", "B/s" */
    enum assay__channel_kind kind;
    double range;       /* COUNTER: it wraps to 0 after this many units; NaN: it does not */
    const char *source; /* path, or "NVML", "perf_event": as shown in reports */
    bool available;     /* at open */
    /* why not, and what would provide it ("needs root: sudo chmod a+r …"); "" */
    const char *reason;
    /* quantity "state": the value is an index into these names (NULL-terminated); NULL: a plain
     * number */
    const char *const *states;
    bool unlimited; /* unavailable, because it is a limit and none is set */
    bool user_only; /* a counter that leaves out what the kernel does */
};

struct assay__probe; /* an open probe; each file defines its own */

struct assay__probe_reading {
    double value;       /* NaN: unavailable now */
    const char *reason; /* why not; static, or valid until the next read of that channel; "" */
};

/* How `doctor --capture` copies a file. */
enum assay__capture_as {
    ASSAY__CAPTURE_COPY,
    ASSAY__CAPTURE_EMPTY,  /* that it exists is all that counts */
    ASSAY__CAPTURE_HOST,   /* the host's name, replaced */
    ASSAY__CAPTURE_MOUNTS, /* lines of control groups only */
    ASSAY__CAPTURE_MODEL,  /* only the line with the model: others identify the individual card */
    /* the folder is that of the probe's channels, and all those above it */
    ASSAY__CAPTURE_CHANNELS,
    /* not a file of the system: what was queried in another way, as a file of ours */
    ASSAY__CAPTURE_ASKED,
};

/** Files that are read. '*' stands for any name, in the folder and in the names. */
struct assay__capture_files {
    const char *folder, *names; /* names separated by blanks; NULL ends a list */
    enum assay__capture_as as;
};

struct assay__probe_ops {
    const char *name;    /* "rapl", "hwmon", "nvml" */
    const char *summary; /* one line for `doctor` */
    /** Finds the channels. Missing hardware is not an error: the probe opens without an available
     * channel and `reason` says why. arena: for names; lives as long as the probe. */
    int (*open)(struct assay__arena *arena, struct assay__probe **probe, struct assay_error *error);
    /** All channels, available or not. */
    size_t (*channels)(const struct assay__probe *probe, const struct assay__channel **channels);
    /** Why there is no available channel at all; "" otherwise. */
    const char *(*reason)(const struct assay__probe *probe);
    /** Reads every available channel into readings[0 … channels - 1] (unavailable ones: NaN and
     *  their reason). No allocation, no blocking beyond the deadline of the sampler. */
    void (*read)(struct assay__probe *probe, struct assay__probe_reading *readings);
    void (*close)(struct assay__probe *probe); /* NULL legal */
    /** How long `open` may take before it is abandoned (assay__probe_open); 0: 1 s. The library of
     * a driver may have to wake its devices. */
    uint64_t open_limit_ns;
    /** `open` depends on the calling thread (its counters, a program that ends with it): it is
     * never run on another one. */
    bool own_thread;
    /** (optional) Which channels will be used: wanted[0 … channels - 1]. The others need not be
     * read any longer; their readings are NaN. */
    void (*select)(struct assay__probe *probe, const bool *wanted);
    /** (optional) This system has no such source and never will: its reason is of no use here. */
    bool (*is_foreign)(void);
    /** (optional) The kinds of device whose power it could report, by first letter: "cgn" are CPU,
     * GPU and NPU. A report of unknown power says why each such probe has none. */
    const char *power_of;
    /** (optional) The files it reads beyond those of the machine itself (capture.c). */
    const struct assay__capture_files *files;
};

/** What all probes have in common; the first member of those whose operations have
 * ASSAY__HEAD_OPS. */
struct assay__probe_head {
    const struct assay__channel *channels;
    size_t count;
    const char *reason;
};
size_t assay__head_channels(const struct assay__probe *probe,
                            const struct assay__channel **channels);
const char *assay__head_reason(const struct assay__probe *probe);
#define ASSAY__HEAD_OPS .channels = assay__head_channels, .reason = assay__head_reason

/** The table; NULL past the end. */
const struct assay__probe_ops *assay__probe_at(size_t index);
const struct assay__probe_ops *assay__probe_find(const char *name);

/** Opens a probe with a new arena, on another thread, for at most its limit (ops->open_limit_ns,
 * else 1 s); after that ASSAY_ETIMEOUT with the reason, and the thread is abandoned with both. A
 * probe bound to the calling thread (ops->own_thread) is opened on it, without a limit. *arena:
 * freed by the caller after the probe is closed; NULL on an error. */
int assay__probe_open(const struct assay__probe_ops *ops, struct assay__arena **arena,
                      struct assay__probe **probe, struct assay_error *error);
/** How long that may take. */
uint64_t assay__probe_open_limit_ns(const struct assay__probe_ops *ops);

#endif
