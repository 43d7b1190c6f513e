/* figures_sweep.c - a sweep along its axis: throughput, latency, energy, bandwidth; the best point
 * and the knee marked. The axis is the first one whose values are numbers and differ; every setting
 * of the other axes is a line. A sweep without such an axis is bars. (judge/sweep.h) */
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
        if (at->point == sweep->best) p.flags[p.count] = ASSAY__POINT_MARKED;
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

/* Ticks where the points are, when the axis is logarithmic; and the range. */
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

/* In the order of the axis; one mark where both are the same. */
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
        if (p.count == sweep->best) p.flags[p.count] = ASSAY__POINT_MARKED;
    }
    assay__sketch_add(k, "", &p);
    k->figure->categories = p.names;
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
    f->y_zero = true;
    f->caption = quantities[quantity].caption;
    bool knee = quantity == THROUGHPUT;
    f->description = assay__sketch_printf(k, "%s%s%s.", sweep->why, knee ? "; knee: " : "",
                                          knee ? sweep->knee_why : "");
    if (name) {
        f->x_title = name, f->x_unit = "count";
        add_lines(k, sweep, axis, quantity);
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
