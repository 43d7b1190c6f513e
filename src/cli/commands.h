/* commands.h - the list of commands. Adding one means a file cmd_NAME.c that defines
 * assay__command_NAME and a row here; help, completion and manual pages follow. */
#ifndef ASSAY_CLI_COMMANDS_H
#define ASSAY_CLI_COMMANDS_H

#include "cli/cli.h"

/* X(NAME), in the order of `assay help`. */
#define ASSAY__COMMANDS(X) \
    X(run)                 \
    X(compare)             \
    X(sweep)               \
    X(tune)                \
    X(bench)               \
    X(power)               \
    X(memory)              \
    X(counters)            \
    X(advise)              \
    X(inspect)             \
    X(check)               \
    X(predict)             \
    X(explain)             \
    X(trace)               \
    X(watch)               \
    X(make)                \
    X(report)              \
    X(query)               \
    X(devices)             \
    X(doctor)              \
    X(version)             \
    X(help)                \
    X(completion)          \
    X(man)

#define ASSAY__COMMAND_DECLARE(NAME) extern const struct assay__command assay__command_##NAME;
ASSAY__COMMANDS(ASSAY__COMMAND_DECLARE)

#endif
