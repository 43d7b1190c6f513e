/* clock.h - the program's clock: CLOCK_MONOTONIC in nanoseconds (about 23 ns a read
 * through the vDSO). POSIX on Linux and macOS alike, so it needs no platform file. */
#ifndef ASSAY_BASE_CLOCK_H
#define ASSAY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t assay__now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Cost of one read and the smallest step seen, in ns, measured now (a few ms). */
void assay__clock_measure(double *read_ns, double *step_ns);
/** The time of day, UTC, in ISO 8601: "2026-01-31T12:00:00Z". "" if unknown. */
struct assay__utc {
    char text[32];
};
struct assay__utc assay__utc_now(void);
/** Sleeps; restarts after signals. */
void assay__sleep_ns(uint64_t duration_ns);

#endif
