/* inputs_symbol.c - the symbolic dimensions of a workload: the meaning of their names, and values
 * for those that no option fixed.
 *
 * A name that is an expression as a whole ("2*batch", "past + seq", "(s0//2) + 1") is computed from
 * its names, which are symbols too, whether or not a dimension has that name. If an option fixes it
 * and one name in it is open, that name gets the smallest value that matches. A plain symbol that
 * is still open is guessed (inputs_guess.c), the first of them first, with a note; one named
 * "total…" is past + sequence if these exist. A contradiction is an error. */
#include "model/inputs/inputs_plan.h"

#include "base/checked.h"
#include "model/symbol/symbol.h"

#include <ctype.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

bool assay__name_has(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (; *name; name++) {
        size_t i = 0;
        while (i < length && name[i] && tolower((unsigned char)name[i]) == word[i])
            i++;
        if (i == length) return true;
    }
    return false;
}

bool assay__name_is(const char *name, const char *word)
{
    return strlen(name) == strlen(word) && assay__name_has(name, word);
}

bool assay__name_like_past(const char *symbol)
{
    return assay__name_has(symbol, "past") || assay__name_has(symbol, "total") ||
           assay__name_has(symbol, "cache") || assay__symbol_is_expression(symbol);
}

bool assay__name_like_sequence(const char *symbol)
{
    static const char *const whole[] = {"t", "s", "l", "len", "length", "time", "steps"};
    static const char *const part[] = {"seq",       "token",   "timestep",
                                       "time_step", "max_len", "num_frames"};
    if (assay__name_like_past(symbol) || assay__name_has(symbol, "batch")) return false;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        if (assay__name_is(symbol, whole[i])) return true;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (assay__name_has(symbol, part[i])) return true;
    return false;
}

bool assay__name_like_rate(const char *name)
{
    return assay__name_is(name, "sr") || assay__name_has(name, "sample_rate") ||
           assay__name_has(name, "sampling_rate") || assay__name_has(name, "samplerate");
}

/* --- expressions ------------------------------------------------------------------------------ */

struct lookup {
    struct assay__plan_symbols *symbols;
    struct assay__plan_symbol *open; /* the last name without a value */
    size_t open_count; /* maximum of different ones; repetitions of the last one count once */
    const struct assay__plan_symbol *tried;
    int64_t trial;
};

struct assay__plan_symbol *assay__plan_find(struct assay__plan_symbols *symbols, const char *name,
                                            size_t length)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const char *known = symbols->items[i].name;
        if (strncmp(known, name, length) == 0 && !known[length]) return &symbols->items[i];
    }
    return NULL;
}

static int64_t look_up(void *context, const char *name, size_t length)
{
    struct lookup *lookup = context;
    struct assay__plan_symbol *symbol = assay__plan_find(lookup->symbols, name, length);
    if (!symbol) return ASSAY__NUM_ANY;
    if (symbol == lookup->tried) return lookup->trial;
    if (symbol->value >= 0) return symbol->value;
    lookup->open_count += symbol != lookup->open;
    lookup->open = symbol;
    return ASSAY__NUM_ANY;
}

static int64_t evaluate(struct lookup *lookup, const struct assay__plan_symbol *expression)
{
    lookup->open = NULL;
    lookup->open_count = 0;
    return assay__symbol_evaluate(expression->name, look_up, lookup);
}

struct adding {
    struct assay__plan_symbols *symbols;
    struct assay__arena *arena;
    bool no_memory;
};

static int64_t add_name(void *context, const char *name, size_t length)
{
    struct adding *adding = context;
    if (!assay__plan_find(adding->symbols, name, length)) {
        char *copy = assay__arena_strndup(adding->arena, name, length);
        adding->no_memory = adding->no_memory || assay__plan_add_symbol(adding->symbols, copy);
    }
    return 1;
}

int assay__plan_add_symbol(struct assay__plan_symbols *symbols, const char *name)
{
    if (!name || symbols->count == symbols->capacity) return ASSAY_ENOMEM;
    symbols->items[symbols->count++] = (struct assay__plan_symbol){
        .name = name, .value = -1, .by = "", .expression = assay__symbol_is_expression(name)};
    return 0;
}

int assay__plan_add_names(struct assay__plan_symbols *symbols, struct assay__arena *arena)
{
    struct adding adding = {symbols, arena, false};
    size_t stated = symbols->count;
    for (size_t i = 0; i < stated && !adding.no_memory; i++)
        if (symbols->items[i].expression)
            assay__symbol_evaluate(symbols->items[i].name, add_name, &adding);
    return adding.no_memory ? ASSAY_ENOMEM : 0;
}

/* --- what is still open ----------------------------------------------------------------------- */

int assay__plan_note(struct assay__workload *workload, struct assay__note_subject subject,
                     const char *note)
{
    if (!note) return ASSAY_ENOMEM;
    workload->note_subjects[workload->note_count] = subject;
    workload->notes[workload->note_count++] = note;
    return 0;
}

