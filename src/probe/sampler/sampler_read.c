/* sampler_read.c - the sampler's reading: which probe is due, one reading thread and a watchdog.
 * The reader records under the lock which probe it is about to read; the watchdog (or, while
 * calibrating, the caller) abandons it if that takes longer than the limit, by incrementing the
 * generation: a reader of an older generation notices this under the lock, changes nothing and
 * ends. Ticks are at fixed times from the start: a late one does not shift the others. */
#include "probe/sampler/sampler_state.h"

#include "base/clock.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 50000000u    /* the longest sleep that cannot be interrupted */
#define POLL_LEAST_NS 2000000 /* poll counts in milliseconds */
#define POLL_MOST_MS 1000
#define COARSE_NS 20000000u /* a millisecond is negligible in longer intervals */
#define WATCH_NS 250000000u /* the watchdog checks this often, or four times within the limit */
#define CHEAP_NS 50000      /* a read that takes no more is never delayed */
#define COSTS_NEEDED 4      /* reads before their cost is trusted */
#define COSTS_MEAN 16       /* reads in its moving mean */
#define WAIT_NS 1000000u    /* how often the caller checks whether calibration has ended */

/* --- one reading ------------------------------------------------------------------------------ */

enum keep { KEEP_NEVER, KEEP_STRIDE, KEEP_ALWAYS };

/* Under the lock: adds the readings of a probe to its tracks and columns. */
static void take(struct assay__sampler *sampler, struct assay__sampled_probe *probe,
                 uint64_t time_ns, enum keep keep)
{
    bool store = keep == KEEP_ALWAYS || (keep == KEEP_STRIDE && probe->sweep % probe->stride == 0);
    if (keep != KEEP_NEVER) probe->sweep++;
    size_t first = probe->first_track, end = first + probe->track_count;
    if (store && probe->count == sampler->capacity) { /* every second sample goes */
        size_t kept = (probe->count + 1) / 2;
        for (size_t i = 0; i < kept; i++)
            probe->times_ns[i] = probe->times_ns[2 * i];
        for (size_t t = first; t < end; t++)
            for (size_t i = 0; sampler->tracks[t].values && i < kept; i++)
                sampler->tracks[t].values[i] = sampler->tracks[t].values[2 * i];
        probe->count = kept;
        probe->stride *= 2;
        sampler->thinned++;
    }
    for (size_t t = first; t < end; t++) {
        struct assay__track *track = &sampler->tracks[t];
        const struct assay__probe_reading *reading = &probe->readings[track->channel_index];
        if (!track->values) continue;
        track->latest = reading->value;
        track->latest_ns = time_ns;
        double value = assay__track_take(track, reading->value, reading->reason, time_ns);
        if (store) track->values[probe->count] = value;
    }
    if (store) probe->times_ns[probe->count++] = time_ns;
}

static uint64_t cpu_of(const struct assay__sampler *sampler)
{
    return sampler->clock.cpu_ns(sampler->clock.context);
}

/* Reads one probe. False: this thread was abandoned meanwhile and must end. */
static bool sweep_probe(struct assay__sampler *sampler, size_t index, unsigned generation,
                        enum keep keep)
{
    struct assay__sampled_probe *probe = &sampler->probes[index];
    uint64_t begin_ns = assay__sampler_now(sampler);
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
    /* Wall time bounds processor time: a quick read needs no second clock. */
    bool timed = probe->costs < COSTS_NEEDED || probe->last_ns > CHEAP_NS / 2 ||
                 probe->cpu_ns > CHEAP_NS / 2.0;
    uint64_t cpu_ns = timed ? cpu_of(sampler) : 0;
    probe->ops->read(probe->probe, probe->readings);
    double cost_ns = timed ? (double)(cpu_of(sampler) - cpu_ns) : 0;
    uint64_t end_ns = assay__sampler_now(sampler);
    pthread_mutex_lock(&sampler->lock);
    lost = sampler->generation != generation;
    if (!lost) {
        bool cold = probe->reads++ == 0;
        sampler->inside = SIZE_MAX;
        probe->begin_ns = begin_ns;
        probe->last_ns = end_ns - begin_ns;
        probe->total_ns += probe->last_ns;
        if (probe->last_ns > probe->longest_ns) probe->longest_ns = probe->last_ns;
        if (timed && !cold) {
            uint64_t weight = ++probe->costs < COSTS_MEAN ? probe->costs : COSTS_MEAN;
            probe->cpu_ns += (cost_ns - probe->cpu_ns) / (double)weight;
        }
        take(sampler, probe, begin_ns + probe->last_ns / 2, keep);
    }
    pthread_mutex_unlock(&sampler->lock);
    return !lost;
}

