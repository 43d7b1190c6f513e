/* test_import_cupti.c - files of the CUDA recorder: every kind of record with exact values, ranges
 * that are not closed, calls within calls, damaged and torn blocks, a recorder that failed. */
#include "import_fixture.h"

#include "base/cuda_trace.h"

#include <zlib.h>

#define BASE 1700000000000000000u
#define PID 4242u

static unsigned char bytes[1 << 16];
static size_t used, block_at;

static void begin_file(void)
{
    struct assay__cuda_file_head head = {.version = ASSAY__CUDA_FILE_VERSION,
                                         .head_bytes = sizeof head};
    memcpy(head.magic, ASSAY__CUDA_FILE_MAGIC, sizeof head.magic);
    memcpy(bytes, &head, sizeof head);
    used = sizeof head;
}

static void begin_block(void)
{
    block_at = used;
    used += sizeof(struct assay__cuda_block_head);
}

static void end_block(void)
{
    struct assay__cuda_block_head head = {.mark = ASSAY__CUDA_BLOCK_MARK};
    head.bytes = (uint32_t)(used - block_at - sizeof head);
    head.crc = (uint32_t)crc32(0, bytes + block_at + sizeof head, head.bytes);
    memcpy(bytes + block_at, &head, sizeof head);
}

static void put(void *record, size_t size, enum assay__cuda_record_type type)
{
    struct assay__cuda_record *head = record;
    head->type = (uint16_t)type;
    head->bytes = (uint32_t)size;
    memcpy(bytes + used, record, size);
    used += size;
}
#define PUT(type, structure, ...) \
    put(&(struct structure){__VA_ARGS__}, sizeof(struct structure), type)

static void string(uint32_t number, const char *text)
{
    size_t length = strlen(text), padded = (length + 7) / 8 * 8;
    struct assay__cuda_string record = {
        {ASSAY__CUDA_STRING, 0, (uint32_t)(sizeof record + padded)}, number, (uint32_t)length};
    memcpy(bytes + used, &record, sizeof record);
    memset(bytes + used + sizeof record, 0, padded);
    memcpy(bytes + used + sizeof record, text, length);
    used += sizeof record + padded;
}

static void process(void)
{
    PUT(ASSAY__CUDA_PROCESS, assay__cuda_process, .unix_ns = (int64_t)BASE,
        .cupti_ns = (int64_t)BASE + 5, .pid = PID, .cupti_version = 130001,
        .driver_version = 13000);
}

static void kernel(uint64_t start_ns, uint64_t end_ns, uint32_t name, uint32_t correlation)
{
    PUT(ASSAY__CUDA_KERNEL, assay__cuda_kernel, .start_ns = start_ns, .end_ns = end_ns,
        .name = name, .correlation = correlation, .context = 1, .stream = 7, .graph = 3,
        .grid = {16, 2, 1}, .block = {128, 1, 1});
}

static void call(uint64_t start_ns, uint64_t end_ns, uint32_t name, uint32_t correlation,
                 bool is_driver)
{
    PUT(ASSAY__CUDA_CALL, assay__cuda_call, .start_ns = start_ns, .end_ns = end_ns, .name = name,
        .correlation = correlation, .thread = 77, .is_driver = is_driver);
}

static void mark(uint64_t time_ns, enum assay__cuda_mark_kind kind, uint64_t id, uint32_t name)
{
    PUT(ASSAY__CUDA_MARK, assay__cuda_mark, .time_ns = time_ns, .kind = kind, .id = id,
        .name = name, .thread = 77);
}

static void left(void)
{
    PUT(ASSAY__CUDA_STATE, assay__cuda_state, .time_ns = BASE + 100000,
        .state = ASSAY__CUDA_STATE_END);
}

static struct assay__events *imported(void)
{
    return import_path(trace_written("program.cutrace", bytes, used));
}

#define CHECK_EVENT(events, at, event_kind, start, duration)          \
    do {                                                              \
        CHECK_INT((events)->kind[at], event_kind);                    \
        CHECK_INT((events)->start_ns[at], (int64_t)(BASE + (start))); \
        CHECK_INT((events)->duration_ns[at], duration);               \
    } while (0)

