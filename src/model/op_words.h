/* op_words.h - rows of operator tables name several similar operators, separated by blanks. */
#ifndef ASSAY_MODEL_OP_WORDS_H
#define ASSAY_MODEL_OP_WORDS_H

#include <stdbool.h>
#include <string.h>

#define ASSAY__WORD 64

/** The next word of *at, which moves past it; false at the end. */
static inline bool assay__next_word(const char **at, char out[ASSAY__WORD])
{
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " ");
    if (!length || length >= ASSAY__WORD) return false;
    memcpy(out, *at, length);
    out[length] = 0;
    *at += length;
    return true;
}

/** Is `word` one of the words? */
static inline bool assay__has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; length && (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

#endif
