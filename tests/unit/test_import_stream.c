/* test_import_stream.c - plain and compressed bytes: gzip and zstd, several members, cut short,
 * damaged, expanding without end; progress and stopping; choosing the importer. */
#include "import_fixture.h"

#include "import/import_stream.h"

#include <zlib.h>
#include <zstd.h>

struct bytes {
    unsigned char *data;
    size_t size;
};

static struct bytes gzipped(const void *text, size_t size)
{
    z_stream zlib = {0};
    CHECK_INT(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    struct bytes out = {.size = deflateBound(&zlib, size)};
    out.data = malloc(out.size);
    CHECK(out.data != NULL);
    zlib.next_in = (Bytef *)(uintptr_t)text;
    zlib.avail_in = (uInt)size;
    zlib.next_out = out.data;
    zlib.avail_out = (uInt)out.size;
    CHECK_INT(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    out.size = zlib.total_out;
    deflateEnd(&zlib);
    return out;
}

static struct bytes zstandard(const void *text, size_t size)
{
    struct bytes out = {.size = ZSTD_compressBound(size)};
    out.data = malloc(out.size);
    CHECK(out.data != NULL);
    out.size = ZSTD_compress(out.data, out.size, text, size, 3);
    CHECK(!ZSTD_isError(out.size));
    return out;
}

/* Text of many lines that compresses about as a trace does. */
static char *sample_text(size_t lines, size_t *size)
{
    char *text = malloc(lines * 64 + 1), *at = text;
    CHECK(text != NULL);
    for (size_t i = 0; i < lines; i++)
        at += sprintf(at, "{\"ts\": %zu, \"name\": \"kernel %zu\"}\n", i * 977, i % 41);
    *size = (size_t)(at - text);
    return text;
}

/* All of a file through the stream, in pieces of `room`; *complaint is the stream's. */
static struct bytes read_all(const char *path, size_t room, char *complaint)
{
    struct assay__import_stream *stream;
    struct bytes out = {.data = malloc(room)};
    const char *head;
    size_t head_size, got = 1;
    CHECK_INT(assay__import_open(path, NULL, &stream, NULL), 0);
    CHECK_INT(assay__import_head(stream, &head, &head_size, NULL), 0);
    while (got) {
        CHECK(out.data != NULL);
        CHECK_INT(assay__import_read_into(stream, (char *)out.data + out.size, room, &got, NULL),
                  0);
        CHECK(got <= room);
        out.size += got;
        out.data = realloc(out.data, out.size + room);
    }
    CHECK_INT(assay__import_position(stream), out.size);
    const char *said = assay__import_complaint(stream);
    snprintf(complaint, 200, "%s", said ? said : "");
    assay__import_close(stream);
    return out;
}

static void check_reads(const char *path, const char *text, size_t size)
{
    static const size_t rooms[] = {1 << 20, 4093, 70000};
    char complaint[200];
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        struct bytes out = read_all(path, rooms[i], complaint);
        CHECK_STR(complaint, "");
        CHECK_INT(out.size, size);
        CHECK(!memcmp(out.data, text, size));
        free(out.data);
    }
}

static void test_plain_and_compressed(void)
{
    size_t size;
    char *text = sample_text(20000, &size);
    check_reads(trace_written("plain", text, size), text, size);
    struct bytes gzip = gzipped(text, size), zstd = zstandard(text, size);
    check_reads(trace_written("gzip", gzip.data, gzip.size), text, size);
    check_reads(trace_written("zstd", zstd.data, zstd.size), text, size);
    free(gzip.data);
    free(zstd.data);
    free(text);
}

/* Two members or frames are one text; zeros behind a gzip file are padding. */
static void test_several_members(void)
{
    size_t size;
    char *text = sample_text(3000, &size);
    size_t half = size / 2;
    struct bytes first = gzipped(text, half), second = gzipped(text + half, size - half);
    unsigned char *both = calloc(1, first.size + second.size + 512);
    CHECK(both != NULL);
    memcpy(both, first.data, first.size);
    memcpy(both + first.size, second.data, second.size);
    check_reads(trace_written("two.gz", both, first.size + second.size), text, size);
    check_reads(trace_written("padded.gz", both, first.size + second.size + 512), text, size);
    free(first.data), free(second.data), free(both);
    first = zstandard(text, half), second = zstandard(text + half, size - half);
    both = malloc(first.size + second.size);
    CHECK(both != NULL);
    memcpy(both, first.data, first.size);
    memcpy(both + first.size, second.data, second.size);
    check_reads(trace_written("two.zst", both, first.size + second.size), text, size);
    free(first.data), free(second.data), free(both), free(text);
}

/* What is before the cut is read; how much depends on the blocks. */
static void check_cut(struct bytes whole, const char *text, size_t size)
{
    char complaint[200];
    for (size_t kept = 12; kept < whole.size; kept += whole.size / 19) {
        struct bytes out = read_all(trace_written("cut", whole.data, kept), 1 << 16, complaint);
        CHECK(out.size <= size && !memcmp(out.data, text, out.size));
        CHECK(complaint[0]);
        if (kept > whole.size * 9 / 10) CHECK(out.size > size / 2);
        free(out.data);
    }
    memset(whole.data + whole.size / 2, 0x55, 40);
    struct bytes out = read_all(trace_written("damaged", whole.data, whole.size), 1 << 16,
                                complaint);
    CHECK(complaint[0]);
    CHECK(out.size <= size * 2);
    free(out.data);
    free(whole.data);
}

static void test_cut_and_damaged(void)
{
    size_t size;
    char *text = sample_text(60000, &size);
    check_cut(gzipped(text, size), text, size);
    check_cut(zstandard(text, size), text, size);
    free(text);
}

/* The bytes that come out of `in` read in pieces, and whether there is a complaint. */
static struct bytes read_pieces(struct bytes in, size_t piece, bool *complains)
{
    struct assay__import_stream *stream;
    struct bytes out = {.data = malloc(1 << 20)};
    size_t got = 1;
    CHECK(out.data != NULL);
    CHECK_INT(assay__import_open_bytes(in.data, in.size, piece, &stream, NULL), 0);
    for (; got; out.size += got)
        CHECK_INT(assay__import_read_into(stream, (char *)out.data + out.size, (1 << 20) - out.size,
                                          &got, NULL),
                  0);
    *complains = assay__import_complaint(stream) != NULL;
    assay__import_close(stream);
    return out;
}

static void check_pieces(struct bytes in)
{
    static const size_t pieces[] = {1, 2, 3, 7, 31, 4096};
    bool complains, whole_complains;
    struct bytes whole = read_pieces(in, 0, &whole_complains);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct bytes out = read_pieces(in, pieces[i], &complains);
        CHECK_INT(out.size, whole.size);
        CHECK(!memcmp(out.data, whole.data, out.size));
        CHECK_INT(complains, whole_complains);
        free(out.data);
    }
    free(whole.data);
}

