/* cmd_query.c - assay query: one SQL statement on a profile, as an aligned table, CSV or JSON;
 * without SQL, the tables and columns there are. Rows are streamed; the column widths of the
 * aligned table come from the first 1,000. */
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "profile/store.h"

#include <assay/profile.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_HELD 1000
#define FLUSH_BYTES 65536
#define CELL_COLUMNS 60

/* Type codes of SQLite's C interface, as the store hands them on. */
enum { TYPE_INTEGER = 1, TYPE_FLOAT = 2 };

struct query_options {
    bool json, csv;
};

struct cell {
    char *text; /* NULL: SQL null */
    bool number;
};

struct printer {
    const struct query_options *options;
    struct assay__buf out;
    struct assay__json_writer json;
    int columns;
    char **names;
    size_t *widths;
    struct cell *held; /* rows × columns */
    size_t row_count, cell_limit;
    bool started, streaming;
    int status; /* of writing to stdout */
};

static int flush(struct printer *p, bool all)
{
    if (!p->out.failed && (p->out.length < FLUSH_BYTES && !all)) return 0;
    if (p->out.failed) {
        assay__say("out of memory");
        p->status = ASSAY__EXIT_FAILED;
    } else if (!p->status) {
        p->status = assay__write_stdout(assay__buf_text(&p->out), p->out.length);
    }
    assay__buf_clear(&p->out);
    return p->status;
}

/* --- the aligned table ------------------------------------------------------------------------ */

static void put_cell(struct printer *p, int column, const char *text, bool number)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "—");
    const char *shown = assay__buf_text(&safe);
    size_t width = assay__text_width(shown), room = p->widths[column];
    bool last = column + 1 == p->columns;
    if (column) assay__buf_puts(&p->out, "  ");
    if (number && width < room) assay__buf_repeat(&p->out, " ", room - width);
    if (width > room && p->cell_limit)
        assay__text_fit(&p->out, shown, room, 0);
    else
        assay__buf_puts(&p->out, shown);
    if (!number && !last && width < room) assay__buf_repeat(&p->out, " ", room - width);
    assay__buf_free(&safe);
}

static void release_held(struct printer *p)
{
    size_t held = p->streaming ? 0 : p->row_count;
    for (size_t r = 0; r < held; r++) {
        for (int c = 0; c < p->columns; c++) {
            struct cell *cell = &p->held[r * (size_t)p->columns + (size_t)c];
            put_cell(p, c, cell->text, cell->number);
            free(cell->text);
        }
        assay__buf_putc(&p->out, '\n');
        flush(p, false);
    }
    p->streaming = true;
}

static void start_table(struct printer *p)
{
    for (int c = 0; c < p->columns; c++)
        put_cell(p, c, p->names[c], false);
    assay__buf_putc(&p->out, '\n');
    for (int c = 0; c < p->columns; c++) {
        assay__buf_puts(&p->out, c ? "  " : "");
        assay__buf_repeat(&p->out, "─", p->widths[c]);
    }
    assay__buf_putc(&p->out, '\n');
}

static void widen(struct printer *p, int column, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "—");
    size_t width = assay__text_width(assay__buf_text(&safe));
    if (p->cell_limit && width > p->cell_limit) width = p->cell_limit;
    if (width > p->widths[column]) p->widths[column] = width;
    assay__buf_free(&safe);
}

static int table_row(struct printer *p, const char *const *values, const int *types)
{
    if (p->row_count == ROWS_HELD && !p->streaming) {
        start_table(p);
        release_held(p);
    }
    for (int c = 0; c < p->columns; c++) {
        bool number = types[c] == TYPE_INTEGER || types[c] == TYPE_FLOAT;
        if (p->streaming) {
            put_cell(p, c, values[c], number);
            continue;
        }
        struct cell *cell = &p->held[p->row_count * (size_t)p->columns + (size_t)c];
        *cell = (struct cell){values[c] ? strdup(values[c]) : NULL, number};
        if (values[c] && !cell->text) p->out.failed = true;
        widen(p, c, values[c]);
    }
    if (p->streaming) assay__buf_putc(&p->out, '\n');
    p->row_count++;
    return flush(p, false);
}

/* --- CSV and JSON ----------------------------------------------------------------------------- */

static void csv_text(struct assay__buf *out, const char *text, bool number)
{
    struct assay__buf safe = {0};
    if (!text) return;
    bool guard = !number && *text && strchr("=+-@\t\r", *text);
    assay__text_safe(&safe, text);
    bool quote = guard || (safe.data && strpbrk(safe.data, ",\""));
    assay__buf_puts(out, quote ? "\"" : "");
    assay__buf_puts(out, guard ? "'" : "");
    for (const char *c = assay__buf_text(&safe); *c; c++) {
        if (*c == '"') assay__buf_putc(out, '"');
        assay__buf_putc(out, *c);
    }
    assay__buf_puts(out, quote ? "\"" : "");
    assay__buf_free(&safe);
}

