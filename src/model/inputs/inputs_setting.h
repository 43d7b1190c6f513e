/* inputs_setting.h - an input that is a setting of the model: one number, or a few, such as the
 * lowest frequency, a threshold or a speed. A random number between -1 and 1 would often exclude
 * everything, and the outputs would be NaN. */
#ifndef ASSAY_MODEL_INPUTS_INPUTS_SETTING_H
#define ASSAY_MODEL_INPUTS_INPUTS_SETTING_H

#include "model/inputs/inputs.h"

/** What the graph does with it. */
struct assay__setting {
    const struct assay__node *node; /* compares it with the entries of a table; NULL: none */
    const char *table;
    double limit;     /* what excludes no entry */
    double low, high; /* it is clipped to this; NaN unknown */
};

/** Input `index` of a comparison whose other operand is this constant (NULL: it is none). */
void assay__setting_limit(struct assay__setting *setting, const struct assay__node *node,
                          size_t index, const struct assay__tensor *table);
void assay__setting_clip(struct assay__setting *setting, double low, double high);
/** Chooses its value by what the graph does with it, else by its name. false: neither says what it
 * is. */
bool assay__setting_choose(const struct assay__setting *setting, struct assay__input_plan *plan,
                           struct assay__arena *arena);
/** Of an input whose shape is fixed. */
int64_t assay__input_elements(const struct assay__input_plan *plan);

#endif
