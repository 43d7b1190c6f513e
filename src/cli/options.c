/* options.c - reading a command's options by its table: --name value, --name=value, -n value,
 * -nvalue; an option whose value is optional takes it only as --name=value; "--" ends the options;
 * options and arguments may be mixed. A wrong one is one line on stderr that names the nearest
 * right one. */
#include "cli/cli.h"

#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- nearest word ----------------------------------------------------------------------------- */

void assay__nearest_try(struct assay__nearest *nearest, const char *candidate)
{
    size_t distance = assay__text_distance(nearest->word, candidate);
    if (nearest->best && distance >= nearest->distance) return;
    nearest->best = candidate;
    nearest->distance = distance;
}

/* A third of the letters may be wrong, and at least two (a transposition counts one). */
const char *assay__nearest_get(const struct assay__nearest *nearest)
{
    size_t length = strlen(nearest->word), limit = length / 3 > 2 ? length / 3 : 2;
    if (length <= 2) limit = 1;
    return nearest->best && nearest->distance <= limit ? nearest->best : NULL;
}

void assay__shell_quote(struct assay__buf *out, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        assay__buf_puts(out, word);
        return;
    }
    assay__buf_putc(out, '\'');
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            assay__buf_puts(out, "'\\''");
        else
            assay__buf_putc(out, *c);
    }
    assay__buf_putc(out, '\'');
}

/* --- finding the option ----------------------------------------------------------------------- */

static const struct assay__option *row_of(const struct assay__option *rows, const char *name)
{
    for (const struct assay__option *o = rows; o && o->name; o++)
        if (strcmp(o->name, name) == 0) return o;
    return NULL;
}

/* The first row from `o` on that the command has no own one for. */
static const struct assay__option *not_shadowed(const struct assay__command *command,
                                                const struct assay__option *o)
{
    while (o && o->name && row_of(command->options, o->name))
        o++;
    return o && o->name ? o : NULL;
}

const struct assay__option *assay__option_next(const struct assay__command *command,
                                               const struct assay__option *previous)
{
    const struct assay__option *own = command->options, *shared = command->shared;
    if (!previous) return own && own->name ? own : not_shadowed(command, shared);
    if (shared && row_of(shared, previous->name) == previous)
        return not_shadowed(command, previous + 1);
    return previous[1].name ? previous + 1 : not_shadowed(command, shared);
}

static size_t index_of(const struct assay__command *command, const struct assay__option *wanted)
{
    size_t index = 0;
    for (const struct assay__option *o = assay__option_next(command, NULL); o && o != wanted;
         o = assay__option_next(command, o))
        index++;
    return index;
}

static const struct assay__option *find_long(const struct assay__command *command, const char *name,
                                             size_t length)
{
    for (const struct assay__option *o = assay__option_next(command, NULL); o;
         o = assay__option_next(command, o))
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    return NULL;
}

static const struct assay__option *find_letter(const struct assay__command *command, char letter)
{
    for (const struct assay__option *o = assay__option_next(command, NULL); o;
         o = assay__option_next(command, o))
        if (o->letter && o->letter == letter) return o;
    return NULL;
}

static int unknown_option(const struct assay__command *command, const char *given, const char *name,
                          size_t length)
{
    struct assay__buf word = {0};
    assay__buf_add(&word, name, length);
    struct assay__nearest nearest = {.word = assay__buf_text(&word)};
    for (const struct assay__option *o = assay__option_next(command, NULL); o;
         o = assay__option_next(command, o))
        if (!o->hidden) assay__nearest_try(&nearest, o->name);
    assay__nearest_try(&nearest, "help");
    const char *best = assay__nearest_get(&nearest);
    if (best)
        assay__say("%s: unknown option '%.*s'; did you mean '--%s'?", command->name,
                   (int)(length + (size_t)(name - given)), given, best);
    else
        assay__say("%s: unknown option '%.*s'; 'assay help %s' lists them", command->name,
                   (int)(length + (size_t)(name - given)), given, command->name);
    assay__buf_free(&word);
    return ASSAY__EXIT_USAGE;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && strncmp(at, value, length) == 0 && length) return true;
    return false;
}

