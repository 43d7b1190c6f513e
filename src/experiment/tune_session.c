/* tune_session.c - runs a tuning: launches what the search proposes until the budget is spent.
 *
 * A point has one arm for the search (role "start" or "search"); the finalists have new ones (role
 * "finalist"), so that the launches that selected them do not judge them; the contribution of each
 * setting is measured by arms of role "ablation", next to a new one of the best. Energy is known
 * only when the sensor readings end, not during the search: then latency guides the search, the
 * finalists are judged by their energy, and there is no ablation. */
#include "experiment/course.h"
#include "experiment/tune_session.h"

#include "experiment/quiet.h"
#include "experiment/same_levels.h"
#include "experiment/tune.h"
#include "judge/tune_report.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/stats.h"
#include "run/trial/drift.h"
#include "run/arm/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINAL_LONGEST_S 1.0
#define RESERVE_MOST 0.4  /* of the budget, for the finalists */
#define FINAL_SHARE 0.6   /* of the time left that the finalists may take */
#define NO_USE 0.01       /* of the logarithm of the cost: predicted effect of a setting */
#define LEVELS_SHARE 0.05 /* of the budget, to compare graphs */
#define REPEATS 1         /* of a launch that was lost */
#define REPEATS_START 2   /* everything is judged against the start */

struct session {
    const struct assay__tune_job *job;
    struct assay__arms *arms;
    struct assay__tune *tune;
    struct assay__course *course;
    struct assay__tune_grid grid;
    size_t *arm;      /* by point; SIZE_MAX: none yet */
    double *launch_s; /* by point: duration of its last launch; NaN */
    double *p50_s;    /* by point: of its last launch; NaN */
    double *broken;   /* by point: output values that are NaN or infinite; NaN unknown */
    double spent_s;   /* by all launches */
    size_t launches, start, concluded;         /* arms whose metrics are final */
    bool drift_known[2][ASSAY__CONFIG_VALUES]; /* by device, by precision */
};

static double left_s(const struct session *s)
{
    return s->job->plan->budget_s - (double)(assay__now_ns() - s->job->begin_ns) / 1e9;
}

static double guess_s(const struct session *s, size_t point)
{
    if (isfinite(s->launch_s[point])) return s->launch_s[point];
    return s->launches ? s->spent_s / (double)s->launches : 0;
}

/* --- the grid --------------------------------------------------------------------------------- */

static size_t value_of(const struct assay__config_space *space, enum assay__axis axis,
                       const char *word, size_t otherwise)
{
    for (size_t i = 0; i < space->axes[axis].count; i++)
        if (strcmp(space->axes[axis].values[i], word) == 0) return i;
    return otherwise;
}

/* The point that is tried first: the defaults, as far as the space contains them, on a usable
 * device, preferably a real one. */
static size_t usable_start(const struct assay__tune_job *job)
{
    const struct assay__config_space *space = job->space;
    size_t choices[ASSAY__AXIS_COUNT] = {0}, levels = space->axes[ASSAY__AXIS_OPT].count,
           threads = space->axes[ASSAY__AXIS_THREADS].count,
           device = value_of(space, ASSAY__AXIS_DEVICE, "cpu", 0);
    for (int software = 0; software < 2; software++)
        for (size_t v = 0; v < space->axes[ASSAY__AXIS_DEVICE].count; v++)
            if ((job->refusals[device] || job->software[device] > software) && !job->refusals[v] &&
                job->software[v] <= software)
                device = v;
    choices[ASSAY__AXIS_DEVICE] = device;
    choices[ASSAY__AXIS_PRECISION] = value_of(space, ASSAY__AXIS_PRECISION, "float32", 0);
    choices[ASSAY__AXIS_OPT] = value_of(space, ASSAY__AXIS_OPT, "all", levels ? levels - 1 : 0);
    choices[ASSAY__AXIS_THREADS] = threads ? threads - 1 : 0;
    choices[ASSAY__AXIS_SPINNING] = value_of(space, ASSAY__AXIS_SPINNING, "on", 0);
    return assay__config_point(space, choices);
}

/* --- arms ------------------------------------------------------------------------------------- */

