/* powermetrics_read.c - the samples in a stream of powermetrics, as property lists or as text.
 *
 * Property lists: not a general reader of XML, but of elements without relevant attributes, in the
 * order of a property list, nested at most 32 deep. Containers are walked with a stack of their
 * keys; a number is taken when its path is one we know:
 *   elapsed_ns · timestamp · thermal_pressure · processor.{cpu,gpu,ane}_{power,energy} (mW, mJ) ·
 *     processor.combined_power
 *   processor.clusters[].{name,freq_hz,idle_ratio,down_ratio} ·
 *     processor.clusters[].cpus[].{cpu,freq_hz,idle_ratio,down_ratio}
 *   gpu.{freq_hz,idle_ratio}
 * Text, the lines that are known:
 *   *** Sampled system activity (Fri Sep 11 13:41:46 2026 -0700) (1002.90ms elapsed) ***
 *   E-Cluster HW active frequency: 1248 MHz    E-Cluster HW active residency:  77.43% (600 MHz: …)
 *   E-Cluster idle residency:  22.57%          E-Cluster down residency: 0.00%
 *   CPU 0 frequency: 1359 MHz                  CPU 0 active residency: .54% (…)
 *   CPU Power: 823 mW    GPU Power: 26 mW    ANE Power: 323 mW    Combined Power (…): 1172 mW
 *   GPU HW active frequency: 389 MHz (older: "GPU active frequency")
 *   GPU HW active residency: 2.31% (…)         Current pressure level: Nominal
 * Everything else is skipped. The first of two equal keys or lines counts (GPU Power appears in two
 * sections). */
#include "probe/powermetrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "*** Sampled system activity"
#define CLOSING "</plist>"
#define DEPTH 32
#define HERTZ_FROM 1e5 /* a clock below it was given in MHz */

struct text {
    const char *at;
    size_t length;
};

static const struct text none = {NULL, 0};

static bool begins(struct text text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.at, word, length) == 0;
}

static bool is(struct text text, const char *word)
{
    return text.length == strlen(word) && begins(text, word);
}

static struct text rest(struct text text, size_t from)
{
    return (struct text){text.at + from, text.length - from};
}

static struct text skip_blanks(struct text text)
{
    while (text.length && *text.at == ' ')
        text = rest(text, 1);
    return text;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The kernel's levels; names as in captures and in the system's headers. */
const char *const assay__powermetrics_pressures[] = {"Nominal",  "Light",    "Moderate", "Heavy",
                                                     "Critical", "Trapping", "Sleeping", NULL};

/* Sets a value that is still unknown: the first of two equal keys counts. */
static void set_once(double *place, double value)
{
    if (isnan(*place)) *place = value;
}

static void set_pressure(struct assay__powermetrics_sample *sample, struct text name)
{
    for (size_t i = 0; assay__powermetrics_pressures[i]; i++)
        if (is(name, assay__powermetrics_pressures[i]))
            set_once(&sample->thermal_pressure, (double)i);
}

/* A whole decimal number, finite; else NaN. */
static double number(struct text text)
{
    char copy[64], *end;
    if (text.length == 0 || text.length >= sizeof copy) return NAN;
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    if (copy[strspn(copy, "+-.0123456789eE")] != '\0')
        return NAN; /* no "inf", "nan", hexadecimal */
    double value = strtod(copy, &end);
    return *end || !isfinite(value) ? NAN : value;
}

/* Days from 1970-01-01 to that day of the Gregorian calendar (years counted from March). */
static double unix_days(int year, int month, int day)
{
    int march_year = month > 2 ? year : year - 1;
    int day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    int days = march_year * 365 + march_year / 4 - march_year / 100 + march_year / 400;
    return (double)days + day_of_year - 719468;
}

static double unix_time(const int date[3], const int clock[3], int zone_minutes)
{
    if (date[0] < 1970 || date[0] > 9999 || date[1] < 1 || date[1] > 12 || date[2] < 1 ||
        date[2] > 31 || clock[0] < 0 || clock[0] > 23 || clock[1] < 0 || clock[1] > 59 ||
        clock[2] < 0 || clock[2] > 60)
        return NAN;
    return unix_days(date[0], date[1], date[2]) * 86400 + clock[0] * 3600 + clock[1] * 60 +
           clock[2] - zone_minutes * 60;
}

/* "2023-04-01T13:18:36Z" */
static double plist_time(struct text text)
{
    char copy[24];
    int date[3], clock[3], length = 0;
    if (text.length >= sizeof copy) return NAN;
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    if (sscanf(copy, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &date[0], &date[1], &date[2], &clock[0],
               &clock[1], &clock[2], &length) != 6 ||
        (size_t)length != text.length)
        return NAN;
    return unix_time(date, clock, 0);
}

/* "Fri Sep 11 13:41:46 2026 -0700" */
static double header_time(struct text text)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char copy[48], name[4], sign;
    int date[3], clock[3], zone;
    if (text.length >= sizeof copy) return NAN;
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    if (sscanf(copy, "%*3s %3s %2d %2d:%2d:%2d %4d %c%4d", name, &date[2], &clock[0], &clock[1],
               &clock[2], &date[0], &sign, &zone) != 8)
        return NAN;
    const char *month = strlen(name) == 3 ? strstr(months, name) : NULL;
    if (!month || (month - months) % 3 || (sign != '+' && sign != '-') || zone < 0) return NAN;
    date[1] = (int)(month - months) / 3 + 1;
    int minutes = zone / 100 * 60 + zone % 100;
    return unix_time(date, clock, sign == '-' ? -minutes : minutes);
}

