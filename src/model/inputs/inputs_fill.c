/* inputs_fill.c - fills an input's memory according to its plan, for every data type, and transfers
 * plans as JSON to the worker. The same plan gives the same bytes on every machine: the generator
 * is our own, conversions are done by hand (round to nearest, ties to even, as in IEEE 754 and the
 * float8 papers). */
#include "model/inputs/inputs.h"

#include "base/json.h"
#include "base/stats.h"
#include "model/inputs/inputs_plan.h"
#include "model/inputs/npy.h"
#include "model/wire.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* maximum elements of an input that may decide a branch, a trip count or a shape */
#define LIST_MOST 64

/* --- small floats ----------------------------------------------------------------------------- */

static const struct small_float {
    int exponent_bits, mantissa_bits, bias;
    double largest; /* larger magnitudes are clamped to this: inputs must be finite */
    bool no_negative_zero;
} small_floats[] = {
    [ASSAY__FLOAT16] = {5, 10, 15, 65504, false},
    [ASSAY__BFLOAT16] = {8, 7, 127, 3.3895313892515355e38, false},
    [ASSAY__FLOAT8E4M3FN] = {4, 3, 7, 448, false},
    [ASSAY__FLOAT8E4M3FNUZ] = {4, 3, 8, 240, true},
    [ASSAY__FLOAT8E5M2] = {5, 2, 15, 57344, false},
    [ASSAY__FLOAT8E5M2FNUZ] = {5, 2, 16, 57344, true},
    [ASSAY__FLOAT4E2M1] = {2, 1, 1, 6, false},
    [ASSAY__INT2] = {0}, /* the last type */
};

static uint32_t encode_small(const struct small_float *type, double value)
{
    bool negative = signbit(value) != 0;
    double magnitude = fabs(value);
    if (magnitude > type->largest) magnitude = type->largest;
    int exponent = 0;
    if (magnitude > 0) frexp(magnitude, &exponent);
    exponent -= 1;                                            /* magnitude = 1.f × 2^exponent */
    if (exponent < 1 - type->bias) exponent = 1 - type->bias; /* subnormal: the lowest exponent */
    double units = nearbyint(ldexp(magnitude, type->mantissa_bits - exponent)); /* ties to even */
    uint32_t mantissa = (uint32_t)units, one = 1u << type->mantissa_bits;
    if (mantissa >= 2 * one) { /* rounded up to the next power of two */
        mantissa /= 2;
        exponent++;
    }
    uint32_t bits = mantissa < one ? mantissa
                                   : (uint32_t)(exponent + type->bias) << type->mantissa_bits |
                                         (mantissa - one);
    if (negative && !(bits == 0 && type->no_negative_zero))
        bits |= 1u << (type->exponent_bits + type->mantissa_bits);
    return bits;
}

/* --- one element ------------------------------------------------------------------------------ */

static void store(uint8_t *data, enum assay__dtype dtype, int64_t index, double value)
{
    const struct small_float *type = small_floats[dtype].mantissa_bits ? &small_floats[dtype]
                                                                       : NULL;
    int bits = assay__dtype_bits(dtype);
    size_t size = (size_t)bits / 8;
    uint8_t *at = bits >= 8 ? data + (size_t)index * size : data;
    uint64_t raw;
    if (type) {
        raw = encode_small(type, value);
    } else if (dtype == ASSAY__FLOAT32) {
        float single = (float)value;
        memcpy(at, &single, sizeof single);
        return;
    } else if (dtype == ASSAY__FLOAT64) {
        memcpy(at, &value, sizeof value);
        return;
    } else if (dtype == ASSAY__FLOAT8E8M0) {
        raw = value > 0 ? (uint64_t)(127 + (int)floor(log2(value)))
                        : 0; /* a power of two, bias 127 */
    } else if (dtype == ASSAY__BOOL) {
        raw = value != 0;
    } else {
        raw = fabs(value) < 9e18 ? (uint64_t)(int64_t)value : 0; /* beyond: no integer of ours */
    }
    if (bits < 8) {
        int per_byte = 8 / bits, shift = (int)(index % per_byte) * bits;
        unsigned mask = (1u << bits) - 1;
        at = &data[index / per_byte];
        *at = (uint8_t)((*at & ~(mask << shift)) | ((unsigned)raw & mask) << shift);
        return;
    }
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(raw >> (8 * i));
}

static int64_t element_count(const struct assay__input_plan *plan)
{
    int64_t product = 1;
    for (int i = 0; i < plan->rank; i++)
        if (plan->dims[i] < 0 || __builtin_mul_overflow(product, plan->dims[i], &product))
            return -1;
    return product;
}

/* --- fills ------------------------------------------------------------------------------------ */

