/* run_command.h - what the commands that run a model share. Each has a structure of options whose
 * first member is struct assay__run_flags, its own rows, and these rows as `shared`; if its
 * defaults differ, its own rows with the same name override them. */
#ifndef ASSAY_CLI_RUN_COMMAND_H
#define ASSAY_CLI_RUN_COMMAND_H

#include "cli/cli.h"
#include "run/run_options.h"

struct assay__require_table;

struct assay__run_flags {
    const char *output, *report, *cpus, *opt, *device, *engine, *library, *layers, *script,
        *provider_options;
    int64_t batch, seq, seed, warmup, iters, launches, streams, threads, generate, prompt;
    double time_s, timeout_s, seconds_per_inference;
    struct assay__option_list dims, shapes, inputs, states;
    bool no_spinning, hash, quiet, ceilings;
    struct assay__render_options render;
    /* set by the command, not an option: the requirement table; NULL: none */
    const struct assay__require_table *table;
};

extern const struct assay__option assay__run_rows[];

/** 0, or ASSAY__EXIT_USAGE after one line on stderr. */
int assay__run_check(const struct assay__invocation *invocation);
/** The flags as library options; a command adds its own. */
struct assay__run_options assay__run_options_of(const struct assay__invocation *invocation);
/** Runs with a progress bar, prints the report, reports errors. The exit status. */
int assay__run_go(struct assay__invocation *invocation, const struct assay__run_options *library);

/** Prints the report and writes that of --report, also for a failed or interrupted run: it contains
 *  what was measured, and says so. Reports errors. The exit status. */
int assay__run_show(const struct assay__run_flags *flags, const struct assay_profile *profile,
                    int code, const struct assay_error *error);
/** assay__say_assumed for a profile's first trial, unless quiet. */
void assay__run_say_assumed(const struct assay__run_flags *flags,
                            const struct assay_profile *profile);
/** What Ctrl-C has left behind, in one line. ASSAY__EXIT_INTERRUPTED. */
int assay__run_interrupted(const struct assay__run_flags *flags,
                           const struct assay_profile *profile);

#endif
