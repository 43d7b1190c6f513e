/* section_counters.c - the processor's and the kernel's counters: per inference and per second,
 * what follows from them, per class of layers, and what could not be counted and why. The table of
 * classes has the columns that there are counters for. */
#include "report/sections.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct counter_row {
    const char *metric, *label;
} counter_rows[] = {
    {"hardware.elapsed", "time while counted"},
    {"hardware.task_clock", "CPU time"},
    {"hardware.cycles", "cycles"},
    {"hardware.instructions", "instructions"},
    {"hardware.cache_references", "cache references"},
    {"hardware.cache_misses", "cache misses"},
    {"hardware.llc_loads", "last-level loads"},
    {"hardware.llc_load_misses", "last-level load misses"},
    {"hardware.branches", "branches"},
    {"hardware.branch_misses", "branch misses"},
    {"hardware.stalled_frontend", "front-end stalls"},
    {"hardware.stalled_backend", "back-end stalls"},
    {"hardware.page_faults", "page faults"},
    {"hardware.context_switches", "context switches"},
    {"hardware.migrations", "CPU migrations"},
};
#define COUNTER_ROWS (sizeof counter_rows / sizeof counter_rows[0])
#define SECOND_FROM 52 /* columns of a page that shows counts per second too */

/* "4.00 k", "25.6 M", "0.729", "0.000052": three digits, two below a thousandth; "—" when
 * unknown. */
static void count_text(char *out, size_t size, double value)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    size_t power = 0;
    if (!isfinite(value)) {
        snprintf(out, size, "—");
        return;
    }
    while (value >= 999.5 && power + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000;
        power++;
    }
    if (value > 0 && value < 5e-7) {
        snprintf(out, size, "<0.000001");
        return;
    }
    int digits = value > 0 && value < 0.0009995 ? 2 : 3;
    double rounded = value * (digits == 3 ? 10 / 9.995 : 10 / 9.95); /* 9.996 is shown as 10.0 */
    int decimals = value > 0 ? digits - 1 - (int)floor(log10(rounded)) : 0;
    if (decimals > 6) decimals = 6;
    if (decimals < 0 || (power == 0 && value == floor(value))) decimals = 0;
    snprintf(out, size, "%.*f%s", decimals, value, prefixes[power]);
}

/* --- per inference ---------------------------------------------------------------------------- */

/* Inferences per second while it was counted; NaN unknown. */
static double counted_rate(const struct assay__trial *trial)
{
    const struct assay_metric *elapsed = assay__trial_metric(trial, "hardware.elapsed");
    if (elapsed && elapsed->value > 0) return 1 / elapsed->value;
    const struct assay_metric *clock = assay__trial_metric(trial, "hardware.task_clock"),
                              *cpus = assay__trial_metric(trial, "hardware.cpus_busy"),
                              *rate = assay__trial_metric(trial, "throughput.inferences");
    if (clock && cpus && clock->value > 0) return cpus->value / clock->value;
    return rate ? rate->value : NAN;
}

static void put_counter(struct assay__page *page, const struct assay__trial *trial,
                        const struct counter_row *row)
{
    const struct assay_metric *metric = assay__trial_metric(trial, row->metric);
    double rate = counted_rate(trial);
    char number[64], text[80], second[80] = "—";
    if (!metric) return;
    bool time = strcmp(metric->unit, "s") == 0;
    bool wall = strcmp(metric->name, "hardware.elapsed") == 0; /* of it there is one per second */
    if (time)
        assay__text_scaled(number, sizeof number, metric->value, "s");
    else
        count_text(number, sizeof number, metric->value);
    snprintf(text, sizeof text, "%s%s", assay__render_mark(metric->state), number);
    if (wall) {
        second[0] = '\0';
    } else if (isfinite(rate) && time) {
        snprintf(second, sizeof second, "=%.2f CPUs", metric->value * rate);
    } else if (isfinite(rate)) {
        count_text(number, sizeof number, metric->value * rate);
        snprintf(second, sizeof second, "=%s", number);
    }
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, row->label, 23, 0);
    assay__page_right(page, text, 13);
    if (page->columns >= SECOND_FROM) assay__page_right(page, second, 14);
    int room = page->columns - 54;
    if (room >= 10) {
        assay__buf_puts(page->out, "  ");
        struct assay__buf source = {0};
        assay__text_fit(&source, metric->source, (size_t)room, 0);
        size_t length = source.length;
        while (length && source.data[length - 1] == ' ')
            length--;
        assay__buf_printf(page->out, "%.*s", (int)length, source.data ? source.data : "");
        assay__buf_free(&source);
    }
    assay__buf_putc(page->out, '\n');
}

