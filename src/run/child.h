/* child.h - a worker process as its parent sees it: where its program is, what it wrote, how it
 * ended, and queries that are not launches (devices.h, assignment.h). */
#ifndef ASSAY_RUN_CHILD_H
#define ASSAY_RUN_CHILD_H

#include "base/json.h"
#include "platform/platform.h"

#include <stdio.h>

/** $ASSAY_WORKER; else assay-worker next to the running program, in its ../libexec/assay, where it
 * was installed, next to libassay or in its ../libexec/assay. ASSAY_ENOTFOUND lists them. */
int assay__worker_locate(char *out, size_t out_size, struct assay_error *error);
/** A descriptor for the worker's stdout and stderr: a nameless file, so that nothing is left behind
 *  whatever happens. *log NULL: /dev/null, and the caller closes it. */
int assay__child_log_open(FILE **log);
/** The end of what it wrote, without control characters except line feeds; "" nothing. */
void assay__child_log_tail(FILE *log, char *out, size_t size);
/** Waits for the worker and kills it after `grace_ns`. *killed says so; code of the wait. */
int assay__child_end(struct assay__child *child, uint64_t grace_ns, struct assay__exit *status,
                     bool *killed);

struct assay__question {
    double timeout_s; /* without a line from the worker */
    const volatile int *interrupt;
    /** Members of the job, beside "job". */
    void (*write_job)(void *context, struct assay__json_writer *out);
    /** Called for each line except "log", "error" and "done". The arena lasts as long as the
     * line. */
    int (*hear)(void *context, const struct assay__json *root, struct assay__arena *arena,
                struct assay_error *error);
    void *context;
    char last_log[512]; /* the last "log" */
    char reason[1024];  /* what happened to a worker that was lost: "crashed: SIGSEGV (…); …" */
};

/** Starts a worker, sends the job and reads until "done". *lost: it died (ASSAY_ECRASH) or was
 *  silent for too long (ASSAY_ETIMEOUT), and question->reason says how. */
int assay__question_ask(struct assay__question *question, bool *lost, struct assay_error *error);

#endif
