/* test_import_perfetto.c - a Perfetto trace that the `perfetto` package wrote (see
 * tests/oracle/make_perfetto.py): sequences, numbered names, clocks, tracks, counters, stages of
 * the GPU; and broken ones. */
#include "import_case.h"

#define FIXTURE TRACES "perfetto.pftrace"
#define BOOT (1700000000000000000 - 1000000) /* Unix time of boot time 0 */

static void test_slices(void)
{
    struct assay__events *e = import_good(FIXTURE);
    size_t step = event_named(e, "step", 0), load = event_named(e, "load", 0);
    CHECK_EVENT(e, step, BOOT + 2000000, 900000, ASSAY__EVENT_CPU);
    CHECK_EVENT(e, event_named(e, "forward", 0), BOOT + 2100000, 300000, ASSAY__EVENT_CPU);
    CHECK_EVENT(e, load, BOOT + 2150000, 350000, ASSAY__EVENT_CPU);
    CHECK_EVENT(e, event_named(e, "saved", 0), BOOT + 2950000, 0, ASSAY__EVENT_RANGE);
    CHECK_INT(track_of(e, step)->tid, 500);
    CHECK_STR(track_of(e, step)->name, "main");
    CHECK_STR(track_of(e, step)->group, "trainer (500)");
    CHECK_INT(track_of(e, load)->tid, 501);
    size_t request = event_named(e, "request", 0);
    CHECK_EVENT(e, request, BOOT + 2000000, 7000000, ASSAY__EVENT_CPU);
    CHECK_INT(track_of(e, request)->kind, ASSAY__TRACK_OTHER);
    CHECK_STR(track_of(e, request)->name, "requests");
    CHECK_INT(track_of(e, request)->pid, 500);
    CHECK_EVENT(e, event_named(e, "compressed", 0), BOOT + 40000000, 0, ASSAY__EVENT_RANGE);
    assay__events_free(e);
}

static void test_sequences(void)
{
    struct assay__events *e = import_good(FIXTURE);
    size_t decode = event_named(e, "decode", 0);
    CHECK_EVENT(e, decode, BOOT + 5000000, 60000, ASSAY__EVENT_OPERATOR); /* by its category */
    CHECK_EVENT(e, event_named(e, "resize", 0), BOOT + 5010000, 20000, ASSAY__EVENT_CPU);
    CHECK_INT(track_of(e, decode)->tid, 501);  /* the default */
    size_t other = event_named(e, "other", 0); /* the same number, defined anew */
    CHECK_EVENT(e, other, BOOT + 20000000, 100, ASSAY__EVENT_CPU);
    CHECK_INT(track_of(e, other)->tid, 500);
    CHECK_EVENT(e, event_named(e, "elsewhere", 0), BOOT + 2950000, 0, ASSAY__EVENT_RANGE);
    CHECK_INT(e->count, 13);
    CHECK_INT(e->sources[0].skipped, 9); /* 2 lost, 3 ftrace, an end, a begin, a clock, a time */
    CHECK_HAS(e->sources[0].complaint, "lost");
    CHECK_STR(e->sources[0].clock, ASSAY__IMPORT_CLOCK_UNIX);
    CHECK(!e->sources[0].truncated);
    assay__events_free(e);
}

static void test_counters(void)
{
    struct assay__events *e = import_good(FIXTURE);
    const struct assay__trace_counter *loss = counter_named(e, "loss");
    const struct assay__trace_counter *bytes = counter_named(e, "allocated");
    CHECK_INT(loss->count, 2);
    CHECK_INT(loss->times_ns[1], BOOT + 2200000);
    CHECK_NEAR(loss->values[0], 0.75, 0);
    CHECK_NEAR(loss->values[1], 0.5, 0);
    CHECK_STR(loss->unit, "nats");
    CHECK_NEAR(bytes->values[0], 4096, 0); /* by its multiplier */
    CHECK_NEAR(bytes->values[1], 3072, 0); /* each from the last */
    CHECK_STR(bytes->unit, "B");
    assay__events_free(e);
}

static void test_device(void)
{
    struct assay__events *e = import_good(FIXTURE);
    size_t kernel = event_named(e, "gemm", 0), launch = event_named(e, "cudaLaunchKernel", 0);
    CHECK_EVENT(e, kernel, BOOT + 2130000, 250000, ASSAY__EVENT_KERNEL);
    CHECK_EVENT(e, launch, BOOT + 2110000, 10000, ASSAY__EVENT_LAUNCH);
    CHECK_INT(e->correlation[kernel], 77);
    CHECK_INT(e->correlation[launch], 77);
    CHECK_INT(track_of(e, kernel)->kind, ASSAY__TRACK_STREAM);
    CHECK_INT(track_of(e, kernel)->stream, 7);
    CHECK_STR(track_of(e, kernel)->group, "Example GPU");
    size_t stage = event_named(e, "shade", 0);
    CHECK_EVENT(e, stage, BOOT + 30000000, 5000, ASSAY__EVENT_KERNEL);
    CHECK_INT(track_of(e, stage)->device, 1);
    CHECK_STR(track_of(e, stage)->name, "Compute queue");
    CHECK_INT(e->correlation[stage], 88);
    assay__events_free(e);
}

