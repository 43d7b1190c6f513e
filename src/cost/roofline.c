/* roofline.c - places every layer of a trial under its roof. A layer is bound by the roof whose
 * part of its minimum time is the longer one (compute at the ridge, where both are the same); it is
 * overhead when it does nothing, or when it is short and far below its roof: its time is then the
 * engine's cost of running any node. A longer one that is far below is bound by neither. */
#include "cost/roofline.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[ASSAY__BOUND_COUNT] = {"compute", "memory", "overhead", "neither",
                                                      "unknown"};

const char *assay__bound_name(enum assay__bound bound)
{
    return names[bound];
}

enum assay__bound assay__bound_parse(const char *name)
{
    for (int i = 0; name && i < ASSAY__BOUND_UNKNOWN; i++)
        if (strcmp(name, names[i]) == 0) return (enum assay__bound)i;
    return ASSAY__BOUND_UNKNOWN;
}

/* --- one layer -------------------------------------------------------------------------------- */

/* Intensity, attainable FLOP/s and minimum time of a layer of known FLOPs, bytes and roofs. */
static void set_least_time(const struct assay__layer *layer, const struct assay__roof *weights,
                           struct assay__roofline_layer *out)
{
    double compute_s = layer->flops > 0 ? layer->flops / out->peak->value : 0,
           memory_s = layer->bytes > 0 ? layer->bytes / out->level->value : 0,
           weights_s = weights && layer->weight_bytes > 0 ? layer->weight_bytes / weights->value
                                                          : 0;
    if (weights_s > memory_s) {
        memory_s = weights_s;
        out->level = weights;
    }
    double least_s = fmax(compute_s, memory_s);
    if (layer->flops > 0) {
        out->intensity = layer->bytes > 0 ? layer->flops / layer->bytes : (double)INFINITY;
        out->attainable = layer->flops / least_s;
    } else if (layer->bytes > 0) {
        out->intensity = 0;
    }
    out->least_ns = least_s * 1e9;
    out->under_memory = memory_s > compute_s;
    out->bound = out->under_memory ? ASSAY__BOUND_MEMORY : ASSAY__BOUND_COMPUTE;
}

static void place_layer(const struct assay__roofline *r, struct assay__arena *arena,
                        const struct assay__layer *layer, struct assay__roofline_layer *out)
{
    bool timed = layer->state != ASSAY_UNAVAILABLE && layer->time_ns > 0 &&
                 isfinite(layer->time_ns);
    const char *note = "";
    *out = (struct assay__roofline_layer){
        ASSAY__BOUND_UNKNOWN, "", false, NULL, NULL, NAN, NAN, NAN, NAN, NAN};
    out->reason = !timed                 ? "its time is not known"
                  : !(layer->flops >= 0) ? "its FLOPs are not known"
                  : !(layer->bytes >= 0) ? "its bytes are not known"
                                         : "";
    if (out->reason[0]) return;
    if (layer->flops > 0) {
        const char *type = assay__roofline_type(layer->op, r->type);
        out->peak = assay__roofs_compute(r->roofs, arena, type, &note);
        out->rate = layer->flops / layer->time_ns * 1e9;
    }
    for (size_t i = 0; i < r->level_count && !out->level; i++)
        if (layer->bytes <= r->levels[i].holds_bytes) out->level = &r->levels[i];
    if (layer->flops > 0 && !out->peak)
        out->reason = note ? note : "no ceiling of its data type is kept";
    else if (layer->bytes > 0 && !out->level)
        out->reason = "no ceiling of the memory is kept";
    if (out->reason[0]) return;
    set_least_time(layer, r->weights, out);
    out->utilization = out->least_ns / layer->time_ns;
    bool nothing = !(layer->flops > 0) && !(layer->bytes > 0);
    bool far = out->utilization < ASSAY__ROOFLINE_OVERHEAD_SHARE;
    if (nothing || (far && layer->time_ns < r->overhead_ns))
        out->bound = ASSAY__BOUND_OVERHEAD;
    else if (far)
        out->bound = ASSAY__BOUND_NEITHER;
}

/* --- all of them ------------------------------------------------------------------------------ */

