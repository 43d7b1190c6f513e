/* quality_mark.c - the mark of quality in a page's header, with the reasons behind it: of the one
 * trial that the page is about, or of all that a comparison, a sweep or a difference sets side by
 * side; and what a claim about them says of it. */
#include "report/subject/subject.h"

#include "judge/comparison.h"
#include "judge/diff.h"
#include "judge/trust.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NAMED = 8 }; /* trials whose reasons are listed */

enum assay__badge assay__trust_badge(enum assay__trust trust)
{
    static const enum assay__badge badges[] = {[ASSAY__TRUST_STABLE] = ASSAY__BADGE_PASS,
                                               [ASSAY__TRUST_FEW] = ASSAY__BADGE_WARN,
                                               [ASSAY__TRUST_ESTIMATED] = ASSAY__BADGE_WARN,
                                               [ASSAY__TRUST_UNKNOWN] = ASSAY__BADGE_WARN,
                                               [ASSAY__TRUST_UNSTEADY] = ASSAY__BADGE_WARN,
                                               [ASSAY__TRUST_LAYERS] = ASSAY__BADGE_FAIL,
                                               [ASSAY__TRUST_NOISY] = ASSAY__BADGE_FAIL,
                                               [ASSAY__TRUST_INTERRUPTED] = ASSAY__BADGE_FAIL,
                                               [ASSAY__TRUST_FAILED] = ASSAY__BADGE_FAIL};
    return badges[trust];
}

/* One of the trials side by side. */
struct side {
    const char *label;
    const struct assay__trial *trial;
    const struct assay__trial_verdict *verdict;
};

/* How many there are, and how many of them are noisy; the worst and the least certain one. */
struct tally {
    const struct side *sides;
    size_t judged, noisy;
    const struct assay__trial_verdict *worst;
    double widest;
};

static struct tally count_sides(const struct side *sides, size_t count)
{
    struct tally all = {.sides = sides, .judged = count};
    for (size_t i = 0; i < count; i++) {
        const struct assay__trial_verdict *v = sides[i].verdict;
        all.noisy += v->trust >= ASSAY__TRUST_NOISY;
        if (!all.worst || v->trust > all.worst->trust) all.worst = v;
        if (v->width > all.widest) all.widest = v->width;
    }
    return all;
}

/* Those of a profile that have a latency. */
static struct tally count_trials(struct assay__doc *doc)
{
    const struct assay_profile *profile = doc->study->profile;
    struct side *sides = assay__doc_array(doc, profile->trial_count + 1, sizeof *sides);
    size_t count = 0;
    for (size_t i = 0; sides && i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        if (assay__trial_metric(trial, "latency.p50"))
            sides[count++] = (struct side){*trial->label ? trial->label : trial->target.device,
                                           trial, assay__study_verdict(doc->study, trial)};
    }
    return count_sides(sides, count);
}

static const char *say_tally(struct assay__doc *doc, const struct tally *all)
{
    if (all->noisy) return assay__doc_printf(doc, "%zu of %zu noisy", all->noisy, all->judged);
    if (all->worst->trust == ASSAY__TRUST_STABLE && all->widest > 0)
        return assay__doc_printf(
            doc, "stable ±%s %%",
            assay__digits(all->widest * 100, all->widest < 0.095 ? 1 : 2).text);
    return all->worst->chip;
}

/* "threads=2: noisy ±10 %: …" of those that are not stable; room for more after them. */
static const char **list_reasons(struct assay__doc *doc, const struct tally *all, size_t room,
                                 size_t *count)
{
    const char **list = assay__doc_array(doc, NAMED + 1 + room, sizeof *list);
    size_t more = 0;
    *count = 0;
    for (size_t i = 0; list && i < all->judged; i++) {
        const struct side *side = &all->sides[i];
        if (side->verdict->trust == ASSAY__TRUST_STABLE) continue;
        if (*count == NAMED) {
            more++;
            continue;
        }
        const struct assay__stability *stability = &side->trial->stability;
        const char *why = stability->reason_count ? stability->reasons[0] : NULL;
        list[(*count)++] = assay__doc_printf(doc, "%s: %s%s%s", side->label, side->verdict->chip,
                                             why ? ": " : "", why ? why : "");
    }
    if (list && more) list[(*count)++] = assay__doc_printf(doc, "and %zu more", more);
    return list;
}

