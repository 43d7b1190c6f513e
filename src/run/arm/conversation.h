/* conversation.h - a launch in progress, shared by
 *   launch.c          the worker's start, its messages and its end
 *   launch_windows.c  which window or block of layers comes next, and which count */
#ifndef ASSAY_RUN_ARM_CONVERSATION_H
#define ASSAY_RUN_ARM_CONVERSATION_H

#include "run/arm/launch.h"
#include "run/worker/channel.h"
#include "run/worker/ring.h"

#define ASSAY__TALK_SPEEDS 16u

#define PHASE_MEASURING "measuring"

/* A launch in progress: what the worker sends (job.h has the protocol) and what we answer. */
struct assay__talk {
    const struct assay__request *request;
    struct assay__outcome *outcome;
    struct assay__channel channel;
    struct assay__ring ring;
    const char *phase;
    char last_log[256]; /* the last "log" message */
    double pace_ns;
    struct assay__goal goal; /* the request's goal, adjusted to how long preparing took */
    bool done;               /* the worker said so */
    bool worker_leaves;      /* it reported an error and exits by itself */
    int64_t next_window;     /* the index we expect */
    uint64_t window_ns;      /* when the current window was requested; 0: none is running */
    int64_t pid;             /* of the worker */
    bool alternates;         /* layers are timed in blocks between the windows */
    bool drop_block;         /* the last block was disturbed */
    bool last_block;         /* there will be no other */
    /* start of the window or block; time spent waiting until then */
    uint64_t stretch_ns, waited_ns;
    bool waited_known;
    double waited_s;                 /* for a faster machine */
    struct assay__speed speed, best; /* of the machine: the last reading; the best so far */
    struct assay__speed speeds[ASSAY__TALK_SPEEDS]; /* at the end of the windows that were kept */
    size_t speed_count;
    size_t slow;            /* windows during which the machine was slow, kept or not */
    double layers_ns;       /* sum of layers and engine so far; 0 unknown */
    double window_s;        /* length of the last window that was planned */
    size_t disturbed;       /* windows, kept or not */
    size_t blocks, dropped; /* of layers: kept, left out */
    size_t more_windows;    /* beyond the goal, for the layers */
    struct assay_error error;
};

/** The worker sent something that it must not: the launch fails with that reason. */
int assay__talk_bad(struct assay__talk *talk, const char *what);
void assay__talk_progress(struct assay__talk *talk, const char *phase, double done);

/** The worker has finished a window (the first: its pre-run), or a block of layers: takes it or
 *  leaves it out, and answers. */
void assay__talk_window(struct assay__talk *talk, const struct assay__json *window);
void assay__talk_block(struct assay__talk *talk, const struct assay__json *block);
/** The summary of the samples kept. 0 or ASSAY_ENOMEM. */
int assay__talk_summarise(struct assay__talk *talk);
/** A window in progress: its samples up to now. */
void assay__talk_take_window(struct assay__talk *talk);

#endif
