/* ceilings.c - measured ceilings as text and JSON. A device's are listed with the share of the
 * published peak that they reach. The CPU's text sets one core beside all cores: a line is what the
 * two rows share (data type; level and pattern), in the order of the set. Notes and reasons follow,
 * each once, with the rows it belongs to. Strings may come from a file and are made safe by the
 * page. */
#include "report/ceilings.h"

#include "base/json.h"
#include "base/text.h"
#include "ceiling/published.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_COLUMNS 12
#define VALUE_COLUMNS 13
#define ALL_COLUMNS 15 /* "all cores (16)" */
#define SPREAD_COLUMNS 8
#define SPREADS_FROM (LABEL_COLUMNS + VALUE_COLUMNS + ALL_COLUMNS + 2 * SPREAD_COLUMNS)
#define MEANS_FROM (SPREADS_FROM + 2 + 16) /* with what: beside it, where that has some room */

double assay__ceiling_spread(const struct assay__ceiling *row)
{
    if (row->state == ASSAY_UNAVAILABLE || !(row->value > 0)) return NAN;
    return (row->high - row->low) / row->value;
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* What the maker says of it, and how much of that was reached; null where nothing is known. */
static void published_json(struct assay__json_writer *json, const struct assay__ceiling *row,
                           const char *hardware)
{
    struct assay__published published;
    bool known = assay__published_find(hardware, row->name, &published);
    assay__json_key(json, "published");
    if (known) {
        assay__json_object(json);
        assay__json_put_number(json, "value", published.value);
        assay__json_put_string(json, "state", assay_state_name(ASSAY_PUBLISHED));
        assay__json_put_string(json, "source", published.source);
        assay__json_object_end(json);
    } else {
        assay__json_null(json);
    }
    assay__json_put_number(json, "share", known ? row->value / published.value : NAN);
}

static void row_json(struct assay__json_writer *json, const struct assay__ceiling *row,
                     const char *hardware)
{
    static const char *const kinds[] = {"compute", "bandwidth", "latency"};
    assay__json_key(json, row->name);
    assay__json_object(json);
    assay__json_put_number(json, "value", row->value);
    assay__json_put_string(json, "unit", row->unit);
    assay__json_put_string(json, "state", assay_state_name(row->state));
    assay__json_put_string(json, "source", row->source);
    assay__json_put_text(json, "note", row->note);
    assay__json_put_string(json, "kind", kinds[row->kind]);
    assay__json_put_number(json, "spread", assay__ceiling_spread(row));
    assay__json_put_number(json, "low", row->low);
    assay__json_put_number(json, "median", row->median);
    assay__json_put_number(json, "high", row->high);
    assay__json_put_integer(json, "repeats", row->repeats);
    assay__json_put_integer(json, "threads", row->threads);
    assay__json_put_text(json, "type", row->type);
    assay__json_put_text(json, "level", row->level);
    assay__json_put_text(json, "pattern", row->pattern);
    assay__json_put_text(json, "simd", row->simd);
    assay__json_put_text(json, "variant", row->variant);
    assay__json_key(json, "working_set_bytes");
    if (row->working_set_bytes)
        assay__json_unsigned(json, row->working_set_bytes);
    else
        assay__json_null(json);
    assay__json_put_number(json, "clock_before_hz", row->clock_before_hz);
    assay__json_put_number(json, "clock_after_hz", row->clock_after_hz);
    if (hardware) published_json(json, row, hardware);
    assay__json_object_end(json);
}

static bool any_measured(const struct assay__ceilings *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i].state != ASSAY_UNAVAILABLE) return true;
    return false;
}

void assay__ceilings_json(struct assay__json_writer *json, const struct assay__ceilings *set,
                          const char *why)
{
    assay__json_key(json, "ceilings");
    assay__json_object(json);
    for (size_t i = 0; set && i < set->count; i++)
        row_json(json, &set->rows[i], set->device && *set->device ? set->hardware : NULL);
    assay__json_object_end(json);
    bool measured = set && any_measured(set);
    assay__json_put_string(json, "ceilings_state", measured ? "measured" : "unavailable");
    if (set && !measured && !*set->note) why = "no row could be measured";
    assay__json_put_text(json, "ceilings_note", set && *set->note ? set->note : why);
    assay__json_key(json, "ceilings_measurement");
    if (!set) {
        assay__json_null(json);
        return;
    }
    assay__json_object(json);
    assay__json_put_text(json, "measured_at", set->measured_at);
    assay__json_put_bool(json, "from_cache", set->from_cache);
    assay__json_put_number(json, "duration_s", set->duration_s);
    assay__json_put_number(json, "steal_share", set->steal_share);
    assay__json_put_number(json, "other_share", set->other_share);
    assay__json_put_bool(json, "pinned", set->pinned);
    assay__json_put_bool(json, "complete", set->complete);
    if (set->device && *set->device) assay__json_put_text(json, "hardware", set->hardware);
    assay__json_object_end(json);
}

