/* quality_mark.c - the mark of quality in a page's header, with the reasons behind it: of the one
 * trial that the page is about, or of all that a comparison or a sweep sets side by side. */
#include "report/subject/subject.h"

#include "base/text.h"

#include <math.h>

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

/* The trials side by side: how many there are, and how many of them are noisy; the worst and the
 * least certain one. */
struct tally {
    size_t judged, noisy;
    const struct assay__trial_verdict *worst;
    double widest;
};

static bool is_judged(const struct assay__trial *trial)
{
    return assay__trial_metric(trial, "latency.p50") != NULL;
}

static struct tally count_trials(struct assay__study *study)
{
    struct tally all = {.widest = 0};
    for (size_t i = 0; i < study->profile->trial_count; i++) {
        const struct assay__trial *trial = &study->profile->trials[i];
        if (!is_judged(trial)) continue;
        const struct assay__trial_verdict *v = assay__study_verdict(study, trial);
        all.judged++;
        all.noisy += v->trust >= ASSAY__TRUST_NOISY;
        if (!all.worst || v->trust > all.worst->trust) all.worst = v;
        if (v->width > all.widest) all.widest = v->width;
    }
    return all;
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

/* "threads=2: noisy ±10 %: …" of those that are not stable, then what disturbed all of them. */
static const char *const *list_reasons(struct assay__doc *doc, size_t *count)
{
    struct assay__study *study = doc->study;
    const struct assay_profile *profile = study->profile;
    size_t more = 0, disturbances = profile->environment.disturbance_count;
    const char **list = assay__doc_array(doc, NAMED + 1 + disturbances, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        const struct assay__trial_verdict *v = assay__study_verdict(study, trial);
        if (!is_judged(trial) || v->trust == ASSAY__TRUST_STABLE) continue;
        if (*count == NAMED) {
            more++;
            continue;
        }
        const char *why = trial->stability.reason_count ? trial->stability.reasons[0] : NULL;
        list[(*count)++] = assay__doc_printf(doc, "%s: %s%s%s",
                                             *trial->label ? trial->label : trial->target.device,
                                             v->chip, why ? ": " : "", why ? why : "");
    }
    if (list && more) list[(*count)++] = assay__doc_printf(doc, "and %zu more", more);
    for (size_t i = 0; list && i < disturbances; i++)
        list[(*count)++] = profile->environment.disturbances[i];
    return list;
}

void assay__add_quality(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum assay__profile_kind kind = doc->study->profile->kind;
    bool several = kind == ASSAY__PROFILE_COMPARE || kind == ASSAY__PROFILE_SWEEP ||
                   kind == ASSAY__PROFILE_BENCH;
    const struct assay__trial_verdict *v = assay__study_verdict(doc->study, trial);
    struct tally all = {0};
    if (several && doc->study->profile->trial_count > 1) all = count_trials(doc->study);
    if (all.judged < 2) {
        assay__doc_quality(doc, (struct assay__quality){assay__trust_badge(v->trust), v->chip,
                                                        v->reasons, v->reason_count});
        return;
    }
    struct assay__quality mark = {.badge = assay__trust_badge(all.worst->trust),
                                  .text = say_tally(doc, &all)};
    mark.reasons = list_reasons(doc, &mark.reason_count);
    assay__doc_quality(doc, mark);
}
