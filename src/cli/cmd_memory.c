/* cmd_memory.c - assay memory: where a model's memory goes: weights, activations, allocations,
 * growth. */
#include "cli/run_command.h"

#define TIME_S 2.0

struct memory_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    double interval_s;
};

#define AT(member) offsetof(struct memory_options, member)

static const struct assay__option options[] = {
    ASSAY__DURATION_ROW(
        "interval", interval_s,
        "Time between two readings of the worker's memory, at least 1ms (default 20ms).", 1e-3,
        3600),
    ASSAY__DURATION_ROW("time", run.time_s, "Measure for TIME per launch, such as 5s (default 2s).",
                        1e-3, 86400),
    {0},
};

static int measure_memory(struct assay__invocation *invocation)
{
    const struct memory_options *o = invocation->options;
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay__run_options library = assay__run_options_of(invocation);
    library.command = "memory";
    library.watching.memory = true;
    library.watching.interval_s = o->interval_s;
    if (!(library.measuring.time_s > 0) && !library.measuring.iterations)
        library.measuring.time_s = TIME_S;
    return assay__run_go(invocation, &library);
}

const struct assay__command assay__command_memory = {
    .name = "memory",
    .summary = "show where a model's memory goes: weights, activations, allocations, growth",
    .arguments = "MODEL",
    .max_arguments = 1,
    .description =
        "Runs MODEL for 2 s and tracks the worker's memory: resident memory over time, its "
        "proportional share (PSS), device memory. The report also shows what the graph predicts, "
        "what the engine's arena reports and the bytes that each layer moves.\n\nThen one more "
        "worker runs with an allocation tracker loaded in front of the C library. It counts "
        "allocations and bytes by phase, size and caller, and measures how much live memory grows "
        "per inference (to detect leaks) and how much of the heap is in use. Tracking slows this "
        "worker down; the factor is printed, and none of its time is part of the latency.",
    .examples = "  assay memory resnet50\n"
                "  assay memory model.onnx --batch 8 -o memory.assay\n"
                "  assay memory gpt2 --seq 128 --json\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct memory_options),
    .run = measure_memory,
};
