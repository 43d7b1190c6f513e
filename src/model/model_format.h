/* model_format.h - reads a model of any format we know: one row each in formats.c. */
#ifndef ASSAY_MODEL_MODEL_FORMAT_H
#define ASSAY_MODEL_MODEL_FORMAT_H

#include "model/graph.h"

/** Reads `path`: an ONNX file, a Core ML package (.mlpackage folder) or a .mlmodel file. */
int assay__model_load(const char *path, struct assay__model **model, struct assay_error *error);

/* What the rows call. */
bool assay__coreml_is(const char *path); /* by its ending, and for a folder by its Manifest.json */
int assay__coreml_read(const char *path, struct assay__model **model, struct assay_error *error);
/** A .mlmodel file's bytes; weights: the bytes of weight.bin, NULL when there is none. Both outlive
 *  the model (fuzzers). */
int assay__coreml_parse(const uint8_t *data, size_t size, const uint8_t *weights,
                        size_t weights_size, struct assay__model **model,
                        struct assay_error *error);

#endif
