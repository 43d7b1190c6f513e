/* test_json.c - the writer, the token stream and the tree. */
#include "harness.h"

#include "base/json.h"

static void test_writer(void)
{
    struct assay__buf out = {0};
    struct assay__json_writer w;
    assay__json_start(&w, &out, false);
    assay__json_object(&w);
    assay__json_put_string(&w, "s", "a\"\\\n\x01µ\xff");
    assay__json_put_string(&w, "null", NULL);
    assay__json_put_number(&w, "nan", NAN);
    assay__json_put_integer(&w, "i", INT64_MIN);
    assay__json_put_bool(&w, "b", true);
    assay__json_key(&w, "a");
    assay__json_array(&w);
    assay__json_unsigned(&w, UINT64_MAX);
    assay__json_object(&w);
    assay__json_object_end(&w);
    assay__json_array(&w);
    assay__json_array_end(&w);
    assay__json_null(&w);
    assay__json_array_end(&w);
    assay__json_object_end(&w);
    CHECK(!out.failed);
    CHECK_STR(out.data,
              "{\"s\":\"a\\\"\\\\\\n\\u0001µ\xef\xbf\xbd\",\"null\":null,\"nan\":null,"
              "\"i\":-9223372036854775808,\"b\":true,\"a\":[18446744073709551615,{},[],null]}");
    assay__buf_free(&out);
}

static void test_writer_pretty(void)
{
    struct assay__buf out = {0};
    struct assay__json_writer w;
    assay__json_start(&w, &out, true);
    assay__json_object(&w);
    assay__json_put_integer(&w, "a", 1);
    assay__json_key(&w, "b");
    assay__json_array(&w);
    assay__json_integer(&w, 2);
    assay__json_array_end(&w);
    assay__json_object_end(&w);
    CHECK_STR(out.data, "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}");
    assay__buf_free(&out);
}

static void test_writer_depth(void)
{
    struct assay__buf out = {0};
    struct assay__json_writer w;
    assay__json_start(&w, &out, false);
    for (int i = 0; i < 100; i++)
        assay__json_array(&w);
    CHECK(out.failed); /* refused, not overrun */
    assay__buf_free(&out);
    assay__json_start(&w, &out, false);
    assay__json_object_end(&w);
    CHECK(out.failed);
    assay__buf_free(&out);
}

static void check_number(double value, const char *expected)
{
    struct assay__buf out = {0};
    struct assay__json_writer w;
    assay__json_start(&w, &out, false);
    assay__json_number(&w, value);
    CHECK_STR(out.data, expected);
    CHECK(strtod(out.data, NULL) == value);
    assay__buf_free(&out);
}

static void test_numbers_out(void)
{
    check_number(0.1, "0.1");
    check_number(0.0391, "0.0391");
    check_number(1.0 / 3, "0.3333333333333333");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(1e21, "1e+21");
    check_number(25557032, "25557032");
    check_number(9007199254740992.0, "9007199254740992");
    check_number(-0.0, "0");
    check_number(5e-324, "4.94065645841247e-324");
    check_number(1.7976931348623157e308, "1.7976931348623157e+308");
}

static enum assay__json_kind next(struct assay__json_reader *reader,
                                  struct assay__json_token *token)
{
    struct assay_error error;
    CHECK_INT(assay__json_next(reader, token, &error), 0);
    return token->kind;
}

static void test_tokens(void)
{
    static const char text[] =
        " {\"k\\n\" : [1, -2.5e3, true, false, null, \"x\"], \"e\":{}, \"a\":[]} ";
    static const enum assay__json_kind kinds[] = {
        ASSAY__JSON_OBJECT,     ASSAY__JSON_KEY,       ASSAY__JSON_ARRAY, ASSAY__JSON_NUMBER,
        ASSAY__JSON_NUMBER,     ASSAY__JSON_TRUE,      ASSAY__JSON_FALSE, ASSAY__JSON_NULL,
        ASSAY__JSON_STRING,     ASSAY__JSON_ARRAY_END, ASSAY__JSON_KEY,   ASSAY__JSON_OBJECT,
        ASSAY__JSON_OBJECT_END, ASSAY__JSON_KEY,       ASSAY__JSON_ARRAY, ASSAY__JSON_ARRAY_END,
        ASSAY__JSON_OBJECT_END, ASSAY__JSON_END,       ASSAY__JSON_END};
    struct assay__json_reader *reader = assay__json_reader_new(text, sizeof text - 1);
    struct assay__json_token token;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        CHECK_INT(next(reader, &token), kinds[i]);
        if (i == 1) CHECK(token.escaped && token.length == 3);
        if (i == 4) CHECK(token.number == -2500);
    }
    assay__json_reader_free(reader);
}

