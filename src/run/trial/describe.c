/* describe.c - writes the machine, the model and the workload into the profile. */
#include "run/trial/describe.h"

#include "base/buf.h"
#include "base/vec.h"
#include "cost/liveness.h"
#include "cost/ncp.h"
#include "platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERATORS_NAMED 4 /* in the reason why FLOPs are unknown */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static const char *keep(struct assay_profile *profile, const char *text)
{
    return assay__arena_text(profile->arena, "%s", or_empty(text));
}

static double known(double value)
{
    return value > 0 ? value : NAN;
}

int assay__describe_machine(struct assay_profile *profile, struct assay_error *error)
{
    struct assay__machine machine = {0};
    int code = assay__machine_read(profile->arena, &machine);
    if (code) return assay_error_set(error, code, "cannot identify this machine");
    struct assay__environment *out = &profile->environment;
    out->host = or_empty(machine.host);
    out->os = or_empty(machine.os);
    out->kernel = or_empty(machine.kernel);
    out->architecture = or_empty(machine.architecture);
    out->cpu_model = or_empty(machine.cpu_model);
    out->virtualized = or_empty(machine.virtualized);
    out->governor = or_empty(machine.governor);
    out->simd = or_empty(machine.simd);
    out->container = or_empty(machine.container);
    out->packages = machine.packages;
    out->cores = machine.cores;
    out->threads = machine.threads;
    out->memory_bytes = known((double)machine.memory_bytes);
    out->cpu_max_hz = known(machine.cpu_max_hz);
    out->l1d_bytes = known((double)machine.l1d_bytes);
    out->l2_bytes = known((double)machine.l2_bytes);
    out->l3_bytes = known((double)machine.l3_bytes);
    return 0;
}

int assay__describe_ceilings(struct assay_profile *profile, const struct assay__ceiling_info *given,
                             size_t count, struct assay_error *error)
{
    if (count == 0) return 0;
    if (!given) return assay_error_set(error, ASSAY_EINVAL, "ceilings: a count without a list");
    struct assay__ceiling_info *made = assay__arena_array(profile->arena, count, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        /* A share of zero, of a negative number or of infinity means nothing. */
        bool known = isfinite(given[i].value) && given[i].value > 0;
        const char *note = given[i].note;
        if (!known && (!note || !note[0])) note = "neither a value nor a reason was given";
        made[i] = (struct assay__ceiling_info){
            .device = keep(profile, given[i].device),
            .name = keep(profile, given[i].name),
            .value = known ? given[i].value : (double)NAN,
            .unit = keep(profile, given[i].unit),
            .low = known ? given[i].low : (double)NAN,
            .high = known ? given[i].high : (double)NAN,
            .source = keep(profile, given[i].source),
            .note = keep(profile, note),
            .measured_at = keep(profile, given[i].measured_at),
        };
    }
    if (assay__arena_failed(profile->arena)) return assay__no_memory(error);
    profile->ceilings = made;
    profile->ceiling_count = count;
    return 0;
}

/* --- the model -------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct assay__tensor_info *describe_values(struct assay_profile *profile,
                                                  const struct assay__value *values, size_t count)
{
    struct assay__tensor_info *infos = assay__arena_array(profile->arena, count, sizeof *infos);
    for (size_t i = 0; infos && i < count; i++) {
        size_t rank = values[i].rank > 0 ? (size_t)values[i].rank : 0;
        int64_t *dims = assay__arena_array(profile->arena, rank, sizeof *dims);
        const char **symbols = assay__arena_array(profile->arena, rank, sizeof *symbols);
        for (size_t d = 0; dims && symbols && d < rank; d++) {
            dims[d] = values[i].dims[d].value;
            symbols[d] = keep(profile, values[i].dims[d].symbol);
        }
        infos[i] = (struct assay__tensor_info){.name = keep(profile, values[i].name),
                                               .dtype = assay__dtype_name(values[i].dtype),
                                               .rank = values[i].rank,
                                               .dims = dims,
                                               .symbols = symbols,
                                               .fill = ""};
    }
    return assay__arena_failed(profile->arena) ? NULL : infos;
}

/* Graph inputs that are not initializers (old files list those too). */
static int describe_inputs(struct assay_profile *profile, struct assay__model_info *info,
                           const struct assay__model *model)
{
    const struct assay__graph *graph = &model->graph;
    struct assay__map *initial = assay__map_new();
    struct assay__value *real = calloc(graph->input_count + 1, sizeof *real);
    size_t count = 0;
    int code = initial && real ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && code == 0; i++)
        code = assay__map_set(initial, graph->initializers[i].name, i);
    for (size_t i = 0; i < graph->input_count && code == 0; i++)
        if (assay__map_get(initial, graph->inputs[i].name) == ASSAY__MAP_NONE)
            real[count++] = graph->inputs[i];
    if (code == 0 && !(info->inputs = describe_values(profile, real, count))) code = ASSAY_ENOMEM;
    info->input_count = code ? 0 : count;
    free(real);
    assay__map_free(initial);
    return code;
}

