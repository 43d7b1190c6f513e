/* ort_instrument.c - inserts markers into a graph and redirects the consumers.
 *
 * For every node: one marker on each output that something consumes, even if the only consumer is
 * in the body of a later If, Loop or Scan. With a marker on only one of several outputs the engine
 * may run other nodes before it reaches the marker, and the node's end would be seen too late. A
 * node whose outputs are unused gets a marker with an unused output. Consumers, including those in
 * bodies, read the marker's output. Graph outputs keep their name and producer: a marker in between
 * would require a copy.
 *
 * Sequence, optional, map and sparse values cannot pass through a marker. ONNX Runtime declares no
 * types of inner values in the models it saves, so the operator decides: a short list produces
 * sequences and the like, bodies declare their outputs, Identity returns its input. `strict` leaves
 * out what this does not determine (unknown domains, elements of optionals).
 *
 * Bodies are separate graphs: each is marked, and its names are replaced in it and in nested
 * bodies. An If has no inputs: the cost of entering a branch is part of the branch's first node. An
 * iteration of a Loop or Scan begins with markers on the body's inputs. Shapes may change between
 * iterations: there a marker queries them each time. */
#include "engine/ort/ort_instrument.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/text.h"

#include <string.h>

#define BODY_DEPTH 32 /* nested bodies that are followed; the reader has its own limit */

struct insertion {
    struct assay__model *model;
    const struct assay__mark_options *options;
    struct assay__map *consumed; /* value name -> 1 */
    struct assay__map *types;    /* value name -> index + 1 into known[] */
    const struct assay__value **known;
    size_t known_count;
    struct assay__map *kinds; /* value name -> enum assay__value_kind */
    struct assay__map *initializers;
    struct assay__map *renamed; /* value name -> marker id */
    const char **outputs;       /* marker id -> name of its output */
    struct assay__mark_plan *plan;
    struct assay__node *nodes; /* the new list of the graph being marked */
    size_t node_count, node_capacity;
    size_t mark_capacity;
    size_t next; /* number of the next node */
    bool random;
    bool repeats; /* inside a Loop or Scan */
};

/* --- random operators ------------------------------------------------------------------------- */

bool assay__op_is_random(const struct assay__node *node)
{
    if (assay__text_is_one_of(node->op,
                              "RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
                              "Multinomial Bernoulli Sampling BiasDropout BitmaskDropout"))
        return true;
    /* Dropout is random only in training mode, which its third input enables. */
    return strcmp(node->op, "Dropout") == 0 && node->input_count > 2 && node->inputs[2][0] != '\0';
}

static bool graph_is_random(const struct assay__graph *graph, int depth)
{
    if (depth > BODY_DEPTH) return true;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        if (assay__op_is_random(node)) return true;
        for (size_t b = 0; assay__node_body(node, b); b++)
            if (graph_is_random(assay__node_body(node, b), depth + 1)) return true;
    }
    return false;
}

bool assay__graph_is_random(const struct assay__graph *graph)
{
    return graph_is_random(graph, 0);
}

/* --- which node consumes what ----------------------------------------------------------------- */

static int note_consumed(struct insertion *work, const struct assay__graph *graph, int depth)
{
    if (depth > BODY_DEPTH) return ASSAY_ELIMIT;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->input_count; k++)
            if (node->inputs[k][0] && assay__map_set(work->consumed, node->inputs[k], 1))
                return ASSAY_ENOMEM;
        for (size_t b = 0; assay__node_body(node, b); b++) {
            int code = note_consumed(work, assay__node_body(node, b), depth + 1);
            if (code) return code;
        }
    }
    /* A body may output an outer value directly; the main graph's outputs do not count. */
    for (size_t k = 0; depth > 0 && k < graph->output_count; k++)
        if (assay__map_set(work->consumed, graph->outputs[k].name, 1)) return ASSAY_ENOMEM;
    return 0;
}

