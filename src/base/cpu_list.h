/* cpu_list.h - lists of CPUs as the kernel and users write them: "0-3,8". */
#ifndef ASSAY_BASE_CPU_LIST_H
#define ASSAY_BASE_CPU_LIST_H

#include <stdbool.h>

/** Calls back for each CPU of the list; false when it is malformed or empty (some may have been
 *  called back by then). */
bool assay__cpu_list_each(const char *list, void (*each)(void *context, unsigned cpu),
                          void *context);

#endif
