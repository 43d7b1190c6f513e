/* probes.c - the table of probes, generated from the list in probes.h, and opening one with a time
 * limit: reading a file of /sys calls a driver, and a driver that hangs would hang the program. */
#include "probe/probes.h"

#include "platform/guard.h"

#include <stdlib.h>
#include <string.h>

#define ROW(NAME) &assay__probe_##NAME,
static const struct assay__probe_ops *const probes[] = {ASSAY__PROBES(ROW)};

const struct assay__probe_ops *assay__probe_at(size_t index)
{
    return index < sizeof probes / sizeof probes[0] ? probes[index] : NULL;
}

const struct assay__probe_ops *assay__probe_find(const char *name)
{
    for (size_t i = 0; assay__probe_at(i); i++)
        if (strcmp(probes[i]->name, name) == 0) return probes[i];
    return NULL;
}

size_t assay__head_channels(const struct assay__probe *probe,
                            const struct assay__channel **channels)
{
    const struct assay__probe_head *head = (const void *)probe;
    *channels = head->channels;
    return head->count;
}

const char *assay__head_reason(const struct assay__probe *probe)
{
    const struct assay__probe_head *head = (const void *)probe;
    return head->reason;
}

/* --- opening ---------------------------------------------------------------------------------- */

#define LIMIT_NS 1000000000u

struct opening {
    const struct assay__probe_ops *ops;
    struct assay__arena *arena;
    struct assay__probe *probe;
    struct assay_error error;
    int code;
};

static void work(void *context)
{
    struct opening *opening = context;
    opening->code = opening->ops->open(opening->arena, &opening->probe, &opening->error);
}

static void drop(void *context)
{
    struct opening *opening = context;
    if (!opening->code) opening->ops->close(opening->probe);
    assay__arena_free(opening->arena);
    free(opening);
}

uint64_t assay__probe_open_limit_ns(const struct assay__probe_ops *ops)
{
    return ops->open_limit_ns ? ops->open_limit_ns : LIMIT_NS;
}

int assay__probe_open(const struct assay__probe_ops *ops, struct assay__arena **arena,
                      struct assay__probe **probe, struct assay_error *error)
{
    *arena = NULL;
    *probe = NULL;
    struct opening *opening = calloc(1, sizeof *opening);
    if (opening) opening->arena = assay__arena_new();
    if (!opening || !opening->arena) {
        free(opening);
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the probe %s", ops->name);
    }
    opening->ops = ops;
    uint64_t limit_ns = assay__probe_open_limit_ns(ops);
    if (ops->own_thread)
        work(opening);
    else if (assay__guard_run(work, drop, opening, limit_ns))
        return assay_error_set(error, ASSAY_ETIMEOUT,
                               "opening it did not return within %.3g s: gave up",
                               (double)limit_ns * 1e-9);
    int code = opening->code;
    if (code && error) *error = opening->error;
    if (code)
        assay__arena_free(opening->arena);
    else
        *arena = opening->arena, *probe = opening->probe;
    free(opening);
    return code;
}