static int add_arm(struct session *s, size_t point, enum assay__trial_role role, double time_s,
                   size_t *index, struct assay_error *error)
{
    const struct assay__tune_job *job = s->job;
    struct assay__run_options one = *job->whole;
    struct assay_error refusal = {0};
    struct assay__arm_identity identity;
    size_t device = assay__config_choice(job->space, point, ASSAY__AXIS_DEVICE);
    int code = assay__config_apply(job->space, point, &one, &identity, &refusal);
    if (code && code != ASSAY_EUNSUPPORTED) return assay_error_set(error, code, "out of memory");
    identity.software = job->software[device];
    identity.role = role;
    if (!one.measuring.iterations) one.measuring.time_s = time_s;
    const char *why = job->refusals[device] ? job->refusals[device] : refusal.message;
    return *why ? assay__arms_add_refused(s->arms, &one, &identity, why, index, error)
                : assay__arms_add(s->arms, &one, &identity, index, error);
}

static const struct {
    const char *name;
    double q;
} percentiles[] = {{"latency.p50", 0.5},  {"latency.p90", 0.9},    {"latency.p95", 0.95},
                   {"latency.p99", 0.99}, {"latency.p999", 0.999}, {"latency.max", 1},
                   {"latency.mean", 0.5}};

/* NaN: there is no latency limit. */
static double limit_quantile(const struct assay__plan *plan)
{
    for (size_t i = 0; plan->slo_metric && i < sizeof percentiles / sizeof percentiles[0]; i++)
        if (strcmp(percentiles[i].name, plan->slo_metric) == 0) return percentiles[i].q;
    return NAN;
}

/* How long a launch must measure for the percentile of the limit to be known; half of it may be
 * warm-up. */
static double limit_needs_s(const struct session *s, size_t point)
{
    double q = limit_quantile(s->job->plan);
    if (!(q > 0.5 && q < 1) || !isfinite(s->p50_s[point])) return 0;
    return 2.2 * (double)assay__stats_percentile_needs(q) * s->p50_s[point];
}

/* How much worse than allowed, as a factor that leads the search back to what is allowed. */
static double penalty(const struct session *s, size_t index, const struct assay__launch *launch)
{
    const struct assay__plan *plan = s->job->plan;
    double factor = 1;
    size_t count = 0, kept = launch->sample_count - launch->warmup;
    const struct assay__outcome *outcomes = assay__arm_outcomes(s->arms->items[index], &count);
    double peak = count ? outcomes[count - 1].memory.peak : NAN;
    if (isfinite(plan->memory_bytes) && peak > plan->memory_bytes)
        factor *= 1.3 * pow(peak / plan->memory_bytes, 2);
    double q = limit_quantile(plan);
    double *sorted = q > 0 && kept ? malloc(kept * sizeof *sorted) : NULL;
    if (!sorted) return factor;
    memcpy(sorted, launch->samples_ns + launch->warmup, kept * sizeof *sorted);
    assay__stats_sort(sorted, kept);
    double over = assay__stats_percentile(sorted, kept, q) / 1e9 / plan->slo_s;
    if (over > 1) factor *= 1.3 * over * over;
    free(sorted);
    return factor;
}

/* One launch; *cost is NaN if it failed or was not made. */
static int launch(struct session *s, size_t point, size_t index, double *cost,
                  struct assay_error *error)
{
    uint64_t begin_ns = assay__now_ns();
    size_t before = assay__arms_trial(s->arms, index)->launch_count;
    *cost = NAN;
    s->course->point = (int)assay__tune_configurations(s->tune);
    s->course->points = (int)assay__tune_configurations_most(s->tune);
    int code = assay__arms_round(s->arms, &index, 1, false, error);
    const struct assay__trial *trial = assay__arms_trial(s->arms, index);
    assay__course_launched(s->course, trial);
    if (code || trial->launch_count == before) return code;
    const struct assay__launch *last = &trial->launches[trial->launch_count - 1];
    s->launch_s[point] = (double)(assay__now_ns() - begin_ns) / 1e9;
    s->spent_s += s->launch_s[point];
    s->launches++;
    if (last->state != ASSAY__TRIAL_OK || !(last->p50_ns > 0)) return 0;
    s->p50_s[point] = last->p50_ns / 1e9;
    *cost = last->p50_ns / 1e9;
    if (s->job->plan->goal == ASSAY__PLAN_THROUGHPUT && trial->batch > 0)
        *cost /= (double)trial->batch;
    *cost *= penalty(s, index, last);
    return 0;
}

/* The worker of the arm's last launch disappeared without a message: killed or crashed. Unlike a
 * rejection by the engine, that may be an accident. */
