/* engine.h - what the built-in engines share: the reading of their options. The list of engines is
 * engines.h. */
#ifndef ASSAY_ENGINE_ENGINE_H
#define ASSAY_ENGINE_ENGINE_H

#include "base/no_memory.h"
#include "profile/facts.h"

#include <assay/engine.h>

/** The class of a device by its name, without a build's prefix: what the engine's table says. */
enum assay__device_class assay__engine_device_class(const char *engine, const char *device);
/** As assay__session_options_read. */
int assay__assignment_options_read(const struct assay_assignment_options *given,
                                   struct assay_assignment_options *own, struct assay_error *error);

/** A caller's options as this library knows them: members the caller's (older) struct does not have
 * are zero; bytes that this library does not know must be zero, else ASSAY_EINVAL. */
int assay__session_options_read(const struct assay_session_options *given,
                                struct assay_session_options *own, struct assay_error *error);

/** No layers yet: every number is unknown. */
struct assay_layer_result assay__layer_result_unknown(const char *method);
/** The counters that a caller asks of layers(); NULL: none, or its (older) struct has no place for
 *  them. */
const struct assay_layer_counters *assay__layer_counters(const struct assay_layer_options *options);

#endif