/* Damage at any place gives the same however the file comes: as from a slow pipe, or at once. */
static void test_damaged_in_pieces(void)
{
    size_t size;
    char *text = sample_text(400, &size);
    struct bytes packed[] = {gzipped(text, size), zstandard(text, size)};
    for (size_t i = 0; i < 2; i++) {
        check_pieces(packed[i]);
        for (size_t at = 4; at < packed[i].size; at += 1 + at / 16) {
            packed[i].data[at] ^= 0x41;
            check_pieces(packed[i]);
            packed[i].data[at] ^= 0x41;
        }
        free(packed[i].data);
    }
    free(text);
}

/* A raw block holds more than its frame says (9 bytes): found when the block is decoded. */
static void test_zstd_raw_block_in_pieces(void)
{
    static unsigned char frame[6 + 3 + 200] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 9, 0x41, 0x06, 0};
    check_pieces((struct bytes){frame, sizeof frame});
}

/* 80 MB of zeros in 80 KB; more than 64 MB out of 400 times the bytes in is refused. */
static void test_bomb(void)
{
    size_t size = (size_t)96 << 20;
    char *zeros = calloc(1, size), complaint[200];
    CHECK(zeros != NULL);
    struct bytes gzip = gzipped(zeros, size), zstd = zstandard(zeros, size);
    free(zeros);
    struct bytes out = read_all(trace_written("bomb.gz", gzip.data, gzip.size), 1 << 20, complaint);
    CHECK_HAS(complaint, "beyond");
    CHECK(out.size < ASSAY__IMPORT_EXPANSION_FREE + (2 << 20));
    free(out.data);
    out = read_all(trace_written("bomb.zst", zstd.data, zstd.size), 1 << 20, complaint);
    CHECK_HAS(complaint, "beyond");
    CHECK(out.size < ASSAY__IMPORT_EXPANSION_FREE + (2 << 20));
    free(out.data), free(gzip.data), free(zstd.data);
}

/* A cut trace is read as far as it goes, and the source says why it ends. */
static void test_cut_trace(void)
{
    size_t size = 0;
    char *text = malloc(4 << 20);
    CHECK(text != NULL);
    size += (size_t)sprintf(text, "{\"traceEvents\":[");
    for (int i = 0; i < 20000; i++)
        size += (size_t)sprintf(text + size,
                                "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,"
                                "\"tid\":1,\"ts\":%d,\"dur\":%d}",
                                i ? "," : "", i % 100, i * 3, i * 7919 % 1000);
    size += (size_t)sprintf(text + size, "]}");
    struct bytes gzip = gzipped(text, size);
    struct assay__events *events = import_path(trace_written("t.gz", gzip.data, gzip.size));
    CHECK_INT(events->count, 20000);
    CHECK_INT(events->sources[0].bytes, size);
    assay__events_free(events);
    events = import_path(trace_written("t.gz", gzip.data, gzip.size * 3 / 4));
    CHECK(events->count > 10000 && events->count < 20000);
    CHECK(events->sources[0].truncated);
    CHECK_HAS(events->sources[0].complaint, "cut short");
    assay__events_free(events);
    free(gzip.data), free(text);
}

