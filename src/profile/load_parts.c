/* load_parts.c - what the allocation tracker saw, the counters of layer classes and the ceilings,
 * from an untrusted file. Missing tables are nothing asked for, as in profiles from before they
 * existed; numbers that cannot be (negative or not finite) are unknown; lists end at a limit that
 * is said. */
#include "profile/rows.h"

#include <limits.h>
#include <math.h>

#define PHASE_LIMIT 256
#define LIST_LIMIT 65536
#define COUNTER_LIMIT 1024
#define CEILING_LIMIT 4096

/* A count or a size: NaN when it is unknown or below 0. */
static double amount(struct assay__rows *rows, const char *column)
{
    double value = assay__rows_real(rows, column);
    return value >= 0 ? value : (double)NAN;
}

static struct assay__rows rows_of(struct assay__loader *loader, const char *sql,
                                  const struct assay__trial *trial)
{
    return assay__rows_start(loader, sql, "i", (int64_t)trial->id);
}

/* --- allocations ------------------------------------------------------------------------------ */

static void load_phases(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__allocations *a = &trial->allocations;
    struct assay__rows rows = rows_of(
        loader, "SELECT * FROM allocation_phases WHERE trial=?1 ORDER BY position", trial);
    while (assay__rows_next(&rows)) {
        if (assay__load_full(&rows, trial, a->phase_count, PHASE_LIMIT, "allocation phases"))
            return;
        struct assay__allocation_phase *bigger = assay__rows_grow(loader, a->phases, a->phase_count,
                                                                  sizeof *bigger);
        if (!bigger) continue; /* the failure ends the loop */
        a->phases = bigger;
        bigger[a->phase_count++] = (struct assay__allocation_phase){
            .name = assay__rows_text(&rows, "name"),
            .inferences = assay__rows_int(&rows, "inferences", 0, INT64_MAX, -1),
            .count = amount(&rows, "count"),
            .bytes = amount(&rows, "bytes"),
            .freed_count = amount(&rows, "freed_count"),
            .freed_bytes = amount(&rows, "freed_bytes"),
            .live_bytes = assay__rows_real(&rows, "live_bytes"), /* below 0: freed from before */
            .peak_live_bytes = assay__rows_real(&rows, "peak_live_bytes"),
        };
    }
}

static void load_classes(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__allocations *a = &trial->allocations;
    struct assay__rows rows = rows_of(
        loader, "SELECT * FROM allocation_classes WHERE trial=?1 ORDER BY position", trial);
    while (assay__rows_next(&rows)) {
        if (assay__load_full(&rows, trial, a->class_count, LIST_LIMIT, "allocation classes"))
            return;
        struct assay__allocation_class *bigger = assay__rows_grow(loader, a->classes,
                                                                  a->class_count, sizeof *bigger);
        if (!bigger) continue;
        a->classes = bigger;
        double high = assay__rows_real(&rows, "high_bytes");
        bigger[a->class_count++] = (struct assay__allocation_class){
            .phase = assay__rows_text(&rows, "phase"),
            .low_bytes = amount(&rows, "low_bytes"),
            .high_bytes = isnan(high) ? (double)INFINITY : high,
            .count = amount(&rows, "count"),
            .bytes = amount(&rows, "bytes"),
        };
    }
}

static void load_sites(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__allocations *a = &trial->allocations;
    struct assay__rows rows = rows_of(
        loader, "SELECT * FROM allocation_sites WHERE trial=?1 ORDER BY position", trial);
    while (assay__rows_next(&rows)) {
        if (assay__load_full(&rows, trial, a->site_count, LIST_LIMIT, "allocation sites")) return;
        struct assay__allocation_site *bigger = assay__rows_grow(loader, a->sites, a->site_count,
                                                                 sizeof *bigger);
        if (!bigger) continue;
        a->sites = bigger;
        bigger[a->site_count++] = (struct assay__allocation_site){
            .phase = assay__rows_text(&rows, "phase"),
            .site = assay__rows_text(&rows, "site"),
            .count = amount(&rows, "count"),
            .bytes = amount(&rows, "bytes"),
            .live_bytes = assay__rows_real(&rows, "live_bytes"),
        };
    }
}

void assay__load_allocations(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__allocations *a = &trial->allocations;
    struct assay__rows rows = rows_of(loader, "SELECT * FROM allocations WHERE trial=?1 LIMIT 1",
                                      trial);
    if (!assay__rows_next(&rows)) return; /* not asked for */
    a->reason = assay__rows_text(&rows, "reason");
    a->growth_bytes = assay__rows_real(&rows, "growth_bytes");
    a->growth_low = assay__rows_real(&rows, "growth_low_bytes");
    a->growth_high = assay__rows_real(&rows, "growth_high_bytes");
    a->heap_bytes = amount(&rows, "heap_bytes");
    a->heap_used_bytes = amount(&rows, "heap_used_bytes");
    a->slowdown = amount(&rows, "slowdown");
    assay__rows_stop(&rows);
    load_phases(loader, trial);
    load_classes(loader, trial);
    load_sites(loader, trial);
    if (!a->reason[0] && a->phase_count == 0)
        a->reason = "the profile holds no allocations and no reason";
}

