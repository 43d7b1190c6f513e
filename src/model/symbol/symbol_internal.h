/* symbol_internal.h - what the files of symbolic integers share: polynomials over atoms (symbol.c
 * says what they are), and the table in which they are interned.
 *
 *   symbol.c         arithmetic and bounds
 *   symbol_poly.c    polynomials, without the table
 *   symbol_intern.c  the table: equal polynomials are one expression
 *   symbol_read.c    names and expressions read from text
 *   symbol_text.c    an expression as text */
#ifndef ASSAY_MODEL_SYMBOL_SYMBOL_INTERNAL_H
#define ASSAY_MODEL_SYMBOL_SYMBOL_INTERNAL_H

#include "model/symbol/symbol.h"

struct assay__arena;
struct assay__map;

#define ASSAY__POLY_TERMS 16
#define ASSAY__POLY_DEGREE 6

struct assay__term {
    int64_t coefficient;
    int32_t degree;
    int32_t atoms[ASSAY__POLY_DEGREE]; /* ascending; unused ones are 0 */
};

struct assay__poly {
    int count;
    struct assay__term terms[ASSAY__POLY_TERMS];
};

enum assay__atom_kind { ASSAY__ATOM_NAME, ASSAY__ATOM_FLOOR, ASSAY__ATOM_MIN, ASSAY__ATOM_MAX };

struct assay__atom {
    enum assay__atom_kind kind;
    bool nonnegative;
    const char *name;
    int64_t a, b; /* operands of an opaque term */
};

struct assay__expression {
    int count;
    const struct assay__term *terms;
    uint32_t hash;
    const char *text; /* made when it is asked for */
};

struct assay__symbols {
    struct assay__arena *arena;
    struct assay__map *names; /* text -> expression */
    struct assay__expression *expressions;
    size_t count, capacity;
    uint32_t *slots; /* expression + 1, open addressing */
    size_t slot_count;
    struct assay__atom *atoms;
    size_t atom_count, atom_capacity;
};

/** Graded lexicographic: > 0 when a is the larger monomial. */
int assay__term_compare(const struct assay__term *a, const struct assay__term *b);
/* These are false when the result does not fit. */
bool assay__poly_add(struct assay__poly *poly, const struct assay__term *term);
/** poly += factor * other */
bool assay__poly_add_scaled(struct assay__poly *poly, const struct assay__poly *other,
                            const struct assay__term *factor);
/** out = a / b; false also when there is a remainder. */
bool assay__poly_divide(const struct assay__poly *a, const struct assay__poly *b,
                        struct assay__poly *out);

/** The polynomial as a num. */
int64_t assay__symbols_intern(struct assay__symbols *symbols, const struct assay__poly *poly);
/** The atom as a num; an opaque term that is there already is that one. */
int64_t assay__symbols_atom(struct assay__symbols *symbols, const struct assay__atom *atom);
/** NULL: a number, or not known. Valid until the next expression is interned. */
const struct assay__expression *assay__symbols_get(const struct assay__symbols *symbols,
                                                   int64_t num);
/** The num as a polynomial; false: not known. */
bool assay__symbols_load(const struct assay__symbols *symbols, int64_t num,
                         struct assay__poly *poly);

#endif
