/* comparison.c - compares the trials of one profile and recommends one for latency, throughput and
 * energy.
 *
 * Speed is judged by launch medians and launch 5th percentiles (assay__stats_compare_launches in
 * base/stats.h), energy by the energy of each launch (run/watch/sensors_launches.c) and the rank
 * test alone. If the energy of a launch is unknown (no sensor, or one that updates too rarely),
 * there is a ratio without an interval, and the reason.
 *
 * Candidates for a recommendation ran, are neither controls nor software devices, did not leave the
 * whole model to the CPU, and compute what the reference computes (no NaN or infinity, outputs
 * within ASSAY__DRIFT_LIMIT); the sentence names those that fail only the last condition and
 * whether they would have been better. The best candidate is recommended when the rank test on the
 * launches shows that it beats the next best. */
#include "judge/comparison.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define L2_TOLD 0.001      /* a relative difference between outputs that is worth a warning */
#define COSINE_RELATED 0.5 /* below it, the outputs of two models belong to different tasks */

static const char energy_metric[] = "energy.inference.gross";

const char *assay__ratio_by_name(enum assay__ratio_by by)
{
    static const char *const names[] = {"latency.p50", "latency.p5",
                                        "latency.p50 and latency.p5, which contradict each other"};
    return names[by];
}

const char *assay__ratio_by_words(enum assay__ratio_by by)
{
    static const char *const words[] = {
        "", " when undisturbed",
        ": one has the lower median, the other is faster when undisturbed"};
    return words[by];
}

