/* perf_event.c - counters of one process: what the processor counts (cycles, instructions, caches,
 * branches, stalls) and what the kernel counts (CPU time, page faults, context switches,
 * migrations), which needs no counters in the processor.
 *
 * Threads. Each event is opened for every thread that the process has, and is inherited by those
 * started later. A thread that another one starts during the opening may be missed: open the probe
 * before the worker starts its threads.
 *
 * Multiplexing. Events of one group (cycles with instructions, misses with references) count at the
 * same times, so their ratios hold. When there are more groups than counters the kernel takes
 * turns, and each event reports how long it was enabled and how long it was counted (running).
 * Between two readings the count grew by Δvalue · Δenabled / Δrunning: an estimate, as the channel
 * utilization.counted.EVENT shows (running / enabled of the group, 1: nothing was scaled). An
 * interval in which a group never had its turn has no reading; the next one covers it.
 *
 * Permission. If kernel.perf_event_paranoid is 2, only user space may be counted: the source then
 * says so. Context switches and migrations happen in the kernel: they would then always read 0, so
 * they are unavailable. */
#include "probe/perf_event.h"
#include "probe/live.h"
#include "probe/probes.h"
#include "probe/sysfs.h"

#include "base/no_memory.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 64 /* maximum: each takes a descriptor per event */
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

struct event_row {
    const char *name, *quantity, *unit;
    double scale;
    unsigned group;
    bool hardware;
    bool in_kernel; /* it happens in the kernel: counting only user space finds none */
};

/* Group 0: each alone. */
static const struct event_row rows[ASSAY__PERF_EVENTS] = {
    [ASSAY__PERF_CYCLES] = {"cycles", "count", "1", 1, 1, true, false},
    [ASSAY__PERF_INSTRUCTIONS] = {"instructions", "count", "1", 1, 1, true, false},
    [ASSAY__PERF_CACHE_REFERENCES] = {"cache-references", "count", "1", 1, 2, true, false},
    [ASSAY__PERF_CACHE_MISSES] = {"cache-misses", "count", "1", 1, 2, true, false},
    [ASSAY__PERF_LLC_LOADS] = {"llc-loads", "count", "1", 1, 3, true, false},
    [ASSAY__PERF_LLC_LOAD_MISSES] = {"llc-load-misses", "count", "1", 1, 3, true, false},
    [ASSAY__PERF_BRANCHES] = {"branches", "count", "1", 1, 4, true, false},
    [ASSAY__PERF_BRANCH_MISSES] = {"branch-misses", "count", "1", 1, 4, true, false},
    [ASSAY__PERF_STALLED_FRONTEND] = {"stalled-frontend", "count", "1", 1, 0, true, false},
    [ASSAY__PERF_STALLED_BACKEND] = {"stalled-backend", "count", "1", 1, 0, true, false},
    [ASSAY__PERF_TASK_CLOCK] = {"task-clock", "time", "s", 1e-9, 0, false, false},
    [ASSAY__PERF_PAGE_FAULTS] = {"page-faults", "count", "1", 1, 0, false, false},
    [ASSAY__PERF_CONTEXT_SWITCHES] = {"context-switches", "count", "1", 1, 0, false, true},
    [ASSAY__PERF_MIGRATIONS] = {"migrations", "count", "1", 1, 0, false, true},
};

struct counter {
    int fd;
    struct assay__perf_count last; /* at the last reading that counted */
    double total;                  /* scaled */
};

struct event {
    struct counter counters[THREADS];
    struct assay__perf_count sum; /* of the threads, now */
    const char *failed;           /* why the last reading failed; NULL */
    const char *broken;           /* why it is of no use any more; NULL */
    bool open, user_only;
};

struct assay__probe {
    struct assay__probe_head head;
    struct assay__perf_calls calls;
    struct assay__arena *arena;
    pid_t threads[THREADS];
    size_t thread_count;
    struct event events[ASSAY__PERF_EVENTS];
    /* Events, then the share of each hardware event. */
    struct assay__channel channels[2 * ASSAY__PERF_EVENTS];
    size_t channel_count;
    enum assay__perf_event of[2 * ASSAY__PERF_EVENTS];
};

static _Atomic(pid_t) target_process;
static const struct assay__perf_calls *replaced_calls;

void assay__perf_event_target(pid_t process)
{
    atomic_store(&target_process, process);
}

