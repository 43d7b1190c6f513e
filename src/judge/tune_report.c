/* tune_report.c - says what a tuning has found.
 *
 * The best is a finalist that may be advised and that no other one is shown to be better than; of
 * several, the one that changes the fewest of the defaults, then one of the start's precision, then
 * that of the smallest median over its own launches. Another finalist is tied with it when the
 * exact rank test on the launches (base/stats.h) shows no difference at 5 %; it needs five launches
 * of each. What is compared of the launches is their median latency, for the goal throughput the
 * samples per second of each. */
#include "judge/tune_report.h"

#include "judge/comparison.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__ratio untested = ASSAY__RATIO_UNKNOWN;

/* --- costs ------------------------------------------------------------------------------------ */

/* Energies of the good launches; of the trial where a sensor was too slow for one launch. */
static double *read_energies(const struct assay__trial *trial, size_t *count)
{
    double *costs = assay__trial_costs(trial, "energy.inference.gross", count),
           whole = assay__trial_value(trial, "energy.inference.gross");
    if (costs && !*count && assay__trial_good_launches(trial) && isfinite(whole))
        costs[(*count)++] = whole;
    return costs;
}

double *assay__tune_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                          size_t *count)
{
    bool direct = false;
    double *costs = goal == ASSAY__PLAN_ENERGY
                        ? read_energies(trial, count)
                        : assay__sweep_launch_costs(trial, goal, count, &direct);
    if (costs) assay__stats_sort(costs, *count);
    return costs;
}

int assay__tune_test(const struct assay_profile *profile, enum assay__plan_goal goal, size_t best,
                     size_t other, struct assay__ratio *ratio)
{
    size_t best_count = 0, count = 0;
    double *a = assay__tune_costs(&profile->trials[best], goal, &best_count),
           *b = assay__tune_costs(&profile->trials[other], goal, &count);
    int code = a && b ? 0 : ASSAY_ENOMEM;
    *ratio = untested;
    if (!code && best_count >= ASSAY__COMPARISON_LAUNCHES && count >= ASSAY__COMPARISON_LAUNCHES)
        code = assay__stats_compare(a, best_count, b, count, ratio);
    else if (!code && best_count && count)
        ratio->ratio = assay__stats_median(b, count) / assay__stats_median(a, best_count);
    free(a);
    free(b);
    return code;
}

/* --- rows ------------------------------------------------------------------------------------- */

enum assay__tune_fate assay__tune_fate(const struct assay__trial *trial)
{
    if (trial->role == ASSAY__ROLE_FINALIST) return ASSAY__FATE_FINALIST;
    return trial->role == ASSAY__ROLE_ABLATION ? ASSAY__FATE_ABLATION : ASSAY__FATE_DROPPED;
}

/* Which of two trials of one label says more: finalist, then search, then ablation; a later one of
 * the same kind when it has more good launches (one whose launch was lost is repeated in
 * another). */
static bool says_more(const struct assay_profile *profile, size_t than, size_t trial)
{
    static const int worth[] = {0, 1, 0, 2};
    int a = worth[assay__tune_fate(&profile->trials[than])],
        b = worth[assay__tune_fate(&profile->trials[trial])];
    return b > a || (b == a && assay__trial_good_launches(&profile->trials[trial]) >
                                   assay__trial_good_launches(&profile->trials[than]));
}

static int collect(const struct assay_profile *profile, struct assay__arena *arena,
                   struct assay__tune_result *out)
{
    out->rows = assay__arena_array(arena, profile->trial_count, sizeof *out->rows);
    if (!out->rows && profile->trial_count) return ASSAY_ENOMEM;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        enum assay__tune_fate fate = assay__tune_fate(trial);
        size_t at = 0;
        while (at < out->count && strcmp(out->rows[at].judged.label, trial->label) != 0)
            at++;
        struct assay__tune_row *row = &out->rows[at];
        if (at == out->count) {
            *row = (struct assay__tune_row){.judged = {.label = trial->label, .trial = i},
                                            .ratio = untested};
            assay__axes_add(&out->axes, trial);
            out->count++;
        } else if (says_more(profile, row->judged.trial, i)) {
            row->judged.trial = i;
        }
        bool refused = trial->role == ASSAY__ROLE_REFUSED;
        row->start = row->start || trial->role == ASSAY__ROLE_START;
        row->searched = row->searched || (fate != ASSAY__FATE_ABLATION && !refused);
        out->refused += refused;
        if (fate == ASSAY__FATE_DROPPED) row->search_launches += assay__trial_good_launches(trial);
        *(fate == ASSAY__FATE_FINALIST   ? &out->final_launches
          : fate == ASSAY__FATE_ABLATION ? &out->ablation_launches
                                         : &out->search_launches) += trial->launch_count;
    }
    return 0;
}

