/* live.h - for probes that query the running machine itself (system calls, a driver's library,
 * another program): when the files of another machine are read ($ASSAY_FSROOT), this one's numbers
 * must not be mixed in. */
#ifndef ASSAY_PROBE_LIVE_H
#define ASSAY_PROBE_LIVE_H

#include "platform/posix_fs.h"

/** Why the running machine may not be queried; NULL: it may. Static. */
static inline const char *assay__live_refused(void)
{
    return assay__fs_replaced() ? "ASSAY_FSROOT describes another machine, and this cannot be read "
                                  "from files: unset ASSAY_FSROOT to query this machine"
                                : NULL;
}

#endif
