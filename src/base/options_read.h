/* options_read.h - reading a caller's options struct that may be older or newer than this library
 * (first member: size_t size), and filling a struct of the caller in the same way. */
#ifndef ASSAY_BASE_OPTIONS_READ_H
#define ASSAY_BASE_OPTIONS_READ_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>

/** Copies the members that both know; what the caller does not have is zero; bytes that we do not
 *  know must be zero, because ignoring them would silently ignore a request. given NULL: all zero.
 *  The size in `own` is its own. */
int assay__options_read(const void *given, void *own, size_t own_size, const char *what,
                        struct assay_error *error);

/** assay_error_set with ASSAY_EINVAL for a member of the caller's options; `option` is its name
 *  without the topic, in static storage. */
int assay__refuse_option(struct assay_error *error, const char *option, const char *format, ...)
    ASSAY_PRINTF(3, 4);
/** Copies what was read into a caller's struct (first member: its size): members that the caller's
 *  struct lacks are left out, members that ours lacks are set to zero. False if it has no size. */
bool assay__info_write(const void *own, size_t own_size, void *out);

#endif
