/* explain_json.c - what a timeline says as one JSON object (doc/explain.md lists its members).
 * Unknown numbers are null. */
#include "report/report_explain.h"

#include "explain/gpu_metrics.h"
#include "explain/timeline.h"
#include "report/json/json_members.h"
#include "report/json/json_parts.h"

#include <math.h>

static double ms(int64_t ns)
{
    return (double)ns / 1e6; /* the nearest number: shorter in decimals than times 1e-6 */
}

static double us(int64_t ns)
{
    return (double)ns / 1e3;
}

static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static const char *text(const struct assay__explain *x, uint32_t name)
{
    return name == ASSAY__EVENT_UNKNOWN ? NULL : assay__events_text(x->events, name);
}

static void put_trace(struct assay__json_writer *w, const struct assay__explain *x)
{
    const struct assay__events *events = x->events;
    const struct assay__trace_source *first = events->source_count ? events->sources : NULL;
    int64_t span_ns = x->timeline->last_ns - x->timeline->first_ns;
    assay__json_put_object(w, "trace");
    assay__json_members(w, json_text("format", first ? first->format : NULL),
                        json_integer("events", (int64_t)events->count),
                        json_number("span_ms", ms(span_ns)),
                        json_text("producer", first ? first->producer : NULL));
    for (ASSAY__JSON_EACH(i, w, "sources", events->source_count)) {
        const struct assay__trace_source *s = &events->sources[i];
        assay__json_record(
            w, NULL, json_text("path", s->path), json_text("title", s->title),
            json_text("format", s->format), json_text("producer", s->producer),
            json_count("rank", s->rank, 0), json_count("world_size", s->world_size, 1),
            json_text("clock", s->clock), json_integer("offset_ns", s->offset_ns),
            json_integer("events", (int64_t)s->events),
            json_integer("skipped", (int64_t)s->skipped), json_text("complaint", s->complaint),
            json_bool("truncated", s->truncated));
    }
    assay__json_object_end(w);
}

/* --- devices ---------------------------------------------------------------------------------- */

static void put_idle(struct assay__json_writer *w, const struct assay__explain_device *d)
{
    assay__json_put_array(w, "idle");
    for (int c = 0; c < ASSAY__DEVICE_CAUSES; c++)
        for (int h = 0; h < ASSAY__HOST_CAUSES; h++)
            if (d->idle[c][h] > 0)
                assay__json_record(w, NULL,
                                   json_string("device_cause", assay__device_causes[c].name),
                                   json_string("host_cause", assay__host_causes[h].name),
                                   json_number("ms", ms(d->idle[c][h])),
                                   json_number("share", ratio(d->idle[c][h], d->span_ns)),
                                   json_integer("ns", d->idle[c][h]));
    assay__json_array_end(w);
}

static void put_gaps(struct assay__json_writer *w, const struct assay__explain_device *d)
{
    for (ASSAY__JSON_EACH(i, w, "gaps", ASSAY__GAP_BINS)) {
        bool last = i == ASSAY__GAP_BINS - 1;
        assay__json_record(w, NULL, json_number("below_us", last ? NAN : us(assay__gap_bin_ns[i])),
                           json_integer("count", (int64_t)d->gap_bin_count[i]),
                           json_number("ms", ms(d->gap_bin_ns[i])));
    }
}

static void put_streams(struct assay__json_writer *w, const struct assay__explain *x,
                        const struct assay__explain_device *d)
{
    for (ASSAY__JSON_EACH(i, w, "streams", d->stream_count)) {
        const struct assay__explain_stream *s = &d->streams[i];
        assay__json_object(w);
        assay__json_members(w, json_integer("stream", x->events->tracks[s->track].stream),
                            json_text("name", x->events->tracks[s->track].name),
                            json_integer("kernels", (int64_t)s->kernels),
                            json_integer("copies", (int64_t)s->copies),
                            json_integer("memsets", (int64_t)s->memsets),
                            json_number("busy_ms", ms(s->busy_ns)),
                            json_number("span_ms", ms(s->span_ns)));
        assay__json_put_object(w, "queue");
        assay__json_members(w, json_integer("max", (int64_t)s->queue_max),
                            json_number("mean", s->queue_mean),
                            json_number("empty_ms", ms(s->queue_empty_ns)));
        assay__json_object_end(w);
        for (ASSAY__JSON_EACH(k, w, "hta_idle", ASSAY__HTA_IDLES))
            assay__json_record(w, NULL, json_string("class", assay__hta_idle_names[k]),
                               json_integer("gaps", (int64_t)s->hta_gaps[k]),
                               json_number("us", us(s->hta_idle_ns[k])));
        assay__json_put_number(w, "hta_kernel_wait_30ns_us", us(s->hta_kernel_wait_30ns_ns));
        assay__json_object_end(w);
    }
}

