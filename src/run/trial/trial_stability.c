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
#include "run/trial/tail.h"
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

/* --- what may be wrong within a launch -------------------------------------------------------- */

enum oddity {
    DRIFTED,
    TWO_MODES,
    OUTLIERS,
    CORRELATED,
    WINDOWS,
    TOO_NOISY,
    NO_INTERVAL, /* from here on it only says "too few" */
    NO_SHAPE,
    IMPRECISE,
    ODDITIES
};

/* perf_analyzer: the last three windows agree within 1.10 in throughput and in latency. By how much
 * they differ; NaN: they agree. */
static double unequal_windows(const struct assay__outcome *outcome)
{
    double low = INFINITY, high = 0, slow = 0, fast = INFINITY;
    if (outcome->window_count < WINDOWS_LAST) return NAN;
    for (size_t i = outcome->window_count - WINDOWS_LAST; i < outcome->window_count; i++) {
        const struct assay__sample_window *window = &outcome->windows[i];
        double rate = window->wall_ns > 0 ? (double)window->completions / window->wall_ns : NAN;
        double median = window_median(outcome, window);
        if (!isfinite(rate) || !(median > 0)) return NAN;
        low = fmin(low, rate);
        high = fmax(high, rate);
        fast = fmin(fast, median);
        slow = fmax(slow, median);
    }
    double ratio = fmax(slow / fast, high / low);
    return ratio > WINDOW_RATIO ? ratio : NAN;
}

/* The size of each; NaN: it is not there. */
static void find_oddities(const struct assay__outcome *outcome, double sizes[ODDITIES])
{
    const struct assay__summary *s = &outcome->summary;
    bool drifted = isfinite(s->drift) && fabs(s->drift) > DRIFT && s->drift_p < DRIFT_P;
    bool correlated = s->tau > 10 && (double)s->samples / s->tau < EFFECTIVE_LEAST;
    for (size_t i = 0; i < ODDITIES; i++)
        sizes[i] = NAN;
    if (drifted) sizes[DRIFTED] = s->drift;
    if (s->bimodal) sizes[TWO_MODES] = s->high_mode / s->low_mode - 1;
    if (s->outlier_share > OUTLIER_SHARE) sizes[OUTLIERS] = s->outlier_share;
    if (correlated) sizes[CORRELATED] = s->tau;
    sizes[WINDOWS] = unequal_windows(outcome);
}

/* Whether there are enough samples, as one more size; returns how many more would be enough: -1
 * unknown, 0 none. */
static int64_t find_missing(const struct assay__outcome *outcome, double precision,
                            double sizes[ODDITIES])
{
    const struct assay__summary *s = &outcome->summary;
    int64_t missing = assay__goal_missing(s, precision);
    if (missing < 0) {
        sizes[NO_INTERVAL] = (double)s->samples;
    } else if (missing == 0 && s->samples < JUDGED_LEAST) {
        sizes[NO_SHAPE] = (double)s->samples;
        missing = (int64_t)(JUDGED_LEAST - s->samples);
    } else if ((double)missing * s->mean / fmax(outcome->stream_count, 1) > LONGEST_NS) {
        sizes[TOO_NOISY] = s->half_width;
        missing = -1;
    } else if (missing > 0) {
        sizes[IMPRECISE] = s->half_width;
    }
    return missing;
}

/* Of the only launch. */
static void say_shape(const struct assay__outcome *outcome, enum oddity oddity,
                      struct assay__sentences *said)
{
    const struct assay__summary *s = &outcome->summary;
    switch (oddity) {
    case DRIFTED:
        assay__sentences_add(said, "the latency drifted by %+.1f %% over the launch (p = %.2g)",
                             s->drift * 100, s->drift_p);
        break;
    case TWO_MODES:
        assay__sentences_add(said, "two modes: %s and %s (%.0f %% of the samples)",
                             assay__scaled(s->low_mode / 1e9, "s").text,
                             assay__scaled(s->high_mode / 1e9, "s").text, s->high_share * 100);
        break;
    case OUTLIERS:
        assay__sentences_add(
            said, "%.1f %% of the samples are outliers (more than 14.826 MAD from the median)",
            s->outlier_share * 100);
        break;
    case CORRELATED:
        assay__sentences_add(
            said, "samples are autocorrelated: %zu are worth %.0f independent ones (tau = %.0f)",
            s->samples, (double)s->samples / s->tau, s->tau);
        break;
    case WINDOWS:
        assay__sentences_add(said, "the last 3 windows differ by a factor of %.2f (more than 1.10)",
                             unequal_windows(outcome));
        break;
    default: break;
    }
}

