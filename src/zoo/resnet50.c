/* resnet50.c - ResNet-50 v1.5 (He et al., "Deep residual learning", arXiv 1512.03385, with the
 * stride in the 3 × 3 convolution, the layout of torchvision's model): a 7 × 7 stem, four stages
 * of 3, 4, 6 and 3 bottlenecks of widths 64 … 512 (outputs 4 × as wide), global average pooling
 * and a linear classifier. Convolutions have no bias; each is followed by a BatchNormalization
 * node. 25,557,032 trainable parameters with 1,000 classes, and 53,120 running statistics.
 *
 * Weights are random and always the same: convolutions N(0, 2 / fan-out), as the paper's
 * initialisation, the classifier N(0, 1 / 2048). The last norm of each bottleneck is scaled by
 * about one half, so that sixteen residual sums neither vanish nor explode: activations stay
 * finite, normal and not constant. */
#include "zoo/builders.h"

#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct builder {
    struct assay__model *model;
    struct assay__random random;
    bool failed;    /* out of memory */
    char value[96]; /* the value the next layer reads */
};

/* Sum of four 16-bit uniforms, scaled to unit variance (var of one: 1/12): near enough to
 * normal, one draw each. */
static void fill_normal(struct assay__random *random, float *out, size_t count, double deviation)
{
    const float scale = (float)(deviation * sqrt(3.0) / 65536.0);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = assay__random_u64(random);
        int sum = (int)(bits & 0xffff) + (int)(bits >> 16 & 0xffff) + (int)(bits >> 32 & 0xffff) +
                  (int)(bits >> 48);
        out[i] = (float)(sum - 2 * 65535) * scale + scale * 0.5f; /* never exactly zero */
    }
}

static float *add_weights(struct builder *builder, const char *name, int rank, const int64_t *dims)
{
    size_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= (size_t)dims[i]; /* at most 8 M here: parameters are range-checked */
    float *data = assay__arena_array(builder->model->arena, count, sizeof *data);
    if (!data ||
        !assay__graph_add_initializer(builder->model, &builder->model->graph, name, ASSAY__FLOAT32,
                                      rank, dims, data, count * sizeof *data)) {
        builder->failed = true;
        return NULL;
    }
    return data;
}

static struct assay__node *add_node(struct builder *builder, const char *op, const char *scope,
                                    const char *const *inputs, size_t count)
{
    char name[96], output[96];
    const char *outputs[] = {output};
    snprintf(name, sizeof name, "/%s%s%s", scope, *scope ? "/" : "", op);
    snprintf(output, sizeof output, "/%s%s%s_output_0", scope, *scope ? "/" : "", op);
    struct assay__node *node = assay__graph_add_node(builder->model, &builder->model->graph, op,
                                                     name, inputs, count, outputs, 1);
    if (!node) builder->failed = true;
    snprintf(builder->value, sizeof builder->value, "%s", output);
    return node;
}

static void set_square(struct builder *builder, struct assay__node *node, const char *name,
                       int64_t value, size_t count)
{
    const int64_t values[4] = {value, value, value, value};
    if (!node || assay__node_set_ints(builder->model, node, name, values, count))
        builder->failed = true;
}

/* A convolution without bias and its norm. gain scales the norm. Reads and replaces
 * builder->value. */
static void conv_norm(struct builder *builder, const char *scope, const char *conv,
                      const char *norm, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                      double gain)
{
    static const char *const parts[] = {"weight", "bias", "running_mean", "running_var"};
    char weight[96], where[96], names[4][96];
    const int64_t dims[] = {out, in, kernel, kernel};
    const char *dot = *scope ? "." : "";
    if (builder->failed) return;
    snprintf(weight, sizeof weight, "%s%s%s.weight", scope, dot, conv);
    float *data = add_weights(builder, weight, 4, dims);
    if (!data) return;
    fill_normal(&builder->random, data, (size_t)(out * in * kernel * kernel),
                sqrt(2.0 / (double)(out * kernel * kernel)));
    snprintf(where, sizeof where, "%s%s%s", scope, dot, conv);
    const char *inputs[5] = {builder->value, weight};
    struct assay__node *node = add_node(builder, "Conv", where, inputs, 2);
    set_square(builder, node, "dilations", 1, 2);
    if (node && assay__node_set_int(builder->model, node, "group", 1)) builder->failed = true;
    set_square(builder, node, "kernel_shape", kernel, 2);
    set_square(builder, node, "pads", kernel / 2, 4);
    set_square(builder, node, "strides", stride, 2);
    char convolved[96];
    memcpy(convolved, builder->value, sizeof convolved);
    inputs[0] = convolved;
    for (int i = 0; i < 4; i++) {
        snprintf(names[i], sizeof names[i], "%s%s%s.%s", scope, dot, norm, parts[i]);
        float *values = add_weights(builder, names[i], 1, &out);
        /* weight about `gain`, bias and mean about 0, variance about 1 */
        double centre = i == 0 ? gain : i == 3 ? 1 : 0;
        for (int64_t k = 0; values && k < out; k++)
            values[k] = (float)(centre + 0.1 * (assay__random_unit(&builder->random) - 0.5));
        inputs[1 + i] = names[i];
    }
    snprintf(where, sizeof where, "%s%s%s", scope, dot, norm);
    node = add_node(builder, "BatchNormalization", where, inputs, 5);
    if (!node || assay__node_set_float(builder->model, node, "epsilon", 1e-5f))
        builder->failed = true;
}

static void relu(struct builder *builder, const char *scope)
{
    char value[96];
    const char *inputs[] = {value};
    memcpy(value, builder->value, sizeof value);
    add_node(builder, "Relu", scope, inputs, 1);
}

