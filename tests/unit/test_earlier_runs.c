/* test_earlier_runs.c - earlier runs of the same work widen the interval of this one's median;
 * other work, unstable runs and damaged files do not. */
#include "base/file.h"
#include "base/metric_value.h"
#include "harness.h"
#include "profile/trial_values.h"
#include "run/earlier_runs.h"

#include <dirent.h>

static char folder[256];

static void private_folder(void)
{
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    setenv("XDG_CACHE_HOME", folder, 1);
}

/* A run of which the launches say ± 1 %. */
static struct assay_profile *run(double p50_s, const char *verdict, int threads, const char *engine)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p);
    struct assay__trial *t = assay__profile_trial(p);
    CHECK(t);
    t->state = ASSAY__TRIAL_OK;
    t->model = p->models[0];
    t->stability.verdict = verdict;
    t->target.engine = engine;
    CHECK_INT(assay__trial_set_option(p, t, "threads", threads == 1 ? "1" : "2"), 0);
    assay_metrics_measured(t->metrics, "latency.p50", p50_s, "clock", "");
    assay_metrics_derived(t->metrics, "latency.between_low", p50_s * 0.99, "clock", "");
    assay_metrics_derived(t->metrics, "latency.between_high", p50_s * 1.01, "clock", "");
    CHECK_INT(assay__earlier_runs_apply(p, t), 0);
    return p;
}

/* Runs, and returns how many earlier ones it knew of. */
static double earlier(double p50_s, const char *verdict, int threads, const char *engine)
{
    struct assay_profile *p = run(p50_s, verdict, threads, engine);
    double count = assay__trial_value(&p->trials[0], "latency.runs");
    assay_profile_close(p);
    return count;
}

static void test_half_width(void)
{
    /* by hand: sd of (ln 9, ln 10, ln 11.1111) = 0.1053605, times 4.3027 */
    const double three[] = {9, 10, 100.0 / 9}, same[] = {5, 5, 5, 5};
    CHECK_NEAR(assay__earlier_runs_half_width(three, 3), expm1(4.3027 * 0.1053605), 1e-4);
    CHECK_NEAR(assay__earlier_runs_half_width(same, 4), 0, 1e-12);
    CHECK(isnan(assay__earlier_runs_half_width(three, 2)));
    double many[ASSAY__EARLIER_RUNS + 2];
    for (size_t i = 0; i < ASSAY__EARLIER_RUNS + 2; i++)
        many[i] = 1 + (double)(i % 2);
    CHECK(isfinite(assay__earlier_runs_half_width(many, ASSAY__EARLIER_RUNS + 1)));
    CHECK(isnan(assay__earlier_runs_half_width(many, ASSAY__EARLIER_RUNS + 2)));
}

static void test_widens(void)
{
    private_folder();
    CHECK(earlier(9e-3, "stable", 1, "ort") == 0);
    CHECK(earlier(10e-3, "stable", 1, "ort") == 1);
    struct assay_profile *p = run(0.1 / 9, "stable", 1, "ort");
    const struct assay__trial *t = &p->trials[0];
    struct assay__median_interval interval = assay__trial_interval(t);
    CHECK_STR(interval.scope, "between runs");
    CHECK_NEAR(interval.high_s / (0.1 / 9), exp(4.3027 * 0.1053605), 1e-4);
    CHECK_NEAR(interval.low_s / (0.1 / 9), exp(-4.3027 * 0.1053605), 1e-4);
    assay_profile_close(p);
    /* never narrower than what the launches say */
    for (int i = 0; i < 12; i++)
        CHECK(earlier(10e-3, "stable", 2, "ort") == fmin(i, ASSAY__EARLIER_RUNS));
    p = run(10e-3, "stable", 2, "ort");
    interval = assay__trial_interval(&p->trials[0]);
    CHECK_NEAR(interval.low_s, 9.9e-3, 1e-9);
    CHECK_NEAR(interval.high_s, 10.1e-3, 1e-9);
    assay_profile_close(p);
    assay__folder_remove(folder);
}

