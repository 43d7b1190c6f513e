/* sampler.c - the sampler's life cycle: probes, columns, cost. Reading is in sampler_read.c.
 * Whoever ends last (the owner or an abandoned reader) frees everything. */
#include "probe/sampler/sampler.h"
#include "probe/sampler/sampler_state.h"

#include "base/clock.h"
#include "base/vec.h"
#include "platform/platform.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_NS 100000000u
#define INTERVAL_LEAST_NS 100000u
#define TIMEOUT_NS 1000000000u
#define CAPACITY 4096u
#define CAPACITY_LEAST 16u
#define MEMORY_MOST ((size_t)7 << 20) /* for all columns; beyond that, fewer samples are kept */

/* --- clock ------------------------------------------------------------------------------------ */

static uint64_t real_now(void *context)
{
    (void)context;
    return assay__now_ns();
}

static uint64_t real_cpu(void *context)
{
    struct timespec now;
    (void)context;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void real_sleep(void *context, uint64_t duration_ns)
{
    (void)context;
    assay__sleep_ns(duration_ns);
}

/* --- life cycle ------------------------------------------------------------------------------- */

int assay__sampler_new(const struct assay__sampler_options *options,
                       struct assay__sampler **sampler, struct assay_error *error)
{
    static const struct assay__sampler_options defaults = {.size = sizeof defaults};
    static const struct assay__sampler_clock real = {real_now, real_cpu, real_sleep, NULL};
    *sampler = NULL;
    if (!options) options = &defaults;
    if (options->size != sizeof *options)
        return assay_error_set(error, ASSAY_EINVAL, "the sampler options are of another version");
    uint64_t interval_ns = options->interval_ns ? options->interval_ns : INTERVAL_NS;
    size_t capacity = options->capacity ? options->capacity : CAPACITY;
    if (interval_ns < INTERVAL_LEAST_NS)
        return assay_error_set(error, ASSAY_EINVAL, "a sampling interval under 100 µs");
    if (!(options->most_share >= 0 && options->most_share <= 1))
        return assay_error_set(error, ASSAY_EINVAL,
                               "a share of a core that is not between 0 and 1");
    if (capacity < CAPACITY_LEAST || capacity > SIZE_MAX / 64)
        return assay_error_set(error, ASSAY_EINVAL, "%zu samples per channel", capacity);
    struct assay__sampler *made = calloc(1, sizeof *made);
    bool locked = made && pthread_mutex_init(&made->lock, NULL) == 0;
    if (!locked || pthread_cond_init(&made->stops, NULL)) {
        if (locked) pthread_mutex_destroy(&made->lock);
        free(made);
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the sampler");
    }
    made->clock = options->clock ? *options->clock : real;
    made->interval_ns = interval_ns;
    made->timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
    made->capacity = capacity & ~(size_t)1; /* even: thinning keeps the rhythm */
    made->refs = 1;
    made->inside = SIZE_MAX;
    made->most_share = options->most_share;
    made->swept = options->swept;
    made->swept_context = options->swept_context;
    made->real_time = !options->clock;
    made->wake[0] = made->wake[1] = -1;
    /* Used to wake the reader. Without it (no more descriptors) the reader checks every 50 ms. */
    if (made->real_time && assay__pipe(made->wake) == 0)
        for (int i = 0; i < 2; i++)
            fcntl(made->wake[i], F_SETFL, O_NONBLOCK);
    *sampler = made;
    return 0;
}

void assay__sampler_release(struct assay__sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    bool last = --sampler->refs == 0;
    pthread_mutex_unlock(&sampler->lock);
    if (!last) return;
    for (size_t i = 0; i < sampler->probe_count; i++) {
        sampler->probes[i].ops->close(sampler->probes[i].probe);
        assay__arena_free(sampler->probes[i].arena);
        free(sampler->probes[i].readings);
        free(sampler->probes[i].times_ns);
    }
    for (size_t i = 0; i < sampler->track_count; i++)
        free(sampler->tracks[i].values);
    free(sampler->probes);
    free(sampler->tracks);
    for (int i = 0; i < 2; i++)
        if (sampler->wake[i] >= 0) close(sampler->wake[i]);
    pthread_cond_destroy(&sampler->stops);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

void assay__sampler_free(struct assay__sampler *sampler)
{
    if (!sampler) return;
    assay__sampler_stop(sampler);
    assay__sampler_release(sampler);
}

/* --- probes ----------------------------------------------------------------------------------- */

static int add_track(struct assay__sampler *sampler, const struct assay__channel *channel,
                     size_t channel_index)
{
    if (assay__vec_grow((void **)&sampler->tracks, &sampler->track_capacity,
                        sampler->track_count + 1, sizeof *sampler->tracks))
        return ASSAY_ENOMEM;
    struct assay__track *track = &sampler->tracks[sampler->track_count++];
    *track = (struct assay__track){.channel = channel,
                                   .probe = sampler->probe_count,
                                   .channel_index = channel_index,
                                   .available = channel->available,
                                   .first = NAN,
                                   .latest = NAN,
                                   .calibrated_s = NAN};
    snprintf(track->reason, sizeof track->reason, "%s", channel->available ? "" : channel->reason);
    return 0;
}

/* Tells the probe which channels are used, so that it reads nothing else. */
static int select_taken(const struct assay__sampler *sampler,
                        const struct assay__sampled_probe *sampled, size_t count)
{
    if (!sampled->probe || !sampled->ops->select) return 0;
    bool *taken = calloc(count + 1, sizeof *taken);
    if (!taken) return ASSAY_ENOMEM;
    for (size_t t = sampled->first_track; t < sampler->track_count; t++)
        taken[sampler->tracks[t].channel_index] = true;
    sampled->ops->select(sampled->probe, taken);
    free(taken);
    return 0;
}

int assay__sampler_add(struct assay__sampler *sampler, const struct assay__probe_ops *ops,
                       bool (*wanted)(void *context, const struct assay__probe_ops *ops,
                                      const struct assay__channel *channel),
                       void *context, struct assay_error *error)
{
    struct assay__probe *probe = NULL;
    struct assay__sampled_probe sampled = {.ops = ops,
                                           .stride = 1,
                                           .first_track = sampler->track_count,
                                           .interval_ns = sampler->interval_ns};
    if (sampler->prepared)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the sampler has started: no more probes can be added");
    struct assay_error why = {0};
    int code = assay__probe_open(ops, &sampled.arena, &probe, &why);
    if (code && code != ASSAY_ETIMEOUT) return assay_error_set(error, code, "%s", why.message);
    snprintf(sampled.open_reason, sizeof sampled.open_reason, "%.120s", why.message);
    sampled.blocked = code != 0;
    const struct assay__channel *channels = NULL;
    size_t count = probe ? ops->channels(probe, &channels) : 0;
    sampled.probe = probe;
    sampled.readings = calloc(count ? count : 1, sizeof *sampled.readings);
    if (!sampled.readings || assay__vec_grow((void **)&sampler->probes, &sampler->probe_capacity,
                                             sampler->probe_count + 1, sizeof *sampler->probes))
        goto no_memory;
    for (size_t i = 0; i < count; i++)
        if ((!wanted || wanted(context, ops, &channels[i])) && add_track(sampler, &channels[i], i))
            goto no_memory;
    if (select_taken(sampler, &sampled, count)) goto no_memory;
    sampled.track_count = sampler->track_count - sampled.first_track;
    sampler->probes[sampler->probe_count++] = sampled;
    return 0;
no_memory:
    sampler->track_count = sampled.first_track;
    free(sampled.readings);
    ops->close(probe);
    assay__arena_free(sampled.arena);
    return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the probe %s", ops->name);
}

int assay__sampler_prepare(struct assay__sampler *sampler)
{
    size_t columns = sampler->probe_count + sampler->track_count;
    if (sampler->prepared) return 0;
    size_t most = columns ? MEMORY_MOST / (columns * sizeof(double)) : sampler->capacity;
    if (most < CAPACITY_LEAST) most = CAPACITY_LEAST;
    if (sampler->capacity > most) sampler->capacity = most & ~(size_t)1;
    for (size_t i = 0; i < sampler->probe_count; i++) {
        struct assay__sampled_probe *probe = &sampler->probes[i];
        if (!probe->times_ns) probe->times_ns = calloc(sampler->capacity, sizeof(uint64_t));
        if (!probe->times_ns) return ASSAY_ENOMEM;
    }
    for (size_t i = 0; i < sampler->track_count; i++) {
        struct assay__track *track = &sampler->tracks[i];
        if (!track->available) continue;
        if (!track->values) track->values = calloc(sampler->capacity, sizeof(double));
        if (!track->values) return ASSAY_ENOMEM;
    }
    sampler->memory_bytes = columns * sampler->capacity * sizeof(double);
    sampler->prepared = true;
    return 0;
}

/* --- what it cost ----------------------------------------------------------------------------- */

void assay__sampler_cost(struct assay__sampler *sampler, struct assay__sampler_cost *cost)
{
    pthread_mutex_lock(&sampler->lock);
    uint64_t end_ns = sampler->started ? assay__sampler_now(sampler) : sampler->stop_ns;
    *cost = (struct assay__sampler_cost){
        .ticks = sampler->ticks,
        .late = sampler->late,
        .cpu_ns = sampler->cpu_ns,
        .wall_ns = end_ns > sampler->start_ns ? end_ns - sampler->start_ns : 0,
        .memory_bytes = sampler->memory_bytes,
        .thinned = sampler->thinned};
    pthread_mutex_unlock(&sampler->lock);
}

size_t assay__sampler_probe_count(const struct assay__sampler *sampler)
{
    return sampler->probe_count;
}

void assay__sampler_probe_cost(struct assay__sampler *sampler, size_t index,
                               struct assay__probe_cost *cost)
{
    const struct assay__sampled_probe *probe = &sampler->probes[index];
    pthread_mutex_lock(&sampler->lock);
    *cost = (struct assay__probe_cost){
        .ops = probe->ops,
        .reads = probe->reads,
        .mean_ns = probe->reads ? (double)probe->total_ns / (double)probe->reads : NAN,
        .longest_ns = probe->reads ? (double)probe->longest_ns : NAN,
        .cpu_ns = probe->costs ? probe->cpu_ns : NAN,
        .interval_s = (double)probe->interval_ns * 1e-9,
        .blocked = probe->blocked,
        .reason = probe->probe ? probe->ops->reason(probe->probe) : probe->open_reason};
    pthread_mutex_unlock(&sampler->lock);
}
