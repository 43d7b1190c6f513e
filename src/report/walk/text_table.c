/* text_table.c - tables in columns of text. Where a table is wider than the page, in this order:
 * names are shortened (no two become equal), prose goes below its row, columns are dropped by their
 * priority, and what is left is split into several tables that repeat the names. What is not shown
 * is named below the table. */
#include "report/doc/doc.h"
#include "report/walk/text_page.h"

#include "base/text.h"
#include "report/walk/walk.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    GAP = 2,
    NAME_FAIR = 24,    /* columns that a name keeps while others can be dropped … */
    NAME_LEAST = 14,   /* … and in any case */
    SPARE = 5,         /* columns of this priority are dropped before names are cut */
    NAME_NARROW = 8,   /* … on a page below NARROW */
    NAME_SHORTEST = 4, /* … beside which a number would not fit otherwise */
    NARROW = 60,
    BAR_LEAST = 10,
    BAR_MOST = 40,
    PROSE_LEAST = 20, /* minimum space next to the numbers that is worth filling with prose */
    PROSE_LINES = 6,
    ALL_LINES = 1 << 20
};

/* How a column is laid out. */
enum place { HIDDEN, COLUMN, BELOW, DROPPED };

struct layout {
    struct assay__page *page;
    const struct assay__table *table;
    struct assay__arena *arena;
    size_t *rows; /* rows that are shown; SIZE_MAX: the row for those left out */
    size_t row_count;
    const char **texts;           /* row after row, a text for each column */
    struct assay__datum *scratch; /* cells of a row that is created on demand */
    enum place *places;
    size_t *widths;
    bool *shared; /* prose that has all the space it needs */
    size_t limit, more;
};

static bool is_text(const struct assay__column *column)
{
    return !column->unit;
}

static const char *text_at(const struct layout *l, size_t row, size_t column)
{
    return l->texts[row * l->table->column_count + column];
}

/* --- what is printed -------------------------------------------------------------------------- */

static const char *print_cell(struct layout *l, const struct assay__datum *value,
                              const struct assay__column *column)
{
    struct assay__buf text = {0}, safe = {0};
    assay__datum_print(&text, value, column->unit, column->factor);
    assay__text_safe(&safe, assay__buf_text(&text));
    assay__buf_drop(&text, &safe);
    const char *made = assay__buf_keep(&safe, l->arena);
    if (!made) l->page->out->failed = true;
    return made ? made : "";
}

/* "… 127 more layers" and what they add up to. */
static struct assay__datum more_cell(struct layout *l, size_t column, bool *named)
{
    const struct assay__table *t = l->table;
    if (t->columns[column].flags & ASSAY__COLUMN_SUM) return assay__walk_sum(t, column, l->limit);
    const struct assay__column *own = &t->columns[column];
    if (*named || !own->title || !is_text(own) || !(own->flags & ASSAY__COLUMN_NAME))
        return assay__datum_none();
    *named = true;
    const char *text = assay__arena_printf(l->arena, "… %zu more %s", l->more, t->more);
    return assay__datum_text(text ? text : "");
}

static bool print_cells(struct layout *l)
{
    size_t columns = l->table->column_count;
    l->texts = assay__arena_array(l->arena, l->row_count * columns + 1, sizeof *l->texts);
    l->scratch = assay__arena_array(l->arena, columns + 1, sizeof *l->scratch);
    if (!l->texts || !l->scratch) return false;
    for (size_t i = 0; i < l->row_count; i++) {
        bool named = false, left_out = l->rows[i] == SIZE_MAX;
        const struct assay__datum *cells = left_out ? NULL
                                                    : assay__table_cells(l->table, l->rows[i],
                                                                         l->scratch);
        for (size_t c = 0; c < columns; c++) {
            struct assay__datum more = left_out ? more_cell(l, c, &named) : assay__datum_none();
            l->texts[i * columns + c] = print_cell(l, left_out ? &more : &cells[c],
                                                   &l->table->columns[c]);
        }
    }
    return true;
}

