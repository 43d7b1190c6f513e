/* op_index.c - see op_index.h: open addressing, the next slot after a collision. */
#include "model/op_index.h"

#include "base/text.h"

static size_t slot_of(const char *op)
{
    return assay__text_hash(op) & (ASSAY__OP_SLOTS - 1);
}

static size_t after(size_t slot)
{
    return (slot + 1) & (ASSAY__OP_SLOTS - 1);
}

void assay__op_index_add(struct assay__op_index *index, const char *ops, const char *domain,
                         const void *row)
{
    char op[ASSAY__WORD];
    while (assay__next_word(&ops, op) && index->used++ < ASSAY__OP_SLOTS - 1) {
        size_t at = slot_of(op), length = strlen(op);
        while (index->slots[at].row)
            at = after(at);
        index->slots[at].row = row;
        index->slots[at].domain = domain;
        index->slots[at].op = ops - length;
        index->slots[at].length = length;
    }
}

size_t assay__op_index_find(const struct assay__op_index *index, const char *op, const char *domain,
                            bool (*matches)(const char *row, const char *domain))
{
    for (size_t at = slot_of(op); index->slots[at].row; at = after(at)) {
        size_t length = index->slots[at].length;
        if (strncmp(index->slots[at].op, op, length) == 0 && !op[length] &&
            matches(index->slots[at].domain, domain))
            return at;
    }
    return ASSAY__OP_SLOTS;
}
