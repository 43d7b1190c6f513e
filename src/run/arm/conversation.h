/* conversation.h - a launch in progress: what the worker says (job.h has the protocol) and what the
 * parent answers. */
#ifndef ASSAY_RUN_ARM_CONVERSATION_H
#define ASSAY_RUN_ARM_CONVERSATION_H

#include "run/worker/channel.h"
#include "run/arm/launch.h"
#include "run/worker/ring.h"

#define ASSAY__PHASE_STARTING "starting"
#define ASSAY__PHASE_LOADING "loading"
#define ASSAY__PHASE_FIRST "running the first inference"
#define ASSAY__PHASE_WARMING "warming up"
#define ASSAY__PHASE_MEASURING "measuring"
#define ASSAY__PHASE_COUNTING "counting"
#define ASSAY__PHASE_LAYERS "timing layers"

struct assay__conversation {
    const struct assay__request *request;
    struct assay__outcome *outcome;
    struct assay__channel channel;
    struct assay__ring ring;
    const char *phase;
    char last_log[256]; /* the last "log" message */
    double pace_ns;
    bool done;           /* the worker said so */
    bool worker_leaves;  /* it reported an error and exits by itself */
    int64_t next_window; /* the index we expect */
    uint64_t window_ns;  /* when the current window was requested; 0: none is running */
    struct assay_error error;
};

/** One line from the worker. Sets done or error. */
void assay__conversation_hear(struct assay__conversation *talk, const char *line, size_t length);
/** Moves the ring's current window into the outcome and the store. A lying count or stamp becomes
 * the error. */
void assay__conversation_take(struct assay__conversation *talk);
/** Computes the summary of the samples unless it is up to date. 0 or ASSAY_ENOMEM. */
int assay__conversation_summarise(struct assay__conversation *talk);

#endif
