/* llama.c - a decoder of the Llama shape (Touvron et al., arXiv 2302.13971; Llama 3, arXiv
 * 2407.21783): RMS norms, rotary positions (Su et al., arXiv 2104.09864) computed inside the graph,
 * grouped-query attention (Ainslie et al., arXiv 2305.13245) and a SwiGLU network. No biases. Names
 * are those of the Hugging Face state dict; matrices are stored transposed, [in, out].
 *
 * Grouped heads are multiplied by broadcasting: queries are [b, kv, heads/kv, s, d], keys [b, kv,
 * 1, d, t], so that the cache is never repeated in memory. The frequencies are theta^(-2i/d),
 * computed from a Range (they are not parameters); the stretched frequencies of Llama 3.1 and later
 * for long contexts are not applied: the cost is the same, the numbers differ. */

#include "zoo/decoder.h"

#include <math.h>

struct size {
    int64_t layers, width, heads, kv_heads, ffn, vocab;
    int64_t tied;
    double theta;
};

struct llama {
    struct assay__decoder decoder;
    int64_t ffn, tied;
    double theta, epsilon;
    const char *cos, *sin; /* [s, head_dim] */
};

static const struct size sizes[] = {
    {6, 288, 6, 6, 768, 32000, 1, 1e4},       /* 15,191,712: stories15M */
    {12, 768, 12, 12, 2048, 32000, 1, 1e4},   /* 109,529,856: stories110M */
    {22, 2048, 32, 4, 5632, 32000, 0, 1e4},   /* 1,100,048,384: TinyLlama */
    {16, 2048, 32, 8, 8192, 128256, 1, 5e5},  /* 1,235,814,400: Llama 3.2 1B */
    {28, 3072, 24, 8, 8192, 128256, 1, 5e5},  /* 3,212,749,824: Llama 3.2 3B */
    {32, 4096, 32, 32, 11008, 32000, 0, 1e4}, /* 6,738,415,616: Llama 2 7B */
    {32, 4096, 32, 8, 14336, 128256, 0, 5e5}, /* 8,030,261,248: Llama 3 8B */
    {40, 5120, 40, 40, 13824, 32000, 0, 1e4}, /* 13,015,864,320: Llama 2 13B */
    {80, 8192, 64, 8, 28672, 128256, 0, 5e5}, /* 70,553,706,496: Llama 3 70B */
};

static const struct assay__zoo_param sizes_param[] = {
    ASSAY__ZOO_ONE_OF("size", "110m", "15m|110m|1.1b|1b|3b|7b|8b|13b|70b",
                      "sizes of published models"),
    {0},
};

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_INT("layers", "12", 1, ASSAY__ZOO_LAYERS, "number of layers"),
    ASSAY__ZOO_INT("width", "768", 1, ASSAY__ZOO_WIDTH, "width of the layers"),
    ASSAY__ZOO_INT("heads", "12", 1, ASSAY__ZOO_HEADS, "attention heads"),
    ASSAY__ZOO_INT("kv_heads", "12", 1, ASSAY__ZOO_HEADS,
                   "heads of keys and values; divides heads"),
    ASSAY__ZOO_INT("head_dim", "64", 1, ASSAY__ZOO_WIDTH, "width of a head"),
    ASSAY__ZOO_INT("ffn", "2048", 1, ASSAY__ZOO_FFN, "width of the feed-forward network"),
    ASSAY__ZOO_INT("vocab", "32000", 1, ASSAY__ZOO_VOCABULARY, "size of the vocabulary"),
    ASSAY__ZOO_INT("tied", "1", 0, 1, "1: one table for words and logits"),
    ASSAY__ZOO_REAL("theta", "10000", 1, 1e12, "base of the rotary frequencies"),
    ASSAY__ZOO_REAL("epsilon", "1e-5", 0, 1, "added to the mean square in the norms"),
    {0},
};

