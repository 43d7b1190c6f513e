/* section_power.c - power, energy, temperature and clocks: one sentence, a table of rails, what
 * else was read, charts over time, what it cost. Everything comes from the metrics, series and
 * spans of the profile. A number that is not known is "—"; its reason stands with the metrics that
 * are not available, or beside the rail. */
#include "report/figure/chart.h"
#include "report/sections.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POWER_CHARTS 2
#define SMALL_ROWS 4
#define SILENT_SHOWN 8
#define LABEL 11 /* columns of a row's label */

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

static bool is_sensor(const struct assay__series_info *series)
{
    static const char *const quantities[] = {"energy",      "power", "temperature", "clock",
                                             "utilization", "fan",   "state",       NULL};
    return series->launch == 0 && is_one_of(series->quantity, quantities);
}

static bool has_values(const struct assay__series_info *series)
{
    return series->state != ASSAY_UNAVAILABLE && series->count > 0 && series->times_ns &&
           series->values;
}

static const struct assay__series_info *find(const struct assay__trial *trial, const char *name,
                                             const char *probe)
{
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *series = &trial->series[i];
        if (series->launch == 0 && strcmp(series->name, name) == 0 &&
            (!probe || strcmp(series->probe, probe) == 0) && has_values(series))
            return series;
    }
    return NULL;
}

static const struct assay_metric *metric_of(const struct assay__trial *trial, const char *family,
                                            const char *rail)
{
    char name[200];
    snprintf(name, sizeof name, "%s.%.120s", family, rail);
    return assay_metrics_get(trial->metrics, name);
}

static void scaled(struct assay__buf *out, const struct assay__trial *trial, const char *name)
{
    assay__render_metric(out, assay__trial_metric(trial, name));
}

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

/* --- the answer ------------------------------------------------------------------------------- */

/* "package + dram" */
static void put_rail_names(struct assay__buf *out, const struct assay__power_info *power)
{
    for (size_t i = 0; i < power->rail_count; i++)
        assay__buf_printf(out, "%s%s", i ? " + " : "", power->rails[i]);
}

static void put_answer(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf text = {0};
    const struct assay_metric *power = assay__trial_metric(trial, "power.average");
    if (power) {
        assay__buf_puts(&text, "An inference takes ");
        scaled(&text, trial, "energy.inference.gross");
        const struct assay_metric *net = assay__trial_metric(trial, "energy.inference.net");
        if (net && net->value > 0) {
            assay__buf_puts(&text, ", ");
            scaled(&text, trial, "energy.inference.net");
            assay__buf_puts(&text, " of it beyond the idle machine");
        } else if (net) {
            assay__buf_puts(&text, ", no more than the idle machine draws in that time");
        }
        assay__buf_puts(&text, ", at ");
        scaled(&text, trial, "power.average");
        assay__buf_puts(&text, " on ");
        put_rail_names(&text, &trial->power);
        assay__buf_puts(&text, trial->power.whole_machine
                                   ? " (the whole machine, not only the processor)."
                                   : ".");
    } else {
        assay__buf_puts(&text, "The energy of an inference is not known here: ");
        const struct assay_metric *none = assay_metrics_get(trial->metrics, "power.average");
        const char *words = assay__power_gap_words(trial->power.gap);
        assay__buf_puts(&text, *words ? words : none && none->note ? none->note : "not known");
        assay__buf_puts(&text, trial->power.gap == ASSAY__POWER_NO_SENSOR
                                   ? "; below, each source has its reason."
                                   : ".");
    }
    assay__page_wrap(page, ASSAY__STYLE_BOLD, "  ", text_of(&text));
    assay__buf_free(&text);
}

/* --- rails ------------------------------------------------------------------------------------ */

/* The columns of the table; narrow pages have those that matter most. */
struct widths {
    int rail, cell;
    const char *const *heads, *const *families; /* end with NULL */
    int count;
};

