/* check_ane_chips.c - what is known about the Neural Engine of each family of chips, and what the
 * items of a check mean for each chip alone. One row per family: M1, M1 Pro, M1 Max and M1 Ultra
 * have the same engine (the Ultra two of it).
 *
 * Sources: limits, the texture unit, sine and the slice's offset are ane-guide's (arXiv 2606.22283:
 * M1, M2 and M5 measured, M3 and M4 predicted from the compiler's tables); int8 is coremltools'
 * guide; the slow transfers are silicon-ledger's, citing anemll. If nothing is known about a phone
 * chip, its row is that of the Mac chip of the same generation (A14: M1, A15: M2, A16: M3, A17 Pro
 * and A18: M4). No source gives the on-chip memory of any but M1 and M5. */
#include "check/check.h"

#include "base/no_memory.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct assay__ane_chip chips[] = {
    /*  name  extent  kernel   sampler sine int8  offset notch  on-chip */
    {"A14", 16384, 13, 29, false, false, false, 4094, false, (double)NAN},
    {"A15", 16384, 16, 32, true, false, false, 4094, false, (double)NAN},
    {"A16", 65536, 16, 32, true, true, false, 0, false, (double)NAN},
    {"A17 Pro", 65536, 16, 32, true, true, true, 0, false, (double)NAN},
    {"A18", 65536, 16, 32, true, true, true, 0, false, (double)NAN},
    {"M1", 16384, 13, 29, false, false, false, 4094, false, 2e6},
    {"M2", 16384, 16, 32, true, false, false, 4094, false, (double)NAN},
    {"M3", 16384, 16, 32, true, true, false, 0, true, (double)NAN},
    {"M4", 65536, 16, 32, true, true, true, 0, false, (double)NAN},
    {"M5", 65536, 16, 32, true, true, true, 0, false, 4.72e6},
};

#define CHIP_COUNT (sizeof chips / sizeof chips[0])

/* "Apple M1 Max" -> "M1 Max": spaces and case do not matter. */
static const struct assay__ane_chip *find(const char *name)
{
    while (isspace((unsigned char)*name))
        name++;
    if (strncasecmp(name, "apple ", 6) == 0) name += 6;
    for (size_t i = 0; i < CHIP_COUNT; i++) {
        size_t length = strlen(chips[i].name);
        if (strcasecmp(name, chips[i].name) == 0) return &chips[i];
        if (strncasecmp(name, chips[i].name, length) != 0) continue;
        const char *rest = name + length;
        rest += strspn(rest, " -");
        if (rest == name + length) continue; /* "M10" is not M1 */
        static const char *const bins[] = {"Pro", "Max", "Ultra", "Bionic"};
        for (size_t k = 0; k < sizeof bins / sizeof bins[0]; k++)
            if (strcasecmp(rest, bins[k]) == 0) return &chips[i];
    }
    return strcasecmp(name, "A17") == 0 || strcasecmp(name, "A17-Pro") == 0 ? &chips[3] : NULL;
}

static int unknown(const char *name, struct assay_error *error)
{
    const char *best = NULL;
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < CHIP_COUNT; i++) {
        size_t own = assay__text_distance(name, chips[i].name);
        if (own < distance) {
            distance = own;
            best = chips[i].name;
        }
    }
    return assay_error_set(error, ASSAY_EINVAL,
                           "nothing is known about the Neural Engine of '%.60s'; nearest: %s "
                           "(known: A14 to A18, M1 to M5 with Pro, Max, Ultra)",
                           name, best ? best : "M1");
}

int assay__ane_choose(struct assay__check *check, const char *chip, struct assay_error *error)
{
    check->chips = assay__arena_array(check->arena, CHIP_COUNT, sizeof *check->chips);
    if (!check->chips) return assay__no_memory(error);
    if (chip && *chip) {
        const struct assay__ane_chip *found = find(chip);
        if (!found) return unknown(chip, error);
        check->chips[check->chip_count++] = found;
        return 0;
    }
    for (size_t i = 0; i < CHIP_COUNT; i++)
        check->chips[check->chip_count++] = &chips[i];
    return 0;
}

