/* procmem.h - whose memory the probes `process` and `process-pss` read. */
#ifndef ASSAY_PROBE_PROCMEM_H
#define ASSAY_PROBE_PROCMEM_H

#include <sys/types.h>

/** The process that a later open reads; 0: this one, the default. */
void assay__procmem_target(pid_t process);

#endif
