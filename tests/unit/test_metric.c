/* test_metric.c - the five states, the set, the table; and doc/metrics.md lists every row of the
 * table. */
#include "harness.h"

#include "base/file.h"
#include "base/metric_table.h"
#include "base/metric_value.h"

#include <assay/error.h>
#include <assay/metric.h>

static void test_states(void)
{
    for (int state = 0; state < 5; state++)
        CHECK_INT(assay_state_parse(assay_state_name((enum assay_state)state)), state);
    CHECK_STR(assay_state_name(ASSAY_PUBLISHED), "published");
    CHECK_INT(assay_state_parse("guessed"), -1);
    CHECK_INT(assay_state_parse(NULL), -1);
    struct assay_metric zero = {0};
    CHECK_INT(zero.state, ASSAY_UNAVAILABLE);
}

static void test_lookup(void)
{
    CHECK_STR(assay_metric_lookup("latency.p50")->unit, "s");
    CHECK_STR(assay_metric_lookup("power.average.package")->unit, "W");
    CHECK_STR(assay_metric_lookup("power.average.gpu0")->name, "power.average.RAIL");
    CHECK_STR(assay_metric_lookup("power.average")->name, "power.average");
    CHECK(assay_metric_lookup("latency.min")->needs == ASSAY_NEEDS_NOTHING);
    CHECK(assay_metric_lookup("latency.p999")->needs == ASSAY_NEEDS_SAMPLES);
    CHECK(assay_metric_lookup("llm.itl_p99")->needs == ASSAY_NEEDS_SAMPLES);
    CHECK(assay_metric_lookup("compute.utilization")->needs == ASSAY_NEEDS_CEILINGS);
    CHECK(assay_metric_lookup("roofline.time")->needs == ASSAY_NEEDS_CEILINGS);
    CHECK(assay_metric_lookup("gpu.utilization")->needs == ASSAY_NEEDS_NOTHING);
    CHECK(assay_metric_lookup("power.average.") == NULL);
    CHECK(assay_metric_lookup("latency.p51") == NULL);
    CHECK(assay_metric_lookup("latency") == NULL);
    CHECK(assay_metric_lookup(NULL) == NULL);
}

static void test_table(void)
{
    static const char *const units[] = {"s",    "B",      "J",     "W",      "Hz",     "1/s",
                                        "FLOP", "FLOP/s", "B/s",   "FLOP/B", "TOPS/W", "1/J",
                                        "°C",   "ratio",  "count", "points", "MAC",    "1"};
    for (size_t i = 0; i < assay__metric_table_count; i++) {
        const struct assay_metric_info *row = &assay__metric_table[i];
        bool known = false;
        for (size_t u = 0; u < sizeof units / sizeof units[0]; u++)
            known = known || strcmp(row->unit, units[u]) == 0;
        CHECK(known);
        CHECK(row->summary[0] && row->summary[strlen(row->summary) - 1] == '.');
        for (size_t j = 0; j < i; j++) /* a name means one thing */
            CHECK(strcmp(row->name, assay__metric_table[j].name) != 0);
    }
}

/* Each row of the table stands in the document as "| `name` | unit |". */
static void test_document(void)
{
    char *text;
    CHECK_INT(assay__file_read(ASSAY_TEST_ROOT "/doc/metrics.md", 1 << 20, &text, NULL, NULL), 0);
    for (size_t i = 0; i < assay__metric_table_count; i++) {
        char row[160];
        snprintf(row, sizeof row, "| `%s` | %s | %s", assay__metric_table[i].name,
                 assay__metric_table[i].unit, assay__metric_table[i].summary);
        CHECK_HAS(text, row);
    }
    free(text);
}

static void test_set(void)
{
    struct assay_metrics *set = assay_metrics_new();
    CHECK_INT(assay_metrics_measured(set, "latency.p50", 0.0391, "clock", NULL), 0);
    CHECK_INT(assay_metrics_derived(set, "throughput.inferences", 25.5, "clock",
                                    "completions / wall time"),
              0);
    CHECK_INT(assay_metrics_unavailable(set, "power.average", "no RAPL on this host"), 0);
    CHECK_INT(assay_metrics_count(set), 3);
    const struct assay_metric *metric = assay_metrics_get(set, "latency.p50");
    CHECK_STR(metric->unit, "s");
    CHECK_STR(metric->source, "clock");
    CHECK_STR(metric->note, "");
    CHECK_INT(metric->state, ASSAY_MEASURED);
    metric = assay_metrics_get(set, "power.average");
    CHECK(isnan(metric->value));
    CHECK_STR(metric->source, "none");
    CHECK_STR(metric->note, "no RAPL on this host");
    /* putting again replaces in place, also with a value taken from the old entry */
    metric = assay_metrics_get(set, "latency.p50");
    struct assay_metric again = *metric;
    again.value = 0.04;
    CHECK_INT(assay_metrics_put(set, &again), 0);
    CHECK_INT(assay_metrics_count(set), 3);
    CHECK_STR(assay_metrics_at(set, 0)->name, "latency.p50");
    CHECK_NEAR(assay_metrics_at(set, 0)->value, 0.04, 0);
    CHECK(assay_metrics_at(set, 3) == NULL);
    CHECK(assay_metrics_get(set, "latency.p99") == NULL);
    assay_metrics_free(set);
    assay_metrics_free(NULL);
}

