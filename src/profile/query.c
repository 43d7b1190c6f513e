/* query.c - `assay query`: one read-only SQL statement on an untrusted profile. The authorizer
 * allows reading and a short list of pragmas that describe tables; everything else is refused
 * before it runs. Limits: one statement, values up to 8 MB, and the caller's interrupt flag,
 * checked every 1,000 steps of SQLite's virtual machine. */
#include "base/buf.h"
#include "profile/sql.h"
#include "profile/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOB_SHOWN 32
#define STEPS_PER_LOOK 1000

struct query {
    const volatile int *interrupt;
    bool refused;
    char function[40]; /* the one that was refused; "" when something else was */
};

static bool is_one_of(const char *name, const char *list)
{
    int length = (int)strlen(name);
    for (; *list; list += strspn(list, " ")) {
        int own = (int)strcspn(list, " ");
        if (own == length && sqlite3_strnicmp(name, list, length) == 0) return true;
        list += own;
    }
    return false;
}

/* Functions that only compute. Others are refused: fts3_tokenizer(), for example, returns pointers,
 * and uses a module that assay__db_open() drops. */
static const char functions[] =
    "abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat "
    "concat_ws cos cosh count cume_dist current_date current_time current_timestamp date "
    "datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull "
    "iif instr json json_array json_array_length json_extract json_group_array "
    "json_group_object json_object json_quote json_type json_valid julianday lag last_value "
    "lead length like likelihood likely ln log log10 log2 lower ltrim max median min mod "
    "nth_value ntile nullif octet_length percent_rank percentile percentile_cont "
    "percentile_disc pi pow power printf quote radians random rank replace round row_number "
    "rtrim sign sin sinh sqlite_version sqrt strftime string_agg substr substring subtype sum "
    "tan tanh time timediff total trim trunc typeof unhex unicode unixepoch unlikely upper "
    "zeroblob -> ->>";

static int authorize(void *context, int action, const char *first, const char *second,
                     const char *database, const char *trigger)
{
    static const char described[] = "table_info table_xinfo table_list index_list index_info";
    static const char marks[] = "user_version application_id page_count page_size encoding";
    struct query *query = context;
    (void)database, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
        if (second && is_one_of(second, functions)) return SQLITE_OK;
        snprintf(query->function, sizeof query->function, "%s", second ? second : "");
        break;
    case SQLITE_PRAGMA:
        if (first && is_one_of(first, described)) return SQLITE_OK;
        if (first && !second && is_one_of(first, marks)) return SQLITE_OK;
        break;
    default: break;
    }
    query->refused = true;
    return SQLITE_DENY;
}

static int look(void *context)
{
    struct query *query = context;
    return query->interrupt && *query->interrupt;
}

static int query_failed(sqlite3 *db, const char *path, const struct query *query,
                        struct assay_error *error)
{
    if (*query->function)
        return assay_error_set(error, ASSAY_EDENIED, "SQL: the function %s() is not allowed here",
                               query->function);
    if (query->refused)
        return assay_error_set(
            error, ASSAY_EDENIED,
            "only reading is allowed here: a SELECT, or PRAGMA table_info(TABLE)");
    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_ERROR: return assay_error_set(error, ASSAY_EINVAL, "SQL: %s", sqlite3_errmsg(db));
    case SQLITE_INTERRUPT:
        return assay_error_set(error, ASSAY_EINTERRUPTED, "the query was interrupted");
    case SQLITE_TOOBIG:
        return assay_error_set(error, ASSAY_ELIMIT, "SQL: a value or the statement is too long");
    default: return assay__sql_error(db, path, "cannot be queried", error);
    }
}

/* A blob as x'0102…', with its size if it is cut. */
static void show_blob(struct assay__buf *out, const unsigned char *data, size_t size)
{
    size_t shown = size < BLOB_SHOWN ? size : BLOB_SHOWN;
    assay__buf_puts(out, "x'");
    for (size_t i = 0; i < shown; i++)
        assay__buf_printf(out, "%02x", data[i]);
    assay__buf_puts(out, "'");
    if (shown < size) assay__buf_printf(out, "... (%zu bytes)", size);
}

struct output {
    int columns;
    const char **names, **values;
    int *types;
    /* text of a column that is shown differently from what SQLite stores */
    struct assay__buf *made;
};

static void free_output(struct output *output)
{
    for (int i = 0; output->made && i < output->columns; i++)
        assay__buf_free(&output->made[i]);
    free(output->made);
    free(output->names);
    free(output->values);
    free(output->types);
}

static int make_output(sqlite3_stmt *statement, struct output *output)
{
    output->columns = sqlite3_column_count(statement);
    size_t count = (size_t)output->columns + 1;
    output->names = calloc(count, sizeof *output->names);
    output->values = calloc(count, sizeof *output->values);
    output->types = calloc(count, sizeof *output->types);
    output->made = calloc(count, sizeof *output->made);
    if (!output->names || !output->values || !output->types || !output->made) return ASSAY_ENOMEM;
    for (int i = 0; i < output->columns; i++) {
        output->names[i] = sqlite3_column_name(statement, i);
        if (!output->names[i]) return ASSAY_ENOMEM;
    }
    return 0;
}

