/* verify_judge.c - whether a change helped. The gain is the ratio of the times per sample, without
 * the change over with it, by launch medians:
 *
 *     gain = median(p50 / batch without) / median(p50 / batch with)
 *
 * so that a change of the batch is judged by samples per second (of one stream), every other one by
 * latency. It helps if the 95 % interval is above 1 and the outputs are within the limit of its
 * kind (change.c), by relative L2 or, if they are within ±1, by the largest difference; otherwise
 * the finding is withdrawn. Energy is reported, with an interval if every launch has a number; only
 * threads that sleep instead of spinning may be verified by it alone. */
#include "experiment/verify_attempt.h"

#include "judge/comparison.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WITHIN_ONE "Sigmoid|Softmax|Tanh|HardSigmoid"
#define MOVES "Identity|Reshape|Flatten|Squeeze|Unsqueeze|Transpose"
#define LEAST ASSAY__COMPARISON_LAUNCHES

static double batch_of(const struct assay__trial *trial)
{
    return trial->batch > 0 ? (double)trial->batch : 1;
}

/* Medians of the time per sample; the first `most` launches. */
static struct assay__launch_values times_of(const struct assay__trial *trial, size_t most,
                                            struct assay__arena *arena)
{
    struct assay__launch_values medians = assay__launch_values(trial, "latency.p50", arena);
    if (medians.count > most) medians.count = most;
    for (size_t i = 0; i < medians.count; i++)
        medians.items[i] /= batch_of(trial);
    return medians;
}

static bool is_rewritten(const struct assay__attempt *attempt)
{
    for (size_t i = 0; i < attempt->change_count; i++)
        if (assay__change_is_rewrite(attempt->changes[i])) return true;
    return false;
}

static void conclude(struct assay__attempt *attempt, const char *state, const char *reason)
{
    attempt->finding_state = state;
    attempt->judged.reason = reason;
}

/* The numbers exist: whether they favour the change. */
static void judge_gain(struct assay__attempt *attempt, struct assay__arena *arena)
{
    const struct assay__ratio *g = &attempt->gain;
    double drift = attempt->judged.drift.value;
    const char *tried = assay__arena_text(
                   arena, "tried: %s × %s (%s to %s)", assay__digits(g->ratio, 3).text,
                   assay__gain_words(attempt->of), assay__digits(g->ci.low, 3).text,
                   assay__digits(g->ci.high, 3).text),
               *noise = assay__arena_text(arena, "too noisy to detect changes below %.*f %%",
                                          g->smallest < 0.1, g->smallest * 100);
    /* sleeping threads are meant to save energy: that is enough, if nothing becomes slower */
    bool saves = attempt->change_count == 1 &&
                 attempt->changes[0]->kind == ASSAY__CHANGE_SPINNING_OFF &&
                 attempt->energy.ci.high < 1 && !attempt->drifts;
    if (g->ci.high < 1)
        conclude(attempt, "withdrawn", assay__arena_text(arena, "%s, slower", tried));
    else if (!(g->ci.low > 1) && saves)
        conclude(attempt, "verified",
                 assay__arena_text(
                     arena, "verified by its energy: no difference in latency shown (%s)", noise));
    else if (!(g->ci.low > 1))
        conclude(attempt, "withdrawn",
                 assay__arena_text(arena, "%s; no difference shown, %s", tried, noise));
    else if (attempt->drifts)
        conclude(attempt, "withdrawn",
                 assay__arena_text(arena,
                                   "%s, but the outputs drift: relative L2 %.2g, the limit is %g",
                                   tried, drift, attempt->limit));
    else if (is_rewritten(attempt) && isnan(drift) && !isnan(attempt->limit))
        conclude(attempt, "withdrawn",
                 assay__arena_text(arena, "%s, but the drift of the outputs is unknown (%s)", tried,
                                   attempt->drift_note));
    else
        conclude(attempt, "verified", "");
}

/* It was tried, and its times say nothing. */
static void withdraw(struct assay__attempt *attempt, const char *reason)
{
    static const struct assay__ratio unknown = ASSAY__RATIO_UNKNOWN;
    conclude(attempt, "open", reason);
    attempt->gain = attempt->energy = unknown;
    attempt->busy = true;
}

