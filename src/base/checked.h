/* checked.h - arithmetic on sizes that come from a file. Each returns true on overflow. */
#ifndef ASSAY_BASE_CHECKED_H
#define ASSAY_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool assay__add_overflows(size_t a, size_t b, size_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}
static inline bool assay__mul_overflows(size_t a, size_t b, size_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}
static inline bool assay__add_i64_overflows(int64_t a, int64_t b, int64_t *sum)
{
    return __builtin_add_overflow(a, b, sum);
}
static inline bool assay__mul_i64_overflows(int64_t a, int64_t b, int64_t *product)
{
    return __builtin_mul_overflow(a, b, product);
}

#endif
