/* bandwidth.c - the list of loops over memory. */
#include "ceiling/kernels/kernels.h"

static const struct assay__stream_kernel *const tables[] = {
    assay__stream_avx512, assay__stream_avx2,   assay__stream_sse2,
    assay__stream_neon,   assay__stream_scalar,
};

const struct assay__stream_kernel *assay__stream_at(size_t index)
{
    for (size_t table = 0; table < sizeof tables / sizeof tables[0]; table++)
        for (const struct assay__stream_kernel *row = tables[table]; row->run; row++)
            if (index-- == 0) return row;
    return NULL;
}

const char *assay__stream_pattern_name(enum assay__stream_pattern pattern)
{
    static const char *const names[ASSAY__STREAM_PATTERNS] = {"read", "write", "copy", "triad"};
    return pattern < ASSAY__STREAM_PATTERNS ? names[pattern] : "";
}

unsigned assay__stream_arrays(enum assay__stream_pattern pattern)
{
    static const unsigned counts[ASSAY__STREAM_PATTERNS] = {1, 1, 2, 3};
    return pattern < ASSAY__STREAM_PATTERNS ? counts[pattern] : 0;
}
