/* messages.h - what a worker sends about one launch, as structs: each has a field table
 * (profile/fields.h), and its object in the protocol (job.h) has a member for every row. */
#ifndef ASSAY_RUN_WORKER_MESSAGES_H
#define ASSAY_RUN_WORKER_MESSAGES_H

#include "profile/tables.h"

struct assay__channel; /* run/worker/channel.h */

struct assay__worker_facts {
    double load_ns, compile_ns, create_ns, first_ns, loop_ns, clock_ns,
        clock_step_ns; /* NaN unknown */
    const char *load_reason, *version, *library, *provider, *hardware;
    int threads;
    bool known; /* they came; no part of the message */
};

struct assay__worker_memory {
    double baseline, rss, peak, pss, arena, arena_peak; /* bytes; NaN unknown */
};

/** The states that are fed back and the other outputs, after the measured steps; NaN unknown. */
struct assay__worker_state {
    double nonfinite;         /* of the states' numbers: infinite or NaN */
    double outputs_nonfinite; /* the same of the other outputs */
};

/** Real time the worker spent; NaN unknown. */
struct assay__worker_spent {
    double open_ns, steps_ns, layers_ns;
};

/** A message is one object with one member: open it, write the value, send it. */
struct assay__message {
    struct assay__buf text;
    struct assay__json_writer writer;
};
struct assay__json_writer *assay__message_open(struct assay__message *message, const char *key);
int assay__message_send(struct assay__message *message, struct assay__channel *channel,
                        struct assay_error *error);
/** A struct that has a table, as an object. */
void assay__message_put(struct assay__json_writer *out, const struct assay__field_table *table,
                        const void *element);
/** The same as a whole message. */
int assay__message_send_fields(struct assay__channel *channel, const char *key,
                               const struct assay__field_table *table, const void *element,
                               struct assay_error *error);

/** {"done": true}: the end of an answer. */
int assay__message_send_done(struct assay__channel *channel, struct assay_error *error);

extern const struct assay__field_table assay__message_job;        /* struct assay__job */
extern const struct assay__field_table assay__message_generation; /* struct assay__generation */
extern const struct assay__field_table assay__message_facts;
extern const struct assay__field_table assay__message_memory;
extern const struct assay__field_table assay__message_spent;
extern const struct assay__field_table assay__message_state;
extern const struct assay__field_table assay__message_event;   /* struct assay__counted_event */
extern const struct assay__field_table assay__message_tracked; /* struct assay__tracked */
extern const struct assay__field_table assay__message_device;  /* struct assay__device */

#endif
