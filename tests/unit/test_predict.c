/* test_predict.c - the analytic model: its formula exactly, on work and chips made by hand; what it
 * takes from a graph; that every unit of every chip is predicted or gives a reason; that a fit
 * finds what made its samples and never sees what is left out; and the errors of the published
 * measurements as numbers, so that a worse model fails. */
#include "harness.h"

#include "predict/predict.h"
#include "base/file.h"
#include "scratch.h"

static const struct assay__precision *precision(const char *name)
{
    const struct assay__precision *found = assay__precision_find(name);
    CHECK(found);
    return found;
}

/* 1 TFLOP/s float32, 2 float16, 4 int8; 1 MB at no cost, then 100 GB/s. */
static struct assay__predict_target target(void)
{
    return (struct assay__predict_target){
        .chip = "made up",
        .unit = ASSAY__UNIT_ANE,
        .reason = "",
        .float32_flops = 1e12,
        .float16_flops = 2e12,
        .int8_flops = 4e12,
        .levels = {{1e6, INFINITY}, {INFINITY, 1e11}},
        .weights_bandwidth = {NAN, 1e11},
        .level_count = 2,
        .memory_bytes = 1e9,
        .conv_watts = 2,
        .gemm_watts = 6,
        .floor_watts = 1,
        .power_source = "made up",
        .memory_source = "made up",
    };
}

static struct assay__fit fit(void)
{
    struct assay__fit made;
    assay__fit_prior(ASSAY__UNIT_CPU, &made);
    made.value[ASSAY__FIT_FLOOR_S] = 1e-4;
    made.value[ASSAY__FIT_DISPATCH_S] = 1e-5;
    made.value[ASSAY__FIT_CONV] = 0.5;
    made.value[ASSAY__FIT_CONV_HALF] = 16;
    made.value[ASSAY__FIT_GEMM] = 0.8;
    made.value[ASSAY__FIT_GEMM_HALF] = 0;
    made.value[ASSAY__FIT_WEIGHTS] = 0.5;
    made.value[ASSAY__FIT_ACTIVATIONS] = 0.25;
    made.value[ASSAY__FIT_MOVEMENT] = 0.1;
    made.value[ASSAY__FIT_FUNCTION] = 0.01;
    made.value[ASSAY__FIT_IO] = 1e10;
    return made;
}

static struct assay__work work(struct assay__work_item *items, size_t count)
{
    return (struct assay__work){.items = items,
                                .count = count,
                                .weight_bytes = 8e6,
                                .io_bytes = 1e6,
                                .activation_bytes = 4e6,
                                .weight_bits = 16,
                                .activation_bits = 16};
}

static double time_of(struct assay__work_item item, const char *type)
{
    struct assay__predict_target t = target();
    struct assay__fit f = fit();
    item.repeats = item.repeats ? item.repeats : 1;
    struct assay__work w = work(&item, 1);
    w.io_bytes = 0;
    return assay__predict_time_s(&w, &t, precision(type), &f) - 1e-4;
}

/* t = max(F / (P e), W / (B e_w) + A / (B e_a)) + d, term by term. */
static void test_formula(void)
{
    struct assay__work_item conv = {
        .class = ASSAY__WORK_CONV, .flops = 1e9, .channels = 48, .depth = 432};
    /* 0.5 × 48 / (48 + 16) of 2 TFLOP/s */
    CHECK_NEAR(time_of(conv, "float16"), 1e9 / (2e12 * 0.375) + 1e-5, 1e-12);
    CHECK_NEAR(time_of(conv, "float32"), 1e9 / (1e12 * 0.375) + 1e-5, 1e-12);
    CHECK_NEAR(time_of(conv, "w8a8"), 1e9 / (4e12 * 0.375) + 1e-5, 1e-12);
    conv.repeats = 3;
    CHECK_NEAR(time_of(conv, "float16"), 3 * (1e9 / (2e12 * 0.375) + 1e-5), 1e-12);

    struct assay__work_item gemm = {
        .class = ASSAY__WORK_GEMM, .flops = 1e6, .weight_bytes = 4e6, .depth = 1};
    CHECK_NEAR(time_of(gemm, "float16"), 4e6 / (1e11 * 0.5) + 1e-5, 1e-12);
    CHECK_NEAR(time_of(gemm, "w8"), 2e6 / (1e11 * 0.5) + 1e-5, 1e-12);
    CHECK_NEAR(time_of(gemm, "w4"), 1e6 / (1e11 * 0.5) + 1e-5, 1e-12);
    CHECK_NEAR(time_of(gemm, "w6"), 1.5e6 / (1e11 * 0.5) + 1e-5, 1e-12);

    struct assay__work_item move = {
        .class = ASSAY__WORK_MOVEMENT, .read_bytes = 2e6, .written_bytes = 2e6};
    CHECK_NEAR(time_of(move, "float16"), 4e6 / (1e11 * 0.1) + 1e-5, 1e-12);
    move.read_bytes = move.written_bytes = 1e6; /* each fits into the first level */
    CHECK_NEAR(time_of(move, "float16"), 1e-5, 1e-12);
    CHECK_NEAR(time_of(move, "float32"), 4e6 / (1e11 * 0.1) + 1e-5, 1e-12);

    struct assay__work_item tanh = {.class = ASSAY__WORK_FUNCTION, .flops = 4e6, .depth = 1e6};
    CHECK_NEAR(time_of(tanh, "float16"), 1e6 / (2e12 * 0.01) + 1e-5, 1e-12);
    struct assay__work_item view = {.class = ASSAY__WORK_VIEW, .read_bytes = 1e9};
    CHECK_NEAR(time_of(view, "float16"), 0.5e-5, 1e-12);
    struct assay__work_item fused = {
        .class = ASSAY__WORK_ELEMENTWISE, .flops = 1e12, .read_bytes = 1e9, .fused = true};
    CHECK_NEAR(time_of(fused, "float16"), 0, 1e-15);
}

