/* coreml.c - Core ML models: finds the files, identifies the kind, and calls its reader.
 *
 * A package is a folder NAME.mlpackage with Manifest.json: {"rootModelIdentifier": ID,
 * "itemInfoEntries": {ID: {"path", …}}}; paths are relative to NAME.mlpackage/Data. The root item
 * is a Model message (Model.proto), the same as in a .mlmodel file. Weights of a program are in a
 * separate file, which the program names ("@model_path/weights/weight.bin"); it is mapped when the
 * first constant refers to it, so an item that is listed in the manifest but not used may be
 * missing. A path must stay inside the package, even through links.
 *
 * Not read: compiled models (.mlmodelc), and kinds of models without a network (trees, linear
 * models, pipelines): each is named in one line. */
#include "model/coreml/coreml.h"

#include "base/json.h"
#include "model/model_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_LIMIT (1u << 20)
#define PATH_SIZE 4096

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    while (length && path[length - 1] == '/')
        length--;
    return length >= tail && memcmp(path + length - tail, ending, tail) == 0;
}

static bool is_coreml(const char *path)
{
    char manifest[PATH_SIZE];
    if (ends_with(path, ".mlpackage") || ends_with(path, ".mlmodel") ||
        ends_with(path, ".mlmodelc"))
        return true;
    return assay__is_folder(path) &&
           !assay__path_join(path, "Manifest.json", manifest, sizeof manifest) &&
           assay__file_exists(manifest);
}

/* --- paths ------------------------------------------------------------------------------------ */

static bool stays_below(const char *name)
{
    if (!*name || *name == '/') return false;
    for (const char *at = name; *at;) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') return false;
        at += length;
        at += *at == '/';
    }
    return true;
}

int assay__coreml_inside(struct assay__coreml *coreml, const char *folder, const char *name,
                         char *out, size_t out_size)
{
    struct assay__reader *reader = &coreml->reader;
    if (!stays_below(name))
        return assay__reader_refuse(reader, ASSAY_EFORMAT,
                                    "the path '%.100s' leads out of the package", name);
    if (assay__path_join(folder, name, out, out_size))
        return assay__reader_refuse(reader, ASSAY_ELIMIT, "a path is too long");
    char *real = realpath(out, NULL);
    if (!real) return assay__reader_refuse(reader, ASSAY_ENOTFOUND, "'%.100s' is missing", name);
    size_t length = strlen(coreml->root);
    bool below = strncmp(real, coreml->root, length) == 0 &&
                 (real[length] == '/' || (length && coreml->root[length - 1] == '/'));
    free(real);
    if (below) return 0;
    return assay__reader_refuse(reader, ASSAY_EFORMAT, "'%.100s' is a link to outside the package",
                                name);
}

/* --- shared by the readers -------------------------------------------------------------------- */

int assay__coreml_code(struct assay__coreml *coreml)
{
    return coreml->model->failed ? assay__reader_no_memory(&coreml->reader) : coreml->reader.code;
}

bool assay__coreml_find(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        uint32_t number, const char *what, struct assay__wire_field *found)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *found = (struct assay__wire_field){.type = ASSAY__WIRE_BYTES, .start = message->start};
    while (assay__reader_next(&coreml->reader, &wire, &field, what))
        if (field.number == number && field.type == ASSAY__WIRE_BYTES) *found = field;
    return found->number != 0;
}

const char *assay__coreml_text(struct assay__coreml *coreml,
                               const struct assay__wire_field *message, uint32_t number,
                               const char *what)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    const char *text = "";
    while (assay__reader_next(&coreml->reader, &wire, &field, what))
        if (field.number == number) text = assay__reader_text(&coreml->reader, &field);
    return text;
}

uint64_t assay__coreml_number(struct assay__coreml *coreml, const struct assay__wire_field *message,
                              uint32_t number, const char *what)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t value = 0;
    while (assay__reader_next(&coreml->reader, &wire, &field, what))
        if (field.number == number && field.type == ASSAY__WIRE_VARINT) value = field.value;
    return value;
}

