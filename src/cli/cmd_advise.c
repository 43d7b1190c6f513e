/* cmd_advise.c - assay advise: what to change, from a saved profile or a new run. A profile is
 * recognised by its first bytes. */
#include "cli/render_options.h"
#include "cli/report_file.h"
#include "cli/run_command.h"

#include "advise/advise.h"
#include "experiment/experiment.h"
#include "report/report_advise.h"

#include <stdio.h>
#include <string.h>

struct advise_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    struct assay__option_list rules;
    const char *model;
    int64_t trial;
    bool list, power, verify;
    double budget_s;
};

#define AT(member) offsetof(struct advise_options, member)

static const struct assay__option options[] = {
    ASSAY__FLAG_ROW("list", 0, list, "List the rules, with what each looks for and needs."),
    ASSAY__LIST_ROW("rule", rules, "ID", "Evaluate this rule only; may be repeated."),
    ASSAY__STRING_ROW("model", 0, model, "FILE", "Current path of the model of PROFILE."),
    ASSAY__INTEGER_ROW("trial", trial, "N", "Trial of PROFILE (default: the first that ran).", 1,
                       1e6),
    ASSAY__FLAG_ROW(
        "power", 0, power,
        "Sample power too, for the energy that could be saved (measures the idle machine first)."),
    ASSAY__FLAG_ROW("verify", 0, verify,
                    "Apply every change that assay can make, and measure before and after (10 "
                    "launches of 0.3 s per side; see --launches, --time)."),
    ASSAY__CHOICE_ROW("table", 0, run.render.table, "TABLE",
                      "Table to write as CSV (default findings).", ASSAY__ADVICE_TABLES),
    ASSAY__DURATION_ROW("time", run.time_s,
                        "Measure for TIME per launch (default 1s; 300ms with --verify).", 1e-3,
                        86400),
    ASSAY__INTEGER_ROW(
        "launches", run.launches, "N",
        "Worker processes, one after the other (default 1; 10 per side with --verify).", 1, 1000),
    ASSAY__DURATION_ROW("verify-budget", budget_s, "How long --verify may take (default: 120s).",
                        0.001, 1e6),
    {0},
};

static int usage(const char *what)
{
    return assay__refuse("advise: %s", what);
}

/* Options that apply only to a run are refused with a profile: they would be silently ignored. */
static int check_profile(const struct assay__invocation *invocation)
{
    static const char fits[] =
        "|rule|model|trial|json|format|table|top|full|columns|ascii|no-color|quiet|verify|report|",
                      tried[] = "|verify-budget|launches|time|iters|timeout|power|library|";
    const struct advise_options *o = invocation->options;
    const struct assay__option *option;
    for (size_t i = 0; (option = assay__option_at(invocation->command, i)); i++) {
        char name[48];
        snprintf(name, sizeof name, "|%s|", option->name);
        bool known = strstr(fits, name) || (o->verify && strstr(tried, name));
        if (known || !assay__option_given(invocation, option->name)) continue;
        return assay__refuse("advise: --%s applies to a MODEL that is run; '%s' is a saved profile",
                             option->name, invocation->arguments[0]);
    }
    return 0;
}

static int check(const struct assay__invocation *invocation, bool profile)
{
    const struct advise_options *o = invocation->options;
    const char *format = o->run.render.format;
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
    if (format && !assay__format_find(format)->walk && strcmp(format, "json") != 0)
        return usage("the formats junit and model-explorer are for reports");
    int status = assay__render_check("advise", &o->run.render);
    if (status) return status;
    if (!o->verify && assay__option_given(invocation, "verify-budget"))
        return usage("--verify-budget requires --verify");
    if (profile) {
        status = check_profile(invocation);
        if (!status) status = assay__report_file_check("advise", o->run.report, NULL);
        return status ? status : assay__report_file_ending("advise", "--report", o->run.report);
    }
    if (o->model) return usage("--model applies to a PROFILE; a MODEL is read where it is");
    if (o->trial) return usage("--trial applies to a PROFILE; a MODEL is run in one trial");
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
    else if (assay__advice_document(advice, assay__metric_hint, &doc))
        return assay__fail(ASSAY_ENOMEM, NULL);
    int status = assay__print_document(&o->run.render, doc, &out);
    int written = profile ? assay__report_file_write(profile, &o->run.render, o->run.report,
                                                     o->run.quiet)
                          : 0;
    if (profile) assay__run_say_assumed(&o->run, profile);
    return status ? status : written;
}

/* --- a saved profile, a model ----------------------------------------------------------------- */

/* kept: the argument is a saved profile, not a model to run. */
static int advise(const struct assay__invocation *invocation, bool kept)
{
    const struct advise_options *o = invocation->options;
    const struct assay_advise_options wanted = {.rules = o->rules.items,
                                                .rule_count = o->rules.count,
                                                .trial = (int)o->trial,
                                                .model = o->model,
                                                .verify = o->verify,
                                                .budget_s = o->budget_s};
    struct assay__run_options run = assay__run_options_of(invocation);
    struct assay_profile *profile = NULL;
    struct assay__advice *advice = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    int status = ASSAY__EXIT_DONE, code;
    run.watching.power = o->power;
    run.callbacks = assay__bar_start(&bar, "advise", o->run.quiet);
    if (!kept || o->verify) assay__catch_interrupts();
    if (kept) {
        code = assay_profile_open(invocation->arguments[0], &profile, &error);
        if (!code) code = assay__advise_kept(&run, &wanted, profile, &advice, &error);
    } else {
        code = assay__advise_model(&run, &wanted, &profile, &advice, &error);
    }
    assay__bar_erase(&bar);
    bool interrupted = !kept && code == ASSAY_EINTERRUPTED;
    if (advice && profile && (!code || interrupted)) status = print_advice(o, advice, profile);
    if (interrupted) {
        status = assay__run_interrupted(&o->run, profile);
    } else if (code) {
        status = assay__fail(code, &error);
        if (profile || kept) status = ASSAY__EXIT_FAILED;
    } else if (kept && !status && assay__interrupted) {
        assay__say("interrupted");
        status = ASSAY__EXIT_INTERRUPTED;
    }
    if (!status && o->run.output && !o->run.quiet)
        assay__say("profile with findings saved to %s", o->run.output);
    assay__advice_free(advice);
    assay_profile_close(profile);
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
    return advise(invocation, profile);
}

const struct assay__command assay__command_advise = {
    .name = "advise",
    .summary =
        "find what to change: rules on a profile, each finding with its evidence and potential",
    .arguments = "PROFILE|MODEL",
    .max_arguments = 1,
    .description =
        "Evaluates a table of rules on a saved profile, or on a short run of MODEL (1 s, with "
        "layers, memory and counters). A rule either reports a finding, with evidence from this "
        "profile, the potential speed-up and the change to make, or finds nothing, or says which "
        "input is missing.\n\nA potential is derived from shares of the latency: it is an upper "
        "bound, not a measurement. Rules that look at the graph need the model file; it is read "
        "again, and used only if it is the one that was profiled.\n\n--verify tests before it "
        "recommends: each change that assay can make is applied and measured against the run "
        "without it, in alternating launches. A finding then carries the measured gain with its 95 "
        "% interval and the drift of the outputs, or is withdrawn with the reason.",
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