static void put_item(struct assay__buf *items, const struct assay__trial *trial, const char *metric,
                     const char *label)
{
    struct assay__buf value = {0};
    const struct assay_metric *known = assay__trial_metric(trial, metric);
    assay__render_metric(&value, known);
    if (known) assay__page_item(items, "%s %s", label, value.data ? value.data : "");
    assay__buf_free(&value);
}

static void put_speed(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf items = {0};
    put_item(&items, trial, "latency.p50", "p50");
    put_item(&items, trial, "throughput.inferences", "throughput");
    if (items.length) assay__page_row(page, "latency", items.data);
    assay__buf_free(&items);
}

static void put_table(struct assay__page *page, const struct assay__trial *trial)
{
    bool any = false;
    for (size_t i = 0; i < COUNTER_ROWS; i++)
        any |= assay__trial_metric(trial, counter_rows[i].metric) != NULL;
    if (!any) return;
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_printf(page->out, "  %-23s%13s", "", "per inference");
    if (page->columns >= SECOND_FROM) assay__buf_printf(page->out, "%14s", "per second");
    if (page->columns >= 64) assay__buf_puts(page->out, "  source");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < COUNTER_ROWS; i++)
        put_counter(page, trial, &counter_rows[i]);
}

static void put_derived(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf items = {0}, cost = {0};
    if (page->columns < SECOND_FROM) put_item(&items, trial, "hardware.cpus_busy", "CPUs busy");
    put_item(&items, trial, "hardware.ipc", "instructions per cycle");
    put_item(&items, trial, "cache.hit_rate", "cache hit rate");
    put_item(&items, trial, "hardware.branch_miss_rate", "branch misses");
    put_item(&items, trial, "hardware.frequency", "clock");
    put_item(&items, trial, "memory.bandwidth.llc", "from memory at least");
    put_item(&items, trial, "memory.bandwidth.controller", "memory controllers");
    put_item(&items, trial, "hardware.memory_controller", "of their ceiling");
    if (items.length) assay__page_row(page, "so", items.data);
    put_item(&cost, trial, "overhead.counters", "an inference with the counters on takes");
    if (cost.length) assay__page_row(page, "cost", cost.data);
    assay__buf_free(&items);
    assay__buf_free(&cost);
}

