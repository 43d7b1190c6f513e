/* check_junit.c - a check as JUnit XML: one test case per rule that was asked. An error is a failure, with --strict a warning too;
 * other items stand in system-out. A target that could not be asked is a skipped case. */
#include "report/check.h"

#include "base/text.h"

#include <string.h>

/* Text for XML 1.0: markup escaped, control characters (which XML does not have) replaced. */
static void put_xml(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text);
    for (const char *c = safe.data ? safe.data : ""; *c; c++) {
        switch (*c) {
        case '&': assay__buf_puts(out, "&amp;"); break;
        case '<': assay__buf_puts(out, "&lt;"); break;
        case '>': assay__buf_puts(out, "&gt;"); break;
        case '"': assay__buf_puts(out, "&quot;"); break;
        default: assay__buf_putc(out, *c);
        }
    }
    if (safe.failed) out->failed = true;
    assay__buf_free(&safe);
}

static bool fails(const struct assay__check_item *item, bool strict)
{
    return item->severity == ASSAY__CHECK_ERROR ||
           (strict && item->severity == ASSAY__CHECK_WARNING);
}

static void put_item(struct assay__buf *out, const struct assay__check_item *item)
{
    struct assay__buf line = {0};
    assay__buf_printf(&line, "%s: ", assay__check_severity_name(item->severity));
    if (*item->name && *item->op) assay__buf_printf(&line, "%s (%s): ", item->name, item->op);
    assay__buf_printf(&line, "%s%s%s%s", item->reason, *item->chips ? " [on " : "", item->chips,
                      *item->chips ? "]" : "");
    put_xml(out, line.data ? line.data : "");
    assay__buf_puts(out, "\n");
    assay__buf_free(&line);
}

static void put_case(const struct assay__check *check, const struct assay__check_view *view,
                     const struct assay__check_rule *rule, struct assay__buf *out)
{
    size_t failed = 0, other = 0;
    for (size_t i = 0; i < check->item_count; i++) {
        if (check->items[i].rule != rule) continue;
        failed += fails(&check->items[i], view->strict);
        other += !fails(&check->items[i], view->strict);
    }
    assay__buf_puts(out, "    <testcase classname=\"assay.check.");
    put_xml(out, check->target);
    assay__buf_printf(out, "\" name=\"%s\"", rule->id);
    if (!failed && !other) {
        assay__buf_puts(out, "/>\n");
        return;
    }
    assay__buf_puts(out, ">\n");
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0 ? !failed : !other) continue;
        if (pass == 0) {
            assay__buf_puts(out, "      <failure message=\"");
            put_xml(out, rule->title);
            assay__buf_puts(out, "\">");
        } else {
            assay__buf_puts(out, "      <system-out>");
        }
        for (size_t i = 0; i < check->item_count; i++)
            if (check->items[i].rule == rule &&
                fails(&check->items[i], view->strict) == (pass == 0))
                put_item(out, &check->items[i]);
        if (pass == 0) {
            assay__buf_puts(out, "fix: ");
            put_xml(out, rule->fix);
        }
        assay__buf_puts(out, pass == 0 ? "</failure>\n" : "</system-out>\n");
    }
    assay__buf_puts(out, "    </testcase>\n");
}

static bool in_table(const struct assay__check *check, const struct assay__check_rule *rule)
{
    for (const struct assay__check_rule *row = assay__ane_rules; check->paths && row->id; row++)
        if (row == rule) return true;
    return false;
}

/* The first item of a rule that is no row of the engine's table. */
static bool first_of(const struct assay__check *check, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (check->items[i].rule == check->items[index].rule) return false;
    return !in_table(check, check->items[index].rule);
}

void assay__check_junit(const struct assay__check *check, const struct assay__check_view *view,
                        struct assay__buf *out)
{
    struct assay__buf cases = {0};
    size_t tests = 1, failures = 0;
    for (const struct assay__check_rule *row = assay__ane_rules; check->paths && row->id; row++) {
        put_case(check, view, row, &cases);
        tests++;
    }
    for (size_t i = 0; i < check->item_count; i++) {
        if (!first_of(check, i)) continue;
        put_case(check, view, check->items[i].rule, &cases);
        tests++;
    }
    for (const char *at = cases.data; at && (at = strstr(at, "<failure ")) != NULL; at++)
        failures++;
    bool skipped = check->verdict == ASSAY__CHECK_NONE;
    assay__buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                           "  <testsuite name=\"assay check ");
    put_xml(out, view->name);
    assay__buf_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%d\">\n",
                      tests, failures, skipped);
    assay__buf_puts(out, "    <testcase classname=\"assay.check.");
    put_xml(out, check->target);
    assay__buf_puts(out, "\" name=\"target\"");
    if (skipped) {
        assay__buf_puts(out, ">\n      <skipped message=\"");
        put_xml(out, check->unasked);
        assay__buf_puts(out, "\"/>\n    </testcase>\n");
    } else {
        assay__buf_puts(out, "/>\n");
    }
    assay__buf_puts(out, cases.data ? cases.data : "");
    assay__buf_puts(out, "  </testsuite>\n</testsuites>\n");
    if (cases.failed) out->failed = true;
    assay__buf_free(&cases);
}