static int by_count(const void *left, const void *right)
{
    const struct assay__operator_info *a = left, *b = right;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    return strcmp(a->op, b->op);
}

static int count_operators(struct assay_profile *profile, struct assay__model_info *info,
                           const struct assay__graph *graph, const struct assay__cost *costs)
{
    struct assay__map *index = assay__map_new();
    struct assay__operator_info *list = NULL;
    size_t count = 0, capacity = 0;
    int code = index ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count && code == 0; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool plain = node->domain[0] == '\0' || strcmp(node->domain, "ai.onnx") == 0;
        const char *op = plain ? keep(profile, node->op)
                               : assay__arena_text(profile->arena, "%s:%s", node->domain, node->op);
        size_t at = assay__map_get(index, op);
        if (at == ASSAY__MAP_NONE) {
            at = count;
            code = assay__vec_grow((void **)&list, &capacity, count + 1, sizeof *list);
            if (code == 0) list[count++] = (struct assay__operator_info){.op = op};
            if (code == 0) code = assay__map_set(index, op, at);
        }
        if (code) break;
        list[at].count++;
        list[at].flops += costs[i].flops; /* a NaN makes the whole sum unknown */
        list[at].macs += costs[i].macs;
        list[at].bytes += costs[i].bytes_read + costs[i].bytes_written;
    }
    info->operators = assay__arena_array(profile->arena, count, sizeof *list);
    if (assay__arena_failed(profile->arena)) code = ASSAY_ENOMEM;
    info->operator_count = code ? 0 : count;
    if (info->operator_count) {
        qsort(list, count, sizeof *list, by_count);
        memcpy(info->operators, list, count * sizeof *list);
    }
    free(list);
    assay__map_free(index);
    return code;
}

/* What the profile stores about a Neural Circuit Policy, from the model's metadata (cost/ncp.h):
 * its cell, form, time steps and neuron groups with the FLOPs that the graph executes and the
 * wiring needs. A report can then distinguish time steps and groups on any machine. */
static int keep_cell(struct assay_profile *profile, struct assay__cell_info *cell,
                     const struct assay__ncp *ncp)
{
    size_t count = ncp->group_count < ASSAY__CELL_GROUPS ? ncp->group_count : ASSAY__CELL_GROUPS;
    cell->kind = keep(profile, ncp->cell);
    cell->form = keep(profile, ncp->form);
    cell->steps = ncp->steps;
    cell->groups = assay__arena_array(profile->arena, count, sizeof *cell->groups);
    if (!cell->groups) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct assay__ncp_group *group = &ncp->groups[i];
        cell->groups[i] = (struct assay__cell_group){
            .name = keep(profile, group->name),
            .neurons = group->neurons,
            .flops = group->flops,
            .flops_needed = group->flops_needed,
            .state = group->shared ? ASSAY_ESTIMATED : ASSAY_DERIVED,
        };
    }
    cell->group_count = count;
    return assay__arena_failed(profile->arena) ? ASSAY_ENOMEM : 0;
}

