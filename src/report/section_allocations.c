/* section_allocations.c - what was allocated: by phase, by size, by caller; growth per inference;
 * how much of the heap is in use. Size classes and callers are those of the warm phase, per
 * inference; without a warm inference, of the last phase that has any. */
#include "report/section_allocations.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SITES_SHOWN 10

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

/* "341", "18.5", "239 k" */
static void put_count(char *out, size_t size, double value)
{
    struct assay__buf text = {0};
    if (!isfinite(value))
        assay__buf_puts(&text, "—");
    else if (value > 0 && value < 0.005)
        assay__buf_puts(&text, "< 0.01");
    else if (value < 10 && value != floor(value))
        assay__buf_printf(&text, "%.2f", value);
    else if (value < 100 && value != floor(value))
        assay__buf_printf(&text, "%.1f", value);
    else
        assay__render_count(&text, (int64_t)llround(value));
    snprintf(out, size, "%s", text_of(&text));
    assay__buf_free(&text);
}

/* Per inference there may be less than a byte: "0.73 B". */
static void put_bytes(char *out, size_t size, double value)
{
    if (!(fabs(value) < 10) || value == floor(value)) {
        assay__text_scaled(out, size, value, "B");
        return;
    }
    char digits[32];
    put_count(digits, sizeof digits, fabs(value));
    snprintf(out, size, "%s%s B", value < 0 ? "-" : "", digits);
}

/* --- phases ----------------------------------------------------------------------------------- */

/* Below 60 columns a cell that is not there (NULL) leaves the row. */
static void put_phase_cells(struct assay__page *page, const char *label, const char *const cells[5])
{
    bool wide = page->columns >= 76;
    int width = wide ? 13 : page->columns >= 60 ? 10 : 9;
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, label, wide ? 11 : 8, 0);
    for (int i = 0; i < 5; i++)
        if (cells[i]) assay__page_right(page, cells[i], width);
    assay__buf_putc(page->out, '\n');
}

static void put_phase(struct assay__page *page, const struct assay__allocation_phase *phase)
{
    char runs[32], count[32], bytes[64], live[64], peak[64];
    bool narrow = page->columns < 60;
    put_count(runs, sizeof runs, (double)phase->inferences);
    put_count(count, sizeof count, phase->count);
    assay__text_scaled(bytes, sizeof bytes, phase->bytes, "B");
    assay__text_scaled(live, sizeof live, phase->live_bytes, "B");
    assay__text_scaled(peak, sizeof peak, phase->peak_live_bytes, "B");
    put_phase_cells(page, phase->name,
                    (const char *const[]){narrow              ? NULL
                                          : phase->inferences ? runs
                                                              : "",
                                          count, bytes, live, narrow ? NULL : peak});
}

static void put_phases(struct assay__page *page, const struct assay__allocations *a)
{
    bool wide = page->columns >= 76, narrow = page->columns < 60;
    assay__page_style(page, ASSAY__STYLE_DIM);
    put_phase_cells(page, "phase",
                    (const char *const[]){narrow ? NULL
                                          : wide ? "inferences"
                                                 : "runs",
                                          wide ? "allocations" : "count", "bytes",
                                          wide ? "live then" : "live",
                                          narrow ? NULL
                                          : wide ? "live at most"
                                                 : "most"});
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; i < a->phase_count; i++)
        put_phase(page, &a->phases[i]);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put_metric_row(struct assay__page *page, const struct assay__trial *trial,
                           const char *label, const char *name, const char *after)
{
    const struct assay_metric *metric = assay_metrics_get(trial->metrics, name);
    struct assay__buf text = {0};
    if (!metric) return;
    if (metric->state == ASSAY_UNAVAILABLE) {
        assay__buf_printf(&text, "— %s", metric->note);
    } else {
        assay__render_metric(&text, metric);
        assay__buf_printf(&text, " %s", after);
    }
    assay__page_row(page, label, text_of(&text));
    assay__buf_free(&text);
}

