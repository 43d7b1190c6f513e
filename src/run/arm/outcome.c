/* outcome.c - the result of a launch (launch.h): initialised, freed, and restored from a launch
 * stored in a profile. */
#include "run/arm/launch.h"

#include "base/metric_value.h"

#include <math.h>
#include <stdlib.h>

void assay__outcome_init(struct assay__outcome *outcome)
{
    *outcome = (struct assay__outcome){.reason = "",
                                       .remark = "",
                                       .log_tail = "",
                                       .speed = assay__speed_unknown(),
                                       .layers = assay__layers_unknown()};
    assay__fields_unknown(&assay__message_facts, &outcome->facts);
    assay__fields_unknown(&assay__message_memory, &outcome->memory);
    assay__fields_unknown(&assay__message_spent, &outcome->spent);
    assay__fields_unknown(&assay__message_state, &outcome->state);
}

void assay__outcome_free(struct assay__outcome *outcome)
{
    for (int s = 0; outcome->streams && !outcome->borrowed && s < outcome->stream_count; s++)
        assay__samples_free(&outcome->streams[s]);
    free(outcome->streams);
    free(outcome->windows);
    free(outcome->layers.items);
    assay__tokens_free(&outcome->tokens);
    outcome->streams = NULL;
    outcome->windows = NULL;
    outcome->layers.items = NULL;
}

/* Seconds of a metric in ns. */
static double time_of(const struct assay__launch *launch, const char *name)
{
    return assay__metrics_value(launch->metrics, name) * 1e9;
}

int assay__outcome_restore(const struct assay__launch *launch, bool find_warmup,
                           struct assay__outcome *outcome)
{
    assay__outcome_init(outcome);
    outcome->borrowed = outcome->adopted = true;
    outcome->code = launch->state == ASSAY__TRIAL_OK ? 0 : ASSAY_ECRASH;
    outcome->reason = launch->reason ? launch->reason : "";
    outcome->log_tail = launch->log_tail ? launch->log_tail : "";
    outcome->stream_count = launch->streams;
    outcome->wall_ns = launch->wall_ns;
    outcome->facts.load_ns = time_of(launch, "timing.load");
    outcome->facts.compile_ns = time_of(launch, "timing.compile");
    outcome->facts.create_ns = time_of(launch, "timing.session");
    outcome->facts.first_ns = time_of(launch, "timing.first");
    outcome->memory.baseline = assay__metrics_value(launch->metrics, "memory.baseline.worker");
    outcome->memory.peak = outcome->memory.baseline +
                           assay__metrics_value(launch->metrics, "memory.peak.worker");
    outcome->memory.pss = assay__metrics_value(launch->metrics, "memory.pss.worker");
    outcome->memory.arena_peak = assay__metrics_value(launch->metrics, "memory.activation.arena");
    outcome->state.nonfinite = assay__metrics_value(launch->metrics, "state.nonfinite");
    outcome->state.outputs_nonfinite = assay__metrics_value(launch->metrics, "outputs.nonfinite");
    if (launch->sample_count && launch->streams > 0 && launch->stream_offsets) {
        outcome->streams = calloc((size_t)launch->streams, sizeof *outcome->streams);
        if (!outcome->streams) return ASSAY_ENOMEM;
        for (int s = 0; s < launch->streams; s++) {
            size_t first = launch->stream_offsets[s], count = launch->stream_offsets[s + 1] - first;
            outcome->streams[s] = (struct assay__samples){launch->samples_ns + first, count, count};
        }
        outcome->total = outcome->summarised = launch->sample_count;
    }
    return assay__summary_compute(outcome->streams, outcome->streams ? launch->streams : 0,
                                  find_warmup, true, NAN, &outcome->summary);
}
