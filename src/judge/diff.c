/* diff.c - compares several profiles: which trial of each profile, how one number is held against
 * another, and the sentences around the rows. */
#include "judge/diff.h"

#include "judge/comparison.h"
#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

const char *assay__diff_verdict_name(enum assay__diff_verdict verdict, enum assay__diff_sense sense)
{
    switch (verdict) {
    case ASSAY__DIFF_NOT_COMPARABLE: return "not comparable";
    case ASSAY__DIFF_UNJUDGED: return "no verdict";
    case ASSAY__DIFF_SAME: return "no difference shown";
    case ASSAY__DIFF_EQUAL: return "the same";
    case ASSAY__DIFF_EXACT: return "differs";
    case ASSAY__DIFF_LOWER:
        return sense == ASSAY__DIFF_TIME   ? "faster"
               : sense == ASSAY__DIFF_RATE ? "slower"
                                           : "lower";
    case ASSAY__DIFF_HIGHER:
        return sense == ASSAY__DIFF_TIME   ? "slower"
               : sense == ASSAY__DIFF_RATE ? "faster"
                                           : "higher";
    }
    return "";
}

bool assay__diff_is_shown(enum assay__diff_verdict verdict)
{
    return verdict == ASSAY__DIFF_LOWER || verdict == ASSAY__DIFF_HIGHER ||
           verdict == ASSAY__DIFF_EXACT;
}

const char *assay__diff_match_name(enum assay__diff_match match)
{
    static const char *const names[] = {"only", "origin", "structure", "name", "position"};
    return names[match];
}

const char *assay__diff_likelihood(int weight)
{
    return weight >= 80 ? "likely" : weight >= 50 ? "possible" : "unlikely";
}

/* --- one number against another --------------------------------------------------------------- */

struct assay__diff_delta assay__diff_no_delta(const char *reason)
{
    return (struct assay__diff_delta){
        NAN, NAN, {NAN, NAN, false}, NAN, NAN, ASSAY__DIFF_NOT_COMPARABLE, reason, reason};
}

static bool all_positive(const struct assay__diff_values *side)
{
    for (size_t i = 0; i < side->launch_count; i++)
        if (!(side->launches[i] > 0)) return false;
    return true;
}

static double median_of(const struct assay__diff_values *side)
{
    double *sorted = malloc((side->launch_count + 1) * sizeof *sorted), median = NAN;
    if (!sorted) return NAN;
    for (size_t i = 0; i < side->launch_count; i++)
        sorted[i] = side->launches[i];
    assay__stats_sort(sorted, side->launch_count);
    if (side->launch_count) median = assay__stats_median(sorted, side->launch_count);
    free(sorted);
    return median;
}

static bool can_be_judged(const struct assay__diff_values *side)
{
    return isfinite(side->value) && side->launch_count >= ASSAY__COMPARISON_LAUNCHES &&
           all_positive(side);
}

bool assay__diff_by_launch(struct assay__diff_values *sides, size_t count)
{
    bool other = false;
    for (size_t s = 1; s < count; s++)
        other |= can_be_judged(&sides[s]);
    if (!other || !can_be_judged(&sides[0])) return false;
    for (size_t s = 0; s < count; s++)
        if (isfinite(sides[s].value) && sides[s].launch_count)
            sides[s].value = median_of(&sides[s]);
    return true;
}

int assay__diff_digits(const struct assay__diff_delta *delta)
{
    double nearest = delta->ci.low > 1 ? delta->ci.low : delta->ci.high;
    int digits = 3;
    char text[40];
    if (!delta->ci.known || (delta->ci.low <= 1 && delta->ci.high >= 1)) return digits;
    for (; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, nearest);
        if (strcmp(text, "1") != 0) break;
    }
    return digits;
}

