/* harness.h - a small test harness: an explicit list of tests, one process per test, a time limit,
 * skip only with a reason.
 *
 *   static void test_adds(void) { CHECK_INT(1 + 1, 2); }
 *   int main(int argc, char **argv)
 *   {
 *       static const struct harness_test tests[] = {{"adds", test_adds}};
 *       return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
 *   }
 *
 * Exit status 0 when nothing failed. The last line is "N passed, N failed, N skipped". Arguments
 * select tests by name; --nofork runs them in this process (debuggers). ASSAY_TEST_TIMEOUT_S
 * overrides the limit (sanitizers, valgrind). */
#ifndef ASSAY_TESTS_HARNESS_H
#define ASSAY_TESTS_HARNESS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HARNESS_SKIP_STATUS 77
#define HARNESS_TIMEOUT_S 30

/* The build gives each file's main() a name of its own (see suites.c), which needs a prototype. */
int main(int argc, char **argv);

struct harness_test {
    const char *name;
    void (*run)(void);
};

static inline void harness_fail(const char *file, int line, const char *what)
{
    printf("  %s:%d: %s\n", file, line, what);
    fflush(stdout);
    exit(1);
}

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) harness_fail(__FILE__, __LINE__, "not true: " #condition); \
    } while (0)

#define CHECK_INT(actual, expected)                                                                \
    do {                                                                                           \
        long long harness_a = (long long)(actual), harness_e = (long long)(expected);              \
        if (harness_a != harness_e) {                                                              \
            printf("  %s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #actual, harness_a, \
                   harness_e);                                                                     \
            fflush(stdout);                                                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_STR(actual, expected)                                                         \
    do {                                                                                    \
        const char *harness_a = (actual), *harness_e = (expected);                          \
        if (!harness_a || strcmp(harness_a, harness_e) != 0) {                              \
            printf("  %s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__, #actual, \
                   harness_a ? harness_a : "(null)", harness_e);                            \
            fflush(stdout);                                                                 \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

/* Contains: the needle must stand in the text. */
#define CHECK_HAS(text, needle)                                                     \
    do {                                                                            \
        const char *harness_a = (text), *harness_e = (needle);                      \
        if (!harness_a || !strstr(harness_a, harness_e)) {                          \
            printf("  %s:%d: \"%s\" does not contain \"%s\"\n", __FILE__, __LINE__, \
                   harness_a ? harness_a : "(null)", harness_e);                    \
            fflush(stdout);                                                         \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

#define CHECK_NEAR(actual, expected, tolerance)                                           \
    do {                                                                                  \
        double harness_a = (actual), harness_e = (expected);                              \
        if (!(fabs(harness_a - harness_e) <= (tolerance))) {                              \
            printf("  %s:%d: %s is %.17g, expected %.17g\n", __FILE__, __LINE__, #actual, \
                   harness_a, harness_e);                                                 \
            fflush(stdout);                                                               \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

#define SKIP(reason)                         \
    do {                                     \
        printf("  skipped: %s\n", (reason)); \
        fflush(stdout);                      \
        exit(HARNESS_SKIP_STATUS);           \
    } while (0)

/** The program that starts programs of this build, where tests/run emulates the processor they are
 *  for: the kernel cannot. NULL where it can. */
static inline const char *harness_emulator(void)
{
    return getenv("ASSAY_TEST_EMULATOR");
}

/* For what an emulator cannot do, which `why` says. */
#define SKIP_EMULATED(why)                                       \
    do {                                                         \
        if (harness_emulator()) SKIP("under an emulator: " why); \
    } while (0)

static inline int harness_run_one(const struct harness_test *test)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) return -1;
    if (pid == 0) {
        const char *limit = getenv("ASSAY_TEST_TIMEOUT_S");
        alarm(limit ? (unsigned)strtoul(limit, NULL, 10) : HARNESS_TIMEOUT_S);
        test->run();
        exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return -1;
    if (WIFSIGNALED(status)) {
        printf("  %s\n", WTERMSIG(status) == 14 ? "timed out" : strsignal(WTERMSIG(status)));
        return 1;
    }
    return WEXITSTATUS(status);
}

static inline int harness_main(int argc, char **argv, const struct harness_test *tests,
                               size_t count)
{
    int passed = 0, failed = 0, skipped = 0;
    bool fork_each = !(argc > 1 && strcmp(argv[1], "--nofork") == 0);
    int first = fork_each ? 1 : 2;
    for (size_t i = 0; i < count; i++) {
        bool wanted = argc <= first;
        for (int a = first; a < argc; a++)
            if (strcmp(argv[a], tests[i].name) == 0) wanted = true;
        if (!wanted) continue;
        int status = 0;
        if (fork_each)
            status = harness_run_one(&tests[i]);
        else
            tests[i].run();
        const char *word = status == 0 ? "ok" : status == HARNESS_SKIP_STATUS ? "skip" : "FAIL";
        passed += status == 0;
        skipped += status == HARNESS_SKIP_STATUS;
        failed += status != 0 && status != HARNESS_SKIP_STATUS;
        printf("%-4s %s\n", word, tests[i].name);
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}

#endif
