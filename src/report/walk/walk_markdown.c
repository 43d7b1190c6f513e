/* walk_markdown.c - a document as GitHub-flavoured Markdown. Text from files is escaped: HTML,
 * table pipes, the characters that start emphasis, links, code or headings, and "://" and "www." so
 * that a name does not become a link.
 *
 * A forge looks for mentions (@somebody) and references (#123, GH-123) in the rendered Markdown,
 * where backslashes and entities are already gone. It ignores only code, so the sign itself is made
 * code: `@`somebody.
 *
 * Folds are <details>. Figures are left out: a forge does not show pictures embedded in a file. */
#include "report/walk/html_text.h"
#include "report/formats.h"

#include "base/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TOP = 20, DEEPEST = 5 };

struct walk {
    struct assay__buf *out;
    const struct assay__doc *doc;
    size_t top;
    int depth;
    bool in_facts;
};

/* Whether a forge would see a mention or a reference starting at this sign. `start` is where the
 * text begins. */
static bool is_reference(const char *start, const char *c)
{
    unsigned char next = (unsigned char)c[1];
    if (*c == '@') return isalnum(next) || next == '_';
    if (*c == '#' || *c == '!') return isdigit(next) != 0; /* an issue, a merge request */
    if (*c == '%') return isalnum(next) != 0;              /* a milestone */
    if (*c != '-' || !isdigit(next) || c - start < 2 || strncasecmp(c - 2, "GH", 2) != 0)
        return false;
    return c - start == 2 || !isalnum((unsigned char)c[-3]);
}

void assay__markdown_text(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *start = assay__buf_text(&safe);
    for (const char *c = start; *c; c++) {
        bool inside = c > start && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (*c == '&')
            assay__buf_puts(out, "&amp;");
        else if (*c == '<')
            assay__buf_puts(out, "&lt;");
        else if (*c == '>')
            assay__buf_puts(out, "&gt;");
        else if (*c == ':' && c[1] == '/' && c[2] == '/')
            assay__buf_puts(out, "&#58;");
        else if (*c == '.' && c - start >= 3 && strncasecmp(c - 3, "www", 3) == 0)
            assay__buf_puts(out, "&#46;");
        else if (is_reference(start, c))
            assay__buf_printf(out, "`%c`", *c);
        else if (strchr("\\`*[]|#~", *c) || (*c == '_' && !inside))
            assay__buf_printf(out, "\\%c", *c);
        else
            assay__buf_putc(out, *c);
    }
    assay__buf_drop(&safe, out);
}

/* The same in HTML, where Markdown is not interpreted: <code>@</code>somebody. */
static void put_summary(struct assay__buf *out, const char *given)
{
    struct assay__buf part = {0}, safe = {0};
    assay__text_safe(&safe, given);
    const char *text = assay__buf_text(&safe);
    for (const char *c = text; *c; c++) {
        if (!is_reference(text, c)) {
            assay__buf_putc(&part, *c);
            continue;
        }
        assay__html_text(out, assay__buf_text(&part));
        assay__buf_printf(out, "<code>%c</code>", *c);
        assay__buf_clear(&part);
    }
    assay__html_text(out, assay__buf_text(&part));
    assay__buf_drop(&part, out);
    assay__buf_drop(&safe, out);
}

static void put(struct walk *w, const char *before, const char *text, const char *after)
{
    assay__buf_puts(w->out, before);
    assay__markdown_text(w->out, text);
    assay__buf_puts(w->out, after);
}

static void put_value(struct assay__buf *out, const struct assay__datum *value,
                      const struct assay__column *column)
{
    struct assay__buf text = {0};
    assay__datum_print(&text, value, column ? column->unit : NULL, column ? column->factor : 0);
    assay__markdown_text(out, text.data);
    assay__buf_drop(&text, out);
}

static void put_fact(struct walk *w, const struct assay__fact *fact)
{
    if (!w->in_facts) assay__buf_puts(w->out, "\n| | |\n|---|---|\n");
    w->in_facts = true;
    put(w, "| ", fact->label, " | ");
    for (size_t i = 0; i < fact->count; i++) {
        const struct assay__item *item = &fact->items[i];
        bool unknown = item->value.kind == ASSAY__DATUM_NUMBER &&
                       !assay__datum_is_known(&item->value);
        if (i) assay__buf_puts(w->out, " · ");
        if (item->name) put(w, "", item->name, " ");
        put_value(w->out, &item->value, NULL);
        if (unknown && item->value.note && *item->value.note) put(w, " ", item->value.note, "");
        if (item->after) put(w, " ", item->after, "");
    }
    assay__buf_puts(w->out, " |\n");
}

