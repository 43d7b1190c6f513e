/* mil.h - the Model Intermediate Language (MIL.proto) while it is read: types, values, scopes of
 * names, operations, and the table that maps operators by meaning.
 *
 * One MIL operation becomes one node. Constants do not: a constant that is a parameter of its
 * reader (strides, axes, …) becomes an attribute or an int64 input as ONNX requires, any other
 * becomes an initializer when it is first read, or a Constant node if it is a single number. */
#ifndef ASSAY_MODEL_COREML_MIL_H
#define ASSAY_MODEL_COREML_MIL_H

#include "model/coreml/coreml.h"
#include "model/op_words.h"

#define ASSAY__MIL_DEPTH 16    /* blocks within blocks, types within types */
#define ASSAY__MIL_ARGS 64     /* inputs of an operation, by name */
#define ASSAY__MIL_INPUTS 4096 /* values bound to one input */

enum assay__mil_kind { ASSAY__MIL_TENSOR, ASSAY__MIL_LIST, ASSAY__MIL_OTHER };

struct assay__mil_type {
    enum assay__mil_kind kind;
    enum assay__dtype dtype; /* UNDEFINED for types that ONNX does not have (1, 3 and 6 bits) */
    int bits;                /* per element; 0 strings */
    bool state;
    int rank;      /* -1: any */
    int64_t *dims; /* -1: not stated */
};

struct assay__mil_value {
    struct assay__mil_type type;
    const uint8_t *data; /* little-endian; in the model's file, in the weights, or in the arena */
    size_t size;
    int64_t elements;
    const char **strings; /* type STRING */
};

struct assay__mil_scope;

/** A name that can be read: its name in the graph, and its value if that is constant. */
struct assay__mil_def {
    const char *name; /* as MIL calls it */
    const char *graph_name;
    struct assay__mil_type type;
    const struct assay__mil_value *value; /* NULL: not constant */
    struct assay__mil_scope *scope;
    bool emitted;
    size_t stored; /* 1 + index of the compressed weight; 0: it is not one */
};

/** Names of one block; the enclosing blocks follow. */
struct assay__mil_scope {
    struct assay__mil_scope *parent;
    struct assay__graph *graph;
    struct assay__map *map;
    struct assay__mil_def **defs;
    size_t count;
    const char *prefix; /* prefix of the names created here, in the graph; "" usually */
    int depth;
};

struct assay__mil_arg {
    const char *name;
    struct assay__mil_def **defs;
    size_t count;
};

struct assay__mil_output {
    const char *name;
    struct assay__mil_type type;
};

struct assay__mil_op {
    const char *type; /* "conv": without prefixes such as "ios17." */
    const char *name;
    struct assay__mil_arg args[ASSAY__MIL_ARGS];
    size_t arg_count;
    struct assay__mil_output *outputs;
    size_t output_count;
    struct assay__wire_field blocks[4];
    size_t block_count;
    struct assay__mil_value *constant; /* attributes["val"] */
    const uint8_t *at;
};

struct assay__mil_call;
/* Result of a mapping: not possible here, keep MIL's operator. 0: done, or an error in the
 * reader. */
#define ASSAY__MIL_KEEP 1
typedef int assay__mil_map(struct assay__mil_call *call);

/** A row per kind of operator. ops: "abs>Abs exp2": MIL's names, each with ONNX's; without one it
 * is kept in domain "coreml". inputs: the names of MIL's inputs in the order of the node's,
 * separated by blanks.
 *          "axes#": constants become int64; "values*": all that are bound.
 *  attributes: "keep_dims>keepdims=0": the constant `keep_dims` is attribute `keepdims`, 0 when it
 *          is not given. When such an input is not constant the operator is kept. */
struct assay__mil_row {
    const char *ops, *inputs, *attributes;
    assay__mil_map *map; /* used instead of the strings; NULL usually */
};

/* The tables, each at the end of the file whose functions its rows name; each ends with a NULL.
 */
#define ASSAY__MIL_TABLES(X) \
    X(plain)                 \
    X(layers)                \
    X(moves)                 \
    X(flow)                  \
    X(weights)

#define ASSAY__MIL_DECLARE(NAME) extern const struct assay__mil_row assay__mil_rows_##NAME[];
ASSAY__MIL_TABLES(ASSAY__MIL_DECLARE)

/** The row of an operator, and its name in ONNX ("": none); NULL: no such row. */
const struct assay__mil_row *assay__mil_row(const char *op, char onnx[ASSAY__WORD]);

