/* import.h - traces that other profilers wrote, read into the event store. An importer is one file
 * with its `struct assay__importer assay__importer_NAME` and a row in importers.h. It recognises
 * its format by content, never by a file's name, and reads a stream: the whole text is never in
 * memory. Input is untrusted: what cannot be read is counted in the source, with the first reason,
 * and the rest is read all the same; an importer fails only where nothing could be read. */
#ifndef ASSAY_IMPORT_IMPORT_H
#define ASSAY_IMPORT_IMPORT_H

#include "trace/events.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How surely a beginning is of a format; the highest wins, equal ones in the order of the rows. */
enum assay__import_match { ASSAY__IMPORT_NO, ASSAY__IMPORT_MAYBE, ASSAY__IMPORT_YES };

/** Bytes of a file, decompressed (gzip and zstd are recognised by their magic numbers). */
struct assay__import_stream;

/** The next bytes, at least one until the end; borrowed until the next call. *size 0: the end.
 *  Compressed data that is cut short or damaged, or that expands beyond the limit, ends the stream:
 *  assay__import_complaint then says why. An error is the file system's. */
int assay__import_read(struct assay__import_stream *stream, const char **data, size_t *size,
                       struct assay_error *error);
/** The same, into the caller's memory: at most `room` bytes, which must not be 0. */
int assay__import_read_into(struct assay__import_stream *stream, char *to, size_t room,
                            size_t *size, struct assay_error *error);
/** Why the stream ended early; NULL: it did not. */
const char *assay__import_complaint(const struct assay__import_stream *stream);
/** The path, for importers that must open the file themselves (SQLite); NULL: it is not a plain
 *  file. */
const char *assay__import_path(const struct assay__import_stream *stream);

/** What the times of a source count from: the source's `clock` as its importer sets it, these or
 *  any other text. Sources with the same clock agree, but those with the last of these never do. A
 *  source that does not agree with the first one is moved so that their first events coincide, and
 *  its clock then says so. */
#define ASSAY__IMPORT_CLOCK_UNIX "Unix time"
#define ASSAY__IMPORT_CLOCK_BOOT "time since the machine started"
#define ASSAY__IMPORT_CLOCK_OWN "time since the trace began"

/** Who wrote it; else what it is: "Chrome trace", "xctrace". */
const char *assay__import_source_name(const struct assay__trace_source *source);

struct assay__importer {
    const char *name;   /* "kineto": what reports call the format */
    const char *title;  /* "PyTorch profiler (Kineto), Chrome trace JSON" */
    const char *caveat; /* "not tried on a real file"; NULL: none */
    /** Judges the first bytes (decompressed; up to 64 KiB, fewer if the file is shorter). */
    enum assay__import_match (*match)(const char *head, size_t size);
    /** Reads all of it into the store, whose source is already begun (path, format): fills in
     *  producer, rank, world_size, clock, offset_ns (what is to be added to the times that were put
     *  into the store; adding it is the caller's), skipped, complaint and truncated; `events` is
     *  counted by the store, `bytes` and what the stream complains of by the caller. 0 if anything
     *  was read. */
    int (*read)(struct assay__import_stream *stream, struct assay__events *events,
                struct assay__trace_source *source, struct assay_error *error);
};

/** Reads files or folders of files into a new store, aligned and sealed. Files of one trace (the
 *  tables of one xctrace export, the ranks of one job) become one store. A profile that holds a
 *  timeline is read back, alone. progress may be NULL; it
 *  gets the bytes read of those on disk, and stops the import by returning true. */
struct assay__import_options {
    const char *format; /* the importer's name; NULL: by content */
    bool (*progress)(void *data, uint64_t done, uint64_t total);
    void *progress_data;
};
int assay__import(const char *const *paths, size_t count,
                  const struct assay__import_options *options, struct assay__events **events,
                  struct assay_error *error);

/** Every importer, in the order of importers.h; *count of them. */
const struct assay__importer *const *assay__importers(size_t *count);

#endif
