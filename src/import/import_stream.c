/* import_stream.c - reads a file in pieces of 256 KiB and decompresses it if it begins with the
 * magic number of gzip (RFC 1952, several members one after another included) or zstd (RFC 8878,
 * several frames included). Damage ends the stream with a complaint; only the file system's
 * failures are errors. A window of zstd above 128 MiB is refused by its library. */
#include "import/import_stream.h"

#include "base/no_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { DISK_BYTES = 256 << 10, MAGIC_BYTES = 4, ZSTD_HEAD_BYTES = 3 /* of a block */ };
enum packing { PLAIN, GZIP, ZSTD };

struct assay__import_stream {
    int fd; /* -1: `bytes` in memory */
    const char *bytes;
    size_t bytes_left, piece;
    char *path;
    struct assay__import_watch *watch;
    enum packing packing;
    bool disk_end, ended, unit_done; /* of the file; of the stream; a member or frame is complete */
    char *disk;                      /* compressed bytes, or the pieces that read() lends out */
    size_t disk_at, disk_size;
    char *lent; /* what assay__import_read gives out; made when it is first needed */
    char *head;
    size_t head_at, head_size;
    uint64_t in, out, given;
    z_stream zlib;
    ZSTD_DStream *zstd;
    size_t zstd_wants; /* bytes up to the end of its part and the next head; 0: a new frame */
    bool zstd_is_full; /* it could not give out all it has */
    char complaint[160];
};

/* --- the disk --------------------------------------------------------------------------------- */

static ssize_t read_bytes(struct assay__import_stream *stream, char *to, size_t room)
{
    size_t size = stream->bytes_left < room ? stream->bytes_left : room;
    if (stream->piece && size > stream->piece) size = stream->piece;
    if (size) memcpy(to, stream->bytes, size);
    stream->bytes += size;
    stream->bytes_left -= size;
    return (ssize_t)size;
}

/* Reads at most `room` bytes of the file; *size 0: its end. */
static int read_disk(struct assay__import_stream *stream, char *to, size_t room, size_t *size,
                     struct assay_error *error)
{
    struct assay__import_watch *watch = stream->watch;
    const struct assay__import_options *options = watch ? watch->options : NULL;
    ssize_t got;
    do
        got = stream->fd < 0 ? read_bytes(stream, to, room) : read(stream->fd, to, room);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return assay_error_set(error, ASSAY_EIO, "%s: cannot be read: %s", stream->path,
                               strerror(errno));
    *size = (size_t)got;
    stream->in += *size;
    stream->disk_end = got == 0;
    if (!watch) return 0;
    watch->done += *size;
    if (options && options->progress &&
        options->progress(options->progress_data, watch->done, watch->total))
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    return 0;
}

/* `least` compressed bytes are at hand, or as many as there is room for, or the file has ended. */
static int fill_disk(struct assay__import_stream *stream, size_t least, struct assay_error *error)
{
    int code = 0;
    if (least > DISK_BYTES) least = DISK_BYTES;
    while (!code && stream->disk_size - stream->disk_at < least && !stream->disk_end) {
        size_t at_hand = stream->disk_size - stream->disk_at, got = 0;
        memmove(stream->disk, stream->disk + stream->disk_at, at_hand);
        stream->disk_at = 0;
        stream->disk_size = at_hand;
        code = read_disk(stream, stream->disk + at_hand, DISK_BYTES - at_hand, &got, error);
        stream->disk_size += got;
    }
    return code;
}

/* --- decompression ---------------------------------------------------------------------------- */

static void complain(struct assay__import_stream *stream, const char *text)
{
    snprintf(stream->complaint, sizeof stream->complaint, "%s", text);
    stream->ended = true;
}

/* One step of inflate; how many bytes it made. */
static size_t step_gzip(struct assay__import_stream *stream, char *to, size_t room)
{
    z_stream *zlib = &stream->zlib;
    if (stream->unit_done && inflateReset(zlib) != Z_OK) {
        complain(stream, "gzip: cannot be decompressed");
        return 0;
    }
    stream->unit_done = false;
    zlib->next_in = (Bytef *)stream->disk + stream->disk_at;
    zlib->avail_in = (uInt)(stream->disk_size - stream->disk_at);
    zlib->next_out = (Bytef *)to;
    zlib->avail_out = (uInt)room;
    int code = inflate(zlib, Z_NO_FLUSH);
    stream->disk_at = stream->disk_size - zlib->avail_in;
    stream->unit_done = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        complain(stream, "gzip: the compressed data is damaged");
    return room - zlib->avail_out;
}

/* How many bytes zstd is to have at once. Where it finds damage it drops what it has made in the
 * same call: it is given one whole part at a time (a head, a block), and nothing while it still has
 * to give out, so that all before the damage is kept, in whatever pieces the file is read. */
