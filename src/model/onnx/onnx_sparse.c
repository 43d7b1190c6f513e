/* onnx_sparse.c - reads a SparseTensorProto: a dense shape, a list of values (whose name is the
 * tensor's), and where they lie: [n] linear or [n, rank] coordinates. The numbers are not expanded;
 * whoever writes the graph writes the message back as it was. */
#include "base/checked.h"
#include "model/onnx/onnx.h"

struct sparse {
    struct assay__tensor values, indices;
    int64_t dims[ASSAY__ONNX_RANK];
    size_t rank;
    bool has_values, has_indices;
};

static int read_field(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                      struct sparse *sparse)
{
    size_t count = 0;
    int code = 0;
    switch (field->number) {
    case SPARSE_VALUES:
    case SPARSE_INDICES:
        if ((code = assay__onnx_message(reader, field))) return code;
        *(field->number == SPARSE_VALUES ? &sparse->has_values : &sparse->has_indices) = true;
        return assay__onnx_tensor(reader, field->data, field->size,
                                  field->number == SPARSE_VALUES ? &sparse->values
                                                                 : &sparse->indices);
    case SPARSE_DIMS:
        if (!assay__wire_count(field, ASSAY__WIRE_VARINT, &count))
            return assay__onnx_fail(reader, field->start,
                                    "a sparse tensor's dimensions are not numbers");
        if (count > ASSAY__ONNX_RANK - sparse->rank)
            return assay__onnx_fail(reader, field->start,
                                    "a sparse tensor has more than %d dimensions",
                                    ASSAY__ONNX_RANK);
        if (!assay__wire_items(field, ASSAY__WIRE_VARINT, (uint64_t *)sparse->dims, &sparse->rank))
            return assay__onnx_fail(reader, field->start,
                                    "a sparse tensor's dimension has too many bytes");
        return 0;
    default: return 0;
    }
}

/* Does the list of places fit the values and the shape? */
static bool indices_fit(const struct sparse *sparse)
{
    const struct assay__tensor *indices = &sparse->indices;
    int64_t stored = sparse->values.elements;
    if (!sparse->has_indices) return stored == 0;
    if (indices->dtype != ASSAY__INT64) return false;
    if (indices->rank == 1) return indices->dims[0] == stored;
    return indices->rank == 2 && indices->dims[0] == stored &&
           indices->dims[1] == (int64_t)sparse->rank;
}

static int fill_tensor(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                       const struct sparse *sparse, struct assay__tensor *tensor)
{
    const char *name = sparse->values.name;
    tensor->name = name;
    tensor->dtype = sparse->values.dtype;
    tensor->rank = (int)sparse->rank;
    tensor->elements = 1;
    tensor->dims = assay__arena_array(reader->arena, sparse->rank, sizeof *tensor->dims);
    if (!tensor->dims) return assay__onnx_no_memory(reader);
    for (size_t i = 0; i < sparse->rank; i++) {
        int64_t dim = tensor->dims[i] = sparse->dims[i];
        if (dim < 0 || assay__mul_i64_overflows(tensor->elements, dim, &tensor->elements))
            return assay__onnx_fail(reader, message->start,
                                    "sparse tensor '%.80s' has an impossible shape", name);
    }
    if (sparse->values.rank != 1 || sparse->values.elements > tensor->elements ||
        !indices_fit(sparse))
        return assay__onnx_fail(reader, message->start,
                                "sparse tensor '%.80s': its values, indices and shape do not fit "
                                "together",
                                name);
    size_t values = assay__dtype_bytes(tensor->dtype, sparse->values.elements), total = 0;
    size_t places = sparse->has_indices ? assay__dtype_bytes(ASSAY__INT64, sparse->indices.elements)
                                        : 0;
    if (assay__dtype_bytes(tensor->dtype, tensor->elements) == SIZE_MAX ||
        assay__add_overflows(values, places, &total) || total > INT64_MAX)
        return assay__onnx_fail(reader, message->start, "sparse tensor '%.80s' is too large", name);
    tensor->nonzeros = sparse->values.elements;
    tensor->sparse_bytes = (int64_t)total;
    return 0;
}

int assay__onnx_sparse(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                       struct assay__tensor *tensor)
{
    struct sparse sparse = {.values.name = "", .rank = 0};
    struct assay__wire_field field;
    int status = 0, code = assay__onnx_message(reader, message);
    *tensor = (struct assay__tensor){.name = "", .location = ""};
    if (code) return code;
    tensor->raw = message->data;
    tensor->raw_size = message->size;
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    while ((status = assay__onnx_next(reader, &wire, &field, "a sparse tensor")) > 0)
        if ((code = read_field(reader, &field, &sparse))) return code;
    if (status) return status;
    if (!sparse.has_values)
        return assay__onnx_fail(reader, message->start, "a sparse tensor has no values");
    return fill_tensor(reader, message, &sparse, tensor);
}
