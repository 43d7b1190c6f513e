/* graph.c - building and looking up: the data types, an empty model, nodes, attributes, values,
 * initializers, metadata. Arrays grow inside the model's arena by doubling; the old array is left
 * behind, so an edited model takes at most twice its size. Growing moves an array: pointers to its
 * elements are valid until the next add to the same array. */
#include "model/graph.h"

#include "base/buf.h"
#include "base/checked.h"
#include "model/onnx/onnx.h"

#include <string.h>

static const struct {
    const char *name;
    int bits;
} dtypes[] = {
#define ROW(NAME, VALUE, TEXT, BITS) [VALUE] = {TEXT, BITS},
    ASSAY__DTYPES(ROW)};

static bool dtype_known(enum assay__dtype dtype)
{
    return (size_t)dtype < sizeof dtypes / sizeof dtypes[0];
}

const char *assay__dtype_name(enum assay__dtype dtype)
{
    return dtype_known(dtype) ? dtypes[dtype].name : "undefined";
}

int assay__dtype_bits(enum assay__dtype dtype)
{
    return dtype_known(dtype) ? dtypes[dtype].bits : 0;
}

size_t assay__dtype_bytes(enum assay__dtype dtype, int64_t elements)
{
    size_t bits = 0;
    if (elements < 0 || (uint64_t)elements > SIZE_MAX) return SIZE_MAX;
    if (assay__mul_overflows((size_t)elements, (size_t)assay__dtype_bits(dtype), &bits) ||
        assay__add_overflows(bits, 7, &bits))
        return SIZE_MAX;
    return bits / 8;
}

struct assay__model *assay__model_new(void)
{
    struct assay__arena *arena = assay__arena_new();
    if (!arena) return NULL;
    struct assay__model *model = assay__arena_alloc(arena, sizeof *model);
    if (!model) {
        assay__arena_free(arena);
        return NULL;
    }
    *model = (struct assay__model){.arena = arena,
                                   .format = "ONNX",
                                   .path = "",
                                   .folder = ".",
                                   .producer = "",
                                   .producer_version = "",
                                   .domain = "",
                                   .doc = "",
                                   .graph = {.name = "graph"}};
    return model;
}

void assay__model_free(struct assay__model *model)
{
    if (!model) return;
    assay__file_unmap(&model->mapping);
    assay__file_unmap(&model->weights);
    assay__names_free(model->names);
    assay__arena_free(model->arena); /* the model itself lies in it */
}

/* --- building --------------------------------------------------------------------------------- */

/* The result of an edit that is not possible. */
static int fail(struct assay__model *model)
{
    model->failed = true;
    return ASSAY_ENOMEM;
}

static void *copy_array(struct assay__arena *arena, const void *old, size_t count, size_t capacity,
                        size_t size)
{
    void *fresh = assay__arena_array(arena, capacity, size);
    if (fresh && count) memcpy(fresh, old, count * size);
    return fresh;
}

/* Makes room for one more element after `count`; false if out of memory. */
static bool grow(struct assay__model *model, void *items, size_t count, size_t *capacity,
                 size_t size)
{
    void **array = items;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    if (count < *capacity) return true;
    void *fresh = copy_array(model->arena, *array, count, wanted, size);
    if (!fresh) return fail(model) == 0;
    *array = fresh;
    *capacity = wanted;
    return true;
}

static const char **copy_names(struct assay__arena *arena, const char *const *names, size_t count)
{
    const char **copies = assay__arena_array(arena, count, sizeof *copies);
    if (!copies) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!(copies[i] = assay__arena_strdup(arena, names[i] ? names[i] : ""))) return NULL;
    return copies;
}

struct assay__node *assay__graph_add_node(struct assay__model *model, struct assay__graph *graph,
                                          const char *op, const char *name,
                                          const char *const *inputs, size_t input_count,
                                          const char *const *outputs, size_t output_count)
{
    struct assay__arena *arena = model->arena;
    struct assay__node node = {
        .domain = "", .doc = "", .input_count = input_count, .output_count = output_count};
    node.op = assay__arena_strdup(arena, op);
    node.name = assay__arena_strdup(arena, name ? name : "");
    node.inputs = copy_names(arena, inputs, input_count);
    node.outputs = copy_names(arena, outputs, output_count);
    if (!node.op || !node.name || !node.inputs || !node.outputs ||
        !grow(model, &graph->nodes, graph->node_count, &graph->node_capacity, sizeof node)) {
        fail(model);
        return NULL;
    }
    graph->nodes[graph->node_count] = node;
    return &graph->nodes[graph->node_count++];
}

