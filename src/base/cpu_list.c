/* cpu_list.c - reads and writes lists of CPUs such as "0-3,8". Numbers end at 65,535: more CPUs
 * than any kernel counts, and few enough to walk. */
#include "base/cpu_list.h"

#include <stdlib.h>

bool assay__cpu_list_each(const char *list, void (*each)(void *context, unsigned cpu),
                          void *context)
{
    const char *at = list;
    while (*at) {
        char *end;
        if (*at < '0' || *at > '9') return false;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (*end == '-') {
            if (end[1] < '0' || end[1] > '9') return false;
            last = strtoul(end + 1, &end, 10);
        }
        if (last < first || last >= 65536) return false;
        for (unsigned long cpu = first; cpu <= last; cpu++)
            each(context, (unsigned)cpu);
        if (*end == ',' && end[1] == '\0') return false;
        if (*end != ',' && *end != '\0') return false;
        at = *end ? end + 1 : end;
    }
    return at != list;
}
