/* inspect_json.c - inspect as one JSON object (doc/inspect.md lists its members). Unknown numbers
 * are null. A shape is a list of numbers, null where a dimension is not known; symbolic_shape
 * keeps the names of the file, and stands only where it differs. */
#include "report/json/inspect_json.h"

#include "report/json/json_head.h"
#include "report/report_model.h"

#include <assay/profile.h>
#include <math.h>
#include <string.h>

static void put_size(struct assay__json_writer *w, const char *key, size_t value)
{
    assay__json_put_integer(w, key, (int64_t)value);
}

void assay__inspect_json_head(struct assay__json_writer *w)
{
    assay__json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "inspect");
}

void assay__inspect_json_metrics(struct assay__json_writer *w, const struct assay_metrics *set)
{
    assay__json_put_object(w, "metrics");
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const struct assay_metric *m = assay_metrics_at(set, i);
        assay__json_put_object(w, m->name);
        assay__json_put_number(w, "value", m->value);
        assay__json_put_string(w, "unit", m->unit);
        assay__json_put_string(w, "state", assay_state_name(m->state));
        assay__json_put_string(w, "source", m->source ? m->source : "");
        assay__json_put_string(w, "note", m->note ? m->note : "");
        assay__json_object_end(w);
    }
    assay__json_object_end(w);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static void put_shape(struct assay__json_writer *w, const struct assay__shape_entry *entry)
{
    assay__json_key(w, "shape");
    if (!entry || entry->rank < 0) {
        assay__json_null(w);
        return;
    }
    assay__json_array(w);
    for (int d = 0; d < entry->rank; d++) {
        if (entry->dims[d] >= 0)
            assay__json_integer(w, entry->dims[d]);
        else
            assay__json_null(w);
    }
    assay__json_array_end(w);
}

static void put_symbolic(struct assay__json_writer *w, const struct assay__shapes *shapes,
                         const struct assay__shape_entry *entry)
{
    bool any = false;
    for (int d = 0; entry && d < entry->rank; d++)
        any |= entry->dims[d] < 0;
    if (!any) return;
    assay__json_put_array(w, "symbolic_shape");
    for (int d = 0; d < entry->rank; d++) {
        const char *symbol = entry->dims[d] < 0 ? assay__shapes_symbol(shapes, entry->dims[d]) : "";
        if (entry->dims[d] >= 0)
            assay__json_integer(w, entry->dims[d]);
        else
            assay__json_string(w, symbol && *symbol ? symbol : NULL);
    }
    assay__json_array_end(w);
}

static void put_tensor(struct assay__json_writer *w, const struct assay__inspect *inspect,
                       const char *name)
{
    const struct assay__shape_entry *entry = assay__shapes_get(inspect->analysis->shapes, name);
    assay__json_object(w);
    assay__json_put_string(w, "name", name);
    assay__json_put_text(w, "dtype",
                         entry && entry->dtype != ASSAY__UNDEFINED ? assay__dtype_name(entry->dtype)
                                                                   : NULL);
    put_shape(w, entry);
    if (inspect->symbolic)
        put_symbolic(w, inspect->symbolic, assay__shapes_get(inspect->symbolic, name));
    if (assay__map_get(inspect->weights, name) != ASSAY__MAP_NONE)
        assay__json_put_bool(w, "weight", true);
    assay__json_object_end(w);
}

/* An absent optional is null, so that positions stay. */
static void put_names(struct assay__json_writer *w, const struct assay__inspect *inspect,
                      const char *key, const char **names, size_t count)
{
    assay__json_put_array(w, key);
    for (size_t i = 0; i < count; i++) {
        if (*names[i])
            put_tensor(w, inspect, names[i]);
        else
            assay__json_null(w);
    }
    assay__json_array_end(w);
}

static void put_values(struct assay__json_writer *w, const struct assay__inspect *inspect,
                       const char *key, const struct assay__value *values, size_t count,
                       bool inputs)
{
    assay__json_put_array(w, key);
    for (size_t i = 0; i < count; i++)
        if (!inputs || assay__inspect_is_input(inspect, &values[i]))
            put_tensor(w, inspect, values[i].name);
    assay__json_array_end(w);
}

/* --- the model -------------------------------------------------------------------------------- */