/* Replaces the attribute with the same name, or adds it. */
static int set_attr(struct assay__model *model, struct assay__node *node, const char *name,
                    struct assay__attr attr)
{
    struct assay__attr *old = NULL;
    if (!node) return 0;
    for (size_t i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0) old = &node->attrs[i];
    if (!old) {
        /* Nodes have a handful of attributes: one copy per added attribute. */
        struct assay__attr *fresh = copy_array(model->arena, node->attrs, node->attr_count,
                                               node->attr_count + 1, sizeof *fresh);
        const char *copy = assay__arena_strdup(model->arena, name);
        if (!fresh || !copy) return fail(model);
        node->attrs = fresh;
        old = &fresh[node->attr_count++];
        old->name = copy;
    }
    attr.name = old->name;
    attr.reference = "";
    if (!attr.s) attr.s = "";
    *old = attr;
    return 0;
}

int assay__node_set_int(struct assay__model *model, struct assay__node *node, const char *name,
                        int64_t value)
{
    return set_attr(model, node, name, (struct assay__attr){.type = ASSAY__ATTR_INT, .i = value});
}

int assay__node_set_float(struct assay__model *model, struct assay__node *node, const char *name,
                          float value)
{
    return set_attr(model, node, name, (struct assay__attr){.type = ASSAY__ATTR_FLOAT, .f = value});
}

int assay__node_set_ints(struct assay__model *model, struct assay__node *node, const char *name,
                         const int64_t *values, size_t count)
{
    struct assay__attr attr = {.type = ASSAY__ATTR_INTS, .count = count};
    attr.ints = copy_array(model->arena, values, count, count, sizeof *values);
    return attr.ints ? set_attr(model, node, name, attr) : fail(model);
}

int assay__node_set_floats(struct assay__model *model, struct assay__node *node, const char *name,
                           const float *values, size_t count)
{
    struct assay__attr attr = {.type = ASSAY__ATTR_FLOATS, .count = count};
    attr.floats = copy_array(model->arena, values, count, count, sizeof *values);
    return attr.floats ? set_attr(model, node, name, attr) : fail(model);
}

int assay__node_set_string(struct assay__model *model, struct assay__node *node, const char *name,
                           const char *value)
{
    struct assay__attr attr = {.type = ASSAY__ATTR_STRING, .s_size = strlen(value)};
    attr.s = assay__arena_strdup(model->arena, value);
    return attr.s ? set_attr(model, node, name, attr) : fail(model);
}

int assay__node_set_graph(struct assay__model *model, struct assay__node *node, const char *name,
                          struct assay__graph *graph)
{
    return set_attr(model, node, name, (struct assay__attr){.type = ASSAY__ATTR_GRAPH, .g = graph});
}

int assay__node_set_tensor(struct assay__model *model, struct assay__node *node, const char *name,
                           struct assay__tensor *tensor)
{
    if (!tensor) return fail(model);
    return set_attr(model, node, name,
                    (struct assay__attr){.type = ASSAY__ATTR_TENSOR, .t = tensor});
}

int assay__graph_add_value(struct assay__model *model, struct assay__value **list, size_t *count,
                           const char *name, enum assay__dtype dtype, int rank,
                           const struct assay__dim *dims)
{
    struct assay__arena *arena = model->arena;
    /* Lists have a power-of-two size of at least 4 (the reader ensures that), so its count shows
     * when it is full. */
    if (*count == 0 || (*count >= 4 && (*count & (*count - 1)) == 0)) {
        void *fresh = copy_array(arena, *list, *count, *count ? 2 * *count : 4, sizeof **list);
        if (!fresh) return fail(model);
        *list = fresh;
    }
    struct assay__value value = {.kind = ASSAY__KIND_TENSOR, .dtype = dtype, .rank = rank};
    value.name = assay__arena_strdup(arena, name);
    value.dims = assay__arena_array(arena, rank > 0 ? (size_t)rank : 0, sizeof *dims);
    if (!value.name || !value.dims) return fail(model);
    for (int i = 0; i < rank; i++) {
        const char *symbol = dims[i].symbol ? dims[i].symbol : "";
        value.dims[i] = (struct assay__dim){dims[i].value, assay__arena_strdup(arena, symbol)};
        if (!value.dims[i].symbol) return fail(model);
    }
    (*list)[(*count)++] = value;
    return 0;
}

