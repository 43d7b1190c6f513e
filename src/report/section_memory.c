/* section_memory.c - where the memory goes, and what is allocated. */
#include "report/sections.h"

void assay__section_memory(struct assay__page *page, const struct assay_profile *profile,
                           const struct assay__trial *trial)
{
    (void)page, (void)profile, (void)trial;
}
