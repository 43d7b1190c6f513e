/* check_fixture.h - a check of a small model, and what it found. */
#ifndef ASSAY_TESTS_CHECK_FIXTURE_H
#define ASSAY_TESTS_CHECK_FIXTURE_H

#include "cost_fixture.h"

#include "check/check.h"

/* Takes the model. */
static inline struct assay__check *check_model(struct assay__model *model, const char *target,
                                               const char *chip)
{
    static const struct assay__workload_options none = {.shapes_only = true};
    struct assay__check *check = NULL;
    struct assay_error error = {0};
    const struct assay__check_options options = {
        .target = target, .chip = chip, .name = "test", .zoo = true, .workload = &none};
    if (assay__check_new(model, &options, &check, &error)) {
        printf("  %s\n", error.message);
        harness_fail(__FILE__, __LINE__, "no check");
    }
    return check;
}

static inline size_t check_items(const struct assay__check *check, const char *rule)
{
    size_t count = 0;
    for (size_t i = 0; i < check->item_count; i++)
        count += strcmp(check->items[i].rule->id, rule) == 0;
    return count;
}

static inline const struct assay__check_item *check_item(const struct assay__check *check,
                                                         const char *rule)
{
    for (size_t i = 0; i < check->item_count; i++)
        if (strcmp(check->items[i].rule->id, rule) == 0) return &check->items[i];
    printf("  no item of rule %s\n", rule);
    harness_fail(__FILE__, __LINE__, rule);
    return NULL;
}

#endif