/* --- where it goes ---------------------------------------------------------------------------- */

static size_t natural_width(const struct layout *l, size_t column)
{
    size_t width = assay__text_width(l->table->columns[column].title);
    for (size_t i = 0; i < l->row_count; i++) {
        size_t own = assay__text_width(text_at(l, i, column));
        if (own > width) width = own;
    }
    return width;
}

static bool is_bar(const struct layout *l, size_t column)
{
    return l->table->columns[column].flags & ASSAY__COLUMN_BAR;
}

static size_t used_width(const struct layout *l)
{
    size_t used = 0;
    for (size_t c = 0; c < l->table->column_count; c++)
        if (l->places[c] == COLUMN) used += l->widths[c] + (used ? GAP : 0);
    return used;
}

static size_t room(const struct layout *l)
{
    return (size_t)l->page->columns - INDENT;
}

static bool is_name(const struct layout *l, size_t column)
{
    return l->places[column] == COLUMN && l->table->columns[column].flags & ASSAY__COLUMN_NAME;
}

/* Shortens names, the widest first, until `missing` columns are gained; none below `least`. */
static void shrink_names(struct layout *l, size_t least, size_t missing)
{
    while (missing) {
        size_t widest = SIZE_MAX;
        for (size_t c = 0; c < l->table->column_count; c++)
            if (is_name(l, c) && l->widths[c] > least &&
                (widest == SIZE_MAX || l->widths[c] > l->widths[widest]))
                widest = c;
        if (widest == SIZE_MAX) return;
        size_t give = l->widths[widest] - least;
        if (give > missing) give = missing;
        l->widths[widest] -= give;
        missing -= give;
    }
}

static size_t excess(const struct layout *l)
{
    size_t used = used_width(l);
    return used > room(l) ? used - room(l) : 0;
}

static bool is_prose(const struct layout *l, size_t column)
{
    return l->places[column] == COLUMN && l->table->columns[column].flags & ASSAY__COLUMN_PROSE;
}

static bool is_after(const struct layout *l, size_t column)
{
    return l->table->columns[column].flags & ASSAY__COLUMN_AFTER;
}

/* The width that prose may take next to the other columns, in equal shares; columns that need less
 * leave the rest to the others. */
static void share_room(struct layout *l, size_t left, size_t count)
{
    for (bool settled = false; !settled && count;) {
        size_t share = left / count;
        settled = true;
        for (size_t c = 0; c < l->table->column_count; c++) {
            if (!is_prose(l, c) || l->widths[c] > share || l->shared[c]) continue;
            l->shared[c] = true;
            left -= l->widths[c];
            count--;
            settled = false;
            break;
        }
        if (!settled) continue;
        for (size_t c = 0; c < l->table->column_count; c++)
            if (is_prose(l, c) && !l->shared[c]) l->widths[c] = share;
    }
}

/* Prose stays next to the numbers if it fits or can be wrapped there; otherwise what must be read
 * goes below its row, and the rest is left out. */
static void place_prose(struct layout *l)
{
    size_t count = 0, prose = 0;
    for (size_t c = 0; c < l->table->column_count; c++)
        if (is_prose(l, c) && l->table->columns[c].priority && excess(l)) l->places[c] = DROPPED;
    if (!excess(l)) return;
    for (size_t c = 0; c < l->table->column_count; c++)
        if (is_prose(l, c) && is_after(l, c)) l->places[c] = BELOW;
    for (size_t c = 0; c < l->table->column_count; c++)
        if (is_prose(l, c)) {
            count++;
            prose += l->widths[c];
        }
    size_t others = used_width(l) - prose;
    if (!excess(l)) return;
    if (others + count * PROSE_LEAST <= room(l)) {
        share_room(l, room(l) - others, count);
        return;
    }
    for (size_t c = 0; c < l->table->column_count; c++)
        if (is_prose(l, c)) l->places[c] = BELOW;
}

