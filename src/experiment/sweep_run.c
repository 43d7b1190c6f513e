/* sweep_run.c - measures the points of a sweep, resumes an earlier one, and runs the best two
 * again. */
#include "experiment/sweep_run.h"

#include "judge/sweep.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- points ----------------------------------------------------------------------------------- */

/* What a point means, and what its device makes of it. *refusal says why it cannot run; "" it
 * can. */
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
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    const struct assay__sweep_device *device =
        plan->devices && space->axes[ASSAY__AXIS_DEVICE].count
            ? &plan->devices[assay__config_choice(space, point, ASSAY__AXIS_DEVICE)]
            : NULL;
    if (device && *device->refusal) *refusal = device->refusal;
    if (device) identity->device_class = device->device_class;
    identity->software = device ? device->software : plan->software;
    if (identity->software) identity->role = ASSAY__ROLE_SOFTWARE;
    return 0;
}

static int add_point(struct assay__arms *arms, const struct assay__sweep_plan *plan, size_t point,
                     struct assay_error *error)
{
    struct assay__run_options one;
    struct assay__arm_identity identity;
    const char *refusal = "";
    int code = point_options(plan, point, &one, &identity, &refusal, error);
    if (code) return code;
    return *refusal ? assay__arms_add_refused(arms, &one, &identity, refusal, NULL, error)
                    : assay__arms_add(arms, &one, &identity, NULL, error);
}

/* --- launches --------------------------------------------------------------------------------- */

/* Rounds over the points that miss that launch, there and back. */
static int launch_missing(struct assay__arms *arms, size_t count, int launches,
                          struct assay_error *error)
{
    size_t *had = calloc(count + 1, sizeof *had), *round = calloc(count + 1, sizeof *round);
    int code = had && round ? 0 : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (size_t i = 0; i < count && !code; i++)
        if (arms->items[i]) assay__arm_outcomes(arms->items[i], &had[i]);
    for (int r = 0; r < launches && !code; r++) {
        size_t members = 0;
        for (size_t i = 0; i < count; i++)
            if (arms->items[i] && had[i] <= (size_t)r) round[members++] = i;
        code = assay__arms_round(arms, round, members, r % 2 != 0, error);
    }
    free(had);
    free(round);
    return code;
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* How much a point's outputs are to be believed before others: the model as it is before rewritten
 * copies, then the CPU before others. */
static int trust(const struct assay__sweep_plan *plan, size_t point)
{
    const struct assay__config_space *space = plan->space;
    const struct assay__config_values *precisions = &space->axes[ASSAY__AXIS_PRECISION];
    size_t precision = assay__config_choice(space, point, ASSAY__AXIS_PRECISION),
           device = assay__config_choice(space, point, ASSAY__AXIS_DEVICE);
    bool as_is = !precisions->count || strcmp(precisions->values[precision], "float32") == 0;
    bool cpu = !space->axes[ASSAY__AXIS_DEVICE].count || !plan->devices ||
               plan->devices[device].device_class == ASSAY__CLASS_CPU;
    return 2 * as_is + cpu;
}

/* The most trusted of the points with outputs of the same shape that gave numbers, the first of
 * equals; SIZE_MAX: none. */
static size_t reference_of(const struct assay__arms *arms, const struct assay__sweep_plan *plan,
                           size_t point, size_t count)
{
    static const enum assay__axis same[] = {ASSAY__AXIS_SEQ, ASSAY__AXIS_BATCH};
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < count; k++) {
        const struct assay__trial *trial = assay__arms_trial(arms, k);
        bool fits = assay__trial_value(trial, "outputs.nonfinite") == 0;
        for (size_t i = 0; i < 2 && fits; i++)
            fits = assay__config_choice(plan->space, k, same[i]) ==
                   assay__config_choice(plan->space, point, same[i]);
        if (fits && (best == SIZE_MAX || trust(plan, k) > trust(plan, best))) best = k;
    }
    return best;
}

/* Another device or precision may give other numbers; threads and levels of one device are not
 * compared. */
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
        code = arms->items[reference]
                   ? assay__arms_drift_one(arms, reference, i, error)
                   : assay_metrics_unavailable(assay__arms_trial(arms, i)->metrics,
                                               "drift.relative_l2",
                                               "the outputs to compare with were those of the "
                                               "earlier capture, and are not kept");
    }
    return code;
}

