/* check_json.c - a check as one JSON object (doc/check.md lists its members). Unknown numbers are
 * null. */
#include "report/report_model.h"

#include "report/json/json_head.h"

#include <assay/profile.h>
#include <math.h>
#include <stdint.h>

static void put_size(struct assay__json_writer *w, const char *key, size_t value)
{
    assay__json_put_integer(w, key, (int64_t)value);
}

static void put_model(struct assay__json_writer *w, const struct assay__check *check)
{
    const struct assay__model *model = check->model;
    assay__json_put_object(w, "model");
    assay__json_put_string(w, "name", check->name);
    assay__json_put_text(w, "path", model->path);
    assay__json_put_string(w, "format", model->format && *model->format ? model->format : "ONNX");
    put_size(w, "nodes", model->graph.node_count);
    assay__json_put_number(w, "flops",
                           check->analysis->unknown_flops ? (double)NAN : check->analysis->flops);
    if (check->analysis->parameter_bytes >= 0)
        assay__json_put_integer(w, "weight_bytes", check->analysis->parameter_bytes);
    else
        assay__json_put_null(w, "weight_bytes");
    assay__json_put_object(w, "dims");
    for (size_t i = 0; check->planned && i < check->workload->dim_count; i++)
        assay__json_put_integer(w, check->workload->dims[i].symbol, check->workload->dims[i].value);
    assay__json_object_end(w);
    assay__json_put_text(w, "unplanned", check->unplanned);
    assay__json_object_end(w);
}

static void put_chips(struct assay__json_writer *w, const struct assay__check *check)
{
    assay__json_put_array(w, "chips");
    for (size_t i = 0; check->by_chip && i < check->chip_count; i++) {
        const struct assay__check_chip *one = &check->by_chip[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", one->chip->name);
        assay__json_put_string(w, "verdict", assay__check_verdict_name(one->verdict));
        put_size(w, "nodes_elsewhere", one->off);
        put_size(w, "nodes_unknown", one->unknown);
        put_size(w, "partitions", one->on_segments);
        assay__json_put_number(w, "flops_share", one->share);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_item(struct assay__json_writer *w, const struct assay__check_item *item)
{
    assay__json_object(w);
    assay__json_put_string(w, "rule", item->rule->id);
    assay__json_put_string(w, "severity", assay__check_severity_name(item->severity));
    assay__json_put_text(w, "node", item->name);
    assay__json_put_text(w, "op", item->op);
    assay__json_put_string(w, "title", item->rule->title);
    assay__json_put_string(w, "reason", item->reason);
    assay__json_put_string(w, "fix", item->fix);
    assay__json_put_string(w, "source", item->rule->source);
    assay__json_put_string(w, "basis", assay__check_basis_name(item->rule->basis));
    assay__json_put_text(w, "chips", item->chips);
    assay__json_put_number(w, "bytes", item->bytes);
    assay__json_object_end(w);
}

static void put_side(struct assay__json_writer *w, const char *key, size_t nodes, double flops,
                     size_t segments, bool counted)
{
    assay__json_put_object(w, key);
    put_size(w, "nodes", nodes);
    assay__json_put_number(w, "flops", flops);
    if (counted) put_size(w, "partitions", segments);
    assay__json_object_end(w);
}

static void put_map(struct assay__json_writer *w, const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    const struct assay__graph *graph = &check->model->graph;
    assay__json_put_array(w, "map");
    for (size_t i = 0; i < p->segment_count; i++) {
        const struct assay__check_segment *s = &p->segments[i];
        assay__json_object(w);
        assay__json_put_bool(w, "on_target", s->on);
        put_size(w, "nodes", s->nodes);
        assay__json_put_number(w, "flops", s->flops);
        assay__json_put_number(w, "bytes_in", s->in_bytes);
        assay__json_put_string(w, "first", assay__check_node_name(&graph->nodes[s->first]));
        assay__json_put_string(w, "last", assay__check_node_name(&graph->nodes[s->last]));
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_partitions(struct assay__json_writer *w, const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    assay__json_key(w, "partitions");
    if (!check->has_partitions) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_string(w, "method", p->method);
    put_side(w, "target", p->on, p->on_flops, p->on_segments, true);
    put_side(w, "elsewhere", p->off, p->off_flops, p->off_segments, true);
    put_side(w, "unknown", p->unknown, p->unknown_flops, 0, false);
    put_size(w, "constant_nodes", p->folded);
    put_size(w, "merged_nodes", p->merged);
    put_size(w, "inferred_nodes", p->inferred);
    put_size(w, "nodes_without_flops", p->uncosted);
    assay__json_put_number(w, "flops_share", assay__check_share(p));
    put_size(w, "target_partitions_if_unknown_leave", p->on_segments_most);
    if (p->engine_pieces)
        put_size(w, "engine_partitions", p->engine_pieces);
    else
        assay__json_put_null(w, "engine_partitions");
    put_size(w, "crossings", p->crossings);
    assay__json_put_number(w, "crossing_bytes",
                           p->crossing_unsized ? (double)NAN : p->crossing_bytes);
    put_map(w, check);
    assay__json_object_end(w);
}

void assay__check_json(const struct assay__check *check, struct assay__buf *out)
{
    struct assay__json_writer w;
    assay__json_start(&w, out, true);
    assay__json_head(&w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(&w, "command", "check");
    assay__json_put_string(&w, "target", check->target);
    assay__json_put_text(&w, "chip", check->chip);
    put_chips(&w, check);
    assay__json_put_string(&w, "verdict", assay__check_verdict_name(check->verdict));
    assay__json_put_text(&w, "asked", check->asked);
    assay__json_put_text(&w, "reason", check->unasked);
    put_model(&w, check);
    assay__json_put_array(&w, "items");
    for (size_t i = 0; i < check->item_count; i++)
        put_item(&w, &check->items[i]);
    assay__json_array_end(&w);
    put_partitions(&w, check);
    assay__json_object_end(&w);
    assay__buf_puts(out, "\n");
}