static size_t count_values(const struct assay__graph *graph, int depth)
{
    const struct assay__graph *body;
    size_t count = graph->value_count + graph->output_count + graph->input_count;
    for (size_t i = 0; i < graph->node_count && depth < BODY_DEPTH; i++)
        for (size_t k = 0; (body = assay__node_body(&graph->nodes[i], k)); k++)
            count += count_values(body, depth + 1);
    return count;
}

static int note_types(struct insertion *work, const struct assay__graph *graph, int depth)
{
    const struct {
        const struct assay__value *list;
        size_t count;
    } lists[] = {{graph->values, graph->value_count},
                 {graph->outputs, graph->output_count},
                 {graph->inputs, graph->input_count}};
    if (!work->known)
        work->known = assay__arena_array(work->model->arena, count_values(graph, 0) + 1,
                                         sizeof *work->known);
    if (!work->known) return ASSAY_ENOMEM;
    for (size_t l = 0; l < 3; l++)
        for (size_t i = 0; i < lists[l].count; i++) {
            work->known[work->known_count++] = &lists[l].list[i];
            if (assay__map_set(work->types, lists[l].list[i].name, work->known_count))
                return ASSAY_ENOMEM;
        }
    for (size_t i = 0; i < graph->initializer_count; i++)
        if (assay__map_set(work->initializers, graph->initializers[i].name, 1)) return ASSAY_ENOMEM;
    const struct assay__graph *body;
    int code = 0;
    for (size_t i = 0; i < graph->node_count && depth < BODY_DEPTH; i++)
        for (size_t k = 0; !code && (body = assay__node_body(&graph->nodes[i], k)); k++)
            code = note_types(work, body, depth + 1);
    return code;
}

/* --- which values can have a marker ----------------------------------------------------------- */

/** The kind of an operator's outputs, by its name; ASSAY__KIND_UNKNOWN otherwise. */
static enum assay__value_kind kind_by_operator(const struct assay__node *node)
{
    if (assay__text_is_one_of(node->op, "SequenceConstruct SequenceEmpty SequenceInsert "
                                        "SequenceErase SequenceMap SplitToSequence ZipMap"))
        return ASSAY__KIND_SEQUENCE;
    if (strcmp(node->op, "Optional") == 0) return ASSAY__KIND_OPTIONAL;
    if (assay__text_is_one_of(node->op, "Identity OptionalGetElement If Loop"))
        return ASSAY__KIND_UNKNOWN;
    bool known_domain = !node->domain[0] || strncmp(node->domain, "ai.onnx", 7) == 0 ||
                        strncmp(node->domain, "com.microsoft", 13) == 0;
    return known_domain ? ASSAY__KIND_TENSOR : ASSAY__KIND_UNKNOWN;
}

static enum assay__value_kind kind_of(const struct insertion *work, const char *name)
{
    size_t at = assay__map_get(work->kinds, name);
    return at == ASSAY__MAP_NONE ? ASSAY__KIND_UNKNOWN : (enum assay__value_kind)at;
}

/** Kinds of all values of a graph and its bodies, in file order, which is topological. */
static int note_kinds(struct insertion *work, const struct assay__graph *graph, int depth)
{
    int code = 0;
    for (size_t i = 0; depth == 0 && i < work->known_count && !code; i++)
        code = assay__map_set(work->kinds, work->known[i]->name, (size_t)work->known[i]->kind);
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(work->kinds, graph->initializers[i].name, (size_t)ASSAY__KIND_TENSOR);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__graph *inner;
        for (size_t k = 0; depth < BODY_DEPTH && !code && (inner = assay__node_body(node, k)); k++)
            code = note_kinds(work, inner, depth + 1);
        bool loop = strcmp(node->op, "Loop") == 0, branch = strcmp(node->op, "If") == 0;
        const struct assay__attr *body = loop || branch
                                             ? assay__node_attr(node, loop ? "body" : "then_branch")
                                             : NULL;
        for (size_t k = 0; k < node->output_count && !code; k++) {
            if (!node->outputs[k][0] || kind_of(work, node->outputs[k]) != ASSAY__KIND_UNKNOWN)
                continue;
            enum assay__value_kind kind = kind_by_operator(node);
            size_t at = loop ? k + 1 : k; /* a Loop's body outputs its condition first */
            if (body && body->g && at < body->g->output_count)
                kind = body->g->outputs[at].kind;
            else if (strcmp(node->op, "Identity") == 0 && node->input_count)
                kind = kind_of(work, node->inputs[0]);
            code = assay__map_set(work->kinds, node->outputs[k], (size_t)kind);
        }
    }
    return code;
}

