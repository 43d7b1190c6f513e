/* test_export.c - exported timelines, read back: Perfetto's packets by our wire reader, speedscope
 * by the JSON reader, Chrome JSON by the importer, folded stacks by their sums. The traces are
 * random, with events that nest, cross, touch and have no duration; tests/oracle/live_exports.sh
 * has the readers of others. */
#include "../harness.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/stats.h"
#include "import/import.h"
#include "model/wire.h"
#include "trace/exporters.h"

#include <inttypes.h>

enum { MOST = 400 };

/* --- random traces ---------------------------------------------------------------------------- */

static uint32_t tracks_of(struct assay__events *events, uint32_t *stream)
{
    struct assay__track thread = {.kind = ASSAY__TRACK_THREAD,
                                  .pid = 70,
                                  .tid = 71,
                                  .device = -1,
                                  .stream = -1,
                                  .name = "loader",
                                  .group = "python3 (70)"};
    struct assay__track device = {.kind = ASSAY__TRACK_STREAM,
                                  .pid = -1,
                                  .tid = -1,
                                  .device = 1,
                                  .stream = 7,
                                  .name = "stream 7",
                                  .group = "NVIDIA H200"};
    *stream = assay__events_track(events, &device);
    return assay__events_track(events, &thread);
}

static const char *const names[] = {"a",
                                    "b;c",
                                    "cudaLaunchKernel",
                                    "cudaDeviceSynchronize",
                                    "</script>\"\\\n",
                                    "\xe2\x80\xae names",
                                    "cudaMalloc",
                                    ""};

static struct assay__events *random_trace(uint64_t seed, int64_t base_ns, size_t count)
{
    static const enum assay__event_kind host[] = {
        ASSAY__EVENT_LAUNCH, ASSAY__EVENT_SYNC,      ASSAY__EVENT_RUNTIME, ASSAY__EVENT_OPERATOR,
        ASSAY__EVENT_PYTHON, ASSAY__EVENT_RANGE,     ASSAY__EVENT_CPU,     ASSAY__EVENT_SAMPLE,
        ASSAY__EVENT_OTHER,  ASSAY__EVENT_ALLOCATION};
    struct assay__events *events = assay__events_new();
    struct assay__random random;
    uint32_t stream, thread = tracks_of(events, &stream);
    assay__random_seed(&random, seed);
    for (size_t i = 0; i < count; i++) {
        bool device = assay__random_unit(&random) < 0.4;
        struct assay__event event = {.args = ASSAY__EVENT_UNKNOWN, .name_length = SIZE_MAX};
        event.start_ns = base_ns + (int64_t)(assay__random_unit(&random) * 3000);
        event.duration_ns = (int64_t)(assay__random_unit(&random) * 900);
        if (assay__random_unit(&random) < 0.2) event.duration_ns = 0;
        event.kind = device ? (enum assay__event_kind)(assay__random_unit(&random) * 6)
                            : host[(size_t)(assay__random_unit(&random) * 10)];
        if (event.kind == ASSAY__EVENT_ALLOCATION) event.duration_ns = 0;
        event.track = device ? stream : thread;
        event.name = names[(size_t)(assay__random_unit(&random) * 8)];
        if (event.kind != ASSAY__EVENT_ALLOCATION)
            event.correlation = (uint64_t)(assay__random_unit(&random) * 5);
        if (event.kind <= ASSAY__EVENT_MEMSET || event.kind == ASSAY__EVENT_ALLOCATION)
            event.bytes = (int64_t)(assay__random_unit(&random) * 1e12);
        assay__events_add(events, &event);
    }
    struct assay_error error;
    CHECK_INT(assay__events_seal(events, &error), 0);
    CHECK_INT(events->count, count);
    return events;
}

/* --- the bytes of an export ------------------------------------------------------------------- */

static int collect(void *context, const void *bytes, size_t size, struct assay_error *error)
{
    (void)error;
    assay__buf_add(context, bytes, size);
    return 0;
}

