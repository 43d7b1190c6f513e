/* rewrite_hardswish.c - HardSwish and HardSigmoid that are written out as Add 3, Clip 0 … 6, Mul,
 * Div 6 become the operators. HardSwish exists since operator set 14; before that, HardSigmoid and
 * a Mul are used. The numbers differ by a rounding: x / 6 + 0.5 instead of (x + 3) / 6.
 *
 * Limit: if x is a scalar of rank 0 and a constant has rank 1, the result now has rank 0. */
#include "model/rewrite/fold.h"

#include "model/tensor_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 1e-6 /* relative: 1/6 as float32 is 6e-8 off */
#define HARDSWISH_OPSET 14

static const struct assay__node *at(const struct assay__fold_graph *fold, size_t node)
{
    return node < fold->graph->node_count && !fold->gone[node] ? &fold->graph->nodes[node] : NULL;
}

static bool is(const struct assay__fold_graph *fold, size_t node, const char *ops)
{
    const struct assay__node *n = at(fold, node);
    return n && assay__node_is_any(n, ops);
}

static bool number_of(const struct assay__tensor *tensor, double *value)
{
    return tensor && tensor->rank <= 1 && tensor->elements == 1 &&
           assay__tensor_number(tensor, 0, value) && isfinite(*value);
}

/* Whether it is an Add (…) of one number to a value; returns that value and the number. */
static const char *with_number(const struct assay__fold_graph *fold, size_t node, const char *op,
                               double *value)
{
    const struct assay__tensor *constant = NULL;
    const char *x = is(fold, node, op) ? assay__fold_operand(fold, at(fold, node), &constant)
                                       : NULL;
    if (!x || !number_of(constant, value)) return NULL;
    bool turned = strcmp(op, "Div") == 0 && x == at(fold, node)->inputs[1]; /* 6 / x */
    return turned ? NULL : x;
}

/* Does the node divide by `bound`? */
static bool divides(const struct assay__fold_graph *fold, size_t node, double bound)
{
    double value;
    if (with_number(fold, node, "Div", &value)) return fabs(value - bound) <= NEAR * bound;
    return with_number(fold, node, "Mul", &value) && fabs(value * bound - 1) <= NEAR;
}

/* Whether it is x times the output of node `other`. */
static bool times_x(const struct assay__fold_graph *fold, size_t node, const char *x, size_t other)
{
    const struct assay__node *n = at(fold, node);
    if (!is(fold, node, "Mul") || n->input_count != 2) return false;
    const char *made = at(fold, other)->outputs[0];
    return (strcmp(n->inputs[0], x) == 0 && strcmp(n->inputs[1], made) == 0) ||
           (strcmp(n->inputs[1], x) == 0 && strcmp(n->inputs[0], made) == 0);
}

/* The upper bound of a Clip whose lower bound is 0, as attributes (before operator set 11) or as
 * inputs. */
static bool clip_bound(const struct assay__fold_graph *fold, const struct assay__node *clip,
                       double *bound)
{
    double low = (double)assay__node_float(clip, "min", NAN);
    *bound = (double)assay__node_float(clip, "max", NAN);
    if (clip->input_count == 3 && (!number_of(assay__fold_constant(fold, clip->inputs[1]), &low) ||
                                   !number_of(assay__fold_constant(fold, clip->inputs[2]), bound)))
        return false;
    return low == 0 && *bound > 0 && clip->output_count == 1;
}

static void push(struct assay__fold_group *group, size_t node)
{
    group->nodes[group->count++] = node;
}

/* What follows the Clip, for this x. */
static bool find_end(const struct assay__fold_graph *fold, size_t clip, double bound,
                     struct assay__fold_hard *hard)
{
    size_t next = assay__fold_only_reader(fold, clip), last = clip;
    bool divided = bound == 1;
    if (!divided && divides(fold, next, bound)) {
        push(&hard->group, last = next);
        next = assay__fold_only_reader(fold, last);
        divided = true;
    }
    hard->swish = times_x(fold, next, hard->x, last);
    if (hard->swish) {
        push(&hard->group, last = next);
        next = assay__fold_only_reader(fold, last);
        if (!divided && divides(fold, next, bound)) {
            push(&hard->group, next);
            divided = true;
        }
    }
    return divided;
}

bool assay__fold_find_hard(const struct assay__fold_graph *fold, size_t node,
                           struct assay__fold_hard *hard)
{
    double bound, shift, factor = 1;
    if (!is(fold, node, "Clip") || !clip_bound(fold, at(fold, node), &bound)) return false;
    size_t sum = assay__fold_producer(fold, at(fold, node)->inputs[0]);
    const char *x = with_number(fold, sum, "Add", &shift);
    if (!x || assay__fold_only_reader(fold, sum) != node) return false;
    *hard = (struct assay__fold_hard){.group = {{sum, node}, 2}, .x = x};
    bool found = find_end(fold, node, bound, hard);
    size_t product = assay__fold_producer(fold, x);
    const char *from = with_number(fold, product, "Mul", &factor);
    if (from && assay__fold_only_reader(fold, product) == sum && !(found && hard->swish)) {
        *hard = (struct assay__fold_hard){.group = {{product, sum, node}, 3}, .x = from};
        found = find_end(fold, node, bound, hard);
    } else {
        factor = 1;
    }
    hard->alpha = (float)(factor / bound);
    hard->beta = (float)(shift / bound);
    return found && isfinite(hard->alpha) && isfinite(hard->beta);
}

