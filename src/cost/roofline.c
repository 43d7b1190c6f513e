/* roofline.c - places every layer of a trial under its roof. A layer is bound by the roof with the
 * larger part of its minimum time (compute at the ridge, where both are equal); it is overhead if
 * it does nothing, or if it is short and far below its roof: its time is then the engine's cost of
 * running any node. A longer one that is far below is bound by neither.
 *
 * The roofs are those of the profile's ceilings that fit the trial's device, the cores that ran it
 * and the data types it computes in. Cores: one (one thread, or pinned to one CPU): the ceilings of
 * one core. All: those of all cores. n in between: the lower of n times one core and all cores,
 * since n cores do no more than either. The roof of a memory level is the fastest pattern measured
 * there. A device measured through an engine has one memory (its own) and one matmul rate per
 * type. */
#include "cost/roofline.h"

#include "base/cpu_list.h"
#include "base/text.h"
#include "profile/trial_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const bounds[ASSAY__BOUND_COUNT] = {"compute", "memory", "overhead", "neither",
                                                       "unknown"};

const char *assay__bound_name(enum assay__bound bound)
{
    return bounds[bound];
}

enum assay__bound assay__bound_parse(const char *name)
{
    for (int i = 0; name && i < ASSAY__BOUND_UNKNOWN; i++)
        if (strcmp(name, bounds[i]) == 0) return (enum assay__bound)i;
    return ASSAY__BOUND_UNKNOWN;
}

/* Which of the profile's ceilings are the roofs of one trial. */
struct assay__roofs {
    const struct assay_profile *profile;
    struct assay__arena *arena;
    const char *device;
    bool host; /* ceilings of cores, else of a device measured through an engine */
    int cores; /* that ran it; 0: all */
    struct assay__roof types[8]; /* compute roofs looked up so far, by label */
    size_t type_count;
};

static const char *text(const char *maybe)
{
    return maybe ? maybe : "";
}

static bool ends(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    return n >= s && strcmp(name + n - s, suffix) == 0;
}

/* The ceiling of that name with a value, or NULL. */
static const struct assay__ceiling_info *find(const struct assay__roofs *roofs, const char *name)
{
    for (size_t i = 0; i < roofs->profile->ceiling_count; i++) {
        const struct assay__ceiling_info *c = &roofs->profile->ceilings[i];
        if (strcmp(assay__device_bare(text(c->device)), roofs->device) == 0 &&
            strcmp(text(c->name), name) == 0)
            return isfinite(c->value) && c->value > 0 ? c : NULL;
    }
    return NULL;
}

/* --- cores ------------------------------------------------------------------------------------ */

static const char *cores_note(const struct assay__roofs *roofs, int all)
{
    if (!roofs->host)
        return find(roofs, "compute.tf32.matmul")
                   ? "ceilings of the device through its engine, which computes float32 as TF32"
                   : "ceilings of the device through its engine";
    if (roofs->cores == 1) return "ceilings of one core";
    if (roofs->cores == 0) return "ceilings of all cores";
    char of[32] = "";
    if (all > 0) snprintf(of, sizeof of, " of %d", all);
    return assay__arena_printf(
        roofs->arena, "%d%s cores: the lower of %d times one core's ceiling and that of all cores",
        roofs->cores, of, roofs->cores);
}

/* The ceiling "<stem>.one-core" or "<stem>.all-cores" for these cores. False: there is none. */
static bool of_cores(const struct assay__roofs *roofs, const char *stem, struct assay__roof *roof)
{
    char one_name[96], all_name[96];
    snprintf(one_name, sizeof one_name, "%s.one-core", stem);
    snprintf(all_name, sizeof all_name, "%s.all-cores", stem);
    const struct assay__ceiling_info *one = find(roofs, one_name), *all = find(roofs, all_name);
    const struct assay__ceiling_info *used = roofs->cores == 1 ? one : all;
    if (roofs->cores > 1 && one && (!all || one->value * roofs->cores < all->value)) {
        const char *name = assay__arena_printf(roofs->arena, "%d x %s", roofs->cores, one->name);
        roof->name = name ? name : one->name;
        roof->value = one->value * roofs->cores;
        return true;
    }
    if (!used) return false;
    roof->name = used->name;
    roof->value = used->value;
    return true;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool fastest(const struct assay__roofs *roofs, const char *level, struct assay__roof *roof)
{
    static const char *const patterns[] = {"read", "write", "copy", "triad"};
    bool any = false;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char stem[64];
        struct assay__roof found = {0};
        snprintf(stem, sizeof stem, "bandwidth.%s.%s", level, patterns[i]);
        if (!of_cores(roofs, stem, &found) || (any && found.value <= roof->value)) continue;
        roof->name = found.name;
        roof->value = found.value;
        any = true;
    }
    return any;
}

