/* figures.c - the table of the figures that a profile may have. To add one, write a function in
 * figures_<subject>.c and add a row here. */
#include "report/figure/figures.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const struct assay__figure_row rows[] = {
    {"strip", "one inference, layer after layer, in the blocks of the model", false,
     assay__figure_strip},
    {"card", "verdict, key numbers and strip in one picture of 1200 x 630, for sharing", true,
     assay__figure_card},
    {"layers", "time of the slowest layers", false, assay__figure_layers},
    {"treemap", "time of all layers by the structure of the graph", false, assay__figure_treemap},
    {"graph", "the network by block: times, and the bytes between", false, assay__figure_graph},
    {"roofline", "layers compared with the peaks of the device", false, assay__figure_roofline},
    {"latency", "histogram of the latency", false, assay__figure_latency},
    {"cdf", "cumulative distribution of the latency", false, assay__figure_cdf},
    {"samples", "every sample in order", false, assay__figure_samples},
    {"tokens", "a generation token by token; time between tokens", false, assay__figure_tokens},
    {"memory", "tensors held while each layer runs; the worker over time", false,
     assay__figure_memory},
    {"power", "power, temperature and clocks over time", false, assay__figure_power},
    {"compare", "latency, throughput and energy per device", true, assay__figure_compare},
    {"devices", "TFLOP/s, GB/s and utilisation per device", true, assay__figure_devices},
    {"sweep", "throughput, latency, energy and bandwidth along the axis", true,
     assay__figure_sweep},
    {"heat", "the goal of a sweep over two axes", true, assay__figure_heat},
    {"pareto", "latency against throughput, the best points joined", true, assay__figure_pareto},
    {"spread", "distributions of the latency over one axis", true, assay__figure_spread},
    {"waterfall", "from one latency to the other, by operator", true, assay__figure_waterfall},
    {"strips", "layers of several runs, aligned", true, assay__figure_strips},
    {"flame", "where the threads of a traced program were: functions, and who called them", true,
     assay__figure_flame},
};

const struct assay__figure_row *assay__figure_row_at(size_t index)
{
    return index < sizeof rows / sizeof rows[0] ? &rows[index] : NULL;
}

const struct assay__figure_row *assay__figure_row_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

bool assay__figure_is_of_several(const struct assay__figure_row *row)
{
    return row->make == assay__figure_spread || row->make == assay__figure_waterfall ||
           row->make == assay__figure_strips;
}

/* --- sketches --------------------------------------------------------------------------------- */

struct assay__figure *assay__sketch_begin(struct assay__sketch *sketch,
                                          enum assay__figure_kind kind, const char *name,
                                          const char *title)
{
    struct assay__figure *f = sketch->figure;
    *f = (struct assay__figure){.kind = kind, .name = name, .title = title};
    f->x_title = f->x_unit = f->y_title = f->y_unit = f->caption = f->description = f->note = "";
    return f;
}

const char *assay__sketch_title(struct assay__sketch *sketch, const char *title)
{
    if (sketch->study->profile->trial_count < 2) return title;
    return assay__sketch_printf(sketch, "%s: %s", title, assay__figure_label(sketch->trial));
}

struct assay__figure *assay__sketch_trial(struct assay__sketch *sketch,
                                          enum assay__figure_kind kind, const char *name,
                                          const char *title)
{
    return assay__sketch_begin(sketch, kind, name, assay__sketch_title(sketch, title));
}

int assay__sketch_end(struct assay__sketch *sketch)
{
    if (!sketch->failed && !(sketch->study && sketch->study->failed)) return 0;
    return assay_error_set(sketch->error, ASSAY_ENOMEM, "out of memory while drawing a figure");
}

int assay__sketch_none(struct assay__sketch *sketch, const char *reason)
{
    return assay_error_set(sketch->error, ASSAY_ENOTFOUND, "%s", reason);
}

const char *assay__sketch_take(struct assay__sketch *sketch, struct assay__buf *text)
{
    const char *kept = assay__buf_keep(text, sketch->arena);
    if (!kept) sketch->failed = true;
    return kept ? kept : "";
}

const char *assay__sketch_printf(struct assay__sketch *sketch, const char *format, ...)
{
    struct assay__buf text = {0};
    va_list args;
    va_start(args, format);
    assay__buf_vprintf(&text, format, args);
    va_end(args);
    return assay__sketch_take(sketch, &text);
}

const char *assay__sketch_short(struct assay__sketch *sketch, const char *name)
{
    enum { COLUMNS = 60 };
    struct assay__buf text = {0};
    struct assay__page page = {.out = &text, .columns = COLUMNS};
    assay__text_safe(&text, name ? name : "");
    if (assay__text_width(assay__buf_text(&text)) > COLUMNS) {
        assay__buf_clear(&text);
        assay__page_fit_middle(&page, name, COLUMNS);
    }
    return assay__sketch_take(sketch, &text);
}

const char *assay__figure_label(const struct assay__trial *trial)
{
    return trial->label[0] ? trial->label : trial->target.device ? trial->target.device : "";
}

