/* clock.c - what a clock read costs, the time of day, and sleeping.
 *
 * The cost is the lowest mean of several rounds of back-to-back reads (the lowest, because only
 * disturbance can make a round slower). The step is the smallest positive difference between two
 * consecutive reads. */
#include "base/clock.h"

#include <errno.h>

void assay__clock_measure(double *read_ns, double *step_ns)
{
    enum { ROUNDS = 16, READS = 2000 };
    double best = 1e30;
    uint64_t step = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t begin = assay__now_ns(), last = begin, now = begin;
        for (int i = 0; i < READS; i++) {
            now = assay__now_ns();
            if (now != last && now - last < step) step = now - last;
            last = now;
        }
        double mean = (double)(now - begin) / READS;
        if (mean < best) best = mean;
    }
    if (read_ns) *read_ns = best;
    if (step_ns) *step_ns = step == UINT64_MAX ? best : (double)step;
}

struct assay__utc assay__utc_now(void)
{
    struct assay__utc made = {""};
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts)) strftime(made.text, sizeof made.text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return made;
}

void assay__sleep_ns(uint64_t duration_ns)
{
    struct timespec left = {(time_t)(duration_ns / 1000000000u), (long)(duration_ns % 1000000000u)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}
