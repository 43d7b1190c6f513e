/* test_course.c - what a sweep and a tuning report of themselves while they run: the point, the
 * best so far, the time left. */
#include "experiment/experiment.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

struct heard {
    uint64_t seen; /* bit k: point k + 1 */
    int points;
    bool ordered; /* `done` never fell */
    double done, left_s;
    char best[128];
};

static void hear(void *context, const struct assay_progress *progress)
{
    struct heard *heard = context;
    if (!progress->points) return;
    CHECK(progress->point >= 1 && progress->point <= progress->points);
    CHECK(progress->left_s >= 0);
    heard->seen |= 1ull << (progress->point - 1);
    heard->points = progress->points;
    heard->ordered &= progress->done >= heard->done;
    heard->done = progress->done;
    if (progress->left_s > 0) heard->left_s = progress->left_s;
    if (progress->best) snprintf(heard->best, sizeof heard->best, "%s", progress->best);
}

static struct assay__run_options options_of(struct heard *heard, const char *script)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    *heard = (struct heard){.ordered = true};
    return (struct assay__run_options){
        .target.engine = "fake",
        .script = script,
        .workload.model = "mlp",
        .measuring = {.iterations = 30, .launches = 2, .layers = ASSAY_LAYERS_OFF},
        .callbacks = {.progress = hear, .context = heard}};
}

static void test_sweep(void)
{
    struct heard heard;
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    /* by the sample: 100, 50, 40 µs */
    struct assay__run_options run = options_of(&heard, "steady=100us;when_batch=4:steady=160us");
    const struct assay_sweep_options sweep = {.grid.batch = "1,2,4"};
    CHECK_INT(assay__sweep_model(&run, &sweep, &profile, &error), 0);
    CHECK_INT(heard.points, 3);
    CHECK_INT((int)heard.seen, 7);
    CHECK(heard.ordered && heard.done > 0.8 && heard.done <= 1);
    CHECK(heard.left_s > 0);
    CHECK_STR(heard.best, "batch=4: 25.0 k/s");
    assay_profile_close(profile);
}

static void test_tune(void)
{
    struct heard heard;
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__run_options run = options_of(&heard, "steady=100us;when_threads=1:steady=80us");
    const struct assay_tune_options tune = {.grid = {.threads = "1,2",
                                                     .optimization = "none,all",
                                                     .precision = "float32",
                                                     .spinning = "on"},
                                            .budget_s = 20};
    CHECK_INT(assay__tune_model(&run, &tune, &profile, &error), 0);
    CHECK_INT(heard.points, 4);
    CHECK(heard.ordered && heard.left_s > 0 && heard.left_s < 20);
    CHECK(strstr(heard.best, "threads=1") && strstr(heard.best, ": 80.0 µs"));
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"sweep", test_sweep}, {"tune", test_tune}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
