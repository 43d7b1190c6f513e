/* test_coreml_bad.c - damaged and hostile Core ML input: each is refused with one line that says
 * what is wrong, and nothing outside a package is opened. Messages are built by hand here (wire
 * format: tag, length, bytes). */
#include "coreml_fixture.h"

#include <ftw.h>
#include <sys/stat.h>

/* --- messages --------------------------------------------------------------------------------- */

static void put_varint(struct assay__buf *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        assay__buf_putc(out, (char)((value & 127) | 128));
    assay__buf_putc(out, (char)value);
}

static void put_int(struct assay__buf *out, uint32_t number, uint64_t value)
{
    put_varint(out, (uint64_t)number << 3);
    put_varint(out, value);
}

static void put_bytes(struct assay__buf *out, uint32_t number, const void *data, size_t size)
{
    put_varint(out, (uint64_t)number << 3 | 2);
    put_varint(out, size);
    assay__buf_add(out, data, size);
}

static void put_text(struct assay__buf *out, uint32_t number, const char *text)
{
    put_bytes(out, number, text, strlen(text));
}

/* Appends `inner` as field `number` and empties it. */
static void wrap(struct assay__buf *out, uint32_t number, struct assay__buf *inner)
{
    put_bytes(out, number, inner->data ? inner->data : "", inner->length);
    assay__buf_free(inner);
}

/* A map's entry {1 key, 2 value}. */
static void put_entry(struct assay__buf *out, uint32_t number, const char *key,
                      struct assay__buf *value)
{
    struct assay__buf entry = {0};
    put_text(&entry, 1, key);
    wrap(&entry, 2, value);
    wrap(out, number, &entry);
}

/* NamedValueType: a float32 tensor of one axis of four. */
static void put_named(struct assay__buf *out, uint32_t number, const char *name)
{
    struct assay__buf size = {0}, dim = {0}, tensor = {0}, type = {0}, named = {0};
    put_int(&size, 1, 4);
    wrap(&dim, 1, &size);
    put_int(&tensor, 1, 11);
    put_int(&tensor, 2, 1);
    wrap(&tensor, 3, &dim);
    wrap(&type, 1, &tensor);
    put_text(&named, 1, name);
    wrap(&named, 2, &type);
    wrap(out, number, &named);
}

/* operation type(x = from) -> to, in field 3 of a block. */
static void put_operation(struct assay__buf *block, const char *type, const char *from,
                          const char *to, struct assay__buf *inner)
{
    struct assay__buf operation = {0}, argument = {0}, binding = {0};
    put_text(&operation, 1, type);
    put_text(&binding, 1, from);
    wrap(&argument, 1, &binding);
    put_entry(&operation, 2, strcmp(type, "cond") == 0 ? "pred" : "x", &argument);
    put_named(&operation, 3, to);
    for (int i = 0; inner && i < 2; i++)
        put_bytes(&operation, 4, inner->data, inner->length);
    wrap(block, 3, &operation);
}

/* A program whose main block is given; input x. */
static void put_program(struct assay__buf *out, struct assay__buf *block)
{
    struct assay__buf function = {0}, program = {0};
    put_named(&function, 1, "x");
    put_text(&function, 2, "CoreML7");
    put_entry(&function, 3, "CoreML7", block);
    put_entry(&program, 2, "main", &function);
    put_int(out, 1, 8);
    wrap(out, 502, &program);
}

static int parse(const void *data, size_t size, const void *weights, size_t weights_size,
                 struct assay_error *error)
{
    struct assay__model *model = NULL;
    int code = assay__coreml_parse(data, size, weights, weights_size, &model, error);
    if (code) CHECK(*error->message && !strchr(error->message, '\n') && !model);
    assay__model_free(model);
    return code;
}

static void check_refused(struct assay__buf *message, int code, const char *text)
{
    struct assay_error error = {0};
    CHECK_INT(parse(message->data, message->length, NULL, 0, &error), code);
    CHECK_HAS(error.message, text);
    assay__buf_free(message);
}

/* --- programs --------------------------------------------------------------------------------- */

