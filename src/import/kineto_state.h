/* kineto_state.h - what the files of the Kineto importer share. */
#ifndef ASSAY_IMPORT_KINETO_STATE_H
#define ASSAY_IMPORT_KINETO_STATE_H

#include "base/buf.h"
#include "base/vec.h"
#include "import/chrome_reader.h"

struct assay__name_facts {
    bool known;
    enum assay__event_kind call; /* if it is a runtime call's name */
    uint32_t copy;               /* arguments, if it is a copy's */
};

struct assay__kineto_label { /* the name of a process (tid -1) or a thread */
    int64_t pid, tid;
    const char *name; /* interned */
    size_t order;     /* of arrival */
    bool is_process;
};

struct assay__kineto_open { /* an event that has begun */
    struct assay__event row;
    uint32_t name;
    uint32_t below; /* what began before it on its thread: number + 1; 0: nothing */
};

struct assay__kineto {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__chrome_reader reader;
    struct assay__buf text; /* a name without its escapes */
    size_t first_event, first_track;
    int32_t rank;
    struct assay__name_facts *facts; /* by number of the name */
    size_t facts_capacity;
    struct assay__kineto_label *labels;
    size_t label_count, label_capacity;
    struct assay__kineto_open *open;
    size_t open_count, open_capacity;
    uint32_t *tops, free_open; /* by track: what began last; a place to use again; number + 1 */
    size_t top_capacity;
    uint64_t unfinished;
    const char **devices; /* names by ordinal; NULL: unknown */
    size_t device_capacity;
    int64_t base_ns;
    bool has_base, is_pytorch, has_streams;
    bool has_lanes;       /* devices are processes, as TensorFlow and JAX write them */
    int cuda_version;     /* 13000; 0: unknown */
    const char *producer; /* as the file says it; NULL: it does not */
};

void assay__kineto_free(struct assay__kineto *kineto);
const char *assay__kineto_keep(struct assay__kineto *kineto, const struct assay__scan_value *value);
/** What identifies a process or thread: a number as it is; a text is a number below -1 of its own;
 *  nothing is -1. */
int64_t assay__kineto_identity(struct assay__kineto *kineto, const struct assay__scan_value *value);
/** M: remembers the name of a process or thread. */
void assay__kineto_name(struct assay__kineto *kineto, const struct assay__chrome_event *event);
/** B and E: what began last on the thread (a track) ends first. */
void assay__kineto_begin(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                         const struct assay__event *row, uint32_t name, uint32_t thread);
void assay__kineto_end(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                       uint32_t thread);
/** An event without a category: what its name and arguments say. */
void assay__kineto_describe_xla(struct assay__kineto *kineto,
                                const struct assay__chrome_event *event, uint32_t name,
                                struct assay__event *row);
/** A member of the outermost object: devices, rank, versions, clock. */
void assay__kineto_member(void *data, const struct assay__scan_value *key,
                          const struct assay__scan_value *value);
/** Names the tracks, settles kinds that depend on names, fills in the source. */
int assay__kineto_finish(struct assay__kineto *kineto, struct assay_error *error);

#endif