/* --- bad input -------------------------------------------------------------------------------- */

/* A packet around these bytes of fields. */
#define PACKET(bytes) "\x0a" bytes
#define IMPORT(bytes) import_file(import_write("trace", bytes, sizeof bytes - 1))

static void check_counts(const char *data, size_t size, size_t events, size_t skipped, bool is_cut)
{
    struct assay__events *e = import_file(import_write("trace", data, size));
    if (!e) harness_fail(__FILE__, __LINE__, import_error.message);
    CHECK_INT(e->count, events);
    CHECK_INT(e->sources[0].skipped, skipped);
    CHECK_INT(e->sources[0].truncated, is_cut);
    assay__events_free(e);
}

#define CHECK_COUNTS(bytes, ...) check_counts(bytes, sizeof bytes - 1, __VA_ARGS__)
/* sequence 1, time 5, {type, track 1} */
#define EVENT(type) PACKET("\x0a\x50\x01\x40\x05\x5a\x04\x48" type "\x58\x01")

static void test_packets(void)
{
    CHECK_COUNTS(EVENT("\x03"), 1, 0, false);
    CHECK_COUNTS(EVENT("\x03") EVENT("\x03"), 2, 0, false);
    CHECK_COUNTS(EVENT("\x03") EVENT("\x09"), 1, 1, false); /* an unknown type */
    CHECK_COUNTS(EVENT("\x03") EVENT("\x02"), 1, 1, false); /* no begin */
    CHECK_COUNTS(EVENT("\x03") EVENT("\x01"), 1, 1, false); /* no end */
    CHECK_COUNTS(EVENT("\x03") EVENT("\x04"), 1, 1, false); /* no value */
    CHECK_COUNTS(EVENT("\x03") PACKET("\x02\x50\x01"), 1, 0, false);
    CHECK_COUNTS(EVENT("\x03") "\x12\x02xy" EVENT("\x03"), 2, 0, false); /* an unknown field */
}

static void test_damage(void)
{
    CHECK_COUNTS(EVENT("\x03") "\x0a\x0a\x50\x01\x40", 1, 1, true); /* cut short */
    CHECK_COUNTS(EVENT("\x03") "\x0b\x0b", 1, 1, true);             /* no protobuf */
    CHECK_COUNTS(EVENT("\x03") PACKET("\x03\x52\x09x") EVENT("\x03"), 2, 1, false);
    CHECK_COUNTS(EVENT("\x03") "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01xy", 1, 1, true);
    /* a time beyond 64 bits with a sign */
    CHECK_COUNTS(EVENT("\x03") PACKET("\x13\x50\x01\x40\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                      "\x5a\x04\x48\x03\x58\x01"),
                 1, 1, false);
    CHECK(!IMPORT("\x0a\x05hello"));
    CHECK(!IMPORT("\x0a"));
}

/* A slice that ends before it begins, a ring of parents, a track that is described twice. */
static void test_tracks(void)
{
    CHECK_COUNTS(PACKET("\x0a\x50\x01\x40\x09\x5a\x04\x48\x01\x58\x01") EVENT("\x02"), 0, 1, false);
    CHECK_COUNTS(PACKET("\x0a\x50\x01\xe2\x03\x05\x08\x01\x28\x02\x10")
                     PACKET("\x09\x50\x01\xe2\x03\x04\x08\x01\x28\x02")
                         PACKET("\x09\x50\x01\xe2\x03\x04\x08\x02\x28\x01") EVENT("\x03"),
                 1, 0, false);
    CHECK_COUNTS(PACKET("\x07\x50\x01\xe2\x03\x02\x28\x02") EVENT("\x03"), 1, 1, false); /* no id */
}

/* Times on a clock: the file's end may be anywhere. */
static void test_cuts(void)
{
    static char data[4096];
    FILE *file = fopen(FIXTURE, "rb");
    CHECK(file);
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    CHECK(size > 500 && size < sizeof data);
    for (size_t cut = 60; cut < size; cut += 7) {
        struct assay__events *e = import_file(import_write("trace", data, cut));
        CHECK(!e || e->count <= 13);
        assay__events_free(e);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"slices", test_slices}, {"sequences", test_sequences}, {"counters", test_counters},
        {"device", test_device}, {"packets", test_packets},     {"damage", test_damage},
        {"tracks", test_tracks}, {"cuts", test_cuts},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
