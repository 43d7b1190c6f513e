/* test_gpu_layers.c - layer times on CUDA, through the recorder and the stand-in for CUPTI: exact
 * times by node, what happens where sessions launch other kernels, where CUPTI refuses; and the
 * division of a run's time, from records. Also run under ThreadSanitizer. */
#include "base/cuda_trace.h"
#include "engine/gpu_work.h"
#include "gpu_fixture.h"
#include "import/import.h"

#include <math.h>

static const struct gpu_node chain[] = {
    {"Launch", 1, 10000, 0}, {"Relu", 0, 0, 0},     {"Launch", 2, 4000, 0},
    {"Launch", 0, 0, 2500},  {"Launch", 1, 300, 0},
};
#define CHAIN (sizeof chain / sizeof *chain)

static double latency_ns; /* 0: not known */

static int layers_of(struct gpu_session *opened, enum assay_layer_method method,
                     struct assay__layers *result, struct assay_error *error)
{
    struct assay__layer_options options = {
        .size = sizeof options, .method = method, .budget_s = 1, .latency_ns = latency_ns};
    return assay__ort_layers(opened->session, &options, result, error);
}

static void test_exact(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    if (layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    CHECK_STR(result.reason, "");
    CHECK_STR(result.method, "kernels");
    CHECK_INT(result.count, CHAIN);
    static const double times[] = {10000, 0, 9000, 0, 300};
    static const double kernels[] = {1, 0, 2, 0, 1};
    static const double gaps[] = {0, 0, 2 * LAUNCH_NS, 0, LAUNCH_NS};
    for (size_t i = 0; i < CHAIN; i++) {
        const struct assay__layer *layer = &result.items[i];
        char name[16];
        snprintf(name, sizeof name, "node%zu", i);
        CHECK_STR(layer->name, name);
        CHECK_INT(layer->state, ASSAY_MEASURED);
        CHECK(layer->time_ns == times[i]);
        CHECK(layer->kernel_count == kernels[i]);
        CHECK(layer->gap_ns == gaps[i]);
        CHECK(isnan(layer->host_enqueue_ns));
        CHECK_STR(layer->provider, "CPUExecutionProvider");
    }
    CHECK_STR(result.items[2].kernels, "kernel_2_0; kernel_2_1");
    CHECK(!result.items[1].kernels || !*result.items[1].kernels);
    /* 4 kernels, each LAUNCH_NS after the work before it */
    CHECK(result.kernels_ns == 19300);
    CHECK(result.copies_ns == 2500);
    CHECK(result.gaps_ns == 3 * LAUNCH_NS);
    CHECK(result.host_ns == LAUNCH_NS);
    CHECK(result.traced_ns == 19300 + 2500 + 4 * LAUNCH_NS);
    CHECK(result.engine_ns == result.traced_ns - 19300);
    CHECK(result.kernel_count == 4);
    CHECK_INT(result.discarded, 0);
    gpu_close(&opened);
}

/* With a latency that the runs beside the traced ones do not have, a few rounds count, and the
 * difference is said. */
static void test_other_speed(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    latency_ns = 1e9;
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK(result.reason[0] != '\0');
    CHECK(result.traced_ns == 19300 + 2500 + 4 * LAUNCH_NS);
    CHECK(result.plain_ns > 0 && result.plain_ns < latency_ns);
    CHECK(result.lasting > 0);
    CHECK(result.slowdown > 0);
    gpu_close(&opened);
}

/* A session that launches other kernels than the one with markers: that one is timed. */
static void test_other_kernels(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    gpu.odd_session = 1;
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK_STR(result.method, "kernels");
    CHECK(result.reason[0] != '\0');
    CHECK(result.items[0].time_ns == 10000 && result.items[2].time_ns == 9000);
    CHECK(result.traced_ns == 19300 + 2500 + 4 * LAUNCH_NS);
    CHECK_STR(result.items[0].kernels, "kernel_0_0");
    gpu_close(&opened);
}

/* The kernels of a CUDA graph are launched at once: 2 us apart, and still each of its layer. */
static void test_graph(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    gpu_bind(&opened);
    gpu.graph = 4;
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK_STR(result.method, "kernels");
    CHECK_HAS(result.reason, "5 kernels and copies are of a CUDA graph");
    CHECK_INT(result.count, CHAIN);
    static const double times[] = {10000, 0, 9000, 0, 300}, gaps[] = {0, 0, 4000, 0, 2000};
    for (size_t i = 0; i < CHAIN; i++) {
        CHECK_INT(result.items[i].state, ASSAY_MEASURED);
        CHECK(result.items[i].time_ns == times[i]);
        CHECK(result.items[i].gap_ns == gaps[i]);
    }
    CHECK(result.kernels_ns == 19300 && result.copies_ns == 2500);
    CHECK(result.gaps_ns == 3 * 2000 && result.host_ns == LAUNCH_NS);
    CHECK(result.traced_ns == 19300 + 2500 + 3 * 2000 + LAUNCH_NS);
    gpu_close(&opened);
}

/* A graph with other kernels than those that were learnt is one row; the layers are unknown. */
static void test_graph_of_others(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    gpu.graph = 4;
    gpu.odd_session = 1;
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK_STR(result.method, "kernels");
    CHECK(result.reason[0] != '\0');
    CHECK_INT(result.count, CHAIN + 1);
    for (size_t i = 0; i < CHAIN; i++) {
        CHECK_INT(result.items[i].state, ASSAY_UNAVAILABLE);
        CHECK(isnan(result.items[i].time_ns) && isnan(result.items[i].kernel_count));
        CHECK(result.items[i].note[0] != '\0');
    }
    const struct assay__layer *graph = &result.items[CHAIN];
    CHECK_STR(graph->name, "CUDA graph");
    CHECK_INT(graph->state, ASSAY_MEASURED);
    CHECK(graph->time_ns == 19300 && graph->kernel_count == 4);
    CHECK(result.kernels_ns == 19300 && result.kernel_count == 4);
    CHECK(result.engine_ns == result.traced_ns - 19300);
    gpu_close(&opened);
}

/* A graph of whose kernels CUPTI knows nothing has no times by them. */
static void test_graph_unseen(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    gpu_bind(&opened);
    gpu.hidden = true;
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_MARKERS, &result, &error), ASSAY_EENGINE);
    CHECK_HAS(error.message, "CUDA graph");
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK_STR(result.method, "engine");
    CHECK_HAS(result.reason, "CUDA graph");
    CHECK(isnan(result.kernels_ns));
    gpu_close(&opened);
}

