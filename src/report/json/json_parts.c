/* json_parts.c - what was read over time and around a run. Series stand whole, however long: two
 * arrays of the same length, a reading without a value is null. Each array is one line. What was
 * not asked for is null (or an empty list), with the reason. */
#include "report/json/json_parts.h"

#include <math.h>

#define NOT_ASKED "allocations were not asked for; --memory counts them"

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static void put_column(struct assay__json_writer *w, const char *key, const double *values,
                       size_t count, double divisor)
{
    bool pretty = w->pretty;
    assay__json_key(w, key);
    w->pretty = false; /* a line, not a page */
    assay__json_array(w);
    for (size_t i = 0; i < count; i++)
        assay__json_number(w, values[i] / divisor);
    assay__json_array_end(w);
    w->pretty = pretty;
}

static void put_series(struct assay__json_writer *w, const struct assay__series_info *s)
{
    assay__json_object(w);
    assay__json_put_string(w, "name", text_or_empty(s->name));
    assay__json_put_text(w, "quantity", s->quantity);
    assay__json_put_text(w, "rail", s->rail);
    assay__json_put_string(w, "unit", text_or_empty(s->unit));
    assay__json_put_text(w, "probe", s->probe);
    assay__json_put_string(w, "source", text_or_empty(s->source));
    assay__json_put_string(w, "state", assay_state_name(s->state));
    assay__json_put_string(w, "note", text_or_empty(s->note));
    assay__json_put_integer(w, "launch", s->launch);
    assay__json_put_bool(w, "counter", s->counter);
    assay__json_put_number(w, "update_period_s", s->period_s);
    assay__json_put_bool(w, "update_period_is_bound", s->period_is_bound);
    assay__json_put_integer(w, "count", (int64_t)s->count);
    put_column(w, "times_s", s->times_ns, s->count, 1e9);
    put_column(w, "values", s->values, s->count, 1);
    assay__json_object_end(w);
}

