/* test_ncp.c - cfc and ltc of the zoo against what PyTorch's ncps computes with the same wiring,
 * weights and inputs (tests/fixtures/ncp, or the folder that ASSAY_TEST_NCP names; the script that
 * wrote it: tests/oracle/ncp_outputs.py), in every form: unrolled, as a Scan, and one step at a
 * time with the state fed back. Weights and inputs are computed here by the script's formula. Then:
 * every value of a run is finite and not denormal, weight files that do not fit are refused. */
#include "unit/scratch.h"
#include "unit/zoo_check.h"

#include "base/buf.h"
#include "zoo/safetensors.h"

#define TOLERANCE 1e-5

/* --- the formula of ncp_outputs.py ------------------------------------------------------------ */

static bool ends_with(const char *text, const char *suffix)
{
    size_t a = strlen(text), b = strlen(suffix);
    return a >= b && strcmp(text + a - b, suffix) == 0;
}

static void formula(const char *name, float *out, size_t count)
{
    static const struct {
        const char *suffix;
        double middle, amplitude;
    } ranges[] = {{"sigma", 5.5, 2.5}, {"mu", 0.55, 0.25},  {".w", 0.5, 0.4},     {"_w", 0.5, 0.4},
                  {"cm", 0.5, 0.1},    {"gleak", 0.5, 0.4}, {"vleak", 0, 0.2},    {"put_w", 1, 0.1},
                  {"put_b", 0, 0.1},   {"erev", 0, 1},      {"step_dt", 0.9, 0.6}};
    double middle = 0, amplitude = 0.3, phase = 0;
    int sum = 0;
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (ends_with(name, ranges[i].suffix))
            middle = ranges[i].middle, amplitude = ranges[i].amplitude;
    if (strcmp(name, "dt") == 0) middle = 0.9, amplitude = 0.6;
    if (strcmp(name, "input") == 0 || strcmp(name, "h0") == 0 || strcmp(name, "c0") == 0)
        amplitude = 0.9;
    for (const char *at = name; *at; at++)
        sum += (unsigned char)*at;
    phase = (double)(sum % 100) / 10;
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(middle + amplitude * sin((1.7 + phase / 50) * (double)i + phase));
}

/* --- weight files ----------------------------------------------------------------------------- */

static bool is_weight(const struct assay__tensor *tensor)
{
    return strncmp(tensor->name, "rnn_cell.", 9) == 0 || strncmp(tensor->name, "lstm.", 5) == 0;
}

static void put_header(struct assay__buf *header, const struct assay__tensor *tensor,
                       size_t *offset)
{
    size_t bytes = (size_t)tensor->elements * 4;
    assay__buf_printf(header, "%c\"%s\":{\"dtype\":\"F32\",\"shape\":[", *offset ? ',' : '{',
                      tensor->name);
    for (int d = 0; d < tensor->rank; d++)
        assay__buf_printf(header, "%s%lld", d ? "," : "", (long long)tensor->dims[d]);
    assay__buf_printf(header, "],\"data_offsets\":[%zu,%zu]}", *offset, *offset + bytes);
    *offset += bytes;
}

/* All weights of a model, by the formula, as a .safetensors file. */
static void write_weights(const struct assay__model *model, const char *path)
{
    struct assay__buf header = {.data = NULL}, all = {.data = NULL};
    const struct assay__graph *graph = &model->graph;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < graph->initializer_count; i++)
        if (is_weight(&graph->initializers[i]))
            put_header(&header, &graph->initializers[i], &total);
    assay__buf_putc(&header, '}');
    float *data = malloc(total);
    CHECK(data != NULL && total > 0);
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        if (!is_weight(tensor)) continue;
        formula(tensor->name, data + at, (size_t)tensor->elements);
        at += (size_t)tensor->elements;
    }
    uint64_t length = header.length;
    assay__buf_add(&all, &length, 8);
    assay__buf_add(&all, header.data, header.length);
    assay__buf_add(&all, data, total);
    CHECK(!all.failed);
    CHECK_INT(assay__file_write(path, all.data, all.length, NULL), 0);
    assay__buf_free(&header);
    assay__buf_free(&all);
    free(data);
}

