/* json_ncp_groups.c - members of a trial of a recurrent cell: "time_steps", "steps", "groups". */
#include "report/json/json_parts.h"

#include <math.h>

static void put_us(struct assay__json_writer *w, const char *key, double time_ns)
{
    assay__json_put_number(w, key, time_ns / 1e3);
}

static const char *state_of(double value)
{
    return assay_state_name(isfinite(value) ? ASSAY_DERIVED : ASSAY_UNAVAILABLE);
}

static void put_part(struct assay__json_writer *w, const struct assay__ncp_groups *g,
                     const struct assay__part *row, bool step)
{
    assay__json_object(w);
    if (step) assay__json_put_count(w, "step", row->step, 0);
    assay__json_put_string(w, step ? "name" : "group", row->name);
    bool one = step && row->kind == ASSAY__PART_GROUP;
    assay__json_put_string(w, "kind", one ? "step" : assay__part_kind_name(row->kind));
    put_us(w, "time_us", row->time_ns);
    assay__json_put_number(w, "share", row->share);
    assay__json_put_number(w, "flops", row->flops);
    if (!step) assay__json_put_number(w, "flops_needed", row->flops_needed);
    if (!step) assay__json_put_count(w, "neurons", row->neurons, 0);
    assay__json_put_count(w, "layers", g->layers ? (int64_t)row->layers : -1, 0);
    assay__json_put_string(w, "state", assay_state_name(row->state));
    assay__json_put_string(w, "flops_state", assay_state_name(row->flops_state));
    assay__json_put_string(w, "note", row->note);
    assay__json_object_end(w);
}

static void put_summary(struct assay__json_writer *w, const struct assay__ncp_groups *g)
{
    assay__json_put_object(w, "time_steps");
    assay__json_put_string(w, "cell", g->cell->kind);
    assay__json_put_string(w, "form", g->cell->form);
    assay__json_put_integer(w, "count", g->cell->steps);
    put_us(w, "per_step_us", g->per_step_ns);
    assay__json_put_string(w, "state", state_of(g->per_step_ns));
    assay__json_put_string(w, "formula", "latency.p50 / count");
    put_us(w, "scan_per_step_us", g->scan_step_ns);
    put_us(w, "first_us", g->first_ns);
    put_us(w, "later_min_us", g->min_ns);
    put_us(w, "later_median_us", g->median_ns);
    put_us(w, "later_max_us", g->max_ns);
    put_us(w, "fastest_layer_us", g->floor_ns);
    assay__json_put_number(w, "calling_share", g->floor_share);
    assay__json_put_string(w, "note", g->note);
    assay__json_object_end(w);
}

void assay__json_ncp_groups(struct assay__json_writer *json, struct assay__study *study,
                            const struct assay__trial *trial)
{
    const struct assay__ncp_groups *g = assay__study_groups(study, trial);
    const char *fault = study->profile->models[0]->cell.fault;
    if (fault && fault[0]) assay__json_put_string(json, "time_steps_fault", fault);
    if (!g) return;
    put_summary(json, g);
    assay__json_put_array(json, "steps");
    for (size_t i = 0; i < g->step_count; i++)
        put_part(json, g, &g->steps[i], true);
    assay__json_array_end(json);
    assay__json_put_array(json, "groups");
    for (size_t i = 0; i < g->group_count; i++)
        put_part(json, g, &g->groups[i], false);
    assay__json_array_end(json);
}
