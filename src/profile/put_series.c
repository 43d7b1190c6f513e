/* put_series.c - what was read over time, as rows: a head and column chunks per series, and the
 * spans. A trial's series are written as a whole, in place of what stood there: they are known when
 * the run ends. */
#include "profile/chunk.h"
#include "profile/put.h"

static int put_head(sqlite3_stmt *statement, int64_t trial, size_t position,
                    const struct assay__series_info *s)
{
    return assay__sql_put(statement, "iiittttttstidii", trial, (int64_t)position,
                          (int64_t)s->launch, s->name, s->quantity, s->rail, s->unit, s->probe,
                          s->source, assay_state_name(s->state), s->note, (int64_t)s->counter,
                          s->period_s, (int64_t)s->period_is_bound, (int64_t)s->count);
}

static int bind_column(sqlite3_stmt *statement, int index, const double *values, size_t count,
                       struct assay__buf *bytes)
{
    const char *encoding = assay__chunk_encode(values, count, bytes);
    if (bytes->failed) return SQLITE_NOMEM;
    int code = sqlite3_bind_text(statement, index, encoding, -1, SQLITE_STATIC);
    if (code != SQLITE_OK) return code;
    return sqlite3_bind_blob64(statement, index + 1, bytes->data, bytes->length, SQLITE_STATIC);
}

static int put_chunk(sqlite3_stmt *statement, const int64_t key[5], const double *times_ns,
                     const double *values)
{
    struct assay__buf times = {0}, numbers = {0};
    size_t count = (size_t)key[4];
    int code = SQLITE_OK;
    for (int i = 0; i < 5 && code == SQLITE_OK; i++)
        code = sqlite3_bind_int64(statement, i + 1, key[i]);
    if (code == SQLITE_OK) code = bind_column(statement, 6, times_ns, count, &times);
    if (code == SQLITE_OK) code = bind_column(statement, 8, values, count, &numbers);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    sqlite3_reset(statement);
    assay__buf_free(&times);
    assay__buf_free(&numbers);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int put_chunks(sqlite3_stmt *statement, int64_t trial, size_t position,
                      const struct assay__series_info *s)
{
    int code = SQLITE_OK;
    int64_t chunk = 0;
    for (size_t first = 0; first < s->count && code == SQLITE_OK; first += ASSAY__CHUNK_VALUES) {
        size_t left = s->count - first;
        size_t part = left < ASSAY__CHUNK_VALUES ? left : ASSAY__CHUNK_VALUES;
        const int64_t key[5] = {trial, (int64_t)position, chunk++, (int64_t)first, (int64_t)part};
        code = put_chunk(statement, key, s->times_ns + first, s->values + first);
    }
    return code;
}

int assay__put_series(sqlite3 *db, const struct assay__trial *t)
{
    sqlite3_stmt *head = NULL, *chunk = NULL;
    int code = assay__sql_put_once(db, "DELETE FROM series_info WHERE trial=?1", "i",
                                   (int64_t)t->id);
    if (code == SQLITE_OK)
        code = assay__sql_put_once(db, "DELETE FROM series_chunks WHERE trial=?1", "i",
                                   (int64_t)t->id);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db,
            "INSERT INTO series_info(trial,position,launch,name,quantity,rail,unit,probe,source,"
            "state,note,counter,update_period_s,update_period_is_bound,count)"
            " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            -1, &head, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db,
            "INSERT INTO series_chunks(trial,series,chunk,first,count,time_encoding,time_data,"
            "value_encoding,value_data) VALUES(?,?,?,?,?,?,?,?,?)",
            -1, &chunk, NULL);
    for (size_t i = 0; i < t->series_count && code == SQLITE_OK; i++) {
        code = put_head(head, t->id, i, &t->series[i]);
        if (code == SQLITE_OK) code = put_chunks(chunk, t->id, i, &t->series[i]);
    }
    sqlite3_finalize(head);
    sqlite3_finalize(chunk);
    return code;
}

int assay__put_spans(sqlite3 *db, const struct assay__trial *t)
{
    sqlite3_stmt *statement = NULL;
    int code = assay__sql_put_once(db, "DELETE FROM spans WHERE trial=?1", "i", (int64_t)t->id);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db,
            "INSERT INTO spans(trial,position,launch,kind,begin_ns,end_ns,completions)"
            " VALUES(?,?,?,?,?,?,?)",
            -1, &statement, NULL);
    for (size_t i = 0; i < t->span_count && code == SQLITE_OK; i++) {
        const struct assay__span *s = &t->spans[i];
        code = assay__sql_put(statement, "iiitddn", (int64_t)t->id, (int64_t)i, (int64_t)s->launch,
                              s->kind, s->begin_ns, s->end_ns, s->completions);
    }
    sqlite3_finalize(statement);
    return code;
}
