/* score.h - the efficiency score of a trial, 0 to 100, and its parts: a pure function of its
 * metrics, and the only place that knows the formula.
 *
 *   40 min(throughput.inferences / 1000, 1) + 40 min(efficiency.tops_per_watt / 10, 1) + 20
 *     min(memory.model / peak memory, 1)
 *
 * If any part is unknown, the score is unavailable; the known parts are then listed in its note. */
#ifndef ASSAY_COST_SCORE_H
#define ASSAY_COST_SCORE_H

#include <assay/metric.h>
#include <stdbool.h>

#define ASSAY__SCORE_PARTS 3

struct assay__score_part {
    const char *name;    /* "speed", "TOPS/W", "memory" */
    const char *formula; /* "inferences per second / 1000" */
    const char *reason;  /* why it is unknown, borrowed from the metric; "" */
    double share;        /* 0 … 1; NaN unknown */
    double points, of;   /* points NaN unknown */
};

struct assay__score {
    struct assay__score_part parts[ASSAY__SCORE_PARTS];
    double points; /* NaN if any part is */
};

/** host: the model ran on the CPU, so that the worker's memory counts, else the device's. Borrows
 *  from the metrics. */
void assay__score(const struct assay_metrics *metrics, bool host, struct assay__score *score);
/** Puts score.efficiency, or why it is unavailable. 0 or ASSAY_ENOMEM. */
int assay__score_put(struct assay_metrics *metrics, bool host);

/** The metric of the memory that counts: unified memory if it is known, else the device's own, else
 * the worker's. */
const struct assay_metric *assay__peak_memory(const struct assay_metrics *metrics, bool host);

#endif
