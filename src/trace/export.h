/* export.h - a sealed event store as a file of another viewer. An exporter is one file with its
 * `const struct assay__exporter assay__exporter_NAME` and a row in exporters.h. The output is
 * streamed: beside the store it takes a few bytes an event (nesting.h) and what is buffered. */
#ifndef ASSAY_TRACE_EXPORT_H
#define ASSAY_TRACE_EXPORT_H

#include "base/buf.h"
#include "trace/nesting.h"

/** Takes the next bytes of the output. 0, or a negative code with *error filled in. */
typedef int assay__export_write(void *context, const void *bytes, size_t size,
                                struct assay_error *error);

/** An export under way. Errors stick; an exporter need not look at them. */
struct assay__export {
    const struct assay__events *events;
    struct assay__nesting nesting;
    int64_t begin_ns;      /* the earliest start and sample; 0: there are neither */
    int64_t end_ns;        /* the last end */
    bool ranks;            /* there are several */
    struct assay__buf out; /* appended to by the exporter */
    assay__export_write *write;
    void *context;
    struct assay_error error; /* code 0: none */
};

struct assay__exporter {
    const char *name;      /* "perfetto" */
    const char *title;     /* "Perfetto protobuf, for ui.perfetto.dev" */
    const char *extension; /* of its files: "perfetto-trace" */
    void (*run)(struct assay__export *to);
};

/** Exports in the format of that name. ASSAY_EINVAL names those there are; else what `write`
 *  returned, or ASSAY_ENOMEM. */
int assay__export(const struct assay__events *events, const char *format,
                  assay__export_write *write, void *context, struct assay_error *error);
/** Every exporter, in the order of exporters.h; *count of them. */
const struct assay__exporter *const *assay__exporters(size_t *count);
/** A writer for assay__export; context: a FILE open for writing. */
assay__export_write assay__export_to_file;

/* --- for exporters ---------------------------------------------------------------------------- */

/** Passes the buffer on once it is large; to be called between events. */
void assay__export_flush(struct assay__export *to);
/** Whether it has failed: going on is pointless. */
bool assay__export_failed(const struct assay__export *to);
/** A time relative to the first one of all, which always fits into 64 bits. */
static inline uint64_t assay__export_since(const struct assay__export *to, int64_t time_ns)
{
    return (uint64_t)time_ns - (uint64_t)to->begin_ns;
}
/** Marks it as out of memory. */
void assay__export_no_memory(struct assay__export *to);
/** What a track is called: "stream 7", "thread 1234". Into `out`, which is cleared. */
void assay__export_track_name(struct assay__export *to, uint32_t track, struct assay__buf *out);
/** What the process or device of a track is called: "python3 (1234)", "NVIDIA H200"; of
 *  several ranks "rank 1 · …". */
void assay__export_group_name(struct assay__export *to, uint32_t track, struct assay__buf *out);

#endif
