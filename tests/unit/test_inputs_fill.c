/* test_inputs_fill.c - the values of inputs: fills of every data type against known bit patterns,
 * strings, .npy in and out, plans as JSON. */
#include "inputs_fixture.h"

#include "base/json.h"
#include "model/inputs/npy.h"

/* --- fills ------------------------------------------------------------------------------------ */

static void fill(struct assay__input_plan *plan, enum assay__dtype dtype, int64_t count, void *out)
{
    static int64_t dims[1];
    struct assay_error error = {.code = 0};
    dims[0] = count;
    plan->name = "x";
    plan->dtype = dtype;
    plan->rank = 1;
    plan->dims = dims;
    plan->bytes = assay__dtype_bytes(dtype, count);
    if (assay__input_fill(plan, out, &error)) harness_fail(__FILE__, __LINE__, error.message);
}

static void expect_bits(enum assay__dtype dtype, double value, uint64_t bits)
{
    uint8_t out[16] = {0};
    uint64_t got = 0;
    struct assay__input_plan plan = {.fill = ASSAY__FILL_CONSTANT, .low = value, .high = value};
    fill(&plan, dtype, 1, out);
    memcpy(&got, out, 8);
    if (got != bits)
        printf("  %s of %g is %llx\n", assay__dtype_name(dtype), value, (unsigned long long)got);
    CHECK(got == bits);
}

/* Bit patterns of IEEE 754 binary16, bfloat16 and the OCP / FNUZ 8-bit formats. */
static void test_fill_bits(void)
{
    expect_bits(ASSAY__FLOAT32, -1.5, 0xbfc00000);
    expect_bits(ASSAY__FLOAT64, 1, 0x3ff0000000000000);
    expect_bits(ASSAY__FLOAT16, 1, 0x3c00);
    expect_bits(ASSAY__FLOAT16, -2, 0xc000);
    expect_bits(ASSAY__FLOAT16, 65504, 0x7bff);
    expect_bits(ASSAY__FLOAT16, 1e9, 0x7bff);                   /* cut: inputs are finite */
    expect_bits(ASSAY__FLOAT16, 5.9604644775390625e-8, 0x0001); /* smallest subnormal */
    expect_bits(ASSAY__FLOAT16, 6.103515625e-5, 0x0400);        /* smallest normal */
    expect_bits(ASSAY__FLOAT16, 1.00048828125, 0x3c00);         /* tie to even, down */
    expect_bits(ASSAY__FLOAT16, 1.00146484375, 0x3c02);         /* tie to even, up */
    expect_bits(ASSAY__FLOAT16, 0.9999, 0x3c00);                /* carries into the exponent */
    expect_bits(ASSAY__BFLOAT16, 1, 0x3f80);
    expect_bits(ASSAY__BFLOAT16, 3.140625, 0x4049);
    expect_bits(ASSAY__FLOAT8E4M3FN, 1, 0x38);
    expect_bits(ASSAY__FLOAT8E4M3FN, 448, 0x7e);
    expect_bits(ASSAY__FLOAT8E4M3FNUZ, 1, 0x40);
    expect_bits(ASSAY__FLOAT8E5M2, 1, 0x3c);
    expect_bits(ASSAY__FLOAT8E5M2FNUZ, 1, 0x40);
    expect_bits(ASSAY__FLOAT8E4M3FNUZ, -0.0, 0x00); /* 0x80 would be NaN */
    expect_bits(ASSAY__FLOAT8E8M0, 1, 127);
    expect_bits(ASSAY__FLOAT4E2M1, 6, 0x07);
    expect_bits(ASSAY__FLOAT4E2M1, -0.5, 0x09);
    expect_bits(ASSAY__INT64, -1, UINT64_MAX);
    expect_bits(ASSAY__INT8, -128, 0x80);
    expect_bits(ASSAY__UINT16, 65535, 0xffff);
    expect_bits(ASSAY__BOOL, 1, 1);
    expect_bits(ASSAY__INT4, -3, 0x0d);
}

/* The generator as doc/run.md describes it, written from that page alone. */
static uint64_t documented_draw(uint64_t state[4])
{
    uint64_t times5 = state[1] * 5, result = ((times5 << 7) | (times5 >> 57)) * 9;
    uint64_t t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = (state[3] << 45) | (state[3] >> 19);
    return result;
}

static void documented_seed(uint64_t seed, uint64_t state[4])
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        state[i] = z ^ (z >> 31);
    }
}

