/* symbol_intern.c - the table of symbolic integers: every polynomial is in it once, so that
 * equal ones have equal codes; its atoms beside it. Limits: ATOMS_MOST atoms, ASSAY__NUM_CODES
 * expressions; beyond them the answer is "not known". */
#include "model/symbol/symbol_internal.h"

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define ATOMS_MOST 4096

struct assay__symbols *assay__symbols_new(void)
{
    struct assay__symbols *symbols = calloc(1, sizeof *symbols);
    if (!symbols) return NULL;
    symbols->arena = assay__arena_new();
    symbols->names = assay__map_new();
    symbols->slot_count = 64;
    symbols->slots = calloc(symbols->slot_count, sizeof *symbols->slots);
    if (!symbols->arena || !symbols->names || !symbols->slots) {
        assay__symbols_free(symbols);
        return NULL;
    }
    return symbols;
}

void assay__symbols_free(struct assay__symbols *symbols)
{
    if (!symbols) return;
    assay__arena_free(symbols->arena);
    assay__map_free(symbols->names);
    free(symbols->expressions);
    free(symbols->slots);
    free(symbols->atoms);
    free(symbols);
}

static uint32_t hash_terms(const struct assay__term *terms, int count)
{
    uint64_t hash = 1469598103934665603u;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)terms[i].coefficient) * 1099511628211u;
        for (int k = 0; k < terms[i].degree; k++)
            hash = (hash ^ (uint64_t)(uint32_t)terms[i].atoms[k]) * 1099511628211u;
        hash = (hash ^ (hash >> 29)) * 1099511628211u;
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

static bool same_terms(const struct assay__expression *expression, const struct assay__poly *poly)
{
    if (expression->count != poly->count) return false;
    for (int i = 0; i < poly->count; i++)
        if (expression->terms[i].coefficient != poly->terms[i].coefficient ||
            assay__term_compare(&expression->terms[i], &poly->terms[i]) != 0)
            return false;
    return true;
}

static bool grow_slots(struct assay__symbols *symbols)
{
    size_t bigger = symbols->slot_count * 2;
    uint32_t *slots = calloc(bigger, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < symbols->count; i++) {
        size_t at = symbols->expressions[i].hash & (bigger - 1);
        while (slots[at])
            at = (at + 1) & (bigger - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(symbols->slots);
    symbols->slots = slots;
    symbols->slot_count = bigger;
    return true;
}

int64_t assay__symbols_intern(struct assay__symbols *symbols, const struct assay__poly *poly)
{
    if (poly->count == 0) return 0;
    if (poly->count == 1 && poly->terms[0].degree == 0)
        return assay__num_from_file(poly->terms[0].coefficient);
    uint32_t hash = hash_terms(poly->terms, poly->count);
    size_t at = hash & (symbols->slot_count - 1);
    for (; symbols->slots[at]; at = (at + 1) & (symbols->slot_count - 1)) {
        size_t index = symbols->slots[at] - 1;
        if (symbols->expressions[index].hash == hash &&
            same_terms(&symbols->expressions[index], poly))
            return ASSAY__NUM_CODE + (int64_t)index;
    }
    if ((int64_t)symbols->count >= ASSAY__NUM_CODES - 2) return ASSAY__NUM_ANY;
    size_t bytes = (size_t)poly->count * sizeof(struct assay__term);
    struct assay__term *terms = assay__arena_alloc(symbols->arena, bytes);
    if (!terms || assay__vec_grow((void **)&symbols->expressions, &symbols->capacity,
                                  symbols->count + 1, sizeof *symbols->expressions))
        return ASSAY__NUM_ANY;
    memcpy(terms, poly->terms, bytes);
    symbols->expressions[symbols->count] = (struct assay__expression){poly->count, terms, hash,
                                                                      NULL};
    symbols->slots[at] = (uint32_t)symbols->count + 1;
    int64_t num = ASSAY__NUM_CODE + (int64_t)symbols->count++;
    /* A table that cannot grow only gets slower, until it is full. */
    if (symbols->count * 2 > symbols->slot_count && !grow_slots(symbols) &&
        symbols->count + 1 >= symbols->slot_count)
        symbols->count = (size_t)ASSAY__NUM_CODES;
    return num;
}

const struct assay__expression *assay__symbols_get(const struct assay__symbols *symbols,
                                                   int64_t num)
{
    if (!assay__num_symbolic(num)) return NULL;
    size_t index = (size_t)(num - ASSAY__NUM_CODE);
    return index < symbols->count ? &symbols->expressions[index] : NULL;
}

bool assay__symbols_load(const struct assay__symbols *symbols, int64_t num,
                         struct assay__poly *poly)
{
    const struct assay__expression *expression = assay__symbols_get(symbols, num);
    poly->count = 0;
    if (expression) {
        poly->count = expression->count;
        memcpy(poly->terms, expression->terms, (size_t)poly->count * sizeof poly->terms[0]);
        return true;
    }
    if (!assay__num_known(num)) return false;
    struct assay__term constant = {.coefficient = num};
    return assay__poly_add(poly, &constant);
}

int64_t assay__symbols_atom(struct assay__symbols *symbols, const struct assay__atom *atom)
{
    size_t index = 0;
    struct assay__poly poly = {.count = 1};
    for (; atom->kind != ASSAY__ATOM_NAME && index < symbols->atom_count; index++) {
        const struct assay__atom *other = &symbols->atoms[index];
        if (other->kind == atom->kind && other->a == atom->a && other->b == atom->b) break;
    }
    if (atom->kind == ASSAY__ATOM_NAME) index = symbols->atom_count;
    if (index == symbols->atom_count) {
        if (index >= ATOMS_MOST ||
            assay__vec_grow((void **)&symbols->atoms, &symbols->atom_capacity, index + 1,
                            sizeof *symbols->atoms))
            return ASSAY__NUM_ANY;
        symbols->atoms[symbols->atom_count++] = *atom;
    }
    poly.terms[0] = (struct assay__term){.coefficient = 1, .degree = 1, .atoms = {(int32_t)index}};
    return assay__symbols_intern(symbols, &poly);
}
