/* advise_graphs.h - the cases of test_advise_rules.c whose rules look at the graph: its operators,
 * chains of them, and groups that could be fused. */
#ifndef ASSAY_TESTS_ADVISE_GRAPHS_H
#define ASSAY_TESTS_ADVISE_GRAPHS_H

#include "advise_fixture.h"

#define TRIAL (&p->trials[0])
#define LAYER(i) (TRIAL->layers.items[i])
/* Changes the profile so that the rule finds something; near: so that it just does not. */
#define CASE(name) static void name(struct assay_profile *p, bool near)

/* --- graph ------------------------------------------------------------------------------------ */

static void one_op(struct assay_profile *p, const char *op, double time_us)
{
    LAYER(1).op = op;
    LAYER(1).time_ns = time_us * US;
    if (time_us <= 80) return;
    LAYER(2).time_ns = 100 * US; /* the layers stay within the 1 ms of the whole */
    LAYER(2).flops = 8e6;
}
CASE(transposes)
{
    one_op(p, "Transpose", near ? 49 : 80);
}
CASE(casts)
{
    one_op(p, "Cast", near ? 29 : 80);
}
CASE(moves)
{
    one_op(p, "Concat", near ? 99 : 200);
}
CASE(reorders)
{
    one_op(p, "ReorderInput", near ? 49 : 80);
}

/* Two nodes in a row, of which the first takes 50 us; near: the engine ran neither as a layer. */
static void two_nodes(struct assay_profile *p, bool near, const char *op, const char *attribute,
                      int64_t first, int64_t second)
{
    const struct node_spec nodes[] = {{op, "one", {"x"}, "h", attribute, first},
                                      {op, "two", {"h"}, "g", attribute, second},
                                      {"Relu", "r", {"g"}, "y", NULL, 0}};
    const double times[] = {50, 60, 800};
    set_model(p, nodes, 3, NULL, 0, NULL);
    if (near)
        layers_by_node(p, &nodes[2], &times[2], 1);
    else
        layers_by_node(p, nodes, times, 3);
}
CASE(cast_chain)
{
    two_nodes(p, near, "Cast", "to", 10, 1);
}
CASE(view_chain)
{
    two_nodes(p, near, "Flatten", "axis", 1, 1);
}
CASE(transpose_pair)
{
    two_nodes(p, near, "Transpose", NULL, 0, 0);
}
/* both of them: 110 us */
CASE(identities)
{
    two_nodes(p, near, "Identity", NULL, 0, 0);
}
CASE(unused_weights)
{
    const struct node_spec nodes[] = {{"MatMul", "a", {"x", "w"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 2, {64, 64}},
                                          {"lost", ASSAY__FLOAT32, 1, {near ? 255 : 256}}};
    set_model(p, nodes, 1, weights, 2, NULL);
}
CASE(constant_outputs)
{
    const struct node_spec nodes[] = {{"MatMul", "a", {"x", "w"}, "y", NULL, 0},
                                      {"Neg", "n", {"k"}, "y2", NULL, 0}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 2, {64, 64}},
                                          {"k", ASSAY__FLOAT32, 2, {128, near ? 127 : 128}}};
    set_model(p, nodes, 2, weights, 2, "y2");
}

/* --- fusion ----------------------------------------------------------------------------------- */

