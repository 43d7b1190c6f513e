/* profile_fixture.h - for the tests of the profile: a folder of the test's own, a document with
 * every field set (and every kind of unknown), samples that do not fit one chunk, and a capture
 * that is killed. */
#ifndef ASSAY_TESTS_PROFILE_FIXTURE_H
#define ASSAY_TESTS_PROFILE_FIXTURE_H

#include "harness.h"
#include "profile/profile.h"
#include "profile/store.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A folder of this test's own, removed when the test ends. */
static char folder[200];

static inline void remove_folder(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command)) printf("  could not remove %s\n", folder);
}

static inline void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/assay-test-XXXXXX", base && base[0] ? base : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
    atexit(remove_folder);
}

static inline const char *in_folder(const char *name)
{
    static char paths[16][256];
    static int turn;
    char *path = paths[turn++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(data, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

static inline unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size + 1);
    CHECK(data && fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}

/* Runs SQL on a file as its owner could: nothing is defended here. */
static inline void edit(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) printf("  %s\n", message);
    CHECK(message == NULL);
    sqlite3_close(db);
}

/* Makes the file one of schema 1, as far as its columns go: one model, whose rows go by the
 * profile, and no typed facts. */
static inline void make_schema_1(const char *path)
{
    edit(path,
         "PRAGMA user_version=1; UPDATE profiles SET schema=1;"
         "DROP TABLE plans; DROP TABLE axes; DROP TABLE token_ids; DROP TABLE requirements;"
         "DROP TABLE placed_nodes; DROP TABLE power_info; DROP TABLE power_rails;"
         "DROP TABLE power_warnings; ALTER TABLE profiles DROP COLUMN kind;"
         "ALTER TABLE notes DROP COLUMN subject; ALTER TABLE findings DROP COLUMN gain_estimated;"
         "ALTER TABLE models RENAME COLUMN id TO unused;"
         "ALTER TABLE operators RENAME COLUMN model TO profile;"
         "ALTER TABLE cells RENAME COLUMN model TO profile;"
         "ALTER TABLE neuron_groups RENAME COLUMN model TO profile;"
         "ALTER TABLE tensors RENAME COLUMN model TO profile;"
         "ALTER TABLE dims RENAME COLUMN model TO profile;"
         "CREATE TABLE t AS SELECT id, profile, state, reason, engine, engine_version,"
         " engine_library, device, batch, stability, more_iterations, layers_method, layers_reason,"
         " engine_ns, unattributed_ns, layers_scale, layers_slowdown, layers_spread,"
         " layers_contention, layers_sessions, layers_discarded FROM trials;"
         "DROP TABLE trials; ALTER TABLE t RENAME TO trials");
}

/* --- a full document -------------------------------------------------------------------------- */

static const char *disturbances[] = {"steal time 3.1 %", "clock fell from 3.0 to 2.1 GHz"};
static unsigned char disturbance_kinds[] = {ASSAY__DISTURBANCE_OTHER, ASSAY__DISTURBANCE_CLOCK};
static const char *unknown[] = {"temperature: no sensor on this host"};
static const char *notes[] = {"symbolic dimension 'seq' set to 1 (give --dim seq=N)"};
static const char *reasons[] = {"drift 4 %", "two modes"};
static const char *evidence[] = {"conv1 takes 40 %", "caf\xc3\xa9"};
static const char *from[] = {"/conv1/Conv", "/relu"};
static const int64_t model_dims[] = {-1, 3, 224, 0}, trial_dims[] = {1, 3, 224, 0};
static const char *const symbols[] = {"batch; DROP TABLE trials", NULL, "", ""};
static struct assay__tensor_info model_inputs[] = {
    {.name = "x",
     .dtype = "float32",
     .rank = 4,
     .dims = model_dims,
     .symbols = symbols,
     .fill = ""},
    {.name = "scalar", .dtype = "int64", .rank = 0, .fill = ""},
};
static struct assay__tensor_info model_outputs[] = {
    {.name = "y", .dtype = "", .rank = -1, .fill = ""},
};
static struct assay__tensor_info trial_inputs[] = {
    {.name = "x", .dtype = "float32", .rank = 4, .dims = trial_dims, .fill = "uniform, seed 1"},
};
static struct assay__operator_info operators[] = {
    {"Conv", 53, 8.2e9, 4.1e9, 1e8},
    {"Loop", 1, NAN, NAN, NAN},
};
static struct assay__cell_group cell_groups[] = {
    {"inter", 29, 1e4, 9e3, ASSAY_DERIVED},
    {"head; DROP TABLE cells", 0, NAN, NAN, ASSAY_ESTIMATED},
};
static struct assay__pair options[] = {{"threads", "1"}, {"cpus", ""}};
static struct assay__layer layers[] = {
    {.index = 0,
     .name = "conv1",
     .op = "Conv",
     .provider = "CPU",
     .time_ns = 12345.678,
     .host_enqueue_ns = NAN,
     .kernel_count = NAN,
     .gap_ns = NAN,
     .share = 0.4,
     .flops = 1e9,
     .bytes = 2e6,
     .weight_bytes = 1.5e6,
     .live_bytes = 602112,
     .bound = "compute",
     .state = ASSAY_MEASURED,
     .method = "markers",
     .note = "",
     .from = from,
     .from_count = 2},
    {.index = 1,
     .name = "loop",
     .op = "Loop",
     .provider = "",
     .time_ns = NAN,
     .host_enqueue_ns = 77,
     .share = NAN,
     .flops = NAN,
     .bytes = NAN,
     .weight_bytes = NAN,
     .live_bytes = NAN,
     .bound = "unknown",
     .state = ASSAY_UNAVAILABLE,
     .method = "engine",
     .note = "host enqueue only"},
};
/* What was read over time: whole and fractional times, a reading without a value, a counter, one
 * that cannot be read. */
static double series_times[] = {0, 1000000, 2000001, 2000001, 9e15};
static double series_values[] = {12.5, NAN, 0.1 + 0.2, -3, 0};
static double counter_times[] = {0.25, 1e9 / 3}, counter_values[] = {0, 7};
static struct assay__series_info series_list[] = {
    {.name = "power.package",
     .quantity = "power",
     .rail = "package",
     .unit = "W",
     .probe = "rapl",
     .source = "powercap",
     .state = ASSAY_DERIVED,
     .note = "",
     .period_s = 0.001,
     .period_is_bound = true,
     .count = 5,
     .times_ns = series_times,
     .values = series_values},
    {.launch = 2,
     .name = "energy.it's; DROP TABLE spans",
     .quantity = "energy",
     .rail = "",
     .unit = "J",
     .probe = "",
     .source = "counter",
     .state = ASSAY_MEASURED,
     .note = "wraps",
     .counter = true,
     .period_s = NAN,
     .count = 2,
     .times_ns = counter_times,
     .values = counter_values},
    {.name = "power.gpu0",
     .quantity = "power",
     .rail = "gpu0",
     .unit = "W",
     .probe = "nvml",
     .source = "",
     .state = ASSAY_UNAVAILABLE,
     .note = "libnvidia-ml.so.1 is not here",
     .period_s = NAN},
};
static struct assay__span spans[] = {
    {0, "idle", 0, 3e9, -1},
    {2, "measure", 3e9 + 0.5, 4e9, 1234},
};
static struct assay__allocation_phase phases[] = {
    {"load", 0, 1000, 5e6, 400, 1e6, 4e6, 4.5e6},
    {"warm", 50, 100, 6400, 100, 6400, 0, NAN},
};
static struct assay__allocation_class size_classes[] = {
    {"load", 0, 64, 900, 30000},
    {"load", 64, INFINITY, 100, 4.97e6},
};
static struct assay__allocation_site sites[] = {
    {"load", "libonnxruntime.so.1+0x12ab34 < libc.so.6+0x1", 12, 3e6, 2e6},
    {"warm", "", NAN, NAN, NAN},
};
static const char *counter_names[] = {"cycles", "instructions"};
static double conv_counters[] = {1e9, NAN}, relu_counters[] = {5, 0.5};
static struct assay__class_counters class_counters[] = {
    {"Conv", 53, 12345.5, conv_counters},
    {"Relu", -1, NAN, relu_counters},
};
static struct assay__ceiling_info ceilings[] = {
    {"cpu", "compute.float32.all-cores", 2.1e11, "FLOP/s", 2.0e11, 2.1e11, "kernel", "AVX2",
     "2025-01-02T00:00:00Z"},
    {"cpu", "compute.bfloat16.all-cores", NAN, "FLOP/s", NAN, NAN, "", "no instructions for it",
     ""},
};

static inline void put_parts(struct assay_profile *p, struct assay__trial *t)
{
    t->series = series_list, t->series_count = COUNT(series_list);
    t->spans = spans, t->span_count = COUNT(spans);
    t->allocations = (struct assay__allocations){.reason = "",
                                                 .phases = phases,
                                                 .phase_count = COUNT(phases),
                                                 .classes = size_classes,
                                                 .class_count = COUNT(size_classes),
                                                 .sites = sites,
                                                 .site_count = COUNT(sites),
                                                 .growth_bytes = -0.5,
                                                 .growth_low = -2,
                                                 .growth_high = 1,
                                                 .heap_bytes = 9e6,
                                                 .heap_used_bytes = NAN,
                                                 .slowdown = 1.07};
    t->counter_names = counter_names, t->counter_count = COUNT(counter_names);
    t->class_counters = class_counters, t->class_counter_count = COUNT(class_counters);
    t->class_counter_note = "read between layers";
    p->ceilings = ceilings, p->ceiling_count = COUNT(ceilings);
}

static struct assay__finding findings[] = {
    {.id = "threads",
     .severity = "warning",
     .title = "one thread",
     .advice = "use two",
     .evidence = evidence,
     .evidence_count = 2,
     .expected_gain = 1.8,
     .verified_gain = 0.99,
     .effort = "small",
     .state = "withdrawn",
     .reason = "no difference shown",
     .energy_saving = 0.25,
     .verified_low = 0.97,
     .verified_high = 1.01,
     .verified_smallest = 0.018,
     .verified_energy = 0.9,
     .verified_energy_low = 0.8,
     .verified_energy_high = NAN,
     .verified_drift = 1e-7,
     .verified_of = "latency",
     .tried = "threads=2",
     .drift_note = "limit 0.0001"},
};

static inline void put_metrics(struct assay_metrics *set)
{
    const struct assay_metric all[] = {
        {"latency.p50", 0.1 + 0.2, "s", ASSAY_MEASURED, "clock", ""},
        {"compute.rate", 2.1e11, "FLOP/s", ASSAY_DERIVED, "graph", "flops / p50"},
        {"latency.p99", 3.2e-3, "s", ASSAY_ESTIMATED, "model",
         "fit, \xc2\xb1"
         "25 %"},
        {"memory.bandwidth", 68e9, "B/s", ASSAY_PUBLISHED, "vendor sheet", "peak"},
        {"power.average", NAN, "W", ASSAY_UNAVAILABLE, "", "no RAPL on this host"},
        {"latency.min", 0, "s", ASSAY_MEASURED, "clock", "zero is a value"},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        CHECK_INT(assay_metrics_put(set, &all[i]), 0);
}

static inline struct assay_profile *make_document(void)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    CHECK(isnan(p->environment.memory_bytes) && p->models[0]->parameters == -1 && !p->complete);
    assay__profile_set_command(p, "run");
    p->command_line = "assay run 'a b.onnx'";
    p->created = "2025-01-02T03:04:05Z";
    p->environment = (struct assay__environment){
        .host = "h",
        .os = "Linux",
        .kernel = "6.1",
        .architecture = "x86_64",
        .cpu_model = "CPU",
        .virtualized = "kvm",
        .governor = "performance",
        .simd = "avx2 fma",
        .container = "",
        .packages = 1,
        .cores = 2,
        .threads = 4,
        .memory_bytes = 25e9,
        .cpu_max_hz = 3e9,
        .l1d_bytes = 32768,
        .l2_bytes = 1 << 20,
        .l3_bytes = NAN,
        .disturbances = disturbances,
        .disturbance_kinds = disturbance_kinds,
        .disturbance_count = 2,
        .unknown = unknown,
        .unknown_count = 1,
    };
    *p->models[0] = (struct assay__model_info){
        .id = 1,
        .name = "resnet50",
        .path = "a b.onnx",
        .format = "onnx",
        .fingerprint = "f00d",
        .sha256 = "",
        .parameters = 25557032,
        .weight_bytes = -1,
        .node_count = 0,
        .ir_version = 8,
        .opset = "17",
        .producer = "assay",
        .operators = operators,
        .operator_count = 2,
        .inputs = model_inputs,
        .input_count = 2,
        .outputs = model_outputs,
        .output_count = 1,
        .cell = {.kind = "CfC",
                 .form = "unrolled",
                 .steps = 16,
                 .fault = "",
                 .groups = cell_groups,
                 .group_count = 2},
    };
    p->findings = findings;
    p->finding_count = 1;
    for (int i = 0; i < 2; i++) {
        struct assay__trial *t = assay__profile_trial(p);
        CHECK(t != NULL && t->id == i + 1);
        if (i == 1) {
            t->state = ASSAY__TRIAL_FAILED;
            t->reason = "worker died: SIGSEGV";
            continue;
        }
        t->state = ASSAY__TRIAL_OK;
        t->target.engine = "ort", t->target.engine_version = "1.31.1",
        t->target.engine_library = "lib.so", t->target.device = "cpu";
        t->options = options, t->option_count = 2, t->batch = 0;
        t->inputs = trial_inputs, t->input_count = 1, t->notes = notes, t->note_count = 1;
        t->layers = (struct assay__layers){.method = "markers",
                                           .reason = "said",
                                           .items = layers,
                                           .count = 2,
                                           .engine_ns = 210,
                                           .unattributed_ns = -3.5,
                                           .scale_factor = 0.99,
                                           .slowdown = 1.2,
                                           .spread = NAN,
                                           .contention = 0.01,
                                           .sessions = 5,
                                           .discarded = 1};
        t->stability = (struct assay__stability){
            .verdict = "unstable", .reasons = reasons, .reason_count = 2, .more_iterations = 4000};
        put_metrics(t->metrics);
        put_parts(p, t);
        for (int l = 0; l < 2; l++) {
            struct assay__launch *launch = assay__trial_launch(p, t);
            CHECK(launch != NULL && launch->id == l + 1);
            launch->state = l ? ASSAY__TRIAL_INTERRUPTED : ASSAY__TRIAL_OK;
            launch->reason = l ? "Ctrl-C" : "";
            launch->streams = l ? 3 : 1;
            launch->warmup = l ? 0 : 10;
            launch->wall_ns = l ? NAN : 1e9;
            launch->p50_ns = l ? NAN : 20500;
            launch->log_tail = l ? "line 1\nline 2" : "";
            put_metrics(launch->metrics);
        }
    }
    return p;
}

/* Samples of the document's launches: 1/1 has 150,000 in appends of odd sizes, 1/2 has streams of
 * 3, 0 and 2. */
#define LONG_COUNT 150000
static const double short_streams[2][3] = {{1.5, NAN, -2}, {7, 8, 0}};

static inline double long_sample(size_t i)
{
    return 20000 + (double)((i * 2654435761u) % 1000u) - (i % 997 == 0 ? 20000 * 3.0 : 0);
}

static inline void write_samples(struct assay__store *store)
{
    double *values = malloc(LONG_COUNT * sizeof *values);
    for (size_t i = 0; i < LONG_COUNT; i++)
        values[i] = long_sample(i);
    static const size_t appends[] = {1, 2, 0, 4093, 1, 5000, 100, 70000, 3};
    size_t done = 0;
    for (size_t i = 0; i < COUNT(appends); i++) {
        CHECK_INT(assay__store_add_samples(store, 1, 1, 0, values + done, appends[i], NULL), 0);
        done += appends[i];
    }
    CHECK_INT(assay__store_add_samples(store, 1, 1, 0, values + done, LONG_COUNT - done, NULL), 0);
    CHECK_INT(assay__store_add_samples(store, 1, 2, 0, short_streams[0], 3, NULL), 0);
    CHECK_INT(assay__store_add_samples(store, 1, 2, 2, short_streams[1], 2, NULL), 0);
    free(values);
}

static inline void put_document(struct assay__store *store, const struct assay_profile *p)
{
    struct assay_error error;
    CHECK_INT(assay__store_put_profile(store, p, &error), 0);
    for (size_t t = 0; t < p->trial_count; t++) {
        CHECK_INT(assay__store_put_trial(store, &p->trials[t], &error), 0);
        for (size_t l = 0; l < p->trials[t].launch_count; l++)
            CHECK_INT(
                assay__store_put_launch(store, p->trials[t].id, &p->trials[t].launches[l], &error),
                0);
    }
    CHECK_INT(assay__store_put_findings(store, p, &error), 0);
}

static inline void write_document(const char *path)
{
    struct assay_error error = {0};
    struct assay__store *store = NULL;
    struct assay_profile *p = make_document();
    if (assay__store_create(path, &store, &error)) printf("  %s\n", error.message);
    CHECK(store != NULL);
    put_document(store, p);
    write_samples(store);
    put_document(store, p); /* again: it updates, samples stay */
    CHECK(exists(in_folder("p.assay-wal")));
    CHECK_INT(assay__store_finish(store, true, false, &error), 0);
    assay_profile_close(p);
}

static inline void check_samples(const struct assay__trial *trial)
{
    const struct assay__launch *one = &trial->launches[0], *two = &trial->launches[1];
    CHECK_INT(one->sample_count, LONG_COUNT);
    CHECK_INT(one->stream_offsets[0], 0);
    CHECK_INT(one->stream_offsets[1], LONG_COUNT);
    for (size_t i = 0; i < LONG_COUNT; i++)
        CHECK(one->samples_ns[i] == long_sample(i));
    CHECK_INT(two->sample_count, 5);
    static const size_t offsets[] = {0, 3, 3, 5};
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(two->stream_offsets[i], offsets[i]);
    CHECK(two->samples_ns[0] == 1.5 && isnan(two->samples_ns[1]) && two->samples_ns[2] == -2);
    CHECK(two->samples_ns[3] == 7 && two->samples_ns[4] == 8);
}

/* A child that has put everything and n samples, then is killed with SIGKILL. */
static inline void kill_capture(const char *path)
{
    int ready[2];
    char byte = 0;
    CHECK_INT(pipe(ready), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct assay__store *store = NULL;
        struct assay_profile *p = make_document();
        CHECK_INT(assay__store_create(path, &store, NULL), 0);
        put_document(store, p);
        write_samples(store);
        CHECK(write(ready[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

#endif
