/* test_cpu_stacks.c - records of the kernel's rings, written here byte by byte, folded into the CPU
 * recorder's file and read back: exact times, stacks, names, threads, counts; mappings over one
 * another, forks, executions; thinning; what is damaged. */
#include "import_fixture.h"

#include "import/import_stream.h"
#include "import/importers.h"
#include "run/tracing/cpu_stacks.h"

#include <errno.h>

#define PID 4242u
#define MS 1000000u

static struct assay__cpu_stacks *stacks;
static struct assay__cpu_file file;
static struct assay__cpu_begin first = {.unix_ns = 1700000000000000000,
                                        .monotonic_ns = 500,
                                        .rate_hz = 1000,
                                        .has_kernel = 1,
                                        .pid = PID};
static const char *path;

static void begin(uint64_t samples_most)
{
    struct assay_error error = {0};
    path = scratch("threads.samples");
    CHECK_INT(assay__cpu_file_open(&file, path, &error), 0);
    assay__cpu_file_put(&file, ASSAY__CPU_BEGIN, &first, sizeof first);
    stacks = calloc(1, sizeof *stacks);
    CHECK(stacks != NULL);
    stacks->samples_most = samples_most;
    assay__cpu_stacks_begin(stacks, &file);
}

/* As the recorder ends. */
static struct assay__events *end(int64_t running_ns)
{
    const struct assay__cpu_counts *c = &stacks->counts;
    struct assay__cpu_end last = {.running_ns = running_ns,
                                  .weight = c->weight,
                                  .samples = c->samples,
                                  .kept = c->kept,
                                  .lost = c->lost,
                                  .shallow = c->shallow,
                                  .cut = c->cut,
                                  .elapsed_ns = 1000 * MS};
    assay__cpu_file_flush(&file);
    assay__cpu_names_write(stacks, scratch_folder, 0);
    assay__cpu_file_put(&file, ASSAY__CPU_END, &last, sizeof last);
    CHECK(!assay__cpu_stacks_failed(stacks));
    assay__cpu_stacks_free(stacks);
    free(stacks);
    assay__cpu_file_close(&file);
    CHECK_INT(file.reason, 0);
    return import_path(path);
}

/* --- records ---------------------------------------------------------------------------------- */

static void take(void *record, size_t bytes, uint32_t type, uint16_t misc)
{
    struct assay__perf_head head = {.type = type, .misc = misc, .bytes = (uint16_t)bytes};
    memcpy(record, &head, sizeof head);
    assay__cpu_stacks_take(stacks, record);
}

static void sample_in(uint32_t pid, uint32_t tid, uint64_t time_ns, uint16_t mode, size_t count,
                      const uint64_t *addresses)
{
    _Alignas(8) char record[4096];
    struct assay__perf_sample about = {
        .pid = pid, .tid = tid, .time_ns = time_ns, .period = MS, .address_count = count};
    memcpy(record, &about, sizeof about);
    memcpy(record + sizeof about, addresses, count * sizeof *addresses);
    take(record, sizeof about + count * sizeof *addresses, ASSAY__PERF_SAMPLE, mode);
}
#define SAMPLE(pid, tid, time_ns, mode, ...)                                                 \
    sample_in(pid, tid, time_ns, mode, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
              (uint64_t[]){__VA_ARGS__})
#define USER ((uint64_t)-512) /* PERF_CONTEXT_USER */

static void mapped(uint32_t pid, uint64_t start, uint64_t length, uint64_t offset, const char *name)
{
    _Alignas(8) char record[512] = {0};
    struct assay__perf_mmap2 about = {.pid = pid,
                                      .tid = pid,
                                      .start = start,
                                      .length = length,
                                      .file_offset = offset,
                                      .protection = 5};
    size_t room = (strlen(name) + 8) / 8 * 8;
    memcpy(record, &about, sizeof about);
    memcpy(record + sizeof about, name, strlen(name));
    take(record, sizeof about + room + sizeof(struct assay__perf_tail), ASSAY__PERF_MMAP2, 2);
}

