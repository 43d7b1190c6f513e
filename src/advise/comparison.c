/* comparison.c - see comparison.h.
 *
 * Recommendation. Candidates are usable trials that are neither controls nor software devices. The best one by its number is named
 * when it beats the reference by the rank test (latency and throughput both follow from the launches' medians at one request in
 * flight; at several, throughput has one number per trial and only a difference above the smallest that the latency test could have shown is
 * claimed). When the runner-up cannot be told from the best, both are named. Energy is compared without an interval,
 * and that is said. */
#include "advise/comparison.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *assay__trial_option(const struct assay__trial *trial, const char *key)
{
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, key) == 0) return trial->options[i].value;
    return "";
}

const char *assay__verdict_name(enum assay__verdict verdict)
{
    static const char *const names[] = {"", "no difference shown", "faster", "slower"};
    return names[verdict];
}

double *assay__trial_medians(const struct assay__trial *trial, size_t *count)
{
    double *medians = calloc(trial->launch_count + 1, sizeof *medians);
    *count = 0;
    for (size_t i = 0; medians && i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        if (launch->state == ASSAY__TRIAL_OK && isfinite(launch->p50_ns) && launch->p50_ns > 0)
            medians[(*count)++] = launch->p50_ns / 1e9;
    }
    return medians;
}

double assay__trial_known(const struct assay__trial *trial, const char *name)
{
    const struct assay_metric *m = trial->metrics && name ? assay_metrics_get(trial->metrics, name)
                                                          : NULL;
    return m && m->state != ASSAY_UNAVAILABLE && isfinite(m->value) ? m->value : NAN;
}

static void fill_row(const struct assay_profile *profile, size_t index,
                     struct assay__comparison_row *row)
{
    const struct assay__trial *trial = &profile->trials[index];
    const char *label = assay__trial_option(trial, "label");
    double samples = assay__trial_known(trial, "throughput.samples");
    *row = (struct assay__comparison_row){
        .trial = index,
        .label = *label ? label : trial->device,
        .role = assay__trial_option(trial, "role"),
        .reason = trial->reason ? trial->reason : "",
        .speed = {NAN, {NAN, NAN, false}, NAN, NAN},
        .latency_s = assay__trial_known(trial, "latency.p50"),
        .throughput = isfinite(samples) ? samples
                                        : assay__trial_known(trial, "throughput.inferences"),
        .energy_j = assay__trial_known(trial, "energy.inference.gross"),
        .memory_bytes = assay__trial_known(trial, "memory.peak.worker"),
        .energy_ratio = NAN,
    };
    row->usable = trial->state == ASSAY__TRIAL_OK && isfinite(row->latency_s);
    if (!row->usable && !*row->reason) row->reason = "it has no latency";
}

static size_t find_reference(const struct assay__comparison *all)
{
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < all->count; i++) {
        if (!all->rows[i].usable) continue;
        if (strcmp(all->rows[i].role, "reference") == 0) return i;
        if (first == SIZE_MAX) first = i;
    }
    return first;
}

/* ratio = median(a) / median(b): how much faster b is. */
static int compare_speed(const struct assay__trial *a, const struct assay__trial *b,
                         struct assay__ratio *ratio, const char **reason)
{
    size_t a_count = 0, b_count = 0;
    double *x = assay__trial_medians(a, &a_count), *y = assay__trial_medians(b, &b_count);
    int code = x && y ? 0 : ASSAY_ENOMEM;
    if (!code && (a_count < ASSAY__COMPARISON_LAUNCHES || b_count < ASSAY__COMPARISON_LAUNCHES))
        *reason = "no verdict: each side needs at least 5 launches that ended well (--launches)";
    else if (!code)
        code = assay__stats_compare(y, b_count, x, a_count, ratio);
    free(x);
    free(y);
    return code;
}

static enum assay__verdict verdict_of(const struct assay__ratio *speed)
{
    if (!isfinite(speed->ratio)) return ASSAY__VERDICT_NONE;
    if (speed->ci.low > 1) return ASSAY__VERDICT_FASTER;
    if (speed->ci.high < 1) return ASSAY__VERDICT_SLOWER;
    return ASSAY__VERDICT_SAME;
}

/* --- recommendation --------------------------------------------------------------------------- */

static double value_for(const struct assay__comparison_row *row, enum assay__goal_kind goal)
{
    switch (goal) {
    case ASSAY__FOR_LATENCY: return row->latency_s;
    case ASSAY__FOR_THROUGHPUT: return row->throughput > 0 ? 1 / row->throughput : NAN;
    case ASSAY__FOR_ENERGY: return row->energy_j;
    case ASSAY__FOR_COUNT: break;
    }
    return NAN;
}

