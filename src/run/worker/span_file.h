/* span_file.h - spans of a worker's host thread as a file of the format of base/cuda_trace.h, which
 * import/import_cupti.c reads. */
#ifndef ASSAY_RUN_WORKER_SPAN_FILE_H
#define ASSAY_RUN_WORKER_SPAN_FILE_H

#include "engine/engine.h"

struct assay__span_file;

/** In memory until it is written. NULL: out of memory. */
struct assay__span_file *assay__span_file_new(void);
/** offset_ns: added to the span's times, so that they are Unix time. 0 or ASSAY_ENOMEM. */
int assay__span_file_add(struct assay__span_file *file, const struct assay__timeline_span *span,
                         int64_t offset_ns);
/** Writes layers.PID.cutrace in the folder. */
int assay__span_file_write(struct assay__span_file *file, const char *folder,
                           struct assay_error *error);
void assay__span_file_free(struct assay__span_file *file); /* NULL legal */

#endif
