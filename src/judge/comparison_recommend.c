/* comparison_recommend.c - what to choose, for latency, for throughput and for energy: one sentence
 * each.
 *
 * Candidates ran, are neither controls nor software devices, did not hand the whole model to the
 * CPU, and compute what the reference computes (no NaN or infinity of their own, outputs within
 * ASSAY__DRIFT_LIMIT); the sentence names those that fail the last and whether they would have been
 * better. The best one by its number is named when it beats the next best by the rank test on the
 * launches: of their medians for latency, of their rates for throughput, of their energies for
 * energy. Otherwise no difference was shown, and nothing is recommended. What speaks against the
 * one that is named (outputs that differ, nodes elsewhere) stands in the same sentence. */
#include "judge/comparison.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define L2_TOLD 0.001 /* a relative difference of the outputs that must be said */

struct goal {
    const char *name, *metric, *unit;
    const char *better; /* "1.3 × …" */
    const char *lost;   /* of one that is not advised: "would have been …" */
};

static const struct goal goals[ASSAY__FOR_COUNT] = {
    {"latency", "latency.p50", "s", "as fast as", "faster"},
    {"throughput", "throughput.inferences", "1/s", "the throughput of", "better"},
    {"energy", "energy.inference.gross", "J", "of the energy of", "better"},
};

const char *assay__goal_name(enum assay__goal_kind goal)
{
    return goals[goal].name;
}

/* More is better in all three. */
static double merit(const struct assay__comparison_row *row, enum assay__goal_kind goal)
{
    switch (goal) {
    case ASSAY__FOR_LATENCY: return 1 / row->judged.latency.value;
    case ASSAY__FOR_THROUGHPUT: return row->judged.throughput.value;
    case ASSAY__FOR_ENERGY: return 1 / row->judged.energy.value;
    case ASSAY__FOR_COUNT: break;
    }
    return NAN;
}

/* But for its outputs. */
static bool could_be(const struct assay__comparison_row *row, enum assay__goal_kind goal)
{
    return row->judged.usable && isfinite(merit(row, goal)) &&
           row->judged.role != ASSAY__ROLE_CONTROL && row->judged.role != ASSAY__ROLE_SOFTWARE &&
           !assay__placement_is_elsewhere(&row->placement);
}

static bool is_candidate(const struct assay__comparison_row *row, enum assay__goal_kind goal)
{
    return could_be(row, goal) && !*row->unadvised;
}

static bool is_refused(const struct assay__comparison_row *row, enum assay__goal_kind goal)
{
    return could_be(row, goal) && *row->unadvised;
}

/* But `other` (SIZE_MAX: none is left out). */
static size_t best_of(const struct assay__comparison *all, enum assay__goal_kind goal, size_t other)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < all->count; i++) {
        if (i == other || !is_candidate(&all->rows[i], goal)) continue;
        if (best == SIZE_MAX || merit(&all->rows[i], goal) > merit(&all->rows[best], goal))
            best = i;
    }
    return best;
}

/* What speaks against it. */
static void put_warnings(const struct assay__comparison_row *row, struct assay__buf *out)
{
    if (row->judged.drift.value > L2_TOLD)
        assay__buf_printf(out, "; but its outputs differ (relative L2 %.2g)",
                          row->judged.drift.value);
    if (row->placement.elsewhere > 0)
        assay__buf_printf(out, "; %.0f of its %.0f nodes ran elsewhere", row->placement.elsewhere,
                          row->placement.elsewhere + row->placement.nodes);
}

static void put_value(const struct assay__comparison_row *row, enum assay__goal_kind goal,
                      char *text, size_t size)
{
    double value = goal == ASSAY__FOR_THROUGHPUT ? merit(row, goal) : 1 / merit(row, goal);
    assay__text_scaled(text, size, value, goals[goal].unit);
}

