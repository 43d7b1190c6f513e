/* test_import_kineto.c - Chrome trace JSON of Kineto, TensorFlow and JAX: what is taken of each
 * event, clocks, names, ranks; and everything that is wrong with files in practice. */
#include "import_fixture.h"

#include "import/import_stream.h"
#include "import/runtime_calls.h"

#define EVENT(name, start)                                                                     \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" start \
    ",\"dur\":1}"

static struct assay__events *import_events(const char *list)
{
    char text[8192];
    snprintf(text, sizeof text, "{\"schemaVersion\": 1, \"traceEvents\": [%s]}", list);
    return import_text(text);
}

static const struct assay__trace_source *source_of(const struct assay__events *events)
{
    CHECK_INT(events->source_count, 1);
    return &events->sources[0];
}

/* --- what is taken ---------------------------------------------------------------------------- */

static void test_fixture(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json");
    const struct assay__trace_source *source = source_of(events);
    CHECK_STR(source->format, "kineto");
    CHECK_STR(source->producer, "PyTorch profiler (CUDA 12.4)");
    CHECK_STR(source->clock, ASSAY__IMPORT_CLOCK_UNIX);
    CHECK_INT(source->rank, 3);
    CHECK_INT(source->world_size, 8);
    CHECK_INT(source->offset_ns, 1700000000000000000);
    CHECK_INT(source->skipped, 0);
    CHECK_INT(source->events, events->count);
    size_t kernel = event_named(events, "gemm");
    CHECK_INT(events->kind[kernel], ASSAY__EVENT_KERNEL);
    CHECK_INT(events->start_ns[kernel], 1700000000000000000 + 1000020500);
    CHECK_INT(events->duration_ns[kernel], 9472);
    CHECK_INT(events->correlation[kernel], 77);
    CHECK_INT(assay__event_args(events, kernel)->grid[1], 64);
    CHECK_INT(assay__event_args(events, kernel)->block[0], 384);
    CHECK_INT(track_at(events, kernel)->device, 1);
    CHECK_INT(track_at(events, kernel)->stream, 7);
    CHECK_INT(track_at(events, kernel)->rank, 3);
    CHECK_STR(track_at(events, kernel)->name, "stream 7");
    CHECK_STR(track_at(events, kernel)->group, "Second GPU");
    size_t launch = event_named(events, "cudaLaunchKernel");
    CHECK_INT(events->kind[launch], ASSAY__EVENT_LAUNCH);
    CHECK_INT(events->correlation[launch], 77);
    CHECK_STR(track_at(events, launch)->name, "main thread");
    CHECK_STR(track_at(events, launch)->group, "python3 (100)");
    assay__events_free(events);
}

static void test_fixture_copies(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json");
    size_t copy = event_named(events, "Memcpy HtoD (Pageable -> Device)");
    const struct assay__event_args *args = assay__event_args(events, copy);
    CHECK_INT(events->kind[copy], ASSAY__EVENT_COPY);
    CHECK_INT(events->bytes[copy], 92928);
    CHECK_INT(args->direction, ASSAY__COPY_TO_DEVICE);
    CHECK_INT(args->from, ASSAY__MEMORY_PAGEABLE);
    CHECK_INT(args->to, ASSAY__MEMORY_DEVICE);
    CHECK_INT(events->kind[event_named(events, "Memset (Device)")], ASSAY__EVENT_MEMSET);
    size_t wait = event_named(events, "Stream Wait Event");
    CHECK_INT(events->kind[wait], ASSAY__EVENT_DEVICE_WAIT);
    CHECK_INT(track_at(events, wait)->kind, ASSAY__TRACK_STREAM);
    CHECK_INT(events->kind[event_named(events, "Optimizer.step#SGD.step")],
              ASSAY__EVENT_DEVICE_RANGE);
    assay__events_free(events);
}

