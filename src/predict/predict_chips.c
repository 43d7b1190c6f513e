/* predict_chips.c - what Apple's chips can do, as public sources say it: one row per chip, one
 * source per number. A number that no source gives is NaN with the reason, and makes the unit that
 * needs it unavailable: nothing is guessed.
 *
 * Neural Engine, arithmetic: the published TOPS are float16 on A14 to A16 and M1 to M3 and 8-bit
 * from A17 Pro and M4 on (float16 is half of them), as measured peaks show (12 of 11 on M1, 16.8 of
 * 18 on M3 Pro, 18.6 of 38 / 2 on M4). The two engines of an Ultra count as one: its weights do not
 * stream faster than a Max's, so one model runs on one of them. Neural Engine, bandwidth: what it
 * streams weights at, measured by anemll-bench; it does not follow the chip's memory. For A chips
 * no such measurement is public: their memory's bandwidth times 0.89, M1's share (60.87 of 68.25),
 * since an engine of a chip with one memory channel of that kind is limited by it. GPU: cores × 128
 * × 2 × clock. CPU: no source gives what the matrix units of the CPU can do, so the CPU is
 * unavailable. */
#include "predict/predict.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GB 1e9
#define T 1e12
#define NONE(why)        \
    {                    \
        (double)NAN, why \
    }

#define APPLE "Apple's newsroom figure of the chip"
#define LPDDR5(bits, said) "LPDDR5-6400 x " bits " bit; Apple's newsroom rounds it to " said " GB/s"
#define ANEMLL "measured with llama_lm_head by anemll-bench (Anemll/anemll-bench:Results.MD)"
#define TOPS16 "Apple's TOPS (hollance/neural-engine:docs/supported-devices.md), taken as float16"
#define TOPS8 "half of Apple's 8-bit TOPS (hollance/neural-engine:docs/supported-devices.md)"
#define ULTRA "half of Apple's TOPS: one model runs on one of its two engines"
#define METAL "cores x 128 x 2 x clock (philipturner/metal-benchmarks)"
#define CLOCKS clocks
static const char clocks[] =
    "cores x 128 x 2 x clock; clock from hmc-tech.com, +-10 %: Apple publishes none";
#define LAPTOPS "configuration table of Ars Technica and Apple's newsroom"
#define ANE_GUIDE "measured (sbryngelson/ane-guide chapters 10 to 12)"
#define PHONE_BW "LPDDR4X-4266 x 64 bit (topcpu.net, askgeek.io)"
#define PHONE_BW5 "LPDDR5-6400 x 64 bit (topcpu.net, nanoreview.net)"
#define PHONE_BW5X "LPDDR5X-7500 x 64 bit: 17 % above A17 Pro, as Apple says (notebookcheck.net)"
#define PHONE_ANE_BW "0.89 of its memory's bandwidth, M1's share: no measurement is public"
#define NO_ANE_BW NONE("no source gives the bandwidth of its Neural Engine")
#define NO_ANE_FLOPS \
    NONE("Apple does not say how fast its Neural Engine is, and no measurement is public")
#define NO_GPU NONE("no source gives its GPU's arithmetic rate")
#define NO_MEMORY NONE("no source here gives its largest memory")
#define NO_POWER \
    NONE("no source gives what its Neural Engine draws at convolutions and at products")
#define PHONE_GPU NONE("no source with a method gives its GPU's arithmetic rate")

#define NO_POWERS NO_POWER, NO_POWER, NO_POWER
#define M1_POWER                         \
    {1.78, ANE_GUIDE}, {4.4, ANE_GUIDE}, \
    {                                    \
        0.9, ANE_GUIDE                   \
    }
#define M2_POWER                        \
    {3.8, ANE_GUIDE}, {5.9, ANE_GUIDE}, \
        NONE("no source gives what it draws while it starts and copies")