static void put_operators(struct assay__json_writer *w, const struct assay__analysis *a)
{
    assay__json_put_array(w, "operators");
    for (size_t i = 0; i < a->op_count; i++) {
        const struct assay__op_total *op = &a->ops[i];
        assay__json_object(w);
        assay__json_put_string(w, "op", op->op);
        assay__json_put_string(w, "domain", op->domain);
        put_size(w, "count", op->count);
        put_size(w, "unknown", op->unknown);
        assay__json_put_number(w, "flops", op->flops);
        assay__json_put_number(w, "macs", op->macs);
        assay__json_put_number(w, "bytes", op->bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_opsets(struct assay__json_writer *w, const struct assay__model *m)
{
    assay__json_put_array(w, "opsets");
    for (size_t i = 0; i < m->opset_count; i++) {
        assay__json_object(w);
        assay__json_put_string(w, "domain", m->opsets[i].domain);
        assay__json_put_integer(w, "version", m->opsets[i].version);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_model(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__model *m = inspect->model;
    const struct assay__analysis *a = inspect->analysis;
    assay__json_put_object(w, "model");
    assay__json_put_string(w, "name", inspect->name);
    assay__json_put_text(w, "path", inspect->path);
    assay__json_put_string(w, "format", m->format && *m->format ? m->format : "ONNX");
    assay__json_put_bool(w, "zoo", inspect->zoo);
    assay__json_put_string(w, "fingerprint", inspect->fingerprint);
    assay__json_key(w, "parameters");
    if (a->parameters >= 0)
        assay__json_integer(w, a->parameters);
    else
        assay__json_null(w);
    assay__json_put_number(w, "weight_bytes",
                           a->parameter_bytes >= 0 ? (double)a->parameter_bytes : (double)NAN);
    assay__json_put_string(w, "version_note", inspect->version_note);
    put_size(w, "nodes", inspect->layer_count);
    put_size(w, "subgraphs", inspect->subgraphs);
    put_size(w, "subgraph_nodes", inspect->inner_nodes);
    put_size(w, "functions_inlined", inspect->functions);
    put_size(w, "external_tensors", inspect->external_tensors);
    assay__json_put_text(w, "external_missing", inspect->missing);
    if (assay__model_is_onnx(inspect->model) && m->ir_version > 0)
        assay__json_put_integer(w, "ir_version", m->ir_version);
    else
        assay__json_put_null(w, "ir_version");
    if (assay__model_is_onnx(inspect->model))
        put_opsets(w, m);
    else
        assay__json_put_null(w, "opsets");
    assay__json_put_text(w, "producer", m->producer);
    assay__json_put_text(w, "producer_version", m->producer_version);
    put_operators(w, a);
    put_values(w, inspect, "inputs", m->graph.inputs, m->graph.input_count, true);
    put_values(w, inspect, "outputs", m->graph.outputs, m->graph.output_count, false);
    assay__json_object_end(w);
}

static void put_workload(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__workload *load = inspect->workload;
    assay__json_put_object(w, "workload");
    assay__json_key(w, "batch");
    if (load->batch >= 0)
        assay__json_integer(w, load->batch);
    else
        assay__json_null(w);
    assay__json_put_object(w, "dims");
    for (size_t i = 0; i < load->dim_count; i++)
        assay__json_put_integer(w, load->dims[i].symbol, load->dims[i].value);
    assay__json_object_end(w);
    assay__json_put_strings(w, "notes", (const char *const *)load->notes, load->note_count);
    assay__json_put_text(w, "unplanned", inspect->unplanned);
    assay__json_object_end(w);
}

/* --- layers ----------------------------------------------------------------------------------- */

/* A ratio of two exact numbers needs no seventeen digits. */
static double six_digits(double value)
{
    if (!isfinite(value) || value == 0) return value;
    double scale = pow(10, 5 - floor(log10(fabs(value))));
    return round(value * scale) / scale;
}

static void put_layer(struct assay__json_writer *w, const struct assay__inspect *inspect,
                      size_t index)
{
    const struct assay__inspect_layer *layer = &inspect->layers[index];
    const struct assay__node *node = layer->node;
    assay__json_object(w);
    w->pretty = false; /* a line per layer: thousands of them stay readable, and small */
    put_size(w, "index", index);
    assay__json_put_string(w, "name", layer->name);
    assay__json_put_string(w, "op", node->op);
    assay__json_put_string(w, "domain", node->domain);
    if (node->source_op) assay__json_put_string(w, "source_op", node->source_op);
    put_names(w, inspect, "inputs", node->inputs, node->input_count);
    put_names(w, inspect, "outputs", node->outputs, node->output_count);
    assay__json_put_number(w, "flops", layer->cost->flops);
    assay__json_put_number(w, "macs", layer->cost->macs);
    assay__json_put_number(w, "bytes_read", layer->cost->bytes_read);
    assay__json_put_number(w, "bytes_written", layer->cost->bytes_written);
    assay__json_put_number(w, "bytes_weights", layer->cost->bytes_weights);
    assay__json_put_number(w, "memory_bytes", layer->memory_bytes);
    assay__json_put_number(w, "live_bytes", layer->live_bytes);
    assay__json_put_number(w, "intensity", six_digits(layer->intensity));
    if (layer->cost->why) assay__json_put_string(w, "why", layer->cost->why);
    assay__json_object_end(w);
    w->pretty = true;
}

static void put_layers(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    assay__json_put_array(w, "layers");
    for (size_t i = 0; i < inspect->layer_count; i++)
        put_layer(w, inspect, i);
    assay__json_array_end(w);
}

/* --- totals, memory, parameters --------------------------------------------------------------- */

static void put_totals(struct assay__json_writer *w, const struct assay__analysis *a)
{
    assay__json_put_object(w, "totals");
    assay__json_put_number(w, "flops", a->flops);
    assay__json_put_number(w, "macs", a->macs);
    assay__json_put_number(w, "bytes_read", a->bytes_read);
    assay__json_put_number(w, "bytes_written", a->bytes_written);
    assay__json_put_number(w, "bytes_weights", a->bytes_weights);
    put_size(w, "nodes_without_flops", a->unknown_flops);
    put_size(w, "nodes_without_bytes", a->unknown_bytes);
    assay__json_object_end(w);
}

static void put_memory(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__liveness *live = &inspect->analysis->live;
    bool known = isfinite(live->peak_bytes) && live->peak_position < inspect->layer_count;
    assay__json_put_object(w, "memory");
    assay__json_put_number(w, "peak_bytes", live->peak_bytes);
    if (known) {
        put_size(w, "position", live->peak_position);
        assay__json_put_string(w, "layer", inspect->layers[live->peak_position].name);
    } else {
        assay__json_put_null(w, "position");
        assay__json_put_null(w, "layer");
    }
    assay__json_put_number(w, "inside_bodies_bytes", known ? live->peak_body_bytes : (double)NAN);
    put_size(w, "tensors_of_unknown_size", live->unknown_count);
    assay__json_put_array(w, "tensors");
    for (size_t i = 0; known && i < live->peak_tensor_count; i++) {
        const struct assay__live_tensor *t = &live->tensors[live->peak_tensors[i]];
        assay__json_object(w);
        assay__json_put_string(w, "name", t->name);
        assay__json_put_number(w, "bytes", t->bytes);
        put_size(w, "first", t->first);
        put_size(w, "last", t->last);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_object_end(w);
}

static void put_parameters(struct assay__json_writer *w, const struct assay__analysis *a)
{
    assay__json_put_array(w, "parameters");
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *p = &a->parameters_by_type[i];
        assay__json_object(w);
        assay__json_put_string(w, "dtype", assay__dtype_name(p->dtype));
        assay__json_put_string(w, "storage", p->storage ? p->storage : "dense");
        assay__json_put_integer(w, "tensors", p->tensors);
        assay__json_put_integer(w, "elements", p->elements);
        assay__json_put_integer(w, "bytes", p->bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

/* Weights that the file holds compressed; nothing when there are none. */
static void put_stored(struct assay__json_writer *w, const struct assay__model *model)
{
    if (!model->stored_count) return;
    assay__json_put_array(w, "compressed_weights");
    for (size_t i = 0; i < model->stored_count; i++) {
        const struct assay__stored_weight *weight = &model->stored[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", weight->name);
        assay__json_put_string(w, "scheme", weight->scheme);
        assay__json_put_string(w, "detail", weight->detail);
        assay__json_put_number(w, "bits", weight->bits);
        assay__json_put_string(w, "dtype", assay__dtype_name(weight->dtype));
        assay__json_put_integer(w, "elements", weight->logical_elements);
        assay__json_put_integer(w, "stored_bytes", weight->stored_bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_unknown(struct assay__json_writer *w, const struct assay__analysis *a)
{
    assay__json_put_array(w, "unknown_operators");
    for (size_t i = 0; i < a->unknown_count; i++) {
        assay__json_object(w);
        assay__json_put_string(w, "op", a->unknown[i].op);
        assay__json_put_string(w, "domain", a->unknown[i].domain);
        put_size(w, "count", a->unknown[i].count);
        put_size(w, "without_flops", a->unknown[i].without_flops);
        put_size(w, "without_bytes", a->unknown[i].without_bytes);
        assay__json_put_string(w, "why", a->unknown[i].why);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_array(w, "conflicts");
    for (size_t i = 0; i < a->conflict_count; i++) {
        const struct assay__shape_conflict *c = &a->conflicts[i];
        assay__json_object(w);
        assay__json_put_string(w, "node", c->node);
        assay__json_put_string(w, "op", c->op);
        assay__json_put_string(w, "producer", c->producer);
        assay__json_put_text(w, "producer_op", c->producer_op);
        assay__json_put_string(w, "other", c->other);
        assay__json_put_string(w, "message", c->message);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

void assay__inspect_json(const struct assay__inspect *inspect, struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__inspect_json_head(w);
    put_model(w, inspect);
    put_workload(w, inspect);
    assay__inspect_json_metrics(w, inspect->metrics);
    put_totals(w, inspect->analysis);
    put_memory(w, inspect);
    put_parameters(w, inspect->analysis);
    put_stored(w, inspect->model);
    put_unknown(w, inspect->analysis);
    assay__inspect_json_ncp(w, inspect);
    put_layers(w, inspect);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
