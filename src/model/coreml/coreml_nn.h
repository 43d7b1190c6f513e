/* coreml_nn.h - neural networks of layers (NeuralNetwork.proto): one layer while it is read, its
 * parameters, its weights, and the table of kinds.
 *
 * Old networks treat every array as [sequence, batch, channels, height, width]; here it is [N, C,
 * H, W], the sequence being N, or [N, C] once it is flat (after `flatten` and `innerProduct`, and
 * for inputs of one axis). Networks with the exact mapping have the stated shapes. */
#ifndef ASSAY_MODEL_COREML_COREML_NN_H
#define ASSAY_MODEL_COREML_COREML_NN_H

#include "model/coreml/coreml.h"

#define ASSAY__NN_PORTS 256 /* inputs or outputs of a layer */

/* Fields of NeuralNetwork and NeuralNetworkLayer, and kinds of layers that contain networks. */
enum {
    NETWORK_LAYER = 1,
    NETWORK_ARRAY_MAPPING = 5,
    LAYER_NAME = 1,
    LAYER_INPUT = 2,
    LAYER_OUTPUT = 3,
    LAYER_OUTPUT_TENSOR = 5,
    LAYER_KINDS = 100, /* the first of the kinds */
    KIND_BRANCH = 605,
    KIND_LOOP = 615,
    KIND_BREAK = 620,
    KIND_CONTINUE = 625,
};

/** Shared by all networks of a model. */
struct assay__nn_model {
    struct assay__map *taken;   /* names of values in any of the graphs */
    struct assay__map *written; /* names that inner networks write, in their own terms */
    size_t serial;              /* for fresh names */
};

/** A network; those in the layers `branch` and `loop` see the values of the enclosing one. */
struct assay__nn {
    struct assay__coreml *coreml;
    struct assay__nn_model *shared;
    const struct assay__nn *outer; /* NULL: the model's own */
    struct assay__graph *graph;
    const char *prefix;        /* prefix of its values in the graph; "" for the outermost */
    const char *layer_prefix;  /* of its nodes */
    struct assay__map *layers; /* names of layers seen */
    struct assay__map *names;  /* a value of the network -> index in values */
    struct assay__nn_value {
        const char *source; /* in the network */
        const char *name;   /* in the graph */
        int rank;           /* -1 unknown */
        bool input;         /* of the graph */
    } * values;
    size_t count;
    bool exact; /* shapes as stated, instead of [N, C, H, W] */
};

struct assay__nn_row;

struct assay__nn_layer {
    struct assay__nn *nn;
    struct assay__reader *reader; /* nn's */
    struct assay__model *model;
    const struct assay__nn_row *row;
    const char *name;
    uint32_t kind;
    struct assay__wire_field params;
    const char **inputs; /* as the graph calls them */
    int *ranks;
    size_t input_count;
    const char **outputs; /* as the network calls them */
    size_t output_count;
    int out_rank; /* of all results, if the mapping knows it; -2: that of the first input */
    const uint8_t *at;
};

typedef void assay__nn_map(struct assay__nn_layer *layer);

/** op: ONNX's, or one of the domain "coreml" if it begins with a lower-case letter. attributes:
 * "1>axis:i": field 1 is the int attribute `axis` (i int, f float, l ints). */
struct assay__nn_row {
    uint32_t field;
    const char *name;
    const char *op;
    const char *attributes;
    assay__nn_map *map; /* instead; NULL usually */
};

/* The tables, each at the end of the file whose functions its rows name; each ends with a NULL
 * name. */
#define ASSAY__NN_TABLES(X) \
    X(plain)                \
    X(maps)                 \
    X(moves)                \
    X(recurrent)            \
    X(flow)

#define ASSAY__NN_DECLARE(NAME) extern const struct assay__nn_row assay__nn_rows_##NAME[];
ASSAY__NN_TABLES(ASSAY__NN_DECLARE)

/** NULL: no such row. */
const struct assay__nn_row *assay__nn_row(uint32_t field);

/* coreml_nn.c */
/** The layers of a NeuralNetwork message, into nn's graph; their names get the prefix. */
void assay__nn_layers(struct assay__nn *nn, const struct assay__wire_field *message,
                      const char *layer_prefix);
