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

/* A shape: repeated int64 in fields `number` of the message. */
static void read_shape(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       uint32_t number, int *rank, int64_t **dims)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int64_t items[ASSAY__ONNX_RANK] = {0};
    *rank = 0;
    while (assay__reader_next(reader, &wire, &field, "a shape"))
        if (field.number == number) assay__onnx_dims(reader, &field, "a shape", items, rank);
    *dims = assay__reader_array(reader, (size_t)*rank, sizeof **dims);
    if (reader->code) *rank = 0;
    for (int i = 0; i < *rank; i++) {
        (*dims)[i] = items[i];
        if (items[i] < 0) assay__reader_fail(reader, message->start, "a negative dimension");
    }
}

/* SizeRange: 1 lowerBound, 2 upperBound (negative: unbounded). */
struct range {
    uint64_t lower;
    int64_t upper;
};

static struct range read_range(struct assay__coreml *coreml,
                               const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct range range = {0, 0};
    while (assay__reader_next(&coreml->reader, &wire, &field, "a size range")) {
        if (field.type != ASSAY__WIRE_VARINT) continue;
        if (field.number == 1) range.lower = field.value;
        if (field.number == 2) range.upper = (int64_t)field.value;
    }
    return range;
}

/* Makes the axis flexible when the range leaves it a choice, and says so: "axis 2: 64 to 512". */
static void add_range(struct assay__coreml_feature *feature, int axis, const char *what,
                      struct range range, struct assay__buf *words)
{
    if (axis >= feature->rank || (range.upper >= 0 && range.lower == (uint64_t)range.upper)) return;
    feature->flexible[axis] = true;
    if (words->length) assay__buf_puts(words, ", ");
    assay__buf_puts(words, what);
    if (strcmp(what, "axis") == 0) assay__buf_printf(words, " %d", axis);
    if (range.upper < 0)
        assay__buf_printf(words, ": from %llu", (unsigned long long)range.lower);
    else
        assay__buf_printf(words, ": %llu to %lld", (unsigned long long)range.lower,
                          (long long)range.upper);
}

static void make_flexible(struct assay__coreml *coreml, struct assay__coreml_feature *feature)
{
    if (feature->flexible || feature->rank < 0) return;
    feature->flexible = assay__reader_array(&coreml->reader, (size_t)feature->rank, sizeof(bool));
}

/* --- arrays ----------------------------------------------------------------------------------- */

static void array_ranges(struct assay__coreml *coreml, const struct assay__wire_field *message,
                         struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int axis = 0;
    make_flexible(coreml, feature);
    while (assay__reader_next(&coreml->reader, &wire, &field, "a shape range"))
        if (field.number == 1 && field.type == ASSAY__WIRE_BYTES)
            add_range(feature, axis++, "axis", read_range(coreml, &field), words);
}

static void array_enumerated(struct assay__coreml *coreml, const struct assay__wire_field *message,
                             struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int rank = 0, shapes = 0;
    make_flexible(coreml, feature);
    while (assay__reader_next(&coreml->reader, &wire, &field, "enumerated shapes")) {
        int64_t *dims = NULL;
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        read_shape(coreml, &field, 1, &rank, &dims);
        if (++shapes <= NAMED_SHAPES) {
            assay__buf_puts(words, shapes == 1 ? "one of " : ", ");
            for (int i = 0; i < rank; i++)
                assay__buf_printf(words, "%s%lld", i ? "x" : "", (long long)dims[i]);
        }
        for (int i = 0; i < rank && i < feature->rank; i++)
            if (dims[i] != feature->dims[i]) feature->flexible[i] = true;
    }
    if (shapes > NAMED_SHAPES) assay__buf_printf(words, " and %d more", shapes - NAMED_SHAPES);
}

static void read_array(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    read_shape(coreml, message, ARRAY_SHAPE, &feature->rank, &feature->dims);
    if (!feature->rank) feature->rank = -1; /* not stated */
    while (assay__reader_next(&coreml->reader, &wire, &field, "an array type")) {
        if (field.number == ARRAY_TYPE && field.type == ASSAY__WIRE_VARINT)
            feature->dtype = array_dtype(field.value);
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == ARRAY_RANGE) array_ranges(coreml, &field, feature, words);
        if (field.number == ARRAY_ENUMERATED) array_enumerated(coreml, &field, feature, words);
    }
    for (int i = 0; words->length && i < feature->rank; i++)
        assay__buf_printf(words, "%s%lld", i ? "x" : "; default ", (long long)feature->dims[i]);
}

/* --- images ----------------------------------------------------------------------------------- */

