/* text_table.h - a table of a document in columns of text. */
#ifndef ASSAY_REPORT_WALK_TEXT_TABLE_H
#define ASSAY_REPORT_WALK_TEXT_TABLE_H

#include "report/doc/doc.h"
#include "report/walk/text_page.h"

/** The table, what is not shown of it for want of room, and why cells are empty. `limit`: rows at
 *  most. */
void assay__text_table(struct assay__page *page, const struct assay__table *table, size_t limit);
/** Names cut to a width in their middle, or where they differ, so that no two that differ become
 *  equal. Each of out has room for one buffer, which the caller frees. */
void assay__text_shorten(const char *const *names, size_t count, size_t width,
                         struct assay__buf *out);

#endif
