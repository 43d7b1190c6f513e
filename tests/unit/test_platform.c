/* test_platform.c - worker processes (this program plays the worker: `test_platform --child MODE`),
 * shared memory, libraries, affinity; and machines read from fixture trees, value by value. */
#include "harness.h"

#include "base/clock.h"
#include "base/file.h"
#include "platform/demangle.h"
#include "platform/platform.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define SECOND 1000000000u
#define PATIENCE \
    (20u * (uint64_t)SECOND) /* only bounds a hang: nothing waits this long when all is well */

static const char program[] = ASSAY_TEST_BUILD "/tests/unit/test_platform";

/* --- the worker's side ------------------------------------------------------------------------ */

static int child_descriptors(void)
{
    char text[64];
    int open_count = 0, highest = 0;
    for (int fd = 0; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0) {
            open_count++;
            highest = fd;
        }
    const char *variable = getenv("ASSAY_TEST_VARIABLE");
    int length = snprintf(text, sizeof text, "%d open, highest %d, %s", open_count, highest,
                          variable ? variable : "-");
    return write(3, text, (size_t)length) == length ? 0 : 1;
}

static int child_echo(void)
{
    char byte;
    while (read(3, &byte, 1) == 1)
        if (write(3, &byte, 1) != 1) return 1;
    return 7;
}

static int child_shared(bool crash)
{
    struct assay_error error;
    uint64_t *cells;
    if (assay__shared_open(4, 4096, (void **)&cells, &error)) return 1;
    for (uint64_t i = 0; i < 100; i++)
        cells[i] = i * i;
    if (crash) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    return 0;
}