static const struct assay__powermetrics_unit unknown = {NAN, NAN, NAN, NAN};

/* Every value unknown. */
static void clear(struct assay__powermetrics_sample *sample)
{
    *sample = (struct assay__powermetrics_sample){.gpu = unknown};
    sample->elapsed_s = sample->end_s = sample->thermal_pressure = NAN;
    sample->cpu_power_w = sample->gpu_power_w = sample->ane_power_w = NAN;
    sample->combined_power_w = NAN;
    sample->cpu_energy_j = sample->gpu_energy_j = sample->ane_energy_j = NAN;
    for (size_t i = 0; i < ASSAY__POWERMETRICS_CLUSTERS; i++)
        sample->clusters[i].unit = unknown;
    for (size_t i = 0; i < ASSAY__POWERMETRICS_CPUS; i++)
        sample->cpus[i] = unknown;
}

/* A valid share; rounding may leave it slightly outside. */
static double share(double value)
{
    if (!(value >= -1e-3 && value <= 1 + 1e-3)) return NAN;
    return fmin(fmax(value, 0), 1);
}

static bool finish_unit(struct assay__powermetrics_unit *unit)
{
    if (unit->frequency_hz < 0) unit->frequency_hz = NAN;
    if (isnan(unit->active_ratio)) {
        double down = isnan(unit->down_ratio) ? 0 : unit->down_ratio;
        unit->active_ratio = 1 - unit->idle_ratio - down;
    }
    unit->active_ratio = share(unit->active_ratio);
    unit->idle_ratio = share(unit->idle_ratio);
    return !isnan(unit->frequency_hz) || !isnan(unit->active_ratio);
}

/* Derives values from the others. False: nothing is known, or a value is impossible (negative, a
 * share over 1): *reason. */
static bool finish(struct assay__powermetrics_sample *sample, const char **reason)
{
    double *const positive[] = {&sample->elapsed_s,        &sample->cpu_power_w,
                                &sample->gpu_power_w,      &sample->ane_power_w,
                                &sample->combined_power_w, &sample->cpu_energy_j,
                                &sample->gpu_energy_j,     &sample->ane_energy_j};
    bool any = !isnan(sample->thermal_pressure);
    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++) {
        if (*positive[i] < 0) *positive[i] = NAN;
        any = any || (i > 0 && !isnan(*positive[i]));
    }
    if (finish_unit(&sample->gpu)) any = true;
    for (size_t i = 0; i < sample->cluster_count; i++)
        if (finish_unit(&sample->clusters[i].unit)) any = true;
    for (size_t i = 0; i < sample->cpu_count; i++)
        if (finish_unit(&sample->cpus[i])) any = true;
    *reason = any ? "" : "a powermetrics sample without power, clocks or thermal pressure";
    return any;
}

/* --- property lists --------------------------------------------------------------------------- */

struct reader {
    const char *at, *end;
    struct assay__powermetrics_sample *sample;
    struct text keys[DEPTH]; /* of the container at each depth */
    char kinds[DEPTH];       /* 'd' or 'a' */
    size_t depth;
    struct text key; /* the last <key> of the innermost dictionary */
    /* of the dictionary being read: its number may come last */
    struct assay__powermetrics_unit cpu;
    double cpu_number;
};

/* Whether the dictionary being read is at that path. */
static bool under(const struct reader *reader, const char *const *path, size_t count)
{
    if (reader->depth != count) return false;
    for (size_t i = 0; i < count; i++)
        if (path[i] && !is(reader->keys[i], path[i])) return false;
    return true;
}