void assay__verify_judge_load(struct assay__attempt *attempt, double load,
                              struct assay__arena *arena)
{
    bool threads = false;
    if (load >= ASSAY__BUSY_MUCH && !attempt->drifts) { /* neither a gain nor a loss is shown */
        withdraw(attempt, assay__arena_text(
                              arena,
                              "withdrawn: machine busy (%.0f %% used by others); as measured: %s "
                              "× %s",
                              load * 100, assay__digits(attempt->gain.ratio, 3).text,
                              assay__gain_words(attempt->of)));
        return;
    }
    if (!(load >= ASSAY__BUSY_SHARE) || strcmp(attempt->finding_state, "verified") != 0) return;
    for (size_t i = 0; i < attempt->change_count; i++)
        threads |= attempt->changes[i]->kind == ASSAY__CHANGE_THREADS ||
                   attempt->changes[i]->kind == ASSAY__CHANGE_SPINNING_OFF;
    if (!threads) {
        attempt->judged.reason = assay__arena_text(
            arena, "%s%sother processes used up to %.0f %% of the CPU time at the same time",
            attempt->judged.reason, *attempt->judged.reason ? "; " : "", load * 100);
        return;
    }
    withdraw(attempt,
             assay__arena_text(
                 arena,
                 "tried: %s × %s, but other processes used up to %.0f %% of the CPU time, which "
                 "affects the best number of threads: try again when they have finished",
                 assay__digits(attempt->gain.ratio, 3).text, assay__gain_words(attempt->of),
                 load * 100));
}

/* Whether all outputs come from operators whose results are within ±1. A number near 0 among them
 * has no more accurate digits than one near 1, so errors are measured relative to 1, not to its own
 * size. */
static bool within_one(const struct assay__advice *advice)
{
    const struct assay__graph *graph = advice->model ? &advice->model->graph : NULL;
    bool all = graph && graph->output_count;
    for (size_t i = 0; all && i < graph->output_count; i++) {
        size_t made = assay__advice_producer(advice, graph->outputs[i].name);
        for (int hops = 0; made != SIZE_MAX && hops < 8;
             hops++) { /* operators that only move numbers */
            if (!assay__op_among(graph->nodes[made].op, MOVES)) break;
            made = assay__advice_producer(advice, graph->nodes[made].inputs[0]);
        }
        all = made != SIZE_MAX && assay__op_among(graph->nodes[made].op, WITHIN_ONE);
    }
    return all;
}

/* The limit of several changes is the largest one; there is none if one of them changes the
 * inputs. */
static void judge_drift(const struct assay__verifying *v, const struct assay__trial *trial,
                        struct assay__attempt *attempt)
{
    struct assay__arena *arena = v->arena;
    struct assay__number *drift = &attempt->judged.drift;
    const struct assay_metric *m = drift->metric;
    double most = assay__trial_value(trial, "drift.max_absolute");
    bool compared = true;
    attempt->limit = 0;
    for (size_t i = 0; i < attempt->change_count; i++) {
        double one = assay__change_drift_limit(attempt->changes[i]->kind);
        compared &= !isnan(one);
        attempt->limit = fmax(attempt->limit, one);
    }
    if (!compared) {
        attempt->limit = drift->value = NAN;
        attempt->drift_note = "not compared: a different batch has different inputs";
    } else if (isfinite(drift->value) && most <= attempt->limit && within_one(v->advice)) {
        attempt->drift_note = assay__arena_text(
            arena, "output values are within ±1 and differ by at most %.2g; the limit is %g", most,
            attempt->limit);
    } else if (isfinite(drift->value)) {
        attempt->drifts = drift->value > attempt->limit;
        attempt->drift_note = assay__arena_text(arena, "limit for this change %g", attempt->limit);
    } else {
        if (most == 0) drift->value = 0; /* all 0, and so is the reference */
        attempt->drift_note = assay__arena_text(
            arena, "%s: %s", most == 0 ? "equal" : "not compared",
            m && m->note && *m->note ? m->note : "no outputs were saved");
    }
}

/* By launches if each has a number, which an interval needs; else by those of the two trials. */
static struct assay__ratio energy_ratio(const struct assay__trial *without,
                                        const struct assay__trial *with, struct assay__arena *arena)
{
    static const char energy[] = "energy.inference.gross";
    const char *none = "";
    double scale = batch_of(without) / batch_of(with);
    struct assay__ratio ratio = assay__comparison_launches(without, with, energy, arena, &none);
    if (!isfinite(ratio.ratio))
        ratio.ratio = assay__trial_value(with, energy) / assay__trial_value(without, energy);
    ratio.ratio *= scale;
    ratio.ci.low *= scale;
    ratio.ci.high *= scale;
    return ratio;
}

