/* squeezenet.c - SqueezeNet 1.0 and 1.1 (Iandola et al., arXiv 1602.07360), torchvision's layouts:
 * fire modules (1 × 1 squeeze, then 1 × 1 and 3 × 3 side by side, concatenated), a 1 × 1
 * convolution as classifier. 1,248,424 and 1,235,496 trainable parameters with 1,000 classes. */
#include "zoo/vision.h"

static void conv_relu(struct assay__vision *vision, const char *name, int64_t in, int64_t out,
                      int64_t kernel)
{
    assay__vision_conv(vision,
                       ASSAY__CONV(name, NULL, in, out, kernel, 1, ASSAY__ACT_RELU, 1, 1, 1));
}

static void fire(struct assay__vision *vision, int index, int64_t in, int64_t squeeze,
                 int64_t expand)
{
    struct assay__net *net = &vision->net;
    net->prefix = assay__net_text(net, "features.%d", index);
    conv_relu(vision, "squeeze", in, squeeze, 1);
    const char *squeezed = vision->x;
    conv_relu(vision, "expand1x1", squeeze, expand, 1);
    const char *left = vision->x;
    vision->x = squeezed;
    conv_relu(vision, "expand3x3", squeeze, expand, 3);
    assay__net_push(net, "%s", net->prefix);
    vision->x = assay__net_2(net, "Concat", left, vision->x);
    assay__net_attr_int(net, "axis", 1);
    assay__net_pop(net);
    net->prefix = "";
}

static int build(struct assay__zoo_params *params)
{
    static const int squeezes[] = {16, 16, 32, 32, 48, 48, 64, 64};
    static const int places[2][8] = {{3, 4, 5, 7, 8, 9, 10, 12}, {3, 4, 6, 7, 9, 10, 11, 12}};
    struct assay__vision vision;
    int version = assay__zoo_choice(params, "version");
    assay__vision_begin(&vision, params);
    struct assay__net *net = &vision.net;
    int64_t in = version ? 64 : 96;
    assay__net_push(net, "features.0"); /* the stem has no padding */
    vision.x = assay__net_conv(net, vision.x, "features.0", 3, in, version ? 3 : 7, 2, 0, 1, true,
                               1);
    vision.x = assay__net_1(net, "Relu", vision.x);
    assay__net_pop(net);
    assay__vision_max_pool(&vision, 3, 2, 0, true);
    for (int i = 0; i < 8; i++) {
        /* a gap in the numbering is a pooling layer */
        if (i > 0 && places[version][i] != places[version][i - 1] + 1)
            assay__vision_max_pool(&vision, 3, 2, 0, true);
        fire(&vision, places[version][i], in, squeezes[i], 4 * squeezes[i]);
        in = 8 * squeezes[i];
    }
    conv_relu(&vision, "classifier.1", 512, vision.classes, 1);
    assay__vision_pool_flatten(&vision);
    const char *batch = assay__net_dim(net, vision.batch, "batch");
    assay__zoo_output(net, vision.x, "output", ASSAY__NET_DIMS(net, batch, vision.classes));
    return assay__net_end(net);
}

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_ONE_OF("version", "1.0", "1.0|1.1", "1.1 needs 2.4 times less computation"),
    {0},
};

const struct assay__zoo_entry assay__zoo_squeezenet = ASSAY__ZOO_ENTRY(
    "squeezenet", "SqueezeNet 1.0 or 1.1, image classification, 1.2 M parameters", build, declared,
    assay__vision_params);
