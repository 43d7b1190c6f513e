/* cmd_help.c - assay help [COMMAND]. */
#include "cli/commands.h"

static int print_help(struct assay__invocation *invocation)
{
    struct assay__buf out = {0};
    const char *name = invocation->argument_count ? invocation->arguments[0] : NULL;
    const struct assay__command *command = name ? assay__command_find(name) : NULL;
    if (name && !command) return assay__unknown_command(name);
    if (command)
        assay__help_command(&out, command);
    else
        assay__help_overview(&out);
    return assay__print(&out);
}

const struct assay__command assay__command_help = {
    .name = "help",
    .summary = "show the commands, or the options of one",
    .arguments = "[COMMAND]",
    .max_arguments = 1,
    .description = "Without COMMAND, lists the commands; with it, shows its page.",
    .run = print_help,
};
