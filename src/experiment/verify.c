/* verify.c - measures every change suggested by the findings against the run without it. The order
 * of work: one launch without changes shows what a launch costs; changes are included in the order
 * of their findings as long as the budget suffices for all their launches; then rounds of one
 * launch per arm, alternately forwards and backwards, so that drift of the machine affects all of
 * them equally. The actual cost is checked after each round: the last changes are dropped if the
 * budget would not suffice. */
#include "experiment/verify_attempt.h"

#include "base/clock.h"
#include "experiment/quiet.h"
#include "run/watch/watch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static double elapsed_s(const struct assay__verifying *v)
{
    return (double)(assay__now_ns() - v->begin_ns) / 1e9;
}

static bool is_stopped(struct assay__verifying *v)
{
    if (assay__arms_interrupted(v->arms)) v->out->interrupted = true;
    return v->out->interrupted;
}

/* --- progress --------------------------------------------------------------------------------- */

static void on_progress(void *context, const struct assay_progress *progress)
{
    struct assay__verifying *v = context;
    struct assay_progress own = *progress;
    if (!v->tell) return;
    own.phase = "trying changes";
    own.launch = v->done + 1 < v->planned ? v->done + 1 : v->planned;
    own.launches = v->planned;
    own.done = v->planned ? (v->done + fmax(progress->done, 0)) / v->planned : -1;
    v->tell(v->tell_context, &own);
}

/* Concluding an arm ends the sensor readings that all arms share: they are restarted for the next
 * ones. The idle machine was measured before. */
static int restart_sensors(struct assay__verifying *v, struct assay_error *error)
{
    struct assay__arms *arms = v->arms;
    if (!arms->sensors || !arms->count) return 0; /* none, or not used yet */
    assay__watch_free(arms->sensors);
    arms->sensors = NULL;
    arms->whole.measuring.launches = v->out->launches;
    arms->whole.watching.idle_given = true;
    arms->whole.watching.idle_s = 0;
    return assay__arms_start(arms, error);
}

/* --- launches --------------------------------------------------------------------------------- */

static int launch(struct assay__verifying *v, struct assay__attempt *attempt,
                  struct assay_error *error)
{
    uint64_t begin_ns = assay__now_ns();
    if (is_stopped(v)) return 0;
    int code = assay__arms_round(v->arms, &attempt->arm, 1, false, error);
    attempt->spent_s += (double)(assay__now_ns() - begin_ns) / 1e9;
    attempt->launches++;
    v->done++;
    if (v->same_profile) v->advice->trial = &v->advice->profile->trials[v->trial];
    return code;
}

/* Duration of one more launch, judging by the previous ones. */
static double cost_s(const struct assay__attempt *attempt)
{
    return attempt->launches ? attempt->spent_s / attempt->launches : 0;
}

/* Rounds over the arms; active[0] is the run without changes. Launches that it had before count. No
 * launch is started that would end after the budget, except the first of the first change. After
 * each round, the last changes are dropped if the budget would not suffice for them; the first one
 * stays. */
static int rounds(struct assay__verifying *v, struct assay__attempt **active, size_t count,
                  struct assay_error *error)
{
    double budget_s = v->options->budget_s;
    int code = 0, launches = v->out->launches;
    for (int round = 0; round < launches && code == 0 && !is_stopped(v); round++) {
        int left = launches - round - 1;
        for (size_t i = 0; i < count && code == 0; i++) {
            struct assay__attempt *one = active[round % 2 ? count - 1 - i : i];
            double cost = cost_s(one->launches ? one : active[0]);
            if ((round > 0 || i > 1) && elapsed_s(v) + cost > budget_s) break;
            if (one->launches <= round) code = launch(v, one, error);
        }
        double remaining_s = budget_s - elapsed_s(v), need_s = 0;
        for (size_t i = 0; i < count; i++)
            need_s += cost_s(active[i]) * left;
        for (; count > 2 && need_s > remaining_s; need_s -= cost_s(active[count]) * left)
            active[--count]->state = ASSAY__ATTEMPT_LEFT;
        v->planned = v->done + (int)count * left;
        if (left && need_s / left > remaining_s) { /* not even the next round */
            for (size_t i = 1; i < count; i++)     /* judged by what it had, if that suffices */
                active[i]->state = ASSAY__ATTEMPT_LEFT;
            break;
        }
    }
    return code;
}

