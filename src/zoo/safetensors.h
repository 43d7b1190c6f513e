/* safetensors.h - reads a .safetensors file, a format for exchanging weights between frameworks:
 * eight bytes (the header's length, little-endian), a JSON object {"name": {"dtype": "F32",
 * "shape": […], "data_offsets": [first, past]}, …} and the data that the offsets point into. The
 * file is untrusted: every offset, shape and type is checked before use. */
#ifndef ASSAY_ZOO_SAFETENSORS_H
#define ASSAY_ZOO_SAFETENSORS_H

#include "base/arena.h"
#include "base/file.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__SAFETENSORS_RANK 8

struct assay__safetensor {
    const char *name;
    const char *dtype; /* "F32", "F16", "BF16", "F64", … as the file has it */
    int rank;
    int64_t dims[ASSAY__SAFETENSORS_RANK];
    int64_t elements;
    const uint8_t *data; /* into the mapping, maybe unaligned */
    size_t size;
    bool used; /* the caller's mark */
};

struct assay__safetensors {
    struct assay__mapping mapping;
    const char *path;
    struct assay__safetensor *tensors;
    size_t count;
};

/** Clear errors: missing, truncated, not such a file, offsets outside it, a size that does not
 * match the shape. Tensors and names are in the arena. */
int assay__safetensors_open(const char *path, struct assay__arena *arena,
                            struct assay__safetensors *file, struct assay_error *error);
/** The same over memory that outlives `file`; path is for messages. */
int assay__safetensors_parse(const uint8_t *data, size_t size, const char *path,
                             struct assay__arena *arena, struct assay__safetensors *file,
                             struct assay_error *error);
void assay__safetensors_close(struct assay__safetensors *file); /* zeroed legal */
struct assay__safetensor *assay__safetensors_find(struct assay__safetensors *file,
                                                  const char *name); /* NULL: not there */
/** Numbers as float32: F32, F64, F16, BF16. ASSAY_EUNSUPPORTED for another type. */
int assay__safetensor_floats(const struct assay__safetensor *tensor, float *out,
                             struct assay_error *error);

#endif