/* --- the table -------------------------------------------------------------------------------- */

struct line {
    const struct assay__ceiling *first; /* what the line is known by */
    const struct assay__ceiling *one, *all;
};

static bool same_line(const struct assay__ceiling *a, const struct assay__ceiling *b)
{
    return a->kind == b->kind && strcmp(a->type, b->type) == 0 && strcmp(a->level, b->level) == 0 &&
           strcmp(a->pattern, b->pattern) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Rows into lines; returns how many. lines has room for one per row. */
static size_t pair_rows(const struct assay__ceilings *set, struct line *lines)
{
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *row = &set->rows[i];
        struct line *line = NULL;
        for (size_t k = 0; k < count && !line; k++)
            if (same_line(lines[k].first, row)) line = &lines[k];
        if (!line) {
            line = &lines[count++];
            *line = (struct line){.first = row};
        }
        if (ends_with(row->name, ".all-cores"))
            line->all = row;
        else
            line->one = row;
    }
    return count;
}

static void put_value(struct assay__page *page, const struct assay__ceiling *row, int columns)
{
    char value[64] = "", spread[64] = "";
    if (row) assay__text_scaled(value, sizeof value, row->value, row->unit);
    double share = row ? assay__ceiling_spread(row) : NAN;
    if (share > 9.995) /* one of many repeats was disturbed: how much says nothing */
        snprintf(spread, sizeof spread, "> 999 %%");
    else if (!isnan(share))
        snprintf(spread, sizeof spread, "%.0f %%", share * 100);
    assay__page_right(page, value, columns);
    if (page->columns >= SPREADS_FROM) assay__page_right(page, spread, SPREAD_COLUMNS);
}

static void add_means(struct assay__buf *out, const struct assay__ceiling *row)
{
    if (!row || row->state == ASSAY_UNAVAILABLE) return;
    if (row->kind == ASSAY__CEILING_LATENCY) {
        char bytes[64];
        assay__text_scaled(bytes, sizeof bytes, (double)row->working_set_bytes, "B");
        assay__buf_printf(out, "chain through %s", bytes);
        return;
    }
    assay__buf_puts(out, row->simd);
    if (*row->variant) assay__buf_printf(out, "%s%s", *row->simd ? " " : "", row->variant);
}

static void end_row(struct assay__page *page)
{
    while (page->out->length && page->out->data[page->out->length - 1] == ' ')
        page->out->length--;
    assay__buf_putc(page->out, '\n');
}

/* What the line's values were measured with; both where the two differ. */
static void line_means(struct assay__buf *out, const struct line *line)
{
    struct assay__buf all = {0};
    add_means(out, line->one);
    add_means(&all, line->all);
    if (out->length && all.length && strcmp(out->data, all.data) != 0)
        assay__buf_printf(out, " | %s", all.data);
    else if (all.length && !out->length)
        assay__buf_puts(out, all.data);
    assay__buf_free(&all);
}

