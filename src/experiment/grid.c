/* grid.c - turns lists and goals into a space of configurations and a plan. */
#include "experiment/grid.h"

#include "base/options_read.h"
#include "engine/engine.h"
#include "experiment/run_ceilings.h"
#include "judge/comparison.h"
#include "judge/sweep.h"

#include <stdlib.h>
#include <string.h>

int assay__goal_read(const struct assay_goal_options *goal, const char *otherwise,
                     struct assay__plan *plan, struct assay_error *error)
{
    uint64_t bytes = 0;
    const char *name = goal->goal ? goal->goal : otherwise;
    *plan = assay__plan_unknown();
    plan->asked = true;
    plan->goal = assay__plan_goal_parse(name);
    if (strcmp(assay__plan_goal_name(plan->goal), name) != 0)
        return assay__refuse_option(error, "goal",
                                    "'%s' is not a goal: throughput, latency or energy", name);
    int code = goal->slo ? assay__sweep_slo_check(goal->slo, error) : 0;
    if (!code && goal->memory_budget)
        code = assay__sweep_memory_read(goal->memory_budget, &bytes, error);
    if (code) return code;
    assay__plan_set_slo(plan, goal->slo);
    if (bytes) plan->memory_bytes = (double)bytes;
    if (!goal->allow_drift) plan->drift_limit = ASSAY__DRIFT_LIMIT;
    return 0;
}

int assay__grid_devices(const struct assay__run_options *run, const char *list,
                        struct assay__arena *arena, struct assay__device_selection *words,
                        bool *software, struct assay_error *error)
{
    const struct assay_target_options *target = &run->target;
    const char *engine = target->engine ? target->engine : "ort";
    const char *device = target->device ? target->device : "cpu";
    struct assay__found found = {.count = 0};
    words->count = 0;
    *software = false;
    if (list && target->device)
        return assay__refuse_option(error, "devices",
                                    "one device and a list of them cannot be used together");
    if (!list && assay__engine_device_class(engine, assay__device_bare(device)) == ASSAY__CLASS_CPU)
        return 0;
    struct assay__device_search search = {
        .engine = target->engine, .library = target->library, .callbacks = run->callbacks};
    if (!list) search.callbacks.progress = NULL;
    int code = assay__devices_find(&search, &found, error);
    if (!code)
        code = assay__device_selection_read(list ? list : device, &found, arena, words, error);
    assay__devices_free(&found);
    if (list || code) return code;
    *software = words->count == 1 && words->items[0].software;
    words->count = 0;
    return 0;
}

int assay__grid_read(struct assay__config_space *space, const struct assay_grid_options *grid,
                     const char *devices, struct assay_error *error)
{
    const char *const lists[ASSAY__AXIS_COUNT] = {
        [ASSAY__AXIS_DEVICE] = devices,          [ASSAY__AXIS_PRECISION] = grid->precision,
        [ASSAY__AXIS_OPT] = grid->optimization,  [ASSAY__AXIS_THREADS] = grid->threads,
        [ASSAY__AXIS_SPINNING] = grid->spinning, [ASSAY__AXIS_SEQ] = grid->sequence,
        [ASSAY__AXIS_BATCH] = grid->batch,
    };
    int code = 0;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT && !code; a++)
        if (lists[a]) code = assay__config_read(space, (enum assay__axis)a, lists[a], error);
    const struct assay__config_values *threads = &space->axes[ASSAY__AXIS_THREADS];
    for (size_t i = 0; i < threads->count && !code; i++)
        code = assay__config_check_thread_count(strtol(threads->values[i], NULL, 10), error);
    return code;
}

int assay__grid_ceilings(const struct assay__config_space *space, const char *const *refusals,
                         struct assay__run_options *run, struct assay_error *error)
{
    const struct assay__config_values *axis = &space->axes[ASSAY__AXIS_DEVICE];
    const char *devices[ASSAY__CONFIG_VALUES];
    size_t count = 0;
    for (size_t d = 0; d < axis->count; d++)
        if (!refusals[d] || !*refusals[d]) devices[count++] = axis->values[d];
    return assay__run_ceilings(space->arena, axis->count ? devices : NULL, count, run, error);
}