/* depth 0 is the root dictionary; dictionaries in an array have no key. */
static const char *const in_processor[] = {"", "processor"};
static const char *const in_gpu[] = {"", "gpu"};
static const char *const in_cluster[] = {"", "processor", "clusters", ""};
static const char *const in_cpu[] = {"", "processor", "clusters", "", "cpus", ""};

static void plist_unit(struct assay__powermetrics_unit *unit, struct text key, struct text value)
{
    if (is(key, "freq_hz")) set_once(&unit->frequency_hz, number(value));
    if (is(key, "idle_ratio")) set_once(&unit->idle_ratio, number(value));
    if (is(key, "down_ratio")) set_once(&unit->down_ratio, number(value));
}

/* A value of the dictionary being read. */
static void take(struct reader *reader, struct text value)
{
    struct assay__powermetrics_sample *sample = reader->sample;
    struct text key = reader->key;
    if (reader->depth == 0 || reader->kinds[reader->depth - 1] != 'd' || !key.at) return;
    if (reader->depth == 1) {
        if (is(key, "elapsed_ns")) set_once(&sample->elapsed_s, number(value) * 1e-9);
        if (is(key, "timestamp")) set_once(&sample->end_s, plist_time(value));
        if (is(key, "thermal_pressure")) set_pressure(sample, value);
    } else if (under(reader, in_processor, 2)) {
        const struct {
            const char *key;
            double *place;
        } rows[] = {
            {"cpu_power", &sample->cpu_power_w},   {"gpu_power", &sample->gpu_power_w},
            {"ane_power", &sample->ane_power_w},   {"combined_power", &sample->combined_power_w},
            {"cpu_energy", &sample->cpu_energy_j}, {"gpu_energy", &sample->gpu_energy_j},
            {"ane_energy", &sample->ane_energy_j},
        };
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (is(key, rows[i].key)) set_once(rows[i].place, number(value) * 1e-3);
    } else if (under(reader, in_gpu, 2)) {
        double megahertz = is(key, "freq_hz") ? number(value) : NAN;
        if (megahertz < HERTZ_FROM)
            set_once(&sample->gpu.frequency_hz, megahertz * 1e6);
        else
            plist_unit(&sample->gpu, key, value);
    } else if (under(reader, in_cluster, 4) && sample->cluster_count) {
        struct assay__powermetrics_cluster *cluster = &sample->clusters[sample->cluster_count - 1];
        size_t most = sizeof cluster->name - 1;
        if (is(key, "name") && !cluster->name[0])
            memcpy(cluster->name, value.at, value.length < most ? value.length : most);
        plist_unit(&cluster->unit, key, value);
    } else if (under(reader, in_cpu, 6)) {
        if (is(key, "cpu")) set_once(&reader->cpu_number, number(value));
        plist_unit(&reader->cpu, key, value);
    }
}

static const char *push(struct reader *reader, char kind)
{
    if (reader->depth == DEPTH) return "a property list nested more than 32 deep";
    bool keyed = reader->key.at && !(reader->depth && reader->kinds[reader->depth - 1] == 'a');
    reader->keys[reader->depth] = keyed ? reader->key : (struct text){"", 0};
    reader->kinds[reader->depth++] = kind;
    reader->key = none;
    struct assay__powermetrics_sample *sample = reader->sample;
    if (kind == 'd' && under(reader, in_cluster, 4)) {
        if (sample->cluster_count == ASSAY__POWERMETRICS_CLUSTERS) return "more than 16 clusters";
        sample->cluster_count++;
    }
    if (under(reader, in_cpu, 6)) {
        reader->cpu = unknown;
        reader->cpu_number = NAN;
    }
    return NULL;
}

static const char *pop(struct reader *reader, char kind)
{
    if (reader->depth == 0 || reader->kinds[reader->depth - 1] != kind)
        return "a property list with badly nested elements";
    if (kind == 'd' && under(reader, in_cpu, 6)) {
        double n = reader->cpu_number;
        if (n >= 0 && n < ASSAY__POWERMETRICS_CPUS && n == floor(n)) {
            reader->sample->cpus[(size_t)n] = reader->cpu;
            if (reader->sample->cpu_count <= (size_t)n) reader->sample->cpu_count = (size_t)n + 1;
        }
    }
    reader->depth--;
    reader->key = none;
    return NULL;
}

/* The text of <tag>text</tag>, with the reader moved past it. at NULL: it is not terminated. */
static struct text content(struct reader *reader, struct text tag)
{
    const char *begin = reader->at;
    const char *close = memchr(begin, '<', (size_t)(reader->end - begin));
    size_t need = tag.length + 3; /* "</tag>" */
    if (!close || (size_t)(reader->end - close) < need || close[1] != '/' ||
        memcmp(close + 2, tag.at, tag.length) != 0 || close[2 + tag.length] != '>')
        return none;
    reader->at = close + need;
    return (struct text){begin, (size_t)(close - begin)};
}

