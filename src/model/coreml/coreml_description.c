/* coreml_description.c - ModelDescription (Model.proto, FeatureTypes.proto): inputs, outputs and
 * states with their types, flexible shapes and images, and the metadata written by people.
 *
 * A flexible dimension (a range, or one that differs between enumerated shapes) becomes symbolic in
 * the graph; its possible values are kept as text in the metadata, under "coreml.input.NAME". */
#include "model/coreml/coreml.h"

#include "base/buf.h"

#include <string.h>

#define NAMED_SHAPES 4 /* enumerated shapes that are listed */

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

/* SizeRange {1 lowerBound, 2 upperBound (negative: unbounded)}: makes the axis flexible if it
 * leaves a choice, and notes it: "axis 2: 64 to 512". */
static void add_range(struct assay__coreml *coreml, const struct assay__wire_field *range,
                      struct assay__coreml_feature *feature, int axis, const char *what,
                      struct assay__buf *words)
{
    uint64_t lower = assay__coreml_number(coreml, range, 1, "a size range");
    int64_t upper = (int64_t)assay__coreml_number(coreml, range, 2, "a size range");
    if (axis >= feature->rank || (upper >= 0 && lower == (uint64_t)upper)) return;
    feature->flexible[axis] = true;
    assay__buf_printf(words, "%s%s", words->length ? ", " : "", what);
    if (strcmp(what, "axis") == 0) assay__buf_printf(words, " %d", axis);
    assay__buf_printf(words, ": %s%llu", upper < 0 ? "from " : "", (unsigned long long)lower);
    if (upper >= 0) assay__buf_printf(words, " to %lld", (long long)upper);
}

static void make_flexible(struct assay__coreml *coreml, struct assay__coreml_feature *feature)
{
    if (feature->flexible || feature->rank < 0) return;
    feature->flexible = assay__reader_array(&coreml->reader, (size_t)feature->rank, sizeof(bool));
}

/* --- arrays ----------------------------------------------------------------------------------- */

static void array_enumerated(struct assay__coreml *coreml, const struct assay__wire_field *message,
                             struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int rank = 0, shapes = 0;
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
    static const struct {
        uint64_t type;
        enum assay__dtype dtype;
    } types[] = {{65568, ASSAY__FLOAT32},
                 {65600, ASSAY__FLOAT64},
                 {65552, ASSAY__FLOAT16},
                 {131104, ASSAY__INT32},
                 {131080, ASSAY__INT8}};
    struct assay__wire wire = assay__wire_in(message), ranges;
    struct assay__wire_field field, range;
    int axis = 0;
    read_shape(coreml, message, ARRAY_SHAPE, &feature->rank, &feature->dims);
    if (!feature->rank) feature->rank = -1; /* not stated */
    uint64_t type = assay__coreml_number(coreml, message, ARRAY_TYPE, "an array type");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type) feature->dtype = types[i].dtype;
    make_flexible(coreml, feature);
    while (assay__reader_next(&coreml->reader, &wire, &field, "an array type")) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == ARRAY_ENUMERATED) array_enumerated(coreml, &field, feature, words);
        if (field.number != ARRAY_RANGE) continue;
        ranges = assay__wire_in(&field);
        while (assay__reader_next(&coreml->reader, &ranges, &range, "a shape range"))
            if (range.number == 1 && range.type == ASSAY__WIRE_BYTES)
                add_range(coreml, &range, feature, axis++, "axis", words);
    }
    for (int i = 0; words->length && i < feature->rank; i++)
        assay__buf_printf(words, "%s%lld", i ? "x" : "; default ", (long long)feature->dims[i]);
}

/* --- images ----------------------------------------------------------------------------------- */

/* Width or height of an ImageFeatureType or ImageSize. */
static int64_t image_side(struct assay__coreml *coreml, const struct assay__wire_field *message,
                          uint32_t side)
{
    return (int64_t)assay__coreml_number(coreml, message, side, "an image type");
}

/* An ImageSizeRange {1 width, 2 height}, or enumerated sizes {1 ImageSize}. */
static void image_sizes(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    bool ranges = message->number == IMAGE_RANGE;
    while (assay__reader_next(&coreml->reader, &wire, &field,
                              ranges ? "an image size range" : "image sizes")) {
        if (field.type != ASSAY__WIRE_BYTES || !field.number || field.number > (ranges ? 2 : 1))
            continue;
        if (ranges) {
            bool width = field.number == 1;
            add_range(coreml, &field, feature, width ? 3 : 2, width ? "width" : "height", words);
            continue;
        }
        int64_t width = image_side(coreml, &field, IMAGE_WIDTH),
                height = image_side(coreml, &field, IMAGE_HEIGHT);
        if (height != feature->dims[2]) feature->flexible[2] = true;
        if (width != feature->dims[3]) feature->flexible[3] = true;
        if (words->length < 200)
            assay__buf_printf(words, ", or %llu x %llu", (unsigned long long)width,
                              (unsigned long long)height);
    }
}