/* "=18.5 allocations of a warm one", and what they asked for. */
static void put_inference(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay_metric *count = assay__trial_metric(trial, "memory.allocations"),
                              *bytes = assay__trial_metric(trial, "memory.allocated");
    char digits[64];
    struct assay__buf text = {0};
    if (!count || !bytes) {
        put_metric_row(page, trial, "inference", "memory.allocations", "");
        return;
    }
    put_count(digits, sizeof digits, count->value);
    assay__buf_printf(&text, "%s%s allocation%s of a warm one, by malloc and its relatives",
                      assay__render_mark(count->state), digits,
                      strcmp(digits, "1") == 0 ? "" : "s");
    assay__page_row(page, "inference", text_of(&text));
    assay__buf_clear(&text);
    if (count->value == 0) goto out;
    put_bytes(digits, sizeof digits, bytes->value);
    assay__buf_printf(&text, "%s%s asked for by %s", assay__render_mark(bytes->state), digits,
                      count->value == 1 ? "it" : "them");
    assay__page_row(page, "", text_of(&text));
out:
    assay__buf_free(&text);
}

static void put_growth(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay_metric *growth = assay_metrics_get(trial->metrics, "memory.growth");
    struct assay__buf text = {0};
    if (!growth) return;
    if (growth->state == ASSAY_UNAVAILABLE) {
        assay__buf_printf(&text, "— %s", growth->note);
    } else {
        char bytes[64];
        put_bytes(bytes, sizeof bytes, growth->value);
        assay__buf_printf(&text, "%s%s per inference; %s", assay__render_mark(growth->state), bytes,
                          growth->note);
    }
    assay__page_row(page, "growth", text_of(&text));
    assay__buf_free(&text);
}

static void put_arena(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay_metric *pieces = assay_metrics_get(trial->metrics,
                                                          "memory.arena.allocations");
    struct assay__buf text = {0};
    if (!pieces) return;
    if (pieces->state == ASSAY_UNAVAILABLE) {
        assay__buf_printf(&text, "— %s", pieces->note);
    } else {
        char count[32];
        put_count(count, sizeof count, pieces->value);
        assay__buf_printf(&text,
                          "=%s piece%s handed out per inference; such memory never reaches malloc "
                          "and is not in the counts above",
                          count, pieces->value == 1 ? "" : "s");
    }
    assay__page_row(page, "arena", text_of(&text));
    assay__buf_free(&text);
}

/* --- by size ---------------------------------------------------------------------------------- */

static const struct assay__allocation_phase *shown_phase(const struct assay__allocations *a)
{
    const struct assay__allocation_phase *shown = NULL;
    for (size_t i = 0; i < a->phase_count; i++)
        if (a->phases[i].count > 0) shown = &a->phases[i];
    for (size_t i = 0; i < a->phase_count; i++)
        if (strcmp(a->phases[i].name, "warm") == 0 && a->phases[i].count > 0) shown = &a->phases[i];
    return shown;
}

/* "per warm inference", "phase load, in all" */
static const char *whose(const struct assay__allocation_phase *phase, char *out, size_t size)
{
    if (phase->inferences > 0 && strcmp(phase->name, "warm") == 0)
        snprintf(out, size, "per warm inference");
    else
        snprintf(out, size, "phase %.24s, %s", phase->name,
                 phase->inferences > 0 ? "per inference" : "in all");
    return out;
}

static double per_inference(const struct assay__allocation_phase *phase)
{
    return phase->inferences > 0 ? (double)phase->inferences : 1;
}

/* "64 B", "1 KiB": the classes are powers of two. */
static void put_size(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, size, "%.0f %s", bytes, units[unit]);
}

static void put_class(struct assay__page *page, const struct assay__allocation_class *class,
                      double runs, double most)
{
    char low[32], high[32], label[80], count[32], bytes[64];
    put_size(low, sizeof low, class->low_bytes);
    put_size(high, sizeof high, class->high_bytes);
    if (isfinite(class->high_bytes))
        snprintf(label, sizeof label, "%s to %s", low, high);
    else
        snprintf(label, sizeof label, "%s and more", low);
    put_count(count, sizeof count, class->count / runs);
    put_bytes(bytes, sizeof bytes, class->bytes / runs);
    bool narrow = page->columns < 60; /* no room for bars */
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, label, narrow ? 18 : 20, 0);
    assay__page_right(page, count, narrow ? 9 : 10);
    assay__page_right(page, bytes, narrow ? 10 : 11);
    if (!narrow) {
        assay__buf_puts(page->out, "  ");
        assay__page_bar(page, class->count / most, page->columns - 46);
    }
    assay__buf_putc(page->out, '\n');
}