static void test_names(void)
{
    struct assay__buf block = {0}, model = {0};
    struct assay_error error = {0};
    put_operation(&block, "ios17.relu", "x", "y", NULL);
    put_text(&block, 2, "y");
    put_program(&model, &block);
    CHECK_INT(parse(model.data, model.length, NULL, 0, &error), 0); /* the good one */
    assay__buf_free(&model);
    put_operation(&block, "relu", "y", "y", NULL);
    put_program(&model, &block);
    check_refused(&model, ASSAY_EFORMAT, "reads 'y', which no earlier operation produces");
    put_operation(&block, "relu", "x", "y", NULL);
    put_operation(&block, "tanh", "x", "y", NULL);
    put_program(&model, &block);
    check_refused(&model, ASSAY_EFORMAT, "two values are called 'y'");
    put_operation(&block, "relu", "x", "y", NULL);
    put_text(&block, 2, "z");
    put_program(&model, &block);
    check_refused(&model, ASSAY_EFORMAT, "nothing produces the block result 'z'");
    put_operation(&block, "cond", "x", "y", NULL);
    put_program(&model, &block);
    CHECK_INT(parse(model.data, model.length, NULL, 0, &error), 0); /* no blocks: kept */
    assay__buf_free(&model);
}

/* An operator that no table has is kept by name, without its prefix. */
static void test_unknown_operator(void)
{
    struct assay__buf block = {0}, message = {0};
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    put_operation(&block, "ios99.fold_space", "x", "y", NULL);
    put_text(&block, 2, "y");
    put_program(&message, &block);
    CHECK_INT(
        assay__coreml_parse((const uint8_t *)message.data, message.length, NULL, 0, &model, &error),
        0);
    CHECK_INT(model->graph.node_count, 1);
    CHECK_STR(model->graph.nodes[0].op, "fold_space");
    CHECK_STR(model->graph.nodes[0].domain, "coreml");
    CHECK_STR(model->graph.nodes[0].inputs[0], "x");
    assay__model_free(model);
    assay__buf_free(&message);
}

static void test_nesting(void)
{
    struct assay__buf block = {0}, model = {0};
    put_operation(&block, "relu", "x", "y0", NULL);
    put_text(&block, 2, "y0");
    for (int i = 1; i <= 18; i++) {
        struct assay__buf outer = {0};
        char name[16];
        snprintf(name, sizeof name, "y%d", i);
        put_operation(&outer, "cond", "x", name, &block);
        put_text(&outer, 2, name);
        assay__buf_free(&block);
        block = outer;
    }
    put_program(&model, &block);
    check_refused(&model, ASSAY_ELIMIT, "blocks are nested too deeply");
}

static void test_kinds(void)
{
    struct assay__buf tree = {0}, network = {0}, pipeline = {0}, model = {0}, empty = {0};
    put_int(&model, 1, 4);
    wrap(&model, 402, &empty);
    check_refused(&model, ASSAY_EUNSUPPORTED, "tree ensemble classifier");
    put_int(&tree, 1, 1);
    wrap(&tree, 402, &empty);
    put_int(&network, 1, 1);
    wrap(&network, 500, &empty);
    wrap(&pipeline, 1, &network);
    wrap(&pipeline, 1, &tree);
    put_int(&model, 1, 4);
    wrap(&model, 202, &pipeline);
    check_refused(&model, ASSAY_EUNSUPPORTED,
                  "pipeline of neural network, tree ensemble classifier");
    put_int(&model, 1, 4);
    check_refused(&model, ASSAY_EFORMAT, "it has no network");
    put_text(&model, 1, "not a number");
    check_refused(&model, ASSAY_EFORMAT, "wire type");
}

/* --- weights ---------------------------------------------------------------------------------- */

struct files {
    struct assay__mapping model, weights;
};

static struct files open_fixture(void)
{
    struct files files;
    struct assay_error error = {0};
    CHECK_INT(assay__file_map(COREML_FOLDER
                              "quantised18.mlpackage/Data/com.apple.CoreML/model.mlmodel",
                              &files.model, &error),
              0);
    CHECK_INT(assay__file_map(COREML_FOLDER
                              "quantised18.mlpackage/Data/com.apple.CoreML/weights/weight.bin",
                              &files.weights, &error),
              0);
    return files;
}

static void test_cut(void)
{
    struct files files = open_fixture();
    struct assay_error error = {0};
    size_t refused = 0;
    CHECK_INT(
        parse(files.model.data, files.model.size, files.weights.data, files.weights.size, &error),
        0);
    for (size_t i = 0; i < files.model.size; i++)
        refused += parse(files.model.data, i, files.weights.data, files.weights.size, &error) != 0;
    CHECK_INT(refused, files.model.size); /* the program is the last field: every cut shows */
    for (size_t i = 0; i < files.weights.size; i += 7)
        CHECK(parse(files.model.data, files.model.size, files.weights.data, i, &error) != 0);
    CHECK(parse(files.model.data, files.model.size, NULL, 0, &error) != 0);
    CHECK_HAS(error.message, "version of the weights file");
    assay__file_unmap(&files.model);
    assay__file_unmap(&files.weights);
}

