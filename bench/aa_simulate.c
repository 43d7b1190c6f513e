/* aa_simulate.c - how often comparisons claim what is not there and find what is, on the fake
 * engine (bench/aa_simulation.h).
 *
 *   aa_simulate [COMPARISONS [JOBS]]
 *
 * Prints a Markdown table, with 95 % intervals (Wilson 1927), and exits with 1 when a bound is
 * missed: at most 5.5 % of comparisons of equal programs claim a difference, at least 95 % find a
 * slow-down of 5 %. Kinds that are marked (…) are beyond what the bounds are for and show where the
 * method ends. The work is shared out over processes, kind by kind; the numbers do not depend on
 * it. */
#include "aa_simulation.h"

#include "base/clock.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPARISONS 10000
#define CLAIMS_MOST 0.055
#define FOUND_LEAST 0.95
#define SLOWER 0.05
#define POWER_SHARE 5 /* one in so many for "found at that", and for kinds that are not judged */
#define JOBS_MOST 64

struct result {
    struct aa_counts same, slower, smallest;
    int code;
};

static size_t part_of(size_t count)
{
    return (count + POWER_SHARE - 1) / POWER_SHARE;
}

static void simulate(const struct aa_kind *kind, size_t count, struct result *result)
{
    struct assay_error error = {0};
    if (!kind->judged) count = part_of(count);
    result->code = aa_run(kind, 0, 1, count, &result->same, &error);
    if (!result->code)
        result->code = aa_run(kind, SLOWER, 0x200000000u, count, &result->slower, &error);
    if (!result->code)
        result->code = aa_run(kind, NAN, 0x300000000u, part_of(count), &result->smallest, &error);
    if (result->code) fprintf(stderr, "aa_simulate: %s: %s\n", kind->name, error.message);
}

/* Wilson's score interval of k of n at 95 %. */
static void wilson(size_t k, size_t n, double *low, double *high)
{
    double z = 1.959963984540054, total = (double)n, share = (double)k / total;
    double centre = share + z * z / (2 * total), scale = 1 + z * z / total;
    double half = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total));
    *low = fmax(0, (centre - half) / scale);
    *high = fmin(1, (centre + half) / scale);
}

static void put_share(size_t k, size_t n)
{
    double low, high;
    wilson(k, n, &low, &high);
    printf(" %.2f (%.2f – %.2f) |", 100 * (double)k / (double)n, 100 * low, 100 * high);
}

/* One child per job takes every jobs-th kind and writes each result with its number. */
static int share_out(size_t count, size_t jobs, struct result *results)
{
    int pipe_fds[2], failed = 0;
    struct {
        size_t kind;
        struct result result;
    } message;
    if (pipe(pipe_fds)) return 1;
    for (size_t job = 0; job < jobs; job++) {
        pid_t child = fork();
        if (child < 0) return 1;
        if (child) continue;
        memset(&message, 0, sizeof message);
        for (message.kind = job; message.kind < AA_KINDS; message.kind += jobs) {
            simulate(&aa_kinds[message.kind], count, &message.result);
            if (write(pipe_fds[1], &message, sizeof message) != (ssize_t)sizeof message) _exit(1);
        }
        _exit(0);
    }
    close(pipe_fds[1]);
    size_t heard = 0;
    while (read(pipe_fds[0], &message, sizeof message) == (ssize_t)sizeof message) {
        results[message.kind] = message.result;
        failed |= message.result.code;
        heard++;
    }
    close(pipe_fds[0]);
    while (wait(NULL) > 0)
        continue;
    return failed || heard != AA_KINDS;
}

static int print(const struct result *results, size_t count)
{
    int missed = 0;
    printf("Simulated: %zu comparisons of each kind for each share (%zu for \"found at that\" and "
           "for kinds in brackets), %d launches of %.1f s per "
           "arm. In %%, 95 %% intervals.\n\n",
           count, part_of(count), AA_LAUNCHES, AA_TIME_S);
    printf("| noise | level | launches differ by | A/A: claimed | A/A: recommended | 5 %% slower: "
           "found "
           "| detectable, as stated | found at that | A/A: pairs would claim |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < AA_KINDS; i++) {
        const struct aa_kind *kind = &aa_kinds[i];
        const struct result *r = &results[i];
        printf(kind->judged ? "| %s | %s | %.1f |" : "| (%s) | %s | %.1f |", kind->name, kind->what,
               100 * r->same.spread);
        put_share(r->same.claimed, r->same.done);
        put_share(r->same.advised, r->same.done);
        put_share(r->slower.right, r->slower.done);
        printf(" %.1f |", 100 * r->same.smallest);
        put_share(r->smallest.right, r->smallest.done);
        put_share(r->same.paired, r->same.done);
        printf("\n");
        double claimed = (double)r->same.claimed / (double)r->same.done,
               found = (double)r->slower.right / (double)r->slower.done;
        missed += kind->judged && (claimed > CLAIMS_MOST || found < FOUND_LEAST);
    }
    printf("\nBounds (at most %.1f %% claimed, at least %.0f %% found): %s.\n", 100 * CLAIMS_MOST,
           100 * FOUND_LEAST, missed ? "MISSED" : "met by every kind without brackets");
    return missed ? 1 : 0;
}

int main(int argc, char **argv)
{
    static struct result results[AA_KINDS];
    char *end = NULL;
    unsigned long count = argc > 1 ? strtoul(argv[1], &end, 10) : COMPARISONS;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned long jobs = argc > 2 ? strtoul(argv[2], &end, 10)
                                  : (unsigned long)(cpus > 0 ? cpus : 1);
    if (argc > 3 || (end && *end) || count < 1 || count > 100000000 || jobs < 1) {
        fprintf(stderr, "usage: aa_simulate [COMPARISONS [JOBS]]\n");
        return 2;
    }
    uint64_t begin_ns = assay__now_ns();
    if (share_out(count, jobs < JOBS_MOST ? jobs : JOBS_MOST, results)) {
        fprintf(stderr, "aa_simulate: a simulation failed\n");
        return 3;
    }
    int status = print(results, count);
    printf("%.0f s.\n", (double)(assay__now_ns() - begin_ns) / 1e9);
    return status;
}