double *assay__figure_values(struct assay__arena *arena, size_t count)
{
    double *values = assay__arena_array(arena, count ? count : 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = NAN;
    return values;
}

bool assay__sketch_points(struct assay__sketch *sketch, struct assay__points *points, size_t room,
                          unsigned with)
{
    struct assay__arena *arena = sketch->arena;
    bool intervals = with & ASSAY__WITH_INTERVALS, shares = with & ASSAY__WITH_SHARES;
    const char ***const texts[] = {&points->names, &points->groups};
    *points = (struct assay__points){.x = assay__figure_values(arena, room + 1),
                                     .y = assay__figure_values(arena, room),
                                     .low = intervals ? assay__figure_values(arena, room) : NULL,
                                     .high = intervals ? assay__figure_values(arena, room) : NULL,
                                     .areas = shares ? assay__figure_values(arena, room) : NULL,
                                     .shares = shares ? assay__figure_values(arena, room) : NULL,
                                     .flags = assay__arena_array(arena, room + 1, 1)};
    bool made = points->x && points->y && points->flags &&
                (!intervals || (points->low && points->high)) &&
                (!shares || (points->areas && points->shares));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!(with & 1u << i)) continue;
        *texts[i] = assay__arena_array(arena, room + 1, sizeof **texts[i]);
        made = made && *texts[i];
    }
    if (with & ASSAY__WITH_LAYERS) {
        points->layers = assay__arena_array(arena, room + 1, sizeof *points->layers);
        for (size_t i = 0; points->layers && i <= room; i++)
            points->layers[i] = -1;
        made = made && points->layers;
    }
    if (!made) sketch->failed = true;
    return made;
}

struct assay__figure_series *assay__sketch_add(struct assay__sketch *sketch, const char *name,
                                               const struct assay__points *points)
{
    struct assay__figure *f = sketch->figure;
    struct assay__figure_series *series = assay__arena_grow(sketch->arena, f->series,
                                                            f->series_count, sizeof *series);
    if (!series) sketch->failed = true;
    if (!series) return &sketch->nobody;
    bool lengths = f->kind == ASSAY__FIGURE_BARS || f->kind == ASSAY__FIGURE_TREEMAP;
    f->series = series;
    series += f->series_count++;
    *series = (struct assay__figure_series){.name = name,
                                            .x = lengths ? NULL : points->x,
                                            .y = points->y,
                                            .low = points->low,
                                            .high = points->high,
                                            .names = points->names,
                                            .groups = points->groups,
                                            .layers = points->layers,
                                            .areas = points->areas,
                                            .shares = points->shares,
                                            .flags = points->flags,
                                            .count = points->count};
    return series;
}

void assay__sketch_mark(struct assay__sketch *sketch, bool vertical, double at, const char *text)
{
    struct assay__figure *f = sketch->figure;
    struct assay__figure_mark *marks = assay__arena_grow(sketch->arena, f->marks, f->mark_count,
                                                         sizeof *marks);
    if (!marks) sketch->failed = true;
    if (!marks) return;
    f->marks = marks;
    marks[f->mark_count++] = (struct assay__figure_mark){vertical, at, text};
}

/* --- a whole row ------------------------------------------------------------------------------ */

/* Appends the parts of one trial or of the profile; 0 also if there are none but the reason is
 * kept. */
static int add_parts(const struct assay__sketch *sketch, const struct assay__figure_row *row,
                     struct assay__figure *figures, size_t *count, struct assay_error *error)
{
    int code = 0;
    for (size_t part = 0; !code && *count < ASSAY__FIGURES_MOST; part++) {
        struct assay_error reason = {0};
        struct assay__sketch own = *sketch;
        own.figure = &figures[*count];
        own.error = &reason;
        code = row->make(&own, part);
        if (!code) ++*count;
        if (code && (code != ASSAY_ENOTFOUND || (part == 0 && !error->code))) *error = reason;
    }
    return code == ASSAY_ENOTFOUND ? 0 : code;
}

int assay__figures_of(struct assay__study *study, const struct assay__figure_row *row,
                      struct assay__arena *arena, struct assay__figure **figures, size_t *count,
                      size_t *left_out, struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    struct assay__sketch sketch = {.study = study, .arena = arena, .error = error};
    struct assay_error first = {0};
    size_t trials = row->of_profile ? 1 : profile->trial_count, i = 0;
    int code = 0;
    *count = *left_out = 0;
    bool timeline = profile->kind == ASSAY__PROFILE_EXPLAIN; /* whose figures need no trials */
    if (profile->trial_count == 0 && !(timeline && row->make == assay__figure_flame))
        return assay__sketch_none(&sketch, "the profile has no trials");
    *figures = assay__arena_array(arena, ASSAY__FIGURES_MOST, sizeof **figures);
    sketch.failed = !*figures;
    if (sketch.failed) return assay__sketch_end(&sketch);
    for (; i < trials && !code && *count < ASSAY__FIGURES_MOST; i++) {
        sketch.trial = profile->trial_count ? &profile->trials[i] : NULL;
        code = add_parts(&sketch, row, *figures, count, &first);
    }
    *left_out = trials - i;
    if (code || *count == 0) {
        if (error) *error = first;
        return code ? code : ASSAY_ENOTFOUND;
    }
    return 0;
}

int assay__figures_of_diff(const struct assay__diff *diff, const struct assay__figure_row *row,
                           struct assay__arena *arena, struct assay__figure **figures,
                           size_t *count, struct assay_error *error)
{
    struct assay__sketch sketch = {.diff = diff, .arena = arena, .error = error};
    struct assay_error first = {0};
    *count = 0;
    *figures = assay__arena_array(arena, ASSAY__FIGURES_MOST, sizeof **figures);
    sketch.failed = !*figures;
    if (sketch.failed) return assay__sketch_end(&sketch);
    int code = add_parts(&sketch, row, *figures, count, &first);
    if (!code && *count) return 0;
    if (error) *error = first;
    return code ? code : ASSAY_ENOTFOUND;
}
