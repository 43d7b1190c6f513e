/* doctor_json.c - what `assay doctor` found, and what it captured, as JSON. */
#include "report/report_machine.h"

#include "base/json.h"
#include "report/json/json_head.h"

#include <math.h>

static void channels_json(struct assay__json_writer *json, const struct assay__examined *e)
{
    assay__json_put_array(json, "channels");
    for (size_t i = 0; i < e->channel_count; i++) {
        const struct assay__channel *c = &e->channels[i];
        const char *reason = c->available ? e->readings[i].reason : c->reason;
        assay__json_object(json);
        assay__json_put_string(json, "name", c->name);
        assay__json_put_string(json, "unit", c->unit);
        assay__json_put_text(json, "source", c->source);
        assay__json_put_bool(json, "available", c->available);
        assay__json_put_number(json, "value", c->available ? e->readings[i].value : NAN);
        assay__json_put_text(json, "reason", reason);
        assay__json_object_end(json);
    }
    assay__json_array_end(json);
}

static void probes_json(struct assay__json_writer *json, const struct assay__checkup *checkup)
{
    assay__json_put_array(json, "probes");
    for (size_t i = 0; i < checkup->probe_count; i++) {
        const struct assay__examined *e = &checkup->probes[i];
        assay__json_object(json);
        assay__json_put_string(json, "name", e->ops->name);
        assay__json_put_string(json, "summary", e->ops->summary);
        assay__json_put_bool(json, "available", e->available_count > 0);
        assay__json_put_text(json, "reason", e->reason);
        assay__json_put_number(json, "read_us", e->read_ns / 1e3);
        assay__json_put_number(json, "slowest_us", e->slowest_ns / 1e3);
        assay__json_put_integer(json, "reads", e->reads);
        channels_json(json, e);
        assay__json_object_end(json);
    }
    assay__json_array_end(json);
}

void assay__doctor_json(struct assay__buf *out, const struct assay__checkup *checkup)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "doctor");
    assay__json_put_array(w, "checks");
    for (size_t i = 0; i < checkup->check_count; i++) {
        const struct assay__diagnosis *d = &checkup->checks[i];
        assay__json_object(w);
        assay__json_put_string(w, "id", d->id);
        assay__json_put_string(w, "verdict", assay__health_name(d->health));
        assay__json_put_string(w, "finding", d->says.data);
        assay__json_put_string(w, "advice", d->advice.length ? d->advice.data : NULL);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    probes_json(w, checkup);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}

void assay__capture_json(struct assay__buf *out, const struct assay__capture *capture,
                         const char *folder)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "doctor");
    assay__json_put_object(w, "capture");
    assay__json_put_string(w, "folder", folder);
    assay__json_put_integer(w, "files", (int64_t)capture->files);
    assay__json_put_integer(w, "bytes", (int64_t)capture->bytes);
    assay__json_put_array(w, "written");
    for (size_t i = 0; i < capture->group_count; i++) {
        assay__json_object(w);
        assay__json_put_string(w, "folder", capture->groups[i].what);
        assay__json_put_integer(w, "files", (int64_t)capture->groups[i].files);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_array(w, "not_written");
    for (size_t i = 0; i < capture->fault_count; i++) {
        assay__json_object(w);
        assay__json_put_string(w, "path", capture->faults[i].path);
        assay__json_put_string(w, "reason", capture->faults[i].reason);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_integer(w, "not_listed", (int64_t)capture->faults_left_out);
    assay__json_object_end(w);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
