/* rewrites.c - the tables of rewrites and of precisions, generated from the lists in rewrites.h. */
#include "model/rewrite/rewrites.h"

#include <string.h>

#define ROW(NAME, ...) &assay__rewriter_##NAME,
static const struct assay__rewriter *const rewriters[] = {ASSAY__REWRITES(ROW)};

#define OPTION(NAME, kind, option, ...) option,
static const char *const options[] = {ASSAY__REWRITES(OPTION)};

#define PRECISION(KIND, name, rewrite, argument, ...) {name, ASSAY__REWRITE_AT_##rewrite, argument},
static const struct assay__rewrite_precision precisions[] = {ASSAY__PRECISIONS(PRECISION)};

const struct assay__rewriter *assay__rewriter_at(size_t index)
{
    return index < sizeof rewriters / sizeof rewriters[0] ? rewriters[index] : NULL;
}

const char *assay__rewrite_option(size_t index)
{
    return index < sizeof options / sizeof options[0] ? options[index] : "";
}

const struct assay__rewrite_precision *assay__rewrite_precision_at(size_t index)
{
    return index < sizeof precisions / sizeof precisions[0] ? &precisions[index] : NULL;
}

const struct assay__rewrite_precision *assay__rewrite_precision_find(const char *name)
{
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++)
        if (strcmp(precisions[i].name, name) == 0) return &precisions[i];
    return NULL;
}

int assay__rewrite_precision_apply(const struct assay__rewrite_precision *precision,
                                   struct assay__model *model, struct assay__rewrite_notes *notes,
                                   struct assay_error *error)
{
    struct assay__rewrite_request request = {.arguments = &precision->argument,
                                             .argument_count = precision->argument != NULL};
    return rewriters[precision->rewrite]->apply(model, &request, notes, error);
}
