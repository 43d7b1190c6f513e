/* put_layers.c - the layers of a trial as rows: what is known of each, its original nodes, its
 * times by launch (column chunks), and the activations that are alive at the peak. All of it is
 * written as a whole, in place of what stood there: it is known when the launches have ended. */
#include "profile/chunk.h"
#include "profile/put.h"

#include <math.h>
#include <stdlib.h>

/* --- layers ----------------------------------------------------------------------------------- */

static int put_layer(sqlite3_stmt *head, sqlite3_stmt *origin, int64_t trial, size_t position,
                     const struct assay__layer *l)
{
    int code = assay__sql_put(head, "iiitttdddddtsttddtttt", trial, (int64_t)position,
                              (int64_t)l->index, l->name, l->op, l->provider, l->time_ns,
                              l->host_enqueue_ns, l->share, l->flops, l->bytes, l->bound,
                              assay_state_name(l->state), l->method, l->note, l->live_bytes,
                              l->weight_bytes, l->inputs, l->weights, l->outputs, l->attributes);
    for (size_t i = 0; i < l->from_count && code == SQLITE_OK; i++)
        code = assay__sql_put(origin, "iiis", trial, (int64_t)position, (int64_t)i, l->from[i]);
    return code;
}

static int put_rows(sqlite3 *db, int64_t trial, const struct assay__layers *layers)
{
    sqlite3_stmt *head = NULL, *origin = NULL;
    int code = sqlite3_prepare_v2(
        db,
        "INSERT INTO layers(trial,position,layer,name,op,provider,time_ns,"
        "host_enqueue_ns,share,flops,bytes,bound,state,method,note,live_bytes,weight_bytes,"
        "inputs,weights,outputs,attributes) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        -1, &head, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db, "INSERT INTO layer_origins(trial,layer,position,node) VALUES(?,?,?,?)", -1, &origin,
            NULL);
    for (size_t i = 0; i < layers->count && code == SQLITE_OK; i++)
        code = put_layer(head, origin, trial, i, &layers->items[i]);
    sqlite3_finalize(head);
    sqlite3_finalize(origin);
    return code;
}

/* --- their times by launch -------------------------------------------------------------------- */

static int put_chunk(sqlite3_stmt *statement, const int64_t key[5], const double *times_ns)
{
    struct assay__buf bytes = {0};
    const char *encoding = assay__chunk_encode(times_ns, (size_t)key[4], &bytes);
    int code = bytes.failed ? SQLITE_NOMEM : SQLITE_OK;
    for (int i = 0; i < 5 && code == SQLITE_OK; i++)
        code = sqlite3_bind_int64(statement, i + 1, key[i]);
    if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 6, encoding, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_bind_blob64(statement, 7, bytes.data, bytes.length, SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    sqlite3_reset(statement);
    assay__buf_free(&bytes);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int put_launch_times(sqlite3_stmt *statement, int64_t trial,
                            const struct assay__layers *layers, size_t launch, double *column)
{
    int code = SQLITE_OK;
    int64_t chunk = 0;
    for (size_t first = 0; first < layers->count && code == SQLITE_OK;
         first += ASSAY__CHUNK_VALUES) {
        size_t left = layers->count - first,
               part = left < ASSAY__CHUNK_VALUES ? left : ASSAY__CHUNK_VALUES;
        for (size_t i = 0; i < part; i++) {
            const double *times_ns = layers->items[first + i].launch_times_ns;
            column[i] = times_ns ? times_ns[launch] : (double)NAN;
        }
        const int64_t key[5] = {trial, layers->launch_ids[launch], chunk++, (int64_t)first,
                                (int64_t)part};
        code = put_chunk(statement, key, column);
    }
    return code;
}

static int put_times(sqlite3 *db, int64_t trial, const struct assay__layers *layers)
{
    if (layers->launch_count == 0 || layers->count == 0) return SQLITE_OK;
    sqlite3_stmt *statement = NULL;
    double *column = malloc(ASSAY__CHUNK_VALUES * sizeof *column);
    int code = column ? sqlite3_prepare_v2(
                            db,
                            "INSERT OR REPLACE INTO layer_time_chunks(trial,launch,chunk,first,"
                            "count,encoding,data) VALUES(?,?,?,?,?,?,?)",
                            -1, &statement, NULL)
                      : SQLITE_NOMEM;
    for (size_t i = 0; i < layers->launch_count && code == SQLITE_OK; i++)
        code = put_launch_times(statement, trial, layers, i, column);
    sqlite3_finalize(statement);
    free(column);
    return code;
}

int assay__put_layers(sqlite3 *db, const struct assay__trial *t)
{
    int code = assay__sql_put_once(db, "DELETE FROM layers WHERE trial=?1", "i", (int64_t)t->id);
    if (code == SQLITE_OK)
        code = assay__sql_put_once(db, "DELETE FROM layer_origins WHERE trial=?1", "i",
                                   (int64_t)t->id);
    if (code == SQLITE_OK)
        code = assay__sql_put_once(db, "DELETE FROM layer_time_chunks WHERE trial=?1", "i",
                                   (int64_t)t->id);
    if (code == SQLITE_OK) code = put_rows(db, t->id, &t->layers);
    if (code == SQLITE_OK) code = put_times(db, t->id, &t->layers);
    return code;
}

/* --- the peak of the activations -------------------------------------------------------------- */

int assay__put_peak(sqlite3 *db, const struct assay__trial *t)
{
    const struct assay__peak *p = &t->peak;
    int code = assay__sql_put_once(db, "DELETE FROM peaks WHERE trial=?1", "i", (int64_t)t->id);
    if (code == SQLITE_OK)
        code = assay__sql_put_once(db, "DELETE FROM peak_tensors WHERE trial=?1", "i",
                                   (int64_t)t->id);
    if (code != SQLITE_OK || !p->reason) return code; /* not looked for leaves no row */
    code = assay__sql_put_once(
        db,
        "INSERT INTO peaks(trial,reason,node,op,bytes,body_bytes,alive,rest_bytes)"
        " VALUES(?,?,?,?,?,?,?,?)",
        "itttddnd", (int64_t)t->id, p->reason, p->node, p->op, p->bytes, p->body_bytes, p->alive,
        p->rest_bytes);
    for (size_t i = 0; i < p->count && code == SQLITE_OK; i++) {
        const struct assay__peak_tensor *tensor = &p->tensors[i];
        code = assay__sql_put_once(
            db,
            "INSERT INTO peak_tensors(trial,position,name,type,bytes,producer,op,first,last)"
            " VALUES(?,?,?,?,?,?,?,?,?)",
            "iistdtttt", (int64_t)t->id, (int64_t)i, tensor->name, tensor->type, tensor->bytes,
            tensor->producer, tensor->op, tensor->first, tensor->last);
    }
    return code;
}
