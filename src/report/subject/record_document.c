/* record_document.c - a record of `assay watch` (kind watch): every row with its min, mean, max and
 * last value over the whole time, what could not be read, and pictures of the rows that matter. The
 * trials of a record are its resolutions, finest first; the finest one that reaches back to a
 * moment shows it. */
#include "report/report_record.h"

#include "base/text.h"
#include "profile/profile.h"
#include "report/figure/figure.h"
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

#define LINES 6

/* A row over the whole time, from several resolutions. */
struct course {
    const struct assay__series_info *info; /* as every reading has it */
    double *x_s, *y;
    size_t count;
    double least, sum, greatest, last;
    size_t known;
};

static const struct assay__series_info *find(const struct assay__trial *trial, const char *name,
                                             const char *tail)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < trial->series_count; i++)
        if (strncmp(trial->series[i].name, name, length) == 0 &&
            strcmp(trial->series[i].name + length, tail) == 0)
            return &trial->series[i];
    return NULL;
}

/* The values of a resolution before end_ns, where a finer one begins. */
static void add_values(struct course *course, const struct assay__trial *trial, double end_ns)
{
    const struct assay__series_info *mean = find(trial, course->info->name, "");
    const struct assay__series_info *low = find(trial, course->info->name, ".min");
    const struct assay__series_info *high = find(trial, course->info->name, ".max");
    for (size_t i = 0; mean && mean->values && i < mean->count; i++) {
        double value = mean->values[i], at_ns = mean->times_ns[i];
        if (at_ns >= end_ns) return;
        course->x_s[course->count] = at_ns * 1e-9;
        course->y[course->count++] = value;
        if (!isfinite(value)) continue;
        course->least = fmin(course->least, low && i < low->count ? low->values[i] : value);
        course->greatest = fmax(course->greatest,
                                high && i < high->count ? high->values[i] : value);
        course->sum += value;
        course->known++;
        course->last = value;
    }
}

/* When the resolution begins; INFINITY: it has nothing. */
static double begin_of(const struct assay__trial *trial)
{
    double begin_ns = INFINITY;
    for (size_t i = 0; i < trial->series_count; i++)
        if (trial->series[i].count) begin_ns = fmin(begin_ns, trial->series[i].times_ns[0]);
    return begin_ns;
}

static bool make_course(struct assay__doc *doc, const struct assay_profile *profile,
                        const struct assay__series_info *info, struct course *course)
{
    size_t room = 1;
    for (size_t t = 0; t < profile->trial_count; t++) {
        const struct assay__series_info *series = find(&profile->trials[t], info->name, "");
        if (series) room += series->count;
    }
    *course = (struct course){.info = info,
                              .x_s = assay__arena_array(doc->arena, room, sizeof(double)),
                              .y = assay__arena_array(doc->arena, room, sizeof(double)),
                              .least = NAN,
                              .greatest = NAN,
                              .last = NAN};
    if (!course->x_s || !course->y) doc->failed = true;
    if (doc->failed) return false;
    for (size_t t = profile->trial_count; t-- > 0;) {
        double end_ns = INFINITY;
        for (size_t finer = 0; finer < t; finer++)
            end_ns = fmin(end_ns, begin_of(&profile->trials[finer]));
        add_values(course, &profile->trials[t], end_ns);
    }
    return true;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct assay__column columns[] = {
    {.title = "", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {.title = "min", .unit = ""},
    {.title = "mean", .unit = ""},
    {.title = "max", .unit = ""},
    {.title = "last", .unit = "", .priority = 1},
    {.title = "source", .priority = 2},
    {.title = "note", .flags = ASSAY__COLUMN_PROSE},
};

static void add_row(struct assay__table *table, const struct course *course)
{
    const struct assay__series_info *info = course->info;
    enum assay_state mean_state = info->state == ASSAY_UNAVAILABLE ? ASSAY_UNAVAILABLE
                                                                   : ASSAY_DERIVED;
    double mean = course->known ? course->sum / (double)course->known : (double)NAN;
    const double values[] = {course->least, mean, course->greatest, course->last};
    assay__table_row_of(table, 0, info->name);
    for (size_t i = 0; i < 4; i++)
        assay__table_cell(table, isfinite(values[i])
                                     ? assay__datum_number(values[i], info->unit,
                                                           i == 1 ? mean_state : info->state)
                                     : assay__datum_unknown(NULL));
    assay__table_texts(table, info->source,
                       course->known               ? ""
                       : info->note && *info->note ? info->note
                                                   : "it never had a value");
}

/* --- pictures --------------------------------------------------------------------------------- */

static const struct {
    const char *prefix, *title;
    bool zero;
} pictures[] = {
    {"utilization.active.", "Active", true},
    {"memory.", "Memory", true},
    {"power.", "Power", true},
    {"temperature.", "Temperature", false},
    {"clock.", "Clocks", false},
    {"pressure.", "Pressure", true},
};

static bool ends_in(const char *name, const char *tail)
{
    size_t length = strlen(name), end = strlen(tail);
    return length >= end && strcmp(name + length - end, tail) == 0;
}

/* "power.package from 3.1 W to 12.0 W; …" */
static const char *describe(struct assay__doc *doc, const struct course *const *shown, size_t count)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < count; i++)
        assay__buf_printf(&text, "%s%s from %s to %s", i ? "; " : "", shown[i]->info->name,
                          assay__scaled(shown[i]->least, shown[i]->info->unit).text,
                          assay__scaled(shown[i]->greatest, shown[i]->info->unit).text);
    assay__buf_putc(&text, '.');
    return assay__doc_take(doc, &text);
}

