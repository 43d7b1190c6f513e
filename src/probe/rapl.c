/* rapl.c - energy counters of Intel and AMD processors through Linux powercap:
 * /sys/class/powercap/intel-rapl:N is a package (or "psys", the whole platform), intel-rapl:N:M a
 * part of it ("core", "uncore", "dram"). energy_uj counts microjoules and starts again at 0 after
 * max_energy_range_uj (about 262 kJ: 22 minutes at 200 W). Parts lie within their package (core,
 * uncore) or beside it (dram): rails must not be summed blindly. The same package may be shown a
 * second time through MMIO (intel-rapl-mmio:N): only used where the first is missing. Since Linux
 * 5.10 only root may read energy_uj. Source: the kernel's power-capping documentation. */
#include "probe/file_channels.h"

#include <string.h>

#define FOLDER "/sys/class/powercap"
#define ALLOW                                                                   \
    "permission denied: only root may read energy counters; to allow it until " \
    "the next boot: "                                                           \
    "sudo chmod a+r " FOLDER "/*/energy_uj"

struct rapl {
    struct assay__arena *arena;
    struct assay__probe *probe;
    bool several; /* packages: rails then carry the number */
};

static bool is_package(const char *name)
{
    return strncmp(name, "package-", 8) == 0;
}

/* "intel-rapl:0:1" -> the name of "intel-rapl:0"; NULL for a top-level zone. */
static const char *parent_name(struct assay__arena *arena, const char *zone)
{
    const char *first = strchr(zone, ':'), *second = first ? strchr(first + 1, ':') : NULL;
    if (!second) return NULL;
    return assay__sysfs_text(arena, FOLDER "/%.*s/name", (int)(second - zone), zone);
}

static const char *rail_of(const struct rapl *rapl, const char *name, const char *parent)
{
    if (is_package(name)) return rapl->several ? name : "package";
    if (parent && is_package(parent) && rapl->several) {
        const char *rail = assay__arena_printf(rapl->arena, "%s-%s", name, parent + 8);
        return rail ? rail : name;
    }
    return name;
}

static void add_zone(struct rapl *rapl, const char *zone)
{
    const char *name = assay__sysfs_text(rapl->arena, FOLDER "/%s/name", zone);
    double range = 0;
    if (!name || !*name) return; /* "intel-rapl" itself is a control type, not a zone */
    const char *parent = parent_name(rapl->arena, zone);
    name = assay__sysfs_slug(rapl->arena, name);
    const char *shown = parent ? assay__arena_printf(rapl->arena, "energy.%s.%s",
                                                     assay__sysfs_slug(rapl->arena, parent), name)
                               : assay__arena_printf(rapl->arena, "energy.%s", name);
    const char *path = assay__arena_printf(rapl->arena, FOLDER "/%s/energy_uj", zone);
    if (!shown || !path) return;
    if (strncmp(zone, "intel-rapl-mmio", 15) == 0 && assay__files_has(rapl->probe, shown)) return;
    if (!assay__sysfs_value(&range, FOLDER "/%s/max_energy_range_uj", zone) || range <= 0)
        range = 0; /* unknown: a wrap then is a fault, not a guess */
    const struct assay__files_spec spec = {
        .name = shown,
        .rail = rail_of(rapl, name, parent),
        .as = {"energy", "J", ASSAY__CHANNEL_COUNTER, 1e-6, NULL, NULL, 0},
        .range = range * 1e-6,
        .path = path,
        .denied = ALLOW};
    assay__files_add(rapl->probe, &spec);
}

static size_t count_packages(struct assay__arena *arena, const char **zones)
{
    size_t packages = 0;
    for (; *zones; zones++) {
        const char *name = assay__sysfs_text(arena, FOLDER "/%s/name", *zones);
        if (name && is_package(name) && strncmp(*zones, "intel-rapl:", 11) == 0) packages++;
    }
    return packages;
}

static int rapl_open(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    struct rapl rapl = {.arena = arena, .probe = *probe};
    const char **zones = assay__sysfs_list(arena, FOLDER, "intel-rapl");
    if (!zones)
        return assay__files_end(probe,
                                "no " FOLDER
                                ": this kernel shows no energy counters (virtual machines are not "
                                "given them; on real hardware: sudo modprobe intel_rapl_msr)",
                                error);
    rapl.several = count_packages(arena, zones) > 1;
    for (int mmio = 0; mmio < 2; mmio++) /* MSR zones first: see the head of this file */
        for (const char **zone = zones; *zone; zone++)
            if ((strncmp(*zone, "intel-rapl-mmio", 15) == 0) == (mmio == 1)) add_zone(&rapl, *zone);
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
