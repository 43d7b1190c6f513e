/* options_read.c - copies a caller's options struct, which may be older or newer, into our own. */
#include "base/options_read.h"

#include <string.h>

int assay__options_read(const void *given, void *own, size_t own_size, const char *what,
                        struct assay_error *error)
{
    size_t size;
    memset(own, 0, own_size);
    memcpy(own, &own_size, sizeof own_size);
    if (!given) return 0;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return assay_error_set(error, ASSAY_EINVAL, "the size of the %s options is not set", what);
    const unsigned char *bytes = given;
    for (size_t i = own_size; i < size; i++)
        if (bytes[i])
            return assay_error_set(error, ASSAY_EINVAL,
                                   "%s options have a member that this version does not support",
                                   what);
    memcpy((char *)own + sizeof size, bytes + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return 0;
}

bool assay__info_write(const void *own, size_t own_size, void *out)
{
    size_t size = 0;
    if (out) memcpy(&size, out, sizeof size);
    if (size < sizeof size) return false;
    memset((char *)out + sizeof size, 0, size - sizeof size);
    memcpy((char *)out + sizeof size, (const char *)own + sizeof size,
           (size < own_size ? size : own_size) - sizeof size);
    return true;
}
