/* kernel_brief.c - demangled names of kernels, shortened for people. */
#include "explain/kernel_class.h"

#include <ctype.h>
#include <stdbool.h>
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