static int child_main(const char *mode)
{
    if (strcmp(mode, "descriptors") == 0) return child_descriptors();
    if (strcmp(mode, "echo") == 0) return child_echo();
    if (strcmp(mode, "shared") == 0) return child_shared(false);
    if (strcmp(mode, "crash") == 0) return child_shared(true);
    if (strcmp(mode, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(mode, "print") == 0) {
        printf("to stdout\n");
        fflush(stdout);
        fprintf(stderr, "to stderr\n");
        return 0;
    }
    if (strcmp(mode, "parent") ==
        0) { /* starts a hanging child, tells its pid, then dies without ending it */
        struct assay__child child;
        const char *argv[] = {harness_emulator(), program, "--child", "hang", NULL};
        if (assay__process_start(argv[0] ? argv : argv + 1, -1, -1, NULL, &child, NULL)) return 1;
        if (write(3, &child.pid, sizeof child.pid) != (ssize_t)sizeof child.pid) return 1;
        raise(SIGKILL);
    }
    return 99;
}

/* --- the parent's side ------------------------------------------------------------------------ */

static struct assay__child start(const char *mode, int shared_fd, int log_fd)
{
    struct assay__child child;
    struct assay_error error;
    const char *argv[] = {harness_emulator(), program, "--child", mode, NULL};
    static const char *const environment[] = {"ASSAY_TEST_VARIABLE=new", NULL};
    int code = assay__process_start(argv[0] ? argv : argv + 1, shared_fd, log_fd, environment,
                                    &child, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return child;
}

static void test_start(void)
{
    struct assay__exit result;
    char text[128] = "";
    setenv("ASSAY_TEST_VARIABLE", "old", 1);
    int stray = open("/dev/null", O_RDONLY); /* not close-on-exec: must not reach the child */
    CHECK(stray >= 0 && fcntl(stray, F_DUPFD, 200) == 200);
    struct assay__child child = start("descriptors", -1, -1);
    ssize_t got = read(child.socket, text, sizeof text - 1);
    CHECK(got > 0);
    CHECK_STR(text, "4 open, highest 3, new");
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK(result.exited && result.status == 0 && result.signal == 0);
    CHECK(result.peak_rss_bytes > 100000);
    CHECK_INT(child.pid, 0);
    CHECK_INT(assay__process_wait(&child, 0, &result), ASSAY_EIO); /* already gone */
    assay__process_kill(&child, SIGKILL);                          /* and nothing is hit */
    close(child.socket);
}

static void test_socket(void)
{
    struct assay__exit result;
    char byte = 'x';
    struct assay__child child = start("echo", -1, -1);
    CHECK_INT(assay__process_wait(&child, 0, &result), ASSAY_ETIMEOUT); /* a poll returns at once */
    CHECK_INT(write(child.socket, &byte, 1), 1);
    byte = 0;
    CHECK_INT(read(child.socket, &byte, 1), 1);
    CHECK_INT(byte, 'x');
    close(child.socket); /* end of file: the worker leaves by itself */
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK(result.exited && result.status == 7);
}

static void test_missing_program(void)
{
    struct assay__child child;
    struct assay_error error;
    const char *argv[] = {"/no/such/worker", NULL};
    CHECK_INT(assay__process_start(argv, -1, -1, NULL, &child, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "/no/such/worker");
    CHECK_HAS(error.message, "No such file");
    CHECK_INT(child.socket, -1);
}

static void test_timeout_and_kill(void)
{
    struct assay__exit result;
    struct assay__child child = start("hang", -1, -1);
    uint64_t begin = assay__now_ns();
    CHECK_INT(assay__process_wait(&child, SECOND / 20, &result), ASSAY_ETIMEOUT);
    CHECK(assay__now_ns() - begin >= SECOND / 20);
    assay__process_kill(&child, SIGKILL);
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK(!result.exited && result.signal == SIGKILL);
    CHECK(!result.oom); /* we sent it */
    close(child.socket);
}

/* A SIGKILL that we did not send: out of memory when the kernel's count rose, or when there is no
 * count to ask. */
static bool killed_by_stranger(const char *root, const char *before, const char *after)
{
    struct assay__exit result;
    char path[300];
    setenv("ASSAY_FSROOT", root, 1);
    snprintf(path, sizeof path, "%s/proc", root);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/proc/vmstat", root);
    unlink(path);
    if (before) CHECK_INT(assay__file_write(path, before, strlen(before), NULL), 0);
    struct assay__child child = start("hang", -1, -1);
    if (after) CHECK_INT(assay__file_write(path, after, strlen(after), NULL), 0);
    CHECK_INT(kill(child.pid, SIGKILL), 0);
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK_INT(result.signal, SIGKILL);
    close(child.socket);
    return result.oom;
}

static void test_out_of_memory(void)
{
#ifdef __APPLE__
    SKIP("macOS keeps no count of out-of-memory kills");
#endif
    char root[256];
    CHECK_INT(assay__folder_temporary(root, sizeof root, NULL), 0);
    CHECK(
        killed_by_stranger(root, "nr_free_pages 1\noom_kill 3\n", "nr_free_pages 1\noom_kill 4\n"));
    CHECK(!killed_by_stranger(root, "oom_kill 3\n", "oom_kill 3\n"));
    CHECK(killed_by_stranger(root, NULL, NULL));
    assay__folder_remove(root);
}

static void test_samples_survive_a_crash(void)
{
    struct assay__exit result;
    struct assay_error error;
    uint64_t *cells;
    int fd;
    CHECK_INT(assay__shared_create(4096, &fd, (void **)&cells, &error), 0);
    for (int i = 0; i < 512; i++)
        CHECK_INT(cells[i], 0);
    struct assay__child child = start("crash", fd, -1);
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK(!result.exited);
    CHECK_INT(result.signal, SIGSEGV);
    CHECK(!result.oom);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_INT(cells[i], i * i);
    void *larger;
    CHECK_INT(assay__shared_open(fd, 8192, &larger, &error), ASSAY_EINVAL);
    CHECK(larger == NULL);
    assay__shared_close(cells, 4096);
    close(fd);
    close(child.socket);
}

static void test_log(void)
{
    struct assay__exit result;
    char text[128] = "";
    int pipe_fds[2];
    CHECK_INT(pipe(pipe_fds), 0);
    struct assay__child child = start("print", -1, pipe_fds[1]);
    close(pipe_fds[1]);
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK(read(pipe_fds[0], text, sizeof text - 1) > 0);
    CHECK_STR(text, "to stdout\nto stderr\n");
    close(child.socket);
}

/* Every descriptor number below 16 taken or free: the child's end up right all the same. */
static void test_descriptor_collisions(void)
{
    struct assay_error error;
    uint64_t *cells;
    int fd;
    struct assay__exit result;
    CHECK_INT(assay__shared_create(4096, &fd, (void **)&cells, &error), 0);
    for (int target = 3; target <= 5; target++) {
        if (fd != target) {
            CHECK_INT(dup2(fd, target), target);
            close(fd);
            fd = target;
        }
        memset(cells, 0, 4096);
        struct assay__child child = start("shared", fd, -1);
        CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
        CHECK(result.exited && result.status == 0);
        CHECK_INT(cells[99], 99 * 99);
        close(child.socket);
    }
}

static void test_dies_with_parent(void)
{
#ifdef __APPLE__
    SKIP("macOS has no parent-death signal");
#else
    struct assay__exit result;
    pid_t orphan = 0;
    struct assay__child child = start("parent", -1, -1);
    CHECK_INT(read(child.socket, &orphan, sizeof orphan), sizeof orphan);
    CHECK_INT(assay__process_wait(&child, PATIENCE, &result), 0);
    CHECK_INT(result.signal, SIGKILL);
    for (int i = 0; i < 2000; i++) { /* gone, or a zombie until init reaps it */
        char path[64], state[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)orphan);
        int fd = open(path, O_RDONLY);
        if (fd < 0) return;
        ssize_t got = read(fd, state, sizeof state - 1);
        close(fd);
        if (got <= 0 || strstr(state, ") Z ")) return;
        assay__sleep_ns(5000000);
    }
    CHECK(!"the orphan is still running");
#endif
}

static void test_signal_names(void)
{
    CHECK_STR(assay__signal_name(SIGSEGV), "SIGSEGV (segmentation fault)");
    CHECK_STR(assay__signal_name(SIGKILL), "SIGKILL (killed)");
    CHECK_STR(assay__signal_name(77), "signal 77");
}

static int marker_function(void)
{
    return 1;
}

static void test_library(void)
{
    struct assay_error error;
    char path[4096];
    CHECK(assay__library_open("/no/such/library.so", &error) == NULL);
    CHECK_HAS(error.message, "/no/such/library.so");
    int (*address)(void) = marker_function;
    const void *data;
    memcpy(&data, &address, sizeof data);
    assay__library_path(data, path, sizeof path);
    CHECK_HAS(path, "test_platform");
    assay__library_path(NULL, path, sizeof path);
    CHECK_STR(path, "");
}

static void test_own_memory(void)
{
    struct assay__memory before, after;
    enum { BLOCK = 32 << 20 };
    assay__memory_read(&before);
    CHECK(before.rss_known && before.peak_known);
    /* mapped, not malloced: a sanitizer's allocator must not take part */
    char *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    CHECK(block != MAP_FAILED);
    for (size_t i = 0; i < BLOCK; i += 4096)
        block[i] = (char)i;
    assay__memory_read(&after);
    CHECK(after.rss_bytes >= before.rss_bytes + BLOCK * 9 / 10);
    CHECK(after.peak_rss_bytes >= after.rss_bytes * 9 / 10);
    if (after.pss_known) CHECK(after.pss_bytes >= BLOCK * 9 / 10);
    munmap(block, BLOCK);
}

static void test_terminal(void)
{
    int fds[2];
    CHECK_INT(pipe(fds), 0);
    CHECK_INT(assay__terminal_columns(fds[0]), 0);
}

static void test_affinity(void)
{
    struct assay_error error;
    char allowed[256], now[256], first[16];
    assay__cpus_allowed(allowed, sizeof allowed);
    if (allowed[0] == '\0') SKIP("this system has no CPU affinity");
    static const char *const bad[] = {"", "a", "0-", "-1", "1-0", "0,,1", "0,", "0 ", "0-99999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(assay__cpus_pin(bad[i], &error), ASSAY_EINVAL);
    CHECK_INT(assay__cpus_pin("60000", &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "CPU 60000 is not available");
    assay__cpus_allowed(now, sizeof now);
    CHECK_STR(now, allowed); /* a refused list changes nothing */
    snprintf(first, sizeof first, "%.*s", (int)strspn(allowed, "0123456789"), allowed);
    CHECK_INT(assay__cpus_pin(first, &error), 0);
    assay__cpus_allowed(now, sizeof now);
    CHECK_STR(now, first);
}

/* --- machines from fixture trees -------------------------------------------------------------- */

static void use_root(const char *name)
{
    char path[4096];
#ifdef __APPLE__
    SKIP("fixture trees are Linux's");
#endif
    snprintf(path, sizeof path, "%s/tests/fixtures/%s", ASSAY_TEST_ROOT, name);
    CHECK_INT(access(path, F_OK), 0);
    setenv("ASSAY_FSROOT", path, 1);
}

static void test_laptop(void)
{
    struct assay__machine m;
    struct assay__disturbance d;
    struct assay__memory memory;
    use_root("fsroot-laptop");
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__machine_read(arena, &m), 0);
    CHECK_STR(m.host, "laptop");
    CHECK_STR(m.os, "Debian GNU/Linux 12 (bookworm)");
    CHECK_STR(m.kernel, "Linux 6.1.0-18-amd64");
    CHECK_STR(m.architecture, "x86_64");
    CHECK_STR(m.cpu_model, "11th Gen Intel(R) Core(TM) i7-1185G7 @ 3.00GHz");
    CHECK_INT(m.packages, 1);
    CHECK_INT(m.cores, 4);
    CHECK_INT(m.threads, 8);
    CHECK_INT(m.memory_bytes, 16106127ll * 1024);
    CHECK_STR(m.virtualized, "none");
    CHECK_INT(m.l1d_bytes, 48 * 1024);
    CHECK_INT(m.l2_bytes, 1280 * 1024);
    CHECK_INT(m.l3_bytes, 12 * 1024 * 1024);
    CHECK_STR(m.simd, "avx512_vnni avx512vl avx512bw avx512f avx2 fma f16c avx sse4_2");
    CHECK_STR(m.governor, "powersave");
    CHECK_NEAR(m.cpu_max_hz, 4.8e9, 0);
    CHECK_STR(m.container, "");
    assay__disturbance_read(&d);
    CHECK(d.cpu_known && d.steal_known);
    CHECK_NEAR(d.cpu_busy_s, 16, 1e-12); /* user nice system irq softirq: 1600 ticks of 10 ms */
    CHECK_NEAR(d.cpu_idle_s, 45, 1e-12); /* idle iowait */
    CHECK_NEAR(d.cpu_steal_s, 0, 0);
    CHECK(d.frequency_known);
    CHECK_NEAR(d.frequency_hz, 1.7e9, 1);
    CHECK(d.throttle_known);
    CHECK_INT(d.throttle_count, 28 + 80);
    CHECK(d.cgroup_known && d.cgroup_throttled_ns == 0);
    CHECK(d.load_known);
    CHECK_NEAR(d.load_1min, 0.52, 1e-12);
    CHECK_INT(d.running, 3);
    CHECK(d.temperature_known);
    CHECK_NEAR(d.temperature_c, 61, 1e-12); /* the package, not acpitz */
    CHECK(d.pressure_known);
    CHECK_NEAR(d.pressure_cpu_s, 2.5, 1e-12);
    assay__memory_read(&memory);
    CHECK(memory.rss_known && memory.peak_known && memory.pss_known);
    CHECK_INT(memory.rss_bytes, 10 << 20);
    CHECK_INT(memory.peak_rss_bytes, 20 << 20);
    CHECK_INT(memory.pss_bytes, 8 << 20);
    assay__arena_free(arena);
}

static void test_arm(void)
{
    struct assay__machine m;
    struct assay__disturbance d;
    struct assay__memory memory;
    use_root("fsroot-arm");
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__machine_read(arena, &m), 0);
    CHECK_STR(m.host, "armserver");
    CHECK_STR(m.os, "Ubuntu 22.04.4 LTS");
    CHECK_STR(m.architecture, "aarch64");
    CHECK_STR(m.cpu_model, "Arm Neoverse-N1");
    CHECK_INT(m.packages, 2);
    CHECK_INT(m.cores, 4);
    CHECK_INT(m.threads, 4);
    CHECK_STR(m.virtualized, "kvm");
    CHECK_STR(m.container, "docker");
    CHECK_STR(m.simd, "asimddp asimdhp asimd");
    CHECK_INT(m.l3_bytes, 32 << 20);
    CHECK_STR(m.governor, "");
    CHECK_NEAR(m.cpu_max_hz, 0, 0);
    assay__disturbance_read(&d);
    CHECK(d.cpu_known && d.steal_known);
    CHECK_NEAR(d.cpu_steal_s, 0.25, 1e-12);
    CHECK(d.cgroup_known);
    CHECK_INT(d.cgroup_throttled_ns, 1500000);
    /* what the tree does not have is unknown, not zero */
    CHECK(!d.frequency_known && !d.throttle_known && !d.load_known && !d.temperature_known &&
          !d.pressure_known);
    assay__memory_read(&memory);
    CHECK(!memory.rss_known && !memory.peak_known && !memory.pss_known);
    assay__arena_free(arena);
}

/* Two kinds of cores, numbered from 0 in each cluster; no firmware tables but a device tree. */
static void test_arm_board(void)
{
    struct assay__machine m;
    use_root("fsroot-arm-board");
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__machine_read(arena, &m), 0);
    CHECK_STR(m.architecture, "aarch64");
    CHECK_STR(m.cpu_model, "Arm Cortex-A55 + Arm Cortex-A76");
    CHECK_INT(m.packages, 1);
    CHECK_INT(m.cores, 8);
    CHECK_INT(m.threads, 8);
    CHECK_STR(m.virtualized, "none");
    CHECK_NEAR(m.cpu_max_hz, 2.4e9, 0);
    CHECK_INT(m.l3_bytes, 0);
    assay__arena_free(arena);
}

/* A part of the tree of groups is mounted, and the limit sits above the process's own group:
 * throttling is counted there. */
static void test_limit_above(void)
{
    struct assay__disturbance d;
    use_root("fsroot-container");
    assay__disturbance_read(&d);
    CHECK(d.cgroup_known);
    CHECK_INT(d.cgroup_throttled_ns, 1750000000);
}

static void test_empty_machine(void)
{
    struct assay__machine m;
    struct assay__disturbance d;
#ifdef __APPLE__
    SKIP("fixture trees are Linux's");
#endif
    setenv("ASSAY_FSROOT", "/no/such/machine", 1);
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__machine_read(arena, &m), 0);
    CHECK_STR(m.host, "");
    CHECK_STR(m.kernel, "");
    CHECK_STR(m.virtualized, "");
    CHECK_INT(m.threads, 0);
    CHECK_INT(m.memory_bytes, 0);
    assay__disturbance_read(&d);
    CHECK(!d.cpu_known && !d.steal_known && !d.cgroup_known && !d.load_known);
    assay__arena_free(arena);
}

