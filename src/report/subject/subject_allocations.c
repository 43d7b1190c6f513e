/* subject_allocations.c - what was allocated, counted in a separate launch: by phase of the
 * worker's life, by size and by caller; growth per inference, and how much of the heap is in use.
 * CSV has phases, sizes and callers as rows of one table. */
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

static const struct assay__column columns[] = {
    {.key = "trial"},           {.key = "phase"},       {.key = "kind"},
    {.key = "low_bytes"},       {.key = "high_bytes"},  {.key = "site"},
    {.key = "inferences"},      {.key = "count"},       {.key = "bytes"},
    {.key = "freed_count"},     {.key = "freed_bytes"}, {.key = "live_bytes"},
    {.key = "peak_live_bytes"}, {.key = "note"},
};

static void begin_row(struct assay__table *t, int trial, const char *phase, const char *kind)
{
    assay__table_row(t, ASSAY__ROW_DATA, NULL);
    assay__table_number(t, trial, ASSAY_MEASURED);
    assay__table_texts(t, phase, kind);
}

static void put_phase(struct assay__table *t, const struct assay__allocation_phase *p)
{
    assay__table_numbers(t, ASSAY_MEASURED, p->inferences < 0 ? NAN : (double)p->inferences,
                         p->count, p->bytes, p->freed_count, p->freed_bytes, p->live_bytes,
                         p->peak_live_bytes);
}

static void add_data(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    struct assay__table *t = assay__doc_table(doc, "allocations", NULL, columns);
    for (size_t i = 0; i < a->phase_count; i++) {
        begin_row(t, trial->id, a->phases[i].name, "phase");
        assay__table_skip(t, 3);
        put_phase(t, &a->phases[i]);
    }
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        begin_row(t, trial->id, c->phase, "size");
        assay__table_numbers(t, ASSAY_MEASURED, c->low_bytes, c->high_bytes);
        assay__table_skip(t, 2);
        assay__table_numbers(t, ASSAY_MEASURED, c->count, c->bytes);
    }
    for (size_t i = 0; i < a->site_count; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        begin_row(t, trial->id, s->phase, "site");
        assay__table_skip(t, 2);
        assay__table_text(t, s->site);
        assay__table_numbers(t, ASSAY_MEASURED, NAN, s->count, s->bytes, NAN, NAN, s->live_bytes);
    }
    if (!*a->reason) return;
    begin_row(t, trial->id, "", "unavailable");
    assay__table_skip(t, t->column_count - 4);
    assay__table_text(t, a->reason);
}

