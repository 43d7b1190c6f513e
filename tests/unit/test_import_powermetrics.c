/* test_import_powermetrics.c - captures of powermetrics as counters: the probe's fixtures, a real
 * capture of an M1 where it is, and broken ones. */
#include "import_case.h"

#define CAPTURES ASSAY_TEST_ROOT "/tests/fixtures/powermetrics/"

static const char *sample_text(const char *date, const char *elapsed, const char *power)
{
    static char out[4][256];
    static int next;
    next = (next + 1) % 4;
    snprintf(out[next], sizeof out[next],
             "*** Sampled system activity (%s) (%sms elapsed) ***\n\nCPU Power: %s mW\n\n", date,
             elapsed, power);
    return out[next];
}

static struct assay__events *import_samples(const char *a, const char *b, const char *c)
{
    char text[1024];
    snprintf(text, sizeof text, "Machine model: Mac14,9\n\n%s%s%s", a, b, c);
    return import_text(text);
}

static void test_plist(void)
{
    struct assay__events *e = import_good(CAPTURES "two.plist");
    const struct assay__trace_counter *cpu = counter_named(e, "CPU power");
    CHECK_INT(e->count, 0);
    CHECK_INT(cpu->count, 2);
    CHECK_NEAR(cpu->values[0], 4, 1e-12);
    CHECK_NEAR(cpu->values[1], 6, 1e-12);
    CHECK_STR(cpu->unit, "W");
    CHECK_INT(cpu->times_ns[1] - cpu->times_ns[0], 500000000);
    CHECK_NEAR(counter_named(e, "ANE power")->values[0], 0.8, 1e-12);
    CHECK_NEAR(counter_named(e, "E0-Cluster frequency")->values[0], 972e6, 0);
    CHECK_NEAR(counter_named(e, "GPU active")->values[0], 0.75, 1e-12);
    CHECK_INT(counter_named(e, "CPU 2 frequency")->count > 0, 1);
    for (size_t i = 0; i < e->counter_count; i++) /* it has none: unknown, not 0 */
        CHECK(strcmp(e->counters[i].name, "GPU power") != 0);
    CHECK_INT(e->sources[0].skipped, 0);
    assay__events_free(e);
}

static void test_text(void)
{
    struct assay__events *e = import_good(CAPTURES "two.txt");
    const struct assay__trace_counter *cpu = counter_named(e, "CPU power");
    CHECK_INT(cpu->count, 2);
    CHECK_NEAR(cpu->values[0], 0.823, 1e-12);
    assay__events_free(e);
}

/* The time of day begins it; lengths say where the others lie; a pause is followed. */
static void test_times(void)
{
    const char *zone = "Fri Sep 11 13:41:46 2026 -0700"; /* 1789159306 */
    struct assay__events *e = import_samples(
        sample_text(zone, "1000.5", "1"),
        sample_text("Fri Sep 11 13:41:48 2026 -0700", "1000.5", "2"),
        sample_text("Fri Sep 11 20:51:47 2026 +0000", "500", "3"));
    CHECK(e);
    const struct assay__trace_counter *cpu = counter_named(e, "CPU power");
    CHECK_INT(cpu->count, 3);
    CHECK_INT(cpu->times_ns[0], 1789159306000000000 - 1000500000);
    CHECK_INT(cpu->times_ns[1], 1789159306000000000);
    CHECK_INT(cpu->times_ns[2], 1789159907000000000 - 500000000);
    CHECK_STR(e->sources[0].clock, ASSAY__IMPORT_CLOCK_UNIX);
    assay__events_free(e);
    e = import_samples(sample_text("some day", "1000", "1"), sample_text("another", "1000", "2"),
                       "");
    CHECK(e);
    cpu = counter_named(e, "CPU power");
    CHECK_INT(cpu->times_ns[0], 0);
    CHECK_INT(cpu->times_ns[1], 1000000000);
    CHECK_STR(e->sources[0].clock, ASSAY__IMPORT_CLOCK_OWN);
    assay__events_free(e);
}

static void test_real(void)
{
    struct assay__events *e = import_real("powermetrics/m1.plist");
    const struct assay__trace_counter *cpu = counter_named(e, "CPU power");
    CHECK_INT(cpu->count, 1);
    CHECK_NEAR(cpu->values[0], 0.0440773, 1e-9);
    CHECK_INT(cpu->times_ns[0], 1680355116000000000 - 2019178750);
    CHECK_NEAR(counter_named(e, "E-Cluster active")->values[0], 1 - 0.772993, 1e-9);
    CHECK_NEAR(counter_named(e, "CPU 0 frequency")->values[0], 1.04615e9, 0);
    CHECK_NEAR(counter_named(e, "GPU frequency")->values[0], 714.836e6, 1);
    CHECK_INT(e->sources[0].skipped, 0);
    assay__events_free(e);
}

static void test_broken(void)
{
    struct assay__events *e = import_samples(
        sample_text("x", "1000", "1"), sample_text("x", "1e300", "2"), sample_text("x", "-5", "3"));
    CHECK(e);
    CHECK_INT(counter_named(e, "CPU power")->count, 2); /* a negative length is unknown */
    CHECK_INT(e->sources[0].skipped, 1);
    assay__events_free(e);
    e = import_text("<?xml?><plist><dict><key>elapsed_ns</key><integer>1000</integer>"
                    "<key>processor</key><dict><key>cpu_power</key><real>5</real></dict></dict>"
                    "</plist>\n<?xml?><plist><dict><key>elapsed_ns</key><integer>10");
    CHECK(e);
    CHECK_INT(counter_named(e, "CPU power")->count, 1);
    CHECK(e->sources[0].truncated);
    CHECK_INT(e->sources[0].skipped, 1);
    assay__events_free(e);
    CHECK(!import_text("<plist><dict><key>elapsed_ns</key><integer>10"));
    CHECK(!import_text("*** Sampled system activity (x) (1000ms elapsed) ***\nnothing\n"));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"plist", test_plist}, {"text", test_text},     {"times", test_times},
        {"real", test_real},   {"broken", test_broken},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
