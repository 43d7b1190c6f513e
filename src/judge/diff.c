/* diff.c - compares several profiles: which trial of each profile, how one number is compared with
 * another, and the sentences around the rows. */
#include "judge/diff.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
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
    case ASSAY__DIFF_LOWER: return (const char *const[]){"lower", "faster", "slower"}[sense];
    case ASSAY__DIFF_HIGHER: return (const char *const[]){"higher", "slower", "faster"}[sense];
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

/* --- comparing two numbers -------------------------------------------------------------------- */

struct assay__diff_delta assay__diff_no_delta(const char *reason)
{
    return (struct assay__diff_delta){
        NAN, NAN, {NAN, NAN, false}, NAN, NAN, ASSAY__DIFF_NOT_COMPARABLE, reason, reason};
}

/* The rank test on ratios can judge it: enough launches, all above zero. */
static bool can_be_judged(const struct assay__diff_values *side)
{
    for (size_t i = 0; i < side->launches.count; i++)
        if (!(side->launches.items[i] > 0)) return false;
    return isfinite(side->value) && side->launches.count >= ASSAY__COMPARISON_LAUNCHES;
}

bool assay__diff_by_launch(struct assay__diff_values *sides, size_t count,
                           struct assay__arena *arena)
{
    bool other = false;
    for (size_t s = 1; s < count; s++)
        other |= can_be_judged(&sides[s]);
    if (!other || !can_be_judged(&sides[0])) return false;
    for (size_t s = 0; s < count; s++)
        if (isfinite(sides[s].value) && sides[s].launches.count) {
            struct assay__launch_values sorted = assay__launch_sorted(&sides[s].launches, arena);
            sides[s].value = assay__stats_median(sorted.items, sorted.count);
        }
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

struct assay__diff_delta assay__diff_delta(const struct assay__diff_values *base,
                                           const struct assay__diff_values *other, bool exact,
                                           struct assay__arena *arena)
{
    struct assay__diff_delta out = assay__diff_no_delta("");
    size_t launches[] = {base->launches.count, other->launches.count};
    if (!isfinite(base->value) || !isfinite(other->value))
        return assay__diff_no_delta("one side has no value");
    out.difference = other->value - base->value;
    if (base->value > 0 && other->value > 0) out.ratio = other->value / base->value;
    out.verdict = ASSAY__DIFF_UNJUDGED;
    if (exact) {
        out.verdict = base->value == other->value ? ASSAY__DIFF_EQUAL : ASSAY__DIFF_EXACT;
        return out;
    }
    struct assay__ratio found = ASSAY__RATIO_UNKNOWN;
    if (can_be_judged(base) && can_be_judged(other))
        found = assay__launch_ratio(&base->launches, &other->launches, arena);
    if (!found.ci.known) {
        static const char intro[] = "no interval: ";
        out.reason = !launches[0] || !launches[1]
                         ? "no interval: the profiles do not have a value per launch"
                     : launches[0] < ASSAY__COMPARISON_LAUNCHES ||
                             launches[1] < ASSAY__COMPARISON_LAUNCHES
                         ? "no interval: each side needs at least 5 launches that succeeded"
                     : !can_be_judged(base) || !can_be_judged(other)
                         ? "no interval: a ratio needs values above zero in every launch"
                         : "no interval: the rank test gives no result";
        out.why = out.reason + sizeof intro - 1;
        return out;
    }
    out.ratio = found.ratio;
    out.ci = found.ci;
    out.p_value = found.p_value;
    out.smallest = found.smallest;
    out.verdict = found.ci.high < 1  ? ASSAY__DIFF_LOWER
                  : found.ci.low > 1 ? ASSAY__DIFF_HIGHER
                                     : ASSAY__DIFF_SAME;
    return out;
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

static bool ran(const struct assay__trial *trial)
{
    return isfinite(assay__trial_value(trial, "latency.p50"));
}

/* The trial requested by label or number, else the one with the base's label, else the first that
 * ran (a predicted one also has a latency, marked as an estimate), else the first. */
static int choose_trial(const struct assay__diff_input *input, const struct assay__diff_side *base,
                        struct assay__diff_side *side, struct assay_error *error)
{
    const struct assay_profile *profile = input->profile;
    const struct assay__trial *found = NULL, *any = profile->trial_count ? profile->trials : NULL;
    int64_t number = 0;
    if (input->trial)
        found = trial_of_label(profile, input->trial);
    else if (base && base->trial)
        found = trial_of_label(profile, base->trial->label);
    bool numbered = input->trial && !found && assay__text_int64(input->trial, &number) == 0;
    for (size_t i = 0; i < profile->trial_count && !found; i++)
        if (numbered ? profile->trials[i].id == number
                     : !input->trial && profile->trials[i].state == ASSAY__TRIAL_OK &&
                           ran(&profile->trials[i]))
            found = &profile->trials[i];
    if (input->trial && !found)
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "'%s' has no trial '%s' (1 to %zu, or a label)", input->name,
                               input->trial, profile->trial_count);
    for (size_t i = 0; i < profile->trial_count && !found; i++)
        if (ran(&profile->trials[i])) found = &profile->trials[i];
    if (!found) found = any;
    *side = (struct assay__diff_side){.profile = profile,
                                      .trial = found,
                                      .trial_label = "",
                                      .usable = found && ran(found),
                                      .reason = ""};
    if (found && profile->trial_count > 1)
        side->trial_label = *found->label ? found->label : found->target.device;
    if (!found)
        side->reason = "it has no trial";
    else if (!side->usable)
        side->reason = found->reason && *found->reason ? found->reason : "its latency is unknown";
    return 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The name of the file if that is unique, else its path, else with the trial or a number. */
static void name_sides(const struct assay__diff_input *inputs, struct assay__diff *diff,
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
        side->name = assay__arena_text(arena, "%s",
                                       same_file ? inputs[i].name : last_part(inputs[i].name));
        if (same_path)
            side->name = assay__arena_text(arena, "%zu:%s%s%s", i + 1, last_part(inputs[i].name),
                                           *side->trial_label ? " " : "", side->trial_label);
    }
}

/* --- sentences -------------------------------------------------------------------------------- */

static void add_note(struct assay__diff *diff, struct assay__arena *arena, const char *format, ...)
    ASSAY_PRINTF(3, 4);

static void add_note(struct assay__diff *diff, struct assay__arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diff->notes[diff->note_count++] = assay__arena_vtext(arena, format, args);
    va_end(args);
}

static bool same_run(const struct assay_profile *a, const struct assay_profile *b)
{
    return *a->created && strcmp(a->created, b->created) == 0 &&
           strcmp(a->command_line, b->command_line) == 0;
}

static void add_side_notes(struct assay__diff *diff, struct assay__arena *arena, size_t i)
{
    const struct assay__diff_side *side = &diff->sides[i];
    if (!side->usable)
        add_note(diff, arena, "%s cannot be compared: %s.", side->name, side->reason);
    if (!side->profile->complete)
        add_note(diff, arena, "%s is INCOMPLETE: its capture %s, so its numbers are preliminary.",
                 side->name, side->profile->interrupted ? "was interrupted" : "did not finish");
    bool twice = false;
    for (size_t k = 0; k < i && !twice; k++) {
        const struct assay__diff_side *other = &diff->sides[k];
        twice = other->trial && side->trial && same_run(other->profile, side->profile) &&
                other->trial->id == side->trial->id;
        if (twice)
            add_note(diff, arena, "%s and %s are the same capture.", other->name, side->name);
    }
    if (*side->trial_label && side->profile->trial_count > 1)
        add_note(diff, arena, "%s has %zu trials; '%s' is compared.", side->name,
                 side->profile->trial_count, side->trial_label);
}

static void make_notes(struct assay__diff *diff, struct assay__arena *arena)
{
    bool alternated = true; /* trials of one run do */
    diff->notes = assay__arena_array(arena, 5 * diff->count + 8, sizeof *diff->notes);
    if (!diff->notes) return;
    for (size_t i = 0; i < diff->count; i++) {
        add_side_notes(diff, arena, i);
        alternated &= i == 0 || same_run(diff->sides[0].profile, diff->sides[i].profile);
    }
    if (!diff->model_known)
        add_note(diff, arena,
                 "It is unknown whether the models are the same: a profile has no fingerprint.");
    else if (!diff->same_model)
        add_note(diff, arena, "The models differ: only what they have in common is compared.");
    for (size_t s = 1; s < diff->count && !diff->same_model; s++) {
        size_t layers = 0, found = 0; /* how much of the base is also on this side */
        for (size_t i = 0; i < diff->layer_count; i++) {
            const struct assay__diff_layer *row = &diff->layers[i];
            if (row->kind != ASSAY__DIFF_LAYER) continue;
            layers += row->starts[1];
            if (row->starts[s + 1] > row->starts[s]) found += row->starts[1];
        }
        if (layers)
            add_note(diff, arena, "%zu of %zu layers of %s have a counterpart in %s.", found,
                     layers, diff->sides[0].name, diff->sides[s].name);
    }
    if (!alternated)
        add_note(diff, arena,
                 "The runs did not alternate, so changes in the machine between them are part of "
                 "every difference. 'assay compare' and 'assay sweep' alternate.");
    if (diff->judged > 1)
        add_note(diff, arena,
                 "%zu numbers were tested, each at 95 %%: about one in twenty would differ by "
                 "chance. Their rows show medians over launches.",
                 diff->judged);
}

static void summarize_side(struct assay__buf *text, const struct assay__diff *diff,
                           const struct assay__diff_metric *p50, size_t i)
{
    const struct assay__diff_side *base = &diff->sides[0], *side = &diff->sides[i];
    const struct assay__diff_delta *d = &p50->deltas[i];
    if (text->length) assay__buf_putc(text, ' ');
    if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE) {
        assay__buf_printf(text, "%s cannot be compared with %s.", side->name, base->name);
        return;
    }
    struct assay__digits mine = assay__scaled(p50->values[i]->value, "s"),
                         its = assay__scaled(p50->values[0]->value, "s");
    if (d->verdict == ASSAY__DIFF_SAME) {
        assay__buf_printf(text,
                          "No difference in latency shown between %s (%s) and %s (%s); too noisy "
                          "to detect one below %s %%.",
                          base->name, its.text, side->name, mine.text,
                          assay__digits(d->smallest * 100, 2).text);
    } else if (assay__diff_is_shown(d->verdict)) {
        int digits = assay__diff_digits(d);
        assay__buf_printf(text, "%s is %s: %s against %s, %s × the time of %s (95 %% CI %s to %s).",
                          side->name, d->ratio < 1 ? "faster" : "slower", mine.text, its.text,
                          assay__digits(d->ratio, digits).text, base->name,
                          assay__digits(d->ci.low, digits).text,
                          assay__digits(d->ci.high, digits).text);
    } else {
        assay__buf_printf(text, "%s took %s, %s %s: %s × the time, no verdict%s%s.", side->name,
                          mine.text, base->name, its.text, assay__digits(d->ratio, 3).text,
                          *d->why ? ": " : "", d->why);
    }
}

