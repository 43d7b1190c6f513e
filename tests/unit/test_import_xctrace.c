/* test_import_xctrace.c - tables of Instruments: those of the fixture (made by
 * tests/oracle/make_xctrace.py), two real exports where they are, and broken ones. */
#include "import_case.h"

static void test_gpu(void)
{
    struct assay__events *e = import_good(TRACES "xctrace-tables.xml");
    size_t first = event_named(e, "matmul & add", 0), copy = event_named(e, "copy weights", 0);
    CHECK_EVENT(e, first, 1000000, 2000000, ASSAY__EVENT_KERNEL);
    CHECK_EVENT(e, event_named(e, "matmul & add", 1), 2000000, 2000000, ASSAY__EVENT_KERNEL);
    CHECK_EVENT(e, event_named(e, "softmax", 0), 6000000, 1000000, ASSAY__EVENT_KERNEL);
    CHECK_EVENT(e, copy, 5000000, 500000, ASSAY__EVENT_COPY);
    CHECK_INT(e->bytes[copy], 4096);
    CHECK_INT(e->correlation[first], 701);
    CHECK_INT(track_of(e, first)->pid, 42);
    CHECK_INT(track_of(e, first)->device, 0);
    CHECK_STR(track_of(e, first)->group, "Apple M9");
    CHECK_STR(track_of(e, first)->name, "Compute, model (42)");
    CHECK_INT(e->track[first], e->track[event_named(e, "softmax", 0)]);
    CHECK(e->track[first] != e->track[copy]);
    CHECK_INT(track_of(e, event_named(e, "GPU Execution", 0))->pid, 181);
    CHECK_INT(count_kind(e, ASSAY__EVENT_COPY), 1);
    const struct assay__trace_counter *latency = counter_named(e, "start latency");
    CHECK_INT(latency->count, 2); /* the sentinel is none */
    CHECK_NEAR(latency->values[0], 5e-6, 1e-15);
    CHECK_NEAR(latency->values[1], 9e-6, 1e-15);
    assay__events_free(e);
}

static void test_host(void)
{
    struct assay__events *e = import_good(TRACES "xctrace-tables.xml");
    size_t launch = event_named(e, "CommandBufferSubmission", 0);
    CHECK_EVENT(e, launch, 900000, 50000, ASSAY__EVENT_LAUNCH);
    CHECK_INT(e->correlation[launch], 701);
    CHECK_INT(track_of(e, launch)->tid, 0x11);
    CHECK_INT(track_of(e, launch)->pid, 42);
    CHECK_STR(track_of(e, launch)->name, "Main Thread");
    CHECK_STR(track_of(e, launch)->group, "model (42)");
    CHECK_INT(count_kind(e, ASSAY__EVENT_LAUNCH), 2);
    size_t encoder = event_named(e, "attention", 0);
    CHECK_EVENT(e, encoder, 850000, 40000, ASSAY__EVENT_RUNTIME);
    CHECK_INT(e->correlation[encoder], 0);
    CHECK_INT(e->track[encoder], e->track[launch]);
    CHECK_EVENT(e, event_named(e, "command buffer completed", 1), 4000000, 0, ASSAY__EVENT_OTHER);
    size_t range = event_named(e, "step", 0);
    CHECK_EVENT(e, range, 800000, 2000000, ASSAY__EVENT_RANGE);
    CHECK_STR(assay__event_args(e, range)->state, "com.example.model");
    CHECK_EVENT(e, event_named(e, "Prediction, encoder", 0), 810000, 300000, ASSAY__EVENT_RANGE);
    assay__events_free(e);
}