static void put_devices(struct assay__json_writer *w, const struct assay__explain *x)
{
    for (ASSAY__JSON_EACH(i, w, "devices", x->device_count)) {
        const struct assay__explain_device *d = &x->devices[i];
        struct assay_metrics *metrics = assay__gpu_metrics(x, i);
        assay__json_object(w);
        assay__json_members(w, json_string("name", d->name), json_integer("rank", d->rank),
                            json_integer("device", d->device), json_integer("span_ns", d->span_ns),
                            json_integer("busy_ns", d->busy_ns),
                            json_integer("idle_ns", d->idle_ns),
                            json_number("host_before_ms", d->host ? ms(d->before_ns) : NAN),
                            json_number("host_after_ms", d->host ? ms(d->after_ns) : NAN));
        if (metrics) assay__json_metrics(w, metrics);
        if (!metrics) w->out->failed = true;
        assay_metrics_free(metrics);
        put_idle(w, d);
        put_gaps(w, d);
        put_streams(w, x, d);
        assay__json_object_end(w);
    }
}

/* --- what happened ---------------------------------------------------------------------------- */

static void put_losses(struct assay__json_writer *w, const struct assay__explain *x)
{
    for (ASSAY__JSON_EACH(i, w, "losses", ASSAY__LOSSES))
        assay__json_record(w, NULL, json_string("id", assay__losses[i].name),
                           json_number("ms", ms(x->loss_ns[i])),
                           json_number("share", ratio(x->loss_ns[i], x->span_ns)));
    for (ASSAY__JSON_EACH(i, w, "host", x->host_time_count))
        assay__json_record(w, NULL,
                           json_string("cause", assay__host_causes[x->host_times[i].cause].name),
                           json_string("name", text(x, x->host_times[i].name)),
                           json_number("ms", ms(x->host_times[i].ns)),
                           json_number("share", ratio(x->host_times[i].ns, x->span_ns)));
}

static void put_functions(struct assay__json_writer *w, const struct assay__explain *x)
{
    for (ASSAY__JSON_EACH(i, w, "functions", x->function_count)) {
        const struct assay__host_function *f = &x->functions[i];
        bool known = assay__explain_has_time(f);
        assay__json_record(
            w, NULL, json_string("name", text(x, f->name)), json_string("type", f->type),
            json_string("kind", assay__event_kind_name((enum assay__event_kind)f->kind)),
            json_integer("count", (int64_t)f->count),
            json_number("self_ms", known ? ms(f->self_ns) : NAN),
            json_number("total_ms", known ? ms(f->total_ns) : NAN));
    }
}

static void put_transfers(struct assay__json_writer *w, const struct assay__explain *x)
{
    for (ASSAY__JSON_EACH(i, w, "transfers", x->transfer_count)) {
        const struct assay__transfer_class *c = &x->transfers[i];
        assay__json_record(
            w, NULL, json_string("direction", assay__copy_directions[c->direction]),
            json_string("memory", assay__memory_kinds[c->memory]),
            json_integer("count", (int64_t)c->count),
            json_count("bytes", c->sized ? c->bytes : -1, 0),
            json_integer("small", (int64_t)c->small),
            json_integer("blocking", (int64_t)c->blocking), json_number("ms", ms(c->ns)),
            json_number("hidden_ms", ms(c->hidden_ns)), json_number("call_ms", ms(c->call_ns)),
            json_number("bandwidth",
                        c->sized && c->ns > 0 ? (double)c->bytes / ((double)c->ns * 1e-9) : NAN));
    }
    for (ASSAY__JSON_EACH(i, w, "synchronisations", x->sync_count)) {
        const struct assay__sync_class *c = &x->syncs[i];
        assay__json_record(
            w, NULL, json_string("name", text(x, c->name)), json_string("operator", text(x, c->op)),
            json_integer("count", (int64_t)c->count), json_number("wait_ms", ms(c->wait_ns)),
            json_integer("drained", (int64_t)c->drained), json_number("idle_ms", ms(c->idle_ns)));
    }
}

