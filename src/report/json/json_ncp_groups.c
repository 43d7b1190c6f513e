/* json_ncp_groups.c - members of a trial of a recurrent cell: "time_steps", "steps", "groups". */
#include "report/json/json_parts.h"

#include <math.h>

static void put_part(struct assay__json_writer *w, const struct assay__ncp_groups *g,
                     const struct assay__part *row, bool step)
{
    assay__json_object(w);
    bool one = step && row->kind == ASSAY__PART_GROUP;
    if (step) assay__json_put_count(w, "step", row->step, 0);
    assay__json_members(w, json_string(step ? "name" : "group", row->name),
                        json_string("kind", one ? "step" : assay__part_kind_name(row->kind)),
                        json_number("time_us", row->time_ns / 1e3),
                        json_number("share", row->share), json_number("flops", row->flops));
    if (!step)
        assay__json_members(w, json_number("flops_needed", row->flops_needed),
                            json_count("neurons", row->neurons, 0));
    assay__json_members(w, json_count("layers", g->layers ? (int64_t)row->layers : -1, 0),
                        json_string("state", assay_state_name(row->state)),
                        json_string("flops_state", assay_state_name(row->flops_state)),
                        json_string("note", row->note));
    assay__json_object_end(w);
}

void assay__json_ncp_groups(struct assay__json_writer *json, struct assay__study *study,
                            const struct assay__trial *trial)
{
    const struct assay__ncp_groups *g = assay__study_groups(study, trial);
    const char *fault = study->profile->models[0]->cell.fault;
    if (fault && fault[0]) assay__json_put_string(json, "time_steps_fault", fault);
    if (!g) return;
    assay__json_record(
        json, "time_steps", json_string("cell", g->cell->kind), json_string("form", g->cell->form),
        json_integer("count", g->cell->steps), json_number("per_step_us", g->per_step_ns / 1e3),
        json_string("state",
                    assay_state_name(isfinite(g->per_step_ns) ? ASSAY_DERIVED : ASSAY_UNAVAILABLE)),
        json_string("formula", "latency.p50 / count"),
        json_number("scan_per_step_us", g->scan_step_ns / 1e3),
        json_number("first_us", g->first_ns / 1e3), json_number("later_min_us", g->min_ns / 1e3),
        json_number("later_median_us", g->median_ns / 1e3),
        json_number("later_max_us", g->max_ns / 1e3),
        json_number("fastest_layer_us", g->floor_ns / 1e3),
        json_number("calling_share", g->floor_share), json_string("note", g->note));
    for (ASSAY__JSON_EACH(i, json, "steps", g->step_count))
        put_part(json, g, &g->steps[i], true);
    for (ASSAY__JSON_EACH(i, json, "groups", g->group_count))
        put_part(json, g, &g->groups[i], false);
}
