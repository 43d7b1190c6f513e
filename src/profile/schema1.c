/* schema1.c - reads the texts in which a profile of schema 1 stores its facts: options ("2
 * (engine's default)"), labels ("batch=8 threads=2"), notes ("on CPUExecutionProvider: a (Softmax);
 * b (Gather)"). No other file may. The profile is untrusted: a text of another form is an unknown
 * fact. A node whose name contains "; " is cut there, which is why later profiles have rows. */
#include "profile/schema1.h"

#include "base/text.h"
#include "profile/trial_values.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MOST 1048576 /* tokens of a generation */

/* Running out of memory is recorded in the profile's arena. */
struct reading {
    struct assay_profile *profile;
    struct assay__trial *trial;
};

static const char *option(const struct reading *r, const char *key)
{
    const char *value = assay__trial_option(r->trial, key);
    return value ? value : "";
}

static bool is_option(const struct reading *r, const char *key, const char *value)
{
    return strcmp(option(r, key), value) == 0;
}

/* A whole number of at least `least`; else `otherwise`. */
static int64_t integer(const struct reading *r, const char *key, int64_t least, int64_t otherwise)
{
    int64_t value = 0;
    return assay__text_int64(option(r, key), &value) == 0 && value >= least ? value : otherwise;
}

/* A count; 0 if the text is not one. */
static int count(const struct reading *r, const char *key)
{
    int64_t value = integer(r, key, 1, 0);
    return value <= INT_MAX ? (int)value : 0;
}

static double number(const struct reading *r, const char *key)
{
    return assay__axis_number(option(r, key));
}

static const char *copy(struct reading *r, const char *text, size_t length)
{
    const char *made = assay__arena_strndup(r->profile->arena, text, length);
    return made ? made : "";
}

static void *array(struct reading *r, size_t count, size_t size)
{
    return assay__arena_array(r->profile->arena, count, size);
}

/* --- the target ------------------------------------------------------------------------------- */

/* The devices that assay 0.1 knew, by the beginning of their names. */
static const struct {
    const char *begins;
    enum assay__device_class device_class;
} devices[] = {
    {"cpu", ASSAY__CLASS_CPU},          {"xnnpack", ASSAY__CLASS_CPU},
    {"openvino:cpu", ASSAY__CLASS_CPU}, {"openvino:gpu", ASSAY__CLASS_GPU},
    {"coreml:gpu", ASSAY__CLASS_GPU},   {"cuda", ASSAY__CLASS_GPU},
    {"tensorrt", ASSAY__CLASS_GPU},     {"migraphx", ASSAY__CLASS_GPU},
    {"rocm", ASSAY__CLASS_GPU},         {"directml", ASSAY__CLASS_GPU},
    {"webgpu", ASSAY__CLASS_GPU},       {"gpu", ASSAY__CLASS_GPU},
    {"coreml", ASSAY__CLASS_NPU},       {"openvino:npu", ASSAY__CLASS_NPU},
    {"qnn", ASSAY__CLASS_NPU},          {"vitisai", ASSAY__CLASS_NPU},
    {"npu", ASSAY__CLASS_NPU},          {"ane", ASSAY__CLASS_NPU},
};

static enum assay__device_class class_of(const struct reading *r)
{
    const char *bare = assay__device_bare(r->trial->target.device);
    enum assay__device_class said = assay__device_class_parse(option(r, "class"));
    if (said) return said;
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (strncmp(bare, devices[i].begins, strlen(devices[i].begins)) == 0)
            return devices[i].device_class;
    return strcmp(r->trial->target.engine, "fake") == 0 ? ASSAY__CLASS_GPU : ASSAY__CLASS_UNKNOWN;
}

static void read_target(struct reading *r)
{
    struct assay__target *target = &r->trial->target;
    const char *slash = strrchr(target->device, '/');
    if (slash && r->profile->kind != ASSAY__PROFILE_PREDICT)
        target->build = copy(r, target->device, (size_t)(slash - target->device));
    target->device_class = class_of(r);
    target->software = is_option(r, "role", "software") || is_option(r, "software", "yes");
    char *end = NULL; /* "2", "2 (engine's default)", "default" */
    long threads = strtol(option(r, "threads"), &end, 10);
    target->threads = threads > 0 && threads < 65536 ? (int)threads : 0;
    target->threads_default = *end != '\0';
    target->optimization = assay__optimization_parse(option(r, "opt"));
    target->streams = count(r, "streams");
    target->precision = option(r, "precision");
    target->spinning_off = is_option(r, "spinning", "off");
    target->cpus = is_option(r, "cpus", "any") ? "" : option(r, "cpus");
    target->chip = option(r, "chip");
    target->published = is_option(r, "roofs", "published");
}

