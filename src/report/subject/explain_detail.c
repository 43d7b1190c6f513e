/* explain_detail.c - the tables behind the first screen of a timeline: scenarios, devices and
 * streams, gaps, what the host did, copies, synchronisations, operators, steps, ranks, the critical
 * path. The terminal shows them on request. */
#include "report/report_explain.h"

#include "explain/gpu_metrics.h"
#include "explain/timeline.h"
#include "report/figure/figures.h"

#include <math.h>

#define FUNCTIONS_SHOWN 10
#define FUNCTIONS_AT 6 /* in the list of details */

static double seconds(int64_t ns)
{
    return (double)ns * 1e-9;
}

static double milli(int64_t ns)
{
    return (double)ns / 1e6; /* the nearest number: shorter in decimals than times 1e-6 */
}

static double of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static const char *text(const struct assay__explain *x, uint32_t name)
{
    return name == ASSAY__EVENT_UNKNOWN ? NULL : assay__events_text(x->events, name);
}

/* --- verdicts --------------------------------------------------------------------------------- */

static const struct assay__column scenario_columns[] = {
    {.key = "id"},
    {.title = "scenario", .flags = ASSAY__COLUMN_NAME},
    {"verdict", .title = "verdict"},
    {"evidence", "evidence", .flags = ASSAY__COLUMN_PROSE},
};

static void add_scenarios(struct assay__doc *doc, const struct assay__explain *x)
{
    static const char *const words[] = {"false", "true", "not decidable"};
    assay__doc_section(doc, "scenarios", "Scenarios", "of the profiling guide", 0);
    struct assay__table *t = assay__doc_table(doc, "scenarios", "Scenarios", scenario_columns);
    for (size_t i = 0; i < ASSAY__SCENARIOS; i++)
        assay__table_row_of(t, 0, x->scenarios[i].id, x->scenarios[i].title,
                            words[x->scenarios[i].verdict], x->scenarios[i].evidence);
    assay__doc_end(doc);
}

/* --- devices ---------------------------------------------------------------------------------- */

static const struct assay__column device_columns[] = {
    {"rank", "rank", .unit = ASSAY__UNIT_COUNT},
    {"device", "device", .unit = ASSAY__UNIT_COUNT},
    {.key = "name"},
    {"metric", "metric", .flags = ASSAY__COLUMN_NAME},
    {"value", "value", .unit = ""},
    {.key = "unit"},
    {.key = "state"},
    {"note", "formula", .priority = 1},
};

static void add_devices(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "devices", "Devices", NULL, 0);
    struct assay__table *t = assay__doc_table(doc, "devices", "Metrics", device_columns);
    for (size_t i = 0; i < x->device_count; i++) {
        struct assay_metrics *set = assay__gpu_metrics(x, i);
        if (!set) doc->failed = true;
        for (size_t k = 0; set && k < assay_metrics_count(set); k++) {
            const struct assay_metric *m = assay_metrics_at(set, k);
            const char *note = assay__doc_printf(doc, "%s", m->note);
            struct assay__datum value = assay__datum_metric(m);
            value.note = note;
            value.source = "trace";
            value.name = value.unit = NULL;
            value.unit = assay_metric_lookup(m->name)->unit;
            assay__table_row(t, 0, NULL);
            assay__table_numbers(t, ASSAY_MEASURED, x->devices[i].rank, x->devices[i].device);
            assay__table_texts(t, x->devices[i].name, assay_metric_lookup(m->name)->name);
            assay__table_cell(t, value);
            assay__table_texts(t, value.unit, assay_state_name(m->state), note);
        }
        assay_metrics_free(set);
    }
    assay__doc_end(doc);
}

