/* symbol.c - symbolic integers: polynomials with integer coefficients over atoms, in one canonical
 * form, interned.
 *
 * An atom is a named symbol or an opaque term: floor(p / q), min(p, q), max(p, q). A monomial is a
 * coefficient and its atoms, sorted, repeated for powers; a polynomial is its monomials in graded
 * lexicographic order, largest first, so that two equal polynomials are the same bytes and division
 * is ordinary long division by the leading term.
 *
 * floor(p / c) for a number c has a canonical form too: multiples of c are taken out of every
 * coefficient (what remains has coefficients in [0, c)), common factors are cancelled, and
 * floor((floor(p / a) + k) / b) is floor((p + k a) / (a b)). ceil(p / c) is floor((p + c - 1) / c);
 * p mod c is p - c floor(p / c).
 *
 * Limits: 16 terms, degree 6, 4,096 atoms; beyond them the answer is "not known". */
#include "model/symbol/symbol_internal.h"

#include "base/checked.h"

/* --- bounds ----------------------------------------------------------------------------------- */

/* The smallest value that can be proven: the constant term when nothing is subtracted. */
static bool lower_bound(const struct assay__symbols *symbols, const struct assay__poly *poly,
                        int64_t *low)
{
    *low = 0;
    for (int i = 0; i < poly->count; i++) {
        const struct assay__term *term = &poly->terms[i];
        if (term->degree == 0) {
            *low = term->coefficient;
            continue;
        }
        if (term->coefficient < 0) return false;
        for (int k = 0; k < term->degree; k++)
            if (!symbols->atoms[term->atoms[k]].nonnegative) return false;
    }
    return true;
}

bool assay__num_at_least(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    struct assay__poly poly;
    int64_t low;
    if (assay__num_known(a) && assay__num_known(b)) return a >= b;
    return assay__symbols_load(symbols, assay__num_sub(symbols, a, b), &poly) &&
           lower_bound(symbols, &poly, &low) && low >= 0;
}

