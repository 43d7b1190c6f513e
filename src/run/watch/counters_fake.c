/* counters_fake.c - counters from a test script: fake system calls behind the perf_event probe.
 * Each event that the script names grows by its number with every step of the fake engine while it
 * is enabled; any other event is refused, as by a processor that lacks it. Time passes by 1,000 ns
 * per step. Several streams add to the same counts: one stream is exact. */
#include "run/watch/counters_fake.h"

#include "base/text.h"
#include "engine/fake/fake.h"
#include "probe/perf_event.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FIRST_FD 100000
#define STEP_NS 1000.0

static struct fake {
    double growth[ASSAY__PERF_EVENTS]; /* per step; NaN: not named */
    double value[ASSAY__PERF_EVENTS], enabled[ASSAY__PERF_EVENTS], running[ASSAY__PERF_EVENTS];
    bool on[ASSAY__PERF_EVENTS];
    double share; /* share of the time during which the processor's counters really count */
    int gone;     /* the event that cannot be read after something was counted; -1 none */
    int back;     /* the event that decreases with every reading; -1 none */
    uint64_t falls;
    double elapsed_step_ns, elapsed_ns; /* "elapsed": the time of a counted step; NaN: not named */
} fake;

static void step(double steps)
{
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++) {
        double share = e < ASSAY__PERF_TASK_CLOCK ? fake.share : 1;
        if (!fake.on[e] || isnan(fake.growth[e])) continue;
        fake.value[e] += steps * fake.growth[e] * share;
        fake.enabled[e] += steps * STEP_NS;
        fake.running[e] += steps * STEP_NS * share;
    }
    if (!isnan(fake.elapsed_step_ns)) fake.elapsed_ns += steps * fake.elapsed_step_ns;
}

bool assay__counters_fake_elapsed(double *seconds)
{
    *seconds = isnan(fake.elapsed_step_ns) ? (double)NAN : fake.elapsed_ns * 1e-9;
    return assay__fake_step_hook == step;
}

static int fake_open(enum assay__perf_event event, pid_t thread, int group, bool user_only)
{
    (void)thread, (void)group, (void)user_only;
    errno = ENOENT;
    if (isnan(fake.growth[event])) return -1;
    fake.on[event] = true;
    return FIRST_FD + (int)event;
}

static bool fake_read(int fd, struct assay__perf_count *count)
{
    int event = fd - FIRST_FD;
    errno = EIO;
    if (event == fake.gone && fake.value[event] > 0) return false;
    *count = (struct assay__perf_count){(uint64_t)llround(fake.value[event]),
                                        (uint64_t)llround(fake.enabled[event]),
                                        (uint64_t)llround(fake.running[event])};
    if (event == fake.back) count->value = 1000000 - ++fake.falls;
    return true;
}

static void fake_close(int fd)
{
    (void)fd;
}

static bool fake_enable(int fd, bool on)
{
    fake.on[fd - FIRST_FD] = on;
    return true;
}

static int event_of(const char *name)
{
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
        if (strcmp(assay__perf_event_name((enum assay__perf_event)e), name) == 0) return e;
    return -1;
}

/* "cycles:4000,instructions:9000" */
static int read_counts(char *value)
{
    char *save = NULL;
    for (char *item = strtok_r(value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *number = strchr(item, ':');
        if (!number) return ASSAY_EINVAL;
        *number++ = '\0';
        int event = event_of(item);
        bool elapsed = strcmp(item, "elapsed") == 0;
        if (event < 0 && !elapsed) return ASSAY_EINVAL;
        double *growth = elapsed ? &fake.elapsed_step_ns : &fake.growth[event];
        if (assay__text_double(number, growth) || !(*growth >= 0 && *growth <= 1e15))
            return ASSAY_EINVAL;
    }
    return 0;
}

static int read_item(char *item)
{
    item += strspn(item, " \t\n");
    char *value = strchr(item, '=');
    if (!value) return 0;
    *value++ = '\0';
    if (strcmp(item, "counts") == 0) return read_counts(value);
    if (strcmp(item, "counts_running") == 0)
        return assay__text_double(value, &fake.share) || !(fake.share >= 0 && fake.share <= 1);
    if (strcmp(item, "counts_gone") == 0) return (fake.gone = event_of(value)) < 0;
    if (strcmp(item, "counts_back") == 0) return (fake.back = event_of(value)) < 0;
    return 0;
}

int assay__counters_fake(const struct assay__job *job, struct assay_error *error)
{
    static const struct assay__perf_calls calls = {
        .open = fake_open, .read = fake_read, .close = fake_close, .enable = fake_enable};
    char script[4096], *save = NULL;
    if (strcmp(job->engine, "fake") != 0 || !job->script || !strstr(job->script, "counts="))
        return 0;
    if ((size_t)snprintf(script, sizeof script, "%s", job->script) >= sizeof script)
        return assay_error_set(error, ASSAY_ELIMIT,
                               "a script with counts can have at most 4095 bytes");
    fake = (struct fake){.share = 1, .gone = -1, .back = -1, .elapsed_step_ns = NAN};
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
        fake.growth[e] = NAN;
    for (char *item = strtok_r(script, ";", &save); item; item = strtok_r(NULL, ";", &save))
        if (read_item(item))
            return assay_error_set(error, ASSAY_EINVAL,
                                   "fake engine's script: a value of %s is wrong", item);
    assay__fake_step_hook = step;
    assay__perf_event_calls_set(&calls);
    return 0;
}
