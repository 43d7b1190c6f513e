/* cost_walk.c - what each node computes and moves, from the shapes, including bodies.
 *
 * Counting rules:
 *  - a multiply-add is one MAC and two FLOPs; adding a bias is one MAC (as profilers of networks
 *    count it) and one FLOP;
 *  - the count is of the textbook algorithm (direct convolution), not of what a library does
 *    (Winograd, FFT);
 *  - padded positions count like others; integer (quantised) products count like floating-point
 *    ones;
 *  - element-wise work on integers and booleans (shapes, indices, masks) is not floating-point:
 *    zero;
 *  - bytes are compulsory traffic: every input and output once, at its data type's size (packed
 *    when it is smaller than a byte); sparse initializers as they are stored;
 *  - what depends only on constants is computed once, when the model is loaded: zero at each run.
 *    Unpacking stored weights (DequantizeLinear, Core ML's constexpr_*) is counted nevertheless:
 *    engines keep those nodes, to fuse or to run them. What they produce is then an activation, and
 *    only the stored form is a weight;
 *  - If costs as much as its taken branch; if that is unknown, as much as both, if they
 *    cost the same. Loop and Scan: the body × the trip count; the state is passed by reference.
 *
 * What does not follow from the shapes is NaN, with the reason: an operator without a row, an
 * unknown dimension, an unknown branch or trip count.
 *
 * Scopes form a tree, one per graph: the costs are summed from the leaves up, and the nodes visited
 * from the root down, each once. Bodies nested deeper than ASSAY__COST_DEPTH are unknown. */
#include "cost/cost_walk.h"

#include "cost/cost_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MANY_INPUTS 64

static const char no_row[] = "no cost formula", no_shape[] = "shape unknown",
                  no_size[] = "strings have no known size", no_trips[] = "trip count unknown",
                  no_branch[] = "branch unknown", overflows[] = "its size overflows",
                  no_steps[] = "how often its subgraphs run depends on data";

struct scope {
    struct assay__cost_names names;
    const struct assay__shapes *shapes; /* NULL: the body was not entered */
    struct assay__cost *own, *whole;    /* per node, file order */
    struct assay__cost sum;
    struct body *bodies; /* of all nodes, in file order */
};

struct body {
    struct scope *scope;
    size_t node;
    double times;    /* per run of the node; NaN unknown */
    const char *why; /* then */
    const char *attr;
    struct body *next;
};

struct walk {
    struct assay__cost_index *index;
    struct assay__arena *arena;
    struct assay_error *error;
};

/* --- constants -------------------------------------------------------------------------------- */

bool assay__cost_is_constant(const struct assay__cost_names *names, const char *name)
{
    for (; names; names = names->outer) {
        size_t value = assay__map_get(names->map, name);
        if (value != ASSAY__MAP_NONE) return value != 0;
    }
    return false;
}

const struct assay__tensor *assay__cost_stored(const struct assay__cost_names *names,
                                               const char *name)
{
    for (; names; names = names->outer) {
        size_t value = assay__map_get(names->map, name);
        if (value == ASSAY__MAP_NONE) continue;
        if (value < 2) return NULL;
        size_t dense = names->graph->initializer_count, at = value - 2;
        return at < dense ? &names->graph->initializers[at]
                          : &names->graph->sparse_tensors[at - dense];
    }
    return NULL;
}

double assay__cost_sparse_bytes(const struct assay__tensor *tensor)
{
    bool sparse = tensor && tensor->nonzeros >= 0 && tensor->sparse_bytes > 0;
    return sparse ? (double)tensor->sparse_bytes : NAN;
}

/* Random operators are not constant, and nothing is known about operators without a row. What
 * unpacks stored weights runs each time, so its output is an activation. Light models and some
 * exporters generate weights with ConstantOfShape. */
static bool makes_constants(const struct assay__cost_names *names,
                            const struct assay__cost_index *index, const struct assay__node *node)
{
    for (size_t i = 0; i < node->input_count; i++)
        if (*node->inputs[i] && !assay__cost_is_constant(names, node->inputs[i])) return false;
    if (strncasecmp(node->op, "random", 6) == 0 || strcmp(node->op, "Bernoulli") == 0 ||
        strcmp(node->op, "Multinomial") == 0)
        return false;
    for (size_t i = 0; i < node->attr_count; i++)
        if (node->attrs[i].g || node->attrs[i].graphs) return false;
    const struct assay__cost_row *row = assay__cost_find(index, node->op, node->domain);
    return row && !row->unpacks;
}

