/* test_monitor_record.c - the record of a monitor on a scripted clock: a day and two hours of
 * readings become an hour of them, a day of 10 s and all minutes; it can be read while it grows and
 * after a kill; its report. */
#include "harness.h"

#include "monitor/live_record.h"
#include "profile/profile.h"
#include "sampler_clock.h"
#include "scratch.h"

#include <assay/assay.h>
#include <sqlite3.h>
#include <sys/stat.h>

static double degrees;

struct assay__probe {
    int unused;
};
static struct assay__probe fake;

static const struct assay__channel channels[] = {
    {"temperature.chip", "temperature", "chip", "°C", ASSAY__CHANNEL_GAUGE, NAN, "script", true, "",
     NULL, false, false},
    {"power.chip", "power", "chip", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", false,
     "needs root: sudo true", NULL, false, false},
};

static int open_fake(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &fake;
    return 0;
}

static size_t list_channels(const struct assay__probe *probe, const struct assay__channel **list)
{
    (void)probe;
    *list = channels;
    return 2;
}

static const char *no_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void read_fake(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    readings[0] = (struct assay__probe_reading){degrees, isnan(degrees) ? "gone" : ""};
    readings[1] = (struct assay__probe_reading){NAN, "needs root: sudo true"};
}

static void close_fake(struct assay__probe *probe)
{
    (void)probe;
}

static const struct assay__probe_ops ops = {.name = "hwmon",
                                            .summary = "a script",
                                            .open = open_fake,
                                            .channels = list_channels,
                                            .reason = no_reason,
                                            .read = read_fake,
                                            .close = close_fake};
static const struct assay__probe_ops *const probes[] = {&ops, NULL};

static struct assay__monitor *monitor;
static struct assay__view view;
static struct assay__record *record;

