/* ort_generate.c - a whole generation as one step: the prompt through the model (prefill), then one
 * token at a time, each run reading the caches written by the previous one.
 *
 * Caches are passed on as the library's own values and never copied here. (On devices other than
 * the CPU, Run() copies outputs to host memory, so the caches cross the bus at every token; the
 * times include it, and the report says so.) The next token is the most likely one at the last
 * position; choosing it is part of the time per token, because a user waits for it. Everything that
 * a step needs is created when the session opens: the mask of every length, the one-token inputs,
 * room for the times. What the library itself allocates per run remains. */
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
    OrtValue **now, **before; /* outputs of this run and of the previous one */
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

static int find_places(struct assay__session *session, struct assay__ort_generation *g,
                       struct assay_error *error)
{
    const struct assay__generation *plan = g->plan;
    const char *const *in = session->input_names, *const *out = session->output_names;
    g->ids_input = index_of(in, session->input_count, plan->ids);
    g->mask_input = index_of(in, session->input_count, plan->mask);
    g->positions_input = index_of(in, session->input_count, plan->positions);
    g->logits_output = index_of(out, session->output_count, plan->logits);
    if (g->ids_input == SIZE_MAX || g->logits_output == SIZE_MAX)
        return assay_error_set(error, ASSAY_EINVAL, "the model has no '%s'",
                               g->ids_input == SIZE_MAX ? plan->ids : plan->logits);
    for (size_t i = 0; i < plan->pair_count; i++) {
        g->past_inputs[i] = index_of(in, session->input_count, plan->past[i]);
        g->present_outputs[i] = index_of(out, session->output_count, plan->present[i]);
        if (g->past_inputs[i] == SIZE_MAX || g->present_outputs[i] == SIZE_MAX)
            return assay_error_set(error, ASSAY_EINVAL, "the model has no cache '%s' with '%s'",
                                   plan->past[i], plan->present[i]);
    }
    const struct assay__host_tensor *ids = &session->inputs[g->ids_input];
    if (ids->rank != 2 || ids->dims[0] < 1 || ids->dims[1] < 1)
        return assay_error_set(error, ASSAY_EINVAL, "the shape of '%s' is not batch x prompt",
                               plan->ids);
    g->batch = ids->dims[0];
    g->prompt = ids->dims[1];
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

static int make_masks(struct assay__session *session, struct assay__ort_generation *g,
                      struct assay_error *error)
{
    const struct assay__generation *plan = g->plan;
    int64_t longest = g->prompt + plan->tokens;
    if (g->mask_input == SIZE_MAX) return 0;
    g->mask_dtype = session->inputs[g->mask_input].dtype;
    switch (g->mask_dtype) {
    case ASSAY__INT64:
    case ASSAY__INT32:
    case ASSAY__FLOAT32:
    case ASSAY__BOOL:
    case ASSAY__INT8:
    case ASSAY__UINT8: break;
    default:
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "the mask '%s' has a type (%d) that is not supported in a generation", plan->mask,
            g->mask_dtype);
    }
    size_t count = (size_t)(g->batch * longest);
    g->ones = assay__arena_array(session->arena, count, 8);
    g->masks = assay__arena_array(session->arena, (size_t)plan->tokens, sizeof *g->masks);
    if (!g->ones || !g->masks) return assay__no_memory(error);
    for (size_t i = 0; i < count; i++)
        put_number(g->ones, g->mask_dtype, i, 1);
    int code = 0;
    for (int64_t k = 1; k < plan->tokens && !code; k++)
        code = make_input(session, plan->mask, g->mask_dtype, g->ones, g->batch, g->prompt + k,
                          &g->masks[k], error);
    return code;
}

static int make_inputs(struct assay__session *session, struct assay__ort_generation *g,
                       struct assay_error *error)
{
    const struct assay__generation *plan = g->plan;
    int64_t batch = g->batch;
    g->ids_dtype = session->inputs[g->ids_input].dtype;
    g->ids_data = assay__arena_array(session->arena, (size_t)batch, 8);
    g->positions_data = assay__arena_array(session->arena, (size_t)batch, 8);
    if (!g->ids_data || !g->positions_data) return assay__no_memory(error);
    int code = make_input(session, plan->ids, g->ids_dtype, g->ids_data, batch, 1, &g->next_ids,
                          error);
    if (!code && g->positions_input != SIZE_MAX) {
        g->positions_dtype = session->inputs[g->positions_input].dtype;
        code = make_input(session, plan->positions, g->positions_dtype, g->positions_data, batch, 1,
                          &g->next_positions, error);
    }
    return code ? code : make_masks(session, g, error);
}

