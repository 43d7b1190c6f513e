/* zoo.c - the table of builders, and the reading of "name:key=value,key=value". A builder asks
 * for its parameters by name; a key that no builder asked for is an error, with the nearest key
 * suggested. */
#include "zoo/zoo.h"

#include "base/text.h"
#include "zoo/builders.h"
#include "zoo/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PARAMS 32

struct assay__zoo_params {
    const char *model;
    struct assay__arena *arena; /* the model's */
    char *text;                 /* the part after the colon, cut up */
    struct {
        const char *key, *value;
        bool used;
    } given[MAX_PARAMS];
    size_t given_count;
    const char *asked[MAX_PARAMS]; /* keys the builder knows */
    size_t asked_count;
};

static const struct assay__zoo_entry entries[] = {
    {"cfc", "Closed-form continuous-time network, wired as a Neural Circuit Policy or dense",
     "units=64,outputs=16,inputs=32,wiring=autoncp|ncp|random|full,sparsity=0.5,seed=22222,"
     "inter=,command=,motor=,sensory_fanout=,inter_fanout=,recurrent_command=,motor_fanin=,"
     "mode=default|no_gate|pure,backbone_units=64x32,backbone_layers=1,mixed_memory=0|1,"
     "batch=(symbolic),seq=1,form=step|unrolled|scan,return_sequences=1|0,dt=1|input,weights=FILE",
     assay__zoo_cfc},
    {"ltc", "Liquid time-constant network, wired as a Neural Circuit Policy",
     "units=64,outputs=16,inputs=32,wiring=autoncp|ncp|random|full,sparsity=0.5,seed=22222,"
     "inter=,command=,motor=,sensory_fanout=,inter_fanout=,recurrent_command=,motor_fanin=,"
     "unfolds=6,epsilon=1e-8,implicit=0|1,mixed_memory=0|1,batch=(symbolic),seq=1,"
     "form=step|unrolled|scan,return_sequences=1|0,dt=1|input,weights=FILE",
     assay__zoo_ltc},
    {"resnet18", "ResNet-18, image classification, 11.7 M parameters",
     "batch=(symbolic),classes=1000,image=224", assay__zoo_resnet18},
    {"resnet50", "ResNet-50 v1.5, image classification, 25.6 M parameters",
     "batch=(symbolic),classes=1000,image=224", assay__zoo_resnet50},
    {"mobilenetv2", "MobileNetV2, image classification, 3.5 M parameters",
     "batch=(symbolic),classes=1000,image=224", assay__zoo_mobilenetv2},
    {"mobilenetv3-small", "MobileNetV3-Small, image classification, 2.5 M parameters",
     "batch=(symbolic),classes=1000,image=224", assay__zoo_mobilenetv3_small},
    {"squeezenet", "SqueezeNet 1.0 or 1.1, image classification, 1.2 M parameters",
     "version=1.0|1.1,batch=(symbolic),classes=1000,image=224", assay__zoo_squeezenet},
    {"efficientnet-b0", "EfficientNet-B0, image classification, 5.3 M parameters",
     "batch=(symbolic),classes=1000,image=224", assay__zoo_efficientnet_b0},
    {"unet", "U-Net, image segmentation, 31.0 M parameters", "batch=(symbolic),classes=2,image=256",
     assay__zoo_unet},
    {"gpt2", "GPT-2, text decoder with a key-value cache, 124 M to 1.5 G parameters",
     "size=124m|355m|774m|1.5b,batch=(symbolic),seq=(symbolic),past=(symbolic),"
     "phase=both|prefill|decode,logits=all|last,layers=12,width=768,heads=12,ffn=3072,vocab=50257,"
     "context=1024",
     assay__zoo_gpt2},
    {"llama", "Llama-shaped text decoder (grouped-query attention, RoPE, RMS norm, SwiGLU)",
     "size=15m|110m|1.1b|1b|3b|7b|8b|13b|70b,batch=(symbolic),seq=(symbolic),past=(symbolic),"
     "phase=both|prefill|decode,logits=all|last,layers=12,width=768,heads=12,kv_heads=12,"
     "head_dim=64,ffn=2048,vocab=32000,tied=1,theta=10000,epsilon=1e-5",
     assay__zoo_llama},
    {"bert", "BERT, text encoder, 109 M or 335 M parameters",
     "size=base|large,batch=(symbolic),seq=(symbolic),layers=12,width=768,heads=12,ffn=3072,"
     "vocab=30522,context=512,types=2,pooler=1",
     assay__zoo_bert},
    {"distilbert", "DistilBERT, text encoder, 66 M parameters",
     "batch=(symbolic),seq=(symbolic),layers=6,width=768,heads=12,ffn=3072,vocab=30522,context=512",
     assay__zoo_distilbert},
    {"vit", "Vision transformer, image classification, 5.7 M to 304 M parameters",
     "size=tiny|small|base|large,batch=(symbolic),patch=16,image=224,classes=1000,layers=12,"
     "width=768,heads=12,ffn=3072",
     assay__zoo_vit},
    {"lora", "Linear layer with a low-rank adapter",
     "size=small|medium|large,d=768,rank=8,alpha=16,batch=1,seq=128,merged=0", assay__zoo_lora},
    {"softmax", "Softmax over rows", "rows=1024,width=1024", assay__zoo_softmax},
    {"layernorm", "LayerNormalization over rows", "rows=1024,width=768", assay__zoo_layernorm},
    {"rmsnorm", "RMS norm over rows, in plain operators", "rows=1024,width=768",
     assay__zoo_rmsnorm},
    {"matmul", "Matrix product, m x k by k x n", "m=1024,n=1024,k=1024,batch=1,b=weight|input",
     assay__zoo_matmul},
    {"gelu", "GELU, in plain operators", "form=exact|tanh,rows=1024,width=3072", assay__zoo_gelu},
    {"attention", "Scaled dot-product attention, in plain operators",
     "batch=1,heads=12,seq=128,keys=(seq),dim=64,causal=0", assay__zoo_attention},
    {"mlp", "Multi-layer perceptron",
     "layers=3,width=256,inputs=64,outputs=10,activation=relu|tanh|sigmoid|gelu|silu,"
     "batch=(symbolic)",
     assay__zoo_mlp},
    {"lstm", "LSTM layers",
     "layers=1,hidden=256,inputs=128,seq=(symbolic),batch=(symbolic),bidirectional=0,state=0",
     assay__zoo_lstm},
    {"gru", "GRU layers",
     "layers=1,hidden=256,inputs=128,seq=(symbolic),batch=(symbolic),bidirectional=0,state=0",
     assay__zoo_gru},
};