/* --- the best two again ----------------------------------------------------------------------- */

static int confirm(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                   struct assay__sweep_tally *tally, struct assay_error *error)
{
    struct assay_profile *profile = arms->recording.profile;
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    size_t first = arms->count;
    int code = arena && assay__sweep(profile, arena, &sweep) == 0
                   ? 0
                   : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
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

/* Measuring: the windows. Loading: from the start of a worker to its first window (process, engine,
 * session, warm-up); all of a worker that never came so far. The rest is ours. */
static void add_launches(const struct assay__arm *arm, double *measuring_s, double *loading_s)
{
    size_t count = 0;
    const struct assay__outcome *outcomes = assay__arm_outcomes(arm, &count);
    for (size_t i = 0; i < count; i++) {
        const struct assay__outcome *o = &outcomes[i];
        if (!o->begin_ns) continue; /* of an earlier capture */
        uint64_t first_ns = o->window_count ? o->windows[0].begin_ns : 0;
        for (size_t w = 0; w < o->window_count; w++)
            if (o->windows[w].end_ns > o->windows[w].begin_ns)
                *measuring_s += (double)(o->windows[w].end_ns - o->windows[w].begin_ns) / 1e9;
        *loading_s += first_ns > o->begin_ns ? (double)(first_ns - o->begin_ns) / 1e9
                      : !o->window_count     ? o->life_s
                                             : 0;
    }
}

static int put_wall(struct assay__arms *arms, uint64_t start_ns, struct assay_error *error)
{
    double measuring_s = 0, loading_s = 0, total_s = (double)(assay__now_ns() - start_ns) / 1e9;
    for (size_t i = 0; i < arms->count; i++)
        if (arms->items[i]) add_launches(arms->items[i], &measuring_s, &loading_s);
    const struct {
        const char *name, *note;
        double value;
    } rows[] = {
        {"sweep.wall.total", "from the start of the command until all metrics stood", total_s},
        {"sweep.wall.measuring", "the windows of all launches, by the clock of this process",
         measuring_s},
        {"sweep.wall.loading",
         "from the start of each worker to its first window: process, session, warm-up", loading_s},
        {"sweep.wall.overhead", "total - measuring - loading", total_s - measuring_s - loading_s},
    };
    struct assay_metrics *metrics = assay__arms_trial(arms, 0)->metrics;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay_metric metric = {rows[i].name, rows[i].value,
                                      NULL,         i == 3 ? ASSAY_DERIVED : ASSAY_MEASURED,
                                      "clock",      rows[i].note};
        assay_metrics_put(metrics, &metric);
    }
    int code = assay_metrics_failed(metrics);
    return code ? assay_error_set(error, code, "out of memory for the metrics") : 0;
}

int assay__sweep_run(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                     struct assay__sweep_tally *tally, struct assay_error *error)
{
    int code = 0, launches = plan->whole->measuring.launches;
    *tally = (struct assay__sweep_tally){0};
    for (size_t i = 0; i < plan->space->points && !code; i++)
        code = add_point(arms, plan, i, error);
    size_t count = arms->count;
    if (!code && plan->kept) {
        code = assay__sweep_resumable(plan->kept, arms->recording.profile, error);
        if (code && error) error->option = "resume";
    }
    if (!code) code = assay__arms_start(arms, error);
    if (!code && plan->kept)
        code = assay__sweep_adopt(arms, plan->kept, count, launches, tally, error);
    if (!code) code = launch_missing(arms, count, launches, error);
    for (size_t i = 0; i < count && !code; i++)
        code = assay__arms_conclude(arms, i, error);
    if (!code) code = judge_outputs(arms, plan, count, error);
    if (!code && plan->confirm && !assay__arms_interrupted(arms))
        code = confirm(arms, plan, tally, error);
    for (size_t i = count; i < arms->count && !code; i++)
        code = assay__arms_conclude(arms, i, error);
    return code || !arms->count ? code : put_wall(arms, plan->start_ns, error);
}
