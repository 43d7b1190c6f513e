/* mil_read.c - an ML program (MIL.proto): Program, Function, Block, Operation.
 *
 * The default function (the one the description names, else "main", else the first) is read, in the
 * block that is specialised for its opset; the names of other functions are put into the metadata.
 * Operations are in order, and each reads only what comes before it, so one pass is enough. Maps
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

/* The key of a map entry; a missing value is an empty message. */
static const char *read_entry(struct assay__coreml *coreml, const struct assay__wire_field *message,
                              struct assay__wire_field *value)
{
    *value = (struct assay__wire_field){.type = ASSAY__WIRE_BYTES, .start = message->start};
    if (!assay__reader_message(&coreml->reader, message)) return "";
    assay__coreml_find(coreml, message, 2, "an entry", value);
    return assay__coreml_text(coreml, message, 1, "an entry");
}

/* All NamedValueTypes {1 name, 2 type} in fields `number` of a message. */
static struct assay__mil_output *read_named_list(struct assay__coreml *coreml,
                                                 const struct assay__wire_field *message,
                                                 uint32_t number, size_t *count)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field, type;
    size_t total = assay__reader_count(reader, message, number, "a list of values");
    struct assay__mil_output *list = assay__reader_array(reader, total, sizeof *list);
    *count = 0;
    while (assay__reader_next(reader, &wire, &field, "a list of values")) {
        if (field.number != number) continue;
        struct assay__mil_output *named = &list[(*count)++];
        *named = (struct assay__mil_output){.name = "",
                                            .type = {.kind = ASSAY__MIL_OTHER, .rank = -1}};
        if (!assay__reader_message(reader, &field)) break;
        named->name = assay__coreml_text(coreml, &field, 1, "a value");
        if (assay__coreml_find(coreml, &field, 2, "a value", &type))
            assay__mil_type(coreml, &type, &named->type, 0);
    }
    return list;
}

/* --- operations ------------------------------------------------------------------------------- */

/* An inline value: it gets a name in the graph, but not one that operations can read. */
static struct assay__mil_def *read_inline(struct assay__coreml *coreml,
                                          struct assay__mil_scope *scope,
                                          const struct assay__mil_op *op,
                                          const struct assay__wire_field *message,
                                          const char *argument, size_t index)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__mil_value *value = assay__reader_array(reader, 1, sizeof *value);
    struct assay__mil_def *def = assay__reader_array(reader, 1, sizeof *def);
    const char *stem = op->output_count ? op->outputs[0].name : op->name;
    if (!value || !def) return NULL;
    assay__mil_value(coreml, message, value);
    *def = (struct assay__mil_def){.name = "", .type = value->type, .value = value, .scope = scope};
    def->graph_name = assay__reader_printf(reader, "%s%s.%s", scope->prefix, stem, argument);
    if (index) def->graph_name = assay__reader_printf(reader, "%s.%zu", def->graph_name, index);
    return def;
}

/* The next of the operation's inputs; NULL, with an error, if it has too many. */
static struct assay__mil_arg *next_arg(struct assay__coreml *coreml, struct assay__mil_op *op,
                                       const char *name, size_t count)
{
    if (op->arg_count == ASSAY__MIL_ARGS || count > ASSAY__MIL_INPUTS)
        assay__reader_fail(&coreml->reader, op->at, "'%.60s' has too many inputs", op->name);
    void *defs = assay__reader_array(&coreml->reader, count, sizeof(struct assay__mil_def *));
    if (!defs) return NULL;
    struct assay__mil_arg *arg = &op->args[op->arg_count++];
    *arg = (struct assay__mil_arg){.name = name, .defs = defs};
    return arg;
}

/* An input: its name, and Bindings {1 name | 2 value} in fields 1. */
static void read_argument(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                          struct assay__mil_op *op, const struct assay__wire_field *entry)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire_field value, binding, field;
    const char *name = read_entry(coreml, entry, &value);
    size_t count = assay__reader_count(reader, &value, 1, "an input");
    struct assay__mil_arg *arg = next_arg(coreml, op, name, count);
    struct assay__wire wire = assay__wire_in(&value);
    while (arg && assay__reader_next(reader, &wire, &binding, "an input")) {
        if (binding.number != 1 || binding.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire inner = assay__wire_in(&binding);
        struct assay__mil_def *def = NULL;
        while (assay__reader_next(reader, &inner, &field, "an input")) {
            if (field.number == 2 && field.type == ASSAY__WIRE_BYTES)
                def = read_inline(coreml, scope, op, &field, arg->name, arg->count);
            if (field.number != 1) continue;
            const char *from = assay__reader_text(reader, &field);
            if (!(def = assay__mil_find(scope, from)))
                assay__reader_fail(reader, field.start,
                                   "'%.60s' reads '%.60s', which no earlier operation produces",
                                   op->name, from);
        }
        if (!def) assay__reader_fail(reader, binding.start, "an input without a value");
        arg->defs[arg->count++] = def;
    }
}