static bool is_candidate(const struct assay__comparison_row *row, enum assay__goal_kind goal)
{
    return row->usable && isfinite(value_for(row, goal)) && strcmp(row->role, "control") != 0 &&
           strcmp(row->role, "software") != 0;
}

/* The smallest value but `other` (SIZE_MAX: none is left out). */
static size_t best_of(const struct assay__comparison *all, enum assay__goal_kind goal, size_t other)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < all->count; i++) {
        if (i == other || !is_candidate(&all->rows[i], goal)) continue;
        if (best == SIZE_MAX || value_for(&all->rows[i], goal) < value_for(&all->rows[best], goal))
            best = i;
    }
    return best;
}

static const char *say(struct assay__arena *arena, const char *text)
{
    const char *copy = text ? assay__arena_strdup(arena, text) : NULL;
    return copy ? copy : "";
}

static int recommend_speed(const struct assay_profile *profile, struct assay__arena *arena,
                           const struct assay__comparison *all, enum assay__goal_kind goal,
                           struct assay__recommendation *out)
{
    static const char *const words[] = {"latency", "throughput", "energy"};
    size_t best = best_of(all, goal, SIZE_MAX), next = best_of(all, goal, best);
    char text[512];
    *out = (struct assay__recommendation){SIZE_MAX, ""};
    if (best == SIZE_MAX || next == SIZE_MAX) {
        out->why = best == SIZE_MAX ? "nothing that ran can be recommended"
                                    : "only one candidate ran: there is nothing to choose from";
        if (best != SIZE_MAX) out->row = best;
        return 0;
    }
    const struct assay__comparison_row *first = &all->rows[best], *second = &all->rows[next];
    struct assay__ratio ratio = {NAN, {NAN, NAN, false}, NAN, NAN};
    const char *reason = "";
    int code = compare_speed(&profile->trials[second->trial], &profile->trials[first->trial],
                             &ratio, &reason);
    if (code) return code;
    double gain = value_for(second, goal) / value_for(first, goal);
    if (!isfinite(ratio.ratio)) {
        out->why = reason;
    } else if (ratio.ci.low > 1 || (goal == ASSAY__FOR_THROUGHPUT && gain > 1 + ratio.smallest)) {
        out->row = best;
        snprintf(text, sizeof text,
                 "%s is %.3g × as good in %s as the next best, %s (speed-up %.3g to %.3g, 95 %%)",
                 first->label, gain, words[goal], second->label, ratio.ci.low, ratio.ci.high);
        out->why = say(arena, text);
    } else {
        snprintf(text, sizeof text,
                 "no difference shown between %s and %s; this run could have shown %.2g %%",
                 first->label, second->label, ratio.smallest * 100);
        out->why = say(arena, text);
    }
    return 0;
}

static void recommend_energy(struct assay__arena *arena, const struct assay__comparison *all,
                             struct assay__recommendation *out)
{
    size_t best = best_of(all, ASSAY__FOR_ENERGY, SIZE_MAX),
           next = best_of(all, ASSAY__FOR_ENERGY, best);
    char text[512];
    *out = (struct assay__recommendation){SIZE_MAX, "energy is not known of any candidate"};
    if (best == SIZE_MAX) return;
    if (next == SIZE_MAX) {
        out->why = "energy is known of one candidate only";
        return;
    }
    out->row = best;
    snprintf(text, sizeof text, "%s took %.3g mJ per inference, %s %.3g mJ; no interval is known",
             all->rows[best].label, all->rows[best].energy_j * 1e3, all->rows[next].label,
             all->rows[next].energy_j * 1e3);
    out->why = say(arena, text);
}

int assay__comparison(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__comparison *out)
{
    *out = (struct assay__comparison){.count = profile->trial_count};
    out->rows = assay__arena_array(arena, profile->trial_count, sizeof *out->rows);
    if (!out->rows) return ASSAY_ENOMEM;
    for (size_t i = 0; i < out->count; i++)
        fill_row(profile, i, &out->rows[i]);
    out->reference = find_reference(out);
    int code = 0;
    for (size_t i = 0; i < out->count && out->reference != SIZE_MAX && code == 0; i++) {
        struct assay__comparison_row *row = &out->rows[i], *base = &out->rows[out->reference];
        if (i == out->reference || !row->usable) continue;
        row->energy_ratio = row->energy_j / base->energy_j;
        code = compare_speed(&profile->trials[base->trial], &profile->trials[row->trial],
                             &row->speed, &row->reason);
        row->verdict = verdict_of(&row->speed);
    }
    for (int goal = ASSAY__FOR_LATENCY; goal <= ASSAY__FOR_THROUGHPUT && code == 0; goal++)
        code = recommend_speed(profile, arena, out, (enum assay__goal_kind)goal,
                               &out->recommendations[goal]);
    recommend_energy(arena, out, &out->recommendations[ASSAY__FOR_ENERGY]);
    return code;
}
