/* walk.c - what the walkers share: which rows and columns people see, what the others add up to,
 * and why cells are empty. */
#include "report/walk/walk.h"

#include "base/buf.h"
#include "report/figure/figure.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool assay__walk_picture(const struct assay__picture *picture, assay__draw_fn *draw, void *context,
                         struct assay_error *why, bool *failed)
{
    enum { PARTS = 16 };
    size_t drawn = 0;
    *why = (struct assay_error){0};
    if (picture->figure) {
        draw(context, picture->figure);
        return true;
    }
    const struct assay__figure_row *row = assay__figure_row_find(picture->name);
    for (int code = 0; row && !code && drawn < PARTS;) {
        struct assay__figure figure = {0};
        struct assay__arena *arena = assay__arena_new(); /* of one part: they are large */
        struct assay__sketch sketch = {.study = picture->study,
                                       .trial = picture->trial,
                                       .arena = arena,
                                       .figure = &figure,
                                       .error = why};
        code = arena ? row->make(&sketch, drawn) : ASSAY_ENOMEM;
        if (!code) {
            draw(context, &figure);
            drawn++;
        }
        assay__arena_free(arena);
        if (code && code != ASSAY_ENOTFOUND) *failed = true;
    }
    return drawn > 0;
}

size_t assay__walk_limit(const struct assay__table *table, size_t top)
{
    if (!table->more || top == SIZE_MAX) return SIZE_MAX;
    return table->limit ? table->limit : top;
}

static size_t row_at(const struct assay__table *table, size_t position)
{
    return table->order ? table->order[position] : position;
}

size_t assay__walk_rows(const struct assay__table *table, size_t limit, size_t *indices,
                        size_t *body, size_t *more)
{
    size_t count = 0, last = 0;
    *more = 0;
    for (size_t i = 0; i < table->row_count; i++) {
        unsigned flags = assay__table_flags(table, row_at(table, i));
        if (flags & (ASSAY__ROW_DATA | ASSAY__ROW_TOTAL)) continue;
        if (count < limit) {
            indices[count++] = row_at(table, i);
        } else {
            last = row_at(table, i);
            ++*more;
        }
    }
    if (*more == 1) { /* a line that says so would be as long as the row */
        indices[count++] = last;
        *more = 0;
    }
    *body = count;
    for (size_t i = 0; i < table->row_count; i++) {
        unsigned flags = assay__table_flags(table, row_at(table, i));
        if (flags & ASSAY__ROW_TOTAL && !(flags & ASSAY__ROW_DATA))
            indices[count++] = row_at(table, i);
    }
    return count;
}

struct assay__datum assay__walk_sum(const struct assay__table *table, size_t column, size_t limit)
{
    double sum = 0;
    size_t seen = 0;
    enum assay_state state = ASSAY_DERIVED;
    struct assay__datum *scratch = calloc(table->column_count, sizeof *scratch);
    if (!scratch || !(table->columns[column].flags & ASSAY__COLUMN_SUM)) {
        free(scratch);
        return assay__datum_none();
    }
    for (size_t i = 0; i < table->row_count; i++) {
        size_t row = row_at(table, i);
        if (assay__table_flags(table, row) & (ASSAY__ROW_DATA | ASSAY__ROW_TOTAL)) continue;
        if (seen++ < limit) continue;
        const struct assay__datum *cell = &assay__table_cells(table, row, scratch)[column];
        if (cell->kind == ASSAY__DATUM_NONE) continue;
        sum += assay__datum_is_known(cell) ? cell->number : (double)NAN;
        if (cell->state == ASSAY_ESTIMATED) state = ASSAY_ESTIMATED;
    }
    free(scratch);
    return assay__datum_number(sum, NULL, state);
}

bool assay__walk_column_is_shown(const struct assay__table *table, size_t column, bool page)
{
    const struct assay__column *c = &table->columns[column];
    if (!c->title || c->flags & (page ? ASSAY__COLUMN_ASIDE : ASSAY__COLUMN_PAGE)) return false;
    if (c->flags & ASSAY__COLUMN_KEEP || table->fill) return true;
    for (size_t i = 0; i < table->row_count; i++)
        if (!(table->rows[i].flags & ASSAY__ROW_DATA) &&
            assay__datum_is_known(&table->cells[i * table->column_count + column]))
            return true;
    return false;
}