/* Drops columns of that priority or a higher number, the highest first. */
static void drop_columns(struct layout *l, unsigned from)
{
    while (excess(l)) {
        size_t first = SIZE_MAX;
        unsigned highest = from;
        for (size_t c = 0; c < l->table->column_count; c++)
            if (l->places[c] == COLUMN && l->table->columns[c].priority >= highest) {
                highest = l->table->columns[c].priority;
                first = c;
            }
        if (first == SIZE_MAX) return;
        l->places[first] = DROPPED;
    }
}

static void arrange(struct layout *l)
{
    for (size_t c = 0; c < l->table->column_count; c++) {
        bool shown = assay__walk_column_is_shown(l->table, c, false);
        l->places[c] = shown ? COLUMN : HIDDEN;
        l->widths[c] = !shown ? 0 : is_bar(l, c) ? BAR_LEAST : natural_width(l, c);
    }
    bool narrow = l->page->columns < NARROW;
    place_prose(l);
    drop_columns(l, SPARE);
    shrink_names(l, narrow ? NAME_LEAST : NAME_FAIR, excess(l));
    drop_columns(l, 1);
    /* they get the space of the dropped columns */
    for (size_t c = 0; c < l->table->column_count; c++)
        if (is_name(l, c)) l->widths[c] = natural_width(l, c);
    shrink_names(l, narrow ? NAME_NARROW : NAME_LEAST, excess(l));
    if (!excess(l)) {
        /* A bar takes what is left. */
        for (size_t c = 0; c < l->table->column_count; c++) {
            if (l->places[c] != COLUMN || !is_bar(l, c)) continue;
            size_t left = room(l) - used_width(l) + l->widths[c];
            l->widths[c] = left < BAR_MOST ? left : BAR_MOST;
        }
    }
}

/* --- shortened names -------------------------------------------------------------------------- */

static void cut(struct assay__buf *out, const char *name, size_t width, size_t head)
{
    if (assay__text_width(name) <= width || width < 4)
        assay__text_fit(out, name, width, 0);
    else
        assay__page_cut_middle(out, name, width, head);
}

struct cut_name {
    const char *cut, *name;
};

static int compare_cuts(const void *left, const void *right)
{
    const struct cut_name *a = left, *b = right;
    int order = strcmp(a->cut, b->cut);
    return order ? order : strcmp(a->name, b->name);
}

/* Two names that differ have become equal. */
static bool clashes(const char *const *names, const struct assay__buf *out, size_t count)
{
    bool found = false;
    struct cut_name *sorted = calloc(count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++)
        sorted[i] = (struct cut_name){assay__buf_text(&out[i]), names[i]};
    if (sorted) qsort(sorted, count, sizeof *sorted, compare_cuts);
    for (size_t i = 1; sorted && i < count && !found; i++)
        found = strcmp(sorted[i - 1].cut, sorted[i].cut) == 0 &&
                strcmp(sorted[i - 1].name, sorted[i].name) != 0;
    free(sorted);
    return found;
}

static bool is_equal(const char *const *names, const struct assay__buf *out, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++)
        if (k != i && out[k].data && out[i].data && strcmp(out[k].data, out[i].data) == 0 &&
            strcmp(names[k], names[i]) != 0)
            return true;
    return false;
}

void assay__text_shorten(const char *const *names, size_t count, size_t width,
                         struct assay__buf *out)
{
    /* in the middle, else with more of the end, more of the start */
    const size_t heads[] = {width / 2, width / 4 + 1, width * 3 / 4, 2, width - 1};
    for (size_t h = 0; h < sizeof heads / sizeof heads[0]; h++) {
        for (size_t i = 0; i < count; i++) {
            assay__buf_clear(&out[i]);
            cut(&out[i], names[i], width, heads[h] > 1 ? heads[h] : 2);
        }
        if (!clashes(names, out, count)) return;
    }
    /* If no cut keeps all names distinct, equal ones get a number; if there are very many, all do.
     */
    enum { SEARCHED = 500 };
    bool *equal = calloc(count + 1, sizeof *equal);
    for (size_t i = 0; i < count; i++) {
        assay__buf_clear(&out[i]);
        cut(&out[i], names[i], width, width / 2);
    }
    for (size_t i = 0; i < count && equal; i++)
        equal[i] = count > SEARCHED || is_equal(names, out, count, i);
    for (size_t i = 0; i < count; i++) {
        char number[24];
        if (equal && !equal[i]) continue;
        snprintf(number, sizeof number, "#%zu", i + 1);
        size_t end = strlen(number);
        assay__buf_clear(&out[i]);
        cut(&out[i], names[i], width > end ? width - end : 1, width / 2);
        assay__buf_puts(&out[i], number);
    }
    free(equal);
}

