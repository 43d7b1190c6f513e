/* roofline_roofs.c - which of a profile's ceilings are the roofs of a trial: by its device, the
 * cores that ran it and the data types it computes in.
 *
 * Cores: one (one thread, or pinned to one CPU): the ceilings of one core. All: those of all cores.
 * n in between: the lower of n times one core and all cores, since n cores do no more than either.
 * A memory level's roof is the fastest pattern that was measured there: nothing was seen to be
 * faster. Of a device behind an engine there are one memory (the device's) and one matmul rate per
 * type. */
#include "cost/roofline.h"

#include "base/cpu_list.h"
#include "profile/trial_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void count_cpu(void *context, unsigned cpu)
{
    (void)cpu;
    ++*(int *)context;
}

static const char *cores_note(const struct assay__roofs *roofs, struct assay__arena *arena, int all)
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
        arena, "%d%s cores: the lower of %d times one core's ceiling and that of all cores",
        roofs->cores, of, roofs->cores);
}

/* The ceiling "<stem>.one-core" or "<stem>.all-cores" as these cores have it. False: there is
 * none. */
static bool of_cores(const struct assay__roofs *roofs, struct assay__arena *arena, const char *stem,
                     struct assay__roof *roof)
{
    char one_name[96], all_name[96];
    snprintf(one_name, sizeof one_name, "%s.one-core", stem);
    snprintf(all_name, sizeof all_name, "%s.all-cores", stem);
    const struct assay__ceiling_info *one = find(roofs, one_name), *all = find(roofs, all_name);
    const struct assay__ceiling_info *used = roofs->cores == 1 ? one : all;
    if (roofs->cores > 1 && one && (!all || one->value * roofs->cores < all->value)) {
        const char *name = assay__arena_printf(arena, "%d x %s", roofs->cores, one->name);
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

static bool fastest(const struct assay__roofs *roofs, struct assay__arena *arena, const char *level,
                    struct assay__roof *roof)
{
    static const char *const patterns[] = {"read", "write", "copy", "triad"};
    bool any = false;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char stem[64];
        struct assay__roof found = {0};
        snprintf(stem, sizeof stem, "bandwidth.%s.%s", level, patterns[i]);
        if (!of_cores(roofs, arena, stem, &found) || (any && found.value <= roof->value)) continue;
        roof->name = found.name;
        roof->value = found.value;
        any = true;
    }
    return any;
}

static void put_levels(const struct assay__roofs *roofs, struct assay__arena *arena,
                       struct assay__roof *levels, size_t *count)
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
        if (holds[i] > 0 && fastest(roofs, arena, names[i], &roof)) levels[(*count)++] = roof;
    }
}

/* Weights are only read. A layer that was timed alone found its own still near. */
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
    if (!of_cores(out->roofs, arena, stem, &read) || !(read.value < level->value)) return 0;
    read.label = assay__arena_printf(arena, "%s read", level->label);
    struct assay__roof *kept = assay__arena_alloc(arena, sizeof read);
    if (!kept || !read.label) return ASSAY_ENOMEM;
    *kept = read;
    out->weights = kept;
    return 0;
}

/* --- compute ---------------------------------------------------------------------------------- */

static const struct assay__roof *compute_of(struct assay__roofs *roofs, struct assay__arena *arena,
                                            const char *type)
{
    char name[96];
    struct assay__roof roof = {.kind = type, .label = type, .holds_bytes = NAN};
    for (size_t i = 0; i < roofs->type_count; i++)
        if (strcmp(roofs->types[i].kind, type) == 0) return &roofs->types[i];
    if (roofs->type_count == sizeof roofs->types / sizeof roofs->types[0]) return NULL;
    if (roofs->host) {
        snprintf(name, sizeof name, "compute.%s", type);
        if (!of_cores(roofs, arena, name, &roof)) return NULL;
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

const struct assay__roof *assay__roofs_compute(struct assay__roofs *roofs,
                                               struct assay__arena *arena, const char *type,
                                               const char **note)
{
    *note = "";
    const struct assay__roof *roof = compute_of(roofs, arena, type);
    if (roof) return roof;
    bool half = strcmp(type, "float16") == 0 || strcmp(type, "bfloat16") == 0;
    if (half) roof = compute_of(roofs, arena, "float32");
    *note = assay__arena_printf(
        arena,
        roof ? "no ceiling of %s is kept: float32 is used instead, as engines compute where a "
               "processor has no arithmetic of that type"
             : "no ceiling of %s is kept",
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

/* Layers do not carry their types. The model's is that of its weights where 2 bytes each say 16
 * bits, else of its first input, else output, of a floating-point type. */
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
        out->type_from = "assumed: no input or output of the model is of a floating-point type";
    }
}

/* --- together --------------------------------------------------------------------------------- */

static const char *no_ceilings(const struct assay__trial *trial, struct assay__arena *arena)
{
    const char *root = getenv("ASSAY_FSROOT");
    if (strcmp(text(trial->target.engine), "fake") == 0)
        return "the fake engine's times are scripted: no ceiling holds for them";
    if (root && root[0]) /* nothing could measure them */
        return "no ceilings: the files of another machine are read (ASSAY_FSROOT is set), which "
               "cannot be measured";
    if (assay__trial_on_cpu(trial)) /* the machine's ceilings hold for it */
        return "no ceilings of this machine are kept: measuring them takes about 17 s";
    return assay__arena_printf(arena,
                               "no ceilings of %s are kept: measuring them takes at most 60 s each",
                               text(trial->target.device));
}

int assay__roofs_find(const struct assay_profile *profile, const struct assay__trial *trial,
                      struct assay__arena *arena, struct assay__roofline *out)
{
    struct assay__roofs *roofs = assay__arena_alloc(arena, sizeof *roofs);
    struct assay__roof *levels = assay__arena_array(arena, ASSAY__ROOFLINE_LEVELS, sizeof *levels);
    if (!roofs || !levels) return ASSAY_ENOMEM;
    *roofs = (struct assay__roofs){.profile = profile,
                                   .device = assay__device_bare(trial->target.device)};
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
        int pinned = 0;
        roofs->cores = trial->target.threads;
        if (assay__cpu_list_each(trial->target.cpus, count_cpu, &pinned) && pinned &&
            (!roofs->cores || pinned < roofs->cores))
            roofs->cores = pinned;
        if (roofs->cores > 1 && all > 0 && roofs->cores >= all) roofs->cores = 0;
        if (all == 1) roofs->cores = 1;
    }
    out->cores_note = cores_note(roofs, arena, all);
    out->reason = any ? "" : no_ceilings(trial, arena);
    put_levels(roofs, arena, levels, &out->level_count);
    out->levels = levels;
    if (find_weights(trial, arena, out)) return ASSAY_ENOMEM;
    const struct assay__ceiling_info *launch = find(roofs, "latency.launch");
    out->overhead_ns = roofs->host || !launch ? ASSAY__ROOFLINE_OVERHEAD_NS : launch->value * 1e9;
    return out->type_from && out->reason && out->cores_note ? 0 : ASSAY_ENOMEM;
}
