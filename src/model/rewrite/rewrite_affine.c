/* rewrite_affine.c - Mul, Add, Sub and Div by a constant, one number or one per channel, are folded
 * into the adjacent convolution. With y = W x + b, after it: s y + t = (s W) x + (s b + t); before
 * it: W (s x + t) + b = (W s) x + (b + W t), if nothing is padded. Sums are computed in double and
 * rounded once. A fold whose numbers are not all finite is skipped. */
#include "model/rewrite/fold.h"

#include "model/tensor_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS "Mul Add Sub Div"

static bool is_zero(const struct assay__attr *attr)
{
    for (size_t i = 0; attr && i < attr->count; i++)
        if (!attr->ints || attr->ints[i]) return false;
    return true;
}

/* Whether the convolution sees nothing but its input (no padding). */
static bool unpadded(const struct assay__node *node)
{
    const struct assay__attr *automatic = assay__node_attr(node, "auto_pad");
    const char *how = automatic && automatic->s ? automatic->s : "NOTSET";
    return strcmp(how, "VALID") == 0 ||
           (strcmp(how, "NOTSET") == 0 && is_zero(assay__node_attr(node, "pads")));
}

/* One number, or one per channel (axis 1 of `rank` axes). */
static bool per_channel(const struct assay__tensor *tensor, int rank, int64_t channels)
{
    if (tensor->rank > rank) return false;
    for (int i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] != 1 && (rank - tensor->rank + i != 1 || tensor->dims[i] != channels))
            return false;
    return tensor->elements >= 1;
}

/* The value that node `at` multiplies or shifts; NULL: it does something else. */
static const char *step(const struct assay__fold_graph *fold, size_t at, int rank, int64_t channels,
                        bool scale_only)
{
    const struct assay__tensor *constant = NULL;
    if (at >= fold->graph->node_count || fold->gone[at]) return NULL;
    const struct assay__node *node = &fold->graph->nodes[at];
    if (!assay__node_is_any(node, scale_only ? "Mul Div" : STEPS)) return NULL;
    const char *x = assay__fold_operand(fold, node, &constant);
    if (!x || !per_channel(constant, rank, channels)) return NULL;
    bool turned = assay__node_is(node, "Div") && x == node->inputs[1]; /* constant / x */
    return turned ? NULL : x;
}

/* The channels of a convolution whose weights and bias are constants of the right form. */
static const struct assay__tensor *weights_of(const struct assay__fold_graph *fold,
                                              const struct assay__node *node,
                                              struct assay__fold_affine *affine)
{
    bool transposed = assay__node_is(node, "ConvTranspose");
    if ((!transposed && !assay__node_is(node, "Conv")) || node->input_count < 2 ||
        node->output_count != 1)
        return NULL;
    const struct assay__tensor *w = assay__fold_constant(fold, node->inputs[1]);
    int64_t group = assay__node_int(node, "group", 1);
    if (!w || w->rank < 3 || w->elements < 1 || group < 1 || group > w->dims[0] ||
        w->dims[0] % group)
        return NULL;
    /* group divides dims[0], and dims[0] * dims[1] <= elements: no product overflows */
    affine->channels_in = transposed ? w->dims[0] : w->dims[1] * group;
    affine->channels_out = transposed ? w->dims[1] * group : w->dims[0];
    if (node->input_count < 3 || !*node->inputs[2]) return w;
    const struct assay__tensor *bias = assay__fold_constant(fold, node->inputs[2]);
    return bias && bias->elements == affine->channels_out ? w : NULL;
}

bool assay__fold_find_affine(const struct assay__fold_graph *fold, size_t node,
                             struct assay__fold_affine *affine)
{
    size_t chain[ASSAY__FOLD_MOST / 2], before = 0;
    *affine = (struct assay__fold_affine){.before = 0};
    if (fold->gone[node]) return false;
    const struct assay__node *conv = &fold->graph->nodes[node];
    const struct assay__tensor *w = weights_of(fold, conv, affine);
    if (!w) return false;
    const char *x = conv->inputs[0];
    bool none = assay__node_is(conv, "ConvTranspose"), scale_only = !unpadded(conv);
    for (size_t reader = node; !none && before < ASSAY__FOLD_MOST / 2; before++) {
        size_t made = assay__fold_producer(fold, x);
        if (assay__fold_only_reader(fold, made) != reader) break;
        const char *from = step(fold, made, w->rank, affine->channels_in, scale_only);
        if (!from) break;
        chain[before] = reader = made;
        x = from;
    }
    struct assay__fold_group *group = &affine->group;
    affine->before = before;
    while (before)
        group->nodes[group->count++] = chain[--before];
    group->nodes[group->count++] = node;
    for (size_t last = node; group->count < ASSAY__FOLD_MOST;) {
        last = assay__fold_only_reader(fold, last);
        if (!step(fold, last, w->rank, affine->channels_out, false)) break;
        group->nodes[group->count++] = last;
    }
    return group->count > 1;
}