static void write_whole(void)
{
    begin_file();
    begin_block();
    process();
    string(1, "sgemm");
    string(2, "cudaLaunchKernel");
    string(3, "cuLaunchKernel");
    string(4, "step");
    string(5, "NVIDIA H200");
    string(6, "cudaMemcpyAsync");
    string(7, "cudaStreamSynchronize");
    mark(BASE + 500, ASSAY__CUDA_MARK_PUSH, 0, 4);
    call(BASE + 1000, BASE + 6000, 2, 11, false);
    call(BASE + 2000, BASE + 5000, 3, 11, true); /* within the one before */
    kernel(BASE + 8000, BASE + 18000, 1, 11);
    end_block();
    begin_block(); /* strings are numbered through the file */
    PUT(ASSAY__CUDA_DEVICE, assay__cuda_device, .memory_bytes = 1 << 20, .name = 5);
    call(BASE + 20000, BASE + 23000, 6, 12, false);
    PUT(ASSAY__CUDA_COPY, assay__cuda_copy, .start_ns = BASE + 21000, .end_ns = BASE + 22500,
        .bytes = 4096, .correlation = 12, .context = 1, .stream = 7, .kind = 1, .from = 1, .to = 3);
    PUT(ASSAY__CUDA_MEMSET, assay__cuda_memset, .start_ns = BASE + 24000, .end_ns = BASE + 24100,
        .bytes = 512, .correlation = 13, .context = 1, .stream = 8);
    PUT(99, assay__cuda_state, .time_ns = 1); /* of a later version */
    call(BASE + 25000, BASE + 26000, 7, 14, false);
    PUT(ASSAY__CUDA_WAIT, assay__cuda_wait, .start_ns = BASE + 25100, .end_ns = BASE + 25900,
        .type = 3, .correlation = 14, .context = 1, .stream = 7);
    mark(BASE + 30000, ASSAY__CUDA_MARK_POP, 0, 0);
    mark(BASE + 31000, ASSAY__CUDA_MARK_POP, 0, 0); /* its beginning was not recorded */
    left();
    end_block();
}

static void check_work(const struct assay__events *events)
{
    size_t at = event_named(events, "sgemm");
    const struct assay__event_args *args = assay__event_args(events, at);
    CHECK_EVENT(events, at, ASSAY__EVENT_KERNEL, 8000, 10000);
    CHECK_INT(events->correlation[at], (uint64_t)PID << 32 | 11);
    CHECK_INT(args->grid[0], 16);
    CHECK_INT(args->grid[1], 2);
    CHECK_INT(args->block[0], 128);
    CHECK_STR(args->state, "CUDA graph 3");
    const struct assay__track *track = track_at(events, at);
    CHECK_INT(track->kind, ASSAY__TRACK_STREAM);
    CHECK_INT(track->device, 0);
    CHECK_INT(track->stream, 7);
    CHECK_INT(track->pid, PID);
    CHECK_STR(track->group, "NVIDIA H200");
    at = event_named(events, "Memcpy HtoD");
    CHECK_EVENT(events, at, ASSAY__EVENT_COPY, 21000, 1500);
    CHECK_INT(events->bytes[at], 4096);
    CHECK_INT(assay__event_args(events, at)->direction, ASSAY__COPY_TO_DEVICE);
    CHECK_INT(assay__event_args(events, at)->from, ASSAY__MEMORY_PAGEABLE);
    CHECK_INT(assay__event_args(events, at)->to, ASSAY__MEMORY_DEVICE);
    at = event_named(events, "Memset");
    CHECK_EVENT(events, at, ASSAY__EVENT_MEMSET, 24000, 100);
    CHECK_INT(events->bytes[at], 512);
    CHECK_INT(track_at(events, at)->stream, 8);
}