static struct assay__model *build_with_formula(const char *spec)
{
    const char *path = scratch("weights.safetensors");
    char name[1024];
    struct assay__model *plain = zoo_built(spec);
    write_weights(plain, path);
    assay__model_free(plain);
    snprintf(name, sizeof name, "%s,weights=%s", spec, path);
    return zoo_built(name);
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

struct io {
    struct assay__host_tensor inputs[4];
    int64_t dims[4][3];
    size_t count;
};

static void make_inputs(const struct assay__model *model, int64_t batch, struct io *io)
{
    const struct assay__graph *graph = &model->graph;
    memset(io, 0, sizeof *io);
    CHECK(graph->input_count <= 4);
    for (; io->count < graph->input_count; io->count++) {
        const struct assay__value *value = &graph->inputs[io->count];
        size_t elements = 1;
        for (int d = 0; d < value->rank; d++) {
            int64_t size = value->dims[d].value >= 0 ? value->dims[d].value : batch;
            io->dims[io->count][d] = size;
            elements *= (size_t)size;
        }
        float *data = calloc(elements, sizeof *data);
        CHECK(data != NULL);
        formula(value->name, data, elements);
        io->inputs[io->count] = (struct assay__host_tensor){.name = value->name,
                                                            .dtype = (int)value->dtype,
                                                            .rank = value->rank,
                                                            .dims = io->dims[io->count],
                                                            .data = data,
                                                            .data_size = elements * 4};
    }
}

static void free_inputs(struct io *io)
{
    for (size_t i = 0; i < io->count; i++)
        free(io->inputs[i].data);
}

static const struct assay__host_tensor *find_tensor(const struct assay__host_tensor *list,
                                                    size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}

static void compare(const char *what, const float *actual, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(actual[i] - expected[i]) <= TOLERANCE)) {
            printf("  %s: element %zu is %.9g, expected %.9g\n", what, i, (double)actual[i],
                   (double)expected[i]);
            harness_fail(__FILE__, __LINE__, "differs from ncps");
        }
}

/* --- the cases -------------------------------------------------------------------------------- */

struct test_case {
    char number[8], spec[600];
    struct assay__safetensors *expected;
};

static const float *expected_of(const struct test_case *test, const char *name, size_t *count)
{
    char key[64];
    snprintf(key, sizeof key, "%s/%s", test->number, name);
    struct assay__safetensor *tensor = assay__safetensors_find(test->expected, key);
    if (!tensor) return NULL;
    float *values = calloc((size_t)tensor->elements + 1, sizeof *values);
    CHECK(values != NULL);
    CHECK_INT(assay__safetensor_floats(tensor, values, NULL), 0);
    *count = (size_t)tensor->elements;
    return values;
}

static void compare_all(const struct test_case *test, const char *form,
                        const struct assay__host_tensor *outputs, size_t output_count)
{
    static const char *const names[] = {"output", "hn", "cn"};
    for (size_t i = 0; i < 3; i++) {
        const struct assay__host_tensor *made = find_tensor(outputs, output_count, names[i]);
        size_t count = 0;
        const float *wanted = expected_of(test, names[i], &count);
        char what[800];
        CHECK_INT(made != NULL, wanted != NULL);
        if (!made) continue;
        snprintf(what, sizeof what, "%s, %s, %s", test->spec, form, names[i]);
        CHECK_INT(made->data_size, count * 4);
        compare(what, made->data, wanted, count);
        free((void *)(uintptr_t)wanted);
    }
}

/* Unrolled or scan: the whole sequence in one run. */
static void check_sequence(const struct test_case *test, const char *form)
{
    char spec[700];
    struct zoo_session zoo = {.session = NULL};
    struct io io;
    size_t count = 0;
    snprintf(spec, sizeof spec, "%s,form=%s", test->spec, form);
    struct assay__model *model = build_with_formula(spec);
    make_inputs(model, 1, &io);
    zoo.inputs = io.inputs;
    zoo.input_count = io.count;
    zoo_open(&zoo, model);
    const struct assay__host_tensor *outputs = zoo_step(&zoo, &count);
    compare_all(test, form, outputs, count);
    zoo_close(&zoo);
    free_inputs(&io);
    assay__model_free(model);
}

/* Takes ",key=value" out of a spec; its number. */
static int64_t cut(char *spec, const char *key)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, ",%s=", key);
    char *at = strstr(spec, wanted);
    CHECK(at != NULL);
    char *value = at + strlen(wanted), *end = value + strcspn(value, ",");
    int64_t number = strtoll(value, NULL, 10);
    memmove(at, end, strlen(end) + 1);
    return number;
}

