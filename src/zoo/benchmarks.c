/* benchmarks.c - the table of the standard benchmarks (benchmarks.h has the rows). */
#include "zoo/benchmarks.h"

#include <string.h>

#define ROW(name, family, model, summary) {name, family, model, summary},
static const struct assay__benchmark benchmarks[] = {ASSAY__BENCHMARKS(ROW)};
#undef ROW

const struct assay__benchmark *assay__benchmark_at(size_t index)
{
    return index < sizeof benchmarks / sizeof benchmarks[0] ? &benchmarks[index] : NULL;
}

const struct assay__benchmark *assay__benchmark_find(const char *name)
{
    for (size_t i = 0; assay__benchmark_at(i); i++)
        if (strcmp(benchmarks[i].name, name) == 0) return &benchmarks[i];
    return NULL;
}