/* --- how it was measured ---------------------------------------------------------------------- */

static void read_protocol(struct reading *r)
{
    static const char *const watched[] = {"power", "memory", "counters"}; /* "power+memory" */
    struct assay__protocol *protocol = &r->trial->protocol;
    int method = assay__enum_value(&assay__layer_method_names, option(r, "layers"));
    protocol->launches = count(r, "launches");
    protocol->warmup = integer(r, "warmup", 0, -1);
    protocol->seed = (uint64_t)integer(r, "seed", 0, 0);
    protocol->watched = 0;
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        if (strstr(option(r, "watch"), watched[i])) protocol->watched |= 1u << i;
    if (method >= 0) protocol->layers = (enum assay_layer_method)method;
}

/* "464 318 …" */
static void read_generation(struct reading *r)
{
    struct assay__generation_info *generation = &r->trial->generation;
    *generation = (struct assay__generation_info){0};
    const char *text = option(r, "token_ids");
    size_t room = 1;
    generation->tokens = integer(r, "generate", 1, 0);
    generation->prompt = integer(r, "prompt", 1, 0);
    for (const char *at = text; *at && room < IDS_MOST; at++)
        room += *at == ' ';
    int64_t *ids = *text ? array(r, room, sizeof *ids) : NULL;
    for (char *end; ids && generation->id_count < room; text = end) {
        int64_t id = strtoll(text, &end, 10);
        if (end == text) break;
        ids[generation->id_count++] = id;
    }
    generation->ids = ids;
    size_t kept = 0; /* what only carried a fact is not an option of the target */
    for (size_t i = 0; i < r->trial->option_count; i++)
        if (strcmp(r->trial->options[i].key, "token_ids") != 0)
            r->trial->options[kept++] = r->trial->options[i];
    r->trial->option_count = kept;
}

/* --- the settings that vary, and what was requested ------------------------------------------- */

static bool is_searched(const struct reading *r)
{
    return r->profile->kind == ASSAY__PROFILE_SWEEP || r->profile->kind == ASSAY__PROFILE_TUNE;
}

/* "batch=8 threads=2" */
static void read_axes(struct reading *r)
{
    struct assay__trial *trial = r->trial;
    if (!is_searched(r)) return;
    trial->axes = array(r, ASSAY__AXIS_COUNT, sizeof *trial->axes);
    trial->axis_count = 0;
    for (const char *at = trial->label; *at && trial->axes;) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        size_t name = equals ? (size_t)(equals - at) : 0;
        enum assay__axis axis = assay__axis_parse(at, name);
        if (axis < ASSAY__AXIS_COUNT && trial->axis_count < ASSAY__AXIS_COUNT &&
            !*assay__trial_axis(trial, axis))
            trial->axes[trial->axis_count++] = (struct assay__axis_value){
                axis, copy(r, equals + 1, length - name - 1)};
        at += length;
        at += *at == ' ';
    }
    for (size_t i = 0; i < trial->axis_count; i++)
        assay__target_set_axis(&trial->target, &trial->axes[i]);
}

/* Every trial of a sweep or a tuning has it: that of the first counts. */
static void read_plan(struct reading *r)
{
    struct assay__plan *plan = &r->profile->plan;
    double memory = number(r, "memory_budget"), drift = number(r, "drift_limit"),
           grid = number(r, "grid");
    *plan = assay__plan_unknown();
    plan->asked = is_searched(r) && *option(r, "goal");
    plan->goal = assay__plan_goal_parse(option(r, "goal"));
    assay__plan_set_slo(plan, option(r, "slo"));
    if (memory > 0) plan->memory_bytes = memory;
    if (drift > 0) plan->drift_limit = drift;
    plan->budget_s = number(r, "budget_s");
    if (grid > 0 && grid < 1e9) plan->configurations = (int64_t)grid;
}

/* --- requirements ----------------------------------------------------------------------------- */

