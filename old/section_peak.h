/* section_peak.h - the part of the memory's section about the activations that are alive when most
 * are. */
#ifndef ASSAY_REPORT_SECTION_PEAK_H
#define ASSAY_REPORT_SECTION_PEAK_H

#include "report/walk/text_page.h"

/** Nothing when they were not looked for. Without a peak: the reason, unless the row of the
 *  activations has said it. */
void assay__section_peak(struct assay__page *page, const struct assay__trial *trial);

#endif
