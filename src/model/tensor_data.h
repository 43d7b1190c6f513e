/* tensor_data.h - the numbers of a tensor, wherever they are: in memory, in the mapped file, in an
 * external file (mapped here), or from a generator (generated here). */
#ifndef ASSAY_MODEL_TENSOR_DATA_H
#define ASSAY_MODEL_TENSOR_DATA_H

#include "model/graph.h"

struct assay__tensor_view {
    const uint8_t *data; /* little-endian, maybe unaligned */
    size_t size;
    void *owned; /* heap, freed by close */
    struct assay__mapping mapping;
};

/** The file of an external tensor. A symbolic link may not lead out of the model's folder:
 * otherwise an untrusted model could read, and `make` copy, any file of the user. If the model's
 * file is itself a link, the folder it leads to counts too (shared caches of models keep both files
 * that way). */
int assay__tensor_file(const struct assay__model *model, const struct assay__tensor *tensor,
                       char *path, size_t path_size, struct assay_error *error);

/** Clear errors: missing or short external file, data that is missing (stripped), out of memory.
 * Typed fields that the reader left undecoded are decoded here. */
int assay__tensor_open(const struct assay__model *model, const struct assay__tensor *tensor,
                       struct assay__tensor_view *view, struct assay_error *error);
void assay__tensor_close(struct assay__tensor_view *view); /* also of a zeroed view */
/** The numbers of a tensor of floats (float32, float64, float16, bfloat16) or integers as float32.
 *  `out` has room for tensor->elements. */
int assay__tensor_floats(const struct assay__model *model, const struct assay__tensor *tensor,
                         float *out, struct assay_error *error);
/** Element i of a tensor of float32, float64, int32 or int64 whose numbers are in memory; false:
 * there is none (tensor may be NULL). */
bool assay__tensor_number(const struct assay__tensor *tensor, size_t i, double *out);
uint16_t assay__float_to_half(float value); /* round to nearest even; overflow gives infinity */
float assay__half_to_float(uint16_t half);

/** Elements first … first + count - 1 of weights by formula: approximately normal (a sum of four
 * uniforms), never exactly zero unless the mean is the constant 0, within mean ± 3.5 deviations.
 * Blocks may be generated in any order. */
void assay__weights_fill(const struct assay__generator *generator, uint64_t first, float *out,
                         size_t count);

#endif
