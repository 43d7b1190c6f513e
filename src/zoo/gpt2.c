/* gpt2.c - GPT-2 (Radford et al., "Language models are unsupervised multitask learners", 2019):
 * learned positions, layers of pre-norm causal attention and a tanh-GELU network of 4 × the
 * width, logits by the transposed embedding. Names are those of the Hugging Face state dict.
 * Parameters, the tied table once: 12 L w² + 13 L w + (vocab + context + 2) w (124,439,808 /
 * 354,823,168 / 774,030,080 / 1,557,611,200 for the four published sizes).
 *
 * Weights: every matrix keeps variance one, the last of each residual branch is scaled by
 * 1/sqrt(2 layers), as the paper does, so that the sum of all branches has a variance of about
 * one whatever the depth. */
#include "zoo/builders.h"

#include "zoo/decoder.h"

#include <math.h>

#define EPSILON 1e-5

struct gpt2 {
    struct assay__decoder decoder;
    int64_t ffn, context;
};

static int read_params(struct assay__zoo_params *params, struct gpt2 *gpt2,
                       struct assay_error *error)
{
    static const int64_t sizes[][3] = {
        {12, 768, 12}, {24, 1024, 16}, {36, 1280, 20}, {48, 1600, 25}}; /* layers, width, heads */
    struct assay__decoder *decoder = &gpt2->decoder;
    int size = 0;
    int code = assay__zoo_param_choice(params, "size", "124m|355m|774m|1.5b|small|medium|large|xl",
                                       0, &size, error);
    if (code) return code;
    const int64_t *chosen = sizes[size % 4];
    const struct assay__zoo_number numbers[] = {
        {"layers", chosen[0], 1, ASSAY__ZOO_LAYERS, &decoder->layers},
        {"width", chosen[1], 1, ASSAY__ZOO_WIDTH, &decoder->width},
        {"heads", chosen[2], 1, ASSAY__ZOO_HEADS, &decoder->heads},
        {"ffn", -1, 1, 8 * (int64_t)ASSAY__ZOO_WIDTH, &gpt2->ffn},
        {"vocab", 50257, 1, ASSAY__ZOO_VOCABULARY, &decoder->vocab},
        {"context", 1024, 1, ASSAY__ZOO_SEQUENCE, &gpt2->context}};
    code = assay__zoo_numbers(params, numbers, sizeof numbers / sizeof numbers[0], error);
    if (!code) code = assay__decoder_params(params, "gpt2", decoder, error);
    if (!code) code = assay__zoo_params_done(params, error);
    if (!code)
        code = assay__zoo_divides("gpt2", "heads", decoder->heads, "width", decoder->width, error);
    if (code) return code;
    if (gpt2->ffn < 0) gpt2->ffn = 4 * decoder->width;
    decoder->kv_heads = decoder->heads;
    decoder->head_dim = decoder->width / decoder->heads;
    decoder->longest = gpt2->context;
    return assay__decoder_check("gpt2", decoder, error);
}

static const char *attention(struct assay__net *net, struct gpt2 *gpt2, const char *x,
                             const char *prefix, int64_t layer)
{
    static const int64_t across[] = {0, 1, 3, 2};
    struct assay__decoder *decoder = &gpt2->decoder;
    const int64_t width = decoder->width, thirds[] = {width, width, width};
    const char *qkv[3];
    assay__net_push(net, "attn");
    x = assay__net_linear(net, x, assay__net_text(net, "%s.attn.c_attn", prefix), width, 3 * width,
                          true, 1);
    assay__net_node_multi(net, "Split", ASSAY__NET_IN(x, assay__net_shape(net, thirds, 3)), qkv, 3);
    assay__net_attr_int(net, "axis", 2);
    const char *q = assay__zoo_heads(net, qkv[0], decoder->heads, decoder->head_dim);
    const char *k = assay__zoo_heads(net, qkv[1], decoder->heads, decoder->head_dim);
    k = assay__decoder_cache(decoder, layer, "key", k);
    const char *v = assay__zoo_heads(net, qkv[2], decoder->heads, decoder->head_dim);
    v = assay__decoder_cache(decoder, layer, "value", v);
    k = assay__net_transpose(net, k, across, 4);
    x = assay__zoo_attend(net, q, k, v, decoder->mask, decoder->head_dim);
    x = assay__zoo_merge(net, x, width);
    x = assay__net_linear(net, x, assay__net_text(net, "%s.attn.c_proj", prefix), width, width,
                          true, 0.5 / (double)decoder->layers);
    assay__net_pop(net);
    return x;
}

static const char *network(struct assay__net *net, struct gpt2 *gpt2, const char *x,
                           const char *prefix)
{
    int64_t width = gpt2->decoder.width;
    assay__net_push(net, "mlp");
    x = assay__net_linear(net, x, assay__net_text(net, "%s.mlp.c_fc", prefix), width, gpt2->ffn,
                          true, 1);
    x = assay__net_gelu_tanh(net, x);
    x = assay__net_linear(net, x, assay__net_text(net, "%s.mlp.c_proj", prefix), gpt2->ffn, width,
                          true, 0.5 / (double)gpt2->decoder.layers);
    assay__net_pop(net);
    return x;
}

static const char *block(struct assay__net *net, struct gpt2 *gpt2, const char *x, int64_t layer)
{
    int64_t width = gpt2->decoder.width;
    const char *prefix = assay__net_text(net, "transformer.h.%lld", (long long)layer);
    assay__net_push(net, "h.%lld", (long long)layer);
    const char *norm = assay__net_layer_norm(net, x, assay__net_text(net, "%s.ln_1", prefix), width,
                                             EPSILON, true);
    x = assay__net_2(net, "Add", x, attention(net, gpt2, norm, prefix, layer));
    norm = assay__net_layer_norm(net, x, assay__net_text(net, "%s.ln_2", prefix), width, EPSILON,
                                 true);
    x = assay__net_2(net, "Add", x, network(net, gpt2, norm, prefix));
    assay__net_pop(net);
    return x;
}

int assay__zoo_gpt2(struct assay__zoo_params *params, struct assay__model *model,
                    struct assay_error *error)
{
    struct gpt2 gpt2 = {0};
    struct assay__net net;
    int code = read_params(params, &gpt2, error);
    if (code) return code;
    int64_t width = gpt2.decoder.width;
    const int64_t words[] = {gpt2.decoder.vocab, width}, places[] = {gpt2.context, width};
    assay__net_begin(&net, model, "gpt2", 2, error);
    assay__decoder_inputs(&gpt2.decoder, &net);
    const char *wte = assay__net_weight(&net, "transformer.wte.weight", 2, words, 0,
                                        1 / sqrt((double)width));
    const char *wpe = assay__net_weight(&net, "transformer.wpe.weight", 2, places, 0, 0.01);
    const char *x = assay__net_2(&net, "Gather", wte, gpt2.decoder.input_ids);
    x = assay__net_2(&net, "Add", x, assay__net_2(&net, "Gather", wpe, gpt2.decoder.positions));
    for (int64_t i = 0; i < gpt2.decoder.layers; i++)
        x = block(&net, &gpt2, x, i);
    x = assay__decoder_wanted(&gpt2.decoder, x);
    x = assay__net_layer_norm(&net, x, "transformer.ln_f", width, EPSILON, true);
    assay__decoder_outputs(&gpt2.decoder, x, wte, true);
    return assay__net_end(&net);
}
