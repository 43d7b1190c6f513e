/* ceiling.h - the measured peaks of this processor: arithmetic per data type, bandwidth per cache
 * level and memory, latency per level. Other numbers (utilisation, the roofline) are compared with
 * these.
 *
 * A ceiling is the best of its repeats, because disturbance only ever makes a repeat slower; the
 * spread is stored with it. Every row says how it was measured. A row that could not be measured is
 * unavailable with the reason: its value is NaN. doc/ceilings.md describes kernels and
 * definitions. */
#ifndef ASSAY_CEILING_H
#define ASSAY_CEILING_H

#include "base/arena.h"
#include "platform/platform.h"
#include "profile/profile.h"

#include <assay/error.h>
#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum assay__ceiling_kind {
    ASSAY__CEILING_COMPUTE,   /* FLOP/s; OP/s for int8. A multiply-add is two */
    ASSAY__CEILING_BANDWIDTH, /* B/s: bytes that the loop reads and writes, as STREAM counts */
    ASSAY__CEILING_LATENCY,   /* s per dependent load */
};

struct assay__ceiling {
    /* "compute.float32.one-core", "bandwidth.dram.triad.all-cores", "latency.l2" */
    const char *name;
    enum assay__ceiling_kind kind;
    double value;     /* the best: `high`, for latency `low`; NaN when unavailable */
    const char *unit; /* "FLOP/s", "OP/s", "B/s", "s" */
    enum assay_state state;
    const char *source;       /* "clock"; "none" when unavailable */
    const char *note;         /* the other variants tried and their results; or the reason; "" */
    double low, median, high; /* over the repeats of the best kernel; NaN when unavailable */
    int repeats;              /* 0 when unavailable */
    int threads;              /* 0: an accelerator's own */
    /* compute: "float64", "float32", "tf32", "bfloat16", "float16", "int8"; else "" */
    const char *type;
    const char *level;   /* "l1", "l2", "l3", "dram"; compute: "" */
    const char *pattern; /* bandwidth: "read", "write", "copy", "triad"; else "" */
    const char *simd;    /* "avx512f", …; "" */
    /* the instruction, or "non-temporal stores"; an accelerator's: the model; "" */
    const char *variant;
    int64_t working_set_bytes; /* of all threads together; 0 for compute */
    /* clock of the cores from dependent additions, or of a GPU from its driver; NaN unknown */
    double clock_before_hz, clock_after_hz;
};

struct assay__ceilings {
    const char *key;         /* what must be the same for these to be valid (assay__ceilings_key) */
    const char *measured_at; /* UTC, ISO 8601 */
    const char *note;        /* what disturbed the measurement; "" nothing seen */
    double duration_s;
    /* shares of the machine's CPU time taken by the hypervisor and by others; NaN unknown */
    double steal_share, other_share;
    bool pinned;   /* every thread stayed on its core */
    bool complete; /* there was enough time for every kernel */
    bool from_cache;
    const char *device;   /* "cuda:0": an accelerator, through an engine; "" the CPU */
    const char *hardware; /* the accelerator, as named by its driver: "NVIDIA H200"; "" unknown */
    struct assay__ceiling *rows;
    size_t count;
};

struct assay__ceiling_options {
    double budget_s;  /* 0: 17 (up to 51 on a busy machine); rows beyond it stay unavailable */
    bool remeasure;   /* do not read the file of an earlier measurement */
    const char *only; /* rows whose names start with this; NULL: all. Saved in a separate file */
    /* an incomplete set whose rows are reused and which is completed; NULL none */
    const struct assay__ceilings *earlier;
    /** Called before each row's measurement; true ends it with ASSAY_EINTERRUPTED. May be NULL. */
    bool (*progress)(void *context, const char *name);
    void *context;
    /* not 0: a model running on an accelerator is stopped at once; NULL: none */
    const volatile int *interrupt;
};

/** Measures now. Everything is in the arena. ASSAY_EUNSUPPORTED if $ASSAY_FSROOT replaces the
 * machine. ASSAY_EINTERRUPTED: *out has the rows that were measured so far, incomplete and never
 * saved. */
int assay__ceilings_measure(struct assay__arena *arena, const struct assay__machine *machine,
                            const struct assay__ceiling_options *options,
                            struct assay__ceilings **out, struct assay_error *error);
/** From this user's file if it is valid for this machine, else measured and written there. A file
 *  that is damaged or cannot be written is not a failure: the note says so. An incomplete set is
 *  saved too, and the next call measures what is missing. options may be NULL. */
int assay__ceilings_get(struct assay__arena *arena, const struct assay__machine *machine,
                        const struct assay__ceiling_options *options, struct assay__ceilings **out,
                        struct assay_error *error);
/** From this user's file only: never measures. ASSAY_ENOTFOUND if there is none that is valid for
 *  this machine. */
int assay__ceilings_kept(struct assay__arena *arena, const struct assay__machine *machine,
                         struct assay__ceilings **out, struct assay_error *error);
/** The row of that name or NULL. */
const struct assay__ceiling *assay__ceilings_find(const struct assay__ceilings *set,
                                                  const char *name);

/** (high - low) / value: the spread of the repeats. NaN when unavailable. */
double assay__ceiling_spread(const struct assay__ceiling *row);

/* --- the file --------------------------------------------------------------------------------- */

/** CPU model, cores allowed, kernel, microcode, instruction sets, virtualisation, caches, version
 *  of the kernels: one per line. */
const char *assay__ceilings_key(struct assay__arena *arena, const struct assay__machine *machine);
/** Where they are kept (assay__cache_path). ASSAY_ENOTFOUND if neither $XDG_CACHE_HOME nor $HOME
 *  contains an absolute path. */
int assay__ceilings_path(const char *key, char *out, size_t out_size, struct assay_error *error);
/** Creates the folder if it is missing. */
int assay__ceilings_save(const struct assay__ceilings *set, const char *path,
                         struct assay_error *error);
/** ASSAY_EFORMAT: not such a file. ASSAY_ENOTFOUND: none, or with another key. The file is
 *  untrusted: every value is checked. */
int assay__ceilings_load(struct assay__arena *arena, const char *path, const char *key,
                         struct assay__ceilings **out, struct assay_error *error);

/** As rows of a profile, under the device's name; `rows` has room for set->count. The texts are
 *  borrowed from the set, or in the arena: notes say how busy the machine was. */
void assay__ceilings_describe(struct assay__arena *arena, const struct assay__ceilings *set,
                              const char *device, struct assay__ceiling_info *rows);

#endif
