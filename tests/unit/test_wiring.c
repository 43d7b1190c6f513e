/* test_wiring.c - wirings against what the package ncps draws (tests/fixtures/ncp/wirings.txt, or
 * the file that ASSAY_TEST_WIRINGS names), NumPy's generators against its published numbers, and
 * bad input. */
#include "harness.h"

#include "zoo/numpy_random.h"
#include "zoo/wiring.h"

#include <inttypes.h>

/* The first outputs of both generators, as NumPy's own test data and documentation have them. */
static void test_mt19937(void)
{
    static const uint32_t first[] = {3499211612u, 581869302u, 3890346734u, 3586334585u};
    struct assay__mt19937 random;
    assay__mt19937_seed(&random, 5489);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(assay__mt19937_u32(&random), first[i]);
    uint32_t last = 0;
    for (size_t i = 4; i < 10000; i++)
        last = assay__mt19937_u32(&random);
    CHECK_INT(last, 4123659995u); /* the 10,000th: ISO C++ states it for mt19937 */
}

static void test_pcg64(void)
{
    struct assay__pcg64 random;
    assay__pcg64_seed(&random, 12345);
    /* default_rng(12345).random(): 0.22733602246716966, 0.31675833970975287 */
    CHECK_NEAR((double)(assay__pcg64_u64(&random) >> 11) * 0x1p-53, 0.22733602246716966, 0);
    CHECK_NEAR((double)(assay__pcg64_u64(&random) >> 11) * 0x1p-53, 0.31675833970975287, 0);
}

static uint64_t fnv(const int8_t *bytes, int64_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int64_t i = 0; i < count; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3u;
    return hash;
}

static int64_t synapses(const int8_t *matrix, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        found += matrix[i] != 0;
    return found;
}

struct expected {
    char kind[16];
    int64_t shape[7], synapses, sensory_synapses;
    uint64_t adjacency, sensory;
    struct assay__wiring wiring;
};

static bool parse(const char *line, struct expected *out)
{
    static const char *const kinds[] = {"autoncp", "ncp", "random", "full"};
    struct assay__wiring *w = &out->wiring;
    int64_t *s = out->shape;
    memset(out, 0, sizeof *out);
    int found = sscanf(line,
                       "%15s %" SCNd64 " %" SCNd64 " %" SCNd64 " %lf %" SCNu64 " %" SCNd64
                       " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                       " %" SCNd64 " %" SCNd64 " %" SCNx64 " %" SCNx64,
                       out->kind, &w->units, &w->outputs, &w->inputs, &w->sparsity, &w->seed, s,
                       s + 1, s + 2, s + 3, s + 4, s + 5, s + 6, &out->synapses,
                       &out->sensory_synapses, &out->adjacency, &out->sensory);
    for (int i = 0; i < 4; i++)
        if (strcmp(out->kind, kinds[i]) == 0) w->kind = (enum assay__wiring_kind)i;
    return found == 17;
}

static void check_line(const char *line)
{
    struct expected e;
    struct assay_error error = {0};
    CHECK(parse(line, &e));
    struct assay__wiring *w = &e.wiring;
    if (w->kind == ASSAY__WIRING_NCP) {
        w->inter = e.shape[0], w->command = e.shape[1], w->motor = e.shape[2];
        w->sensory_fanout = e.shape[3], w->inter_fanout = e.shape[4];
        w->recurrent_command = e.shape[5], w->motor_fanin = e.shape[6];
        w->units = w->outputs = 0; /* follow from the groups */
    }
    struct assay__arena *arena = assay__arena_new();
    int code = assay__wiring_build(w, arena, &error);
    if (code) harness_fail(line, code, error.message);
    bool same = fnv(w->adjacency, w->units * w->units) == e.adjacency &&
                fnv(w->sensory, w->inputs * w->units) == e.sensory;
    if (!same) printf("  %s", line);
    CHECK_INT(synapses(w->adjacency, w->units * w->units), e.synapses);
    CHECK_INT(synapses(w->sensory, w->inputs * w->units), e.sensory_synapses);
    if (w->kind == ASSAY__WIRING_AUTONCP) {
        const int64_t shape[] = {w->inter,          w->command,      w->motor,
                                 w->sensory_fanout, w->inter_fanout, w->recurrent_command,
                                 w->motor_fanin};
        for (int i = 0; i < 7; i++)
            CHECK_INT(shape[i], e.shape[i]);
    }
    CHECK(same);
    assay__arena_free(arena);
}

