/* inputs.c - fixes the shapes of a model's inputs from the options.
 *
 * Every symbolic dimension is one variable, shared by all inputs that name it. It gets its value
 * from the options, and a contradiction is an error: sizes of dimensions, shapes, the shape of an
 * input file, the batch, the sequence length. What is still open is guessed from its meaning
 * (inputs_guess.c), with a note; if that is unclear, the plan is refused.
 *  - The batch axis: symbols named like "batch"; else the symbolic (or unnamed) first dimension
 *    of the inputs, or the second where time is first (inputs_values.c).
 *  - The sequence axis: symbols named like "seq", "time", "length", …; else the symbolic second
 *    axis of integer inputs.
 *  - A symbol that is an expression ("past + seq", "2*batch", as exporters write it) is computed
 *    (inputs_symbol.c). */
#include "model/inputs/inputs.h"

#include "base/no_memory.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/text.h"
#include "model/inputs/inputs_plan.h"
#include "model/inputs/npy.h"
#include "model/symbol/symbol.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct open_input {
    const struct assay__value *value;
    int rank;
    int64_t *dims;          /* -1 open; a named symbol is looked up at the end */
    bool shaped;            /* a given shape or a file fixed it */
    bool by_shape, by_file; /* each may be given once */
    int batch_axis;         /* where the batch is if no symbol says so */
};

struct planner {
    const struct assay__model *model;
    const struct assay__workload_options *options;
    struct assay__workload *workload;
    struct assay_error *error;
    struct open_input *inputs;
    struct assay__plan_symbols symbols;
    const char *batch_symbol, *sequence_symbol;
    struct assay__guess_facts facts;
    size_t attempt;
};

/* Short names mean the batch only on the batch axis. */
static bool is_batch(const struct planner *planner, const char *symbol)
{
    if (assay__name_has(symbol, "batch")) return true;
    if (!assay__name_is(symbol, "n") && !assay__name_is(symbol, "b") &&
        !assay__name_is(symbol, "bs"))
        return false;
    for (size_t i = 0; i < planner->workload->input_count; i++) {
        const struct assay__value *value = planner->inputs[i].value;
        if (value->rank > 0 && strcmp(value->dims[0].symbol, symbol) == 0) return true;
    }
    return false;
}

static bool is_integer(enum assay__dtype dtype)
{
    return dtype == ASSAY__INT64 || dtype == ASSAY__INT32;
}

/* "batchx3x224x224" */
static const char *shape_text(const struct planner *planner, const struct assay__value *value)
{
    struct assay__buf buf = {.data = NULL};
    if (value->rank == 0) return "a scalar";
    for (int i = 0; i < value->rank; i++) {
        if (i) assay__buf_putc(&buf, 'x');
        if (value->dims[i].value >= 0)
            assay__buf_printf(&buf, "%lld", (long long)value->dims[i].value);
        else
            assay__buf_puts(&buf, *value->dims[i].symbol ? value->dims[i].symbol : "?");
    }
    const char *text = assay__buf_keep(&buf, planner->workload->arena);
    return text ? text : "?";
}

/* --- the open shapes -------------------------------------------------------------------------- */

#define refuse(planner, ...) assay_error_set((planner)->error, ASSAY_EINVAL, __VA_ARGS__)

static struct assay__plan_symbol *find_symbol(struct planner *planner, const char *name)
{
    return assay__plan_find(&planner->symbols, name, strlen(name));
}

