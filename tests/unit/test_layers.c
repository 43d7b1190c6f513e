/* test_layers.c - layer timing of the ort engine: graphs with markers compute the same bits,
 * every node is there, and origins are right. A node whose time is known: test_layers_spin.c.
 * Models: tests/oracle/make_layer_models.py. */
#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_layers.h"
#include "base/file.h"
#include "layers_fixture.h"

static const char *const all_models[] = {"if",      "loop",   "scan",     "sequence", "strings",
                                         "empty",   "random", "split",    "lstm",     "dynamic",
                                         "fusions", "types",  "constants"};
#define ALL_COUNT (sizeof all_models / sizeof all_models[0])

/* --- markers in a graph, without an engine ---------------------------------------------------- */

static size_t count_markers_on(const struct assay__graph *graph, const char *value)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].domain, ASSAY__MARKER_DOMAIN) == 0 &&
            strcmp(graph->nodes[i].inputs[0], value) == 0)
            count++;
    return count;
}

static bool body_reads(const struct assay__graph *graph, const char *value)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++)
            if (strcmp(graph->nodes[i].inputs[k], value) == 0) return true;
    return false;
}

static struct assay__model *marked_fixture(const char *name,
                                           const struct assay__mark_options *options,
                                           struct assay__mark_plan *plan)
{
    char path[1024];
    fixture_path(path, sizeof path, name);
    struct assay__model *model = read_model(path);
    CHECK_INT(assay__markers_insert(model, options, plan, NULL), 0);
    return model;
}

static void test_insert_on_each_consumed_output(void)
{
    struct assay__mark_plan plan;
    struct assay__model *model = marked_fixture("split", NULL, &plan);
    const struct assay__graph *graph = &model->graph;
    CHECK_INT(count_markers_on(graph, "x"), 1);
    CHECK_INT(count_markers_on(graph, "a"), 1);
    CHECK_INT(count_markers_on(graph, "b"), 1);
    CHECK_INT(count_markers_on(graph, "c"), 1);
    CHECK_INT(count_markers_on(graph, "unused"), 0);
    CHECK_INT(count_markers_on(graph, "mid"), 1); /* an output that is also consumed */
    CHECK_INT(count_markers_on(graph, "y"), 1);   /* dangling */
    CHECK_INT(plan.mark_count, 8);
    CHECK_INT(plan.node_count, 5);
    CHECK_INT(graph->node_count, 5 + 8);
    CHECK_STR(graph->outputs[0].name, "mid");
    CHECK_STR(graph->outputs[1].name, "y");
    CHECK(plan.marks[0].input);
    CHECK_INT(plan.marks[1].index, 0);
    CHECK_INT(plan.marks[7].index, 4);
    /* Nobody but the marker reads a marked value. */
    static const char *const marked[] = {"x", "a", "b", "c", "mid", "ra", "eb"};
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; strcmp(graph->nodes[i].domain, ASSAY__MARKER_DOMAIN) != 0 &&
                           k < graph->nodes[i].input_count;
             k++)
            for (size_t m = 0; m < sizeof marked / sizeof marked[0]; m++)
                CHECK(strcmp(graph->nodes[i].inputs[k], marked[m]) != 0);
    CHECK_INT(assay__model_check(model, NULL), 0);
    assay__model_free(model);
}

static void test_insert_renames_in_bodies(void)
{
    struct assay__mark_plan plan;
    struct assay__model *model = marked_fixture("if", NULL, &plan);
    CHECK_INT(count_markers_on(&model->graph, "hidden"), 1);
    CHECK_INT(count_markers_on(&model->graph, "side"), 1);
    CHECK_INT(count_markers_on(&model->graph, "w1"), 0); /* a constant */
    const struct assay__node *chooser = NULL;
    for (size_t i = 0; i < model->graph.node_count; i++)
        if (strcmp(model->graph.nodes[i].op, "If") == 0) chooser = &model->graph.nodes[i];
    CHECK(chooser != NULL);
    const struct assay__graph *then = assay__node_attr(chooser, "then_branch")->g;
    CHECK(!body_reads(then, "hidden"));
    CHECK(body_reads(then, "w1"));
    CHECK(body_reads(then, "t0")); /* its own value keeps its name */
    CHECK(!body_reads(assay__node_attr(chooser, "else_branch")->g, "side"));
    assay__model_free(model);
}

