/* devices.h - asks an engine for its devices from a child process, so that a driver that crashes or
 * hangs affects only one row. The child is assay-worker with another kind of job, one JSON object
 * per line:
 *
 *   parent -> {"job": 1, "devices": true, "engine": "ort", "library": null, "only": null,
 *              "working": ["cpu", …], "failed": ["cuda:0", …]}       what an earlier child has sent
 *   worker -> {"trying": {name, kind, library, version}}             before each
 *             {"log": "…"}                                           an error that the engine logs
 *             {"device": {…}}                                        struct assay__device
 *             {"done": true}                                         then it exits
 *             {"error": {"code": -8, "message": "…"}}                instead
 *
 * If the child dies or is silent for too long, the device it was trying gets a row that says so,
 * and a new child continues after it. Children run one after the other. */
#ifndef ASSAY_RUN_DEVICES_H
#define ASSAY_RUN_DEVICES_H

#include "engine/engine.h"
#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>

struct assay__channel;
struct assay__json;

#define ASSAY__DEVICES_TIMEOUT_S 30.0

struct assay__devices_options {
    const char *engine;  /* "ort" */
    const char *library; /* NULL: its default */
    const char *only; /* the engine's own name for one device ("cuda" means "cuda:0"); NULL: all */
    double timeout_s; /* per device; 0: 30 */
    const volatile int *interrupt;
    /** Called before each device; may be NULL. */
    void (*trying)(void *context, const char *name);
    void *trying_context;
};

/** Calls back for every device in the engine's order. ASSAY_EINTERRUPTED after the devices found so
 * far; ASSAY_ECRASH or ASSAY_ETIMEOUT when the engine cannot even be loaded; a non-zero value of
 * `found` ends it and is returned. */
int assay__devices_list(const struct assay__devices_options *options, assay__device_fn *found,
                        void *context, struct assay_error *error);

/** The worker's side (worker_answers.c): answers the job. */
int assay__devices_answer(struct assay__channel *channel, const struct assay__json *job,
                          struct assay_error *error);

#endif
