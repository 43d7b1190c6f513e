/* figures_sweep.c - a sweep along its axis: throughput, latency, energy, bandwidth; the best point,
 * those tied with it and the knee marked. The axis is the numeric one with the most values; every
 * setting of the other axes is a line. A sweep without such an axis is drawn as bars. A sweep with
 * several axes is also a heat map: the axis across, the other settings down. (judge/sweep.h) */
#include "report/figure/figures.h"

#include "judge/sweep.h"

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
     "Higher is more work per second; beyond the knee, larger steps gain little."},
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

/* How many different values the points have on the axis; 0: one of them is not a number. */
static size_t count_values(const struct assay__sweep *sweep, size_t axis)
{
    size_t count = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        double value, before;
        bool again = false;
        if (!number_of(&sweep->points[i], axis, &value)) return 0;
        for (size_t k = 0; k < i && !again; k++)
            again = number_of(&sweep->points[k], axis, &before) && before == value;
        count += !again;
    }
    return count;
}

/* The axis with the most distinct numbers, at least two; SIZE_MAX: none. */
static size_t find_axis(const struct assay__sweep *sweep)
{
    size_t found = SIZE_MAX, most = 1;
    for (size_t a = 0; a < sweep->axes.count; a++) {
        size_t values = count_values(sweep, a);
        if (values > most) most = values, found = a;
    }
    return found;
}

/* The mark of the point: the best, or tied with it. */
static unsigned char flag_of(const struct assay__sweep *sweep, size_t point)
{
    if (point == sweep->best) return ASSAY__POINT_MARKED;
    for (size_t i = 0; i < sweep->alike_count; i++)
        if (sweep->alike[i] == point) return ASSAY__POINT_TIED;
    return 0;
}

/* The values of the other axes: "threads=2 opt=all"; "" with one axis. */
static const char *rest_of(struct assay__sketch *k, const struct assay__sweep *sweep, size_t i,
                           size_t axis)
{
    struct assay__buf text = {0};
    for (size_t a = 0; a < sweep->axes.count; a++)
        if (a != axis && sweep->points[i].values[a] && *sweep->points[i].values[a])
            assay__buf_printf(&text, "%s%s=%s", text.length ? " " : "",
                              assay__axis_name(sweep->axes.items[a]), sweep->points[i].values[a]);
    return assay__sketch_take(k, &text);
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

/* One line: the points whose other axes equal `rest`, in the order of the axis. */
static void add_line(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis,
                     int quantity, const char *const *rests, const char *rest)
{
    struct place *places = assay__arena_array(k->arena, sweep->count, sizeof *places);
    struct assay__points p;
    bool latency = quantity == LATENCY;
    size_t count = 0;
    if (!places) k->failed = true;
    if (!assay__sketch_points(k, &p, sweep->count, latency ? ASSAY__WITH_INTERVALS : 0) || !places)
        return;
    for (size_t i = 0; i < sweep->count; i++) {
        double value;
        if (strcmp(rests[i], rest) == 0 && number_of(&sweep->points[i], axis, &value))
            places[count++] = (struct place){value, i};
    }
    qsort(places, count, sizeof *places, by_x);
    for (; p.count < count; p.count++) {
        const struct place *at = &places[p.count];
        const struct assay__sweep_point *point = &sweep->points[at->point];
        p.x[p.count] = at->x, p.y[p.count] = value_of(point, quantity);
        if (latency && point->judged.usable)
            p.low[p.count] = point->low_s, p.high[p.count] = point->high_s;
        p.flags[p.count] = flag_of(sweep, at->point);
    }
    assay__sketch_add(k, rest, &p);
}

static bool has_values(const struct assay__sweep *sweep, const char *const *rests, const char *rest,
                       int quantity)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (isfinite(value_of(&sweep->points[i], quantity)) && strcmp(rests[i], rest) == 0)
            return true;
    return false;
}

static void add_lines(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis,
                      int quantity)
{
    struct assay__figure *f = k->figure;
    const char **rests = assay__arena_array(k->arena, sweep->count, sizeof *rests);
    size_t left = 0;
    if (!rests) k->failed = true;
    for (size_t i = 0; rests && i < sweep->count; i++)
        rests[i] = rest_of(k, sweep, i, axis);
    for (size_t i = 0; i < sweep->count && !k->failed; i++) {
        size_t line = 0;
        while (line < f->series_count && strcmp(f->series[line].name, rests[i]) != 0)
            line++;
        if (line < f->series_count || !has_values(sweep, rests, rests[i], quantity)) continue;
        if (line == LINES)
            left++;
        else
            add_line(k, sweep, axis, quantity, rests, rests[i]);
    }
    if (left)
        f->note = assay__sketch_printf(k, "%zu more points with other settings are in the profile.",
                                       left);
}

/* The best and the points that are tied with it, joined in the order of the axis: a separate series
 * in the background. */
