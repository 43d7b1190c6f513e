/* test_zoo_text.c - transformers, single operators, perceptron and recurrent nets of the zoo:
 * parameters as the literature counts them, outputs as transformers and torch compute them with
 * the same weights (tests/fixtures/zoo_text, written by tests/oracle/zoo_text.py), steps with a
 * cache equal to the whole prompt, every value finite and never denormal, and one clear line for
 * sizes that cannot be. */
#include "zoo_check.h"

#include "model/inputs/npy.h"

#define TOLERANCE 1e-4
#define SIZES "layers=2,width=24,heads=4,ffn=40,vocab=29"
#define GPT2 "gpt2:" SIZES ",context=16"
#define LLAMA "llama:" SIZES ",kv_heads=2,tied=1"

/* --- parameters ------------------------------------------------------------------------------- */

static void test_parameters(void)
{
    static const struct {
        const char *name;
        int64_t parameters;
    } known[] = {
        {"gpt2", 124439808},
        {"gpt2:size=355m", 354823168},
        {"gpt2:size=large", 774030080},
        {"gpt2:size=1.5b", 1557611200},
        {"gpt2:phase=prefill", 124439808},
        {"gpt2:phase=decode,past=16", 124439808},
        {"bert", 109482240},
        {"bert:size=large", 335141888},
        {"bert:pooler=0", 109482240 - 768 * 768 - 768},
        {"distilbert", 66362880},
        {"llama:size=15m", 15191712},
        {"llama", 109529856},
        {"llama:size=1.1b", 1100048384},
        {"llama:size=1b", 1235814400},
        {"llama:size=3b", 3212749824},
        {"llama:size=7b", 6738415616},
        {"llama:size=8b", 8030261248},
        {"llama:size=13b", 13015864320},
        {"llama:size=70b", 70553706496},
        {"vit:size=tiny", 5717416},
        {"vit:size=small", 22050664},
        {"vit", 86567656},
        {"vit:size=large", 304326632},
        {"lora", 768 * 768 + 2 * 768 * 8},
        {"lora:size=medium", 2048 * 2048 + 2 * 2048 * 16},
        {"lora:size=large", 4096 * 4096 + 2 * 4096 * 64},
        {"lora:size=large,merged=1", 4096 * 4096},
        {"softmax", 0},
        {"layernorm", 2 * 768},
        {"rmsnorm", 768},
        {"matmul:k=3,n=5", 15},
        {"matmul:b=input", 0},
        {"gelu", 0},
        {"attention:causal=1", 0},
        {"mlp", 64 * 256 + 256 + 2 * (256 * 256 + 256) + 256 * 10 + 10},
        {"lstm", 4 * 256 * (128 + 256 + 2)},
        {"gru:layers=2,bidirectional=1",
         2 * 3 * 256 * (128 + 256 + 2) + 2 * 3 * 256 * (512 + 256 + 2)},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct assay__model *model = zoo_built(known[i].name);
        int64_t elements = 0, bytes = 0;
        CHECK(assay__model_parameters(model, &elements, &bytes));
        if (elements != known[i].parameters) printf("  %s\n", known[i].name);
        CHECK_INT(elements, known[i].parameters);
        assay__model_free(model);
    }
}

/* --- refusals --------------------------------------------------------------------------------- */

