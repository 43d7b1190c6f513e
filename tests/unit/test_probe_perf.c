/* test_probe_perf.c - the perf_event probe with system calls of our own: exact counts, scaling,
 * groups, every refusal; and the kernel's own counts on the real machine, where it has them. */
#include "live_fixture.h"

#include "probe/perf_event.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define FIRST_FD 1000

struct opened {
    enum assay__perf_event event;
    pid_t thread;
    int group;
    bool user_only, closed;
};

static struct opened opened[2048];
static size_t open_count;
static int refuse[ASSAY__PERF_EVENTS]; /* errno of each event's open; 0: works */
static bool refuse_kernel;             /* EACCES unless user_only */
static bool refuse_groups;             /* EINVAL in a group */
static struct assay__perf_count counts[ASSAY__PERF_EVENTS];
static bool read_fails;

static int fake_open(enum assay__perf_event event, pid_t thread, int group, bool user_only)
{
    errno = refuse[event]                 ? refuse[event]
            : refuse_kernel && !user_only ? EACCES
            : refuse_groups && group >= 0 ? EINVAL
                                          : 0;
    if (errno) return -1;
    CHECK(open_count < sizeof opened / sizeof opened[0]);
    opened[open_count] = (struct opened){event, thread, group, user_only, false};
    return FIRST_FD + (int)open_count++;
}

static bool fake_read(int fd, struct assay__perf_count *count)
{
    CHECK(fd >= FIRST_FD && fd < FIRST_FD + (int)open_count && !opened[fd - FIRST_FD].closed);
    errno = EIO;
    *count = counts[opened[fd - FIRST_FD].event];
    return !read_fails;
}

static void fake_close(int fd)
{
    CHECK(fd >= FIRST_FD && !opened[fd - FIRST_FD].closed);
    opened[fd - FIRST_FD].closed = true;
}

static void open_fake(void)
{
    static const struct assay__perf_calls calls = {fake_open, fake_read, fake_close, NULL, NULL};
    unsetenv("ASSAY_FSROOT");
    assay__perf_event_calls_set(&calls);
    open_count = 0;
    open_probe("perf");
}

static void set_paranoid(const char *tree)
{
    char root[1024];
    snprintf(root, sizeof root, ASSAY_TEST_ROOT "/tests/fixtures/fsroot-%s", tree);
    setenv("ASSAY_FSROOT", root, 1);
}

/* The descriptor's number of an event of the first thread. */
static int fd_of(enum assay__perf_event event)
{
    for (size_t i = 0; i < open_count; i++)
        if (opened[i].event == event) return FIRST_FD + (int)i;
    return -1;
}

static void set(enum assay__perf_event event, uint64_t count, uint64_t enabled, uint64_t running)
{
    counts[event] = (struct assay__perf_count){count, enabled, running};
}

static void test_counts(void)
{
    SKIP_EMULATED("its own threads are counted too");
    set(ASSAY__PERF_CYCLES, 4000, 1000, 1000);
    set(ASSAY__PERF_INSTRUCTIONS, 9000, 1000, 1000);
    set(ASSAY__PERF_BRANCH_MISSES, 7, 1000, 1000);
    set(ASSAY__PERF_TASK_CLOCK, 2500000000, 2500000000, 2500000000);
    set(ASSAY__PERF_PAGE_FAULTS, 12, 1000, 1000);
    open_fake();
    CHECK_STR(ops->reason(probe), "");
    CHECK_NEAR(value("count.cycles"), 4000, 0);
    CHECK_NEAR(value("count.instructions"), 9000, 0);
    CHECK_NEAR(value("count.branch-misses"), 7, 0);
    CHECK_NEAR(value("count.cache-misses"), 0, 0);
    CHECK_NEAR(value("time.task-clock"), 2.5, 1e-12);
    CHECK_NEAR(value("count.page-faults"), 12, 0);
    CHECK_NEAR(value("utilization.counted.cycles"), 1, 0);
    check_missing("utilization.counted.branches", true, "has not run");
    CHECK_INT(channels[find("count.cycles")].kind, ASSAY__CHANNEL_COUNTER);
    CHECK_STR(channels[find("count.cycles")].source, "perf_event");
    CHECK_INT(channel_count, ASSAY__PERF_EVENTS + 6); /* four groups, two events alone */
    close_probe();
    for (size_t i = 0; i < open_count; i++)
        CHECK(opened[i].closed);
}