/* One candidate, or none: why there is no choice. */
static void choose_few(const struct assay_profile *profile, const struct assay__comparison *all,
                       enum assay__goal_kind goal, size_t best, struct assay__recommendation *out,
                       struct assay__buf *text)
{
    if (best != SIZE_MAX) {
        const char *label = all->rows[best].judged.label;
        if (goal == ASSAY__FOR_ENERGY) {
            assay__buf_printf(text, "energy is known of %s only, of what can be chosen", label);
            return;
        }
        out->row = best;
        assay__buf_printf(text, "%s: nothing else that ran can be chosen", label);
        put_warnings(&all->rows[best], text);
        return;
    }
    const char *why = "";
    bool refused = false;
    for (size_t i = 0; i < all->count; i++)
        refused |= is_refused(&all->rows[i], goal);
    for (size_t i = 0; i < all->count && !*why; i++) {
        const struct assay__trial *trial = &profile->trials[all->rows[i].judged.trial];
        const struct assay_metric *m = trial->metrics
                                           ? assay_metrics_get(trial->metrics, goals[goal].metric)
                                           : NULL;
        if (all->rows[i].judged.usable && m && m->state == ASSAY_UNAVAILABLE) why = m->note;
    }
    if (goal == ASSAY__FOR_ENERGY && !refused)
        assay__buf_printf(text, "energy is not known of any candidate%s%s", *why ? ": " : "", why);
    else
        assay__buf_puts(text, "nothing that ran can be recommended");
}

static bool is_single(const struct assay__trial *trial)
{
    return trial->launch_count && trial->launches[0].streams == 1;
}

/* With one request at a time the rate is the latency over again: a second test of the same launches
 * would claim a difference that is not there more often than one test may. So what the medians do
 * not show is not claimed of the rates: the interval holds both. */
static int join_latency(const struct assay__trial *a, const struct assay__trial *b,
                        struct assay__ratio *ratio)
{
    struct assay__ratio speed = ASSAY__RATIO_UNKNOWN;
    const char *none = "";
    int code = assay__comparison_speed(b, a, &speed, &none);
    if (code || !isfinite(speed.ratio) || !isfinite(ratio->ratio)) return code;
    ratio->ci.low = fmin(ratio->ci.low, speed.ci.low);
    ratio->ci.high = fmax(ratio->ci.high, speed.ci.high);
    ratio->smallest = fmax(ratio->smallest, speed.smallest);
    ratio->p_value = fmax(ratio->p_value, speed.p_value);
    if (speed.by == ASSAY__BY_NEITHER) {
        ratio->smallest = NAN;
        ratio->by = speed.by;
    }
    return 0;
}

/* Inferences per second, times samples in one where the two take different batches. */
static int judge_rate(const struct assay__trial *a, const struct assay__trial *b,
                      struct assay__ratio *ratio, const char **reason)
{
    const char *none = "";
    int code = assay__comparison_launches(b, a, "throughput.inferences", ratio, &none);
    if (!code && !isfinite(ratio->ratio)) code = assay__comparison_speed(b, a, ratio, reason);
    if (!code && is_single(a) && is_single(b)) code = join_latency(a, b, ratio);
    if (a->batch > 0 && b->batch > 0 && a->batch != b->batch) {
        double samples = (double)a->batch / (double)b->batch;
        ratio->ratio *= samples;
        ratio->ci.low *= samples;
        ratio->ci.high *= samples;
    }
    return code;
}

/* Above 1: the first is better; for energy the first's share of the second's. */
static int compare_rows(const struct assay_profile *profile,
                        const struct assay__comparison_row *first,
                        const struct assay__comparison_row *second, enum assay__goal_kind goal,
                        struct assay__ratio *ratio, const char **reason)
{
    const struct assay__trial *a = &profile->trials[first->judged.trial],
                              *b = &profile->trials[second->judged.trial];
    if (goal == ASSAY__FOR_LATENCY) return assay__comparison_speed(b, a, ratio, reason);
    if (goal == ASSAY__FOR_THROUGHPUT) return judge_rate(a, b, ratio, reason);
    return assay__comparison_launches(b, a, goals[goal].metric, ratio, reason);
}

static void put_ratio(struct assay__buf *out, const char *first, const char *second,
                      enum assay__goal_kind goal, const struct assay__ratio *ratio)
{
    assay__buf_printf(out, "%s: %s × %s %s, the next best%s (95 %%: %s)", first,
                      assay__digits(ratio->ratio, 3).text, goals[goal].better, second,
                      assay__ratio_by_words(ratio->by),
                      assay__digits_range(ratio->ci.low, ratio->ci.high).text);
}

static bool is_better(const struct assay__ratio *ratio, enum assay__goal_kind goal)
{
    if (!isfinite(ratio->ratio)) return false;
    return goal == ASSAY__FOR_ENERGY ? ratio->ci.high < 1 : ratio->ci.low > 1;
}