static const struct assay__column stream_columns[] = {
    {.key = "rank", .unit = ASSAY__UNIT_COUNT},
    {"device", "device", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {"stream", "stream", .unit = ASSAY__UNIT_COUNT},
    {"kernels", "kernels", .unit = ASSAY__UNIT_COUNT},
    {"copies", "copies", .unit = ASSAY__UNIT_COUNT, .priority = 2},
    {.key = "memsets", .unit = ASSAY__UNIT_COUNT},
    {"busy_ms", "busy", .unit = "s", .factor = 1e-3},
    {"span_ms", "span", .unit = "s", .factor = 1e-3, .priority = 2},
    {"host_wait_us", "host wait", .unit = "s", .factor = 1e-6},
    {"kernel_wait_us", "kernel wait", .unit = "s", .factor = 1e-6},
    {"other_us", "other", .unit = "s", .factor = 1e-6},
    {"queue_max", "longest queue", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {"queue_mean", "mean queue", .unit = ASSAY__UNIT_PLAIN, .priority = 1},
};

static void add_streams(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "streams", "Streams", "with HTA's three classes of idle time", 0);
    struct assay__table *t = assay__doc_table(doc, "streams", "Streams", stream_columns);
    t->more = "streams";
    for (size_t i = 0; i < x->device_count; i++)
        for (size_t k = 0; k < x->devices[i].stream_count; k++) {
            const struct assay__explain_stream *s = &x->devices[i].streams[k];
            assay__table_row(t, 0, NULL);
            assay__table_numbers(t, ASSAY_MEASURED, x->devices[i].rank, x->devices[i].device,
                                 (double)x->events->tracks[s->track].stream, (double)s->kernels,
                                 (double)s->copies, (double)s->memsets);
            assay__table_numbers(t, ASSAY_DERIVED, milli(s->busy_ns), milli(s->span_ns),
                                 (double)s->hta_idle_ns[0] / 1e3, (double)s->hta_idle_ns[1] / 1e3,
                                 (double)s->hta_idle_ns[2] / 1e3, (double)s->queue_max);
            assay__table_known(t, s->queue_mean, ASSAY_DERIVED);
        }
    assay__doc_note(doc,
                    "HTA looks at each stream by itself: a gap is a host wait if its launching "
                    "call began after the work before it had ended, else a kernel wait below 30 "
                    "(its manual says ns, its code compares µs), else other. A device is idle only "
                    "if all of its streams are, so that "
                    "these times can be larger than the device's idle time.");
    assay__doc_end(doc);
}

static const struct assay__column gap_columns[] = {
    {.key = "rank", .unit = ASSAY__UNIT_COUNT},
    {.key = "device", .unit = ASSAY__UNIT_COUNT},
    {"below_us", "gaps below", .unit = "s", .factor = 1e-6},
    {"count", "count", .unit = ASSAY__UNIT_COUNT},
    {"ms", "time", .unit = "s", .factor = 1e-3},
    {"share", "share of the span", .unit = "ratio"},
};

static void add_gaps(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "gaps", "Gaps by length", NULL, 0);
    struct assay__table *t = assay__doc_table(doc, "gaps", "Gaps", gap_columns);
    for (size_t i = 0; i < x->device_count; i++)
        for (size_t k = 0; k < ASSAY__GAP_BINS; k++) {
            const struct assay__explain_device *d = &x->devices[i];
            bool last = k == ASSAY__GAP_BINS - 1;
            if (!d->gap_bin_count[k]) continue;
            assay__table_row(t, 0, NULL);
            assay__table_numbers(t, ASSAY_MEASURED, d->rank, d->device);
            assay__table_known(t, last ? NAN : (double)assay__gap_bin_ns[k] / 1e3, ASSAY_MEASURED);
            assay__table_number(t, (double)d->gap_bin_count[k], ASSAY_MEASURED);
            assay__table_numbers(t, ASSAY_DERIVED, milli(d->gap_bin_ns[k]),
                                 of(d->gap_bin_ns[k], d->span_ns));
        }
    assay__doc_end(doc);
}

/* --- the host --------------------------------------------------------------------------------- */