static void test_skip(void)
{
    static const char text[] = "{\"a\":{\"deep\":[1,{\"x\":2}]},\"b\":[3,[4]],\"c\":5,\"d\":6}";
    struct assay__json_reader *reader = assay__json_reader_new(text, sizeof text - 1);
    struct assay__json_token token;
    struct assay_error error;
    next(reader, &token); /* { */
    next(reader, &token); /* "a" */
    CHECK_INT(assay__json_skip(reader, &token, &error), 0);
    next(reader, &token); /* "b" */
    CHECK(token.length == 1 && token.text[0] == 'b');
    next(reader, &token); /* [ */
    CHECK_INT(assay__json_skip(reader, &token, &error), 0);
    next(reader, &token); /* "c" */
    CHECK(token.text[0] == 'c');
    next(reader, &token);                                   /* 5 */
    CHECK_INT(assay__json_skip(reader, &token, &error), 0); /* a scalar: nothing more */
    CHECK_INT(next(reader, &token), ASSAY__JSON_KEY);
    CHECK(token.text[0] == 'd');
    CHECK_INT(assay__json_skip(reader, NULL, &error), 0);
    CHECK_INT(next(reader, &token), ASSAY__JSON_OBJECT_END);
    CHECK_INT(next(reader, &token), ASSAY__JSON_END);
    assay__json_reader_free(reader);
}

static int parse(const char *text, size_t length, struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root;
    int code = assay__json_parse(arena, text, length, &root, error);
    CHECK((code == 0) == (root != NULL));
    assay__arena_free(arena);
    return code;
}

static void test_bad_input(void)
{
    static const char *const bad[] = {
        "",          " ",         "{",        "[",         "}",
        "]",         "[1",        "[1,",      "[1,]",      "[,1]",
        "{\"a\"",    "{\"a\":",   "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
        "{a:1}",     "{1:2}",     "[1 2]",    "{\"a\" 1}", "{\"a\":1 \"b\":2}",
        "01",        "-",         "+1",       "1.",        ".5",
        "1e",        "1e+",       "0x10",     "NaN",       "Infinity",
        "-Infinity", "1e999",     "tru",      "True",      "nulll",
        "\"",        "\"\\",      "\"\\x\"",  "\"\\u12\"", "\"\\u12g4\"",
        "\"a\nb\"",  "1 2",       "[]]",      "{}{",       "'a'",
        "[1}",       "{\"a\":1]", "//x",      "[1]x"};
    struct assay_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (parse(bad[i], strlen(bad[i]), &error) != ASSAY_EFORMAT) {
            printf("  accepted: %s\n", bad[i]);
            CHECK(false);
        }
        CHECK_HAS(error.message, "byte ");
    }
    CHECK_INT(parse("[1,@]", 5, &error), ASSAY_EFORMAT);
    CHECK_STR(error.message, "JSON, byte 3: not a JSON value");
}

/* Every proper prefix of a document is an error, never a crash or a silent success. */
static void test_truncation(void)
{
    static const char text[] =
        "{\"name\":\"caf\\u00e9 \\ud83d\\ude00\",\"list\":[1,-2.5e-3,true,null],\"o\":{}}";
    struct assay_error error;
    for (size_t length = 0; length < sizeof text - 1; length++) {
        char *copy = malloc(length ? length : 1); /* exact size: a sanitizer sees any overrun */
        memcpy(copy, text, length);
        CHECK_INT(parse(copy, length, &error), ASSAY_EFORMAT);
        free(copy);
    }
    CHECK_INT(parse(text, sizeof text - 1, &error), 0);
}

