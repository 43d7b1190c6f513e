/* trial_stability.c - can this number be relied on? Verdict and reasons, with numbers:
 *   too-few   the interval of the median is wider than requested, or unknown, and nothing else is
 *             wrong
 *   unstable  drift, two modes, many outliers, unequal last windows (perf_analyzer's rule), strong
 *             autocorrelation, launches that disagree
 *   stable    none of these
 * Five or more launches are judged by how they differ and whether the layers add up: that is what
 * another run will show. Anything unusual within a launch is then mentioned, but does not affect
 * the verdict. */
#include "run/sentences.h"
#include "run/trial/trial.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIFT 0.02
#define DRIFT_P 0.01
#define OUTLIER_SHARE 0.05
#define WINDOW_RATIO 1.10
#define WINDOWS_LAST 3u
#define EFFECTIVE_LEAST 50.0 /* independent samples that a launch should be equivalent to */
#define LAUNCH_SPREAD 0.03
#define LAUNCHES_JUDGED 5u /* this many are judged by the interval between them */
#define UNATTRIBUTED 0.05
/* limit on the further measuring that is proposed; beyond it, the machine is too noisy */
#define LONGEST_NS 60e9
#define JUDGED_LEAST 40u /* below it drift is not computed */

static double window_median(const struct assay__outcome *outcome,
                            const struct assay__sample_window *window)
{
    double *copy = malloc((window->count + 1) * sizeof *copy), median = NAN;
    if (copy && window->count) {
        memcpy(copy, outcome->streams[0].values + window->first, window->count * sizeof *copy);
        assay__stats_sort(copy, window->count);
        median = assay__stats_median(copy, window->count);
    }
    free(copy);
    return median;
}

/* perf_analyzer: the last three windows agree within 1.10 in throughput and in latency. */
static void judge_windows(const struct assay__outcome *outcome, const char *who,
                          struct assay__sentences *said)
{
    if (outcome->window_count < WINDOWS_LAST) return;
    double low = INFINITY, high = 0, slow = 0, fast = INFINITY;
    for (size_t i = outcome->window_count - WINDOWS_LAST; i < outcome->window_count; i++) {
        const struct assay__sample_window *window = &outcome->windows[i];
        double rate = window->wall_ns > 0 ? (double)window->completions / window->wall_ns : NAN;
        double median = window_median(outcome, window);
        if (!isfinite(rate) || !(median > 0)) return;
        low = fmin(low, rate);
        high = fmax(high, rate);
        fast = fmin(fast, median);
        slow = fmax(slow, median);
    }
    if (slow / fast > WINDOW_RATIO)
        assay__sentences_add(
            said, "%sthe medians of the last 3 windows differ by a factor of %.2f (more than 1.10)",
            who, slow / fast);
    if (high / low > WINDOW_RATIO)
        assay__sentences_add(
            said,
            "%sthe throughput of the last 3 windows differs by a factor of %.2f (more than 1.10)",
            who, high / low);
}

static void judge_shape(const struct assay__summary *summary, const char *who,
                        struct assay__sentences *said)
{
    if (isfinite(summary->drift) && fabs(summary->drift) > DRIFT && summary->drift_p < DRIFT_P)
        assay__sentences_add(said, "%sthe latency drifted by %+.1f %% over the launch (p = %.2g)",
                             who, summary->drift * 100, summary->drift_p);
    if (summary->bimodal)
        assay__sentences_add(said, "%stwo modes: %s and %s (%.0f %% of the samples)", who,
                             assay__scaled(summary->low_mode / 1e9, "s").text,
                             assay__scaled(summary->high_mode / 1e9, "s").text,
                             summary->high_share * 100);
    if (summary->outlier_share > OUTLIER_SHARE)
        assay__sentences_add(
            said, "%s%.1f %% of the samples are outliers (more than 14.826 MAD from the median)",
            who, summary->outlier_share * 100);
    double effective = (double)summary->samples / summary->tau;
    if (summary->tau > 10 && effective < EFFECTIVE_LEAST)
        assay__sentences_add(
            said, "%ssamples are autocorrelated: %zu are worth %.0f independent ones (tau = %.0f)",
            who, summary->samples, effective, summary->tau);
}