const char *assay__verdict_name(enum assay__verdict verdict)
{
    static const char *const names[] = {"", "no difference shown", "faster", "slower"};
    return names[verdict];
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct assay__comparison_row read_row(const struct assay_profile *profile, size_t index,
                                             struct assay__arena *arena)
{
    static const struct assay__ratio unknown = ASSAY__RATIO_UNKNOWN;
    const struct assay__trial *trial = &profile->trials[index];
    struct assay__comparison_row row = {.judged = assay__judged_read(profile, index, arena),
                                        .batch = trial->batch,
                                        .speed = unknown,
                                        .energy = unknown,
                                        .energy_reason = "",
                                        .energy_ratio = NAN,
                                        .unadvised = "",
                                        .placement = assay__placement_summarise(trial, arena)};
    struct assay__judged *judged = &row.judged;
    if (!*judged->label) judged->label = trial->target.device;
    /* the arms alternate, so the launches of an interrupted trial count like any others */
    bool ran = trial->state == ASSAY__TRIAL_OK || trial->state == ASSAY__TRIAL_INTERRUPTED ||
               (trial->state == ASSAY__TRIAL_FAILED &&
                assay__trial_went_on(trial, ASSAY__COMPARISON_LAUNCHES));
    judged->usable = ran && isfinite(judged->latency.value);
    if (!judged->usable && !*judged->reason) judged->reason = "it has no latency";
    /* What is shown and what is judged is the same statistic: the median over launches, if enough
     * of them have an energy. The same holds for OPS/W. */
    struct assay__launch_values energies = assay__launch_values(trial, energy_metric, arena);
    row.energy_by_launch = isfinite(judged->energy.value) &&
                           energies.count >= ASSAY__COMPARISON_LAUNCHES;
    if (row.energy_by_launch) {
        assay__stats_sort(energies.items, energies.count);
        double median = assay__stats_median(energies.items, energies.count);
        judged->tops_per_watt.value *= judged->energy.value / median;
        judged->energy.value = median;
    }
    return row;
}

/* --- comparing launches ----------------------------------------------------------------------- */

/* How many times as fast b is. */
static struct assay__ratio speed_ratio(const struct assay__trial *a, const struct assay__trial *b,
                                       struct assay__arena *arena, const char **reason)
{
    const struct assay__trial *const sides[] = {b, a};
    struct assay__launch_times times[2];
    struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
    for (size_t i = 0; i < 2; i++) {
        struct assay__launch_values typical = assay__launch_values(sides[i], "latency.p50", arena),
                                    fast = assay__launch_values(sides[i], "latency.p5", arena);
        times[i] = (struct assay__launch_times){
            typical.items, fast.count == typical.count ? fast.items : NULL, typical.count};
    }
    if (times[0].count < ASSAY__COMPARISON_LAUNCHES || times[1].count < ASSAY__COMPARISON_LAUNCHES)
        *reason = "no verdict: each side needs at least 5 launches that succeeded";
    else if (assay__stats_compare_launches(&times[0], &times[1], &ratio))
        assay__arena_fail(arena);
    return ratio;
}

struct assay__ratio assay__comparison_launches(const struct assay__trial *a,
                                               const struct assay__trial *b, const char *metric,
                                               struct assay__arena *arena, const char **reason)
{
    struct assay__launch_values x = assay__launch_values(a, metric, arena),
                                y = assay__launch_values(b, metric, arena);
    if (x.count < ASSAY__COMPARISON_LAUNCHES || y.count < ASSAY__COMPARISON_LAUNCHES) {
        const char *why = assay__trial_values_reason(a, metric);
        if (!*why) why = assay__trial_values_reason(b, metric);
        *reason = *why ? why : "a side has fewer than 5 launches with a known value";
    }
    return assay__launch_ratio(&x, &y, arena);
}

/* above: a ratio above 1 is better. */
static enum assay__verdict verdict_of(const struct assay__ratio *ratio, bool above)
{
    if (!isfinite(ratio->ratio)) return ASSAY__VERDICT_NONE;
    if (ratio->ci.low > 1) return above ? ASSAY__VERDICT_FASTER : ASSAY__VERDICT_SLOWER;
    if (ratio->ci.high < 1) return above ? ASSAY__VERDICT_SLOWER : ASSAY__VERDICT_FASTER;
    return ASSAY__VERDICT_SAME;
}

/* Two models that compute different things on purpose: it means nothing that their outputs
 * differ. */
static bool is_unrelated(const struct assay_profile *profile,
                         const struct assay__comparison_row *base,
                         const struct assay__comparison_row *row)
{
    const struct assay__trial *a = &profile->trials[base->judged.trial],
                              *b = &profile->trials[row->judged.trial];
    return a->model != b->model && assay__trial_value(b, "drift.cosine") < COSINE_RELATED;
}

/* Whether its outputs rule it out. The CPU's outputs count as the model's own; with another
 * reference every NaN counts against the device that has it. Rows of one device are several models,
 * which may differ on purpose. */
static void judge_outputs(const struct assay_profile *profile, const struct assay__comparison *all,
                          struct assay__comparison_row *row, struct assay__arena *arena)
{
    const struct assay__comparison_row *base = &all->rows[all->reference];
    const struct assay__target *reference = &profile->trials[base->judged.trial].target,
                               *target = &profile->trials[row->judged.trial].target;
    row->unrelated = is_unrelated(profile, base, row);
    bool trusted = assay__target_is_fallback(reference);
    double own = row->judged.own_nonfinite.value, unlike = row->judged.nonfinite.value,
           drift = row->judged.drift.value, broken = trusted || isnan(own) ? unlike : own;
    if (trusted && row == base) broken = 0;
    if (broken > 0 && own == 0)
        row->unadvised = assay__arena_text(arena,
                                           "%.0f values are NaN or infinite on %s and not on it",
                                           broken, base->judged.label);
    else if (broken > 0)
        row->unadvised = assay__arena_text(arena, "%.0f of its values are NaN or infinite", broken);
    else if (drift > ASSAY__DRIFT_LIMIT && strcmp(reference->device, target->device) != 0 &&
             !row->unrelated)
        row->unadvised = assay__arena_text(
            arena, "its outputs differ from those of %s (relative L2 %.2g, the limit is %.2g)",
            base->judged.label, drift, ASSAY__DRIFT_LIMIT);
}

/* "batch sizes differ: 1 (a.onnx), 1024 (b.onnx)"; "" if they do not. */
static const char *list_batches(const struct assay__comparison *all, struct assay__arena *arena)
{
    const char *list = "";
    int64_t first = 0;
    bool differ = false;
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        if (!row->judged.usable || row->batch < 1) continue;
        if (!first) first = row->batch;
        differ |= row->batch != first;
        list = assay__arena_text(arena, "%s%s%lld (%s)", list, *list ? ", " : "",
                                 (long long)row->batch, row->judged.label);
    }
    if (!differ) return "";
    return assay__arena_text(arena,
                             "batch sizes differ: %s; latency, speed and energy are per inference, "
                             "throughput is in samples per second",
                             list);
}

