/* record_week.c - a record of a week at one reading a second of 40 rows whose values are noise, on
 * a scripted clock: how large the file is, and what a reading costs (sampling a fake probe,
 * judging, keeping, writing). One JSON line. Arguments: FILE [SECONDS]. Status 1 when it is over 50
 * MB. */
#include "base/clock.h"
#include "base/stats.h"
#include "monitor/live_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ROWS 40
#define WEEK_S 604800
#define MOST_BYTES 50e6

static uint64_t now_ns = 1000000000u;
static struct assay__random noise;

static uint64_t scripted_now(void *context)
{
    (void)context;
    return now_ns;
}

static uint64_t scripted_cpu(void *context)
{
    (void)context;
    return 0;
}

static void scripted_sleep(void *context, uint64_t duration_ns)
{
    (void)context;
    now_ns += duration_ns;
}

struct assay__probe {
    struct assay__channel channels[ROWS];
    char names[ROWS][32];
};
static struct assay__probe fake;

static int open_fake(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    (void)arena, (void)error;
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(fake.names[i], sizeof fake.names[i], "temperature.t%zu", i);
        fake.channels[i] = (struct assay__channel){.name = fake.names[i],
                                                   .quantity = "temperature",
                                                   .rail = "chip",
                                                   .unit = "°C",
                                                   .source = "script",
                                                   .available = true,
                                                   .reason = ""};
    }
    *probe = &fake;
    return 0;
}

static size_t list_channels(const struct assay__probe *probe, const struct assay__channel **list)
{
    *list = probe->channels;
    return ROWS;
}

static const char *no_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void read_noise(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    for (size_t i = 0; i < ROWS; i++)
        readings[i] = (struct assay__probe_reading){20 + 60 * assay__random_unit(&noise), ""};
}

static void close_fake(struct assay__probe *probe)
{
    (void)probe;
}

int main(int argc, char **argv)
{
    static const struct assay__sampler_clock clock = {scripted_now, scripted_cpu, scripted_sleep,
                                                      NULL};
    static const struct assay__probe_ops ops = {.name = "hwmon",
                                                .summary = "noise",
                                                .open = open_fake,
                                                .channels = list_channels,
                                                .reason = no_reason,
                                                .read = read_noise,
                                                .close = close_fake};
    static const struct assay__probe_ops *const probes[] = {&ops, NULL};
    const struct assay__monitor_options options = {.clock = &clock, .probes = probes};
    struct assay__monitor *monitor;
    struct assay__record *record = NULL;
    struct assay__view view = {.row_count = 0};
    struct assay_error error = {0};
    long seconds = argc > 2 ? strtol(argv[2], NULL, 10) : WEEK_S;
    struct stat file;
    if (argc < 2) return 2;
    assay__random_seed(&noise, 1);
    int code = assay__monitor_new(&options, &monitor, &error);
    if (code == 0) assay__monitor_tick(monitor);
    if (code == 0) code = assay__monitor_look(monitor, &view);
    if (code == 0) code = assay__record_open(argv[1], &view, 1, "", &record, &error);
    uint64_t begin_ns = assay__now_ns();
    for (long i = 0; i < seconds && code == 0; i++) {
        now_ns += 1000000000u;
        assay__monitor_tick(monitor);
        code = assay__monitor_look(monitor, &view);
        if (code == 0) code = assay__record_add(record, monitor, &view, &error);
    }
    if (code == 0) code = assay__record_close(record, &error);
    double each_us = (double)(assay__now_ns() - begin_ns) * 1e-3 / (double)seconds;
    if (code || stat(argv[1], &file)) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    printf("{\"seconds\": %ld, \"rows\": %d, \"bytes\": %lld, \"us_per_reading\": %.1f}\n", seconds,
           ROWS, (long long)file.st_size, each_us);
    assay__view_free(&view);
    assay__monitor_free(monitor);
    return (double)file.st_size > MOST_BYTES;
}
