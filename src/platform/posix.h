/* posix.h - what the shared POSIX files need from those of the operating system. Only for use
 * inside platform/. */
#ifndef ASSAY_PLATFORM_POSIX_H
#define ASSAY_PLATFORM_POSIX_H

#include <stdint.h>
#include <sys/types.h>

/** Between fork and exec, so async-signal-safe only: make this process die with `parent`; non-zero
 * if that has already ended. */
int assay__child_bind(pid_t parent);
/** Async-signal-safe: closes every descriptor from `first` on. */
void assay__child_close_from(int first);
/** Sleeps until the child may have ended or timeout_ns has passed (UINT64_MAX: no limit). May
 *  return early. */
void assay__child_watch(pid_t pid, uint64_t timeout_ns);
/** How many processes the kernel's out-of-memory killer has killed, as far as we can see;
 * UINT64_MAX unknown. */
uint64_t assay__oom_kills(void);
/** ru_maxrss in bytes (its unit differs). */
uint64_t assay__maxrss_bytes(long maxrss);
/** A descriptor of anonymous shared memory of that size, close-on-exec; -1 with errno. */
int assay__shared_descriptor(size_t size);

#endif
