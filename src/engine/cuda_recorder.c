/* cuda_recorder.c - finds and loads the CUDA recorder. It stays loaded: CUPTI calls it back. */
#include "engine/cuda_recorder.h"

#include "base/file.h"
#include "platform/platform.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int assay__cuda_recorder_find(const char *folder, char *out, size_t out_size,
                              struct assay_error *error)
{
    char path[PATH_MAX];
    const char *given = getenv("ASSAY_CUDA_RECORDER");
    if (given && *given) {
        if (realpath(given, path) && strlen(path) < out_size) {
            memcpy(out, path, strlen(path) + 1);
            return 0;
        }
        return assay_error_set(error, ASSAY_ENOTFOUND, "ASSAY_CUDA_RECORDER=%s is not a file",
                               given);
    }
    if (assay__path_join(folder, ASSAY__CUDA_TRACE_LIBRARY, out, out_size))
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the CUDA recorder is too long");
    if (assay__file_exists(out)) return 0;
    return assay_error_set(error, ASSAY_ENOTFOUND,
                           "the CUDA recorder " ASSAY__CUDA_TRACE_LIBRARY
                           " is not next to the worker (%s): install it there or name it in "
                           "ASSAY_CUDA_RECORDER",
                           folder);
}

int assay__cuda_recorder_load(const struct assay__cuda_trace_api **api, struct assay_error *error)
{
    char own[PATH_MAX], folder[PATH_MAX], path[PATH_MAX];
    assay__cuda_trace_fn *get = NULL;
    *api = NULL;
    if (assay__executable_path(own, sizeof own) || assay__path_folder(own, folder, sizeof folder))
        return assay_error_set(error, ASSAY_EIO, "the folder of this program is unknown");
    int code = assay__cuda_recorder_find(folder, path, sizeof path, error);
    if (code) return code;
    void *library = assay__library_open(path, error);
    if (!library) return error ? error->code : ASSAY_EUNSUPPORTED;
    void *symbol = assay__library_symbol(library, ASSAY__CUDA_TRACE_SYMBOL);
    if (symbol) memcpy(&get, &symbol, sizeof get);
    const struct assay__cuda_trace_api *found = get ? get() : NULL;
    if (!found || found->abi != ASSAY__CUDA_TRACE_ABI || found->size < sizeof *found)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s belongs to another version of assay: install the one that came "
                               "with this worker",
                               path);
    *api = found;
    return 0;
}