static bool can_carry(const struct insertion *work, const char *name)
{
    if (!name[0]) return false;
    enum assay__value_kind kind = kind_of(work, name);
    return kind == ASSAY__KIND_TENSOR || (kind == ASSAY__KIND_UNKNOWN && !work->options->strict);
}

static bool is_static(const struct assay__value *type)
{
    if (!type || type->rank < 0) return false;
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i].value < 0) return false;
    return true;
}

/* --- adding ----------------------------------------------------------------------------------- */

/** Appends marker number plan->mark_count on `value`. With `rename`, consumers will read the
 *  marker's output. */
static int add_marker(struct insertion *work, const char *value, bool input, size_t index,
                      bool rename)
{
    struct assay__arena *arena = work->model->arena;
    size_t id = work->plan->mark_count;
    if (id >= work->mark_capacity || work->node_count >= work->node_capacity) return ASSAY_ELIMIT;
    size_t at = assay__map_get(work->types, value);
    const struct assay__value *type = at == ASSAY__MAP_NONE ? NULL : work->known[at - 1];
    bool scalar = (type && type->kind == ASSAY__KIND_TENSOR && type->rank == 0) ||
                  (work->options->scalars && work->options->scalars[id]);
    struct assay__node *node = &work->nodes[work->node_count++];
    *node = (struct assay__node){
        .op = scalar ? ASSAY__MARKER_OP_SCALAR : ASSAY__MARKER_OP,
        .domain = ASSAY__MARKER_DOMAIN,
        .doc = "",
        .name = assay__arena_printf(arena, "assay.marker.%zu", id),
        .inputs = assay__arena_array(arena, 1, sizeof *node->inputs),
        .outputs = assay__arena_array(arena, 1, sizeof *node->outputs),
        .input_count = 1,
        .output_count = 1,
    };
    const char *output = assay__arena_printf(arena, "assay.marked.%zu", id);
    if (!node->name || !node->inputs || !node->outputs || !output) return ASSAY_ENOMEM;
    node->inputs[0] = value;
    node->outputs[0] = output;
    /* Inputs do not change between runs, so a graph without random operators repeats its shapes. */
    bool fixed = (!work->random && !work->repeats) || is_static(type);
    if (assay__node_set_int(work->model, node, "id", (int64_t)id) ||
        assay__node_set_int(work->model, node, "fixed", fixed))
        return ASSAY_ENOMEM;
    work->outputs[id] = output;
    work->plan->marks[id] = (struct assay__mark){.input = input, .index = index};
    work->plan->mark_count++;
    return rename ? assay__map_set(work->renamed, value, id) : 0;
}

/** Markers on the inputs of a graph: of the model (parent SIZE_MAX), or of a body of that node. */
static int mark_inputs(struct insertion *work, const struct assay__graph *graph, size_t parent)
{
    int code = 0;
    if (work->options->no_inputs && parent == SIZE_MAX) return 0;
    for (size_t i = 0; i < graph->input_count && !code; i++) {
        const char *name = graph->inputs[i].name;
        if (assay__map_get(work->consumed, name) == ASSAY__MAP_NONE ||
            assay__map_get(work->initializers, name) != ASSAY__MAP_NONE || !can_carry(work, name))
            continue;
        size_t id = work->plan->mark_count;
        bool model = parent == SIZE_MAX;
        code = add_marker(work, name, model, model ? i : parent, true);
        if (!code) work->plan->marks[id].enters = !model;
    }
    return code;
}