static void put_heading(struct assay__page *page, const struct line *line, int threads)
{
    static const char *const titles[] = {"compute", "bandwidth", "latency"};
    char all[32] = "";
    bool latency = line->first->kind == ASSAY__CEILING_LATENCY;
    if (!latency && threads > 0 && threads < 1000)
        snprintf(all, sizeof all, "all cores (%d)", threads);
    else if (!latency)
        snprintf(all, sizeof all, "all cores");
    assay__buf_putc(page->out, '\n');
    assay__page_style(page, ASSAY__STYLE_BOLD);
    assay__page_fit(page, titles[line->first->kind], LABEL_COLUMNS, 0);
    assay__page_right(page, "one core", VALUE_COLUMNS);
    if (page->columns >= SPREADS_FROM) assay__page_right(page, "spread", SPREAD_COLUMNS);
    if (!latency || page->columns >= MEANS_FROM) assay__page_right(page, all, ALL_COLUMNS);
    if (page->columns >= SPREADS_FROM && (!latency || page->columns >= MEANS_FROM))
        assay__page_right(page, latency ? "" : "spread", SPREAD_COLUMNS);
    if (page->columns >= MEANS_FROM) assay__buf_puts(page->out, "  with");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

static void put_line(struct assay__page *page, const struct line *line)
{
    char label[64];
    struct assay__buf cells = {0}, means = {0};
    struct assay__page row_page = *page;
    const struct assay__ceiling *row = line->first;
    row_page.out = &cells;
    if (row->kind == ASSAY__CEILING_COMPUTE)
        snprintf(label, sizeof label, "%s", row->type);
    else
        snprintf(label, sizeof label, "%s%s%s", row->level, *row->pattern ? " " : "", row->pattern);
    assay__page_fit(&row_page, label, LABEL_COLUMNS, 0);
    put_value(&row_page, line->one, VALUE_COLUMNS);
    put_value(&row_page, line->all, ALL_COLUMNS);
    if (page->columns >= MEANS_FROM) line_means(&means, line);
    if (means.length) {
        assay__buf_puts(&cells, "  ");
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, cells.data ? cells.data : "", means.data);
    } else {
        assay__buf_puts(page->out, cells.data ? cells.data : "");
        end_row(page);
    }
    if (cells.failed || means.failed) page->out->failed = true;
    assay__buf_free(&cells);
    assay__buf_free(&means);
}

