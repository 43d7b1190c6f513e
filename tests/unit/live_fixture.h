/* live_fixture.h - opening one probe, finding its channels, checking them; for the probes that ask
 * the running machine. */
#ifndef ASSAY_TESTS_LIVE_FIXTURE_H
#define ASSAY_TESTS_LIVE_FIXTURE_H

#include "harness.h"

#include "probe/probe.h"

static struct assay__arena *arena;
static const struct assay__probe_ops *ops;
static struct assay__probe *probe;
static const struct assay__channel *channels;
static size_t channel_count;
static struct assay__probe_reading readings[512];

static inline void open_probe(const char *name)
{
    struct assay_error error;
    arena = assay__arena_new();
    ops = assay__probe_find(name);
    CHECK(ops != NULL);
    CHECK_INT(ops->open(arena, &probe, &error), 0);
    channel_count = ops->channels(probe, &channels);
    CHECK(channel_count <= sizeof readings / sizeof readings[0]);
    ops->read(probe, readings);
}

static inline void close_probe(void)
{
    ops->close(probe);
    assay__arena_free(arena);
}

static inline size_t find(const char *name)
{
    for (size_t i = 0; i < channel_count; i++)
        if (strcmp(channels[i].name, name) == 0) return i;
    printf("  no channel %s\n", name);
    fflush(stdout);
    exit(1);
}

static inline double value(const char *name)
{
    size_t at = find(name);
    CHECK(channels[at].available);
    if (readings[at].reason[0]) printf("  %s: %s\n", name, readings[at].reason);
    CHECK_STR(readings[at].reason, "");
    return readings[at].value;
}

/* Available at open or not, there is no value now, and the reason says so. */
static inline void check_missing(const char *name, bool available, const char *reason)
{
    size_t at = find(name);
    CHECK_INT(channels[at].available, available);
    CHECK(isnan(readings[at].value));
    CHECK_HAS(readings[at].reason, reason);
    if (!available) CHECK_STR(readings[at].reason, channels[at].reason);
}

/* The probe opens, has nothing, and says why. */
static inline void check_none(const char *name, const char *reason)
{
    open_probe(name);
    CHECK_HAS(ops->reason(probe), reason);
    for (size_t i = 0; i < channel_count; i++)
        CHECK(!channels[i].available && isnan(readings[i].value) && readings[i].reason[0]);
    close_probe();
}

#endif
