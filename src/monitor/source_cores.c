/* source_cores.c - how busy the CPUs are, all together and each, from the lines "cpu" and "cpuN" of
 * /proc/stat: user nice system idle iowait irq softirq steal, in clock ticks. Since the reading
 * before:
 *   active = (user + nice + system + irq + softirq) / all eight, steal = steal / all eight
 * Both come from one reading of one line, so that no clock is needed and the share cannot exceed 1.
 * The kernel counts in ticks of 10 ms: at an interval of 0.1 s a CPU's share has steps of 10 %. The
 * first reading has no value. At most 256 CPUs are shown. Source: proc(5). */
#include "monitor/sources.h"
#include "probe/sysfs.h"

#include "base/no_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH "/proc/stat"
#define FIELDS 8
#define CORES_MOST 256
#define LINE_BYTES 160
#define PARTS (2 + CORES_MOST) /* active and steal of all, active of each */

struct ticks {
    double active, steal, all;
    bool known;
};

struct assay__probe {
    struct assay__probe_head head;
    struct assay__sysfs_file file;
    struct assay__channel *channels;
    unsigned *numbers;    /* of the CPUs; the first entry is for all together */
    struct ticks *before; /* of each, at the reading before */
    size_t count;         /* of numbers */
};

/* Parses "cpu…" at *at and moves to the next line; false: no more such lines. */
static bool next_line(const char **at, unsigned *number, bool *whole, struct ticks *ticks)
{
    const char *line = *at;
    if (strncmp(line, "cpu", 3) != 0) return false;
    char *end;
    *whole = line[3] == ' ';
    *number = *whole ? 0 : (unsigned)strtoul(line + 3, &end, 10);
    const char *digits = line + 3 + strspn(line + 3, "0123456789");
    double fields[FIELDS] = {0};
    size_t count = 0;
    for (; count < FIELDS; count++) {
        digits += strspn(digits, " ");
        if (*digits < '0' || *digits > '9') break;
        fields[count] = (double)strtoull(digits, &end, 10);
        digits = end;
    }
    *ticks = (struct ticks){.known = count >= 4};
    for (size_t i = 0; i < count; i++)
        ticks->all += fields[i];
    ticks->active = fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
    ticks->steal = fields[7];
    *at = digits + strcspn(digits, "\n");
    if (**at) (*at)++;
    return true;
}

static void set(struct assay__probe_reading *reading, double part, const struct ticks *now,
                const struct ticks *before)
{
    *reading = (struct assay__probe_reading){NAN, "waiting for a second reading"};
    if (!before->known) return;
    reading->reason = "this system does not count CPU time";
    if (!now->known || now->all <= 0) return;
    reading->reason = "no CPU time was counted since the reading before";
    if (now->all - before->all <= 0) return;
    reading->reason = "CPU time went backwards";
    if (part < 0) return;
    *reading = (struct assay__probe_reading){fmin(part / (now->all - before->all), 1), ""};
}

static void cores_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    bool read = assay__sysfs_refresh(&probe->file);
    for (size_t i = 0; i < probe->head.count; i++)
        readings[i] = (struct assay__probe_reading){NAN, read ? "the CPU is offline"
                                                              : probe->file.reason};
    const char *at = read ? probe->file.text : "";
    struct ticks now;
    unsigned number;
    bool whole;
    for (size_t next = 1; next_line(&at, &number, &whole, &now);) {
        size_t i = 0;
        if (!whole) { /* in rising order, in the file and here */
            while (next < probe->count && probe->numbers[next] < number)
                next++;
            if (next == probe->count || probe->numbers[next] != number) continue;
            i = next;
        }
        struct ticks *before = &probe->before[i];
        double active = now.active - before->active, steal = now.steal - before->steal;
        set(&readings[i ? i + 1 : 0], active, &now, before);
        if (whole) set(&readings[1], steal, &now, before);
        *before = now;
    }
}

static void cores_close(struct assay__probe *probe)
{
    if (probe) assay__sysfs_close(&probe->file);
}

static void add_channel(struct assay__probe *probe, const char *name, const char *rail,
                        const char *reason)
{
    probe->channels[probe->head.count++] = (struct assay__channel){.name = name,
                                                                   .quantity = "utilization",
                                                                   .rail = rail,
                                                                   .unit = "ratio",
                                                                   .kind = ASSAY__CHANNEL_GAUGE,
                                                                   .range = NAN,
                                                                   .source = PATH,
                                                                   .available = !*reason,
                                                                   .reason = reason};
}

static int cores_open(struct assay__arena *arena, struct assay__probe **out,
                      struct assay_error *error)
{
    struct assay__probe *probe = *out = assay__arena_alloc(arena, sizeof *probe);
    if (!probe) return assay__no_memory(error);
    probe->channels = assay__arena_array(arena, PARTS, sizeof *probe->channels);
    probe->numbers = assay__arena_array(arena, PARTS, sizeof *probe->numbers);
    probe->before = assay__arena_array(arena, PARTS, sizeof *probe->before);
    bool open = assay__sysfs_open(arena, &probe->file, PATH, (CORES_MOST + 1) * LINE_BYTES) &&
                assay__sysfs_refresh(&probe->file);
    if (assay__arena_failed(arena)) {
        cores_close(probe);
        *out = NULL;
        return assay__no_memory(error);
    }
    const char *reason = open                       ? ""
                         : *probe->file.open_reason ? probe->file.open_reason
                                                    : probe->file.reason;
    const char *at = open ? probe->file.text : "";
    struct ticks now;
    unsigned number;
    bool whole;
    add_channel(probe, "utilization.active.cpu", "cpu", reason);
    add_channel(probe, "utilization.steal.cpu", "cpu", reason);
    probe->count = 1;
    while (next_line(&at, &number, &whole, &now)) {
        if (whole || probe->count > CORES_MOST) continue;
        probe->numbers[probe->count++] = number;
        const char *rail = assay__arena_text(arena, "cpu%u", number);
        add_channel(probe, assay__arena_text(arena, "utilization.active.cpu%u", number), rail, "");
    }
    probe->head.channels = probe->channels;
    probe->head.reason = reason;
    if (!assay__arena_failed(arena)) return 0;
    cores_close(probe);
    *out = NULL;
    return assay__no_memory(error);
}

const struct assay__probe_ops assay__source_cores = {
    .name = "cores",
    .summary = "how busy the CPUs are, all together and each",
    .open = cores_open,
    ASSAY__HEAD_OPS,
    .read = cores_read,
    .close = cores_close,
};
