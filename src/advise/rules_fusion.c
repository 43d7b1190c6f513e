/* rules_fusion.c - rules about groups of nodes that engines can fuse but did not. A group is found
 * in the graph; it was missed when its nodes ran as several layers. One fused pass takes at least
 * as long as the longest of them (folding into the weights of a convolution leaves that
 * convolution's time), so the rest of the group's time is the potential. */
#include "advise/rules.h"

#include <math.h>
#include <string.h>

#define ACTIVATIONS "Relu|LeakyRelu|Clip|Sigmoid|HardSigmoid|HardSwish|Tanh|Elu|PRelu"
#define BEFORE_ACTIVATION "Conv|ConvTranspose|Gemm|BatchNormalization"

static const struct assay__node *at(const struct assay__advice *a, size_t i)
{
    return i < a->model->graph.node_count ? &a->model->graph.nodes[i] : NULL;
}

static bool is(const struct assay__advice *a, size_t i, const char *ops)
{
    const struct assay__node *node = at(a, i);
    return node && assay__op_among(node->op, ops);
}

static bool add(struct assay__fold_group *group, size_t node)
{
    if (node == SIZE_MAX || group->count == ASSAY__FOLD_MOST) return false;
    for (size_t i = 0; i < group->count; i++)
        if (group->nodes[i] == node) return true;
    group->nodes[group->count++] = node;
    return true;
}

static size_t made_by(const struct assay__advice *a, size_t node, size_t input)
{
    const struct assay__node *n = at(a, node);
    return n && input < n->input_count ? assay__advice_producer(a, n->inputs[input]) : SIZE_MAX;
}

/* The node with one of these operators that produces one of its inputs. */
static size_t made_by_op(const struct assay__advice *a, size_t node, const char *ops)
{
    const struct assay__node *n = at(a, node);
    for (size_t i = 0; n && i < n->input_count; i++)
        if (is(a, made_by(a, node, i), ops)) return made_by(a, node, i);
    return SIZE_MAX;
}

/* --- groups; each is found from one of its nodes ---------------------------------------------- */

typedef bool group_fn(const struct assay__advice *a, size_t node, struct assay__fold_group *group);

/* Conv, BatchNormalization */
static bool conv_norm(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    size_t next = assay__advice_only_reader(a, node);
    return is(a, node, "Conv|ConvTranspose") && is(a, next, "BatchNormalization") &&
           add(group, node) && add(group, next);
}

/* Conv, Gemm or BatchNormalization, then an activation */
static bool activation(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    size_t next = assay__advice_only_reader(a, node);
    return is(a, node, BEFORE_ACTIVATION) && is(a, next, ACTIVATIONS) && add(group, node) &&
           add(group, next);
}

/* x - mean(x), divided by sqrt(mean of its square + epsilon): found from the Div */
static bool layer_norm(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    if (!is(a, node, "Div")) return false;
    size_t centred = made_by(a, node, 0), root = made_by(a, node, 1);
    size_t sum = made_by_op(a, root, "Add"), variance = made_by_op(a, sum, "ReduceMean"),
           square = made_by_op(a, variance, "Pow|Mul"), mean = made_by_op(a, centred, "ReduceMean");
    if (!is(a, centred, "Sub") || !is(a, root, "Sqrt") || made_by(a, square, 0) != centred)
        return false;
    bool all = add(group, mean) && add(group, centred) && add(group, square) &&
               add(group, variance) && add(group, sum) && add(group, root) && add(group, node);
    size_t scale = assay__advice_only_reader(a, node),
           shift = is(a, scale, "Mul") ? assay__advice_only_reader(a, scale) : SIZE_MAX;
    if (all && is(a, scale, "Mul")) add(group, scale);
    if (all && is(a, shift, "Add")) add(group, shift);
    return all;
}

