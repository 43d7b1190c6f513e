/* test_verify.c - changes on trial, on the fake engine: its script says what each change does, so
 * that gains, drifts and verdicts are exact. The findings are those of the advice's fixture, their
 * changes are chosen here. Real workers are started; no test depends on how fast the machine is. */
#include "advise_fixture.h"

#include "experiment/verify_attempt.h"

#define LAUNCHES 6

static struct assay_profile *profile;
static struct assay__advice *advice;
static struct assay__verification verification;
static volatile int interrupt_flag;

/* The fixture's profile with so many findings; each one's change is set by the test. */
static void begin(size_t count)
{
    static const char *const options[][2] = {{"opt", "none"}, {"threads", "16"}};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    profile = base_profile();
    for (size_t i = 0; i < COUNT(options); i++)
        option(profile, options[i][0], options[i][1]);
    unknown_metric(profile, "energy.inference.gross", "no sensor");
    metric(profile, "latency.p99", 5e-3);              /* latency-tail: has no change */
    profile->environment.governor = "powersave";       /* governor: has none either */
    profile->trials[0].stability.verdict = "unstable"; /* unstable */
    metric(profile, "latency.cv", 0.5);
    advice = advise(profile);
    CHECK(profile->finding_count >= count);
}

static struct assay__rule_result *result_at(size_t index)
{
    return (struct assay__rule_result *)assay__advice_finding(advice, index);
}

/* All findings without a change but those that a test gives one. */
static void no_changes(void)
{
    for (size_t i = 0; i < profile->finding_count; i++)
        result_at(i)->change = (struct assay__change){ASSAY__CHANGE_NONE, 0, NULL, 0};
}

static void change(size_t index, enum assay__change_kind kind, int64_t value)
{
    result_at(index)->change = (struct assay__change){kind, value, NULL, 0};
}

static void count_progress(void *context, const struct assay_progress *progress)
{
    CHECK_STR(progress->phase, "trying changes");
    CHECK(progress->launch <= progress->launches);
    ++*(int *)context;
}

static void verify_within(const char *script, const char *model, double budget_s)
{
    struct assay__arms arms;
    struct assay_profile *tried = NULL;
    struct assay_error error = {0};
    static int told;
    struct assay__verify_options options = {.budget_s = budget_s};
    options.run = (struct assay__run_options){.target.engine = "fake",
                                              .script = script,
                                              .workload.model = model,
                                              .target.threads = 4,
                                              .target.optimization = "none",
                                              .measuring.launches = LAUNCHES,
                                              .measuring.iterations = 20,
                                              .measuring.warmup_given = true,
                                              .measuring.warmup = 1,
                                              .measuring.timeout_s = 60,
                                              .callbacks.interrupt = &interrupt_flag,
                                              .callbacks.progress = count_progress,
                                              .callbacks.context = &told};
    CHECK_INT(assay__arms_begin(&arms, &options.run, NULL, &error), 0);
    CHECK_INT(assay__arms_start(&arms, &error), 0);
    int code = assay__verify(advice, &arms, &options, &verification, &error);
    if (code) harness_fail(__FILE__, __LINE__, error.message);
    CHECK(advice->verification == &verification);
    assay__arms_finish(&arms, &tried, &error);
    CHECK(tried != NULL);
    assay_profile_close(tried);
    assay__arms_end(&arms);
}

static void verify(const char *script)
{
    verify_within(script, NULL, 600);
}

static void end(void)
{
    assay__advice_free(advice);
    assay_profile_close(profile);
}

static const struct assay__finding *finding(size_t index)
{
    CHECK(index < profile->finding_count);
    return &profile->findings[index];
}

