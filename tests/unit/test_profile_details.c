/* test_profile_details.c - what a profile keeps of layers beside their times: the times of each
 * launch, shapes and attributes, edges, and the tensors at the peak. Every bit survives, also
 * beyond one chunk; a killed capture keeps them; profiles from before load as they did; and each
 * lie about them is noticed. */
#include "profile_fixture.h"

#define LAUNCHES 6

static const double first_times[LAUNCHES] = {10, 12, 11, 0.1 + 0.2, 13, 14};
static const double second_times[LAUNCHES] = {5, NAN, 7, 6, 9, 8};
static const int launch_ids[LAUNCHES] = {1, 2, 3, 4, 5, 6};
static struct assay__peak_tensor tensors[] = {
    {"odd \"name\"", "", NAN, "", "", "", ""},
    {"relu_out", "1x64x112x112 float32", 3211264, "relu; DROP TABLE peaks", "Relu", "conv", "pool"},
};

static struct assay__edge edges[] = {
    {-1, 0, "input", 602112}, {0, 1, "it's \"x\"", NAN}, {1, -1, "output", 4}};

/* One good trial of `count` layers and six launches. */
static struct assay_profile *make(struct assay__layer *items, size_t count)
{
    struct assay_profile *p = assay__profile_new();
    struct assay__trial *t = assay__profile_trial(p);
    assay__profile_set_command(p, "run");
    t->state = ASSAY__TRIAL_OK;
    CHECK_INT(assay_metrics_measured(t->metrics, "latency.p50", 1e-3, "clock", ""), 0);
    for (int i = 0; i < LAUNCHES; i++)
        assay__trial_launch(p, t)->state = ASSAY__TRIAL_OK;
    t->layers.items = items;
    t->layers.count = count;
    t->layers.launch_count = LAUNCHES;
    t->layers.launch_ids = launch_ids;
    return p;
}

static struct assay__layer layer_of(int index, const double *times_ns)
{
    return (struct assay__layer){.index = index,
                                 .name = "l",
                                 .op = "Conv",
                                 .time_ns = 11,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = NAN,
                                 .flops = NAN,
                                 .bytes = NAN,
                                 .weight_bytes = NAN,
                                 .live_bytes = NAN,
                                 .state = ASSAY_MEASURED,
                                 .launch_times_ns = times_ns};
}

static void save(const char *path, const struct assay_profile *p)
{
    struct assay__store *store = NULL;
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, p);
    if (p->trials[0].layers.count < 3) put_document(store, p); /* in place of what stood there */
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
}

static struct assay_profile *load(const char *path)
{
    struct assay_error error = {0};
    struct assay_profile *p = NULL;
    if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
    CHECK(p != NULL);
    return p;
}

static const char *write_small(void)
{
    struct assay__layer items[2] = {layer_of(0, first_times), layer_of(1, second_times)};
    const char *path = in_folder("p.assay");
    items[0].inputs = "1x3x224x224 float32";
    items[0].weights = "64x3x7x7 float32, 64 float32";
    items[0].outputs = "1x64x112x112 float32";
    items[0].attributes = "kernel_shape 7x7, mode it's";
    struct assay_profile *p = make(items, 2);
    p->trials[0].layers.edges = edges;
    p->trials[0].layers.edge_count = COUNT(edges);
    p->trials[0].peak = (struct assay__peak){.reason = "",
                                             .node = "pool",
                                             .op = "MaxPool",
                                             .bytes = NAN,
                                             .body_bytes = 0,
                                             .tensors = tensors,
                                             .count = COUNT(tensors),
                                             .alive = 3,
                                             .rest_bytes = 12};
    save(path, p);
    assay_profile_close(p);
    return path;
}

static void same_times(const struct assay__layer *layer, const double *times_ns)
{
    CHECK(layer->launch_times_ns != NULL);
    for (size_t i = 0; i < LAUNCHES; i++)
        CHECK(layer->launch_times_ns[i] == times_ns[i] ||
              (isnan(layer->launch_times_ns[i]) && isnan(times_ns[i])));
}

