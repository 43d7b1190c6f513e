/* probe_open.h - opening a probe whose driver may never answer. */
#ifndef ASSAY_PROBE_PROBE_OPEN_H
#define ASSAY_PROBE_PROBE_OPEN_H

#include "probe/probe.h"

/** Opens a probe with an arena of its own, on another thread, for at most its limit
 *  (ops->open_limit_ns, else 1 s); longer: ASSAY_ETIMEOUT with the reason, and the thread is left
 *  behind with both. A probe of the calling thread (ops->own_thread) is opened here, without a
 *  limit. *arena: freed by the caller after the probe was closed; NULL on an error. */
int assay__probe_open(const struct assay__probe_ops *ops, struct assay__arena **arena,
                      struct assay__probe **probe, struct assay_error *error);
/** How long that may take. */
uint64_t assay__probe_open_limit_ns(const struct assay__probe_ops *ops);

#endif