/* x (1 + erf(x / sqrt 2)) / 2: found from the Erf */
static bool gelu(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    size_t scaled = made_by_op(a, node, "Div|Mul"), sum = assay__advice_only_reader(a, node),
           product = assay__advice_only_reader(a, sum),
           half = assay__advice_only_reader(a, product);
    if (!is(a, node, "Erf") || scaled == SIZE_MAX || !is(a, sum, "Add") || !is(a, product, "Mul"))
        return false;
    bool all = add(group, scaled) && add(group, node) && add(group, sum) && add(group, product);
    if (all && is(a, half, "Mul")) add(group, half);
    return all;
}

/* MatMul, scale and mask, Softmax, MatMul: found from the Softmax */
static bool attention(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    size_t after = assay__advice_only_reader(a, node), before = made_by(a, node, 0);
    if (!is(a, node, "Softmax") || !is(a, after, "MatMul")) return false;
    struct assay__fold_group between = {.count = 0};
    for (int i = 0; i < 4 && is(a, before, "Div|Mul|Add|Where|Cast"); i++) {
        size_t from = made_by_op(a, before, "MatMul|Div|Mul|Add|Where|Cast");
        if (!add(&between, before)) return false;
        before = from;
    }
    if (!is(a, before, "MatMul") || before == after) return false;
    bool all = add(group, before) && add(group, node) && add(group, after);
    for (size_t i = 0; i < between.count && all; i++)
        all = add(group, between.nodes[i]);
    return all;
}

/* Add, Clip, Mul, Div: found from the Clip */
static bool hardswish(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    struct assay__fold_hard hard;
    bool found = assay__fold_find_hard(&a->fold, node, &hard);
    if (found) *group = hard.group;
    return found;
}

/* a convolution, with Mul and Add by constants before and after it */
static bool affine(const struct assay__advice *a, size_t node, struct assay__fold_group *group)
{
    struct assay__fold_affine found;
    bool any = assay__fold_find_affine(&a->fold, node, &found);
    if (any) *group = found.group;
    return any;
}

/* --- whether they were fused ------------------------------------------------------------------ */

struct pattern {
    group_fn *find;
    const char *what;
    const char *stays; /* operators whose layers stay; NULL: the longest one does */
};

/* Layers that contain nodes of the group: their total time, and that of those that stay. A layer
 * that was already counted is not counted again. */
static size_t layers_of(const struct assay__advice *a, const struct pattern *pattern,
                        const struct assay__fold_group *group, bool *taken, double *sum,
                        double *stays)
{
    size_t seen[ASSAY__FOLD_MOST], count = 0;
    *sum = *stays = 0;
    for (size_t i = 0; i < group->count; i++) {
        size_t layer = a->layer_of[group->nodes[i]];
        bool known = layer == ASSAY__MAP_NONE || taken[layer];
        for (size_t k = 0; k < count && !known; k++)
            known = seen[k] == layer;
        if (known) continue;
        const struct assay__layer *own = &a->trial->layers.items[layer];
        double time = assay__advice_time(own);
        seen[count++] = layer;
        *sum += time;
        if (pattern->stays)
            *stays += assay__op_among(own->op, pattern->stays) ? time : 0;
        else
            *stays = fmax(*stays, time);
    }
    for (size_t k = 0; k < count && count > 1; k++) {
        taken[seen[k]] = true;
        assay__rule_about(a, seen[k]);
    }
    return count;
}

static enum assay__rule_outcome missed(struct assay__advice *a)
{
    const struct pattern *pattern = a->result->rule->with;
    bool *taken = assay__arena_array(a->arena, a->trial->layers.count + 1, sizeof *taken);
    size_t groups = 0, missed_count = 0, layers = 0, first = SIZE_MAX;
    double saved = 0, spent = 0;
    for (size_t i = 0; taken && i < a->model->graph.node_count; i++) {
        struct assay__fold_group group = {.count = 0};
        double sum, stays;
        if (!pattern->find(a, i, &group)) continue;
        groups++;
        size_t own = layers_of(a, pattern, &group, taken, &sum, &stays);
        if (own < 2) continue;
        if (missed_count++ == 0) first = i;
        layers += own;
        spent += sum;
        saved += sum - stays;
    }
    if (!missed_count) return ASSAY__RULE_NOTHING;
    double share = fmin(saved / a->p50_ns, 1);
    assay__rule_evidence(a, "%zu of %zu groups %s ran as %zu layers, such as at '%s'", missed_count,
                         groups, pattern->what, layers, assay__advice_node_name(at(a, first)));
    assay__rule_evidence(a, "they take %s %% of the latency; without the %s of each, %s %%",
                         assay__percent(spent / a->p50_ns).text,
                         pattern->stays ? "convolution" : "longest layer",
                         assay__percent(share).text);
    return assay__rule_found(a, assay__amdahl(share, (double)INFINITY));
}

