/* chart.h - a metric over time, drawn in text: a few rows of block characters (or ASCII), the scale
 * at the left, time below. Gaps stay empty: an unknown value is never drawn as 0. */
#ifndef ASSAY_REPORT_FIGURE_CHART_H
#define ASSAY_REPORT_FIGURE_CHART_H

#include "profile/profile.h"
#include "report/walk/text_page.h"

struct assay__chart {
    const char *title, *unit;        /* base unit: "W", "B"; scaled for people */
    const double *times_ns, *values; /* NaN: no value */
    size_t count;
    double begin_ns, end_ns; /* of the axis; NaN: of the data */
    double low;              /* of the scale; NaN: of the data */
    int rows;                /* 0: 6 */
    /* marked below the axis by their kind's first letter; NULL: none */
    const struct assay__span *spans;
    size_t span_count;
};

void assay__page_chart(struct assay__page *page, const struct assay__chart *chart);

#endif
