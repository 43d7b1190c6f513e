/* json_sweep.c - "sweep": the axes, every point, the optimum and the knee of a swept profile
 * (design section 10). */
#include "judge/sweep.h"
#include "report/json/json_parts.h"

#include <stdint.h>

static void put_point(struct assay__json_writer *w, const struct assay_profile *profile,
                      const struct assay__sweep *sweep, const struct assay__sweep_point *p)
{
    assay__json_object(w);
    assay__json_members(w, json_integer("trial", profile->trials[p->judged.trial].id),
                        json_string("label", p->judged.label));
    assay__json_put_object(w, "values");
    for (size_t a = 0; a < sweep->axes.count; a++)
        assay__json_put_text(w, assay__axis_name(sweep->axes.items[a]), p->values[a]);
    assay__json_object_end(w);
    assay__json_members(
        w, json_string("device", p->device),
        json_text("class", assay__device_class_name(p->device_class)),
        json_bool("software", p->software), json_bool("usable", p->judged.usable),
        json_bool("within_limits", p->within), json_text("reason", p->judged.reason),
        json_text("lost", p->judged.lost), json_bool("outputs_sound", p->sound),
        json_number("outputs_nonfinite", p->judged.own_nonfinite.value),
        json_number("drift_relative_l2", p->judged.drift.value),
        json_number("latency_s", p->judged.latency.value), json_number("latency_low_s", p->low_s),
        json_number("latency_high_s", p->high_s), json_number("latency_p99_s", p->judged.p99.value),
        json_number("throughput_per_s", p->judged.throughput.value));
    if (sweep->per_token)
        assay__json_put_number(w, "tokens_per_s", p->judged.throughput.value * p->sequence);
    assay__json_members(w, json_number("memory_bytes", p->judged.memory.value),
                        json_number("energy_j", p->judged.energy.value),
                        json_number("bandwidth", p->judged.bandwidth.value),
                        json_number("utilization", p->judged.utilization.value),
                        json_number("flops_per_s", p->judged.compute.value),
                        json_number("scaling_efficiency", p->efficiency));
    assay__json_object_end(w);
}

static void put_label(struct assay__json_writer *w, const char *key,
                      const struct assay__sweep *sweep, size_t point)
{
    assay__json_put_text(w, key, point == SIZE_MAX ? "" : sweep->points[point].judged.label);
}

static void put_confirmation(struct assay__json_writer *w, const struct assay__sweep *sweep)
{
    const struct assay__sweep_confirmation *c = &sweep->confirmation;
    if (!c->asked) return;
    assay__json_put_object(w, "confirmation");
    put_label(w, "first", sweep, c->points[0]);
    put_label(w, "second", sweep, c->points[1]);
    assay__json_members(
        w, json_integer("first_launches", c->launches[0]),
        json_integer("second_launches", c->launches[1]), json_number("ratio", c->ratio.ratio),
        json_number("ratio_low", c->ratio.ci.low), json_number("ratio_high", c->ratio.ci.high),
        json_number("p_value", c->ratio.p_value),
        json_number("smallest_difference", c->ratio.smallest), json_string("why", c->why));
    assay__json_object_end(w);
}

void assay__json_sweep(struct assay__json_writer *w, struct assay__study *study)
{
    const struct assay_profile *profile = study->profile;
    const struct assay__sweep *sweep = assay__study_sweep(study);
    assay__json_put_object(w, "sweep");
    for (ASSAY__JSON_EACH(a, w, "axes", sweep->axes.count))
        assay__json_string(w, assay__axis_name(sweep->axes.items[a]));
    for (ASSAY__JSON_EACH(i, w, "points", sweep->count))
        put_point(w, profile, sweep, &sweep->points[i]);
    put_label(w, "optimal", sweep, sweep->best);
    put_label(w, "knee", sweep, sweep->knee);
    assay__json_members(w, json_string("why", sweep->why), json_string("knee_why", sweep->knee_why),
                        json_text("gain", sweep->gain));
    for (ASSAY__JSON_EACH(i, w, "not_apart", sweep->alike_count))
        assay__json_string(w, sweep->points[sweep->alike[i]].judged.label);
    for (ASSAY__JSON_EACH(i, w, "not_separated", sweep->pair_count)) {
        assay__json_array(w);
        assay__json_string(w, sweep->points[sweep->pairs[i].a].judged.label);
        assay__json_string(w, sweep->points[sweep->pairs[i].b].judged.label);
        assay__json_array_end(w);
    }
    put_confirmation(w, sweep);
    /* The table of the NCP guides, if the grid has one. */
    if (assay__sweep_is_matrix(sweep)) {
        for (ASSAY__JSON_EACH(i, w, "matrix", sweep->count)) {
            const struct assay__sweep_point *p = &sweep->points[i];
            assay__json_record(w, NULL, json_string("label", p->judged.label),
                               json_string("compiled", assay__sweep_compiled(sweep, i)),
                               json_string("accelerator", assay__sweep_accelerated(p)),
                               json_string("device", p->device),
                               json_number("tflops", p->judged.compute.value / 1e12),
                               json_number("bandwidth_gb_s", p->judged.bandwidth.value / 1e9),
                               json_number("utilization", p->judged.utilization.value),
                               json_text("reason", p->judged.usable ? "" : p->judged.reason));
        }
    }
    const struct assay__sweep_wall *wall = &sweep->wall;
    assay__json_record(
        w, "wall", json_number("total_s", wall->total), json_number("measuring_s", wall->measuring),
        json_number("loading_s", wall->loading), json_number("overhead_s", wall->overhead));
    assay__json_object_end(w);
}
