/* chrome_reader.c - a window over the stream, in which one event after the other is taken apart in
 * a single pass. An event that reaches beyond the window is moved to its front and read again when
 * more text is there. Memory: the window, which grows to the largest event, at most
 * MOST_WINDOW bytes. */
#include "import/chrome_reader.h"

#include "base/no_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_WINDOW = 256 << 10, MOST_WINDOW = 8 << 20 };

struct window {
    struct assay__import_stream *stream;
    char *data;
    size_t capacity;      /* without the padding */
    const char *at, *end; /* what is not yet used */
    uint64_t offset;      /* of `end` in the text */
    bool ended;
};

void assay__chrome_complain(struct assay__chrome_reader *reader, const char *format, ...)
{
    va_list args;
    if (reader->complaint[0]) return;
    va_start(args, format);
    vsnprintf(reader->complaint, sizeof reader->complaint, format, args);
    va_end(args);
}

static unsigned long long offset_of(const struct window *window, const char *at)
{
    return (unsigned long long)(window->offset - (uint64_t)(window->end - at));
}

/* --- the window ------------------------------------------------------------------------------- */

static bool window_resize(struct window *window, size_t capacity)
{
    size_t used = (size_t)(window->end - window->at);
    char *data = malloc(capacity + ASSAY__SCAN_PADDING);
    if (!data) return false;
    if (used) memcpy(data, window->at, used);
    free(window->data);
    window->data = data;
    window->capacity = capacity;
    window->at = data;
    window->end = data + used;
    return true;
}

static bool window_is_full(const struct window *window)
{
    return (size_t)(window->end - window->at) >= MOST_WINDOW;
}

/* Moves what is not yet used to the front and reads more after it. Nothing more: `ended` is set. */
static int window_fill(struct window *window, struct assay_error *error)
{
    size_t used = (size_t)(window->end - window->at), got = 0;
    if (window->ended) return 0;
    if (used == window->capacity) {
        if (!window_resize(window, window->capacity * 2)) return assay__no_memory(error);
    } else if (window->at != window->data) {
        memmove(window->data, window->at, used);
        window->at = window->data;
    }
    char *to = window->data + used;
    int code = assay__import_read_into(window->stream, to, window->capacity - used, &got, error);
    window->end = to + got;
    memset(to + got, 0xff, ASSAY__SCAN_PADDING);
    window->offset += got;
    window->ended = !code && !got;
    return code;
}

/* The next character that is not white space; NUL: there is none. */
static int window_peek(struct window *window, char *c, struct assay_error *error)
{
    for (;;) {
        if (window->at < window->end) window->at = assay__scan_space(window->at);
        if (window->at < window->end) {
            *c = *window->at;
            return 0;
        }
        window->at = window->end;
        *c = 0;
        if (window->ended) return 0;
        int code = window_fill(window, error);
        if (code) return code;
    }
}

/* --- one event -------------------------------------------------------------------------------- */

enum outcome { COMPLETE, MORE, BROKEN };

struct slot_key {
    const char *key;
    unsigned char length, slot;
};

enum { EVENT, ARGS, KEY_TABLE = 128 };
#define ROW(slot, where, key) {key, sizeof key - 1, ASSAY__CHROME_##slot},
#define ONLY_EVENT(slot, where, key) ONLY_EVENT_##where(slot, where, key)
#define ONLY_EVENT_EVENT(slot, where, key) ROW(slot, where, key)
#define ONLY_EVENT_ARGS(slot, where, key)
#define ONLY_ARGS(slot, where, key) ONLY_ARGS_##where(slot, where, key)
#define ONLY_ARGS_EVENT(slot, where, key)
#define ONLY_ARGS_ARGS(slot, where, key) ROW(slot, where, key)
static const struct slot_key event_keys[] = {ASSAY__CHROME_SLOTS(ONLY_EVENT)};
static const struct slot_key args_keys[] = {ASSAY__CHROME_SLOTS(ONLY_ARGS)};

/* Members wanted, by a hash of length and two characters: most keys are refused by one look. */
struct key_table {
    const struct slot_key *rows[KEY_TABLE]; /* open addressing */
};

static size_t key_hash(const char *key, size_t length)
{
    return (length * 7 + (unsigned char)key[0] + (unsigned char)key[length - 1] * 3u) % KEY_TABLE;
}

static void key_table_add(struct key_table *table, const struct slot_key *row)
{
    size_t at = key_hash(row->key, row->length);
    while (table->rows[at])
        at = (at + 1) % KEY_TABLE;
    table->rows[at] = row;
}

struct tables {
    struct key_table event, args;
};