/* --- choosing, progress, errors --------------------------------------------------------------- */

struct watched {
    uint64_t calls, done, total, stop_at;
};

static bool watch(void *data, uint64_t done, uint64_t total)
{
    struct watched *watched = data;
    CHECK(done >= watched->done && done <= total);
    watched->calls++;
    watched->done = done;
    watched->total = total;
    return watched->stop_at && watched->calls >= watched->stop_at;
}

static const char *write_large(size_t *size)
{
    char *text = malloc(3 << 20);
    CHECK(text != NULL);
    *size = (size_t)sprintf(text, "{\"traceEvents\":[");
    while (*size < 2 << 20)
        *size += (size_t)sprintf(text + *size, "{\"ph\":\"i\",\"name\":\"x\",\"ts\":1},");
    *size += (size_t)sprintf(text + *size, "{\"ph\":\"i\",\"name\":\"x\",\"ts\":1}]}");
    const char *path = trace_written("large.json", text, *size);
    free(text);
    return path;
}

static void test_progress_and_stopping(void)
{
    size_t size;
    const char *path = write_large(&size);
    struct watched watched = {0};
    struct assay__import_options options = {.progress = watch, .progress_data = &watched};
    struct assay__events *events;
    CHECK_INT(assay__import(&path, 1, &options, &events, NULL), 0);
    CHECK_INT(watched.done, size);
    CHECK_INT(watched.total, size);
    CHECK(watched.calls > 3);
    assay__events_free(events);
    watched = (struct watched){.stop_at = 2};
    CHECK_INT(assay__import(&path, 1, &options, &events, NULL), ASSAY_EINTERRUPTED);
    CHECK(events == NULL);
}

static void test_missing_and_unknown(void)
{
    struct assay__events *events;
    struct assay_error error = {0};
    CHECK_INT(import_code(scratch("nowhere.json"), &events, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "nowhere.json");
    CHECK_INT(import_code(trace_written("x", "\0\1\2", 3), &events, &error), ASSAY_EFORMAT);
    CHECK_INT(import_code(trace_written("empty", "", 0), &events, &error), ASSAY_EFORMAT);
    CHECK_INT(assay__import(NULL, 0, NULL, &events, &error), ASSAY_EINVAL);
    struct assay__import_options options = {.format = "nonsense"};
    const char *path = trace_written("y", "[]", 2);
    CHECK_INT(assay__import(&path, 1, &options, &events, &error), ASSAY_EINVAL);
    const char *folder = scratch_folder; /* nothing in it is a trace */
    CHECK_INT(assay__import(&folder, 1, NULL, &events, &error), ASSAY_EFORMAT);
}

/* Of several files, one that is no trace leaves the others; one that is not there does not. */
static void test_one_of_several(void)
{
    static const char sound[] = "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]";
    const char *paths[] = {trace_written("a", sound, sizeof sound - 1), trace_written("b", "?", 1),
                           scratch("missing")};
    struct assay__events *events;
    CHECK_INT(assay__import(paths, 2, NULL, &events, NULL), 0);
    CHECK_INT(events->count, 1);
    assay__events_free(events);
    CHECK_INT(assay__import(paths, 3, NULL, &events, NULL), ASSAY_ENOTFOUND);
}

static void test_registry(void)
{
    size_t count;
    const struct assay__importer *const *importers = assay__importers(&count);
    CHECK(count >= 2);
    for (size_t i = 0; i < count; i++) {
        CHECK(importers[i]->name[0] && importers[i]->title[0]);
        CHECK(importers[i]->match && importers[i]->read);
        CHECK_INT(importers[i]->match("", 0), ASSAY__IMPORT_NO);
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(importers[i]->name, importers[j]->name));
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"plain_and_compressed", test_plain_and_compressed},
        {"several_members", test_several_members},
        {"cut_and_damaged", test_cut_and_damaged},
        {"damaged_in_pieces", test_damaged_in_pieces},
        {"zstd_raw_block_in_pieces", test_zstd_raw_block_in_pieces},
        {"bomb", test_bomb},
        {"cut_trace", test_cut_trace},
        {"progress_and_stopping", test_progress_and_stopping},
        {"missing_and_unknown", test_missing_and_unknown},
        {"one_of_several", test_one_of_several},
        {"registry", test_registry},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
