/* datum.c - values of a document, and the one way in which numbers are printed for people. */
#include "report/doc/datum.h"

#include "report/json/json_members.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct assay__datum assay__datum_none(void)
{
    return (struct assay__datum){.kind = ASSAY__DATUM_NONE};
}

struct assay__datum assay__datum_text(const char *text)
{
    if (!text) return assay__datum_none();
    return (struct assay__datum){.kind = ASSAY__DATUM_TEXT, .text = text};
}

struct assay__datum assay__datum_number(double number, const char *unit, enum assay_state state)
{
    return (struct assay__datum){
        .kind = ASSAY__DATUM_NUMBER, .number = number, .unit = unit, .state = state};
}

struct assay__datum assay__measured(double number, const char *unit)
{
    return assay__datum_number(number, unit, ASSAY_MEASURED);
}

struct assay__datum assay__derived(double number, const char *unit)
{
    return assay__datum_number(number, unit, ASSAY_DERIVED);
}

struct assay__datum assay__datum_count(double count)
{
    return assay__measured(count, ASSAY__UNIT_COUNT);
}

struct assay__datum assay__datum_unknown(const char *why)
{
    return (struct assay__datum){
        .kind = ASSAY__DATUM_NUMBER, .number = NAN, .state = ASSAY_UNAVAILABLE, .note = why};
}

struct assay__datum assay__datum_badge(const char *text, enum assay__badge badge)
{
    struct assay__datum value = assay__datum_text(text);
    value.badge = badge;
    return value;
}

/* Ratios that are not shares: factors of times, and numbers without a unit. */
static const char *unit_of(const struct assay_metric *metric)
{
    static const struct {
        const char *name, *unit;
    } rows[] = {
        {"overhead.layers", ASSAY__UNIT_FACTOR},      {"overhead.counters", ASSAY__UNIT_FACTOR},
        {"overhead.allocations", ASSAY__UNIT_FACTOR}, {"hardware.ipc", ASSAY__UNIT_HUNDREDTHS},
        {"realtime.factor", ASSAY__UNIT_PLAIN},       {"realtime.speed", ASSAY__UNIT_TIMES}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(metric->name, rows[i].name) == 0) return rows[i].unit;
    return metric->unit;
}

struct assay__datum assay__datum_metric(const struct assay_metric *metric)
{
    if (!metric) return assay__datum_unknown(NULL);
    struct assay__datum value = assay__datum_number(metric->value, unit_of(metric), metric->state);
    value.name = metric->name;
    value.source = metric->source;
    value.note = metric->note;
    return value;
}

struct assay__datum assay__datum_judged(const struct assay__number *number)
{
    struct assay__datum value = assay__datum_metric(number->metric);
    value.unit = NULL;
    if (!isfinite(number->value)) return value;
    if (!number->metric || number->metric->state == ASSAY_UNAVAILABLE) value.state = ASSAY_DERIVED;
    value.number = number->value;
    return value;
}

static bool is_number(const struct assay__datum *value)
{
    return value->kind == ASSAY__DATUM_NUMBER && value->state != ASSAY_UNAVAILABLE &&
           isfinite(value->number);
}

bool assay__datum_is_known(const struct assay__datum *value)
{
    if (value->kind == ASSAY__DATUM_TEXT) return value->text[0] != '\0';
    return is_number(value);
}

static void print_scaled(struct assay__buf *out, double number, const char *unit)
{
    if (strcmp(unit, ASSAY__UNIT_FACTOR) == 0)
        assay__buf_printf(out, "%.2f ×", number);
    else if (strcmp(unit, ASSAY__UNIT_HUNDREDTHS) == 0)
        assay__buf_printf(out, "%.2f", number);
    else if (strcmp(unit, ASSAY__UNIT_TIMES) == 0)
        assay__buf_printf(out, "%s ×", assay__digits(number, 3).text);
    else if (strcmp(unit, ASSAY__UNIT_SHORT) == 0 && fabs(number) < 1e18)
        assay__print_short_count(out, (int64_t)llround(number));
    else if (strcmp(unit, ASSAY__UNIT_PLAIN) == 0 || strcmp(unit, ASSAY__UNIT_SHORT) == 0)
        assay__buf_puts(out, assay__digits(number, 3).text);
    else
        assay__text_put_scaled(out, number, unit);
}