/* Records that CUPTI lost are not layers of no time. */
static void test_lost_records(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    setenv("FAKE_CUPTI_DROP", "3", 1);
    gpu_open(&opened, chain, CHAIN);
    CHECK(layers_of(&opened, ASSAY_LAYERS_MARKERS, &result, &error) != 0);
    CHECK_HAS(error.message, "CUPTI lost 3 records");
    gpu_close(&opened);
}

/* A few runs with another kernel are left out. */
static void test_odd_runs(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    gpu_open(&opened, chain, CHAIN);
    gpu.odd_after = 4; /* in the first round with recording */
    gpu.odd_runs = 2;
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK_STR(result.method, "kernels");
    CHECK_INT(result.discarded, 2);
    CHECK(result.items[0].time_ns == 10000);
    gpu_close(&opened);
}

/* Without CUPTI the reason is said, and only the engine's own profile is left. */
static void test_refused(void)
{
    struct gpu_session opened;
    struct assay__layers result;
    struct assay_error error = {0};
    setenv("FAKE_CUPTI_FAIL", "ActivityEnable:35", 1);
    gpu_open(&opened, chain, CHAIN);
    CHECK(layers_of(&opened, ASSAY_LAYERS_MARKERS, &result, &error) != 0);
    CHECK_INT(error.code, ASSAY_EUNSUPPORTED);
    CHECK_INT(layers_of(&opened, ASSAY_LAYERS_AUTO, &result, &error), 0);
    CHECK_STR(result.method, "engine");
    CHECK_HAS(result.reason, "NVreg_RestrictProfilingToAdminUsers=0");
    CHECK(isnan(result.traced_ns) && isnan(result.items[0].kernel_count));
    gpu_close(&opened);
}

