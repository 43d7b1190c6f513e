/* assignment.h - asks an engine, from a child process, which provider would run which node of a
 * model. The child is assay-worker with another kind of job, one JSON object per line:
 *
 *   parent -> {"job": 1, "assignment": true, "engine": "ort", "library": null, "device": "cuda:0",
 *     "model": "…",
 *              "optimization": null, "dims": [["batch", 1], …], "save": null}
 *   worker -> {"log": "…"}                                      an error that the engine logs
 *             {"target": "CUDAExecutionProvider", "version": "1.31.1"}   before any node
 *             {"nodes": [[name, op, domain, provider, subgraph], …]}   as often as needed
 *             {"done": true}                                    then it exits
 *             {"error": {"code": -8, "message": "…"}}           instead
 *
 * No input is generated and nothing is run: a session is created, read and closed. */
#ifndef ASSAY_RUN_ASSIGNMENT_H
#define ASSAY_RUN_ASSIGNMENT_H

#include "base/arena.h"

#include "engine/engine.h"
#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>

struct assay__channel;
struct assay__json;

#define ASSAY__ASSIGNMENT_TIMEOUT_S 300.0

struct assay__assignment_request {
    const char *engine, *library, *device, *model; /* library NULL: the engine's default */
    const char *optimization;                      /* NULL: all */
    const char *const *dim_names;
    const int64_t *dim_values;
    size_t dim_count;
    double timeout_s; /* 0: 300 */
    const volatile int *interrupt;
    const char *save; /* where to save the optimised model; NULL: nowhere */
};

struct assay__assignment {
    const char *target,
        *version; /* the device's own provider; "" when the engine named neither it nor a node */
    struct assay__assigned *nodes; /* in the engine's order */
    size_t count;
};

/** Everything is in the arena. ASSAY_EUNSUPPORTED: this build cannot report it; ASSAY_ECRASH,
 * ASSAY_ETIMEOUT: how the child ended; ASSAY_EENGINE and others: the engine's message. */
int assay__assignment_ask(const struct assay__assignment_request *request,
                          struct assay__arena *arena, struct assay__assignment *assignment,
                          struct assay_error *error);

/** The worker's side (worker_answers.c): answers the job. */
int assay__assignment_answer(struct assay__channel *channel, const struct assay__json *job,
                             struct assay_error *error);

#endif
