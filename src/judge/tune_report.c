/* tune_report.c - the result of a tuning.
 *
 * The best is a finalist that may be recommended and that no other one is shown to beat; of
 * several, the one that changes the fewest defaults, then one with the start's precision, then the
 * one with the smallest median over its launches. Another finalist is tied with it if the exact
 * rank test on the launches (base/stats.h) shows no difference at 5 %, which needs five launches of
 * each. Launches are compared by their median latency or, for the goal throughput, by their samples
 * per second. */
#include "judge/tune_report.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* --- costs ------------------------------------------------------------------------------------ */

/* If a sensor is too slow for single launches, the trial's energy is used for them. */
struct assay__launch_values assay__tune_costs(const struct assay__trial *trial,
                                              enum assay__plan_goal goal,
                                              struct assay__arena *arena)
{
    static const char energy[] = "energy.inference.gross";
    bool direct = false;
    if (goal != ASSAY__PLAN_ENERGY) return assay__sweep_launch_costs(trial, goal, arena, &direct);
    struct assay__launch_values costs = assay__launch_values(trial, energy, arena);
    double whole = assay__trial_value(trial, energy);
    if (costs.items && !costs.count && assay__trial_good_launches(trial) && isfinite(whole))
        costs.items[costs.count++] = whole;
    return costs;
}

static double median_of(const struct assay__launch_values *values, struct assay__arena *arena)
{
    struct assay__launch_values sorted = assay__launch_sorted(values, arena);
    return assay__stats_median(sorted.items, sorted.count);
}

struct assay__ratio assay__tune_test(const struct assay_profile *profile, size_t best, size_t other,
                                     struct assay__arena *arena)
{
    enum assay__plan_goal goal = profile->plan.goal;
    struct assay__launch_values a = assay__tune_costs(&profile->trials[best], goal, arena),
                                b = assay__tune_costs(&profile->trials[other], goal, arena);
    struct assay__ratio ratio = assay__launch_ratio(&a, &b, arena);
    if (!isfinite(ratio.ratio)) ratio.ratio = median_of(&b, arena) / median_of(&a, arena);
    return ratio;
}

/* --- rows ------------------------------------------------------------------------------------- */

enum assay__tune_fate assay__tune_fate(const struct assay__trial *trial)
{
    if (trial->role == ASSAY__ROLE_FINALIST) return ASSAY__FATE_FINALIST;
    return trial->role == ASSAY__ROLE_ABLATION ? ASSAY__FATE_ABLATION : ASSAY__FATE_DROPPED;
}

/* One row for the trials with the same label. The most informative one counts: finalist before
 * search before ablation; among the same kind, the one with more successful launches (a trial that
 * lost a launch is repeated in another). */
static void collect(const struct assay_profile *profile, struct assay__arena *arena,
                    struct assay__tune_result *out)
{
    static const int worth[] = {0, 1, 0, 2}; /* by fate */
    out->rows = assay__arena_array(arena, profile->trial_count, sizeof *out->rows);
    for (size_t i = 0; out->rows && i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        enum assay__tune_fate fate = assay__tune_fate(trial);
        size_t at = 0, good = assay__trial_good_launches(trial);
        while (at < out->count && strcmp(out->rows[at].judged.label, trial->label) != 0)
            at++;
        struct assay__tune_row *row = &out->rows[at];
        if (at == out->count) {
            *row = (struct assay__tune_row){.judged = {.label = trial->label, .trial = i},
                                            .ratio = ASSAY__RATIO_UNKNOWN};
            assay__axes_add(&out->axes, trial);
            out->count++;
        }
        const struct assay__trial *kept = &profile->trials[row->judged.trial];
        int more = worth[fate] - worth[assay__tune_fate(kept)];
        if (more > 0 || (more == 0 && good > assay__trial_good_launches(kept)))
            row->judged.trial = i;
        bool refused = trial->role == ASSAY__ROLE_REFUSED;
        row->start = row->start || trial->role == ASSAY__ROLE_START;
        row->searched = row->searched || (fate != ASSAY__FATE_ABLATION && !refused);
        out->refused += refused;
        if (fate == ASSAY__FATE_DROPPED) row->search_launches += good;
        *(fate == ASSAY__FATE_FINALIST   ? &out->final_launches
          : fate == ASSAY__FATE_ABLATION ? &out->ablation_launches
                                         : &out->search_launches) += trial->launch_count;
    }
}

static const char unknown_cost[] = "the value of the goal is unknown";
static const char not_numbers[] = "some of its outputs are NaN or infinite";

