/* span_file.c - a process record, then blocks of strings and spans, then the end. */
#include "run/worker/span_file.h"

#include "base/buf.h"
#include "base/cuda_trace.h"
#include "base/file.h"
#include "base/map.h"
#include "platform/platform.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define BLOCK_FILL ((size_t)1 << 20)

struct assay__span_file {
    struct assay__buf out; /* whole blocks, then records of the one that is open */
    size_t block_at;
    uint32_t records, strings;
    struct assay__map *numbers;
};

static void open_block(struct assay__span_file *file)
{
    struct assay__cuda_block_head head = {.mark = ASSAY__CUDA_BLOCK_MARK};
    file->block_at = file->out.length;
    file->records = 0;
    assay__buf_add(&file->out, &head, sizeof head);
}

static void seal_block(struct assay__span_file *file)
{
    struct assay__cuda_block_head head = {.mark = ASSAY__CUDA_BLOCK_MARK, .records = file->records};
    if (file->out.failed) return;
    const char *data = file->out.data + file->block_at + sizeof head;
    head.bytes = (uint32_t)(file->out.length - file->block_at - sizeof head);
    head.crc = (uint32_t)crc32(0, (const Bytef *)data, head.bytes);
    memcpy(file->out.data + file->block_at, &head, sizeof head);
}

static void put(struct assay__span_file *file, void *record, size_t bytes,
                enum assay__cuda_record_type type)
{
    struct assay__cuda_record *head = record;
    *head = (struct assay__cuda_record){(uint16_t)type, 0, (uint32_t)bytes};
    assay__buf_add(&file->out, record, bytes);
    file->records++;
}

static uint32_t string_of(struct assay__span_file *file, const char *text)
{
    static const char zeros[8] = {0};
    if (!text || !*text) return 0;
    size_t known = assay__map_get(file->numbers, text), length = strlen(text);
    if (known != ASSAY__MAP_NONE) return (uint32_t)known;
    if (length > ASSAY__CUDA_TEXT_BYTES) length = ASSAY__CUDA_TEXT_BYTES;
    size_t padded = (length + 7) / 8 * 8;
    struct assay__cuda_string record = {
        .head = {ASSAY__CUDA_STRING, 0, (uint32_t)(sizeof record + padded)},
        .number = ++file->strings,
        .length = (uint32_t)length};
    assay__buf_add(&file->out, &record, sizeof record);
    assay__buf_add(&file->out, text, length);
    assay__buf_add(&file->out, zeros, padded - length);
    file->records++;
    if (assay__map_set(file->numbers, text, record.number)) file->out.failed = true;
    return record.number;
}

static void put_process(struct assay__span_file *file)
{
    struct timespec now;
    struct assay__cuda_process record = {.pid = (uint32_t)getpid(), .parent = (uint32_t)getppid()};
    clock_gettime(CLOCK_REALTIME, &now);
    record.unix_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    record.command = string_of(file, "assay-worker");
    put(file, &record, sizeof record, ASSAY__CUDA_PROCESS);
}

struct assay__span_file *assay__span_file_new(void)
{
    struct assay__span_file *file = calloc(1, sizeof *file);
    struct assay__cuda_file_head head = {.version = ASSAY__CUDA_FILE_VERSION,
                                         .head_bytes = sizeof head};
    if (!file) return NULL;
    file->numbers = assay__map_new();
    if (!file->numbers) {
        assay__span_file_free(file);
        return NULL;
    }
    memcpy(head.magic, ASSAY__CUDA_FILE_MAGIC, sizeof head.magic);
    assay__buf_add(&file->out, &head, sizeof head);
    open_block(file);
    put_process(file);
    return file;
}

int assay__span_file_add(struct assay__span_file *file, const struct assay__timeline_span *span,
                         int64_t offset_ns)
{
    struct assay__cuda_span record = {.start_ns = span->start_ns + (uint64_t)offset_ns,
                                      .end_ns = span->end_ns + (uint64_t)offset_ns,
                                      .name = string_of(file, span->name),
                                      .op = string_of(file, span->op),
                                      .provider = string_of(file, span->provider),
                                      .thread = (uint32_t)getpid(), /* the main one */
                                      .kind = span->step ? ASSAY__CUDA_SPAN_STEP
                                                         : ASSAY__CUDA_SPAN_LAYER};
    put(file, &record, sizeof record, ASSAY__CUDA_SPAN);
    if (file->out.length - file->block_at >= BLOCK_FILL) {
        seal_block(file);
        open_block(file);
    }
    return file->out.failed ? ASSAY_ENOMEM : 0;
}

int assay__span_file_write(struct assay__span_file *file, const char *folder,
                           struct assay_error *error)
{
    char path[PATH_MAX], name[64];
    struct timespec now;
    struct assay__cuda_state end = {.state = ASSAY__CUDA_STATE_END};
    clock_gettime(CLOCK_REALTIME, &now);
    end.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    put(file, &end, sizeof end, ASSAY__CUDA_STATE);
    seal_block(file);
    snprintf(name, sizeof name, "layers.%ld.cutrace", (long)getpid());
    if (file->out.failed) return assay__no_memory(error);
    if (assay__path_join(folder, name, path, sizeof path))
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the records is too long");
    return assay__file_write(path, file->out.data, file->out.length, error);
}

void assay__span_file_free(struct assay__span_file *file)
{
    if (!file) return;
    assay__map_free(file->numbers);
    assay__buf_free(&file->out);
    free(file);
}
