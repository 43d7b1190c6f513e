/* subject_series.c - everything that was read over time, channel by channel: how often, from where,
 * lowest and highest; what could not be read and why. Programs get every reading, and the spans of
 * the run. */
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

static const struct assay__column columns[] = {
    {.title = "channel", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {.title = "launch", .unit = ASSAY__UNIT_COUNT, .priority = 4},
    {.title = "readings", .unit = ASSAY__UNIT_COUNT, .priority = 1},
    {.title = "min", .unit = ""},
    {.title = "max", .unit = ""},
    {.title = "grew by", .unit = ""},
    {.title = "updated every", .unit = "s", .priority = 3},
    {.title = "state", .priority = 5},
    {.title = "source", .priority = 2},
    {.title = "note", .flags = ASSAY__COLUMN_PROSE},
};

struct range {
    size_t known;
    double low, high, last;
};

static struct range range_of(const struct assay__series_info *s)
{
    struct range r = {0, NAN, NAN, NAN};
    for (size_t i = 0; s->values && i < s->count; i++) {
        if (!isfinite(s->values[i])) continue;
        r.low = fmin(r.low, s->values[i]);
        r.high = fmax(r.high, s->values[i]);
        r.last = s->values[i];
        r.known++;
    }
    return r;
}

/* In the series' own unit; counts have none. */
static struct assay__datum value_of(const struct assay__series_info *s, double number)
{
    bool things = strcmp(s->unit, "1") == 0 && number == trunc(number);
    if (!isfinite(number)) return assay__datum_none();
    return assay__datum_number(number, things ? ASSAY__UNIT_COUNT : s->unit, s->state);
}

static struct assay__datum period_of(struct assay__doc *doc, const struct assay__series_info *s)
{
    struct assay__datum value = assay__measured(s->period_s, "s");
    if (!isfinite(s->period_s)) return assay__datum_none();
    if (s->period_is_bound)
        value.text = assay__doc_printf(doc, "≤ %s", assay__scaled(s->period_s, "s").text);
    return value;
}

/* A power channel whose name lacks its rail shows both, because metrics are named by rail:
 * "power.battery (system)". */
static const char *name_of(struct assay__doc *doc, const struct assay__series_info *s)
{
    bool both = s->rail && *s->rail && strcmp(s->quantity, "power") == 0 &&
                !strstr(s->name, s->rail);
    return both ? assay__doc_printf(doc, "%s (%s)", s->name, s->rail) : s->name;
}

static const struct assay__column reading_columns[] = {
    {.key = "trial"}, {.key = "launch"}, {.key = "name"},  {.key = "seq"},    {.key = "time_s"},
    {.key = "value"}, {.key = "unit"},   {.key = "state"}, {.key = "source"}, {.key = "note"},
};

/* A channel without readings is one row with the reason. */
static void fill_reading(const struct assay__table *table, size_t row, struct assay__datum *cells)
{
    const struct assay__series_info *s = table->context;
    bool any = s->count > 0, known = any && isfinite(s->values[row]);
    cells[0] = assay__datum_count(table->trial);
    cells[1] = assay__datum_count(s->launch);
    cells[2] = assay__datum_text(s->name);
    if (any) {
        cells[3] = assay__datum_count((double)row);
        cells[4] = assay__measured(s->times_ns[row] / 1e9, "s");
        cells[5] = assay__measured(s->values[row], s->unit);
    }
    cells[6] = assay__datum_text(s->unit);
    cells[7] = assay__datum_text(assay_state_name(known ? s->state : ASSAY_UNAVAILABLE));
    cells[8] = assay__datum_text(s->source);
    /* Only once: a million rows of the same sentence carry no information. */
    cells[9] = assay__datum_text(row ? "" : s->note);
}

static void add_readings(struct assay__doc *doc, const struct assay__trial *trial)
{
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        struct assay__table *t = assay__doc_table(doc, "series", NULL, reading_columns);
        t->fill = fill_reading;
        t->context = s;
        t->row_count = s->count ? s->count : 1;
        t->trial = trial->id;
    }
}

static const struct assay__column span_columns[] = {
    {.key = "trial"},
    {"launch", "launch", .unit = ASSAY__UNIT_COUNT},
    {"kind", "what", .flags = ASSAY__COLUMN_NAME},
    {"begin_s", "from", .unit = "s"},
    {"end_s", "to", .unit = "s"},
    {"completions", "inferences", .unit = ASSAY__UNIT_COUNT},
};

static void add_spans(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (!trial->span_count) return;
    struct assay__table *t = assay__doc_table(doc, "spans", "Phases of the run", span_columns);
    t->more = "spans";
    for (size_t i = 0; i < trial->span_count; i++) {
        const struct assay__span *s = &trial->spans[i];
        assay__table_row(t, 0, NULL);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        struct assay__datum launch = assay__datum_count(s->launch);
        /* people see nothing for readings that belong to no launch */
        if (!s->launch) launch.text = "";
        assay__table_cell(t, launch);
        assay__table_text(t, s->kind);
        assay__table_numbers(t, ASSAY_MEASURED, s->begin_ns / 1e9, s->end_ns / 1e9);
        if (s->completions >= 0) assay__table_number(t, (double)s->completions, ASSAY_MEASURED);
    }
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (!trial->series_count && !trial->span_count) return;
    assay__doc_section(doc, "series", "Read over time", NULL,
                       ASSAY__TAB_EVIDENCE | ASSAY__SECTION_QUIET);
    assay__doc_fold(doc, NULL, "Read over time", NULL);
    struct assay__table *t = assay__doc_table(doc, NULL, "Channels read over time", columns);
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        struct range r = range_of(s);
        assay__table_row_of(t, 0, name_of(doc, s));
        assay__table_known(t, s->launch > 0 ? s->launch : (double)NAN, ASSAY_MEASURED);
        assay__table_known(t, r.known ? (double)r.known : (double)NAN, ASSAY_MEASURED);
        assay__table_cell(t, value_of(s, s->counter ? (double)NAN : r.low));
        assay__table_cell(t, value_of(s, s->counter ? (double)NAN : r.high));
        assay__table_cell(t, value_of(s, s->counter ? r.last : (double)NAN)); /* since the first */
        assay__table_cell(t, period_of(doc, s));
        assay__table_texts(t, assay_state_name(s->state), s->source, s->note);
    }
    add_spans(doc, trial);
    assay__doc_end(doc);
    assay__doc_end(doc);
    add_readings(doc, trial);
}

const struct assay__subject assay__subject_series = {
    "series",
    ASSAY__OF_TRIAL,
    build,
    {{"series", ASSAY__ARRAY(reading_columns)}, {"spans", ASSAY__ARRAY(span_columns)}}};
