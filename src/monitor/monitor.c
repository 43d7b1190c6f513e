/* monitor.c - the monitor's life cycle, its ticks, and looking at it: see monitor.h. */
#include "monitor/monitor_state.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "base/vec.h"
#include "platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HISTORY_BYTES ((size_t)4 << 20)
/* of a core, for one probe: what costs more is read less often (sampler.h) */
#define MOST_SHARE 0.001
#define COLUMN 16 /* samples that the sampler itself keeps: nobody looks at them */
#define SUSPENDED_LEAST_NS 10000000u /* the two clocks are not read at one instant */
/* Soon after the start everything is read once more, so that the first interval's power begins at a
 * change of its counter. */
#define PRIME_NS 60000000u
#define PRIME_LEAST_NS 300000000u /* in shorter intervals that is not needed */

static uint64_t process_cpu_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- a tick ----------------------------------------------------------------------------------- */

static void take_readings(struct assay__monitor *monitor)
{
    for (size_t i = 0; i < monitor->watched_count; i++) {
        struct assay__sensor *sensor = &monitor->watched[i].sensor;
        struct assay__latest latest;
        if (!sensor->channel->available) continue; /* it keeps the reason it was opened with */
        assay__sampler_latest(monitor->sampler, i, &latest);
        if (latest.lost)
            assay__sensor_take(sensor, NAN, latest.reason, sensor->time_ns + 1);
        else if (latest.time_ns > sensor->time_ns)
            assay__sensor_take(sensor, latest.value, latest.reason, latest.time_ns);
    }
}

/* Counters may have grown while the clock stood still: nothing is computed across that. */
static void notice_suspend(struct assay__monitor *monitor)
{
    uint64_t suspended_ns = monitor->suspended_ns ? monitor->suspended_ns() : 0;
    bool was = suspended_ns > monitor->was_suspended_ns + SUSPENDED_LEAST_NS;
    monitor->was_suspended_ns = suspended_ns;
    for (size_t i = 0; was && i < monitor->watched_count; i++) {
        struct assay__sensor *sensor = &monitor->watched[i].sensor;
        if (sensor->channel->available)
            assay__sensor_take(sensor, NAN, "the machine was suspended", sensor->time_ns + 1);
    }
}

static void add_to_total(struct assay__row_total *total, double value)
{
    if (isnan(value)) return;
    total->least = fmin(total->least, value); /* ignores the NaN at the beginning */
    total->greatest = fmax(total->greatest, value);
    total->sum += value;
    total->count++;
}

static void take_rows(struct assay__monitor *monitor)
{
    const struct assay__given_rows *given = &monitor->given;
    for (size_t r = given->count; r < monitor->row_count; r++) {
        const struct assay__monitored *chosen = assay__monitor_chosen(monitor, &monitor->rows[r]);
        monitor->values[r] = chosen ? chosen->sensor.value : (double)NAN;
    }
    for (size_t r = 0; r < given->count; r++) {
        monitor->values[r] = NAN;
        monitor->notes[r] = "";
    }
    if (given->count) given->give(given->context, monitor, monitor->values, monitor->notes);
    for (size_t r = 0; r < monitor->row_count; r++)
        add_to_total(&monitor->totals[r], monitor->values[r]);
}

static void take_marks(struct assay__monitor *monitor)
{
    if (!monitor->marks) return;
    assay__durations_clear(monitor->interval);
    assay__marks_collect(monitor->marks, monitor->interval, monitor->whole, &monitor->seen);
    monitor->seen_all.count += monitor->seen.count;
    monitor->seen_all.sum_ns += monitor->seen.sum_ns;
    monitor->seen_all.kept += monitor->seen.kept;
    monitor->seen_all.lost += monitor->seen.lost;
    monitor->seen_all.threads = monitor->seen.threads;
}

/* On the sampler's thread, after each sweep. One that comes early (the sampler's last one, or one
 * that was asked for) feeds the sensors only. */
