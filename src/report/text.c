/* text.c - the report for people: a page of 40 columns or more (80 by default), top to bottom: what
 * was measured and where, the one sentence that answers where the time goes, latency with its
 * histogram, the other metrics in families, the layer table, how far to trust it, and what is not
 * available and why. Marks before numbers: none measured, "=" derived, "~" estimated; "(published)"
 * after; "—" unavailable. Nothing unknown is printed as 0. */
#include "experiment/verify.h"
#include "report/figure/figure_text.h"
#include "report/ncp_groups.h"
#include "report/page.h"
#include "report/require.h"
#include "report/sections.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- target ----------------------------------------------------------------------------------- */

/* Options that were left alone say nothing: threads and optimisation always stand there, the rest
 * when chosen. */
static bool is_chosen(const struct assay__pair *option)
{
    static const char *const unsaid[] = {"", "default", "any", "by precision", "detected", "auto"};
    static const char *const ones[] = {"streams", "launches"};
    if (!option->value || strcmp(option->key, "seed") == 0) return false;
    if (strcmp(option->key, "token_ids") == 0 || strcmp(option->key, "require") == 0)
        return false; /* said, not chosen: the JSON report has them, or a section of its own */
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++)
        if (strcmp(option->key, ones[i]) == 0 && strcmp(option->value, "1") == 0) return false;
    for (size_t i = 0; i < sizeof unsaid / sizeof unsaid[0]; i++)
        if (strcmp(option->value, unsaid[i]) == 0) return strcmp(option->key, "threads") == 0;
    return true;
}

/* "time_s 2" is the option's name in the file; people read "time 2 s". */
static void add_option(struct assay__buf *items, const struct assay__pair *option)
{
    size_t length = strlen(option->key);
    bool seconds = length > 2 && strcmp(option->key + length - 2, "_s") == 0;
    assay__page_item(items, "%.*s %s%s", (int)(seconds ? length - 2 : length), option->key,
                     option->value, seconds ? " s" : "");
}

static void put_target(struct assay__page *page, const struct assay__trial *trial)
{
    enum { INPUTS_SHOWN = 6 };
    struct assay__buf items = {0};
    assay__page_item(&items, "%s%s%s", trial->target.engine,
                     *trial->target.engine_version ? " " : "", trial->target.engine_version);
    assay__page_item(&items, "%s", trial->target.device);
    for (size_t i = 0; i < trial->option_count; i++)
        if (is_chosen(&trial->options[i])) add_option(&items, &trial->options[i]);
    assay__page_row(page, "target", items.data ? items.data : "—");
    assay__buf_clear(&items);
    if (trial->batch >= 0) assay__page_item(&items, "batch %" PRId64, trial->batch);
    for (size_t i = 0; i < trial->input_count && i < INPUTS_SHOWN; i++) {
        const struct assay__tensor_info *t = &trial->inputs[i];
        struct assay__buf shape = {0};
        assay__render_shape(&shape, t);
        assay__page_item(&items, "%s %s %s", t->name, t->dtype, shape.data ? shape.data : "");
        assay__buf_free(&shape);
    }
    if (trial->input_count > INPUTS_SHOWN)
        assay__page_item(&items, "and %zu more input%s", trial->input_count - INPUTS_SHOWN,
                         trial->input_count - INPUTS_SHOWN == 1 ? "" : "s");
    if (items.length) assay__page_row(page, "workload", items.data);
    assay__buf_free(&items);
}

/* --- latency ---------------------------------------------------------------------------------- */

static void put_percentiles(struct assay__page *page, const struct assay__trial *trial)
{
    static const char *const names[][2] = {
        {"latency.min", "min"}, {"latency.p50", "p50"}, {"latency.p90", "p90"},
        {"latency.p95", "p95"}, {"latency.p99", "p99"}, {"latency.p999", "p99.9"},
        {"latency.max", "max"},
    };
    enum { COUNT = sizeof names / sizeof names[0], CELL = 10 };
    size_t per_row = (size_t)(page->columns - 2) / CELL;
    for (size_t first = 0; first < COUNT; first += per_row) {
        size_t end = first + per_row < COUNT ? first + per_row : COUNT;
        assay__buf_puts(page->out, "  ");
        assay__page_style(page, ASSAY__STYLE_DIM);
        for (size_t i = first; i < end; i++)
            assay__page_right(page, names[i][1], CELL);
        assay__page_style(page, ASSAY__STYLE_PLAIN);
        assay__buf_puts(page->out, "\n  ");
        for (size_t i = first; i < end; i++) {
            struct assay__buf cell = {0};
            bool median = strcmp(names[i][1], "p50") == 0;
            assay__render_metric(&cell, assay__trial_metric(trial, names[i][0]));
            if (median) assay__page_style(page, ASSAY__STYLE_BOLD);
            assay__page_right(page, cell.data ? cell.data : "", CELL);
            if (median) assay__page_style(page, ASSAY__STYLE_PLAIN);
            assay__buf_free(&cell);
        }
        assay__buf_putc(page->out, '\n');
    }
}