int assay__cost_names_fill(struct assay__cost_names *names, const struct assay__cost_index *index,
                           const size_t *order)
{
    const struct assay__graph *graph = names->graph;
    int code = 0;
    for (size_t i = 0; i < graph->input_count && !code && names->outer; i++)
        code = assay__map_set(names->map, graph->inputs[i].name, 0);
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(names->map, graph->initializers[i].name, 2 + i);
    for (size_t i = 0; graph->sparse_tensors && i < graph->sparse_count && !code; i++)
        code = assay__map_set(names->map, graph->sparse_tensors[i].name,
                              2 + graph->initializer_count + i);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[order[i]];
        size_t constant = makes_constants(names, index, node);
        for (size_t k = 0; k < node->output_count && !code; k++)
            if (constant || names->outer)
                code = assay__map_set(names->map, node->outputs[k], constant);
    }
    return code;
}

/* --- one node --------------------------------------------------------------------------------- */

/* Reading the same input twice (x * x) moves it once: marks the inputs that count. For many names a
 * map records those already seen. false: out of memory. */
static bool mark_first(const struct assay__node *node, bool *first)
{
    size_t count = node->input_count;
    struct assay__map *seen = count > MANY_INPUTS ? assay__map_new() : NULL;
    bool failed = count > MANY_INPUTS && !seen;
    for (size_t i = 0; i < count && !failed; i++) {
        first[i] = *node->inputs[i];
        if (seen) {
            first[i] = first[i] && assay__map_get(seen, node->inputs[i]) == ASSAY__MAP_NONE;
            failed = assay__map_set(seen, node->inputs[i], i) != 0;
        }
        for (size_t k = 0; k < i && !seen && first[i]; k++)
            if (strcmp(node->inputs[k], node->inputs[i]) == 0) first[i] = false;
    }
    assay__map_free(seen);
    return !failed;
}

static double input_bytes(const struct scope *scope, const struct assay__cost_call *call, size_t i)
{
    const struct assay__shape_entry *in = assay__cost_in(call, i);
    const char *name = call->node->inputs[i];
    double stored = assay__cost_sparse_bytes(assay__cost_stored(&scope->names, name));
    double bytes = isnan(stored) ? assay__cost_bytes(in) : stored;
    if (!call->row || i >= 32 || !(call->row->partial >> i & 1)) return bytes;
    /* A look-up: as many elements as in the output, at their stored size. */
    int bits = in ? assay__dtype_bits(in->dtype) : 0;
    double most = bits > 0 ? ceil(assay__cost_out_elements(call) * bits / 8) : NAN;
    return bytes <= most ? bytes : most;
}

static bool moves_nothing(const struct assay__cost_row *row)
{
    return row && (row->moves == ASSAY__MOVES_NAME || row->moves == ASSAY__MOVES_SHAPE);
}

static int count_bytes(const struct scope *scope, const struct assay__cost_call *call,
                       struct assay__cost *cost)
{
    const struct assay__node *node = call->node;
    enum assay__cost_moves moves = call->row ? call->row->moves : ASSAY__MOVES_ALL;
    cost->bytes_read = cost->bytes_written = cost->bytes_weights = 0;
    if (moves_nothing(call->row)) return 0;
    if (moves != ASSAY__MOVES_ALL) {
        cost->bytes_read = cost->bytes_written = assay__cost_bytes(
            moves == ASSAY__MOVES_INPUT ? assay__cost_in(call, 0) : assay__cost_out(call, 0));
        return 0;
    }
    bool few[MANY_INPUTS], *first = few;
    if (node->input_count > MANY_INPUTS) first = calloc(node->input_count, sizeof *first);
    bool marked = first && mark_first(node, first);
    for (size_t i = 0; i < node->input_count && marked; i++) {
        if (!first[i]) continue;
        double bytes = input_bytes(scope, call, i);
        cost->bytes_read += bytes;
        if (assay__cost_is_constant(&scope->names, node->inputs[i])) cost->bytes_weights += bytes;
    }
    if (first != few) free(first);
    for (size_t i = 0; i < node->output_count; i++)
        if (*node->outputs[i]) cost->bytes_written += assay__cost_bytes(assay__cost_out(call, i));
    return marked ? 0 : ASSAY_ENOMEM;
}

