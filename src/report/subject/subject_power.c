/* subject_power.c - power, energy, temperature and clocks: one sentence, a table of rails, what
 * else was read, pictures over time, the cost of reading, and the sensors without a value. Every
 * reading is in subject_series.c. */
#include "report/subject/subject.h"

#include "base/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_sensor(const struct assay__series_info *series)
{
    static const char *const quantities[] = {"energy",      "power", "temperature", "clock",
                                             "utilization", "fan",   "state"};
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (series->launch == 0 && strcmp(series->quantity, quantities[i]) == 0) return true;
    return false;
}

static bool has_values(const struct assay__series_info *series)
{
    return series->state != ASSAY_UNAVAILABLE && series->count > 0 && series->times_ns &&
           series->values;
}

static bool is_measured(const struct assay__span *span)
{
    return strcmp(span->kind, "measure") == 0;
}

static void add_answer(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *power = assay_metrics_get(trial->metrics, "power.average"),
                              *gross = assay__trial_metric(trial, "energy.inference.gross"),
                              *net = assay__trial_metric(trial, "energy.inference.net");
    if (!assay__trial_metric(trial, "power.average")) {
        const char *above = power ? assay__reason_above(doc, trial, power) : NULL;
        const char *reason = power && *power->note ? power->note : "no sensor was read";
        assay__doc_plain(doc, "The energy per inference is unknown%s %s.", above ? "," : ":",
                         above ? above : reason);
        return;
    }
    const char *beyond = "";
    if (net && net->value > 0)
        beyond = assay__doc_printf(doc, ", %s of it beyond the idle machine",
                                   assay__scaled(net->value, net->unit).text);
    else if (net)
        beyond = ", no more than the idle machine draws in that time";
    const char *energy = gross ? assay__doc_printf(doc, "%s%s",
                                                   assay__scaled(gross->value, gross->unit).text,
                                                   beyond)
                               : "an unknown energy";
    assay__doc_plain(doc, "An inference takes %s, at %s.", energy,
                     assay__scaled(power->value, power->unit).text);
}

static const struct assay__column rail_columns[] = {
    {.title = "rail", .flags = ASSAY__COLUMN_NAME},
    {.title = "idle", .unit = "W", .priority = 1},
    {.title = "average", .unit = "W", .flags = ASSAY__COLUMN_KEEP},
    {.title = "peak", .unit = "W", .priority = 2},
    {.title = "energy", .unit = "J", .flags = ASSAY__COLUMN_KEEP},
    {.title = "updated every", .unit = "s", .priority = 3},
    {.title = "source", .priority = 2},
    {.title = "how average and idle power are known",
     .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_ASIDE},
};

static const struct assay_metric *metric_of(const struct assay__trial *trial, const char *family,
                                            const char *rail)
{
    char name[200];
    snprintf(name, sizeof name, "%s.%.120s", family, rail);
    return assay_metrics_get(trial->metrics, name);
}

static bool is_known(const struct assay_metric *metric)
{
    return metric && metric->state != ASSAY_UNAVAILABLE;
}

/* Rails in the order of their metrics; NULL past the end. */
static const char *rail_at(const struct assay__trial *trial, size_t index)
{
    static const char family[] = "power.average.";
    for (size_t i = 0; i < assay_metrics_count(trial->metrics); i++) {
        const char *name = assay_metrics_at(trial->metrics, i)->name;
        if (strncmp(name, family, sizeof family - 1) == 0 && index-- == 0)
            return name + sizeof family - 1;
    }
    return NULL;
}

/* The source of the rail's value: its counter if that provided the energy, else its power; NULL. */
static const struct assay__series_info *source_of(const struct assay__trial *trial,
                                                  const char *rail, bool counted)
{
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        if (strcmp(s->rail, rail) == 0 && has_values(s) &&
            strcmp(s->quantity, counted ? "energy" : "power") == 0)
            return s;
    }
    return NULL;
}

static void put_rail(struct assay__doc *doc, struct assay__table *t,
                     const struct assay__trial *trial, const char *rail)
{
    const struct assay_metric *average = metric_of(trial, "power.average", rail),
                              *idle = metric_of(trial, "power.idle", rail),
                              *energy = metric_of(trial, "energy.total", rail);
    bool counted = is_known(energy) && energy->state == ASSAY_MEASURED;
    const struct assay__series_info *source = is_known(average) ? source_of(trial, rail, counted)
                                                                : NULL;
    assay__table_row_of(t, 0, rail);
    assay__table_metric(t, idle);
    assay__table_metric(t, average);
    assay__table_metric(t, metric_of(trial, "power.peak", rail));
    assay__table_metric(t, energy);
    struct assay__datum period = assay__datum_metric(metric_of(trial, "sensor.period", rail));
    if (assay__datum_is_known(&period) && source && source->period_is_bound)
        period.text = assay__doc_printf(doc, "≤ %s", assay__scaled(period.number, "s").text);
    assay__table_cell(t, period);
    assay__table_text(
        t, source ? assay__doc_printf(doc, "%s %s", source->probe, counted ? "counter" : "samples")
                  : NULL);
    const char *at_rest = is_known(idle) ? idle->note : "";
    if (is_known(average))
        assay__table_text(t, assay__doc_printf(doc, "%s%s%s", average->note,
                                               *at_rest ? "; idle: " : "", at_rest));
}

