/* figures_sweep.c - a sweep along its axis: throughput, latency, energy, bandwidth; the best point
 * and the knee marked. The axis is the first one whose values are numbers and differ; every setting
 * of the other axes is a line. A sweep without such an axis is bars. (judge/sweep.h) */
#include "report/figure/figures.h"

#include "judge/sweep.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LINES 8

enum { THROUGHPUT, LATENCY, ENERGY, BANDWIDTH, QUANTITIES };

static const struct {
    const char *title, *y_title, *unit, *caption;
} quantities[QUANTITIES] = {
    {"Throughput", "throughput", "1/s",
     "Higher is more work per second; beyond the knee a larger step gains little."},
    {"Latency", "p50 latency", "s",
     "Lower is faster; intervals span the min and max of the launch medians."},
    {"Energy", "gross energy per inference", "J",
     "Lower is less energy per inference, including what the machine draws when idle."},
    {"Bandwidth", "bytes moved", "B/s",
     "Higher is more bytes moved per second; where it levels off, memory is the limit."},
};

static double value_of(const struct assay__sweep_point *p, int quantity)
{
    if (!p->judged.usable) return NAN;
    const double values[QUANTITIES] = {p->judged.throughput.value, p->judged.latency.value,
                                       p->judged.energy.value, p->judged.bandwidth.value};
    return values[quantity];
}

static bool number_of(const struct assay__sweep_point *p, size_t axis, double *value)
{
    return p->values[axis] && assay__text_double(p->values[axis], value) == 0;
}

/* An axis of different numbers; SIZE_MAX: none. */
static size_t find_axis(const struct assay__sweep *sweep)
{
    for (size_t a = 0; a < sweep->axes.count; a++) {
        double first = NAN, value;
        bool all = sweep->count > 1, differ = false;
        for (size_t i = 0; i < sweep->count && all; i++) {
            all = number_of(&sweep->points[i], a, &value);
            if (all && i == 0) first = value;
            differ |= all && value != first;
        }
        if (all && differ) return a;
    }
    return SIZE_MAX;
}

/* What the other axes say: "threads=2 opt=all"; "" with one axis. */
static const char *rest_of(const struct assay__sweep *sweep, size_t i, size_t axis,
                           struct assay__arena *arena)
{
    struct assay__buf text = {0};
    for (size_t a = 0; a < sweep->axes.count; a++)
        if (a != axis && sweep->points[i].values[a] && *sweep->points[i].values[a])
            assay__buf_printf(&text, "%s%s=%s", text.length ? " " : "",
                              assay__axis_name(sweep->axes.items[a]), sweep->points[i].values[a]);
    const char *copy = text.failed ? NULL : assay__arena_strdup(arena, assay__buf_text(&text));
    assay__buf_free(&text);
    return copy;
}

struct place {
    double x;
    size_t point;
};

static int by_x(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

/* One line: the points whose other axes say `rest`, in the order of the axis. */
static bool fill_line(const struct assay__sweep *sweep, size_t axis, int quantity,
                      const char *const *rests, const char *rest, struct assay__arena *arena,
                      struct assay__figure_series *out)
{
    struct place *places = assay__arena_array(arena, sweep->count, sizeof *places);
    double *x = assay__figure_values(arena, sweep->count),
           *y = assay__figure_values(arena, sweep->count),
           *low = assay__figure_values(arena, sweep->count),
           *high = assay__figure_values(arena, sweep->count);
    unsigned char *flags = assay__arena_array(arena, sweep->count, 1);
    size_t count = 0;
    if (!places || !x || !y || !low || !high || !flags) return false;
    for (size_t i = 0; i < sweep->count; i++) {
        double value;
        if (strcmp(rests[i], rest) != 0 || !number_of(&sweep->points[i], axis, &value)) continue;
        places[count++] = (struct place){value, i};
    }
    qsort(places, count, sizeof *places, by_x);
    for (size_t k = 0; k < count; k++) {
        const struct assay__sweep_point *p = &sweep->points[places[k].point];
        x[k] = places[k].x, y[k] = value_of(p, quantity);
        if (quantity == LATENCY && p->judged.usable) low[k] = p->low_s, high[k] = p->high_s;
        if (places[k].point == sweep->best) flags[k] = ASSAY__POINT_MARKED;
    }
    *out = (struct assay__figure_series){.name = rest,
                                         .x = x,
                                         .y = y,
                                         .low = quantity == LATENCY ? low : NULL,
                                         .high = quantity == LATENCY ? high : NULL,
                                         .flags = flags,
                                         .count = count};
    return true;
}

/* A line without a value, of points that failed or lack this quantity, would stand in the legend
 * alone. */
static bool has_values(const struct assay__sweep *sweep, const char *const *rests, const char *rest,
                       int quantity)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (isfinite(value_of(&sweep->points[i], quantity)) && strcmp(rests[i], rest) == 0)
            return true;
    return false;
}

static bool fill_lines(const struct assay__sweep *sweep, size_t axis, int quantity,
                       struct assay__arena *arena, struct assay__figure *figure)
{
    const char **rests = assay__arena_array(arena, sweep->count, sizeof *rests);
    figure->series = assay__arena_array(arena, LINES, sizeof *figure->series);
    size_t left = 0;
    if (!rests || !figure->series) return false;
    for (size_t i = 0; i < sweep->count; i++)
        if (!(rests[i] = rest_of(sweep, i, axis, arena))) return false;
    for (size_t i = 0; i < sweep->count; i++) {
        size_t k = 0;
        while (k < figure->series_count && strcmp(figure->series[k].name, rests[i]) != 0)
            k++;
        if (k < figure->series_count || !has_values(sweep, rests, rests[i], quantity)) continue;
        if (k == LINES) {
            left++;
            continue;
        }
        if (!fill_line(sweep, axis, quantity, rests, rests[i], arena, &figure->series[k]))
            return false;
        figure->series_count++;
    }
    if (left)
        figure->note = assay__arena_printf(
            arena, "%zu more points with other settings are in the profile.", left);
    return figure->note != NULL;
}

