/* check.h - whether all of a model will run on a target, and well. */
#ifndef ASSAY_CHECK_H
#define ASSAY_CHECK_H

#include <assay/report.h>
#include <assay/run.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_check_options {
    size_t size;
    struct assay_workload_options workload; /* the model, and the shapes of its inputs */
    const char *target;                     /* "ane", or a device (device.h), which is queried */
    const char *chip;                       /* for target "ane": "M1 Max"; NULL: all */
    const char *engine, *library;           /* to ask */
    double timeout_s;                       /* for a device to answer; 0: 300 */
    const volatile int *interrupt;          /* NULL: none */
};

enum assay_verdict {
    ASSAY_VERDICT_PASS,
    ASSAY_VERDICT_WARN,
    ASSAY_VERDICT_FAIL,
    ASSAY_VERDICT_NONE /* the target could not be queried, and the model alone is not enough */
};

/** One problem. */
struct assay_check_item {
    size_t size;           /* sizeof, set by the caller */
    const char *rule;      /* its id */
    const char *severity;  /* "error" | "warning" | "note" */
    const char *node, *op; /* "" for the whole model */
    const char *reason, *fix, *source;
};

struct assay_check;

/** Checks the model. *check is owned by the caller. May be called from several threads. */
ASSAY_API int assay_check(const struct assay_check_options *options, struct assay_check **check,
                          struct assay_error *error);
/** NULL legal. */
ASSAY_API void assay_check_free(struct assay_check *check);
/** NONE of NULL. */
ASSAY_API enum assay_verdict assay_check_verdict(const struct assay_check *check);
/** Fills *item, borrowed until the check is freed; false past the end, when check is NULL or size
 *  is not set. */
ASSAY_API bool assay_check_item(const struct assay_check *check, size_t index,
                                struct assay_check_item *item);
/** In every format of a document, "json" and "junit". *text is a new string: assay_free it. */
ASSAY_API int assay_check_report(const struct assay_check *check,
                                 const struct assay_report_options *options, char **text,
                                 size_t *length, struct assay_error *error);

#endif
