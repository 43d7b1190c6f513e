/* shown_rows.c - the table of what is shown. The first rule that fits a channel names its row; a
 * channel that none fits is not read. */
#include "monitor/shown_rows.h"

#include "base/text.h"
#include "probe/sysfs.h"

#include <math.h>
#include <string.h>

enum naming {
    AS_IT_IS, /* the channel's own name */
    RAIL,     /* prefix and the channel's rail */
    TAIL,     /* prefix and what follows the first '.' of the channel's name */
};

#define PER_TIME "growth / time between the readings"
#define PER_ENERGY "growth of the energy counter / time between two of its changes"
#define PER_TICKS "growth of these CPU times / growth of all CPU times"

static const struct rule {
    const char *probe, *channels; /* names of channels, a list; '*' at the end: any ending */
    const char *quantity;         /* "": any */
    enum assay__section section;
    enum assay__row_rank rank;
    enum naming naming;
    const char *prefix, *kind, *formula;
} rules[] = {
#define R(section, rank) ASSAY__SECTION_##section, ASSAY__ROW_##rank
    {"cores", "utilization.active.cpu", "", R(CPU, HEADLINE), AS_IT_IS, "", "active", PER_TICKS},
    {"cores", "utilization.steal.cpu", "", R(CPU, NORMAL), AS_IT_IS, "", "stolen", PER_TICKS},
    {"cores", "*", "", R(CPU, DETAIL), AS_IT_IS, "", "active", PER_TICKS},
    {"cpufreq", "clock.mean", "", R(CPU, HEADLINE), RAIL, "clock.mean.", "", ""},
    {"core-clocks", "*", "", R(CPU, DETAIL), AS_IT_IS, "", "", ""},
    {"meminfo", "memory.system.used", "", R(MEMORY, HEADLINE), AS_IT_IS, "", "", ""},
    {"meminfo", "*", "", R(MEMORY, NORMAL), AS_IT_IS, "", "", ""},
    {"cgroup", "memory.current", "", R(MEMORY, NORMAL), AS_IT_IS, "memory.cgroup.used", "", ""},
    {"cgroup", "time.throttled", "", R(THROTTLING, NORMAL), AS_IT_IS, "throttled.cgroup",
     "throttled by a CPU limit", PER_TIME},
    {"pressure", "time.cpu.some time.memory.some", "", R(PRESSURE, HEADLINE), TAIL, "pressure.",
     "some task waited", PER_TIME},
    {"pressure", "time.io.some", "", R(PRESSURE, NORMAL), TAIL, "pressure.", "some task waited",
     PER_TIME},
    {"pressure", "*", "", R(PRESSURE, NORMAL), TAIL, "pressure.", "all tasks waited", PER_TIME},
    {"gpu nvml powermetrics", "utilization.gpu*.memory", "", R(ACCELERATOR, NORMAL), RAIL,
     "utilization.memory.", "memory active", ""},
    {"gpu nvml", "utilization.*", "utilization", R(ACCELERATOR, HEADLINE), TAIL,
     "utilization.active.", "active", ""},
    {"powermetrics", "utilization.gpu", "", R(ACCELERATOR, HEADLINE), RAIL, "utilization.active.",
     "active", ""},
    {"powermetrics", "utilization.*", "", R(CPU, NORMAL), RAIL, "utilization.active.", "active",
     ""},
    {"powermetrics", "clock.gpu", "", R(ACCELERATOR, NORMAL), AS_IT_IS, "", "", ""},
    {"powermetrics", "clock.*", "", R(CPU, DETAIL), AS_IT_IS, "", "", ""},
    {"gpu", "time.*", "time", R(ACCELERATOR, NORMAL), RAIL, "utilization.asleep.",
     "asleep (render C6)", PER_TIME},
    {"accel", "time.busy.*", "time", R(ACCELERATOR, HEADLINE), RAIL, "utilization.active.",
     "active", PER_TIME},
    {"accel", "clock.limit.*", "", R(ACCELERATOR, DETAIL), AS_IT_IS, "", "", ""},
    {"gpu nvml", "memory.gpu*.used", "memory", R(ACCELERATOR, HEADLINE), AS_IT_IS, "", "", ""},
    {"gpu nvml accel", "*", "memory clock", R(ACCELERATOR, NORMAL), AS_IT_IS, "", "", ""},
    {"nvml", "state.gpu*.slow.idle state.gpu*.slow.setting", "", R(ACCELERATOR, DETAIL), AS_IT_IS,
     "", "", ""},
    {"nvml", "state.gpu*.slow.*", "", R(THROTTLING, NORMAL), TAIL, "throttled.", "", ""},
    {"rapl hwmon gpu nvml-energy powermetrics", "energy.*", "energy", R(POWER, HEADLINE), RAIL,
     "power.", "", PER_ENERGY},
    {"hwmon gpu nvml powermetrics battery", "power.*", "power", R(POWER, HEADLINE), RAIL, "power.",
     "", ""},
    {"gpu nvml", "temperature.*", "temperature", R(TEMPERATURE, HEADLINE), AS_IT_IS, "", "", ""},
    {"thermal hwmon", "temperature.*", "temperature", R(TEMPERATURE, NORMAL), AS_IT_IS, "", "", ""},
    {"thermal", "count.throttled.*", "", R(THROTTLING, NORMAL), RAIL, "throttles.", "", PER_TIME},
    {"process", "memory.rss", "", R(OWN, NORMAL), AS_IT_IS, "memory.rss.assay", "", ""},
#undef R
};

