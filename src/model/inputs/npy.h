/* npy.h - NumPy's .npy, versions 1.0 to 3.0: little-endian; Fortran order is refused if it differs
 * from C order. */
#ifndef ASSAY_MODEL_INPUTS_NPY_H
#define ASSAY_MODEL_INPUTS_NPY_H

#include "model/graph.h"

#define ASSAY__NPY_RANK 32

struct assay__npy {
    enum assay__dtype dtype;
    int rank;
    int64_t dims[ASSAY__NPY_RANK];
    const uint8_t *data; /* into the caller's bytes */
    size_t data_size;
};
int assay__npy_parse(const uint8_t *bytes, size_t size, struct assay__npy *npy,
                     struct assay_error *error);
/** Writes version 1.0. */
int assay__npy_write(const char *path, enum assay__dtype dtype, int rank, const int64_t *dims,
                     const void *data, size_t size, struct assay_error *error);

#endif