void assay__coreml_note(struct assay__coreml *coreml, const char *key, const char *value)
{
    const char *whole = assay__reader_printf(&coreml->reader, "coreml.%s", key);
    if (coreml->reader.code) return;
    if (assay__model_set_metadata(coreml->model, whole, value) == ASSAY_ENOMEM)
        assay__reader_no_memory(&coreml->reader);
}

void assay__coreml_note_feature(struct assay__coreml *coreml, const char *side,
                                const struct assay__coreml_feature *feature)
{
    if (!feature || !*feature->words) return;
    assay__coreml_note(coreml, assay__reader_printf(&coreml->reader, "%s.%s", side, feature->name),
                       feature->words);
}

size_t assay__coreml_add_stored(struct assay__coreml *coreml,
                                const struct assay__stored_weight *weight)
{
    struct assay__model *model = coreml->model;
    struct assay__stored_weight *stored = assay__arena_grow(model->arena, model->stored,
                                                            model->stored_count, sizeof *stored);
    if (!stored) {
        assay__reader_no_memory(&coreml->reader);
        return 0;
    }
    model->stored = stored;
    stored[model->stored_count] = *weight;
    return model->stored_count++;
}

/* --- the kinds of models ---------------------------------------------------------------------- */

static const struct {
    uint32_t field;
    const char *name;
} kinds[] = {
    {COREML_NN, "neural network"},
    {COREML_NN_CLASSIFIER, "neural network"},
    {COREML_NN_REGRESSOR, "neural network"},
    {COREML_PROGRAM, "ML program"},
    {200, "pipeline classifier"},
    {201, "pipeline regressor"},
    {202, "pipeline"},
    {300, "linear regressor"},
    {301, "support vector regressor"},
    {302, "tree ensemble regressor"},
    {304, "Bayesian probit regressor"},
    {400, "linear classifier"},
    {401, "support vector classifier"},
    {402, "tree ensemble classifier"},
    {404, "nearest neighbours classifier"},
    {501, "item similarity recommender"},
    {555, "custom model"},
    {556, "linked model"},
    {560, "class confidence thresholding"},
    {600, "one-hot encoder"},
    {601, "imputer"},
    {602, "feature vectorizer"},
    {603, "dictionary vectorizer"},
    {604, "scaler"},
    {606, "categorical mapping"},
    {607, "normalizer"},
    {609, "array feature extractor"},
    {610, "non-maximum suppression"},
    {900, "identity"},
    {2000, "text classifier"},
    {2001, "word tagger"},
    {2002, "vision feature print"},
    {2003, "sound analysis preprocessing"},
    {2004, "gazetteer"},
    {2005, "word embedding"},
    {2006, "audio feature print"},
    {3000, "serialized (encrypted) model"},
};

/* NULL: no kind of model. */
static const char *kind_name(uint32_t field)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].field == field) return kinds[i].name;
    return NULL;
}

/* Kinds of the models inside a pipeline, for the message: "pipeline of neural network, tree
 * ensemble classifier". */