int assay__roofline(const struct assay_profile *profile, const struct assay__trial *trial,
                    struct assay__arena *arena, struct assay__roofline *out)
{
    const struct assay__layers *layers = &trial->layers;
    memset(out, 0, sizeof *out);
    out->layers = assay__arena_array(arena, layers->count, sizeof *out->layers);
    out->layer_count = layers->count;
    if (!out->layers || assay__roofs_find(profile, trial, arena, out)) return ASSAY_ENOMEM;
    if (out->level_count && isinf(out->levels[out->level_count - 1].holds_bytes))
        out->memory = &out->levels[out->level_count - 1];
    out->peak = assay__roofs_compute(out->roofs, arena, out->type, &out->peak_note);
    if (!out->peak_note) return ASSAY_ENOMEM;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        struct assay__roofline_layer *placed = &out->layers[i];
        place_layer(out, arena, layer, placed);
        if (out->reason[0]) { /* no ceilings: every layer has the same reason */
            placed->bound = ASSAY__BOUND_UNKNOWN;
            placed->reason = out->reason;
        }
        if (layer->state == ASSAY_UNAVAILABLE || !isfinite(layer->time_ns)) continue;
        out->time_ns[placed->bound] += layer->time_ns;
        if (!isfinite(placed->least_ns)) continue;
        out->least_ns += placed->least_ns;
        out->least_of_ns += layer->time_ns;
        out->above += placed->utilization > ASSAY__ROOFLINE_ABOVE;
    }
    return 0;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void put_share(struct assay_metrics *metrics, const char *name, const char *of,
                      const struct assay__roof *roof, const char *unit, const char *why,
                      const char *remark)
{
    const struct assay_metric *value = assay_metrics_get(metrics, of);
    char scaled[64], note[256];
    if (!roof) {
        assay_metrics_unavailable(metrics, name, why);
        return;
    }
    if (!value || !isfinite(value->value)) {
        assay_metrics_unavailable(metrics, name, value && value->note ? value->note : "not known");
        return;
    }
    assay__text_scaled(scaled, sizeof scaled, roof->value, unit);
    snprintf(note, sizeof note, "%s / %s, %s%s%s", of, roof->name, scaled, remark[0] ? "; " : "",
             remark);
    assay_metrics_derived(metrics, name, value->value / roof->value, "ceilings", note);
}

static void put_times(struct assay_metrics *metrics, const struct assay__roofline *r,
                      const struct assay__layers *layers)
{
    const char *why = r->reason;
    if (!why[0] && !layers->count)
        why = layers->reason && layers->reason[0] ? layers->reason : "layers were not timed";
    else if (!why[0] && !(r->least_of_ns > 0))
        why = "no layer has a known time, FLOPs, bytes and roof";
    if (why[0]) {
        assay_metrics_unavailable(metrics, "roofline.time", why);
        assay_metrics_unavailable(metrics, "roofline.utilization", why);
        return;
    }
    char note[192];
    size_t known = 0;
    for (size_t i = 0; i < r->layer_count; i++)
        known += isfinite(r->layers[i].least_ns);
    snprintf(note, sizeof note,
             "sum over %zu of %zu layers of max(FLOPs / compute roof, bytes / memory roof)", known,
             r->layer_count);
    assay_metrics_derived(metrics, "roofline.time", r->least_ns / 1e9, "ceilings", note);
    snprintf(note, sizeof note, "roofline.time / the time of these %zu layers", known);
    assay_metrics_derived(metrics, "roofline.utilization", r->least_ns / r->least_of_ns, "ceilings",
                          note);
}

int assay__roofline_apply(struct assay_profile *profile, struct assay__trial *trial)
{
    struct assay__roofline r;
    int code = assay__roofline(profile, trial, profile->arena, &r);
    if (code) return code;
    for (size_t i = 0; i < r.layer_count; i++)
        trial->layers.items[i].bound = names[r.layers[i].bound];
    /* the roof for most of the model's FLOPs: int8 where integer products do most of them */
    const struct assay__roof *peak = r.peak;
    const char *peak_note = r.peak_note;
    double integer = 0, all = 0;
    for (size_t i = 0; i < trial->model->operator_count; i++) {
        const struct assay__operator_info *o = &trial->model->operators[i];
        if (!(o->flops > 0)) continue;
        all += o->flops;
        if (strcmp(assay__roofline_type(o->op, "float"), "int8") == 0) integer += o->flops;
    }
    if (integer > all / 2) peak = assay__roofs_compute(r.roofs, profile->arena, "int8", &peak_note);
    if (!peak_note) return ASSAY_ENOMEM;
    put_share(trial->metrics, "compute.utilization", "compute.rate", peak, "FLOP/s",
              r.reason[0] ? r.reason : peak_note, peak_note);
    put_share(trial->metrics, "memory.bandwidth_utilization", "memory.bandwidth", r.memory, "B/s",
              r.reason[0] ? r.reason : "no ceiling of the memory is kept",
              "above 100 % where caches serve");
    put_times(trial->metrics, &r, &trial->layers);
    return assay_metrics_failed(trial->metrics);
}
