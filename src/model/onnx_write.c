/* onnx_write.c - writes the structures of graph.h as an ONNX file.
 *
 * protobuf puts a message's length in front of it. The output is a list of pieces, in order:
 * small bytes that we encode (in one growing buffer), bytes that lie elsewhere (weights in the
 * mapping, fields carried verbatim) and lengths. A length piece is left empty when a message
 * begins and filled when it ends, when the running total is known: one pass, and no weight is
 * ever copied. The pieces then go to a temporary file beside the target, which is renamed over
 * it. Limits: protobuf readers take less than 2 GiB; a larger file is refused (keep the tensors
 * external). Not synced to disk: the files are results that can be made again. */
#include "model/onnx.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct piece {
    const uint8_t *data; /* NULL: bytes of our buffer from `offset` */
    size_t offset;
    size_t size;
};

struct writer {
    const struct assay__model *model;
    struct assay__arena *scratch; /* for reading originals again */
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t total;
    int failed;
};

static struct piece *add_piece(struct writer *writer)
{
    if (assay__vec_grow((void **)&writer->pieces, &writer->piece_capacity, writer->piece_count + 1,
                        sizeof *writer->pieces)) {
        writer->failed = ASSAY_ENOMEM;
        return NULL;
    }
    struct piece *piece = &writer->pieces[writer->piece_count++];
    *piece = (struct piece){.data = NULL};
    return piece;
}

/* Bytes of ours; appended to the last piece when that ends where these begin. */
static void put_own(struct writer *writer, const void *data, size_t size)
{
    if (writer->failed || size == 0) return;
    if (assay__vec_grow((void **)&writer->bytes, &writer->byte_capacity, writer->byte_count + size,
                        1)) {
        writer->failed = ASSAY_ENOMEM;
        return;
    }
    struct piece *last = writer->piece_count ? &writer->pieces[writer->piece_count - 1] : NULL;
    if (!last || last->data || last->size == 0 || last->offset + last->size != writer->byte_count) {
        if (!(last = add_piece(writer))) return;
        last->offset = writer->byte_count;
    }
    memcpy(writer->bytes + writer->byte_count, data, size);
    writer->byte_count += size;
    last->size += size;
    writer->total += size;
}

/* Bytes that lie elsewhere and outlive the writer. */
static void put_foreign(struct writer *writer, const uint8_t *data, size_t size)
{
    if (writer->failed || size == 0) return;
    if (size <= 64) {
        put_own(writer, data, size);
        return;
    }
    struct piece *piece = add_piece(writer);
    if (!piece) return;
    piece->data = data;
    piece->size = size;
    writer->total += size;
}

static size_t encode_varint(uint64_t value, uint8_t out[10])
{
    size_t size = 0;
    do {
        out[size] = (uint8_t)(value & 0x7f);
        value >>= 7;
        if (value) out[size] |= 0x80;
        size++;
    } while (value);
    return size;
}

static void put_varint(struct writer *writer, uint64_t value)
{
    uint8_t bytes[10];
    put_own(writer, bytes, encode_varint(value, bytes));
}

static void put_tag(struct writer *writer, uint32_t number, int type)
{
    put_varint(writer, (uint64_t)number << 3 | (uint64_t)type);
}

static void put_int(struct writer *writer, uint32_t number, int64_t value)
{
    put_tag(writer, number, ASSAY__WIRE_VARINT);
    put_varint(writer, (uint64_t)value);
}

static void put_bytes(struct writer *writer, uint32_t number, const void *data, size_t size)
{
    put_tag(writer, number, ASSAY__WIRE_BYTES);
    put_varint(writer, size);
    put_foreign(writer, data, size);
}

static void put_text(struct writer *writer, uint32_t number, const char *text)
{
    put_bytes(writer, number, text, strlen(text));
}

static void put_text_unless_empty(struct writer *writer, uint32_t number, const char *text)
{
    if (text && *text) put_text(writer, number, text);
}

static void put_float_bits(struct writer *writer, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16),
                        (uint8_t)(bits >> 24)};
    put_own(writer, bytes, sizeof bytes);
}

