/* import_once.c - imports one trace and prints how long it took, how much it was and the most
 * memory that was resident, as JSON. The process is the measure of the memory, so it does nothing
 * else.
 *
 * import_once TRACE */
#include "base/clock.h"
#include "import/import.h"

#include <stdio.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct assay_error error = {0};
    struct assay__events *events = NULL;
    struct rusage usage;
    if (argc != 2) {
        fprintf(stderr, "usage: import_once TRACE\n");
        return 2;
    }
    const char *path = argv[1];
    uint64_t begin = assay__now_ns();
    if (assay__import(&path, 1, NULL, &events, &error)) {
        fprintf(stderr, "import_once: %s\n", error.message);
        return 3;
    }
    double seconds = (double)(assay__now_ns() - begin) / 1e9;
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "{\"seconds\": %.6f, \"bytes\": %llu, \"events\": %zu, \"skipped\": %llu, \"texts\": %zu, "
        "\"peak_bytes\": %llu}\n",
        seconds, (unsigned long long)events->sources[0].bytes, events->count,
        (unsigned long long)events->sources[0].skipped, assay__events_text_count(events),
        (unsigned long long)usage.ru_maxrss * 1024);
    assay__events_free(events);
    return 0;
}