static int describe_cell(struct assay_profile *profile, struct assay__model_info *info,
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
        info->cell.fault = keep(profile, fault.message);
        code = assay__arena_failed(profile->arena) ? ASSAY_ENOMEM : 0;
    }
    assay__arena_free(arena);
    return code ? assay__no_memory(error) : 0;
}

/* "3 of 120 nodes have no known FLOP count: Foo, Bar" */
static const char *unknown_reason(const struct assay_profile *profile,
                                  const struct assay__model_info *info,
                                  const struct assay__model_costs *costs, bool flops,
                                  const char *what)
{
    struct assay__buf text = {0};
    size_t nodes = 0;
    int kinds = 0;
    for (size_t i = 0; i < costs->main_count; i++)
        nodes += !isfinite(flops ? costs->nodes[i].flops
                                 : costs->nodes[i].bytes_read + costs->nodes[i].bytes_written);
    for (size_t i = 0; i < info->operator_count; i++) {
        const struct assay__operator_info *op = &info->operators[i];
        if (isfinite(flops ? op->flops : op->bytes)) continue;
        if (kinds++ < OPERATORS_NAMED)
            assay__buf_printf(&text, "%s%s", kinds > 1 ? ", " : "", op->op);
    }
    const char *reason = assay__arena_text(
        profile->arena, "%zu of %zu nodes have no known %s: %s%s", nodes, costs->main_count, what,
        assay__buf_text(&text), kinds > OPERATORS_NAMED ? ", …" : "");
    assay__buf_free(&text);
    return reason;
}

/* --- memory: how much is live while each node runs, and the peak (cost/liveness.h) -------------
 */

static const char *node_name(const struct assay__node *node)
{
    if (node->name[0]) return node->name;
    return node->output_count ? node->outputs[0] : "";
}

/* The sources of a tensor's description. */
struct source {
    struct assay__arena *arena; /* the profile's */
    const struct assay__graph *graph;
    const struct assay__shapes *shapes;
    const size_t *order;
};

static const char *position_name(const struct source *from, size_t position)
{
    if (position >= from->graph->node_count) return "";
    return assay__arena_text(from->arena, "%s",
                             node_name(&from->graph->nodes[from->order[position]]));
}

static struct assay__peak_tensor describe_tensor(const struct source *from,
                                                 const struct assay__live_tensor *tensor)
{
    struct assay__buf type = {0};
    bool made = tensor->producer < from->graph->node_count;
    const struct assay__node *node = made ? &from->graph->nodes[tensor->producer] : NULL;
    bool known = assay__describe_type(&type, from->shapes, tensor->name);
    if (type.failed) assay__arena_fail(from->arena);
    struct assay__peak_tensor out = {
        .name = assay__arena_text(from->arena, "%s", tensor->name),
        .type = known ? assay__arena_text(from->arena, "%s", assay__buf_text(&type)) : "",
        .bytes = tensor->bytes,
        .producer = made ? assay__arena_text(from->arena, "%s", node_name(node)) : "",
        .op = made ? assay__arena_text(from->arena, "%s", node->op) : "",
        .first = position_name(from, tensor->first),
        .last = position_name(from, tensor->last),
    };
    assay__buf_free(&type);
    return out;
}

/* costs->peak: the tensors at the peak, as many as are stored, and the sum of the others. */
static void describe_peak(const struct source *from, const struct assay__liveness *live,
                          struct assay__peak *peak)
{
    *peak = assay__peak_unknown();
    if (live->peak_node >= from->graph->node_count) {
        peak->reason = "the graph has no nodes";
        return;
    }
    const struct assay__node *node = &from->graph->nodes[live->peak_node];
    size_t kept = live->peak_tensor_count < ASSAY__PEAK_TENSORS ? live->peak_tensor_count
                                                                : ASSAY__PEAK_TENSORS;
    peak->reason = "";
    peak->node = assay__arena_text(from->arena, "%s", node_name(node));
    peak->op = assay__arena_text(from->arena, "%s", node->op);
    peak->bytes = live->peak_bytes;
    peak->body_bytes = live->peak_body_bytes;
    peak->alive = (int64_t)live->peak_tensor_count;
    peak->tensors = assay__arena_array(from->arena, kept, sizeof *peak->tensors);
    for (size_t i = 0; peak->tensors && i < kept; i++)
        peak->tensors[i] = describe_tensor(from, &live->tensors[live->peak_tensors[i]]);
    peak->count = kept;
    peak->rest_bytes = 0;
    for (size_t i = kept; i < live->peak_tensor_count; i++)
        peak->rest_bytes += live->tensors[live->peak_tensors[i]].bytes;
}

