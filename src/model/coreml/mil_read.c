/* mil_read.c - an ML program (MIL.proto): Program, Function, Block, Operation.
 *
 * The default function (the one the description names, else "main", else the first) is read, in the
 * block that is specialised for its opset; the names of other functions go to the metadata.
 * Operations come in order, and each reads only what stands before it, so one pass is enough. Maps
 * are repeated messages {1 key, 2 value}. */
#include "model/coreml/mil.h"

#include <stdio.h>
#include <string.h>

enum {
    PROGRAM_FUNCTION = 2,
    FUNCTION_MIL_INPUT = 1,
    FUNCTION_MIL_OPSET = 2,
    FUNCTION_MIL_BLOCK = 3,
    BLOCK_INPUT = 1,
    BLOCK_OUTPUT = 2,
    BLOCK_OPERATION = 3,
    OPERATION_TYPE = 1,
    OPERATION_INPUT = 2,
    OPERATION_OUTPUT = 3,
    OPERATION_BLOCK = 4,
    OPERATION_ATTRIBUTE = 5,
};

/* --- small messages --------------------------------------------------------------------------- */

/* A map's entry. */
static int read_entry(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      const char **key, struct assay__wire_field *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code = assay__onnx_message(&coreml->reader, message);
    *key = "";
    *value = (struct assay__wire_field){.type = ASSAY__WIRE_BYTES, .start = message->start};
    while (!code && (code = assay__onnx_next(&coreml->reader, &wire, &field, "an entry")) == 1) {
        code = 0;
        if (field.number == 1) code = assay__onnx_text(&coreml->reader, &field, key);
        if (field.number == 2) {
            code = assay__onnx_message(&coreml->reader, &field);
            *value = field;
        }
    }
    return code;
}

/* NamedValueType: 1 name, 2 type. */
static int read_named(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__mil_output *named)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code = assay__onnx_message(&coreml->reader, message);
    *named = (struct assay__mil_output){.name = "", .type = {.kind = ASSAY__MIL_OTHER, .rank = -1}};
    while (!code && (code = assay__onnx_next(&coreml->reader, &wire, &field, "a value")) == 1) {
        code = 0;
        if (field.number == 1) code = assay__onnx_text(&coreml->reader, &field, &named->name);
        if (field.number == 2 && field.type == ASSAY__WIRE_BYTES)
            code = assay__mil_type(coreml, &field, &named->type, 0);
    }
    return code;
}

/* All NamedValueTypes in fields `number` of a message. */
static int read_named_list(struct assay__coreml *coreml, const struct assay__wire_field *message,
                           uint32_t number, struct assay__mil_output **list, size_t *count)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t total = 0;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a list of values")) == 1)
        total += field.number == number;
    if (code) return code;
    *list = assay__arena_array(coreml->reader.arena, total, sizeof **list);
    if (!*list) return assay__onnx_no_memory(&coreml->reader);
    *count = 0;
    wire = assay__wire_over(message->data, message->size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == number && (code = read_named(coreml, &field, &(*list)[(*count)++])))
            return code;
    return 0;
}

/* --- operations ------------------------------------------------------------------------------- */

/* A value that stands where it is used: it gets a name of its own, but none that can be read. */
static int read_inline(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                       const struct assay__mil_op *op, const struct assay__wire_field *message,
                       const char *argument, size_t index, struct assay__mil_def **out)
{
    struct assay__arena *arena = coreml->reader.arena;
    struct assay__mil_value *value = assay__arena_alloc(arena, sizeof *value);
    struct assay__mil_def *def = assay__arena_alloc(arena, sizeof *def);
    const char *stem = op->output_count ? op->outputs[0].name : op->name;
    if (!value || !def) return assay__onnx_no_memory(&coreml->reader);
    int code = assay__mil_value(coreml, message, value);
    if (code) return code;
    *def = (struct assay__mil_def){.name = "", .type = value->type, .value = value, .scope = scope};
    def->graph_name = index ? assay__arena_printf(arena, "%s%s.%s.%zu", scope->prefix, stem,
                                                  argument, index)
                            : assay__arena_printf(arena, "%s%s.%s", scope->prefix, stem, argument);
    if (!def->graph_name) return assay__onnx_no_memory(&coreml->reader);
    *out = def;
    return 0;
}

