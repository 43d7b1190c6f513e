/* write_inspect_dot.c - the graph in Graphviz's language. A node per layer, coloured by its share
 * of the FLOPs; an edge per tensor with its type and shape, dashed if a body (If, Loop, Scan) reads
 * a tensor of the outer graph. Weights are not drawn: a layer's label has the bytes that it reads.
 * Names are in quoted labels with backslash, quote and line ends escaped and control characters
 * replaced; identifiers are numbers. */
#include "base/text.h"
#include "report/report_model.h"

#include <math.h>

#define NAME_LIMIT 60 /* columns of a name in a label */

struct drawing {
    const struct assay__inspect *inspect;
    struct assay__buf *out;
    struct assay__map *producers; /* value -> layer; graph input i is layer_count + i */
    double most;                  /* FLOPs of the largest layer */
};

static void quote(struct assay__buf *out, const char *text)
{
    struct assay__buf fitted = {0}, safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *whole = assay__buf_text(&safe);
    size_t width = assay__text_width(whole);
    assay__text_fit(&fitted, whole, width < NAME_LIMIT ? width : NAME_LIMIT, 1);
    for (const char *c = assay__buf_text(&fitted); *c; c++) {
        if (*c == '"' || *c == '\\') assay__buf_putc(out, '\\');
        assay__buf_putc(out, *c);
    }
    assay__buf_drop(&safe, out);
    assay__buf_drop(&fitted, out);
}

static void put_layer(struct drawing *d, size_t index)
{
    const struct assay__inspect_layer *layer = &d->inspect->layers[index];
    struct assay__buf text = {0};
    double flops = layer->cost->flops, share = flops > 0 && d->most > 0 ? flops / d->most : 0;
    assay__inspect_op(&text, layer->node->domain, layer->node->op);
    assay__buf_printf(d->out, "  n%zu [label=\"", index);
    quote(d->out, text.data);
    assay__buf_puts(d->out, "\\n");
    quote(d->out, layer->name);
    assay__buf_printf(d->out, "\\n%s", assay__scaled(flops, "FLOP").text);
    if (layer->cost->bytes_weights > 0)
        assay__buf_printf(d->out, ", weights %s",
                          assay__scaled(layer->cost->bytes_weights, "B").text);
    /* the square root spreads the small shares, of which there are many */
    assay__buf_printf(d->out, "\", fillcolor=\"0.06 %.3f 1.0\"%s];\n", sqrt(share) * 0.75,
                      isfinite(flops) ? "" : ", style=\"filled,dashed\"");
    assay__buf_drop(&text, d->out);
}

static void put_edge(struct drawing *d, const char *name, size_t to, const char *style)
{
    size_t from = *name ? assay__map_get(d->producers, name) : ASSAY__MAP_NONE;
    if (from == ASSAY__MAP_NONE) return;
    const struct assay__shape_entry *entry = assay__shapes_get(d->inspect->analysis->shapes, name);
    struct assay__buf label = {0};
    if (from >= d->inspect->layer_count)
        assay__buf_printf(d->out, "  i%zu", from - d->inspect->layer_count);
    else
        assay__buf_printf(d->out, "  n%zu", from);
    if (entry && entry->dtype != ASSAY__UNDEFINED)
        assay__buf_printf(&label, "%s ", assay__dtype_name(entry->dtype));
    assay__inspect_shape(&label, d->inspect->analysis->shapes, entry);
    if (to == ASSAY__MAP_NONE) {
        assay__buf_puts(d->out, " -> ");
    } else {
        assay__buf_printf(d->out, " -> n%zu [label=\"", to);
        quote(d->out, label.data);
        assay__buf_printf(d->out, "\"%s];\n", style);
    }
    assay__buf_drop(&label, d->out);
}

static void put_captures(struct drawing *d, const struct assay__graph *body, size_t to, int depth);