static int describe_liveness(struct assay_profile *profile, const struct assay__model *model,
                             const struct assay__shapes *shapes, struct assay__model_costs *costs,
                             struct assay_error *error)
{
    const size_t count = model->graph.node_count, all = costs->graph->node_count;
    struct assay__arena *arena = assay__arena_new();
    size_t *order = calloc(count + 1, sizeof *order);
    struct assay__liveness live = {0};
    costs->live_bytes = calloc(all + 1, sizeof *costs->live_bytes);
    int code = arena && order && costs->live_bytes ? 0 : assay__no_memory(error);
    for (size_t i = count; i < all && code == 0; i++)
        costs->live_bytes[i] = NAN;
    if (code == 0) code = assay__graph_order(&model->graph, order, error);
    if (code == 0) code = assay__liveness(model, shapes, order, arena, &live, error);
    for (size_t i = 0; i < count && code == 0; i++)
        costs->live_bytes[order[i]] = live.live_bytes[i];
    if (code == 0) {
        costs->live_peak_bytes = live.peak_bytes;
        costs->live_reason = isfinite(live.peak_bytes)
                                 ? ""
                                 : assay__arena_text(profile->arena,
                                                     "%zu activation%s of unknown size",
                                                     live.unknown_count,
                                                     live.unknown_count == 1 ? " is" : "s are");
        const struct source from = {profile->arena, &model->graph, shapes, order};
        describe_peak(&from, &live, &costs->peak);
        if (assay__arena_failed(profile->arena)) code = assay__no_memory(error);
    }
    free(order);
    assay__arena_free(arena);
    return code;
}

/* --- costs ------------------------------------------------------------------------------------ */

/* The costs of every node with inputs of these shapes, and, if `live` is given, what is alive at
 * that time and the shapes. */
struct inner_walk {
    struct assay__model_costs *costs; /* graph, parents, inner and nodes grow together */
    struct assay__graph *graph;
    size_t capacity, main_at;
    size_t last[ASSAY__COST_DEPTH + 1]; /* by depth: the node visited last */
};

static double scaled(double times, double value)
{
    return value == 0 ? 0 : times * value;
}

/* Nodes of bodies that run, or may run, after those of the main graph. */
static int keep_inner(void *context, const struct assay__cost_visited *visited)
{
    struct inner_walk *walk = context;
    struct assay__model_costs *costs = walk->costs;
    const struct assay__cost *own = &visited->own;
    if (visited->depth == 0) {
        walk->last[0] = walk->main_at++;
        return 0;
    }
    if (visited->times == 0 || visited->depth > ASSAY__COST_DEPTH) return 0;
    size_t at = walk->graph->node_count;
    if (at >= walk->capacity) return 0; /* counted before: cannot be */
    walk->graph->nodes[walk->graph->node_count++] = *visited->node;
    costs->parents[at] = walk->last[visited->depth - 1];
    costs->inner[at] = visited->shapes;
    double times = visited->times;
    costs->nodes[at] = (struct assay__cost){
        .macs = scaled(times, own->macs),
        .flops = scaled(times, own->flops),
        .bytes_read = scaled(times, own->bytes_read),
        .bytes_written = scaled(times, own->bytes_written),
        .bytes_weights = scaled(times, own->bytes_weights),
        .why = own->why ? own->why : visited->why,
        .constant = own->constant,
    };
    walk->last[visited->depth] = at;
    return 0;
}