static const char emulated[] =
    "on a device that is emulated in software, which is measured but never recommended";
static const char unknown_cost[] = "the quantity of the goal is not known";
static const char not_numbers[] = "some of its outputs are NaN or infinite";

/* What its outputs say against it; "" nothing. */
static const char *wrong_outputs(const struct assay__trial *trial,
                                 const struct assay__tune_row *row,
                                 const struct assay__tune_result *out)
{
    if (assay__trial_value(trial, "drift.nonfinite") > 0) return not_numbers;
    if (isfinite(out->plan->drift_limit) && assay__trial_value(trial, "outputs.nonfinite") > 0)
        return not_numbers; /* in the reference as well, or it is the reference */
    return row->judged.drift.value > out->plan->drift_limit ? "its outputs drift beyond the limit"
                                                            : "";
}

/* Why a configuration that ran may not be advised; "" it may. */
static const char *objection(const struct assay__trial *trial, const struct assay__tune_row *row,
                             const struct assay__tune_result *out)
{
    const struct assay__plan *plan = out->plan;
    double slo = assay__trial_value(trial, plan->slo_metric);
    if (row->software) return emulated;
    if (plan->slo_metric && !(slo <= plan->slo_s))
        return isfinite(slo) ? "latency beyond the limit"
                             : "the limited percentile is not known: run longer";
    if (isfinite(plan->memory_bytes) && !(row->judged.memory.value <= plan->memory_bytes))
        return isfinite(row->judged.memory.value) ? "memory beyond the budget"
                                                  : "its memory is not known";
    return wrong_outputs(trial, row, out);
}

static int fill_row(const struct assay_profile *profile, struct assay__arena *arena,
                    struct assay__tune_row *row, const struct assay__tune_result *out)
{
    struct assay__judged *j = &row->judged;
    const struct assay__trial *trial = &profile->trials[j->trial];
    size_t count = 0;
    if (assay__judged_read(profile, j->trial, arena, j)) return ASSAY_ENOMEM;
    double *costs = assay__tune_costs(trial, out->plan->goal, &count);
    if (!costs) return ASSAY_ENOMEM;
    row->cost = assay__stats_median(costs, count);
    free(costs);
    row->launches = assay__trial_good_launches(trial);
    j->usable = row->launches > 0;
    row->fate = j->usable ? assay__tune_fate(trial) : ASSAY__FATE_FAILED;
    row->software = trial->target.software;
    if (out->plan->goal == ASSAY__PLAN_THROUGHPUT && trial->batch > 0 && row->cost > 0)
        j->throughput.value = 1 / row->cost; /* what it is judged by: the median launch's rate */
    if (j->usable)
        j->reason = objection(trial, row, out);
    else if (!*j->reason)
        j->reason = "no launch was made";
    row->allowed = j->usable && !*j->reason;
    if (row->allowed && !isfinite(row->cost)) j->reason = unknown_cost;
    row->allowed = row->allowed && isfinite(row->cost);
    return 0;
}

/* --- the front -------------------------------------------------------------------------------- */

/* a is at least as good in all that is known of both, and better in one. */
static bool dominates(const struct assay__tune_row *a, const struct assay__tune_row *b)
{
    const double pairs[][2] = {{a->judged.latency.value, b->judged.latency.value},
                               {-a->judged.throughput.value, -b->judged.throughput.value},
                               {a->judged.memory.value, b->judged.memory.value},
                               {a->judged.energy.value, b->judged.energy.value}};
    bool better = false;
    for (size_t i = 0; i < 4; i++) {
        if (pairs[i][0] > pairs[i][1]) return false;
        better = better || pairs[i][0] < pairs[i][1];
    }
    return better;
}

static void find_front(struct assay__tune_result *out)
{
    size_t least = 1; /* one launch is luck: it counts only while there are no others */
    for (size_t i = 0; i < out->count; i++)
        if (out->rows[i].allowed && out->rows[i].launches > 1) least = 2;
    for (size_t i = 0; i < out->count; i++) {
        struct assay__tune_row *row = &out->rows[i];
        row->front = row->allowed && row->launches >= least;
        for (size_t k = 0; k < out->count && row->front; k++)
            row->front = !(out->rows[k].allowed && out->rows[k].launches >= least &&
                           dominates(&out->rows[k], row));
    }
}

