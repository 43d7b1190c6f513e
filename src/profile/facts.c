/* facts.c - names and properties of the typed facts. */
#include "profile/facts.h"

#include <stddef.h>
#include <string.h>

static const struct assay__kind_info kinds[ASSAY__PROFILE_KINDS] = {
    [ASSAY__PROFILE_UNKNOWN] = {.command = ""},
    [ASSAY__PROFILE_RUN] = {.command = "run"},
    [ASSAY__PROFILE_COMPARE] = {.command = "compare", .joint = true, .alone = true},
    [ASSAY__PROFILE_SWEEP] = {.command = "sweep", .joint = true, .alone = true},
    [ASSAY__PROFILE_TUNE] = {.command = "tune", .joint = true, .alone = true},
    [ASSAY__PROFILE_POWER] = {.command = "power", .alone = true},
    [ASSAY__PROFILE_MEMORY] = {.command = "memory", .alone = true},
    [ASSAY__PROFILE_COUNTERS] = {.command = "counters", .alone = true},
    [ASSAY__PROFILE_ADVISE] = {.command = "advise"},
    [ASSAY__PROFILE_PREDICT] = {.command = "predict"},
};

const struct assay__kind_info *assay__kind_info(enum assay__profile_kind kind)
{
    return &kinds[(size_t)kind < ASSAY__PROFILE_KINDS ? kind : ASSAY__PROFILE_UNKNOWN];
}

enum assay__profile_kind assay__kind_of_command(const char *command)
{
    for (size_t i = 0; command && i < ASSAY__PROFILE_KINDS; i++)
        if (*command && strcmp(kinds[i].command, command) == 0) return (enum assay__profile_kind)i;
    return ASSAY__PROFILE_UNKNOWN;
}