static size_t count_nodes(const struct assay__graph *graph, int depth)
{
    const struct assay__graph *body;
    size_t count = graph->node_count;
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__COST_DEPTH; i++)
        for (size_t k = 0; (body = assay__node_body(&graph->nodes[i], k)); k++)
            count += count_nodes(body, depth + 1);
    return count;
}

/* Makes room for the nodes of the model and of its bodies; those of the model are filled in. */
static int open_graph(struct assay__model_costs *costs, const struct assay__model *model)
{
    size_t count = count_nodes(&model->graph, 0);
    struct assay__graph *graph = calloc(1, sizeof *graph);
    costs->graph = graph;
    if (!graph) return ASSAY_ENOMEM;
    *graph = model->graph;
    graph->nodes = calloc(count + 1, sizeof *graph->nodes);
    costs->main_count = model->graph.node_count;
    costs->nodes = calloc(count + 1, sizeof *costs->nodes);
    costs->parents = calloc(count + 1, sizeof *costs->parents);
    costs->inner = calloc(count + 1, sizeof(const struct assay__shapes *));
    if (!graph->nodes || !costs->nodes || !costs->parents || !costs->inner) return ASSAY_ENOMEM;
    for (size_t i = 0; i < costs->main_count; i++) {
        graph->nodes[i] = model->graph.nodes[i];
        costs->parents[i] = SIZE_MAX;
    }
    graph->node_capacity = count;
    return 0;
}

static int cost_all(const struct assay__model *model, const struct assay__shapes *shapes,
                    struct assay__cost *nodes, struct assay__model_costs *live,
                    struct assay_error *error)
{
    if (!live) return assay__cost_graph(model, shapes, nodes, error);
    struct assay__graph *graph = (struct assay__graph *)live->graph;
    struct inner_walk walk = {.costs = live, .graph = graph, .capacity = graph->node_capacity};
    return assay__cost_walk(model, shapes, nodes, keep_inner, &walk, error);
}

static int node_costs(struct assay_profile *profile, struct assay__model_info *info,
                      const struct assay__model *model, const struct assay__input_plan *inputs,
                      size_t input_count, struct assay__cost *nodes,
                      struct assay__model_costs *live, struct assay_error *error)
{
    struct assay__shapes *shapes = NULL;
    struct assay__value *fixed = NULL;
    struct assay__arena *arena = assay__arena_new(); /* of the inputs */
    int code = 0;
    if (!arena || assay__workload_values(inputs, input_count, arena, &fixed))
        code = assay__no_memory(error);
    if (code == 0) code = assay__shapes_infer(model, fixed, input_count, &shapes, error);
    if (code == 0) code = cost_all(model, shapes, nodes, live, error);
    if (code == 0) code = describe_cell(profile, info, model, shapes, error);
    if (code == 0 && live) code = describe_liveness(profile, model, shapes, live, error);
    if (code == 0 && live) { /* for the layers, once they are known */
        live->shapes = shapes;
        live->shapes_arena = arena;
        return 0;
    }
    assay__shapes_free(shapes);
    assay__arena_free(arena);
    return code;
}

static void sum_nodes(struct assay__model_costs *costs)
{
    costs->flops = costs->bytes = 0;
    for (size_t i = 0; i < costs->main_count; i++) {
        costs->flops += costs->nodes[i].flops;
        costs->bytes += costs->nodes[i].bytes_read + costs->nodes[i].bytes_written;
    }
}

/* The first of that name stays. */
static int add_name(struct assay__map *by_name, const char *name, size_t node)
{
    if (!name[0] || assay__map_get(by_name, name) != ASSAY__MAP_NONE) return 0;
    return assay__map_set(by_name, name, node);
}

static int index_nodes(struct assay__model_costs *costs)
{
    costs->by_name = assay__map_new();
    int code = costs->by_name ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < costs->graph->node_count && code == 0; i++) {
        const struct assay__node *node = &costs->graph->nodes[i];
        const char *name = node->name[0] ? node->name : node->output_count ? node->outputs[0] : "";
        code = add_name(costs->by_name, name, i);
    }
    /* An unnamed node may be referred to by any of its outputs; real names come first. */
    for (size_t i = 0; i < costs->graph->node_count; i++)
        for (size_t o = 0; o < costs->graph->nodes[i].output_count && code == 0; o++)
            code = add_name(costs->by_name, costs->graph->nodes[i].outputs[o], i);
    return code;
}