const char *assay__section_title(enum assay__section section)
{
    static const char *const titles[] = {
#define TITLE(NAME, title) title,
        ASSAY__SECTIONS(TITLE)
#undef TITLE
    };
    return titles[section];
}

/* Whether the name fits the pattern; each '*' stands for any text. */
static bool fits_one(const char *name, const char *pattern, size_t length)
{
    if (length == 0) return !*name;
    if (*pattern == '*')
        return fits_one(name, pattern + 1, length - 1) ||
               (*name && fits_one(name + 1, pattern, length));
    return *name == *pattern && fits_one(name + 1, pattern + 1, length - 1);
}

static bool fits(const char *name, const char *patterns)
{
    while (*patterns) {
        size_t length = strcspn(patterns, " ");
        if (fits_one(name, patterns, length)) return true;
        patterns += length + strspn(patterns + length, " ");
    }
    return false;
}

/* "gpu0" of "gpu0" and "gpu0.edge"; CPUs and their packages are the CPU; a chip is the machine. */
static const char *device_of(struct assay__arena *arena, const char *rail)
{
    if (fits(rail, "gpu* npu* ane*"))
        return assay__arena_text(arena, "%.*s", (int)strcspn(rail, ".-"), rail);
    return fits(rail, "cpu* package* core* uncore* dram* psys*") ? "cpu" : "";
}

static const char *name_of(struct assay__arena *arena, const struct rule *rule,
                           const struct assay__channel *channel)
{
    const char *dot = strchr(channel->name, '.');
    if (rule->naming == AS_IT_IS) return *rule->prefix ? rule->prefix : channel->name;
    return assay__arena_text(arena, "%s%s", rule->prefix,
                             rule->naming == RAIL ? channel->rail
                             : dot                ? dot + 1
                                                  : "");
}

bool assay__row_of(struct assay__arena *arena, const char *probe,
                   const struct assay__channel *channel, struct assay__row *row)
{
    const struct rule *rule = rules, *end = rules + sizeof rules / sizeof rules[0];
    while (rule < end &&
           !(assay__text_is_one_of(probe, rule->probe) && fits(channel->name, rule->channels) &&
             (!*rule->quantity || assay__text_is_one_of(channel->quantity, rule->quantity))))
        rule++;
    if (rule == end) return false;
    *row = (struct assay__row){.name = name_of(arena, rule, channel),
                               .section = rule->section,
                               .rank = rule->rank,
                               .device = device_of(arena, channel->rail),
                               .kind = rule->kind,
                               .source = channel->source,
                               .formula = rule->formula,
                               .reason = ""};
    return true;
}

bool assay__row_probe(const char *probe)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (assay__text_is_one_of(probe, rules[i].probe)) return true;
    return false;
}

/* rapl: …/energy_uj and …/constraint_N_power_limit_uw in one folder, the long-term limit and, often
 * several times as high, the short-term ones; hwmon: …/power1_average and …/power1_cap. A limit of
 * 0 is none. */
double assay__row_power_limit(const struct assay__channel *channel)
{
    const char *path = channel->source, *file = path[0] == '/' ? strrchr(path, '/') : NULL;
    double microwatts = 0;
    if (!file) return NAN;
    int folder = (int)(file - path);
    const char *tail = strchr(file, '_');
    for (int i = 0; i < 3 && fits(file, "/energy_uj"); i++) {
        double limit = 0;
        assay__sysfs_value(&limit, "%.*s/constraint_%d_power_limit_uw", folder, path, i);
        microwatts = fmax(microwatts, limit);
    }
    if (fits(file, "/power*_average /power*_input") && tail)
        assay__sysfs_value(&microwatts, "%.*s_cap", (int)(tail - path), path);
    return microwatts > 0 ? microwatts * 1e-6 : (double)NAN;
}