struct assay__tensor *assay__graph_add_initializer(struct assay__model *model,
                                                   struct assay__graph *graph, const char *name,
                                                   enum assay__dtype dtype, int rank,
                                                   const int64_t *dims, const void *data,
                                                   size_t data_size)
{
    struct assay__arena *arena = model->arena;
    struct assay__tensor tensor = {.dtype = dtype,
                                   .rank = rank,
                                   .data = data,
                                   .data_size = data_size,
                                   .location = "",
                                   .nonzeros = -1,
                                   .sparse_bytes = -1,
                                   .elements = 1};
    tensor.name = assay__arena_strdup(arena, name);
    tensor.dims = assay__arena_array(arena, rank > 0 ? (size_t)rank : 0, sizeof *dims);
    bool good = tensor.name && tensor.dims;
    for (int i = 0; i < rank && good; i++) {
        tensor.dims[i] = dims[i];
        good = dims[i] >= 0 &&
               !assay__mul_i64_overflows(tensor.elements, dims[i], &tensor.elements);
    }
    /* Without data the caller makes it external. */
    if (good && data) good = assay__dtype_bytes(dtype, tensor.elements) == data_size;
    if (!good || !grow(model, &graph->initializers, graph->initializer_count,
                       &graph->initializer_capacity, sizeof tensor)) {
        fail(model);
        return NULL;
    }
    graph->initializers[graph->initializer_count] = tensor;
    return &graph->initializers[graph->initializer_count++];
}

/* --- looking up ------------------------------------------------------------------------------- */

const struct assay__attr *assay__node_attr(const struct assay__node *node, const char *name)
{
    for (size_t i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0) return &node->attrs[i];
    return NULL;
}

struct assay__graph *assay__node_body(const struct assay__node *node, size_t k)
{
    for (size_t i = 0; i < node->attr_count; i++) {
        const struct assay__attr *attr = &node->attrs[i];
        if (attr->g && k-- == 0) return attr->g;
        size_t count = attr->graphs ? attr->count : 0;
        if (k < count) return attr->graphs[k];
        k -= count;
    }
    return NULL;
}

int64_t assay__node_int(const struct assay__node *node, const char *name, int64_t otherwise)
{
    const struct assay__attr *attr = assay__node_attr(node, name);
    return attr && attr->type == ASSAY__ATTR_INT ? attr->i : otherwise;
}

float assay__node_float(const struct assay__node *node, const char *name, float otherwise)
{
    const struct assay__attr *attr = assay__node_attr(node, name);
    return attr && attr->type == ASSAY__ATTR_FLOAT ? attr->f : otherwise;
}

struct assay__tensor *assay__graph_tensor(const struct assay__graph *graph, size_t i)
{
    if (i < graph->initializer_count) return &graph->initializers[i];
    i -= graph->initializer_count;
    return graph->sparse_tensors && i < graph->sparse_count ? &graph->sparse_tensors[i] : NULL;
}

const struct assay__tensor *assay__graph_initializer(const struct assay__graph *graph,
                                                     const char *name)
{
    const struct assay__tensor *tensor;
    for (size_t i = 0; (tensor = assay__graph_tensor(graph, i)); i++)
        if (strcmp(tensor->name, name) == 0) return tensor;
    return NULL;
}

bool assay__graph_is_initializer(const struct assay__graph *graph, const char *name)
{
    return assay__graph_initializer(graph, name) != NULL;
}

int64_t assay__model_opset(const struct assay__model *model, const char *domain)
{
    for (size_t i = 0; i < model->opset_count; i++)
        if (strcmp(model->opsets[i].domain, domain) == 0) return model->opsets[i].version;
    return 0;
}

bool assay__model_is_onnx(const struct assay__model *model)
{
    return !model->format || strcmp(model->format, "ONNX") == 0;
}

/* --- names ------------------------------------------------------------------------------------ */

/* A walk over the graphs counts the names, a second one replaces them. */
struct interning {
    struct assay__names *names; /* NULL: counting */
    size_t count, length;
};

static void take(struct interning *all, const char **name)
{
    if (!*name || !**name) return; /* "" is tested directly: nothing to gain */
    if (all->names) {
        *name = assay__names_add(all->names, *name);
        return;
    }
    all->count++;
    all->length += strlen(*name) + 1;
}

