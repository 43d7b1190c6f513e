/* scratch.h - a temporary folder of the test's own, gone when its process ends. */
#ifndef ASSAY_TESTS_SCRATCH_H
#define ASSAY_TESTS_SCRATCH_H

#include "harness.h"

#include "base/file.h"

static char scratch_folder[512]; /* "" until a path is asked for */

static inline void scratch_drop(void)
{
    assay__folder_remove(scratch_folder);
}

/* A path in it; the last four stay good. */
static inline const char *scratch(const char *name)
{
    static char paths[4][600];
    static int next;
    if (!scratch_folder[0]) {
        CHECK_INT(assay__folder_temporary(scratch_folder, sizeof scratch_folder, NULL), 0);
        atexit(scratch_drop);
    }
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", scratch_folder, name);
    return paths[next];
}

#endif