static const struct assay__column host_columns[] = {
    {"cause", "the host was", .flags = ASSAY__COLUMN_NAME},
    {"name", "in", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"ms", "device time", .unit = "s", .factor = 1e-3},
    {"share", "share", .unit = "ratio"},
};

static void add_host(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "host", "What the host did while the device was idle",
                       "launching not counted", 0);
    struct assay__table *t = assay__doc_table(doc, "host", "Host", host_columns);
    t->more = "names";
    for (size_t i = 0; i < x->host_time_count; i++) {
        const struct assay__host_time *h = &x->host_times[i];
        assay__table_row_of(t, 0, assay__host_causes[h->cause].name, text(x, h->name));
        assay__table_numbers(t, ASSAY_DERIVED, milli(h->ns), of(h->ns, x->span_ns));
    }
    assay__doc_end(doc);
}

static const struct assay__column transfer_columns[] = {
    {"direction", "direction", .flags = ASSAY__COLUMN_NAME},
    {"memory", .title = "host memory"},
    {"count", "count", .unit = ASSAY__UNIT_COUNT},
    {"bytes", "bytes", .unit = "B"},
    {"small", "below 64 KiB", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {"blocking", "host waits", .unit = ASSAY__UNIT_COUNT},
    {"ms", "time", .unit = "s", .factor = 1e-3},
    {"hidden_share", "hidden by kernels", .unit = "ratio", .priority = 1},
    {"bandwidth", "bandwidth", .unit = "B/s"},
    {"call_ms", "in calls", .unit = "s", .factor = 1e-3, .priority = 2},
};

static void add_transfers(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "transfers", "Transfers", NULL, 0);
    struct assay__table *t = assay__doc_table(doc, "transfers", "Copies", transfer_columns);
    for (size_t i = 0; i < x->transfer_count; i++) {
        const struct assay__transfer_class *c = &x->transfers[i];
        assay__table_row_of(t, 0, assay__copy_directions[c->direction],
                            assay__memory_kinds[c->memory]);
        assay__table_number(t, (double)c->count, ASSAY_MEASURED);
        assay__table_cell(t, c->sized ? assay__measured((double)c->bytes, NULL)
                                      : assay__datum_unknown("the trace contains no sizes"));
        assay__table_numbers(t, ASSAY_MEASURED, (double)c->small, (double)c->blocking);
        assay__table_numbers(t, ASSAY_DERIVED, milli(c->ns), of(c->hidden_ns, c->ns));
        assay__table_known(t, c->sized && c->ns > 0 ? (double)c->bytes / seconds(c->ns) : NAN,
                           ASSAY_DERIVED);
        assay__table_number(t, milli(c->call_ns), ASSAY_DERIVED);
    }
    assay__doc_end(doc);
}

static const struct assay__column sync_columns[] = {
    {"name", "call", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"operator", "in", .priority = 1, .flags = ASSAY__COLUMN_CODE},
    {"count", "count", .unit = ASSAY__UNIT_COUNT},
    {"wait_ms", "host waited", .unit = "s", .factor = 1e-3},
    {"drained", "device empty after", .unit = ASSAY__UNIT_COUNT},
    {"idle_ms", "device idle", .unit = "s", .factor = 1e-3},
};

static void add_syncs(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "synchronisations", "Synchronisations", "and what each kind cost", 0);
    struct assay__table *t = assay__doc_table(doc, "synchronisations", "Calls", sync_columns);
    t->more = "kinds of calls";
    for (size_t i = 0; i < x->sync_count; i++) {
        const struct assay__sync_class *c = &x->syncs[i];
        assay__table_row_of(t, 0, text(x, c->name), text(x, c->op));
        assay__table_number(t, (double)c->count, ASSAY_MEASURED);
        assay__table_number(t, milli(c->wait_ns), ASSAY_DERIVED);
        assay__table_number(t, (double)c->drained, ASSAY_MEASURED);
        assay__table_number(t, milli(c->idle_ns), ASSAY_DERIVED);
    }
    assay__doc_end(doc);
}