/* A sentence for each of a few runs; for many, how many are faster or slower and which changed
 * most; then the most likely cause. */
static const char *summarize(const struct assay__diff *diff, struct assay__arena *arena)
{
    bool each = diff->count <= 4, differs = false;
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    const struct assay__diff_cause *cause = diff->cause_count ? &diff->causes[0] : NULL;
    struct assay__buf text = {0};
    size_t faster = 0, slower = 0, most = 0;
    double largest = 0;
    if (!p50) return "No profile has a latency; the rest is compared below.";
    for (size_t i = 1; i < diff->count; i++) {
        const struct assay__diff_delta *d = &p50->deltas[i];
        if (each) summarize_side(&text, diff, p50, i);
        differs |= assay__diff_is_shown(d->verdict) || d->verdict == ASSAY__DIFF_UNJUDGED;
        if (!assay__diff_is_shown(d->verdict)) continue;
        if (d->ratio < 1)
            faster++;
        else
            slower++;
        if (!(fabs(log(d->ratio)) > largest)) continue;
        largest = fabs(log(d->ratio));
        most = i;
    }
    if (!each) {
        assay__buf_printf(&text, "Of %zu runs, %zu %s faster than %s and %zu %s slower",
                          diff->count - 1, faster, faster == 1 ? "is" : "are", diff->sides[0].name,
                          slower, slower == 1 ? "is" : "are");
        if (most)
            assay__buf_printf(&text, "; %s changed most: %s × the time", diff->sides[most].name,
                              assay__digits(p50->deltas[most].ratio, 3).text);
        assay__buf_putc(&text, '.');
    }
    if (differs && cause && cause->weight >= 50) {
        assay__buf_printf(&text, " Most likely cause: %s (", cause->name);
        for (size_t i = 0; i < diff->count; i++)
            assay__buf_printf(&text, "%s%s", i ? ", " : "",
                              *cause->values[i] ? cause->values[i] : "—");
        assay__buf_puts(&text, ").");
    }
    const char *kept = assay__buf_keep(&text, arena);
    if (!kept) assay__arena_fail(arena);
    return kept;
}

