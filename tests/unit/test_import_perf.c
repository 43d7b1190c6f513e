/* test_import_perf.c - `perf script`: a real recording of a program with two threads, the forms
 * that its options give a line, context switches, and broken text. */
#include "import_case.h"

#include "import/import_stream.h"
#include "import/perf_line.h"

static const char *symbol_of(const char *line)
{
    static char out[128];
    struct assay__perf_text symbol;
    if (!assay__perf_frame(line, strlen(line), &symbol)) return "none";
    snprintf(out, sizeof out, "%.*s", (int)symbol.length, symbol.at);
    return out;
}

static void test_frames(void)
{
    CHECK_STR(symbol_of("\t            1172 leaf+0x19 (/tmp/spin)"), "leaf");
    CHECK_STR(symbol_of("\tffffffff8162fd59 do_syscall_64+0x71 ([kernel.kallsyms])"),
              "do_syscall_64");
    CHECK_STR(symbol_of("\t 1 std::f(int, (anonymous namespace)::T)+0x1 (/lib/x.so)"),
              "std::f(int, (anonymous namespace)::T)");
    CHECK_STR(symbol_of("\t 1 std::f(int, (anonymous namespace)::T)"),
              "std::f(int, (anonymous namespace)::T)");
    CHECK_STR(symbol_of("\t 1 f (inlined)"), "f");
    CHECK_STR(symbol_of("\t 1 f+0x2 (/tmp/a b (deleted))"), "f");
    CHECK_STR(symbol_of("\t    55ea1572b2b0 [unknown] ([unknown])"), "[unknown]");
    CHECK_STR(symbol_of("\t    55ea1572b2b0"), "55ea1572b2b0");
    CHECK_STR(symbol_of("\t main"), "main");
    CHECK_STR(symbol_of("\t "), "none");
}

static struct assay__perf_head head;

static bool parse(const char *line)
{
    return assay__perf_head(line, strlen(line), &head);
}

#define CHECK_TEXT(text, expected) CHECK(assay__perf_is((text), (expected)))

static void test_heads(void)
{
    CHECK(parse("my worker 26495  5406.896142:    5000000 cpu-clock:ppp: "));
    CHECK_TEXT(head.comm, "my worker");
    CHECK_INT(head.pid, -1);
    CHECK_INT(head.tid, 26495);
    CHECK_INT(head.time_ns, 5406896142000);
    CHECK_INT(head.period, 5000000);
    CHECK_TEXT(head.event, "cpu-clock:ppp");
    CHECK_INT(head.rest.length, 0);
    CHECK(parse("  :12 34/-1 [001] 5406.896142612: cycles:  7f00 f+0x1 (/x)"));
    CHECK_TEXT(head.comm, ":12");
    CHECK_INT(head.pid, 34);
    CHECK_INT(head.tid, -1);
    CHECK_INT(head.time_ns, 5406896142612);
    CHECK_INT(head.period, 0);
    CHECK_TEXT(head.rest, "7f00 f+0x1 (/x)");
    CHECK(parse("kworker/0:1-a 12/13 [000] 1.000001: sched:sched_switch: prev_comm=a: b"));
    CHECK_TEXT(head.comm, "kworker/0:1-a");
    CHECK_TEXT(head.event, "sched:sched_switch");
    CHECK_TEXT(head.rest, "prev_comm=a: b");
    CHECK(!parse("spin 26495 cpu-clock:ppp:")); /* no time */
    CHECK(!parse("spin 5406.896142: cycles:")); /* no thread */
    CHECK(!parse("12:34:56"));
    CHECK(!parse("a 1 99999999999999.000000: cycles:")); /* beyond 64 bits */
    CHECK(!parse(""));
}

static void test_real(void)
{
    struct assay__events *e = import_good(TRACES "perf-stacks.txt");
    size_t in_worker = 0, in_leaf = 0;
    CHECK_INT(e->count, 97);
    CHECK_INT(count_kind(e, ASSAY__EVENT_SAMPLE), 97);
    CHECK_INT(time_of_kind(e, ASSAY__EVENT_SAMPLE), 97 * 5000000);
    for (size_t i = 0; i < e->count; i++) {
        in_worker += strcmp(track_of(e, i)->name, "my worker") == 0;
        in_leaf += strcmp(assay__event_name(e, i), "leaf") == 0;
    }
    CHECK_INT(in_worker, 49);
    CHECK_INT(in_leaf, 97);
    CHECK_EVENT(e, 0, 5406896142000, 5000000, ASSAY__EVENT_SAMPLE);
    CHECK_STR(assay__event_args(e, 0)->stack, "start_thread;work;leaf");
    CHECK_STR(assay__event_args(e, 1)->stack, "__libc_start_call_main;main;work;leaf");
    CHECK_STR(e->sources[0].clock, ASSAY__IMPORT_CLOCK_BOOT);
    CHECK_INT(e->sources[0].skipped, 0);
    assay__events_free(e);
}