/* A fence that is longer than any in the code. */
static void put_code(struct walk *w, const struct assay__code *code)
{
    size_t longest = 2, run = 0;
    for (const char *c = code->text; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    if (code->title) put(w, "\n**", code->title, "**\n");
    assay__buf_putc(w->out, '\n');
    assay__buf_repeat(w->out, "`", longest + 1);
    assay__buf_printf(w->out, "%s\n", code->language ? code->language : "");
    for (const char *at = code->text; *at;) { /* control characters are made safe, line by line */
        struct assay__buf line = {0};
        size_t length = strcspn(at, "\n");
        assay__buf_add(&line, at, length);
        assay__text_safe(w->out, assay__buf_text(&line));
        assay__buf_putc(w->out, '\n');
        assay__buf_drop(&line, w->out);
        at += length + (at[length] == '\n');
    }
    assay__buf_repeat(w->out, "`", longest + 1);
    assay__buf_putc(w->out, '\n');
}

static bool is_shown(const struct assay__table *table, size_t column)
{
    return !(table->columns[column].flags & ASSAY__COLUMN_BAR) &&
           assay__walk_column_is_shown(table, column, false);
}

static void put_row(struct walk *w, const struct assay__table *table,
                    const struct assay__datum *cells, unsigned flags)
{
    bool strong = flags & (ASSAY__ROW_BEST | ASSAY__ROW_TOTAL);
    assay__buf_putc(w->out, '|');
    for (size_t c = 0; c < table->column_count; c++) {
        if (!is_shown(table, c)) continue;
        bool bold = strong && table->columns[c].flags & ASSAY__COLUMN_NAME &&
                    assay__datum_is_known(&cells[c]);
        assay__buf_puts(w->out, bold ? " **" : " ");
        put_value(w->out, &cells[c], &table->columns[c]);
        assay__buf_puts(w->out, bold ? "** |" : " |");
    }
    assay__buf_putc(w->out, '\n');
}

/* "… 127 more layers", with what they add up to. */
static void put_more(struct walk *w, const struct assay__table *table, size_t limit, size_t more,
                     struct assay__datum *cells)
{
    struct assay__buf text = {0};
    bool named = false;
    assay__buf_printf(&text, "… %zu more %s", more, table->more);
    for (size_t c = 0; c < table->column_count; c++) {
        cells[c] = assay__walk_sum(table, c, limit);
        if (named || !is_shown(table, c) || !(table->columns[c].flags & ASSAY__COLUMN_NAME))
            continue;
        cells[c] = assay__datum_text(assay__buf_text(&text));
        named = true;
    }
    put_row(w, table, cells, 0);
    assay__buf_free(&text);
}

static void put_gaps(struct walk *w, const struct assay__table *table)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__gap *gaps;
    size_t count = 0;
    if (!arena || assay__walk_gaps(table, arena, &gaps, &count)) w->out->failed = true;
    if (count) assay__buf_putc(w->out, '\n');
    for (size_t i = 0; i < count; i++) {
        put(w, "- — ", gaps[i].columns, "");
        if (*gaps[i].rows) put(w, " (", gaps[i].rows, ")");
        put(w, ": ", gaps[i].why, "\n");
    }
    assay__arena_free(arena);
}

static void put_part(void *context, const struct assay__table *table,
                     const struct assay__heading *part)
{
    struct walk *w = context;
    size_t *rows = calloc(table->row_count, sizeof *rows), body = 0, more = 0,
           limit = assay__walk_limit(table, w->top);
    struct assay__datum *scratch = calloc(table->column_count + 1, sizeof *scratch);
    size_t count = rows && scratch ? assay__walk_rows(table, limit, rows, &body, &more) : 0;
    if (!rows || !scratch) w->out->failed = true;
    if (part) put(w, "\n**", part->title, "**\n");
    if (count) {
        assay__buf_puts(w->out, "\n|");
        for (size_t c = 0; c < table->column_count; c++)
            if (is_shown(table, c)) put(w, " ", table->columns[c].title, " |");
        assay__buf_puts(w->out, "\n|");
        for (size_t c = 0; c < table->column_count; c++)
            if (is_shown(table, c))
                assay__buf_puts(w->out, table->columns[c].unit ? "--:|" : "---|");
        assay__buf_putc(w->out, '\n');
    }
    for (size_t i = 0; i <= count && count; i++) {
        if (i == body && more) put_more(w, table, limit, more, scratch);
        if (i < count)
            put_row(w, table, assay__table_cells(table, rows[i], scratch),
                    assay__table_flags(table, rows[i]));
    }
    put_gaps(w, table);
    free(rows);
    free(scratch);
}

