/* darwin_perf.c - macOS has no perf_event_open: every open fails with ENOSYS, and nothing is ever
 * read; there are no samples either. */
#include "platform/perf.h"
#include "platform/perf_sampling.h"

#include <errno.h>

static int perf_open(enum assay__perf_event event, pid_t thread, int group, bool user_only)
{
    (void)event, (void)thread, (void)group, (void)user_only;
    errno = ENOSYS;
    return -1;
}

static bool perf_read(int fd, struct assay__perf_count *count)
{
    (void)fd, (void)count;
    errno = ENOSYS;
    return false;
}

static void perf_close(int fd)
{
    (void)fd;
}

static bool perf_enable(int fd, bool on)
{
    (void)fd, (void)on;
    errno = ENOSYS;
    return false;
}

const struct assay__perf_calls assay__perf_system = {
    .open = perf_open, .read = perf_read, .close = perf_close, .enable = perf_enable};

int assay__perf_sampling_open(const struct assay__perf_sampling_options *options,
                              struct assay__perf_sampling **sampling,
                              struct assay__perf_sampling_about *about, struct assay_error *error)
{
    (void)options, (void)about;
    *sampling = NULL;
    return assay_error_set(error, ASSAY_EUNSUPPORTED, "macOS has no perf_event_open");
}

void assay__perf_sampling_enable(struct assay__perf_sampling *sampling, bool on)
{
    (void)sampling, (void)on;
}

void assay__perf_sampling_wait(struct assay__perf_sampling *sampling, int timeout_ms)
{
    (void)sampling, (void)timeout_ms;
}

void assay__perf_sampling_drain(struct assay__perf_sampling *sampling, assay__perf_take *take,
                                void *context)
{
    (void)sampling, (void)take, (void)context;
}

int64_t assay__perf_sampling_running_ns(const struct assay__perf_sampling *sampling)
{
    (void)sampling;
    return 0;
}

void assay__perf_sampling_close(struct assay__perf_sampling *sampling)
{
    (void)sampling;
}
