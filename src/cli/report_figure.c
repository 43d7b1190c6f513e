/* report_figure.c - writes one figure of a profile as SVG, or draws it in the terminal. */
#include "cli/report_figure.h"

#include "cli/render_options.h"
#include "report/figure/figure.h"

static void put_text(const struct assay__figure *figures, size_t count,
                     const struct assay__render_options *render, bool to_file,
                     struct assay__buf *out)
{
    struct assay_report_options options = assay__report_options_of(render, to_file);
    struct assay__doc *doc = NULL;
    int code = assay__doc_new(&doc);
    for (size_t i = 0; i < count && !code; i++)
        assay__doc_figure(doc, &figures[i], 0);
    if (code || assay__doc_view(doc, &options, out, NULL)) out->failed = true;
    assay__doc_free(doc);
}

int assay__report_figure(const struct assay_profile *profile, const char *name,
                         const struct assay__render_options *render, bool to_file,
                         struct assay__buf *out, struct assay_error *error)
{
    const struct assay__figure_row *row = assay__figure_row_find(name);
    struct assay__figure *figures;
    struct assay_error reason = {0};
    size_t count, left_out;
    struct assay__arena *arena = assay__arena_new();
    struct assay__study *study = NULL;
    int code = arena && row && !assay__study_new(profile, &study)
                   ? assay__figures_of(study, row, arena, &figures, &count, &left_out, &reason)
                   : assay_error_set(&reason, ASSAY_ENOMEM, "out of memory");
    if (!code && render)
        put_text(figures, count, render, to_file, out);
    else if (!code)
        assay__figures_svg(out, figures, count);
    if (!code && left_out)
        assay__say("report: %zu more trials have such a figure; the first %zu are drawn", left_out,
                   count);
    if (!code && out->failed) code = assay_error_set(&reason, ASSAY_ENOMEM, "out of memory");
    if (code) assay_error_set(error, code, "no figure '%s': %s", name, reason.message);
    assay__study_free(study);
    assay__arena_free(arena);
    return code;
}