/* "val" is the value of a constant, "name" its name; compressed weights of iOS 16 have their inputs
 * here. */
static void read_attribute(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                           struct assay__mil_op *op, const struct assay__wire_field *entry)
{
    struct assay__wire_field value;
    struct assay__mil_value text;
    const char *key = read_entry(coreml, entry, &value);
    if (strcmp(key, "name") == 0) {
        assay__mil_value(coreml, &value, &text);
        if (text.strings && text.elements == 1 && !coreml->reader.code) op->name = text.strings[0];
    } else if (strcmp(key, "val") == 0) {
        op->constant = assay__reader_array(&coreml->reader, 1, sizeof *op->constant);
        if (op->constant) assay__mil_value(coreml, &value, op->constant);
    } else if (strncmp(op->type, "constexpr_", 10) == 0 && op->arg_count < ASSAY__MIL_ARGS) {
        struct assay__mil_arg *arg = next_arg(coreml, op, key, 1);
        if (arg) arg->defs[arg->count++] = read_inline(coreml, scope, op, &value, key, 0);
    }
}

/* Type, results and blocks, from which the names of inputs are derived. */
static void read_head(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__mil_op *op)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__reader_next(reader, &wire, &field, "an operation")) {
        if (field.number == OPERATION_TYPE) op->type = assay__reader_text(reader, &field);
        if (field.number == OPERATION_BLOCK && assay__reader_message(reader, &field) &&
            op->block_count < sizeof op->blocks / sizeof op->blocks[0])
            op->blocks[op->block_count++] = field;
    }
    const char *dot = strrchr(op->type, '.'); /* "ios17.conv" */
    if (dot && dot[1]) op->type = dot + 1;
    if (!*op->type) assay__reader_fail(reader, message->start, "an operation without a type");
    op->outputs = read_named_list(coreml, message, OPERATION_OUTPUT, &op->output_count);
    op->name = op->output_count ? op->outputs[0].name : op->type;
}

static void read_operation(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                           const struct assay__wire_field *message)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct assay__mil_op op = {.type = "", .name = "", .at = message->start};
    if (!assay__reader_message(reader, message)) return;
    read_head(coreml, message, &op);
    if (++reader->nodes > ASSAY__ONNX_NODES)
        assay__reader_fail(reader, message->start, "too many operations");
    while (assay__reader_next(reader, &wire, &field, "an operation"))
        if (field.number == OPERATION_ATTRIBUTE) read_attribute(coreml, scope, &op, &field);
    wire = assay__wire_in(message);
    while (assay__reader_next(reader, &wire, &field, "an operation"))
        if (field.number == OPERATION_INPUT) read_argument(coreml, scope, &op, &field);
    if (reader->code) return;
    if (strcmp(op.type, "const") != 0) {
        assay__mil_map_op(coreml, scope, &op);
    } else if (!op.constant || op.output_count != 1) {
        assay__reader_fail(reader, op.at, "a constant '%.60s' without a value", op.name);
    } else {
        struct assay__mil_def *def = assay__mil_define(coreml, scope, op.outputs[0].name,
                                                       &op.constant->type);
        if (def) def->value = op.constant;
    }
}

/* --- blocks ----------------------------------------------------------------------------------- */

struct assay__mil_output *assay__mil_block_inputs(struct assay__coreml *coreml,
                                                  const struct assay__wire_field *message,
                                                  size_t *count)
{
    return read_named_list(coreml, message, BLOCK_INPUT, count);
}

bool assay__mil_block_nests(const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field, inner;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != BLOCK_OPERATION || field.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire operation = assay__wire_in(&field);
        while (assay__wire_next(&operation, &inner) == ASSAY__WIRE_FIELD)
            if (inner.number == OPERATION_BLOCK) return true;
    }
    return false;
}

