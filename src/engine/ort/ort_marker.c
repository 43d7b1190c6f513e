/* ort_marker.c - the marker operator.
 *
 * One input and one output of any tensor type, the output aliased to the input: no data moves. A
 * run of it reads the clock, requests its output, and reads the clock again; both readings go to
 * the next free entry of a preallocated array. In a counting pass (ort_counted.c) it also reads the
 * counters in between, on entry and on exit.
 *
 * Two things decide how much it disturbs the graph around it:
 *  - It passes shapes on (shape inference). Otherwise the engine no longer knows the shapes
 *    after a marker, plans memory differently, and the model itself becomes slower or faster. A
 *    dimension that is neither known nor named gets a unique name: the engine refuses -1 there,
 *    and a shared name would claim that two sizes are equal.
 *  - It is light: where the shape cannot change between runs (attribute "fixed") it is kept from
 *    the first run, and so is the finding that input and output are the same memory, which the
 *    engine's memory plan decides once per session.
 *
 * To shape inference a value of unknown rank looks like a scalar. So rank 0 is passed on only by
 * the second operator, used where a run has shown a scalar. A marker that is given a separate
 * buffer copies the data, and counts that.
 *
 * On a device it is the host's side of a node that launches nothing: it must never be given memory
 * of its own, which it could not fill.
 *
 * Attributes: id (int), fixed (int, 0 or 1). Not safe for two runs of one session at a time. */
#include "engine/ort/ort_layers.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_session.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct marker_op {
    OrtCustomOp base; /* first: the library passes this address back */
    const char *name;
    const struct assay__ort *ort;
    struct assay__marker_log *log;
    const char *provider; /* it runs on; NULL: the CPU */
    bool rank_zero;       /* rank 0 means a scalar */
};

struct assay__marker_ops {
    const struct assay__ort *ort;
    OrtCustomOpDomain *domain;
    struct marker_op general, scalar;
};

struct marker_kernel {
    const struct assay__ort *ort;
    struct assay__marker_log *log;
    uint32_t id;
    bool fixed;   /* the shape is the same in every run */
    bool settled; /* dims are known and the output is the input */
    struct assay__ort_shape shape;
};

/* --- running ---------------------------------------------------------------------------------- */

static OrtStatus *copy_strings(const struct assay__ort *ort, const OrtValue *from, OrtValue *to,
                               size_t count)
{
    size_t length = 0;
    OrtStatus *status = ort->get_string_tensor_data_length(from, &length);
    if (status) return status;
    char *text = malloc(length + count + 1);
    size_t *offsets = malloc((count + 1) * sizeof *offsets);
    const char **list = malloc((count + 1) * sizeof *list);
    char *separated = malloc(length + count + 1);
    if (!text || !offsets || !list || !separated)
        status = ort->create_status(ASSAY__ORT_FAIL, "marker: out of memory");
    if (!status) status = ort->get_string_tensor_content(from, text, length, offsets, count);
    if (!status) {
        size_t at = 0;
        for (size_t i = 0; i < count; i++) {
            size_t end = i + 1 < count ? offsets[i + 1] : length;
            list[i] = &separated[at];
            memcpy(&separated[at], &text[offsets[i]], end - offsets[i]);
            at += end - offsets[i];
            separated[at++] = '\0';
        }
        status = ort->fill_string_tensor(to, list, count);
    }
    free(text);
    free(offsets);
    free(list);
    free(separated);
    return status;
}

/** Copies if the engine did not alias. *same: it did. */
static OrtStatus *pass_on(struct marker_kernel *kernel, const OrtValue *input, OrtValue *output,
                          bool *same)
{
    const struct assay__ort *ort = kernel->ort;
    const struct assay__ort_shape *shape = &kernel->shape;
    void *from = NULL, *to = NULL;
    OrtStatus *status = ort->get_tensor_mutable_data((OrtValue *)input, &from);
    if (!status) status = ort->get_tensor_mutable_data(output, &to);
    if (status) return status;
    *same = from == to || shape->count == 0;
    if (*same) return NULL;
    kernel->log->copies++;
    if (kernel->log->on_device)
        return ort->create_status(ASSAY__ORT_NOT_IMPLEMENTED, "marker: given memory of its own");
    if (shape->element == ASSAY__ORT_ELEMENT_STRING)
        return copy_strings(ort, input, output, shape->count);
    size_t bytes = assay__ort_shape_bytes(shape);
    if (!bytes) return ort->create_status(ASSAY__ORT_NOT_IMPLEMENTED, "marker: unsupported type");
    memcpy(to, from, bytes);
    return NULL;
}