static size_t zstd_part(const struct assay__import_stream *stream)
{
    size_t part = stream->zstd_wants;
    if (stream->zstd_is_full) return 0;
    if (part > ZSTD_HEAD_BYTES) part -= ZSTD_HEAD_BYTES;
    return part ? part : 1;
}

static size_t step_zstd(struct assay__import_stream *stream, char *to, size_t room)
{
    size_t part = zstd_part(stream), at_hand = stream->disk_size - stream->disk_at;
    if (part > at_hand) part = at_hand;
    ZSTD_inBuffer in = {stream->disk, stream->disk_at + part, stream->disk_at};
    ZSTD_outBuffer out = {to, room, 0};
    size_t code = ZSTD_decompressStream(stream->zstd, &out, &in);
    stream->disk_at = in.pos;
    stream->unit_done = code == 0;
    stream->zstd_wants = code;
    stream->zstd_is_full = out.pos == room;
    if (ZSTD_isError(code)) {
        snprintf(stream->complaint, sizeof stream->complaint, "zstd: %s", ZSTD_getErrorName(code));
        stream->ended = true;
    }
    return out.pos;
}

static bool expands_too_far(const struct assay__import_stream *stream)
{
    uint64_t used = stream->in - (stream->disk_size - stream->disk_at);
    if (stream->out > ASSAY__IMPORT_EXPANSION_MOST) return true;
    return stream->out > ASSAY__IMPORT_EXPANSION_FREE &&
           stream->out / ASSAY__IMPORT_EXPANSION_RATIO > used;
}

/* A gzip file may be padded with zeros, or followed by what is not gzip: then it has ended. */
static bool more_members(struct assay__import_stream *stream)
{
    if (stream->packing != GZIP || !stream->unit_done) return true;
    return (unsigned char)stream->disk[stream->disk_at] == 0x1f;
}

