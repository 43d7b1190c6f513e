/* zoo.c - the table of models, generated from the list in zoo_models.h, and parsing
 * "name:key=value,key=value" according to what the model declares. A key that it does not declare
 * is an error, with the nearest key suggested. */
#include "zoo/zoo_models.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(NAME) &assay__zoo_##NAME,
static const struct assay__zoo_entry *const entries[] = {ASSAY__ZOO_MODELS(ROW)};

const struct assay__zoo_entry *assay__zoo_at(size_t index)
{
    return index < sizeof entries / sizeof entries[0] ? entries[index] : NULL;
}

static const struct assay__zoo_entry *find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strlen(entries[i]->name) == length && memcmp(entries[i]->name, name, length) == 0)
            return entries[i];
    return NULL;
}

bool assay__zoo_knows(const char *name)
{
    return find(name, strcspn(name, ":")) != NULL;
}

static int unknown_model(const char *name, struct assay_error *error)
{
    char wanted[61];
    struct assay__text_nearest nearest = ASSAY__TEXT_NEAREST;
    snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(name, ":"), name);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        assay__text_nearest_try(&nearest, wanted, entries[i]->name);
    if (!assay__text_near(wanted, nearest.distance))
        return assay_error_set(error, ASSAY_ENOTFOUND, "the zoo has no model '%s'", wanted);
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "the zoo has no model '%s'; the nearest is '%s' (a path needs its extension or a '/')",
        wanted, nearest.word);
}

/* --- declarations ----------------------------------------------------------------------------- */

const struct assay__zoo_param *assay__zoo_param_at(const struct assay__zoo_entry *entry,
                                                   size_t index)
{
    for (const struct assay__zoo_param *const *list = entry->params; *list; list++)
        for (const struct assay__zoo_param *p = *list; p->key; p++)
            if (index-- == 0) return p;
    return NULL;
}

/* The next of "a|b=c|d": its own name, without the other one. */
static const char *next_choice(const char *at, size_t *length)
{
    at += strcspn(at, "|");
    at += *at == '|';
    *length = strcspn(at, "|=");
    return at;
}

/* "a|b|d" */
static void put_choices(struct assay__buf *out, const char *choices)
{
    size_t length = strcspn(choices, "|=");
    for (const char *at = choices; *at; at = next_choice(at, &length)) {
        if (at != choices) assay__buf_putc(out, '|');
        assay__buf_add(out, at, length);
    }
}

void assay__zoo_params_line(struct assay__buf *out, const struct assay__zoo_entry *entry)
{
    const struct assay__zoo_param *p;
    for (size_t i = 0; (p = assay__zoo_param_at(entry, i)); i++) {
        assay__buf_printf(out, "%s%s=", i ? "," : "", p->key);
        if (p->kind == ASSAY__ZOO_CHOICE)
            put_choices(out, p->choices);
        else
            assay__buf_puts(out, p->otherwise);
    }
}

void assay__zoo_markdown(struct assay__buf *out)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        assay__buf_printf(out, "### %s\n\n%s.\n\n", entries[i]->name, entries[i]->summary);
        assay__buf_puts(out, "| parameter | default | values | meaning |\n|---|---|---|---|\n");
        const struct assay__zoo_param *p;
        for (size_t k = 0; (p = assay__zoo_param_at(entries[i], k)); k++) {
            double number;
            bool value = p->kind == ASSAY__ZOO_CHOICE ||
                         assay__text_double(p->otherwise, &number) == 0;
            const char *mark = value ? "`" : "";
            assay__buf_printf(out, "| `%s` | %s", p->key, mark);
            for (const char *c = p->otherwise; *c; c++)
                assay__buf_printf(out, *c == '|' ? "\\%c" : "%c", *c); /* a cell of a table */
            assay__buf_printf(out, "%s | ", mark);
            if (p->kind == ASSAY__ZOO_CHOICE) {
                size_t length = strcspn(p->choices, "|=");
                for (const char *at = p->choices; *at; at = next_choice(at, &length))
                    assay__buf_printf(out, "%s`%.*s`", at == p->choices ? "" : ", ", (int)length,
                                      at);
            } else if (p->kind != ASSAY__ZOO_TEXT) {
                assay__buf_printf(out, "%.10g to %.10g", p->low, p->high);
            }
            assay__buf_printf(out, " | %s |\n", p->help);
        }
        assay__buf_putc(out, '\n');
    }
}

