/* tensor_data.c - gives access to the numbers of a tensor, wherever they are. A view borrows
 * numbers that are in memory or in the model's mapping; an external file is mapped for as long as
 * the view is open; generated and undecoded numbers are created on the heap. Numbers are
 * little-endian, as in the file and on the machines this runs on. */
#include "model/tensor_data.h"

#include "model/onnx/onnx.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *label(const struct assay__model *model)
{
    return *model->path ? model->path : "model";
}

/* Whether `path`, which realpath has resolved, is in `folder`. */
static bool is_inside(const char *path, const char *folder)
{
    char *root = realpath(folder, NULL);
    size_t length = root ? strlen(root) : 0;
    bool inside = root && strncmp(path, root, length) == 0 &&
                  (path[length] == '/' || strcmp(root, "/") == 0);
    free(root);
    return inside;
}

int assay__tensor_file(const struct assay__model *model, const struct assay__tensor *tensor,
                       char *path, size_t path_size, struct assay_error *error)
{
    if (assay__path_join(model->folder, tensor->location, path, path_size))
        return assay_error_set(error, ASSAY_ELIMIT, "%.160s: the path of '%.120s' is too long",
                               label(model), tensor->location);
    char *file = realpath(path, NULL), *itself = realpath(model->path, NULL);
    char folder[4096];
    bool outside = file && !is_inside(file, model->folder);
    if (outside && itself && !assay__path_folder(itself, folder, sizeof folder))
        outside = !is_inside(file, folder);
    free(itself);
    free(file); /* NULL: it does not exist; opening it gives a better message */
    if (!outside) return 0;
    return assay_error_set(
        error, ASSAY_EDENIED,
        "%.160s: stores tensor '%.80s' in '%.160s', a link that leads out of the model's folder",
        label(model), tensor->name, path);
}

static int open_external(const struct assay__model *model, const struct assay__tensor *tensor,
                         size_t needed, struct assay__tensor_view *view, struct assay_error *error)
{
    char path[4096];
    if (tensor->length && tensor->length < needed)
        return assay_error_set(error, ASSAY_EFORMAT,
                               "%.160s: tensor '%.80s' has %" PRIu64
                               " bytes of external data where its shape needs %zu",
                               label(model), tensor->name, tensor->length, needed);
    int code = assay__tensor_file(model, tensor, path, sizeof path, error);
    if (code || needed == 0) return code;
    struct assay_error detail = {.code = 0};
    code = assay__file_map(path, &view->mapping, &detail);
    if (code)
        return assay_error_set(error, code, "%.100s: data of tensor '%.60s': %s", label(model),
                               tensor->name, detail.message);
    if (tensor->offset > view->mapping.size || needed > view->mapping.size - tensor->offset) {
        code = assay_error_set(error, ASSAY_EFORMAT,
                               "%.200s: has %zu bytes, but tensor '%.80s' needs %zu from byte "
                               "%" PRIu64 " on",
                               path, view->mapping.size, tensor->name, needed, tensor->offset);
        assay__file_unmap(&view->mapping);
        return code;
    }
    view->data = view->mapping.data + tensor->offset;
    view->size = needed;
    return 0;
}