static void check_gain(const struct assay__finding *f, const char *state, double gain)
{
    CHECK_STR(f->state, state);
    CHECK_NEAR(f->verified_gain, gain, 1e-12);
    CHECK_NEAR(f->verified_low, gain, 1e-12); /* every launch of a side is alike */
    CHECK_NEAR(f->verified_high, gain, 1e-12);
}

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part)) return true;
    printf("  \"%s\" does not hold \"%s\"\n", text ? text : "(null)", part);
    return false;
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void helps_hurts_and_nothing(void)
{
    begin(4);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    change(1, ASSAY__CHANGE_OPTIMIZE, 0);
    change(2, ASSAY__CHANGE_SPINNING_OFF, 0);
    verify("steady=100us;when_threads=2:steady=80us;when_opt=all:steady=125us");
    check_gain(finding(0), "verified", 1.25);
    CHECK_STR(finding(0)->tried, "threads=2");
    CHECK_STR(finding(0)->verified_of, "latency");
    CHECK_STR(finding(0)->reason, "");
    CHECK_NEAR(finding(0)->verified_drift, 0, 0);
    CHECK_STR(finding(0)->drift_note, "limit for this change 0.0001");
    CHECK(isnan(finding(0)->verified_energy)); /* no sensor: unknown, not 1 */
    CHECK_STR(finding(0)->severity, "medium"); /* by the measured 1.25 … */
    CHECK_STR(finding(1)->severity, "note");   /* … and of what did not help nothing is left */
    check_gain(finding(1), "withdrawn", 0.8);
    CHECK_STR(finding(1)->reason, "tried: 0.8 × as fast (0.8 to 0.8), slower");
    check_gain(finding(2), "withdrawn", 1);
    CHECK(has(finding(2)->reason, "no difference shown"));
    CHECK_STR(finding(3)->state, "open");
    CHECK(has(finding(3)->reason, "not tried: needs "));
    CHECK_STR(finding(3)->tried, "");
    CHECK(isnan(finding(3)->verified_gain));
    CHECK_INT(verification.changes, 3);
    CHECK_INT(verification.tried, 3);
    CHECK_INT(verification.verified, 1);
    CHECK_INT(verification.withdrawn, 2);
    CHECK_NEAR(verification.baseline_s, 100e-6, 1e-15);
    for (size_t i = 0; i < profile->finding_count; i++) /* one that helps is no combination */
        CHECK(strcmp(finding(i)->id, ASSAY__VERIFY_COMBINED) != 0);
    end();
}

static void failing_and_drifting(void)
{
    begin(4);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    change(1, ASSAY__CHANGE_OPTIMIZE, 0);
    change(2, ASSAY__CHANGE_SPINNING_OFF, 0);
    change(3, ASSAY__CHANGE_THREADS, 1);
    verify("steady=100us;when_threads=2:open_error=no "
           "room;when_opt=all:steady=50us;when_opt=all:output=1.25;"
           "when_spinning=off:output=nan;when_spinning=off:steady=50us;when_threads=1:crash_at=5");
    CHECK_STR(finding(0)->state, "withdrawn");
    CHECK(has(finding(0)->reason, "tried: it does not run: ") &&
          has(finding(0)->reason, "no room"));
    CHECK(isnan(finding(0)->verified_gain));
    check_gain(finding(1), "withdrawn", 2);
    CHECK_NEAR(finding(1)->verified_drift, 0.25, 1e-7);
    CHECK(has(finding(1)->reason, "but the outputs drift: relative L2 0.25, the limit is 0.001"));
    /* an option whose outputs cannot be compared is told as such, not as no drift */
    CHECK_NEAR(finding(2)->verified_gain, 2, 1e-12);
    CHECK(isnan(finding(2)->verified_drift) && has(finding(2)->drift_note, "not compared: "));
    CHECK_STR(finding(3)->state, "withdrawn");
    CHECK(has(finding(3)->reason, "launches failed"));
    end();
}

static void one_change_of_two_findings_is_measured_once(void)
{
    begin(3);
    no_changes();
    profile->findings[0].severity = "low";
    change(0, ASSAY__CHANGE_THREADS, 2);
    change(2, ASSAY__CHANGE_THREADS, 2);
    verify("steady=100us;when_threads=2:steady=50us");
    CHECK_INT(verification.changes, 1);
    CHECK_STR(finding(0)->severity, "high"); /* measured, not supposed */
    check_gain(finding(0), "verified", 2);
    check_gain(finding(2), "verified", 2);
    end();
}