/* The first blob stands at 64: magic, type, bytes, offset of the data. */
static void test_blobs(void)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *text;
    } changes[] = {{4, 1, "version of the weights file"},
                   {64, 0, "no constant at offset 64"},
                   {68, 17, "another type"},
                   {72, 1, "bytes for"},
                   {79, 255, "past the end"},
                   {87, 127, "past the end"}};
    struct files files = open_fixture();
    uint8_t *copy = malloc(files.weights.size);
    CHECK(copy != NULL);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct assay_error error = {0};
        memcpy(copy, files.weights.data, files.weights.size);
        copy[changes[i].at] = changes[i].byte;
        CHECK_INT(parse(files.model.data, files.model.size, copy, files.weights.size, &error),
                  ASSAY_EFORMAT);
        CHECK_HAS(error.message, changes[i].text);
    }
    free(copy);
    assay__file_unmap(&files.model);
    assay__file_unmap(&files.weights);
}

/* --- packages --------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[1024];
    struct assay_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(assay__file_write(path, text, strlen(text), &error), 0);
}

static void check_package(const char *path, int code, const char *text)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__model_load(path, &model, &error), code);
    CHECK_HAS(error.message, text);
    CHECK(!strchr(error.message, '\n') && !model);
}

static void check_manifest(const char *package, const char *manifest, int code, const char *text)
{
    write_text(package, "Manifest.json", manifest);
    check_package(package, code, text);
}

#define MANIFEST(path) \
    "{\"rootModelIdentifier\": \"a\", \"itemInfoEntries\": {\"a\": {\"path\": \"" path "\"}}}"

static void test_packages(void)
{
    char folder[512], package[600], path[1024];
    struct assay_error error = {0};
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    snprintf(package, sizeof package, "%s/x.mlpackage", folder);
    snprintf(path, sizeof path, "%s/Data", package);
    CHECK(mkdir(package, 0700) == 0 && mkdir(path, 0700) == 0);
    check_package(package, ASSAY_ENOTFOUND, "Manifest.json");
    check_manifest(package, "no json", ASSAY_EFORMAT, "Manifest.json is not JSON");
    check_manifest(package, "{}", ASSAY_EFORMAT, "names no root model");
    check_manifest(package, "{\"rootModelIdentifier\": \"b\", \"itemInfoEntries\": {}}",
                   ASSAY_EFORMAT, "names no root model among its items");
    check_manifest(package, MANIFEST("../../secret"), ASSAY_EFORMAT, "leads out of the package");
    check_manifest(package, MANIFEST("/etc/passwd"), ASSAY_EFORMAT, "leads out of the package");
    check_manifest(package, MANIFEST("m.mlmodel"), ASSAY_ENOTFOUND, "is missing");
    write_text(folder, "secret", "secret");
    snprintf(path, sizeof path, "%s/Data/m.mlmodel", package);
    CHECK(symlink("../../secret", path) == 0);
    check_package(package, ASSAY_EFORMAT, "link to outside");
    CHECK(unlink(path) == 0);
    write_text(package, "Data/m.mlmodel", "");
    check_package(package, ASSAY_EFORMAT, "empty");
    write_text(package, "Data/m.mlmodel", "hello, this is no model");
    check_package(package, ASSAY_EFORMAT, "");
    snprintf(path, sizeof path, "%s/y.mlmodelc", folder);
    check_package(path, ASSAY_EUNSUPPORTED, "compiled");
    snprintf(path, sizeof path, "%s/missing.mlmodel", folder);
    check_package(path, ASSAY_ENOTFOUND, "missing.mlmodel");
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
}

/* A program whose weights file is missing says so; one that reads none needs none. */
static void test_missing_weights(void)
{
    char folder[512], path[1024];
    struct assay_error error = {0};
    struct files files = open_fixture();
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    snprintf(path, sizeof path, "%s/x.mlmodel", folder);
    CHECK_INT(assay__file_write(path, files.model.data, files.model.size, &error), 0);
    check_package(path, ASSAY_ENOTFOUND, "'weights/weight.bin' is missing");
    CHECK(nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
    assay__file_unmap(&files.model);
    assay__file_unmap(&files.weights);
}

/* --- networks --------------------------------------------------------------------------------- */

static void test_networks(void)
{
    struct assay_error error = {0};
    struct assay__mapping file;
    CHECK_INT(assay__file_map(COREML_FOLDER "network.mlmodel", &file, &error), 0);
    for (size_t i = 0; i < file.size; i += 5)
        parse(file.data, i, NULL, 0, &error); /* a line or a model, and no crash */
    CHECK(parse(file.data, file.size - 1, NULL, 0, &error) != 0);
    assay__file_unmap(&file);
    struct assay__buf layer = {0}, inner = {0}, network = {0}, model = {0};
    put_text(&layer, 1, "a");
    put_text(&layer, 2, "nothing");
    put_text(&layer, 3, "y");
    wrap(&layer, 665, &inner);
    wrap(&network, 1, &layer);
    put_int(&model, 1, 4);
    wrap(&model, 500, &network);
    check_refused(&model, ASSAY_EFORMAT, "layer 'a': it reads 'nothing'");
    /* a constant of 2^60 numbers that are not there */
    put_text(&layer, 1, "c");
    put_text(&layer, 3, "y");
    for (int i = 0; i < 3; i++)
        put_int(&inner, 1, 1u << 20);
    put_text(&inner, 2, "");
    wrap(&layer, 290, &inner);
    wrap(&network, 1, &layer);
    put_int(&model, 1, 4);
    wrap(&model, 500, &network);
    check_refused(&model, ASSAY_EFORMAT, "layer 'c': its weights have 0 bytes");
}

/* A layer {name, input, output, KIND: params}; what is "" is left out. */
static void put_layer(struct assay__buf *network, const char *name, const char *input,
                      const char *output, uint32_t kind, struct assay__buf *params)
{
    struct assay__buf layer = {0}, none = {0};
    put_text(&layer, 1, name);
    if (*input) put_text(&layer, 2, input);
    if (*output) put_text(&layer, 3, output);
    wrap(&layer, kind, params ? params : &none);
    wrap(network, 1, &layer);
}

/* range_1d of nothing makes the first value, so that the model needs no description. */
static void start_network(struct assay__buf *network)
{
    put_layer(network, "start", "", "x", 635, NULL);
}

static void put_network(struct assay__buf *model, struct assay__buf *network)
{
    put_int(model, 1, 4);
    wrap(model, 500, network);
}

/* A name written again is a value of its own; the later one counts. */
static void test_assignment(void)
{
    struct assay__buf network = {0}, message = {0};
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    start_network(&network);
    put_layer(&network, "a", "x", "x.again1", 665, NULL);
    put_layer(&network, "b", "x", "y", 670, NULL);
    put_layer(&network, "c", "y", "x", 600, NULL);
    put_layer(&network, "d", "x", "z", 680, NULL);
    put_network(&message, &network);
    CHECK_INT(
        assay__coreml_parse((const uint8_t *)message.data, message.length, NULL, 0, &model, &error),
        0);
    CHECK_STR(model->graph.nodes[3].outputs[0], "x.again2"); /* x.again1 was taken */
    CHECK_STR(model->graph.nodes[4].inputs[0], "x.again2");
    CHECK_STR(model->graph.nodes[2].inputs[0], "x");
    CHECK_INT(assay__model_check(model, &error), 0);
    assay__model_free(model);
    assay__buf_free(&message);
}

/* A condition's layers are written before the loop and in it, its weights only before. */
static void test_condition_weights(void)
{
    struct assay__buf network = {0}, message = {0}, params = {0}, inner = {0}, weights = {0};
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    int64_t elements = 0, bytes = 0;
    put_bytes(&weights, 1, (const float[2]){1, 0}, 2 * sizeof(float));
    put_int(&params, 1, 2);
    wrap(&params, 2, &weights);
    put_layer(&inner, "flags", "", "go", 1070, &params);
    wrap(&params, 3, &inner);
    put_text(&params, 2, "go");
    start_network(&network);
    put_layer(&network, "l", "", "", 615, &params);
    put_network(&message, &network);
    CHECK_INT(
        assay__coreml_parse((const uint8_t *)message.data, message.length, NULL, 0, &model, &error),
        0);
    CHECK_INT(assay__model_check(model, &error), 0);
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 2);
    const struct assay__node *loop = &model->graph.nodes[model->graph.node_count - 1];
    CHECK_STR(loop->op, "Loop");
    CHECK_STR(loop->attrs[0].g->nodes[0].name, "l.again/flags");
    CHECK_STR(loop->attrs[0].g->nodes[0].inputs[0], "l.first/flags.value");
    CHECK(assay__graph_initializer(&model->graph, "l.first/flags.value") != NULL);
    assay__model_free(model);
    assay__buf_free(&message);
}

