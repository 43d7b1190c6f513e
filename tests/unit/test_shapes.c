/* test_shapes.c - shape inference beyond single operators: symbols through exporters' arithmetic,
 * bodies of If, Loop and Scan, contradictions with the two operators that disagree, and what
 * callers fix. Expected shapes are worked out by hand. */
#include "model_fixture.h"

static void expect(struct assay__model *model, const char *expected)
{
    struct assay__shapes *shapes = fixture_infer(model);
    const struct assay__shape_conflict *conflicts;
    CHECK_STR(fixture_shape(shapes, "y"), expected);
    CHECK_INT(assay__shapes_conflicts(shapes, &conflicts), 0);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void scalar(struct assay__model *model, const char *name, int64_t value)
{
    fixture_scalar(model, name, ASSAY__INT64, &value);
}

/* --- symbols ---------------------------------------------------------------------------------- */

static void test_reshape_arithmetic(void)
{
    static const int64_t zero[] = {0}, heads[] = {12}, size[] = {64}, open[] = {-1};
    struct assay__model *model = fixture_x("batch,seq,768");
    scalar(model, "i0", 0);
    scalar(model, "i1", 1);
    fixture_ints(model, "axis", 1, zero);
    fixture_ints(model, "heads", 1, heads);
    fixture_ints(model, "size", 1, size);
    fixture_node(model, "Shape x -> s");
    fixture_node(model, "Gather s,i0 -> b");
    fixture_node(model, "Gather s,i1 -> q");
    fixture_node(model, "Unsqueeze b,axis -> b1");
    fixture_node(model, "Unsqueeze q,axis -> q1");
    struct assay__node *concat = fixture_node(model, "Concat b1,q1,heads,size -> target");
    assay__node_set_int(model, concat, "axis", 0);
    fixture_node(model, "Reshape x,target -> y");
    expect(model, "float32 batch,seq,12,64");

    model = fixture_x("batch,seq,768"); /* batch*seq*768 / (batch*seq*12) */
    fixture_ints(model, "heads", 1, heads);
    fixture_ints(model, "open", 1, open);
    fixture_node(model, "Shape x -> s");
    fixture_ints(model, "from", 1, zero);
    static const int64_t two[] = {2};
    fixture_ints(model, "to", 1, two);
    fixture_node(model, "Slice s,from,to -> bq");
    concat = fixture_node(model, "Concat bq,heads,open -> target");
    assay__node_set_int(model, concat, "axis", 0);
    fixture_node(model, "Reshape x,target -> y");
    expect(model, "float32 batch,seq,12,64");
}

static void test_cache(void)
{
    struct assay__model *model = fixture_x("batch,12,past,64");
    fixture_input(model, "k", ASSAY__FLOAT32, "batch,12,seq,64");
    assay__node_set_int(model, fixture_node(model, "Concat x,k -> all"), "axis", 2);
    fixture_node(model, "Shape all -> s");
    scalar(model, "i2", 2);
    fixture_node(model, "Gather s,i2 -> total");
    scalar(model, "zero", 0);
    scalar(model, "one", 1);
    fixture_node(model, "Range zero,total,one -> y");
    expect(model, "int64 past + seq");
}

static void test_windows(void)
{
    static const int64_t two[] = {2, 2}, ones[] = {1, 1, 1, 1};
    struct assay__model *model = fixture_x("n,3,h,224");
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,3,3,3");
    struct assay__node *node = fixture_node(model, "Conv x,w -> y");
    assay__node_set_ints(model, node, "strides", two, 2);
    assay__node_set_ints(model, node, "pads", ones, 4);
    expect(model, "float32 n,8,floor((h + 1)/2),112");
    model = fixture_x("n,3,h,w");
    fixture_node(model, "GlobalAveragePool x -> y");
    expect(model, "float32 n,3,1,1");
    model = fixture_x("n,c,h,w");
    assay__node_set_int(model, fixture_node(model, "Flatten x -> y"), "axis", 1);
    expect(model, "float32 n,c*h*w");
}

static void test_broadcast_symbols(void)
{
    struct assay__model *model = fixture_x("batch,1,seq");
    fixture_input(model, "b", ASSAY__FLOAT32, "heads,1");
    fixture_node(model, "Add x,b -> y");
    expect(model, "float32 batch,heads,seq");
    model = fixture_x("n,4");
    fixture_input(model, "b", ASSAY__FLOAT32, "m,4"); /* equal, or one of them 1: who knows */
    fixture_node(model, "Add x,b -> y");
    expect(model, "float32 ?,4");
    model = fixture_x("n,4");
    fixture_input(model, "b", ASSAY__FLOAT32, "7,4"); /* 7 or 1 */
    fixture_node(model, "Add x,b -> y");
    expect(model, "float32 7,4");
}

/* torch's expand: Where(Equal(shape, -1), 1, shape) */
static void test_expand_pattern(void)
{
    static const int64_t minus[] = {-1, -1}, one[] = {1, 1};
    struct assay__model *model = fixture_x("1,seq");
    fixture_input(model, "like", ASSAY__FLOAT32, "batch,seq");
    fixture_ints(model, "minus", 2, minus);
    fixture_ints(model, "one", 2, one);
    fixture_node(model, "Shape like -> s");
    fixture_node(model, "Equal s,minus -> eq");
    fixture_node(model, "Where eq,one,s -> target");
    fixture_node(model, "Expand x,target -> y");
    expect(model, "float32 batch,seq");
}

static void test_slice_symbols(void)
{
    static const int64_t zero[] = {0}, last[] = {-1}, end[] = {INT64_MAX}, one[] = {1}, two[] = {2};
    struct assay__model *model = fixture_x("batch,seq,8");
    fixture_ints(model, "from", 1, last);
    fixture_ints(model, "to", 1, end);
    fixture_ints(model, "axis", 1, zero);
    fixture_node(model, "Slice x,from,to,axis -> y");
    struct assay__shapes *shapes = fixture_infer(model); /* one, unless the batch is empty */
    CHECK_STR(fixture_shape(shapes, "y"), "float32 min(batch, 1),seq,8");
    assay__shapes_free(shapes);
    assay__model_free(model);
    model = fixture_x("batch,seq,8");
    fixture_ints(model, "from", 1, zero);
    fixture_ints(model, "to", 1, end);
    fixture_ints(model, "axis", 1, one);
    fixture_ints(model, "step", 1, two);
    fixture_node(model, "Slice x,from,to,axis,step -> y");
    expect(model, "float32 batch,floor((seq + 1)/2),8");
}

static void test_values(void)
{
    struct assay__model *model = fixture_x("4,5");
    size_t count = 7;
    fixture_node(model, "Shape x -> s");
    fixture_node(model, "Size x -> n");
    struct assay__shapes *shapes = fixture_infer(model);
    const int64_t *values = assay__shapes_values(shapes, "s", &count);
    CHECK(values && count == 2 && values[0] == 4 && values[1] == 5);
    values = assay__shapes_values(shapes, "n", &count);
    CHECK(values && count == 1 && values[0] == 20);
    CHECK(!assay__shapes_values(shapes, "x", &count));
    assay__shapes_free(shapes);
    assay__model_free(model);
    model = fixture_x("n,5");
    fixture_node(model, "Shape x -> s");
    shapes = fixture_infer(model);
    CHECK(!assay__shapes_values(shapes, "s", &count)); /* a symbol is no number */
    assay__shapes_free(shapes);
    assay__model_free(model);
}

/* A symbol that one input fixes is fixed in what the file states, too. */
static void test_fixed_inputs(void)
{
    struct assay__model *model = fixture_x("batch,5");
    struct assay__dim dims[2] = {{-1, "batch"}, {-1, "found"}};
    fixture_node(model, "NoSuchOperator x -> y");
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "y",
                                     ASSAY__FLOAT32, 2, dims),
              0);
    struct assay__dim given[2] = {{3, ""}, {5, ""}};
    struct assay__value input = {.name = "x", .dtype = ASSAY__FLOAT32, .rank = 2, .dims = given};
    struct assay__shapes *shapes = NULL;
    CHECK_INT(assay__shapes_infer(model, &input, 1, &shapes, NULL), 0);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 3,found");
    assay__shapes_free(shapes);
    assay__model_free(model);
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* Gives a node one more attribute: a graph, empty for now. */
static struct assay__graph *add_body(struct assay__model *model, struct assay__node *node,
                                     const char *name)
{
    struct assay__attr *attrs = assay__arena_array(model->arena, node->attr_count + 1,
                                                   sizeof *attrs);
    struct assay__graph *graph = assay__arena_alloc(model->arena, sizeof *graph);
    CHECK(attrs && graph);
    if (node->attr_count) memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    attrs[node->attr_count] = (struct assay__attr){
        .name = name, .type = ASSAY__ATTR_GRAPH, .g = graph, .s = "", .reference = ""};
    node->attrs = attrs;
    node->attr_count++;
    graph->name = name;
    return graph;
}

