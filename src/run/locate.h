/* locate.h - where the worker's executable is. */
#ifndef ASSAY_RUN_LOCATE_H
#define ASSAY_RUN_LOCATE_H

#include <assay/error.h>
#include <stddef.h>

/** $ASSAY_WORKER; else assay-worker beside the running program, in its ../libexec/assay, in the
 * installed place, beside libassay or in its ../libexec/assay. ASSAY_ENOTFOUND names them. */
int assay__worker_locate(char *out, size_t out_size, struct assay_error *error);

#endif
