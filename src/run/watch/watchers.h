/* watchers.h - the list of what is watched beside a run. Adding one is a file watch_NAME.c that
 * defines assay__watch_NAME and a row here. */
#ifndef ASSAY_RUN_WATCH_WATCHERS_H
#define ASSAY_RUN_WATCH_WATCHERS_H

#include "run/watch/watch.h"

/* X(NAME), in the order they are told of each event: the score of the sensors rests on what memory
 * and counters put, and `conclude` needs what all others put. */
#define ASSAY__WATCHERS(X) \
    X(memory)              \
    X(counters)            \
    X(sensors)             \
    X(conclude)

#define ASSAY__WATCHER_DECLARE(NAME) extern const struct assay__watcher_ops assay__watch_##NAME;
ASSAY__WATCHERS(ASSAY__WATCHER_DECLARE)

#endif
