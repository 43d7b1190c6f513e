/* test_generate.c - text generation with a cache. Against the fake engine: exact times and rates,
 * what is refused, what a lying worker may say. Against ONNX Runtime: a decoder of the zoo says the
 * same tokens with its cache as without it. */
#include "cost/cost.h"
#include "base/file.h"
#include "layers_fixture.h"
#include "model/inputs/generation_roles.h"
#include "model/shapes/shapes.h"
#include "profile/profile.h"
#include "run/trial/token_stats.h"
#include "run_fixture.h"
#include "zoo/zoo.h"

#define TINY_GPT2 "gpt2:layers=2,width=16,heads=2,vocab=97,context=64"
#define TINY_LLAMA "llama:layers=2,width=32,heads=4,kv_heads=2,head_dim=8,ffn=64,vocab=97,tied=0"

/* --- the fake engine: exact values ------------------------------------------------------------ */

static struct assay__run_options options_of(const char *script, int64_t tokens)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    return (struct assay__run_options){.target.engine = "fake",
                                       .script = script,
                                       .measuring.iterations = 70,
                                       .measuring.timeout_s = 60,
                                       .workload.generate = tokens};
}

static struct assay_profile *run(const struct assay__run_options *options)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    if (assay__run(options, &profile, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return profile;
}

static const char *option(const struct assay_profile *profile, const char *key)
{
    const struct assay__trial *trial = &profile->trials[0];
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, key) == 0) return trial->options[i].value;
    return NULL;
}

/* First token after 1 ms; then 1, 2, 3, 4 times 100 us, over and over: nine tokens take 1 + 2
 * ms. */
