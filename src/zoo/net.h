/* net.h - the interface for builders of the zoo: a graph that grows by one call per layer.
 *
 * A value is a name (const char * in the model's arena). Every call takes names and returns a new
 * one; after the first failure (out of memory, a bad size) every call returns "" and does nothing,
 * and assay__net_end says what went wrong: no checks in between. Node names follow the scope:
 * push("layer1.0"), then assay__net_node(net, "Conv", …) is "/layer1.0/Conv" and its output
 * "/layer1.0/Conv_output_0" (a number is appended when taken).
 *
 * Layers name their weights "PREFIX.NAME.weight": the builder sets net->prefix.
 *
 * Weights are generators (model/tensor_data.h): seeded by the model's seed and the tensor's name,
 * so that they are the same on every machine and independent of the rest of the model, and are
 * generated only when the file is written. */
#ifndef ASSAY_ZOO_NET_H
#define ASSAY_ZOO_NET_H

#include "base/map.h"
#include "model/graph.h"
#include "zoo/zoo.h"

#define ASSAY__NET_SCOPE 256

struct assay__net {
    struct assay__model *model;
    struct assay__graph *graph; /* the one being built: the main graph, or a body */
    struct assay_error *error;
    int code; /* first failure */
    uint64_t seed;
    char scope[ASSAY__NET_SCOPE]; /* of nodes */
    const char *prefix;           /* prefix of the names of layers' weights; "" none */
    struct assay__map *names;     /* names of outputs and initializers in use */
};

/** Sets IR 8, opset 17, producer, graph name. */
void assay__net_begin(struct assay__net *net, struct assay__model *model, const char *name,
                      uint64_t seed, struct assay_error *error);
/** The same for a builder of the zoo: the net gets the model's name. */
void assay__zoo_begin(struct assay__net *net, struct assay__zoo_params *params, uint64_t seed);
/** 0 or the first failure, with the error set. Always call it: frees the net's own memory. */
int assay__net_end(struct assay__net *net);
/** Records a failure; the first one stays. */
void assay__net_fail(struct assay__net *net, int code, const char *format, ...) ASSAY_PRINTF(3, 4);

void assay__net_no_memory(struct assay__net *net);

void assay__net_push(struct assay__net *net, const char *format, ...) ASSAY_PRINTF(2, 3);
void assay__net_pop(struct assay__net *net);

/* Inputs and outputs. dims: "batch,3,224,224": numbers, or symbols. */
const char *assay__net_input(struct assay__net *net, const char *name, enum assay__dtype dtype,
                             const char *dims);
/** Makes `value` a graph output called `name` (an Identity, unless the value may be renamed: use
 *  assay__net_node_named for the last node). */
void assay__net_output(struct assay__net *net, const char *value, const char *name,
                       enum assay__dtype dtype, const char *dims);
/** "batch" or "8": the text for a dimension that is symbolic when value < 0. In the arena. */
const char *assay__net_dim(struct assay__net *net, int64_t value, const char *symbol);
/** "FIRST,3,224": a first dimension (or several, as text), then numbers. */
#define ASSAY__NET_DIMS(NET, FIRST, ...)                        \
    assay__net_dims(NET, FIRST, (const int64_t[]){__VA_ARGS__}, \
                    sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
const char *assay__net_dims(struct assay__net *net, const char *first, const int64_t *rest,
                            size_t count);
const char *assay__net_text(struct assay__net *net, const char *format, ...) ASSAY_PRINTF(2, 3);

/* Nodes. inputs end with NULL; "" is a missing one. */
const char *assay__net_node(struct assay__net *net, const char *op, const char *const *inputs);
/** With the output's name given. */
const char *assay__net_node_named(struct assay__net *net, const char *op, const char *const *inputs,
                                  const char *output);
/** With several outputs: `outputs` receives `count` names. */
void assay__net_node_multi(struct assay__net *net, const char *op, const char *const *inputs,
                           const char **outputs, size_t count);
/** Attributes of the last node. */
void assay__net_attr_int(struct assay__net *net, const char *name, int64_t value);
void assay__net_attr_ints(struct assay__net *net, const char *name, const int64_t *values,
                          size_t count);
void assay__net_attr_float(struct assay__net *net, const char *name, float value);
void assay__net_attr_graph(struct assay__net *net, const char *name, struct assay__graph *graph);
void assay__net_attr_text(struct assay__net *net, const char *name, const char *value);

#define ASSAY__NET_IN(...) ((const char *const[]){__VA_ARGS__, NULL})
const char *assay__net_1(struct assay__net *net, const char *op, const char *a);
const char *assay__net_2(struct assay__net *net, const char *op, const char *a, const char *b);
const char *assay__net_3(struct assay__net *net, const char *op, const char *a, const char *b,
                         const char *c);

/* Weights. dims is an array; the name is used as given (not scoped), so that it can be torch's. */
const char *assay__net_weight(struct assay__net *net, const char *name, int rank,
                              const int64_t *dims, double mean, double deviation);
/** The weight "PREFIX.NAME.PART". */
const char *assay__net_part(struct assay__net *net, const char *name, const char *part, int rank,
                            const int64_t *dims, double mean, double deviation);
/** Data of the caller's, copied. */
const char *assay__net_floats(struct assay__net *net, const char *name, int rank,
                              const int64_t *dims, const float *values);
const char *assay__net_int64s(struct assay__net *net, const char *name, int rank,
                              const int64_t *dims, const int64_t *values);
/* Unscoped shared constants: the same value gives the same initializer. */
const char *assay__net_scalar(struct assay__net *net, float value);
const char *assay__net_shape(struct assay__net *net, const int64_t *values, size_t count);
const char *assay__net_index(struct assay__net *net, int64_t value); /* int64 scalar */

/* Layers used by several builders. Their weights are "PREFIX.NAME.weight", …: the net's prefix, and
 * `name` ("layer1.0.conv1"). */
/** y = x W^T + b as MatMul (weights stored [in, out], as exporters write them) and Add. */
const char *assay__net_linear(struct assay__net *net, const char *x, const char *name, int64_t in,
                              int64_t out, bool bias, double gain);
/** Deviation sqrt(gain * 2 / fan_in); pads, strides and dilations are the same in all
 * directions. */
const char *assay__net_conv(struct assay__net *net, const char *x, const char *name, int64_t in,
                            int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t group,
                            bool bias, double gain);
/** weight around `scale`, bias around 0, running mean 0, variance 1: four initializers,
 * BatchNormalization. */
const char *assay__net_batch_norm(struct assay__net *net, const char *x, const char *name,
                                  int64_t channels, double epsilon, double scale);
/** LayerNormalization (opset 17) over the last axis; bias optional. */
const char *assay__net_layer_norm(struct assay__net *net, const char *x, const char *name,
                                  int64_t width, double epsilon, bool bias);
/** RMS norm in plain operators: x * rsqrt(mean(x^2) + epsilon) * weight. */
const char *assay__net_rms_norm(struct assay__net *net, const char *x, const char *name,
                                int64_t width, double epsilon);
/** x * 0.5 * (1 + erf(x / sqrt 2)) in plain operators. */
const char *assay__net_gelu(struct assay__net *net, const char *x);
/** 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
const char *assay__net_gelu_tanh(struct assay__net *net, const char *x);
const char *assay__net_reshape(struct assay__net *net, const char *x, const int64_t *dims,
                               size_t count);
const char *assay__net_transpose(struct assay__net *net, const char *x, const int64_t *perm,
                                 size_t count);

#endif