static void test_insert_leaves_sequences(void)
{
    struct assay__mark_plan plan;
    struct assay__model *model = marked_fixture("sequence", NULL, &plan);
    CHECK_INT(count_markers_on(&model->graph, "parts"), 0);
    CHECK_INT(count_markers_on(&model->graph, "more"), 0);
    CHECK_INT(count_markers_on(&model->graph, "part"), 1);
    CHECK_INT(count_markers_on(&model->graph, "joined"), 1);
    CHECK(plan.node_marked[0]);
    CHECK(!plan.node_marked[1]);
    CHECK(plan.node_marked[2]);
    CHECK(!plan.node_marked[3]);
    assay__model_free(model);
}

static void test_insert_chosen_nodes(void)
{
    static const bool only_last[] = {false, false, false, false, true};
    struct assay__mark_options options = {.nodes = only_last};
    struct assay__mark_plan plan;
    struct assay__model *model = marked_fixture("split", &options, &plan);
    CHECK_INT(plan.mark_count, 2); /* the input and the last node */
    CHECK_INT(count_markers_on(&model->graph, "x"), 1);
    CHECK_INT(count_markers_on(&model->graph, "y"), 1);
    assay__model_free(model);
}

static void test_random_is_seen(void)
{
    char path[1024];
    for (size_t i = 0; i < ALL_COUNT; i++) {
        fixture_path(path, sizeof path, all_models[i]);
        struct assay__model *model = read_model(path);
        CHECK_INT(assay__graph_is_random(&model->graph), strcmp(all_models[i], "random") == 0);
        assay__model_free(model);
    }
}

/* --- the same bits ---------------------------------------------------------------------------- */

