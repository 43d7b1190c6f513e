/* graph.h - a model in memory: the ONNX view (names, nodes, attributes, shapes, initializers).
 * Weights stay in the mapped file. All strings and arrays are in the model's arena. Things are
 * connected by name, as in ONNX; "" is a missing optional one. */
#ifndef ASSAY_MODEL_GRAPH_H
#define ASSAY_MODEL_GRAPH_H

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/names.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, value in ONNX TensorProto.DataType, name for people, bits of an element). */
#define ASSAY__DTYPES(X)                       \
    X(UNDEFINED, 0, "undefined", 0)            \
    X(FLOAT32, 1, "float32", 32)               \
    X(UINT8, 2, "uint8", 8)                    \
    X(INT8, 3, "int8", 8)                      \
    X(UINT16, 4, "uint16", 16)                 \
    X(INT16, 5, "int16", 16)                   \
    X(INT32, 6, "int32", 32)                   \
    X(INT64, 7, "int64", 64)                   \
    X(STRING, 8, "string", 0)                  \
    X(BOOL, 9, "bool", 8)                      \
    X(FLOAT16, 10, "float16", 16)              \
    X(FLOAT64, 11, "float64", 64)              \
    X(UINT32, 12, "uint32", 32)                \
    X(UINT64, 13, "uint64", 64)                \
    X(COMPLEX64, 14, "complex64", 64)          \
    X(COMPLEX128, 15, "complex128", 128)       \
    X(BFLOAT16, 16, "bfloat16", 16)            \
    X(FLOAT8E4M3FN, 17, "float8e4m3fn", 8)     \
    X(FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz", 8) \
    X(FLOAT8E5M2, 19, "float8e5m2", 8)         \
    X(FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz", 8) \
    X(UINT4, 21, "uint4", 4)                   \
    X(INT4, 22, "int4", 4)                     \
    X(FLOAT4E2M1, 23, "float4e2m1", 4)         \
    X(FLOAT8E8M0, 24, "float8e8m0", 8)         \
    X(UINT2, 25, "uint2", 2)                   \
    X(INT2, 26, "int2", 2)

enum assay__dtype {
#define ASSAY__DTYPE(NAME, VALUE, TEXT, BITS) ASSAY__##NAME = VALUE,
    ASSAY__DTYPES(ASSAY__DTYPE)
#undef ASSAY__DTYPE
};
const char *assay__dtype_name(enum assay__dtype dtype); /* "float32"; "undefined" */
int assay__dtype_bits(enum assay__dtype dtype);         /* 32; 0 for string and undefined */

struct assay__dim {
    int64_t value;      /* >= 0, or -1: symbolic or unknown */
    const char *symbol; /* "" when it has no name */
};

enum assay__value_kind {
    ASSAY__KIND_TENSOR,
    ASSAY__KIND_SPARSE,
    ASSAY__KIND_SEQUENCE,
    ASSAY__KIND_MAP,
    ASSAY__KIND_OPTIONAL,
    ASSAY__KIND_UNKNOWN
};

struct assay__value {
    const char *name;
    enum assay__value_kind kind;
    enum assay__dtype dtype;
    int rank; /* -1 unknown */
    struct assay__dim *dims;
    /* raw TypeProto for kinds that are kept but not interpreted; NULL for tensors */
    const uint8_t *type_proto;
    size_t type_proto_size;
    /* the ValueInfoProto as read: written back verbatim while the fields above still agree with
       it; NULL when built */
    const uint8_t *raw;
    size_t raw_size;
    /* the values that a caller of shape inference will provide: all elements of a list of integers
     * or booleans; NULL unknown */
    const int64_t *contents;
    size_t content_count;
};

/* Weights that a builder describes instead of storing: float32, element i a pure function of (seed,
 * i), so that any block can be generated at any time. tensor_data.h has the function. */
struct assay__generator {
    uint64_t seed;
    float mean, deviation; /* deviation 0: the constant `mean` */
};

struct assay__tensor {
    const char *name;
    enum assay__dtype dtype;
    int rank;
    int64_t *dims;
    int64_t elements; /* checked product */
    /* raw little-endian bytes (maybe unaligned): into the mapping, into the arena (small typed
     * fields), or NULL if external, string, or a large typed field that is kept undecoded */
    const uint8_t *data;
    size_t data_size;
    bool external;
    /* external: file next to the model (checked: no absolute path, no "..") */
    const char *location;
    uint64_t offset, length; /* external; length 0 = to the end by shape */
    const char **strings;    /* STRING tensors */
    size_t string_count;
    const struct assay__generator *generator; /* data is generated when needed; NULL otherwise */
    /* A SparseTensorProto (dims and elements are the dense ones): numbers actually stored, and
     * their bytes including the indices; -1 for a dense tensor. Kept verbatim in the graph's
     * `sparse`. */
    int64_t nonzeros;
    int64_t sparse_bytes;
    /* the TensorProto as read: written back verbatim while the fields above still agree with it;
       NULL when built */
    const uint8_t *raw;
    size_t raw_size;
    const uint8_t *raw_data; /* what `data` was when read, so that an edit is noticed */
};

