/* test_cost_flow.c - costs of control flow: the branch that is taken, a body times its trips, and
 * an honest NaN with its reason where neither is known. */
#include "flow_fixture.h"

static void test_if(void)
{
    CHECK_NEAR(cost_last(flow_if("Relu", "Sigmoid", 1)).flops, 10, 0);
    CHECK_NEAR(cost_last(flow_if("Relu", "Sigmoid", 0)).flops, 40, 0);
    struct assay__cost cost = cost_last(flow_if("Relu", "Sigmoid", -1));
    CHECK(isnan(cost.flops));
    CHECK_STR(cost.why, "branch unknown");
    CHECK_NEAR(cost.macs, 0, 0);        /* in both */
    CHECK_NEAR(cost.bytes_read, 40, 0); /* in both */
    cost = cost_last(flow_if("Relu", "Abs", -1));
    CHECK_NEAR(cost.flops, 10, 0); /* whichever is taken */
    CHECK(!cost.why);
    cost = cost_last(flow_if("Relu", "NoSuchOperator", 1)); /* what is not taken does not matter */
    CHECK_NEAR(cost.flops, 10, 0);
    cost = cost_last(flow_if("Relu", "NoSuchOperator", 0));
    CHECK(isnan(cost.flops));
    CHECK_STR(cost.why, "no cost formula");
}

static void test_loop(void)
{
    struct assay__cost cost = cost_last(flow_loop(5));
    CHECK_NEAR(cost.macs, 5 * 32, 0);
    CHECK_NEAR(cost.flops, 5 * 64, 0);
    CHECK_NEAR(cost.bytes_weights, 5 * 64, 0); /* the weights of the outer graph, at each trip */
    CHECK_NEAR(cost.bytes_read, 5 * (64 + 32), 0);
    CHECK_NEAR(cost.bytes_written, 5 * 32, 0);
    CHECK(!cost.why);
    CHECK_NEAR(cost_last(flow_loop(0)).flops, 0, 0);
    cost = cost_last(flow_loop(-1));
    CHECK(isnan(cost.flops) && isnan(cost.bytes_read));
    CHECK_STR(cost.why, "trip count unknown");
}

/* do v = v × w; while (float(++n) < float(limit)), at most m times (-1: not bounded);
 * limit -1: an input. */
static struct assay__model *while_loop(int64_t m, int64_t limit)
{
    struct assay__model *model = fixture_model(17);
    const int64_t zero = 0, one = 1;
    const uint8_t yes = 1;
    fixture_input(model, "v0", ASSAY__FLOAT32, "2,4");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,4");
    fixture_scalar(model, "zero", ASSAY__INT64, &zero);
    fixture_scalar(model, "one", ASSAY__INT64, &one);
    fixture_scalar(model, "yes", ASSAY__BOOL, &yes);
    if (m >= 0) fixture_scalar(model, "m", ASSAY__INT64, &m);
    if (limit < 0)
        fixture_input(model, "limit", ASSAY__INT64, "");
    else
        fixture_scalar(model, "limit", ASSAY__INT64, &limit);
    struct assay__graph *body = flow_body(model, "body");
    flow_in(model, body, "i", ASSAY__INT64, "");
    flow_in(model, body, "go", ASSAY__BOOL, "");
    flow_in(model, body, "n", ASSAY__INT64, "");
    flow_in(model, body, "v", ASSAY__FLOAT32, "2,4");
    flow_node(model, body, "Add n,one -> n_out");
    assay__node_set_int(model, flow_node(model, body, "Cast n_out -> a"), "to", 1);
    assay__node_set_int(model, flow_node(model, body, "Cast limit -> b"), "to", 1);
    flow_node(model, body, "Less a,b -> go_out");
    flow_node(model, body, "MatMul v,w -> v_out");
    flow_out(model, body, "go_out", ASSAY__BOOL, "");
    flow_out(model, body, "n_out", ASSAY__INT64, "");
    flow_out(model, body, "v_out", ASSAY__FLOAT32, "2,4");
    const char *inputs[] = {m < 0 ? "" : "m", m < 0 ? "yes" : "", "zero", "v0"};
    const char *outputs[] = {"last", "y"};
    struct assay__node *node = assay__graph_add_node(model, &model->graph, "Loop", "Loop", inputs,
                                                     4, outputs, 2);
    CHECK(node);
    flow_attach(model, node, "body", body);
    fixture_output(model, "y");
    return model;
}

