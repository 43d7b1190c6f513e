/* test_json_pack.c - lists of objects as columns, to the byte: every form of a column, what is left
 * as it is, and text that is no JSON. tests/page_check.py unpacks whole reports. */
#include "harness.h"
#include "report/json/json_pack.h"

static void check_packed(const char *json, const char *expected)
{
    struct assay__buf out = {0};
    assay__json_pack(&out, json, strlen(json));
    CHECK(!out.failed);
    CHECK_STR(assay__buf_text(&out), expected);
    assay__buf_free(&out);
}

/* White space goes; what is no list of like objects stays. */
static void test_others(void)
{
    check_packed("{ \"a\" : [1, 2,\n 3], \"b\": {} , \"c\":[] }",
                 "{\"a\":[1,2,3],\"b\":{},\"c\":[]}");
    check_packed("[\"a, b\", \"\\\"}\", null, true, -1.5e3]",
                 "[\"a, b\",\"\\\"}\",null,true,-1.5e3]");
    check_packed("[{\"a\":1},{\"a\":2},{\"a\":3}]", "[{\"a\":1},{\"a\":2},{\"a\":3}]"); /* few */
    check_packed("[{\"a\":1},{\"a\":2},{\"b\":3},{\"a\":4}]",
                 "[{\"a\":1},{\"a\":2},{\"b\":3},{\"a\":4}]");
    check_packed("[{\"a\":1,\"b\":2},{\"a\":1},{\"a\":1},{\"a\":1}]",
                 "[{\"a\":1,\"b\":2},{\"a\":1},{\"a\":1},{\"a\":1}]");
    check_packed("[{},{},{},{}]", "[{},{},{},{}]");
    check_packed("[1,{\"a\":1},{\"a\":1},{\"a\":1}]", "[1,{\"a\":1},{\"a\":1},{\"a\":1}]");
}

static void test_columns(void)
{
    check_packed("[{\"t\":1,\"s\":\"x\"},{\"t\":2,\"s\":\"x\"},{\"t\":3,\"s\":\"x\"},{\"t\":null,"
                 "\"s\":\"x\"}]",
                 "{\"~rows\":4,\"t\":[1,2,3,null],\"s\":{\"~all\":\"x\"}}");
    /* one of a few */
    struct assay__buf json = {0}, expected = {0};
    assay__buf_puts(&json, "[");
    assay__buf_puts(&expected,
                    "{\"~rows\":16,\"op\":{\"~of\":[\"Convolution\",\"Gemm\"],\"~at\":[");
    for (int i = 0; i < 16; i++) {
        assay__buf_printf(&json, "%s{\"op\":\"%s\"}", i ? "," : "", i % 3 ? "Gemm" : "Convolution");
        assay__buf_printf(&expected, "%s%d", i ? "," : "", i % 3 ? 1 : 0);
    }
    assay__buf_puts(&json, "]");
    assay__buf_puts(&expected, "]}}");
    check_packed(json.data, expected.data);
    assay__buf_free(&json);
    assay__buf_free(&expected);
}

static void test_strings(void)
{
    check_packed(
        "[{\"n\":\"/encoder/layer.0/a\"},{\"n\":\"/encoder/layer.0/b\"},"
        "{\"n\":\"/encoder/layer.0\"},{\"n\":\"\"}]",
        "{\"~rows\":4,\"n\":{\"~front\":[0,\"/encoder/layer.0/a\",17,\"b\",16,\"\",0,\"\"]}}");
    /* characters are not bytes there */
    check_packed(
        "[{\"n\":\"/encoder/\\u00e9\"},{\"n\":\"/encoder/b\"},{\"n\":\"/encoder/c\"},{\"n\":\"/"
        "encoder/d\"}]",
        "{\"~rows\":4,\"n\":[\"/encoder/\\u00e9\",\"/encoder/b\",\"/encoder/c\",\"/encoder/d\"]}");
    check_packed("[{\"f\":[\"/a/b/conv1\",\"/a/b/conv2\"]},{\"f\":[]},{\"f\":[\"/a/b/"
                 "conv3\"]},{\"f\":[\"/a/b/conv4\"]}]",
                 "{\"~rows\":4,\"f\":{\"~list\":[2,0,1,1],\"~items\":{\"~front\":[0,\"/a/b/"
                 "conv1\",9,\"2\",9,\"3\",9,"
                 "\"4\"]}}}");
    check_packed("[{\"f\":[]},{\"f\":[ ]},{\"f\":[]},{\"f\":[]}]",
                 "{\"~rows\":4,\"f\":{\"~list\":[0,0,0,0],\"~items\":[]}}");
}

/* Lists inside of rows are packed too. */
static void test_nested(void)
{
    check_packed("{\"t\":[{\"l\":[{\"a\":1},{\"a\":1},{\"a\":1},{\"a\":1}]}]}",
                 "{\"t\":[{\"l\":{\"~rows\":4,\"a\":{\"~all\":1}}}]}");
    check_packed("[{\"o\":{\"x\":1}},{\"o\":{\"x\":2}},{\"o\":{}},{\"o\":{\"x\":4}}]",
                 "{\"~rows\":4,\"o\":[{\"x\":1},{\"x\":2},{},{\"x\":4}]}");
}

static void test_no_json(void)
{
    static const char *const bad[] = {"", "  ", "]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct assay__buf out = {0};
        assay__json_pack(&out, bad[i], strlen(bad[i]));
        CHECK(out.failed);
        assay__buf_free(&out);
    }
    /* cut short: no more is read than is there */
    static const char json[] =
        "{\"a\":[{\"b\":\"c\\\"d\"},{\"b\":[1,2]},{\"b\":{\"x\":1}},{\"b\":null}]}";
    for (size_t length = 0; length < sizeof json; length++) {
        char *cut = malloc(length + 1);
        CHECK(cut != NULL);
        memcpy(cut, json, length);
        struct assay__buf out = {0};
        assay__json_pack(&out, cut, length);
        assay__buf_free(&out);
        free(cut);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"others", test_others},
                                                {"columns", test_columns},
                                                {"strings", test_strings},
                                                {"nested", test_nested},
                                                {"no JSON", test_no_json}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
