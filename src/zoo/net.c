/* net.c - builds a graph call by call: nodes, names, attributes and weights. The
 * layers made of these are in net_layers.c. */
#include "zoo/net.h"

#include "base/checked.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay__net_fail(struct assay__net *net, int code, const char *format, ...)
{
    char message[256];
    va_list args;
    if (net->code) return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    net->code = assay_error_set(net->error, code, "%s: %s", net->model->graph.name, message);
}

void assay__net_no_memory(struct assay__net *net)
{
    assay__net_fail(net, ASSAY_ENOMEM, "out of memory");
}

void assay__net_begin(struct assay__net *net, struct assay__model *model, const char *name,
                      uint64_t seed, struct assay_error *error)
{
    *net = (struct assay__net){
        .model = model, .graph = &model->graph, .error = error, .seed = seed, .prefix = ""};
    model->ir_version = 8;
    model->producer = "assay";
    model->producer_version = ASSAY_VERSION_STRING;
    model->graph.name = name;
    model->opsets = assay__arena_array(model->arena, 1, sizeof *model->opsets);
    net->names = assay__map_new();
    if (!net->names || !model->opsets) {
        assay__net_no_memory(net);
        return;
    }
    model->opsets[0] = (struct assay__opset){"", 17};
    model->opset_count = 1;
}

void assay__zoo_begin(struct assay__net *net, struct assay__zoo_params *params, uint64_t seed)
{
    assay__net_begin(net, params->model, params->entry->name, seed, params->error);
}

int assay__net_end(struct assay__net *net)
{
    assay__map_free(net->names);
    net->names = NULL;
    if (net->model->failed) assay__net_no_memory(net);
    return net->code;
}

/* --- scopes and names ------------------------------------------------------------------------- */

void assay__net_push(struct assay__net *net, const char *format, ...)
{
    size_t length = strlen(net->scope);
    va_list args;
    if (net->code) return;
    if (length + 2 > sizeof net->scope) {
        assay__net_fail(net, ASSAY_ELIMIT, "names are too long");
        return;
    }
    net->scope[length] = '/';
    va_start(args, format);
    int more = vsnprintf(net->scope + length + 1, sizeof net->scope - length - 1, format, args);
    va_end(args);
    if (more < 0 || (size_t)more >= sizeof net->scope - length - 1)
        assay__net_fail(net, ASSAY_ELIMIT, "names are too long");
}

void assay__net_pop(struct assay__net *net)
{
    char *slash = strrchr(net->scope, '/');
    if (slash) *slash = '\0';
}

const char *assay__net_text(struct assay__net *net, const char *format, ...)
{
    char text[512];
    va_list args;
    if (net->code) return "";
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text) {
        assay__net_fail(net, ASSAY_ELIMIT, "names are too long");
        return "";
    }
    const char *copy = assay__arena_strdup(net->model->arena, text);
    if (!copy) assay__net_no_memory(net);
    return copy ? copy : "";
}

const char *assay__net_dim(struct assay__net *net, int64_t value, const char *symbol)
{
    return value < 0 ? assay__net_text(net, "%s", symbol)
                     : assay__net_text(net, "%lld", (long long)value);
}

const char *assay__net_dims(struct assay__net *net, const char *first, const int64_t *rest,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        first = assay__net_text(net, "%s%s%lld", first, *first ? "," : "", (long long)rest[i]);
    return first;
}

static bool is_taken(const struct assay__net *net, const char *name)
{
    return assay__map_has(net->names, name);
}