static void put_bodies(struct drawing *d, const struct assay__node *node, size_t to, int depth)
{
    for (size_t k = 0; k < node->attr_count && depth < 100; k++) {
        const struct assay__attr *attr = &node->attrs[k];
        if (attr->g) put_captures(d, attr->g, to, depth + 1);
        for (size_t n = 0; attr->graphs && n < attr->count; n++)
            if (attr->graphs[n]) put_captures(d, attr->graphs[n], to, depth + 1);
    }
}

static void put_captures(struct drawing *d, const struct assay__graph *body, size_t to, int depth)
{
    for (size_t i = 0; i < body->node_count; i++) {
        for (size_t k = 0; k < body->nodes[i].input_count; k++)
            put_edge(d, body->nodes[i].inputs[k], to, ", style=dashed");
        put_bodies(d, &body->nodes[i], to, depth);
    }
}

static int index_producers(struct drawing *d)
{
    const struct assay__inspect *inspect = d->inspect;
    const struct assay__graph *graph = &inspect->model->graph;
    d->producers = assay__map_new();
    int code = d->producers ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->input_count && !code; i++)
        if (assay__inspect_is_input(inspect, &graph->inputs[i]))
            code = assay__map_set(d->producers, graph->inputs[i].name, inspect->layer_count + i);
    for (size_t i = 0; i < inspect->layer_count && !code; i++)
        for (size_t k = 0; k < inspect->layers[i].node->output_count && !code; k++)
            if (*inspect->layers[i].node->outputs[k])
                code = assay__map_set(d->producers, inspect->layers[i].node->outputs[k], i);
    return code;
}

static void put_ends(struct drawing *d)
{
    const struct assay__graph *graph = &d->inspect->model->graph;
    for (size_t i = 0; i < graph->input_count; i++) {
        if (!assay__inspect_is_input(d->inspect, &graph->inputs[i])) continue;
        assay__buf_printf(d->out, "  i%zu [label=\"", i);
        quote(d->out, graph->inputs[i].name);
        assay__buf_puts(d->out, "\", shape=ellipse, fillcolor=\"#e8f0fe\"];\n");
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        assay__buf_printf(d->out, "  o%zu [label=\"", i);
        quote(d->out, graph->outputs[i].name);
        assay__buf_puts(d->out, "\", shape=ellipse, fillcolor=\"#e6f4ea\"];\n");
        size_t from = assay__map_get(d->producers, graph->outputs[i].name);
        if (from == ASSAY__MAP_NONE) continue;
        put_edge(d, graph->outputs[i].name, ASSAY__MAP_NONE, "");
        assay__buf_printf(d->out, "o%zu;\n", i);
    }
}

void assay__inspect_dot(const struct assay__inspect *inspect, struct assay__buf *out)
{
    struct drawing d = {.inspect = inspect, .out = out};
    if (index_producers(&d)) out->failed = true;
    for (size_t i = 0; i < inspect->layer_count; i++)
        if (inspect->layers[i].cost->flops > d.most) d.most = inspect->layers[i].cost->flops;
    assay__buf_puts(out, "digraph model {\n  graph [label=\"");
    quote(out, inspect->name);
    assay__buf_puts(out, "\", labelloc=t, fontname=\"Helvetica\"];\n"
                         "  node [shape=box, style=\"filled\", fillcolor=white, "
                         "fontname=\"Helvetica\", fontsize=10];\n"
                         "  edge [fontname=\"Helvetica\", fontsize=8];\n");
    for (size_t i = 0; i < inspect->layer_count && !out->failed; i++)
        put_layer(&d, i);
    if (d.producers) put_ends(&d);
    for (size_t i = 0; i < inspect->layer_count && !out->failed; i++) {
        const struct assay__node *node = inspect->layers[i].node;
        for (size_t k = 0; k < node->input_count; k++)
            put_edge(&d, node->inputs[k], i, "");
        put_bodies(&d, node, i, 0);
    }
    assay__buf_puts(out, "}\n");
    assay__map_free(d.producers);
}