/** Markers after node `index`, which is the last of the new list. */
static int mark_outputs(struct insertion *work, const struct assay__node *node, size_t index)
{
    const char *dangling = NULL;
    bool any = false;
    int code = 0;
    if (work->options->nodes && !work->options->nodes[index]) return 0;
    for (size_t k = 0; k < node->output_count && !code; k++) {
        if (!can_carry(work, node->outputs[k])) continue;
        if (!dangling) dangling = node->outputs[k];
        if (assay__map_get(work->consumed, node->outputs[k]) == ASSAY__MAP_NONE) continue;
        code = add_marker(work, node->outputs[k], false, index, true);
        any = true;
    }
    if (!code && !any && dangling) code = add_marker(work, dangling, false, index, false);
    work->plan->node_marked[index] = dangling != NULL;
    return code;
}

static int mark_graph(struct insertion *work, struct assay__graph *graph, size_t parent, int depth);

/** The bodies of a node, each as a separate graph; numbers them if they are not marked. */
static int mark_bodies(struct insertion *work, struct assay__node *node, int depth)
{
    size_t inner = work->options->flat ? assay__flat_bodies(node, depth) : 0;
    size_t own = work->next + inner;
    if (!work->options->bodies || !inner) {
        work->next = own;
        return 0;
    }
    const struct insertion outer = *work;
    bool loop = assay__text_is_one_of(node->op, "Loop Scan");
    struct assay__graph *body;
    int code = 0;
    work->repeats = outer.repeats || loop;
    work->plan->loops |= loop;
    for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
        code = mark_graph(work, body, own, depth + 1);
    for (size_t a = 0; a < node->attr_count; a++) /* the bytes from the file are stale */
        if (node->attrs[a].g || node->attrs[a].graphs) {
            node->attrs[a].raw = NULL;
            node->attrs[a].raw_size = 0;
        }
    work->nodes = outer.nodes;
    work->node_count = outer.node_count;
    work->node_capacity = outer.node_capacity;
    work->renamed = outer.renamed;
    work->repeats = outer.repeats;
    return code;
}

/* --- renaming in consumers and their bodies --------------------------------------------------- */

static int rename_body(struct insertion *work, struct assay__graph *graph, int depth,
                       bool *changed);

/** The name to read instead, or NULL. `hidden` contains names that the body defines itself. */
static const char *replacement(const struct insertion *work, const struct assay__map *hidden,
                               const char *name)
{
    if (!name[0] || (hidden && assay__map_get(hidden, name) != ASSAY__MAP_NONE)) return NULL;
    size_t id = assay__map_get(work->renamed, name);
    return id == ASSAY__MAP_NONE ? NULL : work->outputs[id];
}

static int rename_node(struct insertion *work, const struct assay__map *hidden,
                       struct assay__node *node, int depth, bool *changed)
{
    const char **inputs = assay__arena_array(work->model->arena, node->input_count + 1,
                                             sizeof *inputs);
    if (!inputs) return ASSAY_ENOMEM;
    for (size_t k = 0; k < node->input_count; k++) {
        const char *name = replacement(work, hidden, node->inputs[k]);
        inputs[k] = name ? name : node->inputs[k];
        if (name) *changed = true;
    }
    node->inputs = inputs;
    for (size_t a = 0; a < node->attr_count; a++) {
        struct assay__attr *attr = &node->attrs[a];
        bool inside = false;
        int code = attr->g ? rename_body(work, attr->g, depth + 1, &inside) : 0;
        for (size_t b = 0; !code && attr->graphs && b < attr->count; b++)
            code = rename_body(work, attr->graphs[b], depth + 1, &inside);
        if (code) return code;
        if (inside) { /* the bytes from the file are stale: encode it again */
            attr->raw = NULL;
            attr->raw_size = 0;
            *changed = true;
        }
    }
    return 0;
}