static void test_exact(void)
{
    struct assay__run_options options = options_of(
        "steady=1ms;decode=100us,200us,300us,400us;choose=5us;prompt=64", 9);
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "latency.p50"), 3e-3, 1e-15);
    CHECK_NEAR(value(profile, "llm.ttft"), 1e-3, 1e-15);
    CHECK_NEAR(value(profile, "llm.ttft_p90"), 1e-3, 1e-15); /* 70 generations: 64 are needed */
    CHECK_NEAR(value(profile, "llm.itl"), 250e-6, 1e-15);
    CHECK_NEAR(value(profile, "llm.itl_p90"), 400e-6, 1e-15);
    CHECK_INT(metric(profile, "llm.itl_p99")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(metric(profile, "llm.itl_p99")->note, "needs 662 decode steps in a launch, got 560");
    CHECK_HAS(metric(profile, "llm.ttft_p99")->note, "needs 662 generations in a launch, got 70");
    CHECK_NEAR(value(profile, "llm.itl_first"), 150e-6, 1e-15); /* steps 1 and 2 of 8 */
    CHECK_NEAR(value(profile, "llm.itl_last"), 350e-6, 1e-15);  /* steps 7 and 8 */
    CHECK_NEAR(value(profile, "llm.prefill"), 64 / 1e-3, 1e-9);
    CHECK_NEAR(value(profile, "llm.decode"), 8 / 2e-3, 1e-9);
    CHECK_NEAR(value(profile, "llm.overall"), 9 / 3e-3, 1e-9);
    CHECK_NEAR(value(profile, "llm.choose"), 5e-6, 1e-18);
    CHECK_NEAR(value(profile, "llm.generations"), 70, 0);
    const struct assay__generation_info *made = &profile->trials[0].generation;
    CHECK_INT(made->time_count, 9);
    double at_ns = 1e6;
    for (size_t i = 0; i < made->time_count; i++) {
        double step_ns = i ? 1e5 * (double)((i - 1) % 4 + 1) : 1e6;
        if (i) at_ns += step_ns;
        CHECK_INT(made->times[i].token, (int)i + 1);
        CHECK_NEAR(made->times[i].at_ns, at_ns, 1e-6);
        CHECK_NEAR(made->times[i].step_ns, step_ns, 1e-6);
        CHECK_NEAR(made->times[i].low_ns, step_ns, 1e-6);
        CHECK_NEAR(made->times[i].high_ns, step_ns, 1e-6);
    }
    CHECK(assay_metrics_get(assay_profile_metrics(profile, 0), "llm.dropped") == NULL);
    CHECK_INT(metric(profile, "llm.ttft")->state, ASSAY_MEASURED);
    CHECK_INT(metric(profile, "llm.decode")->state, ASSAY_DERIVED);
    CHECK_INT(metric(profile, "throughput.tokens")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(metric(profile, "throughput.tokens")->note, "llm.decode");
    CHECK_STR(option(profile, "generate"), "9");
    CHECK_STR(option(profile, "prompt"), "32"); /* what was asked; a script may say otherwise */
    const struct assay__generation_info *g = &profile->trials[0].generation;
    CHECK_INT(g->tokens, 9);
    CHECK_INT(g->prompt, 32);
    CHECK_INT(g->id_count, 9);
    for (size_t i = 0; i < g->id_count; i++)
        CHECK_INT(g->ids[i], i);
    assay_profile_close(profile);
}

/* Only a device with memory of its own has the cache brought back and forth: a CPU by another name
 * has not. */
static void test_cache_and_device(void)
{
    static const struct {
        const char *device;
        bool crosses;
    } rows[] = {{"cpu", false}, {"openvino:cpu", false}, {"openvino:npu", true}, {"gpu:0", true}};
    setenv("ASSAY_FAKE_DEVICES", "cpu;openvino:cpu;openvino:npu;gpu:0", 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__run_options options = options_of("steady=1ms;decode=100us", 9);
        options.target.device = rows[i].device;
        struct assay_profile *profile = run(&options);
        const char *note = metric(profile, "llm.itl")->note,
                   *one =
                       assay_metrics_get(profile->trials[0].launches[0].metrics, "llm.itl")->note;
        CHECK_INT(strstr(note, "cache to host memory") != NULL, rows[i].crosses);
        CHECK_INT(strstr(one, "cache to host memory") != NULL, rows[i].crosses);
        assay_profile_close(profile);
    }
    unsetenv("ASSAY_FAKE_DEVICES");
}

static void test_one_token(void)
{
    struct assay__run_options options = options_of("steady=2ms", 1);
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "llm.ttft"), 2e-3, 1e-15);
    CHECK_NEAR(value(profile, "llm.overall"), 500, 1e-9);
    CHECK_NEAR(value(profile, "llm.prefill"), 16000, 1e-9);
    static const char *const unknown[] = {"llm.itl", "llm.itl_p90", "llm.itl_first", "llm.decode"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        CHECK_INT(metric(profile, unknown[i])->state, ASSAY_UNAVAILABLE);
        CHECK_STR(metric(profile, unknown[i])->note, "one token: there is no decode step");
    }
    assay_profile_close(profile);
    options.workload.generate = 4;
    profile = run(&options);
    CHECK_HAS(metric(profile, "llm.itl_last")->note, "at least 8 decode steps");
    assay_profile_close(profile);
}

/* Generations of warm-up, and those that warm caches up before a window, are not among the tokens
 * told. */
static void test_warmup_is_not_counted(void)
{
    struct assay__run_options options = options_of("first=9s;warmup=20x1s;steady=1ms;decode=1ms",
                                                   2);
    options.measuring.warmup_given = true;
    options.measuring.warmup = 20;
    options.measuring.iterations = 100;
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "llm.generations"), 100, 0);
    CHECK_NEAR(value(profile, "llm.ttft_p90"), 1e-3, 1e-15);
    CHECK_NEAR(value(profile, "llm.overall"), 1000, 1e-9); /* a mean: one of 1 s would show */
    assay_profile_close(profile);
}

