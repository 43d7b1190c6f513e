/* first_step.c - a first step that takes far longer than the others: code is loaded in it, memory
 * taken, libraries choose their kernels. In a short program it would decide the diagnosis of all;
 * what the program goes on to do is in the other steps. */
#include "explain/parts.h"

#define LEAST_STEPS 3
#define LONGER 3.0   /* times the median step: anything less is an ordinary slow one */
#define DECIDES 0.20 /* of the devices' time: what it took beyond that */

bool assay__explain_after_first(const struct assay__explain *x, struct assay__after_first *after)
{
    const struct assay__steps *s = &x->steps;
    *after = (struct assay__after_first){0};
    if (s->count < LEAST_STEPS || s->slowest != 0 || !x->device_count) return false;
    double first_ns = (double)s->time.max_ns, median_ns = (double)s->time.median_ns;
    if (median_ns <= 0 || first_ns < LONGER * median_ns ||
        first_ns - median_ns < DECIDES * (double)x->span_ns / (double)x->device_count)
        return false;
    for (size_t i = 1; i < s->count; i++) {
        const struct assay__step *step = &s->items[i];
        after->span_ns += step->busy_ns + step->idle_ns;
        after->busy_ns += step->busy_ns;
        after->compute_ns += step->compute_ns;
        for (int l = 0; l < ASSAY__LOSSES; l++)
            after->loss_ns[l] += step->idle[l];
    }
    after->loss_ns[ASSAY__LOSS_TRANSFERS] += after->busy_ns - after->compute_ns;
    return after->span_ns > 0;
}
