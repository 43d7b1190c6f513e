/* import_stream.h - the bytes of one file for an importer: plain, or decompressed while they are
 * read. Private to src/import. */
#ifndef ASSAY_IMPORT_STREAM_H
#define ASSAY_IMPORT_STREAM_H

#include "import/import.h"

/* A decompression bomb is a small file that becomes an enormous one: JSON of a trace compresses
 * 10 to 40 times, the most that gzip can do is 1,032 times. Both must be exceeded: a small file may
 * expand as it likes. */
#define ASSAY__IMPORT_EXPANSION_RATIO 400u                /* bytes out for each byte in */
#define ASSAY__IMPORT_EXPANSION_FREE ((uint64_t)64 << 20) /* bytes out that are never refused */
#define ASSAY__IMPORT_EXPANSION_MOST ((uint64_t)64 << 30) /* bytes out, in any case */
#define ASSAY__IMPORT_HEAD_BYTES ((size_t)64 << 10)       /* what match() may look at */

struct assay__import_watch { /* told about every read */
    const struct assay__import_options *options;
    uint64_t done, total; /* bytes on disk, of all files */
};

int assay__import_open(const char *path, struct assay__import_watch *watch,
                       struct assay__import_stream **stream, struct assay_error *error);
/** The same of bytes in memory, of which at most `piece` are read at once (0: no limit). They must
 *  outlive the stream. */
int assay__import_open_bytes(const void *bytes, size_t size, size_t piece,
                             struct assay__import_stream **stream, struct assay_error *error);
void assay__import_close(struct assay__import_stream *stream);
/** The first bytes, which are read again by assay__import_read. */
int assay__import_head(struct assay__import_stream *stream, const char **head, size_t *size,
                       struct assay_error *error);
/** Bytes that were given out. */
uint64_t assay__import_position(const struct assay__import_stream *stream);

/** Reads bytes with one importer (NULL: by content) into a new store: what assay__import does with
 *  a file. For tests and fuzzers. */
int assay__import_bytes(const void *bytes, size_t size, size_t piece,
                        const struct assay__importer *importer, struct assay__events **events,
                        struct assay_error *error);

#endif
