/* cmd_advise.c - assay advise: what to change, from a kept profile or from a run made for it. A
 * profile is told from a model by its first bytes.
 *
 * The run is short and looks at everything the rules stand on: layers, memory, counters, kept
 * ceilings. With --verify it is the first of several arms of one profile: the run without changes
 * and one arm per change follow. Beside a kept profile they stand in a profile of their own that is
 * not kept. */
#include "cli/commands.h"
#include "cli/render_options.h"
#include "cli/report_file.h"
#include "cli/run_ceilings.h"
#include "cli/run_command.h"

#include "experiment/verify.h"
#include "base/file.h"
#include "report/json/advise_json.h"
#include "report/subject/advice_document.h"
#include "run/arm/arm.h"
#include "run/arm/recover.h"

#include <stdio.h>
#include <string.h>

#define TIME_S 1.0
#define VERIFY_LAUNCHES 10
#define VERIFY_TIME_S 0.3
#define VERIFY_BUDGET_S 120.0
#define VERIFY_ARMS 16 /* that the sensors' readings must have room for */

struct advise_options {
    struct assay__run_flags run; /* first: the shared rows write it */
    struct assay__option_list rules;
    const char *model;
    int64_t trial;
    bool list, power, verify;
    double budget_s;
};

#define AT(member) offsetof(struct advise_options, member)

static const struct assay__option options[] = {
    ASSAY__FLAG_ROW("list", 0, list, "List the rules, with what each looks for and needs."),
    ASSAY__LIST_ROW("rule", rules, "ID", "Evaluate this rule only; may be given again."),
    ASSAY__STRING_ROW("model", 0, model, "FILE", "Where the model of PROFILE lies now."),
    ASSAY__INTEGER_ROW("trial", trial, "N", "Trial of PROFILE (default: the first that ran).", 1,
                       1e6),
    ASSAY__FLAG_ROW(
        "power", 0, power,
        "Sample power too, for the energy that could be saved (watches the idle machine first)."),
    ASSAY__FLAG_ROW("verify", 0, verify,
                    "Make every change that a program can make, and measure before and after (10 "
                    "launches of 0.3 s a side; --launches, --time)."),
    ASSAY__CHOICE_ROW("table", 0, run.render.table, "TABLE",
                      "Table of the CSV format (default findings).", ASSAY__ADVICE_TABLES),
    ASSAY__DURATION_ROW("verify-budget", budget_s, "How long --verify may take (default: 120s).",
                        0.001, 1e6),
    {0},
};

static int usage(const char *what)
{
    return assay__refuse("advise: %s", what);
}

static int check_rules(const struct advise_options *o)
{
    for (size_t i = 0; i < o->rules.count; i++) {
        struct assay__nearest nearest = {.word = o->rules.items[i]};
        const struct assay__rule *rule;
        if (assay__rule_find(o->rules.items[i])) continue;
        for (size_t k = 0; (rule = assay__rule_at(k)); k++)
            assay__nearest_try(&nearest, rule->id);
        const char *best = assay__nearest_get(&nearest);
        return assay__refuse(best ? "advise: there is no rule '%s'; did you mean '%s'?"
                                  : "advise: there is no rule '%s' (--list shows them)",
                             o->rules.items[i], best);
    }
    return 0;
}

/* What only a run takes is refused beside a profile: it would be ignored without a word. */
static int check_profile(const struct assay__invocation *invocation)
{
    static const char fits[] =
        "|rule|model|trial|json|format|table|top|full|columns|ascii|no-color|quiet|verify|report|",
                      tried[] = "|verify-budget|launches|time|iters|timeout|power|library|";
    const struct advise_options *o = invocation->options;
    const struct assay__option *option = NULL;
    while ((option = assay__option_next(invocation->command, option))) {
        char name[48];
        snprintf(name, sizeof name, "|%s|", option->name);
        bool known = strstr(fits, name) || (o->verify && strstr(tried, name));
        if (known || !assay__option_given(invocation, option->name)) continue;
        return assay__refuse("advise: --%s is for a MODEL that is run; '%s' is a profile that was",
                             option->name, invocation->arguments[0]);
    }
    return 0;
}

static int check(const struct assay__invocation *invocation, bool profile)
{
    const struct advise_options *o = invocation->options;
    const char *format = o->run.render.format;
    int status = check_rules(o);
    if (status) return status;
    if (format && !assay__format_find(format)->walk && strcmp(format, "json") != 0)
        return usage("the formats junit and model-explorer are for reports");
    status = assay__render_check("advise", &o->run.render);
    if (status) return status;
    if (!o->verify && assay__option_given(invocation, "verify-budget"))
        return usage("--verify-budget belongs to --verify");
    if (profile) {
        status = check_profile(invocation);
        if (!status) status = assay__report_file_check("advise", o->run.report, NULL);
        return status ? status : assay__report_file_ending("advise", "--report", o->run.report);
    }
    if (o->model) return usage("--model belongs to a PROFILE; a MODEL is read where it is");
    if (o->trial) return usage("--trial belongs to a PROFILE; a MODEL is run in one trial");
    return assay__run_check(invocation);
}

