/* bert.c - encoders with learned positions, post-norm layers and exact GELU: BERT (Devlin et
 * al., arXiv 1810.04805) and DistilBERT (Sanh et al., arXiv 1910.01108: half the layers, no
 * token types, no pooler). Names are those of the Hugging Face state dicts; matrices are stored
 * transposed, [in, out], except the pooler's. 109,482,240 and 335,141,888 parameters for BERT with
 * its pooler, 66,362,880 for DistilBERT.
 *
 * attention_mask is 1 for a token and 0 for padding; padding keys are hidden from all queries.
 * Every layer ends in a norm, so that activations keep a variance of one at any depth. */

#include "zoo/net_blocks.h"

#include <string.h>

#define EPSILON 1e-12

/* The names that a family uses for its parameters. */
struct names {
    const char *layer, *q, *k, *v, *out, *first_norm, *up, *down, *last_norm;
};

static const struct names bert_names = {
    "encoder.layer",        "attention.self.query",   "attention.self.key",
    "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
    "intermediate.dense",   "output.dense",           "output.LayerNorm"};
static const struct names distilbert_names = {
    "transformer.layer", "attention.q_lin",   "attention.k_lin",
    "attention.v_lin",   "attention.out_lin", "sa_layer_norm",
    "ffn.lin1",          "ffn.lin2",          "output_layer_norm"};

struct bert {
    const struct names *names;
    int64_t layers, width, heads, ffn, vocab, context, types, pooler, batch, seq;
    const char *mask; /* [b, 1, 1, t] */
};

/* Word, position and type tables, summed and normed. */
static const char *embed(struct assay__net *net, const struct bert *bert, const char *dims)
{
    const int64_t words[] = {bert->vocab, bert->width}, places[] = {bert->context, bert->width},
                  kinds[] = {bert->types, bert->width};
    const char *ids = assay__net_input(net, "input_ids", ASSAY__INT64, dims);
    assay__net_input(net, "attention_mask", ASSAY__INT64, dims);
    assay__net_push(net, "embeddings");
    net->prefix = "embeddings";
    const char *table = assay__net_part(net, "word_embeddings", "weight", 2, words, 0, 0.05);
    const char *x = assay__net_2(net, "Gather", table, ids);
    if (bert->types) {
        const char *type = assay__net_input(net, "token_type_ids", ASSAY__INT64, dims);
        table = assay__net_part(net, "token_type_embeddings", "weight", 2, kinds, 0, 0.05);
        x = assay__net_2(net, "Add", x, assay__net_2(net, "Gather", table, type));
    }
    table = assay__net_part(net, "position_embeddings", "weight", 2, places, 0, 0.05);
    const char *positions = assay__zoo_range(net, assay__zoo_length(net, ids, 1));
    x = assay__net_2(net, "Add", x, assay__net_2(net, "Gather", table, positions));
    x = assay__net_layer_norm(net, x, "LayerNorm", bert->width, EPSILON, true);
    assay__net_pop(net);
    return x;
}

/* (1 - attention_mask) × "hidden", with two axes inserted for heads and queries. */
static const char *padding_mask(struct assay__net *net)
{
    const int64_t axes[] = {1, 2};
    assay__net_push(net, "mask");
    const char *mask = assay__net_2(net, "Unsqueeze", "attention_mask",
                                    assay__net_shape(net, axes, 2));
    mask = assay__net_1(net, "Cast", mask);
    assay__net_attr_int(net, "to", ASSAY__FLOAT32);
    mask = assay__net_2(net, "Sub", assay__net_scalar(net, 1), mask);
    mask = assay__net_2(net, "Mul", mask, assay__net_scalar(net, ASSAY__ZOO_HIDDEN));
    assay__net_pop(net);
    return mask;
}

static const char *linear(struct assay__net *net, const char *x, const char *name, int64_t in,
                          int64_t out)
{
    return assay__net_linear(net, x, name, in, out, true, 1);
}

static const char *layer(struct assay__net *net, const struct bert *bert, const char *x,
                         int64_t index)
{
    const struct names *names = bert->names;
    const int64_t width = bert->width, heads = bert->heads, dim = width / heads;
    net->prefix = assay__net_text(net, "%s.%lld", names->layer, (long long)index);
    assay__net_push(net, "layer.%lld", (long long)index);
    assay__net_push(net, "attention");
    const char *q = assay__zoo_heads(net, linear(net, x, names->q, width, width), heads, dim);
    const char *k = assay__zoo_heads_across(net, linear(net, x, names->k, width, width), heads,
                                            dim);
    const char *v = assay__zoo_heads(net, linear(net, x, names->v, width, width), heads, dim);
    const char *y = assay__zoo_merge(net, assay__zoo_attend(net, q, k, v, bert->mask, dim), width);
    y = linear(net, y, names->out, width, width);
    y = assay__net_2(net, "Add", y, x);
    x = assay__net_layer_norm(net, y, names->first_norm, width, EPSILON, true);
    assay__net_pop(net);
    assay__net_push(net, "ffn");
    y = assay__net_gelu(net, linear(net, x, names->up, width, bert->ffn));
    y = linear(net, y, names->down, bert->ffn, width);
    y = assay__net_2(net, "Add", y, x);
    x = assay__net_layer_norm(net, y, names->last_norm, width, EPSILON, true);
    assay__net_pop(net);
    assay__net_pop(net);
    return x;
}