static int add_consumer(struct assay__map *consumers, const char *value)
{
    if (value[0] == '\0') return 0;
    size_t count = assay__map_get(consumers, value);
    return assay__map_set(consumers, value, count == ASSAY__MAP_NONE ? 1 : count + 1);
}

static int count_consumers(struct assay__model_costs *costs)
{
    const struct assay__graph *graph = costs->graph;
    costs->consumers = assay__map_new();
    int code = costs->consumers ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t v = 0; v < graph->nodes[i].input_count && code == 0; v++)
            code = add_consumer(costs->consumers, graph->nodes[i].inputs[v]);
    for (size_t i = 0; i < graph->output_count && code == 0; i++)
        code = add_consumer(costs->consumers, graph->outputs[i].name);
    return code;
}

size_t assay__costs_find(const struct assay__model_costs *costs, const char *node)
{
    return costs->by_name ? assay__map_get(costs->by_name, node) : ASSAY__MAP_NONE;
}

static void free_shapes(struct assay__model_costs *costs)
{
    assay__shapes_free(costs->shapes);
    assay__arena_free(costs->shapes_arena);
    costs->shapes = NULL;
    costs->shapes_arena = NULL;
    for (size_t i = 0; costs->inner && i < costs->graph->node_count; i++)
        costs->inner[i] = NULL; /* they are parts of them */
}

void assay__costs_free(struct assay__model_costs *costs)
{
    free(costs->nodes);
    free(costs->live_bytes);
    free_shapes(costs);
    if (costs->graph) free(costs->graph->nodes);
    free((void *)costs->graph);
    free(costs->parents);
    free((void *)costs->inner);
    costs->graph = NULL;
    costs->parents = NULL;
    costs->inner = NULL;
    assay__map_free(costs->by_name);
    assay__map_free(costs->consumers);
    assay__map_free(costs->constants);
    costs->nodes = NULL;
    costs->live_bytes = NULL;
    costs->by_name = costs->consumers = costs->constants = NULL;
}

static int describe_header(struct assay_profile *profile, struct assay__model_info *info,
                           const struct assay__model *model, const char *shown, const char *path)
{
    const char *base = strrchr(shown, '/'), *version = or_empty(model->producer_version);
    char fingerprint[17] = "";
    if (assay__model_fingerprint(model, fingerprint)) return ASSAY_ENOMEM;
    struct assay__buf opsets = {0};
    bool only = model->opset_count == 1 && or_empty(model->opsets[0].domain)[0] == '\0';
    for (size_t i = 0; i < model->opset_count; i++) {
        const char *domain = or_empty(model->opsets[i].domain);
        if (i) assay__buf_puts(&opsets, ", ");
        if (!only) assay__buf_printf(&opsets, "%s ", domain[0] ? domain : "ai.onnx");
        assay__buf_printf(&opsets, "%lld", (long long)model->opsets[i].version);
    }
    info->name = keep(profile, base && base[1] ? base + 1 : shown);
    info->path = keep(profile, path);
    info->format = "onnx";
    info->fingerprint = keep(profile, fingerprint);
    info->node_count = (int64_t)model->graph.node_count;
    info->ir_version = (int)model->ir_version;
    info->opset = assay__buf_keep(&opsets, profile->arena);
    info->producer = assay__arena_text(profile->arena, "%s%s%s", or_empty(model->producer),
                                       version[0] ? " " : "", version);
    if (!assay__model_parameters(model, &info->parameters, &info->weight_bytes))
        info->parameters = info->weight_bytes = -1;
    return info->opset && !assay__arena_failed(profile->arena) ? 0 : ASSAY_ENOMEM;
}

