/* rule_changes.c - changes that several rules would have one try. Each leaves the change at NONE
 * where it is made already, or cannot be made. */
#include "advise/rule.h"

#include <string.h>

#define BATCH_LARGEST 4096 /* beyond it a batch that is eight times as large is no longer a try */

void assay__try_optimization(const struct assay__advice *advice, struct assay__change *change)
{
    enum assay__optimization level = advice->trial->target.optimization;
    if (level && level != ASSAY__OPTIMIZATION_ALL) change->kind = ASSAY__CHANGE_OPTIMIZE;
}

void assay__try_batch(const struct assay__advice *advice, struct assay__change *change)
{
    int64_t batch = advice->trial->batch;
    if (batch < 1 || batch > BATCH_LARGEST) return;
    *change = (struct assay__change){ASSAY__CHANGE_BATCH, batch * ASSAY__BATCH_TIMES, NULL, 0};
}

void assay__try_weights_int8(const struct assay__advice *advice, struct assay__change *change)
{
    (void)advice;
    change->kind = ASSAY__CHANGE_WEIGHTS_INT8;
}

void assay__try_spinning_off(const struct assay__advice *advice, struct assay__change *change)
{
    if (!advice->trial->target.spinning_off) change->kind = ASSAY__CHANGE_SPINNING_OFF;
}
