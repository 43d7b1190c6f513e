/* powermetrics_plist.c - one sample of powermetrics as an XML property list. Not a general reader
 * of XML: elements without attributes that matter, in the order of a property list, nested at most
 * 32 deep. Containers are walked with a stack of their keys; a number is taken
 * when its path is one we know and it is still unknown (the first of two equal keys counts).
 *   elapsed_ns · thermal_pressure · processor.{cpu,gpu,ane}_{power,energy} (mW, mJ) ·
 *     processor.combined_power
 *   processor.clusters[].{name,freq_hz,idle_ratio,down_ratio} ·
 *     processor.clusters[].cpus[].{cpu,freq_hz,idle_ratio,down_ratio}
 *   gpu.{freq_hz,idle_ratio} */
#include "probe/powermetrics.h"

#include <math.h>
#include <string.h>

#define DEPTH 32
#define HERTZ_FROM 1e5 /* a clock below it was given in MHz */

struct text {
    const char *at;
    size_t length;
};

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

static bool is(struct text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static bool under(const struct reader *reader, size_t depth, const char *const *path, size_t count)
{
    if (depth != count) return false;
    for (size_t i = 0; i < count; i++)
        if (path[i] && !is(reader->keys[i], path[i])) return false;
    return true;
}

/* depth 0 is the root dictionary; an array's dictionaries have no key. */
static const char *const in_processor[] = {"", "processor"};
static const char *const in_gpu[] = {"", "gpu"};
static const char *const in_cluster[] = {"", "processor", "clusters", ""};
static const char *const in_cpu[] = {"", "processor", "clusters", "", "cpus", ""};

static double number(struct text value)
{
    return assay__powermetrics_number(value.at, value.length);
}

static void put_unit(struct assay__powermetrics_unit *unit, struct text key, struct text value)
{
    if (is(key, "freq_hz")) assay__powermetrics_set_once(&unit->frequency_hz, number(value));
    if (is(key, "idle_ratio")) assay__powermetrics_set_once(&unit->idle_ratio, number(value));
    if (is(key, "down_ratio")) assay__powermetrics_set_once(&unit->down_ratio, number(value));
}

static void put_processor(struct assay__powermetrics_sample *sample, struct text key,
                          struct text value)
{
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
        if (is(key, rows[i].key)) assay__powermetrics_set_once(rows[i].place, number(value) * 1e-3);
}

static void put_name(struct assay__powermetrics_cluster *cluster, struct text value)
{
    size_t length = value.length < sizeof cluster->name - 1 ? value.length
                                                            : sizeof cluster->name - 1;
    if (cluster->name[0]) return;
    memcpy(cluster->name, value.at, length);
    cluster->name[length] = '\0';
}

/* A value of the dictionary that is being read. */
static void take(struct reader *reader, struct text value)
{
    struct assay__powermetrics_sample *sample = reader->sample;
    struct text key = reader->key;
    if (reader->depth == 0 || reader->kinds[reader->depth - 1] != 'd' || !key.at) return;
    if (reader->depth == 1) {
        if (is(key, "elapsed_ns"))
            assay__powermetrics_set_once(&sample->elapsed_s, number(value) * 1e-9);
        if (is(key, "thermal_pressure"))
            assay__powermetrics_set_once(&sample->thermal_pressure,
                                         assay__powermetrics_pressure(value.at, value.length));
    } else if (under(reader, reader->depth, in_processor, 2)) {
        put_processor(sample, key, value);
    } else if (under(reader, reader->depth, in_gpu, 2)) {
        double megahertz = is(key, "freq_hz") ? number(value) : NAN;
        if (megahertz < HERTZ_FROM)
            assay__powermetrics_set_once(&sample->gpu.frequency_hz, megahertz * 1e6);
        else
            put_unit(&sample->gpu, key, value);
    } else if (under(reader, reader->depth, in_cluster, 4) && sample->cluster_count) {
        struct assay__powermetrics_cluster *cluster = &sample->clusters[sample->cluster_count - 1];
        if (is(key, "name")) put_name(cluster, value);
        put_unit(&cluster->unit, key, value);
    } else if (under(reader, reader->depth, in_cpu, 6)) {
        if (is(key, "cpu")) assay__powermetrics_set_once(&reader->cpu_number, number(value));
        put_unit(&reader->cpu, key, value);
    }
}

static const char *push(struct reader *reader, char kind)
{
    if (reader->depth == DEPTH) return "a property list nested more than 32 deep";
    reader->keys[reader->depth] = reader->key.at ? reader->key : (struct text){"", 0};
    if (reader->depth && reader->kinds[reader->depth - 1] == 'a')
        reader->keys[reader->depth] = (struct text){"", 0};
    reader->kinds[reader->depth++] = kind;
    reader->key = (struct text){NULL, 0};
    struct assay__powermetrics_sample *sample = reader->sample;
    if (kind == 'd' && under(reader, reader->depth, in_cluster, 4)) {
        if (sample->cluster_count == ASSAY__POWERMETRICS_CLUSTERS) return "more than 16 clusters";
        sample->cluster_count++;
    }
    if (under(reader, reader->depth, in_cpu, 6)) {
        reader->cpu = (struct assay__powermetrics_unit){NAN, NAN, NAN, NAN};
        reader->cpu_number = NAN;
    }
    return NULL;
}

static const char *pop(struct reader *reader, char kind)
{
    if (reader->depth == 0 || reader->kinds[reader->depth - 1] != kind)
        return "a property list whose elements do not nest";
    if (kind == 'd' && under(reader, reader->depth, in_cpu, 6)) {
        double n = reader->cpu_number;
        if (n >= 0 && n < ASSAY__POWERMETRICS_CPUS && n == floor(n)) {
            reader->sample->cpus[(size_t)n] = reader->cpu;
            if (reader->sample->cpu_count <= (size_t)n) reader->sample->cpu_count = (size_t)n + 1;
        }
    }
    reader->depth--;
    reader->key = (struct text){NULL, 0};
    return NULL;
}

/* The text of <tag>text</tag>, the reader behind it. NULL at: it does not end. */
static struct text content(struct reader *reader, struct text tag)
{
    const char *begin = reader->at;
    const char *close = memchr(begin, '<', (size_t)(reader->end - begin));
    size_t need = tag.length + 3; /* "</tag>" */
    if (!close || (size_t)(reader->end - close) < need || close[1] != '/' ||
        memcmp(close + 2, tag.at, tag.length) != 0 || close[2 + tag.length] != '>')
        return (struct text){NULL, 0};
    reader->at = close + need;
    return (struct text){begin, (size_t)(close - begin)};
}

/* One element's begin or end, with its text when it is a leaf. NULL, or what is wrong. */
static const char *element(struct reader *reader, struct text tag)
{
    static const char *const leaves[] = {"integer", "real", "string", "date", "data", NULL};
    if (is(tag, "dict")) return push(reader, 'd');
    if (is(tag, "array")) return push(reader, 'a');
    if (is(tag, "/dict")) return pop(reader, 'd');
    if (is(tag, "/array")) return pop(reader, 'a');
    if (is(tag, "/plist"))
        return reader->depth ? "a property list whose elements do not nest" : NULL;
    if (tag.length && tag.at[tag.length - 1] == '/') { /* <true/>, <dict/> */
        reader->key = (struct text){NULL, 0};
        return NULL;
    }
    if (tag.length >= 5 && memcmp(tag.at, "plist", 5) == 0) return NULL;
    bool is_key = is(tag, "key"), leaf = is_key;
    for (size_t i = 0; leaves[i]; i++)
        leaf = leaf || is(tag, leaves[i]);
    if (!leaf) return "an element that no property list has";
    struct text value = content(reader, tag);
    if (!value.at) return "an element of a property list that does not end";
    if (!is_key) take(reader, value);
    reader->key = is_key ? value : (struct text){NULL, 0};
    return NULL;
}

bool assay__powermetrics_plist(const char *data, size_t size,
                               struct assay__powermetrics_sample *sample, const char **reason)
{
    struct reader reader = {.at = data, .end = data + size, .sample = sample};
    assay__powermetrics_clear(sample);
    while (reader.at < reader.end) {
        const char *open = memchr(reader.at, '<', (size_t)(reader.end - reader.at));
        if (!open) break;
        bool comment = reader.end - open >= 4 && memcmp(open, "<!--", 4) == 0;
        const char *close = comment ? memmem(open, (size_t)(reader.end - open), "-->", 3)
                                    : memchr(open, '>', (size_t)(reader.end - open));
        if (!close) {
            *reason = "an element of a property list that does not end";
            return false;
        }
        reader.at = close + (comment ? 3 : 1);
        if (open[1] == '?' || open[1] == '!') continue; /* the head */
        *reason = element(&reader, (struct text){open + 1, (size_t)(close - open) - 1});
        if (*reason) return false;
    }
    if (reader.depth) {
        *reason = "a property list that does not end";
        return false;
    }
    return assay__powermetrics_finish(sample, reason);
}
