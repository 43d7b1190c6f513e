/* markdown_text.h - text escaped for Markdown (see walk_markdown.c). */
#ifndef ASSAY_REPORT_WALK_MARKDOWN_TEXT_H
#define ASSAY_REPORT_WALK_MARKDOWN_TEXT_H

#include "base/buf.h"

void assay__markdown_text(struct assay__buf *out, const char *text);

#endif
