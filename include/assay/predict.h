/* predict.h - estimated performance on another chip, by an analytic model. Every value is an
 * estimate with its validated error. */
#ifndef ASSAY_PREDICT_H
#define ASSAY_PREDICT_H

#include <assay/report.h>
#include <assay/run.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_predict_options {
    size_t size;
    struct assay_workload_options workload; /* the model, and the shapes of its inputs */
    const char *chip; /* "M1 Max", "this" machine, or a profile with ceilings: "FILE.assay" */
    const char *unit; /* "cpu" | "gpu" | "ane"; NULL: all */
    const char
        *precision; /* "float32" | "float16" | "w8" | "w8a8" | "w6" | "w4"; NULL: the unit's */
};

struct assay_prediction;

/** *prediction is owned by the caller. May be called from several threads at once. */
ASSAY_API int assay_predict(const struct assay_predict_options *options,
                            struct assay_prediction **prediction, struct assay_error *error);
/** NULL legal. */
ASSAY_API void assay_prediction_free(struct assay_prediction *prediction);
/** A trial per unit; one that cannot be predicted is failed, with the reason. Borrowed until the
 *  prediction is freed: do not close it. NULL for NULL. */
ASSAY_API const struct assay_profile *assay_prediction_profile(
    const struct assay_prediction *prediction);
/** In every format of a document, and "json". *text is a new string: assay_free it. */
ASSAY_API int assay_prediction_report(const struct assay_prediction *prediction,
                                      const struct assay_report_options *options, char **text,
                                      size_t *length, struct assay_error *error);

#endif
