/* markdown_parts.c - see parts.h: compact tables. Rails side by side, series by their lowest and
 * highest reading (the readings themselves are in JSON and CSV), allocations by phase, size and
 * call site, counters by class of layers, and the ceilings. Reasons stand where numbers would. */
#include "base/text.h"
#include "report/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_cell(struct assay__buf *out, const char *text)
{
    assay__buf_puts(out, " ");
    assay__markdown_text(out, text);
    assay__buf_puts(out, " |");
}

static void put_count(struct assay__buf *out, double value)
{
    struct assay__buf text = {0};
    if (isfinite(value) && fabs(value) < 9e15)
        assay__render_count(&text, (int64_t)llround(value));
    else
        assay__buf_puts(&text, "—");
    put_cell(out, text.data);
    assay__buf_free(&text);
}

/* A number as people read it, "—" when it is not known. */
static void put_number(struct assay__buf *out, double value, const char *unit)
{
    char text[64] = "—";
    if (unit && strcmp(unit, "1") == 0 && value == trunc(value)) {
        put_count(out, value); /* of things: "3,146", not "3.15 k" of 1 */
        return;
    }
    if (isfinite(value)) assay__text_scaled(text, sizeof text, value, unit ? unit : "");
    put_cell(out, text);
}

static void put_metric(struct assay__buf *out, const struct assay__trial *trial, const char *family,
                       const char *rail)
{
    char name[128];
    struct assay__buf text = {0};
    snprintf(name, sizeof name, "%s.%s", family, rail);
    assay__render_metric(&text, assay_metrics_get(trial->metrics, name));
    put_cell(out, text.data);
    assay__buf_free(&text);
}

/* --- power ------------------------------------------------------------------------------------ */

static const char *const rail_families[] = {"power.idle", "power.average", "power.peak",
                                            "energy.total"};
#define FAMILIES (sizeof rail_families / sizeof rail_families[0])

/* The rail in the name of a metric of those families, or NULL. */
static const char *rail_of(const char *name)
{
    for (size_t i = 0; i < FAMILIES; i++) {
        size_t length = strlen(rail_families[i]);
        if (strncmp(name, rail_families[i], length) == 0 && name[length] == '.' && name[length + 1])
            return name + length + 1;
    }
    return NULL;
}

static bool is_first(const struct assay_metrics *set, size_t index, const char *rail)
{
    for (size_t i = 0; i < index; i++) {
        const char *other = rail_of(assay_metrics_at(set, i)->name);
        if (other && strcmp(other, rail) == 0) return false;
    }
    return true;
}

/* A rail of which nothing is known has its reasons among the metrics. */
static bool is_known(const struct assay__trial *trial, const char *rail)
{
    bool known = false;
    for (size_t i = 0; i < FAMILIES; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.%s", rail_families[i], rail);
        known |= assay__trial_metric(trial, name) != NULL;
    }
    return known;
}

static void put_rails(struct assay__buf *out, const struct assay__trial *trial)
{
    bool any = false;
    for (size_t i = 0; trial->metrics && i < assay_metrics_count(trial->metrics); i++) {
        const char *rail = rail_of(assay_metrics_at(trial->metrics, i)->name);
        if (!rail || !is_known(trial, rail) || !is_first(trial->metrics, i, rail)) continue;
        if (!any)
            assay__buf_puts(out, "\n### Power\n\n| rail | idle | average | peak | energy |\n"
                                 "|---|--:|--:|--:|--:|\n");
        any = true;
        assay__buf_puts(out, "|");
        put_cell(out, rail);
        for (size_t f = 0; f < FAMILIES; f++)
            put_metric(out, trial, rail_families[f], rail);
        assay__buf_putc(out, '\n');
    }
}

/* --- series ----------------------------------------------------------------------------------- */

static void put_period(struct assay__buf *out, const struct assay__series_info *s)
{
    char text[64], shown[80] = "—";
    if (isfinite(s->period_s)) {
        assay__text_scaled(text, sizeof text, s->period_s, "s");
        snprintf(shown, sizeof shown, "%s%s", s->period_is_bound ? "≤ " : "", text);
    }
    put_cell(out, shown);
}