static int read_params(struct assay__zoo_params *params, struct llama *llama)
{
    struct assay__decoder *decoder = &llama->decoder;
    const struct size *size = &sizes[assay__zoo_choice(params, "size")];
    decoder->layers = assay__zoo_int_or(params, "layers", size->layers);
    decoder->width = assay__zoo_int_or(params, "width", size->width);
    decoder->heads = assay__zoo_int_or(params, "heads", size->heads);
    decoder->vocab = assay__zoo_int_or(params, "vocab", size->vocab);
    llama->ffn = assay__zoo_int_or(params, "ffn", size->ffn);
    llama->tied = assay__zoo_int_or(params, "tied", size->tied);
    llama->theta = assay__zoo_number_or(params, "theta", size->theta);
    llama->epsilon = assay__zoo_number(params, "epsilon");
    if (assay__decoder_read_params(params, decoder)) return params->code;
    /* the grouping of the size, unless only the heads were changed */
    decoder->kv_heads = assay__zoo_int_or(
        params, "kv_heads", decoder->heads == size->heads ? size->kv_heads : decoder->heads);
    decoder->head_dim = assay__zoo_int_or(params, "head_dim", -1);
    if (decoder->head_dim < 0) {
        if (assay__zoo_divides(params, "heads", decoder->heads, "width", decoder->width))
            return params->code;
        decoder->head_dim = decoder->width / decoder->heads;
    }
    assay__decoder_check(params, decoder);
    if (decoder->head_dim % 2)
        assay__zoo_refuse(params, "llama: %lld numbers per head cannot be rotated in pairs",
                          (long long)decoder->head_dim);
    return params->code;
}

/* --- rotary positions ------------------------------------------------------------------------- */

/* cos and sin of position × theta^(-2i/d), i < d/2, each twice: the halves of a head rotate
 * together. */
static void rotary_tables(struct assay__net *net, struct llama *llama)
{
    const int64_t half = llama->decoder.head_dim / 2, column = 1;
    assay__net_push(net, "rotary");
    const char *steps = assay__net_1(net, "Cast",
                                     assay__zoo_range(net, assay__net_index(net, half)));
    assay__net_attr_int(net, "to", ASSAY__FLOAT32);
    const char *exponents = assay__net_2(
        net, "Mul", steps, assay__net_scalar(net, (float)(-log(llama->theta) / (double)half)));
    const char *frequencies = assay__net_1(net, "Exp", exponents);
    const char *positions = assay__net_1(net, "Cast", llama->decoder.positions);
    assay__net_attr_int(net, "to", ASSAY__FLOAT32);
    positions = assay__net_2(net, "Unsqueeze", positions, assay__net_shape(net, &column, 1));
    const char *angles = assay__net_2(net, "Mul", positions, frequencies);
    angles = assay__net_2(net, "Concat", angles, angles);
    assay__net_attr_int(net, "axis", -1);
    llama->cos = assay__net_1(net, "Cos", angles);
    llama->sin = assay__net_1(net, "Sin", angles);
    assay__net_pop(net);
}

/* x cos + (-x2, x1) sin, x1 and x2 the halves of each head. */
static const char *rotate(struct assay__net *net, const struct llama *llama, const char *x)
{
    const int64_t half = llama->decoder.head_dim / 2, halves[] = {half, half};
    const char *parts[2];
    assay__net_node_multi(net, "Split", ASSAY__NET_IN(x, assay__net_shape(net, halves, 2)), parts,
                          2);
    assay__net_attr_int(net, "axis", -1);
    const char *turned = assay__net_2(net, "Concat", assay__net_1(net, "Neg", parts[1]), parts[0]);
    assay__net_attr_int(net, "axis", -1);
    const char *kept = assay__net_2(net, "Mul", x, llama->cos);
    turned = assay__net_2(net, "Mul", turned, llama->sin);
    return assay__net_2(net, "Add", kept, turned);
}

/* --- layers ----------------------------------------------------------------------------------- */

/* q [b, h, s, d], k and v [b, kv, t, d] to [b, s, h*d]. */
static const char *attend(struct assay__net *net, const struct llama *llama, const char *q,
                          const char *k, const char *v)
{
    static const int64_t across[] = {0, 1, 3, 2}, across_groups[] = {0, 1, 2, 4, 3},
                         merged[] = {0, 3, 1, 2, 4}, two = 2;
    const struct assay__decoder *decoder = &llama->decoder;
    const int64_t kv = decoder->kv_heads, group = decoder->heads / kv, dim = decoder->head_dim;
    const int64_t grouped[] = {0, kv, group, -1, dim}, flat[] = {0, 0, decoder->heads * dim};
    if (group == 1) {
        k = assay__net_transpose(net, k, across, 4);
        return assay__zoo_merge(net, assay__zoo_attend(net, q, k, v, decoder->mask, dim),
                                decoder->heads * dim);
    }
    const char *axis = assay__net_shape(net, &two, 1);
    q = assay__net_reshape(net, q, grouped, 5);
    k = assay__net_transpose(net, assay__net_2(net, "Unsqueeze", k, axis), across_groups, 5);
    v = assay__net_2(net, "Unsqueeze", v, axis);
    const char *x = assay__zoo_attend(net, q, k, v, decoder->mask, dim);
    return assay__net_reshape(net, assay__net_transpose(net, x, merged, 5), flat, 3);
}

