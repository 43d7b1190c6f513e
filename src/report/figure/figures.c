/* figures.c - the table of the figures that a profile may have. Adding one: a function in
 * figures_<subject>.c and a row here. */
#include "report/figure/figures.h"

#include "judge/comparison.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static const struct assay__figure_row rows[] = {
    {"layers", "time of the slowest layers", false, assay__figure_layers},
    {"treemap", "time of all layers by the structure of the graph", false, assay__figure_treemap},
    {"roofline", "layers against what the device can do", false, assay__figure_roofline},
    {"latency", "histogram of the latency", false, assay__figure_latency},
    {"samples", "every sample in order", false, assay__figure_samples},
    {"memory", "live activations by layer; the worker over time", false, assay__figure_memory},
    {"power", "power, temperature and clocks over time", false, assay__figure_power},
    {"compare", "latency, throughput and energy per device", true, assay__figure_compare},
    {"devices", "TFLOP/s, GB/s and utilisation per device", true, assay__figure_devices},
    {"sweep", "throughput, latency, energy and bandwidth along the axis", true,
     assay__figure_sweep},
    {"pareto", "latency against throughput, the best points joined", true, assay__figure_pareto},
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

struct assay__figure assay__figure_begin(enum assay__figure_kind kind, const char *name)
{
    return (struct assay__figure){.kind = kind,
                                  .name = name,
                                  .title = "",
                                  .x_title = "",
                                  .x_unit = "",
                                  .y_title = "",
                                  .y_unit = "",
                                  .caption = "",
                                  .description = "",
                                  .note = ""};
}

const char *assay__figure_label(const struct assay__trial *trial)
{
    const char *label = trial->label;
    return label[0] ? label : trial->target.device ? trial->target.device : "";
}

const char *assay__figure_title(struct assay__arena *arena, const struct assay_profile *profile,
                                const struct assay__trial *trial, const char *title)
{
    if (profile->trial_count < 2) return title;
    const char *whole = assay__arena_printf(arena, "%s: %s", title, assay__figure_label(trial));
    return whole ? whole : title;
}

const char *assay__figure_scaled(struct assay__arena *arena, double value, const char *unit)
{
    char scaled[64];
    assay__text_scaled(scaled, sizeof scaled, value, unit);
    const char *copy = assay__arena_strdup(arena, scaled);
    return copy ? copy : "";
}

const char *assay__figure_short(struct assay__arena *arena, const char *name)
{
    enum { COLUMNS = 60 };
    struct assay__buf text = {0};
    struct assay__page page = {.out = &text, .columns = COLUMNS};
    assay__text_safe(&text, name ? name : "");
    if (text.data && assay__text_width(text.data) > COLUMNS) {
        assay__buf_clear(&text);
        assay__page_fit_middle(&page, name, COLUMNS);
    }
    const char *copy = text.failed ? NULL : assay__arena_strdup(arena, assay__buf_text(&text));
    assay__buf_free(&text);
    return copy ? copy : "";
}

double *assay__figure_values(struct assay__arena *arena, size_t count)
{
    double *values = assay__arena_array(arena, count ? count : 1, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = NAN;
    return values;
}

int assay__figure_no_memory(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_ENOMEM, "out of memory while drawing a figure");
}

/* The parts of one trial, or of the profile, appended; 0 also when there are none but the reason is
 * kept. */
static int add_parts(struct assay__study *study, const struct assay__trial *trial,
                     const struct assay__figure_row *row, struct assay__arena *arena,
                     struct assay__figure *figures, size_t *count, struct assay_error *error)
{
    int code = 0;
    for (size_t part = 0; !code && *count < ASSAY__FIGURES_MOST; part++) {
        struct assay_error reason = {0};
        code = row->make(study, trial, part, arena, &figures[*count], &reason);
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
    struct assay_error first = {0};
    size_t trials = row->of_profile ? 1 : profile->trial_count, i = 0;
    int code = 0;
    *count = *left_out = 0;
    if (profile->trial_count == 0)
        return assay_error_set(error, ASSAY_ENOTFOUND, "the profile holds no trial");
    *figures = assay__arena_array(arena, ASSAY__FIGURES_MOST, sizeof **figures);
    if (!*figures) return assay__figure_no_memory(error);
    for (; i < trials && !code && *count < ASSAY__FIGURES_MOST; i++)
        code = add_parts(study, &profile->trials[i], row, arena, *figures, count, &first);
    *left_out = trials - i;
    if (code || *count == 0) {
        if (error) *error = first;
        return code ? code : ASSAY_ENOTFOUND;
    }
    return 0;
}