static bool was_lost(const struct session *s, size_t index)
{
    size_t count = 0;
    const struct assay__arm *arm = s->arms->items[index];
    const struct assay__outcome *outcomes = arm ? assay__arm_outcomes(arm, &count) : NULL;
    return count && outcomes[count - 1].code == ASSAY_ECRASH && !assay__arms_interrupted(s->arms);
}

/* --- drift ------------------------------------------------------------------------------------ */

/* Its outputs contain something that is not a number: there is nothing to compare it with, and it
 * cannot be recommended. */
static bool is_broken(const struct session *s, size_t point)
{
    return isfinite(s->job->plan->drift_limit) && s->broken[point] > 0;
}

static bool has_same(const struct session *s, size_t point, size_t other, enum assay__axis axis)
{
    return assay__config_choice(s->job->space, point, axis) ==
           assay__config_choice(s->job->space, other, axis);
}

/* A float32 arm with outputs of the same shape as the point's, on the start's device if one there
 * produces numbers; SIZE_MAX: none. */
static size_t reference_of(const struct session *s, size_t point)
{
    for (int anywhere = 0; anywhere < 2; anywhere++)
        for (size_t p = 0; p < s->job->space->points; p++)
            if (s->arm[p] != SIZE_MAX && s->arms->items[s->arm[p]] && isfinite(s->p50_s[p]) &&
                !is_broken(s, p) && has_same(s, p, point, ASSAY__AXIS_SEQ) &&
                has_same(s, p, point, ASSAY__AXIS_BATCH) &&
                has_same(s, p, s->start, ASSAY__AXIS_PRECISION) &&
                (anywhere || has_same(s, p, s->start, ASSAY__AXIS_DEVICE)))
                return s->arm[p];
    return SIZE_MAX;
}

/* Keeps the search away from a device or precision whose first outputs differ too much from those
 * of the start; judged by points that differ from the start only in that one of the two. */
static void judge_outputs(struct session *s, size_t point, size_t index)
{
    bool same_device = has_same(s, point, s->start, ASSAY__AXIS_DEVICE);
    if (same_device == has_same(s, point, s->start, ASSAY__AXIS_PRECISION)) return;
    enum assay__axis axis = same_device ? ASSAY__AXIS_PRECISION : ASSAY__AXIS_DEVICE;
    size_t value = assay__config_choice(s->job->space, point, axis);
    size_t reference = reference_of(s, point);
    struct assay__drift drift = {0};
    double worst = NAN;
    if (!isfinite(s->job->plan->drift_limit) || s->drift_known[same_device][value] ||
        reference == SIZE_MAX)
        return;
    if (assay__drift_folders(s->arms->items[reference]->outputs, s->arms->items[index]->outputs,
                             &drift, NULL) == 0)
        for (size_t i = 0; i < drift.output_count; i++)
            worst = drift.outputs[i].broken ? INFINITY : fmax(worst, drift.outputs[i].relative_l2);
    assay__drift_free(&drift);
    s->drift_known[same_device][value] = !isnan(worst);
    if (worst > s->job->plan->drift_limit) assay__tune_ban(s->tune, axis, value);
}

/* --- the search ------------------------------------------------------------------------------- */

/* One more launch of a point for the search. A first launch that was lost is repeated while there
 * is time, in a separate arm, because a trial with a lost launch has failed. */
static int try_point(struct session *s, size_t point, struct assay_error *error)
{
    size_t device = assay__config_choice(s->job->space, point, ASSAY__AXIS_DEVICE);
    enum assay__trial_role role = point == s->start ? ASSAY__ROLE_START : ASSAY__ROLE_SEARCH;
    int repeats = point == s->start ? REPEATS_START : REPEATS, code = 0;
    double cost = NAN, time_s = s->job->whole->measuring.time_s;
    if (s->arm[point] == SIZE_MAX) code = add_arm(s, point, role, time_s, &s->arm[point], error);
    if (!code) code = launch(s, point, s->arm[point], &cost, error);
    for (int i = 0; i < repeats && !code; i++) {
        if (isfinite(cost) || isfinite(s->p50_s[point]) || !was_lost(s, s->arm[point]) ||
            left_s(s) < guess_s(s, point))
            break;
        code = add_arm(s, point, role, time_s, &s->arm[point], error);
        if (!code) code = launch(s, point, s->arm[point], &cost, error);
    }
    if (code || assay__arms_interrupted(s->arms)) return code;
    if (isfinite(cost) && isnan(s->broken[point])) {
        code = assay__arms_nonfinite(s->arms, s->arm[point], error);
        if (code) return code;
        s->broken[point] = assay__trial_value(assay__arms_trial(s->arms, s->arm[point]),
                                              "outputs.nonfinite");
    }
    if (is_broken(s, point)) cost = NAN; /* counts as failed */
    if (assay__tune_tell(s->tune, point, cost)) return assay__no_memory(error);
    if (isfinite(cost)) judge_outputs(s, point, s->arm[point]);
    if (s->job->software[device]) assay__tune_ban(s->tune, ASSAY__AXIS_DEVICE, device);
    return 0;
}