static void put_series_row(struct assay__buf *out, const struct assay__series_info *s)
{
    double low = NAN, high = NAN, last = NAN;
    size_t known = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!isfinite(s->values[i])) continue;
        if (known == 0 || s->values[i] < low) low = s->values[i];
        if (known == 0 || s->values[i] > high) high = s->values[i];
        last = s->values[i];
        known++;
    }
    struct assay__buf name = {0};
    assay__buf_puts(&name, s->name);
    if (s->launch > 0) assay__buf_printf(&name, " (launch %d)", s->launch);
    assay__buf_puts(out, "|");
    put_cell(out, name.data);
    assay__buf_free(&name);
    put_count(out, s->count ? (double)known : (double)NAN);
    put_number(out, s->counter ? (double)NAN : low, s->unit);
    put_number(out, s->counter ? (double)NAN : high, s->unit);
    put_number(out, s->counter ? last : (double)NAN, s->unit); /* values count from the first */
    put_period(out, s);
    put_cell(out, s->source);
    put_cell(out, s->note);
    assay__buf_putc(out, '\n');
}

static void put_series(struct assay__buf *out, const struct assay__trial *trial)
{
    if (!trial->series_count) return;
    assay__buf_puts(out, "\n### Read over time\n\n"
                         "| series | readings | lowest | highest | grew by | update period | "
                         "source | note |\n|---|--:|--:|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < trial->series_count; i++)
        put_series_row(out, &trial->series[i]);
}

/* --- allocations ------------------------------------------------------------------------------ */

static void put_phases(struct assay__buf *out, const struct assay__allocations *a)
{
    assay__buf_puts(out, "| phase | inferences | allocated | bytes | freed | freed bytes | live at "
                         "the end | most live |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < a->phase_count; i++) {
        const struct assay__allocation_phase *p = &a->phases[i];
        assay__buf_puts(out, "|");
        put_cell(out, p->name);
        put_count(out, p->inferences < 0 ? (double)NAN : (double)p->inferences);
        put_count(out, p->count);
        put_number(out, p->bytes, "B");
        put_count(out, p->freed_count);
        put_number(out, p->freed_bytes, "B");
        put_number(out, p->live_bytes, "B");
        put_number(out, p->peak_live_bytes, "B");
        assay__buf_putc(out, '\n');
    }
}

/* The classes' limits are powers of two: "1 KiB" where 1.02 kB would be read as measured. */
static void size_text(char *out, size_t room, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; unit < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0; unit++)
        bytes /= 1024;
    snprintf(out, room, "%.15g %s", bytes, units[unit]);
}

static void put_sizes(struct assay__buf *out, const struct assay__allocations *a)
{
    if (!a->class_count) return;
    assay__buf_puts(out, "\n| phase | size | allocated | bytes |\n|---|---|--:|--:|\n");
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        char low[64], high[64], size[140];
        size_text(low, sizeof low, c->low_bytes);
        size_text(high, sizeof high, c->high_bytes);
        snprintf(size, sizeof size, isfinite(c->high_bytes) ? "%s to below %s" : "%s and more", low,
                 high);
        assay__buf_puts(out, "|");
        put_cell(out, c->phase);
        put_cell(out, size);
        put_count(out, c->count);
        put_number(out, c->bytes, "B");
        assay__buf_putc(out, '\n');
    }
}

static void put_sites(struct assay__buf *out, const struct assay__allocations *a, int top)
{
    size_t shown = top < 0 || (size_t)top > a->site_count ? a->site_count : (size_t)top;
    if (!shown) return;
    assay__buf_puts(out, "\n| phase | call site | allocated | bytes | live at the end |\n"
                         "|---|---|--:|--:|--:|\n");
    for (size_t i = 0; i < shown; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        assay__buf_puts(out, "|");
        put_cell(out, s->phase);
        put_cell(out, s->site);
        put_count(out, s->count);
        put_number(out, s->bytes, "B");
        put_number(out, s->live_bytes, "B");
        assay__buf_putc(out, '\n');
    }
    if (shown < a->site_count)
        assay__buf_printf(out, "\n%zu more call sites are in JSON and CSV.\n",
                          a->site_count - shown);
}