static void test_depth(void)
{
    char text[200];
    struct assay_error error;
    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    CHECK_INT(parse(text, 128, &error), 0);
    memset(text, '[', 65);
    CHECK_INT(parse(text, 130, &error), ASSAY_ELIMIT);
    CHECK_HAS(error.message, "64 levels");
}

static void check_string(const char *text, const char *expected)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root;
    CHECK_INT(assay__json_parse(arena, text, strlen(text), &root, NULL), 0);
    CHECK_INT(root->kind, ASSAY__JSON_STRING);
    CHECK_STR(root->string, expected);
    assay__arena_free(arena);
}

static void test_strings(void)
{
    check_string("\"plain\"", "plain");
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    check_string("\"\\u00e9\\u20AC\"", "é€");
    check_string("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80");
    check_string("\"\\ud83dx\"", "\xef\xbf\xbdx"); /* lone high surrogate */
    check_string("\"\\ude00\"", "\xef\xbf\xbd");   /* lone low surrogate */
    check_string("\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                                       "A");
    check_string("\"a\\u0000b\"", "a\xef\xbf\xbd"
                                  "b"); /* does not cut the string */
    check_string("\"x\xff\xfey\"", "x\xef\xbf\xbd\xef\xbf\xbdy");
    check_string("\xef\xbb\xbf\"bom\"", "bom");
}

static void test_tree(void)
{
    static const char text[] =
        "{\"n\":9007199254740993,\"big\":1e30,\"f\":2.5,\"neg\":-9223372036854775808,"
        "\"over\":9223372036854775808,\"t\":true,\"s\":\"v\",\"list\":[1,2,3],\"o\":{\"x\":{\"y\":"
        "7}}}";
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root;
    CHECK_INT(assay__json_parse(arena, text, sizeof text - 1, &root, NULL), 0);
    CHECK_INT(root->count, 9);
    CHECK_INT(assay__json_get_integer(root, "n", 0),
              9007199254740993); /* a double could not hold it */
    CHECK_INT(assay__json_get_integer(root, "neg", 0), INT64_MIN);
    CHECK_INT(assay__json_get_integer(root, "over", -5), -5);
    CHECK_INT(assay__json_get_integer(root, "f", -5), -5);
    CHECK_NEAR(assay__json_get_number(root, "big", 0), 1e30, 0);
    CHECK_NEAR(assay__json_get_number(root, "s", 4), 4, 0);
    CHECK(assay__json_get_bool(root, "t", false));
    CHECK(assay__json_get_bool(root, "n", true));
    CHECK_STR(assay__json_get_string(root, "s", ""), "v");
    CHECK_STR(assay__json_get_string(root, "none", "otherwise"), "otherwise");
    CHECK_INT(assay__json_get_integer(assay__json_get(assay__json_get(root, "o"), "x"), "y", 0), 7);
    CHECK(assay__json_get(assay__json_get(root, "none"), "y") == NULL);
    const struct assay__json *list = assay__json_get(root, "list");
    CHECK_INT(list->count, 3);
    CHECK_INT(list->first->next->next->integer, 3);
    CHECK(list->first->next->next->next == NULL);
    assay__arena_free(arena);
}

/* What the writer writes, the reader reads back to the same bits; the fast path for numbers agrees
 * with strtod. */
static void test_round_trip(void)
{
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value = (double)(int64_t)(bits % 2000000000000u) / 1000 -
                    1e9; /* as traces write times */
        if (!isfinite(value)) continue;
        struct assay__buf out = {0};
        struct assay__json_writer w;
        assay__json_start(&w, &out, false);
        assay__json_number(&w, value);
        struct assay__json_reader *reader = assay__json_reader_new(out.data, out.length);
        struct assay__json_token token;
        CHECK_INT(next(reader, &token), ASSAY__JSON_NUMBER);
        CHECK(token.number == value);
        assay__json_reader_free(reader);
        assay__buf_free(&out);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"writer", test_writer},
        {"writer_pretty", test_writer_pretty},
        {"writer_depth", test_writer_depth},
        {"numbers_out", test_numbers_out},
        {"tokens", test_tokens},
        {"skip", test_skip},
        {"bad_input", test_bad_input},
        {"truncation", test_truncation},
        {"depth", test_depth},
        {"strings", test_strings},
        {"tree", test_tree},
        {"round_trip", test_round_trip},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