static void test_control(void)
{
    struct assay_error error = {0};
    struct assay__buf network = {0}, model = {0}, inner = {0}, params = {0};
    /* a branch that writes what is not there, and someone who reads it */
    put_layer(&inner, "in", "x", "w", 665, NULL);
    wrap(&params, 1, &inner);
    start_network(&network);
    put_layer(&network, "b", "x", "", 605, &params);
    put_layer(&network, "after", "w", "y", 665, NULL);
    put_network(&model, &network);
    check_refused(&model, ASSAY_EUNSUPPORTED,
                  "layer 'after': it reads 'w', which is produced only inside a branch or loop");
    start_network(&network);
    put_layer(&network, "b", "", "", 605, NULL);
    put_network(&model, &network);
    check_refused(&model, ASSAY_EFORMAT, "layer 'b': a branch with 0 inputs");
    /* a condition that makes another value than the one that is named */
    put_layer(&inner, "in", "x", "w", 665, NULL);
    put_text(&params, 2, "go");
    wrap(&params, 3, &inner);
    start_network(&network);
    put_layer(&network, "l", "", "", 615, &params);
    put_network(&model, &network);
    check_refused(&model, ASSAY_EFORMAT, "layer 'l': nothing produces its condition 'go'");
    put_layer(&inner, "in", "x", "", 605, NULL);
    wrap(&params, 3, &inner);
    start_network(&network);
    put_layer(&network, "l", "", "", 615, &params);
    put_network(&model, &network);
    check_refused(&model, ASSAY_EUNSUPPORTED, "layer 'l': its condition contains a branch");
    put_layer(&inner, "in", "gone", "w", 665, NULL);
    wrap(&params, 4, &inner);
    start_network(&network);
    put_layer(&network, "l", "", "", 615, &params);
    put_network(&model, &network);
    check_refused(&model, ASSAY_EFORMAT, "layer 'in': it reads 'gone', which no earlier layer");
    /* nothing in it at all: a loop that does nothing, and no crash */
    start_network(&network);
    put_layer(&network, "l", "x", "", 615, NULL);
    put_layer(&network, "b", "x", "", 605, NULL);
    put_layer(&network, "", "", "", 620, NULL);
    put_layer(&network, "", "", "", 625, NULL);
    put_network(&model, &network);
    CHECK_INT(parse(model.data, model.length, NULL, 0, &error), 0);
    assay__buf_free(&model);
    /* branches within branches, loops within loops, and cut ones */
    for (uint32_t kind = 605; kind <= 615; kind += 10) {
        put_layer(&network, "last", "x", "y", 665, NULL);
        for (int i = 0; i < 100; i++) {
            wrap(&params, kind == 605 ? 1 : 4, &network);
            put_layer(&network, "level", "x", "", kind, &params);
        }
        start_network(&inner);
        assay__buf_add(&inner, network.data, network.length);
        assay__buf_free(&network);
        put_network(&model, &inner);
        check_refused(&model, ASSAY_EFORMAT, "more than 32 nested networks");
    }
}

/* What coremltools writes, with every byte changed in turn, and cut at every fifth. */
static void test_control_damaged(void)
{
    struct assay_error error = {0};
    char *data = NULL;
    size_t size = 0;
    CHECK_INT(assay__file_read(COREML_FOLDER "control.mlmodel", 1 << 20, &data, &size, &error), 0);
    for (size_t i = 0; i < size; i += 5)
        parse(data, i, NULL, 0, &error);
    for (size_t i = 0; i < size; i++) {
        char kept = data[i];
        data[i] = (char)(kept ^ 1);
        int code = parse(data, size, NULL, 0, &error);
        CHECK(code == 0 || *error.message);
        data[i] = kept;
    }
    CHECK_INT(parse(data, size, NULL, 0, &error), 0);
    free(data);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"names", test_names},
        {"unknown_operator", test_unknown_operator},
        {"nesting", test_nesting},
        {"kinds", test_kinds},
        {"cut", test_cut},
        {"blobs", test_blobs},
        {"packages", test_packages},
        {"missing_weights", test_missing_weights},
        {"networks", test_networks},
        {"assignment", test_assignment},
        {"control", test_control},
        {"control_damaged", test_control_damaged},
        {"condition_weights", test_condition_weights},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