static void put_growth(struct assay__buf *out, const struct assay__allocations *a)
{
    char text[3][64];
    if (!isfinite(a->growth_bytes)) return;
    assay__text_scaled(text[0], sizeof text[0], a->growth_bytes, "B");
    assay__text_scaled(text[1], sizeof text[1], a->growth_low, "B");
    assay__text_scaled(text[2], sizeof text[2], a->growth_high, "B");
    assay__buf_printf(out, "\nLive memory changes by %s per warm inference", text[0]);
    if (isfinite(a->growth_low) && isfinite(a->growth_high))
        assay__buf_printf(out, " (95 %% interval %s to %s%s)", text[1], text[2],
                          a->growth_low <= 0 && a->growth_high >= 0 ? ": no change shown" : "");
    assay__buf_puts(out, ".\n");
}

static void put_allocations(struct assay__buf *out, const struct assay__allocations *a, int top)
{
    if (!a->reason) return; /* not asked for */
    assay__buf_puts(out, "\n### Allocations\n\n");
    if (*a->reason) {
        assay__buf_puts(out, "— ");
        assay__markdown_text(out, a->reason);
        assay__buf_puts(out, "\n");
    }
    if (!a->phase_count) return;
    if (isfinite(a->slowdown))
        assay__buf_printf(out, "Counted in a launch of its own, which took %.2f × the plain one.\n",
                          a->slowdown);
    assay__buf_puts(out, isfinite(a->slowdown) || *a->reason ? "\n" : "");
    put_phases(out, a);
    put_sizes(out, a);
    put_sites(out, a, top);
    put_growth(out, a);
}

/* --- counters --------------------------------------------------------------------------------- */

/* A counter per inference: below a thousand a fraction is not rounded away (a fault every tenth run
 * is not 0). */
static void put_counter(struct assay__buf *out, const char *name, double value)
{
    char text[32];
    if (strcmp(name, "task-clock") == 0 || strcmp(name, "elapsed") == 0) { /* counters of time */
        put_number(out, value, "s");
        return;
    }
    if (!isfinite(value) || fabs(value) >= 1000 || value == trunc(value)) {
        put_count(out, value);
        return;
    }
    snprintf(text, sizeof text, "%.3g", value);
    put_cell(out, text);
}

static void put_counters(struct assay__buf *out, const struct assay__trial *trial)
{
    bool said = trial->class_counter_note && *trial->class_counter_note;
    bool rows = trial->counter_count > 0 && trial->class_counter_count > 0;
    if (!rows && !said) return;
    assay__buf_puts(out, "\n### Counters by class of layers\n\n");
    if (said) {
        assay__markdown_text(out, trial->class_counter_note);
        assay__buf_puts(out, rows ? "\n\n" : "\n");
    }
    if (!rows) return;
    assay__buf_puts(out, "| operator | layers | time |");
    for (size_t i = 0; i < trial->counter_count; i++)
        put_cell(out, trial->counter_names[i]);
    assay__buf_puts(out, "\n|---|--:|--:|");
    assay__buf_repeat(out, "--:|", trial->counter_count);
    assay__buf_putc(out, '\n');
    for (size_t i = 0; i < trial->class_counter_count; i++) {
        const struct assay__class_counters *c = &trial->class_counters[i];
        assay__buf_puts(out, "|");
        put_cell(out, c->op);
        put_count(out, c->layers < 0 ? (double)NAN : (double)c->layers);
        put_number(out, c->time_ns / 1e9, "s");
        for (size_t k = 0; k < trial->counter_count; k++)
            put_counter(out, trial->counter_names[k], c->values ? c->values[k] : (double)NAN);
        assay__buf_putc(out, '\n');
    }
}

void assay__markdown_parts(struct assay__buf *out, const struct assay__trial *trial, int top)
{
    put_rails(out, trial);
    put_series(out, trial);
    put_allocations(out, &trial->allocations, top);
    put_counters(out, trial);
}

void assay__markdown_ceilings(struct assay__buf *out, const struct assay_profile *profile)
{
    if (!profile->ceiling_count) return;
    assay__buf_puts(out, "\n### Ceilings\n\n| device | ceiling | value | repeats from | to | "
                         "measured | note |\n|---|---|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < profile->ceiling_count; i++) {
        const struct assay__ceiling_info *c = &profile->ceilings[i];
        assay__buf_puts(out, "|");
        put_cell(out, c->device);
        put_cell(out, c->name);
        put_number(out, c->value, c->unit);
        put_number(out, c->low, c->unit);
        put_number(out, c->high, c->unit);
        put_cell(out, c->measured_at);
        put_cell(out, c->note);
        assay__buf_putc(out, '\n');
    }
}