static void test_fixture_host(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json");
    size_t mm = event_named(events, "aten::mm");
    CHECK_INT(events->kind[mm], ASSAY__EVENT_OPERATOR);
    CHECK_STR(assay__event_args(events, mm)->shapes, "[[2, 3], [3, 4]]");
    CHECK_STR(assay__event_args(events, mm)->types, "[\"float\", \"float\"]");
    CHECK_INT(events->kind[event_named(events, "cudaStreamSynchronize")], ASSAY__EVENT_SYNC);
    CHECK_INT(events->kind[event_named(events, "cudaStreamIsCapturing")], ASSAY__EVENT_RUNTIME);
    CHECK_INT(events->kind[event_named(events, "train.py(12): \"step\" \xc3\xa9\xf0\x9f\x98\x80")],
              ASSAY__EVENT_PYTHON);
    CHECK_INT(events->kind[event_named(events, "ProfilerStep#1")], ASSAY__EVENT_RANGE);
    size_t nccl = event_named(events, "ncclDevKernel_AllReduce");
    CHECK_STR(assay__event_args(events, nccl)->collective, "allreduce");
    CHECK_STR(assay__event_args(events, nccl)->types, "BFloat16");
    CHECK_INT(assay__event_args(events, nccl)->group_size, 8);
    CHECK_INT(events->bytes[nccl], 2000);
    size_t memory = event_named(events, "[memory]");
    CHECK_INT(events->kind[memory], ASSAY__EVENT_ALLOCATION);
    CHECK_INT(events->bytes[memory], -4096);
    CHECK_INT(events->counter_count, 2);
    CHECK_STR(events->counters[0].name, "memory allocated");
    CHECK_NEAR(events->counters[0].values[0], 123456, 0);
    CHECK_STR(events->counters[1].name, "queue.depth");
    CHECK_NEAR(events->counters[1].values[0], 2.5, 0);
    size_t span = event_named(events, "PyTorch Profiler (0)");
    CHECK_INT(events->kind[span], ASSAY__EVENT_OTHER);
    CHECK_INT(track_at(events, span)->kind, ASSAY__TRACK_OTHER);
    CHECK_STR(track_at(events, span)->group, "Spans");
    assay__events_free(events);
}

static void test_hip(void)
{
    struct assay__events *events = import_events(
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Host -> Device)\",\"pid\":2,"
        "\"tid\":0,\"ts\":20,\"dur\":5,\"args\":{\"device\":2,\"stream\":0,\"correlation\":117}},"
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"hipMemcpyWithStream\",\"pid\":9,\"tid\":"
        "9,"
        "\"ts\":10,\"dur\":16,\"args\":{\"stream\":\"0x0\",\"correlation\":117,\"size\":\"2560\"}"
        "}");
    CHECK_INT(events->count, 2);
    CHECK_INT(events->kind[0], ASSAY__EVENT_LAUNCH);
    CHECK_INT(events->kind[1], ASSAY__EVENT_COPY);
    CHECK_INT(events->bytes[1], 2560); /* the call says it, the copy does not */
    CHECK_INT(assay__event_args(events, 1)->from, ASSAY__MEMORY_UNKNOWN);
    CHECK_INT(assay__event_args(events, 1)->direction, ASSAY__COPY_TO_DEVICE);
    assay__events_free(events);
}

/* Each stream of a device is a process there; "all" repeats the others. */
static void test_tensorflow_1(void)
{
    struct assay__events *events = import_text(
        "{\"traceEvents\": ["
        "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"/job:a/replica:0/task:0/device:GPU:0 Compute\"}},"
        "{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"/device:GPU:0/stream:all Compute\"}},"
        "{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"/device:GPU:0/stream:14 Compute\"}},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"host\",\"pid\":1,\"tid\":0,\"ts\":1,\"dur\":2},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"all\",\"pid\":2,\"tid\":0,\"ts\":3,\"dur\":4},"
        "{\"ph\":\"X\",\"cat\":\"Op\",\"name\":\"one\",\"pid\":3,\"tid\":0,\"ts\":3,\"dur\":4}]}");
    CHECK_INT(events->kind[event_named(events, "host")], ASSAY__EVENT_OPERATOR);
    CHECK_INT(events->kind[event_named(events, "all")], ASSAY__EVENT_KERNEL);
    CHECK_INT(events->kind[event_named(events, "one")], ASSAY__EVENT_DEVICE_RANGE);
    CHECK_STR(track_at(events, event_named(events, "all"))->group, "GPU:0");
    CHECK_STR(source_of(events)->producer, "TensorFlow or JAX profiler");
    assay__events_free(events);
}