/* How much longer; returns the number of sentences that only say "too few". */
static size_t judge_count(const struct assay__outcome *outcome, double precision, const char *who,
                          struct assay__sentences *said, int64_t *more)
{
    const struct assay__summary *summary = &outcome->summary;
    const char *are = summary->samples == 1 ? " is" : "s are";
    int64_t missing = assay__goal_missing(summary, precision);
    if (missing == 0 && summary->samples >= JUDGED_LEAST) return 0;
    if (missing < 0) {
        assay__sentences_add(said, "%s%zu sample%s too few for a 95 %% interval of the median", who,
                             summary->samples, are);
        *more = -1;
    } else if (missing == 0) {
        missing = (int64_t)(JUDGED_LEAST - summary->samples);
        assay__sentences_add(
            said, "%s%zu sample%s too few to judge drift and modes: %lld more would be enough", who,
            summary->samples, are, (long long)missing);
    } else if ((double)missing * summary->mean / fmax(outcome->stream_count, 1) > LONGEST_NS) {
        assay__sentences_add(said,
                             "%stoo noisy: the median is known to ±%.2g %%, and measuring for "
                             "another minute would not make that ±%.2g %%",
                             who, summary->half_width * 100, precision * 100);
        *more = -1;
        return 0;
    } else {
        assay__sentences_add(
            said,
            "%sthe median is known to ±%.2g %%, not ±%.2g %%: %lld more iterations would be enough",
            who, summary->half_width * 100, precision * 100, (long long)missing);
    }
    if (*more >= 0 && missing > *more) *more = missing;
    return 1;
}

static void judge_launches(const struct assay__outcome *const *used, size_t count,
                           struct assay__sentences *said)
{
    double low = INFINITY, high = 0, middle = assay__trial_p50(used, count);
    double half_width = assay__trial_half_width(used, count);
    if (half_width > ASSAY__LAUNCHES_HALF_WIDTH)
        assay__sentences_add(said,
                             "%zu launches differ: the interval of their median is ±%.1f %% (more "
                             "than ±%g %%)",
                             count, half_width * 100, ASSAY__LAUNCHES_HALF_WIDTH * 100);
    if (count < 2 || count >= LAUNCHES_JUDGED) return;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, used[i]->summary.p50);
        high = fmax(high, used[i]->summary.p50);
    }
    if ((high - low) / middle > LAUNCH_SPREAD)
        assay__sentences_add(said, "launch medians differ by %.1f %% (max - min over their median)",
                             (high - low) / middle * 100);
}

static void judge_layers(const struct assay__trial *trial, double p50_ns,
                         struct assay__sentences *said)
{
    double share = trial->layers.unattributed_ns / p50_ns;
    bool markers = strcmp(trial->layers.method, "markers") == 0; /* other methods never add up */
    if (markers && fabs(share) > UNATTRIBUTED)
        assay__sentences_add(said,
                             "the layers' times and the latency differ by more than %g %%: they "
                             "were not measured under the same conditions",
                             100 * UNATTRIBUTED);
}

int assay__trial_stability(const struct assay__trial_input *input)
{
    struct assay__stability *out = &input->trial->stability;
    const struct assay__outcome **used = calloc(input->outcome_count + 1, sizeof *used);
    if (!used) return ASSAY_ENOMEM;
    size_t count = assay__trial_used(input, used), few = 0;
    bool judged = count >= LAUNCHES_JUDGED;
    struct assay__sentences said = {.arena = input->profile->arena};
    int64_t more = count ? 0 : -1;
    if (count == 0) {
        assay__sentences_add(&said, "no sample was taken");
        few = 1;
    }
    if (judged) judge_layers(input->trial, assay__trial_p50(used, count), &said);
    judge_launches(used, count, &said);
    for (size_t i = 0; i < count && (!judged || said.count); i++) {
        char who[32] = "";
        if (count > 1)
            snprintf(who, sizeof who, "launch %zu: ", (size_t)(used[i] - input->outcomes) + 1);
        judge_shape(&used[i]->summary, who, &said);
        judge_windows(used[i], who, &said);
        if (!judged) few += judge_count(used[i], input->precision, who, &said, &more);
    }
    out->verdict = said.count > few ? "unstable" : few ? "too-few" : "stable";
    out->reasons = said.items;
    out->reason_count = said.count;
    out->more_iterations = more;
    free(used);
    return said.failed ? ASSAY_ENOMEM : 0;
}