static const struct assay__column operator_columns[] = {
    {"name", "operator", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"calls", "calls", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {"kernels", "kernels", .unit = ASSAY__UNIT_COUNT},
    {"device_us", "device time", .unit = "s", .factor = 1e-6},
    {"share", "share", .unit = "ratio"},
};

static void add_operators(struct assay__doc *doc, const struct assay__explain *x)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < x->device_count; i++)
        sum_ns += x->devices[i].kernel_sum_ns;
    assay__doc_section(doc, "operators", "Operators", "by the kernels they launched", 0);
    struct assay__table *t = assay__doc_table(doc, "operators", "Operators", operator_columns);
    t->more = "operators";
    for (size_t i = 0; i < x->operator_count; i++) {
        const struct assay__operator_time *o = &x->operators[i];
        assay__table_row_of(t, 0, text(x, o->name));
        assay__table_numbers(t, ASSAY_MEASURED, (double)o->calls, (double)o->kernels);
        assay__table_numbers(t, ASSAY_DERIVED, (double)o->device_ns * 1e-3,
                             of(o->device_ns, sum_ns));
    }
    assay__doc_end(doc);
}

static const struct assay__column function_columns[] = {
    {"name", "on the host", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"type", "type", .priority = 1},
    {"kind", "kind", .priority = 2},
    {"count", "count", .unit = ASSAY__UNIT_COUNT},
    {"self_ms", "itself", .unit = "s", .factor = 1e-3},
    {"total_ms", "with nested calls", .unit = "s", .factor = 1e-3, .priority = 1},
    {"share", "share", .unit = "ratio"},
};

static void add_functions(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "functions", "The host's time", "all threads together", 0);
    struct assay__table *t = assay__doc_table(doc, "functions", "Functions of the host",
                                              function_columns);
    t->more = "names";
    t->limit = FUNCTIONS_SHOWN;
    for (size_t i = 0; i < x->function_count; i++) {
        const struct assay__host_function *f = &x->functions[i];
        assay__table_row_of(t, 0, text(x, f->name), f->type,
                            assay__event_kind_name((enum assay__event_kind)f->kind));
        assay__table_number(t, (double)f->count, ASSAY_MEASURED);
        bool known = assay__explain_has_time(f);
        bool sample = f->kind == ASSAY__EVENT_SAMPLE;
        assay__table_known(t, known ? milli(f->self_ns) : NAN, ASSAY_DERIVED);
        assay__table_known(t, known ? milli(f->total_ns) : NAN, ASSAY_DERIVED);
        assay__table_known(t, of(f->self_ns, sample ? x->sampled_ns : x->host_ns), ASSAY_DERIVED);
    }
    const struct assay__figure *flame = x->flame ? assay__flame_figure(x->flame, doc->arena) : NULL;
    if (flame) assay__doc_figure(doc, flame, ASSAY__PICTURE_WIDE | ASSAY__PICTURE_DETAIL);
    assay__doc_end(doc);
}

/* --- steps and ranks -------------------------------------------------------------------------- */

static const struct assay__column step_columns[] = {
    {"name", "step", .flags = ASSAY__COLUMN_NAME},
    {"start_ms", "starts at", .unit = "s", .factor = 1e-3, .priority = 1},
    {"ms", "time", .unit = "s", .factor = 1e-3},
    {"kernels", "kernels", .unit = ASSAY__UNIT_COUNT},
    {"busy_ms", "device busy", .unit = "s", .factor = 1e-3},
    {"idle_ms", "device idle", .unit = "s", .factor = 1e-3},
};

