/* test_check_ort.c - an engine's device as a target: the engine is asked in a child and its answer
 * becomes places, partitions and a verdict, exactly; an engine that is old, refuses, crashes or
 * hangs is said to. The fake engine's answers are scripted ($ASSAY_FAKE_ASSIGNMENT); ONNX Runtime's
 * CPU is asked where it is there. */
#include "check_fixture.h"

#include "base/file.h"
#include "engine/ort/ort_abi.h"
#include "report/report_model.h"
#include "run/assignment.h"

#include <unistd.h>

static struct assay_error error;

/* mm -> relu -> prod -> softmax -> y, and prod -> exp -> z; 8x8 float32 everywhere. */
static struct assay__model *network(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,8");
    cost_node(model, "", "MatMul x[8,8] w -> a", "");
    cost_node(model, "", "Relu a -> b", "");
    cost_node(model, "", "Tanh b -> c", "");
    cost_node(model, "", "Softmax c -> y", "");
    cost_node(model, "", "Exp c -> z", "");
    fixture_output(model, "y");
    fixture_output(model, "z");
    return model;
}

static struct assay__check *ask(const char *script, double timeout_s)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    const struct assay__check_options options = {.target = "gpu:0",
                                                 .engine = "fake",
                                                 .name = "test",
                                                 .zoo = true,
                                                 .workload = &none,
                                                 .timeout_s = timeout_s};
    setenv("ASSAY_FAKE_DEVICES", "cpu;gpu:0;npu=refused", 1);
    setenv("ASSAY_FAKE_ASSIGNMENT", script, 1);
    if (assay__check_new(network(), &options, &check, &error)) {
        printf("  %s\n", error.message);
        harness_fail(__FILE__, __LINE__, "no check");
    }
    return check;
}

static void test_all_there(void)
{
    struct assay__check *check = ask("", 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_PASS);
    CHECK_INT(check->item_count, 0);
    CHECK_STR(check->asked, "fake 1, FakeExecutionProvider on gpu:0");
    CHECK_INT(check->partitions.on, 5);
    CHECK_INT(check->partitions.on_segments, 1);
    CHECK_INT(check->partitions.crossings, 0);
    CHECK_NEAR(assay__check_share(&check->partitions), 1, 0);
    assay__check_free(check);
}

static void test_one_leaves(void)
{
    struct assay__check *check = ask("Tanh", 0);
    const struct assay__check_partitions *p = &check->partitions;
    CHECK_INT(check->verdict, ASSAY__CHECK_WARN);
    CHECK_INT(check_items(check, "fallback"), 1);
    CHECK_STR(p->method, "engine");
    CHECK_INT(p->on, 4);
    CHECK_INT(p->off, 1);
    CHECK_INT(p->on_segments, 2);
    CHECK_INT(p->engine_pieces, 2);
    CHECK_INT(p->crossings, 2); /* b goes over; c comes back once, though two nodes read it */
    CHECK_NEAR(p->crossing_bytes, 2.0 * 8 * 8 * 4, 0);
    CHECK_INT(p->segment_count, 3);
    CHECK(p->segments[0].on && !p->segments[1].on && p->segments[2].on);
    CHECK_INT(p->segments[0].nodes, 2);
    CHECK_INT(p->segments[2].nodes, 2);
    CHECK_NEAR(p->segments[1].in_bytes, 256, 0);
    assay__check_free(check);
}

/* Integers of a few bytes that leave are only a note. */
static void test_indices_leave(void)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    const struct assay__check_options options = {
        .target = "gpu:0", .engine = "fake", .name = "test", .zoo = true, .workload = &none};
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "Add i:i64[4] j:i64[4] -> k", "");
    cost_node(model, "", "Gather x[8,8] k -> y", "");
    fixture_output(model, "y");
    setenv("ASSAY_FAKE_DEVICES", "gpu:0", 1);
    setenv("ASSAY_FAKE_ASSIGNMENT", "Add", 1);
    CHECK_INT(assay__check_new(model, &options, &check, &error), 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_PASS);
    CHECK_INT(check_items(check, "fallback-small"), 1);
    CHECK_NEAR(check->partitions.crossing_bytes, 32, 0);
    assay__check_free(check);
}

/* The product is 1024 FLOPs of the network's about 2000: without it most of the work is
 * elsewhere. */
