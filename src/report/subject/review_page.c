/* review_page.c - requirements, score, bottlenecks and what to try: parts of the whole report, and
 * the basic and the detailed report that show this instead of it. */
#include "report/subject/subject.h"

#include <math.h>
#include <stdint.h>

enum { MINIMUM = 1, TARGET };

static const struct assay__heading parts[] = {{.title = "Minimum"}, {.title = "Target"}};

const struct assay__column assay__requirement_columns[ASSAY__REQUIREMENT_COLUMNS] = {
    {.key = "trial"},
    {.key = "name"},
    {.key = "metric"},
    {.title = "requirement", .flags = ASSAY__COLUMN_NAME},
    {"value", "measured", "", .flags = ASSAY__COLUMN_KEEP, .part = MINIMUM},
    {.key = "unit"},
    {.key = "state"},
    {"minimum", "minimum", "", .part = MINIMUM},
    {"minimum_ratio", "reached", "ratio", .part = MINIMUM},
    {"minimum_verdict", "verdict", .part = MINIMUM},
    {"target", "target", "", .part = TARGET},
    {"target_ratio", "reached", "ratio", .part = TARGET},
    {"target_verdict", "verdict", .part = TARGET},
    {.key = "reason"},
    {.key = "recommendation"},
};

static void put_required(struct assay__table *t, const struct assay__requirement *row,
                         double required, double ratio, enum assay__require_state state)
{
    static const enum assay__badge badges[] = {
        [ASSAY__REQUIRE_NONE] = ASSAY__BADGE_NONE,
        [ASSAY__REQUIRE_MET] = ASSAY__BADGE_PASS,
        [ASSAY__REQUIRE_NOT_MET] = ASSAY__BADGE_FAIL,
        [ASSAY__REQUIRE_UNKNOWN] = ASSAY__BADGE_WARN,
    };
    if (!isfinite(required)) {
        assay__table_skip(t, 3);
        return;
    }
    assay__table_cell(t, assay__measured(required, row->info->unit));
    assay__table_known(t, ratio, ASSAY_DERIVED);
    assay__table_cell(t, assay__datum_badge(assay__require_state_name(state), badges[state]));
}

void assay__add_requirements(struct assay__doc *doc, const struct assay__trial *trial,
                             const struct assay__judgement *j)
{
    static const char *const words[] = {"not given", "met", "NOT MET", "cannot be judged"};
    bool failed = j->minimum == ASSAY__REQUIRE_NOT_MET;
    assay__doc_sentence(doc, failed ? ASSAY__TONE_ALERT : ASSAY__TONE_PLAIN,
                        "%s: minimum %s, target %s.", j->table->name, words[j->minimum],
                        words[j->target]);
    struct assay__table *t = assay__doc_add_table(
        doc, "requirements", "Measured against minimum and target", assay__requirement_columns,
        ASSAY__REQUIREMENT_COLUMNS);
    t->parts = parts;
    t->part_count = sizeof parts / sizeof *parts;
    for (size_t i = 0; i < j->count; i++) {
        const struct assay__requirement *row = &j->rows[i];
        bool known = isfinite(row->value), unmet = row->minimum_state == ASSAY__REQUIRE_NOT_MET;
        assay__table_row(t, unmet ? ASSAY__ROW_FAULT : 0, NULL);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        assay__table_texts(t, row->info->key,
                           row->measured ? row->measured->name : row->info->metric,
                           row->info->label);
        assay__table_cell(t, known ? assay__datum_metric(row->measured)
                                   : assay__datum_unknown(row->reason));
        assay__table_texts(t, row->info->unit,
                           assay_state_name(known ? row->measured->state : ASSAY_UNAVAILABLE));
        put_required(t, row, row->minimum, row->minimum_ratio, row->minimum_state);
        put_required(t, row, row->target, row->target_ratio, row->target_state);
        assay__table_texts(t, row->reason, row->advice);
        const char *const remarks[] = {row->note, row->unreachable, row->beyond};
        for (size_t k = 0; k < sizeof remarks / sizeof remarks[0]; k++)
            if (*remarks[k] && remarks[k] != row->advice_limit) /* which the advice repeats */
                assay__doc_note(doc, "%s: %s", row->info->label, remarks[k]);
    }
}

