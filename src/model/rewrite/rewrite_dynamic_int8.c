/* rewrite_dynamic_int8.c - MatMul, Gemm and Conv with constant weights in integers, activations
 * quantised while running:
 *
 *   x_q, s_x, z_x = DynamicQuantizeLinear(x)           uint8, one scale per tensor, once per x
 *   y_i = MatMulInteger(x_q, W_q, z_x) or ConvInteger  int32; W_q int8, zero point 0, a scale per
 *                                                      output channel
 *   y   = Cast(y_i, float32) * (s_x * s_W)  [+ bias]
 *
 * the shape that ONNX Runtime fuses into its MatMulIntegerToFloat. Gemm: alpha is folded into s_W,
 * beta into the bias, a transposed B is stored transposed; a node with transA is not changed. Not
 * changed, but counted: weights of another rank, a bias of Conv that is not constant.
 *
 * uint8 times int8 saturates in 16 bits on x86 processors without VNNI when two neighbouring
 * products exceed 32,767: results there may be wrong if weights and activations are both large. The
 * drift that `assay make` prints shows it. */
#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include <stdlib.h>

struct quantized {
    const char *data, *scale, *zero;
};

struct dynamic_rewrite {
    struct assay__model *model;
    struct assay__namer namer;
    struct assay__map *replaced;
    size_t converted, left;
    struct assay_error *error;
};

struct dynamic_scope {
    struct dynamic_rewrite *work;
    struct dynamic_scope *outer;
    struct assay__graph *graph, fresh;
    struct assay__weights weights;
    struct assay__map *inputs; /* activation -> index into `quantized` */
    struct quantized *quantized;
    size_t quantized_count;
};

static const struct assay__tensor *find_weight(const struct dynamic_scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        const struct assay__tensor *tensor = assay__weights_find(&scope->weights, name);
        if (tensor) return tensor;
    }
    return NULL;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static const char *fresh_name(struct dynamic_scope *scope, const char *base, const char *suffix)
{
    return assay__namer_make(&scope->work->namer, base, suffix);
}

/* A node with up to three inputs and one output, from which its name is derived. */
static struct assay__node *add_node(struct dynamic_scope *scope, const char *op, const char *name,
                                    const char *a, const char *b, const char *c, const char *output)
{
    const char *const inputs[] = {a, b, c};
    return assay__graph_add_node(scope->work->model, &scope->fresh, op, name, inputs,
                                 c   ? 3
                                 : b ? 2
                                     : 1,
                                 &output, 1);
}

static const struct quantized *activation(struct dynamic_scope *scope, const char *name)
{
    size_t at = assay__map_get(scope->inputs, name);
    if (at != ASSAY__MAP_NONE) return &scope->quantized[at];
    struct quantized *fresh = &scope->quantized[scope->quantized_count];
    *fresh = (struct quantized){fresh_name(scope, name, "_q"), fresh_name(scope, name, "_scale"),
                                fresh_name(scope, name, "_zero")};
    const char *label = fresh_name(scope, name, "_quantize");
    const char *const outputs[] = {fresh->data, fresh->scale, fresh->zero};
    assay__graph_add_node(scope->work->model, &scope->fresh, "DynamicQuantizeLinear", label, &name,
                          1, outputs, 3);
    if (assay__map_set(scope->inputs, name, scope->quantized_count++))
        scope->work->model->failed = true;
    return fresh;
}

struct weight {
    const char *data, *scale; /* names */
    bool usable;
};

/* Quantises W along `axis`, stored transposed if requested (rank 2), its scales times `factor`
 * shaped [channels, 1, …] with `ones` ones. */
static int make_weight(struct dynamic_scope *scope, const struct assay__tensor *tensor,
                       const char *name, int axis, bool transpose, float factor, int ones,
                       struct weight *weight)
{
    struct dynamic_rewrite *work = scope->work;
    size_t count = (size_t)tensor->elements;
    int64_t channels = tensor->dims[axis], dims[8] = {0}, shape[8] = {channels};
    float *numbers = malloc(4 * count + 1), *scales = malloc(4 * (size_t)channels + 1);
    int8_t *plain = malloc(count + 1), *data = assay__arena_alloc(work->model->arena, count);
    int code = numbers && scales && plain && data ? 0 : assay__rewrite_no_memory(work->error);
    if (!code) code = assay__tensor_floats(work->model, tensor, numbers, work->error);
    weight->usable = !code &&
                     assay__quantize(numbers, tensor->rank, tensor->dims, axis, plain, scales);
    if (code || !weight->usable) goto out;
    for (int i = 0; i < tensor->rank; i++)
        dims[i] = tensor->dims[transpose ? tensor->rank - 1 - i : i];
    for (size_t i = 0; i < count; i++)
        data[transpose ? i % (size_t)dims[0] * (size_t)dims[1] + i / (size_t)dims[0] : i] =
            plain[i];
    for (int64_t c = 0; c < channels; c++)
        scales[c] *= factor;
    for (int i = 1; i <= ones; i++)
        shape[i] = 1;
    weight->data = fresh_name(scope, name, "_q");
    weight->scale = assay__rewrite_constant(scope->graph, &work->namer, name, "_scale",
                                            ASSAY__FLOAT32, 1 + ones, shape, scales);
    assay__graph_add_initializer(work->model, scope->graph, weight->data, ASSAY__INT8, tensor->rank,
                                 dims, data, count);
    if (assay__map_set(work->replaced, name, 1)) work->model->failed = true;
out:
    free(numbers);
    free(scales);
    free(plain);
    return code;
}