static void take_graph(struct interning *all, struct assay__graph *graph, int depth)
{
    if (depth > ASSAY__ONNX_DEPTH) return;
    for (size_t i = 0; i < graph->input_count; i++)
        take(all, &graph->inputs[i].name);
    struct assay__tensor *tensor;
    for (size_t i = 0; (tensor = assay__graph_tensor(graph, i)); i++)
        take(all, &tensor->name);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        take(all, &node->op);
        for (size_t k = 0; k < node->input_count; k++)
            take(all, &node->inputs[k]);
        for (size_t k = 0; k < node->output_count; k++)
            take(all, &node->outputs[k]);
        struct assay__graph *body;
        for (size_t k = 0; (body = assay__node_body(node, k)); k++)
            take_graph(all, body, depth + 1);
    }
    for (size_t i = 0; i < graph->value_count; i++)
        take(all, &graph->values[i].name);
    for (size_t i = 0; i < graph->output_count; i++)
        take(all, &graph->outputs[i].name);
}

int assay__model_intern(struct assay__model *model)
{
    struct interning all = {.names = NULL};
    if (model->names) return 0;
    take_graph(&all, &model->graph, 0);
    all.names = assay__names_new(all.count, all.length);
    if (!all.names) return ASSAY_ENOMEM;
    take_graph(&all, &model->graph, 0);
    model->names = all.names;
    model->graph.names = all.names;
    return 0;
}

/* --- metadata --------------------------------------------------------------------------------- */

/* metadata_props are pairs of text (StringStringEntryProto) among the fields of the model's
 * `extra`, which is kept as it was read. A lookup decodes as it goes; setting rebuilds `extra` in
 * the arena. There is only a handful of entries: nothing is indexed. */

/* The key and value of one entry; false if it is damaged. A missing field is an empty text. */
static bool read_entry(const struct assay__wire_field *entry, struct assay__wire_field *key,
                       struct assay__wire_field *value)
{
    struct assay__wire wire = assay__wire_over(entry->data, entry->size);
    struct assay__wire_field field;
    enum assay__wire_status status;
    *key = *value = (struct assay__wire_field){.size = 0};
    if (entry->number != MODEL_METADATA || entry->type != ASSAY__WIRE_BYTES) return false;
    while ((status = assay__wire_next(&wire, &field)) == ASSAY__WIRE_FIELD) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == ENTRY_KEY) *key = field;
        if (field.number == ENTRY_VALUE) *value = field;
    }
    return status == ASSAY__WIRE_END;
}

static bool is_text(const struct assay__wire_field *field, const char *text)
{
    size_t length = strlen(text);
    return field->size == length && (length == 0 || memcmp(field->data, text, length) == 0);
}

const char *assay__model_metadata(const struct assay__model *model, const char *key)
{
    struct assay__wire wire = assay__wire_over(model->extra, model->extra_size);
    struct assay__wire_field field, name, value;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (read_entry(&field, &name, &value) && is_text(&name, key))
            return value.size
                       ? assay__arena_strndup(model->arena, (const char *)value.data, value.size)
                       : "";
    return NULL;
}

static void put_varint(struct assay__buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        assay__buf_putc(out, (char)(value | 0x80));
    assay__buf_putc(out, (char)value);
}

static void put_bytes(struct assay__buf *out, uint32_t number, const char *bytes, size_t size)
{
    put_varint(out, (uint64_t)number << 3 | ASSAY__WIRE_BYTES);
    put_varint(out, size);
    assay__buf_add(out, bytes, size);
}

int assay__model_set_metadata(struct assay__model *model, const char *key, const char *value)
{
    struct assay__buf entry = {0}, all = {0};
    struct assay__wire wire = assay__wire_over(model->extra, model->extra_size);
    struct assay__wire_field field, name, old;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (!read_entry(&field, &name, &old) || !is_text(&name, key))
            assay__buf_add(&all, field.start, field.total);
    put_bytes(&entry, ENTRY_KEY, key, strlen(key));
    put_bytes(&entry, ENTRY_VALUE, value, strlen(value));
    put_bytes(&all, MODEL_METADATA, entry.data, entry.length);
    bool failed = entry.failed || all.failed;
    uint8_t *fresh = failed ? NULL : assay__arena_alloc(model->arena, all.length);
    if (fresh) {
        memcpy(fresh, all.data, all.length);
        model->extra = fresh;
        model->extra_size = all.length;
    }
    assay__buf_free(&entry);
    assay__buf_free(&all);
    return fresh ? 0 : ASSAY_ENOMEM;
}