static const struct assay__column phase_columns[] = {
    {.title = "phase", .flags = ASSAY__COLUMN_NAME},
    {.title = "inferences", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {.title = "allocations", .unit = ASSAY__UNIT_COUNT},
    {.title = "bytes", .unit = "B"},
    {.title = "freed", .unit = ASSAY__UNIT_COUNT, .priority = 3},
    {.title = "freed bytes", .unit = "B", .priority = 4},
    {.title = "live", .unit = "B"},
    {.title = "peak live", .unit = "B", .priority = 2},
};

/* The metric with its name, or why it is unknown. */
static void add_metric(struct assay__doc *doc, const struct assay__trial *trial, const char *name,
                       const char *after)
{
    const struct assay_metric *m = assay_metrics_get(trial->metrics, name);
    if (!m) return;
    assay__doc_item_after(doc, NULL, assay__datum_metric(m),
                          assay__trial_metric(trial, name) ? after : NULL);
}

static void add_facts(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    const struct assay_metric *bytes = assay__trial_metric(trial, "memory.allocated");
    const struct assay_metric *count = assay__trial_metric(trial, "memory.allocations");
    bool one = count && count->value == 1;
    assay__doc_fact(doc, "inference");
    add_metric(doc, trial, "memory.allocations",
               one ? "allocation by malloc and related functions, once warm"
                   : "allocations by malloc and related functions, once warm");
    if (bytes) add_metric(doc, trial, "memory.allocated", "requested");
    /* Growth of live memory; a profile without the metric may have the numbers. */
    const struct assay_metric *growth = assay_metrics_get(trial->metrics, "memory.growth");
    const char *within = "", *note = growth ? growth->note : "";
    if (isfinite(a->growth_low) && isfinite(a->growth_high))
        within = assay__doc_printf(doc, " (95 %%: %s to %s)",
                                   assay__scaled(a->growth_low, "B").text,
                                   assay__scaled(a->growth_high, "B").text);
    const char *after = assay__doc_printf(doc, "per inference%s%s%s", within, *note ? ": " : "",
                                          note);
    assay__doc_fact(doc, "growth");
    add_metric(doc, trial, "memory.growth", after);
    if (!growth && isfinite(a->growth_bytes))
        assay__doc_item_after(doc, NULL, assay__derived(a->growth_bytes, "B"), after);
    assay__doc_fact(doc, "heap");
    add_metric(doc, trial, "memory.heap.peak", "peak, as requested");
    assay__doc_fact(doc, "fragmented");
    add_metric(doc, trial, "memory.fragmentation",
               "of the memory held by the C library's allocator is unused");
    assay__doc_fact(doc, "arena");
    add_metric(
        doc, trial, "memory.arena.allocations",
        "allocations served per inference; they never reach malloc and are not counted above");
    if (!isfinite(a->slowdown)) return;
    assay__doc_fact(doc, "cost");
    assay__doc_item_after(doc, "latency", assay__derived(a->slowdown, ASSAY__UNIT_FACTOR),
                          "while allocations are counted");
}

/* The first numbers are per inference for a phase with inferences, otherwise totals. */
static const struct assay__column size_columns[] = {
    {.title = "phase", .priority = 2},
    {.title = "size", .flags = ASSAY__COLUMN_NAME},
    {.title = "allocations", .unit = ASSAY__UNIT_COUNT},
    {.title = "bytes", .unit = "B"},
    {.title = "bar", .unit = "ratio", .priority = 4, .flags = ASSAY__COLUMN_BAR},
    {.title = "total", .unit = ASSAY__UNIT_COUNT, .priority = 5},
    {.title = "total bytes", .unit = "B", .priority = 5},
};

static const struct assay__column site_columns[] = {
    {.title = "phase", .flags = ASSAY__COLUMN_NAME},
    {.title = "allocations", .unit = ASSAY__UNIT_COUNT},
    {.title = "bytes", .unit = "B"},
    {.title = "live", .unit = "B"},
    {.title = "total", .unit = ASSAY__UNIT_COUNT, .priority = 5},
    {.title = "total bytes", .unit = "B", .priority = 5},
    {.title = "from, innermost first", .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_CODE},
};

/* The most interesting phase: the warm one, else the last that allocated; NULL: none did. */
static const struct assay__allocation_phase *first_phase(const struct assay__allocations *a)
{
    const struct assay__allocation_phase *shown = NULL;
    for (size_t i = 0; i < a->phase_count; i++)
        if (a->phases[i].count > 0 && !(shown && strcmp(shown->name, "warm") == 0))
            shown = &a->phases[i];
    return shown;
}

/* Rows of the most interesting phase, per inference; or those of the others, as totals. */
struct choice {
    const char *phase;
    bool others;
    double runs; /* NaN: in all */
};

static bool is_chosen(const struct choice *choice, const char *phase)
{
    return (strcmp(phase, choice->phase) != 0) == choice->others;
}

static void put_counts(struct assay__table *t, double count, double bytes, double runs)
{
    bool each = isfinite(runs);
    assay__table_numbers(t, each ? ASSAY_DERIVED : ASSAY_MEASURED, each ? count / runs : count,
                         each ? bytes / runs : bytes);
}

/* "64 B", "1 KiB": the limits are powers of two. */
static const char *size_text(struct assay__doc *doc, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; unit < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0; unit++)
        bytes /= 1024;
    return assay__doc_printf(doc, "%.15g %s", bytes, units[unit]);
}

static double most_of(const struct assay__allocations *a, const char *phase)
{
    double most = 0;
    for (size_t i = 0; i < a->class_count; i++)
        if (strcmp(a->classes[i].phase, phase) == 0 && a->classes[i].count > most)
            most = a->classes[i].count;
    return most > 0 ? most : 1;
}

