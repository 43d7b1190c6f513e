/* options.c - parsing a command's options by its table: --name value, --name=value, -n value,
 * -nvalue; an option whose value is optional takes it only as --name=value; "--" ends the options;
 * options and arguments may be mixed. An unknown one is reported in one line on stderr with the
 * closest known one. */
#include "cli/cli.h"

#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- nearest word ----------------------------------------------------------------------------- */

void assay__nearest_try(struct assay__nearest *nearest, const char *candidate)
{
    size_t distance = assay__text_distance(nearest->word, candidate),
           length = strlen(nearest->word);
    if (length > 1 && strncmp(nearest->word, candidate, length) == 0) distance = 0; /* cut short */
    if (nearest->best && distance >= nearest->distance) return;
    nearest->best = candidate;
    nearest->distance = distance;
}

/* A third of the letters may be wrong, and at least two (a transposition counts as one). */
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

const struct assay__option *assay__option_at(const struct assay__command *command, size_t index)
{
    for (const struct assay__option *o = command->options; o && o->name; o++)
        if (index-- == 0) return o;
    for (const struct assay__option *o = command->shared; o && o->name; o++)
        if (!row_of(command->options, o->name) && index-- == 0) return o;
    return NULL;
}

/* The index of an option, by its name or (name NULL) its letter; SIZE_MAX: there is none. */
static size_t find(const struct assay__command *command, const char *name, size_t length,
                   char letter)
{
    const struct assay__option *o;
    for (size_t i = 0; (o = assay__option_at(command, i)); i++)
        if (name ? strlen(o->name) == length && strncmp(o->name, name, length) == 0
                 : letter && o->letter == letter)
            return i;
    return SIZE_MAX;
}

static int unknown_option(const struct assay__command *command, const char *given, const char *name,
                          size_t length)
{
    struct assay__buf word = {0};
    const struct assay__option *o;
    int shown = (int)(length + (size_t)(name - given));
    assay__buf_add(&word, name, length);
    struct assay__nearest nearest = {.word = assay__buf_text(&word)};
    for (size_t i = 0; (o = assay__option_at(command, i)); i++)
        if (!o->hidden) assay__nearest_try(&nearest, o->name);
    assay__nearest_try(&nearest, "help");
    const char *best = assay__nearest_get(&nearest);
    assay__say(best ? "%s: unknown option '%.*s'; did you mean '--%s'?"
                    : "%s: unknown option '%.*s'; 'assay help %s' lists them",
               command->name, shown, given, best ? best : command->name);
    assay__buf_free(&word);
    return ASSAY__EXIT_USAGE;
}

/* --- values ----------------------------------------------------------------------------------- */

bool assay__is_choice(const char *choices, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0 && length) return true;
    return false;
}

