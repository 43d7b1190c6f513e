/* cmd_tune.c - assay tune: the options of a tuning, and its messages. */
#include "base/clock.h"
#include "base/text.h"
#include "cli/render_options.h"
#include "cli/run_command.h"
#include "experiment/experiment.h"
#include "experiment/grid.h"
#include "judge/tune_report.h"
#include "model/rewrite/rewrites.h"
#include "profile/trial_values.h"

#include <math.h>

struct tune_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    struct assay_tune_options tune;
    const char *budget;
    int64_t trials;
};

#define AT(member) offsetof(struct tune_options, member)
/* Lists and limits take one value: if given twice, the first would be silently lost. */
#define LIST(name, member, help) ASSAY__ONCE_ROW(name, tune.grid.member, "LIST", help)

static const struct assay__option options[] = {
    ASSAY__CHOICE_ROW("goal", 0, tune.goal.goal, "GOAL", "What to optimise (default latency).",
                      "latency|throughput|energy"),
    ASSAY__ONCE_ROW("budget", budget, "TIME", "Total time budget, such as 60s (default)."),
    ASSAY__ONCE_ROW("slo", tune.goal.slo, "PERCENTILE=TIME",
                    "Recommend only configurations within a latency limit, such as p99=20ms."),
    ASSAY__ONCE_ROW(
        "memory-budget", tune.goal.memory_budget, "SIZE",
        "Recommend only configurations that use at most this much memory, such as 500MB."),
    LIST("devices", devices,
         "Devices: names ('assay devices') or the classes cpu, gpu, npu (default: cpu)."),
    LIST("batch", batch,
         "Batch sizes (default with --goal throughput: 1 to 32, if the model allows it)."),
    LIST("threads", threads, "Threads (default: 1, 2, 4 … up to the number of cores)."),
    LIST("opt", optimization,
         "Graph optimisation: none, basic, extended, all (default: all four)."),
    LIST("precision", precision, ASSAY__PRECISION_NAMES " (default: all that are possible)."),
    LIST("spinning", spinning, "Whether idle threads spin: on, off (default: both on the CPU)."),
    ASSAY__DURATION_ROW(
        "time", run.time_s,
        "Measure for TIME per launch of the search (default 150ms; 1s with --goal energy).", 1e-3,
        86400),
    /* shared by the other commands; here it is refused with a reason */
    {"launches", 0, ASSAY__OPTION_INTEGER, AT(run.launches), "N", "", NULL, NULL, 1, 1000, true},
    ASSAY__INTEGER_ROW(
        "trials", trials, "N",
        "Maximum number of configurations to try (default: a quarter of them, at least 16).", 1,
        ASSAY__GRID_POINTS),
    ASSAY__FLAG_ROW("allow-drift", 0, tune.goal.allow_drift,
                    "Recommend a precision or device regardless of its effect on the outputs."),
    {0},
};

static int show_tune(const struct tune_options *o, const struct assay_profile *profile,
                     uint64_t begin_ns, struct assay__arena *arena, int code,
                     const struct assay_error *error)
{
    size_t good = 0; /* launches */
    bool energy = false;
    int status = assay__run_show(&o->run, profile, code, error);
    if (status) return status;
    for (size_t t = 0; t < profile->trial_count; t++) {
        good += assay__trial_good_launches(&profile->trials[t]);
        energy |= isfinite(assay__trial_value(&profile->trials[t], "energy.inference.gross"));
    }
    if (!good) {
        assay__say("tune: no configuration could be measured; the report says why");
        return ASSAY__EXIT_FAILED;
    }
    if (good < 2) {
        bool late = (double)(assay__now_ns() - begin_ns) / 1e9 > profile->plan.budget_s / 2;
        assay__say(
            late ? "tune: the budget of %.3g s was spent on one launch: there is nothing to choose "
                   "from; increase it"
                 : "tune: only one launch succeeded within %.3g s: there is nothing to choose from",
            profile->plan.budget_s);
        return ASSAY__EXIT_FAILED;
    }
    /* configurations that were tried and did not run, even if others did: how many, and the first
     * of them, the defaults before others */
    struct assay__tune_result result;
    const struct assay__tune_row *first = NULL;
    if (assay__tune_result(profile, arena, &result)) return assay__fail(ASSAY_ENOMEM, NULL);
    for (size_t i = 0; i < result.count; i++)
        if (result.rows[i].searched && result.rows[i].fate == ASSAY__FATE_FAILED &&
            (!first || result.rows[i].start))
            first = &result.rows[i];
    if (first)
        assay__say("%zu of %zu configurations could not be measured: %s%s: %s%s", result.failed,
                   result.configurations, first->judged.label,
                   first->start ? " (the defaults)" : "", first->judged.reason,
                   result.failed > 1 ? "; the report lists the others" : "");
    if (profile->plan.goal == ASSAY__PLAN_ENERGY && !energy) {
        assay__say("tune: energy per inference cannot be measured here ('assay doctor' says what "
                   "would); try --goal latency");
        return ASSAY__EXIT_FAILED;
    }
    if (o->run.output && !o->run.quiet) assay__say("profile saved to %s", o->run.output);
    return 0;
}

static int tune_model(struct assay__invocation *invocation)
{
    struct tune_options *o = invocation->options;
    struct assay__arena *arena = assay__arena_new();
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    uint64_t begin_ns = assay__now_ns();
    int status = arena ? assay__run_check(invocation) : assay__fail(ASSAY_ENOMEM, NULL);
    if (!status && assay__option_given(invocation, "launches"))
        status = assay__refuse(
            "tune: the number of launches is chosen automatically; use --budget instead");
    if (!status && o->budget &&
        (assay__text_duration_s(o->budget, &o->tune.budget_s) || !(o->tune.budget_s > 0)))
        status = assay__refuse("tune: --budget: '%s' is not a time such as 60s", o->budget);
    if (status) goto out;
    o->tune.configurations = (size_t)o->trials;
    assay__render_top(invocation, &o->run.render);
    struct assay__run_options run = assay__run_options_of(invocation);
    if (!assay__option_given(invocation, "layers")) run.measuring.layers = ASSAY_LAYERS_OFF;
    run.callbacks = assay__bar_start(&bar, "tune", o->run.quiet);
    assay__catch_interrupts();
    int code = assay__tune_model(&run, &o->tune, &profile, &error);
    assay__bar_erase(&bar);
    status = show_tune(o, profile, begin_ns, arena, code, &error);
    assay_profile_close(profile);
out:
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_tune = {
    .name = "tune",
    .summary = "search for the best configuration of a model within a time budget",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Tries configurations of MODEL (device, precision, graph optimisation, threads, spinning, "
        "batch) in short launches until the budget is spent, and says which is best for the goal. "
        "A surrogate model fitted to the measurements proposes what to try next; the most "
        "promising configurations are run again, half as many each time; the finalists are judged "
        "by five new launches each with an exact rank test.\n\nPrints the Pareto front, the "
        "configurations that are tied with the best one, what each setting contributes, and the "
        "best as Python, C and JSON. A precision or a device whose outputs drift beyond 1 %, or "
        "are NaN or infinite, is not recommended.",
    .examples = "  assay tune model.onnx --goal latency --budget 60s\n"
                "  assay tune resnet50 --goal throughput --slo p99=50ms --budget 2m\n"
                "  assay tune cfc --threads 1,2,4 --precision float32,float16 -o t.assay\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct tune_options),
    .run = tune_model,
};
