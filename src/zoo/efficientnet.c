/* efficientnet.c - EfficientNet-B0 (Tan and Le, arXiv 1905.11946), torchvision's layout: inverted
 * residuals with squeeze and excitation (squeezed to a quarter of the block's input) and SiLU.
 * 5,288,548 trainable parameters with 1,000 classes. */
#include "zoo/vision.h"

struct stage {
    int expand, kernel, stride, out, count;
};

/* The net's prefix is "features.3.1". */
static void block(struct assay__vision *vision, const struct stage *stage, int64_t in,
                  int64_t stride)
{
    /* the layers of a block in torchvision: without an expansion they start one later */
    static const char *const names[] = {"block.0.0",   "block.0.1",   "block.1.0", "block.1.1",
                                        "block.2.fc1", "block.2.fc2", "block.3.0", "block.3.1"};
    static const char *const unexpanded[] = {"block.0.0",   "block.0.1", "block.1.fc1",
                                             "block.1.fc2", "block.2.0", "block.2.1"};
    const char *const *name = stage->expand == 1 ? unexpanded : names, *entry = vision->x;
    int64_t expanded = in * stage->expand, squeezed = in / 4;
    if (stage->expand != 1) {
        assay__vision_conv(
            vision, ASSAY__CONV(name[0], name[1], in, expanded, 1, 1, ASSAY__ACT_SWISH, 1, 0.5, 1));
        name += 2;
    }
    assay__vision_conv(vision, ASSAY__CONV(name[0], name[1], expanded, expanded, stage->kernel,
                                           stride, ASSAY__ACT_SWISH, expanded, 1, 1));
    assay__vision_squeeze(vision, name[2], name[3], expanded, squeezed > 1 ? squeezed : 1,
                          ASSAY__ACT_SWISH, false);
    /* the gate halves its input: four times the variance compensates for that */
    bool same = stride == 1 && in == stage->out;
    assay__vision_conv(vision, ASSAY__CONV(name[4], name[5], expanded, stage->out, 1, 1,
                                           ASSAY__ACT_NONE, 1, 4, same ? 0.5 : 1));
    if (same) assay__vision_add(vision, entry, ASSAY__ACT_NONE);
}

static int build(struct assay__zoo_params *params)
{
    static const struct stage stages[] = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                          {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                          {6, 3, 1, 320, 1}};
    struct assay__vision vision;
    assay__vision_begin(&vision, params);
    assay__vision_conv(&vision, ASSAY__CONV("features.0.0", "features.0.1", 3, 32, 3, 2,
                                            ASSAY__ACT_SWISH, 1, 1, 1));
    int64_t in = 32;
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
        for (int i = 0; i < stages[s].count; i++) {
            vision.net.prefix = assay__net_text(&vision.net, "features.%zu.%d", s + 1, i);
            block(&vision, &stages[s], in, i == 0 ? stages[s].stride : 1);
            in = stages[s].out;
        }
    vision.net.prefix = "";
    assay__vision_conv(&vision, ASSAY__CONV("features.8.0", "features.8.1", in, 1280, 1, 1,
                                            ASSAY__ACT_SWISH, 1, 1, 1));
    assay__vision_pool_flatten(&vision);
    return assay__vision_classify(&vision, "classifier.1", 1280);
}

const struct assay__zoo_entry assay__zoo_efficientnet_b0 = ASSAY__ZOO_ENTRY(
    "efficientnet-b0", "EfficientNet-B0, image classification, 5.3 M parameters", build,
    assay__vision_params);
