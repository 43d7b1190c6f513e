/* onnx_output.h - what the writer hands to the disk: the model's bytes as a list of pieces, and the
 * tensors that go into a data file beside it. */
#ifndef ASSAY_MODEL_ONNX_ONNX_OUTPUT_H
#define ASSAY_MODEL_ONNX_ONNX_OUTPUT_H

#include "model/graph.h"

struct assay__onnx_piece {
    const uint8_t *data;                      /* NULL: bytes of `bytes` from `offset` */
    const struct assay__generator *generator; /* or float32 made while writing */
    size_t offset;
    size_t size;
};

struct assay__onnx_spilled {
    const struct assay__tensor *tensor;
    uint64_t offset; /* in the data file */
    size_t size;
};

struct assay__onnx_output {
    const struct assay__model *model;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    struct assay__onnx_piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t total;                      /* bytes of all pieces */
    struct assay__onnx_spilled *spilled; /* in order of offset */
    size_t spilled_count, spilled_capacity;
    const volatile int *interrupt; /* not 0 ends the writing between blocks; NULL: never */
};

/** Writes `path`, and `path`.data when tensors are spilled, each as a temporary that is renamed
 *  when both are complete, the data first. A failure leaves neither behind, an interrupt
 *  (ASSAY_EINTERRUPTED) neither. */
int assay__onnx_output_write(const struct assay__onnx_output *output, const char *path,
                             struct assay_error *error);

#endif
