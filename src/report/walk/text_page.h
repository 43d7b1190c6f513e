/* text_page.h - the text report's page: width, styles, headings, wrapped text (text_page.c), code
 * (text_code.c) and tables (text_table.c). */
#ifndef ASSAY_REPORT_WALK_TEXT_PAGE_H
#define ASSAY_REPORT_WALK_TEXT_PAGE_H

#include "base/buf.h"

#include <stdbool.h>

#define ASSAY__PAGE_MIN_COLUMNS 40
#define ASSAY__PAGE_NBSP "\xc2\xa0" /* keeps words together in wrapped text; printed as a space */

enum assay__style {
    ASSAY__STYLE_PLAIN,
    ASSAY__STYLE_BOLD,
    ASSAY__STYLE_DIM,
    ASSAY__STYLE_BAR,
    ASSAY__STYLE_WARN,
    ASSAY__STYLE_FAULT
};

struct assay__page {
    struct assay__buf *out;
    int columns;
    bool color, ascii;
    int top; /* layers shown; -1 all */
};

void assay__page_style(struct assay__page *page, enum assay__style style);
/** The page's first line, a bold title with a dim text at the right, and a rule. Both are made safe
 * and cut. */
void assay__page_title(struct assay__page *page, const char *title, const char *right);
/** A blank line, then a bold title followed by a dim remark, which is wrapped below it if both do
 * not fit on one line. Both are made safe. */
void assay__page_heading(struct assay__page *page, const char *title, const char *remark);
/** Words wrapped to the page: `first` goes before the first line, later lines are indented as far.
 * Untrusted text is made safe here. A number and its unit stay together. */
void assay__page_wrap(struct assay__page *page, enum assay__style style, const char *first,
                      const char *text);
/** The same of printed text. */
void assay__page_print(struct assay__page *page, enum assay__style style, const char *first,
                       const char *format, ...) ASSAY_PRINTF(4, 5);
/** The same for text of any length: what exceeds about `lines` lines is cut off. */
void assay__page_wrap_lines(struct assay__page *page, enum assay__style style, const char *first,
                            const char *text, size_t lines);
/** Appends " · " between items; the item's own spaces do not break. */
void assay__page_item(struct assay__buf *items, const char *format, ...) ASSAY_PRINTF(2, 3);
/** A bar of share × columns (0 … 1), in eighths of a column. */
void assay__page_bar(struct assay__page *page, double share, int columns);
/** Text made safe, right-aligned, cut if it is too wide, as an untrusted unit or an absurd number
 * may be. */
void assay__page_right_fit(struct assay__page *page, const char *text, int columns);
/** Text made safe, cut to `columns` (the end is kept when `keep_end`) and padded. */
void assay__page_fit(struct assay__page *page, const char *text, int columns, int keep_end);
/** The same, but cut in the middle: names in a model often share their beginning and their end. */
void assay__page_fit_middle(struct assay__page *page, const char *text, int columns);
/** Safe text wider than `columns`, cut in its middle after `head` columns. */
void assay__page_cut_middle(struct assay__buf *out, const char *text, size_t columns, size_t head);
struct assay__code;
/** The code, indented; lines that are too long are broken where the language allows it, so that
 *  what is copied from the page still runs. */
void assay__text_code(struct assay__page *page, const struct assay__code *code);

struct assay__table;
/** The table, which columns did not fit, and why cells are empty. `limit`: max number of rows. */
void assay__text_table(struct assay__page *page, const struct assay__table *table, size_t limit);
/** Names cut to a width, in the middle or elsewhere, so that different names stay different. out:
 * `count` buffers, which the caller frees. */
void assay__text_shorten(const char *const *names, size_t count, size_t width,
                         struct assay__buf *out);
/** Replaces what is not ASCII from `start` on, column by column. */
void assay__page_to_ascii(struct assay__buf *out, size_t start);

#endif
