/* watchers.h - the list of watchers. To add one, write a file watch_NAME.c that defines
 * assay__watch_NAME and add a row here. */
#ifndef ASSAY_RUN_WATCH_WATCHERS_H
#define ASSAY_RUN_WATCH_WATCHERS_H

#include "run/watch/watch.h"

/* X(NAME), in the order they receive each event: the sensors' score uses the metrics of memory and
 * counters, and `conclude` needs everyone's. */
#define ASSAY__WATCHERS(X) \
    X(memory)              \
    X(counters)            \
    X(sensors)             \
    X(conclude)

#define ASSAY__WATCHER_DECLARE(NAME) extern const struct assay__watcher_ops assay__watch_##NAME;
ASSAY__WATCHERS(ASSAY__WATCHER_DECLARE)

#endif
