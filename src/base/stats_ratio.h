/* stats_ratio.h - the two tests behind assay__stats_compare_launches(), for stats_compare.c
 * alone. */
#ifndef ASSAY_BASE_STATS_RATIO_H
#define ASSAY_BASE_STATS_RATIO_H

#include "base/stats.h"

/** a and b sorted, ratios all b_j / a_i sorted. The interval covers 1 - level; it stays unknown
 *  when so few launches cannot claim anything. */
void assay__ratio_of_fastest(const double *a, size_t a_count, const double *b, size_t b_count,
                             const double *ratios, double level, struct assay__ratio *out);

#endif
