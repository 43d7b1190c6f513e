/* gpt2.c - GPT-2 (Radford et al., "Language models are unsupervised multitask learners", 2019):
 * learned positions, layers of pre-norm causal attention and a tanh-GELU network of 4 × the
 * width, logits by the transposed embedding. Names are those of the Hugging Face state dict.
 * Parameters, the tied table once: 12 L w² + 13 L w + (vocab + context + 2) w (124,439,808 /
 * 354,823,168 / 774,030,080 / 1,557,611,200 for the four published sizes).
 *
 * Weights: every matrix keeps a variance of one; the last of each residual branch is scaled by
 * 1/sqrt(2 layers), as in the paper, so that the sum of all branches has a variance of about one
 * at any depth. */

#include "zoo/decoder.h"

#include <math.h>

#define EPSILON 1e-5

struct gpt2 {
    struct assay__decoder decoder;
    int64_t ffn, context;
};

static const struct assay__zoo_param sizes_param[] = {
    ASSAY__ZOO_ONE_OF("size", "124m", "124m=small|355m=medium|774m=large|1.5b=xl",
                      "the published sizes"),
    {0},
};

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_PARAMS_SIZE("12", "768", "12", "3072"),
    ASSAY__ZOO_PARAMS_TABLES("50257", "1024"),
    {0},
};

static const char *attention(struct assay__net *net, struct assay__decoder *decoder, const char *x,
                             int64_t layer)
{
    static const int64_t across[] = {0, 1, 3, 2};
    const int64_t width = decoder->width, thirds[] = {width, width, width};
    const char *qkv[3];
    assay__net_push(net, "attn");
    x = assay__net_linear(net, x, "attn.c_attn", width, 3 * width, true, 1);
    assay__net_node_multi(net, "Split", ASSAY__NET_IN(x, assay__net_shape(net, thirds, 3)), qkv, 3);
    assay__net_attr_int(net, "axis", 2);
    const char *q = assay__zoo_heads(net, qkv[0], decoder->heads, decoder->head_dim);
    const char *k = assay__zoo_heads(net, qkv[1], decoder->heads, decoder->head_dim);
    k = assay__decoder_cache(decoder, layer, "key", k);
    const char *v = assay__zoo_heads(net, qkv[2], decoder->heads, decoder->head_dim);
    v = assay__decoder_cache(decoder, layer, "value", v);
    k = assay__net_transpose(net, k, across, 4);
    x = assay__zoo_attend(net, q, k, v, decoder->mask, decoder->head_dim);
    x = assay__net_linear(net, assay__zoo_merge(net, x, width), "attn.c_proj", width, width, true,
                          0.5 / (double)decoder->layers);
    assay__net_pop(net);
    return x;
}

static const char *block(struct assay__net *net, struct gpt2 *gpt2, const char *x, int64_t layer)
{
    const int64_t width = gpt2->decoder.width;
    net->prefix = assay__net_text(net, "transformer.h.%lld", (long long)layer);
    assay__net_push(net, "h.%lld", (long long)layer);
    const char *y = assay__net_layer_norm(net, x, "ln_1", width, EPSILON, true);
    x = assay__net_2(net, "Add", x, attention(net, &gpt2->decoder, y, layer));
    y = assay__net_layer_norm(net, x, "ln_2", width, EPSILON, true);
    assay__net_push(net, "mlp");
    y = assay__net_linear(net, y, "mlp.c_fc", width, gpt2->ffn, true, 1);
    y = assay__net_linear(net, assay__net_gelu_tanh(net, y), "mlp.c_proj", gpt2->ffn, width, true,
                          0.5 / (double)gpt2->decoder.layers);
    assay__net_pop(net);
    x = assay__net_2(net, "Add", x, y);
    assay__net_pop(net);
    return x;
}

static int build(struct assay__zoo_params *params)
{
    static const int64_t sizes[][3] = {
        {12, 768, 12}, {24, 1024, 16}, {36, 1280, 20}, {48, 1600, 25}}; /* layers, width, heads */
    const int64_t *size = sizes[assay__zoo_choice(params, "size")];
    struct gpt2 gpt2 = {.context = assay__zoo_int(params, "context")};
    struct assay__decoder *decoder = &gpt2.decoder;
    struct assay__net net;
    decoder->layers = assay__zoo_int_or(params, "layers", size[0]);
    decoder->width = assay__zoo_int_or(params, "width", size[1]);
    decoder->heads = decoder->kv_heads = assay__zoo_int_or(params, "heads", size[2]);
    decoder->vocab = assay__zoo_int(params, "vocab");
    decoder->head_dim = decoder->width / decoder->heads;
    decoder->longest = gpt2.context;
    gpt2.ffn = assay__zoo_int_or(params, "ffn", 4 * decoder->width);
    if (assay__decoder_read_params(params, decoder) ||
        assay__zoo_divides(params, "heads", decoder->heads, "width", decoder->width) ||
        assay__decoder_check(params, decoder))
        return params->code;
    const int64_t width = decoder->width;
    const int64_t words[] = {decoder->vocab, width}, places[] = {gpt2.context, width};
    assay__zoo_begin(&net, params, 2);
    assay__decoder_inputs(decoder, &net);
    net.prefix = "transformer";
    const char *wte = assay__net_part(&net, "wte", "weight", 2, words, 0, 1 / sqrt((double)width));
    const char *wpe = assay__net_part(&net, "wpe", "weight", 2, places, 0, 0.01);
    const char *x = assay__net_2(&net, "Gather", wte, decoder->input_ids);
    x = assay__net_2(&net, "Add", x, assay__net_2(&net, "Gather", wpe, decoder->positions));
    for (int64_t i = 0; i < decoder->layers; i++)
        x = block(&net, &gpt2, x, i);
    net.prefix = "transformer";
    x = assay__decoder_wanted(decoder, x);
    x = assay__net_layer_norm(&net, x, "ln_f", width, EPSILON, true);
    assay__decoder_outputs(decoder, x, wte, true);
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_gpt2 = ASSAY__ZOO_ENTRY(
    "gpt2", "GPT-2, text decoder with a key-value cache, 124 M to 1.5 G parameters", build,
    sizes_param, assay__decoder_params, declared);
