/* runtime_calls.h - what a name that a GPU profiler wrote means: calls of the runtimes of CUDA and
 * HIP, and names of copies. One table for all importers. */
#ifndef ASSAY_IMPORT_RUNTIME_CALLS_H
#define ASSAY_IMPORT_RUNTIME_CALLS_H

#include "trace/events.h"

/** ASSAY__EVENT_LAUNCH, ASSAY__EVENT_SYNC or ASSAY__EVENT_RUNTIME. */
enum assay__event_kind assay__runtime_call_kind(const char *name);
/** "Memcpy HtoD (Pageable -> Device)", "[CUDA memcpy Host-to-Device]", "CopyDeviceToHost": fills in
 *  direction, from and to, as far as the name tells. */
void assay__copy_of_name(const char *name, struct assay__event_args *args);

#endif