/* The whole is the sum of its parts, and the parts are told apart. */
static void test_whole(void)
{
    struct assay__work_item items[] = {
        {.class = ASSAY__WORK_CONV, .flops = 1e9, .channels = 48, .repeats = 2},
        {.class = ASSAY__WORK_GEMM, .flops = 1e6, .weight_bytes = 4e6, .depth = 1, .repeats = 1},
        {.class = ASSAY__WORK_ELEMENTWISE, .flops = 1, .repeats = 1},
    };
    struct assay__work w = work(items, 3);
    struct assay__predict_target t = target();
    struct assay__fit f = fit();
    struct assay__predicted_item out[3];
    struct assay__prediction p;
    assay__predict(&w, &t, precision("float16"), &f, out, &p);
    CHECK_NEAR(p.latency_s, assay__predict_time_s(&w, &t, precision("float16"), &f), 1e-15);
    CHECK_NEAR(p.io_s, 1e6 / 1e10, 1e-15);
    CHECK_NEAR(p.floor_s, 1e-4, 1e-15);
    CHECK_NEAR(p.dispatch_s, 4e-5, 1e-15);
    CHECK_NEAR(p.latency_s, p.floor_s + p.io_s + out[0].time_s + out[1].time_s + out[2].time_s,
               1e-15);
    double bounds = 0, classes = p.floor_s + p.io_s;
    for (int i = 0; i < ASSAY__BOUND_COUNT; i++)
        bounds += p.bound_s[i];
    for (int i = 0; i < ASSAY__WORK_CLASSES; i++)
        classes += p.class_s[i];
    CHECK_NEAR(bounds, p.latency_s, 1e-15);
    CHECK_NEAR(classes, p.latency_s, 1e-15);
    CHECK_INT(out[0].bound, ASSAY__BOUND_COMPUTE);
    CHECK_INT(out[1].bound, ASSAY__BOUND_MEMORY);
    CHECK_INT(out[2].bound, ASSAY__BOUND_OVERHEAD);
    CHECK_NEAR(p.flops, 2e9 + 1e6 + 1, 0);
    CHECK_NEAR(p.weight_bytes, 8e6, 0);
    /* 2 W at convolutions, 6 W at products, 1 W otherwise, by their times */
    double conv = out[0].time_s, gemm = out[1].time_s, rest = p.latency_s - conv - gemm;
    const char *reason = NULL;
    CHECK_NEAR(assay__predict_watts(&t, &p, &reason), (2 * conv + 6 * gemm + rest) / p.latency_s,
               1e-12);
    t.floor_watts = NAN; /* then of the busy time alone … */
    CHECK_NEAR(assay__predict_watts(&t, &p, &reason), (2 * conv + 6 * gemm) / (conv + gemm), 1e-12);
    p.latency_s = 3 * (conv + gemm); /* … unless most is something else */
    CHECK(isnan(assay__predict_watts(&t, &p, &reason)));
    CHECK_HAS(reason, "starting and copying");
}

/* Weights that fit into a cache come from it; those that do not, from memory. */
static void test_weights_level(void)
{
    struct assay__predict_target t = target();
    struct assay__fit f = fit();
    struct assay__work_item item = {
        .class = ASSAY__WORK_GEMM, .weight_bytes = 1e6, .depth = 1, .repeats = 1};
    struct assay__work w = work(&item, 1);
    w.io_bytes = 0;
    t.levels[0].bandwidth = 4e11; /* a cache, not the engine's own memory */
    t.weights_bandwidth[0] = 4e11;
    w.weight_bytes = 1e6;
    CHECK_NEAR(assay__predict_time_s(&w, &t, precision("float16"), &f),
               1e-4 + 1e6 / (4e11 * 0.5) + 1e-5, 1e-12);
    w.weight_bytes = 1.1e6;
    CHECK_NEAR(assay__predict_time_s(&w, &t, precision("float16"), &f),
               1e-4 + 1e6 / (1e11 * 0.5) + 1e-5, 1e-12);
}