static void body_value(struct assay__model *model, struct assay__graph *graph, bool output,
                       const char *name)
{
    CHECK_INT(assay__graph_add_value(model, output ? &graph->outputs : &graph->inputs,
                                     output ? &graph->output_count : &graph->input_count, name,
                                     ASSAY__UNDEFINED, -1, NULL),
              0);
}

static void body_node(struct assay__model *model, struct assay__graph *graph, const char *op,
                      const char *a, const char *b, const char *out)
{
    const char *inputs[2] = {a, b};
    CHECK(assay__graph_add_node(model, graph, op, out, inputs, *b ? 2 : *a ? 1 : 0, &out, 1));
}

static struct assay__model *loop_model(const char *state, const char *op, bool always)
{
    bool yes = true;
    struct assay__model *model = fixture_x(state);
    fixture_input(model, "outer", ASSAY__FLOAT32, "1,4");
    scalar(model, "trips", 6);
    fixture_scalar(model, "go", ASSAY__BOOL, &yes);
    struct assay__node *node = fixture_node(model, "Loop trips,go,x -> last,y");
    struct assay__graph *body = add_body(model, node, "body");
    body_value(model, body, false, "i");
    body_value(model, body, false, "c");
    body_value(model, body, false, "s");
    body_node(model, body, op, "s", "outer", "next");
    if (strcmp(op, "Concat") == 0) assay__node_set_int(model, &body->nodes[0], "axis", 0);
    body_node(model, body, always ? "Identity" : "Not", "c", "", "c_out");
    if (!always) body_node(model, body, "NoSuchOperator", "c_out", "", "c_next");
    body_node(model, body, "Relu", "next", "", "each");
    body_value(model, body, true, always ? "c_out" : "c_next");
    body_value(model, body, true, "next");
    body_value(model, body, true, "each");
    return model;
}

