/* figures_tune.c - the configurations of a tuning as points, latency against throughput: each
 * stands once, by the launches that count for it (judge/tune_report.h), and what is on the front is
 * a series of its own. The search's short launches of a finalist are no points. */
#include "report/figure/figures.h"

#include "judge/tune_report.h"

#include <math.h>
#include <string.h>

/* Whether a setting is the same in every configuration. */
static bool is_common(const struct assay__tune_result *result, const char *word, size_t length)
{
    for (size_t i = 0; i < result->count; i++) {
        const char *at = result->rows[i].judged.label;
        bool found = false;
        while (!found && *at) {
            size_t own = strcspn(at, " ");
            found = own == length && memcmp(at, word, length) == 0;
            at += own;
            at += *at == ' ';
        }
        if (!found) return false;
    }
    return true;
}

/* "float16 all 2 on": the values of what differs, without their axes; NULL: out of memory. */
static const char *short_label(const struct assay__tune_result *result, const char *label,
                               struct assay__arena *arena)
{
    struct assay__buf text = {0};
    for (const char *at = label; *at;) {
        size_t length = strcspn(at, " "), name = 0;
        while (name < length && at[name] != '=')
            name++;
        name = name < length ? name + 1 : 0;
        if (!is_common(result, at, length)) {
            if (text.length) assay__buf_putc(&text, ' ');
            assay__buf_add(&text, at + name, length - name);
        }
        at += length;
        at += *at == ' ';
    }
    const char *copy = text.failed ? NULL : assay__arena_strdup(arena, assay__buf_text(&text));
    assay__buf_free(&text);
    return copy;
}

static bool fill_points(const struct assay__tune_result *result, bool front,
                        struct assay__arena *arena, struct assay__figure_series *out)
{
    double *x = assay__figure_values(arena, result->count),
           *y = assay__figure_values(arena, result->count);
    const char **names = assay__arena_array(arena, result->count + 1, sizeof *names);
    unsigned char *flags = assay__arena_array(arena, result->count + 1, 1);
    size_t count = 0;
    if (!x || !y || !names || !flags) return false;
    for (size_t i = 0; i < result->count; i++) {
        const struct assay__tune_row *row = &result->rows[i];
        if (row->front != front || !isfinite(row->judged.latency.value) ||
            !isfinite(row->judged.throughput.value))
            continue;
        x[count] = row->judged.latency.value, y[count] = row->judged.throughput.value;
        names[count] = short_label(result, row->judged.label, arena);
        if (names[count] && i == result->best) {
            flags[count] = ASSAY__POINT_MARKED;
            names[count] = assay__arena_printf(arena, "best: %s", names[count]);
        }
        if (!names[count++]) return false;
    }
    *out = (struct assay__figure_series){.name = front ? "on the front" : "others",
                                         .x = x,
                                         .y = y,
                                         .names = names,
                                         .flags = flags,
                                         .count = count};
    return true;
}

int assay__figure_tune_front(struct assay__study *study, struct assay__arena *arena,
                             struct assay__figure *figure, struct assay_error *error)
{
    const struct assay__tune_result *result = assay__study_tune(study);
    struct assay__figure_series *series = assay__arena_array(arena, 2, sizeof *series);
    if (!series || study->failed || !fill_points(result, true, arena, &series[0]) ||
        !fill_points(result, false, arena, &series[1]))
        return assay__figure_no_memory(error);
    size_t front = series[0].count, known = front + series[1].count;
    if (known < 2)
        return assay_error_set(
            error, ASSAY_ENOTFOUND,
            "fewer than two configurations of the tuning have a latency and a throughput");
    if (!front) series[0] = series[1]; /* a series of nothing would stand in the legend */
    *figure = assay__figure_begin(ASSAY__FIGURE_SCATTER, "pareto");
    figure->title = "Latency against throughput";
    figure->x_title = "p50 latency", figure->x_unit = "s";
    figure->y_title = "throughput", figure->y_unit = "1/s", figure->y_zero = true;
    figure->series = series, figure->series_count = front && known > front ? 2 : 1;
    figure->caption = assay__arena_printf(
        arena,
        "Left is faster, up is more. On the front, nothing else is better in one of latency, "
        "throughput, memory and energy and as good in the rest; what had fewer than two launches "
        "is not on it.%s",
        result->best < result->count ? ASSAY__FIGURE_BEST : "");
    figure->description = assay__arena_printf(
        arena, "%zu configurations, %zu of them on the front.", known, front);
    return figure->description && figure->caption ? 0 : assay__figure_no_memory(error);
}