void assay__add_quality(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__environment *e = &doc->study->profile->environment;
    enum assay__profile_kind kind = doc->study->profile->kind;
    bool several = kind == ASSAY__PROFILE_COMPARE || kind == ASSAY__PROFILE_SWEEP ||
                   kind == ASSAY__PROFILE_BENCH;
    const struct assay__trial_verdict *v = assay__study_verdict(doc->study, trial);
    struct tally all = {0};
    if (several && doc->study->profile->trial_count > 1) all = count_trials(doc);
    if (all.judged < 2) {
        assay__doc_quality(doc, (struct assay__quality){assay__trust_badge(v->trust), v->chip,
                                                        v->reasons, v->reason_count});
        return;
    }
    struct assay__quality mark = {.badge = assay__trust_badge(all.worst->trust),
                                  .text = say_tally(doc, &all)};
    const char **reasons = list_reasons(doc, &all, e->disturbance_count, &mark.reason_count);
    for (size_t i = 0; reasons && i < e->disturbance_count; i++) /* of all of them */
        reasons[mark.reason_count++] = e->disturbances[i];
    mark.reasons = reasons;
    assay__doc_quality(doc, mark);
}

/* --- what a claim says of it ------------------------------------------------------------------ */

/* The claim and that its runs were noisy; its least important sentences make room. */
static const char *with_caveat(struct assay__doc *doc, const char *claim, const struct tally *all)
{
    const char *caveat = all->noisy < all->judged
                             ? assay__doc_printf(doc, " %zu of %zu runs %s noisy.", all->noisy,
                                                 all->judged, all->noisy == 1 ? "was" : "were")
                         : all->judged == 2 ? " Both runs were noisy."
                                            : " All runs were noisy.";
    size_t length = strlen(claim);
    while (all->noisy && length) {
        const char *line = assay__doc_printf(doc, "%.*s%s", (int)length, claim, caveat);
        if (assay__count_words(line) <= ASSAY__VERDICT_WORDS) return line;
        do
            length--;
        while (length && !(claim[length - 1] == '.' && claim[length] == ' '));
    }
    return claim;
}

const char *assay__claim(struct assay__doc *doc, const char *claim)
{
    if (doc->study->profile->kind != ASSAY__PROFILE_COMPARE) return claim;
    const struct assay__comparison *all = assay__study_comparison(doc->study);
    const struct assay__recommendation *latency = &all->recommendations[ASSAY__FOR_LATENCY];
    if (latency->withdrawn || latency->row == SIZE_MAX) return claim; /* nothing is claimed */
    struct tally sides = count_trials(doc);
    return with_caveat(doc, claim, &sides);
}

void assay__add_diff_verdict(struct assay__doc *doc, const struct assay__diff *diff,
                             const char *claim)
{
    struct side *sides = assay__doc_array(doc, diff->count + 1, sizeof *sides);
    struct assay__trial_verdict *verdicts = assay__doc_array(doc, diff->count + 1,
                                                             sizeof *verdicts);
    size_t count = 0;
    for (size_t i = 0; sides && verdicts && i < diff->count; i++) {
        const struct assay__diff_side *side = &diff->sides[i];
        if (!side->usable) continue;
        assay__trust(side->profile, side->trial, doc->arena, &verdicts[count]);
        sides[count] = (struct side){side->name, side->trial, &verdicts[count]};
        count++;
    }
    struct tally all = count_sides(sides, count);
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    bool claimed = p50 && assay__diff_is_shown(p50->deltas[1].verdict);
    assay__doc_verdict(doc, claimed ? with_caveat(doc, claim, &all) : claim);
    if (!count) return;
    struct assay__quality mark = {.badge = assay__trust_badge(all.worst->trust),
                                  .text = say_tally(doc, &all)};
    mark.reasons = list_reasons(doc, &all, 0, &mark.reason_count);
    assay__doc_quality(doc, mark);
}