static void image_ranges(struct assay__coreml *coreml, const struct assay__wire_field *message,
                         struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    make_flexible(coreml, feature);
    while (assay__reader_next(&coreml->reader, &wire, &field, "an image size range")) {
        bool width = field.number == 1;
        if ((!width && field.number != 2) || field.type != ASSAY__WIRE_BYTES) continue;
        add_range(feature, width ? 3 : 2, width ? "width" : "height", read_range(coreml, &field),
                  words);
    }
}

/* ImageFeatureType and ImageSize: width and height; the type has the colour too. */
static void read_size(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      uint64_t *width, uint64_t *height, uint64_t *color)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *width = *height = *color = 0;
    while (assay__reader_next(&coreml->reader, &wire, &field, "an image type")) {
        if (field.type != ASSAY__WIRE_VARINT) continue;
        if (field.number == IMAGE_WIDTH) *width = field.value;
        if (field.number == IMAGE_HEIGHT) *height = field.value;
        if (field.number == IMAGE_COLOR) *color = field.value;
    }
}

static void image_enumerated(struct assay__coreml *coreml, const struct assay__wire_field *message,
                             struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    make_flexible(coreml, feature);
    while (assay__reader_next(&coreml->reader, &wire, &field, "image sizes")) {
        uint64_t width, height, color;
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        read_size(coreml, &field, &width, &height, &color);
        if ((int64_t)height != feature->dims[2]) feature->flexible[2] = true;
        if ((int64_t)width != feature->dims[3]) feature->flexible[3] = true;
        if (words->length < 200)
            assay__buf_printf(words, ", or %llu x %llu", (unsigned long long)width,
                              (unsigned long long)height);
    }
}

static void read_image(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t width, height, color;
    int64_t *dims = assay__reader_array(reader, 4, sizeof *dims);
    if (!dims) return;
    read_size(coreml, message, &width, &height, &color);
    dims[0] = 1;
    dims[1] = color == 20 || color == 30 ? 3 : 1;
    dims[2] = (int64_t)height;
    dims[3] = (int64_t)width;
    if (dims[2] < 0 || dims[3] < 0)
        assay__reader_fail(reader, message->start, "a negative image size");
    feature->rank = 4;
    feature->dims = dims;
    feature->dtype = ASSAY__FLOAT32; /* unless the network's function says otherwise */
    assay__buf_printf(words, "image %s", color_name(color));
    while (assay__reader_next(reader, &wire, &field, "an image type")) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == IMAGE_RANGE) image_ranges(coreml, &field, feature, words);
        if (field.number == IMAGE_ENUMERATED) image_enumerated(coreml, &field, feature, words);
    }
}

/* --- features --------------------------------------------------------------------------------- */

static void scalar_feature(struct assay__coreml *coreml, struct assay__coreml_feature *feature,
                           enum assay__dtype dtype)
{
    feature->dtype = dtype;
    feature->dims = assay__reader_array(&coreml->reader, 1, sizeof *feature->dims);
    if (!feature->dims) return;
    feature->rank = 1;
    feature->dims[0] = 1;
}

/* StateFeatureType: 1 arrayType. */
static void read_state(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__reader_next(&coreml->reader, &wire, &field, "a state type"))
        if (field.number == 1 && field.type == ASSAY__WIRE_BYTES)
            read_array(coreml, &field, feature, words);
}

static void read_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__reader_next(&coreml->reader, &wire, &field, "a feature type")) {
        if (field.number == FEATURE_OPTIONAL && field.type == ASSAY__WIRE_VARINT)
            feature->optional = field.value != 0;
        if (field.type != ASSAY__WIRE_BYTES || field.number > FEATURE_STATE) continue;
        feature->kind = (int)field.number;
        switch (field.number) {
        case FEATURE_INT64: scalar_feature(coreml, feature, ASSAY__INT64); break;
        case FEATURE_DOUBLE: scalar_feature(coreml, feature, ASSAY__FLOAT64); break;
        case FEATURE_STRING: scalar_feature(coreml, feature, ASSAY__STRING); break;
        case FEATURE_IMAGE: read_image(coreml, &field, feature, words); break;
        case FEATURE_ARRAY: read_array(coreml, &field, feature, words); break;
        case FEATURE_STATE: read_state(coreml, &field, feature, words); break;
        default:
            assay__buf_puts(words, field.number == FEATURE_DICTIONARY ? "dictionary" : "sequence");
        }
    }
}

