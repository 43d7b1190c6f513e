/* require_fixture.h - one trial with chosen numbers, for tests of requirement tables. */
#ifndef ASSAY_TESTS_REQUIRE_FIXTURE_H
#define ASSAY_TESTS_REQUIRE_FIXTURE_H

#include "facts_fixture.h"
#include "judge/require.h"
#include "scratch.h"

#define MIB 1048576.0
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct assay__arena *arena;
static struct assay_profile *profile;
static struct assay__trial *trial;

/* One trial on the CPU: 1 ms, 1 TFLOP/s, 100 GB/s, 1,000 inferences per second, 1,000 MiB. */
static void begin(void)
{
    arena = assay__arena_new();
    profile = assay__profile_new();
    CHECK(arena && profile);
    trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    assay__profile_set_command(profile, "run");
    profile->models[0]->name = "net";
    trial->state = ASSAY__TRIAL_OK;
    fact_device(profile, trial, "cpu");
    trial->batch = 1;
    struct assay_metrics *m = trial->metrics;
    CHECK_INT(assay_metrics_measured(m, "latency.p50", 1e-3, "clock", ""), 0);
    CHECK_INT(assay_metrics_measured(m, "throughput.inferences", 1000, "clock", ""), 0);
    CHECK_INT(assay_metrics_derived(m, "compute.rate", 1e12, "graph", "f"), 0);
    CHECK_INT(assay_metrics_derived(m, "memory.bandwidth", 1e11, "graph", "f"), 0);
    CHECK_INT(assay_metrics_derived(m, "memory.model", 250 * MIB, "graph", "f"), 0);
    CHECK_INT(assay_metrics_derived(m, "memory.peak.worker", 1000 * MIB, "process", "f"), 0);
    CHECK_INT(assay_metrics_unavailable(m, "latency.p99", "needs 662 samples"), 0);
    CHECK_INT(assay_metrics_unavailable(m, "power.average", "no sensor was read"), 0);
}

static void end(void)
{
    assay_profile_close(profile);
    assay__arena_free(arena);
}

static const struct assay__require_table *parse(const char *text)
{
    const struct assay__require_table *table = NULL;
    struct assay_error error = {0};
    int code = assay__require_parse(arena, text, strlen(text), "t", &table, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return table;
}

static const struct assay_metric *get(const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(trial->metrics, name);
    CHECK(metric != NULL);
    return metric;
}

#endif
