/* rewrite_opset.c - raising the operator set to at most 13, so that a rewrite may use
 * DequantizeLinear with an axis (13), DynamicQuantizeLinear (11) or ConstantOfShape (9) in an older
 * model.
 *
 * One row per operator whose form changed between sets 7 and 13 (from the operator specification's
 * change log): an attribute became an input, a default changed, a name was dropped. Every other
 * operator of these sets has the same meaning in both. First everything is checked without changing
 * anything; after one refusal the model is not changed. Sets below 7 (broadcast by attribute) and
 * experimental operators are refused. */
#include "model/op_words.h"
#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include <string.h>

#define REPLACED 1 /* result of a change that has replaced the node with other nodes */

struct upgrade {
    struct assay__model *model;
    struct assay__namer namer;
    int64_t from, to;
    bool dry; /* only ask */
    struct assay__graph *graph, fresh;
    struct assay__map *read; /* names that some node or output reads */
    size_t changed;
    struct assay_error *error;
};

static int refuse(struct upgrade *up, const struct assay__node *node, const char *why)
{
    return assay_error_set(
        up->error, ASSAY_EUNSUPPORTED,
        "operator set %lld must be raised to %lld, and '%.80s' (%s) cannot be converted: %s",
        (long long)up->from, (long long)up->to, node->name, node->op, why);
}

static const char *first_output(const struct assay__node *node)
{
    return node->output_count ? node->outputs[0] : node->name;
}

/* Attributes that became inputs. */
static const struct {
    const char *ops, *attr;
    size_t input;
    const char *missing; /* why it is refused without it; NULL: it is optional */
} moved[] = {
    {"Slice", "starts", 1, "it lacks starts or ends"},
    {"Slice", "ends", 2, "it lacks starts or ends"},
    {"Slice", "axes", 3, NULL},
    {"ReduceSum Squeeze Unsqueeze", "axes", 1, NULL},
    {"Split", "split", 1, NULL},
    {"TopK", "k", 1, "it lacks k"},
    /* with the input's type; the attributes were float32, so readers refuse other types */
    {"Clip", "min", 1, NULL},
    {"Clip", "max", 2, NULL},
    {"Pad", "pads", 1, "it lacks pads"},
    {"Pad", "value", 2, NULL},
};

static int to_inputs(struct upgrade *up, struct assay__node *node)
{
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++) {
        if (!assay__has_word(moved[i].ops, node->op)) continue;
        const struct assay__attr *attr = assay__node_attr(node, moved[i].attr);
        bool number = attr && (attr->type == ASSAY__ATTR_INT || attr->type == ASSAY__ATTR_FLOAT);
        bool real = attr && attr->type == ASSAY__ATTR_FLOAT;
        if (moved[i].missing && (!attr || (attr->type == ASSAY__ATTR_INT && attr->i < 0)))
            return refuse(up, node, moved[i].missing);
        if (!attr || up->dry) continue;
        int64_t length = number ? 1 : (int64_t)attr->count;
        const void *data = real ? (const void *)&attr->f : number ? &attr->i : attr->ints;
        const char *suffix = number ? assay__arena_printf(up->model->arena, "_%s", moved[i].attr)
                                    : moved[i].attr;
        /* Pad fills with 0 unless told otherwise */
        bool needed = !real || attr->f != 0 || strcmp(moved[i].attr, "value") != 0;
        up->model->failed |= !suffix;
        if (needed && suffix)
            assay__node_set_input(up->model, node, moved[i].input,
                                  assay__rewrite_constant(up->graph, &up->namer, first_output(node),
                                                          suffix,
                                                          real ? ASSAY__FLOAT32 : ASSAY__INT64,
                                                          real ? 0 : 1, &length, data));
        assay__node_remove_attr(node, moved[i].attr);
    }
    return 0;
}

/* In inference the ratio does not matter, but the type of the mask changed; an unused mask is
 * dropped. */
