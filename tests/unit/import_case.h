/* import_case.h - imports a file or a text and finds events in what came out. */
#ifndef ASSAY_TESTS_IMPORT_CASE_H
#define ASSAY_TESTS_IMPORT_CASE_H

#include "harness.h"
#include "scratch.h"

#include "import/import.h"

#define TRACES ASSAY_TEST_ROOT "/tests/fixtures/traces/"
#define REAL ASSAY_TEST_ROOT "/../shared/data/"

static struct assay_error import_error;

/* NULL: it failed, and import_error says why. */
static inline struct assay__events *import_file(const char *path)
{
    struct assay__events *events = NULL;
    import_error = (struct assay_error){0};
    int code = assay__import(&path, 1, NULL, &events, &import_error);
    CHECK_INT(code != 0, events == NULL);
    CHECK_INT(code != 0, import_error.message[0] != '\0');
    return events;
}

static inline const char *import_write(const char *name, const void *data, size_t size)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    return path;
}

static inline struct assay__events *import_text(const char *text)
{
    return import_file(import_write("trace", text, strlen(text)));
}

static inline struct assay__events *import_good(const char *path)
{
    struct assay__events *events = import_file(path);
    if (!events) harness_fail(__FILE__, __LINE__, import_error.message);
    CHECK_INT(events->source_count, 1);
    return events;
}

static inline struct assay__events *import_real(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, REAL "%s", name);
    if (access(path, R_OK)) SKIP("no ../shared/data beside the checkout");
    return import_good(path);
}

static inline size_t count_kind(const struct assay__events *events, enum assay__event_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < events->count; i++)
        count += events->kind[i] == kind;
    return count;
}

static inline int64_t time_of_kind(const struct assay__events *events, enum assay__event_kind kind)
{
    int64_t total_ns = 0;
    for (size_t i = 0; i < events->count; i++)
        if (events->kind[i] == kind) total_ns += events->duration_ns[i];
    return total_ns;
}

/* The n-th event of that name, by start; it must be there. */
static inline size_t event_named(const struct assay__events *events, const char *name, size_t n)
{
    for (size_t i = 0; i < events->count; i++)
        if (strcmp(assay__event_name(events, i), name) == 0 && n-- == 0) return i;
    harness_fail(__FILE__, __LINE__, name);
    return 0;
}

static inline const struct assay__track *track_of(const struct assay__events *events, size_t event)
{
    CHECK(events->track[event] < events->track_count);
    return &events->tracks[events->track[event]];
}

static inline const struct assay__trace_counter *counter_named(const struct assay__events *events,
                                                               const char *name)
{
    for (size_t i = 0; i < events->counter_count; i++)
        if (strcmp(events->counters[i].name, name) == 0) return &events->counters[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

#define CHECK_EVENT(events, event, start, duration, event_kind)  \
    do {                                                         \
        CHECK_INT((events)->start_ns[event], (start));           \
        CHECK_INT((events)->duration_ns[event], (duration));     \
        CHECK_STR(assay__event_kind_name((events)->kind[event]), \
                  assay__event_kind_name(event_kind));           \
    } while (0)

#endif
