/* ort_generate.c - a whole generation as one step: the prompt through the model (prefill), then one
 * token at a time, each run reading the caches that the run before wrote.
 *
 * Caches are handed over as the library's own values: nothing of ours copies them. (On devices
 * other than the CPU, Run() brings outputs to host memory, and so the caches cross the bus at every
 * token; the times say so, and so does the report.) The next token is the likeliest at the last
 * position, found here, within the time of the token: it is what a user waits for. Everything that
 * a step needs is made when the session opens: the mask of every length, the one-token inputs, room
 * for the times. What the library itself allocates per run remains. */
#include "engine/ort/ort_session.h"

#include "model/tensor_data.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define RECORDED_TOKENS ((size_t)1 << 20) /* 8 MB of times */

struct assay__ort_generation {
    const struct assay__generation *plan;
    size_t ids_input, logits_output;
    size_t mask_input, positions_input; /* SIZE_MAX: none */
    size_t *past_inputs, *present_outputs;
    int64_t batch, prompt;
    OrtValue **inputs;        /* of a run after the first; caches borrowed from `before` */
    OrtValue **now, **before; /* outputs of this run and of the one before */
    OrtValue *next_ids, *next_positions, **masks; /* masks: one per token after the first */
    void *ids_data, *positions_data, *ones;
    int ids_dtype, positions_dtype, mask_dtype;
    int64_t *chosen; /* batch x tokens */
    uint64_t *times; /* generations x tokens */
    size_t recorded, capacity, dropped;
    uint64_t choose_ns, choose_count;
};

static size_t index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return SIZE_MAX;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int find_places(struct assay__session *session, struct assay__ort_generation *generation,
                       struct assay_error *error)
{
    const struct assay__generation *plan = generation->plan;
    const char *const *in = session->input_names, *const *out = session->output_names;
    generation->ids_input = index_of(in, session->input_count, plan->ids);
    generation->mask_input = index_of(in, session->input_count, plan->mask);
    generation->positions_input = index_of(in, session->input_count, plan->positions);
    generation->logits_output = index_of(out, session->output_count, plan->logits);
    if (generation->ids_input == SIZE_MAX || generation->logits_output == SIZE_MAX)
        return assay_error_set(error, ASSAY_EINVAL, "the model has no '%s'",
                               generation->ids_input == SIZE_MAX ? plan->ids : plan->logits);
    for (size_t i = 0; i < plan->pair_count; i++) {
        generation->past_inputs[i] = index_of(in, session->input_count, plan->past[i]);
        generation->present_outputs[i] = index_of(out, session->output_count, plan->present[i]);
        if (generation->past_inputs[i] == SIZE_MAX || generation->present_outputs[i] == SIZE_MAX)
            return assay_error_set(error, ASSAY_EINVAL, "the model has no cache '%s' with '%s'",
                                   plan->past[i], plan->present[i]);
    }
    const struct assay__host_tensor *ids = &session->inputs[generation->ids_input];
    if (ids->rank != 2 || ids->dims[0] < 1 || ids->dims[1] < 1)
        return assay_error_set(error, ASSAY_EINVAL, "'%s' is not batch x prompt", plan->ids);
    generation->batch = ids->dims[0];
    generation->prompt = ids->dims[1];
    return 0;
}

/* Writes `value` as the i-th number of an int64, int32 or float array. */
static void put_number(void *data, int dtype, size_t i, int64_t value)
{
    if (dtype == ASSAY__INT64)
        ((int64_t *)data)[i] = value;
    else if (dtype == ASSAY__INT32)
        ((int32_t *)data)[i] = (int32_t)value;
    else if (dtype == ASSAY__FLOAT32)
        ((float *)data)[i] = (float)value;
    else
        ((uint8_t *)data)[i] = (uint8_t)value;
}

static int make_input(struct assay__session *session, const char *name, int dtype, void *data,
                      int64_t batch, int64_t width, OrtValue **value, struct assay_error *error)
{
    const int64_t dims[] = {batch, width};
    size_t size = (size_t)batch * (size_t)width * assay__ort_dtype_bits(dtype) / 8;
    return assay__ort_value_make(
        session,
        &(struct assay__host_tensor){
            .name = name, .dtype = dtype, .rank = 2, .dims = dims, .data = data, .data_size = size},
        value, error);
}

static int make_masks(struct assay__session *session, struct assay__ort_generation *generation,
                      struct assay_error *error)
{
    const struct assay__generation *plan = generation->plan;
    int64_t longest = generation->prompt + plan->tokens;
    if (generation->mask_input == SIZE_MAX) return 0;
    generation->mask_dtype = session->inputs[generation->mask_input].dtype;
    switch (generation->mask_dtype) {
    case ASSAY__INT64:
    case ASSAY__INT32:
    case ASSAY__FLOAT32:
    case ASSAY__BOOL:
    case ASSAY__INT8:
    case ASSAY__UINT8: break;
    default:
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "the mask '%s' is of a type (%d) that is "
                               "not supported in a generation",
                               plan->mask, generation->mask_dtype);
    }
    size_t count = (size_t)(generation->batch * longest);
    generation->ones = assay__arena_array(session->arena, count, 8);
    generation->masks = assay__arena_array(session->arena, (size_t)plan->tokens,
                                           sizeof *generation->masks);
    if (!generation->ones || !generation->masks) return assay__no_memory(error);
    for (size_t i = 0; i < count; i++)
        put_number(generation->ones, generation->mask_dtype, i, 1);
    int code = 0;
    for (int64_t k = 1; k < plan->tokens && !code; k++)
        code = make_input(session, plan->mask, generation->mask_dtype, generation->ones,
                          generation->batch, generation->prompt + k, &generation->masks[k], error);
    return code;
}

