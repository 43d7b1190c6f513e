/* hta.c */
#include "explain/parts.h"
const char *const assay__hta_idle_names[] = {"host_wait", "kernel_wait", "other"};
