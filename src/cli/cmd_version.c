/* cmd_version.c - assay version: nothing is loaded or searched, so that it answers in a few
 * milliseconds. */
#include "base/json.h"
#include "cli/commands.h"
#include "report/json/json_members.h"

#include <assay/api.h>

struct version_options {
    bool json;
};

static int print_version(struct assay__invocation *invocation)
{
    const struct version_options *o = invocation->options;
    struct assay__buf out = {0};
    if (o->json) {
        struct assay__json_writer w;
        assay__json_head(&w, &out, NULL);
        assay__json_tail(&w);
    } else {
        assay__buf_printf(&out, "assay %s (profile schema %d)\n", assay_version(),
                          ASSAY_SCHEMA_VERSION);
    }
    return assay__print(&out);
}

#define AT(member) offsetof(struct version_options, member)

static const struct assay__option options[] = {
    ASSAY__FLAG_ROW("json", 0, json, "Print JSON."),
    {0},
};

const struct assay__command assay__command_version = {
    .name = "version",
    .summary = "print the version",
    .arguments = "",
    .description = "Prints the version of assay and of the profile schema it writes.",
    .options = options,
    .options_size = sizeof(struct version_options),
    .run = print_version,
};