void assay__perf_event_calls_set(const struct assay__perf_calls *calls)
{
    replaced_calls = calls;
}

const struct assay__perf_calls *assay__perf_event_calls(void)
{
    return replaced_calls;
}

/* --- reasons ---------------------------------------------------------------------------------- */

const char *assay__perf_permission_reason(struct assay__arena *arena)
{
    double level;
    if (!assay__sysfs_value(&level, PARANOID))
        return "permission denied: this kernel, or a sandbox around the process, allows no "
               "counters (containers: --cap-add PERFMON)";
    return assay__arena_text(
        arena,
        level > 2
            ? "permission denied: kernel.perf_event_paranoid is %.0f; to allow it until the next "
              "boot: sudo sysctl kernel.perf_event_paranoid=1"
            : "permission denied, although kernel.perf_event_paranoid is %.0f: the process belongs "
              "to another user, or a container's filter forbids it (docker run --cap-add PERFMON)",
        level);
}

static const char *open_reason(struct assay__arena *arena, const struct event_row *row, int number)
{
    switch (number) {
    case EACCES:
    case EPERM: return assay__perf_permission_reason(arena);
    case ENOENT:
        return row->hardware ? "this processor, or the virtual machine's, does not count this event"
                             : "this kernel does not count this event";
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        return "the kernel's driver for this processor's counters does not support this event";
    case ENOSYS:
        return "perf_event_open is not available: not Linux, a kernel without CONFIG_PERF_EVENTS, "
               "or a sandbox that blocks it";
    case ESRCH: return "the process to count has ended";
    case EMFILE:
    case ENFILE: return "too many open files for one counter per thread: ulimit -n 4096";
    case EBUSY: return "another program has exclusive use of the counters";
    case EINVAL:
        return "this kernel does not support this event, or not for every thread of a process";
    default: return assay__arena_text(arena, "perf_event_open: %s", strerror(number));
    }
}

static const char no_pmu[] =
    "no hardware counters (PMU) are visible: virtual machines do not get them unless the host "
    "passes them on (QEMU, libvirt: -cpu host,pmu=on)";

/* --- open ------------------------------------------------------------------------------------- */

/* The threads of the process. Without /proc (macOS), its first thread represents it. False: more
 * than fit. */
static bool find_threads(struct assay__probe *probe)
{
    pid_t target = atomic_load(&target_process), process = target ? target : getpid();
    const char *folder = assay__arena_text(probe->arena, "/proc/%ld/task", (long)process);
    const char **names = assay__sysfs_list(probe->arena, folder, "");
    for (; names && *names; names++) {
        long thread = strtol(*names, NULL, 10);
        if (thread <= 0) continue;
        if (probe->thread_count == THREADS) {
            probe->thread_count = 0;
            return false;
        }
        probe->threads[probe->thread_count++] = (pid_t)thread;
    }
    if (probe->thread_count == 0) probe->threads[probe->thread_count++] = process;
    return true;
}

/* The open event of the same group and thread that it is counted with; -1: this one leads. */
static int group_of(const struct assay__probe *probe, enum assay__perf_event event, size_t thread)
{
    for (int other = 0; rows[event].group && other < (int)event; other++)
        if (rows[other].group == rows[event].group && probe->events[other].open)
            return probe->events[other].counters[thread].fd;
    return -1;
}

static void close_event(struct assay__probe *probe, struct event *event)
{
    for (size_t t = 0; t < probe->thread_count; t++) {
        if (event->counters[t].fd >= 0) probe->calls.close(event->counters[t].fd);
        event->counters[t].fd = -1;
    }
    event->open = false;
}

/* Opens the event in every thread that still lives. 0, or the errno. */
static int open_threads(struct assay__probe *probe, enum assay__perf_event which, bool user_only)
{
    struct event *event = &probe->events[which];
    bool any = false;
    for (size_t t = 0; t < probe->thread_count; t++) {
        int group = group_of(probe, which, t);
        int fd = probe->calls.open(which, probe->threads[t], group, user_only);
        if (fd < 0 && errno == EINVAL && group >= 0) /* does not fit into the group */
            fd = probe->calls.open(which, probe->threads[t], -1, user_only);
        int number = errno;
        event->counters[t].fd = fd;
        if (fd < 0 && number == ESRCH) continue; /* that thread has ended */
        if (fd < 0) {
            close_event(probe, event);
            return number;
        }
        any = true;
    }
    if (!any) return ESRCH;
    event->open = true;
    event->user_only = user_only;
    return 0;
}

