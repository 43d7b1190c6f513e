/* ort_generate.h - generation with a cache, for ort.c. */
#ifndef ASSAY_ENGINE_ORT_ORT_GENERATE_H
#define ASSAY_ENGINE_ORT_ORT_GENERATE_H

#include "engine/ort/ort_session.h"

/** After inputs and outputs of the session are made. The plan is borrowed. */
int assay__ort_generation_open(struct assay_session *session, const struct assay_generation *plan,
                               struct assay_error *error);
int assay__ort_generation_step(struct assay_session *session, struct assay_error *error);
int assay__ort_generation_tokens(struct assay_session *session, struct assay_token_times *times,
                                 struct assay_error *error);
/** The outputs of the last run, in the session's order; entries are NULL before the first step. */
struct OrtValue *const *assay__ort_generation_outputs(const struct assay_session *session);
void assay__ort_generation_close(struct assay_session *session);

#endif
