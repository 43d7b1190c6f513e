/* predict_targets.c - finds what a chip's name refers to: a chip of the table, this machine or a
 * profile. */
#include "predict/predict_targets.h"

#include "base/no_memory.h"
#include "base/options_read.h"
#include "ceiling/ceiling.h"
#include "platform/platform.h"
#include "run/trial/describe.h"

#include <string.h>

/* --- this machine ----------------------------------------------------------------------------- */

static bool on_row(void *context, const char *name)
{
    return assay__progress(context, name, -1);
}

int assay__predict_this(struct assay__arena *arena, const struct assay_callbacks *calls,
                        struct assay__predict_target *target, const char **key,
                        struct assay_error *error)
{
    struct assay__machine machine;
    struct assay__ceilings *set = NULL;
    const struct assay__ceiling_options options = {.progress = on_row,
                                                   .context = (void *)(uintptr_t)calls};
    struct assay_profile *profile = NULL;
    int code = assay__machine_read(arena, &machine);
    if (code) return assay_error_set(error, code, "this machine cannot be read");
    *key = assay__ceilings_key(arena, &machine);
    if (!*key) return assay__no_memory(error);
    code = calls ? assay__ceilings_get(arena, &machine, &options, &set, error)
                 : assay__ceilings_kept(arena, &machine, &set, error);
    if (code == ASSAY_ENOTFOUND)
        assay_error_set(error, ASSAY_ENOTFOUND, "no ceilings of this machine are saved");
    if (code == ASSAY_ENOTFOUND && error) error->option = "ceilings";
    if (code) return code;
    profile = assay__profile_new();
    if (!profile) return assay__no_memory(error);
    struct assay__ceiling_info *rows = assay__arena_array(arena, set->count, sizeof *rows);
    code = rows ? 0 : assay__no_memory(error);
    if (rows) assay__ceilings_describe(arena, set, "cpu", rows);
    if (!code) code = assay__describe_ceilings(profile, rows, set->count, error);
    if (!code) code = assay__describe_machine(profile, error);
    if (!code) code = assay__target_of_ceilings(profile, "cpu", "this", arena, target);
    /* the date it quotes is in the profile: sources were copied into the arena */
    assay_profile_close(profile);
    return code;
}

/* --- a profile -------------------------------------------------------------------------------- */

static int of_profile(struct assay__arena *arena, const char *path, const char *unit,
                      struct assay__predict_targets *out, struct assay_error *error)
{
    struct assay_profile *profile = NULL;
    int code = assay_profile_open(path, &profile, error);
    if (code) return code;
    for (size_t i = 0; i < profile->ceiling_count && out->count < ASSAY__PREDICT_TARGETS; i++) {
        const char *device = profile->ceilings[i].device;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(profile->ceilings[k].device, device) == 0;
        if (seen) continue;
        struct assay__predict_target *target = &out->items[out->count];
        const char *shown = assay__arena_printf(arena, "%s (%s)", path, device);
        if (!shown || assay__target_of_ceilings(profile, device, shown, arena, target)) {
            assay_profile_close(profile);
            return assay__no_memory(error);
        }
        if (unit && strcmp(unit, assay__unit_name(target->unit)) != 0) continue;
        struct assay__fit *fit = &out->fits[out->count++];
        assay__fit_builtin(target->unit, fit);
        if (target->unit == ASSAY__UNIT_CPU)
            fit->validation =
                "not validated for that machine: calibrate there to validate its predictions";
    }
    bool any = profile->ceiling_count > 0;
    assay_profile_close(profile);
    if (out->count) return 0;
    return assay__refuse_option(
        error, "chip",
        any ? "'%s' contains ceilings, but none for that unit" : "'%s' contains no ceilings", path);
}

/* --- the table -------------------------------------------------------------------------------- */

static int of_table(struct assay__arena *arena, const char *name, const char *unit,
                    struct assay__predict_targets *out, struct assay_error *error)
{
    const char *nearest = NULL;
    const struct assay__chip *chip = assay__chip_find(name, &nearest);
    if (!chip && nearest)
        return assay__refuse_option(error, "chip", "unknown chip '%s'; did you mean '%s'?", name,
                                    nearest);
    if (!chip)
        return assay__refuse_option(error, "chip",
                                    "unknown chip '%s'; 'this' is this machine, and a profile with "
                                    "ceilings is named FILE.assay",
                                    name);
    for (int u = ASSAY__UNITS; u-- > 0;) {
        if (unit && strcmp(unit, assay__unit_name(u)) != 0) continue;
        if (assay__target_of_chip(chip, u, arena, &out->items[out->count]))
            return assay__no_memory(error);
        assay__fit_builtin(u, &out->fits[out->count++]);
    }
    return 0;
}

int assay__predict_targets(struct assay__arena *arena, const char *chip, const char *unit,
                           struct assay__predict_targets *out, struct assay_error *error)
{
    *out = (struct assay__predict_targets){0};
    if (strcmp(chip, "this") == 0) {
        if (unit && strcmp(unit, "cpu") != 0)
            return assay__refuse_option(
                error, "unit", "only the ceilings of this machine's CPU are known, not those of %s",
                unit);
        int code = assay__predict_this(arena, NULL, &out->items[0], &out->key, error);
        if (code) return code;
        char path[4096];
        struct assay__calibration kept;
        assay__fit_builtin(ASSAY__UNIT_CPU, &out->fits[0]);
        if (assay__calibration_path(out->key, path, sizeof path, NULL) == 0 &&
            assay__calibration_load(arena, path, out->key, &kept, NULL) == 0)
            out->fits[0] = kept.fit;
        out->count = 1;
        return 0;
    }
    size_t length = strlen(chip), ending = strlen(".assay");
    return length > ending && strcmp(chip + length - ending, ".assay") == 0
               ? of_profile(arena, chip, unit, out, error)
               : of_table(arena, chip, unit, out, error);
}
