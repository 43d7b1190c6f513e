/* counters_class.h - counters of classes of layers: all layers of one operator together. */
#ifndef ASSAY_RUN_WATCH_COUNTERS_CLASS_H
#define ASSAY_RUN_WATCH_COUNTERS_CLASS_H

#include "run/trial/trial.h"

/** Fills the trial's counter_names, class_counters and class_counter_note from the launches that
 *  told of counters. 0 or ASSAY_ENOMEM. */
int assay__counters_classes(const struct assay__trial_input *input,
                            const struct assay__outcome *const *used, size_t used_count);

#endif
