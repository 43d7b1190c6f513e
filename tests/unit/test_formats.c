/* test_formats.c - the table of formats: its names are the choices of --format, files are known by
 * what they end in, every row renders; and the node data for the Model Explorer viewer, to the
 * byte. */
#include "harness.h"
#include "report/formats.h"
#include "report/subject/subjects.h"

#include <assay/report.h>

static void test_names(void)
{
    const struct assay__format *format;
    char joined[256] = "";
    size_t used = 0, count = 0;
    for (; (format = assay__format_at(count)); count++) {
        CHECK_STR(assay_report_format(count), format->name);
        CHECK((format->walk == NULL) != (format->write == NULL));
        CHECK(*format->summary && *format->extensions);
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", count ? "|" : "",
                                 format->name);
        for (size_t k = 0; k < count; k++)
            CHECK(strcmp(assay__format_at(k)->name, format->name) != 0);
    }
    CHECK(count >= 7);
    CHECK(assay_report_format(count) == NULL);
    CHECK_STR(ASSAY__FORMAT_NAMES, joined);
}

static void check_path(const char *path, const char *expected)
{
    const struct assay__format *format = assay__format_of_path(path);
    if (!expected && format) printf("  '%s' is taken for %s\n", path, format->name);
    CHECK((format == NULL) == (expected == NULL));
    if (format) CHECK_STR(format->name, expected);
}

static void test_paths(void)
{
    check_path("x.html", "html");
    check_path("a.b/x.HTM", "html");
    check_path("x.md", "markdown");
    check_path("x.markdown", "markdown");
    check_path("x.csv", "csv");
    check_path("x.json", "json"); /* not model-explorer's, which shares it */
    check_path("./x.y.xml", "junit");
    check_path("x.txt", "text");
    check_path("x.svg", NULL);
    check_path("x", NULL);
    check_path("html", NULL);
    check_path(".html", NULL);
    check_path("a.html/x", NULL);
    check_path("a/.json", NULL);
    check_path("x.", NULL);
    check_path("x.htmlx", NULL);
    check_path("x.ht", NULL);
    check_path("x.md markdown", NULL);
    check_path("", NULL);
    check_path(NULL, NULL);
    CHECK(assay__path_is_svg("a/x.SVG") && assay__path_is_svg("x.y.svg"));
    CHECK(!assay__path_is_svg("svg") && !assay__path_is_svg(".svg") && !assay__path_is_svg(NULL));
}

/* Every table that can be asked for is there, once. */
static void test_tables(void)
{
    struct assay_profile *profile = assay__profile_new();
    char names[32][32] = {{0}};
    size_t count = 0;
    CHECK(profile != NULL);
    assay__profile_set_command(profile, "run");
    for (const char *at = ASSAY__TABLE_NAMES; *at; count++) {
        char name[32], *text = NULL;
        size_t length = strcspn(at, "|");
        struct assay_error error = {0};
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        struct assay_report_options options = {
            .size = sizeof options, .format = "csv", .table = name};
        CHECK_INT(assay_report(profile, &options, &text, NULL, &error), 0);
        CHECK(strchr(text, ',') && strchr(text, '\n') == text + strlen(text) - 1);
        assay_free(text);
        CHECK(count < sizeof names / sizeof names[0]);
        for (size_t i = 0; i < count; i++)
            CHECK(strcmp(names[i], name) != 0);
        snprintf(names[count], sizeof names[count], "%s", name);
        at += length;
        at += *at == '|';
    }
    CHECK(count >= 14);
    struct assay_report_options options = {
        .size = sizeof options, .format = "csv", .table = "metric"};
    struct assay_error error = {0};
    char *text = NULL;
    CHECK_INT(assay_report(profile, &options, &text, NULL, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "table");
    CHECK_HAS(error.message, "'metric' ("); /* and the names of all that there are */
    CHECK_HAS(error.message, ASSAY__TABLE_NAMES);
    options = (struct assay_report_options){.size = sizeof options, .format = "pdf"};
    CHECK_INT(assay_report(profile, &options, &text, NULL, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "format");
    options = (struct assay_report_options){.size = sizeof options, .detail = "some"};
    CHECK_INT(assay_report(profile, &options, &text, NULL, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "detail");
    CHECK(text == NULL);
    assay_profile_close(profile);
}

/* --- node data -------------------------------------------------------------------------------- */

static const char *conv[] = {"conv \"1\"", "relu"}, *gemm[] = {"gemm"};
static struct assay__layer layers[] = {
    {.name = "fused", .from = conv, .from_count = 2, .time_ns = 1500000},
    {.name = "gemm_a", .from = gemm, .from_count = 1, .time_ns = 250000},
    {.name = "engine's own", .time_ns = 9e6},
    {.name = "unknown", .from = gemm, .from_count = 1, .time_ns = NAN},
    {.name = "gemm_b", .from = gemm, .from_count = 1, .time_ns = 500000},
};

static struct assay_profile *make(size_t layer_count)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    assay__profile_set_command(profile, "run");
    CHECK(assay__profile_trial(profile) != NULL); /* the first has no layers */
    struct assay__trial *trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    trial->layers.items = layers;
    trial->layers.count = layer_count;
    return profile;
}

static const struct assay_report_options node_data = {.size = sizeof node_data,
                                                      .format = "model-explorer"};

static void test_model_explorer(void)
{
    struct assay_profile *profile = make(sizeof layers / sizeof layers[0]);
    struct assay_error error = {0};
    char *text = NULL;
    CHECK_INT(assay_report(profile, &node_data, &text, NULL, &error), 0);
    CHECK_STR(text, "{\n"
                    "  \"name\": \"time per inference (ms)\",\n"
                    "  \"results\": {\n"
                    "    \"conv \\\"1\\\"\": {\n"
                    "      \"value\": 1.5\n"
                    "    },\n"
                    "    \"gemm\": {\n"
                    "      \"value\": 0.75\n"
                    "    }\n"
                    "  },\n"
                    "  \"gradient\": [\n"
                    "    {\n"
                    "      \"stop\": 0,\n"
                    "      \"bgColor\": \"#ffffff\",\n"
                    "      \"textColor\": \"#1a1a1a\"\n"
                    "    },\n"
                    "    {\n"
                    "      \"stop\": 0.5,\n"
                    "      \"bgColor\": \"#f5c26b\",\n"
                    "      \"textColor\": \"#1a1a1a\"\n"
                    "    },\n"
                    "    {\n"
                    "      \"stop\": 1,\n"
                    "      \"bgColor\": \"#b3350a\",\n"
                    "      \"textColor\": \"#ffffff\"\n"
                    "    }\n"
                    "  ]\n"
                    "}\n");
    assay_free(text);
    assay_profile_close(profile);
}

static void test_model_explorer_without_layers(void)
{
    struct assay_profile *profile = make(0);
    struct assay_error error = {0};
    char *text = NULL;
    CHECK_INT(assay_report(profile, &node_data, &text, NULL, &error), ASSAY_ENOTFOUND);
    CHECK(text == NULL);
    CHECK_STR(error.option, "layers");
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"names", test_names},
        {"paths", test_paths},
        {"tables", test_tables},
        {"model_explorer", test_model_explorer},
        {"model_explorer_without_layers", test_model_explorer_without_layers},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
