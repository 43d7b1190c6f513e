/* unet.c - U-Net (Ronneberger et al., arXiv 1505.04597) in the form used today: padded 3 × 3
 * convolutions with batch norm, four levels of widths 64 … 1024, transposed convolutions up, skip
 * connections concatenated. 31,037,698 trainable parameters with 3 channels in and 2 classes
 * out. */
#include "zoo/vision.h"

#include <math.h>

#define LEVELS 4
#define STEP (1 << LEVELS) /* each level halves the image */

static void double_conv(struct assay__vision *vision, const char *prefix, int64_t in, int64_t out)
{
    vision->net.prefix = prefix;
    assay__vision_conv(vision, ASSAY__CONV("double_conv.0", "double_conv.1", in, out, 3, 1,
                                           ASSAY__ACT_RELU, 1, 1, 1));
    assay__vision_conv(vision, ASSAY__CONV("double_conv.3", "double_conv.4", out, out, 3, 1,
                                           ASSAY__ACT_RELU, 1, 1, 1));
    vision->net.prefix = "";
}

/* Doubles the image and halves the channels. Each output uses one weight per input channel: fan-in
 * is `in`. */
static const char *up_conv(struct assay__vision *vision, const char *name, int64_t in)
{
    struct assay__net *net = &vision->net;
    const int64_t dims[] = {in, in / 2, 2, 2}, out = in / 2, two[] = {2, 2};
    const char *weight = assay__net_part(net, name, "weight", 4, dims, 0, sqrt(2.0 / (double)in));
    const char *bias = assay__net_part(net, name, "bias", 1, &out, 0, 0.02);
    assay__net_push(net, "%s", name);
    const char *y = assay__net_3(net, "ConvTranspose", vision->x, weight, bias);
    assay__net_attr_ints(net, "kernel_shape", two, 2);
    assay__net_attr_ints(net, "strides", two, 2);
    assay__net_pop(net);
    return y;
}

static int build(struct assay__zoo_params *params)
{
    struct assay__vision vision;
    const char *skips[LEVELS];
    if (assay__zoo_int(params, "image") % STEP)
        return assay__zoo_refuse(params, "image=%lld: must be a multiple of %d",
                                 (long long)assay__zoo_int(params, "image"), STEP);
    assay__vision_begin(&vision, params);
    struct assay__net *net = &vision.net;
    double_conv(&vision, "inc", 3, 64);
    for (int level = 0; level < LEVELS; level++) {
        skips[level] = vision.x;
        assay__vision_max_pool(&vision, 2, 2, 0, false);
        double_conv(&vision, assay__net_text(net, "down%d.maxpool_conv.1", level + 1),
                    (int64_t)64 << level, (int64_t)128 << level);
    }
    for (int level = LEVELS - 1; level >= 0; level--) {
        int64_t width = (int64_t)64 << level;
        const char *up = up_conv(&vision, assay__net_text(net, "up%d.up", LEVELS - level),
                                 2 * width);
        assay__net_push(net, "up%d", LEVELS - level);
        vision.x = assay__net_2(net, "Concat", skips[level], up);
        assay__net_attr_int(net, "axis", 1);
        assay__net_pop(net);
        double_conv(&vision, assay__net_text(net, "up%d.conv", LEVELS - level), 2 * width, width);
    }
    assay__vision_conv(&vision, ASSAY__CONV("outc.conv", NULL, 64, vision.classes, 1, 1,
                                            ASSAY__ACT_NONE, 1, 0.5, 1));
    const char *batch = assay__net_dim(net, vision.batch, "batch");
    assay__net_output(net, vision.x, "output", ASSAY__FLOAT32,
                      ASSAY__NET_DIMS(net, batch, vision.classes, vision.image, vision.image));
    return assay__net_end(net);
}

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_INT("classes", "2", 1, 1000000, "number of classes"),
    ASSAY__ZOO_INT("image", "256", 32, 8192, "height and width; a multiple of 16"),
    {0},
};

const struct assay__zoo_entry assay__zoo_unet = {
    "unet", "U-Net, image segmentation, 31.0 M parameters", {declared}, build};
