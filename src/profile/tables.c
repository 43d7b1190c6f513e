/* tables.c - the stored structs, member by member. The order of rows is the order of a report's
 * JSON; the columns' order in the file is schema.sql's. */
#include "profile/tables.h"

#include "base/metric_value.h"

#include <limits.h>

#define F ASSAY__FIELD
/* The column and the JSON key have the member's name. SHOWN: "" in JSON when unknown; COUNT: -1
 * when unknown; AMOUNT: never below 0. */
#define SAME(tag, member) F(tag, member, #member, .json = #member)
#define SHOWN(tag, member) F(tag, member, #member, .json = #member, .empty = ASSAY__EMPTY_SHOWN)
#define COUNT(tag, member) F(tag, member, #member, .json = #member, .unknown = -1)
#define AMOUNT(tag, member) F(tag, member, #member, .json = #member, .range = ASSAY__NOT_NEGATIVE)
/* For a list of texts: offset of their number. */
#define LENGTH(tag, member) .count_offset = offsetof(struct tag, member)
#define TABLE(rows, element, ...)                                                             \
    {                                                                                         \
        .fields = (rows), .count = sizeof(rows) / sizeof((rows)[0]), .size = sizeof(element), \
        .name = __VA_ARGS__                                                                   \
    }

#define RANK_LIMIT 64
#define STREAM_LIMIT 65536
#define SERIES_LIMIT 65536
#define SPAN_LIMIT 1000000
#define PHASE_LIMIT 256
#define LIST_LIMIT 65536
#define COUNTER_LIMIT 1024
#define CEILING_LIMIT 4096
#define THREAD_LIMIT 65535
#define TOKEN_LIMIT 1048576
#define EDGE_LIMIT 4000000
/* A table added after the first files of the schema: all files of the next schema will have it. */
#define SINCE_LATER (ASSAY_SCHEMA_VERSION + 1)

/* One field per line. clang-format would pair short ones. */
/* clang-format off */

/* --- texts ------------------------------------------------------------------------------------ */

static const struct assay__field note_fields[] = {
    F(assay__note_row, text, "text", .empty = ASSAY__EMPTY_NULL),
    F(assay__note_row, subject, "subject", .names = &assay__disturbance_names),
};
static const struct assay__field text_fields[] = {
    {.column = "text", .type = ASSAY__FIELD_TEXT, .empty = ASSAY__EMPTY_KEPT},
};
static const struct assay__field node_fields[] = {
    {.column = "node", .type = ASSAY__FIELD_TEXT, .empty = ASSAY__EMPTY_KEPT},
};
static const struct assay__field name_fields[] = {
    {.column = "name", .type = ASSAY__FIELD_TEXT, .empty = ASSAY__EMPTY_KEPT},
};

const struct assay__field_table assay__stored_note =
    TABLE(note_fields, struct assay__note_row, "notes", .keys = {"profile", "trial", "kind"},
          .position = "position", .since = 1);
const struct assay__field_table assay__stored_evidence =
    TABLE(text_fields, const char *, "evidence", .keys = {"profile", "finding"},
          .position = "position", .whole = true, .since = 1);
const struct assay__field_table assay__stored_layer_origin =
    TABLE(node_fields, const char *, "layer_origins", .keys = {"trial", "layer"},
          .position = "position", .whole = true, .since = 1);
const struct assay__field_table assay__stored_counter_name =
    TABLE(name_fields, const char *, "counter_names", .keys = {"trial"}, .position = "position",
          .whole = true, .limit = COUNTER_LIMIT, .what = "counters");
const struct assay__field_table assay__stored_power_rail =
    TABLE(name_fields, const char *, "power_rails", .keys = {"trial"}, .position = "position",
          .whole = true, .limit = LIST_LIMIT, .what = "rails");

/* --- the profile ------------------------------------------------------------------------------ */