enum assay__attr_type {
    ASSAY__ATTR_NONE = 0,
    ASSAY__ATTR_FLOAT = 1,
    ASSAY__ATTR_INT = 2,
    ASSAY__ATTR_STRING = 3,
    ASSAY__ATTR_TENSOR = 4,
    ASSAY__ATTR_GRAPH = 5,
    ASSAY__ATTR_FLOATS = 6,
    ASSAY__ATTR_INTS = 7,
    ASSAY__ATTR_STRINGS = 8,
    ASSAY__ATTR_TENSORS = 9,
    ASSAY__ATTR_GRAPHS = 10,
    ASSAY__ATTR_SPARSE_TENSOR = 11,
    ASSAY__ATTR_SPARSE_TENSORS = 12,
    ASSAY__ATTR_TYPE_PROTO = 13,
    ASSAY__ATTR_TYPE_PROTOS = 14
};

struct assay__attr {
    const char *name;
    enum assay__attr_type type;
    int64_t i;
    float f;
    const char *s; /* NUL-terminated copy; s_size may exceed strlen */
    size_t s_size;
    struct assay__tensor *t;
    struct assay__graph *g;
    int64_t *ints;
    float *floats;
    const char **strings;
    struct assay__graph **graphs;
    size_t count;          /* of ints / floats / strings / graphs */
    const char *reference; /* ref_attr_name inside functions, "" otherwise */
    /* the whole AttributeProto as read: written back verbatim, but g and graphs
       are always written from the structures. An editor of another field sets raw to NULL
       (assay__node_set_* do). NULL when built */
    const uint8_t *raw;
    size_t raw_size;
};

struct assay__node {
    const char *name, *op, *domain, *doc; /* domain "" = ai.onnx */
    /* its name in a file of another format ("conv" in a Core ML program that became Conv); NULL for
     * ONNX */
    const char *source_op;
    const char **inputs;
    size_t input_count;
    const char **outputs;
    size_t output_count;
    struct assay__attr *attrs;
    size_t attr_count;
    /* unknown or uninterpreted fields, written back verbatim (overload, metadata_props, …) */
    const uint8_t *extra;
    size_t extra_size;
};

struct assay__graph {
    const char *name;
    /* names of the model, in its main graph once interned; or NULL */
    const struct assay__names *names;
    struct assay__node *nodes; /* file order (topological in a valid file) */
    size_t node_count, node_capacity;
    struct assay__value *inputs, *outputs, *values; /* values: value_info */
    size_t input_count, output_count, value_count, value_capacity;
    struct assay__tensor *initializers;
    size_t initializer_count, initializer_capacity;
    const uint8_t *sparse; /* sparse initializers kept verbatim (concatenated fields) */
    size_t sparse_size;
    size_t sparse_count;
    struct assay__tensor *sparse_tensors; /* the same, parsed: sparse_count of them, without data */
    /* doc_string, quantization_annotation, metadata_props, unknown fields: verbatim */
    const uint8_t *extra;
    size_t extra_size;
};

struct assay__opset {
    const char *domain;
    int64_t version;
};

/* A model-local function (FunctionProto). `body` has its nodes; inputs and outputs are only
 * names. */
struct assay__function {
    const char *name, *domain, *overload;
    const char **inputs, **outputs, **attributes; /* attributes without a default */
    size_t input_count, output_count, attribute_count;
    struct assay__attr *defaults; /* attributes with one */
    size_t default_count;
    struct assay__opset *opsets;
    size_t opset_count;
    struct assay__graph *body;
};

/* A weight that is compressed in the file (Core ML): the dense tensor and what is stored. The
 * model's graph has the stored tensors and the operator that creates the dense one from them. */
struct assay__stored_weight {
    const char *name;   /* the dense tensor */
    const char *scheme; /* "palettised", "quantised", "sparse", "sparse + palettised", … */
    const char *detail; /* "16 entries, 4 tables", "per block of 32", "1706 non-zeros"; "" */
    double bits;        /* bits per stored number: an index, a quantised or a non-zero number */
    int64_t logical_elements;
    int64_t stored_bytes;    /* total, including tables, scales and masks */
    int64_t stored_elements; /* what assay__model_parameters counts */
    enum assay__dtype dtype; /* of the dense tensor */
};

