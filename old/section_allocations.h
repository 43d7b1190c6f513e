/* section_allocations.h - the part of the memory's section about what was allocated. */
#ifndef ASSAY_REPORT_SECTION_ALLOCATIONS_H
#define ASSAY_REPORT_SECTION_ALLOCATIONS_H

#include "report/walk/text_page.h"

/** Nothing when allocations were not asked for. */
void assay__section_allocations(struct assay__page *page, const struct assay__trial *trial);

#endif