struct open_message {
    size_t piece;
    uint64_t before;
};

/* A message whose length is not yet known. The length goes into the piece reserved here, at
 * message_end. */
static struct open_message message_begin(struct writer *writer, uint32_t number)
{
    put_tag(writer, number, ASSAY__WIRE_BYTES);
    struct open_message open = {writer->piece_count, 0};
    if (!writer->failed) add_piece(writer);
    open.before = writer->total;
    return open;
}

static void message_end(struct writer *writer, struct open_message open)
{
    uint8_t bytes[10];
    if (writer->failed) return;
    size_t size = encode_varint(writer->total - open.before, bytes);
    if (assay__vec_grow((void **)&writer->bytes, &writer->byte_capacity, writer->byte_count + size,
                        1)) {
        writer->failed = ASSAY_ENOMEM;
        return;
    }
    struct piece *piece = &writer->pieces[open.piece];
    piece->offset = writer->byte_count;
    piece->size = size;
    memcpy(writer->bytes + writer->byte_count, bytes, size);
    writer->byte_count += size;
    writer->total += size;
}

/* --- tensors and values ----------------------------------------------------------------------- */

static struct assay__onnx_reader quiet_reader(struct writer *writer, const uint8_t *base)
{
    return (struct assay__onnx_reader){.arena = writer->scratch, .base = base, .label = ""};
}

static bool tensor_unchanged(struct writer *writer, const struct assay__tensor *tensor)
{
    struct assay__tensor original;
    struct assay__onnx_reader reader = quiet_reader(writer, tensor->raw);
    if (!tensor->raw || tensor->data != tensor->raw_data) return false;
    if (assay__onnx_tensor(&reader, tensor->raw, tensor->raw_size, &original)) return false;
    return strcmp(original.name, tensor->name) == 0 && original.dtype == tensor->dtype &&
           original.rank == tensor->rank && original.external == tensor->external &&
           strcmp(original.location, tensor->location) == 0 && original.offset == tensor->offset &&
           original.length == tensor->length &&
           memcmp(original.dims, tensor->dims, (size_t)tensor->rank * sizeof *tensor->dims) == 0;
}

static void put_entry(struct writer *writer, uint32_t number, const char *key, const char *value)
{
    struct open_message open = message_begin(writer, number);
    put_text(writer, ENTRY_KEY, key);
    put_text(writer, ENTRY_VALUE, value);
    message_end(writer, open);
}

static void put_external(struct writer *writer, const struct assay__tensor *tensor)
{
    char number[24];
    put_entry(writer, TENSOR_EXTERNAL, "location", tensor->location);
    if (tensor->offset) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)tensor->offset);
        put_entry(writer, TENSOR_EXTERNAL, "offset", number);
    }
    if (tensor->length) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)tensor->length);
        put_entry(writer, TENSOR_EXTERNAL, "length", number);
    }
    put_int(writer, TENSOR_LOCATION, 1);
}

/* Content of one TensorProto. Data goes out as raw_data, strings as string_data. */
static void put_tensor_content(struct writer *writer, const struct assay__tensor *tensor)
{
    if (tensor_unchanged(writer, tensor)) {
        put_foreign(writer, tensor->raw, tensor->raw_size);
        return;
    }
    if (tensor->rank > 0) {
        struct open_message dims = message_begin(writer, TENSOR_DIMS); /* packed */
        for (int i = 0; i < tensor->rank; i++)
            put_varint(writer, (uint64_t)tensor->dims[i]);
        message_end(writer, dims);
    }
    put_int(writer, TENSOR_TYPE, (int64_t)tensor->dtype);
    for (size_t i = 0; i < tensor->string_count; i++)
        put_text(writer, TENSOR_STRINGS, tensor->strings[i]);
    put_text_unless_empty(writer, TENSOR_NAME, tensor->name);
    if (tensor->external)
        put_external(writer, tensor);
    else if (tensor->data || (tensor->elements == 0 && tensor->dtype != ASSAY__STRING))
        put_bytes(writer, TENSOR_RAW, tensor->data, tensor->data_size);
    else if (tensor->elements != (int64_t)tensor->string_count)
        writer->failed =
            ASSAY_EUNSUPPORTED; /* a large undecoded tensor that was renamed or reshaped */
}

