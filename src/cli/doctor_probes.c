/* doctor_probes.c - every probe of the table in assay doctor: whether it can be read here, why not, and what one read of all
 * its channels costs: the median of 20 reads (fewer when they are slow), after one that is not counted. */
#include "base/clock.h"
#include "base/json.h"
#include "cli/doctor.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define READS 20
#define READS_MOST_NS 200000000u /* of one probe: a slow one is read less often */

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void time_reads(struct assay__examined *e)
{
    uint64_t times[READS], begin = assay__now_ns();
    e->ops->read(e->probe, e->readings);
    while (e->reads < READS && assay__now_ns() - begin < READS_MOST_NS) {
        uint64_t before = assay__now_ns();
        e->ops->read(e->probe, e->readings);
        times[e->reads++] = assay__now_ns() - before;
    }
    if (!e->reads) return; /* the first took all the time */
    qsort(times, (size_t)e->reads, sizeof times[0], compare_u64);
    size_t middle = (size_t)e->reads / 2;
    e->read_ns = e->reads % 2 ? (double)times[middle]
                              : ((double)times[middle - 1] + (double)times[middle]) / 2;
    e->slowest_ns = (double)times[e->reads - 1];
}

static int examine(struct assay__arena *arena, struct assay__examined *e)
{
    struct assay_error error = {0};
    *e = (struct assay__examined){.ops = e->ops, .reason = "", .read_ns = NAN, .slowest_ns = NAN};
    int code = e->ops->open(arena, &e->probe, &error);
    if (code == ASSAY_ENOMEM) return code;
    if (code) {
        const char *reason = assay__arena_strdup(arena, error.message);
        e->probe = NULL;
        e->reason = reason && *reason ? reason : assay_error_text(code);
        return 0;
    }
    e->channel_count = e->ops->channels(e->probe, &e->channels);
    for (size_t i = 0; i < e->channel_count; i++)
        e->available_count += e->channels[i].available;
    e->readings = assay__arena_array(arena, e->channel_count + 1, sizeof *e->readings);
    if (!e->readings) return ASSAY_ENOMEM;
    if (e->available_count)
        time_reads(e);
    else
        e->reason = e->ops->reason(e->probe);
    return 0;
}

int assay__doctor_probes_open(struct assay__patient *patient)
{
    size_t count = 0;
    while (assay__probe_at(count))
        count++;
    patient->probes = assay__arena_array(patient->arena, count + 1, sizeof *patient->probes);
    if (!patient->probes) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        patient->probes[i].ops = assay__probe_at(i);
        patient->probe_count++;
        int code = examine(patient->arena, &patient->probes[i]);
        if (code) return code;
    }
    return 0;
}

void assay__doctor_probes_close(struct assay__patient *patient)
{
    for (size_t i = 0; i < patient->probe_count; i++)
        patient->probes[i].ops->close(patient->probes[i].probe);
    patient->probe_count = 0;
}

double assay__doctor_limit(const struct assay__patient *patient, const char *channel,
                           const char **source, bool *known)
{
    *source = "";
    *known = false;
    for (size_t i = 0; i < patient->probe_count; i++) {
        const struct assay__examined *e = &patient->probes[i];
        if (strcmp(e->ops->name, "cgroup") != 0) continue;
        for (size_t k = 0; k < e->channel_count; k++) {
            const struct assay__channel *c = &e->channels[k];
            if (strcmp(c->name, channel) != 0) continue;
            *source = c->source;
            *known = c->available || strcmp(c->reason, "no limit is set") == 0;
            return c->available && e->readings ? e->readings[k].value : NAN;
        }
    }
    return NAN;
}

/* --- shown ------------------------------------------------------------------------------------ */

void assay__doctor_probes_text(struct assay__page *page, const struct assay__patient *patient)
{
    size_t width = 0;
    for (size_t i = 0; i < patient->probe_count; i++)
        if (strlen(patient->probes[i].ops->name) > width)
            width = strlen(patient->probes[i].ops->name);
    assay__page_heading(page, "Probes", "one read of all channels, median of 20");
    for (size_t i = 0; i < patient->probe_count; i++) {
        const struct assay__examined *e = &patient->probes[i];
        struct assay__buf text = {0}, first = {0};
        assay__buf_printf(&first, "  %-*s  ", (int)width, e->ops->name);
        if (e->available_count) {
            assay__buf_printf(&text, "%zu channel%s", e->available_count,
                              e->available_count > 1 ? "s" : "");
            if (e->available_count < e->channel_count)
                assay__buf_printf(&text, " of %zu", e->channel_count);
            if (!isnan(e->read_ns))
                assay__buf_printf(&text, ", %.1f µs a read (slowest %.1f µs)", e->read_ns / 1e3,
                                  e->slowest_ns / 1e3);
            else
                assay__buf_puts(&text, ", a read takes more than 0.2 s");
            assay__buf_printf(&text, ": %s", e->ops->summary);
        } else {
            assay__buf_printf(&text, "— %s", *e->reason ? e->reason : "no reason was given");
        }
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, first.data ? first.data : "",
                         text.data ? text.data : "");
        assay__buf_free(&text);
        assay__buf_free(&first);
    }
}

static void channels_json(struct assay__json_writer *json, const struct assay__examined *e)
{
    assay__json_key(json, "channels");
    assay__json_array(json);
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

void assay__doctor_probes_json(struct assay__json_writer *json,
                               const struct assay__patient *patient)
{
    assay__json_key(json, "probes");
    assay__json_array(json);
    for (size_t i = 0; i < patient->probe_count; i++) {
        const struct assay__examined *e = &patient->probes[i];
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
