/* cpu_list.h - lists of CPUs in the notation of the kernel and users: "0-3,8".
 *   struct assay__cpu_walk walk = {.at = list};
 *   while (assay__cpu_next(&walk)) use(walk.cpu);
 *   if (walk.malformed) … */
#ifndef ASSAY_BASE_CPU_LIST_H
#define ASSAY_BASE_CPU_LIST_H

#include <stdbool.h>

struct assay__cpu_walk {
    const char *at; /* the rest of the list */
    unsigned cpu, last;
    bool begun, malformed; /* malformed (or empty); what came before it was walked */
};

/** The next CPU of the list; false at its end. */
bool assay__cpu_next(struct assay__cpu_walk *walk);
/** How many CPUs are on the list; 0: it is malformed or empty. */
int assay__cpu_list_count(const char *list);

#endif
