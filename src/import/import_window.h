/* import_window.h - a window over the bytes of a stream, for readers of lines, elements, packets
 * and samples: what has not been used yet stays in one piece while more is appended. Its memory is
 * the longest piece that a reader keeps. */
#ifndef ASSAY_IMPORT_WINDOW_H
#define ASSAY_IMPORT_WINDOW_H

#include "import/import.h"

/** assay__import_read_into, or a test's own. */
typedef int assay__import_source_fn(void *from, char *to, size_t room, size_t *size,
                                    struct assay_error *error);

struct assay__import_window {
    assay__import_source_fn *read;
    void *from;
    char *data;
    size_t begin, end, capacity; /* data[begin … end) has not been used */
    uint64_t passed;             /* bytes of the stream before data[begin] */
    bool at_end;                 /* of the stream */
    int code;                    /* the first error: the file system's, or memory */
    struct assay_error *error;
};

struct assay__import_window assay__import_window_over(struct assay__import_stream *stream,
                                                      struct assay_error *error);
void assay__import_window_free(struct assay__import_window *window);

/** Appends what comes next. False at the end of the stream and after an error. What was in the
 *  window may move. */
bool assay__import_window_more(struct assay__import_window *window);

static inline const char *assay__import_window_at(const struct assay__import_window *window)
{
    return window->data + window->begin;
}
static inline size_t assay__import_window_left(const struct assay__import_window *window)
{
    return window->end - window->begin;
}
static inline void assay__import_window_use(struct assay__import_window *window, size_t bytes)
{
    window->begin += bytes;
    window->passed += bytes;
}

#endif