/* Without enough launches there is no verdict: the reason. */
static void judge_short(struct assay__verifying *v, struct assay__attempt *attempt, size_t count,
                        const struct assay__attempt *without)
{
    const struct assay__trial *trial = without->arm == SIZE_MAX
                                           ? NULL
                                           : assay__arms_trial(v->arms, without->arm);
    const char *why = "too few launches";
    if (attempt->state == ASSAY__ATTEMPT_LEFT)
        why = "the budget was used up";
    else if (v->out->interrupted)
        why = "it was interrupted";
    else if (trial && trial->state == ASSAY__TRIAL_FAILED)
        why = assay__arena_text(v->arena, "the run without changes failed: %s", trial->reason);
    conclude(attempt, "open",
             count ? assay__arena_text(v->arena,
                                       "not tried: %s after %zu of %d launches; a verdict needs %d",
                                       why, count, v->out->launches, LEAST)
                   : assay__arena_text(v->arena, "not tried: %s", why));
}

int assay__verify_judge(struct assay__verifying *v, const struct assay__attempt *baseline,
                        struct assay__attempt *attempt)
{
    static const struct assay__ratio unknown = ASSAY__RATIO_UNKNOWN;
    attempt->judged = (struct assay__judged){.drift = {.value = NAN}};
    attempt->gain = attempt->energy = unknown;
    attempt->limit = NAN;
    attempt->drifts = false;
    attempt->of = attempt->drift_note = "";
    if (attempt->arm == SIZE_MAX || baseline->arm == SIZE_MAX) {
        judge_short(v, attempt, 0, baseline);
        return assay__arena_failed(v->arena) ? ASSAY_ENOMEM : 0;
    }
    const struct assay__trial *with = assay__arms_trial(v->arms, attempt->arm),
                              *without = assay__arms_trial(v->arms, baseline->arm);
    const struct assay_profile *profile = v->arms->recording.profile;
    attempt->judged = assay__judged_read(profile, (size_t)(with - profile->trials), v->arena);
    /* from the run without changes only the launches that alternated with its own, if it ended
     * earlier */
    struct assay__launch_values y = times_of(with, SIZE_MAX, v->arena);
    struct assay__launch_values x = times_of(without, y.count < LEAST ? SIZE_MAX : y.count,
                                             v->arena);
    if (with->state == ASSAY__TRIAL_FAILED) {
        conclude(attempt, "withdrawn",
                 assay__arena_text(v->arena, "tried: %s: %s",
                                   is_rewritten(attempt) ? "the engine refuses the rewritten model"
                                                         : "it does not run",
                                   with->reason));
    } else if (x.count < LEAST || y.count < LEAST) {
        judge_short(v, attempt, y.count, baseline);
    } else {
        attempt->gain = assay__launch_ratio(&y, &x, v->arena);
        attempt->of = with->batch != without->batch ? "samples per second" : "latency";
        attempt->energy = energy_ratio(without, with, v->arena);
        judge_drift(v, with, attempt);
        judge_gain(attempt, v->arena);
        assay__verify_judge_load(
            attempt, fmax(assay__other_load(with, 1), assay__other_load(without, 1)), v->arena);
    }
    return assay__arena_failed(v->arena) ? ASSAY_ENOMEM : 0;
}