/* Binding: 1 name | 2 value. */
static int read_binding(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                        const struct assay__mil_op *op, const struct assay__wire_field *message,
                        struct assay__mil_arg *arg)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__mil_def *def = NULL;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an input")) == 1) {
        const char *name = "";
        if (field.number == 1) {
            if ((code = assay__onnx_text(&coreml->reader, &field, &name))) return code;
            if (!(def = assay__mil_find(scope, name)))
                return assay__onnx_fail(&coreml->reader, field.start,
                                        "'%.60s' reads '%.60s', which nothing before it makes",
                                        op->name, name);
        } else if (field.number == 2 && field.type == ASSAY__WIRE_BYTES) {
            code = read_inline(coreml, scope, op, &field, arg->name, arg->count, &def);
            if (code) return code;
        }
    }
    if (code) return code;
    if (!def) return assay__onnx_fail(&coreml->reader, message->start, "an input without a value");
    arg->defs[arg->count++] = def;
    return 0;
}

static int read_argument(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                         struct assay__mil_op *op, const struct assay__wire_field *entry)
{
    struct assay__wire_field value, field;
    struct assay__mil_arg *arg = &op->args[op->arg_count];
    size_t count = 0;
    if (op->arg_count == ASSAY__MIL_ARGS)
        return assay__onnx_fail(&coreml->reader, entry->start, "'%.60s' has too many inputs",
                                op->name);
    *arg = (struct assay__mil_arg){.name = ""};
    int code = read_entry(coreml, entry, &arg->name, &value);
    if (code) return code;
    struct assay__wire wire = assay__wire_over(value.data, value.size);
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an input")) == 1)
        count += field.number == 1 && field.type == ASSAY__WIRE_BYTES;
    if (code) return code;
    if (count > ASSAY__MIL_INPUTS)
        return assay__onnx_fail(&coreml->reader, entry->start, "'%.60s' has too many inputs",
                                op->name);
    arg->defs = assay__arena_array(coreml->reader.arena, count, sizeof(void *));
    if (!arg->defs) return assay__onnx_no_memory(&coreml->reader);
    wire = assay__wire_over(value.data, value.size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == 1 && field.type == ASSAY__WIRE_BYTES &&
            (code = read_binding(coreml, scope, op, &field, arg)))
            return code;
    op->arg_count++;
    return 0;
}

/* "val" is what a constant holds, "name" what it is called; compressed weights of iOS 16 have their
 * inputs here. */
static int read_attribute(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                          struct assay__mil_op *op, const struct assay__wire_field *entry)
{
    struct assay__wire_field value;
    const char *key = "";
    struct assay__mil_value text;
    int code = read_entry(coreml, entry, &key, &value);
    if (code) return code;
    if (strcmp(key, "name") == 0) {
        code = assay__mil_value(coreml, &value, &text);
        if (!code && text.strings && text.elements == 1) op->name = text.strings[0];
    } else if (strcmp(key, "val") == 0) {
        op->constant = assay__arena_alloc(coreml->reader.arena, sizeof *op->constant);
        if (!op->constant) return assay__onnx_no_memory(&coreml->reader);
        code = assay__mil_value(coreml, &value, op->constant);
    } else if (strncmp(op->type, "constexpr_", 10) == 0 && op->arg_count < ASSAY__MIL_ARGS) {
        struct assay__mil_arg *arg = &op->args[op->arg_count];
        *arg = (struct assay__mil_arg){.name = key};
        arg->defs = assay__arena_array(coreml->reader.arena, 1, sizeof(void *));
        if (!arg->defs) return assay__onnx_no_memory(&coreml->reader);
        code = read_inline(coreml, scope, op, &value, key, 0, &arg->defs[0]);
        arg->count = 1;
        op->arg_count++;
    }
    return code;
}

/* Type, results and blocks: what the inputs' names are made of. */
static int read_head(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__mil_op *op)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an operation")) == 1) {
        if (field.number == OPERATION_TYPE)
            code = assay__onnx_text(&coreml->reader, &field, &op->type);
        if (field.number == OPERATION_BLOCK) {
            code = assay__onnx_message(&coreml->reader, &field);
            if (!code && op->block_count < sizeof op->blocks / sizeof op->blocks[0])
                op->blocks[op->block_count++] = field;
        }
        if (code < 0) return code;
    }
    if (code) return code;
    const char *dot = strrchr(op->type, '.'); /* "ios17.conv" */
    if (dot && dot[1]) op->type = dot + 1;
    if (!*op->type)
        return assay__onnx_fail(&coreml->reader, message->start, "an operation without a type");
    code = read_named_list(coreml, message, OPERATION_OUTPUT, &op->outputs, &op->output_count);
    if (!code) op->name = op->output_count ? op->outputs[0].name : op->type;
    return code;
}