static void test_this_machine(void)
{
    struct assay__machine m;
    struct assay__disturbance d;
    unsetenv("ASSAY_FSROOT");
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__machine_read(arena, &m), 0);
    CHECK_INT(m.threads, sysconf(_SC_NPROCESSORS_ONLN));
    CHECK(m.cores <= m.threads && m.packages <= m.threads);
    CHECK(m.memory_bytes > 0);
    CHECK(m.architecture[0] && m.kernel[0] && m.host[0]);
    assay__disturbance_read(&d);
    CHECK(d.at_ns > 0);
    assay__arena_free(arena);
}

static void test_demangle(void)
{
    char text[64], few[8];
    CHECK(!assay__demangle("main", text, sizeof text));
    CHECK(!assay__demangle("_Znonsense", text, sizeof text));
    if (!assay__demangle("_ZN3foo3barEi", text, sizeof text)) SKIP("no C++ library");
    CHECK_STR(text, "foo::bar(int)");
    CHECK(assay__demangle("_ZN3foo3barEi", few, sizeof few));
    CHECK_STR(few, "foo::ba");
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--child") == 0) return child_main(argv[2]);
    static const struct harness_test tests[] = {
        {"start", test_start},
        {"socket", test_socket},
        {"missing_program", test_missing_program},
        {"timeout_and_kill", test_timeout_and_kill},
        {"out_of_memory", test_out_of_memory},
        {"samples_survive_a_crash", test_samples_survive_a_crash},
        {"log", test_log},
        {"demangle", test_demangle},
        {"descriptor_collisions", test_descriptor_collisions},
        {"dies_with_parent", test_dies_with_parent},
        {"signal_names", test_signal_names},
        {"library", test_library},
        {"own_memory", test_own_memory},
        {"terminal", test_terminal},
        {"affinity", test_affinity},
        {"laptop", test_laptop},
        {"arm", test_arm},
        {"arm_board", test_arm_board},
        {"limit_above", test_limit_above},
        {"empty_machine", test_empty_machine},
        {"this_machine", test_this_machine},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
