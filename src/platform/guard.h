/* guard.h - work that may never come back (a driver that does not answer) on a separate thread,
 * with a time limit. */
#ifndef ASSAY_PLATFORM_GUARD_H
#define ASSAY_PLATFORM_GUARD_H

#include <stdint.h>

/** Runs work(context) on another thread and waits for it, at most limit_ns. 0: it is done.
 *  ASSAY_ETIMEOUT: it was left behind; the context is the thread's from now on, which calls
 *  drop(context) when the work comes back after all. So the context is on the heap and nothing in
 *  it is shared. Without a thread to be had the work runs on this one, without a limit. */
int assay__guard_run(void (*work)(void *context), void (*drop)(void *context), void *context,
                     uint64_t limit_ns);

#endif
