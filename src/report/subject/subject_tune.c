/* subject_tune.c - what a tuning has found: the best configuration and why, every configuration
 * that was tried and its fate, what each setting contributes, what was spent, and the best as code.
 */
#include "report/subject/subject.h"

#include <math.h>

enum { LABEL = 1 };

#define TIMES ASSAY__UNIT_TIMES
static const struct assay__column columns[] = {
    {.key = "trial"},
    {.key = "configuration", .flags = ASSAY__COLUMN_NAME}, /* the axes follow */
    {.key = "fate"},
    {"launches", "launches", ASSAY__UNIT_COUNT, .priority = 2},
    {"p50_s", "p50", .unit = "s"},
    {"throughput_per_s", "per second", .unit = "1/s"},
    {"memory_bytes", "memory", "B", .priority = 1},
    {"energy_j", "gross energy", "J", .priority = 1},
    {"drift_relative_l2", "drift", ASSAY__UNIT_PLAIN, .priority = 4},
    {"ratio", "relative to best", TIMES, .priority = 3},
    {.key = "ratio_low"},
    {.key = "ratio_high"},
    {.key = "mark"},
    {"pareto", "Pareto", .priority = 4},
    {.key = "state"},
    {.key = "reason"},
    {.title = "mark"},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const struct assay__column part_columns[] = {
    {.title = "setting", .flags = ASSAY__COLUMN_NAME},
    {.title = "default"},
    {.title = "best"},
    {.title = "cost if reset to it", .unit = TIMES, .flags = ASSAY__COLUMN_KEEP},
    {.title = "known from", .flags = ASSAY__COLUMN_PROSE},
};

struct view {
    struct assay__doc *doc;
    const struct assay_profile *profile;
    const struct assay__tune_result *result;
    struct assay__table *table;
};

static const struct assay__tune_row *best_of(const struct assay__tune_result *result)
{
    return result->best < result->count ? &result->rows[result->best] : NULL;
}

/* "=1.25 × (1.21 to 1.3)" */
static struct assay__datum ratio_of(struct assay__doc *doc, double ratio,
                                    const struct assay__ratio *tested, enum assay_state state)
{
    struct assay__datum value = assay__datum_number(ratio, NULL, state);
    if (isfinite(ratio) && tested->ci.known)
        value.text = assay__doc_printf(doc, "%s%s × (%s)", assay__state_mark(state),
                                       assay__digits(ratio, 3).text,
                                       assay__digits_range(tested->ci.low, tested->ci.high).text);
    return value;
}

static const char *state_of(const struct assay__tune_row *row)
{
    return row->fate == ASSAY__FATE_FAILED ? "failed" : row->allowed ? "ok" : "not recommended";
}

static void put_row(struct view *v, size_t i, size_t axes)
{
    static const char *const fates[] = {"failed", "dropped", "ablation", "finalist"},
                             *const marks[] = {"failed", "short runs", "reset", NULL};
    const struct assay__tune_row *row = &v->result->rows[i];
    const struct assay__judged *j = &row->judged;
    const struct assay__trial *trial = &v->profile->trials[j->trial];
    const struct assay__ratio *r = &row->ratio;
    unsigned flags = (i == v->result->best ? ASSAY__ROW_BEST : 0) |
                     (row->alike ? ASSAY__ROW_TIED : 0) |
                     (row->fate == ASSAY__FATE_FAILED ? ASSAY__ROW_FAULT : 0);
    bool tested = isfinite(r->ratio) && r->ci.known;
    assay__table_row(v->table, flags, NULL);
    assay__table_number(v->table, trial->id, ASSAY_MEASURED);
    assay__table_text(v->table, j->label);
    for (size_t a = 0; a < axes; a++)
        assay__table_text(v->table, assay__trial_axis(trial, v->result->axes.items[a]));
    assay__table_text(v->table, fates[row->fate]);
    assay__table_number(v->table, (double)row->launches, ASSAY_MEASURED);
    assay__table_judged(v->table, j->usable, &j->latency, &j->throughput, &j->memory, &j->energy,
                        &j->drift);
    assay__table_cell(v->table, isfinite(r->ratio) ? ratio_of(v->doc, r->ratio, r, ASSAY_DERIVED)
                                                   : assay__datum_none());
    assay__table_numbers(v->table, ASSAY_DERIVED, tested ? r->ci.low : NAN,
                         tested ? r->ci.high : NAN);
    bool best = i == v->result->best, start = i == v->result->start;
    assay__table_texts(v->table,
                       best             ? "best"
                       : row->alike     ? "not apart" /* read by programs */
                       : start          ? "start"
                       : !row->launches ? "failed"
                                        : "",
                       row->front ? "yes" : "no", state_of(row), j->reason,
                       best            ? "best"
                       : !row->allowed ? state_of(row)
                       : row->alike    ? "tied"
                       : start         ? "default"
                                       : marks[row->fate]);
}

/* The best, then what is tied with it, then the other finalists, then the rest; each by cost, with
 * failed ones last. */
static bool stands_before(const struct assay__tune_result *result, size_t a, size_t b)
{
    const struct assay__tune_row *x = &result->rows[a], *y = &result->rows[b];
    const bool ranks[][2] = {{a == result->best, b == result->best},
                             {x->alike, y->alike},
                             {x->fate == ASSAY__FATE_FINALIST, y->fate == ASSAY__FATE_FINALIST}};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        if (ranks[i][0] != ranks[i][1]) return ranks[i][0];
    return (isfinite(x->cost) ? x->cost : INFINITY) < (isfinite(y->cost) ? y->cost : INFINITY);
}

static size_t *reading_order(struct view *v)
{
    const struct assay__tune_result *result = v->result;
    size_t *order = assay__doc_array(v->doc, result->count + 1, sizeof *order);
    for (size_t i = 0; order && i < result->count; i++) { /* a few hundred at most */
        size_t at = i;
        for (; at > 0 && stands_before(result, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return order;
}

static const char *const legend[][2] = {
    {"short runs", "measured only by the short launches of the search, which choose what is "
                   "measured again: the fastest of many is often luck"},
    {"reset", "the best with one setting reset to its default"},
    {"tied", "the test shows no difference from the best; of tied rows the one that changes the "
             "fewest defaults is called best, even where another has the lower median"},
    {"Pareto", "no other is better in one of latency, throughput, memory and energy and as "
               "good in the rest"},
    {"relative to best", "what the goal minimises (latency, time per sample or energy), divided by "
                         "that of the best"},
};

static void add_drift(struct view *v)
{
    const struct assay__tune_row *best = best_of(v->result);
    if (!best || !isfinite(best->judged.drift.value)) return;
    assay__doc_fact(v->doc, "drift");
    assay__doc_item_text(v->doc,
                         "=%.2g relative L2 of the best candidate's outputs against float32",
                         best->judged.drift.value);
    if (isfinite(v->result->plan->drift_limit))
        assay__doc_item_text(v->doc, "the limit is %s",
                             assay__digits(v->result->plan->drift_limit, 3).text);
}

static const char *percent(struct assay__doc *doc, size_t part, size_t whole)
{
    return assay__doc_printf(doc, "%s %%",
                             assay__digits(100.0 * (double)part / (double)whole, 3).text);
}

static void add_spent(struct view *v)
{
    const struct assay__tune_result *r = v->result;
    assay__doc_fact(v->doc, "tried");
    assay__doc_item_text(
        v->doc, "%zu of %zu configurations%s%s%s", r->configurations, r->grid, r->grid ? " (" : "",
        r->grid ? percent(v->doc, r->configurations, r->grid) : "", r->grid ? ")" : "");
    if (r->failed) assay__doc_item_text(v->doc, "%zu of them failed", r->failed);
    if (r->refused) assay__doc_item_text(v->doc, "%zu more rejected up front", r->refused);
    size_t chosen = r->search_launches + r->final_launches, most = r->grid * 3;
    assay__doc_fact(v->doc, "launches");
    assay__doc_item_text(v->doc, "%zu to choose", r->search_launches);
    assay__doc_item_text(v->doc, "%zu to judge", r->final_launches);
    if (r->ablation_launches)
        assay__doc_item_text(v->doc, "%zu for what each setting contributes", r->ablation_launches);
    if (r->grid > r->configurations) {
        assay__doc_item_text(v->doc,
                             "%s of the %zu that three launches of every configuration would take",
                             percent(v->doc, chosen, most), most);
        if (r->ablation_launches)
            assay__doc_item_text(v->doc, "%s with those for the contributions",
                                 percent(v->doc, chosen + r->ablation_launches, most));
    }
    if (!isfinite(r->elapsed_s) || !isfinite(r->plan->budget_s)) return;
    double left_s = r->plan->budget_s - r->elapsed_s;
    assay__doc_fact(v->doc, "budget");
    assay__doc_item_text(v->doc, "%s s of %s s", assay__digits(r->elapsed_s, 3).text,
                         assay__digits(r->plan->budget_s, 3).text);
    assay__doc_item_text(v->doc, left_s >= 0 ? "%s s left" : "%s s over",
                         assay__digits(fabs(left_s), 2).text);
}

static void add_best(struct view *v)
{
    const struct assay__tune_result *result = v->result;
    const struct assay__tune_row *best = best_of(result);
    struct assay__buf tied = {0};
    assay__doc_fact_text(v->doc, "goal", assay__plan_goal_name(v->profile->plan.goal));
    assay__doc_fact_text(v->doc, "best", best ? best->judged.label : "none");
    assay__doc_fact_text(v->doc, "why", result->why);
    if (best && !result->tested && v->doc->hint && v->doc->hint("budget"))
        assay__doc_item_text(v->doc, "%s", v->doc->hint("budget"));
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].alike)
            assay__buf_printf(&tied, "%s%s", tied.length ? "; " : "", result->rows[i].judged.label);
    assay__doc_fact_text(v->doc, "tied with it", assay__doc_take(v->doc, &tied));
    assay__doc_fact_text(v->doc, "unconfirmed", result->unconfirmed);
    add_drift(v);
    struct assay__fault *faults = assay__doc_array(v->doc, result->count + 1, sizeof *faults);
    for (size_t i = 0; faults && i < result->count; i++) {
        const struct assay__tune_row *row = &result->rows[i];
        const char *reason = row->judged.reason, *slo = result->plan->slo_metric;
        bool few = slo && row->judged.usable &&
                   isnan(assay__trial_value(&v->profile->trials[row->judged.trial], slo));
        faults[i] = (struct assay__fault){row->allowed ? NULL : state_of(row), row->judged.label,
                                          few ? assay__doc_reason(v->doc, slo, reason) : reason};
    }
    if (faults) assay__point_faults(v->doc, faults, result->count);
}

static const char *how_known(struct view *v, const struct assay__tune_part *part)
{
    if (*part->objection)
        return assay__doc_printf(v->doc, "cannot be reset: %s is not allowed (%s)", part->from,
                                 part->objection);
    if (!part->measured) return "estimated by the search's model, not measured";
    if (isnan(part->ratio.p_value)) return "measured; too few launches for a test";
    return part->ratio.p_value < 0.05 ? "measured" : "measured; no difference detected";
}

static void add_parts(struct view *v)
{
    const struct assay__tune_result *result = v->result;
    if (!result->part_count) return;
    assay__doc_section(v->doc, "tune-settings", "What each setting contributes",
                       "the best with one setting reset to its default", ASSAY__SECTION_HALF);
    struct assay__table *t = assay__doc_table(v->doc, NULL, "What each setting contributes",
                                              part_columns);
    for (size_t i = 0; i < result->part_count; i++) {
        const struct assay__tune_part *part = &result->parts[i];
        enum assay_state state = part->measured ? ASSAY_MEASURED : ASSAY_ESTIMATED;
        assay__table_row_of(t, 0, assay__axis_name(part->axis), part->from, part->to);
        assay__table_cell(t, ratio_of(v->doc, part->factor, &part->ratio, state));
        assay__table_text(t, how_known(v, part));
    }
    assay__doc_end(v->doc);
}

/* The best as code that can be pasted: Python first, then the others. */
static void add_code(struct view *v)
{
    static const char *const languages[][2] = {
        {"python", "Python"}, {"c", "C"}, {"json", "JSON session options"}};
    if (!best_of(v->result)) return;
    assay__doc_section(v->doc, "tune-code", "Use it", "in Python", ASSAY__SECTION_HALF);
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
        const char *text = assay__tune_snippet(v->profile, v->result, languages[i][0],
                                               v->doc->study->arena);
        if (!text) v->doc->failed = true;
        if (i == 1) assay__doc_fold(v->doc, NULL, "In C, and as JSON", NULL);
        if (text && *text)
            assay__doc_code(v->doc, languages[i][0], i ? languages[i][1] : NULL, text);
    }
    assay__doc_end(v->doc);
    assay__doc_end(v->doc);
}

static void add_table(struct view *v)
{
    size_t count = COLUMN_COUNT;
    const struct assay__column *own = assay__point_columns(v->doc, columns, &count, LABEL,
                                                           &v->result->axes);
    assay__doc_section(v->doc, "tune-rows", "Configurations",
                       "the best, what is tied with it, then by cost", 0);
    v->table = assay__doc_add_table(v->doc, "tune", "Every configuration tried", own, count);
    v->table->more = "configurations";
    v->table->order = reading_order(v);
    for (size_t i = 0; i < v->result->count; i++)
        put_row(v, i, count - COLUMN_COUNT);
    assay__point_common(v->doc, &v->result->axes);
    assay__doc_legend(v->doc, ASSAY__ARRAY(legend));
    assay__doc_end(v->doc);
}

static void add_why(struct view *v)
{
    assay__doc_section(v->doc, "tune-best", "Why", NULL, ASSAY__SECTION_HALF);
    add_best(v);
    add_spent(v);
    assay__doc_end(v->doc);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    if (!trial || study->profile->kind != ASSAY__PROFILE_TUNE) return;
    struct view v = {.doc = doc, .profile = study->profile, .result = assay__study_tune(study)};
    if (study->failed) return;
    assay__doc_section(doc, "tune", "Tune", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET | ASSAY__SECTION_DECK);
    add_code(&v);
    assay__doc_picture(doc, "pareto", trial, ASSAY__PICTURE_DETAIL | ASSAY__PICTURE_PAGE);
    bool any = best_of(v.result) != NULL; /* else the reasons are the answer */
    if (!any) add_why(&v);
    add_table(&v);
    if (any) add_why(&v);
    add_parts(&v);
    doc->headed = true; /* a page has it beside the code */
    assay__doc_picture(doc, "pareto", trial, ASSAY__PICTURE_DETAIL);
    doc->headed = false;
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_tune = {
    "tune", ASSAY__OF_PROFILE, build, {{"tune", ASSAY__ARRAY(columns)}}};
