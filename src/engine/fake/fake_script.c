/* fake_script.c - reads the fake engine's script, "key=value; key=value", into its session. The
 * grammar is in doc/fake-engine.md and in `keys` below; keys of noise are fake_noise.c's. */
#include "engine/fake/fake.h"

#include "base/buf.h"
#include "base/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LAYER_MAX 1024
#define DURATION_MAX_S 1e6

/* --- values ----------------------------------------------------------------------------------- */

static int duration_parse(const char *text, uint64_t *duration_ns)
{
    double seconds = 0;
    int code = assay__text_duration_s(text, &seconds);
    if (code || !(seconds >= 0 && seconds <= DURATION_MAX_S)) return ASSAY_EINVAL;
    *duration_ns = (uint64_t)llround(seconds * 1e9);
    return 0;
}

/* "5x200us" */
static int repeat_parse(char *text, int64_t *count, uint64_t *duration_ns)
{
    char *times = strchr(text, 'x');
    if (!times) return ASSAY_EINVAL;
    *times = '\0';
    if (assay__text_int64(text, count) || *count < 1) return ASSAY_EINVAL;
    return duration_parse(times + 1, duration_ns);
}

static int set_duration(struct assay__session *session, char *value, void *field)
{
    (void)session;
    return duration_parse(value, field);
}

/* As a double: NaN until the script says it. */
static int set_optional(struct assay__session *session, char *value, void *field)
{
    uint64_t duration_ns = 0;
    (void)session;
    int code = duration_parse(value, &duration_ns);
    if (code == 0) *(double *)field = (double)duration_ns;
    return code;
}

static int set_step(struct assay__session *session, char *value, void *field)
{
    int64_t *out = field;
    (void)session;
    return assay__text_int64(value, out) || *out < 1 ? ASSAY_EINVAL : 0;
}

static int set_bytes(struct assay__session *session, char *value, void *field)
{
    double *out = field;
    (void)session;
    return assay__text_double(value, out) || !(*out >= 0) ? ASSAY_EINVAL : 0;
}

static int set_text(struct assay__session *session, char *value, void *field)
{
    const char **out = field;
    *out = assay__arena_strdup(session->arena, value);
    return *out ? 0 : ASSAY_ENOMEM;
}

/* --- other values ----------------------------------------------------------------- */

static int on_clock(struct assay__session *session, char *value, void *field)
{
    (void)field;
    session->real_clock = strcmp(value, "real") == 0;
    return session->real_clock || strcmp(value, "scripted") == 0 ? 0 : ASSAY_EINVAL;
}

static int on_first(struct assay__session *session, char *value, void *field)
{
    session->has_first = true;
    return duration_parse(value, field);
}

static int on_warmup(struct assay__session *session, char *value, void *field)
{
    (void)field;
    return repeat_parse(value, &session->warmup_count, &session->warmup_ns);
}

static int on_spike(struct assay__session *session, char *value, void *field)
{
    (void)field;
    return repeat_parse(value, &session->spike_every, &session->spike_ns);
}

