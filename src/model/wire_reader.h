/* wire_reader.h - reading a file of protobuf messages (ONNX, Core ML) with one error for all of it.
 * The first error sticks: `code` and the caller's error are set, and from then on
 * assay__reader_next finds no more fields. Readers of messages return nothing; the outermost caller
 * checks `code` at the end. */
#ifndef ASSAY_MODEL_WIRE_READER_H
#define ASSAY_MODEL_WIRE_READER_H

#include "base/arena.h"
#include "model/wire.h"

#include <assay/error.h>

struct assay__reader {
    struct assay__arena *arena;
    const uint8_t *base; /* start of the file, for byte offsets in messages */
    const char *label;   /* the path, or "model" */
    struct assay_error *error;
    int code;  /* 0, or the first error */
    int depth; /* of graphs within graphs */
    size_t nodes;
    bool decode; /* typed tensor fields into the arena */
};

/** "LABEL: damaged model: … (byte N)"; ASSAY_EFORMAT. All three return the reader's code. */
int assay__reader_fail(struct assay__reader *reader, const uint8_t *at, const char *format, ...)
    ASSAY_PRINTF(3, 4);
/** "LABEL: …" with another code. */
int assay__reader_refuse(struct assay__reader *reader, int code, const char *format, ...)
    ASSAY_PRINTF(3, 4);
int assay__reader_no_memory(struct assay__reader *reader);

/** false at the end of the message and after any error; `what` names the message for people. */
bool assay__reader_next(struct assay__reader *reader, struct assay__wire *wire,
                        struct assay__wire_field *field, const char *what);
/** Checks that the field is of type 2; an error otherwise. */
bool assay__reader_message(struct assay__reader *reader, const struct assay__wire_field *field);
/** A copy in the arena; "" after an error. */
const char *assay__reader_text(struct assay__reader *reader, const struct assay__wire_field *field);
/** 0 after an error. */
int64_t assay__reader_int(struct assay__reader *reader, const struct assay__wire_field *field);

/** Zeroed, in the arena; NULL after an error. */
void *assay__reader_array(struct assay__reader *reader, size_t count, size_t size);
/** In the arena; "" after an error. */
const char *assay__reader_printf(struct assay__reader *reader, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** How many fields with that number the message has. */
size_t assay__reader_count(struct assay__reader *reader, const struct assay__wire_field *message,
                           uint32_t number, const char *what);

#endif
