/* headline.c - see headline.h. A sentence is its first part and as many of the others, in order of
 * importance, as fit within the word limit. */
#include "judge/headline.h"

#include "base/text.h"
#include "judge/verdict.h"
#include "judge/waterfall.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NAME_WORDS = 4 }; /* of a label; the rest is cut off */

/* --- words ------------------------------------------------------------------------------------ */

static const char busy[] = "Not judged: other processes used most of the machine. Measure again "
                           "on an idle machine.";

/* Where the text ends after that many words. */
static size_t end_of(const char *text, size_t words)
{
    const char *at = text;
    for (size_t i = 0; i < words && *at; i++) {
        at += strspn(at, " ");
        at += strcspn(at, " ");
    }
    return (size_t)(at - text);
}

/* A name of a few words. */
static const char *name_of(const char *name, struct assay__arena *arena)
{
    size_t end = end_of(name, NAME_WORDS);
    return name[end] ? assay__arena_text(arena, "%.*s…", (int)end, name) : name;
}

const char *assay__headline_cut(const char *text, struct assay__arena *arena)
{
    if (assay__count_words(text) <= ASSAY__VERDICT_WORDS) return text;
    size_t end = end_of(text, ASSAY__VERDICT_WORDS), clause = end;
    while (clause && !(strchr(";:.", text[clause - 1]) && (!text[clause] || text[clause] == ' ')))
        clause--; /* the point of 98.8 ends nothing */
    if (clause > end / 3) return assay__arena_text(arena, "%.*s.", (int)clause - 1, text);
    return assay__arena_text(arena, "%.*s…", (int)end, text);
}

/* The line with the part appended, or without it if it would become too long. */
static const char *extend(const char *line, const char *part, struct assay__arena *arena)
{
    size_t words = assay__count_words(line) + assay__count_words(part);
    return words > ASSAY__VERDICT_WORDS ? line : assay__arena_text(arena, "%s%s", line, part);
}

/* --- how much better -------------------------------------------------------------------------- */

/* A gain of g as text: in percent below 2, else "3.2 × …". */
struct gain_words {
    const char *percent, *times;
    bool saves; /* the percentage is the time or energy saved, 1 - 1/g */
};
static const struct gain_words faster = {"faster than", "as fast as", true},
                               slower = {"slower than", "the time of", false},
                               more = {"more throughput than", "the throughput of", false},
                               frugal = {"less energy than", "as efficient as", true};
static const struct gain_words *const by_goal[] = {&more, &faster, &frugal};

/* "12 % faster than", "3.2 × as fast as", "(8 to 15 %)", "(2.9 to 3.4)" */
static const char *say_gain(double gain, const struct gain_words *words, struct assay__arena *arena)
{
    if (gain >= 2)
        return assay__arena_text(arena, "%s × %s", assay__digits(gain, 3).text, words->times);
    double part = words->saves ? 1 - 1 / gain : gain - 1;
    return assay__arena_text(arena, "%s %% %s", assay__digits(part * 100, 2).text, words->percent);
}

static const char *say_interval(double gain, struct assay__interval ci,
                                const struct gain_words *words, struct assay__arena *arena)
{
    if (!ci.known) return "";
    if (gain >= 2)
        return assay__arena_text(arena, " (%s)", assay__digits_range(ci.low, ci.high).text);
    double low = words->saves ? 1 - 1 / ci.low : ci.low - 1,
           high = words->saves ? 1 - 1 / ci.high : ci.high - 1;
    return assay__arena_text(arena, " (%s to %s %%)", assay__digits(low * 100, 2).text,
                             assay__digits(high * 100, 2).text);
}

static struct assay__interval inverse(struct assay__interval ci)
{
    return (struct assay__interval){1 / ci.high, 1 / ci.low, ci.known};
}

/* --- several profiles ------------------------------------------------------------------------- */

/* Further details, as far as they fit: the likeliest cause, the operator that changed the most, the
 * times. */
