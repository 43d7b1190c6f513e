/* counters.c - the numbers over time that a trace holds: power, clocks, memory. */
#include "explain/parts.h"

#include <math.h>

static struct assay__counter_range range_of(const struct assay__trace_counter *of)
{
    struct assay__counter_range r = {.counter = of, .least = INFINITY, .most = -INFINITY};
    double sum = 0;
    for (size_t i = 0; i < of->count; i++) {
        if (!isfinite(of->values[i])) continue;
        r.samples++;
        sum += of->values[i];
        r.least = fmin(r.least, of->values[i]);
        r.most = fmax(r.most, of->values[i]);
    }
    r.mean = r.samples ? sum / (double)r.samples : (double)NAN;
    return r;
}

void assay__explain_counters(struct assay__explain *x)
{
    size_t count = x->events->counter_count;
    x->counters = assay__arena_array(x->arena, count, sizeof *x->counters);
    for (size_t i = 0; x->counters && i < count; i++) {
        struct assay__counter_range r = range_of(&x->events->counters[i]);
        if (r.samples) x->counters[x->counter_count++] = r;
    }
}