static void test_whole(void)
{
    write_whole();
    struct assay__events *events = imported();
    CHECK_INT(events->count, 8); /* the driver's part of the launch is left out */
    check_work(events);
    size_t at = event_named(events, "cudaLaunchKernel");
    CHECK_EVENT(events, at, ASSAY__EVENT_LAUNCH, 1000, 5000);
    CHECK_INT(events->correlation[at], (uint64_t)PID << 32 | 11);
    CHECK_INT(track_at(events, at)->tid, 77);
    CHECK_EVENT(events, event_named(events, "cudaMemcpyAsync"), ASSAY__EVENT_LAUNCH, 20000, 3000);
    at = event_named(events, "cudaStreamSynchronize");
    CHECK_EVENT(events, at, ASSAY__EVENT_SYNC, 25000, 1000);
    at = event_named(events, "Stream Sync");
    CHECK_EVENT(events, at, ASSAY__EVENT_DEVICE_WAIT, 25100, 800);
    CHECK_EVENT(events, event_named(events, "step"), ASSAY__EVENT_RANGE, 500, 29500);
    CHECK_INT(events->source_count, 1);
    CHECK_STR(events->sources[0].format, "cupti");
    CHECK_STR(events->sources[0].producer, "assay (CUPTI 130001, driver of CUDA 13.0)");
    CHECK_STR(events->sources[0].clock, ASSAY__IMPORT_CLOCK_UNIX);
    CHECK_INT(events->sources[0].offset_ns, 0);
    CHECK_INT(events->sources[0].skipped, 0);
    CHECK(!events->sources[0].truncated);
    assay__events_free(events);
}

/* Each cut is read up to its last whole block. */
static void test_torn(void)
{
    write_whole();
    size_t whole = used;
    for (size_t size = 0; size < whole; size++) {
        struct assay__events *events = NULL;
        struct assay_error error = {0};
        int code = import_code(trace_written("torn.cutrace", bytes, size), &events, &error);
        bool has_head = size >= sizeof(struct assay__cuda_file_head);
        CHECK_INT(code, has_head ? 0 : ASSAY_EFORMAT);
        if (!code) {
            CHECK(events->sources[0].truncated);
            CHECK_INT(events_of(events, ASSAY__EVENT_KERNEL), size >= block_at);
            CHECK_INT(events_of(events, ASSAY__EVENT_COPY), 0);
        }
        assay__events_free(events);
    }
}

static void test_damaged(void)
{
    write_whole();
    bytes[block_at + sizeof(struct assay__cuda_block_head) + 20] ^= 1;
    struct assay__events *events = imported();
    CHECK(events->sources[0].truncated);
    CHECK_STR(events->sources[0].complaint, "a block whose checksum is wrong");
    CHECK_INT(events_of(events, ASSAY__EVENT_KERNEL), 1);
    CHECK_INT(events_of(events, ASSAY__EVENT_COPY), 0);
    /* the range that was open ends with the last that was seen */
    CHECK_EVENT(events, event_named(events, "step"), ASSAY__EVENT_RANGE, 500, 17500);
    assay__events_free(events);
}

static void test_dropped(void)
{
    begin_file();
    begin_block();
    process();
    string(1, "sgemm");
    kernel(BASE + 1000, BASE + 2000, 1, 1);
    kernel(0, 0, 1, 2);                     /* CUPTI could not read the clock */
    kernel(BASE + 3000, BASE + 2000, 1, 3); /* ends before it starts */
    PUT(ASSAY__CUDA_DROPPED, assay__cuda_dropped, .by_cupti = 5, .marks = 2);
    PUT(ASSAY__CUDA_DROPPED, assay__cuda_dropped, .by_cupti = 1);
    left();
    end_block();
    struct assay__events *events = imported();
    CHECK_INT(events->count, 1);
    CHECK_INT(events->sources[0].skipped, 2 + 8);
    CHECK(!events->sources[0].truncated);
    assay__events_free(events);
}

/* A recording that could not begin: its reason is the error. */
static void test_failure(void)
{
    struct assay__events *events = NULL;
    struct assay_error error = {0};
    begin_file();
    begin_block();
    process();
    string(1, "CUPTI was not found; name it");
    PUT(ASSAY__CUDA_FAILURE, assay__cuda_failure, .text = 1);
    end_block();
    CHECK_INT(import_code(trace_written("failed.cutrace", bytes, used), &events, &error),
              ASSAY_EFORMAT);
    CHECK_STR(error.message, "CUPTI was not found; name it");
    CHECK(!events);
}