static void put_table(struct assay__page *page, const struct assay__ceilings *set)
{
    struct line *lines = calloc(set->count + 1, sizeof *lines);
    if (!lines) {
        page->out->failed = true;
        return;
    }
    size_t count = pair_rows(set, lines);
    int threads = 0;
    for (size_t i = 0; i < set->count; i++)
        if (ends_with(set->rows[i].name, ".all-cores") && set->rows[i].threads > threads)
            threads = set->rows[i].threads;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || lines[i].first->kind != lines[i - 1].first->kind)
            put_heading(page, &lines[i], threads);
        put_line(page, &lines[i]);
    }
    free(lines);
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Each note once, before it the rows that carry it. */
static void put_notes(struct assay__page *page, const struct assay__ceilings *set)
{
    bool begun = false;
    for (size_t i = 0; i < set->count; i++) {
        const char *note = set->rows[i].note;
        bool earlier = !*note;
        for (size_t k = 0; k < i && !earlier; k++)
            earlier = strcmp(set->rows[k].note, note) == 0;
        if (earlier) continue;
        struct assay__buf text = {0};
        for (size_t k = i; k < set->count; k++)
            if (strcmp(set->rows[k].note, note) == 0)
                assay__buf_printf(&text, "%s%s", text.length ? ", " : "", set->rows[k].name);
        assay__buf_printf(&text, "%s: %s",
                          set->rows[i].state == ASSAY_UNAVAILABLE ? " unavailable" : "", note);
        if (!begun) assay__buf_putc(page->out, '\n');
        begun = true;
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

/* --- a device's ------------------------------------------------------------------------------- */

#define DEVICE_LABEL 18
#define DEVICE_VALUE 14 /* "1.23 TFLOP/s" */
#define PEAK_COLUMNS 23 /* "  of the published peak" */
#define DEVICE_LEAST (DEVICE_LABEL + DEVICE_VALUE + SPREAD_COLUMNS)

static bool shows_peak(const struct assay__page *page)
{
    return page->columns >= DEVICE_LEAST + PEAK_COLUMNS;
}

static bool shows_median(const struct assay__page *page, bool published)
{
    return page->columns >= DEVICE_LEAST + DEVICE_VALUE + (published ? PEAK_COLUMNS : 0);
}

static void put_device_heading(struct assay__page *page, enum assay__ceiling_kind kind,
                               bool published)
{
    static const char *const titles[] = {"compute", "bandwidth", "latency"};
    assay__buf_putc(page->out, '\n');
    assay__page_style(page, ASSAY__STYLE_BOLD);
    assay__page_fit(page, titles[kind], DEVICE_LABEL, 0);
    assay__page_right(page, "best", DEVICE_VALUE);
    if (shows_median(page, published)) assay__page_right(page, "median", DEVICE_VALUE);
    assay__page_right(page, "spread", SPREAD_COLUMNS);
    if (published && shows_peak(page) && kind != ASSAY__CEILING_LATENCY)
        assay__buf_puts(page->out, "  of the published peak");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

static void put_device_row(struct assay__page *page, const struct assay__ceiling *row,
                           const char *hardware, bool peaks)
{
    char label[64], value[64] = "", median[64] = "", spread[64] = "", peak[64];
    struct assay__published published;
    bool available = row->state != ASSAY_UNAVAILABLE;
    bool compute = row->kind == ASSAY__CEILING_COMPUTE;
    snprintf(label, sizeof label, "%s%s%s", compute ? row->type : row->level,
             *row->pattern ? " " : "", row->pattern);
    assay__text_scaled(value, sizeof value, row->value, row->unit);
    if (available) assay__text_scaled(median, sizeof median, row->median, row->unit);
    double share = assay__ceiling_spread(row);
    if (share > 9.995) /* one of a thousand repeats was disturbed: how much says nothing */
        snprintf(spread, sizeof spread, "> 999 %%");
    else if (available)
        snprintf(spread, sizeof spread, "%.0f %%", share * 100);
    assay__page_fit(page, label, DEVICE_LABEL, 0);
    assay__page_right(page, value, DEVICE_VALUE);
    if (shows_median(page, peaks)) assay__page_right(page, median, DEVICE_VALUE);
    assay__page_right(page, spread, SPREAD_COLUMNS);
    if (available && shows_peak(page) && assay__published_find(hardware, row->name, &published)) {
        assay__text_scaled(peak, sizeof peak, published.value, row->unit);
        assay__buf_printf(page->out, "  %.0f %% of %s", 100 * row->value / published.value, peak);
    }
    end_row(page);
}

/* Rows by kind, in the set's order: it was measured by importance. */
static void put_device_table(struct assay__page *page, const struct assay__ceilings *set)
{
    struct assay__published published;
    const char *source = NULL;
    for (size_t i = 0; i < set->count && !source; i++)
        if (assay__published_find(set->hardware, set->rows[i].name, &published))
            source = published.source;
    for (int kind = ASSAY__CEILING_COMPUTE; kind <= ASSAY__CEILING_LATENCY; kind++) {
        bool begun = false;
        for (size_t i = 0; i < set->count; i++) {
            if ((int)set->rows[i].kind != kind) continue;
            if (!begun) put_device_heading(page, set->rows[i].kind, source != NULL);
            begun = true;
            put_device_row(page, &set->rows[i], set->hardware, source != NULL);
        }
    }
    if (!source) return;
    assay__buf_putc(page->out, '\n');
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  published: ", source);
}

/* "measured … in 40 s, kept since then": of either kind of set. */
static void add_head(struct assay__buf *head, const struct assay__ceilings *set)
{
    char duration[64];
    assay__text_scaled(duration, sizeof duration, set->duration_s, "s");
    assay__buf_printf(head, "measured %s in %s",
                      *set->measured_at ? set->measured_at : "at an unknown time", duration);
    if (set->from_cache) assay__buf_puts(head, ", kept since then (--remeasure measures again)");
    if (!set->pinned) assay__buf_puts(head, "; threads could not be kept on their cores");
    if (!set->complete) assay__buf_puts(head, "; incomplete");
}

void assay__ceilings_device_text(struct assay__page *page, const struct assay__ceilings *set,
                                 const char *name)
{
    struct assay__buf head = {0};
    const char *hardware = set->hardware ? set->hardware : "";
    assay__buf_printf(&head, "%s%s%s%s: ", name ? name : set->device, *hardware ? " (" : "",
                      hardware, *hardware ? ")" : "");
    add_head(&head, set);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "ceilings of ", head.data ? head.data : "");
    if (*set->note)
        assay__page_wrap(page, set->complete ? ASSAY__STYLE_DIM : ASSAY__STYLE_WARN, "  ",
                         set->note);
    put_device_table(page, set);
    put_notes(page, set);
    assay__buf_free(&head);
}

void assay__ceilings_text(struct assay__page *page, const struct assay__ceilings *set)
{
    struct assay__buf head = {0};
    if (set->device && *set->device) {
        assay__ceilings_device_text(page, set, NULL);
        return;
    }
    add_head(&head, set);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "ceilings of the CPU: ", head.data ? head.data : "");
    if (*set->note) assay__page_wrap(page, ASSAY__STYLE_WARN, "  ", set->note);
    put_table(page, set);
    put_notes(page, set);
    assay__buf_free(&head);
}