/** The slow path: query the shape, create the output, check whether it is the input. */
static OrtStatus *compute_unsettled(struct marker_kernel *kernel, OrtKernelContext *context)
{
    const struct assay__ort *ort = kernel->ort;
    const OrtValue *input = NULL;
    OrtValue *output = NULL;
    struct assay__ort_shape *shape = &kernel->shape;
    OrtStatus *status = ort->kernel_context_get_input(context, 0, &input);
    if (!status && !input) return ort->create_status(ASSAY__ORT_FAIL, "marker: no input");
    if (!status) status = assay__ort_shape_read(ort, input, shape);
    if (!status)
        status = ort->kernel_context_get_output(context, 0, shape->dims, shape->rank, &output);
    bool same = false;
    if (!status && output) status = pass_on(kernel, input, output, &same);
    if (!status && kernel->log->scalars) kernel->log->scalars[kernel->id] = shape->rank == 0;
    if (!status) kernel->settled = kernel->fixed && (same || !output);
    return status;
}

/** Counters on a marker's entry (edge 0) or exit (1). */
static void count(struct assay__marker_log *log, size_t event, size_t edge)
{
    const struct assay__layer_counters *counters = log->counters;
    if (event >= log->capacity) return;
    counters->read(counters->context, log->counts + (2 * event + edge) * counters->count);
}

static OrtStatus *marker_compute(void *opaque, OrtKernelContext *context)
{
    uint64_t entry_ns = assay__now_ns();
    struct marker_kernel *kernel = opaque;
    struct assay__marker_log *log = kernel->log;
    if (log->counters) count(log, log->count, 0);
    OrtValue *output = NULL;
    OrtStatus *status = kernel->settled
                            ? kernel->ort->kernel_context_get_output(context, 0, kernel->shape.dims,
                                                                     kernel->shape.rank, &output)
                            : compute_unsettled(kernel, context);
    if (log->passed) log->passed(log->passed_context);
    if (log->count >= log->capacity) {
        log->dropped++;
        return status;
    }
    struct assay__marker_event *event = &log->events[log->count++];
    event->id = kernel->id;
    event->entry_ns = entry_ns;
    if (log->counters) count(log, log->count - 1, 1);
    event->exit_ns = assay__now_ns();
    return status;
}

/* --- creating --------------------------------------------------------------------------------- */

static OrtStatus *marker_create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                                void **result)
{
    const struct marker_op *own = (const struct marker_op *)(const void *)op;
    int64_t id = 0, fixed = 0;
    (void)api; /* the table we loaded is the same */
    OrtStatus *status = own->ort->kernel_info_get_attribute_int64(info, "id", &id);
    if (!status) status = own->ort->kernel_info_get_attribute_int64(info, "fixed", &fixed);
    if (status) return status;
    if (id < 0 || (uint64_t)id >= own->log->capacity)
        return own->ort->create_status(ASSAY__ORT_FAIL, "marker: id out of range");
    struct marker_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return own->ort->create_status(ASSAY__ORT_FAIL, "marker: out of memory");
    *kernel = (struct marker_kernel){
        .ort = own->ort, .log = own->log, .id = (uint32_t)id, .fixed = fixed != 0};
    *result = kernel;
    return NULL;
}

static void *marker_create_old(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info)
{
    void *kernel = NULL;
    const struct marker_op *own = (const struct marker_op *)(const void *)op;
    assay__ort_ignore(own->ort, marker_create(op, api, info, &kernel));
    return kernel;
}

static void marker_compute_old(void *kernel, OrtKernelContext *context)
{
    assay__ort_ignore(((struct marker_kernel *)kernel)->ort, marker_compute(kernel, context));
}

static void marker_destroy(void *kernel)
{
    free(kernel);
}

/* --- shape inference -------------------------------------------------------------------------- */

static int64_t marker_id(const struct assay__ort *ort, OrtShapeInferContext *context)
{
    const OrtOpAttr *attr = NULL;
    int64_t id = -1;
    size_t size = 0;
    OrtStatus *status = ort->shape_infer_context_get_attribute(context, "id", &attr);
    if (!status) status = ort->read_op_attr(attr, ASSAY__ORT_ATTR_INT, &id, sizeof id, &size);
    assay__ort_ignore(ort, status);
    return id;
}

/** Names the dimensions that are neither known nor named: assay_<marker>_<axis>. */
static OrtStatus *name_unknown(const struct assay__ort *ort, OrtShapeInferContext *context,
                               OrtTensorTypeAndShapeInfo *info, size_t rank)
{
    int64_t dims[ASSAY__ORT_RANK_MOST];
    const char *symbols[ASSAY__ORT_RANK_MOST];
    char names[ASSAY__ORT_RANK_MOST][48];
    bool changed = false;
    int64_t id = -1;
    OrtStatus *status = ort->get_dimensions(info, dims, rank);
    if (!status) status = ort->get_symbolic_dimensions(info, symbols, rank);
    for (size_t i = 0; !status && i < rank; i++) {
        if (dims[i] >= 0 || symbols[i][0]) continue;
        if (!changed) id = marker_id(ort, context);
        snprintf(names[i], sizeof names[i], "assay_%lld_%zu", (long long)id, i);
        symbols[i] = names[i];
        changed = true;
    }
    return status || !changed ? status : ort->set_symbolic_dimensions(info, symbols, rank);
}

/** The library ignores (and leaks) a status returned here, so none is returned: the shape then
 * stays unknown. */