static int make_inputs(struct assay__session *session, struct assay__ort_generation *generation,
                       struct assay_error *error)
{
    const struct assay__generation *plan = generation->plan;
    int64_t batch = generation->batch;
    generation->ids_dtype = session->inputs[generation->ids_input].dtype;
    generation->ids_data = assay__arena_array(session->arena, (size_t)batch, 8);
    generation->positions_data = assay__arena_array(session->arena, (size_t)batch, 8);
    if (!generation->ids_data || !generation->positions_data) return assay__no_memory(error);
    int code = make_input(session, plan->ids, generation->ids_dtype, generation->ids_data, batch, 1,
                          &generation->next_ids, error);
    if (!code && generation->positions_input != SIZE_MAX) {
        generation->positions_dtype = session->inputs[generation->positions_input].dtype;
        code = make_input(session, plan->positions, generation->positions_dtype,
                          generation->positions_data, batch, 1, &generation->next_positions, error);
    }
    return code ? code : make_masks(session, generation, error);
}

int assay__ort_generation_open(struct assay__session *session, const struct assay__generation *plan,
                               struct assay_error *error)
{
    struct assay__arena *arena = session->arena;
    struct assay__ort_generation *generation = assay__arena_alloc(arena, sizeof *generation);
    if (!generation) return assay__no_memory(error);
    session->generation = generation;
    generation->plan = plan;
    if (plan->tokens < 1 || session->stream_count != 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a generation makes at least one token, in one stream");
    size_t pairs = plan->pair_count + 1, outputs = session->output_count + 1;
    generation->past_inputs = assay__arena_array(arena, pairs, sizeof(size_t));
    generation->present_outputs = assay__arena_array(arena, pairs, sizeof(size_t));
    generation->inputs = assay__arena_array(arena, session->input_count + 1,
                                            sizeof *generation->inputs);
    generation->now = assay__arena_array(arena, outputs, sizeof *generation->now);
    generation->before = assay__arena_array(arena, outputs, sizeof *generation->before);
    if (!generation->past_inputs || !generation->present_outputs || !generation->inputs ||
        !generation->now || !generation->before)
        return assay__no_memory(error);
    int code = find_places(session, generation, error);
    if (code) return code;
    if (plan->tokens > 1 << 20 || generation->batch > 1 << 16 || generation->prompt > 1 << 24)
        return assay_error_set(error, ASSAY_ELIMIT, "a generation this large is not supported");
    generation->capacity = RECORDED_TOKENS / (size_t)plan->tokens + 1;
    generation->times = assay__arena_array(arena, generation->capacity * (size_t)plan->tokens,
                                           sizeof *generation->times);
    generation->chosen = assay__arena_array(arena, (size_t)(plan->tokens * generation->batch),
                                            sizeof *generation->chosen);
    if (!generation->times || !generation->chosen) return assay__no_memory(error);
    return make_inputs(session, generation, error);
}

void assay__ort_generation_close(struct assay__session *session)
{
    struct assay__ort_generation *generation = session->generation;
    const struct assay__ort *ort = &session->ort;
    if (!generation) return;
    assay__ort_release_values(ort, generation->now, session->output_count);
    assay__ort_release_values(ort, generation->before, session->output_count);
    if (generation->masks)
        assay__ort_release_values(ort, generation->masks, (size_t)generation->plan->tokens);
    assay__ort_release_values(ort, &generation->next_ids, 1);
    assay__ort_release_values(ort, &generation->next_positions, 1);
    session->generation = NULL;
}

/* --- a step ----------------------------------------------------------------------------------- */

static int64_t likeliest_float(const float *row, int64_t count)
{
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

static float wide(const uint16_t *row, int dtype, int64_t i)
{
    uint32_t bits = (uint32_t)row[i] << 16;
    float value;
    if (dtype == ASSAY__FLOAT16) return assay__half_to_float(row[i]);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t likeliest_half(const uint16_t *row, int dtype, int64_t count)
{
    int64_t best = 0;
    float most = wide(row, dtype, 0);
    for (int64_t i = 1; i < count; i++) {
        float value = wide(row, dtype, i);
        if (value > most) best = i;
        if (value > most) most = value;
    }
    return best;
}

/* The next token of each sequence from the logits of the last position. */
static int choose(struct assay__session *session, struct assay__ort_generation *generation,
                  int64_t token, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    OrtValue *value = generation->now[generation->logits_output];
    struct assay__ort_shape shape;
    void *data = NULL;
    uint64_t start = assay__now_ns();
    OrtStatus *status = assay__ort_shape_read(ort, value, &shape);
    if (!status) status = ort->get_tensor_mutable_data(value, &data);
    int code = assay__ort_check(ort, status, error, "logits");
    if (code) return code;
    if (shape.rank != 2 && shape.rank != 3)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "logits of %zu axes", shape.rank);
    int64_t rows = shape.rank == 3 ? shape.dims[1] : 1, count = shape.dims[shape.rank - 1];
    int dtype = assay__ort_dtype_of(shape.element);
    if (shape.dims[0] != generation->batch || rows < 1 || count < 1 ||
        (dtype != ASSAY__FLOAT32 && dtype != ASSAY__FLOAT16 && dtype != ASSAY__BFLOAT16))
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "logits of an unexpected shape or type");
    for (int64_t b = 0; b < generation->batch; b++) {
        int64_t at = ((b + 1) * rows - 1) * count;
        int64_t best = dtype == ASSAY__FLOAT32
                           ? likeliest_float((const float *)data + at, count)
                           : likeliest_half((const uint16_t *)data + at, dtype, count);
        generation->chosen[b * generation->plan->tokens + token] = best;
        put_number(generation->ids_data, generation->ids_dtype, (size_t)b, best);
        put_number(generation->positions_data, generation->positions_dtype, (size_t)b,
                   generation->prompt + token);
    }
    generation->choose_ns += assay__now_ns() - start;
    generation->choose_count++;
    return 0;
}

/* The inputs of the run that makes token `token` (from 1): the new id, the caches of the run
 * before. */
static void prepare(struct assay__session *session, struct assay__ort_generation *generation,
                    int64_t token)
{
    OrtValue **swap = generation->before;
    assay__ort_release_values(&session->ort, generation->before, session->output_count);
    generation->before = generation->now;
    generation->now = swap;
    generation->inputs[generation->ids_input] = generation->next_ids;
    if (generation->positions_input != SIZE_MAX)
        generation->inputs[generation->positions_input] = generation->next_positions;
    if (generation->mask_input != SIZE_MAX)
        generation->inputs[generation->mask_input] = generation->masks[token];
    for (size_t i = 0; i < generation->plan->pair_count; i++)
        generation->inputs[generation->past_inputs[i]] =
            generation->before[generation->present_outputs[i]];
}

/* Learned positions are limited: the place of the failure shows whether that was the cause. */
static int run_failed(struct assay__session *session, OrtStatus *status, int64_t token,
                      struct assay_error *error)
{
    const struct assay__ort_generation *generation = session->generation;
    char where[128];
    if (token == 0)
        snprintf(where, sizeof where, "the prompt of %lld tokens", (long long)generation->prompt);
    else
        snprintf(where, sizeof where, "token %lld of %lld, after %lld tokens of context",
                 (long long)(token + 1), (long long)generation->plan->tokens,
                 (long long)(generation->prompt + token));
    return assay__ort_check(&session->ort, status, error, where);
}

int assay__ort_generation_step(struct assay__session *session, struct assay_error *error)
{
    struct assay__ort_generation *generation = session->generation;
    const struct assay__ort *ort = &session->ort;
    int64_t tokens = generation->plan->tokens;
    bool room = generation->recorded < generation->capacity;
    uint64_t *times = generation->times + generation->recorded * (size_t)tokens;
    uint64_t start = assay__now_ns();
    memcpy(generation->inputs, session->input_values,
           session->input_count * sizeof *generation->inputs);
    for (int64_t token = 0; token < tokens; token++) {
        if (token > 0)
            prepare(session, generation, token);
        else
            assay__ort_release_values(ort, generation->now, session->output_count);
        OrtStatus *status = ort->run(session->session, NULL, session->input_names,
                                     (const OrtValue *const *)generation->inputs,
                                     session->input_count, session->output_names,
                                     session->output_count, generation->now);
        int code = status ? run_failed(session, status, token, error) : 0;
        if (!code) code = choose(session, generation, token, error);
        if (code) return code;
        if (room) times[token] = assay__now_ns() - start;
    }
    if (room)
        generation->recorded++;
    else
        generation->dropped++;
    return 0;
}

OrtValue *const *assay__ort_generation_outputs(const struct assay__session *session)
{
    return session->generation->now;
}

int assay__ort_generation_tokens(struct assay__session *session, struct assay__token_times *times,
                                 struct assay_error *error)
{
    struct assay__ort_generation *generation = session->generation;
    if (!generation)
        return assay_error_set(error, ASSAY_EINVAL, "the session was not opened to generate");
    *times = (struct assay__token_times){
        .tokens = generation->plan->tokens,
        .prompt = generation->prompt,
        .batch = generation->batch,
        .generations = generation->recorded,
        .dropped = generation->dropped,
        .ns = generation->times,
        .ids = generation->chosen,
        .choose_ns = generation->choose_count
                         ? (double)generation->choose_ns / (double)generation->choose_count
                         : 0,
    };
    generation->recorded = generation->dropped = 0;
    generation->choose_ns = generation->choose_count = 0;
    return 0;
}
