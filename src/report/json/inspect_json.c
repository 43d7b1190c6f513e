/* inspect_json.c - inspect as one JSON object (doc/inspect.md lists its members). Unknown numbers
 * are null. A shape is a list of numbers, null for an unknown dimension; symbolic_shape has the
 * names of the file, and is present only if it differs. */
#include "report/json/json_parts.h"
#include "report/report_model.h"

#include <assay/profile.h>
#include <math.h>

/* --- shapes ----------------------------------------------------------------------------------- */

/* An unknown dimension is its symbol in `shapes` (NULL: there are none), else null. */
static void put_shape(struct assay__json_writer *w, const char *key,
                      const struct assay__shapes *shapes, const struct assay__shape_entry *entry)
{
    assay__json_put_array(w, key);
    for (int d = 0; d < entry->rank; d++) {
        if (entry->dims[d] >= 0) {
            assay__json_integer(w, entry->dims[d]);
        } else {
            const char *symbol = shapes ? assay__shapes_symbol(shapes, entry->dims[d]) : NULL;
            assay__json_string(w, symbol && *symbol ? symbol : NULL);
        }
    }
    assay__json_array_end(w);
}

static void put_tensor(struct assay__json_writer *w, const struct assay__inspect *inspect,
                       const char *name)
{
    const struct assay__shape_entry *entry = assay__shapes_get(inspect->analysis->shapes, name);
    assay__json_object(w);
    assay__json_members(w, json_string("name", name),
                        json_text("dtype", entry && entry->dtype != ASSAY__UNDEFINED
                                               ? assay__dtype_name(entry->dtype)
                                               : NULL));
    if (entry && entry->rank >= 0)
        put_shape(w, "shape", NULL, entry);
    else
        assay__json_put_null(w, "shape");
    const struct assay__shapes *symbols = assay__inspect_symbolic(inspect);
    const struct assay__shape_entry *named = symbols ? assay__shapes_get(symbols, name) : NULL;
    bool symbolic = false;
    for (int d = 0; named && d < named->rank; d++)
        symbolic |= named->dims[d] < 0;
    if (symbolic) put_shape(w, "symbolic_shape", symbols, named);
    if (assay__map_get(inspect->weights, name) != ASSAY__MAP_NONE)
        assay__json_put_bool(w, "weight", true);
    assay__json_object_end(w);
}

/* A missing optional value is null, so that positions are kept. */
static void put_names(struct assay__json_writer *w, const struct assay__inspect *inspect,
                      const char *key, const char **names, size_t count)
{
    for (ASSAY__JSON_EACH(i, w, key, count)) {
        if (*names[i])
            put_tensor(w, inspect, names[i]);
        else
            assay__json_null(w);
    }
}

static void put_values(struct assay__json_writer *w, const struct assay__inspect *inspect,
                       const char *key, const struct assay__value *values, size_t count,
                       bool inputs)
{
    for (ASSAY__JSON_EACH(i, w, key, count))
        if (!inputs || assay__inspect_is_input(inspect, &values[i]))
            put_tensor(w, inspect, values[i].name);
}

/* --- the model -------------------------------------------------------------------------------- */

static void put_model(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__model *m = inspect->model;
    const struct assay__analysis *a = inspect->analysis;
    assay__json_put_object(w, "model");
    assay__json_members(
        w, json_string("name", inspect->name), json_text("path", inspect->path),
        json_string("format", m->format && *m->format ? m->format : "ONNX"),
        json_bool("zoo", inspect->zoo), json_string("fingerprint", inspect->fingerprint),
        json_count("parameters", a->parameters, 0),
        json_number("weight_bytes", a->parameter_bytes >= 0 ? (double)a->parameter_bytes : NAN),
        json_string("version_note", inspect->version_note),
        json_integer("nodes", inspect->layer_count), json_integer("subgraphs", inspect->subgraphs),
        json_integer("subgraph_nodes", inspect->inner_nodes),
        json_integer("functions_inlined", inspect->functions),
        json_integer("external_tensors", inspect->external_tensors),
        json_text("external_missing", inspect->missing),
        json_count("ir_version", assay__model_is_onnx(m) ? m->ir_version : 0, 1));
    if (assay__model_is_onnx(m)) {
        for (ASSAY__JSON_EACH(i, w, "opsets", m->opset_count)) {
            assay__json_record(w, NULL, json_string("domain", m->opsets[i].domain),
                               json_integer("version", m->opsets[i].version));
        }
    } else {
        assay__json_put_null(w, "opsets");
    }
    assay__json_members(w, json_text("producer", m->producer),
                        json_text("producer_version", m->producer_version));
    for (ASSAY__JSON_EACH(i, w, "operators", a->op_count)) {
        const struct assay__op_total *op = &a->ops[i];
        assay__json_record(w, NULL, json_string("op", op->op), json_string("domain", op->domain),
                           json_integer("count", op->count), json_integer("not_run", op->skipped),
                           json_integer("unknown", op->unknown), json_number("flops", op->flops),
                           json_number("macs", op->macs), json_number("bytes", op->bytes));
    }
    put_values(w, inspect, "inputs", m->graph.inputs, m->graph.input_count, true);
    put_values(w, inspect, "outputs", m->graph.outputs, m->graph.output_count, false);
    assay__json_object_end(w);
}