/* What is not known is not 0. */
static void test_unknown(void)
{
    struct assay__predict_target t = target();
    struct assay__fit f = fit();
    struct assay__work_item item = {.class = ASSAY__WORK_CONV, .flops = 1, .repeats = 1};
    struct assay__work w = work(&item, 1);
    struct assay__prediction p;
    t.int8_flops = NAN;
    assay__predict(&w, &t, precision("w8a8"), &f, NULL, &p);
    CHECK(isnan(p.latency_s));
    CHECK_HAS(p.reason, "precision");
    t = target();
    t.reason = "no number";
    assay__predict(&w, &t, precision("float16"), &f, NULL, &p);
    CHECK(isnan(p.latency_s));
    CHECK_STR(p.reason, "no number");
    t = target();
    t.conv_watts = NAN;
    assay__predict(&w, &t, precision("float16"), &f, NULL, &p);
    const char *reason = NULL;
    CHECK(isnan(assay__predict_watts(&t, &p, &reason)));
    CHECK_STR(reason, "made up");
    CHECK(!assay__precision_find("float8"));
    /* the fixed cost alone is no estimate of what has no known cost; of a part it is a bound */
    t = target();
    w.unknown = 1;
    assay__predict(&w, &t, precision("float16"), &f, NULL, &p);
    CHECK(isfinite(p.latency_s) && !p.reason[0]);
    item.flops = 0;
    assay__predict(&w, &t, precision("float16"), &f, NULL, &p);
    CHECK(isnan(p.latency_s));
    CHECK_HAS(p.reason, "known cost");
    w.unknown = 0;
    assay__predict(&w, &t, precision("float16"), &f, NULL, &p);
    CHECK(isfinite(p.latency_s));
}

/* --- work of graphs --------------------------------------------------------------------------- */

static struct assay__work *named(struct assay__arena *arena, const char *name)
{
    struct assay__work *w = NULL;
    struct assay_error error = {0};
    if (assay__work_named(name, arena, &w, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return w;
}

static size_t count_of(const struct assay__work *w, enum assay__work_class class, bool fused)
{
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->items[i].class == class && w->items[i].fused == fused) count += w->items[i].repeats;
    return count;
}

static void test_work(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__work *w = named(arena, "matmul:m=64,k=256,n=512");
    CHECK_INT(w->count, 1);
    CHECK_INT(w->items[0].class, ASSAY__WORK_GEMM);
    CHECK_NEAR(w->items[0].flops, 2.0 * 64 * 256 * 512, 0);
    CHECK_NEAR(w->items[0].weight_bytes, 4.0 * 256 * 512, 0);
    CHECK_NEAR(w->items[0].depth, 64, 0);
    CHECK_NEAR(w->io_bytes, 4.0 * (64 * 256 + 64 * 512), 0);
    w = named(arena, "matmul:m=64,k=256,n=512,b=input");
    CHECK_INT(w->items[0].class, ASSAY__WORK_ATTENTION);

    w = named(arena, "resnet50");
    CHECK_INT(count_of(w, ASSAY__WORK_CONV, false), 53);
    CHECK_INT(count_of(w, ASSAY__WORK_GEMM, false), 1);
    CHECK_INT(count_of(w, ASSAY__WORK_NORMALISATION, true), 53); /* batch normalisation */
    CHECK_INT(count_of(w, ASSAY__WORK_NORMALISATION, false), 2); /* pooling */
    CHECK_INT(count_of(w, ASSAY__WORK_ELEMENTWISE, false), 0);
    w = named(arena, "mobilenetv2");
    CHECK_INT(count_of(w, ASSAY__WORK_DEPTHWISE, false), 17);
    CHECK_INT(count_of(w, ASSAY__WORK_CONV, false), 35);
    w = named(arena, "distilbert:seq=128");
    CHECK_INT(count_of(w, ASSAY__WORK_GEMM, false), 36);
    CHECK_INT(count_of(w, ASSAY__WORK_ATTENTION, false), 12);
    CHECK_INT(w->unknown, 0);

    /* a convolution without padding: 14 x 14 of 16 x 16, float16 */
    w = named(arena, "conv:channels=64,size=16,kernel=3");
    CHECK_NEAR(w->items[0].flops, 2.0 * 64 * 64 * 9 * 14 * 14, 0);
    CHECK_NEAR(w->io_bytes, 2.0 * 64 * (16 * 16 + 14 * 14), 0);
    w = named(arena, "conv:channels=256,size=32,kernel=3,depth=16");
    CHECK_INT(w->items[0].repeats, 16);
    CHECK_NEAR(w->items[0].flops, 2.0 * 256 * 256 * 9 * 32 * 32, 0);

    struct assay_error error = {0};
    CHECK(assay__work_named("no-such-model", arena, &w, &error) != 0);
    CHECK(error.message[0]);
    assay__arena_free(arena);
}

/* --- chips ------------------------------------------------------------------------------------ */

static void test_every_unit(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__work *w = named(arena, "mobilenetv2");
    size_t predicted = 0, refused = 0;
    for (size_t i = 0; assay__chip_at(i); i++) {
        const struct assay__chip *chip = assay__chip_at(i);
        const struct assay__cell *cells[] = {
            &chip->bandwidth,     &chip->memory,         &chip->gpu_flops,     &chip->ane_flops,
            &chip->ane_bandwidth, &chip->ane_conv_watts, &chip->ane_gemm_watts};
        for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
            CHECK(cells[k]->source && cells[k]->source[0]); /* or why there is none */
            CHECK(isnan(cells[k]->value) || cells[k]->value > 0);
        }
        CHECK(assay__chip_find(chip->name, NULL) == chip);
        for (int u = 0; u < ASSAY__UNITS; u++) {
            struct assay__predict_target t;
            struct assay__fit f;
            struct assay__prediction p;
            CHECK_INT(assay__target_of_chip(chip, u, arena, &t), 0);
            assay__fit_builtin(u, &f);
            assay__predict(w, &t, precision("float16"), &f, NULL, &p);
            CHECK(isnan(p.latency_s) == (p.reason[0] != 0));
            CHECK(isnan(p.latency_s) || (p.latency_s > 1e-5 && p.latency_s < 1));
            CHECK(f.validation[0] && f.origin[0]);
            if (isnan(p.latency_s))
                refused++;
            else
                predicted++;
        }
    }
    CHECK_INT(predicted, 35); /* 20 Neural Engines and 15 GPUs have all their numbers */
    CHECK_INT(refused, 37);
    assay__arena_free(arena);
}