static int set_choice(const struct assay__command *command, const struct assay__option *o,
                      const char *value, const char **member)
{
    if (is_choice(o->choices, value)) {
        *member = value;
        return 0;
    }
    char word[64];
    struct assay__nearest nearest = {.word = value};
    const char *kept = NULL;
    for (const char *at = o->choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        nearest.best = NULL;
        assay__nearest_try(&nearest, word);
        if (assay__nearest_get(&nearest)) kept = at;
    }
    if (kept)
        return assay__refuse("%s: --%s: '%s' is not one of %s; did you mean '%.*s'?", command->name,
                             o->name, value, o->choices, (int)strcspn(kept, "|"), kept);
    return assay__refuse("%s: --%s: '%s' is not one of %s", command->name, o->name, value,
                         o->choices);
}

/* "-123…": a whole number, however long */
static bool is_digits(const char *value)
{
    if (*value == '-' || *value == '+') value++;
    return *value && value[strspn(value, "0123456789")] == '\0';
}

static int set_integer(const struct assay__command *command, const struct assay__option *o,
                       const char *value, int64_t *member)
{
    int64_t number = 0;
    if (assay__text_int64(value, &number)) {
        if (is_digits(value))
            return assay__refuse("%s: --%s: %s is out of range (%.0f to %.0f)", command->name,
                                 o->name, value, o->low, o->high);
        return assay__refuse("%s: --%s: '%s' is not a whole number", command->name, o->name, value);
    }
    if ((double)number < o->low || (double)number > o->high)
        return assay__refuse("%s: --%s: %" PRId64 " is not between %.0f and %.0f", command->name,
                             o->name, number, o->low, o->high);
    *member = number;
    return 0;
}

static int set_duration(const struct assay__command *command, const struct assay__option *o,
                        const char *value, double *member)
{
    double seconds = 0;
    if (assay__text_duration_s(value, &seconds) || !isfinite(seconds))
        return assay__refuse("%s: --%s: '%s' is not a duration such as 2s, 500ms or 1.5",
                             command->name, o->name, value);
    if (seconds < o->low || seconds > o->high)
        return assay__refuse("%s: --%s: %g s is not between %g and %g s", command->name, o->name,
                             seconds, o->low, o->high);
    *member = seconds;
    return 0;
}

static int append(const char ***items, size_t *count, size_t *capacity, const char *value)
{
    if (assay__vec_grow((void **)items, capacity, *count + 1, sizeof **items)) {
        assay__say("out of memory");
        return ASSAY__EXIT_FAILED;
    }
    (*items)[(*count)++] = value;
    return 0;
}

static int set_string(const struct assay__command *command, const struct assay__option *o,
                      const char *value, const char **member)
{
    if (!*value) return assay__refuse("%s: --%s: the value is empty", command->name, o->name);
    if (o->kind == ASSAY__OPTION_ONCE && *member && strcmp(*member, value) != 0)
        return assay__refuse("%s: --%s is given twice, as '%s' and as '%s'; it takes one value",
                             command->name, o->name, *member, value);
    *member = value;
    return 0;
}

static int set_value(struct assay__invocation *invocation, const struct assay__option *o,
                     const char *value)
{
    char *member = (char *)invocation->options + o->offset;
    size_t index = index_of(invocation->command, o);
    if (index < 64) invocation->given |= (uint64_t)1 << index;
    switch (o->kind) {
    case ASSAY__OPTION_FLAG: *(bool *)(void *)member = true; return 0;
    case ASSAY__OPTION_STRING:
    case ASSAY__OPTION_ONCE:
        return set_string(invocation->command, o, value, (const char **)(void *)member);
    case ASSAY__OPTION_CHOICE: {
        const char **choice = (const char **)(void *)member, *before = *choice;
        int status = set_choice(invocation->command, o, value, choice);
        if (status || !before || strcmp(before, *choice) == 0) return status;
        return assay__refuse("%s: --%s is given twice, as '%s' and as '%s'",
                             invocation->command->name, o->name, before, *choice);
    }
    case ASSAY__OPTION_INTEGER:
        return set_integer(invocation->command, o, value, (int64_t *)(void *)member);
    case ASSAY__OPTION_DURATION:
        return set_duration(invocation->command, o, value, (double *)(void *)member);
    case ASSAY__OPTION_LIST: {
        struct assay__option_list *list = (struct assay__option_list *)(void *)member;
        return append(&list->items, &list->count, &list->capacity, value);
    }
    }
    return ASSAY__EXIT_USAGE;
}

