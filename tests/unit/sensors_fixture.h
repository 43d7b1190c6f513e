/* sensors_fixture.h - a run that never was, on a scripted clock and with scripted sensors: every
 * number is known exactly. The clock starts at 1 s; the idle machine is watched from 0 s to 2 s of
 * the script, two launches are measured from 3 s to 5 s and from 6 s to 8 s (a window of half a
 * second after the other, 10 ms apart), with 100 inferences a window. */
#ifndef ASSAY_TESTS_SENSORS_FIXTURE_H
#define ASSAY_TESTS_SENSORS_FIXTURE_H

#include "facts_fixture.h"

#include "probe/probes.h"
#include "run/watch/sensors.h"
#include "sampler_clock.h"
#include "subject_fixture.h"

#define CHANNELS_MOST 16

/* --- the script ------------------------------------------------------------------------------- */

static struct assay__channel channels[CHANNELS_MOST];
static double (*script[CHANNELS_MOST])(double t);
static size_t channel_count;

struct assay__probe {
    int unused;
};
static struct assay__probe fake;

static inline int fake_open(struct assay__arena *arena, struct assay__probe **probe,
                            struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &fake;
    return 0;
}

static inline size_t fake_list(const struct assay__probe *probe, const struct assay__channel **list)
{
    (void)probe;
    *list = channels;
    return channel_count;
}

static inline const char *fake_reason(const struct assay__probe *probe)
{
    (void)probe;
    return channel_count ? "" : "there is no such hardware";
}

static inline void fake_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    for (size_t i = 0; i < channel_count; i++) {
        double value = channels[i].available ? script[i]((double)(clock_ns - SECOND) * 1e-9)
                                             : (double)NAN;
        readings[i] = (struct assay__probe_reading){value,
                                                    isnan(value) ? "text instead of a number" : ""};
    }
}

static inline void fake_close(struct assay__probe *probe)
{
    (void)probe;
}

static struct assay__probe_ops ops = {.name = "rapl",
                                      .power_of = "c",
                                      .summary = "a script",
                                      .open = fake_open,
                                      .channels = fake_list,
                                      .reason = fake_reason,
                                      .read = fake_read,
                                      .close = fake_close};

/* A second probe: the energy counter of gpu0, 90 W idle and 400 W from 3 s on; a read takes 2 ms of
 * processor time. */
static struct assay__channel dear_channel = {.name = "energy.gpu0",
                                             .quantity = "energy",
                                             .rail = "gpu0",
                                             .unit = "J",
                                             .kind = ASSAY__CHANNEL_COUNTER,
                                             .range = NAN,
                                             .source = "script",
                                             .available = true,
                                             .reason = ""};

static inline size_t dear_list(const struct assay__probe *probe, const struct assay__channel **list)
{
    (void)probe;
    *list = &dear_channel;
    return 1;
}

static inline const char *dear_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static inline void dear_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    double t = (double)(clock_ns - SECOND) * 1e-9;
    (void)probe;
    readings[0] = (struct assay__probe_reading){90 * t + (t > 3 ? 310 * (t - 3) : 0), ""};
    cpu_clock_ns += 2000000;
}

static const struct assay__probe_ops dear_ops = {.name = "nvml-energy",
                                                 .summary = "a script",
                                                 .open = fake_open,
                                                 .channels = dear_list,
                                                 .reason = dear_reason,
                                                 .read = dear_read,
                                                 .close = fake_close};

/* A third: opening it takes longer than it may. */
static inline int hanging_open(struct assay__arena *arena, struct assay__probe **probe,
                               struct assay_error *error)
{
    usleep(300000);
    return fake_open(arena, probe, error);
}

static const struct assay__probe_ops hanging_ops = {.name = "rapl",
                                                    .power_of = "c",
                                                    .summary = "a script",
                                                    .open = hanging_open,
                                                    .channels = dear_list,
                                                    .reason = dear_reason,
                                                    .read = dear_read,
                                                    .close = fake_close,
                                                    .open_limit_ns = 10 * MS};

static inline struct assay__channel *channel(const char *name, const char *quantity,
                                             const char *rail, const char *unit,
                                             double (*value)(double t))
{
    bool counter = strcmp(quantity, "energy") == 0 || strcmp(quantity, "count") == 0;
    channels[channel_count] = (struct assay__channel){
        .name = name,
        .quantity = quantity,
        .rail = rail,
        .unit = unit,
        .kind = counter ? ASSAY__CHANNEL_COUNTER : ASSAY__CHANNEL_GAUGE,
        .range = NAN,
        .source = "script",
        .available = value != NULL,
        .reason = value ? "" : "needs root: sudo true"};
    script[channel_count] = value;
    return &channels[channel_count++];
}

/* --- the run ---------------------------------------------------------------------------------- */

static struct assay_profile *profile;
static struct assay__sensor_window windows[8];
static double samples[100];
static struct assay__sensors sensors;

static inline uint64_t at(double t)
{
    return SECOND + (uint64_t)llround(t * 1e9);
}

/* Reads every 100 ms for 9 s, out of turn at 3 s and 8 s, then computes. probe: another than the
 * script; of the expensive ones the script is read too, and of NVML its energy. */