static void put_levels(const struct assay__roofs *roofs, struct assay__roof *levels, size_t *count)
{
    static const char *const names[ASSAY__ROOFLINE_LEVELS] = {"l1", "l2", "l3", "dram"};
    if (!roofs->host) {
        const struct assay__ceiling_info *copy = find(roofs, "bandwidth.device.copy");
        if (copy)
            levels[(*count)++] = (struct assay__roof){copy->name, "device", "device", copy->value,
                                                      INFINITY};
        return;
    }
    const struct assay__environment *e = &roofs->profile->environment;
    double cores = roofs->cores ? roofs->cores : e->cores > 0 ? e->cores : 1;
    bool shared_l2 = !(e->l3_bytes > 0); /* the last cache is the shared one */
    const double holds[ASSAY__ROOFLINE_LEVELS] = {
        e->l1d_bytes * cores, e->l2_bytes * (shared_l2 ? 1 : cores), e->l3_bytes, INFINITY};
    for (size_t i = 0; i < ASSAY__ROOFLINE_LEVELS; i++) {
        struct assay__roof roof = {.kind = names[i], .label = names[i], .holds_bytes = holds[i]};
        if (holds[i] > 0 && fastest(roofs, names[i], &roof)) levels[(*count)++] = roof;
    }
}

/* Weights are only read. A layer that was timed alone found its own still in the cache. */
static int find_weights(const struct assay__trial *trial, struct assay__arena *arena,
                        struct assay__roofline *out)
{
    double bytes = (double)trial->model->weight_bytes;
    size_t i = 0;
    if (!(bytes > 0) || strcmp(text(trial->layers.method), "isolated") == 0) return 0;
    while (i < out->level_count && bytes > out->levels[i].holds_bytes)
        i++;
    if (i == out->level_count) return 0;
    const struct assay__roof *level = out->weights = &out->levels[i];
    char stem[64];
    struct assay__roof read = {.kind = level->kind, .holds_bytes = level->holds_bytes};
    snprintf(stem, sizeof stem, "bandwidth.%s.read", level->kind);
    if (!of_cores(out->roofs, stem, &read) || !(read.value < level->value)) return 0;
    read.label = assay__arena_printf(arena, "%s read", level->label);
    struct assay__roof *kept = assay__arena_alloc(arena, sizeof read);
    if (!kept || !read.label) return ASSAY_ENOMEM;
    *kept = read;
    out->weights = kept;
    return 0;
}

/* --- compute ---------------------------------------------------------------------------------- */

static const struct assay__roof *compute_of(struct assay__roofs *roofs, const char *type)
{
    char name[96];
    struct assay__roof roof = {.kind = type, .label = type, .holds_bytes = NAN};
    for (size_t i = 0; i < roofs->type_count; i++)
        if (strcmp(roofs->types[i].kind, type) == 0) return &roofs->types[i];
    if (roofs->type_count == sizeof roofs->types / sizeof roofs->types[0]) return NULL;
    if (roofs->host) {
        snprintf(name, sizeof name, "compute.%s", type);
        if (!of_cores(roofs, name, &roof)) return NULL;
    } else {
        snprintf(name, sizeof name, "compute.%s.matmul", type);
        const struct assay__ceiling_info *matmul = find(roofs, name), *tf32 = NULL;
        if (strcmp(type, "float32") == 0) tf32 = find(roofs, "compute.tf32.matmul");
        if (tf32 && (!matmul || tf32->value > matmul->value)) matmul = tf32;
        if (!matmul) return NULL;
        roof.name = matmul->name;
        roof.value = matmul->value;
    }
    roofs->types[roofs->type_count] = roof;
    return &roofs->types[roofs->type_count++];
}

/* The compute roof of a data type, or of float32 for a 16-bit type without one (*note says so).
 * NULL with *note: none. */
static const struct assay__roof *compute_roof(struct assay__roofs *roofs, const char *type,
                                              const char **note)
{
    *note = "";
    const struct assay__roof *roof = compute_of(roofs, type);
    if (roof) return roof;
    bool half = strcmp(type, "float16") == 0 || strcmp(type, "bfloat16") == 0;
    if (half) roof = compute_of(roofs, "float32");
    *note = assay__arena_printf(
        roofs->arena,
        roof ? "no ceiling of %s is saved: float32 is used instead, which engines compute in where "
               "a processor has no arithmetic of that type"
             : "no ceiling of %s is saved",
        type);
    return roof;
}

