/* options_read.h - reading a caller's options struct that may be older or newer than this library
 * (first member: size_t size). */
#ifndef ASSAY_BASE_OPTIONS_READ_H
#define ASSAY_BASE_OPTIONS_READ_H

#include <assay/error.h>
#include <stddef.h>

/** Copies what both know; what the caller does not have is zero; bytes that we do not know must be
 *  zero, because ignoring them would silently do something else than asked. given NULL: all zero.
 *  The size in `own` is its own. */
int assay__options_read(const void *given, void *own, size_t own_size, const char *what,
                        struct assay_error *error);

#endif