static struct widths widths_for(const struct assay__page *page, int rail)
{
    static const char *const heads[] = {"idle", "average", "peak", "energy", NULL};
    static const char *const families[] = {"power.idle", "power.average", "power.peak",
                                           "energy.total", NULL};
    static const char *const few_heads[] = {"average", "energy", NULL};
    static const char *const few[] = {"power.average", "energy.total", NULL};
    bool narrow = page->columns < 60;
    int most = narrow ? 16 : 18;
    struct widths widths = {rail < 8 ? 8 : rail > most ? most : rail, 10, heads, families, 4};
    if (widths.rail > 12 || page->columns < 72) widths.cell = 9;
    if (narrow) {
        widths.heads = few_heads;
        widths.families = few;
        widths.count = 2;
    }
    return widths;
}

/* Columns that are left for the source. */
static int room_of(const struct assay__page *page, const struct widths *widths)
{
    return page->columns - 4 - widths->rail - widths->count * widths->cell;
}

static void put_cell(struct assay__page *page, const struct assay_metric *metric, int columns)
{
    struct assay__buf cell = {0};
    assay__render_metric(&cell, metric && metric->state != ASSAY_UNAVAILABLE ? metric : NULL);
    assay__page_right(page, text_of(&cell), columns);
    assay__buf_free(&cell);
}

/* "rapl, counted, every ≤ 1.00 ms" */
static void put_source(struct assay__buf *out, const struct assay__trial *trial, const char *rail)
{
    const struct assay_metric *energy = metric_of(trial, "energy.total", rail);
    const struct assay_metric *period = metric_of(trial, "sensor.period", rail);
    bool counted = energy && energy->state == ASSAY_MEASURED;
    const char *wanted = counted ? "energy" : "power", *probe = "";
    bool bound = false;
    for (size_t i = 0; i < trial->series_count && !*probe; i++)
        if (strcmp(trial->series[i].rail, rail) == 0 && has_values(&trial->series[i]) &&
            strcmp(trial->series[i].quantity, wanted) == 0) {
            probe = trial->series[i].probe;
            bound = trial->series[i].period_is_bound;
        }
    assay__buf_printf(out, "%s%s%s", probe, *probe ? " " : "", counted ? "counter" : "samples");
    if (!period || period->state == ASSAY_UNAVAILABLE) return;
    assay__buf_puts(out, bound ? ", ≤ " : ", ");
    char text[64];
    assay__text_scaled(text, sizeof text, period->value, "s");
    assay__buf_puts(out, text);
}

static void put_rail(struct assay__page *page, const struct assay__trial *trial, const char *rail,
                     const struct widths *widths)
{
    const struct assay_metric *average = metric_of(trial, "power.average", rail);
    if (!average || average->state == ASSAY_UNAVAILABLE) {
        struct assay__buf text = {0};
        bool fits = assay__text_width(rail) <= LABEL;
        const char *note = average && average->note ? average->note : "not known";
        if (fits)
            assay__buf_printf(&text, "— %s", note);
        else
            assay__buf_printf(&text, "%s: %s", rail, note);
        if (fits)
            assay__page_row(page, rail, text_of(&text));
        else
            assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  — ", text_of(&text));
        assay__buf_free(&text);
        return;
    }
    assay__buf_puts(page->out, "  ");
    assay__page_fit_middle(page, rail, widths->rail);
    for (int i = 0; i < widths->count; i++)
        put_cell(page, metric_of(trial, widths->families[i], rail), widths->cell);
    struct assay__buf source = {0};
    put_source(&source, trial, rail);
    int room = room_of(page, widths), width = (int)assay__text_width(text_of(&source));
    if (width > room) { /* the probe alone */
        source.length = strcspn(text_of(&source), " ");
        if (source.data) source.data[source.length] = '\0';
        width = (int)source.length;
    }
    if (room > 4) {
        assay__buf_puts(page->out, "  ");
        assay__page_fit(page, text_of(&source), width < room ? width : room, 0);
    }
    assay__buf_putc(page->out, '\n');
    assay__buf_free(&source);
}