bool assay__option_given(const struct assay__invocation *invocation, const char *name)
{
    const struct assay__option *o = find_long(invocation->command, name, strlen(name));
    size_t index = o ? index_of(invocation->command, o) : 64;
    return index < 64 && (invocation->given >> index & 1);
}

/* --- the command line ------------------------------------------------------------------------- */

/* One option; *at moves over a value that is its own word. `attached` is the value after '=' or
 * after the letter. */
static int take(struct assay__invocation *invocation, const struct assay__option *o,
                const char *attached, int argc, char **argv, int *at)
{
    const char *command = invocation->command->name;
    if (o->kind == ASSAY__OPTION_FLAG) {
        if (attached) return assay__refuse("%s: --%s takes no value", command, o->name);
        return set_value(invocation, o, NULL);
    }
    if (!attached && o->bare) return set_value(invocation, o, o->bare);
    if (!attached && *at + 1 >= argc)
        return assay__refuse("%s: --%s needs a value (%s)", command, o->name, o->argument);
    return set_value(invocation, o, attached ? attached : argv[++*at]);
}

static int take_word(struct assay__invocation *invocation, int argc, char **argv, int *at,
                     bool *help)
{
    const struct assay__command *command = invocation->command;
    const char *word = argv[*at];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        *help = true;
        return 0;
    }
    if (word[1] == '-') {
        const char *name = word + 2;
        size_t length = strcspn(name, "=");
        const struct assay__option *o = find_long(command, name, length);
        if (!o) return unknown_option(command, word, name, length);
        return take(invocation, o, name[length] ? name + length + 1 : NULL, argc, argv, at);
    }
    const struct assay__option *o = find_letter(command, word[1]);
    if (!o || (o->kind == ASSAY__OPTION_FLAG && word[2]))
        return unknown_option(command, word, word + 1, strlen(word + 1));
    return take(invocation, o, word[2] ? word + 2 : NULL, argc, argv, at);
}

static int check_arguments(const struct assay__invocation *invocation)
{
    const struct assay__command *command = invocation->command;
    size_t count = invocation->argument_count;
    if (count < command->min_arguments)
        return assay__refuse("%s: %.*s is missing: assay %s [options] %s", command->name,
                             (int)strcspn(command->arguments, " "), command->arguments,
                             command->name, command->arguments);
    if (count > command->max_arguments) {
        struct assay__buf usage = {0};
        assay__usage(&usage, command);
        if (command->max_arguments > 2) /* a limit nobody can see in the usage */
            assay__say("%s: %zu arguments are too many, %zu at most: %s", command->name, count,
                       command->max_arguments, assay__buf_text(&usage));
        else
            assay__say("%s: '%s' is one argument too many: %s", command->name,
                       invocation->arguments[command->max_arguments], assay__buf_text(&usage));
        assay__buf_free(&usage);
        return ASSAY__EXIT_USAGE;
    }
    return 0;
}

int assay__options_parse(struct assay__invocation *invocation, int argc, char **argv, int first,
                         bool *help)
{
    bool only_arguments = false;
    for (int at = first; at < argc; at++) {
        const char *word = argv[at];
        int status = 0;
        if (!only_arguments && strcmp(word, "--") == 0)
            only_arguments = true;
        else if (!only_arguments && word[0] == '-' && word[1])
            status = take_word(invocation, argc, argv, &at, help);
        else
            status = append(&invocation->arguments, &invocation->argument_count,
                            &invocation->argument_capacity, word);
        if (status || *help) return status;
    }
    return check_arguments(invocation);
}

void assay__invocation_free(struct assay__invocation *invocation)
{
    const struct assay__command *command = invocation->command;
    for (const struct assay__option *o = assay__option_next(command, NULL);
         o && invocation->options; o = assay__option_next(command, o)) {
        if (o->kind != ASSAY__OPTION_LIST) continue;
        char *member = (char *)invocation->options + o->offset;
        free(((struct assay__option_list *)(void *)member)->items);
    }
    free(invocation->options);
    free(invocation->arguments);
}

int assay__option_pairs(const char *command, const char *option,
                        const struct assay__option_list *list, const char *expected)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *equals = strchr(list->items[i], '=');
        if (equals && equals != list->items[i] && equals[1]) continue;
        return assay__refuse("%s: --%s: '%s' is not %s", command, option, list->items[i], expected);
    }
    return 0;
}
