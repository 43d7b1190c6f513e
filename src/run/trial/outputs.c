/* outputs.c - writes and reads the folder with the outputs of one inference. */
#include "run/trial/outputs.h"

#include "base/file.h"
#include "base/json.h"
#include "base/no_memory.h"
#include "model/inputs/npy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define LIST_NAME "outputs.json"
#define LIST_MOST ((size_t)64 << 20)

static const char *why_not(const struct assay__host_tensor *tensor)
{
    if (tensor->dtype == ASSAY__STRING) return "a text output has no numbers to compare";
    if (tensor->dtype == ASSAY__UNDEFINED || tensor->rank < 0)
        return "not a tensor (a sequence, a map or an optional)";
    if (assay__dtype_bits((enum assay__dtype)tensor->dtype) < 8)
        return "sub-byte numbers are not compared";
    if (!tensor->data && tensor->data_size) return "the engine returned no data";
    return "";
}

static int write_one(const struct assay__host_tensor *tensor, size_t index, const char *folder,
                     struct assay__json_writer *json, struct assay_error *error)
{
    char name[32], path[PATH_MAX];
    const char *reason = why_not(tensor);
    int code = 0;
    snprintf(name, sizeof name, "%zu.npy", index);
    if (!*reason) {
        if (assay__path_join(folder, name, path, sizeof path))
            return assay_error_set(error, ASSAY_ELIMIT, "the path of the outputs is too long");
        code = assay__npy_write(path, (enum assay__dtype)tensor->dtype, tensor->rank, tensor->dims,
                                tensor->data, tensor->data_size, error);
    }
    assay__json_object(json);
    assay__json_put_string(json, "name", tensor->name);
    assay__json_put_integer(json, "dtype", tensor->dtype);
    assay__json_key(json, "shape");
    assay__json_array(json);
    for (int d = 0; d < tensor->rank; d++)
        assay__json_integer(json, tensor->dims[d]);
    assay__json_array_end(json);
    assay__json_put_string(json, "file", *reason ? "" : name);
    assay__json_put_string(json, "reason", reason);
    assay__json_object_end(json);
    return code;
}

int assay__outputs_write(const struct assay__engine_ops *engine, struct assay__session *session,
                         const char *folder, struct assay_error *error)
{
    const struct assay__host_tensor *tensors = NULL;
    size_t count = 0;
    char path[PATH_MAX];
    struct assay__buf text = {0};
    struct assay__json_writer json;
    if (!engine->outputs)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "engine '%s' does not return its outputs",
                               engine->name);
    int code = engine->outputs(session, &tensors, &count, error);
    assay__json_start(&json, &text, false);
    assay__json_array(&json);
    for (size_t i = 0; i < count && !code; i++)
        code = write_one(&tensors[i], i, folder, &json, error);
    assay__json_array_end(&json);
    if (!code && text.failed) code = assay__no_memory(error);
    if (!code && assay__path_join(folder, LIST_NAME, path, sizeof path))
        code = assay_error_set(error, ASSAY_ELIMIT, "the path of the outputs is too long");
    if (!code) code = assay__file_write(path, text.data, text.length, error);
    assay__buf_free(&text);
    return code;
}

int assay__outputs_read(const char *folder, struct assay__arena *arena,
                        struct assay__output **outputs, size_t *count, struct assay_error *error)
{
    char path[PATH_MAX], *text = NULL;
    size_t length = 0, at = 0;
    struct assay__json *root = NULL;
    if (assay__path_join(folder, LIST_NAME, path, sizeof path))
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the outputs is too long");
    int code = assay__file_read(path, LIST_MOST, &text, &length, error);
    if (!code) code = assay__json_parse(arena, text, length, &root, error);
    *count = root ? root->count : 0;
    *outputs = code ? NULL : assay__arena_array(arena, *count, sizeof **outputs);
    if (!code && !*outputs) code = assay__no_memory(error);
    const struct assay__json *item = code ? NULL : root->first;
    for (; item && !assay__arena_failed(arena); item = item->next) {
        const struct assay__json *shape = assay__json_get(item, "shape");
        const char *file = assay__json_get_string(item, "file", "");
        size_t rank = shape ? shape->count : 0, axis = 0;
        int64_t *dims = assay__arena_array(arena, rank, sizeof *dims);
        for (const struct assay__json *d = dims && shape ? shape->first : NULL; d; d = d->next)
            dims[axis++] = d->integer;
        (*outputs)[at++] = (struct assay__output){
            .name = assay__arena_text(arena, "%s", assay__json_get_string(item, "name", "")),
            .dtype = (enum assay__dtype)assay__json_get_integer(item, "dtype", 0),
            .rank = (int)rank,
            .dims = dims,
            .file = *file ? assay__arena_text(arena, "%s/%s", folder, file) : "",
            .reason = assay__arena_text(arena, "%s", assay__json_get_string(item, "reason", ""))};
    }
    if (!code && assay__arena_failed(arena)) code = assay__no_memory(error);
    free(text);
    return code;
}
