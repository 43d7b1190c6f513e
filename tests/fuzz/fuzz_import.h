/* fuzz_import.h - arbitrary bytes as a trace of one format. Importing must end without a crash, a
 * leak or a sanitizer's complaint; a refusal says why; what comes out keeps what events.h promises.
 * The bytes go through a file in memory, or (SQLite resolves links) one in $TMPDIR. */
#ifndef ASSAY_FUZZ_IMPORT_H
#define ASSAY_FUZZ_IMPORT_H

#include "import/import.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_check(int condition)
{
    if (!condition) abort();
}

static inline void fuzz_check_events(const struct assay__events *events)
{
    fuzz_check(events->sealed && events->source_count == 1);
    fuzz_check(events->sources[0].events == events->count && events->sources[0].clock[0] != '\0');
    for (size_t i = 0; i < events->count; i++) {
        int64_t end_ns;
        fuzz_check(i == 0 || events->start_ns[i - 1] <= events->start_ns[i]);
        fuzz_check(events->duration_ns[i] >= 0 && events->kind[i] < ASSAY__EVENT_KINDS);
        fuzz_check(!__builtin_add_overflow(events->start_ns[i], events->duration_ns[i], &end_ns));
        fuzz_check(events->track[i] < events->track_count);
        fuzz_check(assay__event_name(events, i) != NULL && assay__event_args(events, i) != NULL);
    }
    for (size_t i = 0; i < events->counter_count; i++) {
        const struct assay__trace_counter *counter = &events->counters[i];
        fuzz_check(counter->name && counter->unit && counter->count > 0);
        for (size_t k = 0; k < counter->count; k++) {
            fuzz_check(k == 0 || counter->times_ns[k - 1] <= counter->times_ns[k]);
            fuzz_check(counter->values[k] - counter->values[k] == 0); /* finite */
        }
    }
}

static inline void fuzz_import_path(const char *path, const char *format)
{
    struct assay__import_options options = {.format = format};
    struct assay_error error = {0};
    struct assay__events *events = NULL;
    int code = assay__import(&path, 1, &options, &events, &error);
    fuzz_check((code == 0) == (events != NULL) && (code != 0) == (error.message[0] != '\0'));
    fuzz_check(code != ASSAY_ENOMEM);
    if (events) fuzz_check_events(events);
    assay__events_free(events);
}

/* Every importer judges the bytes, the one of that name reads them. */
static inline int fuzz_import(const uint8_t *data, size_t size, const char *format)
{
    static int file = -1;
    static char path[64];
    size_t count = 0;
    const struct assay__importer *const *importers = assay__importers(&count);
    char *head = malloc(size ? size : 1); /* so that reading past the end is seen */
    fuzz_check(head != NULL);
    if (size) memcpy(head, data, size);
    for (size_t i = 0; i < count; i++)
        importers[i]->match(head, size < 65536 ? size : 65536);
    free(head);
    if (file < 0) file = memfd_create("trace", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fuzz_check(file >= 0 && ftruncate(file, 0) == 0 &&
               pwrite(file, data, size, 0) == (ssize_t)size);
    fuzz_import_path(path, format);
    return 0;
}

#endif