void assay__add_score(struct assay__doc *doc, const struct assay__score *score)
{
    assay__doc_fact(doc, "score");
    for (size_t i = 0; i <= ASSAY__SCORE_PARTS; i++) {
        const struct assay__score_part *part = i ? &score->parts[i - 1] : NULL;
        double points = part ? part->points : score->points;
        struct assay__datum value = assay__derived(points, ASSAY__UNIT_PLAIN);
        if (isfinite(points))
            value.text = assay__doc_printf(doc, "=%.*f", points < 0.1 ? 3 : 1, points);
        assay__doc_item_after(doc, part ? part->name : NULL, value,
                              assay__doc_printf(doc, "of %.0f", part ? part->of : 100.0));
    }
    if (isfinite(score->points)) return;
    assay__doc_fold(doc, NULL, "Why the score is unknown", NULL);
    for (size_t i = 0; i < ASSAY__SCORE_PARTS; i++)
        if (!isfinite(score->parts[i].points))
            assay__doc_fact_text(doc, score->parts[i].name, score->parts[i].reason);
    assay__doc_end(doc);
}

void assay__add_sentences(struct assay__doc *doc, const char *title, const char *remark,
                          const struct assay__sentence_list *list, size_t most)
{
    size_t shown = list->count < most ? list->count : most;
    assay__doc_section(doc, NULL, title, remark, 0);
    assay__doc_points(doc, list->items, shown);
    if (!list->count) assay__doc_note(doc, "None found.");
    if (list->count > shown)
        assay__doc_note(doc, "The detailed report lists %zu more.", list->count - shown);
    assay__doc_end(doc);
}

/* What the monitoring guide calls compute, memory and hardware analysis. */
static const struct {
    const char *label;
    const struct {
        const char *metric, *name;
    } items[6];
} groups[] = {
    {"speed",
     {{"latency.p50", "p50"}, {"latency.p99", "p99"}, {"throughput.inferences", "inferences"}}},
    {"compute",
     {{"compute.rate", "rate"},
      {"compute.utilization", "of the ceiling"},
      {"compute.efficiency", "of the minimum"}}},
    {"memory",
     {{"memory.bandwidth", "bandwidth"},
      {"memory.bandwidth_utilization", "of the ceiling"},
      {"memory.peak.worker", "peak"},
      {"memory.peak.device", "on the device"},
      {"memory.budget_share", "of the budget"},
      {"cache.hit_rate", "cache hits"}}},
    {"hardware",
     {{"power.average", "power"},
      {"power.budget_share", "of the budget"},
      {"energy.inference.net", "net energy per inference"},
      {"hardware.temperature", "temperature"},
      {"hardware.memory_controller", "memory controller"}}},
};

/* Known values first, then the missing ones. */
static void add_performance(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum { MOST = sizeof groups[0].items / sizeof groups[0].items[0] };
    assay__doc_section(doc, NULL, "Performance",
                       "— not available: see the full report for the reasons", 0);
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        struct assay__buf missing = {0};
        assay__doc_fact(doc, groups[g].label);
        for (size_t i = 0; i < MOST && groups[g].items[i].metric; i++) {
            const char *name = groups[g].items[i].name;
            const struct assay_metric *m = assay__trial_metric(trial, groups[g].items[i].metric);
            if (m)
                assay__doc_item(doc, name, assay__datum_metric(m));
            else
                assay__buf_printf(&missing, "%s%s", missing.length ? ", " : "— ", name);
        }
        assay__doc_item_text(doc, "%s", assay__doc_take(doc, &missing));
    }
    assay__doc_end(doc);
}

void assay__add_review(struct assay__doc *doc, const struct assay__trial *trial, bool detailed)
{
    const struct assay__review *review = assay__study_review(doc->study, trial);
    if (doc->study->failed) return;
    assay__doc_section(doc, NULL, "Requirements", NULL, 0);
    if (review->required)
        assay__add_requirements(doc, trial, &review->judgement);
    else
        assay__doc_note(doc, "None given.");
    assay__doc_end(doc);
    add_performance(doc, trial);
    assay__doc_section(doc, NULL, "Score", NULL, 0);
    assay__add_score(doc, &review->score);
    assay__doc_end(doc);
    if (detailed) {
        assay__add_sentences(doc, "Bottlenecks", NULL, &review->bottlenecks, SIZE_MAX);
        assay__add_sentences(doc, "Opportunities",
                             "upper bounds from the measurements, not promises",
                             &review->opportunities, SIZE_MAX);
    }
    assay__add_sentences(doc, "Recommendations", "suggestions that were not tried",
                         &review->recommendations, detailed ? SIZE_MAX : ASSAY__REVIEW_BASIC);
}