static int list_parse(char *value, uint64_t *out, size_t *count)
{
    char *save = NULL;
    *count = 0;
    for (char *item = strtok_r(value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (*count == ASSAY__FAKE_STEADY_MOST) return ASSAY_ELIMIT;
        int code = duration_parse(item, &out[(*count)++]);
        if (code) return code;
    }
    return *count ? 0 : ASSAY_EINVAL;
}

static int on_steady(struct assay__session *session, char *value, void *field)
{
    return list_parse(value, field, &session->steady_count);
}

static int on_decode(struct assay__session *session, char *value, void *field)
{
    return list_parse(value, field, &session->decode_count);
}

static int on_seed(struct assay__session *session, char *value, void *field)
{
    int64_t seed = 0;
    (void)field;
    int code = assay__text_int64(value, &seed);
    session->seed = (uint64_t)seed;
    return code;
}

static int on_threads(struct assay__session *session, char *value, void *field)
{
    int64_t threads = 0;
    (void)field;
    int code = set_step(session, value, &threads);
    session->threads = (int)(threads < 4096 ? threads : 4096);
    return code;
}

static int on_output(struct assay__session *session, char *value, void *field)
{
    (void)field;
    session->output_times = NAN;
    return strcmp(value, "nan") == 0 ? 0 : assay__text_double(value, &session->output_times);
}

/* "conv1:60us:Conv": name, time or "-" for unavailable, operator (the name when left out) */
static int layer_parse(struct assay__session *session, char *item, struct assay__layer *layer)
{
    char *time = strchr(item, ':');
    if (!time || time == item) return ASSAY_EINVAL;
    *time++ = '\0';
    char *op = strchr(time, ':');
    if (op) *op++ = '\0';
    uint64_t time_ns = 0;
    bool known = strcmp(time, "-") != 0;
    if (known && duration_parse(time, &time_ns)) return ASSAY_EINVAL;
    const char **from = assay__arena_array(session->arena, 1, sizeof *from);
    *layer = assay__layer_unknown();
    layer->name = assay__arena_strdup(session->arena, item);
    layer->op = assay__arena_strdup(session->arena, op && *op ? op : item);
    if (!from || !layer->name || !layer->op) return ASSAY_ENOMEM;
    from[0] = layer->name;
    layer->provider = "fake";
    if (known) layer->time_ns = (double)time_ns;
    layer->state = known ? ASSAY_MEASURED : ASSAY_UNAVAILABLE;
    if (!known) layer->note = "the script gives no time for this layer";
    layer->from = from;
    layer->from_count = 1;
    return 0;
}

static int on_layers(struct assay__session *session, char *value, void *field)
{
    (void)field;
    char *save = NULL;
    session->layers = assay__arena_array(session->arena, LAYER_MAX, sizeof *session->layers);
    session->layer_count = 0;
    if (!session->layers) return ASSAY_ENOMEM;
    for (char *item = strtok_r(value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (session->layer_count == LAYER_MAX) return ASSAY_ELIMIT;
        int code = layer_parse(session, item, &session->layers[session->layer_count++]);
        if (code) return code;
    }
    return session->layer_count ? 0 : ASSAY_EINVAL;
}

/* What counters count is for those who replace their system calls (run/watch/counters_fake.c). */
static int on_counts(struct assay__session *session, char *value, void *field)
{
    (void)session, (void)field;
    return *value ? 0 : ASSAY_EINVAL;
}

/* --- the script ------------------------------------------------------------------------------- */

#define FIELD(member) offsetof(struct assay__session, member)

static const struct script_key {
    const char *name;
    int (*set)(struct assay__session *session, char *value, void *field);
    size_t offset; /* of the field in the session; 0: `set` knows it */
} keys[] = {
    {"clock", on_clock, 0},
    {"load", set_optional, FIELD(load_ns)},
    {"compile", set_optional, FIELD(compile_ns)},
    {"first", on_first, FIELD(first_ns)},
    {"warmup", on_warmup, 0},
    {"steady", on_steady, FIELD(steady_ns)},
    {"spike", on_spike, 0},
    {"noise", set_duration, FIELD(noise_ns)},
    {"drift", set_duration, FIELD(drift_ns)},
    {"seed", on_seed, 0},
    {"pace", set_duration, FIELD(pace_ns)},
    {"crash_at", set_step, FIELD(crash_at)},
    {"hang_at", set_step, FIELD(hang_at)},
    {"oom_at", set_step, FIELD(oom_at)},
    {"exit_at", set_step, FIELD(exit_at)},
    {"error_at", set_step, FIELD(error_at)},
    {"layers", on_layers, 0},
    {"engine", set_optional, FIELD(engine_ns)},
    {"layers_error", set_text, FIELD(layers_error)},
    {"open_error", set_text, FIELD(open_error)},
    {"log", set_text, FIELD(log)},
    {"memory", set_bytes, FIELD(memory_bytes)},
    {"memory_peak", set_bytes, FIELD(memory_peak_bytes)},
    {"hold", set_bytes, FIELD(hold_bytes)},
    {"allocate", set_bytes, FIELD(allocate_bytes)},
    {"leak", set_bytes, FIELD(leak_bytes)},
    {"leak_until", set_step, FIELD(leak_until)},
    {"threads", on_threads, 0},
    {"decode", on_decode, FIELD(decode_ns)},
    {"choose", set_duration, FIELD(choose_ns)},
    {"prompt", set_step, FIELD(prompt)},
    {"counts", on_counts, 0},
    {"counts_running", on_counts, 0},
    {"counts_gone", on_counts, 0},
    {"counts_back", on_counts, 0},
    {"output", on_output, 0},
    {"gone", on_counts, 0}, /* fake_devices.c looks at it */
};

static int script_item(struct assay__session *session, char *item, struct assay_error *error)
{
    item += strspn(item, " \t\n");
    for (size_t length = strlen(item); length > 0 && strchr(" \t\n", item[length - 1]); length--)
        item[length - 1] = '\0';
    if (!*item) return 0;
    char *value = strchr(item, '=');
    if (!value)
        return assay_error_set(error, ASSAY_EINVAL, "fake engine's script: \"%s\" is not key=value",
                               item);
    *value++ = '\0';
    char shown[64];
    snprintf(shown, sizeof shown, "%s", value);
    size_t i = 0;
    while (i < sizeof keys / sizeof keys[0] && strcmp(keys[i].name, item) != 0)
        i++;
    int code = i < sizeof keys / sizeof keys[0]
                   ? keys[i].set(session, value, (char *)session + keys[i].offset)
                   : assay__fake_noise_set(&session->noise, item, value);
    if (code == ASSAY_ENOTFOUND)
        return assay_error_set(error, ASSAY_EINVAL, "fake engine's script: unknown key \"%s\"",
                               item);
    return code ? assay_error_set(error, code, "fake engine's script: %s cannot be \"%s\"", item,
                                  shown)
                : 0;
}

int assay__fake_script_parse(struct assay__session *session, const char *script,
                             struct assay_error *error)
{
    char *copy = assay__arena_strdup(session->arena, script);
    char *save = NULL;
    if (!copy) return assay__no_memory(error);
    for (char *item = strtok_r(copy, ";", &save); item; item = strtok_r(NULL, ";", &save)) {
        int code = script_item(session, item, error);
        if (code) return code;
    }
    return 0;
}

/* --- conditions ------------------------------------------------------------------------------- */

/* `when_threads=2:steady=50us` is `steady=50us` in a session of two threads and nothing in another
 * one; the same with `when_batch` (the first dimension of the first input), `when_opt`,
 * `when_spinning` (off) and `when_model` (a part of the model's path). So a test can make a change
 * of the options help, hurt, fail or alter the outputs. An item that is none of these is left as it
 * is: the reader refuses it. */
static bool is_now(const char *what, const char *value,
                   const struct assay__session_options *options, bool *known)
{
    char number[32] = "";
    *known = true;
    if (strcmp(what, "when_threads") == 0) {
        snprintf(number, sizeof number, "%d", options->threads);
        return strcmp(number, value) == 0;
    }
    if (strcmp(what, "when_batch") == 0) {
        if (!options->input_count || options->inputs[0].rank < 1) return false;
        snprintf(number, sizeof number, "%lld", (long long)options->inputs[0].dims[0]);
        return strcmp(number, value) == 0;
    }
    if (strcmp(what, "when_opt") == 0)
        return strcmp(options->optimization ? options->optimization : "all", value) == 0;
    if (strcmp(what, "when_spinning") == 0)
        return strcmp(options->spinning == 0 ? "off" : "on", value) == 0;
    if (strcmp(what, "when_model") == 0)
        return options->model_path && strstr(options->model_path, value) != NULL;
    *known = false;
    return false;
}

const char *assay__fake_script_for(struct assay__arena *arena,
                                   const struct assay__session_options *options)
{
    const char *script = options->script ? options->script : "";
    if (!strstr(script, "when_")) return script;
    struct assay__buf out = {0};
    for (const char *at = script; *at;) {
        size_t length = strcspn(at, ";");
        char copy[256];
        size_t skip = strspn(at, " \t\n");
        if (skip > length) skip = length;
        snprintf(copy, sizeof copy, "%.*s", (int)(length - skip < 255 ? length - skip : 255),
                 at + skip);
        char *value = strchr(copy, '='), *then = value ? strchr(value, ':') : NULL;
        bool known = false, now = false;
        if (strncmp(copy, "when_", 5) == 0 && then && length - skip < sizeof copy) {
            *value++ = '\0';
            *then++ = '\0';
            now = is_now(copy, value, options, &known);
        }
        if (!known)
            assay__buf_printf(&out, "%.*s;", (int)length, at);
        else if (now)
            assay__buf_printf(&out, "%s;", then);
        at += length;
        at += *at == ';';
    }
    const char *chosen = assay__buf_keep(&out, arena);
    return chosen ? chosen : script; /* whose items are refused then */
}