/* --- which are due ---------------------------------------------------------------------------- */

static bool is_dear(const struct assay__sampler *sampler, const struct assay__sampled_probe *probe)
{
    return probe->interval_ns > sampler->interval_ns;
}

/* Under the lock: sets every probe's own interval from the cost of its reads, max(interval, cost /
 * share). */
static void set_intervals(struct assay__sampler *sampler)
{
    for (size_t i = 0; i < sampler->probe_count; i++) {
        struct assay__sampled_probe *probe = &sampler->probes[i];
        bool was_dear = is_dear(sampler, probe);
        probe->interval_ns = sampler->interval_ns;
        if (sampler->most_share > 0 && probe->costs >= COSTS_NEEDED && probe->cpu_ns > CHEAP_NS) {
            uint64_t own_ns = (uint64_t)(probe->cpu_ns / sampler->most_share);
            if (own_ns > probe->interval_ns) probe->interval_ns = own_ns;
        }
        if (!was_dear) probe->due_ns = probe->begin_ns + probe->interval_ns;
    }
}

/* Reads what is due, or all; expensive probes after the others. cpu_mark_ns: the thread's processor
 * time that was already accounted for. */
static bool sweep(struct assay__sampler *sampler, unsigned generation, enum keep keep, bool all,
                  uint64_t *cpu_mark_ns)
{
    uint64_t now_ns = assay__sampler_now(sampler);
    for (int dear = 0; dear < 2; dear++)
        for (size_t i = 0; i < sampler->probe_count; i++) {
            struct assay__sampled_probe *probe = &sampler->probes[i];
            if (is_dear(sampler, probe) != dear) continue;
            if (dear && !all && now_ns < probe->due_ns) continue;
            if (!sweep_probe(sampler, i, generation, keep)) return false;
            if (!dear) continue;
            /* Due times keep their rhythm, since ticks do not coincide with them. An extra read
             * replaces the next one that is due, unless that would leave more than two intervals
             * without any. */
            uint64_t latest_ns = probe->begin_ns + 2 * probe->interval_ns;
            probe->due_ns += probe->interval_ns;
            if (probe->due_ns <= probe->begin_ns)
                probe->due_ns = probe->begin_ns + probe->interval_ns;
            if (probe->due_ns > latest_ns) probe->due_ns = latest_ns;
        }
    uint64_t cpu_ns = cpu_of(sampler);
    pthread_mutex_lock(&sampler->lock);
    set_intervals(sampler);
    sampler->cpu_ns += cpu_ns - *cpu_mark_ns;
    *cpu_mark_ns = cpu_ns;
    sampler->ticks++;
    pthread_mutex_unlock(&sampler->lock);
    if (sampler->swept) sampler->swept(sampler->swept_context, now_ns);
    return true;
}

static bool take_nudge(struct assay__sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    bool nudged = sampler->nudged;
    sampler->nudged = false;
    pthread_mutex_unlock(&sampler->lock);
    return nudged;
}

void assay__sampler_tick(struct assay__sampler *sampler)
{
    if (sampler->started || assay__sampler_prepare(sampler)) return;
    if (sampler->ticks == 0) sampler->start_ns = assay__sampler_now(sampler);
    uint64_t cpu_mark_ns = cpu_of(sampler);
    bool all = take_nudge(sampler);
    sweep(sampler, sampler->generation, all ? KEEP_ALWAYS : KEEP_STRIDE, all, &cpu_mark_ns);
    sampler->stop_ns = assay__sampler_now(sampler);
}

/* --- sleeping --------------------------------------------------------------------------------- */

static void wake(struct assay__sampler *sampler)
{
    const char one = 1;
    /* A failed write is ignored: the pipe is full, so the thread wakes anyway. */
    if (sampler->wake[1] >= 0 && write(sampler->wake[1], &one, 1) < 0) return;
}

void assay__sampler_nudge(struct assay__sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->nudged = true;
    pthread_mutex_unlock(&sampler->lock);
    wake(sampler);
}

enum wake { WAKE_STOP, WAKE_TICK, WAKE_NUDGE };

/* Sleeps until it is time, or until it is woken. Millisecond precision is enough for long
 * intervals. */