static void test_names(void)
{
    const char *nearest = NULL;
    CHECK_STR(assay__chip_find("m1max", &nearest)->name, "M1 Max");
    CHECK_STR(assay__chip_find("Apple A17-PRO", &nearest)->name, "A17 Pro");
    CHECK(!assay__chip_find("M1 Mux", &nearest));
    CHECK_STR(nearest, "M1 Max");
    CHECK(!assay__chip_find("Snapdragon 8 Gen 3", &nearest));
    CHECK(!nearest);
}

/* An Ultra has two engines; one model runs on one of them. */
static void test_facts(void)
{
    const struct assay__chip *max = assay__chip_find("M1 Max", NULL);
    const struct assay__chip *ultra = assay__chip_find("M1 Ultra", NULL);
    CHECK_NEAR(ultra->ane_flops.value, max->ane_flops.value, 0);
    CHECK_NEAR(ultra->gpu_flops.value, 2 * max->gpu_flops.value, 1e9);
    CHECK_NEAR(assay__chip_find("M4", NULL)->ane_flops.value, 19e12, 0); /* of 38 8-bit TOPS */
    CHECK(isnan(assay__chip_find("M5 Pro", NULL)->ane_flops.value));
}

/* --- measured ceilings ------------------------------------------------------------------------ */

static void test_ceilings(void)
{
    static const struct {
        const char *name;
        double value;
    } rows[] = {{"compute.float32.all-cores", 2e11},
                {"bandwidth.l2.read.all-cores", 2e11},
                {"bandwidth.l3.triad.all-cores", 1e11},
                {"bandwidth.dram.read.all-cores", 3e10},
                {"bandwidth.dram.triad.all-cores", 5e10}};
    struct assay_profile *profile = assay__profile_new();
    struct assay__predict_target t;
    profile->environment.cores = 2;
    profile->environment.l2_bytes = 1e6;
    profile->environment.l3_bytes = 3.2e7;
    profile->environment.memory_bytes = 8e9;
    CHECK_INT(assay__target_of_ceilings(profile, "cpu", "this", profile->arena, &t), 0);
    CHECK_HAS(t.reason, "no ceilings of cpu");
    profile->ceiling_count = sizeof rows / sizeof rows[0];
    profile->ceilings = assay__arena_array(profile->arena, profile->ceiling_count,
                                           sizeof *profile->ceilings);
    for (size_t i = 0; i < profile->ceiling_count; i++)
        profile->ceilings[i] = (struct assay__ceiling_info){
            .device = "cpu", .name = rows[i].name, .value = rows[i].value, .measured_at = "then"};
    CHECK_INT(assay__target_of_ceilings(profile, "cpu", "this", profile->arena, &t), 0);
    CHECK_STR(t.reason, "");
    CHECK_INT(t.unit, ASSAY__UNIT_CPU);
    CHECK_INT(t.level_count, 3);
    CHECK_NEAR(t.levels[0].holds_bytes, 2e6, 0); /* of both cores */
    CHECK_NEAR(t.levels[2].bandwidth, 5e10, 0);
    CHECK_NEAR(t.weights_bandwidth[2], 3e10, 0); /* weights are only read */
    CHECK(isinf(t.levels[2].holds_bytes));
    CHECK_NEAR(t.float16_flops, 2e11, 0); /* as engines compute without such arithmetic */
    CHECK_NEAR(t.memory_bytes, 8e9, 0);
    assay_profile_close(profile);
}

