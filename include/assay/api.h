/* api.h - what marks a symbol as part of the public ABI, and the version of the library.
 * Everything else in libassay is hidden; internal names start with assay__ (two underscores).
 *
 * Threads: every function may be called from several threads at once on different objects. What is
 * complete (a profile, an inspection, a list of devices …) may be read by several at once; it is
 * freed by one of them, when the others have finished. Callbacks run on the thread that made the
 * call, the log function (log.h) on whichever thread logs.
 *
 * The library never prints, exits, aborts or changes the environment. The headers are C17, and also
 * C++. */
#ifndef ASSAY_API_H
#define ASSAY_API_H

#if defined(__GNUC__) && defined(__cplusplus)
#define ASSAY_API extern "C" __attribute__((visibility("default")))
#elif defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#elif defined(__cplusplus)
#define ASSAY_API extern "C"
#else
#define ASSAY_API
#endif
#if defined(__GNUC__)
#define ASSAY_PRINTF(fmt_index, args_index) __attribute__((format(printf, fmt_index, args_index)))
#else
#define ASSAY_PRINTF(fmt_index, args_index)
#endif

#define ASSAY_VERSION_STRING "0.1.0"
#define ASSAY_SCHEMA_VERSION 2

/** "0.1.0"; static storage. */
ASSAY_API const char *assay_version(void);

#endif