static void add_sizes(struct assay__doc *doc, const struct assay__allocations *a,
                      const struct choice *choice)
{
    struct assay__table *t = assay__doc_table(doc, NULL, "Allocations by size", size_columns);
    for (size_t i = 0; i < a->class_count; i++) {
        const struct assay__allocation_class *c = &a->classes[i];
        if (!is_chosen(choice, c->phase)) continue;
        const char *low = size_text(doc, c->low_bytes);
        assay__table_row_of(
            t, 0, c->phase,
            isfinite(c->high_bytes)
                ? assay__doc_printf(doc, "%s to %s", low, size_text(doc, c->high_bytes))
                : assay__doc_printf(doc, "%s and more", low));
        put_counts(t, c->count, c->bytes, choice->runs);
        assay__table_number(t, c->count / most_of(a, c->phase), ASSAY_MEASURED);
        if (isfinite(choice->runs)) put_counts(t, c->count, c->bytes, NAN);
    }
}

static void add_sites(struct assay__doc *doc, const struct assay__allocations *a,
                      const struct choice *choice)
{
    struct assay__table *t = assay__doc_table(doc, NULL, "Allocations by caller", site_columns);
    t->more = "callers";
    for (size_t i = 0; i < a->site_count; i++) {
        const struct assay__allocation_site *s = &a->sites[i];
        if (!is_chosen(choice, s->phase)) continue;
        assay__table_row_of(t, 0, s->phase);
        put_counts(t, s->count, s->bytes, choice->runs);
        assay__table_number(t, s->live_bytes, ASSAY_MEASURED);
        if (isfinite(choice->runs))
            put_counts(t, s->count, s->bytes, NAN);
        else
            assay__table_skip(t, 2);
        assay__table_text(t, s->site);
    }
}

static void add_details(struct assay__doc *doc, const struct assay__allocations *a)
{
    const struct assay__allocation_phase *first = first_phase(a);
    if (!first) return;
    bool each = first->inferences > 0;
    struct choice chosen = {first->name, false, each ? (double)first->inferences : (double)NAN},
                  others = {first->name, true, NAN};
    const char *remark = assay__doc_printf(
        doc, each ? "phase %s, per inference" : "phase %s, total", first->name);
    assay__doc_section(doc, NULL, "Allocations by size", remark, ASSAY__SECTION_HALF);
    add_sizes(doc, a, &chosen);
    assay__doc_end(doc);
    remark = assay__doc_printf(doc, "%s; live: at its end", remark);
    assay__doc_section(doc, NULL, "Allocations by caller", remark, ASSAY__SECTION_HALF);
    add_sites(doc, a, &chosen);
    assay__doc_end(doc);
    assay__doc_fold(doc, NULL, "Allocations of the other phases", "totals by size and by caller");
    add_sizes(doc, a, &others);
    add_sites(doc, a, &others);
    assay__doc_end(doc);
}

void assay__add_allocations(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__allocations *a = &trial->allocations;
    if (!a->reason) return;                                      /* not asked for */
    bool traced = a->phase_count && a->phases[0].inferences < 0; /* a program of the user's */
    assay__doc_section(doc, "allocations",
                       traced ? assay__doc_printf(doc, "Allocations of %s", trial->label)
                              : "Allocations",
                       traced ? "live: when it ended"
                              : "counted in a separate launch; live: at the end of the phase",
                       ASSAY__TAB_MEMORY | ASSAY__SECTION_DECK);
    assay__doc_say(doc, ASSAY__TONE_NOTE, a->reason);
    if (a->phase_count) {
        struct assay__table *t = assay__doc_table(
            doc, NULL, "Allocations by phase of the worker's life", phase_columns);
        for (size_t i = 0; i < a->phase_count; i++) {
            assay__table_row_of(t, 0, a->phases[i].name);
            put_phase(t, &a->phases[i]);
        }
        if (trial->metrics) add_facts(doc, trial);
        add_details(doc, a);
    }
    assay__doc_end(doc);
    add_data(doc, trial);
}

const struct assay__subject assay__subject_allocations = {"allocations",
                                                          ASSAY__OF_TRIAL,
                                                          assay__add_allocations,
                                                          {{"allocations", ASSAY__ARRAY(columns)}}};