/* --- what to choose --------------------------------------------------------------------------- */

static const struct {
    const char *name, *metric, *unit;
    const char *better; /* "1.3 × …" */
    const char *lost;   /* for one that is ruled out by its outputs: "would have been …" */
} goals[ASSAY__FOR_COUNT] = {
    {"latency", "latency.p50", "s", "as fast as", "faster"},
    {"throughput", "throughput.inferences", "1/s", "the throughput of", "better"},
    {"energy", energy_metric, "J", "of the energy of", "better"},
};

const char *assay__goal_name(enum assay__goal_kind goal)
{
    return goals[goal].name;
}

struct choice {
    const struct assay_profile *profile;
    const struct assay__comparison *all;
    struct assay__arena *arena;
    enum assay__goal_kind goal;
};

/* In the goal's unit; NaN unknown. */
static double value_of(const struct choice *c, const struct assay__comparison_row *row)
{
    const double values[] = {row->judged.latency.value, row->judged.throughput.value,
                             row->judged.energy.value};
    return values[c->goal];
}

/* Whatever its outputs are. */
static bool could_win(const struct choice *c, const struct assay__comparison_row *row)
{
    return row->judged.usable && value_of(c, row) > 0 && row->judged.role != ASSAY__ROLE_CONTROL &&
           row->judged.role != ASSAY__ROLE_SOFTWARE &&
           !assay__placement_is_elsewhere(&row->placement);
}

/* By the numbers alone; `but` is excluded (SIZE_MAX: none is). */
static size_t top_candidate(const struct choice *c, size_t but)
{
    const struct assay__comparison_row *rows = c->all->rows;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < c->all->count; i++) {
        if (i == but || !could_win(c, &rows[i]) || *rows[i].unadvised) continue;
        double own = value_of(c, &rows[i]), top = best == SIZE_MAX ? NAN : value_of(c, &rows[best]);
        if (best == SIZE_MAX || (c->goal == ASSAY__FOR_THROUGHPUT ? own > top : own < top))
            best = i;
    }
    return best;
}

/* Above 1: the first is better; for energy the first divided by the second. A rate is inferences
 * per second, times the batch if the two have different batches.
 *
 * With one request at a time the rate follows from the latency: a second test of the same launches
 * would find differences that do not exist more often than a single test may. So a difference that
 * the medians do not show is not claimed for the rates: the interval covers both. */
static struct assay__ratio ratio_of(const struct choice *c,
                                    const struct assay__comparison_row *first,
                                    const struct assay__comparison_row *second, const char **reason)
{
    const struct assay__trial *a = &c->profile->trials[first->judged.trial],
                              *b = &c->profile->trials[second->judged.trial];
    if (c->goal == ASSAY__FOR_LATENCY) return speed_ratio(b, a, c->arena, reason);
    if (c->goal == ASSAY__FOR_ENERGY)
        return assay__comparison_launches(b, a, energy_metric, c->arena, reason);
    const char *none = "";
    struct assay__ratio ratio = assay__comparison_launches(b, a, goals[c->goal].metric, c->arena,
                                                           &none);
    bool known = isfinite(ratio.ratio);
    struct assay__ratio speed = speed_ratio(b, a, c->arena, known ? &none : reason);
    if (!known) ratio = speed;
    bool single = a->launch_count && a->launches[0].streams == 1 && b->launch_count &&
                  b->launches[0].streams == 1;
    if (single && isfinite(speed.ratio)) {
        ratio.ci.low = fmin(ratio.ci.low, speed.ci.low);
        ratio.ci.high = fmax(ratio.ci.high, speed.ci.high);
        ratio.smallest = speed.by == ASSAY__BY_NEITHER ? (double)NAN
                                                       : fmax(ratio.smallest, speed.smallest);
        ratio.p_value = fmax(ratio.p_value, speed.p_value);
        if (speed.by == ASSAY__BY_NEITHER) ratio.by = speed.by;
    }
    if (a->batch > 0 && b->batch > 0 && a->batch != b->batch) {
        double samples = (double)a->batch / (double)b->batch;
        ratio.ratio *= samples;
        ratio.ci.low *= samples;
        ratio.ci.high *= samples;
    }
    return ratio;
}