static const struct {
    const char *key;
    double scale; /* to the base unit; 0: a time with its unit */
} requirements[ASSAY__REQUIRE_COUNT] = {
    [ASSAY__REQUIRE_TFLOPS] = {"tflops", 1e12},
    [ASSAY__REQUIRE_BANDWIDTH] = {"bandwidth", 1e9},
    [ASSAY__REQUIRE_THROUGHPUT] = {"throughput", 1},
    [ASSAY__REQUIRE_P50] = {"p50", 0},
    [ASSAY__REQUIRE_P99] = {"p99", 0},
    [ASSAY__REQUIRE_MEMORY] = {"memory", 1048576},
    [ASSAY__REQUIRE_POWER] = {"power", 1},
};

/* "8", "40ms", "-" for nothing; false: none of these. */
static bool read_required(const char *word, double scale, double *value)
{
    if (strcmp(word, "-") == 0) return true;
    if (scale > 0) {
        if (assay__text_double(word, value)) return false;
        *value *= scale;
    } else if (assay__axis_number(word) > 0 || assay__text_duration_s(word, value)) {
        return false; /* a time without its unit, or none */
    }
    return isfinite(*value) && *value > 0;
}

/* Cuts the next word off; "" when there is none. */
static const char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " "), *end = word + strcspn(word, " ");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* "tflops 8 12", "name m1-max"; false: not of that form. */
static bool read_requirement(struct assay__requirements *table, char *item)
{
    const char *key = next_word(&item), *value = item + strspn(item, " ");
    if (!*key || !*value) return !*key;
    if (strcmp(key, "name") == 0) return (table->name = value) != NULL;
    if (strcmp(key, "chip") == 0) return (table->chip = value) != NULL;
    if (strcmp(key, "batch") == 0)
        return assay__text_int64(value, &table->batch) == 0 && table->batch > 0;
    if (strcmp(key, "backbone_units") == 0)
        return assay__text_int64(value, &table->backbone_units) == 0 && table->backbone_units > 0;
    size_t kind = 0;
    while (kind < ASSAY__REQUIRE_COUNT && strcmp(requirements[kind].key, key) != 0)
        kind++;
    const char *minimum = next_word(&item), *target = next_word(&item);
    if (kind == ASSAY__REQUIRE_COUNT || *item) return false;
    double scale = requirements[kind].scale;
    return read_required(minimum, scale, &table->minimum[kind]) &&
           (!*target || read_required(target, scale, &table->target[kind]));
}

/* "name m1-max; chip M1 Max; tflops 8 12; memory 32768 24576" */
static void read_requirements(struct reading *r)
{
    const char *text = option(r, "require");
    r->trial->required = NULL;
    if (!*text) return;
    struct assay__requirements *table = array(r, 1, sizeof *table);
    char *rest = assay__arena_strdup(r->profile->arena, text);
    if (!table || !rest) return;
    *table = (struct assay__requirements){.name = "kept", .chip = ""};
    for (size_t i = 0; i < ASSAY__REQUIRE_COUNT; i++)
        table->minimum[i] = table->target[i] = NAN;
    while (rest) {
        char *item = strsep(&rest, ";");
        if (!read_requirement(table, item + strspn(item, " "))) return;
    }
    r->trial->required = table;
}

/* --- which provider ran which node ------------------------------------------------------------ */

/* "a (Softmax)", "b (Gather, indices)" */
static struct assay__placed_node read_node(struct reading *r, const char *text, size_t length,
                                           const char *provider)
{
    static const char mark[] = ", indices";
    struct assay__placed_node node = {.provider = provider, .elsewhere = true, .op = ""};
    size_t name = length, op = 0;
    if (length && text[length - 1] == ')') {
        while (name > 0 && text[name - 1] != '(')
            name--;
        op = name ? length - 1 - name : 0;
    }
    if (op >= sizeof mark - 1 &&
        memcmp(text + name + op - (sizeof mark - 1), mark, sizeof mark - 1) == 0) {
        node.indices = true;
        op -= sizeof mark - 1;
    }
    if (name > 1 && name < length) {
        node.op = copy(r, text + name, op);
        length = name - 2;
    }
    node.node = copy(r, text, length);
    return node;
}