/* Cast(y_i) * (s_x * s_W) [+ bias] with the node's output name at the end. */
static void rescale_result(struct dynamic_scope *scope, const char *integers, const char *x_scale,
                           const char *w_scale, const char *bias, const char *output)
{
    const char *cast = fresh_name(scope, output, "_float");
    struct assay__node *node = add_node(scope, "Cast", cast, integers, NULL, NULL, cast);
    assay__node_set_int(scope->work->model, node, "to", ASSAY__FLOAT32);
    const char *scales = fresh_name(scope, output, "_scales");
    add_node(scope, "Mul", scales, x_scale, w_scale, NULL, scales);
    const char *scaled = bias ? fresh_name(scope, output, "_scaled") : output;
    add_node(scope, "Mul", fresh_name(scope, output, "_rescale"), cast, scales, NULL, scaled);
    if (bias)
        add_node(scope, "Add", fresh_name(scope, output, "_bias"), scaled, bias, NULL, output);
}

/* A constant times `factor`, in another shape with as many elements; NULL if that fails. */
static const char *reshaped(struct dynamic_scope *scope, const struct assay__tensor *tensor,
                            const char *name, float factor, int rank, const int64_t *dims)
{
    struct dynamic_rewrite *work = scope->work;
    float *numbers = malloc(4 * (size_t)tensor->elements + 1);
    const char *made = NULL;
    if (numbers && assay__tensor_floats(work->model, tensor, numbers, work->error) == 0) {
        for (int64_t i = 0; i < tensor->elements; i++)
            numbers[i] *= factor;
        made = assay__rewrite_constant(scope->graph, &work->namer, name, "_shaped", ASSAY__FLOAT32,
                                       rank, dims, numbers);
    }
    free(numbers);
    return made && assay__map_set(work->replaced, name, 1) == 0 ? made : NULL;
}

/* --- operators -------------------------------------------------------------------------------- */

static int convert_product(struct dynamic_scope *scope, const struct assay__node *node, bool *done)
{
    struct dynamic_rewrite *work = scope->work;
    bool gemm = assay__node_is(node, "Gemm");
    bool transpose = gemm && assay__node_int(node, "transB", 0);
    const char *output = node->outputs[0], *bias = NULL;
    const struct assay__tensor *tensor = find_weight(scope, node->inputs[1]);
    float alpha = gemm ? assay__node_float(node, "alpha", 1) : 1,
          beta = gemm ? assay__node_float(node, "beta", 1) : 1;
    struct weight weight;
    if (!tensor || tensor->rank != 2 || tensor->elements == 0 ||
        find_weight(scope, node->inputs[0]) || (gemm && assay__node_int(node, "transA", 0)))
        return 0;
    int code = make_weight(scope, tensor, node->inputs[1], transpose ? 0 : 1, transpose, alpha, 0,
                           &weight);
    if (code || !weight.usable) return code;
    const struct quantized *x = activation(scope, node->inputs[0]);
    const char *name = fresh_name(scope, output, "_int");
    add_node(scope, "MatMulInteger", name, x->data, weight.data, x->zero, name);
    if (gemm && node->input_count > 2 && *node->inputs[2] && beta != 0) {
        const struct assay__tensor *c = find_weight(scope, node->inputs[2]);
        bias = node->inputs[2];
        if (beta != 1 && c) {
            bias = reshaped(scope, c, bias, beta, c->rank, c->dims);
            if (!bias) return assay__rewrite_no_memory(work->error);
        } else if (beta != 1) {
            const char *factor = assay__rewrite_constant(scope->graph, &work->namer, output,
                                                         "_beta", ASSAY__FLOAT32, 0, NULL, &beta);
            bias = assay__rewrite_emit(&work->namer, &scope->fresh, "Mul", output, "_c", bias,
                                       factor);
        }
    }
    *done = true;
    rescale_result(scope, name, x->scale, weight.scale, bias, output);
    return 0;
}

