/* cost_index.c - finds the row of an operator: a hash from the operator's name to its first row, and
 * from each row to the next of the same name (another domain). Made once per walk (some tens of
 * microseconds), so that the tables need no order and no code at start-up. */
#include "cost/cost_table.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static const struct assay__cost_row *const families[] = {
    assay__cost_rows_math,   assay__cost_rows_nn,    assay__cost_rows_move,
    assay__cost_rows_signal, assay__cost_rows_fused, assay__cost_rows_quantised,
    assay__cost_rows_coreml, assay__cost_rows_ml,
};
enum { FAMILIES = sizeof families / sizeof families[0] };

struct entry {
    const struct assay__cost_row *row;
    size_t next; /* of the same name; ASSAY__MAP_NONE: none */
};

struct assay__cost_index {
    struct assay__map *by_op;
    struct entry *entries;
    size_t count;
};

struct assay__cost_index *assay__cost_index_new(void)
{
    struct assay__cost_index *index = calloc(1, sizeof *index);
    size_t count = 0;
    if (!index) return NULL;
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct assay__cost_row *row = families[f]; row->op; row++)
            count++;
    index->by_op = assay__map_new();
    index->entries = calloc(count + 1, sizeof *index->entries);
    if (!index->by_op || !index->entries) goto fail;
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct assay__cost_row *row = families[f]; row->op; row++) {
            size_t at = index->count++;
            index->entries[at] = (struct entry){row, assay__map_get(index->by_op, row->op)};
            if (assay__map_set(index->by_op, row->op, at)) goto fail;
        }
    return index;
fail:
    assay__cost_index_free(index);
    return NULL;
}

void assay__cost_index_free(struct assay__cost_index *index)
{
    if (!index) return;
    assay__map_free(index->by_op);
    free(index->entries);
    free(index);
}

static bool domain_matches(const char *row, const char *domain)
{
    static const char *const names[][2] = {
        {"", ""},
        {"ai.onnx", ""},
        {"com.microsoft", "ms"},
        {"com.microsoft.nchwc", "nchwc"},
        {"com.ms.internal.nhwc", "nhwc"},
        {"coreml", "coreml"},
        {"ai.onnx.ml", "ml"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i][0], domain) == 0)
            return strcmp(row, names[i][1]) == 0 || (*row == '*' && i < 5);
    return false;
}

const struct assay__cost_row *assay__cost_find(const struct assay__cost_index *index,
                                               const char *op, const char *domain)
{
    for (size_t at = assay__map_get(index->by_op, op); at != ASSAY__MAP_NONE;
         at = index->entries[at].next)
        if (domain_matches(index->entries[at].row->domain, domain)) return index->entries[at].row;
    return NULL;
}

const struct assay__cost_row *assay__cost_row_at(const struct assay__cost_index *index, size_t i)
{
    return i < index->count ? index->entries[i].row : NULL;
}