/* --- a timeline ---------------------------------------------------------------------------------
 */

struct told {
    size_t steps, layers;
    char last[32];
};

static int on_span(void *context, const struct assay__timeline_span *span)
{
    struct told *told = context;
    CHECK(span->end_ns >= span->start_ns);
    *(span->step ? &told->steps : &told->layers) += 1;
    if (!span->step) snprintf(told->last, sizeof told->last, "%s", span->name);
    return 0;
}

/* The kernels and memsets of a timeline, and the launches of them that were recorded. */
struct recorded {
    size_t kernels, memsets, launches, of_graphs;
    int64_t kernel_ns;
};

static struct recorded record_timeline(struct gpu_session *opened, struct told *told)
{
    struct recorded found = {0};
    struct assay_error error = {0};
    char folder[600];
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    struct assay__timeline_options options = {
        .size = sizeof options, .runs = 3, .folder = folder, .span = on_span, .context = told};
    if (assay__ort_timeline(opened->session, &options, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    const char *path = folder;
    struct assay__events *events = NULL;
    struct assay__import_options import = {0};
    CHECK_INT(assay__import(&path, 1, &import, &events, &error), 0);
    for (size_t i = 0; i < events->count; i++) {
        const char *state = assay__event_args(events, i)->state;
        found.memsets += events->kind[i] == ASSAY__EVENT_MEMSET;
        found.launches += events->kind[i] == ASSAY__EVENT_LAUNCH;
        if (events->kind[i] != ASSAY__EVENT_KERNEL) continue;
        found.kernels++;
        found.kernel_ns += events->duration_ns[i];
        found.of_graphs += state && strcmp(state, "CUDA graph 4") == 0;
    }
    assay__events_free(events);
    assay__folder_remove(folder);
    return found;
}

/* Layers come as spans; the recorder's own file has the rest. */
static void test_timeline(void)
{
    struct gpu_session opened;
    struct told told = {0};
    gpu_open(&opened, chain, CHAIN);
    struct recorded found = record_timeline(&opened, &told);
    CHECK_INT(told.steps, 3);
    CHECK_INT(told.layers, 3 * CHAIN);
    CHECK_STR(told.last, "node4");
    CHECK_INT(found.kernels, 3 * 4);
    CHECK_INT(found.launches, 3 * 4);
    CHECK_INT(found.of_graphs, 0);
    CHECK_INT(found.memsets, 3);
    CHECK_INT(found.kernel_ns, 3 * 19300);
    gpu_close(&opened);
}

/* A session that replays a CUDA graph is recorded itself: one launch an inference, no layers. */
static void test_timeline_of_graph(void)
{
    struct gpu_session opened;
    struct told told = {0};
    gpu_open(&opened, chain, CHAIN);
    gpu_bind(&opened);
    gpu.graph = 4;
    struct recorded found = record_timeline(&opened, &told);
    CHECK_INT(told.steps, 3);
    CHECK_INT(told.layers, 0);
    CHECK_INT(found.kernels, 3 * 4);
    CHECK_INT(found.of_graphs, 3 * 4);
    CHECK_INT(found.launches, 3);
    CHECK_INT(found.kernel_ns, 3 * 19300);
    gpu_close(&opened);
}

/* --- from records -------------------------------------------------------------------------------
 */

static struct assay__gpu_work work;

static void kernel_record(uint64_t start_ns, uint64_t end_ns, uint32_t correlation, uint32_t stream,
                          uint32_t graph)
{
    struct assay__cuda_kernel record = {.head = {ASSAY__CUDA_KERNEL, 0, sizeof record},
                                        .start_ns = start_ns,
                                        .end_ns = end_ns,
                                        .name = 1,
                                        .correlation = correlation,
                                        .stream = stream,
                                        .graph = graph};
    assay__gpu_work_take(&work, &record, sizeof record);
}

static void copy_record(uint64_t start_ns, uint64_t end_ns, uint32_t correlation)
{
    struct assay__cuda_copy record = {.head = {ASSAY__CUDA_COPY, 0, sizeof record},
                                      .start_ns = start_ns,
                                      .end_ns = end_ns,
                                      .correlation = correlation};
    assay__gpu_work_take(&work, &record, sizeof record);
}

static void external_record(uint64_t id, uint32_t correlation)
{
    struct assay__cuda_external record = {
        .head = {ASSAY__CUDA_EXTERNAL, 0, sizeof record}, .id = id, .correlation = correlation};
    assay__gpu_work_take(&work, &record, sizeof record);
}

static void name_record(void)
{
    struct {
        struct assay__cuda_string head;
        char text[8];
    } record = {{{ASSAY__CUDA_STRING, 0, sizeof record}, 1, 5}, "sgemm"};
    assay__gpu_work_take(&work, &record, sizeof record);
}

/* Two streams at once, a copy below a kernel, work of a graph, out of order. */
static void test_overlap(void)
{
    static const size_t nodes[] = {0, 1};
    struct assay__gpu_run run = {.begin_ns = 1000, .end_ns = 2000};
    struct assay__gpu_lesson lesson;
    struct assay__gpu_parts parts;
    uint64_t node_ns[2] = {0}, gap_ns[2] = {0};
    name_record();
    kernel_record(1500, 1700, 7, 2, 0); /* node 1, from 1600 on alone */
    kernel_record(1300, 1600, 5, 1, 0); /* node 0 */
    copy_record(1100, 1200, 3);
    copy_record(1550, 1800, 6);
    kernel_record(1900, 1950, 9, 1, 4);  /* of a graph, of no node */
    kernel_record(2100, 2200, 11, 1, 0); /* after the run */
    external_record(2, 7);
    external_record(1, 5);
    external_record(9, 9); /* beyond the markers */
    assay__gpu_work_order(&work);
    assay__gpu_find_runs(&work, &run, 1);
    CHECK_INT(run.count, 5);
    CHECK_INT(assay__gpu_learn(&work, &run, nodes, 2, &lesson), 0);
    CHECK_INT(lesson.count, 3);
    CHECK_INT(lesson.nodes[0], 0);
    CHECK_INT(lesson.nodes[1], 1);
    CHECK(lesson.nodes[2] == SIZE_MAX);
    CHECK_STR(lesson.names[0], "sgemm");
    CHECK_INT(assay__gpu_divide(&work, &run, &lesson, &parts, node_ns, gap_ns), 0);
    CHECK_INT(parts.whole_ns, 1000);
    CHECK_INT(parts.kernels_ns, 300 + 100 + 50);
    CHECK_INT(parts.copies_ns, 100 + 100);
    CHECK_INT(parts.gaps_ns, 100 + 100);
    CHECK_INT(parts.host_ns, 100 + 50);
    CHECK_INT(parts.kernels_ns + parts.copies_ns + parts.gaps_ns + parts.host_ns, parts.whole_ns);
    CHECK_INT(node_ns[0], 300);
    CHECK_INT(node_ns[1], 100);
    CHECK_INT(gap_ns[0], 100);
    CHECK_INT(gap_ns[1], 0);
    CHECK_INT(parts.kernels, 3);
    CHECK_INT(parts.copies, 2);
    CHECK_INT(parts.streams, 2);
    CHECK_INT(parts.graphs, 1);
    assay__gpu_lesson_free(&lesson);
    assay__gpu_work_free(&work);
}

static const char *kernel_names[] = {"gather", "range", "sgemm", "add"};

/* A run of those kernels, from work of a pass whose names are these. */
static struct assay__gpu_run run_of(const int *kernels, size_t count)
{
    struct assay__gpu_run run = {.first = work.count, .count = count};
    for (size_t i = 0; i < count; i++) {
        kernel_record(100 + i, 101 + i, (uint32_t)(work.count + 1), 1, 0);
        work.items[work.count - 1].name = kernel_names[kernels[i]];
    }
    return run;
}

/* Nodes 0 … 4: gather, gather + add, range, sgemm + add, gather. */
static void test_rearrange(void)
{
    static const int learnt[] = {0, 0, 3, 1, 2, 3, 0}, moved[] = {1, 0, 0, 3, 2, 3, 0},
                     late[] = {0, 1, 2, 3, 0, 3, 0}, other[] = {0, 0, 3, 1, 2, 3, 1};
    static size_t nodes[] = {0, 1, 1, 2, 3, 3, 4};
    struct assay__gpu_lesson lesson = {
        .names = calloc(7, sizeof *lesson.names), .nodes = malloc(sizeof nodes), .count = 7};
    size_t equal = 9, at;
    CHECK(lesson.names && lesson.nodes);
    memcpy(lesson.nodes, nodes, sizeof nodes);
    for (size_t i = 0; i < 7; i++)
        lesson.names[i] = kernel_names[learnt[i]];
    struct assay__gpu_run run = run_of(other, 7);
    CHECK_INT(assay__gpu_rearrange(&lesson, &work, &run, &equal), ASSAY_ENOTFOUND);
    CHECK(!memcmp(lesson.nodes, nodes, sizeof nodes));
    run = run_of(moved, 7);
    CHECK(!assay__gpu_agrees(&lesson, &work, &run, &at));
    CHECK_INT(assay__gpu_rearrange(&lesson, &work, &run, &equal), 0);
    CHECK(assay__gpu_agrees(&lesson, &work, &run, &at));
    static const size_t now[] = {2, 0, 1, 1, 3, 3, 4};
    CHECK(!memcmp(lesson.nodes, now, sizeof now));
    CHECK_INT(equal, 0);
    run = run_of(late, 7); /* the second one before its neighbour: the last may be it */
    CHECK_INT(assay__gpu_rearrange(&lesson, &work, &run, &equal), 0);
    static const size_t later[] = {0, 2, 3, 3, 1, 1, 4};
    CHECK(!memcmp(lesson.nodes, later, sizeof later));
    CHECK_INT(equal, 1);
    assay__gpu_lesson_free(&lesson);
    assay__gpu_work_free(&work);
}

/* Records that make no sense are counted or ignored; nothing is read beyond them. */
static void test_bad_records(void)
{
    struct assay__cuda_record head = {ASSAY__CUDA_KERNEL, 0, 4096};
    assay__gpu_work_take(&work, &head, sizeof head); /* longer than what there is */
    head.bytes = 0;
    assay__gpu_work_take(&work, &head, sizeof head);
    kernel_record(0, 10, 1, 1, 0); /* CUPTI could not read the clock */
    kernel_record(20, 10, 1, 1, 0);
    CHECK_INT(work.count, 0);
    CHECK_INT(work.dropped, 2);
    struct assay__gpu_run run = {.begin_ns = 5, .end_ns = 30};
    struct assay__gpu_parts parts;
    assay__gpu_work_order(&work);
    assay__gpu_find_runs(&work, &run, 1);
    CHECK_INT(assay__gpu_divide(&work, &run, NULL, &parts, NULL, NULL), 0);
    CHECK_INT(parts.host_ns, 25);
    CHECK_INT(parts.kernels_ns + parts.copies_ns + parts.gaps_ns, 0);
    assay__gpu_work_free(&work);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"exact", test_exact},
        {"other_speed", test_other_speed},
        {"other_kernels", test_other_kernels},
        {"graph", test_graph},
        {"graph_of_others", test_graph_of_others},
        {"graph_unseen", test_graph_unseen},
        {"lost_records", test_lost_records},
        {"odd_runs", test_odd_runs},
        {"refused", test_refused},
        {"timeline", test_timeline},
        {"timeline_of_graph", test_timeline_of_graph},
        {"overlap", test_overlap},
        {"rearrange", test_rearrange},
        {"bad_records", test_bad_records},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof *tests);
}
