/* accelerator.h - the peaks of a device when used through an engine: the highest matmul rate per
 * data type, copies in its memory, transfers to and from it, and the minimum cost of starting an
 * inference. Everything is measured by running small generated models on it in worker processes, so
 * a driver that crashes affects only one row. doc/ceilings.md has the models and the arithmetic.
 * Rows have the names of ceiling.h's kind:
 *
 *   compute.float32.matmul, compute.float16.matmul, compute.bfloat16.matmul, compute.int8.matmul
 *     FLOP/s (int8: OP/s)
 *   compute.tf32.matmul                        FLOP/s, CUDA only: float32 rounded to 19 bits, which
 *     its provider does by itself
 *   bandwidth.device.copy                      B/s, read and written bytes together
 *   bandwidth.transfer.in, .out                B/s, host to device, device to host, as the engine
 *     does it
 *   latency.launch                             s, an inference of a model that does nothing */
#ifndef ASSAY_CEILING_ACCELERATOR_ACCELERATOR_H
#define ASSAY_CEILING_ACCELERATOR_ACCELERATOR_H

#include "ceiling/ceiling.h"

struct assay__accelerator_model; /* accelerator_models.h */

struct assay__accelerator {
    const char *engine;  /* "ort" */
    const char *device;  /* the engine's own name for it: "cuda:0", "openvino:cpu" */
    const char *library; /* of the engine; NULL: its default */
    /* what else must be the same for a saved result to be valid: engine version, driver, hardware;
     * "" */
    const char *identity;
    const char *hardware; /* the card, as named by its driver; NULL: obtained from NVML if that is
                             unambiguous. Published peaks are found by it */
    bool own_memory;      /* it has its own memory, although it is of class cpu */
    /** For the fake engine: the script for its run of a model. NULL: its default. */
    const char *(*script)(void *context, const struct assay__accelerator_model *model);
    void *script_context;
};

/** From this user's file if it is valid, else measured (in options->budget_s, 0: 60) and saved.
 *  What does not fit into the time is unavailable and says so. */
int assay__accelerator_ceilings_get(struct assay__arena *arena,
                                    const struct assay__machine *machine,
                                    const struct assay__accelerator *accelerator,
                                    const struct assay__ceiling_options *options,
                                    struct assay__ceilings **out, struct assay_error *error);

#endif
