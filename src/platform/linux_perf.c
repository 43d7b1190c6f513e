/* linux_perf.c - perf_event_open. The C library has no wrapper, so the call is made by number.
 * Events are inherited by threads and processes that the counted thread starts; kernels before 6.12
 * refuse to read inherited events as a group (PERF_FORMAT_GROUP), so each is read alone.
 * Members of a group still count at the same times. */
#include "platform/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LLC(result) \
    (PERF_COUNT_HW_CACHE_LL | (PERF_COUNT_HW_CACHE_OP_READ << 8) | ((uint64_t)(result) << 16))

static const struct {
    uint32_t type;
    uint64_t config;
} events[ASSAY__PERF_EVENTS] = {
    [ASSAY__PERF_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [ASSAY__PERF_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    [ASSAY__PERF_CACHE_REFERENCES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    [ASSAY__PERF_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    [ASSAY__PERF_LLC_LOADS] = {PERF_TYPE_HW_CACHE, LLC(PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    [ASSAY__PERF_LLC_LOAD_MISSES] = {PERF_TYPE_HW_CACHE, LLC(PERF_COUNT_HW_CACHE_RESULT_MISS)},
    [ASSAY__PERF_BRANCHES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
    [ASSAY__PERF_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    [ASSAY__PERF_STALLED_FRONTEND] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    [ASSAY__PERF_STALLED_BACKEND] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    [ASSAY__PERF_TASK_CLOCK] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    [ASSAY__PERF_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    [ASSAY__PERF_CONTEXT_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    [ASSAY__PERF_MIGRATIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

static struct perf_event_attr attributes(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return attr;
}

static int perf_open(enum assay__perf_event event, pid_t thread, int group, bool user_only)
{
    struct perf_event_attr attr = attributes(events[event].type, events[event].config);
    attr.inherit = 1;
    attr.exclude_kernel = user_only;
    attr.exclude_hv = user_only;
    return (int)syscall(SYS_perf_event_open, &attr, thread, -1, group, PERF_FLAG_FD_CLOEXEC);
}

static bool perf_read(int fd, struct assay__perf_count *count)
{
    uint64_t words[3];
    ssize_t got;
    do {
        got = read(fd, words, sizeof words);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof words) {
        if (got >= 0) errno = EIO; /* end of file: the event is in an error state */
        return false;
    }
    *count = (struct assay__perf_count){words[0], words[1], words[2]};
    return true;
}

static void perf_close(int fd)
{
    close(fd);
}

/* Reaches the inherited events of other threads too. */
static bool perf_enable(int fd, bool on)
{
    return ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) == 0;
}

static int perf_open_system(uint32_t type, uint64_t config, int cpu)
{
    struct perf_event_attr attr = attributes(type, config);
    return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

const struct assay__perf_calls assay__perf_system = {perf_open, perf_read, perf_close, perf_enable,
                                                     perf_open_system};
