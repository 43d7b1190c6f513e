/* messages.c - the field tables of the worker's messages. Layers and allocations use the tables of
 * the profile (profile/tables.h). */
#include "run/worker/messages.h"

#include "run/watch/counters.h"
#include "run/watch/memory_track.h"
#include "run/worker/channel.h"
#include "run/worker/job.h"

#define SEND_TIMEOUT_MS 60000

struct assay__json_writer *assay__message_open(struct assay__message *message, const char *key)
{
    *message = (struct assay__message){0};
    assay__json_start(&message->writer, &message->text, false);
    assay__json_object(&message->writer);
    assay__json_key(&message->writer, key);
    return &message->writer;
}

int assay__message_send(struct assay__message *message, struct assay__channel *channel,
                        struct assay_error *error)
{
    assay__json_object_end(&message->writer);
    int code = assay__channel_send(channel, &message->text, SEND_TIMEOUT_MS);
    assay__buf_free(&message->text);
    return code ? assay_error_set(error, code, "the parent process is gone") : 0;
}

void assay__message_put(struct assay__json_writer *out, const struct assay__field_table *table,
                        const void *element)
{
    assay__json_object(out);
    assay__fields_send(out, table, element);
    assay__json_object_end(out);
}

int assay__message_send_fields(struct assay__channel *channel, const char *key,
                               const struct assay__field_table *table, const void *element,
                               struct assay_error *error)
{
    struct assay__message message;
    assay__message_put(assay__message_open(&message, key), table, element);
    return assay__message_send(&message, channel, error);
}

int assay__message_send_done(struct assay__channel *channel, struct assay_error *error)
{
    struct assay__message message;
    assay__json_bool(assay__message_open(&message, "done"), true);
    return assay__message_send(&message, channel, error);
}

#define F ASSAY__FIELD
#define SAME(tag, member) F(tag, member, #member)
#define TABLE(rows, element)                                                                 \
    {                                                                                        \
        .fields = (rows), .count = sizeof(rows) / sizeof((rows)[0]), .size = sizeof(element) \
    }

/* One field per line. clang-format would pair short ones. */
/* clang-format off */

static const struct assay__field job_fields[] = {
    F(assay__job, engine, "engine", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, model, "model", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, library, "library", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, device, "device", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, optimization, "optimization", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, cpus, "cpus", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, script, "script", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, outputs, "outputs", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, keep, "keep", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, timeline, "timeline", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, provider_options, "provider_options", .empty = ASSAY__EMPTY_NULL),
    F(assay__job, model_name, "model_name", .empty = ASSAY__EMPTY_NULL),
    SAME(assay__job, threads),
    F(assay__job, streams, "streams", .least = 1, .unknown = 1),
    F(assay__job, spinning, "spinning", .unknown = -1),
    F(assay__job, warmup, "warmup", .unknown = -1),
    SAME(assay__job, layers),
    SAME(assay__job, alternate),
    SAME(assay__job, counters),
    SAME(assay__job, allocations),
    SAME(assay__job, strict),
};
const struct assay__field_table assay__message_job = TABLE(job_fields, struct assay__job);

static const struct assay__field generation_fields[] = {
    SAME(assay__generation, tokens),
    F(assay__generation, ids, "ids", .empty = ASSAY__EMPTY_NULL),
    F(assay__generation, mask, "mask", .empty = ASSAY__EMPTY_NULL),
    F(assay__generation, positions, "positions", .empty = ASSAY__EMPTY_NULL),
    F(assay__generation, logits, "logits", .empty = ASSAY__EMPTY_NULL),
    F(assay__generation, past, "past",
      .count_offset = offsetof(struct assay__generation, pair_count)),
    F(assay__generation, present, "present",
      .count_offset = offsetof(struct assay__generation, pair_count)),
};
const struct assay__field_table assay__message_generation =
    TABLE(generation_fields, struct assay__generation);

static const struct assay__field facts_fields[] = {
    SAME(assay__worker_facts, load_ns),
    SAME(assay__worker_facts, compile_ns),
    SAME(assay__worker_facts, create_ns),
    SAME(assay__worker_facts, first_ns),
    SAME(assay__worker_facts, loop_ns),
    SAME(assay__worker_facts, clock_ns),
    SAME(assay__worker_facts, clock_step_ns),
    SAME(assay__worker_facts, load_reason),
    SAME(assay__worker_facts, version),
    SAME(assay__worker_facts, library),
    SAME(assay__worker_facts, provider),
    SAME(assay__worker_facts, hardware),
    SAME(assay__worker_facts, threads),
};
const struct assay__field_table assay__message_facts =
    TABLE(facts_fields, struct assay__worker_facts);

static const struct assay__field memory_fields[] = {
    SAME(assay__worker_memory, baseline),
    SAME(assay__worker_memory, rss),
    SAME(assay__worker_memory, peak),
    SAME(assay__worker_memory, pss),
    SAME(assay__worker_memory, arena),
    SAME(assay__worker_memory, arena_peak),
};
const struct assay__field_table assay__message_memory =
    TABLE(memory_fields, struct assay__worker_memory);

static const struct assay__field spent_fields[] = {
    SAME(assay__worker_spent, open_ns),
    SAME(assay__worker_spent, steps_ns),
    SAME(assay__worker_spent, layers_ns),
};
const struct assay__field_table assay__message_spent =
    TABLE(spent_fields, struct assay__worker_spent);

static const struct assay__field state_fields[] = {
    SAME(assay__worker_state, nonfinite),
    SAME(assay__worker_state, outputs_nonfinite),
};
const struct assay__field_table assay__message_state =
    TABLE(state_fields, struct assay__worker_state);

static const struct assay__field event_fields[] = {
    SAME(assay__counted_event, name),
    SAME(assay__counted_event, source),
    SAME(assay__counted_event, reason),
    SAME(assay__counted_event, user_only),
    SAME(assay__counted_event, grown),
    SAME(assay__counted_event, share),
    SAME(assay__counted_event, wall_ns),
    F(assay__counted_event, completions, "completions", .least = INT64_MIN), /* checked by hand */
};
const struct assay__field_table assay__message_event =
    TABLE(event_fields, struct assay__counted_event);

static const struct assay__field tracked_fields[] = {
    SAME(assay__tracked, growth_smallest),
    SAME(assay__tracked, growth_every),
    SAME(assay__tracked, growth_total),
    SAME(assay__tracked, growth_flat),
    SAME(assay__tracked, growth_settled),
    SAME(assay__tracked, marks),
    SAME(assay__tracked, dropped),
    SAME(assay__tracked, arena_allocations),
    SAME(assay__tracked, arena_extensions),
    SAME(assay__tracked, arena_held),
};
const struct assay__field_table assay__message_tracked = {
    .fields = tracked_fields,
    .count = sizeof tracked_fields / sizeof tracked_fields[0],
    .part = &assay__stored_allocations,
    .part_offset = offsetof(struct assay__tracked, seen),
    .size = sizeof(struct assay__tracked),
};

static const struct assay__field device_fields[] = {
    SAME(assay__device, name),
    SAME(assay__device, kind),
    SAME(assay__device, engine),
    SAME(assay__device, library),
    SAME(assay__device, available),
    SAME(assay__device, reason),
    SAME(assay__device, version),
    SAME(assay__device, hardware),
    SAME(assay__device, software),
    SAME(assay__device, note),
    F(assay__device, offered, "offered", .unknown = true),
};
const struct assay__field_table assay__message_device = TABLE(device_fields, struct assay__device);