static void test_apart(void)
{
    private_folder();
    CHECK(earlier(1e-3, "stable", 1, "ort") == 0);
    CHECK(earlier(2e-3, "stable", 2, "ort") == 0); /* another setting */
    CHECK(earlier(3e-3, "unstable", 1, "ort") == 1);
    CHECK(earlier(1e-3, "stable", 1, "ort") == 1); /* the unstable one was not kept */
    CHECK(isnan(earlier(1e-3, "stable", 1, "fake")));
    struct assay_profile *p = run(1e-3, "stable", 2, "ort");
    const struct assay_metric *low = assay_metrics_get(p->trials[0].metrics, "latency.runs_low");
    CHECK_INT(low->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(low->note, "earlier stable runs");
    CHECK_STR(assay__trial_interval(&p->trials[0]).scope, "between launches");
    assay_profile_close(p);
    assay__folder_remove(folder);
}

/* A default run takes as many launches as it needs: that is not another setting. */
static void test_launches(void)
{
    private_folder();
    for (int i = 0; i < 4; i++) {
        struct assay_profile *p = assay__profile_new();
        CHECK(p);
        struct assay__trial *t = assay__profile_trial(p);
        CHECK(t);
        t->model = p->models[0];
        t->stability.verdict = "stable";
        t->target.engine = "ort";
        CHECK_INT(assay__trial_set_option(p, t, "launches", i % 2 ? "8" : "6"), 0);
        assay_metrics_measured(t->metrics, "latency.p50", 1e-3, "clock", "");
        CHECK_INT(assay__earlier_runs_apply(p, t), 0);
        CHECK(assay__trial_value(t, "latency.runs") == i);
        assay_profile_close(p);
    }
    assay__folder_remove(folder);
}

/* The path of the only file of the history. */
static void find_file(char *out, size_t out_size)
{
    char inner[300];
    snprintf(inner, sizeof inner, "%s/assay", folder);
    DIR *listing = opendir(inner);
    CHECK(listing);
    *out = '\0';
    for (struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.') snprintf(out, out_size, "%s/%s", inner, entry->d_name);
    closedir(listing);
    CHECK_HAS(out, "/assay/runs-");
}

static void test_damaged(void)
{
    static const char *const damaged[] = {
        "", "{", "[]", "{\"assay_runs\": 2}", "{\"assay_runs\": 1, \"key\": \"other\"}",
    };
    char path[600];
    private_folder();
    CHECK(earlier(1e-3, "stable", 1, "ort") == 0);
    find_file(path, sizeof path);
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        CHECK_INT(assay__file_write(path, damaged[i], strlen(damaged[i]), NULL), 0);
        CHECK(earlier(1e-3, "stable", 1, "ort") == 0);
        CHECK(earlier(1e-3, "unstable", 1, "ort") == 1); /* and it begins again */
    }
    /* times that no run could have had */
    char *text, *at;
    CHECK_INT(assay__file_read(path, 1 << 16, &text, NULL, NULL), 0);
    CHECK((at = strstr(text, "0.001")));
    memcpy(at, "-0.01", 5);
    CHECK_INT(assay__file_write(path, text, strlen(text), NULL), 0);
    free(text);
    CHECK(earlier(1e-3, "stable", 1, "ort") == 0);
    CHECK(earlier(1.0, "stable", 1, "ort") == 0); /* nor one a thousandth of this run's */
    assay__folder_remove(folder);
}

static void test_no_folder(void)
{
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    struct assay_profile *p = run(1e-3, "stable", 1, "ort");
    const struct assay_metric *low = assay_metrics_get(p->trials[0].metrics, "latency.runs_low");
    CHECK_INT(low->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(low->note, "XDG_CACHE_HOME");
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"half_width", test_half_width}, {"widens", test_widens},   {"apart", test_apart},
        {"launches", test_launches},     {"damaged", test_damaged}, {"no_folder", test_no_folder},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