static void named(uint32_t pid, uint32_t tid, const char *name, uint16_t misc)
{
    _Alignas(8) char record[128] = {0};
    struct assay__perf_comm about = {.pid = pid, .tid = tid};
    memcpy(record, &about, sizeof about);
    memcpy(record + sizeof about, name, strlen(name));
    take(record, sizeof about + 16 + sizeof(struct assay__perf_tail), ASSAY__PERF_COMM, misc);
}

static void task(uint32_t type, uint32_t parent, uint32_t pid, uint32_t tid)
{
    struct {
        struct assay__perf_task about;
        struct assay__perf_tail tail;
    } record = {.about = {.pid = pid, .parent = parent, .tid = tid, .parent_tid = parent}};
    take(&record, sizeof record, type, 0);
}

static const char *stack_at(const struct assay__events *events, size_t i)
{
    const char *stack = assay__event_args(events, i)->stack;
    return stack ? stack : "";
}

/* --- tests ------------------------------------------------------------------------------------ */

static void samples_are_exact(void)
{
    begin(0);
    named(PID, PID, "program", ASSAY__PERF_COMM_EXEC);
    mapped(PID, 0x400000, 0x1000, 0x2000, "/nowhere/program");
    mapped(PID, 0x500000, 0x1000, 0, "/nowhere/lib;x.so");
    SAMPLE(PID, PID, 10 * MS, 2, USER, 0x500010, 0x400100, 0x400201);
    SAMPLE(PID, PID, 11 * MS, 1, USER, 0x400100); /* in the kernel */
    SAMPLE(PID, PID + 1, 12 * MS, 2, USER, 0x400100, 0xdead,
           0x400201); /* not believed from 0xdead */
    SAMPLE(PID, PID, 30 * MS, 2, USER, 0xdead);
    struct assay__events *events = end(8 * MS);
    CHECK_INT(events->count, 4);
    CHECK_INT(events->duration_ns[0], 2 * MS); /* 8 ms on a processor, in 4 samples */
    int64_t zero_ns = 1700000000000000000 - 500;
    CHECK_INT(events->start_ns[0], zero_ns + 8 * MS);
    CHECK_INT(events->start_ns[1], zero_ns + 10 * MS); /* not before the one before ends */
    CHECK_INT(events->start_ns[2], zero_ns + 10 * MS); /* of another thread */
    CHECK_INT(events->start_ns[3], zero_ns + 28 * MS);
    CHECK_STR(stack_at(events, 0), "program+0x2200;program+0x20ff;lib,x.so+0x10");
    CHECK_STR(assay__event_name(events, 0), "lib;x.so+0x10");
    CHECK_STR(stack_at(events, 1), "program+0x2100;[kernel]");
    CHECK_STR(stack_at(events, 2), "program+0x2100");
    CHECK_STR(stack_at(events, 3), "[unknown]");
    CHECK_INT(track_at(events, 0)->tid, PID);
    CHECK_STR(track_at(events, 0)->name, "program");
    CHECK_STR(track_at(events, 0)->group, "program (4242)");
    CHECK_INT(track_at(events, 2)->tid, PID + 1);
    CHECK_INT(events->sources[0].skipped, 0);
    CHECK(!events->sources[0].truncated);
    assay__events_free(events);
}

/* How long a cycle was is known of all together, or not at all. */
static void cycles_have_a_length_together(void)
{
    first.event = ASSAY__CPU_CYCLES;
    for (int64_t running_ns = 0; running_ns <= 500000; running_ns += 500000) {
        begin(0);
        SAMPLE(PID, PID, 10 * MS, 2, USER, 0x1);
        SAMPLE(PID, PID, 20 * MS, 2, USER, 0x1);
        struct assay__events *events = end(running_ns);
        CHECK_INT(events->duration_ns[0], running_ns / 2);
        CHECK_INT(events->duration_ns[1], running_ns / 2);
        assay__events_free(events);
    }
}

