/* test_profile.c - the profile as a file: column chunks are exact, a document survives in every
 * field, a killed capture is readable and incomplete, a failing disk loses nothing that was
 * written. */
#include "profile_fixture.h"

#include "profile/chunk.h"

#include <sys/resource.h>

/* --- chunks ----------------------------------------------------------------------------------- */

static void check_chunk(const double *values, size_t count, const char *expected_encoding)
{
    struct assay__buf bytes = {0};
    const char *encoding = assay__chunk_encode(values, count, &bytes);
    CHECK(!bytes.failed);
    CHECK_STR(encoding, expected_encoding);
    double *out = malloc((count + 1) * sizeof *out);
    CHECK_INT(assay__chunk_decode(encoding, bytes.data, bytes.length, count, out), 0);
    CHECK(count == 0 || memcmp(out, values, count * sizeof *values) == 0); /* every bit */
    /* Every wrong count and every cut is noticed. */
    CHECK_INT(assay__chunk_decode(encoding, bytes.data, bytes.length, count + 1, out),
              ASSAY_EFORMAT);
    if (count) {
        CHECK_INT(assay__chunk_decode(encoding, bytes.data, bytes.length, count - 1, out),
                  ASSAY_EFORMAT);
        CHECK_INT(assay__chunk_decode(encoding, bytes.data, bytes.length - 1, count, out),
                  ASSAY_EFORMAT);
    }
    free(out);
    assay__buf_free(&bytes);
}

static void test_chunk_exact(void)
{
    static const double whole[] = {
        20500, 20501, 20499, 0, -1, 1, 9007199254740992.0, -9007199254740992.0, 9007199254740992.0,
        5};
    static const double mixed[] = {0.5, -0.0, 1e300, -1e-300, 20500, INFINITY, -INFINITY};
    static const double minus_zero[] = {-0.0}, too_big[] = {9007199254740994.0};
    double nan_payload;
    uint64_t bits = 0x7ff8000000abcdefu;
    memcpy(&nan_payload, &bits, sizeof bits);
    check_chunk(whole, COUNT(whole), ASSAY__CHUNK_DELTA);
    check_chunk(whole, 0, ASSAY__CHUNK_DELTA);
    check_chunk(mixed, COUNT(mixed), ASSAY__CHUNK_F64);
    check_chunk(minus_zero, 1, ASSAY__CHUNK_F64);
    check_chunk(too_big, 1, ASSAY__CHUNK_F64);
    check_chunk(&nan_payload, 1, ASSAY__CHUNK_F64);
}

static void test_chunk_bytes(void)
{
    /* 20500 -> zigzag 41000 = a8 c0 02; +1 -> 2; -2 -> 3: the format is pinned. */
    static const double values[] = {20500, 20501, 20499};
    static const unsigned char expected[] = {0xa8, 0xc0, 0x02, 0x02, 0x03};
    struct assay__buf bytes = {0};
    assay__chunk_encode(values, 3, &bytes);
    CHECK_INT(bytes.length, sizeof expected);
    CHECK(memcmp(bytes.data, expected, sizeof expected) == 0);
    assay__buf_free(&bytes);
}

