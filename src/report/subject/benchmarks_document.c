/* benchmarks_document.c - the benchmarks of `assay bench`, and the models that they run. */
#include "report/report_bench.h"

#include "zoo/benchmarks.h"

static const struct assay__column columns[] = {
    {"name", "benchmark", .flags = ASSAY__COLUMN_NAME},
    {.key = "family", .title = "family"},
    {"summary", "what it is", .flags = ASSAY__COLUMN_PROSE},
    {"model", "model", .flags = ASSAY__COLUMN_CODE},
};

int assay__benchmarks_document(struct assay__doc **made)
{
    const struct assay__benchmark *row;
    struct assay__doc *doc = assay__doc_open(made, "bench", "Benchmarks");
    if (!doc) return ASSAY_ENOMEM;
    struct assay__table *t = assay__doc_table(doc, "benchmarks", "Benchmarks", columns);
    for (size_t i = 0; (row = assay__benchmark_at(i)); i++)
        assay__table_row_of(t, 0, row->name, row->family, row->summary, row->model);
    return 0;
}