/* Categories that nobody knows are work if there are no others, else only shown. */
static void test_another_program(void)
{
    static const char task[] = "{\"ph\":\"X\",\"cat\":\"toplevel\",\"name\":\"task\",\"pid\":1,"
                               "\"tid\":2,\"ts\":1,\"dur\":2}";
    char list[512];
    struct assay__events *events = import_events(task);
    CHECK_INT(events->kind[0], ASSAY__EVENT_CPU);
    assay__events_free(events);
    snprintf(list, sizeof list, "%s,%s", task, EVENT("known", "5"));
    events = import_events(list);
    CHECK_INT(events->kind[event_named(events, "task")], ASSAY__EVENT_OTHER);
    assay__events_free(events);
    events = import_text("[{\"ph\":\"B\",\"name\":\"f\",\"pid\":\"main\",\"tid\":\"T\",\"ts\":1},"
                         "{\"ph\":\"E\",\"pid\":\"main\",\"tid\":\"T\",\"ts\":5}]");
    CHECK_INT(events->kind[0], ASSAY__EVENT_CPU);
    CHECK_INT(track_at(events, 0)->kind, ASSAY__TRACK_THREAD);
    CHECK_STR(track_at(events, 0)->group, "main");
    assay__events_free(events);
}

static void test_names_alone_are_nothing(void)
{
    struct assay__events *events = NULL;
    struct assay_error error = {0};
    static const char text[] = "{\"traceEvents\": [{\"ph\":\"M\",\"pid\":1,\"name\":"
                               "\"process_name\",\"args\":{\"name\":\"a\"}}]}";
    CHECK_INT(assay__import_bytes(text, sizeof text - 1, 0, NULL, &events, &error), ASSAY_EFORMAT);
    CHECK(events == NULL);
}

static void test_jax(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "jax.json");
    CHECK_STR(source_of(events)->clock, ASSAY__IMPORT_CLOCK_OWN);
    CHECK_STR(source_of(events)->producer, "TensorFlow or JAX profiler");
    CHECK_INT(source_of(events)->skipped, 0);
    size_t kernel = event_named(events, "loop_fusion");
    CHECK_INT(events->kind[kernel], ASSAY__EVENT_KERNEL);
    CHECK_INT(track_at(events, kernel)->kind, ASSAY__TRACK_STREAM);
    CHECK_INT(track_at(events, kernel)->device, 0);
    CHECK_INT(track_at(events, kernel)->stream, 13);
    CHECK_INT(assay__event_args(events, kernel)->grid[0], 8);
    CHECK_INT(assay__event_args(events, kernel)->block[0], 128);
    size_t copy = event_named(events, "MemcpyH2D");
    CHECK_INT(events->kind[copy], ASSAY__EVENT_COPY);
    CHECK_INT(events->bytes[copy], 4096);
    CHECK_INT(assay__event_args(events, copy)->direction, ASSAY__COPY_TO_DEVICE);
    CHECK_INT(assay__event_args(events, copy)->from, ASSAY__MEMORY_PINNED);
    CHECK_INT(events->correlation[copy], 12);
    CHECK_INT(events->kind[event_named(events, "jit_step")], ASSAY__EVENT_DEVICE_RANGE);
    CHECK_INT(events->kind[event_named(events, "cuLaunchKernel")], ASSAY__EVENT_LAUNCH);
    CHECK_INT(events->kind[event_named(events, "$train.py:7 main")], ASSAY__EVENT_PYTHON);
    assay__events_free(events);
}