/* What is wrong with its outputs; "" nothing. */
static const char *output_fault(const struct assay__tune_row *row, double drift_limit)
{
    const struct assay__judged *j = &row->judged;
    if (j->nonfinite.value > 0) return not_numbers;
    if (isfinite(drift_limit) && j->own_nonfinite.value > 0)
        return not_numbers; /* the same in the reference, or it is the reference */
    return j->drift.value > drift_limit ? "its outputs drift beyond the limit" : "";
}

static void fill_row(const struct assay_profile *profile, struct assay__arena *arena,
                     struct assay__tune_row *row)
{
    const struct assay__plan *plan = &profile->plan;
    struct assay__judged *j = &row->judged;
    const struct assay__trial *trial = &profile->trials[j->trial];
    *j = assay__judged_read(profile, j->trial, arena);
    struct assay__launch_values costs = assay__tune_costs(trial, plan->goal, arena);
    row->cost = median_of(&costs, arena);
    row->launches = assay__trial_good_launches(trial);
    j->usable = row->launches > 0;
    row->fate = j->usable ? assay__tune_fate(trial) : ASSAY__FATE_FAILED;
    row->software = trial->target.software;
    if (plan->goal == ASSAY__PLAN_THROUGHPUT && trial->batch > 0 && row->cost > 0)
        /* what it is judged by: the rate of the median launch */
        j->throughput.value = 1 / row->cost;
    if (!j->usable && !*j->reason) j->reason = "nothing was launched";
    if (!j->usable) return;
    /* why it may not be recommended; "": it may */
    j->reason = row->software
                    ? "on a device emulated in software, which is measured but never recommended"
                    : assay__limits_broken(plan, trial, arena);
    if (!*j->reason) j->reason = output_fault(row, plan->drift_limit);
    if (!*j->reason && !isfinite(row->cost)) j->reason = unknown_cost;
    row->allowed = !*j->reason;
}

/* --- the front -------------------------------------------------------------------------------- */

/* Whether the launches let one row rule out the other. Short launches of the search only select
 * candidates, and a row tied with the best is not shown to be better than it. */
static bool can_rule_out(const struct assay__tune_result *out, size_t one, size_t other)
{
    const struct assay__tune_row *a = &out->rows[one], *b = &out->rows[other];
    if (b->fate == ASSAY__FATE_FINALIST && a->fate != ASSAY__FATE_FINALIST) return false;
    return !(other == out->best && a->alike);
}

/* Rows that no other one dominates, that is, is at least as good in everything known about both,
 * and better in one. */
static void find_front(struct assay__tune_result *out)
{
    size_t least = 1; /* a single launch may be luck: it counts only if there are no others */
    for (size_t i = 0; i < out->count; i++)
        if (out->rows[i].allowed && out->rows[i].launches > 1) least = 2;
    for (size_t i = 0; i < out->count; i++) {
        struct assay__tune_row *row = &out->rows[i];
        const struct assay__judged *own = &row->judged;
        row->front = row->allowed && row->launches >= least;
        for (size_t k = 0; k < out->count && row->front; k++) {
            const struct assay__judged *other = &out->rows[k].judged;
            const double pairs[][2] = {{other->latency.value, own->latency.value},
                                       {-other->throughput.value, -own->throughput.value},
                                       {other->memory.value, own->memory.value},
                                       {other->energy.value, own->energy.value}};
            bool better = false, worse = !out->rows[k].allowed || out->rows[k].launches < least ||
                                         !can_rule_out(out, k, i);
            for (size_t p = 0; p < 4; p++) {
                worse |= pairs[p][0] > pairs[p][1];
                better |= pairs[p][0] < pairs[p][1];
            }
            row->front = worse || !better;
        }
    }
}

/* --- the best --------------------------------------------------------------------------------- */

/* Why nothing that ran may be recommended: the common reason; else which is closest to the limits,
 * of those that would be recommended within them, and by how much it misses; else the reason of the
 * first. */
static const char *why_none(const struct assay_profile *profile,
                            const struct assay__tune_result *out, struct assay__arena *arena)
{
    size_t ran = 0, broken = 0, software = 0, unknown = 0;
    const struct assay__tune_row *first = NULL;
    const struct assay__trial *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        const struct assay__trial *trial = &profile->trials[row->judged.trial];
        if (!row->launches) continue;
        if (!first) first = row;
        ran++;
        broken += row->judged.reason == not_numbers;
        software += row->software;
        unknown += row->judged.reason == unknown_cost;
        double over = assay__limits_excess(out->plan, trial);
        if (!row->software && !*output_fault(row, out->plan->drift_limit) && over > 1 &&
            over < least)
            nearest = trial, least = over;
    }
    if (!ran) return "no configuration could be measured";
    if (broken == ran)
        return "every configuration that ran has outputs that are NaN or infinite, so none is "
               "recommended unless drift is allowed";
    if (software == ran)
        return "none is recommended: only a device emulated in software ran, and such devices are "
               "measured but never recommended";
    if (unknown && out->plan->goal == ASSAY__PLAN_ENERGY)
        return "no allowed configuration has a known energy";
    if (nearest)
        return assay__arena_text(
            arena, "no configuration that ran is within the limits; the closest is %s",
            assay__limits_missed(out->plan, nearest, arena));
    return assay__arena_text(arena, "no configuration that ran can be recommended: %s: %s",
                             first->judged.label, first->judged.reason);
}