static const char *add_causes(const char *line, const struct assay__diff *diff, size_t side,
                              struct assay__arena *arena)
{
    const struct assay__diff_cause *cause = diff->cause_count ? &diff->causes[0] : NULL;
    struct assay__waterfall steps = assay__waterfall(diff, side, arena);
    const struct assay__waterfall_step *step = assay__waterfall_largest(&steps);
    if (cause && cause->weight >= 80)
        line = extend(line,
                      assay__arena_text(arena, " Likely cause: %s %s → %s.", cause->name,
                                        *cause->values[0] ? cause->values[0] : "—",
                                        *cause->values[side] ? cause->values[side] : "—"),
                      arena);
    if (step && (step->change_ns < 0) == (steps.to_ns < steps.from_ns))
        line = extend(line,
                      assay__arena_text(arena, " Most in %s: %s%s.", name_of(step->name, arena),
                                        step->change_ns < 0 ? "−" : "+",
                                        assay__scaled(fabs(step->change_ns) / 1e9, "s").text),
                      arena);
    return extend(line,
                  assay__arena_text(arena, " %s, was %s.",
                                    assay__scaled(steps.to_ns / 1e9, "s").text,
                                    assay__scaled(steps.from_ns / 1e9, "s").text),
                  arena);
}

/* One run against the base. */
static const char *compare_side(const struct assay__diff *diff,
                                const struct assay__diff_metric *p50, size_t side,
                                struct assay__arena *arena)
{
    const struct assay__diff_delta *d = &p50->deltas[side];
    const char *base = name_of(diff->sides[0].name, arena),
               *own = name_of(diff->sides[side].name, arena);
    if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE)
        return assay__arena_text(
            arena, "%s cannot be compared with %s: one of them has no latency.", own, base);
    struct assay__digits mine = assay__scaled(p50->values[side]->value, "s"),
                         its = assay__scaled(p50->values[0]->value, "s");
    if (d->verdict == ASSAY__DIFF_SAME) {
        const char *line = assay__arena_text(arena, "No difference shown: %s %s, %s %s", base,
                                             its.text, own, mine.text);
        if (d->smallest * 100 >= 0.05)
            line = extend(line,
                          assay__arena_text(arena, "; too noisy to detect changes below %s %%",
                                            assay__digits(d->smallest * 100, 2).text),
                          arena);
        return assay__arena_text(arena, "%s.", line);
    }
    if (!assay__diff_is_shown(d->verdict))
        return assay__arena_text(arena,
                                 "%s took %s, %s %s; too few launches to say whether they differ.",
                                 own, mine.text, base, its.text);
    bool better = d->ratio < 1;
    const struct gain_words *words = better ? &faster : &slower;
    double gain = better ? 1 / d->ratio : d->ratio;
    const char *line = assay__arena_text(
        arena, "%s %s %s %s%s.", own, !better && gain >= 2 ? "takes" : "is",
        say_gain(gain, words, arena), base,
        say_interval(gain, better ? inverse(d->ci) : d->ci, words, arena));
    return add_causes(line, diff, side, arena);
}

const char *assay__headline_diff(const struct assay__diff *diff, struct assay__arena *arena)
{
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    size_t counts[2] = {0, 0}, unjudged = 0, most = 0;
    double largest = 0;
    if (!p50) return "No profile has a latency: only what else was recorded is compared.";
    if (diff->count == 2) return compare_side(diff, p50, 1, arena);
    for (size_t i = 1; i < diff->count; i++) {
        const struct assay__diff_delta *d = &p50->deltas[i];
        unjudged += d->verdict == ASSAY__DIFF_UNJUDGED;
        if (!assay__diff_is_shown(d->verdict)) continue;
        counts[d->ratio > 1]++;
        if (!(fabs(log(d->ratio)) > largest)) continue;
        largest = fabs(log(d->ratio));
        most = i;
    }
    const char *base = name_of(diff->sides[0].name, arena);
    if (unjudged == diff->count - 1)
        return assay__arena_text(
            arena, "Too few launches to say which of %zu runs are faster or slower than %s.",
            diff->count - 1, base);
    const char *line = assay__arena_text(arena, "Of %zu runs, %zu faster and %zu slower than %s%s.",
                                         diff->count - 1, counts[0], counts[1], base,
                                         unjudged ? "; others have too few launches" : "");
    if (!most) return line;
    return extend(line,
                  assay__arena_text(arena, " Largest change: %s, %s × the time.",
                                    name_of(diff->sides[most].name, arena),
                                    assay__digits(p50->deltas[most].ratio, 3).text),
                  arena);
}

