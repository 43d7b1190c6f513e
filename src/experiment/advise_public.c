/* advise_public.c - what to change, from a new run or a saved profile.
 *
 * The run is short and collects everything the rules need: layers, memory, counters, saved
 * ceilings. If changes are tried it is the first of several arms of one profile: the run without
 * changes and one arm per change follow. For a saved profile they go into another profile, which is
 * not saved. */
#include "advise/finding_rank.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "experiment/experiment.h"
#include "experiment/run_ceilings.h"
#include "experiment/verify.h"
#include "run/arm/recover.h"

#include <stdint.h>

#define TIME_S 1.0
#define VERIFY_LAUNCHES 10
#define VERIFY_TIME_S 0.3
#define VERIFY_BUDGET_S 120.0
#define VERIFY_ARMS 16 /* duration for which sensor readings must have room */

/* The requested rules; ASSAY_EINVAL: one of them does not exist. */
static int read_rules(const struct assay_advise_options *o, struct assay__advise_options *rules,
                      struct assay_error *error)
{
    *rules = (struct assay__advise_options){.trial = o->trial > 0 ? (size_t)o->trial - 1 : SIZE_MAX,
                                            .model = o->model,
                                            .only = o->rules,
                                            .only_count = o->rule_count};
    for (size_t i = 0; i < o->rule_count; i++)
        if (!assay__rule_find(o->rules[i]))
            return assay__refuse_option(error, "rules", "there is no rule '%s'", o->rules[i]);
    return 0;
}

/* How long and how often each side is measured. */
static void set_goal(const struct assay_measuring_options *asked, double budget_s,
                     struct assay__verify_options *verify)
{
    struct assay_measuring_options *m = &verify->run.measuring;
    m->launches = asked->launches ? asked->launches : VERIFY_LAUNCHES;
    m->iterations = asked->iterations;
    m->time_s = asked->iterations ? 0 : asked->time_s > 0 ? asked->time_s : VERIFY_TIME_S;
    verify->budget_s = budget_s > 0 ? budget_s : VERIFY_BUDGET_S;
}

/* --- a run ------------------------------------------------------------------------------------ */

struct asking {
    struct assay__advise_options rules;
    struct assay__advice **advice;
};

static int ask_rules(void *context, struct assay_profile *profile, struct assay_error *error)
{
    struct asking *asking = context;
    return assay__advise(profile, &asking->rules, asking->advice, error);
}

/* The rules use the first arm: if it fails, everything does. */
static int run_and_verify(const struct assay__run_options *run,
                          struct assay__verify_options *verify, struct asking *asking,
                          struct assay_profile **profile, struct assay_error *error)
{
    struct assay__verification verification;
    struct assay__arms arms = {.count = 0};
    struct assay__run_options whole = *run, one = *run, checked = *run;
    const struct assay__arm_identity identity = {.label = "diagnosis"};
    struct assay_error kept = {0};
    int code = assay__run_options_check(&checked, error);
    if (code) return code;
    whole.measuring.launches = verify->run.measuring.launches * VERIFY_ARMS;
    one.measuring.launches = 1;
    code = assay__arms_begin(&arms, &whole, NULL, error);
    if (code == 0) code = assay__arms_add(&arms, &one, &identity, NULL, error);
    if (code == 0 && arms.items[0]) code = assay__arms_start(&arms, error);
    if (code == 0 && arms.items[0]) code = assay__arms_launch(&arms, 0, 1, 1, error);
    if (code == 0) code = assay__arms_conclude(&arms, 0, error);
    const struct assay__trial *trial = code ? NULL : assay__arms_trial(&arms, 0);
    if (trial && trial->state == ASSAY__TRIAL_INTERRUPTED)
        code = assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    else if (trial && trial->state != ASSAY__TRIAL_OK)
        code = assay_error_set(error, ASSAY_EENGINE, "%s", trial->reason);
    if (code == 0) code = ask_rules(asking, arms.recording.profile, error);
    if (code == 0) code = assay__verify(*asking->advice, &arms, verify, &verification, error);
    if (code == 0) code = assay__finding_sort(arms.recording.profile);
    int lost = arms.recording.profile ? assay__arms_finish(&arms, profile, &kept) : 0;
    if (code == 0 && lost) {
        code = lost;
        if (error) *error = kept;
    }
    assay__arms_end(&arms);
    return code;
}