/* Those whose outputs forbid it: what they would have been, and why they are not advised. */
static int put_refused(const struct assay_profile *profile, const struct assay__comparison *all,
                       enum assay__goal_kind goal, size_t best, struct assay__buf *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
        const char *none = "";
        char value[64];
        if (!is_refused(row, goal)) continue;
        int code = best == SIZE_MAX
                       ? 0
                       : compare_rows(profile, row, &all->rows[best], goal, &ratio, &none);
        if (code) return code;
        put_value(row, goal, value, sizeof value);
        if (is_better(&ratio, goal))
            assay__buf_printf(out, "; %s (%s) would have been %s and is not advised: %s",
                              row->judged.label, value, goals[goal].lost, row->unadvised);
        else
            assay__buf_printf(out, "; %s (%s) is not advised: %s", row->judged.label, value,
                              row->unadvised);
    }
    return 0;
}

/* The order of the medians is a first guess: on a busy machine another one may be shown to be
 * better by its fast end. */
static int find_best(const struct assay_profile *profile, const struct assay__comparison *all,
                     enum assay__goal_kind goal, size_t *best)
{
    *best = best_of(all, goal, SIZE_MAX);
    for (size_t i = 0; i < all->count; i++) {
        struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
        const char *none = "";
        if (i == *best || !is_candidate(&all->rows[i], goal)) continue;
        int code = compare_rows(profile, &all->rows[i], &all->rows[*best], goal, &ratio, &none);
        if (code) return code;
        if (is_better(&ratio, goal)) *best = i;
    }
    return 0;
}

static int recommend(const struct assay_profile *profile, const struct assay__comparison *all,
                     enum assay__goal_kind goal, struct assay__recommendation *out,
                     struct assay__buf *text)
{
    size_t best;
    int code = find_best(profile, all, goal, &best);
    if (code) return code;
    size_t next = best_of(all, goal, best);
    *out = (struct assay__recommendation){SIZE_MAX, ""};
    if (best == SIZE_MAX || next == SIZE_MAX) {
        choose_few(profile, all, goal, best, out, text);
        return put_refused(profile, all, goal, best, text);
    }
    const struct assay__comparison_row *first = &all->rows[best], *second = &all->rows[next];
    struct assay__ratio ratio;
    const char *reason = "";
    char mine[64], other[64];
    put_value(first, goal, mine, sizeof mine);
    put_value(second, goal, other, sizeof other);
    code = compare_rows(profile, first, second, goal, &ratio, &reason);
    if (code) return code;
    if (!isfinite(ratio.ratio)) {
        assay__buf_printf(text, "%s %s, %s %s; no interval, so nothing is claimed: %s",
                          first->judged.label, mine, second->judged.label, other, reason);
    } else if (is_better(&ratio, goal)) {
        out->row = best;
        put_ratio(text, first->judged.label, second->judged.label, goal, &ratio);
        if (goal != ASSAY__FOR_THROUGHPUT && first->batch > 0 && second->batch > 0 &&
            first->batch != second->batch)
            assay__buf_printf(text,
                              "; but that is an inference of %lld against one of %lld samples",
                              (long long)first->batch, (long long)second->batch);
        put_warnings(first, text);
    } else {
        double percent = ratio.smallest * 100;
        assay__buf_printf(text, "no difference shown between %s (%s) and %s (%s)",
                          first->judged.label, mine, second->judged.label, other);
        assay__buf_puts(text, ratio.by == ASSAY__BY_NEITHER ? assay__ratio_by_words(ratio.by) : "");
        if (isfinite(percent))
            assay__buf_printf(text, "; one above %.*f %% would have been shown",
                              percent < 10 ? 1 : 0, percent);
        const struct assay__comparison_row *both[] = {first, second};
        for (size_t i = 0; i < 2; i++)
            if (both[i]->judged.drift.value > L2_TOLD)
                assay__buf_printf(text, "; the outputs of %s differ (relative L2 %.2g)",
                                  both[i]->judged.label, both[i]->judged.drift.value);
    }
    return put_refused(profile, all, goal, best, text);
}

int assay__comparison_recommend(const struct assay_profile *profile, struct assay__arena *arena,
                                struct assay__comparison *all)
{
    int code = 0;
    for (int goal = 0; goal < ASSAY__FOR_COUNT && code == 0; goal++) {
        struct assay__buf text = {0};
        struct assay__recommendation *out = &all->recommendations[goal];
        code = recommend(profile, all, (enum assay__goal_kind)goal, out, &text);
        if (!code) out->why = assay__arena_strdup(arena, assay__buf_text(&text));
        if (!code && (text.failed || !out->why)) code = ASSAY_ENOMEM;
        assay__buf_free(&text);
    }
    return code;
}
