/* inputs_setting.c - see inputs_setting.h. */
#include "model/inputs/inputs_setting.h"

#include "model/inputs/inputs_plan.h"
#include "model/op_words.h"
#include "model/tensor_data.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 4 /* of a setting, at most */, LISTED = 65536 /* entries of a table, at most */ };

/* "table >= x" makes x a lower limit of the entries, "x >= table" an upper one. */
void assay__setting_limit(struct assay__setting *setting, const struct assay__node *node,
                          size_t index, const struct assay__tensor *table)
{
    bool greater = strncmp(node->op, "Greater", 7) == 0;
    double low = INFINITY, high = -INFINITY, value = 0;
    if (setting->node || !table || table->elements > LISTED) return;
    for (int64_t i = 0; i < table->elements; i++) {
        if (!assay__tensor_number(table, (size_t)i, &value) || !isfinite(value)) return;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    if (!(low < high)) return; /* one number: it may as well be above it as below */
    setting->node = node;
    setting->table = node->inputs[1 - index];
    setting->limit = greater == (index == 1) ? low : high;
}

void assay__setting_clip(struct assay__setting *setting, double low, double high)
{
    if (isfinite(setting->low) || !(low < high) || !isfinite(low) || !isfinite(high)) return;
    setting->low = low;
    setting->high = high;
}

int64_t assay__input_elements(const struct assay__input_plan *plan)
{
    int64_t elements = 1;
    for (int i = 0; i < plan->rank; i++)
        elements *= plan->dims[i]; /* checked when the shape was fixed */
    return elements;
}

static bool name_has_any(const char *name, const char *words)
{
    char word[ASSAY__WORD];
    while (assay__next_word(&words, word))
        if (assay__name_has(name, word)) return true;
    return false;
}

/* A "Clip to at least 1e-6" is often written with the largest number of the type as its upper end:
 * that, or half of it, is no setting, and float16 may not hold it. */
static bool is_plausible(const struct assay__input_plan *plan, double value)
{
    const double whole = 9007199254740992.0, half = 65504;
    return fabs(value) <= (plan->dtype == ASSAY__FLOAT16 ? half : whole);
}

static bool choose(struct assay__input_plan *plan, double value, const char *why)
{
    plan->fill = ASSAY__FILL_CONSTANT;
    plan->low = value;
    plan->high = 0;
    plan->why = why;
    return true;
}

static bool choose_by_name(struct assay__input_plan *plan)
{
    static const struct {
        const char *words, *also; /* the name has one of each */
        double value;
        const char *why;
    } rows[] = {
        {"freq fmin f_min hz", "min low", 50, "a low frequency in Hz, judging by its name"},
        {"freq fmax f_max hz", "max high", 2000,
         "a frequency in Hz below half of usual rates, judging by its name"},
        {"freq hz", NULL, 440, "a frequency in Hz, judging by its name"},
        {"thres prob confidence score", NULL, 0.5, "a threshold, judging by its name"},
        {"scale speed temperature", NULL, 1, "a factor, judging by its name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (name_has_any(plan->name, rows[i].words) &&
            (!rows[i].also || name_has_any(plan->name, rows[i].also)))
            return choose(plan, rows[i].value, rows[i].why);
    return false;
}

bool assay__setting_choose(const struct assay__setting *setting, struct assay__input_plan *plan,
                           struct assay__arena *arena)
{
    int64_t elements = assay__input_elements(plan);
    if (elements < 1 || elements > NUMBERS || (elements > 1 && plan->rank > 1)) return false;
    double middle = setting->low / 2 + setting->high / 2;
    if (setting->node && is_plausible(plan, setting->limit))
        return choose(plan, setting->limit,
                      assay__arena_printf(arena, "a limit that excludes nothing of '%s' (%s)",
                                          setting->table, setting->node->op));
    if (isfinite(setting->low) && is_plausible(plan, middle))
        return choose(plan, middle, "the middle of what a Clip allows");
    return choose_by_name(plan);
}
