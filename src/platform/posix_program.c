/* posix_program.c - starts a program as a shell would, and hands signals on to it.
 *
 * The child waits on a pipe before it executes the program, so that recorders can be attached to
 * it; a second pipe, close-on-exec, brings back the errno of an execution that failed. Between fork
 * and exec only async-signal-safe calls are made. */
#include "base/file.h"
#include "platform/platform.h"
#include "platform/program.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENVIRONMENT_MOST ((size_t)4 << 20)

static const int forwarded[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGIO,  SIGPROF, SIGURG};
#define FORWARDED (sizeof forwarded / sizeof *forwarded)

static volatile sig_atomic_t target, stops; /* pid_t is an int everywhere */
static struct sigaction before[FORWARDED];

/* --- signals ---------------------------------------------------------------------------------- */

/* The terminal signals the whole process group, and what the program sends to its group reaches us
 * as well: neither is sent on. */
static void forward(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    if (target > 0 && info->si_code <= 0 && info->si_pid != target) kill(target, number);
    if (number == SIGINT || number == SIGTERM) stops++;
    errno = saved;
}

static void forward_to(pid_t pid)
{
    struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    target = pid;
    for (size_t i = 0; i < FORWARDED; i++) {
        bool ignored = !sigaction(forwarded[i], NULL, &before[i]) &&
                       before[i].sa_handler == SIG_IGN; /* by nohup, for the program too */
        if (!ignored) sigaction(forwarded[i], &action, NULL);
    }
}

/* What was meant for the program does not end us while we save what it did. */
void assay__program_forget(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    target = 0;
    for (size_t i = 0; i < FORWARDED; i++) {
        bool stops_us = forwarded[i] == SIGINT || forwarded[i] == SIGTERM ||
                        forwarded[i] == SIGQUIT;
        sigaction(forwarded[i], stops_us ? &before[i] : &ignore, NULL);
    }
}

int assay__program_stops(void)
{
    return stops;
}

void assay__program_die(int signal_number)
{
    struct rlimit none = {0, 0};
    sigset_t one;
    setrlimit(RLIMIT_CORE, &none);
    signal(signal_number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    raise(signal_number);
}

int assay__signal_number(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"USR1", SIGUSR1},
                 {"USR2", SIGUSR2}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT},
                 {"PROF", SIGPROF}, {"URG", SIGURG},   {"IO", SIGIO},     {"WINCH", SIGWINCH}};
    char *end;
    long number = strtol(name, &end, 10);
    bool caught = number != SIGKILL && number != SIGSTOP; /* the others can be */
    if (*name && !*end) return number > 0 && number < NSIG && caught ? (int)number : 0;
    if (!strncasecmp(name, "SIG", 3)) name += 3;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(known[i].name, name)) return known[i].number;
    return 0;
}

/* --- which file ------------------------------------------------------------------------------- */

static const char *path_of(char *const *environment)
{
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, "PATH=", 5)) return *environment + 5;
    return "/usr/bin:/bin";
}

static bool is_program(const char *path, int *reason)
{
    struct stat about;
    if (stat(path, &about)) {
        if (errno != ENOENT && errno != ENOTDIR) *reason = errno;
        return false;
    }
    if (S_ISREG(about.st_mode) && !access(path, X_OK)) return true;
    *reason = S_ISDIR(about.st_mode) ? EISDIR : EACCES;
    return false;
}

/* An empty folder of PATH is the current one. */
static int find_program(const char *name, char *const *environment, char out[PATH_MAX])
{
    int reason = ENOENT;
    if (strchr(name, '/')) {
        if (strlen(name) >= PATH_MAX) return ENAMETOOLONG;
        memcpy(out, name, strlen(name) + 1);
        return is_program(out, &reason) ? 0 : reason;
    }
    for (const char *at = path_of(environment); *name; at++) {
        size_t length = strcspn(at, ":");
        char folder[PATH_MAX] = ".";
        if (length && length < sizeof folder) {
            memcpy(folder, at, length);
            folder[length] = '\0';
        }
        if (!assay__path_join(folder, name, out, PATH_MAX) && is_program(out, &reason)) return 0;
        at += length;
        if (!*at) break;
    }
    return reason;
}