static int add_constant(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                        const struct assay__mil_op *op)
{
    struct assay__mil_def *def = NULL;
    if (!op->constant || op->output_count != 1)
        return assay__onnx_fail(&coreml->reader, op->at, "a constant '%.60s' without a value",
                                op->name);
    int code = assay__mil_define(coreml, scope, op->outputs[0].name, NULL, &op->constant->type,
                                 &def);
    if (!code) def->value = op->constant;
    return code;
}

static int read_operation(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                          const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__mil_op op = {.type = "", .name = "", .at = message->start};
    int code = assay__onnx_message(&coreml->reader, message);
    if (!code) code = read_head(coreml, message, &op);
    if (!code && ++coreml->reader.nodes > ASSAY__ONNX_NODES)
        code = assay__onnx_fail(&coreml->reader, message->start, "too many operations");
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == OPERATION_ATTRIBUTE) code = read_attribute(coreml, scope, &op, &field);
    wire = assay__wire_over(message->data, message->size);
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == OPERATION_INPUT) code = read_argument(coreml, scope, &op, &field);
    if (code) return code;
    if (strcmp(op.type, "const") == 0) return add_constant(coreml, scope, &op);
    return assay__mil_map_op(coreml, scope, &op);
}

/* --- blocks ----------------------------------------------------------------------------------- */

int assay__mil_block_inputs(struct assay__coreml *coreml, const struct assay__wire_field *message,
                            struct assay__mil_output **inputs, size_t *count)
{
    return read_named_list(coreml, message, BLOCK_INPUT, inputs, count);
}

bool assay__mil_block_nests(const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field, inner;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != BLOCK_OPERATION || field.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire operation = assay__wire_over(field.data, field.size);
        while (assay__wire_next(&operation, &inner) == ASSAY__WIRE_FIELD)
            if (inner.number == OPERATION_BLOCK) return true;
    }
    return false;
}

static int read_results(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                        const struct assay__wire_field *message, struct assay__mil_def ***outputs,
                        size_t *output_count)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t total = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        total += field.number == BLOCK_OUTPUT;
    *outputs = assay__arena_array(coreml->reader.arena, total, sizeof **outputs);
    if (!*outputs) return assay__onnx_no_memory(&coreml->reader);
    *output_count = 0;
    wire = assay__wire_over(message->data, message->size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        const char *name = "";
        if (field.number != BLOCK_OUTPUT) continue;
        int code = assay__onnx_text(&coreml->reader, &field, &name);
        if (code) return code;
        struct assay__mil_def *def = assay__mil_find(scope, name);
        if (!def)
            return assay__onnx_fail(&coreml->reader, field.start,
                                    "a block's result '%.60s' is made by nothing", name);
        (*outputs)[(*output_count)++] = def;
    }
    return 0;
}

int assay__mil_block(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                     const struct assay__wire_field *message, struct assay__mil_def **inputs,
                     size_t input_count, struct assay__mil_def ***outputs, size_t *output_count)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__mil_output *names = NULL;
    size_t count = 0;
    int code = inputs ? assay__mil_block_inputs(coreml, message, &names, &count) : 0;
    if (!code && inputs && count != input_count)
        code = assay__onnx_fail(&coreml->reader, message->start,
                                "a block of %zu inputs is given %zu", count, input_count);
    for (size_t i = 0; inputs && i < count && !code; i++)
        code = assay__mil_alias(coreml, scope, names[i].name, inputs[i]);
    while (!code && (code = assay__onnx_next(&coreml->reader, &wire, &field, "a block")) == 1)
        code = field.number == BLOCK_OPERATION ? read_operation(coreml, scope, &field) : 0;
    return code ? code : read_results(coreml, scope, message, outputs, output_count);
}

/* --- functions -------------------------------------------------------------------------------- */

/* What the description adds to an input that is a tensor for the program. */
static int note_feature(struct assay__coreml *coreml, const char *side, const char *name,
                        const struct assay__coreml_feature *feature)
{
    if (!feature || !*feature->words) return 0;
    const char *key = assay__arena_printf(coreml->reader.arena, "coreml.%s.%s", side, name);
    return key ? assay__coreml_metadata(coreml, key, feature->words)
               : assay__onnx_no_memory(&coreml->reader);
}

