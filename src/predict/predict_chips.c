/* predict_chips.c - the performance of Apple's chips according to public sources: one row per chip,
 * one source per number. A number that no source gives is NaN with the reason, and makes the unit
 * that needs it unavailable: nothing is guessed.
 *
 * Neural Engine, arithmetic: the published TOPS are float16 on A14 to A16 and M1 to M3 and 8-bit
 * from A17 Pro and M4 on (float16 is half of them), as measured peaks show (12 of 11 on M1, 16.8 of
 * 18 on M3 Pro, 18.6 of 38 / 2 on M4). The two engines of an Ultra count as one: its weights do not
 * stream faster than a Max's, so one model runs on one of them. Neural Engine, bandwidth: the rate
 * at which it streams weights, measured by anemll-bench; it is not proportional to that of the
 * chip's memory. For A chips no such measurement is public: their memory's bandwidth times 0.89,
 * M1's share (60.87 of 68.25), since an engine of a chip with one memory channel of that kind is
 * limited by it. GPU: cores × 128 × 2 × clock. CPU: no source gives the performance of the CPU's
 * matrix units, so the CPU is unavailable. */
#include "predict/predict.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GB 1e9
#define T 1e12
#define NONE (double)NAN

#define APPLE "Apple's newsroom figure of the chip"
#define LPDDR5(bits, said) "LPDDR5-6400 x " bits " bit; Apple's newsroom rounds it to " said " GB/s"
#define ANEMLL "measured with llama_lm_head by anemll-bench (Anemll/anemll-bench:Results.MD)"
#define TOPS16 "Apple's TOPS (hollance/neural-engine:docs/supported-devices.md), taken as float16"
#define TOPS8 "half of Apple's 8-bit TOPS (hollance/neural-engine:docs/supported-devices.md)"
#define ULTRA "half of Apple's TOPS: one model runs on one of its two engines"
#define METAL "cores x 128 x 2 x clock (philipturner/metal-benchmarks)"
static const char clocks[] =
    "cores x 128 x 2 x clock; clock from hmc-tech.com, +-10 %: Apple publishes none";
#define LAPTOPS "configuration table of Ars Technica and Apple's newsroom"
#define ANE_GUIDE "measured (sbryngelson/ane-guide chapters 10 to 12)"
#define PHONE4 "LPDDR4X-4266 x 64 bit (topcpu.net, askgeek.io)"
#define PHONE5 "LPDDR5-6400 x 64 bit (topcpu.net, nanoreview.net)"
#define PHONE5X "LPDDR5X-7500 x 64 bit: 17 % above A17 Pro, as Apple says (notebookcheck.net)"
#define M1_SHARE "0.89 of its memory's bandwidth, M1's share: no measurement is public"
#define NO_ANE_BW "no source gives the bandwidth of its Neural Engine"
#define NO_ANE "Apple does not say how fast its Neural Engine is, and no measurement is public"
#define NO_GPU "no source gives its GPU's arithmetic rate"
#define NO_MEMORY "no source here gives its largest memory"
#define NO_POWER "no source gives the power of its Neural Engine for convolutions and products"
#define NO_FLOOR "no source gives its power while starting and copying"
#define PHONE_GPU "no source with a method gives its GPU's arithmetic rate"

/* Watts during convolutions, during products and while starting, and their sources. */
#define M1_POWER 1.78, 4.4, 0.9, ANE_GUIDE, ANE_GUIDE
#define M2_POWER 3.8, 5.9, NONE, ANE_GUIDE, NO_FLOOR
#define UNKNOWN_POWER NONE, NONE, NONE, NO_POWER, NO_POWER

/* Name; memory: GB/s, GB; GPU: TFLOP/s; Neural Engine: TFLOP/s, GB/s, power. Each number is
 * followed by its source. */
#define CHIP(...) CHIP_ROW(__VA_ARGS__)
#define CHIP_ROW(name, bw, bw_from, memory, memory_from, gpu, gpu_from, ane, ane_from, ane_bw, \
                 ane_bw_from, conv, gemm, floor, power_from, floor_from)                       \
    {                                                                                          \
        name, {(bw)*GB, bw_from}, {(memory)*GB, memory_from}, {(gpu)*T, gpu_from},             \
            {(ane)*T, ane_from}, {(ane_bw)*GB, ane_bw_from}, {conv, power_from},               \
            {gemm, power_from},                                                                \
        {                                                                                      \
            floor, floor_from                                                                  \
        }                                                                                      \
    }