/* what: "values" or "tensors" */
static void take(struct assay__net *net, const char *what, const char *name)
{
    if (net->code) return;
    if (is_taken(net, name)) assay__net_fail(net, ASSAY_EINVAL, "two %s named '%s'", what, name);
    if (assay__map_set(net->names, name, 1)) assay__net_no_memory(net);
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

/* text: "batch,3,224" */
static void add_value(struct assay__net *net, struct assay__value **list, size_t *count,
                      const char *name, enum assay__dtype dtype, const char *text)
{
    struct assay__dim dims[16];
    int rank = 0;
    for (size_t length; *text && rank < 16; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        const char *word = assay__net_text(net, "%.*s", (int)length, text);
        int64_t value;
        bool number = assay__text_int64(word, &value) == 0;
        dims[rank++] = number ? (struct assay__dim){value, ""} : (struct assay__dim){-1, word};
    }
    if (net->code) return;
    if (assay__graph_add_value(net->model, list, count, name, dtype, rank, dims))
        assay__net_no_memory(net);
}

const char *assay__net_input(struct assay__net *net, const char *name, enum assay__dtype dtype,
                             const char *dims)
{
    const char *copy = assay__net_text(net, "%s", name);
    if (net->code) return "";
    take(net, "values", copy);
    add_value(net, &net->graph->inputs, &net->graph->input_count, copy, dtype, dims);
    return copy;
}

void assay__net_output(struct assay__net *net, const char *value, const char *name,
                       enum assay__dtype dtype, const char *dims)
{
    if (net->code) return;
    if (strcmp(value, name) != 0)
        assay__net_node_named(net, "Identity", ASSAY__NET_IN(value), name);
    add_value(net, &net->graph->outputs, &net->graph->output_count, name, dtype, dims);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void add_node(struct assay__net *net, const char *op, const char *name,
                     const char *const *inputs, const char *const *outputs, size_t output_count)
{
    size_t count = 0;
    while (inputs[count])
        count++;
    if (net->code) return;
    if (!assay__graph_add_node(net->model, net->graph, op, name, inputs, count, outputs,
                               output_count))
        assay__net_no_memory(net);
}

/* An unused node name: "/scope/Op", "/scope/Op_1", … */
static const char *free_name(struct assay__net *net, const char *op)
{
    const char *name = assay__net_text(net, "%s/%s", net->scope, op);
    for (int i = 1; !net->code && is_taken(net, name); i++)
        name = assay__net_text(net, "%s/%s_%d", net->scope, op, i);
    take(net, "values", name);
    return name;
}

void assay__net_node_multi(struct assay__net *net, const char *op, const char *const *inputs,
                           const char **outputs, size_t count)
{
    const char *name = free_name(net, op);
    for (size_t i = 0; i < count; i++) {
        outputs[i] = assay__net_text(net, "%s_output_%zu", name, i);
        take(net, "values", outputs[i]);
    }
    add_node(net, op, name, inputs, outputs, count);
}

const char *assay__net_node(struct assay__net *net, const char *op, const char *const *inputs)
{
    const char *output = "";
    assay__net_node_multi(net, op, inputs, &output, 1);
    return net->code ? "" : output;
}

const char *assay__net_node_named(struct assay__net *net, const char *op, const char *const *inputs,
                                  const char *output)
{
    const char *name = free_name(net, op), *copy = assay__net_text(net, "%s", output);
    take(net, "values", copy);
    add_node(net, op, name, inputs, &copy, 1);
    return net->code ? "" : copy;
}

static struct assay__node *last_node(struct assay__net *net)
{
    return net->code ? NULL : &net->graph->nodes[net->graph->node_count - 1];
}

/* A failure to set an attribute is recorded in the model: assay__net_end checks it. */

void assay__net_attr_int(struct assay__net *net, const char *name, int64_t value)
{
    assay__node_set_int(net->model, last_node(net), name, value);
}

void assay__net_attr_ints(struct assay__net *net, const char *name, const int64_t *values,
                          size_t count)
{
    assay__node_set_ints(net->model, last_node(net), name, values, count);
}

void assay__net_attr_float(struct assay__net *net, const char *name, float value)
{
    assay__node_set_float(net->model, last_node(net), name, value);
}

void assay__net_attr_graph(struct assay__net *net, const char *name, struct assay__graph *graph)
{
    assay__node_set_graph(net->model, last_node(net), name, graph);
}

void assay__net_attr_text(struct assay__net *net, const char *name, const char *value)
{
    assay__node_set_string(net->model, last_node(net), name, value);
}

const char *assay__net_1(struct assay__net *net, const char *op, const char *a)
{
    return assay__net_node(net, op, ASSAY__NET_IN(a));
}

const char *assay__net_2(struct assay__net *net, const char *op, const char *a, const char *b)
{
    return assay__net_node(net, op, ASSAY__NET_IN(a, b));
}

const char *assay__net_3(struct assay__net *net, const char *op, const char *a, const char *b,
                         const char *c)
{
    return assay__net_node(net, op, ASSAY__NET_IN(a, b, c));
}

/* --- weights ---------------------------------------------------------------------------------- */

/* Weights are in the main graph even while a body is being built: bodies can see them. */
static struct assay__tensor *add_tensor(struct assay__net *net, const char *name,
                                        enum assay__dtype dtype, int rank, const int64_t *dims,
                                        const void *data)
{
    int64_t elements = 1;
    bool fits = true;
    for (int i = 0; i < rank && fits; i++)
        fits = dims[i] >= 0 && !assay__mul_i64_overflows(elements, dims[i], &elements);
    size_t size = fits ? assay__dtype_bytes(dtype, elements) : SIZE_MAX;
    if (size == SIZE_MAX || elements > INT64_C(1) << 40)
        assay__net_fail(net, ASSAY_ELIMIT, "'%s' is too large", name);
    take(net, "tensors", name);
    if (net->code) return NULL;
    void *copy = NULL;
    if (data) {
        copy = assay__arena_array(net->model->arena, size ? size : 1, 1);
        if (!copy) {
            assay__net_no_memory(net);
            return NULL;
        }
        memcpy(copy, data, size);
    }
    struct assay__tensor *tensor = assay__graph_add_initializer(
        net->model, &net->model->graph, name, dtype, rank, dims, copy, data ? size : 0);
    if (!tensor) assay__net_no_memory(net);
    return tensor;
}

const char *assay__net_weight(struct assay__net *net, const char *name, int rank,
                              const int64_t *dims, double mean, double deviation)
{
    /* FNV-1a of the name: adding a layer does not change the weights of the others */
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    const char *copy = assay__net_text(net, "%s", name);
    struct assay__tensor *tensor = add_tensor(net, copy, ASSAY__FLOAT32, rank, dims, NULL);
    struct assay__generator *generator = assay__arena_alloc(net->model->arena, sizeof *generator);
    if (!generator) assay__net_no_memory(net);
    if (net->code) return "";
    *generator = (struct assay__generator){net->seed ^ hash, (float)mean, (float)deviation};
    tensor->generator = generator;
    return copy;
}

const char *assay__net_part(struct assay__net *net, const char *name, const char *part, int rank,
                            const int64_t *dims, double mean, double deviation)
{
    const char *whole = *net->prefix ? assay__net_text(net, "%s.%s.%s", net->prefix, name, part)
                                     : assay__net_text(net, "%s.%s", name, part);
    return assay__net_weight(net, whole, rank, dims, mean, deviation);
}

/* A tensor with the caller's numbers; a shared one may already exist. */
static const char *add_data(struct assay__net *net, const char *name, bool shared,
                            enum assay__dtype dtype, int rank, const int64_t *dims,
                            const void *values)
{
    const char *copy = assay__net_text(net, "%s", name);
    if (!net->code && shared && is_taken(net, copy)) return copy;
    return add_tensor(net, copy, dtype, rank, dims, values) ? copy : "";
}

const char *assay__net_floats(struct assay__net *net, const char *name, int rank,
                              const int64_t *dims, const float *values)
{
    return add_data(net, name, false, ASSAY__FLOAT32, rank, dims, values);
}

const char *assay__net_int64s(struct assay__net *net, const char *name, int rank,
                              const int64_t *dims, const int64_t *values)
{
    return add_data(net, name, false, ASSAY__INT64, rank, dims, values);
}

const char *assay__net_scalar(struct assay__net *net, float value)
{
    const char *name = assay__net_text(net, "constant.%.9g", (double)value);
    return add_data(net, name, true, ASSAY__FLOAT32, 0, NULL, &value);
}

const char *assay__net_index(struct assay__net *net, int64_t value)
{
    const char *name = assay__net_text(net, "index.%lld", (long long)value);
    return add_data(net, name, true, ASSAY__INT64, 0, NULL, &value);
}

const char *assay__net_shape(struct assay__net *net, const int64_t *values, size_t count)
{
    const int64_t dims[] = {(int64_t)count};
    const char *name = "shape";
    for (size_t i = 0; i < count; i++)
        name = assay__net_text(net, "%s%c%lld", name, i ? 'x' : '.', (long long)values[i]);
    return add_data(net, name, true, ASSAY__INT64, 1, dims, values);
}
