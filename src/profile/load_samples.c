/* load_samples.c - a launch's column chunks into one array, by stream then time. Two passes: the
 * first adds up what the chunks can hold (a value takes at least one byte, so a lying count cannot
 * make us allocate more than eight times the file), the second decodes straight into place. */
#include "base/checked.h"
#include "profile/chunk.h"
#include "profile/rows.h"

#define STREAM_LIMIT 65536
#define ENCODING 4 /* its column in the statement */

struct target {
    struct assay__launch *launch;
    size_t capacity, used;
    int stream;    /* being filled */
    int64_t chunk; /* expected next in it */
    size_t stream_first;
};

/* Samples all chunks can hold together; sets launch->streams to at least the streams seen. */
static size_t measure(struct assay__loader *loader, int64_t trial, struct assay__launch *launch)
{
    size_t total = 0;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT stream, count, length(data) AS size FROM sample_chunks"
        " WHERE trial=?1 AND launch=?2",
        trial, launch->id);
    while (assay__rows_next(&rows)) {
        int64_t stream = assay__rows_int(&rows, "stream", 0, STREAM_LIMIT - 1, -1);
        int64_t count = assay__rows_int(&rows, "count", 0, (int64_t)ASSAY__CHUNK_VALUES, 0);
        int64_t size = assay__rows_int(&rows, "size", 0, INT64_MAX, 0);
        if (stream >= launch->streams) launch->streams = (int)stream + 1;
        if (assay__add_overflows(total, (size_t)(count < size ? count : size), &total) ||
            total > loader->db->bytes) {
            assay__load_failed(loader, ASSAY_EFORMAT,
                               "damaged profile: it holds more samples than bytes");
            assay__rows_stop(&rows);
            return 0;
        }
    }
    return total;
}

/* Decodes the current row behind what is there. NULL, or what is wrong with it. */
static const char *add_chunk(struct assay__rows *rows, struct target *target)
{
    struct assay__launch *launch = target->launch;
    int64_t stream = assay__rows_int(rows, "stream", 0, launch->streams - 1, -1);
    if (stream < target->stream) return "its stream is out of order";
    while (target->stream < stream) {
        launch->stream_offsets[++target->stream] = target->used;
        target->stream_first = target->used;
        target->chunk = 0;
    }
    if (assay__rows_int(rows, "chunk", 0, INT64_MAX, -1) != target->chunk++)
        return "a chunk is missing before it";
    int64_t have = (int64_t)(target->used - target->stream_first);
    if (assay__rows_int(rows, "first", 0, INT64_MAX, -1) != have)
        return "it does not join the chunk before it";
    int64_t count = assay__rows_int(rows, "count", 0, (int64_t)ASSAY__CHUNK_VALUES, -1);
    if (count < 0 || (size_t)count > target->capacity - target->used) return "its count is wrong";
    if (assay__sql_chunk(rows->statement, ENCODING, (size_t)count,
                         launch->samples_ns + target->used))
        return "its bytes do not decode to its count";
    target->used += (size_t)count;
    return NULL;
}

void assay__load_samples(struct assay__loader *loader, int trial, struct assay__launch *launch,
                         const char **damage)
{
    struct target target = {.launch = launch};
    target.capacity = measure(loader, trial, launch);
    launch->samples_ns = assay__load_array(loader, target.capacity, sizeof *launch->samples_ns);
    launch->stream_offsets = assay__load_array(loader, (size_t)launch->streams + 1,
                                               sizeof *launch->stream_offsets);
    if (loader->code) return;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT stream, chunk, first, count, encoding, data FROM sample_chunks"
        " WHERE trial=?1 AND launch=?2"
        " ORDER BY stream, chunk",
        trial, launch->id);
    while (assay__rows_next(&rows)) {
        const char *wrong = add_chunk(&rows, &target);
        if (!wrong) continue;
        *damage = assay__arena_printf(
            loader->profile->arena,
            "damaged profile: launch %d has lost samples: chunk %lld of stream %d: %s", launch->id,
            (long long)(target.chunk ? target.chunk - 1 : 0), target.stream, wrong);
        assay__rows_stop(&rows);
        break;
    }
    launch->sample_count = target.used;
    while (target.stream < launch->streams)
        launch->stream_offsets[++target.stream] = target.used;
    if (launch->warmup > launch->sample_count) launch->warmup = launch->sample_count;
}
