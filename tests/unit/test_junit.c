/* test_junit.c - the JUnit writer: a whole document to the byte, counts, and texts that XML cannot
 * hold. */
#include "harness.h"
#include "report/junit.h"

static void test_document(void)
{
    struct assay__junit junit;
    struct assay__buf out = {0};
    assay__junit_begin(&junit, &out, "assay check");
    assay__junit_case(&junit, "ane", "rank", 0.25);
    assay__junit_case(&junit, "ane", "size", NAN);
    assay__junit_failure(&junit, "error", "too large", "2.1 GB\nof 2 GB");
    assay__junit_failure(&junit, "error", "again", NULL); /* a case fails once */
    assay__junit_case(&junit, "ane", "layout", 0.5);
    assay__junit_skipped(&junit, "not evaluated: no shapes");
    assay__junit_property(&junit, "model", "a.onnx");
    assay__junit_case(&junit, "ane", "power", NAN);
    assay__junit_error(&junit, "unavailable", "no sensor", NULL);
    assay__junit_output(&junit, "remark");
    assay__junit_end(&junit);
    CHECK(!out.failed);
    CHECK_STR(
        out.data,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"assay check\" tests=\"4\" failures=\"1\" errors=\"1\" "
        "time=\"0.750000000\">\n"
        "  <testsuite name=\"assay check\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" "
        "time=\"0.750000000\">\n"
        "    <properties>\n      <property name=\"model\" value=\"a.onnx\"/>\n    </properties>\n"
        "    <testcase classname=\"ane\" name=\"rank\" time=\"0.250000000\">\n    </testcase>\n"
        "    <testcase classname=\"ane\" name=\"size\">\n"
        "      <failure message=\"too large\" type=\"error\">2.1 GB\nof 2 GB</failure>\n    "
        "</testcase>\n"
        "    <testcase classname=\"ane\" name=\"layout\" time=\"0.500000000\">\n"
        "      <skipped message=\"not evaluated: no shapes\"/>\n    </testcase>\n"
        "    <testcase classname=\"ane\" name=\"power\">\n"
        "      <error message=\"no sensor\" type=\"unavailable\"/>\n"
        "      <system-out>remark</system-out>\n    </testcase>\n"
        "  </testsuite>\n</testsuites>\n");
    assay__buf_free(&out);
}

static void test_empty(void)
{
    struct assay__junit junit;
    struct assay__buf out = {0};
    assay__junit_begin(&junit, &out, "");
    assay__junit_failure(&junit, "x", "without a case", NULL);
    assay__junit_output(&junit, "without a case");
    assay__junit_end(&junit);
    CHECK_STR(out.data,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<testsuites name=\"\" tests=\"0\" failures=\"0\" errors=\"0\">\n"
              "  <testsuite name=\"\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\">\n"
              "  </testsuite>\n</testsuites>\n");
    assay__buf_free(&out);
}

/* Markup, control characters, broken UTF-8, characters that XML forbids; line ends survive in
 * attributes. */
static void test_hostile(void)
{
    struct assay__junit junit;
    struct assay__buf out = {0};
    assay__junit_begin(&junit, &out, "s");
    assay__junit_case(&junit, "<a&b>\"'", "x\001\033[2Jy\xff\xed\xa0\x80\xef\xbf\xbez\n\tq", NAN);
    assay__junit_failure(&junit, "t", "m", "]]>\r\n<!-- \001 caf\xc3\xa9");
    assay__junit_end(&junit);
    CHECK_HAS(out.data, "classname=\"&lt;a&amp;b&gt;&quot;'\"");
    CHECK_HAS(out.data,
              "name=\"x\xef\xbf\xbd\xef\xbf\xbd[2Jy\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
              "\xef\xbf\xbdz&#10;&#9;q\"");
    CHECK_HAS(out.data, ">]]&gt;&#13;\n&lt;!-- \xef\xbf\xbd caf\xc3\xa9</failure>");
    assay__buf_free(&out);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"document", test_document},
        {"empty", test_empty},
        {"hostile", test_hostile},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