static int set_choice(const struct assay__command *command, const struct assay__option *o,
                      const char *value, const char **member)
{
    if (strcmp(value, "md") == 0 && assay__is_choice(o->choices, "markdown")) value = "markdown";
    if (assay__is_choice(o->choices, value)) {
        const char *before = *member;
        *member = value;
        if (!before || strcmp(before, value) == 0) return 0;
        return assay__refuse("%s: --%s is given twice, as '%s' and as '%s'", command->name, o->name,
                             before, value);
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

static int set_integer(const struct assay__command *command, const struct assay__option *o,
                       const char *value, int64_t *member)
{
    int64_t number = 0;
    if (assay__text_int64(value, &number)) {
        const char *digits = value + (*value == '-' || *value == '+');
        if (*digits && digits[strspn(digits, "0123456789")] == '\0') /* however long */
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

static int append(const char ***items, size_t *count, size_t *capacity, const char *value)
{
    if (assay__vec_grow((void **)items, capacity, *count + 1, sizeof **items))
        return assay__fail(ASSAY_ENOMEM, NULL);
    (*items)[(*count)++] = value;
    return 0;
}

static int set_value(struct assay__invocation *invocation, size_t index, const char *value)
{
    const struct assay__option *o = assay__option_at(invocation->command, index);
    const char *command = invocation->command->name;
    void *member = (char *)invocation->options + o->offset;
    struct assay__option_list *list = member;
    const char **text = member;
    double seconds = 0;
    if (index < 64) invocation->given |= (uint64_t)1 << index;
    switch (o->kind) {
    case ASSAY__OPTION_FLAG: *(bool *)member = true; return 0;
    case ASSAY__OPTION_STRING:
    case ASSAY__OPTION_ONCE:
        if (!*value) return assay__refuse("%s: --%s: the value is empty", command, o->name);
        if (o->kind == ASSAY__OPTION_ONCE && *text && strcmp(*text, value) != 0)
            return assay__refuse("%s: --%s is given twice, as '%s' and as '%s'; it takes one value",
                                 command, o->name, *text, value);
        *text = value;
        return 0;
    case ASSAY__OPTION_CHOICE: return set_choice(invocation->command, o, value, text);
    case ASSAY__OPTION_INTEGER: return set_integer(invocation->command, o, value, member);
    case ASSAY__OPTION_DURATION:
        if (assay__text_duration_s(value, &seconds) || !isfinite(seconds))
            return assay__refuse("%s: --%s: '%s' is not a duration such as 2s, 500ms or 1.5",
                                 command, o->name, value);
        if (seconds < o->low || seconds > o->high)
            return assay__refuse("%s: --%s: %g s is not between %g and %g s", command, o->name,
                                 seconds, o->low, o->high);
        *(double *)member = seconds;
        return 0;
    case ASSAY__OPTION_LIST: return append(&list->items, &list->count, &list->capacity, value);
    }
    return ASSAY__EXIT_USAGE;
}

bool assay__option_given(const struct assay__invocation *invocation, const char *name)
{
    size_t index = find(invocation->command, name, strlen(name), 0);
    return index < 64 && (invocation->given >> index & 1);
}

/* --- the command line ------------------------------------------------------------------------- */

/* One option; *at skips a value that is a separate word. `attached` is the value after '=' or after
 * the letter. */
static int take(struct assay__invocation *invocation, size_t index, const char *attached, int argc,
                char **argv, int *at)
{
    const struct assay__option *o = assay__option_at(invocation->command, index);
    const char *command = invocation->command->name;
    if (o->kind == ASSAY__OPTION_FLAG) {
        if (attached) return assay__refuse("%s: --%s takes no value", command, o->name);
        return set_value(invocation, index, NULL);
    }
    if (!attached && o->bare) return set_value(invocation, index, o->bare);
    if (!attached && *at + 1 >= argc)
        return assay__refuse("%s: --%s needs a value (%s)", command, o->name, o->argument);
    return set_value(invocation, index, attached ? attached : argv[++*at]);
}

static int take_word(struct assay__invocation *invocation, int argc, char **argv, int *at,
                     bool *help)
{
    const struct assay__command *command = invocation->command;
    const char *word = argv[*at];
    *help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (*help) return 0;
    if (word[1] == '-') {
        const char *name = word + 2;
        size_t length = strcspn(name, "="), index = find(command, name, length, 0);
        if (index == SIZE_MAX) return unknown_option(command, word, name, length);
        return take(invocation, index, name[length] ? name + length + 1 : NULL, argc, argv, at);
    }
    size_t index = find(command, NULL, 0, word[1]);
    if (index == SIZE_MAX ||
        (assay__option_at(command, index)->kind == ASSAY__OPTION_FLAG && word[2]))
        return unknown_option(command, word, word + 1, strlen(word + 1));
    return take(invocation, index, word[2] ? word + 2 : NULL, argc, argv, at);
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
        if (command->max_arguments > 2) /* a limit that the usage line does not show */
            assay__say("%s: %zu arguments given, at most %zu allowed: %s", command->name, count,
                       command->max_arguments, assay__buf_text(&usage));
        else
            assay__say("%s: unexpected argument '%s': %s", command->name,
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
        if (!only_arguments && strcmp(word, "--") == 0) {
            only_arguments = invocation->dashed = true;
            invocation->before_dashes = invocation->argument_count;
        } else if (!only_arguments && word[0] == '-' && word[1]) {
            status = take_word(invocation, argc, argv, &at, help);
        } else {
            status = append(&invocation->arguments, &invocation->argument_count,
                            &invocation->argument_capacity, word);
        }
        if (status || *help) return status;
    }
    return check_arguments(invocation);
}

void assay__invocation_free(struct assay__invocation *invocation)
{
    const struct assay__option *o;
    for (size_t i = 0; invocation->options && (o = assay__option_at(invocation->command, i)); i++) {
        void *member = (char *)invocation->options + o->offset;
        if (o->kind == ASSAY__OPTION_LIST) free(((struct assay__option_list *)member)->items);
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
