/* import_nsys.c - what `nsys export --type sqlite` of Nsight Systems writes: a table per kind of
 * event, and texts in StringIds. Tables that a recording had nothing for do not exist. The file is
 * untrusted: it is opened like a profile from someone else (profile/sql.h). */
#include "base/vec.h"
#include "import/importers.h"
#include "import/nsys_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT 4096 /* bytes of a name */

void assay__nsys_complain(struct assay__nsys *nsys, const char *format, ...)
{
    char text[200];
    va_list args;
    if (nsys->source->complaint[0]) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    nsys->source->complaint = assay__events_keep(nsys->events, text);
}

/* --- texts ------------------------------------------------------------------------------------ */

static uint32_t ask_string(struct assay__nsys *nsys, int64_t id)
{
    uint32_t number = ASSAY__EVENT_UNKNOWN;
    sqlite3_bind_int64(nsys->string, 1, id);
    if (sqlite3_step(nsys->string) == SQLITE_ROW &&
        sqlite3_column_type(nsys->string, 0) == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(nsys->string, 0);
        if (text) number = assay__events_intern(nsys->events, text, strnlen(text, MOST_TEXT));
    }
    sqlite3_reset(nsys->string);
    return number;
}

uint32_t assay__nsys_string(struct assay__nsys *nsys, int64_t id)
{
    if (!nsys->string || id < 0) return ASSAY__EVENT_UNKNOWN;
    if ((uint64_t)id >= nsys->string_limit) return ask_string(nsys, id);
    if ((size_t)id >= nsys->string_capacity &&
        assay__vec_grow((void **)&nsys->strings, &nsys->string_capacity, (size_t)id + 1,
                        sizeof *nsys->strings)) {
        nsys->failed = true;
        return ASSAY__EVENT_UNKNOWN;
    }
    if (!nsys->strings[id]) nsys->strings[id] = ask_string(nsys, id) + 1;
    return nsys->strings[id] - 1;
}

/* --- names of threads, processes and devices -------------------------------------------------- */

static void label_add(struct assay__nsys *nsys, struct assay__nsys_labels *labels,
                      struct assay__nsys_label label)
{
    if (label.name == ASSAY__EVENT_UNKNOWN) return;
    if (assay__vec_grow((void **)&labels->items, &labels->capacity, labels->count + 1,
                        sizeof *labels->items)) {
        nsys->failed = true;
        return;
    }
    labels->items[labels->count++] = label;
}

/* By key; of several names for one the first is that of the highest priority. */
static int by_key(const void *a, const void *b)
{
    const struct assay__nsys_label *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->priority != y->priority) return x->priority > y->priority ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void labels_sort(struct assay__nsys_labels *labels)
{
    if (labels->count) qsort(labels->items, labels->count, sizeof *labels->items, by_key);
}

const char *assay__nsys_label_find(const struct assay__nsys *nsys,
                                   const struct assay__nsys_labels *labels, int64_t key)
{
    size_t low = 0, high = labels->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (labels->items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == labels->count || labels->items[low].key != key) return NULL;
    return assay__events_text(nsys->events, labels->items[low].name);
}

static uint32_t intern(struct assay__nsys *nsys, const char *text)
{
    return text ? assay__events_intern(nsys->events, text, strnlen(text, MOST_TEXT))
                : ASSAY__EVENT_UNKNOWN;
}

static void read_threads(struct assay__nsys *nsys)
{
    struct assay__nsys_rows rows;
    int64_t global, name;
    assay__nsys_rows_begin(&rows, nsys->db, "ThreadNames",
                           (const char *const[]){"globalTid", "nameId", "priority", NULL});
    while (!nsys->failed && assay__nsys_rows_next(&rows))
        if (assay__nsys_integer(&rows, 0, &global) && assay__nsys_integer(&rows, 1, &name))
            label_add(nsys, &nsys->threads,
                      (struct assay__nsys_label){global, assay__nsys_string(nsys, name),
                                                 assay__nsys_integer_or(&rows, 2, 0)});
    assay__nsys_rows_end(&rows);
    labels_sort(&nsys->threads);
}

/* A table with a number and a name: processes and devices. */
static void read_names(struct assay__nsys *nsys, struct assay__nsys_labels *labels,
                       const char *table, const char *key, const char *name)
{
    struct assay__nsys_rows rows;
    int64_t number;
    assay__nsys_rows_begin(&rows, nsys->db, table, (const char *const[]){key, name, NULL});
    while (!nsys->failed && assay__nsys_rows_next(&rows))
        if (assay__nsys_integer(&rows, 0, &number))
            label_add(
                nsys, labels,
                (struct assay__nsys_label){number, intern(nsys, assay__nsys_text(&rows, 1)), 0});
    assay__nsys_rows_end(&rows);
    labels_sort(labels);
}

