/* metric_value.c - reading a metric: its value where it has one. */
#include "base/metric_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NOTE_MOST 512 /* as much as a derived note keeps of another */
#define CHAIN_MOST 8  /* a hostile profile may have a circle */

bool assay__metric_is_known(const struct assay_metric *metric)
{
    return metric && metric->state != ASSAY_UNAVAILABLE && isfinite(metric->value);
}

const struct assay_metric *assay__metrics_known(const struct assay_metrics *set, const char *name)
{
    const struct assay_metric *metric = set && name ? assay_metrics_get(set, name) : NULL;
    return assay__metric_is_known(metric) ? metric : NULL;
}

double assay__metrics_value(const struct assay_metrics *set, const char *name)
{
    const struct assay_metric *metric = assay__metrics_known(set, name);
    return metric ? metric->value : (double)NAN;
}

int assay__metric_follows_note(char *out, size_t size, const struct assay_metric *cause)
{
    return snprintf(out, size, "%s is unavailable: %s", cause->name,
                    cause->note && *cause->note ? cause->note : "no reason given");
}

/* Whose unavailability the note tells; NULL: nobody's. */
static const struct assay_metric *cause_of(const struct assay_metrics *set,
                                           const struct assay_metric *metric)
{
    char note[NOTE_MOST];
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const struct assay_metric *other = assay_metrics_at(set, i);
        if (other->state != ASSAY_UNAVAILABLE || other == metric) continue;
        assay__metric_follows_note(note, sizeof note, other);
        if (strcmp(note, metric->note) == 0) return other;
    }
    return NULL;
}

const struct assay_metric *assay__metrics_root(const struct assay_metrics *set,
                                               const struct assay_metric *metric)
{
    const struct assay_metric *cause;
    for (int depth = 0; depth < CHAIN_MOST && (cause = cause_of(set, metric)) != NULL; depth++)
        metric = cause;
    return metric;
}
