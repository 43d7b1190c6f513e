/* check_json.c - a check as one JSON object (doc/check.md lists its members). Unknown numbers are
 * null. */
#include "report/report_model.h"

#include "report/json/json_members.h"

#include <assay/profile.h>
#include <math.h>
#include <stdint.h>

static void put_model(struct assay__json_writer *w, const struct assay__check *check)
{
    const struct assay__model *model = check->model;
    assay__json_put_object(w, "model");
    assay__json_members(
        w, json_string("name", check->name), json_text("path", model->path),
        json_string("format", model->format && *model->format ? model->format : "ONNX"),
        json_integer("nodes", model->graph.node_count),
        json_number("flops", check->analysis->unknown_flops ? NAN : check->analysis->flops),
        json_count("weight_bytes", check->analysis->parameter_bytes, 0));
    assay__json_put_object(w, "dims");
    for (size_t i = 0; check->planned && i < check->workload->dim_count; i++)
        assay__json_put_integer(w, check->workload->dims[i].symbol, check->workload->dims[i].value);
    assay__json_object_end(w);
    if (check->planned)
        assay__json_assumed(w, assay__workload_assumed(check->workload, check->workload->arena));
    assay__json_put_text(w, "unplanned", check->unplanned);
    assay__json_object_end(w);
}

static void put_side(struct assay__json_writer *w, const char *key, size_t nodes, double flops,
                     size_t segments, bool counted)
{
    assay__json_put_object(w, key);
    assay__json_members(w, json_integer("nodes", nodes), json_number("flops", flops));
    if (counted) assay__json_put_integer(w, "partitions", (int64_t)segments);
    assay__json_object_end(w);
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
    assay__json_members(
        w, json_integer("constant_nodes", p->folded), json_integer("merged_nodes", p->merged),
        json_integer("inferred_nodes", p->inferred),
        json_integer("nodes_without_flops", p->uncosted),
        json_number("flops_share", assay__check_share(p)),
        json_integer("target_partitions_if_unknown_leave", p->on_segments_most),
        json_count("engine_partitions", p->engine_pieces, 1),
        json_integer("crossings", p->crossings),
        json_number("crossing_bytes", p->crossing_unsized ? NAN : p->crossing_bytes));
    const struct assay__node *nodes = check->model->graph.nodes;
    for (ASSAY__JSON_EACH(i, w, "map", p->segment_count)) {
        const struct assay__check_segment *s = &p->segments[i];
        assay__json_record(w, NULL, json_bool("on_target", s->on), json_integer("nodes", s->nodes),
                           json_number("flops", s->flops), json_number("bytes_in", s->in_bytes),
                           json_string("first", assay__check_node_name(&nodes[s->first])),
                           json_string("last", assay__check_node_name(&nodes[s->last])));
    }
    assay__json_object_end(w);
}

void assay__check_json(const struct assay__check *check, struct assay__buf *out)
{
    struct assay__json_writer w;
    assay__json_head(&w, out, "check");
    assay__json_members(&w, json_string("target", check->target), json_text("chip", check->chip));
    for (ASSAY__JSON_EACH(i, &w, "chips", check->by_chip ? check->chip_count : 0)) {
        const struct assay__check_chip *one = &check->by_chip[i];
        assay__json_record(
            &w, NULL, json_string("name", one->chip->name),
            json_string("verdict", assay__check_verdict_name(one->verdict)),
            json_integer("nodes_elsewhere", one->off), json_integer("nodes_unknown", one->unknown),
            json_integer("partitions", one->on_segments), json_number("flops_share", one->share));
    }
    assay__json_members(&w, json_string("verdict", assay__check_verdict_name(check->verdict)),
                        json_text("asked", check->asked), json_text("reason", check->unasked));
    put_model(&w, check);
    for (ASSAY__JSON_EACH(i, &w, "items", check->item_count)) {
        const struct assay__check_item *item = &check->items[i];
        assay__json_record(&w, NULL, json_string("rule", item->rule->id),
                           json_string("severity", assay__check_severity_name(item->severity)),
                           json_text("node", item->name), json_text("op", item->op),
                           json_string("title", item->rule->title),
                           json_string("reason", item->reason), json_string("fix", item->fix),
                           json_string("source", item->rule->source),
                           json_string("basis", assay__check_basis_name(item->rule->basis)),
                           json_text("chips", item->chips), json_number("bytes", item->bytes));
    }
    put_partitions(&w, check);
    assay__json_tail(&w);
}