static int open_input(struct planner *planner, const struct assay__value *value)
{
    static const char *const kinds[] = {[ASSAY__KIND_SPARSE] = "a sparse tensor",
                                        [ASSAY__KIND_SEQUENCE] = "a sequence",
                                        [ASSAY__KIND_MAP] = "a map",
                                        [ASSAY__KIND_OPTIONAL] = "an optional",
                                        [ASSAY__KIND_UNKNOWN] = "without a stated type"};
    struct open_input *input = &planner->inputs[planner->workload->input_count];
    struct assay__input_plan *plan = &planner->workload->inputs[planner->workload->input_count++];
    struct assay__arena *arena = planner->workload->arena;
    if (value->kind != ASSAY__KIND_TENSOR)
        return assay_error_set(planner->error, ASSAY_EUNSUPPORTED,
                               "input '%.120s' is %s; only tensors can be fed", value->name,
                               kinds[value->kind]);
    if (value->dtype == ASSAY__UNDEFINED || value->dtype == ASSAY__COMPLEX64 ||
        value->dtype == ASSAY__COMPLEX128)
        return assay_error_set(planner->error, ASSAY_EUNSUPPORTED,
                               "input '%.120s' has type %s, which ONNX Runtime does not accept",
                               value->name, assay__dtype_name(value->dtype));
    *input = (struct open_input){.value = value, .rank = value->rank};
    *plan = (struct assay__input_plan){.name = assay__arena_strdup(arena, value->name),
                                       .dtype = value->dtype,
                                       .file = "",
                                       .why = ""};
    input->dims = assay__arena_array(arena, value->rank > 0 ? (size_t)value->rank : 0,
                                     sizeof(int64_t));
    if (!plan->name || !input->dims) return assay__no_memory(planner->error);
    for (int i = 0; i < value->rank; i++) {
        input->dims[i] = value->dims[i].value;
        if (value->dims[i].value >= 0 || !*value->dims[i].symbol ||
            find_symbol(planner, value->dims[i].symbol))
            continue;
        if (assay__plan_add_symbol(&planner->symbols, value->dims[i].symbol))
            return assay__no_memory(planner->error);
    }
    return 0;
}

static int open_inputs(struct planner *planner)
{
    const struct assay__graph *graph = &planner->model->graph;
    struct assay__workload *workload = planner->workload;
    struct assay__map *initializers = assay__map_over(graph->names);
    struct assay__map *second = assay__inputs_batch_second(planner->model);
    size_t dims = 0, names = 0;
    int code = initializers && second ? 0 : assay__no_memory(planner->error);
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        if (assay__map_set(initializers, graph->initializers[i].name, i))
            code = assay__no_memory(planner->error);
    for (size_t i = 0; i < graph->input_count; i++)
        for (int k = 0; k < graph->inputs[i].rank; k++, dims++)
            if (assay__symbol_is_expression(graph->inputs[i].dims[k].symbol))
                names += strlen(graph->inputs[i].dims[k].symbol); /* at most this many bytes */
    struct assay__arena *arena = workload->arena;
    planner->inputs = assay__arena_array(arena, graph->input_count, sizeof *planner->inputs);
    planner->symbols.capacity = dims + names;
    planner->symbols.items = assay__arena_array(arena, dims + names,
                                                sizeof *planner->symbols.items);
    workload->inputs = assay__arena_array(arena, graph->input_count, sizeof *workload->inputs);
    size_t notes = 2 * dims + names + 4; /* one per dimension, one per symbol, some per run */
    workload->notes = assay__arena_array(arena, notes, sizeof *workload->notes);
    workload->note_subjects = assay__arena_array(arena, notes, sizeof *workload->note_subjects);
    if (!planner->inputs || !planner->symbols.items || !workload->inputs || !workload->notes ||
        !workload->note_subjects)
        code = assay__no_memory(planner->error);
    for (size_t i = 0; i < graph->input_count && !code; i++)
        if (assay__map_get(initializers, graph->inputs[i].name) == ASSAY__MAP_NONE)
            code = open_input(planner, &graph->inputs[i]);
    if (!code && assay__plan_add_names(&planner->symbols, arena))
        code = assay__no_memory(planner->error);
    for (size_t i = 0; i < workload->input_count && !code; i++)
        planner->inputs[i].batch_axis = assay__map_get(second, planner->inputs[i].value->name) !=
                                        ASSAY__MAP_NONE;
    assay__map_free(second);
    assay__map_free(initializers);
    return code;
}

static int bind(struct planner *planner, struct assay__plan_symbol *symbol, int64_t value,
                const char *by)
{
    if (symbol->value >= 0 && symbol->value != value)
        return refuse(planner, "dimension '%.80s' is %lld by %s and %lld by %s", symbol->name,
                      (long long)symbol->value, symbol->by, (long long)value, by);
    symbol->value = value;
    symbol->by = by;
    return 0;
}

