/* counters_hear.c - reads the worker's message with its counters. A worker is not trusted: what is
 * no number, or not one that a counter can have, is unknown. */
#include "run/watch/counters.h"

#include "base/json.h"
#include "base/no_memory.h"
#include "run/worker/messages.h"

#include <math.h>

static int bad(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_EFORMAT, "worker sent counters that cannot be");
}

int assay__counted_hear(const struct assay__json *json, struct assay__arena *arena,
                        struct assay__counted *counted, struct assay_error *error)
{
    const struct assay__json *events = assay__json_get(json, "events");
    if (counted->known || !events || events->count > ASSAY__COUNTERS_MOST) return bad(error);
    *counted = (struct assay__counted){
        .known = true,
        .events = assay__arena_array(arena, events->count, sizeof *counted->events),
        .slices = assay__json_get_integer(json, "slices", 0),
        .on_ns = assay__json_get_number(json, "on_ns", NAN),
        .off_ns = assay__json_get_number(json, "off_ns", NAN),
        .layer_note = "",
    };
    if (!counted->events) return assay__no_memory(error);
    for (const struct assay__json *item = events->first; item; item = item->next) {
        struct assay__counted_event *event = &counted->events[counted->event_count++];
        if (assay__fields_receive(item, &assay__message_event, arena, event))
            return assay__no_memory(error);
        if (event->grown < 0 || event->completions < 0 || event->share < 0) return bad(error);
        if (event->completions == 0) event->grown = NAN;
    }
    const struct assay__json *layers = assay__json_get(json, "layer_events");
    for (const struct assay__json *item = layers ? layers->first : NULL; item; item = item->next) {
        if (item->kind != ASSAY__JSON_NUMBER ||
            !(item->number >= 0 && item->number < (double)counted->event_count) ||
            counted->layer_event_count == ASSAY__COUNTERS_MOST)
            return bad(error);
        counted->layer_events[counted->layer_event_count++] = (size_t)item->number;
    }
    return 0;
}

int assay__counted_hear_layer(const struct assay__json *list, struct assay__arena *arena,
                              const struct assay__counted *counted, double **values,
                              struct assay_error *error)
{
    size_t at = 0;
    *values = NULL;
    if (!list || list->count == 0) return 0;
    if (!counted->known || list->count != counted->layer_event_count) return bad(error);
    *values = assay__arena_array(arena, list->count, sizeof **values);
    if (!*values) return assay__no_memory(error);
    for (const struct assay__json *item = list->first; item; item = item->next)
        (*values)[at++] = item->kind == ASSAY__JSON_NUMBER ? item->number : NAN;
    return 0;
}
