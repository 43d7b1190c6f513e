/* verify_attempt.h - one change, or several together, on trial: shared by the files of verify. */
#ifndef ASSAY_EXPERIMENT_VERIFY_ATTEMPT_H
#define ASSAY_EXPERIMENT_VERIFY_ATTEMPT_H

#include "experiment/verify.h"
#include "judge/judged.h"

#define ASSAY__VERIFY_MOST 32 /* changes of one advice, at most: there are fewer kinds */

enum assay__attempt_state {
    ASSAY__ATTEMPT_WAITING, /* not begun: the budget decides */
    ASSAY__ATTEMPT_RUNNING, /* its launches take part in the rounds */
    ASSAY__ATTEMPT_LEFT,    /* the budget did not suffice */
};

struct assay__attempt {
    const struct assay__change *changes[ASSAY__VERIFY_MOST];
    size_t change_count;
    const char *words; /* "threads=2"; several joined by " + " */
    enum assay__attempt_state state;
    size_t arm;          /* in the arms; SIZE_MAX: none yet */
    const char *refusal; /* the rewritten model could not be made; "" */
    double spent_s;      /* of its launches */
    int launches;        /* begun */
    /* the judgement: of its arm's trial; the reason says what the state of the finding rests on */
    struct assay__judged judged;
    struct assay__ratio gain;   /* per sample: above 1 is faster */
    struct assay__ratio energy; /* of one sample, with over without: below 1 is less */
    double limit;               /* of the drift; NaN unknown … */
    bool drifts;                /* … and whether it is exceeded */
    const char *of, *drift_note, *finding_state;
};

struct assay__verifying {
    struct assay__advice *advice;
    struct assay__arms *arms;
    const struct assay__verify_options *options;
    struct assay__verification *out;
    struct assay__arena *arena; /* of the advice's profile */
    struct assay__attempt attempts[ASSAY__VERIFY_MOST], all;
    size_t count;
    struct assay__attempt baseline, again; /* without changes; once more beside the combination */
    size_t trial;                          /* of the advice, when its profile is the arms' */
    bool same_profile;
    uint64_t begin_ns;
    int done, planned;       /* launches, for the progress … */
    assay_progress_fn *tell; /* … which this one is told */
    void *tell_context;
};

/* verify_plan.c */
/** The distinct changes of the findings, in their order; what has none gets its reason. */
int assay__verify_collect(struct assay__verifying *v);
/** The changes that helped, as one attempt: those that exclude each other are represented by the
 *  better one. False: fewer than two are left. */
bool assay__verify_combine(struct assay__verifying *v);
/** Makes the arm of an attempt: options, rewritten copy. What is wrong with it alone is its
 *  refusal. */
int assay__verify_open(struct assay__verifying *v, struct assay__attempt *attempt,
                       const char *label, struct assay_error *error);

/* verify_judge.c */
/** Fills in the judgement of an attempt whose arm is concluded, against the run without changes. */
int assay__verify_judge(struct assay__verifying *v, const struct assay__attempt *baseline,
                        struct assay__attempt *attempt);
/** What other processes' share of the CPU time during its launches does to "verified". Which
 * threads are best beside others is not what is best without them: such a change is open again.
 * What leaves the threads alone was compared fairly, launch by launch: the load is said beside it.
 */
void assay__verify_judge_load(struct assay__attempt *attempt, double load,
                              struct assay__arena *arena);
/** The severity once it was tried: by the measured gain where that verified it, "note" of what was
 *  withdrawn, else the rule's as it is. */
const char *assay__verify_severity(const struct assay__finding *finding);
/** The judgement into a finding, its severity included. */
void assay__verify_fill(const struct assay__attempt *attempt, struct assay__finding *finding);
/** The finding of all changes together, after the others. */
int assay__verify_add_combined(struct assay__verifying *v);

#endif
