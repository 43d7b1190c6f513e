/* posix_process.c - starting, watching and ending worker processes.
 *
 * fork and exec: everything that may allocate or lock (environment, descriptors moved out of the
 * way, signals) is prepared before the fork; between fork and exec only async-signal-safe calls are
 * made, so a parent with threads is safe. If exec fails, its errno is sent through a close-on-exec
 * pipe. In the child: 0 is /dev/null, 1 and 2 the log, 3 the control socket, 4 the shared memory;
 * nothing else is open. */
#include "base/clock.h"
#include "platform/platform.h"
#include "platform/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define FIRST_SPARE 16 /* descriptors are parked here or above, clear of the child's 0 … 5 */
#define STATUS_FD 5    /* the exec-status pipe in the child */

struct plan {
    const char *const *argv;
    char **environment;
    int null_fd, log_fd, socket_fd, shared_fd, status_fd; /* all >= FIRST_SPARE or -1 */
    pid_t parent;
};

/* The parent's environment with the added entries in place of those of the same name. Only the
 * array is new. */
static char **merge_environment(const char *const *added)
{
    size_t most = 1, count = 0;
    for (char **entry = environ; entry && *entry; entry++)
        most++;
    for (size_t i = 0; added && added[i]; i++)
        most++;
    char **merged = calloc(most, sizeof *merged);
    if (!merged) return NULL;
    for (char **entry = environ; entry && *entry; entry++) {
        bool replaced = false;
        for (size_t i = 0; added && added[i]; i++) {
            size_t length = strcspn(added[i], "=");
            replaced = replaced ||
                       (strncmp(added[i], *entry, length) == 0 && (*entry)[length] == '=');
        }
        if (!replaced) merged[count++] = *entry;
    }
    for (size_t i = 0; added && added[i]; i++)
        merged[count++] = (char *)(uintptr_t)added[i];
    return merged;
}

/* Moves or copies a descriptor out of the way of 0 … 5, close-on-exec. */
static int park(int fd, bool close_old)
{
    int parked = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_SPARE);
    int saved = errno;
    if (close_old) close(fd);
    errno = saved;
    return parked;
}

static void child_fail(void)
{
    int number = errno;
    ssize_t ignored = write(STATUS_FD, &number, sizeof number);
    (void)ignored;
    _exit(127);
}

/* Async-signal-safe calls only. */
static void child_main(const struct plan *plan)
{
    sigset_t none;
    sigemptyset(&none);
    if (dup2(plan->status_fd, STATUS_FD) < 0) _exit(127);
    if (fcntl(STATUS_FD, F_SETFD, FD_CLOEXEC) != 0) _exit(127);
    if (assay__child_bind(plan->parent) != 0) _exit(127);
    if (dup2(plan->null_fd, 0) < 0 || dup2(plan->log_fd, 1) < 0 || dup2(plan->log_fd, 2) < 0 ||
        dup2(plan->socket_fd, 3) < 0)
        child_fail();
    if (plan->shared_fd < 0)
        close(4);
    else if (dup2(plan->shared_fd, 4) < 0)
        child_fail();
    assay__child_close_from(STATUS_FD + 1);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(plan->argv[0], (char *const *)(uintptr_t)plan->argv, plan->environment);
    child_fail();
}

static pid_t fork_child(const struct plan *plan)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of ours may run in the child */
    pid_t pid = fork();
    if (pid == 0) child_main(plan);
    int saved = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return pid;
}

static int open_plan(struct plan *plan, int shared_fd, int log_fd, int *our_socket, int *our_status)
{
    int pair[2], status[2];
    plan->null_fd = plan->log_fd = plan->socket_fd = plan->shared_fd = plan->status_fd = -1;
    *our_socket = *our_status = -1;
    if (assay__socket_pair(pair) != 0) return -1;
    *our_socket = park(pair[0], true);
    plan->socket_fd = park(pair[1], true);
    if (assay__pipe(status) != 0) return -1;
    *our_status = park(status[0], true);
    plan->status_fd = park(status[1], true);
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0) return -1;
    plan->null_fd = park(null_fd, true);
    plan->log_fd = park(log_fd >= 0 ? log_fd : 2, false);
    if (plan->log_fd < 0 && log_fd < 0)
        plan->log_fd = park(plan->null_fd, false); /* stderr is closed */
    if (shared_fd >= 0) plan->shared_fd = park(shared_fd, false);
    bool all = *our_socket >= 0 && plan->socket_fd >= 0 && *our_status >= 0 &&
               plan->status_fd >= 0 && plan->null_fd >= 0 && plan->log_fd >= 0 &&
               (shared_fd < 0 || plan->shared_fd >= 0);
    return all ? 0 : -1;
}

