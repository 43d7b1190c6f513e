/* ranks.c - communication and computation of each rank, how much of the first the second hides, and
 * the rank that the others wait for. A collective ends everywhere at about the same time: the rank
 * that enters it last spends the least time in it. So lateness is found from durations alone, and
 * the clocks of the ranks need not agree. */
#include "explain/parts.h"

#include "base/text.h"

#include <stdlib.h>

#define NAMES_MOST 256  /* names of collectives that are looked at */
#define LATE_SHARE 0.01 /* of the span: lateness below it is noise */
#define LATE_TIMES 2.0  /* the median rank's: a straggler is later */
#define LAST_SHARE 0.5  /* of the collectives: it is the last to arrive */

struct rank_work {
    struct assay__rank_time *time;
    uint32_t *events; /* its communication, in order of start */
    size_t count;
    size_t last; /* collectives in which it was the last */
};

static bool is_communication(const uint8_t *kind_of, const struct assay__events *events,
                             uint32_t event)
{
    return events->kind[event] == ASSAY__EVENT_KERNEL &&
           events->name[event] != ASSAY__EVENT_UNKNOWN &&
           kind_of[events->name[event]] == ASSAY__KERNEL_COMMUNICATION;
}

/* --- overlap ---------------------------------------------------------------------------------- */

/* What both unions cover is their sum less the union of all. */
static void add_overlap(struct assay__rank_time *time, const struct assay__explain *x,
                        const struct assay__timeline_device *of, const uint8_t *kind_of)
{
    const struct assay__events *events = x->events;
    struct assay__united compute = {0}, talk = {0}, any = {0};
    for (size_t i = 0; i < of->count; i++) {
        uint32_t event = of->work[i];
        if (events->kind[event] != ASSAY__EVENT_KERNEL) continue;
        int64_t start_ns = events->start_ns[event], end_ns = assay__event_end_ns(events, event);
        bool talks = is_communication(kind_of, events, event);
        assay__unite(talks ? &talk : &compute, start_ns, end_ns);
        assay__unite(&any, start_ns, end_ns);
    }
    time->compute_ns += compute.total_ns;
    time->communication_ns += talk.total_ns;
    time->overlap_ns += compute.total_ns + talk.total_ns - any.total_ns;
}

/* --- who is late ------------------------------------------------------------------------------ */

/* The n-th collective of a name, on all ranks. */
static void compare_arrivals(struct rank_work *ranks, size_t count, const int64_t *duration_ns,
                             uint32_t *const *nth, size_t n)
{
    int64_t longest_ns = 0, shortest_ns = INT64_MAX;
    size_t last = 0;
    for (size_t r = 0; r < count; r++) {
        int64_t ns = duration_ns[nth[r][n]];
        if (ns > longest_ns) longest_ns = ns;
        if (ns < shortest_ns) {
            shortest_ns = ns;
            last = r;
        }
    }
    for (size_t r = 0; r < count; r++)
        ranks[r].time->arrival_ns += longest_ns - duration_ns[nth[r][n]];
    if (longest_ns > shortest_ns) ranks[last].last++;
}

static size_t pick(const struct rank_work *rank, const struct assay__events *events, uint32_t name,
                   uint32_t *to)
{
    size_t found = 0;
    for (size_t i = 0; i < rank->count; i++)
        if (events->name[rank->events[i]] == name) to[found++] = rank->events[i];
    return found;
}

static size_t compare_all(struct assay__explain *x, struct rank_work *ranks, size_t count,
                          uint32_t **nth)
{
    size_t collectives = 0, names = 0;
    for (size_t k = 0; k < x->kernel_count && names < NAMES_MOST; k++) {
        if (x->kernels[k].kind != ASSAY__KERNEL_COMMUNICATION) continue;
        size_t common = SIZE_MAX;
        names++;
        for (size_t r = 0; r < count; r++) {
            size_t found = pick(&ranks[r], x->events, x->kernels[k].name, nth[r]);
            if (found < common) common = found;
        }
        for (size_t n = 0; n < common; n++)
            compare_arrivals(ranks, count, x->events->duration_ns, nth, n);
        collectives += common;
    }
    return collectives;
}

