/* enum_names.c - see enum_names.h. */
#include "base/enum_names.h"

#include <string.h>

const char *assay__enum_name(const struct assay__enum_names *names, size_t value)
{
    return value < names->count ? names->items[value] : "";
}

int assay__enum_value(const struct assay__enum_names *names, const char *name)
{
    for (size_t i = 0; name && *name && i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return (int)i;
    return -1;
}