int assay__describe_model(struct assay_profile *profile, struct assay__model_info *info,
                          const struct assay__model *model, const struct assay__workload *workload,
                          const char *shown, const char *path, struct assay__model_costs *costs,
                          struct assay_error *error)
{
    *costs = (struct assay__model_costs){.flops_reason = "",
                                         .bytes_reason = "",
                                         .live_peak_bytes = NAN,
                                         .live_reason = "the size of its activations is unknown",
                                         .peak = assay__peak_unknown()};
    if (open_graph(costs, model) || describe_header(profile, info, model, shown, path) ||
        describe_inputs(profile, info, model))
        return assay__no_memory(error);
    info->outputs = describe_values(profile, model->graph.outputs, model->graph.output_count);
    if (!info->outputs) return assay__no_memory(error);
    info->output_count = model->graph.output_count;
    int code = node_costs(profile, info, model, workload->inputs, workload->input_count,
                          costs->nodes, costs, error);
    if (code) return code;
    sum_nodes(costs);
    if (count_operators(profile, info, &model->graph, costs->nodes) || index_nodes(costs) ||
        count_consumers(costs) || assay__describe_constants(costs))
        return assay__no_memory(error);
    if (!isfinite(costs->flops))
        costs->flops_reason = unknown_reason(profile, info, costs, true, "FLOP count");
    if (!isfinite(costs->bytes))
        costs->bytes_reason = unknown_reason(profile, info, costs, false, "byte count");
    return 0;
}

/* --- a generation ----------------------------------------------------------------------------- */

/* The sum over the decode steps, given the costs of the first, a middle and the last one. A decode
 * step costs a + b x its cache length in every operator of a decoder, so the sum is steps x (first
 * + last) / 2; the middle one shows whether that holds for this model (NaN if not). */
static double sum_of_steps(double first, double middle, double last, double steps, double at)
{
    double line = first + (last - first) * at;
    if (!(fabs(middle - line) <= 1e-9 * fabs(line))) return NAN;
    return steps * (first + last) / 2;
}

static void add_steps(const struct assay__cost *const *three, size_t node, double steps, double at,
                      struct assay__cost *out)
{
    const struct assay__cost *first = &three[0][node], *middle = &three[1][node],
                             *last = &three[2][node];
    out->flops += sum_of_steps(first->flops, middle->flops, last->flops, steps, at);
    out->macs += sum_of_steps(first->macs, middle->macs, last->macs, steps, at);
    out->bytes_read += sum_of_steps(first->bytes_read, middle->bytes_read, last->bytes_read, steps,
                                    at);
    out->bytes_written += sum_of_steps(first->bytes_written, middle->bytes_written,
                                       last->bytes_written, steps, at);
}

int assay__describe_generation(struct assay_profile *profile, struct assay__model_info *info,
                               const struct assay__model *model,
                               const struct assay__workload *workload,
                               const struct assay__generation *generation,
                               struct assay__model_costs *costs, struct assay_error *error)
{
    const size_t count = model->graph.node_count;
    const int64_t steps = generation->tokens - 1, middle = (1 + steps) / 2;
    const int64_t tokens[3] = {1, middle, steps};
    struct assay__cost *three[3] = {0};
    struct assay__input_plan *plans = calloc(workload->input_count + 1, sizeof *plans);
    int code = plans ? 0 : assay__no_memory(error);
    for (int i = 0; i < 3 && code == 0 && steps > 0; i++) {
        three[i] = calloc(count + 1, sizeof *three[i]);
        if (!three[i]) code = assay__no_memory(error);
        if (code == 0)
            code = assay__generation_at(model, generation, workload, tokens[i], profile->arena,
                                        plans, error);
        if (code == 0)
            code = node_costs(profile, info, model, plans, workload->input_count, three[i], NULL,
                              error);
    }
    double at = steps > 1 ? (double)(middle - 1) / (double)(steps - 1) : 0;
    for (size_t i = 0; i < count && code == 0 && steps > 0; i++)
        add_steps((const struct assay__cost *const *)three, i, (double)steps, at, &costs->nodes[i]);
    if (code == 0) sum_nodes(costs);
    costs->live_peak_bytes = NAN;
    costs->live_reason = "the cache grows with every token of a generation: profile one step of it";
    costs->peak = assay__peak_unknown();
    costs->peak.reason = costs->live_reason;
    free_shapes(costs); /* they change from token to token */
    if (code == 0 && count_operators(profile, info, &model->graph, costs->nodes))
        code = assay__no_memory(error);
    if (code == 0 && !isfinite(costs->flops))
        costs->flops_reason = unknown_reason(profile, info, costs, true,
                                             "FLOP count at every length");
    if (code == 0 && !isfinite(costs->bytes))
        costs->bytes_reason = unknown_reason(profile, info, costs, false,
                                             "byte count at every length");
    for (int i = 0; i < 3; i++)
        free(three[i]);
    free(plans);
    return code;
}