static void add_picture(struct assay__doc *doc, size_t kind, const struct course *courses,
                        size_t count)
{
    const char *prefix = pictures[kind].prefix;
    struct assay__figure *figure = assay__arena_alloc(doc->arena, sizeof *figure);
    struct assay__figure_series *series = assay__arena_array(doc->arena, LINES, sizeof *series);
    const struct course *shown[LINES];
    size_t lines = 0, left_out = 0;
    if (!figure || !series) doc->failed = true;
    for (size_t i = 0; !doc->failed && i < count; i++) {
        const struct course *course = &courses[i];
        if (strncmp(course->info->name, prefix, strlen(prefix)) != 0 || course->known < 2 ||
            ends_in(course->info->name, ".total"))
            continue;
        if (lines == LINES) left_out++;
        if (lines == LINES) continue;
        shown[lines] = course;
        series[lines++] = (struct assay__figure_series){
            .name = course->info->name, .x = course->x_s, .y = course->y, .count = course->count};
        figure->y_unit = course->info->unit;
    }
    if (!lines || doc->failed) return;
    *figure = (struct assay__figure){.kind = ASSAY__FIGURE_LINES,
                                     .name = "watch",
                                     .title = pictures[kind].title,
                                     .x_title = "time since the record began",
                                     .x_unit = "s",
                                     .y_title = pictures[kind].title,
                                     .y_unit = figure->y_unit,
                                     .y_zero = pictures[kind].zero,
                                     .series = series,
                                     .series_count = lines,
                                     .caption = "",
                                     .description = describe(doc, shown, lines)};
    if (left_out)
        figure->note = assay__arena_text(doc->arena, "%zu more are in the table.", left_out);
    assay__doc_figure(doc, figure, kind > 2 ? ASSAY__PICTURE_DETAIL : 0);
}

/* --- the document ----------------------------------------------------------------------------- */

static void build(struct assay__doc *doc, const struct assay_profile *profile)
{
    const struct assay__trial *readings = &profile->trials[0];
    struct course *courses = assay__arena_array(doc->arena, readings->series_count + 1,
                                                sizeof *courses);
    double end_s = 0;
    if (!courses) doc->failed = true;
    for (size_t i = 0; !doc->failed && i < readings->series_count; i++) {
        if (!make_course(doc, profile, &readings->series[i], &courses[i])) return;
        if (courses[i].count) end_s = fmax(end_s, courses[i].x_s[courses[i].count - 1]);
    }
    if (doc->failed) return;
    assay__doc_lead(doc, "Watched for %s from %s%s.", assay__scaled(end_s, "s").text,
                    profile->created && *profile->created ? profile->created : "an unknown time",
                    profile->complete ? "" : "; the record did not end properly, or still grows");
    assay__doc_section(doc, "watch", "Over the whole time", NULL, ASSAY__TAB_OVERVIEW);
    struct assay__table *table = assay__doc_table(doc, NULL, "What was read", columns);
    for (size_t i = 0; i < readings->series_count; i++)
        add_row(table, &courses[i]);
    assay__doc_end(doc);
    assay__doc_section(doc, "pictures", "Over time", NULL, ASSAY__TAB_OVERVIEW);
    for (size_t k = 0; k < sizeof pictures / sizeof pictures[0]; k++)
        add_picture(doc, k, courses, readings->series_count);
    assay__doc_end(doc);
    for (size_t t = 0; t < profile->trial_count; t++) {
        doc->prefix = assay__doc_printf(doc, "t%d-", profile->trials[t].id);
        assay__add_subject(doc, "series", &profile->trials[t]);
    }
    doc->prefix = "";
    assay__add_subject(doc, "environment", NULL);
}

int assay__record_document(struct assay__study *study, struct assay__doc **made)
{
    const struct assay_profile *profile = study->profile;
    struct assay__doc *doc = assay__doc_open(made, "watch",
                                             profile->environment.host && *profile->environment.host
                                                 ? profile->environment.host
                                                 : "this machine");
    if (!doc) return ASSAY_ENOMEM;
    doc->study = study;
    doc->marks = true;
    doc->table = "series";
    if (profile->trial_count)
        build(doc, profile);
    else
        assay__doc_lead(doc, "The record is empty.");
    if (!doc->failed) return 0;
    assay__doc_free(doc);
    *made = NULL;
    return ASSAY_ENOMEM;
}
