/* cmd_power.c - assay power: where a model's energy goes: power, temperature and clocks over
 * time. */
#include "cli/run_command.h"

#define DURATION_S 30.0

struct power_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    double duration_s, interval_s, idle_s;
};

#define AT(member) offsetof(struct power_options, member)

static const struct assay__option options[] = {
    ASSAY__DURATION_ROW("duration", duration_s,
                        "Measure for TIME per launch, such as 30s or 2m (default 30s).", 1e-3,
                        86400),
    ASSAY__DURATION_ROW("time", run.time_s, "The same as --duration.", 1e-3, 86400),
    ASSAY__DURATION_ROW("interval", interval_s,
                        "Time between two readings of the sensors, at least 1ms (default 100ms).",
                        1e-3, 3600),
    ASSAY__DURATION_ROW("idle", idle_s,
                        "How long to measure the idle machine before the run (default 3s; 0s: no "
                        "baseline, no net energy).",
                        0, 3600),
    {0},
};

static int measure_power(struct assay__invocation *invocation)
{
    const struct power_options *o = invocation->options;
    int status = assay__run_check(invocation);
    if (status) return status;
    if (o->duration_s > 0 && (o->run.time_s > 0 || o->run.iters))
        return assay__refuse("power: --duration and --%s cannot be used together",
                             o->run.iters ? "iters" : "time");
    struct assay__run_options library = assay__run_options_of(invocation);
    library.command = "power";
    library.watching = (struct assay_watching_options){
        .power = true,
        .interval_s = o->interval_s,
        .idle_given = assay__option_given(invocation, "idle"),
        .idle_s = o->idle_s,
    };
    if (o->duration_s > 0)
        library.measuring.time_s = o->duration_s;
    else if (!(library.measuring.time_s > 0) && !library.measuring.iterations)
        library.measuring.time_s = DURATION_S;
    if (!assay__option_given(invocation, "layers")) library.measuring.layers = ASSAY_LAYERS_OFF;
    return assay__run_go(invocation, &library);
}

const struct assay__command assay__command_power = {
    .name = "power",
    .summary = "show where a model's energy goes: power, temperature and clocks over time",
    .arguments = "MODEL",
    .max_arguments = 1,
    .description =
        "Runs MODEL and reads what this machine reports about power, energy, temperature, clocks "
        "and throttling: RAPL, sensor chips, thermal zones, NVML, GPU and NPU drivers, "
        "powermetrics, and as the last resort the battery. Reports energy per inference, with and "
        "without what the idle machine draws, operations per watt, and all of these over "
        "time.\n\nEnergy counters are preferred over sampled power. The actual update rate of each "
        "source is measured and printed; a run shorter than ten updates is marked. What cannot be "
        "read is listed, with what would provide it.",
    .examples = "  assay power resnet50\n"
                "  assay power model.onnx --duration 60s --interval 20ms -o model.assay\n"
                "  assay power model.onnx --device cuda:0 --idle 5s\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct power_options),
    .run = measure_power,
};
