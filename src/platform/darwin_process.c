/* darwin_process.c - macOS's part of processes: watching a child (kqueue), closing descriptors,
 * shared memory as an unlinked file, this process's memory (mach), the executable's path. macOS has
 * no parent-death signal and no CPU affinity; the worker learns of the parent's end from its
 * control socket, and pinning is refused with that reason. */
#include "base/clock.h"
#include "platform/platform.h"
#include "platform/posix.h"
#include "platform/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/event.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int assay__child_bind(pid_t parent)
{
    return getppid() == parent ? 0 : -1;
}

void assay__program_adopt(void)
{
}

void assay__child_close_from(int first)
{
    struct rlimit limit;
    int most = 10240; /* OPEN_MAX: the default limit of a process */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536) most = (int)limit.rlim_cur;
    for (int fd = first; fd < most; fd++)
        close(fd);
}

void assay__child_watch(pid_t pid, uint64_t timeout_ns)
{
    uint64_t wait_ns = timeout_ns < 60000000000u ? timeout_ns : 60000000000u;
    struct timespec limit = {(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
    struct kevent change, event;
    int queue = kqueue();
    if (queue < 0) {
        assay__sleep_ns(wait_ns < 2000000 ? wait_ns : 2000000);
        return;
    }
    EV_SET(&change, (uintptr_t)pid, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    /* An error here means that it has already ended: the caller checks. */
    if (kevent(queue, &change, 1, &event, 1, &limit) < 0 && errno != EINTR)
        assay__sleep_ns(wait_ns < 2000000 ? wait_ns : 2000000);
    close(queue);
}

/* macOS has no count of out-of-memory kills that a process could read. */
uint64_t assay__oom_kills(void)
{
    return UINT64_MAX;
}

uint64_t assay__maxrss_bytes(long maxrss)
{
    return (uint64_t)maxrss;
}

/* macOS has neither pipe2 nor SOCK_CLOEXEC. */
static int close_on_exec(const int ends[2])
{
    for (int i = 0; i < 2; i++)
        if (fcntl(ends[i], F_SETFD, FD_CLOEXEC) != 0) return -1;
    return 0;
}

int assay__pipe(int ends[2])
{
    return pipe(ends) == 0 ? close_on_exec(ends) : -1;
}

int assay__socket_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? close_on_exec(ends) : -1;
}

int assay__shared_descriptor(size_t size)
{
    char path[PATH_MAX];
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, sizeof path, "%s/assay-shared-XXXXXX",
                          folder && folder[0] ? folder : "/tmp");
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) return -1;
    unlink(path);
    if (ftruncate(fd, (off_t)size) != 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int assay__executable_path(char *out, size_t out_size)
{
    char raw[PATH_MAX], real[PATH_MAX];
    uint32_t size = sizeof raw;
    if (_NSGetExecutablePath(raw, &size) != 0 || !realpath(raw, real)) return ASSAY_EIO;
    int length = snprintf(out, out_size, "%s", real);
    return length < 0 || (size_t)length >= out_size ? ASSAY_ELIMIT : 0;
}

/* The physical footprint is what macOS itself calls a process's memory; it replaces PSS, which
 * macOS does not have. */
void assay__memory_read(struct assay__memory *memory)
{
    memset(memory, 0, sizeof *memory);
    struct mach_task_basic_info basic = {0};
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&basic, &count) ==
        KERN_SUCCESS) {
        memory->rss_bytes = basic.resident_size;
        memory->peak_rss_bytes = basic.resident_size_max;
        memory->rss_known = memory->peak_known = true;
    }
    task_vm_info_data_t vm = {0};
    count = TASK_VM_INFO_COUNT;
    if (task_info(mach_task_self(), TASK_VM_INFO, (task_info_t)&vm, &count) == KERN_SUCCESS) {
        memory->pss_bytes = vm.phys_footprint;
        memory->pss_known = true;
    }
}

int assay__cpus_pin(const char *list, struct assay_error *error)
{
    (void)list;
    return assay_error_set(error, ASSAY_EUNSUPPORTED,
                           "macOS does not let a process choose its CPUs");
}

int assay__cpus_check(const char *list, struct assay_error *error)
{
    return assay__cpus_pin(list, error);
}

void assay__cpus_allowed(char *out, size_t out_size)
{
    if (out_size) out[0] = '\0';
}

const char *assay__preload_variable(void)
{
    /* DYLD_INSERT_LIBRARIES replaces nothing: a library would need an interpose section */
    return NULL;
}

bool assay__memory_free(uint64_t *bytes)
{
    *bytes = 0;
    return false;
}
