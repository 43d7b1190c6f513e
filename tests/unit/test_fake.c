/* test_fake.c - the fake engine's script: exact times, streams, what goes wrong at a chosen step,
 * scripts that are refused, layers. Its noise is in test_fake_noise.c; what every engine must do is
 * in conform_engine.c. */
#include "harness.h"

#include "base/log.h"

#include "engine/engine.h"
#include <pthread.h>
#include <signal.h>

static const struct assay__engine_ops *fake(void)
{
    return assay__engine_find("fake");
}

static struct assay__session *fake_open(const char *script)
{
    struct assay__session_options options = {.size = sizeof options, .script = script};
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    if (fake()->open(&options, &session, &error)) printf("  %s\n", error.message);
    CHECK(session != NULL);
    return session;
}

/* The duration of the next step, by the engine's clock. */
static int64_t fake_step(struct assay__session *session)
{
    uint64_t before_ns = fake()->now_ns(session);
    CHECK_INT(fake()->step(session, 0), 0);
    return (int64_t)(fake()->now_ns(session) - before_ns);
}

/* --- fake: times ------------------------------------------------------------------------------ */

static void test_script_times(void)
{
    struct assay__session *session = fake_open(
        "load=2ms; compile=3ms; first=9ms; warmup=2x200us; steady=100us,110us; spike=3x1ms");
    struct assay__session_facts facts;
    fake()->facts(session, &facts);
    CHECK_NEAR(facts.load_ns, 2e6, 0);
    CHECK_NEAR(facts.compile_ns, 3e6, 0);
    CHECK_NEAR(facts.create_ns, 5e6, 0);
    CHECK_INT(fake()->now_ns(session), 5000000);
    static const int64_t expected_ns[] = {9000000, 200000, 200000, 100000, 110000,
                                          1100000, 110000, 100000, 1110000};
    for (size_t i = 0; i < sizeof expected_ns / sizeof expected_ns[0]; i++)
        CHECK_INT(fake_step(session), expected_ns[i]);
    fake()->close(session);
}

static void test_script_defaults(void)
{
    struct assay__session *session = fake_open("");
    struct assay__session_facts facts;
    double now = 0, peak = 0;
    fake()->facts(session, &facts);
    CHECK(isnan(facts.load_ns) && isnan(facts.compile_ns)); /* unknown is not zero */
    CHECK_HAS(facts.load_reason, "script");
    fake()->memory(session, &now, &peak);
    CHECK(isnan(now) && isnan(peak));
    CHECK_INT(fake_step(session), 100000);
    struct assay__layer_options options = {.size = sizeof options};
    struct assay__layers result;
    struct assay_error error = {0};
    CHECK_INT(fake()->layers(session, &options, &result, &error), ASSAY_EUNSUPPORTED);
    fake()->close(session);
}

static void test_script_drift(void)
{
    struct assay__session *session = fake_open("steady=1us;drift=10ns");
    for (int i = 0; i < 5; i++)
        CHECK_INT(fake_step(session), 1000 + 10 * i);
    fake()->close(session);
}

/* Noise is bounded, centred, not constant, and the same for the same seed. */
static void test_script_noise(void)
{
    struct assay__session *one = fake_open("steady=10us;noise=1us;seed=7"),
                          *two = fake_open("steady=10us;noise=1us;seed=7"),
                          *other = fake_open("steady=10us;noise=1us;seed=8");
    double sum = 0;
    int different = 0;
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 2000; i++) {
        int64_t a = fake_step(one);
        CHECK_INT(fake_step(two), a);
        different += fake_step(other) != a;
        CHECK(a >= 9000 && a <= 11000);
        least = a < least ? a : least;
        most = a > most ? a : most;
        sum += (double)a;
    }
    CHECK(different > 1900);
    CHECK(least < 9050 && most > 10950);
    CHECK_NEAR(sum / 2000, 10000, 65); /* five standard errors: 577 / sqrt(2000) = 12.9 ns each */
    fake()->close(one);
    fake()->close(two);
    fake()->close(other);
}

static void test_real_clock(void)
{
    struct assay__session *session = fake_open("clock=real;steady=200us");
    for (int i = 0; i < 20; i++)
        CHECK(fake_step(session) >= 200000);
    fake()->close(session);
}

static void *second_stream(void *context)
{
    struct assay__session *session = context;
    static uint64_t seen_ns[3];
    seen_ns[0] = fake()->now_ns(session);
    for (int i = 1; i < 3; i++) {
        if (fake()->step(session, 1)) return NULL;
        seen_ns[i] = fake()->now_ns(session);
    }
    return seen_ns;
}

/* Each stream has its own clock, which starts when the session is open, whatever the other streams
 * did. */
static void test_stream_clocks(void)
{
    struct assay__session_options options = {
        .size = sizeof options, .streams = 2, .script = "load=1ms;first=5us;steady=2us"};
    struct assay__session *session = NULL;
    pthread_t thread;
    void *seen = NULL;
    CHECK_INT(fake()->open(&options, &session, NULL), 0);
    for (int i = 0; i < 10; i++)
        CHECK_INT(fake()->step(session, 0), 0);
    CHECK_INT(fake()->now_ns(session), 1000000 + 5000 + 9 * 2000);
    CHECK_INT(pthread_create(&thread, NULL, second_stream, session), 0);
    CHECK_INT(pthread_join(thread, &seen), 0);
    CHECK(seen != NULL);
    CHECK_INT(((uint64_t *)seen)[0], 1000000);
    CHECK_INT(((uint64_t *)seen)[1], 1005000);
    CHECK_INT(((uint64_t *)seen)[2], 1007000);
    CHECK_INT(fake()->now_ns(session), 1000000 + 5000 + 9 * 2000);
    fake()->close(session);
}

