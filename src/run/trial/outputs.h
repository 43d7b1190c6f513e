/* outputs.h - the outputs of one inference, kept as files: a folder with outputs.json (an array of
 * {name, dtype, shape, file, reason}) and one .npy per output. The worker writes, the parent
 * reads. */
#ifndef ASSAY_RUN_TRIAL_OUTPUTS_H
#define ASSAY_RUN_TRIAL_OUTPUTS_H

#include "base/arena.h"
#include "model/graph.h"

#include "engine/engine.h"

/** The outputs of the engine's last step. One that cannot be stored (text, a sequence) has a reason
 * instead of a file. */
int assay__outputs_write(const struct assay__engine_ops *engine, struct assay__session *session,
                         const char *folder, struct assay_error *error);

struct assay__output {
    const char *name;
    enum assay__dtype dtype;
    int rank;
    const int64_t *dims;
    const char *file;   /* path; "" when it was not kept */
    const char *reason; /* why not */
};
/** Everything lies in the arena. */
int assay__outputs_read(const char *folder, struct assay__arena *arena,
                        struct assay__output **outputs, size_t *count, struct assay_error *error);

#endif