static void swept(void *context, uint64_t now_ns)
{
    struct assay__monitor *monitor = context;
    pthread_mutex_lock(&monitor->lock);
    notice_suspend(monitor);
    take_readings(monitor);
    if (monitor->ticks && now_ns - monitor->last_ns < monitor->interval_ns / 2) goto out;
    if (!monitor->ticks) monitor->began_ns = now_ns;
    monitor->interval_s = monitor->ticks ? (double)(now_ns - monitor->last_ns) * 1e-9 : (double)NAN;
    monitor->last_ns = now_ns;
    take_rows(monitor);
    take_marks(monitor);
    assay__history_put(monitor->history, now_ns, monitor->values);
    if (monitor->tree_reader) monitor->tree = assay__tree_read(monitor->tree_reader);
    if (monitor->real_time) {
        uint64_t cpu_ns = process_cpu_ns();
        monitor->share = (double)(cpu_ns - monitor->cpu_ns) * 1e-9 / monitor->interval_s;
        monitor->cpu_ns = cpu_ns;
    }
    monitor->ticks++;
    pthread_cond_broadcast(&monitor->ticked);
out:
    pthread_mutex_unlock(&monitor->lock);
}

/* --- life cycle ------------------------------------------------------------------------------- */

static int make_marks(struct assay__monitor *monitor, struct assay_error *error)
{
    monitor->interval = calloc(1, sizeof *monitor->interval);
    monitor->whole = calloc(1, sizeof *monitor->whole);
    if (!monitor->interval || !monitor->whole) return assay__no_memory(error);
    return assay__marks_new(&monitor->marks, error);
}

static int make_sampler(struct assay__monitor *monitor,
                        const struct assay__monitor_options *options, struct assay_error *error)
{
    const struct assay__sampler_options sampler = {.size = sizeof sampler,
                                                   .interval_ns = monitor->interval_ns,
                                                   .capacity = COLUMN,
                                                   .clock = options->clock,
                                                   .most_share = options->clock ? 0 : MOST_SHARE,
                                                   .swept = swept,
                                                   .swept_context = monitor};
    int code = assay__sampler_new(&sampler, &monitor->sampler, error);
    return code ? code : assay__monitor_open_rows(monitor, options->probes, error);
}

static int make_columns(struct assay__monitor *monitor,
                        const struct assay__monitor_options *options, struct assay_error *error)
{
    size_t bytes = options->history_bytes ? options->history_bytes : HISTORY_BYTES;
    uint64_t now_ns = options->clock ? options->clock->now_ns(options->clock->context)
                                     : assay__now_ns();
    monitor->values = calloc(monitor->row_count + 1, sizeof *monitor->values);
    monitor->totals = calloc(monitor->row_count + 1, sizeof *monitor->totals);
    if (!monitor->values || !monitor->totals) return assay__no_memory(error);
    for (size_t r = 0; r < monitor->row_count; r++) {
        monitor->values[r] = NAN;
        monitor->totals[r] = (struct assay__row_total){.least = NAN, .greatest = NAN};
    }
    return assay__history_new(monitor->row_count, bytes, now_ns, &monitor->history, error);
}

int assay__monitor_new(const struct assay__monitor_options *options,
                       struct assay__monitor **monitor, struct assay_error *error)
{
    static const struct assay__monitor_options defaults = {0};
    *monitor = NULL;
    if (!options) options = &defaults;
    double interval_s = options->interval_s != 0 ? options->interval_s : ASSAY__MONITOR_DEFAULT_S;
    if (!(interval_s >= ASSAY__MONITOR_LEAST_S && interval_s <= ASSAY__MONITOR_MOST_S))
        return assay__refuse_option(error, "interval",
                                    "the interval must be between 0.1 s and 10 s, not %.6g s",
                                    interval_s);
    struct assay__monitor *made = calloc(1, sizeof *made);
    if (!made || pthread_mutex_init(&made->lock, NULL)) {
        free(made);
        return assay__no_memory(error);
    }
    if (pthread_cond_init(&made->ticked, NULL)) {
        pthread_mutex_destroy(&made->lock);
        free(made);
        return assay__no_memory(error);
    }
    made->arena = assay__arena_new();
    made->interval_ns = (uint64_t)(interval_s * 1e9 + 0.5);
    made->given = options->given;
    made->real_time = !options->clock;
    made->suspended_ns = options->clock ? options->suspended_ns : assay__suspended_ns;
    made->was_suspended_ns = made->suspended_ns ? made->suspended_ns() : 0;
    made->interval_s = made->share = NAN;
    int code = made->arena ? make_sampler(made, options, error) : assay__no_memory(error);
    if (code == 0) code = make_columns(made, options, error);
    if (code == 0 && options->marks) code = make_marks(made, error);
    if (code == 0 && options->root)
        code = assay__tree_open(options->root, &made->tree_reader, error);
    if (code)
        assay__monitor_free(made);
    else
        *monitor = made;
    return code;
}

