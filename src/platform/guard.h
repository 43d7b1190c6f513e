/* guard.h - work that may never return (a driver that hangs), done on a separate thread, with a
 * time limit. */
#ifndef ASSAY_PLATFORM_GUARD_H
#define ASSAY_PLATFORM_GUARD_H

#include <stdint.h>

/** Runs work(context) on another thread and waits for it, at most limit_ns. 0: it is done.
 * ASSAY_ETIMEOUT: it was abandoned; the context then belongs to the thread, which calls
 * drop(context) if the work returns after all. So the context must be on the heap, and nothing in
 * it may be shared. If no thread can be started, the work runs on this one, without a limit. */
int assay__guard_run(void (*work)(void *context), void (*drop)(void *context), void *context,
                     uint64_t limit_ns);

#endif
