/* json_tune.c - "tune": what a tuning has found (design section 10). */
#include "judge/tune_report.h"
#include "report/json/json_parts.h"

#include <math.h>
#include <stdint.h>

static void put_ratio(struct assay__json_writer *w, const struct assay__ratio *ratio)
{
    assay__json_put_number(w, "ratio", ratio->ratio);
    assay__json_put_number(w, "low", ratio->ci.known ? ratio->ci.low : NAN);
    assay__json_put_number(w, "high", ratio->ci.known ? ratio->ci.high : NAN);
    assay__json_put_number(w, "p_value", ratio->p_value);
}

static void put_row(struct assay__json_writer *w, const struct assay_profile *profile,
                    const struct assay__tune_row *row)
{
    static const char *const fates[] = {"failed", "dropped", "ablation", "finalist"};
    assay__json_object(w);
    assay__json_put_string(w, "label", row->judged.label);
    assay__json_put_integer(w, "trial", profile->trials[row->judged.trial].id);
    assay__json_put_string(w, "fate", fates[row->fate]);
    assay__json_put_bool(w, "start", row->start);
    assay__json_put_bool(w, "allowed", row->allowed);
    assay__json_put_text(w, "reason", row->judged.reason);
    assay__json_put_integer(w, "search_launches", (int64_t)row->search_launches);
    assay__json_put_integer(w, "launches", (int64_t)row->launches);
    assay__json_put_number(w, "cost", row->cost);
    assay__json_put_number(w, "latency_s", row->judged.latency.value);
    assay__json_put_number(w, "throughput_per_s", row->judged.throughput.value);
    assay__json_put_number(w, "memory_bytes", row->judged.memory.value);
    assay__json_put_number(w, "energy_j", row->judged.energy.value);
    assay__json_put_number(w, "drift_relative_l2", row->judged.drift.value);
    assay__json_put_bool(w, "pareto", row->front);
    assay__json_put_bool(w, "not_apart", row->alike);
    put_ratio(w, &row->ratio);
    assay__json_object_end(w);
}

static void put_parts(struct assay__json_writer *w, const struct assay__tune_result *result)
{
    assay__json_put_array(w, "contributions");
    for (size_t i = 0; i < result->part_count; i++) {
        const struct assay__tune_part *part = &result->parts[i];
        assay__json_object(w);
        assay__json_put_string(w, "axis", assay__axis_name(part->axis));
        assay__json_put_string(w, "from", part->from);
        assay__json_put_string(w, "to", part->to);
        assay__json_put_number(w, "factor", part->factor);
        assay__json_put_string(w, "state",
                               *part->objection ? "unavailable"
                               : part->measured ? "measured"
                                                : "estimated");
        assay__json_put_text(w, "objection", part->objection);
        assay__json_put_bool(w, "tested", isfinite(part->ratio.p_value));
        put_ratio(w, &part->ratio);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_labels(struct assay__json_writer *w, const char *key,
                       const struct assay__tune_result *result, bool front)
{
    assay__json_put_array(w, key);
    for (size_t i = 0; i < result->count; i++)
        if (front ? result->rows[i].front : result->rows[i].alike)
            assay__json_string(w, result->rows[i].judged.label);
    assay__json_array_end(w);
}

static void put_spent(struct assay__json_writer *w, const struct assay__tune_result *result)
{
    assay__json_put_integer(w, "grid", (int64_t)result->grid);
    assay__json_put_integer(w, "configurations", (int64_t)result->configurations);
    assay__json_put_integer(w, "failed", (int64_t)result->failed);
    assay__json_put_integer(w, "refused", (int64_t)result->refused);
    assay__json_put_integer(w, "search_launches", (int64_t)result->search_launches);
    assay__json_put_integer(w, "final_launches", (int64_t)result->final_launches);
    assay__json_put_integer(w, "ablation_launches", (int64_t)result->ablation_launches);
    assay__json_put_number(w, "budget_s", result->plan->budget_s);
    assay__json_put_number(w, "elapsed_s", result->elapsed_s);
    assay__json_put_number(w, "drift_limit", result->plan->drift_limit);
}

void assay__json_tune(struct assay__json_writer *w, struct assay__study *study)
{
    static const char *const languages[] = {"c", "python", "json"};
    const struct assay_profile *profile = study->profile;
    const struct assay__tune_result *result = assay__study_tune(study);
    assay__json_put_object(w, "tune");
    assay__json_put_string(w, "goal", assay__plan_goal_name(result->plan->goal));
    assay__json_put_text(w, "best",
                         result->best != SIZE_MAX ? result->rows[result->best].judged.label : "");
    assay__json_put_text(w, "start",
                         result->start != SIZE_MAX ? result->rows[result->start].judged.label : "");
    assay__json_put_bool(w, "tested", result->tested);
    assay__json_put_bool(w, "confirmed", result->confirmed);
    assay__json_put_string(w, "why", result->why);
    assay__json_put_text(w, "unconfirmed", result->unconfirmed);
    put_labels(w, "not_apart", result, false);
    put_labels(w, "pareto", result, true);
    assay__json_put_array(w, "rows");
    for (size_t i = 0; i < result->count; i++)
        put_row(w, profile, &result->rows[i]);
    assay__json_array_end(w);
    put_parts(w, result);
    put_spent(w, result);
    assay__json_put_object(w, "snippets");
    for (size_t i = 0; i < 3; i++) {
        const char *text = assay__tune_snippet(profile, result, languages[i], study->arena);
        assay__json_put_text(w, languages[i], text ? text : "");
    }
    assay__json_object_end(w);
    assay__json_object_end(w);
}
