/* rule.h - one rule of the advice: what it needs, what it looks for, and what it concludes. A rule
 * is a row in the table of its family (rules_<family>.c); the families are listed in rules.h.
 *
 * A rule has one of three results: a finding, nothing found, or "not evaluated" with the missing
 * input. A finding is based on numbers from this profile, which are its evidence.
 *
 * The potential speed-up is Amdahl's: with a share s of the latency made l times as fast it is 1 /
 * (1 - s + s / l). It is the most that the change could gain or, if the rule says so, the result of
 * a stated local gain: a potential, not a promise. If power is known, so is the potential energy
 * saving per inference: 1 - 1 / gain, at unchanged power. */
#ifndef ASSAY_ADVISE_RULE_H
#define ASSAY_ADVISE_RULE_H

#include "advise/change.h"
#include "base/text.h"
#include "cost/analysis.h"
#include "cost/roofline.h"
#include "model/rewrite/fold.h"
#include "profile/trial_values.h"

/* A comparison of ten launches per side detects differences of one to two percent: a smaller
 * potential cannot be verified. */
#define ASSAY__GAIN_LEAST 1.02
#define ASSAY__GAIN_MEDIUM 1.1 /* severity by potential: what users notice … */
#define ASSAY__GAIN_HIGH 1.5   /* … and what changes a choice of machine */

/* Inputs of rules; a profile has each of them or a reason why not. */
enum assay__need {
    ASSAY__NEED_LATENCY = 1u << 0,
    ASSAY__NEED_LAYERS = 1u << 1,      /* layers with times */
    ASSAY__NEED_COSTS = 1u << 2,       /* layers with FLOPs and bytes */
    ASSAY__NEED_CEILINGS = 1u << 3,    /* layers judged against the device's ceilings */
    ASSAY__NEED_MEMORY = 1u << 4,      /* memory of the worker */
    ASSAY__NEED_COUNTERS = 1u << 5,    /* the kernel's or the processor's counters */
    ASSAY__NEED_ALLOCATIONS = 1u << 6, /* what the allocation tracker recorded */
    ASSAY__NEED_MODEL = 1u << 7,       /* the model's graph */
    ASSAY__NEED_SHAPES = 1u << 8,      /* its shapes and costs at this workload */
    ASSAY__NEED_START = 1u << 9,       /* times of loading and the first inference */
    ASSAY__NEED_TRIALS = 1u << 10,     /* several trials of one model: a sweep */
};
#define ASSAY__NEED_COUNT 11

/* What the potential of a rule refers to: latency, unless one of these is set. */
enum assay__potential {
    ASSAY__POTENTIAL_SAMPLES = 1u << 16, /* of samples per second */
    ASSAY__POTENTIAL_TOKENS = 1u << 17,  /* of time per token */
};
/* What it finds says how far the numbers can be trusted, not what to change. */
#define ASSAY__RULE_DISTURBANCE (1u << 18)

enum assay__rule_outcome {
    ASSAY__RULE_NOTHING,
    ASSAY__RULE_FOUND,
    ASSAY__RULE_MISSING, /* not evaluated */
};

struct assay__rule;
struct assay__verification;

struct assay__rule_result {
    const struct assay__rule *rule;
    enum assay__rule_outcome outcome;
    const char *missing;           /* MISSING: what, and what would provide it; else "" */
    struct assay__finding finding; /* FOUND */
    struct assay__change change;   /* FOUND: what could be tried */
};

/** Everything the rules can use. Strings they create are in the profile's arena. */
struct assay__advice {
    struct assay_profile *profile;
    const struct assay__trial *trial;
    double p50_ns;                   /* NaN unknown */
    struct assay__roofline roofline; /* of the trial's layers; in `arena` */
    struct assay__arena *arena;      /* scratch: lives as long as the advice */
    /* the model; NULL with a reason */
    struct assay__model *model;
    struct assay__workload *workload;
    struct assay__analysis *analysis;
    const char *model_reason, *shapes_reason;
    struct assay__fold_graph fold;      /* producer and readers of each value */
    size_t *layer_of;                   /* by node: the layer it became part of; SIZE_MAX unknown */
    struct assay__rule_result *results; /* in the order of the tables */
    struct assay__rule_result *result;  /* the rule that is evaluated now … */
    bool *about; /* … and, by layer, whether its finding is about that layer */
    size_t result_count, found, nothing, missing;
    const struct assay__verification *verification; /* verify.h; NULL: nothing was tried */
};