static void test_samples(void)
{
    struct assay__events *e = import_good(TRACES "xctrace-tables.xml");
    size_t sample = event_named(e, "leaf", 1);
    CHECK_INT(count_kind(e, ASSAY__EVENT_SAMPLE), 3);
    CHECK_INT(time_of_kind(e, ASSAY__EVENT_SAMPLE), 3000000);
    CHECK_EVENT(e, sample, 2000000, 1000000, ASSAY__EVENT_SAMPLE);
    CHECK_STR(assay__event_args(e, sample)->stack, "main;run;leaf");
    CHECK_STR(assay__event_args(e, sample)->state, "Running");
    CHECK_STR(assay__event_args(e, event_named(e, "operator;()", 0))->stack, "main;operator,()");
    size_t taken = event_named(e, "Malloc 80 Bytes", 0);
    CHECK_EVENT(e, taken, 1500250000, 0, ASSAY__EVENT_ALLOCATION);
    CHECK_INT(e->bytes[taken], 80);
    CHECK_STR(assay__event_args(e, taken)->stack, "main;malloc");
    CHECK_STR(assay__event_args(e, taken)->state, "live");
    taken = event_named(e, "VM: Allocation 96.00 KiB", 0);
    CHECK_EVENT(e, taken, 62003004000, 0, ASSAY__EVENT_ALLOCATION);
    CHECK_INT(e->bytes[taken], 98304);
    assay__events_free(e);
}

static void test_states(void)
{
    struct assay__events *e = import_good(TRACES "xctrace-tables.xml");
    size_t state = event_named(e, "GPU state", 0),
           clock = event_named(e, "GPU performance state", 0);
    CHECK_EVENT(e, state, 0, 1000000, ASSAY__EVENT_DEVICE_STATE);
    CHECK_STR(assay__event_args(e, state)->state, "Idle");
    CHECK_INT(track_of(e, state)->device, 0);
    CHECK_STR(assay__event_args(e, clock)->state, "3");
    size_t load = event_named(e, "Neural Engine Load", 0);
    size_t run = event_named(e, "Neural Engine Prediction", 0);
    CHECK_EVENT(e, load, 100000, 361000, ASSAY__EVENT_DEVICE_RANGE);
    CHECK_EVENT(e, run, 700000, 550, ASSAY__EVENT_KERNEL);
    CHECK_INT(track_of(e, run)->device, 1);
    CHECK_STR(track_of(e, run)->group, "Apple Neural Engine");
    assay__events_free(e);
}

static void test_source(void)
{
    struct assay__events *e = import_good(TRACES "xctrace-tables.xml");
    const struct assay__trace_source *source = &e->sources[0];
    CHECK_STR(source->format, "xctrace");
    CHECK_INT(e->count, 22);
    CHECK_INT(source->events, 22);
    CHECK_INT(source->skipped, 1); /* of a table that is not read */
    CHECK_HAS(source->complaint, "display-vsyncs-interval");
    CHECK(!source->truncated);
    assay__events_free(e);
}

/* --- real exports ----------------------------------------------------------------------------- */

static void test_real_gpu(void)
{
    struct assay__events *e = import_real("traces/xctrace-metal-gpu-intervals.xml");
    size_t blit = event_named(e, "GPU Execution", 0), compute = event_named(e, "GPU Execution", 1);
    CHECK_INT(e->count, 2);
    CHECK_EVENT(e, blit, 358223833, 6083, ASSAY__EVENT_COPY);
    CHECK_EVENT(e, compute, 360280208, 18917, ASSAY__EVENT_KERNEL);
    CHECK_INT(e->correlation[compute], 175719352);
    CHECK_INT(track_of(e, blit)->pid, 181);
    CHECK_STR(track_of(e, blit)->name, "Blit, WindowServer (181)");
    CHECK_STR(track_of(e, blit)->group, "Apple M-series GPU");
    const struct assay__trace_counter *latency = counter_named(e, "start latency");
    CHECK_INT(latency->count, 1);
    CHECK_NEAR(latency->values[0], 1117250e-9, 1e-15);
    CHECK_INT(e->sources[0].skipped, 0);
    CHECK_STR(e->sources[0].complaint, "");
    assay__events_free(e);
}

