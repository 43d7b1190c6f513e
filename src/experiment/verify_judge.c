/* verify_judge.c - what a trial of a change says. The gain is the ratio of the times of one sample,
 * without over with the change, of the launches' medians:
 *
 *     gain = median(p50 / batch without) / median(p50 / batch with)
 *
 * so that a change of the batch is judged by samples per second (of one stream), every other one by
 * latency. It helps when the 95 % interval lies above 1 and the outputs are within the limit of its
 * kind (change.c); otherwise the finding is withdrawn. Energy is told, with an interval where every
 * launch has a number of its own; only threads that sleep instead of spinning may be verified by it
 * alone. */
#include "experiment/verify_attempt.h"

#include "judge/comparison.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST ASSAY__COMPARISON_LAUNCHES

static const struct assay__ratio unknown = ASSAY__RATIO_UNKNOWN;

static const char *say(struct assay__verifying *v, const char *text)
{
    if (!text) v->advice->failed = true;
    return text ? text : "";
}

static double batch_of(const struct assay__trial *trial)
{
    return trial->batch > 0 ? (double)trial->batch : 1;
}

/* Medians of one sample's time; the first `most` launches. */
static double *times_of(const struct assay__trial *trial, size_t most, size_t *count)
{
    double *medians = assay__trial_costs(trial, "latency.p50", count);
    if (medians && *count > most) *count = most;
    for (size_t i = 0; medians && i < *count; i++)
        medians[i] /= batch_of(trial);
    return medians;
}

static double energy_of(const struct assay__trial *trial)
{
    return assay__trial_value(trial, "energy.inference.gross") / batch_of(trial);
}

/* By launches where each has its own number, which an interval needs; else by the two trials'
 * numbers. */
static int judge_energy(const struct assay__trial *without, const struct assay__trial *with,
                        struct assay__ratio *energy)
{
    const char *reason = "";
    double scale = batch_of(without) / batch_of(with);
    int code = assay__comparison_launches(without, with, "energy.inference.gross", energy, &reason);
    if (code) return code;
    if (isfinite(energy->ratio)) {
        energy->ratio *= scale;
        energy->ci.low *= scale;
        energy->ci.high *= scale;
    } else {
        *energy = unknown;
        energy->ratio = energy_of(with) / energy_of(without);
    }
    return 0;
}

/* The limit of several changes is that of the roughest. NaN: one of them changes the inputs. */
static double limit_of(const struct assay__attempt *attempt)
{
    double limit = 0;
    for (size_t i = 0; i < attempt->change_count; i++) {
        double one = assay__change_drift_limit(attempt->changes[i]->kind);
        if (isnan(one)) return NAN;
        limit = fmax(limit, one);
    }
    return limit;
}

static bool is_rewritten(const struct assay__attempt *attempt)
{
    for (size_t i = 0; i < attempt->change_count; i++)
        if (assay__change_is_rewrite(attempt->changes[i])) return true;
    return false;
}

static void judge_drift(struct assay__verifying *v, const struct assay__trial *trial,
                        struct assay__attempt *attempt)
{
    struct assay__number *drift = &attempt->judged.drift;
    const struct assay_metric *m = drift->metric;
    attempt->limit = limit_of(attempt);
    if (isnan(attempt->limit)) {
        drift->value = NAN;
        attempt->drift_note = "not compared: another batch has other inputs";
        return;
    }
    if (isfinite(drift->value)) {
        attempt->drift_note = say(
            v, assay__arena_printf(v->arena, "limit for this change %g", attempt->limit));
        return;
    }
    double most = assay__trial_value(trial, "drift.max_absolute");
    if (most == 0) drift->value = 0; /* all 0, and so is the reference */
    attempt->drift_note = say(
        v, assay__arena_printf(v->arena, "%s: %s", most == 0 ? "equal" : "not compared",
                               m && m->note && *m->note ? m->note : "no outputs were kept"));
}

static void conclude(struct assay__attempt *attempt, const char *state, const char *reason)
{
    attempt->finding_state = state;
    attempt->judged.reason = reason;
}

/* Threads that sleep are meant to save energy: that they do is enough, when nothing becomes
 * slower. */
static bool saves_energy(const struct assay__attempt *attempt)
{
    return attempt->change_count == 1 && attempt->changes[0]->kind == ASSAY__CHANGE_SPINNING_OFF &&
           attempt->energy.ci.high < 1 && !(attempt->judged.drift.value > attempt->limit);
}

