/* junit.c - see junit.h. The form is the one that common servers accept: testsuites > testsuite >
 * testcase with failure, error, skipped and system-out. */
#include "report/junit.h"

#include "base/utf8.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PASSED, JUDGED };

/* XML 1.0 allows tab, line feed, carriage return and everything above U+001F; not U+FFFE and
 * U+FFFF, nor surrogates. */
static bool xml_holds(uint32_t character)
{
    if (character < 0x20) return character == '\t' || character == '\n' || character == '\r';
    return character != 0x7f && character != 0xfffe && character != 0xffff;
}

/* `attribute`: line ends and tabs would be read back as spaces, so they are written as
 * references. */
static void put_escaped(struct assay__buf *out, const char *text, bool attribute)
{
    const char *at = text ? text : "";
    size_t left = strlen(at);
    while (left) {
        size_t length;
        uint32_t character = assay__utf8_decode(at, left, &length);
        if (character == ASSAY__UTF8_INVALID || !xml_holds(character))
            assay__buf_puts(out, ASSAY__UTF8_REPLACEMENT);
        else if (character == '&')
            assay__buf_puts(out, "&amp;");
        else if (character == '<')
            assay__buf_puts(out, "&lt;");
        else if (character == '>')
            assay__buf_puts(out, "&gt;");
        else if (character == '"')
            assay__buf_puts(out, "&quot;");
        else if (character == '\r' || (attribute && character < 0x20))
            assay__buf_printf(out, "&#%u;", (unsigned)character);
        else
            assay__buf_add(out, at, length);
        at += length;
        left -= length;
    }
}

static void put_attribute(struct assay__buf *out, const char *name, const char *value)
{
    assay__buf_printf(out, " %s=\"", name);
    put_escaped(out, value, true);
    assay__buf_putc(out, '"');
}

static void put_time(struct assay__buf *out, double time_s)
{
    if (isfinite(time_s) && time_s >= 0) assay__buf_printf(out, " time=\"%.9f\"", time_s);
}

static void close_case(struct assay__junit *junit)
{
    if (junit->open) assay__buf_puts(&junit->cases, "    </testcase>\n");
    junit->open = false;
}

void assay__junit_begin(struct assay__junit *junit, struct assay__buf *out, const char *suite)
{
    *junit = (struct assay__junit){.out = out, .time_s = NAN};
    put_escaped(&junit->name, suite, true);
}

void assay__junit_property(struct assay__junit *junit, const char *name, const char *value)
{
    assay__buf_puts(&junit->properties, "      <property");
    put_attribute(&junit->properties, "name", name);
    put_attribute(&junit->properties, "value", value);
    assay__buf_puts(&junit->properties, "/>\n");
}

void assay__junit_case(struct assay__junit *junit, const char *classname, const char *name,
                       double time_s)
{
    close_case(junit);
    assay__buf_puts(&junit->cases, "    <testcase");
    put_attribute(&junit->cases, "classname", classname);
    put_attribute(&junit->cases, "name", name);
    put_time(&junit->cases, time_s);
    assay__buf_puts(&junit->cases, ">\n");
    junit->open = true;
    junit->verdict = PASSED;
    junit->tests++;
    if (isfinite(time_s) && time_s >= 0)
        junit->time_s = (isnan(junit->time_s) ? 0 : junit->time_s) + time_s;
}

static bool judge(struct assay__junit *junit, size_t *count)
{
    if (!junit->open || junit->verdict != PASSED) return false;
    junit->verdict = JUDGED;
    ++*count;
    return true;
}

static void put_verdict(struct assay__junit *junit, const char *element, const char *type,
                        const char *message, const char *detail)
{
    assay__buf_printf(&junit->cases, "      <%s", element);
    put_attribute(&junit->cases, "message", message);
    if (type) put_attribute(&junit->cases, "type", type);
    if (detail && *detail) {
        assay__buf_putc(&junit->cases, '>');
        put_escaped(&junit->cases, detail, false);
        assay__buf_printf(&junit->cases, "</%s>\n", element);
    } else {
        assay__buf_puts(&junit->cases, "/>\n");
    }
}

void assay__junit_failure(struct assay__junit *junit, const char *type, const char *message,
                          const char *detail)
{
    if (judge(junit, &junit->failures)) put_verdict(junit, "failure", type, message, detail);
}

void assay__junit_error(struct assay__junit *junit, const char *type, const char *message,
                        const char *detail)
{
    if (judge(junit, &junit->errors)) put_verdict(junit, "error", type, message, detail);
}

void assay__junit_skipped(struct assay__junit *junit, const char *message)
{
    if (judge(junit, &junit->skipped)) put_verdict(junit, "skipped", NULL, message, NULL);
}

void assay__junit_output(struct assay__junit *junit, const char *text)
{
    if (!junit->open || !text || !*text) return;
    assay__buf_puts(&junit->cases, "      <system-out>");
    put_escaped(&junit->cases, text, false);
    assay__buf_puts(&junit->cases, "</system-out>\n");
}

static void put_counts(struct assay__buf *out, const struct assay__junit *junit)
{
    assay__buf_printf(out, " name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"",
                      assay__buf_text(&junit->name), junit->tests, junit->failures, junit->errors);
}

void assay__junit_end(struct assay__junit *junit)
{
    struct assay__buf *out = junit->out;
    close_case(junit);
    assay__buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    put_counts(out, junit);
    put_time(out, junit->time_s);
    assay__buf_puts(out, ">\n  <testsuite");
    put_counts(out, junit);
    assay__buf_printf(out, " skipped=\"%zu\"", junit->skipped);
    put_time(out, junit->time_s);
    assay__buf_puts(out, ">\n");
    if (junit->properties.length) {
        assay__buf_puts(out, "    <properties>\n");
        assay__buf_add(out, junit->properties.data, junit->properties.length);
        assay__buf_puts(out, "    </properties>\n");
    }
    if (junit->cases.length) assay__buf_add(out, junit->cases.data, junit->cases.length);
    assay__buf_puts(out, "  </testsuite>\n</testsuites>\n");
    if (junit->name.failed || junit->properties.failed || junit->cases.failed) out->failed = true;
    assay__buf_free(&junit->name);
    assay__buf_free(&junit->properties);
    assay__buf_free(&junit->cases);
}
