/* run.c - one arm in a profile of its own. The profile's file is made before measuring, so that an
 * unwritable place costs no measurement. */
#include "base/clock.h"
#include "run/arm/arm.h"

#define MORE_LAUNCHES 2 /* when the layers were timed while the machine was in another state … */
#define MORE_UNTIL_S 12.0 /* … and this is not over */

/* Where nothing else was asked for, several short launches tell more than a long one: a process
 * cannot know how much processes differ. */
static bool may_be_brief(const struct assay__run_options *o)
{
    return !o->measuring.launches && !o->measuring.iterations && !(o->measuring.time_s > 0) &&
           !o->script && !o->workload.generate && !o->watching.power && !o->watching.memory &&
           !o->watching.counters;
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
        for (int i = 0; i < options.measuring.launches && code == 0 && !assay__arm_interrupted(arm);
             i++)
            code = assay__arm_launch(arm, error);
        for (int i = 0; i < MORE_LAUNCHES && options.brief && code == 0; i++) {
            double spent_s = (double)(assay__now_ns() - arm->start_ns) * 1e-9;
            if (assay__arm_interrupted(arm) || assay__arm_layers_fit(arm) || spent_s > MORE_UNTIL_S)
                break;
            code = assay__arm_launch(arm, error);
        }
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