static void test_unknown_is_not_zero(void)
{
    struct assay_metrics *set = assay_metrics_new();
    CHECK_INT(assay_metrics_unavailable(set, "latency.p99", NULL), ASSAY_EINVAL);
    CHECK_INT(assay_metrics_unavailable(set, "latency.p99", ""), ASSAY_EINVAL);
    CHECK_INT(assay_metrics_count(set), 0);
    CHECK_INT(assay_metrics_measured(set, "latency.p99", NAN, "clock", ""), 0);
    const struct assay_metric *metric = assay_metrics_get(set, "latency.p99");
    CHECK_INT(metric->state, ASSAY_UNAVAILABLE);
    CHECK(metric->note[0] != '\0');
    CHECK_INT(assay_metrics_derived(set, "compute.rate", INFINITY, "graph", "x / 0"), 0);
    CHECK_INT(assay_metrics_get(set, "compute.rate")->state, ASSAY_UNAVAILABLE);
    struct assay_metric lie = {"latency.max", 3, "s", ASSAY_UNAVAILABLE, "clock", "why"};
    CHECK_INT(assay_metrics_put(set, &lie), 0);
    CHECK(isnan(assay_metrics_get(set, "latency.max")->value));
    struct assay_metric wrong = {"latency.max", 3, "s", (enum assay_state)9, "clock", ""};
    CHECK_INT(assay_metrics_put(set, &wrong), ASSAY_EINVAL);
    assay_metrics_free(set);
}

/* The set remembers its first error and goes on. */
static void test_failed(void)
{
    struct assay_metrics *set = assay_metrics_new();
    CHECK_INT(assay_metrics_failed(set), 0);
    assay__metrics_put_known(set, "latency.p50", ASSAY_MEASURED, 0.5, "clock", "n", "r");
    assay__metrics_put_known(set, "latency.p99", ASSAY_MEASURED, NAN, "clock", "n", "too few");
    assay__metrics_put_known(set, "latency.p95", ASSAY_MEASURED, INFINITY, "clock", "n", "");
    CHECK_INT(assay_metrics_failed(set), 0);
    CHECK_STR(assay_metrics_get(set, "latency.p50")->note, "n");
    CHECK_STR(assay_metrics_get(set, "latency.p99")->note, "too few");
    CHECK_INT(assay_metrics_get(set, "latency.p95")->state, ASSAY_UNAVAILABLE);
    assay_metrics_unavailable(set, "latency.p90", "");
    CHECK_INT(assay_metrics_failed(set), ASSAY_EINVAL);
    CHECK_INT(assay_metrics_measured(set, "latency.p90", 1, "clock", ""), 0);
    CHECK_INT(assay_metrics_count(set), 4);
    CHECK_INT(assay_metrics_failed(set), ASSAY_EINVAL);
    assay_metrics_free(set);
    CHECK_INT(assay_metrics_failed(NULL), ASSAY_ENOMEM);
}

static void test_ratio(void)
{
    struct assay_metrics *set = assay_metrics_new();
    struct assay_metric flops = {"compute.flops", 8e9, "FLOP", ASSAY_DERIVED, "graph", ""};
    struct assay_metric p50 = {"latency.p50", 0.04, "s", ASSAY_MEASURED, "clock", ""};
    CHECK_INT(assay_metrics_ratio(set, "compute.rate", &flops, &p50, "compute.flops / latency.p50"),
              0);
    const struct assay_metric *rate = assay_metrics_get(set, "compute.rate");
    CHECK_NEAR(rate->value, 2e11, 1e-3);
    CHECK_STR(rate->unit, "FLOP/s");
    CHECK_STR(rate->note, "compute.flops / latency.p50");
    CHECK_INT(rate->state, ASSAY_DERIVED);
    p50.value = 0;
    CHECK_INT(assay_metrics_ratio(set, "compute.rate", &flops, &p50, "f"), 0);
    CHECK_INT(assay_metrics_get(set, "compute.rate")->state, ASSAY_UNAVAILABLE);
    CHECK_STR(assay_metrics_get(set, "compute.rate")->note, "latency.p50 is zero");
    struct assay_metric gone = {"latency.p50",     NAN, "s",
                                ASSAY_UNAVAILABLE, "",  "the launch failed"};
    CHECK_INT(assay_metrics_ratio(set, "compute.rate", &flops, &gone, "f"), 0);
    CHECK_STR(assay_metrics_get(set, "compute.rate")->note, "the launch failed");
    CHECK_INT(assay_metrics_ratio(set, "compute.rate", NULL, &p50, "f"), 0);
    CHECK_HAS(assay_metrics_get(set, "compute.rate")->note, "numerator");
    p50.value = 0.04;
    flops.state = ASSAY_ESTIMATED;
    CHECK_INT(assay_metrics_ratio(set, "compute.rate", &flops, &p50, "f"), 0);
    CHECK_INT(assay_metrics_get(set, "compute.rate")->state, ASSAY_ESTIMATED);
    assay_metrics_free(set);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"states", test_states}, {"lookup", test_lookup},
        {"table", test_table},   {"document", test_document},
        {"set", test_set},       {"unknown_is_not_zero", test_unknown_is_not_zero},
        {"failed", test_failed}, {"ratio", test_ratio},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