static void test_refusals(void)
{
    static const char *const bad[][2] = {
        {"gpt2:heads=7", "gpt2: heads=7 does not divide width=768"},
        {"gpt2:size=huge", "one of 124m|"},
        {"gpt2:layers=0", "a whole number from 1 to"},
        {"gpt2:layers=1000000", "a whole number from 1 to"},
        {"gpt2:seq=1025", "1025 positions, context=1024"},
        {"gpt2:seq=1000,past=100", "1100 positions, context=1024"},
        {"gpt2:phase=decode,past=1024", "1025 positions, context=1024"},
        {"gpt2:phase=decode,seq=2", "phase=decode is one token"},
        {"gpt2:phase=prefill,past=2", "phase=prefill has no past"},
        {"gpt2:head=3", "has no parameter 'head'; the nearest is 'heads'"},
        {"llama:kv_heads=5", "llama: kv_heads=5 does not divide heads=12"},
        {"llama:width=100,heads=3", "llama: heads=3 does not divide width=100"},
        {"llama:width=9,heads=3", "3 numbers per head cannot be rotated in pairs"},
        {"llama:theta=0", "a number from 1 to"},
        {"bert:heads=5", "bert: heads=5 does not divide width=768"},
        {"distilbert:seq=513", "distilbert: seq=513 is longer than context=512"},
        {"distilbert:size=base", "distilbert has no parameter 'size'"},
        {"vit:image=100", "vit: patch=16 does not divide image=100"},
        {"lora:rank=769", "lora: rank=769 is larger than d=768"},
        {"attention:causal=1,keys=3", "attention: causal=1 needs as many keys as queries"},
        {"mlp:activation=step", "one of relu|"},
        {"matmul:m=-1", "a whole number from 1 to"},
        {"lstm:hidden=0", "a whole number from 1 to"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct assay__model *model = NULL;
        struct assay_error error = {0};
        CHECK_INT(assay__zoo_build(bad[i][0], &model, &error), ASSAY_EINVAL);
        CHECK(model == NULL);
        CHECK_HAS(error.message, bad[i][1]);
        CHECK(strchr(error.message, '\n') == NULL);
    }
}

/* --- the outside of a decoder ----------------------------------------------------------------- */

static void check_value(const struct assay__value *value, const char *name, const char *dims)
{
    char text[256] = "";
    CHECK_STR(value->name, name);
    for (int i = 0; i < value->rank; i++) {
        size_t length = strlen(text);
        if (value->dims[i].value >= 0)
            snprintf(text + length, sizeof text - length, "%s%lld", i ? "," : "",
                     (long long)value->dims[i].value);
        else
            snprintf(text + length, sizeof text - length, "%s%s", i ? "," : "",
                     value->dims[i].symbol);
    }
    CHECK_STR(text, dims);
}

static void test_interface(void)
{
    struct assay__model *model = zoo_built("gpt2");
    const struct assay__graph *graph = &model->graph;
    CHECK_INT(graph->input_count, 25);
    CHECK_INT(graph->output_count, 25);
    check_value(&graph->inputs[0], "input_ids", "batch,seq");
    check_value(&graph->inputs[1], "past_key_values.0.key", "batch,12,past,64");
    check_value(&graph->inputs[24], "past_key_values.11.value", "batch,12,past,64");
    check_value(&graph->outputs[0], "logits", "batch,seq,50257");
    check_value(&graph->outputs[1], "present.0.key", "batch,12,past + seq,64");
    check_value(&graph->outputs[24], "present.11.value", "batch,12,past + seq,64");
    assay__model_free(model);

    model = zoo_built("llama:size=1.1b,phase=decode,past=7,batch=2");
    CHECK_INT(model->graph.input_count, 45);
    check_value(&model->graph.inputs[0], "input_ids", "2,1");
    check_value(&model->graph.inputs[2], "past_key_values.0.value", "2,4,7,64");
    check_value(&model->graph.outputs[0], "logits", "2,1,32000");
    check_value(&model->graph.outputs[1], "present.0.key", "2,4,8,64");
    assay__model_free(model);

    model = zoo_built("gpt2:phase=prefill,logits=last,seq=5");
    CHECK_INT(model->graph.input_count, 1);
    check_value(&model->graph.inputs[0], "input_ids", "batch,5");
    check_value(&model->graph.outputs[0], "logits", "batch,1,50257");
    check_value(&model->graph.outputs[1], "present.0.key", "batch,12,5,64");
    assay__model_free(model);
}

/* --- against the oracles' numbers ------------------------------------------------------------- */

struct oracle_array {
    char *bytes;
    struct assay__npy npy;
};

static struct oracle_array oracle_read(const char *key, const char *name)
{
    struct oracle_array array;
    memset(&array, 0, sizeof array);
    struct assay_error error = {0};
    char path[600];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/tests/fixtures/zoo_text/%s.%s.npy", ASSAY_TEST_ROOT, key, name);
    ZOO_MUST(assay__file_read(path, 1 << 20, &array.bytes, &size, &error));
    ZOO_MUST(assay__npy_parse((const uint8_t *)array.bytes, size, &array.npy, &error));
    return array;
}

static void add_input(struct zoo_session *zoo, const char *name, const struct assay__npy *npy)
{
    zoo->inputs[zoo->input_count++] = (struct assay__host_tensor){.name = name,
                                                                  .dtype = (int)npy->dtype,
                                                                  .rank = npy->rank,
                                                                  .dims = npy->dims,
                                                                  .data = (void *)npy->data,
                                                                  .data_size = npy->data_size};
}

static void check_near(const struct assay__host_tensor *got, const struct assay__npy *expected)
{
    const float *a = got->data, *b = (const float *)(const void *)expected->data;
    CHECK_INT(got->dtype, ASSAY__FLOAT32);
    CHECK_INT(expected->dtype, ASSAY__FLOAT32);
    CHECK_INT(got->rank, expected->rank);
    for (int i = 0; i < got->rank; i++)
        CHECK_INT(got->dims[i], expected->dims[i]);
    CHECK_INT(got->data_size, expected->data_size);
    for (size_t i = 0; i < got->data_size / sizeof *a; i++)
        CHECK_NEAR(a[i], b[i], TOLERANCE);
}

static const struct assay__host_tensor *find_output(const struct assay__host_tensor *outputs,
                                                    size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(outputs[i].name, name) == 0) return &outputs[i];
    printf("  no output '%s'\n", name);
    harness_fail(__FILE__, __LINE__, "an output is missing");
    return NULL;
}

