/* kineto_spans.c - events written as a beginning (B) and an end (E): a stack for each thread. */
#include "import/kineto_state.h"

#include <stdlib.h>

static void skip(struct assay__kineto *kineto, const char *reason)
{
    kineto->reader.skipped++;
    assay__chrome_complain(&kineto->reader, "%s", reason);
}

/* A place for one more open event; 0: out of memory, else its number + 1. */
static uint32_t take_place(struct assay__kineto *kineto)
{
    uint32_t place = kineto->free_open;
    if (place) {
        kineto->free_open = kineto->open[place - 1].below;
        return place;
    }
    if (kineto->open_count >= UINT32_MAX / 2 ||
        assay__vec_grow((void **)&kineto->open, &kineto->open_capacity, kineto->open_count + 1,
                        sizeof *kineto->open))
        return 0;
    return (uint32_t)++kineto->open_count;
}

void assay__kineto_begin(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                         const struct assay__event *row, uint32_t name, uint32_t thread)
{
    struct assay__kineto_open begun = {.row = *row, .name = name};
    if (!assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_START), 3,
                             &begun.row.start_ns)) {
        skip(kineto, "a beginning whose time is not a number");
        return;
    }
    if (thread == ASSAY__EVENT_UNKNOWN ||
        assay__vec_grow((void **)&kineto->tops, &kineto->top_capacity, (size_t)thread + 1,
                        sizeof *kineto->tops))
        return; /* an error that stays in the store, or no memory for a second one */
    uint32_t place = take_place(kineto);
    if (!place) return;
    begun.below = kineto->tops[thread];
    kineto->open[place - 1] = begun;
    kineto->tops[thread] = place;
    kineto->unfinished++;
}

void assay__kineto_end(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                       uint32_t thread)
{
    int64_t end_ns;
    uint32_t place = thread < kineto->top_capacity ? kineto->tops[thread] : 0;
    if (!place) {
        skip(kineto, "an end without a beginning");
        return;
    }
    struct assay__kineto_open *begun = &kineto->open[place - 1];
    bool known = assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_START), 3, &end_ns);
    kineto->tops[thread] = begun->below;
    kineto->unfinished--;
    if (!known || __builtin_sub_overflow(end_ns, begun->row.start_ns, &begun->row.duration_ns) ||
        begun->row.duration_ns < 0)
        skip(kineto, "an end that is not a number or before its beginning");
    else
        assay__events_add_named(kineto->events, &begun->row, begun->name);
    begun->below = kineto->free_open;
    kineto->free_open = place;
}