/* Gains of 1.25 and 2 that together are 2, as the second one's script overrides the first. */
static void combined_is_measured_and_not_multiplied(void)
{
    begin(3);
    no_changes();
    change(0, ASSAY__CHANGE_OPTIMIZE, 0);
    change(1, ASSAY__CHANGE_THREADS, 2);
    change(2, ASSAY__CHANGE_THREADS, 1); /* excludes the other number: the better one is taken */
    size_t before = profile->finding_count;
    verify("steady=100us;when_opt=all:steady=80us;when_threads=2:steady=50us;when_threads=1:steady="
           "90us");
    CHECK_INT(profile->finding_count, before + 1);
    const struct assay__finding *all = finding(before);
    CHECK_STR(all->id, ASSAY__VERIFY_COMBINED);
    check_gain(all, "verified", 2);
    CHECK_NEAR(all->expected_gain, 2.5, 1e-12);
    CHECK_STR(all->tried, "opt=all + threads=2");
    CHECK_INT(all->evidence_count, 2);
    CHECK_STR(all->evidence[1], "threads=2 alone: 2 × as fast");
    CHECK_INT(verification.verified, 3);
    end();
}

static void combination_that_is_worse_says_so(void)
{
    begin(2);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    change(1, ASSAY__CHANGE_OPTIMIZE, 0);
    verify("steady=100us;when_threads=2:steady=50us;when_opt=all:steady=80us");
    const struct assay__finding *all = finding(profile->finding_count - 1);
    check_gain(all, "verified", 1.25);
    CHECK(has(all->reason, "less than threads=2 alone: 2 ×"));
    end();
}

/* --- batches and rewrites, of a real model ---------------------------------------------------- */

static void batch_is_judged_by_samples(void)
{
    begin(2);
    no_changes();
    change(0, ASSAY__CHANGE_BATCH, 16);
    change(1, ASSAY__CHANGE_BATCH, 32);
    verify_within("steady=100us;when_batch=16:steady=400us;when_batch=32:steady=3200us",
                  "mlp:width=4,inputs=4,outputs=2", 600);
    if (strcmp(finding(0)->state, "open") == 0) printf("  %s\n", finding(0)->reason);
    check_gain(finding(0), "verified", 4); /* 16 samples in 4 times the time of 1 */
    CHECK_STR(finding(0)->verified_of, "samples per second");
    CHECK(isnan(finding(0)->verified_drift));
    CHECK(has(finding(0)->drift_note, "not compared: a different batch has different inputs"));
    check_gain(finding(1), "withdrawn", 1);
    end();
}

/* Numbers near 0 that a Sigmoid makes have no more digits than those near 1. */
static void outputs_within_one(void)
{
    static const struct node_spec nodes[] = {{"MatMul", "a", {"x", "w"}, "h", NULL, 0},
                                             {"Sigmoid", "s", {"h"}, "p", NULL, 0},
                                             {"Flatten", "f", {"p"}, "y", NULL, 0}};
    static const struct weight_spec weights[] = {{"w", ASSAY__FLOAT32, 2, {64, 64}}};
    for (int bounded = 0; bounded < 2; bounded++) {
        begin(1);
        if (bounded) {
            set_model(profile, nodes, COUNT(nodes), weights, COUNT(weights), NULL);
            assay__advice_free(advice);
            advice = advise(profile);
        }
        no_changes();
        change(0, ASSAY__CHANGE_THREADS, 2);
        verify_within("steady=100us;output=0.00001;when_threads=2:steady=50us;"
                      "when_threads=2:output=0.000015",
                      NULL, 600);
        check_gain(finding(0), bounded ? "verified" : "withdrawn", 2);
        CHECK_NEAR(finding(0)->verified_drift, 0.5, 1e-3);
        end();
    }
}

static void simplified_copies_are_run(void)
{
    begin(2);
    no_changes();
    change(0, ASSAY__CHANGE_FOLD_AFFINE, 0);
    change(1, ASSAY__CHANGE_FUSE_HARDSWISH, 0);
    verify_within("steady=100us;when_model=fold-affine:steady=25us;"
                  "when_model=fuse-hardswish:steady=50us;when_model=fuse-hardswish:output=1.001",
                  "mlp:width=4,inputs=4,outputs=2", 600);
    check_gain(finding(0), "verified", 4);
    check_gain(finding(1), "withdrawn", 2); /* beyond 1e-4 */
    CHECK_NEAR(finding(1)->verified_drift, 1e-3, 1e-6);
    end();
}