/* A number per element. Integers are not floating-point work; a comparison of floats yields
 * booleans, so there the type of its input decides. */
static double count_each(const struct assay__cost_call *call)
{
    const struct assay__cost_row *row = call->row;
    const struct assay__shape_entry *out = assay__cost_out(call, 0), *in = assay__cost_in(call, 0);
    const struct assay__shape_entry *subject = row->per == ASSAY__PER_INPUT ? in : out;
    if (row->flops <= 0) return 0;
    bool counts = row->any_type || !subject || assay__cost_is_float(subject->dtype);
    if (!counts && row->per == ASSAY__PER_OUTPUT && subject->dtype == ASSAY__BOOL)
        counts = in && assay__cost_is_float(in->dtype);
    if (!counts) return 0;
    double each = row->flops + (double)(row->optional && assay__cost_has(call, row->optional));
    if (row->variadic) each *= (double)call->node->input_count - 1;
    return each * assay__cost_elements(subject);
}

static bool unknown(const struct assay__cost *cost)
{
    return isnan(cost->macs + cost->flops + cost->bytes_read + cost->bytes_written +
                 cost->bytes_weights);
}

/* Why a byte count is NaN. */
static const char *bytes_reason(const struct assay__cost_call *call)
{
    const struct assay__shape_entry *entry;
    bool inputs_known = true;
    for (size_t i = 0; i < call->node->input_count; i++)
        if ((entry = assay__cost_in(call, i)) && entry->dtype == ASSAY__STRING) return no_size;
    for (size_t i = 0; i < call->node->input_count; i++)
        if (*call->node->inputs[i] && isnan(assay__cost_bytes(assay__cost_in(call, i))))
            inputs_known = false;
    for (size_t i = 0; i < call->node->output_count; i++)
        if ((entry = assay__cost_out(call, i)) && entry->dtype == ASSAY__STRING) return no_size;
    return call->row->by_data && inputs_known ? ASSAY__COST_BY_DATA : no_shape;
}

static int cost_node(const struct walk *walk, const struct scope *scope,
                     const struct assay__node *node, struct assay__cost *cost)
{
    const struct assay__cost_row *row = assay__cost_find(walk->index, node->op, node->domain);
    struct assay__cost_call call = {node, scope->shapes, row};
    struct assay__cost_work work = {0, 0, 0, NULL};
    *cost = (struct assay__cost){NAN, NAN, NAN, NAN, NAN, row ? no_shape : no_row, false};
    if (!scope->shapes && !(moves_nothing(row) && !row->count && row->flops == 0)) return 0;
    if (row && makes_constants(&scope->names, walk->index, node)) {
        *cost = (struct assay__cost){.constant = true};
        return 0;
    }
    int code = count_bytes(scope, &call, cost);
    if (code || !row) return code;
    if (row->count)
        row->count(&call, &work);
    else
        work.other = count_each(&call);
    cost->macs = work.multiply_adds + work.bias_adds;
    cost->flops = 2 * work.multiply_adds + work.bias_adds + work.other;
    cost->why = !unknown(cost)                   ? NULL
                : isnan(cost->flops) && work.why ? work.why
                : isnan(cost->flops)             ? no_shape
                                                 : bytes_reason(&call);
    if (cost->why && assay__shapes_node_overflows(scope->shapes, node)) cost->why = overflows;
    return 0;
}

/* --- bodies ----------------------------------------------------------------------------------- */

/* What costs nothing costs nothing however often it runs. */
static double scaled(double times, double value)
{
    return value == 0 ? 0 : times * value;
}

static void add(struct assay__cost *sum, const struct assay__cost *cost, double times)
{
    sum->macs += scaled(times, cost->macs);
    sum->flops += scaled(times, cost->flops);
    sum->bytes_read += scaled(times, cost->bytes_read);
    sum->bytes_written += scaled(times, cost->bytes_written);
    sum->bytes_weights += scaled(times, cost->bytes_weights);
    if (!sum->why && unknown(sum)) sum->why = cost->why;
}

