/* sampler.c - the sampler's life: probes, columns, one reading thread and a watchdog. The reader says under the lock which
 * probe it is about to read; the watchdog leaves it behind when that takes longer than the limit, by raising the
 * generation: a reader of an older generation finds that out under the lock, touches nothing and ends. The last one out
 * (owner or lost reader) frees everything. Ticks are at fixed times from the start: a late one does not shift the rest. */
#include "probe/sampler.h"
#include "probe/sampler_state.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/vec.h"
#include "probe/open.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_NS 100000000u
#define INTERVAL_LEAST_NS 100000u
#define TIMEOUT_NS 1000000000u
#define CAPACITY 4096u
#define CAPACITY_LEAST 16u
#define MEMORY_MOST ((size_t)7 << 20) /* for all columns; fewer samples are kept beyond that */
#define SLICE_NS 50000000u            /* the longest sleep before looking whether to stop */

/* --- clock
 * ------------------------------------------------------------------------------------
 */

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

static uint64_t now_of(const struct assay__sampler *sampler)
{
    return sampler->clock.now_ns(sampler->clock.context);
}

/* --- life
 * -------------------------------------------------------------------------------------
 */

int assay__sampler_new(const struct assay__sampler_options *options,
                       struct assay__sampler **sampler, struct assay_error *error)
{
    static const struct assay__sampler_options defaults = {.size = sizeof defaults};
    static const struct assay__sampler_clock real = {real_now, real_cpu, real_sleep, NULL};
    *sampler = NULL;
    if (!options) options = &defaults;
    if (options->size != sizeof *options)
        return assay_error_set(error, ASSAY_EINVAL, "sampler options of another version");
    uint64_t interval_ns = options->interval_ns ? options->interval_ns : INTERVAL_NS;
    size_t capacity = options->capacity ? options->capacity : CAPACITY;
    if (interval_ns < INTERVAL_LEAST_NS)
        return assay_error_set(error, ASSAY_EINVAL, "a sampling interval under 100 µs");
    if (capacity < CAPACITY_LEAST || capacity > SIZE_MAX / 64)
        return assay_error_set(error, ASSAY_EINVAL, "%zu samples per channel", capacity);
    struct assay__sampler *made = calloc(1, sizeof *made);
    struct assay__arena *arena = made ? assay__arena_new() : NULL;
    if (!arena || pthread_mutex_init(&made->lock, NULL)) {
        assay__arena_free(arena);
        free(made);
        return assay_error_set(error, ASSAY_ENOMEM, "no memory for the sampler");
    }
    made->arena = arena;
    made->clock = options->clock ? *options->clock : real;
    made->interval_ns = interval_ns;
    made->timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_NS;
    made->capacity = capacity & ~(size_t)1; /* even: thinning keeps the rhythm */
    made->refs = 1;
    made->inside = SIZE_MAX;
    *sampler = made;
    return 0;
}

static void destroy(struct assay__sampler *sampler)
{
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
    pthread_mutex_destroy(&sampler->lock);
    assay__arena_free(sampler->arena);
    free(sampler);
}

/* Gives up one reference; the last one frees. */
static void release(struct assay__sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    bool last = --sampler->refs == 0;
    pthread_mutex_unlock(&sampler->lock);
    if (last) destroy(sampler);
}

void assay__sampler_free(struct assay__sampler *sampler)
{
    if (!sampler) return;
    assay__sampler_stop(sampler);
    release(sampler);
}

/* --- probes
 * -----------------------------------------------------------------------------------
 */

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
                                   .calibrated_s = NAN};
    snprintf(track->reason, sizeof track->reason, "%s", channel->available ? "" : channel->reason);
    return 0;
}

int assay__sampler_add(struct assay__sampler *sampler, const struct assay__probe_ops *ops,
                       bool (*wanted)(void *context, const struct assay__probe_ops *ops,
                                      const struct assay__channel *channel),
                       void *context, struct assay_error *error)
{
    struct assay__probe *probe = NULL;
    struct assay__sampled_probe sampled = {
        .ops = ops, .stride = 1, .first_track = sampler->track_count};
    if (sampler->prepared)
        return assay_error_set(error, ASSAY_EINVAL, "the sampler has begun: no more probes");
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
    sampled.track_count = sampler->track_count - sampled.first_track;
    sampler->probes[sampler->probe_count++] = sampled;
    return 0;
no_memory:
    sampler->track_count = sampled.first_track;
    free(sampled.readings);
    ops->close(probe);
    assay__arena_free(sampled.arena);
    return assay_error_set(error, ASSAY_ENOMEM, "no memory for the probe %s", ops->name);
}

