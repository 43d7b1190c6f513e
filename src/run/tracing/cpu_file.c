/* cpu_file.c - records are buffered by stdio; samples are gathered into records of up to 512. */
#include "run/tracing/cpu_file.h"

#include "base/no_memory.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MOST 4096u /* longer names are cut */
#define STRINGS_MOST (1u << 20)

static void put(struct assay__cpu_file *file, const void *bytes, size_t size)
{
    if (file->reason || !size) return;
    if (fwrite(bytes, size, 1, file->file) != 1) file->reason = errno ? errno : EIO;
}

void assay__cpu_file_put(struct assay__cpu_file *file, enum assay__cpu_record_type type,
                         void *record, size_t bytes)
{
    struct assay__cpu_record head = {.type = (uint16_t)type, .bytes = (uint32_t)bytes};
    memcpy(record, &head, sizeof head);
    put(file, record, bytes);
}

uint32_t assay__cpu_file_string(struct assay__cpu_file *file, const char *text)
{
    static const char zeros[8];
    char cut[TEXT_MOST + 1];
    size_t length = strlen(text);
    if (length > TEXT_MOST) {
        length = TEXT_MOST;
        memcpy(cut, text, length);
        cut[length] = '\0';
        text = cut;
    }
    size_t known = assay__map_get(file->strings, text);
    if (known != ASSAY__MAP_NONE) return (uint32_t)known;
    const char *kept = file->string_count < STRINGS_MOST ? assay__arena_strdup(file->arena, text)
                                                         : NULL;
    if (!kept ||
        assay__vec_grow((void **)&file->texts, &file->text_capacity, file->string_count + 1u,
                        sizeof *file->texts) ||
        assay__map_set(file->strings, kept, file->string_count + 1u))
        return 0;
    file->texts[file->string_count] = kept;
    size_t padding = (8 - length % 8) % 8;
    struct assay__cpu_string record = {
        .head = {ASSAY__CPU_STRING, 0, (uint32_t)(sizeof record + length + padding)},
        .number = ++file->string_count,
        .length = (uint32_t)length};
    put(file, &record, sizeof record);
    put(file, text, length);
    put(file, zeros, padding);
    return record.number;
}

const char *assay__cpu_file_text(const struct assay__cpu_file *file, uint32_t number)
{
    return number && number <= file->string_count ? file->texts[number - 1] : "";
}

static void put_pending(struct assay__cpu_file *file)
{
    size_t bytes = file->pending_count * sizeof *file->pending;
    struct assay__cpu_samples record = {
        .head = {ASSAY__CPU_SAMPLES, 0, (uint32_t)(sizeof record + bytes)}};
    if (!file->pending_count) return;
    put(file, &record, sizeof record);
    put(file, file->pending, bytes);
    file->pending_count = 0;
}

void assay__cpu_file_sample(struct assay__cpu_file *file, const struct assay__cpu_sample *sample)
{
    file->pending[file->pending_count++] = *sample;
    if (file->pending_count == sizeof file->pending / sizeof *file->pending) put_pending(file);
}

void assay__cpu_file_flush(struct assay__cpu_file *file)
{
    put_pending(file);
    if (!file->reason && fflush(file->file)) file->reason = errno ? errno : EIO;
}

int assay__cpu_file_open(struct assay__cpu_file *file, const char *path, struct assay_error *error)
{
    struct assay__cpu_file_head head = {.version = ASSAY__CPU_FILE_VERSION,
                                        .head_bytes = sizeof head};
    memcpy(head.magic, ASSAY__CPU_FILE_MAGIC, sizeof head.magic);
    *file = (struct assay__cpu_file){.arena = assay__arena_new(), .strings = assay__map_new()};
    if (!file->arena || !file->strings) return assay__no_memory(error);
    file->file = fopen(path, "wbe");
    if (!file->file)
        return assay_error_set(error, ASSAY_EIO, "cannot write '%s': %s", path, strerror(errno));
    put(file, &head, sizeof head);
    return 0;
}

void assay__cpu_file_close(struct assay__cpu_file *file)
{
    if (file->file) {
        assay__cpu_file_flush(file);
        if (fclose(file->file) && !file->reason) file->reason = errno ? errno : EIO;
        file->file = NULL;
    }
    free(file->texts);
    assay__map_free(file->strings);
    assay__arena_free(file->arena);
    file->texts = NULL;
    file->strings = NULL;
    file->arena = NULL;
}
