/* cost_index.c - finds the row of an operator: one hash of all tables, made once, so that the
 * tables need no order and no code at start-up. An index remembers what was found for the operators
 * of one model: each is asked for many times. */
#include "cost/cost_table.h"

#include "base/map.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY(NAME) assay__cost_rows_##NAME,
static const struct assay__cost_row *const families[] = {ASSAY__COST_FAMILIES(FAMILY)};
enum { FAMILIES = sizeof families / sizeof families[0] };

#define SLOTS 2048 /* a power of two, several times the number of rows */

struct slot {
    const struct assay__cost_row *row; /* NULL: free */
    char op[ASSAY__WORD];
};

static struct slot slots[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct assay__cost_index {
    /* operator of ONNX's own domain -> slot, or SLOTS: none; NULL: not kept */
    struct assay__map *found;
};

static size_t slot_of(const char *op)
{
    return assay__text_hash(op) & (SLOTS - 1);
}

static void add_slot(const struct assay__cost_row *row, const char *op)
{
    size_t at = slot_of(op);
    while (slots[at].row)
        at = (at + 1) & (SLOTS - 1);
    slots[at].row = row;
    memcpy(slots[at].op, op, strlen(op) + 1);
}

/* Of rows that match the same node the later one counts: it is put in first. */
static void fill_slots(void)
{
    size_t used = 0;
    char op[ASSAY__WORD];
    for (size_t f = FAMILIES; f-- > 0;) {
        const struct assay__cost_row *row = families[f];
        while (row->ops)
            row++;
        while (row-- > families[f])
            for (const char *at = row->ops; assay__next_word(&at, op) && used++ < SLOTS - 1;)
                add_slot(row, op);
    }
}

struct assay__cost_index *assay__cost_index_over(const struct assay__names *names)
{
    struct assay__cost_index *index = calloc(1, sizeof *index);
    if (!index) return NULL;
    pthread_once(&once, fill_slots);
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

static size_t find_slot(const char *op, const char *domain)
{
    for (size_t at = slot_of(op); slots[at].row; at = (at + 1) & (SLOTS - 1))
        if (strcmp(slots[at].op, op) == 0 && domain_matches(slots[at].row->domain, domain))
            return at;
    return SLOTS;
}

const struct assay__cost_row *assay__cost_find(const struct assay__cost_index *index,
                                               const char *op, const char *domain)
{
    bool kept = index->found && !*domain;
    size_t at = kept ? assay__map_get(index->found, op) : ASSAY__MAP_NONE;
    if (at == ASSAY__MAP_NONE) {
        at = find_slot(op, domain);
        /* Out of memory it is only not remembered. */
        if (kept) (void)assay__map_set(index->found, op, at);
    }
    return at < SLOTS ? slots[at].row : NULL;
}

const struct assay__cost_row *assay__cost_row_at(size_t i, char op[ASSAY__WORD])
{
    for (size_t f = 0; f < FAMILIES; f++)
        for (const struct assay__cost_row *row = families[f]; row->ops; row++)
            for (const char *at = row->ops; assay__next_word(&at, op);)
                if (i-- == 0) return row;
    return NULL;
}