/* Rails in the order of their metrics. */
static const char *rail_at(const struct assay__trial *trial, size_t index)
{
    static const char family[] = "power.average.";
    for (size_t i = 0; i < assay_metrics_count(trial->metrics); i++) {
        const char *name = assay_metrics_at(trial->metrics, i)->name;
        if (strncmp(name, family, sizeof family - 1) == 0 && index-- == 0)
            return name + sizeof family - 1;
    }
    return NULL;
}

static void put_warnings(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__power_info *power = &trial->power;
    struct assay__buf text = {0};
    for (size_t i = 0; i < power->warning_count; i++) {
        assay__buf_clear(&text);
        assay__buf_printf(&text, "%s: %s", power->warnings[i].about, power->warnings[i].text);
        assay__page_wrap(page, ASSAY__STYLE_WARN, "  ! ", text_of(&text));
    }
    const struct assay_metric *net = assay_metrics_get(trial->metrics, "energy.inference.net");
    bool idle_watched = false;
    for (size_t i = 0; i < trial->span_count; i++)
        if (strcmp(trial->spans[i].kind, "idle") == 0) idle_watched = true;
    if (idle_watched && net && net->state == ASSAY_UNAVAILABLE && net->note &&
        assay__trial_metric(trial, "power.average")) {
        assay__buf_clear(&text);
        assay__buf_printf(&text, "net energy: not known: %s", net->note);
        assay__page_wrap(page, ASSAY__STYLE_WARN, "  ! ", text_of(&text));
    }
    assay__buf_free(&text);
}

static void put_rails(struct assay__page *page, const struct assay__trial *trial)
{
    static const char source[] = "source, updated every";
    const char *rail;
    int longest = 0;
    if (!rail_at(trial, 0)) return;
    for (size_t i = 0; (rail = rail_at(trial, i)) != NULL; i++) {
        int width = (int)assay__text_width(rail);
        if (width > longest) longest = width;
    }
    struct widths widths = widths_for(page, longest);
    assay__buf_puts(page->out, "\n  ");
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_fit(page, "rail", widths.rail, 0);
    for (int i = 0; i < widths.count; i++)
        assay__page_right(page, widths.heads[i], widths.cell);
    if (room_of(page, &widths) > (int)sizeof source)
        assay__buf_printf(page->out, "  %s", source);
    else if (room_of(page, &widths) > 6)
        assay__buf_puts(page->out, "  source");
    assay__buf_putc(page->out, '\n');
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; (rail = rail_at(trial, i)) != NULL; i++)
        put_rail(page, trial, rail, &widths);
    put_warnings(page, trial);
    assay__buf_putc(page->out, '\n');
}

/* --- rows ------------------------------------------------------------------------------------- */

static void item(struct assay__buf *items, const struct assay__trial *trial, const char *name,
                 const char *before, const char *after)
{
    struct assay__buf value = {0};
    if (assay__trial_metric(trial, name)) {
        scaled(&value, trial, name);
        assay__page_item(items, "%s%s%s", before, text_of(&value), after);
    }
    assay__buf_free(&value);
}

static void put_row(struct assay__page *page, const char *label, struct assay__buf *items)
{
    assay__page_row(page, label, items->length ? text_of(items) : "—");
    assay__buf_free(items);
}