/* The texts of a name's column, cut to its width. */
static void fit_names(struct layout *l, size_t column)
{
    size_t count = l->row_count;
    const char **names = assay__arena_array(l->arena, count + 1, sizeof *names);
    struct assay__buf *cuts = assay__arena_array(l->arena, count + 1, sizeof *cuts);
    if (!names || !cuts) {
        l->page->out->failed = true;
        return;
    }
    /* the rows after the body are not names: cut at their end */
    size_t body = 0;
    for (size_t i = 0; i < count; i++)
        names[i] = text_at(l, i, column);
    while (body < count && l->rows[body] != SIZE_MAX &&
           !(assay__table_flags(l->table, l->rows[body]) & ASSAY__ROW_TOTAL))
        body++;
    assay__text_shorten(names, body, l->widths[column], cuts);
    for (size_t i = body; i < count; i++)
        assay__text_fit(&cuts[i], names[i], l->widths[column], 0);
    for (size_t i = 0; i < count; i++) {
        const char *text = assay__buf_keep(&cuts[i], l->arena);
        if (text) l->texts[i * l->table->column_count + column] = text;
        if (!text) l->page->out->failed = true;
    }
}

/* --- writing ---------------------------------------------------------------------------------- */

static void put_aligned(struct layout *l, const char *text, size_t column)
{
    struct assay__buf *out = l->page->out;
    size_t width = assay__text_width(text), all = l->widths[column];
    bool left = is_text(&l->table->columns[column]);
    if (width > all) {
        assay__text_fit(out, text, all, 0);
        return;
    }
    if (!left) assay__buf_repeat(out, " ", all - width);
    assay__buf_puts(out, text);
    if (left) assay__buf_repeat(out, " ", all - width);
}

static void trim(struct assay__buf *out)
{
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    assay__buf_putc(out, '\n');
}

static bool is_among(const struct layout *l, size_t column, const bool *chunk)
{
    return l->places[column] == COLUMN && (!chunk || chunk[column]);
}

static void put_bar_cell(struct layout *l, size_t row, size_t column)
{
    struct assay__buf bar = {0};
    struct assay__page line = *l->page;
    double share = l->rows[row] == SIZE_MAX
                       ? 0
                       : assay__table_cells(l->table, l->rows[row], l->scratch)[column].number;
    line.out = &bar;
    line.color = false;
    assay__page_bar(&line, share, (int)l->widths[column]);
    size_t width = assay__text_width(assay__buf_text(&bar));
    assay__page_bar(l->page, share, (int)l->widths[column]);
    assay__buf_repeat(l->page->out, " ", l->widths[column] - width);
    assay__buf_free(&bar);
}

/* A table with all rows also shows all words. */
static size_t prose_lines(const struct layout *l)
{
    return l->limit == SIZE_MAX ? ALL_LINES : PROSE_LINES;
}

/* Line `number` of a wrapped cell, padded; false: it has no such line. */
static bool put_line_of(struct layout *l, const struct assay__buf *cell, size_t number,
                        size_t column)
{
    const char *at = assay__buf_text(cell);
    for (; number && *at; number--)
        at = strchr(at, '\n') + 1;
    size_t length = strcspn(at, "\n");
    struct assay__buf line = {0};
    if (*at) assay__buf_add(&line, at, length);
    put_aligned(l, assay__buf_text(&line), column);
    assay__buf_drop(&line, l->page->out);
    return at[length] == '\n' && at[length + 1];
}

