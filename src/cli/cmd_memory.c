/* cmd_memory.c - assay memory: where the memory of a model goes: weights, activations, allocations, growth. */
#include "cli/run_command.h"

struct memory_options {
    struct assay__run_flags run; /* first: the shared rows write it */
};

static int run(struct assay__invocation *invocation)
{
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay_run_options library = assay__run_options_of(invocation);
    library.command = "memory";
    library.memory = true;
    return assay__run_go(invocation, &library);
}

const struct assay__command assay__command_memory = {
    .name = "memory",
    .summary = "where the memory of a model goes: weights, activations, allocations, growth",
    .arguments = "MODEL",
    .min_arguments = 0,
    .max_arguments = 1,
    .description = "",
    .examples = "  assay memory resnet50\n",
    .shared = assay__run_rows,
    .options_size = sizeof(struct memory_options),
    .run = run,
};