static int bind_dim(struct planner *planner, struct open_input *input, int axis, int64_t value,
                    const char *by)
{
    const struct assay__value *model = input->value;
    if (model->rank < 0) {
        input->dims[axis] = value;
        return 0;
    }
    if (model->dims[axis].value >= 0 && model->dims[axis].value != value)
        return refuse(planner,
                      "%s sets dimension %d of input '%.80s' to %lld, but it is fixed at %lld in "
                      "the model (%s)",
                      by, axis, model->name, (long long)value, (long long)model->dims[axis].value,
                      shape_text(planner, model));
    if (model->dims[axis].value >= 0) return 0;
    if (*model->dims[axis].symbol)
        return bind(planner, find_symbol(planner, model->dims[axis].symbol), value, by);
    if (input->dims[axis] >= 0 && input->dims[axis] != value)
        return refuse(planner, "dimension %d of input '%.80s' is both %lld and %lld (%s)", axis,
                      model->name, (long long)input->dims[axis], (long long)value, by);
    input->dims[axis] = value;
    return 0;
}

/* --- options ---------------------------------------------------------------------------------- */

/* " (did you mean 'x'?)" if a name is close enough, else "". */
static void suggest(const char *name, const char *candidate, size_t *best, char *out, size_t size)
{
    size_t distance = assay__text_distance(name, candidate), limit = strlen(candidate) / 3 + 1;
    if (distance >= *best || distance > limit) return;
    *best = distance;
    snprintf(out, size, " (did you mean '%.80s'?)", candidate);
}

/* Names may contain '=', so the option is matched against the existing names. */
static const char *after_name(const char *option, const char *name)
{
    size_t length = strlen(name);
    return strncmp(option, name, length) == 0 && option[length] == '=' ? option + length + 1 : NULL;
}

static int given_twice(const struct planner *planner, const char *what, const char *name)
{
    return refuse(planner, "the %s '%.120s' is given twice", what, name);
}

/* option: "input=…"; example: of the part after the name. */
static int find_input(struct planner *planner, const char *option, const char *example,
                      size_t *index, const char **rest)
{
    size_t best = SIZE_MAX, length = strcspn(option, "=");
    char hint[128] = "", name[128];
    for (size_t i = 0; i < planner->workload->input_count; i++)
        if ((*rest = after_name(option, planner->inputs[i].value->name))) {
            *index = i;
            return 0;
        }
    if (!option[length]) return refuse(planner, "'%.120s': write it as input=%s", option, example);
    snprintf(name, sizeof name, "%.*s", (int)(length < 100 ? length : 100), option);
    for (size_t i = 0; i < planner->workload->input_count; i++)
        suggest(name, planner->inputs[i].value->name, &best, hint, sizeof hint);
    if (!*hint && planner->workload->input_count)
        snprintf(hint, sizeof hint, " (its first input is '%.80s')",
                 planner->inputs[0].value->name);
    return refuse(planner, "the model has no input '%s'%s", name, hint);
}

/* " (it has 'batch', 's0')", as many as fit */
static void list_symbols(const struct planner *planner, char *out, size_t size)
{
    struct assay__buf buf = {.data = NULL};
    for (size_t i = 0; i < planner->symbols.count; i++) {
        const char *name = planner->symbols.items[i].name;
        bool fits = buf.length + strlen(name) + 16 < size;
        assay__buf_puts(&buf, i ? ", " : " (it has ");
        if (!fits) {
            assay__buf_puts(&buf, "…");
            break;
        }
        assay__buf_printf(&buf, "'%s'", name);
    }
    assay__buf_puts(&buf, planner->symbols.count ? ")" : " (all its dimensions are fixed)");
    snprintf(out, size, "%s", assay__buf_text(&buf));
    assay__buf_free(&buf);
}