/* --- fake: what goes wrong -------------------------------------------------------------------- */

/* How a process ends that makes three steps with this script: the signal, or 1000 + exit status. */
static int ending_of(const char *script)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        /* a sanitizer's handler would turn the signal into an exit, the script resets it itself */
        alarm(2);
        struct assay__session *session = fake_open(script);
        for (int i = 0; i < 2; i++)
            if (fake()->step(session, 0)) _exit(100);
        fake()->step(session, 0);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 1000 + WEXITSTATUS(status);
}

static void test_misfortunes(void)
{
    CHECK_INT(ending_of("steady=1us"), 1000);
    CHECK_INT(ending_of("crash_at=3"), SIGSEGV);
    CHECK_INT(ending_of("oom_at=3"), SIGKILL);
    CHECK_INT(ending_of("exit_at=3"), 1003);
    CHECK_INT(ending_of("hang_at=3"), SIGALRM);
    CHECK_INT(ending_of("error_at=1"), 1100);
}

static void test_step_error(void)
{
    struct assay__session *session = fake_open("error_at=2;steady=1us");
    CHECK_INT(fake()->step(session, 0), 0);
    CHECK_INT(fake()->step(session, 0), ASSAY_EENGINE);
    CHECK_STR(fake()->step_error(session), "the script fails step 2");
    CHECK_INT(fake()->now_ns(session), 1000); /* a failed step takes no time */
    CHECK_INT(fake()->step(session, 0), 0);
    fake()->close(session);
}

static char logged[256];

static void log_keep(void *context, enum assay_log_level level, const char *domain,
                     const char *message)
{
    (void)context, (void)level;
    snprintf(logged, sizeof logged, "%s|%s", domain, message);
}

static void test_open_error(void)
{
    struct assay__session_options options = {
        .size = sizeof options, .script = "log=about to fail;open_error=no such kernel"};
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    assay_log_set(log_keep, NULL, ASSAY_LOG_DEBUG);
    CHECK_INT(fake()->open(&options, &session, &error), ASSAY_EENGINE);
    CHECK_STR(error.message, "no such kernel");
    CHECK_STR(logged, "fake|about to fail");
    CHECK(session == NULL);
}

static void test_script_refused(void)
{
    static const char *const scripts[][2] = {
        {"steady", "\"steady\" is not key=value"},    {"stedy=1us", "unknown key \"stedy\""},
        {"steady=fast", "steady cannot be \"fast\""}, {"steady=", "steady cannot be \"\""},
        {"steady=-1us", "steady cannot be"},          {"warmup=5", "warmup cannot be \"5\""},
        {"warmup=0x1us", "warmup cannot be"},         {"crash_at=0", "crash_at cannot be"},
        {"clock=sundial", "clock cannot be"},         {"layers=a", "layers cannot be"},
        {"layers=:1us", "layers cannot be"},          {"hold=-1", "hold cannot be"},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct assay__session_options options = {.size = sizeof options, .script = scripts[i][0]};
        struct assay__session *session = NULL;
        struct assay_error error = {0};
        CHECK_INT(fake()->open(&options, &session, &error), ASSAY_EINVAL);
        CHECK_HAS(error.message, scripts[i][1]);
        CHECK(session == NULL);
    }
}

static void test_script_layers(void)
{
    struct assay__session *session = fake_open(
        "layers=conv1:60us:Conv,relu1:30us,x:-;engine=10us;memory=1e6;memory_peak=2e6");
    struct assay__layer_options options = {.size = sizeof options, .method = ASSAY_LAYERS_AUTO};
    struct assay__layers result;
    CHECK_INT(fake()->layers(session, &options, &result, NULL), 0);
    CHECK_INT(result.count, 3);
    CHECK_STR(result.method, "scripted");
    CHECK_STR(result.items[0].name, "conv1");
    CHECK_STR(result.items[0].op, "Conv");
    CHECK_NEAR(result.items[0].time_ns, 60000, 0);
    CHECK_INT(result.items[0].state, ASSAY_MEASURED);
    CHECK_STR(result.items[0].from[0], "conv1");
    CHECK_STR(result.items[1].op, "relu1");
    CHECK(isnan(result.items[2].time_ns));
    CHECK_INT(result.items[2].state, ASSAY_UNAVAILABLE);
    CHECK_NEAR(result.engine_ns, 10000, 0);
    CHECK(isnan(result.scale_factor) && isnan(result.slowdown));
    double now = 0, peak = 0;
    fake()->memory(session, &now, &peak);
    CHECK_NEAR(now, 1e6, 0);
    CHECK_NEAR(peak, 2e6, 0);
    fake()->close(session);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"script_times", test_script_times},   {"script_defaults", test_script_defaults},
        {"script_drift", test_script_drift},   {"script_noise", test_script_noise},
        {"real_clock", test_real_clock},       {"stream_clocks", test_stream_clocks},
        {"misfortunes", test_misfortunes},     {"step_error", test_step_error},
        {"open_error", test_open_error},       {"script_refused", test_script_refused},
        {"script_layers", test_script_layers},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