/* x[:, t] of a [batch, seq, width] array made by the formula. */
static void fill_step(struct io *io, const char *name, int64_t batch, int64_t seq, int64_t width,
                      int64_t t)
{
    struct assay__host_tensor *to = (void *)(uintptr_t)find_tensor(io->inputs, io->count, name);
    if (!to) return;
    float *all = calloc((size_t)(batch * seq * width), sizeof *all), *data = to->data;
    CHECK(all != NULL);
    formula(name, all, (size_t)(batch * seq * width));
    for (int64_t b = 0; b < batch; b++)
        memcpy(data + b * width, all + (b * seq + t) * width, (size_t)width * 4);
    free(all);
}

static void feed_back(struct io *io, const char *input, const struct assay__host_tensor *outputs,
                      size_t count, const char *output)
{
    const struct assay__host_tensor *from = find_tensor(outputs, count, output),
                                    *to = find_tensor(io->inputs, io->count, input);
    CHECK_INT(from != NULL, to != NULL);
    if (!from) return;
    CHECK_INT(from->data_size, to->data_size);
    memcpy(to->data, from->data, to->data_size);
}

/* Every step through the one-step model (of symbolic batch), the state fed back; outputs joined. */
static void check_steps(const struct test_case *test)
{
    struct test_case own = *test;
    struct zoo_session zoo = {.session = NULL};
    struct io io;
    bool last_only = strstr(own.spec, "return_sequences=0") != NULL;
    int64_t seq = cut(own.spec, "seq"), batch = cut(own.spec, "batch");
    struct assay__model *model = build_with_formula(own.spec);
    make_inputs(model, batch, &io);
    zoo.inputs = io.inputs;
    zoo.input_count = io.count;
    zoo_open(&zoo, model);
    size_t count = 0, wanted_count = 0;
    const float *wanted = expected_of(test, "output", &wanted_count);
    CHECK(wanted != NULL);
    for (int64_t t = 0; t < seq; t++) {
        fill_step(&io, "input", batch, seq, io.dims[0][1], t);
        fill_step(&io, "dt", batch, seq, 1, t);
        const struct assay__host_tensor *outputs = zoo_step(&zoo, &count),
                                        *y = find_tensor(outputs, count, "output");
        size_t width = y->data_size / 4 / (size_t)batch;
        for (int64_t b = 0; b < batch && (!last_only || t == seq - 1); b++)
            compare(own.spec, (const float *)y->data + (size_t)b * width,
                    wanted + (last_only ? (size_t)b : (size_t)(b * seq + t)) * width, width);
        feed_back(&io, "h0", outputs, count, "hn");
        feed_back(&io, "c0", outputs, count, "cn");
    }
    free((void *)(uintptr_t)wanted);
    zoo_close(&zoo);
    free_inputs(&io);
    assay__model_free(model);
}

static const char *fixtures(void)
{
    const char *given = getenv("ASSAY_TEST_NCP");
    return given ? given : ASSAY_TEST_ROOT "/tests/fixtures/ncp";
}

/* kind: "cfc:" or "ltc:". */
static void each_case(const char *kind, void (*check)(const struct test_case *test))
{
    char path[600], line[700];
    struct assay__safetensors expected;
    struct assay__arena *arena = assay__arena_new();
    struct assay_error error = {0};
    size_t count = 0;
    snprintf(path, sizeof path, "%s/expected.safetensors", fixtures());
    ZOO_MUST(assay__safetensors_open(path, arena, &expected, &error));
    snprintf(line, sizeof line, "%s/cases.txt", fixtures());
    FILE *file = fopen(line, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file)) {
        struct test_case test = {.expected = &expected};
        CHECK_INT(sscanf(line, "%7s %599s", test.number, test.spec), 2);
        if (strncmp(test.spec, kind, 4) != 0) continue;
        check(&test);
        count++;
    }
    fclose(file);
    CHECK(count >= 10);
    assay__safetensors_close(&expected);
    assay__arena_free(arena);
}

static void unrolled(const struct test_case *test)
{
    check_sequence(test, "unrolled");
}
static void scan(const struct test_case *test)
{
    check_sequence(test, "scan");
}
static void test_cfc_unrolled(void)
{
    each_case("cfc:", unrolled);
}
static void test_cfc_scan(void)
{
    each_case("cfc:", scan);
}
static void test_cfc_steps(void)
{
    each_case("cfc:", check_steps);
}
static void test_ltc_unrolled(void)
{
    each_case("ltc:", unrolled);
}
static void test_ltc_scan(void)
{
    each_case("ltc:", scan);
}
static void test_ltc_steps(void)
{
    each_case("ltc:", check_steps);
}

