/* sweep_run.c - measures the points of a sweep, resumes an earlier one, and runs the best two
 * again. */
#include "experiment/course.h"
#include "experiment/quiet.h"
#include "experiment/sweep_run.h"

#include "judge/sweep.h"
#include "base/clock.h"
#include "base/no_memory.h"

#include <math.h>
#include <string.h>

/* --- points ----------------------------------------------------------------------------------- */

/* What a point means, and the state of its device. *refusal says why it cannot run; "" it can. */
static int point_options(const struct assay__sweep_plan *plan, size_t point,
                         struct assay__run_options *one, struct assay__arm_identity *identity,
                         const char **refusal, struct assay_error *error)
{
    const struct assay__config_space *space = plan->space;
    struct assay_error why = {0};
    *one = *plan->whole;
    *refusal = "";
    int code = assay__config_apply(space, point, one, identity, &why);
    if (code && code != ASSAY_EUNSUPPORTED) return assay_error_set(error, code, "%s", why.message);
    if (code && !(*refusal = assay__arena_strdup(space->arena, why.message)))
        return assay__no_memory(error);
    size_t choice = assay__config_choice(space, point, ASSAY__AXIS_DEVICE);
    const struct assay__selected_device *device = plan->devices->count
                                                      ? &plan->devices->items[choice]
                                                      : NULL;
    if (device && *device->refusal) *refusal = device->refusal;
    if (device) identity->device_class = assay__device_class_parse(device->kind);
    identity->software = device ? device->software : plan->software;
    if (identity->software) identity->role = ASSAY__ROLE_SOFTWARE;
    return 0;
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* The most trusted of the points with outputs of the same shape that are numbers, the first among
 * equals; SIZE_MAX: none. The original model comes before rewritten copies, then the CPU before
 * other devices. */
static size_t reference_of(const struct assay__arms *arms, const struct assay__sweep_plan *plan,
                           size_t point, size_t count)
{
    static const enum assay__axis same[] = {ASSAY__AXIS_SEQ, ASSAY__AXIS_BATCH};
    const struct assay__config_space *space = plan->space;
    const struct assay__config_values *precisions = &space->axes[ASSAY__AXIS_PRECISION];
    size_t best = SIZE_MAX;
    int most = -1;
    for (size_t k = 0; k < count; k++) {
        const struct assay__trial *trial = assay__arms_trial(arms, k);
        size_t precision = assay__config_choice(space, k, ASSAY__AXIS_PRECISION),
               device = assay__config_choice(space, k, ASSAY__AXIS_DEVICE);
        bool fits = assay__trial_value(trial, "outputs.nonfinite") == 0;
        for (size_t i = 0; i < 2 && fits; i++)
            fits = assay__config_choice(space, k, same[i]) ==
                   assay__config_choice(space, point, same[i]);
        bool as_is = !precisions->count || strcmp(precisions->values[precision], "float32") == 0,
             cpu = !plan->devices->count || strcmp(plan->devices->items[device].kind, "cpu") == 0;
        if (!fits || 2 * as_is + cpu <= most) continue;
        best = k;
        most = 2 * as_is + cpu;
    }
    return best;
}

/* Another device or precision may produce different numbers; threads and levels of one device are
 * not compared. */
static int judge_outputs(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                         size_t count, struct assay_error *error)
{
    static const enum assay__axis axes[] = {ASSAY__AXIS_DEVICE, ASSAY__AXIS_PRECISION};
    int code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = assay__arms_nonfinite(arms, i, error);
    for (size_t i = 0; i < count && !code; i++) {
        size_t reference = reference_of(arms, plan, i, count);
        bool differs = false;
        for (size_t a = 0; a < 2 && reference != SIZE_MAX; a++)
            differs = differs || assay__config_choice(plan->space, i, axes[a]) !=
                                     assay__config_choice(plan->space, reference, axes[a]);
        if (!differs || !arms->items[i]) continue;
        code =
            arms->items[reference]
                ? assay__arms_drift_one(arms, reference, i, error)
                : assay_metrics_unavailable(
                      assay__arms_trial(arms, i)->metrics, "drift.relative_l2",
                      "the reference outputs belonged to the earlier capture and were not saved");
    }
    return code;
}

/* --- running the best two again --------------------------------------------------------------- */

static int confirm(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                   struct assay__sweep_tally *tally, struct assay_error *error)
{
    struct assay_profile *profile = arms->recording.profile;
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    size_t first = arms->count;
    int code = arena && assay__sweep(profile, arena, &sweep) == 0 ? 0 : assay__no_memory(error);
    if (code || sweep.best == SIZE_MAX || sweep.next == SIZE_MAX) goto out;
    const size_t points[] = {sweep.best, sweep.next};
    for (size_t i = 0; i < 2 && !code; i++) {
        struct assay__run_options one;
        struct assay__arm_identity identity;
        const char *refusal = "";
        code = point_options(plan, points[i], &one, &identity, &refusal, error);
        identity.role = ASSAY__ROLE_CONFIRM;
        one.measuring.launches = ASSAY__SWEEP_CONFIRM_LAUNCHES;
        if (!code) code = assay__arms_add(arms, &one, &identity, NULL, error);
    }
    if (!code) code = assay__arms_launch(arms, first, 2, ASSAY__SWEEP_CONFIRM_LAUNCHES, error);
    tally->confirmed = !code;
out:
    assay__arena_free(arena);
    return code;
}

/* --- where the time went ---------------------------------------------------------------------- */

/* Measuring: the windows, including those left out as disturbed. Loading: from the start of a
 * worker to its first window (process, engine, session, warm-up), or its whole life if it never got
 * that far. The rest is our overhead. */
static int put_wall(struct assay__arms *arms, uint64_t start_ns, struct assay_error *error)
{
    double measuring_s = 0, loading_s = 0, total_s = (double)(assay__now_ns() - start_ns) / 1e9;
    for (size_t i = 0; i < arms->count; i++) {
        size_t count = 0;
        const struct assay__outcome *all = arms->items[i]
                                               ? assay__arm_outcomes(arms->items[i], &count)
                                               : NULL;
        for (size_t k = 0; k < count; k++) {
            const struct assay__outcome *o = &all[k];
            if (o->adopted) continue;
            measuring_s += o->left_out_ns / 1e9;
            for (size_t w = 0; w < o->window_count; w++)
                if (o->windows[w].end_ns > o->windows[w].begin_ns)
                    measuring_s += (double)(o->windows[w].end_ns - o->windows[w].begin_ns) / 1e9;
            loading_s += o->ready_ns ? (double)(o->ready_ns - o->begin_ns) / 1e9 : o->life_s;
        }
    }
    struct assay_metrics *metrics = assay__arms_trial(arms, 0)->metrics;
    assay_metrics_measured(metrics, "sweep.wall.total", total_s, "clock",
                           "from the start of the command until all metrics were computed");
    assay_metrics_measured(metrics, "sweep.wall.measuring", measuring_s, "clock",
                           "the windows of all launches, including those left out");
    assay_metrics_measured(
        metrics, "sweep.wall.loading", loading_s, "clock",
        "from the start of each worker to its first window: process, session, warm-up");
    assay_metrics_derived(metrics, "sweep.wall.overhead", total_s - measuring_s - loading_s,
                          "clock", "total - measuring - loading");
    int code = assay_metrics_failed(metrics);
    return code ? assay_error_set(error, code, "out of memory for the metrics") : 0;
}

int assay__sweep_run(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                     struct assay__sweep_tally *tally, struct assay_error *error)
{
    int code = 0, launches = plan->whole->measuring.launches;
    *tally = (struct assay__sweep_tally){0};
    for (size_t i = 0; i < plan->space->points && !code; i++) {
        struct assay__run_options one;
        struct assay__arm_identity identity;
        const char *refusal = "";
        code = point_options(plan, i, &one, &identity, &refusal, error);
        if (!code)
            code = *refusal ? assay__arms_add_refused(arms, &one, &identity, refusal, NULL, error)
                            : assay__arms_add(arms, &one, &identity, NULL, error);
    }
    size_t count = arms->count;
    if (!code && plan->kept) {
        code = assay__sweep_resumable(plan->kept, arms->recording.profile, error);
        if (code && error) error->option = "resume";
    }
    if (!code) code = assay__arms_start(arms, error);
    if (!code && plan->kept)
        code = assay__sweep_adopt(arms, plan->kept, count, launches, tally, error);
    size_t *had = assay__arena_array(plan->space->arena, count, sizeof *had),
           *round = assay__arena_array(plan->space->arena, count, sizeof *round);
    if (!code && (!had || !round)) code = assay__no_memory(error);
    for (size_t i = 0; i < count && !code; i++)
        if (arms->items[i]) assay__arm_outcomes(arms->items[i], &had[i]);
    for (size_t i = 0; i < count && !code; i++)
        if (arms->items[i] && had[i] < (size_t)launches)
            plan->course->planned += (size_t)launches - had[i];
    plan->course->points = (int)count;
    plan->course->begin_ns = assay__now_ns();
    /* rounds over the points that lack that launch, forwards and backwards */
    for (int r = 0; r < launches && !code; r++) {
        size_t members = 0;
        for (size_t i = 0; i < count; i++)
            if (arms->items[i] && had[i] <= (size_t)r) round[members++] = i;
        code = assay__course_round(plan->course, arms, round, members, r % 2 != 0, error);
    }
    size_t ran = 0;
    for (size_t i = 0; i < count && !code; i++)
        if (arms->items[i]) round[ran++] = i;
    const struct assay__quiet quiet = {
        .spent_s = (double)(assay__now_ns() - plan->course->begin_ns) / 1e9,
        .left_s = INFINITY,
        .launches = launches};
    bool repeated;
    if (!code) code = assay__arms_when_quiet(arms, round, ran, &quiet, &repeated, error);
    for (size_t i = 0; i < count && !code; i++)
        code = assay__arms_conclude(arms, i, error);
    if (!code) code = judge_outputs(arms, plan, count, error);
    if (!code && plan->confirm && !assay__arms_interrupted(arms))
        code = confirm(arms, plan, tally, error);
    for (size_t i = count; i < arms->count && !code; i++)
        code = assay__arms_conclude(arms, i, error);
    return code || !arms->count ? code : put_wall(arms, plan->start_ns, error);
}