static void rewritten_copies_are_run(void)
{
    begin(4);
    no_changes();
    change(0, ASSAY__CHANGE_FLOAT16, 0);
    change(1, ASSAY__CHANGE_WEIGHTS_INT8, 0);
    change(2, ASSAY__CHANGE_DYNAMIC_INT8, 0);
    static const char *const dims[] = {"nothing=1"};
    change(3, ASSAY__CHANGE_FIX_DIMS, 0);
    result_at(3)->change.names = dims;
    result_at(3)->change.name_count = 1;
    verify_within("steady=100us;when_model=float16:steady=50us;when_model=float16:output=1.005;"
                  "when_model=weights-int8:steady=40us;when_model=weights-int8:output=1.2;"
                  "when_model=dynamic-int8:steady=20us;when_model=dynamic-int8:output=nan",
                  "mlp:width=64,outputs=16", 600);
    check_gain(finding(0), "verified", 2);
    CHECK_NEAR(finding(0)->verified_drift, 0.005, 1e-6);
    check_gain(finding(1), "withdrawn", 2.5);
    CHECK(has(finding(1)->reason, "the outputs drift: relative L2 0.2, the limit is 0.05"));
    check_gain(finding(2), "withdrawn", 5);
    CHECK(has(finding(2)->reason, "outputs is unknown"));
    CHECK_STR(finding(3)->state, "withdrawn");
    CHECK(has(finding(3)->reason, "tried: the engine refuses the rewritten model: ") &&
          has(finding(3)->reason, "nothing"));
    end();
}

/* --- what stops it ---------------------------------------------------------------------------- */

static void budget_tries_the_first_findings(void)
{
    begin(3);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    change(1, ASSAY__CHANGE_OPTIMIZE, 0);
    change(2, ASSAY__CHANGE_SPINNING_OFF, 0);
    verify_within("steady=100us;when_threads=2:steady=50us", NULL, 1e-6);
    CHECK_INT(verification.tried, 0); /* one launch each is no verdict */
    CHECK(has(finding(0)->reason, "not tried: the budget was used up after 1 of 6 launches"));
    CHECK_STR(finding(1)->reason, "not tried: the budget was used up");
    CHECK_STR(finding(2)->reason, "not tried: the budget was used up");
    CHECK_STR(finding(2)->state, "open");
    end();
}

/* The first change sleeps for longer than the budget: no launch of the others is begun. */
static void budget_ends_a_first_round(void)
{
    begin(3);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    change(1, ASSAY__CHANGE_OPTIMIZE, 0);
    change(2, ASSAY__CHANGE_SPINNING_OFF, 0);
    verify_within("steady=100us;when_threads=2:pace=100ms", NULL, 1.5);
    CHECK(has(finding(0)->reason, "not tried: the budget was used up after 1 of 6 launches"));
    CHECK_STR(finding(1)->reason, "not tried: the budget was used up");
    CHECK_STR(finding(2)->reason, "not tried: the budget was used up");
    end();
}

static void interrupted_at_once(void)
{
    begin(2);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    interrupt_flag = 1;
    verify("steady=100us");
    CHECK(verification.interrupted);
    CHECK_STR(finding(0)->state, "open");
    CHECK_STR(finding(0)->reason, "not tried: it was interrupted");
    end();
}

static void baseline_that_fails(void)
{
    begin(2);
    no_changes();
    change(0, ASSAY__CHANGE_THREADS, 2);
    verify("open_error=nothing works");
    CHECK_STR(finding(0)->state, "open");
    CHECK(has(finding(0)->reason, "not tried: the run without changes failed: ") &&
          has(finding(0)->reason, "nothing works"));
    end();
}

static void nothing_to_try(void)
{
    begin(1);
    no_changes();
    verify("steady=100us");
    CHECK_STR(verification.reason, "no finding has a change that assay can apply");
    for (size_t i = 0; i < profile->finding_count; i++)
        CHECK(has(finding(i)->reason, "not tried: needs "));
    end();
}

/* Every rule says what it needs when there is nothing to try, and not the last resort of words. */
static void every_rule_says_what_it_needs(void)
{
    const struct assay__rule *rule;
    for (size_t i = 0; (rule = assay__rule_at(i)); i++)
        if (!rule->apply)
            CHECK(strcmp(assay__verify_needs(rule), "a change that assay cannot apply by itself") !=
                  0);
}

/* --- what rules would have one try ------------------------------------------------------------ */

static struct assay__change applied(const char *rule)
{
    struct assay__change change = {ASSAY__CHANGE_NONE, 0, NULL, 0};
    const struct assay__rule *found = assay__rule_find(rule);
    CHECK(found && found->apply);
    found->apply(advice, &change);
    return change;
}