/* --- a comparison ----------------------------------------------------------------------------- */

static size_t side_of(const struct assay__layer_changes *changes,
                      const struct assay__comparison_row *row)
{
    for (size_t s = 0; s < changes->diff.count; s++)
        if (changes->trials[s] == row->judged.trial) return s;
    return SIZE_MAX;
}

/* Which operator accounts for most of the difference between the best and the reference. */
static const char *add_operator(const char *line, const struct assay__layer_changes *changes,
                                const struct assay__comparison_row *a,
                                const struct assay__comparison_row *b, struct assay__arena *arena)
{
    size_t sides[] = {side_of(changes, a), side_of(changes, b)};
    size_t other = sides[0] == 0 ? sides[1] : sides[0];
    const struct assay__operator_change *most = NULL;
    if (*changes->reason || (sides[0] != 0 && sides[1] != 0) || other == SIZE_MAX) return line;
    for (size_t o = 0; o < changes->operator_count; o++) {
        double change = changes->operators[o].deltas[other].difference;
        if (isfinite(change) && (!most || fabs(change) > fabs(most->deltas[other].difference)))
            most = &changes->operators[o];
    }
    if (!most) return line;
    return extend(
        line,
        assay__arena_text(arena, " Most of it: %s, %s.", name_of(most->op, arena),
                          assay__scaled(fabs(most->deltas[other].difference) / 1e9, "s").text),
        arena);
}

const char *assay__headline_comparison(const struct assay__comparison *all,
                                       const struct assay__layer_changes *changes,
                                       struct assay__arena *arena)
{
    const struct assay__recommendation *r = &all->recommendations[ASSAY__FOR_LATENCY];
    if (r->withdrawn) return busy;
    if (r->first == SIZE_MAX || r->second == SIZE_MAX) return assay__headline_cut(r->why, arena);
    const struct assay__comparison_row *first = &all->rows[r->first],
                                       *second = &all->rows[r->second];
    const char *a = name_of(first->judged.label, arena), *b = name_of(second->judged.label, arena),
               *line = NULL;
    struct assay__digits mine = assay__scaled(first->judged.latency.value, "s"),
                         its = assay__scaled(second->judged.latency.value, "s");
    if (r->row == SIZE_MAX && !isfinite(r->ratio.ratio))
        return assay__arena_text(arena,
                                 "%s took %s, %s %s; too few launches to say whether they differ.",
                                 a, mine.text, b, its.text);
    if (r->row == SIZE_MAX)
        return assay__arena_text(arena, "No difference shown between %s (%s) and %s (%s).", a,
                                 mine.text, b, its.text);
    line = assay__arena_text(arena, "%s is %s %s%s", a, say_gain(r->ratio.ratio, &faster, arena), b,
                             say_interval(r->ratio.ratio, r->ratio.ci, &faster, arena));
    line = extend(line, assay__ratio_by_words(r->ratio.by), arena);
    line = assay__arena_text(arena, "%s.", line);
    for (size_t i = 0; i < all->count; i++)
        if (*all->rows[i].unadvised)
            line = extend(line,
                          assay__arena_text(arena, " Not recommended: %s.",
                                            name_of(all->rows[i].judged.label, arena)),
                          arena);
    line = add_operator(line, changes, first, second, arena);
    return extend(line, assay__arena_text(arena, " %s and %s.", mine.text, its.text), arena);
}

