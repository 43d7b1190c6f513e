/* symbol.h - integers that may be known, unknown, or an expression over the symbols of a model
 * ("batch", "past + seq").
 *
 * A `num` is an int64_t: a number, ASSAY__NUM_ANY (unknown), or a code for an interned expression;
 * the codes are in a range that no file uses (near INT64_MIN), and assay__num_known distinguishes
 * them. A `dim` is what shape entries have: >= 0 a number, -1 unknown, <= -2 an expression. Equal
 * expressions have equal codes. Symbols are sizes: never negative. Nothing fails: what overflows,
 * has too many terms or cannot be expressed is ASSAY__NUM_ANY. */
#ifndef ASSAY_MODEL_SYMBOL_SYMBOL_H
#define ASSAY_MODEL_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__NUM_ANY (INT64_MIN + 23117) /* unlikely in a file */
#define ASSAY__NUM_CODE (INT64_MIN + (INT64_C(1) << 40))
#define ASSAY__NUM_CODES (INT64_C(1) << 20)

struct assay__symbols;

struct assay__symbols *assay__symbols_new(void); /* NULL: out of memory */
void assay__symbols_free(struct assay__symbols *symbols);

static inline bool assay__num_symbolic(int64_t num)
{
    return num >= ASSAY__NUM_CODE && num < ASSAY__NUM_CODE + ASSAY__NUM_CODES;
}
static inline bool assay__num_known(int64_t num)
{
    return num != ASSAY__NUM_ANY && !assay__num_symbolic(num);
}
/** A number from a file, which must not be mistaken for a code. */
static inline int64_t assay__num_from_file(int64_t number)
{
    return assay__num_known(number) ? number : ASSAY__NUM_ANY;
}
static inline int64_t assay__num_of_dim(int64_t dim)
{
    if (dim >= 0) return dim;
    return dim == -1 || dim < -1 - ASSAY__NUM_CODES ? ASSAY__NUM_ANY : ASSAY__NUM_CODE - 2 - dim;
}
static inline int64_t assay__dim_of_num(int64_t num)
{
    if (assay__num_symbolic(num)) return -2 - (num - ASSAY__NUM_CODE);
    return num >= 0 ? num : -1;
}

/** The symbol with this name, or the expression in the text ("past + seq", "2*s0", "(s0//2) +
 * 1"). */
int64_t assay__num_symbol(struct assay__symbols *symbols, const char *text);
/** Whether the whole text is an expression over names: "2*batch", "past + seq", "(s0//2) + 1"; not
 * "batch-size", "x=1+1". */
bool assay__symbol_is_expression(const char *text);
/** The value of a name (not terminated); ASSAY__NUM_ANY if it is unknown. */
typedef int64_t assay__symbol_value(void *context, const char *name, size_t length);
/** The value of an expression; ASSAY__NUM_ANY if one of its names is unknown, it overflows, or the
 * text is not an expression. */
int64_t assay__symbol_evaluate(const char *text, assay__symbol_value *value, void *context);
/** The expression with a number instead of a name ("batch*seq" with batch 2 is "2*seq"), in the
 * arena; the text itself if it is not an expression or lacks the name; NULL: out of memory. */
struct assay__arena;
const char *assay__symbol_fix(struct assay__arena *arena, const char *text, const char *name,
                              int64_t value);

int64_t assay__num_add(struct assay__symbols *symbols, int64_t a, int64_t b);
int64_t assay__num_sub(struct assay__symbols *symbols, int64_t a, int64_t b);
int64_t assay__num_mul(struct assay__symbols *symbols, int64_t a, int64_t b);
int64_t assay__num_floor_div(struct assay__symbols *symbols, int64_t a, int64_t b); /* b > 0 */
int64_t assay__num_ceil_div(struct assay__symbols *symbols, int64_t a, int64_t b);  /* b > 0 */
int64_t assay__num_exact_div(struct assay__symbols *symbols, int64_t a,
                             int64_t b); /* ANY when not exact */
int64_t assay__num_mod(struct assay__symbols *symbols, int64_t a, int64_t b); /* a >= 0, b > 0 */
int64_t assay__num_min(struct assay__symbols *symbols, int64_t a, int64_t b);
int64_t assay__num_max(struct assay__symbols *symbols, int64_t a, int64_t b);
/** Provably a >= b. */
bool assay__num_at_least(struct assay__symbols *symbols, int64_t a, int64_t b);
/** Whether it is one named symbol (no arithmetic). */
bool assay__num_plain(const struct assay__symbols *symbols, int64_t num);

/** Text of an expression; "" for anything else. Lives as long as the symbols. */
const char *assay__num_text(struct assay__symbols *symbols, int64_t num);

#endif
