/* powermetrics_text.c - one sample of powermetrics as text. Lines that are known:
 *   *** Sampled system activity (…) (1002.90ms elapsed) ***
 *   E-Cluster HW active frequency: 1248 MHz      E-Cluster HW active residency:  77.43% (600 MHz:
 *     0% …)
 *   E-Cluster idle residency:  22.57%            E-Cluster down residency: 0.00%
 *   CPU 0 frequency: 1359 MHz                    CPU 0 active residency: .54% (…)
 *   CPU Power: 823 mW     GPU Power: 26 mW     ANE Power: 323 mW     Combined Power (CPU + GPU +
 *                         ANE): 1172 mW
 *   GPU HW active frequency: 389 MHz  ("GPU active frequency" in older ones)      GPU HW active
 *     residency: 2.31% (…)
 *   Current pressure level: Nominal
 * Everything else is passed over. The first of two equal lines counts, as GPU Power appears in two
 * sections. */
#include "probe/powermetrics.h"

#include <math.h>
#include <string.h>

struct line {
    const char *at;
    size_t length;
};

/* The number behind the colon, times what its unit says; NaN: no number, or an unknown unit. */
static double measure(struct line value)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = {{"mW", 1e-3}, {"W", 1}, {"MHz", 1e6}, {"GHz", 1e9}, {"%", 0.01}};
    size_t begin = 0, digits = 0;
    while (begin < value.length && value.at[begin] == ' ')
        begin++;
    while (begin + digits < value.length && strchr("+-.0123456789", value.at[begin + digits]) &&
           value.at[begin + digits])
        digits++;
    double number = assay__powermetrics_number(value.at + begin, digits);
    size_t at = begin + digits;
    while (at < value.length && value.at[at] == ' ')
        at++;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].unit);
        if (value.length - at >= length && memcmp(value.at + at, units[i].unit, length) == 0 &&
            (value.length - at == length || value.at[at + length] == ' '))
            return number * units[i].scale;
    }
    return NAN;
}

static bool begins(struct line line, const char *word)
{
    size_t length = strlen(word);
    return line.length >= length && memcmp(line.at, word, length) == 0;
}

static bool is(struct line line, const char *word)
{
    return line.length == strlen(word) && begins(line, word);
}

static struct line rest(struct line line, size_t from)
{
    return (struct line){line.at + from, line.length - from};
}

/* " HW active frequency" and the like, behind the unit's name. */
static void put_unit(struct assay__powermetrics_unit *unit, struct line what, double value)
{
    if (begins(what, " HW")) what = rest(what, 3);
    if (is(what, " active frequency") || is(what, " frequency"))
        assay__powermetrics_set_once(&unit->frequency_hz, value);
    if (is(what, " active residency")) assay__powermetrics_set_once(&unit->active_ratio, value);
    if (is(what, " idle residency")) assay__powermetrics_set_once(&unit->idle_ratio, value);
    if (is(what, " down residency")) assay__powermetrics_set_once(&unit->down_ratio, value);
}

static struct assay__powermetrics_unit *cluster_of(struct assay__powermetrics_sample *sample,
                                                   struct line name)
{
    if (name.length >= ASSAY__POWERMETRICS_NAME) return NULL;
    for (size_t i = 0; i < sample->cluster_count; i++)
        if (is(name, sample->clusters[i].name)) return &sample->clusters[i].unit;
    if (sample->cluster_count == ASSAY__POWERMETRICS_CLUSTERS) return NULL;
    struct assay__powermetrics_cluster *cluster = &sample->clusters[sample->cluster_count++];
    memcpy(cluster->name, name.at, name.length);
    cluster->name[name.length] = '\0';
    return &cluster->unit;
}

static void take_cpu(struct assay__powermetrics_sample *sample, struct line key, double value)
{
    size_t number = 0, at = 4, digits = 0;
    for (; at < key.length && key.at[at] >= '0' && key.at[at] <= '9' && digits < 4; at++, digits++)
        number = number * 10 + (size_t)(key.at[at] - '0');
    if (digits == 0 || number >= ASSAY__POWERMETRICS_CPUS || at == key.length || key.at[at] != ' ')
        return;
    put_unit(&sample->cpus[number], rest(key, at), value);
    if (sample->cpu_count <= number) sample->cpu_count = number + 1;
}

static void take_line(struct assay__powermetrics_sample *sample, struct line line)
{
    const char *colon = line.length ? memchr(line.at, ':', line.length) : NULL;
    if (!colon) return;
    struct line key = {line.at, (size_t)(colon - line.at)};
    struct line value = rest(line, key.length + 1);
    double number = measure(value);
    const char *cluster = memmem(key.at, key.length, "-Cluster ", 9);
    if (is(key, "CPU Power")) assay__powermetrics_set_once(&sample->cpu_power_w, number);
    if (is(key, "GPU Power")) assay__powermetrics_set_once(&sample->gpu_power_w, number);
    if (is(key, "ANE Power")) assay__powermetrics_set_once(&sample->ane_power_w, number);
    if (begins(key, "Combined Power"))
        assay__powermetrics_set_once(&sample->combined_power_w, number);
    if (is(key, "Current pressure level")) {
        while (value.length && *value.at == ' ')
            value = rest(value, 1);
        assay__powermetrics_set_once(&sample->thermal_pressure,
                                     assay__powermetrics_pressure(value.at, value.length));
    }
    if (begins(key, "GPU ")) put_unit(&sample->gpu, rest(key, 3), number);
    if (begins(key, "CPU ")) take_cpu(sample, key, number);
    if (cluster) {
        size_t length = (size_t)(cluster - key.at) + 8;
        struct assay__powermetrics_unit *unit = cluster_of(sample, (struct line){key.at, length});
        if (unit) put_unit(unit, rest(key, length), number);
    }
}

/* "… (1002.90ms elapsed) ***" */
static double elapsed_s(struct line head)
{
    const char *end = memmem(head.at, head.length, "ms elapsed)", 11), *begin = end;
    while (begin && begin > head.at && begin[-1] != '(')
        begin--;
    return end ? assay__powermetrics_number(begin, (size_t)(end - begin)) * 1e-3 : NAN;
}

bool assay__powermetrics_text(const char *data, size_t size,
                              struct assay__powermetrics_sample *sample, const char **reason)
{
    const char *end = data + size;
    bool first = true;
    assay__powermetrics_clear(sample);
    while (data < end) {
        const char *stop = memchr(data, '\n', (size_t)(end - data));
        if (!stop) stop = end;
        struct line line = {data, (size_t)(stop - data)};
        if (line.length && line.at[line.length - 1] == '\r') line.length--;
        if (first)
            sample->elapsed_s = line.length ? elapsed_s(line) : NAN;
        else
            take_line(sample, line);
        first = false;
        data = stop < end ? stop + 1 : end;
    }
    return assay__powermetrics_finish(sample, reason);
}
