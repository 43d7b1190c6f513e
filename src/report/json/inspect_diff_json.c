/* inspect_diff_json.c - the difference of two models as JSON: both in brief, the metrics side by
 * side, and the operators, parameters and layers that differ. Missing on one side is null. */
#include "report/json/json_parts.h"
#include "report/report_model.h"

#include <math.h>

static void put_op(struct assay__json_writer *w, const char *key,
                   const struct assay__analysis *analysis, size_t index)
{
    if (index == SIZE_MAX) {
        assay__json_put_null(w, key);
        return;
    }
    const struct assay__op_total *op = &analysis->ops[index];
    assay__json_record(w, key, json_integer("count", op->count), json_number("flops", op->flops),
                       json_number("bytes", op->bytes));
}

static void put_operators(struct assay__json_writer *w, const struct assay__inspect_diff *diff)
{
    for (ASSAY__JSON_EACH(i, w, "operators", diff->operator_count)) {
        const struct assay__inspect_both *both = &diff->operators[i];
        const struct assay__op_total *op = both->a == SIZE_MAX ? &diff->b->analysis->ops[both->b]
                                                               : &diff->a->analysis->ops[both->a];
        if (!assay__inspect_diff_operator(diff, i)) continue;
        assay__json_object(w);
        assay__json_members(w, json_string("op", op->op), json_string("domain", op->domain));
        put_op(w, "first", diff->a->analysis, both->a);
        put_op(w, "second", diff->b->analysis, both->b);
        assay__json_object_end(w);
    }
}

static void put_type(struct assay__json_writer *w, const char *key,
                     const struct assay__analysis *analysis, size_t index)
{
    if (index == SIZE_MAX) {
        assay__json_put_null(w, key);
        return;
    }
    const struct assay__parameter_total *p = &analysis->parameters_by_type[index];
    assay__json_record(w, key, json_integer("tensors", p->tensors),
                       json_integer("elements", p->elements), json_integer("bytes", p->bytes));
}

static void put_parameters(struct assay__json_writer *w, const struct assay__inspect_diff *diff)
{
    for (ASSAY__JSON_EACH(i, w, "parameters", diff->parameter_count)) {
        const struct assay__inspect_both *both = &diff->parameters[i];
        const struct assay__parameter_total *p =
            both->a == SIZE_MAX ? &diff->b->analysis->parameters_by_type[both->b]
                                : &diff->a->analysis->parameters_by_type[both->a];
        if (!assay__inspect_diff_parameter(diff, i)) continue;
        assay__json_object(w);
        assay__json_members(w, json_string("dtype", assay__dtype_name(p->dtype)),
                            json_string("storage", p->storage));
        put_type(w, "first", diff->a->analysis, both->a);
        put_type(w, "second", diff->b->analysis, both->b);
        assay__json_object_end(w);
    }
}

static void put_layer(struct assay__json_writer *w, const char *key,
                      const struct assay__inspect *inspect, size_t index)
{
    if (index == SIZE_MAX) {
        assay__json_put_null(w, key);
        return;
    }
    const struct assay__inspect_layer *l = &inspect->layers[index];
    struct assay__buf shape = {0};
    assay__inspect_output_shape(&shape, inspect, &inspect->layers[index]);
    assay__json_record(w, key, json_integer("index", index), json_string("name", l->name),
                       json_string("op", l->node->op), json_string("domain", l->node->domain),
                       json_string("shape", shape.data), json_number("flops", l->cost->flops),
                       json_number("bytes", l->bytes));
    assay__buf_drop(&shape, w->out);
}

static void put_layers(struct assay__json_writer *w, const struct assay__inspect_diff *diff)
{
    static const char *const names[] = {"same", "changed", "removed", "added"};
    assay__json_put_object(w, "layers");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assay__json_put_integer(w, names[i], (int64_t)diff->counts[i]);
    assay__json_put_integer(w, "renamed", (int64_t)diff->renamed);
    for (ASSAY__JSON_EACH(i, w, "differences", diff->pair_count)) {
        const struct assay__inspect_pair *p = &diff->pairs[i];
        if (p->change == ASSAY__LAYER_SAME) continue;
        assay__json_object(w);
        assay__json_members(w, json_string("change", names[p->change]),
                            json_string("matched_by", p->change != ASSAY__LAYER_CHANGED ? NULL
                                                      : p->by_name                      ? "name"
                                                                   : "structure"));
        put_layer(w, "first", diff->a, p->a);
        put_layer(w, "second", diff->b, p->b);
        assay__json_object_end(w);
    }
    assay__json_object_end(w);
}

void assay__inspect_diff_json(const struct assay__inspect_diff *diff, struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    struct assay__buf answer = {0};
    assay__json_head(w, out, "inspect");
    const struct assay__inspect *both[] = {diff->a, diff->b};
    for (ASSAY__JSON_EACH(i, w, "models", 2)) {
        const struct assay__inspect *inspect = both[i];
        assay__json_object(w);
        assay__json_members(
            w, json_string("name", inspect->name),
            json_string("path", *inspect->path ? inspect->path : NULL),
            json_string("format", inspect->model->format ? inspect->model->format : "ONNX"),
            json_string("fingerprint", inspect->fingerprint),
            json_count("parameters", inspect->analysis->parameters, 0),
            json_integer("nodes", inspect->layer_count),
            json_integer("subgraph_nodes", inspect->inner_nodes),
            json_integer("conflicts", inspect->analysis->conflict_count));
        assay__json_assumed(w,
                            assay__workload_assumed(inspect->workload, inspect->workload->arena));
        assay__json_metrics(w, inspect->metrics);
        assay__json_object_end(w);
    }
    assay__json_put_object(w, "difference");
    assay__json_members(w, json_bool("equal", diff->equal),
                        json_bool("same_fingerprint", diff->same_graph),
                        json_bool("same_inputs_and_outputs", diff->ends_equal));
    assay__inspect_diff_answer(&answer, diff);
    assay__json_put_string(w, "answer", answer.data);
    assay__json_put_object(w, "ratios");
    for (size_t i = 0; i < assay_metrics_count(diff->a->metrics); i++) {
        const struct assay_metric *a = assay_metrics_at(diff->a->metrics, i);
        const struct assay_metric *b = assay_metrics_get(diff->b->metrics, a->name);
        assay__json_put_number(w, a->name, a->value > 0 && b ? b->value / a->value : (double)NAN);
    }
    assay__json_object_end(w);
    put_operators(w, diff);
    put_parameters(w, diff);
    put_layers(w, diff);
    assay__json_object_end(w);
    assay__json_tail(w);
    assay__buf_drop(&answer, out);
}