static void check_edges(const struct assay__layers *l)
{
    CHECK_INT(l->edge_count, COUNT(edges));
    for (size_t i = 0; i < COUNT(edges); i++) {
        CHECK_INT(l->edges[i].producer, edges[i].producer);
        CHECK_INT(l->edges[i].consumer, edges[i].consumer);
        CHECK_STR(l->edges[i].tensor, edges[i].tensor);
        CHECK(l->edges[i].bytes == edges[i].bytes ||
              (isnan(l->edges[i].bytes) && isnan(edges[i].bytes)));
    }
}

static void check_small(const struct assay_profile *p)
{
    const struct assay__layers *l = &p->trials[0].layers;
    const struct assay__peak *peak = &p->trials[0].peak;
    CHECK_INT(p->trials[0].note_count, 0);
    CHECK_INT(l->launch_count, LAUNCHES);
    for (int i = 0; i < LAUNCHES; i++)
        CHECK_INT(l->launch_ids[i], i + 1);
    same_times(&l->items[0], first_times);
    same_times(&l->items[1], second_times);
    CHECK_STR(l->items[0].inputs, "1x3x224x224 float32");
    CHECK_STR(l->items[0].weights, "64x3x7x7 float32, 64 float32");
    CHECK_STR(l->items[0].outputs, "1x64x112x112 float32");
    CHECK_STR(l->items[0].attributes, "kernel_shape 7x7, mode it's");
    CHECK_STR(l->items[1].inputs, "");
    check_edges(l);
    CHECK(peak->reason && isnan(peak->bytes) && peak->body_bytes == 0 && peak->rest_bytes == 12);
    CHECK_STR(peak->node, "pool");
    CHECK_STR(peak->op, "MaxPool");
    CHECK_INT(peak->alive, 3);
    CHECK_INT(peak->count, 2);
    CHECK_STR(peak->tensors[0].name, "odd \"name\"");
    CHECK(isnan(peak->tensors[0].bytes) && peak->tensors[1].bytes == 3211264);
    CHECK_STR(peak->tensors[1].type, "1x64x112x112 float32");
    CHECK_STR(peak->tensors[1].producer, "relu; DROP TABLE peaks");
    CHECK_STR(peak->tensors[1].op, "Relu");
    CHECK_STR(peak->tensors[1].first, "conv");
    CHECK_STR(peak->tensors[1].last, "pool");
}

static void test_round_trip(void)
{
    make_folder();
    struct assay_profile *p = load(write_small());
    check_small(p);
    assay_profile_close(p);
}

/* Not looked for is not the same as nothing known. */
static void test_nothing_there(void)
{
    make_folder();
    struct assay__layer item = layer_of(0, NULL);
    struct assay_profile *p = make(&item, 1);
    p->trials[0].layers.launch_count = 0;
    save(in_folder("p.assay"), p);
    assay_profile_close(p);
    p = load(in_folder("p.assay"));
    CHECK(p->trials[0].layers.items[0].launch_times_ns == NULL);
    CHECK(p->trials[0].peak.reason == NULL && p->trials[0].peak.alive == -1);
    CHECK(isnan(p->trials[0].peak.bytes) && isnan(p->trials[0].peak.rest_bytes));
    CHECK_INT(p->trials[0].note_count, 0);
    assay_profile_close(p);
}

