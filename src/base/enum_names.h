/* enum_names.h - the names of an enum's values, as used in files and JSON. */
#ifndef ASSAY_BASE_ENUM_NAMES_H
#define ASSAY_BASE_ENUM_NAMES_H

#include <stddef.h>

/** In the order of the values; "" where one has no name. */
struct assay__enum_names {
    const char *const *items;
    size_t count;
};

/** "" when there is no such value. */
const char *assay__enum_name(const struct assay__enum_names *names, size_t value);
/** -1 when no value has that name; NULL and "" are none. */
int assay__enum_value(const struct assay__enum_names *names, const char *name);

#endif
