/* figure_spark.c - a sparkline: each column is the median of an equal part of the values, in eight
 * heights between the min and max of these medians; the heights span at least 2 %, so that noise on
 * a level line does not look like mountains. It shows drift and steps, not single outliers. Print
 * the range next to it: the heights have no scale. */
#include "report/figure/figure_text.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#define COLUMNS_MOST 64
#define LEAST_RANGE 0.02

bool assay__text_sparkline(struct assay__buf *out, const double *values, size_t count,
                           size_t columns, bool ascii, double *low, double *high)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    double medians[COLUMNS_MOST];
    if (columns > COLUMNS_MOST) columns = COLUMNS_MOST;
    if (columns > count) columns = count;
    double *part = columns ? malloc((count / columns + 2) * sizeof *part) : NULL;
    if (!part) return false;
    *low = INFINITY, *high = -INFINITY;
    for (size_t c = 0; c < columns; c++) {
        size_t begin = (size_t)((double)count * (double)c / (double)columns),
               end = (size_t)((double)count * (double)(c + 1) / (double)columns), used = 0;
        for (size_t i = begin; i < end && i < count && used <= count / columns; i++)
            if (isfinite(values[i])) part[used++] = values[i];
        assay__stats_sort(part, used);
        medians[c] = assay__stats_median(part, used);
        if (isfinite(medians[c])) *low = fmin(*low, medians[c]), *high = fmax(*high, medians[c]);
    }
    free(part);
    for (size_t c = 0; c < columns; c++) {
        double middle = (*low + *high) / 2, range = fmax(*high - *low, LEAST_RANGE * fabs(middle));
        double place = range > 0 ? 0.5 + (medians[c] - middle) / range : 0.5;
        size_t level = place >= 1 ? 7 : place > 0 ? (size_t)(place * 8) : 0;
        /* an unknown value is a gap, but a space at which lines do not wrap */
        assay__buf_puts(out, !isfinite(medians[c]) ? ASSAY__PAGE_NBSP
                             : ascii               ? letters[level]
                                                   : blocks[level]);
    }
    return *high >= *low;
}
