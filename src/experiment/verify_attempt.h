/* verify_attempt.h - one change, or several together, being tried: shared by the files of
 * verify. */
#ifndef ASSAY_EXPERIMENT_VERIFY_ATTEMPT_H
#define ASSAY_EXPERIMENT_VERIFY_ATTEMPT_H

#include "experiment/verify.h"
#include "judge/judged.h"

#define ASSAY__VERIFY_MOST 32 /* maximum number of changes of one advice: there are fewer kinds */

enum assay__attempt_state {
    ASSAY__ATTEMPT_WAITING, /* not started: depends on the budget */
    ASSAY__ATTEMPT_RUNNING, /* its launches take part in the rounds */
    ASSAY__ATTEMPT_LEFT,    /* the budget did not suffice */
};

struct assay__attempt {
    const struct assay__change *changes[ASSAY__VERIFY_MOST];
    size_t change_count;
    const char *words; /* "threads=2"; several joined by " + " */
    enum assay__attempt_state state;
    size_t arm;          /* in the arms; SIZE_MAX: none yet */
    const char *refusal; /* the rewritten model could not be created; "" */
    double spent_s;      /* of its launches */
    int launches;        /* begun */
    /* the judgement of its arm's trial; the reason explains the state of the finding */
    struct assay__judged judged;
    struct assay__ratio gain;   /* per sample: above 1 is faster */
    struct assay__ratio energy; /* of one sample, with over without: below 1 is less */
    double limit;               /* of the drift; NaN unknown … */
    bool drifts;                /* … and whether it is exceeded */
    const char *of, *drift_note, *finding_state;
    bool busy; /* tried, but other load decided its times: there is no verdict */
};

struct assay__verifying {
    struct assay__advice *advice;
    struct assay__arms *arms;
    const struct assay__verify_options *options;
    struct assay__verification *out;
    struct assay__arena *arena; /* of the advice's profile */
    struct assay__attempt attempts[ASSAY__VERIFY_MOST], all;
    size_t count;
    struct assay__attempt baseline, again; /* without changes; again next to the combination */
    size_t trial;                          /* of the advice, when its profile is the arms' */
    bool same_profile;
    uint64_t begin_ns;
    int done, planned;       /* launches, for the progress … */
    assay_progress_fn *tell; /* … which is reported to this one */
    void *tell_context;
};

/* verify_plan.c */
/** The distinct changes of the findings, in their order; findings without a change get the
 *  reason. */
int assay__verify_collect(struct assay__verifying *v);
/** The changes that helped, as one attempt: those that exclude each other are represented by the
 *  better one. False: fewer than two are left. */
bool assay__verify_combine(struct assay__verifying *v);
/** Creates the arm of an attempt: options, rewritten copy. A problem with it alone is its
 *  refusal. */
int assay__verify_open(struct assay__verifying *v, struct assay__attempt *attempt,
                       const char *label, struct assay_error *error);

/* verify_judge.c */
/** Fills in the judgement of an attempt whose arm is concluded, compared with the run without
 *  changes. */
int assay__verify_judge(struct assay__verifying *v, const struct assay__attempt *baseline,
                        struct assay__attempt *attempt);
/** How other processes' share of the CPU time during its launches affects "verified". The best
 *  threads on a busy machine are not the best on a quiet one: such a change is open again. What
 *  does not affect threads was compared fairly, launch by launch: the load is only noted. */
void assay__verify_judge_load(struct assay__attempt *attempt, double load,
                              struct assay__arena *arena);
/** The severity once it was tried: by the measured gain if that verified it, "note" if withdrawn,
 *  else that of the rule. */
const char *assay__verify_severity(const struct assay__finding *finding);
/** Stores the judgement in a finding, including its severity. */
void assay__verify_fill(const struct assay__attempt *attempt, struct assay__finding *finding);
/** The finding of all changes together, after the others. */
int assay__verify_add_combined(struct assay__verifying *v);

#endif