static struct assay__buf export_of(const struct assay__events *events, const char *format)
{
    struct assay__buf out = {0};
    struct assay_error error = {0};
    if (assay__export(events, format, collect, &out, &error)) printf("%s\n", error.message);
    CHECK_INT(error.code, 0);
    CHECK(out.length > 0 && !out.failed);
    return out;
}

/* --- nesting ---------------------------------------------------------------------------------- */

static void check_lanes(const struct assay__events *events, const struct assay__nesting *n)
{
    for (size_t i = 0; i < events->count; i++)
        for (size_t k = 0; k < i; k++) {
            if (n->lane[i] != n->lane[k]) continue;
            bool over = assay__event_end_ns(events, k) > events->start_ns[i];
            bool inside = over && assay__event_end_ns(events, i) <= assay__event_end_ns(events, k);
            CHECK(!over || (inside && n->depth[i] > n->depth[k]));
        }
}

static void test_lanes_nest(void)
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        struct assay__events *events = random_trace(seed, 0, MOST);
        struct assay__nesting nesting;
        CHECK_INT(assay__nesting_make(&nesting, events, false, NULL), 0);
        CHECK(nesting.lane_count > 2); /* random events cross */
        check_lanes(events, &nesting);
        for (size_t i = 0; i < events->count; i++) {
            CHECK_INT(nesting.lanes[nesting.lane[i]].track, events->track[i]);
            CHECK(nesting.depth[i] < nesting.lanes[nesting.lane[i]].depths);
        }
        assay__nesting_free(&nesting);
        assay__events_free(events);
    }
}

/* Nothing nests, everything overlaps: as many lanes as events, without a search in all of them. */
static void test_lanes_of_a_staircase(void)
{
    enum { STEPS = 100000 };
    struct assay__events *events = assay__events_new();
    uint32_t stream, thread = tracks_of(events, &stream);
    (void)stream;
    for (int64_t i = 0; i < STEPS; i++)
        assay__events_add(events, &(struct assay__event){.start_ns = i,
                                                         .duration_ns = STEPS,
                                                         .track = thread,
                                                         .args = ASSAY__EVENT_UNKNOWN});
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__nesting nesting;
    CHECK_INT(assay__nesting_make(&nesting, events, false, NULL), 0);
    CHECK_INT(nesting.lane_count, STEPS);
    CHECK_INT(nesting.lanes[STEPS - 1].index, STEPS - 1);
    assay__nesting_free(&nesting);
    assay__events_free(events);
}

static void test_depth_is_limited(void)
{
    enum { DEEP = 1000 };
    struct assay__events *events = assay__events_new();
    uint32_t stream, thread = tracks_of(events, &stream);
    for (int64_t i = 0; i < DEEP; i++)
        assay__events_add(events, &(struct assay__event){.start_ns = i,
                                                         .duration_ns = 3 * DEEP - 2 * i,
                                                         .track = thread,
                                                         .args = ASSAY__EVENT_UNKNOWN});
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__nesting nesting;
    CHECK_INT(assay__nesting_make(&nesting, events, false, NULL), 0);
    CHECK_INT(nesting.lane_count, (DEEP + ASSAY__NESTING_DEPTH - 1) / ASSAY__NESTING_DEPTH);
    CHECK_INT(nesting.depth[ASSAY__NESTING_DEPTH - 1], ASSAY__NESTING_DEPTH - 1);
    CHECK_INT(nesting.depth[ASSAY__NESTING_DEPTH], 0);
    assay__nesting_free(&nesting);
    assay__events_free(events);
}

/* --- Perfetto --------------------------------------------------------------------------------- */

struct packet {
    uint64_t time_ns, type, track, name, category, flow, flow_end;
    size_t at; /* in the file */
};

struct decoded {
    struct packet packets[2 * MOST + 8];
    size_t count, tracks, processes, threads;
    char names[16][64];
    uint64_t numbers[16];
    size_t name_count;
};

static const char *name_of(const struct decoded *d, uint64_t number)
{
    for (size_t i = 0; i < d->name_count; i++)
        if (d->numbers[i] == number) return d->names[i];
    return "none";
}