static void mappings_change(void)
{
    begin(0);
    mapped(PID, 0x10000, 0x4000, 0, "/a");
    mapped(PID, 0x11000, 0x1000, 0x500, "/b"); /* in its middle */
    SAMPLE(PID, PID, 1 * 10 * MS, 2, USER, 0x10fff);
    SAMPLE(PID, PID, 2 * 10 * MS, 2, USER, 0x11000);
    SAMPLE(PID, PID, 3 * 10 * MS, 2, USER, 0x12000);
    mapped(PID, 0x10800, 0x3000, 0, "/c"); /* over the end of /a, all of /b, and more of /a */
    SAMPLE(PID, PID, 4 * 10 * MS, 2, USER, 0x107ff);
    SAMPLE(PID, PID, 5 * 10 * MS, 2, USER, 0x11000);
    SAMPLE(PID, PID, 6 * 10 * MS, 2, USER, 0x13800);
    task(ASSAY__PERF_FORK, PID, PID + 5, PID + 5);
    SAMPLE(PID + 5, PID + 5, 7 * 10 * MS, 2, USER, 0x11000);
    named(PID + 5, PID + 5, "other", ASSAY__PERF_COMM_EXEC);
    SAMPLE(PID + 5, PID + 5, 8 * 10 * MS, 2, USER, 0x11000);
    task(ASSAY__PERF_EXIT, PID, PID, PID);
    SAMPLE(PID, PID, 9 * 10 * MS, 2, USER, 0x11000);
    struct assay__events *events = end(0);
    static const char *const expected[] = {"a+0xfff", "b+0x500",   "a+0x2000",
                                           "a+0x7ff", "c+0x800",   "a+0x3800",
                                           "c+0x800", "[unknown]", "[unknown]"};
    CHECK_INT(events->count, 9);
    for (size_t i = 0; i < 9; i++)
        CHECK_STR(stack_at(events, i), expected[i]);
    CHECK_INT(events->duration_ns[0], MS); /* how long it ran is not known: the timer's period */
    assay__events_free(events);
}

static void generated_code_has_names(void)
{
    static const char map[] = "7000 100 py::f:/x.py\n7100 0x10 py::g:/x.py\nnothing\n";
    trace_written("perf-4242.map", map, sizeof map - 1);
    begin(0);
    mapped(PID, 0x7000, 0x1000, 0, "//anon");
    SAMPLE(PID, PID, 1, 2, USER, 0x7105, 0x7010);
    SAMPLE(PID, PID, 2, 2, USER, 0x7500);
    struct assay__events *events = end(0);
    CHECK_STR(stack_at(events, 0), "py::f:/x.py;py::g:/x.py");
    CHECK_STR(stack_at(events, 1), "[generated code]");
    assay__events_free(events);
}

static void threads_have_the_names_of_their_makers(void)
{
    begin(0);
    named(PID, PID, "maker", 0);
    task(ASSAY__PERF_FORK, PID, PID, PID + 1);
    SAMPLE(PID, PID + 1, 1, 2, USER, 0x1);
    named(PID, PID + 1, "worker", 0);
    struct assay__events *events = end(0);
    CHECK_STR(track_at(events, 0)->name, "worker"); /* what it was called last */
    assay__events_free(events);
    begin(0);
    named(PID, PID, "maker", 0);
    task(ASSAY__PERF_FORK, PID, PID, PID + 1);
    SAMPLE(PID, PID + 1, 1, 2, USER, 0x1);
    events = end(0);
    CHECK_STR(track_at(events, 0)->name, "maker");
    assay__events_free(events);
}

static void many_samples_are_thinned(void)
{
    enum { COUNT = 100000, MOST = 4096 };
    begin(MOST);
    mapped(PID, 0x1000, 0x1000, 0, "/a");
    for (size_t i = 0; i < COUNT; i++)
        SAMPLE(PID, PID, 1 + i, 2, USER, 0x1000 + i % 7);
    CHECK_INT(stacks->counts.samples, COUNT);
    CHECK(stacks->counts.kept <= MOST && stacks->counts.kept > MOST / 2);
    CHECK_INT(stacks->nodes.count, 7);
    struct assay__events *events = end((int64_t)COUNT * MS);
    CHECK(events->count <= MOST);
    double sum_ns = 0;
    for (size_t i = 0; i < events->count; i++)
        sum_ns += (double)events->duration_ns[i];
    CHECK_NEAR(sum_ns / (COUNT * 1e6), 1, 0.1); /* drawn by lot, always the same one */
    assay__events_free(events);
}