static int apply_dim(struct planner *planner, const char *option)
{
    size_t best = SIZE_MAX, length = strcspn(option, "=");
    char hint[400] = "", name[128];
    int64_t value = 0;
    struct assay__plan_symbol *symbol = NULL;
    const char *rest = NULL;
    for (size_t i = 0; i < planner->symbols.count && !rest; i++)
        if ((rest = after_name(option, planner->symbols.items[i].name)))
            symbol = &planner->symbols.items[i];
    if (!option[length])
        return refuse(planner, "dimension '%.120s': write it as name=value", option);
    if (!symbol) {
        snprintf(name, sizeof name, "%.*s", (int)(length < 100 ? length : 100), option);
        for (size_t i = 0; i < planner->symbols.count; i++)
            suggest(name, planner->symbols.items[i].name, &best, hint, sizeof hint);
        if (!*hint) list_symbols(planner, hint, sizeof hint);
        return refuse(planner, "the model has no symbolic dimension '%s'%s", name, hint);
    }
    if (assay__text_int64(rest, &value) || value < 0)
        return refuse(planner, "dimension '%.120s': '%.40s' is not a size", option, rest);
    if (symbol->value >= 0) return given_twice(planner, "dimension", symbol->name);
    return bind(planner, symbol, value, "the given size");
}

static int set_shape(struct planner *planner, struct open_input *input, int rank,
                     const int64_t *dims, const char *by)
{
    int code = 0;
    if (input->value->rank < 0 && input->shaped && input->rank != rank)
        return refuse(planner, "input '%.80s' is given two shapes", input->value->name);
    if (input->value->rank < 0) {
        input->rank = rank;
        input->dims = assay__arena_array(planner->workload->arena, (size_t)rank, sizeof *dims);
        if (!input->dims) return assay__no_memory(planner->error);
    }
    if (input->rank != rank)
        return refuse(planner, "%s gives input '%.80s' %d dimensions, but it has %d (%s)", by,
                      input->value->name, rank, input->rank, shape_text(planner, input->value));
    for (int i = 0; i < rank && !code; i++) {
        if (dims[i] >= 0) code = bind_dim(planner, input, i, dims[i], by);
        if (dims[i] < 0 && input->value->rank < 0) input->dims[i] = -1;
    }
    input->shaped = true;
    return code;
}

/* If there is only one input, its name may be omitted: "1x3x224x224". */
static int find_shaped(struct planner *planner, const char *option, size_t *index,
                       const char **rest)
{
    *index = 0;
    *rest = option;
    if (planner->workload->input_count == 1 && !strchr(option, '=')) return 0;
    return find_input(planner, option, "1x3x224x224", index, rest);
}

/* "input=1x3x224x224", "input=1,3,224,224", or "input=scalar"; "?" is left to other options. */
static int apply_shape(struct planner *planner, const char *option)
{
    int64_t dims[ASSAY__NPY_RANK];
    size_t index = 0;
    const char *text = NULL;
    int rank = 0, code = find_shaped(planner, option, &index, &text);
    if (code) return code;
    struct open_input *input = &planner->inputs[index];
    if (input->by_shape) return given_twice(planner, "shape of input", input->value->name);
    input->by_shape = true;
    const char *at = strcmp(text, "scalar") == 0 ? "" : text;
    while (*at) {
        char number[24];
        size_t length = strcspn(at, "x,");
        snprintf(number, sizeof number, "%.*s", (int)(length < 24 ? length : 24), at);
        bool last = !at[length], more = last || at[length + 1]; /* a number after a separator */
        bool open = strcmp(number, "?") == 0;
        if (open && rank < ASSAY__NPY_RANK) dims[rank] = -1;
        if (rank == ASSAY__NPY_RANK || length >= sizeof number || !more ||
            (!open && (assay__text_int64(number, &dims[rank]) || dims[rank] < 0)))
            return refuse(planner, "'%.80s' is not a shape such as 1x3x224x224", text);
        rank++;
        at += length + !last;
    }
    return set_shape(planner, input, rank, dims, "the given shape");
}

bool assay__inputs_npy_fits(enum assay__dtype file, enum assay__dtype model)
{
    if (file == model) return true;
    if (model == ASSAY__BFLOAT16) return file == ASSAY__UINT16;
    bool byte = (model >= ASSAY__FLOAT8E4M3FN && model <= ASSAY__FLOAT8E5M2FNUZ) ||
                model == ASSAY__FLOAT8E8M0;
    return byte && file == ASSAY__UINT8;
}