static void read_image(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       struct assay__coreml_feature *feature, struct assay__buf *words)
{
    static const char *const colors[] = {
        [10] = "grayscale", [20] = "RGB", [30] = "BGR", [40] = "grayscale float16"};
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t color = assay__coreml_number(coreml, message, IMAGE_COLOR, "an image type");
    bool known = color < sizeof colors / sizeof colors[0] && colors[color];
    feature->rank = 4;
    feature->dtype = ASSAY__FLOAT32; /* unless the network's function says otherwise */
    feature->dims = assay__reader_array(reader, 4, sizeof *feature->dims);
    if (!feature->dims) return;
    feature->dims[0] = 1;
    feature->dims[1] = color == 20 || color == 30 ? 3 : 1;
    feature->dims[2] = image_side(coreml, message, IMAGE_HEIGHT);
    feature->dims[3] = image_side(coreml, message, IMAGE_WIDTH);
    if (feature->dims[2] < 0 || feature->dims[3] < 0)
        assay__reader_fail(reader, message->start, "a negative image size");
    assay__buf_printf(words, "image %s", known ? colors[color] : "of an unknown colour space");
    make_flexible(coreml, feature);
    while (assay__reader_next(reader, &wire, &field, "an image type"))
        if (field.type == ASSAY__WIRE_BYTES &&
            (field.number == IMAGE_RANGE || field.number == IMAGE_ENUMERATED))
            image_sizes(coreml, &field, feature, words);
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

static void read_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__coreml_feature *feature, struct assay__buf *words)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field, array;
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
        case FEATURE_STATE: /* StateFeatureType {1 arrayType} */
            if (assay__coreml_find(coreml, &field, 1, "a state type", &array))
                read_array(coreml, &array, feature, words);
            break;
        default:
            assay__buf_puts(words, field.number == FEATURE_DICTIONARY ? "dictionary" : "sequence");
        }
    }
}

static void add_feature(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__coreml_features *features)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire_field type;
    struct assay__buf words = {.data = NULL};
    if (!assay__reader_message(reader, message)) return;
    if (features->count > 4096) assay__reader_fail(reader, message->start, "too many features");
    struct assay__coreml_feature *items = assay__arena_grow(reader->arena, features->items,
                                                            features->count, sizeof *items);
    if (!items) assay__reader_no_memory(reader);
    if (reader->code) return;
    features->items = items;
    struct assay__coreml_feature *feature = &items[features->count++];
    *feature = (struct assay__coreml_feature){.rank = -1};
    feature->name = assay__coreml_text(coreml, message, FEATURE_NAME, "a feature");
    if (assay__coreml_find(coreml, message, FEATURE_TYPE, "a feature", &type))
        read_type(coreml, &type, feature, &words);
    if (feature->optional) assay__buf_puts(&words, words.length ? ", optional" : "optional");
    feature->words = assay__buf_keep(&words, reader->arena);
    if (!feature->words) assay__reader_no_memory(reader);
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

static void read_metadata(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int entries = 0;
    while (assay__reader_next(reader, &wire, &field, "metadata")) {
        const char *key = field.number == METADATA_SHORT     ? "description"
                          : field.number == METADATA_VERSION ? "version"
                          : field.number == METADATA_AUTHOR  ? "author"
                                                             : NULL;
        if (key && field.size && field.size < 4096)
            assay__coreml_note(coreml, key, assay__reader_text(reader, &field));
        if (field.number != METADATA_USER || field.type != ASSAY__WIRE_BYTES) continue;
        if (entries == 64) continue;
        entries++;
        key = assay__coreml_text(coreml, &field, 1, "metadata");
        const char *value = assay__coreml_text(coreml, &field, 2, "metadata");
        if (*key && field.size <= 4096)
            assay__coreml_note(coreml, assay__reader_printf(reader, "user.%s", key), value);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Adds the feature if the field is an input, output or state, by the numbers of these fields. */
static void take_feature(struct assay__coreml *coreml, const struct assay__wire_field *field,
                         uint32_t input, uint32_t output, uint32_t state)
{
    struct assay__coreml_description *description = &coreml->description;
    if (field->number == input) add_feature(coreml, field, &description->inputs);
    if (field->number == output) add_feature(coreml, field, &description->outputs);
    if (field->number == state) add_feature(coreml, field, &description->states);
}

void assay__coreml_describe(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message), inner;
    struct assay__wire_field field, part;
    const char *function = "";
    while (assay__reader_next(reader, &wire, &field, "the description")) {
        take_feature(coreml, &field, DESCRIPTION_INPUT, DESCRIPTION_OUTPUT, DESCRIPTION_STATE);
        if (field.number == DESCRIPTION_DEFAULT_FUNCTION)
            function = assay__reader_text(reader, &field);
        if (field.number == DESCRIPTION_METADATA && field.type == ASSAY__WIRE_BYTES)
            read_metadata(coreml, &field);
    }
    coreml->description.function = function;
    /* In a model of several functions each has its own features: those of the default one are
     * read. */
    wire = assay__wire_in(message);
    while (assay__reader_next(reader, &wire, &field, "the description")) {
        if (field.number != DESCRIPTION_FUNCTION || field.type != ASSAY__WIRE_BYTES ||
            strcmp(assay__coreml_text(coreml, &field, FUNCTION_DESCRIPTION_NAME, "a function"),
                   function) != 0)
            continue;
        inner = assay__wire_in(&field);
        while (assay__reader_next(reader, &inner, &part, "a function"))
            take_feature(coreml, &part, FUNCTION_DESCRIPTION_INPUT, FUNCTION_DESCRIPTION_OUTPUT,
                         FUNCTION_DESCRIPTION_STATE);
        return;
    }
}