/* --- the workload ----------------------------------------------------------------------------- */

/* How the input values were made, said once. The seed is the one with which the user can repeat the
 * run: each input's own is derived from it. */
static const char *fill_text(struct assay__arena *arena, const struct assay__input_plan *plan,
                             uint64_t of_workload)
{
    unsigned long long seed = (unsigned long long)of_workload;
    bool truth = plan->dtype == ASSAY__BOOL;
    const char *text = "", *why = or_empty(plan->why);
    switch (plan->fill) {
    case ASSAY__FILL_UNIFORM:
        text = assay__arena_text(arena, "uniform [%g, %g), seed %llu", plan->low, plan->high, seed);
        break;
    case ASSAY__FILL_INTEGERS:
        text = truth ? assay__arena_text(arena, "random true and false, seed %llu", seed)
                     : assay__arena_text(arena, "integers %.0f to %.0f, seed %llu", plan->low,
                                         plan->high, seed);
        break;
    case ASSAY__FILL_CONSTANT:
        text = truth ? (plan->low != 0 ? "true everywhere" : "false everywhere")
                     : assay__arena_text(arena, "constant %.15g", plan->low);
        break;
    case ASSAY__FILL_RANGE:
        text = plan->high > 0
                   ? assay__arena_text(arena, "0, 1, 2, … to %.0f along the last axis", plan->high)
                   : "0, 1, 2, … along the last axis";
        break;
    case ASSAY__FILL_FILE: text = assay__arena_text(arena, "file %s", or_empty(plan->file)); break;
    case ASSAY__FILL_STRINGS:
        text = assay__arena_text(arena, "random short words, seed %llu", seed);
        break;
    }
    return assay__arena_text(arena, "%s%s%s", text, why[0] ? ": " : "", why);
}

int assay__describe_workload(struct assay_profile *profile, struct assay__trial *trial,
                             const struct assay__workload *workload, struct assay_error *error)
{
    struct assay__arena *arena = profile->arena;
    trial->batch = workload->batch;
    trial->inputs = assay__arena_array(arena, workload->input_count, sizeof *trial->inputs);
    if (!trial->inputs) return assay__no_memory(error);
    for (size_t i = 0; i < workload->input_count; i++) {
        const struct assay__input_plan *plan = &workload->inputs[i];
        int64_t *dims = assay__arena_array(arena, (size_t)plan->rank, sizeof *dims);
        trial->inputs[i] = (struct assay__tensor_info){
            .name = keep(profile, plan->name),
            .dtype = assay__dtype_name(plan->dtype),
            .rank = plan->rank,
            .dims = dims,
            .fill = fill_text(arena, plan, workload->seed)};
        if (assay__arena_failed(arena)) return assay__no_memory(error);
        for (int d = 0; d < plan->rank; d++)
            dims[d] = plan->dims[d];
    }
    trial->input_count = workload->input_count;
    int code = 0;
    const char *assumed = assay__workload_assumed(workload, arena);
    trial->assumed = assay__arena_array(arena, 1, sizeof *trial->assumed);
    if (!assumed || !trial->assumed) return assay__no_memory(error);
    trial->assumed[0] = assumed;
    trial->assumed_count = *assumed != '\0';
    for (size_t i = 0; i < workload->note_count && code == 0; i++)
        code = assay__trial_add_note(profile, trial,
                                     assay__arena_strdup(arena, workload->notes[i]));
    return code ? assay__no_memory(error) : 0;
}
