/* predict_targets.c - finds what --chip names: a chip, this machine or a profile. */
#include "cli/predict_targets.h"

#include "ceiling/ceiling.h"
#include "platform/platform.h"
#include "run/trial/describe.h"

#include <assay/run.h>
#include <string.h>

/* --- this machine ----------------------------------------------------------------------------- */

static bool on_row(void *context, const char *name)
{
    assay__bar_update(context, &(struct assay_progress){.phase = name, .done = -1});
    return assay__interrupted != 0;
}

static int describe(struct assay__arena *arena, const struct assay__ceilings *set,
                    struct assay_profile *profile, struct assay_error *error)
{
    struct assay_ceiling *rows = assay__arena_array(arena, set->count, sizeof *rows);
    if (!rows) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (size_t i = 0; i < set->count; i++)
        rows[i] = (struct assay_ceiling){.device = "cpu",
                                         .name = set->rows[i].name,
                                         .value = set->rows[i].value,
                                         .unit = set->rows[i].unit,
                                         .low = set->rows[i].low,
                                         .high = set->rows[i].high,
                                         .source = set->rows[i].source,
                                         .note = set->rows[i].note,
                                         .measured_at = set->measured_at};
    int code = assay__describe_ceilings(profile, rows, set->count, error);
    return code ? code : assay__describe_machine(profile, error);
}

int assay__predict_this(struct assay__arena *arena, bool measure, struct assay__bar *bar,
                        struct assay__predict_target *target, const char **key,
                        struct assay_error *error)
{
    struct assay__machine machine;
    struct assay__ceilings *set = NULL;
    const struct assay__ceiling_options options = {.progress = on_row, .context = bar};
    struct assay_profile *profile = NULL;
    int code = assay__machine_read(arena, &machine);
    if (code) return assay_error_set(error, code, "this machine cannot be read");
    *key = assay__ceilings_key(arena, &machine);
    if (!*key) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    code = measure ? assay__ceilings_get(arena, &machine, &options, &set, error)
                   : assay__ceilings_kept(arena, &machine, &set, error);
    if (code == ASSAY_ENOTFOUND)
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "no ceilings of this machine are kept: assay devices --ceilings "
                               "measures them (about 17 s), assay predict --calibrate too");
    if (code) return code;
    profile = assay__profile_new();
    if (!profile) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    code = describe(arena, set, profile, error);
    if (!code) code = assay__target_of_ceilings(profile, "cpu", "this", arena, target);
    /* the date it quotes lies in the profile: sources were copied into the arena */
    assay_profile_close(profile);
    return code;
}

static void fit_of_this(struct assay__arena *arena, const char *key, struct assay__fit *fit)
{
    char path[4096];
    struct assay__calibration kept;
    assay__fit_builtin(ASSAY__UNIT_CPU, fit);
    if (assay__calibration_path(key, path, sizeof path, NULL) == 0 &&
        assay__calibration_load(arena, path, key, &kept, NULL) == 0)
        *fit = kept.fit;
}

/* --- a profile -------------------------------------------------------------------------------- */

static bool ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), s = strlen(suffix);
    return n > s && strcmp(text + n - s, suffix) == 0;
}

static int of_profile(struct assay__arena *arena, const char *path, const char *unit,
                      struct assay__predict_targets *out)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    int code = assay_profile_open(path, &profile, &error);
    if (code) return assay__fail(code, &error);
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
            assay__say("out of memory");
            return ASSAY__EXIT_FAILED;
        }
        if (unit && strcmp(unit, assay__unit_name(target->unit)) != 0) continue;
        struct assay__fit *fit = &out->fits[out->count++];
        assay__fit_builtin(target->unit, fit);
        if (target->unit == ASSAY__UNIT_CPU)
            fit->validation = "not validated for that machine: assay predict --calibrate, run "
                              "there, does it for --chip this there";
    }
    bool any = profile->ceiling_count > 0;
    assay_profile_close(profile);
    if (out->count) return 0;
    assay__say(
        any ? "predict: '%s' holds ceilings, but none of that unit"
            : "predict: '%s' holds no ceilings; assay run --ceilings -o FILE.assay keeps them",
        path);
    return ASSAY__EXIT_USAGE;
}

/* --- the table -------------------------------------------------------------------------------- */

static int unknown_chip(const char *chip, const char *nearest)
{
    if (nearest)
        assay__say("predict: unknown chip '%s'; did you mean '%s'? (--chips lists them)", chip,
                   nearest);
    else
        assay__say("predict: unknown chip '%s'; --chips lists them, 'this' is this machine, and a "
                   "profile with ceilings is named FILE.assay",
                   chip);
    return ASSAY__EXIT_USAGE;
}

static int of_table(struct assay__arena *arena, const char *name, const char *unit,
                    struct assay__predict_targets *out)
{
    const char *nearest = NULL;
    const struct assay__chip *chip = assay__chip_find(name, &nearest);
    if (!chip) return unknown_chip(name, nearest);
    for (int u = ASSAY__UNITS; u-- > 0;) {
        if (unit && strcmp(unit, assay__unit_name(u)) != 0) continue;
        if (assay__target_of_chip(chip, u, arena, &out->items[out->count])) {
            assay__say("out of memory");
            return ASSAY__EXIT_FAILED;
        }
        assay__fit_builtin(u, &out->fits[out->count++]);
    }
    return 0;
}

int assay__predict_targets(struct assay__arena *arena, const char *chip, const char *unit,
                           struct assay__predict_targets *out)
{
    *out = (struct assay__predict_targets){0};
    if (strcmp(chip, "this") == 0) {
        struct assay_error error = {0};
        if (unit && strcmp(unit, "cpu") != 0) {
            assay__say("predict: --chip this knows the CPU's ceilings only, not %s", unit);
            return ASSAY__EXIT_USAGE;
        }
        int code = assay__predict_this(arena, false, NULL, &out->items[0], &out->key, &error);
        if (code) return assay__fail(code, &error);
        fit_of_this(arena, out->key, &out->fits[0]);
        out->count = 1;
        return 0;
    }
    return ends(chip, ".assay") ? of_profile(arena, chip, unit, out)
                                : of_table(arena, chip, unit, out);
}