/* --- a sweep ---------------------------------------------------------------------------------- */

const char *assay__headline_sweep(const struct assay_profile *profile,
                                  const struct assay__sweep *sweep, struct assay__arena *arena)
{
    static const char *const words[] = {"the throughput of", "as fast as", "as efficient as"};
    enum assay__plan_goal goal = profile->plan.goal;
    if (sweep->withdrawn) return busy;
    if (sweep->best == SIZE_MAX)
        return assay__headline_cut(assay__arena_text(arena, "%s.", sweep->why), arena);
    const struct assay__sweep_point *best = &sweep->points[sweep->best];
    const struct assay__judged *j = &best->judged;
    const char *unit = goal == ASSAY__PLAN_LATENCY ? "s" : goal == ASSAY__PLAN_ENERGY ? "J" : "1/s";
    double value = goal == ASSAY__PLAN_LATENCY  ? j->latency.value
                   : goal == ASSAY__PLAN_ENERGY ? j->energy.value / best->sequence
                                                : j->throughput.value * best->sequence;
    const char *line = assay__arena_text(arena, "Best %s: %s, %s", assay__plan_goal_name(goal),
                                         name_of(j->label, arena), assay__scaled(value, unit).text);
    if (sweep->base != SIZE_MAX && sweep->base_gain >= 1.005)
        line = extend(line,
                      assay__arena_text(arena, ", %s × %s %s",
                                        assay__digits(sweep->base_gain, 3).text, words[goal],
                                        name_of(sweep->points[sweep->base].judged.label, arena)),
                      arena);
    const char *tied = "";
    if (sweep->alike_count == 1)
        tied = assay__arena_text(arena, "; tied with %s",
                                 name_of(sweep->points[sweep->alike[0]].judged.label, arena));
    else if (sweep->alike_count)
        tied = assay__arena_text(arena, "; %zu others are tied", sweep->alike_count);
    return assay__arena_text(arena, "%s.", extend(line, tied, arena));
}

/* --- a tuning --------------------------------------------------------------------------------- */

/* "threads=1 spinning=off": what it sets differently from the start; "" nothing. */
static const char *changed_settings(const struct assay_profile *profile,
                                    const struct assay__tune_result *result,
                                    struct assay__arena *arena)
{
    const struct assay__trial *best = &profile->trials[result->rows[result->best].judged.trial],
                              *start = &profile->trials[result->rows[result->start].judged.trial];
    const char *text = "";
    for (size_t a = 0; a < result->axes.count; a++) {
        enum assay__axis axis = result->axes.items[a];
        const char *own = assay__trial_axis(best, axis);
        if (strcmp(own, assay__trial_axis(start, axis)) != 0)
            text = assay__arena_text(arena, "%s%s%s=%s", text, *text ? " " : "",
                                     assay__axis_name(axis), own);
    }
    return text;
}

/* The number of the goal in the table of configurations. */
static struct assay__digits cost_text(const struct assay__tune_row *row, enum assay__plan_goal goal)
{
    const struct assay__judged *j = &row->judged;
    if (goal == ASSAY__PLAN_THROUGHPUT) return assay__scaled(j->throughput.value, "1/s");
    if (goal == ASSAY__PLAN_ENERGY) return assay__scaled(j->energy.value, "J");
    return assay__scaled(j->latency.value, "s");
}

