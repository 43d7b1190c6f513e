/* onnx_write.c - writes the structures of graph.h as an ONNX file.
 *
 * protobuf puts the length of a message before it. The output is a list of pieces, in order: small
 * bytes that we encode (in one growing buffer), bytes stored elsewhere (weights in the mapping,
 * fields kept verbatim), weights to be generated, and lengths. A length piece is left empty when a
 * message begins and filled when it ends, once the running total is known: one pass, and no weight
 * is ever copied. Then the pieces are written to a file.
 *
 * protobuf readers accept less than 2 GiB. If the pieces exceed LIMIT they are discarded (no
 * weights were accessed yet) and rebuilt with the large initializers as external data in a second
 * file. External data that the new file could not find at its location is copied into the second
 * file too. */
#include "model/onnx/onnx.h"

#include "base/vec.h"
#include "model/tensor_data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT UINT64_C(1900000000)
#define SPILL_BYTES 1024 /* smaller tensors stay in the model */
#define SPILL_ALIGN 4096

struct piece {
    const uint8_t *data;                      /* NULL: bytes of `bytes` from `offset` */
    const struct assay__generator *generator; /* or float32 made while writing */
    size_t offset;
    size_t size;
};

struct spilled {
    const struct assay__tensor *tensor;
    uint64_t offset; /* in the data file */
    size_t size;
};

struct output {
    const struct assay__model *model;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t total;          /* bytes of all pieces */
    struct spilled *spilled; /* in order of offset */
    size_t spilled_count, spilled_capacity;
    const volatile int *interrupt; /* if not 0, writing ends between blocks; NULL: never */
};

struct writer {
    const struct assay__model *model;
    struct assay__arena *scratch; /* for reading originals again */
    struct output out;
    const char *folder;   /* where the file goes */
    const char *location; /* name of the data file beside it */
    bool spill;           /* large initializers to the data file */
    bool copy_all;        /* external data too, whatever it is */
    bool clash;           /* a kept reference has the name of the data file */
    bool same_folder;     /* the model was read from the folder it is written to */
    const char *judged;   /* the last location checked by goes_beside, and the result */
    bool judged_same;
    int failed;
};

static struct piece *add_piece(struct writer *writer)
{
    if (assay__vec_grow((void **)&writer->out.pieces, &writer->out.piece_capacity,
                        writer->out.piece_count + 1, sizeof *writer->out.pieces)) {
        writer->failed = ASSAY_ENOMEM;
        return NULL;
    }
    struct piece *piece = &writer->out.pieces[writer->out.piece_count++];
    *piece = (struct piece){.data = NULL};
    return piece;
}

/* Appends to our own bytes; false when out of memory. */
static bool append(struct writer *writer, const void *data, size_t size)
{
    if (assay__vec_grow((void **)&writer->out.bytes, &writer->out.byte_capacity,
                        writer->out.byte_count + size, 1)) {
        writer->failed = ASSAY_ENOMEM;
        return false;
    }
    memcpy(writer->out.bytes + writer->out.byte_count, data, size);
    writer->out.byte_count += size;
    writer->out.total += size;
    return true;
}

/* Our own bytes; appended to the last piece if that ends where these begin. */
static void put_own(struct writer *writer, const void *data, size_t size)
{
    size_t offset = writer->out.byte_count;
    if (writer->failed || size == 0 || !append(writer, data, size)) return;
    struct piece *last = writer->out.piece_count ? &writer->out.pieces[writer->out.piece_count - 1]
                                                 : NULL;
    if (!last || last->data || last->generator || last->size == 0 ||
        last->offset + last->size != offset) {
        if (!(last = add_piece(writer))) return;
        last->offset = offset;
    }
    last->size += size;
}

/* Bytes stored elsewhere that outlive the writer. */
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
    writer->out.total += size;
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

/* A message whose length is not yet known. message_end puts the length into the piece reserved
 * here. */