/* The number if both agree, NaN if they do not. */
static double agreed(double a, double b)
{
    return a == b ? a : NAN;
}

static void cost_if(const struct scope *scope, const struct assay__node *node, struct body *first,
                    struct body *second, struct assay__cost *whole)
{
    bool swapped = strcmp(first->attr, "then_branch") != 0;
    struct body *then = swapped ? second : first, *other = swapped ? first : second;
    const struct assay__cost *a = &then->scope->sum, *b = &other->scope->sum;
    struct assay__cost both = {agreed(a->macs, b->macs),
                               agreed(a->flops, b->flops),
                               agreed(a->bytes_read, b->bytes_read),
                               agreed(a->bytes_written, b->bytes_written),
                               agreed(a->bytes_weights, b->bytes_weights),
                               no_branch,
                               false};
    int taken = scope->shapes ? assay__shapes_branch(scope->shapes, node) : -1;
    if (taken < 0 && !unknown(&both)) taken = 1;
    then->times = taken < 0 ? NAN : taken;
    other->times = taken < 0 ? NAN : 1 - taken;
    then->why = other->why = no_branch;
    *whole = taken < 0 ? both : taken ? *a : *b;
}

static void cost_bodies(const struct scope *scope, const struct assay__node *node,
                        struct body *bodies, size_t count, struct assay__cost *whole)
{
    bool plain = !*node->domain || strcmp(node->domain, "ai.onnx") == 0;
    bool loop = plain && (strcmp(node->op, "Loop") == 0 || strcmp(node->op, "Scan") == 0);
    if (plain && strcmp(node->op, "If") == 0 && count == 2) {
        cost_if(scope, node, bodies, bodies->next, whole);
        return;
    }
    int64_t trips = loop && scope->shapes ? assay__shapes_trips(scope->shapes, node) : -1;
    *whole = (struct assay__cost){.why = NULL};
    for (struct body *body = bodies; count > 0; body = body->next, count--) {
        body->times = trips < 0 ? NAN : (double)trips;
        body->why = loop ? no_trips : no_steps;
        if (trips != 0) add(whole, &body->scope->sum, body->times);
    }
    if (trips < 0 && unknown(whole)) whole->why = loop ? no_trips : no_steps;
}

static int cost_scope(struct walk *walk, const struct assay__graph *graph,
                      const struct assay__shapes *shapes, const struct assay__cost_names *outer,
                      int depth, struct scope **out);

/* Adds the scopes of a node's bodies to the list at *end. */
static int enter_bodies(struct walk *walk, struct scope *scope, size_t node, int depth,
                        struct body ***end, size_t *count)
{
    const struct assay__node *at = &scope->names.graph->nodes[node];
    int code = 0;
    *count = 0;
    for (size_t k = 0; k < at->attr_count && !code; k++) {
        const struct assay__attr *attr = &at->attrs[k];
        size_t graphs = attr->g ? 1 : attr->graphs ? attr->count : 0;
        for (size_t g = 0; g < graphs && !code; g++) {
            const struct assay__graph *inner = attr->g ? attr->g : attr->graphs[g];
            struct body *body = assay__arena_alloc(walk->arena, sizeof *body);
            if (!body) return ASSAY_ENOMEM;
            *body = (struct body){.node = node, .attr = attr->name};
            const struct assay__shapes *known = scope->shapes
                                                    ? assay__shapes_body(scope->shapes, inner)
                                                    : NULL;
            code = cost_scope(walk, inner, known, &scope->names, depth + 1, &body->scope);
            **end = body;
            *end = &body->next;
            ++*count;
        }
    }
    return code;
}

int assay__cost_order(const struct assay__graph *graph, const struct assay__shapes *shapes,
                      struct assay__arena *arena, const size_t **order, struct assay_error *error)
{
    size_t *made;
    *order = shapes ? assay__shapes_order(shapes) : NULL;
    if (*order) return 0;
    made = assay__arena_array(arena, graph->node_count, sizeof *made);
    *order = made;
    return made ? assay__graph_order(graph, made, error) : ASSAY_ENOMEM;
}

