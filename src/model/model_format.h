/* model_format.h - reads a model of any format we know. To add one, write a reader that defines
 * assay__model_format_NAME and add a row here. */
#ifndef ASSAY_MODEL_MODEL_FORMAT_H
#define ASSAY_MODEL_MODEL_FORMAT_H

#include "model/graph.h"

struct assay__model_format {
    const char *endings;          /* extensions of its files, separated by blanks */
    bool (*is)(const char *path); /* NULL: everything else */
    int (*read)(const char *path, struct assay__model **model, struct assay_error *error);
};

/* X(NAME), in the order they are tried. ONNX is last: it has no signature, so its reader reports
 * what is wrong with any other file. */
#define ASSAY__MODEL_FORMATS(X) \
    X(coreml)                   \
    X(onnx)

#define ASSAY__MODEL_FORMAT_DECLARE(NAME) \
    extern const struct assay__model_format assay__model_format_##NAME;
ASSAY__MODEL_FORMATS(ASSAY__MODEL_FORMAT_DECLARE)

/** Reads `path`: an ONNX file, a Core ML package (.mlpackage folder) or a .mlmodel file. */
int assay__model_load(const char *path, struct assay__model **model, struct assay_error *error);

/** Whether the name contains the extension of a model file. */
bool assay__model_file_named(const char *name);

/** A .mlmodel file's bytes; weights: the bytes of weight.bin, NULL if there is none. Both outlive
 * the model (fuzzers). */
int assay__coreml_parse(const uint8_t *data, size_t size, const uint8_t *weights,
                        size_t weights_size, struct assay__model **model,
                        struct assay_error *error);

#endif