/* --- fits ------------------------------------------------------------------------------------- */

static const char *const made[] = {"matmul:m=64,k=256,n=256",
                                   "matmul:m=512,k=512,n=512",
                                   "mlp",
                                   "softmax",
                                   "layernorm",
                                   "squeezenet",
                                   "mobilenetv2",
                                   "lstm:seq=8"};
#define MADE (sizeof made / sizeof made[0])

static struct assay__predict_target machine(void)
{
    struct assay__predict_target t = target();
    t.unit = ASSAY__UNIT_CPU;
    t.float16_flops = t.float32_flops = 2e11;
    t.levels[0].bandwidth = t.weights_bandwidth[0] = 2e11;
    return t;
}

static void make_samples(struct assay__arena *arena, const struct assay__predict_target *t,
                         const struct assay__fit *truth, struct assay__fit_sample *samples)
{
    for (size_t i = 0; i < MADE; i++) {
        struct assay__work *w = named(arena, made[i]);
        samples[i] = (struct assay__fit_sample){
            .work = w,
            .target = t,
            .precision = precision("float32"),
            .measured_s = assay__predict_time_s(w, t, precision("float32"), truth),
            .group = made[i],
            .other = "",
        };
    }
}

/* Samples that the formula made with other efficiencies than the priors: the fit predicts them. */
static void test_fit_finds(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__predict_target t = machine();
    struct assay__fit truth, found;
    struct assay__fit_sample samples[MADE];
    assay__fit_prior(ASSAY__UNIT_CPU, &truth);
    truth.value[ASSAY__FIT_CONV] = 0.35;
    truth.value[ASSAY__FIT_GEMM] = 0.5;
    truth.value[ASSAY__FIT_DISPATCH_S] = 4e-6;
    truth.value[ASSAY__FIT_FLOOR_S] = 2e-5;
    make_samples(arena, &t, &truth, samples);
    assay__fit_samples(samples, MADE, ASSAY__UNIT_CPU, NULL, ASSAY__LEAVE_GROUP, &found);
    for (size_t i = 0; i < MADE; i++) {
        double p = assay__predict_time_s(samples[i].work, &t, samples[i].precision, &found);
        CHECK_NEAR(p / samples[i].measured_s, 1, 0.06);
    }
    CHECK_NEAR(found.value[ASSAY__FIT_GEMM], 0.5, 0.05);
    assay__arena_free(arena);
}

/* What is left out is not seen: a sample of another world changes nothing of its own prediction. */
static void test_leave_out(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__predict_target t = machine();
    struct assay__fit truth;
    struct assay__fit_sample samples[MADE];
    double before[MADE], after[MADE], scratch[MADE];
    assay__fit_prior(ASSAY__UNIT_CPU, &truth);
    make_samples(arena, &t, &truth, samples);
    assay__fit_leave_out(samples, MADE, ASSAY__UNIT_CPU, ASSAY__LEAVE_GROUP, before);
    samples[1].measured_s *= 50;
    assay__fit_leave_out(samples, MADE, ASSAY__UNIT_CPU, ASSAY__LEAVE_GROUP, after);
    CHECK_NEAR(after[1], before[1], 1e-15);
    CHECK(after[0] != before[0]); /* but the others have seen it */
    struct assay__fit_errors e = assay__fit_errors_of(samples, before, MADE, scratch);
    CHECK_INT(e.count, MADE);
    CHECK(e.p90 > 0.9); /* one in eight is 50 times off */
    before[0] = NAN;    /* what cannot be predicted is not counted as right */
    CHECK_INT(assay__fit_errors_of(samples, before, MADE, scratch).count, MADE - 1);
    assay__arena_free(arena);
}

/* --- published measurements ------------------------------------------------------------------- */

