/* darwin_perf.c - macOS has no perf_event_open: every open fails with ENOSYS, and nothing is ever
 * read. */
#include "platform/perf.h"

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
