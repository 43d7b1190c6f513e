/* cpu_file.h - writes the file of the CPU recorder (base/cpu_trace.h). Errors stick: after the
 * first (a full disk) nothing more is written, and what was written remains readable. */
#ifndef ASSAY_RUN_TRACING_CPU_FILE_H
#define ASSAY_RUN_TRACING_CPU_FILE_H

#include "base/arena.h"
#include "base/cpu_trace.h"
#include "base/map.h"

#include <assay/error.h>
#include <stdio.h>

struct assay__cpu_file {
    FILE *file;
    int reason; /* errno of what failed; 0: nothing has */
    struct assay__arena *arena;
    struct assay__map *strings; /* text -> number */
    const char **texts;         /* by number - 1 */
    size_t text_capacity;
    uint32_t string_count;
    struct assay__cpu_sample pending[512];
    size_t pending_count;
};

int assay__cpu_file_open(struct assay__cpu_file *file, const char *path, struct assay_error *error);
/** The text's number, written when it is new; 0: there is no room for it. */
uint32_t assay__cpu_file_string(struct assay__cpu_file *file, const char *text);
/** The text of a number; "" of none. */
const char *assay__cpu_file_text(const struct assay__cpu_file *file, uint32_t number);
/** A record of a fixed length, whose head is filled in here. */
void assay__cpu_file_put(struct assay__cpu_file *file, enum assay__cpu_record_type type,
                         void *record, size_t bytes);
void assay__cpu_file_sample(struct assay__cpu_file *file, const struct assay__cpu_sample *sample);
/** Samples that wait are written, and handed to the system. */
void assay__cpu_file_flush(struct assay__cpu_file *file);
void assay__cpu_file_close(struct assay__cpu_file *file);

#endif