static void test_oracle(void)
{
    const char *path = getenv("ASSAY_TEST_WIRINGS");
    FILE *file = fopen(path ? path : ASSAY_TEST_ROOT "/tests/fixtures/ncp/wirings.txt", "r");
    char line[512];
    size_t count = 0;
    CHECK(file != NULL);
    for (; fgets(line, sizeof line, file); count++)
        check_line(line);
    fclose(file);
    CHECK(count >= 60);
}

/* AutoNCP 64/16 of 32 inputs: the groups of the published example. */
static void test_example(void)
{
    struct assay__wiring w = {.kind = ASSAY__WIRING_AUTONCP,
                              .units = 64,
                              .outputs = 16,
                              .inputs = 32,
                              .sparsity = 0.5,
                              .seed = 22222};
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__wiring_build(&w, arena, NULL), 0);
    CHECK_INT(w.inter, 29);
    CHECK_INT(w.command, 19);
    CHECK_INT(w.sensory_fanout, 14);
    CHECK_INT(w.inter_fanout, 9);
    CHECK_INT(w.recurrent_command, 19);
    CHECK_INT(w.motor_fanin, 9);
    for (int64_t i = 0; i < w.units; i++) /* nothing leaves a motor neuron, nor skips a layer */
        for (int64_t j = 0; j < w.units; j++) {
            bool from_inter = i >= 35, to_motor = j < 16, to_inter = j >= 35;
            if (i < 16 || to_inter || (from_inter && to_motor))
                CHECK_INT(w.adjacency[i * 64 + j], 0);
        }
    assay__arena_free(arena);
}

static void refused(struct assay__wiring wiring, const char *why)
{
    struct assay_error error = {0};
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__wiring_build(&wiring, arena, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, why);
    assay__arena_free(arena);
}

static void test_refused(void)
{
    const struct assay__wiring good = {.kind = ASSAY__WIRING_AUTONCP,
                                       .units = 20,
                                       .outputs = 4,
                                       .inputs = 3,
                                       .sparsity = 0.5,
                                       .seed = 1};
    struct assay__wiring w = good;
    w.outputs = 18;
    refused(w, "18 outputs of 20 units");
    w = good, w.sparsity = 0.05;
    refused(w, "sparsity 0.05");
    w = good, w.sparsity = NAN;
    refused(w, "sparsity");
    w = good, w.inputs = 0;
    refused(w, "0 inputs");
    w = good, w.units = 5000;
    refused(w, "5000 units");
    w = good, w.seed = (uint64_t)1 << 32;
    refused(w, "seed");
    w = good, w.kind = ASSAY__WIRING_RANDOM, w.sparsity = 1;
    refused(w, "Random: sparsity 1");
    w = good, w.kind = ASSAY__WIRING_FULL, w.outputs = 21;
    refused(w, "21 outputs");
    w = (struct assay__wiring){.kind = ASSAY__WIRING_NCP,
                               .inputs = 2,
                               .inter = 4,
                               .command = 3,
                               .motor = 2,
                               .sensory_fanout = 5,
                               .inter_fanout = 1,
                               .motor_fanin = 1};
    refused(w, "sensory_fanout of 5");
    w.sensory_fanout = 1, w.inter_fanout = 4;
    refused(w, "inter_fanout of 4");
    w.inter_fanout = 1, w.motor_fanin = 4;
    refused(w, "motor_fanin of 4");
    w.motor_fanin = 1, w.command = 0;
    refused(w, "need at least one neuron each");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"mt19937", test_mt19937}, {"pcg64", test_pcg64},     {"oracle", test_oracle},
        {"example", test_example}, {"refused", test_refused},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
