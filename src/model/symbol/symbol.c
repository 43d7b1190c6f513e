/* symbol.c - symbolic integers: polynomials with integer coefficients over atoms, in one canonical
 * form, interned, so that equal ones have equal codes.
 *
 * An atom is a named symbol or an opaque term: floor(p / q), min(p, q), max(p, q). A monomial is a
 * coefficient and its atoms, sorted, repeated for powers; a polynomial is its monomials in graded
 * lexicographic order, largest first, so that two equal polynomials are the same bytes and division
 * is ordinary long division by the leading term.
 *
 * floor(p / c) for a number c has a canonical form too: multiples of c are factored out of every
 * coefficient (the rest has coefficients in [0, c)), common factors are cancelled, and
 * floor((floor(p / a) + k) / b) is floor((p + k a) / (a b)). ceil(p / c) is floor((p + c - 1) / c);
 * p mod c is p - c floor(p / c).
 *
 * Limits: TERMS_MOST terms, degree DEGREE_MOST, ATOMS_MOST atoms, ASSAY__NUM_CODES expressions;
 * beyond them the result is "unknown". */
#include "model/symbol/symbol.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/checked.h"
#include "base/map.h"
#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MOST 16
#define DEGREE_MOST 6
#define ATOMS_MOST 4096

struct term {
    int64_t coefficient;
    int32_t degree;
    int32_t atoms[DEGREE_MOST]; /* ascending; unused ones are 0 */
};

struct poly {
    int count;
    struct term terms[TERMS_MOST];
};

enum atom_kind { ATOM_NAME, ATOM_FLOOR, ATOM_MIN, ATOM_MAX };

struct atom {
    enum atom_kind kind;
    bool nonnegative;
    const char *name;
    int64_t a, b; /* operands of an opaque term */
};

struct expression {
    int count;
    const struct term *terms;
    uint32_t hash;
    const char *text; /* made when it is asked for */
};

struct assay__symbols {
    struct assay__arena *arena;
    struct assay__map *names; /* text -> expression */
    struct expression *expressions;
    size_t count, capacity;
    uint32_t *slots; /* expression + 1, open addressing */
    size_t slot_count;
    struct atom *atoms;
    size_t atom_count, atom_capacity;
};

/* --- polynomials ------------------------------------------------------------------------------ */

/* Graded lexicographic: > 0 if a is the larger monomial. */
static int compare_terms(const struct term *a, const struct term *b)
{
    if (a->degree != b->degree) return a->degree > b->degree ? 1 : -1;
    for (int i = 0; i < a->degree; i++)
        if (a->atoms[i] != b->atoms[i]) return a->atoms[i] < b->atoms[i] ? 1 : -1;
    return 0;
}

/* These return false if the result does not fit: too many terms, too high a degree, an overflow. */
static bool add_term(struct poly *poly, const struct term *term)
{
    int at = 0, order = 1;
    if (term->coefficient == 0) return true;
    while (at < poly->count && (order = compare_terms(&poly->terms[at], term)) > 0)
        at++;
    if (at < poly->count && order == 0) {
        struct term *mine = &poly->terms[at];
        if (assay__add_i64_overflows(mine->coefficient, term->coefficient, &mine->coefficient))
            return false;
        if (mine->coefficient) return true;
        memmove(mine, mine + 1, (size_t)(poly->count - at - 1) * sizeof *mine);
        poly->count--;
        return true;
    }
    if (poly->count == TERMS_MOST) return false;
    memmove(&poly->terms[at + 1], &poly->terms[at], (size_t)(poly->count - at) * sizeof *term);
    poly->terms[at] = *term;
    poly->count++;
    return true;
}