/* The numbers are there: do they speak for the change? */
static void judge_gain(struct assay__verifying *v, struct assay__attempt *attempt)
{
    const struct assay__ratio *g = &attempt->gain;
    struct assay__arena *arena = v->arena;
    double drift = attempt->judged.drift.value;
    const char *of = assay__gain_words(attempt->of);
    if (g->ci.high < 1)
        conclude(attempt, "withdrawn",
                 say(v, assay__arena_printf(arena, "tried: %s × %s (%s to %s), slower",
                                            assay__digits(g->ratio, 3).text, of,
                                            assay__digits(g->ci.low, 3).text,
                                            assay__digits(g->ci.high, 3).text)));
    else if (!(g->ci.low > 1) && saves_energy(attempt))
        conclude(attempt, "verified",
                 say(v, assay__arena_printf(arena,
                                            "by its energy: no difference of the latency was shown "
                                            "(this run could have shown %.*f %%)",
                                            g->smallest < 0.1, g->smallest * 100)));
    else if (!(g->ci.low > 1))
        conclude(attempt, "withdrawn",
                 say(v, assay__arena_printf(arena,
                                            "tried: %s × %s (%s to %s); no difference shown, "
                                            "this run could have shown %.*f %%",
                                            assay__digits(g->ratio, 3).text, of,
                                            assay__digits(g->ci.low, 3).text,
                                            assay__digits(g->ci.high, 3).text, g->smallest < 0.1,
                                            g->smallest * 100)));
    else if (drift > attempt->limit)
        conclude(attempt, "withdrawn",
                 say(v, assay__arena_printf(
                            arena,
                            "tried: %s × %s (%s to %s), but the outputs drift: "
                            "relative L2 %.2g, the limit is %g",
                            assay__digits(g->ratio, 3).text, of, assay__digits(g->ci.low, 3).text,
                            assay__digits(g->ci.high, 3).text, drift, attempt->limit)));
    else if (is_rewritten(attempt) && isnan(drift) && !isnan(attempt->limit))
        conclude(attempt, "withdrawn",
                 say(v, assay__arena_printf(
                            arena,
                            "tried: %s × %s (%s to %s), but nobody knows what "
                            "became of the outputs (%s)",
                            assay__digits(g->ratio, 3).text, of, assay__digits(g->ci.low, 3).text,
                            assay__digits(g->ci.high, 3).text, attempt->drift_note)));
    else
        conclude(attempt, "verified", "");
}

/* Without enough launches there is no judgement: why? */
static void judge_short(struct assay__verifying *v, struct assay__attempt *attempt, size_t count,
                        const struct assay__attempt *without)
{
    const struct assay__trial *trial = without->arm == SIZE_MAX
                                           ? NULL
                                           : assay__arms_trial(v->arms, without->arm);
    const char *baseline = "";
    if (trial && trial->state == ASSAY__TRIAL_FAILED)
        baseline = say(
            v, assay__arena_printf(v->arena, "the run without changes fails: %s", trial->reason));
    const char *why = attempt->state == ASSAY__ATTEMPT_LEFT ? "the budget was used up"
                      : v->out->interrupted                 ? "it was interrupted"
                      : *baseline                           ? baseline
                                                            : "too few launches";
    conclude(attempt, "open",
             say(v, count ? assay__arena_printf(v->arena,
                                                "not tried: %s after %zu of %d launches; a verdict "
                                                "needs %d",
                                                why, count, v->out->launches, LEAST)
                          : assay__arena_printf(v->arena, "not tried: %s", why)));
}

int assay__verify_judge(struct assay__verifying *v, const struct assay__attempt *baseline,
                        struct assay__attempt *attempt)
{
    attempt->judged = (struct assay__judged){.drift = {.value = NAN}};
    attempt->gain = attempt->energy = unknown;
    attempt->limit = NAN;
    attempt->of = attempt->drift_note = "";
    if (attempt->arm == SIZE_MAX || baseline->arm == SIZE_MAX) {
        judge_short(v, attempt, 0, baseline);
        return v->advice->failed ? ASSAY_ENOMEM : 0;
    }
    const struct assay__trial *with = assay__arms_trial(v->arms, attempt->arm),
                              *without = assay__arms_trial(v->arms, baseline->arm);
    const struct assay_profile *profile = v->arms->recording.profile;
    if (assay__judged_read(profile, (size_t)(with - profile->trials), v->arena, &attempt->judged))
        return ASSAY_ENOMEM;
    if (with->state == ASSAY__TRIAL_FAILED) {
        conclude(attempt, "withdrawn",
                 say(v, assay__arena_printf(v->arena, "%s: %s",
                                            is_rewritten(attempt)
                                                ? "tried: the rewritten model is refused"
                                                : "tried: it does not run",
                                            with->reason)));
        return v->advice->failed ? ASSAY_ENOMEM : 0;
    }
    size_t a = 0, b = 0;
    double *x = NULL, *y = times_of(with, SIZE_MAX, &b);
    /* the launches that alternated with its own, when it ended earlier */
    x = times_of(without, b < LEAST ? SIZE_MAX : b, &a);
    int code = x && y ? 0 : ASSAY_ENOMEM;
    if (!code && (a < LEAST || b < LEAST)) {
        judge_short(v, attempt, b, baseline);
    } else if (!code) {
        code = assay__stats_compare(y, b, x, a, &attempt->gain);
        attempt->of = with->batch != without->batch ? "samples per second" : "latency";
        if (code == 0) code = judge_energy(without, with, &attempt->energy);
        judge_drift(v, with, attempt);
        judge_gain(v, attempt);
    }
    free(x);
    free(y);
    return code ? code : v->advice->failed ? ASSAY_ENOMEM : 0;
}

