/* describe_cell.c - what the profile keeps of a Neural Circuit Policy: its cell, form, time steps
 * and neuron groups with the FLOPs that the graph executes and the wiring needs. From the model's
 * metadata (cost/ncp.h); with it a report can tell time steps and groups apart on any machine. */
#include "cost/ncp.h"
#include "run/trial/describe.h"

static int keep_groups(struct assay_profile *profile, struct assay__cell_info *cell,
                       const struct assay__ncp *ncp)
{
    size_t count = ncp->group_count < ASSAY__CELL_GROUPS ? ncp->group_count : ASSAY__CELL_GROUPS;
    cell->groups = assay__arena_array(profile->arena, count, sizeof *cell->groups);
    if (!cell->groups) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct assay__ncp_group *group = &ncp->groups[i];
        const char *name = assay__arena_strdup(profile->arena, group->name);
        if (!name) return ASSAY_ENOMEM;
        cell->groups[i] = (struct assay__cell_group){
            .name = name,
            .neurons = group->neurons,
            .flops = group->flops,
            .flops_needed = group->flops_needed,
            .state = group->shared ? ASSAY_ESTIMATED : ASSAY_DERIVED,
        };
    }
    cell->group_count = count;
    return 0;
}

static int keep_cell(struct assay_profile *profile, struct assay__cell_info *cell,
                     const struct assay__ncp *ncp)
{
    const char *kind = assay__arena_strdup(profile->arena, ncp->cell);
    const char *form = assay__arena_strdup(profile->arena, ncp->form);
    if (!kind || !form) return ASSAY_ENOMEM;
    cell->kind = kind;
    cell->form = form;
    cell->steps = ncp->steps;
    return keep_groups(profile, cell, ncp);
}

int assay__describe_cell(struct assay_profile *profile, struct assay__model_info *info,
                         const struct assay__model *model, struct assay__shapes *shapes,
                         struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    const struct assay__analysis analysis = {.shapes = shapes};
    struct assay__ncp ncp;
    struct assay_error fault = {0};
    bool found = false;
    int code = arena ? assay__ncp_facts(model, &analysis, arena, &found, &ncp, &fault)
                     : ASSAY_ENOMEM;
    if (code == 0 && found) code = keep_cell(profile, &info->cell, &ncp);
    if (code && code != ASSAY_ENOMEM) {
        const char *said = assay__arena_strdup(profile->arena, fault.message);
        if (said) info->cell.fault = said;
        code = said ? 0 : ASSAY_ENOMEM;
    }
    assay__arena_free(arena);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}
