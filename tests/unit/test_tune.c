/* test_tune.c - the search of `assay tune` on landscapes whose best point is known, against a
 * search of all points with three launches each; its answers to failures; and what a hand-made
 * profile is said to have found. Everything is seeded: no clock, no launch. */
#include "facts_fixture.h"

#include "experiment/tune.h"
#include "judge/tune_report.h"
#include "base/stats.h"
#include "report/figure/figure.h"

#include <assay/assay.h>

#define POINTS 128

/* precision, optimisation, threads, spinning */
static const struct assay__tune_grid grid = {
    .axis_count = 4,
    .axes = {{4, false, {0}}, {4, false, {0}}, {4, true, {0, 1, 1.585, 2}}, {2, false, {0}}}};

static double truth[POINTS]; /* log cost */

/* Effects of every axis; threads gain and lose as they grow; two axes in five act together. */
static void make_landscape(uint64_t seed, double joint)
{
    struct assay__random random;
    double effect[4][4], both[4][4][4][4] = {{{{0}}}};
    assay__random_seed(&random, seed);
    for (size_t a = 0; a < 4; a++) {
        double scale = 0.005 * pow(120, assay__random_unit(&random)),
               gain = scale * assay__random_unit(&random),
               loss = scale * assay__random_unit(&random) / 4;
        for (size_t v = 0; v < 4; v++) {
            double u = grid.axes[2].positions[v];
            effect[a][v] = a == 2 ? loss * u * u - gain * u : scale * assay__random_normal(&random);
        }
    }
    for (size_t a = 0; a < 4; a++)
        for (size_t b = a + 1; b < 4; b++) {
            double scale = assay__random_unit(&random) < 0.4 ? joint * assay__random_unit(&random)
                                                             : 0;
            for (size_t v = 0; v < 16; v++)
                both[a][b][v / 4][v % 4] = scale * assay__random_normal(&random);
        }
    for (size_t p = 0; p < POINTS; p++) {
        truth[p] = 0;
        for (size_t a = 0; a < 4; a++) {
            size_t v = assay__tune_grid_choice(&grid, p, a);
            truth[p] += effect[a][v];
            for (size_t b = a + 1; b < 4; b++)
                truth[p] += both[a][b][v][assay__tune_grid_choice(&grid, p, b)];
        }
    }
}

static size_t least_of(const double *values)
{
    size_t best = 0;
    for (size_t p = 1; p < POINTS; p++)
        if (values[p] < values[best]) best = p;
    return best;
}

/* Median of `launches` noisy ones. */
static double measure(struct assay__random *random, size_t point, double noise, int launches)
{
    double values[8];
    for (int i = 0; i < launches; i++)
        values[i] = truth[point] + noise * assay__random_normal(random);
    assay__stats_sort(values, (size_t)launches);
    return assay__stats_median(values, (size_t)launches);
}

struct spent {
    size_t configurations, launches;
};

/* The search with the luck of every round and of every launch; its choice. */
static size_t tune(uint64_t seed, double noise, struct spent *spent)
{
    struct assay__tune_options options = {.start = 31, .seed = seed};
    struct assay__tune *search = assay__tune_new(&grid, &options);
    struct assay__random random;
    enum assay__tune_stage stage = ASSAY__TUNE_DESIGN;
    size_t points[ASSAY__TUNE_ROUND], count = 0, best = SIZE_MAX;
    double least = INFINITY;
    assay__random_seed(&random, seed + 77);
    CHECK(search != NULL);
    for (spent->launches = 0; stage != ASSAY__TUNE_FINAL;) {
        CHECK_INT(assay__tune_round(search, &stage, points, &count), 0);
        CHECK(count > 0 && count <= ASSAY__TUNE_ROUND);
        double luck = 0.02 * assay__random_normal(&random);
        for (size_t i = 0; i < count && stage != ASSAY__TUNE_FINAL; i++, spent->launches++)
            CHECK_INT(assay__tune_tell(search, points[i],
                                       exp(luck + measure(&random, points[i], noise, 1))),
                      0);
    }
    for (size_t i = 0; i < count; i++) {
        double own = measure(&random, points[i], noise, ASSAY__TUNE_FINAL_LAUNCHES);
        spent->launches += ASSAY__TUNE_FINAL_LAUNCHES;
        if (own < least) {
            least = own;
            best = points[i];
        }
    }
    spent->configurations = assay__tune_configurations(search);
    CHECK_INT(assay__tune_round(search, &stage, points, &count), 0);
    CHECK_INT(stage, ASSAY__TUNE_DONE);
    CHECK_INT(count, 0);
    assay__tune_free(search);
    return best;
}

