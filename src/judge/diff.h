/* diff.h - several profiles side by side, the first being the base: what differs, by how much, and
 * the likely causes. A pure function of the profiles. The unit of replication is the launch: the
 * exact rank test on values of at least five launches of each side (base/stats.h) decides whether a
 * difference is claimed; with fewer there is a ratio and no verdict.
 *
 * The runs did not alternate: an interval covers the spread between launches of one run, not
 * changes of the machine between the runs. The notes say so. */
#ifndef ASSAY_JUDGE_DIFF_H
#define ASSAY_JUDGE_DIFF_H

#include "base/buf.h"
#include "judge/judged.h"

#define ASSAY__DIFF_MOST 16 /* profiles */

enum assay__diff_verdict {
    ASSAY__DIFF_NOT_COMPARABLE, /* one side has no value: reason */
    ASSAY__DIFF_UNJUDGED,       /* both have one, no interval: reason */
    ASSAY__DIFF_SAME,           /* no difference shown */
    ASSAY__DIFF_EQUAL,          /* exactly the same number */
    ASSAY__DIFF_LOWER,          /* the interval of the ratio is below 1 */
    ASSAY__DIFF_HIGHER,
    ASSAY__DIFF_EXACT, /* counted from the graph, not measured: any change is a difference */
};

struct assay__diff_delta {
    double ratio;              /* this side's / the base's; NaN unknown */
    double difference;         /* this side's - the base's, in the row's unit; NaN unknown */
    struct assay__interval ci; /* of the ratio, 95 % */
    double p_value, smallest;  /* the smallest relative difference that could be detected; NaN */
    enum assay__diff_verdict verdict;
    const char *reason; /* why there is no interval or no ratio; "" */
    const char *why;    /* the same without "no interval: ", for a sentence that says so itself */
};

/** How a number is judged. */
enum assay__diff_sense {
    ASSAY__DIFF_NEUTRAL,
    ASSAY__DIFF_TIME, /* lower is faster */
    ASSAY__DIFF_RATE, /* higher is faster */
};
/** "faster", "slower", "lower", "higher", "no difference shown", "the same", "differs", "no
 *  verdict", "not comparable". */
const char *assay__diff_verdict_name(enum assay__diff_verdict verdict,
                                     enum assay__diff_sense sense);
/** True if a difference is claimed. */
bool assay__diff_is_shown(enum assay__diff_verdict verdict);

struct assay__diff_side {
    const struct assay_profile *profile;
    const struct assay__trial *trial; /* NULL: the profile has none */
    const char *name;                 /* of the profile among these; unique */
    const char *trial_label;          /* "" when the profile has one trial */
    bool usable;                      /* it ran, and its latency is known */
    const char *reason;               /* why not; "" */
};

struct assay__diff_metric {
    const char *name, *unit;
    enum assay__diff_sense sense;
    bool key;       /* one of the most important */
    bool by_launch; /* judged launch by launch: the values are then medians over launches */
    const struct assay_metric **values; /* by side; NULL: it does not have the metric */
    struct assay__diff_delta *deltas;   /* by side; that of the base is empty */
};

enum assay__diff_match {
    ASSAY__DIFF_ALONE,     /* on one side only */
    ASSAY__DIFF_ORIGIN,    /* they came from the same nodes of the model */
    ASSAY__DIFF_STRUCTURE, /* the same operator and work at the same position */
    ASSAY__DIFF_NAME,      /* the same name */
    ASSAY__DIFF_POSITION,  /* the same operator between the same neighbours */
};
/** "origin", "structure", "name", "position" or "only". */
const char *assay__diff_match_name(enum assay__diff_match match);

enum assay__diff_kind {
    ASSAY__DIFF_LAYER,
    ASSAY__DIFF_ENGINE,
    ASSAY__DIFF_UNATTRIBUTED,
    ASSAY__DIFF_LAYER_SUM
};

/** Layers that do the same work: one on each side, or several if one side fused or split them. */
struct assay__diff_layer {
    enum assay__diff_kind kind;
    enum assay__diff_match match;
    size_t *members;  /* indices into the sides' layers, side after side */
    size_t *starts;   /* sides + 1: members of side s are members[starts[s]] … */
    double *times_ns; /* by side, total of the members; NaN unknown */
    struct assay__diff_delta *deltas;
    bool by_launch; /* judged launch by launch: the times are then medians over launches */
    bool grouped;   /* a side has several members */
    bool shown;     /* changed by more than the noise; otherwise it is folded */
};

struct assay__diff_cause {
    const char *kind; /* "model", "option", "engine", "machine", "clock", "disturbance", "tool" */
    const char *name; /* "threads" */
    const char **values; /* by side; "" unknown */
    int weight;          /* 0 … 100: how likely it explains a change of speed */
};
/** "likely" (80 and more), "possible" (50 and more), "unlikely". */
const char *assay__diff_likelihood(int weight);