static int compare_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void name_straggler(struct assay__explain *x, const struct rank_work *ranks,
                           size_t collectives, int64_t *late_ns)
{
    struct assay__ranks *r = &x->ranks;
    size_t worst = 0;
    for (size_t i = 0; i < r->count; i++) {
        late_ns[i] = r->items[i].arrival_ns;
        if (late_ns[i] > late_ns[worst]) worst = i;
    }
    if (r->count) qsort(late_ns, r->count, sizeof *late_ns, compare_ns);
    int64_t usual_ns = late_ns[(r->count - 1) / 2];
    const struct assay__rank_time *t = &r->items[worst];
    if ((double)t->arrival_ns < LATE_SHARE * (double)t->span_ns ||
        (double)t->arrival_ns < LATE_TIMES * (double)usual_ns ||
        (double)ranks[worst].last < LAST_SHARE * (double)collectives)
        return;
    r->straggler = worst;
    r->why = assay__arena_text(
        x->arena,
        "Rank %d is the straggler: the last to arrive in %zu of %zu collectives, where the others "
        "waited %s for it (%s of its span).",
        (int)t->rank, ranks[worst].last, collectives,
        assay__scaled((double)t->arrival_ns * 1e-9, "s").text,
        assay__scaled((double)t->arrival_ns / (double)t->span_ns, "ratio").text);
}

static void find_straggler(struct assay__explain *x, struct rank_work *ranks)
{
    struct assay__ranks *r = &x->ranks;
    uint32_t **nth = calloc(r->count, sizeof *nth);
    int64_t *late_ns = calloc(r->count, sizeof *late_ns);
    bool done = nth && late_ns;
    for (size_t i = 0; done && i < r->count; i++)
        done = (nth[i] = calloc(ranks[i].count + 1, sizeof *nth[i])) != NULL;
    if (done) {
        size_t collectives = compare_all(x, ranks, r->count, nth);
        if (collectives) name_straggler(x, ranks, collectives, late_ns);
    } else {
        assay__arena_fail(x->arena);
    }
    for (size_t i = 0; nth && i < r->count; i++)
        free(nth[i]);
    free(nth);
    free(late_ns);
}

/* --- all ranks -------------------------------------------------------------------------------- */

static void add_device(struct assay__explain *x, size_t place, struct rank_work *rank,
                       const uint8_t *kind_of)
{
    const struct assay__timeline_device *of = &x->timeline->devices[place];
    const struct assay__explain_device *d = &x->devices[place];
    if (d->span_ns > rank->time->span_ns) rank->time->span_ns = d->span_ns;
    add_overlap(rank->time, x, of, kind_of);
    for (size_t i = 0; i < of->count; i++)
        if (is_communication(kind_of, x->events, of->work[i]))
            rank->events[rank->count++] = of->work[i];
    rank->time->collectives = rank->count;
}

static size_t place_of(const struct assay__ranks *r, int32_t rank)
{
    size_t i = 0;
    while (i < r->count && r->items[i].rank != rank)
        i++;
    return i;
}

/* Devices are in order of rank. */
static void list_ranks(struct assay__explain *x)
{
    struct assay__ranks *r = &x->ranks;
    r->items = assay__arena_array(x->arena, x->device_count, sizeof *r->items);
    for (size_t i = 0; r->items && i < x->device_count; i++)
        if (!r->count || r->items[r->count - 1].rank != x->devices[i].rank)
            r->items[r->count++].rank = x->devices[i].rank;
}

static void measure_ranks(struct assay__explain *x, const uint8_t *kind_of)
{
    struct assay__ranks *r = &x->ranks;
    struct rank_work *ranks = calloc(r->count + 1, sizeof *ranks);
    bool done = ranks != NULL;
    for (size_t i = 0; done && i < r->count; i++) {
        size_t work = 0;
        for (size_t d = 0; d < x->device_count; d++)
            if (x->devices[d].rank == r->items[i].rank) work += x->timeline->devices[d].count;
        ranks[i].time = &r->items[i];
        done = (ranks[i].events = calloc(work + 1, sizeof *ranks[i].events)) != NULL;
    }
    for (size_t d = 0; done && d < x->device_count; d++)
        add_device(x, d, &ranks[place_of(r, x->devices[d].rank)], kind_of);
    if (!done) assay__arena_fail(x->arena);
    if (done && r->count > 1) find_straggler(x, ranks);
    for (size_t i = 0; ranks && i < r->count; i++)
        free(ranks[i].events);
    free(ranks);
}

void assay__explain_ranks(struct assay__explain *x)
{
    struct assay__ranks *r = &x->ranks;
    r->straggler = SIZE_MAX;
    r->why = "";
    if (x->kernel_kind_ns[ASSAY__KERNEL_COMMUNICATION] == 0 && x->timeline->rank_count < 2) return;
    uint8_t *kind_of = assay__arena_alloc(x->arena, assay__events_text_count(x->events) + 1);
    for (size_t i = 0; kind_of && i < x->kernel_count; i++)
        if (x->kernels[i].name != ASSAY__EVENT_UNKNOWN)
            kind_of[x->kernels[i].name] = (uint8_t)x->kernels[i].kind;
    if (kind_of) list_ranks(x);
    if (r->items) measure_ranks(x, kind_of);
}
