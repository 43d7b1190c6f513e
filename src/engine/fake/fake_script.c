/* fake_script.c - reads the fake engine's script, "key=value; key=value", into its session. The
 * grammar is in doc/fake-engine.md and in `keys` below; noise keys are in fake_noise.c. */
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

/* An item of the script and where it goes in the session. */
struct setting {
    struct assay__session *session;
    char *value;
    void *field, *other;
};

static int duration_parse(const char *text, uint64_t *duration_ns)
{
    double seconds = 0;
    int code = assay__text_duration_s(text, &seconds);
    if (code || !(seconds >= 0 && seconds <= DURATION_MAX_S)) return ASSAY_EINVAL;
    *duration_ns = (uint64_t)llround(seconds * 1e9);
    return 0;
}

static int set_duration(const struct setting *s)
{
    return duration_parse(s->value, s->field);
}

/* As a double: NaN unless given in the script. */
static int set_optional(const struct setting *s)
{
    uint64_t duration_ns = 0;
    int code = duration_parse(s->value, &duration_ns);
    if (code == 0) *(double *)s->field = (double)duration_ns;
    return code;
}

/* "5x200us": a count and a duration */
static int set_repeat(const struct setting *s)
{
    int64_t *count = s->field;
    char *times = strchr(s->value, 'x');
    if (!times) return ASSAY_EINVAL;
    *times = '\0';
    if (assay__text_int64(s->value, count) || *count < 1) return ASSAY_EINVAL;
    return duration_parse(times + 1, s->other);
}

/* "90us,110us": durations and their count */
static int set_list(const struct setting *s)
{
    uint64_t *list = s->field;
    size_t *count = s->other;
    char *save = NULL;
    *count = 0;
    for (char *item = strtok_r(s->value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (*count == ASSAY__FAKE_STEADY_MOST) return ASSAY_ELIMIT;
        int code = duration_parse(item, &list[(*count)++]);
        if (code) return code;
    }
    return *count ? 0 : ASSAY_EINVAL;
}

static int set_step(const struct setting *s)
{
    int64_t *out = s->field;
    return assay__text_int64(s->value, out) || *out < 1 ? ASSAY_EINVAL : 0;
}

static int set_bytes(const struct setting *s)
{
    double *out = s->field;
    return assay__text_double(s->value, out) || !(*out >= 0) ? ASSAY_EINVAL : 0;
}

static int set_text(const struct setting *s)
{
    const char **out = s->field;
    *out = assay__arena_strdup(s->session->arena, s->value);
    return *out ? 0 : ASSAY_ENOMEM;
}

static int set_clock(const struct setting *s)
{
    bool *real = s->field;
    *real = strcmp(s->value, "real") == 0;
    return *real || strcmp(s->value, "scripted") == 0 ? 0 : ASSAY_EINVAL;
}

static int set_first(const struct setting *s)
{
    s->session->has_first = true;
    return set_duration(s);
}

static int set_seed(const struct setting *s)
{
    int64_t seed = 0;
    int code = assay__text_int64(s->value, &seed);
    s->session->seed = (uint64_t)seed;
    return code;
}

static int set_threads(const struct setting *s)
{
    int64_t threads = 0;
    int code = set_step(&(struct setting){.value = s->value, .field = &threads});
    s->session->threads = (int)(threads < 4096 ? threads : 4096);
    return code;
}

static int set_output(const struct setting *s)
{
    double *times = s->field;
    *times = NAN;
    return strcmp(s->value, "nan") == 0 ? 0 : assay__text_double(s->value, times);
}

/* "conv1:60us:Conv": name, time or "-" for unavailable, operator (defaults to the name) */
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
    *layer = assay__layer_unknown();
    layer->name = assay__arena_strdup(session->arena, item);
    layer->op = assay__arena_strdup(session->arena, op && *op ? op : item);
    layer->from = assay__arena_array(session->arena, 1, sizeof *layer->from);
    if (!layer->from || !layer->name || !layer->op) return ASSAY_ENOMEM;
    layer->from[0] = layer->name;
    layer->from_count = 1;
    layer->provider = "fake";
    layer->state = known ? ASSAY_MEASURED : ASSAY_UNAVAILABLE;
    if (known)
        layer->time_ns = (double)time_ns;
    else
        layer->note = "the script gives no time for this layer";
    return 0;
}

