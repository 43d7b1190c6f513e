/* posix_demangle.c - __cxa_demangle of the C++ library (Itanium C++ ABI, 5.1.4 and its runtime),
 * which is opened when the first name is asked for. */
#include "platform/demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 1024u /* names are other people's, and the library recurses */

typedef char *demangle_fn(const char *name, char *buffer, size_t *room, int *status);

static demangle_fn *demangle; /* NULL: there is none */
static int open_mode = RTLD_LAZY | RTLD_LOCAL;
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    static const char *const names[] = {"libstdc++.so.6", "libc++abi.so.1", "libc++.1.dylib"};
    void *symbol = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !symbol; i++) {
        void *library = dlopen(names[i], open_mode);
        symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
    }
    memcpy(&demangle, &symbol, sizeof demangle);
}

void assay__demangle_by_loaded(void)
{
    open_mode |= RTLD_NOLOAD;
}

bool assay__demangle(const char *name, char *out, size_t room)
{
    int status = -1;
    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MOST) return false;
    pthread_once(&opened, open_library);
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    bool done = text && status == 0;
    if (done) snprintf(out, room, "%s", text);
    free(text);
    return done;
}