static const struct assay__field profile_fields[] = {
    F(assay_profile, schema, "schema", .least = 1, .most = ASSAY_SCHEMA_VERSION,
      .unknown = ASSAY_SCHEMA_VERSION),
    F(assay_profile, assay_version, "assay_version"),
    SAME(assay_profile, command),
    F(assay_profile, kind, "kind", .names = &assay__kind_names),
    SAME(assay_profile, command_line),
    SAME(assay_profile, created),
    SAME(assay_profile, complete),
    SAME(assay_profile, interrupted),
};
const struct assay__field_table assay__stored_profile =
    TABLE(profile_fields, struct assay_profile, "profiles", .position = "id", .since = 1);

static const struct assay__field plan_fields[] = {
    F(assay__plan, goal, "goal", .names = &assay__goal_names),
    F(assay__plan, slo, "slo"),
    F(assay__plan, slo_metric, "slo_metric", .empty = ASSAY__EMPTY_NULL),
    F(assay__plan, slo_s, "slo_s", .range = ASSAY__POSITIVE),
    F(assay__plan, memory_bytes, "memory_bytes", .range = ASSAY__POSITIVE),
    F(assay__plan, drift_limit, "drift_limit", .range = ASSAY__UNLIMITED),
    F(assay__plan, budget_s, "budget_s"),
    F(assay__plan, configurations, "configurations", .unknown = -1),
};
const struct assay__field_table assay__stored_plan =
    TABLE(plan_fields, struct assay__plan, "plans", .keys = {"profile"});

static const struct assay__field environment_fields[] = {
    SAME(assay__environment, host),
    SAME(assay__environment, os),
    SAME(assay__environment, kernel),
    SAME(assay__environment, architecture),
    F(assay__environment, cpu_model, "cpu_model", .json = "model"), /* from here: in "cpu" */
    F(assay__environment, packages, "packages", .json = "packages", .least = 1),
    F(assay__environment, cores, "cores", .json = "cores", .least = 1),
    F(assay__environment, threads, "threads", .json = "threads", .least = 1),
    F(assay__environment, cpu_max_hz, "cpu_max_hz", .json = "max_hz"),
    SAME(assay__environment, l1d_bytes),
    SAME(assay__environment, l2_bytes),
    SAME(assay__environment, l3_bytes),
    SAME(assay__environment, simd),
    SAME(assay__environment, governor), /* to here */
    SAME(assay__environment, memory_bytes),
    SAME(assay__environment, virtualized),
    SAME(assay__environment, container),
    F(assay__environment, disturbances, NULL, .json = "disturbances",
      LENGTH(assay__environment, disturbance_count)),
    F(assay__environment, unknown, NULL, .json = "unknown",
      LENGTH(assay__environment, unknown_count)),
};
const struct assay__field_table assay__stored_environment =
    TABLE(environment_fields, struct assay__environment, "environments", .keys = {"profile"},
          .since = 1);

static const struct assay__field model_fields[] = {
    SAME(assay__model_info, name),
    SAME(assay__model_info, path),
    SAME(assay__model_info, format),
    SAME(assay__model_info, fingerprint),
    SAME(assay__model_info, sha256),
    COUNT(assay__model_info, parameters),
    COUNT(assay__model_info, weight_bytes),
    F(assay__model_info, node_count, "node_count", .json = "nodes", .unknown = -1),
    F(assay__model_info, ir_version, "ir_version", .json = "ir_version", .least = 1, .unknown = -1),
    SAME(assay__model_info, opset),
    SAME(assay__model_info, producer),
};
const struct assay__field_table assay__stored_model =
    TABLE(model_fields, struct assay__model_info, "models", .keys = {"profile"},
          .position = "id", .since = 1);

static const struct assay__field operator_fields[] = {
    SHOWN(assay__operator_info, op),
    COUNT(assay__operator_info, count),
    SAME(assay__operator_info, flops),
    SAME(assay__operator_info, macs),
    SAME(assay__operator_info, bytes),
};
const struct assay__field_table assay__stored_operator =
    TABLE(operator_fields, struct assay__operator_info, "operators", .keys = {"model"},
          .position = "position", .since = 1);

static const struct assay__field cell_fields[] = {
    F(assay__cell_info, kind, "kind"),
    F(assay__cell_info, form, "form"),
    F(assay__cell_info, steps, "steps", .least = 1, .most = INT_MAX, .unknown = -1),
    F(assay__cell_info, fault, "fault"),
};
const struct assay__field_table assay__stored_cell =
    TABLE(cell_fields, struct assay__cell_info, "cells", .keys = {"model"});