static int set_layers(const struct setting *s)
{
    struct assay__session *session = s->session;
    char *save = NULL;
    session->layers = assay__arena_array(session->arena, LAYER_MAX, sizeof *session->layers);
    session->layer_count = 0;
    if (!session->layers) return ASSAY_ENOMEM;
    for (char *item = strtok_r(s->value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (session->layer_count == LAYER_MAX) return ASSAY_ELIMIT;
        int code = layer_parse(session, item, &session->layers[session->layer_count++]);
        if (code) return code;
    }
    return session->layer_count ? 0 : ASSAY_EINVAL;
}

/* "TIMES:PLUS" */
static int set_state(const struct setting *s)
{
    char *colon = strchr(s->value, ':');
    if (!colon) return ASSAY_EINVAL;
    *colon++ = '\0';
    int code = assay__text_double(s->value, s->field);
    return code ? code : assay__text_double(colon, s->other);
}

/* For others to read: what counters count is for those who replace their system calls
 * (run/watch/counters_fake.c). */
static int leave(const struct setting *s)
{
    return *s->value ? 0 : ASSAY_EINVAL;
}

/* --- the script ------------------------------------------------------------------------------- */

#define FIELD(member) offsetof(struct assay__session, member)

static const struct script_key {
    const char *name;
    int (*set)(const struct setting *setting);
    size_t field, other; /* in the session; 0: handled by `set`, or there is none */
} keys[] = {
    {"clock", set_clock, FIELD(real_clock), 0},
    {"load", set_optional, FIELD(load_ns), 0},
    {"compile", set_optional, FIELD(compile_ns), 0},
    {"first", set_first, FIELD(first_ns), 0},
    {"warmup", set_repeat, FIELD(warmup_count), FIELD(warmup_ns)},
    {"steady", set_list, FIELD(steady_ns), FIELD(steady_count)},
    {"spike", set_repeat, FIELD(spike_every), FIELD(spike_ns)},
    {"noise", set_duration, FIELD(noise_ns), 0},
    {"drift", set_duration, FIELD(drift_ns), 0},
    {"seed", set_seed, 0, 0},
    {"pace", set_duration, FIELD(pace_ns), 0},
    {"crash_at", set_step, FIELD(crash_at), 0},
    {"hang_at", set_step, FIELD(hang_at), 0},
    {"oom_at", set_step, FIELD(oom_at), 0},
    {"exit_at", set_step, FIELD(exit_at), 0},
    {"error_at", set_step, FIELD(error_at), 0},
    {"layers", set_layers, 0, 0},
    {"engine", set_optional, FIELD(engine_ns), 0},
    {"layers_error", set_text, FIELD(layers_error), 0},
    {"open_error", set_text, FIELD(open_error), 0},
    {"log", set_text, FIELD(log), 0},
    {"hardware", set_text, FIELD(hardware), 0},
    {"memory", set_bytes, FIELD(memory_bytes), 0},
    {"memory_peak", set_bytes, FIELD(memory_peak_bytes), 0},
    {"hold", set_bytes, FIELD(hold_bytes), 0},
    {"allocate", set_bytes, FIELD(allocate_bytes), 0},
    {"leak", set_bytes, FIELD(leak_bytes), 0},
    {"leak_until", set_step, FIELD(leak_until), 0},
    {"threads", set_threads, 0, 0},
    {"decode", set_list, FIELD(decode_ns), FIELD(decode_count)},
    {"choose", set_duration, FIELD(choose_ns), 0},
    {"prompt", set_step, FIELD(prompt), 0},
    {"counts", leave, 0, 0},
    {"counts_running", leave, 0, 0},
    {"counts_gone", leave, 0, 0},
    {"counts_back", leave, 0, 0},
    {"output", set_output, FIELD(output_times), 0},
    {"state", set_state, FIELD(state_times), FIELD(state_plus)},
    {"gone", leave, 0, 0}, /* fake_devices.c looks at it */
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
    int code;
    if (i < sizeof keys / sizeof keys[0])
        code = keys[i].set(&(struct setting){session, value, (char *)session + keys[i].field,
                                             (char *)session + keys[i].other});
    else
        code = assay__fake_noise_set(&session->noise, item, value);
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

/* `when_threads=2:steady=50us` means `steady=50us` in a session with two threads and nothing in
 * others; the same for `when_batch` (the first dimension of the first input), `when_opt`,
 * `when_spinning` (off) and `when_model` (a part of the model's path). So a test can make a change
 * of options help, hurt, fail or alter the outputs. Any other item is left as it is and refused by
 * the parser. */
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
    return chosen ? chosen : script; /* whose items are then refused */
}
