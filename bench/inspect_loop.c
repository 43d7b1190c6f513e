/* inspect_loop.c - `assay inspect` without its process: reads and analyses one model again and
 * again, and prints the median and the extremes in seconds as JSON. The peer of
 * python_inspect.py, which does not count its own start either.
 *
 * inspect_loop MODEL ROUNDS */
#include "base/clock.h"
#include "base/stats.h"
#include "inspect/inspect.h"
#include "zoo/model_open.h"

#include <stdio.h>
#include <stdlib.h>

static int once(const char *name, struct assay_error *error)
{
    const struct assay__workload_options workload = {.shapes_only = true};
    struct assay__model *model = NULL;
    struct assay__inspect *doc = NULL;
    bool zoo = false;
    int code = assay__model_open(name, &model, &zoo, error);
    if (!code) code = assay__inspect_new(model, name, zoo, &workload, &doc, error);
    assay__inspect_free(doc);
    return code;
}

int main(int argc, char **argv)
{
    struct assay_error error = {0};
    long rounds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (rounds < 1 || rounds > 100000) {
        fprintf(stderr, "usage: inspect_loop MODEL ROUNDS\n");
        return 2;
    }
    double *times = calloc((size_t)rounds, sizeof *times);
    if (!times) return 3;
    for (long i = 0; i < rounds; i++) {
        uint64_t begin = assay__now_ns();
        if (once(argv[1], &error)) {
            fprintf(stderr, "inspect_loop: %s\n", error.message);
            free(times);
            return 3;
        }
        times[i] = (double)(assay__now_ns() - begin) / 1e9;
    }
    assay__stats_sort(times, (size_t)rounds);
    printf("{\"median_s\": %.9f, \"min_s\": %.9f, \"max_s\": %.9f}\n",
           assay__stats_median(times, (size_t)rounds), times[0], times[rounds - 1]);
    free(times);
    return 0;
}