static void set_verdict(const struct assay__ratio *found, struct assay__diff_delta *out)
{
    out->ratio = found->ratio;
    out->ci = found->ci;
    out->p_value = found->p_value;
    out->smallest = found->smallest;
    out->verdict = found->ci.high < 1  ? ASSAY__DIFF_LOWER
                   : found->ci.low > 1 ? ASSAY__DIFF_HIGHER
                                       : ASSAY__DIFF_SAME;
}

#define NO_INTERVAL "no interval: "

static void no_interval(struct assay__diff_delta *out, const char *reason)
{
    out->reason = reason;
    out->why = reason + sizeof NO_INTERVAL - 1;
}

int assay__diff_delta(const struct assay__diff_values *base, const struct assay__diff_values *other,
                      bool exact, struct assay__diff_delta *out)
{
    *out = assay__diff_no_delta("");
    if (!isfinite(base->value) || !isfinite(other->value)) {
        out->reason = out->why = "one side has no value";
        return 0;
    }
    out->difference = other->value - base->value;
    if (base->value > 0 && other->value > 0) out->ratio = other->value / base->value;
    out->verdict = ASSAY__DIFF_UNJUDGED;
    if (exact) {
        out->verdict = base->value == other->value ? ASSAY__DIFF_EQUAL : ASSAY__DIFF_EXACT;
        return 0;
    }
    if (base->launch_count < ASSAY__COMPARISON_LAUNCHES ||
        other->launch_count < ASSAY__COMPARISON_LAUNCHES) {
        no_interval(out, base->launch_count == 0 || other->launch_count == 0
                             ? NO_INTERVAL "the profiles do not hold it launch by launch"
                             : NO_INTERVAL "each side needs at least 5 launches that ended well "
                                           "(--launches)");
        return 0;
    }
    if (!all_positive(base) || !all_positive(other)) {
        no_interval(out, NO_INTERVAL "a ratio needs values above zero in every launch");
        return 0;
    }
    struct assay__ratio found;
    int code = assay__stats_compare(base->launches, base->launch_count, other->launches,
                                    other->launch_count, &found);
    if (code == ASSAY_ENOMEM) return code;
    if (code || !found.ci.known)
        no_interval(out, NO_INTERVAL "the rank test has no answer");
    else
        set_verdict(&found, out);
    return 0;
}

const struct assay__diff_metric *assay__diff_metric_find(const struct assay__diff *diff,
                                                         const char *name)
{
    for (size_t i = 0; i < diff->metric_count; i++)
        if (strcmp(diff->metrics[i].name, name) == 0) return &diff->metrics[i];
    return NULL;
}

/* --- sides ------------------------------------------------------------------------------------ */

static const struct assay__trial *trial_of_label(const struct assay_profile *profile,
                                                 const char *label)
{
    for (size_t i = 0; i < profile->trial_count && *label; i++)
        if (strcmp(profile->trials[i].label, label) == 0) return &profile->trials[i];
    return NULL;
}

static const struct assay__trial *trial_asked_for(const struct assay_profile *profile,
                                                  const char *word)
{
    const struct assay__trial *found = trial_of_label(profile, word);
    int64_t number;
    if (found || assay__text_int64(word, &number)) return found;
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].id == number) return &profile->trials[i];
    return NULL;
}

static bool ran(const struct assay__trial *trial)
{
    return isfinite(assay__trial_value(trial, "latency.p50"));
}

/* A predicted trial has a latency too: it is what the profile says, with its state. */
static const struct assay__trial *first_that_ran(const struct assay_profile *profile)
{
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].state == ASSAY__TRIAL_OK && ran(&profile->trials[i]))
            return &profile->trials[i];
    for (size_t i = 0; i < profile->trial_count; i++)
        if (ran(&profile->trials[i])) return &profile->trials[i];
    return profile->trial_count ? &profile->trials[0] : NULL;
}