/* Repeats the launches if others used the machine and are done, as far as the budget allows. */
static int again_when_quiet(struct assay__verifying *v, struct assay__attempt *const *active,
                            size_t count, uint64_t begin_ns, struct assay_error *error)
{
    const struct assay__quiet quiet = {.spent_s = (double)(assay__now_ns() - begin_ns) / 1e9,
                                       .left_s = v->options->budget_s - elapsed_s(v),
                                       .launches = v->out->launches};
    size_t indexes[ASSAY__VERIFY_MOST + 1], members = 0;
    bool repeated;
    for (size_t i = 0; i < count; i++)
        if (active[i]->arm != SIZE_MAX && active[i]->state != ASSAY__ATTEMPT_LEFT)
            indexes[members++] = active[i]->arm;
    return assay__arms_when_quiet(v->arms, indexes, members, &quiet, &repeated, error);
}

static int conclude(struct assay__verifying *v, const struct assay__attempt *baseline,
                    struct assay__attempt *const *active, size_t count, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        if (active[i]->arm != SIZE_MAX) code = assay__arms_conclude(v->arms, active[i]->arm, error);
    return code ? code : assay__arms_drift(v->arms, baseline->arm, error);
}

/* --- the changes one by one ------------------------------------------------------------------- */

static int try_each(struct assay__verifying *v, struct assay_error *error)
{
    struct assay__attempt *active[ASSAY__VERIFY_MOST + 1] = {&v->baseline};
    size_t count = 1, admitted = 0, had = 0;
    v->planned = v->out->launches * (int)(v->count + 1);
    int code = restart_sensors(v, error);
    if (code == 0) code = assay__verify_open(v, &v->baseline, "without changes", error);
    if (code == 0) code = launch(v, &v->baseline, error);
    if (code) return code;
    const struct assay__arm *arm = v->arms->items[v->baseline.arm];
    const struct assay__outcome *outcomes = arm ? assay__arm_outcomes(arm, &had) : NULL;
    bool fails = !arm || (had && outcomes[0].code); /* nothing can be compared with it */
    if (!is_stopped(v) && !fails) {
        /* as many as the budget suffices for if a launch of each costs as much as the first one;
         * always at least one */
        double each_s = cost_s(&v->baseline) * v->out->launches,
               room = each_s > 0 ? (v->options->budget_s - elapsed_s(v)) / each_s - 1 : 1e9;
        admitted = room < 1 ? 1 : room > (double)v->count ? v->count : (size_t)room;
    }
    for (size_t i = 0; i < v->count && code == 0; i++) {
        struct assay__attempt *one = &v->attempts[i];
        if (i >= admitted ||
            (i > 0 && elapsed_s(v) > v->options->budget_s)) { /* rewriting takes time */
            if (!fails && !v->out->interrupted) one->state = ASSAY__ATTEMPT_LEFT;
            continue;
        }
        code = assay__verify_open(v, one, one->words, error);
        active[count++] = one;
    }
    v->planned = v->out->launches * (int)count;
    uint64_t begin_ns = assay__now_ns();
    if (code == 0) code = rounds(v, active, count, error);
    if (code == 0) code = again_when_quiet(v, active, count, begin_ns, error);
    if (code == 0) code = conclude(v, &v->baseline, active, count, error);
    for (size_t i = 0; i < v->count && code == 0; i++)
        code = assay__verify_judge(v, &v->baseline, &v->attempts[i]);
    struct assay_profile *profile = v->advice->profile;
    for (size_t i = 0; i < profile->finding_count && code == 0; i++) {
        const struct assay__rule_result *result = assay__advice_finding(v->advice, i);
        for (size_t k = 0; result && k < v->count; k++)
            if (assay__change_same(v->attempts[k].changes[0], &result->change))
                assay__verify_fill(&v->attempts[k], &profile->findings[i]);
    }
    size_t busy = 0; /* tried, and without a verdict */
    for (size_t k = 0; k < v->count && code == 0; k++) {
        const struct assay__attempt *one = &v->attempts[k];
        v->out->verified += strcmp(one->finding_state, "verified") == 0;
        v->out->withdrawn += strcmp(one->finding_state, "withdrawn") == 0;
        busy += one->busy;
    }
    v->out->tried = v->out->verified + v->out->withdrawn + busy;
    return code;
}