static int build(struct assay__zoo_params *params)
{
    static const int64_t sizes[][4] = {
        {12, 768, 12, 3072}, {24, 1024, 16, 4096}, {6, 768, 12, 3072}};
    const char *name = params->entry->name;
    bool whole = strcmp(name, "bert") == 0; /* DistilBERT has neither types nor a pooler */
    const int64_t *size = sizes[whole ? assay__zoo_choice(params, "size") : 2];
    struct bert bert = {.names = whole ? &bert_names : &distilbert_names,
                        .layers = assay__zoo_int_or(params, "layers", size[0]),
                        .width = assay__zoo_int_or(params, "width", size[1]),
                        .heads = assay__zoo_int_or(params, "heads", size[2]),
                        .ffn = assay__zoo_int_or(params, "ffn", size[3]),
                        .vocab = assay__zoo_int(params, "vocab"),
                        .context = assay__zoo_int(params, "context"),
                        .types = whole ? assay__zoo_int(params, "types") : 0,
                        .pooler = whole ? assay__zoo_int(params, "pooler") : 0,
                        .batch = assay__zoo_int(params, "batch"),
                        .seq = assay__zoo_int(params, "seq")};
    struct assay__net net;
    assay__zoo_divides(params, "heads", bert.heads, "width", bert.width);
    if (bert.seq > bert.context)
        assay__zoo_refuse(params, "%s: seq=%lld is longer than context=%lld", name,
                          (long long)bert.seq, (long long)bert.context);
    if (params->code) return params->code;
    assay__zoo_begin(&net, params, 4);
    const char *batch = assay__net_dim(&net, bert.batch, "batch");
    const char *dims = assay__net_text(&net, "%s,%s", batch, assay__net_dim(&net, bert.seq, "seq"));
    const char *x = embed(&net, &bert, dims);
    bert.mask = padding_mask(&net);
    for (int64_t i = 0; i < bert.layers; i++)
        x = layer(&net, &bert, x, i);
    x = assay__zoo_rename(&net, x, "last_hidden_state");
    assay__net_output(&net, x, x, ASSAY__FLOAT32, ASSAY__NET_DIMS(&net, dims, bert.width));
    if (!bert.pooler) return assay__net_end(&net);
    net.prefix = "pooler"; /* tanh(W first token + b) */
    assay__net_push(&net, "pooler");
    x = assay__net_2(&net, "Gather", x, assay__net_index(&net, 0));
    assay__net_attr_int(&net, "axis", 1);
    x = assay__net_1(&net, "Tanh", assay__zoo_gemm(&net, x, "dense", bert.width, bert.width, 1));
    assay__zoo_output(&net, x, "pooler_output", ASSAY__NET_DIMS(&net, batch, bert.width));
    return assay__net_end(&net);
}

static const struct assay__zoo_param bert_params[] = {
    ASSAY__ZOO_ONE_OF("size", "base", "base|large", "the published sizes"),
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_PARAM_SEQ,
    ASSAY__ZOO_PARAMS_SIZE("12", "768", "12", "3072"),
    ASSAY__ZOO_PARAMS_TABLES("30522", "512"),
    ASSAY__ZOO_INT("types", "2", 1, ASSAY__ZOO_VOCABULARY, "token types"),
    ASSAY__ZOO_INT("pooler", "1", 0, 1, "0: no pooled output"),
    {0},
};
static const struct assay__zoo_param distilbert_params[] = {
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_PARAM_SEQ,
    ASSAY__ZOO_PARAMS_SIZE("6", "768", "12", "3072"),
    ASSAY__ZOO_PARAMS_TABLES("30522", "512"),
    {0},
};

const struct assay__zoo_entry assay__zoo_bert = {
    "bert", "BERT, text encoder, 109 M or 335 M parameters", {bert_params}, build};

const struct assay__zoo_entry assay__zoo_distilbert = {
    "distilbert", "DistilBERT, text encoder, 66 M parameters", {distilbert_params}, build};
