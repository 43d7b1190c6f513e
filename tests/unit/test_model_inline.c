/* test_model_inline.c - model-local functions: the same operators as the onnx package's inliner
 * leaves (tests/oracle/make_functions.py), names that stay apart, and functions that try to
 * explode. */
#include "model_cases.h"

#define FUNCTIONS ASSAY_TEST_ROOT "/tests/fixtures/models/functions/"

struct operators {
    char names[64][64];
    int counts[64];
    size_t count;
};

static void count_operators(const struct assay__graph *graph, struct operators *found)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        char name[64];
        size_t at = 0;
        snprintf(name, sizeof name, "%s:%s", node->domain, node->op);
        while (at < found->count && strcmp(found->names[at], name) != 0)
            at++;
        CHECK(at < 64);
        if (at == found->count) snprintf(found->names[found->count++], 64, "%s", name);
        found->counts[at]++;
        for (size_t k = 0; k < node->attr_count; k++)
            if (node->attrs[k].g) count_operators(node->attrs[k].g, found);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void expect_operators(const struct assay__model *model, const char *path)
{
    struct operators found = {.count = 0};
    char lines[64][80], *expected = NULL;
    struct assay__buf text = {.data = NULL};
    size_t length = 0;
    count_operators(&model->graph, &found);
    for (size_t i = 0; i < found.count; i++)
        snprintf(lines[i], sizeof lines[i], "%d %s\n", found.counts[i], found.names[i]);
    qsort(lines, found.count, sizeof lines[0], by_text);
    for (size_t i = 0; i < found.count; i++)
        assay__buf_puts(&text, lines[i]);
    CHECK_INT(assay__file_read(path, 1 << 16, &expected, &length, NULL), 0);
    CHECK_STR(text.data, expected);
    free(expected);
    assay__buf_free(&text);
}

/* No two nodes of the model may share a name: ONNX Runtime refuses that. */
static void expect_names_apart(const struct assay__graph *graph, struct assay__map *names)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        if (*node->name) CHECK(assay__map_get(names, node->name) == ASSAY__MAP_NONE);
        CHECK_INT(assay__map_set(names, node->name, 1), 0);
        for (size_t k = 0; k < node->attr_count; k++) {
            CHECK_STR(node->attrs[k].reference, "");
            if (node->attrs[k].g) expect_names_apart(node->attrs[k].g, names);
        }
    }
}

static void test_as_the_oracle(void)
{
    static const char *const names[] = {"nested", "optional", "branches"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256], ops[256], temporary[64];
        struct assay_error error = {.code = 0};
        snprintf(path, sizeof path, "%s%s.onnx", FUNCTIONS, names[i]);
        snprintf(ops, sizeof ops, "%s%s.ops", FUNCTIONS, names[i]);
        struct assay__model *model = fixture_read(path);
        CHECK(model->function_count > 0);
        if (assay__model_inline(model, &error)) harness_fail(__FILE__, __LINE__, error.message);
        CHECK_INT(model->function_count, 0);
        CHECK_INT(assay__model_check(model, &error), 0);
        expect_operators(model, ops);
        struct assay__map *taken = assay__map_new();
        expect_names_apart(&model->graph, taken);
        assay__map_free(taken);
        write_temporary(model, temporary); /* and none comes back with the file */
        struct assay__model *again = fixture_read(temporary);
        unlink(temporary);
        CHECK_INT(again->function_count, 0);
        expect_operators(again, ops);
        assay__model_free(again);
        CHECK_INT(assay__model_inline(model, &error), 0); /* nothing left to do */
        assay__model_free(model);
    }
}

/* The attribute of the call wins over the default, inside a branch too. */
static void test_attributes(void)
{
    struct assay__model *model = fixture_read(FUNCTIONS "nested.onnx");
    float seen[8];
    size_t count = 0;
    CHECK_INT(assay__model_inline(model, NULL), 0);
    for (size_t i = 0; i < model->graph.node_count; i++) {
        const struct assay__node *node = &model->graph.nodes[i];
        const struct assay__attr *branch = assay__node_attr(node, "then_branch");
        if (strcmp(node->op, "Constant") == 0)
            seen[count++] = assay__node_float(node, "value_float", 0);
        for (size_t k = 0; branch && k < branch->g->node_count; k++)
            if (strcmp(branch->g->nodes[k].op, "Constant") == 0)
                seen[count++] = assay__node_float(&branch->g->nodes[k], "value_float", 0);
    }
    static const float expected[] = {3, 3, 3, 2, 2, 2};
    CHECK_INT(count, 6);
    CHECK_INT(memcmp(seen, expected, sizeof expected), 0);
    assay__model_free(model);
}

/* --- made by hand ----------------------------------------------------------------------------- */

