/* chrome_reader.h - reads a Chrome trace (JSON, "Trace Event Format") event by event from a stream:
 * the object form {"traceEvents": [ … ], "key": value} and the bare array. What a member means is
 * the importer's business; here its text is found. Kineto, TensorFlow, JAX and ONNX Runtime write
 * this format.
 *
 * An event that is not JSON is counted and reading goes on with the next one; text that ends within
 * an event, or before the brackets are closed, is truncated. The end of the array may be missing,
 * as the format allows. */
#ifndef ASSAY_IMPORT_CHROME_READER_H
#define ASSAY_IMPORT_CHROME_READER_H

#include "base/buf.h"
#include "import/import.h"
#include "import/json_scan.h"

/* X(slot, where, key): members that importers want; where is EVENT or ARGS */
#define ASSAY__CHROME_SLOTS(X)                \
    X(PHASE, EVENT, "ph")                     \
    X(NAME, EVENT, "name")                    \
    X(CATEGORY, EVENT, "cat")                 \
    X(PID, EVENT, "pid")                      \
    X(TID, EVENT, "tid")                      \
    X(START, EVENT, "ts")                     \
    X(DURATION, EVENT, "dur")                 \
    X(ARGS, EVENT, "args")                    \
    X(CORRELATION, ARGS, "correlation")       \
    X(STREAM, ARGS, "stream")                 \
    X(DEVICE, ARGS, "device")                 \
    X(BYTES, ARGS, "bytes")                   \
    X(SIZE, ARGS, "size")                     \
    X(GRID, ARGS, "grid")                     \
    X(BLOCK, ARGS, "block")                   \
    X(FLOPS, ARGS, "flops")                   \
    X(DIMS, ARGS, "Input Dims")               \
    X(TYPES, ARGS, "Input type")              \
    X(COLLECTIVE, ARGS, "Collective name")    \
    X(DTYPE, ARGS, "dtype")                   \
    X(GROUP_SIZE, ARGS, "Group size")         \
    X(IN_ELEMENTS, ARGS, "In msg nelems")     \
    X(MEMORY_BYTES, ARGS, "Bytes")            \
    X(MEMORY_DEVICE, ARGS, "Device Id")       \
    X(MEMORY_TOTAL, ARGS, "Total Allocated")  \
    X(LABEL, ARGS, "name")                    \
    X(LABELS, ARGS, "labels")                 \
    X(OP_NAME, ARGS, "op_name")               \
    X(PROVIDER, ARGS, "provider")             \
    X(TYPE_SHAPES, ARGS, "input_type_shape")  \
    X(KERNEL_DETAILS, ARGS, "kernel_details") \
    X(MEMCPY_DETAILS, ARGS, "memcpy_details") \
    X(GRID_X, ARGS, "grid_x")                 \
    X(GRID_Y, ARGS, "grid_y")                 \
    X(GRID_Z, ARGS, "grid_z")                 \
    X(BLOCK_X, ARGS, "block_x")               \
    X(BLOCK_Y, ARGS, "block_y")               \
    X(BLOCK_Z, ARGS, "block_z")               \
    X(CORRELATION_ID, ARGS, "correlation_id")

enum assay__chrome_slot {
#define ASSAY__CHROME_SLOT(slot, where, key) ASSAY__CHROME_##slot,
    ASSAY__CHROME_SLOTS(ASSAY__CHROME_SLOT)
#undef ASSAY__CHROME_SLOT
        ASSAY__CHROME_SLOT_COUNT
};

/** An event; its texts are valid while the callback runs. */
struct assay__chrome_event {
    uint64_t present; /* a bit for each slot */
    struct assay__scan_value slots[ASSAY__CHROME_SLOT_COUNT];
};

struct assay__chrome_reader {
    void *data; /* the callbacks' */
    void (*event)(void *data, const struct assay__chrome_event *event);
    /** A member of the outermost object other than traceEvents; NULL: not wanted. */
    void (*member)(void *data, const struct assay__scan_value *key,
                   const struct assay__scan_value *value);
    uint64_t seen;       /* events that were given to the callback */
    uint64_t skipped;    /* pieces that are no event */
    char complaint[160]; /* the first reason; "": none */
    bool truncated;
    bool is_array; /* the bare form */
};

/** 0 even where the text is broken; the error is the file system's, or memory. */
int assay__chrome_read(struct assay__import_stream *stream, struct assay__chrome_reader *reader,
                       struct assay_error *error);
/** Records the first reason. */
void assay__chrome_complain(struct assay__chrome_reader *reader, const char *format, ...)
    ASSAY_PRINTF(2, 3);

static inline const struct assay__scan_value *assay__chrome_get(
    const struct assay__chrome_event *event, enum assay__chrome_slot slot)
{
    return event->present >> slot & 1 ? &event->slots[slot] : NULL;
}

/** The next member of an object: *at is just past its "{" or past the previous member. False at the
 *  end of the object, or where it is malformed. The whole object is in memory, with its "}". */
bool assay__scan_member(const char **at, const char *end, struct assay__scan_value *key,
                        struct assay__scan_value *value);
/** value (NULL: unknown) times 10^scale, rounded to an integer without passing through a double:
 *  digits, a fraction, an exponent, quotes around it. False if it is not a number or does not fit.
 */
bool assay__scan_decimal(const struct assay__scan_value *value, int scale, int64_t *out);
/** As a double. False if it is not a finite number. */
bool assay__scan_double(const struct assay__scan_value *value, double *out);
/** Up to `count` numbers of an array ([1, 2, 3]); how many there were. */
size_t assay__scan_numbers(const struct assay__scan_value *value, int64_t *out, size_t count);
/** The text of a string without its escapes, at most `room` - 1 bytes and a NUL; its length. The
 *  text of any other value is copied as it is. */
size_t assay__scan_text(const struct assay__scan_value *value, char *out, size_t room);
bool assay__scan_is(const struct assay__scan_value *value, const char *text);
/** As an integer; `otherwise` if it is not one. */
static inline int64_t assay__scan_integer(const struct assay__scan_value *value, int64_t otherwise)
{
    int64_t number;
    return assay__scan_decimal(value, 0, &number) ? number : otherwise;
}
/** The number of the text in the store, without its escapes; `scratch` is used for those.
 *  ASSAY__EVENT_UNKNOWN if value is NULL, or on an error, which stays in the store. */
uint32_t assay__chrome_intern(struct assay__events *events, struct assay__buf *scratch,
                              const struct assay__scan_value *value);
/** The same as a text; NULL: unknown. */
const char *assay__chrome_keep(struct assay__events *events, struct assay__buf *scratch,
                               const struct assay__scan_value *value);

#endif
