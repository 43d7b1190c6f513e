/* describe_layers.c - what the graph says about a layer, as text: the shapes and types that go in
 * and come out at the fixed inputs, its weights, and the attributes of the nodes it came from. For
 * a layer made of several nodes, values that stay inside are left out. An unknown shape is "?", and
 * a list of nothing but those is left out. Texts end at ASSAY__LAYER_TEXT bytes, with "…". */
#include "run/trial/describe.h"

#include "base/buf.h"
#include "base/text.h"

#include <string.h>

#define LIST_MOST 8    /* numbers of an attribute that are shown */
#define STRING_MOST 48 /* bytes of one that is text */

static const char more[] = "…";

/* --- shapes ----------------------------------------------------------------------------------- */

bool assay__describe_type(struct assay__buf *out, const struct assay__shapes *shapes,
                          const char *name)
{
    const struct assay__shape_entry *entry = shapes ? assay__shapes_get(shapes, name) : NULL;
    bool typed = entry && entry->dtype != ASSAY__UNDEFINED;
    if (!entry || entry->rank < 0)
        assay__buf_putc(out, '?');
    else if (entry->rank == 0)
        assay__buf_puts(out, "scalar");
    for (int d = 0; entry && d < entry->rank; d++) {
        const char *symbol = entry->dims[d] < 0 ? assay__shapes_symbol(shapes, entry->dims[d]) : "";
        if (d) assay__buf_putc(out, 'x');
        if (entry->dims[d] >= 0)
            assay__buf_printf(out, "%lld", (long long)entry->dims[d]);
        else
            assay__buf_printf(out, "%.32s", symbol && *symbol ? symbol : "?");
    }
    if (typed) assay__buf_printf(out, " %s", assay__dtype_name(entry->dtype));
    return typed || (entry && entry->rank >= 0);
}

/* A list that is being written. */
struct list {
    struct assay__buf text;
    const struct assay__shapes *shapes;
    bool known; /* at least one entry is known */
};

static void add_type(struct list *list, const char *name)
{
    if (list->text.length > ASSAY__LAYER_TEXT) return; /* cut there anyway */
    if (list->text.length) assay__buf_puts(&list->text, ", ");
    list->known |= assay__describe_type(&list->text, list->shapes, name);
}

/* The text in the arena, cut between characters; "" when nothing is known. Frees the list. */
static const char *close_list(struct assay__arena *arena, struct list *list)
{
    size_t length = list->text.length;
    const char *kept = "";
    if (list->text.failed) {
        assay__arena_fail(arena);
    } else if (list->known && length) {
        bool cut = length > ASSAY__LAYER_TEXT;
        if (cut) length = ASSAY__LAYER_TEXT - (sizeof more - 1);
        while (cut && length && ((unsigned char)list->text.data[length] & 0xc0) == 0x80)
            length--;
        kept = assay__arena_text(arena, "%.*s%s", (int)length, list->text.data, cut ? more : "");
    }
    assay__buf_free(&list->text);
    return kept;
}

/* --- what goes in and comes out --------------------------------------------------------------- */

struct group {
    const struct assay__graph *graph;
    const size_t *nodes;
    size_t count;
};

static size_t reads_of(const struct group *g, const char *name)
{
    size_t reads = 0;
    for (size_t i = 0; i < g->count; i++) {
        const struct assay__node *node = &g->graph->nodes[g->nodes[i]];
        for (size_t v = 0; v < node->input_count; v++)
            reads += strcmp(node->inputs[v], name) == 0;
    }
    return reads;
}

static bool made_inside(const struct group *g, const char *name)
{
    for (size_t i = 0; g->count > 1 && i < g->count; i++) {
        const struct assay__node *node = &g->graph->nodes[g->nodes[i]];
        for (size_t o = 0; o < node->output_count; o++)
            if (strcmp(node->outputs[o], name) == 0) return true;
    }
    return false;
}

/* Whether an earlier input of the group has this name: it is listed once. */
static bool seen_before(const struct group *g, size_t node_at, size_t input_at, const char *name)
{
    for (size_t i = 0; i <= node_at; i++) {
        const struct assay__node *node = &g->graph->nodes[g->nodes[i]];
        size_t end = i == node_at ? input_at : node->input_count;
        for (size_t v = 0; v < end; v++)
            if (strcmp(node->inputs[v], name) == 0) return true;
    }
    return false;
}

static void list_inputs(const struct assay__model_costs *costs, const struct group *g,
                        struct list *inputs, struct list *weights)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct assay__node *node = &g->graph->nodes[g->nodes[i]];
        for (size_t v = 0; v < node->input_count; v++) {
            const char *name = node->inputs[v];
            if (!name[0] || made_inside(g, name) || seen_before(g, i, v, name)) continue;
            bool weight = costs->constants &&
                          assay__map_get(costs->constants, name) != ASSAY__MAP_NONE;
            add_type(weight ? weights : inputs, name);
        }
    }
}

static void list_outputs(const struct assay__model_costs *costs, const struct group *g,
                         struct list *outputs)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct assay__node *node = &g->graph->nodes[g->nodes[i]];
        for (size_t o = 0; o < node->output_count; o++) {
            const char *name = node->outputs[o];
            size_t readers = costs->consumers ? assay__map_get(costs->consumers, name) : 0;
            size_t inside = g->count > 1 ? reads_of(g, name) : 0;
            if (readers == ASSAY__MAP_NONE) readers = 0;
            if (!name[0] || (inside && readers <= inside)) continue;
            if (readers == 0 && o > 0) continue; /* an optional one that is unused */
            add_type(outputs, name);
        }
    }
}