/* --- what was given --------------------------------------------------------------------------- */

/* Cuts "k=v,k=v" in place. */
static int cut_params(struct assay__zoo_params *params, struct assay_error *error)
{
    const char *model = params->entry->name;
    for (char *at = params->text; at;) {
        char *comma = strchr(at, ','), *equals;
        if (comma) *comma = 0;
        equals = strchr(at, '=');
        if (!equals || equals == at)
            return assay_error_set(error, ASSAY_EINVAL,
                                   *at ? "%s: '%.60s' is not key=value"
                                       : "%s: a parameter key=value is missing after ':' or ','%s",
                                   model, at);
        if (params->given_count == ASSAY__ZOO_PARAMS)
            return assay_error_set(error, ASSAY_ELIMIT, "%s: more than %d parameters", model,
                                   ASSAY__ZOO_PARAMS);
        *equals = 0;
        for (size_t i = 0; i < params->given_count; i++)
            if (strcmp(params->given[i].key, at) == 0)
                return assay_error_set(error, ASSAY_EINVAL, "%s: '%.60s' is given twice", model,
                                       at);
        params->given[params->given_count].key = at;
        params->given[params->given_count++].value = equals + 1;
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

static const struct assay__zoo_param *declared(const struct assay__zoo_entry *entry,
                                               const char *key)
{
    const struct assay__zoo_param *p;
    for (size_t i = 0; (p = assay__zoo_param_at(entry, i)); i++)
        if (strcmp(p->key, key) == 0) return p;
    return NULL;
}

static int unknown_param(const struct assay__zoo_entry *entry, const char *key,
                         struct assay_error *error)
{
    struct assay__text_nearest nearest = ASSAY__TEXT_NEAREST;
    const struct assay__zoo_param *p;
    for (size_t i = 0; (p = assay__zoo_param_at(entry, i)); i++)
        assay__text_nearest_try(&nearest, key, p->key);
    bool near = assay__text_near(key, nearest.distance);
    struct assay__buf takes = {0};
    assay__zoo_params_line(&takes, entry);
    int code = assay_error_set(error, ASSAY_EINVAL,
                               "%s has no parameter '%.60s'%s%s%s (it takes %s)", entry->name, key,
                               near ? "; the nearest is '" : "", near ? nearest.word : "",
                               near ? "'" : "", assay__buf_text(&takes));
    assay__buf_free(&takes);
    return code;
}

/* The index of a word in "a|b=c|d", by either name; -1: none. */
static int choice_at(const char *choices, const char *word)
{
    size_t length = strcspn(choices, "|="), wanted = strlen(word);
    int index = 0;
    for (const char *at = choices; *at; at = next_choice(at, &length), index++) {
        const char *other = at + length + (at[length] == '=');
        if (length == wanted && memcmp(at, word, wanted) == 0) return index;
        if (at[length] == '=' && strcspn(other, "|") == wanted && memcmp(other, word, wanted) == 0)
            return index;
    }
    return -1;
}

static int check_value(const struct assay__zoo_entry *entry, const struct assay__zoo_param *param,
                       const char *value, struct assay_error *error)
{
    int64_t whole = 0;
    double number = 0;
    bool good = true;
    struct assay__buf words = {0}; /* what it should be */
    switch (param->kind) {
    case ASSAY__ZOO_INTEGER:
        good = assay__text_int64(value, &whole) == 0 && (double)whole >= param->low &&
               (double)whole <= param->high;
        assay__buf_printf(&words, "a whole number from %.0f to %.0f", param->low, param->high);
        break;
    case ASSAY__ZOO_NUMBER:
        good = assay__text_double(value, &number) == 0 && number >= param->low &&
               number <= param->high;
        assay__buf_printf(&words, "a number from %g to %g", param->low, param->high);
        break;
    case ASSAY__ZOO_CHOICE:
        good = choice_at(param->choices, value) >= 0;
        assay__buf_puts(&words, "one of ");
        put_choices(&words, param->choices);
        break;
    case ASSAY__ZOO_TEXT: break;
    }
    if (!good)
        assay_error_set(error, ASSAY_EINVAL, "%s: %s must be %s, not %.40s", entry->name,
                        param->key, assay__buf_text(&words), *value ? value : "empty");
    assay__buf_free(&words);
    return good ? 0 : ASSAY_EINVAL;
}

/* --- what builders read ----------------------------------------------------------------------- */

/* The value that was given, else NULL; and its declaration. */
static const char *given_value(struct assay__zoo_params *params, const char *key,
                               const struct assay__zoo_param **param)
{
    static const struct assay__zoo_param none = {"", ASSAY__ZOO_TEXT, "", "", 0, 0, ""};
    *param = declared(params->entry, key);
    if (!*param) params->undeclared = key;
    if (!*param) *param = &none;
    for (size_t i = 0; i < params->given_count; i++)
        if (strcmp(params->given[i].key, key) == 0) return params->given[i].value;
    return NULL;
}

int assay__zoo_refuse(struct assay__zoo_params *params, const char *format, ...)
{
    char message[256];
    va_list args;
    if (params->code) return params->code;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return params->code = assay_error_set(params->error, ASSAY_EINVAL, "%s", message);
}

bool assay__zoo_given(struct assay__zoo_params *params, const char *key)
{
    return assay__zoo_text(params, key) != NULL;
}

const char *assay__zoo_text(struct assay__zoo_params *params, const char *key)
{
    const struct assay__zoo_param *param;
    return given_value(params, key, &param);
}

int64_t assay__zoo_int(struct assay__zoo_params *params, const char *key)
{
    const struct assay__zoo_param *param;
    const char *given = given_value(params, key, &param);
    int64_t value = -1;
    return assay__text_int64(given ? given : param->otherwise, &value) ? -1 : value;
}

int64_t assay__zoo_int_or(struct assay__zoo_params *params, const char *key, int64_t otherwise)
{
    return assay__zoo_given(params, key) ? assay__zoo_int(params, key) : otherwise;
}

double assay__zoo_number(struct assay__zoo_params *params, const char *key)
{
    const struct assay__zoo_param *param;
    const char *given = given_value(params, key, &param);
    double value = -1;
    return assay__text_double(given ? given : param->otherwise, &value) ? -1 : value;
}

double assay__zoo_number_or(struct assay__zoo_params *params, const char *key, double otherwise)
{
    return assay__zoo_given(params, key) ? assay__zoo_number(params, key) : otherwise;
}

int assay__zoo_choice(struct assay__zoo_params *params, const char *key)
{
    const struct assay__zoo_param *param;
    const char *given = given_value(params, key, &param);
    int index = param->choices ? choice_at(param->choices, given ? given : param->otherwise) : -1;
    return index < 0 ? 0 : index;
}

/* --- building --------------------------------------------------------------------------------- */

int assay__zoo_build(const char *name, struct assay__model **out, struct assay_error *error)
{
    size_t length = strcspn(name, ":");
    struct assay__zoo_params params = {.entry = find(name, length), .error = error};
    *out = NULL;
    if (!params.entry) return unknown_model(name, error);
    struct assay__model *model = params.model = assay__model_new();
    if (model && name[length]) params.text = assay__arena_strdup(model->arena, name + length + 1);
    int code = model && (params.text || !name[length])
                   ? 0
                   : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!code) code = cut_params(&params, error);
    for (size_t i = 0; i < params.given_count && !code; i++) {
        const struct assay__zoo_param *param = declared(params.entry, params.given[i].key);
        code = param ? check_value(params.entry, param, params.given[i].value, error)
                     : unknown_param(params.entry, params.given[i].key, error);
    }
    if (!code) code = params.entry->build(&params);
    if (!code && params.undeclared)
        code = assay_error_set(error, ASSAY_EINVAL, "%s does not declare its parameter '%s'",
                               params.entry->name, params.undeclared);
    if (code)
        assay__model_free(model);
    else
        *out = model;
    return code;
}
