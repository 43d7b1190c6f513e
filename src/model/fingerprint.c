/* fingerprint.c - what a model is, in one short word: the first 64 bits of the SHA-256 of a
 * canonical form of its structure (operator sets, operators, how values connect, attributes,
 * shapes), not of its weights. And how many parameters it has.
 *
 * Values inside the graph are numbered by first appearance, so renaming them changes nothing;
 * inputs and outputs count with their names. Attributes are taken in order of name. Numbers are
 * hashed little-endian. Integer tensors of at most SMALL_TENSOR elements count with their
 * values: they are shapes and axes, that is structure. */
#include "base/checked.h"
#include "model/graph.h"
#include "model/onnx.h"
#include "model/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_TENSOR 64

struct hash {
    struct assay__sha256 sha;
    struct assay__map *numbers; /* value name -> number */
    int failed;
};

static void add_u64(struct hash *hash, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    assay__sha256_add(&hash->sha, bytes, sizeof bytes);
}

static void add_bytes(struct hash *hash, const void *bytes, size_t size)
{
    add_u64(hash, size);
    if (size) assay__sha256_add(&hash->sha, bytes, size);
}

static void add_text(struct hash *hash, const char *text)
{
    add_bytes(hash, text, strlen(text));
}

static void add_reference(struct hash *hash, const char *name)
{
    if (!*name) {
        add_u64(hash, UINT64_MAX); /* an absent optional */
        return;
    }
    size_t number = assay__map_get(hash->numbers, name);
    if (number == ASSAY__MAP_NONE) {
        number = assay__map_count(hash->numbers);
        if (assay__map_set(hash->numbers, name, number)) hash->failed = ASSAY_ENOMEM;
    }
    add_u64(hash, number);
}

static void add_tensor(struct hash *hash, const struct assay__tensor *tensor)
{
    add_u64(hash, (uint64_t)tensor->dtype);
    add_u64(hash, (uint64_t)tensor->rank);
    for (int i = 0; i < tensor->rank; i++)
        add_u64(hash, (uint64_t)tensor->dims[i]);
    bool integer = tensor->dtype == ASSAY__INT64 || tensor->dtype == ASSAY__INT32;
    if (integer && tensor->data && tensor->elements <= SMALL_TENSOR)
        add_bytes(hash, tensor->data, tensor->data_size);
}

static void add_value(struct hash *hash, const struct assay__value *value)
{
    add_text(hash, value->name);
    add_reference(hash, value->name);
    add_u64(hash, (uint64_t)value->kind);
    add_u64(hash, (uint64_t)value->dtype);
    add_u64(hash, (uint64_t)(int64_t)value->rank);
    for (int i = 0; i < value->rank; i++) {
        add_u64(hash, (uint64_t)value->dims[i].value);
        add_text(hash, value->dims[i].symbol);
    }
    add_bytes(hash, value->type_proto, value->type_proto_size);
}

static void add_graph(struct hash *hash, const struct assay__graph *graph, int depth);

static void add_float(struct hash *hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_u64(hash, bits);
}

static void add_attr(struct hash *hash, const struct assay__attr *attr, int depth)
{
    add_text(hash, attr->name);
    add_u64(hash, (uint64_t)attr->type);
    add_text(hash, attr->reference);
    add_u64(hash, attr->count);
    switch (attr->type) {
    case ASSAY__ATTR_INT: add_u64(hash, (uint64_t)attr->i); break;
    case ASSAY__ATTR_FLOAT: add_float(hash, attr->f); break;
    case ASSAY__ATTR_STRING: add_bytes(hash, attr->s, attr->s_size); break;
    case ASSAY__ATTR_TENSOR:
        if (attr->t) add_tensor(hash, attr->t);
        break;
    case ASSAY__ATTR_GRAPH:
        if (attr->g) add_graph(hash, attr->g, depth + 1);
        break;
    case ASSAY__ATTR_INTS:
        for (size_t i = 0; i < attr->count; i++)
            add_u64(hash, (uint64_t)attr->ints[i]);
        break;
    case ASSAY__ATTR_FLOATS:
        for (size_t i = 0; i < attr->count; i++)
            add_float(hash, attr->floats[i]);
        break;
    case ASSAY__ATTR_STRINGS:
        for (size_t i = 0; i < attr->count; i++)
            add_text(hash, attr->strings[i]);
        break;
    case ASSAY__ATTR_GRAPHS:
        for (size_t i = 0; i < attr->count; i++)
            add_graph(hash, attr->graphs[i], depth + 1);
        break;
    default: add_bytes(hash, attr->raw, attr->raw_size); break;
    }
}