static int drop_dropout(struct upgrade *up, struct assay__node *node)
{
    bool masked = node->output_count > 1 && *node->outputs[1] &&
                  assay__map_has(up->read, node->outputs[1]);
    if (masked) return refuse(up, node, "its mask is used");
    if (up->dry) return 0;
    if (node->output_count > 1) node->output_count = 1;
    assay__node_remove_attr(node, "ratio");
    assay__node_remove_attr(node, "is_test");
    return 0;
}

static int batch_norm(struct upgrade *up, struct assay__node *node)
{
    if (assay__node_int(node, "spatial", 1) != 1) return refuse(up, node, "spatial is 0");
    if (up->dry) return 0;
    assay__node_remove_attr(node, "spatial");
    return 0;
}

static int scatter(struct upgrade *up, struct assay__node *node)
{
    if (up->dry) return 0;
    node->op = "ScatterElements";
    return 0;
}

/* Before set 13 Softmax and the like flattened to two dimensions at `axis`: y =
 * Reshape(Softmax(Flatten(x, axis), -1), Shape(x)) whatever the rank is. */
static int flat_softmax(struct upgrade *up, struct assay__node *node)
{
    if (node->input_count != 1 || node->output_count != 1) return refuse(up, node, "malformed");
    if (up->dry) return 0;
    struct assay__model *model = up->model;
    const char *input = node->inputs[0], *output = node->outputs[0];
    const char *flat = assay__namer_make(&up->namer, output, "_flat");
    const char *soft = assay__namer_make(&up->namer, output, "_soft");
    const char *shape = assay__namer_make(&up->namer, output, "_shape");
    struct assay__node *step = assay__graph_add_node(model, &up->fresh, "Flatten", flat, &input, 1,
                                                     &flat, 1);
    assay__node_set_int(model, step, "axis", assay__node_int(node, "axis", 1));
    assay__graph_add_node(model, &up->fresh, "Shape", shape, &input, 1, &shape, 1);
    step = assay__graph_add_node(model, &up->fresh, node->op, node->name, &flat, 1, &soft, 1);
    assay__node_set_int(model, step, "axis", -1);
    const char *const inputs[] = {soft, shape};
    assay__graph_add_node(model, &up->fresh, "Reshape",
                          assay__namer_make(&up->namer, node->name, "_unflat"), inputs, 2, &output,
                          1);
    return REPLACED;
}

/* Upsample, and Resize of set 10: "nearest" uses floor(x / scale) when enlarging, which set 11
 * calls asymmetric and floor. For shrinking, the older sets did not define it: refused. */
static int to_resize(struct upgrade *up, struct assay__node *node)
{
    const struct assay__attr *attr = assay__node_attr(node, "scales");
    float scales[8];
    int64_t count = 0;
    if (attr && attr->floats && attr->count <= 8) {
        count = (int64_t)attr->count;
        memcpy(scales, attr->floats, attr->count * sizeof *scales);
    } else if (node->input_count > 1) {
        const struct assay__tensor *tensor = assay__graph_initializer(up->graph, node->inputs[1]);
        if (tensor && tensor->elements <= 8 && tensor->dtype == ASSAY__FLOAT32 &&
            assay__tensor_floats(up->model, tensor, scales, NULL) == 0)
            count = tensor->elements;
    }
    if (count == 0) return refuse(up, node, "its scales are not constant");
    for (int64_t i = 0; i < count; i++)
        if (!(scales[i] >= 1)) return refuse(up, node, "it downsamples its input");
    if (up->dry) return 0;
    const char *name = assay__rewrite_constant(up->graph, &up->namer, first_output(node), "_scales",
                                               ASSAY__FLOAT32, 1, &count, scales);
    int64_t none = 0;
    const char *roi = assay__rewrite_constant(up->graph, &up->namer, first_output(node), "_roi",
                                              ASSAY__FLOAT32, 1, &none, scales);
    node->op = "Resize";
    assay__node_remove_attr(node, "scales");
    assay__node_set_input(up->model, node, 1, roi);
    assay__node_set_input(up->model, node, 2, name);
    assay__node_set_string(up->model, node, "coordinate_transformation_mode", "asymmetric");
    assay__node_set_string(up->model, node, "nearest_mode", "floor");
    return 0;
}

