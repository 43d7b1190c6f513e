/* shapes_rows.c - from a node to its row in the shape tables: one hash of all tables, made
 * once. */
#include "model/shapes/shape_call.h"

#include "base/text.h"
#include "model/op_words.h"

#include <pthread.h>
#include <string.h>

#define SLOTS 2048 /* a power of two, several times the number of rows */

struct slot {
    const struct assay__shape_row *row; /* NULL: free */
    char op[ASSAY__WORD];
};

static struct slot slots[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static size_t slot_of(const char *op)
{
    return assay__text_hash(op) & (SLOTS - 1);
}

static void add_slot(const struct assay__shape_row *row, const char *op)
{
    size_t at = slot_of(op);
    while (slots[at].row)
        at = (at + 1) & (SLOTS - 1);
    slots[at].row = row;
    memcpy(slots[at].op, op, strlen(op) + 1);
}

static void fill_slots(void)
{
#define TABLE(FAMILY) assay__shape_rows_##FAMILY,
    static const struct assay__shape_row *const tables[] = {ASSAY__SHAPE_FAMILIES(TABLE)};
    size_t used = 0;
    char op[ASSAY__WORD];
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct assay__shape_row *row = tables[t]; row->ops; row++)
            for (const char *at = row->ops; assay__next_word(&at, op) && used++ < SLOTS - 1;)
                add_slot(row, op);
}

static bool domain_matches(const char *row, const char *domain)
{
    if (!*domain || strcmp(domain, "ai.onnx") == 0) return !*row || *row == '*';
    if (strcmp(domain, "com.microsoft") == 0) return strcmp(row, "ms") == 0 || *row == '*';
    if (strcmp(domain, "com.microsoft.nchwc") == 0) return strcmp(row, "nchwc") == 0 || *row == '*';
    if (strcmp(domain, "ai.onnx.ml") == 0) return strcmp(row, "ml") == 0;
    return strncmp(domain, "ai.onnx.preview", 15) == 0 && strcmp(row, "preview") == 0;
}

const struct assay__shape_row *assay__shape_find_row(const struct assay__node *node)
{
    pthread_once(&once, fill_slots);
    for (size_t at = slot_of(node->op); slots[at].row; at = (at + 1) & (SLOTS - 1))
        if (strcmp(slots[at].op, node->op) == 0 &&
            domain_matches(slots[at].row->domain, node->domain))
            return slots[at].row;
    return NULL;
}