int assay__ort_generation_open(struct assay__session *session, const struct assay__generation *plan,
                               struct assay_error *error)
{
    struct assay__arena *arena = session->arena;
    struct assay__ort_generation *g = assay__arena_alloc(arena, sizeof *g);
    if (!g) return assay__no_memory(error);
    session->generation = g;
    g->plan = plan;
    if (plan->tokens < 1 || session->stream_count != 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a generation has at least one token, in one stream");
    size_t pairs = plan->pair_count + 1, outputs = session->output_count + 1;
    g->past_inputs = assay__arena_array(arena, pairs, sizeof(size_t));
    g->present_outputs = assay__arena_array(arena, pairs, sizeof(size_t));
    g->inputs = assay__arena_array(arena, session->input_count + 1, sizeof *g->inputs);
    g->now = assay__arena_array(arena, outputs, sizeof *g->now);
    g->before = assay__arena_array(arena, outputs, sizeof *g->before);
    if (!g->past_inputs || !g->present_outputs || !g->inputs || !g->now || !g->before)
        return assay__no_memory(error);
    int code = find_places(session, g, error);
    if (code) return code;
    if (plan->tokens > 1 << 20 || g->batch > 1 << 16 || g->prompt > 1 << 24)
        return assay_error_set(error, ASSAY_ELIMIT, "a generation this large is not supported");
    g->capacity = RECORDED_TOKENS / (size_t)plan->tokens + 1;
    g->times = assay__arena_array(arena, g->capacity * (size_t)plan->tokens, sizeof *g->times);
    g->chosen = assay__arena_array(arena, (size_t)(plan->tokens * g->batch), sizeof *g->chosen);
    if (!g->times || !g->chosen) return assay__no_memory(error);
    return make_inputs(session, g, error);
}

void assay__ort_generation_close(struct assay__session *session)
{
    struct assay__ort_generation *g = session->generation;
    const struct assay__ort *ort = &session->ort;
    if (!g) return;
    assay__ort_release_values(ort, g->now, session->output_count);
    assay__ort_release_values(ort, g->before, session->output_count);
    if (g->masks) assay__ort_release_values(ort, g->masks, (size_t)g->plan->tokens);
    assay__ort_release_values(ort, &g->next_ids, 1);
    assay__ort_release_values(ort, &g->next_positions, 1);
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

static float wide(uint16_t half, int dtype)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    if (dtype == ASSAY__FLOAT16) return assay__half_to_float(half);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t likeliest_half(const uint16_t *row, int dtype, int64_t count)
{
    int64_t best = 0;
    float most = wide(row[0], dtype);
    for (int64_t i = 1; i < count; i++) {
        float value = wide(row[i], dtype);
        if (!(value > most)) continue;
        best = i;
        most = value;
    }
    return best;
}

/* The next token of each sequence from the logits of the last position. */
static int choose(struct assay__session *session, struct assay__ort_generation *g, int64_t token,
                  struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    OrtValue *value = g->now[g->logits_output];
    struct assay__ort_shape shape;
    void *data = NULL;
    uint64_t start = assay__now_ns();
    OrtStatus *status = assay__ort_shape_read(ort, value, &shape);
    if (!status) status = ort->get_tensor_mutable_data(value, &data);
    int code = assay__ort_check(ort, status, error, "logits");
    if (code) return code;
    if (shape.rank != 2 && shape.rank != 3)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "logits with %zu axes", shape.rank);
    int64_t rows = shape.rank == 3 ? shape.dims[1] : 1, count = shape.dims[shape.rank - 1];
    int dtype = assay__ort_dtype_of(shape.element);
    if (shape.dims[0] != g->batch || rows < 1 || count < 1 ||
        (dtype != ASSAY__FLOAT32 && dtype != ASSAY__FLOAT16 && dtype != ASSAY__BFLOAT16))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "logits with an unexpected shape or type");
    for (int64_t b = 0; b < g->batch; b++) {
        int64_t at = ((b + 1) * rows - 1) * count;
        int64_t best = dtype == ASSAY__FLOAT32
                           ? likeliest_float((const float *)data + at, count)
                           : likeliest_half((const uint16_t *)data + at, dtype, count);
        g->chosen[b * g->plan->tokens + token] = best;
        put_number(g->ids_data, g->ids_dtype, (size_t)b, best);
        put_number(g->positions_data, g->positions_dtype, (size_t)b, g->prompt + token);
    }
    g->choose_ns += assay__now_ns() - start;
    g->choose_count++;
    return 0;
}

