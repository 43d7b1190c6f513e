/* write_check_junit.c - a check as JUnit XML: one test case per rule that was evaluated. An error
 * is a failure, in a strict check a warning too; other items go to system-out. A target that could
 * not be queried is a skipped case. */
#include "report/report_model.h"

#include "report/junit.h"

#include <math.h>

static bool fails(const struct assay__check_item *item, bool strict)
{
    return item->severity == ASSAY__CHECK_ERROR ||
           (strict && item->severity == ASSAY__CHECK_WARNING);
}

static void put_case(const struct assay__check *check, bool strict,
                     const struct assay__check_rule *rule, struct assay__junit *junit,
                     const char *class_name)
{
    struct assay__buf failed = {0}, other = {0};
    for (size_t i = 0; i < check->item_count; i++) {
        const struct assay__check_item *item = &check->items[i];
        if (item->rule != rule) continue;
        struct assay__buf *line = fails(item, strict) ? &failed : &other;
        assay__buf_printf(line, "%s: ", assay__check_severity_name(item->severity));
        if (*item->name && *item->op) assay__buf_printf(line, "%s (%s): ", item->name, item->op);
        assay__buf_printf(line, "%s%s%s%s\n", item->reason, *item->chips ? " [on " : "",
                          item->chips, *item->chips ? "]" : "");
    }
    assay__junit_case(junit, class_name, rule->id, NAN);
    if (failed.length) {
        assay__buf_printf(&failed, "fix: %s", rule->fix);
        assay__junit_failure(junit, NULL, rule->title, assay__buf_text(&failed));
    }
    if (other.length) assay__junit_output(junit, assay__buf_text(&other));
    assay__buf_drop(&failed, junit->out);
    assay__buf_drop(&other, junit->out);
}

/* The first item of a rule that is not in the engine's table. */
static bool first_of(const struct assay__check *check, size_t index)
{
    const struct assay__check_rule *rule = check->items[index].rule;
    for (size_t i = 0; i < index; i++)
        if (check->items[i].rule == rule) return false;
    for (const struct assay__check_rule *row = assay__ane_rules; check->paths && row->id; row++)
        if (row == rule) return false;
    return true;
}

void assay__check_junit(const struct assay__check *check, bool strict, struct assay__buf *out)
{
    struct assay__junit junit;
    struct assay__buf suite = {0}, class_name = {0};
    assay__buf_printf(&suite, "assay check %s", check->name);
    assay__buf_printf(&class_name, "assay.check.%s", check->target);
    const char *of = assay__buf_text(&class_name);
    assay__junit_begin(&junit, out, assay__buf_text(&suite));
    assay__junit_case(&junit, of, "target", NAN);
    if (check->verdict == ASSAY__CHECK_NONE) assay__junit_skipped(&junit, check->unasked);
    for (const struct assay__check_rule *row = assay__ane_rules; check->paths && row->id; row++)
        put_case(check, strict, row, &junit, of);
    for (size_t i = 0; i < check->item_count; i++)
        if (first_of(check, i)) put_case(check, strict, check->items[i].rule, &junit, of);
    assay__junit_end(&junit);
    assay__buf_drop(&suite, out);
    assay__buf_drop(&class_name, out);
}