/* The start or end of one element, with its text if it is a leaf. NULL, or what is wrong. */
static const char *element(struct reader *reader, struct text tag)
{
    static const char *const leaves[] = {"integer", "real", "string", "date", "data", NULL};
    if (is(tag, "dict")) return push(reader, 'd');
    if (is(tag, "array")) return push(reader, 'a');
    if (is(tag, "/dict")) return pop(reader, 'd');
    if (is(tag, "/array")) return pop(reader, 'a');
    if (is(tag, "/plist"))
        return reader->depth ? "a property list with badly nested elements" : NULL;
    if (tag.length && tag.at[tag.length - 1] == '/') { /* <true/>, <dict/> */
        reader->key = none;
        return NULL;
    }
    if (begins(tag, "plist")) return NULL;
    bool is_key = is(tag, "key"), leaf = is_key;
    for (size_t i = 0; leaves[i]; i++)
        leaf = leaf || is(tag, leaves[i]);
    if (!leaf) return "an element that is not valid in a property list";
    struct text value = content(reader, tag);
    if (!value.at) return "an unterminated element in a property list";
    if (!is_key) take(reader, value);
    reader->key = is_key ? value : none;
    return NULL;
}

static bool read_plist(const char *data, size_t size, struct assay__powermetrics_sample *sample,
                       const char **reason)
{
    struct reader reader = {.at = data, .end = data + size, .sample = sample};
    while (reader.at < reader.end) {
        const char *open = memchr(reader.at, '<', (size_t)(reader.end - reader.at));
        if (!open) break;
        bool comment = reader.end - open >= 4 && memcmp(open, "<!--", 4) == 0;
        const char *close = comment ? memmem(open, (size_t)(reader.end - open), "-->", 3)
                                    : memchr(open, '>', (size_t)(reader.end - open));
        if (!close) {
            *reason = "an unterminated element in a property list";
            return false;
        }
        reader.at = close + (comment ? 3 : 1);
        if (open[1] == '?' || open[1] == '!') continue; /* the head */
        *reason = element(&reader, (struct text){open + 1, (size_t)(close - open) - 1});
        if (*reason) return false;
    }
    if (reader.depth) {
        *reason = "an unterminated property list";
        return false;
    }
    return finish(sample, reason);
}

/* --- text ------------------------------------------------------------------------------------- */

/* The number after the colon, scaled by its unit; NaN: no number, or an unknown unit. */
static double measure(struct text value)
{
    static const struct {
        const char *unit;
        double scale;
    } units[] = {{"mW", 1e-3}, {"W", 1}, {"MHz", 1e6}, {"GHz", 1e9}, {"%", 0.01}};
    size_t digits = 0;
    value = skip_blanks(value);
    while (digits < value.length && memchr("+-.0123456789", value.at[digits], 13))
        digits++;
    double amount = number((struct text){value.at, digits});
    struct text unit = skip_blanks(rest(value, digits));
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t length = strlen(units[i].unit);
        if (begins(unit, units[i].unit) && (unit.length == length || unit.at[length] == ' '))
            return amount * units[i].scale;
    }
    return NAN;
}

/* " HW active frequency" and the like, after the unit's name. */
static void text_unit(struct assay__powermetrics_unit *unit, struct text what, double value)
{
    if (begins(what, " HW")) what = rest(what, 3);
    if (is(what, " active frequency") || is(what, " frequency"))
        set_once(&unit->frequency_hz, value);
    if (is(what, " active residency")) set_once(&unit->active_ratio, value);
    if (is(what, " idle residency")) set_once(&unit->idle_ratio, value);
    if (is(what, " down residency")) set_once(&unit->down_ratio, value);
}

static struct assay__powermetrics_unit *cluster_of(struct assay__powermetrics_sample *sample,
                                                   struct text name)
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