static void put_samples(struct assay__page *page, const struct assay__trial *trial)
{
    int64_t samples = 0, found = 0;
    double all = 0,
           prerun; /* latency.warmup is the sum of those before measuring and those found */
    size_t launches = 0;
    for (size_t i = 0; i < trial->launch_count; i++) {
        struct assay__launch_counts counts = assay__render_launch_counts(&trial->launches[i]);
        if (!counts.kept) continue;
        launches++;
        found += (int64_t)counts.found;
        samples += (int64_t)counts.counted;
        all += (double)trial->launches[i].warmup;
    }
    const struct assay_metric *counted = assay__trial_metric(trial, "latency.samples");
    const struct assay_metric *dropped = assay__trial_metric(trial, "latency.warmup");
    if (counted && counted->value < 9e15) samples = (int64_t)counted->value;
    prerun = dropped && dropped->value < 9e15 ? dropped->value - all : (double)NAN;
    struct assay__buf text = {0};
    assay__render_count(&text, samples);
    assay__buf_printf(&text, " in %zu launch%s; not counted: ", launches,
                      launches == 1 ? "" : "es");
    if (prerun >= 0) {
        assay__render_count(&text, (int64_t)prerun);
        assay__buf_puts(&text, " of the pre-run, ");
    }
    assay__render_count(&text, found);
    assay__buf_puts(&text, " found to be warm-up");
    if (launches) assay__page_row(page, "samples", text.data ? text.data : "");
    assay__buf_free(&text);
}

/* Ends of an interval lie close together: both in the unit of the median, with two digits more than
 * usual. */
static void put_ends(struct assay__buf *out, const struct assay_metric *low,
                     const struct assay_metric *high, double median_s)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "µs"}, {1e9, "ns"}};
    size_t u = 0;
    while (u < 3 && median_s * units[u].scale < 1)
        u++;
    double scale = units[u].scale;
    int digits = median_s * scale < 10 ? 4 : median_s * scale < 100 ? 3 : 2;
    assay__buf_printf(out, "%s%.*f to %.*f %s", assay__render_mark(low->state), digits,
                      low->value * scale, digits, high->value * scale, units[u].unit);
}

static void put_interval(struct assay__page *page, const struct assay__trial *trial,
                         const char *label, const char *low_name, const char *high_name)
{
    const struct assay_metric *low = assay__trial_metric(trial, low_name);
    const struct assay_metric *high = assay__trial_metric(trial, high_name);
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    struct assay__buf text = {0};
    if (low && high && p50 && p50->value > 0) {
        assay__buf_puts(&text, "95 % interval of p50 ");
        put_ends(&text, low, high, p50->value);
        double half = fmax(high->value - p50->value, p50->value - low->value) / p50->value;
        assay__buf_printf(&text, " (at most %s %% off)", assay__digits(half * 100, 2).text);
    } else {
        assay__buf_puts(&text, "—");
    }
    assay__page_row(page, label, text.data ? text.data : "");
    assay__buf_free(&text);
}

#define ORDER_LEAST 16
#define ORDER_MOST 36

/* The samples in the order they were taken, in one line: drift and steps show. Of several streams
 * or launches the first. */
static void put_order(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__launch *l = trial->launch_count ? &trial->launches[0] : NULL;
    double low, high;
    struct assay__buf text = {0};
    if (!l || !l->samples_ns) return;
    size_t end = l->stream_offsets && l->streams > 1 ? l->stream_offsets[1] : l->sample_count;
    if (end > l->sample_count || end < l->warmup + ORDER_LEAST) return;
    int room = page->columns - 16;
    if (assay__text_sparkline(&text, l->samples_ns + l->warmup, end - l->warmup,
                              room < ORDER_MOST ? (size_t)room : ORDER_MOST, page->ascii, &low,
                              &high)) {
        assay__buf_puts(&text, " medians ");
        assay__render_ns(&text, low);
        assay__buf_puts(&text, " to ");
        assay__render_ns(&text, high);
        assay__page_row(page, "in order", text.data ? text.data : "");
    }
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}

