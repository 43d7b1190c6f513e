/* test_threads.c - what a program may do from several threads at once: run models, log, start
 * processes. Also run under ThreadSanitizer, which finds what these tests only touch. */
#include "base/log.h"
#include "harness.h"
#include "platform/platform.h"
#include "run_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 2
#define ROUNDS 200

static void in_threads(void *(*work)(void *context), void *contexts[THREADS])
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, work, contexts[i]), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* --- runs ------------------------------------------------------------------------------------- */

struct one_run {
    const char *script, *output;
    double p50_s;
    int code;
};

static void *run_model(void *context)
{
    struct one_run *run = context;
    struct assay_profile *profile = NULL;
    struct assay__run_options options = {.workload.model = "mlp",
                                         .target.engine = "fake",
                                         .script = run->script,
                                         .keeping.output = run->output,
                                         .measuring.iterations = 100,
                                         .measuring.launches = 2,
                                         .target.streams = 2,
                                         .watching.power = true,
                                         .watching.memory = true,
                                         .watching.idle_given = true,
                                         .watching.idle_s = 0};
    run->code = assay__run(&options, &profile, NULL);
    if (!run->code) run->p50_s = value(profile, "latency.p50");
    static const char *const formats[] = {"text", "json", "csv", "markdown", "junit", "html"};
    for (size_t i = 0; !run->code && i < sizeof formats / sizeof formats[0]; i++) {
        const struct assay_report_options view = {.size = sizeof view, .format = formats[i]};
        char *text = NULL;
        run->code = assay_report(profile, &view, &text, NULL, NULL);
        assay_free(text);
    }
    assay_profile_close(profile);
    return NULL;
}

static void test_runs(void)
{
    struct one_run first = {.script = "steady=1ms", .output = "first.assay"};
    struct one_run second = {.script = "steady=3ms", .output = "second.assay"};
    void *contexts[THREADS] = {&first, &second};
    char folder[] = "/tmp/assay-threads-XXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    in_threads(run_model, contexts);
    CHECK_INT(first.code, 0);
    CHECK_INT(second.code, 0);
    CHECK_NEAR(first.p50_s, 0.001, 1e-9);
    CHECK_NEAR(second.p50_s, 0.003, 1e-9);
    CHECK(unlink(first.output) == 0 && unlink(second.output) == 0 && rmdir(folder) == 0);
}

/* --- devices, models, one profile that several read ------------------------------------------- */

static struct assay_profile *shared;

static void *look(void *context)
{
    const struct assay_devices_options wanted = {.size = sizeof wanted, .engine = "fake"};
    const struct assay_inspect_options model = {.size = sizeof model, .workload = {.model = "mlp"}};
    struct assay_device device = {.size = sizeof device};
    struct assay_devices *devices = NULL;
    struct assay_inspection *inspection = NULL;
    char *text = NULL;
    int *code = context;
    *code = assay_devices(&wanted, &devices, NULL);
    if (!assay_devices_at(devices, 0, &device)) *code = ASSAY_ENOTFOUND;
    if (!*code) *code = assay_inspect(&model, &inspection, NULL);
    if (!*code) *code = assay_inspection_report(inspection, NULL, NULL, &text, NULL, NULL);
    assay_free(text);
    if (!*code) *code = assay_report(shared, NULL, &text, NULL, NULL);
    if (!*code) assay_free(text);
    assay_inspection_free(inspection);
    assay_devices_free(devices);
    return NULL;
}

static void test_looks(void)
{
    const struct assay__run_options options = {.workload = {.model = "mlp"},
                                               .target = {.engine = "fake"},
                                               .measuring = {.iterations = 100},
                                               .script = "steady=1ms"};
    int codes[THREADS] = {1, 1};
    void *contexts[THREADS] = {&codes[0], &codes[1]};
    CHECK_INT(assay__run(&options, &shared, NULL), 0);
    in_threads(look, contexts);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(codes[i], 0);
    assay_profile_close(shared);
}

/* --- the log ---------------------------------------------------------------------------------- */

struct listener {
    atomic_int lines;
    atomic_bool gone;
};

static void listen(void *context, enum assay_log_level level, const char *domain,
                   const char *message)
{
    struct listener *listener = context;
    (void)level;
    if (listener->gone || strcmp(domain, "test") != 0 || message[0] != 'l') abort();
    listener->lines++;
}

static void *write_lines(void *context)
{
    (void)context;
    for (int i = 0; i < ROUNDS; i++)
        assay__log(ASSAY_LOG_WARNING, "test", "line %d", i);
    return NULL;
}

/* Each listener is gone as soon as the next is set. */
static void *change_listener(void *context)
{
    struct listener *listeners = context;
    for (int i = 0; i < ROUNDS; i++) {
        assay_log_set(listen, &listeners[i + 1], ASSAY_LOG_INFO);
        listeners[i].gone = true;
    }
    return NULL;
}

static void test_log(void)
{
    static struct listener listeners[ROUNDS + 1];
    pthread_t changing;
    void *contexts[THREADS] = {NULL, NULL};
    int lines = 0;
    assay_log_set(listen, listeners, ASSAY_LOG_INFO);
    CHECK_INT(pthread_create(&changing, NULL, change_listener, listeners), 0);
    in_threads(write_lines, contexts);
    CHECK_INT(pthread_join(changing, NULL), 0);
    assay_log_set(NULL, NULL, ASSAY_LOG_INFO);
    for (int i = 0; i <= ROUNDS; i++)
        lines += listeners[i].lines;
    CHECK_INT(lines, THREADS * ROUNDS);
}

/* --- processes -------------------------------------------------------------------------------- */

static void *start_process(void *context)
{
    static const char *const argv[] = {"/bin/sh", "-c", "exit 7", NULL};
    struct assay__child child;
    struct assay__exit result;
    (void)context;
    for (int i = 0; i < 10; i++) {
        CHECK_INT(assay__process_start(argv, -1, -1, NULL, &child, NULL), 0);
        CHECK(fcntl(child.socket, F_GETFD) & FD_CLOEXEC);
        CHECK_INT(assay__process_wait(&child, UINT64_MAX, &result), 0);
        CHECK(result.exited && result.status == 7);
        close(child.socket);
    }
    return NULL;
}

static void test_processes(void)
{
    void *contexts[THREADS] = {NULL, NULL};
    in_threads(start_process, contexts);
}

static void test_close_on_exec(void)
{
    int ends[2];
    CHECK_INT(assay__pipe(ends), 0);
    CHECK(fcntl(ends[0], F_GETFD) & fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
    CHECK_INT(assay__socket_pair(ends), 0);
    CHECK(fcntl(ends[0], F_GETFD) & fcntl(ends[1], F_GETFD) & FD_CLOEXEC);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"runs", test_runs},
        {"looks", test_looks},
        {"log", test_log},
        {"processes", test_processes},
        {"close_on_exec", test_close_on_exec},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
