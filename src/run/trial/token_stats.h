/* token_stats.h - text generation: what the worker sends about its tokens, the
 * statistics of one launch, and the metrics llm.* of a launch and of a trial. A whole generation
 * (prompt, then token after token) is one inference of `run`; the times inside it come from the
 * engine, in the same windows. */
#ifndef ASSAY_RUN_TRIAL_TOKEN_STATS_H
#define ASSAY_RUN_TRIAL_TOKEN_STATS_H

#include "base/arena.h"
#include "base/json.h"

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__GENERATE_MOST 1000000 /* tokens of one generation */
#define ASSAY__GENERATE_PROMPT 32    /* tokens of the prompt by default */
#define ASSAY__GENERATE_LEAST 3u     /* generations measured, however long they take */
#define ASSAY__GENERATED_IDS 1024u   /* ids that are kept of the first sequence */

/** The tokens of one launch. Times in ns; NaN unknown. */
struct assay__token_summary {
    double ttft, ttft_p90, ttft_p99;
    double itl, itl_p90, itl_p99, itl_first, itl_last; /* _first, _last: medians of quarters */
    double prefill, decode, overall;                   /* tokens per second, all sequences */
    double choose;
    double generations, dropped;
    double prefill_sd, decode_sd; /* of the generations' own rates */
};

struct assay__tokens {
    int64_t tokens, prompt, batch; /* of one generation; 0: nothing was sent */
    double *times_ns;              /* generations x tokens, since each generation began */
    size_t count, capacity;        /* values kept: at most VALUES_MOST plus one generation */
    size_t heard, expected;        /* values received, and announced */
    double last_ns;                /* the last one received */
    size_t dropped;                /* generations that the engine had no space for */
    double choose_sum_ns;          /* mean of each window times its generations */
    int64_t *ids;                  /* of the first sequence of the last generation */
    size_t id_count;
    struct assay__token_summary summary;
};

/** A "generation" and a "token_times" message. Everything is checked; the error says what is
 * wrong. */
void assay__tokens_hear(struct assay__tokens *tokens, int64_t asked, const struct assay__json *json,
                        struct assay_error *error);
void assay__tokens_hear_times(struct assay__tokens *tokens, const struct assay__json *json,
                              struct assay_error *error);
/** Fills the summary; 0 or ASSAY_ENOMEM. Without times everything in it is NaN. */
int assay__tokens_summarise(struct assay__tokens *tokens);
void assay__tokens_free(struct assay__tokens *tokens);

struct assay__outcome;
struct assay__trial;
struct assay_profile;
/** llm.* over these launches (the median over launches of each launch's value); nothing if the job
 * did not generate. `tokens` is the number requested. If the device has its own memory, notes say
 * that the cache is copied to it and back. */
void assay__generation_metrics(const struct assay__outcome *const *used, size_t count,
                               int64_t tokens, bool on_cpu, struct assay_metrics *metrics);
/** Stores the ids of the last launch that sent them, also as an option "464 318 …". 0 or
 * ASSAY_ENOMEM. */
int assay__generation_ids(const struct assay__outcome *const *used, size_t count,
                          struct assay_profile *profile, struct assay__trial *trial);
/** Stores when each token was ready, over the generations of all these launches. 0 or
 * ASSAY_ENOMEM. */
int assay__generation_times(const struct assay__outcome *const *used, size_t count,
                            struct assay_profile *profile, struct assay__trial *trial);

#endif
