/* procstat.c - the first line of /proc/stat: "cpu user nice system idle iowait irq softirq steal
 * …", in clock ticks summed over all CPUs. busy = user + nice + system + irq + softirq (guest time
 * is part of user), idle is only the field idle: iowait may decrease (proc(5)), which no counter
 * may. steal = time during which a virtual CPU was ready and another guest ran. A line of zeros (a
 * sandbox that does not count) is unavailable. Below $ASSAY_FSROOT the tick is 1/100 s, as on every
 * current Linux. Source: proc(5). */
#include "probe/file_channels.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "/proc/stat"
#define FIELDS 8

/* Which of the eight fields are summed: '1' at their position. */
#define BUSY "11100110"
#define IDLE "00010000"
#define STEAL "00000001"

static bool sum_fields(const struct assay__files_channel *channel, double *value,
                       const char **reason)
{
    const char *at = assay__fs_field(channel->files[0]->text, "cpu");
    double total = 0, sum = 0;
    size_t fields = 0;
    *reason = "the first line is not the CPU line";
    if (!at) return false;
    for (; fields < FIELDS && *at >= '0' && *at <= '9'; fields++) {
        char *end;
        double ticks = (double)strtoull(at, &end, 10);
        total += ticks;
        if (channel->key[fields] == '1') sum += ticks;
        at = end + strspn(end, " ");
    }
    *reason = "text instead of a number";
    if (fields < FIELDS && *at != '\n' && *at != '\0') return false;
    *reason = "this kernel does not count it";
    if (fields < 4 || (fields < FIELDS && channel->key[FIELDS - 1] == '1')) return false;
    *reason = "every CPU time is zero: this system does not count CPU time";
    if (total <= 0) return false;
    *reason = "";
    *value = sum * channel->scale;
    return true;
}

static int procstat_open(struct assay__arena *arena, struct assay__probe **probe,
                         struct assay_error *error)
{
    static const struct {
        const char *name, *fields;
    } rows[] = {{"time.busy", BUSY}, {"time.idle", IDLE}, {"time.steal", STEAL}};
    *probe = assay__files_new(arena);
    long ticks = assay__fs_replaced() ? 100 : sysconf(_SC_CLK_TCK);
    double tick_s = ticks > 0 ? 1.0 / (double)ticks : 0.01;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay__files_spec spec = {.name = rows[i].name,
                                               .rail = "cpu",
                                               .as = {"time", "s", ASSAY__CHANNEL_COUNTER, tick_s},
                                               .compute = sum_fields,
                                               .key = rows[i].fields,
                                               .size = 512,
                                               .path = PATH};
        assay__files_add(*probe, &spec);
    }
    return assay__files_end(probe, NULL, error);
}

const struct assay__probe_ops assay__probe_procstat = {
    .name = "procstat",
    .summary = "busy, idle and stolen CPU time of the machine",
    .open = procstat_open,
    ASSAY__FILES_OPS,
};
