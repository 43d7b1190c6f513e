/* coreml_fixture.h - a Core ML model as tests/oracle/coreml.py lists it, made of what our reader
 * says: the two texts must be the same. */
#ifndef ASSAY_TESTS_COREML_FIXTURE_H
#define ASSAY_TESTS_COREML_FIXTURE_H

#include "harness.h"

#include "base/buf.h"
#include "base/file.h"
#include "model/model_format.h"

#define COREML_FOLDER ASSAY_TEST_ROOT "/tests/fixtures/coreml/"

static inline struct assay__model *coreml_load(const char *path)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    if (assay__model_load(path, &model, &error)) {
        printf("  %s\n", error.message);
        harness_fail(__FILE__, __LINE__, path);
    }
    return model;
}

static inline const struct assay__value *coreml_value(const struct assay__graph *graph,
                                                      const char *name)
{
    for (size_t i = 0; i < graph->value_count; i++)
        if (strcmp(graph->values[i].name, name) == 0) return &graph->values[i];
    return NULL;
}

static inline void coreml_put_type(struct assay__buf *out, const struct assay__value *value)
{
    if (value->kind != ASSAY__KIND_TENSOR) {
        assay__buf_puts(out, "other");
        return;
    }
    assay__buf_printf(out, "%s:", assay__dtype_name(value->dtype));
    for (int i = 0; i < value->rank; i++) {
        assay__buf_puts(out, i ? "x" : "");
        if (value->dims[i].value < 0)
            assay__buf_putc(out, '?');
        else
            assay__buf_printf(out, "%lld", (long long)value->dims[i].value);
    }
}

/* Bytes of the weights file that a node reads through initializers of `graph` or one around it. */
static inline size_t coreml_blob_bytes(const struct assay__model *model,
                                       const struct assay__graph *const *graphs, size_t depth,
                                       const struct assay__node *node)
{
    size_t bytes = 0;
    for (size_t i = 0; i < node->input_count; i++)
        for (size_t d = 0; d < depth; d++) {
            const struct assay__tensor *tensor = assay__graph_initializer(graphs[d],
                                                                          node->inputs[i]);
            if (tensor && model->weights.data && tensor->data >= model->weights.data &&
                tensor->data < model->weights.data + model->weights.size)
                bytes += tensor->data_size;
        }
    return bytes;
}

static inline void coreml_list_graph(struct assay__buf *out, const struct assay__model *model,
                                     const struct assay__graph **graphs, size_t depth)
{
    const struct assay__graph *graph = graphs[depth - 1];
    CHECK(depth < 8);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool result = node->output_count && strstr(node->outputs[0], ".result");
        if (!node->source_op || strcmp(node->source_op, "const") == 0 || result) continue;
        for (size_t d = 1; d < depth; d++)
            assay__buf_puts(out, "  ");
        assay__buf_printf(out, "%s ", node->source_op);
        for (size_t k = 0; k < node->output_count; k++) {
            assay__buf_printf(out, "%s%s:", k ? " " : "", node->outputs[k]);
            coreml_put_type(out, coreml_value(graph, node->outputs[k]));
        }
        assay__buf_printf(out, " %zu\n", coreml_blob_bytes(model, graphs, depth, node));
        for (size_t k = 0; k < node->attr_count; k++) {
            if (!node->attrs[k].g) continue;
            graphs[depth] = node->attrs[k].g;
            coreml_list_graph(out, model, graphs, depth + 1);
        }
    }
}

static inline void coreml_list_program(struct assay__buf *out, const struct assay__model *model)
{
    const struct assay__graph *graphs[8] = {&model->graph};
    for (size_t i = 0; i < model->graph.input_count; i++) {
        assay__buf_printf(out, "input %s:", model->graph.inputs[i].name);
        coreml_put_type(out, &model->graph.inputs[i]);
        assay__buf_putc(out, '\n');
    }
    coreml_list_graph(out, model, graphs, 1);
    for (size_t i = 0; i < model->graph.output_count; i++)
        assay__buf_printf(out, "output %s\n", model->graph.outputs[i].name);
    assay__buf_printf(out, "opset %s\n", assay__model_metadata(model, "coreml.opset"));
}

/* The layer a node or an initializer belongs to: its name up to the first dot (the fixtures' layers
 * have none, but prefixes "AROUND.then/"). length 0: any. */
