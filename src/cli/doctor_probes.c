/* doctor_probes.c - every probe of the table in assay doctor: whether it can be read here, why not,
 * and what one read of all its channels costs: the median of 20 reads (fewer when they are slow),
 * after one that is not counted. Each probe is examined by a separate thread, so that a probe that
 * hangs is reported with that reason. */
#include "base/clock.h"
#include "base/stats.h"
#include "cli/doctor.h"
#include "platform/guard.h"
#include "probe/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define READS 20
#define READS_MOST_NS 200000000u /* of one probe: a slow one is read less often */

/* One probe: opened, queried for its channels and read, all by one thread, which owns everything
 * until it is done. */
struct examination {
    struct assay__examined result;
    struct assay__arena *arena;
    int code;
};

static void examine(void *context)
{
    struct examination *examination = context;
    struct assay__examined *e = &examination->result;
    struct assay__arena *arena = examination->arena;
    struct assay_error error = {0};
    int code = e->ops->open(arena, &e->probe, &error);
    examination->code = code == ASSAY_ENOMEM ? code : 0;
    if (code) {
        const char *reason = assay__arena_strdup(arena, error.message);
        e->probe = NULL;
        e->reason = reason && *reason ? reason : assay_error_text(code);
        return;
    }
    e->channel_count = e->ops->channels(e->probe, &e->channels);
    for (size_t i = 0; i < e->channel_count; i++)
        e->available_count += e->channels[i].available;
    e->readings = assay__arena_array(arena, e->channel_count + 1, sizeof *e->readings);
    if (!e->readings) examination->code = ASSAY_ENOMEM;
    if (!e->available_count) e->reason = e->ops->reason(e->probe);
    if (!e->readings || !e->available_count) return;
    uint64_t times[READS], begin = assay__now_ns();
    e->ops->read(e->probe, e->readings);
    while (e->reads < READS && assay__now_ns() - begin < READS_MOST_NS) {
        uint64_t before = assay__now_ns();
        e->ops->read(e->probe, e->readings);
        times[e->reads++] = assay__now_ns() - before;
    }
    if (!e->reads) return; /* the first used up all the time */
    assay__stats_sort_u64(times, (size_t)e->reads);
    size_t middle = (size_t)e->reads / 2;
    e->read_ns = e->reads % 2 ? (double)times[middle]
                              : ((double)times[middle - 1] + (double)times[middle]) / 2;
    e->slowest_ns = (double)times[e->reads - 1];
}

static void drop(void *context)
{
    struct examination *examination = context;
    examination->result.ops->close(examination->result.probe);
    assay__arena_free(examination->arena);
    free(examination);
}

int assay__doctor_probes_open(struct assay__patient *patient)
{
    const struct assay__probe_ops *ops;
    size_t count = 0;
    int code = 0;
    while (assay__probe_at(count))
        count++;
    patient->probes = assay__arena_array(patient->arena, count + 1, sizeof *patient->probes);
    if (!patient->probes) return ASSAY_ENOMEM;
    for (size_t i = 0; (ops = assay__probe_at(i)) && !code; i++) {
        struct assay__examined *e = &patient->probes[patient->probe_count++];
        struct examination *made = calloc(1, sizeof *made);
        *e = (struct assay__examined){.ops = ops, .reason = "", .read_ns = NAN, .slowest_ns = NAN};
        if (made) made->arena = assay__arena_new();
        if (!made || !made->arena) {
            free(made);
            return ASSAY_ENOMEM;
        }
        made->result = *e;
        uint64_t limit_ns = assay__probe_open_limit_ns(ops) + READS_MOST_NS;
        bool answered = true;
        if (ops->own_thread)
            examine(made);
        else
            answered = assay__guard_run(examine, drop, made, limit_ns) == 0;
        if (!answered) { /* its contents now belong to the thread; the others continue */
            e->reason = assay__arena_text(patient->arena, "no answer within %.3g s: gave up",
                                          (double)limit_ns * 1e-9);
            continue;
        }
        *e = made->result;
        e->arena = made->arena;
        code = made->code;
        free(made);
    }
    return code;
}

void assay__doctor_probes_close(struct assay__patient *patient)
{
    for (size_t i = 0; i < patient->probe_count; i++) {
        struct assay__examined *e = &patient->probes[i];
        if (e->ops) e->ops->close(e->probe);
        assay__arena_free(e->arena);
    }
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
            *known = c->available || c->unlimited;
            return c->available && e->readings ? e->readings[k].value : NAN;
        }
    }
    return NAN;
}
