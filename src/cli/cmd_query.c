/* cmd_query.c - assay query: one SQL statement on a profile; without SQL, the tables and their
 * columns. Rows of CSV and JSON are streamed, since a profile may contain millions of samples; the
 * other formats are rendered from a document that holds the rows. */
#include "base/json.h"
#include "base/text.h"
#include "cli/render_options.h"
#include "profile/store.h"
#include "report/walk/walk.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FLUSH_BYTES = 65536,
    ROWS_HELD = 1000000,
    PROSE = 24,    /* longer texts are wrapped */
    WIDEST = 1000, /* in a pipe, no column is moved for lack of space */
    TYPE_INTEGER = 1,
    TYPE_FLOAT = 2 /* from SQLite's C interface, as passed on by the store */
};

struct query_options {
    struct assay__render_options render;
    bool csv;
};

#define AT(member) offsetof(struct query_options, member)

struct result {
    bool csv, json, started;
    struct assay__buf out;
    struct assay__json_writer writer;
    struct assay__doc *doc; /* NULL: streamed */
    struct assay__column *columns;
    struct assay__table *table;
    size_t row_count;
    int status; /* of writing to stdout */
};

static bool is_number(int type)
{
    return type == TYPE_INTEGER || type == TYPE_FLOAT;
}

static int flush(struct result *r, size_t least)
{
    if (r->out.failed && !r->status) r->status = assay__fail(ASSAY_ENOMEM, NULL);
    if (r->out.failed) return r->status;
    if (r->out.length < least) return 0;
    if (!r->status && r->out.length) r->status = assay__write_stdout(r->out.data, r->out.length);
    assay__buf_clear(&r->out);
    return r->status;
}

/* --- CSV and JSON ----------------------------------------------------------------------------- */

static void csv_row(struct assay__buf *out, int count, const char *const *values, const int *types)
{
    for (int c = 0; c < count; c++) {
        if (c) assay__buf_putc(out, ',');
        if (types && is_number(types[c]))
            assay__buf_puts(out, values[c]);
        else
            assay__csv_text(out, values[c]);
    }
    assay__buf_putc(out, '\n');
}