const struct assay__chip assay__chips[] = {
    {"M1",
     {68.25 * GB, APPLE},
     {16 * GB, LAPTOPS},
     {2.62 * T, METAL},
     {11 * T, TOPS16},
     {60.87 * GB, ANEMLL},
     M1_POWER},
    {"M1 Pro",
     {204.8 * GB, LPDDR5("256", "200")},
     {32 * GB, LAPTOPS},
     {5.31 * T, METAL},
     {11 * T, TOPS16},
     {54.90 * GB, ANEMLL},
     M1_POWER},
    {"M1 Max",
     {409.6 * GB, LPDDR5("512", "400")},
     {64 * GB, LAPTOPS},
     {10.6 * T, METAL},
     {11 * T, TOPS16},
     {54.62 * GB, ANEMLL},
     M1_POWER},
    {"M1 Ultra",
     {800 * GB, APPLE},
     {128 * GB, LAPTOPS},
     {21.2 * T, METAL},
     {11 * T, ULTRA},
     {54.72 * GB, ANEMLL},
     M1_POWER},
    {"M2",
     {102.4 * GB, LPDDR5("128", "100")},
     {24 * GB, LAPTOPS},
     {3.58 * T, METAL},
     {15.8 * T, TOPS16},
     {60.45 * GB, ANEMLL},
     M2_POWER},
    {"M2 Pro",
     {204.8 * GB, LPDDR5("256", "200")},
     {32 * GB, LAPTOPS},
     {6.80 * T, METAL},
     {15.8 * T, TOPS16},
     {61.93 * GB, ANEMLL},
     M2_POWER},
    {"M2 Max",
     {400 * GB, APPLE},
     NO_MEMORY,
     {13.6 * T, METAL},
     {15.8 * T, TOPS16},
     {62.01 * GB, ANEMLL},
     M2_POWER},
    {"M2 Ultra",
     {800 * GB, APPLE},
     {192 * GB, LAPTOPS},
     {27.2 * T, METAL},
     {15.8 * T, ULTRA},
     {61.68 * GB, ANEMLL},
     M2_POWER},
    {"M3",
     {102.4 * GB, LPDDR5("128", "100")},
     {24 * GB, LAPTOPS},
     {3.6 * T, CLOCKS},
     {18 * T, TOPS16},
     {63.10 * GB, ANEMLL},
     NO_POWERS},
    {"M3 Pro",
     {153.6 * GB, LPDDR5("192", "150")},
     {36 * GB, LAPTOPS},
     {6.44 * T, CLOCKS},
     {18 * T, TOPS16},
     NO_ANE_BW,
     NO_POWERS},
    {"M3 Max",
     {400 * GB, APPLE},
     {128 * GB, LAPTOPS},
     {14.3 * T, CLOCKS},
     {18 * T, TOPS16},
     {120.22 * GB, ANEMLL},
     NO_POWERS},
    {"M3 Ultra",
     {819 * GB, APPLE},
     {512 * GB, LAPTOPS},
     {28.6 * T, CLOCKS},
     {18 * T, ULTRA},
     NO_ANE_BW,
     NO_POWERS},
    {"M4",
     {120 * GB, APPLE},
     {32 * GB, LAPTOPS},
     {3.9 * T, CLOCKS},
     {19 * T, TOPS8},
     {64.18 * GB, ANEMLL},
     NO_POWERS},
    {"M4 Pro",
     {273 * GB, APPLE},
     {64 * GB, LAPTOPS},
     {7.8 * T, CLOCKS},
     {19 * T, TOPS8},
     {126.36 * GB, ANEMLL},
     NO_POWERS},
    {"M4 Max",
     {546 * GB, APPLE},
     {128 * GB, LAPTOPS},
     {16.7 * T, CLOCKS},
     {19 * T, TOPS8},
     {118.88 * GB, ANEMLL},
     NO_POWERS},
    {"M5",
     {153 * GB, APPLE},
     NO_MEMORY,
     NO_GPU,
     {19.6 * T, ANE_GUIDE},
     {70.21 * GB, ANEMLL},
     NO_POWERS},
    {"M5 Pro", {307 * GB, APPLE}, NO_MEMORY, NO_GPU, NO_ANE_FLOPS, NO_ANE_BW, NO_POWERS},
    {"M5 Max",
     {614 * GB, APPLE},
     NO_MEMORY,
     NO_GPU,
     NO_ANE_FLOPS,
     {148.39 * GB, ANEMLL},
     NO_POWERS},
    {"A14",
     {34.1 * GB, PHONE_BW},
     {6 * GB, "cpu-monkey.com"},
     PHONE_GPU,
     {11 * T, TOPS16},
     {34.1 * 0.89 * GB, PHONE_ANE_BW},
     NO_POWERS},
    {"A15",
     {34.1 * GB, PHONE_BW},
     {6 * GB, "cpu-boss.com"},
     PHONE_GPU,
     {15.8 * T, TOPS16},
     {34.1 * 0.89 * GB, PHONE_ANE_BW},
     NO_POWERS},
    {"A16",
     {51.2 * GB, PHONE_BW5},
     {6 * GB, "cpu-boss.com"},
     PHONE_GPU,
     {17 * T, TOPS16},
     {51.2 * 0.89 * GB, PHONE_ANE_BW},
     NO_POWERS},
    {"A17 Pro",
     {51.2 * GB, PHONE_BW5},
     NO_MEMORY,
     PHONE_GPU,
     {17.5 * T, TOPS8},
     {51.2 * 0.89 * GB, PHONE_ANE_BW},
     NO_POWERS},
    {"A18",
     {60 * GB, PHONE_BW5X},
     NO_MEMORY,
     PHONE_GPU,
     {17.5 * T, TOPS8},
     {60 * 0.89 * GB, PHONE_ANE_BW},
     NO_POWERS},
    {"A18 Pro",
     {60 * GB, PHONE_BW5X},
     NO_MEMORY,
     PHONE_GPU,
     {17.5 * T, TOPS8},
     {60 * 0.89 * GB, PHONE_ANE_BW},
     NO_POWERS},
};
#define CHIPS (sizeof assay__chips / sizeof assay__chips[0])

