/* onnx.h - shared by the ONNX reader and writer: the field numbers of onnx.proto that we interpret,
 * and the readers of single messages. Everything else in a message is kept verbatim. */
#ifndef ASSAY_MODEL_ONNX_ONNX_H
#define ASSAY_MODEL_ONNX_ONNX_H

#include "model/graph.h"
#include "model/wire_reader.h"

#define ASSAY__ONNX_DEPTH 32           /* graphs within graphs */
#define ASSAY__ONNX_RANK 64            /* dimensions of one tensor */
#define ASSAY__ONNX_NODES (1u << 24)   /* nodes of one file */
#define ASSAY__ONNX_DECODE 65536       /* typed fields with more elements stay undecoded */
#define ASSAY__ONNX_CALLS 128          /* functions that call functions that … */
#define ASSAY__ONNX_INLINED (1u << 20) /* nodes that inlining may add */
#define ASSAY__ONNX_IR 13              /* the newest known versions: newer ones are read too */
#define ASSAY__ONNX_OPSET 26

/* longer string attributes are not copied: s is "", and raw has them */
#define ASSAY__ONNX_TEXT (1u << 20)

enum assay__onnx_field {
    /* ModelProto */
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_DOMAIN = 4,
    MODEL_VERSION = 5,
    MODEL_DOC = 6,
    MODEL_GRAPH = 7,
    MODEL_OPSET = 8,
    MODEL_METADATA = 14,
    MODEL_TRAINING = 20,
    MODEL_FUNCTION = 25,
    MODEL_CONFIGURATION = 26,
    /* FunctionProto */
    FUNCTION_NAME = 1,
    FUNCTION_INPUT = 4,
    FUNCTION_OUTPUT = 5,
    FUNCTION_ATTRIBUTE = 6,
    FUNCTION_NODE = 7,
    FUNCTION_OPSET = 9,
    FUNCTION_DOMAIN = 10,
    FUNCTION_DEFAULT = 11,
    FUNCTION_OVERLOAD = 13,
    /* GraphProto */
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    GRAPH_VALUE = 13,
    GRAPH_SPARSE = 15,
    /* NodeProto */
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP = 4,
    NODE_ATTRIBUTE = 5,
    NODE_DOC = 6,
    NODE_DOMAIN = 7,
    NODE_OVERLOAD = 8,
    /* AttributeProto */
    ATTR_NAME = 1,
    ATTR_F = 2,
    ATTR_I = 3,
    ATTR_S = 4,
    ATTR_T = 5,
    ATTR_G = 6,
    ATTR_FLOATS = 7,
    ATTR_INTS = 8,
    ATTR_STRINGS = 9,
    ATTR_TENSORS = 10,
    ATTR_GRAPHS = 11,
    ATTR_TP = 14,
    ATTR_TPS = 15,
    ATTR_TYPE = 20,
    ATTR_REFERENCE = 21,
    ATTR_SPARSE = 22,
    ATTR_SPARSES = 23,
    /* TensorProto */
    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_FLOATS = 4,
    TENSOR_INT32S = 5,
    TENSOR_STRINGS = 6,
    TENSOR_INT64S = 7,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    TENSOR_DOUBLES = 10,
    TENSOR_UINT64S = 11,
    TENSOR_EXTERNAL = 13,
    TENSOR_LOCATION = 14,
};
/* OperatorSetIdProto, StringStringEntryProto, ValueInfoProto, TypeProto, TypeProto.Tensor,
 * TensorShapeProto and its Dimension, SparseTensorProto */
enum { OPSET_DOMAIN = 1, OPSET_VERSION = 2 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2 };
enum { TYPE_TENSOR = 1, TYPE_SEQUENCE = 4, TYPE_MAP = 5, TYPE_SPARSE = 8, TYPE_OPTIONAL = 9 };
enum { TENSORTYPE_ELEMENT = 1, TENSORTYPE_SHAPE = 2 };
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_PARAM = 2 };
enum { SPARSE_VALUES = 1, SPARSE_INDICES = 2, SPARSE_DIMS = 3 };

/* Readers of one message; the reader's code says whether it could be read. */
void assay__onnx_tensor(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__tensor *tensor);
void assay__onnx_value(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__value *value);
/** A SparseTensorProto: the dense shape, how much is stored, no data. */
void assay__onnx_sparse(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__tensor *tensor);
/** One field of dimensions, packed or not, after the *rank that are already in dims; `what` is for
 * messages. */
void assay__onnx_dims(struct assay__reader *reader, const struct assay__wire_field *field,
                      const char *what, int64_t dims[ASSAY__ONNX_RANK], int *rank);
/** The numbers of a dense tensor whose typed field the reader left undecoded, as raw bytes on the
 * heap; *bytes NULL and 0 if it has none. */
int assay__onnx_decode(const struct assay__tensor *tensor, uint8_t **bytes, size_t *size,
                       struct assay_error *error);
/** assay__model_write_until with another size limit for one file; 0: the usual one. */
int assay__onnx_write(const struct assay__model *model, const char *path, uint64_t limit,
                      const volatile int *interrupt, struct assay_error *error);

#endif