/* A whole number is shown as one, even if SQLite stores it as floating point (as for nanoseconds):
 * "100000", not "100000.0". */
static int read_row(sqlite3_stmt *statement, struct output *output)
{
    for (int i = 0; i < output->columns; i++) {
        struct assay__buf *made = &output->made[i];
        int type = output->types[i] = sqlite3_column_type(statement, i);
        output->values[i] = NULL;
        if (type == SQLITE_NULL) continue;
        assay__buf_clear(made);
        if (type == SQLITE_BLOB) {
            const void *data = sqlite3_column_blob(statement, i);
            show_blob(made, data, (size_t)sqlite3_column_bytes(statement, i));
            output->values[i] = made->data;
        } else {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            const char *point = text && type == SQLITE_FLOAT ? strstr(text, ".0") : NULL;
            if (point && !point[2]) assay__buf_add(made, text, (size_t)(point - text));
            output->values[i] = point && !point[2] ? made->data : text;
        }
        if (made->failed || !output->values[i]) return ASSAY_ENOMEM;
    }
    return 0;
}

/* Only white space, comments and semicolons may follow the statement. */
static int check_tail(sqlite3 *db, const char *tail, struct assay_error *error)
{
    while (tail && *tail) {
        sqlite3_stmt *more = NULL;
        const char *next = NULL;
        int code = sqlite3_prepare_v2(db, tail, -1, &more, &next);
        sqlite3_finalize(more);
        if (code != SQLITE_OK || more)
            return assay_error_set(error, ASSAY_EINVAL, "SQL: give one statement at a time");
        if (next == tail) break;
        tail = next;
    }
    return 0;
}

static int run_statement(sqlite3 *db, sqlite3_stmt *statement, const char *path,
                         const struct query *query, assay__query_row *row, void *context,
                         struct assay_error *error)
{
    struct output output = {0};
    int step = SQLITE_DONE, stop = 0;
    int code = make_output(statement, &output);
    while (!code && !stop && (step = sqlite3_step(statement)) == SQLITE_ROW) {
        code = read_row(statement, &output);
        if (!code) stop = row(context, output.columns, output.names, output.values, output.types);
    }
    if (code)
        code = assay_error_set(error, code, "%s: out of memory", path);
    else if (!stop && step != SQLITE_DONE)
        code = query_failed(db, path, query, error);
    else if (stop < 0)
        code = stop;
    free_output(&output);
    return code;
}

/* The chunks that are shown as tables are not in SQLite's list. */
static const char *const describe =
    "SELECT l.name AS \"table\", c.name AS \"column\", c.type AS type"
    " FROM (SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*'"
    " UNION VALUES ('samples'), ('layer_times'), ('series'), ('events')) AS l, "
    "pragma_table_info(l.name) AS c"
    " ORDER BY l.name, c.cid";

const char assay__query_overview[] =
    "SELECT name AS \"table\", count(*) AS columns, group_concat(CASE WHEN cid < 5 THEN column END,"
    " ', ') || iif(count(*) > 5, ', …', '') AS \"the first of them\""
    " FROM (SELECT l.name AS name, c.cid AS cid, c.name AS column"
    " FROM (SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*'"
    " UNION VALUES ('samples'), ('layer_times'), ('series'), ('events')) AS l, "
    "pragma_table_info(l.name) AS c"
    " ORDER BY l.name, c.cid) GROUP BY name ORDER BY name";

int assay__query(const char *path, const char *sql, assay__query_row *row, void *context,
                 const volatile int *interrupt, struct assay_error *error)
{
    struct query query = {.interrupt = interrupt};
    struct assay__db *db = NULL;
    sqlite3_stmt *statement = NULL;
    const char *tail = NULL;
    int code = assay__db_open(path, &db, error);
    if (code) return code;
    int table = assay__chunk_tables(db->sqlite);
    if (table == SQLITE_OK) table = assay__event_table(db->sqlite);
    sqlite3_progress_handler(db->sqlite, STEPS_PER_LOOK, look, &query);
    if (sql && sql != assay__query_overview)
        sqlite3_set_authorizer(db->sqlite, authorize, &query);
    else if (!sql)
        sql = describe;
    if (table != SQLITE_OK ||
        sqlite3_prepare_v2(db->sqlite, sql, -1, &statement, &tail) != SQLITE_OK)
        code = query_failed(db->sqlite, path, &query, error);
    else if (!statement)
        code = assay_error_set(error, ASSAY_EINVAL, "SQL: the statement is empty");
    else if (!sqlite3_stmt_readonly(statement))
        code = assay_error_set(
            error, ASSAY_EDENIED,
            "only reading is allowed here: a SELECT, or PRAGMA table_info(TABLE)");
    else
        code = check_tail(db->sqlite, tail, error);
    if (!code) code = run_statement(db->sqlite, statement, path, &query, row, context, error);
    sqlite3_finalize(statement);
    assay__db_close(db);
    return code;
}