/* A number instead of a file: the value of every element. */
static bool inline_value(const char *text, enum assay__dtype dtype, double *value)
{
    if (dtype == ASSAY__STRING || assay__file_exists(text)) return false;
    bool yes = strcmp(text, "true") == 0, no = strcmp(text, "false") == 0;
    *value = yes;
    if (yes || no) return dtype == ASSAY__BOOL;
    char *end = NULL;
    *value = strtod(text, &end);
    return *text && !*end && isfinite(*value);
}

static int set_value(struct planner *planner, struct assay__input_plan *plan, double value)
{
    bool whole = plan->dtype != ASSAY__FLOAT32 && plan->dtype != ASSAY__FLOAT64 &&
                 plan->dtype != ASSAY__FLOAT16 && plan->dtype != ASSAY__BFLOAT16;
    if (whole && value != floor(value))
        return refuse(planner, "input '%.100s' is %s, which cannot hold %g", plan->name,
                      assay__dtype_name(plan->dtype), value);
    plan->fill = ASSAY__FILL_CONSTANT;
    plan->low = plan->high = value;
    plan->why = "given";
    plan->given = true;
    return 0;
}

static int apply_file(struct planner *planner, const char *option)
{
    double value = 0;
    struct assay__mapping mapping = {NULL, 0};
    struct assay_error detail = {.code = 0};
    struct assay__npy npy;
    size_t index = 0;
    const char *path = NULL;
    int code = find_input(planner, option, "file.npy", &index, &path);
    if (code) return code;
    struct open_input *input = &planner->inputs[index];
    if (input->by_file) return given_twice(planner, "file of input", input->value->name);
    input->by_file = true;
    if (inline_value(path, input->value->dtype, &value))
        return set_value(planner, &planner->workload->inputs[index], value);
    code = assay__file_map(path, &mapping, planner->error);
    if (code) return code;
    code = assay__npy_parse(mapping.data, mapping.size, &npy, &detail);
    if (code) {
        assay_error_set(planner->error, code, "%.200s: %s", path, detail.message);
    } else if (!assay__inputs_npy_fits(npy.dtype, input->value->dtype)) {
        code = refuse(planner, "%.160s contains %s, but input '%.120s' is %s", path,
                      assay__dtype_name(npy.dtype), input->value->name,
                      assay__dtype_name(input->value->dtype));
    } else {
        code = set_shape(planner, input, npy.rank, npy.dims, path);
    }
    assay__file_unmap(&mapping);
    if (code) return code;
    char *absolute = realpath(path, NULL);
    struct assay__input_plan *plan = &planner->workload->inputs[index];
    plan->fill = ASSAY__FILL_FILE;
    plan->file = assay__arena_strdup(planner->workload->arena, absolute ? absolute : path);
    free(absolute);
    return plan->file ? 0 : assay__no_memory(planner->error);
}

/* --- batch and sequence ----------------------------------------------------------------------- */

/* Axes at the position of the batch; `computed`: those that are expressions. Binds them if a batch
 * is given. */
static int bind_batch_axes(struct planner *planner, bool computed, size_t *found)
{
    int64_t batch = planner->options->batch;
    int code = 0;
    for (size_t i = 0; i < planner->workload->input_count && !code; i++) {
        struct open_input *input = &planner->inputs[i];
        const struct assay__value *value = input->value;
        int axis = input->batch_axis;
        if (value->rank <= axis || value->dims[axis].value >= 0) continue;
        const char *symbol = value->dims[axis].symbol;
        bool other = assay__name_like_sequence(symbol) || assay__name_like_past(symbol);
        if (computed ? !assay__symbol_is_expression(symbol) : other) continue;
        if (!planner->batch_symbol && *symbol) planner->batch_symbol = symbol;
        ++*found;
        if (batch > 0) code = bind_dim(planner, input, axis, batch, "the given batch");
    }
    return code;
}