static void changes_fit_the_trial(void)
{
    begin(1);
    CHECK_INT(applied("fusion-norm").kind, ASSAY__CHANGE_OPTIMIZE); /* opt is none here */
    option(profile, "opt", "all");
    CHECK_INT(applied("fusion-norm").kind, ASSAY__CHANGE_NONE);
    CHECK_INT(applied("identities").kind, ASSAY__CHANGE_NONE);
    CHECK_INT(applied("context-switches").kind, ASSAY__CHANGE_SPINNING_OFF);
    option(profile, "spinning", "off");
    CHECK_INT(applied("context-switches").kind, ASSAY__CHANGE_NONE);
    CHECK_INT(applied("dispatch-bound").value, 64); /* 8 times the trial's 8 */
    CHECK_INT(applied("size-steps").kind, ASSAY__CHANGE_NONE);
    profile->trials[0].batch = 13;
    CHECK_INT(applied("size-steps").value, 8);
    profile->trials[0].batch = -1;
    CHECK_INT(applied("dispatch-bound").kind, ASSAY__CHANGE_NONE);
    /* a cell's other form is the zoo's alone */
    profile->models[0]->cell.form = "unrolled";
    CHECK_INT(applied("cell-unrolled").kind, ASSAY__CHANGE_NONE);
    profile->models[0]->path = "";
    profile->models[0]->name = "cfc:units=16,outputs=4,seq=8";
    CHECK_STR(applied("cell-unrolled").names[0], "cfc:units=16,outputs=4,seq=8,form=scan");
    profile->models[0]->name = "cfc:units=16,form=scan,outputs=4,seq=8";
    profile->models[0]->cell.form = "scan";
    CHECK_STR(applied("cell-scan").names[0], "cfc:units=16,form=unrolled,outputs=4,seq=8");
    end();
}

/* --- what was kept ---------------------------------------------------------------------------- */

static void kept_verdicts_are_carried(void)
{
    begin(2);
    struct assay__finding kept[] = {
        {.id = finding(1)->id,
         .state = "verified",
         .reason = "",
         .verified_gain = 1.5,
         .verified_low = 1.4,
         .verified_high = 1.6,
         .tried = "threads=2",
         .severity = "old",
         .expected_gain = 9},
        {.id = ASSAY__VERIFY_COMBINED,
         .state = "withdrawn",
         .reason = "slower",
         .verified_gain = 0.9},
        {.id = "a-rule-of-old", .state = "verified", .verified_gain = 3},
    };
    size_t before = profile->finding_count;
    CHECK_INT(assay__verify_carry(profile, kept, COUNT(kept)), 0);
    CHECK_INT(profile->finding_count, before + 1);
    CHECK_STR(finding(0)->state, "open");
    CHECK_STR(finding(1)->state, "verified");
    CHECK_NEAR(finding(1)->verified_low, 1.4, 0);
    CHECK_STR(finding(1)->severity, "high"); /* by what was measured, not what was kept */
    CHECK_STR(finding(before)->id, ASSAY__VERIFY_COMBINED);
    /* nothing was tried: nothing is carried, not even a reason */
    kept[0].state = "open", kept[0].reason = "stale";
    CHECK_INT(assay__verify_carry(profile, kept, 1), 0);
    CHECK_STR(finding(1)->reason, "");
    end();
}

