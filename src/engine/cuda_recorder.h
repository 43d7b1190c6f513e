/* cuda_recorder.h - the CUDA recorder (src/cuda, base/cuda_trace.h) as a library of this process:
 * where it is, and its interface. */
#ifndef ASSAY_ENGINE_CUDA_RECORDER_H
#define ASSAY_ENGINE_CUDA_RECORDER_H

#include "base/cuda_trace.h"

#include <assay/error.h>
#include <stddef.h>

/** The library: $ASSAY_CUDA_RECORDER, else in that folder, which is the worker's. */
int assay__cuda_recorder_find(const char *folder, char *out, size_t out_size,
                              struct assay_error *error);
/** Loads it (from this program's folder) and gives its interface, which lives as long as the
 *  process. The error says why not and what to do. */
int assay__cuda_recorder_load(const struct assay__cuda_trace_api **api, struct assay_error *error);

#endif