static void test_most_leaves(void)
{
    struct assay__check *check = ask("MatMul,Softmax,Exp", 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    CHECK_INT(check_items(check, "mostly-elsewhere"), 1);
    assay__check_free(check);
    check = ask("MatMul,Relu,Tanh,Softmax,Exp", 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    CHECK_INT(check_items(check, "nothing-assigned"), 1);
    CHECK_INT(check->partitions.on_segments, 0);
    assay__check_free(check);
}

static void test_no_answer(void)
{
    struct assay__check *check = ask("old", 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_NONE);
    CHECK_HAS(check->unasked, "cannot say");
    CHECK(!check->has_partitions);
    assay__check_free(check);
    check = ask("refuse", 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    CHECK_HAS(check_item(check, "refused")->reason, "the script refuses the model");
    assay__check_free(check);
    check = ask("crash", 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    CHECK_HAS(check_item(check, "refused")->reason, "SIGSEGV");
    assay__check_free(check);
    check = ask("hang", 0.3);
    CHECK_INT(check->verdict, ASSAY__CHECK_NONE);
    CHECK_HAS(check->unasked, "0.3 s");
    assay__check_free(check);
}

static void test_no_device(void)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    struct assay__check_options options = {
        .target = "npu", .engine = "fake", .name = "test", .zoo = true, .workload = &none};
    setenv("ASSAY_FAKE_DEVICES", "cpu;npu=refused", 1);
    CHECK_INT(assay__check_new(network(), &options, &check, &error), 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_NONE);
    CHECK_STR(check->unasked, "the script refuses it");
    assay__check_free(check);
    options.engine = "ort";
    options.target = "abacus";
    CHECK_INT(assay__check_new(network(), &options, &check, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "abacus");
    options.target = "nobody/cuda:0"; /* a build that is in no list */
    CHECK(assay__check_new(network(), &options, &check, &error) != 0);
}

/* Shapes contradict each other: an error of the model, whether or not the device is here. */
static void test_conflict_decides(void)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    const struct assay__check_options options = {
        .target = "npu", .engine = "fake", .name = "test", .zoo = true, .workload = &none};
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "Add x[2,3] y[4,5] -> z", "");
    fixture_output(model, "z");
    setenv("ASSAY_FAKE_DEVICES", "cpu;npu=refused", 1);
    CHECK_INT(assay__check_new(model, &options, &check, &error), 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    assay__check_free(check);
}

/* --- names ------------------------------------------------------------------------------------ */

static struct assay__check *place(const char *target, const struct assay__assigned *nodes,
                                  size_t count)
{
    struct assay__check *check = check_model(network(), "ane", "M5"); /* plans and analyses */
    const struct assay__assignment answer = {
        .target = target, .version = "1", .nodes = (struct assay__assigned *)nodes, .count = count};
    check->item_count = 0;
    CHECK_INT(assay__check_ort_place(check, &answer, &error), 0);
    return check;
}

/* The engine fused and renamed: names lead back, and what is gone goes with what feeds it. */
static void test_merged(void)
{
    const struct assay__assigned nodes[] = {
        {"MatMul/MatMulAddFusion", "Gemm", "", "AExecutionProvider", 0},
        {"Softmax_token_7", "Softmax", "", "CPUExecutionProvider", 1},
        {"added_by_the_engine", "Cast", "", "CPUExecutionProvider", 2},
    };
    struct assay__check *check = place("AExecutionProvider", nodes, 3);
    CHECK_INT(check->partitions.merged, 3); /* Relu, Tanh, Exp */
    CHECK_INT(check->partitions.inferred, 0);
    CHECK_INT(check->partitions.on, 4);
    CHECK_INT(check->partitions.off, 1);
    CHECK_STR(check_item(check, "fallback")->name, "Softmax");
    assay__check_free(check);
}

/* A provider whose nodes are not recorded: what is named for nobody is its own. */
static void test_by_exclusion(void)
{
    const struct assay__assigned nodes[] = {
        {"Tanh", "Tanh", "", "CPUExecutionProvider", 0},
    };
    struct assay__check *check = place("WebGpuExecutionProvider", nodes, 1);
    CHECK_INT(check->partitions.inferred, 4);
    CHECK_INT(check->partitions.on, 4);
    CHECK_INT(check->partitions.off, 1);
    CHECK_INT(check_items(check, "nothing-assigned"), 0);
    assay__check_free(check);
    check = place("WebGpuExecutionProvider", nodes, 0);
    CHECK_INT(check->partitions.on, 5);
    assay__check_free(check);
    check = place("CUDAExecutionProvider", nodes, 1); /* records all: nothing is its own */
    CHECK_INT(check->partitions.inferred, 0);
    CHECK_INT(check_items(check, "nothing-assigned"), 1);
    assay__check_free(check);
}

/* --- ONNX Runtime ----------------------------------------------------------------------------- */

static void ort_or_skip(void)
{
    struct assay__ort ort;
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
    if (assay__ort_load(NULL, &ort, &error)) SKIP(error.message);
    if (!ort.session_get_ep_graph_assignment_info) SKIP("this ONNX Runtime is older than 1.24");
}

static void test_ort_cpu(void)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    const struct assay__check_options options = {
        .target = "cpu", .name = "test", .zoo = true, .workload = &none};
    ort_or_skip();
    CHECK_INT(assay__check_new(network(), &options, &check, &error), 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_PASS);
    CHECK_HAS(check->asked, "CPUExecutionProvider on cpu");
    CHECK_INT(check->partitions.on, 5);
    CHECK_INT(check->partitions.merged, 0); /* every node of ours was named by the engine */
    assay__check_free(check);
    CHECK_INT(assay__check_new(network(), &options, &check, &error), 0);
    assay__check_free(check);
}

/* A model that the device works for in general but that cannot be loaded. */
static void test_ort_refuses(void)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    const struct assay__check_options options = {
        .target = "cpu", .name = "test", .zoo = true, .workload = &none};
    struct assay__model *model = fixture_model(17);
    ort_or_skip();
    cost_node(model, "", "NoSuchOperator x[2,3] -> z[2,3]", "");
    fixture_output(model, "z");
    CHECK_INT(assay__check_new(model, &options, &check, &error), 0);
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    CHECK_HAS(check_item(check, "refused")->reason, "NoSuchOperator");
    assay__check_free(check);
}

/* What builds that cannot say it are asked instead: the profile of one run names every layer and
 * its provider. */
static void test_ort_profile(void)
{
    static const struct assay__workload_options none = {0};
    struct assay__check *check = NULL;
    struct assay__assignment answer;
    char folder[1024], path[1100];
    const struct assay__check_options options = {
        .target = "ane", .name = "test", .zoo = true, .workload = &none};
    ort_or_skip();
    CHECK_INT(assay__check_new(network(), &options, &check, &error), 0); /* plans and analyses */
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    CHECK_INT(assay__path_join(folder, "m.onnx", path, sizeof path), 0);
    CHECK_INT(assay__model_write(check->model, path, &error), 0);
    int code = assay__check_ort_profile(check, &options, NULL, "cpu", path, &answer, &error);
    assay__folder_remove(folder);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK(answer.count > 0);
    CHECK_STR(answer.target, "CPUExecutionProvider");
    bool product = false;
    for (size_t i = 0; i < answer.count; i++) {
        CHECK_STR(answer.nodes[i].provider, "CPUExecutionProvider");
        product |= strcmp(answer.nodes[i].name, "MatMul") == 0;
    }
    CHECK(product);
    assay__check_free(check);
}

/* --- formats ---------------------------------------------------------------------------------- */

static void test_junit(void)
{
    struct assay__check *check = ask("Tanh", 0);
    struct assay__buf out = {0};
    check->name = "a<b>&\"c\x01";
    assay__check_junit(check, false, &out);
    CHECK_HAS(out.data, "a&lt;b&gt;&amp;&quot;c");
    CHECK(!strchr(out.data, '\x01'));
    CHECK_HAS(out.data, "failures=\"0\"");
    assay__buf_clear(&out);
    assay__check_junit(check, true, &out);
    CHECK_HAS(out.data, "failures=\"1\"");
    assay__buf_free(&out);
    assay__check_free(check);
    check = ask("old", 0);
    assay__check_junit(check, true, &out);
    CHECK_HAS(out.data, "skipped=\"1\"");
    CHECK_HAS(out.data, "<skipped message=\"this build of the fake engine cannot say");
    assay__buf_free(&out);
    assay__check_free(check);
}

/* The rows of a table that programs read. */
static void check_csv(const struct assay__check *check, const char *table, const char *rows)
{
    const struct assay_report_options csv = {.size = sizeof csv, .format = "csv", .table = table};
    struct assay__buf out = {0};
    CHECK_INT(assay__check_report(check, &csv, &out, &error), 0);
    const char *head = strchr(out.data, '\n');
    CHECK(head);
    CHECK_STR(head + 1, rows);
    assay__buf_free(&out);
}

static void test_tables(void)
{
    struct assay__check *check = ask("Tanh", 0);
    const struct assay_report_options text = {.size = sizeof text, .columns = 40, .top = 1};
    const struct assay_report_options other = {.size = sizeof other, .format = "dot"};
    struct assay__buf out = {0};
    check_csv(check, "partitions",
              "1,2,1088,,MatMul,Relu\n0,1,64,256,Tanh,Tanh\n1,2,384,256,Softmax,Exp\n");
    check_csv(check, "chips", "");
    CHECK_INT(assay__check_report(check, &text, &out, &error), 0);
    CHECK_HAS(out.data, "[fallback]");
    CHECK_HAS(out.data, "4 of 5 nodes");
    CHECK_INT(assay__check_report(check, &other, &out, &error), ASSAY_EINVAL);
    assay__buf_free(&out);
    assay__check_free(check);
    check = ask("", 0); /* nothing to say: the tables have their heads all the same */
    check_csv(check, "items", "");
    check_csv(check, "partitions", "");
    assay__check_free(check);
}

/* A record that names no node still says whose it is. */
static void test_no_node(void)
{
    struct assay__check *check = ask("nothing", 0);
    CHECK_STR(check->asked, "fake 1, FakeExecutionProvider on gpu:0");
    CHECK_INT(check->partitions.on, 0);
    CHECK(check->verdict != ASSAY__CHECK_PASS);
    assay__check_free(check);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"all_there", test_all_there},
        {"one_leaves", test_one_leaves},
        {"indices_leave", test_indices_leave},
        {"most_leaves", test_most_leaves},
        {"no_answer", test_no_answer},
        {"no_device", test_no_device},
        {"conflict_decides", test_conflict_decides},
        {"merged", test_merged},
        {"by_exclusion", test_by_exclusion},
        {"ort_cpu", test_ort_cpu},
        {"ort_refuses", test_ort_refuses},
        {"ort_profile", test_ort_profile},
        {"no_node", test_no_node},
        {"junit", test_junit},
        {"tables", test_tables},
    };
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
