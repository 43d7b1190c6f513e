/* ceiling_list.c - measured ceilings. For the CPU, people see one core next to all cores: the two
 * rows that share a data type, or level and pattern, are one line, in the order of the set. A
 * device's ceilings are shown with the share of the published peak that they reach. CSV has a row
 * per ceiling. */
#include "report/report_machine.h"

#include "base/text.h"
#include "ceiling/published.h"

#include <math.h>
#include <string.h>

/* above this, a repeat was disturbed and the exact number is meaningless */
#define WIDEST_SPREAD 9.995

static const char *const kind_names[] = {"compute", "bandwidth", "latency"};

static struct assay__datum number(const struct assay__ceiling *row, double value)
{
    return assay__datum_number(value, row->unit, row->state);
}

/* If unknown, with the reason. row NULL: empty. */
static struct assay__datum best(const struct assay__ceiling *row)
{
    if (!row) return assay__datum_none();
    return row->state == ASSAY_UNAVAILABLE ? assay__datum_unknown(row->note)
                                           : number(row, row->value);
}

static struct assay__datum spread(const struct assay__ceiling *row)
{
    double share = row ? assay__ceiling_spread(row) : (double)NAN;
    if (isnan(share)) return assay__datum_none();
    struct assay__datum value = assay__measured(share, "ratio");
    if (share > WIDEST_SPREAD) value.text = "> 999 %";
    return value;
}

/* What a row is called: "float32", "dram triad". */
static const char *label(struct assay__doc *doc, const struct assay__ceiling *row)
{
    const char *what = row->kind == ASSAY__CEILING_COMPUTE ? row->type : row->level;
    return assay__doc_printf(doc, "%s%s%s", what, *row->pattern ? " " : "", row->pattern);
}

/* How it was measured: the instruction, or the working set. */
static const char *means(struct assay__doc *doc, const struct assay__ceiling *row)
{
    if (!row || row->state == ASSAY_UNAVAILABLE) return "";
    if (row->kind == ASSAY__CEILING_LATENCY && row->working_set_bytes)
        return assay__doc_printf(doc, "chain through %s",
                                 assay__scaled((double)row->working_set_bytes, "B").text);
    return assay__doc_printf(doc, "%s%s%s", row->simd, *row->simd && *row->variant ? " " : "",
                             row->variant);
}

struct line {
    const struct assay__ceiling *first; /* what the line is known by */
    const struct assay__ceiling *one, *all;
};

static bool same_line(const struct assay__ceiling *a, const struct assay__ceiling *b)
{
    return a->kind == b->kind && strcmp(a->type, b->type) == 0 && strcmp(a->level, b->level) == 0 &&
           strcmp(a->pattern, b->pattern) == 0;
}

static bool is_all_cores(const struct assay__ceiling *row)
{
    static const char end[] = ".all-cores";
    size_t length = strlen(row->name), tail = sizeof end - 1;
    return length >= tail && strcmp(row->name + length - tail, end) == 0;
}

static void put_line(struct assay__table *t, const struct line *line)
{
    const char *one = means(t->doc, line->one), *all = means(t->doc, line->all);
    bool differ = *one && *all && strcmp(one, all) != 0;
    assay__table_row_of(t, 0, label(t->doc, line->first));
    assay__table_cell(t, best(line->one));
    assay__table_cell(t, spread(line->one));
    assay__table_cell(t, best(line->all));
    assay__table_cell(t, spread(line->all));
    assay__table_text(t, differ ? assay__doc_printf(t->doc, "%s | %s", one, all)
                         : *one ? one
                                : all);
}