/* --- attributes ------------------------------------------------------------------------------- */

static void put_string(struct assay__buf *out, const char *text)
{
    size_t length = text ? strlen(text) : 0, end = length;
    if (length > STRING_MOST) {
        end = STRING_MOST;
        while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
            end--;
    }
    assay__buf_add(out, text ? text : "", end);
    if (end < length) assay__buf_puts(out, more);
}

/* Sizes read as 3x3, lists of anything else as [0, 2, 1]. */
static void put_list(struct assay__buf *out, const struct assay__attr *attr)
{
    bool sizes = assay__text_is_one_of(attr->name, "kernel_shape strides dilations output_shape");
    size_t shown = attr->count < LIST_MOST ? attr->count : LIST_MOST;
    if (!sizes) assay__buf_putc(out, '[');
    for (size_t i = 0; i < shown; i++) {
        if (i) assay__buf_puts(out, sizes ? "x" : ", ");
        if (attr->type == ASSAY__ATTR_INTS)
            assay__buf_printf(out, "%lld", (long long)attr->ints[i]);
        else if (attr->type == ASSAY__ATTR_FLOATS)
            assay__buf_printf(out, "%g", (double)attr->floats[i]);
        else
            put_string(out, attr->strings[i]);
    }
    if (shown < attr->count) assay__buf_printf(out, ", … %zu in total", attr->count);
    if (!sizes) assay__buf_putc(out, ']');
}

static void put_tensor(struct assay__buf *out, const struct assay__tensor *tensor)
{
    assay__buf_puts(out, "tensor");
    for (int d = 0; tensor && d < tensor->rank; d++)
        assay__buf_printf(out, "%s%lld", d ? "x" : " ", (long long)tensor->dims[d]);
    if (tensor) assay__buf_printf(out, " %s", assay__dtype_name(tensor->dtype));
}

static void put_attribute(struct assay__buf *out, const struct assay__attr *attr)
{
    put_string(out, attr->name);
    assay__buf_putc(out, ' ');
    switch (attr->type) {
    case ASSAY__ATTR_INT: assay__buf_printf(out, "%lld", (long long)attr->i); break;
    case ASSAY__ATTR_FLOAT: assay__buf_printf(out, "%g", (double)attr->f); break;
    case ASSAY__ATTR_STRING: put_string(out, attr->s); break;
    case ASSAY__ATTR_INTS:
    case ASSAY__ATTR_FLOATS:
    case ASSAY__ATTR_STRINGS: put_list(out, attr); break;
    case ASSAY__ATTR_TENSOR: put_tensor(out, attr->t); break;
    case ASSAY__ATTR_GRAPH:
        assay__buf_printf(out, "graph of %zu nodes", attr->g ? attr->g->node_count : 0);
        break;
    default: assay__buf_puts(out, "?"); break;
    }
}

static void list_attributes(const struct group *g, struct list *out)
{
    for (size_t i = 0; i < g->count && out->text.length <= ASSAY__LAYER_TEXT; i++) {
        const struct assay__node *node = &g->graph->nodes[g->nodes[i]];
        if (!node->attr_count) continue;
        if (out->text.length) assay__buf_puts(&out->text, "; ");
        if (g->count > 1) {
            put_string(&out->text, node->op);
            assay__buf_puts(&out->text, ": ");
        }
        for (size_t a = 0; a < node->attr_count && out->text.length <= ASSAY__LAYER_TEXT; a++) {
            if (a) assay__buf_puts(&out->text, ", ");
            put_attribute(&out->text, &node->attrs[a]);
        }
        out->known = true;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

int assay__describe_layer(struct assay__arena *arena, const struct assay__model_costs *costs,
                          const size_t *nodes, size_t count, struct assay__layer *layer)
{
    const struct group g = {costs->graph, nodes, count};
    const struct assay__shapes *shapes = costs->inner && count && costs->inner[nodes[0]]
                                             ? costs->inner[nodes[0]]
                                             : costs->shapes;
    struct list inputs = {.shapes = shapes}, weights = {.shapes = shapes},
                outputs = {.shapes = shapes}, attributes = {0};
    list_inputs(costs, &g, &inputs, &weights);
    list_outputs(costs, &g, &outputs);
    list_attributes(&g, &attributes);
    layer->inputs = close_list(arena, &inputs);
    layer->weights = close_list(arena, &weights);
    layer->outputs = close_list(arena, &outputs);
    layer->attributes = close_list(arena, &attributes);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}

int assay__describe_constants(struct assay__model_costs *costs)
{
    const struct assay__graph *graph = costs->graph;
    costs->constants = assay__map_new();
    int code = costs->constants ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && code == 0; i++)
        code = assay__map_set(costs->constants, graph->initializers[i].name, i);
    for (size_t i = 0; i < graph->sparse_count && code == 0; i++)
        if (graph->sparse_tensors)
            code = assay__map_set(costs->constants, graph->sparse_tensors[i].name, i);
    for (size_t i = 0; i < graph->node_count && code == 0; i++)
        if (strcmp(graph->nodes[i].op, "Constant") == 0 && graph->nodes[i].output_count)
            code = assay__map_set(costs->constants, graph->nodes[i].outputs[0], i);
    return code;
}
