/* op_index.h - finds the row of an operator among tables whose rows name several of them
 * (op_words.h): one hash of all tables, so that they need no order. */
#ifndef ASSAY_MODEL_OP_INDEX_H
#define ASSAY_MODEL_OP_INDEX_H

#include "model/op_words.h"

#include <stddef.h>

#define ASSAY__OP_SLOTS 1024 /* a power of two, several times the number of operators */

struct assay__op_index { /* zero it before the first row is added; the rows must outlive it */
    struct {
        const void *row; /* NULL: free */
        const char *domain;
        const char *op; /* in the row's list, `length` characters of it */
        size_t length;
    } slots[ASSAY__OP_SLOTS];
    size_t used;
};

/** Adds a row under each of the operators it names. If several rows match a node, the first
 * counts. */
void assay__op_index_add(struct assay__op_index *index, const char *ops, const char *domain,
                         const void *row);
/** The slot of the operator whose row's domain matches; ASSAY__OP_SLOTS: none. */
size_t assay__op_index_find(const struct assay__op_index *index, const char *op, const char *domain,
                            bool (*matches)(const char *row, const char *domain));

#endif