/* More layers than a chunk holds. */
static void test_long(void)
{
    enum { MANY = 66000 };
    make_folder();
    struct assay__layer *items = calloc(MANY, sizeof *items);
    double(*times)[LAUNCHES] = calloc(MANY, sizeof *times);
    for (size_t i = 0; i < MANY; i++) {
        for (size_t l = 0; l < LAUNCHES; l++)
            times[i][l] = (double)(i * 7 + l) / (l == 2 ? 3 : 1); /* whole numbers and fractions */
        items[i] = layer_of((int)i, times[i]);
    }
    struct assay_profile *p = make(items, MANY);
    save(in_folder("p.assay"), p);
    assay_profile_close(p);
    p = load(in_folder("p.assay"));
    CHECK_INT(p->trials[0].layers.count, MANY);
    CHECK_INT(p->trials[0].layers.launch_count, LAUNCHES);
    for (size_t i = 0; i < MANY; i++)
        same_times(&p->trials[0].layers.items[i], times[i]);
    assay_profile_close(p);
    free(items);
    free(times);
}

/* Edges came during schema 2: a file without them is not damaged. Those of layers that are not
 * there are left out, and so are those of none; layers may be numbered with gaps. */
static void test_edges(void)
{
    make_folder();
    const char *path = write_small();
    edit(path, "DROP TABLE edges");
    struct assay_profile *p = load(path);
    CHECK_INT(p->trials[0].note_count, 0);
    CHECK_INT(p->trials[0].layers.edge_count, 0);
    assay_profile_close(p);
    path = write_small();
    edit(
        path,
        "UPDATE layers SET position = 1000 WHERE position = 1;"
        "UPDATE edges SET consumer = 1000 WHERE consumer = 1;"
        "UPDATE edges SET producer = 1000 WHERE producer = 1;"
        "INSERT INTO edges VALUES(1, 10, 0, 7, 'gone', 1), (1, 11, NULL, NULL, 'none', 1),"
        " (1, 12, -3, 'x', 'none', 1), (1, 13, 2000000000, 0, 'far', 1), (7, 0, 0, 1, 'other', 1)");
    p = load(path);
    check_edges(&p->trials[0].layers);
    assay_profile_close(p);
    edit(path, "UPDATE edges SET bytes = -1, tensor = NULL");
    p = load(path);
    CHECK_STR(p->trials[0].layers.edges[0].tensor, "");
    CHECK(isnan(p->trials[0].layers.edges[0].bytes));
    assay_profile_close(p);
}

/* What an older version wrote: no such tables, no such columns. */
static void test_older(void)
{
    make_folder();
    const char *path = write_small();
    make_schema_1(path);
    edit(path, "DROP TABLE layer_time_chunks; DROP TABLE peaks; DROP TABLE peak_tensors;"
               "DROP TABLE edges; ALTER TABLE layers DROP COLUMN inputs; ALTER TABLE layers DROP "
               "COLUMN weights;"
               "ALTER TABLE layers DROP COLUMN outputs; ALTER TABLE layers DROP COLUMN attributes");
    struct assay_profile *p = load(path);
    CHECK_INT(p->trials[0].note_count, 0);
    CHECK_INT(p->trials[0].layers.count, 2);
    CHECK_INT(p->trials[0].layers.launch_count, 0);
    CHECK(p->trials[0].layers.items[0].launch_times_ns == NULL);
    CHECK_STR(p->trials[0].layers.items[0].attributes, "");
    CHECK(p->trials[0].peak.reason == NULL);
    CHECK_HAS(assay__layer_interval_reason(&p->trials[0].layers), "does not have");
    assay_profile_close(p);
}

static int add_row(void *context, int columns, const char *const *names, const char *const *values,
                   const int *types)
{
    (void)names, (void)types;
    char *out = context;
    size_t used = strlen(out);
    for (int i = 0; i < columns; i++)
        used += (size_t)snprintf(out + used, 256 - used, "%s%s", i ? " " : "",
                                 values[i] ? values[i] : "-");
    snprintf(out + used, 256 - used, "|");
    return 0;
}

static const char *query(const char *path, const char *sql)
{
    static char text[256];
    struct assay_error error = {0};
    text[0] = 0;
    if (assay__query(path, sql, add_row, text, NULL, &error))
        snprintf(text, sizeof text, "%.200s", error.message);
    return text;
}