static const struct assay__field cell_group_fields[] = {
    F(assay__cell_group, name, "name"),
    F(assay__cell_group, neurons, "neurons", .most = INT_MAX, .unknown = -1),
    F(assay__cell_group, flops, "flops"),
    F(assay__cell_group, flops_needed, "flops_needed"),
    F(assay__cell_group, state, "state", .names = &assay__state_names),
};
const struct assay__field_table assay__stored_cell_group =
    TABLE(cell_group_fields, struct assay__cell_group, "neuron_groups", .keys = {"model"},
          .position = "position", .limit = ASSAY__CELL_GROUPS);

static const struct assay__field tensor_fields[] = {
    F(assay__tensor_info, name, "name"),
    F(assay__tensor_info, dtype, "dtype"),
    F(assay__tensor_info, rank, "rank", .most = RANK_LIMIT, .unknown = -1),
    F(assay__tensor_info, fill, "fill"),
};
const struct assay__field_table assay__stored_tensor =
    TABLE(tensor_fields, struct assay__tensor_info, "tensors",
          .keys = {"model", "trial", "role"}, .position = "position", .since = 1);

static const struct assay__field dim_fields[] = {
    F(assay__axis_row, size, "size", .unknown = -1),
    F(assay__axis_row, symbol, "symbol"),
};
const struct assay__field_table assay__stored_dim =
    TABLE(dim_fields, struct assay__axis_row, "dims",
          .keys = {"model", "trial", "role", "tensor"}, .position = "axis", .whole = true,
          .since = 1);

static const struct assay__field finding_fields[] = {
    SHOWN(assay__finding, id),
    SHOWN(assay__finding, severity),
    SHOWN(assay__finding, title),
    F(assay__finding, evidence, NULL, .json = "evidence", LENGTH(assay__finding, evidence_count)),
    SAME(assay__finding, advice),
    SAME(assay__finding, expected_gain),
    SAME(assay__finding, verified_gain),
    SAME(assay__finding, energy_saving),
    SAME(assay__finding, effort),
    SAME(assay__finding, state),
    SAME(assay__finding, reason),
    SAME(assay__finding, tried),
    SAME(assay__finding, verified_of),
    SAME(assay__finding, verified_low),
    SAME(assay__finding, verified_high),
    F(assay__finding, verified_smallest, "verified_smallest", .json = "smallest_difference"),
    SAME(assay__finding, verified_energy),
    SAME(assay__finding, verified_energy_low),
    SAME(assay__finding, verified_energy_high),
    F(assay__finding, verified_drift, "verified_drift", .json = "drift_relative_l2"),
    SAME(assay__finding, drift_note),
    F(assay__finding, gain_estimated, "gain_estimated"),
};
const struct assay__field_table assay__stored_finding =
    TABLE(finding_fields, struct assay__finding, "findings", .keys = {"profile"},
          .position = "position", .since = 1);

static const struct assay__field ceiling_fields[] = {
    SHOWN(assay__ceiling_info, device),
    SHOWN(assay__ceiling_info, name),
    /* a share of something not above 0 would be nonsense */
    F(assay__ceiling_info, value, "value", .json = "value", .range = ASSAY__POSITIVE),
    SHOWN(assay__ceiling_info, unit),
    SAME(assay__ceiling_info, low),
    SAME(assay__ceiling_info, high),
    SHOWN(assay__ceiling_info, source),
    SHOWN(assay__ceiling_info, note),
    SAME(assay__ceiling_info, measured_at),
};
const struct assay__field_table assay__stored_ceiling =
    TABLE(ceiling_fields, struct assay__ceiling_info, "ceilings", .keys = {"profile"},
          .position = "position", .limit = CEILING_LIMIT, .what = "ceilings");

/* --- a trial ---------------------------------------------------------------------------------- */