/* The inputs of the run that produces token `token` (from 1): the new id, the caches of the
 * previous run. */
static void prepare(struct assay__session *session, struct assay__ort_generation *g, int64_t token)
{
    OrtValue **swap = g->before;
    assay__ort_release_values(&session->ort, g->before, session->output_count);
    g->before = g->now;
    g->now = swap;
    g->inputs[g->ids_input] = g->next_ids;
    if (g->positions_input != SIZE_MAX) g->inputs[g->positions_input] = g->next_positions;
    if (g->mask_input != SIZE_MAX) g->inputs[g->mask_input] = g->masks[token];
    for (size_t i = 0; i < g->plan->pair_count; i++)
        g->inputs[g->past_inputs[i]] = g->before[g->present_outputs[i]];
}

/* Learned positions are limited: the position of the failure shows whether that was the cause. */
static int run_failed(struct assay__session *session, OrtStatus *status, int64_t token,
                      struct assay_error *error)
{
    const struct assay__ort_generation *g = session->generation;
    char where[128];
    if (token == 0)
        snprintf(where, sizeof where, "the prompt of %lld tokens", (long long)g->prompt);
    else
        snprintf(where, sizeof where, "token %lld of %lld, after %lld tokens of context",
                 (long long)(token + 1), (long long)g->plan->tokens,
                 (long long)(g->prompt + token));
    return assay__ort_check(&session->ort, status, error, where);
}

int assay__ort_generation_step(struct assay__session *session, struct assay_error *error)
{
    struct assay__ort_generation *g = session->generation;
    const struct assay__ort *ort = &session->ort;
    int64_t tokens = g->plan->tokens;
    bool room = g->recorded < g->capacity;
    uint64_t *times = g->times + g->recorded * (size_t)tokens;
    uint64_t start = assay__now_ns();
    memcpy(g->inputs, session->input_values, session->input_count * sizeof *g->inputs);
    for (int64_t token = 0; token < tokens; token++) {
        if (token > 0)
            prepare(session, g, token);
        else
            assay__ort_release_values(ort, g->now, session->output_count);
        OrtStatus *status = ort->run(session->session, NULL, session->input_names,
                                     (const OrtValue *const *)g->inputs, session->input_count,
                                     session->output_names, session->output_count, g->now);
        int code = status ? run_failed(session, status, token, error) : 0;
        if (!code) code = choose(session, g, token, error);
        if (code) return code;
        if (room) times[token] = assay__now_ns() - start;
    }
    if (room)
        g->recorded++;
    else
        g->dropped++;
    return 0;
}

OrtValue *const *assay__ort_generation_outputs(const struct assay__session *session)
{
    return session->generation->now;
}

int assay__ort_generation_tokens(struct assay__session *session, struct assay__token_times *times,
                                 struct assay_error *error)
{
    struct assay__ort_generation *g = session->generation;
    if (!g) return assay_error_set(error, ASSAY_EINVAL, "the session was not opened to generate");
    *times = (struct assay__token_times){
        .tokens = g->plan->tokens,
        .prompt = g->prompt,
        .batch = g->batch,
        .generations = g->recorded,
        .dropped = g->dropped,
        .ns = g->times,
        .ids = g->chosen,
        .choose_ns = g->choose_count ? (double)g->choose_ns / (double)g->choose_count : 0,
    };
    g->recorded = g->dropped = 0;
    g->choose_ns = g->choose_count = 0;
    return 0;
}
