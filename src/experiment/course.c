/* course.c - progress of an experiment with many launches. The time left is that of the remaining
 * launches, each as long as the average so far; or what is left of the budget. */
#include "experiment/course.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>

static void on_progress(void *context, const struct assay_progress *given)
{
    const struct assay__course *course = context;
    struct assay_progress own = *given;
    uint64_t spent_ns = assay__now_ns() - course->begin_ns;
    if (!course->caller.progress) return;
    own.point = course->point;
    own.points = course->points;
    own.best = *course->best ? course->best : NULL;
    if (course->budget_ns) {
        own.done = fmin((double)spent_ns / (double)course->budget_ns, 1);
        own.left_s = fmax((double)course->budget_ns - (double)spent_ns, 0) / 1e9;
    } else if (course->planned) {
        double launches = (double)course->launches + fmax(given->done, 0);
        double left = (double)course->planned - launches;
        own.done = fmin(launches / (double)course->planned, 1);
        if (course->launches) own.left_s = fmax((double)spent_ns / launches * left, 0) / 1e9;
    }
    course->caller.progress(course->caller.context, &own);
}

static void on_remark(void *context, const char *remark)
{
    const struct assay__course *course = context;
    if (course->caller.remark) course->caller.remark(course->caller.context, remark);
}

void assay__course_begin(struct assay__course *course, struct assay_callbacks *callbacks,
                         enum assay__plan_goal goal)
{
    *course = (struct assay__course){
        .caller = *callbacks, .goal = goal, .begin_ns = assay__now_ns(), .cost = INFINITY};
    callbacks->progress = on_progress;
    callbacks->remark = on_remark;
    callbacks->context = course;
}

void assay__course_launched(struct assay__course *course, const struct assay__trial *trial)
{
    const struct assay__launch *last = trial->launch_count
                                           ? &trial->launches[trial->launch_count - 1]
                                           : NULL;
    if (!course) return;
    course->launches++;
    if (!last || last->state != ASSAY__TRIAL_OK || !(last->p50_ns > 0)) return;
    if (course->goal == ASSAY__PLAN_ENERGY) return;
    bool rate = course->goal == ASSAY__PLAN_THROUGHPUT;
    double cost = last->p50_ns / 1e9 / (rate && trial->batch > 0 ? (double)trial->batch : 1);
    if (!(cost < course->cost)) return;
    course->cost = cost;
    snprintf(course->best, sizeof course->best, "%.80s: %s", trial->label,
             rate ? assay__scaled(1 / cost, "1/s").text : assay__scaled(cost, "s").text);
}

int assay__course_round(struct assay__course *course, struct assay__arms *arms,
                        const size_t *indexes, size_t count, bool back, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        size_t index = indexes[back ? count - 1 - i : i];
        course->point = (int)index + 1;
        code = assay__arms_round(arms, &index, 1, false, error);
        assay__course_launched(course, assay__arms_trial(arms, index));
    }
    return code;
}