static void put_latency(struct assay__page *page, const struct assay__trial *trial)
{
    static const char *const spread[][2] = {{"latency.mean", "mean"},
                                            {"latency.stddev", "standard deviation"},
                                            {"latency.cv", "variation"},
                                            {"latency.iqr", "quartiles apart"},
                                            {"latency.p5", "5th percentile"}};
    assay__page_heading(page, "Latency", "host to host, profilers off");
    put_percentiles(page, trial);
    assay__page_histogram(page, trial);
    put_samples(page, trial);
    put_order(page, trial);
    put_interval(page, trial, "within", "latency.ci_low", "latency.ci_high");
    if (trial->launch_count > 1)
        put_interval(page, trial, "between", "latency.between_low", "latency.between_high");
    struct assay__buf items = {0};
    for (size_t i = 0; i < sizeof spread / sizeof spread[0]; i++) {
        const struct assay_metric *m = assay__trial_metric(trial, spread[i][0]);
        struct assay__buf value = {0};
        assay__render_metric(&value, m);
        if (m) assay__page_item(&items, "%s %s", spread[i][1], value.data ? value.data : "");
        assay__buf_free(&value);
    }
    if (items.length) assay__page_row(page, "spread", items.data);
    assay__buf_free(&items);
}

/* --- the other metrics, by family ------------------------------------------------------------- */

/* Shown with the latency; every other latency.* is part of the breakdown. */
static bool is_distribution(const char *name)
{
    static const char *const shown[] = {"mean",        "stddev",       "cv",  "min",     "p50",
                                        "p90",         "p95",          "p99", "p999",    "max",
                                        "ci_low",      "ci_high",      "iqr", "samples", "warmup",
                                        "between_low", "between_high", "p5"};
    if (strncmp(name, "latency.", 8) != 0) return false;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strcmp(name + 8, shown[i]) == 0) return true;
    return false;
}

static size_t family_length(const char *name)
{
    return strcspn(name, ".");
}

static void put_family(struct assay__page *page, const struct assay_metrics *set,
                       const char *family, const char *label, bool even_empty)
{
    struct assay__buf items = {0};
    size_t length = strlen(family), missing = 0;
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const struct assay_metric *m = assay_metrics_at(set, i);
        if (family_length(m->name) != length || strncmp(m->name, family, length) != 0) continue;
        if (is_distribution(m->name) || strcmp(m->name, "overhead.layers") == 0)
            continue; /* shown with the latency, with the layers */
        if (m->state == ASSAY_UNAVAILABLE) {
            missing++;
            continue;
        }
        struct assay__buf value = {0}, name = {0};
        assay__buf_puts(&name, m->name[length] ? m->name + length + 1 : m->name);
        for (char *c = name.data; c && *c; c++)
            if (*c == '_' || *c == '.') *c = ' ';
        assay__render_metric(&value, m);
        assay__page_item(&items, "%s %s", name.data ? name.data : "", value.data ? value.data : "");
        assay__buf_free(&value);
        assay__buf_free(&name);
    }
    if (items.length)
        assay__page_row(page, label, items.data);
    else if (missing && even_empty)
        assay__page_row(page, label, "—");
    assay__buf_free(&items);
}

static const char *const families[][2] = {
    {"llm", "generation"},     {"latency", "breakdown"}, {"throughput", "throughput"},
    {"timing", "timing"},      {"memory", "memory"},     {"compute", "compute"},
    {"overhead", "measuring"},
};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

static void put_families(struct assay__page *page, const struct assay_metrics *set)
{
    enum { OTHERS = 32 };
    const char *others[OTHERS];
    size_t other_count = 0;
    char family[64];
    for (size_t f = 0; f < FAMILY_COUNT; f++)
        put_family(page, set, families[f][0], families[f][1], true);
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const char *name = assay_metrics_at(set, i)->name;
        size_t length = family_length(name);
        bool done = length >= sizeof family;
        for (size_t f = 0; f < FAMILY_COUNT && !done; f++)
            done = strlen(families[f][0]) == length && strncmp(name, families[f][0], length) == 0;
        for (size_t o = 0; o < other_count && !done; o++)
            done = family_length(others[o]) == length && strncmp(name, others[o], length) == 0;
        if (done || other_count == OTHERS) continue;
        others[other_count++] = name;
        snprintf(family, sizeof family, "%.*s", (int)length, name);
        put_family(page, set, family, family, false);
    }
}

