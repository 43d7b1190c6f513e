/* json_comparison.c - "comparison": the rows of a compared profile and what is recommended (design
 * section 10). */
#include "judge/comparison.h"
#include "report/json/json_parts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void put_drift(struct assay__json_writer *w, const struct assay__trial *trial)
{
    static const char *const names[] = {"drift.max_absolute", "drift.relative_l2", "drift.cosine",
                                        "drift.top1", "drift.nonfinite"};
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        any |= trial->metrics && assay_metrics_get(trial->metrics, names[i]);
    if (!any) {
        assay__json_put_null(w, "drift");
        return;
    }
    assay__json_put_object(w, "drift");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assay__json_put_number(w, names[i] + strlen("drift."), assay__trial_value(trial, names[i]));
    assay__json_put_number(w, "outputs_nonfinite", assay__trial_value(trial, "outputs.nonfinite"));
    const struct assay_metric *l2 = assay_metrics_get(trial->metrics, "drift.relative_l2");
    assay__json_put_text(w, "reason", l2 && l2->state == ASSAY_UNAVAILABLE ? l2->note : "");
    assay__json_object_end(w);
}

/* All names: the text shows the first of them. */
static void put_placement(struct assay__json_writer *w, const struct assay__comparison_row *row)
{
    const struct assay__placement_summary *f = &row->placement;
    if (!f->asked) {
        assay__json_put_null(w, "placement");
        return;
    }
    assay__json_put_object(w, "placement");
    assay__json_members(
        w, json_text("reason", f->reason), json_text("asked", f->record),
        json_number("nodes", f->nodes), json_number("inferred_nodes", f->inferred),
        json_number("elsewhere", f->elsewhere), json_number("partitions", f->partitions),
        json_number("crossings", f->crossings), json_number("crossing_bytes", f->crossing_bytes),
        json_number("crossing_time_s", f->crossing_time_s),
        json_text("crossing_time_reason", f->time_reason),
        json_number("flops_share", f->flops_share),
        json_bool("nothing_on_device", assay__placement_is_elsewhere(f)),
        json_text("provider", f->provider));
    assay__json_put_strings(w, "names", (const char *const *)f->names, f->name_count);
    assay__json_object_end(w);
}

static void put_row(struct assay__json_writer *w, const struct assay_profile *profile,
                    const struct assay__comparison *all, size_t i)
{
    const struct assay__comparison_row *row = &all->rows[i];
    assay__json_object(w);
    assay__json_members(
        w, json_integer("trial", profile->trials[row->judged.trial].id),
        json_string("label", row->judged.label),
        json_string("device", profile->trials[row->judged.trial].target.device),
        json_text("role",
                  assay__role_name(i == all->reference ? ASSAY__ROLE_REFERENCE : row->judged.role)),
        json_count("batch", row->batch, 1), json_bool("usable", row->judged.usable),
        json_text("reason", row->judged.reason),
        json_number("latency_s", row->judged.latency.value),
        json_number("throughput_per_s", row->judged.throughput.value),
        json_number("energy_j", row->judged.energy.value),
        json_text("energy_of", !isfinite(row->judged.energy.value) ? ""
                               : row->energy_by_launch             ? "median over launches"
                                                                   : "all windows"),
        json_number("energy_ratio", row->energy_ratio),
        json_number("memory_bytes", row->judged.memory.value),
        json_number("device_memory_bytes", row->judged.device_memory.value),
        json_number("latency_p99_s", row->judged.p99.value),
        json_number("power_w", row->judged.power.value),
        json_number("tops_per_watt", row->judged.tops_per_watt.value),
        json_number("score", row->judged.score.value), json_number("speedup", row->speed.ratio),
        json_number("speedup_low", row->speed.ci.low),
        json_number("speedup_high", row->speed.ci.high),
        json_text("speedup_of",
                  isfinite(row->speed.ratio) ? assay__ratio_by_name(row->speed.by) : ""),
        json_number("p_value", row->speed.p_value),
        json_number("smallest_difference", row->speed.smallest),
        json_text("verdict", assay__verdict_name(row->verdict)),
        json_number("energy_ratio_low", row->energy.ci.low),
        json_number("energy_ratio_high", row->energy.ci.high),
        json_number("energy_p_value", row->energy.p_value),
        json_text("energy_reason", row->energy_reason), json_text("not_advised", row->unadvised));
    put_drift(w, &profile->trials[row->judged.trial]);
    put_placement(w, row);
    assay__json_object_end(w);
}

/* Why they differ: operators and layers, the reference first; null, with the reason, if layers were
 * not timed. */
static void put_changes(struct assay__json_writer *w, struct assay__study *study)
{
    const struct assay__layer_changes *all = assay__study_changes(study);
    const struct assay__diff *diff = &all->diff;
    assay__json_put_text(w, "changes_reason", all->reason);
    if (*all->reason || study->failed) {
        assay__json_put_null(w, "changes");
        return;
    }
    assay__json_put_object(w, "changes");
    for (ASSAY__JSON_EACH(s, w, "trials", diff->count))
        assay__json_integer(w, study->profile->trials[all->trials[s]].id);
    for (ASSAY__JSON_EACH(o, w, "operators", all->operator_count)) {
        const struct assay__operator_change *op = &all->operators[o];
        assay__json_object(w);
        assay__json_members(w, json_string("op", op->op), json_bool("by_launch", op->by_launch));
        for (ASSAY__JSON_EACH(s, w, "layers", diff->count))
            assay__json_integer(w, (int64_t)op->layers[s]);
        for (ASSAY__JSON_EACH(s, w, "times_us", diff->count))
            assay__json_number(w, op->times_ns[s] / 1e3);
        assay__json_diff_deltas(w, diff, op->deltas, true);
        assay__json_object_end(w);
    }
    for (ASSAY__JSON_EACH(i, w, "layers", diff->layer_count))
        assay__json_diff_layer(w, diff, &diff->layers[i]);
    assay__json_members(w, json_text("layers_rule", diff->layers_rule),
                        json_text("layers_interval_reason", diff->layers_interval_reason));
    assay__json_object_end(w);
}

void assay__json_comparison(struct assay__json_writer *w, struct assay__study *study)
{
    const struct assay_profile *profile = study->profile;
    const struct assay__comparison *all = assay__study_comparison(study);
    assay__json_put_object(w, "comparison");
    for (ASSAY__JSON_EACH(i, w, "rows", all->count))
        put_row(w, profile, all, i);
    assay__json_put_text(w, "batches", all->batches);
    assay__json_put_object(w, "recommendation");
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++) {
        size_t row = all->recommendations[i].row;
        assay__json_put_text(w, assay__goal_name((enum assay__goal_kind)i),
                             row == SIZE_MAX ? "" : all->rows[row].judged.label);
    }
    assay__json_put_object(w, "why");
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++)
        assay__json_put_string(w, assay__goal_name((enum assay__goal_kind)i),
                               all->recommendations[i].why);
    assay__json_object_end(w);
    assay__json_object_end(w);
    put_changes(w, study);
    assay__json_object_end(w);
}