static void fill_tables(struct tables *tables)
{
    memset(tables, 0, sizeof *tables);
    for (size_t i = 0; i < sizeof event_keys / sizeof *event_keys; i++)
        key_table_add(&tables->event, &event_keys[i]);
    for (size_t i = 0; i < sizeof args_keys / sizeof *args_keys; i++)
        key_table_add(&tables->args, &args_keys[i]);
}

/* The slot of a member, or -1. */
static inline int slot_of(const struct key_table *table, const char *key, size_t length)
{
    if (!length) return -1;
    for (size_t at = key_hash(key, length); table->rows[at]; at = (at + 1) % KEY_TABLE) {
        const struct slot_key *row = table->rows[at];
        if (row->length == length && !memcmp(row->key, key, length)) return row->slot;
    }
    return -1;
}

/* Just past the colon of a member whose key begins at *at (its quote). */
static inline enum outcome read_key(const char **at, const char *end, const char **key,
                                    size_t *length)
{
    bool escaped = false;
    if (**at != '"') return *at >= end ? MORE : BROKEN;
    *key = *at + 1;
    const char *close = assay__scan_string(*key, end, &escaped);
    if (close >= end) return MORE;
    *length = (size_t)(close - *key);
    const char *colon = assay__scan_space(close + 1);
    if (*colon != ':') return colon >= end ? MORE : BROKEN;
    *at = assay__scan_space(colon + 1);
    return *at >= end ? MORE : COMPLETE;
}

/* Just past a member: its comma and white space, or the "}" (*closed, after it). */
static inline enum outcome end_member(const char **at, const char *end, bool *closed)
{
    *at = assay__scan_space(*at);
    *closed = **at == '}';
    if (**at != ',' && !*closed) return *at >= end ? MORE : BROKEN;
    ++*at;
    if (*closed) return COMPLETE;
    *at = assay__scan_space(*at);
    *closed = **at == '}'; /* a comma too many */
    *at += *closed;
    return COMPLETE;
}

static enum outcome read_args(const struct tables *tables, const char **at, const char *end,
                              struct assay__chrome_event *event);

/* A member's value into its slot; the members of args into theirs. */
static inline enum outcome read_member(const struct tables *tables, bool in_args, int slot,
                                       const char **at, const char *end,
                                       struct assay__chrome_event *event)
{
    /* cppcheck-suppress uninitvar ; only its address is taken: the scanner fills it */
    struct assay__scan_value ignored, *value = slot < 0 ? &ignored : &event->slots[slot];
    if (!in_args && slot == ASSAY__CHROME_ARGS && **at == '{') {
        const char *begin = *at;
        enum outcome outcome = read_args(tables, at, end, event);
        *value = (struct assay__scan_value){begin, (size_t)(*at - begin), '{', false};
        event->present |= (uint64_t)1 << slot;
        return outcome;
    }
    const char *behind = assay__scan_value(*at, end, value);
    if (!behind) return BROKEN;
    if (behind > end) return MORE;
    *at = behind;
    if (slot >= 0) event->present |= (uint64_t)1 << slot;
    return COMPLETE;
}

/* The object whose "{" is at *at. */
static inline enum outcome read_object(const struct tables *tables, bool in_args, const char **at,
                                       const char *end, struct assay__chrome_event *event)
{
    const struct key_table *table = in_args ? &tables->args : &tables->event;
    bool closed;
    *at = assay__scan_space(*at + 1);
    closed = **at == '}';
    *at += closed;
    while (!closed) {
        const char *key;
        size_t length;
        enum outcome outcome = read_key(at, end, &key, &length);
        if (outcome != COMPLETE) return outcome;
        outcome = read_member(tables, in_args, slot_of(table, key, length), at, end, event);
        if (outcome != COMPLETE) return outcome;
        outcome = end_member(at, end, &closed);
        if (outcome != COMPLETE) return outcome;
    }
    return COMPLETE;
}

static enum outcome read_args(const struct tables *tables, const char **at, const char *end,
                              struct assay__chrome_event *event)
{
    return read_object(tables, true, at, end, event);
}

/* --- the array of events ---------------------------------------------------------------------- */

struct reading {
    struct assay__chrome_reader *reader;
    struct window window;
    struct tables tables;
    bool had_list; /* of events */
};

/* Just past a piece that is not an event, to where one may begin: a comma, "{" and a quote with
 * nothing but white space between; in a string the quote would be escaped. False: there is none in
 * the window. */
static bool find_next(struct window *window)
{
    const char *at = window->at + 1, *open;
    for (; at < window->end; at = open + 1) {
        open = memchr(at, '{', (size_t)(window->end - at));
        if (!open) return false;
        const char *before = open - 1;
        while (before > window->at && (unsigned char)*before <= ' ')
            before--;
        if (*before != ',' || *assay__scan_space(open + 1) != '"') continue;
        window->at = open;
        return true;
    }
    return false;
}

