/* op_index.c - see op_index.h: open addressing, the next slot after a collision. */
#include "model/op_index.h"

#include "base/text.h"

#define MASK (ASSAY__OP_SLOTS - 1)

void assay__op_index_add(struct assay__op_index *index, const char *ops, const char *domain,
                         const void *row)
{
    char op[ASSAY__WORD];
    while (assay__next_word(&ops, op)) {
        index->used++;
        if (index->used >= ASSAY__OP_SLOTS) return; /* one slot stays empty: searches end there */
        size_t at = assay__text_hash(op) & MASK, length = strlen(op);
        while (index->slots[at].row)
            at = (at + 1) & MASK;
        index->slots[at].row = row;
        index->slots[at].domain = domain;
        index->slots[at].op = ops - length;
        index->slots[at].length = length;
    }
}

size_t assay__op_index_find(const struct assay__op_index *index, const char *op, const char *domain,
                            bool (*matches)(const char *row, const char *domain))
{
    for (size_t at = assay__text_hash(op) & MASK; index->slots[at].row; at = (at + 1) & MASK) {
        size_t length = index->slots[at].length;
        if (strncmp(index->slots[at].op, op, length) == 0 && !op[length] &&
            matches(index->slots[at].domain, domain))
            return at;
    }
    return ASSAY__OP_SLOTS;
}
