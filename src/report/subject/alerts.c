/* alerts.c - what must be said before everything else. */
#include "report/subject/alerts.h"

#include "judge/comparison.h"
#include "judge/sweep.h"

#include <string.h>

static bool same_alert(const struct assay_profile *profile, const struct assay__trial *a,
                       const struct assay__trial *b)
{
    bool stands = assay__trial_stands(profile, a);
    return a->state == b->state && stands == assay__trial_stands(profile, b) &&
           (!stands || a->launch_count == b->launch_count) &&
           strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

bool assay__trial_stands(const struct assay_profile *profile, const struct assay__trial *trial)
{
    bool tested = profile->kind == ASSAY__PROFILE_COMPARE || trial->role == ASSAY__ROLE_CONFIRM;
    size_t least = tested                                  ? ASSAY__COMPARISON_LAUNCHES
                   : profile->kind == ASSAY__PROFILE_SWEEP ? ASSAY__SWEEP_LAUNCHES
                                                           : 0;
    return least && trial->state == ASSAY__TRIAL_FAILED && assay__trial_went_on(trial, least);
}

/* "NOTE: trial 2 lost 1 of 8 launches: judged by the 7 that are left (launch 3: killed)" */
static void put_lost(struct assay__buf *out, const struct assay_profile *profile,
                     const struct assay__trial *trial, size_t alike)
{
    size_t good = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        good += trial->launches[i].state == ASSAY__TRIAL_OK;
    if (alike > 1)
        assay__buf_printf(out, "NOTE: %zu of %zu trials", alike, profile->trial_count);
    else
        assay__buf_printf(out, "NOTE: trial %d", trial->id);
    assay__buf_printf(out, " lost %zu of %zu launches%s: judged by the %zu that are left",
                      trial->launch_count - good, trial->launch_count, alike > 1 ? " each" : "",
                      good);
    const char *why = trial->reason ? strstr(trial->reason, "; ") : NULL;
    if (why) assay__buf_printf(out, " (%s)", why + 2);
}

/* "FAILED (trial 3): …", or "FAILED (23 of 96 trials): …" of those that failed for the same reason:
 * the index-th reason. */
static bool put_failures(struct assay__buf *out, const struct assay_profile *profile, size_t index,
                         struct assay__alert *alert)
{
    enum { REASONS = 64 }; /* told apart; nobody asks for more */
    const struct assay__trial *first[REASONS];
    size_t kinds = 0, alike = 0;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *t = &profile->trials[i];
        size_t at = 0;
        if (t->state != ASSAY__TRIAL_FAILED && t->state != ASSAY__TRIAL_SKIPPED) continue;
        while (at < kinds && !same_alert(profile, first[at], t))
            at++;
        if (at == kinds && kinds < REASONS) first[kinds++] = t;
        alike += at == index;
    }
    if (index >= kinds) return false;
    const struct assay__trial *t = first[index];
    if (assay__trial_stands(profile, t)) {
        alert->tone = ASSAY__TONE_WARN;
        put_lost(out, profile, t, alike);
        return true;
    }
    assay__buf_puts(out, t->state == ASSAY__TRIAL_FAILED ? "FAILED" : "SKIPPED");
    if (alike > 1)
        assay__buf_printf(out, " (%zu of %zu trials)", alike, profile->trial_count);
    else if (profile->trial_count > 1)
        assay__buf_printf(out, " (trial %d)", t->id);
    assay__buf_printf(out, ": %s", t->reason && *t->reason ? t->reason : "no reason was recorded");
    return true;
}

bool assay__alert_at(const struct assay_profile *profile, size_t index, struct assay__alert *alert,
                     struct assay__buf *out)
{
    alert->tone = ASSAY__TONE_ALERT;
    bool whole = profile->complete || profile->interrupted;
    if (!whole && index-- == 0)
        assay__buf_puts(
            out, "INCOMPLETE: the capture did not end (killed, or its disk was full); what it "
                 "had measured until then follows.");
    else if (profile->interrupted && index-- == 0)
        assay__buf_puts(out, "INTERRUPTED: the capture was stopped before it ended; what it had "
                             "measured until then follows.");
    else if (!profile->trial_count && index-- == 0)
        assay__buf_puts(out, "EMPTY: this profile holds no trial.");
    else
        return put_failures(out, profile, index, alert);
    return true;
}