/* The scale of potentials (rule.h), of what was measured. Verified by its energy alone, it has no
 * gain to follow from: the interval holds 1. */
const char *assay__verify_severity(const struct assay__finding *f)
{
    const char *state = f->state ? f->state : "";
    if (strcmp(state, "withdrawn") == 0) return "note";
    if (strcmp(state, "verified") != 0 || !(f->verified_low > 1)) return f->severity;
    if (f->verified_gain >= ASSAY__GAIN_HIGH) return "high";
    return f->verified_gain >= ASSAY__GAIN_MEDIUM ? "medium" : "low";
}

void assay__verify_fill(const struct assay__attempt *attempt, struct assay__finding *f)
{
    f->state = attempt->finding_state;
    f->reason = attempt->judged.reason;
    f->tried = attempt->arm == SIZE_MAX || strcmp(f->state, "open") == 0 ? "" : attempt->words;
    f->verified_gain = attempt->gain.ratio;
    f->verified_low = attempt->gain.ci.low;
    f->verified_high = attempt->gain.ci.high;
    f->verified_smallest = attempt->gain.smallest;
    f->verified_energy = attempt->energy.ratio;
    f->verified_energy_low = attempt->energy.ci.low;
    f->verified_energy_high = attempt->energy.ci.high;
    f->verified_drift = attempt->judged.drift.value;
    f->verified_of = attempt->of;
    f->drift_note = attempt->drift_note;
    f->severity = assay__verify_severity(f);
}

int assay__verify_add_combined(struct assay__verifying *v)
{
    struct assay_profile *profile = v->advice->profile;
    size_t count = profile->finding_count, parts = 0;
    struct assay__finding *all = assay__arena_array(v->arena, count + 1, sizeof *all), *f;
    const char **evidence = assay__arena_array(v->arena, v->all.change_count + 1, sizeof *evidence);
    const struct assay__attempt *best = NULL;
    double product = 1;
    if (!all || !evidence) return ASSAY_ENOMEM;
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__attempt *one = &v->attempts[i];
        for (size_t k = 0; k < v->all.change_count; k++) {
            if (v->all.changes[k] != one->changes[0]) continue;
            product *= one->gain.ratio;
            if (!best || one->gain.ratio > best->gain.ratio) best = one;
            evidence[parts++] = say(v,
                                    assay__arena_printf(v->arena, "%s alone: %s × %s", one->words,
                                                        assay__digits(one->gain.ratio, 3).text,
                                                        assay__gain_words(one->of)));
        }
    }
    if (count) memcpy(all, profile->findings, count * sizeof *all);
    f = &all[count];
    *f = (struct assay__finding){
        .id = ASSAY__VERIFY_COMBINED,
        .severity = "note",
        .title = "The changes that helped, together",
        .advice = say(v, assay__arena_printf(v->arena, "make all of them: %s", v->all.words)),
        .evidence = evidence,
        .evidence_count = parts,
        .expected_gain = product, /* if gains multiplied: what is measured says whether they do */
        .effort = "medium",
        .energy_saving = NAN,
    };
    assay__verify_fill(&v->all, f);
    if (best && best->gain.ratio > v->all.gain.ratio && strcmp(f->state, "verified") == 0)
        f->reason = say(v, assay__arena_printf(v->arena, "less than %s alone: %s × %s (%s to %s)",
                                               best->words, assay__digits(best->gain.ratio, 3).text,
                                               assay__gain_words(best->of),
                                               assay__digits(best->gain.ci.low, 3).text,
                                               assay__digits(best->gain.ci.high, 3).text));
    profile->findings = all;
    profile->finding_count = count + 1;
    return v->advice->failed ? ASSAY_ENOMEM : 0;
}
