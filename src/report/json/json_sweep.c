/* json_sweep.c - "sweep": the axes, every point, the optimum and the knee of a swept profile
 * (design section 10). */
#include "judge/sweep.h"
#include "report/json/json_parts.h"

#include <math.h>
#include <stdint.h>

static void put_point(struct assay__json_writer *w, const struct assay_profile *profile,
                      const struct assay__sweep *sweep, const struct assay__sweep_point *p)
{
    assay__json_object(w);
    assay__json_put_integer(w, "trial", profile->trials[p->judged.trial].id);
    assay__json_put_string(w, "label", p->judged.label);
    assay__json_put_object(w, "values");
    for (size_t a = 0; a < sweep->axes.count; a++)
        assay__json_put_text(w, assay__axis_name(sweep->axes.items[a]), p->values[a]);
    assay__json_object_end(w);
    assay__json_put_string(w, "device", p->device);
    assay__json_put_text(w, "class", assay__device_class_name(p->device_class));
    assay__json_put_bool(w, "software", p->software);
    assay__json_put_bool(w, "usable", p->judged.usable);
    assay__json_put_bool(w, "within_limits", p->within);
    assay__json_put_text(w, "reason", p->judged.reason);
    assay__json_put_text(w, "lost", p->judged.lost);
    assay__json_put_bool(w, "outputs_sound", p->sound);
    assay__json_put_number(w, "outputs_nonfinite", p->judged.own_nonfinite.value);
    assay__json_put_number(w, "drift_relative_l2", p->judged.drift.value);
    assay__json_put_number(w, "latency_s", p->judged.latency.value);
    assay__json_put_number(w, "latency_low_s", p->low_s);
    assay__json_put_number(w, "latency_high_s", p->high_s);
    assay__json_put_number(w, "latency_p99_s", p->judged.p99.value);
    assay__json_put_number(w, "throughput_per_s", p->judged.throughput.value);
    if (sweep->per_token)
        assay__json_put_number(w, "tokens_per_s", p->judged.throughput.value * p->sequence);
    assay__json_put_number(w, "memory_bytes", p->judged.memory.value);
    assay__json_put_number(w, "energy_j", p->judged.energy.value);
    assay__json_put_number(w, "bandwidth", p->judged.bandwidth.value);
    assay__json_put_number(w, "utilization", p->judged.utilization.value);
    assay__json_put_number(w, "flops_per_s", p->judged.compute.value);
    assay__json_put_number(w, "scaling_efficiency", p->efficiency);
    assay__json_object_end(w);
}

static void put_label(struct assay__json_writer *w, const char *key,
                      const struct assay__sweep *sweep, size_t point)
{
    assay__json_put_text(w, key, point == SIZE_MAX ? "" : sweep->points[point].judged.label);
}

static void put_pairs(struct assay__json_writer *w, const struct assay__sweep *sweep)
{
    assay__json_put_array(w, "not_apart");
    for (size_t i = 0; i < sweep->alike_count; i++)
        assay__json_string(w, sweep->points[sweep->alike[i]].judged.label);
    assay__json_array_end(w);
    assay__json_put_array(w, "not_separated");
    for (size_t i = 0; i < sweep->pair_count; i++) {
        assay__json_array(w);
        assay__json_string(w, sweep->points[sweep->pairs[i].a].judged.label);
        assay__json_string(w, sweep->points[sweep->pairs[i].b].judged.label);
        assay__json_array_end(w);
    }
    assay__json_array_end(w);
}

static void put_confirmation(struct assay__json_writer *w, const struct assay__sweep *sweep)
{
    const struct assay__sweep_confirmation *c = &sweep->confirmation;
    if (!c->asked) return;
    assay__json_put_object(w, "confirmation");
    put_label(w, "first", sweep, c->points[0]);
    put_label(w, "second", sweep, c->points[1]);
    assay__json_put_integer(w, "first_launches", (int64_t)c->launches[0]);
    assay__json_put_integer(w, "second_launches", (int64_t)c->launches[1]);
    assay__json_put_number(w, "ratio", c->ratio.ratio);
    assay__json_put_number(w, "ratio_low", c->ratio.ci.low);
    assay__json_put_number(w, "ratio_high", c->ratio.ci.high);
    assay__json_put_number(w, "p_value", c->ratio.p_value);
    assay__json_put_number(w, "smallest_difference", c->ratio.smallest);
    assay__json_put_string(w, "why", c->why);
    assay__json_object_end(w);
}

/* The table of the NCP guides, where the grid has one. */
static void put_matrix(struct assay__json_writer *w, const struct assay__sweep *sweep)
{
    if (!assay__sweep_is_matrix(sweep)) return;
    assay__json_put_array(w, "matrix");
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *p = &sweep->points[i];
        assay__json_object(w);
        assay__json_put_string(w, "label", p->judged.label);
        assay__json_put_string(w, "compiled", assay__sweep_compiled(sweep, i));
        assay__json_put_string(w, "accelerator", assay__sweep_accelerated(p));
        assay__json_put_string(w, "device", p->device);
        assay__json_put_number(w, "tflops", p->judged.compute.value / 1e12);
        assay__json_put_number(w, "bandwidth_gb_s", p->judged.bandwidth.value / 1e9);
        assay__json_put_number(w, "utilization", p->judged.utilization.value);
        assay__json_put_text(w, "reason", p->judged.usable ? "" : p->judged.reason);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_wall(struct assay__json_writer *w, const struct assay__sweep_wall *wall)
{
    assay__json_put_object(w, "wall");
    assay__json_put_number(w, "total_s", wall->total);
    assay__json_put_number(w, "measuring_s", wall->measuring);
    assay__json_put_number(w, "loading_s", wall->loading);
    assay__json_put_number(w, "overhead_s", wall->overhead);
    assay__json_object_end(w);
}

void assay__json_sweep(struct assay__json_writer *w, struct assay__study *study)
{
    const struct assay_profile *profile = study->profile;
    const struct assay__sweep *sweep = assay__study_sweep(study);
    assay__json_put_object(w, "sweep");
    assay__json_put_array(w, "axes");
    for (size_t a = 0; a < sweep->axes.count; a++)
        assay__json_string(w, assay__axis_name(sweep->axes.items[a]));
    assay__json_array_end(w);
    assay__json_put_array(w, "points");
    for (size_t i = 0; i < sweep->count; i++)
        put_point(w, profile, sweep, &sweep->points[i]);
    assay__json_array_end(w);
    put_label(w, "optimal", sweep, sweep->best);
    put_label(w, "knee", sweep, sweep->knee);
    assay__json_put_string(w, "why", sweep->why);
    assay__json_put_string(w, "knee_why", sweep->knee_why);
    assay__json_put_text(w, "gain", sweep->gain);
    put_pairs(w, sweep);
    put_confirmation(w, sweep);
    put_matrix(w, sweep);
    put_wall(w, &sweep->wall);
    assay__json_object_end(w);
}
