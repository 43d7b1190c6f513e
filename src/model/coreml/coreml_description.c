/* coreml_description.c - ModelDescription (Model.proto, FeatureTypes.proto): inputs, outputs and
 * states with their types, flexible shapes and images, and the metadata people wrote.
 *
 * A flexible dimension (a range, or one that differs between enumerated shapes) becomes symbolic in
 * the graph; what it may be is kept in words, in the metadata under "coreml.input.NAME". */
#include "model/coreml/coreml.h"

#include "base/buf.h"

#include <string.h>

#define NAMED_SHAPES 4 /* enumerated shapes that are spelt out */

static enum assay__dtype array_dtype(uint64_t type)
{
    switch (type) {
    case 65568: return ASSAY__FLOAT32;
    case 65600: return ASSAY__FLOAT64;
    case 65552: return ASSAY__FLOAT16;
    case 131104: return ASSAY__INT32;
    case 131080: return ASSAY__INT8;
    default: return ASSAY__UNDEFINED;
    }
}

static const char *color_name(uint64_t color)
{
    switch (color) {
    case 10: return "grayscale";
    case 20: return "RGB";
    case 30: return "BGR";
    case 40: return "grayscale float16";
    default: return "of an unknown colour space";
    }
}

/* --- repeated int64 and ranges ---------------------------------------------------------------- */

/* A shape: field 1 of the message, repeated int64. */
static int read_shape(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      uint32_t number, int *rank, int64_t **dims)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    uint64_t items[ASSAY__ONNX_RANK];
    size_t total = 0;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a shape")) == 1) {
        size_t more = 0;
        if (field.number != number) continue;
        if (!assay__wire_count(&field, ASSAY__WIRE_VARINT, &more) ||
            more > ASSAY__ONNX_RANK - total ||
            !assay__wire_items(&field, ASSAY__WIRE_VARINT, items, &total))
            return assay__onnx_fail(&coreml->reader, field.start, "a shape cannot be read");
    }
    if (code) return code;
    *rank = (int)total;
    *dims = assay__arena_array(coreml->reader.arena, total, sizeof **dims);
    if (!*dims) return assay__onnx_no_memory(&coreml->reader);
    for (size_t i = 0; i < total; i++) {
        (*dims)[i] = (int64_t)items[i];
        if ((*dims)[i] < 0)
            return assay__onnx_fail(&coreml->reader, message->start, "a negative dimension");
    }
    return 0;
}

/* SizeRange: 1 lowerBound, 2 upperBound (negative: unbounded). */
static int read_range(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      uint64_t *lower, int64_t *upper)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code;
    *lower = 0;
    *upper = 0;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a size range")) == 1) {
        if (field.type != ASSAY__WIRE_VARINT) continue;
        if (field.number == 1) *lower = field.value;
        if (field.number == 2) *upper = (int64_t)field.value;
    }
    return code;
}

static void say_range(struct assay__buf *words, const char *what, int axis, uint64_t lower,
                      int64_t upper)
{
    if (words->length) assay__buf_puts(words, ", ");
    if (axis >= 0)
        assay__buf_printf(words, "%s %d: ", what, axis);
    else
        assay__buf_printf(words, "%s: ", what);
    if (upper < 0)
        assay__buf_printf(words, "from %llu", (unsigned long long)lower);
    else
        assay__buf_printf(words, "%llu to %lld", (unsigned long long)lower, (long long)upper);
}

static int make_flexible(struct assay__coreml *coreml, struct assay__coreml_feature *feature)
{
    if (feature->flexible || feature->rank < 0) return 0;
    feature->flexible = assay__arena_array(coreml->reader.arena, (size_t)feature->rank,
                                           sizeof(bool));
    return feature->flexible ? 0 : assay__onnx_no_memory(&coreml->reader);
}

/* --- arrays ----------------------------------------------------------------------------------- */

static int array_ranges(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code = make_flexible(coreml, feature), axis = 0;
    if (code) return code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a shape range")) == 1) {
        uint64_t lower;
        int64_t upper;
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        if ((code = read_range(coreml, &field, &lower, &upper))) return code;
        if (axis < feature->rank && (upper < 0 || lower != (uint64_t)upper)) {
            feature->flexible[axis] = true;
            say_range(words, "axis", axis, lower, upper);
        }
        axis++;
    }
    return code;
}