static int by_name(const void *a, const void *b)
{
    const struct assay__attr *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static void add_node(struct hash *hash, const struct assay__node *node, int depth)
{
    add_text(hash, node->domain);
    add_text(hash, node->op);
    add_u64(hash, node->input_count);
    for (size_t i = 0; i < node->input_count; i++)
        add_reference(hash, node->inputs[i]);
    add_u64(hash, node->output_count);
    for (size_t i = 0; i < node->output_count; i++)
        add_reference(hash, node->outputs[i]);
    const struct assay__attr **sorted = calloc(node->attr_count + 1, sizeof *sorted);
    if (!sorted) {
        hash->failed = ASSAY_ENOMEM;
        return;
    }
    for (size_t i = 0; i < node->attr_count; i++)
        sorted[i] = &node->attrs[i];
    qsort(sorted, node->attr_count, sizeof *sorted, by_name);
    add_u64(hash, node->attr_count);
    for (size_t i = 0; i < node->attr_count; i++)
        add_attr(hash, sorted[i], depth);
    free(sorted);
}

static void add_graph(struct hash *hash, const struct assay__graph *graph, int depth)
{
    if (depth > ASSAY__ONNX_DEPTH) return;
    add_u64(hash, graph->input_count);
    for (size_t i = 0; i < graph->input_count; i++)
        add_value(hash, &graph->inputs[i]);
    add_u64(hash, graph->initializer_count);
    for (size_t i = 0; i < graph->initializer_count; i++) {
        add_reference(hash, graph->initializers[i].name);
        add_tensor(hash, &graph->initializers[i]);
    }
    add_u64(hash, graph->sparse_count);
    add_u64(hash, graph->node_count);
    for (size_t i = 0; i < graph->node_count; i++)
        add_node(hash, &graph->nodes[i], depth);
    add_u64(hash, graph->output_count);
    for (size_t i = 0; i < graph->output_count; i++) {
        add_text(hash, graph->outputs[i].name);
        add_reference(hash, graph->outputs[i].name);
    }
}

int assay__model_fingerprint(const struct assay__model *model, char out[17])
{
    uint8_t digest[32];
    struct hash hash = {.numbers = assay__map_new()};
    if (!hash.numbers) return ASSAY_ENOMEM;
    assay__sha256_start(&hash.sha);
    add_text(&hash, "assay graph 1");
    add_u64(&hash, model->opset_count);
    for (size_t i = 0; i < model->opset_count; i++) {
        add_text(&hash, model->opsets[i].domain);
        add_u64(&hash, (uint64_t)model->opsets[i].version);
    }
    add_graph(&hash, &model->graph, 0);
    add_u64(&hash, model->function_count);
    for (size_t i = 0; i < model->function_count; i++)
        add_text(&hash, model->function_names[i]);
    assay__sha256_end(&hash.sha, digest);
    for (int i = 0; i < 8; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    assay__map_free(hash.numbers);
    return hash.failed;
}

/* --- parameters ------------------------------------------------------------------------------- */

enum { USED_AS_STATISTIC = 1, USED_OTHERWISE = 2 };

/* How each name is used: BatchNormalization's inputs 3 and 4 are running statistics, not trained
 * by gradients. */
static int mark_uses(const struct assay__graph *graph, struct assay__map *uses, int depth)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool norm = strcmp(node->op, "BatchNormalization") == 0;
        for (size_t k = 0; k < node->input_count; k++) {
            size_t before = assay__map_get(uses, node->inputs[k]);
            size_t now = norm && (k == 3 || k == 4) ? USED_AS_STATISTIC : USED_OTHERWISE;
            if (before != ASSAY__MAP_NONE) now |= before;
            if (assay__map_set(uses, node->inputs[k], now)) return ASSAY_ENOMEM;
        }
        for (size_t k = 0; k < node->attr_count && depth < ASSAY__ONNX_DEPTH; k++)
            if (node->attrs[k].g && mark_uses(node->attrs[k].g, uses, depth + 1))
                return ASSAY_ENOMEM;
    }
    return 0;
}

static bool is_parameter(const struct assay__tensor *tensor, const char *name,
                         const struct assay__map *uses)
{
    if (tensor->dtype == ASSAY__INT64 || tensor->dtype == ASSAY__BOOL ||
        tensor->dtype == ASSAY__STRING)
        return false;
    return assay__map_get(uses, name) != USED_AS_STATISTIC;
}

struct tally {
    const struct assay__map *uses;
    int64_t elements, bytes;
};

static bool count_tensor(const struct assay__tensor *tensor, bool parameter, struct tally *tally)
{
    size_t size = assay__dtype_bytes(tensor->dtype, tensor->elements);
    if (size > INT64_MAX || assay__add_i64_overflows(tally->bytes, (int64_t)size, &tally->bytes))
        return false;
    return !parameter ||
           !assay__add_i64_overflows(tally->elements, tensor->elements, &tally->elements);
}

/* Some exporters keep weights in Constant nodes. A single number there is a part of a formula, not a weight. */
static bool count_constant(const struct assay__node *node, struct tally *tally)
{
    const struct assay__attr *value = assay__node_attr(node, "value");
    if (strcmp(node->op, "Constant") != 0 || node->domain[0] || !value || !value->t) return true;
    const char *name = node->output_count ? node->outputs[0] : "";
    bool parameter = value->t->elements > 1 && is_parameter(value->t, name, tally->uses);
    return count_tensor(value->t, parameter, tally);
}

static bool count_graph(const struct assay__graph *graph, struct tally *tally, int depth)
{
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        if (!count_tensor(tensor, is_parameter(tensor, tensor->name, tally->uses), tally))
            return false;
    }
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__ONNX_DEPTH; i++) {
        if (!count_constant(&graph->nodes[i], tally)) return false;
        for (size_t k = 0; k < graph->nodes[i].attr_count; k++) {
            const struct assay__graph *inner = graph->nodes[i].attrs[k].g;
            if (inner && !count_graph(inner, tally, depth + 1)) return false;
        }
    }
    return true;
}

bool assay__model_parameters(const struct assay__model *model, int64_t *elements, int64_t *bytes)
{
    struct assay__map *uses = assay__map_new();
    struct tally tally = {.uses = uses};
    bool known = uses && mark_uses(&model->graph, uses, 0) == 0 &&
                 count_graph(&model->graph, &tally, 0);
    *elements = known ? tally.elements : 0;
    *bytes = known ? tally.bytes : 0;
    assay__map_free(uses);
    return known;
}
