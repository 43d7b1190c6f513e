/* cpu_list.c - reads lists of CPUs such as "0-3,8". Numbers go up to 65,535: more CPUs than any
 * kernel supports, and few enough to iterate over. */
#include "base/cpu_list.h"

#include <stdlib.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool assay__cpu_next(struct assay__cpu_walk *walk)
{
    if (walk->begun && walk->cpu < walk->last) {
        walk->cpu++;
        return true;
    }
    if (walk->begun && !*walk->at) return false;
    walk->begun = walk->malformed = true; /* until a number is read */
    char *end;
    if (!is_digit(*walk->at)) return false;
    unsigned long first = strtoul(walk->at, &end, 10), last = first;
    if (*end == '-' && !is_digit(end[1])) return false;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    if (last < first || last >= 65536 || (*end && (*end != ',' || !end[1]))) return false;
    *walk = (struct assay__cpu_walk){
        .at = *end ? end + 1 : end, .cpu = (unsigned)first, .last = (unsigned)last, .begun = true};
    return true;
}

int assay__cpu_list_count(const char *list)
{
    struct assay__cpu_walk walk = {.at = list};
    int count = 0;
    while (assay__cpu_next(&walk))
        count++;
    return walk.malformed ? 0 : count;
}