const struct assay__zoo_entry *assay__zoo_at(size_t index)
{
    return index < sizeof entries / sizeof entries[0] ? &entries[index] : NULL;
}

static const struct assay__zoo_entry *find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strlen(entries[i].name) == length && memcmp(entries[i].name, name, length) == 0)
            return &entries[i];
    return NULL;
}

bool assay__zoo_knows(const char *name)
{
    return find(name, strcspn(name, ":")) != NULL;
}

static int unknown_model(const char *name, struct assay_error *error)
{
    char wanted[64];
    const char *nearest = entries[0].name;
    size_t best = SIZE_MAX;
    snprintf(wanted, sizeof wanted, "%.*s",
             (int)(strcspn(name, ":") < 60 ? strcspn(name, ":") : 60), name);
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        size_t distance = assay__text_distance(wanted, entries[i].name);
        if (distance < best) nearest = entries[i].name;
        if (distance < best) best = distance;
    }
    if (!assay__text_near(wanted, best))
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "the zoo has no model '%s' (assay make --list shows them)", wanted);
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "the zoo has no model '%s'; the nearest is '%s' (a path needs its ending or a "
        "'/')",
        wanted, nearest);
}

/* Cuts "k=v,k=v" in place. */
static int parse_params(struct assay__zoo_params *params, struct assay_error *error)
{
    for (char *at = params->text; at;) {
        char *comma = strchr(at, ','), *equals;
        if (comma) *comma = 0;
        equals = strchr(at, '=');
        if (!equals || equals == at)
            return assay_error_set(error, ASSAY_EINVAL,
                                   *at ? "%s: '%.60s' is not key=value"
                                       : "%s: a parameter key=value is missing after ':' or ','%s",
                                   params->model, at);
        if (params->given_count == MAX_PARAMS)
            return assay_error_set(error, ASSAY_ELIMIT, "%s: more than %d parameters",
                                   params->model, MAX_PARAMS);
        *equals = 0;
        for (size_t i = 0; i < params->given_count; i++)
            if (strcmp(params->given[i].key, at) == 0)
                return assay_error_set(error, ASSAY_EINVAL, "%s: '%.60s' is given twice",
                                       params->model, at);
        params->given[params->given_count].key = at;
        params->given[params->given_count++].value = equals + 1;
        at = comma ? comma + 1 : NULL;
    }
    return 0;
}

