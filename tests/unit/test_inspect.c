/* test_inspect.c - what inspect says of a model and the difference of two: matching is a longest
 * common subsequence, checked against the plain recursion on random chains, and what was matched,
 * added and removed adds up. */
#include "harness.h"

#include "base/stats.h"
#include "inspect/inspect_diff.h"
#include "zoo/model_open.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const ops[] = {"Relu", "Sigmoid", "Tanh"};

/* A chain of unary operators, one per letter: 'a' Relu, 'b' Sigmoid, 'c' Tanh. Every node is
 * called prefix + number. */
static struct assay__inspect *chain(const char *letters, const char *prefix)
{
    struct assay__model *model = assay__model_new();
    struct assay__inspect *doc = NULL;
    struct assay__dim dims[] = {{2, ""}, {3, ""}};
    const struct assay__workload_options options = {.shapes_only = true};
    char in[32] = "x", out[32], name[32];
    size_t length = strlen(letters);
    CHECK(model);
    assay__graph_add_value(model, &model->graph.inputs, &model->graph.input_count, "x",
                           ASSAY__FLOAT32, 2, dims);
    for (size_t i = 0; i < length; i++) {
        snprintf(out, sizeof out, i + 1 < length ? "v%zu" : "y", i);
        snprintf(name, sizeof name, "%s%zu", prefix, i);
        const char *inputs[] = {in}, *outputs[] = {out};
        CHECK(assay__graph_add_node(model, &model->graph, ops[letters[i] - 'a'], name, inputs, 1,
                                    outputs, 1));
        memcpy(in, out, sizeof in);
    }
    assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "y",
                           ASSAY__FLOAT32, 2, dims);
    static struct assay__opset standard = {"", 17};
    model->opsets = &standard;
    model->opset_count = 1;
    model->ir_version = 8;
    struct assay_error error = {0};
    if (assay__inspect_new(model, "chain", false, &options, &doc, &error))
        fprintf(stderr, "  %s\n", error.message);
    CHECK(doc);
    return doc;
}

static size_t longest(const char *a, const char *b)
{
    if (!*a || !*b) return 0;
    if (*a == *b) return 1 + longest(a + 1, b + 1);
    size_t skip_a = longest(a + 1, b), skip_b = longest(a, b + 1);
    return skip_a > skip_b ? skip_a : skip_b;
}

static void test_matching_is_the_longest(void)
{
    struct assay__random random;
    assay__random_seed(&random, 4);
    for (int round = 0; round < 60; round++) {
        char a[12] = "", b[12] = "";
        size_t n = 1 + assay__random_below(&random, 9), k = 1 + assay__random_below(&random, 9);
        for (size_t i = 0; i < n; i++)
            a[i] = (char)('a' + assay__random_below(&random, 3));
        for (size_t i = 0; i < k; i++)
            b[i] = (char)('a' + assay__random_below(&random, 3));
        struct assay__inspect *first = chain(a, "first"), *second = chain(b, "second");
        struct assay__inspect_diff diff;
        CHECK_INT(assay__inspect_diff_make(first, second, &diff), 0);
        CHECK_INT((int)diff.counts[ASSAY__LAYER_SAME], (int)longest(a, b));
        CHECK_INT((int)diff.counts[ASSAY__LAYER_CHANGED], 0);
        CHECK_INT((int)(diff.counts[ASSAY__LAYER_SAME] + diff.counts[ASSAY__LAYER_REMOVED]),
                  (int)n);
        CHECK_INT((int)(diff.counts[ASSAY__LAYER_SAME] + diff.counts[ASSAY__LAYER_ADDED]), (int)k);
        CHECK_INT((int)diff.renamed, (int)diff.counts[ASSAY__LAYER_SAME]);
        CHECK(diff.equal == (strcmp(a, b) == 0));
        assay__inspect_diff_free(&diff);
        assay__inspect_free(first);
        assay__inspect_free(second);
    }
}

static void test_names_match_what_is_left(void)
{
    struct assay__inspect *first = chain("abc", "n"), *second = chain("acc", "n");
    struct assay__inspect_diff diff;
    CHECK_INT(assay__inspect_diff_make(first, second, &diff), 0);
    CHECK_INT((int)diff.counts[ASSAY__LAYER_SAME], 2);
    CHECK_INT((int)diff.counts[ASSAY__LAYER_CHANGED], 1); /* n1: Sigmoid became Tanh */
    bool seen = false;
    for (size_t i = 0; i < diff.pair_count; i++)
        if (diff.pairs[i].change == ASSAY__LAYER_CHANGED) {
            seen = true;
            CHECK(diff.pairs[i].by_name);
            CHECK_INT((int)diff.pairs[i].a, 1);
            CHECK_INT((int)diff.pairs[i].b, 1);
        }
    CHECK(seen);
    assay__inspect_diff_free(&diff);
    assay__inspect_free(first);
    assay__inspect_free(second);
}

/* x is 2x3 float32: every value has 24 bytes, and each node's input and output are alive
 * together. */
static void test_layers(void)
{
    struct assay__inspect *doc = chain("abc", "n");
    CHECK_INT((int)doc->layer_count, 3);
    for (size_t i = 0; i < doc->layer_count; i++) {
        CHECK(doc->layers[i].bytes == 48);
        CHECK(doc->layers[i].live_bytes == 48);
    }
    const struct assay_metric *peak = assay_metrics_get(doc->metrics,
                                                        "memory.activation.predicted");
    CHECK(peak);
    CHECK_INT(peak->state, ASSAY_DERIVED);
    CHECK(peak->value == 48);
    size_t *order = assay__inspect_order(doc, ASSAY__SORT_BYTES, doc->arena);
    CHECK(order);
    CHECK(order[0] == 0 && order[1] == 1 && order[2] == 2); /* equal weights: execution order */
    assay__inspect_free(doc);
}

static void test_open(void)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    bool zoo = false;
    CHECK_INT(assay__model_open("resnet50", &model, &zoo, &error), 0);
    CHECK(zoo && model);
    assay__model_free(model);
    CHECK_INT(assay__model_open("resnet5O", &model, &zoo, &error), ASSAY_ENOTFOUND);
    CHECK(!zoo && !model);
    CHECK(strstr(error.message, "cannot open 'resnet5O'") && strstr(error.message, "'resnet50'"));
    CHECK_INT(assay__model_open("none/resnet50", &model, &zoo, &error), ASSAY_ENOTFOUND);
    CHECK(!strstr(error.message, "zoo")); /* a path is a path */
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"matching_is_the_longest", test_matching_is_the_longest},
        {"names_match_what_is_left", test_names_match_what_is_left},
        {"layers", test_layers},
        {"open", test_open},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