static void options_of_a_kept_trial(void)
{
    begin(1);
    struct assay__arena *arena = assay__arena_new();
    struct assay__verify_options options = {.budget_s = 1};
    struct assay_error error = {0};
    option(profile, "threads", "3");
    option(profile, "cpus", "0-1");
    option(profile, "spinning", "off");
    CHECK_INT(assay__verify_options_of(advice, NULL, arena, &options, &error), 0);
    CHECK_STR(options.run.target.optimization, "none");
    CHECK_INT(options.run.target.threads, 3);
    CHECK_STR(options.run.target.cpus, "0-1");
    CHECK_INT(options.run.target.spinning_off, 1);
    CHECK_STR(options.run.workload.model, profile->models[0]->path);
    CHECK_INT(options.run.workload.shape_count, 1);
    CHECK_STR(options.run.workload.shapes[0], "x=8x64");
    option(profile, "threads", "3 (engine's default)");
    option(profile, "cpus", "any");
    CHECK_INT(assay__verify_options_of(advice, "other.onnx", arena, &options, &error), 0);
    CHECK_INT(options.run.target.threads, 0);
    CHECK(options.run.target.cpus == NULL);
    CHECK_STR(options.run.workload.model, "other.onnx");
    /* what was fed back is fed back again: nothing, … */
    struct assay__trial *trial = &profile->trials[0];
    CHECK_INT(options.run.feedback.state_count, 1);
    CHECK_STR(options.run.feedback.states[0], "none");
    /* … what was asked for, or what the names say */
    struct assay__feedback feedback = {"hn", "h0", ASSAY__FEEDBACK_GIVEN};
    trial->feedback = &feedback;
    trial->feedback_count = 1;
    trial->real_time.seconds = 0.5;
    CHECK_INT(assay__verify_options_of(advice, NULL, arena, &options, &error), 0);
    CHECK_INT(options.run.feedback.state_count, 1);
    CHECK_STR(options.run.feedback.states[0], "hn=h0");
    CHECK_NEAR(options.run.feedback.seconds_per_inference, 0.5, 0);
    feedback.found = ASSAY__FEEDBACK_NAME;
    CHECK_INT(assay__verify_options_of(advice, NULL, arena, &options, &error), 0);
    CHECK_INT(options.run.feedback.state_count, 0);
    profile->trials[0].target.engine = "fake";
    CHECK_INT(assay__verify_options_of(advice, NULL, arena, &options, &error), ASSAY_EUNSUPPORTED);
    assay__arena_free(arena);
    end();
}

/* Under load a change of threads is open again, another stays verified and says it; on a machine
 * that others use most of, no verdict stands, whichever it was, but that of the outputs. */
static void load_decides_about_threads(void)
{
    static const enum assay__change_kind kinds[] = {
        ASSAY__CHANGE_THREADS, ASSAY__CHANGE_SPINNING_OFF, ASSAY__CHANGE_OPTIMIZE};
    struct assay__arena *arena = assay__arena_new();
    for (size_t i = 0; i < 3; i++)
        for (int busy = 0; busy < 2; busy++) {
            struct assay__change one = {.kind = kinds[i]};
            struct assay__attempt attempt = {.changes = {&one},
                                             .change_count = 1,
                                             .gain = {.ratio = 1.75, .ci = {1.6, 1.9, true}},
                                             .of = "latency",
                                             .judged = {.reason = ""},
                                             .finding_state = "verified"};
            assay__verify_judge_load(&attempt, busy ? 0.34 : 0.1, arena);
            bool open = busy && kinds[i] != ASSAY__CHANGE_OPTIMIZE;
            CHECK_STR(attempt.finding_state, open ? "open" : "verified");
            CHECK(isfinite(attempt.gain.ratio) == !open);
            CHECK((strstr(attempt.judged.reason, "34 %") != NULL) == (busy != 0));
            for (int drifts = 0; drifts < 2; drifts++) {
                attempt.finding_state = "withdrawn";
                attempt.drifts = drifts;
                attempt.gain.ratio = 0.9;
                assay__verify_judge_load(&attempt, 0.84, arena);
                CHECK_STR(attempt.finding_state, drifts ? "withdrawn" : "open");
                if (!drifts) CHECK_HAS(attempt.judged.reason, "machine busy (84 %");
            }
        }
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"load_decides_about_threads", load_decides_about_threads},
        {"helps_hurts_and_nothing", helps_hurts_and_nothing},
        {"failing_and_drifting", failing_and_drifting},
        {"one_change_of_two_findings", one_change_of_two_findings_is_measured_once},
        {"combined", combined_is_measured_and_not_multiplied},
        {"combination_that_is_worse", combination_that_is_worse_says_so},
        {"batch", batch_is_judged_by_samples},
        {"outputs_within_one", outputs_within_one},
        {"simplified_copies", simplified_copies_are_run},
        {"rewritten_copies", rewritten_copies_are_run},
        {"budget", budget_tries_the_first_findings},
        {"budget_ends_a_first_round", budget_ends_a_first_round},
        {"interrupted", interrupted_at_once},
        {"baseline_that_fails", baseline_that_fails},
        {"nothing_to_try", nothing_to_try},
        {"every_rule_says_what_it_needs", every_rule_says_what_it_needs},
        {"changes_fit_the_trial", changes_fit_the_trial},
        {"kept_verdicts", kept_verdicts_are_carried},
        {"options_of_a_kept_trial", options_of_a_kept_trial},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