/* --- trust ------------------------------------------------------------------------------------ */

static void put_list(struct assay__page *page, const char *const *items, size_t count)
{
    enum { SHOWN = 20 };
    for (size_t i = 0; i < count && i < SHOWN; i++)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  • ", items[i]);
    if (count > SHOWN) {
        struct assay__buf more = {0};
        assay__buf_printf(&more, "and %zu more", count - SHOWN);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "    ", more.data ? more.data : "");
        assay__buf_free(&more);
    }
}

static void put_stability(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__stability *s = &trial->stability;
    if (!s->verdict || !*s->verdict) return;
    struct assay__buf text = {0};
    bool stable = strcmp(s->verdict, "stable") == 0;
    assay__page_heading(page, "Stability", "");
    assay__buf_puts(&text, stable                               ? "stable"
                           : strcmp(s->verdict, "too-few") == 0 ? "TOO FEW samples to say"
                                                                : "UNSTABLE");
    if (s->more_iterations > 0) {
        assay__buf_puts(&text, "; about ");
        assay__render_count(&text, s->more_iterations);
        assay__buf_printf(&text, " more iteration%s would have met the goal",
                          s->more_iterations == 1 ? "" : "s");
    }
    assay__page_wrap(page, stable ? ASSAY__STYLE_PLAIN : ASSAY__STYLE_WARN, "  ",
                     text.data ? text.data : "");
    put_list(page, s->reasons, s->reason_count);
    assay__buf_free(&text);
}

static void put_launches(struct assay__page *page, const struct assay__trial *trial)
{
    enum { SHOWN = 20 };
    bool failed = false;
    for (size_t i = 0; i < trial->launch_count; i++)
        failed |= trial->launches[i].state != ASSAY__TRIAL_OK;
    if (trial->launch_count < 2 && !failed) return;
    assay__page_heading(page, "Launches", "one worker process each");
    for (size_t i = 0; i < trial->launch_count && i < SHOWN; i++) {
        const struct assay__launch *l = &trial->launches[i];
        struct assay__buf text = {0}, label = {0};
        assay__buf_printf(&label, "%d", l->id);
        if (l->state != ASSAY__TRIAL_OK) /* with the text: the label's column would cut it */
            assay__buf_printf(&text, "%s; ", assay__trial_state_name(l->state));
        assay__buf_puts(&text, "p50 ");
        assay__render_ns(&text, l->p50_ns);
        assay__buf_puts(&text, ", ");
        struct assay__launch_counts counts = assay__render_launch_counts(l);
        assay__render_count(&text, (int64_t)counts.counted);
        assay__buf_puts(&text, counts.counted == 1 ? " sample" : " samples");
        if (counts.found) {
            assay__buf_puts(&text, " and ");
            assay__render_count(&text, (int64_t)counts.found);
            assay__buf_puts(&text, " found to be warm-up");
        }
        if (l->reason && *l->reason) assay__buf_printf(&text, "; %s", l->reason);
        assay__page_row(page, label.data ? label.data : "", text.data ? text.data : "");
        if (l->state == ASSAY__TRIAL_FAILED && l->log_tail && *l->log_tail)
            assay__page_wrap(page, ASSAY__STYLE_DIM, "              log: ", l->log_tail);
        assay__buf_free(&text);
        assay__buf_free(&label);
    }
    if (trial->launch_count > SHOWN) {
        struct assay__buf more = {0};
        assay__buf_printf(&more, "and %zu more launch%s", trial->launch_count - SHOWN,
                          trial->launch_count - SHOWN == 1 ? "" : "es");
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", more.data ? more.data : "");
        assay__buf_free(&more);
    }
}

/* What a page about one subject lists as not available: names that begin so. The rest of the run is
 * no part of its question. */
