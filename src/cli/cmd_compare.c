/* cmd_compare.c - assay compare: the options of a comparison, and its messages. */
#include "cli/run_command.h"
#include "experiment/experiment.h"
#include "judge/comparison.h"

struct compare_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    const char *devices;
    double launch_limit_s;
    bool no_power, no_drift, no_placement, memory;
};

#define AT(member) offsetof(struct compare_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW("devices", 0, devices, "LIST",
                      "For one model: a comma-separated list of devices, by name ('assay devices') "
                      "or class: cpu, gpu, npu (default: all usable ones)."),
    ASSAY__STRING_ROW("device", 0, run.device, "NAME",
                      "For several models: the device to run them on (default cpu)."),
    ASSAY__FLAG_ROW("no-power", 0, no_power, "Do not read the sensors."),
    ASSAY__FLAG_ROW("no-drift", 0, no_drift, "Do not compare the outputs."),
    ASSAY__FLAG_ROW("no-placement", 0, no_placement,
                    "Do not query the engines for which nodes run where."),
    ASSAY__INTEGER_ROW(
        "launches", run.launches, "N",
        "Worker processes per row, alternating (default 10; a verdict needs 5 or more).", 1, 1000),
    ASSAY__DURATION_ROW("time", run.time_s,
                        "Measure for TIME per launch, such as 2s (default 500ms).", 1e-3, 86400),
    ASSAY__FLAG_ROW("memory", 0, memory,
                    "Also track the memory of the worker and the device: one more launch per row."),
    ASSAY__DURATION_ROW("launch-limit", launch_limit_s,
                        "End a launch that takes longer, and skip that row in later rounds; what "
                        "it measured until then is shown (default 120s).",
                        0.1, 604800),
    {0},
};

static int show_comparison(const struct compare_options *o, struct assay_profile *profile, int code,
                           const struct assay_error *error)
{
    struct assay__comparison all = {.count = 0};
    size_t usable = 0,
           lost = 0; /* rows that could be judged, and those of them that lost a launch */
    int status = assay__run_show(&o->run, profile, code, error);
    if (status) return status;
    struct assay__arena *arena = assay__arena_new();
    code = arena ? assay__comparison(profile, arena, &all) : ASSAY_ENOMEM;
    for (size_t i = 0; i < all.count && !code; i++) {
        usable += all.rows[i].judged.usable;
        lost += all.rows[i].judged.usable && profile->trials[i].state == ASSAY__TRIAL_FAILED;
    }
    assay__arena_free(arena);
    if (code) return assay__fail(code, NULL);
    if (usable < profile->trial_count) {
        assay__say("compare: %zu of %zu could not be measured; the report says why",
                   profile->trial_count - usable, profile->trial_count);
        return ASSAY__EXIT_FAILED;
    }
    if (lost)
        assay__say("compare: %zu of %zu lost a launch; the report says which", lost,
                   profile->trial_count);
    if (o->run.output && !o->run.quiet) assay__say("profile saved to %s", o->run.output);
    return 0;
}

static int compare_devices(struct assay__invocation *invocation)
{
    struct compare_options *o = invocation->options;
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay__run_options run = assay__run_options_of(invocation);
    if (!assay__option_given(invocation, "layers")) run.measuring.layers = ASSAY_LAYERS_OFF;
    run.measuring.launch_limit_s = o->launch_limit_s;
    run.watching.power = !o->no_power;
    run.watching.memory = o->memory;
    run.callbacks = assay__bar_start(&bar, "compare", o->run.quiet);
    const struct assay_compare_options compare = {.models = invocation->arguments,
                                                  .model_count = invocation->argument_count,
                                                  .devices = o->devices,
                                                  .no_drift = o->no_drift,
                                                  .no_placement = o->no_placement};
    assay__catch_interrupts();
    int code = assay__compare(&run, &compare, &profile, &error);
    assay__bar_erase(&bar);
    status = show_comparison(o, profile, code, &error);
    assay_profile_close(profile);
    return status;
}

const struct assay__command assay__command_compare = {
    .name = "compare",
    .summary = "run a model on every device, or several models on one, and recommend the best",
    .arguments = "MODEL [MODEL …]",
    .min_arguments = 1,
    .max_arguments = 16,
    .description =
        "Runs MODEL on every usable device, in alternating launches, and compares latency, "
        "throughput, energy, memory and outputs. With several models, it compares them on one "
        "device.\n\nThe process is the unit of replication: a difference is claimed only if the 95 "
        "% interval of the ratio of launch medians excludes 1; otherwise the smallest difference "
        "that could have been detected is given. The CPU provider of every additional ONNX Runtime "
        "build takes part as a control.\n\nA very slow device does not hold up the others: a "
        "launch ends after 120 s (--launch-limit), and no row gets more than two and a half times "
        "that in total. Nodes that the engine did not run on the device are listed.",
    .examples = "  assay compare resnet50\n"
                "  assay compare model.onnx --devices cpu,ovn/openvino:cpu\n"
                "  assay compare old.onnx new.onnx --launches 10 -o compared.assay\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct compare_options),
    .run = compare_devices,
};
