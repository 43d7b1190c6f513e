/* nsys_tables.c - the tables of an export that hold events. Times are in ns from the start of the
 * session. Ids of processes and threads are packed into one number (nsys_state.h). A copy's kinds
 * are numbers of the export's own lists (ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND). */
#include "base/checked.h"
#include "base/vec.h"
#include "import/nsys_state.h"
#include "import/runtime_calls.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NO_EVENT 4294967295 /* eventId of a wait that is for no event */

/* Wanted columns. The first six are the same for every table. */
enum { START, END, GLOBAL, CORRELATION, DEVICE, STREAM, OWN };

struct table {
    const char *name;
    const char *columns[ASSAY__NSYS_COLUMNS + 1];
    enum assay__event_kind kind;
    /** Fills in what is the table's own; false: the row is not an event. */
    bool (*fill)(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                 struct assay__event *event);
};

/* --- tracks ----------------------------------------------------------------------------------- */

static uint32_t thread_track(struct assay__nsys *nsys, int64_t global)
{
    int64_t pid = assay__nsys_pid(global);
    char group[160];
    const char *process = assay__nsys_label_find(nsys, &nsys->processes, pid);
    snprintf(group, sizeof group, "%.120s (%lld)", process ? process : "process", (long long)pid);
    struct assay__track track = {.kind = ASSAY__TRACK_THREAD,
                                 .pid = pid,
                                 .tid = assay__nsys_tid(global),
                                 .device = -1,
                                 .stream = -1,
                                 .name = assay__nsys_label_find(nsys, &nsys->threads, global),
                                 .group = group};
    return assay__events_track(nsys->events, &track);
}

static uint32_t stream_track(struct assay__nsys *nsys, int64_t pid, int64_t device, int64_t stream)
{
    char name[40];
    snprintf(name, sizeof name, "stream %lld", (long long)stream);
    struct assay__track track = {
        .kind = ASSAY__TRACK_STREAM,
        .pid = pid,
        .tid = -1,
        .device = (int32_t)device,
        .stream = stream,
        .name = stream >= 0 ? name : NULL,
        .group = assay__nsys_label_find(nsys, &nsys->devices, device),
    };
    return assay__events_track(nsys->events, &track);
}

/* Correlation ids count within a process; those of the first one stay as they are. */
static uint64_t correlation_of(struct assay__nsys *nsys, int64_t pid, int64_t id)
{
    size_t i = 0;
    if (id <= 0 || id > UINT32_MAX) return 0;
    while (i < nsys->pid_count && nsys->pids[i] != pid)
        i++;
    if (i == nsys->pid_count) {
        if (i > 0xffff ||
            assay__vec_grow((void **)&nsys->pids, &nsys->pid_capacity, i + 1, sizeof *nsys->pids))
            return 0;
        nsys->pids[nsys->pid_count++] = pid;
    }
    return (uint64_t)i << 32 | (uint64_t)id;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const char *string_or(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                             int column, const char *otherwise)
{
    int64_t id;
    if (!assay__nsys_integer(row, column, &id)) return otherwise;
    uint32_t number = assay__nsys_string(nsys, id);
    return number == ASSAY__EVENT_UNKNOWN ? otherwise : assay__events_text(nsys->events, number);
}

static uint32_t size_of(const struct assay__nsys_rows *row, int column)
{
    int64_t value = assay__nsys_integer_or(row, column, 0);
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static bool fill_kernel(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                        struct assay__event *event)
{
    struct assay__event_args args = {0};
    for (int i = 0; i < 3; i++) {
        args.grid[i] = size_of(row, OWN + 2 + i);
        args.block[i] = size_of(row, OWN + 5 + i);
    }
    event->name = string_or(nsys, row, OWN, NULL);
    if (!event->name) event->name = string_or(nsys, row, OWN + 1, NULL);
    event->args = assay__events_args(nsys->events, &args);
    return true;
}

static const struct {
    const char *text;
    enum assay__copy_direction direction;
} directions[] = {
    {"", ASSAY__COPY_UNKNOWN},       {"HtoD", ASSAY__COPY_TO_DEVICE},
    {"DtoH", ASSAY__COPY_TO_HOST},   {"HtoA", ASSAY__COPY_TO_DEVICE},
    {"AtoH", ASSAY__COPY_TO_HOST},   {"AtoA", ASSAY__COPY_ON_DEVICE},
    {"AtoD", ASSAY__COPY_ON_DEVICE}, {"DtoA", ASSAY__COPY_ON_DEVICE},
    {"DtoD", ASSAY__COPY_ON_DEVICE}, {"HtoH", ASSAY__COPY_ON_HOST},
    {"PtoP", ASSAY__COPY_PEER},      {"HtoD", ASSAY__COPY_TO_DEVICE}, /* 11 … 13: unified memory */
    {"DtoH", ASSAY__COPY_TO_HOST},   {"DtoD", ASSAY__COPY_ON_DEVICE},
};
static const struct {
    const char *text;
    enum assay__memory_kind kind;
} memories[] = {
    {"Pageable", ASSAY__MEMORY_PAGEABLE},      {"Pinned", ASSAY__MEMORY_PINNED},
    {"Device", ASSAY__MEMORY_DEVICE},          {"Array", ASSAY__MEMORY_DEVICE},
    {"Managed", ASSAY__MEMORY_MANAGED},        {"Device Static", ASSAY__MEMORY_DEVICE},
    {"Managed Static", ASSAY__MEMORY_MANAGED}, {"Unknown", ASSAY__MEMORY_UNKNOWN},
};
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof(array)[0]))