static void test_loop(void)
{
    struct assay__model *model = loop_model("batch,4", "Add", true);
    struct assay__shapes *shapes = fixture_infer(model);
    const struct assay__node *node = &model->graph.nodes[0];
    CHECK_STR(fixture_shape(shapes, "last"), "float32 batch,4");
    CHECK_STR(fixture_shape(shapes, "y"), "float32 6,batch,4");
    CHECK_INT(assay__shapes_trips(shapes, node), 6);
    CHECK_INT(assay__shapes_branch(shapes, node), -1);
    const struct assay__shapes *body = assay__shapes_body(shapes, node->attrs[0].g);
    CHECK(body != NULL);
    CHECK_STR(fixture_shape(body, "each"), "float32 batch,4");
    CHECK_STR(fixture_shape(body, "outer"), "float32 1,4"); /* names around it are seen */
    CHECK(!assay__shapes_get(shapes, "each"));
    CHECK(!assay__shapes_body(shapes, &model->graph));
    assay__shapes_free(shapes);
    assay__model_free(model);

    model = loop_model("1,4", "Concat", true); /* grows by a row each time */
    shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "last"), "float32 ?,4");
    CHECK_STR(fixture_shape(shapes, "y"), "float32 6,?,4");
    assay__shapes_free(shapes);
    assay__model_free(model);

    model = loop_model("batch,4", "Add", false); /* ends when it likes */
    shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 ?,batch,4");
    CHECK_INT(assay__shapes_trips(shapes, &model->graph.nodes[0]), -1);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void test_scan(void)
{
    static const int64_t axes[] = {1};
    struct assay__model *model = fixture_x("batch,8");
    fixture_input(model, "in", ASSAY__FLOAT32, "batch,seq,8");
    struct assay__node *node = fixture_node(model, "Scan x,in -> last,y");
    assay__node_set_int(model, node, "num_scan_inputs", 1);
    assay__node_set_ints(model, node, "scan_input_axes", axes, 1);
    assay__node_set_ints(model, node, "scan_output_axes", axes, 1);
    struct assay__graph *body = add_body(model, node, "body");
    body_value(model, body, false, "state");
    body_value(model, body, false, "slice");
    body_node(model, body, "Add", "state", "slice", "new");
    body_node(model, body, "Relu", "new", "", "out");
    body_value(model, body, true, "new");
    body_value(model, body, true, "out");
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "last"), "float32 batch,8");
    CHECK_STR(fixture_shape(shapes, "y"), "float32 batch,seq,8");
    CHECK_INT(assay__shapes_trips(shapes, node), -1); /* a symbol is no number */
    CHECK_STR(fixture_shape(assay__shapes_body(shapes, body), "slice"), "float32 batch,8");
    assay__shapes_free(shapes);
    struct assay__dim dims[3] = {{2, ""}, {16, ""}, {8, ""}};
    struct assay__value given = {.name = "in", .dtype = ASSAY__FLOAT32, .rank = 3, .dims = dims};
    CHECK_INT(assay__shapes_infer(model, &given, 1, &shapes, NULL), 0);
    CHECK_INT(assay__shapes_trips(shapes, node), 16);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 2,16,8");
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static struct assay__model *if_model(const char *condition, const char *branch_op)
{
    bool yes = true;
    struct assay__model *model = fixture_x("2,1,4");
    fixture_scalar(model, "yes", ASSAY__BOOL, &yes);
    fixture_input(model, "maybe", ASSAY__BOOL, "");
    char text[64];
    snprintf(text, sizeof text, "If %s -> y", condition);
    struct assay__node *node = fixture_node(model, text);
    static const char *const names[] = {"then_branch", "else_branch"};
    for (int i = 0; i < 2; i++) {
        struct assay__graph *body = add_body(model, node, names[i]);
        body_node(model, body, i ? branch_op : "Relu", "x", "", i ? "e" : "t");
        body_value(model, body, true, i ? "e" : "t");
    }
    return model;
}