static void test_calls(void)
{
    static const struct {
        const char *name;
        enum assay__event_kind kind;
    } calls[] = {
        {"cudaLaunchKernel", ASSAY__EVENT_LAUNCH},
        {"cudaLaunchKernelExC_v11060", ASSAY__EVENT_LAUNCH},
        {"cuLaunchKernelEx", ASSAY__EVENT_LAUNCH},
        {"cudaLaunchCooperativeKernel", ASSAY__EVENT_LAUNCH},
        {"cudaGraphLaunch_v10000", ASSAY__EVENT_LAUNCH},
        {"cudaGraphInstantiateWithFlags", ASSAY__EVENT_RUNTIME},
        {"cudaMemcpyAsync", ASSAY__EVENT_LAUNCH},
        {"cudaMemcpy", ASSAY__EVENT_LAUNCH},
        {"cuMemcpyHtoDAsync_v2", ASSAY__EVENT_LAUNCH},
        {"cudaMemsetAsync", ASSAY__EVENT_LAUNCH},
        {"hipExtModuleLaunchKernel", ASSAY__EVENT_LAUNCH},
        {"hipModuleLaunchKernel", ASSAY__EVENT_LAUNCH},
        {"cudaDeviceSynchronize", ASSAY__EVENT_SYNC},
        {"cudaStreamSynchronize_v3020", ASSAY__EVENT_SYNC},
        {"cuCtxSynchronize", ASSAY__EVENT_SYNC},
        {"hipEventSynchronize", ASSAY__EVENT_SYNC},
        {"cudaStreamWaitEvent", ASSAY__EVENT_RUNTIME},
        {"cudaEventQuery", ASSAY__EVENT_RUNTIME},
        {"cudaMalloc", ASSAY__EVENT_RUNTIME},
        {"cudaFree", ASSAY__EVENT_RUNTIME},
        {"cudaFuncSetAttribute", ASSAY__EVENT_RUNTIME},
        {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", ASSAY__EVENT_RUNTIME},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (assay__runtime_call_kind(calls[i].name) != calls[i].kind)
            printf("  %s\n", calls[i].name);
        CHECK_INT(assay__runtime_call_kind(calls[i].name), calls[i].kind);
    }
}

/* --- forms of the text ------------------------------------------------------------------------ */

static void test_forms(void)
{
    static const char *const texts[] = {
        "[" EVENT("a", "1") "," EVENT("b", "2") "]",
        "[" EVENT("a", "1") ",\n" EVENT("b", "2") ",\n", /* the end may be missing */
        "\xef\xbb\xbf{\"traceEvents\":[" EVENT("a", "1") "," EVENT("b", "2") ",]}",
        "{\"otherData\":{\"x\":[1,{\"y\":\"]}\"}]},\"traceEvents\":[" EVENT("a", "1") "," EVENT(
            "b", "2") "],\"stackFrames\":{\"1\":{\"name\":\"\\\"\"}}}",
        "{\"traceEvents\" : [\r\n\t" EVENT("a", "1") "\t,\t" EVENT("b", "2") "\r\n] , }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct assay__events *events = import_text(texts[i]);
        CHECK_INT(events->count, 2);
        CHECK_INT(source_of(events)->skipped, 0);
        CHECK_INT(source_of(events)->truncated, false);
        CHECK_STR(source_of(events)->complaint, "");
        assay__events_free(events);
    }
}

/* Digits that a double does not hold; fractions of nanoseconds are rounded. */
static void test_exact_times(void)
{
    static const struct {
        const char *text;
        int64_t ns;
    } times[] = {
        {"1712195495519689.123", 1712195495519689123},
        {"1712195495519689.1239", 1712195495519689124},
        {"9007199254740993.001", 9007199254740993001},
        {"9223372036854775.807", INT64_MAX - 1 + 1},
        {"1.5e3", 1500000},
        {"15e-1", 1500},
        {"0.0004", 0},
        {"0.0005", 1},
        {"-12.5", -12500},
        {"\"42.25\"", 42250},
        {"1712195495519689.12345678901234567890123", 1712195495519689123},
        {"0.00000000000000000000000000000000001", 0},
        {"1E+2", 100000},
        {"007", 7000},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "{\"ph\":\"i\",\"name\":\"t\",\"pid\":1,\"tid\":1,\"ts\":%s}," EVENT("x", "1"),
                 times[i].text);
        struct assay__events *events = import_events(text);
        size_t event = event_named(events, "t");
        if (events->start_ns[event] != times[i].ns) printf("  %s\n", times[i].text);
        CHECK_INT(events->start_ns[event], times[i].ns);
        assay__events_free(events);
    }
}

