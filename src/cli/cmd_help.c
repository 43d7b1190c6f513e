/* cmd_help.c - assay help [COMMAND]. */
#include "cli/commands.h"

static int print_help(struct assay__invocation *invocation)
{
    struct assay__buf out = {0};
    if (!invocation->argument_count) {
        assay__help_overview(&out);
        return assay__print(&out);
    }
    const char *name = invocation->arguments[0];
    const struct assay__command *command = assay__command_find(name);
    if (!command) return assay__unknown_command(name);
    assay__help_command(&out, command);
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
