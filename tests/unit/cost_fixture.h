/* cost_fixture.h - a node in one line, for the tests of costs and memory:
 *
 *   "Conv x[1,3,8,8] w[4,3,3,3] - z:i8[4] n{16} -> y[1,4,6,6]"
 *
 * An input is a name and its shape (float32, or the type behind ':'), "-" is an absent one, n{16}
 * an int64 initializer; "x" alone refers to a value that is there. An output with a shape states
 * it, as value_info does, for operators that shape inference does not know. Attributes are "a=1
 * b=1,2 c=linear d=~0.5" (an integer, a list, a text, a float; "b=3," is a list of one). */
#ifndef ASSAY_TESTS_COST_FIXTURE_H
#define ASSAY_TESTS_COST_FIXTURE_H

#include "model_fixture.h"

#include "cost/cost.h"

static inline enum assay__dtype cost_dtype(const char *name)
{
    static const struct {
        const char *name;
        enum assay__dtype dtype;
    } types[] = {{"f32", ASSAY__FLOAT32}, {"f16", ASSAY__FLOAT16}, {"i8", ASSAY__INT8},
                 {"u8", ASSAY__UINT8},    {"i32", ASSAY__INT32},   {"i64", ASSAY__INT64},
                 {"i4", ASSAY__INT4},     {"u4", ASSAY__UINT4},    {"b", ASSAY__BOOL},
                 {"s", ASSAY__STRING}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0) return types[i].dtype;
    harness_fail(__FILE__, __LINE__, name);
    return ASSAY__UNDEFINED;
}

/* Splits "x:i8[2,3]" into the name, the type and the shape (NULL: none). */
static inline const char *cost_split(char *token, enum assay__dtype *dtype, char **shape)
{
    char *open = strchr(token, '['), *colon = strchr(token, ':');
    *shape = NULL;
    *dtype = ASSAY__FLOAT32;
    if (open) {
        char *close = strchr(open, ']');
        CHECK(close);
        *open = *close = 0;
        *shape = open + 1;
    }
    if (colon) {
        *colon = 0;
        *dtype = cost_dtype(colon + 1);
    }
    return token;
}

static inline const char *cost_input(struct assay__model *model, char *token)
{
    enum assay__dtype dtype;
    char *shape, *brace = strchr(token, '{');
    if (strcmp(token, "-") == 0) return "";
    if (brace) {
        *brace = 0;
        int64_t values[8];
        size_t count = 0;
        for (char *at = brace + 1; *at && *at != '}'; at += strspn(at, ","))
            values[count++] = strtoll(at, &at, 10);
        fixture_ints(model, assay__arena_strdup(model->arena, token), count, values);
        return assay__arena_strdup(model->arena, token);
    }
    const char *name = cost_split(token, &dtype, &shape);
    if (shape) fixture_input(model, name, dtype, shape);
    return assay__arena_strdup(model->arena, name);
}

static inline const char *cost_output(struct assay__model *model, char *token)
{
    enum assay__dtype dtype;
    struct assay__dim dims[8];
    char *shape, names[8][32];
    if (strcmp(token, "-") == 0) return "";
    const char *name = assay__arena_strdup(model->arena, cost_split(token, &dtype, &shape));
    if (!shape) return name;
    int rank = fixture_dims(shape, dims, names);
    CHECK_INT(assay__graph_add_value(model, &model->graph.values, &model->graph.value_count, name,
                                     dtype, rank, dims),
              0);
    return name;
}

static inline void cost_attributes(struct assay__model *model, struct assay__node *node,
                                   const char *text)
{
    char copy[256], *state = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        char *value = strchr(word, '=');
        CHECK(value);
        *value++ = 0;
        const char *name = assay__arena_strdup(model->arena, word);
        if (strchr(value, ',')) {
            int64_t list[8];
            size_t count = 0;
            for (char *at = value; *at; at += strspn(at, ",")) {
                CHECK(count < 8 && strchr("-0123456789", *at));
                list[count++] = strtoll(at, &at, 10);
            }
            CHECK_INT(assay__node_set_ints(model, node, name, list, count), 0);
        } else if (*value == '~') {
            CHECK_INT(assay__node_set_float(model, node, name, strtof(value + 1, NULL)), 0);
        } else if (*value >= '0' && *value <= '9') {
            CHECK_INT(assay__node_set_int(model, node, name, strtoll(value, NULL, 10)), 0);
        } else {
            CHECK_INT(assay__node_set_string(model, node, name, value), 0);
        }
    }
}

/* Adds the node; domain "ms" is com.microsoft. */
static inline struct assay__node *cost_node(struct assay__model *model, const char *domain,
                                            const char *line, const char *attributes)
{
    char copy[512], *state = NULL;
    const char *inputs[24], *outputs[8];
    size_t input_count = 0, output_count = 0;
    bool after = false;
    snprintf(copy, sizeof copy, "%s", line);
    const char *op = strtok_r(copy, " ", &state);
    for (char *token; (token = strtok_r(NULL, " ", &state));) {
        if (strcmp(token, "->") == 0)
            after = true;
        else if (after)
            outputs[output_count++] = cost_output(model, token);
        else
            inputs[input_count++] = cost_input(model, token);
    }
    struct assay__node *node = assay__graph_add_node(model, &model->graph, op, op, inputs,
                                                     input_count, outputs, output_count);
    CHECK(node);
    node->domain = strcmp(domain, "ms") == 0      ? "com.microsoft"
                   : strcmp(domain, "nchwc") == 0 ? "com.microsoft.nchwc"
                   : strcmp(domain, "ml") == 0    ? "ai.onnx.ml"
                                                  : domain;
    cost_attributes(model, node, attributes);
    return node;
}

/* The cost of the last node; frees the model. */
static inline struct assay__cost cost_last(struct assay__model *model)
{
    struct assay__cost costs[16];
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK(model->graph.node_count <= 16);
    CHECK_INT(assay__cost_graph(model, shapes, costs, NULL), 0);
    struct assay__cost last = costs[model->graph.node_count - 1];
    assay__shapes_free(shapes);
    assay__model_free(model);
    return last;
}

static inline struct assay__cost cost_line(const char *domain, const char *line,
                                           const char *attributes)
{
    struct assay__model *model = fixture_model(21);
    cost_node(model, domain, line, attributes);
    return cost_last(model);
}

#endif