/* The columns, once, before the first reading. */
static int prepare(struct assay__sampler *sampler)
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

/* --- reading
 * ----------------------------------------------------------------------------------
 */

/* Every second sample goes. */
static void thin(struct assay__sampler *sampler, struct assay__sampled_probe *probe)
{
    size_t kept = (probe->count + 1) / 2;
    for (size_t i = 0; i < kept; i++)
        probe->times_ns[i] = probe->times_ns[2 * i];
    for (size_t t = probe->first_track; t < probe->first_track + probe->track_count; t++) {
        double *values = sampler->tracks[t].values;
        for (size_t i = 0; values && i < kept; i++)
            values[i] = values[2 * i];
    }
    probe->count = kept;
    probe->stride *= 2;
    sampler->thinned++;
}

enum keep { KEEP_NEVER, KEEP_STRIDE, KEEP_ALWAYS };

/* Under the lock: the readings of a probe into its tracks and columns. */
static void take(struct assay__sampler *sampler, struct assay__sampled_probe *probe,
                 uint64_t time_ns, enum keep keep)
{
    bool store = keep == KEEP_ALWAYS || (keep == KEEP_STRIDE && probe->sweep % probe->stride == 0);
    if (keep != KEEP_NEVER) probe->sweep++;
    if (store && probe->count == sampler->capacity) thin(sampler, probe);
    for (size_t t = probe->first_track; t < probe->first_track + probe->track_count; t++) {
        struct assay__track *track = &sampler->tracks[t];
        const struct assay__probe_reading *reading = &probe->readings[track->channel_index];
        if (!track->values) continue;
        double value = assay__track_take(track, reading->value, reading->reason, time_ns);
        if (store) track->values[probe->count] = value;
    }
    if (store) probe->times_ns[probe->count++] = time_ns;
}

/* Reads one probe. False: this thread was left behind meanwhile and must end.
 */
static bool sweep_probe(struct assay__sampler *sampler, size_t index, unsigned generation,
                        enum keep keep)
{
    struct assay__sampled_probe *probe = &sampler->probes[index];
    uint64_t begin_ns = now_of(sampler);
    pthread_mutex_lock(&sampler->lock);
    bool skip = probe->blocked || probe->track_count == 0;
    bool lost = sampler->generation != generation;
    if (!skip && !lost) {
        sampler->inside = index;
        sampler->inside_since_ns = begin_ns;
    }
    pthread_mutex_unlock(&sampler->lock);
    if (lost) return false;
    if (skip) return true;
    probe->ops->read(probe->probe, probe->readings);
    uint64_t end_ns = now_of(sampler);
    pthread_mutex_lock(&sampler->lock);
    lost = sampler->generation != generation;
    if (!lost) {
        uint64_t cost_ns = end_ns - begin_ns;
        sampler->inside = SIZE_MAX;
        probe->reads++;
        probe->total_ns += cost_ns;
        if (cost_ns > probe->longest_ns) probe->longest_ns = cost_ns;
        take(sampler, probe, begin_ns + cost_ns / 2, keep);
    }
    pthread_mutex_unlock(&sampler->lock);
    return !lost;
}

/* Reads all probes. cpu_mark_ns: the thread's processor time that was already
 * booked. */
static bool sweep(struct assay__sampler *sampler, unsigned generation, enum keep keep,
                  uint64_t *cpu_mark_ns)
{
    for (size_t i = 0; i < sampler->probe_count; i++)
        if (!sweep_probe(sampler, i, generation, keep)) return false;
    uint64_t cpu_ns = sampler->clock.cpu_ns(sampler->clock.context);
    pthread_mutex_lock(&sampler->lock);
    sampler->cpu_ns += cpu_ns - *cpu_mark_ns;
    *cpu_mark_ns = cpu_ns;
    sampler->ticks++;
    pthread_mutex_unlock(&sampler->lock);
    return true;
}