static const struct {
    enum assay__profile_kind subject;
    const char *prefixes[8];
} subjects[] = {
    {ASSAY__PROFILE_POWER,
     {"power.", "energy.", "efficiency.", "hardware.", "sensor.", "score.", "overhead.sensors"}},
    {ASSAY__PROFILE_MEMORY, {"memory.", "cache.", "overhead.allocations"}},
    {ASSAY__PROFILE_COUNTERS, {"hardware.", "cache.", "memory.bandwidth", "overhead.counters"}},
};

static bool belongs(enum assay__profile_kind kind, const char *name)
{
    bool subject = false;
    for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
        if (subjects[s].subject != kind) continue;
        subject = true;
        for (size_t i = 0; i < 8 && subjects[s].prefixes[i]; i++)
            if (strncmp(name, subjects[s].prefixes[i], strlen(subjects[s].prefixes[i])) == 0)
                return true;
    }
    return !subject;
}

/* Those that belong to the page, in a set of their own; NULL when out of memory. *others: how many
 * do not. */
static struct assay_metrics *missing_of(const struct assay__trial *trial,
                                        enum assay__profile_kind kind, size_t *others)
{
    struct assay_metrics *kept = assay_metrics_new();
    *others = 0;
    for (size_t i = 0; kept && i < assay_metrics_count(trial->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(trial->metrics, i);
        if (m->state != ASSAY_UNAVAILABLE) continue;
        if (!belongs(kind, m->name)) {
            ++*others;
        } else if (assay_metrics_put(kept, m)) {
            assay_metrics_free(kept);
            kept = NULL;
        }
    }
    return kept;
}

static void put_unavailable(struct assay__page *page, enum assay__profile_kind kind,
                            const struct assay__trial *trial)
{
    struct assay__reason_group *groups = NULL;
    size_t count = 0, others = 0;
    struct assay_metrics *missing = missing_of(trial, kind, &others);
    if (!missing || assay__render_unavailable(missing, &groups, &count)) page->out->failed = true;
    if (count || others) assay__page_heading(page, "Not available", "and why");
    for (size_t i = 0; i < count; i++) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s: %s", groups[i].names.data ? groups[i].names.data : "",
                          groups[i].reason);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  — ", text.data ? text.data : "");
        assay__buf_free(&text);
        assay__buf_free(&groups[i].names);
    }
    free(groups);
    if (others) {
        char more[96];
        snprintf(more, sizeof more, "%zu more unavailable metric%s: assay report … --json", others,
                 others == 1 ? "" : "s");
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", more);
    }
    assay_metrics_free(missing);
}

/* Something was timed. A trial without a sample has its reason at the top; the rest would only say
 * "unknown" again. */
static bool was_measured(const struct assay__trial *trial)
{
    return trial->metrics && assay__trial_metric(trial, "latency.p50");
}

static void put_answer(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf answer = {0};
    assay__render_answer(&answer, trial);
    assay__buf_putc(page->out, '\n');
    assay__page_wrap(page, ASSAY__STYLE_BOLD, "", answer.data ? answer.data : "");
    assay__buf_free(&answer);
}

/* The sections of their own: `subject` is the kind of profile that shows nothing else; UNKNOWN is
 * shown by none alone. */
static const struct {
    enum assay__profile_kind subject;
    assay__section_fn *put;
} sections[] = {
    {ASSAY__PROFILE_COMPARE, assay__section_comparison},
    {ASSAY__PROFILE_SWEEP, assay__section_sweep},
    {ASSAY__PROFILE_TUNE, assay__section_tune},
    {ASSAY__PROFILE_UNKNOWN, assay__section_require},
    {ASSAY__PROFILE_UNKNOWN, assay__section_roofline},
    {ASSAY__PROFILE_POWER, assay__section_power},
    {ASSAY__PROFILE_MEMORY, assay__section_memory},
    {ASSAY__PROFILE_COUNTERS, assay__section_counters},
};
#define SECTION_COUNT (sizeof sections / sizeof sections[0])

static void put_sections(struct assay__page *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    bool alone = assay__kind_info(profile->kind)->alone;
    for (size_t i = 0; i < SECTION_COUNT; i++)
        if (!alone || sections[i].subject == profile->kind) sections[i].put(page, profile, trial);
}

static void put_trial_heading(struct assay__page *page, const struct assay_profile *profile,
                              const struct assay__trial *trial)
{
    char title[32];
    if (profile->trial_count < 2) return;
    snprintf(title, sizeof title, "Trial %d", trial->id);
    assay__page_heading(page, title, assay__trial_state_name(trial->state));
}