static int note_value(struct assay__workload *workload, const struct assay__plan_symbol *symbol)
{
    const char *note = assay__arena_printf(workload->arena,
                                           "symbolic dimension '%s' follows from others: %lld",
                                           symbol->name, (long long)symbol->value);
    return assay__plan_note(workload, (struct assay__note_subject){symbol->name, "", 0, "", 0},
                            note);
}

/* The smallest value of `open` that gives the expression its fixed value, for expressions that grow
 * with it; -1: none. */
static int64_t solve(struct lookup *lookup, const struct assay__plan_symbol *expression,
                     const struct assay__plan_symbol *open)
{
    int64_t low = 0, high = (int64_t)1 << 40;
    lookup->tried = open;
    while (low < high) {
        lookup->trial = low + (high - low) / 2;
        int64_t made = evaluate(lookup, expression);
        if (made == ASSAY__NUM_ANY || made >= expression->value)
            high = lookup->trial;
        else
            low = lookup->trial + 1;
    }
    lookup->trial = low;
    bool fits = evaluate(lookup, expression) == expression->value;
    lookup->tried = NULL;
    return fits ? low : -1;
}

/* One expression that can be computed from its names, or determines one of them. *more: something
 * was determined. */
static int follow_one(struct lookup *lookup, struct assay__plan_symbol *symbol,
                      struct assay__workload *workload, bool *more, struct assay_error *error)
{
    int64_t made = evaluate(lookup, symbol);
    if (lookup->open_count == 0 && (made == ASSAY__NUM_ANY || made < 0))
        return assay_error_set(
            error, ASSAY_EINVAL,
            "dimension '%.80s' is not a valid size with the values of its symbols", symbol->name);
    if (lookup->open_count == 0 && symbol->value >= 0 && symbol->value != made)
        return assay_error_set(error, ASSAY_EINVAL,
                               "dimension '%.80s' is %lld by %s, but %lld follows from the others",
                               symbol->name, (long long)symbol->value, symbol->by, (long long)made);
    if (lookup->open_count == 0 && symbol->value < 0) {
        symbol->value = made;
        *more = true;
        return note_value(workload, symbol);
    }
    struct assay__plan_symbol *open = lookup->open;
    if (lookup->open_count != 1 || symbol->value < 0) return 0;
    int64_t value = solve(lookup, symbol, open);
    if (value < 0) return 0; /* what it becomes will contradict it */
    open->value = value;
    open->by = symbol->by;
    *more = true;
    return 0;
}

static int follow(struct assay__plan_symbols *symbols, struct assay__workload *workload,
                  struct assay_error *error)
{
    struct lookup lookup = {.symbols = symbols};
    int code = 0;
    for (bool more = true; more && !code;) {
        more = false;
        for (size_t i = 0; i < symbols->count && !code; i++)
            if (symbols->items[i].expression)
                code = follow_one(&lookup, &symbols->items[i], workload, &more, error);
    }
    return code;
}

/* The guess, or, for a "total", past and sequence lengths if these exist. */
static int default_one(struct assay__plan_symbols *symbols, struct assay__plan_symbol *symbol,
                       struct assay__workload *workload, struct assay_error *error)
{
    int64_t past = -1, sequence = -1, total = 0;
    for (size_t i = 0; i < symbols->count && assay__name_has(symbol->name, "total"); i++) {
        const struct assay__plan_symbol *other = &symbols->items[i];
        if (assay__name_has(other->name, "past")) past = other->value;
        if (assay__name_like_sequence(other->name)) sequence = other->value;
    }
    bool sum = past >= 0 && sequence >= 0 && !assay__add_i64_overflows(past, sequence, &total);
    if (sum) {
        symbol->value = total;
        return note_value(workload, symbol);
    }
    const struct assay__guess *guess = &symbol->guess;
    if (guess->size < 0) {
        int code = assay_error_set(
            error, ASSAY_EINVAL,
            "the size of dimension '%.80s' is unknown: give it, such as %.80s=16", symbol->name,
            symbol->name);
        if (error) error->option = "dims";
        return code;
    }
    symbol->value = guess->size;
    symbol->guessed = *guess->what != '\0';
    if (guess->tries > workload->tries) workload->tries = guess->tries;
    return assay__plan_note(
        workload, (struct assay__note_subject){symbol->name, "", 0, guess->what, guess->size},
        assay__arena_printf(workload->arena, "symbolic dimension '%s' set to %lld%s%s",
                            symbol->name, (long long)guess->size, *guess->what ? ": " : "",
                            guess->what));
}

int assay__plan_settle(struct assay__plan_symbols *symbols, struct assay__workload *workload,
                       struct assay_error *error)
{
    int code = follow(symbols, workload, error);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < symbols->count && !code; i++) {
            struct assay__plan_symbol *symbol = &symbols->items[i];
            bool later = assay__name_has(symbol->name, "total");
            if (symbol->value >= 0 || symbol->expression || (pass == 0 && later)) continue;
            code = default_one(symbols, symbol, workload, error);
            if (!code) code = follow(symbols, workload, error);
        }
    }
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    return code;
}
