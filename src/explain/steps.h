/* steps.h - where steps begin and end; steps_find.c finds it, steps.c measures them. */
#ifndef ASSAY_EXPLAIN_STEPS_H
#define ASSAY_EXPLAIN_STEPS_H

#include "explain/parts.h"

/** One piece of work in the order in which it was launched. */
struct assay__launched {
    uint32_t event;
    uint32_t call; /* place, or ASSAY__NO_EVENT */
    int64_t at_ns; /* when it was launched; without a call: when it started */
};

/** Steps in order, and how they were found ("" none). */
struct assay__step_list {
    struct assay__step *items;
    size_t count;
    const char *by;
};

/** Looks for steps of the device's rank; the work is in order of launch. */
void assay__find_steps(struct assay__explain *explain, size_t device,
                       const struct assay__launched *work, size_t count,
                       struct assay__step_list *list);
/** The same of a trace without device work: annotations that repeat. */
void assay__find_host_steps(struct assay__explain *explain, struct assay__step_list *list);

#endif