enum { SEAM = 256 }; /* bytes that are kept when a window without a beginning is left behind */

static int resynchronise(struct reading *reading, struct assay_error *error)
{
    struct window *window = &reading->window;
    reading->reader->skipped++;
    while (!find_next(window)) {
        if (window->end - window->at > SEAM) window->at = window->end - SEAM;
        int code = window_fill(window, error);
        if (code) return code;
        if (window->ended) {
            window->at = window->end;
            reading->reader->truncated = true;
            return 0;
        }
    }
    return 0;
}

/* The event at the window's front. */
static int read_event(struct reading *reading, struct assay_error *error)
{
    struct window *window = &reading->window;
    struct assay__chrome_reader *reader = reading->reader;
    for (;;) {
        struct assay__chrome_event event;
        event.present = 0;
        const char *at = window->at;
        enum outcome outcome = read_object(&reading->tables, false, &at, window->end, &event);
        if (outcome == COMPLETE) {
            bool filler = *assay__scan_space(window->at + 1) == '}'; /* {}: TensorFlow's last one */
            window->at = at;
            reader->seen++;
            if (!filler) reader->event(reader->data, &event);
            return 0;
        }
        if (outcome == MORE && !window->ended && !window_is_full(window)) {
            int code = window_fill(window, error);
            if (code) return code;
            continue;
        }
        if (outcome == MORE && window->ended)
            assay__chrome_complain(reader, "the text ends within the event at byte %llu",
                                   offset_of(window, window->at));
        else if (outcome == MORE)
            assay__chrome_complain(reader, "the event at byte %llu is larger than %d MiB",
                                   offset_of(window, window->at), MOST_WINDOW >> 20);
        else
            assay__chrome_complain(reader, "the event at byte %llu is broken at byte %llu",
                                   offset_of(window, window->at), offset_of(window, at));
        return resynchronise(reading, error);
    }
}

/* All events; the window is after the "[". */
static int read_events(struct reading *reading, struct assay_error *error)
{
    struct window *window = &reading->window;
    struct assay__chrome_reader *reader = reading->reader;
    for (;;) {
        char c;
        int code = window_peek(window, &c, error);
        if (code) return code;
        if (c == '{') {
            code = read_event(reading, error);
        } else if (c == ',') {
            window->at++;
        } else if (c == ']') {
            window->at++;
            return 0;
        } else if (!c) {
            if (!reader->is_array) {
                reader->truncated = true;
                assay__chrome_complain(reader, "the text ends within the list of events");
            }
            return 0;
        } else {
            assay__chrome_complain(reader, "no event at byte %llu", offset_of(window, window->at));
            code = resynchronise(reading, error);
        }
        if (code) return code;
    }
}

/* --- the object around it --------------------------------------------------------------------- */

struct skipper {
    size_t depth;
    bool in_string, escape;
};

/* One character of a value that is left out; true: it ended there. */
static bool skip_step(struct skipper *state, char c)
{
    if (state->escape) {
        state->escape = false;
    } else if (state->in_string) {
        if (c == '\\')
            state->escape = true;
        else if (c == '"')
            state->in_string = false;
    } else if (c == '"') {
        state->in_string = true;
    } else if (c == '{' || c == '[') {
        state->depth++;
    } else if (c == '}' || c == ']') {
        return --state->depth == 0;
    }
    return !state->depth && !state->in_string && c == '"';
}

/* A value of any size, whose first character is a bracket or a quote. */
static int skip_large(struct window *window, struct assay_error *error)
{
    struct skipper state = {0};
    while (!window->ended) {
        while (window->at < window->end)
            if (skip_step(&state, *window->at++)) return 0;
        int code = window_fill(window, error);
        if (code) return code;
    }
    return 0;
}

/* Moves the window past the "[" of the list of events, wherever it is. False: it is not in the
 * window. */
static bool find_list(struct window *window)
{
    static const char key[] = "\"traceEvents\"";
    const char *at = window->at;
    while ((at = memmem(at, (size_t)(window->end - at), key, sizeof key - 1))) {
        at += sizeof key - 1;
        const char *colon = assay__scan_space(at);
        const char *open = *colon == ':' ? assay__scan_space(colon + 1) : colon;
        if (*open != '[') continue;
        window->at = open + 1;
        return true;
    }
    return false;
}

/* After text that is not JSON: the list may still come. */
static int seek_list(struct window *window, bool *found, struct assay_error *error)
{
    int code = 0;
    *found = find_list(window);
    while (!code && !*found && !window->ended) {
        if (window->end - window->at > SEAM) window->at = window->end - SEAM;
        code = window_fill(window, error);
        if (!code) *found = find_list(window);
    }
    return code;
}

