/* import_trace.c - imports a trace once and prints what it took, as one line of JSON: seconds,
 * of the clock and of its own processor time, bytes of text, events, bytes of distinct texts, peak
 * resident memory. The peer of bench_import.py. */
#include "base/clock.h"
#include "import/import.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Of this process alone: what getrusage says is never less than the parent's was. */
static double peak_bytes(void)
{
    char line[128];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
    if (file) fclose(file);
    struct rusage usage;
    if (!kilobytes && !getrusage(RUSAGE_SELF, &usage)) kilobytes = (double)usage.ru_maxrss;
    return kilobytes * 1024;
}

int main(int argc, char **argv)
{
    struct assay__events *events;
    struct assay_error error = {0};
    const char *path = argc > 1 ? argv[1] : "";
    uint64_t begin = assay__now_ns();
    clock_t own = clock();
    if (assay__import(&path, 1, NULL, &events, &error)) {
        fprintf(stderr, "import_trace: %s\n", error.message);
        return 1;
    }
    double seconds = (double)(assay__now_ns() - begin) / 1e9;
    double own_seconds = (double)(clock() - own) / CLOCKS_PER_SEC;
    size_t text_bytes = 0;
    for (uint32_t i = 0; i < assay__events_text_count(events); i++)
        text_bytes += strlen(assay__events_text(events, i));
    printf("{\"seconds\": %.6f, \"own_seconds\": %.6f, \"bytes\": %llu, \"events\": %zu, "
           "\"skipped\": %llu,"
           " \"text_bytes\": %zu, \"peak_bytes\": %.0f}\n",
           seconds, own_seconds, (unsigned long long)events->sources[0].bytes, events->count,
           (unsigned long long)events->sources[0].skipped, text_bytes, peak_bytes());
    assay__events_free(events);
    return 0;
}
