/* safetensors.c - reads a safetensors file. Limits: a header of 64 MB (the format's own is 100),
 * eight dimensions. Types that are not listed are kept by name, and their size is not checked. */
#include "zoo/safetensors.h"

#include "base/checked.h"
#include "base/json.h"
#include "model/tensor_data.h"

#include <string.h>

#define HEADER_MOST (64u << 20)

static const struct {
    const char *name;
    size_t bytes;
} types[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2},    {"I64", 8},
             {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},      {"BOOL", 1},
             {"U16", 2}, {"U32", 4}, {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

static size_t type_bytes(const char *dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, dtype) == 0) return types[i].bytes;
    return 0;
}

static int damaged(const struct assay__safetensors *file, const char *name, const char *what,
                   struct assay_error *error)
{
    return assay_error_set(error, ASSAY_EFORMAT, "%s: '%.60s': %s", file->path, name, what);
}

static int read_tensor(const struct assay__safetensors *file, const struct assay__json *entry,
                       const uint8_t *data, size_t size, struct assay__safetensor *tensor,
                       struct assay_error *error)
{
    const struct assay__json *offsets = assay__json_get(entry, "data_offsets"),
                             *shape = assay__json_get(entry, "shape");
    tensor->name = entry->key;
    tensor->dtype = assay__json_get_string(entry, "dtype", "");
    tensor->elements = 1;
    if (!shape || shape->kind != ASSAY__JSON_ARRAY || shape->count > ASSAY__SAFETENSORS_RANK)
        return damaged(file, tensor->name, "a shape is missing or too long", error);
    for (const struct assay__json *dim = shape->first; dim; dim = dim->next) {
        if (!dim->is_integer || dim->integer < 0 ||
            assay__mul_i64_overflows(tensor->elements, dim->integer, &tensor->elements))
            return damaged(file, tensor->name, "a dimension is not a valid size", error);
        tensor->dims[tensor->rank++] = dim->integer;
    }
    if (!offsets || offsets->kind != ASSAY__JSON_ARRAY || offsets->count != 2)
        return damaged(file, tensor->name, "two data_offsets are missing", error);
    const struct assay__json *first = offsets->first, *past = first->next;
    if (!first->is_integer || !past->is_integer || first->integer < 0 ||
        past->integer < first->integer || (uint64_t)past->integer > size)
        return damaged(file, tensor->name, "its data is outside the file", error);
    tensor->data = data + first->integer;
    tensor->size = (size_t)(past->integer - first->integer);
    size_t width = type_bytes(tensor->dtype), needed = 0;
    if (width &&
        (assay__mul_overflows(width, (size_t)tensor->elements, &needed) || needed != tensor->size))
        return damaged(file, tensor->name, "the size of its data does not match its shape", error);
    return 0;
}

int assay__safetensors_parse(const uint8_t *bytes, size_t size, const char *path,
                             struct assay__arena *arena, struct assay__safetensors *file,
                             struct assay_error *error)
{
    struct assay__json *root = NULL;
    uint64_t length = 0;
    file->path = path;
    file->tensors = NULL;
    file->count = 0;
    if (size < 8)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: too short for a .safetensors file", path);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | bytes[i];
    if (length > size - 8 || length > HEADER_MOST || length < 2 || bytes[8] != '{')
        return assay_error_set(
            error, ASSAY_EFORMAT,
            "%s: not a .safetensors file, or truncated (its header would take %llu of %zu bytes)",
            path, (unsigned long long)length, size);
    struct assay_error detail = {0};
    int code = assay__json_parse(arena, (const char *)bytes + 8, (size_t)length, &root, &detail);
    if (code)
        return assay_error_set(error, code, "%.300s: its header: %.200s", path, detail.message);
    file->tensors = assay__arena_array(arena, root->count + 1, sizeof *file->tensors);
    if (!file->tensors) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (const struct assay__json *entry = root->first; entry; entry = entry->next) {
        if (strcmp(entry->key, "__metadata__") == 0) continue;
        if (assay__safetensors_find(file, entry->key))
            return damaged(file, entry->key, "is listed twice", error);
        code = read_tensor(file, entry, bytes + 8 + length, size - 8 - (size_t)length,
                           &file->tensors[file->count], error);
        if (code) return code;
        file->count++;
    }
    return 0;
}

int assay__safetensors_open(const char *path, struct assay__arena *arena,
                            struct assay__safetensors *file, struct assay_error *error)
{
    *file = (struct assay__safetensors){.path = path};
    int code = assay__file_map(path, &file->mapping, error);
    if (code) return code;
    code = assay__safetensors_parse(file->mapping.data, file->mapping.size, path, arena, file,
                                    error);
    if (code) assay__safetensors_close(file);
    return code;
}

void assay__safetensors_close(struct assay__safetensors *file)
{
    if (file->mapping.data) assay__file_unmap(&file->mapping);
    file->mapping = (struct assay__mapping){NULL, 0};
    file->tensors = NULL;
    file->count = 0;
}

struct assay__safetensor *assay__safetensors_find(struct assay__safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
    return NULL;
}

int assay__safetensor_floats(const struct assay__safetensor *tensor, float *out,
                             struct assay_error *error)
{
    const uint8_t *data = tensor->data;
    size_t count = (size_t)tensor->elements, width = type_bytes(tensor->dtype);
    bool brain = strcmp(tensor->dtype, "BF16") == 0;
    if (tensor->dtype[0] != 'F' && !brain) width = 0;
    for (size_t i = 0; width >= 2 && i < count; i++, data += width) {
        double wide = 0;
        uint16_t half = (uint16_t)(data[0] | data[1] << 8);
        uint32_t bits = (uint32_t)half << 16;
        if (width == 8) memcpy(&wide, data, 8);
        if (width == 4) memcpy(&out[i], data, 4);
        if (brain) memcpy(&out[i], &bits, 4);
        if (width == 8) out[i] = (float)wide;
        if (width == 2 && !brain) out[i] = assay__half_to_float(half);
    }
    if (width >= 2) return 0;
    return assay_error_set(error, ASSAY_EUNSUPPORTED,
                           "'%.60s' is of type %.20s; weights are F32, F64, F16 or BF16",
                           tensor->name, tensor->dtype);
}