const char *assay__roofline_type(const char *op, const char *model_type)
{
    /* products of 8-bit integers; MatMulNBits and its like compute in the type of their inputs */
    static const char *const integer[] = {"ConvInteger",
                                          "MatMulInteger",
                                          "MatMulIntegerToFloat",
                                          "DynamicQuantizeMatMul",
                                          "DynamicQuantizeLSTM",
                                          "QAttention",
                                          "QGemm",
                                          "QLinearConv",
                                          "QLinearConvTranspose",
                                          "QLinearMatMul"};
    for (size_t i = 0; i < sizeof integer / sizeof integer[0]; i++)
        if (strcmp(text(op), integer[i]) == 0) return "int8";
    return model_type;
}

/* --- the type of the model -------------------------------------------------------------------- */

static const struct assay__tensor_info *first_float(const struct assay__tensor_info *tensors,
                                                    size_t count)
{
    static const char *const floats[] = {"float32", "float16", "bfloat16", "float64"};
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < sizeof floats / sizeof floats[0]; f++)
            if (strcmp(text(tensors[i].dtype), floats[f]) == 0) return &tensors[i];
    return NULL;
}

/* Layers have no types. The type of the model is a 16-bit one if its weights take 2 bytes each,
 * else that of its first floating-point input, else output. */
static void model_type(const struct assay__trial *trial, struct assay__arena *arena,
                       struct assay__roofline *out)
{
    const struct assay__model_info *m = trial->model;
    const char *what = "input";
    const struct assay__tensor_info *t = first_float(trial->inputs, trial->input_count);
    if (!t) t = first_float(m->inputs, m->input_count);
    if (!t) {
        what = "output";
        t = first_float(m->outputs, m->output_count);
    }
    double each = m->parameters > 0 && m->weight_bytes > 0
                      ? (double)m->weight_bytes / (double)m->parameters
                      : (double)NAN;
    out->type = t ? t->dtype : "float32";
    if (strcmp(out->type, "float32") == 0 && each > 1.8 && each < 2.2) {
        out->type = "float16";
        out->type_from = "the model's weights take 2 bytes each";
    } else if (t) {
        out->type_from = assay__arena_printf(arena, "the type of %s '%s'", what, text(t->name));
    } else {
        out->type_from = "assumed: no input or output of the model has a floating-point type";
    }
}

/* --- together --------------------------------------------------------------------------------- */

/* Why no ceilings of a trial's device are saved. */
enum absence { NOT_MEASURED, SCRIPTED, OTHER_MACHINE };

static enum absence absence_of(const struct assay__trial *trial)
{
    const char *root = getenv("ASSAY_FSROOT");
    if (strcmp(text(trial->target.engine), "fake") == 0) return SCRIPTED;
    return root && root[0] ? OTHER_MACHINE : NOT_MEASURED;
}

bool assay__ceilings_would_help(const struct assay_profile *profile,
                                const struct assay__trial *trial)
{
    return !profile->ceiling_count && absence_of(trial) == NOT_MEASURED;
}

static const char *no_ceilings(const struct assay__trial *trial, struct assay__arena *arena)
{
    enum absence absence = absence_of(trial);
    if (absence == SCRIPTED)
        return "the fake engine's times are scripted: no ceiling applies to them";
    if (absence == OTHER_MACHINE)
        return "no ceilings: ASSAY_FSROOT describes another machine, which cannot be measured";
    if (assay__trial_on_cpu(trial)) /* the machine's ceilings apply to it */
        return "no ceilings of this machine are saved: measuring them takes about 17 s";
    return assay__arena_printf(
        arena, "no ceilings of %s are saved: measuring them takes at most 60 s each",
        text(trial->target.device));
}

