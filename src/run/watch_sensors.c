/* watch_sensors.c - power, energy, temperature and clocks. */
#include "run/watch.h"

#include <stdlib.h>

struct assay__watcher {
    int unused;
};

static bool wanted(const struct assay_run_options *options)
{
    return options->power;
}

static int begin(const struct assay__watch_plan *plan, struct assay__watcher **watcher,
                 struct assay_error *error)
{
    (void)plan, (void)error;
    *watcher = NULL;
    return 0;
}

static void end(struct assay__watcher *watcher)
{
    free(watcher);
}

const struct assay__watcher_ops assay__watch_sensors = {
    .name = "sensors",
    .wanted = wanted,
    .begin = begin,
    .free = end,
};