int assay__process_start(const char *const *argv, int shared_fd, int log_fd,
                         const char *const *environment, struct assay__child *child,
                         struct assay_error *error)
{
    *child = (struct assay__child){.pid = 0, .socket = -1, .oom_kills_before = assay__oom_kills()};
    struct plan plan = {.argv = argv, .parent = getpid()};
    int our_socket = -1, our_status = -1, number = 0;
    plan.environment = merge_environment(environment);
    if (!plan.environment) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (open_plan(&plan, shared_fd, log_fd, &our_socket, &our_status) != 0) number = errno;
    pid_t pid = number ? -1 : fork_child(&plan);
    if (pid < 0 && !number) number = errno;
    const int theirs[] = {plan.null_fd, plan.log_fd, plan.socket_fd, plan.shared_fd,
                          plan.status_fd};
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        if (theirs[i] >= 0) close(theirs[i]);
    if (pid > 0) {
        /* Waits for exec: end of file is success, an int is the errno of what failed. */
        ssize_t got;
        do {
            got = read(our_status, &number, sizeof number);
        } while (got < 0 && errno == EINTR);
        if (got != (ssize_t)sizeof number) number = 0;
        if (number)
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
            }
    }
    free(plan.environment);
    if (our_status >= 0) close(our_status);
    if (number) {
        if (our_socket >= 0) close(our_socket);
        return assay_error_set(error, ASSAY_EIO, "cannot start '%s': %s", argv[0],
                               strerror(number));
    }
    child->pid = pid;
    child->socket = our_socket;
    return 0;
}

static uint64_t nanoseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

int assay__process_wait(struct assay__child *child, uint64_t timeout_ns, struct assay__exit *result)
{
    memset(result, 0, sizeof *result);
    if (child->pid <= 0) return ASSAY_EIO;
    uint64_t begin = assay__now_ns();
    for (;;) {
        int status;
        struct rusage usage;
        pid_t reaped = wait4(child->pid, &status, WNOHANG, &usage);
        if (reaped == child->pid) {
            *result = (struct assay__exit){
                .exited = WIFEXITED(status),
                .status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                .user_ns = nanoseconds(&usage.ru_utime),
                .system_ns = nanoseconds(&usage.ru_stime),
                .peak_rss_bytes = assay__maxrss_bytes(usage.ru_maxrss),
                .minor_faults = (uint64_t)usage.ru_minflt,
                .major_faults = (uint64_t)usage.ru_majflt,
                .voluntary_switches = (uint64_t)usage.ru_nvcsw,
                .involuntary_switches = (uint64_t)usage.ru_nivcsw,
            };
            if (result->signal == SIGKILL && !child->killed_by_us) {
                /* Without a counter, a SIGKILL that nobody here sent is most likely the
                 * out-of-memory killer. */
                uint64_t now = assay__oom_kills();
                bool counted = now != UINT64_MAX && child->oom_kills_before != UINT64_MAX;
                result->oom = !counted || now > child->oom_kills_before;
            }
            child->pid = 0;
            return 0;
        }
        if (reaped < 0 && errno != EINTR) return ASSAY_EIO;
        uint64_t passed = assay__now_ns() - begin;
        if (timeout_ns != UINT64_MAX && passed >= timeout_ns) return ASSAY_ETIMEOUT;
        assay__child_watch(child->pid, timeout_ns == UINT64_MAX ? UINT64_MAX : timeout_ns - passed);
    }
}

void assay__process_kill(struct assay__child *child, int signal_number)
{
    if (child->pid <= 0) return;
    if (signal_number == SIGKILL) child->killed_by_us = true;
    kill(child->pid, signal_number);
}