static const struct assay__field layers_fields[] = {
    F(assay__layers, engine_ns, "engine_ns", .json = "engine_us", .divisor = 1e3),
    F(assay__layers, unattributed_ns, "unattributed_ns", .json = "unattributed_us", .divisor = 1e3),
    F(assay__layers, method, "layers_method", .json = "method"), /* from here: "layer_timing" */
    F(assay__layers, reason, "layers_reason", .json = "reason"),
    F(assay__layers, scale_factor, "layers_scale", .json = "scale_factor"),
    F(assay__layers, slowdown, "layers_slowdown", .json = "slowdown"),
    F(assay__layers, spread, "layers_spread", .json = "spread"),
    F(assay__layers, contention, "layers_contention", .json = "contention"),
    F(assay__layers, sessions, "layers_sessions", .json = "sessions"),
    F(assay__layers, discarded, "layers_discarded", .json = "discarded"),
    F(assay__layers, traced_ns, "traced_ns", .json = "traced_us", .divisor = 1e3),
    F(assay__layers, kernels_ns, "kernels_ns", .json = "kernels_us", .divisor = 1e3),
    F(assay__layers, copies_ns, "copies_ns", .json = "copies_us", .divisor = 1e3),
    F(assay__layers, gaps_ns, "gaps_ns", .json = "gaps_us", .divisor = 1e3),
    F(assay__layers, host_ns, "host_ns", .json = "host_us", .divisor = 1e3),
    F(assay__layers, kernel_count, "kernel_count", .json = "kernel_count"),
    F(assay__layers, plain_ns, "plain_ns", .json = "plain_us", .divisor = 1e3),
    F(assay__layers, lasting, "layers_lasting", .json = "lasting"),
};
const struct assay__field_table assay__stored_layers =
    TABLE(layers_fields, struct assay__layers, NULL);

static const struct assay__field trial_fields[] = {
    F(assay__trial, state, "state", .json = "state", .names = &assay__trial_state_names,
      .unknown = ASSAY__TRIAL_RUNNING),
    SAME(assay__trial, reason),
    F(assay__trial, label, "label"),
    F(assay__trial, role, "role", .names = &assay__role_names),
    F(assay__trial, model_id, "model", .least = 1),
    F(assay__trial, target.engine, "engine", .json = "engine"), /* from here: in "target" */
    F(assay__trial, target.engine_version, "engine_version", .json = "engine_version"),
    F(assay__trial, target.engine_library, "engine_library", .json = "library"),
    F(assay__trial, target.device, "device", .json = "device"), /* to here */
    F(assay__trial, target.build, "build"),
    F(assay__trial, target.device_class, "device_class", .names = &assay__device_class_names),
    F(assay__trial, target.software, "software"),
    F(assay__trial, target.threads, "threads", .least = 1, .most = THREAD_LIMIT),
    F(assay__trial, target.threads_default, "threads_default"),
    F(assay__trial, target.optimization, "optimization", .names = &assay__optimization_names),
    F(assay__trial, target.streams, "streams", .least = 1, .most = STREAM_LIMIT),
    F(assay__trial, target.precision, "precision"),
    F(assay__trial, target.spinning_off, "spinning_off"),
    F(assay__trial, target.cpus, "cpus"),
    F(assay__trial, target.chip, "chip"),
    F(assay__trial, target.published, "published"),
    F(assay__trial, target.uncovered, "uncovered"),
    F(assay__trial, protocol.launches, "launches_asked", .least = 1),
    F(assay__trial, protocol.warmup, "warmup_asked", .unknown = -1),
    {.column = "seed", .type = ASSAY__FIELD_INT64, .least = INT64_MIN, /* it has no sign */
     .offset = offsetof(struct assay__trial, protocol.seed)},
    F(assay__trial, protocol.layers, "layers_asked", .names = &assay__layer_method_names),
    F(assay__trial, protocol.watched, "watched"),
    F(assay__trial, generation.tokens, "generated_tokens", .least = 1),
    F(assay__trial, generation.prompt, "prompt_tokens", .least = 1),
    F(assay__trial, real_time.seconds, "seconds_per_inference", .range = ASSAY__POSITIVE),
    F(assay__trial, real_time.sound_samples, "sound_samples", .least = 1, .unknown = -1),
    F(assay__trial, real_time.sound_rate, "sound_rate_hz", .range = ASSAY__POSITIVE),
    F(assay__trial, placement.record, "placement_record"),
    COUNT(assay__trial, batch),
    F(assay__trial, stability.verdict, "stability", .json = "verdict"), /* in "stability" */
    F(assay__trial, stability.reasons, NULL, .json = "reasons",
      LENGTH(assay__trial, stability.reason_count)),
    F(assay__trial, stability.more_iterations, "more_iterations", .json = "more_iterations",
      .unknown = -1),
};
const struct assay__field_table assay__stored_trial =
    TABLE(trial_fields, struct assay__trial, "trials", .keys = {"profile"}, .position = "id",
          .since = 1, .part = &assay__stored_layers,
          .part_offset = offsetof(struct assay__trial, layers));

