/* doctor_json.c - what `assay doctor` found, and what it captured, as JSON. */
#include "report/report_machine.h"

#include "base/json.h"
#include "report/json/json_members.h"

#include <math.h>

void assay__doctor_json(struct assay__buf *out, const struct assay__checkup *checkup)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_head(w, out, "doctor");
    for (ASSAY__JSON_EACH(i, w, "checks", checkup->check_count)) {
        const struct assay__diagnosis *d = &checkup->checks[i];
        assay__json_record(w, NULL, json_string("id", d->id),
                           json_string("verdict", assay__health_name(d->health)),
                           json_string("finding", d->says.data),
                           json_string("advice", d->advice.length ? d->advice.data : NULL));
    }
    for (ASSAY__JSON_EACH(i, w, "probes", checkup->probe_count)) {
        const struct assay__examined *e = &checkup->probes[i];
        assay__json_object(w);
        assay__json_members(
            w, json_string("name", e->ops->name), json_string("summary", e->ops->summary),
            json_bool("available", e->available_count > 0), json_text("reason", e->reason),
            json_number("read_us", e->read_ns / 1e3),
            json_number("slowest_us", e->slowest_ns / 1e3), json_integer("reads", e->reads));
        for (ASSAY__JSON_EACH(k, w, "channels", e->channel_count)) {
            const struct assay__channel *c = &e->channels[k];
            const char *reason = c->available ? e->readings[k].reason : c->reason;
            assay__json_record(w, NULL, json_string("name", c->name), json_string("unit", c->unit),
                               json_text("source", c->source), json_bool("available", c->available),
                               json_number("value", c->available ? e->readings[k].value : NAN),
                               json_text("reason", reason));
        }
        assay__json_object_end(w);
    }
    assay__json_tail(w);
}

void assay__capture_json(struct assay__buf *out, const struct assay__capture *capture,
                         const char *folder)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_head(w, out, "doctor");
    assay__json_put_object(w, "capture");
    assay__json_members(w, json_string("folder", folder), json_integer("files", capture->files),
                        json_integer("bytes", capture->bytes));
    for (ASSAY__JSON_EACH(i, w, "written", capture->group_count)) {
        assay__json_record(w, NULL, json_string("folder", capture->groups[i].what),
                           json_integer("files", capture->groups[i].files));
    }
    for (ASSAY__JSON_EACH(i, w, "not_written", capture->fault_count)) {
        assay__json_record(w, NULL, json_string("path", capture->faults[i].path),
                           json_string("reason", capture->faults[i].reason));
    }
    assay__json_put_integer(w, "not_listed", (int64_t)capture->faults_left_out);
    assay__json_object_end(w);
    assay__json_tail(w);
}