/* inputs and outputs: names, NULL at the end. */
static void check_case(const char *key, const char *zoo_name, const char *const *inputs,
                       const char *const *outputs)
{
    struct assay__host_tensor feeds[8];
    struct oracle_array arrays[8];
    struct zoo_session zoo = {.inputs = feeds};
    struct assay__model *model = zoo_built(zoo_name);
    size_t count = 0;
    for (size_t i = 0; inputs[i]; i++) {
        arrays[i] = oracle_read(key, inputs[i]);
        add_input(&zoo, inputs[i], &arrays[i].npy);
    }
    zoo_open(&zoo, model);
    const struct assay__host_tensor *got = zoo_step(&zoo, &count);
    for (size_t i = 0; outputs[i]; i++) {
        struct oracle_array expected = oracle_read(key, outputs[i]);
        const struct assay__host_tensor *output = find_output(got, count, outputs[i]);
        check_near(output, &expected.npy);
        free(expected.bytes);
    }
    for (size_t i = 0; inputs[i]; i++)
        free(arrays[i].bytes);
    zoo_close(&zoo);
    assay__model_free(model);
}
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PRESENTS "present.0.key", "present.0.value", "present.1.key", "present.1.value"

static void test_encoders(void)
{
    check_case("bert", "bert:" SIZES ",context=16",
               NAMES("input_ids", "attention_mask", "token_type_ids"),
               NAMES("last_hidden_state", "pooler_output"));
    check_case("distilbert", "distilbert:" SIZES ",context=16",
               NAMES("input_ids", "attention_mask"), NAMES("last_hidden_state"));
    check_case("vit", "vit:layers=2,width=24,heads=4,ffn=40,image=12,patch=4,classes=5",
               NAMES("pixel_values"), NAMES("logits"));
}

static void test_decoders(void)
{
    check_case("gpt2", GPT2 ",phase=prefill", NAMES("input_ids"), NAMES("logits", PRESENTS));
    check_case("llama", LLAMA ",phase=prefill", NAMES("input_ids"), NAMES("logits", PRESENTS));
    check_case("llama_mqa", "llama:" SIZES ",kv_heads=1,tied=0,phase=prefill", NAMES("input_ids"),
               NAMES("logits", PRESENTS));
    check_case("llama_mha", "llama:" SIZES ",kv_heads=4,tied=0,phase=prefill", NAMES("input_ids"),
               NAMES("logits", PRESENTS));
}

static void test_recurrent(void)
{
    check_case("lstm", "lstm:layers=2,hidden=5,inputs=3,bidirectional=1,state=1",
               NAMES("input", "h0", "c0"), NAMES("output", "hn", "cn"));
    check_case("gru", "gru:layers=2,hidden=5,inputs=3,bidirectional=1,state=1",
               NAMES("input", "h0"), NAMES("output", "hn"));
}