/* --- the rewrite ------------------------------------------------------------------------------ */

struct affine_rewrite {
    struct assay__model *model;
    struct assay__namer namer;
    struct assay__graph *graph;
    struct assay__fold_graph fold;
    size_t folded, removed, left;
    struct assay_error *error;
};

/* s x + t of each channel. */
struct channels {
    double *s, *t;
    int64_t count;
};

static bool channels_open(struct channels *c, int64_t count)
{
    c->count = count;
    c->s = calloc((size_t)count, sizeof *c->s);
    c->t = calloc((size_t)count, sizeof *c->t);
    for (int64_t i = 0; c->s && i < count; i++)
        c->s[i] = 1;
    return c->s && c->t;
}

static void channels_close(struct channels *c)
{
    free(c->s);
    free(c->t);
}

static float *numbers_of(struct affine_rewrite *work, const struct assay__tensor *tensor)
{
    float *numbers = malloc((size_t)tensor->elements * sizeof *numbers);
    if (!numbers)
        assay__rewrite_no_memory(work->error);
    else if (!assay__tensor_floats(work->model, tensor, numbers, work->error))
        return numbers;
    free(numbers);
    return NULL;
}

/* Appends the node's operation to the existing ones. */
static int then(struct affine_rewrite *work, struct channels *c, size_t at)
{
    const struct assay__node *node = &work->graph->nodes[at];
    const struct assay__tensor *constant = NULL;
    const char *x = assay__fold_operand(&work->fold, node, &constant);
    float *numbers = numbers_of(work, constant);
    if (!numbers) return work->error->code;
    bool turned = x == node->inputs[1]; /* constant - x */
    for (int64_t i = 0; i < c->count; i++) {
        double k = (double)numbers[constant->elements > 1 ? i : 0], s = 1, t = 0;
        switch (node->op[0]) {
        case 'M': s = k; break;
        case 'D': s = 1 / k; break;
        case 'A': t = k; break;
        default: s = turned ? -1 : 1, t = turned ? k : -k; break;
        }
        c->s[i] *= s;
        c->t[i] = c->t[i] * s + t;
    }
    free(numbers);
    return 0;
}

/* The channels of weight i: those that it reads and writes. */
static void weight_channels(const struct assay__tensor *w, int64_t group, bool transposed,
                            int64_t i, int64_t *in, int64_t *out)
{
    int64_t inner = w->elements / (w->dims[0] * w->dims[1]), first = i / inner / w->dims[1],
            second = i / inner % w->dims[1], of = first / (w->dims[0] / group);
    *in = transposed ? first : of * w->dims[1] + second;
    *out = transposed ? of * w->dims[1] + second : first;
}

/* The new weights and bias. False: one of them is not finite. */
static bool fold_numbers(const struct assay__node *conv, const struct assay__tensor *w,
                         const struct channels *before, const struct channels *after,
                         float *weights, float *bias)
{
    int64_t group = assay__node_int(conv, "group", 1), in, out;
    bool transposed = assay__node_is(conv, "ConvTranspose"), finite = true;
    double *sums = calloc((size_t)after->count, sizeof *sums);
    for (int64_t i = 0; sums && i < w->elements; i++) {
        weight_channels(w, group, transposed, i, &in, &out);
        sums[out] += (double)weights[i] * before->t[in];
        weights[i] = (float)((double)weights[i] * before->s[in] * after->s[out]);
        finite &= isfinite(weights[i]);
    }
    for (int64_t c = 0; sums && c < after->count; c++) {
        bias[c] = (float)(((double)bias[c] + sums[c]) * after->s[c] + after->t[c]);
        finite &= isfinite(bias[c]);
    }
    finite &= sums != NULL;
    free(sums);
    return finite;
}

/* The convolution with its new numbers, in its place: it reads what the first node of the group
 * read, and writes what the last one wrote. */
