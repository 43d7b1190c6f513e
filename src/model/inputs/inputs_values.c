/* inputs_values.c - values that are valid for the model: what consumes an input (inputs_trace.c)
 * says what it may hold: ids are below the rows of the table that Gather looks them up in, lengths
 * are the length of their axis, a value that decides a shape cannot be made up. Where the graph
 * says nothing, the name helps (mask, position, …); where that says nothing either: floats in [-1,
 * 1), integers 0 and 1. The plan's `why` says what led to a choice; what was chosen is in the
 * numbers. */
#include "model/inputs/inputs_trace.h"

#include <math.h>
#include <string.h>

static int64_t elements_of(const struct assay__input_plan *plan)
{
    int64_t product = 1;
    for (int i = 0; i < plan->rank; i++)
        product *= plan->dims[i]; /* checked when the shape was fixed */
    return product;
}

static void choose(struct assay__input_plan *plan, enum assay__fill fill, double low, double high,
                   const char *why)
{
    plan->fill = fill;
    plan->low = low;
    plan->high = high;
    plan->why = why;
}

static bool looks_like_mask(const char *name)
{
    return assay__name_has(name, "mask");
}

static void decide_operand(struct assay__input_plan *plan,
                           const struct assay__input_finding *finding)
{
    const struct assay__input_operand *operand = finding->operand;
    double value = finding->operand_inverted ? 1 - operand->value : operand->value;
    choose(plan, ASSAY__FILL_CONSTANT, value, value, operand->why);
}

static void decide_bool(struct assay__input_plan *plan, const struct assay__input_finding *finding)
{
    if (finding->condition)
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "the condition of an If or Loop");
    else if (finding->operand)
        decide_operand(plan, finding);
    else if (finding->true_hides == 1 ||
             (finding->true_hides < 0 && assay__name_has(plan->name, "padding_mask")))
        choose(plan, ASSAY__FILL_CONSTANT, 0, 0, "true would mask out");
    else if (finding->true_hides == 0 || looks_like_mask(plan->name))
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "nothing is masked out");
    else
        choose(plan, ASSAY__FILL_INTEGERS, 0, 1, "");
}

/* The limits of a small integer type, as far as they matter. */
static void integer_range(enum assay__dtype dtype, double *low, double *high)
{
    *low = 0;
    *high = 1;
    switch (dtype) {
    case ASSAY__UINT8: *high = 255; break;
    case ASSAY__INT8: *low = -128, *high = 127; break;
    case ASSAY__UINT4: *high = 15; break;
    case ASSAY__INT4: *low = -8, *high = 7; break;
    case ASSAY__UINT2: *high = 3; break;
    case ASSAY__INT2: *low = -2, *high = 1; break;
    default: break;
    }
}

static int decide_bounded(struct assay__input_tracer *tracer, struct assay__input_plan *plan,
                          const struct assay__input_finding *finding)
{
    double low, high, top = fmin((double)(finding->bound - 1), 9e15);
    integer_range(plan->dtype, &low, &high);
    if (plan->dtype != ASSAY__INT64 && plan->dtype != ASSAY__INT32 &&
        assay__dtype_bits(plan->dtype) <= 8 && high < top)
        top = high;
    bool positions = assay__name_has(plan->name, "position");
    low = finding->least > 0 && (double)finding->least <= top ? (double)finding->least : 0;
    choose(plan, positions && low == 0 ? ASSAY__FILL_RANGE : ASSAY__FILL_INTEGERS, low, top,
           assay__arena_printf(tracer->arena, "rows of '%s' (%s)", finding->bound_table,
                               finding->bound_op));
    return plan->why ? 0 : ASSAY_ENOMEM;
}

static int decide_integer(struct assay__input_tracer *tracer,
                          const struct assay__workload *workload, struct assay__input_plan *plan,
                          const struct assay__input_finding *finding)
{
    double low, high;
    const char *name = plan->name;
    integer_range(plan->dtype, &low, &high);
    if (finding->length >= 0) {
        choose(
            plan, ASSAY__FILL_CONSTANT, (double)finding->length, 0,
            assay__arena_printf(tracer->arena, "the length of its axis (%s)", finding->length_op));
        return plan->why ? 0 : ASSAY_ENOMEM;
    }
    if (finding->trip_count) {
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "the number of turns of a Loop");
    } else if (finding->operand && finding->operand->value < (double)finding->bound) {
        decide_operand(plan, finding);
    } else if (finding->bound != INT64_MAX) {
        return decide_bounded(tracer, plan, finding);
    } else if (finding->compared && elements_of(plan) == 1) {
        choose(plan, ASSAY__FILL_CONSTANT, (double)finding->compared_with, 0,
               "what the graph compares it with");
    } else if (looks_like_mask(name)) {
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "a mask that hides nothing");
    } else if (finding->least > 0) {
        double least = (double)finding->least;
        bool small = assay__dtype_bits(plan->dtype) <= 8;
        choose(plan, ASSAY__FILL_INTEGERS, least, small ? fmax(high, least) : least + 7,
               "something is divided by it");
    } else if (assay__name_has(name, "token_type") || assay__name_has(name, "segment")) {
        choose(plan, ASSAY__FILL_CONSTANT, 0, 0, "one segment");
    } else if (assay__name_has(name, "position")) {
        choose(plan, ASSAY__FILL_RANGE, 0, 0, "positions");
    } else if (assay__name_has(name, "length") || assay__name_has(name, "_len")) {
        choose(plan, ASSAY__FILL_CONSTANT, workload->sequence > 0 ? (double)workload->sequence : 1,
               0, "the sequence length: named like one");
    } else if (high > 1) {
        choose(plan, ASSAY__FILL_INTEGERS, low, high, "all values of its type");
    } else {
        choose(plan, ASSAY__FILL_INTEGERS, 0, 1, "nothing in the graph says more");
    }
    return 0;
}