/* The scale of potentials (rule.h), applied to the measured gain. What was verified by its energy
 * alone has no such gain: the interval contains 1. */
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
    bool open = strcmp(f->state, "open") == 0 && !attempt->busy;
    f->tried = attempt->arm == SIZE_MAX || open ? "" : attempt->words;
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
            evidence[parts++] = assay__arena_text(v->arena, "%s alone: %s × %s", one->words,
                                                  assay__digits(one->gain.ratio, 3).text,
                                                  assay__gain_words(one->of));
        }
    }
    if (count) memcpy(all, profile->findings, count * sizeof *all);
    f = &all[count];
    *f = (struct assay__finding){
        .id = ASSAY__VERIFY_COMBINED,
        .severity = "note",
        .title = "The changes that helped, combined",
        .advice = assay__arena_text(v->arena, "apply all of them: %s", v->all.words),
        .evidence = evidence,
        .evidence_count = parts,
        .expected_gain = product, /* if gains multiplied: the measurement shows whether they do */
        .effort = "medium",
        .energy_saving = NAN,
    };
    assay__verify_fill(&v->all, f);
    if (best && best->gain.ratio > v->all.gain.ratio && strcmp(f->state, "verified") == 0)
        f->reason = assay__arena_text(
            v->arena, "less than %s alone: %s × %s (%s to %s)", best->words,
            assay__digits(best->gain.ratio, 3).text, assay__gain_words(best->of),
            assay__digits(best->gain.ci.low, 3).text, assay__digits(best->gain.ci.high, 3).text);
    profile->findings = all;
    profile->finding_count = count + 1;
    return assay__arena_failed(v->arena) ? ASSAY_ENOMEM : 0;
}

/* --- words ------------------------------------------------------------------------------------ */

/* What a finding needs that a program cannot try by itself: by rule if there is something specific
 * to say, else by family. */
struct word {
    const char *id, *needs;
};

static const struct word by_rule[] = {
    {"bfloat16", "an export in bfloat16, or an option of the engine that assay does not set"},
    {"float64", "an export in float32: there is no rewrite for it"},
    {"fallback", "other operators in the model, or a provider that has them"},
    {"unused-weights", "nothing at run time: it only saves file size and load time"},
    {"constant-outputs", "an export without these outputs"},
    {"cast-chain", "another export: the engine's optimisation is on and keeps them"},
    {"view-chain", "another export: the engine's optimisation is on and keeps them"},
    {"transpose-pair", "another export: the engine's optimisation is on and keeps them"},
    {"identities", "another export: the engine's optimisation is on and keeps them"},
    {"dispatch-bound", "a known batch axis, or a graph of fewer operators"},
    {"batch-small", "a batch axis that can grow"},
    {"rate-required", "a known batch axis, or another model or device"},
    {"size-steps", "a trial whose batch is not a power of two"},
    {"dynamic-shapes", "symbolic dimensions that have names"},
    {"cell-unrolled",
     "a change to the model's exporter: only the zoo's own cells have another form"},
    {"cell-scan", "a change to the model's exporter: only the zoo's own cells have another form"},
    {"sparse-as-dense", "another graph, or a kernel for sparse products"},
    {"cache-growth", "another graph: a cache that is not copied"},
    {"compile-time", "a measurement of program start, not of an inference"},
    {"cold-start", "a measurement of program start, not of an inference"},
    {"first-inference", "a measurement of program start, not of an inference"},
    {"few-samples", "a longer measurement, not another configuration"},
    {"unstable", "a quieter machine"},
    {"latency-tail", "a quieter machine or reserved cores"},
    {"neighbours", "a quieter machine or reserved cores"},
    {"steal", "another machine or instance"},
    {"major-faults", "more memory, or a model file that is already cached"},
};

static const struct word by_family[] = {
    {"target", "the number of cores, which is unknown here"},
    {"graph", "a change to the model by its author"},
    {"fusion", "a change to the model by its author, or the engine's offline optimizer"},
    {"bound", "a change to the model by its author"},
    {"device", "a change to the program that feeds the device"},
    {"machine", "a setting of the machine"},
    {"memory", "a change to the program around the model, or an option that assay does not set"},
    {"requirement", "a choice between what is required and what is possible"},
};

const char *assay__gain_words(const char *of)
{
    if (!of || !*of || strcmp(of, "latency") == 0) return "as fast";
    if (strcmp(of, "samples per second") == 0) return "the samples per second";
    return strcmp(of, "time per token") == 0 ? "as fast per token" : of;
}

const char *assay__verify_needs(const struct assay__rule *rule)
{
    for (size_t i = 0; i < sizeof by_rule / sizeof by_rule[0]; i++)
        if (strcmp(by_rule[i].id, rule->id) == 0) return by_rule[i].needs;
    for (size_t i = 0; i < sizeof by_family / sizeof by_family[0]; i++)
        if (strcmp(by_family[i].id, rule->family) == 0) return by_family[i].needs;
    return "a change that assay cannot apply by itself";
}
