/* ceilings_json.c - measured ceilings as members of a JSON object; of an accelerator with the share
 * of the published peak that they reach. */
#include "report/report_machine.h"

#include "base/json.h"
#include "ceiling/published.h"

#include <math.h>

/* What the maker says of it, and how much of that was reached; null where nothing is known. */
static void published_json(struct assay__json_writer *json, const struct assay__ceiling *row,
                           const char *hardware)
{
    struct assay__published published;
    bool known = assay__published_find(hardware, row->name, &published);
    if (known) {
        assay__json_put_object(json, "published");
        assay__json_put_number(json, "value", published.value);
        assay__json_put_string(json, "state", assay_state_name(ASSAY_PUBLISHED));
        assay__json_put_string(json, "source", published.source);
        assay__json_object_end(json);
    } else {
        assay__json_put_null(json, "published");
    }
    assay__json_put_number(json, "share", known ? row->value / published.value : NAN);
}

static void row_json(struct assay__json_writer *json, const struct assay__ceiling *row,
                     const char *hardware)
{
    static const char *const kinds[] = {"compute", "bandwidth", "latency"};
    assay__json_put_object(json, row->name);
    assay__json_put_number(json, "value", row->value);
    assay__json_put_string(json, "unit", row->unit);
    assay__json_put_string(json, "state", assay_state_name(row->state));
    assay__json_put_string(json, "source", row->source);
    assay__json_put_text(json, "note", row->note);
    assay__json_put_string(json, "kind", kinds[row->kind]);
    assay__json_put_number(json, "spread", assay__ceiling_spread(row));
    assay__json_put_number(json, "low", row->low);
    assay__json_put_number(json, "median", row->median);
    assay__json_put_number(json, "high", row->high);
    assay__json_put_integer(json, "repeats", row->repeats);
    assay__json_put_integer(json, "threads", row->threads);
    assay__json_put_text(json, "type", row->type);
    assay__json_put_text(json, "level", row->level);
    assay__json_put_text(json, "pattern", row->pattern);
    assay__json_put_text(json, "simd", row->simd);
    assay__json_put_text(json, "variant", row->variant);
    assay__json_put_count(json, "working_set_bytes", (int64_t)row->working_set_bytes, 1);
    assay__json_put_number(json, "clock_before_hz", row->clock_before_hz);
    assay__json_put_number(json, "clock_after_hz", row->clock_after_hz);
    if (hardware) published_json(json, row, hardware);
    assay__json_object_end(json);
}

static bool any_measured(const struct assay__ceilings *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->rows[i].state != ASSAY_UNAVAILABLE) return true;
    return false;
}

void assay__ceilings_json(struct assay__json_writer *json, const struct assay__ceilings *set,
                          const char *why)
{
    assay__json_put_object(json, "ceilings");
    for (size_t i = 0; set && i < set->count; i++)
        row_json(json, &set->rows[i], set->device && *set->device ? set->hardware : NULL);
    assay__json_object_end(json);
    bool measured = set && any_measured(set);
    assay__json_put_string(json, "ceilings_state", measured ? "measured" : "unavailable");
    if (set && !measured && !*set->note) why = "no row could be measured";
    assay__json_put_text(json, "ceilings_note", set && *set->note ? set->note : why);
    if (!set) {
        assay__json_put_null(json, "ceilings_measurement");
        return;
    }
    assay__json_put_object(json, "ceilings_measurement");
    assay__json_put_text(json, "measured_at", set->measured_at);
    assay__json_put_bool(json, "from_cache", set->from_cache);
    assay__json_put_number(json, "duration_s", set->duration_s);
    assay__json_put_number(json, "steal_share", set->steal_share);
    assay__json_put_number(json, "other_share", set->other_share);
    assay__json_put_bool(json, "pinned", set->pinned);
    assay__json_put_bool(json, "complete", set->complete);
    if (set->device && *set->device) assay__json_put_text(json, "hardware", set->hardware);
    assay__json_object_end(json);
}