/* --- the best --------------------------------------------------------------------------------- */

/* By how much a row breaks the limits it breaks most: 1.2 is 20 % over. NaN: what they are about is
 * not known. */
static double excess(const struct assay_profile *profile, const struct assay__tune_result *out,
                     const struct assay__tune_row *row, bool *latency)
{
    const struct assay__plan *plan = out->plan;
    double slo = plan->slo_metric
                     ? assay__trial_value(&profile->trials[row->judged.trial], plan->slo_metric) /
                           plan->slo_s
                     : 0,
           memory = isfinite(plan->memory_bytes) ? row->judged.memory.value / plan->memory_bytes
                                                 : 0;
    *latency = slo >= memory;
    return isnan(slo) || isnan(memory) ? (double)NAN : fmax(slo, memory);
}

/* None is within the limits: which configuration is closest, and by how much it misses. "" none
 * has numbers for it. */
static const char *say_nearest(const struct assay_profile *profile,
                               const struct assay__tune_result *out, struct assay__arena *arena)
{
    const struct assay__tune_row *nearest = NULL;
    double least = INFINITY;
    bool latency = false;
    for (size_t i = 0; i < out->count; i++) {
        bool own = false;
        const struct assay__tune_row *row = &out->rows[i];
        if (!row->launches || row->software ||
            *wrong_outputs(&profile->trials[row->judged.trial], row, out))
            continue; /* nor would it be advised within the limits */
        double over = excess(profile, out, row, &own);
        if (!(over > 1 && over < least)) continue;
        nearest = row;
        least = over;
        latency = own;
    }
    if (!nearest) return "";
    const struct assay__plan *plan = out->plan;
    double allowed = latency ? plan->slo_s : plan->memory_bytes;
    char value[64], most[64];
    assay__text_scaled(value, sizeof value, least * allowed, latency ? "s" : "B");
    assay__text_scaled(most, sizeof most, allowed, latency ? "s" : "B");
    return assay__arena_printf(
        arena,
        "no configuration that ran is within the limits; the closest is %s: %s is %s, the limit is "
        "%s (%s %s)",
        nearest->judged.label, latency ? plan->slo_metric : "memory", value, most,
        assay__digits(least < 2 ? (least - 1) * 100 : least, 3).text,
        least < 2 ? "% over" : "times as much");
}

/* Why nothing that ran may be advised: the one reason where there is one, else the first. NULL: out
 * of memory. */
static const char *why_none(const struct assay_profile *profile,
                            const struct assay__tune_result *out, struct assay__arena *arena)
{
    size_t ran = 0, broken = 0, software = 0, unknown = 0;
    const struct assay__tune_row *first = NULL;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (!row->launches) continue;
        if (!first) first = row;
        ran++;
        broken += row->judged.reason == not_numbers;
        software += row->software;
        unknown += row->judged.reason == unknown_cost;
    }
    if (!ran) return "no configuration could be measured";
    if (broken == ran)
        return "every configuration that ran gives outputs that are NaN or infinite, so none is "
               "recommended unless drift is allowed";
    if (software == ran)
        return "none is recommended: only a device that is emulated in software ran, and that is "
               "measured but never recommended";
    if (unknown && out->plan->goal == ASSAY__PLAN_ENERGY)
        return "no allowed configuration has a known energy";
    const char *nearest = say_nearest(profile, out, arena);
    if (!nearest || *nearest) return nearest;
    return assay__arena_printf(arena, "no configuration that ran can be recommended: %s: %s",
                               first->judged.label, first->judged.reason);
}

/* The allowed row of the least cost; of the finalists only, unless `any`. */
static size_t least_cost(const struct assay__tune_result *out, bool any)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (!row->allowed || !(any || row->fate == ASSAY__FATE_FINALIST)) continue;
        if (best == SIZE_MAX || row->cost < out->rows[best].cost) best = i;
    }
    return best;
}

/* How many settings of the trial are not the start's; *precision: that is one of them. */
static size_t changes(const struct assay__trial *trial, const struct assay__trial *start,
                      bool *precision)
{
    size_t count = 0;
    *precision = false;
    for (size_t i = 0; i < trial->axis_count; i++) {
        const struct assay__axis_value *own = &trial->axes[i];
        if (strcmp(own->value, assay__trial_axis(start, own->axis)) == 0) continue;
        count++;
        *precision = *precision || own->axis == ASSAY__AXIS_PRECISION;
    }
    return count;
}