static int choose_trial(const struct assay__diff_input *input, const struct assay__diff_side *base,
                        struct assay__diff_side *side, struct assay_error *error)
{
    const struct assay_profile *profile = input->profile;
    side->profile = profile;
    if (input->trial) {
        side->trial = trial_asked_for(profile, input->trial);
        if (!side->trial)
            return assay_error_set(error, ASSAY_ENOTFOUND,
                                   "'%s' has no trial '%s' (1 to %zu, or a label)", input->name,
                                   input->trial, profile->trial_count);
    } else if (base && base->trial) {
        side->trial = trial_of_label(profile, base->trial->label);
    }
    if (!side->trial) side->trial = first_that_ran(profile);
    side->trial_label = "";
    if (side->trial && profile->trial_count > 1) {
        const char *label = side->trial->label;
        side->trial_label = *label ? label : side->trial->target.device;
    }
    side->usable = side->trial && ran(side->trial);
    side->reason = "";
    if (!side->trial)
        side->reason = "it holds no trial";
    else if (!side->usable)
        side->reason = side->trial->reason && *side->trial->reason ? side->trial->reason
                                                                   : "its latency is not known";
    return 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The file's own name where that tells them apart, else the path, else with the trial or a
 * number. */
static int name_sides(const struct assay__diff_input *inputs, struct assay__diff *diff,
                      struct assay__arena *arena)
{
    for (size_t i = 0; i < diff->count; i++) {
        bool same_file = false, same_path = false;
        for (size_t k = 0; k < diff->count; k++) {
            if (k == i) continue;
            same_file |= strcmp(last_part(inputs[i].name), last_part(inputs[k].name)) == 0;
            same_path |= strcmp(inputs[i].name, inputs[k].name) == 0;
        }
        struct assay__diff_side *side = &diff->sides[i];
        if (!same_file)
            side->name = assay__arena_strdup(arena, last_part(inputs[i].name));
        else if (!same_path)
            side->name = assay__arena_strdup(arena, inputs[i].name);
        else
            side->name = assay__arena_printf(arena, "%zu:%s%s%s", i + 1, last_part(inputs[i].name),
                                             *side->trial_label ? " " : "", side->trial_label);
        if (!side->name) return ASSAY_ENOMEM;
    }
    return 0;
}

/* --- sentences -------------------------------------------------------------------------------- */

static int add_note(struct assay__diff *diff, const char *text)
{
    if (!text) return ASSAY_ENOMEM;
    diff->notes[diff->note_count++] = text;
    return 0;
}

static bool same_run(const struct assay_profile *a, const struct assay_profile *b)
{
    return *a->created && strcmp(a->created, b->created) == 0 &&
           strcmp(a->command_line, b->command_line) == 0;
}

static bool same_capture(const struct assay__diff_side *a, const struct assay__diff_side *b)
{
    return a->trial && b->trial && same_run(a->profile, b->profile) && a->trial->id == b->trial->id;
}

/* Trials of one run alternate. */
static bool one_capture(const struct assay__diff *diff)
{
    for (size_t s = 1; s < diff->count; s++)
        if (!same_run(diff->sides[0].profile, diff->sides[s].profile)) return false;
    return true;
}

static int notes_of_side(struct assay__diff *diff, struct assay__arena *arena, size_t i)
{
    const struct assay__diff_side *side = &diff->sides[i];
    int code = 0;
    if (!side->usable)
        code = add_note(diff, assay__arena_printf(arena, "%s cannot be compared: %s.", side->name,
                                                  side->reason));
    if (!code && !side->profile->complete)
        code = add_note(
            diff, assay__arena_printf(
                      arena, "%s is INCOMPLETE: its capture %s; its numbers are as far as it got.",
                      side->name, side->profile->interrupted ? "was interrupted" : "did not end"));
    for (size_t k = 0; k < i && !code; k++)
        if (same_capture(&diff->sides[k], side)) {
            code = add_note(diff,
                            assay__arena_printf(arena,
                                                "%s and %s are the same capture: there is nothing "
                                                "to see between them.",
                                                diff->sides[k].name, side->name));
            break;
        }
    if (!code && *side->trial_label && side->profile->trial_count > 1)
        code = add_note(
            diff, assay__arena_printf(arena, "%s holds %zu trials; '%s' is compared (--trial).",
                                      side->name, side->profile->trial_count, side->trial_label));
    return code;
}

/* How much of the base was found again in a side. */
static int note_counterparts(struct assay__diff *diff, struct assay__arena *arena, size_t side)
{
    size_t layers = 0, found = 0;
    for (size_t i = 0; i < diff->layer_count; i++) {
        const struct assay__diff_layer *row = &diff->layers[i];
        if (row->kind != ASSAY__DIFF_LAYER) continue;
        layers += row->starts[1];
        if (row->starts[side + 1] > row->starts[side]) found += row->starts[1];
    }
    if (!layers) return 0;
    return add_note(
        diff, assay__arena_printf(arena, "%zu of %zu layers of %s have a counterpart in %s.", found,
                                  layers, diff->sides[0].name, diff->sides[side].name));
}

static int make_notes(struct assay__diff *diff, struct assay__arena *arena)
{
    diff->notes = assay__arena_array(arena, 5 * diff->count + 8, sizeof *diff->notes);
    int code = diff->notes ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < diff->count && !code; i++)
        code = notes_of_side(diff, arena, i);
    if (!code && !diff->model_known)
        code = add_note(
            diff, "Whether the models are the same is not known: a profile has no fingerprint.");
    else if (!code && !diff->same_model)
        code = add_note(diff, "The models are not the same: what can be compared is.");
    for (size_t s = 1; s < diff->count && !code && !diff->same_model; s++)
        code = note_counterparts(diff, arena, s);
    if (!code && !one_capture(diff))
        code = add_note(
            diff, "The runs were not taken in turns: what the machine did otherwise between them "
                  "is part of every difference. 'assay compare' and 'assay sweep' alternate.");
    if (!code && diff->judged > 1)
        code = add_note(diff,
                        assay__arena_printf(arena,
                                            "%zu numbers were judged, each at 95 %%: about one in "
                                            "twenty would differ by chance. Their rows show "
                                            "medians over launches.",
                                            diff->judged));
    return code;
}

