/* resnet.c - ResNet-18 and ResNet-50 v1.5 (He et al., "Deep residual learning", arXiv 1512.03385,
 * with the stride in the 3 × 3 convolution, torchvision's layout): a 7 × 7 stem, four stages of
 * blocks of widths 64 … 512, global average pooling and a linear classifier. Convolutions have no
 * bias; each is followed by a BatchNormalization node. With 1,000 classes 11,689,512 and 25,557,032
 * trainable parameters.
 *
 * The last norm of each block is scaled by one half, so that the residual sums neither vanish nor
 * explode. */
#include "zoo/vision.h"

#include <string.h>

/* One residual block: two 3 × 3, or 1 × 1 down, 3 × 3, 1 × 1 up. */
static void block(struct assay__vision *vision, bool bottleneck, int64_t in, int64_t width,
                  int64_t stride)
{
    const char *entry = vision->x;
    int64_t out = bottleneck ? 4 * width : width;
    const enum assay__vision_act act = bottleneck ? ASSAY__ACT_RELU : ASSAY__ACT_NONE;
    assay__vision_conv(vision, ASSAY__CONV("conv1", "bn1", in, width, bottleneck ? 1 : 3,
                                           bottleneck ? 1 : stride, ASSAY__ACT_RELU, 1, 1, 1));
    assay__vision_conv(vision, ASSAY__CONV("conv2", "bn2", width, width, 3, bottleneck ? stride : 1,
                                           act, 1, 1, bottleneck ? 1 : 0.5));
    if (bottleneck)
        assay__vision_conv(
            vision, ASSAY__CONV("conv3", "bn3", width, out, 1, 1, ASSAY__ACT_NONE, 1, 1, 0.5));
    const char *branch = vision->x;
    vision->x = entry;
    if (stride != 1 || in != out)
        assay__vision_conv(vision, ASSAY__CONV("downsample.0", "downsample.1", in, out, 1, stride,
                                               ASSAY__ACT_NONE, 1, 1, 1));
    assay__vision_add(vision, branch, ASSAY__ACT_RELU);
}

static int build(struct assay__zoo_params *params)
{
    static const int counts[2][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
    bool bottleneck = strcmp(params->entry->name, "resnet50") == 0;
    struct assay__vision vision;
    assay__vision_begin(&vision, params);
    assay__vision_conv(&vision, ASSAY__CONV("conv1", "bn1", 3, 64, 7, 2, ASSAY__ACT_RELU, 1, 1, 1));
    assay__vision_max_pool(&vision, 3, 2, 1, false);
    int64_t in = 64;
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < counts[bottleneck][stage]; i++) {
            int64_t width = (int64_t)64 << stage;
            vision.net.prefix = assay__net_text(&vision.net, "layer%d.%d", stage + 1, i);
            block(&vision, bottleneck, in, width, stage > 0 && i == 0 ? 2 : 1);
            in = bottleneck ? 4 * width : width;
        }
    vision.net.prefix = "";
    assay__vision_pool_flatten(&vision);
    return assay__vision_classify(&vision, "fc", in);
}

const struct assay__zoo_entry assay__zoo_resnet18 = ASSAY__ZOO_ENTRY(
    "resnet18", "ResNet-18, image classification, 11.7 M parameters", build, assay__vision_params);

const struct assay__zoo_entry assay__zoo_resnet50 = ASSAY__ZOO_ENTRY(
    "resnet50", "ResNet-50 v1.5, image classification, 25.6 M parameters", build,
    assay__vision_params);