static void test_published(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__validation v;
    struct assay_error error = {0};
    CHECK_INT(assay__validate_published(arena, &v, &error), 0);
    CHECK_INT(v.used, 26);
    CHECK_INT(v.chip_out.count, 26);
    CHECK_INT(v.model_out.count, 26);
    CHECK_INT(v.held_out.count, 9);
    /* the floors, and what is reached: a change that makes it worse has to be looked at */
    CHECK(v.chip_out.median <= 0.25 && v.model_out.median <= 0.25);
    CHECK_NEAR(v.chip_out.median, 0.126, 0.01);
    CHECK_NEAR(v.chip_out.p90, 0.457, 0.02);
    CHECK_NEAR(v.model_out.median, 0.143, 0.01);
    CHECK_NEAR(v.model_out.p90, 0.684, 0.02);
    CHECK_NEAR(v.both_out.median, 0.211, 0.01);
    CHECK_NEAR(v.both_out.p90, 0.457, 0.02);
    CHECK_NEAR(v.held_out.median, 0.418, 0.02);
    CHECK_NEAR(v.held_out.p90, 1.57, 0.05); /* MobileNetV3-Small: far below the fitted floor */
    CHECK_INT(v.blind.count, v.both_out.count + v.held_out.count);
    CHECK_NEAR(v.in.median, 0.071, 0.01);
    CHECK(v.in.median < v.chip_out.median && v.in.median < v.model_out.median);
    /* what is built in is this fit, with the errors of what it had not seen */
    struct assay__fit builtin;
    assay__fit_builtin(ASSAY__UNIT_ANE, &builtin);
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        CHECK_NEAR(builtin.value[i], v.fit.value[i], 1e-3 * v.fit.value[i]);
    CHECK_NEAR(builtin.in.p90, v.in.p90, 1e-3);
    CHECK_NEAR(builtin.out.median, v.blind.median, 1e-3);
    CHECK_NEAR(builtin.out.p90, v.blind.p90, 1e-3);
    CHECK_NEAR(builtin.fixed.median, v.fixed.median, 1e-3);
    CHECK_NEAR(builtin.fixed.p90, v.fixed.p90, 1e-3);
    CHECK_NEAR(builtin.floor.median, v.floor.median, 1e-3);
    CHECK_NEAR(builtin.floor.p90, v.floor.p90, 1e-3);
    CHECK(v.floor.count == builtin.floor.count && v.floor.count > 9);
    CHECK(builtin.fixed.median > builtin.out.median); /* the label widens */
    CHECK(builtin.fixed.p90 > 1.5 * builtin.out.p90 && builtin.floor.p90 > builtin.fixed.p90);
    for (int i = 0; i < ASSAY__WORK_CLASSES; i++)
        CHECK_NEAR(builtin.seen[i], v.seen[i], 0.01);
    for (size_t i = 0; i < v.count; i++) {
        const struct assay__validation_row *row = &v.rows[i];
        CHECK(row->source[0]);
        CHECK(row->excluded ? row->excluded[0] : isfinite(row->chip_out_s));
        CHECK(isfinite(row->both_out_s) == !row->excluded);
    }
    assay__arena_free(arena);
}

enum { PUBLISHED = 64 };

/* The label of an estimate like row `of`, from measurements of other models: as many as there are
 * with as much fixed cost, or all. */
static struct assay__fit_errors label_without(const struct assay__validation *v, size_t of)
{
    struct assay__fit_sample samples[PUBLISHED] = {{0}};
    double predicted[PUBLISHED], scratch[PUBLISHED];
    const char *model = assay__published_at(of)->model;
    double share = v->rows[of].fixed_share;
    double least = share > ASSAY__FLOOR_SHARE   ? ASSAY__FLOOR_SHARE
                   : share > ASSAY__FIXED_SHARE ? ASSAY__FIXED_SHARE
                                                : 0;
    CHECK(v->count <= PUBLISHED);
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__validation_row *row = &v->rows[i];
        bool like = row->fixed_share > least;
        bool other = isfinite(row->in_s) && strcmp(assay__published_at(i)->model, model) != 0;
        samples[i].measured_s = row->measured_s;
        predicted[i] = !like || !other          ? (double)NAN
                       : isnan(row->both_out_s) ? row->in_s
                                                : row->both_out_s;
    }
    return assay__fit_errors_of(samples, predicted, v->count, scratch);
}

/* What an estimate is labelled with holds in at least the stated share of the rows, if neither the
 * fit nor the label has seen the row, its chip or its model. And the label that is printed for the
 * model with the largest error, a small one with depthwise convolutions, covers it. */
static void test_label_covers(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__validation v;
    struct assay_error error = {0};
    struct assay__fit builtin;
    size_t count = 0, half = 0, most = 0, small = 0;
    CHECK_INT(assay__validate_published(arena, &v, &error), 0);
    assay__fit_builtin(ASSAY__UNIT_ANE, &builtin);
    for (size_t i = 0; i < v.count; i++) {
        const struct assay__validation_row *row = &v.rows[i];
        if (!isfinite(row->in_s)) continue;
        double estimate = isnan(row->both_out_s) ? row->in_s : row->both_out_s;
        double off = fabs(estimate / row->measured_s - 1);
        struct assay__fit_errors label = label_without(&v, i);
        count++;
        half += off <= label.median;
        most += off <= label.p90;
        if (strncmp(row->label, "MobileNetV3", 11) != 0) continue;
        CHECK(row->fixed_share > ASSAY__FLOOR_SHARE && off > 1);
        CHECK(off <= builtin.floor.p90 + 1e-3);
        small++;
    }
    printf("  %zu rows: %zu within the median, %zu within 9 of 10\n", count, half, most);
    CHECK_INT(count, 35);
    CHECK_INT(small, 2);
    CHECK(2 * half + 1 >= count); /* half of an odd number */
    CHECK(10 * most >= 9 * count);
    assay__arena_free(arena);
}

