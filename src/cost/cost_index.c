/* cost_index.c - finds the row of an operator: one hash of all tables, built once, so that the
 * tables need no order and no code at start-up. An index caches the result for the operators of one
 * model, because each is looked up many times. */
#include "cost/cost_table.h"

#include "base/map.h"
#include "model/op_index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY(NAME) assay__cost_rows_##NAME,
static const struct assay__cost_row *const families[] = {ASSAY__COST_FAMILIES(FAMILY)};
enum { FAMILIES = sizeof families / sizeof families[0] };

static struct assay__op_index rows;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct assay__cost_index {
    /* operator of ONNX's own domain -> slot, or ASSAY__OP_SLOTS: none; NULL: not cached */
    struct assay__map *found;
};

/* If several rows match the same node, the last one counts: it is inserted first. */
static void index_rows(void)
{
    for (size_t f = FAMILIES; f-- > 0;) {
        const struct assay__cost_row *row = families[f];
        while (row->ops)
            row++;
        while (row-- > families[f])
            assay__op_index_add(&rows, row->ops, row->domain, row);
    }
}

struct assay__cost_index *assay__cost_index_over(const struct assay__names *names)
{
    struct assay__cost_index *index = calloc(1, sizeof *index);
    if (!index) return NULL;
    pthread_once(&once, index_rows);
    if (!names || (index->found = assay__map_over(names))) return index;
    free(index);
    return NULL;
}

void assay__cost_index_free(struct assay__cost_index *index)
{
    if (!index) return;
    assay__map_free(index->found);
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
    bool kept = index->found && !*domain;
    size_t at = kept ? assay__map_get(index->found, op) : ASSAY__MAP_NONE;
    if (at == ASSAY__MAP_NONE) {
        at = assay__op_index_find(&rows, op, domain, domain_matches);
        /* Without memory it is looked up again next time. */
        if (kept) (void)assay__map_set(index->found, op, at);
    }
    return at < ASSAY__OP_SLOTS ? rows.slots[at].row : NULL;
}

const struct assay__cost_row *assay__cost_row_at(size_t i, char op[ASSAY__WORD])
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct assay__cost_row *row = families[f]; row->ops; row++)
            for (const char *at = row->ops; assay__next_word(&at, op);)
                if (i-- == 0) return row;
    return NULL;
}