void assay__monitor_free(struct assay__monitor *monitor)
{
    if (!monitor) return;
    assay__sampler_free(monitor->sampler); /* stops it; its thread uses all that follows */
    assay__marks_free(monitor->marks);
    assay__tree_close(monitor->tree_reader);
    assay__history_free(monitor->history);
    free(monitor->interval);
    free(monitor->whole);
    free(monitor->values);
    free(monitor->totals);
    free(monitor->watched);
    assay__arena_free(monitor->arena);
    pthread_cond_destroy(&monitor->ticked);
    pthread_mutex_destroy(&monitor->lock);
    free(monitor);
}

int assay__monitor_begin(struct assay__monitor *monitor, struct assay_error *error)
{
    monitor->cpu_ns = process_cpu_ns();
    int code = assay__sampler_start(monitor->sampler, error);
    if (code == 0 && monitor->real_time && monitor->interval_ns >= PRIME_LEAST_NS) {
        assay__sleep_ns(PRIME_NS);
        assay__sampler_nudge(monitor->sampler);
    }
    return code;
}

void assay__monitor_end(struct assay__monitor *monitor)
{
    assay__sampler_stop(monitor->sampler);
    pthread_mutex_lock(&monitor->lock);
    if (monitor->marks) { /* what came after the last tick counts, but is no interval */
        struct assay__marks_seen rest;
        assay__marks_collect(monitor->marks, monitor->interval, monitor->whole, &rest);
        monitor->seen_all.count += rest.count;
        monitor->seen_all.sum_ns += rest.sum_ns;
        monitor->seen_all.kept += rest.kept;
        monitor->seen_all.lost += rest.lost;
    }
    pthread_mutex_unlock(&monitor->lock);
}

void assay__monitor_tick(struct assay__monitor *monitor)
{
    assay__sampler_tick(monitor->sampler);
}

/* UTC with milliseconds; "" if unknown. */
static void put_time(char text[32])
{
    struct timespec now;
    struct tm parts;
    size_t length = 0;
    if (clock_gettime(CLOCK_REALTIME, &now) == 0 && gmtime_r(&now.tv_sec, &parts))
        length = strftime(text, 24, "%Y-%m-%dT%H:%M:%S", &parts);
    text[length] = '\0';
    if (length)
        snprintf(text + length, 32 - length, ".%03uZ", (unsigned)(now.tv_nsec / 1000000) % 1000u);
}

/* --- looking ---------------------------------------------------------------------------------- */

uint64_t assay__monitor_wait(struct assay__monitor *monitor, uint64_t seen, uint64_t timeout_ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME,
                  &until); /* the condition's clock; if it is set, a check is late */
    uint64_t nanoseconds = (uint64_t)until.tv_nsec + timeout_ns;
    until.tv_sec += (time_t)(nanoseconds / 1000000000u);
    until.tv_nsec = (long)(nanoseconds % 1000000000u);
    pthread_mutex_lock(&monitor->lock);
    int waited = 0;
    while (monitor->ticks <= seen && waited == 0)
        waited = pthread_cond_timedwait(&monitor->ticked, &monitor->lock, &until);
    uint64_t ticks = monitor->ticks;
    pthread_mutex_unlock(&monitor->lock);
    return ticks;
}

/* Why a row has no value now, or how it has it. */
static const char *note_of(const struct assay__monitor *monitor, size_t index)
{
    const struct assay__row *row = &monitor->rows[index];
    const struct assay__monitored *chosen = assay__monitor_chosen(monitor, row);
    if (row->given) return monitor->notes[index];
    if (!chosen) return row->reason;
    return isnan(monitor->values[index]) ? chosen->sensor.reason : chosen->about.formula;
}

double assay__monitor_value(const struct assay__monitor *monitor, const char *name,
                            const char **note)
{
    *note = "nothing here measures it";
    for (size_t r = 0; r < monitor->row_count; r++) {
        if (strcmp(monitor->rows[r].name, name) != 0) continue;
        *note = note_of(monitor, r);
        return monitor->values[r];
    }
    return NAN;
}

