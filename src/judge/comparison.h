/* comparison.h - compares the trials of one profile: a pure function of the profile, so a saved one
 * gives the same verdicts. The unit of replication is the launch: speed is judged by the exact rank
 * test on launch medians (base/stats.h), never on single inferences. */
#ifndef ASSAY_JUDGE_COMPARISON_H
#define ASSAY_JUDGE_COMPARISON_H

#include "judge/judged.h"
#include "judge/placement.h"

/* Relative L2 between outputs and those of the reference: above it a device or precision computes
 * something else, and is not recommended. The same limit for compare, sweep and tune. */
#define ASSAY__DRIFT_LIMIT 0.01

enum assay__verdict {
    ASSAY__VERDICT_NONE,   /* the reference, or no verdict: reason */
    ASSAY__VERDICT_SAME,   /* no difference shown */
    ASSAY__VERDICT_FASTER, /* than the reference */
    ASSAY__VERDICT_SLOWER,
};

struct assay__comparison_row {
    /* label: the trial's, else its device; reason: also why there is no verdict, or which launches
     * were lost */
    struct assay__judged judged;
    int64_t batch; /* samples per inference; 0 unknown */
    /* reference's p50 / this one's: above 1 is faster; NaN for the reference */
    struct assay__ratio speed;
    enum assay__verdict verdict;
    /* judged.energy is the median over launches if 5 or more have a known energy, else that of all
     * windows together */
    bool energy_by_launch;
    /* ratio of judged.energy, this / reference; over all windows of both if one of the two is not
     * per launch; NaN unknown */
    double energy_ratio;
    struct assay__ratio energy;         /* the same by launches; NaN without an interval */
    const char *energy_reason;          /* why there is no interval; "" */
    enum assay__verdict energy_verdict; /* FASTER: it takes less */
    const char *unadvised;              /* why its outputs rule it out, however fast it is; "" */
    /* a different model from the reference's, with outputs that have nothing in common */
    bool unrelated;
    struct assay__placement_summary placement;
};

enum assay__goal_kind {
    ASSAY__FOR_LATENCY,
    ASSAY__FOR_THROUGHPUT,
    ASSAY__FOR_ENERGY,
    ASSAY__FOR_COUNT
};

struct assay__recommendation {
    size_t row;                /* SIZE_MAX: none */
    size_t first, second;      /* the best two, shown to differ or not; SIZE_MAX: none */
    struct assay__ratio ratio; /* how much better the first is; above 1, for energy below; NaN */
    const char *why;           /* always a sentence */
    bool withdrawn;            /* other processes used most of the machine */
};

struct assay__comparison {
    struct assay__comparison_row *rows;
    size_t count, reference; /* reference SIZE_MAX: none is usable */
    const char *batches;     /* the rows that ran have different batch sizes: which; "" */
    struct assay__recommendation recommendations[ASSAY__FOR_COUNT];
};

/** median(b) / median(a) of a metric of the launches; *reason says why it is unknown. */
struct assay__ratio assay__comparison_launches(const struct assay__trial *a,
                                               const struct assay__trial *b, const char *metric,
                                               struct assay__arena *arena, const char **reason);
/** "latency", "throughput", "energy" */
const char *assay__goal_name(enum assay__goal_kind goal);

/** The reference is the trial whose role says so, else the first usable one. Everything is in the
 * arena; 0 or ASSAY_ENOMEM. */
int assay__comparison(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__comparison *out);
/** What the comparison of launches is based on: "latency.p50", "latency.p5", … */
const char *assay__ratio_by_name(enum assay__ratio_by by);
/** Follows a ratio in a sentence: "", " when undisturbed", … */
const char *assay__ratio_by_words(enum assay__ratio_by by);
/** "faster", "slower", "no difference shown", "" */
const char *assay__verdict_name(enum assay__verdict verdict);

#endif
