/* monitor_public.c - assay_monitor_*() and assay_mark_*(): the monitor around a caller's own loop.
 * Rows become metrics of the same names; marks become latency.* and throughput.inferences. */
#include "monitor/monitor.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "base/text.h"

#include <assay/monitor.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct assay_monitor {
    struct assay__monitor *inner;
    struct assay__marks *marks;
    uint64_t start_ns;
};

int assay_monitor_start(const struct assay_monitor_options *given, struct assay_monitor **monitor,
                        struct assay_error *error)
{
    struct assay_monitor_options options;
    if (!monitor)
        return assay_error_set(error, ASSAY_EINVAL, "assay_monitor_start needs a pointer for it");
    *monitor = NULL;
    int code = assay__options_read(given, &options, sizeof options, "monitor", error);
    if (code) return code;
    struct assay_monitor *made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    const struct assay__monitor_options inner = {.interval_s = options.interval, .marks = true};
    code = assay__monitor_new(&inner, &made->inner, error);
    if (code == 0) code = assay__monitor_begin(made->inner, error);
    if (code) {
        assay__monitor_free(made->inner);
        free(made);
        return code;
    }
    made->marks = assay__monitor_marks(made->inner);
    made->start_ns = assay__now_ns();
    *monitor = made;
    return 0;
}

uint64_t assay_mark_begin(const struct assay_monitor *monitor)
{
    return monitor ? assay__now_ns() : 0;
}

void assay_mark_end(struct assay_monitor *monitor, uint64_t mark)
{
    if (!monitor || !mark) return;
    uint64_t now_ns = assay__now_ns();
    assay__marks_put(monitor->marks, now_ns > mark ? now_ns - mark : 0);
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void put(struct assay_metrics *metrics, const struct assay__shown *shown, double value,
                enum assay_state state, const char *note)
{
    const struct assay_metric metric = {.name = shown->row->name,
                                        .value = value,
                                        .unit = shown->row->unit,
                                        .state = isnan(value) ? ASSAY_UNAVAILABLE : state,
                                        .source = shown->row->source,
                                        .note = note};
    assay_metrics_put(metrics, &metric);
}

static void put_now(struct assay_metrics *metrics, const struct assay__shown *shown)
{
    put(metrics, shown, shown->value, shown->state, shown->note);
}

/* The mean over all ticks; of an energy counter also the energy and the average power, over the
 * time in which its growth was seen. */
static void put_whole(struct assay_metrics *metrics, const struct assay__shown *shown)
{
    char note[320], name[160];
    const char *unit = shown->row->unit;
    if (!shown->count) {
        put(metrics, shown, NAN, ASSAY_UNAVAILABLE, shown->note);
        return;
    }
    snprintf(note, sizeof note, "mean of %llu readings; min %s, max %s",
             (unsigned long long)shown->count, assay__scaled(shown->least, unit).text,
             assay__scaled(shown->greatest, unit).text);
    put(metrics, shown, shown->mean, ASSAY_DERIVED, note);
    if (isnan(shown->energy_j)) return;
    const char *rail = shown->row->name + sizeof "power." - 1;
    snprintf(note, sizeof note, "growth of the energy counter in %.6g s", shown->energy_s);
    snprintf(name, sizeof name, "energy.total.%s", rail);
    assay_metrics_measured(metrics, name, shown->energy_j, shown->row->source, note);
    snprintf(name, sizeof name, "power.average.%s", rail);
    assay_metrics_derived(metrics, name, shown->energy_j / shown->energy_s, shown->row->source,
                          note);
}

static void put_marks(struct assay_metrics *metrics, const struct assay__durations *durations,
                      const struct assay__marks_seen *seen, double seconds)
{
    char remark[128] = "";
    if (seen->count + seen->lost > durations->count)
        snprintf(remark, sizeof remark, "of %llu of %llu marks: the rings were full",
                 (unsigned long long)durations->count,
                 (unsigned long long)(seen->count + seen->lost));
    assay__durations_metrics(durations, remark, metrics);
    if (seconds > 0)
        assay_metrics_measured(metrics, "throughput.inferences", (double)seen->count / seconds,
                               "marks", "marks / time");
    else
        assay_metrics_unavailable(metrics, "throughput.inferences",
                                  "the first interval is not over");
}

static int metrics_of(struct assay_monitor *monitor, bool whole, struct assay_metrics **metrics,
                      struct assay_error *error)
{
    struct assay__view view = {.row_count = 0};
    struct assay__durations *durations = calloc(1, sizeof *durations);
    struct assay_metrics *set = assay_metrics_new();
    int code = durations && set ? assay__monitor_look(monitor->inner, &view) : ASSAY_ENOMEM;
    if (code) goto out;
    for (size_t i = 0; i < view.row_count; i++)
        (whole ? put_whole : put_now)(set, &view.rows[i]);
    struct assay__marks_seen seen;
    assay__monitor_durations(monitor->inner, whole, durations, &seen);
    put_marks(set, durations, &seen,
              whole ? (double)(assay__now_ns() - monitor->start_ns) * 1e-9 : view.interval_s);
    if (isnan(view.cost.sensors_share))
        assay_metrics_unavailable(set, "overhead.sensors", "not known yet");
    else
        assay_metrics_measured(set, "overhead.sensors", view.cost.sensors_share, "clock",
                               "processor time of the reading threads / time");
    code = assay_metrics_failed(set);
out:
    if (code == 0) {
        *metrics = set;
        set = NULL;
    } else {
        assay_error_set(error, code, "%s", assay_error_text(code));
    }
    assay_metrics_free(set);
    assay__view_free(&view);
    free(durations);
    return code;
}

int assay_monitor_current(struct assay_monitor *monitor, struct assay_metrics **metrics,
                          struct assay_error *error)
{
    if (!monitor || !metrics)
        return assay_error_set(error, ASSAY_EINVAL,
                               "assay_monitor_current needs a monitor and a pointer for metrics");
    *metrics = NULL;
    return metrics_of(monitor, false, metrics, error);
}

int assay_monitor_stop(struct assay_monitor *monitor, struct assay_metrics **metrics,
                       struct assay_error *error)
{
    int code = 0;
    if (metrics) *metrics = NULL;
    if (!monitor) return 0;
    assay__monitor_end(monitor->inner);
    if (metrics) code = metrics_of(monitor, true, metrics, error);
    assay__monitor_free(monitor->inner);
    free(monitor);
    return code;
}