static void add_steps(struct assay__doc *doc, const struct assay__explain *x)
{
    const struct assay__steps *s = &x->steps;
    assay__doc_section(doc, "steps", "Steps", s->count ? s->by : NULL, 0);
    if (s->count)
        assay__doc_plain(doc, "%zu steps, median %s, longest %s (%s)%s%s.", s->count,
                         assay__scaled(seconds(s->time.median_ns), "s").text,
                         assay__scaled(seconds(s->time.max_ns), "s").text,
                         s->items[s->slowest].name, *s->why ? ": " : "", s->why);
    struct assay__table *t = assay__doc_table(doc, "steps", "Steps", step_columns);
    t->more = "steps";
    for (size_t i = 0; i < s->count; i++) {
        const struct assay__step *step = &s->items[i];
        assay__table_row_of(t, i == s->slowest && *s->why ? ASSAY__ROW_BEST : 0, step->name);
        assay__table_numbers(t, ASSAY_DERIVED, milli(step->start_ns - x->timeline->first_ns),
                             milli(step->end_ns - step->start_ns));
        assay__table_number(t, (double)step->kernels, ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_DERIVED, milli(step->busy_ns), milli(step->idle_ns));
    }
    assay__doc_end(doc);
}

static const struct assay__column rank_columns[] = {
    {"rank", "rank", .unit = ASSAY__UNIT_COUNT},
    {"span_ms", "span", .unit = "s", .factor = 1e-3},
    {"compute_ms", "computing", .unit = "s", .factor = 1e-3},
    {"communication_ms", "communicating", .unit = "s", .factor = 1e-3},
    {"overlap_ms", "both", .unit = "s", .factor = 1e-3, .priority = 1},
    {"overlap", "overlap", .unit = "ratio"},
    {"collectives", "collectives", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {"arrival_ms", "later than the first", .unit = "s", .factor = 1e-3},
};

static void add_ranks(struct assay__doc *doc, const struct assay__explain *x)
{
    const struct assay__ranks *r = &x->ranks;
    assay__doc_section(doc, "ranks", "Communication and ranks", NULL, 0);
    assay__doc_say(doc, ASSAY__TONE_PLAIN, r->why);
    struct assay__table *t = assay__doc_table(doc, "ranks", "Ranks", rank_columns);
    for (size_t i = 0; i < r->count; i++) {
        const struct assay__rank_time *k = &r->items[i];
        assay__table_row(t, i == r->straggler ? ASSAY__ROW_BEST : 0, NULL);
        assay__table_number(t, k->rank, ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_DERIVED, milli(k->span_ns), milli(k->compute_ns),
                             milli(k->communication_ns), milli(k->overlap_ns),
                             of(k->overlap_ns, k->communication_ns));
        assay__table_number(t, (double)k->collectives, ASSAY_MEASURED);
        assay__table_number(t, milli(k->arrival_ns), ASSAY_DERIVED);
    }
    assay__doc_end(doc);
}

/* --- what if ---------------------------------------------------------------------------------- */

static const struct assay__column what_if_columns[] = {
    {.key = "id"},
    {.title = "without", .flags = ASSAY__COLUMN_NAME},
    {"ms", "time", .unit = "s", .factor = 1e-3},
    {"gain", "gain", .unit = "ratio"},
};

static void add_what_if(struct assay__doc *doc, const struct assay__explain *x)
{
    const struct assay__what_ifs *f = &x->what_if;
    assay__doc_section(doc, "what-if", "What if",
                       f->count ? assay__doc_printf(doc, "the replay of the trace itself is %s off",
                                                    assay__scaled(fabs(f->error), "ratio").text)
                                : NULL,
                       0);
    struct assay__table *t = assay__doc_table(doc, "what-if", "Without", what_if_columns);
    for (size_t i = 0; i < f->count; i++) {
        assay__table_row_of(t, 0, assay__losses[f->items[i].loss].name,
                            assay__losses[f->items[i].loss].meaning);
        assay__table_numbers(t, ASSAY_ESTIMATED, milli(f->items[i].span_ns), f->items[i].gain);
    }
    assay__doc_end(doc);
}

static const struct assay__column path_columns[] = {
    {"where", "where", .flags = ASSAY__COLUMN_NAME},
    {"name", "what", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"ms", "time", .unit = "s", .factor = 1e-3},
    {"share", "share", .unit = "ratio"},
};

static void add_path_row(struct assay__table *t, const struct assay__explain *x, const char *where,
                         const char *name, int64_t ns)
{
    if (ns <= 0) return;
    assay__table_row_of(t, 0, where, name);
    assay__table_numbers(t, ASSAY_DERIVED, milli(ns), of(ns, x->path.total_ns));
}

static void add_path(struct assay__doc *doc, const struct assay__explain *x)
{
    const struct assay__critical_path *p = &x->path;
    assay__doc_section(doc, "critical-path", "Critical path",
                       "from the last work backwards, through what each had to wait for", 0);
    struct assay__table *t = assay__doc_table(doc, "critical-path", "Path", path_columns);
    add_path_row(t, x, "device", "kernels", p->device_ns);
    add_path_row(t, x, "device", "copies", p->copy_ns);
    add_path_row(t, x, "device", "pauses", p->gap_ns);
    for (int i = 0; i < ASSAY__HOST_CAUSES; i++)
        add_path_row(t, x, "host", assay__host_causes[i].name, p->host_ns[i]);
    assay__doc_end(doc);
}

/* --- counters --------------------------------------------------------------------------------- */

static const struct assay__column counter_columns[] = {
    {"name", "counter", .flags = ASSAY__COLUMN_NAME},
    {.key = "unit"},
    {"samples", "samples", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {"mean", "mean", .unit = ""},
    {"min", "min", .unit = ""},
    {"max", "max", .unit = ""},
};

static void add_counters(struct assay__doc *doc, const struct assay__explain *x)
{
    assay__doc_section(doc, "counters", "Counters", "numbers over time; means are of samples", 0);
    struct assay__table *t = assay__doc_table(doc, "counters", "Counters", counter_columns);
    t->more = "counters";
    for (size_t i = 0; i < x->counter_count; i++) {
        const struct assay__counter_range *c = &x->counters[i];
        const char *unit = c->counter->unit;
        assay__table_row_of(t, 0, c->counter->name, unit);
        assay__table_number(t, (double)c->samples, ASSAY_MEASURED);
        assay__table_cell(t, assay__derived(c->mean, unit));
        assay__table_cell(t, assay__measured(c->least, unit));
        assay__table_cell(t, assay__measured(c->most, unit));
    }
    assay__doc_end(doc);
}

void assay__add_explain_detail(struct assay__doc *doc, const struct assay__explain *x)
{
    void (*details[])(struct assay__doc *, const struct assay__explain *) = {
        add_steps, add_scenarios, add_transfers, add_syncs,
        add_host,  add_operators, add_functions, add_gaps};
    static void (*const evidence[])(struct assay__doc *, const struct assay__explain *) = {
        add_what_if, add_path, add_devices, add_streams, add_counters};
    if (!x->device_count) { /* then this is all there is */
        details[0] = details[FUNCTIONS_AT] = NULL;
        add_functions(doc, x);
        add_steps(doc, x);
        add_counters(doc, x);
    }
    if (x->ranks.count) add_ranks(doc, x);
    assay__doc_section(doc, "details", "Details",
                       "steps, scenarios, transfers, synchronisations, host, operators, gaps",
                       ASSAY__SECTION_DETAIL);
    if (!x->ranks.count) add_ranks(doc, x);
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++)
        if (details[i]) details[i](doc, x);
    assay__doc_end(doc);
    assay__doc_section(doc, "evidence", "Evidence", "what if, critical path, every metric, streams",
                       ASSAY__SECTION_DETAIL | ASSAY__TAB_EVIDENCE);
    for (size_t i = 0; i < sizeof evidence / sizeof evidence[0]; i++)
        if (x->device_count || evidence[i] != add_counters) evidence[i](doc, x);
    assay__doc_end(doc);
}