const struct assay__chip assay__chips[] = {
    CHIP("M1", 68.25, APPLE, 16, LAPTOPS, 2.62, METAL, 11, TOPS16, 60.87, ANEMLL, M1_POWER),
    CHIP("M1 Pro", 204.8, LPDDR5("256", "200"), 32, LAPTOPS, 5.31, METAL, 11, TOPS16, 54.90, ANEMLL,
         M1_POWER),
    CHIP("M1 Max", 409.6, LPDDR5("512", "400"), 64, LAPTOPS, 10.6, METAL, 11, TOPS16, 54.62, ANEMLL,
         M1_POWER),
    CHIP("M1 Ultra", 800, APPLE, 128, LAPTOPS, 21.2, METAL, 11, ULTRA, 54.72, ANEMLL, M1_POWER),
    CHIP("M2", 102.4, LPDDR5("128", "100"), 24, LAPTOPS, 3.58, METAL, 15.8, TOPS16, 60.45, ANEMLL,
         M2_POWER),
    CHIP("M2 Pro", 204.8, LPDDR5("256", "200"), 32, LAPTOPS, 6.80, METAL, 15.8, TOPS16, 61.93,
         ANEMLL, M2_POWER),
    CHIP("M2 Max", 400, APPLE, NONE, NO_MEMORY, 13.6, METAL, 15.8, TOPS16, 62.01, ANEMLL, M2_POWER),
    CHIP("M2 Ultra", 800, APPLE, 192, LAPTOPS, 27.2, METAL, 15.8, ULTRA, 61.68, ANEMLL, M2_POWER),
    CHIP("M3", 102.4, LPDDR5("128", "100"), 24, LAPTOPS, 3.6, clocks, 18, TOPS16, 63.10, ANEMLL,
         UNKNOWN_POWER),
    CHIP("M3 Pro", 153.6, LPDDR5("192", "150"), 36, LAPTOPS, 6.44, clocks, 18, TOPS16, NONE,
         NO_ANE_BW, UNKNOWN_POWER),
    CHIP("M3 Max", 400, APPLE, 128, LAPTOPS, 14.3, clocks, 18, TOPS16, 120.22, ANEMLL,
         UNKNOWN_POWER),
    CHIP("M3 Ultra", 819, APPLE, 512, LAPTOPS, 28.6, clocks, 18, ULTRA, NONE, NO_ANE_BW,
         UNKNOWN_POWER),
    CHIP("M4", 120, APPLE, 32, LAPTOPS, 3.9, clocks, 19, TOPS8, 64.18, ANEMLL, UNKNOWN_POWER),
    CHIP("M4 Pro", 273, APPLE, 64, LAPTOPS, 7.8, clocks, 19, TOPS8, 126.36, ANEMLL, UNKNOWN_POWER),
    CHIP("M4 Max", 546, APPLE, 128, LAPTOPS, 16.7, clocks, 19, TOPS8, 118.88, ANEMLL,
         UNKNOWN_POWER),
    CHIP("M5", 153, APPLE, NONE, NO_MEMORY, NONE, NO_GPU, 19.6, ANE_GUIDE, 70.21, ANEMLL,
         UNKNOWN_POWER),
    CHIP("M5 Pro", 307, APPLE, NONE, NO_MEMORY, NONE, NO_GPU, NONE, NO_ANE, NONE, NO_ANE_BW,
         UNKNOWN_POWER),
    CHIP("M5 Max", 614, APPLE, NONE, NO_MEMORY, NONE, NO_GPU, NONE, NO_ANE, 148.39, ANEMLL,
         UNKNOWN_POWER),
    CHIP("A14", 34.1, PHONE4, 6, "cpu-monkey.com", NONE, PHONE_GPU, 11, TOPS16, 34.1 * 0.89,
         M1_SHARE, UNKNOWN_POWER),
    CHIP("A15", 34.1, PHONE4, 6, "cpu-boss.com", NONE, PHONE_GPU, 15.8, TOPS16, 34.1 * 0.89,
         M1_SHARE, UNKNOWN_POWER),
    CHIP("A16", 51.2, PHONE5, 6, "cpu-boss.com", NONE, PHONE_GPU, 17, TOPS16, 51.2 * 0.89, M1_SHARE,
         UNKNOWN_POWER),
    CHIP("A17 Pro", 51.2, PHONE5, NONE, NO_MEMORY, NONE, PHONE_GPU, 17.5, TOPS8, 51.2 * 0.89,
         M1_SHARE, UNKNOWN_POWER),
    CHIP("A18", 60, PHONE5X, NONE, NO_MEMORY, NONE, PHONE_GPU, 17.5, TOPS8, 60 * 0.89, M1_SHARE,
         UNKNOWN_POWER),
    CHIP("A18 Pro", 60, PHONE5X, NONE, NO_MEMORY, NONE, PHONE_GPU, 17.5, TOPS8, 60 * 0.89, M1_SHARE,
         UNKNOWN_POWER),
};
#define CHIPS (sizeof assay__chips / sizeof assay__chips[0])