struct assay__model {
    struct assay__arena *arena;
    struct assay__stored_weight *stored;
    size_t stored_count;
    struct assay__mapping mapping;
    struct assay__mapping weights; /* a second file that tensors point into (Core ML) */
    const char *format;            /* "ONNX", "Core ML program", "Core ML neural network" */
    struct assay__function *functions;
    const char *path;   /* "" when built */
    const char *folder; /* where external data lies */
    int64_t ir_version;
    const char *producer, *producer_version, *domain, *doc;
    int64_t model_version;
    struct assay__opset *opsets;
    size_t opset_count;
    struct assay__graph graph;
    const uint8_t *extra; /* functions, metadata_props, training info: verbatim fields */
    size_t extra_size;
    size_t function_count;
    const char **function_names; /* "domain:name" */
    struct assay__names *names;  /* filled by assay__model_intern; NULL before */
    bool failed; /* an edit failed: sticky, so that a series of edits is checked once at its end */
};

/** Maps and parses. Bounds-checked; weights are never copied or accessed. One clear line for:
 * missing, a folder, empty, not ONNX, truncated, false lengths, nested too deeply. Does not
 * validate semantics. */
int assay__model_read(const char *path, struct assay__model **model, struct assay_error *error);
/** The same over memory that outlives the model (fuzzers, tests). */
int assay__model_parse(const uint8_t *data, size_t size, struct assay__model **model,
                       struct assay_error *error);
/** Checks what running needs: no cycle, every input produced, no duplicate outputs, external files
 * present and long enough; also in the bodies of local functions. */
int assay__model_check(const struct assay__model *model, struct assay_error *error);
struct assay__model *assay__model_new(void); /* empty, for builders */
void assay__model_free(struct assay__model *model);

/** Writes the model to a temporary file next to `path` and renames it; `path` may be the file the
 * model was read from. Tensor data in memory or a mapping is streamed, never copied; generated
 * weights are produced on the way. A model that would not fit into one file (2 GB; we stop at 1.9)
 * has its initializers of 1 KiB and more in `path`.data next to it. External tensors of a model
 * that was read keep their reference if it still leads to the same file, and are copied into
 * `path`.data otherwise; those of a built model (path "") are written as given. */
int assay__model_write(const struct assay__model *model, const char *path,
                       struct assay_error *error);
/** The same, but stops with ASSAY_EINTERRUPTED, leaving no file, once *interrupt is not 0. */
int assay__model_write_until(const struct assay__model *model, const char *path,
                             const volatile int *interrupt, struct assay_error *error);

/* Editing and looking up. Everything is copied into the model's arena. NULL/-ENOMEM on failure, and
 * the model's `failed` is set. Setting an attribute of a NULL node does nothing. */
struct assay__node *assay__graph_add_node(struct assay__model *model, struct assay__graph *graph,
                                          const char *op, const char *name,
                                          const char *const *inputs, size_t input_count,
                                          const char *const *outputs, size_t output_count);
int assay__node_set_int(struct assay__model *model, struct assay__node *node, const char *name,
                        int64_t value);
int assay__node_set_ints(struct assay__model *model, struct assay__node *node, const char *name,
                         const int64_t *values, size_t count);
int assay__node_set_float(struct assay__model *model, struct assay__node *node, const char *name,
                          float value);
int assay__node_set_string(struct assay__model *model, struct assay__node *node, const char *name,
                           const char *value);
int assay__node_set_floats(struct assay__model *model, struct assay__node *node, const char *name,
                           const float *values, size_t count);
int assay__node_set_graph(struct assay__model *model, struct assay__node *node, const char *name,
                          struct assay__graph *graph);
/** The tensor is borrowed and must be in the arena. */
int assay__node_set_tensor(struct assay__model *model, struct assay__node *node, const char *name,
                           struct assay__tensor *tensor);
int assay__graph_add_value(struct assay__model *model, struct assay__value **list, size_t *count,
                           const char *name, enum assay__dtype dtype, int rank,
                           const struct assay__dim *dims); /* to inputs, outputs or values */
/** data is borrowed and must outlive the model (or be in its arena); NULL: the caller makes the
 * tensor external. */
struct assay__tensor *assay__graph_add_initializer(struct assay__model *model,
                                                   struct assay__graph *graph, const char *name,
                                                   enum assay__dtype dtype, int rank,
                                                   const int64_t *dims, const void *data,
                                                   size_t data_size);