static void test_begin_and_end(void)
{
#define AT(phase, name, thread, time) \
    "{\"ph\":\"" phase "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" thread ",\"ts\":" time "},"
    static const char text[] = AT("B", "outer", "1", "10") AT("B", "other", "2", "11")
        AT("B", "inner", "1", "12") AT("E", "", "1", "15") AT("E", "", "2", "16")
            AT("E", "", "1", "20") AT("E", "", "1", "21") AT("B", "open", "1", "30")
                AT("B", "back", "3", "30") AT("E", "", "3", "29");
    char events_text[sizeof text];
    memcpy(events_text, text, sizeof text);
    events_text[sizeof text - 2] = '\0'; /* no comma after the last */
    struct assay__events *events = import_events(events_text);
#undef AT
    CHECK_INT(events->count, 3);
    CHECK_INT(events->duration_ns[event_named(events, "outer")], 10000);
    CHECK_INT(events->duration_ns[event_named(events, "inner")], 3000);
    CHECK_INT(events->duration_ns[event_named(events, "other")], 5000);
    CHECK_INT(source_of(events)->skipped, 3); /* an end too many, one back in time, one left open */
    assay__events_free(events);
}

/* An event at every offset to the windows' seams, and one much larger than a window. */
static void test_seams(void)
{
    enum { LARGE = 3 << 20, COUNT = 3000 };
    char *text = malloc((size_t)LARGE + COUNT * 400), *at = text;
    CHECK(text != NULL);
    at += sprintf(at, "[");
    for (int i = 0; i < COUNT; i++) {
        at += sprintf(at, "{\"ph\":\"X\",\"name\":\"e%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":2,",
                      i, i);
        at += sprintf(at, "\"args\":{\"pad\":\"%*s\"}},", i % 263, "\\\"");
    }
    at += sprintf(at, "{\"ph\":\"X\",\"args\":{\"long\":\"");
    memset(at, 'x', LARGE);
    at += LARGE;
    at += sprintf(at, "\"},\"name\":\"large\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":2}]", COUNT);
    struct assay__events *events = import_path(
        trace_written("seams.json", text, (size_t)(at - text)));
    free(text);
    CHECK_INT(source_of(events)->skipped, 0);
    CHECK_INT(events->count, COUNT + 1);
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d", i);
        CHECK_STR(assay__event_name(events, (size_t)i), name);
        CHECK_INT(events->start_ns[i], i * 1000);
    }
    CHECK_STR(assay__event_name(events, COUNT), "large");
    assay__events_free(events);
}