static OrtStatus *marker_infer(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    const struct marker_op *own = (const struct marker_op *)(const void *)op;
    const struct assay__ort *ort = own->ort;
    OrtTensorTypeAndShapeInfo *info = NULL;
    size_t rank = 0;
    OrtStatus *status = ort->shape_infer_context_get_input_type_shape(context, 0, &info);
    if (!status) status = ort->get_dimensions_count(info, &rank);
    if (!status && rank <= ASSAY__ORT_RANK_MOST && (rank || own->rank_zero)) {
        if (rank) status = name_unknown(ort, context, info, rank);
        if (!status) status = ort->shape_infer_context_set_output_type_shape(context, 0, info);
    }
    assay__ort_ignore(ort, status);
    return NULL;
}

/* --- what the library queries about the operator ---------------------------------------------- */

static const char *marker_name(const OrtCustomOp *op)
{
    return ((const struct marker_op *)(const void *)op)->name;
}

static const char *marker_provider(const OrtCustomOp *op)
{
    return ((const struct marker_op *)(const void *)op)->provider;
}

/* For either input or output. 0 means any element type (the output has that of the input), that it
 * is required, and that it is in the default memory. */
static int marker_zero(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return 0;
}
_Static_assert(ASSAY__ORT_ELEMENT_UNDEFINED == 0 && ASSAY__ORT_IO_REQUIRED == 0 &&
                   ASSAY__ORT_MEM_DEFAULT == 0,
               "the result of marker_zero");

static size_t marker_count(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static int marker_arity(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static size_t marker_alias(int **input, int **output)
{
    static int zero_input = 0, zero_output = 0;
    *input = &zero_input;
    *output = &zero_output;
    return 1;
}

static size_t marker_no_inplace(int **input, int **output)
{
    *input = NULL;
    *output = NULL;
    return 0;
}

static void marker_release_map(int *input, int *output)
{
    (void)input, (void)output;
}

static struct marker_op marker_op(const struct assay__ort *ort, struct assay__marker_log *log,
                                  const char *provider, const char *name, bool rank_zero)
{
    OrtCustomOp base = {
        .version = (uint32_t)ort->api_version,
        .CreateKernel = marker_create_old,
        .GetName = marker_name,
        .GetExecutionProviderType = marker_provider,
        .GetInputType = marker_zero,
        .GetInputTypeCount = marker_count,
        .GetOutputType = marker_zero,
        .GetOutputTypeCount = marker_count,
        .KernelCompute = marker_compute_old,
        .KernelDestroy = marker_destroy,
        .GetInputCharacteristic = marker_zero,
        .GetOutputCharacteristic = marker_zero,
        .GetInputMemoryType = marker_zero,
        .GetVariadicInputMinArity = marker_arity,
        .GetVariadicInputHomogeneity = marker_arity,
        .GetVariadicOutputMinArity = marker_arity,
        .GetVariadicOutputHomogeneity = marker_arity,
        .CreateKernelV2 = marker_create,
        .KernelComputeV2 = marker_compute,
        .InferOutputShapeFn = marker_infer,
        .GetMayInplace = marker_no_inplace,
        .ReleaseMayInplace = marker_release_map,
        .GetAliasMap = marker_alias,
        .ReleaseAliasMap = marker_release_map,
    };
    return (struct marker_op){base, name, ort, log, provider, rank_zero};
}

int assay__marker_ops_new(const struct assay__ort *ort, struct assay__marker_log *log,
                          const char *provider, struct assay__marker_ops **result,
                          struct assay_error *error)
{
    *result = NULL;
    if (ort->api_version < ASSAY__MARKER_API || !ort->shape_infer_context_set_output_type_shape ||
        !ort->set_symbolic_dimensions || !ort->read_op_attr)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "markers need ONNX Runtime 1.%d or newer; this is %s",
                               ASSAY__MARKER_API, ort->version);
    struct assay__marker_ops *ops = calloc(1, sizeof *ops);
    if (!ops) return assay__no_memory(error);
    ops->ort = ort;
    ops->general = marker_op(ort, log, provider, ASSAY__MARKER_OP, false);
    ops->scalar = marker_op(ort, log, provider, ASSAY__MARKER_OP_SCALAR, true);
    OrtStatus *status = ort->create_custom_op_domain(ASSAY__MARKER_DOMAIN, &ops->domain);
    if (!status) status = ort->custom_op_domain_add(ops->domain, &ops->general.base);
    if (!status) status = ort->custom_op_domain_add(ops->domain, &ops->scalar.base);
    int code = assay__ort_check(ort, status, error, "cannot create the marker operator");
    if (code) {
        assay__marker_ops_free(ops);
        return code;
    }
    *result = ops;
    return 0;
}

int assay__marker_ops_add(struct assay__marker_ops *ops, OrtSessionOptions *options,
                          struct assay_error *error)
{
    return assay__ort_check(ops->ort, ops->ort->add_custom_op_domain(options, ops->domain), error,
                            "cannot add the marker operator");
}

void assay__marker_ops_free(struct assay__marker_ops *ops)
{
    if (!ops) return;
    if (ops->domain) ops->ort->release_custom_op_domain(ops->domain);
    free(ops);
}