static int convert_conv(struct dynamic_scope *scope, const struct assay__node *node, bool *done)
{
    const char *output = node->outputs[0], *bias = NULL;
    const struct assay__tensor *tensor = find_weight(scope, node->inputs[1]), *b = NULL;
    bool biased = node->input_count > 2 && *node->inputs[2];
    struct weight weight;
    if (biased) b = find_weight(scope, node->inputs[2]);
    if (!tensor || tensor->rank < 3 || tensor->rank > 5 || tensor->elements == 0 ||
        (biased && !b) || find_weight(scope, node->inputs[0]))
        return 0;
    int code = make_weight(scope, tensor, node->inputs[1], 0, false, 1, tensor->rank - 2, &weight);
    if (code || !weight.usable) return code;
    const struct quantized *x = activation(scope, node->inputs[0]);
    const char *name = fresh_name(scope, output, "_int");
    struct assay__node *product = add_node(scope, "ConvInteger", name, x->data, weight.data,
                                           x->zero, name);
    if (product) { /* the same names and meanings */
        product->attrs = node->attrs;
        product->attr_count = node->attr_count;
    }
    if (biased) {
        int64_t shape[8] = {b->elements, 1, 1, 1};
        bias = reshaped(scope, b, node->inputs[2], 1, tensor->rank - 1, shape);
        if (!bias) return assay__rewrite_no_memory(scope->work->error);
    }
    *done = true;
    rescale_result(scope, name, x->scale, weight.scale, bias, output);
    return 0;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static int convert_graph(struct dynamic_rewrite *work, struct dynamic_scope *outer,
                         struct assay__graph *graph)
{
    struct dynamic_scope scope = {
        .work = work, .outer = outer, .graph = graph, .inputs = assay__map_new()};
    struct assay__graph *body;
    size_t *order = malloc((graph->node_count + 1) * sizeof *order);
    scope.quantized = calloc(graph->node_count + 1, sizeof *scope.quantized);
    int code = assay__weights_open(&scope.weights, graph);
    if (code || !scope.inputs || !scope.quantized || !order)
        code = assay__rewrite_no_memory(work->error);
    if (!code) code = assay__graph_order(graph, order, work->error);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[order[i]];
        bool product = assay__node_is_any(node, "MatMul Gemm"), conv = assay__node_is(node, "Conv"),
             done = false;
        for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
            code = convert_graph(work, &scope, body);
        if (!code && (product || conv) && node->input_count >= 2 && node->output_count == 1)
            code = conv ? convert_conv(&scope, node, &done) : convert_product(&scope, node, &done);
        work->converted += done;
        work->left += (product || conv) && !done;
        if (!done) assay__graph_push_node(work->model, &scope.fresh, node);
    }
    code = assay__rewrite_end(work->model, code, work->error);
    if (!code) {
        assay__graph_take_nodes(graph, &scope.fresh);
        if (assay__weights_sweep(graph, work->replaced))
            code = assay__rewrite_no_memory(work->error);
    }
    assay__weights_close(&scope.weights);
    assay__map_free(scope.inputs);
    free(scope.quantized);
    free(order);
    return code;
}

int assay__rewrite_dynamic_int8(struct assay__model *model, struct assay__rewrite_notes *notes,
                                struct assay_error *error)
{
    struct dynamic_rewrite rewrite = {.model = model, .error = error};
    int code = assay__rewrite_begin(model, false, notes, error);
    if (!code) code = assay__rewrite_opset(model, 13, notes, error);
    if (code) return code;
    rewrite.replaced = assay__map_new();
    if (!rewrite.replaced) return assay__rewrite_no_memory(error);
    code = assay__namer_open(&rewrite.namer, model, error);
    if (!code) code = convert_graph(&rewrite, NULL, &model->graph);
    assay__namer_close(&rewrite.namer);
    assay__map_free(rewrite.replaced);
    if (code) return code;
    if (rewrite.converted)
        assay__rewrite_note(notes, "%zu MatMul, Gemm and Conv in int8%s", rewrite.converted,
                            rewrite.left ? "" : ", none left unchanged");
    else
        assay__rewrite_note(notes, "nothing to convert: no MatMul, Gemm or Conv with constant "
                                   "float32 weights");
    if (rewrite.left)
        assay__rewrite_note(notes,
                            "%zu MatMul, Gemm and Conv left unchanged: both operands vary, or the "
                            "form of the weights is not supported",
                            rewrite.left);
    return 0;
}