void assay__datum_print(struct assay__buf *out, const struct assay__datum *value, const char *unit,
                        double factor)
{
    if (value->kind == ASSAY__DATUM_NONE) return;
    if (value->kind == ASSAY__DATUM_TEXT || value->text) {
        assay__buf_puts(out, value->text);
        return;
    }
    if (!is_number(value)) {
        assay__buf_puts(out, "—");
        return;
    }
    double number = value->number;
    if (!value->unit && factor != 0) number *= factor;
    assay__buf_puts(out, assay__state_mark(value->state));
    print_scaled(out, number, value->unit ? value->unit : unit ? unit : "");
    if (value->state == ASSAY_PUBLISHED) assay__buf_puts(out, " (published)");
}

/* --- human-readable numbers ------------------------------------------------------------------- */

const char *assay__plural(double count)
{
    return count == 1 ? "" : "s";
}

void assay__print_number(struct assay__buf *out, double value)
{
    if (!isfinite(value)) return;
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_number(&writer, value);
}

void assay__print_count(struct assay__buf *out, int64_t value)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    for (int i = 0; i < length; i++) {
        assay__buf_putc(out, digits[i]);
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
            assay__buf_putc(out, ',');
    }
}

void assay__print_short_count(struct assay__buf *out, int64_t value)
{
    static const char *const prefixes[] = {"k", "M", "G", "T"};
    if (value < 10000) {
        assay__print_count(out, value);
        return;
    }
    double scaled = (double)value / 1000;
    size_t p = 0;
    for (; scaled >= 999.5 && p < 3; p++)
        scaled /= 1000;
    int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    assay__buf_printf(out, "%.*f %s", decimals, scaled, prefixes[p]);
}

const char *assay__state_mark(enum assay_state state)
{
    return state == ASSAY_DERIVED ? "=" : state == ASSAY_ESTIMATED ? "~" : "";
}

struct assay__digits assay__shown(const struct assay_metric *metric)
{
    struct assay__datum value = assay__datum_metric(metric);
    struct assay__buf text = {0};
    struct assay__digits made;
    assay__datum_print(&text, &value, NULL, 0);
    snprintf(made.text, sizeof made.text, "%s", assay__buf_text(&text));
    assay__buf_free(&text);
    return made;
}

void assay__print_model_names(struct assay__buf *out, const struct assay_profile *profile)
{
    const char *own = profile->models[0]->name;
    size_t more = 0; /* other commands make copies of the one model */
    if (profile->kind == ASSAY__PROFILE_BENCH) own = "standard benchmarks";
    while (profile->kind == ASSAY__PROFILE_COMPARE && assay__trial_of_model(profile, more + 1))
        more++;
    assay__buf_puts(out, own && *own ? own : "(unnamed model)");
    if (more == 1)
        assay__buf_printf(out, " and %s", profile->models[1]->name);
    else if (more)
        assay__buf_printf(out, " and %zu more models", more);
}

void assay__print_shape(struct assay__buf *out, const struct assay__tensor_info *tensor)
{
    if (tensor->rank < 0) assay__buf_puts(out, "unknown shape");
    if (tensor->rank == 0) assay__buf_puts(out, "scalar");
    for (int d = 0; d < tensor->rank; d++) {
        const char *symbol = tensor->symbols && tensor->symbols[d] ? tensor->symbols[d] : "";
        if (d) assay__buf_putc(out, 'x');
        if (tensor->dims[d] >= 0)
            assay__buf_printf(out, "%" PRId64, tensor->dims[d]);
        else
            assay__buf_puts(out, *symbol ? symbol : "?");
    }
}

struct assay__launch_counts assay__launch_counts(const struct assay__launch *launch)
{
    size_t streams = launch->streams > 1 ? (size_t)launch->streams : 1;
    size_t found = launch->sample_count ? launch->warmup * streams : 0;
    struct assay__launch_counts counts = {NAN, launch->sample_count, found, 0};
    const struct assay_metric *all = assay_metrics_get(launch->metrics, "latency.warmup");
    if (found > counts.kept) counts.found = found = counts.kept;
    counts.counted = counts.kept - found;
    if (all && all->state != ASSAY_UNAVAILABLE && all->value >= (double)launch->warmup)
        counts.prerun = all->value - (double)launch->warmup; /* the metric is their sum */
    return counts;
}