/* --- the rewrite ------------------------------------------------------------------------------ */

struct hard_rewrite {
    struct assay__model *model;
    struct assay__namer namer;
    bool has_hardswish;
    size_t swishes, sigmoids;
    struct assay_error *error;
};

/* The operators in place of the group's last node, with the name of its result. */
static void emit(struct hard_rewrite *work, struct assay__graph *fresh,
                 const struct assay__fold_hard *hard, const struct assay__node *last)
{
    struct assay__model *model = work->model;
    const char *result = last->outputs[0], *gate = result;
    bool usual = fabs((double)hard->alpha * 6 - 1) <= NEAR &&
                 fabs((double)hard->beta * 2 - 1) <= NEAR;
    work->swishes += hard->swish;
    work->sigmoids += !hard->swish;
    if (hard->swish && usual && work->has_hardswish) {
        assay__graph_add_node(model, fresh, "HardSwish", last->name, &hard->x, 1, &result, 1);
        return;
    }
    if (hard->swish) gate = assay__namer_make(&work->namer, result, "_gate");
    struct assay__node *sigmoid = assay__graph_add_node(
        model, fresh, "HardSigmoid", hard->swish ? gate : last->name, &hard->x, 1, &gate, 1);
    assay__node_set_float(model, sigmoid, "alpha", hard->alpha);
    assay__node_set_float(model, sigmoid, "beta", hard->beta);
    const char *const factors[] = {hard->x, gate};
    if (hard->swish) assay__graph_add_node(model, fresh, "Mul", last->name, factors, 2, &result, 1);
}

/* The graph with every group replaced: by_last has each group at the index of its last node. */
static void emit_graph(struct hard_rewrite *work, struct assay__graph *graph,
                       const struct assay__fold_graph *fold, const struct assay__fold_hard *by_last)
{
    struct assay__graph fresh = {.name = ""};
    for (size_t i = 0; i < graph->node_count; i++)
        if (by_last[i].group.count)
            emit(work, &fresh, &by_last[i], &graph->nodes[i]);
        else if (!fold->gone[i])
            assay__graph_push_node(work->model, &fresh, &graph->nodes[i]);
    assay__graph_take_nodes(graph, &fresh);
}

static int fuse_graph(void *context, struct assay__graph *graph)
{
    struct hard_rewrite *work = context;
    struct assay__fold_graph fold;
    struct assay__fold_hard hard;
    struct assay__fold_hard *by_last = calloc(graph->node_count + 1, sizeof *by_last);
    struct assay__map *constants = assay__map_new();
    int code = assay__fold_open(&fold, graph);
    if (!by_last || !constants) code = ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        if (!assay__fold_find_hard(&fold, i, &hard)) continue;
        by_last[hard.group.nodes[hard.group.count - 1]] = hard;
        code = assay__fold_take(&fold, &hard.group, constants);
    }
    if (!code && assay__map_count(constants)) {
        emit_graph(work, graph, &fold, by_last);
        code = assay__weights_sweep(graph, constants);
    }
    assay__map_free(constants);
    assay__fold_close(&fold);
    free(by_last);
    return assay__rewrite_end(work->model, code ? assay__rewrite_no_memory(work->error) : 0,
                              work->error);
}

static int apply_hardswish(struct assay__model *model, const struct assay__rewrite_request *request,
                           struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct hard_rewrite work = {.model = model, .error = error};
    (void)request;
    int code = assay__rewrite_begin(model, false, notes, error);
    if (code) return code;
    work.has_hardswish = assay__model_opset(model, "") >= HARDSWISH_OPSET;
    code = assay__namer_open(&work.namer, model, error);
    if (!code) code = assay__rewrite_each_graph(&model->graph, fuse_graph, &work);
    assay__namer_close(&work.namer);
    if (code) return code;
    if (work.swishes)
        assay__rewrite_note(notes, "%zu HardSwish made of several nodes replaced with %s",
                            work.swishes,
                            work.has_hardswish ? "one node each"
                                               : "HardSigmoid and Mul: operator sets before 14 "
                                                 "have no HardSwish");
    if (work.sigmoids)
        assay__rewrite_note(notes,
                            "%zu HardSigmoid made of several nodes replaced with one node each",
                            work.sigmoids);
    if (!work.swishes && !work.sigmoids)
        assay__rewrite_note(
            notes, "nothing to fuse: no HardSwish or HardSigmoid is made of several nodes");
    return 0;
}

const struct assay__rewriter assay__rewriter_hardswish = {.step = "fuse-hardswish",
                                                          .apply = apply_hardswish};
