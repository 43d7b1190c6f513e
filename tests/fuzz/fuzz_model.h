/* fuzz_model.h - what the fuzzers of models ask beyond "no crash": an error comes with one line of
 * text, a model that is written and read again is the same model, and a write that fails leaves
 * nothing behind. */
#ifndef ASSAY_TESTS_FUZZ_MODEL_H
#define ASSAY_TESTS_FUZZ_MODEL_H

#include "model/onnx/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the code. */
static inline int expect_line(int code, const struct assay_error *error)
{
    if (code && (!*error->message || strchr(error->message, '\n'))) abort();
    return code;
}

/* limit: of what one file holds (assay__onnx_write); 1 puts the large tensors into a second one. */
static inline void round_trip(const struct assay__model *model, uint64_t limit)
{
    char path[64], data[70], first[17], second[17];
    struct assay__model *again = NULL;
    struct assay_error error = {.code = 0};
    snprintf(path, sizeof path, "/tmp/assay-fuzz-%ld.onnx", (long)getpid());
    snprintf(data, sizeof data, "%s.data", path);
    if (expect_line(assay__onnx_write(model, path, limit, NULL, &error), &error)) {
        if (access(path, F_OK) == 0 || access(data, F_OK) == 0) abort();
        return;
    }
    if (assay__model_read(path, &again, &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    if (assay__model_fingerprint(model, first) || assay__model_fingerprint(again, second)) abort();
    if (strcmp(first, second) != 0) abort();
    assay__model_free(again);
    unlink(path);
    unlink(data);
}

#endif
