/* ort_values.c - tensors of the engine interface as values of ONNX Runtime, and back. Numeric
 * inputs use the caller's memory, numeric outputs are read where the library put them; strings are
 * copied, because the library uses C++ strings. Only the names of sequences, maps and optional
 * values are reported. */
#include "engine/ort/ort_session.h"

#include "base/checked.h"

#include <string.h>

/* ONNX data types from 24 on: FLOAT8E8M0, UINT2, INT2; ONNX Runtime's: UINT2, INT2, FLOAT8E8M0. */
int assay__ort_element_of(int onnx_dtype)
{
    return onnx_dtype == 24 ? 26 : onnx_dtype == 25 ? 24 : onnx_dtype == 26 ? 25 : onnx_dtype;
}

int assay__ort_dtype_of(int element)
{
    return element == 26 ? 24 : element == 24 ? 25 : element == 25 ? 26 : element;
}

unsigned assay__ort_dtype_bits(int onnx_dtype)
{
    static const unsigned char bits[] = {
        0,  32,  8,  8,  16, 16, 32,
        64, 0,   8,  16, 64, 32, 64, /* undefined, float, u8 … string, bool, f16 … uint64 */
        64, 128, 16, 8,  8,  8,  8,
        4,  4,   4,  8,  2,  2, /* complex, bfloat16, float8 x4, 4 bits x3, e8m0, 2 bits */
    };
    if (onnx_dtype < 0 || onnx_dtype >= (int)sizeof bits) return 0;
    return bits[onnx_dtype];
}

/* Elements of a shape; false for a negative dimension or too many. */
static bool element_count(const int64_t *dims, int rank, size_t *count)
{
    *count = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0 || assay__mul_overflows(*count, (size_t)dims[i], count)) return false;
    return true;
}

static int make_strings(struct assay__session *session, const struct assay__host_tensor *tensor,
                        size_t count, OrtValue **value, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    if (tensor->string_count != count || (count > 0 && !tensor->strings))
        return assay_error_set(error, ASSAY_EINVAL,
                               "input \"%s\": %zu strings for a shape of %zu elements",
                               tensor->name, tensor->string_count, count);
    OrtStatus *status = ort->create_tensor(session->allocator, tensor->dims, (size_t)tensor->rank,
                                           ASSAY__ORT_ELEMENT_STRING, value);
    if (!status && count > 0) status = ort->fill_string_tensor(*value, tensor->strings, count);
    return assay__ort_check(ort, status, error, tensor->name);
}

int assay__ort_value_make(struct assay__session *session, const struct assay__host_tensor *tensor,
                          OrtValue **value, struct assay_error *error)
{
    static unsigned char nothing[16]; /* the library needs an address even for no elements */
    const struct assay__ort *ort = &session->ort;
    *value = NULL;
    size_t count = 0, bits = 0;
    if (!tensor->name || tensor->rank < 0 || (tensor->rank > 0 && !tensor->dims))
        return assay_error_set(error, ASSAY_EINVAL, "an input without a name or a shape");
    if (!element_count(tensor->dims, tensor->rank, &count))
        return assay_error_set(error, ASSAY_EINVAL,
                               "input \"%s\": the shape is negative or too large", tensor->name);
    if (tensor->dtype == ASSAY__ORT_ELEMENT_STRING)
        return make_strings(session, tensor, count, value, error);
    unsigned width = assay__ort_dtype_bits(tensor->dtype);
    if (width == 0)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "input \"%s\": data type %d is not supported", tensor->name,
                               tensor->dtype);
    if (assay__mul_overflows(count, width, &bits) || (bits + 7) / 8 != tensor->data_size ||
        (count > 0 && !tensor->data))
        return assay_error_set(error, ASSAY_EINVAL,
                               "input \"%s\": %zu bytes do not match %zu elements of %u bits",
                               tensor->name, tensor->data_size, count, width);
    return assay__ort_check(
        ort,
        ort->create_tensor_with_data(session->cpu_memory, tensor->data ? tensor->data : nothing,
                                     tensor->data_size, tensor->dims, (size_t)tensor->rank,
                                     assay__ort_element_of(tensor->dtype), value),
        error, tensor->name);
}

/* The strings of a value, copied to the arena: the library returns them as one block with
 * offsets. */
