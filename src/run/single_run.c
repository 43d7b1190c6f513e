/* single_run.c - runs a model once in a worker and reads its outputs. */
#include "run/single_run.h"

#include "base/file.h"
#include "model/inputs/npy.h"
#include "model/tensor_data.h"
#include "run/arm/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TIMEOUT_S 300.0

int assay__single_run_run(struct assay__single_run *work, const char *model, const char *what,
                          struct assay__output **outputs, size_t *count, struct assay_error *error)
{
    const struct assay__drift_options *options = work->options;
    const char *folder = assay__arena_printf(work->arena, "%s/%s", work->folder, what);
    const char *temporary = assay__arena_printf(work->arena, "TMPDIR=%s", work->folder);
    struct assay__outcome outcome;
    if (!folder || !temporary) return assay__no_memory(error);
    if (mkdir(folder, 0700))
        return assay_error_set(error, ASSAY_EIO, "%s: cannot be created", folder);
    struct assay__request request = assay__request_once(work->workload, work->worker, work->arena);
    request.job.engine = assay__or_default(options->engine, "ort");
    request.job.model = model;
    request.job.library = options->library;
    request.job.device = assay__or_default(options->device, "cpu");
    request.job.layers = ASSAY_LAYERS_OFF;
    request.job.outputs = folder;
    request.timeout_s = options->timeout_s > 0 ? options->timeout_s : TIMEOUT_S;
    request.interrupt = options->interrupt;
    request.progress = options->progress;
    request.progress_context = options->progress_context;
    request.temporary = temporary;
    int code = assay__launch_run(&request, &outcome);
    if (code) code = assay_error_set(error, code, "the %s model: %s", what, outcome.reason);
    if (!code) work->version = outcome.facts.version;
    assay__outcome_free(&outcome);
    return code ? code : assay__outputs_read(folder, work->arena, outputs, count, error);
}

int assay__single_run_numbers(const struct assay__output *output, double **numbers,
                              int64_t *elements, struct assay_error *error)
{
    struct assay__mapping mapping = {0};
    struct assay__npy npy;
    float *floats = NULL;
    *numbers = NULL;
    int code = assay__file_map(output->file, &mapping, error);
    if (!code) code = assay__npy_parse(mapping.data, mapping.size, &npy, error);
    if (code) goto out;
    *elements = 1;
    for (int i = 0; i < npy.rank; i++)
        *elements *= npy.dims[i]; /* checked by the parser */
    struct assay__tensor tensor = {.name = output->name,
                                   .dtype = output->dtype,
                                   .rank = npy.rank,
                                   .dims = npy.dims,
                                   .elements = *elements,
                                   .data = npy.data,
                                   .data_size = npy.data_size,
                                   .location = "",
                                   .nonzeros = -1};
    struct assay__model none = {.path = "", .folder = "."};
    *numbers = malloc(((size_t)*elements + 1) * sizeof **numbers);
    floats = malloc(((size_t)*elements + 1) * sizeof *floats);
    if (!*numbers || !floats) {
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory for output '%.100s'",
                               output->name);
    } else if (output->dtype == ASSAY__FLOAT64) {
        memcpy(*numbers, npy.data, npy.data_size);
    } else {
        if (*elements) code = assay__tensor_floats(&none, &tensor, floats, error);
        for (int64_t i = 0; i < *elements && !code; i++)
            (*numbers)[i] = (double)floats[i];
    }
out:
    free(floats);
    assay__file_unmap(&mapping);
    return code;
}
