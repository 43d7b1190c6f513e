/* test_fake_noise.c - the fake engine's noise against what doc/fake-engine.md says of it: sizes,
 * shares, memory, and that the machine's state is one function of the machine's time, whichever
 * session looks at it. */
#include "harness.h"

#include "base/stats.h"
#include "engine/engines.h"

#include <math.h>
#include <stdlib.h>

#define STEP_NS 1000000.0

static struct assay__session *open_script(const char *script)
{
    struct assay__session_options options = {.size = sizeof options, .script = script};
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__engine_fake.open(&options, &session, &error), 0);
    return session;
}

/* The steps' times over the scripted one. */
static void take(const char *script, double *factors, size_t count)
{
    struct assay__session *session = open_script(script);
    uint64_t before_ns = assay__engine_fake.now_ns(session);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(assay__engine_fake.step(session, 0), 0);
        uint64_t now_ns = assay__engine_fake.now_ns(session);
        factors[i] = (double)(now_ns - before_ns) / STEP_NS;
        before_ns = now_ns;
    }
    assay__engine_fake.close(session);
}

enum { MANY = 20000 };
static double factors[MANY];

static void white_noise_has_its_size_and_no_memory(void)
{
    take("steady=1ms;white=0.03;seed=7", factors, MANY);
    CHECK_NEAR(assay__stats_mean(factors, MANY), 1, 0.001);
    CHECK_NEAR(assay__stats_stddev(factors, MANY), 0.03, 0.0008);
    CHECK(fabs(assay__stats_autocorrelation(factors, MANY, 1)) < 0.03);
}

static void a_launch_has_a_level_of_its_own(void)
{
    double levels[400], pair[2];
    char script[64];
    for (size_t i = 0; i < 400; i++) {
        snprintf(script, sizeof script, "steady=1ms;launch=0.02;seed=%zu", i);
        take(script, pair, 2);
        CHECK_NEAR(pair[0], pair[1], 2e-6); /* the same for each of its steps */
        levels[i] = pair[0];
    }
    CHECK_NEAR(assay__stats_mean(levels, 400), 1, 0.004);
    CHECK_NEAR(assay__stats_stddev(levels, 400), 0.02, 0.003);
}

static void some_launches_are_slower(void)
{
    double factor;
    char script[64];
    size_t slow = 0;
    for (size_t i = 0; i < 1000; i++) {
        snprintf(script, sizeof script, "steady=1ms;launch_modes=0.1:0.3;seed=%zu", i);
        take(script, &factor, 1);
        CHECK(factor == 1 || fabs(factor - 1.1) < 1e-6);
        slow += factor > 1.05;
    }
    CHECK(slow > 250 && slow < 350);
}

static void a_drift_goes_on_where_the_last_launch_ended(void)
{
    take("steady=1ms;machine_drift=0.1:10s;machine_at=5s", factors, 2);
    CHECK_NEAR(factors[0], 1.05, 1e-6);
    take("steady=1ms;machine_drift=0.1:10s;machine_at=20s", factors, 2);
    CHECK_NEAR(factors[1], 1.1, 1e-6); /* it ends there */
    take("load=3s;steady=1ms;machine_drift=-0.1:10s", factors, 1);
    CHECK_NEAR(factors[0], 1, 1e-6); /* machine_at is when the session is open */
}

static void modes_have_their_share_and_their_stays(void)
{
    size_t slow = 0, changes = 0;
    take("steady=1ms;machine_modes=0.5:0.25:50ms;machine=3", factors, MANY);
    for (size_t i = 0; i < MANY; i++) {
        CHECK(factors[i] == 1 || factors[i] == 1.5);
        slow += factors[i] > 1;
        changes += i > 0 && factors[i] > factors[i - 1];
    }
    /* time in slow stays over all time; and how long a stay is */
    double slow_s = 1.5e-3 * (double)slow, all_s = slow_s + 1e-3 * (double)(MANY - slow);
    CHECK_NEAR(slow_s / all_s, 0.25, 0.05);
    CHECK_NEAR(slow_s / (double)changes, 0.05, 0.012);
}

