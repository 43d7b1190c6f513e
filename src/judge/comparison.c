/* comparison.c - compares the trials of one profile. Speed is the launches' medians and their fast
 * ends (base/stats.h, assay__stats_compare_launches), energy the launches' energies
 * (run/watch/sensors_launches.c), judged by the rank test alone. Where a launch's energy is not
 * known (no sensor, or one that updates too seldom for one launch) there is a ratio without an
 * interval, and the reason. */
#include "judge/comparison.h"

#include "base/buf.h"
#include "run/builds.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__ratio unknown_ratio = ASSAY__RATIO_UNKNOWN;

const char *assay__ratio_by_name(enum assay__ratio_by by)
{
    static const char *const names[] = {"latency.p50", "latency.p5",
                                        "latency.p50 and latency.p5, which contradict each other"};
    return names[by];
}

const char *assay__ratio_by_words(enum assay__ratio_by by)
{
    static const char *const words[] = {"", " when undisturbed",
                                        ": usually one is faster, when undisturbed the other"};
    return words[by];
}

const char *assay__verdict_name(enum assay__verdict verdict)
{
    static const char *const names[] = {"", "no difference shown", "faster", "slower"};
    return names[verdict];
}

static bool is_usable(const struct assay__trial *trial)
{
    switch (trial->state) {
    case ASSAY__TRIAL_OK: return true;
    case ASSAY__TRIAL_INTERRUPTED: return true; /* the arms took turns: what ended is as good */
    case ASSAY__TRIAL_FAILED: return assay__trial_went_on(trial, ASSAY__COMPARISON_LAUNCHES);
    case ASSAY__TRIAL_RUNNING:
    case ASSAY__TRIAL_SKIPPED: break;
    }
    return false;
}

/* What is shown and what is judged are one statistic: the median over launches, where enough of
 * them have an energy. OPS/W follows. */
static int energy_of_launches(const struct assay__trial *trial, struct assay__comparison_row *row)
{
    size_t count = 0;
    double *values = assay__trial_costs(trial, "energy.inference.gross", &count);
    if (!values) return ASSAY_ENOMEM;
    if (isfinite(row->judged.energy.value) && count >= ASSAY__COMPARISON_LAUNCHES) {
        assay__stats_sort(values, count);
        double median = assay__stats_median(values, count);
        row->judged.tops_per_watt.value *= row->judged.energy.value /
                                           median; /* operations / energy */
        row->judged.energy.value = median;
        row->energy_by_launch = true;
    }
    free(values);
    return 0;
}

static int fill_row(const struct assay_profile *profile, size_t index, struct assay__arena *arena,
                    struct assay__comparison_row *row)
{
    const struct assay__trial *trial = &profile->trials[index];
    *row = (struct assay__comparison_row){
        .batch = trial->batch,
        .speed = unknown_ratio,
        .energy = unknown_ratio,
        .energy_reason = "",
        .energy_ratio = NAN,
        .unadvised = "",
    };
    struct assay__judged *judged = &row->judged;
    int code = assay__judged_read(profile, index, arena, judged);
    if (code) return code;
    if (!*judged->label) judged->label = trial->target.device;
    judged->usable = is_usable(trial) && isfinite(judged->latency.value);
    if (!judged->usable && !*judged->reason) judged->reason = "it has no latency";
    code = energy_of_launches(trial, row);
    return code ? code : assay__placement_summarise(trial, arena, &row->placement);
}

static size_t find_reference(const struct assay__comparison *all)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->rows[i].judged.usable) continue;
        if (all->rows[i].judged.role == ASSAY__ROLE_REFERENCE) return i;
        if (first == SIZE_MAX) first = i;
    }
    return first;
}

/* --- launches against launches ---------------------------------------------------------------- */

#define TOO_FEW "no verdict: each side needs at least 5 launches that ended well (--launches)"

/* ratio = median(a) / median(b): how much faster b is. */
int assay__comparison_speed(const struct assay__trial *a, const struct assay__trial *b,
                            struct assay__ratio *ratio, const char **reason)
{
    struct assay__trial_times x = {0}, y = {0};
    *ratio = unknown_ratio;
    int code = assay__trial_times(a, &x);
    if (!code) code = assay__trial_times(b, &y);
    if (!code &&
        (x.times.count < ASSAY__COMPARISON_LAUNCHES || y.times.count < ASSAY__COMPARISON_LAUNCHES))
        *reason = TOO_FEW;
    else if (!code)
        code = assay__stats_compare_launches(&y.times, &x.times, ratio);
    assay__trial_times_free(&x);
    assay__trial_times_free(&y);
    return code;
}

int assay__comparison_launches(const struct assay__trial *a, const struct assay__trial *b,
                               const char *metric, struct assay__ratio *ratio, const char **reason)
{
    size_t a_count = 0, b_count = 0;
    const char *why = assay__trial_values_reason(a, metric);
    if (!*why) why = assay__trial_values_reason(b, metric);
    *ratio = unknown_ratio;
    double *x = assay__trial_costs(a, metric, &a_count),
           *y = assay__trial_costs(b, metric, &b_count);
    int code = x && y ? 0 : ASSAY_ENOMEM;
    if (!code && (a_count < ASSAY__COMPARISON_LAUNCHES || b_count < ASSAY__COMPARISON_LAUNCHES))
        *reason = *why ? why : "fewer than 5 launches of either side have one of their own";
    else if (!code)
        code = assay__stats_compare(x, a_count, y, b_count, ratio);
    free(x);
    free(y);
    return code;
}

