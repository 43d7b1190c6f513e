/* xctrace_values.h - the cells of an xctrace export. A cell is <TYPE id="5" fmt="for people">raw
 * </TYPE>, or <TYPE ref="5"/> for what an earlier element with that id was, or <sentinel/> for an
 * unknown value. Ids count from 0 or 1 through the whole document, nested elements included. What
 * an element was is kept in 16 bytes; texts are interned in the store. */
#ifndef ASSAY_IMPORT_XCTRACE_VALUES_H
#define ASSAY_IMPORT_XCTRACE_VALUES_H

#include "base/buf.h"
#include "import/xml_scan.h"
#include "trace/events.h"

enum assay__xctrace_kind {
    ASSAY__XCTRACE_UNKNOWN, /* a sentinel, or an element without a value that is wanted */
    ASSAY__XCTRACE_NUMBER,
    ASSAY__XCTRACE_TEXT,
    ASSAY__XCTRACE_STACK, /* text: "main;run;work"; other: the innermost frame's */
    ASSAY__XCTRACE_OWNER  /* a process or a thread; other: its number among the owners */
};

struct assay__xctrace_value {
    union {
        int64_t number;
        struct {
            uint32_t text, other; /* text: of assay__events_intern */
        };
    };
    uint16_t type; /* number of the element's name; 0: no such id */
    uint8_t kind;
};

struct assay__xctrace_owner {
    int64_t pid, tid;       /* -1: unknown */
    uint32_t name, process; /* "Main Thread 0x1 (app, pid: 7)", "app (7)"; or unknown */
};

/** What an element's content is taken for. */
enum assay__xctrace_role {
    ASSAY__XCTRACE_ANY, /* a number, if it is one */
    ASSAY__XCTRACE_IS_NUMBER,
    ASSAY__XCTRACE_IS_TEXT,
    ASSAY__XCTRACE_IS_LABEL, /* a text without what tells one execution from the next */
    ASSAY__XCTRACE_IS_PROCESS,
    ASSAY__XCTRACE_IS_THREAD,
    ASSAY__XCTRACE_IS_FRAME,
    ASSAY__XCTRACE_IS_STACK,    /* of frames, or of one inner stack */
    ASSAY__XCTRACE_IS_ADDRESSES /* "4312812560 4312780516": a stack without names */
};

struct assay__xctrace_type {
    char name[48];
    enum assay__xctrace_role role;
};

struct assay__xctrace_values {
    struct assay__events *events;
    struct assay__xctrace_value *values; /* by id */
    size_t count, capacity;
    struct assay__xctrace_owner *owners;
    size_t owner_count, owner_kept, owner_capacity; /* kept: those of elements with an id */
    struct assay__xctrace_type *types;              /* 0 is none */
    size_t type_count, type_capacity;
    uint16_t type_index[1024]; /* by the hash of the name, as far as there are no collisions */
    uint32_t *frames;          /* of the stacks that are being read: names */
    size_t frame_count, frame_capacity;
    struct assay__buf text;
    uint64_t defined; /* ids */
    uint64_t faults;
    const char *complaint; /* static; NULL: none */
    bool failed;           /* out of memory */
};

void assay__xctrace_values_free(struct assay__xctrace_values *values);
/** Forgets all ids: another document begins. */
void assay__xctrace_values_reset(struct assay__xctrace_values *values);
/** The number of an element's name, never 0; UINT16_MAX when there are too many. The hash is any
 *  that is the same for the same name; 0 if there is none. */
uint16_t assay__xctrace_type(struct assay__xctrace_values *values, struct assay__xml_text name,
                             uint32_t hash);
/** Reads the element that just began to its end. A `wanted` other than ANY applies if its name says
 *  nothing. */
struct assay__xctrace_value assay__xctrace_read(struct assay__xctrace_values *values,
                                                struct assay__xml *xml,
                                                enum assay__xctrace_role wanted);
/** What has no id is forgotten: a row is over. */
static inline void assay__xctrace_forget(struct assay__xctrace_values *values)
{
    values->owner_count = values->owner_kept;
}
/** NULL: not an owner. */
const struct assay__xctrace_owner *assay__xctrace_owner(const struct assay__xctrace_values *values,
                                                        const struct assay__xctrace_value *value);
/** Whole decimal digits, perhaps with a sign. False: none, or beyond 64 bits. */
bool assay__xctrace_integer(struct assay__xml_text text, int64_t *number);

#endif