static void test_too_large_an_event(void)
{
    enum { MEMBER_BYTES = 9 << 20 };
    char *text = malloc((size_t)MEMBER_BYTES + 1000), *at = text;
    CHECK(text != NULL);
    at += sprintf(at, "{\"pad\":\"");
    memset(at, 'y', MEMBER_BYTES); /* a member of the outermost object that fits no window */
    at += MEMBER_BYTES;
    at += sprintf(at, "\",\"traceEvents\":[" EVENT("a", "1") "]}");
    /* Its beginning does not tell what it is. */
    struct assay__import_options options = {.format = "kineto"};
    const char *path = trace_written("member.json", text, (size_t)(at - text));
    struct assay__events *events = NULL;
    CHECK_INT(import_code(path, &events, NULL), ASSAY_EFORMAT);
    CHECK_INT(assay__import(&path, 1, &options, &events, NULL), 0);
    CHECK_INT(events->count, 1);
    CHECK_INT(source_of(events)->skipped, 0);
    assay__events_free(events);
    at = text + sprintf(text, "[" EVENT("a", "1") ",{\"ph\":\"X\",\"name\":\"");
    memset(at, 'z', MEMBER_BYTES);
    at += MEMBER_BYTES;
    at += sprintf(at, "\"}," EVENT("b", "2") "]");
    events = import_path(trace_written("event.json", text, (size_t)(at - text)));
    free(text);
    CHECK_INT(events->count, 2);
    CHECK_INT(source_of(events)->skipped, 1);
    CHECK_HAS(source_of(events)->complaint, "larger than 8 MiB");
    assay__events_free(events);
}

/* --- what is wrong with files ----------------------------------------------------------------- */

/* A piece between two sound events: both are read, and that many are counted. */
static void check_bad(const char *piece, size_t more, size_t skipped)
{
    char text[2048];
    snprintf(text, sizeof text, EVENT("before", "1") ",%s," EVENT("after", "9"), piece);
    struct assay__events *events = import_events(text);
    const struct assay__trace_source *source = source_of(events);
    if (events->count != 2 + more || source->skipped != skipped)
        printf("  %s: %zu events, %llu skipped\n", piece, events->count,
               (unsigned long long)source->skipped);
    CHECK_INT(events->count, 2 + more);
    CHECK_INT(source->skipped, skipped);
    CHECK((source->complaint[0] != 0) == (skipped != 0));
    event_named(events, "before");
    event_named(events, "after");
    assay__events_free(events);
}

#define WITH(members) "{\"ph\":\"X\",\"name\":\"bad\",\"pid\":1,\"tid\":1," members "}"

static void test_bad_values(void)
{
    check_bad(WITH("\"ts\":NaN,\"dur\":1"), 0, 1);
    check_bad(WITH("\"ts\":5,\"dur\":NaN"), 0, 1);
    check_bad(WITH("\"ts\":5,\"dur\":-1"), 0, 1);
    check_bad(WITH("\"ts\":5,\"dur\":0"), 1, 0);
    check_bad(WITH("\"ts\":5"), 1, 0); /* an instant */
    check_bad(WITH("\"dur\":5"), 0, 1);
    check_bad(WITH("\"ts\":99999999999999999999,\"dur\":1"), 0, 1);
    check_bad(WITH("\"ts\":1e400,\"dur\":1"), 0, 1);
    check_bad(WITH("\"ts\":9223372036854775.806,\"dur\":1"), 0, 1);
    check_bad(WITH("\"ts\":{},\"dur\":[]"), 0, 1);
    check_bad(WITH("\"ts\":\"\",\"dur\":1"), 0, 1);
    check_bad(WITH("\"ts\":.,\"dur\":1"), 0, 1);
    check_bad(WITH("\"ts\":5,\"dur\":1,\"args\":{\"correlation\":-7,\"bytes\":1e99}"), 1, 0);
    check_bad(WITH("\"ts\":5,\"dur\":1,\"args\":null"), 1, 0);
    check_bad("{\"ph\":\"X\",\"ts\":5,\"dur\":1}", 1, 0); /* no name, no thread */
    check_bad("{\"ph\":\"Z\",\"name\":\"?\",\"ts\":1}", 0, 1);
    check_bad("{\"ph\":\"\",\"name\":\"?\",\"ts\":1}", 0, 1);
    check_bad("{\"name\":\"?\",\"ts\":1}", 0, 1);
    check_bad("{}", 0, 0); /* TensorFlow fills the list up with it */
    check_bad("{\"x\":1}", 0, 1);
    check_bad("{\"ph\":\"C\",\"name\":\"c\",\"ts\":1}", 0, 1);
    check_bad("{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{\"v\":NaN,\"w\":\"x\"}}",
              0, 0);
    check_bad("{\"ph\":\"M\",\"name\":\"process_name\",\"args\":{}}", 0, 0);
    check_bad("{\"ph\":\"s\",\"id\":1},{\"ph\":\"f\",\"id\":2}", 0, 0);
}

