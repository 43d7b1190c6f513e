/* cmd_bench.c - assay bench: the options of the standard benchmarks, and their messages. */
#include "cli/render_options.h"
#include "cli/run_command.h"
#include "experiment/experiment.h"
#include "judge/judged.h"
#include "report/report_bench.h"

struct bench_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    struct assay_bench_options bench;
    bool list;
};

#define AT(member) offsetof(struct bench_options, member)

/* Models and inputs are fixed: the library refuses these, and help does not list them. */
#define FIXED_ROW(name, kind, member)                                               \
    {                                                                               \
        name, 0, kind, AT(run.member), "VALUE", "Fixed.", NULL, NULL, 0, 9e18, true \
    }

static const struct assay__option options[] = {
    ASSAY__FLAG_ROW("list", 0, list, "List the benchmarks and their models."),
    ASSAY__ONCE_ROW("only", bench.only, "NAMES",
                    "Only these benchmarks, such as softmax,layer-norm."),
    ASSAY__ONCE_ROW("against", bench.against, "FILE.assay",
                    "Compare the throughput of each benchmark with that in an earlier profile."),
    ASSAY__ONCE_ROW("devices", bench.devices, "LIST",
                    "Several devices: names ('assay devices') or the classes cpu, gpu, npu."),
    ASSAY__INTEGER_ROW("iters", run.iters, "N", "Iterations per launch (default 1000).", 1, 1e9),
    ASSAY__DURATION_ROW("time", run.time_s,
                        "Measure for TIME per launch instead, such as 2s or 500ms.", 1e-3, 86400),
    ASSAY__INTEGER_ROW("launches", run.launches, "N",
                       "Worker processes per benchmark, alternating (default 5, which a verdict "
                       "and an interval need).",
                       1, 1000),
    FIXED_ROW("batch", ASSAY__OPTION_INTEGER, batch),
    FIXED_ROW("seq", ASSAY__OPTION_INTEGER, seq),
    FIXED_ROW("dim", ASSAY__OPTION_LIST, dims),
    FIXED_ROW("shape", ASSAY__OPTION_LIST, shapes),
    FIXED_ROW("input", ASSAY__OPTION_LIST, inputs),
    FIXED_ROW("state", ASSAY__OPTION_LIST, states),
    FIXED_ROW("seconds-per-inference", ASSAY__OPTION_DURATION, seconds_per_inference),
    FIXED_ROW("generate", ASSAY__OPTION_INTEGER, generate),
    FIXED_ROW("prompt", ASSAY__OPTION_INTEGER, prompt),
    {0},
};

static int show_benchmarks(const struct bench_options *o, const struct assay_profile *profile,
                           int code, const struct assay_error *error)
{
    size_t failed = 0, lost = 0; /* lost: it lost a launch, and the others suffice */
    int status = assay__run_show(&o->run, profile, code, error);
    if (status) return status;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        bool went_on = trial->state == ASSAY__TRIAL_FAILED && assay__trial_went_on(trial, 1);
        lost += went_on;
        failed += trial->state != ASSAY__TRIAL_OK && !went_on;
    }
    if (lost && !o->run.quiet)
        assay__say("bench: %zu of %zu benchmarks lost a launch; the report says which", lost,
                   profile->trial_count);
    if (failed)
        assay__say("bench: %zu of %zu benchmarks could not be measured; the report says why",
                   failed, profile->trial_count);
    if (o->run.output && !o->run.quiet) assay__say("profile saved to %s", o->run.output);
    return failed ? ASSAY__EXIT_FAILED : 0;
}

static int bench_or_list(struct assay__invocation *invocation)
{
    struct bench_options *o = invocation->options;
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    if (o->list)
        return assay__print_list("bench", &o->run.render, assay__benchmarks_json,
                                 assay__benchmarks_document);
    int status = assay__run_check(invocation);
    if (status) return status;
    assay__render_top(invocation, &o->run.render);
    struct assay__run_options run = assay__run_options_of(invocation);
    run.callbacks = assay__bar_start(&bar, "bench", o->run.quiet);
    assay__catch_interrupts();
    int code = assay__bench(&run, &o->bench, &profile, &error);
    assay__bar_erase(&bar);
    status = show_benchmarks(o, profile, code, &error);
    assay_profile_close(profile);
    return status;
}

const struct assay__command assay__command_bench = {
    .name = "bench",
    .summary = "run the standard benchmarks (LoRA, softmax, norms, recurrent cells) on any device",
    .arguments = "",
    .min_arguments = 0,
    .max_arguments = 0,
    .description =
        "Runs a fixed set of small models and prints their key performance indicators: latency, "
        "throughput, the share of the time that is spent in kernels, how long kernels and the gaps "
        "between them are, and the bandwidth and compute rate as a share of the measured ceilings "
        "(--ceilings measures them once).\n\nEach benchmark gets five launches of 1,000 "
        "iterations, alternating with those of the others. With --against the throughput of each "
        "is compared with an earlier profile: a difference is claimed only if the 95 % interval of "
        "the ratio of launch medians excludes 1. Models and inputs are fixed, so that profiles "
        "stay comparable; Ctrl-C keeps what was measured.",
    .examples = "  assay bench\n"
                "  assay bench --only softmax,layer-norm,rms-norm --iters 200\n"
                "  assay bench --device cuda:0 --ceilings -o before.assay\n"
                "  assay bench --device cuda:0 --against before.assay\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct bench_options),
    .run = bench_or_list,
};
