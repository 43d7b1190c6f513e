/* engines.c - the table of engines, generated from the list in engines.h, and reading a caller's
 * options for them. */
#include "engine/engines.h"

#include "engine/engine.h"

#include "base/options_read.h"

#include <string.h>

#define ROW(NAME) &assay__engine_##NAME,
static const struct assay__engine_ops *const engines[] = {ASSAY__ENGINES(ROW)};

const struct assay__engine_ops *assay__engine_at(size_t index)
{
    return index < sizeof engines / sizeof engines[0] ? engines[index] : NULL;
}

const struct assay__engine_ops *assay__engine_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof engines / sizeof engines[0]; i++)
        if (strcmp(engines[i]->name, name) == 0) return engines[i];
    return NULL;
}

enum assay__device_class assay__engine_device_class(const char *engine, const char *device)
{
    const struct assay__engine_ops *ops = assay__engine_find(engine);
    return ops && ops->device_kind && device ? assay__device_class_parse(ops->device_kind(device))
                                             : ASSAY__CLASS_UNKNOWN;
}

int assay__session_options_read(const struct assay__session_options *given,
                                struct assay__session_options *own, struct assay_error *error)
{
    if (!given) return assay_error_set(error, ASSAY_EINVAL, "no session options were given");
    int code = assay__options_read(given, own, sizeof *own, "session", error);
    if (code) return code;
    if (own->streams < 0 || own->streams > 1024)
        return assay_error_set(error, ASSAY_EINVAL, "%d streams: must be between 1 and 1024",
                               own->streams);
    if (own->threads < 0 || own->threads > 4096)
        return assay_error_set(error, ASSAY_EINVAL, "%d threads: must be between 1 and 4096",
                               own->threads);
    if (own->input_count > 0 && !own->inputs)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the session options count inputs but have none");
    return 0;
}

int assay__assignment_options_read(const struct assay__assignment_options *given,
                                   struct assay__assignment_options *own, struct assay_error *error)
{
    int code = assay__options_read(given, own, sizeof *own, "assignment", error);
    if (code) return code;
    if (!own->model_path) return assay_error_set(error, ASSAY_EINVAL, "no model was given");
    if (own->dim_count > 0 && (!own->dim_names || !own->dim_values))
        return assay_error_set(error, ASSAY_EINVAL,
                               "the assignment options count dimensions but have none");
    return 0;
}

const struct assay__layer_counters *assay__layer_counters(
    const struct assay__layer_options *options)
{
    size_t needs = offsetof(struct assay__layer_options, counters) + sizeof options->counters;
    const struct assay__layer_counters *counters = options->size >= needs ? options->counters
                                                                          : NULL;
    return counters && counters->count > 0 ? counters : NULL;
}

const char *assay__layer_keep(const struct assay__layer_options *options)
{
    size_t needs = offsetof(struct assay__layer_options, keep) + sizeof options->keep;
    return options->size >= needs ? options->keep : NULL;
}