static int64_t kernel_sum_ns(const struct assay__explain *x)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < x->device_count; i++)
        sum_ns += x->devices[i].kernel_sum_ns;
    return sum_ns;
}

static void put_traits(struct assay__json_writer *w, unsigned traits)
{
    assay__json_put_array(w, "traits");
    for (unsigned i = 0; i < ASSAY__KERNEL_TRAITS; i++)
        if (traits >> i & 1) assay__json_string(w, assay__kernel_traits[i]);
    assay__json_array_end(w);
}

static void put_tops(struct assay__json_writer *w, const struct assay__explain *x)
{
    int64_t sum_ns = kernel_sum_ns(x);
    for (ASSAY__JSON_EACH(i, w, "top", x->kernel_count)) {
        const struct assay__kernel_time *k = &x->kernels[i];
        assay__json_object(w);
        assay__json_members(
            w, json_string("name", text(x, k->name)), json_integer("count", (int64_t)k->count),
            json_number("total_us", us(k->ns)), json_number("share", ratio(k->ns, sum_ns)),
            json_number("min_us", us(k->min_ns)), json_number("max_us", us(k->max_ns)),
            json_string("class", assay__kernel_kinds[k->kind]),
            json_string("operator", text(x, k->op)), json_number("flops", k->flops));
        put_traits(w, k->traits);
        assay__json_object_end(w);
    }
    for (ASSAY__JSON_EACH(i, w, "operators", x->operator_count)) {
        const struct assay__operator_time *o = &x->operators[i];
        assay__json_record(w, NULL, json_string("name", text(x, o->name)),
                           json_integer("calls", (int64_t)o->calls),
                           json_integer("kernels", (int64_t)o->kernels),
                           json_number("device_us", us(o->device_ns)),
                           json_number("share", ratio(o->device_ns, sum_ns)));
    }
}

/* --- steps, ranks, what if -------------------------------------------------------------------- */

static void put_steps(struct assay__json_writer *w, const struct assay__explain *x)
{
    const struct assay__steps *s = &x->steps;
    assay__json_put_object(w, "steps");
    assay__json_members(w, json_text("by", s->by), json_integer("count", (int64_t)s->count),
                        json_number("median_ms", s->count ? ms(s->time.median_ns) : NAN),
                        json_number("max_ms", s->count ? ms(s->time.max_ns) : NAN),
                        json_string("slowest", s->count ? s->items[s->slowest].name : NULL),
                        json_text("why", s->why));
    for (ASSAY__JSON_EACH(i, w, "items", s->count)) {
        const struct assay__step *step = &s->items[i];
        assay__json_record(w, NULL, json_string("name", step->name),
                           json_number("start_ms", ms(step->start_ns - x->timeline->first_ns)),
                           json_number("ms", ms(step->end_ns - step->start_ns)),
                           json_integer("kernels", (int64_t)step->kernels),
                           json_number("busy_ms", ms(step->busy_ns)),
                           json_number("idle_ms", ms(step->idle_ns)));
    }
    assay__json_object_end(w);
}

static void put_ranks(struct assay__json_writer *w, const struct assay__explain *x)
{
    const struct assay__ranks *r = &x->ranks;
    assay__json_put_object(w, "ranks");
    assay__json_members(
        w, json_count("straggler", r->straggler < r->count ? r->items[r->straggler].rank : -1, 0),
        json_text("why", r->why));
    for (ASSAY__JSON_EACH(i, w, "items", r->count)) {
        const struct assay__rank_time *t = &r->items[i];
        assay__json_record(w, NULL, json_integer("rank", t->rank),
                           json_number("span_ms", ms(t->span_ns)),
                           json_number("compute_ms", ms(t->compute_ns)),
                           json_number("communication_ms", ms(t->communication_ns)),
                           json_number("overlap_ms", ms(t->overlap_ns)),
                           json_number("overlap", ratio(t->overlap_ns, t->communication_ns)),
                           json_integer("collectives", (int64_t)t->collectives),
                           json_number("arrival_ms", ms(t->arrival_ns)));
    }
    assay__json_object_end(w);
}

