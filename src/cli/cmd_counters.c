/* cmd_counters.c - assay counters: cycles, instructions and cache misses counted by the processor,
 * per kind of layer. */
#include "cli/run_command.h"

#define TIME_S 2.0
#define AT(member) offsetof(struct assay__run_flags, member)

static const struct assay__option options[] = {
    ASSAY__DURATION_ROW("time", time_s, "Measure for TIME per launch, such as 5s (default 2s).",
                        1e-3, 86400),
    {0},
};

static int measure_counters(struct assay__invocation *invocation)
{
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay__run_options library = assay__run_options_of(invocation);
    library.command = "counters";
    library.watching.counters = true;
    if (!(library.measuring.time_s > 0) && !library.measuring.iterations)
        library.measuring.time_s = TIME_S;
    return assay__run_go(invocation, &library);
}

const struct assay__command assay__command_counters = {
    .name = "counters",
    .summary = "read hardware counters: cycles, instructions, caches, per kind of layer",
    .arguments = "MODEL",
    .max_arguments = 1,
    .description =
        "Runs MODEL and reads the processor's counters (cycles, instructions, cache and branch "
        "misses, stalls) and the kernel's (CPU time, page faults, context switches, migrations): "
        "per inference, and per kind of layer where layers are timed by markers.\n\nThe latency is "
        "measured first, for 2 s unless --time or --iters is given, with the counters off. Then "
        "the same loop runs alternately with and without them, and the overhead of counting is "
        "printed. For a counter that this machine does not have, the report says why and what "
        "would provide it.",
    .examples = "  assay counters resnet50\n"
                "  assay counters model.onnx --threads 1 -o model.assay\n"
                "  assay counters model.onnx --layers=off --json\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct assay__run_flags),
    .run = measure_counters,
};
