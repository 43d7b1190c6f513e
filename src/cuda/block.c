/* block.c - records gathered into blocks, strings numbered, blocks written. One thread uses it: the
 * writer, or whoever opens and closes the session while there is none.
 *
 * A write that fails (the disk is full, a file size limit) ends the file after its last whole
 * block: it is cut back, and what comes later is counted as dropped. */
#include "cuda/recorder.h"
#include "platform/demangle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_FILL ((size_t)256 << 10)
#define BLOCK_ROOM (BLOCK_FILL + ASSAY__CUDA_TEXT_BYTES + 1024)
#define STRING_SLOTS 65536u /* a power of two */
#define MOST_STRINGS (STRING_SLOTS / 4 * 3)

static int file = -1;
static char path[4096]; /* of the file; empty: there is none */
static off_t written;
static int first_error;
static bool file_is_torn;    /* ends in a part of a block: nothing may follow */
static unsigned char *block; /* room for the head, then records */
static size_t block_used;
static uint32_t block_records;
static void (*sink)(void *, const void *, size_t);
static void *sink_data;
static struct assay__cuda_trace_counts counts;

static struct {
    char *text;
    uint64_t hash;
} strings[STRING_SLOTS];
static uint32_t numbers[STRING_SLOTS], string_count;
static char demangled[ASSAY__CUDA_TEXT_BYTES + 1];

struct assay__cuda_trace_counts *block_counts(void)
{
    return &counts;
}

int block_error(void)
{
    return first_error;
}

static void put_string(const char *text, size_t length, uint32_t number);

/* --- the file --------------------------------------------------------------------------------- */

static uint32_t crc_of(const unsigned char *data, size_t size)
{
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++)
                value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
            table[i] = value;
        }
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
    return ~crc;
}

static void write_all(const void *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t count = write(file, (const char *)data + done, size - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            first_error = count < 0 ? errno : EIO;
            if (done && ftruncate(file, written)) file_is_torn = true;
            return;
        }
        done += (size_t)count;
    }
    written += (off_t)size;
    counts.bytes += size;
}

/* FILE.PID.cutrace; a program that execs keeps its number: then FILE.PID.1.cutrace … */
static int file_create(const char *prefix)
{
    for (int i = 0; i < 1000; i++) {
        int length = i ? snprintf(path, sizeof path, "%s.%ld.%d.cutrace", prefix, (long)getpid(), i)
                       : snprintf(path, sizeof path, "%s.%ld.cutrace", prefix, (long)getpid());
        if (length < 0 || (size_t)length >= sizeof path) {
            errno = ENAMETOOLONG;
            break;
        }
        int made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
        if (made >= 0) return made;
        if (errno != EEXIST) break;
    }
    path[0] = '\0';
    return -1;
}

static void seal(void)
{
    struct assay__cuda_block_head head = {.mark = ASSAY__CUDA_BLOCK_MARK,
                                          .bytes = (uint32_t)(block_used - sizeof head),
                                          .records = block_records};
    head.crc = crc_of(block + sizeof head, head.bytes);
    memcpy(block, &head, sizeof head);
}

static void empty(void)
{
    block_used = sizeof(struct assay__cuda_block_head);
    block_records = 0;
}

int block_open(const struct assay__cuda_trace_options *options, char *why, size_t room)
{
    struct assay__cuda_file_head head = {.version = ASSAY__CUDA_FILE_VERSION,
                                         .head_bytes = sizeof head};
    memcpy(head.magic, ASSAY__CUDA_FILE_MAGIC, sizeof head.magic);
    memset(&counts, 0, sizeof counts);
    sink = options->sink;
    sink_data = options->sink_data;
    empty();
    first_error = 0;
    file_is_torn = false;
    written = 0;
    if (!block && !(block = malloc(BLOCK_ROOM))) {
        snprintf(why, room, "out of memory");
        return -1;
    }
    if (!options->file) return 0;
    file = file_create(options->file);
    if (file >= 0) write_all(&head, sizeof head);
    if (file >= 0 && !first_error) return 0;
    snprintf(why, room, "%s.%ld.cutrace: %s", options->file, (long)getpid(),
             strerror(first_error ? first_error : errno));
    return -1;
}