static void test_operators(void)
{
    static const char *const cases[][2] = {
        {"mlp_relu", "mlp:layers=2,width=8,inputs=6,outputs=4"},
        {"mlp_silu", "mlp:layers=2,width=8,inputs=6,outputs=4,activation=silu"},
        {"lora", "lora:d=6,rank=3,alpha=12,batch=2,seq=4"},
        {"softmax", "softmax:rows=3,width=5"},
        {"layernorm", "layernorm:rows=3,width=5"},
        {"rmsnorm", "rmsnorm:rows=3,width=5"},
        {"gelu", "gelu:rows=3,width=5"},
        {"gelu_tanh", "gelu:rows=3,width=5,form=tanh"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(cases[i][0], cases[i][1], NAMES("input"), NAMES("output"));
    check_case("matmul", "matmul:m=3,k=4,n=5", NAMES("a"), NAMES("output"));
    check_case("matmul_batch", "matmul:m=3,k=4,n=5,batch=2,b=input", NAMES("a", "b"),
               NAMES("output"));
    check_case("attention", "attention:batch=2,heads=2,seq=3,keys=5,dim=4",
               NAMES("query", "key", "value"), NAMES("output"));
    check_case("attention_causal", "attention:batch=2,heads=2,seq=3,keys=5,dim=4,causal=1",
               NAMES("query", "key", "value"), NAMES("output"));
}

/* --- steps ------------------------------------------------------------------------------------ */

struct cache {
    int64_t dims[4];
    float *data[4]; /* two layers, keys and values */
    size_t bytes;
};

/* The oracle's logits of all tokens against those of [start, start + count). */
static void check_logits(const struct assay__host_tensor *got, const struct assay__npy *all,
                         int64_t start, int64_t count)
{
    const float *a = got->data, *b = (const float *)(const void *)all->data;
    int64_t rows = all->dims[0], length = all->dims[1], vocabulary = all->dims[2];
    CHECK_INT(got->dims[0], rows);
    CHECK_INT(got->dims[1], count);
    CHECK_INT(got->dims[2], vocabulary);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t k = 0; k < count * vocabulary; k++)
            CHECK_NEAR(a[row * count * vocabulary + k], b[(row * length + start) * vocabulary + k],
                       TOLERANCE);
}

static void add_past(struct zoo_session *zoo, const struct cache *cache)
{
    static const char *const past[] = {"past_key_values.0.key", "past_key_values.0.value",
                                       "past_key_values.1.key", "past_key_values.1.value"};
    for (int i = 0; i < 4; i++)
        zoo->inputs[zoo->input_count++] = (struct assay__host_tensor){.name = past[i],
                                                                      .dtype = ASSAY__FLOAT32,
                                                                      .rank = 4,
                                                                      .dims = cache->dims,
                                                                      .data = cache->data[i],
                                                                      .data_size = cache->bytes};
}

static void keep_present(struct cache *cache, const struct assay__host_tensor *outputs,
                         size_t count)
{
    static const char *const present[] = {PRESENTS};
    for (int i = 0; i < 4; i++) {
        const struct assay__host_tensor *got = find_output(outputs, count, present[i]);
        free(cache->data[i]);
        cache->data[i] = malloc(got->data_size);
        CHECK(cache->data[i] != NULL);
        memcpy(cache->data[i], got->data, got->data_size);
        cache->bytes = got->data_size;
        cache->dims[2] = got->dims[2];
    }
}

/* Runs the tokens [start, start + count) after the cache, checks their logits, and leaves the
 * longer cache. */
static void step(const char *zoo_name, const char *key, int64_t start, int64_t count,
                 struct cache *cache)
{
    struct oracle_array ids = oracle_read(key, "input_ids"), logits = oracle_read(key, "logits");
    struct assay__host_tensor feeds[5];
    struct zoo_session zoo = {.inputs = feeds};
    struct assay__model *model = zoo_built(zoo_name);
    int64_t length = ids.npy.dims[1], tokens[16];
    const int64_t *all = (const int64_t *)(const void *)ids.npy.data;
    struct assay__npy piece = {ASSAY__INT64, 2, {ids.npy.dims[0], count}, NULL, 0};
    size_t output_count = 0, bytes = sizeof *tokens * (size_t)(ids.npy.dims[0] * count);
    for (int64_t i = 0; i < ids.npy.dims[0] * count; i++)
        tokens[i] = all[i / count * length + start + i % count];
    piece.data = (const uint8_t *)tokens;
    piece.data_size = bytes;
    add_input(&zoo, "input_ids", &piece);
    add_past(&zoo, cache);
    zoo_open(&zoo, model);
    const struct assay__host_tensor *outputs = zoo_step(&zoo, &output_count);
    check_logits(find_output(outputs, output_count, "logits"), &logits.npy, start, count);
    keep_present(cache, outputs, output_count);
    CHECK_INT(cache->dims[2], start + count);
    zoo_close(&zoo);
    assay__model_free(model);
    free(ids.bytes);
    free(logits.bytes);
}

/* A prompt in pieces: an empty past, several tokens after a past, one token, and the decode
 * graph with its fixed past. */
static void check_steps(const char *zoo_name, const char *key, int64_t kv_heads)
{
    struct cache cache = {.dims = {2, kv_heads, 0, 6}};
    char decode[256];
    for (int i = 0; i < 4; i++) {
        cache.data[i] = calloc(1, 4); /* no elements, but an address */
        CHECK(cache.data[i] != NULL);
    }
    snprintf(decode, sizeof decode, "%s,phase=decode,past=6", zoo_name);
    step(zoo_name, key, 0, 3, &cache);
    step(zoo_name, key, 3, 2, &cache);
    step(zoo_name, key, 5, 1, &cache);
    step(decode, key, 6, 1, &cache);
    for (int i = 0; i < 4; i++)
        free(cache.data[i]);
}

static void test_steps(void)
{
    check_steps(GPT2, "gpt2", 4);
    check_steps(LLAMA, "llama", 2);
}

/* --- every number on the way ------------------------------------------------------------------ */

static void test_finite_decoders(void)
{
    zoo_check_run_sized("gpt2:layers=4,width=96,heads=4,vocab=200,phase=prefill", 2, 24);
    zoo_check_run_sized("gpt2:layers=4,width=96,heads=4,vocab=200,past=9", 2, 3);
    zoo_check_run_sized("gpt2:layers=24,width=64,heads=2,vocab=50,phase=decode,past=5", 1, 1);
    zoo_check_run_sized("llama:layers=4,width=96,heads=4,kv_heads=2,vocab=200,phase=prefill", 2,
                        24);
    zoo_check_run_sized("llama:layers=24,width=64,heads=4,vocab=50,past=5,tied=0", 1, 3);
}

static void test_finite_encoders(void)
{
    zoo_check_run_sized("bert:layers=4,width=96,heads=4,ffn=384,vocab=200", 2, 24);
    zoo_check_run_sized("distilbert:layers=4,width=96,heads=4,ffn=384,vocab=200", 2, 24);
    zoo_check_run_sized("vit:layers=4,width=96,heads=4,image=64", 2, 0);
}

static void test_finite_small(void)
{
    static const char *const names[] = {"softmax",
                                        "layernorm",
                                        "rmsnorm",
                                        "gelu:rows=64",
                                        "gelu:rows=64,form=tanh",
                                        "matmul:m=64",
                                        "attention",
                                        "attention:causal=1",
                                        "lora:seq=16",
                                        "lora:seq=16,merged=1",
                                        "mlp",
                                        "mlp:layers=30,activation=tanh",
                                        "mlp:layers=30,activation=gelu",
                                        "mlp:layers=30,activation=sigmoid",
                                        "mlp:layers=30,activation=silu",
                                        "mlp:layers=30"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        zoo_check_run_sized(names[i], 0, 0);
    zoo_check_run_sized("lstm:layers=2,seq=50,batch=2", 0, 0);
    zoo_check_run_sized("gru:layers=2,seq=50,batch=2,bidirectional=1", 0, 0);
}

/* However deep: every value of the last layers is of moderate size, whatever the activation. */
static void test_deep_mlp(void)
{
    static const char *const names[] = {
        "mlp:layers=300,width=32,batch=2,activation=relu",
        "mlp:layers=300,width=32,batch=2,activation=gelu",
        "mlp:layers=300,width=32,batch=2,activation=silu",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct zoo_session zoo = {.session = NULL};
        struct assay__model *model = zoo_built(names[i]);
        size_t count = 0;
        float largest = 0;
        zoo_inputs(&zoo, model, 0, 0);
        zoo_open(&zoo, model);
        const struct assay__host_tensor *outputs = zoo_step(&zoo, &count);
        CHECK_INT(count, 1);
        zoo_check_floats(&outputs[0]);
        for (size_t k = 0; k < outputs[0].data_size / sizeof(float); k++)
            if (fabsf(((const float *)outputs[0].data)[k]) > largest)
                largest = fabsf(((const float *)outputs[0].data)[k]);
        CHECK(largest > 1e-4f && largest < 1e3f);
        zoo_close(&zoo);
        assay__model_free(model);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"parameters", test_parameters},
        {"refusals", test_refusals},
        {"interface", test_interface},
        {"encoders", test_encoders},
        {"decoders", test_decoders},
        {"recurrent", test_recurrent},
        {"operators", test_operators},
        {"steps", test_steps},
        {"finite_decoders", test_finite_decoders},
        {"finite_encoders", test_finite_encoders},
        {"finite_small", test_finite_small},
        {"deep_mlp", test_deep_mlp},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
