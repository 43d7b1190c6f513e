/* vit.c - the vision transformer (Dosovitskiy et al., arXiv 2010.11929): an image split into
 * patches by one strided convolution, a class token, learned positions, pre-norm layers with exact
 * GELU, a classifier on the class token. Names are those of Hugging Face's state dict; the layers'
 * matrices are stored transposed, [in, out]. With 16 × 16 patches of 224 × 224 pixels and 1,000
 * classes: tiny 5,717,416, small 22,050,664, base 86,567,656, large 304,326,632 parameters. */

#include "zoo/net_blocks.h"

#define EPSILON 1e-6 /* as in torchvision and timm; Hugging Face's default is 1e-12 */

struct vit {
    int64_t layers, width, heads, ffn, patch, image, classes, batch;
};

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_ONE_OF("size", "base", "tiny|small|base|large", "the published sizes"),
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_INT("patch", "16", 1, 1024, "height and width of a patch; divides image"),
    ASSAY__ZOO_INT("image", "224", 1, 8192, "height and width of the image"),
    ASSAY__ZOO_INT("classes", "1000", 1, 1000000, "number of classes"),
    ASSAY__ZOO_PARAMS_SIZE("12", "768", "12", "3072"),
    {0},
};

/* Patches as a sequence, the class token in front, positions added: [b, 1 + patches, width]. */
static const char *embed(struct assay__net *net, const struct vit *vit, const char *image)
{
    static const int64_t order[] = {0, 2, 1}, first = 0;
    const int64_t side = vit->image / vit->patch, patches = side * side, width = vit->width;
    const int64_t flat[] = {0, width, patches}, token[] = {1, 1, width}, tail[] = {1, width},
                  places[] = {1, patches + 1, width};
    assay__net_push(net, "embeddings");
    const char *x = assay__net_conv(net, image, "vit.embeddings.patch_embeddings.projection", 3,
                                    width, vit->patch, vit->patch, 0, 1, true, 0.5);
    x = assay__net_transpose(net, assay__net_reshape(net, x, flat, 3), order, 3);
    const char *size = assay__net_1(net, "Shape", image);
    size = assay__net_2(net, "Gather", size, assay__net_shape(net, &first, 1));
    assay__net_attr_int(net, "axis", 0);
    size = assay__net_2(net, "Concat", size, assay__net_shape(net, tail, 2));
    assay__net_attr_int(net, "axis", 0);
    const char *class = assay__net_weight(net, "vit.embeddings.cls_token", 3, token, 0, 0.5);
    class = assay__net_2(net, "Expand", class, size);
    x = assay__net_2(net, "Concat", class, x);
    assay__net_attr_int(net, "axis", 1);
    x = assay__net_2(
        net, "Add", x,
        assay__net_weight(net, "vit.embeddings.position_embeddings", 3, places, 0, 0.1));
    assay__net_pop(net);
    return x;
}

static const char *layer(struct assay__net *net, const struct vit *vit, const char *x, int64_t i)
{
    const int64_t width = vit->width, heads = vit->heads, dim = width / heads;
    static const char *const names[] = {"attention.q_proj", "attention.k_proj", "attention.v_proj"};
    const double branch = 0.5 / (double)vit->layers; /* gain of a residual branch's last matrix */
    const char *qkv[3];
    net->prefix = assay__net_text(net, "vit.layers.%lld", (long long)i);
    assay__net_push(net, "layers.%lld", (long long)i);
    const char *y = assay__net_layer_norm(net, x, "layernorm_before", width, EPSILON, true);
    assay__net_push(net, "attention");
    for (int k = 0; k < 3; k++) {
        qkv[k] = assay__net_linear(net, y, names[k], width, width, true, 1);
        qkv[k] = k == 1 ? assay__zoo_heads_across(net, qkv[k], heads, dim)
                        : assay__zoo_heads(net, qkv[k], heads, dim);
    }
    y = assay__zoo_merge(net, assay__zoo_attend(net, qkv[0], qkv[1], qkv[2], "", dim), width);
    y = assay__net_linear(net, y, "attention.o_proj", width, width, true, branch);
    assay__net_pop(net);
    x = assay__net_2(net, "Add", x, y);
    y = assay__net_layer_norm(net, x, "layernorm_after", width, EPSILON, true);
    assay__net_push(net, "mlp");
    y = assay__net_gelu(net, assay__net_linear(net, y, "mlp.fc1", width, vit->ffn, true, 1));
    y = assay__net_linear(net, y, "mlp.fc2", vit->ffn, width, true, branch);
    assay__net_pop(net);
    x = assay__net_2(net, "Add", x, y);
    assay__net_pop(net);
    return x;
}

static int build(struct assay__zoo_params *params)
{
    static const int64_t sizes[][3] = {{12, 192, 3}, {12, 384, 6}, {12, 768, 12}, {24, 1024, 16}};
    const int64_t *size = sizes[assay__zoo_choice(params, "size")];
    struct vit vit = {.layers = assay__zoo_int_or(params, "layers", size[0]),
                      .width = assay__zoo_int_or(params, "width", size[1]),
                      .heads = assay__zoo_int_or(params, "heads", size[2]),
                      .patch = assay__zoo_int(params, "patch"),
                      .image = assay__zoo_int(params, "image"),
                      .classes = assay__zoo_int(params, "classes"),
                      .batch = assay__zoo_int(params, "batch")};
    struct assay__net net;
    vit.ffn = assay__zoo_int_or(params, "ffn", 4 * vit.width);
    assay__zoo_divides(params, "heads", vit.heads, "width", vit.width);
    assay__zoo_divides(params, "patch", vit.patch, "image", vit.image);
    if (params->code) return params->code;
    assay__zoo_begin(&net, params, 5);
    const char *batch = assay__net_dim(&net, vit.batch, "batch");
    const char *x = assay__net_input(&net, "pixel_values", ASSAY__FLOAT32,
                                     ASSAY__NET_DIMS(&net, batch, 3, vit.image, vit.image));
    x = embed(&net, &vit, x);
    for (int64_t i = 0; i < vit.layers; i++)
        x = layer(&net, &vit, x, i);
    net.prefix = "";
    x = assay__net_layer_norm(&net, x, "vit.layernorm", vit.width, EPSILON, true);
    x = assay__net_2(&net, "Gather", x, assay__net_index(&net, 0));
    assay__net_attr_int(&net, "axis", 1);
    assay__net_push(&net, "classifier");
    x = assay__zoo_gemm(&net, x, "classifier", vit.width, vit.classes, 1);
    assay__zoo_output(&net, x, "logits", ASSAY__NET_DIMS(&net, batch, vit.classes));
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_vit = ASSAY__ZOO_ENTRY(
    "vit", "Vision transformer, image classification, 5.7 M to 304 M parameters", build, declared);
