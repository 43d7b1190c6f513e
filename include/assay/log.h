/* log.h - the library never prints: it passes lines to a callback (none by default). */
#ifndef ASSAY_LOG_H
#define ASSAY_LOG_H

#include <assay/api.h>

enum assay_log_level { ASSAY_LOG_DEBUG, ASSAY_LOG_INFO, ASSAY_LOG_WARNING, ASSAY_LOG_ERROR };

typedef void assay_log_fn(void *context, enum assay_log_level level, const char *domain,
                          const char *message);

/** Process-wide; NULL disables logging. May be called at any time from any thread; when it returns,
 *  the previous function is no longer running. The function is called from whichever thread logs,
 *  several at once; it must not call assay_log_set. */
ASSAY_API void assay_log_set(assay_log_fn *function, void *context, enum assay_log_level minimum);

#endif