static struct open_message message_begin(struct writer *writer, uint32_t number)
{
    put_tag(writer, number, ASSAY__WIRE_BYTES);
    struct open_message open = {writer->out.piece_count, 0};
    if (!writer->failed) add_piece(writer);
    open.before = writer->out.total;
    return open;
}

static void message_end(struct writer *writer, struct open_message open)
{
    uint8_t bytes[10];
    size_t size = encode_varint(writer->out.total - open.before, bytes);
    size_t offset = writer->out.byte_count;
    if (writer->failed || !append(writer, bytes, size)) return;
    writer->out.pieces[open.piece].offset = offset;
    writer->out.pieces[open.piece].size = size;
}

/* --- tensors and values ----------------------------------------------------------------------- */

static struct assay__reader quiet_reader(struct writer *writer, const uint8_t *base)
{
    return (struct assay__reader){.arena = writer->scratch, .base = base, .label = ""};
}

/* A message whose bytes are written back verbatim. */
static struct assay__wire_field message_of(const uint8_t *raw, size_t size)
{
    return (struct assay__wire_field){
        .type = ASSAY__WIRE_BYTES, .data = raw, .size = size, .start = raw};
}

static bool tensor_unchanged(struct writer *writer, const struct assay__tensor *tensor)
{
    struct assay__tensor original;
    struct assay__reader reader = quiet_reader(writer, tensor->raw);
    struct assay__wire_field message = message_of(tensor->raw, tensor->raw_size);
    if (!tensor->raw || tensor->data != tensor->raw_data || tensor->generator) return false;
    assay__onnx_tensor(&reader, &message, &original);
    if (reader.code) return false;
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

/* --- where a tensor's numbers go -------------------------------------------------------------- */

static bool is_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Whether the tensor's data goes into the data file. External data stays where it is if its
 * reference means the same file from the new file's folder. Neighbours share their location, so the
 * last result is cached. */
static bool goes_beside(struct writer *writer, const struct assay__tensor *tensor, bool initializer)
{
    const char *location = tensor->location;
    char old[PATH_MAX], fresh[PATH_MAX];
    if (!tensor->external) {
        size_t size = assay__dtype_bytes(tensor->dtype, tensor->elements);
        return writer->spill && initializer && tensor->dtype != ASSAY__STRING &&
               size >= SPILL_BYTES;
    }
    if (writer->copy_all) return true;
    if (!writer->same_folder && (!writer->judged || strcmp(writer->judged, location) != 0)) {
        writer->judged = location;
        writer->judged_same = !assay__path_join(writer->model->folder, location, old, sizeof old) &&
                              !assay__path_join(writer->folder, location, fresh, sizeof fresh) &&
                              is_same(old, fresh);
    }
    if (!writer->same_folder && !writer->judged_same) return true;
    if (strcmp(location, writer->location) == 0) writer->clash = true;
    return false;
}

/* Assigns the tensor its position in the data file and writes the reference. */
static void put_spilled(struct writer *writer, const struct assay__tensor *tensor)
{
    struct output *out = &writer->out;
    size_t size = assay__dtype_bytes(tensor->dtype, tensor->elements);
    uint64_t offset = 0;
    if (writer->failed) return;
    if (out->spilled_count) {
        const struct spilled *last = &out->spilled[out->spilled_count - 1];
        if (__builtin_add_overflow(last->offset, (uint64_t)last->size + SPILL_ALIGN - 1, &offset) ||
            offset > INT64_MAX)
            writer->failed = ASSAY_ELIMIT;
        offset -= offset % SPILL_ALIGN;
    }
    if (assay__vec_grow((void **)&out->spilled, &out->spilled_capacity, out->spilled_count + 1,
                        sizeof *out->spilled))
        writer->failed = ASSAY_ENOMEM;
    if (writer->failed) return;
    out->spilled[out->spilled_count++] = (struct spilled){tensor, offset, size};
    struct assay__tensor reference = {
        .location = writer->location, .offset = offset, .length = size};
    put_external(writer, &reference);
}

/* Fields of the original that match: its numbers, or everything that is not interpreted. */
static void put_original(struct writer *writer, const struct assay__tensor *tensor,
                         bool (*wanted)(uint32_t number))
{
    struct assay__wire wire = assay__wire_over(tensor->raw, tensor->raw_size);
    struct assay__wire_field field;
    if (!tensor->raw) return;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (wanted(field.number)) put_foreign(writer, field.start, field.total);
}

static bool is_numbers(uint32_t number)
{
    return number == TENSOR_FLOATS || number == TENSOR_INT32S || number == TENSOR_STRINGS ||
           number == TENSOR_INT64S || number == TENSOR_DOUBLES || number == TENSOR_UINT64S;
}

static bool is_other(uint32_t number)
{
    return !is_numbers(number) && number != TENSOR_DIMS && number != TENSOR_TYPE &&
           number != TENSOR_NAME && number != TENSOR_RAW && number != TENSOR_EXTERNAL &&
           number != TENSOR_LOCATION;
}

/* Data goes out as raw_data, strings as string_data. */
static void put_numbers(struct writer *writer, const struct assay__tensor *tensor)
{
    for (size_t i = 0; i < tensor->string_count; i++)
        put_text(writer, TENSOR_STRINGS, tensor->strings[i]);
    if (tensor->external)
        put_external(writer, tensor);
    else if (tensor->generator) { /* numbers that are generated while writing */
        size_t size = assay__dtype_bytes(ASSAY__FLOAT32, tensor->elements);
        if (tensor->dtype != ASSAY__FLOAT32 || size == SIZE_MAX)
            writer->failed = ASSAY_EUNSUPPORTED;
        put_tag(writer, TENSOR_RAW, ASSAY__WIRE_BYTES);
        put_varint(writer, size);
        struct piece *piece = writer->failed || size == 0 ? NULL : add_piece(writer);
        if (!piece) return;
        piece->generator = tensor->generator;
        piece->size = size;
        writer->out.total += size;
    } else if (tensor->data || (tensor->elements == 0 && tensor->dtype != ASSAY__STRING))
        put_bytes(writer, TENSOR_RAW, tensor->data, tensor->data_size);
    else if (!tensor->string_count && tensor->raw && !tensor->raw_data)
        put_original(writer, tensor, is_numbers); /* a large one, left undecoded */
    else if (tensor->elements != (int64_t)tensor->string_count)
        writer->failed = ASSAY_EUNSUPPORTED;
}

static void put_tensor(struct writer *writer, uint32_t number, const struct assay__tensor *tensor,
                       bool initializer)
{
    struct open_message open = message_begin(writer, number);
    bool beside = goes_beside(writer, tensor, initializer);
    if (!beside && tensor_unchanged(writer, tensor)) {
        put_foreign(writer, tensor->raw, tensor->raw_size);
        message_end(writer, open);
        return;
    }
    if (tensor->rank > 0) {
        struct open_message dims = message_begin(writer, TENSOR_DIMS); /* packed */
        for (int i = 0; i < tensor->rank; i++)
            put_varint(writer, (uint64_t)tensor->dims[i]);
        message_end(writer, dims);
    }
    put_int(writer, TENSOR_TYPE, (int64_t)tensor->dtype);
    put_text_unless_empty(writer, TENSOR_NAME, tensor->name);
    if (beside)
        put_spilled(writer, tensor);
    else
        put_numbers(writer, tensor);
    put_original(writer, tensor, is_other);
    message_end(writer, open);
}

static bool value_unchanged(struct writer *writer, const struct assay__value *value)
{
    struct assay__value original;
    struct assay__reader reader = quiet_reader(writer, value->raw);
    struct assay__wire_field message = message_of(value->raw, value->raw_size);
    if (!value->raw) return false;
    assay__onnx_value(&reader, &message, &original);
    if (reader.code) return false;
    if (strcmp(original.name, value->name) != 0 || original.kind != value->kind ||
        original.dtype != value->dtype || original.rank != value->rank)
        return false;
    for (int i = 0; i < value->rank; i++)
        if (original.dims[i].value != value->dims[i].value ||
            strcmp(original.dims[i].symbol, value->dims[i].symbol) != 0)
            return false;
    return true;
}

static void put_value(struct writer *writer, uint32_t number, const struct assay__value *value)
{
    struct open_message open = message_begin(writer, number);
    bool unchanged = value_unchanged(writer, value);
    if (unchanged)
        put_foreign(writer, value->raw, value->raw_size);
    else
        put_text(writer, VALUE_NAME, value->name);
    if (!unchanged && value->type_proto) {
        put_bytes(writer, VALUE_TYPE, value->type_proto, value->type_proto_size);
    } else if (!unchanged && value->kind == ASSAY__KIND_TENSOR) {
        struct open_message type = message_begin(writer, VALUE_TYPE);
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
        message_end(writer, type);
    }
    message_end(writer, open);
}

/* --- attributes, nodes, graphs ---------------------------------------------------------------- */

static void put_graph(struct writer *writer, uint32_t number, const struct assay__graph *graph,
                      int depth);

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
        if (attr->t) put_tensor(writer, ATTR_T, attr->t, false);
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

static void put_node(struct writer *writer, const struct assay__node *node, int depth)
{
    struct open_message open = message_begin(writer, GRAPH_NODE);
    for (size_t i = 0; i < node->input_count; i++)
        put_text(writer, NODE_INPUT, node->inputs[i]);
    for (size_t i = 0; i < node->output_count; i++)
        put_text(writer, NODE_OUTPUT, node->outputs[i]);
    put_text_unless_empty(writer, NODE_NAME, node->name);
    put_text(writer, NODE_OP, node->op);
    for (size_t i = 0; i < node->attr_count; i++) {
        const struct assay__attr *attr = &node->attrs[i];
        struct open_message message = message_begin(writer, NODE_ATTRIBUTE);
        struct assay__wire wire = assay__wire_over(attr->raw, attr->raw_size);
        struct assay__wire_field field;
        if (!attr->raw)
            put_attr_fields(writer, attr);
        else if (!attr->g && !attr->graphs)
            put_foreign(writer, attr->raw, attr->raw_size);
        else /* all of the original except its graphs, which are written from the structures */
            while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
                if (field.number != ATTR_G && field.number != ATTR_GRAPHS)
                    put_foreign(writer, field.start, field.total);
        if (attr->g) put_graph(writer, ATTR_G, attr->g, depth + 1);
        for (size_t k = 0; attr->graphs && k < attr->count; k++)
            put_graph(writer, ATTR_GRAPHS, attr->graphs[k], depth + 1);
        message_end(writer, message);
    }
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
        put_tensor(writer, GRAPH_INITIALIZER, &graph->initializers[i], true);
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

/* All pieces, from the beginning. */
static void encode(struct writer *writer)
{
    const struct assay__model *model = writer->model;
    writer->out.byte_count = writer->out.piece_count = writer->out.spilled_count = 0;
    writer->out.total = 0;
    writer->failed = 0;
    writer->clash = false;
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

/* --- to the disk ------------------------------------------------------------------------------ */

/* Large pieces are written from where they are, small ones are collected, weights are generated
 * block by block: memory stays at a megabyte whatever the model's size. Offsets in the data file
 * are multiples of a page, so that a reader can map each tensor; the gaps are holes. Not synced to
 * disk: the files are results that can be recreated. */
/* bytes generated or collected at a time: fits in a core's cache */
#define BLOCK ((size_t)1 << 20)

#define CHUNK ((size_t)16 << 20) /* bytes between two checks of the interrupt flag */

/* Where bytes are written, and what may stop it. */
struct sink {
    int fd;
    const volatile int *interrupt;
};

/* Returns an errno; ECANCELED after an interrupt. */
static int write_all(const struct sink *sink, const uint8_t *data, size_t size)
{
    while (size > 0) {
        size_t chunk = size < CHUNK ? size : CHUNK;
        if (sink->interrupt && *sink->interrupt) return ECANCELED;
        ssize_t wrote = write(sink->fd, data, chunk);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        data += wrote;
        size -= (size_t)wrote;
    }
    return 0;
}

static int write_generated(const struct assay__generator *generator, size_t size,
                           const struct sink *sink, uint8_t *block)
{
    const size_t some = BLOCK / sizeof(float), count = size / sizeof(float);
    int number = 0;
    for (size_t at = 0; at < count && !number; at += some) {
        size_t now = count - at < some ? count - at : some;
        assay__weights_fill(generator, at, (float *)(void *)block, now);
        number = write_all(sink, block, now * sizeof(float));
    }
    return number;
}

/* Returns an errno. */
static int write_pieces(const struct output *output, const struct sink *sink, uint8_t *block)
{
    size_t have = 0;
    int number = 0;
    for (size_t i = 0; i < output->piece_count && !number; i++) {
        const struct piece *piece = &output->pieces[i];
        if (piece->size == 0) continue;
        const uint8_t *data = piece->data ? piece->data : output->bytes + piece->offset;
        if (piece->generator || piece->size > BLOCK - have) {
            number = write_all(sink, block, have);
            have = 0;
        }
        if (number) break;
        if (piece->generator) {
            number = write_generated(piece->generator, piece->size, sink, block);
        } else if (piece->size > BLOCK / 4) {
            number = write_all(sink, block, have);
            have = 0;
            if (!number) number = write_all(sink, data, piece->size);
        } else {
            memcpy(block + have, data, piece->size);
            have += piece->size;
        }
    }
    return number ? number : write_all(sink, block, have);
}

static int fail(const char *path, int number, struct assay_error *error)
{
    if (number == ECANCELED)
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted; nothing was written");
    return assay_error_set(error, ASSAY_EIO, "%.400s: cannot write: %s", path, strerror(number));
}

static int write_spilled(const struct output *output, const char *path, const struct sink *sink,
                         uint8_t *block, struct assay_error *error)
{
    for (size_t i = 0; i < output->spilled_count; i++) {
        const struct spilled *spilled = &output->spilled[i];
        const struct assay__tensor *tensor = spilled->tensor;
        struct assay__tensor_view view = {.size = 0};
        int number = 0;
        if (lseek(sink->fd, (off_t)spilled->offset, SEEK_SET) < 0) return fail(path, errno, error);
        if (tensor->generator && !tensor->external) {
            number = write_generated(tensor->generator, spilled->size, sink, block);
        } else {
            int code = assay__tensor_open(output->model, tensor, &view, error);
            if (code) return code;
            number = write_all(sink, view.data, view.size);
            assay__tensor_close(&view);
        }
        if (number) return fail(path, number, error);
    }
    return 0;
}

/* Writes to a new file next to `path`, whose name is in `temporary` afterwards; "": there is
 * none. */
static int write_temporary(const struct output *output, const char *path, bool data, uint8_t *block,
                           char temporary[PATH_MAX], struct assay_error *error)
{
    int code = 0, number = EEXIST;
    struct sink sink = {-1, output->interrupt};
    for (unsigned attempt = 0; attempt < 100 && number == EEXIST; attempt++) {
        int length = snprintf(temporary, PATH_MAX, "%s.%ld.%u.tmp", path, (long)getpid(), attempt);
        bool fits = length >= 0 && length < PATH_MAX;
        if (fits) sink.fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        number = sink.fd >= 0 ? 0 : fits ? errno : ENAMETOOLONG;
    }
    if (number) {
        temporary[0] = '\0';
        return fail(path, number, error);
    }
    if (data)
        code = write_spilled(output, path, &sink, block, error);
    else
        number = write_pieces(output, &sink, block);
    if (close(sink.fd) && !number) number = errno;
    if (!code && number) code = fail(path, number, error);
    return code;
}

/* Writes `path`, and `path`.data if tensors go there, each as a temporary file that is renamed when
 * both are complete, the data first. After a failure or an interrupt (ASSAY_EINTERRUPTED) neither
 * is left behind. */
static int write_output(const struct output *output, const char *path, struct assay_error *error)
{
    char model[PATH_MAX] = "", data[PATH_MAX] = "", data_path[PATH_MAX];
    uint8_t *block = malloc(BLOCK);
    bool both = output->spilled_count > 0;
    int code = block ? 0 : assay_error_set(error, ASSAY_ENOMEM, "%.300s: out of memory", path);
    int length = snprintf(data_path, sizeof data_path, "%s.data", path);
    if (!code && (length < 0 || (size_t)length >= sizeof data_path))
        code = assay_error_set(error, ASSAY_ELIMIT, "%.200s…: the path is too long", path);
    if (!code && both) code = write_temporary(output, data_path, true, block, data, error);
    if (!code) code = write_temporary(output, path, false, block, model, error);
    if (!code && both) {
        if (rename(data, data_path))
            code = fail(data_path, errno, error);
        else
            data[0] = '\0';
    }
    if (!code && rename(model, path)) code = fail(path, errno, error);
    if (code && *data) unlink(data);
    if (code && *model) unlink(model);
    free(block);
    return code;
}

/* --- the file --------------------------------------------------------------------------------- */

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
    if (writer->out.total > INT_MAX)
        return assay_error_set(error, ASSAY_ELIMIT,
                               "%.300s: the model would take %.2f GB in one file; ONNX files are "
                               "limited to 2 GB (and only initializers can be stored in another)",
                               path, (double)writer->out.total / 1e9);
    if (writer->clash && writer->out.spilled_count)
        return assay_error_set(error, ASSAY_EINVAL,
                               "%.300s: the model itself refers to '%.100s': give it another name",
                               path, writer->location);
    return 0;
}

int assay__onnx_write(const struct assay__model *model, const char *path, uint64_t limit,
                      const volatile int *interrupt, struct assay_error *error)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct writer writer = {
        .model = model, .out = {.model = model, .interrupt = interrupt}, .folder = folder};
    int code = 0;
    if (assay__path_folder(path, folder, sizeof folder))
        return assay_error_set(error, ASSAY_ELIMIT, "%.200s…: the path is too long", path);
    writer.scratch = assay__arena_new();
    if (writer.scratch)
        writer.location = assay__arena_printf(writer.scratch, "%s.data", slash ? slash + 1 : path);
    if (!writer.location) {
        code = assay_error_set(error, ASSAY_ENOMEM, "%.300s: out of memory", path);
        goto out;
    }
    writer.same_folder = !*model->path || is_same(model->folder, folder);
    encode(&writer);
    if (!writer.failed && writer.out.total > (limit ? limit : LIMIT)) {
        writer.spill = true;
        encode(&writer);
    }
    if (writer.clash && writer.out.spilled_count && *model->path) {
        writer.copy_all = true; /* the file that is referred to is about to be replaced */
        encode(&writer);
    }
    code = writer_error(&writer, path, error);
    if (!code) code = write_output(&writer.out, path, error);
out:
    free(writer.out.bytes);
    free(writer.out.pieces);
    free(writer.out.spilled);
    assay__arena_free(writer.scratch);
    return code;
}

int assay__model_write(const struct assay__model *model, const char *path,
                       struct assay_error *error)
{
    return assay__onnx_write(model, path, 0, NULL, error);
}

int assay__model_write_until(const struct assay__model *model, const char *path,
                             const volatile int *interrupt, struct assay_error *error)
{
    return assay__onnx_write(model, path, 0, interrupt, error);
}