static int array_enumerated(struct assay__coreml *coreml, const struct assay__wire_field *message,
                            struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code = make_flexible(coreml, feature), rank = 0, shapes = 0;
    if (code) return code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "enumerated shapes")) == 1) {
        int64_t *dims = NULL;
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        if ((code = read_shape(coreml, &field, 1, &rank, &dims))) return code;
        if (++shapes <= NAMED_SHAPES) {
            assay__buf_puts(words, shapes == 1 ? "one of " : ", ");
            for (int i = 0; i < rank; i++)
                assay__buf_printf(words, "%s%lld", i ? "x" : "", (long long)dims[i]);
        }
        for (int i = 0; i < rank && i < feature->rank; i++)
            if (dims[i] != feature->dims[i]) feature->flexible[i] = true;
    }
    if (shapes > NAMED_SHAPES) assay__buf_printf(words, " and %d more", shapes - NAMED_SHAPES);
    return code;
}

static int read_array(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code = read_shape(coreml, message, ARRAY_SHAPE, &feature->rank, &feature->dims);
    if (code) return code;
    if (!feature->rank) feature->rank = -1; /* not stated */
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an array type")) == 1) {
        if (field.number == ARRAY_TYPE && field.type == ASSAY__WIRE_VARINT)
            feature->dtype = array_dtype(field.value);
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == ARRAY_RANGE) code = array_ranges(coreml, &field, feature, words);
        if (field.number == ARRAY_ENUMERATED)
            code = array_enumerated(coreml, &field, feature, words);
        if (code < 0) return code;
    }
    for (int i = 0; words->length && i < feature->rank; i++)
        assay__buf_printf(words, "%s%lld", i ? "x" : "; default ", (long long)feature->dims[i]);
    return code;
}

/* --- images ----------------------------------------------------------------------------------- */

static int image_ranges(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code = make_flexible(coreml, feature);
    if (code) return code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an image size range")) == 1) {
        uint64_t lower;
        int64_t upper;
        bool width = field.number == 1;
        if ((!width && field.number != 2) || field.type != ASSAY__WIRE_BYTES) continue;
        if ((code = read_range(coreml, &field, &lower, &upper))) return code;
        if (upper >= 0 && lower == (uint64_t)upper) continue;
        feature->flexible[width ? 3 : 2] = true;
        say_range(words, width ? "width" : "height", -1, lower, upper);
    }
    return code;
}

static int image_enumerated(struct assay__coreml *coreml, const struct assay__wire_field *message,
                            struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field, size;
    int code = make_flexible(coreml, feature);
    if (code) return code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "image sizes")) == 1) {
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire inner = assay__wire_over(field.data, field.size);
        uint64_t width = 0, height = 0;
        while ((code = assay__onnx_next(&coreml->reader, &inner, &size, "an image size")) == 1) {
            if (size.type != ASSAY__WIRE_VARINT) continue;
            if (size.number == IMAGE_WIDTH) width = size.value;
            if (size.number == IMAGE_HEIGHT) height = size.value;
        }
        if (code) return code;
        if ((int64_t)height != feature->dims[2]) feature->flexible[2] = true;
        if ((int64_t)width != feature->dims[3]) feature->flexible[3] = true;
        if (words->length < 200)
            assay__buf_printf(words, ", or %llu x %llu", (unsigned long long)width,
                              (unsigned long long)height);
    }
    return code;
}

static int read_image(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    uint64_t color = 0;
    int64_t *dims = assay__arena_array(coreml->reader.arena, 4, sizeof *dims);
    int code;
    if (!dims) return assay__onnx_no_memory(&coreml->reader);
    feature->rank = 4;
    feature->dims = dims;
    feature->dtype =
        ASSAY__FLOAT32; /* what a network sees of it unless its function says otherwise */
    dims[0] = 1;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an image type")) == 1) {
        if (field.type != ASSAY__WIRE_VARINT) continue;
        if (field.number == IMAGE_WIDTH) dims[3] = (int64_t)field.value;
        if (field.number == IMAGE_HEIGHT) dims[2] = (int64_t)field.value;
        if (field.number == IMAGE_COLOR) color = field.value;
    }
    if (code) return code;
    if (dims[2] < 0 || dims[3] < 0)
        return assay__onnx_fail(&coreml->reader, message->start, "a negative image size");
    dims[1] = color == 20 || color == 30 ? 3 : 1;
    assay__buf_printf(words, "image %s", color_name(color));
    wire = assay__wire_over(message->data, message->size);
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "an image type")) == 1) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == IMAGE_RANGE) code = image_ranges(coreml, &field, feature, words);
        if (field.number == IMAGE_ENUMERATED)
            code = image_enumerated(coreml, &field, feature, words);
        if (code < 0) return code;
    }
    return code;
}

