/* feedback.c - pairs of an output and the input that it becomes in the next inference.
 *
 * A pair that is asked for may have a shape that is not known before the model runs: then the
 * engine compares. A pair that is found must have equal, known shapes and types, and no other
 * output or input may claim a part of it. Names are looked at first, then the recurrent cells of
 * the graph, then shapes: the only output that is shaped like the only input named as a state. */
#include "model/inputs/feedback.h"

#include "base/map.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "base/text.h"
#include "model/inputs/inputs_plan.h"
#include "model/shapes/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE_LEAST 4000 /* Hz: minimum sampling rate of audio */
#define SAMPLES_LEAST 64

struct planning {
    const struct assay__graph *graph;
    struct assay__workload *workload;
    struct assay__shapes *shapes; /* at the workload's inputs */
    struct assay__arena *arena;
    struct assay__feedback *found;
    struct assay__input_plan **inputs; /* of what was found */
    size_t count;
    struct assay_error *error;
};

#define refuse(planning, ...) assay__refuse_option((planning)->error, "states", __VA_ARGS__)

/* "1x64", "?" for an unknown axis, "scalar" */
static void print_shape(char *out, size_t size, int rank, const int64_t *dims)
{
    size_t at = 0;
    snprintf(out, size, "scalar");
    for (int i = 0; i < rank && at < size; i++)
        at += (size_t)(dims[i] >= 0 ? snprintf(out + at, size - at, "%s%lld", i ? "x" : "",
                                               (long long)dims[i])
                                    : snprintf(out + at, size - at, "%s?", i ? "x" : ""));
}

/* The shape of an output for these inputs; rank -1 unknown. */
struct seen {
    enum assay__dtype dtype;
    int rank;
    const int64_t *dims;
};

static struct seen look(const struct planning *p, const struct assay__value *output)
{
    const struct assay__shape_entry *entry = assay__shapes_get(p->shapes, output->name);
    struct seen seen = {output->dtype, -1, NULL};
    if (entry && entry->dtype != ASSAY__UNDEFINED) seen.dtype = entry->dtype;
    if (entry) seen.rank = entry->rank, seen.dims = entry->dims;
    return seen;
}

enum fit { FITS, DIFFERS, MAY_FIT };

static enum fit compare_shapes(const struct seen *output, const struct assay__input_plan *input)
{
    enum fit fit = FITS;
    if (output->rank < 0) return MAY_FIT;
    if (output->rank != input->rank) return DIFFERS;
    for (int i = 0; i < input->rank; i++) {
        if (output->dims[i] >= 0 && output->dims[i] != input->dims[i]) return DIFFERS;
        if (output->dims[i] < 0) fit = MAY_FIT;
    }
    return fit;
}

static int add(struct planning *p, const char *output, struct assay__input_plan *input,
               enum assay__feedback_source found)
{
    p->found[p->count] = (struct assay__feedback){assay__arena_text(p->arena, "%s", output),
                                                  assay__arena_text(p->arena, "%s", input->name),
                                                  found};
    p->inputs[p->count++] = input;
    return assay__arena_failed(p->arena) ? assay__no_memory(p->error) : 0;
}

/* --- on request ------------------------------------------------------------------------------- */

/* " (did you mean 'x'?)", else " (it has 'x')" */
static void suggest(char *out, size_t size, const char *name, const char *candidate, size_t *best)
{
    size_t distance = assay__text_distance(name, candidate);
    bool near = distance <= strlen(candidate) / 3 + 1;
    if (*best != SIZE_MAX && (!near || distance >= *best)) return;
    *best = near ? distance : SIZE_MAX - 1;
    snprintf(out, size, near ? " (did you mean '%.80s'?)" : " (it has '%.80s')", candidate);
}

static int refuse_name(struct planning *p, const char *kind, const char *name, bool outputs)
{
    char hint[128] = "";
    size_t best = SIZE_MAX, count = outputs ? p->graph->output_count : p->workload->input_count;
    for (size_t i = 0; i < count; i++)
        suggest(hint, sizeof hint, name,
                outputs ? p->graph->outputs[i].name : p->workload->inputs[i].name, &best);
    return refuse(p, "the model has no %s '%.100s'%s", kind, name, hint);
}