static void test_query(void)
{
    make_folder();
    const char *path = write_small();
    CHECK_STR(query(path, "SELECT * FROM layer_times WHERE launch = 2"), "1 2 0 12|1 2 1 -|");
    CHECK_STR(query(path, "SELECT launch FROM layer_times WHERE layer = 1 AND time_ns > 7 "
                          "ORDER BY launch DESC"),
              "6|5|");
    CHECK_STR(query(path, "SELECT launch, layer FROM layer_times WHERE trial = 1 AND launch >= 5 "
                          "ORDER BY trial, launch, layer"),
              "5 0|5 1|6 0|6 1|");
    CHECK_STR(query(path, "SELECT count(*) FROM layer_times WHERE trial = 2"), "0|");
    edit(path, "UPDATE layer_time_chunks SET count = 7 WHERE launch = 3");
    CHECK_HAS(query(path, "SELECT * FROM layer_times"), "damaged layer times");
    edit(path, "DROP TABLE layer_time_chunks");
    CHECK_STR(query(path, "SELECT count(*) FROM layer_times"), "0|");
}

/* A launch whose times are not one for every layer is left out, and that is said. */
static void test_lies(void)
{
    static const char *const lies[] = {
        "UPDATE layer_time_chunks SET count = 1 WHERE launch = 3",
        "UPDATE layer_time_chunks SET count = 3 WHERE launch = 3",
        "UPDATE layer_time_chunks SET count = -1 WHERE launch = 3",
        "UPDATE layer_time_chunks SET count = 9223372036854775807 WHERE launch = 3",
        "UPDATE layer_time_chunks SET count = 'two' WHERE launch = 3",
        "UPDATE layer_time_chunks SET first = 1 WHERE launch = 3",
        "UPDATE layer_time_chunks SET data = x'' WHERE launch = 3",
        "UPDATE layer_time_chunks SET data = substr(data, 1, 1) WHERE launch = 3",
        "UPDATE layer_time_chunks SET data = 'text that is long enough' WHERE launch = 3",
        "UPDATE layer_time_chunks SET encoding = 'zip' WHERE launch = 3",
        "UPDATE layer_time_chunks SET encoding = x'00' WHERE launch = 3",
        "INSERT INTO layer_time_chunks SELECT 1, 3, 1, 2, 2, 'f64', zeroblob(16)",
    };
    make_folder();
    for (size_t i = 0; i < COUNT(lies); i++) {
        const char *path = write_small();
        edit(path, lies[i]);
        struct assay_profile *p = load(path);
        const struct assay__layers *l = &p->trials[0].layers;
        CHECK_INT(l->launch_count, LAUNCHES - 1);
        CHECK_INT(l->launch_ids[2], 4);
        CHECK(l->items[0].launch_times_ns[2] == first_times[3]);
        CHECK(l->items[1].launch_times_ns[4] == second_times[5]);
        CHECK_INT(p->trials[0].note_count, 1);
        CHECK_HAS(p->trials[0].notes[0], "the layer times of launch 3 are lost");
        assay_profile_close(p);
    }
}