static void put_trial(struct assay__page *page, const struct assay_profile *profile,
                      const struct assay__trial *trial)
{
    if (assay__kind_info(profile->kind)->joint) {
        if (trial == profile->trials) put_sections(page, profile, trial);
        return;
    }
    /* the trials behind it are what was tried: the findings tell */
    if (profile->kind == ASSAY__PROFILE_ADVISE && trial != profile->trials) return;
    put_trial_heading(page, profile, trial);
    put_target(page, trial);
    bool measured = was_measured(trial), alone = assay__kind_info(profile->kind)->alone;
    if (!alone && (measured || trial->state != ASSAY__TRIAL_FAILED)) put_answer(page, trial);
    if (measured && !alone) {
        put_latency(page, trial);
        assay__page_heading(page, "Metrics", "");
        put_families(page, trial->metrics);
    }
    if (!alone) assay__page_layers(page, trial);
    if (measured && !alone) assay__page_ncp_groups(page, profile, trial);
    if (measured) put_sections(page, profile, trial);
    if (measured || trial->launch_count > 1) put_launches(page, trial);
    if (measured) put_stability(page, trial);
    if (trial->note_count) {
        assay__page_heading(page, "Workload", "what was assumed");
        put_list(page, trial->notes, trial->note_count);
    }
    if (measured) put_unavailable(page, profile->kind, trial);
}

/* The basic or the detailed report of a trial instead. */
static void put_reviewed(struct assay__page *page, const struct assay_profile *profile,
                         const struct assay__trial *trial, bool detailed)
{
    put_trial_heading(page, profile, trial);
    put_target(page, trial);
    if (was_measured(trial)) assay__page_review(page, profile, trial, detailed);
}

/* What disturbed the run, and what could have unseen. */
static void put_surroundings(struct assay__page *page, const struct assay__environment *e)
{
    if (e->disturbance_count) {
        assay__page_heading(page, "Disturbances", "seen during the run");
        put_list(page, e->disturbances, e->disturbance_count);
    }
    if (e->unknown_count) {
        assay__page_heading(page, "Not observed", "could have disturbed the run unseen");
        put_list(page, e->unknown, e->unknown_count);
    }
}

static void put_findings(struct assay__page *page, const struct assay_profile *profile)
{
    if (profile->finding_count) assay__page_heading(page, "Findings", "");
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__finding *f = &profile->findings[i];
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s: %s", f->severity, f->title);
        if (f->advice && *f->advice) assay__buf_printf(&text, " → %s", f->advice);
        if (f->state && strcmp(f->state, "verified") == 0 && isfinite(f->verified_gain))
            assay__buf_printf(
                &text, ". Verified: %s × %s (%s to %s)", assay__digits(f->verified_gain, 3).text,
                assay__gain_words(f->verified_of), assay__digits(f->verified_low, 3).text,
                assay__digits(f->verified_high, 3).text);
        else if (f->state && strcmp(f->state, "withdrawn") == 0)
            assay__buf_printf(&text, ". Withdrawn: %s", f->reason ? f->reason : "");
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  • ", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

int assay__report_text(const struct assay_profile *profile,
                       const struct assay_report_options *options, struct assay__buf *out,
                       struct assay_error *error)
{
    (void)error;
    size_t start = out->length;
    struct assay__page page = {.out = out, .color = options->color, .ascii = options->ascii};
    page.columns = options->columns ? options->columns : 80;
    if (page.columns < ASSAY__PAGE_MIN_COLUMNS) page.columns = ASSAY__PAGE_MIN_COLUMNS;
    if (page.columns > 200) page.columns = 200;
    page.top = options->top ? options->top : 20;
    assay__page_header(&page, profile);
    bool measured = false, whole = !options->detail || !*options->detail;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        if (whole)
            put_trial(&page, profile, trial);
        else
            put_reviewed(&page, profile, trial, strcmp(options->detail, "detailed") == 0);
        measured |= was_measured(trial);
    }
    if (measured && whole) put_surroundings(&page, &profile->environment);
    if (whole) put_findings(&page, profile);
    if (measured) {
        assay__buf_putc(out, '\n');
        assay__page_wrap(&page, ASSAY__STYLE_DIM, "",
                         "plain measured · = derived · ~ estimated · (published) · — unavailable");
    }
    if (page.ascii) assay__page_to_ascii(out, start);
    return 0;
}
