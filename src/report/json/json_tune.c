/* json_tune.c - "tune": what a tuning has found (design section 10). */
#include "judge/tune_report.h"
#include "report/json/json_parts.h"

#include <math.h>
#include <stdint.h>

static void put_ratio(struct assay__json_writer *w, const struct assay__ratio *ratio)
{
    assay__json_members(w, json_number("ratio", ratio->ratio),
                        json_number("low", ratio->ci.known ? ratio->ci.low : NAN),
                        json_number("high", ratio->ci.known ? ratio->ci.high : NAN),
                        json_number("p_value", ratio->p_value));
}

static void put_row(struct assay__json_writer *w, const struct assay_profile *profile,
                    const struct assay__tune_row *row)
{
    static const char *const fates[] = {"failed", "dropped", "ablation", "finalist"};
    assay__json_object(w);
    assay__json_members(w, json_string("label", row->judged.label),
                        json_integer("trial", profile->trials[row->judged.trial].id),
                        json_string("fate", fates[row->fate]), json_bool("start", row->start),
                        json_bool("allowed", row->allowed), json_text("reason", row->judged.reason),
                        json_integer("search_launches", row->search_launches),
                        json_integer("launches", row->launches), json_number("cost", row->cost),
                        json_number("latency_s", row->judged.latency.value),
                        json_number("throughput_per_s", row->judged.throughput.value),
                        json_number("memory_bytes", row->judged.memory.value),
                        json_number("energy_j", row->judged.energy.value),
                        json_number("drift_relative_l2", row->judged.drift.value),
                        json_bool("pareto", row->front), json_bool("not_apart", row->alike));
    put_ratio(w, &row->ratio);
    assay__json_object_end(w);
}

static void put_labels(struct assay__json_writer *w, const char *key,
                       const struct assay__tune_result *result, bool front)
{
    for (ASSAY__JSON_EACH(i, w, key, result->count))
        if (front ? result->rows[i].front : result->rows[i].alike)
            assay__json_string(w, result->rows[i].judged.label);
}

void assay__json_tune(struct assay__json_writer *w, struct assay__study *study)
{
    static const char *const languages[] = {"c", "python", "json"};
    const struct assay_profile *profile = study->profile;
    const struct assay__tune_result *result = assay__study_tune(study);
    assay__json_put_object(w, "tune");
    assay__json_members(
        w, json_string("goal", assay__plan_goal_name(result->plan->goal)),
        json_text("best", result->best != SIZE_MAX ? result->rows[result->best].judged.label : ""),
        json_text("start",
                  result->start != SIZE_MAX ? result->rows[result->start].judged.label : ""),
        json_bool("tested", result->tested), json_bool("confirmed", result->confirmed),
        json_string("why", result->why), json_text("unconfirmed", result->unconfirmed));
    put_labels(w, "not_apart", result, false);
    put_labels(w, "pareto", result, true);
    for (ASSAY__JSON_EACH(i, w, "rows", result->count))
        put_row(w, profile, &result->rows[i]);
    for (ASSAY__JSON_EACH(i, w, "contributions", result->part_count)) {
        const struct assay__tune_part *part = &result->parts[i];
        assay__json_object(w);
        assay__json_members(w, json_string("axis", assay__axis_name(part->axis)),
                            json_string("from", part->from), json_string("to", part->to),
                            json_number("factor", part->factor),
                            json_string("state", *part->objection ? "unavailable"
                                                 : part->measured ? "measured"
                                                                  : "estimated"),
                            json_text("objection", part->objection),
                            json_bool("tested", isfinite(part->ratio.p_value)));
        put_ratio(w, &part->ratio);
        assay__json_object_end(w);
    }
    assay__json_members(w, json_integer("grid", result->grid),
                        json_integer("configurations", result->configurations),
                        json_integer("failed", result->failed),
                        json_integer("refused", result->refused),
                        json_integer("search_launches", result->search_launches),
                        json_integer("final_launches", result->final_launches),
                        json_integer("ablation_launches", result->ablation_launches),
                        json_number("budget_s", result->plan->budget_s),
                        json_number("elapsed_s", result->elapsed_s),
                        json_number("drift_limit", result->plan->drift_limit));
    assay__json_put_object(w, "snippets");
    for (size_t i = 0; i < 3; i++) {
        const char *text = assay__tune_snippet(profile, result, languages[i], study->arena);
        assay__json_put_text(w, languages[i], text ? text : "");
    }
    assay__json_object_end(w);
    assay__json_object_end(w);
}
