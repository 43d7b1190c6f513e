/* import_fixture.h - imports texts and files for tests, and looks at what came out. */
#ifndef ASSAY_TESTS_IMPORT_FIXTURE_H
#define ASSAY_TESTS_IMPORT_FIXTURE_H

#include "scratch.h"

#include "import/import.h"

#define TRACE_FIXTURES ASSAY_TEST_ROOT "/tests/fixtures/traces/"
#define SHARED_TRACES ASSAY_TEST_ROOT "/../shared/data/traces/"

static inline const char *trace_written(const char *name, const void *bytes, size_t size)
{
    const char *path = scratch(name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    CHECK_INT(fclose(file), 0);
    return path;
}

static inline int import_code(const char *path, struct assay__events **events,
                              struct assay_error *error)
{
    return assay__import(&path, 1, NULL, events, error);
}

static inline struct assay__events *import_path(const char *path)
{
    struct assay__events *events = NULL;
    struct assay_error error = {0};
    int code = import_code(path, &events, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return events;
}

static inline struct assay__events *import_text(const char *text)
{
    return import_path(trace_written("trace.json", text, strlen(text)));
}

static inline size_t events_of(const struct assay__events *events, enum assay__event_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < events->count; i++)
        count += events->kind[i] == kind;
    return count;
}

/* The only event of that name; fails if there is none or more than one. */
static inline size_t event_named(const struct assay__events *events, const char *name)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < events->count; i++) {
        if (strcmp(assay__event_name(events, i), name)) continue;
        CHECK(found == SIZE_MAX);
        found = i;
    }
    CHECK(found != SIZE_MAX);
    return found;
}

static inline const struct assay__track *track_at(const struct assay__events *events, size_t event)
{
    CHECK(events->track[event] < events->track_count);
    return &events->tracks[events->track[event]];
}

#endif
