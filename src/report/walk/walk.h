/* walk.h - the walkers: one per format, for all documents. A walker only reads the document and
 * appends to the buffer, so the same document gives the same bytes on every machine. */
#ifndef ASSAY_REPORT_WALK_WALK_H
#define ASSAY_REPORT_WALK_WALK_H

#include "report/doc/doc.h"

#include <assay/report.h>

typedef int assay__walk_fn(const struct assay__doc *doc, const struct assay_report_options *options,
                           struct assay__buf *out, struct assay_error *error);

/** A CSV cell: safe, quoted if necessary, and guarded against spreadsheet formulas. */
void assay__csv_text(struct assay__buf *out, const char *text);
/** Text escaped for Markdown (see walk_markdown.c). */
void assay__markdown_text(struct assay__buf *out, const char *text);

/** Draws each part of a picture with `draw`. False: there was none, for the reason in *why. */
typedef void assay__draw_fn(void *context, const struct assay__figure *figure);
bool assay__walk_picture(const struct assay__picture *picture, assay__draw_fn *draw, void *context,
                         struct assay_error *why, bool *failed);

/** Calls `put` for each part of a table that people see, as a separate table with its columns;
 * `part` NULL: the table has no parts, or it is the first, which has the section's heading. */
typedef void assay__part_fn(void *context, const struct assay__table *table,
                            const struct assay__heading *part);
void assay__walk_parts(const struct assay__table *table, assay__part_fn *put, void *context,
                       bool *failed);

/** Rows that people see, in order: at most `limit` (*more: how many are left out), then the totals.
 * indices has room for row_count. Returns how many there are; the first *body of them are not
 * totals. */
size_t assay__walk_rows(const struct assay__table *table, size_t limit, size_t *indices,
                        size_t *body, size_t *more);
/** How many rows of a table people see if the report shows `top` of long ones; SIZE_MAX: all. */
size_t assay__walk_limit(const struct assay__table *table, size_t top);
/** What the rows that are left out add up to in a column of ASSAY__COLUMN_SUM: derived, or
 * estimated if one of them is; unknown if one of them is. */
struct assay__datum assay__walk_sum(const struct assay__table *table, size_t column, size_t limit);
/** Whether people see the column: it has a title, and a row has something in it. page: on a page,
 * which has extra columns. */
bool assay__walk_column_is_shown(const struct assay__table *table, size_t column, bool page);

/** Why cells have no number: columns with the same reason are listed together. */
struct assay__gap {
    const char *columns; /* "power, energy" */
    const char *rows;    /* "npu, gpu"; "" every row */
    const char *why;
};
/** Everything lives in the arena. *count may be 0. 0 or ASSAY_ENOMEM. */
int assay__walk_gaps(const struct assay__table *table, struct assay__arena *arena,
                     struct assay__gap **gaps, size_t *count);

#endif
