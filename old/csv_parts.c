/* csv_parts.c - see parts.h: tables with one row per value. A series, the allocations or the
 * counters that could not be read are one row without numbers that says why. */
#include "report/parts.h"

#include <inttypes.h>
#include <math.h>

static void next_count(struct assay__buf *out, int64_t value)
{
    assay__buf_putc(out, ',');
    if (value >= 0) assay__buf_printf(out, "%" PRId64, value);
}

static void series_row(const struct assay__trial *trial, const struct assay__series_info *s,
                       int64_t at, struct assay__buf *out)
{
    assay__buf_printf(out, "%d,%d", trial->id, s->launch);
    assay__csv_next_text(out, s->name);
    next_count(out, at);
    assay__csv_next_number(out, at >= 0 ? s->times_ns[at] / 1e9 : (double)NAN);
    assay__csv_next_number(out, at >= 0 ? s->values[at] : (double)NAN);
    assay__csv_next_text(out, s->unit);
    bool known = at >= 0 && isfinite(s->values[at]);
    assay__csv_next_text(out, assay_state_name(known ? s->state : ASSAY_UNAVAILABLE));
    assay__csv_next_text(out, s->source);
    /* Said once: a million rows of the same sentence are no information. */
    assay__csv_next_text(out, at <= 0 ? s->note : "");
    assay__buf_putc(out, '\n');
}

void assay__csv_series(const struct assay_profile *profile, const struct assay__trial *trial,
                       struct assay__buf *out)
{
    (void)profile;
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        if (s->count == 0) series_row(trial, s, -1, out);
        for (size_t k = 0; k < s->count; k++)
            series_row(trial, s, (int64_t)k, out);
    }
}

void assay__csv_spans(const struct assay_profile *profile, const struct assay__trial *trial,
                      struct assay__buf *out)
{
    (void)profile;
    for (size_t i = 0; i < trial->span_count; i++) {
        const struct assay__span *s = &trial->spans[i];
        assay__buf_printf(out, "%d,%d", trial->id, s->launch);
        assay__csv_next_text(out, s->kind);
        assay__csv_next_number(out, s->begin_ns / 1e9);
        assay__csv_next_number(out, s->end_ns / 1e9);
        next_count(out, s->completions);
        assay__buf_putc(out, '\n');
    }
}

/* trial, phase, kind */
static void allocation_head(const struct assay__trial *trial, const char *phase, const char *kind,
                            struct assay__buf *out)
{
    assay__buf_printf(out, "%d", trial->id);
    assay__csv_next_text(out, phase);
    assay__csv_next_text(out, kind);
}

void assay__csv_allocations(const struct assay_profile *profile, const struct assay__trial *trial,
                            struct assay__buf *out)
{
    (void)profile;
    const struct assay__allocations *a = &trial->allocations;
    for (size_t i = 0; i < a->phase_count; i++) {
        const struct assay__allocation_phase *p = &a->phases[i];
        allocation_head(trial, p->name, "phase", out);
        assay__buf_puts(out, ",,,");
        next_count(out, p->inferences);
        const double numbers[] = {p->count,       p->bytes,      p->freed_count,
                                  p->freed_bytes, p->live_bytes, p->peak_live_bytes};
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            assay__csv_next_number(out, numbers[k]);
        assay__buf_puts(out, ",\n");
    }
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        allocation_head(trial, c->phase, "size", out);
        assay__csv_next_number(out, c->low_bytes);
        assay__csv_next_number(out, c->high_bytes);
        assay__buf_puts(out, ",,");
        assay__csv_next_number(out, c->count);
        assay__csv_next_number(out, c->bytes);
        assay__buf_puts(out, ",,,,,\n");
    }
    for (size_t i = 0; i < a->site_count; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        allocation_head(trial, s->phase, "site", out);
        assay__buf_puts(out, ",,");
        assay__csv_next_text(out, s->site);
        assay__buf_puts(out, ",");
        assay__csv_next_number(out, s->count);
        assay__csv_next_number(out, s->bytes);
        assay__buf_puts(out, ",,");
        assay__csv_next_number(out, s->live_bytes);
        assay__buf_puts(out, ",,\n");
    }
    if (a->reason && *a->reason) {
        allocation_head(trial, "", "unavailable", out);
        assay__buf_puts(out, ",,,,,,,,,,");
        assay__csv_next_text(out, a->reason);
        assay__buf_putc(out, '\n');
    }
}

void assay__csv_counters(const struct assay_profile *profile, const struct assay__trial *trial,
                         struct assay__buf *out)
{
    (void)profile;
    for (size_t i = 0; i < trial->class_counter_count; i++) {
        const struct assay__class_counters *c = &trial->class_counters[i];
        for (size_t k = 0; k < trial->counter_count; k++) {
            assay__buf_printf(out, "%d", trial->id);
            assay__csv_next_text(out, c->op);
            next_count(out, c->layers);
            assay__csv_next_number(out, c->time_ns / 1e3);
            assay__csv_next_text(out, trial->counter_names[k]);
            assay__csv_next_number(out, c->values ? c->values[k] : (double)NAN);
            assay__csv_next_text(out, i + k == 0 ? trial->class_counter_note : "");
            assay__buf_putc(out, '\n');
        }
    }
    bool rows = trial->class_counter_count > 0 && trial->counter_count > 0;
    if (rows || !trial->class_counter_note || !*trial->class_counter_note) return;
    assay__buf_printf(out, "%d,,,,,", trial->id);
    assay__csv_next_text(out, trial->class_counter_note);
    assay__buf_putc(out, '\n');
}

void assay__csv_ceilings(const struct assay_profile *profile, struct assay__buf *out)
{
    for (size_t i = 0; i < profile->ceiling_count; i++) {
        const struct assay__ceiling_info *c = &profile->ceilings[i];
        assay__csv_text(out, c->device);
        assay__csv_next_text(out, c->name);
        assay__csv_next_number(out, c->value);
        assay__csv_next_text(out, c->unit);
        assay__csv_next_number(out, c->low);
        assay__csv_next_number(out, c->high);
        assay__csv_next_text(
            out, assay_state_name(isfinite(c->value) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE));
        assay__csv_next_text(out, c->source);
        assay__csv_next_text(out, c->note);
        assay__csv_next_text(out, c->measured_at);
        assay__buf_putc(out, '\n');
    }
}