static void json_row(struct assay__json_writer *w, int count, const char *const *values,
                     const int *types)
{
    assay__json_array(w);
    for (int c = 0; c < count; c++) {
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
}

static void json_names(struct assay__json_writer *w, int count, const char *const *names)
{
    for (int c = 0; c < count; c++)
        assay__json_string(w, names[c]);
    assay__json_array_end(w);
    assay__json_put_array(w, "rows");
}

/* --- the document ----------------------------------------------------------------------------- */

/* Columns are numeric until a cell is not. */
static void start_table(struct result *r, int count, const char *const *names)
{
    r->columns = assay__arena_array(r->doc->arena, (size_t)count, sizeof *r->columns);
    if (!r->columns) r->doc->failed = true;
    for (int c = 0; r->columns && c < count; c++) {
        struct assay__buf safe = {0};
        assay__text_safe(&safe, names[c]);
        r->columns[c] = (struct assay__column){.title = assay__doc_take(r->doc, &safe),
                                               .unit = ASSAY__UNIT_PLAIN,
                                               .flags = ASSAY__COLUMN_KEEP};
    }
    r->table = assay__doc_add_table(r->doc, NULL, "Rows", r->columns, (size_t)count);
}

static void table_row(struct result *r, int count, const char *const *values, const int *types)
{
    assay__table_row(r->table, 0, NULL);
    for (int c = 0; c < count && !r->doc->failed; c++) {
        struct assay__datum cell = assay__datum_unknown(NULL);
        if (values[c]) cell = assay__datum_text(assay__arena_strdup(r->doc->arena, values[c]));
        if (values[c] && !cell.text) r->doc->failed = true;
        if (values[c] && !is_number(types[c])) r->columns[c].unit = NULL;
        if (values[c] && strlen(values[c]) > PROSE) r->columns[c].flags |= ASSAY__COLUMN_PROSE;
        assay__table_cell(r->table, cell);
    }
}

/* --- the query -------------------------------------------------------------------------------- */

static int on_row(void *context, int columns, const char *const *names, const char *const *values,
                  const int *types)
{
    struct result *r = context;
    if (!r->started && r->csv) csv_row(&r->out, columns, names, NULL);
    if (!r->started && r->json) json_names(&r->writer, columns, names);
    if (!r->started && r->doc) start_table(r, columns, names);
    r->started = true;
    r->row_count++;
    if (r->csv) csv_row(&r->out, columns, values, types);
    if (r->json) json_row(&r->writer, columns, values, types);
    if (r->doc) table_row(r, columns, values, types);
    if (r->doc && r->doc->failed) return r->status = assay__fail(ASSAY_ENOMEM, NULL);
    if (r->doc && r->row_count == ROWS_HELD) {
        assay__say("the first %d rows are shown; CSV and JSON have them all", ROWS_HELD);
        return 1;
    }
    return flush(r, FLUSH_BYTES);
}

/* Rows that came before an error are shown; an invalid statement has none. */
static int end_output(struct result *r, const struct assay__render_options *render, int code,
                      const struct assay_error *error)
{
    bool show = !r->status && (r->started || !code);
    if (r->json && !code) {
        if (!r->started) json_names(&r->writer, 0, NULL);
        assay__json_array_end(&r->writer);
        assay__json_object_end(&r->writer);
        assay__buf_putc(&r->out, '\n');
    }
    if (!code && !r->row_count && !r->json) assay__say("no rows");
    if (show && r->doc)
        r->status = assay__print_document(render, r->doc, &r->out);
    else
        assay__doc_free(r->doc);
    if (show) flush(r, 0);
    assay__buf_free(&r->out);
    if (r->status) return r->status;
    return code ? assay__fail(code, error) : ASSAY__EXIT_DONE;
}

static int query_profile(struct assay__invocation *invocation)
{
    struct query_options *o = invocation->options;
    struct assay__render_options *render = &o->render;
    struct assay_error error = {0};
    const char *path = invocation->arguments[0];
    const char *sql = invocation->argument_count > 1 ? invocation->arguments[1] : NULL;
    if (o->csv && (render->json || render->format))
        return assay__refuse("query: --csv and --%s cannot be used together",
                             render->json ? "json" : "format");
    if (o->csv) render->format = "csv";
    if (!render->columns && !isatty(STDOUT_FILENO)) render->columns = WIDEST;
    struct result r = {.json = assay__wants_json(render),
                       .csv = render->format && strcmp(render->format, "csv") == 0};
    int status = assay__render_check("query", render);
    if (status) return status;
    if (r.json) {
        assay__json_start(&r.writer, &r.out, false);
        assay__json_object(&r.writer);
        assay__json_put_array(&r.writer, "columns");
    } else if (!r.csv) {
        if (!assay__doc_open(&r.doc, "query", path)) return assay__fail(ASSAY_ENOMEM, NULL);
        bool text = !render->format || strcmp(render->format, "text") == 0;
        if (text) r.doc->title = ""; /* the terminal shows what was typed: print only the rows */
        if (sql && !text) assay__doc_code(r.doc, "sql", NULL, sql);
    }
    assay__catch_interrupts();
    bool overview = !sql && r.doc;
    if (overview) sql = assay__query_overview;
    int code = assay__query(path, sql, on_row, &r, &assay__interrupted, &error);
    if (overview && !code)
        assay__doc_note(r.doc,
                        "All columns: --csv, or \"PRAGMA table_info(metrics)\" of one table; "
                        "doc/schema.md explains them.");
    return end_output(&r, render, r.status ? 0 : code, &error);
}

static const struct assay__option options[] = {
    ASSAY__FORMAT_ROWS(ASSAY__VIEW_NAMES_AND("|json")),
    ASSAY__FLAG_ROW("csv", 0, csv, "Print CSV; the same as --format csv."),
    ASSAY__LOOK_ROWS,
    {0},
};

const struct assay__command assay__command_query = {
    .name = "query",
    .summary = "query a saved profile with SQL",
    .arguments = "PROFILE [SQL]",
    .min_arguments = 1,
    .max_arguments = 2,
    .description =
        "Runs one SQL statement on PROFILE, read-only, and prints its rows. Without SQL it lists "
        "the tables and their columns. Samples are shown as the table samples(trial, launch, "
        "stream, seq, ns), the layers of each launch as layer_times(trial, launch, layer, "
        "time_ns), sensor readings over time as series(trial, launch, name, seq, time_ns, value).",
    .examples = "  assay query resnet50.assay\n"
                "  assay query resnet50.assay \"SELECT name, value FROM metrics WHERE state = "
                "'measured'\"\n"
                "  assay query resnet50.assay 'SELECT max(ns) FROM samples' --json\n",
    .options = options,
    .options_size = sizeof(struct query_options),
    .run = query_profile,
};
