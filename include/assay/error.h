/* error.h - values, names and texts of the error codes all come from one list. Values are pinned:
 * append only. Functions return 0 or a negative ASSAY_E*; the detail goes to the caller's struct
 * assay_error (may be NULL). */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

#include <assay/api.h>

#define ASSAY_ERROR_MAP(X)                                  \
    X(ENOMEM, -1, "out of memory")                          \
    X(EINVAL, -2, "invalid argument")                       \
    X(EIO, -3, "input or output failed")                    \
    X(EFORMAT, -4, "the input is not what it claims to be") \
    X(ELIMIT, -5, "a limit was exceeded")                   \
    X(ENOTFOUND, -6, "not found")                           \
    X(EUNSUPPORTED, -7, "not supported here")               \
    X(EENGINE, -8, "the engine refused or failed")          \
    X(ETIMEOUT, -9, "timed out")                            \
    X(ECRASH, -10, "the worker died")                       \
    X(EINTERRUPTED, -11, "interrupted")                     \
    X(ENEWER, -12, "made by a newer version")               \
    X(EDENIED, -13, "permission denied")

enum assay_code {
    ASSAY_OK = 0,
#define ASSAY_ERROR_ENUM(name, value, text) ASSAY_##name = value,
    ASSAY_ERROR_MAP(ASSAY_ERROR_ENUM)
#undef ASSAY_ERROR_ENUM
};

struct assay_error {
    int code;
    char message[512];
    /* The member of the options that was refused, or that would have helped, without its topic:
     * "warmup", "ceilings". NULL: none. Static storage. */
    const char *option;
};

/** The symbolic name ("ENOMEM") and the general text of a code; static storage, never NULL. */
ASSAY_API const char *assay_error_name(int code);
ASSAY_API const char *assay_error_text(int code);

/** Fills *error (may be NULL) and returns code, so that callers can `return assay_error_set(...)`.
 *  Control characters in the formatted text are replaced by '?' : messages may quote untrusted
 *  names. */
ASSAY_API int assay_error_set(struct assay_error *error, int code, const char *format, ...)
    ASSAY_PRINTF(3, 4);

#endif
