/* efficientnet.c - EfficientNet-B0 (Tan and Le, arXiv 1905.11946), torchvision's layout: inverted
 * residuals with squeeze and excitation (squeezed to a quarter of the block's input) and SiLU.
 * 5,288,548 trainable parameters with 1,000 classes. */
#include "zoo/vision.h"

struct stage {
    int expand, kernel, stride, out, count;
};

static const char *part(struct assay__vision *vision, const char *block, int index,
                        const char *rest)
{
    return assay__net_text(&vision->net, "%s.block.%d.%s", block, index, rest);
}

static void block(struct assay__vision *vision, const char *name, const struct stage *stage,
                  int64_t in, int64_t stride)
{
    struct assay__net *net = &vision->net;
    const char *entry = vision->x;
    int64_t expanded = in * stage->expand, squeezed = in / 4;
    int index = 0;
    if (stage->expand != 1) {
        assay__vision_conv(vision,
                           &(struct assay__conv){part(vision, name, index, "0"),
                                                 part(vision, name, index, "1"), in, expanded, 1, 1,
                                                 ASSAY__ACT_SWISH, 1, 0.5, 1});
        index++;
    }
    assay__vision_conv(vision, &(struct assay__conv){part(vision, name, index, "0"),
                                                     part(vision, name, index, "1"), expanded,
                                                     expanded, stage->kernel, stride,
                                                     ASSAY__ACT_SWISH, expanded, 1, 1});
    index++;
    assay__vision_squeeze(vision, part(vision, name, index, "fc1"),
                          part(vision, name, index, "fc2"), expanded, squeezed > 1 ? squeezed : 1,
                          ASSAY__ACT_SWISH, false);
    index++;
    /* the gate halves its input: four times the variance brings it back */
    bool same = stride == 1 && in == stage->out;
    assay__vision_conv(vision,
                       &(struct assay__conv){part(vision, name, index, "0"),
                                             part(vision, name, index, "1"), expanded, stage->out,
                                             1, 1, ASSAY__ACT_NONE, 1, 4, same ? 0.5 : 1});
    assay__net_push(net, "%s", name);
    if (same) vision->x = assay__net_2(net, "Add", entry, vision->x);
    assay__net_pop(net);
}

static int build(struct assay__zoo_params *params, struct assay__model *model,
                 struct assay_error *error)
{
    static const struct stage stages[] = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                          {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                          {6, 3, 1, 320, 1}};
    struct assay__vision vision;
    assay__vision_read_params(params, &vision);
    assay__vision_begin(&vision, model, "efficientnet-b0", error);
    assay__vision_conv(&vision, &(struct assay__conv){"features.0.0", "features.0.1", 3, 32, 3, 2,
                                                      ASSAY__ACT_SWISH, 1, 1, 1});
    int64_t in = 32;
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
        for (int i = 0; i < stages[s].count; i++) {
            block(&vision, assay__net_text(&vision.net, "features.%zu.%d", s + 1, i), &stages[s],
                  in, i == 0 ? stages[s].stride : 1);
            in = stages[s].out;
        }
    assay__vision_conv(&vision, &(struct assay__conv){"features.8.0", "features.8.1", in, 1280, 1,
                                                      1, ASSAY__ACT_SWISH, 1, 1, 1});
    assay__vision_pool_flatten(&vision);
    return assay__vision_classify(&vision, "classifier.1", 1280);
}

const struct assay__zoo_entry assay__zoo_efficientnet_b0 = {
    "efficientnet-b0",
    "EfficientNet-B0, image classification, 5.3 M parameters",
    {assay__vision_params},
    build};
