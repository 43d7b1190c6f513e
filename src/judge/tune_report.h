/* tune_report.h - what a tuning has found: a pure function of its profile, so that a kept one says
 * the same again. Trials are told by their role (profile/facts.h); trials of one configuration have
 * one label. */
#ifndef ASSAY_JUDGE_TUNE_REPORT_H
#define ASSAY_JUDGE_TUNE_REPORT_H

#include "judge/sweep.h"

enum assay__tune_fate {
    ASSAY__FATE_FAILED,   /* no launch went well: reason */
    ASSAY__FATE_DROPPED,  /* after its short launches */
    ASSAY__FATE_ABLATION, /* only measured as a variation of the best */
    ASSAY__FATE_FINALIST
};

struct assay__tune_row {
    /* of the trial that counts: finalist, else the search's; usable: it has a good launch; the
     * reason also why it may not be recommended */
    struct assay__judged judged;
    enum assay__tune_fate fate;
    size_t search_launches, launches; /* good ones: of the search; of the trial */
    bool start, software;
    bool searched; /* has a trial that is no ablation's, and was not refused from the start */
    bool allowed;  /* may be recommended: ran, within the limits, drift within its own */
    double cost;   /* median over the launches, of what the goal is about; NaN */
    /* no other of two launches or more is better in one thing and as good in the rest */
    bool front;
    struct assay__ratio ratio; /* its cost / the best's; NaN where it was not tested */
    bool alike;                /* a finalist that is tied with the best */
};

/* What one setting of the best contributes: reset to the start's, the cost grows by this factor. */
struct assay__tune_part {
    enum assay__axis axis;
    const char *from, *to;     /* "1", "4" */
    const char *objection;     /* nothing with `from` may be advised: why; "" */
    double factor;             /* NaN unknown, or there is an objection */
    bool measured;             /* both were run; else the surrogate's belief */
    struct assay__ratio ratio; /* when measured; p_value NaN: too few launches for a test */
};

struct assay__tune_result {
    const struct assay__plan *plan; /* the profile's */
    struct assay__axes axes;
    struct assay__tune_row *rows;
    size_t count;
    size_t best, start; /* rows; SIZE_MAX: none */
    bool tested;        /* the best was judged by launches of its own, as many as the test needs */
    bool confirmed;     /* and shown to differ from the defaults */
    const char *why;    /* a sentence in any case */
    /* a row that looks better than the best: why it is not; "" there is none */
    const char *unconfirmed;
    struct assay__tune_part *parts;
    size_t part_count;
    size_t configurations, failed, refused, grid; /* refused: from the start, not tried */
    size_t search_launches, final_launches, ablation_launches;
    double elapsed_s; /* NaN unknown */
};

/** Everything lives in the arena. 0 or ASSAY_ENOMEM. */
int assay__tune_result(const struct assay_profile *profile, struct assay__arena *arena,
                       struct assay__tune_result *out);
/** Ready to use, of the best: "c", "python" or "json". "" when there is no best. NULL: out of
 *  memory. */
const char *assay__tune_snippet(const struct assay_profile *profile,
                                const struct assay__tune_result *result, const char *language,
                                struct assay__arena *arena);

/* --- parts of it, between its files ----------------------------------------------------------- */

/** Costs of the good launches, sorted; free() them. NULL: out of memory. */
double *assay__tune_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                          size_t *count);
/** Cost of the other trial over that of the best, tested when both have launches enough. */
int assay__tune_test(const struct assay_profile *profile, enum assay__plan_goal goal, size_t best,
                     size_t other, struct assay__ratio *ratio);
/** By its role; that no launch went well is not looked at. */
enum assay__tune_fate assay__tune_fate(const struct assay__trial *trial);
int assay__tune_find_parts(const struct assay_profile *profile, struct assay__arena *arena,
                           struct assay__tune_result *out);

#endif