/* Numbers that cannot be are unknown; what has no value and no reason says so; lists end. */
static void test_tolerant(void)
{
    make_folder();
    const char *path = write_small();
    edit(path,
         "UPDATE layer_time_chunks SET encoding = 'f64', data = x'000000000000f07f00000000000010c0'"
         " WHERE launch = 1;" /* infinity, -4 */
         "UPDATE peaks SET bytes = -1, alive = -7, rest_bytes = 'much', node = x'00';"
         "UPDATE peak_tensors SET bytes = -5, type = x'03'");
    struct assay_profile *p = load(path);
    CHECK(isnan(p->trials[0].layers.items[0].launch_times_ns[0]));
    CHECK(isnan(p->trials[0].layers.items[1].launch_times_ns[0]));
    CHECK_INT(p->trials[0].peak.alive, -1);
    CHECK(isnan(p->trials[0].peak.bytes) && isnan(p->trials[0].peak.rest_bytes));
    CHECK_STR(p->trials[0].peak.node, "");
    CHECK(isnan(p->trials[0].peak.tensors[1].bytes));
    CHECK_STR(p->trials[0].peak.tensors[1].type, "");
    assay_profile_close(p);
    edit(path, "DELETE FROM peak_tensors");
    p = load(path);
    CHECK_STR(p->trials[0].peak.reason, "the profile has neither tensors nor a reason");
    assay_profile_close(p);
    edit(path, "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
               "INSERT INTO peak_tensors(trial, position, name) SELECT 1, i, 't' FROM n");
    p = load(path);
    CHECK_INT(p->trials[0].peak.count, ASSAY__PEAK_TENSORS);
    CHECK_HAS(p->trials[0].notes[0], "more than 200 tensors at the peak");
    assay_profile_close(p);
}

/* A capture that is killed has what it had put. */
static void test_killed(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    int ready[2];
    char byte = 0;
    CHECK_INT(pipe(ready), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct assay__layer items[2] = {layer_of(0, first_times), layer_of(1, second_times)};
        struct assay__store *store = NULL;
        CHECK_INT(assay__store_create(path, &store, NULL), 0);
        put_document(store, make(items, 2));
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct assay_profile *p = load(path);
    CHECK(!p->complete);
    same_times(&p->trials[0].layers.items[1], second_times);
    assay_profile_close(p);
}

/* Five launches: the extremes, 93.75 %; six and more: 95 %. Fewer: none, and what would give
 * one. */
static void test_interval(void)
{
    struct assay__layer layer = layer_of(0, first_times), other = layer_of(1, second_times);
    struct assay__layers list = {.items = &layer, .count = 1, .launch_count = LAUNCHES};
    double low, high, coverage;
    CHECK(assay__layer_interval(&list, &layer, &low, &high, &coverage));
    CHECK_NEAR(low, 0.3 + 0.5 / 1.4 * 9.7, 1e-12); /* between ranks 1 and 2, as in test_stats.c */
    CHECK_NEAR(high, 14 - 0.5 / 1.4, 1e-12);
    CHECK_NEAR(coverage, 0.95, 1e-12);
    CHECK(assay__layer_interval(&list, &other, &low, &high, &coverage)); /* one is not known */
    CHECK(low == 5 && high == 9);
    CHECK_NEAR(coverage, 1 - 2 / 32.0, 1e-12);
    CHECK_STR(assay__layer_interval_reason(&list), "");
    list.launch_count = 4;
    CHECK(!assay__layer_interval(&list, &layer, &low, &high, NULL));
    CHECK(isnan(low) && isnan(high));
    CHECK_HAS(assay__layer_interval_reason(&list), "5 launches");
    list.launch_count = LAUNCHES;
    layer.state = ASSAY_UNAVAILABLE;
    CHECK(!assay__layer_interval(&list, &layer, &low, &high, NULL));
    double many[100];
    for (size_t i = 0; i < 100; i++)
        many[i] = (double)(100 - i);
    layer = layer_of(0, many);
    list.launch_count = 100;
    CHECK(assay__layer_interval(&list, &layer, &low, &high, NULL));
    CHECK_NEAR(low, 40.763200616, 1e-6); /* ranks 40 and 61 of 100, moved inwards to 95 % */
    CHECK_NEAR(high, 60.236799384, 1e-6);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"round_trip", test_round_trip},
        {"nothing_there", test_nothing_there},
        {"long", test_long},
        {"older", test_older},
        {"edges", test_edges},
        {"query", test_query},
        {"lies", test_lies},
        {"tolerant", test_tolerant},
        {"killed", test_killed},
        {"interval", test_interval},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
