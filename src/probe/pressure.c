/* pressure.c - pressure stall information: how long tasks waited for CPU, memory, input/output or
 * interrupts. /proc/pressure/cpu: "some avg10=0.12 avg60=0.10 avg300=0.05 total=2500000", then the
 * same for "full"; total is in microseconds. "some": at least one task waited; "full": all did.
 * Source: the kernel's PSI documentation. */
#include "probe/file_channels.h"

#include <string.h>

static bool total_of(const struct assay__files_channel *channel, double *value, const char **reason)
{
    const char *line = assay__fs_field(channel->files[0]->text, channel->key);
    *reason = channel->files[0]->text[0] ? "the file has no such line" : "the file is empty";
    if (!line) return false;
    const char *end = line + strcspn(line, "\n");
    const char *total = strstr(line, "total=");
    *reason = "the line has no total";
    if (!total || total >= end) return false;
    if (!assay__sysfs_leading(total + 6, value, reason)) return false;
    *value *= channel->scale;
    return true;
}

static int pressure_open(struct assay__arena *arena, struct assay__probe **probe,
                         struct assay_error *error)
{
    static const struct {
        const char *name, *path, *key, *rail;
    } rows[] = {
        {"time.cpu.some", "/proc/pressure/cpu", "some", "cpu"},
        {"time.memory.some", "/proc/pressure/memory", "some", "memory"},
        {"time.memory.full", "/proc/pressure/memory", "full", "memory"},
        {"time.io.some", "/proc/pressure/io", "some", "io"},
        {"time.io.full", "/proc/pressure/io", "full", "io"},
        {"time.irq.full", "/proc/pressure/irq", "full", "irq"},
    };
    *probe = assay__files_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay__files_spec spec = {.name = rows[i].name,
                                               .rail = rows[i].rail,
                                               .as = {"time", "s", ASSAY__CHANNEL_COUNTER, 1e-6},
                                               .compute = total_of,
                                               .key = rows[i].key,
                                               .size = 256,
                                               .path = rows[i].path};
        assay__files_add(*probe, &spec);
    }
    return assay__files_end(probe,
                            "no pressure stall information: the kernel was built without it, or it "
                            "is off at boot (psi=1 on the kernel's command line turns it on)",
                            error);
}

static const struct assay__capture_files files[] = {
    {"/proc/pressure", "*", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_pressure = {
    .name = "pressure",
    .summary = "time tasks waited for CPU, memory and input/output",
    .open = pressure_open,
    ASSAY__FILES_OPS,
    .files = files,
};
