/* view_json.c - a view as one JSON object on one line, in base units with a state for every number:
 * a contract with programs (doc/watch.md). Names are never removed; what is unavailable is null
 * with the reason. */
#include "monitor/view.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

typedef struct assay__json_writer writer;

static void put_unsigned(writer *to, const char *key, uint64_t value)
{
    assay__json_key(to, key);
    assay__json_unsigned(to, value);
}

static void put_value(writer *to, const char *key, double value, const char *unit,
                      enum assay_state state, const char *note)
{
    assay__json_put_object(to, key);
    assay__json_put_number(to, "value", value);
    assay__json_put_string(to, "unit", unit);
    assay__json_put_string(to, "state", assay_state_name(isnan(value) ? ASSAY_UNAVAILABLE : state));
    assay__json_put_string(to, "note", note);
    assay__json_object_end(to);
}

static void put_metrics(writer *to, const struct assay__view *view)
{
    assay__json_put_object(to, "metrics");
    for (size_t i = 0; i < view->row_count; i++) {
        const struct assay__shown *shown = &view->rows[i];
        assay__json_put_object(to, shown->row->name);
        assay__json_put_number(to, "value", shown->value);
        assay__json_put_string(to, "unit", shown->row->unit);
        assay__json_put_string(to, "state", assay_state_name(shown->state));
        assay__json_put_string(to, "source", *shown->row->source ? shown->row->source : "none");
        assay__json_put_string(to, "note", shown->note);
        if (*shown->row->kind) assay__json_put_string(to, "kind", shown->row->kind);
        assay__json_object_end(to);
    }
    assay__json_object_end(to);
}

/* The model that runs meanwhile; its numbers are among the metrics. */
static void put_model(writer *to, const struct assay__view *view)
{
    const struct assay__shown_model *model = &view->model;
    if (!model->name) return;
    assay__json_put_object(to, "model");
    assay__json_put_string(to, "name", model->name);
    assay__json_put_string(to, "device", model->device);
    assay__json_put_string(to, "state", model->state);
    assay__json_put_text(to, "reason", model->reason);
    put_unsigned(to, "inferences", model->inferences);
    put_unsigned(to, "restarts", model->restarts);
    assay__json_object_end(to);
}

static void put_requirements(writer *to, const struct assay__view *view)
{
    if (!view->requirement_count) return;
    assay__json_put_array(to, "requirements");
    for (size_t i = 0; i < view->requirement_count; i++) {
        const struct assay__shown_requirement *row = &view->requirements[i];
        assay__json_object(to);
        assay__json_put_string(to, "key", row->info->key);
        assay__json_put_number(to, "value", row->value);
        assay__json_put_number(to, "minimum", row->minimum);
        assay__json_put_string(to, "unit", row->info->unit);
        assay__json_put_bool(to, "floor", row->info->floor);
        assay__json_put_string(to, "state", assay__require_state_name(row->state));
        assay__json_put_text(to, "reason", row->reason);
        assay__json_object_end(to);
    }
    assay__json_array_end(to);
}

/* Every device once, in the order of its first row, with the names of its metrics. */
static void put_devices(writer *to, const struct assay__view *view)
{
    assay__json_put_array(to, "devices");
    for (size_t i = 0; i < view->row_count; i++) {
        const char *device = view->rows[i].row->device;
        bool first = *device != '\0';
        for (size_t k = 0; k < i && first; k++)
            first = strcmp(view->rows[k].row->device, device) != 0;
        if (!first) continue;
        assay__json_object(to);
        assay__json_put_string(to, "name", device);
        assay__json_put_string(to, "class",
                               strncmp(device, "cpu", 3) == 0   ? "cpu"
                               : strncmp(device, "gpu", 3) == 0 ? "gpu"
                                                                : "npu");
        assay__json_put_array(to, "metrics");
        for (size_t k = i; k < view->row_count; k++)
            if (strcmp(view->rows[k].row->device, device) == 0)
                assay__json_string(to, view->rows[k].row->name);
        assay__json_array_end(to);
        assay__json_object_end(to);
    }
    assay__json_array_end(to);
}