void assay__diff_between(struct assay__diff *diff, struct assay__arena *arena)
{
    diff->layers_reason = diff->layers_rule = diff->layers_interval_reason = diff->summary = "";
    diff->layers_spread = NAN;
    assay__diff_metrics(diff, arena);
    assay__diff_layers(diff, arena);
}

int assay__diff(const struct assay__diff_input *inputs, size_t count, struct assay__arena *arena,
                struct assay__diff *out, struct assay_error *error)
{
    *out = (struct assay__diff){.count = count};
    if (count < 2 || count > ASSAY__DIFF_MOST)
        return assay_error_set(error, ASSAY_EINVAL, "2 to %d profiles can be compared, not %zu",
                               ASSAY__DIFF_MOST, count);
    out->sides = assay__arena_array(arena, count, sizeof *out->sides);
    for (size_t i = 0; i < count && out->sides; i++) {
        int code = choose_trial(&inputs[i], i ? &out->sides[0] : NULL, &out->sides[i], error);
        if (code) return code;
    }
    if (out->sides) {
        name_sides(inputs, out, arena);
        assay__diff_between(out, arena);
        assay__diff_causes(out, arena);
        make_notes(out, arena);
        out->summary = summarize(out, arena);
    }
    if (!assay__arena_failed(arena)) return 0;
    return assay_error_set(error, ASSAY_ENOMEM, "out of memory while comparing the profiles");
}
