/* ceilings_json.c - measured ceilings as members of a JSON object; for an accelerator, with the
 * share of the published peak that they reach. */
#include "report/report_machine.h"

#include "report/json/json_members.h"
#include "ceiling/published.h"

#include <math.h>

static void row_json(struct assay__json_writer *json, const struct assay__ceiling *row,
                     const char *hardware)
{
    static const char *const kinds[] = {"compute", "bandwidth", "latency"};
    assay__json_put_object(json, row->name);
    assay__json_members(json, json_number("value", row->value), json_string("unit", row->unit),
                        json_string("state", assay_state_name(row->state)),
                        json_string("source", row->source), json_text("note", row->note),
                        json_string("kind", kinds[row->kind]),
                        json_number("spread", assay__ceiling_spread(row)),
                        json_number("low", row->low), json_number("median", row->median),
                        json_number("high", row->high), json_integer("repeats", row->repeats),
                        json_integer("threads", row->threads), json_text("type", row->type),
                        json_text("level", row->level), json_text("pattern", row->pattern),
                        json_text("simd", row->simd), json_text("variant", row->variant),
                        json_count("working_set_bytes", row->working_set_bytes, 1),
                        json_number("clock_before_hz", row->clock_before_hz),
                        json_number("clock_after_hz", row->clock_after_hz));
    /* The published peak and the share of it that was reached; null if nothing is published. */
    if (hardware) {
        struct assay__published published;
        bool known = assay__published_find(hardware, row->name, &published);
        if (known) {
            assay__json_record(json, "published", json_number("value", published.value),
                               json_string("state", assay_state_name(ASSAY_PUBLISHED)),
                               json_string("source", published.source));
        } else {
            assay__json_put_null(json, "published");
        }
        assay__json_put_number(json, "share", known ? row->value / published.value : NAN);
    }
    assay__json_object_end(json);
}

void assay__ceilings_json(struct assay__json_writer *json, const struct assay__ceilings *set,
                          const char *why)
{
    bool measured = false;
    assay__json_put_object(json, "ceilings");
    for (size_t i = 0; set && i < set->count; i++) {
        row_json(json, &set->rows[i], set->device && *set->device ? set->hardware : NULL);
        measured |= set->rows[i].state != ASSAY_UNAVAILABLE;
    }
    assay__json_object_end(json);
    assay__json_put_string(json, "ceilings_state", measured ? "measured" : "unavailable");
    if (set && !measured && !*set->note) why = "no row could be measured";
    assay__json_put_text(json, "ceilings_note", set && *set->note ? set->note : why);
    if (!set) {
        assay__json_put_null(json, "ceilings_measurement");
        return;
    }
    assay__json_put_object(json, "ceilings_measurement");
    assay__json_members(
        json, json_text("measured_at", set->measured_at), json_bool("from_cache", set->from_cache),
        json_number("duration_s", set->duration_s), json_number("steal_share", set->steal_share),
        json_number("other_share", set->other_share), json_bool("pinned", set->pinned),
        json_bool("complete", set->complete));
    if (set->device && *set->device) assay__json_put_text(json, "hardware", set->hardware);
    assay__json_object_end(json);
}
