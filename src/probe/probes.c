/* probes.c - the table of probes, made from the list in probes.h. */
#include "probe/probes.h"

#include <string.h>

#define ROW(NAME) &assay__probe_##NAME,
static const struct assay__probe_ops *const probes[] = {ASSAY__PROBES(ROW)};

const struct assay__probe_ops *assay__probe_at(size_t index)
{
    return index < sizeof probes / sizeof probes[0] ? probes[index] : NULL;
}

const struct assay__probe_ops *assay__probe_find(const char *name)
{
    for (size_t i = 0; assay__probe_at(i); i++)
        if (strcmp(probes[i]->name, name) == 0) return probes[i];
    return NULL;
}
