/* test_layers_counted.c - counters at the layers of the ort engine, with counters of our own that
 * know how often and when they were read: what a reading costs is subtracted exactly, what is
 * unknown stays unknown, and they count only when they should. */
#include "base/clock.h"
#include "layers_fixture.h"

#include <math.h>

/* 0: readings so far; 1: never known; 2: the clock; 3: known at every second reading only; 4:
 * stands still */
#define COUNTERS 5

static size_t reads, begins, ends;

static void fake_begin(void *context)
{
    CHECK(context == &reads);
    CHECK_INT(begins, ends);
    begins++;
}

static void fake_end(void *context)
{
    (void)context;
    ends++;
    CHECK_INT(begins, ends);
}

static void fake_read(void *context, double *values)
{
    (void)context;
    CHECK_INT(begins, ends + 1); /* only in between */
    reads++;
    values[0] = (double)reads;
    values[1] = NAN;
    values[2] = (double)assay__now_ns();
    values[3] = reads % 2 ? (double)reads : NAN;
    values[4] = 7;
}

static const struct assay__layer_counters counters = {COUNTERS, fake_begin, fake_end, fake_read,
                                                      &reads};

static struct assay__layers count(struct opened *opened, enum assay_layer_method method)
{
    struct assay__layers result;
    struct assay_error error = {0};
    struct assay__layer_options options = {
        .size = sizeof options, .method = method, .budget_s = 0.3, .counters = &counters};
    if (assay__engine_find("ort")->layers(opened->session, &options, &result, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return result;
}

static void check_model(const char *name)
{
    struct opened opened = open_fixture(name);
    struct assay__layers result = count(&opened, ASSAY_LAYERS_MARKERS);
    size_t known = 0;
    CHECK_HAS(result.counter_note, "read the counters before and after every layer,");
    for (size_t i = 0; i < result.count; i++) {
        const double *values = result.items[i].counters;
        if (!values) continue;
        known++;
        CHECK_NEAR(values[0], 0, 1e-9); /* one reading per layer, and one is subtracted */
        CHECK(isnan(values[1]));
        CHECK(isfinite(values[2]) && values[2] < 1e9);
        CHECK(isnan(values[3])); /* entry and exit are never both known */
        CHECK_NEAR(values[4], 0, 0);
        CHECK(isfinite(result.items[i].time_ns));
    }
    CHECK(known > 0);
    CHECK(reads > 0 && begins > 0);
    close_fixture(&opened);
}

static void test_markers(void)
{
    check_model("split");
    check_model("lstm");
    check_model("dynamic");
}

static void test_other_methods(void)
{
    struct opened opened = open_fixture("split");
    struct assay__layers result = count(&opened, ASSAY_LAYERS_ENGINE);
    CHECK_HAS(result.counter_note, "timed in another way");
    for (size_t i = 0; i < result.count; i++)
        CHECK(result.items[i].counters == NULL);
    CHECK_INT(reads, 0);
    close_fixture(&opened);
}

/* A caller of an older version, whose options end before the counters; and one that asks for
 * none. */
static void test_not_asked(void)
{
    struct opened opened = open_fixture("split");
    struct assay__layers result;
    struct assay_error error = {0};
    struct assay__layer_options options = {.size = offsetof(struct assay__layer_options, counters),
                                           .method = ASSAY_LAYERS_MARKERS,
                                           .budget_s = 0.1,
                                           .counters = &counters};
    CHECK_INT(assay__engine_find("ort")->layers(opened.session, &options, &result, &error), 0);
    CHECK(result.counter_note == NULL);
    for (size_t i = 0; i < result.count; i++)
        CHECK(result.items[i].counters == NULL);
    CHECK_INT(reads, 0);
    close_fixture(&opened);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"markers", test_markers},
        {"other_methods", test_other_methods},
        {"not_asked", test_not_asked},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