static void test_launches_and_keeping(void)
{
    char folder[1024], path[1100];
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    snprintf(path, sizeof path, "%s/g.assay", folder);
    struct assay__run_options options = options_of("steady=1ms;decode=500us", 3);
    options.measuring.launches = 3;
    options.keeping.output = path;
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "llm.generations"), 210, 0);
    CHECK_HAS(metric(profile, "llm.ttft")->note, "median over launches");
    CHECK_NEAR(assay_metrics_get(profile->trials[0].launches[2].metrics, "llm.itl")->value, 500e-6,
               1e-15);
    assay_profile_close(profile);
    struct assay_error error = {0};
    CHECK_INT(assay_profile_open(path, &profile, &error), 0);
    CHECK_NEAR(value(profile, "llm.itl"), 500e-6, 1e-15);
    const struct assay__generation_info *g = &profile->trials[0].generation;
    CHECK_INT(g->id_count, 3);
    for (size_t i = 0; i < g->id_count; i++)
        CHECK_INT(g->ids[i], i);
    assay_profile_close(profile);
    assay__folder_remove(folder);
}

/* The cap of 10 s does not cut a long generation below three. */
static void test_at_least_three(void)
{
    struct assay__run_options options = options_of("steady=7s;decode=1s", 2);
    options.measuring.iterations = 0;
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "llm.generations"), 3, 0);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 3);
    CHECK_NEAR(value(profile, "llm.ttft"), 7, 1e-12);
    assay_profile_close(profile);
}

/* What the engine had no room for is counted, not forgotten (the fake one keeps 4,096 in a
 * window). */
static void test_dropped(void)
{
    struct assay__run_options options = options_of("steady=1us;decode=1us", 2);
    options.measuring.iterations = 50000; /* ten windows of 5,000, each after two that warm up */
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "llm.generations") + value(profile, "llm.dropped"), 50000, 0);
    CHECK_NEAR(value(profile, "llm.dropped"), 10 * (5000 + 2 - 4096), 0);
    CHECK_HAS(metric(profile, "llm.generations")->note, "could be stored");
    assay_profile_close(profile);
}

/* option NULL: it is not about an option, and the message has the text. */
static void refused(struct assay__run_options options, int code, const char *option,
                    const char *text)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__run(&options, &profile, &error), code);
    CHECK(profile == NULL);
    CHECK_STR(error.option ? error.option : "", option ? option : "");
    CHECK_HAS(error.message, text);
}

static void test_refused(void)
{
    struct assay__run_options options = options_of("steady=1ms", 4);
    options.workload.prompt = 8;
    options.workload.sequence = 8;
    refused(options, ASSAY_EINVAL, "prompt", "");
    options = options_of("steady=1ms", 4);
    options.target.streams = 2;
    refused(options, ASSAY_EINVAL, "streams", "");
    options = options_of("steady=1ms", 4);
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    refused(options, ASSAY_EINVAL, "layers", "");
    options = options_of("steady=1ms", 0);
    options.workload.prompt = 8;
    refused(options, ASSAY_EINVAL, "prompt", "");
    refused(options_of("steady=1ms", -1), ASSAY_EINVAL, "generate", "");
    refused(options_of("steady=1ms", 1000001), ASSAY_EINVAL, "generate", "");
    static const char *const models[][2] = {
        {"mlp", "no known role in a generation"},
        {"gpt2:layers=1,width=8,heads=1,vocab=11,phase=prefill", "no cache"},
        {"gpt2:layers=1,width=8,heads=1,vocab=11,past=4", "it cannot start empty"},
        {"gpt2:layers=1,width=8,heads=1,vocab=11,seq=8", "one token at a time"},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        options = options_of("steady=1ms", 4);
        options.workload.model = models[i][0];
        refused(options, ASSAY_EUNSUPPORTED, NULL, models[i][1]);
    }
}

/* --- a lying worker --------------------------------------------------------------------------- */

static int hear(struct assay__tokens *tokens, const char *text, bool times)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__json_parse(arena, text, strlen(text), &root, &error), 0);
    if (times)
        assay__tokens_hear_times(tokens, root, &error);
    else
        assay__tokens_hear(tokens, 2, root, &error);
    assay__arena_free(arena);
    return error.code;
}