static void save_optimized(struct opened *opened, const char *path)
{
    struct assay__timed timed;
    struct assay_error error = {0};
    struct assay__timed_options options = {
        .path = opened->session->model_path, .optimization = ASSAY__ORT_OPT_ALL, .save_path = path};
    if (assay__timed_open(opened->session, &options, &timed, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    assay__timed_close(&timed);
}

static void check_same_bits(struct opened *opened, const char *name, const char *folder)
{
    char saved[1024], marked[1024];
    struct assay_error error = {0};
    struct assay__timed plain, timed;
    struct assay__mark_plan plan;
    CHECK_INT(assay__path_join(folder, "saved.onnx", saved, sizeof saved), 0);
    CHECK_INT(assay__path_join(folder, "marked.onnx", marked, sizeof marked), 0);
    save_optimized(opened, saved);
    struct assay__model *model = read_model(saved);
    CHECK_INT(assay__markers_insert(model, NULL, &plan, NULL), 0);
    CHECK_INT(assay__model_write(model, marked, NULL), 0);
    struct assay__timed_options options = {
        .path = marked, .optimization = ASSAY__ORT_OPT_NONE, .mark_count = plan.mark_count};
    if (assay__timed_open(opened->session, &options, &timed, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    CHECK_INT(assay__timed_borrow(opened->session, &plain, NULL), 0);
    for (int run = 0; run < 3; run++) {
        CHECK_INT(assay__timed_run(&plain, NULL, NULL), 0);
        CHECK_INT(assay__timed_run(&timed, NULL, NULL), 0);
        CHECK_INT(timed.log.count, plan.mark_count);
        CHECK_INT(timed.log.dropped, 0);
        CHECK_INT(timed.log.copies, 0);
        for (size_t i = 1; i < timed.log.count; i++)
            CHECK(timed.log.events[i].entry_ns >= timed.log.events[i - 1].exit_ns);
        if (strcmp(name, "random") == 0) continue;
        for (size_t i = 0; i < plain.output_count; i++)
            CHECK_NEAR(assay__values_difference(&opened->session->ort, opened->session->allocator,
                                                plain.outputs[i], timed.outputs[i]),
                       0, 0);
    }
    assay__timed_close(&timed);
    assay__timed_close(&plain);
    assay__model_free(model);
}

static void test_same_bits(void)
{
    char folder[512];
    find_library();
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    for (size_t i = 0; i < ALL_COUNT; i++) {
        struct opened opened = open_fixture(all_models[i]);
        printf("  %s\n", all_models[i]);
        check_same_bits(&opened, all_models[i], folder);
        close_fixture(&opened);
    }
    assay__folder_remove(folder);
}

static void test_difference_says_no(void)
{
    struct opened opened = open_fixture("split");
    struct assay__timed plain, again;
    const struct assay__ort *ort = &opened.session->ort;
    CHECK_INT(assay__timed_borrow(opened.session, &plain, NULL), 0);
    CHECK_INT(assay__timed_borrow(opened.session, &again, NULL), 0);
    CHECK_INT(assay__timed_run(&plain, NULL, NULL), 0);
    CHECK_INT(assay__timed_run(&again, NULL, NULL), 0);
    CHECK_NEAR(assay__values_difference(ort, opened.session->allocator, plain.outputs[0],
                                        again.outputs[0]),
               0, 0);
    void *data = NULL;
    assay__ort_ignore(ort, ort->get_tensor_mutable_data(again.outputs[0], &data));
    float largest = 0, *numbers = data;
    for (int i = 0; i < 8; i++)
        largest = fmaxf(largest, fabsf(numbers[i]));
    numbers[0] += 0.5f * largest;
    double found = assay__values_difference(ort, opened.session->allocator, plain.outputs[0],
                                            again.outputs[0]);
    CHECK(found > 0.3 && found <= 0.51);
    numbers[0] = NAN;
    CHECK(isinf(assay__values_difference(ort, opened.session->allocator, plain.outputs[0],
                                         again.outputs[0])));
    assay__timed_close(&plain);
    assay__timed_close(&again);
    close_fixture(&opened);
}

/* --- every layer is there --------------------------------------------------------------------- */

/* What must hold for any result over node list of the optimised graph. */
static void check_result(const struct assay__layers *result, struct opened *opened)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__flat flat;
    CHECK_INT(assay__flat_make(&opened->model->graph, true, arena, &flat), 0);
    CHECK(result->count > 0);
    for (size_t i = 0; i < result->count; i++) {
        const struct assay__layer *layer = &result->items[i];
        CHECK(layer->name[0] != '\0' && layer->op[0] != '\0');
        CHECK_STR(layer->provider, "CPUExecutionProvider");
        CHECK(isnan(layer->time_ns) == (layer->state == ASSAY_UNAVAILABLE));
        CHECK(isnan(layer->time_ns) || layer->time_ns >= 0);
        CHECK(!isnan(layer->time_ns) || layer->note[0] != '\0');
        CHECK(isnan(layer->host_enqueue_ns) && isnan(layer->flops) && isnan(layer->bytes));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(result->items[k].name, layer->name) != 0);
        /* Each origin is a node of the model and belongs to one layer only. */
        for (size_t f = 0; f < layer->from_count; f++) {
            size_t owners = 0;
            bool known = false;
            for (size_t n = 0; n < flat.graph.node_count; n++)
                known |= strcmp(assay__layers_node_name(&flat.graph.nodes[n]), layer->from[f]) == 0;
            CHECK(known);
            for (size_t k = 0; k < result->count; k++)
                for (size_t g = 0; g < result->items[k].from_count; g++)
                    owners += strcmp(result->items[k].from[g], layer->from[f]) == 0;
            CHECK_INT(owners, 1);
        }
    }
    assay__arena_free(arena);
}

/* Layers stand in execution order: nothing before what it reads. Checked through the origins'
 * order in the model, for models whose nodes are written in one possible order. */
static void check_order(const struct assay__layers *result, const char *earlier, const char *later)
{
    size_t at[2] = {SIZE_MAX, SIZE_MAX};
    for (size_t i = 0; i < result->count; i++)
        for (size_t f = 0; f < result->items[i].from_count; f++) {
            if (strcmp(result->items[i].from[f], earlier) == 0) at[0] = i;
            if (strcmp(result->items[i].from[f], later) == 0) at[1] = i;
        }
    CHECK(at[0] != SIZE_MAX && at[1] != SIZE_MAX);
    CHECK(at[0] < at[1]);
}

static void test_every_layer(void)
{
    for (size_t i = 0; i < ALL_COUNT; i++) {
        struct opened opened = open_fixture(all_models[i]);
        struct assay__layers result = measure(&opened, ASSAY_LAYERS_AUTO, 0.15);
        printf("  %s: %zu layers, engine %.1f us, factor %.2f. %s\n", all_models[i], result.count,
               result.engine_ns / 1e3, result.scale_factor, result.reason);
        CHECK_STR(result.method, "markers");
        CHECK(!strstr(result.reason, "differ by up to"));
        CHECK(!strstr(result.reason, "copy"));
        CHECK(result.engine_ns > 0);
        CHECK(result.scale_factor > 0);
        CHECK(result.sessions >= 1);
        check_result(&result, &opened);
        for (size_t k = 0; k < result.count; k++) /* scaled by the factor: not measured */
            CHECK(result.items[k].state != ASSAY_MEASURED);
        close_fixture(&opened);
    }
}

static void test_control_flow_layers(void)
{
    struct opened opened = open_fixture("if");
    struct assay__layers result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.15);
    const struct assay__layer *chooser = layer_named(&result, "choose");
    CHECK(chooser && chooser->time_ns > 0);
    check_order(&result, "hidden_only_in_branch", "choose");
    check_order(&result, "side_only_in_other_branch", "choose");
    check_order(&result, "choose", "last");
    /* the branch that is taken has rows, the other has none */
    CHECK_STR(layer_named(&result, "t0")->op, "MatMul");
    CHECK(layer_named(&result, "t0")->time_ns > 0);
    check_order(&result, "t0", "t");
    check_order(&result, "t", "choose");
    CHECK_INT(result.count, 7);
    close_fixture(&opened);
    opened = open_fixture("loop");
    result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.15);
    check_order(&result, "scale_only_in_body", "repeat");
    CHECK_STR(layer_named(&result, "repeat")->op, "Loop");
    CHECK_STR(layer_named(&result, "next")->op, "Add");
    CHECK_HAS(layer_named(&result, "next")->note, "5"); /* trips */
    CHECK_STR(layer_named(&result, "last")->note, "");
    CHECK_INT(result.count, 8);
    close_fixture(&opened);
    opened = open_fixture("scan");
    result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.15);
    check_order(&result, "recur", "last");
    CHECK(layer_named(&result, "recur")->time_ns > 0);
    CHECK_HAS(layer_named(&result, "out")->note, "6");
    close_fixture(&opened);
}

