/* job.c - writes a job as JSON and reads it back. */
#include "run/worker/job.h"

#include "base/json.h"

#define JOB_VERSION 1

static void write_generation(const struct assay_generation *plan, struct assay__json_writer *writer)
{
    assay__json_key(writer, "generation");
    assay__json_object(writer);
    assay__json_put_integer(writer, "tokens", plan->tokens);
    assay__json_put_string(writer, "ids", plan->ids);
    assay__json_put_string(writer, "mask", plan->mask);
    assay__json_put_string(writer, "positions", plan->positions);
    assay__json_put_string(writer, "logits", plan->logits);
    assay__json_put_strings(writer, "past", plan->past, plan->pair_count);
    assay__json_put_strings(writer, "present", plan->present, plan->pair_count);
    assay__json_object_end(writer);
}

void assay__job_write(const struct assay__job *job, struct assay__buf *out)
{
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_object(&writer);
    assay__json_put_integer(&writer, "job", JOB_VERSION);
    assay__json_put_string(&writer, "engine", job->engine);
    assay__json_put_string(&writer, "model", job->model);
    assay__json_put_string(&writer, "library", job->library);
    assay__json_put_string(&writer, "device", job->device);
    assay__json_put_string(&writer, "optimization", job->optimization);
    assay__json_put_string(&writer, "cpus", job->cpus);
    assay__json_put_string(&writer, "script", job->script);
    assay__json_put_integer(&writer, "threads", job->threads);
    assay__json_put_integer(&writer, "streams", job->streams);
    assay__json_put_integer(&writer, "spinning", job->spinning);
    assay__json_put_integer(&writer, "warmup", job->warmup);
    assay__json_put_integer(&writer, "layers", (int64_t)job->layers);
    assay__json_put_string(&writer, "outputs", job->outputs);
    assay__json_put_bool(&writer, "counters", job->counters);
    assay__json_put_bool(&writer, "allocations", job->allocations);
    assay__json_put_bool(&writer, "strict", job->strict);
    assay__json_put_string(&writer, "provider_options", job->provider_options);
    assay__json_put_string(&writer, "model_name", job->model_name);
    if (job->generation.tokens > 0) write_generation(&job->generation, &writer);
    assay__json_key(&writer, "inputs");
    assay__json_array(&writer);
    for (size_t i = 0; i < job->input_count; i++)
        assay__input_to_json(&job->inputs[i], &writer);
    assay__json_array_end(&writer);
    assay__json_object_end(&writer);
}

static int read_inputs(const struct assay__json *list, struct assay__arena *arena,
                       struct assay__job *job, struct assay_error *error)
{
    job->input_count = list ? list->count : 0;
    job->inputs = assay__arena_array(arena, job->input_count, sizeof *job->inputs);
    if (!job->inputs) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    size_t at = 0;
    for (const struct assay__json *item = list ? list->first : NULL; item;
         item = item->next, at++) {
        int code = assay__input_from_json(item, arena, &job->inputs[at], error);
        if (code) return code;
    }
    return 0;
}

static const char **read_names(const struct assay__json *list, struct assay__arena *arena)
{
    const char **names = assay__arena_array(arena, list ? list->count : 0, sizeof *names);
    size_t at = 0;
    for (const struct assay__json *item = list ? list->first : NULL; names && item;
         item = item->next)
        names[at++] = item->string ? item->string : "";
    return names;
}

static int read_generation(const struct assay__json *json, struct assay__arena *arena,
                           struct assay_generation *plan, struct assay_error *error)
{
    const struct assay__json *past = assay__json_get(json, "past"),
                             *present = assay__json_get(json, "present");
    if (!json) return 0;
    *plan = (struct assay_generation){
        .tokens = assay__json_get_integer(json, "tokens", 0),
        .ids = assay__json_get_string(json, "ids", NULL),
        .mask = assay__json_get_string(json, "mask", NULL),
        .positions = assay__json_get_string(json, "positions", NULL),
        .logits = assay__json_get_string(json, "logits", NULL),
        .past = read_names(past, arena),
        .present = read_names(present, arena),
        .pair_count = past ? past->count : 0,
    };
    if (plan->tokens < 1 || (present ? present->count : 0) != plan->pair_count)
        return assay_error_set(error, ASSAY_EFORMAT, "the job's generation is not a whole one");
    return plan->past && plan->present ? 0 : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
}

int assay__job_read(const char *text, size_t length, struct assay__arena *arena,
                    struct assay__job *job, struct assay_error *error)
{
    struct assay__json *root = NULL;
    int code = assay__json_parse(arena, text, length, &root, error);
    if (code) return code;
    if (assay__json_get_integer(root, "job", 0) != JOB_VERSION)
        return assay_error_set(error, ASSAY_EFORMAT,
                               "the job is not of this version of assay-worker");
    *job = (struct assay__job){
        .engine = assay__json_get_string(root, "engine", NULL),
        .model = assay__json_get_string(root, "model", NULL),
        .library = assay__json_get_string(root, "library", NULL),
        .device = assay__json_get_string(root, "device", NULL),
        .optimization = assay__json_get_string(root, "optimization", NULL),
        .cpus = assay__json_get_string(root, "cpus", NULL),
        .script = assay__json_get_string(root, "script", NULL),
        .threads = (int)assay__json_get_integer(root, "threads", 0),
        .streams = (int)assay__json_get_integer(root, "streams", 1),
        .spinning = (int)assay__json_get_integer(root, "spinning", -1),
        .warmup = assay__json_get_integer(root, "warmup", -1),
        .layers = (enum assay_layer_method)assay__json_get_integer(root, "layers", 0),
        .outputs = assay__json_get_string(root, "outputs", NULL),
        .counters = assay__json_get_bool(root, "counters", false),
        .allocations = assay__json_get_bool(root, "allocations", false),
        .strict = assay__json_get_bool(root, "strict", false),
        .provider_options = assay__json_get_string(root, "provider_options", NULL),
        .model_name = assay__json_get_string(root, "model_name", NULL),
    };
    if (!job->engine) return assay_error_set(error, ASSAY_EFORMAT, "the job names no engine");
    code = read_generation(assay__json_get(root, "generation"), arena, &job->generation, error);
    if (code) return code;
    return read_inputs(assay__json_get(root, "inputs"), arena, job, error);
}