/* The reason in a short block: where 256 KiB did not fit, some bytes most often do. */
static void write_failure(void)
{
    char text[160];
    int error = first_error;
    snprintf(text, sizeof text,
             "the recording ended early: %s; free some space, or trace a shorter time (a delay and "
             "a duration)",
             strerror(error));
    struct assay__cuda_failure record = {.code = (uint32_t)error};
    empty();
    record.text = ++string_count;
    put_string(text, strlen(text), record.text);
    record.head = (struct assay__cuda_record){ASSAY__CUDA_FAILURE, 0, sizeof record};
    memcpy(block + block_used, &record, sizeof record);
    block_used += sizeof record;
    block_records++;
    seal();
    if (!file_is_torn) write_all(block, block_used);
    first_error = error;
}

void block_flush(void)
{
    if (!block || !block_records) return;
    size_t records = block_records;
    if (sink)
        sink(sink_data, block + sizeof(struct assay__cuda_block_head),
             block_used - sizeof(struct assay__cuda_block_head));
    seal();
    if (file >= 0 && !first_error) {
        write_all(block, block_used);
        if (first_error) write_failure();
    }
    if (first_error) counts.dropped_by_writer += records;
    empty();
}

void block_put(void *record, size_t bytes, enum assay__cuda_record_type type)
{
    struct assay__cuda_record *head = record;
    head->type = (uint16_t)type;
    head->bytes = (uint32_t)bytes;
    if (block_used + bytes > BLOCK_ROOM) block_flush();
    memcpy(block + block_used, record, bytes);
    block_used += bytes;
    block_records++;
    counts.records++;
    if (block_used >= BLOCK_FILL) block_flush();
}

/* --- strings ---------------------------------------------------------------------------------- */

static void put_string(const char *text, size_t length, uint32_t number)
{
    size_t padded = (length + 7) / 8 * 8;
    struct assay__cuda_string record = {
        .head = {ASSAY__CUDA_STRING, 0, (uint32_t)(sizeof record + padded)},
        .number = number,
        .length = (uint32_t)length};
    if (block_used + sizeof record + padded > BLOCK_ROOM) block_flush();
    memcpy(block + block_used, &record, sizeof record);
    memset(block + block_used + sizeof record, 0, padded);
    memcpy(block + block_used + sizeof record, text, length);
    block_used += sizeof record + padded;
    block_records++;
}

static uint64_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

/* Beyond MOST_STRINGS different ones a string is written again for each record. */
uint32_t block_string(const char *text)
{
    if (!text) return 0;
    size_t length = strnlen(text, ASSAY__CUDA_TEXT_BYTES);
    uint64_t hash = hash_of(text, length);
    size_t slot = hash & (STRING_SLOTS - 1);
    for (; strings[slot].text; slot = (slot + 1) & (STRING_SLOTS - 1))
        if (strings[slot].hash == hash && !strncmp(strings[slot].text, text, length) &&
            !strings[slot].text[length])
            return numbers[slot];
    char *copy = string_count < MOST_STRINGS ? strndup(text, length) : NULL;
    if (copy) {
        strings[slot].text = copy;
        strings[slot].hash = hash;
        numbers[slot] = string_count + 1;
    }
    /* A kernel's name as it was written in the source; here rather than by the reader, whose input
     * nobody vouches for. */
    bool clear = assay__demangle(text, demangled, sizeof demangled);
    put_string(clear ? demangled : text, clear ? strlen(demangled) : length, ++string_count);
    return string_count;
}

static void strings_clear(void)
{
    for (size_t i = 0; i < STRING_SLOTS; i++)
        free(strings[i].text);
    memset(strings, 0, sizeof strings);
    string_count = 0;
}

void block_close(void)
{
    block_flush();
    if (file >= 0) close(file);
    file = -1;
    strings_clear();
    free(block);
    block = NULL;
}

void block_drop(void)
{
    empty();
    if (file >= 0 && path[0]) unlink(path);
    block_close();
}

void block_forget(void)
{
    if (file >= 0) close(file);
    file = -1;
    empty();
    strings_clear();
}