/* Every axis that is the batch: by name, by position, and finally computed ones. */
static int apply_batch(struct planner *planner)
{
    int64_t batch = planner->options->batch;
    size_t found = 0;
    int code = 0;
    for (size_t i = 0; i < planner->symbols.count && !code; i++) {
        const char *name = planner->symbols.items[i].name;
        if (!is_batch(planner, name) || assay__name_like_past(name)) continue;
        if (!planner->batch_symbol) planner->batch_symbol = name;
        found++;
        if (batch > 0) code = bind(planner, &planner->symbols.items[i], batch, "the given batch");
    }
    if (!found && !code) code = bind_batch_axes(planner, false, &found);
    if (!found && !code) code = bind_batch_axes(planner, true, &found);
    if (code || batch <= 0 || found) return code;
    for (size_t i = 0; i < planner->workload->input_count; i++) {
        struct open_input *input = &planner->inputs[i];
        int axis = input->batch_axis;
        if (input->rank <= axis || input->dims[axis] == batch) {
            found += input->rank > axis;
            continue;
        }
        if (input->value->rank < 0 || input->dims[axis] < 0) continue;
        return refuse(planner,
                      "batch is fixed at %lld in this model (input '%.80s' is %s); export it with "
                      "a symbolic batch",
                      (long long)input->dims[axis], input->value->name,
                      shape_text(planner, input->value));
    }
    return found ? 0 : refuse(planner, "this model has no batch axis");
}

static int apply_sequence(struct planner *planner)
{
    static const char by[] = "the given sequence length";
    int64_t length = planner->options->sequence;
    size_t found = 0;
    int code = 0;
    for (size_t i = 0; i < planner->symbols.count && !code; i++) {
        struct assay__plan_symbol *symbol = &planner->symbols.items[i];
        if (!assay__name_like_sequence(symbol->name)) continue;
        if (!planner->sequence_symbol) planner->sequence_symbol = symbol->name;
        found++;
        if (length > 0) code = bind(planner, symbol, length, by);
    }
    bool named = found > 0;
    for (size_t i = 0; i < planner->workload->input_count && !named && !code; i++) {
        const struct assay__value *value = planner->inputs[i].value;
        if (!is_integer(value->dtype) || value->rank < 2 || value->dims[1].value >= 0 ||
            assay__name_like_past(value->dims[1].symbol))
            continue;
        if (!planner->sequence_symbol && *value->dims[1].symbol)
            planner->sequence_symbol = value->dims[1].symbol;
        found++;
        if (length > 0) code = bind_dim(planner, &planner->inputs[i], 1, length, by);
    }
    if (code || length <= 0 || found) return code;
    for (size_t i = 0; i < planner->workload->input_count; i++) {
        struct open_input *input = &planner->inputs[i];
        if (!is_integer(input->value->dtype) || input->rank < 2) continue;
        if (input->dims[1] == length) return 0;
        return refuse(
            planner, "the sequence length is fixed at %lld in this model (input '%.80s' is %s)",
            (long long)input->dims[1], input->value->name, shape_text(planner, input->value));
    }
    return refuse(planner, "this model has no sequence axis");
}

/* --- what is still open ----------------------------------------------------------------------- */

/* What is fixed so far about an input, including symbols; a guess does not fix anything. */
static int known_dims(struct planner *planner, size_t index, struct assay__guess_input *out)
{
    const struct open_input *input = &planner->inputs[index];
    int rank = input->value->rank > 0 ? input->value->rank : 0;
    int64_t *dims = assay__arena_array(planner->workload->arena, (size_t)rank, sizeof *dims);
    if (!dims) return assay__no_memory(planner->error);
    for (int i = 0; i < rank; i++) {
        bool open = input->value->dims[i].value < 0;
        const char *symbol = open ? input->value->dims[i].symbol : "";
        const struct assay__plan_symbol *named = *symbol ? find_symbol(planner, symbol) : NULL;
        dims[i] = named && named->guessed ? -1 : named ? named->value : input->dims[i];
    }
    *out = (struct assay__guess_input){input->value, dims, input->batch_axis};
    return 0;
}