static int rename_body(struct insertion *work, struct assay__graph *graph, int depth, bool *changed)
{
    if (depth > BODY_DEPTH) return ASSAY_ELIMIT;
    /* Names defined in a body hide outer ones (ONNX forbids it, but such files exist). */
    struct assay__map *hidden = assay__map_new();
    int code = hidden ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < graph->input_count; i++)
        code = assay__map_set(hidden, graph->inputs[i].name, 1);
    for (size_t i = 0; !code && i < graph->initializer_count; i++)
        code = assay__map_set(hidden, graph->initializers[i].name, 1);
    for (size_t i = 0; !code && i < graph->node_count; i++)
        for (size_t k = 0; !code && k < graph->nodes[i].output_count; k++)
            code = assay__map_set(hidden, graph->nodes[i].outputs[k], 1);
    for (size_t i = 0; !code && i < graph->node_count; i++)
        code = rename_node(work, hidden, &graph->nodes[i], depth, changed);
    for (size_t i = 0; !code && i < graph->output_count; i++) {
        const char *name = replacement(work, hidden, graph->outputs[i].name);
        if (!name) continue;
        graph->outputs[i].name = name;
        *changed = true;
    }
    assay__map_free(hidden);
    return code;
}

/* --- the whole -------------------------------------------------------------------------------- */

/** Maximum number of markers for a graph and its bodies. */
static int count_room(const struct assay__graph *graph, size_t *sum, int depth)
{
    const struct assay__graph *body;
    int code = assay__add_overflows(*sum, graph->input_count, sum) ? ASSAY_ELIMIT : 0;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        if (assay__add_overflows(*sum, graph->nodes[i].output_count + 1, sum)) code = ASSAY_ELIMIT;
        for (size_t k = 0; depth >= 0 && depth < BODY_DEPTH && !code &&
                           (body = assay__node_body(&graph->nodes[i], k));
             k++)
            code = count_room(body, sum, depth + 1);
    }
    return code;
}

static int make_room(struct insertion *work)
{
    const struct assay__graph *graph = &work->model->graph;
    struct assay__arena *arena = work->model->arena;
    size_t outputs = 0, nodes = graph->node_count;
    int code = count_room(graph, &outputs, 0);
    if (code) return code;
    for (size_t i = 0; work->options->flat && i < graph->node_count; i++)
        nodes += assay__flat_bodies(&graph->nodes[i], 0);
    work->mark_capacity = outputs;
    work->outputs = assay__arena_array(arena, outputs + 1, sizeof *work->outputs);
    work->plan->marks = assay__arena_array(arena, outputs + 1, sizeof *work->plan->marks);
    work->plan->node_marked = assay__arena_array(arena, nodes + 1, sizeof *work->plan->node_marked);
    work->plan->node_count = nodes;
    return work->outputs && work->plan->marks && work->plan->node_marked ? 0 : ASSAY_ENOMEM;
}

/** Marks a graph (of the model, or a body of node `parent`) and the bodies in it; consumers in it
 *  and in nested bodies read the markers' outputs. */
static int mark_graph(struct insertion *work, struct assay__graph *graph, size_t parent, int depth)
{
    size_t room = 0;
    if (depth > BODY_DEPTH) return ASSAY_ELIMIT;
    int code = count_room(graph, &room, -1);
    if (code) return code;
    work->node_count = 0;
    work->node_capacity = room + graph->node_count;
    work->nodes = assay__arena_array(work->model->arena, work->node_capacity + 1,
                                     sizeof *work->nodes);
    work->renamed = assay__map_new();
    if (!work->nodes || !work->renamed) code = ASSAY_ENOMEM;
    if (!code) code = mark_inputs(work, graph, parent);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        code = mark_bodies(work, &graph->nodes[i], depth);
        if (code) break;
        if (work->node_count >= work->node_capacity) code = ASSAY_ELIMIT;
        if (!code) work->nodes[work->node_count++] = graph->nodes[i];
        if (!code) code = mark_outputs(work, &graph->nodes[i], work->next++);
    }
    for (size_t i = 0; !code && i < work->node_count; i++) {
        bool changed = false; /* markers themselves read the real value */
        if (strcmp(work->nodes[i].domain, ASSAY__MARKER_DOMAIN) != 0)
            code = rename_node(work, NULL, &work->nodes[i], depth, &changed);
    }
    if (!code) {
        graph->nodes = work->nodes;
        graph->node_count = work->node_count;
        graph->node_capacity = work->node_capacity;
    }
    assay__map_free(work->renamed);
    work->renamed = NULL;
    return code;
}