static int csv_row(struct printer *p, const char *const *values, const int *types)
{
    for (int c = 0; c < p->columns; c++) {
        if (c) assay__buf_putc(&p->out, ',');
        csv_text(&p->out, values[c], types[c] == TYPE_INTEGER || types[c] == TYPE_FLOAT);
    }
    assay__buf_putc(&p->out, '\n');
    p->row_count++;
    return flush(p, false);
}

static int json_row(struct printer *p, const char *const *values, const int *types)
{
    struct assay__json_writer *w = &p->json;
    assay__json_array(w);
    for (int c = 0; c < p->columns; c++) {
        int64_t integer = 0;
        double number = 0;
        if (!values[c])
            assay__json_null(w);
        else if (types[c] == TYPE_INTEGER && assay__text_int64(values[c], &integer) == 0)
            assay__json_integer(w, integer);
        else if (types[c] == TYPE_FLOAT && assay__text_double(values[c], &number) == 0)
            assay__json_number(w, number);
        else
            assay__json_string(w, values[c]);
    }
    assay__json_array_end(w);
    p->row_count++;
    return flush(p, false);
}

/* --- the query -------------------------------------------------------------------------------- */

static int start(struct printer *p, int columns, const char *const *names)
{
    size_t count = columns > 0 ? (size_t)columns : 1;
    p->started = true;
    p->columns = columns;
    p->names = calloc(count, sizeof *p->names);
    p->widths = calloc(count, sizeof *p->widths);
    if (!p->options->json && !p->options->csv) p->held = calloc(count * ROWS_HELD, sizeof *p->held);
    if (!p->names || !p->widths || (!p->held && !p->options->json && !p->options->csv)) return -1;
    for (int c = 0; c < columns; c++) {
        if (!(p->names[c] = strdup(names[c] ? names[c] : ""))) return -1;
        widen(p, c, p->names[c]);
    }
    if (p->options->csv) {
        for (int c = 0; c < columns; c++) {
            if (c) assay__buf_putc(&p->out, ',');
            csv_text(&p->out, names[c], false);
        }
        assay__buf_putc(&p->out, '\n');
    }
    if (p->options->json) {
        for (int c = 0; c < columns; c++)
            assay__json_string(&p->json, names[c]);
        assay__json_array_end(&p->json);
        assay__json_key(&p->json, "rows");
        assay__json_array(&p->json);
    }
    return 0;
}

static int on_row(void *context, int columns, const char *const *names, const char *const *values,
                  const int *types)
{
    struct printer *p = context;
    if (!p->started && start(p, columns, names)) {
        assay__say("out of memory");
        p->status = ASSAY__EXIT_FAILED;
        p->streaming = true; /* there is no table to draw */
        return 1;
    }
    if (p->options->csv) return csv_row(p, values, types);
    return p->options->json ? json_row(p, values, types) : table_row(p, values, types);
}

static int end_output(struct printer *p, int code, const struct assay_error *error)
{
    if (p->options->json && !code) {
        if (!p->started) start(p, 0, NULL);
        assay__json_array_end(&p->json);
        assay__json_object_end(&p->json);
        assay__buf_putc(&p->out, '\n');
    } else if (!p->options->csv && !p->options->json && p->started && !p->streaming) {
        start_table(p);
        release_held(p);
    }
    if (p->options->json && code && !p->started)
        assay__buf_clear(&p->out); /* no half object for a wrong statement */
    flush(p, true);
    if (!code && !p->row_count && !p->options->json) assay__say("no rows");
    for (int c = 0; p->names && c < p->columns; c++)
        free(p->names[c]);
    free(p->names);
    free(p->widths);
    free(p->held);
    assay__buf_free(&p->out);
    if (p->status) return p->status;
    return code ? assay__fail(code, error) : ASSAY__EXIT_DONE;
}

/* --- without SQL: the tables and their columns ------------------------------------------------ */

struct listing {
    struct printer *printer;
    const char *path;
    char **tables;
    size_t count, capacity;
    const char *table; /* whose columns come */
};

static int column_of(int columns, const char *const *names, const char *wanted)
{
    for (int c = 0; c < columns; c++)
        if (strcmp(names[c], wanted) == 0) return c;
    return -1;
}

static int on_table(void *context, int columns, const char *const *names, const char *const *values,
                    const int *types)
{
    struct listing *listing = context;
    int name = column_of(columns, names, "name"), schema = column_of(columns, names, "schema");
    (void)types;
    if (name < 0 || !values[name] || strncmp(values[name], "sqlite_", 7) == 0) return 0;
    if (schema >= 0 && values[schema] && strcmp(values[schema], "main") != 0) return 0;
    if (assay__vec_grow((void **)&listing->tables, &listing->capacity, listing->count + 1,
                        sizeof(char *)))
        return 1;
    listing->tables[listing->count] = strdup(values[name]);
    return listing->tables[listing->count++] ? 0 : 1;
}

