/* require_table.c - the kinds of requirements, what they are compared with of a chip, and the
 * built-in tables. The four tables are those of the NCP monitoring guide for the M1 family: TFLOP/s
 * and GB/s are floors, MiB of memory are a budget. The peaks of the chips are for telling a
 * requirement that no program can meet; they are those of predict_chips.c, each with its source. Of
 * M3 and later chips no clock of the GPU is published: what stands there is good for an estimate,
 * and only their bandwidth is compared here. */
#include "judge/require.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define TERA 1e12
#define GIGA 1e9
#define MEBI 1048576.0

static const struct assay__require_info infos[ASSAY__REQUIRE_COUNT] = {
    {"tflops", "compute", "compute.rate", "compute.efficiency", "FLOP/s", TERA, "TFLOP/s", true},
    {"bandwidth", "bandwidth", "memory.bandwidth", NULL, "B/s", GIGA, "GB/s", true},
    {"throughput", "throughput", "throughput.inferences", NULL, "1/s", 1, "inferences/s", true},
    {"p50", "latency p50", "latency.p50", NULL, "s", 0, "", false},
    {"p99", "latency p99", "latency.p99", NULL, "s", 0, "", false},
    {"memory", "memory", "memory.peak.worker", "memory.budget_share", "B", MEBI, "MiB", false},
    {"power", "power", "power.average", "power.budget_share", "W", 1, "W", false},
};

const struct assay__require_info *assay__require_info(enum assay__require_kind kind)
{
    return &infos[kind];
}

/* --- chips ------------------------------------------------------------------------------------ */

double assay__require_peak(const struct assay__chip *chip, enum assay__require_kind kind)
{
    if (kind == ASSAY__REQUIRE_BANDWIDTH) return chip->bandwidth.value;
    if (kind != ASSAY__REQUIRE_TFLOPS || assay__cell_is_rough(&chip->gpu_flops)) return NAN;
    return chip->gpu_flops.value;
}

/* --- built-in tables -------------------------------------------------------------------------- */

/* Letters and digits only, and without "Apple": "Apple M1-Max" is "m1max". */
static void fold(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (; *name && used + 1 < size; name++)
        if (!strchr(" -_", *name)) out[used++] = (char)tolower((unsigned char)*name);
    out[used] = '\0';
    if (strncmp(out, "apple", 5) == 0) memmove(out, out + 5, used - 5 + 1);
}

static bool same(const char *a, const char *b)
{
    char first[32], second[32];
    fold(a, first, sizeof first);
    fold(b, second, sizeof second);
    return strcmp(first, second) == 0;
}

#define COLUMN(tflops, gigabytes, mebibytes)                                    \
    {                                                                           \
        (tflops) * TERA, (gigabytes)*GIGA, NAN, NAN, NAN, (mebibytes)*MEBI, NAN \
    }

static const struct assay__require_table presets[] = {
    {"m1", "built in", &assay__chips[0], COLUMN(2, 50, 8192), COLUMN(3, 70, 6144), 32, 32, 64, 32},
    {"m1-pro", "built in", &assay__chips[1], COLUMN(4, 150, 16384), COLUMN(6, 200, 12288), 64, 64,
     128, 64},
    {"m1-max", "built in", &assay__chips[2], COLUMN(8, 300, 32768), COLUMN(12, 400, 24576), 128, 64,
     128, 64},
    {"m1-ultra", "built in", &assay__chips[3], COLUMN(16, 600, 65536), COLUMN(24, 800, 49152), 256,
     128, 256, 128},
};

const struct assay__require_table *assay__require_preset_at(size_t index)
{
    return index < sizeof presets / sizeof presets[0] ? &presets[index] : NULL;
}

const struct assay__require_table *assay__require_preset(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (same(presets[i].name, name)) return &presets[i];
    return NULL;
}