/* --- layers ----------------------------------------------------------------------------------- */

/* A ratio of two exact numbers does not need seventeen digits. */
static double six_digits(double value)
{
    if (!isfinite(value) || value == 0) return value;
    double scale = pow(10, 5 - floor(log10(fabs(value))));
    return round(value * scale) / scale;
}

static void put_layers(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    for (ASSAY__JSON_EACH(i, w, "layers", inspect->layer_count)) {
        const struct assay__inspect_layer *layer = &inspect->layers[i];
        const struct assay__node *node = layer->node;
        assay__json_object(w);
        w->pretty = false; /* one line per layer: thousands of them stay readable, and small */
        assay__json_members(w, json_integer("index", i), json_string("name", layer->name),
                            json_string("op", node->op), json_string("domain", node->domain));
        if (node->source_op) assay__json_put_string(w, "source_op", node->source_op);
        put_names(w, inspect, "inputs", node->inputs, node->input_count);
        put_names(w, inspect, "outputs", node->outputs, node->output_count);
        assay__json_members(w, json_number("flops", layer->cost->flops),
                            json_number("macs", layer->cost->macs),
                            json_number("bytes_read", layer->cost->bytes_read),
                            json_number("bytes_written", layer->cost->bytes_written),
                            json_number("bytes_weights", layer->cost->bytes_weights),
                            json_number("memory_bytes", layer->memory_bytes),
                            json_number("live_bytes", layer->live_bytes),
                            json_number("intensity", six_digits(layer->intensity)));
        if (layer->cost->why) assay__json_put_string(w, "why", layer->cost->why);
        assay__json_object_end(w);
        w->pretty = true;
    }
}

/* --- memory and weights ----------------------------------------------------------------------- */

static void put_memory(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__liveness *live = &inspect->analysis->live;
    bool known = isfinite(live->peak_bytes) && live->peak_position < inspect->layer_count;
    assay__json_put_object(w, "memory");
    assay__json_members(
        w, json_number("peak_bytes", live->peak_bytes),
        json_count("position", known ? (int64_t)live->peak_position : -1, 0),
        json_string("layer", known ? inspect->layers[live->peak_position].name : NULL),
        json_number("inside_bodies_bytes", known ? live->peak_body_bytes : NAN),
        json_integer("tensors_of_unknown_size", live->unknown_count));
    for (ASSAY__JSON_EACH(i, w, "tensors", known ? live->peak_tensor_count : 0)) {
        const struct assay__live_tensor *t = &live->tensors[live->peak_tensors[i]];
        assay__json_record(w, NULL, json_string("name", t->name), json_number("bytes", t->bytes),
                           json_integer("first", t->first), json_integer("last", t->last));
    }
    assay__json_object_end(w);
}

/* Weights that are compressed in the file; nothing if there are none. */
static void put_stored(struct assay__json_writer *w, const struct assay__model *model)
{
    if (!model->stored_count) return;
    for (ASSAY__JSON_EACH(i, w, "compressed_weights", model->stored_count)) {
        const struct assay__stored_weight *weight = &model->stored[i];
        assay__json_record(w, NULL, json_string("name", weight->name),
                           json_string("scheme", weight->scheme),
                           json_string("detail", weight->detail), json_number("bits", weight->bits),
                           json_string("dtype", assay__dtype_name(weight->dtype)),
                           json_integer("elements", weight->logical_elements),
                           json_integer("stored_bytes", weight->stored_bytes));
    }
}

static void put_unknown(struct assay__json_writer *w, const struct assay__analysis *a)
{
    for (ASSAY__JSON_EACH(i, w, "unknown_operators", a->unknown_count)) {
        assay__json_record(w, NULL, json_string("op", a->unknown[i].op),
                           json_string("domain", a->unknown[i].domain),
                           json_integer("count", a->unknown[i].count),
                           json_integer("without_flops", a->unknown[i].without_flops),
                           json_integer("without_bytes", a->unknown[i].without_bytes),
                           json_string("why", a->unknown[i].why));
    }
    for (ASSAY__JSON_EACH(i, w, "conflicts", a->conflict_count)) {
        const struct assay__shape_conflict *c = &a->conflicts[i];
        assay__json_record(w, NULL, json_string("node", c->node), json_string("op", c->op),
                           json_string("producer", c->producer),
                           json_text("producer_op", c->producer_op), json_string("other", c->other),
                           json_string("message", c->message));
    }
}

/* --- the wiring of a Neural Circuit Policy ---------------------------------------------------- */

