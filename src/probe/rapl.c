/* rapl.c - energy counters of Intel and AMD processors through Linux powercap:
 * /sys/class/powercap/intel-rapl:N is a package (or "psys", the whole platform), intel-rapl:N:M a
 * part of it ("core", "uncore", "dram"). energy_uj counts microjoules and starts again at 0 after
 * max_energy_range_uj (about 262 kJ: 22 minutes at 200 W). Parts are included in their package
 * (core, uncore) or separate from it (dram): rails must not be summed blindly. The same package may
 * appear a second time through MMIO (intel-rapl-mmio:N), which is only used if the first is
 * missing. Since Linux 5.10 only root may read energy_uj. Source: the kernel's power-capping
 * documentation. */
#include "probe/file_channels.h"

#include <string.h>

#define FOLDER "/sys/class/powercap"
#define ALLOW                                                                                  \
    "permission denied: only root may read energy counters; to allow it until the next boot: " \
    "sudo "                                                                                    \
    "chmod a+r " FOLDER "/*/energy_uj"

static bool is_package(const char *name)
{
    return strncmp(name, "package-", 8) == 0;
}

/* several: there is more than one package, and rails have its number. */
static void add_zone(struct assay__arena *arena, struct assay__probe *probe, const char *zone,
                     bool several)
{
    const char *name = assay__sysfs_text(arena, FOLDER "/%s/name", zone), *parent = NULL;
    double range = 0;
    if (!name || !*name) return; /* "intel-rapl" itself is a control type, not a zone */
    name = assay__sysfs_slug(arena, name);
    const char *first = strchr(zone, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (second) /* "intel-rapl:0:1" is a part of "intel-rapl:0" */
        parent = assay__sysfs_text(arena, FOLDER "/%.*s/name", (int)(second - zone), zone);
    const char *shown = parent ? assay__arena_text(arena, "energy.%s.%s",
                                                   assay__sysfs_slug(arena, parent), name)
                               : assay__arena_text(arena, "energy.%s", name);
    const char *rail = name;
    if (is_package(name) && !several)
        rail = "package";
    else if (!is_package(name) && parent && is_package(parent) && several)
        rail = assay__arena_text(arena, "%s-%s", name, parent + 8);
    if (strncmp(zone, "intel-rapl-mmio", 15) == 0 && assay__files_has(probe, shown)) return;
    if (!assay__sysfs_value(&range, FOLDER "/%s/max_energy_range_uj", zone) || range <= 0)
        range = 0; /* unknown: a wrap is then a fault, not a guess */
    const struct assay__files_spec spec = {
        .name = shown,
        .rail = rail,
        .as = {"energy", "J", ASSAY__CHANNEL_COUNTER, 1e-6},
        .range = range * 1e-6,
        .path = assay__arena_text(arena, FOLDER "/%s/energy_uj", zone),
        .denied = ALLOW};
    assay__files_add(probe, &spec);
}

static int rapl_open(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    size_t packages = 0;
    *probe = assay__files_new(arena);
    const char **zones = assay__sysfs_list(arena, FOLDER, "intel-rapl");
    if (!zones)
        return assay__files_end(probe,
                                "no " FOLDER
                                ": this kernel exposes no energy counters (virtual machines do not "
                                "get them; on real hardware: sudo modprobe intel_rapl_msr)",
                                error);
    for (const char **zone = zones; *zone; zone++) {
        const char *name = assay__sysfs_text(arena, FOLDER "/%s/name", *zone);
        packages += name && is_package(name) && strncmp(*zone, "intel-rapl:", 11) == 0;
    }
    for (int mmio = 0; mmio < 2; mmio++) /* MSR zones first: see the head of this file */
        for (const char **zone = zones; *zone; zone++)
            if ((strncmp(*zone, "intel-rapl-mmio", 15) == 0) == (mmio == 1))
                add_zone(arena, *probe, *zone, packages > 1);
    return assay__files_end(
        probe, assay__files_none(*probe, FOLDER " has no RAPL zone: sudo modprobe intel_rapl_msr"),
        error);
}

static const struct assay__capture_files files[] = {
    {FOLDER "/intel-rapl*", "name enabled energy_uj max_energy_range_uj", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_rapl = {
    .name = "rapl",
    .summary = "energy of CPU packages, cores and memory (powercap)",
    .open = rapl_open,
    ASSAY__FILES_OPS,
    .power_of = "c",
    .files = files,
};
