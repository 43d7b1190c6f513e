/* test_ceiling.c - ceilings: every kernel against plain C, the pointer chase, working sets, the
 * team, and the file that keeps results. No test looks at a speed. Also run under ThreadSanitizer.
 */
#include "base/file.h"
#include "ceiling/ceiling.h"
#include "ceiling/thread_team.h"
#include "ceiling/kernels/kernels.h"
#include "ceiling/pointer_chase.h"
#include "ceiling/ceiling_survey.h"
#include "harness.h"
#include "platform/posix_cpu.h"

#include <stdatomic.h>
#include <sys/stat.h>

/* --- arithmetic ------------------------------------------------------------------------------- */

static float bfloat16(const unsigned char *bytes)
{
    uint32_t bits = (uint32_t)(bytes[0] | bytes[1] << 8) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Operand element i as a number. */
static double element(const struct assay__flops_kernel *kernel, const unsigned char *bytes,
                      size_t i, bool first)
{
    if (strcmp(kernel->type, "bfloat16") == 0) return (double)bfloat16(bytes + 2 * i);
    if (first && kernel->a_unsigned) return bytes[i];
    return (double)(signed char)bytes[i];
}

/* What one step adds to result i, for the forms that add products. */
static double added(const struct assay__flops_kernel *kernel,
                    const struct assay__flops_operands *operands, size_t i)
{
    size_t lane = i % kernel->lanes, depth = kernel->depth;
    double sum = 0;
    if (kernel->form == ASSAY__FLOPS_TILES) {
        size_t row = lane / 16, column = lane % 16, row_elements = 16 * depth;
        for (size_t k = 0; k < 16; k++)
            for (size_t j = 0; j < depth; j++)
                sum += element(kernel, operands->a, row * row_elements + k * depth + j, true) *
                       element(kernel, operands->b, k * row_elements + column * depth + j, false);
        return sum;
    }
    size_t block = kernel->form == ASSAY__FLOPS_PAIRS ? lane / 4 * 2 : 0;
    size_t a = kernel->form == ASSAY__FLOPS_PAIRS ? block + lane % 4 / 2 : lane;
    size_t b = kernel->form == ASSAY__FLOPS_PAIRS ? block + lane % 2 : lane;
    for (size_t k = 0; k < depth; k++)
        sum += element(kernel, operands->a, a * depth + k, true) *
               element(kernel, operands->b, b * depth + k, false);
    return sum;
}

/* bfloat16 operands that make every sum exact in float32: ±1, ±2, ±3 … ±7. */
static void fill_exact(struct assay__flops_operands *operands, const char *type)
{
    static const uint16_t values[] = {0x3f80, 0xc000, 0x4040, 0x4080, 0xc0a0, 0x40c0, 0xc0e0};
    assay__flops_operands_fill(operands, type);
    if (strcmp(type, "bfloat16") != 0) return;
    for (size_t i = 0; i < ASSAY__TILE_BYTES; i += 2) {
        uint16_t a = values[i / 2 % 7], b = values[i / 2 * 3 % 5];
        operands->a[i] = (unsigned char)a;
        operands->a[i + 1] = (unsigned char)(a >> 8);
        operands->b[i] = (unsigned char)b;
        operands->b[i + 1] = (unsigned char)(b >> 8);
    }
}

static double plain_step(const struct assay__flops_kernel *kernel, double r, bool wide,
                         const struct assay__flops_operands *operands)
{
    double m = operands->multiplier, a = operands->addend;
    if (wide) {
        volatile double product = r * m; /* rounded by itself */
        if (kernel->form == ASSAY__FLOPS_SPLIT) return product + a;
        return kernel->form == ASSAY__FLOPS_SUM ? fma(m, a, r) : fma(r, m, a);
    }
    float narrow = (float)r, fm = (float)m, fa = (float)a;
    volatile float product = narrow * fm;
    if (kernel->form == ASSAY__FLOPS_SPLIT) return (double)(product + fa);
    return (double)(kernel->form == ASSAY__FLOPS_SUM ? fmaf(fm, fa, narrow) : fmaf(narrow, fm, fa));
}

/* float64 and float32: bit for bit, with values that round. */
static void check_real(const struct assay__flops_kernel *kernel,
                       struct assay__flops_operands *operands, uint64_t steps)
{
    _Alignas(64) unsigned char results[ASSAY__FLOPS_RESULT_BYTES];
    size_t count = kernel->accumulators * kernel->lanes;
    bool wide = strcmp(kernel->type, "float64") == 0;
    double *doubles = (double *)(void *)results;
    float *floats = (float *)(void *)results;
    operands->multiplier = 0.7;
    operands->addend = 0.1;
    for (size_t i = 0; i < count; i++) {
        if (wide)
            doubles[i] = 1.0 / (double)(i + 3);
        else
            floats[i] = 1.0f / (float)(i + 3);
    }
    kernel->run(steps, operands, results);
    for (size_t i = 0; i < count; i++) {
        double expected = wide ? 1.0 / (double)(i + 3) : (double)(1.0f / (float)(i + 3));
        for (uint64_t step = 0; step < steps; step++)
            expected = plain_step(kernel, expected, wide, operands);
        CHECK((wide ? doubles[i] : (double)floats[i]) == expected);
    }
}

/* float16: 2 r + 1 on small whole numbers is exact; r + 2 · 1 for the form that adds. Bits of 0 …
 * 2048 from the format. */
static uint16_t half_of(unsigned value)
{
    unsigned exponent = 0;
    if (value == 0) return 0;
    while (value >> (exponent + 1))
        exponent++;
    return (uint16_t)((exponent + 15) << 10 | ((value << 10 >> exponent) & 0x3ff));
}

static void check_half(const struct assay__flops_kernel *kernel,
                       struct assay__flops_operands *operands, uint64_t steps)
{
    _Alignas(64) unsigned char results[ASSAY__FLOPS_RESULT_BYTES];
    uint16_t *halves = (uint16_t *)(void *)results;
    size_t count = kernel->accumulators * kernel->lanes;
    operands->half_multiplier = 0x4000;
    operands->half_addend = 0x3c00;
    for (size_t i = 0; i < count; i++)
        halves[i] = half_of((unsigned)i % 31);
    kernel->run(steps, operands, results);
    for (size_t i = 0; i < count; i++) {
        unsigned expected = (unsigned)i % 31;
        for (uint64_t step = 0; step < steps; step++)
            expected = kernel->form == ASSAY__FLOPS_SUM ? expected + 2 : 2 * expected + 1;
        CHECK_INT(halves[i], half_of(expected));
    }
}

/* int8 and bfloat16: sums of products, exact. */
static void check_sums(const struct assay__flops_kernel *kernel,
                       struct assay__flops_operands *operands, uint64_t steps)
{
    _Alignas(64) unsigned char results[ASSAY__FLOPS_RESULT_BYTES];
    size_t count = kernel->accumulators * kernel->lanes;
    bool whole = strcmp(kernel->type, "int8") == 0;
    int32_t *integers = (int32_t *)(void *)results;
    float *floats = (float *)(void *)results;
    fill_exact(operands, kernel->type);
    for (size_t i = 0; i < count; i++) {
        if (whole)
            integers[i] = (int32_t)i * 1000 - 7;
        else
            floats[i] = (float)i - 7;
    }
    kernel->run(steps, operands, results);
    for (size_t i = 0; i < count; i++) {
        double start = whole ? (double)i * 1000 - 7 : (double)i - 7;
        double expected = start + (double)steps * added(kernel, operands, i);
        CHECK_NEAR(whole ? (double)integers[i] : (double)floats[i], expected, 0);
    }
}

static void check_kernels(const char *type)
{
    static const uint64_t counts[] = {0, 1, 2, 5};
    _Alignas(64) struct assay__flops_operands operands;
    unsigned features = assay__cpu_features();
    const struct assay__flops_kernel *kernel;
    int run = 0;
    for (size_t i = 0; (kernel = assay__flops_at(i)); i++) {
        if (strcmp(kernel->type, type) != 0) continue;
        if ((kernel->features & features) != kernel->features) continue;
        printf("  %s %s (%s)\n", type, kernel->simd, kernel->instruction);
        for (size_t n = 0; n < 4; n++) {
            assay__flops_operands_fill(&operands, type);
            if (strcmp(type, "float16") == 0)
                check_half(kernel, &operands, counts[n]);
            else if (type[0] == 'f')
                check_real(kernel, &operands, counts[n]);
            else
                check_sums(kernel, &operands, counts[n]);
        }
        run++;
    }
    if (!run) SKIP("this processor has no instructions for the type");
}

static void test_float64(void)
{
    check_kernels("float64");
}
static void test_float32(void)
{
    check_kernels("float32");
}
static void test_float16(void)
{
    check_kernels("float16");
}
static void test_bfloat16(void)
{
    check_kernels("bfloat16");
}
static void test_int8(void)
{
    check_kernels("int8");
}

/* Operations per step follow from form and sizes; results fit their buffer; operands do not
 * saturate vpmaddubsw. */
static void test_table(void)
{
    const struct assay__flops_kernel *kernel;
    _Alignas(64) struct assay__flops_operands operands;
    size_t count = 0;
    for (; (kernel = assay__flops_at(count)); count++) {
        size_t results = kernel->accumulators * kernel->lanes;
        size_t depth = kernel->form == ASSAY__FLOPS_TILES ? 16 * kernel->depth : kernel->depth;
        size_t size = strcmp(kernel->type, "float64") == 0   ? 8
                      : strcmp(kernel->type, "float16") == 0 ? 2
                                                             : 4;
        CHECK_NEAR(kernel->operations, 2.0 * (double)(results * depth), 0);
        CHECK(results * size <= ASSAY__FLOPS_RESULT_BYTES);
        CHECK(kernel->accumulators >= 4 && kernel->simd[0] && kernel->instruction[0]);
    }
    CHECK(count >= 2);
    assay__flops_operands_fill(&operands, "int8");
    for (size_t i = 0; i < ASSAY__TILE_BYTES; i += 2) {
        int pair = operands.a[i] * (signed char)operands.b[i] +
                   operands.a[i + 1] * (signed char)operands.b[i + 1];
        CHECK(pair > -32768 && pair < 32767);
        CHECK(operands.a[i] != 0 && operands.b[i] != 0);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

#define STREAM_BYTES (5 * ASSAY__STREAM_BLOCK)

/* Three arrays with a guard after each, and what they must hold afterwards. */
static void check_stream(const struct assay__stream_kernel *kernel, uint64_t passes)
{
    static _Alignas(64) unsigned char memory[3][STREAM_BYTES + 64];
    double *a = (double *)(void *)memory[0], *b = (double *)(void *)memory[1];
    double *to = (double *)(void *)memory[2];
    uint64_t words[STREAM_BYTES / 8], sum = 0;
    for (size_t i = 0; i < STREAM_BYTES / 8; i++) {
        a[i] = 1.0 / (double)(i + 1);
        b[i] = (double)i * 0.3;
        to[i] = -1;
    }
    for (size_t i = 0; i < 3; i++)
        memset(memory[i] + STREAM_BYTES, 0xa5, 64);
    struct assay__stream stream = {memory[0], memory[1], memory[2], STREAM_BYTES, 1.7};
    uint64_t got = kernel->run(&stream, passes);
    memcpy(words, memory[0], sizeof words);
    for (size_t i = 0; i < STREAM_BYTES / 8; i++) {
        CHECK(a[i] == 1.0 / (double)(i + 1) && b[i] == (double)i * 0.3);
        sum += words[i] * passes;
        if (passes == 0 || kernel->pattern == ASSAY__STREAM_READ)
            CHECK(to[i] == -1);
        else if (kernel->pattern == ASSAY__STREAM_WRITE)
            CHECK(to[i] == 1.7);
        else if (kernel->pattern == ASSAY__STREAM_COPY)
            CHECK(to[i] == a[i]);
        else
            CHECK_NEAR(to[i], fma(1.7, b[i], a[i]), 1e-15 * (1 + fabs(to[i])));
    }
    CHECK(got == (kernel->pattern == ASSAY__STREAM_READ ? sum : 0));
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 64; k++)
            CHECK_INT(memory[i][STREAM_BYTES + k], 0xa5);
}

static void test_streams(void)
{
    unsigned features = assay__cpu_features();
    const struct assay__stream_kernel *kernel;
    int seen[ASSAY__STREAM_PATTERNS] = {0};
    for (size_t i = 0; (kernel = assay__stream_at(i)); i++) {
        if ((kernel->features & features) != kernel->features) continue;
        printf("  %s %s%s\n", assay__stream_pattern_name(kernel->pattern), kernel->simd,
               kernel->non_temporal ? " non-temporal" : "");
        for (uint64_t passes = 0; passes < 4; passes++)
            check_stream(kernel, passes);
        seen[kernel->pattern]++;
    }
    for (int i = 0; i < ASSAY__STREAM_PATTERNS; i++)
        CHECK(seen[i] >= 1);
}

static void check_chase(size_t lines, size_t line_bytes, size_t rest)
{
    size_t bytes = lines * line_bytes + rest;
    unsigned char *memory = NULL, *seen = calloc(lines, 1);
    CHECK(posix_memalign((void **)&memory, 4096, bytes) == 0 && seen);
    memset(memory, 0xee, bytes);
    CHECK_INT(assay__chase_build(memory, bytes, line_bytes, lines), 0);
    void *at = memory;
    for (size_t hop = 0; hop < lines; hop++) {
        size_t offset = (size_t)((unsigned char *)at - memory);
        CHECK(offset % line_bytes == 0 && offset / line_bytes < lines);
        CHECK_INT(seen[offset / line_bytes]++, 0);
        memcpy(&at, at, sizeof at);
    }
    CHECK(at == memory); /* one cycle, all lines */
    for (size_t i = lines * line_bytes; i < bytes; i++)
        CHECK_INT(memory[i], 0xee);
    /* following: lines steps of 64 hops come back to the start */
    CHECK(assay__chase_follow(memory, lines) == memory);
    void *expected = memory;
    for (size_t hop = 0; hop < 3 * ASSAY__CHASE_HOPS; hop++)
        memcpy(&expected, expected, sizeof expected);
    CHECK(assay__chase_follow(memory, 3) == expected);
    free(memory);
    free(seen);
}

static void test_chase(void)
{
    check_chase(2, 64, 0);
    check_chase(3, 64, 63);
    check_chase(257, 128, 100);
    check_chase(40000, 64, 8);
    char small[64];
    CHECK_INT(assay__chase_build(small, 64, 64, 1), ASSAY_EINVAL);
    CHECK_INT(assay__chase_build(small, 64, 0, 1), ASSAY_EINVAL);
    CHECK_INT(assay__chase_build(small, 64, 12, 1), ASSAY_EINVAL);
}

/* The order is no walk through neighbours: with 4,096 lines a link to the next line is as likely as
 * any. */
static void test_chase_random(void)
{
    enum { LINES = 4096 };
    unsigned char *memory = NULL;
    size_t neighbours = 0;
    CHECK(posix_memalign((void **)&memory, 4096, LINES * 64) == 0);
    CHECK_INT(assay__chase_build(memory, LINES * 64, 64, 1), 0);
    for (size_t i = 0; i < LINES; i++) {
        void *next;
        memcpy(&next, memory + i * 64, sizeof next);
        neighbours += next == memory + (i + 1) * 64;
    }
    CHECK(neighbours < 16);
    free(memory);
}

static void test_levels(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine = {.l1d_bytes = 32 << 10,
                                     .l2_bytes = 1 << 20,
                                     .l3_bytes = 32 << 20,
                                     .memory_bytes = (uint64_t)16 << 30};
    const char *reason;
    CHECK_INT(assay__level_bytes(arena, &machine, 0, 1, 1, &reason), 16 << 10);
    CHECK_INT(assay__level_bytes(arena, &machine, 1, 8, 1, &reason), 512 << 10);
    CHECK_INT(assay__level_bytes(arena, &machine, 2, 1, 1, &reason), 4 << 20);
    CHECK_INT(assay__level_bytes(arena, &machine, 2, 8, 1, &reason), 2 << 20);
    CHECK_INT(assay__level_bytes(arena, &machine, 2, 16, 2, &reason), 2 << 20);
    CHECK_INT(assay__level_bytes(arena, &machine, 3, 1, 1, &reason), 384 << 20);
    CHECK_INT(assay__level_bytes(arena, &machine, 3, 16, 2, &reason), 48 << 20);
    CHECK_STR(reason, "");
    /* 16 cores on one L3: 2 MiB each, less than four times L2 */
    CHECK_INT(assay__level_bytes(arena, &machine, 2, 16, 1, &reason), 0);
    CHECK_HAS(reason, "is not four times");
    machine.l2_bytes = 0;
    CHECK_INT(assay__level_bytes(arena, &machine, 1, 1, 1, &reason), 0);
    CHECK_HAS(reason, "size of l2");
    machine.memory_bytes = 256 << 20;
    CHECK_INT(assay__level_bytes(arena, &machine, 3, 1, 1, &reason), 0);
    CHECK_HAS(reason, "quarter of the memory");
    /* no L3: L2 is shared */
    machine = (struct assay__machine){.l1d_bytes = 128 << 10, .l2_bytes = 12 << 20};
    CHECK_INT(assay__level_bytes(arena, &machine, 1, 1, 0, &reason), 6 << 20);
    CHECK_INT(assay__level_bytes(arena, &machine, 1, 8, 0, &reason), 768 << 10);
    CHECK_INT(assay__level_bytes(arena, &machine, 2, 1, 0, &reason), 0);
    CHECK_HAS(reason, "size of l3");
    CHECK_INT(assay__level_bytes(arena, &machine, 3, 1, 0, &reason), 384 << 20);
    machine.memory_bytes = (uint64_t)1 << 30; /* no room for that, but for twelve times L2 */
    CHECK_INT(assay__level_bytes(arena, &machine, 3, 1, 0, &reason), 144 << 20);
    assay__arena_free(arena);
}

/* --- the team --------------------------------------------------------------------------------- */

struct counted {
    atomic_uint_fast64_t total;
    uint64_t steps[4];
};

static void count_steps(void *context, size_t thread, uint64_t steps)
{
    struct counted *counted = context;
    atomic_fetch_add(&counted->total, steps);
    counted->steps[thread] += steps;
}

static void test_team(void)
{
    struct assay__cpu_place places[4] = {{-1}, {-1}, {-1}, {-1}};
    struct assay__thread_team *team;
    struct counted counted = {0};
    uint64_t steps[4] = {1, 20, 300, 4000}, own[4];
    CHECK_INT(assay__thread_team_new(places, 4, &team, NULL), 0);
    CHECK_INT(assay__thread_team_size(team), 4);
    CHECK(!assay__thread_team_pinned(team)); /* no place asked for */
    for (int i = 0; i < 50; i++)
        assay__thread_team_run(team, count_steps, &counted, steps, own);
    CHECK_INT(atomic_load(&counted.total), 50 * 4321);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(counted.steps[i], 50 * steps[i]);
    assay__thread_team_free(team);
    assay__thread_team_free(NULL);
}

static void sleep_steps(void *context, size_t thread, uint64_t steps)
{
    (void)context;
    (void)thread;
    for (; steps; steps--)
        usleep(1000);
}

/* Sleeping 1 ms a step: no machine makes more than 1000 steps a second per thread. */
static void test_team_measure(void)
{
    struct assay__cpu_place places[2] = {{-1}, {-1}};
    struct assay__thread_team *team;
    struct assay__rate rate;
    CHECK_INT(assay__thread_team_new(places, 2, &team, NULL), 0);
    CHECK_INT(assay__thread_team_measure(team, sleep_steps, NULL, 1, &rate), 0);
    CHECK_INT(rate.repeats, 3); /* no fewer, whatever the time */
    CHECK(rate.low > 0 && rate.low <= rate.median && rate.median <= rate.high);
    CHECK(rate.high <= 2000);
    assay__thread_team_free(team);
}

/* The kernel names the same instruction sets; of AMX it may name what this process may not use. */
static void test_features(void)
{
    unsigned features = assay__cpu_features();
    const unsigned amx = ASSAY__CPU_AMX_INT8 | ASSAY__CPU_AMX_BF16;
    char line[8192] = "";
    FILE *cpuinfo = fopen("/proc/cpuinfo", "r");
    if (!cpuinfo) SKIP("there is no /proc/cpuinfo");
    while (fgets(line, sizeof line, cpuinfo))
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) break;
    fclose(cpuinfo);
    line[strcspn(line, "\n")] = ' ';
    for (unsigned bit = 1; bit; bit <<= 1) {
        char name[32];
        snprintf(name, sizeof name, " %s ", assay__cpu_feature_name(bit));
        bool named = name[1] != ' ' && strstr(line, name);
        if (named != !!(features & bit) && !(named && (bit & amx)))
            harness_fail(__FILE__, __LINE__, name);
    }
}

static void test_places(void)
{
    struct assay__cpu_place places[ASSAY__CPU_PLACES];
    size_t l3_count, count = assay__cpu_places(places, ASSAY__CPU_PLACES, &l3_count);
    CHECK(count >= 1 && count <= (size_t)sysconf(_SC_NPROCESSORS_CONF) && l3_count <= count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(places[i].cpu != places[k].cpu || places[i].cpu == -1);
    CHECK_INT(assay__cpu_places(places, 1, &l3_count), 1);
    size_t line = assay__cache_line_bytes();
    CHECK(line >= 16 && (line & (line - 1)) == 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"float64", test_float64},
        {"float32", test_float32},
        {"float16", test_float16},
        {"bfloat16", test_bfloat16},
        {"int8", test_int8},
        {"table", test_table},
        {"streams", test_streams},
        {"chase", test_chase},
        {"chase_random", test_chase_random},
        {"levels", test_levels},
        {"team", test_team},
        {"team_measure", test_team_measure},
        {"places", test_places},
        {"features", test_features},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