/* What stays on the engine's own memory costs no bandwidth: 2 MB on M1, 4.72 MB on M5, both
 * measured (ane-guide, chapter 12). The smaller one stands for the chips between and before. */
#define ANE_ON_CHIP_BYTES 2e6
#define ANE_ON_CHIP_M5_BYTES 4.72e6

bool assay__cell_is_rough(const struct assay__cell *cell)
{
    return cell->source == clocks;
}

const struct assay__chip *assay__chip_at(size_t index)
{
    return index < CHIPS ? &assay__chips[index] : NULL;
}

/* Lower case without spaces, dashes and underscores, and without a leading "apple". */
static void plain(char *out, size_t out_size, const char *name)
{
    size_t n = 0;
    for (; *name && n + 1 < out_size; name++) {
        if (strchr(" -_", *name)) continue;
        out[n++] = (char)(*name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
    }
    out[n] = 0;
    if (strncmp(out, "apple", 5) == 0) memmove(out, out + 5, strlen(out + 5) + 1);
}

const struct assay__chip *assay__chip_find(const char *name, const char **nearest)
{
    char wanted[64], own[64];
    size_t best = SIZE_MAX;
    plain(wanted, sizeof wanted, name);
    if (nearest) *nearest = NULL;
    for (size_t i = 0; i < CHIPS; i++) {
        plain(own, sizeof own, assay__chips[i].name);
        if (strcmp(own, wanted) == 0) return &assay__chips[i];
        size_t distance = assay__text_distance(wanted, own);
        if (distance >= best) continue;
        best = distance;
        if (nearest && assay__text_near(wanted, distance)) *nearest = assay__chips[i].name;
    }
    return NULL;
}

const char *assay__unit_name(enum assay__unit unit)
{
    static const char *const names[ASSAY__UNITS] = {"cpu", "gpu", "ane"};
    return unit < ASSAY__UNITS ? names[unit] : "";
}

/* --- targets ---------------------------------------------------------------------------------- */

static void source(struct assay__arena *arena, struct assay__predict_target *target,
                   const char *what, const char *from)
{
    const char *made = assay__arena_printf(arena, "%s: %s", what, from);
    if (made && target->source_count < ASSAY__TARGET_SOURCES)
        target->sources[target->source_count++] = made;
}

static struct assay__predict_target empty(const char *chip, enum assay__unit unit)
{
    return (struct assay__predict_target){
        .chip = chip,
        .unit = unit,
        .reason = "",
        .float32_flops = (double)NAN,
        .float16_flops = (double)NAN,
        .int8_flops = (double)NAN,
        .memory_bytes = (double)NAN,
        .conv_watts = (double)NAN,
        .gemm_watts = (double)NAN,
        .floor_watts = (double)NAN,
        .power_source = "no published basis for its power",
        .memory_source = "",
    };
}

static void level(struct assay__predict_target *target, double holds, double bandwidth,
                  double weights)
{
    target->levels[target->level_count].holds_bytes = holds;
    target->levels[target->level_count].bandwidth = bandwidth;
    target->weights_bandwidth[target->level_count++] = weights;
}

static void ane_of(const struct assay__chip *chip, struct assay__arena *arena,
                   struct assay__predict_target *target)
{
    bool m5 = strncmp(chip->name, "M5", 2) == 0;
    target->float16_flops = chip->ane_flops.value;
    target->int8_flops = 2 * chip->ane_flops.value; /* two 8-bit products for one of float16 */
    level(target, m5 ? ANE_ON_CHIP_M5_BYTES : ANE_ON_CHIP_BYTES, INFINITY, (double)NAN);
    level(target, INFINITY, chip->ane_bandwidth.value, chip->ane_bandwidth.value);
    target->conv_watts = chip->ane_conv_watts.value;
    target->gemm_watts = chip->ane_gemm_watts.value;
    target->floor_watts = chip->ane_floor_watts.value;
    target->power_source = chip->ane_conv_watts.source;
    source(arena, target, "peak", chip->ane_flops.source);
    source(arena, target, "bandwidth", chip->ane_bandwidth.source);
    source(arena, target, "on-chip memory", "2 MB on M1, 4.72 MB on M5, measured (ane-guide)");
    if (isnan(chip->ane_flops.value))
        target->reason = chip->ane_flops.source;
    else if (isnan(chip->ane_bandwidth.value))
        target->reason = chip->ane_bandwidth.source;
}

static void gpu_of(const struct assay__chip *chip, struct assay__arena *arena,
                   struct assay__predict_target *target)
{
    target->float32_flops = chip->gpu_flops.value;
    target->float16_flops =
        chip->gpu_flops.value; /* the same rate on M1 and M2: metal-benchmarks */
    target->power_source = "no source gives what its GPU draws by kind of work";
    level(target, INFINITY, chip->bandwidth.value, chip->bandwidth.value);
    source(arena, target, "peak", chip->gpu_flops.source);
    source(arena, target, "bandwidth", chip->bandwidth.source);
    if (isnan(chip->gpu_flops.value))
        target->reason = chip->gpu_flops.source;
    else if (isnan(chip->bandwidth.value))
        target->reason = chip->bandwidth.source;
}

int assay__target_of_chip(const struct assay__chip *chip, enum assay__unit unit,
                          struct assay__arena *arena, struct assay__predict_target *target)
{
    *target = empty(chip->name, unit);
    target->published = true;
    target->memory_bytes = chip->memory.value;
    target->memory_source = chip->memory.source;
    if (unit == ASSAY__UNIT_ANE) ane_of(chip, arena, target);
    if (unit == ASSAY__UNIT_GPU) gpu_of(chip, arena, target);
    if (unit == ASSAY__UNIT_CPU)
        target->reason = "no source gives the arithmetic rate of its CPU's matrix units; on that "
                         "machine --chip this measures it";
    return 0;
}

/* --- measured ceilings ------------------------------------------------------------------------ */

static double ceiling(const struct assay_profile *profile, const char *device, const char *name)
{
    for (size_t i = 0; i < profile->ceiling_count; i++) {
        const struct assay__ceiling_info *c = &profile->ceilings[i];
        if (strcmp(c->device, device) == 0 && strcmp(c->name, name) == 0 && c->value > 0)
            return c->value;
    }
    return (double)NAN;
}

static double fastest(double a, double b)
{
    return isnan(a) ? b : isnan(b) || a > b ? a : b;
}

static void host_levels(const struct assay_profile *profile, const char *device,
                        struct assay__predict_target *target)
{
    static const char *const names[] = {"l2", "l3", "dram"};
    const struct assay__environment *e = &profile->environment;
    double cores = e->cores > 0 ? e->cores : 1;
    const double holds[] = {e->l2_bytes * (e->l3_bytes > 0 ? cores : 1), e->l3_bytes, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        char read[64], triad[64];
        snprintf(read, sizeof read, "bandwidth.%s.read.all-cores", names[i]);
        snprintf(triad, sizeof triad, "bandwidth.%s.triad.all-cores", names[i]);
        double r = ceiling(profile, device, read), t = ceiling(profile, device, triad);
        double bandwidth = fastest(r, t);
        if (holds[i] > 0 && bandwidth > 0)
            level(target, holds[i], bandwidth, isnan(r) ? bandwidth : r);
    }
    if (target->level_count) target->levels[target->level_count - 1].holds_bytes = INFINITY;
}

static void host_of(const struct assay_profile *profile, const char *device,
                    struct assay__predict_target *target)
{
    target->float32_flops = ceiling(profile, device, "compute.float32.all-cores");
    target->float16_flops = ceiling(profile, device, "compute.float16.all-cores");
    target->int8_flops = ceiling(profile, device, "compute.int8.all-cores");
    if (isnan(target->float16_flops)) target->float16_flops = target->float32_flops;
    if (isnan(target->int8_flops)) target->int8_flops = target->float32_flops;
    host_levels(profile, device, target);
}

static void accelerator_of(const struct assay_profile *profile, const char *device,
                           struct assay__predict_target *target)
{
    double copy = ceiling(profile, device, "bandwidth.device.copy");
    target->float32_flops = fastest(ceiling(profile, device, "compute.float32.matmul"),
                                    ceiling(profile, device, "compute.tf32.matmul"));
    target->float16_flops = ceiling(profile, device, "compute.float16.matmul");
    target->int8_flops = ceiling(profile, device, "compute.int8.matmul");
    if (isnan(target->float16_flops)) target->float16_flops = target->float32_flops;
    if (copy > 0) level(target, INFINITY, copy, copy);
}

int assay__target_of_ceilings(const struct assay_profile *profile, const char *device,
                              const char *shown, struct assay__arena *arena,
                              struct assay__predict_target *target)
{
    bool host = ceiling(profile, device, "compute.float32.all-cores") > 0;
    *target = empty(shown, host ? ASSAY__UNIT_CPU : ASSAY__UNIT_GPU);
    if (host)
        host_of(profile, device, target);
    else
        accelerator_of(profile, device, target);
    target->power_source = "no power was measured with these ceilings";
    if (host) target->memory_bytes = profile->environment.memory_bytes;
    target->memory_source = host ? "memory of that machine" : "the profile does not hold it";
    if (host && !(target->memory_bytes > 0)) {
        target->memory_bytes = (double)NAN;
        target->memory_source = "its size is not known";
    }
    const char *when = profile->ceiling_count ? profile->ceilings[0].measured_at : "";
    source(arena, target, "peak and bandwidth",
           "ceilings measured on that machine, as the profile holds them");
    if (when && *when) source(arena, target, "measured", when);
    if (isnan(target->float32_flops) || target->level_count == 0)
        target->reason = assay__arena_printf(
            arena, "no ceilings of %s are kept: assay devices --ceilings measures them", device);
    return target->reason ? 0 : ASSAY_ENOMEM;
}
