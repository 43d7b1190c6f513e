/* tune_report.h - the result of a tuning: a pure function of its profile, so a saved profile gives
 * the same result. A trial's role (profile/facts.h) says what it was for; trials of one
 * configuration share a label. */
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
    /* of the trial that counts: the finalist, else that of the search; usable: it has a successful
     * launch; reason: also why it may not be recommended */
    struct assay__judged judged;
    enum assay__tune_fate fate;
    size_t search_launches, launches; /* successful ones: of the search; of the trial */
    bool start, software;
    bool searched; /* has a trial that is not an ablation and was not refused from the start */
    bool allowed;  /* may be recommended: it ran, within the limits, with usable outputs */
    double cost;   /* median over the launches, according to the goal; NaN */
    bool front;    /* on the Pareto front of those with two launches or more */
    struct assay__ratio ratio; /* its cost / the best's; NaN if it was not tested */
    bool alike;                /* a finalist that is tied with the best */
};

/* What one setting of the best contributes: reset to the start's, the cost grows by this factor. */
struct assay__tune_part {
    enum assay__axis axis;
    const char *from, *to;     /* "1", "4" */
    const char *objection;     /* why nothing with `from` may be recommended; "" */
    double factor;             /* NaN unknown, or there is an objection */
    bool measured;             /* both were run; else the surrogate's estimate */
    struct assay__ratio ratio; /* if measured; p_value NaN: too few launches for a test */
};

struct assay__tune_result {
    const struct assay__plan *plan; /* the profile's */
    struct assay__axes axes;
    struct assay__tune_row *rows;
    size_t count;
    size_t best, start;      /* rows; SIZE_MAX: none */
    bool tested;             /* the best was judged by new launches, as many as the test needs */
    bool confirmed;          /* and shown to differ from the defaults */
    const char *why;         /* always a sentence */
    bool withdrawn;          /* other processes used most of the machine */
    const char *unconfirmed; /* why a row that looked better than the best is not trusted; "" */
    struct assay__tune_part *parts;
    size_t part_count;
    size_t configurations, failed, refused, grid; /* refused: from the start, not tried */
    size_t search_launches, final_launches, ablation_launches;
    double elapsed_s; /* NaN unknown */
};

/** Everything is in the arena. 0 or ASSAY_ENOMEM. */
int assay__tune_result(const struct assay_profile *profile, struct assay__arena *arena,
                       struct assay__tune_result *out);
/** The best configuration as code: "c", "python" or "json". "" if there is no best. NULL: out of
 * memory. */
const char *assay__tune_snippet(const struct assay_profile *profile,
                                const struct assay__tune_result *result, const char *language,
                                struct assay__arena *arena);

/* --- shared by its files ---------------------------------------------------------------------- */

/** Costs of the good launches. */
struct assay__launch_values assay__tune_costs(const struct assay__trial *trial,
                                              enum assay__plan_goal goal,
                                              struct assay__arena *arena);
/** Cost of the other trial over that of the best, tested if both have enough launches. */
struct assay__ratio assay__tune_test(const struct assay_profile *profile, size_t best, size_t other,
                                     struct assay__arena *arena);
/** By its role alone. */
enum assay__tune_fate assay__tune_fate(const struct assay__trial *trial);
void assay__tune_find_parts(const struct assay_profile *profile, struct assay__arena *arena,
                            struct assay__tune_result *out);

#endif
