/* subject_allocations.c - what was allocated in a launch of its own: by phase of the worker's life,
 * by size and by caller; growth per inference, and how much of the heap is in use. CSV has phases,
 * sizes and callers as rows of one table. */
#include "report/subject/subject.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- for programs ----------------------------------------------------------------------------- */

static const struct assay__column columns[] = {
    {"trial", NULL, ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {"phase", NULL, NULL, 0, 0, 0, 0},
    {"kind", NULL, NULL, 0, 0, 0, 0},
    {"low_bytes", NULL, "B", 0, 0, 0, 0},
    {"high_bytes", NULL, "B", 0, 0, 0, 0},
    {"site", NULL, NULL, 0, 0, 0, 0},
    {"inferences", NULL, ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {"count", NULL, ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {"bytes", NULL, "B", 0, 0, 0, 0},
    {"freed_count", NULL, ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {"freed_bytes", NULL, "B", 0, 0, 0, 0},
    {"live_bytes", NULL, "B", 0, 0, 0, 0},
    {"peak_live_bytes", NULL, "B", 0, 0, 0, 0},
    {"note", NULL, NULL, 0, 0, 0, 0},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static void begin_row(struct assay__table *t, int trial, const char *phase, const char *kind)
{
    assay__table_row(t, ASSAY__ROW_DATA, NULL);
    assay__table_number(t, trial, ASSAY_MEASURED);
    assay__table_text(t, phase);
    assay__table_text(t, kind);
}

static void put_numbers(struct assay__table *t, const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__table_number(t, numbers[i], ASSAY_MEASURED);
}

static double inferences_of(const struct assay__allocation_phase *phase)
{
    return phase->inferences < 0 ? (double)NAN : (double)phase->inferences;
}

static void add_data(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    struct assay__table *t = assay__doc_table(
        doc, &(struct assay__table){.name = "allocations", .data = true}, columns, COLUMN_COUNT);
    for (size_t i = 0; i < a->phase_count; i++) {
        const struct assay__allocation_phase *p = &a->phases[i];
        begin_row(t, trial->id, p->name, "phase");
        assay__table_skip(t, 3);
        put_numbers(t,
                    (const double[]){inferences_of(p), p->count, p->bytes, p->freed_count,
                                     p->freed_bytes, p->live_bytes, p->peak_live_bytes},
                    7);
    }
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        begin_row(t, trial->id, c->phase, "size");
        put_numbers(t, (const double[]){c->low_bytes, c->high_bytes}, 2);
        assay__table_skip(t, 2);
        put_numbers(t, (const double[]){c->count, c->bytes}, 2);
    }
    for (size_t i = 0; i < a->site_count; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        begin_row(t, trial->id, s->phase, "site");
        assay__table_skip(t, 2);
        assay__table_text(t, s->site);
        put_numbers(t, (const double[]){NAN, s->count, s->bytes, NAN, NAN, s->live_bytes}, 6);
    }
    if (!*a->reason) return;
    begin_row(t, trial->id, "", "unavailable");
    assay__table_skip(t, COLUMN_COUNT - 4);
    assay__table_text(t, a->reason);
}

/* --- by phase --------------------------------------------------------------------------------- */

static const struct assay__column phase_columns[] = {
    {NULL, "phase", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {NULL, "inferences", ASSAY__UNIT_COUNT, 0, 1, 0, 0},
    {NULL, "allocations", ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {NULL, "bytes", "B", 0, 0, 0, 0},
    {NULL, "freed", ASSAY__UNIT_COUNT, 0, 3, 0, 0},
    {NULL, "freed bytes", "B", 0, 4, 0, 0},
    {NULL, "live at its end", "B", 0, 0, 0, 0},
    {NULL, "live at most", "B", 0, 2, 0, 0},
};
#define PHASE_COLUMNS (sizeof phase_columns / sizeof phase_columns[0])

static void add_phases(struct assay__doc *doc, const struct assay__allocations *a)
{
    struct assay__table *t = assay__doc_table(
        doc, &(struct assay__table){.caption = "Allocations by phase of the worker's life"},
        phase_columns, PHASE_COLUMNS);
    for (size_t i = 0; i < a->phase_count; i++) {
        const struct assay__allocation_phase *p = &a->phases[i];
        assay__table_row(t, 0, NULL);
        assay__table_text(t, p->name);
        put_numbers(t,
                    (const double[]){inferences_of(p), p->count, p->bytes, p->freed_count,
                                     p->freed_bytes, p->live_bytes, p->peak_live_bytes},
                    7);
    }
}

/* --- facts ------------------------------------------------------------------------------------ */

/* An interval of bytes per inference: "(95 %: -3 B to 12 B)"; "" not known. */
static const char *growth_interval(struct assay__doc *doc, const struct assay__allocations *a)
{
    struct assay__buf low = {0}, high = {0};
    struct assay__datum ends[] = {assay__datum_number(a->growth_low, "B", ASSAY_MEASURED),
                                  assay__datum_number(a->growth_high, "B", ASSAY_MEASURED)};
    if (!isfinite(a->growth_low) || !isfinite(a->growth_high)) return "";
    assay__datum_print(&low, &ends[0], NULL, 0);
    assay__datum_print(&high, &ends[1], NULL, 0);
    const char *text = assay__doc_printf(doc, " (95 %%: %s to %s)", low.data ? low.data : "",
                                         high.data ? high.data : "");
    if (low.failed || high.failed) doc->failed = true;
    assay__buf_free(&low);
    assay__buf_free(&high);
    return text;
}

/* The metric with its words, or why it is not known. */
static void add_metric(struct assay__doc *doc, const struct assay__trial *trial, const char *name,
                       const char *after)
{
    const struct assay_metric *m = assay_metrics_get(trial->metrics, name);
    if (!m) return;
    assay__doc_item_after(doc, NULL, assay__datum_metric(m),
                          assay__trial_metric(trial, name) ? after : NULL);
}

/* Of live memory; a profile without the metric may have the numbers. */
static void add_growth(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    const struct assay_metric *growth = assay_metrics_get(trial->metrics, "memory.growth");
    const char *after = assay__doc_printf(doc, "per inference%s%s%s", growth_interval(doc, a),
                                          growth && *growth->note ? ": " : "",
                                          growth ? growth->note : "");
    assay__doc_fact(doc, "growth");
    add_metric(doc, trial, "memory.growth", after);
    if (!growth && isfinite(a->growth_bytes))
        assay__doc_item_after(doc, NULL, assay__datum_number(a->growth_bytes, "B", ASSAY_DERIVED),
                              after);
}

static void add_facts(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    const struct assay_metric *bytes = assay__trial_metric(trial, "memory.allocated");
    assay__doc_fact(doc, "inference");
    add_metric(doc, trial, "memory.allocations",
               "allocations of a warm one, by malloc and its relatives");
    if (bytes) add_metric(doc, trial, "memory.allocated", "asked for by them");
    add_growth(doc, trial);
    assay__doc_fact(doc, "heap");
    add_metric(doc, trial, "memory.heap.peak", "live at most, as asked for");
    assay__doc_fact(doc, "fragmented");
    add_metric(doc, trial, "memory.fragmentation",
               "of what the C library's allocator holds is not in use");
    assay__doc_fact(doc, "arena");
    add_metric(doc, trial, "memory.arena.allocations",
               "pieces handed out per inference; they never reach malloc and are not counted "
               "above");
    if (!isfinite(a->slowdown)) return;
    assay__doc_fact(doc, "cost");
    assay__doc_item_after(doc, "latency",
                          assay__datum_number(a->slowdown, ASSAY__UNIT_FACTOR, ASSAY_DERIVED),
                          "while allocations are counted");
}

/* --- by size and by caller -------------------------------------------------------------------- */

static const struct assay__column size_columns[] = {
    {NULL, "phase", NULL, 0, 2, 0, 0},
    {NULL, "size", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {NULL, "allocations", ASSAY__UNIT_COUNT, 0, 3, 0, 0},
    {NULL, "bytes", "B", 0, 3, 0, 0},
    {NULL, "per inference", ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {NULL, "bytes per inference", "B", 0, 1, 0, 0},
    {NULL, "bar", "ratio", 0, 4, ASSAY__COLUMN_BAR, 0},
};
#define SIZE_COLUMNS (sizeof size_columns / sizeof size_columns[0])

static const struct assay__column site_columns[] = {
    {NULL, "phase", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {NULL, "allocations", ASSAY__UNIT_COUNT, 0, 3, 0, 0},
    {NULL, "bytes", "B", 0, 3, 0, 0},
    {NULL, "per inference", ASSAY__UNIT_COUNT, 0, 0, 0, 0},
    {NULL, "bytes per inference", "B", 0, 1, 0, 0},
    {NULL, "live", "B", 0, 0, 0, 0},
    {NULL, "from, innermost first", NULL, 0, 0, ASSAY__COLUMN_PROSE | ASSAY__COLUMN_CODE, 0},
};
#define SITE_COLUMNS (sizeof site_columns / sizeof site_columns[0])

/* Inferences of the phase; NaN: it has none. */
static double runs_of(const struct assay__allocations *a, const char *phase)
{
    for (size_t i = 0; i < a->phase_count; i++)
        if (strcmp(a->phases[i].name, phase) == 0 && a->phases[i].inferences > 0)
            return (double)a->phases[i].inferences;
    return NAN;
}

/* What people look for: the warm phase, else the last that allocated; "" none did. */
static const char *first_phase(const struct assay__allocations *a)
{
    const char *shown = "";
    for (size_t i = 0; i < a->phase_count; i++)
        if (a->phases[i].count > 0 && strcmp(shown, "warm") != 0) shown = a->phases[i].name;
    return shown;
}

/* "64 B", "1 KiB": the limits are powers of two. */
static void size_text(char *out, size_t room, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; unit < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0; unit++)
        bytes /= 1024;
    snprintf(out, room, "%.15g %s", bytes, units[unit]);
}

static const char *range_text(struct assay__doc *doc, const struct assay__allocation_class *c)
{
    char low[64], high[64];
    size_text(low, sizeof low, c->low_bytes);
    size_text(high, sizeof high, c->high_bytes);
    return isfinite(c->high_bytes) ? assay__doc_printf(doc, "%s to below %s", low, high)
                                   : assay__doc_printf(doc, "%s and more", low);
}

static void put_class(struct assay__doc *doc, struct assay__table *t,
                      const struct assay__allocations *a, const struct assay__allocation_class *c,
                      double most)
{
    double runs = runs_of(a, c->phase);
    assay__table_row(t, 0, NULL);
    assay__table_text(t, c->phase);
    assay__table_text(t, range_text(doc, c));
    put_numbers(t, (const double[]){c->count, c->bytes}, 2);
    for (int k = 0; k < 2; k++)
        if (isfinite(runs))
            assay__table_number(t, (k ? c->bytes : c->count) / runs, ASSAY_DERIVED);
        else
            assay__table_skip(t, 1);
    assay__table_number(t, c->count / most, ASSAY_MEASURED);
}

static double most_of(const struct assay__allocations *a, const char *phase)
{
    double most = 0;
    for (size_t i = 0; i < a->class_count; i++)
        if (strcmp(a->classes[i].phase, phase) == 0 && a->classes[i].count > most)
            most = a->classes[i].count;
    return most > 0 ? most : 1;
}

/* Of the phase that people look for, or of the others. */
static void add_sizes(struct assay__doc *doc, const struct assay__allocations *a, bool others)
{
    const char *first = first_phase(a);
    struct assay__table *t = NULL;
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        if ((strcmp(c->phase, first) != 0) != others) continue;
        if (!t)
            t = assay__doc_table(doc,
                                 &(struct assay__table){.caption = "Allocations by size",
                                                        .more = "sizes",
                                                        .limit = SIZE_MAX},
                                 size_columns, SIZE_COLUMNS);
        put_class(doc, t, a, c, most_of(a, c->phase));
    }
}

static void put_site(struct assay__table *t, const struct assay__allocations *a,
                     const struct assay__allocation_site *s)
{
    double runs = runs_of(a, s->phase);
    assay__table_row(t, 0, NULL);
    assay__table_text(t, s->phase);
    put_numbers(t, (const double[]){s->count, s->bytes}, 2);
    for (int k = 0; k < 2; k++)
        if (isfinite(runs))
            assay__table_number(t, (k ? s->bytes : s->count) / runs, ASSAY_DERIVED);
        else
            assay__table_skip(t, 1);
    assay__table_number(t, s->live_bytes, ASSAY_MEASURED);
    assay__table_text(t, s->site);
}

static void add_sites(struct assay__doc *doc, const struct assay__allocations *a, bool others)
{
    const char *first = first_phase(a);
    struct assay__table *t = NULL;
    for (size_t i = 0; i < a->site_count; i++) {
        if ((strcmp(a->sites[i].phase, first) != 0) != others) continue;
        if (!t)
            t = assay__doc_table(
                doc, &(struct assay__table){.caption = "Allocations by caller", .more = "callers"},
                site_columns, SITE_COLUMNS);
        put_site(t, a, &a->sites[i]);
    }
}

static void add_details(struct assay__doc *doc, const struct assay__allocations *a)
{
    assay__doc_section(doc, &(struct assay__heading){.title = "Allocations by size"});
    add_sizes(doc, a, false);
    assay__doc_end(doc);
    assay__doc_section(doc, &(struct assay__heading){.title = "Allocations by caller",
                                                     .remark = "live: at the end of the phase"});
    add_sites(doc, a, false);
    assay__doc_end(doc);
    assay__doc_fold(doc, &(struct assay__heading){.title = "Allocations of the other phases",
                                                  .remark = "by size and by caller"});
    add_sizes(doc, a, true);
    add_sites(doc, a, true);
    assay__doc_end(doc);
}

static void build(struct assay__doc *doc, struct assay__study *study,
                  const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    (void)study;
    if (!a->reason) return; /* not asked for */
    assay__doc_section(doc, &(struct assay__heading){.id = "allocations",
                                                     .title = "Allocations",
                                                     .remark = "counted in a launch of its own",
                                                     .views = ASSAY__VIEW_MACHINE});
    assay__doc_sentence(doc, ASSAY__TONE_NOTE, "%s", a->reason);
    if (a->phase_count) {
        add_phases(doc, a);
        if (trial->metrics) add_facts(doc, trial);
        add_details(doc, a);
    }
    assay__doc_end(doc);
    add_data(doc, trial);
}

const struct assay__subject assay__subject_allocations = {
    .id = "allocations",
    .scope = ASSAY__OF_TRIAL,
    .tables = {{"allocations", columns, COLUMN_COUNT}},
    .build = build};