static inline bool coreml_of_layer(const char *name, const char *layer, size_t length)
{
    return !length || (strncmp(name, layer, length) == 0 && (name[length] == '.' || !name[length]));
}

static inline size_t coreml_layer_bytes(const struct assay__graph *graph, const char *layer,
                                        size_t length)
{
    size_t bytes = 0;
    for (size_t k = 0; k < graph->initializer_count; k++) {
        const struct assay__tensor *tensor = &graph->initializers[k];
        if (coreml_of_layer(tensor->name, layer, length) && tensor->dtype != ASSAY__INT64 &&
            !strstr(tensor->name, ".scales"))
            bytes += tensor->data_size;
    }
    for (size_t i = 0; i < graph->node_count; i++) /* of inner networks too */
        for (size_t k = 0; k < graph->nodes[i].attr_count; k++)
            if (graph->nodes[i].attrs[k].g && coreml_of_layer(graph->nodes[i].name, layer, length))
                bytes += coreml_layer_bytes(graph->nodes[i].attrs[k].g, "", 0);
    return bytes;
}

static inline void coreml_put_output(struct assay__buf *out, const char *name)
{
    const char *slash = strrchr(name, '/'), *again = strstr(name, ".again");
    if (slash) name = slash + 1;
    assay__buf_printf(out, " %.*s", again ? (int)(again - name) : 100, name);
}

/* Of an inner graph the nodes of its layers, not those that hand its results on: they carry the
 * name of the layer around it. */
static inline void coreml_list_layers(struct assay__buf *out, const struct assay__graph *graph,
                                      const char *around, int depth)
{
    for (size_t i = 0; i < graph->node_count;) {
        const char *layer = graph->nodes[i].name, *slash = strrchr(layer, '/');
        size_t first = i, length = slash ? (size_t)(slash + 1 - layer) : 0;
        length += strcspn(layer + length, ".");
        if (depth && length <= strlen(around)) {
            i++;
            continue;
        }
        size_t named = i;
        while (named + 1 < graph->node_count && !graph->nodes[named].source_op)
            named++;
        assay__buf_printf(out, "%*s%s", 2 * depth, "", graph->nodes[named].source_op);
        for (; i < graph->node_count && coreml_of_layer(graph->nodes[i].name, layer, length); i++)
            for (size_t k = 0; k < graph->nodes[i].output_count; k++)
                if (!coreml_of_layer(graph->nodes[i].outputs[k], layer, length) &&
                    !(graph->nodes[i].attr_count && graph->nodes[i].attrs[0].g))
                    coreml_put_output(out, graph->nodes[i].outputs[k]);
        assay__buf_printf(out, " %zu\n", coreml_layer_bytes(graph, layer, length));
        for (; first < i; first++)
            for (size_t k = 0; k < graph->nodes[first].attr_count; k++)
                if (graph->nodes[first].attrs[k].g)
                    coreml_list_layers(out, graph->nodes[first].attrs[k].g,
                                       graph->nodes[first].name, depth + 1);
    }
}

static inline void coreml_list_network(struct assay__buf *out, const struct assay__model *model)
{
    const struct assay__graph *graph = &model->graph;
    for (size_t i = 0; i < graph->input_count; i++)
        assay__buf_printf(out, "input %s\n", graph->inputs[i].name);
    coreml_list_layers(out, graph, "", 0);
    for (size_t i = 0; i < graph->output_count; i++)
        assay__buf_printf(out, "output %s\n", graph->outputs[i].name);
}

/* The model at `path` must be what the list at `list` says. */
static inline void coreml_check_list(const char *path, const char *list)
{
    struct assay__model *model = coreml_load(path);
    struct assay__buf ours = {0};
    struct assay_error error = {0};
    char *theirs = NULL;
    size_t length = 0;
    CHECK_INT(assay__file_read(list, 1 << 20, &theirs, &length, &error), 0);
    assay__buf_printf(&ours, "specification %s\n",
                      assay__model_metadata(model, "coreml.specification"));
    if (strcmp(model->format, "Core ML program") == 0)
        coreml_list_program(&ours, model);
    else
        coreml_list_network(&ours, model);
    CHECK_STR(ours.data, theirs);
    CHECK_INT(assay__model_check(model, &error), 0);
    assay__buf_free(&ours);
    free(theirs);
    assay__model_free(model);
}

#endif