static void scaled(char *out, size_t size, double seconds)
{
    assay__text_scaled(out, size, seconds, "s");
}

static void summarize_side(struct assay__buf *text, const struct assay__diff *diff,
                           const struct assay__diff_metric *p50, size_t i)
{
    const struct assay__diff_side *base = &diff->sides[0], *side = &diff->sides[i];
    const struct assay__diff_delta *d = &p50->deltas[i];
    char mine[64], its[64];
    if (text->length) assay__buf_putc(text, ' ');
    if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE) {
        assay__buf_printf(text, "%s cannot be compared with %s.", side->name, base->name);
        return;
    }
    scaled(mine, sizeof mine, p50->values[i]->value);
    scaled(its, sizeof its, p50->values[0]->value);
    if (d->verdict == ASSAY__DIFF_SAME) {
        assay__buf_printf(text,
                          "No difference in latency shown between %s (%s) and %s (%s); one of "
                          "%s %% could have been.",
                          base->name, its, side->name, mine,
                          assay__digits(d->smallest * 100, 2).text);
    } else if (assay__diff_is_shown(d->verdict)) {
        bool faster = d->ratio < 1;
        int digits = assay__diff_digits(d);
        assay__buf_printf(
            text, "%s is %s: %s against %s, %s × the time of %s (95 %% interval %s to %s).",
            side->name, faster ? "faster" : "slower", mine, its,
            assay__digits(d->ratio, digits).text, base->name, assay__digits(d->ci.low, digits).text,
            assay__digits(d->ci.high, digits).text);
    } else {
        assay__buf_printf(text, "%s took %s, %s %s: %s × the time, no verdict%s%s.", side->name,
                          mine, base->name, its, assay__digits(d->ratio, 3).text,
                          *d->why ? ": " : "", d->why);
    }
}