static void read_names(struct decoded *d, const struct assay__wire_field *interned)
{
    struct assay__wire_field field, part;
    for (struct assay__wire in = assay__wire_in(interned);
         assay__wire_next(&in, &field) == ASSAY__WIRE_FIELD;) {
        if (field.number != 2) continue;
        CHECK(d->name_count < 16);
        for (struct assay__wire entry = assay__wire_in(&field);
             assay__wire_next(&entry, &part) == ASSAY__WIRE_FIELD;)
            if (part.number == 1)
                d->numbers[d->name_count] = part.value;
            else
                snprintf(d->names[d->name_count], sizeof d->names[0], "%.*s", (int)part.size,
                         (const char *)part.data);
        d->name_count++;
    }
}

static void read_event(struct packet *packet, const struct assay__wire_field *event)
{
    struct assay__wire_field field;
    for (struct assay__wire in = assay__wire_in(event);
         assay__wire_next(&in, &field) == ASSAY__WIRE_FIELD;)
        switch (field.number) {
        case 3: packet->category = field.value; break;
        case 9: packet->type = field.value; break;
        case 10: packet->name = field.value; break;
        case 11: packet->track = field.value; break;
        case 47: packet->flow = field.value; break;
        case 48: packet->flow_end = field.value; break;
        }
}

static void read_descriptor(struct decoded *d, const struct assay__wire_field *descriptor)
{
    struct assay__wire_field field;
    d->tracks++;
    for (struct assay__wire in = assay__wire_in(descriptor);
         assay__wire_next(&in, &field) == ASSAY__WIRE_FIELD;) {
        d->processes += field.number == 3;
        d->threads += field.number == 4;
    }
}

static void decode(struct decoded *d, const struct assay__buf *bytes)
{
    struct assay__wire trace = assay__wire_over((const uint8_t *)bytes->data, bytes->length);
    struct assay__wire_field outer, field;
    enum assay__wire_status status;
    memset(d, 0, sizeof *d);
    while ((status = assay__wire_next(&trace, &outer)) == ASSAY__WIRE_FIELD) {
        struct packet packet = {.at = d->count};
        CHECK_INT(outer.number, 1);
        for (struct assay__wire in = assay__wire_in(&outer);
             assay__wire_next(&in, &field) == ASSAY__WIRE_FIELD;) {
            if (field.number == 8) packet.time_ns = field.value;
            if (field.number == 11) read_event(&packet, &field);
            if (field.number == 12) read_names(d, &field);
            if (field.number == 60) read_descriptor(d, &field);
        }
        if (packet.type) d->packets[d->count++] = packet;
    }
    CHECK_INT(status, ASSAY__WIRE_END);
}