static void put_below(struct layout *l, size_t row)
{
    size_t below = 0;
    for (size_t c = 0; c < l->table->column_count; c++)
        below += l->places[c] == BELOW;
    for (size_t c = 0; c < l->table->column_count; c++) {
        const char *text = text_at(l, row, c);
        if (l->places[c] != BELOW || !*text) continue;
        const char *named = below > 1 || is_after(l, c)
                                ? assay__arena_printf(l->arena, "%s: %s",
                                                      l->table->columns[c].title, text)
                                : text;
        assay__page_wrap_lines(l->page, ASSAY__STYLE_DIM, "      ", named ? named : text,
                               prose_lines(l));
    }
}

static void put_cell(struct layout *l, size_t row, size_t column, size_t line,
                     const struct assay__buf *wrapped, bool *more)
{
    if (is_prose(l, column))
        *more |= put_line_of(l, &wrapped[column], line, column);
    else if (line)
        assay__buf_repeat(l->page->out, " ", l->widths[column]);
    else if (is_bar(l, column))
        put_bar_cell(l, row, column);
    else
        put_aligned(l, text_at(l, row, column), column);
}

static void put_row(struct layout *l, size_t row, const bool *chunk)
{
    struct assay__buf *out = l->page->out;
    size_t index = l->rows[row], columns = l->table->column_count;
    unsigned flags = index == SIZE_MAX ? 0 : assay__table_flags(l->table, index);
    struct assay__buf *wrapped = calloc(columns + 1, sizeof *wrapped);
    if (!wrapped) out->failed = true;
    for (size_t c = 0; wrapped && c < columns; c++) {
        if (!is_prose(l, c) || !is_among(l, c, chunk)) continue;
        struct assay__page part = {.out = &wrapped[c],
                                   .columns = (int)l->widths[c],
                                   .ascii = l->page->ascii,
                                   .top = l->page->top};
        assay__page_wrap_lines(&part, ASSAY__STYLE_PLAIN, "", text_at(l, row, c), prose_lines(l));
    }
    if (flags & ASSAY__ROW_FAULT) assay__page_style(l->page, ASSAY__STYLE_WARN);
    bool more = wrapped != NULL;
    for (size_t line = 0; more && !out->failed; line++) {
        bool first = true;
        more = false;
        assay__buf_puts(out, line                      ? "  "
                             : flags & ASSAY__ROW_BEST ? "> "
                             : flags & ASSAY__ROW_TIED ? "│ "
                                                       : "  ");
        for (size_t c = 0; c < columns; c++) {
            if (!is_among(l, c, chunk)) continue;
            if (!first) assay__buf_repeat(out, " ", GAP);
            first = false;
            put_cell(l, row, c, line, wrapped, &more);
        }
        trim(out);
    }
    if (flags & ASSAY__ROW_FAULT) assay__page_style(l->page, ASSAY__STYLE_PLAIN);
    for (size_t c = 0; wrapped && c < columns; c++)
        assay__buf_free(&wrapped[c]);
    free(wrapped);
}

static void put_chunk(struct layout *l, const bool *chunk, bool last)
{
    bool first = true;
    assay__page_style(l->page, ASSAY__STYLE_DIM);
    assay__buf_repeat(l->page->out, " ", INDENT);
    for (size_t c = 0; c < l->table->column_count; c++) {
        if (!is_among(l, c, chunk)) continue;
        if (!first) assay__buf_repeat(l->page->out, " ", GAP);
        first = false;
        put_aligned(l, is_bar(l, c) ? "" : l->table->columns[c].title, c);
    }
    trim(l->page->out);
    assay__page_style(l->page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; i < l->row_count && !l->page->out->failed; i++) {
        put_row(l, i, chunk);
        if (last) put_below(l, i);
    }
}