/* Members of a group name its leader; those that a group does not take are opened alone. */
static void test_groups(void)
{
    SKIP_EMULATED("its own threads are counted too");
    open_fake();
    CHECK_INT(open_count, ASSAY__PERF_EVENTS); /* this process has one thread */
    CHECK_INT(opened[0].thread, getpid());
    CHECK_INT(opened[fd_of(ASSAY__PERF_CYCLES) - FIRST_FD].group, -1);
    CHECK_INT(opened[fd_of(ASSAY__PERF_INSTRUCTIONS) - FIRST_FD].group, fd_of(ASSAY__PERF_CYCLES));
    CHECK_INT(opened[fd_of(ASSAY__PERF_CACHE_MISSES) - FIRST_FD].group,
              fd_of(ASSAY__PERF_CACHE_REFERENCES));
    CHECK_INT(opened[fd_of(ASSAY__PERF_BRANCH_MISSES) - FIRST_FD].group,
              fd_of(ASSAY__PERF_BRANCHES));
    CHECK_INT(opened[fd_of(ASSAY__PERF_TASK_CLOCK) - FIRST_FD].group, -1);
    close_probe();
    refuse[ASSAY__PERF_CYCLES] = ENOENT; /* then the next one leads */
    open_fake();
    CHECK_INT(opened[fd_of(ASSAY__PERF_INSTRUCTIONS) - FIRST_FD].group, -1);
    check_missing("count.cycles", false, "does not count this event");
    CHECK(find("utilization.counted.instructions") >= ASSAY__PERF_EVENTS);
    close_probe();
    refuse_groups = true;
    open_fake();
    CHECK(channels[find("count.cache-misses")].available);
    CHECK_INT(opened[fd_of(ASSAY__PERF_CACHE_MISSES) - FIRST_FD].group, -1);
    close_probe();
}

/* Half of the time counted: twice the count; from then on all of it: the count as it is. */
static void test_scaling(void)
{
    SKIP_EMULATED("its own threads are counted too");
    set(ASSAY__PERF_CYCLES, 0, 0, 0);
    open_fake();
    CHECK_NEAR(value("count.cycles"), 0, 0);
    set(ASSAY__PERF_CYCLES, 1000, 400, 100);
    ops->read(probe, readings);
    CHECK_NEAR(value("count.cycles"), 4000, 0);
    CHECK_NEAR(value("utilization.counted.cycles"), 0.25, 0);
    set(ASSAY__PERF_CYCLES, 1500, 600, 300);
    ops->read(probe, readings);
    CHECK_NEAR(value("count.cycles"), 4500, 0);
    CHECK_NEAR(value("utilization.counted.cycles"), 0.5, 0);
    set(ASSAY__PERF_CYCLES, 1500, 800,
        300); /* no turn: no reading, but it is known how little was counted */
    ops->read(probe, readings);
    check_missing("count.cycles", true, "more events than counters");
    CHECK_NEAR(value("utilization.counted.cycles"), 0.375, 0);
    set(ASSAY__PERF_CYCLES, 1600, 1000, 400); /* covers the gap: 100 · 400 / 100 */
    ops->read(probe, readings);
    CHECK_NEAR(value("count.cycles"), 4900, 0);
    ops->read(probe, readings); /* the process slept */
    CHECK_NEAR(value("count.cycles"), 4900, 0);
    close_probe();
}

