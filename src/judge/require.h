/* require.h - requirement tables: what a run must reach (floors: TFLOP/s, GB/s, inferences per
 * second) and must not exceed (limits: latency, memory, power), each with a minimum and a target,
 * and how a trial compares with one. m1, m1-pro, m1-max and m1-ultra are built in; any other is a
 * small text or JSON file (doc/requirements.md).
 *
 *   floor: ratio = measured / required, met at 1 or more, advice below 0.8
 *   limit: ratio = used / allowed, met at 1 or less, a warning above 0.8, advice above 1
 *
 * A table is stored with its trial, so that a saved profile gives the same verdicts on every
 * machine. */
#ifndef ASSAY_JUDGE_REQUIRE_H
#define ASSAY_JUDGE_REQUIRE_H

#include "predict/predict.h"
#include "base/arena.h"
#include "profile/trial_values.h"

#define ASSAY__REQUIRE_LOW 0.8          /* floor: advice below it; limit: a warning above it */
#define ASSAY__REQUIRE_FILE_BYTES 65536 /* a table file is not longer */
#define ASSAY__REQUIRE_NAME_BYTES 64    /* nor is its name */

struct assay__require_info {
    const char *key;    /* in table files: "tflops" */
    const char *label;  /* for people: "compute" */
    const char *metric; /* "compute.rate"; for memory, the device decides which counts */
    const char *share;  /* metric for the ratio to the minimum; NULL: none */
    const char *unit;   /* base unit */
    /* a plain number in a file × scale is in the base unit; 0: the unit is required */
    double scale;
    const char *plain; /* unit of a plain number: "TFLOP/s" */
    bool floor;
};
const struct assay__require_info *assay__require_info(enum assay__require_kind kind);

/** The published peak of a chip (predict.h) that a requirement is compared with: that of its GPU
 * (float32, FLOP/s) for TFLOPS, that of its memory (B/s) for BANDWIDTH. NaN: other kinds, unknown,
 * or too rough to call anything unreachable. */
double assay__require_peak(const struct assay__chip *chip, enum assay__require_kind kind);

struct assay__require_table {
    const char *name;                     /* "m1-max" */
    const char *origin;                   /* "built in", or the file */
    const struct assay__chip *chip;       /* NULL: none */
    double minimum[ASSAY__REQUIRE_COUNT]; /* base units; NaN: not required */
    double target[ASSAY__REQUIRE_COUNT];
    int64_t batch, batch_low, batch_high; /* of the NCP guides; 0: none */
    int64_t backbone_units;               /* 0: none */
};

/** A built-in table by name (spelled like a chip); NULL: none. */
const struct assay__require_table *assay__require_preset(const char *name);
const struct assay__require_table *assay__require_preset_at(size_t index); /* NULL past the end */

/** A built-in table, else the file of that name. ASSAY_EINVAL with one line: no such table, or what
 * is wrong and in which line. */
int assay__require_find(struct assay__arena *arena, const char *name,
                        const struct assay__require_table **table, struct assay_error *error);
/** Reads the text or JSON of a table; `name` is its name unless it has one. */
int assay__require_parse(struct assay__arena *arena, const char *text, size_t length,
                         const char *name, const struct assay__require_table **table,
                         struct assay_error *error);
/** The table in one line that assay__require_parse reads. NULL: out of memory. */
const char *assay__require_text(struct assay__arena *arena,
                                const struct assay__require_table *table);

/* --- the judgement ---------------------------------------------------------------------------- */

enum assay__require_state {
    ASSAY__REQUIRE_NONE, /* nothing is required */
    ASSAY__REQUIRE_MET,
    ASSAY__REQUIRE_NOT_MET,
    ASSAY__REQUIRE_UNKNOWN, /* cannot be judged: reason */
};
/** "none", "pass", "fail", "unavailable" */
const char *assay__require_state_name(enum assay__require_state state);

enum assay__require_level { /* how much is to be done about it */
                            ASSAY__REQUIRE_FINE,
                            ASSAY__REQUIRE_WARN, /* a limit is used by more than 0.8 */
                            /* the minimum is met, the target is missed by far */
                            ASSAY__REQUIRE_TO_TARGET,
                            ASSAY__REQUIRE_TO_MINIMUM,
};

struct assay__requirement {
    enum assay__require_kind kind;
    const struct assay__require_info *info;
    const struct assay_metric *measured; /* NULL or unavailable: reason */
    double value;                        /* NaN unknown */
    double minimum, target;              /* NaN: not required */
    double minimum_ratio, target_ratio;  /* NaN unknown, or not required */
    enum assay__require_state minimum_state, target_state;
    enum assay__require_level level;
    const char *reason;      /* why it cannot be judged, and what would help; "" */
    const char *note;        /* a remark on the verdict; "" */
    const char *unreachable; /* the target (or minimum) is above the chip's published peak; "" */
    const char *beyond;      /* or above the measured peak of this device; "" */
    bool minimum_unreachable, minimum_beyond; /* these two refer to the minimum, not the target */
    const char *advice;                       /* what to do; "" when it is fine */
    const char *advice_limit; /* the one of the two above that the advice repeats; "" neither */
};

struct assay__judgement {
    const struct assay__require_table *table;
    struct assay__requirement rows[ASSAY__REQUIRE_COUNT]; /* what the table requires */
    size_t count;
    enum assay__require_state minimum,
        target; /* of all rows: one failure decides, then one unknown */
};

/** The table stored with the trial; *table is NULL if there is none, or if its chip is unknown
 * here. 0 or ASSAY_ENOMEM. */
int assay__require_of(const struct assay__trial *trial, struct assay__arena *arena,
                      const struct assay__require_table **table);
/** Everything is in the arena or borrowed from the profile. 0 or ASSAY_ENOMEM. */
int assay__require_judge(const struct assay_profile *profile, const struct assay__trial *trial,
                         const struct assay__require_table *table, struct assay__arena *arena,
                         struct assay__judgement *out);
/** Stores the table with the trial and sets compute.efficiency, memory.budget_share and
 * power.budget_share, or why they are unavailable. 0 or ASSAY_ENOMEM. */
int assay__require_apply(struct assay_profile *profile, struct assay__trial *trial,
                         const struct assay__require_table *table);

#endif
