/* track_groups.c - see track_groups.h. */
#include "trace/track_groups.h"

#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

/* What tracks are sorted by; those of a group are equal in all but the last two. */
struct key {
    int64_t rank, is_host, owner, kind, number;
    uint32_t track;
};

static struct key key_of(const struct assay__events *events, uint32_t track)
{
    const struct assay__track *t = &events->tracks[track];
    bool stream = t->kind == ASSAY__TRACK_STREAM;
    return (struct key){.rank = t->rank,
                        .is_host = !stream,
                        .owner = stream ? t->device : t->pid,
                        .kind = t->kind,
                        .number = stream ? t->stream : t->tid,
                        .track = track};
}

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_groups(const struct key *a, const struct key *b)
{
    int order = order_of(a->rank, b->rank);
    if (!order) order = order_of(a->is_host, b->is_host);
    return order ? order : order_of(a->owner, b->owner);
}

static int compare(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = compare_groups(a, b);
    if (!order) order = order_of(a->kind, b->kind);
    if (!order) order = order_of(a->number, b->number);
    return order ? order : order_of(a->track, b->track);
}

int assay__track_groups_make(struct assay__track_groups *groups, const struct assay__events *events,
                             struct assay_error *error)
{
    size_t count = events->track_count;
    struct key *keys = calloc(count + 1, sizeof *keys);
    *groups = (struct assay__track_groups){.order = calloc(count + 1, sizeof *groups->order),
                                           .of = calloc(count + 1, sizeof *groups->of),
                                           .first = calloc(count + 1, sizeof *groups->first)};
    if (!keys || !groups->order || !groups->of || !groups->first) {
        free(keys);
        return assay__no_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        keys[i] = key_of(events, (uint32_t)i);
    if (count) qsort(keys, count, sizeof *keys, compare);
    for (size_t i = 0; i < count; i++) {
        if (!i || compare_groups(&keys[i - 1], &keys[i]))
            groups->first[groups->count++] = keys[i].track;
        groups->order[i] = keys[i].track;
        groups->of[keys[i].track] = (uint32_t)groups->count - 1;
    }
    free(keys);
    return 0;
}

void assay__track_groups_free(struct assay__track_groups *groups)
{
    free(groups->order);
    free(groups->of);
    free(groups->first);
    memset(groups, 0, sizeof *groups);
}

bool assay__tracks_have_ranks(const struct assay__events *events)
{
    for (size_t i = 1; i < events->track_count; i++)
        if (events->tracks[i].rank != events->tracks[0].rank) return true;
    return false;
}