void assay__sampler_tick(struct assay__sampler *sampler)
{
    if (sampler->started || prepare(sampler)) return;
    if (sampler->ticks == 0) sampler->start_ns = now_of(sampler);
    uint64_t cpu_mark_ns = sampler->clock.cpu_ns(sampler->clock.context);
    sweep(sampler, sampler->generation, KEEP_STRIDE, &cpu_mark_ns);
    sampler->stop_ns = now_of(sampler);
}

void assay__sampler_calibrate(struct assay__sampler *sampler, uint64_t duration_ns,
                              uint64_t interval_ns)
{
    if (sampler->started || prepare(sampler)) return;
    uint64_t begin_ns = now_of(sampler), ticks = sampler->ticks, cpu_ns = sampler->cpu_ns;
    uint64_t cpu_mark_ns = 0;
    while (now_of(sampler) - begin_ns < duration_ns) {
        sweep(sampler, sampler->generation, KEEP_NEVER, &cpu_mark_ns);
        sampler->clock.sleep_ns(sampler->clock.context, interval_ns);
    }
    uint64_t done = sampler->ticks - ticks;
    /* The sleep is not the whole rhythm: what counts is how often it was really
   * read. */
    double real_s = done ? (double)(now_of(sampler) - begin_ns) * 1e-9 / (double)done : NAN;
    for (size_t i = 0; i < sampler->track_count && done; i++)
        assay__track_calibrated(&sampler->tracks[i], real_s);
    sampler->ticks = ticks;
    sampler->cpu_ns = cpu_ns;
}

/* --- threads
 * ----------------------------------------------------------------------------------
 */

static bool stopping(struct assay__sampler *sampler, unsigned generation)
{
    pthread_mutex_lock(&sampler->lock);
    bool stop = sampler->stopping || sampler->generation != generation;
    pthread_mutex_unlock(&sampler->lock);
    return stop;
}

/* Sleeps until `until_ns`, in slices; false: it is time to stop. */
static bool sleep_until(struct assay__sampler *sampler, uint64_t until_ns, unsigned generation)
{
    for (;;) {
        if (stopping(sampler, generation)) return false;
        uint64_t now_ns = now_of(sampler);
        if (now_ns >= until_ns) return true;
        uint64_t rest_ns = until_ns - now_ns;
        sampler->clock.sleep_ns(sampler->clock.context, rest_ns < SLICE_NS ? rest_ns : SLICE_NS);
    }
}

static void *reader_main(void *argument)
{
    struct assay__sampler *sampler = argument;
    pthread_mutex_lock(&sampler->lock);
    unsigned generation = sampler->generation;
    uint64_t next_ns = now_of(sampler);
    pthread_mutex_unlock(&sampler->lock);
    bool mine = true;
    uint64_t cpu_mark_ns = 0; /* a thread begins at 0 */
    while (mine && !stopping(sampler, generation)) {
        mine = sweep(sampler, generation, KEEP_STRIDE, &cpu_mark_ns);
        next_ns += sampler->interval_ns;
        uint64_t now_ns = now_of(sampler);
        if (mine && now_ns > next_ns) {
            uint64_t missed = (now_ns - next_ns) / sampler->interval_ns + 1;
            next_ns += missed * sampler->interval_ns;
            pthread_mutex_lock(&sampler->lock);
            sampler->late += missed;
            pthread_mutex_unlock(&sampler->lock);
        }
        if (mine && !sleep_until(sampler, next_ns, generation)) break;
    }
    /* The end of the last window: a sample that lies behind it. */
    if (mine) mine = sweep(sampler, generation, KEEP_ALWAYS, &cpu_mark_ns);
    pthread_mutex_lock(&sampler->lock);
    if (sampler->generation == generation) sampler->reader_done = true;
    pthread_mutex_unlock(&sampler->lock);
    release(sampler);
    return NULL;
}

/* Under the lock: starts a reader of the present generation. */
static int reader_start(struct assay__sampler *sampler)
{
    sampler->reader_done = false;
    sampler->refs++;
    sampler->have_reader = pthread_create(&sampler->reader, NULL, reader_main, sampler) == 0;
    if (sampler->have_reader) return 0;
    sampler->refs--;
    return ASSAY_ENOMEM;
}