/* The value given for a key, or NULL; records that the key is known. */
static const char *given_value(struct assay__zoo_params *params, const char *key)
{
    const char *value = NULL;
    if (params->asked_count < MAX_PARAMS) params->asked[params->asked_count++] = key;
    for (size_t i = 0; i < params->given_count; i++)
        if (strcmp(params->given[i].key, key) == 0) {
            params->given[i].used = true;
            value = params->given[i].value;
        }
    return value;
}

int assay__zoo_param_int(struct assay__zoo_params *params, const char *key, int64_t otherwise,
                         int64_t low, int64_t high, int64_t *value, struct assay_error *error)
{
    const char *given = given_value(params, key);
    *value = otherwise;
    if (given && (assay__text_int64(given, value) || *value < low || *value > high))
        return assay_error_set(error, ASSAY_EINVAL,
                               "%s: %s=%.40s: a whole number from %lld to %lld", params->model, key,
                               given, (long long)low, (long long)high);
    return 0;
}

int assay__zoo_param_number(struct assay__zoo_params *params, const char *key, double otherwise,
                            double low, double high, double *value, struct assay_error *error)
{
    const char *given = given_value(params, key);
    char *end = NULL;
    *value = otherwise;
    if (!given) return 0;
    *value = strtod(given, &end);
    if (end == given || *end || !(*value >= low && *value <= high))
        return assay_error_set(error, ASSAY_EINVAL, "%s: %s=%.40s: a number from %g to %g",
                               params->model, key, given, low, high);
    return 0;
}

int assay__zoo_param_choice(struct assay__zoo_params *params, const char *key, const char *choices,
                            int otherwise, int *index, struct assay_error *error)
{
    const char *given = given_value(params, key);
    *index = otherwise;
    if (!given) return 0;
    *index = 0;
    for (const char *at = choices; *at; (*index)++) {
        size_t length = strcspn(at, "|");
        if (strlen(given) == length && memcmp(at, given, length) == 0) return 0;
        at += length + (at[length] == '|');
    }
    return assay_error_set(error, ASSAY_EINVAL, "%s: %s=%.40s: one of %s", params->model, key,
                           given, choices);
}

int assay__zoo_param_text(struct assay__zoo_params *params, const char *key, const char **value,
                          struct assay_error *error)
{
    const char *given = given_value(params, key);
    *value = given ? assay__arena_strdup(params->arena, given) : NULL;
    if (given && !*value) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    return 0;
}

int assay__zoo_params_done(const struct assay__zoo_params *params, struct assay_error *error)
{
    for (size_t i = 0; i < params->given_count; i++) {
        const char *nearest = "";
        size_t best = SIZE_MAX;
        if (params->given[i].used) continue;
        for (size_t k = 0; k < params->asked_count; k++) {
            size_t distance = assay__text_distance(params->given[i].key, params->asked[k]);
            if (distance < best) nearest = params->asked[k];
            if (distance < best) best = distance;
        }
        bool near = assay__text_near(params->given[i].key, best);
        return assay_error_set(
            error, ASSAY_EINVAL, "%s has no parameter '%.60s'%s%s%s (it takes %s)", params->model,
            params->given[i].key, near ? "; the nearest is '" : "", near ? nearest : "",
            near ? "'" : "", find(params->model, strlen(params->model))->parameters);
    }
    return 0;
}

int assay__zoo_build(const char *name, struct assay__model **out, struct assay_error *error)
{
    size_t length = strcspn(name, ":");
    const struct assay__zoo_entry *entry = find(name, length);
    *out = NULL;
    if (!entry) return unknown_model(name, error);
    struct assay__zoo_params params = {.model = entry->name,
                                       .text = name[length] ? strdup(name + length + 1) : NULL};
    struct assay__model *model = assay__model_new();
    if (model) params.arena = model->arena;
    int code = (params.text || !name[length]) && model
                   ? 0
                   : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!code) code = parse_params(&params, error);
    if (!code) code = entry->build(&params, model, error);
    if (!code) {
        *out = model;
        model = NULL;
    }
    assay__model_free(model);
    free(params.text);
    return code;
}