/* --- everything that helped ------------------------------------------------------------------- */

static int try_together(struct assay__verifying *v, struct assay_error *error)
{
    struct assay__attempt *active[] = {&v->again, &v->all};
    double need_s = 2 * cost_s(&v->baseline) * v->out->launches;
    if (is_stopped(v) || !assay__verify_combine(v)) return 0;
    if (elapsed_s(v) + need_s > v->options->budget_s) {
        v->all.state = ASSAY__ATTEMPT_LEFT;
        int left = assay__verify_judge(v, &v->again, &v->all);
        return left ? left : assay__verify_add_combined(v);
    }
    v->planned = v->done + 2 * v->out->launches;
    int code = restart_sensors(v, error);
    if (code == 0) code = assay__verify_open(v, &v->again, "without changes, again", error);
    if (code == 0) code = assay__verify_open(v, &v->all, v->all.words, error);
    uint64_t begin_ns = assay__now_ns();
    if (code == 0) code = rounds(v, active, 2, error);
    if (code == 0) code = again_when_quiet(v, active, 2, begin_ns, error);
    if (code == 0) code = conclude(v, &v->again, active, 2, error);
    if (code == 0) code = assay__verify_judge(v, &v->again, &v->all);
    return code ? code : assay__verify_add_combined(v);
}

/* --- all of it -------------------------------------------------------------------------------- */

int assay__verify(struct assay__advice *advice, struct assay__arms *arms,
                  const struct assay__verify_options *options, struct assay__verification *out,
                  struct assay_error *error)
{
    struct assay__verify_options own = *options;
    /* it must live as long as the arms, which report their progress to it */
    struct assay__verifying *v = assay__arena_alloc(arms->recording.profile->arena, sizeof *v);
    if (!v) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    *out = (struct assay__verification){.launches = options->run.measuring.launches,
                                        .budget_s = options->budget_s,
                                        .baseline_s = NAN,
                                        .reason = ""};
    *v = (struct assay__verifying){.advice = advice, .arms = arms, .options = &own, .out = out};
    v->arena = advice->profile->arena;
    v->baseline.arm = v->again.arm = v->all.arm = SIZE_MAX;
    v->begin_ns = assay__now_ns();
    v->same_profile = advice->profile == arms->recording.profile;
    if (v->same_profile) v->trial = (size_t)(advice->trial - advice->profile->trials);
    v->tell = options->run.callbacks.progress;
    v->tell_context = options->run.callbacks.context;
    own.run.callbacks.progress = on_progress;
    own.run.callbacks.context = v;
    int code = assay__verify_collect(v);
    if (code == 0 && v->count == 0) out->reason = "no finding has a change that assay can apply";
    if (code == 0 && v->count) code = try_each(v, error);
    if (code == 0 && v->count) code = try_together(v, error);
    out->spent_s = elapsed_s(v);
    if (v->baseline.arm != SIZE_MAX) {
        struct assay__launch_values medians = assay__launch_values(
            assay__arms_trial(arms, v->baseline.arm), "latency.p50", v->arena);
        assay__stats_sort(medians.items, medians.count);
        out->baseline_s = assay__stats_median(medians.items, medians.count);
    }
    advice->verification = out;
    if (code && error && !error->message[0])
        assay_error_set(error, code, "%s", assay_error_text(code));
    return code;
}

int assay__verify_refuse(struct assay__advice *advice, const char *reason,
                         struct assay__verification *out)
{
    struct assay_profile *profile = advice->profile;
    const char *kept = assay__arena_strdup(profile->arena, reason);
    *out = (struct assay__verification){.baseline_s = NAN, .reason = kept ? kept : ""};
    const char *said = assay__arena_printf(profile->arena, "not tried: %s", reason);
    for (size_t i = 0; said && i < profile->finding_count; i++)
        profile->findings[i].reason = said;
    advice->verification = out;
    return kept && said ? 0 : ASSAY_ENOMEM;
}