static void put_spans(struct assay__json_writer *w, const struct assay__trial *trial)
{
    assay__json_put_array(w, "spans");
    for (size_t i = 0; i < trial->span_count; i++) {
        const struct assay__span *s = &trial->spans[i];
        assay__json_object(w);
        assay__json_put_string(w, "kind", text_or_empty(s->kind));
        assay__json_put_integer(w, "launch", s->launch);
        assay__json_put_number(w, "begin_s", s->begin_ns / 1e9);
        assay__json_put_number(w, "end_s", s->end_ns / 1e9);
        assay__json_put_count(w, "completions", s->completions, 0);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_phases(struct assay__json_writer *w, const struct assay__allocations *a)
{
    assay__json_put_array(w, "phases");
    for (size_t i = 0; i < a->phase_count; i++) {
        const struct assay__allocation_phase *p = &a->phases[i];
        assay__json_object(w);
        assay__json_put_string(w, "phase", text_or_empty(p->name));
        assay__json_put_count(w, "inferences", p->inferences, 0);
        assay__json_put_number(w, "count", p->count);
        assay__json_put_number(w, "bytes", p->bytes);
        assay__json_put_number(w, "freed_count", p->freed_count);
        assay__json_put_number(w, "freed_bytes", p->freed_bytes);
        assay__json_put_number(w, "live_bytes", p->live_bytes);
        assay__json_put_number(w, "peak_live_bytes", p->peak_live_bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

/* By size and by call site. */
static void put_parts_of_phases(struct assay__json_writer *w, const struct assay__allocations *a)
{
    assay__json_put_array(w, "classes");
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        assay__json_object(w);
        assay__json_put_string(w, "phase", text_or_empty(c->phase));
        assay__json_put_number(w, "low_bytes", c->low_bytes);
        assay__json_put_number(w, "high_bytes", c->high_bytes); /* null: no limit */
        assay__json_put_number(w, "count", c->count);
        assay__json_put_number(w, "bytes", c->bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_array(w, "sites");
    for (size_t i = 0; i < a->site_count; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        assay__json_object(w);
        assay__json_put_string(w, "phase", text_or_empty(s->phase));
        assay__json_put_string(w, "site", text_or_empty(s->site));
        assay__json_put_number(w, "count", s->count);
        assay__json_put_number(w, "bytes", s->bytes);
        assay__json_put_number(w, "live_bytes", s->live_bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_allocations(struct assay__json_writer *w, const struct assay__allocations *a)
{
    bool known = a->reason && a->phase_count > 0;
    if (!known) {
        assay__json_put_null(w, "allocations");
        assay__json_put_string(w, "allocations_reason", a->reason ? a->reason : NOT_ASKED);
        return;
    }
    assay__json_put_object(w, "allocations");
    put_phases(w, a);
    put_parts_of_phases(w, a);
    assay__json_put_number(w, "growth_bytes", a->growth_bytes);
    assay__json_put_number(w, "growth_low_bytes", a->growth_low);
    assay__json_put_number(w, "growth_high_bytes", a->growth_high);
    assay__json_put_number(w, "heap_bytes", a->heap_bytes);
    assay__json_put_number(w, "heap_used_bytes", a->heap_used_bytes);
    assay__json_put_number(w, "slowdown", a->slowdown);
    assay__json_object_end(w);
    assay__json_put_text(w, "allocations_reason", a->reason);
}

static void put_class(struct assay__json_writer *w, const struct assay__trial *trial,
                      const struct assay__class_counters *c)
{
    assay__json_object(w);
    assay__json_put_string(w, "op", text_or_empty(c->op));
    assay__json_put_count(w, "layers", c->layers, 0);
    assay__json_put_number(w, "time_us", c->time_ns / 1e3);
    assay__json_put_object(w, "values");
    for (size_t i = 0; i < trial->counter_count; i++)
        assay__json_put_number(w, text_or_empty(trial->counter_names[i]),
                               c->values ? c->values[i] : (double)NAN);
    assay__json_object_end(w);
    assay__json_object_end(w);
}

static void put_counters(struct assay__json_writer *w, const struct assay__trial *trial)
{
    bool said = trial->class_counter_note && trial->class_counter_note[0];
    if (!trial->counter_names && !said) {
        assay__json_put_null(w, "counters"); /* not asked for */
        return;
    }
    assay__json_put_object(w, "counters");
    assay__json_put_strings(w, "names", trial->counter_names, trial->counter_count);
    assay__json_put_array(w, "classes");
    for (size_t i = 0; i < trial->class_counter_count; i++)
        put_class(w, trial, &trial->class_counters[i]);
    assay__json_array_end(w);
    assay__json_put_string(w, "note", text_or_empty(trial->class_counter_note));
    assay__json_object_end(w);
}

void assay__json_parts(struct assay__json_writer *w, const struct assay__trial *trial)
{
    assay__json_put_array(w, "series");
    for (size_t i = 0; i < trial->series_count; i++)
        put_series(w, &trial->series[i]);
    assay__json_array_end(w);
    put_spans(w, trial);
    put_allocations(w, &trial->allocations);
    put_counters(w, trial);
}

void assay__json_ceilings(struct assay__json_writer *w, const struct assay_profile *profile)
{
    assay__json_put_array(w, "ceilings");
    for (size_t i = 0; i < profile->ceiling_count; i++) {
        const struct assay__ceiling_info *c = &profile->ceilings[i];
        assay__json_object(w);
        assay__json_put_string(w, "device", text_or_empty(c->device));
        assay__json_put_string(w, "name", text_or_empty(c->name));
        assay__json_put_number(w, "value", c->value);
        assay__json_put_string(w, "unit", text_or_empty(c->unit));
        assay__json_put_number(w, "low", c->low);
        assay__json_put_number(w, "high", c->high);
        assay__json_put_string(
            w, "state", assay_state_name(isfinite(c->value) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE));
        assay__json_put_string(w, "source", text_or_empty(c->source));
        assay__json_put_string(w, "note", text_or_empty(c->note));
        assay__json_put_text(w, "measured_at", c->measured_at);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}