static size_t memory_of(const struct assay__nsys_rows *row, int column)
{
    int64_t kind = assay__nsys_integer_or(row, column, COUNT(memories) - 1);
    return kind >= 0 && kind < COUNT(memories) ? (size_t)kind : (size_t)COUNT(memories) - 1;
}

/* Named as Kineto names them: "Memcpy HtoD (Pageable -> Device)". */
static bool fill_copy(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                      struct assay__event *event)
{
    char name[80];
    int64_t kind = assay__nsys_integer_or(row, OWN + 1, 0);
    if (kind < 0 || kind >= COUNT(directions)) kind = 0;
    size_t from = memory_of(row, OWN + 2), to = memory_of(row, OWN + 3);
    int64_t bytes = assay__nsys_integer_or(row, OWN, 0);
    struct assay__event_args args = {.direction = (uint8_t)directions[kind].direction,
                                     .from = (uint8_t)memories[from].kind,
                                     .to = (uint8_t)memories[to].kind};
    event->bytes = bytes > 0 ? bytes : 0;
    event->args = assay__events_args(nsys->events, &args);
    int length = snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", directions[kind].text,
                          memories[from].text, memories[to].text);
    uint32_t number = assay__events_intern(nsys->events, name, (size_t)length);
    event->name = assay__events_text(nsys->events, number);
    return true;
}

static bool fill_memset(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                        struct assay__event *event)
{
    int64_t bytes = assay__nsys_integer_or(row, OWN, 0);
    (void)nsys;
    event->bytes = bytes > 0 ? bytes : 0;
    event->name = "Memset";
    return true;
}

static bool fill_graph(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                       struct assay__event *event)
{
    (void)nsys, (void)row;
    event->name = "CUDA graph";
    return event->start_ns > 0; /* 0: its times could not be taken */
}