/* Counters in that state with the same note together: "cycles, instructions: note". */
static void put_notes(struct assay__page *page, const struct assay__trial *trial,
                      enum assay_state state, const char *first_words)
{
    bool done[COUNTER_ROWS] = {false};
    for (size_t i = 0; i < COUNTER_ROWS; i++) {
        const struct assay_metric *first = assay_metrics_get(trial->metrics,
                                                             counter_rows[i].metric);
        struct assay__buf text = {0};
        if (done[i] || !first || first->state != state || !first->note[0]) continue;
        for (size_t k = i; k < COUNTER_ROWS; k++) {
            const struct assay_metric *same = assay_metrics_get(trial->metrics,
                                                                counter_rows[k].metric);
            if (!same || same->state != state || strcmp(same->note, first->note) != 0) continue;
            done[k] = true;
            assay__buf_printf(&text, "%s%s", text.length ? ", " : "", counter_rows[k].label);
        }
        assay__buf_printf(&text, ": %s", first->note);
        assay__page_wrap(page, ASSAY__STYLE_DIM, first_words, text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

/* --- classes of layers ------------------------------------------------------------------------ */

static size_t find(const struct assay__trial *trial, const char *name)
{
    size_t i = 0;
    while (i < trial->counter_count && strcmp(trial->counter_names[i], name) != 0)
        i++;
    return i;
}

static double value_of(const struct assay__trial *trial, const struct assay__class_counters *class,
                       const char *name)
{
    size_t i = find(trial, name);
    return i < trial->counter_count && class->values ? class->values[i] : NAN;
}

/* over NULL: the counter itself; else the ratio, shown as a number or as 1 - ratio in percent.
 * Where not all fit, the lowest rank is left out last. */
static const struct column {
    const char *head, *name, *over;
    bool hit_rate, time;
    int width, rank;
} columns[] = {
    {"counted", "elapsed", NULL, false, true, 9, 1},
    {"CPU time", "task-clock", NULL, false, true, 9, 6},
    {"CPUs", "task-clock", "elapsed", false, false, 6, 0},
    {"cycles", "cycles", NULL, false, false, 8, 7},
    {"instr.", "instructions", NULL, false, false, 8, 3},
    {"IPC", "instructions", "cycles", false, false, 6, 2},
    {"misses", "cache-misses", NULL, false, false, 8, 5},
    {"hits", "cache-misses", "cache-references", true, false, 7, 4},
    {"faults", "page-faults", NULL, false, false, 9, 8},
    {"switches", "context-switches", NULL, false, false, 10, 9},
};
#define COLUMNS (sizeof columns / sizeof columns[0])

/* Those that have counters, as many as fit. */
static size_t choose(const struct assay__page *page, const struct assay__trial *trial,
                     size_t *chosen)
{
    int used = 2 + 15 + 7 + 9;
    bool shown[COLUMNS] = {false};
    size_t count = 0;
    for (int rank = 0; rank < (int)COLUMNS; rank++)
        for (size_t i = 0; i < COLUMNS; i++) {
            bool there = find(trial, columns[i].name) < trial->counter_count &&
                         (!columns[i].over || find(trial, columns[i].over) < trial->counter_count);
            if (columns[i].rank != rank || !there || used + columns[i].width > page->columns)
                continue;
            used += columns[i].width;
            shown[i] = true;
        }
    for (size_t i = 0; i < COLUMNS; i++)
        if (shown[i]) chosen[count++] = i;
    return count;
}

static void cell_text(char *out, size_t size, const struct assay__trial *trial,
                      const struct assay__class_counters *class, const struct column *column)
{
    double value = value_of(trial, class, column->name);
    if (column->over) value /= value_of(trial, class, column->over);
    if (column->hit_rate)
        assay__text_scaled(out, size, 1 - value, "ratio");
    else if (column->over && isfinite(value))
        snprintf(out, size, "%.2f", value);
    else if (column->time)
        assay__text_scaled(out, size, value, "s");
    else if (value > 0 && value < 0.0005)
        snprintf(out, size, "<0.001"); /* narrower than its digits */
    else
        count_text(out, size, value);
}

static void put_class(struct assay__page *page, const struct assay__trial *trial,
                      const struct assay__class_counters *class, const size_t *chosen, size_t count)
{
    char text[64];
    assay__buf_puts(page->out, "  ");
    assay__page_fit_middle(page, class->op, 15);
    snprintf(text, sizeof text, "%lld", (long long)class->layers);
    assay__page_right(page, text, 7);
    assay__text_scaled(text, sizeof text, class->time_ns / 1e9, "s");
    assay__page_right(page, text, 9);
    for (size_t i = 0; i < count; i++) {
        cell_text(text, sizeof text, trial, class, &columns[chosen[i]]);
        assay__page_right(page, text, columns[chosen[i]].width);
    }
    assay__buf_putc(page->out, '\n');
}

static void put_classes(struct assay__page *page, const struct assay__trial *trial)
{
    size_t chosen[COLUMNS], count = choose(page, trial, chosen);
    size_t shown = page->top < 0 || trial->class_counter_count < (size_t)page->top
                       ? trial->class_counter_count
                       : (size_t)page->top;
    assay__page_heading(page, "Counters by layer class", "per inference");
    if (shown) {
        assay__page_style(page, ASSAY__STYLE_DIM);
        assay__buf_printf(page->out, "  %-15s%7s%9s", "", "layers", "time");
        for (size_t i = 0; i < count; i++)
            assay__buf_printf(page->out, "%*s", columns[chosen[i]].width, columns[chosen[i]].head);
        assay__page_style(page, ASSAY__STYLE_PLAIN);
        assay__buf_putc(page->out, '\n');
    }
    for (size_t i = 0; i < shown; i++)
        put_class(page, trial, &trial->class_counters[i], chosen, count);
    if (shown < trial->class_counter_count) {
        char more[64];
        snprintf(more, sizeof more, "and %zu more classes", trial->class_counter_count - shown);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", more);
    }
    if (shown && find(trial, "elapsed") < trial->counter_count)
        assay__page_wrap(
            page, ASSAY__STYLE_DIM, "  ",
            "time is that of the layers when they were timed; counted is their time in "
            "the runs whose counters were read, as is all behind it (CPUs: CPU time / "
            "counted)");
    if (trial->class_counter_note && trial->class_counter_note[0])
        assay__page_wrap(page, ASSAY__STYLE_DIM, shown ? "  " : "  — ", trial->class_counter_note);
}

/* --- the section ------------------------------------------------------------------------------ */

void assay__section_counters(struct assay__page *page, const struct assay_profile *profile,
                             const struct assay__trial *trial)
{
    /* put only when counters were asked for */
    if (!trial->metrics || !assay_metrics_get(trial->metrics, "hardware.task_clock")) return;
    assay__page_heading(page, "Counters", "all threads of the worker; the latency is without them");
    if (profile->kind == ASSAY__PROFILE_COUNTERS) put_speed(page, trial);
    put_table(page, trial);
    put_derived(page, trial);
    put_notes(page, trial, ASSAY_DERIVED, "  = ");
    put_notes(page, trial, ASSAY_UNAVAILABLE, "  — ");
    if (trial->counter_names || trial->class_counter_count) put_classes(page, trial);
}