/* The allowed row with the lowest cost; only among the finalists, unless `any`. */
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

/* How many settings of the trial differ from the start's; *precision: whether that is one of
 * them. */
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

/* A finalist with enough launches for the test, which does not show another one to be better. */
static bool is_unbeaten(const struct assay_profile *profile, const struct assay__tune_result *out,
                        const struct assay__tune_row *row, struct assay__arena *arena)
{
    bool unbeaten = row->allowed && row->fate == ASSAY__FATE_FINALIST &&
                    row->launches >= ASSAY__COMPARISON_LAUNCHES;
    for (size_t i = 0; i < out->count && unbeaten; i++) {
        const struct assay__tune_row *other = &out->rows[i];
        if (!other->allowed || other->fate != ASSAY__FATE_FINALIST || !(other->cost < row->cost))
            continue;
        struct assay__ratio ratio = assay__tune_test(profile, other->judged.trial,
                                                     row->judged.trial, arena);
        unbeaten = ratio.p_value >= 0.05; /* not where it is unknown */
    }
    return unbeaten;
}

/* Of the finalists tied with the best, the one closest to the defaults: a change without a
 * difference is not worth making. */
static size_t prefer_usual(const struct assay_profile *profile, struct assay__arena *arena,
                           const struct assay__tune_result *out, size_t best)
{
    const struct assay__trial *start = &profile->trials[out->rows[out->start].judged.trial];
    bool lossy = false;
    size_t fewest = changes(&profile->trials[out->rows[best].judged.trial], start, &lossy);
    if (!is_unbeaten(profile, out, &out->rows[best], arena)) return best;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        bool own_lossy = false;
        size_t own = changes(&profile->trials[row->judged.trial], start, &own_lossy);
        bool nearer = own != fewest        ? own < fewest
                      : own_lossy != lossy ? lossy
                                           : row->cost < out->rows[best].cost;
        if (!nearer || !is_unbeaten(profile, out, row, arena)) continue;
        best = i;
        fewest = own;
        lossy = own_lossy;
    }
    return best;
}

static void find_best(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__tune_result *out)
{
    out->best = least_cost(out, false);
    bool misled = out->best == SIZE_MAX; /* the finalists that looked best may not be recommended */
    for (size_t i = 0; i < out->count && !misled; i++)
        misled = out->rows[i].fate == ASSAY__FATE_FINALIST && !out->rows[i].allowed &&
                 out->rows[i].cost < out->rows[out->best].cost;
    if (misled)
        out->best = least_cost(out, true);
    else if (out->start != SIZE_MAX)
        out->best = prefer_usual(profile, arena, out, out->best);
    if (out->best == SIZE_MAX) return;
    struct assay__tune_row *best = &out->rows[out->best];
    out->tested = best->fate == ASSAY__FATE_FINALIST &&
                  best->launches >= ASSAY__COMPARISON_LAUNCHES;
    for (size_t i = 0; i < out->count; i++) {
        struct assay__tune_row *row = &out->rows[i];
        if (row == best || row->fate != best->fate || !isfinite(row->cost)) continue;
        row->ratio = assay__tune_test(profile, best->judged.trial, row->judged.trial, arena);
        row->alike = row->allowed && !(row->ratio.p_value < 0.05);
        if (isnan(row->ratio.p_value) && out->plan->goal == ASSAY__PLAN_ENERGY) out->tested = false;
    }
    for (size_t i = 0; i < out->count; i++) /* what was not tested is not called tied */
        out->rows[i].alike = out->rows[i].alike && out->tested;
    out->confirmed = out->tested && out->start != SIZE_MAX && out->start != out->best &&
                     out->rows[out->start].ratio.p_value < 0.05;
}

/* "1.2 × as fast as the defaults", by the goal. */
static const char *const better_words[] = {"the throughput of", "as fast as", "as efficient as"};