#define TOLD(generations, more)                                                             \
    "{\"tokens\":2,\"prompt\":4,\"batch\":1,\"generations\":" generations ",\"dropped\":0," \
    "\"choose_ns\":1" more ",\"ids\":[1,2]}"

static void test_lies(void)
{
    struct assay__tokens tokens = {0};
    CHECK_INT(hear(&tokens, "[5]", true), ASSAY_EFORMAT); /* never announced */
    CHECK_INT(hear(&tokens, "{\"tokens\":3,\"prompt\":4,\"batch\":1}", false), ASSAY_EFORMAT);
    CHECK_INT(hear(&tokens, TOLD("-1", ""), false), ASSAY_EFORMAT);
    CHECK_INT(hear(&tokens, TOLD("1e300", ""), false), ASSAY_EFORMAT);
    CHECK_INT(hear(&tokens,
                   "{\"tokens\":2,\"prompt\":4,\"batch\":1,\"generations\":1,"
                   "\"dropped\":0,\"choose_ns\":1,\"ids\":[]}",
                   false),
              ASSAY_EFORMAT);
    assay__tokens_free(&tokens);
    tokens = (struct assay__tokens){0};
    CHECK_INT(hear(&tokens, TOLD("2", ""), false), 0);
    CHECK_INT(hear(&tokens, "[5,7,3]", true), 0); /* 3 begins the second generation */
    CHECK_INT(hear(&tokens, TOLD("1", ""), false), ASSAY_EFORMAT); /* one is still owed */
    CHECK_INT(hear(&tokens, "[2]", true), ASSAY_EFORMAT);          /* runs backwards */
    CHECK_INT(hear(&tokens, "[4,5]", true), ASSAY_EFORMAT);        /* one too many */
    CHECK_INT(assay__tokens_summarise(&tokens), 0); /* what is whole of an ended launch */
    CHECK_NEAR(tokens.summary.generations, 1, 0);
    CHECK_NEAR(tokens.summary.ttft, 5, 0);
    CHECK_NEAR(tokens.summary.itl, 2, 0);
    assay__tokens_free(&tokens);
    tokens = (struct assay__tokens){0};
    CHECK_INT(assay__tokens_summarise(&tokens), 0);
    CHECK(isnan(tokens.summary.ttft) && isnan(tokens.summary.generations));
}

/* --- cost of a generation --------------------------------------------------------------------- */

static double flops_at(const struct assay__model *model, const struct assay__workload *workload,
                       const struct assay__input_plan *plans)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__value *values = NULL;
    struct assay__shapes *shapes = NULL;
    struct assay_error error = {0};
    struct assay__cost *costs = calloc(model->graph.node_count, sizeof *costs);
    CHECK(arena && costs);
    CHECK_INT(assay__workload_values(plans, workload->input_count, arena, &values), 0);
    CHECK_INT(assay__shapes_infer(model, values, workload->input_count, &shapes, &error), 0);
    CHECK_INT(assay__cost_graph(model, shapes, costs, &error), 0);
    double sum = 0;
    for (size_t i = 0; i < model->graph.node_count; i++)
        sum += costs[i].flops;
    assay__shapes_free(shapes);
    assay__arena_free(arena);
    free(costs);
    return sum;
}

