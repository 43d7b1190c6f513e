/* onnx_sparse.c - reads a SparseTensorProto: a dense shape, a list of values (whose name is the
 * tensor's), and their places: [n] linear or [n, rank] coordinates. The numbers are not expanded;
 * the writer of the graph writes the message back verbatim. */
#include "base/checked.h"
#include "model/onnx/onnx.h"

struct sparse {
    struct assay__tensor values, indices;
    int64_t dims[ASSAY__ONNX_RANK];
    int rank;
    bool has_values, has_indices;
};

static void read_field(struct assay__reader *reader, const struct assay__wire_field *field,
                       struct sparse *sparse)
{
    switch (field->number) {
    case SPARSE_VALUES:
        sparse->has_values = true;
        assay__onnx_tensor(reader, field, &sparse->values);
        break;
    case SPARSE_INDICES:
        sparse->has_indices = true;
        assay__onnx_tensor(reader, field, &sparse->indices);
        break;
    case SPARSE_DIMS:
        assay__onnx_dims(reader, field, "a sparse tensor", sparse->dims, &sparse->rank);
        break;
    default: break;
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
    return indices->rank == 2 && indices->dims[0] == stored && indices->dims[1] == sparse->rank;
}

static void fill_tensor(struct assay__reader *reader, const struct assay__wire_field *message,
                        const struct sparse *sparse, struct assay__tensor *tensor)
{
    tensor->name = sparse->values.name;
    tensor->dtype = sparse->values.dtype;
    tensor->rank = sparse->rank;
    assay__onnx_shape(reader, message, sparse->dims, tensor);
    if (reader->code) return;
    if (sparse->values.rank != 1 || sparse->values.elements > tensor->elements ||
        !indices_fit(sparse)) {
        assay__reader_fail(reader, message->start,
                           "sparse tensor '%.80s': values, indices and shape do not fit together",
                           tensor->name);
        return;
    }
    size_t values = assay__dtype_bytes(tensor->dtype, sparse->values.elements), total = 0;
    size_t places = sparse->has_indices ? assay__dtype_bytes(ASSAY__INT64, sparse->indices.elements)
                                        : 0;
    if (assay__add_overflows(values, places, &total) || total > INT64_MAX)
        assay__reader_fail(reader, message->start, "sparse tensor '%.80s' is too large",
                           tensor->name);
    tensor->nonzeros = sparse->values.elements;
    tensor->sparse_bytes = (int64_t)total;
}

void assay__onnx_sparse(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__tensor *tensor)
{
    struct sparse sparse = {.values.name = "", .rank = 0};
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *tensor = (struct assay__tensor){.name = "", .location = ""};
    if (!assay__reader_message(reader, message)) return;
    tensor->raw = message->data;
    tensor->raw_size = message->size;
    while (assay__reader_next(reader, &wire, &field, "a sparse tensor"))
        read_field(reader, &field, &sparse);
    if (!sparse.has_values)
        assay__reader_fail(reader, message->start, "a sparse tensor has no values");
    if (!reader->code) fill_tensor(reader, message, &sparse, tensor);
}