int assay__tensor_open(const struct assay__model *model, const struct assay__tensor *tensor,
                       struct assay__tensor_view *view, struct assay_error *error)
{
    size_t needed = assay__dtype_bytes(tensor->dtype, tensor->elements);
    *view = (struct assay__tensor_view){.size = needed};
    if (needed == SIZE_MAX)
        return assay_error_set(error, ASSAY_ELIMIT, "%.160s: tensor '%.120s' is too large",
                               label(model), tensor->name);
    if (assay__dtype_bits(tensor->dtype) == 0 || tensor->nonzeros >= 0)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%.160s: tensor '%.120s' is %s, not an array of numbers",
                               label(model), tensor->name,
                               tensor->nonzeros >= 0 ? "sparse" : assay__dtype_name(tensor->dtype));
    if (tensor->external) return open_external(model, tensor, needed, view, error);
    if (tensor->data && !tensor->generator) {
        view->data = tensor->data;
        view->size = tensor->data_size;
        return 0;
    }
    uint8_t *bytes = NULL;
    if (tensor->generator) {
        if (tensor->dtype != ASSAY__FLOAT32)
            return assay_error_set(error, ASSAY_EINVAL,
                                   "tensor '%.120s': only float32 can be generated", tensor->name);
        bytes = malloc(needed ? needed : 1);
        if (!bytes)
            return assay_error_set(error, ASSAY_ENOMEM,
                                   "out of memory for tensor '%.120s' (%zu bytes)", tensor->name,
                                   needed);
        assay__weights_fill(tensor->generator, 0, (float *)(void *)bytes, (size_t)tensor->elements);
    } else {
        int code = tensor->raw ? assay__onnx_decode(tensor, &bytes, &view->size, error) : 0;
        if (code) return code;
        if (!bytes && needed)
            return assay_error_set(error, ASSAY_EFORMAT, "%.160s: tensor '%.120s' has no data",
                                   label(model), tensor->name);
    }
    view->owned = bytes;
    view->data = bytes;
    return 0;
}

void assay__tensor_close(struct assay__tensor_view *view)
{
    free(view->owned);
    assay__file_unmap(&view->mapping);
    *view = (struct assay__tensor_view){.size = 0};
}

uint16_t assay__float_to_half(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (uint16_t)(sign | 0x7e00);  /* NaN */
    if (magnitude >= 0x47800000) return (uint16_t)(sign | 0x7c00); /* 65536 and more */
    if (magnitude < 0x33000000) return sign; /* below half of the smallest: zero */
    /* Drops `drop` bits of a 24-bit significand: 13 for normal numbers, more for the others. */
    int exponent = (int)(magnitude >> 23) - 127;
    uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    int drop = exponent < -14 ? 13 + (-14 - exponent) : 13;
    uint32_t half = significand >> drop, rest = significand & ((1u << drop) - 1);
    uint32_t middle = 1u << (drop - 1);
    if (rest > middle || (rest == middle && (half & 1))) half++;
    /* The implicit bit adds one to the exponent; rounding up may carry into it, even to
     * infinity. */
    uint32_t base = exponent < -14 ? 0 : (uint32_t)(exponent + 14) << 10;
    return (uint16_t)(sign | (base + half));
}

float assay__half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
    uint32_t fraction = half & 0x3ff, bits;
    float value;
    if (exponent == 0) {
        value = (float)fraction * 0x1p-24f;
        return sign ? -value : value;
    }
    if (exponent == 31)
        bits = sign | 0x7f800000 | fraction << 13;
    else
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- as float32 ------------------------------------------------------------------------------- */

