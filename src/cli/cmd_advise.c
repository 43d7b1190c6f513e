/* cmd_advise.c - assay advise: what to change, from a kept profile or from a run made for it. A profile is told from a model by its first bytes.
 *
 * The run is short and looks at everything the rules stand on: layers, memory, counters, kept ceilings. */
#include "cli/run_ceilings.h"
#include "cli/run_command.h"

#include "base/file.h"
#include "report/advise.h"
#include "run/arm.h"
#include "run/recover.h"

#include <string.h>

#define TIME_S 1.0

struct advise_options {
    struct assay__run_flags run; /* first: the shared rows write it */
    struct assay__option_list rules;
    const char *model;
    int64_t trial;
    bool list, power;
};

#define AT(member) offsetof(struct advise_options, member)

static const struct assay__option options[] = {
    {"list", 0, ASSAY__OPTION_FLAG, AT(list), NULL,
     "List the rules, with what each looks for and needs.", NULL, NULL, 0, 0, false},
    {"rule", 0, ASSAY__OPTION_LIST, AT(rules), "ID", "Evaluate this rule only; may be given again.",
     NULL, NULL, 0, 0, false},
    {"model", 0, ASSAY__OPTION_STRING, AT(model), "FILE", "Where the model of PROFILE lies now.",
     NULL, NULL, 0, 0, false},
    {"trial", 0, ASSAY__OPTION_INTEGER, AT(trial), "N",
     "Trial of PROFILE (default: the first that ran).", NULL, NULL, 1, 1e6, false},
    {"power", 0, ASSAY__OPTION_FLAG, AT(power), NULL,
     "Sample power too, for the energy that could be saved (watches the idle machine first).", NULL,
     NULL, 0, 0, false},
    {0},
};

static int usage(const char *what)
{
    assay__say("advise: %s", what);
    return ASSAY__EXIT_USAGE;
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
        assay__say(best ? "advise: there is no rule '%s'; did you mean '%s'?"
                        : "advise: there is no rule '%s' (--list shows them)",
                   o->rules.items[i], best);
        return ASSAY__EXIT_USAGE;
    }
    return 0;
}

static bool is_profile(const char *path)
{
    static const char mark[] = "SQLite format 3"; /* its NUL is part of it */
    struct assay__mapping file;
    if (!assay__file_exists(path) || assay__file_map(path, &file, NULL)) return false;
    bool database = file.size >= sizeof mark && memcmp(file.data, mark, sizeof mark) == 0;
    assay__file_unmap(&file);
    return database;
}

/* What only a run takes is refused beside a profile: it would be ignored without a word. */
static int check_profile(const struct assay__invocation *invocation)
{
    static const char *const fits[] = {"rule",    "model", "trial",    "json", "format",
                                       "columns", "ascii", "no-color", "quiet"};
    const struct assay__option *option = NULL;
    while ((option = assay__option_next(invocation->command, option))) {
        bool known = false;
        for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++)
            known |= strcmp(option->name, fits[i]) == 0;
        if (known || !assay__option_given(invocation, option->name)) continue;
        assay__say("advise: --%s is for a MODEL that is run; '%s' is a profile that was",
                   option->name, invocation->arguments[0]);
        return ASSAY__EXIT_USAGE;
    }
    return 0;
}

static int check(const struct assay__invocation *invocation, bool profile)
{
    const struct advise_options *o = invocation->options;
    const char *format = o->run.render.format;
    int status = check_rules(o);
    if (status) return status;
    if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
        return usage("advice is text or JSON, no other format");
    if (o->run.render.json && format && strcmp(format, "json") != 0)
        return usage("--json and --format text exclude each other");
    if (o->run.render.table)
        return usage("--table is for the CSV format, which advice does not have");
    if (assay__option_given(invocation, "top"))
        return usage("--top is for reports with layers; --rule ID chooses rules");
    if (profile) return check_profile(invocation);
    if (o->model) return usage("--model belongs to a PROFILE; a MODEL is read where it is");
    if (o->trial) return usage("--trial belongs to a PROFILE; a MODEL is run in one trial");
    return assay__run_check(invocation);
}

/* --- printing --------------------------------------------------------------------------------- */

