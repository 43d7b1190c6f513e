/* cmd_power.c - assay power: where the energy of a model goes: power, temperature and clocks over time. */
#include "cli/run_command.h"

struct power_options {
    struct assay__run_flags run; /* first: the shared rows write it */
};

static int run(struct assay__invocation *invocation)
{
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay_run_options library = assay__run_options_of(invocation);
    library.command = "power";
    library.power = true;
    return assay__run_go(invocation, &library);
}

const struct assay__command assay__command_power = {
    .name = "power",
    .summary = "where the energy of a model goes: power, temperature and clocks over time",
    .arguments = "MODEL",
    .min_arguments = 0,
    .max_arguments = 1,
    .description = "",
    .examples = "  assay power resnet50\n",
    .shared = assay__run_rows,
    .options_size = sizeof(struct power_options),
    .run = run,
};
