/* course.h - progress of an experiment with many launches: the current point, the best one so far
 * and the time left, added to what each launch reports (struct assay_progress). */
#ifndef ASSAY_EXPERIMENT_COURSE_H
#define ASSAY_EXPERIMENT_COURSE_H

#include "run/arm/arms.h"

struct assay__course {
    struct assay_callbacks caller; /* as they were given */
    enum assay__plan_goal goal;
    uint64_t begin_ns, budget_ns; /* of the launches; budget 0: as many as are planned */
    size_t launches, planned;     /* done; 0: not known */
    int point, points;            /* from 1; 0: none yet */
    double cost;                  /* of the best */
    char best[160];               /* "batch=8: 1.23 k/s"; "" none yet */
};

/** From now on `callbacks` report to the course, which must outlive them, and the course to the
 *  caller. */
void assay__course_begin(struct assay__course *course, struct assay_callbacks *callbacks,
                         enum assay__plan_goal goal);
/** The trial's last launch has ended: one more is done, and it may be the best. Energies are only
 *  known at the end: then there is no best. course may be NULL. */
void assay__course_launched(struct assay__course *course, const struct assay__trial *trial);

/** One launch of each of these arms, in that order or in reverse; the progress says which it is. */
int assay__course_round(struct assay__course *course, struct assay__arms *arms,
                        const size_t *indexes, size_t count, bool back, struct assay_error *error);

#endif
