/* tail.c - see tail.h. The mean decides, and the lowest percentile far from the median tells how
 * many inferences are slow. */
#include "run/trial/tail.h"

#include "profile/trial_values.h"
#include "run/trial/summary.h"

#include <math.h>

#define MEAN_FAR 1.2 /* times the median */
#define SLOW 1.5     /* times the median */

struct assay__tail assay__trial_tail(const struct assay__trial *trial)
{
    struct assay__tail tail = {.mean = NAN, .factor = NAN};
    double p50 = assay__trial_value(trial, "latency.p50"),
           mean = assay__trial_value(trial, "latency.mean");
    const struct assay__percentile *p;
    if (!(p50 > 0) || !(mean / p50 >= MEAN_FAR)) return tail;
    tail.mean = mean / p50;
    for (size_t i = 0; isnan(tail.factor) && (p = assay__percentile_at(i)); i++) {
        double factor = assay__trial_value(trial, p->name) / p50;
        if (!(factor >= SLOW)) continue;
        tail.factor = factor;
        tail.one_in = (int)lround(1 / (1 - p->q));
    }
    return tail;
}