/* better: the ratio is above 1 when the row is. */
static enum assay__verdict verdict_of(const struct assay__ratio *ratio, bool above)
{
    if (!isfinite(ratio->ratio)) return ASSAY__VERDICT_NONE;
    if (ratio->ci.low > 1) return above ? ASSAY__VERDICT_FASTER : ASSAY__VERDICT_SLOWER;
    if (ratio->ci.high < 1) return above ? ASSAY__VERDICT_SLOWER : ASSAY__VERDICT_FASTER;
    return ASSAY__VERDICT_SAME;
}

static int compare_rows(const struct assay_profile *profile,
                        const struct assay__comparison_row *base, struct assay__comparison_row *row)
{
    const struct assay__trial *a = &profile->trials[base->judged.trial],
                              *b = &profile->trials[row->judged.trial];
    static const char energy[] = "energy.inference.gross";
    bool by_launch = base->energy_by_launch && row->energy_by_launch; /* like with like */
    row->energy_ratio = by_launch ? row->judged.energy.value / base->judged.energy.value
                                  : assay__trial_value(b, energy) / assay__trial_value(a, energy);
    int code = assay__comparison_speed(a, b, &row->speed, &row->judged.reason);
    row->verdict = verdict_of(&row->speed, true);
    if (!code && isfinite(row->energy_ratio))
        code = assay__comparison_launches(a, b, energy, &row->energy, &row->energy_reason);
    row->energy_verdict = verdict_of(&row->energy, false);
    return code;
}

/* Whether its outputs forbid to recommend it. What a CPU says is taken for the model's own; with
 * another reference every NaN counts against the device that has it. Rows of one device are several
 * models, which may differ on purpose. */
static int judge_outputs(const struct assay_profile *profile, const struct assay__comparison *all,
                         struct assay__comparison_row *row, struct assay__arena *arena)
{
    const struct assay__comparison_row *base = &all->rows[all->reference];
    const struct assay__target *reference = &profile->trials[base->judged.trial].target,
                               *target = &profile->trials[row->judged.trial].target;
    bool trusted = assay__target_is_fallback(reference);
    double broken = trusted && row != base ? row->judged.nonfinite.value
                                           : row->judged.own_nonfinite.value;
    if (!trusted && isnan(broken)) broken = row->judged.nonfinite.value;
    if (trusted && row == base) broken = 0;
    if (broken > 0 && row->judged.own_nonfinite.value == 0)
        row->unadvised = assay__arena_printf(arena,
                                             "%.0f values are NaN or infinite on %s and not on it",
                                             broken, base->judged.label);
    else if (broken > 0)
        row->unadvised = assay__arena_printf(arena, "%.0f of its values are NaN or infinite",
                                             broken);
    else if (row->judged.drift.value > ASSAY__DRIFT_LIMIT &&
             strcmp(reference->device, target->device) != 0)
        row->unadvised = assay__arena_printf(
            arena, "its outputs are not those of %s (relative L2 %.2g, the limit is %.2g)",
            base->judged.label, row->judged.drift.value, ASSAY__DRIFT_LIMIT);
    return row->unadvised ? 0 : ASSAY_ENOMEM;
}

/* "their batches differ: a.onnx takes 1, b.onnx takes 1024; …": an inference of one is not an
 * inference of the other. */
static int say_batches(struct assay__arena *arena, struct assay__comparison *all)
{
    const struct assay__comparison_row *first = NULL;
    struct assay__buf text = {0};
    bool differ = false;
    all->batches = "";
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        if (!row->judged.usable || row->batch < 1) continue;
        if (!first) first = row;
        differ |= row->batch != first->batch;
        assay__buf_printf(&text, "%s%s takes %lld",
                          text.length ? ", " : "their batches differ: ", row->judged.label,
                          (long long)row->batch);
    }
    assay__buf_puts(&text, "; latency, speed and energy are of an inference of each, per second "
                           "are samples");
    if (differ && !text.failed) all->batches = assay__arena_strdup(arena, text.data);
    int code = text.failed || !all->batches ? ASSAY_ENOMEM : 0;
    assay__buf_free(&text);
    return code;
}

int assay__comparison(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__comparison *out)
{
    int code = 0;
    *out = (struct assay__comparison){.count = profile->trial_count};
    out->rows = assay__arena_array(arena, profile->trial_count, sizeof *out->rows);
    if (!out->rows) return ASSAY_ENOMEM;
    for (size_t i = 0; i < out->count && code == 0; i++)
        code = fill_row(profile, i, arena, &out->rows[i]);
    if (!code) code = say_batches(arena, out);
    out->reference = find_reference(out);
    for (size_t i = 0; i < out->count; i++) /* one that was to be it and did not run is none */
        if (i != out->reference && out->rows[i].judged.role == ASSAY__ROLE_REFERENCE)
            out->rows[i].judged.role = ASSAY__ROLE_NONE;
    for (size_t i = 0; i < out->count && out->reference != SIZE_MAX && code == 0; i++) {
        if (!out->rows[i].judged.usable) continue;
        code = judge_outputs(profile, out, &out->rows[i], arena);
        if (!code && i != out->reference)
            code = compare_rows(profile, &out->rows[out->reference], &out->rows[i]);
    }
    return code ? code : assay__comparison_recommend(profile, arena, out);
}