static int never(struct upgrade *up, struct assay__node *node)
{
    return refuse(up, node, "its meaning changed or it was removed");
}

static const struct {
    const char *ops;
    int64_t since; /* set in which they changed */
    int (*change)(struct upgrade *up, struct assay__node *node);
} rows[] = {
    {"BatchNormalization", 9, batch_norm},
    {"Scan", 9, never},
    {"Upsample", 10, to_resize},
    {"Resize", 11, to_resize},
    {"Slice", 10, to_inputs},
    {"TopK", 10, to_inputs},
    {"Clip", 11, to_inputs},
    {"Pad", 11, to_inputs},
    {"Scatter", 11, scatter},
    {"Dropout", 12, drop_dropout},
    {"Softmax LogSoftmax Hardmax", 13, flat_softmax},
    {"ReduceSum Squeeze Unsqueeze Split", 13, to_inputs},
    {"ATen Affine Crop DynamicSlice GRUUnit GivenTensorFill ImageScaler ParametricSoftplus Scale "
     "ScaledTanh",
     13, never},
};

static int upgrade_graph(void *context, struct assay__graph *graph)
{
    struct upgrade *up = context;
    up->graph = graph;
    up->fresh = (struct assay__graph){.name = ""};
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        int answer = 0;
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            if (!assay__node_is_any(node, rows[k].ops) || rows[k].since <= up->from ||
                rows[k].since > up->to)
                continue;
            up->changed++;
            answer = rows[k].change(up, node);
            break;
        }
        if (answer < 0) return answer;
        if (!up->dry && answer != REPLACED) assay__graph_push_node(up->model, &up->fresh, node);
    }
    if (!up->dry) assay__graph_take_nodes(graph, &up->fresh);
    return 0;
}

static int note_read(void *context, const char *name)
{
    return assay__map_set(context, name, 1);
}

static int note_reads(void *context, struct assay__graph *graph)
{
    int code = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++)
        code = assay__rewrite_reads(&graph->nodes[i], note_read, context);
    for (size_t i = 0; i < graph->output_count && !code; i++)
        code = note_read(context, graph->outputs[i].name);
    return code;
}

int assay__rewrite_opset(struct assay__model *model, int64_t version,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct upgrade up = {.model = model, .to = version, .dry = true, .error = error};
    struct assay__opset *opset = NULL;
    for (size_t i = 0; i < model->opset_count; i++)
        if (!*model->opsets[i].domain || strcmp(model->opsets[i].domain, "ai.onnx") == 0)
            opset = &model->opsets[i];
    if (!opset)
        return assay_error_set(error, ASSAY_EFORMAT, "the model has no ai.onnx operator set");
    up.from = opset->version;
    if (up.from >= version) return 0;
    if (up.from < 7)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "operator set %lld is older than 7 and cannot be raised to %lld",
                               (long long)up.from, (long long)version);
    up.read = assay__map_new();
    int code = up.read ? assay__rewrite_each_graph(&model->graph, note_reads, up.read)
                       : ASSAY_ENOMEM;
    if (code) code = assay__rewrite_no_memory(error);
    if (!code) code = assay__rewrite_each_graph(&model->graph, upgrade_graph, &up);
    if (!code) code = assay__namer_open(&up.namer, model, error);
    up.dry = false;
    up.changed = 0;
    if (!code) code = assay__rewrite_each_graph(&model->graph, upgrade_graph, &up);
    assay__namer_close(&up.namer);
    assay__map_free(up.read);
    code = assay__rewrite_end(model, code, error);
    if (code) return code;
    opset->version = version;
    /* Set 13 came with IR 7. */
    if (version >= 13 && model->ir_version < 7) model->ir_version = 7;
    assay__rewrite_note(notes, "operator set raised from %lld to %lld, %zu operators rewritten",
                        (long long)up.from, (long long)version, up.changed);
    return 0;
}
