/* section_counters.c - the processor's counters per inference and per class of layers. */
#include "report/sections.h"

void assay__section_counters(struct assay__page *page, const struct assay_profile *profile,
                             const struct assay__trial *trial)
{
    (void)page, (void)profile, (void)trial;
}