/* With its formula or note; or the reason why it is unknown, unless power is unknown altogether:
 * then the answer gives the reason. */
static void add_noted(struct assay__doc *doc, const struct assay__trial *trial, const char *metric,
                      const char *label, const char *words)
{
    const struct assay_metric *m = assay_metrics_get(trial->metrics, metric);
    assay__doc_fact(doc, label);
    if (!m || (!is_known(m) && !assay__trial_metric(trial, "power.average"))) return;
    const char *after = is_known(m)
                            ? assay__doc_printf(doc, "%s%s(%s)", words, *words ? " " : "", m->note)
                            : NULL;
    assay__doc_item_after(doc, NULL, assay__datum_metric(m), after);
}

/* The baseline that net energy is based on. */
static void add_idle(struct assay__doc *doc, const struct assay__trial *trial)
{
    bool energy = assay__trial_metric(trial, "power.average") != NULL;
    assay__doc_fact(doc, "idle");
    for (size_t i = 0; i < trial->span_count; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (strcmp(span->kind, "idle") != 0) continue;
        assay__doc_item_after(doc, "watched for",
                              assay__measured((span->end_ns - span->begin_ns) * 1e-9, "s"),
                              "before the run");
        return;
    }
    assay__doc_item(
        doc, NULL,
        assay__datum_unknown(energy ? "not measured, so net energy is unknown"
                                    : "not measured: nothing here reports power or energy"));
}

/* The value interpolated between two readings; NaN outside of them. */
static double value_at(const struct assay__series_info *series, double time_ns)
{
    size_t after = assay__count_below(series->times_ns, series->count, time_ns);
    if (after == 0 || after == series->count) return NAN;
    const double *t = &series->times_ns[after - 1], *y = &series->values[after - 1];
    return y[0] + (time_ns - t[0]) / (t[1] - t[0]) * (y[1] - y[0]);
}

/* Growth of a counter per second of the measured spans; NaN unknown. */
static double rate_of(const struct assay__trial *trial, const char *name, const char *probe)
{
    const struct assay__series_info *series = NULL;
    double growth = 0, time_ns = 0;
    for (size_t i = 0; i < trial->series_count && !series; i++) {
        const struct assay__series_info *s = &trial->series[i];
        if (s->launch == 0 && has_values(s) && strcmp(s->name, name) == 0 &&
            strcmp(s->probe, probe) == 0)
            series = s;
    }
    for (size_t i = 0; series && i < trial->span_count; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (!is_measured(span)) continue;
        growth += value_at(series, span->end_ns) - value_at(series, span->begin_ns);
        time_ns += span->end_ns - span->begin_ns;
    }
    return series && time_ns > 0 ? growth / time_ns * 1e9 : (double)NAN;
}

static void add_cpus(struct assay__doc *doc, const struct assay__trial *trial)
{
    double busy = rate_of(trial, "time.busy", "procstat"),
           idle = rate_of(trial, "time.idle", "procstat"),
           steal = rate_of(trial, "time.steal", "procstat"),
           wait = rate_of(trial, "time.cpu.some", "pressure");
    /* Time passes on every CPU, busy or idle: if its counters do not change, they are not this
     * machine's. */
    bool moves = fmax(busy, 0) + fmax(idle, 0) > 0;
    assay__doc_fact(doc, "CPUs");
    if (moves && isfinite(busy))
        assay__doc_item_after(doc, NULL, assay__derived(busy, ASSAY__UNIT_HUNDREDTHS), "CPUs busy");
    if (moves && isfinite(steal) && busy + idle + steal > 0)
        assay__doc_item_after(doc, NULL, assay__derived(steal / (busy + idle + steal), "ratio"),
                              "stolen by the host");
    if (isfinite(wait) && (moves || wait > 0))
        assay__doc_item_after(doc, NULL, assay__derived(wait, "ratio"),
                              "of the time some task waited for a CPU");
    if (!moves && isfinite(busy))
        assay__doc_item(doc, NULL, assay__datum_unknown("/proc/stat did not change"));
}

static const char *throttling_shown_by(const char *name)
{
    return strcmp(name, "count.throttled.core") == 0 ? "counts of the CPU cores"
           : strcmp(name, "time.throttled") == 0     ? "the control group's CPU quota"
           : strcmp(name, "clock.mean") == 0         ? "the CPU clock"
           : strstr(name, ".slow.thermal-hard")      ? "the GPU's own reasons"
           : strstr(name, "thermal-pressure")        ? "thermal pressure"
                                                     : NULL;
}