/* Input 1 of a model: its seed follows from that of the run, its numbers from its seed. */
static void test_documented_generator(void)
{
    struct assay__model *model = image_model("1,3,4,4");
    fixture_input(model, "z", ASSAY__FLOAT32, "2,5");
    struct assay__workload_options options = {.seed = 7};
    struct assay__workload *workload = plan_ok(model, &options);
    struct assay__input_plan *plan = &workload->inputs[1];
    uint64_t state[4], seed = 7 + 0x9e3779b97f4a7c15u * 2;
    CHECK(plan->seed == seed);
    CHECK_INT(plan->fill, ASSAY__FILL_UNIFORM);
    float floats[10];
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__input_fill(plan, floats, &error), 0);
    documented_seed(seed, state);
    for (int i = 0; i < 10; i++) {
        double unit = (double)(documented_draw(state) >> 11) / 9007199254740992.0;
        CHECK(floats[i] == (float)(plan->low + (plan->high - plan->low) * unit));
    }
    struct assay__input_plan whole = {
        .fill = ASSAY__FILL_INTEGERS, .low = 3, .high = 12, .seed = seed};
    int64_t integers[10];
    fill(&whole, ASSAY__INT64, 10, integers);
    documented_seed(seed, state);
    for (int i = 0; i < 10; i++) {
        uint64_t draw;
        do
            draw = documented_draw(state);
        while (draw < (UINT64_MAX % 10 + 1) % 10);
        CHECK_INT(integers[i], 3 + (int64_t)(draw % 10));
    }
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_fill_values(void)
{
    float floats[1000], again[1000];
    struct assay__input_plan plan = {.fill = ASSAY__FILL_UNIFORM, .low = -1, .high = 1, .seed = 9};
    double sum = 0;
    fill(&plan, ASSAY__FLOAT32, 1000, floats);
    fill(&plan, ASSAY__FLOAT32, 1000, again);
    CHECK_INT(memcmp(floats, again, sizeof floats), 0);
    for (int i = 0; i < 1000; i++) {
        CHECK(floats[i] >= -1 && floats[i] < 1);
        sum += (double)floats[i];
    }
    CHECK(fabs(sum / 1000) < 0.1);
    plan.seed = 10;
    fill(&plan, ASSAY__FLOAT32, 1000, again);
    CHECK(memcmp(floats, again, sizeof floats) != 0);
    int64_t integers[1000];
    int seen[5] = {0};
    plan = (struct assay__input_plan){.fill = ASSAY__FILL_INTEGERS, .low = -2, .high = 2};
    fill(&plan, ASSAY__INT64, 1000, integers);
    for (int i = 0; i < 1000; i++) {
        CHECK(integers[i] >= -2 && integers[i] <= 2);
        seen[integers[i] + 2]++;
    }
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] > 100);
    plan = (struct assay__input_plan){.fill = ASSAY__FILL_RANGE, .high = 3};
    fill(&plan, ASSAY__INT64, 6, integers);
    static const int64_t expected[] = {0, 1, 2, 3, 0, 1};
    CHECK_INT(memcmp(integers, expected, sizeof expected), 0);
    uint8_t packed[2] = {0};
    plan = (struct assay__input_plan){.fill = ASSAY__FILL_RANGE};
    fill(&plan, ASSAY__UINT4, 3, packed); /* 0, 1, 2: low half first */
    CHECK(packed[0] == 0x10 && (packed[1] & 15) == 2);
}

static void test_strings(void)
{
    int64_t dims[] = {2, 3};
    struct assay__input_plan plan = {.name = "x",
                                     .dtype = ASSAY__STRING,
                                     .rank = 2,
                                     .dims = dims,
                                     .fill = ASSAY__FILL_STRINGS,
                                     .seed = 3};
    struct assay__arena *arena = assay__arena_new();
    const char **first = NULL, **second = NULL;
    size_t count = 0;
    CHECK_INT(assay__input_strings(&plan, arena, &first, &count), 0);
    CHECK_INT(count, 6);
    CHECK_INT(assay__input_strings(&plan, arena, &second, &count), 0);
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(first[i], second[i]);
        CHECK(strlen(first[i]) >= 4);
    }
    assay__arena_free(arena);
}