static void read_placement(struct reading *r)
{
    const struct assay_metric *nodes = assay__trial_metric(r->trial, "placement.nodes"),
                              *off = assay__trial_metric(r->trial, "placement.elsewhere");
    r->trial->placement = (struct assay__placement){.record = ""};
    if (nodes) { /* "ONNX Runtime 1.31.1; nodes that it merged …" */
        const char *end = strstr(nodes->note, "; ");
        r->trial->placement.record = copy(r, nodes->note,
                                          end ? (size_t)(end - nodes->note) : strlen(nodes->note));
    }
    /* "on CPUExecutionProvider: a (Softmax); b (Gather)" */
    if (off && off->value > 0) {
        struct assay__placement *placement = &r->trial->placement;
        const char *colon = strstr(off->note, ": ");
        if (strncmp(off->note, "on ", 3) != 0 || !colon) return;
        const char *provider = copy(r, off->note + 3, (size_t)(colon - off->note) - 3);
        size_t room = 1;
        for (const char *at = colon; (at = strstr(at, "; ")) != NULL; at += 2)
            room++;
        placement->nodes = array(r, room, sizeof *placement->nodes);
        for (const char *at = colon + 2; placement->nodes && *at;) {
            const char *end = strstr(at, "; ");
            size_t length = end ? (size_t)(end - at) : strlen(at);
            placement->nodes[placement->node_count++] = read_node(r, at, length, provider);
            at += length + (end ? 2 : 0);
        }
    }
}

/* --- energy ----------------------------------------------------------------------------------- */

static const char unread[] = "no energy counter or power sensor was read";

/* "package + dram; what must be said; energy / time of the measured windows" */
static void read_rails(struct reading *r, const char *note)
{
    struct assay__power_info *power = &r->trial->power;
    size_t end = strcspn(note, ";"), room = 1;
    for (size_t i = 0; i < end; i++)
        room += note[i] == '+';
    power->rails = array(r, room, sizeof *power->rails);
    for (const char *at = note; power->rails && at < note + end && power->rail_count < room;) {
        const char *plus = strstr(at, " + ");
        size_t length = plus && plus < note + end ? (size_t)(plus - at) : (size_t)(note + end - at);
        power->rails[power->rail_count++] = copy(r, at, length);
        at += length + 3;
    }
    power->whole_machine = strstr(note, "the whole machine's") != NULL;
}

/* Sampled power is mentioned when it differs from the counter by more than 5 %. */
static bool is_warning(const char *part, const char *const *words)
{
    static const char sampled[] = "sampled power says ";
    for (; *words; words++)
        if (strncmp(part, *words, strlen(*words)) == 0) break;
    if (!*words || strncmp(part, sampled, sizeof sampled - 1) != 0) return *words;
    const char *open = strchr(part, '(');
    return !open || !(fabs(strtod(open + 1, NULL)) <= 5);
}

/* The parts of a metric's note that begin with one of the words. */
static void read_warnings(struct reading *r, const char *about, const struct assay_metric *metric,
                          const char *const *words)
{
    for (const char *part = metric ? metric->note : ""; *part; part += strspn(part, "; ")) {
        size_t length = strcspn(part, ";");
        if (is_warning(part, words))
            assay__trial_warn_power(r->profile, r->trial, about, copy(r, part, length));
        part += length;
    }
}

static void read_rail_warnings(struct reading *r)
{
    static const char average[] = "power.average.", idle[] = "power.idle.";
    static const char *const of_average[] = {
        "shorter than ", "the update period of the source is not known", "sampled power says ",
        "from sampled power, as ", NULL};
    static const char *const of_idle[] = {"shorter than ", "idle power ", NULL};
    for (size_t i = 0; i < assay_metrics_count(r->trial->metrics); i++) {
        const struct assay_metric *metric = assay_metrics_at(r->trial->metrics, i);
        const char *name = metric->name;
        if (metric->state == ASSAY_UNAVAILABLE) continue;
        if (strncmp(name, average, sizeof average - 1) == 0)
            read_warnings(r, name + sizeof average - 1, metric, of_average);
        if (strncmp(name, idle, sizeof idle - 1) == 0)
            read_warnings(r,
                          assay__arena_text(r->profile->arena, "%s, idle", name + sizeof idle - 1),
                          metric, of_idle);
    }
}

/* "temperature.package: mean over the measured windows" */
static const char *series_of(struct reading *r, const char *name)
{
    const struct assay_metric *metric = assay__trial_metric(r->trial, name);
    size_t length = metric ? strcspn(metric->note, ":") : 0;
    return length && metric->note[length] ? copy(r, metric->note, length) : "";
}