struct assay__rule {
    const char *id, *family;
    const char *severity; /* if no potential is known: "high" | "medium" | "low" | "note" */
    /* "small": an option; "medium": a new model file; "large": the model changes */
    const char *effort;
    unsigned needs; /* enum assay__need, enum assay__potential, ASSAY__RULE_DISTURBANCE */
    enum assay__rule_outcome (*evaluate)(struct assay__advice *advice);
    /** What could be tried, once found; NULL: nothing that a program can do by itself. */
    void (*apply)(const struct assay__advice *advice, struct assay__change *change);
    const void *with; /* for a function that serves several rules; NULL */
    const char *title;
    const char *looks;  /* what it looks for, with its thresholds; for doc/rules.md */
    const char *advice; /* the change to make; NULL: the function writes it */
};

/* --- helpers of rules ------------------------------------------------------------------------- */

/** 1 / (1 - share + share / local); local may be INFINITY. NaN if either is unknown, or no time
 *  would be left. */
double assay__amdahl(double share, double local);
/** A share in percent with three digits: "12.5". Use .text within the same expression. */
static inline struct assay__digits assay__percent(double share)
{
    return assay__digits(share * 100, 3);
}
/** Time of a layer in ns; 0 if unknown, so that shares refer to what is known. */
double assay__advice_time(const struct assay__layer *layer);
/** Whether the layer's operator is one of these ("Conv|Gemm")? */
bool assay__op_among(const char *op, const char *ops);
/** Total time of the layers whose operator is one of these, over the latency; *count is their
 *  number. */
double assay__advice_share(const struct assay__advice *advice, const char *ops, size_t *count);

/* These conclude the rule that is evaluated now: advice->result. */
/** The finding, if it becomes one, is about this layer. */
void assay__rule_about(const struct assay__advice *advice, size_t layer);
/** A sentence of evidence. */
void assay__rule_evidence(struct assay__advice *advice, const char *format, ...) ASSAY_PRINTF(2, 3);
/** The concrete change, if it is not the same for every profile. */
void assay__rule_advice(struct assay__advice *advice, const char *format, ...) ASSAY_PRINTF(2, 3);
/** Found, with that potential (NaN: unknown until it is tried). Below ASSAY__GAIN_LEAST: nothing
 *  found. */
enum assay__rule_outcome assay__rule_found(struct assay__advice *advice, double gain);
/** Not evaluated because this metric is unknown, with its reason. */
enum assay__rule_outcome assay__rule_without(struct assay__advice *advice, const char *metric);
/** Not evaluated, for that reason. */
enum assay__rule_outcome assay__rule_missing(struct assay__advice *advice, const char *reason);

/* the graph; only with ASSAY__NEED_MODEL */
size_t assay__advice_producer(const struct assay__advice *advice, const char *value);
/** The only node that reads the output of this one; SIZE_MAX: none, several, or it is an output of
 *  the model. */
size_t assay__advice_only_reader(const struct assay__advice *advice, size_t node);
/** The node's name, else that of its first output, else its operator. */
const char *assay__advice_node_name(const struct assay__node *node);

/* Changes that several rules propose. Each stays NONE if it is already in effect or impossible. */
void assay__try_optimization(const struct assay__advice *advice, struct assay__change *change);
void assay__try_layout_off(const struct assay__advice *advice, struct assay__change *change);
void assay__try_fuse_hardswish(const struct assay__advice *advice, struct assay__change *change);
void assay__try_fold_affine(const struct assay__advice *advice, struct assay__change *change);
void assay__try_batch(const struct assay__advice *advice, struct assay__change *change);
void assay__try_weights_int8(const struct assay__advice *advice, struct assay__change *change);
void assay__try_spinning_off(const struct assay__advice *advice, struct assay__change *change);
#define ASSAY__BATCH_TIMES 8 /* the larger batch: this many times the trial's */

/* advise_model.c */
/** "input=1x3x224x224" of each of the trial's inputs that has a rank; NULL when out of memory,
 *  which is also recorded in the arena. */
const char **assay__advice_shapes(const struct assay__trial *trial, struct assay__arena *arena,
                                  size_t *count);
int assay__advice_open_model(struct assay__advice *advice, const char *path);
void assay__advice_close_model(struct assay__advice *advice);

#endif