/* Many runs in one sentence: how many are faster or slower, and which changed most. */
static void summarize_many(struct assay__buf *text, const struct assay__diff *diff,
                           const struct assay__diff_metric *p50)
{
    size_t faster = 0, slower = 0, most = 0;
    double largest = 0;
    for (size_t i = 1; i < diff->count; i++) {
        const struct assay__diff_delta *d = &p50->deltas[i];
        if (!assay__diff_is_shown(d->verdict)) continue;
        *(d->ratio < 1 ? &faster : &slower) += 1;
        if (!(fabs(log(d->ratio)) > largest)) continue;
        largest = fabs(log(d->ratio));
        most = i;
    }
    assay__buf_printf(text, "Of %zu runs, %zu %s faster than %s and %zu %s slower", diff->count - 1,
                      faster, faster == 1 ? "is" : "are", diff->sides[0].name, slower,
                      slower == 1 ? "is" : "are");
    if (most)
        assay__buf_printf(text, "; %s changed most: %s × the time", diff->sides[most].name,
                          assay__digits(p50->deltas[most].ratio, 3).text);
    assay__buf_putc(text, '.');
}

static void summarize_cause(struct assay__buf *text, const struct assay__diff *diff, bool differs)
{
    if (!differs || !diff->cause_count) return;
    const struct assay__diff_cause *cause = &diff->causes[0];
    if (cause->weight < 50) return;
    assay__buf_printf(text, " What also differs, first of all: %s (", cause->name);
    for (size_t i = 0; i < diff->count; i++)
        assay__buf_printf(text, "%s%s", i ? ", " : "", *cause->values[i] ? cause->values[i] : "—");
    assay__buf_puts(text, ").");
}

static int summarize(struct assay__diff *diff, struct assay__arena *arena)
{
    enum { EACH = 3 }; /* runs that are told one by one */
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    struct assay__buf text = {0};
    bool differs = false;
    if (!p50) {
        diff->summary = "No profile has a latency: what can be compared stands below.";
        return 0;
    }
    for (size_t i = 1; i < diff->count; i++) {
        if (diff->count <= EACH + 1) summarize_side(&text, diff, p50, i);
        differs |= assay__diff_is_shown(p50->deltas[i].verdict) ||
                   p50->deltas[i].verdict == ASSAY__DIFF_UNJUDGED;
    }
    if (diff->count > EACH + 1) summarize_many(&text, diff, p50);
    summarize_cause(&text, diff, differs);
    diff->summary = assay__buf_keep(&text, arena);
    return diff->summary ? 0 : ASSAY_ENOMEM;
}

int assay__diff(const struct assay__diff_input *inputs, size_t count, struct assay__arena *arena,
                struct assay__diff *out, struct assay_error *error)
{
    *out = (struct assay__diff){.count = count,
                                .layers_reason = "",
                                .layers_rule = "",
                                .layers_interval_reason = "",
                                .summary = "",
                                .layers_spread = NAN};
    if (count < 2 || count > ASSAY__DIFF_MOST)
        return assay_error_set(error, ASSAY_EINVAL, "2 to %d profiles can be compared, not %zu",
                               ASSAY__DIFF_MOST, count);
    out->sides = assay__arena_array(arena, count, sizeof *out->sides);
    int code = out->sides ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < count && !code; i++)
        code = choose_trial(&inputs[i], i ? &out->sides[0] : NULL, &out->sides[i], error);
    if (code == ASSAY_ENOTFOUND) return code;
    if (!code) code = name_sides(inputs, out, arena);
    if (!code) code = assay__diff_metrics(out, arena);
    if (!code) code = assay__diff_layers(out, arena);
    if (!code) code = assay__diff_causes(out, arena);
    if (!code) code = make_notes(out, arena);
    if (!code) code = summarize(out, arena);
    return code ? assay_error_set(error, code, "out of memory while comparing the profiles") : 0;
}
