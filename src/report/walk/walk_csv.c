/* walk_csv.c - one table of a document as CSV (RFC 4180, UTF-8, line feeds): the columns that
 * programs read, every row, numbers exact and in the column's own unit. Tables of one name (of
 * several trials) are one table, in the order of the trials, whichever is shown first to people. A
 * cell that a spreadsheet would interpret as a formula is made text. */
#include "report/formats.h"

#include "base/options_read.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Also full-width signs, which spreadsheets treat the same. */
static bool is_formula(const char *text)
{
    static const char *const wide[] = {"＝", "＋", "－", "＠"};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0) return true;
    return *text && strchr("=+-@", *text);
}

void assay__csv_text(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *shown = assay__buf_text(&safe);
    bool guard = (text && *text && strchr("=+-@\t\r\n", *text)) || is_formula(shown);
    bool quote = guard || strpbrk(shown, ",\"\n\r") != NULL;
    if (quote) assay__buf_putc(out, '"');
    if (guard) assay__buf_putc(out, '\'');
    for (const char *c = shown; *c; c++) {
        if (*c == '"') assay__buf_putc(out, '"');
        assay__buf_putc(out, *c);
    }
    if (quote) assay__buf_putc(out, '"');
    assay__buf_drop(&safe, out);
}

static void put_head(struct assay__buf *out, const struct assay__column *columns, size_t count)
{
    bool first = true;
    for (size_t c = 0; c < count; c++) {
        if (!columns[c].key) continue;
        assay__buf_printf(out, "%s%s", first ? "" : ",", columns[c].key);
        first = false;
    }
    assay__buf_putc(out, '\n');
}

static void put_rows(struct assay__buf *out, const struct assay__table *table)
{
    struct assay__datum *scratch = calloc(table->column_count + 1, sizeof *scratch);
    if (!scratch) out->failed = true;
    for (size_t row = 0; row < table->row_count && !out->failed; row++) {
        bool first = true;
        if (assay__table_flags(table, row) & ASSAY__ROW_PEOPLE) continue;
        const struct assay__datum *cells = assay__table_cells(table, row, scratch);
        for (size_t c = 0; c < table->column_count; c++) {
            if (!table->columns[c].key) continue;
            if (!first) assay__buf_putc(out, ',');
            first = false;
            if (cells[c].kind == ASSAY__DATUM_TEXT)
                assay__csv_text(out, cells[c].text);
            else if (assay__datum_is_known(&cells[c]))
                assay__print_number(out, cells[c].number);
        }
        assay__buf_putc(out, '\n');
    }
    free(scratch);
}

/* The table of a block; NULL: it is not a table with a name. */
static const struct assay__table *table_at(const struct assay__doc *doc, size_t block)
{
    const struct assay__table *table = doc->blocks[block].table;
    return table && table->name ? table : NULL;
}

/* The rows of every table of that name; false: there is none. */
static bool put_tables(struct assay__buf *out, const struct assay__doc *doc, const char *wanted)
{
    bool found = false;
    for (int trial = INT_MIN, next; trial < INT_MAX; trial = next) {
        next = INT_MAX;
        for (size_t i = 0; i < doc->count; i++) {
            const struct assay__table *table = table_at(doc, i);
            if (!table || strcmp(table->name, wanted) != 0) continue;
            if (!found) put_head(out, table->columns, table->column_count);
            found = true;
            if (table->trial == trial) put_rows(out, table);
            if (table->trial > trial && table->trial < next) next = table->trial;
        }
    }
    return found;
}

int assay__walk_csv(const struct assay__doc *doc, const struct assay_report_options *options,
                    struct assay__buf *out, struct assay_error *error)
{
    const char *wanted = options->table ? options->table : doc->table;
    for (size_t i = 0; i < doc->count && !*wanted && !options->table; i++)
        if (table_at(doc, i)) wanted = table_at(doc, i)->name;
    if (put_tables(out, doc, wanted)) return 0;
    size_t count = 0;
    const struct assay__column *columns = doc->known_table ? doc->known_table(wanted, &count)
                                                           : NULL;
    if (columns) {
        put_head(out, columns, count);
        return 0;
    }
    struct assay__buf names = {0}; /* of all tables that there are: "metrics|layers|…" */
    if (doc->known_tables) assay__buf_puts(&names, doc->known_tables);
    for (size_t i = 0; i < doc->count && !doc->known_tables; i++) {
        const struct assay__table *table = table_at(doc, i);
        bool again = !table;
        for (size_t k = 0; k < i && !again; k++)
            again = table_at(doc, k) && strcmp(table_at(doc, k)->name, table->name) == 0;
        if (!again) assay__buf_printf(&names, "%s%s", names.length ? "|" : "", table->name);
    }
    int code = assay__refuse_option(error, "table", "unknown table '%s' (%s)", wanted,
                                    names.data ? names.data : "there is none");
    assay__buf_free(&names);
    return code;
}
