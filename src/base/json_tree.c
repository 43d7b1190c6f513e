/* json_tree.c - a small JSON tree in an arena, built from the token stream without recursion. For
 * duplicate keys, look-ups find the first. For our own documents (jobs, messages), not for traces.
 */
#include "base/json.h"
#include "base/no_memory.h"

#include <string.h>

struct builder {
    struct assay__arena *arena;
    struct assay__json *parent[ASSAY__JSON_DEPTH];
    struct assay__json *last[ASSAY__JSON_DEPTH]; /* last child so far */
    int depth;
    const char *key;
    struct assay__json *root;
};

/* The exact integer when the text is one that fits. */
static bool exact_integer(const struct assay__json_token *token, int64_t *value)
{
    size_t at = token->text[0] == '-';
    int64_t result = 0;
    for (; at < token->length; at++) {
        if (token->text[at] < '0' || token->text[at] > '9') return false;
        int digit = token->text[at] - '0';
        if (__builtin_mul_overflow(result, 10, &result) ||
            (token->text[0] == '-' ? __builtin_sub_overflow(result, digit, &result)
                                   : __builtin_add_overflow(result, digit, &result)))
            return false;
    }
    *value = result;
    return true;
}

/* Appends the node of a value to its siblings; a container becomes the parent of what follows. */
static void add_node(struct builder *builder, const struct assay__json_token *token)
{
    struct assay__json *node = assay__arena_alloc(builder->arena, sizeof *node);
    if (!node) return;
    *node = (struct assay__json){.kind = token->kind, .key = builder->key, .number = token->number};
    builder->key = NULL;
    if (token->kind == ASSAY__JSON_NUMBER) node->is_integer = exact_integer(token, &node->integer);
    if (token->kind == ASSAY__JSON_STRING)
        node->string = assay__json_unescape(builder->arena, token);
    if (builder->depth == 0) {
        builder->root = node;
    } else {
        int level = builder->depth - 1;
        if (builder->last[level])
            builder->last[level]->next = node;
        else
            builder->parent[level]->first = node;
        builder->last[level] = node;
        builder->parent[level]->count++;
    }
    if (token->kind != ASSAY__JSON_OBJECT && token->kind != ASSAY__JSON_ARRAY) return;
    builder->parent[builder->depth] = node; /* the reader keeps depth <= ASSAY__JSON_DEPTH */
    builder->last[builder->depth++] = NULL;
}

int assay__json_parse(struct assay__arena *arena, const char *text, size_t length,
                      struct assay__json **root, struct assay_error *error)
{
    struct builder builder = {.arena = arena};
    struct assay__json_token token = {.kind = ASSAY__JSON_NULL};
    struct assay__json_reader *reader = assay__json_reader_new(text, length);
    int code = reader && !assay__arena_failed(arena) ? 0 : assay__no_memory(error);
    *root = NULL;
    while (!code && !(code = assay__json_next(reader, &token, error)) &&
           token.kind != ASSAY__JSON_END) {
        if (token.kind == ASSAY__JSON_OBJECT_END || token.kind == ASSAY__JSON_ARRAY_END)
            builder.depth--;
        else if (token.kind == ASSAY__JSON_KEY)
            builder.key = assay__json_unescape(arena, &token);
        else
            add_node(&builder, &token);
        if (assay__arena_failed(arena)) code = assay__no_memory(error);
    }
    assay__json_reader_free(reader);
    if (code == 0) *root = builder.root;
    return code;
}

const struct assay__json *assay__json_get(const struct assay__json *object, const char *key)
{
    if (!object || object->kind != ASSAY__JSON_OBJECT) return NULL;
    for (const struct assay__json *child = object->first; child; child = child->next)
        if (child->key && strcmp(child->key, key) == 0) return child;
    return NULL;
}

const char *assay__json_get_string(const struct assay__json *object, const char *key,
                                   const char *otherwise)
{
    const struct assay__json *member = assay__json_get(object, key);
    return member && member->kind == ASSAY__JSON_STRING ? member->string : otherwise;
}

double assay__json_get_number(const struct assay__json *object, const char *key, double otherwise)
{
    const struct assay__json *member = assay__json_get(object, key);
    return member && member->kind == ASSAY__JSON_NUMBER ? member->number : otherwise;
}

int64_t assay__json_get_integer(const struct assay__json *object, const char *key,
                                int64_t otherwise)
{
    const struct assay__json *member = assay__json_get(object, key);
    return member && member->kind == ASSAY__JSON_NUMBER && member->is_integer ? member->integer
                                                                              : otherwise;
}

bool assay__json_get_bool(const struct assay__json *object, const char *key, bool otherwise)
{
    const struct assay__json *member = assay__json_get(object, key);
    if (member && member->kind == ASSAY__JSON_TRUE) return true;
    if (member && member->kind == ASSAY__JSON_FALSE) return false;
    return otherwise;
}