bool assay__num_plain(const struct assay__symbols *symbols, int64_t num)
{
    const struct assay__expression *expression = assay__symbols_get(symbols, num);
    return expression && expression->count == 1 && expression->terms[0].degree == 1 &&
           expression->terms[0].coefficient == 1 &&
           symbols->atoms[expression->terms[0].atoms[0]].kind == ASSAY__ATOM_NAME;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static int64_t combine(struct assay__symbols *symbols, int64_t a, int64_t b, int64_t factor)
{
    struct assay__poly sum, other;
    struct assay__term scale = {.coefficient = factor};
    if (!assay__symbols_load(symbols, a, &sum) || !assay__symbols_load(symbols, b, &other) ||
        !assay__poly_add_scaled(&sum, &other, &scale))
        return ASSAY__NUM_ANY;
    return assay__symbols_intern(symbols, &sum);
}

int64_t assay__num_add(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    int64_t sum;
    if (assay__num_known(a) && assay__num_known(b))
        return assay__add_i64_overflows(a, b, &sum) ? ASSAY__NUM_ANY : assay__num_from_file(sum);
    return combine(symbols, a, b, 1);
}

int64_t assay__num_sub(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    int64_t difference;
    if (assay__num_known(a) && assay__num_known(b))
        return __builtin_sub_overflow(a, b, &difference) ? ASSAY__NUM_ANY
                                                         : assay__num_from_file(difference);
    return combine(symbols, a, b, -1);
}

int64_t assay__num_mul(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    int64_t number;
    struct assay__poly left, right, product = {.count = 0};
    if (a == 0 || b == 0) return 0; /* whatever the other is */
    if (a == 1) return b;
    if (b == 1) return a;
    if (assay__num_known(a) && assay__num_known(b))
        return assay__mul_i64_overflows(a, b, &number) ? ASSAY__NUM_ANY
                                                       : assay__num_from_file(number);
    if (!assay__symbols_load(symbols, a, &left) || !assay__symbols_load(symbols, b, &right))
        return ASSAY__NUM_ANY;
    for (int i = 0; i < right.count; i++)
        if (!assay__poly_add_scaled(&product, &left, &right.terms[i])) return ASSAY__NUM_ANY;
    return assay__symbols_intern(symbols, &product);
}

static int64_t floor_number(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

int64_t assay__num_exact_div(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    struct assay__poly left, right, quotient;
    if (b == 0 || !assay__symbols_load(symbols, a, &left) ||
        !assay__symbols_load(symbols, b, &right) || !assay__poly_divide(&left, &right, &quotient))
        return ASSAY__NUM_ANY;
    return assay__symbols_intern(symbols, &quotient);
}

/* floor(rest / divisor), rest's coefficients in [0, divisor): cancels common factors and nested
 * divisions. */
static int64_t floor_atom(struct assay__symbols *symbols, struct assay__poly *rest, int64_t divisor)
{
    int64_t common = divisor, constant = 0;
    for (int i = 0; i < rest->count; i++)
        if (rest->terms[i].degree) common = gcd(common, rest->terms[i].coefficient);
    for (int i = rest->count - 1; i >= 0; i--) {
        rest->terms[i].coefficient /= common; /* all are >= 0 */
        if (rest->terms[i].degree == 0) constant = rest->terms[i].coefficient;
        if (rest->terms[i].coefficient == 0) rest->count--; /* only the constant, which is last */
    }
    divisor /= common;
    const struct assay__term *first = &rest->terms[0];
    bool single = rest->count - (constant != 0) == 1 && first->degree == 1 &&
                  first->coefficient == 1;
    const struct assay__atom *inner = single ? &symbols->atoms[first->atoms[0]] : NULL;
    if (inner && inner->kind == ASSAY__ATOM_FLOOR && assay__num_known(inner->b)) {
        int64_t inner_a = inner->a, inner_b = inner->b, both;
        int64_t more = assay__num_mul(symbols, constant, inner_b);
        if (!assay__mul_i64_overflows(inner_b, divisor, &both))
            return assay__num_floor_div(symbols, assay__num_add(symbols, inner_a, more), both);
    }
    bool nonnegative = true;
    for (int i = 0; i < rest->count; i++)
        for (int k = 0; k < rest->terms[i].degree; k++)
            nonnegative = nonnegative && symbols->atoms[rest->terms[i].atoms[k]].nonnegative;
    struct assay__atom atom = {ASSAY__ATOM_FLOOR, nonnegative, "",
                               assay__symbols_intern(symbols, rest), divisor};
    return atom.a == ASSAY__NUM_ANY ? ASSAY__NUM_ANY : assay__symbols_atom(symbols, &atom);
}

static int64_t floor_by_number(struct assay__symbols *symbols, const struct assay__poly *poly,
                               int64_t divisor)
{
    struct assay__poly whole = {.count = 0}, rest = {.count = 0};
    bool fits = true;
    for (int i = 0; i < poly->count && fits; i++) {
        struct assay__term out = poly->terms[i], in = poly->terms[i];
        out.coefficient = floor_number(in.coefficient, divisor);
        in.coefficient -= out.coefficient * divisor;
        fits = assay__poly_add(&whole, &out) && assay__poly_add(&rest, &in);
    }
    if (!fits) return ASSAY__NUM_ANY;
    int64_t left_over = rest.count == 0 || rest.terms[0].degree == 0
                            ? 0
                            : floor_atom(symbols, &rest, divisor);
    return assay__num_add(symbols, assay__symbols_intern(symbols, &whole), left_over);
}

/* Takes the atoms that every term of both has out of both. */
static void cancel_atoms(struct assay__poly *a, struct assay__poly *b)
{
    struct assay__term candidates = a->terms[0];
    for (int i = 0; i < candidates.degree; i++) {
        struct assay__term one = {.coefficient = 1, .degree = 1, .atoms = {candidates.atoms[i]}};
        struct assay__poly divisor = {.count = 1, .terms = {one}}, left, right;
        if (!assay__poly_divide(a, &divisor, &left) || !assay__poly_divide(b, &divisor, &right))
            continue;
        *a = left;
        *b = right;
    }
}

int64_t assay__num_floor_div(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    struct assay__poly left, right, quotient;
    int64_t low_a, low_b;
    if (assay__num_known(b) && b <= 0) return ASSAY__NUM_ANY;
    if (assay__num_known(a) && assay__num_known(b)) return floor_number(a, b);
    if (!assay__symbols_load(symbols, a, &left) || !assay__symbols_load(symbols, b, &right))
        return ASSAY__NUM_ANY;
    if (left.count == 0) return 0;
    if (assay__poly_divide(&left, &right, &quotient))
        return assay__symbols_intern(symbols, &quotient);
    cancel_atoms(&left, &right);
    if (right.count == 1 && right.terms[0].degree == 0)
        return right.terms[0].coefficient > 0
                   ? floor_by_number(symbols, &left, right.terms[0].coefficient)
                   : ASSAY__NUM_ANY;
    bool nonnegative = lower_bound(symbols, &left, &low_a) && low_a >= 0 &&
                       lower_bound(symbols, &right, &low_b) && low_b >= 0;
    struct assay__atom atom = {ASSAY__ATOM_FLOOR, nonnegative, "",
                               assay__symbols_intern(symbols, &left),
                               assay__symbols_intern(symbols, &right)};
    if (atom.a == ASSAY__NUM_ANY || atom.b == ASSAY__NUM_ANY) return ASSAY__NUM_ANY;
    return assay__symbols_atom(symbols, &atom);
}

int64_t assay__num_ceil_div(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    int64_t up = assay__num_sub(symbols, assay__num_add(symbols, a, b), 1);
    return assay__num_floor_div(symbols, up, b);
}

int64_t assay__num_mod(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    int64_t whole = assay__num_floor_div(symbols, a, b);
    return assay__num_sub(symbols, a, assay__num_mul(symbols, whole, b));
}

static bool atom_nonnegative(struct assay__symbols *symbols, int64_t num)
{
    return assay__num_at_least(symbols, num, 0);
}

static int64_t choose(struct assay__symbols *symbols, enum assay__atom_kind kind, int64_t a,
                      int64_t b)
{
    bool least = kind == ASSAY__ATOM_MIN;
    if (a == ASSAY__NUM_ANY || b == ASSAY__NUM_ANY) return ASSAY__NUM_ANY;
    if (assay__num_at_least(symbols, a, b)) return least ? b : a;
    if (assay__num_at_least(symbols, b, a)) return least ? a : b;
    bool positive_a = atom_nonnegative(symbols, a), positive_b = atom_nonnegative(symbols, b);
    struct assay__atom atom = {kind, least ? positive_a && positive_b : positive_a || positive_b,
                               "", a < b ? a : b, a < b ? b : a};
    return assay__symbols_atom(symbols, &atom);
}

int64_t assay__num_min(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    return choose(symbols, ASSAY__ATOM_MIN, a, b);
}

int64_t assay__num_max(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    return choose(symbols, ASSAY__ATOM_MAX, a, b);
}