static bool fails(const struct assay__ane_chip *chip, enum assay__ane_limit limit, double value)
{
    switch (limit) {
    case ASSAY__ANE_EXTENT: return value > (double)chip->extent;
    case ASSAY__ANE_KERNEL_WIDTH: return value > (double)chip->kernel_width;
    case ASSAY__ANE_KERNEL_HEIGHT: return value > (double)chip->kernel_height;
    case ASSAY__ANE_SLICE_OFFSET: return chip->slice_offset && value > (double)chip->slice_offset;
    case ASSAY__ANE_ON_CHIP: return value > chip->on_chip_bytes; /* false when it is unknown */
    case ASSAY__ANE_LACKS_SAMPLER: return !chip->sampler;
    case ASSAY__ANE_LACKS_SINE: return !chip->sine;
    case ASSAY__ANE_LACKS_INT8: return !chip->int8;
    case ASSAY__ANE_WEIGHT_NOTCH: return chip->weight_notch;
    }
    return false;
}

const char *assay__ane_fails(struct assay__check *check, enum assay__ane_limit limit, double value)
{
    char text[256] = "";
    size_t used = 0, count = 0;
    for (size_t i = 0; i < check->chip_count; i++) {
        if (!fails(check->chips[i], limit, value)) continue;
        int n = snprintf(text + used, sizeof text - used, "%s%s", count++ ? ", " : "",
                         check->chips[i]->name);
        if (n > 0 && used + (size_t)n < sizeof text) used += (size_t)n;
    }
    if (count == 0) return NULL;
    if (count == check->chip_count) return "";
    const char *copy = assay__arena_strdup(check->arena, text);
    if (!copy) check->failed = true;
    return copy ? copy : "";
}

bool assay__ane_holds(const struct assay__check_item *item, const struct assay__ane_chip *chip)
{
    size_t length = strlen(chip->name);
    if (!*item->chips) return true;
    for (const char *at = item->chips; *at;) {
        size_t word = strcspn(at, ",");
        if (word == length && strncmp(at, chip->name, word) == 0) return true;
        at += word;
        at += strspn(at, ", ");
    }
    return false;
}

/* --- by chip: a newer one may run what an older one does not ---------------------------------- */

/* The verdict of the items that apply to the chip. More than one piece is a warning, as in the
 * ping-pong rule. */
static enum assay__check_verdict verdict_on(const struct assay__check *check,
                                            const struct assay__ane_chip *chip)
{
    enum assay__check_verdict worst = check->partitions.on_segments > 1 ? ASSAY__CHECK_WARN
                                                                        : ASSAY__CHECK_PASS;
    for (size_t i = 0; i < check->item_count; i++) {
        const struct assay__check_item *item = &check->items[i];
        if (item->severity == ASSAY__CHECK_NOTE || !assay__ane_holds(item, chip)) continue;
        if (item->severity == ASSAY__CHECK_ERROR) return ASSAY__CHECK_FAIL;
        worst = ASSAY__CHECK_WARN;
    }
    return worst;
}

int assay__ane_by_chip(struct assay__check *check, struct assay_error *error)
{
    enum assay__place *all = check->places;
    size_t count = check->model->graph.node_count;
    enum assay__place *places = assay__arena_array(check->arena, count + 1, sizeof *places);
    check->by_chip = assay__arena_array(check->arena, check->chip_count + 1,
                                        sizeof *check->by_chip);
    if (!places || !check->by_chip) return assay__no_memory(error);
    int code = 0;
    for (size_t i = 0; i < check->chip_count && !code; i++) {
        const struct assay__ane_chip *chip = check->chips[i];
        for (size_t n = 0; n < count; n++)
            places[n] = all[n] == ASSAY__PLACE_FOLDED ? ASSAY__PLACE_FOLDED : ASSAY__PLACE_ON;
        for (size_t k = 0; k < check->item_count; k++) {
            const struct assay__check_item *item = &check->items[k];
            if (item->node != SIZE_MAX && item->rule->place != ASSAY__PLACE_ON &&
                places[item->node] != ASSAY__PLACE_OFF && assay__ane_holds(item, chip))
                places[item->node] = item->rule->place;
        }
        check->places = places;
        code = assay__check_partition(check, "rules", true, error);
        check->places = all;
        check->by_chip[i] = (struct assay__check_chip){
            .chip = chip,
            .verdict = verdict_on(check, chip),
            .off = check->partitions.off,
            .unknown = check->partitions.unknown,
            .on_segments = check->partitions.on_segments,
            .share = assay__check_share(&check->partitions),
        };
    }
    return code;
}
