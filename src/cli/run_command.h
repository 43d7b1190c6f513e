/* run_command.h - what the commands that run a model share. Each has a structure of options whose
 * first member is struct assay__run_flags, its own rows, and these rows as `shared`; where its
 * defaults are others, its own rows of the same name say so. */
#ifndef ASSAY_CLI_RUN_COMMAND_H
#define ASSAY_CLI_RUN_COMMAND_H

#include "cli/cli.h"
#include "run/run_options.h"

struct assay__require_table;

struct assay__run_flags {
    const char *output, *report, *cpus, *opt, *device, *engine, *library, *layers, *script;
    int64_t batch, seq, seed, warmup, iters, launches, streams, threads, generate, prompt;
    double time_s, timeout_s;
    struct assay__option_list dims, shapes, inputs;
    bool no_spinning, hash, quiet, ceilings;
    struct assay__render_options render;
    /* set by the command, no option: what the run is judged by; NULL: nothing */
    const struct assay__require_table *table;
};

extern const struct assay__option assay__run_rows[];

/** 0, or ASSAY__EXIT_USAGE after one line on stderr. */
int assay__run_check(const struct assay__invocation *invocation);
/** What the flags mean for the library; a command adds its own. */
struct assay__run_options assay__run_options_of(const struct assay__invocation *invocation);
/** Runs with a progress bar, prints the report, says what went wrong. The exit status. */
int assay__run_go(struct assay__invocation *invocation, const struct assay__run_options *library);

/** Prints the report of what there is and writes that of --report, also of a failed or interrupted
 *  run: what was measured is there, and says so. Says what went wrong. The exit status. */
int assay__run_show(const struct assay__run_flags *flags, const struct assay_profile *profile,
                    int code, const struct assay_error *error);
/** What Ctrl-C has left behind, in one line. ASSAY__EXIT_INTERRUPTED. */
int assay__run_interrupted(const struct assay__run_flags *flags,
                           const struct assay_profile *profile);

#endif