static uint64_t load(const uint8_t *at, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Element i of a type of 2 or 4 bits: the first one is in the low bits. */
static int packed(const uint8_t *data, int64_t i, int bits)
{
    int per_byte = 8 / bits;
    return data[i / per_byte] >> (int)(i % per_byte) * bits & ((1 << bits) - 1);
}

/* False: a type without plain numbers. */
static bool number_at(enum assay__dtype dtype, const uint8_t *data, int64_t i, float *out)
{
    double wide = 0;
    switch (dtype) {
    case ASSAY__FLOAT64:
        memcpy(&wide, data + 8 * i, sizeof wide);
        *out = (float)wide;
        return true;
    case ASSAY__FLOAT16: *out = assay__half_to_float((uint16_t)load(data + 2 * i, 2)); return true;
    case ASSAY__BFLOAT16: *out = float_of_bits((uint32_t)load(data + 2 * i, 2) << 16); return true;
    case ASSAY__INT64: *out = (float)(int64_t)load(data + 8 * i, 8); return true;
    case ASSAY__UINT64: *out = (float)load(data + 8 * i, 8); return true;
    case ASSAY__INT32: *out = (float)(int32_t)load(data + 4 * i, 4); return true;
    case ASSAY__UINT32: *out = (float)(uint32_t)load(data + 4 * i, 4); return true;
    case ASSAY__INT16: *out = (float)(int16_t)load(data + 2 * i, 2); return true;
    case ASSAY__UINT16: *out = (float)load(data + 2 * i, 2); return true;
    case ASSAY__INT8: *out = (float)(int8_t)data[i]; return true;
    case ASSAY__UINT8: *out = (float)data[i]; return true;
    case ASSAY__BOOL: *out = data[i] ? 1.0f : 0.0f; return true;
    case ASSAY__UINT4: *out = (float)packed(data, i, 4); return true;
    case ASSAY__INT4: *out = (float)((packed(data, i, 4) ^ 8) - 8); return true; /* sign bit 3 */
    case ASSAY__UINT2: *out = (float)packed(data, i, 2); return true;
    case ASSAY__INT2: *out = (float)((packed(data, i, 2) ^ 2) - 2); return true;
    default: return false;
    }
}

bool assay__tensor_number(const struct assay__tensor *tensor, size_t i, double *out)
{
    size_t width = tensor ? (size_t)assay__dtype_bits(tensor->dtype) / 8 : 0;
    float single;
    if (!width || !tensor->data || i >= tensor->data_size / width) return false;
    const uint8_t *at = tensor->data + i * width;
    switch (tensor->dtype) {
    case ASSAY__FLOAT32:
        memcpy(&single, at, sizeof single);
        *out = (double)single;
        return true;
    case ASSAY__FLOAT64: memcpy(out, at, sizeof *out); return true;
    case ASSAY__INT32: *out = (double)(int32_t)load(at, 4); return true;
    case ASSAY__INT64: *out = (double)(int64_t)load(at, 8); return true;
    default: return false;
    }
}

int assay__tensor_floats(const struct assay__model *model, const struct assay__tensor *tensor,
                         float *out, struct assay_error *error)
{
    struct assay__tensor_view view;
    int code = 0;
    if (tensor->generator && !tensor->external && tensor->dtype == ASSAY__FLOAT32) {
        assay__weights_fill(tensor->generator, 0, out, (size_t)tensor->elements);
        return 0;
    }
    if ((code = assay__tensor_open(model, tensor, &view, error))) return code;
    if (view.size < assay__dtype_bytes(tensor->dtype, tensor->elements)) {
        code = assay_error_set(error, ASSAY_EFORMAT, "%.160s: tensor '%.120s' has too little data",
                               label(model), tensor->name);
    } else if (tensor->dtype == ASSAY__FLOAT32) {
        if (view.size) memcpy(out, view.data, (size_t)tensor->elements * sizeof *out);
    } else {
        for (int64_t i = 0; i < tensor->elements && !code; i++)
            if (!number_at(tensor->dtype, view.data, i, &out[i]))
                code = assay_error_set(
                    error, ASSAY_EUNSUPPORTED, "%.160s: tensor '%.120s': %s is not read as numbers",
                    label(model), tensor->name, assay__dtype_name(tensor->dtype));
    }
    assay__tensor_close(&view);
    return code;
}

/* --- weights by formula ----------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Element i comes from splitmix64 of seed + i (Steele, Lea, Flood: "Fast splittable pseudorandom
 * number generators"): 64 bits give four 16-bit uniforms, whose sum is close enough to normal
 * (variance of one uniform on [0, 1): 1/12). */
void assay__weights_fill(const struct assay__generator *generator, uint64_t first, float *out,
                         size_t count)
{
    const uint64_t step = 0x9e3779b97f4a7c15u, start = mix(generator->seed + step) + first * step;
    const float mean = generator->mean;
    const float scale = generator->deviation * (float)(1.7320508075688772 / 65536.0);
    if (generator->deviation == 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = mean;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = mix(start + (uint64_t)i * step);
        /* two lanes at a time: the sums of 16-bit halves cannot carry into each other */
        uint64_t pairs = (bits & 0x0000ffff0000ffffu) + (bits >> 16 & 0x0000ffff0000ffffu);
        int sum = (int)(uint32_t)pairs + (int)(pairs >> 32);
        /* + 0.5: never zero. Two statements, which no compiler fuses into one rounding, so that the
         * numbers are the same on every machine. */
        float away = ((float)(sum - 2 * 65535) + 0.5f) * scale;
        out[i] = mean + away;
    }
}