static const struct pattern
    norm_pattern = {conv_norm, "of Conv and BatchNormalization", NULL},
    activation_pattern = {activation, "of a product and its activation", NULL},
    layer_norm_pattern = {layer_norm, "of the nodes of a layer normalisation", NULL},
    gelu_pattern = {gelu, "of the nodes of a Gelu", NULL},
    attention_pattern = {attention, "of MatMul, Softmax, MatMul", NULL},
    hardswish_pattern = {hardswish, "of the nodes of a HardSwish or HardSigmoid", NULL},
    affine_pattern = {affine, "of a convolution and Mul or Add by constants", "Conv|ConvTranspose"};

#define NEEDED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS | ASSAY__NEED_MODEL)

const struct assay__rule assay__rules_fusion[] = {
    {"fusion-norm", "fusion", "medium", "small", NEEDED, missed, assay__try_optimization,
     &norm_pattern, "Convolutions and their normalisation run separately",
     "Conv followed by BatchNormalization in the graph, as several layers",
     "fold the normalisation into the weights of the convolution: optimisation level basic does "
     "this when the weights are constants, or export it folded"},
    {"fusion-activation", "fusion", "medium", "small", NEEDED, missed, assay__try_optimization,
     &activation_pattern, "Products and their activations run separately",
     "Conv, Gemm or BatchNormalization followed by an activation, as several layers",
     "optimisation level extended fuses them; an activation that the engine cannot fuse can often "
     "be replaced by one that it can (Relu, Clip)"},
    {"fusion-layer-norm", "fusion", "medium", "medium", NEEDED, missed, assay__try_optimization,
     &layer_norm_pattern, "A layer normalisation runs node by node",
     "ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, as several layers",
     "export with opset 17 or newer, where LayerNormalization is one operator, or use optimisation "
     "level extended"},
    {"fusion-gelu", "fusion", "medium", "medium", NEEDED, missed, assay__try_optimization,
     &gelu_pattern, "A Gelu runs node by node", "Div, Erf, Add, Mul, as several layers",
     "export with opset 20 or newer, where Gelu is one operator, or use optimisation level "
     "extended"},
    {"fusion-attention", "fusion", "medium", "medium", NEEDED, missed, NULL, &attention_pattern,
     "Attention runs node by node", "MatMul, scale and mask, Softmax, MatMul, as several layers",
     "use the fused operator: ONNX Runtime's transformers optimizer turns them into Attention or "
     "MultiHeadAttention, and opset 23 has Attention"},
    {"fusion-hardswish", "fusion", "medium", "medium", NEEDED, missed, assay__try_fuse_hardswish,
     &hardswish_pattern, "A HardSwish runs node by node",
     "Add, Clip from 0, Mul, Div by the upper bound, as several layers",
     "replace them with HardSwish (opset 14 or newer) or with HardSigmoid and a Mul: the rewrite "
     "fuse-hardswish does this"},
    {"fusion-affine", "fusion", "medium", "medium", NEEDED, missed, assay__try_fold_affine,
     &affine_pattern, "Scales and shifts run separately from convolutions",
     "Mul, Add, Sub or Div by one number, or one per channel, before or after a convolution with "
     "constant weights, as several layers",
     "fold them into the weights and bias of the convolution: the rewrite fold-affine does this"},
    {0},
};
