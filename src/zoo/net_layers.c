/* net_layers.c - layers used by several builders of the zoo, built from net.h's nodes and
 * weights. */
#include "zoo/net.h"

#include <math.h>

const char *assay__net_linear(struct assay__net *net, const char *x, const char *name, int64_t in,
                              int64_t out, bool bias, double gain)
{
    const int64_t dims[] = {in, out};
    const char *weight = assay__net_part(net, name, "weight", 2, dims, 0, sqrt(gain / (double)in));
    const char *y = assay__net_2(net, "MatMul", x, weight);
    if (!bias) return y;
    return assay__net_2(net, "Add", y, assay__net_part(net, name, "bias", 1, &out, 0, 0.02));
}

static void attr_square(struct assay__net *net, const char *name, int64_t value, size_t count)
{
    const int64_t values[4] = {value, value, value, value};
    assay__net_attr_ints(net, name, values, count);
}

const char *assay__net_conv(struct assay__net *net, const char *x, const char *name, int64_t in,
                            int64_t out, int64_t kernel, int64_t stride, int64_t pad, int64_t group,
                            bool bias, double gain)
{
    const int64_t dims[] = {out, in / group, kernel, kernel};
    double fan_in = (double)(in / group * kernel * kernel);
    const char *weight = assay__net_part(net, name, "weight", 4, dims, 0, sqrt(gain * 2 / fan_in));
    const char *shift = bias ? assay__net_part(net, name, "bias", 1, &out, 0, 0.02) : NULL;
    const char *y = assay__net_node(net, "Conv", ASSAY__NET_IN(x, weight, shift));
    attr_square(net, "dilations", 1, 2);
    assay__net_attr_int(net, "group", group);
    attr_square(net, "kernel_shape", kernel, 2);
    attr_square(net, "pads", pad, 4);
    attr_square(net, "strides", stride, 2);
    return y;
}

const char *assay__net_batch_norm(struct assay__net *net, const char *x, const char *name,
                                  int64_t channels, double epsilon, double scale)
{
    static const char *const parts[] = {"weight", "bias", "running_mean", "running_var"};
    const double means[] = {scale, 0, 0, 1}, deviations[] = {0.03 * scale, 0.03, 0.03, 0.03};
    const char *inputs[6] = {x};
    for (int i = 0; i < 4; i++)
        inputs[1 + i] = assay__net_part(net, name, parts[i], 1, &channels, means[i], deviations[i]);
    const char *y = assay__net_node(net, "BatchNormalization", inputs);
    assay__net_attr_float(net, "epsilon", (float)epsilon);
    return y;
}

const char *assay__net_layer_norm(struct assay__net *net, const char *x, const char *name,
                                  int64_t width, double epsilon, bool bias)
{
    const char *weight = assay__net_part(net, name, "weight", 1, &width, 1, 0.03);
    const char *shift = bias ? assay__net_part(net, name, "bias", 1, &width, 0, 0.03) : NULL;
    const char *y = assay__net_node(net, "LayerNormalization", ASSAY__NET_IN(x, weight, shift));
    assay__net_attr_int(net, "axis", -1);
    assay__net_attr_float(net, "epsilon", (float)epsilon);
    return y;
}

const char *assay__net_rms_norm(struct assay__net *net, const char *x, const char *name,
                                int64_t width, double epsilon)
{
    const int64_t last[] = {-1};
    const char *weight = assay__net_part(net, name, "weight", 1, &width, 1, 0.03);
    const char *square = assay__net_2(net, "Mul", x, x);
    const char *mean = assay__net_1(net, "ReduceMean", square);
    assay__net_attr_ints(net, "axes", last, 1);
    assay__net_attr_int(net, "keepdims", 1);
    const char *root = assay__net_1(
        net, "Sqrt", assay__net_2(net, "Add", mean, assay__net_scalar(net, (float)epsilon)));
    return assay__net_2(net, "Mul", assay__net_2(net, "Div", x, root), weight);
}

const char *assay__net_gelu(struct assay__net *net, const char *x)
{
    const char *scaled = assay__net_2(net, "Div", x, assay__net_scalar(net, (float)sqrt(2.0)));
    const char *erf = assay__net_1(net, "Erf", scaled);
    const char *sum = assay__net_2(net, "Add", erf, assay__net_scalar(net, 1));
    const char *product = assay__net_2(net, "Mul", x, sum);
    return assay__net_2(net, "Mul", product, assay__net_scalar(net, 0.5f));
}

const char *assay__net_gelu_tanh(struct assay__net *net, const char *x)
{
    const double pi = 3.14159265358979323846;
    const char *cube = assay__net_2(net, "Mul", assay__net_2(net, "Mul", x, x), x);
    const char *inner = assay__net_2(
        net, "Add", x, assay__net_2(net, "Mul", cube, assay__net_scalar(net, 0.044715f)));
    const char *scaled = assay__net_2(net, "Mul", inner,
                                      assay__net_scalar(net, (float)sqrt(2 / pi)));
    const char *sum = assay__net_2(net, "Add", assay__net_1(net, "Tanh", scaled),
                                   assay__net_scalar(net, 1));
    const char *half = assay__net_2(net, "Mul", x, assay__net_scalar(net, 0.5f));
    return assay__net_2(net, "Mul", half, sum);
}

const char *assay__net_reshape(struct assay__net *net, const char *x, const int64_t *dims,
                               size_t count)
{
    return assay__net_2(net, "Reshape", x, assay__net_shape(net, dims, count));
}

const char *assay__net_transpose(struct assay__net *net, const char *x, const int64_t *perm,
                                 size_t count)
{
    const char *y = assay__net_1(net, "Transpose", x);
    assay__net_attr_ints(net, "perm", perm, count);
    return y;
}
