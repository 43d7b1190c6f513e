/* section_roofline.c - each hot layer against what the device can do. */
#include "report/sections.h"

void assay__section_roofline(struct assay__page *page, const struct assay_profile *profile,
                             const struct assay__trial *trial)
{
    (void)page, (void)profile, (void)trial;
}
