/* section_power.c - power, temperature and clocks over time, energy per inference. */
#include "report/sections.h"

void assay__section_power(struct assay__page *page, const struct assay_profile *profile,
                          const struct assay__trial *trial)
{
    (void)page, (void)profile, (void)trial;
}
