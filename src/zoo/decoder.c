/* decoder.c - builds the inputs, cache and outputs of a decoder. Positions come from the length of
 * the past, so that one graph serves any step; the mask is computed once and used by every layer.
 * With tied embeddings the logits are a Gemm with the transposed table, so that the file and the
 * session have the table only once. */
#include "zoo/decoder.h"

const struct assay__zoo_param assay__decoder_params[] = {
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_INT("seq", "(symbolic)", 1, ASSAY__ZOO_SEQUENCE, "length of the sequence"),
    ASSAY__ZOO_INT("past", "(symbolic)", 0, ASSAY__ZOO_SEQUENCE, "length of the cache"),
    ASSAY__ZOO_ONE_OF("phase", "both", "both|prefill|decode",
                      "which part of a generation: any, the prompt, one token"),
    ASSAY__ZOO_ONE_OF("logits", "all", "all|last", "for all positions, or only the last"),
    {0},
};

int assay__decoder_read_params(struct assay__zoo_params *params, struct assay__decoder *decoder)
{
    decoder->batch = assay__zoo_int(params, "batch");
    decoder->seq = assay__zoo_int(params, "seq");
    decoder->past = assay__zoo_int(params, "past");
    decoder->phase = assay__zoo_choice(params, "phase");
    decoder->last_only = assay__zoo_choice(params, "logits");
    if (decoder->phase == ASSAY__DECODER_PREFILL && decoder->past >= 0)
        return assay__zoo_refuse(params, "%s: phase=prefill has no past", params->entry->name);
    if (decoder->phase != ASSAY__DECODER_DECODE) return 0;
    if (decoder->seq > 1)
        return assay__zoo_refuse(params, "%s: phase=decode is one token: seq=1, not %lld",
                                 params->entry->name, (long long)decoder->seq);
    decoder->seq = 1;
    return 0;
}

int assay__decoder_check(struct assay__zoo_params *params, const struct assay__decoder *decoder)
{
    int64_t seq = decoder->seq > 0 ? decoder->seq : 1, past = decoder->past > 0 ? decoder->past : 0;
    assay__zoo_divides(params, "kv_heads", decoder->kv_heads, "heads", decoder->heads);
    if (decoder->longest && seq + past > decoder->longest)
        assay__zoo_refuse(params, "%s: past and seq are %lld positions, context=%lld",
                          params->entry->name, (long long)(seq + past),
                          (long long)decoder->longest);
    return params->code;
}

static const char *const parts[] = {"key", "value"};

/* "b,h,LENGTH,d" of the cache. */
static const char *cache_dims(struct assay__decoder *decoder, const char *length)
{
    struct assay__net *net = decoder->net;
    return assay__net_text(net, "%s,%lld,%s,%lld", assay__net_dim(net, decoder->batch, "batch"),
                           (long long)decoder->kv_heads, length, (long long)decoder->head_dim);
}

void assay__decoder_inputs(struct assay__decoder *decoder, struct assay__net *net)
{
    bool cached = decoder->phase != ASSAY__DECODER_PREFILL;
    decoder->net = net;
    decoder->mask = "";
    decoder->input_ids = assay__net_input(
        net, "input_ids", ASSAY__INT64,
        assay__net_text(net, "%s,%s", assay__net_dim(net, decoder->batch, "batch"),
                        assay__net_dim(net, decoder->seq, "seq")));
    for (int64_t i = 0; cached && i < 2 * decoder->layers; i++)
        assay__net_input(
            net, assay__net_text(net, "past_key_values.%lld.%s", (long long)(i / 2), parts[i % 2]),
            ASSAY__FLOAT32, cache_dims(decoder, assay__net_dim(net, decoder->past, "past")));
    assay__net_push(net, "positions");
    const char *fresh = assay__zoo_length(net, decoder->input_ids, 1), *total = fresh;
    decoder->positions = assay__zoo_range(net, fresh);
    if (cached) {
        const char *past = assay__zoo_length(net, "past_key_values.0.key", 2);
        decoder->positions = assay__net_2(net, "Add", decoder->positions, past);
        if (decoder->seq != 1) total = assay__net_2(net, "Add", past, fresh);
    }
    assay__net_pop(net);
    if (decoder->seq == 1) return; /* a single query is at the last position: it sees all keys */
    assay__net_push(net, "mask");
    const char *keys = cached ? assay__zoo_range(net, total) : decoder->positions;
    decoder->mask = assay__zoo_causal_mask(net, decoder->positions, keys);
    assay__net_pop(net);
}