static void add_cpu_kind(struct assay__doc *doc, const struct line *lines, size_t count,
                         enum assay__ceiling_kind kind, const char *all_cores)
{
    static const struct assay__column columns[] = {
        {.title = "", .flags = ASSAY__COLUMN_NAME},
        {.title = "one core", .unit = "FLOP/s", .flags = ASSAY__COLUMN_KEEP},
        {.title = "spread", .unit = "ratio", .priority = 2},
        {.title = "", .unit = "FLOP/s"},
        {.title = "spread", .unit = "ratio", .priority = 3},
        {.title = "with", .priority = 1, .flags = ASSAY__COLUMN_PROSE},
    };
    enum { COUNT = sizeof columns / sizeof columns[0], ALL = 3 };
    struct assay__column *own = assay__doc_columns(doc, columns, COUNT, 0);
    if (!own) return;
    own[0].title = kind_names[kind];
    own[ALL].title = all_cores;
    for (size_t i = 0; i < count; i++)
        if (lines[i].first->kind == kind && lines[i].all) own[ALL].flags |= ASSAY__COLUMN_KEEP;
    struct assay__table *t = assay__doc_add_table(doc, NULL, kind_names[kind], own, COUNT);
    for (size_t i = 0; i < count; i++)
        if (lines[i].first->kind == kind) put_line(t, &lines[i]);
}

/* Rows that differ only in the number of cores are one line. */
static void add_cpu(struct assay__doc *doc, const struct assay__ceilings *set)
{
    struct line *lines = assay__doc_array(doc, set->count + 1, sizeof *lines);
    size_t count = 0;
    int threads = 0;
    for (size_t i = 0; lines && i < set->count; i++) {
        const struct assay__ceiling *row = &set->rows[i];
        size_t at = 0;
        while (at < count && !same_line(lines[at].first, row))
            at++;
        if (at == count) lines[count++] = (struct line){.first = row};
        if (!is_all_cores(row)) {
            lines[at].one = row;
            continue;
        }
        lines[at].all = row;
        if (row->threads > threads) threads = row->threads;
    }
    const char *all = threads ? assay__doc_printf(doc, "all cores (%d)", threads) : "all cores";
    for (int kind = ASSAY__CEILING_COMPUTE; lines && kind <= ASSAY__CEILING_LATENCY; kind++)
        add_cpu_kind(doc, lines, count, (enum assay__ceiling_kind)kind, all);
}

static void add_device_kind(struct assay__doc *doc, const struct assay__ceilings *set,
                            enum assay__ceiling_kind kind)
{
    static const struct assay__column columns[] = {
        {.title = "", .flags = ASSAY__COLUMN_NAME},
        {.title = "best", .unit = "FLOP/s", .flags = ASSAY__COLUMN_KEEP},
        {.title = "median", .unit = "FLOP/s", .priority = 3},
        {.title = "spread", .unit = "ratio", .priority = 1},
        {.title = "of published", .unit = "ratio", .priority = 1},
        {.title = "published peak", .unit = "FLOP/s", .priority = 2},
        {.title = "with", .priority = 4, .flags = ASSAY__COLUMN_PROSE},
    };
    enum { COUNT = sizeof columns / sizeof columns[0] };
    struct assay__column *own = assay__doc_columns(doc, columns, COUNT, 0);
    if (!own) return;
    own[0].title = kind_names[kind];
    struct assay__datum none = assay__datum_none();
    struct assay__table *t = assay__doc_add_table(doc, NULL, kind_names[kind], own, COUNT);
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *row = &set->rows[i];
        struct assay__published peak;
        if (row->kind != kind) continue;
        bool known = row->state != ASSAY_UNAVAILABLE &&
                     assay__published_find(set->hardware, row->name, &peak);
        assay__table_row_of(t, 0, label(doc, row));
        assay__table_cell(t, best(row));
        assay__table_cell(t, isfinite(row->median) ? number(row, row->median) : none);
        assay__table_cell(t, spread(row));
        assay__table_cell(t, known ? assay__derived(row->value / peak.value, NULL) : none);
        assay__table_cell(t, known ? assay__datum_number(peak.value, row->unit, ASSAY_PUBLISHED)
                                   : none);
        assay__table_text(t, means(doc, row));
    }
}

static void add_device(struct assay__doc *doc, const struct assay__ceilings *set)
{
    struct assay__published peak;
    for (int kind = ASSAY__CEILING_COMPUTE; kind <= ASSAY__CEILING_LATENCY; kind++)
        add_device_kind(doc, set, (enum assay__ceiling_kind)kind);
    for (size_t i = 0; i < set->count; i++) {
        if (!assay__published_find(set->hardware, set->rows[i].name, &peak)) continue;
        assay__doc_note(doc, "Published: %s.", peak.source);
        doc->marks = true; /* shares are derived */
        return;
    }
}

