/* net_blocks.c - builds the common parts of transformers: heads, attention and positions in plain
 * operators, as exporters write them. Sequence and batch sizes are never named in a shape:
 * Reshape's 0 copies them, so that they can stay symbolic.
 *
 * Calls that add a node or a constant are never nested twice in one argument list: C does not
 * specify their order, and a model must be the same file with every compiler. */
#include "zoo/net_blocks.h"

#include <math.h>
#include <string.h>

const char *assay__zoo_rename(struct assay__net *net, const char *value, const char *name)
{
    const struct assay__graph *graph = net->graph;
    const char *copy = assay__net_text(net, "%s", name), **place = NULL;
    if (net->code) return "";
    if (graph->node_count) {
        const struct assay__node *last = &graph->nodes[graph->node_count - 1];
        for (size_t i = 0; i < last->output_count; i++)
            if (strcmp(last->outputs[i], value) == 0) place = &last->outputs[i];
    }
    if (!place) return assay__net_node_named(net, "Identity", ASSAY__NET_IN(value), copy);
    if (assay__map_has(net->names, copy))
        assay__net_fail(net, ASSAY_EINVAL, "two values named '%s'", copy);
    else if (assay__map_set(net->names, copy, 1))
        assay__net_no_memory(net);
    *place = copy;
    return copy;
}

void assay__zoo_output(struct assay__net *net, const char *value, const char *name,
                       const char *dims)
{
    assay__net_output(net, assay__zoo_rename(net, value, name), name, ASSAY__FLOAT32, dims);
}

const char *assay__zoo_gemm(struct assay__net *net, const char *x, const char *name, int64_t in,
                            int64_t out, double gain)
{
    const int64_t dims[] = {out, in};
    const char *weight = assay__net_part(net, name, "weight", 2, dims, 0, sqrt(gain / (double)in));
    const char *bias = assay__net_part(net, name, "bias", 1, &out, 0, 0.02);
    const char *y = assay__net_3(net, "Gemm", x, weight, bias);
    assay__net_attr_int(net, "transB", 1);
    return y;
}

const char *assay__zoo_length(struct assay__net *net, const char *value, int64_t axis)
{
    const char *shape = assay__net_1(net, "Shape", value);
    const char *length = assay__net_2(net, "Gather", shape, assay__net_index(net, axis));
    assay__net_attr_int(net, "axis", 0);
    return length;
}

const char *assay__zoo_range(struct assay__net *net, const char *count)
{
    const char *start = assay__net_index(net, 0), *step = assay__net_index(net, 1);
    return assay__net_3(net, "Range", start, count, step);
}

const char *assay__zoo_heads(struct assay__net *net, const char *x, int64_t heads, int64_t dim)
{
    static const int64_t order[] = {0, 2, 1, 3};
    const int64_t shape[] = {0, 0, heads, dim};
    return assay__net_transpose(net, assay__net_reshape(net, x, shape, 4), order, 4);
}

const char *assay__zoo_heads_across(struct assay__net *net, const char *x, int64_t heads,
                                    int64_t dim)
{
    static const int64_t order[] = {0, 2, 3, 1};
    const int64_t shape[] = {0, 0, heads, dim};
    return assay__net_transpose(net, assay__net_reshape(net, x, shape, 4), order, 4);
}

const char *assay__zoo_attend(struct assay__net *net, const char *q, const char *k, const char *v,
                              const char *mask, int64_t dim)
{
    const char *scale = assay__net_scalar(net, (float)(1 / sqrt((double)dim)));
    const char *scores = assay__net_2(net, "Mul", assay__net_2(net, "MatMul", q, k), scale);
    if (*mask) scores = assay__net_2(net, "Add", scores, mask);
    const char *weights = assay__net_1(net, "Softmax", scores);
    assay__net_attr_int(net, "axis", -1);
    return assay__net_2(net, "MatMul", weights, v);
}

const char *assay__zoo_merge(struct assay__net *net, const char *x, int64_t width)
{
    static const int64_t order[] = {0, 2, 1, 3};
    const int64_t shape[] = {0, 0, width};
    return assay__net_reshape(net, assay__net_transpose(net, x, order, 4), shape, 3);
}

const char *assay__zoo_causal_mask(struct assay__net *net, const char *query_positions,
                                   const char *key_positions)
{
    const int64_t column = 1, row = 0;
    const char *down = assay__net_2(net, "Unsqueeze", query_positions,
                                    assay__net_shape(net, &column, 1));
    const char *across = assay__net_2(net, "Unsqueeze", key_positions,
                                      assay__net_shape(net, &row, 1));
    const char *seen = assay__net_2(net, "LessOrEqual", across, down);
    const char *zero = assay__net_scalar(net, 0);
    return assay__net_3(net, "Where", seen, zero, assay__net_scalar(net, ASSAY__ZOO_HIDDEN));
}

int assay__zoo_divides(struct assay__zoo_params *params, const char *divisor_name, int64_t divisor,
                       const char *value_name, int64_t value)
{
    if (divisor > 0 && value % divisor == 0) return 0;
    return assay__zoo_refuse(params, "%s: %s=%lld does not divide %s=%lld", params->entry->name,
                             divisor_name, (long long)divisor, value_name, (long long)value);
}