static void test_faults(void)
{
    SKIP_EMULATED("its own threads are counted too");
    set(ASSAY__PERF_CYCLES, 1000, 400, 400);
    open_fake();
    set(ASSAY__PERF_CYCLES, 900, 500, 500);
    ops->read(probe, readings);
    check_missing("count.cycles", true, "went backwards");
    set(ASSAY__PERF_CYCLES, 1100, 500, 600);
    ops->read(probe, readings);
    check_missing("count.cycles", true, "longer than it was enabled");
    check_missing("utilization.counted.cycles", true, "longer than it was enabled");
    read_fails = true;
    ops->read(probe, readings);
    check_missing("time.task-clock", true, "can no longer be read");
    read_fails = false;
    set(ASSAY__PERF_CYCLES, 1200, 600, 600);
    ops->read(probe, readings);
    CHECK_NEAR(value("count.cycles"), 1200, 0);
    close_probe();
}

/* A virtual machine: nothing of the processor, everything of the kernel. */
static void test_no_pmu(void)
{
    SKIP_EMULATED("its own threads are counted too");
    set(ASSAY__PERF_CONTEXT_SWITCHES, 3, 10, 10);
    for (int e = 0; e < ASSAY__PERF_TASK_CLOCK; e++)
        refuse[e] = ENOENT;
    open_fake();
    check_missing("count.cycles", false, "pmu=on");
    check_missing("count.stalled-backend", false, "virtual machines");
    CHECK_NEAR(value("count.context-switches"), 3, 0);
    CHECK_INT(channel_count, ASSAY__PERF_EVENTS);
    CHECK_STR(ops->reason(probe), "");
    close_probe();
    refuse[ASSAY__PERF_STALLED_FRONTEND] = EOPNOTSUPP;
    refuse[ASSAY__PERF_CYCLES] = 0;
    open_fake(); /* there is one: then each speaks for itself */
    check_missing("count.stalled-frontend", false, "does not support this event");
    check_missing("count.instructions", false, "does not count this event");
    close_probe();
}

static void test_user_only(void)
{
    refuse_kernel = true;
    open_fake();
    CHECK(channels[find("count.cycles")].available);
    CHECK_HAS(channels[find("count.cycles")].source, "user space only");
    CHECK_HAS(channels[find("time.task-clock")].source, "user space only");
    CHECK(!channels[find("count.context-switches")].available);
    CHECK(!channels[find("count.migrations")].available);
    for (size_t i = 0; i < open_count; i++)
        CHECK(opened[i].user_only);
    close_probe();
}

static void test_refusals(void)
{
    static const struct {
        int number;
        const char *reason;
    } rows[] = {{ENOSYS, "not available:"},   {ESRCH, "has ended"},
                {EMFILE, "ulimit -n 4096"},   {EBUSY, "has exclusive use of the counters"},
                {EINVAL, "does not support"}, {EIO, "perf_event_open: "}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
            refuse[e] = rows[r].number;
        open_fake();
        CHECK_HAS(ops->reason(probe), rows[r].reason);
        check_missing("count.cycles", false, rows[r].reason);
        CHECK_INT(open_count, 0);
        close_probe();
    }
}

/* The command depends on what the machine's setting is: taken from a folder. */
static void test_permission(void)
{
    char root[] = "/tmp/assay-perf-XXXXXX", path[256], command[512];
    CHECK(mkdtemp(root) != NULL);
    snprintf(command, sizeof command, "mkdir -p %s/proc/sys/kernel", root);
    CHECK_INT(system(command), 0);
    snprintf(path, sizeof path, "%s/proc/sys/kernel/perf_event_paranoid", root);
    static const char *const levels[][2] = {{"4\n", "is 4; to allow it until the next boot: sudo "
                                                    "sysctl kernel.perf_event_paranoid=1"},
                                            {"1\n", "--cap-add PERFMON"}};
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
        refuse[e] = EACCES;
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(path, "w");
        CHECK(file && fputs(levels[i][0], file) >= 0 && fclose(file) == 0);
        open_fake(); /* unsets the root … */
        close_probe();
        setenv("ASSAY_FSROOT", root, 1);
        open_probe("perf"); /* … the fake calls stay */
        CHECK_HAS(ops->reason(probe), levels[i][1]);
        close_probe();
    }
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK_INT(system(command), 0);
}