/* Names may contain '=': every position of one is tried. */
static int find_pair(struct planning *p, const char *option, const struct assay__value **output,
                     struct assay__input_plan **input)
{
    const char *cut = strchr(option, '=');
    *output = NULL;
    *input = NULL;
    for (const char *at = cut; at && !(*output && *input); at = strchr(at + 1, '=')) {
        size_t length = (size_t)(at - option);
        *output = NULL;
        *input = NULL;
        for (size_t i = 0; i < p->graph->output_count; i++)
            if (strlen(p->graph->outputs[i].name) == length &&
                strncmp(p->graph->outputs[i].name, option, length) == 0)
                *output = &p->graph->outputs[i];
        for (size_t i = 0; i < p->workload->input_count; i++)
            if (strcmp(p->workload->inputs[i].name, at + 1) == 0) *input = &p->workload->inputs[i];
    }
    if (!cut || cut == option || !cut[1])
        return refuse(p, "'%.120s': write it as output=input, or none", option);
    if (*output && *input) return 0;
    const char *name = assay__arena_text(p->arena, "%.*s", (int)(cut - option), option);
    return *output ? refuse_name(p, "input", cut + 1, false) : refuse_name(p, "output", name, true);
}

static int add_given(struct planning *p, const char *option)
{
    const struct assay__value *output = NULL;
    struct assay__input_plan *input = NULL;
    int code = find_pair(p, option, &output, &input);
    if (code) return code;
    for (size_t i = 0; i < p->count; i++) {
        if (p->inputs[i] == input)
            return refuse(p, "the input '%.100s' would be fed by two outputs", input->name);
        if (strcmp(p->found[i].output, output->name) == 0)
            return refuse(p, "the output '%.100s' would be fed to two inputs", output->name);
    }
    struct seen seen = look(p, output);
    if (output->kind != ASSAY__KIND_TENSOR || input->dtype == ASSAY__STRING)
        return refuse(p, "the output '%.100s' cannot be fed back: only tensors of numbers can",
                      output->name);
    if (seen.dtype != ASSAY__UNDEFINED && seen.dtype != input->dtype)
        return refuse(p, "the output '%.80s' is %s and the input '%.80s' is %s", output->name,
                      assay__dtype_name(seen.dtype), input->name, assay__dtype_name(input->dtype));
    if (compare_shapes(&seen, input) == DIFFERS) {
        char made[96], taken[96];
        print_shape(made, sizeof made, seen.rank, seen.dims);
        print_shape(taken, sizeof taken, input->rank, input->dims);
        return refuse(p,
                      "the output '%.60s' is %s and the input '%.60s' is %s: a state that changes "
                      "its shape from one inference to the next is not fed back",
                      output->name, made, input->name, taken);
    }
    return add(p, output->name, input, ASSAY__FEEDBACK_GIVEN);
}

static int plan_given(struct planning *p, const char *const *states, size_t count)
{
    int code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = strcmp(states[i], "none") == 0
                   ? refuse(p, "'none' means that nothing is fed back: it stands alone")
                   : add_given(p, states[i]);
    return code;
}

/* --- found ------------------------------------------------------------------------------------ */

/* Which output each input would get its next value from, before shapes are looked at. */
struct names {
    struct assay__state_name *outputs; /* by output */
    struct assay__map *stems;          /* of outputs: the index, or SEVERAL */
    size_t *partners;                  /* by input: an output, or NOBODY */
    size_t *claims;                    /* by output: how many inputs want it */
    const char **begins;               /* by output: what its cells began with; "" no cells */
    bool any;
};
#define NOBODY SIZE_MAX
#define SEVERAL (SIZE_MAX - 1)

static void names_free(struct names *names)
{
    assay__map_free(names->stems);
    free(names->outputs);
    free(names->partners);
    free(names->claims);
    free(names->begins);
}

static int index_outputs(const struct planning *p, struct names *names)
{
    int code = 0;
    for (size_t i = 0; i < p->graph->output_count && !code; i++) {
        const struct assay__value *output = &p->graph->outputs[i];
        assay__state_name_read(output->name, true, &names->outputs[i]);
        if (output->kind != ASSAY__KIND_TENSOR || !*names->outputs[i].stem) continue;
        bool known = assay__map_get(names->stems, names->outputs[i].stem) != ASSAY__MAP_NONE;
        code = assay__map_set(names->stems, names->outputs[i].stem, known ? SEVERAL : i);
    }
    return code;
}

