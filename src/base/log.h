/* log.h - how the library's own code logs; where the lines go is the caller's choice
 * (assay/log.h). */
#ifndef ASSAY_BASE_LOG_H
#define ASSAY_BASE_LOG_H

#include <assay/log.h>

void assay__log(enum assay_log_level level, const char *domain, const char *format, ...)
    ASSAY_PRINTF(3, 4);

#endif