static void name_stages(struct assay__wire pipeline, char *out, size_t out_size)
{
    struct assay__wire_field stage, field;
    size_t used = 0;
    /* PipelineClassifier and PipelineRegressor wrap a Pipeline in their field 1; so does a Pipeline
     * with its models. */
    while (assay__wire_next(&pipeline, &stage) == ASSAY__WIRE_FIELD && used + 1 < out_size) {
        if (stage.number != 1 || stage.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire model = assay__wire_in(&stage);
        const char *kind = NULL;
        while (assay__wire_next(&model, &field) == ASSAY__WIRE_FIELD && !kind)
            kind = kind_name(field.number);
        if (!kind) continue;
        int wrote = snprintf(out + used, out_size - used, "%s%s", used ? ", " : " of ", kind);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

static void refuse_kind(struct assay__coreml *coreml, const struct assay__wire_field *field)
{
    char stages[200] = "";
    bool pipeline = field->number >= COREML_PIPELINE_CLASSIFIER && field->number <= COREML_PIPELINE;
    struct assay__wire wire = assay__wire_in(field);
    struct assay__wire_field inner;
    if (field->number == COREML_PIPELINE)
        name_stages(wire, stages, sizeof stages);
    else if (pipeline && assay__wire_next(&wire, &inner) == ASSAY__WIRE_FIELD &&
             inner.number == 1 && inner.type == ASSAY__WIRE_BYTES)
        name_stages(assay__wire_in(&inner), stages, sizeof stages);
    assay__reader_refuse(&coreml->reader, ASSAY_EUNSUPPORTED,
                         "a Core ML %s%s has no single network to read%s", kind_name(field->number),
                         stages, pipeline ? "; give its stages one by one" : "");
}

static int read_model(struct assay__coreml *coreml, const uint8_t *data, size_t size)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field, description = {.number = 0}, kind = {.number = 0};
    reader->base = data;
    while (assay__reader_next(reader, &wire, &field, "the model")) {
        if (field.number == COREML_SPECIFICATION)
            coreml->specification = assay__reader_int(reader, &field);
        else if (field.number == COREML_DESCRIPTION && assay__reader_message(reader, &field))
            description = field;
        else if (kind_name(field.number) && assay__reader_message(reader, &field))
            kind = field;
    }
    if (!kind.number || coreml->specification < 1)
        return assay__reader_refuse(reader, ASSAY_EFORMAT, "not a Core ML model: it has no %s",
                                    kind.number ? "specification version" : "network");
    bool network = kind.number == COREML_NN || kind.number == COREML_NN_CLASSIFIER ||
                   kind.number == COREML_NN_REGRESSOR;
    if (!network && kind.number != COREML_PROGRAM) refuse_kind(coreml, &kind);
    if (description.number) assay__coreml_describe(coreml, &description);
    assay__coreml_note(coreml, "specification",
                       assay__reader_printf(reader, "%lld", (long long)coreml->specification));
    if (kind.number == COREML_PROGRAM)
        assay__mil_read(coreml, &kind);
    else if (!reader->code)
        assay__coreml_nn_read(coreml, &kind);
    return assay__coreml_code(coreml);
}

/* --- entry ------------------------------------------------------------------------------------ */

static int prepare(struct assay__coreml *coreml, const char *label, struct assay_error *error)
{
    static const struct assay__opset opsets[] = {
        {"", ASSAY__COREML_OPSET}, {"com.microsoft", 1}, {ASSAY__COREML_DOMAIN, 1}};
    struct assay__model *model = assay__model_new();
    if (!model) return assay_error_set(error, ASSAY_ENOMEM, "%.160s: out of memory", label);
    coreml->model = model;
    coreml->reader.arena = model->arena;
    coreml->reader.label = label;
    coreml->reader.error = error;
    coreml->description.function = "";
    model->ir_version = 10;
    model->opset_count = sizeof opsets / sizeof opsets[0];
    model->opsets = assay__arena_alloc(model->arena, sizeof opsets);
    model->path = assay__arena_strdup(model->arena, label);
    if (!model->opsets || !model->path) return assay__reader_no_memory(&coreml->reader);
    memcpy(model->opsets, opsets, sizeof opsets);
    return 0;
}

/* Passes the model to the caller, or frees it. */
static int hand_over(struct assay__coreml *coreml, int code, struct assay__model **model)
{
    *model = code ? NULL : coreml->model;
    if (code) assay__model_free(coreml->model);
    return code;
}

int assay__coreml_parse(const uint8_t *data, size_t size, const uint8_t *weights,
                        size_t weights_size, struct assay__model **model, struct assay_error *error)
{
    struct assay__coreml coreml = {.weights = weights, .weights_size = weights_size};
    int code = prepare(&coreml, "model", error);
    return hand_over(&coreml, code ? code : read_model(&coreml, data, size), model);
}

/* The item of the manifest that is the model, relative to the package. */
static int read_manifest(struct assay__coreml *coreml, const char *path, char *out, size_t out_size)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay_error detail = {.code = 0};
    char manifest[PATH_SIZE], *text = NULL;
    size_t length = 0;
    struct assay__json *root = NULL;
    int code = assay__coreml_inside(coreml, path, "Manifest.json", manifest, sizeof manifest);
    if (!code) code = assay__file_read(manifest, MANIFEST_LIMIT, &text, &length, reader->error);
    if (code) return code;
    if (assay__json_parse(reader->arena, text, length, &root, &detail)) {
        code = assay__reader_refuse(reader, ASSAY_EFORMAT, "Manifest.json is not JSON: %.200s",
                                    detail.message);
        goto out;
    }
    const char *id = assay__json_get_string(root, "rootModelIdentifier", NULL);
    const struct assay__json *items = assay__json_get(root, "itemInfoEntries");
    const struct assay__json *item = id ? assay__json_get(items, id) : NULL;
    const char *name = assay__json_get_string(item, "path", NULL);
    if (!name)
        code = assay__reader_refuse(reader, ASSAY_EFORMAT, "Manifest.json names no root model%s",
                                    id ? " among its items" : "");
    else if (snprintf(out, out_size, "Data/%s", name) >= (int)out_size)
        code = assay__reader_refuse(reader, ASSAY_ELIMIT, "a path is too long");
    else if (!stays_below(name))
        code = assay__reader_refuse(reader, ASSAY_EFORMAT,
                                    "the path '%.100s' leads out of the package", name);
out:
    free(text);
    return code;
}

/* The model file, the folder for "@model_path", and the folder that no path may leave. */
static int locate(struct assay__coreml *coreml, const char *path, char *file, size_t file_size)
{
    struct assay__reader *reader = &coreml->reader;
    bool package = assay__is_folder(path);
    char folder[PATH_SIZE], name[PATH_SIZE];
    int code = package ? 0 : assay__path_folder(path, folder, sizeof folder);
    if (code) return assay__reader_refuse(reader, code, "the path is too long");
    char *real = realpath(package ? path : folder, NULL);
    coreml->root = real ? assay__arena_strdup(reader->arena, real) : NULL;
    free(real);
    if (!coreml->root) return assay__reader_refuse(reader, ASSAY_ENOTFOUND, "not found");
    if (package) {
        code = read_manifest(coreml, path, name, sizeof name);
        if (!code) code = assay__coreml_inside(coreml, path, name, file, file_size);
        if (!code && assay__path_folder(file, folder, sizeof folder)) code = ASSAY_ELIMIT;
    } else if (snprintf(file, file_size, "%s", path) >= (int)file_size) {
        code = assay__reader_refuse(reader, ASSAY_ELIMIT, "the path is too long");
    }
    if (code) return code;
    coreml->folder = assay__reader_printf(reader, "%s", folder);
    coreml->model->folder = coreml->folder;
    return reader->code;
}

static int read_coreml(const char *path, struct assay__model **model, struct assay_error *error)
{
    struct assay__coreml coreml = {.specification = 0};
    char file[PATH_SIZE];
    *model = NULL;
    if (ends_with(path, ".mlmodelc"))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%.200s: a compiled Core ML model; use the .mlpackage or .mlmodel "
                               "that it was compiled from",
                               path);
    int code = prepare(&coreml, path, error);
    if (!code) code = locate(&coreml, path, file, sizeof file);
    if (!code) code = assay__file_map(file, &coreml.model->mapping, error);
    if (!code) code = read_model(&coreml, coreml.model->mapping.data, coreml.model->mapping.size);
    return hand_over(&coreml, code, model);
}

const struct assay__model_format assay__model_format_coreml = {
    .endings = ".mlmodel .mlpackage", .is = is_coreml, .read = read_coreml};
