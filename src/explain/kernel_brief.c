/* kernel_brief.c - demangled names of kernels, shortened for people. */
#include "explain/kernel_class.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Words of template arguments that say nothing about what is computed. */
static bool says_nothing(const char *word, size_t length)
{
    static const char *const words[] = {"at",
                                        "native",
                                        "std",
                                        "array",
                                        "char",
                                        "int",
                                        "unsigned",
                                        "long",
                                        "bool",
                                        "float",
                                        "double",
                                        "half",
                                        "const",
                                        "void",
                                        "true",
                                        "false",
                                        "c10",
                                        "Half",
                                        "short",
                                        "size_t",
                                        "lambda",
                                        "cuda",
                                        "cub",
                                        "operator",
                                        "anonymous",
                                        "namespace",
                                        "detail",
                                        "TensorIteratorBase",
                                        "BFloat16",
                                        "__half",
                                        "__nv_bfloat16",
                                        "TensorListMetadata",
                                        "TensorListScalarListMetadata",
                                        "func_wrapper_t",
                                        "ReduceOp"};
    if (isdigit((unsigned char)*word) || (length > 14 && strncmp(word, "gpu_kernel_impl", 15) == 0))
        return true;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncmp(word, words[i], length) == 0) return true;
    return false;
}

/* Skips "void ", and what is in front of the last "::" of a qualified name. */
static const char *own_name(const char *name, size_t *length)
{
    static const char anonymous[] = "(anonymous namespace)::";
    if (strncmp(name, "void ", 5) == 0) name += 5;
    for (;;) {
        size_t word = 0;
        if (strncmp(name, anonymous, sizeof anonymous - 1) == 0) {
            name += sizeof anonymous - 1;
            continue;
        }
        while (is_word(name[word]))
            word++;
        if (word && name[word] == ':' && name[word + 1] == ':') {
            name += word + 2;
            continue;
        }
        *length = word;
        return name;
    }
}

void assay__kernel_brief(struct assay__buf *out, const char *name)
{
    size_t length;
    const char *own = own_name(name, &length);
    if (!length || (own[length] && own[length] != '<' && own[length] != '(')) {
        assay__buf_puts(out, name); /* not C++ */
        return;
    }
    assay__buf_add(out, own, length);
    for (const char *at = own[length] == '<' ? own + length + 1 : ""; *at;) {
        size_t word = 0;
        while (is_word(at[word]))
            word++;
        if (word && !says_nothing(at, word) && strncmp(at + word, "::", 2) != 0) {
            assay__buf_putc(out, '<');
            assay__buf_add(out, at, word);
            assay__buf_putc(out, '>');
            return;
        }
        at += word ? word : 1;
    }
}

/* --- of several ------------------------------------------------------------------------------- */

enum { PART_BYTES = 24 };

static int compare_texts(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a, *const *y = *(
                                                               const char *const *const *)b;
    int order = strcmp(*x, *y);
    return order ? order : (x > y) - (x < y);
}

static const char *keep(struct assay__buf *text, struct assay__arena *arena)
{
    const char *kept = assay__buf_keep(text, arena);
    return kept ? kept : "";
}

/* How many bytes all names begin (or, from their ends, end) with, up to where a word does. */
static size_t common_bytes(const char *const *names, size_t count, bool from_end)
{
    size_t first_length = strlen(names[0]), common = first_length;
    for (size_t i = 1; i < count; i++) {
        size_t length = strlen(names[i]), same = 0;
        while (same < common && same < length &&
               (from_end ? names[0][first_length - 1 - same] == names[i][length - 1 - same]
                         : names[0][same] == names[i][same]))
            same++;
        common = same;
    }
    while (common && is_word(from_end ? names[0][first_length - common] : names[0][common - 1]))
        common--;
    return common;
}

/* Equal short names: each gets what differs between the whole ones, or a number where that is long:
 * "bn_bw_kernel<float2> [128]". */
static void part_equals(const char *const *names, const char ***equal, const char **briefs,
                        size_t count, struct assay__arena *arena)
{
    const char **whole = assay__arena_array(arena, count, sizeof *whole);
    bool brief = true;
    if (!whole) return;
    for (size_t i = 0; i < count; i++)
        whole[i] = names[equal[i] - briefs];
    size_t before = common_bytes(whole, count, false), after = common_bytes(whole, count, true);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(whole[i]);
        brief &= length > before + after && length - before - after <= PART_BYTES;
    }
    for (size_t i = 0; i < count; i++) {
        struct assay__buf text = {0};
        if (brief)
            assay__buf_printf(&text, "%s [%.*s]", *equal[i],
                              (int)(strlen(whole[i]) - before - after), whole[i] + before);
        else
            assay__buf_printf(&text, "%s #%zu", *equal[i], i + 1);
        *equal[i] = keep(&text, arena);
    }
}

const char **assay__kernel_briefs(const char *const *names, size_t count,
                                  struct assay__arena *arena)
{
    const char **briefs = assay__arena_array(arena, count + 1, sizeof *briefs);
    const char ***order = assay__arena_array(arena, count + 1, sizeof *order);
    if (!briefs || !order) return NULL;
    for (size_t i = 0; i < count; i++) {
        struct assay__buf text = {0};
        assay__kernel_brief(&text, names[i]);
        briefs[i] = keep(&text, arena);
    }
    for (size_t i = 0; i < count; i++)
        order[i] = &briefs[i];
    if (count) qsort(order, count, sizeof *order, compare_texts);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && strcmp(*order[i], *order[next]) == 0;)
            next++;
        if (next - i > 1) part_equals(names, order + i, briefs, next - i, arena);
    }
    return briefs;
}