static void show_row(const struct assay__monitor *monitor, size_t index, struct assay__shown *shown)
{
    const struct assay__row *row = &monitor->rows[index];
    const struct assay__row_total *total = &monitor->totals[index];
    *shown = (struct assay__shown){.row = row,
                                   .value = monitor->values[index],
                                   .least = total->least,
                                   .greatest = total->greatest,
                                   .mean = total->count ? total->sum / (double)total->count
                                                        : (double)NAN,
                                   .count = total->count,
                                   .energy_j = NAN,
                                   .energy_s = NAN};
    const char *note = note_of(monitor, index), *formula = row->formula;
    if (!row->given && row->sensor_count) formula = note;
    if (!isnan(shown->value)) shown->state = *formula ? ASSAY_DERIVED : ASSAY_MEASURED;
    if (isnan(shown->value) && !*note) note = "not read yet";
    snprintf(shown->note, sizeof shown->note, "%.250s", note);
    for (size_t i = 0; i < row->sensor_count; i++) {
        const struct assay__sensor *sensor = &monitor->watched[row->sensors[i]].sensor;
        if (strcmp(sensor->channel->quantity, "energy") != 0 || !(sensor->grown_s > 0)) continue;
        shown->energy_j = sensor->grown;
        shown->energy_s = sensor->grown_s;
    }
}

static int show_tree(const struct assay__monitor *monitor, struct assay__view *view)
{
    const struct assay__tree *tree = monitor->tree;
    view->has_tree = monitor->tree_reader != NULL;
    view->process_count = 0;
    view->tree_share = view->tree_other = view->tree_total = NAN;
    view->tree_reason = tree ? tree->reason : "not read yet";
    if (!tree) return 0;
    if (assay__vec_grow((void **)&view->processes, &view->process_capacity, tree->count + 1,
                        sizeof *view->processes))
        return ASSAY_ENOMEM;
    if (tree->count) memcpy(view->processes, tree->items, tree->count * sizeof *tree->items);
    view->process_count = tree->count;
    view->tree_share = tree->share;
    view->tree_other = tree->other;
    view->tree_total = tree->total;
    return 0;
}

static void show_marks(const struct assay__monitor *monitor, struct assay__shown_marks *marks)
{
    *marks = (struct assay__shown_marks){.per_second = NAN, .p50_s = NAN, .p99_s = NAN};
    if (!monitor->marks) return;
    marks->any = monitor->seen_all.count > 0;
    marks->count = monitor->seen.count;
    marks->lost = monitor->seen_all.lost;
    marks->per_second = (double)monitor->seen.count / monitor->interval_s;
    marks->p50_s = assay__durations_percentile(monitor->interval, 0.5) * 1e-9;
    marks->p99_s = assay__durations_percentile(monitor->interval, 0.99) * 1e-9;
}

int assay__monitor_look(struct assay__monitor *monitor, struct assay__view *view)
{
    struct assay__sampler_cost cost;
    assay__sampler_cost(monitor->sampler, &cost);
    if (assay__vec_grow((void **)&view->rows, &view->row_capacity, monitor->row_count + 1,
                        sizeof *view->rows))
        return ASSAY_ENOMEM;
    put_time(view->time);
    view->row_count = monitor->row_count;
    pthread_mutex_lock(&monitor->lock);
    view->now_ns = monitor->last_ns;
    view->began_ns = monitor->began_ns;
    view->interval_s = monitor->interval_s;
    view->ticks = monitor->ticks;
    for (size_t r = 0; r < monitor->row_count; r++)
        show_row(monitor, r, &view->rows[r]);
    int code = show_tree(monitor, view);
    show_marks(monitor, &view->marks);
    view->cost = (struct assay__shown_cost){
        .share = monitor->share,
        .sensors_share = cost.wall_ns ? (double)cost.cpu_ns / (double)cost.wall_ns : (double)NAN,
        .late = cost.late,
        .history_bytes = assay__history_bytes(monitor->history)};
    pthread_mutex_unlock(&monitor->lock);
    return code;
}

size_t assay__monitor_history(struct assay__monitor *monitor, size_t level, size_t row,
                              struct assay__bucket *out, size_t most, uint64_t *first_ns)
{
    pthread_mutex_lock(&monitor->lock);
    size_t count = assay__history_read(monitor->history, level, row, out, most, first_ns);
    pthread_mutex_unlock(&monitor->lock);
    return count;
}

struct assay__marks *assay__monitor_marks(struct assay__monitor *monitor)
{
    return monitor->marks;
}

void assay__monitor_durations(struct assay__monitor *monitor, bool whole,
                              struct assay__durations *durations, struct assay__marks_seen *seen)
{
    pthread_mutex_lock(&monitor->lock);
    *durations = *(whole ? monitor->whole : monitor->interval);
    *seen = whole ? monitor->seen_all : monitor->seen;
    pthread_mutex_unlock(&monitor->lock);
}