/* A file that the package safetensors wrote from a torch state_dict. */
static void test_real_weights(void)
{
    struct assay__safetensors known;
    struct assay__arena *arena = assay__arena_new();
    struct assay_error error = {0};
    struct zoo_session zoo = {.session = NULL};
    struct io io;
    size_t count = 0;
    ZOO_MUST(assay__safetensors_open(ASSAY_TEST_ROOT "/tests/fixtures/ncp/real_io.safetensors",
                                     arena, &known, &error));
    struct assay__model *model = zoo_built(
        "cfc:units=12,outputs=3,inputs=4,seq=4,batch=2,dt=input,mixed_memory=1,"
        "weights=" ASSAY_TEST_ROOT "/tests/fixtures/ncp/real.safetensors");
    make_inputs(model, 2, &io);
    for (size_t i = 0; i < io.count; i++) /* the formula's inputs are the file's */
        compare(
            io.inputs[i].name, io.inputs[i].data,
            (const float *)(const void *)assay__safetensors_find(&known, io.inputs[i].name)->data,
            io.inputs[i].data_size / 4);
    zoo.inputs = io.inputs;
    zoo.input_count = io.count;
    zoo_open(&zoo, model);
    const struct assay__host_tensor *outputs = zoo_step(&zoo, &count);
    CHECK_INT(count, 3);
    for (size_t i = 0; i < count; i++) {
        const struct assay__safetensor *tensor = assay__safetensors_find(&known, outputs[i].name);
        CHECK(tensor != NULL);
        CHECK_INT(tensor->size, outputs[i].data_size);
        compare(outputs[i].name, outputs[i].data, (const float *)(const void *)tensor->data,
                tensor->size / 4);
    }
    zoo_close(&zoo);
    free_inputs(&io);
    assay__model_free(model);
    assay__safetensors_close(&known);
    assay__arena_free(arena);
}

/* --- every value finite and normal ------------------------------------------------------------ */