static const struct assay__field option_fields[] = {
    F(assay__pair, key, "key", .empty = ASSAY__EMPTY_KEPT),
    F(assay__pair, value, "value", .empty = ASSAY__EMPTY_KEPT),
};
const struct assay__field_table assay__stored_option =
    TABLE(option_fields, struct assay__pair, "options", .keys = {"trial"}, .position = "position",
          .whole = true, .since = 1);

static const struct assay__field axis_fields[] = {
    F(assay__axis_value, axis, "axis", .names = &assay__axis_names, .unknown = ASSAY__AXIS_COUNT),
    F(assay__axis_value, value, "value"),
};
const struct assay__field_table assay__stored_axis =
    TABLE(axis_fields, struct assay__axis_value, "axes", .keys = {"trial"}, .position = "position",
          .limit = ASSAY__AXIS_COUNT, .what = "axes");

static const struct assay__field token_fields[] = {
    {.column = "token", .type = ASSAY__FIELD_INT64, .least = INT64_MIN},
};
const struct assay__field_table assay__stored_token =
    TABLE(token_fields, int64_t, "token_ids", .keys = {"trial"}, .position = "position",
          .whole = true, .limit = TOKEN_LIMIT, .what = "token ids");

static const struct assay__field feedback_fields[] = {
    SHOWN(assay__feedback, output),
    SHOWN(assay__feedback, input),
    F(assay__feedback, found, "found", .json = "found", .names = &assay__feedback_names),
};
const struct assay__field_table assay__stored_feedback =
    TABLE(feedback_fields, struct assay__feedback, "feedback", .keys = {"trial"},
          .position = "position", .whole = true, .since = SINCE_LATER, .limit = LIST_LIMIT,
          .what = "states that are fed back");
static const struct assay__field token_time_fields[] = {
    F(assay__token_time, token, "token", .json = "token", .least = 1),
    F(assay__token_time, at_ns, "at_ns", .json = "at_us", .divisor = 1e3,
      .range = ASSAY__NOT_NEGATIVE),
    F(assay__token_time, step_ns, "step_ns", .json = "step_us", .divisor = 1e3,
      .range = ASSAY__NOT_NEGATIVE),
    F(assay__token_time, low_ns, "low_ns", .json = "low_us", .divisor = 1e3,
      .range = ASSAY__NOT_NEGATIVE),
    F(assay__token_time, high_ns, "high_ns", .json = "high_us", .divisor = 1e3,
      .range = ASSAY__NOT_NEGATIVE),
};
const struct assay__field_table assay__stored_token_time =
    TABLE(token_time_fields, struct assay__token_time, "token_times", .keys = {"trial"},
          .position = "position", .since = SINCE_LATER, .limit = ASSAY__TOKEN_TIMES,
          .what = "times of tokens");

