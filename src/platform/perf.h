/* perf.h - counters of the processor and of the kernel for one thread and everything it starts:
 * Linux's perf_event_open behind names of our own. Implementations: linux_perf.c; darwin_perf.c
 * (there is no such call: every open fails with ENOSYS). */
#ifndef ASSAY_PLATFORM_PERF_H
#define ASSAY_PLATFORM_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum assay__perf_event {
    ASSAY__PERF_CYCLES,
    ASSAY__PERF_INSTRUCTIONS,
    ASSAY__PERF_CACHE_REFERENCES,
    ASSAY__PERF_CACHE_MISSES,
    ASSAY__PERF_LLC_LOADS,
    ASSAY__PERF_LLC_LOAD_MISSES,
    ASSAY__PERF_BRANCHES,
    ASSAY__PERF_BRANCH_MISSES,
    ASSAY__PERF_STALLED_FRONTEND,
    ASSAY__PERF_STALLED_BACKEND,
    /* nanoseconds; this and the following are the kernel's own, which need no hardware counter */
    ASSAY__PERF_TASK_CLOCK,
    ASSAY__PERF_PAGE_FAULTS,
    ASSAY__PERF_CONTEXT_SWITCHES,
    ASSAY__PERF_MIGRATIONS,
    ASSAY__PERF_EVENTS, /* how many */
};

struct assay__perf_count {
    uint64_t value;
    uint64_t enabled_ns; /* time that the event was enabled and the thread ran */
    uint64_t running_ns; /* part of it during which a counter was free for the event */
};

/** The system calls, so that a test can replace them. */
struct assay__perf_calls {
    /** Counts the event in `thread` (0: the calling one) and in every thread and process it starts
     * from now on. group: the descriptor of an event that is counted at the same times; -1: none.
     * user_only: without what the kernel does on its behalf. A descriptor, or -1 with errno. */
    int (*open)(enum assay__perf_event event, pid_t thread, int group, bool user_only);
    /** False with errno. */
    bool (*read)(int fd, struct assay__perf_count *count);
    void (*close)(int fd);
    /** Starts or stops counting in every thread that the descriptor covers. False with errno. NULL:
     * always counts. */
    bool (*enable)(int fd, bool on);
    /** Counts an event of a separate driver (its type and config from
     * /sys/bus/event_source/devices) for the whole machine, as `cpu` sees it. A descriptor, or -1
     * with errno. NULL: not supported. */
    int (*open_system)(uint32_t type, uint64_t config, int cpu);
};
extern const struct assay__perf_calls assay__perf_system;

#endif