/* Most of the time in a kind of operators that no measurement is made of: the label does not
 * apply. */
static void test_new_kind(void)
{
    static const struct assay__node conv = {.op = "Conv", .domain = "", .name = ""};
    struct assay__work_item items[] = {{.class = ASSAY__WORK_DEPTHWISE, .channels = 1, .depth = 9},
                                       {.class = ASSAY__WORK_CONV, .channels = 64, .depth = 576}};
    struct assay__fit fit;
    struct assay__predict_target on;
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__target_of_chip(assay__chip_find("M1", NULL), ASSAY__UNIT_ANE, arena, &on), 0);
    assay__fit_builtin(ASSAY__UNIT_ANE, &fit);
    CHECK(fit.seen[ASSAY__WORK_DEPTHWISE] > 0.1 && fit.seen[ASSAY__WORK_CONV] > 0.5);
    for (int i = 0; i < 2; i++) {
        struct assay__work work = {
            .items = &items[i], .count = 1, .weight_bits = 32, .activation_bits = 32};
        items[i].node = &conv, items[i].flops = 1e10, items[i].repeats = 1;
        struct assay__predicted_item predicted;
        struct assay__prediction p;
        assay__predict(&work, &on, assay__precision_find("float16"), &fit, &predicted, &p);
        CHECK(assay__fixed_share(&p) < ASSAY__FIXED_SHARE);
        const char *uncovered = assay__predict_uncovered(arena, &work, &on, &fit, &p);
        CHECK(uncovered && (*uncovered != 0) == (i == 0));
    }
    assay__arena_free(arena);
}

/* The times that rates stand for. */
static void test_rows(void)
{
    size_t used = 0;
    for (size_t i = 0; assay__published_at(i); i++) {
        const struct assay__published_row *row = assay__published_at(i);
        used += !row->excluded;
        CHECK(!row->model || (assay__chip_find(row->chip, NULL) &&
                              assay__precision_find(row->precision) && row->measured_s > 0));
        if (strcmp(row->label, "product, K = 4096") == 0)
            CHECK_NEAR(row->measured_s, 2.394e-3, 1e-6);
    }
    CHECK_INT(used, 26);
}

/* --- a machine of ours ------------------------------------------------------------------------ */

/* Its ceilings when the fixture was measured. */
static struct assay__predict_target zen4(void)
{
    struct assay__predict_target t = target();
    t.unit = ASSAY__UNIT_CPU;
    t.float32_flops = t.float16_flops = 233.717e9;
    t.level_count = 3;
    t.levels[0].holds_bytes = 2097152;
    t.levels[0].bandwidth = t.weights_bandwidth[0] = 232.847e9;
    t.levels[1].holds_bytes = 33554432;
    t.levels[1].bandwidth = t.weights_bandwidth[1] = 199.137e9;
    t.levels[2].holds_bytes = INFINITY;
    t.levels[2].bandwidth = 60.403e9;
    t.weights_bandwidth[2] = 36.548e9;
    return t;
}

/* 46 models measured there: the errors of families that the fit has not seen, as numbers. */
static void test_machine(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__calibration c;
    struct assay__validation v;
    struct assay__predict_target t = zen4();
    struct assay_error error = {0};
    struct assay__fit builtin;
    CHECK_INT(assay__calibration_load(arena,
                                      ASSAY_TEST_ROOT "/tests/fixtures/predict/cpu-2-cores.json",
                                      "2 cores of Zen 4", &c, &error),
              0);
    CHECK_INT(c.count, 46);
    for (size_t i = 0; i < c.count;
         i++) /* the onnx package's models, as `make setup` fetches them */
        if (strncmp(c.rows[i].model, "light_", 6) == 0)
            c.rows[i].model = assay__arena_printf(
                arena, "%s/.cache/onnx/current/onnx/backend/test/data/light/%s", ASSAY_TEST_ROOT,
                c.rows[i].model);
    CHECK_INT(assay__validate_calibration(&c, &t, arena, &v, &error), 0);
    CHECK(v.count + v.missing == 46 && v.count >= 37);
    CHECK(v.model_out.median <= 0.20 && v.model_out.p90 <= 0.50); /* the floors */
    CHECK(v.in.median < v.model_out.median);
    if (v.missing) SKIP("the light models of the onnx package are not there");
    CHECK_NEAR(v.model_out.median, 0.100, 0.01);
    CHECK_NEAR(v.model_out.p90, 0.475, 0.03);
    CHECK_NEAR(v.in.median, 0.053, 0.01);
    assay__fit_builtin(ASSAY__UNIT_CPU, &builtin);
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        if (isfinite(v.fit.value[i]))
            CHECK_NEAR(builtin.value[i], v.fit.value[i], 0.01 * v.fit.value[i]);
    CHECK(isnan(builtin.out.median)); /* of another machine nothing is promised */
    assay__arena_free(arena);
}

