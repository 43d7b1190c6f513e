/* track_groups.h - the tracks of a store by what they belong to: the streams of a device, the
 * threads of a process, each of its rank; and the order in which people read them. */
#ifndef ASSAY_TRACE_TRACK_GROUPS_H
#define ASSAY_TRACE_TRACK_GROUPS_H

#include "trace/events.h"

struct assay__track_groups {
    /* tracks in reading order: by rank, devices before processes; `count` of the store's */
    uint32_t *order;
    uint32_t *of;    /* the group of each track */
    uint32_t *first; /* of each group: its first track */
    size_t count;    /* of groups */
};

/** 0 or ASSAY_ENOMEM; free it in any case. */
int assay__track_groups_make(struct assay__track_groups *groups, const struct assay__events *events,
                             struct assay_error *error);
void assay__track_groups_free(struct assay__track_groups *groups);
/** Whether tracks are of more than one rank. */
bool assay__tracks_have_ranks(const struct assay__events *events);

#endif