/* Sets roofs, type, notes, reason, levels, weights and overhead_ns of `out`. 0 or ASSAY_ENOMEM. */
static int find_roofs(const struct assay_profile *profile, const struct assay__trial *trial,
                      struct assay__arena *arena, struct assay__roofline *out)
{
    struct assay__roofs *roofs = assay__arena_alloc(arena, sizeof *roofs);
    struct assay__roof *levels = assay__arena_array(arena, ASSAY__ROOFLINE_LEVELS, sizeof *levels);
    if (!roofs || !levels) return ASSAY_ENOMEM;
    *roofs = (struct assay__roofs){
        .profile = profile, .arena = arena, .device = assay__device_bare(trial->target.device)};
    out->roofs = roofs;
    model_type(trial, arena, out);
    bool any = false;
    for (size_t i = 0; i < profile->ceiling_count; i++) {
        const char *name = text(profile->ceilings[i].name);
        if (strcmp(assay__device_bare(text(profile->ceilings[i].device)), roofs->device) != 0)
            continue;
        any = true;
        roofs->host |= ends(name, ".one-core") || ends(name, ".all-cores");
    }
    int all = profile->environment.cores;
    if (roofs->host) { /* its threads, no more than the CPUs it was pinned to; 0 unknown */
        int pinned = assay__cpu_list_count(trial->target.cpus);
        roofs->cores = trial->target.threads;
        if (pinned && (!roofs->cores || pinned < roofs->cores)) roofs->cores = pinned;
        if (roofs->cores > 1 && all > 0 && roofs->cores >= all) roofs->cores = 0;
        if (all == 1) roofs->cores = 1;
    }
    out->cores_note = cores_note(roofs, all);
    out->reason = any ? "" : no_ceilings(trial, arena);
    put_levels(roofs, levels, &out->level_count);
    out->levels = levels;
    if (find_weights(trial, arena, out)) return ASSAY_ENOMEM;
    const struct assay__ceiling_info *launch = find(roofs, "latency.launch");
    out->overhead_ns = roofs->host || !launch ? ASSAY__ROOFLINE_OVERHEAD_NS : launch->value * 1e9;
    return out->type_from && out->reason && out->cores_note ? 0 : ASSAY_ENOMEM;
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

static void place_layer(const struct assay__roofline *r, const struct assay__layer *layer,
                        struct assay__roofline_layer *out)
{
    bool timed = layer->state != ASSAY_UNAVAILABLE && layer->time_ns > 0 &&
                 isfinite(layer->time_ns);
    const char *note = "";
    *out = (struct assay__roofline_layer){
        ASSAY__BOUND_UNKNOWN, "", false, NULL, NULL, NAN, NAN, NAN, NAN, NAN};
    out->reason = !timed                 ? "its time is unknown"
                  : !(layer->flops >= 0) ? "its FLOPs are unknown"
                  : !(layer->bytes >= 0) ? "its bytes are unknown"
                                         : "";
    if (out->reason[0]) return;
    if (layer->flops > 0) {
        const char *type = assay__roofline_type(layer->op, r->type);
        out->peak = compute_roof(r->roofs, type, &note);
        out->rate = layer->flops / layer->time_ns * 1e9;
    }
    for (size_t i = 0; i < r->level_count && !out->level; i++)
        if (layer->bytes <= r->levels[i].holds_bytes) out->level = &r->levels[i];
    if (layer->flops > 0 && !out->peak)
        out->reason = note ? note : "no ceiling of its data type is saved";
    else if (layer->bytes > 0 && !out->level)
        out->reason = "no memory ceiling is saved";
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

/* --- all layers ---------------------------------------------------------------------------------
 */

int assay__roofline(const struct assay_profile *profile, const struct assay__trial *trial,
                    struct assay__arena *arena, struct assay__roofline *out)
{
    const struct assay__layers *layers = &trial->layers;
    memset(out, 0, sizeof *out);
    out->layers = assay__arena_array(arena, layers->count, sizeof *out->layers);
    out->layer_count = layers->count;
    if (!out->layers || find_roofs(profile, trial, arena, out)) return ASSAY_ENOMEM;
    if (out->level_count && isinf(out->levels[out->level_count - 1].holds_bytes))
        out->memory = &out->levels[out->level_count - 1];
    out->peak = compute_roof(out->roofs, out->type, &out->peak_note);
    if (!out->peak_note) return ASSAY_ENOMEM;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        struct assay__roofline_layer *placed = &out->layers[i];
        place_layer(out, layer, placed);
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
        trial->layers.items[i].bound = bounds[r.layers[i].bound];
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
    if (integer > all / 2) peak = compute_roof(r.roofs, "int8", &peak_note);
    if (!peak_note) return ASSAY_ENOMEM;
    put_share(trial->metrics, "compute.utilization", "compute.rate", peak, "FLOP/s",
              r.reason[0] ? r.reason : peak_note, peak_note);
    put_share(trial->metrics, "memory.bandwidth_utilization", "memory.bandwidth", r.memory, "B/s",
              r.reason[0] ? r.reason : "no memory ceiling is saved",
              "above 100 % where caches serve the data");
    put_times(trial->metrics, &r, &trial->layers);
    return assay_metrics_failed(trial->metrics);
}