static int by_time(const void *left, const void *right)
{
    const struct packet *a = left, *b = right;
    if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

struct slice {
    uint64_t start_ns, duration_ns, category;
    const char *name;
};

static int by_slice(const void *left, const void *right)
{
    const struct slice *a = left, *b = right;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
    if (a->duration_ns != b->duration_ns) return a->duration_ns < b->duration_ns ? -1 : 1;
    if (a->category != b->category) return a->category < b->category ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* As a viewer does: packets by time, a stack for each track. */
static size_t slices_of(struct decoded *d, struct slice *slices)
{
    static struct packet *open[512][64];
    static size_t depth[512];
    size_t count = 0;
    memset(depth, 0, sizeof depth);
    qsort(d->packets, d->count, sizeof *d->packets, by_time);
    for (size_t i = 0; i < d->count; i++) {
        struct packet *p = &d->packets[i];
        CHECK(p->track < 512 && depth[p->track] < 64);
        if (p->type == 1) open[p->track][depth[p->track]++] = p;
        if (p->type == 3)
            slices[count++] = (struct slice){p->time_ns, 0, p->category, name_of(d, p->name)};
        if (p->type != 2) continue;
        CHECK(depth[p->track] > 0);
        const struct packet *began = open[p->track][--depth[p->track]];
        slices[count++] = (struct slice){began->time_ns, p->time_ns - began->time_ns,
                                         began->category, name_of(d, began->name)};
    }
    for (size_t i = 0; i < 512; i++)
        CHECK_INT(depth[i], 0);
    return count;
}

static void check_perfetto(int64_t base_ns, int64_t shift_ns)
{
    static struct decoded d;
    struct slice found[MOST], expected[MOST];
    struct assay__events *events = random_trace(7, base_ns, MOST);
    struct assay__buf bytes = export_of(events, "perfetto");
    decode(&d, &bytes);
    CHECK_INT(d.processes, 1);
    CHECK_INT(d.threads, 1);
    CHECK_INT(slices_of(&d, found), MOST);
    for (size_t i = 0; i < MOST; i++)
        expected[i] = (struct slice){(uint64_t)(events->start_ns[i] - shift_ns),
                                     (uint64_t)events->duration_ns[i],
                                     (uint64_t)events->kind[i] + 1, assay__event_name(events, i)};
    qsort(found, MOST, sizeof *found, by_slice);
    qsort(expected, MOST, sizeof *expected, by_slice);
    for (size_t i = 0; i < MOST; i++)
        CHECK_INT(by_slice(&found[i], &expected[i]), 0);
    assay__buf_free(&bytes);
    assay__events_free(events);
}

static void test_perfetto_holds_every_event(void)
{
    check_perfetto(1790000000000000000, 0);
}

/* Times of Perfetto are unsigned: a clock that begins below 0 is moved. */
static void test_perfetto_before_zero(void)
{
    struct assay__events *events = random_trace(7, -5000, MOST);
    int64_t first_ns = events->start_ns[0];
    CHECK(first_ns < 0);
    assay__events_free(events);
    check_perfetto(-5000, first_ns);
}

static void test_perfetto_flows(void)
{
    static struct decoded d;
    size_t begins = 0, ends = 0, wanted_begins = 0, wanted_ends = 0;
    struct assay__events *events = random_trace(9, 0, MOST);
    struct assay__buf bytes = export_of(events, "perfetto");
    decode(&d, &bytes);
    for (size_t i = 0; i < d.count; i++) {
        begins += d.packets[i].flow != 0;
        ends += d.packets[i].flow_end != 0;
    }
    for (size_t i = 0; i < MOST; i++) {
        wanted_ends += events->correlation[i] && assay__event_is_work(events, i);
        wanted_begins += events->correlation[i] && !assay__event_is_work(events, i);
    }
    CHECK_INT(ends, wanted_ends);
    CHECK_INT(begins, wanted_begins);
    assay__buf_free(&bytes);
    assay__events_free(events);
}

/* --- speedscope ------------------------------------------------------------------------------- */

/* Every frame closes as the innermost; returns the sum of the frames' times. */
static int64_t check_profile(const struct assay__json *profile)
{
    int64_t last = 0, sum = 0, open[64], frames[64];
    size_t depth = 0;
    CHECK_STR(assay__json_get_string(profile, "type", ""), "evented");
    for (const struct assay__json *e = assay__json_get(profile, "events")->first; e; e = e->next) {
        int64_t at = assay__json_get_integer(e, "at", -1);
        int64_t frame = assay__json_get_integer(e, "frame", -1);
        CHECK(at >= last);
        last = at;
        if (assay__json_get_string(e, "type", "")[0] == 'O') {
            CHECK(depth < 64);
            frames[depth] = frame;
            open[depth++] = at;
        } else {
            CHECK(depth > 0 && frames[--depth] == frame);
            sum += at - open[depth];
        }
    }
    CHECK_INT(depth, 0);
    CHECK_INT(assay__json_get_integer(profile, "endValue", -1), last);
    return sum;
}

static void test_speedscope(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__events *events = random_trace(3, 1790000000000000000, MOST);
    struct assay__buf bytes = export_of(events, "speedscope");
    struct assay__json *root;
    struct assay_error error;
    int64_t sum = 0, expected = 0;
    CHECK_INT(assay__json_parse(arena, bytes.data, bytes.length, &root, &error), 0);
    for (const struct assay__json *p = assay__json_get(root, "profiles")->first; p; p = p->next)
        sum += check_profile(p);
    for (size_t i = 0; i < MOST; i++)
        expected += events->duration_ns[i];
    CHECK_INT(sum, expected);
    CHECK_INT(assay__json_get(assay__json_get(root, "shared"), "frames")->count, 8);
    assay__buf_free(&bytes);
    assay__events_free(events);
    assay__arena_free(arena);
}

/* --- folded ----------------------------------------------------------------------------------- */

/* The own times of all stacks are the times of what nothing surrounds; no name breaks a line. */
static void test_folded(void)
{
    struct assay__events *events = random_trace(5, 0, MOST);
    struct assay__buf bytes = export_of(events, "folded");
    struct assay__nesting nesting;
    uint64_t sum = 0, expected = 0;
    CHECK_INT(assay__nesting_make(&nesting, events, false, NULL), 0);
    for (size_t i = 0; i < MOST; i++)
        if (!nesting.depth[i]) expected += (uint64_t)events->duration_ns[i];
    for (char *line = bytes.data; *line;) {
        char *end = strchr(line, '\n'), *number;
        CHECK(end != NULL);
        *end = 0;
        number = strrchr(line, ' ');
        CHECK(number && strspn(number + 1, "0123456789") == strlen(number + 1));
        CHECK(strncmp(line, "python3 (70);loader;", 20) == 0 ||
              strncmp(line, "NVIDIA H200;stream 7;", 21) == 0);
        sum += strtoull(number + 1, NULL, 10);
        line = end + 1;
    }
    CHECK_INT(sum, expected);
    assay__nesting_free(&nesting);
    assay__buf_free(&bytes);
    assay__events_free(events);
}

static void test_folded_samples(void)
{
    struct assay__events *events = assay__events_new();
    uint32_t stream, thread = tracks_of(events, &stream);
    uint32_t args = assay__events_args(events, &(struct assay__event_args){.stack = "main;run"});
    for (int i = 0; i < 3; i++)
        assay__events_add(events, &(struct assay__event){.start_ns = 10 * i,
                                                         .duration_ns = 10,
                                                         .name = "run",
                                                         .name_length = SIZE_MAX,
                                                         .kind = ASSAY__EVENT_SAMPLE,
                                                         .track = thread,
                                                         .args = args});
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__buf bytes = export_of(events, "folded");
    CHECK_STR(bytes.data, "python3 (70);loader;main;run 30\n");
    assay__buf_free(&bytes);
    assay__events_free(events);
}

/* --- Chrome, and back ------------------------------------------------------------------------- */

static struct assay__events *import_of(const struct assay__buf *bytes)
{
    char folder[512], path[600];
    struct assay_error error = {0};
    struct assay__events *events = NULL;
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    snprintf(path, sizeof path, "%s/trace", folder);
    CHECK_INT(assay__file_write(path, bytes->data, bytes->length, &error), 0);
    const char *paths[] = {path};
    if (assay__import(paths, 1, NULL, &events, &error)) printf("%s\n", error.message);
    CHECK_INT(error.code, 0);
    assay__folder_remove(folder);
    return events;
}

static void check_same_track(const struct assay__track *a, const struct assay__track *b)
{
    CHECK_INT(a->kind, b->kind);
    CHECK_INT(a->pid, b->pid);
    CHECK_INT(a->tid, b->tid);
    CHECK_INT(a->device, b->device);
    CHECK_INT(a->stream, b->stream);
    CHECK_STR(a->name, b->name);
    CHECK_STR(a->group, b->group);
}

/* Everything of a row that has a name: of equal times the order is the stores' own. */
struct row {
    int64_t start_ns, duration_ns, bytes;
    uint64_t correlation;
    uint32_t kind;
    const char *name;
    const struct assay__track *track;
};

static int by_row(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
#define BY(member) \
    if (a->member != b->member) return a->member < b->member ? -1 : 1
    BY(start_ns);
    BY(duration_ns);
    BY(kind);
    BY(bytes);
    BY(correlation);
#undef BY
    return strcmp(a->name, b->name);
}

static void rows_of(const struct assay__events *events, struct row *rows)
{
    for (size_t i = 0; i < events->count; i++)
        rows[i] = (struct row){.start_ns = events->start_ns[i],
                               .duration_ns = events->duration_ns[i],
                               .bytes = events->bytes[i],
                               .correlation = events->correlation[i],
                               .kind = events->kind[i],
                               .name = assay__event_name(events, i),
                               .track = &events->tracks[events->track[i]]};
    qsort(rows, events->count, sizeof *rows, by_row);
}

static void check_same_events(const struct assay__events *a, const struct assay__events *b)
{
    CHECK_INT(a->count, b->count);
    struct row *left = calloc(a->count + 1, sizeof *left);
    struct row *right = calloc(a->count + 1, sizeof *right);
    rows_of(a, left);
    rows_of(b, right);
    for (size_t i = 0; i < a->count; i++) {
        CHECK_INT(by_row(&left[i], &right[i]), 0);
        check_same_track(left[i].track, right[i].track);
    }
    free(left);
    free(right);
}

static void test_chrome_and_back(void)
{
    static const int64_t bases_ns[] = {1790000000000000123, 5, -40000};
    for (uint64_t seed = 1; seed < 10; seed++) {
        struct assay__events *events = random_trace(seed, bases_ns[seed % 3], MOST);
        struct assay__buf bytes = export_of(events, "chrome");
        struct assay__events *back = import_of(&bytes);
        check_same_events(events, back);
        CHECK_INT(back->sources[0].skipped, 0);
        assay__buf_free(&bytes);
        assay__events_free(events);
        assay__events_free(back);
    }
}

/* --- all of them ------------------------------------------------------------------------------ */

static void test_an_empty_store(void)
{
    struct assay__events *events = assay__events_new();
    size_t count;
    const struct assay__exporter *const *all = assay__exporters(&count);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK_INT(count, 4);
    for (size_t i = 0; i < count; i++) {
        struct assay__buf out = {0};
        CHECK_INT(assay__export(events, all[i]->name, collect, &out, NULL), 0);
        assay__buf_free(&out);
    }
    assay__events_free(events);
}

static int refuse(void *context, const void *bytes, size_t size, struct assay_error *error)
{
    (void)bytes;
    (void)size;
    ++*(int *)context;
    return assay_error_set(error, ASSAY_EIO, "the disk is full");
}

/* After the first refusal nothing more is handed on. */
static void test_a_writer_that_refuses(void)
{
    struct assay__events *events = random_trace(2, 0, MOST);
    size_t count;
    const struct assay__exporter *const *all = assay__exporters(&count);
    for (size_t i = 0; i < count; i++) {
        int calls = 0;
        struct assay_error error = {0};
        CHECK_INT(assay__export(events, all[i]->name, refuse, &calls, &error), ASSAY_EIO);
        CHECK_INT(calls, 1);
        CHECK_STR(error.message, "the disk is full");
    }
    assay__events_free(events);
}

static void test_a_format_that_is_none(void)
{
    struct assay__events *events = random_trace(2, 0, 1);
    struct assay_error error = {0};
    CHECK_INT(assay__export(events, "vtune", collect, NULL, &error), ASSAY_EINVAL);
    CHECK(strstr(error.message, "perfetto") != NULL);
    assay__events_free(events);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"lanes_nest", test_lanes_nest},
        {"lanes_of_a_staircase", test_lanes_of_a_staircase},
        {"depth_is_limited", test_depth_is_limited},
        {"perfetto_holds_every_event", test_perfetto_holds_every_event},
        {"perfetto_before_zero", test_perfetto_before_zero},
        {"perfetto_flows", test_perfetto_flows},
        {"speedscope", test_speedscope},
        {"folded", test_folded},
        {"folded_samples", test_folded_samples},
        {"chrome_and_back", test_chrome_and_back},
        {"an_empty_store", test_an_empty_store},
        {"a_writer_that_refuses", test_a_writer_that_refuses},
        {"a_format_that_is_none", test_a_format_that_is_none},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
