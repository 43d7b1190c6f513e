/* require_table.c - the kinds of requirements, the chips' published peaks and the built-in tables. The four tables are those of the NCP
 * monitoring guide for the M1 family: TFLOP/s and GB/s are floors, MiB of memory are a budget. The peaks of the chips are for
 * telling a requirement that no program can meet: float32 of the GPU = cores x 128 x 2 x clock, which Apple gives for M1 and M2; of
 * later chips the clock is not published, so that only their bandwidth stands here. */
#include "advise/require.h"

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

static const char m1_source[] =
    "GPU float32: cores x 128 x 2 x clock (M1 1278 MHz, Pro, Max and Ultra 1296 MHz); "
    "Apple's memory bandwidth";
static const char m2_source[] = "GPU float32: cores x 128 x 2 x 1398 MHz; Apple's memory bandwidth";
static const char memory_source[] = "Apple's memory bandwidth";

static const struct assay__require_chip chips[] = {
    {"M1", 2.62 * TERA, 68.25 * GIGA, m1_source},
    {"M1 Pro", 5.31 * TERA, 200 * GIGA, m1_source},
    {"M1 Max", 10.6 * TERA, 400 * GIGA, m1_source},
    {"M1 Ultra", 21.2 * TERA, 800 * GIGA, m1_source},
    {"M2", 3.58 * TERA, 100 * GIGA, m2_source},
    {"M2 Pro", 6.80 * TERA, 200 * GIGA, m2_source},
    {"M2 Max", 13.6 * TERA, 400 * GIGA, m2_source},
    {"M2 Ultra", 27.2 * TERA, 800 * GIGA, m2_source},
    {"M3", NAN, 100 * GIGA, memory_source},
    {"M3 Pro", NAN, 150 * GIGA, memory_source},
    {"M3 Max", NAN, 400 * GIGA, memory_source},
    {"M3 Ultra", NAN, 819 * GIGA, memory_source},
    {"M4", NAN, 120 * GIGA, memory_source},
    {"M4 Pro", NAN, 273 * GIGA, memory_source},
    {"M4 Max", NAN, 546 * GIGA, memory_source},
    {"M5", NAN, 153 * GIGA, memory_source},
    {"M5 Pro", NAN, 307 * GIGA, memory_source},
    {"M5 Max", NAN, 614 * GIGA, memory_source},
};

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

const struct assay__require_chip *assay__require_chip_at(size_t index)
{
    return index < sizeof chips / sizeof chips[0] ? &chips[index] : NULL;
}

const struct assay__require_chip *assay__require_chip_find(const char *name)
{
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++)
        if (same(chips[i].name, name)) return &chips[i];
    return NULL;
}

/* --- built-in tables -------------------------------------------------------------------------- */

#define COLUMN(tflops, gigabytes, mebibytes)                                    \
    {                                                                           \
        (tflops) * TERA, (gigabytes)*GIGA, NAN, NAN, NAN, (mebibytes)*MEBI, NAN \
    }

static const struct assay__require_table presets[] = {
    {"m1", "built in", &chips[0], COLUMN(2, 50, 8192), COLUMN(3, 70, 6144), 32, 32, 64, 32},
    {"m1-pro", "built in", &chips[1], COLUMN(4, 150, 16384), COLUMN(6, 200, 12288), 64, 64, 128,
     64},
    {"m1-max", "built in", &chips[2], COLUMN(8, 300, 32768), COLUMN(12, 400, 24576), 128, 64, 128,
     64},
    {"m1-ultra", "built in", &chips[3], COLUMN(16, 600, 65536), COLUMN(24, 800, 49152), 256, 128,
     256, 128},
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
