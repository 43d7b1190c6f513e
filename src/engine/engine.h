/* engine.h - what the built-in engines share: their rows for the registry, and the reading of
 * session options. */
#ifndef ASSAY_ENGINE_ENGINE_H
#define ASSAY_ENGINE_ENGINE_H

#include <assay/engine.h>

extern const struct assay_engine_ops assay__engine_ort;
extern const struct assay_engine_ops assay__engine_fake;

/** A caller's options as this library knows them: members the caller's (older) struct does not have
 * are zero; bytes that this library does not know must be zero, else ASSAY_EINVAL. */
int assay__session_options_read(const struct assay_session_options *given,
                                struct assay_session_options *own, struct assay_error *error);

#endif