/* Names are repeated in every part: shorten them until the widest other column fits. */
static void make_room(struct layout *l)
{
    size_t names = 0, widest = 0;
    for (size_t c = 0; c < l->table->column_count; c++) {
        bool name = l->table->columns[c].flags & ASSAY__COLUMN_NAME;
        if (l->places[c] != COLUMN) continue;
        if (name) names += l->widths[c] + GAP;
        if (!name && l->widths[c] > widest) widest = l->widths[c];
    }
    if (names + widest > room(l)) shrink_names(l, NAME_SHORTEST, names + widest - room(l));
}

/* As many columns as fit, the names first in each part. */
static void put_parts(struct layout *l)
{
    size_t columns = l->table->column_count, next = 0;
    bool *chunk = assay__arena_array(l->arena, columns + 1, sizeof *chunk);
    if (!chunk) {
        l->page->out->failed = true;
        return;
    }
    for (bool more = true, again = false; more; again = true) {
        size_t used = 0, own = 0;
        memset(chunk, 0, columns * sizeof *chunk);
        for (size_t c = 0; c < columns; c++)
            if (is_name(l, c)) {
                chunk[c] = true;
                used += l->widths[c] + GAP;
            }
        more = false;
        for (; next < columns; next++) {
            if (l->places[next] != COLUMN || chunk[next]) continue;
            if (own && used + l->widths[next] > room(l)) {
                more = true;
                break;
            }
            chunk[next] = true;
            used += l->widths[next] + GAP;
            own++;
        }
        if (again) assay__buf_putc(l->page->out, '\n');
        put_chunk(l, chunk, !more);
    }
}

static void put_gaps(struct layout *l)
{
    struct assay__gap *gaps;
    size_t count;
    if (assay__walk_gaps(l->table, l->arena, &gaps, &count)) {
        l->page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        assay__page_print(l->page, ASSAY__STYLE_DIM, "  — ", "%s%s%s%s: %s", gaps[i].columns,
                          *gaps[i].rows ? " (" : "", gaps[i].rows, *gaps[i].rows ? ")" : "",
                          gaps[i].why);
}

static bool begin(struct layout *l)
{
    const struct assay__table *t = l->table;
    size_t body;
    l->rows = assay__arena_array(l->arena, t->row_count + 2, sizeof *l->rows);
    l->places = assay__arena_array(l->arena, t->column_count + 1, sizeof *l->places);
    l->widths = assay__arena_array(l->arena, t->column_count + 1, sizeof *l->widths);
    l->shared = assay__arena_array(l->arena, t->column_count + 1, sizeof *l->shared);
    if (!l->rows || !l->places || !l->widths || !l->shared) return false;
    l->row_count = assay__walk_rows(t, l->limit, l->rows, &body, &l->more);
    if (l->more) { /* after the rows, before the totals */
        memmove(&l->rows[body + 1], &l->rows[body], (l->row_count - body) * sizeof *l->rows);
        l->rows[body] = SIZE_MAX;
        l->row_count++;
    }
    return print_cells(l);
}

void assay__text_table(struct assay__page *page, const struct assay__table *table, size_t limit)
{
    struct layout l = {.page = page, .table = table, .limit = limit};
    l.arena = assay__arena_new();
    if (!l.arena || !begin(&l)) {
        page->out->failed = true;
        goto out;
    }
    if (!l.row_count) goto out;
    arrange(&l);
    if (excess(&l)) make_room(&l);
    for (size_t c = 0; c < table->column_count; c++)
        if (is_name(&l, c)) fit_names(&l, c);
    if (excess(&l))
        put_parts(&l);
    else
        put_chunk(&l, NULL, true);
    struct assay__buf names = {0};
    for (size_t c = 0; c < l.table->column_count; c++)
        if (l.places[c] == DROPPED && !is_bar(&l, c))
            assay__buf_printf(&names, "%s%s", names.length ? ", " : "not shown at this width: ",
                              l.table->columns[c].title);
    if (names.length) assay__page_wrap(l.page, ASSAY__STYLE_DIM, "  ", names.data);
    assay__buf_drop(&names, l.page->out);
    put_gaps(&l);
out:
    assay__arena_free(l.arena);
}
