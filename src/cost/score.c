/* score.c - computes the efficiency score and puts it, or why there is none, as a metric. */
#include "cost/score.h"

#include "base/metric_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FULL_SPEED 1000.0 /* inferences per second */
#define FULL_TOPS 10.0    /* TOPS/W */

const struct assay_metric *assay__peak_memory(const struct assay_metrics *metrics, bool host)
{
    const struct assay_metric *unified = assay_metrics_get(metrics, "memory.unified_peak");
    if (assay__metric_is_known(unified)) return unified;
    return assay_metrics_get(metrics, host ? "memory.peak.worker" : "memory.peak.device");
}

static const char *why_not(const struct assay_metric *metric)
{
    if (assay__metric_is_known(metric)) return "";
    return metric && metric->note && metric->note[0] ? metric->note : "it was not measured";
}

/* value / full, at most 1. */
static void set_part(struct assay__score_part *part, const struct assay_metric *value, double full)
{
    part->reason = why_not(value);
    part->share = assay__metric_is_known(value) && full > 0 ? fmax(0, fmin(value->value / full, 1))
                                                            : NAN;
    part->points = part->of * part->share;
}

void assay__score(const struct assay_metrics *metrics, bool host, struct assay__score *score)
{
    const struct assay_metric *peak = assay__peak_memory(metrics, host);
    *score = (struct assay__score){.parts = {
                                       {"speed", "inferences per second / 1000", "", NAN, NAN, 40},
                                       {"TOPS/W", "TOPS/W / 10", "", NAN, NAN, 40},
                                       {"memory", "weights / peak memory", "", NAN, NAN, 20},
                                   }};
    set_part(&score->parts[0], assay_metrics_get(metrics, "throughput.inferences"), FULL_SPEED);
    set_part(&score->parts[1], assay_metrics_get(metrics, "efficiency.tops_per_watt"), FULL_TOPS);
    set_part(&score->parts[2], assay_metrics_get(metrics, "memory.model"),
             assay__metric_is_known(peak) ? peak->value : NAN);
    if (!score->parts[2].reason[0] && isnan(score->parts[2].share))
        score->parts[2].reason = assay__metric_is_known(peak) ? "peak memory is 0" : why_not(peak);
    for (size_t i = 0; i < ASSAY__SCORE_PARTS; i++)
        score->points += score->parts[i].points;
}

int assay__score_put(struct assay_metrics *metrics, bool host)
{
    struct assay__score score;
    char have[120] = "", miss[60] = "", note[1800];
    const char *first = NULL, *reason = "";
    assay__score(metrics, host, &score);
    for (size_t i = 0; i < ASSAY__SCORE_PARTS; i++) {
        const struct assay__score_part *part = &score.parts[i];
        bool is = isfinite(part->points);
        char *list = is ? have : miss;
        size_t size = is ? sizeof have : sizeof miss, used = strlen(list);
        const char *comma = used ? ", " : "";
        if (is)
            snprintf(list + used, size - used, "%s%s %.*f of %.0f", comma, part->name,
                     part->points < 0.1 ? 3 : 1, part->points, part->of);
        else
            snprintf(list + used, size - used, "%s%s", comma, part->name);
        if (!is && !first) {
            first = part->name;
            /* that metric has its reason, which may be long: it is not repeated */
            reason = i == 1 ? "see efficiency.tops_per_watt" : part->reason;
        }
    }
    if (isfinite(score.points))
        return assay_metrics_derived(metrics, "score.efficiency", score.points, "derived", have);
    snprintf(note, sizeof note, "unknown: %s%s%s; %s: %.1500s", miss, *have ? "; known: " : "",
             have, first, reason);
    return assay_metrics_unavailable(metrics, "score.efficiency", note);
}
