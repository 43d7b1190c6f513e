/* vec.h - growing arrays without macros that hide control flow:
 *   if (assay__vec_grow((void **)&items, &capacity, count + 1, sizeof *items)) return ASSAY_ENOMEM;
 *   items[count++] = x; */
#ifndef ASSAY_BASE_VEC_H
#define ASSAY_BASE_VEC_H

#include <stddef.h>

/** Makes room for `needed` elements (doubling). New memory is zeroed. 0 or ASSAY_ENOMEM; *data is
 *  kept on failure. */
int assay__vec_grow(void **data, size_t *capacity, size_t needed, size_t element_size);

#endif