enum member { MEMBER, LIST, INCOMPLETE, BAD };

/* The member whose key is at the window's front. *value_at: where its value begins. */
static enum member try_member(struct reading *reading, const char **value_at)
{
    struct window *window = &reading->window;
    struct assay__chrome_reader *reader = reading->reader;
    struct assay__scan_value key = {.kind = '"'}, value;
    const char *at = window->at;
    *value_at = NULL;
    enum outcome outcome = read_key(&at, window->end, &key.text, &key.length);
    if (outcome != COMPLETE) return outcome == MORE ? INCOMPLETE : BAD;
    *value_at = at;
    if (assay__scan_is(&key, "traceEvents") && *at == '[') {
        window->at = at + 1;
        return LIST;
    }
    const char *behind = assay__scan_value(at, window->end, &value);
    if (!behind) return BAD;
    if (behind > window->end) return INCOMPLETE;
    window->at = behind;
    if (reader->member) reader->member(reader->data, &key, &value);
    return MEMBER;
}

/* One member of the outermost object. *list: it is the list of events, and the window is behind its
 * "["; *end: nothing more can be read. */
static int read_outside(struct reading *reading, bool *list, bool *end, struct assay_error *error)
{
    struct window *window = &reading->window;
    const char *value_at;
    enum member member = try_member(reading, &value_at);
    int code = 0;
    *list = *end = false;
    while (member == INCOMPLETE && !window->ended && !window_is_full(window) && !code) {
        code = window_fill(window, error);
        if (!code) member = try_member(reading, &value_at);
    }
    *list = member == LIST;
    if (code || member == MEMBER || *list) return code;
    if (member == INCOMPLETE && !window->ended && value_at && !find_list(window)) {
        window->at = value_at;
        return skip_large(window, error);
    }
    assay__chrome_complain(reading->reader, "no JSON at byte %llu", offset_of(window, window->at));
    reading->reader->truncated |= window->ended;
    *end = reading->had_list;
    if (*end) return 0;
    code = seek_list(window, list, error);
    *end = !*list;
    return code;
}

static int read_outermost(struct reading *reading, struct assay_error *error)
{
    struct window *window = &reading->window;
    for (bool list, end = false; !end;) {
        char c;
        int code = window_peek(window, &c, error);
        if (code) return code;
        if (c == '}') {
            window->at++;
            return 0;
        }
        if (!c) {
            reading->reader->truncated = true;
            assay__chrome_complain(reading->reader, "the text ends before its last bracket");
            return 0;
        }
        if (c == ',') {
            window->at++;
            continue;
        }
        code = read_outside(reading, &list, &end, error);
        if (!code && list) {
            reading->had_list = true;
            code = read_events(reading, error);
        }
        if (code) return code;
    }
    return 0;
}

static int read_text(struct reading *reading, struct assay_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of the byte order */
    struct window *window = &reading->window;
    char c;
    int code = 0;
    while (!code && window->end - window->at < 3 && !window->ended)
        code = window_fill(window, error);
    if (window->end - window->at >= 3 && !memcmp(window->at, mark, 3)) window->at += 3;
    if (!code) code = window_peek(window, &c, error);
    if (code) return code;
    reading->reader->is_array = c == '[';
    if (c != '[' && c != '{') {
        assay__chrome_complain(reading->reader, "neither an object nor an array");
        return 0;
    }
    window->at++;
    code = c == '[' ? read_events(reading, error) : read_outermost(reading, error);
    if (!code) code = window_peek(window, &c, error);
    if (!code && c)
        assay__chrome_complain(reading->reader, "what follows the end of the trace is not read");
    return code;
}

int assay__chrome_read(struct assay__import_stream *stream, struct assay__chrome_reader *reader,
                       struct assay_error *error)
{
    struct reading reading = {.reader = reader, .window = {.stream = stream}};
    fill_tables(&reading.tables);
    if (!window_resize(&reading.window, FIRST_WINDOW)) return assay__no_memory(error);
    memset(reading.window.data, 0xff, ASSAY__SCAN_PADDING);
    int code = read_text(&reading, error);
    free(reading.window.data);
    return code;
}

bool assay__scan_member(const char **at, const char *end, struct assay__scan_value *key,
                        struct assay__scan_value *value)
{
    *at = assay__scan_space(*at);
    if (**at == ',') *at = assay__scan_space(*at + 1);
    *key = (struct assay__scan_value){.kind = '"'};
    if (*at >= end || **at != '"') return false;
    if (read_key(at, end, &key->text, &key->length) != COMPLETE) return false;
    const char *behind = assay__scan_value(*at, end, value);
    if (!behind || behind > end) return false;
    *at = behind;
    return true;
}
