/* run.c - one arm in its own profile. The file is created before measuring, so that an unwritable
 * path does not waste a measurement. */
#include "base/clock.h"
#include "run/arm/arm.h"

#include <math.h>

#define LAUNCHES_LEAST 5u /* the minimum for an interval between launches */
/* then fewer than planned suffice, if the interval is narrow enough; else … */
#define PATIENCE_S 4.0
#define LAUNCHES_MOST 15u /* … there are more: so many, … */
#define UNTIL_S 24.0      /* … until this long after the start */
#define LAYERS_MOST 3u    /* launches with layers, while none was as fast as the median launch */
#define LAYERS_UNTIL_S 40.0
#define FAILED_MOST 2u /* counted from the first: the next would fail too */

/* Unless something else was requested, several short launches say more than one long launch: one
 * process cannot show how much processes differ. */
static bool may_be_brief(const struct assay__run_options *o)
{
    return !o->measuring.launches && !o->measuring.iterations && !(o->measuring.time_s > 0) &&
           !o->script && !o->workload.generate && !o->watching.power && !o->watching.memory &&
           !o->watching.counters;
}

static double spent_s(const struct assay__arm *arm)
{
    return (double)(assay__now_ns() - arm->start_ns) * 1e-9;
}

/* Whether there are too few launches so far to tell how much launches differ. */
static bool wants_launch(const struct assay__arm *arm)
{
    double p50_ns, half_width;
    size_t count = arm->outcome_count;
    if (assay__arm_interrupted(arm)) return false;
    assay__outcomes_so_far(arm->outcomes, count, &p50_ns, &half_width);
    if (count >= FAILED_MOST && !isfinite(p50_ns)) return false;
    if (count < LAUNCHES_LEAST) return true;
    if (count < ASSAY__BRIEF_LAUNCHES && spent_s(arm) < PATIENCE_S) return true;
    return !(half_width <= ASSAY__LAUNCHES_AIM) && count < LAUNCHES_MOST && spent_s(arm) < UNTIL_S;
}

/* Short launches without layers, so that there is a first number soon; then one with layers, and
 * more while none of them was as fast as the median launch. */
static int launch_briefly(struct assay__arm *arm, struct assay_error *error)
{
    int code = 0;
    arm->without_layers = true;
    while (code == 0 && wants_launch(arm))
        code = assay__arm_launch(arm, error);
    arm->without_layers = false;
    bool layers = arm->options.measuring.layers != ASSAY_LAYERS_OFF &&
                  isfinite(assay__outcomes_p50(arm->outcomes, arm->outcome_count));
    for (size_t i = 0; layers && i < LAYERS_MOST && code == 0; i++) {
        if (i && (assay__arm_layers_fit(arm) || spent_s(arm) > LAYERS_UNTIL_S)) break;
        if (assay__arm_interrupted(arm)) break;
        code = assay__arm_launch(arm, error);
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
    const struct assay__run_options asked = options; /* the arm checks and completes its own */
    int code = assay__run_options_check(&options, error);
    if (code) return code;
    bool measured = false;
    code = assay__recording_begin(&recording, &options, error);
    if (code == 0) code = assay__arm_open(&recording, &asked, NULL, &arm, error);
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