/* compute.flops is the sum over every run of the generation, each counted at its own shapes. */
static void check_flops(const char *name, int64_t tokens)
{
    struct assay__run_options options = options_of("steady=1ms", tokens);
    options.workload.model = name;
    options.workload.prompt = 5;
    options.workload.batch = 2;
    options.measuring.iterations = 3;
    struct assay_profile *profile = run(&options);
    struct assay__model *model = NULL;
    struct assay__workload *workload = NULL;
    struct assay__generation generation;
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__zoo_build(name, &model, NULL), 0);
    struct assay__workload_options plan = {.batch = 2, .sequence = 5};
    CHECK_INT(assay__generation_find(model, tokens, arena, &generation, NULL), 0);
    CHECK_INT(assay__workload_plan(model, &plan, &workload, NULL), 0);
    CHECK_INT(assay__generation_shape(model, &generation, workload, NULL), 0);
    struct assay__input_plan plans[16];
    double sum = 0;
    for (int64_t token = 0; token < tokens; token++) {
        CHECK_INT(assay__generation_at(model, &generation, workload, token, arena, plans, NULL), 0);
        sum += flops_at(model, workload, plans);
    }
    CHECK(sum > 0);
    CHECK_NEAR(value(profile, "compute.flops"), sum, 1e-6 * sum);
    CHECK_NEAR(value(profile, "llm.prefill"), 5 * 2 / 1e-3, 1e-6);
    assay__workload_free(workload);
    assay__model_free(model);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void test_flops(void)
{
    check_flops(TINY_GPT2, 1);
    check_flops(TINY_GPT2, 2);
    check_flops(TINY_GPT2, 3);
    check_flops(TINY_GPT2, 12);
    check_flops(TINY_LLAMA, 11);
}

/* --- ONNX Runtime ----------------------------------------------------------------------------- */

struct decoder {
    char folder[1024], path[1100];
    struct assay__model *model;
    struct assay__arena *arena;
    struct assay__generation generation;
    struct assay__host_tensor inputs[16];
    int64_t dims[16][8];
    int64_t *ids;
    size_t input_count;
};

static struct decoder decoder_make(const char *name, int64_t tokens,
                                   void (*change)(struct assay__model *, struct assay__arena *))
{
    struct decoder made = {.arena = assay__arena_new()};
    struct assay_error error = {0};
    CHECK_INT(assay__folder_temporary(made.folder, sizeof made.folder, NULL), 0);
    snprintf(made.path, sizeof made.path, "%s/decoder.onnx", made.folder);
    CHECK_INT(assay__zoo_build(name, &made.model, &error), 0);
    if (change) change(made.model, made.arena);
    CHECK_INT(assay__model_write(made.model, made.path, &error), 0);
    int code = assay__generation_find(made.model, tokens, made.arena, &made.generation, &error);
    if (code) harness_fail(__FILE__, __LINE__, error.message);
    return made;
}

static void decoder_free(struct decoder *decoder)
{
    for (size_t i = 0; i < decoder->input_count; i++)
        free(decoder->inputs[i].data);
    assay__model_free(decoder->model);
    assay__arena_free(decoder->arena);
    assay__folder_remove(decoder->folder);
}

/* Inputs of a run over `length` tokens with an empty cache. */
static void decoder_inputs(struct decoder *decoder, int64_t batch, int64_t length)
{
    const struct assay__graph *graph = &decoder->model->graph;
    for (size_t i = 0; i < decoder->input_count; i++)
        free(decoder->inputs[i].data);
    decoder->input_count = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct assay__value *input = &graph->inputs[i];
        bool ids = strcmp(input->name, decoder->generation.ids) == 0;
        int64_t *dims = decoder->dims[decoder->input_count];
        CHECK(decoder->input_count < 16 && input->rank <= 8);
        for (int d = 0; d < input->rank; d++)
            dims[d] = d == 0                      ? batch
                      : ids                       ? length
                      : input->dims[d].value >= 0 ? input->dims[d].value
                                                  : 0;
        size_t size = ids ? (size_t)(batch * length) * 8 : 0;
        void *data = calloc(1, size + 8);
        if (ids) decoder->ids = data;
        decoder->inputs[decoder->input_count++] = (struct assay__host_tensor){
            .name = input->name,
            .dtype = (int)input->dtype,
            .rank = input->rank,
            .dims = dims,
            .data = data,
            .data_size = size};
    }
}

