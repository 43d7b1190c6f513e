/* monitor_open.c - which rows a monitor has on this machine: every channel that shown_rows.c names,
 * in the order of the sections; an energy counter and the sampled power of the same rail are one
 * row. Where a section would be empty that everyone looks for, a row without a sensor says why. */
#include "monitor/monitor_state.h"
#include "monitor/sources.h"

#include "base/no_memory.h"
#include "base/vec.h"
#include "probe/probes.h"

#include <math.h>
#include <string.h>

#define ROWS_MOST 2048

/* What is looked for on every machine, and the probe that says why it is not there. */
static const struct {
    enum assay__section section;
    bool by_name; /* needed even if the section has other rows */
    const char *name, *unit, *device, *probe;
} sought[] = {
    {ASSAY__SECTION_CPU, false, "utilization.active.cpu", "ratio", "cpu", "cores"},
    {ASSAY__SECTION_CPU, true, "clock.mean.cpu", "Hz", "cpu", "cpufreq"},
    {ASSAY__SECTION_PRESSURE, false, "pressure.cpu.some", "ratio", "", "pressure"},
    {ASSAY__SECTION_POWER, false, "power.package", "W", "cpu", "rapl"},
    {ASSAY__SECTION_TEMPERATURE, false, "temperature.cpu", "°C", "cpu", "thermal"},
};

/* The sampler adds a channel right after it was wanted: their numbers are the same. */
static bool wanted(void *context, const struct assay__probe_ops *ops,
                   const struct assay__channel *channel)
{
    struct assay__monitor *monitor = context;
    struct assay__row row;
    if (monitor->watched_count == ROWS_MOST || monitor->open_failed ||
        !assay__row_of(monitor->arena, ops->name, channel, &row))
        return false;
    if (assay__vec_grow((void **)&monitor->watched, &monitor->watched_capacity,
                        monitor->watched_count + 1, sizeof *monitor->watched)) {
        monitor->open_failed = true;
        return false;
    }
    struct assay__monitored *watched = &monitor->watched[monitor->watched_count++];
    row.unit = assay__sensor_unit(channel);
    watched->about = row;
    watched->ops = ops;
    bool power = strcmp(channel->quantity, "energy") == 0 ||
                 strcmp(channel->quantity, "power") == 0;
    assay__sensor_init(&watched->sensor, channel,
                       power ? assay__row_power_limit(channel) : (double)NAN);
    return true;
}

static int add_probe(struct assay__monitor *monitor, const struct assay__probe_ops *ops,
                     struct assay_error *error)
{
    if (ops->own_thread) return 0; /* it counts the thread that opens it */
    if (ops->is_foreign && ops->is_foreign()) return 0;
    return assay__sampler_add(monitor->sampler, ops, wanted, monitor, error);
}

