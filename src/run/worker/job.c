/* job.c - writes a job as JSON and reads it back. */
#include "run/worker/job.h"

#include "base/json.h"
#include "base/no_memory.h"
#include "run/worker/messages.h"

#define JOB_VERSION 1

void assay__job_write(const struct assay__job *job, struct assay__buf *out)
{
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_object(&writer);
    assay__json_put_integer(&writer, "job", JOB_VERSION);
    assay__fields_send(&writer, &assay__message_job, job);
    if (job->generation.tokens > 0) {
        assay__json_key(&writer, "generation");
        assay__message_put(&writer, &assay__message_generation, &job->generation);
    }
    assay__json_put_array(&writer, "feedback");
    for (size_t i = 0; i < job->feedback_count; i++)
        assay__message_put(&writer, &assay__stored_feedback, &job->feedback[i]);
    assay__json_array_end(&writer);
    assay__json_put_array(&writer, "inputs");
    for (size_t i = 0; i < job->input_count; i++)
        assay__input_to_json(&job->inputs[i], &writer);
    assay__json_array_end(&writer);
    assay__json_object_end(&writer);
}

int assay__job_read(const char *text, size_t length, struct assay__arena *arena,
                    struct assay__job *job, struct assay_error *error)
{
    struct assay__json *root = NULL;
    int code = assay__json_parse(arena, text, length, &root, error);
    if (code) return code;
    if (assay__json_get_integer(root, "job", 0) != JOB_VERSION)
        return assay_error_set(error, ASSAY_EFORMAT,
                               "the job has another version than this assay-worker");
    *job = (struct assay__job){0};
    const struct assay__json *generation = assay__json_get(root, "generation"),
                             *past = assay__json_get(generation, "past"),
                             *present = assay__json_get(generation, "present"),
                             *inputs = assay__json_get(root, "inputs");
    if (assay__fields_receive(root, &assay__message_job, arena, job) ||
        (generation &&
         assay__fields_receive(generation, &assay__message_generation, arena, &job->generation)))
        return assay__no_memory(error);
    if (!job->engine) return assay_error_set(error, ASSAY_EFORMAT, "the job names no engine");
    if (generation &&
        (job->generation.tokens < 1 || (past ? past->count : 0) != (present ? present->count : 0)))
        return assay_error_set(error, ASSAY_EFORMAT, "the generation in the job is incomplete");
    job->inputs = assay__arena_array(arena, inputs ? inputs->count : 0, sizeof *job->inputs);
    if (!job->inputs) return assay__no_memory(error);
    const struct assay__json *feedback = assay__json_get(root, "feedback");
    job->feedback = assay__arena_array(arena, feedback ? feedback->count : 0,
                                       sizeof *job->feedback);
    if (!job->feedback) return assay__no_memory(error);
    for (const struct assay__json *item = feedback ? feedback->first : NULL; item;
         item = item->next)
        if (assay__fields_receive(item, &assay__stored_feedback, arena,
                                  &job->feedback[job->feedback_count++]))
            return assay__no_memory(error);
    for (const struct assay__json *item = inputs ? inputs->first : NULL; item && !code;
         item = item->next)
        code = assay__input_from_json(item, arena, &job->inputs[job->input_count++], error);
    return code;
}