static void test_sequence_layers(void)
{
    struct opened opened = open_fixture("sequence");
    struct assay__layers result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.15);
    const struct assay__layer *split = layer_named(&result, "split_to_sequence");
    CHECK(split && isnan(split->time_ns));
    CHECK_HAS(split->note, "cannot pass through a marker:");
    CHECK(layer_named(&result, "take")->time_ns > 0);
    CHECK(isnan(layer_named(&result, "insert")->time_ns));
    CHECK(layer_named(&result, "join")->time_ns > 0);
    check_order(&result, "before", "split_to_sequence");
    check_order(&result, "split_to_sequence", "take");
    check_order(&result, "take", "insert");
    check_order(&result, "insert", "join");
    close_fixture(&opened);
}

static void test_random_layers(void)
{
    struct opened opened = open_fixture("random");
    struct assay__layers result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.15);
    CHECK_HAS(result.reason, "random");
    const struct assay__layer *noise = layer_named(&result, "no_inputs");
    CHECK(noise != NULL);
    if (isnan(noise->time_ns)) CHECK_HAS(noise->note, "before the first marker");
    CHECK(layer_named(&result, "like")->time_ns > 0);
    close_fixture(&opened);
}

static void test_off_and_again(void)
{
    struct opened opened = open_fixture("split");
    struct assay__layers result = measure(&opened, ASSAY_LAYERS_OFF, 0);
    CHECK_INT(result.count, 0);
    CHECK(isnan(result.engine_ns));
    result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.1);
    size_t first = result.count;
    result = measure(&opened, ASSAY_LAYERS_MARKERS,
                     0.1); /* the first result is gone, the second whole */
    CHECK_INT(result.count, first);
    close_fixture(&opened);
}