const char *assay__decoder_cache(struct assay__decoder *decoder, int64_t layer, const char *part,
                                 const char *fresh)
{
    struct assay__net *net = decoder->net;
    const char *name = assay__net_text(net, "present.%lld.%s", (long long)layer, part);
    if (decoder->phase == ASSAY__DECODER_PREFILL) return assay__zoo_rename(net, fresh, name);
    const char *past = assay__net_text(net, "past_key_values.%lld.%s", (long long)layer, part);
    const char *all = assay__net_node_named(net, "Concat", ASSAY__NET_IN(past, fresh), name);
    assay__net_attr_int(net, "axis", 2);
    return all;
}

const char *assay__decoder_wanted(struct assay__decoder *decoder, const char *x)
{
    const int64_t last = -1;
    if (!decoder->last_only) return x;
    x = assay__net_2(decoder->net, "Gather", x, assay__net_shape(decoder->net, &last, 1));
    assay__net_attr_int(decoder->net, "axis", 1);
    return x;
}

/* "past + seq", with numbers added if both are known. */
static const char *total_dim(struct assay__decoder *decoder)
{
    struct assay__net *net = decoder->net;
    if (decoder->phase == ASSAY__DECODER_PREFILL) return assay__net_dim(net, decoder->seq, "seq");
    if (decoder->past >= 0 && decoder->seq >= 0)
        return assay__net_dim(net, decoder->past + decoder->seq, "");
    if (decoder->past == 0) return assay__net_dim(net, decoder->seq, "seq");
    return assay__net_text(net, "%s + %s", assay__net_dim(net, decoder->past, "past"),
                           assay__net_dim(net, decoder->seq, "seq"));
}

void assay__decoder_outputs(struct assay__decoder *decoder, const char *x, const char *weight,
                            bool tied)
{
    struct assay__net *net = decoder->net;
    int64_t seq = decoder->last_only ? 1 : decoder->seq;
    assay__net_push(net, "lm_head");
    if (tied) { /* Gemm needs matrices: rows are folded and unfolded */
        const int64_t rows[] = {-1, decoder->width},
                      known[] = {decoder->batch, seq, decoder->vocab};
        const char *shape, *flat = assay__net_reshape(net, x, rows, 2);
        const char *logits = assay__net_2(net, "Gemm", flat, weight);
        assay__net_attr_int(net, "transB", 1);
        if (seq >= 0 || decoder->batch >= 0) { /* at most one is -1: Reshape infers it */
            shape = assay__net_shape(net, known, 3);
        } else {
            shape = assay__net_1(net, "Shape", decoder->input_ids);
            shape = assay__net_2(net, "Concat", shape, assay__net_shape(net, &decoder->vocab, 1));
            assay__net_attr_int(net, "axis", 0);
        }
        assay__net_node_named(net, "Reshape", ASSAY__NET_IN(logits, shape), "logits");
    } else {
        assay__net_node_named(net, "MatMul", ASSAY__NET_IN(x, weight), "logits");
    }
    assay__net_pop(net);
    const char *dims = assay__net_text(net, "%s,%s", assay__net_dim(net, decoder->batch, "batch"),
                                       assay__net_dim(net, seq, "seq"));
    assay__net_output(net, "logits", "logits", ASSAY__FLOAT32,
                      ASSAY__NET_DIMS(net, dims, decoder->vocab));
    dims = cache_dims(decoder, total_dim(decoder));
    for (int64_t i = 0; i < 2 * decoder->layers; i++) {
        const char *name = assay__net_text(net, "present.%lld.%s", (long long)(i / 2),
                                           parts[i % 2]);
        assay__net_output(net, name, name, ASSAY__FLOAT32, dims);
    }
}