static size_t exhaust(uint64_t seed, double noise)
{
    struct assay__random random;
    double seen[POINTS];
    assay__random_seed(&random, seed + 99);
    for (size_t p = 0; p < POINTS; p++)
        seen[p] = measure(&random, p, noise, 3);
    return least_of(seen);
}

#define LANDSCAPES 60

/* Of LANDSCAPES: how many choices are within 3 % of the best point, against those of the exhaustive
 * search, in a quarter of its trials. */
static void judge(double joint, double noise, int least)
{
    int near = 0, exhaustive = 0;
    size_t launches = 0, configurations = 0;
    double lost = 0, exhaustive_lost = 0;
    for (uint64_t seed = 1; seed <= LANDSCAPES; seed++) {
        struct spent spent;
        make_landscape(seed, joint);
        double best = truth[least_of(truth)], own = truth[tune(seed, noise, &spent)] - best,
               other = truth[exhaust(seed, noise)] - best;
        CHECK(spent.configurations <= POINTS / 4);
        CHECK(spent.launches <= 3 * POINTS / 4);
        configurations += spent.configurations;
        launches += spent.launches;
        near += own < 0.03;
        exhaustive += other < 0.03;
        lost += own / LANDSCAPES;
        exhaustive_lost += other / LANDSCAPES;
    }
    printf("  joint %.2f noise %.2f: within 3 %% in %d of %d (exhaustive %d), mean loss %.2f %% "
           "(%.2f %%), %.1f configurations, %.1f launches\n",
           joint, noise, near, LANDSCAPES, exhaustive, 100 * lost, 100 * exhaustive_lost,
           (double)configurations / LANDSCAPES, (double)launches / LANDSCAPES);
    CHECK(near >= least);
    CHECK(lost < exhaustive_lost + 0.015);
}

static void test_additive(void)
{
    judge(0, 0.02, 57);
}

static void test_pairs(void)
{
    judge(0.05, 0.02, 56);
}

static void test_strong_pairs(void)
{
    judge(0.3, 0.03, 50);
}

static void test_same_seed_same_search(void)
{
    struct spent a, b;
    make_landscape(5, 0.1);
    CHECK_INT(tune(3, 0.02, &a), tune(3, 0.02, &b));
    CHECK_INT(a.configurations, b.configurations);
    CHECK_INT(a.launches, b.launches);
}

/* A setting that never runs is given up after three launches, one that is banned is never proposed;
 * the best of the others is found. */
static void test_failures(void)
{
    struct assay__tune_options options = {.start = 31, .seed = 1};
    struct assay__tune *search = assay__tune_new(&grid, &options);
    enum assay__tune_stage stage;
    size_t points[ASSAY__TUNE_ROUND], count = 1, failed = 0, best = SIZE_MAX;
    make_landscape(9, 0);
    assay__tune_ban(search, 1, 2);
    while (count) {
        CHECK_INT(assay__tune_round(search, &stage, points, &count), 0);
        if (stage == ASSAY__TUNE_FINAL) best = points[0];
        for (size_t i = 0; i < count && stage < ASSAY__TUNE_FINAL; i++) {
            bool fails = assay__tune_grid_choice(&grid, points[i], 0) == 3;
            CHECK(assay__tune_grid_choice(&grid, points[i], 1) != 2);
            failed += fails;
            CHECK_INT(assay__tune_tell(search, points[i], fails ? NAN : exp(truth[points[i]])), 0);
        }
    }
    assay__tune_free(search);
    CHECK(failed >= 1 && failed <= 6);
    for (size_t p = 0; p < POINTS; p++)
        if (assay__tune_grid_choice(&grid, p, 0) == 3 || assay__tune_grid_choice(&grid, p, 1) == 2)
            truth[p] = INFINITY;
    CHECK(truth[best] < truth[least_of(truth)] + 0.005);
}

