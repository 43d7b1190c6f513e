/* diff_causes.c - what else differs between the runs, ranked by how likely it explains a change of
 * speed. The weights are judgement, not measurement: they only order the list. An unknown value is
 * not a difference; an option that only one run has is one. Numbers of the machine's state (clock,
 * other load, steal time) count when they differ by more than the noise of a run: 2 % of a clock, 2
 * % of the CPU time. */
#include "judge/diff.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAUSES_MOST = 256 };

struct list {
    struct assay__diff *diff;
    struct assay__arena *arena;
};

static void add(struct list *list, const char *kind, const char *name, const char **values,
                int weight)
{
    struct assay__diff *diff = list->diff;
    if (diff->cause_count >= CAUSES_MOST) return;
    diff->causes[diff->cause_count++] = (struct assay__diff_cause){kind, name, values, weight};
}

static const char **new_values(struct list *list)
{
    const char **values = assay__arena_array(list->arena, list->diff->count, sizeof *values);
    for (size_t s = 0; values && s < list->diff->count; s++)
        values[s] = "";
    return values;
}

/* Two known values that are not the same. */
static bool differ(const struct assay__diff *diff, const char *const *values)
{
    const char *first = NULL;
    for (size_t s = 0; s < diff->count; s++) {
        if (!values[s] || !*values[s]) continue;
        if (first && strcmp(first, values[s]) != 0) return true;
        first = values[s];
    }
    return false;
}

/* --- text of the profiles --------------------------------------------------------------------- */

typedef const char *text_fn(struct list *list, const struct assay__diff_side *side);

static const char *number_text(struct list *list, double value, const char *unit)
{
    if (!isfinite(value)) return "";
    return assay__arena_text(list->arena, "%s", assay__scaled(value, unit).text);
}

static const char *count_text(struct list *list, double value)
{
    return value >= 0 ? assay__arena_text(list->arena, "%.0f", value) : "";
}

static const struct assay__model_info *model_of(const struct assay__diff_side *side)
{
    return side->trial ? side->trial->model : side->profile->models[0];
}

#define TEXT_OF(name, expression)                                                   \
    static const char *name(struct list *list, const struct assay__diff_side *side) \
    {                                                                               \
        const char *text = (expression);                                            \
        (void)list;                                                                 \
        return text ? text : "";                                                    \
    }

TEXT_OF(model_name, model_of(side)->name)
TEXT_OF(fingerprint, model_of(side)->fingerprint)
TEXT_OF(weights, model_of(side)->sha256)
TEXT_OF(opset, model_of(side)->opset)
TEXT_OF(engine, side->trial ? side->trial->target.engine : "")
TEXT_OF(engine_version, side->trial ? side->trial->target.engine_version : "")
TEXT_OF(engine_library, side->trial ? side->trial->target.engine_library : "")
TEXT_OF(device, side->trial ? side->trial->target.device : "")
TEXT_OF(batch, side->trial ? count_text(list, (double)side->trial->batch) : "")
TEXT_OF(stability, side->trial ? side->trial->stability.verdict : "")
TEXT_OF(layer_method, side->trial ? side->trial->layers.method : "")
TEXT_OF(cpu, side->profile->environment.cpu_model)
TEXT_OF(host, side->profile->environment.host)
TEXT_OF(governor, side->profile->environment.governor)
TEXT_OF(simd, side->profile->environment.simd)
TEXT_OF(kernel, side->profile->environment.kernel)
TEXT_OF(os, side->profile->environment.os)
TEXT_OF(architecture, side->profile->environment.architecture)
TEXT_OF(virtualized, side->profile->environment.virtualized)
TEXT_OF(container, side->profile->environment.container)
TEXT_OF(version, side->profile->assay_version)
TEXT_OF(command, side->profile->command)
TEXT_OF(complete, side->profile->complete ? "yes" : "no")
/* more a consequence than a cause, but it shows what the optimisation level or a version changed */
TEXT_OF(layer_count, side->trial && side->trial->layers.count
                         ? count_text(list, (double)side->trial->layers.count)
                         : "")
TEXT_OF(cores, side->profile->environment.cores > 0
                   ? count_text(list, side->profile->environment.cores)
                   : "")
TEXT_OF(hardware_threads, side->profile->environment.threads > 0
                              ? count_text(list, side->profile->environment.threads)
                              : "")
TEXT_OF(memory, number_text(list, side->profile->environment.memory_bytes, "B"))
TEXT_OF(max_clock, number_text(list, side->profile->environment.cpu_max_hz, "Hz"))

static const char *input_shapes(struct list *list, const struct assay__diff_side *side)
{
    struct assay__buf text = {0};
    for (size_t i = 0; side->trial && i < side->trial->input_count; i++) {
        const struct assay__tensor_info *t = &side->trial->inputs[i];
        assay__buf_printf(&text, "%s%s %s ", i ? ", " : "", t->name, t->dtype);
        for (int d = 0; d < t->rank; d++)
            assay__buf_printf(&text, "%s%lld", d ? "x" : "", (long long)t->dims[d]);
    }
    const char *kept = assay__buf_keep(&text, list->arena);
    if (!kept) assay__arena_fail(list->arena);
    return kept ? kept : "";
}