/* Is it a finalist whose launches suffice for the test, and does the test show no other one to be
 * better? */
static int is_unbeaten(const struct assay_profile *profile, const struct assay__tune_result *out,
                       const struct assay__tune_row *row, bool *unbeaten)
{
    int code = 0;
    *unbeaten = row->allowed && row->fate == ASSAY__FATE_FINALIST &&
                row->launches >= ASSAY__COMPARISON_LAUNCHES;
    for (size_t i = 0; i < out->count && *unbeaten && !code; i++) {
        const struct assay__tune_row *other = &out->rows[i];
        struct assay__ratio ratio = untested;
        if (!other->allowed || other->fate != ASSAY__FATE_FINALIST || !(other->cost < row->cost))
            continue;
        code = assay__tune_test(profile, out->plan->goal, other->judged.trial, row->judged.trial,
                                &ratio);
        *unbeaten = ratio.p_value >= 0.05; /* not where it is unknown */
    }
    return code;
}

/* Of the finalists that are tied with the best: the one closest to the defaults. What shows no
 * difference is not worth a change. */
static int prefer_usual(const struct assay_profile *profile, struct assay__tune_result *out)
{
    if (out->best == SIZE_MAX || out->start == SIZE_MAX) return 0;
    const struct assay__trial *start = &profile->trials[out->rows[out->start].judged.trial];
    size_t best = out->best;
    bool lossy = false, unbeaten = false;
    size_t least = changes(&profile->trials[out->rows[best].judged.trial], start, &lossy);
    int code = is_unbeaten(profile, out, &out->rows[best], &unbeaten);
    for (size_t i = 0; i < out->count && unbeaten && !code; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        bool own_lossy = false, eligible = false;
        size_t own = changes(&profile->trials[row->judged.trial], start, &own_lossy);
        bool nearer = own != least         ? own < least
                      : own_lossy != lossy ? lossy
                                           : row->cost < out->rows[best].cost;
        if (nearer) code = is_unbeaten(profile, out, row, &eligible);
        if (code || !eligible) continue;
        best = i;
        least = own;
        lossy = own_lossy;
    }
    out->best = best;
    return code;
}

static int find_best(const struct assay_profile *profile, struct assay__tune_result *out)
{
    out->best = least_cost(out, false);
    bool misled = out->best == SIZE_MAX; /* the finalists that looked best may not be advised */
    for (size_t i = 0; i < out->count && !misled; i++)
        misled = out->rows[i].fate == ASSAY__FATE_FINALIST && !out->rows[i].allowed &&
                 out->rows[i].cost < out->rows[out->best].cost;
    if (misled) out->best = least_cost(out, true);
    int code = misled ? 0 : prefer_usual(profile, out);
    if (out->best == SIZE_MAX || code) return code;
    struct assay__tune_row *best = &out->rows[out->best];
    out->tested = best->fate == ASSAY__FATE_FINALIST &&
                  best->launches >= ASSAY__COMPARISON_LAUNCHES;
    for (size_t i = 0; i < out->count && !code; i++) {
        struct assay__tune_row *row = &out->rows[i];
        if (row == best || row->fate != best->fate || !isfinite(row->cost)) continue;
        code = assay__tune_test(profile, out->plan->goal, best->judged.trial, row->judged.trial,
                                &row->ratio);
        row->alike = out->tested && row->allowed && !(row->ratio.p_value < 0.05);
        if (isnan(row->ratio.p_value) && out->plan->goal == ASSAY__PLAN_ENERGY) out->tested = false;
    }
    for (size_t i = 0; i < out->count; i++) /* what was not tested is not called alike */
        out->rows[i].alike = out->rows[i].alike && out->tested;
    out->confirmed = out->tested && out->start != SIZE_MAX && out->start != out->best &&
                     out->rows[out->start].ratio.p_value < 0.05;
    return code;
}

/* "1.2 × as fast as the defaults", by the goal. */
static const char *const better_words[] = {"the throughput of", "as fast as", "as efficient as"};

/* Rows that look better than the best and may be recommended: why they are not believed. */
static int say_unconfirmed(struct assay__tune_result *out, struct assay__arena *arena)
{
    const struct assay__tune_row *top = NULL, *best = &out->rows[out->best];
    size_t count = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (!row->allowed || row->alike || !(row->cost < best->cost)) continue;
        count++;
        if (!top || row->cost < top->cost) top = row;
    }
    if (!top) return 0;
    out->unconfirmed = assay__arena_printf(
        arena, "%s looked %s × %s the best in %zu launch%s of the %s, not confirmed%s",
        top->judged.label, assay__digits(best->cost / top->cost, 3).text,
        better_words[out->plan->goal], top->launches, top->launches == 1 ? "" : "es",
        top->fate == ASSAY__FATE_ABLATION ? "variations of the best" : "search",
        count > 1 ? "; so did others" : "");
    return out->unconfirmed ? 0 : ASSAY_ENOMEM;
}

