/* sampler_fixture.h - a fake probe of four channels whose values are functions of the time, and a
 * scripted clock, for tests of the sampler. */
#ifndef ASSAY_TESTS_SAMPLER_FIXTURE_H
#define ASSAY_TESTS_SAMPLER_FIXTURE_H

#include "harness.h"

#include "base/clock.h"
#include "probe/probe.h"
#include "sampler_clock.h"

static uint64_t read_cost_ns;

/* --- the fake probe: four channels whose values are functions of the time --------------------- */

enum { ENERGY, POWER, BROKEN, COUNT, CHANNELS };

static struct assay__channel fake_channels[CHANNELS];
static double (*script[CHANNELS])(uint64_t now_ns);
static const char *script_reason = "";
static int opened, closed;

struct assay__probe {
    int unused;
};
static struct assay__probe fake;

static double nothing(uint64_t now_ns)
{
    (void)now_ns;
    return 0;
}

static int fake_open(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    (void)arena, (void)error;
    opened++;
    *probe = &fake;
    return 0;
}

static size_t fake_list(const struct assay__probe *probe, const struct assay__channel **channels)
{
    (void)probe;
    *channels = fake_channels;
    return CHANNELS;
}

static const char *fake_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void fake_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    for (size_t i = 0; i < CHANNELS; i++) {
        double value = fake_channels[i].available ? script[i](clock_ns) : NAN;
        readings[i] = (struct assay__probe_reading){value, isnan(value) ? script_reason : ""};
    }
    clock_ns += read_cost_ns;
    cpu_clock_ns += read_cost_ns / 2;
}

static void fake_close(struct assay__probe *probe)
{
    (void)probe;
    closed++;
}

static const struct assay__probe_ops fake_ops = {.name = "fake",
                                                 .summary = "a script",
                                                 .open = fake_open,
                                                 .channels = fake_list,
                                                 .reason = fake_reason,
                                                 .read = fake_read,
                                                 .close = fake_close};

static struct assay__sampler *sampler;

static void begin(uint64_t interval_ns, size_t capacity)
{
    static const struct assay__channel models[CHANNELS] = {
        {"energy.package", "energy", "package", "J", ASSAY__CHANNEL_COUNTER, 1000, "script", true,
         "", NULL, false, false},
        {"power.package", "power", "package", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", true, "",
         NULL, false, false},
        {"power.broken", "power", "broken", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", false,
         "needs root: sudo true", NULL, false, false},
        {"count.events", "count", "cpu", "1", ASSAY__CHANNEL_COUNTER, NAN, "script", true, "", NULL,
         false, false},
    };
    memcpy(fake_channels, models, sizeof models);
    for (size_t i = 0; i < CHANNELS; i++)
        if (!script[i]) script[i] = nothing;
    clock_ns = SECOND;
    struct assay__sampler_options options = {.size = sizeof options,
                                             .interval_ns = interval_ns,
                                             .capacity = capacity,
                                             .clock = &fake_clock};
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &fake_ops, NULL, NULL, NULL), 0);
    CHECK_INT(assay__sampler_count(sampler), CHANNELS);
}

/* Ticks at clock_ns, clock_ns + interval, …; the clock stands at the last one after. */
static inline void ticks(size_t count, uint64_t interval_ns)
{
    for (size_t i = 0; i < count; i++) {
        if (i) clock_ns += interval_ns;
        assay__sampler_tick(sampler);
    }
}

static void end(void)
{
    assay__sampler_free(sampler);
    CHECK_INT(opened, 1);
    CHECK_INT(closed, 1);
}

static inline double seconds(uint64_t now_ns)
{
    return (double)(now_ns - SECOND) * 1e-9;
}

#endif