struct assay__diff {
    struct assay__diff_side *sides;
    size_t count;
    const char *summary; /* a sentence or several */
    struct assay__diff_metric *metrics;
    size_t metric_count;
    size_t judged; /* rows with an interval: one in twenty would differ by chance */
    struct assay__diff_layer *layers; /* in the base's order of execution, then the others' */
    size_t layer_count;
    size_t *layer_order;       /* by change in time, the largest first */
    const char *layers_reason; /* why there are no rows, or none of a side; "" */
    double layers_spread;      /* spread of sums over passes, the larger of the sides; NaN */
    /* the runs as a whole show no difference: a row must exceed the spread of the sum */
    bool layers_strict;
    size_t layers_judged;    /* rows of single layers with an interval, also in `judged` */
    const char *layers_rule; /* when a row is shown, a sentence */
    const char *layers_interval_reason; /* why no single layer has an interval; "" */
    bool same_model;                    /* by fingerprint */
    bool model_known;                   /* every profile has one */
    struct assay__diff_cause *causes;   /* likeliest first */
    size_t cause_count;
    const char **notes; /* sentences */
    size_t note_count;
};

struct assay__diff_input {
    const struct assay_profile *profile;
    const char *name; /* what people call it: its path */
    /* label or number of the trial; NULL: the base's label, else the first that ran */
    const char *trial;
};

/** 2 to ASSAY__DIFF_MOST profiles. Everything is in the arena; the profiles must outlive it. 0,
 * ASSAY_ENOMEM, ASSAY_EINVAL, ASSAY_ENOTFOUND (no such trial). */
int assay__diff(const struct assay__diff_input *inputs, size_t count, struct assay__arena *arena,
                struct assay__diff *out, struct assay_error *error);

/* --- for reports ------------------------------------------------------------------------------ */

/** Where the row of a metric goes: a line, or one of three folds. */
enum assay__diff_fold {
    ASSAY__DIFF_LINE,
    ASSAY__DIFF_FOLD_SAME,     /* no difference shown */
    ASSAY__DIFF_FOLD_UNJUDGED, /* no interval, and not a key metric */
    ASSAY__DIFF_FOLD_UNKNOWN,  /* one side or all have no value */
    ASSAY__DIFF_FOLDS
};
enum assay__diff_fold assay__diff_fold(const struct assay__diff *diff,
                                       const struct assay__diff_metric *row);
/** The row's name: "/conv1/Conv", "engine per run". Unescaped. */
const char *assay__diff_layer_title(const struct assay__diff *diff,
                                    const struct assay__diff_layer *row);
/** The operators of a side: "Conv", "Conv + Relu", "5 layers". Unescaped; "" when it has none. */
void assay__diff_layer_ops(struct assay__buf *out, const struct assay__diff *diff,
                           const struct assay__diff_layer *row, size_t side);
/** "3 → 1 layers", "only in a.assay", "matched by position"; often nothing. Unescaped. */
void assay__diff_layer_remark(struct assay__buf *out, const struct assay__diff *diff,
                              const struct assay__diff_layer *row);
/* --- shared by the files of this subject ------------------------------------------------------ */

struct assay__diff_values {
    struct assay__launch_values launches; /* may have values that are not above 0 */
    double value;
};
/* Which layers of several runs are the same work (diff_align.c). */
struct assay__align_side {
    const struct assay__layer *layers;
    size_t count;
    bool same_model; /* the same as the first side's: node names have the same meaning */
};
struct assay__align {
    size_t *offsets;        /* sides + 1: layer i of side s is number offsets[s] + i */
    size_t *groups;         /* by layer number: 0 … group_count - 1, in order of appearance */
    unsigned char *matches; /* by group: enum assay__diff_match */
    size_t group_count;
};
/** At most ASSAY__DIFF_MOST sides. The result is in the arena. 0 or ASSAY_ENOMEM. */
int assay__align(const struct assay__align_side *sides, size_t count, struct assay__arena *arena,
                 struct assay__align *out);
/** By launches if there are enough, else by the two values. `exact`: counted, not measured. */
struct assay__diff_delta assay__diff_delta(const struct assay__diff_values *base,
                                           const struct assay__diff_values *other, bool exact,
                                           struct assay__arena *arena);
/** Whether a row is judged launch by launch: the base and another side have enough launches, all
 *  above zero. Then the value of every side with launches becomes their median, so that what is
 *  shown, subtracted and divided is one statistic. */
bool assay__diff_by_launch(struct assay__diff_values *sides, size_t count,
                           struct assay__arena *arena);
/** Digits for a ratio and its interval, so that one which excludes 1 does not print as 1: 3, or
 *  more. */
int assay__diff_digits(const struct assay__diff_delta *delta);
struct assay__diff_delta assay__diff_no_delta(const char *reason);

/* Running out of memory is recorded in the arena. */
/** Metrics and layers of sides that are already chosen and named; no sentences, no causes. */
void assay__diff_between(struct assay__diff *diff, struct assay__arena *arena);
void assay__diff_metrics(struct assay__diff *diff, struct assay__arena *arena);
void assay__diff_layers(struct assay__diff *diff, struct assay__arena *arena);
void assay__diff_causes(struct assay__diff *diff, struct assay__arena *arena);
/** The row of a metric, or NULL. */
const struct assay__diff_metric *assay__diff_metric_find(const struct assay__diff *diff,
                                                         const char *name);

#endif