static enum wake sleep_until(struct assay__sampler *sampler, uint64_t until_ns, unsigned generation)
{
    bool coarse = sampler->interval_ns >= COARSE_NS;
    for (;;) {
        pthread_mutex_lock(&sampler->lock);
        bool stop = sampler->stopping || sampler->generation != generation;
        pthread_mutex_unlock(&sampler->lock);
        if (stop) return WAKE_STOP;
        if (take_nudge(sampler)) return WAKE_NUDGE;
        uint64_t now_ns = assay__sampler_now(sampler), rest_ns = until_ns - now_ns;
        if (now_ns >= until_ns) return WAKE_TICK;
        if (sampler->wake[0] < 0 || (!coarse && rest_ns < POLL_LEAST_NS)) {
            sampler->clock.sleep_ns(sampler->clock.context,
                                    rest_ns < SLICE_NS ? rest_ns : SLICE_NS);
            continue;
        }
        struct pollfd end = {.fd = sampler->wake[0], .events = POLLIN};
        uint64_t rest_ms = rest_ns / 1000000u < POLL_MOST_MS ? rest_ns / 1000000u : POLL_MOST_MS;
        char said[16];
        if (poll(&end, 1, coarse ? (int)rest_ms + 1 : (int)rest_ms - 1) > 0)
            while (read(sampler->wake[0], said, sizeof said) == (ssize_t)sizeof said) {
            }
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

static void sample(struct assay__sampler *sampler, unsigned generation)
{
    uint64_t next_ns = assay__sampler_now(sampler), cpu_mark_ns = 0; /* a thread begins at 0 */
    enum wake why;
    while ((why = sleep_until(sampler, next_ns, generation)) != WAKE_STOP) {
        bool all = why == WAKE_NUDGE;
        if (!sweep(sampler, generation, all ? KEEP_ALWAYS : KEEP_STRIDE, all, &cpu_mark_ns)) return;
        if (all) continue;
        next_ns += sampler->interval_ns;
        uint64_t now_ns = assay__sampler_now(sampler);
        if (now_ns <= next_ns) continue;
        uint64_t missed = (now_ns - next_ns) / sampler->interval_ns +
                          1; /* ticks passed meanwhile */
        next_ns += missed * sampler->interval_ns;
        pthread_mutex_lock(&sampler->lock);
        sampler->late += missed;
        pthread_mutex_unlock(&sampler->lock);
    }
    /* A sample after the end of the last window. */
    sweep(sampler, generation, KEEP_ALWAYS, true, &cpu_mark_ns);
}

/* Reads each probe at most every max(interval, 2 x its processor time), until the time is up. */
static void calibrate(struct assay__sampler *sampler, unsigned generation)
{
    for (;;) {
        pthread_mutex_lock(&sampler->lock);
        uint64_t until_ns = sampler->calibrate_until_ns;
        bool lost = sampler->generation != generation;
        pthread_mutex_unlock(&sampler->lock);
        if (lost || assay__sampler_now(sampler) >= until_ns) return;
        for (size_t i = 0; i < sampler->probe_count; i++) {
            struct assay__sampled_probe *probe = &sampler->probes[i];
            uint64_t least_ns = (uint64_t)(2 * probe->cpu_ns);
            if (probe->calibration_reads && least_ns > sampler->calibrate_each_ns &&
                assay__sampler_now(sampler) - probe->begin_ns < least_ns)
                continue;
            if (!sweep_probe(sampler, i, generation, KEEP_NEVER)) return;
            probe->calibration_reads++;
        }
        sampler->clock.sleep_ns(sampler->clock.context, sampler->calibrate_each_ns);
    }
}

static void *reader_main(void *argument)
{
    struct assay__sampler *sampler = argument;
    pthread_mutex_lock(&sampler->lock);
    unsigned generation = sampler->generation;
    bool calibrates = sampler->calibrate_each_ns != 0;
    pthread_mutex_unlock(&sampler->lock);
    if (calibrates)
        calibrate(sampler, generation);
    else
        sample(sampler, generation);
    pthread_mutex_lock(&sampler->lock);
    if (sampler->generation == generation) sampler->reader_done = true;
    pthread_mutex_unlock(&sampler->lock);
    assay__sampler_release(sampler);
    return NULL;
}

/* Under the lock: starts a reader of the current generation. */
static int reader_start(struct assay__sampler *sampler)
{
    sampler->reader_done = false;
    sampler->refs++;
    sampler->have_reader = pthread_create(&sampler->reader, NULL, reader_main, sampler) == 0;
    if (sampler->have_reader) return 0;
    sampler->refs--;
    return ASSAY_ENOMEM;
}

/* Under the lock: abandons a reader that is stuck in a probe. True: it was stuck. */
static bool abandon_stuck(struct assay__sampler *sampler)
{
    uint64_t now_ns = assay__sampler_now(sampler);
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
                 "a read did not return within %.3g s: gave up",
                 (double)sampler->timeout_ns * 1e-9);
    }
    sampler->generation++;
    sampler->inside = SIZE_MAX;
    uint64_t lost_ns = now_ns - sampler->inside_since_ns;
    sampler->calibrate_until_ns += lost_ns; /* the others have their time */
    sampler->lost_ns += lost_ns;
    pthread_detach(sampler->reader);
    sampler->have_reader = false;
    return true;
}