static size_t partner_of(const struct planning *p, const struct names *names, const char *input)
{
    struct assay__state_name name;
    assay__state_name_read(input, false, &name);
    for (bool again = false;; again = true) {
        if (again && !assay__state_name_again(&name)) return NOBODY;
        size_t at = *name.stem ? assay__map_get(names->stems, name.stem) : ASSAY__MAP_NONE;
        if (at < p->graph->output_count && (!again || names->outputs[at].ends))
            return assay__state_names_pair(&names->outputs[at], &name) ? at : NOBODY;
        if (again) return NOBODY;
    }
}

/* A name and a rank that a state of recurrent cells has: [layers, batch, features]. */
static bool is_recurrent(const struct assay__input_plan *input)
{
    struct assay__state_name name;
    assay__state_name_read(input->name, false, &name);
    return name.recurrent && input->rank >= 3;
}

static int read_names(const struct planning *p, struct names *names)
{
    size_t inputs = p->workload->input_count, outputs = p->graph->output_count;
    names->begins = calloc(outputs + 1, sizeof *names->begins);
    names->outputs = calloc(outputs + 1, sizeof *names->outputs);
    names->partners = calloc(inputs + 1, sizeof *names->partners);
    names->claims = calloc(outputs + 1, sizeof *names->claims);
    names->stems = assay__map_new();
    if (!names->outputs || !names->partners || !names->claims || !names->stems || !names->begins ||
        index_outputs(p, names) || assay__feedback_cells(p->graph, names->begins))
        return assay__no_memory(p->error);
    for (size_t i = 0; i < outputs; i++)
        names->any |= *names->begins[i] != '\0';
    for (size_t i = 0; i < inputs; i++) {
        names->partners[i] = partner_of(p, names, p->workload->inputs[i].name);
        names->any |= names->partners[i] != NOBODY || is_recurrent(&p->workload->inputs[i]);
        if (names->partners[i] != NOBODY) names->claims[names->partners[i]]++;
    }
    return 0;
}

static bool fits(const struct planning *p, size_t output, const struct assay__input_plan *input)
{
    struct seen seen = look(p, &p->graph->outputs[output]);
    return input->dtype != ASSAY__STRING && seen.dtype == input->dtype &&
           compare_shapes(&seen, input) == FITS;
}

static int plan_found(struct planning *p, const struct names *names)
{
    int code = 0;
    bool certain = true;
    for (size_t i = 0; i < p->workload->input_count && !code; i++) {
        struct assay__input_plan *input = &p->workload->inputs[i];
        size_t at = names->partners[i];
        if (at == NOBODY || names->claims[at] > 1 || !fits(p, at, input)) continue;
        certain &= names->outputs[at].state;
        code = add(p, p->graph->outputs[at].name, input, ASSAY__FEEDBACK_NAME);
    }
    /* A model without other inputs is more likely a function than a stream. */
    if (p->count == p->workload->input_count && !certain) p->count = 0;
    return code;
}

static bool is_paired(const struct planning *p, const struct assay__input_plan *input,
                      const char *output)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->inputs[i] == input || strcmp(p->found[i].output, output) == 0) return true;
    return false;
}

/* The one output that fits the input and has no partner yet, of those whose cells begin with it
 * (`begins` not NULL); NOBODY: none, or several. */
static size_t only_output(const struct planning *p, const struct assay__input_plan *input,
                          const char *const *begins)
{
    size_t only = NOBODY;
    for (size_t i = 0; i < p->graph->output_count; i++) {
        if ((begins && strcmp(begins[i], input->name) != 0) || !fits(p, i, input) ||
            is_paired(p, input, p->graph->outputs[i].name))
            continue;
        if (only != NOBODY) return NOBODY;
        only = i;
    }
    return only;
}

static bool has_twin(const struct planning *p, const struct assay__input_plan *input)
{
    for (size_t i = 0; i < p->workload->input_count; i++) {
        const struct assay__input_plan *other = &p->workload->inputs[i];
        const struct seen seen = {other->dtype, other->rank, other->dims};
        if (other != input && other->dtype == input->dtype && compare_shapes(&seen, input) == FITS)
            return true;
    }
    return false;
}