static int say_why(const struct assay_profile *profile, struct assay__tune_result *out,
                   struct assay__arena *arena)
{
    static const char *const goals[] = {"throughput", "latency", "energy per inference"};
    if (out->best == SIZE_MAX) {
        out->why = why_none(profile, out, arena);
        return out->why ? 0 : ASSAY_ENOMEM;
    }
    if (say_unconfirmed(out, arena)) return ASSAY_ENOMEM;
    const char *better = better_words[out->plan->goal];
    const struct assay__tune_row *best = &out->rows[out->best];
    const struct assay__tune_row *start = out->start != SIZE_MAX ? &out->rows[out->start] : NULL;
    char gain[300] = "";
    if (out->best == out->start)
        snprintf(gain, sizeof gain, ": the defaults%s",
                 out->tested ? "; nothing was shown to be better" : "");
    else if (start && !start->launches)
        snprintf(gain, sizeof gain,
                 "; the defaults did not run, so it is not shown to be better than they are");
    else if (start && !start->allowed && start->judged.reason == not_numbers)
        snprintf(gain, sizeof gain, "; the outputs of the defaults are NaN or infinite");
    else if (start && isfinite(start->ratio.ratio) && start->ratio.ci.known)
        snprintf(gain, sizeof gain,
                 start->ratio.p_value < 0.05 ? ": %s × %s the defaults (95 %%: %s)"
                                             : ": tied with the defaults (%s × %s them, 95 %%: %s)",
                 assay__digits(start->ratio.ratio, 3).text, better,
                 assay__digits_range(start->ratio.ci.low, start->ratio.ci.high).text);
    else if (start && isfinite(start->cost / best->cost))
        snprintf(gain, sizeof gain, ": about %s × %s the defaults, not tested",
                 assay__digits(start->cost / best->cost, 3).text, better);
    out->why = assay__arena_printf(
        arena, "best %s%s%s", goals[out->plan->goal], gain,
        out->tested ? "" : "; too few launches of its own for a test: a larger budget allows more");
    return out->why ? 0 : ASSAY_ENOMEM;
}

/* Settings of the best that can be reset, one at a time, without a difference: all of them at once
 * was not tried. */
static int say_needless(struct assay__tune_result *out, struct assay__arena *arena)
{
    const char *names = "";
    for (size_t i = 0; i < out->part_count; i++) {
        const struct assay__tune_part *part = &out->parts[i];
        if (*part->objection || !part->measured || !(part->ratio.p_value >= 0.05)) continue;
        names = assay__arena_printf(arena, "%s%s%s=%s", names, *names ? " or " : "",
                                    assay__axis_name(part->axis), part->from);
        if (!names) return ASSAY_ENOMEM;
    }
    if (!*names) return 0;
    out->why = assay__arena_printf(arena, "%s; %s is tied with it", out->why, names);
    return out->why ? 0 : ASSAY_ENOMEM;
}

/* --- all of it -------------------------------------------------------------------------------- */

int assay__tune_result(const struct assay_profile *profile, struct assay__arena *arena,
                       struct assay__tune_result *out)
{
    const struct assay__plan *plan = &profile->plan;
    *out = (struct assay__tune_result){
        .plan = plan, .best = SIZE_MAX, .start = SIZE_MAX, .why = "", .unconfirmed = ""};
    out->grid = plan->configurations > 0 ? (size_t)plan->configurations : 0;
    out->elapsed_s = profile->trial_count ? assay__trial_value(profile->trials, "tune.elapsed")
                                          : NAN;
    int code = collect(profile, arena, out);
    for (size_t i = 0; i < out->count && !code; i++) {
        code = fill_row(profile, arena, &out->rows[i], out);
        if (out->rows[i].start) out->start = i;
        out->configurations += out->rows[i].searched;
        out->failed += out->rows[i].searched && out->rows[i].fate == ASSAY__FATE_FAILED;
    }
    if (!code) find_front(out);
    if (!code) code = find_best(profile, out);
    if (!code) code = say_why(profile, out, arena);
    if (!code) code = assay__tune_find_parts(profile, arena, out);
    return code ? code : say_needless(out, arena);
}