/* Under the lock: leaves a reader behind that is stuck in a probe. True: it was
 * stuck. */
static bool abandon_stuck(struct assay__sampler *sampler)
{
    uint64_t now_ns = now_of(sampler);
    if (sampler->inside == SIZE_MAX || now_ns < sampler->inside_since_ns ||
        now_ns - sampler->inside_since_ns <= sampler->timeout_ns)
        return false;
    struct assay__sampled_probe *probe = &sampler->probes[sampler->inside];
    probe->blocked = true;
    for (size_t t = probe->first_track; t < probe->first_track + probe->track_count; t++) {
        struct assay__track *track = &sampler->tracks[t];
        if (!track->available) continue;
        track->available = false;
        snprintf(track->reason, sizeof track->reason,
                 "a read did not come back within %.3g s: given up",
                 (double)sampler->timeout_ns * 1e-9);
    }
    sampler->generation++;
    sampler->inside = SIZE_MAX;
    pthread_detach(sampler->reader);
    sampler->have_reader = false;
    return true;
}

static void *watchdog_main(void *argument)
{
    struct assay__sampler *sampler = argument;
    uint64_t slice_ns = sampler->timeout_ns / 4 < SLICE_NS ? sampler->timeout_ns / 4 : SLICE_NS;
    for (bool stop = false; !stop;) {
        sampler->clock.sleep_ns(sampler->clock.context, slice_ns ? slice_ns : 1);
        pthread_mutex_lock(&sampler->lock);
        stop = sampler->stopping;
        /* Without memory for a new thread the sampling ends here; what was read
     * stays. */
        if (!stop && abandon_stuck(sampler)) reader_start(sampler);
        pthread_mutex_unlock(&sampler->lock);
    }
    pthread_mutex_lock(&sampler->lock);
    sampler->cpu_ns += sampler->clock.cpu_ns(sampler->clock.context);
    pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

int assay__sampler_start(struct assay__sampler *sampler, struct assay_error *error)
{
    if (sampler->started)
        return assay_error_set(error, ASSAY_EINVAL, "the sampler is already running");
    if (prepare(sampler)) return assay_error_set(error, ASSAY_ENOMEM, "no memory for samples");
    pthread_mutex_lock(&sampler->lock);
    sampler->stopping = false;
    sampler->start_ns = now_of(sampler);
    int code = reader_start(sampler);
    pthread_mutex_unlock(&sampler->lock);
    if (code) return assay_error_set(error, code, "no thread for the sampler");
    sampler->started = true;
    sampler->have_watchdog = pthread_create(&sampler->watchdog, NULL, watchdog_main, sampler) == 0;
    if (sampler->have_watchdog) return 0;
    assay__sampler_stop(sampler);
    return assay_error_set(error, ASSAY_ENOMEM, "no thread for the sampler's watchdog");
}

void assay__sampler_stop(struct assay__sampler *sampler)
{
    if (!sampler->started) return;
    pthread_mutex_lock(&sampler->lock);
    sampler->stopping = true;
    pthread_mutex_unlock(&sampler->lock);
    if (sampler->have_watchdog) pthread_join(sampler->watchdog, NULL);
    sampler->have_watchdog = false;
    for (bool waiting = true; waiting;) {
        pthread_mutex_lock(&sampler->lock);
        bool done = sampler->have_reader && sampler->reader_done;
        waiting = sampler->have_reader && !done && !abandon_stuck(sampler);
        if (done) sampler->have_reader = false;
        pthread_mutex_unlock(&sampler->lock);
        if (done) pthread_join(sampler->reader, NULL);
        if (waiting) sampler->clock.sleep_ns(sampler->clock.context, 200000);
    }
    sampler->stop_ns = now_of(sampler);
    sampler->started = false;
}

/* --- what it cost
 * -----------------------------------------------------------------------------
 */

void assay__sampler_cost(struct assay__sampler *sampler, struct assay__sampler_cost *cost)
{
    pthread_mutex_lock(&sampler->lock);
    uint64_t end_ns = sampler->started ? now_of(sampler) : sampler->stop_ns;
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
        .blocked = probe->blocked,
        .reason = probe->probe ? probe->ops->reason(probe->probe) : probe->open_reason};
    pthread_mutex_unlock(&sampler->lock);
}