static void test_finite(void)
{
    static const char *const names[] = {
        "cfc",
        "ltc",
        "cfc:seq=16",
        "ltc:seq=16",
        "cfc:mode=no_gate,seq=16,dt=input",
        "cfc:mode=pure,seq=16,dt=input",
        "cfc:backbone_units=64x32,seq=16,mixed_memory=1",
        "cfc:wiring=random,seq=4",
        "cfc:wiring=full,seq=4,form=scan",
        "ltc:wiring=full,seq=8",
        "ltc:wiring=random,seq=8,mixed_memory=1,dt=input",
        "ltc:wiring=ncp,seq=4",
        "cfc:units=256,outputs=32,seq=4",
        "ltc:seq=16,form=scan",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        zoo_check_run_sized(names[i], i % 2 ? 3 : 1, 0);
}

/* Trainable parameters, as torch counts them for the same networks. */
static void test_parameters(void)
{
    static const struct {
        const char *name;
        int64_t parameters;
    } known[] = {
        {"cfc", 13220},
        {"cfc:mode=pure", 3433},
        {"cfc:backbone_units=128,units=64,inputs=32", 45440},
        {"cfc:mixed_memory=1", 13220 + 24832},
        {"ltc", 24864},
        {"cfc:seq=16", 13220},
        {"ltc:seq=16,form=scan", 24864},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct assay__model *model = zoo_built(known[i].name);
        int64_t elements = 0;
        for (size_t k = 0; k < model->graph.initializer_count; k++)
            if (is_weight(&model->graph.initializers[k]))
                elements += model->graph.initializers[k].elements;
        CHECK_INT(elements, known[i].parameters);
        assay__model_free(model);
    }
}

/* The same name gives the same file; another seed another wiring. */
static void test_deterministic(void)
{
    char *texts[3];
    size_t lengths[3];
    const char *const names[] = {"cfc:seq=3", "cfc:seq=3", "cfc:seq=3,seed=1"};
    for (int i = 0; i < 3; i++) {
        struct assay__model *model = zoo_built(names[i]);
        const char *path = scratch("same.onnx");
        CHECK_INT(assay__model_write(model, path, NULL), 0);
        CHECK_INT(assay__file_read(path, 1 << 24, &texts[i], &lengths[i], NULL), 0);
        assay__model_free(model);
    }
    CHECK_INT(lengths[0], lengths[1]);
    CHECK_INT(memcmp(texts[0], texts[1], lengths[0]), 0);
    CHECK(lengths[0] != lengths[2] || memcmp(texts[0], texts[2], lengths[0]) != 0);
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void refused(const char *name, const char *why)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    int code = assay__zoo_build(name, &model, &error);
    if (code == 0) printf("  %s\n", name);
    CHECK(code != 0);
    CHECK(model == NULL);
    CHECK_HAS(error.message, why);
}

static void test_refused(void)
{
    refused("cfc:unit=3", "nearest is 'units'");
    refused("cfc:wiring=autoncp,backbone_units=8", "backbone mixes all neurons");
    refused("cfc:backbone_units=8x", "backbone_units=8x");
    refused("cfc:backbone_units=8x4,backbone_layers=3", "3 backbone_layers");
    refused("cfc:units=18,outputs=16", "16 outputs of 18 units");
    refused("cfc:seq=4,form=step", "form=step is a single time step:");
    refused("cfc:dt=-1", "dt must be a time");
    refused("cfc:dt=nan", "dt must be a time");
    refused("cfc:mode=fast", "one of default|no_gate|pure");
    refused("cfc:inter=3", "require wiring=ncp");
    refused("cfc:wiring=ncp,inter=4,command=3,outputs=2,sensory_fanout=9", "sensory_fanout of 9");
    refused("cfc:wiring=ncp,inter=4,command=3,outputs=2,units=10", "units is not the sum");
    refused("cfc:wiring=ncp,inter=4090,command=30,outputs=2", "4122 units");
    refused("ltc:unfolds=0", "unfolds must be");
    refused("ltc:mode=pure", "no parameter 'mode'");
    refused("cfc:weights=/nonexistent.safetensors", "nonexistent");
    refused("ltc:weights=" ASSAY_TEST_ROOT "/tests/fixtures/ncp/real.safetensors", "no tensor");
    refused("cfc:units=12,outputs=3,inputs=4,mixed_memory=1,seed=1,"
            "weights=" ASSAY_TEST_ROOT "/tests/fixtures/ncp/real.safetensors",
            "mask of another wiring");
    refused("cfc:units=12,outputs=3,inputs=4,"
            "weights=" ASSAY_TEST_ROOT "/tests/fixtures/ncp/real.safetensors",
            "is not a weight of this network");
    refused("cfc:units=12,outputs=4,inputs=4,mixed_memory=1,"
            "weights=" ASSAY_TEST_ROOT "/tests/fixtures/ncp/real.safetensors",
            "differs from this network");
}

static void refused_file(const char *header, uint64_t length, size_t data, const char *why)
{
    struct assay__buf all = {.data = NULL};
    struct assay__safetensors file;
    struct assay__arena *arena = assay__arena_new();
    struct assay_error error = {0};
    const char *path = scratch("bad.safetensors");
    assay__buf_add(&all, &length, 8);
    assay__buf_puts(&all, header);
    assay__buf_repeat(&all, "x", data);
    CHECK_INT(assay__file_write(path, all.data, all.length, NULL), 0);
    CHECK_INT(assay__safetensors_open(path, arena, &file, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, why);
    assay__buf_free(&all);
    assay__arena_free(arena);
}

static void bad_header(const char *header, size_t data, const char *why)
{
    refused_file(header, strlen(header), data, why);
}

static void test_bad_files(void)
{
    refused_file("{}", 3, 0, "truncated");
    refused_file("{}", UINT64_MAX, 0, "truncated");
    refused_file("[]", 2, 0, "not a .safetensors");
    bad_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4,
               "outside the file");
    bad_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8,
               "outside the file");
    bad_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8,
               "does not match its shape");
    bad_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8,
               "not a valid size");
    bad_header(
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,8]}}", 8,
        "not a valid size");
    bad_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "data_offsets");
    bad_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
               "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
               8, "twice");
    bad_header("{\"a\":7}", 0, "shape is missing");
    bad_header("{\"a\":{", 0, "");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"cfc_unrolled", test_cfc_unrolled}, {"cfc_scan", test_cfc_scan},
        {"cfc_steps", test_cfc_steps},       {"ltc_unrolled", test_ltc_unrolled},
        {"ltc_scan", test_ltc_scan},         {"ltc_steps", test_ltc_steps},
        {"real_weights", test_real_weights}, {"finite", test_finite},
        {"parameters", test_parameters},     {"deterministic", test_deterministic},
        {"refused", test_refused},           {"bad_files", test_bad_files},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
