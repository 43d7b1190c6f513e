/* demangle.h - names of C++ functions as people write them. */
#ifndef ASSAY_PLATFORM_DEMANGLE_H
#define ASSAY_PLATFORM_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/** "_ZN3foo3barEi" as "foo::bar(int)", cut to `room`. False: it is no such name, or longer than
 * 1,024 bytes, or this machine has no C++ library. */
bool assay__demangle(const char *name, char *out, size_t room);
/** Before the first name: only a C++ library that the process has loaded is used. In a program that
 *  is not ours another one could come before its own. */
void assay__demangle_by_loaded(void);

#endif
