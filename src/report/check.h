/* check.h - what `assay check` found, as text, JSON and JUnit. A renderer only reads the check and
 * appends to the buffer. Names come from files and are untrusted: each format escapes them its own
 * way. */
#ifndef ASSAY_REPORT_CHECK_H
#define ASSAY_REPORT_CHECK_H

#include "check/check.h"
#include "base/buf.h"

struct assay__check_view {
    const char *format; /* "text", "json", "junit" */
    const char *name;   /* of the model, as the user wrote it */
    int columns;
    bool color, ascii;
    bool all;    /* every node of a rule, every segment */
    bool strict; /* a warning fails (junit) */
};

int assay__check_render(const struct assay__check *check, const struct assay__check_view *view,
                        struct assay__buf *out, struct assay_error *error);

/** One sentence: the verdict and what it rests on. Unescaped. */
void assay__check_answer(struct assay__buf *out, const struct assay__check *check);

/** Rules of that severity that have items: an item stands for a node, and many nodes may break one
 *  rule. */
size_t assay__check_groups(const struct assay__check *check, enum assay__check_severity severity);

/* --- the formats ------------------------------------------------------------------------------ */

void assay__check_text(const struct assay__check *check, const struct assay__check_view *view,
                       struct assay__buf *out);
void assay__check_json(const struct assay__check *check, const struct assay__check_view *view,
                       struct assay__buf *out);
void assay__check_junit(const struct assay__check *check, const struct assay__check_view *view,
                        struct assay__buf *out);

#endif