/* What names did not say: by the recurrent cells, then by shapes. */
static int plan_rest(struct planning *p, const struct names *names)
{
    int code = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < p->workload->input_count && !code; i++) {
            struct assay__input_plan *input = &p->workload->inputs[i];
            bool last = p->count + 1 >= p->workload->input_count; /* takes nothing but states */
            if (pass && (last || !is_recurrent(input) || has_twin(p, input))) continue;
            size_t at = only_output(p, input, pass ? NULL : names->begins);
            if (at != NOBODY)
                code = add(p, p->graph->outputs[at].name, input,
                           pass ? ASSAY__FEEDBACK_SHAPE : ASSAY__FEEDBACK_GRAPH);
        }
    return code;
}

/* --- together --------------------------------------------------------------------------------- */

static void start_at_zero(struct planning *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct assay__input_plan *plan = p->inputs[i];
        plan->fed = true;
        if (plan->given || plan->fill == ASSAY__FILL_FILE) continue;
        plan->fill = ASSAY__FILL_CONSTANT;
        plan->low = plan->high = 0;
        plan->why = "a state, which starts at zero";
    }
}

static int infer(struct planning *p, const struct assay__model *model)
{
    struct assay__value *values = NULL;
    if (assay__workload_values(p->workload->inputs, p->workload->input_count, p->workload->arena,
                               &values))
        return assay__no_memory(p->error);
    return assay__shapes_infer(model, values, p->workload->input_count, &p->shapes, p->error);
}

int assay__feedback_plan(const struct assay__model *model, const char *const *states,
                         size_t state_count, struct assay__workload *workload,
                         struct assay__arena *arena, struct assay__feedback **feedback,
                         size_t *count, struct assay_error *error)
{
    struct planning p = {
        .graph = &model->graph, .workload = workload, .arena = arena, .error = error};
    *feedback = NULL;
    *count = 0;
    if (state_count == 1 && strcmp(states[0], "none") == 0) return 0;
    struct names names = {0};
    size_t most = state_count > workload->input_count ? state_count : workload->input_count;
    int code = state_count ? 0 : read_names(&p, &names);
    bool wanted = !code && (state_count || names.any);
    if (wanted) p.found = assay__arena_array(arena, most + 1, sizeof *p.found);
    if (wanted) p.inputs = calloc(most + 1, sizeof *p.inputs);
    if (wanted) code = p.found && p.inputs ? infer(&p, model) : assay__no_memory(error);
    if (wanted && !code)
        code = state_count ? plan_given(&p, states, state_count) : plan_found(&p, &names);
    if (wanted && !code && !state_count) code = plan_rest(&p, &names);
    if (!code) start_at_zero(&p);
    *feedback = code ? NULL : p.found;
    *count = code ? 0 : p.count;
    assay__shapes_free(p.shapes);
    names_free(&names);
    free(p.inputs);
    return code;
}

/* --- audio ------------------------------------------------------------------------------------ */

static bool is_rate(const struct assay__input_plan *plan)
{
    bool named = assay__name_like_rate(plan->name);
    for (int i = 0; i < plan->rank; i++)
        named &= plan->dims[i] == 1;
    return named && plan->fill == ASSAY__FILL_CONSTANT && plan->low >= RATE_LEAST;
}

/* Samples along the last axis of [n], [1, n], [1, 1, n]; -1: it is not a waveform (or a batch of
 * them). */
static int64_t wave_samples(const struct assay__input_plan *plan)
{
    bool real = plan->dtype == ASSAY__FLOAT32 || plan->dtype == ASSAY__FLOAT16 ||
                plan->dtype == ASSAY__INT16;
    if (!real || plan->fed || plan->rank < 1 || plan->rank > 3) return -1;
    for (int i = 0; i + 1 < plan->rank; i++)
        if (plan->dims[i] != 1) return -1;
    return plan->dims[plan->rank - 1] >= SAMPLES_LEAST ? plan->dims[plan->rank - 1] : -1;
}

bool assay__workload_sound(const struct assay__workload *workload, int64_t *samples, double *rate)
{
    size_t waves = 0, rates = 0;
    for (size_t i = 0; i < workload->input_count; i++) {
        const struct assay__input_plan *plan = &workload->inputs[i];
        int64_t count = wave_samples(plan);
        if (is_rate(plan)) *rate = plan->low, rates++;
        if (count > 0) *samples = count, waves++;
    }
    return waves == 1 && rates == 1;
}