static bool is_better(const struct choice *c, const struct assay__ratio *ratio)
{
    if (!isfinite(ratio->ratio)) return false;
    return c->goal == ASSAY__FOR_ENERGY ? ratio->ci.high < 1 : ratio->ci.low > 1;
}

static bool is_shown_better(const struct choice *c, size_t row, size_t than)
{
    const char *none = "";
    struct assay__ratio ratio = ratio_of(c, &c->all->rows[row], &c->all->rows[than], &none);
    return is_better(c, &ratio);
}

/* "cpu (39.1 ms)" */
static const char *name_row(const struct choice *c, const struct assay__comparison_row *row)
{
    return assay__arena_text(c->arena, "%s (%s)", row->judged.label,
                             assay__scaled(value_of(c, row), goals[c->goal].unit).text);
}

/* Its name and `text`, with a warning if its outputs drift or nodes ran elsewhere. */
static const char *put_winner(const struct choice *c, const struct assay__comparison_row *row,
                              const char *text)
{
    const char *outputs = "", *elsewhere = "";
    if (row->judged.drift.value > L2_TOLD && !row->unrelated)
        outputs = assay__arena_text(c->arena, "; but its outputs differ (relative L2 %.2g)",
                                    row->judged.drift.value);
    if (row->placement.elsewhere > 0)
        elsewhere = assay__arena_text(c->arena, "; %.0f of its %.0f nodes ran elsewhere",
                                      row->placement.elsewhere,
                                      row->placement.elsewhere + row->placement.nodes);
    return assay__arena_text(c->arena, "%s: %s%s%s", row->judged.label, text, outputs, elsewhere);
}

/* The sentence if no row is a candidate. */
static const char *why_none(const struct choice *c)
{
    bool refused = false;
    for (size_t i = 0; i < c->all->count; i++)
        refused |= could_win(c, &c->all->rows[i]);
    return c->goal != ASSAY__FOR_ENERGY || refused
               ? "none of the trials that ran can be recommended"
               : "energy is unknown for every candidate (the table says why)";
}

/* Compares the best two in a sentence; *better: the launches show that the first is better. */
static const char *compare_top(const struct choice *c, const struct assay__comparison_row *first,
                               const struct assay__comparison_row *second, bool *better,
                               struct assay__ratio *found)
{
    const char *reason = "", *batches = "", *noise = "", *drift = "";
    struct assay__ratio ratio = ratio_of(c, first, second, &reason);
    *found = ratio;
    *better = is_better(c, &ratio);
    if (!isfinite(ratio.ratio))
        return assay__arena_text(c->arena, "%s, %s; no interval, so nothing is claimed (%s)",
                                 name_row(c, first), name_row(c, second), reason);
    if (*better) {
        if (c->goal != ASSAY__FOR_THROUGHPUT && first->batch > 0 && second->batch > 0 &&
            first->batch != second->batch)
            batches = assay__arena_text(c->arena,
                                        "; but that compares a batch of %lld with one of %lld",
                                        (long long)first->batch, (long long)second->batch);
        return put_winner(
            c, first,
            assay__arena_text(c->arena, "%s × %s %s, the next best%s (95 %% CI %s)%s",
                              assay__digits(ratio.ratio, 3).text, goals[c->goal].better,
                              second->judged.label, assay__ratio_by_words(ratio.by),
                              assay__digits_range(ratio.ci.low, ratio.ci.high).text, batches));
    }
    double percent = ratio.smallest * 100;
    if (percent >= 0.05)
        noise = assay__arena_text(c->arena, "; too noisy to detect one below %.*f %%",
                                  percent < 10 ? 1 : 0, percent);
    for (size_t i = 0; i < 2; i++) {
        const struct assay__comparison_row *row = i ? second : first;
        const struct assay__judged *judged = &row->judged;
        if (judged->drift.value > L2_TOLD && !row->unrelated)
            drift = assay__arena_text(c->arena, "%s; the outputs of %s differ (relative L2 %.2g)",
                                      drift, judged->label, judged->drift.value);
    }
    return assay__arena_text(c->arena, "no difference shown between %s and %s%s%s%s",
                             name_row(c, first), name_row(c, second),
                             ratio.by == ASSAY__BY_NEITHER ? assay__ratio_by_words(ratio.by) : "",
                             noise, drift);
}

/* The best row by the goal, or none, and why; then the rows ruled out only by their outputs, and
 * whether they would have been better. */