static void test_another_machine(void)
{
    assay__perf_event_calls_set(NULL);
    set_paranoid("laptop");
    check_none("perf", "ASSAY_FSROOT describes");
}

/* The real calls: CPU time of a busy loop, seen from another process and from this one. */
static void spin(double seconds)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
}

static void test_this_machine(void)
{
    assay__perf_event_calls_set(NULL);
    unsetenv("ASSAY_FSROOT");
    open_probe("perf");
    size_t at = find("time.task-clock");
    if (!channels[at].available) SKIP(channels[at].reason);
    double before = value("time.task-clock");
    spin(0.05);
    ops->read(probe, readings);
    CHECK(value("time.task-clock") > before);
    CHECK(value("time.task-clock") < 5);
    close_probe();
}

static void test_other_process(void)
{
    int ready[2];
    assay__perf_event_calls_set(NULL);
    unsetenv("ASSAY_FSROOT");
    CHECK_INT(pipe(ready), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char byte;
        close(ready[1]);
        ssize_t got = read(ready[0], &byte, 1); /* until it is being counted */
        spin(0.05);
        _exit(got == 1 ? 0 : 1);
    }
    close(ready[0]);
    assay__perf_event_target(child);
    open_probe("perf");
    size_t at = find("time.task-clock");
    bool available = channels[at].available;
    int status = 1;
    CHECK_INT(write(ready[1], "x", 1), 1);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    if (!available) SKIP(channels[at].reason);
    ops->read(probe, readings);
    CHECK(value("time.task-clock") >= 0.03); /* the child's: this process only waited */
    CHECK(value("time.task-clock") < 5);
    close_probe();
    check_none("perf", "has ended");
}

/* Spins until the thread itself used 50 ms; `context`: a pipe whose byte it waits for first, or
 * NULL. */
static void *spin_thread(void *context)
{
    struct timespec now;
    char byte;
    if (context && read(*(int *)context, &byte, 1) != 1) return NULL;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 50000000);
    return NULL;
}

/* A thread that was there before, and one that comes later: both count. */
static void test_threads(void)
{
    pthread_t before, after;
    int go[2];
    assay__perf_event_calls_set(NULL);
    unsetenv("ASSAY_FSROOT");
    CHECK_INT(pipe(go), 0);
    CHECK_INT(pthread_create(&before, NULL, spin_thread, &go[0]), 0);
    open_probe("perf");
    size_t at = find("time.task-clock");
    if (!channels[at].available) SKIP(channels[at].reason);
    double start = value("time.task-clock");
    CHECK_INT(write(go[1], "x", 1), 1);
    CHECK_INT(pthread_join(before, NULL), 0);
    ops->read(probe, readings);
    double middle = value("time.task-clock");
    CHECK(middle - start >= 0.04);
    CHECK_INT(pthread_create(&after, NULL, spin_thread, NULL), 0);
    CHECK_INT(pthread_join(after, NULL), 0);
    ops->read(probe, readings);
    CHECK(value("time.task-clock") - middle >= 0.04);
    close_probe();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"counts", test_counts},
        {"groups", test_groups},
        {"scaling", test_scaling},
        {"faults", test_faults},
        {"no_pmu", test_no_pmu},
        {"user_only", test_user_only},
        {"refusals", test_refusals},
        {"permission", test_permission},
        {"another_machine", test_another_machine},
        {"this_machine", test_this_machine},
        {"other_process", test_other_process},
        {"threads", test_threads},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