/* The value on the line between two readings; NaN. */
static double value_at(const struct assay__series_info *series, double time_ns)
{
    size_t low = 0, high = series->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (series->times_ns[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || low == series->count) return NAN;
    double a = series->times_ns[low - 1], b = series->times_ns[low];
    return series->values[low - 1] +
           (time_ns - a) / (b - a) * (series->values[low] - series->values[low - 1]);
}

/* Growth of a counter per second of the measured spans; NaN unknown. */
static double rate_of(const struct assay__trial *trial, const char *name, const char *probe)
{
    const struct assay__series_info *series = find(trial, name, probe);
    double growth = 0, time_ns = 0;
    for (size_t i = 0; series && i < trial->span_count; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (strcmp(span->kind, "measure") != 0) continue;
        growth += value_at(series, span->end_ns) - value_at(series, span->begin_ns);
        time_ns += span->end_ns - span->begin_ns;
    }
    return series && time_ns > 0 ? growth / time_ns * 1e9 : NAN;
}

static void put_machine(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf items = {0};
    double busy = rate_of(trial, "time.busy", "procstat"),
           idle = rate_of(trial, "time.idle", "procstat"),
           steal = rate_of(trial, "time.steal", "procstat"),
           wait = rate_of(trial, "time.cpu.some", "pressure");
    /* Time passes on every CPU, busy or idle: counters of it that stand still are another
     * machine's, or none. */
    bool moves = fmax(busy, 0) + fmax(idle, 0) > 0;
    if (moves && isfinite(busy)) assay__page_item(&items, "=%.2f CPUs busy", busy);
    if (moves && isfinite(steal) && busy + idle + steal > 0)
        assay__page_item(&items, "=%.1f %% stolen by the host",
                         100 * steal / (busy + idle + steal));
    if (isfinite(wait) && (moves || wait > 0))
        assay__page_item(&items, "=%.1f %% of the time a task waited for a CPU", 100 * wait);
    if (!moves && isfinite(busy)) assay__page_item(&items, "— /proc/stat stood still");
    put_row(page, "CPUs", &items);
}

static bool is_throttling(const char *sentence)
{
    static const char *const words[] = {"throttled", "held its clocks", "quota", "thermal pressure",
                                        "is limited to"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(sentence, words[i])) return true;
    return false;
}

static const char *throttling_shown_by(const char *name)
{
    return strcmp(name, "count.throttled.core") == 0 ? "counts of the CPU cores"
           : strcmp(name, "time.throttled") == 0     ? "the control group's CPU quota"
           : strcmp(name, "clock.mean") == 0         ? "the CPU clock"
           : strstr(name, ".slow.thermal-hard")      ? "the GPU's own reasons"
           : strstr(name, "thermal-pressure")        ? "thermal pressure"
                                                     : NULL;
}

/* Whether it was read from the first measured span to the last, without a gap in them. */
static bool was_watched(const struct assay__trial *trial, const struct assay__series_info *series)
{
    double last_ns = series->times_ns[series->count - 1];
    for (size_t i = 0; i < trial->span_count; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (strcmp(span->kind, "measure") != 0) continue;
        if (last_ns < span->end_ns) return false;
        for (size_t k = 0; k < series->count && series->times_ns[k] <= span->end_ns; k++)
            if (series->times_ns[k] >= span->begin_ns && isnan(series->values[k])) return false;
    }
    return true;
}

/* What would have shown it, and what would have but was not read all the time. */
static void put_throttling(struct assay__page *page, const struct assay_profile *profile,
                           const struct assay__trial *trial)
{
    struct assay__buf items = {0}, lost = {0};
    size_t found = 0;
    for (size_t i = 0; i < profile->environment.disturbance_count; i++)
        if (is_throttling(profile->environment.disturbances[i])) {
            assay__page_row(page, found++ ? "" : "throttling",
                            profile->environment.disturbances[i]);
        }
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        const char *what = has_values(s) ? throttling_shown_by(s->name) : NULL;
        if (!what) continue;
        if (was_watched(trial, s))
            assay__buf_printf(&items, "%s%s", items.length ? ", " : "none seen in ", what);
        else
            assay__buf_printf(&lost, "%s%s (%s)",
                              lost.length ? ", " : "not watched throughout: ", what,
                              *s->note ? s->note : "readings are missing");
    }
    if (!found && !items.length && !lost.length)
        assay__buf_puts(&items, "— nothing here would show it");
    if (!found && items.length) assay__page_row(page, "throttling", text_of(&items));
    if (lost.length)
        assay__page_row(page, found || items.length ? "" : "throttling", text_of(&lost));
    assay__buf_free(&items);
    assay__buf_free(&lost);
}