/* A guess for every symbol: a symbol that is not the batch on one axis is not the batch. */
static int guess_symbols(struct planner *planner)
{
    struct assay__workload *workload = planner->workload;
    struct assay__guess_input *inputs = assay__arena_array(workload->arena, workload->input_count,
                                                           sizeof *inputs);
    int code = inputs ? 0 : assay__no_memory(planner->error);
    for (size_t i = 0; i < workload->input_count && !code; i++)
        code = known_dims(planner, i, &inputs[i]);
    if (code) return code;
    planner->facts = assay__guess_look(planner->model, inputs, workload->input_count);
    for (size_t i = 0; i < planner->symbols.count; i++) {
        struct assay__plan_symbol *symbol = &planner->symbols.items[i];
        bool found = false;
        symbol->guess = (struct assay__guess){-1, "", 0};
        if (symbol->value >= 0 || symbol->expression) continue;
        for (size_t k = 0; k < workload->input_count; k++)
            for (int axis = 0; axis < inputs[k].value->rank; axis++) {
                if (strcmp(inputs[k].value->dims[axis].symbol, symbol->name) != 0) continue;
                struct assay__guess guess = assay__guess_axis(&planner->facts, &inputs[k], axis,
                                                              planner->attempt);
                found = true;
                if (symbol->guess.size < 0 || (!*symbol->guess.what && *guess.what))
                    symbol->guess = guess;
            }
        if (is_batch(planner, symbol->name))
            symbol->guess = (struct assay__guess){1, "", 1};
        else if (!found)
            symbol->guess = assay__guess_name(&planner->facts, symbol->name, planner->attempt);
        if (symbol->guess.size < 0 && planner->options->any_size) symbol->guess.size = 1;
    }
    return 0;
}

/* "2x?x16": a shape for the user to type, with the known parts. */
static const char *example_text(const struct planner *planner, const struct open_input *input)
{
    struct assay__buf buf = {.data = NULL};
    for (int i = 0; i < input->rank; i++)
        assay__buf_printf(&buf, "%s%lld", i ? "x" : "",
                          (long long)(input->dims[i] >= 0 ? input->dims[i] : 16));
    const char *text = assay__buf_keep(&buf, planner->workload->arena);
    return text ? text : "?";
}

/* An axis without a name that is still open. */
static int guess_unnamed(struct planner *planner, size_t index, int axis,
                         const struct assay__guess_input *known)
{
    struct open_input *input = &planner->inputs[index];
    struct assay__workload *workload = planner->workload;
    struct assay__guess guess = {-1, "", 0};
    bool stated = input->value->rank >= 0;
    int code = 0;
    if (stated) guess = assay__guess_axis(&planner->facts, known, axis, planner->attempt);
    if (!stated && axis == 0) /* "?x3x8x8" */
        guess.size = planner->options->batch > 0 ? planner->options->batch : 1;
    if (guess.size < 0 && planner->options->any_size) guess.size = 1;
    if (guess.size < 0) {
        code = refuse(planner,
                      "the size of dimension %d of input '%.80s' (%s) is unknown: give its shape, "
                      "such as %.80s=%s",
                      axis, input->value->name,
                      stated ? shape_text(planner, input->value) : "without a stated shape",
                      input->value->name, example_text(planner, input));
        if (planner->error) planner->error->option = "shapes";
        return code;
    }
    input->dims[axis] = guess.size;
    if (*guess.what) workload->inputs[index].assumed = guess.what;
    if (guess.tries > workload->tries) workload->tries = guess.tries;
    const char *note = assay__arena_printf(
        workload->arena, "unnamed dimension %d of '%s' set to %lld%s%s", axis, input->value->name,
        (long long)guess.size, *guess.what ? ": " : "", guess.what);
    code = assay__plan_note(
        workload,
        (struct assay__note_subject){"", input->value->name, axis, guess.what, guess.size}, note);
    return code ? assay__no_memory(planner->error) : 0;
}