static void test_chunk_damaged(void)
{
    static const unsigned char endless[16] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                              0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
    static const unsigned char over64[10] = {0xff, 0xff, 0xff, 0xff, 0xff,
                                             0xff, 0xff, 0xff, 0xff, 2};
    static const unsigned char huge[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
    double out[4];
    CHECK_INT(assay__chunk_decode(ASSAY__CHUNK_DELTA, endless, 16, 1, out), ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode(ASSAY__CHUNK_DELTA, over64, 10, 1, out), ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode(ASSAY__CHUNK_DELTA, huge, 10, 1, out), ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode("lz77", endless, 16, 1, out), ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode(NULL, endless, 16, 1, out), ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode(ASSAY__CHUNK_F64, NULL, 8, 1, out), ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode(ASSAY__CHUNK_F64, endless, 8 * 65537u, 65537, out),
              ASSAY_EFORMAT);
}

#define SAME_TEXT(field) CHECK_STR(b->field, a->field ? a->field : "")
#define SAME_INT(field) CHECK_INT(b->field, a->field)
#define SAME_REAL(field) CHECK(a->field == b->field || (isnan(a->field) && isnan(b->field)))

static void same_texts(const char *const *a, size_t a_count, const char *const *b, size_t b_count)
{
    CHECK_INT(b_count, a_count);
    for (size_t i = 0; i < a_count; i++)
        CHECK_STR(b[i], a[i]);
}

static void same_tensors(const struct assay__tensor_info *a, size_t a_count,
                         const struct assay__tensor_info *b, size_t b_count)
{
    CHECK_INT(b_count, a_count);
    for (size_t i = 0; i < a_count; i++, a++, b++) {
        SAME_TEXT(name);
        SAME_TEXT(dtype);
        SAME_TEXT(fill);
        SAME_INT(rank);
        for (int d = 0; d < a->rank; d++) {
            SAME_INT(dims[d]);
            const char *symbol = a->symbols && a->symbols[d] ? a->symbols[d] : "";
            CHECK_STR(b->symbols[d], symbol);
        }
    }
}

static void same_metrics(const struct assay_metrics *x, const struct assay_metrics *y)
{
    CHECK_INT(assay_metrics_count(y), assay_metrics_count(x));
    for (size_t i = 0; i < assay_metrics_count(x); i++) {
        const struct assay_metric *a = assay_metrics_at(x, i), *b = assay_metrics_at(y, i);
        SAME_TEXT(name);
        SAME_TEXT(unit);
        SAME_TEXT(source);
        SAME_TEXT(note);
        SAME_INT(state);
        SAME_REAL(value);
    }
}

static void same_environment(const struct assay__environment *a, const struct assay__environment *b)
{
    SAME_TEXT(host);
    SAME_TEXT(os);
    SAME_TEXT(kernel);
    SAME_TEXT(architecture);
    SAME_TEXT(cpu_model);
    SAME_TEXT(virtualized);
    SAME_TEXT(governor);
    SAME_TEXT(simd);
    SAME_TEXT(container);
    SAME_INT(packages);
    SAME_INT(cores);
    SAME_INT(threads);
    SAME_REAL(memory_bytes);
    SAME_REAL(cpu_max_hz);
    SAME_REAL(l1d_bytes);
    SAME_REAL(l2_bytes);
    SAME_REAL(l3_bytes);
    same_texts(a->disturbances, a->disturbance_count, b->disturbances, b->disturbance_count);
    for (size_t i = 0; i < a->disturbance_count; i++)
        SAME_INT(disturbance_kinds[i]);
    same_texts(a->unknown, a->unknown_count, b->unknown, b->unknown_count);
}

static void same_model(const struct assay__model_info *a, const struct assay__model_info *b)
{
    SAME_TEXT(name);
    SAME_TEXT(path);
    SAME_TEXT(format);
    SAME_TEXT(fingerprint);
    SAME_TEXT(sha256);
    SAME_INT(parameters);
    SAME_INT(weight_bytes);
    SAME_INT(node_count);
    SAME_INT(ir_version);
    SAME_TEXT(opset);
    SAME_TEXT(producer);
    SAME_INT(operator_count);
    for (size_t i = 0; i < a->operator_count; i++) {
        SAME_TEXT(operators[i].op);
        SAME_INT(operators[i].count);
        SAME_REAL(operators[i].flops);
        SAME_REAL(operators[i].macs);
        SAME_REAL(operators[i].bytes);
    }
    SAME_TEXT(cell.kind);
    SAME_TEXT(cell.form);
    SAME_INT(cell.steps);
    SAME_TEXT(cell.fault);
    SAME_INT(cell.group_count);
    for (size_t i = 0; i < a->cell.group_count; i++) {
        SAME_TEXT(cell.groups[i].name);
        SAME_INT(cell.groups[i].neurons);
        SAME_REAL(cell.groups[i].flops);
        SAME_REAL(cell.groups[i].flops_needed);
        SAME_INT(cell.groups[i].state);
    }
    same_tensors(a->inputs, a->input_count, b->inputs, b->input_count);
    same_tensors(a->outputs, a->output_count, b->outputs, b->output_count);
}

static void same_layers(const struct assay__layers *a, const struct assay__layers *b)
{
    SAME_TEXT(method);
    SAME_TEXT(reason);
    SAME_REAL(engine_ns);
    SAME_REAL(unattributed_ns);
    SAME_REAL(scale_factor);
    SAME_REAL(slowdown);
    SAME_REAL(spread);
    SAME_REAL(contention);
    SAME_INT(sessions);
    SAME_INT(discarded);
    SAME_INT(count);
    for (size_t i = 0; i < a->count; i++) {
        SAME_INT(items[i].index);
        SAME_TEXT(items[i].name);
        SAME_TEXT(items[i].op);
        SAME_TEXT(items[i].provider);
        SAME_REAL(items[i].time_ns);
        SAME_REAL(items[i].host_enqueue_ns);
        SAME_REAL(items[i].share);
        SAME_REAL(items[i].flops);
        SAME_REAL(items[i].bytes);
        SAME_REAL(items[i].weight_bytes);
        SAME_REAL(items[i].live_bytes);
        SAME_TEXT(items[i].bound);
        SAME_INT(items[i].state);
        SAME_TEXT(items[i].method);
        SAME_TEXT(items[i].note);
        same_texts(a->items[i].from, a->items[i].from_count, b->items[i].from,
                   b->items[i].from_count);
    }
}

static void same_trial(const struct assay__trial *a, const struct assay__trial *b)
{
    SAME_INT(id);
    SAME_INT(state);
    SAME_TEXT(reason);
    SAME_TEXT(target.engine);
    SAME_TEXT(target.engine_version);
    SAME_TEXT(target.engine_library);
    SAME_TEXT(target.device);
    SAME_INT(batch);
    SAME_INT(option_count);
    for (size_t i = 0; i < a->option_count; i++) {
        SAME_TEXT(options[i].key);
        SAME_TEXT(options[i].value);
    }
    same_tensors(a->inputs, a->input_count, b->inputs, b->input_count);
    same_texts(a->notes, a->note_count, b->notes, b->note_count);
    same_metrics(a->metrics, b->metrics);
    same_layers(&a->layers, &b->layers);
    SAME_TEXT(stability.verdict);
    SAME_INT(stability.more_iterations);
    same_texts(a->stability.reasons, a->stability.reason_count, b->stability.reasons,
               b->stability.reason_count);
    SAME_INT(launch_count);
    for (size_t i = 0; i < a->launch_count; i++) {
        SAME_INT(launches[i].id);
        SAME_INT(launches[i].state);
        SAME_TEXT(launches[i].reason);
        SAME_INT(launches[i].streams);
        SAME_INT(launches[i].warmup);
        SAME_REAL(launches[i].wall_ns);
        SAME_REAL(launches[i].p50_ns);
        SAME_TEXT(launches[i].log_tail);
        same_metrics(a->launches[i].metrics, b->launches[i].metrics);
    }
}

static void test_round_trip(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    CHECK(exists(path) && !exists(in_folder("p.assay-wal")) && !exists(in_folder("p.assay-shm")));
    struct assay_error error = {0};
    struct assay_profile *b = NULL, *a = make_document();
    if (assay_profile_open(path, &b, &error)) printf("  %s\n", error.message);
    CHECK(b != NULL);
    CHECK_STR(b->path, path);
    SAME_TEXT(assay_version);
    SAME_INT(schema);
    SAME_TEXT(command);
    SAME_TEXT(command_line);
    SAME_TEXT(created);
    CHECK(b->complete && !b->interrupted);
    same_environment(&a->environment, &b->environment);
    same_model(a->models[0], b->models[0]);
    CHECK_INT(assay_profile_trials(b), 2);
    same_trial(&a->trials[0], &b->trials[0]);
    same_trial(&a->trials[1], &b->trials[1]);
    check_samples(&b->trials[0]);
    SAME_INT(finding_count);
    SAME_TEXT(findings[0].id);
    SAME_TEXT(findings[0].severity);
    SAME_TEXT(findings[0].title);
    SAME_TEXT(findings[0].advice);
    SAME_REAL(findings[0].expected_gain);
    SAME_REAL(findings[0].verified_gain);
    SAME_REAL(findings[0].energy_saving);
    SAME_REAL(findings[0].verified_low);
    SAME_REAL(findings[0].verified_high);
    SAME_REAL(findings[0].verified_smallest);
    SAME_REAL(findings[0].verified_energy);
    SAME_REAL(findings[0].verified_energy_low);
    SAME_REAL(findings[0].verified_energy_high);
    SAME_REAL(findings[0].verified_drift);
    SAME_TEXT(findings[0].verified_of);
    SAME_TEXT(findings[0].tried);
    SAME_TEXT(findings[0].drift_note);
    SAME_TEXT(findings[0].effort);
    SAME_TEXT(findings[0].state);
    SAME_TEXT(findings[0].reason);
    same_texts(a->findings[0].evidence, 2, b->findings[0].evidence, b->findings[0].evidence_count);
    CHECK(assay_profile_metrics(b, 0) == b->trials[0].metrics);
    CHECK(assay_profile_metrics(b, 2) == NULL && assay_profile_metrics(NULL, 0) == NULL);
    assay_profile_close(a);
    assay_profile_close(b);
    assay_profile_close(NULL);
}

static void test_states(void)
{
    static const char *const names[] = {"running", "ok", "failed", "skipped", "interrupted"};
    for (int i = 0; i < 5; i++) {
        CHECK_STR(assay__trial_state_name((enum assay__trial_state)i), names[i]);
        CHECK_INT(assay__trial_state_parse(names[i]), i);
    }
    CHECK_INT(assay__trial_state_parse("OK"), -1);
    CHECK_INT(assay__trial_state_parse(NULL), -1);
}

/* --- a capture that ends early ---------------------------------------------------------------- */

static void check_killed(const char *path)
{
    struct assay_error error = {0};
    struct assay_profile *p = NULL;
    if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
    CHECK(p != NULL);
    CHECK(!p->complete && !p->interrupted);
    CHECK_INT(p->trial_count, 2);
    CHECK_INT(assay_metrics_count(p->trials[0].metrics), 6);
    check_samples(&p->trials[0]);
    assay_profile_close(p);
}

static void test_killed(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    kill_capture(path);
    CHECK(exists(in_folder("p.assay-wal")));
    check_killed(path);
    CHECK(exists(in_folder("p.assay-wal"))); /* reading changed nothing */
    check_killed(path);
    unlink(in_folder("p.assay-shm")); /* as after a copy of the two files */
    check_killed(path);
    CHECK(!exists(in_folder("p.assay-shm")));
}

/* Root ignores permissions: become someone else in this test's own process. */
static void drop_root(void)
{
    if (geteuid() != 0) return;
    CHECK_INT(setgid(65534), 0);
    CHECK_INT(setuid(65534), 0);
}

static void test_read_only_folder(void)
{
    make_folder();
    const char *killed = in_folder("k.assay"), *whole = in_folder("p.assay");
    kill_capture(killed);
    write_document(whole);
    CHECK_INT(chmod(killed, 0444), 0);
    CHECK_INT(chmod(in_folder("k.assay-wal"), 0444), 0);
    CHECK_INT(chmod(in_folder("k.assay-shm"), 0444), 0);
    CHECK_INT(chmod(whole, 0444), 0);
    CHECK_INT(chmod(folder, 0555), 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        struct assay_error error = {0};
        struct assay__store *store = NULL;
        struct assay_profile *p = NULL;
        drop_root();
        check_killed(killed);
        CHECK_INT(assay_profile_open(whole, &p, NULL), 0);
        CHECK(p->complete);
        check_samples(&p->trials[0]);
        assay_profile_close(p);
        CHECK_INT(assay__store_create(in_folder("new.assay"), &store, &error), ASSAY_EDENIED);
        CHECK_HAS(error.message, "new.assay: cannot create the profile: Permission denied");
        CHECK(store == NULL);
        _exit(0);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    CHECK_INT(chmod(folder, 0755), 0);
    CHECK_INT(status, 0);
}

static void test_interrupted(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay__store *store = NULL;
    struct assay_profile *p = NULL;
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(assay__store_finish(store, false, true, NULL), 0);
    CHECK_INT(assay_profile_open(path, &p, NULL), 0);
    CHECK(!p->complete && p->interrupted && p->trial_count == 0);
    assay_profile_close(p);
    CHECK_INT(assay__store_create(path, &store, NULL), 0); /* a profile may be replaced */
    assay__store_abandon(store);
    CHECK_INT(assay_profile_open(path, &p, NULL), 0);
    CHECK(!p->complete && !p->interrupted);
    assay_profile_close(p);
    CHECK_INT(assay__store_finish(NULL, true, false, NULL), 0);
    assay__store_abandon(NULL);
}

static void test_samples_before_launch(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay__store *store = NULL;
    struct assay_profile *p = NULL;
    double values[] = {3, 4};
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(assay__store_add_samples(store, 1, 1, 1, values, 2, NULL), 0);
    CHECK_INT(assay_profile_open(path, &p, NULL), 0); /* while the capture runs */
    CHECK_INT(p->trial_count, 1);
    CHECK_INT(p->trials[0].launches[0].streams, 2);
    CHECK_INT(p->trials[0].launches[0].stream_offsets[1], 0);
    CHECK_INT(p->trials[0].launches[0].sample_count, 2);
    CHECK(p->trials[0].state == ASSAY__TRIAL_RUNNING);
    assay_profile_close(p);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    CHECK(!exists(in_folder("p.assay-wal")));
}

/* The file may not grow any more: the failing call says so, and what was committed stays. */
static void test_no_space(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_error error = {0};
    struct assay__store *store = NULL;
    struct assay_profile *p = NULL;
    double *values = malloc(LONG_COUNT * sizeof *values);
    for (size_t i = 0; i < LONG_COUNT; i++)
        values[i] = (double)i * 0.1; /* 1.2 MB: cannot be packed */
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(assay__store_add_samples(store, 1, 1, 0, values, 1000, NULL), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {600000, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int code = assay__store_add_samples(store, 1, 1, 0, values + 1000, LONG_COUNT - 1000, &error);
    CHECK_INT(code, ASSAY_EIO);
    CHECK_HAS(error.message, "p.assay: cannot write the profile: File too large");
    CHECK(strchr(error.message, '\n') == NULL);
    CHECK_INT(assay_profile_open(path, &p, NULL), 0);
    CHECK_INT(p->trials[0].launches[0].sample_count, 1000);
    assay_profile_close(p);
    CHECK_INT(assay__store_add_samples(store, 1, 1, 0, values + 1000, 5, NULL), 0); /* goes on */
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    CHECK_INT(assay_profile_open(path, &p, NULL), 0);
    CHECK_INT(p->trials[0].launches[0].sample_count, 1005);
    CHECK(memcmp(p->trials[0].launches[0].samples_ns, values, 1005 * sizeof *values) == 0);
    assay_profile_close(p);
    free(values);
}

static void test_create_refused(void)
{
    make_folder();
    struct assay_error error = {0};
    struct assay__store *store = NULL, *second = NULL;
    const char *text = in_folder("notes.txt"), *other = in_folder("other.db");
    write_file(text, "my notes, do not lose", 21);
    CHECK_INT(assay__store_create(text, &store, &error), ASSAY_EDENIED);
    CHECK_HAS(error.message, "notes.txt: exists and is not an assay profile");
    size_t size = 0;
    unsigned char *kept = read_file(text, &size);
    CHECK(size == 21 && memcmp(kept, "my notes, do not lose", 21) == 0);
    free(kept);
    edit(other, "CREATE TABLE t(x)");
    CHECK_INT(assay__store_create(other, &store, &error), ASSAY_EDENIED);
    CHECK_INT(assay__store_create(folder, &store, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "is a folder");
    CHECK_INT(assay__store_create("/dev/null", &store, &error), ASSAY_EINVAL);
    CHECK_INT(assay__store_create("", &store, &error), ASSAY_EINVAL);
    CHECK_INT(assay__store_create(in_folder("no/such/p.assay"), &store, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "No such file or directory");
    CHECK(store == NULL);
    write_file(in_folder("empty.assay"), "", 0);
    CHECK_INT(assay__store_create(in_folder("empty.assay"), &store, &error), 0);
    pid_t pid = fork(); /* another process must not replace what is being written */
    if (pid == 0) {
        _exit(assay__store_create(in_folder("empty.assay"), &second, &error) == ASSAY_EDENIED &&
                      strstr(error.message, "in use by process")
                  ? 0
                  : 1);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
}

/* Creates at `path`, adds `samples` of them, closes. */
static void capture(const char *path, size_t samples, bool finish)
{
    static const double values[] = {5, 6, 7};
    struct assay_error error = {0};
    struct assay__store *store = NULL;
    if (assay__store_create(path, &store, &error)) printf("  %s\n", error.message);
    CHECK(store != NULL);
    if (samples) CHECK_INT(assay__store_add_samples(store, 1, 1, 0, values, samples, NULL), 0);
    if (finish)
        CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    else
        assay__store_abandon(store);
}

/* Captures and is killed; the files stay as they are then. */
static void capture_killed(const char *path, size_t samples)
{
    static const double values[] = {5, 6, 7};
    pid_t pid = fork();
    if (pid == 0) {
        struct assay__store *store = NULL;
        if (assay__store_create(path, &store, NULL) == 0 && samples)
            assay__store_add_samples(store, 1, 1, 0, values, samples, NULL);
        raise(SIGKILL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status));
}

static size_t samples_in(const char *path)
{
    struct assay_profile *p = NULL;
    struct assay_error error = {0};
    if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
    CHECK(p != NULL);
    size_t count = p->trial_count && p->trials[0].launch_count
                       ? p->trials[0].launches[0].sample_count
                       : 0;
    assay_profile_close(p);
    return count;
}

static void test_previous(void)
{
    make_folder();
    const char *path = in_folder("p.assay"), *aside = in_folder("p.assay.previous");
    struct assay__store *store = NULL;
    struct assay_error error = {0};
    capture(path, 0, true); /* the first may be empty: it says why nothing was measured */
    CHECK_INT(samples_in(path), 0);
    capture(path, 3, true);
    CHECK_INT(samples_in(path), 3);
    capture(path, 0, true); /* nothing measured: the one before stays */
    CHECK_INT(samples_in(path), 3);
    capture(path, 0, false);
    CHECK_INT(samples_in(path), 3);
    CHECK(!exists(aside));
    capture(path, 2, false); /* a sample makes it the better one */
    CHECK_INT(samples_in(path), 2);
    CHECK(!exists(aside));
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(samples_in(aside), 2); /* readable while the new one is written */
    assay__store_abandon(store);
    write_file(aside, "mine", 4); /* a file of that name that is not ours */
    CHECK_INT(assay__store_create(path, &store, &error), ASSAY_EDENIED);
    CHECK_HAS(error.message, ".previous: exists and is not an assay profile");
    CHECK_INT(samples_in(path), 2);
    CHECK_INT(unlink(aside), 0);
    edit(path, "PRAGMA user_version=7");
    CHECK_INT(assay__store_create(path, &store, &error), ASSAY_ENEWER);
    CHECK_HAS(error.message, "made by a newer assay (schema 7, this one writes 2)");
    CHECK(exists(path) && !exists(aside));
}

static void test_previous_killed(void)
{
    make_folder();
    const char *path = in_folder("p.assay"), *aside = in_folder("p.assay.previous");
    capture(path, 3, true);
    capture_killed(path, 0);
    CHECK_INT(samples_in(path), 0);
    CHECK_INT(samples_in(aside), 3);
    capture_killed(path, 0); /* the empty one does not push the good one out */
    CHECK_INT(samples_in(aside), 3);
    capture(path, 0, true);
    CHECK_INT(samples_in(path), 3);
    CHECK(!exists(aside));
    capture_killed(path, 2); /* samples are in the log only */
    CHECK(exists(in_folder("p.assay-wal")));
    CHECK_INT(samples_in(aside), 3);
    capture(path, 0, false); /* the newer one of the two comes back, log included */
    CHECK_INT(samples_in(path), 2);
    capture(path, 1, true);
    CHECK_INT(samples_in(path), 1);
    CHECK(!exists(aside) && !exists(in_folder("p.assay.previous-wal")));
}

static void test_odd_names(void)
{
    make_folder();
    CHECK_INT(chdir(folder), 0);
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a b%20#c.assay",
                                        "\xc3\xa9?.assay"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct assay__store *store = NULL;
        struct assay_profile *p = NULL;
        CHECK_INT(assay__store_create(names[i], &store, NULL), 0);
        CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
        CHECK(exists(names[i]));
        CHECK_INT(assay_profile_open(names[i], &p, NULL), 0);
        CHECK(p->complete);
        assay_profile_close(p);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"chunk_exact", test_chunk_exact},
        {"chunk_bytes", test_chunk_bytes},
        {"chunk_damaged", test_chunk_damaged},
        {"round_trip", test_round_trip},
        {"states", test_states},
        {"killed", test_killed},
        {"read_only_folder", test_read_only_folder},
        {"interrupted", test_interrupted},
        {"samples_before_launch", test_samples_before_launch},
        {"no_space", test_no_space},
        {"create_refused", test_create_refused},
        {"previous", test_previous},
        {"previous_killed", test_previous_killed},
        {"odd_names", test_odd_names},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