/** A new value of that name, which hides an earlier one of the same name. Returns its unique name
 * in the graph; "" after an error. */
const char *assay__nn_define(struct assay__nn *nn, const char *source, int rank);
/** A name that no value of the graph has yet: `stem` if possible; "" after an error. */
const char *assay__nn_fresh(struct assay__nn *nn, const char *stem);
/** The value in this network or an enclosing one; NULL: none has it. */
struct assay__nn_value *assay__nn_find(const struct assay__nn *nn, const char *source);

/* coreml_nn_layer.c: parameters */
bool assay__nn_field(const struct assay__wire_field *message, uint32_t number,
                     struct assay__wire_field *field); /* the last one of that number */
int64_t assay__nn_int(const struct assay__wire_field *message, uint32_t number, int64_t otherwise);
float assay__nn_float(const struct assay__wire_field *message, uint32_t number, float otherwise);
/** At most `limit` numbers; returns the count, or SIZE_MAX if they cannot be read or there are
 * more. */
size_t assay__nn_ints(const struct assay__wire_field *message, uint32_t number, int64_t *out,
                      size_t limit);
/** A list of the layer's parameters; false, with an error, if it cannot be read. */
bool assay__nn_list(struct assay__nn_layer *layer, uint32_t number, int64_t *out, size_t limit,
                    size_t *count);
bool assay__nn_message(const struct assay__wire_field *message, uint32_t number,
                       struct assay__wire_field *field);
/** BorderAmounts {10 borderAmounts[] {1 startEdgeSize, 2 endEdgeSize}}, height then width: at most
 * 2; returns how many. */
size_t assay__nn_borders(const struct assay__wire_field *message, int64_t *begin, int64_t *end);

/* coreml_nn_layer.c: nodes. All return NULL or "" after an error, and accept such inputs. */
/** The layer's node, with its results. */
struct assay__node *assay__nn_emit(struct assay__nn_layer *layer, const char *op,
                                   const char *const *inputs, size_t input_count);
/** The layer's node over its unchanged inputs. */
struct assay__node *assay__nn_emit_plain(struct assay__nn_layer *layer, const char *op);
/** A node before it, "NAME.suffix", with one result of that name. */
struct assay__node *assay__nn_step(struct assay__nn_layer *layer, const char *op,
                                   const char *suffix, const char *const *inputs,
                                   size_t input_count);
/** A node "NAME.suffix"; outputs NULL: the layer's results. */
struct assay__node *assay__nn_node(struct assay__nn_layer *layer, const char *op,
                                   const char *suffix, const char *const *inputs,
                                   size_t input_count, const char *const *outputs,
                                   size_t output_count);
const char *assay__nn_result(const struct assay__node *node); /* its first output; "" for NULL */
/** The layer's result is that of the step plus the bias; "": the node is already that of the
 * layer. */
void assay__nn_add_bias(struct assay__nn_layer *layer, const struct assay__node *step,
                        const char *bias);
/** "NAME.suffix", in the arena. */
const char *assay__nn_text(struct assay__nn_layer *layer, const char *suffix);
/** An initializer; its name. */
const char *assay__nn_int64s(struct assay__nn_layer *layer, const char *suffix,
                             const int64_t *values, size_t count);
/** A Constant; its name. */
const char *assay__nn_number(struct assay__nn_layer *layer, const char *suffix, float value);
void assay__nn_fail(struct assay__nn_layer *layer, const char *format, ...) ASSAY_PRINTF(2, 3);
/** One line, not "damaged": the model is valid, but not supported. */
void assay__nn_cannot(struct assay__nn_layer *layer, const char *format, ...) ASSAY_PRINTF(2, 3);
const char *assay__nn_input(const struct assay__nn_layer *layer, size_t i); /* "" absent */
/** Of the first input; -1 unknown. */
int assay__nn_rank(const struct assay__nn_layer *layer);

/* coreml_nn_weights.c */
/** WeightParams in field `number` of the message as a tensor of that shape; returns its name, "" if
 * the field is missing. */
const char *assay__nn_weights(struct assay__nn_layer *layer,
                              const struct assay__wire_field *message, uint32_t number,
                              const char *suffix, int rank, const int64_t *dims);

#endif