static const char *attention(struct assay__net *net, struct llama *llama, const char *x,
                             int64_t layer)
{
    struct assay__decoder *decoder = &llama->decoder;
    const int64_t width = decoder->width, dim = decoder->head_dim;
    const int64_t all = decoder->heads * dim, shared = decoder->kv_heads * dim;
    assay__net_push(net, "self_attn");
    const char *q = assay__net_linear(net, x, "self_attn.q_proj", width, all, false, 1);
    const char *k = assay__net_linear(net, x, "self_attn.k_proj", width, shared, false, 1);
    const char *v = assay__net_linear(net, x, "self_attn.v_proj", width, shared, false, 1);
    q = rotate(net, llama, assay__zoo_heads(net, q, decoder->heads, dim));
    k = rotate(net, llama, assay__zoo_heads(net, k, decoder->kv_heads, dim));
    k = assay__decoder_cache(decoder, layer, "key", k);
    v = assay__zoo_heads(net, v, decoder->kv_heads, dim);
    v = assay__decoder_cache(decoder, layer, "value", v);
    x = attend(net, llama, q, k, v);
    x = assay__net_linear(net, x, "self_attn.o_proj", all, width, false,
                          0.5 / (double)decoder->layers);
    assay__net_pop(net);
    return x;
}

/* Attention, then down(silu(gate(x)) * up(x)), each after a norm and added to what it read. */
static const char *block(struct assay__net *net, struct llama *llama, const char *x, int64_t layer)
{
    const int64_t width = llama->decoder.width, ffn = llama->ffn;
    net->prefix = assay__net_text(net, "model.layers.%lld", (long long)layer);
    assay__net_push(net, "layers.%lld", (long long)layer);
    const char *y = assay__net_rms_norm(net, x, "input_layernorm", width, llama->epsilon);
    x = assay__net_2(net, "Add", x, attention(net, llama, y, layer));
    y = assay__net_rms_norm(net, x, "post_attention_layernorm", width, llama->epsilon);
    assay__net_push(net, "mlp");
    const char *gate = assay__net_linear(net, y, "mlp.gate_proj", width, ffn, false, 1);
    gate = assay__net_2(net, "Mul", gate, assay__net_1(net, "Sigmoid", gate));
    const char *up = assay__net_linear(net, y, "mlp.up_proj", width, ffn, false, 1);
    y = assay__net_linear(net, assay__net_2(net, "Mul", gate, up), "mlp.down_proj", ffn, width,
                          false, 0.5 / (double)llama->decoder.layers);
    assay__net_pop(net);
    x = assay__net_2(net, "Add", x, y);
    assay__net_pop(net);
    return x;
}

static int build(struct assay__zoo_params *params)
{
    struct llama llama = {0};
    struct assay__net net;
    if (read_params(params, &llama)) return params->code;
    const int64_t width = llama.decoder.width, vocab = llama.decoder.vocab;
    const int64_t table[] = {vocab, width}, back[] = {width, vocab};
    const double deviation = 1 / sqrt((double)width);
    assay__zoo_begin(&net, params, 3);
    assay__decoder_inputs(&llama.decoder, &net);
    rotary_tables(&net, &llama);
    net.prefix = "model";
    const char *words = assay__net_part(&net, "embed_tokens", "weight", 2, table, 0, deviation);
    const char *head = words;
    const char *x = assay__net_2(&net, "Gather", words, llama.decoder.input_ids);
    for (int64_t i = 0; i < llama.decoder.layers; i++)
        x = block(&net, &llama, x, i);
    x = assay__decoder_wanted(&llama.decoder, x);
    net.prefix = "model";
    x = assay__net_rms_norm(&net, x, "norm", width, llama.epsilon);
    if (!llama.tied) head = assay__net_weight(&net, "lm_head.weight", 2, back, 0, deviation);
    assay__decoder_outputs(&llama.decoder, x, head, llama.tied);
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_llama = ASSAY__ZOO_ENTRY(
    "llama", "Llama-shaped text decoder (grouped-query attention, RoPE, RMS norm, SwiGLU)", build,
    sizes_param, assay__decoder_params, declared);
