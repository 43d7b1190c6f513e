/* test_shapes_oracle.c - shapes and types against onnx.shape_inference: wherever it knows a type, a
 * rank, a dimension or names a symbol of the model, ours must be the same; and a valid model has no
 * contradictions. The models and what onnx says of them lie in tests/fixtures/shapes (written by
 * tests/oracle/shapes.py, which also describes the format); ASSAY_SHAPES_FOLDER names another
 * folder (all node tests, the light models: `shapes.py live`). */
#include "model_fixture.h"

#include "base/file.h"
#include "model/shapes/shape_call.h"

struct listing {
    const char *folder;
    struct assay__mapping pack, expected;
    const char *line; /* in expected */
    size_t models, values, dims, symbols, wrong, conflicts;
};

/* The next line without its end; false at the end of the text. */
static bool next_line(struct listing *listing, char *out, size_t size)
{
    const char *end = (const char *)listing->expected.data + listing->expected.size;
    if (listing->line >= end) return false;
    const char *stop = memchr(listing->line, '\n', (size_t)(end - listing->line));
    if (!stop) stop = end;
    size_t length = (size_t)(stop - listing->line);
    CHECK(length < size);
    memcpy(out, listing->line, length);
    out[length] = '\0';
    listing->line = stop + 1;
    return true;
}

static void complain(struct listing *listing, const char *model, const char *value,
                     const char *what, const char *ours, const char *theirs)
{
    listing->wrong++;
    if (listing->wrong <= 200)
        printf("  %s: %s: %s is %s, onnx says %s\n", model, value, what, ours, theirs);
}

static void check_dim(struct listing *listing, const char *model, const char *value,
                      const struct assay__shapes *shapes, int64_t dim, const char *theirs)
{
    char ours[256];
    const char *text = theirs;
    struct assay__symbols *symbols = assay__symbols_new();
    CHECK(symbols != NULL);
    bool number = *theirs >= '0' && *theirs <= '9' &&
                  strspn(theirs, "0123456789") == strlen(theirs);
    if (!number) text = assay__num_text(symbols, assay__num_symbol(symbols, theirs));
    if (dim >= 0)
        snprintf(ours, sizeof ours, "%lld", (long long)dim);
    else
        snprintf(ours, sizeof ours, "%s", dim == -1 ? "?" : assay__shapes_symbol(shapes, dim));
    listing->dims++;
    listing->symbols += !number;
    if (strcmp(ours, text) != 0) complain(listing, model, value, "a dimension", ours, theirs);
    assay__symbols_free(symbols);
}

/* line: value, type, dims, separated by tabs */
static void check_value(struct listing *listing, const char *model,
                        const struct assay__shapes *shapes, char *line)
{
    char *type = strchr(line, '\t'), *dims = type ? strchr(type + 1, '\t') : NULL, number[32];
    CHECK(dims != NULL);
    *type++ = *dims++ = '\0';
    const struct assay__shape_entry *entry = assay__shapes_get(shapes, line);
    long dtype = strtol(type, NULL, 10);
    listing->values++;
    if (!entry) {
        complain(listing, model, line, "the value", "not known", dims);
        return;
    }
    if (dtype != 0 && dtype != (long)entry->dtype)
        complain(listing, model, line, "the type", assay__dtype_name(entry->dtype),
                 assay__dtype_name((enum assay__dtype)dtype));
    if (strcmp(dims, "*") == 0) return;
    int rank = *dims ? 1 : 0;
    for (const char *c = dims; *c; c++)
        rank += *c == ';';
    snprintf(number, sizeof number, "%d", entry->rank);
    if (entry->rank != rank) {
        complain(listing, model, line, "the rank", number, dims);
        return;
    }
    for (int i = 0; i < rank; i++) {
        char *end = strchr(dims, ';');
        if (end) *end = '\0';
        if (strcmp(dims, "?") != 0) check_dim(listing, model, line, shapes, entry->dims[i], dims);
        dims = end ? end + 1 : dims;
    }
}

/* A valid model has no contradictions, also with what it states of its values. */
static void check_conflicts(struct listing *listing, const char *name,
                            const struct assay__model *model)
{
    struct assay__shapes *shapes = NULL;
    const struct assay__shape_conflict *conflicts;
    if (assay__shapes_infer(model, NULL, 0, &shapes, NULL)) return;
    size_t count = assay__shapes_conflicts(shapes, &conflicts);
    for (size_t i = 0; i < count; i++)
        printf("  %s: contradiction at %s (%s): %s\n", name, conflicts[i].node, conflicts[i].op,
               conflicts[i].message);
    listing->conflicts += count;
    assay__shapes_free(shapes);
}