/* The baseline that net energy rests on. */
static void put_idle(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf items = {0};
    char seconds[64];
    for (size_t i = 0; i < trial->span_count && !items.length; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (strcmp(span->kind, "idle") != 0) continue;
        assay__text_scaled(seconds, sizeof seconds, (span->end_ns - span->begin_ns) * 1e-9, "s");
        assay__buf_printf(&items, "the machine was watched for %s before the run", seconds);
    }
    if (!items.length && assay__trial_metric(trial, "power.average"))
        assay__buf_puts(&items, "— not watched: net energy is not known");
    else if (!items.length)
        assay__buf_puts(&items, "— not watched, as nothing here tells power or energy");
    put_row(page, "idle", &items);
}

static void put_rows(struct assay__page *page, const struct assay_profile *profile,
                     const struct assay__trial *trial)
{
    struct assay__buf items = {0};
    item(&items, trial, "energy.inference.gross", "gross ", " per inference");
    item(&items, trial, "energy.inference.net", "net ", " per inference");
    put_row(page, "energy", &items);
    put_idle(page, trial);
    item(&items, trial, "efficiency.inferences_per_joule", "", " (inferences per joule)");
    item(&items, trial, "efficiency.tops_per_watt", "", "");
    item(&items, trial, "score.efficiency", "score ", " of 100");
    put_row(page, "efficiency", &items);
    item(&items, trial, "throughput.inferences", "", "");
    item(&items, trial, "latency.p50", "p50 ", "");
    item(&items, trial, "compute.rate", "", "");
    put_row(page, "speed", &items);
    item(&items, trial, "hardware.temperature", "", "");
    item(&items, trial, "hardware.temperature_peak", "up to ", "");
    put_row(page, "temperature", &items);
    item(&items, trial, "hardware.frequency", "", "");
    put_row(page, "clock", &items);
    put_machine(page, trial);
    put_throttling(page, profile, trial);
    const struct assay_metric *cost = assay__trial_metric(trial, "overhead.sensors");
    if (cost) {
        assay__buf_printf(&items, "%.2f %%: ", cost->value * 100);
        assay__buf_puts(&items, cost->note);
    }
    put_row(page, "sampling", &items);
}

/* --- charts ----------------------------------------------------------------------------------- */

static void put_chart(struct assay__page *page, const struct assay__trial *trial,
                      const struct assay__series_info *series, const char *title, double low,
                      int rows)
{
    double begin_ns = NAN, end_ns = NAN;
    if (!series || !has_values(series)) return;
    for (size_t i = 0; i < trial->span_count; i++) {
        begin_ns = fmin(begin_ns, trial->spans[i].begin_ns);
        end_ns = fmax(end_ns, trial->spans[i].end_ns);
    }
    assay__page_chart(page, &(struct assay__chart){.title = title,
                                                   .unit = series->unit,
                                                   .times_ns = series->times_ns,
                                                   .values = series->values,
                                                   .count = series->count,
                                                   .begin_ns = begin_ns,
                                                   .end_ns = end_ns,
                                                   .low = low,
                                                   .rows = rows,
                                                   .spans = trial->spans,
                                                   .span_count = trial->span_count});
}

/* Power of a rail over time: from its counter where that is there, else as sampled. */
static const struct assay__series_info *power_of(const struct assay__trial *trial, const char *rail)
{
    const struct assay__series_info *best = NULL;
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        if (strcmp(s->quantity, "power") != 0 || strcmp(s->rail, rail) != 0 || !has_values(s))
            continue;
        if (!best || (best->state != ASSAY_DERIVED && s->state == ASSAY_DERIVED)) best = s;
    }
    return best;
}