static struct assay__recommendation recommend(const struct choice *c)
{
    const struct assay__comparison_row *rows = c->all->rows;
    size_t best = top_candidate(c, SIZE_MAX);
    /* The order of the medians is a first guess: on a busy machine the 5th percentiles may show
     * another to be better. */
    for (size_t i = 0; i < c->all->count; i++)
        if (i != best && could_win(c, &rows[i]) && !*rows[i].unadvised &&
            is_shown_better(c, i, best))
            best = i;
    size_t next = best == SIZE_MAX ? SIZE_MAX : top_candidate(c, best);
    struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
    bool chosen = false;
    const char *why;
    if (best == SIZE_MAX) {
        why = why_none(c);
    } else if (next != SIZE_MAX) {
        why = compare_top(c, &rows[best], &rows[next], &chosen, &ratio);
    } else if (c->goal == ASSAY__FOR_ENERGY) {
        why = assay__arena_text(c->arena, "energy is known only for %s", rows[best].judged.label);
    } else {
        why = put_winner(c, &rows[best], "the only candidate that ran");
        chosen = true;
    }
    for (size_t i = 0; i < c->all->count; i++) {
        if (!could_win(c, &rows[i]) || !*rows[i].unadvised) continue;
        bool lost = best != SIZE_MAX && is_shown_better(c, i, best);
        why = assay__arena_text(c->arena, "%s; %s %s%s%s: %s", why, name_row(c, &rows[i]),
                                lost ? "would have been " : "", lost ? goals[c->goal].lost : "",
                                lost ? " but is not recommended" : "is not recommended",
                                rows[i].unadvised);
    }
    const char *withdrawn = chosen ? assay__load_withdraws(c->profile, c->arena) : "";
    if (*withdrawn) {
        chosen = false;
        why = assay__arena_text(c->arena, "%s; as measured: %s", withdrawn, why);
    } else if (chosen) {
        why = assay__arena_text(c->arena, "%s%s", why, assay__load_caveat(c->profile, c->arena));
    }
    return (struct assay__recommendation){chosen ? best : SIZE_MAX, best, next, ratio, why,
                                          *withdrawn != 0};
}

int assay__comparison(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__comparison *out)
{
    *out = (struct assay__comparison){.reference = SIZE_MAX, .batches = ""};
    out->rows = assay__arena_array(arena, profile->trial_count, sizeof *out->rows);
    if (!out->rows) return ASSAY_ENOMEM;
    for (; out->count < profile->trial_count; out->count++)
        out->rows[out->count] = read_row(profile, out->count, arena);
    out->batches = list_batches(out, arena);
    bool named = false; /* the reference is the intended one */
    for (size_t i = 0; i < out->count && !named; i++) {
        if (!out->rows[i].judged.usable) continue;
        named = out->rows[i].judged.role == ASSAY__ROLE_REFERENCE;
        if (named || out->reference == SIZE_MAX) out->reference = i;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct assay__comparison_row *row = &out->rows[i];
        if (i != out->reference && row->judged.role == ASSAY__ROLE_REFERENCE)
            row->judged.role = ASSAY__ROLE_NONE; /* the intended one did not run */
        if (!row->judged.usable) continue;
        judge_outputs(profile, out, row, arena);
        if (i == out->reference) continue;
        const struct assay__comparison_row *base = &out->rows[out->reference];
        const struct assay__trial *a = &profile->trials[base->judged.trial],
                                  *b = &profile->trials[row->judged.trial];
        bool by_launch = base->energy_by_launch && row->energy_by_launch; /* like with like */
        row->energy_ratio = by_launch ? row->judged.energy.value / base->judged.energy.value
                                      : assay__trial_value(b, energy_metric) /
                                            assay__trial_value(a, energy_metric);
        row->speed = speed_ratio(a, b, arena, &row->judged.reason);
        if (isfinite(row->energy_ratio))
            row->energy = assay__comparison_launches(a, b, energy_metric, arena,
                                                     &row->energy_reason);
        row->verdict = verdict_of(&row->speed, true);
        row->energy_verdict = verdict_of(&row->energy, false);
    }
    for (int goal = 0; goal < ASSAY__FOR_COUNT; goal++)
        out->recommendations[goal] = recommend(
            &(struct choice){profile, out, arena, (enum assay__goal_kind)goal});
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
