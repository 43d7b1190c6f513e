/* sections.h - parts of the text report about one subject each. Each prints nothing when the
 * profile holds nothing of it. A profile of `power`, `memory` or `counters` shows the header, its
 * subject and how far to trust it; any other shows them all. */
#ifndef ASSAY_REPORT_SECTIONS_H
#define ASSAY_REPORT_SECTIONS_H

#include "report/walk/text_page.h"

typedef void assay__section_fn(struct assay__page *page, const struct assay_profile *profile,
                               const struct assay__trial *trial);

assay__section_fn assay__section_power, assay__section_memory, assay__section_counters,
    assay__section_roofline, assay__section_comparison, assay__section_sweep,
    assay__section_require, assay__section_tune;

#endif