/* The nodes as layers of their own; near: all of them are one layer. */
static void group(struct assay_profile *p, bool near, const struct node_spec *nodes,
                  const double *times, size_t count, const struct weight_spec *weights,
                  size_t weight_count)
{
    set_model(p, nodes, count, weights, weight_count, NULL);
    layers_by_node(p, nodes, times, count);
    if (!near) return;
    struct assay__layer *all = TRIAL->layers.items;
    all[0].from = assay__arena_array(p->arena, count, sizeof *all[0].from);
    CHECK(all[0].from != NULL);
    for (size_t i = 0; i < count; i++)
        all[0].from[i] = nodes[i].name;
    all[0].from_count = count;
    TRIAL->layers.count = 1;
}
/* 600 us; all but the longest: 100 us */
CASE(fusion_norm)
{
    const struct node_spec nodes[] = {{"Conv", "c", {"x", "w"}, "h", NULL, 0},
                                      {"BatchNormalization", "n", {"h", "s", "s"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 4, {8, 8, 1, 1}},
                                          {"s", ASSAY__FLOAT32, 1, {8}}};
    image_input(p);
    group(p, near, nodes, (double[]){500, 100}, 2, weights, 2);
}
CASE(fusion_activation)
{
    const struct node_spec nodes[] = {{"Conv", "c", {"x", "w"}, "h", NULL, 0},
                                      {"Relu", "r", {"h"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 4, {8, 8, 1, 1}}};
    image_input(p);
    group(p, near, nodes, (double[]){500, 200}, 2, weights, 1);
}
/* 8 x 50 us and the Div of 100 us: 400 us could go */
CASE(fusion_layer_norm)
{
    const struct node_spec nodes[] = {
        {"ReduceMean", "m", {"x"}, "mean", NULL, 0}, {"Sub", "s", {"x", "mean"}, "d", NULL, 0},
        {"Pow", "p", {"d", "two"}, "q", NULL, 0},    {"ReduceMean", "v", {"q"}, "var", NULL, 0},
        {"Add", "e", {"var", "two"}, "t", NULL, 0},  {"Sqrt", "r", {"t"}, "u", NULL, 0},
        {"Div", "n", {"d", "u"}, "z", NULL, 0},      {"Mul", "g", {"z", "two"}, "k", NULL, 0},
        {"Add", "b", {"k", "two"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"two", ASSAY__FLOAT32, 1, {1}}};
    group(p, near, nodes, (double[]){50, 50, 50, 50, 50, 50, 100, 50, 50}, 9, weights, 1);
}
/* 5 x 50 us: 200 us could go */
CASE(fusion_gelu)
{
    const struct node_spec nodes[] = {{"Div", "d", {"x", "one"}, "a", NULL, 0},
                                      {"Erf", "e", {"a"}, "b", NULL, 0},
                                      {"Add", "s", {"b", "one"}, "c", NULL, 0},
                                      {"Mul", "m", {"x", "c"}, "f", NULL, 0},
                                      {"Mul", "h", {"f", "one"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"one", ASSAY__FLOAT32, 1, {1}}};
    group(p, near, nodes, (double[]){50, 50, 50, 50, 50}, 5, weights, 1);
}
/* 300 us, the longest 100 us */
CASE(fusion_attention)
{
    const struct node_spec nodes[] = {{"MatMul", "q", {"x", "k"}, "s", NULL, 0},
                                      {"Div", "d", {"s", "c"}, "t", NULL, 0},
                                      {"Softmax", "p", {"t"}, "u", NULL, 0},
                                      {"MatMul", "o", {"u", "k"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"k", ASSAY__FLOAT32, 2, {64, 64}},
                                          {"c", ASSAY__FLOAT32, 1, {1}}};
    group(p, near, nodes, (double[]){100, 50, 50, 100}, 4, weights, 2);
}
/* 4 x 50 us: 150 us could go */
CASE(fusion_hardswish)
{
    const struct node_spec nodes[] = {{"Add", "s", {"x", "3"}, "a", NULL, 0},
                                      {"Clip", "c", {"a", "0", "6"}, "b", NULL, 0},
                                      {"Mul", "m", {"x", "b"}, "d", NULL, 0},
                                      {"Div", "h", {"d", "6"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"0", ASSAY__FLOAT32, 0, {0}},
                                          {"3", ASSAY__FLOAT32, 0, {0}},
                                          {"6", ASSAY__FLOAT32, 0, {0}}};
    group(p, near, nodes, (double[]){50, 50, 50, 50}, 4, weights, 3);
}
/* the convolution's 50 us stay, the longer ones of Mul and Add could go */
CASE(fusion_affine)
{
    const struct node_spec nodes[] = {{"Conv", "c", {"x", "w"}, "a", NULL, 0},
                                      {"Mul", "m", {"a", "2"}, "b", NULL, 0},
                                      {"Add", "t", {"b", "2"}, "y", NULL, 0}};
    const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 4, {64, 64, 1, 1}},
                                          {"2", ASSAY__FLOAT32, 1, {1}}};
    group(p, near, nodes, (double[]){50, 100, 100}, 3, weights, 2);
}

#endif
