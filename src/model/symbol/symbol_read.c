/* symbol_read.c - symbolic integers from text: a name, or a sum of products of names, numbers and
 * parentheses with + - * and //, as exporters write dimensions. Without a table the names are
 * looked up and the text is a number. Limits: 16 nested parentheses, 255 characters for an
 * expression. */
#include "model/symbol/symbol_internal.h"

#include "base/arena.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static int64_t named(struct assay__symbols *symbols, const char *name, size_t length)
{
    char *key = assay__arena_strndup(symbols->arena, name, length);
    if (!key) return ASSAY__NUM_ANY;
    size_t index = assay__map_get(symbols->names, key);
    if (index != ASSAY__MAP_NONE) return ASSAY__NUM_CODE + (int64_t)index;
    int64_t num = assay__symbols_atom(symbols,
                                      &(struct assay__atom){ASSAY__ATOM_NAME, true, key, 0, 0});
    if (num != ASSAY__NUM_ANY &&
        assay__map_set(symbols->names, key, (size_t)(num - ASSAY__NUM_CODE)))
        return ASSAY__NUM_ANY;
    return num;
}

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

/* Without symbols there are numbers and what is not known, which everything becomes that it is
 * in. */
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

/* "batch-size" is a name; "a + b", "a+b", "a - b", "2*a" and "a//2" are expressions, as exporters
 * write them. */
static bool arithmetic(const char *text)
{
    return (strchr(text, '+') || strstr(text, " - ") || strchr(text, '*') || strstr(text, "//")) &&
           strlen(text) < 256;
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
    return arithmetic(text) && parse_whole(&parser, &value) && names > 0;
}

int64_t assay__symbol_evaluate(const char *text, assay__symbol_value *value, void *context)
{
    struct parser parser = {.value = value, .context = context, .at = text};
    int64_t number;
    return parse_whole(&parser, &number) ? number : ASSAY__NUM_ANY;
}
