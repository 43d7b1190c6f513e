/* model_cases.h - a model with a bit of everything, and what the tests of the reader and the writer
 * do with it. */
#ifndef ASSAY_TESTS_MODEL_CASES_H
#define ASSAY_TESTS_MODEL_CASES_H

#include "model_fixture.h"

#include "model/onnx/onnx.h"

/* --- a model with a bit of everything --------------------------------------------------------- */

static inline void add_attr_graph(struct assay__model *model, struct assay__node *node,
                                  const char *name, const char *from)
{
    CHECK_INT(assay__node_set_int(model, node, name, 0), 0); /* then turned into a graph */
    struct assay__attr *attr = &node->attrs[node->attr_count - 1];
    const char *inputs[] = {from}, *outputs[] = {name};
    attr->type = ASSAY__ATTR_GRAPH;
    attr->g = assay__arena_alloc(model->arena, sizeof *attr->g);
    attr->g->name = name;
    CHECK(assay__graph_add_node(model, attr->g, "Neg", "inner", inputs, 1, outputs, 1));
    CHECK_INT(assay__graph_add_value(model, &attr->g->outputs, &attr->g->output_count, name,
                                     ASSAY__FLOAT32, -1, NULL),
              0);
}

static inline struct assay__model *everything(void)
{
    static const int64_t pads[] = {1, 1, 1, 1}, shape[] = {0, -1};
    static const float scales[] = {0.5f, -2.0f};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,3,8,8");
    fixture_input(model, "flag", ASSAY__BOOL, "");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,3,3,3");
    fixture_ints(model, "shape", 2, shape);
    struct assay__node *node = fixture_node(model, "Conv x,w -> c");
    CHECK_INT(assay__node_set_ints(model, node, "pads", pads, 4), 0);
    CHECK_INT(assay__node_set_string(model, node, "auto_pad", "NOTSET"), 0);
    node = fixture_node(model, "LeakyRelu c -> r");
    CHECK_INT(assay__node_set_float(model, node, "alpha", 0.25f), 0);
    fixture_node(model, "Reshape r,shape -> f");
    node = fixture_node(model, "If flag -> y");
    add_attr_graph(model, node, "then_branch", "f");
    add_attr_graph(model, node, "else_branch", "f");
    node = fixture_node(model, "Custom y, -> z");
    node->domain = "org.example";
    CHECK_INT(assay__node_set_floats(model, node, "scales", scales, 2), 0);
    fixture_output(model, "y");
    fixture_output(model, "z");
    return model;
}

static inline void write_temporary(const struct assay__model *model, char path[64])
{
    struct assay_error error = {.code = 0};
    snprintf(path, 64, "/tmp/assay-test-model-%ld.onnx", (long)getpid());
    if (assay__model_write(model, path, &error)) harness_fail(__FILE__, __LINE__, error.message);
}

static inline void check_same_print(const struct assay__model *a, const struct assay__model *b)
{
    char first[17], second[17];
    CHECK_INT(assay__model_fingerprint(a, first), 0);
    CHECK_INT(assay__model_fingerprint(b, second), 0);
    CHECK_STR(first, second);
}

#endif