/* Whether the section that begins there contains sections: their titles need its title above
 * them. */
static bool has_sections(const struct assay__doc *doc, size_t at)
{
    size_t depth = 1;
    while (++at < doc->count && depth) {
        enum assay__block_kind kind = doc->blocks[at].kind;
        if (kind == ASSAY__BLOCK_SECTION) return true;
        depth += kind == ASSAY__BLOCK_FOLD;
        depth -= kind == ASSAY__BLOCK_END;
    }
    return false;
}

/* The section that begins there holds nothing but a figure, which is left out. */
static bool is_picture(const struct assay__doc *doc, size_t at)
{
    return at + 2 < doc->count && doc->blocks[at + 1].kind == ASSAY__BLOCK_FIGURE &&
           doc->blocks[at + 2].kind == ASSAY__BLOCK_END;
}

/* Block after block; an end closes its fold, or leaves the depth of its section. */
static void put_blocks(struct walk *w)
{
    enum { OPEN = 64 };
    bool folds[OPEN] = {false};
    size_t open = 0;
    for (size_t i = 0; i < w->doc->count; i++) {
        const struct assay__block *block = &w->doc->blocks[i];
        bool begins = block->kind == ASSAY__BLOCK_SECTION || block->kind == ASSAY__BLOCK_FOLD,
             strong = false;
        w->in_facts &= block->kind == ASSAY__BLOCK_FACT;
        switch (block->kind) {
        case ASSAY__BLOCK_SECTION:
            w->depth++;
            if (block->heading.flags & ASSAY__SECTION_QUIET && !has_sections(w->doc, i)) break;
            if (is_picture(w->doc, i)) break;
            assay__buf_putc(w->out, '\n');
            assay__buf_repeat(w->out, "#", (size_t)(w->depth < DEEPEST ? w->depth : DEEPEST) + 1);
            put(w, " ", block->heading.title, "\n");
            if (block->heading.remark) put(w, "\n", block->heading.remark, "\n");
            break;
        case ASSAY__BLOCK_FOLD:
            assay__buf_puts(w->out, "\n<details><summary>");
            put_summary(w->out, block->heading.title);
            if (block->heading.remark) assay__buf_puts(w->out, ": ");
            if (block->heading.remark) put_summary(w->out, block->heading.remark);
            assay__buf_puts(w->out, "</summary>\n");
            break;
        case ASSAY__BLOCK_SENTENCE:
            strong = block->tone == ASSAY__TONE_ALERT || block->tone == ASSAY__TONE_WARN;
            put(w, strong ? "\n**" : "\n", block->text, strong ? "**\n" : "\n");
            break;
        case ASSAY__BLOCK_FACT: put_fact(w, block->fact); break;
        case ASSAY__BLOCK_LIST:
            assay__buf_putc(w->out, '\n');
            for (size_t k = 0; k < block->list->count; k++)
                put(w, "- ", block->list->items[k], "\n");
            break;
        case ASSAY__BLOCK_TABLE:
            assay__walk_parts(block->table, put_part, w, &w->out->failed);
            break;
        case ASSAY__BLOCK_CODE: put_code(w, block->code); break;
        case ASSAY__BLOCK_FIGURE:
        case ASSAY__BLOCK_END: break;
        }
        if (begins && open < OPEN) folds[open++] = block->kind == ASSAY__BLOCK_FOLD;
        if (block->kind != ASSAY__BLOCK_END || !open) continue;
        if (folds[--open])
            assay__buf_puts(w->out, "\n</details>\n");
        else
            w->depth--;
    }
}

int assay__walk_markdown(const struct assay__doc *doc, const struct assay_report_options *options,
                         struct assay__buf *out, struct assay_error *error)
{
    struct walk w = {.out = out, .doc = doc};
    (void)error;
    w.top = options->top < 0 || options->full ? SIZE_MAX
            : options->top                    ? (size_t)options->top
                                              : TOP;
    put(&w, "# ", doc->title, "\n");
    put_blocks(&w);
    return 0;
}
