/* live.h - for probes that ask the running machine itself (system calls, a driver's library,
 * another program): when the files of another machine are read ($ASSAY_FSROOT), this one's numbers
 * must not be mixed in. */
#ifndef ASSAY_PROBE_LIVE_H
#define ASSAY_PROBE_LIVE_H

#include <stdlib.h>

/** Why the running machine may not be asked; NULL: it may. Static. */
static inline const char *assay__live_refused(void)
{
    const char *root = getenv("ASSAY_FSROOT");
    return root && *root ? "another machine's files are read (ASSAY_FSROOT is set), and this is "
                           "not in files: unset ASSAY_FSROOT to ask this machine"
                         : NULL;
}

#endif
