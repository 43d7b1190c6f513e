/* vision.c - builds the layers that image models share.
 *
 * The scale of weights: convolutions N(0, 2 / fan-in) keep the mean square through a ReLU; a layer
 * that reads a value without an activation before it takes half of that (gain 0.5). Norms have
 * running mean about 0 and variance about 1, so they pass values through. */
#include "zoo/vision.h"

#include <math.h>

const struct assay__zoo_param assay__vision_params[] = {
    {"batch", ASSAY__ZOO_INTEGER, "(symbolic)", NULL, 1, 65536, "batch size"},
    {"classes", ASSAY__ZOO_INTEGER, "1000", NULL, 1, 1000000, "number of classes"},
    {"image", ASSAY__ZOO_INTEGER, "224", NULL, 32, 8192, "height and width of the image"},
    {0},
};

void assay__vision_read_params(struct assay__zoo_params *params, struct assay__vision *vision)
{
    *vision = (struct assay__vision){.batch = assay__zoo_int(params, "batch"),
                                     .classes = assay__zoo_int(params, "classes"),
                                     .image = assay__zoo_int(params, "image"),
                                     .epsilon = 1e-5};
}

void assay__vision_begin(struct assay__vision *vision, struct assay__model *model, const char *name,
                         struct assay_error *error)
{
    struct assay__net *net = &vision->net;
    assay__net_begin(net, model, name, 50, error);
    vision->x = assay__net_input(
        net, "input", ASSAY__FLOAT32,
        assay__net_text(net, "%s,3,%lld,%lld", assay__net_dim(net, vision->batch, "batch"),
                        (long long)vision->image, (long long)vision->image));
}

/* The order of initializers in the file must not depend on the compiler: one call per statement. */
static const char *clip6(struct assay__net *net, const char *x)
{
    const char *low = assay__net_scalar(net, 0);
    const char *high = assay__net_scalar(net, 6);
    return assay__net_3(net, "Clip", x, low, high);
}

const char *assay__vision_act(struct assay__net *net, enum assay__vision_act act, const char *x)
{
    switch (act) {
    case ASSAY__ACT_RELU: return assay__net_1(net, "Relu", x);
    case ASSAY__ACT_RELU6: return clip6(net, x);
    case ASSAY__ACT_HARD_SWISH: return assay__net_1(net, "HardSwish", x);
    case ASSAY__ACT_SWISH: return assay__net_2(net, "Mul", x, assay__net_1(net, "Sigmoid", x));
    case ASSAY__ACT_NONE: break;
    }
    return x;
}

void assay__vision_conv(struct assay__vision *vision, const struct assay__conv *conv)
{
    struct assay__net *net = &vision->net;
    assay__net_push(net, "%s", conv->conv);
    vision->x = assay__net_conv(net, vision->x, conv->conv, conv->in, conv->out, conv->kernel,
                                conv->stride, conv->kernel / 2, conv->group, !conv->norm,
                                conv->gain);
    if (conv->norm)
        vision->x = assay__net_batch_norm(net, vision->x, conv->norm, conv->out, vision->epsilon,
                                          conv->scale);
    vision->x = assay__vision_act(net, conv->act, vision->x);
    assay__net_pop(net);
}

void assay__vision_squeeze(struct assay__vision *vision, const char *fc1, const char *fc2,
                           int64_t channels, int64_t squeezed, enum assay__vision_act act,
                           bool hard)
{
    struct assay__net *net = &vision->net;
    const char *x = vision->x;
    vision->x = assay__net_1(net, "GlobalAveragePool", x);
    assay__vision_conv(vision,
                       &(struct assay__conv){fc1, NULL, channels, squeezed, 1, 1, act, 1, 1, 1});
    assay__vision_conv(vision, &(struct assay__conv){fc2, NULL, squeezed, channels, 1, 1,
                                                     ASSAY__ACT_NONE, 1, 1, 1});
    const char *gate = assay__net_1(net, hard ? "HardSigmoid" : "Sigmoid", vision->x);
    if (hard) assay__net_attr_float(net, "alpha", 1.0f / 6);
    if (hard) assay__net_attr_float(net, "beta", 0.5f);
    vision->x = assay__net_2(net, "Mul", x, gate);
}

void assay__vision_max_pool(struct assay__vision *vision, int64_t kernel, int64_t stride,
                            int64_t pad, bool ceil_mode)
{
    const int64_t kernels[] = {kernel, kernel}, strides[] = {stride, stride},
                  pads[] = {pad, pad, pad, pad};
    vision->x = assay__net_1(&vision->net, "MaxPool", vision->x);
    assay__net_attr_ints(&vision->net, "kernel_shape", kernels, 2);
    assay__net_attr_ints(&vision->net, "pads", pads, 4);
    assay__net_attr_ints(&vision->net, "strides", strides, 2);
    if (ceil_mode) assay__net_attr_int(&vision->net, "ceil_mode", 1);
}

void assay__vision_pool_flatten(struct assay__vision *vision)
{
    vision->x = assay__net_1(&vision->net, "GlobalAveragePool", vision->x);
    vision->x = assay__net_1(&vision->net, "Flatten", vision->x);
    assay__net_attr_int(&vision->net, "axis", 1);
}

const char *assay__vision_dense(struct assay__vision *vision, const char *name, int64_t in,
                                int64_t out, const char *output)
{
    struct assay__net *net = &vision->net;
    const int64_t dims[] = {out, in};
    const char *weight = assay__net_part(net, name, "weight", 2, dims, 0, sqrt(1.0 / (double)in));
    const char *bias = assay__net_part(net, name, "bias", 1, &out, 0, 0.02);
    assay__net_push(net, "%s", name);
    const char *const inputs[] = {vision->x, weight, bias, NULL};
    const char *y = output ? assay__net_node_named(net, "Gemm", inputs, output)
                           : assay__net_node(net, "Gemm", inputs);
    assay__net_attr_int(net, "transB", 1);
    assay__net_pop(net);
    return y;
}

int assay__vision_classify(struct assay__vision *vision, const char *name, int64_t in)
{
    struct assay__net *net = &vision->net;
    const char *y = assay__vision_dense(vision, name, in, vision->classes, "output");
    assay__net_output(net, y, "output", ASSAY__FLOAT32,
                      assay__net_text(net, "%s,%lld", assay__net_dim(net, vision->batch, "batch"),
                                      (long long)vision->classes));
    return assay__net_end(net);
}