/* --- the file --------------------------------------------------------------------------------- */

static struct assay__calibration calibration(struct assay__calibration_row *rows, size_t count)
{
    struct assay__calibration c = {.key = "this\nmachine",
                                   .measured_at = "2026-01-02T03:04:05Z",
                                   .engine = "ort 1",
                                   .rows = rows,
                                   .count = count};
    assay__fit_prior(ASSAY__UNIT_CPU, &c.fit);
    c.fit.value[ASSAY__FIT_CONV] = 0.123456789012345678;
    c.fit.out = (struct assay__fit_errors){0.11, 0.33, 2};
    c.fit.in = (struct assay__fit_errors){0.05, 0.2, 2};
    return c;
}

static void test_file(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__calibration_row rows[] = {{"mlp", "mlp", 1e-3, 0.9e-3, 1.1e-3},
                                            {"softmax", "softmax", 2e-3, 2e-3, 2e-3}};
    struct assay__calibration c = calibration(rows, 2), back;
    struct assay_error error = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch("fit.json"));
    CHECK_INT(assay__calibration_save(&c, path, &error), 0);
    CHECK_INT(assay__calibration_load(arena, path, "this\nmachine", &back, &error), 0);
    CHECK_INT(back.count, 2);
    CHECK_STR(back.rows[1].model, "softmax");
    CHECK_NEAR(back.rows[0].low_s, 0.9e-3, 0);
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        CHECK(back.fit.value[i] == c.fit.value[i]);
    CHECK_NEAR(back.fit.out.p90, 0.33, 0);
    CHECK_HAS(back.fit.origin, "2 models");
    CHECK_INT(assay__calibration_load(arena, path, "another", &back, &error), ASSAY_ENOTFOUND);
    CHECK_INT(assay__calibration_load(arena, "no such file", NULL, &back, &error), ASSAY_ENOTFOUND);

    struct assay__predict_target t = machine();
    struct assay__validation v;
    CHECK_INT(assay__validate_calibration(&c, &t, arena, &v, &error), 0);
    CHECK_INT(v.count, 2);
    CHECK_NEAR(v.rows[0].measured_s, 0.9e-3, 0); /* the least launch */
    rows[1].model = "gone.onnx";
    CHECK_INT(assay__validate_calibration(&c, &t, arena, &v, &error), 0);
    CHECK_INT(v.count, 1);
    CHECK_INT(v.missing, 1);
    assay__arena_free(arena);
}

static void test_bad_files(void)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "{\"assay_predict\": 2}",
        "{\"assay_predict\": 1}",
        "{\"assay_predict\": 1, \"rows\": []}",
        "{\"assay_predict\": 1, \"rows\": [{\"model\": \"a\", \"family\": \"b\", \"p50_s\": -1, "
        "\"low_s\": 1, \"high_s\": 1}]}",
        "{\"assay_predict\": 1, \"rows\": [{\"model\": \"a\", \"family\": \"b\", \"p50_s\": 1, "
        "\"low_s\": 1, \"high_s\": 1}], \"fit\": {\"conv\": 0}}",
        "{\"assay_predict\": 1, \"rows\": [{\"model\": 3, \"family\": \"b\", \"p50_s\": 1, "
        "\"low_s\": 1, \"high_s\": 1}], \"fit\": {}}",
    };
    struct assay__arena *arena = assay__arena_new();
    struct assay__calibration back;
    char path[4096];
    snprintf(path, sizeof path, "%s", scratch("bad.json"));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct assay_error error = {0};
        CHECK_INT(assay__file_write(path, texts[i], strlen(texts[i]), &error), 0);
        CHECK(assay__calibration_load(arena, path, NULL, &back, &error) != 0);
        CHECK(error.message[0]);
    }
    assay__arena_free(arena);
}

static const struct harness_test tests[] = {
    {"formula", test_formula},
    {"whole", test_whole},
    {"weights_level", test_weights_level},
    {"unknown", test_unknown},
    {"work", test_work},
    {"every_unit", test_every_unit},
    {"names", test_names},
    {"facts", test_facts},
    {"ceilings", test_ceilings},
    {"fit_finds", test_fit_finds},
    {"leave_out", test_leave_out},
    {"published", test_published},
    {"label_covers", test_label_covers},
    {"new_kind", test_new_kind},
    {"rows", test_rows},
    {"machine", test_machine},
    {"file", test_file},
    {"bad_files", test_bad_files},
};

int main(int argc, char **argv)
{
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