/* --- the other methods ------------------------------------------------------------------------ */

static void test_engine_method(void)
{
    static const char *const names[] = {"if", "sequence", "fusions", "strings"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct opened opened = open_fixture(names[i]);
        struct assay__layers result = measure(&opened, ASSAY_LAYERS_ENGINE, 0.3);
        CHECK_STR(result.method, "engine");
        CHECK(result.slowdown > 0);
        CHECK_HAS(result.reason, "times as long");
        CHECK(isnan(result.engine_ns));
        check_result(&result, &opened);
        for (size_t k = 0; k < result.count; k++)
            CHECK_INT(result.items[k].state, ASSAY_MEASURED);
        if (i == 0) { /* nodes of the branches are part of the If */
            CHECK(layer_named(&result, "choose") != NULL);
            check_order(&result, "hidden_only_in_branch", "choose");
            for (size_t k = 0; k < result.count; k++)
                CHECK(strcmp(result.items[k].op, "Tanh") != 0);
        }
        close_fixture(&opened);
    }
}

static void test_isolated_method(void)
{
    static const char *const names[] = {"if", "loop", "split", "lstm", "empty", "random"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct opened opened = open_fixture(names[i]);
        struct assay__layers result = measure(&opened, ASSAY_LAYERS_ISOLATED, 20);
        CHECK_STR(result.method, "isolated");
        CHECK(result.engine_ns > 0);
        check_result(&result, &opened);
        for (size_t k = 0; k < result.count; k++)
            CHECK_STR(result.items[k].note, "alone, hot cache");
        close_fixture(&opened);
    }
}

static void test_isolated_sequences(void)
{
    struct opened opened = open_fixture("sequence");
    struct assay__layers result = measure(&opened, ASSAY_LAYERS_ISOLATED, 20);
    check_result(&result, &opened);
    CHECK(!isnan(layer_named(&result, "split_to_sequence")->time_ns)); /* takes a tensor */
    CHECK(isnan(layer_named(&result, "take")->time_ns));               /* takes a sequence */
    CHECK_HAS(layer_named(&result, "take")->note, "cannot be run alone");
    CHECK_HAS(result.reason, "have no time");
    close_fixture(&opened);
}

/* --- origins ---------------------------------------------------------------------------------- */

/* The layer that owns an original node, or NULL. */
static const struct assay__layer *owner_of(const struct assay__layers *result, const char *node)
{
    for (size_t i = 0; i < result->count; i++)
        for (size_t f = 0; f < result->items[i].from_count; f++)
            if (strcmp(result->items[i].from[f], node) == 0) return &result->items[i];
    return NULL;
}