/* Some versions give every row the type "stream waits for an event", also where there is none. */
static bool fill_wait(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                      struct assay__event *event)
{
    static const char *const names[] = {"Wait", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    int64_t type = assay__nsys_integer_or(row, OWN, 0);
    bool for_event = assay__nsys_integer_or(row, OWN + 1, NO_EVENT) != NO_EVENT;
    (void)nsys;
    if (type < 0 || type >= COUNT(names)) type = 0;
    if (type == 2 && !for_event) type = 3;
    event->name = names[type];
    return true;
}

/* "cudaLaunchKernel_v7000" -> "cudaLaunchKernel" */
static size_t call_length(const char *name)
{
    size_t length = strlen(name), digits = length;
    while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    bool is_version = digits < length && digits > 2 && name[digits - 1] == 'v' &&
                      name[digits - 2] == '_';
    return is_version ? digits - 2 : length;
}

static bool fill_call(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                      struct assay__event *event)
{
    event->name = string_or(nsys, row, OWN, NULL);
    if (!event->name) return true;
    event->name_length = call_length(event->name);
    event->kind = assay__runtime_call_kind(event->name);
    return true;
}

static bool fill_named(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                       struct assay__event *event)
{
    event->name = string_or(nsys, row, OWN, NULL);
    return true;
}

/* Ranges and marks; other rows describe categories, domains and names. */
static bool fill_nvtx(struct assay__nsys *nsys, const struct assay__nsys_rows *row,
                      struct assay__event *event)
{
    int64_t type = assay__nsys_integer_or(row, OWN, 59);
    const char *text = assay__nsys_text(row, OWN + 1);
    bool is_event = type == 34 || type == 59 || type == 60 || type == 65 || type == 70 ||
                    type == 71; /* mark, push/pop, start/end; the same of imported text */
    event->name = text ? text : string_or(nsys, row, OWN + 2, NULL);
    return is_event;
}

static const struct table tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "demangledName",
      "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"},
     ASSAY__EVENT_KERNEL,
     fill_kernel},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "bytes", "copyKind",
      "srcKind", "dstKind"},
     ASSAY__EVENT_COPY,
     fill_copy},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "bytes"},
     ASSAY__EVENT_MEMSET,
     fill_memset},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     {"start", "end", "globalPid", "correlationId", "deviceId", "streamId"},
     ASSAY__EVENT_KERNEL,
     fill_graph},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     {"start", "end", "globalPid", "correlationId", "deviceId", "streamId", "syncType", "eventId"},
     ASSAY__EVENT_DEVICE_WAIT,
     fill_wait},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     {"start", "end", "globalTid", "correlationId", "", "", "nameId"},
     ASSAY__EVENT_RUNTIME,
     fill_call},
    {"NVTX_EVENTS",
     {"start", "end", "globalTid", "", "", "", "eventType", "text", "textId"},
     ASSAY__EVENT_RANGE,
     fill_nvtx},
    {"OSRT_API", {"start", "end", "globalTid", "", "", "", "nameId"}, ASSAY__EVENT_CPU, fill_named},
    {"CUDNN_EVENTS",
     {"start", "end", "globalTid", "", "", "", "nameId"},
     ASSAY__EVENT_CPU,
     fill_named},
    {"CUBLAS_EVENTS",
     {"start", "end", "globalTid", "", "", "", "nameId"},
     ASSAY__EVENT_CPU,
     fill_named},
};

/* An event with the row's times; a row without an end is an instant. */
static bool begin_event(const struct table *table, const struct assay__nsys_rows *row,
                        struct assay__event *event)
{
    int64_t end_ns;
    *event = (struct assay__event){
        .kind = table->kind, .name_length = SIZE_MAX, .args = ASSAY__EVENT_UNKNOWN};
    if (!assay__nsys_integer(row, START, &event->start_ns)) return false;
    if (!assay__nsys_integer(row, END, &end_ns)) end_ns = event->start_ns;
    return !__builtin_sub_overflow(end_ns, event->start_ns, &event->duration_ns) &&
           event->duration_ns >= 0;
}

static void add_row(struct assay__nsys *nsys, const struct table *table,
                    const struct assay__nsys_rows *row)
{
    struct assay__event event;
    if (!begin_event(table, row, &event)) {
        nsys->source->skipped++;
        assay__nsys_complain(nsys, "a row of %s without times, or that ends before it starts",
                             table->name);
        return;
    }
    if (!table->fill(nsys, row, &event)) return;
    int64_t global = assay__nsys_integer_or(row, GLOBAL, 0), pid = assay__nsys_pid(global);
    event.correlation = correlation_of(nsys, pid, assay__nsys_integer_or(row, CORRELATION, 0));
    if (table->kind <= ASSAY__EVENT_DEVICE_WAIT) {
        int64_t device = assay__nsys_integer_or(row, DEVICE, -1);
        if (device < 0 || device > INT32_MAX) device = -1;
        event.track = stream_track(nsys, pid, device, assay__nsys_integer_or(row, STREAM, -1));
    } else {
        event.track = thread_track(nsys, global);
    }
    assay__events_add(nsys->events, &event);
}

void assay__nsys_read_tables(struct assay__nsys *nsys)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct assay__nsys_rows rows;
        assay__nsys_rows_begin(&rows, nsys->db, tables[i].name, tables[i].columns);
        nsys->tables += rows.statement != NULL;
        while (!nsys->failed && assay__nsys_rows_next(&rows))
            add_row(nsys, &tables[i], &rows);
        if (rows.code != SQLITE_DONE && rows.code != SQLITE_ROW) {
            nsys->source->truncated = true;
            assay__nsys_complain(nsys, "%s: %s", tables[i].name,
                                 rows.code == SQLITE_FULL ? "more rows than the file has room for"
                                                          : sqlite3_errmsg(nsys->db->sqlite));
        }
        assay__nsys_rows_end(&rows);
    }
}