/* --- features --------------------------------------------------------------------------------- */

static int scalar_feature(struct assay__coreml *coreml, struct assay__coreml_feature *feature,
                          enum assay__dtype dtype)
{
    feature->dtype = dtype;
    feature->rank = 1;
    feature->dims = assay__arena_array(coreml->reader.arena, 1, sizeof *feature->dims);
    if (!feature->dims) return assay__onnx_no_memory(&coreml->reader);
    feature->dims[0] = 1;
    return 0;
}

/* StateFeatureType: 1 arrayType. */
static int read_state(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a state type")) == 1)
        if (field.number == 1 && field.type == ASSAY__WIRE_BYTES &&
            (code = read_array(coreml, &field, feature, words)))
            return code;
    return code;
}

static int read_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a feature type")) == 1) {
        if (field.number == FEATURE_OPTIONAL && field.type == ASSAY__WIRE_VARINT)
            feature->optional = field.value != 0;
        if (field.type != ASSAY__WIRE_BYTES || field.number > FEATURE_STATE) continue;
        feature->kind = (int)field.number;
        switch (field.number) {
        case FEATURE_INT64: code = scalar_feature(coreml, feature, ASSAY__INT64); break;
        case FEATURE_DOUBLE: code = scalar_feature(coreml, feature, ASSAY__FLOAT64); break;
        case FEATURE_STRING: code = scalar_feature(coreml, feature, ASSAY__STRING); break;
        case FEATURE_IMAGE: code = read_image(coreml, &field, feature, words); break;
        case FEATURE_ARRAY: code = read_array(coreml, &field, feature, words); break;
        case FEATURE_STATE: code = read_state(coreml, &field, feature, words); break;
        default:
            assay__buf_puts(words, field.number == FEATURE_DICTIONARY ? "dictionary" : "sequence");
        }
        if (code < 0) return code;
    }
    return code;
}

static int read_feature(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__coreml_feature *feature)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__buf words = {.data = NULL};
    int code;
    *feature = (struct assay__coreml_feature){.name = "", .rank = -1, .words = ""};
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a feature")) == 1) {
        if (field.number == FEATURE_NAME)
            code = assay__onnx_text(&coreml->reader, &field, &feature->name);
        if (field.number == FEATURE_TYPE && field.type == ASSAY__WIRE_BYTES)
            code = read_type(coreml, &field, feature, &words);
        if (code < 0) break;
    }
    if (!code && feature->optional)
        assay__buf_puts(&words, words.length ? ", optional" : "optional");
    if (!code && words.length && !words.failed)
        feature->words = assay__arena_strdup(coreml->reader.arena, words.data);
    if (words.failed || !feature->words) code = assay__onnx_no_memory(&coreml->reader);
    assay__buf_free(&words);
    return code;
}

static int add_feature(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       struct assay__coreml_features *features)
{
    int code = assay__onnx_message(&coreml->reader, message);
    if (code) return code;
    if (features->count % 16 == 0) {
        struct assay__coreml_feature *fresh = assay__arena_array(
            coreml->reader.arena, features->count + 16, sizeof *fresh);
        if (!fresh || features->count > 4096)
            return fresh ? assay__onnx_fail(&coreml->reader, message->start, "too many features")
                         : assay__onnx_no_memory(&coreml->reader);
        if (features->count) memcpy(fresh, features->items, features->count * sizeof *fresh);
        features->items = fresh;
    }
    code = read_feature(coreml, message, &features->items[features->count]);
    if (!code) features->count++;
    return code;
}

const struct assay__coreml_feature *assay__coreml_feature(
    const struct assay__coreml_features *features, const char *name)
{
    for (size_t i = 0; i < features->count; i++)
        if (strcmp(features->items[i].name, name) == 0) return &features->items[i];
    return NULL;
}