static void put_rest(writer *to, const char *name, double share, const char *reason)
{
    assay__json_object(to);
    assay__json_put_null(to, "pid");
    assay__json_put_string(to, "name", name);
    put_value(to, "cpu", share, "ratio", ASSAY_DERIVED, isnan(share) ? reason : "of all CPUs");
    assay__json_object_end(to);
}

/* The members, then "other" and "total": the members and other add up to the total. */
static void put_processes(writer *to, const struct assay__view *view)
{
    const char *reason = *view->tree_reason ? view->tree_reason : "waiting for a second reading";
    assay__json_put_array(to, "processes");
    for (size_t i = 0; view->has_tree && i < view->process_count; i++) {
        const struct assay__process *process = &view->processes[i];
        assay__json_object(to);
        assay__json_put_integer(to, "pid", process->pid);
        assay__json_put_integer(to, "parent", process->parent);
        assay__json_put_integer(to, "depth", process->depth);
        assay__json_put_string(to, "name", process->name);
        put_value(to, "cpu", process->share, "ratio", ASSAY_DERIVED,
                  isnan(process->share) ? reason : "of all CPUs");
        put_value(to, "memory", process->memory_bytes, "B", ASSAY_MEASURED,
                  "resident; a shared page counts in each process");
        assay__json_object_end(to);
    }
    if (view->has_tree) {
        put_rest(to, "other", view->tree_other, reason);
        put_rest(to, "total", view->tree_total, reason);
    }
    assay__json_array_end(to);
}

static void put_cost(writer *to, const struct assay__view *view)
{
    assay__json_put_object(to, "overhead");
    put_value(to, "cpu", view->cost.share, "ratio", ASSAY_MEASURED,
              isnan(view->cost.share) ? "not known yet" : "of one core, this process");
    put_value(to, "sensors", view->cost.sensors_share, "ratio", ASSAY_MEASURED,
              isnan(view->cost.sensors_share) ? "not known yet"
                                              : "of one core, reading sensors, since the start");
    put_unsigned(to, "late", view->cost.late);
    assay__json_object_end(to);
}

void assay__view_json(const struct assay__view *view, struct assay__buf *out)
{
    writer to;
    assay__json_start(&to, out, false);
    assay__json_object(&to);
    assay__json_put_text(&to, "time", view->time);
    assay__json_put_number(&to, "interval_s", view->interval_s);
    put_metrics(&to, view);
    put_model(&to, view);
    put_requirements(&to, view);
    put_devices(&to, view);
    put_processes(&to, view);
    assay__json_put_array(&to, "alerts");
    assay__json_array_end(&to);
    put_cost(&to, view);
    assay__json_object_end(&to);
    assay__buf_putc(out, '\n');
}

void assay__view_json_summary(const struct assay__view *view, struct assay__buf *out)
{
    writer to;
    assay__json_start(&to, out, false);
    assay__json_object(&to);
    assay__json_put_text(&to, "time", view->time);
    assay__json_put_object(&to, "summary");
    assay__json_put_number(&to, "seconds", (double)(view->now_ns - view->began_ns) * 1e-9);
    put_unsigned(&to, "readings", view->ticks);
    assay__json_put_object(&to, "metrics");
    for (size_t i = 0; i < view->row_count; i++) {
        const struct assay__shown *shown = &view->rows[i];
        assay__json_put_object(&to, shown->row->name);
        assay__json_put_number(&to, "min", shown->least);
        assay__json_put_number(&to, "mean", shown->mean);
        assay__json_put_number(&to, "max", shown->greatest);
        assay__json_put_string(&to, "unit", shown->row->unit);
        assay__json_put_string(&to, "state",
                               assay_state_name(shown->count ? ASSAY_DERIVED : ASSAY_UNAVAILABLE));
        put_unsigned(&to, "readings", shown->count);
        if (!shown->count) assay__json_put_string(&to, "note", shown->note);
        if (!isnan(shown->energy_j)) assay__json_put_number(&to, "energy_j", shown->energy_j);
        assay__json_object_end(&to);
    }
    assay__json_object_end(&to);
    assay__json_object_end(&to);
    put_cost(&to, view);
    assay__json_object_end(&to);
    assay__buf_putc(out, '\n');
}
