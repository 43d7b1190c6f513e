/* locate.c - finds the worker's executable. A program that uses libassay lies anywhere, hence the
 * places relative to the library. */
#include "run/locate.h"

#include "base/file.h"
#include "platform/platform.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char worker_name[] = "assay-worker";

static bool usable(const char *path)
{
    return assay__file_exists(path) && access(path, X_OK) == 0;
}

/* `file`'s folder joined with `relative` ("" for the folder itself), when the worker is there. */
static bool beside(const char *file, const char *relative, char *out, size_t out_size)
{
    char folder[PATH_MAX], place[PATH_MAX];
    if (file[0] == '\0' || assay__path_folder(file, folder, sizeof folder)) return false;
    if (relative[0] && assay__path_join(folder, relative, place, sizeof place)) return false;
    return assay__path_join(relative[0] ? place : folder, worker_name, out, out_size) == 0 &&
           usable(out);
}

static const char address_in_library;

int assay__worker_locate(char *out, size_t out_size, struct assay_error *error)
{
    const char *given = getenv("ASSAY_WORKER");
    if (given && given[0]) {
        if (snprintf(out, out_size, "%s%s", given[0] == '/' ? "" : "./", given) >= (int)out_size)
            return assay_error_set(error, ASSAY_ELIMIT, "ASSAY_WORKER is too long");
        if (usable(out)) return 0;
        return assay_error_set(error, ASSAY_ENOTFOUND, "ASSAY_WORKER=%s is not a program", given);
    }
    char program[PATH_MAX] = "", library[PATH_MAX] = "";
    if (assay__executable_path(program, sizeof program)) program[0] = '\0';
    if (beside(program, "", out, out_size) || beside(program, "../libexec/assay", out, out_size))
        return 0;
#ifdef ASSAY_LIBEXECDIR
    if (assay__path_join(ASSAY_LIBEXECDIR, worker_name, out, out_size) == 0 && usable(out))
        return 0;
#endif
    assay__library_path(&address_in_library, library, sizeof library);
    if (beside(library, "", out, out_size) || beside(library, "../libexec/assay", out, out_size))
        return 0;
    return assay_error_set(
        error, ASSAY_ENOTFOUND,
        "assay-worker is neither beside the program (%s) nor in libexec/assay: set ASSAY_WORKER",
        program[0] ? program : "?");
}