/* A clock of CUPTI that is not Unix time is moved to it. */
static void test_other_clock(void)
{
    begin_file();
    begin_block();
    PUT(ASSAY__CUDA_PROCESS, assay__cuda_process, .unix_ns = (int64_t)BASE, .cupti_ns = 5000000000,
        .pid = PID);
    string(1, "sgemm");
    kernel(5000001000, 5000003000, 1, 1);
    left();
    end_block();
    struct assay__events *events = imported();
    CHECK_EVENT(events, event_named(events, "sgemm"), ASSAY__EVENT_KERNEL, 1000, 2000);
    assay__events_free(events);
}

static void test_impossible(void)
{
    struct assay__cuda_record head = {ASSAY__CUDA_KERNEL, 0, 4};
    begin_file();
    begin_block();
    process();
    string(1, "sgemm");
    kernel(BASE + 1000, BASE + 2000, 1, 1);
    kernel(BASE + 3000, BASE + 4000, 900, 2);              /* a name that was never told */
    PUT(ASSAY__CUDA_COPY, assay__cuda_record, .flags = 0); /* too short */
    memcpy(bytes + used, &head, sizeof head);              /* shorter than its own head */
    used += sizeof head;
    end_block();
    struct assay__events *events = imported();
    CHECK_INT(events_of(events, ASSAY__EVENT_KERNEL), 2);
    CHECK_INT(events->count, 2);
    CHECK_INT(events->sources[0].skipped, 2);
    assay__events_free(events);
    begin_file();
    bytes[8] = 9; /* of another version */
    struct assay_error error = {0};
    events = NULL;
    CHECK_INT(import_code(trace_written("later.cutrace", bytes, used), &events, &error),
              ASSAY_EFORMAT);
}

static void span(uint64_t start_ns, uint64_t end_ns, uint32_t name, uint32_t op, uint32_t kind)
{
    PUT(ASSAY__CUDA_SPAN, assay__cuda_span, .start_ns = start_ns, .end_ns = end_ns, .name = name,
        .op = op, .thread = PID, .kind = kind);
}

/* Layers and inferences of a worker: those that cannot be are counted, names that are nowhere are
 * unknown, and of a record that is too short nothing is read. */
static void test_spans(void)
{
    begin_file();
    begin_block();
    process();
    string(1, "conv1");
    string(2, "Conv");
    span(BASE + 1000, BASE + 9000, 1, 0, ASSAY__CUDA_SPAN_STEP);
    span(BASE + 2000, BASE + 5000, 1, 2, ASSAY__CUDA_SPAN_LAYER);
    span(BASE + 6000, BASE + 7000, 99, UINT32_MAX, 77); /* a kind of later versions: a layer */
    span(BASE + 8000, BASE + 7000, 1, 2, ASSAY__CUDA_SPAN_LAYER); /* ends before it starts */
    span(UINT64_MAX, UINT64_MAX, 1, 2, ASSAY__CUDA_SPAN_LAYER);
    struct assay__cuda_span record = {.start_ns = BASE, .end_ns = BASE + 1};
    put(&record, sizeof record - 16, ASSAY__CUDA_SPAN);
    left();
    end_block();
    struct assay__events *events = imported();
    CHECK_INT(events->count, 3);
    CHECK_EVENT(events, 0, ASSAY__EVENT_RANGE, 1000, 8000);
    CHECK_EVENT(events, 1, ASSAY__EVENT_OPERATOR, 2000, 3000);
    CHECK_EVENT(events, 2, ASSAY__EVENT_OPERATOR, 6000, 1000);
    CHECK_STR(assay__event_name(events, 1), "conv1");
    CHECK_STR(assay__event_args(events, 1)->operator_type, "Conv");
    CHECK_STR(assay__event_name(events, 2), "");
    CHECK(!assay__event_args(events, 2)->operator_type);
    CHECK_INT(events->sources[0].skipped, 3);
    CHECK(!events->sources[0].truncated);
    assay__events_free(events);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"whole", test_whole},           {"torn", test_torn},
        {"damaged", test_damaged},       {"dropped", test_dropped},
        {"failure", test_failure},       {"other_clock", test_other_clock},
        {"impossible", test_impossible}, {"spans", test_spans},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
