/* json_parts.c - what was read over time and around a run. Series are written in full, however
 * long: two arrays of the same length, with null for a missing value. Each array is one line. What
 * was not requested is null (or an empty list), with the reason. */
#include "report/json/json_parts.h"

#include "profile/tables.h"

#include <math.h>

#define NOT_ASKED "allocations were not counted"

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
    for (ASSAY__JSON_EACH(i, w, NULL, count))
        assay__json_number(w, values[i] / divisor);
    w->pretty = pretty;
}

static void put_allocations(struct assay__json_writer *w, const struct assay__allocations *a)
{
    if (!a->reason || a->phase_count == 0) {
        assay__json_members(w, json_null("allocations"),
                            json_string("allocations_reason", a->reason ? a->reason : NOT_ASKED));
        return;
    }
    assay__json_put_object(w, "allocations");
    assay__fields_json_list(w, "phases", &assay__stored_phase, a->phases, a->phase_count);
    assay__fields_json_list(w, "classes", &assay__stored_class, a->classes, a->class_count);
    assay__fields_json_list(w, "sites", &assay__stored_site, a->sites, a->site_count);
    assay__fields_json(w, &assay__stored_allocations, a, NULL, NULL);
    assay__json_object_end(w);
    assay__json_put_text(w, "allocations_reason", a->reason);
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
    for (ASSAY__JSON_EACH(i, w, "classes", trial->class_counter_count)) {
        const struct assay__class_counters *c = &trial->class_counters[i];
        assay__json_object(w);
        assay__fields_json(w, &assay__stored_class_counters, c, NULL, NULL);
        assay__json_put_object(w, "values");
        for (size_t k = 0; k < trial->counter_count; k++)
            assay__json_put_number(w, text_or_empty(trial->counter_names[k]),
                                   c->values ? c->values[k] : (double)NAN);
        assay__json_object_end(w);
        assay__json_object_end(w);
    }
    assay__json_put_string(w, "note", text_or_empty(trial->class_counter_note));
    assay__json_object_end(w);
}

void assay__json_parts(struct assay__json_writer *w, const struct assay__trial *trial)
{
    for (ASSAY__JSON_EACH(i, w, "series", trial->series_count)) {
        const struct assay__series_info *s = &trial->series[i];
        assay__json_object(w);
        assay__fields_json(w, &assay__stored_series, s, NULL, NULL);
        put_column(w, "times_s", s->times_ns, s->count, 1e9);
        put_column(w, "values", s->values, s->count, 1);
        assay__json_object_end(w);
    }
    assay__fields_json_list(w, "spans", &assay__stored_span, trial->spans, trial->span_count);
    put_allocations(w, &trial->allocations);
    put_counters(w, trial);
}

void assay__json_peak(struct assay__json_writer *w, const struct assay__trial *trial)
{
    const struct assay__peak *p = &trial->peak;
    if (!p->reason) {
        assay__json_put_null(w, "peak");
        return;
    }
    assay__json_put_object(w, "peak");
    assay__fields_json(w, &assay__stored_peak, p, NULL, NULL);
    assay__fields_json_list(w, "tensors", &assay__stored_peak_tensor, p->tensors, p->count);
    assay__json_object_end(w);
}

void assay__json_ceilings(struct assay__json_writer *w, const struct assay_profile *profile)
{
    for (ASSAY__JSON_EACH(i, w, "ceilings", profile->ceiling_count)) {
        const struct assay__ceiling_info *c = &profile->ceilings[i];
        assay__json_object(w);
        assay__fields_json(w, &assay__stored_ceiling, c, NULL, "high");
        assay__json_put_string(
            w, "state", assay_state_name(isfinite(c->value) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE));
        assay__fields_json(w, &assay__stored_ceiling, c, "source", NULL);
        assay__json_object_end(w);
    }
}