static void add_channel(struct assay__probe *probe, enum assay__perf_event which, bool share,
                        const char *reason)
{
    const struct event_row *row = &rows[which];
    struct assay__channel *channel = &probe->channels[probe->channel_count];
    probe->of[probe->channel_count++] = which;
    *channel = (struct assay__channel){
        .name = assay__arena_text(probe->arena, "%s.%s",
                                  share ? "utilization.counted" : row->quantity, row->name),
        .quantity = share ? "utilization" : row->quantity,
        .unit = share ? "ratio" : row->unit,
        .rail = "process",
        .kind = share ? ASSAY__CHANNEL_GAUGE : ASSAY__CHANNEL_COUNTER,
        .range = NAN,
        .source = probe->events[which].user_only ? "perf_event (user space only)" : "perf_event",
        .user_only = probe->events[which].user_only,
        .available = probe->events[which].open,
        .reason = probe->events[which].open ? "" : reason,
    };
}

/* The reason for an event that happens in the kernel if only user space may be counted. */
static const char *kernel_reason(struct assay__arena *arena)
{
    double level;
    if (!assay__sysfs_value(&level, PARANOID) || level < 2)
        return assay__perf_permission_reason(arena);
    return assay__arena_text(
        arena,
        "it happens in the kernel, where counting is not allowed: kernel.perf_event_paranoid is "
        "%.0f; to allow it until the next boot: sudo sysctl kernel.perf_event_paranoid=1",
        level);
}

static bool is_denied(int number)
{
    return number == EACCES || number == EPERM;
}

static void open_all(struct assay__probe *probe, const char *refused)
{
    int numbers[ASSAY__PERF_EVENTS] = {0}; /* errno of each */
    bool user_only = false, hardware = false, missing = true;
    for (int e = 0; e < ASSAY__PERF_EVENTS && !refused; e++) {
        /* As much as the kernel permits: with its own part, else only user space; the same for all
         * events, or their ratios would be meaningless. */
        numbers[e] = user_only ? EACCES : open_threads(probe, (enum assay__perf_event)e, false);
        if (is_denied(numbers[e]) && !rows[e].in_kernel) {
            numbers[e] = open_threads(probe, (enum assay__perf_event)e, true);
            user_only = user_only || !numbers[e];
        }
        hardware = hardware || (rows[e].hardware && !numbers[e]);
        missing = missing && (!rows[e].hardware || numbers[e] == ENOENT || numbers[e] == ENODEV ||
                              numbers[e] == EOPNOTSUPP);
    }
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++) {
        const char *reason = refused                                    ? refused
                             : !numbers[e]                              ? ""
                             : rows[e].hardware && !hardware && missing ? no_pmu
                             : rows[e].in_kernel && is_denied(numbers[e]) && user_only
                                 ? kernel_reason(probe->arena)
                                 : open_reason(probe->arena, &rows[e], numbers[e]);
        add_channel(probe, (enum assay__perf_event)e, false, reason);
    }
    /* One share per group: that of its first open event. */
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
        if (rows[e].hardware && probe->events[e].open &&
            group_of(probe, (enum assay__perf_event)e, 0) < 0)
            add_channel(probe, (enum assay__perf_event)e, true, "");
}

static void perf_event_close(struct assay__probe *probe)
{
    if (!probe) return;
    for (int e = ASSAY__PERF_EVENTS - 1; e >= 0; e--) /* leaders last */
        close_event(probe, &probe->events[e]);
}

static int perf_event_open(struct assay__arena *arena, struct assay__probe **probe,
                           struct assay_error *error)
{
    struct assay__probe *made = *probe = assay__arena_alloc(arena, sizeof *made);
    if (!made) return assay__no_memory(error);
    made->arena = arena;
    made->calls = replaced_calls ? *replaced_calls : assay__perf_system;
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
        for (size_t t = 0; t < THREADS; t++)
            made->events[e].counters[t].fd = -1;
    const char *refused = replaced_calls ? NULL : assay__live_refused();
    if (!refused && !find_threads(made))
        refused = "the process already has more than 64 threads, and counting only some of them "
                  "would be wrong: open the counters before it starts them";
    open_all(made, refused);
    /* The kernel's own counts are the last to be refused: their reason becomes that of the
     * probe. */
    made->head = (struct assay__probe_head){made->channels, made->channel_count,
                                            made->channels[ASSAY__PERF_TASK_CLOCK].reason};
    for (size_t i = 0; i < made->channel_count; i++)
        if (made->channels[i].available) made->head.reason = "";
    if (!assay__arena_failed(arena)) return 0;
    perf_event_close(made);
    *probe = NULL;
    return assay__no_memory(error);
}