static int add_probes(struct assay__monitor *monitor, const struct assay__probe_ops *const *probes,
                      struct assay_error *error)
{
    static const struct assay__probe_ops *const sources[] = {
#define ROW(NAME) &assay__source_##NAME,
        ASSAY__SOURCES(ROW)
#undef ROW
    };
    int code = 0;
    for (size_t i = 0; probes && probes[i] && code == 0; i++)
        code = add_probe(monitor, probes[i], error);
    for (size_t i = 0; !probes && i < sizeof sources / sizeof sources[0] && code == 0; i++)
        code = add_probe(monitor, sources[i], error);
    for (size_t i = 0; !probes && assay__probe_at(i) && code == 0; i++)
        if (assay__row_probe(assay__probe_at(i)->name))
            code = add_probe(monitor, assay__probe_at(i), error);
    return code;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool same_source(const struct assay__probe_ops *a, const struct assay__probe_ops *b)
{
    return a == b || (strncmp(a->name, "nvml", 4) == 0 && strncmp(b->name, "nvml", 4) == 0);
}

static bool is_counter(const struct assay__monitored *watched)
{
    return watched->sensor.channel->kind == ASSAY__CHANNEL_COUNTER;
}

static bool is_available(const struct assay__monitored *watched)
{
    return watched->sensor.channel->available;
}

/* The row of that name whose channel is of the other kind and from the same source; NULL: none.
 * *taken: how many rows have the name. */
static struct assay__row *partner(const struct assay__monitor *monitor,
                                  const struct assay__monitored *watched, unsigned *taken)
{
    *taken = 0;
    for (size_t r = 0; r < monitor->row_count; r++) {
        struct assay__row *row = &monitor->rows[r];
        if (row->given || strcmp(row->name, watched->about.name) != 0) continue;
        const struct assay__monitored *first = &monitor->watched[row->sensors[0]];
        if (row->sensor_count < 2 && is_counter(first) != is_counter(watched) &&
            same_source(first->ops, watched->ops))
            return row;
        ++*taken;
    }
    return NULL;
}

/* A second channel of the row; a counter comes first. One that cannot be read changes nothing. */
static void join_row(const struct assay__monitor *monitor, struct assay__row *row, size_t index)
{
    const struct assay__monitored *watched = &monitor->watched[index];
    if (!is_available(watched)) return;
    size_t place = is_counter(watched) ? 0 : row->sensor_count;
    if (place < row->sensor_count) row->sensors[1] = row->sensors[0];
    row->sensors[place] = index;
    row->sensor_count++;
    row->reason = "";
    if (place) return;
    row->source = watched->about.source;
    row->formula = watched->about.formula;
}

/* A channel that cannot be read is a row without a sensor. */
static void add_row(struct assay__monitor *monitor, size_t index)
{
    const struct assay__monitored *watched = &monitor->watched[index];
    unsigned taken;
    struct assay__row *row = partner(monitor, watched, &taken);
    if (row) {
        join_row(monitor, row, index);
        return;
    }
    row = &monitor->rows[monitor->row_count++];
    *row = watched->about;
    row->sensors[0] = index;
    row->sensor_count = is_available(watched);
    if (!row->sensor_count) row->reason = watched->sensor.channel->reason;
    for (unsigned n = taken + 1; taken; n++) { /* "name#2" */
        row->name = assay__arena_text(monitor->arena, "%s#%u", watched->about.name, n);
        taken = 0;
        for (size_t r = 0; r + 1 < monitor->row_count; r++)
            taken += strcmp(monitor->rows[r].name, row->name) == 0;
    }
}

static const char *reason_of(const struct assay__monitor *monitor, const char *probe)
{
    for (size_t i = 0; i < assay__sampler_probe_count(monitor->sampler); i++) {
        struct assay__probe_cost cost;
        assay__sampler_probe_cost(monitor->sampler, i, &cost);
        if (strcmp(cost.ops->name, probe) == 0 && *cost.reason) return cost.reason;
    }
    return "nothing on this machine measures it";
}

static void add_sought(struct assay__monitor *monitor, enum assay__section section, size_t first)
{
    for (size_t i = 0; i < sizeof sought / sizeof sought[0]; i++) {
        bool there = sought[i].section != section ||
                     (!sought[i].by_name && monitor->row_count > first);
        for (size_t r = first; r < monitor->row_count && !there; r++)
            there = strcmp(monitor->rows[r].name, sought[i].name) == 0;
        if (there) continue;
        monitor->rows[monitor->row_count++] = (struct assay__row){
            .name = sought[i].name,
            .unit = sought[i].unit,
            .section = section,
            .rank = ASSAY__ROW_HEADLINE,
            .device = sought[i].device,
            .kind = "",
            .source = "",
            .formula = "",
            .reason = reason_of(monitor, sought[i].probe)};
    }
}

int assay__monitor_open_rows(struct assay__monitor *monitor,
                             const struct assay__probe_ops *const *probes,
                             struct assay_error *error)
{
    int code = add_probes(monitor, probes, error);
    if (code) return code;
    size_t most = monitor->given.count + monitor->watched_count + sizeof sought / sizeof sought[0];
    monitor->rows = assay__arena_array(monitor->arena, most, sizeof *monitor->rows);
    monitor->notes = assay__arena_array(monitor->arena, most, sizeof *monitor->notes);
    if (!monitor->rows || !monitor->notes || monitor->open_failed) return assay__no_memory(error);
    for (; monitor->row_count < monitor->given.count; monitor->row_count++) {
        monitor->rows[monitor->row_count] = monitor->given.rows[monitor->row_count];
        monitor->notes[monitor->row_count] = "not known yet";
    }
    for (enum assay__section section = 0; section < ASSAY__SECTION_COUNT; section++) {
        size_t first = monitor->row_count;
        for (size_t i = 0; i < monitor->watched_count; i++)
            if (monitor->watched[i].about.section == section) add_row(monitor, i);
        if (!probes) add_sought(monitor, section, first);
    }
    return assay__arena_failed(monitor->arena) ? assay__no_memory(error) : 0;
}

const struct assay__monitored *assay__monitor_chosen(const struct assay__monitor *monitor,
                                                     const struct assay__row *row)
{
    for (size_t i = 0; i < row->sensor_count; i++)
        if (!isnan(monitor->watched[row->sensors[i]].sensor.value))
            return &monitor->watched[row->sensors[i]];
    return row->sensor_count ? &monitor->watched[row->sensors[0]] : NULL;
}