static void put_tensor(struct writer *writer, uint32_t number, const struct assay__tensor *tensor)
{
    struct open_message open = message_begin(writer, number);
    put_tensor_content(writer, tensor);
    message_end(writer, open);
}

static bool value_unchanged(struct writer *writer, const struct assay__value *value)
{
    struct assay__value original;
    struct assay__onnx_reader reader = quiet_reader(writer, value->raw);
    if (!value->raw) return false;
    if (assay__onnx_value(&reader, value->raw, value->raw_size, &original)) return false;
    if (strcmp(original.name, value->name) != 0 || original.kind != value->kind ||
        original.dtype != value->dtype || original.rank != value->rank)
        return false;
    for (int i = 0; i < value->rank; i++)
        if (original.dims[i].value != value->dims[i].value ||
            strcmp(original.dims[i].symbol, value->dims[i].symbol) != 0)
            return false;
    return true;
}

static void put_tensor_type(struct writer *writer, const struct assay__value *value)
{
    struct open_message tensor = message_begin(writer, TYPE_TENSOR);
    put_int(writer, TENSORTYPE_ELEMENT, (int64_t)value->dtype);
    if (value->rank >= 0) {
        struct open_message shape = message_begin(writer, TENSORTYPE_SHAPE);
        for (int i = 0; i < value->rank; i++) {
            struct open_message dim = message_begin(writer, SHAPE_DIM);
            if (value->dims[i].value >= 0)
                put_int(writer, DIM_VALUE, value->dims[i].value);
            else
                put_text_unless_empty(writer, DIM_PARAM, value->dims[i].symbol);
            message_end(writer, dim);
        }
        message_end(writer, shape);
    }
    message_end(writer, tensor);
}

static void put_value(struct writer *writer, uint32_t number, const struct assay__value *value)
{
    struct open_message open = message_begin(writer, number);
    if (value_unchanged(writer, value)) {
        put_foreign(writer, value->raw, value->raw_size);
    } else {
        put_text(writer, VALUE_NAME, value->name);
        if (value->type_proto) {
            put_bytes(writer, VALUE_TYPE, value->type_proto, value->type_proto_size);
        } else if (value->kind == ASSAY__KIND_TENSOR) {
            struct open_message type = message_begin(writer, VALUE_TYPE);
            put_tensor_type(writer, value);
            message_end(writer, type);
        }
    }
    message_end(writer, open);
}

/* --- attributes, nodes, graphs ---------------------------------------------------------------- */

static void put_graph(struct writer *writer, uint32_t number, const struct assay__graph *graph,
                      int depth);

/* Everything of the original but its graphs, which are written from the structures. */
static void put_attr_original(struct writer *writer, const struct assay__attr *attr)
{
    struct assay__wire wire = assay__wire_over(attr->raw, attr->raw_size);
    struct assay__wire_field field;
    if (!attr->g && !attr->graphs) {
        put_foreign(writer, attr->raw, attr->raw_size);
        return;
    }
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number != ATTR_G && field.number != ATTR_GRAPHS)
            put_foreign(writer, field.start, field.total);
}