/* Each note once, with the rows that have it. Reasons are already listed below the tables. */
static void add_notes(struct assay__doc *doc, const struct assay__ceilings *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *row = &set->rows[i];
        bool done = !*row->note || row->state == ASSAY_UNAVAILABLE;
        for (size_t k = 0; k < i && !done; k++)
            done = set->rows[k].state != ASSAY_UNAVAILABLE &&
                   strcmp(set->rows[k].note, row->note) == 0;
        if (done) continue;
        struct assay__buf names = {0};
        for (size_t k = i; k < set->count; k++)
            if (set->rows[k].state != ASSAY_UNAVAILABLE &&
                strcmp(set->rows[k].note, row->note) == 0)
                assay__buf_join(&names, set->rows[k].name);
        const char *all = assay__doc_take(doc, &names);
        assay__doc_point(doc, "%s: %s", all, row->note);
    }
}

void assay__add_ceilings(struct assay__doc *doc, const struct assay__ceilings *set,
                         const char *name)
{
    const char *hardware = name && set->hardware ? set->hardware : "";
    const char *title = name ? assay__doc_printf(doc, "Ceilings of %s", name)
                             : "Ceilings of the CPU";
    assay__doc_section(doc, NULL, title, *hardware ? hardware : NULL, 0);
    assay__doc_fact(doc, "measured");
    assay__doc_item_text(doc, "%s", *set->measured_at ? set->measured_at : "at an unknown time");
    assay__doc_item(doc, "in", assay__measured(set->duration_s, "s"));
    if (set->from_cache) assay__doc_item_text(doc, "loaded from file");
    if (!set->pinned) assay__doc_item_text(doc, "threads were not pinned to their cores");
    if (!set->complete) assay__doc_item_text(doc, "incomplete");
    bool harmless = name && set->complete;
    assay__doc_say(doc, harmless ? ASSAY__TONE_NOTE : ASSAY__TONE_WARN, set->note);
    if (name)
        add_device(doc, set);
    else
        add_cpu(doc, set);
    add_notes(doc, set);
    assay__doc_end(doc);
}

static const struct assay__column data_columns[] = {
    {.key = "device"},
    {.key = "name"},
    {.key = "value"},
    {.key = "unit"},
    {.key = "low"},
    {.key = "high"},
    {.key = "state"},
    {.key = "source"},
    {.key = "note"},
    {.key = "measured_at"},
    {.key = "median"},
    {.key = "spread"},
    {.key = "repeats"},
    {.key = "threads"},
    {.key = "with"},
    {.key = "working_set_bytes"},
    {.key = "clock_before_hz"},
    {.key = "clock_after_hz"},
    {.key = "published"},
    {.key = "published_source"},
};

struct assay__table *assay__add_ceiling_table(struct assay__doc *doc)
{
    return assay__doc_table(doc, "ceilings", NULL, data_columns);
}

void assay__add_ceiling_rows(struct assay__table *table, const struct assay__ceilings *set,
                             const char *device)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *row = &set->rows[i];
        struct assay__published peak;
        bool published = assay__published_find(set->hardware, row->name, &peak);
        assay__table_row_of(table, 0, device, row->name);
        assay__table_number(table, row->value, row->state);
        assay__table_text(table, row->unit);
        assay__table_numbers(table, row->state, row->low, row->high);
        assay__table_texts(table, assay_state_name(row->state), row->source, row->note,
                           set->measured_at);
        assay__table_numbers(table, row->state, row->median, assay__ceiling_spread(row));
        assay__table_numbers(table, ASSAY_MEASURED, row->repeats,
                             row->threads > 0 ? row->threads : NAN);
        assay__table_text(table, means(table->doc, row));
        assay__table_numbers(table, ASSAY_MEASURED,
                             row->working_set_bytes ? (double)row->working_set_bytes : NAN,
                             row->clock_before_hz, row->clock_after_hz);
        assay__table_number(table, published ? peak.value : (double)NAN, ASSAY_PUBLISHED);
        assay__table_text(table, published ? peak.source : "");
    }
}