static int on_column(void *context, int columns, const char *const *names,
                     const char *const *values, const int *types)
{
    enum { TYPE_TEXT = 3 };
    static const char *const heads[] = {"table", "column", "type"};
    static const int texts[] = {TYPE_TEXT, TYPE_TEXT, TYPE_TEXT};
    struct listing *listing = context;
    int name = column_of(columns, names, "name"), type = column_of(columns, names, "type");
    (void)types;
    if (name < 0 || type < 0) return 0;
    const char *row[] = {listing->table, values[name], values[type]};
    return on_row(listing->printer, 3, heads, row, texts);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int list_tables(const char *path, struct printer *printer, struct assay_error *error)
{
    struct listing listing = {.printer = printer, .path = path};
    int code = assay__query(path, "PRAGMA table_list", on_table, &listing, &assay__interrupted,
                            error);
    /* the chunks shown as tables: SQLite does not list them */
    static const char *const heads[] = {"name"}, *const samples[] = {"samples"},
                             *const layer_times[] = {"layer_times"}, *const series[] = {"series"};
    if (!code && on_table(&listing, 1, heads, samples, NULL)) code = ASSAY_ENOMEM;
    if (!code && on_table(&listing, 1, heads, layer_times, NULL)) code = ASSAY_ENOMEM;
    if (!code && on_table(&listing, 1, heads, series, NULL)) code = ASSAY_ENOMEM;
    if (listing.count) qsort(listing.tables, listing.count, sizeof *listing.tables, by_name);
    for (size_t i = 0; i < listing.count && !code && !printer->status; i++) {
        struct assay__buf sql = {0};
        assay__buf_puts(&sql, "PRAGMA table_info(\"");
        for (const char *c = listing.tables[i]; *c; c++) {
            if (*c == '"') assay__buf_putc(&sql, '"');
            assay__buf_putc(&sql, *c);
        }
        assay__buf_puts(&sql, "\")");
        listing.table = listing.tables[i];
        code = sql.failed
                   ? ASSAY_ENOMEM
                   : assay__query(path, sql.data, on_column, &listing, &assay__interrupted, error);
        assay__buf_free(&sql);
    }
    for (size_t i = 0; i < listing.count; i++)
        free(listing.tables[i]);
    free(listing.tables);
    return code;
}

static int query_profile(struct assay__invocation *invocation)
{
    const struct query_options *o = invocation->options;
    struct printer p = {.options = o};
    struct assay_error error = {0};
    if (o->json && o->csv) {
        assay__say("query: --json and --csv exclude each other");
        return ASSAY__EXIT_USAGE;
    }
    p.cell_limit = isatty(STDOUT_FILENO) ? CELL_COLUMNS : 0;
    if (o->json) {
        assay__json_start(&p.json, &p.out, false);
        assay__json_object(&p.json);
        assay__json_key(&p.json, "columns");
        assay__json_array(&p.json);
    }
    assay__catch_interrupts();
    const char *path = invocation->arguments[0];
    int code = invocation->argument_count > 1 ? assay__query(path, invocation->arguments[1], on_row,
                                                             &p, &assay__interrupted, &error)
                                              : list_tables(path, &p, &error);
    return end_output(&p, p.status ? 0 : code, &error);
}

static const struct assay__option options[] = {
    {"json", 0, ASSAY__OPTION_FLAG, offsetof(struct query_options, json), NULL,
     "Print one object: {\"columns\": [...], \"rows\": [[...], ...]}.", NULL, NULL, 0, 0, false},
    {"csv", 0, ASSAY__OPTION_FLAG, offsetof(struct query_options, csv), NULL,
     "Print CSV with a header.", NULL, NULL, 0, 0, false},
    {0},
};

const struct assay__command assay__command_query = {
    .name = "query",
    .summary = "ask a kept profile with SQL",
    .arguments = "PROFILE [SQL]",
    .min_arguments = 1,
    .max_arguments = 2,
    .description = "Runs one SQL statement on PROFILE, read-only, and prints its rows. Without SQL "
                   "it lists the "
                   "tables and their columns. Samples are shown as the table samples(trial, "
                   "launch, stream, seq, ns), "
                   "the layers of each launch as layer_times(trial, launch, layer, time_ns), what "
                   "was read over time as series(trial, launch, name, seq, time_ns, value).",
    .examples = "  assay query resnet50.assay\n"
                "  assay query resnet50.assay \"SELECT name, value FROM metrics WHERE state = "
                "'measured'\"\n"
                "  assay query resnet50.assay 'SELECT max(ns) FROM samples' --json\n",
    .options = options,
    .options_size = sizeof(struct query_options),
    .run = query_profile,
};
