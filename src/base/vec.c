/* vec.c - growing arrays: doubling, zeroed new memory, overflow-checked. */
#include "base/vec.h"

#include "base/checked.h"

#include <assay/error.h>
#include <stdlib.h>
#include <string.h>

int assay__vec_grow(void **data, size_t *capacity, size_t needed, size_t element_size)
{
    if (needed <= *capacity) return 0;
    size_t target = *capacity ? *capacity : 8;
    while (target < needed)
        if (assay__mul_overflows(target, 2, &target)) return ASSAY_ENOMEM;
    size_t bytes;
    if (assay__mul_overflows(target, element_size, &bytes)) return ASSAY_ENOMEM;
    unsigned char *grown = realloc(*data, bytes ? bytes : 1);
    if (!grown) return ASSAY_ENOMEM;
    size_t old_bytes = *capacity * element_size;
    memset(grown + old_bytes, 0, bytes - old_bytes);
    *data = grown;
    *capacity = target;
    return 0;
}
