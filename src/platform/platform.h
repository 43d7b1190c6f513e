/* platform.h - everything that differs between operating systems, behind one header.
 * Implementations: linux_*.c and darwin_*.c, chosen by the build; posix_*.c serve both. No #ifdef
 * outside this folder. /proc and /sys are read below $ASSAY_FSROOT when it is set, so that captured
 * machines can be tested. */
#ifndef ASSAY_PLATFORM_H
#define ASSAY_PLATFORM_H

#include "base/arena.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- processes -------------------------------------------------------------------------------- */

struct assay__child {
    pid_t pid;
    /* our end of the control socketpair (the caller closes it); the child's end is its descriptor
     * 3 */
    int socket;
    uint64_t oom_kills_before; /* the kernel's count when it started; UINT64_MAX unknown */
    bool killed_by_us;         /* assay__process_kill sent SIGKILL */
};

struct assay__exit {
    bool exited; /* false: killed by `signal` */
    int status;
    int signal;
    /* the kernel's out-of-memory killer is the likely cause (SIGKILL not sent by us + memory
     * events) */
    bool oom;
    uint64_t user_ns, system_ns;
    /* ru_maxrss; on Linux at least what the parent had when it started the child */
    uint64_t peak_rss_bytes;
    uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
};

/** Starts argv[0] (a path; PATH is not searched). Descriptor 3 in the child is a stream socket to
 *  us, descriptor 4 is `shared_fd` (-1: none), stdin is /dev/null, stdout and stderr are `log_fd`
 *  (-1: inherited stderr). All other descriptors are closed on exec. The child dies with the thread
 *  that started it where the system can do that (prctl on Linux). environment entries "A=B" are
 *  added. */
int assay__process_start(const char *const *argv, int shared_fd, int log_fd,
                         const char *const *environment, struct assay__child *child,
                         struct assay_error *error);
/** Waits; timeout_ns 0 polls, UINT64_MAX waits forever. 0, ASSAY_ETIMEOUT or ASSAY_EIO. Once it has
 * ended, child->pid is 0. */
int assay__process_wait(struct assay__child *child, uint64_t timeout_ns,
                        struct assay__exit *result);
void assay__process_kill(struct assay__child *child, int signal_number);
/** pipe() and socketpair() (a stream) whose ends no program inherits that another thread starts
 * meanwhile: close-on-exec from the start, where the system can do that. 0, or -1 with errno. */
int assay__pipe(int ends[2]);
int assay__socket_pair(int ends[2]);
/** "SIGSEGV (segmentation fault)"; static or thread-local storage. */
const char *assay__signal_name(int signal_number);

/** Anonymous shared memory, zeroed (memfd on Linux, an unlinked file elsewhere). */
int assay__shared_create(size_t size, int *fd, void **address, struct assay_error *error);
int assay__shared_open(int fd, size_t size, void **address, struct assay_error *error);
void assay__shared_close(void *address, size_t size);

/** Absolute path of the running executable. */
int assay__executable_path(char *out, size_t out_size);
/** dlopen and friends live behind these so that a fake can replace them. Handle NULL + reason on
 * failure. */
void *assay__library_open(const char *path, struct assay_error *error);
void *assay__library_symbol(void *library, const char *name);
void assay__library_close(void *library);
/** The path the loader really used for the library that holds `address`; "" when unknown. */
void assay__library_path(const void *address, char *out, size_t out_size);

/** The symbol of that name in any library of this process; NULL: none. */
void *assay__symbol_anywhere(const char *name);
/** The variable that names libraries to load before all others ("LD_PRELOAD"), whose functions then
 * replace the C library's; NULL: this system has none. */
const char *assay__preload_variable(void);

/** Pins the calling process (and threads it starts later) to a list such as "0-3,8".
 *  ASSAY_EUNSUPPORTED on macOS. */
int assay__cpus_pin(const char *list, struct assay_error *error);
/** Whether assay__cpus_pin would accept the list: the same codes, and nothing is pinned. */
int assay__cpus_check(const char *list, struct assay_error *error);
/** CPUs this process may use, as a list; "" when unknown. */
void assay__cpus_allowed(char *out, size_t out_size);

/* --- memory of this process ------------------------------------------------------------------- */

struct assay__memory {
    uint64_t rss_bytes, peak_rss_bytes, pss_bytes;
    bool rss_known, peak_known, pss_known;
};
void assay__memory_read(struct assay__memory *memory);
/** Memory that programs could still get without swapping. False: unknown. */
bool assay__memory_free(uint64_t *bytes);

/** How long the machine has been suspended since it started, as far as CLOCK_MONOTONIC leaves it
 * out. */
uint64_t assay__suspended_ns(void);

/* --- the machine ------------------------------------------------------------------------------ */

struct assay__machine {
    const char *host, *os, *kernel, *architecture; /* "" unknown */
    const char *cpu_model;
    int packages, cores, threads;           /* 0 unknown */
    uint64_t memory_bytes;                  /* 0 unknown */
    const char *virtualized;                /* "kvm", "none", "" unknown */
    uint64_t l1d_bytes, l2_bytes, l3_bytes; /* per instance; 0 unknown */
    const char *simd;                       /* "avx512f avx2 fma …" */
    const char *governor;                   /* "" unknown */
    double cpu_max_hz;                      /* 0 unknown */
    const char *container;                  /* "docker", …, "" none/unknown */
};
int assay__machine_read(struct assay__arena *arena, struct assay__machine *machine);

/* --- what disturbs a run ---------------------------------------------------------------------- */

/** Counters read before and after a launch (and between windows). Each has its own `_known`. */
struct assay__disturbance {
    uint64_t at_ns;
    double cpu_busy_s, cpu_idle_s, cpu_steal_s; /* whole machine, summed over CPUs */
    bool cpu_known, steal_known;
    double frequency_hz; /* mean of current CPU clocks */
    bool frequency_known;
    uint64_t throttle_count; /* thermal_throttle core + package counts */
    bool throttle_known;
    uint64_t cgroup_throttled_ns; /* cpu.stat throttled_usec */
    bool cgroup_known;
    double load_1min;
    int running; /* runnable tasks now; -1 unknown */
    bool load_known;
    double temperature_c;
    bool temperature_known;
    double pressure_cpu_s; /* PSI some total */
    bool pressure_known;
};
void assay__disturbance_read(struct assay__disturbance *reading);
/** How long the threads of a process have waited for a CPU that others were using, in ns, summed.
 * False: this system does not report it. */
bool assay__process_waited_ns(int64_t pid, uint64_t *waited_ns);
/** The CPUs on which the threads of a process ran last, without repeats, at most `most`. 0: this
 * system does not report it. */
size_t assay__process_cpus(int64_t pid, int *cpus, size_t most);

#define ASSAY__CGROUP_PATH 1024
/** Finds the control group (version 2) of a process, from the texts of its /proc/PID/cgroup and
 * mountinfo (NULL: not known): the mount point, and the group below it ("/user.slice/x.scope", ""
 * for the top). NULL, or why it cannot be found (static). */
const char *assay__cgroup_locate(const char *cgroup, const char *mountinfo,
                                 char point[ASSAY__CGROUP_PATH], char own[ASSAY__CGROUP_PATH]);

/** Terminal: columns of stdout (0 when not a terminal). */
int assay__terminal_columns(int fd);

#endif