static void test_if(void)
{
    struct assay__model *model = if_model("maybe", "GlobalAveragePool");
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 2,1,?"); /* what both have in common */
    CHECK_INT(assay__shapes_branch(shapes, &model->graph.nodes[0]), -1);
    assay__shapes_free(shapes);
    assay__model_free(model);
    model = if_model("yes", "GlobalAveragePool");
    shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 2,1,4");
    CHECK_INT(assay__shapes_branch(shapes, &model->graph.nodes[0]), 1);
    CHECK_INT(assay__shapes_trips(shapes, &model->graph.nodes[0]), -1);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

/* --- contradictions --------------------------------------------------------------------------- */

/* One contradiction: at `op`, with what `producer` made, and a message that has `words`. */
static void expect_conflict(struct assay__model *model, const char *op, const char *producer,
                            const char *words)
{
    struct assay__shapes *shapes = fixture_infer(model);
    const struct assay__shape_conflict *conflicts;
    size_t count = assay__shapes_conflicts(shapes, &conflicts);
    if (count != 1) printf("  %s %s: %zu\n", op, words, count);
    CHECK_INT(count, 1);
    CHECK_STR(conflicts[0].op, op);
    CHECK_STR(conflicts[0].producer, producer);
    CHECK_HAS(conflicts[0].message, words);
    CHECK(!strchr(conflicts[0].message, '\n'));
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static struct assay__model *made(const char *shape)
{
    struct assay__model *model = fixture_x(shape);
    fixture_node(model, "Relu x -> m");
    return model;
}

static void test_conflicts(void)
{
    static const int64_t shape[] = {5, 5}, perm[] = {0, 1}, open[] = {7, -1}, axis[] = {3};
    struct assay__model *model = made("2,64");
    fixture_weights(model, "w", ASSAY__FLOAT32, "32,10");
    fixture_node(model, "MatMul m,w -> y");
    expect_conflict(model, "MatMul", "Relu", "[2, 64] and [32, 10]");
    model = made("2,64");
    fixture_weights(model, "w", ASSAY__FLOAT32, "10,32");
    assay__node_set_int(model, fixture_node(model, "Gemm m,w -> y"), "transB", 1);
    expect_conflict(model, "Gemm", "Relu", "second transposed");
    model = made("2,8");
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,10");
    fixture_weights(model, "b", ASSAY__FLOAT32, "9");
    fixture_node(model, "Gemm m,w,b -> y");
    expect_conflict(model, "Gemm", "Relu", "bias");
    model = made("1,4,9,9");
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,3,3,3");
    fixture_node(model, "Conv m,w -> y");
    expect_conflict(model, "Conv", "Relu", "4 channels");
    model = made("1,3,2,2");
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,3,3,3");
    fixture_node(model, "Conv m,w -> y");
    struct assay__shapes *shapes = fixture_infer(model); /* both axes are too small: said once */
    const struct assay__shape_conflict *conflicts;
    CHECK_INT(assay__shapes_conflicts(shapes, &conflicts), 1);
    assay__shapes_free(shapes);
    assay__model_free(model);
    model = made("2,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "4,5");
    assay__node_set_int(model, fixture_node(model, "Concat m,b -> y"), "axis", 0);
    expect_conflict(model, "Concat", "Relu", "joined along axis 0");
    model = made("2,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "4,5");
    fixture_node(model, "Add b,m -> y");
    expect_conflict(model, "Add", "Relu", "broadcast");
    model = made("2,3");
    fixture_ints(model, "shape", 2, shape);
    fixture_node(model, "Reshape m,shape -> y");
    expect_conflict(model, "Reshape", "Relu", "6 elements, the new shape 25");
    model = made("2,3");
    fixture_ints(model, "shape", 2, open);
    fixture_node(model, "Reshape m,shape -> y");
    expect_conflict(model, "Reshape", "Relu", "a multiple of 7");
    model = made("2,3,4");
    assay__node_set_ints(model, fixture_node(model, "Transpose m -> y"), "perm", perm, 2);
    expect_conflict(model, "Transpose", "Relu", "2 axes");
    model = made("2,3,4");
    fixture_ints(model, "axis", 1, axis);
    fixture_node(model, "ReduceSum m,axis -> y");
    expect_conflict(model, "ReduceSum", "Relu", "axis 3");
}

static void test_more_conflicts(void)
{
    struct assay__model *model = made("1,4,9,9");
    for (int i = 0; i < 4; i++) {
        char name[2] = {(char)('a' + i), 0};
        fixture_weights(model, name, ASSAY__FLOAT32, "5");
    }
    fixture_node(model, "BatchNormalization m,a,b,c,d -> y");
    expect_conflict(model, "BatchNormalization", "Relu", "4 and 5");
    model = made("7,2,10");
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,80,12");
    fixture_weights(model, "r", ASSAY__FLOAT32, "1,80,20");
    assay__node_set_int(model, fixture_node(model, "LSTM m,w,r -> y"), "hidden_size", 20);
    expect_conflict(model, "LSTM", "Relu", "10 and 12");
    model = made("2,3");
    fixture_input(model, "c", ASSAY__BOOL, "2,4");
    fixture_node(model, "Where c,m,m -> y");
    expect_conflict(model, "Where", "Relu", "broadcast");
    model = fixture_x("2,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "4,5");
    fixture_node(model, "Add x,b -> y");
    expect_conflict(model, "Add", "b", "broadcast");
    /* what the file states of a value */
    model = made("2,3");
    struct assay__dim dims[2] = {{2, ""}, {4, ""}};
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "m",
                                     ASSAY__FLOAT32, 2, dims),
              0);
    expect_conflict(model, "Relu", "m", "4, but inference gives 3");
    model = made("2,3");
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "m",
                                     ASSAY__INT32, -1, NULL),
              0);
    expect_conflict(model, "Relu", "m", "int32");
}

/* Inference goes on after a contradiction, and nothing is said where nothing is certain. */
static void test_no_conflicts(void)
{
    struct assay__model *model = made("2,64");
    const struct assay__shape_conflict *conflicts;
    fixture_weights(model, "w", ASSAY__FLOAT32, "32,10");
    fixture_node(model, "MatMul m,w -> z");
    fixture_node(model, "Relu z -> y");
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 2,10");
    CHECK_INT(assay__shapes_conflicts(shapes, &conflicts), 1);
    assay__shapes_free(shapes);
    assay__model_free(model);
    model = fixture_x("2,k"); /* k may be 32 */
    fixture_weights(model, "w", ASSAY__FLOAT32, "32,10");
    fixture_node(model, "MatMul x,w -> y");
    expect(model, "float32 2,10");
    model = if_model("maybe", "Transpose"); /* cannot work, but may never run */
    static const int64_t perm[] = {0};
    assay__node_set_ints(model, &model->graph.nodes[0].attrs[1].g->nodes[0], "perm", perm, 1);
    expect(model, "float32 ?");
}

/* --- size ------------------------------------------------------------------------------------- */

/* Deep nesting and loops in loops end, and what is too deep is unknown. */
static void test_nesting(void)
{
    struct assay__model *model = fixture_x("1,4");
    struct assay__graph *graph = &model->graph;
    scalar(model, "trips", 2);
    for (int depth = 0; depth < 20; depth++) {
        char in[16], state[16], out[16];
        snprintf(in, sizeof in, depth ? "s%d" : "x", depth - 1);
        snprintf(state, sizeof state, "s%d", depth);
        snprintf(out, sizeof out, "o%d", depth);
        const char *inputs[3] = {"trips", "", in}, *outputs[1] = {out};
        struct assay__node *node = assay__graph_add_node(model, graph, "Loop", out, inputs, 3,
                                                         outputs, 1);
        CHECK(node);
        if (depth) body_value(model, graph, true, out);
        struct assay__graph *body = add_body(model, node, "body");
        char i[16], c[16], keep[16];
        snprintf(i, sizeof i, "i%d", depth);
        snprintf(c, sizeof c, "c%d", depth);
        snprintf(keep, sizeof keep, "k%d", depth);
        body_value(model, body, false, i);
        body_value(model, body, false, c);
        body_value(model, body, false, state);
        body_node(model, body, "Identity", c, "", keep);
        body_value(model, body, true, keep);
        graph = body;
    }
    body_node(model, graph, "Relu", "s19", "", "end");
    body_value(model, graph, true, "end");
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK(assay__shapes_get(shapes, "o0") != NULL);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"reshape_arithmetic", test_reshape_arithmetic},
        {"cache", test_cache},
        {"windows", test_windows},
        {"broadcast_symbols", test_broadcast_symbols},
        {"expand_pattern", test_expand_pattern},
        {"slice_symbols", test_slice_symbols},
        {"values", test_values},
        {"fixed_inputs", test_fixed_inputs},
        {"loop", test_loop},
        {"scan", test_scan},
        {"if", test_if},
        {"conflicts", test_conflicts},
        {"more_conflicts", test_more_conflicts},
        {"no_conflicts", test_no_conflicts},
        {"nesting", test_nesting},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
