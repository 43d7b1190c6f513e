/* import.c - files and folders into one sealed store: which importer reads a file is decided by its
 * first bytes; each file is a source; the clocks of several sources are aligned as import.h says.
 */
#include "import/import.h"

#include "base/checked.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/vec.h"
#include "import/import_stream.h"
#include "import/importers.h"
#include "trace/events_profile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 1 << 16, PATH_BYTES = 4096 };

static const struct assay__importer *const importers[] = {
#define ROW(name) &assay__importer_##name,
    ASSAY__IMPORTERS(ROW)
#undef ROW
};

const struct assay__importer *const *assay__importers(size_t *count)
{
    *count = sizeof importers / sizeof *importers;
    return importers;
}

/* --- which files ------------------------------------------------------------------------------ */

struct file {
    char *path;
    bool named; /* by the user; one of a folder may be something else */
};

struct import {
    const struct assay__import_options *options;
    struct assay__import_watch watch;
    struct file *files;
    size_t file_count, file_capacity;
    struct assay__events *events;
    size_t *samples; /* of each counter, before the source that is read */
    size_t samples_capacity;
    size_t read; /* sources of which something was read */
    const char *first_clock;
    int64_t first_start_ns;
    struct assay_error failure; /* of the first file that could not be read */
};

static int add_file(struct import *import, const char *path, bool named, struct assay_error *error)
{
    struct stat about;
    if (import->file_count >= MOST_FILES)
        return assay_error_set(error, ASSAY_ELIMIT, "more than %d files", MOST_FILES);
    if (assay__vec_grow((void **)&import->files, &import->file_capacity, import->file_count + 1,
                        sizeof *import->files))
        return assay__no_memory(error);
    struct file *file = &import->files[import->file_count];
    *file = (struct file){strdup(path), named};
    if (!file->path) return assay__no_memory(error);
    import->file_count++;
    if (!stat(path, &about) && about.st_size > 0) import->watch.total += (uint64_t)about.st_size;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static bool is_regular(const char *path)
{
    struct stat about;
    return !stat(path, &about) && S_ISREG(about.st_mode);
}

/* The files of a folder, not those of folders in it, and none whose name begins with a dot. */
static int add_folder(struct import *import, const char *path, struct assay_error *error)
{
    char inside[PATH_BYTES];
    size_t first = import->file_count;
    int code = 0;
    DIR *folder = opendir(path);
    if (!folder) return assay_error_set(error, ASSAY_EIO, "%s: the folder cannot be read", path);
    for (struct dirent *entry; !code && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        if (assay__path_join(path, entry->d_name, inside, sizeof inside)) continue;
        if (is_regular(inside)) code = add_file(import, inside, false, error);
    }
    closedir(folder);
    if (!code && import->file_count == first)
        return assay_error_set(error, ASSAY_ENOTFOUND, "%s: no files in this folder", path);
    if (!code)
        qsort(import->files + first, import->file_count - first, sizeof *import->files, by_path);
    return code;
}

static int find_files(struct import *import, const char *const *paths, size_t count,
                      struct assay_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct stat about;
        bool is_folder = !stat(paths[i], &about) && S_ISDIR(about.st_mode);
        int code = is_folder ? add_folder(import, paths[i], error)
                             : add_file(import, paths[i], true, error);
        if (code) return code;
    }
    if (!import->file_count) return assay_error_set(error, ASSAY_EINVAL, "no trace was named");
    return 0;
}

/* --- which importer --------------------------------------------------------------------------- */

static const struct assay__importer *importer_named(const char *name)
{
    for (size_t i = 0; i < sizeof importers / sizeof *importers; i++)
        if (!strcmp(importers[i]->name, name)) return importers[i];
    return NULL;
}

const char *assay__import_source_name(const struct assay__trace_source *source)
{
    if (*source->producer) return source->producer;
    return strcmp(source->format, "kineto") == 0 ? "Chrome trace" : source->format;
}

