/* log.c - lines to a callback. The setting is process-wide; the lock is held while the callback
 * runs, so that a replaced callback is no longer called. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct {
    assay_log_fn *function;
    void *context;
    enum assay_log_level minimum;
} logger;

void assay_log_set(assay_log_fn *function, void *context, enum assay_log_level minimum)
{
    pthread_rwlock_wrlock(&lock);
    logger.function = function;
    logger.context = context;
    logger.minimum = minimum;
    pthread_rwlock_unlock(&lock);
}

void assay__log(enum assay_log_level level, const char *domain, const char *format, ...)
{
    char message[1024];
    va_list args;
    pthread_rwlock_rdlock(&lock);
    if (!logger.function || level < logger.minimum) goto out;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    logger.function(logger.context, level, domain, message);
out:
    pthread_rwlock_unlock(&lock);
}
