/* recording.h - one profile while it is being captured: the document, its file, the worker to
 * start, a private folder; what all trials of a command share. It begins before anything is
 * measured, so that an unwritable path does not waste a measurement. */
#ifndef ASSAY_RUN_ARM_RECORDING_H
#define ASSAY_RUN_ARM_RECORDING_H

#include "base/no_memory.h"
#include "profile/store.h"
#include "run/run_options.h"

#include <limits.h>

struct assay__recording {
    struct assay_profile *profile;
    struct assay__store *store; /* NULL: not kept, or no longer */
    /* the first failure to store; the measurement continues in memory */
    struct assay_error store_error;
    char worker[PATH_MAX], folder[PATH_MAX];
    const char *temporary;               /* "TMPDIR=…" */
    const char *built_name, *built_path; /* the zoo model that was built last; NULL none */
    const char *tried_path; /* the model whose guessed sizes were tried last; NULL none */
    size_t tried;           /* which of them its engine takes */
    uint64_t start_ns;
    bool stored; /* the file was made */
};

/** Uses the options that apply to the whole command: command, command_line, output, ceilings. */
int assay__recording_begin(struct assay__recording *recording,
                           const struct assay__run_options *options, struct assay_error *error);
/** Creates the file, with all trials of the document. Does nothing if no file was requested. */
int assay__recording_store(struct assay__recording *recording, struct assay_error *error);
/** Remembers the first failure to store; the capture continues in memory. */
void assay__recording_note(struct assay__recording *recording, const struct assay_error *error);
/** Marks it complete unless a trial was interrupted, writes everything and closes the file. 0, or
 * why it could not be stored. */
int assay__recording_finish(struct assay__recording *recording, struct assay_error *error);
/** Closes the file and removes the folder; frees the document too unless `keep`. */
void assay__recording_end(struct assay__recording *recording, bool keep);

#endif