static void what_was_lost_is_counted(void)
{
    struct {
        struct assay__perf_lost about;
        struct assay__perf_tail tail;
    } lost = {.about = {.id = 1, .lost = 17}};
    begin(0);
    take(&lost, sizeof lost, ASSAY__PERF_LOST, 0);
    SAMPLE(PID, PID, 1, 2, USER, 0x1);
    struct assay__events *events = end(0);
    CHECK_INT(events->sources[0].skipped, 17);
    CHECK(events->sources[0].complaint[0] != '\0');
    assay__events_free(events);
}

/* Records that are too short for what they say are passed over. */
static void damaged_records_are_passed_over(void)
{
    _Alignas(8) char record[256] = {0};
    struct assay__perf_sample about = {.pid = PID, .tid = PID, .address_count = UINT64_MAX};
    begin(0);
    for (uint32_t type = 0; type < 24; type++)
        for (size_t bytes = 8; bytes < sizeof record; bytes += 8)
            take(record, bytes, type, 0);
    uint64_t before = stacks->counts.samples;
    memcpy(record, &about, sizeof about);
    take(record, sizeof about + 16, ASSAY__PERF_SAMPLE, 2);
    CHECK_INT(stacks->counts.samples, before + 1);
    assay__events_free(end(0));
}

static void a_full_disk_is_kept_in_mind(void)
{
    struct assay__cpu_sample sample = {.weight = 1};
    if (access("/dev/full", W_OK)) SKIP("there is no /dev/full");
    CHECK_INT(assay__cpu_file_open(&file, "/dev/full", NULL), 0);
    CHECK_INT(file.reason, 0);
    for (int i = 0; i < 100000; i++)
        assay__cpu_file_sample(&file, &sample);
    CHECK_INT(file.reason, ENOSPC);
    CHECK(assay__cpu_file_string(&file, "further") > 0); /* and it goes on */
    assay__cpu_file_close(&file);
    CHECK_INT(file.reason, ENOSPC);
}

/* Wherever the file ends, what is before can be read, and it is said. */
static void torn_files_are_read(void)
{
    char *bytes;
    size_t length, whole = 0;
    begin(0);
    named(PID, PID, "program", 0);
    mapped(PID, 0x1000, 0x1000, 0, "/a");
    for (uint64_t i = 0; i < 20; i++)
        SAMPLE(PID, PID, i, 2, USER, 0x1000 + i, 0x1800);
    assay__events_free(end(20 * MS));
    CHECK_INT(assay__file_read(path, 1 << 20, &bytes, &length, NULL), 0);
    for (size_t size = 16; size <= length; size++) {
        struct assay__events *events = NULL;
        CHECK_INT(assay__import_bytes(bytes, size, 0, &assay__importer_cpu, &events, NULL), 0);
        CHECK(events->sources[0].truncated == (size < length));
        CHECK(size == length || events->sources[0].complaint[0]);
        CHECK(events->count == 0 || events->count == 20);
        whole += events->count == 20;
        assay__events_free(events);
    }
    CHECK(whole > 1 && whole < length);
    free(bytes);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"samples_are_exact", samples_are_exact},
        {"cycles_have_a_length_together", cycles_have_a_length_together},
        {"mappings_change", mappings_change},
        {"generated_code_has_names", generated_code_has_names},
        {"threads_have_the_names_of_their_makers", threads_have_the_names_of_their_makers},
        {"many_samples_are_thinned", many_samples_are_thinned},
        {"what_was_lost_is_counted", what_was_lost_is_counted},
        {"damaged_records_are_passed_over", damaged_records_are_passed_over},
        {"a_full_disk_is_kept_in_mind", a_full_disk_is_kept_in_mind},
        {"torn_files_are_read", torn_files_are_read},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