static void test_nothing_runs(void)
{
    struct assay__tune_options options = {.start = 0, .seed = 1};
    struct assay__tune *search = assay__tune_new(&grid, &options);
    enum assay__tune_stage stage = ASSAY__TUNE_DESIGN;
    size_t points[ASSAY__TUNE_ROUND], count = 1, launches = 0;
    while (count) {
        CHECK_INT(assay__tune_round(search, &stage, points, &count), 0);
        for (size_t i = 0; i < count; i++, launches++)
            CHECK_INT(assay__tune_tell(search, points[i], NAN), 0);
        CHECK(launches < 64);
    }
    CHECK_INT(stage, ASSAY__TUNE_DONE);
    CHECK_INT(assay__tune_incumbent(search), SIZE_MAX);
    assay__tune_free(search);
}

/* Two points: both are tried, both are finalists. */
static void test_two_points(void)
{
    const struct assay__tune_grid two = {.axis_count = 1, .axes = {{2, false, {0}}}};
    struct assay__tune_options options = {.start = 1, .seed = 1};
    struct assay__tune *search = assay__tune_new(&two, &options);
    enum assay__tune_stage stage = ASSAY__TUNE_DESIGN;
    size_t points[ASSAY__TUNE_ROUND], count = 1;
    while (stage != ASSAY__TUNE_FINAL) {
        CHECK_INT(assay__tune_round(search, &stage, points, &count), 0);
        for (size_t i = 0; i < count && stage != ASSAY__TUNE_FINAL; i++)
            CHECK_INT(assay__tune_tell(search, points[i], points[i] ? 1.0 : 0.99), 0);
    }
    CHECK_INT(count, 2);
    CHECK_INT(points[0], 0);
    CHECK_INT(assay__tune_configurations(search), 2);
    assay__tune_free(search);
}

/* What is additive is known of points never seen. */
static void test_surrogate_adds(void)
{
    struct assay__tune_observation seen[64];
    struct assay__surrogate surrogate = assay__surrogate_start(&grid);
    double scratch[64], deviation = NAN;
    size_t count = 0;
    make_landscape(4, 0);
    for (size_t p = 0; p < POINTS && count < 64; p += 2 + p / 32 % 2)
        seen[count] = (struct assay__tune_observation){p, (int)count, truth[p]}, count++;
    for (int i = 0; i < 8; i++)
        CHECK_INT(assay__surrogate_fit(&surrogate, seen, count, true), 0);
    double worst = 0;
    for (size_t p = 0; p < POINTS; p++)
        worst = fmax(worst,
                     fabs(assay__surrogate_predict(&surrogate, p, scratch, &deviation) - truth[p]));
    CHECK(worst < 0.03);
    CHECK(deviation >= 0 && deviation < 0.1);
    assay__surrogate_free(&surrogate);
}

/* --- what a profile is said to have found ----------------------------------------------------- */

static void put_trial(struct assay_profile *profile, const char *role, const char *label,
                      double latency_s, int launches, double drift)
{
    struct assay__trial *trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    fact(profile, trial, "label", label);
    fact(profile, trial, "role", role);
    fact(profile, trial, "goal", "latency");
    fact(profile, trial, "grid", "16");
    fact(profile, trial, "budget_s", "30");
    fact(profile, trial, "drift_limit", "0.01");
    trial->target.device = "cpu";
    trial->state = launches ? ASSAY__TRIAL_OK : ASSAY__TRIAL_FAILED;
    trial->reason = launches ? "" : "no kernel";
    for (int i = 0; i < launches; i++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = latency_s * 1e9 * (1 + 0.001 * i);
    }
    if (!launches) return;
    assay_metrics_measured(trial->metrics, "latency.p50", latency_s, "", "");
    assay_metrics_measured(trial->metrics, "throughput.inferences", 1 / latency_s, "", "");
    assay_metrics_measured(trial->metrics, "memory.peak.worker", 1e6, "", "");
    assay_metrics_derived(trial->metrics, "drift.relative_l2", drift, "", "");
}

static struct assay_profile *example(void)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "precision=float32 opt=all threads=4", 0.010, 2, 0);
    put_trial(profile, "search", "precision=float16 opt=all threads=4", 0.012, 1, 0.001);
    put_trial(profile, "search", "precision=int8-dynamic opt=all threads=1", 0.004, 2, 0.2);
    put_trial(profile, "search", "precision=float32 opt=basic threads=2", 0.006, 2, 0);
    put_trial(profile, "search", "precision=float16 opt=none threads=2", 0.009, 0, 0);
    put_trial(profile, "finalist", "precision=float32 opt=basic threads=2", 0.005, 5, 0);
    put_trial(profile, "finalist", "precision=float32 opt=basic threads=1", 0.005002, 5, 0);
    put_trial(profile, "finalist", "precision=float32 opt=all threads=4", 0.010, 5, 0);
    put_trial(profile, "ablation", "precision=float32 opt=basic threads=2", 0.005, 5, 0);
    put_trial(profile, "ablation", "precision=float32 opt=all threads=2", 0.0075, 5, 0);
    assay_metrics_measured(profile->trials[0].metrics, "tune.elapsed", 28, "", "");
    return profile;
}

