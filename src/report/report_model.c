/* report_model.c - see report_model.h and report_explain.h: which format is a view of the document,
 * which a writer. */
#include "report/report_model.h"

#include "base/options_read.h"
#include "predict/predict_targets.h"
#include "report/formats.h"
#include "report/report_explain.h"

#include <string.h>

static bool is_format(const struct assay_report_options *options, const char *name)
{
    return options->format && strcmp(options->format, name) == 0;
}

static int written(const struct assay__buf *out, struct assay_error *error)
{
    return out->failed ? assay_error_set(error, ASSAY_ENOMEM, "out of memory") : 0;
}

/* `code`: the builder's result; takes the document. */
static int view(int code, struct assay__doc **doc, const struct assay_report_options *options,
                struct assay__buf *out, struct assay_error *error)
{
    if (code) return assay_error_set(error, code, "out of memory");
    code = assay__doc_view(*doc, options, out, error);
    assay__doc_free(*doc);
    return code;
}

static enum assay__inspect_sort sort_of(const char *name)
{
    if (name && strcmp(name, "bytes") == 0) return ASSAY__SORT_BYTES;
    return name && strcmp(name, "memory") == 0 ? ASSAY__SORT_MEMORY : ASSAY__SORT_FLOPS;
}

int assay__inspect_report(const struct assay__inspect *inspect,
                          const struct assay_report_options *options, struct assay__buf *out,
                          struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    bool json = is_format(options, "json");
    if (json) assay__inspect_json(inspect, out);
    if (is_format(options, "dot")) assay__inspect_dot(inspect, out);
    if (json || is_format(options, "dot")) return written(out, error);
    return view(assay__inspect_document(inspect, sort_of(options->sort), options->hint, &doc), &doc,
                options, out, error);
}

int assay__inspect_diff_report(const struct assay__inspect *a, const struct assay__inspect *b,
                               const struct assay_report_options *options, struct assay__buf *out,
                               struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    struct assay__inspect_diff diff;
    int code = assay__inspect_diff_make(a, b, &diff);
    if (code) {
        assay_error_set(error, code, "out of memory");
    } else if (is_format(options, "json")) {
        assay__inspect_diff_json(&diff, out);
        code = written(out, error);
    } else {
        code = view(assay__inspect_diff_document(&diff, &doc), &doc, options, out, error);
    }
    assay__inspect_diff_free(&diff);
    return code;
}

int assay__check_report(const struct assay__check *check,
                        const struct assay_report_options *options, struct assay__buf *out,
                        struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    bool json = is_format(options, "json");
    if (json) assay__check_json(check, out);
    if (is_format(options, "junit")) assay__check_junit(check, options->strict, out);
    if (json || is_format(options, "junit")) return written(out, error);
    return view(assay__check_document(check, options->hint, &doc), &doc, options, out, error);
}

int assay__prediction_report(const struct assay_profile *profile, const struct assay__fit *fits,
                             bool layers, const struct assay_report_options *options,
                             struct assay__buf *out, struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    char *text = NULL;
    if (is_format(options, "json")) {
        int code = assay_report(profile, options, &text, NULL, error);
        assay__buf_puts(out, text ? text : "");
        assay_free(text);
        return code ? code : written(out, error);
    }
    struct assay__study *study = NULL;
    int code = assay__study_new(profile, &study);
    if (code) return assay_error_set(error, code, "out of memory");
    code = view(assay__prediction_document(study, fits, options->hint, layers, &doc), &doc, options,
                out, error);
    assay__study_free(study);
    return code;
}

int assay__chips_report(const struct assay_report_options *options, struct assay__buf *out,
                        struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    if (!is_format(options, "json"))
        return view(assay__chips_document(&doc), &doc, options, out, error);
    assay__chips_json(out);
    return written(out, error);
}

int assay__validation_report(const struct assay__validation *validation, bool published,
                             const struct assay_report_options *options, struct assay__buf *out,
                             struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    if (!is_format(options, "json"))
        return view(assay__validation_document(validation, published, &doc), &doc, options, out,
                    error);
    assay__validation_json(validation, published, out);
    return written(out, error);
}

int assay__explain_report(const struct assay__explain *explain,
                          const struct assay_report_options *options, struct assay__buf *out,
                          struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    if (is_format(options, "json")) {
        assay__explain_json(explain, out);
        return written(out, error);
    }
    return view(assay__explain_document(explain, is_format(options, "html"), &doc), &doc, options,
                out, error);
}

int assay__explain_diff_report(const struct assay__explain_diff *diff,
                               const struct assay_report_options *options, struct assay__buf *out,
                               struct assay_error *error)
{
    struct assay__doc *doc = NULL;
    if (is_format(options, "json")) {
        assay__explain_diff_json(diff, out);
        return written(out, error);
    }
    return view(assay__explain_diff_document(diff, &doc), &doc, options, out, error);
}

/* --- public ----------------------------------------------------------------------------------- */

/* What the caller gets: the text, or nothing. Takes the buffer. */
static int hand_over(int code, struct assay__buf *out, char **text, size_t *length)
{
    if (code) {
        assay__buf_free(out);
        return code;
    }
    if (length) *length = out->length;
    *text = out->data;
    return 0;
}

static int begin(const void *subject, const struct assay_report_options *given, char **text,
                 struct assay_report_options *options, struct assay__buf *out,
                 struct assay_error *error)
{
    if (!subject || !text) return assay_error_set(error, ASSAY_EINVAL, "nothing to report on");
    *text = NULL;
    assay__buf_puts(out, ""); /* an empty report is still a string */
    return assay__options_read(given, options, sizeof *options, "report", error);
}

int assay_inspection_report(const struct assay_inspection *inspection,
                            const struct assay_inspection *other,
                            const struct assay_report_options *given, char **text, size_t *length,
                            struct assay_error *error)
{
    const struct assay__inspect *a = (const void *)inspection, *b = (const void *)other;
    struct assay_report_options options;
    struct assay__buf out = {0};
    int code = begin(a, given, text, &options, &out, error);
    if (!code)
        code = b ? assay__inspect_diff_report(a, b, &options, &out, error)
                 : assay__inspect_report(a, &options, &out, error);
    return hand_over(code, &out, text, length);
}

int assay_check_report(const struct assay_check *check, const struct assay_report_options *given,
                       char **text, size_t *length, struct assay_error *error)
{
    struct assay_report_options options;
    struct assay__buf out = {0};
    int code = begin(check, given, text, &options, &out, error);
    if (!code) code = assay__check_report((const void *)check, &options, &out, error);
    return hand_over(code, &out, text, length);
}

int assay_prediction_report(const struct assay_prediction *prediction,
                            const struct assay_report_options *given, char **text, size_t *length,
                            struct assay_error *error)
{
    struct assay_report_options options;
    struct assay__buf out = {0};
    int code = begin(prediction, given, text, &options, &out, error);
    if (!code)
        code = assay__prediction_report(prediction->profile, prediction->targets.fits, true,
                                        &options, &out, error);
    return hand_over(code, &out, text, length);
}