static void test_while(void)
{
    CHECK_NEAR(cost_last(while_loop(-1, 5)).macs, 5 * 32, 0);
    CHECK_NEAR(cost_last(while_loop(-1, 0)).macs, 32, 0); /* the condition is computed after it */
    CHECK_NEAR(cost_last(while_loop(3, 5)).macs, 3 * 32, 0);
    CHECK_NEAR(cost_last(while_loop(9, 5)).macs, 5 * 32, 0);
    struct assay__cost cost = cost_last(while_loop(-1, -1));
    CHECK(isnan(cost.macs));
    CHECK_STR(cost.why, "trip count unknown");
    CHECK(isnan(cost_last(while_loop(-1, 1000000)).macs)); /* it is not walked that often */
}

static void test_scan(void)
{
    struct assay__cost cost = cost_last(flow_scan());
    CHECK_NEAR(cost.flops, 7 * 8, 0);
    CHECK_NEAR(cost.bytes_read, 7 * 64, 0);
    CHECK_NEAR(cost.bytes_weights, 0, 0);
}

/* A loop of 3 trips around an If whose branch is known. */
static void test_nested(void)
{
    struct assay__model *model = fixture_model(17);
    int64_t three = 3;
    uint8_t yes = 1;
    fixture_input(model, "x", ASSAY__FLOAT32, "10");
    fixture_scalar(model, "m", ASSAY__INT64, &three);
    fixture_scalar(model, "c", ASSAY__BOOL, &yes);
    struct assay__graph *body = flow_body(model, "body");
    flow_in(model, body, "i", ASSAY__INT64, "");
    flow_in(model, body, "go", ASSAY__BOOL, "");
    flow_node(model, body, "Identity go -> go_out");
    struct assay__node *inner = flow_node(model, body, "If c -> z");
    flow_attach(model, inner, "then_branch", flow_branch(model, "Tanh", "t"));
    flow_attach(model, inner, "else_branch", flow_branch(model, "Sigmoid", "e"));
    flow_out(model, body, "go_out", ASSAY__BOOL, "");
    flow_out(model, body, "z", ASSAY__FLOAT32, "10");
    struct assay__node *node = fixture_node(model, "Loop m,, -> y");
    node->input_count = 2;
    flow_attach(model, node, "body", body);
    fixture_output(model, "y");
    CHECK_NEAR(cost_last(model).flops, 30, 0);
}

/* An If on x[10] whose taken branch is such an If, `levels` deep; the innermost is Relu. */
static struct assay__model *deep(int levels)
{
    struct assay__model *model = flow_if("Relu", "Sigmoid", 1);
    for (int i = 1; i < levels; i++) { /* each time what is there becomes the branch */
        struct assay__graph *body = flow_body(model, "deeper");
        body->nodes = model->graph.nodes;
        body->node_count = body->node_capacity = model->graph.node_count;
        flow_out(model, body, body->nodes[0].outputs[0], ASSAY__FLOAT32, "10");
        model->graph.nodes = NULL;
        model->graph.node_count = model->graph.node_capacity = 0;
        char text[64];
        snprintf(text, sizeof text, "If c -> y%d", i);
        struct assay__node *node = fixture_node(model, text);
        flow_attach(model, node, "then_branch", body);
        flow_attach(model, node, "else_branch", flow_branch(model, "Sigmoid", "e"));
    }
    return model;
}

/* Bodies in bodies: the cost comes from the innermost; deeper than shapes are followed it is
 * unknown. */
static void test_deep(void)
{
    CHECK_NEAR(cost_last(deep(10)).flops, 10, 0);
    struct assay__cost cost = cost_last(deep(24));
    CHECK(isnan(cost.flops) && cost.why);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"if", test_if},     {"loop", test_loop},     {"while", test_while},
        {"scan", test_scan}, {"nested", test_nested}, {"deep", test_deep},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
