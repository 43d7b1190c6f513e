/* worker.h - the worker's side of a launch: reads a job from descriptor 3, measures into descriptor
 * 4, reports, exits. */
#ifndef ASSAY_RUN_WORKER_WORKER_H
#define ASSAY_RUN_WORKER_WORKER_H

#define ASSAY__WORKER_SOCKET 3
#define ASSAY__WORKER_SHARED 4

/** Everything that assay-worker does; returns its exit status. */
int assay__worker_main(void);

#endif