/* --- read ------------------------------------------------------------------------------------- */

static const char no_turn[] =
    "not counted since the last reading: there are more events than counters";

/* Adds what one thread's counter grew by, scaled. NULL, or why it is unknown. */
static const char *take(struct counter *counter, const struct assay__perf_count *now)
{
    const struct assay__perf_count *last = &counter->last;
    if (now->value < last->value || now->enabled_ns < last->enabled_ns ||
        now->running_ns < last->running_ns)
        return "a counter that went backwards";
    uint64_t enabled = now->enabled_ns - last->enabled_ns;
    uint64_t running = now->running_ns - last->running_ns;
    if (enabled > 0 && running == 0) return no_turn;
    if (running > enabled) return "counted for longer than it was enabled";
    double grown = (double)(now->value - last->value);
    counter->total += enabled > running ? grown * ((double)enabled / (double)running) : grown;
    counter->last = *now;
    return NULL;
}

static void read_event(const struct assay__probe *probe, struct event *event)
{
    event->sum = (struct assay__perf_count){0};
    event->failed = event->broken;
    for (size_t t = 0; !event->broken && t < probe->thread_count; t++) {
        struct assay__perf_count now;
        if (event->counters[t].fd < 0) continue;
        if (!probe->calls.read(event->counters[t].fd, &now)) {
            event->failed = "the counter can no longer be read";
            return;
        }
        event->sum.enabled_ns += now.enabled_ns;
        event->sum.running_ns += now.running_ns;
        const char *why = take(&event->counters[t], &now);
        if (why) event->failed = why;
    }
}

static struct assay__probe_reading value_of(const struct assay__probe *probe, size_t index)
{
    const struct event *event = &probe->events[probe->of[index]];
    bool share = index >= ASSAY__PERF_EVENTS;
    double value = 0;
    const char *reason = "";
    if (!probe->channels[index].available)
        reason = probe->channels[index].reason;
    else if (share && event->sum.enabled_ns == 0)
        reason = "the process has not run since counting began";
    else if (event->failed && !(share && event->failed == no_turn))
        reason = event->failed;
    for (size_t t = 0; t < probe->thread_count; t++)
        value += event->counters[t].total;
    value = share ? (double)event->sum.running_ns / (double)event->sum.enabled_ns
                  : value * rows[probe->of[index]].scale;
    return (struct assay__probe_reading){*reason ? NAN : value, reason};
}

static void perf_event_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++)
        if (probe->events[e].open) read_event(probe, &probe->events[e]);
    for (size_t i = 0; i < probe->channel_count; i++)
        readings[i] = value_of(probe, i);
}

const char *assay__perf_event_name(enum assay__perf_event event)
{
    return rows[event].name;
}

void assay__perf_event_switch(struct assay__probe *probe, unsigned events, bool on)
{
    for (int e = 0; e < ASSAY__PERF_EVENTS && probe->calls.enable; e++) {
        struct event *event = &probe->events[e];
        if (!(events & 1u << e) || !event->open) continue;
        for (size_t t = 0; t < probe->thread_count; t++)
            if (event->counters[t].fd >= 0 && !probe->calls.enable(event->counters[t].fd, on))
                event->broken = "the counter can no longer be switched on and off";
    }
}

const char *assay__perf_event_total(struct assay__probe *probe, enum assay__perf_event event,
                                    double *total, double *share)
{
    const struct event *one = &probe->events[event];
    *share = NAN;
    if (one->open) read_event(probe, &probe->events[event]);
    struct assay__probe_reading reading = value_of(probe, event);
    *total = reading.value;
    if (one->open && !isnan(reading.value) && one->sum.enabled_ns > 0)
        *share = (double)one->sum.running_ns / (double)one->sum.enabled_ns;
    return reading.reason;
}

const struct assay__probe_ops assay__probe_perf_event = {
    .name = "perf",
    .summary = "cycles, instructions, caches, branches and kernel counts of a process (perf_event)",
    .open = perf_event_open,
    ASSAY__HEAD_OPS,
    .read = perf_event_read,
    .close = perf_event_close,
    .own_thread = true,
};