static void test_real_samples(void)
{
    struct assay__events *e = import_real("traces/xctrace-time-sample.xml");
    CHECK_INT(e->count, 5);
    CHECK_INT(count_kind(e, ASSAY__EVENT_SAMPLE), 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(e->start_ns[i], 359163375);
    size_t main_thread = event_named(e, "0x1010fcb70", 0); /* executed, not among the addresses */
    CHECK_INT(track_of(e, main_thread)->tid, 27932915);
    CHECK_INT(track_of(e, main_thread)->pid, 45472);
    CHECK_STR(track_of(e, main_thread)->name, "Main Thread");
    CHECK_STR(assay__event_args(e, main_thread)->state, "Blocked");
    CHECK_HAS(assay__event_args(e, main_thread)->stack, "0x1011c0d54;0x10");
    CHECK_HAS(assay__event_args(e, main_thread)->stack, ";0x101104c10;0x1010fcb70");
    size_t other = event_named(e, "0x1010fe68c", 0); /* its only address is the executed one */
    CHECK_STR(assay__event_args(e, other)->stack, "0x1010fe68c");
    CHECK_INT(e->sources[0].skipped, 0);
    assay__events_free(e);
}

/* --- bad input -------------------------------------------------------------------------------- */

#define SCHEMA                                                                              \
    "<schema name=\"metal-gpu-intervals\">"                                                 \
    "<col><mnemonic>start</mnemonic><engineering-type>start-time</engineering-type></col>"  \
    "<col><mnemonic>duration</mnemonic><engineering-type>duration</engineering-type></col>" \
    "<col><mnemonic>channel-name</mnemonic><engineering-type>gpu-channel-name"              \
    "</engineering-type></col></schema>"
#define EXPORT(rows) "<trace-query-result><node>" SCHEMA rows "</node></trace-query-result>"
#define GOOD                                                                      \
    "<row><start-time id=\"1\">1000</start-time><duration id=\"2\">50</duration>" \
    "<gpu-channel-name id=\"3\" fmt=\"Compute\">Compute</gpu-channel-name></row>"

static void check_counts(const char *text, size_t events, size_t skipped, const char *complaint)
{
    struct assay__events *e = import_text(text);
    CHECK(e);
    CHECK_INT(e->count, events);
    CHECK_INT(e->sources[0].skipped, skipped);
    CHECK_HAS(e->sources[0].complaint, complaint);
    assay__events_free(e);
}

static void test_references(void)
{
    check_counts(EXPORT(GOOD "<row><start-time ref=\"1\"/><duration ref=\"2\"/>"
                             "<gpu-channel-name ref=\"3\"/></row>"),
                 2, 0, "");
    check_counts(EXPORT(GOOD "<row><start-time ref=\"99\"/><duration ref=\"2\"/><sentinel/></row>"),
                 1, 1, "without a time");
    check_counts(EXPORT(GOOD "<row><start-time ref=\"2\"/><duration ref=\"2\"/><sentinel/></row>"),
                 1, 1, "without a time"); /* of another type */
    check_counts(EXPORT(GOOD "<row><start-time ref=\"1\"/><duration ref=\"1\"/><sentinel/></row>"),
                 2, 0, "another type"); /* the duration is unknown */
    check_counts(EXPORT(GOOD "<row><start-time ref=\"-1\"/><duration ref=\"x\"/><sentinel/></row>"),
                 1, 1, "without a time");
    check_counts(EXPORT("<row><start-time id=\"1\"><start-time ref=\"1\"/>7</start-time>"
                        "<duration id=\"2\">1</duration><sentinel/></row>"),
                 1, 0, "not defined"); /* to what it lies in */
}

static void test_ids(void)
{
    struct assay__events *e = import_text(
        EXPORT(GOOD "<row><start-time id=\"1\">2000</start-time><duration ref=\"2\"/><sentinel/>"
                    "</row><row><start-time ref=\"1\"/><duration ref=\"2\"/><sentinel/></row>"));
    CHECK(e);
    CHECK_INT(e->count, 3); /* the first definition counts */
    CHECK_INT(e->start_ns[0], 1000);
    CHECK_INT(e->start_ns[1], 1000);
    CHECK_INT(e->start_ns[2], 2000);
    CHECK_HAS(e->sources[0].complaint, "twice");
    assay__events_free(e);
    check_counts(EXPORT("<row><start-time id=\"4000000000\">5</start-time><duration>1</duration>"
                        "<sentinel/></row><row><start-time ref=\"4000000000\"/><duration>1"
                        "</duration><sentinel/></row>"),
                 1, 1, "without a time");
    check_counts(EXPORT("<row><start-time id=\"a\">5</start-time><duration>1</duration><sentinel/>"
                        "</row>"),
                 1, 0, "not a number");
}

static void test_numbers(void)
{
#define ROW(start, duration) \
    "<row><start-time>" start "</start-time><duration>" duration "</duration><sentinel/></row>"
    check_counts(EXPORT(ROW("-5", "1") ROW("1", "-1") ROW("7", "1")), 1, 2, "without a time");
    check_counts(EXPORT(ROW("9223372036854775807", "1") ROW("9223372036854775807", "0")), 1, 1,
                 "ends");
    check_counts(EXPORT(ROW("18446744073709551615", "1") ROW("99999999999999999999999", "1")), 0, 2,
                 "without a time");
    check_counts(EXPORT(ROW("1e3", "1") ROW("0x10", "1") ROW("", "1") ROW("nan", "1")), 0, 4,
                 "without a time");
    check_counts(EXPORT(ROW("5", "18446744073709551615")), 1, 0, "too large"); /* unknown */
    check_counts(EXPORT("<row><sentinel/><sentinel/><sentinel/></row>"), 0, 1, "without a time");
}

static void test_rows(void)
{
    check_counts(EXPORT("<row><start-time>1</start-time></row>" GOOD), 1, 1,
                 "do not match its columns");
    check_counts(EXPORT("<row/>" GOOD), 1, 1, "do not match its columns");
    check_counts(EXPORT("<row><duration>1</duration><duration>1</duration><sentinel/></row>"), 0, 1,
                 "without a time");
    check_counts(EXPORT(""), 0, 0, "no rows");
    check_counts("<trace-query-result><node><schema name=\"x\"/><row/></node></trace-query-result>",
                 0, 1, "\"x\"");
}

static void test_broken(void)
{
    struct assay__events *e = import_text("<trace-query-result><node>" SCHEMA GOOD
                                          "<row><start-ti");
    CHECK(e);
    CHECK_INT(e->count, 1);
    CHECK_INT(e->sources[0].skipped, 1);
    CHECK(e->sources[0].truncated);
    assay__events_free(e);
    CHECK(!import_text("<trace-toc><run number=\"1\"/></trace-toc>"));
    CHECK_HAS(import_error.message, "--xpath");
    CHECK(!import_text("<!DOCTYPE x [<!ENTITY a \"b\">]><trace-query-result/>"));
    CHECK_HAS(import_error.message, "document type");
    CHECK(!import_file(import_write("trace", "\xff\xfe<\0t\0r\0a\0c\0e\0", 14)));
    CHECK_HAS(import_error.message, "UTF-16");
}

/* Several tables of one recording, a file each. */
static void test_files(void)
{
    const char *paths[] = {import_write("gpu.xml", EXPORT(GOOD), strlen(EXPORT(GOOD))), NULL};
    static const char ane[] =
        "<trace-query-result><node><schema name=\"ane-hw-intervals-internal\">"
        "<col><mnemonic>start</mnemonic></col><col><mnemonic>duration</mnemonic></col></schema>"
        "<row><start-time id=\"1\">3000</start-time><duration id=\"2\">7</duration></row></node>"
        "</trace-query-result>";
    struct assay__events *e = NULL;
    paths[1] = import_write("ane.xml", ane, sizeof ane - 1);
    CHECK_INT(assay__import(paths, 2, NULL, &e, NULL), 0);
    CHECK_INT(e->count, 2);
    CHECK_INT(e->start_ns[0], 1000); /* one clock: nothing is moved */
    CHECK_INT(e->start_ns[1], 3000);
    CHECK_INT(track_of(e, 0)->device, 0);
    CHECK_INT(track_of(e, 1)->device, 1);
    assay__events_free(e);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"gpu", test_gpu},
        {"host", test_host},
        {"samples", test_samples},
        {"states", test_states},
        {"source", test_source},
        {"real_gpu", test_real_gpu},
        {"real_samples", test_real_samples},
        {"references", test_references},
        {"ids", test_ids},
        {"numbers", test_numbers},
        {"rows", test_rows},
        {"broken", test_broken},
        {"files", test_files},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