/** Body k of a node, over all its attributes in order; NULL past the end. */
struct assay__graph *assay__node_body(const struct assay__node *node, size_t k);
const struct assay__attr *assay__node_attr(const struct assay__node *node, const char *name);
float assay__node_float(const struct assay__node *node, const char *name, float otherwise);
int64_t assay__node_int(const struct assay__node *node, const char *name, int64_t otherwise);
const struct assay__tensor *assay__graph_initializer(
    const struct assay__graph *graph, const char *name); /* linear; build a map for loops */
/** Initializer i, the sparse ones after the dense; NULL past the end. */
struct assay__tensor *assay__graph_tensor(const struct assay__graph *graph, size_t i);
/** Execution order (Kahn; ready nodes in file order). order has node_count entries. ASSAY_EFORMAT
 * on a cycle, naming a node on it. */
int assay__graph_order(const struct assay__graph *graph, size_t *order, struct assay_error *error);
/** List i of numbers in the attributes of an operator of ai.onnx.ml, as a tensor without dims, and
 * how many of them were trained (a tree's thresholds and leaves, not the indices of its nodes).
 * false: there is no list i. */
bool assay__node_learned(const struct assay__node *node, size_t i, struct assay__tensor *tensor,
                         int64_t *trained);
/** elements: trainable parameters as the initializers and Constant nodes (of more than one number)
 * of all graphs have them, but not scalars, int64, bool and string tensors (constants, shapes,
 * indices) and not tensors used only as BatchNormalization's running mean and variance or as a
 * scale or zero point of a quantised operator (parameters.c lists them). Quantised weights count
 * once per number, even if several share a byte; a sparse tensor counts its dense elements, and
 * what ConstantOfShape generates instead of a weight counts like that weight (parameters.c has the
 * rule). bytes: the size of all of them as stored, trainable or not (a sparse one: its values and
 * indices; one generated by ConstantOfShape: none). Numbers in the attributes of operators of
 * ai.onnx.ml count too: coefficients, support vectors, thresholds and leaves of trees. Local
 * functions are not entered: inline them first. false if a size overflows. */
bool assay__model_parameters(const struct assay__model *model, int64_t *elements, int64_t *bytes);
/** Calls visit for each tensor that ConstantOfShape generates instead of a weight, in all graphs,
 * trainable or not: name, dtype, rank and elements are set, dims and data are not. Those whose size
 * overflows are left out. 0, what visit returned, or ASSAY_ENOMEM. */
typedef int assay__filled_visit(void *context, const struct assay__tensor *tensor);
int assay__model_filled(const struct assay__model *model, assay__filled_visit *visit,
                        void *context);
/** Version of the operator set `domain` ("" is ai.onnx), 0 if it is not imported. */
int64_t assay__model_opset(const struct assay__model *model, const char *domain);
/** Gives every name of a value and every operator one place in memory, so that maps over
 * graph.names need no hashing. For callers that use a model many times; what is added later works
 * as before, only slower. 0 or ASSAY_ENOMEM. */
int assay__model_intern(struct assay__model *model);
/** Whether this graph input is also an initializer (IR 3 lists them all; from IR 4 on it is a
 * default that the caller may override). Then it is not an input of the workload. */
bool assay__graph_is_initializer(const struct assay__graph *graph, const char *name);
/** Bytes that `elements` of a type take, sub-byte types packed; SIZE_MAX on overflow; 0 for
 * strings. */
size_t assay__dtype_bytes(enum assay__dtype dtype, int64_t elements);
/** False for a model read from another format (its graph is for analysis). */
bool assay__model_is_onnx(const struct assay__model *model);
/** Value of a metadata_props entry; NULL if there is none. */
const char *assay__model_metadata(const struct assay__model *model, const char *key);
/** Adds or replaces one. */
int assay__model_set_metadata(struct assay__model *model, const char *key, const char *value);
/** Replaces every call of a model-local function in the main graph and in subgraphs by the
 * function's nodes (nested ones too; attribute references resolved; inner names prefixed with the
 * call's). A model without functions is not changed. ASSAY_EFORMAT on recursion or a missing
 * attribute. Analysis needs this; running does not. */
int assay__model_inline(struct assay__model *model, struct assay_error *error);
/** Fingerprint of graph structure, attributes and shapes (not weights): 16 hex digits, without a
 * prefix, the same on every machine. */
int assay__model_fingerprint(const struct assay__model *model, char out[17]);

#endif
