/* check_ane_by_chip.c - what the items mean for each chip alone: a newer one may run what an older
 * one does not. */
#include "check/check.h"

#include <string.h>

static void place_nodes(const struct assay__check *check, const struct assay__ane_chip *chip,
                        const enum assay__place *all, enum assay__place *places)
{
    for (size_t i = 0; i < check->model->graph.node_count; i++)
        places[i] = all[i] == ASSAY__PLACE_FOLDED ? ASSAY__PLACE_FOLDED : ASSAY__PLACE_ON;
    for (size_t i = 0; i < check->item_count; i++) {
        const struct assay__check_item *item = &check->items[i];
        if (item->node == SIZE_MAX || item->rule->place == ASSAY__PLACE_ON) continue;
        if (places[item->node] == ASSAY__PLACE_OFF || !assay__ane_holds(item, chip)) continue;
        places[item->node] = item->rule->place;
    }
}

/* The verdict of the items that hold for the chip. Pieces more than one are a warning, as the rule
 * on ping-pong has it. */
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
    if (!places || !check->by_chip) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    int code = 0;
    for (size_t i = 0; i < check->chip_count && !code; i++) {
        const struct assay__ane_chip *chip = check->chips[i];
        place_nodes(check, chip, all, places);
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