static inline void measure(const char *device, const struct assay__probe_ops *probe)
{
    struct assay__sampler_options options = {
        .size = sizeof options, .clock = &fake_clock, .most_share = 0.002};
    size_t count = 0;
    CHECK_INT(assay__sampler_new(&options, &sensors.sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sensors.sampler, probe ? probe : &ops, NULL, NULL, NULL), 0);
    if (probe == &dear_ops || probe == &hanging_ops)
        CHECK_INT(assay__sampler_add(sensors.sampler, &ops, NULL, NULL, NULL), 0);
    if (probe == &assay__probe_nvml)
        CHECK_INT(assay__sampler_add(sensors.sampler, &assay__probe_nvml_energy, NULL, NULL, NULL),
                  0);
    for (int tick = 0; tick <= 90; tick++) {
        clock_ns = at(tick * 0.1);
        if (tick == 30 || tick == 80) assay__sampler_nudge(sensors.sampler);
        assay__sampler_tick(sensors.sampler);
    }
    for (size_t i = 0; i < 100; i++)
        samples[i] = 4e6;
    for (int launch = 1; launch <= 2; launch++)
        for (int w = 0; w < 4; w++)
            windows[count++] = (struct assay__sensor_window){
                launch, at(3 * launch + w * 0.5), at(3 * launch + w * 0.5 + 0.49), 100, samples,
                100};
    profile = assay__profile_new();
    sensors.profile = profile;
    sensors.trial = assay__profile_trial(profile);
    fact_device(profile, sensors.trial, device);
    sensors.origin_ns = SECOND;
    sensors.idle_begin_ns = at(0);
    sensors.idle_end_ns = at(2);
    sensors.idle_reason = "no idle baseline was taken";
    sensors.interval_s = 0.1;
    sensors.windows = windows;
    sensors.window_count = count;
}

static inline void compute(void)
{
    CHECK_INT(assay__sensors_compute(&sensors), 0);
}

static inline void done(void)
{
    assay__sampler_free(sensors.sampler);
    assay_profile_close(profile);
}

static inline const struct assay_metric *get(const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(sensors.trial->metrics, name);
    if (!metric) harness_fail(__FILE__, __LINE__, name);
    return metric;
}

static inline double value(const char *name)
{
    const struct assay_metric *metric = get(name);
    if (metric->state == ASSAY_UNAVAILABLE) printf("  %s: %s\n", name, metric->note);
    return metric->value;
}

static inline const char *why_not(const char *name)
{
    const struct assay_metric *metric = get(name);
    if (metric->state != ASSAY_UNAVAILABLE) printf("  %s is %g\n", name, metric->value);
    CHECK_INT(metric->state, ASSAY_UNAVAILABLE);
    CHECK(isnan(metric->value));
    return metric->note;
}

static inline const struct assay__series_info *series(const char *name)
{
    for (size_t i = 0; i < sensors.trial->series_count; i++)
        if (strcmp(sensors.trial->series[i].name, name) == 0) return &sensors.trial->series[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

static inline bool said(const char *text)
{
    for (size_t i = 0; i < profile->environment.disturbance_count; i++)
        if (strstr(profile->environment.disturbances[i], text)) return true;
    return false;
}

/* What the page says of it, in lines that are long enough. The caller frees. */
static inline char *page(void)
{
    for (size_t w = 0; w < sensors.window_count; w++) {
        struct assay__span span = {windows[w].launch, "measure",
                                   (double)(windows[w].begin_ns - SECOND),
                                   (double)(windows[w].end_ns - SECOND), 100};
        CHECK_INT(assay__trial_add_span(profile, sensors.trial, &span), 0);
    }
    return subject_text(profile, sensors.trial, &assay__subject_power,
                        (struct assay_report_options){.columns = 400});
}

static inline void check_page(const char *has, const char *has_not)
{
    char *text = page();
    CHECK_HAS(text, has);
    if (has_not && strstr(text, has_not)) harness_fail(__FILE__, __LINE__, text);
    free(text);
}

/* --- what the sensors say --------------------------------------------------------------------- */

/* 10 W until 2.5 s, then 50 W. */
static inline double energy_step(double t)
{
    return 1000 + (t < 2.5 ? 10 * t : 25 + 50 * (t - 2.5));
}
static inline double energy_dram(double t)
{
    return 5 * t;
}
static inline double power_50w(double t)
{
    return t < 2.5 ? 10 : 50;
}
static inline double power_60w(double t)
{
    (void)t;
    return 60;
}
static inline double zero(double t)
{
    (void)t;
    return 0;
}
static inline double gone_at_4s(double t)
{
    return t < 4 ? energy_step(t) : (double)NAN;
}
static inline double backwards_at_4s(double t)
{
    return t < 4 ? energy_step(t) : 3;
}

#define LENGTH (8 * 0.49) /* of all windows, s */

/* A counter that ends like that has no answer, and nothing that rests on it has. */
static inline void check_gone(double (*script_of)(double t), const char *reason)
{
    channel("energy.package-0", "energy", "package", "J", script_of);
    measure("cpu", NULL);
    compute();
    CHECK_HAS(why_not("power.average.package"), reason);
    CHECK_HAS(why_not("power.average"), reason);
    CHECK_HAS(why_not("energy.inference.gross"), reason);
    why_not("energy.inference.net");
    why_not("efficiency.inferences_per_joule");
    CHECK_HAS(why_not("score.efficiency"), "unknown: speed, TOPS/W, memory");
    done();
}

#endif