/* Rows that look better than the best and may be recommended: why they are not trusted. */
static const char *say_unconfirmed(const struct assay__tune_result *out, struct assay__arena *arena)
{
    const struct assay__tune_row *top = NULL, *best = &out->rows[out->best];
    size_t count = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__tune_row *row = &out->rows[i];
        if (!row->allowed || row->alike || !(row->cost < best->cost)) continue;
        count++;
        if (!top || row->cost < top->cost) top = row;
    }
    if (!top) return "";
    return assay__arena_text(
        arena,
        "%s measured %s × %s the best in %zu short launch%s of the %s, which only choose what is "
        "measured again%s",
        top->judged.label, assay__digits(best->cost / top->cost, 3).text,
        better_words[out->plan->goal], top->launches, top->launches == 1 ? "" : "es",
        top->fate == ASSAY__FATE_ABLATION ? "variations of the best" : "search",
        count > 1 ? "; so did others" : "");
}

/* The best against the defaults. */
static const char *say_gain(const struct assay__tune_result *out, struct assay__arena *arena)
{
    if (out->best == out->start)
        return out->tested ? ": the defaults; nothing was shown to be better" : ": the defaults";
    if (out->start == SIZE_MAX) return "";
    const struct assay__tune_row *start = &out->rows[out->start];
    const char *better = better_words[out->plan->goal];
    double ratio = start->cost / out->rows[out->best].cost;
    if (!start->launches)
        return "; the defaults did not run, so it is not shown to be better than them";
    if (start->judged.reason == not_numbers)
        return "; the outputs of the defaults are NaN or infinite";
    if (isfinite(start->ratio.ratio) && start->ratio.ci.known)
        return assay__arena_text(
            arena,
            start->ratio.p_value < 0.05 ? ": %s × %s the defaults (95 %% CI %s)"
                                        : ": tied with the defaults (%s × %s them, 95 %% CI %s)",
            assay__digits(start->ratio.ratio, 3).text, better,
            assay__digits_range(start->ratio.ci.low, start->ratio.ci.high).text);
    if (!isfinite(ratio)) return "";
    return assay__arena_text(arena, ": about %s × %s the defaults, not tested",
                             assay__digits(ratio, 3).text, better);
}

/* The best compared with the defaults; then its settings that can be reset, one at a time, without
 * a difference: resetting all of them at once was not tried. */
static const char *say_best(const struct assay__tune_result *out, struct assay__arena *arena)
{
    static const char *const goals[] = {"throughput", "latency", "energy per inference"};
    const char *names = "";
    for (size_t i = 0; i < out->part_count; i++) {
        const struct assay__tune_part *part = &out->parts[i];
        if (*part->objection || !part->measured || !(part->ratio.p_value >= 0.05)) continue;
        names = assay__arena_text(arena, "%s%s%s=%s", names, *names ? " or " : "; ",
                                  assay__axis_name(part->axis), part->from);
    }
    return assay__arena_text(
        arena, "best %s%s%s%s%s", goals[out->plan->goal], say_gain(out, arena),
        out->tested ? "" : " (too few launches for a test; a larger budget allows more)", names,
        *names ? " is tied with it" : "");
}

/* If other processes used most of the machine, the numbers stay and the verdict is withdrawn. */
static void withdraw(const struct assay_profile *profile, struct assay__tune_result *out,
                     struct assay__arena *arena)
{
    const char *withdrawn = assay__load_withdraws(profile, arena);
    if (!*withdrawn) return;
    out->why = assay__arena_text(arena, "%s; as measured, %s: %s", withdrawn,
                                 out->rows[out->best].judged.label, say_best(out, arena));
    out->withdrawn = true;
    out->unconfirmed = "";
    out->best = SIZE_MAX;
    out->part_count = 0;
    out->tested = out->confirmed = false;
    for (size_t i = 0; i < out->count; i++)
        out->rows[i].alike = false;
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
    collect(profile, arena, out);
    for (size_t i = 0; i < out->count; i++) {
        fill_row(profile, arena, &out->rows[i]);
        if (out->rows[i].start) out->start = i;
        out->configurations += out->rows[i].searched;
        out->failed += out->rows[i].searched && out->rows[i].fate == ASSAY__FATE_FAILED;
    }
    find_best(profile, arena, out);
    find_front(out);
    assay__tune_find_parts(profile, arena, out);
    if (out->best == SIZE_MAX) {
        out->why = why_none(profile, out, arena);
    } else {
        out->why = assay__arena_text(arena, "%s%s", say_best(out, arena),
                                     assay__load_caveat(profile, arena));
        out->unconfirmed = say_unconfirmed(out, arena);
        withdraw(profile, out, arena);
    }
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
