/* symbol_poly.c - polynomials with integer coefficients: terms in graded lexicographic order,
 * largest first, so that division is ordinary long division by the leading term. What has too many
 * terms, too high a degree or overflows is refused. */
#include "model/symbol/symbol_internal.h"

#include "base/checked.h"

#include <string.h>

int assay__term_compare(const struct assay__term *a, const struct assay__term *b)
{
    if (a->degree != b->degree) return a->degree > b->degree ? 1 : -1;
    for (int i = 0; i < a->degree; i++)
        if (a->atoms[i] != b->atoms[i]) return a->atoms[i] < b->atoms[i] ? 1 : -1;
    return 0;
}

bool assay__poly_add(struct assay__poly *poly, const struct assay__term *term)
{
    int at = 0, order = 1;
    if (term->coefficient == 0) return true;
    while (at < poly->count && (order = assay__term_compare(&poly->terms[at], term)) > 0)
        at++;
    if (at < poly->count && order == 0) {
        struct assay__term *mine = &poly->terms[at];
        if (assay__add_i64_overflows(mine->coefficient, term->coefficient, &mine->coefficient))
            return false;
        if (mine->coefficient) return true;
        memmove(mine, mine + 1, (size_t)(poly->count - at - 1) * sizeof *mine);
        poly->count--;
        return true;
    }
    if (poly->count == ASSAY__POLY_TERMS) return false;
    memmove(&poly->terms[at + 1], &poly->terms[at], (size_t)(poly->count - at) * sizeof *term);
    poly->terms[at] = *term;
    poly->count++;
    return true;
}

static bool multiply_terms(const struct assay__term *a, const struct assay__term *b,
                           struct assay__term *out)
{
    struct assay__term product = {.degree = a->degree + b->degree};
    int i = 0, k = 0;
    if (product.degree > ASSAY__POLY_DEGREE ||
        assay__mul_i64_overflows(a->coefficient, b->coefficient, &product.coefficient))
        return false;
    for (int at = 0; at < product.degree; at++)
        product.atoms[at] = k >= b->degree || (i < a->degree && a->atoms[i] <= b->atoms[k])
                                ? a->atoms[i++]
                                : b->atoms[k++];
    *out = product;
    return true;
}

/* a / b when b's atoms are among a's and the coefficient divides. */
static bool divide_terms(const struct assay__term *a, const struct assay__term *b,
                         struct assay__term *out)
{
    struct assay__term quotient = {.degree = 0};
    int k = 0;
    if (b->coefficient == 0 || (b->coefficient == -1 && a->coefficient == INT64_MIN) ||
        a->coefficient % b->coefficient != 0)
        return false;
    quotient.coefficient = a->coefficient / b->coefficient;
    for (int i = 0; i < a->degree; i++) {
        if (k < b->degree && a->atoms[i] == b->atoms[k])
            k++;
        else
            quotient.atoms[quotient.degree++] = a->atoms[i];
    }
    *out = quotient;
    return k == b->degree;
}

bool assay__poly_add_scaled(struct assay__poly *poly, const struct assay__poly *other,
                            const struct assay__term *factor)
{
    for (int i = 0; i < other->count; i++) {
        struct assay__term term;
        if (!multiply_terms(&other->terms[i], factor, &term) || !assay__poly_add(poly, &term))
            return false;
    }
    return true;
}

bool assay__poly_divide(const struct assay__poly *a, const struct assay__poly *b,
                        struct assay__poly *out)
{
    struct assay__poly rest = *a;
    out->count = 0;
    if (b->count == 0) return false;
    for (int step = 0; rest.count && step < 2 * ASSAY__POLY_TERMS; step++) {
        struct assay__term term;
        if (!divide_terms(&rest.terms[0], &b->terms[0], &term) || !assay__poly_add(out, &term))
            return false;
        if (term.coefficient == INT64_MIN) return false;
        term.coefficient = -term.coefficient;
        if (!assay__poly_add_scaled(&rest, b, &term)) return false;
    }
    return rest.count == 0;
}
