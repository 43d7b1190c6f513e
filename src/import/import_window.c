/* import_window.c - the unused rest moves to the front, and the stream is read after it. */
#include "import/import_window.h"

#include <stdlib.h>
#include <string.h>

#define READ_BYTES ((size_t)256 << 10)

static int read_stream(void *from, char *to, size_t room, size_t *size, struct assay_error *error)
{
    return assay__import_read_into(from, to, room, size, error);
}

struct assay__import_window assay__import_window_over(struct assay__import_stream *stream,
                                                      struct assay_error *error)
{
    return (struct assay__import_window){.read = read_stream, .from = stream, .error = error};
}

void assay__import_window_free(struct assay__import_window *window)
{
    free(window->data);
    window->data = NULL;
    window->begin = window->end = window->capacity = 0;
}

static bool make_room(struct assay__import_window *window)
{
    size_t left = assay__import_window_left(window);
    if (left) memmove(window->data, window->data + window->begin, left);
    window->begin = 0;
    window->end = left;
    if (window->capacity - left >= READ_BYTES / 2) return true;
    size_t capacity = left < READ_BYTES ? 2 * READ_BYTES : 2 * left;
    char *data = capacity > left ? realloc(window->data, capacity) : NULL;
    if (!data) {
        window->code = assay_error_set(window->error, ASSAY_ENOMEM, "out of memory");
        return false;
    }
    window->data = data;
    window->capacity = capacity;
    return true;
}

bool assay__import_window_more(struct assay__import_window *window)
{
    size_t size = 0;
    if (window->at_end || window->code || !make_room(window)) return false;
    size_t room = window->capacity - window->end;
    window->code = window->read(window->from, window->data + window->end,
                                room < READ_BYTES ? room : READ_BYTES, &size, window->error);
    if (window->code) return false;
    window->end += size;
    window->at_end = size == 0;
    return size > 0;
}
