/* recover.c - computes the metrics of a capture that did not end. Outcomes are restored from the
 * launches' samples, and the code of a complete run computes their metrics into a separate set;
 * from there they are taken over with notes that say where they come from. What samples do not show
 * (the pre-run, memory, layers) stays unknown. */
#include "run/arm/recover.h"

#include "base/metric_value.h"
#include "base/no_memory.h"
#include "run/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECOVERED "recovered from the samples of an unfinished capture"

static bool has_latency(const struct assay_metrics *metrics)
{
    return assay__metrics_known(metrics, "latency.p50") != NULL;
}

/* An unfinished launch counts only when no launch finished. */
static int code_of(const struct assay__trial *trial, const struct assay__launch *launch)
{
    if (launch->state == ASSAY__TRIAL_FAILED) return ASSAY_ECRASH;
    for (size_t i = 0; launch->state != ASSAY__TRIAL_OK && i < trial->launch_count; i++)
        if (trial->launches[i].state == ASSAY__TRIAL_OK && trial->launches[i].sample_count > 0)
            return ASSAY_EINTERRUPTED;
    return 0;
}

/* The windows' wall time is not known: each stream was busy for its share of the samples' sum. */
static double rate_of(const struct assay__outcome *outcome)
{
    const struct assay__summary *summary = &outcome->summary;
    if (!(summary->sum_ns > 0)) return NAN;
    return (double)outcome->stream_count * (double)summary->samples * 1e9 / summary->sum_ns;
}

static void put_rate(double rate, int streams, double batch, struct assay_metrics *metrics)
{
    char note[128];
    if (!isfinite(rate)) return;
    snprintf(note, sizeof note, "completions / sum of the samples, %d request%s in flight", streams,
             streams == 1 ? "" : "s");
    if (streams == 1)
        assay_metrics_measured(metrics, "throughput.inferences", rate, "clock", note);
    else
        assay_metrics_derived(metrics, "throughput.inferences", rate, "clock", note);
    if (batch > 0)
        assay_metrics_derived(metrics, "throughput.samples", rate * batch, "clock",
                              "throughput.inferences x batch");
}

static void put_warmup(const struct assay__outcome *const *used, size_t count,
                       struct assay_metrics *metrics)
{
    char note[160];
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += used[i]->summary.warmup;
    snprintf(note, sizeof note,
             "the number of iterations before measuring was not saved; %zu samples were detected "
             "as warm-up",
             found);
    assay_metrics_unavailable(metrics, "latency.warmup", note);
}

/* Copies what `to` does not have yet. */
static int adopt(const struct assay_metrics *from, struct assay_metrics *to)
{
    for (size_t i = 0; i < assay_metrics_count(from); i++) {
        char note[512];
        struct assay_metric one = *assay_metrics_at(from, i);
        const struct assay_metric *old = assay_metrics_get(to, one.name);
        if (old && old->state != ASSAY_UNAVAILABLE) continue;
        snprintf(note, sizeof note, "%s%s%s", RECOVERED, one.note[0] ? "; " : "", one.note);
        if (one.state != ASSAY_UNAVAILABLE) one.note = note;
        assay_metrics_put(to, &one);
    }
    int code = assay_metrics_failed(from);
    return code ? code : assay_metrics_failed(to);
}

static int recover_launch(const struct assay__outcome *outcome, struct assay__launch *launch)
{
    if (outcome->total == 0 || has_latency(launch->metrics)) return 0;
    struct assay_metrics *own = assay_metrics_new();
    assay__summary_metrics(&outcome->summary, "", own);
    put_rate(rate_of(outcome), outcome->stream_count, NAN, own);
    put_warmup(&outcome, 1, own);
    int code = adopt(own, launch->metrics);
    launch->warmup = outcome->summary.warmup;
    launch->p50_ns = outcome->summary.p50;
    assay_metrics_free(own);
    return code;
}

/* The verdict, with a reason that says that it is based on less than usual. */
static int recover_stability(struct assay__trial_input *input, struct assay__stability *out)
{
    int code = assay__trial_stability(input);
    const struct assay__stability *judged = &input->trial->stability;
    if (code) return code;
    const char **reasons = assay__arena_array(input->profile->arena, judged->reason_count + 1,
                                              sizeof *reasons);
    if (!reasons) return ASSAY_ENOMEM;
    if (judged->reason_count)
        memcpy(reasons, judged->reasons, judged->reason_count * sizeof *reasons);
    reasons[judged->reason_count] = RECOVERED ": the windows are not compared";
    *out = *judged;
    out->reasons = reasons;
    out->reason_count++;
    return 0;
}

static int recover_metrics(const struct assay__trial_input *given, struct assay__trial *trial)
{
    struct assay__trial_input input = *given;
    struct assay__trial own = *trial; /* the code of a run writes here, not into the stored data */
    const struct assay__outcome **used = calloc(input.outcome_count + 1, sizeof *used);
    own.metrics = assay_metrics_new();
    input.trial = &own;
    size_t count = used && own.metrics ? assay__trial_used(&input, used) : 0;
    int code = used && own.metrics ? 0 : ASSAY_ENOMEM;
    if (code == 0 && count > 0) {
        input.streams = used[0]->stream_count;
        code = assay__trial_latency(&input, used, count);
        put_warmup(used, count, own.metrics);
        put_rate(assay__trial_median_of(used, count, rate_of), input.streams, (double)trial->batch,
                 own.metrics);
        if (code == 0) code = recover_stability(&input, &trial->stability);
        if (code == 0) code = adopt(own.metrics, trial->metrics);
    }
    assay_metrics_free(own.metrics);
    free(used);
    return code;
}

static int recover_trial(struct assay_profile *profile, struct assay__trial *trial)
{
    bool forced = trial->protocol.warmup >= 0;
    struct assay__outcome *outcomes = calloc(trial->launch_count + 1, sizeof *outcomes);
    struct assay__trial_input input = {
        .profile = profile,
        .outcomes = outcomes,
        .outcome_count = trial->launch_count,
        .precision = ASSAY__GOAL_PRECISION,
        .warmup_forced = forced,
        .overhead_run_s = NAN,
    };
    int code = outcomes ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < trial->launch_count && code == 0; i++) {
        code = assay__outcome_restore(&trial->launches[i], !forced, &outcomes[i]);
        outcomes[i].code = code_of(trial, &trial->launches[i]);
        if (code == 0) code = recover_launch(&outcomes[i], &trial->launches[i]);
    }
    if (code == 0) code = recover_metrics(&input, trial);
    for (size_t i = 0; outcomes && i < trial->launch_count; i++)
        assay__outcome_free(&outcomes[i]);
    free(outcomes);
    return code;
}

int assay__profile_recover(struct assay_profile *profile)
{
    int code = 0;
    for (size_t t = 0; t < profile->trial_count && code == 0; t++) {
        struct assay__trial *trial = &profile->trials[t];
        size_t samples = 0;
        for (size_t i = 0; i < trial->launch_count; i++)
            samples += trial->launches[i].sample_count;
        if (samples > 0 && !has_latency(trial->metrics)) code = recover_trial(profile, trial);
    }
    return code;
}

int assay_profile_recover(struct assay_profile *profile, struct assay_error *error)
{
    if (!profile) return assay_error_set(error, ASSAY_EINVAL, "no profile to recover");
    return assay__profile_recover(profile) ? assay__no_memory(error) : 0;
}