static void test_origins(void)
{
    struct opened opened = open_fixture("fusions");
    struct assay__layers result = measure(&opened, ASSAY_LAYERS_MARKERS, 0.1);
    const struct assay__layer *conv = owner_of(&result, "conv");
    for (size_t i = 0; i < result.count; i++) {
        printf("  %-12s %-24s <-", result.items[i].op, result.items[i].name);
        for (size_t f = 0; f < result.items[i].from_count; f++)
            printf(" %s", result.items[i].from[f]);
        printf("\n");
    }
    CHECK(conv && strstr(conv->op, "Conv"));
    CHECK(owner_of(&result, "bn") == conv);
    CHECK(owner_of(&result, "relu") == conv);
    CHECK_STR(owner_of(&result, "pool")->op, "GlobalAveragePool");
    const struct assay__layer *gemm = owner_of(&result, "matmul");
    CHECK(gemm && strstr(gemm->op, "Gemm"));
    CHECK(owner_of(&result, "bias_add") == gemm);
    const struct assay__layer *gelu = owner_of(&result, "gelu_erf");
    CHECK(gelu && strstr(gelu->op, "Gelu"));
    static const char *const parts[] = {"gelu_div", "gelu_add", "gelu_mul", "gelu_half"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CHECK(owner_of(&result, parts[i]) == gelu);
    CHECK(owner_of(&result, "folded") == NULL);
    CHECK_STR(owner_of(&result, "twin_1")->op, "Sigmoid");
    CHECK(owner_of(&result, "times_folded") != NULL);
    CHECK(owner_of(&result, "last") != NULL);
    close_fixture(&opened);
}

/* Without optimisation every node is its own origin. */
static void test_origins_unoptimised(void)
{
    struct opened opened = open_fixture("split");
    struct assay__layer *layers = calloc(opened.model->graph.node_count, sizeof *layers);
    struct assay__arena *arena = assay__arena_new();
    CHECK(layers && arena);
    struct assay__flat flat;
    CHECK_INT(assay__flat_make(&opened.model->graph, false, arena, &flat), 0);
    CHECK_INT(assay__layers_origin(&flat, &flat, arena, layers), 0);
    for (size_t i = 0; i < opened.model->graph.node_count; i++) {
        CHECK_INT(layers[i].from_count, 1);
        CHECK_STR(layers[i].from[0], opened.model->graph.nodes[i].name);
    }
    assay__arena_free(arena);
    free(layers);
    close_fixture(&opened);
}

/* --- weights in files of their own ------------------------------------------------------------ */

static void test_external_weights(void)
{
    static const float numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    char folder[512], path[1024], data[1024];
    struct opened opened = {0};
    find_library();
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    CHECK_INT(assay__path_join(folder, "model.onnx", path, sizeof path), 0);
    CHECK_INT(assay__path_join(folder, "weights.bin", data, sizeof data), 0);
    CHECK_INT(assay__file_write(data, numbers, sizeof numbers, NULL), 0);
    struct assay__model *model = assay__model_new();
    CHECK(model != NULL);
    struct assay__graph *graph = &model->graph;
    const struct assay__dim shape[2] = {{.value = 4, .symbol = ""}, {.value = 4, .symbol = ""}};
    const int64_t dims[2] = {4, 4};
    const char *in[2] = {"x", "w"}, *mid = "m", *out = "y";
    CHECK_INT(assay__graph_add_value(model, &graph->inputs, &graph->input_count, "x",
                                     ASSAY__FLOAT32, 2, shape),
              0);
    CHECK_INT(assay__graph_add_value(model, &graph->outputs, &graph->output_count, "y",
                                     ASSAY__FLOAT32, 2, shape),
              0);
    struct assay__tensor *weights = assay__graph_add_initializer(model, graph, "w", ASSAY__FLOAT32,
                                                                 2, dims, numbers, sizeof numbers);
    CHECK(weights != NULL);
    weights->data = NULL;
    weights->data_size = 0;
    weights->external = true;
    weights->location = "weights.bin";
    weights->length = sizeof numbers;
    CHECK(assay__graph_add_node(model, graph, "MatMul", "mm", in, 2, &mid, 1) != NULL);
    CHECK(assay__graph_add_node(model, graph, "Relu", "relu", &mid, 1, &out, 1) != NULL);
    struct assay__opset opset = {.domain = "", .version = 17};
    model->ir_version = 8;
    model->opsets = &opset;
    model->opset_count = 1;
    graph->name = "external";
    CHECK_INT(assay__model_write(model, path, NULL), 0);
    assay__model_free(model);
    open_file(&opened, path);
    for (int method = ASSAY_LAYERS_MARKERS; method <= ASSAY_LAYERS_ENGINE; method++) {
        struct assay__layers result = measure(&opened, (enum assay_layer_method)method, 0.2);
        CHECK(result.count >= 1);
        check_result(&result, &opened);
    }
    /* Nothing of ours is left beside the model. */
    CHECK_INT(unlink(path), 0);
    CHECK_INT(unlink(data), 0);
    CHECK_INT(rmdir(folder), 0);
    close_fixture(&opened);
}

/* An engine's message that is a sentence does not end twice. */
static void test_one_full_stop(void)
{
    struct assay__layer_work work = {0};
    assay__layers_say(&work, "Not known: %s.", "disable such nodes.");
    assay__layers_say(&work, "Markers: %s.", "none");
    assay__layers_say(&work, "And so on...");
    CHECK_STR(work.reason.data, "Not known: disable such nodes. Markers: none. And so on...");
    assay__buf_free(&work.reason);
}

/* A run that something interfered with has no part in a layer's time, and the layers add up to a
 * run of the middle. */
static void test_runs_in_the_middle(void)
{
    enum { RUNS = 25 };
    double totals[RUNS], layers[RUNS][2];
    size_t first, chosen;
    for (size_t i = 0; i < RUNS; i++) {
        layers[i][0] = 40 + (double)i;
        layers[i][1] = i == 3 ? 900 : 60; /* a total of 943 */
        totals[i] = layers[i][0] + layers[i][1];
    }
    struct assay__ranked_run *runs = assay__layers_rank(totals, RUNS, &first, &chosen);
    CHECK(runs);
    CHECK_INT(chosen, 5);
    CHECK_INT(first, 10);
    double a = assay__layers_mean(runs + first, chosen, layers[0], 2),
           b = assay__layers_mean(runs + first, chosen, layers[0] + 1, 2);
    CHECK_NEAR(b, 60, 0);
    CHECK_NEAR(a + b, runs[RUNS / 2].key, 1e-12);
    free(runs);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"one_full_stop", test_one_full_stop},
        {"runs_in_the_middle", test_runs_in_the_middle},
        {"insert_on_each_consumed_output", test_insert_on_each_consumed_output},
        {"insert_renames_in_bodies", test_insert_renames_in_bodies},
        {"insert_leaves_sequences", test_insert_leaves_sequences},
        {"insert_chosen_nodes", test_insert_chosen_nodes},
        {"random_is_seen", test_random_is_seen},
        {"same_bits", test_same_bits},
        {"difference_says_no", test_difference_says_no},
        {"every_layer", test_every_layer},
        {"control_flow_layers", test_control_flow_layers},
        {"sequence_layers", test_sequence_layers},
        {"random_layers", test_random_layers},
        {"off_and_again", test_off_and_again},
        {"engine_method", test_engine_method},
        {"isolated_method", test_isolated_method},
        {"isolated_sequences", test_isolated_sequences},
        {"origins", test_origins},
        {"origins_unoptimised", test_origins_unoptimised},
        {"external_weights", test_external_weights},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
