/* metric.h - one number with its unit, its state and its source. Unknown is not zero: a
 * zero-initialised metric is unavailable, and an unavailable metric's value is NaN. Values are in
 * base units (s, B, J, W, Hz, FLOP, 1/s, °C, ratio); renderers scale them. */
#ifndef ASSAY_METRIC_H
#define ASSAY_METRIC_H

#include <assay/api.h>
#include <stdbool.h>
#include <stddef.h>

enum assay_state {
    ASSAY_UNAVAILABLE = 0, /* unknown; note says why and what would provide it */
    ASSAY_MEASURED = 1,    /* read from a clock, counter or sensor on this machine in this run */
    ASSAY_DERIVED = 2,     /* computed from measured values; note gives the formula */
    ASSAY_ESTIMATED = 3,   /* a model's output; note names the model and its validated error */
    ASSAY_PUBLISHED = 4,   /* copied from the public source named in `source` */
};

/** "measured", "derived", …; never NULL. */
ASSAY_API const char *assay_state_name(enum assay_state state);
/** The state of that name, or -1. */
ASSAY_API int assay_state_parse(const char *name);

struct assay_metric {
    const char *name; /* "latency.p50" */
    double value;     /* base unit; NaN when unavailable */
    const char *unit; /* "s", "B", "1/s", "FLOP", "FLOP/s", "B/s", "ratio", … */
    enum assay_state state;
    const char *source; /* "clock", "process", "graph", … ; "none" when unavailable */
    const char *note;   /* formula, model, or the reason it is unavailable; "" allowed otherwise */
};

/** What a metric needs besides being read. */
enum assay_metric_need {
    ASSAY_NEEDS_NOTHING,
    ASSAY_NEEDS_SAMPLES,  /* the rarer the percentile, the more */
    ASSAY_NEEDS_CEILINGS, /* the device's, measured and saved */
};

/** What a name means: from the one metric table (src/base/metric_table.c). */
struct assay_metric_info {
    const char *name;
    const char *unit;    /* base unit */
    const char *summary; /* one plain sentence */
    const char
        *unread; /* why a run has no value if nothing read it; NULL: a run need not have it */
    enum assay_metric_need needs;
};

/** The table row of a name or NULL. `power.average.RAIL` rows match by their prefix. */
ASSAY_API const struct assay_metric_info *assay_metric_lookup(const char *name);

/** An ordered set of metrics that owns its strings (names are unique: putting one again replaces
 *  it). */
struct assay_metrics;
ASSAY_API struct assay_metrics *assay_metrics_new(void);
ASSAY_API void assay_metrics_free(struct assay_metrics *set);
ASSAY_API size_t assay_metrics_count(const struct assay_metrics *set);
ASSAY_API const struct assay_metric *assay_metrics_at(const struct assay_metrics *set,
                                                      size_t index);
/** NULL when no metric of that name was put. Borrowed until the set dies or the name is put
 *  again. */
ASSAY_API const struct assay_metric *assay_metrics_get(const struct assay_metrics *set,
                                                       const char *name);
/** Copies the metric. A non-finite value, or state unavailable, is stored as unavailable (value
 *  NaN). Returns 0, ASSAY_ENOMEM, or ASSAY_EINVAL for an unavailable metric without a note. */
ASSAY_API int assay_metrics_put(struct assay_metrics *set, const struct assay_metric *metric);
/** 0, or the first error of a put into this set, so that whoever fills it can check once at the
 * end. Later puts still work. A NULL set counts as failed: ASSAY_ENOMEM. */
ASSAY_API int assay_metrics_failed(const struct assay_metrics *set);
/** Shorthands; the unit comes from the metric table. */
ASSAY_API int assay_metrics_measured(struct assay_metrics *set, const char *name, double value,
                                     const char *source, const char *note);
ASSAY_API int assay_metrics_derived(struct assay_metrics *set, const char *name, double value,
                                    const char *source, const char *formula);
ASSAY_API int assay_metrics_unavailable(struct assay_metrics *set, const char *name,
                                        const char *reason);
/** numerator ÷ denominator (each may be NULL): derived, or unavailable naming what was missing. */
ASSAY_API int assay_metrics_ratio(struct assay_metrics *set, const char *name,
                                  const struct assay_metric *numerator,
                                  const struct assay_metric *denominator, const char *formula);

#endif