static void put_what_if(struct assay__json_writer *w, const struct assay__explain *x)
{
    const struct assay__what_ifs *f = &x->what_if;
    assay__json_put_object(w, "what_if");
    assay__json_members(w, json_number("replay_ms", f->count ? ms(f->span_ns) : NAN),
                        json_number("replay_error", f->count ? f->error : NAN));
    for (ASSAY__JSON_EACH(i, w, "without", f->count))
        assay__json_record(w, NULL, json_string("id", assay__losses[f->items[i].loss].name),
                           json_number("ms", ms(f->items[i].span_ns)),
                           json_number("gain", f->items[i].gain));
    assay__json_object_end(w);
    assay__json_put_object(w, "critical_path");
    assay__json_members(
        w, json_number("ms", ms(x->path.total_ns)), json_number("device_ms", ms(x->path.device_ns)),
        json_number("copy_ms", ms(x->path.copy_ns)), json_number("gap_ms", ms(x->path.gap_ns)));
    assay__json_put_array(w, "host");
    for (int i = 0; i < ASSAY__HOST_CAUSES; i++)
        if (x->path.host_ns[i] > 0)
            assay__json_record(w, NULL, json_string("cause", assay__host_causes[i].name),
                               json_number("ms", ms(x->path.host_ns[i])));
    assay__json_array_end(w);
    assay__json_object_end(w);
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void put_verdicts(struct assay__json_writer *w, const struct assay__explain *x)
{
    for (ASSAY__JSON_EACH(i, w, "scenarios", ASSAY__SCENARIOS)) {
        const struct assay__scenario *s = &x->scenarios[i];
        assay__json_object(w);
        assay__json_put_string(w, "id", s->id);
        if (s->verdict == ASSAY__VERDICT_OPEN)
            assay__json_put_null(w, "verdict");
        else
            assay__json_put_bool(w, "verdict", s->verdict == ASSAY__VERDICT_YES);
        assay__json_put_string(w, "evidence", s->evidence);
        assay__json_object_end(w);
    }
    assay__json_record(w, "diagnosis", json_string("id", assay__diagnoses[x->diagnosis.id].name),
                       json_string("verdict", x->diagnosis.verdict),
                       json_string("evidence", x->diagnosis.evidence),
                       json_text("advice", x->diagnosis.advice),
                       json_number("cost", x->diagnosis.cost));
    for (ASSAY__JSON_EACH(i, w, "findings", x->finding_count)) {
        const struct assay__explain_finding *f = &x->findings[i];
        assay__json_record(w, NULL, json_string("id", f->id), json_string("severity", f->severity),
                           json_string("title", f->title), json_string("evidence", f->evidence),
                           json_text("advice", f->advice), json_number("expected_gain", f->gain),
                           json_text("effort", f->effort));
    }
}

static void put_counters(struct assay__json_writer *w, const struct assay__explain *x)
{
    for (ASSAY__JSON_EACH(i, w, "counters", x->counter_count)) {
        const struct assay__counter_range *c = &x->counters[i];
        assay__json_record(
            w, NULL, json_string("name", c->counter->name), json_text("unit", c->counter->unit),
            json_integer("samples", (int64_t)c->samples), json_number("mean", c->mean),
            json_number("min", c->least), json_number("max", c->most));
    }
}

void assay__explain_json(const struct assay__explain *x, struct assay__buf *out)
{
    struct assay__json_writer w;
    assay__json_head(&w, out, "explain");
    put_trace(&w, x);
    put_verdicts(&w, x);
    put_devices(&w, x);
    put_losses(&w, x);
    put_tops(&w, x);
    put_functions(&w, x);
    put_transfers(&w, x);
    put_steps(&w, x);
    put_ranks(&w, x);
    put_what_if(&w, x);
    put_counters(&w, x);
    assay__json_tail(&w);
}