static void begin(const char *path, double interval_s)
{
    const struct assay__monitor_options options = {
        .interval_s = interval_s, .clock = &fake_clock, .probes = probes};
    struct assay_error error = {0};
    clock_ns = SECOND;
    degrees = 40;
    CHECK_INT(assay__monitor_new(&options, &monitor, NULL), 0);
    assay__monitor_tick(monitor);
    CHECK_INT(assay__monitor_look(monitor, &view), 0);
    int code = assay__record_open(path, &view, interval_s, "assay watch", &record, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
}

/* Ticks up to that time since the beginning; the temperature is 40 + the seconds modulo 10. */
static void run_until(uint64_t seconds, uint64_t step_s)
{
    struct assay_error error = {0};
    for (uint64_t now_s = (clock_ns - SECOND) / SECOND + step_s; now_s <= seconds;
         now_s += step_s) {
        clock_ns = SECOND + now_s * SECOND;
        degrees = 40 + (double)(now_s % 10);
        assay__monitor_tick(monitor);
        CHECK_INT(assay__monitor_look(monitor, &view), 0);
        int code = assay__record_add(record, monitor, &view, &error);
        if (code) printf("  %s\n", error.message);
        CHECK_INT(code, 0);
    }
}

static void end(void)
{
    CHECK_INT(assay__record_close(record, NULL), 0);
    assay__view_free(&view);
    assay__monitor_free(monitor);
}

static const struct assay__series_info *series_of(const struct assay_profile *profile, size_t trial,
                                                  const char *name)
{
    CHECK(profile->trial_count > trial);
    const struct assay__trial *of = &profile->trials[trial];
    for (size_t i = 0; i < of->series_count; i++)
        if (strcmp(of->series[i].name, name) == 0) return &of->series[i];
    printf("  no series %s\n", name);
    CHECK(false);
    return NULL;
}

static struct assay_profile *open_record(const char *path)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    int code = assay_profile_open(path, &profile, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK_INT(profile->kind, ASSAY__PROFILE_WATCH);
    CHECK_INT(profile->trial_count, 3);
    for (size_t t = 0; t < 3; t++) /* no damage was noted */
        for (size_t i = 0; i < profile->trials[t].note_count; i++)
            printf("  %s\n", profile->trials[t].notes[i]);
    for (size_t t = 0; t < 3; t++)
        CHECK_INT(profile->trials[t].note_count, 0);
    return profile;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void three_resolutions(void)
{
    const char *path = scratch("live.assay");
    begin(path, 1);
    run_until(200, 1);
    end();
    struct assay_profile *profile = open_record(path);
    CHECK(profile->complete);
    const struct assay__series_info *all = series_of(profile, 0, "temperature.chip");
    CHECK_INT(all->count, 200);
    CHECK_NEAR(all->times_ns[0], 1e9, 0);
    CHECK_NEAR(all->values[4], 45, 0);
    CHECK_INT(all->state, ASSAY_MEASURED);
    CHECK_STR(all->unit, "°C");
    const struct assay__series_info *tens = series_of(profile, 1, "temperature.chip");
    CHECK_INT(tens->count, 20); /* 0 … 190 s; that of 200 s is not finished */
    CHECK_NEAR(tens->times_ns[3], 30e9, 0);
    CHECK_NEAR(tens->values[3], 44.5, 1e-5);
    CHECK_NEAR(series_of(profile, 1, "temperature.chip.min")->values[3], 40, 0);
    CHECK_NEAR(series_of(profile, 1, "temperature.chip.max")->values[3], 49, 0);
    CHECK_INT(series_of(profile, 2, "temperature.chip")->count, 3);
    const struct assay__series_info *power = series_of(profile, 0, "power.chip");
    CHECK_INT(power->count, 0);
    CHECK_INT(power->state, ASSAY_UNAVAILABLE);
    CHECK_STR(power->note, "needs root: sudo true");
    assay_profile_close(profile);
}

/* What is old is thinned: an hour of readings, a day of 10 s, every minute. */
static void old_values_go(void)
{
    struct stat file;
    uint64_t whole_s = 26 * 3600;
    const char *path = scratch("long.assay");
    begin(path, 10);
    run_until(whole_s, 10);
    end();
    struct assay_profile *profile = open_record(path);
    const struct assay__series_info *all = series_of(profile, 0, "temperature.chip");
    CHECK(all->count >= 360 && all->count <= 360 + 7); /* whole chunks of a minute */
    CHECK_NEAR(all->times_ns[all->count - 1], (double)whole_s * 1e9, 0);
    const struct assay__series_info *tens = series_of(profile, 1, "temperature.chip");
    CHECK(tens->count >= 8640 && tens->count <= 8640 + 61);
    CHECK(tens->times_ns[0] <= (double)(whole_s - 86400) * 1e9 && tens->times_ns[0] > 0);
    const struct assay__series_info *minutes = series_of(profile, 2, "temperature.chip");
    CHECK_INT(minutes->count, whole_s / 60);
    CHECK_NEAR(minutes->times_ns[0], 0, 0);
    for (size_t i = 1; i < tens->count; i++)
        CHECK_NEAR(tens->times_ns[i] - tens->times_ns[i - 1], 10e9, 0);
    assay_profile_close(profile);
    CHECK_INT(stat(path, &file), 0);
    CHECK(file.st_size < 1500000);
}

/* While it grows, and after a kill: nothing but the last seconds is missing. */
static void readable_meanwhile(void)
{
    const char *path = scratch("killed.assay");
    pid_t child = fork();
    if (child == 0) {
        begin(path, 1);
        run_until(75, 1);
        struct assay_profile *profile = open_record(path);
        _exit(series_of(profile, 0, "temperature.chip")->count >= 65 ? 0 : 1);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct assay_profile *profile = open_record(path);
    CHECK(!profile->complete);
    CHECK(series_of(profile, 0, "temperature.chip")->count >= 65);
    CHECK_INT(series_of(profile, 1, "temperature.chip")->count, 7);
    assay_profile_close(profile);
}

/* Another process holds the file: the record ends with a reason, and what it has stays readable. */
static void cannot_be_written(void)
{
    const char *path = scratch("held.assay");
    struct assay_error error = {0};
    sqlite3 *other = NULL;
    begin(path, 1);
    run_until(25, 1);
    CHECK_INT(sqlite3_open(path, &other), SQLITE_OK);
    CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    clock_ns += 10ull * SECOND;
    assay__monitor_tick(monitor);
    CHECK_INT(assay__monitor_look(monitor, &view), 0);
    CHECK(assay__record_add(record, monitor, &view, &error) < 0);
    CHECK_HAS(error.message, "held.assay");
    assay__record_abandon(record);
    record = NULL;
    sqlite3_close(other);
    end();
    struct assay_profile *profile = open_record(path);
    CHECK(!profile->complete);
    CHECK(series_of(profile, 0, "temperature.chip")->count >= 20);
    assay_profile_close(profile);
}

static void is_reported(void)
{
    static const char *const formats[] = {"text", "markdown", "html", "csv", "json"};
    const char *path = scratch("reported.assay");
    begin(path, 1);
    run_until(100, 1);
    end();
    struct assay_profile *profile = open_record(path);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct assay_report_options options = {.size = sizeof options, .format = formats[i]};
        struct assay_error error = {0};
        char *text = NULL;
        int code = assay_report(profile, &options, &text, NULL, &error);
        if (code) printf("  %s: %s\n", formats[i], error.message);
        CHECK_INT(code, 0);
        CHECK_HAS(text, "temperature.chip");
        CHECK_HAS(text, i == 3 ? "49" : "needs root: sudo true");
        assay_free(text);
    }
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"three_resolutions", three_resolutions},
        {"old_values_go", old_values_go},
        {"readable_meanwhile", readable_meanwhile},
        {"cannot_be_written", cannot_be_written},
        {"is_reported", is_reported},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
