/* flow_fixture.h - bodies for If, Loop and Scan, built in memory. */
#ifndef ASSAY_TESTS_FLOW_FIXTURE_H
#define ASSAY_TESTS_FLOW_FIXTURE_H

#include "cost_fixture.h"

static inline struct assay__graph *flow_body(struct assay__model *model, const char *name)
{
    struct assay__graph *body = assay__arena_alloc(model->arena, sizeof *body);
    CHECK(body);
    body->name = name;
    return body;
}

static inline void flow_value(struct assay__model *model, struct assay__value **list, size_t *count,
                              const char *name, enum assay__dtype dtype, const char *shape)
{
    struct assay__dim dims[8];
    char names[8][32];
    int rank = fixture_dims(shape, dims, names);
    CHECK_INT(assay__graph_add_value(model, list, count, name, dtype, rank, dims), 0);
}

static inline void flow_in(struct assay__model *model, struct assay__graph *body, const char *name,
                           enum assay__dtype dtype, const char *shape)
{
    flow_value(model, &body->inputs, &body->input_count, name, dtype, shape);
}

static inline void flow_out(struct assay__model *model, struct assay__graph *body, const char *name,
                            enum assay__dtype dtype, const char *shape)
{
    flow_value(model, &body->outputs, &body->output_count, name, dtype, shape);
}

/* "Add a,b -> c" in the body. */
static inline struct assay__node *flow_node(struct assay__model *model, struct assay__graph *body,
                                            const char *text)
{
    char copy[256], *arrow, *state = NULL;
    const char *inputs[8], *outputs[8];
    size_t input_count = 0, output_count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    arrow = strstr(copy, " -> ");
    CHECK(arrow);
    *arrow = 0;
    for (char *word = strtok_r(arrow + 4, ",", &state); word; word = strtok_r(NULL, ",", &state))
        outputs[output_count++] = word;
    const char *op = strtok_r(copy, " ", &state);
    for (char *word; (word = strtok_r(NULL, ",", &state));)
        inputs[input_count++] = word;
    struct assay__node *node = assay__graph_add_node(model, body, op, op, inputs, input_count,
                                                     outputs, output_count);
    CHECK(node);
    return node;
}

static inline void flow_attach(struct assay__model *model, struct assay__node *node,
                               const char *name, struct assay__graph *body)
{
    struct assay__attr *attrs = assay__arena_array(model->arena, node->attr_count + 1,
                                                   sizeof *attrs);
    CHECK(attrs);
    if (node->attr_count) memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    attrs[node->attr_count++] = (struct assay__attr){
        .name = name, .type = ASSAY__ATTR_GRAPH, .g = body, .reference = "", .s = ""};
    node->attrs = attrs;
}

/* A branch of one node: x -> out. */
static inline struct assay__graph *flow_branch(struct assay__model *model, const char *op,
                                               const char *out)
{
    char text[128];
    struct assay__graph *body = flow_body(model, out);
    snprintf(text, sizeof text, "%s x -> %s", op, out);
    flow_node(model, body, text);
    flow_out(model, body, out, ASSAY__FLOAT32, "10");
    return body;
}

/* If on x[10] with these operators in the branches; condition 1, 0, or -1: not known. */
static inline struct assay__model *flow_if(const char *then, const char *other, int condition)
{
    struct assay__model *model = fixture_model(17);
    uint8_t value = (uint8_t)(condition > 0);
    fixture_input(model, "x", ASSAY__FLOAT32, "10");
    if (condition < 0)
        fixture_input(model, "c", ASSAY__BOOL, "");
    else
        fixture_scalar(model, "c", ASSAY__BOOL, &value);
    struct assay__node *node = fixture_node(model, "If c -> y");
    flow_attach(model, node, "then_branch", flow_branch(model, then, "t"));
    flow_attach(model, node, "else_branch", flow_branch(model, other, "e"));
    fixture_output(model, "y");
    return model;
}

/* Loop over v [2,4]: v = v × w, m times (-1: m is an input). */
static inline struct assay__model *flow_loop(int64_t m)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "v0", ASSAY__FLOAT32, "2,4");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,4");
    if (m < 0)
        fixture_input(model, "m", ASSAY__INT64, "");
    else
        fixture_scalar(model, "m", ASSAY__INT64, &m);
    struct assay__graph *body = flow_body(model, "body");
    flow_in(model, body, "i", ASSAY__INT64, "");
    flow_in(model, body, "go", ASSAY__BOOL, "");
    flow_in(model, body, "v", ASSAY__FLOAT32, "2,4");
    flow_node(model, body, "Identity go -> go_out");
    flow_node(model, body, "MatMul v,w -> v_out");
    flow_out(model, body, "go_out", ASSAY__BOOL, "");
    flow_out(model, body, "v_out", ASSAY__FLOAT32, "2,4");
    struct assay__node *node = fixture_node(model, "Loop m,,v0 -> y");
    flow_attach(model, node, "body", body);
    fixture_output(model, "y");
    return model;
}

/* Scan over x [7,2,4] with state [2,4]: h = h + x_t. */
static inline struct assay__model *flow_scan(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "h0", ASSAY__FLOAT32, "2,4");
    fixture_input(model, "x", ASSAY__FLOAT32, "7,2,4");
    struct assay__graph *body = flow_body(model, "body");
    flow_in(model, body, "h", ASSAY__FLOAT32, "2,4");
    flow_in(model, body, "xt", ASSAY__FLOAT32, "2,4");
    flow_node(model, body, "Add h,xt -> h_out");
    flow_out(model, body, "h_out", ASSAY__FLOAT32, "2,4");
    struct assay__node *node = fixture_node(model, "Scan h0,x -> y");
    assay__node_set_int(model, node, "num_scan_inputs", 1);
    flow_attach(model, node, "body", body);
    fixture_output(model, "y");
    return model;
}

#endif
