/* report_figure.c - one figure of a profile by itself: which one, its picture, and the public
 * call. */
#include "report/report_figure.h"

#include "base/options_read.h"
#include "profile/profile.h"
#include "report/doc/doc.h"
#include "report/figure/figure.h"
#include "report/formats.h"

#include <string.h>

const char *assay__report_figure_of(const struct assay_profile *profile, const char *path)
{
    static const char *const of_kind[ASSAY__PROFILE_KINDS] = {
        [ASSAY__PROFILE_COMPARE] = "compare", [ASSAY__PROFILE_SWEEP] = "sweep",
        [ASSAY__PROFILE_TUNE] = "pareto",     [ASSAY__PROFILE_POWER] = "power",
        [ASSAY__PROFILE_MEMORY] = "memory",   [ASSAY__PROFILE_EXPLAIN] = "flame"};
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    size_t stem = name ? strcspn(name, ".") : 0;
    const struct assay__figure_row *row;
    for (size_t i = 0; stem && (row = assay__figure_row_at(i)); i++)
        if (strlen(row->name) == stem && strncmp(row->name, name, stem) == 0) return row->name;
    if (of_kind[profile->kind]) return of_kind[profile->kind];
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].layers.count) return "layers";
    return "latency";
}

/* Made figures as SVG, or as text when `view` is given. */
static void put_figures(const struct assay__figure *figures, size_t count,
                        const struct assay_report_options *view, struct assay__buf *out)
{
    if (!view) {
        assay__figures_svg(out, figures, count);
        return;
    }
    struct assay__doc *doc = NULL;
    out->failed = assay__doc_new(&doc) != 0;
    for (size_t i = 0; i < count && doc; i++)
        assay__doc_figure(doc, &figures[i], 0);
    if (doc && assay__doc_view(doc, view, out, NULL)) out->failed = true;
    assay__doc_free(doc);
}

int assay__report_diff_figure(const struct assay__diff *diff, const char *name,
                              const struct assay_report_options *view, struct assay__buf *out,
                              struct assay_error *error)
{
    const struct assay__figure_row *row = assay__figure_row_find(name);
    struct assay__figure *figures;
    struct assay_error reason = {0};
    size_t count;
    struct assay__arena *arena = assay__arena_new();
    int code = arena && row ? assay__figures_of_diff(diff, row, arena, &figures, &count, &reason)
                            : assay_error_set(&reason, ASSAY_ENOMEM, "out of memory");
    if (!code) put_figures(figures, count, view, out);
    if (!code && out->failed) code = assay_error_set(&reason, ASSAY_ENOMEM, "out of memory");
    if (code) assay_error_set(error, code, "no figure '%s': %s", name, reason.message);
    assay__arena_free(arena);
    return code;
}

int assay__report_figure(const struct assay_profile *profile, const char *name,
                         const struct assay_report_options *view, struct assay__buf *out,
                         size_t *left_out, struct assay_error *error)
{
    const struct assay__figure_row *row = assay__figure_row_find(name);
    struct assay__figure *figures;
    struct assay_error reason = {0};
    size_t count;
    struct assay__arena *arena = assay__arena_new();
    struct assay__study *study = NULL;
    int code = arena && row && !assay__study_new(profile, &study)
                   ? assay__figures_of(study, row, arena, &figures, &count, left_out, &reason)
                   : assay_error_set(&reason, ASSAY_ENOMEM, "out of memory");
    if (!code) put_figures(figures, count, view, out);
    if (!code && out->failed) code = assay_error_set(&reason, ASSAY_ENOMEM, "out of memory");
    if (code) assay_error_set(error, code, "no figure '%s': %s", name, reason.message);
    assay__study_free(study);
    assay__arena_free(arena);
    return code;
}

int assay_report_figure(const struct assay_profile *profile, const char *name, char **text,
                        size_t *length, struct assay_error *error)
{
    struct assay__buf out = {0};
    size_t left_out;
    if (!profile || !text) return assay_error_set(error, ASSAY_EINVAL, "no profile to draw");
    *text = NULL;
    if (!name) name = assay__report_figure_of(profile, NULL);
    if (!assay__figure_row_find(name))
        return assay_error_set(error, ASSAY_EINVAL, "unknown figure '%s'", name);
    assay__buf_puts(&out, "");
    int code = assay__report_figure(profile, name, NULL, &out, &left_out, error);
    if (code) {
        assay__buf_free(&out);
        return code;
    }
    *text = out.data;
    if (length) *length = out.length;
    return 0;
}