const char *assay__headline_tune(const struct assay_profile *profile,
                                 const struct assay__tune_result *result,
                                 struct assay__arena *arena)
{
    enum assay__plan_goal goal = result->plan->goal;
    if (result->withdrawn) return busy;
    if (result->best == SIZE_MAX)
        return assay__headline_cut(assay__arena_text(arena, "%s.", result->why), arena);
    const struct assay__tune_row *best = &result->rows[result->best];
    struct assay__digits mine = cost_text(best, goal);
    if (result->best == result->start)
        return assay__arena_text(arena,
                                 result->tested
                                     ? "Keep the defaults, %s: no other of %zu configurations "
                                       "was shown to be better."
                                     : "The defaults, %s, look best of %zu configurations; "
                                       "too few launches to be sure.",
                                 mine.text, result->configurations);
    if (result->start == SIZE_MAX || !result->rows[result->start].launches)
        return assay__arena_text(arena, "Best %s: %s, %s; the defaults did not run.",
                                 assay__plan_goal_name(goal), name_of(best->judged.label, arena),
                                 mine.text);
    const struct assay__tune_row *start = &result->rows[result->start];
    const char *label = name_of(changed_settings(profile, result, arena), arena);
    double gain = start->cost / best->cost;
    if (!result->confirmed)
        return assay__arena_text(arena,
                                 result->tested
                                     ? "%s: %s, tied with the defaults: %s; nothing was shown to "
                                       "be better."
                                     : "%s: %s, the defaults %s; too few launches to be sure.",
                                 label, mine.text, cost_text(start, goal).text);
    const char *line = assay__arena_text(
        arena, "%s: %s the defaults%s, %s instead of %s.", label,
        say_gain(isfinite(start->ratio.ratio) ? start->ratio.ratio : gain, by_goal[goal], arena),
        say_interval(start->ratio.ratio, start->ratio.ci, by_goal[goal], arena), mine.text,
        cost_text(start, goal).text);
    return line;
}

/* --- benchmarks ------------------------------------------------------------------------------- */

const char *assay__headline_bench(const struct assay__bench *bench, struct assay__arena *arena)
{
    size_t judged = bench->faster + bench->slower + bench->same;
    if (judged)
        return assay__arena_text(arena,
                                 "Of %zu benchmarks, %zu are faster than the baseline, %zu slower; "
                                 "%zu show no difference.",
                                 judged, bench->faster, bench->slower, bench->same);
    const char *line = bench->usable == bench->count
                           ? assay__arena_text(arena, "%zu benchmarks measured", bench->usable)
                           : assay__arena_text(arena, "%zu of %zu benchmarks measured",
                                               bench->usable, bench->count);
    if (bench->least_efficient == SIZE_MAX) return assay__arena_text(arena, "%s.", line);
    const struct assay__bench_row *least = &bench->rows[bench->least_efficient];
    if (bench->efficient_count == 1)
        return assay__arena_text(arena, "%s; kernel efficiency of %s: %s %%.", line,
                                 name_of(least->judged.label, arena),
                                 assay__digits(least->efficiency * 100, 2).text);
    if (!isfinite(bench->efficiency))
        return assay__arena_text(arena, "%s; the lowest kernel efficiency is that of %s: %s %%.",
                                 line, name_of(least->judged.label, arena),
                                 assay__digits(least->efficiency * 100, 2).text);
    const char *known = bench->efficient_count < bench->usable
                            ? assay__arena_text(arena, " (of %zu)", bench->efficient_count)
                            : "";
    return assay__arena_text(arena, "%s; median kernel efficiency %s %%%s, lowest in %s: %s %%.",
                             line, assay__digits(bench->efficiency * 100, 2).text, known,
                             name_of(least->judged.label, arena),
                             assay__digits(least->efficiency * 100, 2).text);
}

const char *assay__headline(struct assay__study *study)
{
    const struct assay_profile *profile = study->profile;
    if (profile->trial_count < 2) return "";
    switch (profile->kind) {
    case ASSAY__PROFILE_COMPARE:
        return assay__headline_comparison(assay__study_comparison(study),
                                          assay__study_changes(study), study->arena);
    case ASSAY__PROFILE_SWEEP:
        return assay__headline_sweep(profile, assay__study_sweep(study), study->arena);
    case ASSAY__PROFILE_TUNE:
        return assay__headline_tune(profile, assay__study_tune(study), study->arena);
    case ASSAY__PROFILE_BENCH:
        return assay__headline_bench(assay__study_bench(study), study->arena);
    default: return "";
    }
}