static void join_tied(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis,
                      int quantity)
{
    struct place *places = assay__arena_array(k->arena, sweep->count, sizeof *places);
    struct assay__points p;
    size_t count = 0;
    if (!sweep->alike_count) return;
    if (!places) k->failed = true;
    if (!places || !assay__sketch_points(k, &p, sweep->count, 0)) return;
    for (size_t i = 0; i < sweep->count; i++) {
        double value;
        if (flag_of(sweep, i) && number_of(&sweep->points[i], axis, &value))
            places[count++] = (struct place){value, i};
    }
    qsort(places, count, sizeof *places, by_x);
    for (; p.count < count; p.count++) {
        p.x[p.count] = places[p.count].x;
        p.y[p.count] = value_of(&sweep->points[places[p.count].point], quantity);
    }
    struct assay__figure_series *s = assay__sketch_add(k, "tied with the best", &p);
    s->joined = s->faint = true;
}

/* Ticks at the points if the axis is logarithmic; and the range. */
static void add_ticks(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis)
{
    double *ticks = assay__figure_values(k->arena, sweep->count), low = INFINITY, high = -INFINITY;
    size_t count = 0;
    if (!ticks) k->failed = true;
    for (size_t i = 0; ticks && i < sweep->count; i++) {
        double value = NAN;
        bool again = !number_of(&sweep->points[i], axis, &value);
        for (size_t t = 0; t < count && !again; t++)
            again = ticks[t] == value;
        if (again) continue;
        ticks[count++] = value;
        low = fmin(low, value), high = fmax(high, value);
    }
    k->figure->x_log = low > 0 && high >= 8 * low;
    if (count <= 12) k->figure->x_ticks = ticks, k->figure->x_tick_count = count;
}

/* In the order of the axis; one mark if both are the same. */
static void add_marks(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis)
{
    double knee = NAN, best = NAN;
    if (sweep->knee < sweep->count) number_of(&sweep->points[sweep->knee], axis, &knee);
    if (sweep->best < sweep->count) number_of(&sweep->points[sweep->best], axis, &best);
    if (knee == best) {
        assay__sketch_mark(k, true, best, "knee and best");
        return;
    }
    if (best < knee) assay__sketch_mark(k, true, best, "best");
    if (isfinite(knee)) assay__sketch_mark(k, true, knee, "knee");
    if (isfinite(best) && !(best < knee)) assay__sketch_mark(k, true, best, "best");
}

static void add_bars(struct assay__sketch *k, const struct assay__sweep *sweep, int quantity)
{
    struct assay__points p;
    if (!assay__sketch_points(k, &p, sweep->count, ASSAY__WITH_NAMES)) return;
    for (; p.count < sweep->count; p.count++) {
        p.y[p.count] = value_of(&sweep->points[p.count], quantity);
        p.names[p.count] = sweep->points[p.count].judged.label;
        p.flags[p.count] = flag_of(sweep, p.count);
    }
    assay__sketch_add(k, "", &p);
    k->figure->categories = p.names;
}

/* The quantity of the goal, which decides ties. */
static int quantity_of(const struct assay__sketch *k)
{
    static const int by_goal[] = {THROUGHPUT, LATENCY, ENERGY};
    return by_goal[k->study->profile->plan.goal];
}

static int make(struct assay__sketch *k, const struct assay__sweep *sweep, int quantity)
{
    size_t axis = find_axis(sweep), known = 0;
    const char *title = quantities[quantity].title, *name = NULL;
    for (size_t i = 0; i < sweep->count; i++)
        known += isfinite(value_of(&sweep->points[i], quantity));
    if (!known) return ASSAY_ENOTFOUND;
    if (axis != SIZE_MAX) name = assay__axis_name(sweep->axes.items[axis]);
    if (name) title = assay__sketch_printf(k, "%s against %s", title, name);
    struct assay__figure *f = assay__sketch_begin(
        k, name ? ASSAY__FIGURE_LINES : ASSAY__FIGURE_BARS, "sweep", title);
    f->y_title = quantities[quantity].y_title, f->y_unit = quantities[quantity].unit;
    f->y_zero = f->small = true;
    f->caption = quantities[quantity].caption;
    bool knee = quantity == THROUGHPUT;
    f->description = assay__sketch_printf(k, "%s%s%s.", sweep->why, knee ? "; knee: " : "",
                                          knee ? sweep->knee_why : "");
    if (name) {
        f->x_title = name, f->x_unit = "count";
        add_lines(k, sweep, axis, quantity);
        if (quantity == quantity_of(k)) join_tied(k, sweep, axis, quantity);
        add_ticks(k, sweep, axis);
        add_marks(k, sweep, axis);
    } else {
        add_bars(k, sweep, quantity);
    }
    return assay__sketch_end(k);
}

