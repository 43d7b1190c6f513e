/* run.c - one arm in its own profile. The file is created before measuring, so that an unwritable
 * path does not waste a measurement. */
#include "base/clock.h"
#include "run/arm/arm.h"

#include <math.h>

#define LAUNCHES_LEAST 5u /* the minimum for an interval between launches */
/* then fewer than planned suffice, if the interval is narrow enough; else … */
#define PATIENCE_S 4.0
#define LAUNCHES_MOST 30u /* … there are more: so many, … */
#define UNTIL_S 40.0      /* … until this long after the start */
#define LAYERS_MOST 6u    /* launches with layers for the layers' sake alone */
#define FAILED_MOST 2u    /* counted from the first: the next would fail too */

/* Unless something else was requested, several short launches say more than one long launch: one
 * process cannot show how much processes differ. */
static bool may_be_brief(const struct assay__run_options *o)
{
    return !o->window && !o->measuring.launches && !o->measuring.iterations &&
           !(o->measuring.time_s > 0) && !o->script && !o->workload.generate &&
           !o->watching.power && !o->watching.memory && !o->watching.counters;
}

static double spent_s(const struct assay__arm *arm)
{
    return (double)(assay__now_ns() - arm->start_ns) * 1e-9;
}

/* Whether the median over the launches is known well enough; `wanted`: to that precision. */
static bool is_known(const struct assay__arm *arm, double wanted)
{
    double p50_ns, half_width;
    assay__outcomes_so_far(arm->outcomes, arm->outcome_count, &p50_ns, &half_width);
    return half_width <= wanted;
}

/* Whether there are too few launches without layers, which take longer, for a first interval. */
static bool wants_first(const struct assay__arm *arm)
{
    size_t count = arm->outcome_count;
    if (count >= FAILED_MOST && !isfinite(assay__outcomes_p50(arm->outcomes, count))) return false;
    return count < LAUNCHES_LEAST || (count < ASSAY__BRIEF_LAUNCHES && spent_s(arm) < PATIENCE_S);
}

/* Short launches without layers, so that there is a first number soon; then one with layers. There
 * are more while launches differ, or while the layers do not add up to the median over the launches
 * because those that timed them were not as fast as it. Processes differ more than the windows of
 * one do, so that many launches say more than long ones: once the layers are known, the further
 * ones do without. */
static int launch_briefly(struct assay__arm *arm, struct assay_error *error)
{
    int code = 0;
    bool off = arm->options.measuring.layers == ASSAY_LAYERS_OFF;
    arm->without_layers = true;
    while (!code && !assay__arm_interrupted(arm) && wants_first(arm))
        code = assay__arm_launch(arm, error);
    if (!isfinite(assay__outcomes_p50(arm->outcomes, arm->outcome_count))) return code;
    for (size_t layered = 0; !code && !assay__arm_interrupted(arm);) {
        bool known = is_known(arm, ASSAY__LAUNCHES_AIM);
        bool timed = off || layered >= LAYERS_MOST || (layered && assay__arm_layers_fit(arm));
        bool enough = arm->outcome_count >= LAUNCHES_MOST || spent_s(arm) > UNTIL_S;
        if ((known && timed) || (enough && (layered || off))) break;
        arm->without_layers = timed;
        code = assay__arm_launch(arm, error);
        layered += !timed;
    }
    return code ? code : assay__arm_count_launches(arm, error);
}

static int launch_all(struct assay__arm *arm, struct assay_error *error)
{
    int code = 0;
    for (int i = 0; i < arm->options.measuring.launches; i++) {
        if (code || assay__arm_interrupted(arm)) break;
        code = assay__arm_launch(arm, error);
    }
    return code;
}

int assay__run(const struct assay__run_options *given, struct assay_profile **profile,
               struct assay_error *error)
{
    struct assay_error detail = {0}, stored = {0};
    struct assay__run_options options = *given;
    struct assay__recording recording;
    struct assay__arm *arm = NULL;
    if (!error) error = &detail;
    *profile = NULL;
    options.brief = may_be_brief(&options);
    int code = assay__run_options_check(&options, error);
    if (code) return code;
    bool measured = false;
    code = assay__recording_begin(&recording, &options, error);
    if (code == 0) code = assay__arm_open(&recording, &options, NULL, &arm, error);
    if (code == 0) {
        code = assay__recording_store(&recording, error);
        if (code == 0) code = assay__arm_begin(arm, error);
        if (code == 0) code = options.brief ? launch_briefly(arm, error) : launch_all(arm, error);
        code = code ? code : assay__arm_extra(arm, error);
    }
    if (code == 0) {
        measured = true;
        code = assay__arm_finish(arm, NULL, error);
        if (code == 0 && options.judge)
            code = options.judge(options.judge_context, recording.profile, error);
        int kept = assay__recording_finish(&recording, &stored);
        if (code == 0 && kept) {
            code = kept;
            *error = stored;
        }
    }
    if (measured) *profile = recording.profile;
    assay__arm_close(arm);
    assay__recording_end(&recording, measured);
    return code;
}