int assay__markers_insert(struct assay__model *model, const struct assay__mark_options *options,
                          struct assay__mark_plan *plan, struct assay_error *error)
{
    static const struct assay__mark_options defaults = {0};
    memset(plan, 0, sizeof *plan);
    struct insertion work = {
        .model = model, .options = options ? options : &defaults, .plan = plan};
    struct assay__map **maps[] = {&work.consumed, &work.types, &work.kinds, &work.initializers};
    int code = 0;
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        if (!(*maps[i] = assay__map_new())) code = ASSAY_ENOMEM;
    work.random = assay__graph_is_random(&model->graph);
    if (!code) code = make_room(&work);
    if (!code) code = note_consumed(&work, &model->graph, 0);
    if (!code) code = note_types(&work, &model->graph, 0);
    if (!code) code = note_kinds(&work, &model->graph, 0);
    if (!code) code = mark_graph(&work, &model->graph, SIZE_MAX, 0);
    struct assay__opset *opsets = assay__arena_array(model->arena, model->opset_count + 1,
                                                     sizeof *opsets);
    if (!code && !opsets) code = ASSAY_ENOMEM;
    if (!code) {
        if (model->opset_count) memcpy(opsets, model->opsets, model->opset_count * sizeof *opsets);
        opsets[model->opset_count++] = (struct assay__opset){.domain = ASSAY__MARKER_DOMAIN,
                                                             .version = 1};
        model->opsets = opsets;
    }
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        assay__map_free(*maps[i]);
    return code ? assay_error_set(error, code, "cannot insert markers into the graph: %s",
                                  assay_error_text(code))
                : 0;
}

struct assay__model *assay__marker_chain(size_t length)
{
    struct assay__model *model = assay__model_new();
    if (!model) return NULL;
    model->ir_version = 8;
    const struct assay__dim one = {.value = 1, .symbol = ""};
    struct assay__graph *graph = &model->graph;
    struct assay__opset *opsets = assay__arena_array(model->arena, 2, sizeof *opsets);
    int code = !opsets ||
               assay__graph_add_value(model, &graph->inputs, &graph->input_count, "x",
                                      ASSAY__FLOAT32, 1, &one) ||
               assay__graph_add_value(model, &graph->outputs, &graph->output_count, "y",
                                      ASSAY__FLOAT32, 1, &one);
    const char *from = "x";
    for (size_t i = 0; !code && i < length; i++) {
        const char *to = assay__arena_printf(model->arena, "m%zu", i);
        struct assay__node *node = to ? assay__graph_add_node(model, graph, ASSAY__MARKER_OP, to,
                                                              &from, 1, &to, 1)
                                      : NULL;
        if (node) node->domain = ASSAY__MARKER_DOMAIN;
        code = !node || assay__node_set_int(model, node, "id", (int64_t)i) ||
               assay__node_set_int(model, node, "fixed", 1);
        from = to;
    }
    const char *last = "y";
    if (!code) code = !assay__graph_add_node(model, graph, "Identity", "last", &from, 1, &last, 1);
    if (code) {
        assay__model_free(model);
        return NULL;
    }
    opsets[0] = (struct assay__opset){.domain = "", .version = 13};
    opsets[1] = (struct assay__opset){.domain = ASSAY__MARKER_DOMAIN, .version = 1};
    model->opsets = opsets;
    model->opset_count = 2;
    graph->name = "chain";
    return model;
}