static void put_degree(struct assay__json_writer *w, const char *key,
                       const struct assay__ncp_degree *d)
{
    assay__json_key(w, key);
    if (!isfinite(d->mean)) {
        assay__json_null(w);
        return;
    }
    assay__json_record(w, NULL, json_integer("min", d->min), json_integer("max", d->max),
                       json_number("mean", d->mean));
}

static void put_groups(struct assay__json_writer *w, const struct assay__ncp *n)
{
    for (ASSAY__JSON_EACH(i, w, "groups", n->group_count)) {
        const struct assay__ncp_group *g = &n->groups[i];
        assay__json_object(w);
        assay__json_members(w, json_string("name", g->name), json_integer("neurons", g->neurons));
        put_degree(w, "in", &g->in);
        put_degree(w, "out", &g->out);
        assay__json_members(w, json_number("flops", g->flops),
                            json_number("flops_needed", g->flops_needed),
                            json_number("bytes", g->bytes), json_bool("shared", g->shared),
                            json_integer("nodes", g->nodes));
        assay__json_object_end(w);
    }
    for (ASSAY__JSON_EACH(i, w, "steps", n->per_step_count)) {
        assay__json_record(w, NULL, json_integer("step", n->per_step[i].step),
                           json_number("flops", n->per_step[i].flops),
                           json_number("bytes", n->per_step[i].bytes));
    }
}

static void put_ncp(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__ncp *n = &inspect->ncp;
    int64_t least = n->wired ? 0 : INT64_MAX; /* of no wiring, no counts */
    assay__json_key(w, "ncp");
    if (!inspect->has_ncp) {
        assay__json_null(w);
        if (inspect->ncp_fault) assay__json_put_string(w, "ncp_fault", inspect->ncp_fault);
        return;
    }
    assay__json_object(w);
    assay__json_members(
        w, json_string("cell", n->cell), json_string("wiring", n->wiring),
        json_text("mode", n->mode), json_string("form", n->form), json_integer("units", n->units),
        json_integer("inputs", n->inputs), json_integer("outputs", n->outputs),
        json_integer("step_count", n->steps), json_integer("unfolds", n->unfolds),
        json_bool("wired", n->wired), json_bool("mixed_memory", n->mixed_memory),
        json_count("synapses", n->synapses, least),
        json_count("sensory_synapses", n->sensory_synapses, least),
        json_count("excitatory", n->excitatory, least),
        json_count("inhibitory", n->inhibitory, least),
        json_count("components", n->components, least),
        json_count("largest_component", n->largest_component, least),
        json_count("cyclic_components", n->cyclic_components, least),
        json_count("longest_path", n->longest_path, least), json_number("sparsity", n->sparsity),
        json_number("sensory_sparsity", n->sensory_sparsity), json_number("flops", n->flops),
        json_number("flops_needed", n->flops_needed),
        json_number("flops_per_step", n->flops_per_step),
        json_number("bytes_per_step", n->bytes_per_step));
    put_groups(w, n);
    assay__json_put_text(w, "note", n->note);
    assay__json_object_end(w);
}

void assay__inspect_json(const struct assay__inspect *inspect, struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay__workload *load = inspect->workload;
    const struct assay__analysis *a = inspect->analysis;
    assay__json_head(w, out, "inspect");
    put_model(w, inspect);
    assay__json_put_object(w, "workload");
    assay__json_put_count(w, "batch", load->batch, 0);
    assay__json_put_object(w, "dims");
    for (size_t i = 0; i < load->dim_count; i++)
        assay__json_put_integer(w, load->dims[i].symbol, load->dims[i].value);
    assay__json_object_end(w);
    assay__json_put_strings(w, "notes", (const char *const *)load->notes, load->note_count);
    assay__json_assumed(w, assay__workload_assumed(load, load->arena));
    assay__json_put_text(w, "unplanned", inspect->unplanned);
    assay__json_object_end(w);
    assay__json_metrics(w, inspect->metrics);
    assay__json_record(w, "totals", json_number("flops", a->flops), json_number("macs", a->macs),
                       json_number("bytes_read", a->bytes_read),
                       json_number("bytes_written", a->bytes_written),
                       json_number("bytes_weights", a->bytes_weights),
                       json_integer("nodes_without_flops", a->unknown_flops),
                       json_integer("nodes_without_bytes", a->unknown_bytes));
    put_memory(w, inspect);
    for (ASSAY__JSON_EACH(i, w, "parameters", a->parameter_type_count)) {
        const struct assay__parameter_total *p = &a->parameters_by_type[i];
        assay__json_record(w, NULL, json_string("dtype", assay__dtype_name(p->dtype)),
                           json_string("storage", p->storage ? p->storage : "dense"),
                           json_integer("tensors", p->tensors),
                           json_integer("elements", p->elements), json_integer("bytes", p->bytes));
    }
    put_stored(w, inspect->model);
    put_unknown(w, a);
    put_ncp(w, inspect);
    put_layers(w, inspect);
    assay__json_tail(w);
}