static int decide_float(struct assay__input_tracer *tracer, struct assay__input_plan *plan,
                        const struct assay__input_finding *finding)
{
    const char *name = plan->name;
    bool span = assay__name_has(name, "timespan") || assay__name_has(name, "elapsed") ||
                strcmp(name, "dt") == 0 || strcmp(name, "ts") == 0;
    if (finding->bound != INT64_MAX) return decide_bounded(tracer, plan, finding);
    if (finding->operand)
        decide_operand(plan, finding);
    else if (plan->dtype == ASSAY__FLOAT8E8M0)
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "a scale");
    else if (looks_like_mask(name))
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "a mask that hides nothing");
    else if (span)
        choose(plan, ASSAY__FILL_UNIFORM, 0.5, 1.5, "a span of time");
    else if (finding->least > 0)
        choose(plan, ASSAY__FILL_UNIFORM, (double)finding->least, (double)finding->least + 7,
               "an integer is divided by it");
    else if (finding->positive)
        choose(plan, ASSAY__FILL_UNIFORM, 0.1, 1,
               "a root, logarithm, reciprocal or power is taken");
    else
        choose(plan, ASSAY__FILL_UNIFORM, -1, 1, "");
    return 0;
}

/* An image: four axes, 1, 3 or 4 channels, at least 8 × 8 pixels, and not a cache of keys or
 * values. */
static bool looks_like_image(const struct assay__input_plan *plan)
{
    if (plan->rank != 4 || (assay__inputs_is_integer(plan->dtype) && plan->dtype != ASSAY__UINT8))
        return false;
    if (assay__name_has(plan->name, "past") || assay__name_has(plan->name, "cache") ||
        looks_like_mask(plan->name))
        return false;
    for (int axis = 1; axis <= 3; axis += 2) {
        int64_t channels = plan->dims[axis];
        int64_t high = plan->dims[axis == 1 ? 2 : 1], wide = plan->dims[axis == 1 ? 3 : 2];
        if ((channels == 1 || channels == 3 || channels == 4) && high >= 8 && wide >= 8)
            return true;
    }
    return false;
}

static int decide(struct assay__input_tracer *tracer, struct assay__workload *workload,
                  size_t index, struct assay_error *error)
{
    struct assay__input_plan *plan = &workload->inputs[index];
    struct assay__input_finding finding;
    int code = assay__inputs_trace(tracer, plan, &finding);
    if (code) return code;
    workload->has_images = workload->has_images || looks_like_image(plan);
    if (workload->batch < 0 && plan->rank >= 2) {
        /* By custom the first axis is the batch; recurrent cells have time first, then the
         * batch. */
        bool second = finding.time_major ||
                      assay__inputs_batch_axis(tracer->model, plan->name) == 1;
        workload->batch = plan->dims[second ? 1 : 0];
        if (finding.time_major && workload->sequence < 0) workload->sequence = plan->dims[0];
    }
    bool ids = finding.bound != INT64_MAX && finding.bound > 2 && plan->rank >= 2 &&
               assay__inputs_is_integer(plan->dtype) && !assay__name_has(plan->name, "position");
    if (ids) {
        workload->has_tokens = true;
        if (workload->sequence < 0) workload->sequence = plan->dims[1];
    }
    if (plan->fill == ASSAY__FILL_FILE && *plan->file) return 0;
    if (plan->dtype == ASSAY__STRING) {
        choose(plan, ASSAY__FILL_STRINGS, 0, 0, "");
        return 0;
    }
    if (plan->dtype == ASSAY__BOOL) {
        decide_bool(plan, &finding);
        return 0;
    }
    if (finding.shape_node)
        return assay_error_set(
            error, ASSAY_EINVAL,
            "input '%.100s' decides a shape (%.40s '%.100s'): its value cannot be made up; give it "
            "as a .npy file",
            plan->name, finding.shape_node->op, finding.shape_node->name);
    if (assay__inputs_is_integer(plan->dtype))
        return decide_integer(tracer, workload, plan, &finding);
    return decide_float(tracer, plan, &finding);
}

int assay__inputs_values(const struct assay__model *model, struct assay__workload *workload,
                         uint64_t seed, struct assay_error *error)
{
    struct assay__input_tracer tracer;
    int code = assay__inputs_tracer_open(&tracer, model, workload, error);
    for (size_t i = 0; i < workload->input_count && !code; i++) {
        workload->inputs[i].seed = seed + 0x9e3779b97f4a7c15u * (i + 1);
        code = decide(&tracer, workload, i, error);
    }
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    assay__inputs_tracer_close(&tracer);
    return code;
}
