/* linux_process.c - Linux's part of processes: dying with the parent (prctl), closing descriptors
 * (close_range), watching a child (pidfd), the out-of-memory counters, memfd, this process's
 * memory, CPU affinity, the executable's path. */
#include "base/cpu_list.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "platform/platform.h"
#include "platform/posix.h"
#include "platform/posix_fs.h"
#include "platform/program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers are the same on every architecture (added after the tables were unified); old headers
 * lack them. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int assay__child_bind(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    return getppid() == parent ? 0 : -1; /* it died between fork and prctl */
}

void assay__program_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void assay__child_close_from(int first)
{
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0) return;
    struct rlimit limit;
    int most = 65536;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)most)
        most = (int)limit.rlim_cur;
    for (int fd = first; fd < most; fd++)
        close(fd);
}

void assay__child_watch(pid_t pid, uint64_t timeout_ns)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0u);
    if (fd < 0) { /* before Linux 5.3, or not permitted: poll again soon */
        assay__sleep_ns(timeout_ns < 2000000 ? timeout_ns : 2000000);
        return;
    }
    struct pollfd watch = {.fd = fd, .events = POLLIN};
    uint64_t milliseconds = timeout_ns / 1000000 + 1;
    poll(&watch, 1,
         timeout_ns == UINT64_MAX ? -1
         : milliseconds > 60000   ? 60000
                                  : (int)milliseconds);
    close(fd);
}

/* The kernel counts its kills in /proc/vmstat, and per control group in memory.events; a container
 * may show only one. */
uint64_t assay__oom_kills(void)
{
    char events[512];
    uint64_t global = 0, own = 0;
    char *vmstat = assay__fs_slurp("/proc/vmstat");
    bool known = vmstat && assay__fs_field_u64(vmstat, "oom_kill", &global);
    free(vmstat);
    if (assay__fs_read(events, sizeof events, "/sys/fs/cgroup/memory.events") > 0 &&
        assay__fs_field_u64(events, "oom_kill", &own))
        known = true;
    return known ? global + own : UINT64_MAX;
}

uint64_t assay__maxrss_bytes(long maxrss)
{
    return (uint64_t)maxrss * 1024;
}

int assay__pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC);
}

int assay__socket_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

int assay__shared_descriptor(size_t size)
{
    int fd = memfd_create("assay", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, (off_t)size) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    /* If a worker shrank it, the parent's reads would fault. */
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
}

int assay__executable_path(char *out, size_t out_size)
{
    ssize_t length = readlink("/proc/self/exe", out, out_size);
    if (length <= 0 || (size_t)length >= out_size) return ASSAY_EIO;
    out[length] = '\0';
    return 0;
}

static bool read_kib(const char *text, const char *key, uint64_t *bytes)
{
    bool known = assay__fs_field_u64(text, key, bytes);
    if (known) *bytes *= 1024;
    return known;
}

void assay__memory_read(struct assay__memory *memory)
{
    char text[8192];
    *memory = (struct assay__memory){0};
    assay__fs_read(text, sizeof text, "/proc/self/status");
    memory->rss_known = read_kib(text, "VmRSS", &memory->rss_bytes);
    memory->peak_known = read_kib(text, "VmHWM", &memory->peak_rss_bytes);
    assay__fs_read(text, sizeof text, "/proc/self/smaps_rollup");
    memory->pss_known = read_kib(text, "Pss", &memory->pss_bytes);
}

/* --- CPU affinity ----------------------------------------------------------------------------- */

#define CPU_LIMIT 65536

/* Every thread the process has now; those it starts later inherit. */
static int pin_threads(const cpu_set_t *wanted, size_t size)
{
    int result = sched_setaffinity(0, size, wanted);
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    while (result == 0 && tasks && (entry = readdir(tasks))) {
        long thread = strtol(entry->d_name, NULL, 10);
        if (thread > 0 && sched_setaffinity((pid_t)thread, size, wanted) != 0 && errno != ESRCH)
            result = -1;
    }
    if (tasks) closedir(tasks);
    return result;
}

static int take_cpus(const char *list, bool pin, struct assay_error *error)
{
    cpu_set_t *wanted = CPU_ALLOC(CPU_LIMIT), *allowed = CPU_ALLOC(CPU_LIMIT);
    size_t size = CPU_ALLOC_SIZE(CPU_LIMIT);
    char ours[512];
    int code = 0, refused = -1; /* the first CPU that is not ours */
    if (!wanted || !allowed) {
        code = assay__no_memory(error);
        goto out;
    }
    CPU_ZERO_S(size, wanted);
    CPU_ZERO_S(size, allowed);
    if (sched_getaffinity(0, size, allowed) != 0) {
        code = assay_error_set(error, ASSAY_EUNSUPPORTED, "CPU affinity: %s", strerror(errno));
        goto out;
    }
    struct assay__cpu_walk walk = {.at = list};
    while (assay__cpu_next(&walk)) {
        CPU_SET_S(walk.cpu, size, wanted);
        if (refused < 0 && !CPU_ISSET_S(walk.cpu, size, allowed)) refused = (int)walk.cpu;
    }
    assay__cpus_allowed(ours, sizeof ours);
    if (walk.malformed)
        code = assay_error_set(error, ASSAY_EINVAL, "'%s' is not a list of CPUs such as 0-3,8",
                               list);
    else if (refused >= 0)
        code = assay_error_set(error, ASSAY_EINVAL, "CPU %d is not available to this process (%s)",
                               refused, ours);
    else if (pin && pin_threads(wanted, size) != 0)
        code = assay_error_set(error, ASSAY_EUNSUPPORTED, "cannot pin to CPUs %s: %s", list,
                               strerror(errno));
out:
    CPU_FREE(wanted);
    CPU_FREE(allowed);
    return code;
}

int assay__cpus_pin(const char *list, struct assay_error *error)
{
    return take_cpus(list, true, error);
}

int assay__cpus_check(const char *list, struct assay_error *error)
{
    return take_cpus(list, false, error);
}

void assay__cpus_allowed(char *out, size_t out_size)
{
    size_t size = CPU_ALLOC_SIZE(CPU_LIMIT), length = 0;
    if (out_size == 0) return;
    out[0] = '\0';
    cpu_set_t *set = CPU_ALLOC(CPU_LIMIT);
    if (set) CPU_ZERO_S(size, set);
    bool known = set && sched_getaffinity(0, size, set) == 0;
    for (size_t cpu = 0; known && cpu < CPU_LIMIT; cpu++) {
        if (!CPU_ISSET_S(cpu, size, set)) continue;
        size_t last = cpu;
        while (last + 1 < CPU_LIMIT && CPU_ISSET_S(last + 1, size, set))
            last++;
        char part[48];
        const char *comma = length ? "," : "";
        int added = last > cpu ? snprintf(part, sizeof part, "%s%zu-%zu", comma, cpu, last)
                               : snprintf(part, sizeof part, "%s%zu", comma, cpu);
        if (added < 0 || length + (size_t)added + 1 > out_size) break;
        memcpy(out + length, part, (size_t)added + 1);
        length += (size_t)added;
        cpu = last;
    }
    CPU_FREE(set);
}

const char *assay__preload_variable(void)
{
    return "LD_PRELOAD";
}

bool assay__memory_free(uint64_t *bytes)
{
    char text[4096];
    return assay__fs_read(text, sizeof text, "/proc/meminfo") > 0 &&
           read_kib(text, "MemAvailable", bytes);
}