static void fill_values(const struct assay__input_plan *plan, uint8_t *data, int64_t count)
{
    struct assay__random random;
    int64_t inner = plan->rank > 0 ? plan->dims[plan->rank - 1] : 1;
    uint64_t values = plan->high >= plan->low ? (uint64_t)(plan->high - plan->low) + 1 : 1;
    assay__random_seed(&random, plan->seed);
    for (int64_t i = 0; i < count; i++) {
        double value = plan->low;
        if (plan->fill == ASSAY__FILL_UNIFORM) {
            value = plan->low + (plan->high - plan->low) * assay__random_unit(&random);
        } else if (plan->fill == ASSAY__FILL_INTEGERS) {
            value = plan->low + (double)assay__random_below(&random, values);
        } else if (plan->fill == ASSAY__FILL_RANGE) {
            int64_t at = inner > 0 ? i % inner : 0;
            value = (double)(plan->high > 0 ? at % ((int64_t)plan->high + 1) : at);
        }
        store(data, plan->dtype, i, value);
    }
}

static int fill_file(const struct assay__input_plan *plan, void *data, struct assay_error *error)
{
    struct assay__mapping mapping;
    struct assay_error detail = {.code = 0};
    struct assay__npy npy;
    int code = assay__file_map(plan->file, &mapping, error);
    if (code) return code;
    code = assay__npy_parse(mapping.data, mapping.size, &npy, &detail);
    bool same = !code && npy.rank == plan->rank && npy.data_size == plan->bytes &&
                assay__inputs_npy_fits(npy.dtype, plan->dtype);
    for (int i = 0; same && i < plan->rank; i++)
        same = npy.dims[i] == plan->dims[i];
    if (code)
        assay_error_set(error, code, "%.200s: %s", plan->file, detail.message);
    else if (!same)
        code = assay_error_set(error, ASSAY_EINVAL, "%.300s: no longer fits input '%.120s'",
                               plan->file, plan->name);
    else if (plan->bytes)
        memcpy(data, npy.data, plan->bytes);
    assay__file_unmap(&mapping);
    return code;
}

int assay__input_fill(const struct assay__input_plan *plan, void *data, struct assay_error *error)
{
    int64_t count = element_count(plan);
    if (plan->fill == ASSAY__FILL_STRINGS || plan->dtype == ASSAY__STRING)
        return assay_error_set(error, ASSAY_EINVAL, "input '%.120s' holds strings", plan->name);
    if (count < 0 || assay__dtype_bytes(plan->dtype, count) != plan->bytes)
        return assay_error_set(error, ASSAY_EINVAL, "input '%.120s' has an invalid plan",
                               plan->name);
    if (plan->fill == ASSAY__FILL_FILE) return fill_file(plan, data, error);
    fill_values(plan, data, count);
    return 0;
}

bool assay__input_is_list(const struct assay__input_plan *plan)
{
    bool counted = plan->dtype == ASSAY__INT64 || plan->dtype == ASSAY__INT32 ||
                   plan->dtype == ASSAY__BOOL;
    int64_t count = counted && (plan->rank == 0 || plan->rank == 1) ? element_count(plan) : -1;
    return count >= 0 && count <= LIST_MOST;
}

int assay__input_contents(const struct assay__input_plan *plan, struct assay__arena *arena,
                          const int64_t **contents, size_t *count)
{
    uint64_t data[LIST_MOST];
    bool chosen = plan->fill == ASSAY__FILL_CONSTANT || plan->fill == ASSAY__FILL_RANGE ||
                  (plan->fill == ASSAY__FILL_FILE && *plan->file);
    *contents = NULL;
    *count = 0;
    if (!chosen || plan->fed || !assay__input_is_list(plan) || plan->bytes > sizeof data ||
        assay__input_fill(plan, data, NULL))
        return 0;
    size_t elements = (size_t)element_count(plan);
    int64_t *made = assay__arena_array(arena, elements, sizeof *made);
    for (size_t i = 0; made && i < elements; i++) {
        const uint8_t *at = (const uint8_t *)data + i * (plan->bytes / elements);
        made[i] = plan->dtype == ASSAY__INT64   ? (int64_t)assay__wire_u64(at)
                  : plan->dtype == ASSAY__INT32 ? (int32_t)assay__wire_u32(at)
                                                : *at != 0;
    }
    *contents = made;
    *count = made ? elements : 0;
    return made ? 0 : ASSAY_ENOMEM;
}

