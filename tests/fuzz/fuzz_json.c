/* fuzz_json.c - the JSON token reader and tree on arbitrary bytes. Beyond "no crash": both must
 * agree on whether the input is JSON, skipping must agree with reading, and a tree written out must
 * parse again. */
#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_all(const char *text, size_t size, struct assay__arena *arena)
{
    struct assay__json_reader *reader = assay__json_reader_new(text, size);
    struct assay__json_token token;
    int code;
    while ((code = assay__json_next(reader, &token, NULL)) == 0 && token.kind != ASSAY__JSON_END)
        if (token.kind == ASSAY__JSON_STRING || token.kind == ASSAY__JSON_KEY)
            if (!assay__json_unescape(arena, &token)) abort();
    assay__json_reader_free(reader);
    return code;
}

static int skip_all(const char *text, size_t size)
{
    struct assay__json_reader *reader = assay__json_reader_new(text, size);
    struct assay__json_token token;
    int code = assay__json_skip(reader, NULL, NULL);
    if (code == 0) code = assay__json_next(reader, &token, NULL);
    assay__json_reader_free(reader);
    return code;
}

static void write_tree(struct assay__json_writer *writer, const struct assay__json *node)
{
    switch (node->kind) {
    case ASSAY__JSON_OBJECT:
    case ASSAY__JSON_ARRAY:
        if (node->kind == ASSAY__JSON_OBJECT)
            assay__json_object(writer);
        else
            assay__json_array(writer);
        for (const struct assay__json *child = node->first; child; child = child->next) {
            if (node->kind == ASSAY__JSON_OBJECT) assay__json_key(writer, child->key);
            write_tree(writer, child);
        }
        if (node->kind == ASSAY__JSON_OBJECT)
            assay__json_object_end(writer);
        else
            assay__json_array_end(writer);
        break;
    case ASSAY__JSON_STRING: assay__json_string(writer, node->string); break;
    case ASSAY__JSON_NUMBER: assay__json_number(writer, node->number); break;
    case ASSAY__JSON_TRUE: assay__json_bool(writer, true); break;
    case ASSAY__JSON_FALSE: assay__json_bool(writer, false); break;
    default: assay__json_null(writer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root, *again;
    struct assay_error error;
    int code = assay__json_parse(arena, text, size, &root, &error);
    if (read_all(text, size, arena) != code || skip_all(text, size) != code) abort();
    if (code == 0) {
        struct assay__buf out = {0};
        struct assay__json_writer writer;
        assay__json_start(&writer, &out, size % 2);
        write_tree(&writer, root);
        if (!out.failed && assay__json_parse(arena, out.data, out.length, &again, &error) != 0)
            abort();
        assay__buf_free(&out);
    }
    assay__arena_free(arena);
    return 0;
}
