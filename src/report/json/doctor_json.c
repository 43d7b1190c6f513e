/* doctor_json.c - what `assay doctor` found, and what it captured, as JSON. */
#include "report/report_machine.h"

#include "base/json.h"
#include "report/json/json_members.h"

#include <math.h>

static void channels_json(struct assay__json_writer *json, const struct assay__examined *e)
{
    assay__json_put_array(json, "channels");
    for (size_t i = 0; i < e->channel_count; i++) {
        const struct assay__channel *c = &e->channels[i];
        const char *reason = c->available ? e->readings[i].reason : c->reason;
        assay__json_record(json, NULL, json_string("name", c->name), json_string("unit", c->unit),
                           json_text("source", c->source), json_bool("available", c->available),
                           json_number("value", c->available ? e->readings[i].value : NAN),
                           json_text("reason", reason));
    }
    assay__json_array_end(json);
}

static void probes_json(struct assay__json_writer *json, const struct assay__checkup *checkup)
{
    assay__json_put_array(json, "probes");
    for (size_t i = 0; i < checkup->probe_count; i++) {
        const struct assay__examined *e = &checkup->probes[i];
        assay__json_object(json);
        assay__json_members(
            json, json_string("name", e->ops->name), json_string("summary", e->ops->summary),
            json_bool("available", e->available_count > 0), json_text("reason", e->reason),
            json_number("read_us", e->read_ns / 1e3),
            json_number("slowest_us", e->slowest_ns / 1e3), json_integer("reads", e->reads));
        channels_json(json, e);
        assay__json_object_end(json);
    }
    assay__json_array_end(json);
}

void assay__doctor_json(struct assay__buf *out, const struct assay__checkup *checkup)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_head(w, out, "doctor");
    assay__json_put_array(w, "checks");
    for (size_t i = 0; i < checkup->check_count; i++) {
        const struct assay__diagnosis *d = &checkup->checks[i];
        assay__json_record(w, NULL, json_string("id", d->id),
                           json_string("verdict", assay__health_name(d->health)),
                           json_string("finding", d->says.data),
                           json_string("advice", d->advice.length ? d->advice.data : NULL));
    }
    assay__json_array_end(w);
    probes_json(w, checkup);
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
    assay__json_put_array(w, "written");
    for (size_t i = 0; i < capture->group_count; i++) {
        assay__json_record(w, NULL, json_string("folder", capture->groups[i].what),
                           json_integer("files", capture->groups[i].files));
    }
    assay__json_array_end(w);
    assay__json_put_array(w, "not_written");
    for (size_t i = 0; i < capture->fault_count; i++) {
        assay__json_record(w, NULL, json_string("path", capture->faults[i].path),
                           json_string("reason", capture->faults[i].reason));
    }
    assay__json_array_end(w);
    assay__json_put_integer(w, "not_listed", (int64_t)capture->faults_left_out);
    assay__json_object_end(w);
    assay__json_tail(w);
}