static void *watchdog_main(void *argument)
{
    struct assay__sampler *sampler = argument;
    uint64_t slice_ns = sampler->timeout_ns / 4 < WATCH_NS ? sampler->timeout_ns / 4 : WATCH_NS;
    if (slice_ns == 0) slice_ns = 1;
    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stopping) {
        if (sampler->real_time) {
            struct timespec until; /* the condition's clock; if it is changed, a check is late */
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += (long)slice_ns;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&sampler->stops, &sampler->lock, &until);
        } else {
            pthread_mutex_unlock(&sampler->lock);
            sampler->clock.sleep_ns(sampler->clock.context, slice_ns);
            pthread_mutex_lock(&sampler->lock);
        }
        /* If a new thread cannot be started, sampling ends here; what was read is kept. */
        if (!sampler->stopping && abandon_stuck(sampler)) reader_start(sampler);
    }
    sampler->cpu_ns += cpu_of(sampler);
    pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

int assay__sampler_start(struct assay__sampler *sampler, struct assay_error *error)
{
    if (sampler->started)
        return assay_error_set(error, ASSAY_EINVAL, "the sampler is already running");
    if (assay__sampler_prepare(sampler))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for samples");
    pthread_mutex_lock(&sampler->lock);
    sampler->stopping = false;
    sampler->start_ns = assay__sampler_now(sampler);
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
    pthread_cond_broadcast(&sampler->stops);
    pthread_mutex_unlock(&sampler->lock);
    wake(sampler);
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
    sampler->stop_ns = assay__sampler_now(sampler);
    sampler->started = false;
}

/* --- calibrating ------------------------------------------------------------------------------ */

void assay__sampler_calibrate(struct assay__sampler *sampler, uint64_t duration_ns,
                              uint64_t interval_ns)
{
    if (sampler->started || interval_ns == 0 || assay__sampler_prepare(sampler)) return;
    uint64_t begin_ns = assay__sampler_now(sampler);
    pthread_mutex_lock(&sampler->lock);
    sampler->calibrate_each_ns = interval_ns;
    sampler->calibrate_until_ns = begin_ns + duration_ns;
    sampler->lost_ns = 0;
    int code = reader_start(sampler);
    pthread_mutex_unlock(&sampler->lock);
    /* A stuck reader is abandoned, and another one continues. */
    for (bool waiting = code == 0; waiting;) {
        assay__sleep_ns(WAIT_NS); /* never the scripted time, which belongs to the reader */
        pthread_mutex_lock(&sampler->lock);
        waiting = !sampler->reader_done;
        if (waiting && abandon_stuck(sampler)) waiting = reader_start(sampler) == 0;
        pthread_mutex_unlock(&sampler->lock);
    }
    if (sampler->have_reader) pthread_join(sampler->reader, NULL);
    sampler->have_reader = false;
    uint64_t elapsed_ns = assay__sampler_now(sampler) - begin_ns;
    pthread_mutex_lock(&sampler->lock);
    sampler->calibrate_each_ns = 0;
    double elapsed_s = (double)(elapsed_ns - sampler->lost_ns) * 1e-9;
    for (size_t i = 0; i < sampler->track_count; i++) {
        /* The actual interval is longer than the sleep: what matters is how often each was really
         * read. */
        uint64_t reads = sampler->probes[sampler->tracks[i].probe].calibration_reads;
        if (reads) assay__track_calibrated(&sampler->tracks[i], elapsed_s / (double)reads);
    }
    set_intervals(sampler);
    for (size_t i = 0; i < sampler->probe_count; i++)
        sampler->probes[i].due_ns = sampler->probes[i].calibration_reads = 0;
    pthread_mutex_unlock(&sampler->lock);
}