static void replace(struct affine_rewrite *work, const struct assay__fold_affine *affine,
                    const struct assay__tensor *w, const float *weights, const float *bias)
{
    const struct assay__fold_group *group = &affine->group;
    const struct assay__node *nodes = work->graph->nodes, *first = &nodes[group->nodes[0]],
                             *last = &nodes[group->nodes[group->count - 1]];
    size_t at = group->nodes[affine->before];
    struct assay__node *conv = &work->graph->nodes[at];
    const struct assay__tensor *constant;
    const char *x = affine->before ? assay__fold_operand(&work->fold, first, &constant)
                                   : conv->inputs[0];
    const char *base = conv->inputs[1];
    const char **outputs = assay__arena_array(work->model->arena, 1, sizeof *outputs);
    work->model->failed |= !outputs;
    if (!outputs) return;
    outputs[0] = last->outputs[0];
    assay__node_set_input(work->model, conv, 0, x);
    assay__node_set_input(work->model, conv, 1,
                          assay__rewrite_constant(work->graph, &work->namer, base, "_folded",
                                                  ASSAY__FLOAT32, w->rank, w->dims, weights));
    assay__node_set_input(work->model, conv, 2,
                          assay__rewrite_constant(work->graph, &work->namer, base, "_folded_bias",
                                                  ASSAY__FLOAT32, 1, &affine->channels_out, bias));
    conv->outputs = outputs;
    work->fold.gone[at] = false; /* it stays, but is not considered again */
    work->folded++;
    work->removed += group->count - 1;
}

static int fold_one(struct affine_rewrite *work, const struct assay__fold_affine *affine,
                    struct assay__map *read)
{
    const struct assay__fold_group *group = &affine->group;
    const struct assay__node *conv = &work->graph->nodes[group->nodes[affine->before]];
    const struct assay__tensor *w = assay__fold_constant(&work->fold, conv->inputs[1]), *given;
    struct channels before = {0}, after = {0};
    float *weights = numbers_of(work, w), *bias = NULL;
    bool memory = weights && channels_open(&before, affine->channels_in) &&
                  channels_open(&after, affine->channels_out);
    int code = memory ? 0 : work->error->code ? work->error->code : ASSAY_ENOMEM;
    bool has = conv->input_count > 2 && *conv->inputs[2];
    given = has ? assay__fold_constant(&work->fold, conv->inputs[2]) : NULL;
    if (!code) bias = given ? numbers_of(work, given) : calloc((size_t)after.count, sizeof *bias);
    if (!code && !bias) code = work->error->code ? work->error->code : ASSAY_ENOMEM;
    for (size_t i = 0; i < group->count && !code; i++)
        if (i != affine->before)
            code = then(work, i < affine->before ? &before : &after, group->nodes[i]);
    if (!code && fold_numbers(conv, w, &before, &after, weights, bias)) {
        code = assay__fold_take(&work->fold, group, read);
        if (!code) replace(work, affine, w, weights, bias);
    } else if (!code) {
        work->left++;
    }
    channels_close(&before);
    channels_close(&after);
    free(weights);
    free(bias);
    return code == ASSAY_ENOMEM ? assay__rewrite_no_memory(work->error) : code;
}

static int fold_graph(void *context, struct assay__graph *graph)
{
    struct affine_rewrite *work = context;
    struct assay__fold_affine affine;
    struct assay__map *read = assay__map_new();
    size_t kept = 0;
    work->graph = graph;
    int code = assay__fold_open(&work->fold, graph);
    if (code || !read) code = assay__rewrite_no_memory(work->error);
    for (size_t i = 0; i < graph->node_count && !code; i++)
        if (assay__fold_find_affine(&work->fold, i, &affine)) code = fold_one(work, &affine, read);
    for (size_t i = 0; i < graph->node_count && !code; i++)
        if (!work->fold.gone[i]) graph->nodes[kept++] = graph->nodes[i];
    if (!code) graph->node_count = kept;
    if (!code && assay__weights_sweep(graph, read)) code = assay__rewrite_no_memory(work->error);
    assay__map_free(read);
    assay__fold_close(&work->fold);
    return assay__rewrite_end(work->model, code, work->error);
}

static int apply_affine(struct assay__model *model, const struct assay__rewrite_request *request,
                        struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct assay_error own = {0};
    struct affine_rewrite work = {.model = model, .error = error ? error : &own};
    (void)request;
    int code = assay__rewrite_begin(model, false, notes, error);
    if (!code) code = assay__namer_open(&work.namer, model, error);
    if (!code) code = assay__rewrite_each_graph(&model->graph, fold_graph, &work);
    assay__namer_close(&work.namer);
    if (code) return code;
    if (work.folded)
        assay__rewrite_note(notes, "%zu nodes (Mul, Add, Sub, Div) folded into %zu convolutions",
                            work.removed, work.folded);
    else
        assay__rewrite_note(notes, "nothing to fold: no convolution has a Mul, Add, Sub or Div by "
                                   "one number, or one per channel, next to it");
    if (work.left)
        assay__rewrite_note(notes,
                            "%zu convolutions left unchanged: their new values would not be finite",
                            work.left);
    return 0;
}

const struct assay__rewriter assay__rewriter_affine = {.step = "fold-affine",
                                                       .apply = apply_affine};