/* What the finalists need: the best so far, a rival and the start; at most a part of a small
 * budget, because then there is little to judge. */
static double reserve_s(const struct session *s)
{
    size_t best = assay__tune_incumbent(s->tune);
    if (best == SIZE_MAX) return 0;
    double need_s = ASSAY__TUNE_FINAL_LAUNCHES * (2 * guess_s(s, best) + guess_s(s, s->start));
    return fmin(need_s * 1.1, RESERVE_MOST * s->job->plan->budget_s);
}

static int search(struct session *s, size_t *finalists, size_t *count, struct assay_error *error)
{
    enum assay__tune_stage stage = ASSAY__TUNE_DESIGN;
    size_t points[ASSAY__TUNE_ROUND];
    for (bool back = false; !assay__arms_interrupted(s->arms); back = !back) {
        int code = assay__tune_round(s->tune, &stage, points, count);
        if (code) return assay_error_set(error, code, "out of memory");
        if (stage >= ASSAY__TUNE_FINAL) {
            memcpy(finalists, points, *count * sizeof *points);
            return 0;
        }
        for (size_t i = 0; i < *count && !code && !assay__arms_interrupted(s->arms); i++) {
            size_t point = points[back ? *count - 1 - i : i];
            if (s->launches && left_s(s) < guess_s(s, point) + reserve_s(s)) {
                assay__tune_hurry(s->tune, ASSAY__TUNE_FINAL);
                break;
            }
            code = try_point(s, point, error);
        }
        if (code) return code;
    }
    *count = 0;
    return 0;
}

/* --- the finalists ---------------------------------------------------------------------------- */

/* New launches of each of the points, alternating, while the budget lasts; `most_s` is how long one
 * may measure if the latency limit needs more than `time_s`. */
static int measure_anew(struct session *s, const size_t *points, size_t count,
                        enum assay__trial_role role, double time_s, double most_s,
                        struct assay_error *error)
{
    size_t arms[ASSAY__TUNE_ROUND];
    double round_s = 0;
    uint64_t start_ns = assay__now_ns();
    bool repeated;
    int code = 0;
    for (size_t i = 0; i < count && !code; i++)
        code = add_arm(s, points[i], role, fmax(time_s, fmin(most_s, limit_needs_s(s, points[i]))),
                       &arms[i], error);
    for (int r = 0; r < ASSAY__TUNE_FINAL_LAUNCHES && !code; r++) {
        uint64_t begin_ns = assay__now_ns();
        if (left_s(s) < round_s) break;
        for (size_t i = 0; i < count && !code && !assay__arms_interrupted(s->arms); i++) {
            size_t k = r % 2 ? count - 1 - i : i;
            double cost = NAN;
            code = launch(s, points[k], arms[k], &cost, error);
            if (!code && was_lost(s, arms[k]) && left_s(s) > guess_s(s, points[k]))
                code = launch(s, points[k], arms[k], &cost, error);
        }
        round_s = (double)(assay__now_ns() - begin_ns) / 1e9;
    }
    const struct assay__quiet quiet = {.spent_s = (double)(assay__now_ns() - start_ns) / 1e9,
                                       .left_s = left_s(s),
                                       .launches = ASSAY__TUNE_FINAL_LAUNCHES};
    return code ? code : assay__arms_when_quiet(s->arms, arms, count, &quiet, &repeated, error);
}

static double sum_s(const struct session *s, const size_t *points, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ASSAY__TUNE_FINAL_LAUNCHES *
               (guess_s(s, points[i]) +
                fmax(limit_needs_s(s, points[i]) - s->job->whole->measuring.time_s, 0));
    return sum;
}