/* --- printing --------------------------------------------------------------------------------- */

static int print_advice(const struct advise_options *o, const struct assay__advice *advice,
                        const struct assay_profile *profile)
{
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    if (assay__wants_json(&o->run.render))
        assay__json_advice(&out, advice);
    else if (assay__advice_document(advice, &doc))
        return assay__fail(ASSAY_ENOMEM, NULL);
    int status = assay__print_document(&o->run.render, doc, &out);
    int written = profile ? assay__report_file_write(profile, &o->run.render, o->run.report,
                                                     o->run.quiet)
                          : 0;
    return status ? status : written;
}

/* What Ctrl-C has left behind, in one line. */
static int say_interrupted(const struct assay_profile *profile, const char *output)
{
    bool sampled = false;
    for (size_t t = 0; profile && t < profile->trial_count; t++)
        for (size_t i = 0; i < profile->trials[t].launch_count; i++)
            sampled = sampled || profile->trials[t].launches[i].sample_count > 0;
    assay__say(!sampled ? "interrupted before anything was measured"
               : output ? "interrupted; what was measured is kept in %s"
                        : "interrupted; nothing is kept without -o FILE",
               output);
    return ASSAY__EXIT_INTERRUPTED;
}

/* --- trying ----------------------------------------------------------------------------------- */

static void set_goal(const struct advise_options *o, struct assay__verify_options *verify)
{
    struct assay_run_options *run = &verify->run;
    run->launches = o->run.launches ? (int)o->run.launches : VERIFY_LAUNCHES;
    run->iterations = o->run.iters;
    run->time_s = o->run.iters ? 0 : o->run.time_s > 0 ? o->run.time_s : VERIFY_TIME_S;
    verify->budget_s = o->budget_s > 0 ? o->budget_s : VERIFY_BUDGET_S;
}

static struct assay__advise_options advise_options_of(const struct advise_options *o)
{
    return (struct assay__advise_options){
        .trial = o->trial ? (size_t)o->trial - 1 : SIZE_MAX,
        .model = o->model,
        .only = o->rules.items,
        .only_count = o->rules.count,
    };
}

/* --- a kept profile --------------------------------------------------------------------------- */

/* Tries the findings of a kept profile in arms of their own; what cannot be run at all is said in
 * the findings. */
static int verify_profile(const struct assay__invocation *invocation, struct assay__advice *advice,
                          struct assay__verification *verification, struct assay_error *error)
{
    const struct advise_options *o = invocation->options;
    struct assay__verify_options verify = {.budget_s = 0};
    struct assay__arena *arena = assay__arena_new();
    struct assay__arms arms = {.count = 0};
    struct assay_profile *tried = NULL;
    struct assay__bar bar;
    assay__bar_start(&bar, o->run.quiet);
    int code = arena ? assay__verify_options_of(advice, o->model, arena, &verify, error)
                     : ASSAY_ENOMEM;
    if (code == ASSAY_EUNSUPPORTED) {
        code = assay__verify_refuse(advice, error->message, verification);
        goto out;
    }
    if (code) goto out;
    set_goal(o, &verify);
    verify.run.command = "advise";
    verify.run.library = o->run.library;
    verify.run.timeout_s = o->run.timeout_s;
    verify.run.power = o->power;
    verify.run.interrupt = &assay__interrupted;
    verify.run.progress = assay__bar_update;
    verify.run.progress_context = &bar;
    struct assay_run_options whole = verify.run;
    whole.launches *= VERIFY_ARMS;
    code = assay__arms_begin(&arms, &whole, NULL, error);
    if (code == 0) code = assay__arms_start(&arms, error);
    if (code == 0) code = assay__verify(advice, &arms, &verify, verification, error);
    if (code == 0) {
        int kept = assay__arms_finish(&arms, &tried, error);
        if (kept == ASSAY_ENOMEM) code = kept;
    }
    assay_profile_close(tried);
    assay__arms_end(&arms);
out:
    assay__bar_erase(&bar);
    assay__arena_free(arena);
    return code;
}