static void test_json_round_trip(void)
{
    int64_t dims[] = {2, 3};
    struct assay__input_plan plan = {.name = "a \"name\"",
                                     .dtype = ASSAY__INT64,
                                     .rank = 2,
                                     .dims = dims,
                                     .bytes = 48,
                                     .fill = ASSAY__FILL_INTEGERS,
                                     .low = 0,
                                     .high = 30521,
                                     .seed = UINT64_MAX - 1,
                                     .file = "",
                                     .why = "ids"},
                             read;
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf buf = {.data = NULL};
    struct assay__json_writer writer;
    struct assay__json *root = NULL;
    assay__json_start(&writer, &buf, false);
    assay__input_to_json(&plan, &writer);
    CHECK_INT(assay__json_parse(arena, buf.data, buf.length, &root, NULL), 0);
    CHECK_INT(assay__input_from_json(root, arena, &read, NULL), 0);
    CHECK_STR(read.name, plan.name);
    CHECK_STR(read.why, "ids");
    CHECK(read.dtype == plan.dtype && read.rank == 2 && read.dims[1] == 3 && read.bytes == 48);
    CHECK(read.seed == plan.seed && read.fill == plan.fill && read.high == 30521);
    static const char *const bad[] = {
        "{}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[-1],\"fill\":\"uniform\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":99,\"dims\":[1],\"fill\":\"uniform\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[1],\"fill\":\"magic\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[1],\"fill\":\"uniform\",\"seed\":\"q\"}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[4611686018427387904,8],\"fill\":\"uniform\","
        "\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":7,\"dims\":[1],\"fill\":\"integers\",\"seed\":\"1\",\"high\":"
        "1e300}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(assay__json_parse(arena, bad[i], strlen(bad[i]), &root, NULL), 0);
        CHECK_INT(assay__input_from_json(root, arena, &read, NULL), ASSAY_EFORMAT);
    }
    assay__buf_free(&buf);
    assay__arena_free(arena);
}

/* --- npy -------------------------------------------------------------------------------------- */

/* A version-1 file with this header text and data. */
static struct assay__buf npy_file(int major, const char *header, const void *data, size_t size)
{
    struct assay__buf buf = {.data = NULL};
    size_t length = strlen(header);
    assay__buf_add(&buf, "\x93NUMPY", 6);
    assay__buf_putc(&buf, (char)major);
    assay__buf_putc(&buf, 0);
    assay__buf_putc(&buf, (char)(length & 255));
    assay__buf_putc(&buf, (char)(length >> 8));
    if (major > 1) assay__buf_add(&buf, "\0\0", 2);
    assay__buf_add(&buf, header, length);
    assay__buf_add(&buf, data, size);
    return buf;
}

static void test_npy_parse(void)
{
    static const struct {
        const char *header;
        size_t size;
        int code;
        const char *says;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", 8, 0, ""},
        {"{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":True}", 8, 0,
         ""}, /* order makes no difference */
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (), }", 1, 0, ""},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5)}", 0, 0, ""},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16, ASSAY_EFORMAT,
         "Fortran"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, ASSAY_EFORMAT,
         "big-endian"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8, ASSAY_EUNSUPPORTED, "'|O'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, ASSAY_EFORMAT,
         "record"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, ASSAY_EFORMAT, "cut off"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, ASSAY_EFORMAT, "needs 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, ASSAY_EFORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8,
         ASSAY_EFORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8,
         ASSAY_EFORMAT, "large"},
        {"{'descr': '<f4', 'fortran_order': False}", 8, ASSAY_EFORMAT, "lacks"},
        {"{'descr': '<f4', 'extra': 1}", 8, ASSAY_EFORMAT, "unknown key"},
        {"hello", 8, ASSAY_EFORMAT, "malformed"},
        {"{'descr': '<f4", 8, ASSAY_EFORMAT, "malformed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int major = 1; major <= 3; major++) {
            struct assay_error error = {.code = 0};
            struct assay__npy npy;
            struct assay__buf file = npy_file(major, rows[i].header, "0123456789abcdef",
                                              rows[i].size);
            CHECK_INT(assay__npy_parse((uint8_t *)file.data, file.length, &npy, &error),
                      rows[i].code);
            if (rows[i].code) CHECK_HAS(error.message, rows[i].says);
            for (size_t cut = 0; cut < file.length && !rows[i].code;
                 cut++) { /* no prefix is a file */
                uint8_t *copy = malloc(cut ? cut : 1);
                memcpy(copy, file.data, cut);
                int code = assay__npy_parse(copy, cut, &npy, NULL);
                CHECK(code < 0);
                free(copy);
            }
            assay__buf_free(&file);
        }
    struct assay__npy npy;
    CHECK(assay__npy_parse((const uint8_t *)"\x93NUMPY\x04\x00\x00\x00", 10, &npy, NULL) < 0);
}