struct assay__mil_call {
    struct assay__coreml *coreml;
    struct assay__model *model;
    struct assay__mil_scope *scope;
    const struct assay__mil_op *op;
    const struct assay__mil_row *row;
    char onnx[ASSAY__WORD]; /* "": ONNX has no such operator */
    bool unknown;           /* a requested parameter is given, but not as a constant */
};

/* The functions below stop at the reader's first error: see assay__coreml_code. */

/* mil_value.c */
void assay__mil_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__mil_type *type, int depth);
void assay__mil_value(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__mil_value *value);
/** Elements of a stated shape; -1 if it is not a size. */
int64_t assay__mil_elements(const struct assay__mil_type *type);

/* mil_scope.c: names, and constants that become part of the graph. */
/** The scope must always be closed. */
void assay__mil_scope_open(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                           struct assay__mil_scope *parent, struct assay__graph *graph,
                           const char *prefix);
void assay__mil_scope_close(struct assay__mil_scope *scope);
/** A new name; an error, and NULL, if it already exists. */
struct assay__mil_def *assay__mil_define(struct assay__coreml *coreml,
                                         struct assay__mil_scope *scope, const char *name,
                                         const struct assay__mil_type *type);
/** Another name for what is defined; it may hide a name of the enclosing blocks. */
void assay__mil_alias(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                      const char *name, struct assay__mil_def *def);
struct assay__mil_def *assay__mil_find(const struct assay__mil_scope *scope, const char *name);
/** The name under which a node reads it; a constant is put into the graph first. "" for what a
 * graph cannot contain. */
const char *assay__mil_use(struct assay__coreml *coreml, struct assay__mil_def *def);
/** A new initializer, "OUTPUT.suffix"; returns its name. */
const char *assay__mil_int64s(struct assay__mil_call *call, const char *suffix,
                              const int64_t *values, size_t count);
const char *assay__mil_floats(struct assay__mil_call *call, const char *suffix, const float *values,
                              size_t count);
void assay__mil_add_value(struct assay__coreml *coreml, struct assay__value **list, size_t *count,
                          const char *name, const struct assay__mil_type *type, bool symbols,
                          const bool *flexible);

/* mil_map.c: queries for mappings. Constants may have any integer, bool or float type. */
const struct assay__mil_arg *assay__mil_arg(const struct assay__mil_call *call, const char *name);
bool assay__mil_has(const struct assay__mil_call *call, const char *name);
const struct assay__mil_value *assay__mil_constant(const struct assay__mil_call *call,
                                                   const char *name);
/** `otherwise` if it is not given. If it is given but not a constant (or not of that kind), the
 * call's `unknown` is set: a mapping queries everything it needs, checks that once, and then keeps
 * the operator. */
int64_t assay__mil_int(struct assay__mil_call *call, const char *name, int64_t otherwise);
double assay__mil_float(struct assay__mil_call *call, const char *name, double otherwise);
const char *assay__mil_string(struct assay__mil_call *call, const char *name,
                              const char *otherwise);
/** In the arena; NULL and *count 0 if not given. At most ASSAY__COREML_SMALL. */
int64_t *assay__mil_ints(struct assay__mil_call *call, const char *name, size_t *count);
const struct assay__mil_type *assay__mil_type_of(const struct assay__mil_call *call,
                                                 const char *name); /* NULL: not given */
int64_t assay__mil_value_int(const struct assay__mil_value *value, size_t i);
double assay__mil_value_float(const struct assay__mil_value *value, size_t i);
/** Whether all elements can be read by the function above. */
bool assay__mil_is_integer(const struct assay__mil_value *value);
bool assay__mil_is_float(const struct assay__mil_value *value);

/** Adds the node; `inputs` names MIL's inputs as in a row, except those given in `extra` ("=NAME"
 * takes the next of them). NULL after an error. */
struct assay__node *assay__mil_emit(struct assay__mil_call *call, const char *op,
                                    const char *inputs, const char *const *extra);
/** Maps one operation. */
void assay__mil_map_op(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                       const struct assay__mil_op *op);

/** Reads a block's operations into `scope`; returns the definitions of its *count results. inputs:
 * the values of the block's inputs; NULL: the caller has defined them. mil_read.c. */
struct assay__mil_def **assay__mil_block(struct assay__coreml *coreml,
                                         struct assay__mil_scope *scope,
                                         const struct assay__wire_field *message,
                                         struct assay__mil_def **inputs, size_t input_count,
                                         size_t *count);
/** Names and types of a block's inputs. */
struct assay__mil_output *assay__mil_block_inputs(struct assay__coreml *coreml,
                                                  const struct assay__wire_field *message,
                                                  size_t *count);
bool assay__mil_block_nests(const struct assay__wire_field *message);

#endif