static bool is_among(const size_t *points, size_t count, size_t point)
{
    for (size_t i = 0; i < count; i++)
        if (points[i] == point) return true;
    return false;
}

/* Nothing with that value succeeded, although it was tried: it would not succeed now. */
static bool is_hopeless(const struct session *s, size_t axis, size_t value)
{
    bool tried = false;
    for (size_t p = 0; p < s->job->space->points; p++) {
        if (assay__tune_grid_choice(&s->grid, p, axis) != value || !isfinite(s->launch_s[p]))
            continue;
        if (isfinite(s->p50_s[p]) && !is_broken(s, p)) return false;
        tried = true;
    }
    return tried;
}

/* One more finalist, after the most promising ones, if it runs and there is time. The search's
 * shares of the grid do not change: a new point counts as a configuration, and from three finalists
 * on the least promising one makes room. */
static int add_finalist(struct session *s, size_t point, size_t *points, size_t *count,
                        struct assay_error *error)
{
    int code = 0;
    if (point == s->start || is_among(points, *count, point)) return 0;
    if (s->arm[point] == SIZE_MAX && left_s(s) > guess_s(s, point) + reserve_s(s) &&
        assay__tune_configurations(s->tune) < assay__tune_configurations_most(s->tune))
        code = try_point(s, point, error);
    if (code || !isfinite(s->p50_s[point]) || is_broken(s, point)) return code;
    if (*count < 3) ++*count;
    memmove(points + 2, points + 1, (*count - 2) * sizeof *points);
    points[1] = point;
    return 0;
}

/* The finalists, including the start if it succeeded; as many as the remaining time allows, at
 * least two. A change has to prove useful, especially a precision that costs accuracy: the most
 * promising one with the start's precision takes part, and so does the one with every setting reset
 * that seems useless. */
static int final(struct session *s, size_t *points, size_t *finalists, struct assay_error *error)
{
    size_t usual = assay__tune_grid_choice(&s->grid, s->start, ASSAY__AXIS_PRECISION),
           plain = points[0];
    int code = add_finalist(s, assay__tune_grid_with(&s->grid, plain, ASSAY__AXIS_PRECISION, usual),
                            points, finalists, error);
    for (size_t a = 0; a < ASSAY__AXIS_COUNT; a++) {
        usual = assay__tune_grid_choice(&s->grid, s->start, a);
        size_t back = assay__tune_grid_with(&s->grid, plain, a, usual);
        if (!is_hopeless(s, a, usual) &&
            assay__tune_belief(s->tune, back) < assay__tune_belief(s->tune, plain) + NO_USE)
            plain = back;
    }
    if (!code) code = add_finalist(s, plain, points, finalists, error);
    if (code || assay__arms_interrupted(s->arms)) return code;
    size_t count = *finalists;
    bool has_start = is_among(points, count, s->start);
    while (count > 1 &&
           sum_s(s, points, count) + (has_start ? 0 : sum_s(s, &s->start, 1)) > left_s(s)) {
        count--;
        has_start = has_start && points[count] != s->start;
    }
    if (!has_start && isfinite(s->p50_s[s->start]) && !is_broken(s, s->start))
        points[count++] = s->start;
    *finalists = count;
    if (count < 1 || left_s(s) <= 0) return 0;
    double launches = (double)(count * ASSAY__TUNE_FINAL_LAUNCHES),
           room_s = (FINAL_SHARE * left_s(s) - sum_s(s, points, count)) / launches,
           time_s = s->job->whole->measuring.time_s;
    if (room_s > 0) time_s = fmin(fmax(time_s, FINAL_LONGEST_S), time_s + room_s);
    return measure_anew(s, points, count, ASSAY__ROLE_FINALIST, time_s, 0.8 * left_s(s) / launches,
                        error);
}

/* --- the end ---------------------------------------------------------------------------------- */

static size_t point_of(const struct session *s, const char *label)
{
    for (size_t p = 0; p < s->job->space->points; p++)
        if (s->arm[p] != SIZE_MAX &&
            strcmp(assay__arms_trial(s->arms, s->arm[p])->label, label) == 0)
            return p;
    return SIZE_MAX;
}