static void test_npy_round_trip(void)
{
    char path[64];
    static const struct {
        int rank;
        int64_t dims[3];
    } shapes[] = {{0, {0}}, {1, {6}}, {3, {1, 2, 3}}};
    static const float data[] = {1, 2, 3, 4, 5, 6};
    snprintf(path, sizeof path, "/tmp/assay-test-%ld.npy", (long)getpid());
    for (size_t i = 0; i < 3; i++) {
        struct assay__mapping mapping;
        struct assay__npy npy;
        size_t size = i ? sizeof data : 4;
        CHECK_INT(assay__npy_write(path, ASSAY__FLOAT32, shapes[i].rank, shapes[i].dims, data, size,
                                   NULL),
                  0);
        CHECK_INT(assay__file_map(path, &mapping, NULL), 0);
        CHECK_INT(assay__npy_parse(mapping.data, mapping.size, &npy, NULL), 0);
        CHECK_INT((npy.data - mapping.data) % 64, 0);
        CHECK(npy.dtype == ASSAY__FLOAT32 && npy.rank == shapes[i].rank && npy.data_size == size);
        CHECK_INT(memcmp(npy.dims, shapes[i].dims, (size_t)npy.rank * 8), 0);
        CHECK_INT(memcmp(npy.data, data, size), 0);
        assay__file_unmap(&mapping);
    }
    unlink(path);
    CHECK_INT(assay__npy_write(path, ASSAY__STRING, 0, NULL, "", 0, NULL), ASSAY_EUNSUPPORTED);
}

static void test_input_files(void)
{
    char path[64], option[96];
    const char *options_list[] = {option};
    float data[6] = {1, 2, 3, 4, 5, 6}, got[6];
    const int64_t dims[] = {2, 3};
    struct assay__model *model = image_model("batch,3");
    struct assay__workload_options options = {.files = options_list, .file_count = 1};
    snprintf(path, sizeof path, "/tmp/assay-test-in-%ld.npy", (long)getpid());
    snprintf(option, sizeof option, "x=%s", path);
    plan_fails(model, &options, ASSAY_ENOTFOUND, path);
    CHECK_INT(assay__npy_write(path, ASSAY__FLOAT32, 2, dims, data, sizeof data, NULL), 0);
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "2x3"); /* the file says what the batch is */
    CHECK_INT(workload->batch, 2);
    CHECK_INT(workload->inputs[0].fill, ASSAY__FILL_FILE);
    CHECK_INT(assay__input_fill(&workload->inputs[0], got, NULL), 0);
    CHECK_INT(memcmp(got, data, sizeof data), 0);
    struct assay__workload_options twice = {.files = LIST(option, option), .file_count = 2};
    plan_fails(model, &twice, ASSAY_EINVAL, "'x' is given twice");
    struct assay__workload_options both = {
        .files = LIST(option), .file_count = 1, .shapes = LIST("x=2x3"), .shape_count = 1};
    assay__workload_free(plan_ok(model, &both)); /* a shape and a file that agree are fine */
    const int64_t other[] = {3, 2};
    CHECK_INT(assay__npy_write(path, ASSAY__FLOAT32, 2, other, data, sizeof data, NULL), 0);
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__input_fill(&workload->inputs[0], got, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "no longer fits");
    assay__workload_free(workload);
    plan_fails(model, &options, ASSAY_EINVAL, "fixed at 3");
    CHECK_INT(assay__npy_write(path, ASSAY__FLOAT64, 1, dims, data, 16, NULL), 0);
    plan_fails(model, &options, ASSAY_EINVAL, "contains float64, but input 'x' is float32");
    CHECK_INT(assay__file_write(path, "not numpy at all", 16, NULL), 0);
    plan_fails(model, &options, ASSAY_EFORMAT, "does not start with the .npy magic");
    unlink(path);
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fill_bits", test_fill_bits},
        {"documented_generator", test_documented_generator},
        {"fill_values", test_fill_values},
        {"strings", test_strings},
        {"json_round_trip", test_json_round_trip},
        {"npy_parse", test_npy_parse},
        {"npy_round_trip", test_npy_round_trip},
        {"input_files", test_input_files},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