static const struct assay__importer *importer_of(const char *head, size_t size)
{
    const struct assay__importer *best = NULL;
    enum assay__import_match surest = ASSAY__IMPORT_NO;
    for (size_t i = 0; i < sizeof importers / sizeof *importers; i++) {
        enum assay__import_match match = importers[i]->match(head, size);
        if (match <= surest) continue;
        surest = match;
        best = importers[i];
    }
    return best;
}

/* "kineto, xctrace, …" */
static const char *importer_names(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof importers / sizeof *importers && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "",
                                 importers[i]->name);
    return text;
}

static int not_recognised(const char *path, const char *head, size_t size,
                          struct assay_error *error)
{
    char names[256];
    if (!size) return assay_error_set(error, ASSAY_EFORMAT, "%s: contains no text", path);
    if (size >= 2 && (!memcmp(head, "\xff\xfe", 2) || !memcmp(head, "\xfe\xff", 2) || !head[1]))
        return assay_error_set(error, ASSAY_EFORMAT, "%s: UTF-16 text; traces are UTF-8", path);
    return assay_error_set(error, ASSAY_EFORMAT, "%s: not a trace of a known format (%s)", path,
                           importer_names(names, sizeof names));
}

static int choose(const struct import *import, struct assay__import_stream *stream,
                  const char *path, const struct assay__importer **chosen,
                  struct assay_error *error)
{
    const char *head, *format = import->options ? import->options->format : NULL;
    char names[256];
    size_t size;
    int code = assay__import_head(stream, &head, &size, error);
    if (code) return code;
    *chosen = format ? importer_named(format) : importer_of(head, size);
    if (!*chosen && format)
        return assay_error_set(error, ASSAY_EINVAL, "there is no format '%s', but: %s", format,
                               importer_names(names, sizeof names));
    return *chosen ? 0 : not_recognised(path, head, size, error);
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* How many samples each counter has before a source is read. */
static int remember_samples(struct import *import, struct assay_error *error)
{
    const struct assay__events *events = import->events;
    if (assay__vec_grow((void **)&import->samples, &import->samples_capacity,
                        events->counter_count + 1, sizeof *import->samples))
        return assay__no_memory(error);
    for (size_t i = 0; i < events->counter_count; i++)
        import->samples[i] = events->counters[i].count;
    return 0;
}

static bool shift_times(int64_t *times_ns, size_t from, size_t to, int64_t shift_ns,
                        const int64_t *durations_ns)
{
    int64_t end_ns;
    for (size_t i = from; i < to; i++)
        if (assay__add_i64_overflows(times_ns[i], shift_ns, &end_ns) ||
            (durations_ns && assay__add_i64_overflows(end_ns, durations_ns[i], &end_ns)))
            return false;
    for (size_t i = from; i < to; i++)
        times_ns[i] += shift_ns;
    return true;
}

/* All events and samples of the source, or (false) nothing: a time would overflow. */
static bool shift_source(struct import *import, size_t first_event, size_t old_counters,
                         int64_t shift_ns)
{
    struct assay__events *events = import->events;
    if (!shift_ns) return true;
    if (!shift_times(events->start_ns, first_event, events->count, shift_ns, events->duration_ns))
        return false;
    for (size_t i = 0; i < events->counter_count; i++) {
        struct assay__trace_counter *counter = &events->counters[i];
        size_t from = i < old_counters ? import->samples[i] : 0;
        shift_times(counter->times_ns, from, counter->count, shift_ns, NULL);
    }
    return true;
}

static bool earliest_of(const struct import *import, size_t first_event, int64_t *earliest_ns)
{
    const struct assay__events *events = import->events;
    *earliest_ns = INT64_MAX;
    for (size_t i = first_event; i < events->count; i++)
        if (events->start_ns[i] < *earliest_ns) *earliest_ns = events->start_ns[i];
    return first_event < events->count;
}

static void align(struct import *import, struct assay__trace_source *source, size_t first_event,
                  size_t old_counters)
{
    int64_t earliest_ns, shift_ns = source->offset_ns;
    bool has_events = earliest_of(import, first_event, &earliest_ns);
    if (!import->first_clock && has_events) {
        import->first_clock = source->clock;
        import->first_start_ns = earliest_ns;
        if (assay__add_i64_overflows(earliest_ns, shift_ns, &import->first_start_ns)) shift_ns = 0;
    } else if (has_events && (strcmp(import->first_clock, source->clock) ||
                              !strcmp(source->clock, ASSAY__IMPORT_CLOCK_OWN))) {
        if (__builtin_sub_overflow(import->first_start_ns, earliest_ns, &shift_ns)) shift_ns = 0;
        char text[200];
        snprintf(text, sizeof text,
                 "%s; shifted so that its first event coincides with the first source's",
                 source->clock);
        source->clock = assay__events_keep(import->events, text);
    }
    source->offset_ns = shift_ns;
    if (shift_source(import, first_event, old_counters, shift_ns)) return;
    source->offset_ns = 0;
    if (!source->complaint[0])
        source->complaint = "times are too large to be aligned; they are unchanged";
}

/* --- strays ----------------------------------------------------------------------------------- */

/* An event at time 0 among those of Unix time, or in a far century: no trace is as long, and one
 * such event would hide all others. What is kept spans 31 years at most. */
#define STRAY_NS 500000000000000000

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool is_stray(const struct assay__events *events, size_t i, int64_t middle_ns)
{
    int64_t start_ns, end_ns; /* of the event, from the middle one on */
    return __builtin_sub_overflow(events->start_ns[i], middle_ns, &start_ns) ||
           assay__add_i64_overflows(start_ns, events->duration_ns[i], &end_ns) ||
           start_ns < -STRAY_NS || end_ns > STRAY_NS;
}

static void move_event(struct assay__events *events, size_t from, size_t to)
{
    events->start_ns[to] = events->start_ns[from];
    events->duration_ns[to] = events->duration_ns[from];
    events->name[to] = events->name[from];
    events->track[to] = events->track[from];
    events->args[to] = events->args[from];
    events->correlation[to] = events->correlation[from];
    events->bytes[to] = events->bytes[from];
    events->kind[to] = events->kind[from];
}

static size_t count_strays(const struct assay__events *events, size_t first, int64_t middle_ns)
{
    size_t count = 0;
    for (size_t i = first; i < events->count; i++)
        count += is_stray(events, i, middle_ns);
    return count;
}

/* Leaves out the source's events that are decades away from the median one. If they are more than a
 * tenth, no time can be trusted, and nothing is left out. */
static int drop_strays(struct assay__events *events, struct assay__trace_source *source,
                       size_t first, struct assay_error *error)
{
    size_t count = events->count - first, kept = first;
    if (!count || !count_strays(events, first, events->start_ns[first])) return 0; /* as a rule */
    int64_t *starts_ns = malloc(count * sizeof *starts_ns);
    if (!starts_ns) return assay__no_memory(error);
    memcpy(starts_ns, events->start_ns + first, count * sizeof *starts_ns);
    qsort(starts_ns, count, sizeof *starts_ns, by_time);
    int64_t middle_ns = starts_ns[(count - 1) / 2];
    free(starts_ns);
    size_t dropped = count_strays(events, first, middle_ns);
    if (!dropped || dropped > count / 10) return 0;
    for (size_t i = first; i < events->count; i++)
        if (!is_stray(events, i, middle_ns)) move_event(events, i, kept++);
    events->count = kept;
    source->events -= dropped;
    source->skipped += dropped;
    if (!source->complaint[0]) source->complaint = "an event decades away from the others";
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void note_stream(struct assay__events *events, struct assay__trace_source *source,
                        const struct assay__import_stream *stream)
{
    const char *complaint = assay__import_complaint(stream);
    source->bytes = assay__import_position(stream);
    if (!complaint) return;
    source->truncated = true;
    source->complaint = assay__events_keep(events, complaint);
}

/* Where damage of the compressed data left nothing to read, that is why. */
static int name_damage(const struct assay__import_stream *stream, const char *path, int code,
                       struct assay_error *error)
{
    const char *complaint = assay__import_complaint(stream);
    return code == ASSAY_EFORMAT && complaint
               ? assay_error_set(error, code, "%s: %s", path, complaint)
               : code;
}

/* importer NULL: by content. */
static int read_stream(struct import *import, struct assay__import_stream *stream, const char *path,
                       const struct assay__importer *importer, struct assay_error *error)
{
    struct assay__events *events = import->events;
    int code = importer ? 0 : choose(import, stream, path, &importer, error);
    if (!code) code = remember_samples(import, error);
    if (code) return name_damage(stream, path, code, error);
    struct assay__trace_source *source = assay__events_source(events);
    if (!source) return assay__events_seal(events, error);
    source->path = assay__events_keep(events, path);
    source->format = importer->name;
    size_t first_event = events->count, old_counters = events->counter_count;
    code = name_damage(stream, path, importer->read(stream, events, source, error), error);
    note_stream(events, source, stream);
    if (!code) code = drop_strays(events, source, first_event, error);
    if (!code)
        align(import, source, first_event, old_counters);
    else if (error && !source->complaint[0])
        source->complaint = assay__events_keep(events, error->message);
    return code;
}

/* Of several files, one that cannot be read leaves the others. */
static bool is_fatal(int code)
{
    return code == ASSAY_ENOMEM || code == ASSAY_EINTERRUPTED || code == ASSAY_ELIMIT ||
           code == ASSAY_EINVAL;
}

static int read_file(struct import *import, const struct file *file, struct assay_error *error)
{
    struct assay__import_stream *stream;
    struct assay_error failure = {0};
    int code = assay__import_open(file->path, &import->watch, &stream, &failure);
    if (!code) code = read_stream(import, stream, file->path, NULL, &failure);
    assay__import_close(stream);
    if (!code) import->read++;
    if (code && !import->failure.code) import->failure = failure;
    bool may_fail = !file->named || (import->file_count > 1 && code == ASSAY_EFORMAT);
    if (!code || (may_fail && !is_fatal(code))) return 0;
    return assay_error_set(error, code, "%s", failure.message);
}

/* A profile of ours: SQLite's magic, and our mark in its header. A pipe is none, and what is read
 * from it here would be lost. */
static bool is_profile(const char *path)
{
    char head[72] = "";
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) return false;
    size_t size = fread(head, 1, sizeof head, file);
    fclose(file);
    return size == sizeof head && !memcmp(head, "SQLite format 3", 16) &&
           !memcmp(head + 68, "ASSY", 4);
}

int assay__import(const char *const *paths, size_t count,
                  const struct assay__import_options *options, struct assay__events **events,
                  struct assay_error *error)
{
    if (count == 1 && is_profile(paths[0])) return assay__events_load(paths[0], events, error);
    struct import import = {.options = options, .watch = {.options = options}};
    *events = NULL;
    import.events = assay__events_new();
    int code = import.events ? find_files(&import, paths, count, error) : assay__no_memory(error);
    for (size_t i = 0; i < import.file_count && !code; i++)
        code = read_file(&import, &import.files[i], error);
    if (!code && !import.read)
        code = assay_error_set(error, import.failure.code, "%s", import.failure.message);
    if (!code) code = assay__events_seal(import.events, error);
    for (size_t i = 0; i < import.file_count; i++)
        free(import.files[i].path);
    free(import.files);
    free(import.samples);
    if (code)
        assay__events_free(import.events);
    else
        *events = import.events;
    return code;
}

int assay__import_bytes(const void *bytes, size_t size, size_t piece,
                        const struct assay__importer *importer, struct assay__events **events,
                        struct assay_error *error)
{
    struct import import = {.events = assay__events_new()};
    struct assay__import_stream *stream = NULL;
    *events = NULL;
    int code = import.events ? assay__import_open_bytes(bytes, size, piece, &stream, error)
                             : assay__no_memory(error);
    if (!code) code = read_stream(&import, stream, "memory", importer, error);
    assay__import_close(stream);
    free(import.samples);
    if (!code) code = assay__events_seal(import.events, error);
    if (code)
        assay__events_free(import.events);
    else
        *events = import.events;
    return code;
}