static void read_power(struct reading *r)
{
    static const char *const of_choice[] = {"CUDA and NVML count ", "the whole machine's", NULL};
    static const char *const of_net[] = {"below zero", NULL};
    struct assay__power_info *power = &r->trial->power;
    const struct assay_metric *average = assay_metrics_get(r->trial->metrics, "power.average");
    *power = (struct assay__power_info){.temperature = series_of(r, "hardware.temperature"),
                                        .frequency = series_of(r, "hardware.frequency")};
    if (!average || strcmp(average->note, unread) == 0) return;
    if (r->profile->complete || r->profile->interrupted) /* several arms share their sensors */
        r->trial->protocol.watched |= ASSAY__WATCHED_POWER;
    power->gap = average->state != ASSAY_UNAVAILABLE ? ASSAY__POWER_KNOWN
                 : strncmp(average->note, unread, strlen("no energy counter")) == 0
                     ? ASSAY__POWER_NO_SENSOR
                     : ASSAY__POWER_LOST;
    if (power->gap != ASSAY__POWER_KNOWN) return;
    read_rails(r, average->note);
    read_rail_warnings(r);
    read_warnings(r, "power", average, of_choice);
    read_warnings(r, "net energy", assay__trial_metric(r->trial, "energy.inference.net"), of_net);
}

/* --- what belongs to no trial ----------------------------------------------------------------- */

static void read_disturbances(struct reading *r)
{
    static const struct {
        const char *words;
        enum assay__disturbance_kind kind;
    } rows[] = {{"the CPU clock changed by", ASSAY__DISTURBANCE_CLOCK},
                {"times for heat", ASSAY__DISTURBANCE_THROTTLED},
                {"held its clocks down", ASSAY__DISTURBANCE_SLOWED},
                {"thermal pressure", ASSAY__DISTURBANCE_SLOWED},
                {"CPU quota held the run up", ASSAY__DISTURBANCE_QUOTA}};
    struct assay__environment *e = &r->profile->environment;
    e->disturbance_kinds = array(r, e->disturbance_count, sizeof *e->disturbance_kinds);
    for (size_t i = 0; e->disturbance_kinds && i < e->disturbance_count; i++)
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
            if (strstr(e->disturbances[i], rows[k].words))
                e->disturbance_kinds[i] = (unsigned char)rows[k].kind;
}

/* --- together --------------------------------------------------------------------------------- */

/* In a comparison of models, a trial names its own model unless it is the first one's. */
static void read_model(struct reading *r)
{
    const char *name = option(r, "model");
    r->trial->model = r->profile->models[0];
    if (!*name) return;
    for (size_t i = 1; i < r->profile->model_count; i++)
        if (strcmp(r->profile->models[i]->name, name) == 0) {
            r->trial->model = r->profile->models[i];
            return;
        }
    struct assay__model_info *model = assay__profile_model(r->profile);
    if (!model) return;
    model->name = name;
    model->parameters = integer(r, "parameters", 0, -1);
    double weights = assay__trial_value(r->trial, "memory.model");
    if (isfinite(weights) && weights >= 0) model->weight_bytes = (int64_t)weights;
    r->trial->model = model;
}

int assay__schema1_derive(struct assay_profile *profile)
{
    struct reading r = {.profile = profile};
    profile->kind = assay__kind_of_command(profile->command);
    profile->model_count = 1;
    for (size_t i = 0; i < profile->trial_count; i++) {
        r.trial = &profile->trials[i];
        r.trial->label = option(&r, "label");
        r.trial->role = assay__role_parse(option(&r, "role"));
        read_target(&r);
        read_protocol(&r);
        read_generation(&r);
        read_axes(&r);
        if (i == 0) read_plan(&r);
        read_requirements(&r);
        read_placement(&r);
        read_power(&r);
        read_model(&r);
    }
    read_disturbances(&r);
    /* "estimated at 50 ns each …" */
    static const char assumed[] = "estimated at ";
    for (size_t i = 0; i < profile->finding_count; i++) {
        struct assay__finding *finding = &profile->findings[i];
        for (size_t k = 0; k < finding->evidence_count; k++)
            if (strncmp(finding->evidence[k], assumed, sizeof assumed - 1) == 0)
                finding->gain_estimated = true;
    }
    return assay__arena_failed(profile->arena) ? ASSAY_ENOMEM : 0;
}