static int finish_input(struct planner *planner, size_t index)
{
    struct open_input *input = &planner->inputs[index];
    struct assay__input_plan *plan = &planner->workload->inputs[index];
    const struct assay__value *value = input->value;
    int64_t elements = 1;
    if (input->rank < 0) {
        int code = refuse(planner,
                          "the model does not state the shape of input '%.120s': give it, such as "
                          "%.120s=1x16",
                          value->name, value->name);
        if (planner->error) planner->error->option = "shapes";
        return code;
    }
    for (int i = 0; i < input->rank; i++) {
        bool named = value->rank >= 0 && *value->dims[i].symbol;
        if (input->dims[i] < 0 && named) {
            const struct assay__plan_symbol *symbol = find_symbol(planner, value->dims[i].symbol);
            input->dims[i] = symbol->value;
            if (symbol->guessed) plan->assumed = symbol->guess.what;
        }
    }
    struct assay__guess_input known;
    int code = known_dims(planner, index, &known);
    for (int i = 0; i < input->rank && !code; i++) {
        if (input->dims[i] < 0) code = guess_unnamed(planner, index, i, &known);
        if (code) return code;
        if (assay__mul_i64_overflows(elements, input->dims[i], &elements)) elements = -1;
        if (elements < 0) break;
    }
    if (code) return code;
    plan->rank = input->rank;
    plan->dims = input->dims;
    plan->bytes = assay__dtype_bytes(plan->dtype, elements);
    if (elements < 0 || plan->bytes > (size_t)1 << 40 || elements > (int64_t)1 << 40)
        return assay_error_set(planner->error, ASSAY_ELIMIT,
                               "input '%.120s' would take more than 1 TB", value->name);
    return 0;
}

static int settle_plan(struct planner *planner)
{
    struct assay__workload *workload = planner->workload;
    int code = guess_symbols(planner);
    if (!code) code = assay__plan_settle(&planner->symbols, workload, planner->error);
    for (size_t i = 0; i < workload->input_count && !code; i++)
        code = finish_input(planner, i);
    if (code) return code;
    workload->dims = assay__arena_array(workload->arena, planner->symbols.count,
                                        sizeof *workload->dims);
    if (!workload->dims) return assay__no_memory(planner->error);
    for (size_t i = 0; i < planner->symbols.count; i++) {
        const struct assay__plan_symbol *symbol = &planner->symbols.items[i];
        const char *name = assay__arena_strdup(workload->arena, symbol->name);
        if (!name) return assay__no_memory(planner->error);
        workload->dims[workload->dim_count++] = (struct assay__dim_value){name, symbol->value};
    }
    const struct assay__plan_symbol *sequence = planner->sequence_symbol
                                                    ? find_symbol(planner, planner->sequence_symbol)
                                                    : NULL;
    const struct assay__plan_symbol *batch = planner->batch_symbol
                                                 ? find_symbol(planner, planner->batch_symbol)
                                                 : NULL;
    if (sequence) workload->sequence = sequence->value;
    if (!sequence && planner->options->sequence > 0)
        workload->sequence = planner->options->sequence;
    if (batch) workload->batch = batch->value;
    if (batch && batch->value == 0 && is_batch(planner, batch->name))
        return refuse(planner, "the batch '%.80s' is 0: there is nothing to compute", batch->name);
    return 0;
}

/* Applies each of the caller's `name=value` options; member: the option that a refusal names. */
static int apply_all(struct planner *planner, const char *member, const char *const *options,
                     size_t count, int (*apply)(struct planner *planner, const char *option))
{
    int code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = apply(planner, options[i]);
    if (code == ASSAY_EINVAL && planner->error && !planner->error->option)
        planner->error->option = member;
    return code;
}

int assay__plan_shapes(const struct assay__model *model,
                       const struct assay__workload_options *options, size_t attempt,
                       struct assay__workload **out, struct assay_error *error)
{
    *out = NULL;
    struct assay__arena *arena = assay__arena_new();
    struct assay__workload *workload = arena ? assay__arena_alloc(arena, sizeof *workload) : NULL;
    if (!workload) {
        assay__arena_free(arena);
        return assay__no_memory(error);
    }
    workload->arena = arena;
    workload->batch = workload->sequence = -1;
    workload->seed = options->seed;
    workload->attempt = attempt;
    struct planner planner = {.model = model,
                              .options = options,
                              .workload = workload,
                              .error = error,
                              .attempt = attempt};
    int code = open_inputs(&planner);
    if (!code) code = apply_all(&planner, "dims", options->dims, options->dim_count, apply_dim);
    if (!code)
        code = apply_all(&planner, "shapes", options->shapes, options->shape_count, apply_shape);
    if (!code)
        code = apply_all(&planner, "inputs", options->files, options->file_count, apply_file);
    if (!code) code = apply_batch(&planner);
    if (!code) code = apply_sequence(&planner);
    if (!code) code = settle_plan(&planner);
    if (code)
        assay__workload_free(workload);
    else
        *out = workload;
    return code;
}