static void a_wander_has_its_size_and_its_memory(void)
{
    take("steady=1ms;machine_wander=0.05:20ms;machine=5", factors, MANY);
    CHECK_NEAR(assay__stats_mean(factors, MANY), 1, 0.006);
    CHECK_NEAR(assay__stats_stddev(factors, MANY), 0.05, 0.005);
    CHECK_NEAR(assay__stats_autocorrelation(factors, MANY, 20), exp(-1), 0.06);
    CHECK(assay__stats_autocorrelation(factors, MANY, 1) > 0.94);
    CHECK(fabs(assay__stats_autocorrelation(factors, MANY, 200)) < 0.08);
}

/* A session that runs on, and one that is opened later, see the same machine, whatever their own
 * seeds are. */
static void every_launch_sees_one_machine(void)
{
    enum { STEPS = 400 };
    static const char *const kinds[] = {"machine_modes=0.5:0.4:30ms", "machine_wander=0.02:40ms",
                                        "machine_wander=0.02:5s;machine_drift=0.1:1s"};
    char script[128];
    double late[STEPS];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        double at_s = 0;
        snprintf(script, sizeof script, "steady=1ms;machine=9;seed=1;%s", kinds[k]);
        take(script, factors, 2 * STEPS);
        for (size_t i = 0; i < STEPS; i++)
            at_s += factors[i] * 1e-3;
        snprintf(script, sizeof script, "steady=1ms;machine=9;seed=2;machine_at=%.0fns;%s",
                 at_s * 1e9, kinds[k]);
        take(script, late, STEPS);
        for (size_t i = 0; i < STEPS; i++)
            CHECK_NEAR(late[i], factors[STEPS + i], 1e-4);
        snprintf(script, sizeof script, "steady=1ms;machine=10;seed=1;%s", kinds[k]);
        take(script, late, STEPS);
        size_t differ = 0;
        for (size_t i = 0; i < STEPS; i++)
            differ += fabs(late[i] - factors[i]) > 1e-5;
        CHECK(differ > STEPS / 10); /* another machine is another one */
    }
}

/* Streams run on clocks of their own beside each other: one machine, one launch, steps of their
 * own. */
static void streams_share_the_launch(void)
{
    struct assay__session_options options = {
        .size = sizeof options, .script = "steady=1ms;launch=0.05;seed=4", .streams = 2};
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__engine_fake.open(&options, &session, &error), 0);
    CHECK_INT(assay__engine_fake.step(session, 0), 0);
    uint64_t first_ns = assay__engine_fake.now_ns(session);
    CHECK_INT(assay__engine_fake.step(session, 1), 0);
    CHECK(assay__engine_fake.now_ns(session) == first_ns);
    CHECK(first_ns != 1000000);
    assay__engine_fake.close(session);
}

static void wrong_values_are_refused(void)
{
    static const char *const wrong[] = {
        "white=-0.1",
        "white=2",
        "white=nan",
        "white=",
        "launch=x",
        "launch_modes=0.1",
        "launch_modes=0.1:1.5",
        "launch_modes=0.1:0.5:3",
        "machine=1.5",
        "machine_at=-1s",
        "machine_at=soon",
        "machine_drift=0.1",
        "machine_drift=-2:1s",
        "machine_drift=0.1:0s",
        "machine_modes=0.1:0.5",
        "machine_modes=0.1:0:1s",
        "machine_modes=0.1:0.5:1ns",
        "machine_wander=0.1:10ns",
        "machine_wander=0.1:1s:1s",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct assay__session_options options = {.size = sizeof options, .script = wrong[i]};
        struct assay__session *session = NULL;
        struct assay_error error = {0};
        CHECK_INT(assay__engine_fake.open(&options, &session, &error), ASSAY_EINVAL);
        CHECK(strstr(error.message, "cannot be") != NULL);
        CHECK(session == NULL);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"white_noise_has_its_size_and_no_memory", white_noise_has_its_size_and_no_memory},
        {"a_launch_has_a_level_of_its_own", a_launch_has_a_level_of_its_own},
        {"some_launches_are_slower", some_launches_are_slower},
        {"a_drift_goes_on_where_the_last_launch_ended",
         a_drift_goes_on_where_the_last_launch_ended},
        {"modes_have_their_share_and_their_stays", modes_have_their_share_and_their_stays},
        {"a_wander_has_its_size_and_its_memory", a_wander_has_its_size_and_its_memory},
        {"every_launch_sees_one_machine", every_launch_sees_one_machine},
        {"streams_share_the_launch", streams_share_the_launch},
        {"wrong_values_are_refused", wrong_values_are_refused},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