static int add_inputs(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                      const struct assay__wire_field *function)
{
    struct assay__graph *graph = scope->graph;
    struct assay__mil_output *inputs = NULL;
    size_t count = 0;
    int code = read_named_list(coreml, function, FUNCTION_MIL_INPUT, &inputs, &count);
    for (size_t i = 0; i < count && !code; i++) {
        const char *name = inputs[i].name;
        const struct assay__coreml_feature *feature = assay__coreml_feature(
            &coreml->description.inputs, name);
        bool same = feature && feature->rank == inputs[i].type.rank;
        code = assay__mil_define(coreml, scope, name, NULL, &inputs[i].type, NULL);
        if (!code)
            code = assay__mil_add_value(coreml, &graph->inputs, &graph->input_count, name,
                                        &inputs[i].type, true, same ? feature->flexible : NULL);
        if (!code) code = note_feature(coreml, "input", name, feature);
        if (!code && inputs[i].type.state) {
            const char *key = assay__arena_printf(coreml->reader.arena, "coreml.state.%s", name);
            code = key ? assay__coreml_metadata(coreml, key, "state")
                       : assay__onnx_no_memory(&coreml->reader);
        }
    }
    return code;
}

static int add_outputs(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                       struct assay__mil_def **outputs, size_t count)
{
    struct assay__graph *graph = scope->graph;
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        const char *name = "";
        code = assay__mil_use(coreml, scope, outputs[i], &name);
        if (!code && *name)
            code = assay__mil_add_value(coreml, &graph->outputs, &graph->output_count, name,
                                        &outputs[i]->type, false, NULL);
        if (!code)
            code = note_feature(coreml, "output", name,
                                assay__coreml_feature(&coreml->description.outputs, name));
    }
    return code;
}

/* The block for the function's opset; a function has one as a rule. */
static int find_block(struct assay__coreml *coreml, const struct assay__wire_field *function,
                      struct assay__wire_field *block)
{
    struct assay__wire wire = assay__wire_over(function->data, function->size);
    struct assay__wire_field field, value;
    const char *opset = "", *key;
    bool found = false, exact = false;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a function")) == 1)
        if (field.number == FUNCTION_MIL_OPSET &&
            (code = assay__onnx_text(&coreml->reader, &field, &opset)))
            return code;
    if (code) return code;
    wire = assay__wire_over(function->data, function->size);
    while (!exact && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != FUNCTION_MIL_BLOCK) continue;
        if ((code = read_entry(coreml, &field, &key, &value))) return code;
        exact = strcmp(key, opset) == 0;
        if (exact || !found) *block = value;
        found = true;
    }
    if (!found)
        return assay__onnx_fail(&coreml->reader, function->start, "a function without a block");
    return *opset ? assay__coreml_metadata(coreml, "coreml.opset", opset) : 0;
}

static int read_function(struct assay__coreml *coreml, const char *name,
                         const struct assay__wire_field *function)
{
    struct assay__mil_scope scope;
    struct assay__wire_field block = {.data = NULL};
    struct assay__mil_def **outputs = NULL;
    size_t count = 0;
    int code = find_block(coreml, function, &block);
    if (code) return code;
    coreml->model->graph.name = name;
    code = assay__mil_scope_open(coreml, &scope, NULL, &coreml->model->graph, "");
    if (!code) code = add_inputs(coreml, &scope, function);
    if (!code) code = assay__mil_block(coreml, &scope, &block, NULL, 0, &outputs, &count);
    if (!code) code = add_outputs(coreml, &scope, outputs, count);
    assay__mil_scope_close(&scope);
    return code;
}

/* The function to read, and the names of all when there are several. */
static int choose_function(struct assay__coreml *coreml, const struct assay__wire_field *program,
                           const char **name, struct assay__wire_field *function)
{
    struct assay__wire wire = assay__wire_over(program->data, program->size);
    struct assay__wire_field field, value;
    const char *wanted = *coreml->description.function ? coreml->description.function : "main";
    char names[400] = "";
    size_t used = 0, count = 0;
    bool exact = false;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "the program")) == 1) {
        const char *key;
        if (field.number != PROGRAM_FUNCTION) continue;
        if ((code = read_entry(coreml, &field, &key, &value))) return code;
        bool match = strcmp(key, wanted) == 0;
        if (match || !count) {
            *function = value;
            *name = key;
        }
        exact = exact || match;
        int wrote = snprintf(names + used, sizeof names - used, "%s%.60s", count ? ", " : "", key);
        if (wrote > 0 && (size_t)wrote < sizeof names - used) used += (size_t)wrote;
        count++;
        if (exact && match) wanted = key;
    }
    if (code) return code;
    if (!count)
        return assay__onnx_fail(&coreml->reader, program->start, "a program without functions");
    if (count == 1) return 0;
    names[used] = 0;
    code = assay__coreml_metadata(coreml, "coreml.functions", names);
    return code ? code : assay__coreml_metadata(coreml, "coreml.function", *name);
}

int assay__mil_read(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__wire_field function = {.data = NULL};
    const char *name = "";
    coreml->model->format = "Core ML program";
    int code = choose_function(coreml, message, &name, &function);
    return code ? code : read_function(coreml, name, &function);
}