static void test_forms(void)
{
    struct assay__events *e = import_text(
        "# perf version : 6.1.192\n"
        "#\n"
        "app 7/8 [003] 10.000000001:  250000 task-clock:u: \n\t 1 f+0x0 (/a)\n\t 2 g;h (/a)\n\n"
        "            app 7/9 [003]    10.5:                   \n" /* too few decimals */
        "            app 7/9 [003] 11.000000:   1234 cycles:      7f00 leaf+0x1 (/a)\n"
        "            app 7/9 [003] 12.000000:   1234 cycles:      7f01 leaf+0x2 (/a)\r\n");
    CHECK(e);
    CHECK_INT(e->count, 3);
    CHECK_EVENT(e, 0, 10000000001, 250000, ASSAY__EVENT_SAMPLE);
    CHECK_STR(assay__event_args(e, 0)->stack, "g,h;f");
    CHECK_INT(track_of(e, 0)->pid, 7);
    CHECK_INT(track_of(e, 0)->tid, 8);
    CHECK_EVENT(e, 1, 11000000000, 0, ASSAY__EVENT_SAMPLE); /* cycles are no time */
    CHECK_STR(assay__event_args(e, 1)->stack, "leaf");
    CHECK_STR(e->sources[0].producer, "perf 6.1.192");
    CHECK_INT(e->sources[0].skipped, 1);
    assay__events_free(e);
}

static void test_switches(void)
{
    struct assay__events *e = import_text(
        "a 7 [000] 1.000000: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S "
        "==> next_comm=b next_pid=8 next_prio=120\n"
        "b 8 [000] 1.500000: sched:sched_switch: prev_comm=b prev_pid=8 prev_prio=120 "
        "prev_state=R+ "
        "==> next_comm=a next_pid=7 next_prio=120\n"
        "a 7 [000] 1.600000: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=D "
        "==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
        "swapper 0 [000] 1.700000: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 "
        "prev_prio=120 "
        "prev_state=R ==> next_comm=a next_pid=7 next_prio=120\n"
        "c 9 1.800000: PERF_RECORD_SWITCH OUT preempt\n"
        "c 9 1.900000: PERF_RECORD_SWITCH IN         \n"
        "c 9 1.950000: PERF_RECORD_MMAP2 9/9: [0x1(0x2) @ 0 00:00 0 0]: r-xp /x\n"
        "d 9 1.990000: sched:sched_switch: nothing\n");
    CHECK(e);
    CHECK_INT(e->count, 3);
    CHECK_EVENT(e, 0, 1000000000, 500000000, ASSAY__EVENT_OTHER);
    CHECK_STR(assay__event_name(e, 0), "off CPU");
    CHECK_STR(assay__event_args(e, 0)->state, "S");
    CHECK_INT(track_of(e, 0)->tid, 7);
    CHECK_EVENT(e, 1, 1600000000, 100000000, ASSAY__EVENT_OTHER);
    CHECK_STR(assay__event_args(e, 1)->state, "D");
    CHECK_EVENT(e, 2, 1800000000, 100000000, ASSAY__EVENT_OTHER);
    CHECK_INT(e->sources[0].skipped, 1);
    assay__events_free(e);
}

static void test_broken(void)
{
    struct assay__events *e = import_text("a 1 1.000000: cycles: \n\t 1 f (/x)\nwhat is this\n"
                                          "a 1 2.000000: cycles: \n\t 1 f");
    CHECK(e);
    CHECK_INT(e->count, 2); /* the last one is cut, and its frame is there */
    CHECK_INT(e->sources[0].skipped, 1);
    CHECK_STR(assay__event_name(e, 1), "f");
    assay__events_free(e);
    CHECK(!import_text("hello world\n"));
    CHECK(!import_text("a 1 cycles: \n\t 1 f (/x)\n"));
}

static void test_long_lines(void)
{
    size_t size = 3 << 20;
    char *text = malloc(size);
    CHECK(text);
    memset(text, 'x', size);
    memcpy(text, "a 1 1.000000: cycles: \n\t 1 ", 27);
    static const char next[] = "\na 1 2.000000: cycles: \n\t 1 g (/x)\n\n";
    memcpy(text + size - sizeof next + 1, next, sizeof next - 1);
    struct assay__events *e = import_file(import_write("trace", text, size));
    CHECK(e);
    CHECK_INT(e->count, 2);
    CHECK_INT(e->sources[0].skipped > 0, 1);
    CHECK_STR(assay__event_name(e, 1), "g");
    assay__events_free(e);
    free(text);
}

/* A last line without its end is read, and a line that is too long counts once, in any pieces. */
static void check_pieces(const char *text, size_t size, size_t count, uint64_t skipped)
{
    static const size_t pieces[] = {0, 1, 5, 31, 4093};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct assay__events *e = NULL;
        if (size > 1 << 20 && pieces[i] && pieces[i] < 4093) continue; /* slow */
        CHECK_INT(assay__import_bytes(text, size, pieces[i], NULL, &e, NULL), 0);
        CHECK_INT(e->count, count);
        CHECK_INT(e->sources[0].skipped, skipped);
        CHECK_STR(assay__event_name(e, count - 1), "last");
        assay__events_free(e);
    }
}

static void test_pieces(void)
{
    static const char text[] = "a 1 1.000000: cycles: \n\t 1 f (/x)\n\n"
                               "a 1 2.000000: cycles: \n\t 1 last (/x)";
    check_pieces(text, sizeof text - 1, 2, 0);
    size_t size = (3 << 20) + sizeof text;
    char *large = malloc(size);
    CHECK(large);
    memset(large, 'x', size);
    memcpy(large, "a 1 1.000000: cycles: \n\t 1 ", 27);
    large[size - sizeof text] = '\n';
    memcpy(large + size - sizeof text + 1, text, sizeof text - 1);
    check_pieces(large, size, 3, 1);
    free(large);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"frames", test_frames},         {"heads", test_heads},       {"real", test_real},
        {"forms", test_forms},           {"switches", test_switches}, {"broken", test_broken},
        {"long_lines", test_long_lines}, {"pieces", test_pieces},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