int assay__advise_model(const struct assay__run_options *given,
                        const struct assay_advise_options *o, struct assay_profile **profile,
                        struct assay__advice **advice, struct assay_error *error)
{
    struct assay__run_options run = *given;
    struct asking asking = {.advice = advice};
    struct assay__arena *arena = assay__arena_new(); /* of the ceilings; the profile copies them */
    *profile = NULL;
    *advice = NULL;
    run.command = "advise";
    run.watching.memory = run.watching.counters = true;
    if ((!(run.measuring.time_s > 0) || o->verify) && !run.measuring.iterations)
        run.measuring.time_s = TIME_S;
    int code = arena ? read_rules(o, &asking.rules, error) : assay__no_memory(error);
    if (!code) code = assay__run_ceilings(arena, NULL, 0, &run, error);
    if (!code && o->verify) {
        struct assay__verify_options verify = {.run = run};
        set_goal(&given->measuring, o->budget_s, &verify);
        code = run_and_verify(&run, &verify, &asking, profile, error);
    } else if (!code) {
        run.judge = ask_rules;
        run.judge_context = &asking;
        code = assay__run(&run, profile, error);
    }
    assay__arena_free(arena);
    return code;
}

/* --- a saved profile -------------------------------------------------------------------------- */

/* Tries the findings in separate arms; findings record what cannot be run at all. */
static int verify_profile(const struct assay__run_options *run,
                          const struct assay_advise_options *o, struct assay__advice *advice,
                          struct assay_error *error)
{
    struct assay__verify_options verify = {.budget_s = 0};
    struct assay__verification verification;
    struct assay__arena *arena = assay__arena_new();
    struct assay__arms arms = {.count = 0};
    struct assay_profile *tried = NULL;
    struct assay_error own = {0};
    int code = arena ? assay__verify_options_of(advice, o->model, arena, &verify, &own)
                     : assay__no_memory(error);
    if (code == ASSAY_EUNSUPPORTED) {
        code = assay__verify_refuse(advice, own.message, &verification);
        goto out;
    }
    if (code) goto out;
    set_goal(&run->measuring, o->budget_s, &verify);
    verify.run.command = "advise";
    verify.run.target.library = run->target.library;
    verify.run.measuring.timeout_s = run->measuring.timeout_s;
    verify.run.watching.power = run->watching.power;
    verify.run.callbacks = run->callbacks;
    struct assay__run_options whole = verify.run;
    whole.measuring.launches *= VERIFY_ARMS;
    code = assay__arms_begin(&arms, &whole, NULL, error);
    if (code == 0) code = assay__arms_start(&arms, error);
    if (code == 0) code = assay__verify(advice, &arms, &verify, &verification, error);
    if (code == 0 && assay__arms_finish(&arms, &tried, error) == ASSAY_ENOMEM) code = ASSAY_ENOMEM;
    assay_profile_close(tried);
    assay__arms_end(&arms);
out:
    assay__arena_free(arena);
    return code;
}

int assay__advise_kept(const struct assay__run_options *run, const struct assay_advise_options *o,
                       struct assay_profile *profile, struct assay__advice **advice,
                       struct assay_error *error)
{
    struct assay__advise_options rules;
    *advice = NULL;
    int code = read_rules(o, &rules, error);
    if (code == 0) code = assay__profile_recover(profile); /* a capture that was killed */
    const struct assay__finding *kept = profile->findings;
    size_t kept_count = profile->finding_count;
    if (code == 0) code = assay__advise(profile, &rules, advice, error);
    if (code == 0 && !o->verify && !o->trial) code = assay__verify_carry(profile, kept, kept_count);
    if (code == 0 && o->verify) code = verify_profile(run, o, *advice, error);
    return code ? code : assay__finding_sort(profile);
}

/* --- public ----------------------------------------------------------------------------------- */

int assay_advise(const struct assay_run_options *run, const struct assay_advise_options *options,
                 struct assay_profile **profile, struct assay_error *error)
{
    struct assay__run_options own;
    struct assay_advise_options read;
    struct assay__advice *advice = NULL;
    int code = assay__experiment_read(run, options, &read, sizeof read, "advise", &own, profile,
                                      error);
    if (!code) code = assay__advise_model(&own, &read, profile, &advice, error);
    assay__advice_free(advice);
    return code;
}

int assay_advise_profile(const struct assay_run_options *run,
                         const struct assay_advise_options *options, struct assay_profile *profile,
                         struct assay_error *error)
{
    struct assay__run_options own;
    struct assay_advise_options read;
    struct assay__advice *advice = NULL;
    if (!profile) return assay_error_set(error, ASSAY_EINVAL, "no profile to advise on");
    int code = assay__run_options_read(run, &own, error);
    if (!code) code = assay__options_read(options, &read, sizeof read, "advise", error);
    if (!code) code = assay__advise_kept(&own, &read, profile, &advice, error);
    assay__advice_free(advice);
    return code;
}
