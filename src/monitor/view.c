/* view.c - what every walker needs of a view. */
#include "monitor/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void assay__view_free(struct assay__view *view)
{
    free(view->rows);
    free(view->processes);
    *view = (struct assay__view){.row_count = 0};
}

const struct assay__shown *assay__view_find(const struct assay__view *view, const char *name)
{
    for (size_t i = 0; i < view->row_count; i++)
        if (strcmp(view->rows[i].row->name, name) == 0) return &view->rows[i];
    return NULL;
}

void assay__view_require(struct assay__view *view, const struct assay__require_table *table,
                         const char *power_row)
{
    view->requirement_count = 0;
    for (int kind = 0; kind < ASSAY__REQUIRE_COUNT; kind++) {
        const struct assay__require_info *info = assay__require_info(
            (enum assay__require_kind)kind);
        double minimum = table->minimum[kind];
        if (isnan(minimum)) continue;
        const char *name = kind == ASSAY__REQUIRE_POWER ? power_row : info->metric;
        const struct assay__shown *shown = name ? assay__view_find(view, name) : NULL;
        double value = shown ? shown->value : (double)NAN;
        bool met = info->floor ? value >= minimum : value <= minimum;
        view->requirements[view->requirement_count++] = (struct assay__shown_requirement){
            .info = info,
            .value = value,
            .minimum = minimum,
            .state = isnan(value) ? ASSAY__REQUIRE_UNKNOWN
                     : met        ? ASSAY__REQUIRE_MET
                                  : ASSAY__REQUIRE_NOT_MET,
            .reason = !shown         ? "it is not known while a model is watched"
                      : isnan(value) ? shown->note
                                     : ""};
    }
}
