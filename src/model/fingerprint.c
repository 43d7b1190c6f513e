/* fingerprint.c - the identity of a model in one short word: the first 64 bits of the SHA-256 of a
 * canonical form of its structure (operator sets, operators, how values connect, attributes,
 * shapes), not of its weights.
 *
 * Values inside the graph are numbered by first appearance, so renaming them changes nothing;
 * inputs and outputs count with their names. Attributes are in order of name. Numbers are hashed in
 * as few bytes as possible, the lowest first. Integer tensors of at most SMALL_TENSOR elements
 * count with their values: they are shapes and axes, which are part of the structure. */
#include "model/graph.h"
#include "model/onnx/onnx.h"
#include "model/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_TENSOR 64
#define FEW_ATTRIBUTES 32

struct hash {
    struct assay__sha256 sha;
    uint8_t pending[1024]; /* buffered, because nearly all of it comes in single bytes */
    size_t pending_size;
    struct assay__map *numbers; /* value name -> number */
    int failed;
};

static void flush(struct hash *hash)
{
    assay__sha256_add(&hash->sha, hash->pending, hash->pending_size);
    hash->pending_size = 0;
}

/* Seven bits per byte, the last without the top bit: nearly all numbers are small, and hashing is
 * most of the work. */
static void add_u64(struct hash *hash, uint64_t value)
{
    if (sizeof hash->pending - hash->pending_size < 10) flush(hash);
    for (; value > 0x7f; value >>= 7)
        hash->pending[hash->pending_size++] = (uint8_t)(value | 0x80);
    hash->pending[hash->pending_size++] = (uint8_t)value;
}

static void add_bytes(struct hash *hash, const void *bytes, size_t size)
{
    if (!bytes) size = 0;
    add_u64(hash, size);
    if (sizeof hash->pending - hash->pending_size < size) flush(hash);
    if (size > sizeof hash->pending) {
        assay__sha256_add(&hash->sha, bytes, size);
    } else if (size) {
        memcpy(hash->pending + hash->pending_size, bytes, size);
        hash->pending_size += size;
    }
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
    const struct assay__attr *few[FEW_ATTRIBUTES], **sorted = few;
    if (node->attr_count > FEW_ATTRIBUTES) sorted = calloc(node->attr_count, sizeof *sorted);
    if (!sorted) {
        hash->failed = ASSAY_ENOMEM;
        return;
    }
    for (size_t i = 0; i < node->attr_count; i++) {
        size_t at = i; /* insertion sort: a handful, already in order in most files */
        for (; sorted == few && at > 0 && strcmp(sorted[at - 1]->name, node->attrs[i].name) > 0;
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = &node->attrs[i];
    }
    if (sorted != few) qsort(sorted, node->attr_count, sizeof *sorted, by_name);
    add_u64(hash, node->attr_count);
    for (size_t i = 0; i < node->attr_count; i++)
        add_attr(hash, sorted[i], depth);
    if (sorted != few) free(sorted);
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
    for (size_t i = 0; i < graph->sparse_count; i++) {
        add_reference(hash, graph->sparse_tensors[i].name);
        add_tensor(hash, &graph->sparse_tensors[i]);
        add_u64(hash, (uint64_t)graph->sparse_tensors[i].nonzeros);
    }
    add_u64(hash, graph->node_count);
    for (size_t i = 0; i < graph->node_count; i++)
        add_node(hash, &graph->nodes[i], depth);
    add_u64(hash, graph->output_count);
    for (size_t i = 0; i < graph->output_count; i++) {
        add_text(hash, graph->outputs[i].name);
        add_reference(hash, graph->outputs[i].name);
    }
}

/* Names inside a function are local. */
static void add_function(struct hash *hash, const struct assay__function *function,
                         const char *name)
{
    struct assay__map *outside = hash->numbers;
    hash->numbers = assay__map_new();
    if (!hash->numbers) hash->failed = ASSAY_ENOMEM;
    add_text(hash, name);
    if (hash->numbers) {
        add_u64(hash, function->input_count);
        for (size_t i = 0; i < function->input_count; i++)
            add_reference(hash, function->inputs[i]);
        add_u64(hash, function->default_count);
        for (size_t i = 0; i < function->default_count; i++)
            add_attr(hash, &function->defaults[i], 0);
        add_graph(hash, function->body, 0);
        add_u64(hash, function->output_count);
        for (size_t i = 0; i < function->output_count; i++)
            add_reference(hash, function->outputs[i]);
    }
    assay__map_free(hash->numbers);
    hash->numbers = outside;
}

int assay__model_fingerprint(const struct assay__model *model, char out[17])
{
    uint8_t digest[32];
    struct hash hash; /* `pending` need not be zero */
    hash.pending_size = 0;
    hash.failed = 0;
    hash.numbers = assay__map_over(model->names);
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
        add_function(&hash, &model->functions[i], model->function_names[i]);
    flush(&hash);
    assay__sha256_end(&hash.sha, digest);
    for (int i = 0; i < 8; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    assay__map_free(hash.numbers);
    return hash.failed;
}
