/* ort_feedback.c - states: outputs of a run that become inputs of the next one. They are passed on
 * as the library's own values, so that nothing is copied; what a run has read is released before
 * the next, as in a plain loop with a state. On devices other than the CPU the library copies them
 * to host memory and back, like every output and input.
 *
 * A state has the shape of its input after every run, which is checked after the first. */
#include "engine/ort/ort_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return SIZE_MAX;
}

int assay__ort_feedback_open(struct assay__session *session, const struct assay__feedback *feedback,
                             size_t count, struct assay_error *error)
{
    session->feed_outputs = assay__arena_array(session->arena, count + 1, sizeof(size_t));
    session->feed_inputs = assay__arena_array(session->arena, count + 1, sizeof(size_t));
    if (!session->feed_outputs || !session->feed_inputs) return assay__no_memory(error);
    for (size_t i = 0; i < count; i++) {
        size_t output = index_of(session->output_names, session->output_count, feedback[i].output);
        size_t input = index_of(session->input_names, session->input_count, feedback[i].input);
        if (output == SIZE_MAX || input == SIZE_MAX)
            return assay_error_set(error, ASSAY_EINVAL, "the model has no %s '%s'",
                                   output == SIZE_MAX ? "output" : "input",
                                   output == SIZE_MAX ? feedback[i].output : feedback[i].input);
        for (size_t k = 0; k < i; k++)
            if (session->feed_outputs[k] == output || session->feed_inputs[k] == input)
                return assay_error_set(error, ASSAY_EINVAL, "'%s' is in two pairs of feedback",
                                       session->feed_outputs[k] == output ? feedback[i].output
                                                                          : feedback[i].input);
        session->feed_outputs[i] = output;
        session->feed_inputs[i] = input;
    }
    session->feed_count = count;
    return 0;
}

int assay__ort_feed_open(const struct assay__session *session, struct assay__ort_feed *feed,
                         struct assay_error *error)
{
    *feed = (struct assay__ort_feed){
        .inputs = calloc(session->input_count + 1, sizeof *feed->inputs),
        .held = calloc(session->feed_count + 1, sizeof *feed->held),
    };
    if (!feed->inputs || !feed->held) return assay__no_memory(error);
    for (size_t i = 0; i < session->input_count; i++)
        feed->inputs[i] = session->input_values[i];
    return 0;
}

static void print_shape(char *out, size_t size, const int64_t *dims, size_t rank)
{
    size_t at = 0;
    snprintf(out, size, "scalar");
    for (size_t i = 0; i < rank && at + 1 < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%lld", i ? "x" : "", (long long)dims[i]);
}

static int check_shape(const struct assay__session *session, size_t pair, const OrtValue *state,
                       struct assay_error *error)
{
    const char *name = session->output_names[session->feed_outputs[pair]];
    const struct assay__host_tensor *input = &session->inputs[session->feed_inputs[pair]];
    struct assay__ort_shape shape;
    char made[128], taken[128];
    int code = assay__ort_check(&session->ort, assay__ort_shape_read(&session->ort, state, &shape),
                                error, name);
    if (code) return code;
    bool same = shape.rank == (size_t)input->rank &&
                assay__ort_dtype_of(shape.element) == input->dtype;
    for (size_t i = 0; same && i < shape.rank; i++)
        same = shape.dims[i] == input->dims[i];
    if (same) return 0;
    print_shape(made, sizeof made, shape.dims, shape.rank);
    print_shape(taken, sizeof taken, input->dims, (size_t)input->rank);
    return assay_error_set(error, ASSAY_EENGINE,
                           "the output '%.80s' came out as %s and cannot be fed back to '%.80s', "
                           "which is %s",
                           name, made, input->name, taken);
}

int assay__ort_feed_take(const struct assay__session *session, struct assay__ort_feed *feed,
                         OrtValue **outputs, struct assay_error *error)
{
    for (size_t i = 0; i < session->feed_count; i++) {
        OrtValue *state = outputs[session->feed_outputs[i]];
        if (!state) continue; /* nothing has run yet */
        int code = feed->checked ? 0 : check_shape(session, i, state, error);
        if (code) return code;
        if (feed->held[i]) session->ort.release_value(feed->held[i]);
        feed->held[i] = state;
        feed->inputs[session->feed_inputs[i]] = state;
        outputs[session->feed_outputs[i]] = NULL;
        if (i + 1 == session->feed_count) feed->checked = true;
    }
    return 0;
}

void assay__ort_feed_restart(const struct assay__session *session, struct assay__ort_feed *feed)
{
    if (!feed->held) return;
    for (size_t i = 0; i < session->feed_count; i++)
        feed->inputs[session->feed_inputs[i]] = session->input_values[session->feed_inputs[i]];
    assay__ort_release_values(&session->ort, feed->held, session->feed_count);
}

void assay__ort_feed_close(const struct assay__session *session, struct assay__ort_feed *feed)
{
    if (feed->held) assay__ort_release_values(&session->ort, feed->held, session->feed_count);
    free(feed->held);
    free(feed->inputs);
    *feed = (struct assay__ort_feed){0};
}