/* names.map is freed by the caller of the walk, also after a failure: free_scope. */
static int cost_scope(struct walk *walk, const struct assay__graph *graph,
                      const struct assay__shapes *shapes, const struct assay__cost_names *outer,
                      int depth, struct scope **out)
{
    struct scope *scope = assay__arena_alloc(walk->arena, sizeof *scope);
    *out = scope;
    if (!scope) return ASSAY_ENOMEM;
    scope->names = (struct assay__cost_names){outer, graph, assay__map_over(graph->names)};
    scope->shapes = shapes;
    scope->own = assay__arena_array(walk->arena, graph->node_count, sizeof *scope->own);
    scope->whole = assay__arena_array(walk->arena, graph->node_count, sizeof *scope->whole);
    if (!scope->names.map || !scope->own || !scope->whole) return ASSAY_ENOMEM;
    const size_t *order;
    int code = assay__cost_order(graph, shapes, walk->arena, &order, walk->error);
    if (!code) code = assay__cost_names_fill(&scope->names, walk->index, order);
    struct body **end = &scope->bodies;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        struct body **first = end;
        size_t bodies = 0;
        if (depth < ASSAY__COST_DEPTH) code = enter_bodies(walk, scope, i, depth, &end, &bodies);
        if (code) break;
        if (bodies) { /* itself it does nothing */
            cost_bodies(scope, &graph->nodes[i], *first, bodies, &scope->whole[i]);
        } else {
            code = cost_node(walk, scope, &graph->nodes[i], &scope->own[i]);
            scope->whole[i] = scope->own[i];
        }
        if (unknown(&scope->whole[i]) && !scope->whole[i].why) scope->whole[i].why = no_shape;
        add(&scope->sum, &scope->whole[i], 1);
    }
    return code;
}

static void free_scope(struct scope *scope)
{
    if (!scope) return;
    for (struct body *body = scope->bodies; body; body = body->next)
        free_scope(body->scope);
    assay__map_free(scope->names.map);
}

/* --- visiting --------------------------------------------------------------------------------- */

static int visit_scope(const struct scope *scope, size_t depth, double times, const char *why,
                       assay__cost_visit *visit, void *context)
{
    const struct assay__graph *graph = scope->names.graph;
    const struct body *body = scope->bodies;
    int code = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        struct assay__cost_visited visited = {.node = &graph->nodes[i],
                                              .shapes = scope->shapes,
                                              .own = scope->own[i],
                                              .times = times,
                                              .why = why,
                                              .depth = depth};
        if (body && body->node == i && isnan(body->times) && unknown(&scope->whole[i])) {
            /* how often its bodies run is unknown */
            visited.own = (struct assay__cost){NAN, NAN, NAN, NAN, NAN, body->why, false};
        }
        code = visit(context, &visited);
        for (; body && body->node == i && !code; body = body->next) {
            bool never = times == 0 || body->times == 0; /* 0 × unknown: it does not run */
            code = visit_scope(body->scope, depth + 1, never ? 0 : times * body->times,
                               isnan(times) ? why : body->why, visit, context);
        }
    }
    return code;
}

int assay__cost_walk(const struct assay__model *model, const struct assay__shapes *shapes,
                     struct assay__cost *costs, assay__cost_visit *visit, void *context,
                     struct assay_error *error)
{
    struct walk walk = {assay__cost_index_over(model->names), assay__arena_new(), error};
    struct scope *scope = NULL;
    int code = ASSAY_ENOMEM;
    if (walk.index && walk.arena) code = cost_scope(&walk, &model->graph, shapes, NULL, 0, &scope);
    for (size_t i = 0; i < model->graph.node_count && !code; i++)
        costs[i] = scope->whole[i];
    if (!code && visit) code = visit_scope(scope, 0, 1, NULL, visit, context);
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    free_scope(scope);
    assay__arena_free(walk.arena);
    assay__cost_index_free(walk.index);
    return code;
}

int assay__cost_graph(const struct assay__model *model, const struct assay__shapes *shapes,
                      struct assay__cost *costs, struct assay_error *error)
{
    return assay__cost_walk(model, shapes, costs, NULL, NULL, error);
}
