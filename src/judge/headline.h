/* headline.h - the answer of a comparison, a sweep, a tuning or a difference in one sentence of at
 * most 20 words: what is better, by how much with its interval, and the likeliest cause. The page,
 * the terminal and Markdown lead with it; how it was found is described elsewhere. Pure functions
 * of the results; everything is in the arena, which also records running out of memory. */
#ifndef ASSAY_JUDGE_HEADLINE_H
#define ASSAY_JUDGE_HEADLINE_H

#include "judge/study.h"

/** For a comparison, a sweep, a tuning or benchmarks with several trials; "" for any other profile.
 */
const char *assay__headline(struct assay__study *study);

const char *assay__headline_diff(const struct assay__diff *diff, struct assay__arena *arena);
/** changes: why the trials differ; its reason is set if that is unknown. */
const char *assay__headline_comparison(const struct assay__comparison *all,
                                       const struct assay__layer_changes *changes,
                                       struct assay__arena *arena);
const char *assay__headline_sweep(const struct assay_profile *profile,
                                  const struct assay__sweep *sweep, struct assay__arena *arena);
/** How many were measured; against a baseline the verdicts, else how much of the time is in
 * kernels. */
const char *assay__headline_bench(const struct assay__bench *bench, struct assay__arena *arena);
const char *assay__headline_tune(const struct assay_profile *profile,
                                 const struct assay__tune_result *result,
                                 struct assay__arena *arena);
/** The text, or as much of it as fits in such a sentence: whole clauses if possible. */
const char *assay__headline_cut(const char *text, struct assay__arena *arena);

#endif