static int view_strings(struct assay__session *session, OrtValue *value, size_t count,
                        struct assay__arena *arena, struct assay__host_tensor *tensor,
                        struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    size_t size = 0;
    int code = assay__ort_check(ort, ort->get_string_tensor_data_length(value, &size), error,
                                tensor->name);
    if (code) return code;
    char *text = assay__arena_alloc(arena, size + 1);
    size_t *offsets = assay__arena_array(arena, count + 1, sizeof *offsets);
    const char **strings = assay__arena_array(arena, count + 1, sizeof *strings);
    if (!text || !offsets || !strings) return assay__no_memory(error);
    if (count > 0)
        code = assay__ort_check(ort,
                                ort->get_string_tensor_content(value, text, size, offsets, count),
                                error, tensor->name);
    for (size_t i = 0; code == 0 && i < count; i++) {
        size_t end = i + 1 < count ? offsets[i + 1] : size;
        strings[i] = assay__arena_strndup(arena, text + offsets[i], end - offsets[i]);
        if (!strings[i]) return assay__no_memory(error);
    }
    tensor->strings = strings;
    tensor->string_count = count;
    return code;
}

OrtStatus *assay__ort_shape_read(const struct assay__ort *ort, const OrtValue *value,
                                 struct assay__ort_shape *shape)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    memset(shape, 0, sizeof *shape);
    OrtStatus *status = ort->get_tensor_type_and_shape(value, &info);
    if (!status) status = ort->get_tensor_element_type(info, &shape->element);
    if (!status) status = ort->get_tensor_shape_element_count(info, &shape->count);
    if (!status) status = ort->get_dimensions_count(info, &shape->rank);
    if (!status && shape->rank > ASSAY__ORT_RANK_MOST)
        status = ort->create_status(ASSAY__ORT_FAIL, "too many dimensions");
    if (!status && shape->rank) status = ort->get_dimensions(info, shape->dims, shape->rank);
    if (info) ort->release_tensor_type_and_shape_info(info);
    return status;
}

size_t assay__ort_shape_bytes(const struct assay__ort_shape *shape)
{
    size_t bits = assay__ort_dtype_bits(assay__ort_dtype_of(shape->element));
    return bits >= 8 ? shape->count * (bits / 8) : (shape->count * bits + 7) / 8;
}

int assay__ort_value_view(struct assay__session *session, OrtValue *value, const char *name,
                          struct assay__arena *arena, struct assay__host_tensor *tensor,
                          struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    memset(tensor, 0, sizeof *tensor);
    tensor->name = name;
    int present = 0, is_tensor = 0;
    if (!value) return 0;
    OrtStatus *status = ort->has_value(value, &present);
    if (!status && present) status = ort->is_tensor(value, &is_tensor);
    int code = assay__ort_check(ort, status, error, name);
    if (code || !is_tensor) return code;
    struct assay__ort_shape shape;
    code = assay__ort_check(ort, assay__ort_shape_read(ort, value, &shape), error, name);
    if (code) return code;
    int64_t *dims = assay__arena_array(arena, shape.rank + 1, sizeof *dims);
    if (!dims) return assay__no_memory(error);
    memcpy(dims, shape.dims, shape.rank * sizeof *dims);
    tensor->dims = dims;
    tensor->rank = (int)shape.rank;
    tensor->dtype = assay__ort_dtype_of(shape.element);
    size_t count = 0, bits = 0;
    if (!element_count(dims, tensor->rank, &count) ||
        assay__mul_overflows(count, assay__ort_dtype_bits(tensor->dtype), &bits))
        return assay_error_set(error, ASSAY_EENGINE, "output \"%s\" has an impossible shape", name);
    if (tensor->dtype == ASSAY__ORT_ELEMENT_STRING)
        return view_strings(session, value, count, arena, tensor, error);
    tensor->data_size = (bits + 7) / 8;
    return assay__ort_check(ort, ort->get_tensor_mutable_data(value, &tensor->data), error, name);
}

void assay__ort_release_values(const struct assay__ort *ort, OrtValue **values, size_t count)
{
    for (size_t i = 0; values && i < count; i++) {
        if (values[i]) ort->release_value(values[i]);
        values[i] = NULL;
    }
}