static void put_attr_fields(struct writer *writer, const struct assay__attr *attr)
{
    put_text(writer, ATTR_NAME, attr->name);
    switch (attr->type) {
    case ASSAY__ATTR_FLOAT:
        put_tag(writer, ATTR_F, ASSAY__WIRE_FIXED32);
        put_float_bits(writer, attr->f);
        break;
    case ASSAY__ATTR_INT: put_int(writer, ATTR_I, attr->i); break;
    case ASSAY__ATTR_STRING: put_bytes(writer, ATTR_S, attr->s, attr->s_size); break;
    case ASSAY__ATTR_TENSOR:
        if (attr->t) put_tensor(writer, ATTR_T, attr->t);
        break;
    case ASSAY__ATTR_FLOATS:
        for (size_t i = 0; i < attr->count; i++) {
            put_tag(writer, ATTR_FLOATS, ASSAY__WIRE_FIXED32);
            put_float_bits(writer, attr->floats[i]);
        }
        break;
    case ASSAY__ATTR_INTS:
        for (size_t i = 0; i < attr->count; i++)
            put_int(writer, ATTR_INTS, attr->ints[i]);
        break;
    case ASSAY__ATTR_STRINGS:
        for (size_t i = 0; i < attr->count; i++)
            put_text(writer, ATTR_STRINGS, attr->strings[i]);
        break;
    case ASSAY__ATTR_GRAPH:
    case ASSAY__ATTR_GRAPHS: break;
    default: writer->failed = ASSAY_EUNSUPPORTED; return; /* types that only a file can bring */
    }
    put_int(writer, ATTR_TYPE, (int64_t)attr->type);
    put_text_unless_empty(writer, ATTR_REFERENCE, attr->reference);
}

static void put_attr(struct writer *writer, const struct assay__attr *attr, int depth)
{
    struct open_message open = message_begin(writer, NODE_ATTRIBUTE);
    if (attr->raw)
        put_attr_original(writer, attr);
    else
        put_attr_fields(writer, attr);
    if (attr->g) put_graph(writer, ATTR_G, attr->g, depth + 1);
    for (size_t i = 0; attr->graphs && i < attr->count; i++)
        put_graph(writer, ATTR_GRAPHS, attr->graphs[i], depth + 1);
    message_end(writer, open);
}

static void put_node(struct writer *writer, const struct assay__node *node, int depth)
{
    struct open_message open = message_begin(writer, GRAPH_NODE);
    for (size_t i = 0; i < node->input_count; i++)
        put_text(writer, NODE_INPUT, node->inputs[i]);
    for (size_t i = 0; i < node->output_count; i++)
        put_text(writer, NODE_OUTPUT, node->outputs[i]);
    put_text_unless_empty(writer, NODE_NAME, node->name);
    put_text(writer, NODE_OP, node->op);
    for (size_t i = 0; i < node->attr_count; i++)
        put_attr(writer, &node->attrs[i], depth);
    put_text_unless_empty(writer, NODE_DOC, node->doc);
    put_text_unless_empty(writer, NODE_DOMAIN, node->domain);
    put_foreign(writer, node->extra, node->extra_size);
    message_end(writer, open);
}

static void put_graph(struct writer *writer, uint32_t number, const struct assay__graph *graph,
                      int depth)
{
    if (depth > ASSAY__ONNX_DEPTH) {
        writer->failed = ASSAY_ELIMIT;
        return;
    }
    struct open_message open = message_begin(writer, number);
    for (size_t i = 0; i < graph->node_count; i++)
        put_node(writer, &graph->nodes[i], depth);
    put_text_unless_empty(writer, GRAPH_NAME, graph->name);
    for (size_t i = 0; i < graph->initializer_count; i++)
        put_tensor(writer, GRAPH_INITIALIZER, &graph->initializers[i]);
    for (size_t i = 0; i < graph->input_count; i++)
        put_value(writer, GRAPH_INPUT, &graph->inputs[i]);
    for (size_t i = 0; i < graph->output_count; i++)
        put_value(writer, GRAPH_OUTPUT, &graph->outputs[i]);
    for (size_t i = 0; i < graph->value_count; i++)
        put_value(writer, GRAPH_VALUE, &graph->values[i]);
    put_foreign(writer, graph->sparse, graph->sparse_size);
    put_foreign(writer, graph->extra, graph->extra_size);
    message_end(writer, open);
}