/* The columns of a part, with the same rows. NULL: out of memory. */
static const struct assay__table *part_of(const struct assay__table *table, size_t part,
                                          struct assay__arena *arena)
{
    struct assay__table *view = assay__arena_alloc(arena, sizeof *view);
    struct assay__column *columns = assay__arena_array(arena, table->column_count, sizeof *columns);
    size_t *from = assay__arena_array(arena, table->column_count, sizeof *from), count = 0;
    if (!view || !columns || !from) return NULL;
    for (size_t c = 0; c < table->column_count; c++)
        if (!table->columns[c].part || table->columns[c].part == part + 1) {
            columns[count] = table->columns[c];
            from[count++] = c;
        }
    *view = *table;
    view->columns = columns;
    view->column_count = count;
    view->caption = table->parts[part].title;
    view->cells = assay__arena_array(arena, count * table->row_count + 1, sizeof *view->cells);
    if (!view->cells) return NULL;
    for (size_t row = 0; row < table->row_count; row++)
        for (size_t c = 0; c < count; c++)
            view->cells[row * count + c] = table->cells[row * table->column_count + from[c]];
    return view;
}

void assay__walk_parts(const struct assay__table *table, assay__part_fn *put, void *context,
                       bool *failed)
{
    if (table->data || !table->row_count) return;
    if (!table->part_count) put(context, table, NULL);
    for (size_t i = 0; i < table->part_count; i++) {
        struct assay__arena *arena = assay__arena_new();
        const struct assay__table *part = arena ? part_of(table, i, arena) : NULL;
        bool shown = false; /* a column that belongs only to this part */
        if (!part) *failed = true;
        for (size_t c = 0; part && c < part->column_count; c++)
            shown |= part->columns[c].part && assay__walk_column_is_shown(part, c, false);
        if (shown) put(context, part, i ? &table->parts[i] : NULL);
        assay__arena_free(arena);
    }
}

static bool is_gap(const struct assay__datum *cell)
{
    return cell->kind == ASSAY__DATUM_NUMBER && !assay__datum_is_known(cell) && cell->note &&
           *cell->note;
}

/* The name of a row: the first name among its cells. */
static const char *row_name(const struct assay__table *table, size_t row)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const struct assay__datum *cell = &table->cells[row * table->column_count + c];
        if (table->columns[c].flags & ASSAY__COLUMN_NAME && cell->kind == ASSAY__DATUM_TEXT)
            return cell->text;
    }
    return "";
}

/* The rows of a column that lack a number for that reason; "" if that is all of them. NULL: out of
 * memory. */
static const char *rows_without(const struct assay__table *table, size_t column, const char *why,
                                struct assay__arena *arena)
{
    enum { NAMED = 8 };
    struct assay__buf names = {0};
    bool all = true;
    size_t found = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        const struct assay__datum *cell = &table->cells[row * table->column_count + column];
        if (table->rows[row].flags & (ASSAY__ROW_DATA | ASSAY__ROW_TOTAL | ASSAY__ROW_FAULT))
            continue;
        if (cell->kind == ASSAY__DATUM_NONE) continue;
        if (!is_gap(cell) || strcmp(cell->note, why) != 0)
            all = false;
        else if (found++ < NAMED)
            assay__buf_join(&names, row_name(table, row));
    }
    if (found > NAMED) assay__buf_printf(&names, " and %zu more", found - NAMED);
    if (all) assay__buf_clear(&names);
    return assay__buf_keep(&names, arena);
}

/* Adds a gap, or a column to an existing gap. */
static int add_gap(const struct assay__table *table, size_t column, const char *why,
                   struct assay__arena *arena, struct assay__gap *gaps, size_t *count)
{
    const char *rows = rows_without(table, column, why, arena), *title;
    size_t i = 0;
    if (!rows) return ASSAY_ENOMEM;
    title = table->columns[column].title;
    while (i < *count && (strcmp(gaps[i].why, why) != 0 || strcmp(gaps[i].rows, rows) != 0))
        i++;
    if (i == *count)
        gaps[(*count)++] = (struct assay__gap){title, rows, why};
    else
        gaps[i].columns = assay__arena_printf(arena, "%s, %s", gaps[i].columns, title);
    return gaps[i].columns ? 0 : ASSAY_ENOMEM;
}

int assay__walk_gaps(const struct assay__table *table, struct assay__arena *arena,
                     struct assay__gap **gaps, size_t *count)
{
    enum { MOST = 64 };
    const size_t width = table->column_count;
    *count = 0;
    *gaps = assay__arena_array(arena, MOST, sizeof **gaps);
    if (!*gaps) return ASSAY_ENOMEM;
    for (size_t column = 0; column < width && !table->fill; column++) {
        if (!table->columns[column].title) continue;
        for (size_t row = 0; row < table->row_count && *count < MOST; row++) {
            const struct assay__datum *cells = &table->cells[column], *cell = &cells[row * width];
            bool said = table->rows[row].flags & ASSAY__ROW_DATA || !is_gap(cell);
            for (size_t i = 0; i < row && !said; i++)
                said = is_gap(&cells[i * width]) && strcmp(cells[i * width].note, cell->note) == 0;
            int code = said ? 0 : add_gap(table, column, cell->note, arena, *gaps, count);
            if (code) return code;
        }
    }
    return 0;
}