struct assay__mil_def **assay__mil_block(struct assay__coreml *coreml,
                                         struct assay__mil_scope *scope,
                                         const struct assay__wire_field *message,
                                         struct assay__mil_def **inputs, size_t input_count,
                                         size_t *count)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t named = 0;
    struct assay__mil_output *names = inputs ? assay__mil_block_inputs(coreml, message, &named)
                                             : NULL;
    if (inputs && named != input_count)
        assay__reader_fail(reader, message->start, "a block with %zu inputs is given %zu", named,
                           input_count);
    for (size_t i = 0; inputs && i < named && !reader->code; i++)
        assay__mil_alias(coreml, scope, names[i].name, inputs[i]);
    while (assay__reader_next(reader, &wire, &field, "a block"))
        if (field.number == BLOCK_OPERATION) read_operation(coreml, scope, &field);
    size_t total = assay__reader_count(reader, message, BLOCK_OUTPUT, "a block");
    struct assay__mil_def **results = assay__reader_array(reader, total, sizeof *results);
    *count = 0;
    wire = assay__wire_in(message);
    while (assay__reader_next(reader, &wire, &field, "a block")) {
        if (field.number != BLOCK_OUTPUT) continue;
        const char *name = assay__reader_text(reader, &field);
        if (!(results[*count] = assay__mil_find(scope, name)))
            assay__reader_fail(reader, field.start, "nothing produces the block result '%.60s'",
                               name);
        ++*count;
    }
    return results;
}

/* --- functions -------------------------------------------------------------------------------- */

/* The block for the function's opset; a function usually has one. */
static struct assay__wire_field find_block(struct assay__coreml *coreml,
                                           const struct assay__wire_field *function)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(function);
    struct assay__wire_field field, value, block = {.data = NULL};
    const char *opset = assay__coreml_text(coreml, function, FUNCTION_MIL_OPSET, "a function");
    bool found = false, exact = false;
    while (!exact && assay__reader_next(reader, &wire, &field, "a function")) {
        if (field.number != FUNCTION_MIL_BLOCK) continue;
        exact = strcmp(read_entry(coreml, &field, &value), opset) == 0;
        if (exact || !found) block = value;
        found = true;
    }
    if (!found) assay__reader_fail(reader, function->start, "a function without a block");
    if (*opset) assay__coreml_note(coreml, "opset", opset);
    return block;
}

/* The function to read, and the names of all if there are several. */
static const char *choose_function(struct assay__coreml *coreml,
                                   const struct assay__wire_field *program,
                                   struct assay__wire_field *function)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(program);
    struct assay__wire_field field, value;
    const char *wanted = *coreml->description.function ? coreml->description.function : "main";
    const char *name = "";
    char names[400] = "";
    size_t used = 0, count = 0;
    while (assay__reader_next(reader, &wire, &field, "the program")) {
        if (field.number != PROGRAM_FUNCTION) continue;
        const char *key = read_entry(coreml, &field, &value);
        if (!count || strcmp(key, wanted) == 0) {
            *function = value;
            name = key;
        }
        int wrote = snprintf(names + used, sizeof names - used, "%s%.60s", count ? ", " : "", key);
        if (wrote > 0 && (size_t)wrote < sizeof names - used) used += (size_t)wrote;
        count++;
    }
    if (!count) assay__reader_fail(reader, program->start, "a program without functions");
    names[used] = 0;
    if (count > 1) {
        assay__coreml_note(coreml, "functions", names);
        assay__coreml_note(coreml, "function", name);
    }
    return name;
}

void assay__mil_read(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__graph *graph = &coreml->model->graph;
    struct assay__wire_field function = {.data = NULL};
    struct assay__mil_scope scope;
    size_t count = 0;
    coreml->model->format = "Core ML program";
    graph->name = choose_function(coreml, message, &function);
    struct assay__wire_field block = find_block(coreml, &function);
    assay__mil_scope_open(coreml, &scope, NULL, graph, "");
    struct assay__mil_output *inputs = read_named_list(coreml, &function, FUNCTION_MIL_INPUT,
                                                       &count);
    for (size_t i = 0; i < count && !reader->code; i++) {
        const char *name = inputs[i].name;
        const struct assay__coreml_feature *feature = assay__coreml_feature(
            &coreml->description.inputs, name);
        bool same = feature && feature->rank == inputs[i].type.rank;
        assay__mil_define(coreml, &scope, name, &inputs[i].type);
        assay__mil_add_value(coreml, &graph->inputs, &graph->input_count, name, &inputs[i].type,
                             true, same ? feature->flexible : NULL);
        assay__coreml_note_feature(coreml, "input", feature);
        if (inputs[i].type.state)
            assay__coreml_note(coreml, assay__reader_printf(reader, "state.%s", name), "state");
    }
    struct assay__mil_def **outputs = assay__mil_block(coreml, &scope, &block, NULL, 0, &count);
    for (size_t i = 0; i < count && !reader->code; i++) {
        const char *name = assay__mil_use(coreml, outputs[i]);
        if (*name)
            assay__mil_add_value(coreml, &graph->outputs, &graph->output_count, name,
                                 &outputs[i]->type, false, NULL);
        assay__coreml_note_feature(coreml, "output",
                                   assay__coreml_feature(&coreml->description.outputs, name));
    }
    assay__mil_scope_close(&scope);
}
