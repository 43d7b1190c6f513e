/* vision.h - shared by the image models of the zoo: the image input, convolution + norm +
 * activation, squeeze and excitation, the classifier. Parameter names are torchvision's, so that
 * weights can be compared or loaded there. */
#ifndef ASSAY_ZOO_VISION_H
#define ASSAY_ZOO_VISION_H

#include "zoo/net_blocks.h"

enum assay__vision_act {
    ASSAY__ACT_NONE,
    ASSAY__ACT_RELU,
    ASSAY__ACT_RELU6,
    ASSAY__ACT_HARD_SWISH,
    ASSAY__ACT_SWISH,
};

struct assay__vision {
    struct assay__net net;
    int64_t batch, classes, image;
    const char *x;  /* the value the next layer reads */
    double epsilon; /* of the norms */
};

/** Parameters of a classifier: batch, classes (1000), image (224). */
extern const struct assay__zoo_param assay__vision_params[];
/** Reads them, and begins the net with "input" [batch, 3, image, image]; its name is the model's.
 */
void assay__vision_begin(struct assay__vision *vision, struct assay__zoo_params *params);
const char *assay__vision_act(struct assay__net *net, enum assay__vision_act act, const char *x);

struct assay__conv {
    const char *conv, *norm; /* names of their weights; norm NULL: a bias instead */
    int64_t in, out, kernel, stride;
    enum assay__vision_act act;
    int64_t group;
    double gain;  /* gain of the weights' variance: 1 after a ReLU */
    double scale; /* of the norm: 1 */
};
#define ASSAY__CONV(...) (&(struct assay__conv){__VA_ARGS__})
/** Same padding (kernel / 2). Reads and replaces vision->x. */
void assay__vision_conv(struct assay__vision *vision, const struct assay__conv *conv);
/** act(x + vision->x), in a scope named after the net's prefix: the end of a residual block. */
void assay__vision_add(struct assay__vision *vision, const char *x, enum assay__vision_act act);
/** x * gate(W2 act(W1 mean(x))): squeeze and excitation (Hu et al., arXiv 1709.01507). */
void assay__vision_squeeze(struct assay__vision *vision, const char *fc1, const char *fc2,
                           int64_t channels, int64_t squeezed, enum assay__vision_act act,
                           bool hard);
void assay__vision_max_pool(struct assay__vision *vision, int64_t kernel, int64_t stride,
                            int64_t pad, bool ceil_mode);
/** Global average pooling and Flatten. */
void assay__vision_pool_flatten(struct assay__vision *vision);
/** A linear layer: Gemm with weights [out, in]. */
void assay__vision_dense(struct assay__vision *vision, const char *name, int64_t in, int64_t out);
/** A linear layer to the classes, and the output; ends the net. */
int assay__vision_classify(struct assay__vision *vision, const char *name, int64_t in);

#endif