static void say_count(const struct assay__summary *s, enum oddity oddity, double precision,
                      int64_t missing, struct assay__sentences *said)
{
    const char *are = s->samples == 1 ? " is" : "s are";
    switch (oddity) {
    case TOO_NOISY:
        assay__sentences_add(said,
                             "too noisy: the median is known to ±%.2g %%, and measuring for "
                             "another minute would not make that ±%.2g %%",
                             s->half_width * 100, precision * 100);
        break;
    case NO_INTERVAL:
        assay__sentences_add(said, "%zu sample%s too few for a 95 %% interval of the median",
                             s->samples, are);
        break;
    case NO_SHAPE:
        assay__sentences_add(
            said, "%zu sample%s too few to judge drift and modes: %lld more would be enough",
            s->samples, are, (long long)missing);
        break;
    case IMPRECISE:
        assay__sentences_add(
            said,
            "the median is known to ±%.2g %%, not ±%.2g %%: %lld more iterations would be enough",
            s->half_width * 100, precision * 100, (long long)missing);
        break;
    default: break;
    }
}

/* One oddity over several launches: in how many, and the one in which it is largest. */
struct tally {
    size_t launches, where;
    double most;
};

/* "in 8 of 9 launches the last 3 windows differ by more than 1.10×, at most 2.35× (launch 7)" */
static void say_tally(enum oddity oddity, const struct tally *tally, size_t count,
                      struct assay__sentences *said)
{
    static const struct {
        const char *what, *sign;
        double scale;
        const char *unit;
    } words[ODDITIES] = {
        [DRIFTED] = {"the latency drifted by more than 2 %", "", 100, " %"},
        [TWO_MODES] = {"the samples have two modes", "", 100, " % apart"},
        [OUTLIERS] = {"more than 5 % of the samples are outliers", "", 100, " %"},
        [CORRELATED] = {"the samples are autocorrelated", "tau = ", 1, ""},
        [WINDOWS] = {"the last 3 windows differ by more than 1.10×", "", 1, "×"},
        [TOO_NOISY] = {"the median is too uncertain for another minute to help", "±", 100, " %"},
        [NO_INTERVAL] = {"there are too few samples for an interval of the median", "", 1, ""},
        [NO_SHAPE] = {"there are too few samples to judge drift and modes", "", 1, ""},
        [IMPRECISE] = {"the median is less certain than requested", "±", 100, " %"},
    };
    assay__sentences_add(said, "in %zu of %zu launches %s, at most %s%s%s (launch %zu)",
                         tally->launches, count, words[oddity].what, words[oddity].sign,
                         assay__digits(tally->most * words[oddity].scale, 3).text,
                         words[oddity].unit, tally->where);
}

/* Says what is odd within the launches: of one in detail, of several in one sentence per oddity.
 * Returns how many sentences only say "too few". */
static size_t judge_within(const struct assay__trial_input *input,
                           const struct assay__outcome *const *used, size_t count, bool judged,
                           struct assay__sentences *said, int64_t *more)
{
    struct tally tallies[ODDITIES] = {{0}};
    int64_t missing = 0;
    size_t few = 0;
    for (size_t i = 0; i < count; i++) {
        double sizes[ODDITIES];
        find_oddities(used[i], sizes);
        if (!judged) missing = find_missing(used[i], input->precision, sizes);
        *more = *more < 0 || missing < 0 ? -1 : missing > *more ? missing : *more;
        for (size_t k = 0; k < ODDITIES; k++) {
            struct tally *t = &tallies[k];
            if (isnan(sizes[k])) continue;
            if (!t->launches++ || fabs(sizes[k]) > fabs(t->most)) {
                t->most = sizes[k];
                t->where = (size_t)(used[i] - input->outcomes) + 1;
            }
        }
    }
    for (size_t k = 0; k < ODDITIES; k++) {
        if (!tallies[k].launches) continue;
        few += k >= NO_INTERVAL;
        if (count > 1)
            say_tally((enum oddity)k, &tallies[k], count, said);
        else if (k < TOO_NOISY)
            say_shape(used[0], (enum oddity)k, said);
        else
            say_count(&used[0]->summary, (enum oddity)k, input->precision, missing, said);
    }
    return few;
}

/* --- between launches, and together ----------------------------------------------------------- */

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

/* Does not affect the verdict: the median is as certain as before. */
static void say_tail(const struct assay__trial *trial, struct assay__sentences *said)
{
    struct assay__tail tail = assay__trial_tail(trial);
    if (isfinite(tail.factor))
        assay__sentences_add(
            said, "1 in %d inferences takes at least %s× the median, the mean is %s× it",
            tail.one_in, assay__digits(tail.factor, 2).text, assay__digits(tail.mean, 2).text);
    else if (isfinite(tail.mean))
        assay__sentences_add(said, "the mean is %s× the median: few inferences take very long",
                             assay__digits(tail.mean, 2).text);
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
    if (!judged || said.count) few += judge_within(input, used, count, judged, &said, &more);
    out->verdict = said.count > few ? "unstable" : few ? "too-few" : "stable";
    say_tail(input->trial, &said);
    out->reasons = said.items;
    out->reason_count = said.count;
    out->more_iterations = more;
    free(used);
    return said.failed ? ASSAY_ENOMEM : 0;
}
