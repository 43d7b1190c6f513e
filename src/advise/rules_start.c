/* rules_start.c - rules about what happens before the first warm inference. They improve start-up,
 * not latency: no gain is given. */
#include "advise/rules.h"

#include <math.h>

#define COLD_TIMES 100.0 /* inferences: shorter waits are not noticed next to the work … */
#define COLD_LEAST_S 0.5 /* … nor are these */
#define COMPILE_SHARE 0.5
#define COMPILE_LEAST_S 0.2
#define FIRST_TIMES 5.0

static enum assay__rule_outcome cold_start(struct assay__advice *a)
{
    double session = assay__trial_value(a->trial, "timing.session"), p50 = a->p50_ns / 1e9;
    if (!isfinite(session)) return assay__rule_without(a, "timing.session");
    if (session < COLD_LEAST_S || session < COLD_TIMES * p50) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "creating the session takes %s, as long as %.0f inferences",
                         assay__scaled(session, "s").text, session / p50);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome compile(struct assay__advice *a)
{
    double session = assay__trial_value(a->trial, "timing.session"),
           own = assay__trial_value(a->trial, "timing.compile");
    if (!isfinite(own)) return assay__rule_without(a, "timing.compile");
    if (!isfinite(session)) return assay__rule_without(a, "timing.session");
    if (own < COMPILE_LEAST_S || own < COMPILE_SHARE * session) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "optimising and compiling the graph takes %s of the %s of session creation",
        assay__scaled(own, "s").text, assay__scaled(session, "s").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome first(struct assay__advice *a)
{
    double own = assay__trial_value(a->trial, "timing.first"), p50 = a->p50_ns / 1e9;
    if (!isfinite(own)) return assay__rule_without(a, "timing.first");
    if (own < FIRST_TIMES * p50) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the first inference takes %s, %s times a warm one (%s)",
                         assay__scaled(own, "s").text, assay__digits(own / p50, 3).text,
                         assay__scaled(p50, "s").text);
    return assay__rule_found(a, NAN);
}

const struct assay__rule assay__rules_start[] = {
    {"cold-start", "start", "low", "medium", ASSAY__NEED_LATENCY | ASSAY__NEED_START, cold_start,
     NULL, NULL, "Session creation is slow",
     "session creation of 0.5 s or more, and at least as long as 100 inferences",
     "keep one session for many inferences; for short-lived processes map the weights as external "
     "data and store the optimised model"},
    {"compile-time", "start", "low", "medium", ASSAY__NEED_START, compile, NULL, NULL,
     "The graph is compiled at every start",
     "0.2 s or more, and at least half of the session creation time",
     "optimise once and keep the result: optimized_model_filepath, then no optimisation; on "
     "accelerators the provider's cache (ep.context_enable)"},
    {"first-inference", "start", "note", "small", ASSAY__NEED_LATENCY | ASSAY__NEED_START, first,
     NULL, NULL, "The first inference is slow", "5 times a warm inference or more",
     "run one inference of every shape before the first request: memory, kernels and clocks are "
     "then warm"},
    {0},
};