/* function NAME (a) => (r): `calls` nodes of operator `op` in a row, from a to r. */
static void pb_function(struct assay__buf *out, const char *name, const char *op, int calls,
                        const char *result)
{
    struct assay__buf function = {.data = NULL}, node = {.data = NULL};
    pb_text(&function, 1, name);
    pb_text(&function, 4, "a");
    pb_text(&function, 5, result);
    pb_text(&function, 10, "local");
    for (int i = 0; i < calls; i++) {
        char from[16], to[16];
        snprintf(from, sizeof from, "v%d", i);
        snprintf(to, sizeof to, "v%d", i + 1);
        pb_text(&node, 1, i ? from : "a");
        pb_text(&node, 2, i == calls - 1 ? "r" : to);
        pb_text(&node, 4, op);
        pb_text(&node, 7, *op == 'f' ? "local" : "");
        pb_message(&function, 7, &node);
    }
    pb_message(out, 25, &function);
}

/* A model that calls function f0. */
static void pb_caller(struct assay__buf *out, const char *function)
{
    struct assay__buf graph = {.data = NULL}, node = {.data = NULL}, value = {.data = NULL};
    pb_text(&node, 1, "x");
    pb_text(&node, 2, "y");
    pb_text(&node, 4, function);
    pb_text(&node, 7, "local");
    pb_message(&graph, 1, &node);
    pb_text(&value, 1, "x");
    pb_message(&graph, 11, &value);
    pb_text(&value, 1, "y");
    pb_message(&graph, 12, &value);
    pb_model(out, &graph);
}

static int inline_bytes(struct assay__buf *bytes, size_t *nodes, struct assay_error *error)
{
    struct assay__model *model = NULL;
    CHECK_INT(pb_parse(bytes, &model, error), 0);
    int code = assay__model_inline(model, error);
    if (!code) CHECK_INT(assay__model_check(model, error), 0);
    if (nodes) *nodes = model->graph.node_count;
    assay__model_free(model);
    assay__buf_free(bytes);
    return code;
}

/* f0 calls f1 `fan` times, f1 calls f2 …; the last one has `leaves` nodes. */
static void pb_tower(struct assay__buf *out, int height, int fan, int leaves)
{
    pb_caller(out, "f0");
    for (int i = 0; i < height; i++) {
        char name[16], next[16];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(next, sizeof next, "f%d", i + 1);
        bool last = i == height - 1;
        pb_function(out, name, last ? "Neg" : next, last ? leaves : fan, "r");
    }
}

static void test_bombs(void)
{
    struct assay__buf bytes = {.data = NULL};
    struct assay_error error = {.code = 0};
    size_t nodes = 0;
    pb_tower(&bytes, 10, 2, 3); /* 2^9 calls of three nodes */
    CHECK_INT(inline_bytes(&bytes, &nodes, &error), 0);
    CHECK_INT(nodes, 512 * 3);
    pb_tower(&bytes, 60, 2, 1); /* 2^59 */
    CHECK_INT(inline_bytes(&bytes, NULL, &error), ASSAY_ELIMIT);
    CHECK_HAS(error.message, "expand to more than 1048576 nodes");
    pb_tower(&bytes, 60, 10, 0); /* calls of nothing count too */
    CHECK_INT(inline_bytes(&bytes, NULL, &error), ASSAY_ELIMIT);
    pb_tower(&bytes, 5000, 1, 1);
    CHECK_INT(inline_bytes(&bytes, NULL, &error), ASSAY_ELIMIT);
    CHECK_HAS(error.message, "deeper than 128");
}

static void test_refused(void)
{
    struct assay__buf bytes = {.data = NULL};
    struct assay_error error = {.code = 0};
    pb_caller(&bytes, "f0");
    pb_function(&bytes, "f0", "f1", 1, "r");
    pb_function(&bytes, "f1", "f0", 1, "r");
    CHECK_INT(inline_bytes(&bytes, NULL, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "function 'local:f0' calls itself");
    pb_caller(&bytes, "f0");
    pb_function(&bytes, "f0", "Neg", 1, "r");
    pb_function(&bytes, "f0", "Abs", 1, "r");
    CHECK_INT(inline_bytes(&bytes, NULL, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'local:f0' is defined twice");
}

/* A function that hands its input through: an Identity keeps the names apart. */
static void test_passed_through(void)
{
    struct assay__buf bytes = {.data = NULL};
    struct assay__model *model = NULL;
    pb_caller(&bytes, "f0");
    pb_function(&bytes, "f0", "Neg", 0, "a");
    CHECK_INT(pb_parse(&bytes, &model, NULL), 0);
    CHECK_INT(assay__model_inline(model, NULL), 0);
    CHECK_INT(model->graph.node_count, 1);
    CHECK_STR(model->graph.nodes[0].op, "Identity");
    CHECK_STR(model->graph.nodes[0].inputs[0], "x");
    CHECK_STR(model->graph.nodes[0].outputs[0], "y");
    assay__model_free(model);
    assay__buf_free(&bytes);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"as_the_oracle", test_as_the_oracle},
        {"attributes", test_attributes},
        {"bombs", test_bombs},
        {"refused", test_refused},
        {"passed_through", test_passed_through},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