#define REQUIRED(kind, name)                                                                      \
    F(assay__requirements, minimum[ASSAY__REQUIRE_##kind], "minimum_" name,                       \
      .range = ASSAY__POSITIVE),                                                                  \
    F(assay__requirements, target[ASSAY__REQUIRE_##kind], "target_" name, .range = ASSAY__POSITIVE)
static const struct assay__field requirement_fields[] = {
    F(assay__requirements, name, "name"),
    F(assay__requirements, chip, "chip"),
    REQUIRED(TFLOPS, "compute"),
    REQUIRED(BANDWIDTH, "bandwidth"),
    REQUIRED(THROUGHPUT, "throughput"),
    REQUIRED(P50, "p50_s"),
    REQUIRED(P99, "p99_s"),
    REQUIRED(MEMORY, "memory_bytes"),
    REQUIRED(POWER, "power_w"),
    F(assay__requirements, batch, "batch", .least = 1),
    F(assay__requirements, backbone_units, "backbone_units", .least = 1),
};
const struct assay__field_table assay__stored_requirements =
    TABLE(requirement_fields, struct assay__requirements, "requirements", .keys = {"trial"});

static const struct assay__field placed_node_fields[] = {
    F(assay__placed_node, node, "node"),
    F(assay__placed_node, op, "op"),
    F(assay__placed_node, provider, "provider"),
    F(assay__placed_node, elsewhere, "elsewhere"),
    F(assay__placed_node, indices, "indices"),
};
const struct assay__field_table assay__stored_placed_node =
    TABLE(placed_node_fields, struct assay__placed_node, "placed_nodes", .keys = {"trial"},
          .position = "position");

static const struct assay__field power_fields[] = {
    F(assay__power_info, gap, "gap", .names = &assay__power_gap_names),
    F(assay__power_info, whole_machine, "whole_machine"),
    F(assay__power_info, temperature, "temperature"),
    F(assay__power_info, frequency, "frequency"),
};
const struct assay__field_table assay__stored_power =
    TABLE(power_fields, struct assay__power_info, "power_info", .keys = {"trial"});

static const struct assay__field power_warning_fields[] = {
    F(assay__power_warning, about, "about"),
    F(assay__power_warning, text, "text"),
};
const struct assay__field_table assay__stored_power_warning =
    TABLE(power_warning_fields, struct assay__power_warning, "power_warnings", .keys = {"trial"},
          .position = "position", .limit = LIST_LIMIT, .what = "warnings of power");

static const struct assay__field launch_fields[] = {
    F(assay__launch, state, "state", .json = "state", .names = &assay__trial_state_names,
      .unknown = ASSAY__TRIAL_RUNNING),
    SAME(assay__launch, reason),
    F(assay__launch, warmup, "warmup", .json = "warmup", .most = INT64_MAX / 2),
    F(assay__launch, streams, "streams", .json = "streams", .least = 1, .most = STREAM_LIMIT,
      .unknown = 1),
    F(assay__launch, wall_ns, "wall_ns"),
    F(assay__launch, p50_ns, "p50_ns", .json = "p50_us", .divisor = 1e3),
    SAME(assay__launch, log_tail),
};
const struct assay__field_table assay__stored_launch =
    TABLE(launch_fields, struct assay__launch, "launches", .keys = {"trial"}, .position = "id",
          .since = 1);

static const struct assay__field metric_fields[] = {
    F(assay_metric, name, "name"), /* the key of its object in JSON */
    SAME(assay_metric, value),
    SHOWN(assay_metric, unit),
    F(assay_metric, state, "state", .json = "state", .names = &assay__state_names),
    SHOWN(assay_metric, source),
    SHOWN(assay_metric, note),
};
const struct assay__field_table assay__stored_metric =
    TABLE(metric_fields, struct assay_metric, "metrics", .keys = {"trial", "launch"},
          .position = "position", .since = 1);

static const struct assay__field layer_fields[] = {
    F(assay__layer, index, "layer", .json = "index"),
    SHOWN(assay__layer, name),
    SHOWN(assay__layer, op),
    SAME(assay__layer, provider),
    F(assay__layer, time_ns, "time_ns", .json = "time_us", .divisor = 1e3),
    SAME(assay__layer, share),
    SAME(assay__layer, flops),
    SAME(assay__layer, bytes),
    SAME(assay__layer, weight_bytes),
    SAME(assay__layer, live_bytes),
    SAME(assay__layer, bound),
    F(assay__layer, state, "state", .json = "state", .names = &assay__state_names),
    SHOWN(assay__layer, method),
    SHOWN(assay__layer, note),
    F(assay__layer, host_enqueue_ns, "host_enqueue_ns", .json = "host_enqueue_us", .divisor = 1e3),
    SAME(assay__layer, inputs),
    SAME(assay__layer, weights),
    SAME(assay__layer, outputs),
    SAME(assay__layer, attributes),
    SAME(assay__layer, kernel_count),
    F(assay__layer, gap_ns, "gap_ns", .json = "gap_us", .divisor = 1e3),
    SAME(assay__layer, kernels),
    F(assay__layer, title, "title"), /* JSON has it last */
    F(assay__layer, from, "from", .json = "from", LENGTH(assay__layer, from_count)),
    F(assay__layer, reads, "reads", LENGTH(assay__layer, read_count)),
    F(assay__layer, makes, "makes", LENGTH(assay__layer, make_count)),
};
const struct assay__field_table assay__stored_layer =
    TABLE(layer_fields, struct assay__layer, "layers", .keys = {"trial"}, .position = "position",
          .since = 1);

static const struct assay__field edge_fields[] = {
    COUNT(assay__edge, producer),
    COUNT(assay__edge, consumer),
    SAME(assay__edge, tensor),
    AMOUNT(assay__edge, bytes),
};
const struct assay__field_table assay__stored_edge =
    TABLE(edge_fields, struct assay__edge, "edges", .keys = {"trial"}, .position = "position",
          .since = SINCE_LATER, .limit = EDGE_LIMIT, .what = "edges");

static const struct assay__field peak_fields[] = {
    SAME(assay__peak, reason),
    SAME(assay__peak, node),
    SAME(assay__peak, op),
    AMOUNT(assay__peak, bytes),
    AMOUNT(assay__peak, body_bytes),
    COUNT(assay__peak, alive),
    AMOUNT(assay__peak, rest_bytes),
};
const struct assay__field_table assay__stored_peak =
    TABLE(peak_fields, struct assay__peak, "peaks", .keys = {"trial"});

static const struct assay__field peak_tensor_fields[] = {
    F(assay__peak_tensor, name, "name", .json = "name", .empty = ASSAY__EMPTY_KEPT),
    SAME(assay__peak_tensor, type),
    AMOUNT(assay__peak_tensor, bytes),
    SAME(assay__peak_tensor, producer),
    SAME(assay__peak_tensor, op),
    SAME(assay__peak_tensor, first),
    SAME(assay__peak_tensor, last),
};
const struct assay__field_table assay__stored_peak_tensor =
    TABLE(peak_tensor_fields, struct assay__peak_tensor, "peak_tensors", .keys = {"trial"},
          .position = "position", .limit = ASSAY__PEAK_TENSORS, .what = "tensors at the peak");

static const struct assay__field series_fields[] = {
    SHOWN(assay__series_info, name),
    SAME(assay__series_info, quantity),
    SAME(assay__series_info, rail),
    SHOWN(assay__series_info, unit),
    SAME(assay__series_info, probe),
    SHOWN(assay__series_info, source),
    F(assay__series_info, state, "state", .json = "state", .names = &assay__state_names),
    SHOWN(assay__series_info, note),
    SAME(assay__series_info, launch),
    SAME(assay__series_info, counter),
    F(assay__series_info, period_s, "update_period_s", .json = "update_period_s",
      .range = ASSAY__POSITIVE),
    F(assay__series_info, period_is_bound, "update_period_is_bound",
      .json = "update_period_is_bound"),
    COUNT(assay__series_info, count),
};
const struct assay__field_table assay__stored_series =
    TABLE(series_fields, struct assay__series_info, "series_info", .keys = {"trial"},
          .position = "position", .limit = SERIES_LIMIT, .what = "series");

static const struct assay__field span_fields[] = {
    SHOWN(assay__span, kind),
    SAME(assay__span, launch),
    F(assay__span, begin_ns, "begin_ns", .json = "begin_s", .divisor = 1e9),
    F(assay__span, end_ns, "end_ns", .json = "end_s", .divisor = 1e9),
    COUNT(assay__span, completions),
};
const struct assay__field_table assay__stored_span =
    TABLE(span_fields, struct assay__span, "spans", .keys = {"trial"}, .position = "position",
          .limit = SPAN_LIMIT, .what = "spans");

/* --- allocations and counters of a trial ------------------------------------------------------ */

static const struct assay__field allocations_fields[] = {
    F(assay__allocations, reason, "reason"),
    SAME(assay__allocations, growth_bytes),
    F(assay__allocations, growth_low, "growth_low_bytes", .json = "growth_low_bytes"),
    F(assay__allocations, growth_high, "growth_high_bytes", .json = "growth_high_bytes"),
    AMOUNT(assay__allocations, heap_bytes),
    AMOUNT(assay__allocations, heap_used_bytes),
    AMOUNT(assay__allocations, slowdown),
};
const struct assay__field_table assay__stored_allocations =
    TABLE(allocations_fields, struct assay__allocations, "allocations", .keys = {"trial"});

static const struct assay__field phase_fields[] = {
    F(assay__allocation_phase, name, "name", .json = "phase", .empty = ASSAY__EMPTY_SHOWN),
    COUNT(assay__allocation_phase, inferences),
    AMOUNT(assay__allocation_phase, count),
    AMOUNT(assay__allocation_phase, bytes),
    AMOUNT(assay__allocation_phase, freed_count),
    AMOUNT(assay__allocation_phase, freed_bytes),
    /* below 0: freed from before */
    SAME(assay__allocation_phase, live_bytes),
    SAME(assay__allocation_phase, peak_live_bytes),
};
const struct assay__field_table assay__stored_phase =
    TABLE(phase_fields, struct assay__allocation_phase, "allocation_phases", .keys = {"trial"},
          .position = "position", .limit = PHASE_LIMIT, .what = "allocation phases");

static const struct assay__field class_fields[] = {
    SHOWN(assay__allocation_class, phase),
    AMOUNT(assay__allocation_class, low_bytes),
    F(assay__allocation_class, high_bytes, "high_bytes", .json = "high_bytes",
      .range = ASSAY__UNLIMITED),
    AMOUNT(assay__allocation_class, count),
    AMOUNT(assay__allocation_class, bytes),
};
const struct assay__field_table assay__stored_class =
    TABLE(class_fields, struct assay__allocation_class, "allocation_classes", .keys = {"trial"},
          .position = "position", .limit = LIST_LIMIT, .what = "allocation classes");

static const struct assay__field site_fields[] = {
    SHOWN(assay__allocation_site, phase),
    SHOWN(assay__allocation_site, site),
    AMOUNT(assay__allocation_site, count),
    AMOUNT(assay__allocation_site, bytes),
    SAME(assay__allocation_site, live_bytes),
};
const struct assay__field_table assay__stored_site =
    TABLE(site_fields, struct assay__allocation_site, "allocation_sites", .keys = {"trial"},
          .position = "position", .limit = LIST_LIMIT, .what = "allocation sites");

static const struct assay__field counter_info_fields[] = {
    F(assay__counter_info, counters, "counters", .most = COUNTER_LIMIT, .unknown = -1),
    F(assay__counter_info, note, "note"),
};
const struct assay__field_table assay__stored_counter_info =
    TABLE(counter_info_fields, struct assay__counter_info, "class_counter_info", .keys = {"trial"});

static const struct assay__field class_counters_fields[] = {
    SHOWN(assay__class_counters, op),
    COUNT(assay__class_counters, layers),
    F(assay__class_counters, time_ns, "time_ns", .json = "time_us", .divisor = 1e3),
};
const struct assay__field_table assay__stored_class_counters =
    TABLE(class_counters_fields, struct assay__class_counters, "class_counters", .keys = {"trial"},
          .position = "position", .limit = LIST_LIMIT, .what = "classes of layers");

static const struct assay__field counter_value_fields[] = {
    {.column = "value", .type = ASSAY__FIELD_REAL},
};
const struct assay__field_table assay__stored_counter_value =
    TABLE(counter_value_fields, double, "class_counter_values", .keys = {"trial", "class"},
          .position = "counter", .whole = true);

/* clang-format on */

#define ROW(NAME) &assay__stored_##NAME,
const struct assay__field_table *const assay__tables[] = {ASSAY__STORED_TABLES(ROW)};
const size_t assay__table_count = sizeof assay__tables / sizeof assay__tables[0];