/* --- starting --------------------------------------------------------------------------------- */

struct start {
    const struct assay__program *program;
    const char *path;
    const char **shell; /* what a script without a first line of its own is run as */
    int go[2], failed[2];
    sigset_t mask;
};

/* Async-signal-safe calls only. */
static void become(const struct start *start)
{
    char byte;
    ssize_t count;
    close(start->go[1]);
    do {
        count = read(start->go[0], &byte, 1);
    } while (count < 0 && errno == EINTR);
    signal(SIGPIPE, start->program->ignores_sigpipe ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &start->mask, NULL);
    char *const *argv = (char *const *)(uintptr_t)start->program->argv;
    execve(start->path, argv, start->program->environment);
    if (errno == ENOEXEC)
        execve("/bin/sh", (char *const *)(uintptr_t)start->shell, start->program->environment);
    int reason = errno;
    count = write(start->failed[1], &reason, sizeof reason);
    _exit(127);
}

static int read_reason(const struct start *start, pid_t pid)
{
    int reason = 0;
    ssize_t count;
    do {
        count = read(start->failed[0], &reason, sizeof reason);
    } while (count < 0 && errno == EINTR);
    if (count != (ssize_t)sizeof reason) return 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    return reason;
}

static int run_child(struct start *start, pid_t *pid)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &start->mask);
    *pid = fork();
    int reason = *pid < 0 ? errno : 0;
    if (*pid == 0) become(start);
    if (*pid > 0) forward_to(*pid);
    pthread_sigmask(SIG_SETMASK, &start->mask, NULL);
    if (reason) return reason;
    if (start->program->held) start->program->held(start->program->context, *pid);
    close(start->go[1]);
    close(start->failed[1]);
    start->go[1] = start->failed[1] = -1;
    reason = read_reason(start, *pid);
    if (reason) assay__program_forget();
    return reason;
}

static const char **shell_of(const struct assay__program *program, const char *path)
{
    size_t count = 0;
    while (program->argv[count])
        count++;
    const char **shell = calloc(count + 2, sizeof *shell);
    if (!shell) return NULL;
    shell[0] = "/bin/sh";
    shell[1] = path;
    for (size_t i = 1; i < count; i++)
        shell[i + 1] = program->argv[i];
    return shell;
}

int assay__program_start(const struct assay__program *program, pid_t *pid,
                         struct assay_error *error)
{
    char path[PATH_MAX];
    struct start start = {.program = program, .path = path, .go = {-1, -1}, .failed = {-1, -1}};
    stops = 0;
    int reason = find_program(program->argv[0], program->environment, path);
    if (!reason && !(start.shell = shell_of(program, path))) reason = ENOMEM;
    if (!reason && (assay__pipe(start.go) || assay__pipe(start.failed))) reason = errno;
    if (!reason) reason = run_child(&start, pid);
    for (int i = 0; i < 2; i++) {
        if (start.go[i] >= 0) close(start.go[i]);
        if (start.failed[i] >= 0) close(start.failed[i]);
    }
    free(start.shell);
    if (!reason) return 0;
    return assay_error_set(error, reason == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO,
                           "cannot start '%s': %s", program->argv[0], strerror(reason));
}

static bool has_text(const char *path, const char *text)
{
    char *data = NULL;
    size_t length = 0, wanted = strlen(text);
    bool found = false;
    if (assay__file_read(path, ENVIRONMENT_MOST, &data, &length, NULL)) return false;
    for (size_t at = 0; at < length && !found; at += strlen(data + at) + 1)
        found = wanted && strstr(data + at, text) != NULL; /* one entry after the other */
    free(data);
    return found;
}

size_t assay__program_count_with(const char *text)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        char path[PATH_MAX];
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == (long)getpid()) continue;
        snprintf(path, sizeof path, "/proc/%ld/environ", pid);
        count += has_text(path, text);
    }
    if (processes) closedir(processes);
    return count;
}

bool assay__program_left(void)
{
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid == 0) return true;
        if (pid < 0 && errno != EINTR) return false;
    }
}
