/* mil_args.c - what a mapping asks of an operation's inputs: is it given, is it constant, what does
 * it hold. */
#include "model/coreml/mil.h"

#include "model/tensor_data.h"

#include <string.h>

const struct assay__mil_arg *assay__mil_arg(const struct assay__mil_call *call, const char *name)
{
    for (size_t i = 0; i < call->op->arg_count; i++)
        if (strcmp(call->op->args[i].name, name) == 0 && call->op->args[i].count)
            return &call->op->args[i];
    return NULL;
}

bool assay__mil_has(const struct assay__mil_call *call, const char *name)
{
    return assay__mil_arg(call, name) != NULL;
}

const struct assay__mil_value *assay__mil_constant(const struct assay__mil_call *call,
                                                   const char *name)
{
    const struct assay__mil_arg *arg = assay__mil_arg(call, name);
    return arg && arg->count == 1 ? arg->defs[0]->value : NULL;
}

const struct assay__mil_type *assay__mil_type_of(const struct assay__mil_call *call,
                                                 const char *name)
{
    const struct assay__mil_arg *arg = assay__mil_arg(call, name);
    return arg ? &arg->defs[0]->type : NULL;
}

int64_t assay__mil_value_int(const struct assay__mil_value *value, size_t i)
{
    const uint8_t *at = value->data + i * (size_t)value->type.bits / 8;
    switch (value->type.dtype) {
    case ASSAY__INT64:
    case ASSAY__UINT64: return (int64_t)assay__wire_u64(at);
    case ASSAY__INT32: return (int32_t)assay__wire_u32(at);
    case ASSAY__UINT32: return assay__wire_u32(at);
    case ASSAY__INT16: return (int16_t)(at[0] | at[1] << 8);
    case ASSAY__UINT16: return (uint16_t)(at[0] | at[1] << 8);
    case ASSAY__INT8: return (int8_t)at[0];
    default: return at[0]; /* BOOL, UINT8 */
    }
}

bool assay__mil_is_integer(const struct assay__mil_value *value)
{
    enum assay__dtype dtype = value->type.dtype;
    bool whole = (dtype >= ASSAY__UINT8 && dtype <= ASSAY__INT64) || dtype == ASSAY__BOOL ||
                 dtype == ASSAY__UINT32 || dtype == ASSAY__UINT64;
    return whole && (value->data || !value->elements);
}

bool assay__mil_is_float(const struct assay__mil_value *value)
{
    return value->data &&
           (value->type.dtype == ASSAY__FLOAT16 || value->type.dtype == ASSAY__FLOAT32 ||
            value->type.dtype == ASSAY__FLOAT64);
}

double assay__mil_value_float(const struct assay__mil_value *value, size_t i)
{
    const uint8_t *at = value->data + i * (size_t)value->type.bits / 8;
    if (value->type.dtype == ASSAY__FLOAT16)
        return assay__half_to_float((uint16_t)(at[0] | at[1] << 8));
    if (value->type.dtype == ASSAY__FLOAT32) {
        uint32_t bits = assay__wire_u32(at);
        float number;
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    if (value->type.dtype == ASSAY__FLOAT64) {
        uint64_t bits = assay__wire_u64(at);
        double number;
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    return (double)assay__mil_value_int(value, i);
}

/* A single constant that is `good`; NULL otherwise, and `unknown` when there is something else. */
static const struct assay__mil_value *single(struct assay__mil_call *call, const char *name,
                                             bool (*good)(const struct assay__mil_value *))
{
    const struct assay__mil_value *constant = assay__mil_constant(call, name);
    if (constant && constant->elements == 1 && good(constant)) return constant;
    call->unknown |= assay__mil_has(call, name);
    return NULL;
}

static bool is_number(const struct assay__mil_value *value)
{
    return assay__mil_is_float(value) || assay__mil_is_integer(value);
}

static bool is_text(const struct assay__mil_value *value)
{
    return value->strings != NULL;
}

int64_t assay__mil_int(struct assay__mil_call *call, const char *name, int64_t otherwise)
{
    const struct assay__mil_value *constant = single(call, name, assay__mil_is_integer);
    return constant ? assay__mil_value_int(constant, 0) : otherwise;
}

double assay__mil_float(struct assay__mil_call *call, const char *name, double otherwise)
{
    const struct assay__mil_value *constant = single(call, name, is_number);
    return constant ? assay__mil_value_float(constant, 0) : otherwise;
}

const char *assay__mil_string(struct assay__mil_call *call, const char *name, const char *otherwise)
{
    const struct assay__mil_value *constant = single(call, name, is_text);
    return constant ? constant->strings[0] : otherwise;
}

int64_t *assay__mil_ints(struct assay__mil_call *call, const char *name, size_t *count)
{
    const struct assay__mil_value *constant = assay__mil_constant(call, name);
    int64_t *values = NULL;
    *count = 0;
    if (!assay__mil_has(call, name)) return NULL;
    if (constant && assay__mil_is_integer(constant) && constant->elements <= ASSAY__COREML_SMALL)
        values = assay__arena_array(call->coreml->reader.arena, (size_t)constant->elements,
                                    sizeof *values);
    if (!values) {
        call->unknown = true;
        return NULL;
    }
    *count = (size_t)constant->elements;
    for (size_t i = 0; i < *count; i++)
        values[i] = assay__mil_value_int(constant, i);
    return values;
}
