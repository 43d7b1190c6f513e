/* test_import_match.c - which importer a file is for: every fixture is claimed surely by its own
 * importer and by no other, however it is called, and so is every real trace where they are. Files
 * that are no traces are claimed by none. */
#include "import_case.h"

#include "import/import_stream.h"

/* The names of the importers that claim a file, "kineto ort?"; "?": not surely. */
static const char *claims(const char *path)
{
    static char out[256];
    struct assay__import_watch watch = {0};
    struct assay__import_stream *stream = NULL;
    const char *head = NULL;
    size_t size = 0, count = 0;
    CHECK_INT(assay__import_open(path, &watch, &stream, NULL), 0);
    CHECK_INT(assay__import_head(stream, &head, &size, NULL), 0);
    const struct assay__importer *const *importers = assay__importers(&count);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        enum assay__import_match match = importers[i]->match(head, size);
        size_t length = strlen(out);
        if (match != ASSAY__IMPORT_NO)
            snprintf(out + length, sizeof out - length, "%s%s%s", length ? " " : "",
                     importers[i]->name, match == ASSAY__IMPORT_YES ? "" : "?");
        CHECK_INT(importers[i]->match("", 0), ASSAY__IMPORT_NO);
        for (size_t cut = 1; cut < 200 && cut < size; cut++)
            importers[i]->match(head, cut); /* must not read beyond */
    }
    assay__import_close(stream);
    return out;
}

static void test_fixtures(void)
{
    static const struct {
        const char *file, *importer;
    } files[] = {
        {TRACES "xctrace-tables.xml", "xctrace"},
        {TRACES "nsys-small.sqlite", "nsys"},
        {TRACES "nsys-h200.sqlite", "nsys"},
        {TRACES "perf-stacks.txt", "perf"},
        {TRACES "perfetto.pftrace", "perfetto"},
        {TRACES "kineto.json", "kineto"},
        {TRACES "jax.json", "kineto"},
        {TRACES "ort.json", "ort"},
        {ASSAY_TEST_ROOT "/tests/fixtures/powermetrics/two.plist", "powermetrics"},
        {ASSAY_TEST_ROOT "/tests/fixtures/powermetrics/two.txt", "powermetrics"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char said[256];
        snprintf(said, sizeof said, "%s", claims(files[i].file));
        /* the general reader of Chrome traces may take ONNX Runtime's too, less surely */
        char *less = strstr(said, "kineto? ");
        if (less) memmove(less, less + 8, strlen(less + 8) + 1);
        CHECK_STR(said, files[i].importer);
    }
}

static void test_real(void)
{
    static const struct {
        const char *file, *importer;
    } files[] = {
        {REAL "traces/xctrace-metal-gpu-intervals.xml", "xctrace"},
        {REAL "traces/xctrace-time-sample.xml", "xctrace"},
        {REAL "powermetrics/m1.plist", "powermetrics"},
        {REAL "traces/kineto-alexnet.json.gz", "kineto"},
        {REAL "traces/kineto-mi250.json.gz", "kineto"},
        {REAL "traces/kineto-ns-rank0.json.gz", "kineto"},
        {REAL "traces/kineto-h200-encoder-sync.json.gz", "kineto"},
    };
    if (access(REAL "README.md", R_OK)) SKIP("no ../shared/data beside the checkout");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        CHECK_STR(claims(files[i].file), files[i].importer);
}

static void test_others(void)
{
    static const struct {
        const char *text;
        size_t size;
    } texts[] = {
#define TEXT(text) {text, sizeof text - 1}
        TEXT("hello world\n"),
        TEXT("\n\n\n"),
        TEXT("\n\x05hello"),
        TEXT("<?xml version=\"1.0\"?><html><body>trace</body></html>"),
        TEXT("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>x</key></dict></plist>"),
        TEXT("2026-01-01 12:00:00.123456: INFO: started\n"),
        TEXT("[12345.678901] usb 1-1: new device\n"),
        TEXT("\x08\x07\x12\x04tool"), /* a model */
        TEXT("\x7f"
             "ELF\x02\x01\x01"),
        TEXT("time,value\n1,2\n"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *said = claims(import_write("file", texts[i].text, texts[i].size));
        if (said[0]) harness_fail(__FILE__, __LINE__, said);
    }
    CHECK_STR(claims(ASSAY_TEST_ROOT "/CMakeLists.txt"), "");
    CHECK_STR(claims(ASSAY_TEST_ROOT "/README.md"), "");
    CHECK_STR(claims(ASSAY_TEST_ROOT "/tests/fixtures/models/cfc/model.onnx"), "");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fixtures", test_fixtures},
        {"real", test_real},
        {"others", test_others},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