static void put_model(struct writer *writer, const struct assay__model *model)
{
    put_int(writer, MODEL_IR_VERSION, model->ir_version);
    put_text_unless_empty(writer, MODEL_PRODUCER, model->producer);
    put_text_unless_empty(writer, MODEL_PRODUCER_VERSION, model->producer_version);
    put_text_unless_empty(writer, MODEL_DOMAIN, model->domain);
    if (model->model_version) put_int(writer, MODEL_VERSION, model->model_version);
    put_text_unless_empty(writer, MODEL_DOC, model->doc);
    put_graph(writer, MODEL_GRAPH, &model->graph, 0);
    for (size_t i = 0; i < model->opset_count; i++) {
        struct open_message open = message_begin(writer, MODEL_OPSET);
        put_text(writer, OPSET_DOMAIN, model->opsets[i].domain);
        put_int(writer, OPSET_VERSION, model->opsets[i].version);
        message_end(writer, open);
    }
    put_foreign(writer, model->extra, model->extra_size);
}

/* --- the file --------------------------------------------------------------------------------- */

static int write_all(int fd, const uint8_t *data, size_t size)
{
    while (size > 0) {
        size_t chunk = size < (size_t)1 << 30 ? size : (size_t)1 << 30;
        ssize_t wrote = write(fd, data, chunk);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        data += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

/* Small pieces are gathered; large ones go out from where they lie. Returns an errno. */
static int write_pieces(const struct writer *writer, int fd)
{
    enum { GATHER = 1 << 16 };
    uint8_t *gathered = malloc(GATHER);
    size_t have = 0;
    int number = gathered ? 0 : ENOMEM;
    for (size_t i = 0; i < writer->piece_count && !number; i++) {
        const struct piece *piece = &writer->pieces[i];
        const uint8_t *data = piece->data ? piece->data : writer->bytes + piece->offset;
        if (piece->size > GATHER - have) {
            number = write_all(fd, gathered, have);
            have = 0;
        }
        if (number) break;
        if (piece->size > GATHER) {
            number = write_all(fd, data, piece->size);
        } else if (piece->size) {
            memcpy(gathered + have, data, piece->size);
            have += piece->size;
        }
    }
    if (!number) number = write_all(fd, gathered, have);
    free(gathered);
    return number;
}

/* A fresh file beside `path`. Returns its descriptor, or -1 with errno set. */
static int open_temporary(const char *path, char *out, size_t out_size)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        int length = snprintf(out, out_size, "%s.%ld.%u.tmp", path, (long)getpid(), attempt);
        if (length < 0 || (size_t)length >= out_size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static int write_file(const struct writer *writer, const char *path, struct assay_error *error)
{
    char temporary[4096];
    int fd = open_temporary(path, temporary, sizeof temporary);
    if (fd < 0)
        return assay_error_set(error, ASSAY_EIO, "%.400s: cannot write: %s", path, strerror(errno));
    int number = write_pieces(writer, fd);
    if (close(fd) && !number) number = errno;
    if (!number && rename(temporary, path)) number = errno;
    if (!number) return 0;
    unlink(temporary);
    return assay_error_set(error, ASSAY_EIO, "%.400s: cannot write: %s", path, strerror(number));
}

static int writer_error(const struct writer *writer, const char *path, struct assay_error *error)
{
    if (writer->failed == ASSAY_EUNSUPPORTED)
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "%.300s: the model holds an edited attribute or tensor of a kind that "
            "cannot be written",
            path);
    if (writer->failed)
        return assay_error_set(error, writer->failed, "%.300s: %s", path,
                               assay_error_text(writer->failed));
    if (writer->total > INT_MAX)
        return assay_error_set(
            error, ASSAY_ELIMIT,
            "%.300s: the model would take %.2f GB in one file; ONNX files end at "
            "2 GB (keep its tensors as external data)",
            path, (double)writer->total / 1e9);
    return 0;
}

int assay__model_write(const struct assay__model *model, const char *path,
                       struct assay_error *error)
{
    struct writer writer = {.model = model, .scratch = assay__arena_new()};
    if (!writer.scratch) return assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
    put_model(&writer, model);
    int code = writer_error(&writer, path, error);
    if (!code) code = write_file(&writer, path, error);
    free(writer.bytes);
    free(writer.pieces);
    assay__arena_free(writer.scratch);
    return code;
}
