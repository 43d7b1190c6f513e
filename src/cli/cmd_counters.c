/* cmd_counters.c - assay counters: what the processor counted: cycles, instructions, caches, per layer class. */
#include "cli/run_command.h"

struct counters_options {
    struct assay__run_flags run; /* first: the shared rows write it */
};

static int run(struct assay__invocation *invocation)
{
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay_run_options library = assay__run_options_of(invocation);
    library.command = "counters";
    library.counters = true;
    return assay__run_go(invocation, &library);
}

const struct assay__command assay__command_counters = {
    .name = "counters",
    .summary = "what the processor counted: cycles, instructions, caches, per layer class",
    .arguments = "MODEL",
    .min_arguments = 0,
    .max_arguments = 1,
    .description = "",
    .examples = "  assay counters resnet50\n",
    .shared = assay__run_rows,
    .options_size = sizeof(struct counters_options),
    .run = run,
};
