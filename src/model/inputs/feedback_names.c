/* feedback_names.c - what names imply about states.
 *
 * A name is split into words at punctuation, at changes of case and between letters and digits.
 * Words that only mean "before" or "after" are left out; the rest, the stem, must be the same for
 * an input and the output that is its next value. "next_", "new_", "…N" and "past_" refer to time
 * and are sufficient; "…_out" and "…_in" may belong to any function between tensors of the same
 * kind (image to image), so then the stem must contain a word for a state. */
#include "model/inputs/feedback.h"

#include <ctype.h>
#include <string.h>

#define WORDS 24
#define WORD_BYTES 32

struct words {
    char text[WORDS][WORD_BYTES]; /* lower case */
    size_t count;
};

static bool is_any(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

static bool is_cut(unsigned char before, unsigned char now)
{
    return (islower(before) && isupper(now)) || (isdigit(before) && isalpha(now)) ||
           (isalpha(before) && isdigit(now));
}

/* False: too many words, or a word is too long. */
static bool split(const char *name, struct words *out)
{
    size_t length = 0;
    out->count = 0;
    for (const char *at = name; *at; at++) {
        unsigned char now = (unsigned char)*at;
        if (length && (!isalnum(now) || is_cut((unsigned char)at[-1], now))) {
            out->count++;
            length = 0;
        }
        if (!isalnum(now)) continue;
        if (out->count == WORDS || length + 1 == WORD_BYTES) return false;
        out->text[out->count][length++] = (char)tolower(now);
        out->text[out->count][length] = '\0';
    }
    if (length) out->count++;
    return true;
}

static void drop(struct words *words, size_t index)
{
    words->count--;
    for (size_t i = index; i < words->count; i++)
        memcpy(words->text[i], words->text[i + 1], WORD_BYTES);
}

/* "hn" and "cn", as PyTorch calls them, are two words. */
static void part_cell(struct words *words)
{
    static const char *const cells[] = {"hn", "cn", NULL};
    size_t last = words->count - 1;
    if (words->count == 0 || words->count == WORDS || !is_any(words->text[last], cells)) return;
    words->text[last][1] = '\0';
    memcpy(words->text[words->count++], "n", 2);
}

static void strip(struct words *words, const char *const *passed, const char *const *aside,
                  struct assay__state_name *name)
{
    for (size_t i = words->count; i-- > 0;) {
        bool time = is_any(words->text[i], passed), side = is_any(words->text[i], aside);
        name->passed |= time;
        name->aside |= side;
        if (time || side) drop(words, i);
    }
}

static void strip_output(struct words *words, struct assay__state_name *name)
{
    static const char *const passed[] = {"new", "next", "present", "updated", NULL};
    static const char *const aside[] = {"out", "output", "o", NULL};
    part_cell(words);
    if (words->count > 1 && strcmp(words->text[words->count - 1], "n") == 0) {
        name->ends = name->passed = true;
        drop(words, words->count - 1);
    }
    if (words->count > 1 && strcmp(words->text[0], "r") == 0) { /* "r_att_cache": the result */
        name->aside = true;
        drop(words, 0);
    }
    strip(words, passed, aside, name);
}

static void strip_input(struct words *words, struct assay__state_name *name)
{
    static const char *const passed[] = {"past", "prev",    "previous", "old",
                                         "init", "initial", NULL};
    static const char *const aside[] = {"in", "input", "i", NULL};
    strip(words, passed, aside, name);
    name->ends = words->count > 1 && strcmp(words->text[words->count - 1], "0") == 0;
}

/* "hidden_states" are what the layers of a transformer hand on within one inference. */
static bool has_word_of(const struct words *words, const char *const *known)
{
    bool found = false;
    for (size_t i = 0; i < words->count; i++) {
        if (i + 1 < words->count && strcmp(words->text[i], "hidden") == 0 &&
            strcmp(words->text[i + 1], "states") == 0)
            return false;
        found |= is_any(words->text[i], known);
    }
    return found;
}

static bool has_state_word(const struct words *words)
{
    static const char *const known[] = {"state",  "states", "hidden",    "cell",    "h",    "c",
                                        "hx",     "cx",     "mem",       "memory",  "rnn",  "gru",
                                        "cache",  "caches", "cached",    "history", "lstm", "carry",
                                        "buffer", "buf",    "recurrent", NULL};
    return has_word_of(words, known);
}

static bool has_recurrent_word(const struct words *words)
{
    static const char *const known[] = {"state", "states", "hidden",    "hx", "cx",
                                        "lstm",  "gru",    "recurrent", NULL};
    static const char *const other[] = {"encoder", "decoder", NULL};
    return has_word_of(words, known) && !has_word_of(words, other);
}

void assay__state_name_read(const char *name, bool output, struct assay__state_name *out)
{
    struct words words;
    size_t at = 0;
    *out = (struct assay__state_name){.stem = ""};
    if (!split(name, &words)) return;
    if (output)
        strip_output(&words, out);
    else
        strip_input(&words, out);
    out->state = has_state_word(&words);
    out->recurrent = has_recurrent_word(&words);
    for (size_t i = 0; i < words.count; i++) {
        size_t length = strlen(words.text[i]);
        if (at + length + 2 > sizeof out->stem) {
            out->stem[0] = '\0';
            return;
        }
        if (i) out->stem[at++] = '.';
        memcpy(out->stem + at, words.text[i], length + 1);
        at += length;
    }
}

bool assay__state_name_again(struct assay__state_name *input)
{
    size_t length = strlen(input->stem);
    if (!input->ends || length < 3) return false;
    input->stem[length - 2] = '\0'; /* ".0" */
    return true;
}

bool assay__state_names_pair(const struct assay__state_name *output,
                             const struct assay__state_name *input)
{
    if (!*output->stem || strcmp(output->stem, input->stem) != 0) return false;
    return output->passed || input->passed || (output->state && (output->aside || input->aside));
}