static void take_line(struct assay__powermetrics_sample *sample, struct text line)
{
    const char *colon = line.length ? memchr(line.at, ':', line.length) : NULL;
    if (!colon) return;
    struct text key = {line.at, (size_t)(colon - line.at)};
    struct text value = rest(line, key.length + 1);
    double amount = measure(value);
    const char *cluster = memmem(key.at, key.length, "-Cluster ", 9);
    if (is(key, "CPU Power")) set_once(&sample->cpu_power_w, amount);
    if (is(key, "GPU Power")) set_once(&sample->gpu_power_w, amount);
    if (is(key, "ANE Power")) set_once(&sample->ane_power_w, amount);
    if (begins(key, "Combined Power")) set_once(&sample->combined_power_w, amount);
    if (is(key, "Current pressure level")) set_pressure(sample, skip_blanks(value));
    if (begins(key, "GPU ")) text_unit(&sample->gpu, rest(key, 3), amount);
    if (begins(key, "CPU ")) {
        size_t cpu = 0, at = 4;
        for (; at < key.length && at < 8 && key.at[at] >= '0' && key.at[at] <= '9'; at++)
            cpu = cpu * 10 + (size_t)(key.at[at] - '0');
        if (at == 4 || cpu >= ASSAY__POWERMETRICS_CPUS || at == key.length || key.at[at] != ' ')
            return;
        text_unit(&sample->cpus[cpu], rest(key, at), amount);
        if (sample->cpu_count <= cpu) sample->cpu_count = cpu + 1;
    }
    if (cluster) {
        size_t length = (size_t)(cluster - key.at) + 8;
        struct assay__powermetrics_unit *unit = cluster_of(sample, (struct text){key.at, length});
        if (unit) text_unit(unit, rest(key, length), amount);
    }
}

static bool read_text(const char *data, size_t size, struct assay__powermetrics_sample *sample,
                      const char **reason)
{
    const char *line_end;
    for (struct text left = {data, size}; left.length;
         left = rest(left, (size_t)(line_end - left.at))) {
        const char *stop = memchr(left.at, '\n', left.length);
        line_end = stop ? stop + 1 : left.at + left.length;
        struct text line = {left.at, (size_t)(stop ? stop - left.at : line_end - left.at)};
        if (line.length && line.at[line.length - 1] == '\r') line.length--;
        if (left.at != data) {
            take_line(sample, line);
            continue;
        }
        /* "… (1002.90ms elapsed) ***" */
        const char *end = memmem(line.at, line.length, "ms elapsed)", 11), *begin = end;
        while (begin && begin > line.at && begin[-1] != '(')
            begin--;
        if (end) sample->elapsed_s = number((struct text){begin, (size_t)(end - begin)}) * 1e-3;
        const char *open = memchr(line.at, '(', line.length);
        const char *close = open ? memchr(open, ')', line.length - (size_t)(open - line.at)) : NULL;
        if (close) sample->end_s = header_time((struct text){open + 1, (size_t)(close - open) - 1});
    }
    return finish(sample, reason);
}

/* --- the stream ------------------------------------------------------------------------------- */

static const char *find(const char *data, size_t size, const char *word)
{
    return size ? memmem(data, size, word, strlen(word)) : NULL;
}

enum assay__powermetrics_status assay__powermetrics_next(const char *data, size_t size,
                                                         size_t *offset, bool at_end,
                                                         struct assay__powermetrics_sample *sample,
                                                         const char **reason)
{
    size_t left = size - *offset;
    *reason = "";
    clear(sample);
    if (left == 0) return ASSAY__POWERMETRICS_MORE;
    const char *begin = data + *offset;
    const char *text = find(begin, left, HEADER), *xml = find(begin, left, "<?xml");
    const char *plist = find(begin, left, "<plist");
    if (!xml || (plist && plist < xml)) xml = plist;
    if (!text && !xml) return ASSAY__POWERMETRICS_MORE;
    bool is_text = text && (!xml || text < xml), good;
    begin = is_text ? text : xml; /* what comes before belongs to no sample */
    *offset = (size_t)(begin - data);
    left = size - *offset;
    if (is_text) { /* it ends where the next one begins */
        const char *next = find(begin + strlen(HEADER), left - strlen(HEADER), HEADER);
        if (!next && !at_end) return ASSAY__POWERMETRICS_MORE;
        size_t length = next ? (size_t)(next - begin) : left;
        *offset += length;
        good = read_text(begin, length, sample, reason);
    } else {
        const char *end = find(begin, left, CLOSING), *next = memchr(begin, '\0', left);
        if (next && (!end || next < end)) { /* the next sample begins before this one has ended */
            *offset = (size_t)(next - data) + 1;
            *reason = "a truncated powermetrics sample";
            return ASSAY__POWERMETRICS_BAD;
        }
        if (!end) return ASSAY__POWERMETRICS_MORE;
        size_t length = (size_t)(end - begin) + strlen(CLOSING);
        *offset += length;
        good = read_plist(begin, length, sample, reason);
    }
    return good ? ASSAY__POWERMETRICS_SAMPLE : ASSAY__POWERMETRICS_BAD;
}
