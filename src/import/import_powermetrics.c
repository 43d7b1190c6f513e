/* import_powermetrics.c - captures of macOS's powermetrics, as property lists or as text, read by
 * the probe's parser: power of each rail, clocks and active time as counters. A value is the mean
 * of its sample and is placed where the sample begins. Only the time of day, in whole seconds, is
 * in the file: samples are put one after the other by their lengths, beginning with the first one's
 * time; where the time of day is more than two seconds away, as after a pause, it is followed. */
#include "import/import_window.h"
#include "import/importers.h"
#include "probe/powermetrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SAMPLE ((size_t)16 << 20) /* bytes; what does not end within is not a sample */
#define SLACK_NS 2000000000
#define MOST_TIME_S 4e9 /* twice that, in nanoseconds, is within an int64_t */

struct reader {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__import_window window;
    int64_t end_ns; /* of the sample before */
    bool is_unix;
    uint64_t samples;
};

static void skip(struct reader *reader, const char *reason)
{
    reader->source->skipped++;
    if (!reader->source->complaint[0]) reader->source->complaint = reason;
}

static void put(struct reader *reader, int64_t time_ns, const char *of, const char *what,
                const char *unit, double value)
{
    char name[64];
    if (isnan(value)) return;
    snprintf(name, sizeof name, "%s %s", of, what);
    size_t counter = assay__events_counter(reader->events, name, unit, ASSAY__EVENT_UNKNOWN);
    assay__events_sample(reader->events, counter, time_ns, value);
}

static void put_unit(struct reader *reader, int64_t time_ns, const char *of,
                     const struct assay__powermetrics_unit *unit)
{
    put(reader, time_ns, of, "frequency", "Hz", unit->frequency_hz);
    put(reader, time_ns, of, "active", "ratio", unit->active_ratio);
}

/* When the sample began; false: its times are impossible. */
static bool place(struct reader *reader, const struct assay__powermetrics_sample *sample,
                  int64_t *time_ns)
{
    double elapsed_s = isnan(sample->elapsed_s) ? 0 : sample->elapsed_s;
    if (elapsed_s > MOST_TIME_S || sample->end_s > MOST_TIME_S) return false;
    int64_t elapsed_ns = llround(elapsed_s * 1e9), end_ns = reader->end_ns + elapsed_ns;
    bool has_clock = !isnan(sample->end_s);
    if (!reader->samples) reader->is_unix = has_clock;
    int64_t clock_ns = has_clock ? (int64_t)sample->end_s * 1000000000 : end_ns;
    int64_t away_ns = clock_ns > end_ns ? clock_ns - end_ns : end_ns - clock_ns;
    if (reader->is_unix && (!reader->samples || away_ns > SLACK_NS)) end_ns = clock_ns;
    if (end_ns < elapsed_ns || end_ns > (int64_t)MOST_TIME_S * 1000000000) return false;
    reader->end_ns = end_ns;
    *time_ns = end_ns - elapsed_ns;
    return true;
}

static void add_sample(struct reader *reader, const struct assay__powermetrics_sample *sample)
{
    char name[16];
    int64_t at;
    if (!place(reader, sample, &at)) {
        skip(reader, "a sample with an impossible time");
        return;
    }
    reader->samples++;
    put(reader, at, "CPU", "power", "W", sample->cpu_power_w);
    put(reader, at, "GPU", "power", "W", sample->gpu_power_w);
    put(reader, at, "ANE", "power", "W", sample->ane_power_w);
    put(reader, at, "combined", "power", "W", sample->combined_power_w);
    put(reader, at, "thermal", "pressure", "", sample->thermal_pressure);
    put_unit(reader, at, "GPU", &sample->gpu);
    for (size_t i = 0; i < sample->cluster_count; i++)
        put_unit(reader, at, sample->clusters[i].name, &sample->clusters[i].unit);
    for (size_t i = 0; i < sample->cpu_count; i++) {
        snprintf(name, sizeof name, "CPU %zu", i);
        put_unit(reader, at, name, &sample->cpus[i]);
    }
}

/* The samples that the window holds. */
static void take_samples(struct reader *reader, bool at_end)
{
    struct assay__import_window *window = &reader->window;
    struct assay__powermetrics_sample sample;
    const char *reason;
    size_t offset = 0, left = assay__import_window_left(window);
    enum assay__powermetrics_status status = ASSAY__POWERMETRICS_MORE;
    const char *data = left ? assay__import_window_at(window) : "";
    do {
        status = assay__powermetrics_next(data, left, &offset, at_end, &sample, &reason);
        if (status == ASSAY__POWERMETRICS_SAMPLE) add_sample(reader, &sample);
        if (status == ASSAY__POWERMETRICS_BAD) skip(reader, reason);
    } while (status != ASSAY__POWERMETRICS_MORE);
    assay__import_window_use(window, offset);
    left -= offset;
    if (left > MOST_SAMPLE) {
        skip(reader, "a sample of more than 16 MiB");
        assay__import_window_use(window, left);
    } else if (at_end && left && memchr(data + offset, '<', left)) {
        reader->source->truncated = true;
        skip(reader, "the last sample is cut short");
    }
}

static enum assay__import_match match(const char *head, size_t size)
{
    bool is_text = memmem(head, size, "*** Sampled system activity", 27) != NULL;
    bool is_list = memmem(head, size, "<plist", 6) &&
                   memmem(head, size, "<key>elapsed_ns</key>", 21);
    return is_text || is_list ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
}

static int read_capture(struct assay__import_stream *stream, struct assay__events *events,
                        struct assay__trace_source *source, struct assay_error *error)
{
    struct reader reader = {.events = events, .source = source};
    reader.window = assay__import_window_over(stream, error);
    while (assay__import_window_more(&reader.window))
        take_samples(&reader, false);
    if (!reader.window.code) take_samples(&reader, true);
    source->producer = "powermetrics";
    source->clock = reader.is_unix ? ASSAY__IMPORT_CLOCK_UNIX : ASSAY__IMPORT_CLOCK_OWN;
    assay__import_window_free(&reader.window);
    if (reader.window.code) return reader.window.code;
    if (!reader.samples)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: no sample could be read: %s",
                               source->path,
                               source->complaint[0] ? source->complaint : "it is cut short");
    return 0;
}

const struct assay__importer assay__importer_powermetrics = {
    .name = "powermetrics",
    .title = "powermetrics of macOS, property lists or text",
    .match = match,
    .read = read_capture,
};
