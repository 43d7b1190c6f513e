/* test_xml_scan.c - the stream of elements: tokens, references, broken and hostile text, and that
 * it does not matter where the stream's pieces end. */
#include "harness.h"

#include "import/xml_scan.h"

struct pieces {
    const char *text;
    size_t length, at, size; /* size: of a piece */
};

static int read_piece(void *from, char *to, size_t room, size_t *size, struct assay_error *error)
{
    struct pieces *pieces = from;
    size_t left = pieces->length - pieces->at;
    (void)error;
    *size = pieces->size < left ? pieces->size : left;
    if (*size > room) *size = room;
    memcpy(to, pieces->text + pieces->at, *size);
    pieces->at += *size;
    return 0;
}

static struct assay__xml xml; /* of the last scan; its texts are gone */

/* "<a x=y>text</>": what the tokens are, with references decoded. */
static const char *scan_pieces(const char *text, size_t length, size_t piece)
{
    static struct assay__buf out;
    struct pieces pieces = {text, length, 0, piece};
    enum assay__xml_kind kind;
    assay__buf_free(&out);
    xml = (struct assay__xml){.window = {.read = read_piece, .from = &pieces}};
    while ((kind = assay__xml_next(&xml)) != ASSAY__XML_NOTHING) {
        if (kind == ASSAY__XML_END) assay__buf_puts(&out, "</>");
        if (kind == ASSAY__XML_TEXT && xml.plain)
            assay__buf_add(&out, xml.text.at, xml.text.length);
        else if (kind == ASSAY__XML_TEXT)
            assay__xml_decode(&out, xml.text);
        if (kind != ASSAY__XML_BEGIN) continue;
        assay__buf_printf(&out, "<%.*s", (int)xml.name.length, xml.name.at);
        for (size_t i = 0; i < xml.attribute_count; i++) {
            assay__buf_printf(&out, " %.*s=", (int)xml.attributes[i].name.length,
                              xml.attributes[i].name.at);
            assay__xml_decode(&out, xml.attributes[i].value);
        }
        assay__buf_puts(&out, ">");
    }
    CHECK_INT(assay__xml_next(&xml), ASSAY__XML_NOTHING); /* it stays at the end */
    assay__import_window_free(&xml.window);
    CHECK_INT(xml.window.code, 0);
    return assay__buf_text(&out);
}

static const char *scan(const char *text)
{
    return scan_pieces(text, strlen(text), SIZE_MAX);
}

static void test_tokens(void)
{
    CHECK_STR(scan("<?xml version=\"1.0\"?>\n<a x=\"1\" y = 'two'>\n <b/>text <c>in</c ></a>\n"),
              "<a x=1 y=two><b></>text <c>in</></>");
    CHECK_INT(xml.faults, 0);
    CHECK(!xml.truncated && !xml.complaint);
    CHECK_STR(scan("<a><!-- <b> --><![CDATA[x < & y]]><?do <it>?></a>"), "<a>x < & y</>");
    CHECK_STR(scan("<a v=\"1 > 0\"/>"), "<a v=1 > 0></>");
    CHECK_STR(scan("\xef\xbb\xbf<a/>"), "<a></>");
    CHECK_STR(scan("<a/><b/>"), "<a></><b></>"); /* two documents in one file */
    CHECK_STR(scan(""), "");
    CHECK_INT(xml.faults, 0);
}

static void test_references(void)
{
    CHECK_STR(scan("<a v=\"&lt;&gt;&quot;&apos;\">&amp;lt; &#65;&#x42;&#xe9;</a>"),
              "<a v=<>\"'>&lt; ABé</>");
    CHECK_STR(scan("<a>&unknown; & &;&#;&#x;&#9999999;&#0;&#xd800;</a>"),
              "<a>&unknown; & &;&#;&#x;\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd</>");
}

