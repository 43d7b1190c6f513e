/* vision.c - builds the layers that image models share.
 *
 * The scale of weights: convolutions N(0, 2 / fan-in) keep the mean square through a ReLU; a layer
 * whose input has no activation before it uses half of that (gain 0.5). Norms have a running mean
 * of about 0 and a variance of about 1, so they hardly change values. */
#include "zoo/vision.h"

const struct assay__zoo_param assay__vision_params[] = {
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_INT("classes", "1000", 1, 1000000, "number of classes"),
    ASSAY__ZOO_INT("image", "224", 32, 8192, "height and width of the image"),
    {0},
};

void assay__vision_begin(struct assay__vision *vision, struct assay__zoo_params *params)
{
    struct assay__net *net = &vision->net;
    *vision = (struct assay__vision){.batch = assay__zoo_int(params, "batch"),
                                     .classes = assay__zoo_int(params, "classes"),
                                     .image = assay__zoo_int(params, "image"),
                                     .epsilon = 1e-5};
    assay__zoo_begin(net, params, 50);
    const char *batch = assay__net_dim(net, vision->batch, "batch");
    vision->x = assay__net_input(net, "input", ASSAY__FLOAT32,
                                 ASSAY__NET_DIMS(net, batch, 3, vision->image, vision->image));
}

const char *assay__vision_act(struct assay__net *net, enum assay__vision_act act, const char *x)
{
    switch (act) {
    case ASSAY__ACT_RELU: return assay__net_1(net, "Relu", x);
    case ASSAY__ACT_RELU6: {
        /* one call per statement: the order of initializers must not depend on the compiler */
        const char *low = assay__net_scalar(net, 0);
        return assay__net_3(net, "Clip", x, low, assay__net_scalar(net, 6));
    }
    case ASSAY__ACT_HARD_SWISH: return assay__net_1(net, "HardSwish", x);
    case ASSAY__ACT_SWISH: return assay__net_2(net, "Mul", x, assay__net_1(net, "Sigmoid", x));
    case ASSAY__ACT_NONE: break;
    }
    return x;
}

/* Opens the scope of a layer: "PREFIX.NAME". */
static void push(struct assay__net *net, const char *name)
{
    assay__net_push(net, "%s%s%s", net->prefix, *net->prefix ? "." : "", name);
}

void assay__vision_conv(struct assay__vision *vision, const struct assay__conv *conv)
{
    struct assay__net *net = &vision->net;
    push(net, conv->conv);
    vision->x = assay__net_conv(net, vision->x, conv->conv, conv->in, conv->out, conv->kernel,
                                conv->stride, conv->kernel / 2, conv->group, !conv->norm,
                                conv->gain);
    if (conv->norm)
        vision->x = assay__net_batch_norm(net, vision->x, conv->norm, conv->out, vision->epsilon,
                                          conv->scale);
    vision->x = assay__vision_act(net, conv->act, vision->x);
    assay__net_pop(net);
}

void assay__vision_add(struct assay__vision *vision, const char *x, enum assay__vision_act act)
{
    assay__net_push(&vision->net, "%s", vision->net.prefix);
    vision->x = assay__net_2(&vision->net, "Add", x, vision->x);
    vision->x = assay__vision_act(&vision->net, act, vision->x);
    assay__net_pop(&vision->net);
}

void assay__vision_squeeze(struct assay__vision *vision, const char *fc1, const char *fc2,
                           int64_t channels, int64_t squeezed, enum assay__vision_act act,
                           bool hard)
{
    struct assay__net *net = &vision->net;
    const char *x = vision->x;
    vision->x = assay__net_1(net, "GlobalAveragePool", x);
    assay__vision_conv(vision, ASSAY__CONV(fc1, NULL, channels, squeezed, 1, 1, act, 1, 1, 1));
    assay__vision_conv(vision,
                       ASSAY__CONV(fc2, NULL, squeezed, channels, 1, 1, ASSAY__ACT_NONE, 1, 1, 1));
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

void assay__vision_dense(struct assay__vision *vision, const char *name, int64_t in, int64_t out)
{
    push(&vision->net, name);
    vision->x = assay__zoo_gemm(&vision->net, vision->x, name, in, out, 1);
    assay__net_pop(&vision->net);
}

int assay__vision_classify(struct assay__vision *vision, const char *name, int64_t in)
{
    struct assay__net *net = &vision->net;
    assay__vision_dense(vision, name, in, vision->classes);
    const char *batch = assay__net_dim(net, vision->batch, "batch");
    assay__zoo_output(net, vision->x, "output", ASSAY__NET_DIMS(net, batch, vision->classes));
    return assay__net_end(net);
}