/* Everything that follows must follow from the inputs. */
static void forget_stated(struct assay__model *model)
{
    model->graph.value_count = 0;
    for (size_t i = 0; i < model->graph.output_count; i++) {
        model->graph.outputs[i].dtype = ASSAY__UNDEFINED;
        model->graph.outputs[i].rank = -1;
    }
}

/* Dimensions that the file states and that did not follow: printed on demand, to find what rows
 * could still say. */
static void show_unknown(const char *name, const struct assay__shapes *shapes,
                         const struct assay__value *stated, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct assay__shape_entry *entry = assay__shapes_get(shapes, stated[i].name);
        bool open = !entry || entry->rank < 0 || !entry->dtype;
        for (int k = 0; !open && k < entry->rank && k < stated[i].rank; k++)
            open = entry->dims[k] == -1 && stated[i].dims[k].value >= 0;
        if (open && stated[i].kind == ASSAY__KIND_TENSOR)
            printf("  unknown: %s: %s\n", name, stated[i].name);
    }
}

static void check_model(struct listing *listing, const char *name, const uint8_t *data, size_t size)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    struct assay__shapes *shapes = NULL;
    struct assay__value *stated = NULL;
    size_t stated_count = 0;
    char line[4096];
    if (!assay__model_parse(data, size, &model, &error) && !assay__model_inline(model, &error)) {
        check_conflicts(listing, name, model);
        stated_count = model->graph.output_count;
        stated = calloc(stated_count + 1, sizeof *stated);
        CHECK(stated != NULL);
        for (size_t i = 0; i < stated_count; i++)
            stated[i] = model->graph.outputs[i];
        forget_stated(model);
    }
    if (!model || assay__shapes_infer(model, NULL, 0, &shapes, &error))
        complain(listing, name, "", "the model", error.message, "fine");
    listing->models++;
    for (;;) {
        const char *start = listing->line;
        if (!next_line(listing, line, sizeof line)) break;
        if (strncmp(line, "model ", 6) == 0 && !strchr(line, '\t')) {
            listing->line = start;
            break;
        }
        if (shapes) check_value(listing, name, shapes, line);
    }
    if (shapes && getenv("ASSAY_SHAPES_UNKNOWN")) show_unknown(name, shapes, stated, stated_count);
    free(stated);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void check_all(struct listing *listing)
{
    char path[1024], line[4096], name[512];
    snprintf(path, sizeof path, "%s/models.pack", listing->folder);
    CHECK_INT(assay__file_map(path, &listing->pack, NULL), 0);
    snprintf(path, sizeof path, "%s/expected.txt", listing->folder);
    CHECK_INT(assay__file_map(path, &listing->expected, NULL), 0);
    listing->line = (const char *)listing->expected.data;
    size_t at = 0;
    while (at < listing->pack.size) {
        const char *head = (const char *)listing->pack.data + at;
        const char *stop = memchr(head, '\n', listing->pack.size - at);
        CHECK(stop != NULL && (size_t)(stop - head) < sizeof line);
        snprintf(line, sizeof line, "%.*s", (int)(stop - head), head);
        char *space = strrchr(line, ' ');
        CHECK(space != NULL);
        size_t size = (size_t)strtoull(space + 1, NULL, 10);
        *space = '\0';
        snprintf(name, sizeof name, "%.500s", line);
        at += (size_t)(stop - head) + 1;
        CHECK(size <= listing->pack.size - at);
        CHECK(next_line(listing, line, sizeof line));
        CHECK_STR(line + 6, name);
        check_model(listing, name, listing->pack.data + at, size);
        at += size;
    }
    assay__file_unmap(&listing->pack);
    assay__file_unmap(&listing->expected);
}

static void test_oracle(void)
{
    const char *folder = getenv("ASSAY_SHAPES_FOLDER");
    struct listing listing = {.folder = folder ? folder : ASSAY_TEST_ROOT "/tests/fixtures/shapes"};
    check_all(&listing);
    printf("  %zu models, %zu values, %zu dimensions (%zu symbols): %zu differ, %zu conflicts\n",
           listing.models, listing.values, listing.dims, listing.symbols, listing.wrong,
           listing.conflicts);
    CHECK(listing.models >= 250 && listing.dims > 1000);
    CHECK_INT(listing.wrong, 0);
    CHECK_INT(listing.conflicts, 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"onnx_shape_inference", test_oracle}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
