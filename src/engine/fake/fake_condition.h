/* fake_condition.h - items of a fake engine's script that hold only for certain options. */
#ifndef ASSAY_ENGINE_FAKE_FAKE_CONDITION_H
#define ASSAY_ENGINE_FAKE_FAKE_CONDITION_H

#include "base/arena.h"
#include "engine/engine.h"

/** The script of the options with every `when_WHAT=VALUE:ITEM` replaced by its ITEM or by nothing.
 *  Never NULL. */
const char *assay__fake_script_for(struct assay__arena *arena,
                                   const struct assay_session_options *options);

#endif