static void test_result(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK(result.best != SIZE_MAX && result.start != SIZE_MAX);
    const struct assay__tune_row *best = &result.rows[result.best],
                                 *start = &result.rows[result.start];
    CHECK_STR(best->judged.label, "precision=float32 opt=basic threads=2");
    CHECK_INT(best->fate, ASSAY__FATE_FINALIST);
    CHECK_INT(best->search_launches, 2);
    CHECK(result.tested && result.confirmed);
    CHECK_STR(start->judged.label, "precision=float32 opt=all threads=4");
    CHECK(start->ratio.p_value < 0.05 && !start->alike);
    CHECK(fabs(start->ratio.ratio - 2) < 0.01);
    /* 7 labels; the one that was only an ablation is no configuration tried */
    CHECK_INT(result.count, 7);
    CHECK_INT(result.configurations, 6);
    CHECK_INT(result.failed, 1);
    CHECK_INT(result.search_launches, 7);
    CHECK_INT(result.final_launches, 15);
    CHECK_INT(result.ablation_launches, 10);
    CHECK_INT(result.grid, 16);
    CHECK(result.elapsed_s == 28 && result.plan->budget_s == 30);
    for (size_t i = 0; i < result.count; i++) {
        const struct assay__tune_row *row = &result.rows[i];
        bool drifted = strstr(row->judged.label, "int8") != NULL;
        CHECK_INT(row->alike,
                  strcmp(row->judged.label, "precision=float32 opt=basic threads=1") == 0);
        if (drifted)
            CHECK(!row->allowed && !row->front && strstr(row->judged.reason, "drift") != NULL);
    }
    /* opt was measured by an ablation, threads only believed */
    CHECK_INT(result.part_count, 2);
    CHECK_INT(result.parts[0].axis, ASSAY__AXIS_OPT);
    CHECK_STR(result.parts[0].from, "all");
    CHECK(result.parts[0].measured && fabs(result.parts[0].factor - 1.5) < 0.01);
    CHECK_INT(result.parts[1].axis, ASSAY__AXIS_THREADS);
    CHECK(!result.parts[1].measured && result.parts[1].factor > 1);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void test_drift_allowed(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    for (size_t i = 0; i < profile->trial_count; i++)
        profile->trials[i].option_count--; /* without drift_limit */
    put_trial(profile, "finalist", "precision=int8-dynamic opt=all threads=1", 0.004, 5, 0.2);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "precision=int8-dynamic opt=all threads=1");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void test_limit_nobody_keeps(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    fact(profile, &profile->trials[0], "slo", "p50=1us");
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_INT(result.best, SIZE_MAX);
    /* not int8-dynamic with its 4 ms: its outputs drift */
    static const char *const nearest[] = {"precision=float32 opt=basic threads=2: latency.p50 ",
                                          "5.00 ms", "1.00 µs", "5,000 times"};
    for (size_t i = 0; i < sizeof nearest / sizeof nearest[0]; i++)
        CHECK_HAS(result.why, nearest[i]);
    CHECK_STR(assay__tune_snippet(profile, &result, "c", arena), "");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Without a best a report is about the defaults, by the launches that its table shows: not by those
 * of the search, nor by defaults that failed. */
static void test_shown_without_best(void)
{
    struct assay_profile *profile = example();
    struct assay__study *study;
    fact(profile, &profile->trials[0], "slo", "p50=1us");
    CHECK_INT(assay__study_new(profile, &study), 0);
    const struct assay__tune_result *tune = assay__study_tune(study);
    CHECK_INT(tune->best, SIZE_MAX);
    CHECK(assay__study_main_trial(study) == &profile->trials[tune->rows[tune->start].judged.trial]);
    CHECK(assay__study_main_trial(study) != &profile->trials[0]);
    assay__study_free(study);
    assay_profile_close(profile);
}

static void set_rates(struct assay_profile *profile, size_t trial, int64_t batch, double rate)
{
    struct assay__trial *t = &profile->trials[trial];
    t->batch = batch;
    profile->plan.goal = ASSAY__PLAN_THROUGHPUT;
    for (size_t i = 0; i < t->launch_count; i++)
        CHECK_INT(assay_metrics_measured(t->launches[i].metrics, "throughput.inferences",
                                         rate * (1 + 0.001 * (double)i), "", ""),
                  0);
}

/* The gain is the ratio of the rates in the table, not of medians of latency, which do not see
 * every slow inference. */
static void test_gain_is_of_rates(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "threads=1 batch=1", 0.010, 5, 0);
    put_trial(profile, "finalist", "threads=1 batch=1", 0.010, 5, 0);
    put_trial(profile, "finalist", "threads=1 batch=8", 0.011, 5, 0);
    put_trial(profile, "search", "threads=2 batch=8", 0.011, 1, 0);
    set_rates(profile, 0, 1, 90);
    set_rates(profile, 1, 1, 90);
    set_rates(profile, 2, 8, 60); /* 480 samples/s: 5.33 × 90; by medians it were 7.27 */
    set_rates(profile, 3, 8, 66); /* looks better, in one launch */
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK(result.best != SIZE_MAX && result.start != SIZE_MAX);
    const struct assay__tune_row *best = &result.rows[result.best],
                                 *start = &result.rows[result.start];
    CHECK_STR(best->judged.label, "threads=1 batch=8");
    CHECK_NEAR(best->judged.throughput.value, 8 * 60 * 1.002, 1e-6); /* the middle of five */
    CHECK_NEAR(start->judged.throughput.value, 90 * 1.002, 1e-6);
    CHECK_NEAR(start->ratio.ratio, best->judged.throughput.value / start->judged.throughput.value,
               1e-9);
    CHECK_HAS(result.why, "5.33 ×");
    CHECK_HAS(result.why, "(95 % CI 5.3");
    CHECK_HAS(result.unconfirmed, "threads=2 batch=8 ");
    CHECK_HAS(result.unconfirmed, "1.1 ×");
    CHECK_HAS(result.unconfirmed, "1 short launch ");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* No limit was given: then it is not a limit that is broken. */
static void test_software_alone(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "opt=all", 0.001, 2, 0);
    put_trial(profile, "search", "opt=none", 0.002, 2, 0);
    fact(profile, &profile->trials[0], "software", "yes");
    fact(profile, &profile->trials[1], "software", "yes");
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_INT(result.best, SIZE_MAX);
    CHECK_HAS(result.why, "software");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void test_snippets(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    profile->models[0]->path = "a \"b\".onnx";
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(assay__tune_snippet(profile, &result, "json", arena),
              "{\n  \"intra_op_num_threads\": 2,\n"
              "  \"graph_optimization_level\": \"ORT_ENABLE_BASIC\",\n"
              "  \"session.intra_op.allow_spinning\": \"1\",\n"
              "  \"precision\": \"float32\",\n"
              "  \"provider\": \"CPUExecutionProvider\"\n}\n");
    const char *python = assay__tune_snippet(profile, &result, "python", arena),
               *c = assay__tune_snippet(profile, &result, "c", arena);
    CHECK(strstr(python, "o.intra_op_num_threads = 2\n") != NULL);
    CHECK(strstr(python, "\"a \\\"b\\\".onnx\"") != NULL);
    CHECK(strstr(c, "ort->SetSessionGraphOptimizationLevel(o, ORT_ENABLE_BASIC);\n") != NULL);
    CHECK(strstr(c, "ort->SetIntraOpNumThreads(o, 2);\n") != NULL);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Outputs that are not numbers rule a configuration out, also the start, which is nobody's
 * candidate. */
static void test_not_numbers(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "precision=float32 threads=4", 0.001, 2, 0);
    assay_metrics_measured(profile->trials[0].metrics, "outputs.nonfinite", 4, "", "");
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_INT(result.best, SIZE_MAX);
    CHECK(!result.rows[0].allowed && strstr(result.rows[0].judged.reason, "NaN") != NULL);
    CHECK_HAS(result.why, "NaN");
    put_trial(profile, "search", "precision=float32 threads=1", 0.002, 2, 0);
    assay_metrics_measured(profile->trials[1].metrics, "outputs.nonfinite", 0, "", "");
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "precision=float32 threads=1");
    CHECK_HAS(result.why, "NaN");
    CHECK(strstr(result.why, "×") == NULL); /* nothing is faster than what gave wrong outputs */
    CHECK_INT(result.part_count, 1); /* four threads are no rival: there is no factor of them */
    CHECK(strstr(result.parts[0].objection, "NaN") != NULL && isnan(result.parts[0].factor));
    profile->plan.drift_limit = INFINITY; /* --allow-drift */
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "precision=float32 threads=4");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Tried is what the search has tried: not what was refused from the start, not a setting set back
 * at the end, be it that it failed. */
static void test_counts(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    put_trial(profile, "ablation", "precision=float32 opt=none threads=2", 0, 0, 0);
    put_trial(profile, "refused", "precision=int8-weights opt=all threads=4", 0, 0, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_INT(result.count, 9);
    CHECK_INT(result.configurations, 6);
    CHECK_INT(result.failed, 1);
    CHECK_INT(result.refused, 1);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Too few launches for a test: what a setting contributes is still what was measured, and the same
 * number as that of the whole. */
static void test_untested_part(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "opt=all threads=2", 0.008, 3, 0); /* the search saw it faster */
    put_trial(profile, "search", "opt=all threads=1", 0.012, 3, 0);
    put_trial(profile, "finalist", "opt=all threads=1", 0.0100, 2, 0);
    put_trial(profile, "finalist", "opt=all threads=2", 0.0107, 2, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "opt=all threads=1");
    CHECK(!result.tested && !result.confirmed);
    CHECK_HAS(result.why, "1.07 ×");
    CHECK_INT(result.part_count, 1);
    CHECK(result.parts[0].measured && isnan(result.parts[0].ratio.p_value));
    CHECK(fabs(result.parts[0].factor - 1.07) < 1e-6);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Set back alone, it was only seen by the search: that still goes before what is believed. */
static void test_searched_part(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    put_trial(profile, "search", "precision=float32 opt=basic threads=4", 0.0065, 1, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_INT(result.parts[1].axis, ASSAY__AXIS_THREADS);
    CHECK(result.parts[1].measured && isnan(result.parts[1].ratio.p_value));
    CHECK(fabs(result.parts[1].factor - 0.0065 / (0.005 * 1.002)) < 1e-6);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Judged, and no difference shown from the usual settings: tested, and nothing confirmed. */
static void test_tested_not_confirmed(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "opt=all threads=2", 0.010, 1, 0);
    put_trial(profile, "finalist", "opt=all threads=2", 0.010001, 5, 0);
    put_trial(profile, "finalist", "opt=all threads=1", 0.010, 5, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "opt=all threads=2");
    CHECK_HAS(result.why, "the defaults");
    CHECK_STR(result.unconfirmed, "");
    CHECK(result.tested && !result.confirmed);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Of what is not told apart, the nearest to the usual settings: fewest changes, then the start's
 * precision; never what is shown to be slower. */
static void test_nearest_of_ties(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "precision=float32 opt=all threads=4", 0.020, 1, 0);
    put_trial(profile, "finalist", "precision=float32 opt=all threads=4", 0.020, 5, 0);
    put_trial(profile, "finalist", "precision=int8-weights opt=basic threads=1", 0.010, 5, 0.001);
    put_trial(profile, "finalist", "precision=int8-weights opt=all threads=1", 0.010001, 5, 0.001);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "precision=int8-weights opt=all threads=1");
    put_trial(profile, "finalist", "precision=float32 opt=basic threads=1", 0.010002, 5, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "precision=float32 opt=basic threads=1");
    put_trial(profile, "finalist", "precision=float32 opt=all threads=1", 0.0102, 5,
              0); /* slower */
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "precision=float32 opt=basic threads=1");
    CHECK_STR(result.unconfirmed, "");
    CHECK(result.tested && result.confirmed);
    /* set back alone it makes no difference: said, and only of that setting */
    put_trial(profile, "ablation", "precision=float32 opt=basic threads=1", 0.010, 5, 0);
    put_trial(profile, "ablation", "precision=float32 opt=all threads=1", 0.010001, 5, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_HAS(result.why, "); opt=all ");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* A lost launch that was repeated in a trial of its own: what ran counts. Where the start never
 * ran, nothing is said to be better than it. */
static void test_repeated(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    assay__profile_set_command(profile, "tune");
    put_trial(profile, "start", "opt=all threads=2", 0, 0, 0);
    for (int i = 0; i < 2; i++)
        assay__trial_launch(profile, &profile->trials[0])->state = ASSAY__TRIAL_FAILED;
    put_trial(profile, "search", "opt=all threads=1", 0.012, 2, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "opt=all threads=1");
    CHECK_INT(result.failed, 1);
    CHECK(!result.confirmed);
    CHECK(strstr(result.why, "×") == NULL);
    put_trial(profile, "start", "opt=all threads=2", 0.010, 1, 0);
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    CHECK_STR(result.rows[result.best].judged.label, "opt=all threads=2");
    CHECK_INT(result.failed, 0);
    CHECK_INT(result.configurations, 2);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* A path with control characters is the same path in the code; a digit after one is not taken for
 * part of it. */
static void test_snippet_control(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    profile->models[0]->path = "a\n\0017\x7f.onnx";
    CHECK_INT(assay__tune_result(profile, arena, &result), 0);
    const char *c = assay__tune_snippet(profile, &result, "c", arena),
               *python = assay__tune_snippet(profile, &result, "python", arena);
    CHECK(strstr(c, "\"a\\012\\0017\\177.onnx\"") != NULL);
    CHECK(strstr(python, "\"a\\012\\0017\\177.onnx\"") != NULL);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* The picture has every configuration once, where its counting launches put it: the finalist of 6
 * ms in the search stands at its own 5 ms. */
static void test_figure(void)
{
    struct assay_profile *profile = example();
    struct assay__arena *arena = assay__arena_new();
    struct assay__figure *figures;
    struct assay__study *study;
    struct assay_error error = {0};
    size_t count, left_out, finalists = 0, trials = profile->trial_count;
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("pareto"), arena, &figures, &count,
                                &left_out, &error),
              0);
    CHECK_INT(count, 1);
    CHECK_INT(figures[0].series_count, 2);
    CHECK_STR(figures[0].series[0].name, "on the front");
    CHECK_INT(figures[0].series[0].count, 1);
    CHECK_NEAR(figures[0].series[0].x[0], 0.005, 1e-12);
    CHECK_STR(figures[0].series[0].names[0], "best: float32 basic 2"); /* marked in every form */
    CHECK_INT(figures[0].series[0].flags[0], ASSAY__POINT_MARKED);
    CHECK_INT(figures[0].series[1].count, 5); /* what never ran is no point */
    CHECK_HAS(figures[0].description, "6 configurations, 1 ");
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < figures[0].series[s].count; i++) {
            CHECK(fabs(figures[0].series[s].x[i] - 0.006) > 1e-6);
            bool best = strcmp(figures[0].series[s].names[i], "best: float32 basic 2") == 0;
            CHECK_INT(figures[0].series[s].flags[i], best ? ASSAY__POINT_MARKED : 0);
            finalists += best;
        }
    CHECK_INT(finalists, 1);
    assay__study_free(study);
    profile->trial_count = 1;
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("pareto"), arena, &figures, &count,
                                &left_out, &error),
              ASSAY_ENOTFOUND);
    assay__study_free(study);
    profile->trial_count = trials;
    assay__arena_free(arena);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"additive", test_additive},
        {"pairs", test_pairs},
        {"strong_pairs", test_strong_pairs},
        {"same_seed_same_search", test_same_seed_same_search},
        {"failures", test_failures},
        {"nothing_runs", test_nothing_runs},
        {"two_points", test_two_points},
        {"surrogate_adds", test_surrogate_adds},
        {"result", test_result},
        {"drift_allowed", test_drift_allowed},
        {"limit_nobody_keeps", test_limit_nobody_keeps},
        {"shown_without_best", test_shown_without_best},
        {"gain_is_of_rates", test_gain_is_of_rates},
        {"software_alone", test_software_alone},
        {"snippets", test_snippets},
        {"not_numbers", test_not_numbers},
        {"counts", test_counts},
        {"untested_part", test_untested_part},
        {"searched_part", test_searched_part},
        {"tested_not_confirmed", test_tested_not_confirmed},
        {"nearest_of_ties", test_nearest_of_ties},
        {"repeated", test_repeated},
        {"snippet_control", test_snippet_control},
        {"figure", test_figure},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
