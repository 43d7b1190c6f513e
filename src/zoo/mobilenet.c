/* mobilenet.c - MobileNetV2 (Sandler et al., arXiv 1801.04381) and MobileNetV3-Small (Howard et
 * al., arXiv 1905.02244), torchvision's layouts: inverted residuals, 1 × 1 up, depthwise, 1 × 1
 * down without an activation. With 1,000 classes 3,504,872 and 2,542,856 trainable parameters. */
#include "zoo/vision.h"

struct residual {
    const char *name;
    int64_t in, kernel, expanded, out, squeezed, stride; /* squeezed 0: no squeeze and excitation */
    enum assay__vision_act act;
    bool v3;
};

static const char *numbered(struct assay__vision *vision, bool v3, int index, const char *rest)
{
    return assay__net_text(&vision->net, "%s.%d%s", v3 ? "block" : "conv", index, rest);
}

/* V2 names its layers conv.0.0, conv.1.0, conv.2, conv.3; V3 block.0.0, block.1.0, … */
static void inverted_residual(struct assay__vision *vision, const struct residual *r)
{
    const char *entry = vision->x;
    int index = 0;
    vision->net.prefix = r->name;
    if (r->expanded != r->in) {
        assay__vision_conv(vision, ASSAY__CONV(numbered(vision, r->v3, index, ".0"),
                                               numbered(vision, r->v3, index, ".1"), r->in,
                                               r->expanded, 1, 1, r->act, 1, 0.5, 1));
        index++;
    }
    assay__vision_conv(vision,
                       ASSAY__CONV(numbered(vision, r->v3, index, ".0"),
                                   numbered(vision, r->v3, index, ".1"), r->expanded, r->expanded,
                                   r->kernel, r->stride, r->act, r->expanded, 1, 1));
    index++;
    if (r->squeezed) {
        assay__vision_squeeze(vision, numbered(vision, r->v3, index, ".fc1"),
                              numbered(vision, r->v3, index, ".fc2"), r->expanded, r->squeezed,
                              ASSAY__ACT_RELU, true);
        index++;
    }
    bool same = r->stride == 1 && r->in == r->out;
    const char *conv = numbered(vision, r->v3, index, r->v3 ? ".0" : "");
    const char *norm = r->v3 ? numbered(vision, true, index, ".1")
                             : numbered(vision, false, index + 1, "");
    assay__vision_conv(vision, ASSAY__CONV(conv, norm, r->expanded, r->out, 1, 1, ASSAY__ACT_NONE,
                                           1, 1, same ? 0.5 : 1));
    if (same) assay__vision_add(vision, entry, ASSAY__ACT_NONE);
    vision->net.prefix = "";
}

static void conv_act(struct assay__vision *vision, int feature, int64_t in, int64_t out,
                     int64_t kernel, int64_t stride, enum assay__vision_act act)
{
    const char *conv = assay__net_text(&vision->net, "features.%d.0", feature);
    const char *norm = assay__net_text(&vision->net, "features.%d.1", feature);
    assay__vision_conv(vision, ASSAY__CONV(conv, norm, in, out, kernel, stride, act, 1, 1, 1));
}

static int build_v2(struct assay__zoo_params *params)
{
    static const struct {
        int expand, out, count, stride;
    } stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    struct assay__vision vision;
    assay__vision_begin(&vision, params);
    conv_act(&vision, 0, 3, 32, 3, 2, ASSAY__ACT_RELU6);
    int64_t in = 32;
    int feature = 1;
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
        for (int i = 0; i < stages[s].count; i++) {
            const char *name = assay__net_text(&vision.net, "features.%d", feature++);
            inverted_residual(&vision, &(struct residual){
                                           name, in, 3, in * stages[s].expand, stages[s].out, 0,
                                           i == 0 ? stages[s].stride : 1, ASSAY__ACT_RELU6, false});
            in = stages[s].out;
        }
    conv_act(&vision, feature, in, 1280, 1, 1, ASSAY__ACT_RELU6);
    assay__vision_pool_flatten(&vision);
    return assay__vision_classify(&vision, "classifier.1", 1280);
}

static int build_v3_small(struct assay__zoo_params *params)
{
    /* squeezed: a quarter of the expanded channels, rounded to a multiple of 8 (not down by more
     * than a tenth) */
    static const struct {
        int kernel, expanded, out, squeezed, stride;
        bool hard_swish;
    } rows[] = {{3, 16, 16, 8, 2, false},   {3, 72, 24, 0, 2, false},  {3, 88, 24, 0, 1, false},
                {5, 96, 40, 24, 2, true},   {5, 240, 40, 64, 1, true}, {5, 240, 40, 64, 1, true},
                {5, 120, 48, 32, 1, true},  {5, 144, 48, 40, 1, true}, {5, 288, 96, 72, 2, true},
                {5, 576, 96, 144, 1, true}, {5, 576, 96, 144, 1, true}};
    struct assay__vision vision;
    assay__vision_begin(&vision, params);
    vision.epsilon = 1e-3;
    conv_act(&vision, 0, 3, 16, 3, 2, ASSAY__ACT_HARD_SWISH);
    int64_t in = 16;
    size_t count = sizeof rows / sizeof rows[0];
    for (size_t i = 0; i < count; i++) {
        enum assay__vision_act act = rows[i].hard_swish ? ASSAY__ACT_HARD_SWISH : ASSAY__ACT_RELU;
        const char *name = assay__net_text(&vision.net, "features.%zu", i + 1);
        inverted_residual(&vision, &(struct residual){name, in, rows[i].kernel, rows[i].expanded,
                                                      rows[i].out, rows[i].squeezed, rows[i].stride,
                                                      act, true});
        in = rows[i].out;
    }
    conv_act(&vision, (int)count + 1, in, 576, 1, 1, ASSAY__ACT_HARD_SWISH);
    assay__vision_pool_flatten(&vision);
    assay__vision_dense(&vision, "classifier.0", 576, 1024);
    vision.x = assay__vision_act(&vision.net, ASSAY__ACT_HARD_SWISH, vision.x);
    return assay__vision_classify(&vision, "classifier.3", 1024);
}

const struct assay__zoo_entry assay__zoo_mobilenetv2 = ASSAY__ZOO_ENTRY(
    "mobilenetv2", "MobileNetV2, image classification, 3.5 M parameters", build_v2,
    assay__vision_params);

const struct assay__zoo_entry assay__zoo_mobilenetv3_small = ASSAY__ZOO_ENTRY(
    "mobilenetv3-small", "MobileNetV3-Small, image classification, 2.5 M parameters",
    build_v3_small, assay__vision_params);