/* Whether it was read from the first measured span to the last, without a gap in them. */
static bool was_watched(const struct assay__trial *trial, const struct assay__series_info *series)
{
    double last_ns = series->times_ns[series->count - 1];
    for (size_t i = 0; i < trial->span_count; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (!is_measured(span)) continue;
        if (last_ns < span->end_ns) return false;
        for (size_t k = 0; k < series->count && series->times_ns[k] <= span->end_ns; k++)
            if (series->times_ns[k] >= span->begin_ns && isnan(series->values[k])) return false;
    }
    return true;
}

/* What would have shown throttling; if it did, that is among the disturbances. */
static void add_throttling(struct assay__doc *doc, const struct assay_profile *profile,
                           const struct assay__trial *trial)
{
    struct assay__buf watched = {0};
    bool quiet = profile->environment.disturbance_count == 0, any = false;
    assay__doc_fact(doc, "throttling");
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        const char *what = has_values(s) ? throttling_shown_by(s->name) : NULL;
        any |= what != NULL;
        if (what && was_watched(trial, s))
            assay__buf_join(&watched, what);
        else if (what)
            assay__doc_item_text(doc, "not monitored throughout: %s (%s)", what,
                                 *s->note ? s->note : "readings are missing");
    }
    const char *all = assay__doc_take(doc, &watched);
    if (*all)
        assay__doc_item_text(doc, quiet ? "none seen in %s" : "monitored: %s; see the disturbances",
                             all);
    if (!any) assay__doc_item(doc, NULL, assay__datum_unknown("cannot be detected here"));
}

static void add_facts(struct assay__doc *doc, const struct assay_profile *profile,
                      const struct assay__trial *trial)
{
    static const struct assay__metric_fact facts[] = {
        {"efficiency", "efficiency.inferences_per_joule", NULL, "(inferences per joule)"},
        {"efficiency", "efficiency.tops_per_watt", NULL, NULL},
        {"efficiency", "score.efficiency", "score", "of 100"},
        {"speed", "throughput.inferences", NULL, NULL},
        {"speed", "latency.p50", "p50", NULL},
        {"speed", "compute.rate", NULL, NULL},
        {"temperature", "hardware.temperature", NULL, NULL},
        {"temperature", "hardware.temperature_peak", "up to", NULL},
        {"clock", "hardware.frequency", NULL, NULL},
    };
    add_noted(doc, trial, "power.average", "power", "");
    assay__doc_fact(doc, "gross energy");
    assay__doc_metric(doc, trial, "energy.inference.gross", NULL, "per inference");
    add_noted(doc, trial, "energy.inference.net", "net energy", "per inference");
    add_idle(doc, trial);
    assay__doc_metrics(doc, trial, false, ASSAY__ARRAY(facts));
    add_cpus(doc, trial);
    add_throttling(doc, profile, trial);
    add_noted(doc, trial, "overhead.sensors", "sampling", "");
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    bool any = study->profile->kind == ASSAY__PROFILE_POWER, read = any;
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        any |= is_sensor(s) || strcmp(s->probe, "procstat") == 0;
        read |= is_sensor(s) && has_values(s);
    }
    if (!any || !trial->metrics || !assay_metrics_count(trial->metrics)) return;
    assay__doc_section(doc, "power", "Power", "in the measured windows",
                       read ? ASSAY__TAB_POWER : ASSAY__TAB_EVIDENCE);
    add_answer(doc, trial);
    const char *rail;
    if (rail_at(trial, 0)) {
        struct assay__table *t = assay__doc_table(doc, NULL, "Power and energy by rail",
                                                  rail_columns);
        for (size_t i = 0; (rail = rail_at(trial, i)) != NULL; i++)
            if (is_known(metric_of(trial, "power.average", rail)) ||
                is_known(metric_of(trial, "energy.total", rail)))
                /* the reason is listed with the unavailable metrics */
                put_rail(doc, t, trial, rail);
    }
    add_facts(doc, study->profile, trial);
    assay__doc_picture(doc, "power", trial, 0);
    /* Rails are in their table. */
    if (study->profile->kind == ASSAY__PROFILE_RUN)
        assay__doc_fold(doc, NULL, "Sensors without a reading", "and why");
    else
        assay__doc_section(doc, NULL, "Sensors without a reading", "and why", 0);
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        bool in_table = strcmp(s->quantity, "power") == 0 || strcmp(s->quantity, "energy") == 0;
        if (!is_sensor(s) || s->state != ASSAY_UNAVAILABLE || in_table) continue;
        if (strcmp(s->name, s->probe) == 0)
            assay__doc_point(doc, "%s, all channels: %s", s->name, s->note);
        else
            assay__doc_point(doc, "%s (%s): %s", s->name, s->probe, s->note);
    }
    assay__doc_end(doc);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_power = {"power", ASSAY__OF_TRIAL, build, {{0}}};