static void test_bad_json(void)
{
    check_bad("{\"ph\":\"X\" \"name\":\"no comma\"}", 0, 1);
    check_bad("{\"ph\":\"X\",\"name\":\"unterminated}", 0, 1);
    check_bad("{\"ph\":\"X\",\"name\":}", 0, 1);
    check_bad("{\"ph\":\"X\",:1}", 0, 1);
    check_bad("{ph:1}", 0, 1);
    check_bad("17, true", 0, 1);
    check_bad("{\"ph\":\"X\",\"args\":{\"a\":[1,2}", 0, 1);
    check_bad("{\"ph\":\"X\",\"na{\"ph\":\"X\",\"name\":\"interleaved\"}", 0, 1);
    check_bad("\xff\xfe", 0, 1);
}

/* Windows' paths and other escapes that are none, and bytes that are no UTF-8. */
static void test_bad_texts(void)
{
    struct assay__events *events = import_events(
        "{\"ph\":\"i\",\"name\":\"C:\\Users\\x\",\"pid\":1,\"tid\":1,\"ts\":1},"
        "{\"ph\":\"i\",\"name\":\"\\u00e9\\ud83d\\ude00\\ud83d\\u0000\\uZZ\",\"ts\":2},"
        "{\"ph\":\"i\",\"name\":\"caf\xe9\",\"ts\":3}");
    CHECK_STR(assay__event_name(events, 0), "C:\\Users\\x");
    CHECK_STR(assay__event_name(events, 1),
              "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd\\uZZ");
    CHECK_STR(assay__event_name(events, 2), "caf\xef\xbf\xbd");
    assay__events_free(events);
}

/* Cut after every byte: never fewer events than are complete before the cut, never a crash. */
static void test_cut_anywhere(void)
{
    char *whole;
    size_t size;
    CHECK_INT(assay__file_read(TRACE_FIXTURES "kineto.json", 1 << 20, &whole, &size, NULL), 0);
    size_t before = 0, cut = strstr(whole, "\"traceEvents\"") - whole + 30;
    for (; cut < size; cut += 7) {
        struct assay__events *events;
        struct assay_error error;
        int code = import_code(trace_written("cut.json", whole, cut), &events, &error);
        if (code) {
            CHECK_INT(code, ASSAY_EFORMAT);
            CHECK_INT(before, 0);
            continue;
        }
        const struct assay__trace_source *source = source_of(events);
        CHECK(source->events >= before);
        before = source->events;
        bool inside = cut < (size_t)(strrchr(whole, ']') - whole);
        if (inside) CHECK(source->truncated && source->complaint[0]);
        assay__events_free(events);
    }
    CHECK(before > 10);
    free(whole);
}

static void test_nothing_to_read(void)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "{}",
                                        "[]",
                                        "{\"traceEvents\":[]}",
                                        "hello",
                                        "[1,2]",
                                        "{\"traceEvents\":17}",
                                        "{\"traceEvents\":[",
                                        "\xff\xfe[\0{\0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct assay__events *events;
        struct assay_error error = {0};
        const char *path = trace_written("none.json", texts[i], strlen(texts[i]));
        CHECK_INT(import_code(path, &events, &error), ASSAY_EFORMAT);
        CHECK(events == NULL && error.message[0]);
    }
}

/* --- several files ---------------------------------------------------------------------------- */

static const char *write_rank(const char *name, const char *about, const char *start)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"schemaVersion\":1,%s\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\","
        "\"pid\":0,\"tid\":7,\"ts\":%s,\"dur\":1,\"args\":{\"device\":0,\"stream\":7}}]}",
        about, start);
    return trace_written(name, text, strlen(text));
}