static void put_classes(struct assay__page *page, const struct assay__allocations *a,
                        const struct assay__allocation_phase *phase)
{
    double most = 0;
    for (size_t i = 0; i < a->class_count; i++)
        if (strcmp(a->classes[i].phase, phase->name) == 0 && a->classes[i].count > most)
            most = a->classes[i].count;
    if (!(most > 0)) return;
    char remark[96], owner[64];
    snprintf(remark, sizeof remark, "%s: count, bytes%s", whose(phase, owner, sizeof owner),
             page->columns < 60 ? "" : "; bars: count");
    assay__page_heading(page, "Allocations by size", remark);
    for (size_t i = 0; i < a->class_count; i++)
        if (strcmp(a->classes[i].phase, phase->name) == 0 && a->classes[i].count > 0)
            put_class(page, &a->classes[i], per_inference(phase), most);
}

/* --- by caller -------------------------------------------------------------------------------- */

static void put_site(struct assay__page *page, const struct assay__allocation_site *site,
                     double runs)
{
    char count[32], bytes[64], live[64], line[256];
    put_count(count, sizeof count, site->count / runs);
    put_bytes(bytes, sizeof bytes, site->bytes / runs);
    assay__text_scaled(live, sizeof live, site->live_bytes, "B");
    bool narrow = page->columns < 72;
    if (narrow)
        snprintf(line, sizeof line, "%s time%s, %s; live in all %s", count,
                 strcmp(count, "1") == 0 ? "" : "s", bytes, live);
    else
        snprintf(line, sizeof line, "%10s%11s%11s  ", count, bytes, live);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, narrow ? "  " : line, narrow ? line : site->site);
    if (narrow) assay__page_wrap(page, ASSAY__STYLE_DIM, "    ", site->site);
}

static void put_sites(struct assay__page *page, const struct assay__allocations *a,
                      const struct assay__allocation_phase *phase)
{
    size_t shown = 0, most = page->top < 0 ? SIZE_MAX : SITES_SHOWN;
    for (size_t i = 0; i < a->site_count && shown < most; i++) {
        if (strcmp(a->sites[i].phase, phase->name) != 0) continue;
        if (shown++ == 0) {
            char remark[128], owner[64];
            snprintf(remark, sizeof remark, "%s; live: in all, at its end",
                     whose(phase, owner, sizeof owner));
            assay__page_heading(page, "Allocations by caller", remark);
            assay__page_style(page, ASSAY__STYLE_DIM);
            if (page->columns >= 72)
                assay__buf_puts(page->out,
                                "     count      bytes       live  from, innermost first\n");
            assay__page_style(page, ASSAY__STYLE_PLAIN);
        }
        put_site(page, &a->sites[i], per_inference(phase));
    }
}

void assay__section_allocations(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    struct assay__buf text = {0};
    if (!a->reason) return;
    if (a->reason[0]) {
        assay__page_heading(page, "Allocations", "");
        assay__buf_printf(&text, "— %s", a->reason);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text_of(&text));
        assay__buf_free(&text);
        return;
    }
    if (isfinite(a->slowdown))
        assay__buf_printf(&text, "counted in a launch of its own: latency × %s",
                          assay__digits(a->slowdown, 3).text);
    else
        assay__buf_puts(&text, "counted in a launch of its own");
    assay__page_heading(page, "Allocations", text_of(&text));
    assay__buf_free(&text);
    put_phases(page, a);
    put_inference(page, trial);
    put_growth(page, trial);
    put_metric_row(page, trial, "heap", "memory.heap.peak", "live at most, as asked for");
    put_metric_row(page, trial, "fragmented", "memory.fragmentation",
                   "of what the C library's allocator holds is not in use");
    put_arena(page, trial);
    const struct assay__allocation_phase *phase = shown_phase(a);
    if (!phase) return;
    put_classes(page, a, phase);
    put_sites(page, a, phase);
}
