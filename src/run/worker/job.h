/* job.h - the parent's request to a worker: one JSON object, the first line on the socket. Then the
 * worker sends messages and the parent answers each "window". One object per line:
 *
 *   worker -> {"phase": "loading"}        or "first" (it failed), "warming up", "layers"
 *             {"log": "…"}                a line for people
 *             {"facts": {…}}              struct assay__worker_facts
 *             {"window": {"index": 0, "prerun": 10240}}
 *                                         stands in the ring; 0 is the pre-run, which is not kept
 *                                         ("alternates": true with it: blocks can be asked for)
 *   parent -> {"window": {"iterations": n, "seconds": s, "rewarm": 2}}
 *             or {"block": {"seconds": s}}, answered with {"block": {"layers_ns": x}}
 *             or {"stop": {"latency_ns": x}}; "drop": true: the last block does not count
 *             before each "window" of a job that generates, after the pre-run's (which is not
 * sent):
 *             {"generation": {tokens, prompt, batch, generations, dropped, choose_ns, ids: [ … ]}}
 *             {"token_times": [ns, …]} …  generations x tokens, since each generation began
 *   worker -> {"memory": {…}}             struct assay__worker_memory
 *             {"state": {…}}              struct assay__worker_state, of a job with feedback
 *             {"layers": {…, counter_note}} struct assay__layers
 *             {"layer": {…, counters: [ … ]}} …   struct assay__layer
 *             {"counters": {slices, on_ns, off_ns, layer_events: [index, …], events: [{…}, …]}}
 *                                         struct assay__counted_event; before "layers"
 *             {"allocations": {…, phases: [ … ], classes: [ … ], sites: [ … ]}}
 *                                         struct assay__tracked, of a job that asks for it
 *             {"done": {…}}               struct assay__worker_spent; then it exits
 *             {"error": {"code": -8, "message": "…"}}       instead of any of these; it exits
 *
 * The job and where a struct is named have the members of its field table (messages.h,
 * profile/tables.h); unknown ones are left out. */
#ifndef ASSAY_RUN_WORKER_JOB_H
#define ASSAY_RUN_WORKER_JOB_H

#include "base/arena.h"
#include "base/buf.h"
#include "model/inputs/inputs.h"

#include "engine/engine.h"
#include <stdint.h>

struct assay__job {
    const char *engine, *model, *library, *device, *optimization, *cpus,
        *script; /* NULL: default */
    int threads, streams, spinning;
    int64_t warmup; /* -1: by time */
    enum assay_layer_method layers;
    bool alternate;   /* time layers in blocks between the windows, if the engine can */
    const char *keep; /* folder for what the engine can use again in the next launch; NULL: none */
    const char *timeline; /* folder for the records of some more inferences; NULL: none */
    struct assay__input_plan *inputs;
    size_t input_count;
    /* folder for the outputs (outputs.h) of the first inference, or of a fixed later one if a state
     * is fed back; NULL: none */
    const char *outputs;
    struct assay__generation generation; /* tokens 0: a step is one run */
    struct assay__feedback *feedback;    /* outputs that become inputs of the next step */
    size_t feedback_count;
    bool counters;    /* count cycles, instructions, … of the windows and of the layer pass */
    bool allocations; /* send what the preloaded allocation tracker recorded */
    bool strict;      /* no node may run on the CPU instead of the device */
    const char *provider_options; /* "key=value;key=value"; NULL: none */
    const char *model_name;       /* what messages call the model; NULL: its path */
};

void assay__job_write(const struct assay__job *job, struct assay__buf *out);
int assay__job_read(const char *text, size_t length, struct assay__arena *arena,
                    struct assay__job *job, struct assay_error *error);

#endif
