/* test_import_real.c - the JSON traces of real profilers beside the checkout, compared with what
 * Python's json counts in them (tests/oracle/trace_counts.py wrote counts.txt): counts, times to
 * the nanosecond, bytes, correlations. */
#include "import_fixture.h"

static int64_t value_of(const struct assay__events *events, const char *quantity)
{
    int64_t count = 0, ns = 0, bytes = 0, correlations = 0, blocks = 0;
    char kind[32];
    size_t length = strcspn(quantity, ".");
    snprintf(kind, sizeof kind, "%.*s", (int)length, quantity);
    for (size_t i = 0; i < events->count; i++) {
        if (strcmp(assay__event_kind_name(events->kind[i]), kind)) continue;
        const struct assay__event_args *args = assay__event_args(events, i);
        count++;
        ns += events->duration_ns[i];
        bytes += events->bytes[i];
        correlations += (int64_t)events->correlation[i];
        for (int j = 0; j < 3; j++)
            blocks += args->grid[j] + args->block[j];
    }
    const char *part = quantity + length;
    return !strcmp(part, ".count")          ? count
           : !strcmp(part, ".ns")           ? ns
           : !strcmp(part, ".bytes")        ? bytes
           : !strcmp(part, ".correlations") ? correlations
           : !strcmp(part, ".blocks")       ? blocks
                                            : -1;
}

static int64_t streams_of(const struct assay__events *events)
{
    int64_t count = 0;
    for (uint32_t track = 0; track < events->track_count; track++) {
        bool has_work = false;
        for (size_t i = 0; i < events->count; i++)
            has_work |= events->track[i] == track && assay__event_is_work(events, i);
        count += has_work;
    }
    return count;
}

static int64_t names_of(const struct assay__events *events)
{
    size_t texts = assay__events_text_count(events);
    bool *used = calloc(texts + 1, sizeof *used);
    int64_t count = 0;
    CHECK(used);
    for (size_t i = 0; i < events->count; i++)
        used[events->name[i]] = true;
    for (size_t i = 0; i < texts; i++)
        count += used[i];
    free(used);
    return count;
}

static int64_t last_of(const struct assay__events *events)
{
    int64_t last_ns = INT64_MIN;
    for (size_t i = 0; i < events->count; i++)
        if (assay__event_end_ns(events, i) > last_ns) last_ns = assay__event_end_ns(events, i);
    return last_ns;
}

static int64_t quantity_of(const struct assay__events *events, const char *quantity)
{
    if (!strcmp(quantity, "events")) return (int64_t)events->count;
    if (!strcmp(quantity, "first_ns")) return events->start_ns[0];
    if (!strcmp(quantity, "last_ns")) return last_of(events);
    if (!strcmp(quantity, "streams")) return streams_of(events);
    if (!strcmp(quantity, "names")) return names_of(events);
    return value_of(events, quantity);
}

static struct assay__events *open_trace(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, SHARED_TRACES "%s", name);
    struct assay__events *events = import_path(path);
    CHECK_INT(events->source_count, 1);
    CHECK_INT(events->sources[0].skipped, 0);
    CHECK_INT(events->sources[0].truncated, false);
    CHECK_STR(events->sources[0].complaint, "");
    for (size_t i = 1; i < events->count; i++)
        CHECK(events->start_ns[i - 1] < events->start_ns[i] ||
              (events->start_ns[i - 1] == events->start_ns[i] &&
               events->duration_ns[i - 1] >= events->duration_ns[i]));
    return events;
}

static void test_counts(void)
{
    char line[256], name[128], quantity[64], opened[128] = "";
    long long expected;
    struct assay__events *events = NULL;
    size_t compared = 0;
    FILE *file = fopen(TRACE_FIXTURES "counts.txt", "r");
    CHECK(file != NULL);
    if (!assay__file_exists(SHARED_TRACES)) SKIP("no traces beside the checkout");
    while (fgets(line, sizeof line, file)) {
        CHECK_INT(sscanf(line, "%127s %63s %lld", name, quantity, &expected), 3);
        if (strcmp(name, opened)) {
            assay__events_free(events);
            events = open_trace(name);
            snprintf(opened, sizeof opened, "%s", name);
        }
        int64_t actual = quantity_of(events, quantity);
        if (actual != expected)
            printf("  %s %s: %lld, expected %lld\n", name, quantity, (long long)actual, expected);
        CHECK(actual == expected);
        compared++;
    }
    CHECK(compared > 200);
    assay__events_free(events);
    fclose(file);
}

static void test_devices_and_ranks(void)
{
    if (!assay__file_exists(SHARED_TRACES)) SKIP("no traces beside the checkout");
    struct assay__events *events = open_trace("kineto-ns-rank0.json.gz");
    CHECK_INT(events->sources[0].rank, 0);
    CHECK_INT(events->sources[0].world_size, 1);
    size_t kernel = 0;
    while (events->kind[kernel] != ASSAY__EVENT_KERNEL)
        kernel++;
    CHECK_STR(track_at(events, kernel)->group, "Tesla V100-SXM2-32GB");
    CHECK_INT(track_at(events, kernel)->kind, ASSAY__TRACK_STREAM);
    assay__events_free(events);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"counts", test_counts},
        {"devices_and_ranks", test_devices_and_ranks},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