static void test_ranks(void)
{
    const char *paths[] = {
        write_rank("b.json", "\"distributedInfo\":{\"rank\":1,\"world_size\":2},",
                   "1700000000000005"),
        write_rank("a.json", "\"distributedInfo\":{\"rank\":0,\"world_size\":2},",
                   "1700000000000001")};
    struct assay__events *events;
    CHECK_INT(assay__import(paths, 2, NULL, &events, NULL), 0);
    CHECK_INT(events->count, 2);
    CHECK_INT(events->track_count, 2);
    CHECK_INT(track_at(events, 0)->rank, 0);
    CHECK_INT(track_at(events, 1)->rank, 1);
    CHECK_INT(events->start_ns[1] - events->start_ns[0], 4000);
    CHECK_INT(events->sources[0].rank, 1);
    CHECK_STR(events->sources[0].clock, ASSAY__IMPORT_CLOCK_UNIX);
    CHECK_STR(events->sources[1].clock, ASSAY__IMPORT_CLOCK_UNIX);
    assay__events_free(events);
}

/* Without ranks the files' order is the ranks'; without a common clock their beginnings coincide,
 * which the source says. */
static void test_unknown_ranks_and_clocks(void)
{
    const char *paths[] = {write_rank("a.json", "", "500"), write_rank("b.json", "", "90000")};
    struct assay__events *events;
    CHECK_INT(assay__import(paths, 2, NULL, &events, NULL), 0);
    CHECK_INT(events->track_count, 2);
    CHECK_INT(events->sources[1].rank, -1);
    CHECK_INT(events->start_ns[0], 500000);
    CHECK_INT(events->start_ns[1], 500000);
    CHECK_INT(events->sources[0].offset_ns, 0);
    CHECK_INT(events->sources[1].offset_ns, 500000 - 90000000);
    CHECK(strcmp(events->sources[1].clock, ASSAY__IMPORT_CLOCK_OWN) != 0);
    CHECK_INT(track_at(events, 0)->rank + track_at(events, 1)->rank, 1);
    assay__events_free(events);
}

/* The rank may stand behind the events. */
static void test_late_rank(void)
{
    struct assay__events *events = import_text(
        "{\"traceEvents\":[" EVENT("a", "5") "],\"distributedInfo\":{\"rank\":6},"
                                             "\"baseTimeNanoseconds\":1000}");
    CHECK_INT(track_at(events, 0)->rank, 6);
    CHECK_INT(events->start_ns[0], 6000);
    assay__events_free(events);
}

static void test_folder(void)
{
    struct assay__events *events;
    const char *folder = scratch_folder;
    write_rank("a.json", "", "1");
    write_rank("b.json", "", "1");
    trace_written("notes.txt", "hello", 5);
    trace_written(".hidden.json", "{}", 2);
    CHECK_INT(assay__import(&folder, 1, NULL, &events, NULL), 0);
    CHECK_INT(events->count, 2);
    CHECK_INT(events->source_count, 2);
    assay__events_free(events);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fixture", test_fixture},
        {"fixture_copies", test_fixture_copies},
        {"fixture_host", test_fixture_host},
        {"hip", test_hip},
        {"jax", test_jax},
        {"tensorflow_1", test_tensorflow_1},
        {"another_program", test_another_program},
        {"names_alone_are_nothing", test_names_alone_are_nothing},
        {"calls", test_calls},
        {"forms", test_forms},
        {"exact_times", test_exact_times},
        {"begin_and_end", test_begin_and_end},
        {"seams", test_seams},
        {"too_large_an_event", test_too_large_an_event},
        {"bad_values", test_bad_values},
        {"bad_json", test_bad_json},
        {"bad_texts", test_bad_texts},
        {"cut_anywhere", test_cut_anywhere},
        {"nothing_to_read", test_nothing_to_read},
        {"ranks", test_ranks},
        {"unknown_ranks_and_clocks", test_unknown_ranks_and_clocks},
        {"late_rank", test_late_rank},
        {"folder", test_folder},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