static int advise_profile(const struct assay__invocation *invocation)
{
    const struct advise_options *o = invocation->options;
    const struct assay__advise_options wanted = advise_options_of(o);
    struct assay__verification verification;
    struct assay_profile *profile = NULL;
    struct assay__advice *advice = NULL;
    struct assay_error error = {0};
    int status = ASSAY__EXIT_FAILED;
    int code = assay_profile_open(invocation->arguments[0], &profile, &error);
    if (code == 0) code = assay__profile_recover(profile); /* a capture that was killed */
    const struct assay__finding *kept = code ? NULL : profile->findings;
    size_t kept_count = code ? 0 : profile->finding_count;
    if (code == 0) code = assay__advise(profile, &wanted, &advice, &error);
    if (code == 0 && !o->verify && !o->trial) code = assay__verify_carry(profile, kept, kept_count);
    if (code == 0 && o->verify) {
        assay__catch_interrupts();
        code = verify_profile(invocation, advice, &verification, &error);
    }
    if (code)
        assay__fail(code, error.message[0] ? &error : NULL);
    else
        status = print_advice(o, advice, profile);
    if (!code && !status && assay__interrupted) {
        assay__say("interrupted");
        status = ASSAY__EXIT_INTERRUPTED;
    }
    assay__advice_free(advice);
    assay_profile_close(profile);
    return status;
}

/* --- a run ------------------------------------------------------------------------------------ */

struct session {
    struct assay__recording recording;
    struct assay__arm *arm;
    struct assay__advice *advice;
    bool begun, measured;
};

static int measure(struct session *s, const struct assay_run_options *library, int launches,
                   struct assay_error *error)
{
    int code = assay__recording_begin(&s->recording, library, error);
    s->begun = true;
    if (code == 0) code = assay__arm_open(&s->recording, library, NULL, &s->arm, error);
    if (code == 0) code = assay__recording_store(&s->recording, error);
    if (code == 0) code = assay__arm_begin(s->arm, error);
    for (int i = 0; i < launches && code == 0 && !assay__arm_interrupted(s->arm); i++)
        code = assay__arm_launch(s->arm, error);
    if (code == 0) code = assay__arm_extra(s->arm, error);
    if (code) return code;
    s->measured = true;
    return assay__arm_finish(s->arm, NULL, error);
}

/* The findings are part of the profile that -o keeps, so the rules are asked before it is
 * closed. */
static int advise_run(struct assay__invocation *invocation, struct assay_run_options *library,
                      struct assay__bar *bar)
{
    const struct advise_options *o = invocation->options;
    const struct assay__advise_options wanted = advise_options_of(o);
    struct session s = {.begun = false};
    struct assay_error error = {0}, kept = {0};
    /* checked here on a copy, before anything is made: the arm checks, and fills in, its own */
    struct assay_run_options checked = *library;
    int status = ASSAY__EXIT_DONE, code = assay__run_options_check(&checked, &error);
    if (code == 0) code = measure(&s, library, checked.launches, &error);
    assay__bar_erase(bar);
    if (s.measured && code == 0)
        code = assay__advise(s.recording.profile, &wanted, &s.advice, &error);
    int lost = s.measured ? assay__recording_finish(&s.recording, &kept) : 0;
    if (code == ASSAY_EINTERRUPTED) {
        status = say_interrupted(s.measured ? s.recording.profile : NULL, library->output);
    } else if (code) {
        status = assay__fail(code, error.message[0] ? &error : NULL);
        if (s.measured) status = ASSAY__EXIT_FAILED;
    } else {
        status = print_advice(o, s.advice, s.recording.profile);
    }
    if (lost && !code) status = assay__fail(lost, &kept);
    if (!status && library->output && !o->run.quiet)
        assay__say("profile with its findings kept in %s", library->output);
    assay__advice_free(s.advice);
    assay__arm_close(s.arm);
    if (s.begun) assay__recording_end(&s.recording, false);
    return status;
}

/* --- a run and what is tried after it --------------------------------------------------------- */

/* The first arm: what the rules look at. Its failure is the command's. */
static int diagnose(struct assay__arms *arms, const struct assay_run_options *library,
                    struct assay_error *error)
{
    struct assay_run_options one = *library;
    one.launches = 1;
    const struct assay__arm_identity identity = {.label = "diagnosis"};
    int code = assay__arms_add(arms, &one, &identity, NULL, error);
    if (code == 0 && arms->items[0]) code = assay__arms_start(arms, error);
    if (code == 0 && arms->items[0]) code = assay__arms_launch(arms, 0, 1, 1, error);
    if (code == 0) code = assay__arms_conclude(arms, 0, error);
    if (code) return code;
    const struct assay__trial *trial = assay__arms_trial(arms, 0);
    if (trial->state == ASSAY__TRIAL_INTERRUPTED)
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    return trial->state == ASSAY__TRIAL_OK
               ? 0
               : assay_error_set(error, ASSAY_EENGINE, "%s", trial->reason);
}