static const struct {
    const char *kind, *name;
    text_fn *text;
    int weight;
} texts[] = {
    {"model", "graph (fingerprint)", fingerprint, 98},
    {"model", "model", model_name, 99},
    {"option", "inputs", input_shapes, 95},
    {"option", "batch", batch, 94},
    {"engine", "device", device, 92},
    {"engine", "engine", engine, 91},
    {"engine", "engine version", engine_version, 86},
    {"machine", "processor", cpu, 84},
    {"machine", "architecture", architecture, 83},
    {"machine", "cores", cores, 82},
    {"machine", "hardware threads", hardware_threads, 81},
    {"clock", "governor", governor, 74},
    {"clock", "highest clock", max_clock, 72},
    {"machine", "instruction sets", simd, 70},
    {"engine", "layers as run", layer_count, 68},
    {"engine", "engine library", engine_library, 66},
    {"machine", "host", host, 62},
    {"machine", "virtual machine", virtualized, 58},
    {"machine", "memory", memory, 56},
    {"disturbance", "stability", stability, 54},
    {"disturbance", "capture ended", complete, 53},
    {"machine", "container", container, 46},
    {"machine", "kernel", kernel, 44},
    {"machine", "operating system", os, 40},
    {"model", "opset", opset, 38},
    {"model", "weights (SHA-256)", weights, 36},
    {"tool", "layer timing", layer_method, 30},
    {"tool", "assay version", version, 28},
    {"tool", "command", command, 20},
};

static const struct {
    const char *key;
    int weight; /* 0: not listed */
} option_weights[] = {
    {"threads", 93},
    {"opt", 90},
    {"streams", 90},
    {"generate", 95},
    {"prompt", 94},
    {"cpus", 85},
    {"spinning", 80},
    {"seed", 24},
    {"warmup", 26},
    {"iters", 24},
    {"time_s", 22},
    {"launches", 22},
    {"layers", 20},
    {"label", 0},
    {"role", 0},
    {"library", 66},
    {"script", 0},
    {"state", 88},
    /* only affects the real-time factor: does not explain a different time */
    {"seconds_per_inference", 0},
};

static int option_weight(const char *key)
{
    for (size_t i = 0; i < sizeof option_weights / sizeof option_weights[0]; i++)
        if (strcmp(option_weights[i].key, key) == 0) return option_weights[i].weight;
    return 60; /* an unknown option may well matter */
}

static void add_option(struct list *list, const char *key)
{
    struct assay__diff *diff = list->diff;
    const char **values = new_values(list);
    for (size_t i = 0; i < diff->cause_count; i++)
        if (strcmp(diff->causes[i].kind, "option") == 0 && strcmp(diff->causes[i].name, key) == 0)
            return;
    for (size_t s = 0; values && s < diff->count; s++) {
        const struct assay__trial *trial = diff->sides[s].trial;
        const char *value = trial ? assay__trial_option(trial, key) : "";
        values[s] = !trial ? "" : *value ? value : "not set";
    }
    if (values && differ(diff, values)) add(list, "option", key, values, option_weight(key));
}

/* --- the machine's state ---------------------------------------------------------------------- */

static const struct {
    const char *metric, *kind, *name;
    double absolute, relative; /* more than this is a difference */
    int weight;
} states[] = {
    {"hardware.frequency", "clock", "clock", 0, 0.02, 78},
    {"disturbance.frequency", "clock", "mean clock", 0, 0.02, 78},
    {"disturbance.throttled", "disturbance", "throttled time", 1e-3, 0, 76},
    {"disturbance.steal", "disturbance", "stolen time", 0.02, 0, 76},
    {"disturbance.cpu_other", "disturbance", "other load", 0.02, 0, 75},
    {"disturbance.page_faults_major", "disturbance", "page faults from disk", 10, 0, 52},
    {"hardware.temperature", "clock", "temperature", 5, 0, 50},
};

static int by_weight(const void *a, const void *b)
{
    const struct assay__diff_cause *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* All fingerprints are known and equal: then a different name means nothing. */
static bool same_graph(struct list *list)
{
    const char *first = fingerprint(list, &list->diff->sides[0]);
    bool same = *first != '\0';
    for (size_t s = 1; s < list->diff->count; s++)
        same &= strcmp(first, fingerprint(list, &list->diff->sides[s])) == 0;
    return same;
}

void assay__diff_causes(struct assay__diff *diff, struct assay__arena *arena)
{
    struct list list = {diff, arena};
    diff->causes = assay__arena_array(arena, CAUSES_MOST, sizeof *diff->causes);
    if (!diff->causes) return;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char **values = new_values(&list);
        if (texts[i].text == model_name && same_graph(&list)) continue;
        for (size_t s = 0; values && s < diff->count; s++)
            values[s] = texts[i].text(&list, &diff->sides[s]);
        if (values && differ(diff, values))
            add(&list, texts[i].kind, texts[i].name, values, texts[i].weight);
    }
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay__trial *trial = diff->sides[s].trial;
        for (size_t i = 0; trial && i < trial->option_count; i++)
            if (option_weight(trial->options[i].key)) add_option(&list, trial->options[i].key);
    }
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        double low = INFINITY, high = -INFINITY;
        const char **values = new_values(&list);
        for (size_t s = 0; values && s < diff->count; s++) {
            const struct assay__trial *trial = diff->sides[s].trial;
            const struct assay_metric *m = trial
                                               ? assay_metrics_get(trial->metrics, states[i].metric)
                                               : NULL;
            if (!m || m->state == ASSAY_UNAVAILABLE) continue;
            low = fmin(low, m->value);
            high = fmax(high, m->value);
            values[s] = strcmp(m->unit, "count") == 0 ? count_text(&list, m->value)
                                                      : number_text(&list, m->value, m->unit);
        }
        if (high - low > states[i].absolute && high - low > states[i].relative * high)
            add(&list, states[i].kind, states[i].name, values, states[i].weight);
    }
    qsort(diff->causes, diff->cause_count, sizeof *diff->causes, by_weight);
}
