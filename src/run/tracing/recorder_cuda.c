/* recorder_cuda.c - CUDA programs: the driver loads our library (src/cuda) into every process that
 * uses CUDA, and NVTX into every one that marks ranges. Whether a device is used is not known
 * before, and nothing is loaded into other programs. */
#include "run/tracing/recorders.h"

#include "base/buf.h"
#include "base/file.h"
#include "engine/cuda_recorder.h"
#include "run/child.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int locate(char *out, size_t out_size, struct assay_error *error)
{
    char worker[PATH_MAX], folder[PATH_MAX];
    int code = assay__worker_locate(worker, sizeof worker, error);
    if (!code && assay__path_folder(worker, folder, sizeof folder))
        code = assay_error_set(error, ASSAY_ELIMIT, "the worker's path is too long");
    return code ? code : assay__cuda_recorder_find(folder, out, out_size, error);
}

static unsigned kinds_of(enum assay__traced_calls calls)
{
    unsigned kinds = ASSAY__CUDA_KERNELS | ASSAY__CUDA_COPIES | ASSAY__CUDA_SYNCS;
    if (calls == ASSAY__TRACED_CALLS_LAUNCHES) kinds |= ASSAY__CUDA_CALLS;
    if (calls == ASSAY__TRACED_CALLS_ALL) kinds |= ASSAY__CUDA_CALLS_ALL;
    return kinds;
}

/* A time above 0 does not round to 0. */
static unsigned long milliseconds(double seconds)
{
    return seconds > 0 ? (unsigned long)(seconds * 1e3 < 1 ? 1 : seconds * 1e3 + 0.5) : 0;
}

static void write_settings(const struct assay__tracing *tracing, struct assay__buf *out)
{
    const struct assay__tracing_options *o = tracing->options;
    assay__buf_printf(out, ASSAY__CUDA_TRACE_VARIABLE "=kinds=%u", kinds_of(o->calls));
    if (o->delay_s > 0) assay__buf_printf(out, ",delay_ms=%lu", milliseconds(o->delay_s));
    if (o->duration_s > 0) assay__buf_printf(out, ",duration_ms=%lu", milliseconds(o->duration_s));
    if (o->signal) assay__buf_printf(out, ",signal=%d", o->signal);
    if (o->buffers) assay__buf_printf(out, ",buffers=%lu", (unsigned long)o->buffers);
    if (o->buffer_kib)
        assay__buf_printf(out, ",buffer_bytes=%lu", (unsigned long)o->buffer_kib << 10);
    if (o->range) assay__buf_puts(out, ",nvtx=");
    for (const char *c = o->range; c && *c; c++) {
        if (*c == ',' || *c == '%')
            assay__buf_puts(out, *c == ',' ? "%2C" : "%25");
        else
            assay__buf_putc(out, *c);
    }
    assay__buf_printf(out, ",file=%s/cuda", tracing->folder);
}

static int prepare(struct assay__tracing *tracing, void **state, struct assay_error *error)
{
    (void)state;
    static const char *const variables[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"};
    char library[PATH_MAX];
    struct assay__buf text = {0};
    int code = locate(library, sizeof library, error);
    for (size_t i = 0; i < 2 && !code; i++) {
        text.length = 0;
        assay__buf_printf(&text, "%s=%s", variables[i], library);
        code = assay__tracing_variable(tracing, text.failed ? NULL : text.data, error);
    }
    text.length = 0;
    if (!code) write_settings(tracing, &text);
    if (!code) code = assay__tracing_variable(tracing, text.failed ? NULL : text.data, error);
    assay__buf_free(&text);
    return code;
}

const struct assay__recorder assay__recorder_cuda = {.name = "cuda", .prepare = prepare};