/* Ticks where the points are, when the axis is logarithmic; and the range. */
static bool add_ticks(const struct assay__sweep *sweep, size_t axis, struct assay__arena *arena,
                      struct assay__figure *figure)
{
    double *ticks = assay__figure_values(arena, sweep->count), low = INFINITY, high = -INFINITY;
    size_t count = 0;
    if (!ticks) return false;
    for (size_t i = 0; i < sweep->count; i++) {
        double value = NAN;
        bool again = !number_of(&sweep->points[i], axis, &value);
        for (size_t k = 0; k < count && !again; k++)
            again = ticks[k] == value;
        if (again) continue;
        ticks[count++] = value;
        low = fmin(low, value), high = fmax(high, value);
    }
    figure->x_log = low > 0 && high >= 8 * low;
    if (count <= 12) figure->x_ticks = ticks, figure->x_tick_count = count;
    return true;
}

static bool add_marks(const struct assay__sweep *sweep, size_t axis, struct assay__arena *arena,
                      struct assay__figure *figure)
{
    const size_t points[] = {sweep->knee, sweep->best};
    static const char *const names[] = {"knee", "best"};
    figure->marks = assay__arena_array(arena, 2, sizeof *figure->marks);
    for (size_t i = 0; figure->marks && i < 2; i++) {
        double at;
        if (points[i] >= sweep->count || !number_of(&sweep->points[points[i]], axis, &at)) continue;
        if (figure->mark_count && figure->marks[0].at == at)
            figure->marks[0].text = "knee and best";
        else
            figure->marks[figure->mark_count++] = (struct assay__figure_mark){true, at, names[i]};
    }
    if (figure->mark_count == 2 && figure->marks[0].at > figure->marks[1].at) {
        struct assay__figure_mark first = figure->marks[0];
        figure->marks[0] = figure->marks[1], figure->marks[1] = first;
    }
    return figure->marks != NULL;
}

static bool fill_bars(const struct assay__sweep *sweep, int quantity, struct assay__arena *arena,
                      struct assay__figure *figure)
{
    double *y = assay__figure_values(arena, sweep->count);
    const char **names = assay__arena_array(arena, sweep->count, sizeof *names);
    unsigned char *flags = assay__arena_array(arena, sweep->count, 1);
    figure->series = assay__arena_array(arena, 1, sizeof *figure->series);
    if (!y || !names || !flags || !figure->series) return false;
    for (size_t i = 0; i < sweep->count; i++) {
        y[i] = value_of(&sweep->points[i], quantity);
        names[i] = sweep->points[i].judged.label;
        if (i == sweep->best) flags[i] = ASSAY__POINT_MARKED;
    }
    figure->series[0] = (struct assay__figure_series){
        .name = "", .y = y, .names = names, .flags = flags, .count = sweep->count};
    figure->series_count = 1;
    figure->categories = names;
    return true;
}

static int make(const struct assay__sweep *sweep, int quantity, struct assay__arena *arena,
                struct assay__figure *figure, struct assay_error *error)
{
    size_t axis = find_axis(sweep), known = 0;
    bool lines = axis != SIZE_MAX;
    for (size_t i = 0; i < sweep->count; i++)
        known += isfinite(value_of(&sweep->points[i], quantity));
    if (!known) return ASSAY_ENOTFOUND;
    *figure = assay__figure_begin(lines ? ASSAY__FIGURE_LINES : ASSAY__FIGURE_BARS, "sweep");
    figure->title = lines ? assay__arena_printf(arena, "%s against %s", quantities[quantity].title,
                                                assay__axis_name(sweep->axes.items[axis]))
                          : quantities[quantity].title;
    figure->y_title = quantities[quantity].y_title, figure->y_unit = quantities[quantity].unit;
    figure->y_zero = true;
    figure->caption = quantities[quantity].caption;
    figure->description = quantity == THROUGHPUT ? assay__arena_printf(arena, "%s; knee: %s.",
                                                                       sweep->why, sweep->knee_why)
                                                 : assay__arena_printf(arena, "%s.", sweep->why);
    bool done = figure->title && figure->description;
    if (lines) {
        figure->x_title = assay__axis_name(sweep->axes.items[axis]), figure->x_unit = "count";
        done = done && fill_lines(sweep, axis, quantity, arena, figure) &&
               add_ticks(sweep, axis, arena, figure) && add_marks(sweep, axis, arena, figure);
    } else {
        done = done && fill_bars(sweep, quantity, arena, figure);
    }
    return done ? 0 : assay__figure_no_memory(error);
}

int assay__figure_sweep(struct assay__study *study, const struct assay__trial *trial, size_t part,
                        struct assay__arena *arena, struct assay__figure *figure,
                        struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)trial;
    if (profile->kind != ASSAY__PROFILE_SWEEP)
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "this profile is not of a sweep; 'assay sweep' makes one");
    const struct assay__sweep *sweep = assay__study_sweep(study);
    if (study->failed) return assay__figure_no_memory(error);
    for (int q = 0; q < QUANTITIES; q++) {
        int code = make(sweep, q, arena, figure, error);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part == 0) return code;
        part--;
    }
    return assay_error_set(error, ASSAY_ENOTFOUND, "no point of the sweep could be measured");
}