/* --- the source ------------------------------------------------------------------------------- */

static void read_start(struct assay__nsys *nsys)
{
    struct assay__nsys_rows rows;
    int64_t start_ns;
    assay__nsys_rows_begin(&rows, nsys->db, "TARGET_INFO_SESSION_START_TIME",
                           (const char *const[]){"utcEpochNs", NULL});
    nsys->source->clock = ASSAY__IMPORT_CLOCK_OWN;
    if (assay__nsys_rows_next(&rows) && assay__nsys_integer(&rows, 0, &start_ns)) {
        nsys->source->clock = ASSAY__IMPORT_CLOCK_UNIX;
        nsys->source->offset_ns = start_ns;
    }
    assay__nsys_rows_end(&rows);
}

static void read_producer(struct assay__nsys *nsys)
{
    struct assay__nsys_rows rows;
    char text[160] = "Nsight Systems";
    assay__nsys_rows_begin(&rows, nsys->db, "META_DATA_EXPORT",
                           (const char *const[]){"name", "value", NULL});
    while (assay__nsys_rows_next(&rows)) {
        const char *name = assay__nsys_text(&rows, 0), *value = assay__nsys_text(&rows, 1);
        if (name && value && strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
            snprintf(text, sizeof text, "Nsight Systems %.100s", value);
    }
    assay__nsys_rows_end(&rows);
    nsys->source->producer = assay__events_keep(nsys->events, text);
}

/* --- the importer ----------------------------------------------------------------------------- */

/* SQLite's magic; bytes 68 … 71 are the application's id, which our own profiles have. */
static enum assay__import_match match(const char *head, size_t size)
{
    if (size < 100 || memcmp(head, "SQLite format 3", 16) != 0 || memcmp(head + 68, "ASSY", 4) == 0)
        return ASSAY__IMPORT_NO;
    bool is_export = memmem(head, size, "StringIds", 9) || memmem(head, size, "CUPTI_", 6) ||
                     memmem(head, size, "NVTX_EVENTS", 11);
    return is_export ? ASSAY__IMPORT_YES : ASSAY__IMPORT_MAYBE;
}

static void nsys_free(struct assay__nsys *nsys)
{
    sqlite3_finalize(nsys->string);
    free(nsys->strings);
    free(nsys->threads.items);
    free(nsys->processes.items);
    free(nsys->devices.items);
    free(nsys->pids);
}

static int read_database(struct assay__nsys *nsys, struct assay_error *error)
{
    sqlite3_prepare_v2(nsys->db->sqlite, "SELECT value FROM main.StringIds WHERE id = ?1", -1,
                       &nsys->string, NULL);
    read_start(nsys);
    read_producer(nsys);
    read_threads(nsys);
    read_names(nsys, &nsys->processes, "PROCESSES", "pid", "name");
    read_names(nsys, &nsys->devices, "TARGET_INFO_GPU", "id", "name");
    assay__nsys_read_tables(nsys);
    if (nsys->failed) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!nsys->tables)
        return assay_error_set(
            error, ASSAY_EFORMAT, "%s: a SQLite file without the tables of Nsight Systems%s%s",
            nsys->source->path, nsys->source->complaint[0] ? ": " : "", nsys->source->complaint);
    return 0;
}

static int read_export(struct assay__import_stream *stream, struct assay__events *events,
                       struct assay__trace_source *source, struct assay_error *error)
{
    struct assay__nsys nsys = {.events = events, .source = source};
    struct assay__db *db = NULL;
    const char *path = assay__import_path(stream);
    if (!path)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s: a SQLite file must be decompressed to be read", source->path);
    int code = assay__db_open_foreign(path, &db, error);
    if (code) return code;
    nsys.db = db;
    nsys.string_limit = db->bytes; /* a valid file has no more texts */
    source->truncated = db->is_truncated;
    if (db->is_truncated) assay__nsys_complain(&nsys, "the file is shorter than its header says");
    code = read_database(&nsys, error);
    nsys_free(&nsys);
    assay__db_close(db);
    return code;
}

const struct assay__importer assay__importer_nsys = {
    .name = "nsys",
    .title = "Nsight Systems, SQLite export",
    .caveat = "tested only on exports of schema 3.20",
    .match = match,
    .read = read_export,
};