/* a / b if b's atoms are among a's and the coefficient divides. */
static bool divide_terms(const struct term *a, const struct term *b, struct term *out)
{
    struct term quotient = {.degree = 0};
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

/* poly += factor * other */
static bool add_scaled(struct poly *poly, const struct poly *other, const struct term *factor)
{
    for (int n = 0; n < other->count; n++) {
        const struct term *term = &other->terms[n];
        struct term product = {.degree = term->degree + factor->degree};
        int i = 0, k = 0;
        if (product.degree > DEGREE_MOST ||
            assay__mul_i64_overflows(term->coefficient, factor->coefficient, &product.coefficient))
            return false;
        for (int at = 0; at < product.degree; at++) { /* the atoms of both, in order */
            bool first = k >= factor->degree ||
                         (i < term->degree && term->atoms[i] <= factor->atoms[k]);
            product.atoms[at] = first ? term->atoms[i++] : factor->atoms[k++];
        }
        if (!add_term(poly, &product)) return false;
    }
    return true;
}

/* out = a / b; false also if there is a remainder. */
static bool divide(const struct poly *a, const struct poly *b, struct poly *out)
{
    struct poly rest = *a;
    out->count = 0;
    if (b->count == 0) return false;
    for (int step = 0; rest.count && step < 2 * TERMS_MOST; step++) {
        struct term term;
        if (!divide_terms(&rest.terms[0], &b->terms[0], &term) || !add_term(out, &term))
            return false;
        if (term.coefficient == INT64_MIN) return false;
        term.coefficient = -term.coefficient;
        if (!add_scaled(&rest, b, &term)) return false;
    }
    return rest.count == 0;
}

/* --- the table -------------------------------------------------------------------------------- */

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

static uint32_t hash_terms(const struct term *terms, int count)
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

static bool same_terms(const struct expression *expression, const struct poly *poly)
{
    if (expression->count != poly->count) return false;
    for (int i = 0; i < poly->count; i++)
        if (expression->terms[i].coefficient != poly->terms[i].coefficient ||
            compare_terms(&expression->terms[i], &poly->terms[i]) != 0)
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

/* The polynomial as a num. */
static int64_t intern(struct assay__symbols *symbols, const struct poly *poly)
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
    size_t bytes = (size_t)poly->count * sizeof(struct term);
    struct term *terms = assay__arena_alloc(symbols->arena, bytes);
    if (!terms || assay__vec_grow((void **)&symbols->expressions, &symbols->capacity,
                                  symbols->count + 1, sizeof *symbols->expressions))
        return ASSAY__NUM_ANY;
    memcpy(terms, poly->terms, bytes);
    symbols->expressions[symbols->count] = (struct expression){poly->count, terms, hash, NULL};
    symbols->slots[at] = (uint32_t)symbols->count + 1;
    int64_t num = ASSAY__NUM_CODE + (int64_t)symbols->count++;
    /* A table that cannot grow only gets slower, until it is full. */
    if (symbols->count * 2 > symbols->slot_count && !grow_slots(symbols) &&
        symbols->count + 1 >= symbols->slot_count)
        symbols->count = (size_t)ASSAY__NUM_CODES;
    return num;
}

/* NULL: a number, or unknown. Valid until the next expression is interned. */
static const struct expression *expression_of(const struct assay__symbols *symbols, int64_t num)
{
    if (!assay__num_symbolic(num)) return NULL;
    size_t index = (size_t)(num - ASSAY__NUM_CODE);
    return index < symbols->count ? &symbols->expressions[index] : NULL;
}

/* The num as a polynomial; false: unknown. */
static bool load(const struct assay__symbols *symbols, int64_t num, struct poly *poly)
{
    const struct expression *expression = expression_of(symbols, num);
    poly->count = 0;
    if (expression) {
        poly->count = expression->count;
        memcpy(poly->terms, expression->terms, (size_t)poly->count * sizeof poly->terms[0]);
        return true;
    }
    if (!assay__num_known(num)) return false;
    struct term constant = {.coefficient = num};
    return add_term(poly, &constant);
}

/* The atom as a num; equal opaque terms are one atom. */
static int64_t intern_atom(struct assay__symbols *symbols, const struct atom *atom)
{
    size_t index = 0;
    struct poly poly = {.count = 1};
    for (; atom->kind != ATOM_NAME && index < symbols->atom_count; index++) {
        const struct atom *other = &symbols->atoms[index];
        if (other->kind == atom->kind && other->a == atom->a && other->b == atom->b) break;
    }
    if (atom->kind == ATOM_NAME) index = symbols->atom_count;
    if (index == symbols->atom_count) {
        if (index >= ATOMS_MOST ||
            assay__vec_grow((void **)&symbols->atoms, &symbols->atom_capacity, index + 1,
                            sizeof *symbols->atoms))
            return ASSAY__NUM_ANY;
        symbols->atoms[symbols->atom_count++] = *atom;
    }
    poly.terms[0] = (struct term){.coefficient = 1, .degree = 1, .atoms = {(int32_t)index}};
    return intern(symbols, &poly);
}

/* --- bounds ----------------------------------------------------------------------------------- */

/* A provable lower bound: the constant term, if nothing is subtracted. */
static bool lower_bound(const struct assay__symbols *symbols, const struct poly *poly, int64_t *low)
{
    *low = 0;
    for (int i = 0; i < poly->count; i++) {
        const struct term *term = &poly->terms[i];
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
    struct poly poly;
    int64_t low;
    if (assay__num_known(a) && assay__num_known(b)) return a >= b;
    return load(symbols, assay__num_sub(symbols, a, b), &poly) &&
           lower_bound(symbols, &poly, &low) && low >= 0;
}

bool assay__num_plain(const struct assay__symbols *symbols, int64_t num)
{
    const struct expression *expression = expression_of(symbols, num);
    return expression && expression->count == 1 && expression->terms[0].degree == 1 &&
           expression->terms[0].coefficient == 1 &&
           symbols->atoms[expression->terms[0].atoms[0]].kind == ATOM_NAME;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static int64_t combine(struct assay__symbols *symbols, int64_t a, int64_t b, int64_t factor)
{
    struct poly sum, other;
    struct term scale = {.coefficient = factor};
    if (!load(symbols, a, &sum) || !load(symbols, b, &other) || !add_scaled(&sum, &other, &scale))
        return ASSAY__NUM_ANY;
    return intern(symbols, &sum);
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
    struct poly left, right, product = {.count = 0};
    if (a == 0 || b == 0) return 0; /* whatever the other is */
    if (a == 1) return b;
    if (b == 1) return a;
    if (assay__num_known(a) && assay__num_known(b))
        return assay__mul_i64_overflows(a, b, &number) ? ASSAY__NUM_ANY
                                                       : assay__num_from_file(number);
    if (!load(symbols, a, &left) || !load(symbols, b, &right)) return ASSAY__NUM_ANY;
    for (int i = 0; i < right.count; i++)
        if (!add_scaled(&product, &left, &right.terms[i])) return ASSAY__NUM_ANY;
    return intern(symbols, &product);
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
    struct poly left, right, quotient;
    if (b == 0 || !load(symbols, a, &left) || !load(symbols, b, &right) ||
        !divide(&left, &right, &quotient))
        return ASSAY__NUM_ANY;
    return intern(symbols, &quotient);
}

/* floor(rest / divisor), rest's coefficients in [0, divisor): cancels common factors and nested
 * divisions. */
static int64_t floor_atom(struct assay__symbols *symbols, struct poly *rest, int64_t divisor)
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
    const struct term *first = &rest->terms[0];
    bool single = rest->count - (constant != 0) == 1 && first->degree == 1 &&
                  first->coefficient == 1;
    const struct atom *inner = single ? &symbols->atoms[first->atoms[0]] : NULL;
    if (inner && inner->kind == ATOM_FLOOR && assay__num_known(inner->b)) {
        int64_t inner_a = inner->a, inner_b = inner->b, both;
        int64_t more = assay__num_mul(symbols, constant, inner_b);
        if (!assay__mul_i64_overflows(inner_b, divisor, &both))
            return assay__num_floor_div(symbols, assay__num_add(symbols, inner_a, more), both);
    }
    bool nonnegative = true;
    for (int i = 0; i < rest->count; i++)
        for (int k = 0; k < rest->terms[i].degree; k++)
            nonnegative = nonnegative && symbols->atoms[rest->terms[i].atoms[k]].nonnegative;
    struct atom atom = {ATOM_FLOOR, nonnegative, "", intern(symbols, rest), divisor};
    return atom.a == ASSAY__NUM_ANY ? ASSAY__NUM_ANY : intern_atom(symbols, &atom);
}

static int64_t floor_by_number(struct assay__symbols *symbols, const struct poly *poly,
                               int64_t divisor)
{
    struct poly whole = {.count = 0}, rest = {.count = 0};
    bool fits = true;
    for (int i = 0; i < poly->count && fits; i++) {
        struct term out = poly->terms[i], in = poly->terms[i];
        out.coefficient = floor_number(in.coefficient, divisor);
        in.coefficient -= out.coefficient * divisor;
        fits = add_term(&whole, &out) && add_term(&rest, &in);
    }
    if (!fits) return ASSAY__NUM_ANY;
    int64_t left_over = rest.count == 0 || rest.terms[0].degree == 0
                            ? 0
                            : floor_atom(symbols, &rest, divisor);
    return assay__num_add(symbols, intern(symbols, &whole), left_over);
}

int64_t assay__num_floor_div(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    struct poly left, right, quotient;
    int64_t low_a, low_b;
    if (assay__num_known(b) && b <= 0) return ASSAY__NUM_ANY;
    if (assay__num_known(a) && assay__num_known(b)) return floor_number(a, b);
    if (!load(symbols, a, &left) || !load(symbols, b, &right)) return ASSAY__NUM_ANY;
    if (left.count == 0) return 0;
    if (divide(&left, &right, &quotient)) return intern(symbols, &quotient);
    struct term candidates = left.terms[0];
    for (int i = 0; i < candidates.degree;
         i++) { /* cancels the atoms that every term of both has */
        struct term one = {.coefficient = 1, .degree = 1, .atoms = {candidates.atoms[i]}};
        struct poly divisor = {.count = 1, .terms = {one}}, rest_left, rest_right;
        if (!divide(&left, &divisor, &rest_left) || !divide(&right, &divisor, &rest_right))
            continue;
        left = rest_left;
        right = rest_right;
    }
    if (right.count == 1 && right.terms[0].degree == 0)
        return right.terms[0].coefficient > 0
                   ? floor_by_number(symbols, &left, right.terms[0].coefficient)
                   : ASSAY__NUM_ANY;
    bool nonnegative = lower_bound(symbols, &left, &low_a) && low_a >= 0 &&
                       lower_bound(symbols, &right, &low_b) && low_b >= 0;
    struct atom atom = {ATOM_FLOOR, nonnegative, "", intern(symbols, &left),
                        intern(symbols, &right)};
    if (atom.a == ASSAY__NUM_ANY || atom.b == ASSAY__NUM_ANY) return ASSAY__NUM_ANY;
    return intern_atom(symbols, &atom);
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

static int64_t choose(struct assay__symbols *symbols, enum atom_kind kind, int64_t a, int64_t b)
{
    bool least = kind == ATOM_MIN;
    if (a == ASSAY__NUM_ANY || b == ASSAY__NUM_ANY) return ASSAY__NUM_ANY;
    if (assay__num_at_least(symbols, a, b)) return least ? b : a;
    if (assay__num_at_least(symbols, b, a)) return least ? a : b;
    bool positive_a = assay__num_at_least(symbols, a, 0);
    bool positive_b = assay__num_at_least(symbols, b, 0);
    struct atom atom = {kind, least ? positive_a && positive_b : positive_a || positive_b, "",
                        a < b ? a : b, a < b ? b : a};
    return intern_atom(symbols, &atom);
}

int64_t assay__num_min(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    return choose(symbols, ATOM_MIN, a, b);
}

int64_t assay__num_max(struct assay__symbols *symbols, int64_t a, int64_t b)
{
    return choose(symbols, ATOM_MAX, a, b);
}

/* --- from text -------------------------------------------------------------------------------- */

static int64_t named(struct assay__symbols *symbols, const char *name, size_t length)
{
    char *key = assay__arena_strndup(symbols->arena, name, length);
    if (!key) return ASSAY__NUM_ANY;
    size_t index = assay__map_get(symbols->names, key);
    if (index != ASSAY__MAP_NONE) return ASSAY__NUM_CODE + (int64_t)index;
    int64_t num = intern_atom(symbols, &(struct atom){ATOM_NAME, true, key, 0, 0});
    if (num != ASSAY__NUM_ANY &&
        assay__map_set(symbols->names, key, (size_t)(num - ASSAY__NUM_CODE)))
        return ASSAY__NUM_ANY;
    return num;
}

/* A name, or a sum of products of names, numbers and parentheses with + - * and //, as exporters
 * write dimensions. Without a table the names are looked up and the result is a number. Limits: 16
 * nested parentheses, 255 characters for an expression. */
struct parser {
    struct assay__symbols *symbols; /* NULL: names are looked up */
    assay__symbol_value *value;
    void *context;
    const char *at;
    bool failed;
    int depth;
};

static void skip_spaces(struct parser *parser)
{
    while (*parser->at == ' ')
        parser->at++;
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int64_t parse_sum(struct parser *parser);

static int64_t parse_atom(struct parser *parser)
{
    skip_spaces(parser);
    const char *start = parser->at;
    if (*start == '(' && parser->depth < 16) {
        parser->at++;
        parser->depth++;
        int64_t inner = parse_sum(parser);
        parser->depth--;
        skip_spaces(parser);
        if (*parser->at == ')')
            parser->at++;
        else
            parser->failed = true;
        return inner;
    }
    if (*start >= '0' && *start <= '9') {
        char *end;
        int64_t number = (int64_t)strtoll(start, &end, 10);
        parser->at = end;
        return assay__num_from_file(number);
    }
    while (letter(*parser->at) || (*parser->at >= '0' && *parser->at <= '9') || *parser->at == '.')
        parser->at++;
    if (parser->at == start || !letter(*start)) {
        parser->failed = true;
        return ASSAY__NUM_ANY;
    }
    size_t length = (size_t)(parser->at - start);
    if (!parser->symbols) return parser->value(parser->context, start, length);
    return named(parser->symbols, start, length);
}

/* Without a table there are only numbers, and anything computed from an unknown one is unknown. */
static int64_t apply(const struct parser *parser, char sign, int64_t a, int64_t b)
{
    if (!parser->symbols && !(assay__num_known(a) && assay__num_known(b))) return ASSAY__NUM_ANY;
    switch (sign) {
    case '+': return assay__num_add(parser->symbols, a, b);
    case '-': return assay__num_sub(parser->symbols, a, b);
    case '*': return assay__num_mul(parser->symbols, a, b);
    default: return assay__num_floor_div(parser->symbols, a, b);
    }
}

static int64_t parse_product(struct parser *parser)
{
    int64_t value = parse_atom(parser);
    for (;;) {
        skip_spaces(parser);
        bool divide = parser->at[0] == '/' && parser->at[1] == '/';
        if (parser->failed || (!divide && *parser->at != '*')) return value;
        parser->at += divide ? 2 : 1;
        value = apply(parser, divide ? '/' : '*', value, parse_atom(parser));
    }
}

static int64_t parse_sum(struct parser *parser)
{
    int64_t value = parse_product(parser);
    for (;;) {
        skip_spaces(parser);
        char sign = *parser->at;
        if (parser->failed || (sign != '+' && sign != '-')) return value;
        parser->at++;
        value = apply(parser, sign, value, parse_product(parser));
    }
}

/* false: not an expression as a whole ("x=1+1"). */
static bool parse_whole(struct parser *parser, int64_t *value)
{
    *value = parse_sum(parser);
    skip_spaces(parser);
    return !parser->failed && !*parser->at;
}

int64_t assay__num_symbol(struct assay__symbols *symbols, const char *text)
{
    struct parser parser = {.symbols = symbols, .at = text};
    int64_t value;
    if (!*text) return ASSAY__NUM_ANY;
    size_t index = assay__map_get(symbols->names, text);
    if (index != ASSAY__MAP_NONE) return ASSAY__NUM_CODE + (int64_t)index;
    if (assay__symbol_is_expression(text) && parse_whole(&parser, &value) &&
        assay__num_symbolic(value))
        return value;
    return named(symbols, text, strlen(text));
}

static int64_t count_name(void *context, const char *name, size_t length)
{
    size_t *count = context;
    ++*count;
    return *name && length ? 1 : 0;
}

bool assay__symbol_is_expression(const char *text)
{
    size_t names = 0;
    struct parser parser = {.value = count_name, .context = &names, .at = text};
    int64_t value;
    /* "batch-size" is a name; "a + b", "a+b", "a - b", "2*a" and "a//2" are expressions, as
     * exporters write them */
    bool arithmetic = strchr(text, '+') || strstr(text, " - ") || strchr(text, '*') ||
                      strstr(text, "//");
    return arithmetic && strlen(text) < 256 && parse_whole(&parser, &value) && names > 0;
}

int64_t assay__symbol_evaluate(const char *text, assay__symbol_value *value, void *context)
{
    struct parser parser = {.value = value, .context = context, .at = text};
    int64_t number;
    return parse_whole(&parser, &number) ? number : ASSAY__NUM_ANY;
}

const char *assay__symbol_fix(struct assay__arena *arena, const char *text, const char *name,
                              int64_t value)
{
    struct assay__buf buf = {.data = NULL};
    bool found = false;
    if (!assay__symbol_is_expression(text)) return text;
    for (const char *at = text; *at;) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '.')
            length++;
        bool same = length == strlen(name) && strncmp(at, name, length) == 0;
        found = found || same;
        if (length == 0) length = 1;
        if (same)
            assay__buf_printf(&buf, "%lld", (long long)value);
        else
            assay__buf_add(&buf, at, length);
        at += length;
    }
    const char *fixed = !found ? text : assay__buf_keep(&buf, arena);
    assay__buf_free(&buf);
    return fixed;
}

/* --- as text ---------------------------------------------------------------------------------- */

static void put_num(struct assay__symbols *symbols, struct assay__buf *buf, int64_t num, bool group)
{
    const struct expression *expression = expression_of(symbols, num);
    bool wrap = group && expression && expression->count > 1;
    if (wrap) assay__buf_putc(buf, '(');
    if (expression)
        assay__buf_puts(buf, assay__num_text(symbols, num));
    else
        assay__buf_printf(buf, "%lld", (long long)num);
    if (wrap) assay__buf_putc(buf, ')');
}

/* The text of one term without its sign. */
static char *term_text(struct assay__symbols *symbols, const struct term *term)
{
    struct assay__buf buf = {0};
    uint64_t size = term->coefficient < 0 ? 0 - (uint64_t)term->coefficient
                                          : (uint64_t)term->coefficient;
    if (size != 1 || term->degree == 0) assay__buf_printf(&buf, "%llu", (unsigned long long)size);
    for (int i = 0; i < term->degree; i++) {
        const struct atom atom = symbols->atoms[term->atoms[i]];
        bool floor = atom.kind == ATOM_FLOOR;
        if (buf.length) assay__buf_putc(&buf, '*');
        if (atom.kind == ATOM_NAME) {
            assay__buf_puts(&buf, atom.name);
            continue;
        }
        assay__buf_puts(&buf, floor ? "floor(" : atom.kind == ATOM_MIN ? "min(" : "max(");
        put_num(symbols, &buf, atom.a, floor);
        assay__buf_puts(&buf, floor ? "/" : ", ");
        put_num(symbols, &buf, atom.b, floor);
        assay__buf_putc(&buf, ')');
    }
    return assay__buf_keep(&buf, symbols->arena);
}

/* Added terms before subtracted ones, the constant last, else larger degrees first and then by
 * text: so that the text does not depend on which symbol was seen first. */
static bool before(const struct term *a, const char *a_text, const struct term *b,
                   const char *b_text)
{
    if ((a->degree == 0) != (b->degree == 0)) return b->degree == 0;
    if ((a->coefficient < 0) != (b->coefficient < 0)) return b->coefficient < 0;
    if (a->degree != b->degree) return a->degree > b->degree;
    return strcmp(a_text, b_text) < 0;
}

const char *assay__num_text(struct assay__symbols *symbols, int64_t num)
{
    const struct expression *found = expression_of(symbols, num);
    if (!found) return "";
    if (found->text) return found->text;
    const struct term *terms = found->terms;
    int count = found->count, order[TERMS_MOST] = {0};
    const char *texts[TERMS_MOST] = {NULL};
    struct assay__buf buf = {0};
    for (int i = 0; i < count; i++) {
        if (!(texts[i] = term_text(symbols, &terms[i]))) return "";
        int at = i;
        for (; at > 0 && before(&terms[i], texts[i], &terms[order[at - 1]], texts[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < count; i++) {
        bool minus = terms[order[i]].coefficient < 0;
        if (i)
            assay__buf_puts(&buf, minus ? " - " : " + ");
        else if (minus)
            assay__buf_putc(&buf, '-');
        assay__buf_puts(&buf, texts[order[i]]);
    }
    const char *text = assay__buf_keep(&buf, symbols->arena);
    if (text) symbols->expressions[num - ASSAY__NUM_CODE].text = text;
    return text ? text : "";
}