/* --- counters of layer classes ---------------------------------------------------------------- */

static void load_names(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__rows rows = rows_of(
        loader, "SELECT name FROM counter_names WHERE trial=?1 ORDER BY position", trial);
    trial->counter_names = assay__rows_grow(loader, NULL, 0, sizeof *trial->counter_names);
    while (assay__rows_next(&rows)) {
        if (assay__load_full(&rows, trial, trial->counter_count, COUNTER_LIMIT, "counters")) return;
        const char **bigger = assay__rows_grow(loader, trial->counter_names, trial->counter_count,
                                               sizeof *bigger);
        if (!bigger) continue;
        trial->counter_names = bigger;
        bigger[trial->counter_count++] = assay__rows_text(&rows, "name");
    }
}

/* One value per name, unknown where there is no row. */
static double *load_class_values(struct assay__loader *loader, const struct assay__trial *trial,
                                 int64_t position)
{
    double *values = assay__arena_array(loader->profile->arena, trial->counter_count,
                                        sizeof *values);
    if (!values) {
        assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < trial->counter_count; i++)
        values[i] = NAN;
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT counter, value FROM class_counter_values WHERE trial=?1 AND class=?2", "ii",
        (int64_t)trial->id, position);
    while (assay__rows_next(&rows)) {
        int64_t at = assay__rows_int(&rows, "counter", 0, (int64_t)trial->counter_count - 1, -1);
        if (at >= 0) values[at] = assay__rows_real(&rows, "value");
    }
    return values;
}

void assay__load_class_counters(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__rows rows = rows_of(
        loader, "SELECT * FROM class_counter_info WHERE trial=?1 LIMIT 1", trial);
    if (!assay__rows_next(&rows)) return; /* not asked for */
    int64_t promised = assay__rows_int(&rows, "counters", 0, COUNTER_LIMIT, -1);
    trial->class_counter_note = assay__rows_text(&rows, "note");
    assay__rows_stop(&rows);
    if (promised < 0) return;
    load_names(loader, trial);
    if (!loader->code && promised != (int64_t)trial->counter_count)
        assay__load_note(loader, trial, "damaged profile: names of counters are missing");
    rows = rows_of(loader, "SELECT * FROM class_counters WHERE trial=?1 ORDER BY position", trial);
    while (assay__rows_next(&rows)) {
        size_t count = trial->class_counter_count;
        if (assay__load_full(&rows, trial, count, LIST_LIMIT, "classes of layers")) return;
        struct assay__class_counters *bigger = assay__rows_grow(loader, trial->class_counters,
                                                                count, sizeof *bigger);
        /* The writer puts a row for every value, so a sound file has room for all of them. */
        if (!bigger || !assay__rows_charge(loader, trial->counter_count)) continue;
        trial->class_counters = bigger;
        bigger[trial->class_counter_count++] = (struct assay__class_counters){
            .op = assay__rows_text(&rows, "op"),
            .layers = assay__rows_int(&rows, "layers", 0, INT64_MAX, -1),
            .time_ns = assay__rows_real(&rows, "time_ns"),
            .values = load_class_values(loader, trial,
                                        assay__rows_int(&rows, "position", 0, INT64_MAX, -1)),
        };
    }
}

/* --- ceilings --------------------------------------------------------------------------------- */

void assay__load_ceilings(struct assay__loader *loader)
{
    struct assay_profile *profile = loader->profile;
    struct assay__trial *first = profile->trial_count ? &profile->trials[0] : NULL;
    struct assay__rows rows = assay__rows_start(
        loader, "SELECT * FROM ceilings WHERE profile=1 ORDER BY position", "");
    while (assay__rows_next(&rows)) {
        if (assay__load_full(&rows, first, profile->ceiling_count, CEILING_LIMIT, "ceilings"))
            return;
        struct assay__ceiling_info *bigger = assay__rows_grow(
            loader, profile->ceilings, profile->ceiling_count, sizeof *bigger);
        if (!bigger) continue;
        profile->ceilings = bigger;
        struct assay__ceiling_info *ceiling = &bigger[profile->ceiling_count++];
        *ceiling = (struct assay__ceiling_info){
            .device = assay__rows_text(&rows, "device"),
            .name = assay__rows_text(&rows, "name"),
            .value = assay__rows_real(&rows, "value"),
            .unit = assay__rows_text(&rows, "unit"),
            .low = assay__rows_real(&rows, "low"),
            .high = assay__rows_real(&rows, "high"),
            .source = assay__rows_text(&rows, "source"),
            .note = assay__rows_text(&rows, "note"),
            .measured_at = assay__rows_text(&rows, "measured_at"),
        };
        if (!(ceiling->value > 0)) ceiling->value = NAN; /* a share of it would be nonsense */
        if (isnan(ceiling->value) && !ceiling->note[0])
            ceiling->note = "the profile holds no value and no reason";
    }
}
