/* trust.h - between verdict.c (the sentence) and trust.c (how far the numbers can be trusted, and
 * the key numbers). */
#ifndef ASSAY_JUDGE_TRUST_H
#define ASSAY_JUDGE_TRUST_H

#include "judge/verdict.h"

/** Sets trust, chip and reasons. */
void assay__trust(const struct assay_profile *profile, const struct assay__trial *trial,
                  struct assay__arena *arena, struct assay__trial_verdict *out);
/** Sets the known key numbers of its task. */
void assay__kpis(const struct assay__trial *trial, struct assay__trial_verdict *out);
/** (max - min) / median of the launches' medians; NaN: fewer than two. */
double assay__launch_spread(const struct assay__trial *trial);
/** Its layers were to be timed. */
bool assay__layers_were_asked(const struct assay__trial *trial);
/** The total of the timed layers and the engine, relative to latency.p50; NaN: no layer is
 * timed. */
double assay__layers_add_up(const struct assay__trial *trial);

#endif
