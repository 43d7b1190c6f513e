/* test_comparison_power.c - comparisons of the fake engine with itself, in small: what is claimed,
 * what is found, and that "could have shown" is true. Seeded, so it gives the same counts each
 * time; bench/aa_simulate.c runs 10,000 of each kind. plain-only: thousands of simulated
 * comparisons, whose arithmetic test_comparison runs under sanitizers. */
#include "harness.h"

#include "../../bench/aa_simulation.h"

#define SAME 100
#define SLOWER 30
#define SHOWN 40

/* Equal programs: 4.3 % of claims are expected of 10 against 10 launches with independent noise,
 * fewer beside a drift. All kinds together stay below 5.5 %, one alone below 11 of 100 (the chance
 * of more at 4.3 % is 0.2 %; the seeds are fixed). */
static void equal_programs_are_seldom_told_apart(void)
{
    size_t claimed = 0, done = 0;
    for (size_t i = 0; i < AA_KINDS; i++) {
        struct assay_error error = {0};
        struct aa_counts counts;
        if (!aa_kinds[i].judged) continue;
        CHECK_INT(aa_run(&aa_kinds[i], 0, 1, SAME, &counts, &error), 0);
        CHECK_INT((int)counts.done, SAME);
        CHECK(counts.claimed <= SAME * 11 / 100);
        /* the noise is there, and as large as doc/results/comparisons.md says */
        CHECK(counts.spread > 0.01 && counts.spread < 0.05);
        claimed += counts.claimed;
        done += counts.done;
    }
    CHECK(claimed > 0); /* it is not silent */
    CHECK((double)claimed <= 0.055 * (double)done);
}

static void five_percent_are_found(void)
{
    for (size_t i = 0; i < AA_KINDS; i++) {
        struct assay_error error = {0};
        struct aa_counts counts;
        if (!aa_kinds[i].judged) continue;
        CHECK_INT(aa_run(&aa_kinds[i], 0.05, 1000, SLOWER, &counts, &error), 0);
        CHECK(counts.right >= SLOWER * 95 / 100);
        CHECK(counts.claimed == counts.right); /* and never the wrong way round */
    }
}

/* At the difference that a run said it could have shown, 80 to 95 % of runs do show one: 26 to 40
 * of 40 leave room for chance. */
static void what_could_have_been_shown_is_shown(void)
{
    static const size_t kinds[] = {0, 3, 7};
    size_t shown = 0, done = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct assay_error error = {0};
        struct aa_counts counts;
        CHECK_INT(aa_run(&aa_kinds[kinds[i]], NAN, 2000, SHOWN, &counts, &error), 0);
        CHECK(counts.right >= 26);
        shown += counts.right;
        done += counts.done;
    }
    CHECK((double)shown >= 0.78 * (double)done && (double)shown <= 0.97 * (double)done);
}

/* The simulated machine really drifts from launch to launch: without alternation, equal programs
 * are told apart nearly always. */
static void without_alternation_a_drift_is_a_difference(void)
{
    struct aa_bench bench;
    struct assay_error error = {0};
    const struct aa_kind *drift = &aa_kinds[1];
    size_t claimed = 0;
    CHECK_STR(drift->name, "drift up");
    CHECK_INT(aa_open(&bench, &error), 0);
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct aa_verdict verdict;
        CHECK_INT(aa_compare(&bench, drift, false, 0, seed, &verdict, &error), 0);
        claimed += verdict.verdict == ASSAY__VERDICT_SLOWER;
        CHECK_INT(aa_compare(&bench, drift, true, 0, seed, &verdict, &error), 0);
        CHECK(verdict.verdict == ASSAY__VERDICT_SAME);
    }
    CHECK(claimed >= 9);
    aa_close(&bench);
}

/* The slow beginning of a launch is cut: the median is the steady level's. */
static void a_launch_goes_the_way_of_a_real_one(void)
{
    struct aa_bench bench;
    struct assay_error error = {0};
    struct assay__summary summary;
    const struct aa_kind quiet = {"quiet", "launch_modes=0.5:1", "", true};
    uint64_t at_ns = 0;
    CHECK_INT(aa_open(&bench, &error), 0);
    CHECK_INT(aa_launch(&bench, &quiet, AA_STEADY_NS, 1, 1, &at_ns, &summary, &error), 0);
    CHECK_NEAR(summary.p50, 1.5 * AA_STEADY_NS, 0);
    CHECK(summary.samples >= 60 && summary.samples <= 80); /* 0.2 s of 3 ms */
    /* first (8 ms), pre-run and windows of 0.2 s each, the untimed steps, and a process's start */
    CHECK(at_ns > 460000000 && at_ns < 560000000);
    aa_close(&bench);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"equal_programs_are_seldom_told_apart", equal_programs_are_seldom_told_apart},
        {"five_percent_are_found", five_percent_are_found},
        {"what_could_have_been_shown_is_shown", what_could_have_been_shown_is_shown},
        {"without_alternation_a_drift_is_a_difference",
         without_alternation_a_drift_is_a_difference},
        {"a_launch_goes_the_way_of_a_real_one", a_launch_goes_the_way_of_a_real_one},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