/* Nothing is defined, so nothing can be expanded. */
static void test_bombs(void)
{
    CHECK_STR(scan("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x 'ha'><!ENTITY y '&x;&x;'>]>"
                   "<a>&y;</a>"),
              "");
    CHECK_INT(xml.faults, 1);
    CHECK_HAS(xml.complaint, "document type");
    CHECK_STR(scan("<a><!DOCTYPE b SYSTEM 'file:///etc/passwd'></a>"), "<a>");
    char deep[2000];
    for (size_t i = 0; i + 3 < sizeof deep; i += 3)
        memcpy(deep + i, "<a>", 4);
    scan(deep);
    CHECK_INT(xml.depth, ASSAY__XML_DEPTH);
    CHECK_HAS(xml.complaint, "deep");
}

static void test_long_token(void)
{
    size_t size = ASSAY__XML_TOKEN_BYTES + ((size_t)1 << 20);
    char *text = malloc(size);
    CHECK(text);
    memset(text, 'x', size);
    memcpy(text, "<a>", 3);
    CHECK_STR(scan_pieces(text, size, 65536), "<a>");
    CHECK_HAS(xml.complaint, "MiB");
    free(text);
}

static void test_broken(void)
{
    CHECK_STR(scan("<a><b><c>x</b>y</a>"), "<a><b><c>x</></>y</>"); /* c was not closed */
    CHECK_INT(xml.faults, 1);
    CHECK_STR(scan("<a></b>x</a>"), "<a>x</>");
    CHECK_INT(xml.faults, 1);
    CHECK_STR(scan("<a>1 < 2</a>"), "<a>1 2</>");
    CHECK_INT(xml.faults, 1);
    CHECK_STR(scan("<a><b x=1>y</b></a>"), "<a>b x=1>y</>"); /* the quotes are missing */
    CHECK_STR(scan("</a><b/>"), "<b></>");
}

static void test_truncated(void)
{
    CHECK_STR(scan("<a><b>te"), "<a><b>te");
    CHECK(xml.truncated);
    CHECK_STR(scan("<a><b x=\"1"), "<a>");
    CHECK(xml.truncated);
    CHECK_STR(scan("<a/><!-- never"), "<a></>");
    CHECK(xml.truncated);
    scan("<a/>\n\n");
    CHECK(!xml.truncated);
}

static void test_encodings(void)
{
    CHECK_STR(scan_pieces("\xff\xfe<\0a\0", 6, SIZE_MAX), "");
    CHECK_HAS(xml.complaint, "UTF-16");
    CHECK_STR(scan_pieces("\xfe\xff\0<\0a", 6, 1), "");
    CHECK_HAS(xml.complaint, "UTF-16");
    CHECK_STR(scan_pieces("<\0a\0/\0>\0", 8, SIZE_MAX), "");
    CHECK_HAS(xml.complaint, "UTF-16");
    CHECK_STR(scan("<?xml version='1.0' encoding='ISO-8859-1'?><a/>"), "<a></>");
    CHECK_HAS(xml.complaint, "encoding");
    scan("<?xml version='1.0' encoding=\"utf-8\"?><a/>");
    CHECK_INT(xml.faults, 0);
}

static void test_pieces(void)
{
    static const char text[] =
        "<?xml version='1.0'?><q><!-- c --><a id=\"1\" fmt='x &amp; y'>12</a>"
        "<a ref=\"1\"/><![CDATA[ ]] ]]><b >t&#233;t</b ></q> ";
    char *whole = strdup(scan(text));
    for (size_t piece = 1; piece < sizeof text; piece++)
        CHECK_STR(scan_pieces(text, sizeof text - 1, piece), whole);
    free(whole);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"tokens", test_tokens},       {"references", test_references},
        {"bombs", test_bombs},         {"long_token", test_long_token},
        {"broken", test_broken},       {"truncated", test_truncated},
        {"encodings", test_encodings}, {"pieces", test_pieces},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