/* The arms whose metrics are not final yet. They are not launched again. */
static int conclude(struct session *s, struct assay_error *error)
{
    int code = 0;
    for (size_t i = s->concluded; i < s->arms->count && !code; i++)
        code = assay__arms_conclude(s->arms, i, error);
    for (size_t i = s->concluded; i < s->arms->count && !code; i++) {
        if (!s->arms->items[i]) continue;
        size_t point = point_of(s, assay__arms_trial(s->arms, i)->label);
        size_t reference = point != SIZE_MAX ? reference_of(s, point) : SIZE_MAX;
        code = assay__arms_nonfinite(s->arms, i, error);
        if (!code && reference != SIZE_MAX && reference != i)
            code = assay__arms_drift_one(s->arms, reference, i, error);
    }
    s->concluded = s->arms->count;
    return code;
}

/* What the report will call the best, and each of its settings that differs from the start reset
 * alone, unless that was a finalist; only if there is time for all, and if it was judged: the
 * contributions to another configuration are of no use. */
static int ablate(struct session *s, const size_t *finalists, size_t finalist_count,
                  struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__tune_result result;
    size_t points[ASSAY__AXIS_COUNT + 1], count = 1, best = SIZE_MAX;
    int code = conclude(s, error);
    if (!code && (!arena || assay__tune_result(s->arms->recording.profile, arena, &result)))
        code = assay__no_memory(error);
    if (!code && result.best != SIZE_MAX && result.rows[result.best].fate == ASSAY__FATE_FINALIST)
        best = point_of(s, result.rows[result.best].judged.label);
    assay__arena_free(arena);
    if (code || best == SIZE_MAX || best == s->start) return code;
    points[0] = best;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT; a++) {
        size_t usual = assay__tune_grid_choice(&s->grid, s->start, a);
        size_t changed = assay__tune_grid_with(&s->grid, best, a, usual);
        if (changed != best && !is_among(finalists, finalist_count, changed) &&
            !is_hopeless(s, a, usual))
            points[count++] = changed;
    }
    if (count < 2 || sum_s(s, points, count) > left_s(s)) return 0;
    return measure_anew(s, points, count, ASSAY__ROLE_ABLATION, s->job->whole->measuring.time_s, 0,
                        error);
}

/* Levels of optimisation that give the same graph are one setting. Finding that out may take a
 * twentieth of the budget. */
static int skip_same_levels(struct session *s, struct assay_error *error)
{
    const struct assay__config_space *space = s->job->space;
    const struct assay__arm *start = s->arms->items[s->arm[s->start]];
    const char *usual = space->axes[ASSAY__AXIS_PRECISION].count ? "float32" : NULL;
    size_t level = assay__config_choice(space, s->start, ASSAY__AXIS_OPT), skipped = 0;
    struct assay__same_levels same;
    struct assay__run_options run = *s->job->whole;
    if (!start || space->axes[ASSAY__AXIS_OPT].count < 2) return 0;
    run.target.device = start->options.target.device;
    run.target.library = start->options.target.library;
    assay__same_levels_start(&same);
    double until_s = left_s(s) - LEVELS_SHARE * s->job->plan->budget_s;
    size_t precisions = usual ? space->axes[ASSAY__AXIS_PRECISION].count : 1;
    int code = 0;
    for (size_t v = 0; v < precisions && !code; v++) {
        bool own = !usual || strcmp(space->axes[ASSAY__AXIS_PRECISION].values[v], usual) == 0;
        const char *path = own ? start->model_path : space->models[v];
        if (path && left_s(s) > until_s) {
            assay__progress(&run.callbacks, "comparing graphs", -1);
            code = assay__same_levels_find(&same, space, v, path, &run, level, left_s(s) - until_s);
        }
    }
    for (size_t p = 0; p < space->points && !code; p++) {
        size_t v = assay__config_choice(space, p, ASSAY__AXIS_OPT);
        if (same.as[assay__config_choice(space, p, ASSAY__AXIS_PRECISION)][v] == v ||
            !has_same(s, p, s->start, ASSAY__AXIS_DEVICE))
            continue;
        assay__tune_skip(s->tune, p);
        skipped++;
    }
    if (skipped)
        assay__remark(&run.callbacks,
                      "%zu of %zu configurations are not tried: their level of optimisation gives "
                      "the same graph as another",
                      skipped, space->points);
    return code == ASSAY_ENOMEM ? assay__no_memory(error) : 0; /* an interrupted one ends later */
}