static struct assay__session *decoder_open(struct decoder *decoder, bool generate)
{
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = decoder->path,
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = decoder->inputs,
                                             .input_count = decoder->input_count,
                                             .generation = generate ? &decoder->generation : NULL};
    if (assay__engine_find("ort")->open(&options, &session, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return session;
}

/* The first tensor of that name among the outputs of the last run. */
static const struct assay__host_tensor *output(struct assay__session *session, const char *name)
{
    const struct assay__host_tensor *outputs = NULL;
    size_t count = 0;
    CHECK_INT(assay__engine_find("ort")->outputs(session, &outputs, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        if (strcmp(outputs[i].name, name) == 0) return &outputs[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

/* Sequence b of the prompt. */
static int64_t prompt_id(int64_t b, int64_t i)
{
    return (i * 31 + 7 + b * 13) % 97;
}

static void check_cache(const char *name, int64_t batch, int64_t prompt, int64_t tokens)
{
    enum { VOCABULARY = 97 };
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    find_library();
    struct decoder decoder = decoder_make(name, tokens, NULL);
    decoder_inputs(&decoder, batch, prompt);
    for (int64_t b = 0; b < batch; b++)
        for (int64_t i = 0; i < prompt; i++)
            decoder.ids[b * prompt + i] = prompt_id(b, i);
    struct assay__session *session = decoder_open(&decoder, true);
    struct assay__token_times times = {0};
    CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(ort->step(session, 0), 0); /* a second generation starts with empty caches again */
    CHECK_INT(ort->tokens(session, &times, NULL), 0);
    CHECK_INT(times.tokens, tokens);
    CHECK_INT(times.prompt, prompt);
    CHECK_INT(times.batch, batch);
    CHECK_INT(times.generations, 2);
    for (int64_t i = 1; i < tokens; i++)
        CHECK(times.ns[i] >= times.ns[i - 1] && times.ns[0] > 0);
    int64_t *said = calloc((size_t)(batch * tokens), sizeof *said);
    memcpy(said, times.ids, (size_t)(batch * tokens) * sizeof *said);
    const struct assay__host_tensor *logits = output(session, decoder.generation.logits);
    CHECK_INT(logits->dims[1], 1);
    float *cached = malloc(logits->data_size);
    memcpy(cached, logits->data, logits->data_size);
    CHECK_INT(ort->tokens(session, &times, NULL), 0); /* the record starts anew */
    CHECK_INT(times.generations, 0);
    ort->close(session);
    /* The same without the cache: the whole sequence so far, anew for each token. */
    for (int64_t token = 0; token < tokens; token++) {
        int64_t length = prompt + token;
        decoder_inputs(&decoder, batch, length);
        for (int64_t b = 0; b < batch; b++)
            for (int64_t i = 0; i < length; i++)
                decoder.ids[b * length + i] = i < prompt ? prompt_id(b, i)
                                                         : said[b * tokens + i - prompt];
        session = decoder_open(&decoder, false);
        CHECK_INT(ort->step(session, 0), 0);
        logits = output(session, decoder.generation.logits);
        for (int64_t b = 0; b < batch; b++) {
            const float *row = (const float *)logits->data + ((b + 1) * length - 1) * VOCABULARY;
            int64_t best = 0;
            for (int64_t i = 1; i < VOCABULARY; i++)
                if (row[i] > row[best]) best = i;
            CHECK_INT(said[b * tokens + token], best);
            for (int64_t i = 0; i < VOCABULARY && token == tokens - 1; i++)
                CHECK_NEAR(cached[b * VOCABULARY + i], row[i], 1e-4);
        }
        ort->close(session);
    }
    free(cached);
    free(said);
    decoder_free(&decoder);
}

static void test_cache_gpt2(void)
{
    check_cache(TINY_GPT2, 1, 6, 10);
    check_cache(TINY_GPT2, 2, 1, 4);
}

static void test_cache_llama(void)
{
    check_cache(TINY_LLAMA, 1, 5, 12);
    check_cache(TINY_LLAMA, 2, 7, 6);
}

/* --- logits of 16 bits ------------------------------------------------------------------------ */

static enum assay__dtype narrow;

/* logits -> Cast -> narrow, the new output. */
static void add_cast(struct assay__model *model, struct assay__arena *arena)
{
    struct assay__graph *graph = &model->graph;
    struct assay__node *nodes = assay__arena_array(arena, graph->node_count + 1, sizeof *nodes);
    struct assay__attr *to = assay__arena_array(arena, 1, sizeof *to);
    const char **names = assay__arena_array(arena, 2, sizeof *names);
    CHECK(nodes && to && names);
    memcpy(nodes, graph->nodes, graph->node_count * sizeof *nodes);
    *to = (struct assay__attr){.name = "to", .type = ASSAY__ATTR_INT, .i = (int64_t)narrow};
    names[0] = "logits";
    names[1] = "narrow";
    nodes[graph->node_count] = (struct assay__node){.name = "narrow_cast",
                                                    .op = "Cast",
                                                    .domain = "",
                                                    .inputs = &names[0],
                                                    .input_count = 1,
                                                    .outputs = &names[1],
                                                    .output_count = 1,
                                                    .attrs = to,
                                                    .attr_count = 1};
    graph->nodes = nodes;
    graph->node_count++;
    for (size_t i = 0; i < graph->output_count; i++)
        if (strcmp(graph->outputs[i].name, "logits") == 0) {
            graph->outputs[i].name = "narrow";
            graph->outputs[i].dtype = narrow;
        }
}

/* Written apart from the engine's own: sign, exponent and fraction by hand. */
static double wide(uint16_t bits)
{
    int exponent_bits = narrow == ASSAY__FLOAT16 ? 5 : 8, fraction_bits = 15 - exponent_bits;
    int bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    double fraction = (double)(bits & ((1 << fraction_bits) - 1)) / (1 << fraction_bits);
    double size = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
    return bits & 0x8000 ? -size : size;
}

static void check_narrow(enum assay__dtype dtype)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    find_library();
    narrow = dtype;
    for (int64_t tokens = 1; tokens <= 6; tokens++) {
        struct decoder decoder = decoder_make(TINY_LLAMA, tokens, add_cast);
        CHECK_STR(decoder.generation.logits, "narrow");
        decoder_inputs(&decoder, 1, 4);
        for (int64_t i = 0; i < 4; i++)
            decoder.ids[i] = prompt_id(0, i);
        struct assay__session *session = decoder_open(&decoder, true);
        struct assay__token_times times = {0};
        CHECK_INT(ort->step(session, 0), 0);
        CHECK_INT(ort->tokens(session, &times, NULL), 0);
        const struct assay__host_tensor *logits = output(session, "narrow");
        CHECK_INT(logits->dtype, (int)dtype);
        const uint16_t *row = (const uint16_t *)logits->data + (logits->dims[1] - 1) * 97;
        int64_t best = 0;
        for (int64_t i = 1; i < 97; i++)
            if (wide(row[i]) > wide(row[best])) best = i;
        CHECK_INT(times.ids[tokens - 1], best);
        ort->close(session);
        decoder_free(&decoder);
    }
}

static void test_half_logits(void)
{
    check_narrow(ASSAY__FLOAT16);
    check_narrow(ASSAY__BFLOAT16);
}

/* --- counting decoders: every input of every run shows in the tokens -------------------------- */

/* tests/oracle/make_generate_models.py: token = (sum of all ids + 3 place + 5 length + 7 id) mod
 * 97. */
static void check_counter(const char *name, int64_t batch, int64_t prompt, int64_t tokens)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/tests/fixtures/models/generate/%s.onnx", ASSAY_TEST_ROOT, name);
    find_library();
    struct assay__run_options options = {.workload.model = path,
                                         .workload.batch = batch,
                                         .workload.generate = tokens,
                                         .workload.prompt = prompt,
                                         .measuring.iterations = 2,
                                         .workload.seed = 5,
                                         .target.threads = 1};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    struct assay_profile *profile = run(&options);
    /* The prompt as the worker fills it. */
    struct assay__model *model = read_model(path);
    struct assay__workload *workload = NULL;
    struct assay__workload_options plan = {.batch = batch, .sequence = prompt, .seed = 5};
    CHECK_INT(assay__workload_plan(model, &plan, &workload, NULL), 0);
    const struct assay__input_plan *ids = &workload->inputs[0];
    CHECK_STR(ids->name, "input_ids");
    CHECK_INT(ids->dims[1], prompt);
    void *data = calloc(1, ids->bytes + 8);
    CHECK_INT(assay__input_fill(ids, data, NULL), 0);
    int64_t sum = 0, last = 0;
    for (int64_t i = 0; i < prompt; i++) {
        last = ids->dtype == ASSAY__INT64 ? ((int64_t *)data)[i] : ((int32_t *)data)[i];
        sum += last;
    }
    const struct assay__generation_info *said = &profile->trials[0].generation;
    CHECK_INT(said->id_count, tokens);
    for (int64_t token = 0; token < tokens; token++) {
        int64_t length = prompt + token; /* tokens before this one; the last stands at length - 1 */
        last = (sum + 3 * (length - 1) + 5 * length + 7 * last) % 97;
        sum += last;
        CHECK_INT(said->ids[token], last);
    }
    free(data);
    assay__workload_free(workload);
    assay__model_free(model);
    assay_profile_close(profile);
}

static void test_counters(void)
{
    check_counter("counter", 1, 4, 20);
    check_counter("counter", 3, 1, 9);
    check_counter("counter32", 1, 4, 20);
    check_counter("counter32", 2, 7, 1);
}

/* Ids that are given have their own length; the default is for those that are not. */
static void test_prompt_by_shape(void)
{
    char path[1024], shape[] = "input_ids=1x9";
    const char *shapes[] = {shape};
    snprintf(path, sizeof path, "%s/tests/fixtures/models/generate/counter.onnx", ASSAY_TEST_ROOT);
    struct assay__run_options options = options_of("steady=1ms", 2);
    options.workload.model = path;
    options.workload.shapes = shapes;
    options.workload.shape_count = 1;
    struct assay_profile *profile = run(&options);
    CHECK_STR(option(profile, "prompt"), "9");
    CHECK_NEAR(value(profile, "llm.prefill"), 9000, 1e-6);
    CHECK_INT(profile->trials[0].inputs[1].dims[1], 9); /* the mask follows */
    assay_profile_close(profile);
    options.workload.shape_count = 0;
    profile = run(&options);
    CHECK_STR(option(profile, "prompt"), "32");
    assay_profile_close(profile);
}

/* A table of positions that ends: the message says where the generation was. */
static void test_beyond_context(void)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    find_library();
    struct decoder decoder = decoder_make(TINY_GPT2, 10, NULL);
    decoder_inputs(&decoder, 1, 60);
    struct assay__session *session = decoder_open(&decoder, true);
    CHECK(ort->step(session, 0) != 0); /* 64 positions: the sixth token has none */
    CHECK_HAS(ort->step_error(session), "token 6 of 10, after 65 tokens of context");
    ort->close(session);
    decoder_free(&decoder);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"exact", test_exact},
        {"cache_and_device", test_cache_and_device},
        {"one_token", test_one_token},
        {"warmup_is_not_counted", test_warmup_is_not_counted},
        {"launches_and_keeping", test_launches_and_keeping},
        {"at_least_three", test_at_least_three},
        {"dropped", test_dropped},
        {"refused", test_refused},
        {"lies", test_lies},
        {"flops", test_flops},
        {"cache_gpt2", test_cache_gpt2},
        {"cache_llama", test_cache_llama},
        {"half_logits", test_half_logits},
        {"counters", test_counters},
        {"prompt_by_shape", test_prompt_by_shape},
        {"beyond_context", test_beyond_context},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