static int advise_verified(struct assay__invocation *invocation, struct assay_run_options *library,
                           struct assay__bar *bar)
{
    const struct advise_options *o = invocation->options;
    const struct assay__advise_options wanted = advise_options_of(o);
    struct assay__verify_options verify = {.run = *library};
    struct assay__verification verification;
    struct assay__advice *advice = NULL;
    struct assay_profile *profile = NULL;
    struct assay__arms arms = {.count = 0};
    struct assay_error error = {0}, kept = {0};
    struct assay_run_options whole = *library, checked = *library;
    int status = ASSAY__EXIT_DONE, code = assay__run_options_check(&checked, &error);
    if (code) return assay__fail(code, &error);
    set_goal(o, &verify);
    whole.launches = verify.run.launches * VERIFY_ARMS;
    code = assay__arms_begin(&arms, &whole, NULL, &error);
    if (code == 0) code = diagnose(&arms, library, &error);
    if (code == 0) code = assay__advise(arms.recording.profile, &wanted, &advice, &error);
    if (code == 0) code = assay__verify(advice, &arms, &verify, &verification, &error);
    assay__bar_erase(bar);
    int lost = arms.recording.profile ? assay__arms_finish(&arms, &profile, &kept) : 0;
    if (code == ASSAY_EINTERRUPTED)
        status = say_interrupted(profile, library->output);
    else if (code)
        status = assay__fail(code, error.message[0] ? &error : NULL);
    else
        status = print_advice(o, advice, profile);
    if (code && code != ASSAY_EINTERRUPTED && profile) status = ASSAY__EXIT_FAILED;
    if (!code && lost == ASSAY_EINTERRUPTED)
        status = say_interrupted(profile, library->output);
    else if (!code && lost)
        status = assay__fail(lost, &kept);
    if (!status && library->output && !o->run.quiet)
        assay__say("profile with its findings kept in %s", library->output);
    assay__advice_free(advice);
    assay_profile_close(profile);
    assay__arms_end(&arms);
    return status;
}

static int advise_model(struct assay__invocation *invocation)
{
    const struct advise_options *o = invocation->options;
    struct assay_run_options library = assay__run_options_of(invocation);
    struct assay__arena *arena = assay__arena_new(); /* of the ceilings; the profile copies them */
    struct assay__bar bar;
    library.command = "advise";
    library.memory = library.counters = true;
    library.power = o->power;
    if ((!(library.time_s > 0) || o->verify) && !library.iterations) library.time_s = TIME_S;
    assay__catch_interrupts();
    assay__bar_start(&bar, o->run.quiet);
    library.progress = assay__bar_update;
    library.progress_context = &bar;
    int status = assay__run_ceilings(arena, o->run.ceilings, &bar, &library);
    if (status == 0)
        status = (o->verify ? advise_verified : advise_run)(invocation, &library, &bar);
    assay__arena_free(arena);
    return status;
}

static int advise_on_argument(struct assay__invocation *invocation)
{
    const struct advise_options *o = invocation->options;
    if (o->list)
        return assay__print_list("advise", &o->run.render, assay__json_rules,
                                 assay__rules_document);
    bool profile = invocation->argument_count &&
                   assay__report_file_is_database(invocation->arguments[0]);
    int status = check(invocation, profile);
    if (status) return status;
    if (!invocation->argument_count && !o->run.script)
        return usage("PROFILE or MODEL is missing: assay advise [options] PROFILE|MODEL");
    return profile ? advise_profile(invocation) : advise_model(invocation);
}

const struct assay__command assay__command_advise = {
    .name = "advise",
    .summary = "what to change: rules over a profile, each finding with its evidence and potential",
    .arguments = "PROFILE|MODEL",
    .min_arguments = 0,
    .max_arguments = 1,
    .description =
        "Evaluates a table of rules over a kept profile, or over a short run of MODEL that is made "
        "for it (1 s, with layers, memory and counters). A rule gives a finding with its evidence "
        "from this profile, the potential speed-up and the change to make; or it finds nothing; or "
        "it says which input is missing.\n\n"
        "A potential follows from shares of the latency: it is what could be had at most, not what "
        "was measured. Rules that look at the graph need the model's file; it is read again, and "
        "taken only when it is the one that was profiled.\n\n"
        "--verify tries before it advises: each change that a program can make is made and "
        "measured against the run without it, launches alternating. A finding then carries the "
        "measured gain with its 95 % interval and the drift of the outputs, or is withdrawn with "
        "the reason.",
    .examples = "  assay advise model.onnx\n"
                "  assay advise resnet50 --ceilings -o advice.assay\n"
                "  assay advise run.assay --json\n"
                "  assay advise run.assay --rule batch-small --rule memory-bound\n"
                "  assay advise mobilenetv2 --verify --verify-budget 60s\n"
                "  assay advise --list\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct advise_options),
    .run = advise_on_argument,
};