/* Threads spin while they wait for each other: with one thread, only one setting is tried. */
static void skip_equals(struct session *s)
{
    const struct assay__config_space *space = s->job->space;
    const struct assay__config_values *threads = &space->axes[ASSAY__AXIS_THREADS];
    const size_t usual = assay__config_choice(space, s->start, ASSAY__AXIS_SPINNING);
    size_t skipped = 0;
    for (size_t p = 0; p < space->points && threads->count; p++) {
        size_t choice = assay__config_choice(space, p, ASSAY__AXIS_THREADS);
        if (strcmp(threads->values[choice], "1") != 0 ||
            assay__config_choice(space, p, ASSAY__AXIS_SPINNING) == usual)
            continue;
        assay__tune_skip(s->tune, p);
        skipped++;
    }
    if (skipped)
        assay__remark(
            &s->job->whole->callbacks,
            "%zu of %zu configurations are not tried: with one thread, spinning has no effect",
            skipped, space->points);
}

static int start_session(struct session *s, struct assay_error *error)
{
    const struct assay__tune_job *job = s->job;
    struct assay__tune_options options = {s->start, job->configurations, job->seed};
    s->grid.axis_count = ASSAY__AXIS_COUNT;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT; a++) {
        const struct assay__config_values *values = &job->space->axes[a];
        struct assay__tune_axis *axis = &s->grid.axes[a];
        axis->count = values->count ? values->count : 1;
        axis->ordered = assay__axis_is_number((enum assay__axis)a);
        for (size_t i = 0; axis->ordered && i < values->count; i++)
            axis->positions[i] = log2(fmax(strtod(values->values[i], NULL), 1));
    }
    s->arm = malloc(job->space->points * sizeof *s->arm);
    s->launch_s = malloc(job->space->points * sizeof *s->launch_s);
    s->p50_s = malloc(job->space->points * sizeof *s->p50_s);
    s->broken = malloc(job->space->points * sizeof *s->broken);
    s->tune = assay__tune_new(&s->grid, &options);
    if (!s->arm || !s->launch_s || !s->p50_s || !s->broken || !s->tune)
        return assay__no_memory(error);
    skip_equals(s);
    for (size_t p = 0; p < job->space->points; p++) {
        s->arm[p] = SIZE_MAX;
        s->launch_s[p] = s->p50_s[p] = s->broken[p] = NAN;
    }
    int code = assay__arms_begin(s->arms, job->whole, job->plan, error);
    if (!code)
        code = add_arm(s, s->start, ASSAY__ROLE_START, job->whole->measuring.time_s,
                       &s->arm[s->start], error);
    if (!code) code = assay__arms_start(s->arms, error);
    if (!code) code = skip_same_levels(s, error);
    for (size_t a = 0; a <= ASSAY__AXIS_PRECISION && !code; a++)
        for (size_t v = 0; v < job->space->axes[a].count && !code; v++) {
            size_t point = assay__tune_grid_with(&s->grid, s->start, a, v);
            bool refused = a == ASSAY__AXIS_DEVICE ? job->refusals[v] != NULL
                                                   : job->space->refusals[v] != NULL;
            if (!refused) continue;
            assay__tune_ban(s->tune, a, v);
            if (point != s->start)
                code = add_arm(s, point, ASSAY__ROLE_REFUSED, job->whole->measuring.time_s,
                               &s->arm[point], error);
        }
    return code;
}

int assay__tune_measure(struct assay__arms *arms, const struct assay__tune_job *job,
                        struct assay_error *error)
{
    struct session s = {
        .job = job, .arms = arms, .course = job->course, .start = usable_start(job)};
    size_t points[ASSAY__TUNE_ROUND + 1], count = 0;
    int code = start_session(&s, error);
    if (!code) code = search(&s, points, &count, error);
    if (!code && count) code = final(&s, points, &count, error);
    if (!code && count && job->plan->goal != ASSAY__PLAN_ENERGY && !assay__arms_interrupted(arms))
        code = ablate(&s, points, count, error);
    if (!code) code = conclude(&s, error);
    if (!code && arms->count)
        code = assay_metrics_measured(assay__arms_trial(arms, 0)->metrics, "tune.elapsed",
                                      job->plan->budget_s - left_s(&s), "clock",
                                      "from the start of the command");
    assay__tune_free(s.tune);
    free(s.arm);
    free(s.launch_s);
    free(s.p50_s);
    free(s.broken);
    return code;
}