struct assay__dim *assay__coreml_dims(struct assay__coreml *coreml, const char *name, int rank,
                                      const int64_t *dims, const bool *flexible)
{
    struct assay__dim *out = assay__arena_array(coreml->reader.arena, rank > 0 ? (size_t)rank : 0,
                                                sizeof *out);
    for (int i = 0; out && i < rank; i++) {
        bool open = dims[i] < 0 || (flexible && flexible[i]);
        out[i].value = open ? -1 : dims[i];
        out[i].symbol = open ? assay__arena_printf(coreml->reader.arena, "%s_%d", name, i) : "";
        if (!out[i].symbol) return NULL;
    }
    return out;
}

/* --- metadata --------------------------------------------------------------------------------- */

static int read_entry(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    const char *key = "", *value = "";
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "metadata")) == 1) {
        if (field.number == 1) code = assay__onnx_text(&coreml->reader, &field, &key);
        if (field.number == 2) code = assay__onnx_text(&coreml->reader, &field, &value);
        if (code < 0) return code;
    }
    if (code || !*key || message->size > 4096) return code;
    const char *name = assay__arena_printf(coreml->reader.arena, "coreml.user.%s", key);
    if (!name) return assay__onnx_no_memory(&coreml->reader);
    return assay__coreml_metadata(coreml, name, value);
}

static int read_metadata(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    const char *text = NULL;
    int code, entries = 0;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "metadata")) == 1) {
        const char *key = field.number == METADATA_SHORT     ? "coreml.description"
                          : field.number == METADATA_VERSION ? "coreml.version"
                          : field.number == METADATA_AUTHOR  ? "coreml.author"
                                                             : NULL;
        if (key && field.size && field.size < 4096) {
            code = assay__onnx_text(&coreml->reader, &field, &text);
            if (!code) code = assay__coreml_metadata(coreml, key, text);
        } else if (field.number == METADATA_USER && field.type == ASSAY__WIRE_BYTES &&
                   entries++ < 64) {
            code = read_entry(coreml, &field);
        }
        if (code < 0) return code;
    }
    return code;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int read_function(struct assay__coreml *coreml, const struct assay__wire_field *message,
                         struct assay__coreml_description *description, bool *is_default)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    const char *name = "";
    int code;
    *is_default = false;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a function")) == 1)
        if (field.number == FUNCTION_DESCRIPTION_NAME &&
            (code = assay__onnx_text(&coreml->reader, &field, &name)))
            return code;
    if (code || strcmp(name, description->function) != 0) return code;
    *is_default = true;
    wire = assay__wire_over(message->data, message->size);
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a function")) == 1) {
        if (field.number == FUNCTION_DESCRIPTION_INPUT)
            code = add_feature(coreml, &field, &description->inputs);
        if (field.number == FUNCTION_DESCRIPTION_OUTPUT)
            code = add_feature(coreml, &field, &description->outputs);
        if (field.number == FUNCTION_DESCRIPTION_STATE)
            code = add_feature(coreml, &field, &description->states);
        if (code < 0) return code;
    }
    return code;
}

int assay__coreml_describe(struct assay__coreml *coreml, const struct assay__wire_field *message,
                           struct assay__coreml_description *description)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    bool found = false;
    int code;
    description->function = "";
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "the description")) == 1) {
        if (field.number == DESCRIPTION_INPUT)
            code = add_feature(coreml, &field, &description->inputs);
        if (field.number == DESCRIPTION_OUTPUT)
            code = add_feature(coreml, &field, &description->outputs);
        if (field.number == DESCRIPTION_STATE)
            code = add_feature(coreml, &field, &description->states);
        if (field.number == DESCRIPTION_DEFAULT_FUNCTION)
            code = assay__onnx_text(&coreml->reader, &field, &description->function);
        if (field.number == DESCRIPTION_METADATA && field.type == ASSAY__WIRE_BYTES)
            code = read_metadata(coreml, &field);
        if (code < 0) return code;
    }
    /* In a model of several functions each has its own features. */
    wire = assay__wire_over(message->data, message->size);
    while (!code && !found &&
           (code = assay__onnx_next(&coreml->reader, &wire, &field, "the description")) == 1)
        code = field.number == DESCRIPTION_FUNCTION && field.type == ASSAY__WIRE_BYTES
                   ? read_function(coreml, &field, description, &found)
                   : 0;
    return code;
}