static struct assay__page page_of(const struct assay__render_options *r, struct assay__buf *out)
{
    struct assay__page page = {.out = out};
    page.ascii = r->ascii || !assay__locale_is_utf8();
    page.color = !r->no_color && assay__stdout_color();
    page.columns = r->columns ? (int)r->columns : assay__stdout_columns();
    if (!r->columns && page.columns > 120) page.columns = 120; /* longer lines read worse */
    if (page.columns < ASSAY__PAGE_MIN_COLUMNS) page.columns = ASSAY__PAGE_MIN_COLUMNS;
    return page;
}

static bool wants_json(const struct assay__render_options *r)
{
    return r->json || (r->format && strcmp(r->format, "json") == 0);
}

static int list_rules(const struct advise_options *o)
{
    struct assay__buf out = {0};
    struct assay__page page = page_of(&o->run.render, &out);
    if (wants_json(&o->run.render))
        assay__json_rules(&out);
    else
        assay__page_rules(&page);
    return assay__print(&out);
}

static int print_advice(const struct advise_options *o, const struct assay__advice *advice)
{
    struct assay__buf out = {0};
    struct assay__page page = page_of(&o->run.render, &out);
    if (wants_json(&o->run.render))
        assay__json_advice(&out, advice);
    else
        assay__page_advice(&page, advice);
    return assay__print(&out);
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

static int advise_profile(const struct assay__invocation *invocation)
{
    const struct advise_options *o = invocation->options;
    const struct assay__advise_options wanted = advise_options_of(o);
    struct assay_profile *profile = NULL;
    struct assay__advice *advice = NULL;
    struct assay_error error = {0};
    int status = ASSAY__EXIT_FAILED;
    int code = assay_profile_open(invocation->arguments[0], &profile, &error);
    if (code == 0) code = assay__profile_recover(profile); /* a capture that was killed */
    if (code == 0) code = assay__advise(profile, &wanted, &advice, &error);
    if (code)
        assay__fail(code, error.message[0] ? &error : NULL);
    else
        status = print_advice(o, advice);
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
    if (code == 0) code = assay__arm_open(&s->recording, library, &s->arm, error);
    if (code == 0) code = assay__recording_store(&s->recording, error);
    if (code == 0) code = assay__arm_begin(s->arm, error);
    for (int i = 0; i < launches && code == 0 && !assay__arm_interrupted(s->arm); i++)
        code = assay__arm_launch(s->arm, error);
    if (code == 0) code = assay__arm_extra(s->arm, error);
    if (code) return code;
    s->measured = true;
    return assay__arm_finish(s->arm, NULL, error);
}

/* The findings are part of the profile that -o keeps, so the rules are asked before it is closed. */
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
    if (code) {
        status = assay__fail(code, error.message[0] ? &error : NULL);
        if (s.measured && code != ASSAY_EINTERRUPTED) status = ASSAY__EXIT_FAILED;
    } else {
        status = print_advice(o, s.advice);
    }
    if (lost && !code) status = assay__fail(lost, &kept);
    if (!status && library->output && !o->run.quiet)
        assay__say("profile with its findings kept in %s", library->output);
    assay__advice_free(s.advice);
    assay__arm_close(s.arm);
    if (s.begun) assay__recording_end(&s.recording, false);
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
    if (!(library.time_s > 0) && !library.iterations) library.time_s = TIME_S;
    assay__catch_interrupts();
    assay__bar_start(&bar, o->run.quiet);
    library.progress = assay__bar_update;
    library.progress_context = &bar;
    int status = assay__run_ceilings(arena, o->run.ceilings, &bar, &library);
    if (status == 0) status = advise_run(invocation, &library, &bar);
    assay__arena_free(arena);
    return status;
}

static int run(struct assay__invocation *invocation)
{
    const struct advise_options *o = invocation->options;
    if (o->list) return list_rules(o);
    bool profile = invocation->argument_count && is_profile(invocation->arguments[0]);
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
        "Evaluates a table of rules over a kept profile, or over a short run of MODEL that is made for it (1 s, with layers, memory and "
        "counters). A rule gives a finding with its evidence from this profile, the potential speed-up and the change to make; or "
        "it finds nothing; or it says which input is missing.\n\n"
        "A potential follows from shares of the latency: it is what could be had at most, not what was measured. Rules that look at the graph "
        "need the model's file; it is read again, and taken only when it is the one that was profiled.",
    .examples = "  assay advise model.onnx\n"
                "  assay advise resnet50 --ceilings -o advice.assay\n"
                "  assay advise run.assay --json\n"
                "  assay advise run.assay --rule batch-small --rule memory-bound\n"
                "  assay advise --list\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct advise_options),
    .run = run,
};