/* What stays in the engine's own memory costs no bandwidth: 2 MB on M1, 4.72 MB on M5, both
 * measured (ane-guide, chapter 12). The smaller one is used for the chips between and before. */
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
        .float32_flops = NONE,
        .float16_flops = NONE,
        .int8_flops = NONE,
        .memory_bytes = NONE,
        .conv_watts = NONE,
        .gemm_watts = NONE,
        .floor_watts = NONE,
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

int assay__target_of_chip(const struct assay__chip *chip, enum assay__unit unit,
                          struct assay__arena *arena, struct assay__predict_target *target)
{
    *target = empty(chip->name, unit);
    target->published = true;
    target->memory_bytes = chip->memory.value;
    target->memory_source = chip->memory.source;
    if (unit == ASSAY__UNIT_CPU) {
        target->reason = "no source gives the arithmetic rate of its CPU's matrix units; it can be "
                         "measured on that machine";
        return 0;
    }
    bool ane = unit == ASSAY__UNIT_ANE, m5 = strncmp(chip->name, "M5", 2) == 0;
    const struct assay__cell *flops = ane ? &chip->ane_flops : &chip->gpu_flops;
    const struct assay__cell *bandwidth = ane ? &chip->ane_bandwidth : &chip->bandwidth;
    target->float16_flops = flops->value;
    if (ane) {
        target->int8_flops = 2 * flops->value; /* two 8-bit products for one of float16 */
        target->conv_watts = chip->ane_conv_watts.value;
        target->gemm_watts = chip->ane_gemm_watts.value;
        target->floor_watts = chip->ane_floor_watts.value;
        target->power_source = chip->ane_conv_watts.source;
        level(target, m5 ? ANE_ON_CHIP_M5_BYTES : ANE_ON_CHIP_BYTES, INFINITY, (double)NAN);
    } else {
        target->float32_flops = flops->value; /* the same on M1 and M2: metal-benchmarks */
        target->power_source = "no source gives the power of its GPU by kind of work";
    }
    level(target, INFINITY, bandwidth->value, bandwidth->value);
    source(arena, target, "peak", flops->source);
    source(arena, target, "bandwidth", bandwidth->source);
    if (ane)
        source(arena, target, "on-chip memory", "2 MB on M1, 4.72 MB on M5, measured (ane-guide)");
    if (isnan(flops->value))
        target->reason = flops->source;
    else if (isnan(bandwidth->value))
        target->reason = bandwidth->source;
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

int assay__target_of_ceilings(const struct assay_profile *profile, const char *device,
                              const char *shown, struct assay__arena *arena,
                              struct assay__predict_target *target)
{
    bool host = ceiling(profile, device, "compute.float32.all-cores") > 0;
    *target = empty(shown, host ? ASSAY__UNIT_CPU : ASSAY__UNIT_GPU);
    target->power_source = "no power was measured with these ceilings";
    if (host) {
        double memory = profile->environment.memory_bytes;
        target->float32_flops = ceiling(profile, device, "compute.float32.all-cores");
        target->float16_flops = ceiling(profile, device, "compute.float16.all-cores");
        target->int8_flops = ceiling(profile, device, "compute.int8.all-cores");
        if (isnan(target->int8_flops)) target->int8_flops = target->float32_flops;
        host_levels(profile, device, target);
        target->memory_bytes = memory > 0 ? memory : (double)NAN;
        target->memory_source = memory > 0 ? "memory of that machine" : "its size is not known";
    } else {
        double copy = ceiling(profile, device, "bandwidth.device.copy");
        target->float32_flops = fastest(ceiling(profile, device, "compute.float32.matmul"),
                                        ceiling(profile, device, "compute.tf32.matmul"));
        target->float16_flops = ceiling(profile, device, "compute.float16.matmul");
        target->int8_flops = ceiling(profile, device, "compute.int8.matmul");
        if (copy > 0) level(target, INFINITY, copy, copy);
        target->memory_source = "the profile does not contain it";
    }
    if (isnan(target->float16_flops)) target->float16_flops = target->float32_flops;
    const char *when = profile->ceiling_count ? profile->ceilings[0].measured_at : "";
    source(arena, target, "peak and bandwidth",
           "ceilings measured on that machine, from the profile");
    if (when && *when) source(arena, target, "measured", when);
    if (isnan(target->float32_flops) || target->level_count == 0)
        target->reason = assay__arena_printf(
            arena, "no ceilings of %s are saved: measure them first", device);
    return target->reason ? 0 : ASSAY_ENOMEM;
}