int assay__input_strings(const struct assay__input_plan *plan, struct assay__arena *arena,
                         const char ***strings, size_t *count)
{
    static const char *const syllables[] = {"ba", "de", "fi", "go", "ku", "la", "me", "no",
                                            "pa", "re", "si", "to", "vu", "wa", "ze", "lo"};
    struct assay__random random;
    int64_t elements = element_count(plan);
    if (elements < 0) return ASSAY_EINVAL;
    const char **list = assay__arena_array(arena, (size_t)elements, sizeof *list);
    if (!list) return ASSAY_ENOMEM;
    assay__random_seed(&random, plan->seed);
    for (int64_t i = 0; i < elements; i++) {
        uint64_t pick = assay__random_u64(&random);
        list[i] = assay__arena_printf(arena, "%s%s%s", syllables[pick & 15],
                                      syllables[pick >> 4 & 15],
                                      pick >> 8 & 1 ? syllables[pick >> 9 & 15] : "");
        if (!list[i]) return ASSAY_ENOMEM;
    }
    *strings = list;
    *count = (size_t)elements;
    return 0;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const char *const fill_names[] = {
    [ASSAY__FILL_UNIFORM] = "uniform",   [ASSAY__FILL_INTEGERS] = "integers",
    [ASSAY__FILL_CONSTANT] = "constant", [ASSAY__FILL_RANGE] = "range",
    [ASSAY__FILL_FILE] = "file",         [ASSAY__FILL_STRINGS] = "strings"};

void assay__input_to_json(const struct assay__input_plan *plan, struct assay__json_writer *writer)
{
    char seed[24];
    snprintf(seed, sizeof seed, "%llu",
             (unsigned long long)plan->seed); /* 64 bits do not fit a JSON number */
    assay__json_object(writer);
    assay__json_put_string(writer, "name", plan->name);
    assay__json_put_integer(writer, "dtype", (int64_t)plan->dtype);
    assay__json_key(writer, "dims");
    assay__json_array(writer);
    for (int i = 0; i < plan->rank; i++)
        assay__json_integer(writer, plan->dims[i]);
    assay__json_array_end(writer);
    assay__json_put_string(writer, "fill", fill_names[plan->fill]);
    assay__json_put_number(writer, "low", plan->low);
    assay__json_put_number(writer, "high", plan->high);
    assay__json_put_string(writer, "seed", seed);
    assay__json_put_string(writer, "file", plan->file ? plan->file : "");
    assay__json_put_string(writer, "why", plan->why ? plan->why : "");
    assay__json_object_end(writer);
}

static bool read_dims(const struct assay__json *dims, struct assay__arena *arena,
                      struct assay__input_plan *plan)
{
    if (!dims || dims->kind != ASSAY__JSON_ARRAY || dims->count > 64) return false;
    plan->dims = assay__arena_array(arena, dims->count, sizeof *plan->dims);
    if (!plan->dims) return false;
    for (const struct assay__json *dim = dims->first; dim; dim = dim->next) {
        if (!dim->is_integer || dim->integer < 0) return false;
        plan->dims[plan->rank++] = dim->integer;
    }
    return true;
}

static bool read_fill(const char *name, enum assay__fill *fill)
{
    for (size_t i = 0; i < sizeof fill_names / sizeof fill_names[0]; i++) {
        if (strcmp(name, fill_names[i]) != 0) continue;
        *fill = (enum assay__fill)i;
        return true;
    }
    return false;
}

static bool read_seed(const char *text, uint64_t *seed)
{
    char *end = NULL;
    errno = 0;
    *seed = strtoull(text, &end, 10);
    return *text && !*end && !errno;
}

/* All members except the strings; false: one of them is malformed. */
static bool read_plan(const struct assay__json *json, struct assay__arena *arena,
                      struct assay__input_plan *plan)
{
    const double most = 9007199254740992.0; /* whole numbers that a double holds exactly */
    int64_t dtype = assay__json_get_integer(json, "dtype", 0);
    if (dtype <= 0 || dtype > ASSAY__INT2) return false;
    plan->dtype = (enum assay__dtype)dtype;
    if (!read_dims(assay__json_get(json, "dims"), arena, plan)) return false;
    if (!read_fill(assay__json_get_string(json, "fill", ""), &plan->fill)) return false;
    if (!read_seed(assay__json_get_string(json, "seed", ""), &plan->seed)) return false;
    if (!(fabs(plan->low) <= most) || !(fabs(plan->high) <= most)) return false;
    int64_t count = element_count(plan);
    plan->bytes = count >= 0 ? assay__dtype_bytes(plan->dtype, count) : SIZE_MAX;
    return plan->bytes != SIZE_MAX;
}

int assay__input_from_json(const struct assay__json *json, struct assay__arena *arena,
                           struct assay__input_plan *plan, struct assay_error *error)
{
    *plan = (struct assay__input_plan){.low = assay__json_get_number(json, "low", 0),
                                       .high = assay__json_get_number(json, "high", 0)};
    plan->name = assay__arena_strdup(arena, assay__json_get_string(json, "name", ""));
    plan->file = assay__arena_strdup(arena, assay__json_get_string(json, "file", ""));
    plan->why = assay__arena_strdup(arena, assay__json_get_string(json, "why", ""));
    if (!plan->name || !plan->file || !plan->why)
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!read_plan(json, arena, plan))
        return assay_error_set(error, ASSAY_EFORMAT, "an input's plan is malformed");
    return 0;
}
