/* log.c - lines to a callback. The setting is process-wide and meant to be made once, before
 * threads start. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static struct {
    assay_log_fn *function;
    void *context;
    enum assay_log_level minimum;
} logger;

void assay_log_set(assay_log_fn *function, void *context, enum assay_log_level minimum)
{
    logger.function = function;
    logger.context = context;
    logger.minimum = minimum;
}

void assay__log(enum assay_log_level level, const char *domain, const char *format, ...)
{
    if (!logger.function || level < logger.minimum) return;
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    logger.function(logger.context, level, domain, message);
}