/* 1 × 1 down, 3 × 3 (with the stride), 1 × 1 up, plus the input (projected where its shape
 * differs). */
static void bottleneck(struct builder *builder, const char *scope, int64_t in, int64_t width,
                       int64_t stride)
{
    char entry[96], branch[96], place[96];
    int64_t out = 4 * width;
    memcpy(entry, builder->value, sizeof entry);
    conv_norm(builder, scope, "conv1", "bn1", in, width, 1, 1, 1);
    snprintf(place, sizeof place, "%s.relu1", scope);
    relu(builder, place);
    conv_norm(builder, scope, "conv2", "bn2", width, width, 3, stride, 1);
    snprintf(place, sizeof place, "%s.relu2", scope);
    relu(builder, place);
    conv_norm(builder, scope, "conv3", "bn3", width, out, 1, 1, 0.5);
    memcpy(branch, builder->value, sizeof branch);
    memcpy(builder->value, entry, sizeof entry);
    if (stride != 1 || in != out)
        conv_norm(builder, scope, "downsample.0", "downsample.1", in, out, 1, stride, 1);
    char skip[96];
    memcpy(skip, builder->value, sizeof skip);
    const char *inputs[] = {branch, skip};
    add_node(builder, "Add", scope, inputs, 2);
    snprintf(place, sizeof place, "%s.relu3", scope);
    relu(builder, place);
}

static void stages(struct builder *builder)
{
    static const int counts[] = {3, 4, 6, 3};
    int64_t in = 64;
    for (int stage = 0; stage < 4; stage++) {
        int64_t width = (int64_t)64 << stage;
        for (int block = 0; block < counts[stage]; block++) {
            char scope[32];
            snprintf(scope, sizeof scope, "layer%d.%d", stage + 1, block);
            bottleneck(builder, scope, in, width, stage > 0 && block == 0 ? 2 : 1);
            in = 4 * width;
        }
    }
}

/* Pools, flattens, classifies; the last node's output is the graph's. */
static void head(struct builder *builder, int64_t classes)
{
    char value[96];
    const char *inputs[] = {value, "fc.weight", "fc.bias"}, *outputs[] = {"output"};
    const int64_t dims[] = {classes, 2048};
    memcpy(value, builder->value, sizeof value);
    add_node(builder, "GlobalAveragePool", "avgpool", inputs, 1);
    memcpy(value, builder->value, sizeof value);
    struct assay__node *node = add_node(builder, "Flatten", "", inputs, 1);
    if (!node || assay__node_set_int(builder->model, node, "axis", 1)) builder->failed = true;
    memcpy(value, builder->value, sizeof value);
    float *weights = add_weights(builder, "fc.weight", 2, dims);
    float *bias = add_weights(builder, "fc.bias", 1, dims);
    if (!weights || !bias) return;
    fill_normal(&builder->random, weights, (size_t)classes * 2048, sqrt(1.0 / 2048));
    fill_normal(&builder->random, bias, (size_t)classes, 0.01);
    node = assay__graph_add_node(builder->model, &builder->model->graph, "Gemm", "/fc/Gemm", inputs,
                                 3, outputs, 1);
    if (!node || assay__node_set_int(builder->model, node, "transB", 1)) builder->failed = true;
}

static void stem(struct builder *builder)
{
    char value[96];
    const char *inputs[] = {value};
    snprintf(builder->value, sizeof builder->value, "input");
    conv_norm(builder, "", "conv1", "bn1", 3, 64, 7, 2, 1);
    relu(builder, "relu");
    memcpy(value, builder->value, sizeof value);
    struct assay__node *node = add_node(builder, "MaxPool", "maxpool", inputs, 1);
    set_square(builder, node, "kernel_shape", 3, 2);
    set_square(builder, node, "pads", 1, 4);
    set_square(builder, node, "strides", 2, 2);
}

int assay__zoo_resnet50(struct assay__zoo_params *params, struct assay__model *model,
                        struct assay_error *error)
{
    int64_t batch = 0, classes = 0, image = 0;
    struct builder builder = {.model = model};
    int code = assay__zoo_param_int(params, "batch", -1, 1, 65536, &batch, error);
    if (!code) code = assay__zoo_param_int(params, "classes", 1000, 1, 100000, &classes, error);
    if (!code) code = assay__zoo_param_int(params, "image", 224, 32, 4096, &image, error);
    if (!code) code = assay__zoo_params_done(params, error);
    if (code) return code;
    const struct assay__dim in[] = {
        {batch, batch < 0 ? "batch" : ""}, {3, ""}, {image, ""}, {image, ""}};
    const struct assay__dim out[] = {{batch, batch < 0 ? "batch" : ""}, {classes, ""}};
    model->ir_version = 8;
    model->producer = "assay";
    model->producer_version = ASSAY_VERSION_STRING;
    model->graph.name = "resnet50";
    model->opsets = assay__arena_alloc(model->arena, sizeof *model->opsets);
    if (!model->opsets) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    model->opsets[0] = (struct assay__opset){"", 17};
    model->opset_count = 1;
    assay__random_seed(&builder.random, 50);
    builder.failed = assay__graph_add_value(model, &model->graph.inputs, &model->graph.input_count,
                                            "input", ASSAY__FLOAT32, 4, in) ||
                     assay__graph_add_value(model, &model->graph.outputs,
                                            &model->graph.output_count, "output", ASSAY__FLOAT32, 2,
                                            out);
    stem(&builder);
    stages(&builder);
    head(&builder, classes);
    return builder.failed ? assay_error_set(error, ASSAY_ENOMEM, "out of memory") : 0;
}
