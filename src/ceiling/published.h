/* published.h - peaks published by vendors for their cards: dense arithmetic (no structured
 * sparsity) and memory bandwidth, each with its source. Only cards whose figures are public and
 * unambiguous. They are only shown next to a measured ceiling, never used instead of one. */
#ifndef ASSAY_CEILING_PUBLISHED_H
#define ASSAY_CEILING_PUBLISHED_H

#include "ceiling/ceiling.h"

struct assay__published {
    double value; /* in the row's unit */
    const char *source;
};

/** The published peak that a row of an accelerator's ceilings is compared with. hardware: as the
 *  driver names the card. false: none is known. */
bool assay__published_find(const char *hardware, const char *row, struct assay__published *out);

#endif