/* It is one of those that are added up; every rail is where none are. */
static bool is_added(const struct assay__power_info *power, const char *rail)
{
    for (size_t i = 0; i < power->rail_count; i++)
        if (strcmp(power->rails[i], rail) == 0) return true;
    return power->rail_count == 0;
}

static void put_power_charts(struct assay__page *page, const struct assay__trial *trial)
{
    const char *rail;
    size_t shown = 0;
    for (size_t i = 0; (rail = rail_at(trial, i)) != NULL && shown < POWER_CHARTS; i++) {
        const struct assay__series_info *series = power_of(trial, rail);
        const struct assay_metric *average = metric_of(trial, "power.average", rail);
        if (!series || average->state == ASSAY_UNAVAILABLE || !is_added(&trial->power, rail))
            continue;
        struct assay__buf title = {0};
        assay__buf_printf(&title, "power of %s", rail);
        put_chart(page, trial, series, text_of(&title), 0, 0);
        assay__buf_free(&title);
        shown++;
    }
}

static void put_named_chart(struct assay__page *page, const struct assay__trial *trial,
                            const char *name)
{
    if (*name) put_chart(page, trial, find(trial, name, NULL), name, NAN, SMALL_ROWS);
}

static void put_charts(struct assay__page *page, const struct assay__trial *trial)
{
    size_t begin = page->out->length;
    put_power_charts(page, trial);
    put_named_chart(page, trial, trial->power.temperature);
    put_named_chart(page, trial, trial->power.frequency);
    put_chart(page, trial, find(trial, "throughput.inferences", NULL), "inferences per second", 0,
              SMALL_ROWS);
    put_chart(page, trial, find(trial, "efficiency.inferences_per_joule", NULL),
              "inferences per joule", 0, SMALL_ROWS);
    if (page->out->length == begin || !trial->span_count) return;
    assay__page_wrap(
        page, ASSAY__STYLE_DIM, "  ",
        "under the axis: i idle, m measured; times count from the beginning of the run");
}

/* --- what could not be read ------------------------------------------------------------------- */

static void put_silent(struct assay__page *page, const struct assay__trial *trial)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *s = &trial->series[i];
        bool in_table = strcmp(s->quantity, "power") == 0 || strcmp(s->quantity, "energy") == 0;
        if (!is_sensor(s) || s->state != ASSAY_UNAVAILABLE || in_table) continue;
        if (count == 0) assay__page_heading(page, "Sensors without a reading", "and why");
        if (count++ >= SILENT_SHOWN) continue;
        struct assay__buf text = {0};
        if (strcmp(s->name, s->probe) == 0)
            assay__buf_printf(&text, "%s, all of it: %s", s->name, s->note);
        else
            assay__buf_printf(&text, "%s (%s): %s", s->name, s->probe, s->note);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  — ", text_of(&text));
        assay__buf_free(&text);
    }
    if (count <= SILENT_SHOWN) return;
    char more[80];
    snprintf(more, sizeof more, "and %zu more; --json has them all", count - SILENT_SHOWN);
    assay__page_wrap(page, ASSAY__STYLE_DIM, "    ", more);
}

void assay__section_power(struct assay__page *page, const struct assay_profile *profile,
                          const struct assay__trial *trial)
{
    bool any = profile->kind == ASSAY__PROFILE_POWER;
    for (size_t i = 0; i < trial->series_count && !any; i++)
        any = is_sensor(&trial->series[i]) || strcmp(trial->series[i].probe, "procstat") == 0;
    if (!any || !trial->metrics) return;
    assay__page_heading(page, "Power", "in the measured windows");
    put_answer(page, trial);
    put_rails(page, trial);
    put_rows(page, profile, trial);
    put_charts(page, trial);
    put_silent(page, trial);
}