static void read_feature(struct assay__coreml *coreml, const struct assay__wire_field *message,
                         struct assay__coreml_feature *feature)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct assay__buf words = {.data = NULL};
    *feature = (struct assay__coreml_feature){.name = "", .rank = -1, .words = ""};
    while (assay__reader_next(&coreml->reader, &wire, &field, "a feature")) {
        if (field.number == FEATURE_NAME)
            feature->name = assay__reader_text(&coreml->reader, &field);
        if (field.number == FEATURE_TYPE && field.type == ASSAY__WIRE_BYTES)
            read_type(coreml, &field, feature, &words);
    }
    if (feature->optional) assay__buf_puts(&words, words.length ? ", optional" : "optional");
    feature->words = assay__buf_keep(&words, coreml->reader.arena);
    if (!feature->words) assay__reader_no_memory(&coreml->reader);
}

static void add_feature(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__coreml_features *features)
{
    struct assay__reader *reader = &coreml->reader;
    if (!assay__reader_message(reader, message)) return;
    if (features->count > 4096) assay__reader_fail(reader, message->start, "too many features");
    struct assay__coreml_feature *items = assay__arena_grow(reader->arena, features->items,
                                                            features->count, sizeof *items);
    if (!items) assay__reader_no_memory(reader);
    if (reader->code) return;
    features->items = items;
    read_feature(coreml, message, &items[features->count++]);
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
    if (rank < 1) return NULL;
    struct assay__dim *out = assay__reader_array(&coreml->reader, (size_t)rank, sizeof *out);
    for (int i = 0; out && i < rank; i++) {
        bool open = dims[i] < 0 || (flexible && flexible[i]);
        out[i].value = open ? -1 : dims[i];
        out[i].symbol = open ? assay__reader_printf(&coreml->reader, "%s_%d", name, i) : "";
    }
    return out;
}

/* --- metadata --------------------------------------------------------------------------------- */

static void read_entry(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    const char *key = "", *value = "";
    while (assay__reader_next(reader, &wire, &field, "metadata")) {
        if (field.number == 1) key = assay__reader_text(reader, &field);
        if (field.number == 2) value = assay__reader_text(reader, &field);
    }
    if (*key && message->size <= 4096)
        assay__coreml_note(coreml, assay__reader_printf(reader, "user.%s", key), value);
}

static void read_metadata(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int entries = 0;
    while (assay__reader_next(&coreml->reader, &wire, &field, "metadata")) {
        const char *key = field.number == METADATA_SHORT     ? "description"
                          : field.number == METADATA_VERSION ? "version"
                          : field.number == METADATA_AUTHOR  ? "author"
                                                             : NULL;
        if (key && field.size && field.size < 4096)
            assay__coreml_note(coreml, key, assay__reader_text(&coreml->reader, &field));
        else if (field.number == METADATA_USER && field.type == ASSAY__WIRE_BYTES && entries++ < 64)
            read_entry(coreml, &field);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Reads the features of the function that the description names as its default. */
static bool read_function(struct assay__coreml *coreml, const struct assay__wire_field *message,
                          struct assay__coreml_description *description)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    const char *name = "";
    while (assay__reader_next(reader, &wire, &field, "a function"))
        if (field.number == FUNCTION_DESCRIPTION_NAME) name = assay__reader_text(reader, &field);
    if (strcmp(name, description->function) != 0) return false;
    wire = assay__wire_in(message);
    while (assay__reader_next(reader, &wire, &field, "a function")) {
        if (field.number == FUNCTION_DESCRIPTION_INPUT)
            add_feature(coreml, &field, &description->inputs);
        if (field.number == FUNCTION_DESCRIPTION_OUTPUT)
            add_feature(coreml, &field, &description->outputs);
        if (field.number == FUNCTION_DESCRIPTION_STATE)
            add_feature(coreml, &field, &description->states);
    }
    return true;
}

void assay__coreml_describe(struct assay__coreml *coreml, const struct assay__wire_field *message,
                            struct assay__coreml_description *description)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    description->function = "";
    while (assay__reader_next(reader, &wire, &field, "the description")) {
        if (field.number == DESCRIPTION_INPUT) add_feature(coreml, &field, &description->inputs);
        if (field.number == DESCRIPTION_OUTPUT) add_feature(coreml, &field, &description->outputs);
        if (field.number == DESCRIPTION_STATE) add_feature(coreml, &field, &description->states);
        if (field.number == DESCRIPTION_DEFAULT_FUNCTION)
            description->function = assay__reader_text(reader, &field);
        if (field.number == DESCRIPTION_METADATA && field.type == ASSAY__WIRE_BYTES)
            read_metadata(coreml, &field);
    }
    /* In a model of several functions each has its own features. */
    wire = assay__wire_in(message);
    while (assay__reader_next(reader, &wire, &field, "the description"))
        if (field.number == DESCRIPTION_FUNCTION && field.type == ASSAY__WIRE_BYTES &&
            read_function(coreml, &field, description))
            return;
}