int assay__figure_sweep(struct assay__sketch *k, size_t part)
{
    if (k->study->profile->kind != ASSAY__PROFILE_SWEEP)
        return assay__sketch_none(k, "this profile is not from a sweep");
    const struct assay__sweep *sweep = assay__study_sweep(k->study);
    if (k->study->failed) return assay__sketch_end(k);
    for (int q = 0; q < QUANTITIES; q++) {
        int code = make(k, sweep, q);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part-- == 0) return code;
    }
    return assay__sketch_none(k, "no point of the sweep could be measured");
}

/* --- the table of colours --------------------------------------------------------------------- */

enum { CELLS = 24, SMALL_COLUMNS = 6 }; /* maximum rows and columns; those of a small figure */

/* The values of the axis in their order; returns how many, at most CELLS. */
static size_t list_columns(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis,
                           double *values, const char **names)
{
    size_t count = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        double value;
        size_t at = 0;
        if (!number_of(&sweep->points[i], axis, &value)) continue;
        while (at < count && values[at] < value)
            at++;
        if ((at < count && values[at] == value) || count == CELLS) continue;
        for (size_t m = count++; m > at; m--)
            values[m] = values[m - 1], names[m] = names[m - 1];
        values[at] = value;
        names[at] = assay__sketch_printf(k, "%s", sweep->points[i].values[axis]);
    }
    return count;
}

static void add_row(struct assay__sketch *k, const struct assay__sweep *sweep, size_t axis,
                    const char *const *rests, const char *rest, const double *columns, size_t count)
{
    struct assay__points p;
    int quantity = quantity_of(k);
    if (!assay__sketch_points(k, &p, count, ASSAY__WITH_NAMES)) return;
    p.count = count;
    for (size_t c = 0; c < count; c++)
        p.x[c] = (double)c;
    for (size_t i = 0; i < sweep->count; i++) {
        double value;
        if (strcmp(rests[i], rest) != 0 || !number_of(&sweep->points[i], axis, &value)) continue;
        for (size_t c = 0; c < count; c++) {
            if (columns[c] != value) continue;
            p.y[c] = value_of(&sweep->points[i], quantity);
            p.names[c] = sweep->points[i].judged.label;
            p.flags[c] = flag_of(sweep, i);
        }
    }
    assay__sketch_add(k, rest, &p);
}

int assay__figure_heat(struct assay__sketch *k, size_t part)
{
    if (part || k->study->profile->kind != ASSAY__PROFILE_SWEEP)
        return assay__sketch_none(k, "this profile is not from a sweep");
    const struct assay__sweep *sweep = assay__study_sweep(k->study);
    if (k->study->failed) return assay__sketch_end(k);
    size_t axis = find_axis(sweep), known = 0, columns;
    int quantity = quantity_of(k);
    for (size_t i = 0; i < sweep->count; i++)
        known += isfinite(value_of(&sweep->points[i], quantity));
    if (axis == SIZE_MAX || sweep->axes.count < 2)
        return assay__sketch_none(k, "the sweep does not have two axes, one of them of numbers");
    if (!known) return assay__sketch_none(k, "no point of the sweep could be measured");
    double *values = assay__figure_values(k->arena, CELLS);
    const char **names = assay__arena_array(k->arena, CELLS, sizeof *names),
               **rests = assay__arena_array(k->arena, sweep->count, sizeof *rests);
    if (!values || !names || !rests) k->failed = true;
    if (k->failed) return assay__sketch_end(k);
    const char *name = assay__axis_name(sweep->axes.items[axis]);
    struct assay__figure *f = assay__sketch_begin(
        k, ASSAY__FIGURE_HEAT, "heat",
        assay__sketch_printf(k, "%s by %s and the other settings", quantities[quantity].title,
                             name));
    columns = list_columns(k, sweep, axis, values, names);
    for (size_t i = 0; i < sweep->count; i++)
        rests[i] = rest_of(k, sweep, i, axis);
    for (size_t i = 0; i < sweep->count && f->series_count < CELLS && !k->failed; i++) {
        size_t row = 0;
        while (row < f->series_count && strcmp(f->series[row].name, rests[i]) != 0)
            row++;
        if (row == f->series_count) add_row(k, sweep, axis, rests, rests[i], values, columns);
    }
    f->categories = names;
    f->x_title = name, f->y_title = quantities[quantity].y_title;
    f->y_unit = quantities[quantity].unit;
    f->lower = quantity != THROUGHPUT;
    f->small = columns <= SMALL_COLUMNS;
    f->caption =
        sweep->best == SIZE_MAX ? "Teal is better, brown is worse."
        : sweep->alike_count
            ? "Teal is better, brown is worse; the frame contains the best and those tied with it."
            : "Teal is better, brown is worse; the frame is around the best.";
    f->description = assay__sketch_printf(k, "%s.", sweep->why);
    return assay__sketch_end(k);
}
