/* shapes_rows.c - from a node to its row in the shape tables: one hash of all tables, made
 * once. */
#include "model/shapes/shape_call.h"

#include "base/text.h"
#include "model/op_index.h"

#include <pthread.h>
#include <string.h>

static struct assay__op_index rows;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void index_rows(void)
{
#define TABLE(FAMILY) assay__shape_rows_##FAMILY,
    static const struct assay__shape_row *const tables[] = {ASSAY__SHAPE_FAMILIES(TABLE)};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct assay__shape_row *row = tables[t]; row->ops; row++)
            assay__op_index_add(&rows, row->ops, row->domain, row);
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
    pthread_once(&once, index_rows);
    size_t at = assay__op_index_find(&rows, node->op, node->domain, domain_matches);
    return at < ASSAY__OP_SLOTS ? rows.slots[at].row : NULL;
}