static int unpack(struct assay__import_stream *stream, char *to, size_t room, size_t *size,
                  struct assay_error *error)
{
    *size = 0;
    while (!*size && !stream->ended) {
        size_t part = stream->packing == ZSTD ? zstd_part(stream) : 1;
        int code = fill_disk(stream, part ? part : 1, error);
        if (code) return code;
        bool nothing = stream->disk_at == stream->disk_size;
        if (stream->unit_done && (nothing || !more_members(stream))) {
            stream->ended = true;
            break;
        }
        *size = stream->packing == GZIP ? step_gzip(stream, to, room) : step_zstd(stream, to, room);
        if (nothing && !*size && !stream->unit_done && !stream->ended)
            complain(stream, "the compressed data is cut short");
        stream->out += *size;
        if (expands_too_far(stream))
            complain(stream, "the compressed data expands beyond the limit");
    }
    return 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum packing packing_of(const char *bytes, size_t size)
{
    static const char gzip[] = "\x1f\x8b", zstd[] = "\x28\xb5\x2f\xfd";
    if (size >= 2 && !memcmp(bytes, gzip, 2)) return GZIP;
    if (size >= 4 && !memcmp(bytes, zstd, 4)) return ZSTD;
    return PLAIN;
}

static int begin_packing(struct assay__import_stream *stream, struct assay_error *error)
{
    if (stream->packing == GZIP && inflateInit2(&stream->zlib, 15 + 16) != Z_OK) {
        stream->packing = PLAIN; /* nothing to end */
        return assay__no_memory(error);
    }
    if (stream->packing == ZSTD) {
        stream->zstd = ZSTD_createDStream();
        if (!stream->zstd) return assay__no_memory(error);
    }
    return 0;
}

static int open_file(struct assay__import_stream *stream, struct assay_error *error)
{
    struct stat about;
    stream->fd = open(stream->path, O_RDONLY | O_CLOEXEC);
    if (stream->fd < 0)
        return assay_error_set(error,
                               errno == ENOENT   ? ASSAY_ENOTFOUND
                               : errno == EACCES ? ASSAY_EDENIED
                                                 : ASSAY_EIO,
                               "%s: cannot be opened: %s", stream->path, strerror(errno));
    if (fstat(stream->fd, &about) || S_ISDIR(about.st_mode))
        return assay_error_set(error, ASSAY_EIO, "%s: not a file", stream->path);
    return 0;
}

/* Reads the first bytes; closes the stream where that fails. */
static int begin_stream(struct assay__import_stream *stream, struct assay__import_stream **out,
                        struct assay_error *error)
{
    int code = 0;
    while (!code && stream->disk_size < MAGIC_BYTES &&
           !stream->disk_end) { /* a pipe gives little */
        size_t got = 0;
        code = read_disk(stream, stream->disk + stream->disk_size, DISK_BYTES - stream->disk_size,
                         &got, error);
        stream->disk_size += got;
    }
    if (!code) {
        stream->packing = packing_of(stream->disk, stream->disk_size);
        code = begin_packing(stream, error);
    }
    if (code)
        assay__import_close(stream);
    else
        *out = stream;
    return code;
}

static struct assay__import_stream *new_stream(const char *path)
{
    struct assay__import_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->fd = -1;
    stream->path = strdup(path);
    stream->disk = malloc(DISK_BYTES);
    if (stream->path && stream->disk) return stream;
    assay__import_close(stream);
    return NULL;
}

int assay__import_open(const char *path, struct assay__import_watch *watch,
                       struct assay__import_stream **out, struct assay_error *error)
{
    struct assay__import_stream *stream = new_stream(path);
    *out = NULL;
    if (!stream) return assay__no_memory(error);
    stream->watch = watch;
    int code = open_file(stream, error);
    if (!code) return begin_stream(stream, out, error);
    assay__import_close(stream);
    return code;
}

int assay__import_open_bytes(const void *bytes, size_t size, size_t piece,
                             struct assay__import_stream **out, struct assay_error *error)
{
    struct assay__import_stream *stream = new_stream("memory");
    *out = NULL;
    if (!stream) return assay__no_memory(error);
    stream->bytes = bytes;
    stream->bytes_left = size;
    stream->piece = piece;
    return begin_stream(stream, out, error);
}

void assay__import_close(struct assay__import_stream *stream)
{
    if (!stream) return;
    if (stream->packing == GZIP) inflateEnd(&stream->zlib);
    ZSTD_freeDStream(stream->zstd);
    if (stream->fd >= 0) close(stream->fd);
    free(stream->path);
    free(stream->disk);
    free(stream->lent);
    free(stream->head);
    free(stream);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Plain bytes: what opening has read first, then straight from the file. */
static int read_plain(struct assay__import_stream *stream, char *to, size_t room, size_t *size,
                      struct assay_error *error)
{
    size_t at_hand = stream->disk_size - stream->disk_at;
    if (at_hand) {
        *size = at_hand < room ? at_hand : room;
        memcpy(to, stream->disk + stream->disk_at, *size);
        stream->disk_at += *size;
        return 0;
    }
    int code = read_disk(stream, to, room, size, error);
    stream->ended = stream->disk_end;
    return code;
}

static int read_next(struct assay__import_stream *stream, char *to, size_t room, size_t *size,
                     struct assay_error *error)
{
    *size = 0;
    if (stream->ended) return 0;
    if (stream->packing == PLAIN) return read_plain(stream, to, room, size, error);
    return unpack(stream, to, room, size, error);
}

int assay__import_head(struct assay__import_stream *stream, const char **head, size_t *size,
                       struct assay_error *error)
{
    if (!stream->head) {
        stream->head = malloc(ASSAY__IMPORT_HEAD_BYTES);
        if (!stream->head) return assay__no_memory(error);
        for (size_t got = 1; got && stream->head_size < ASSAY__IMPORT_HEAD_BYTES;) {
            int code = read_next(stream, stream->head + stream->head_size,
                                 ASSAY__IMPORT_HEAD_BYTES - stream->head_size, &got, error);
            if (code) return code;
            stream->head_size += got;
        }
    }
    *head = stream->head;
    *size = stream->head_size;
    return 0;
}

int assay__import_read_into(struct assay__import_stream *stream, char *to, size_t room,
                            size_t *size, struct assay_error *error)
{
    size_t at_hand = stream->head_size - stream->head_at;
    int code = 0;
    if (at_hand) {
        *size = at_hand < room ? at_hand : room;
        memcpy(to, stream->head + stream->head_at, *size);
        stream->head_at += *size;
    } else {
        code = read_next(stream, to, room, size, error);
    }
    if (!code) stream->given += *size;
    return code;
}

int assay__import_read(struct assay__import_stream *stream, const char **data, size_t *size,
                       struct assay_error *error)
{
    if (!stream->lent) stream->lent = malloc(DISK_BYTES);
    if (!stream->lent) return assay__no_memory(error);
    *data = stream->lent;
    return assay__import_read_into(stream, stream->lent, DISK_BYTES, size, error);
}

const char *assay__import_complaint(const struct assay__import_stream *stream)
{
    return stream->complaint[0] ? stream->complaint : NULL;
}

const char *assay__import_path(const struct assay__import_stream *stream)
{
    return stream->packing == PLAIN && stream->fd >= 0 ? stream->path : NULL;
}

uint64_t assay__import_position(const struct assay__import_stream *stream)
{
    return stream->given;
}
