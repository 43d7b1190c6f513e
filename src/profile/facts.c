/* facts.c - names and properties of the typed facts, and how their names are read. */
#include "profile/facts.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The index of a name in a table; 0, which is what is not known, when it has none of that name. */
static size_t index_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 1; name && i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return 0;
}

static const struct assay__kind_info kinds[ASSAY__PROFILE_KINDS] = {
    [ASSAY__PROFILE_UNKNOWN] = {.command = ""},
    [ASSAY__PROFILE_RUN] = {.command = "run"},
    [ASSAY__PROFILE_COMPARE] = {.command = "compare", .joint = true, .alone = true},
    [ASSAY__PROFILE_SWEEP] = {.command = "sweep", .joint = true, .alone = true},
    [ASSAY__PROFILE_TUNE] = {.command = "tune", .joint = true, .alone = true},
    [ASSAY__PROFILE_POWER] = {.command = "power", .alone = true},
    [ASSAY__PROFILE_MEMORY] = {.command = "memory", .alone = true},
    [ASSAY__PROFILE_COUNTERS] = {.command = "counters", .alone = true},
    [ASSAY__PROFILE_ADVISE] = {.command = "advise"},
    [ASSAY__PROFILE_PREDICT] = {.command = "predict"},
};

const struct assay__kind_info *assay__kind_info(enum assay__profile_kind kind)
{
    return &kinds[kind < ASSAY__PROFILE_KINDS ? kind : ASSAY__PROFILE_UNKNOWN];
}

enum assay__profile_kind assay__kind_of_command(const char *command)
{
    for (size_t i = 1; command && i < ASSAY__PROFILE_KINDS; i++)
        if (strcmp(kinds[i].command, command) == 0) return (enum assay__profile_kind)i;
    return ASSAY__PROFILE_UNKNOWN;
}

/* --- roles ------------------------------------------------------------------------------------ */

static const char *const roles[ASSAY__ROLE_COUNT] = {
    [ASSAY__ROLE_NONE] = "",
    [ASSAY__ROLE_REFERENCE] = "reference",
    [ASSAY__ROLE_CONTROL] = "control",
    [ASSAY__ROLE_SOFTWARE] = "software",
    [ASSAY__ROLE_CONFIRM] = "confirm",
    [ASSAY__ROLE_START] = "start",
    [ASSAY__ROLE_SEARCH] = "search",
    [ASSAY__ROLE_REFUSED] = "refused",
    [ASSAY__ROLE_FINALIST] = "finalist",
    [ASSAY__ROLE_ABLATION] = "ablation",
};

const char *assay__role_name(enum assay__trial_role role)
{
    return roles[role < ASSAY__ROLE_COUNT ? role : ASSAY__ROLE_NONE];
}

enum assay__trial_role assay__role_parse(const char *name)
{
    return (enum assay__trial_role)index_of(roles, ASSAY__ROLE_COUNT, name);
}

/* --- the target ------------------------------------------------------------------------------- */

static const char *const classes[ASSAY__CLASS_COUNT] = {"", "cpu", "gpu", "npu"};
static const char *const levels[ASSAY__OPTIMIZATION_COUNT] = {"", "none", "basic", "extended",
                                                              "all"};

const char *assay__device_class_name(enum assay__device_class device_class)
{
    return classes[device_class < ASSAY__CLASS_COUNT ? device_class : ASSAY__CLASS_UNKNOWN];
}

enum assay__device_class assay__device_class_parse(const char *name)
{
    return (enum assay__device_class)index_of(classes, ASSAY__CLASS_COUNT, name);
}

const char *assay__optimization_name(enum assay__optimization level)
{
    return levels[level < ASSAY__OPTIMIZATION_COUNT ? level : ASSAY__OPTIMIZATION_UNKNOWN];
}

enum assay__optimization assay__optimization_parse(const char *name)
{
    return (enum assay__optimization)index_of(levels, ASSAY__OPTIMIZATION_COUNT, name);
}

struct assay__target assay__target_unknown(void)
{
    return (struct assay__target){.engine = "",
                                  .engine_version = "",
                                  .engine_library = "",
                                  .device = "",
                                  .build = "",
                                  .precision = "",
                                  .cpus = "",
                                  .chip = "",
                                  .uncovered = ""};
}

const char *assay__device_bare(const char *device)
{
    const char *slash = device ? strrchr(device, '/') : NULL;
    return slash ? slash + 1 : device;
}

bool assay__target_is_fallback(const struct assay__target *target)
{
    return target->device && strcmp(assay__device_bare(target->device), "cpu") == 0;
}

/* --- energy ----------------------------------------------------------------------------------- */

const char *assay__power_gap_words(enum assay__power_gap gap)
{
    switch (gap) {
    case ASSAY__POWER_UNREAD: return "no energy counter or power sensor was read";
    case ASSAY__POWER_NO_SENSOR: return "no energy counter or power sensor";
    case ASSAY__POWER_KNOWN:
    case ASSAY__POWER_LOST: break;
    }
    return "";
}

/* --- axes ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool number;
} axes[ASSAY__AXIS_COUNT] = {
    [ASSAY__AXIS_DEVICE] = {"device", false},     [ASSAY__AXIS_PRECISION] = {"precision", false},
    [ASSAY__AXIS_OPT] = {"opt", false},           [ASSAY__AXIS_THREADS] = {"threads", true},
    [ASSAY__AXIS_SPINNING] = {"spinning", false}, [ASSAY__AXIS_SEQ] = {"seq", true},
    [ASSAY__AXIS_BATCH] = {"batch", true},
};

const char *assay__axis_name(enum assay__axis axis)
{
    return axis < ASSAY__AXIS_COUNT ? axes[axis].name : "";
}

enum assay__axis assay__axis_parse(const char *name, size_t length)
{
    size_t i = 0;
    while (i < ASSAY__AXIS_COUNT &&
           (strlen(axes[i].name) != length || memcmp(axes[i].name, name, length) != 0))
        i++;
    return (enum assay__axis)i;
}

bool assay__axis_is_number(enum assay__axis axis)
{
    return axis < ASSAY__AXIS_COUNT && axes[axis].number;
}

void assay__target_set_axis(struct assay__target *target, const struct assay__axis_value *value)
{
    double number = assay__axis_number(value->value);
    switch (value->axis) {
    case ASSAY__AXIS_PRECISION:
        target->precision = strcmp(value->value, "float32") == 0 ? "" : value->value;
        break;
    case ASSAY__AXIS_OPT: target->optimization = assay__optimization_parse(value->value); break;
    case ASSAY__AXIS_THREADS:
        target->threads = number > 0 && number < 65536 ? (int)number : 0;
        target->threads_default = false;
        break;
    case ASSAY__AXIS_SPINNING: target->spinning_off = strcmp(value->value, "off") == 0; break;
    case ASSAY__AXIS_DEVICE:
    case ASSAY__AXIS_SEQ:
    case ASSAY__AXIS_BATCH:
    case ASSAY__AXIS_COUNT: break;
    }
}

double assay__axis_number(const char *value)
{
    char *end = NULL;
    double number = *value ? strtod(value, &end) : NAN;
    return end && end != value && *end == '\0' ? number : (double)NAN;
}

/* --- the plan --------------------------------------------------------------------------------- */

static const char *const goals[ASSAY__PLAN_GOALS] = {"throughput", "latency", "energy"};

const char *assay__plan_goal_name(enum assay__plan_goal goal)
{
    return goal < ASSAY__PLAN_GOALS ? goals[goal] : "";
}

enum assay__plan_goal assay__plan_goal_parse(const char *name)
{
    return (enum assay__plan_goal)index_of(goals, ASSAY__PLAN_GOALS, name);
}

struct assay__plan assay__plan_unknown(void)
{
    return (struct assay__plan){.slo_s = NAN,
                                .slo = "",
                                .memory_bytes = NAN,
                                .drift_limit = INFINITY,
                                .budget_s = NAN,
                                .configurations = -1};
}

bool assay__plan_set_slo(struct assay__plan *plan, const char *text)
{
    static const struct {
        const char *word, *metric;
    } known[] = {{"p50", "latency.p50"},  {"p90", "latency.p90"},    {"p95", "latency.p95"},
                 {"p99", "latency.p99"},  {"p99.9", "latency.p999"}, {"max", "latency.max"},
                 {"mean", "latency.mean"}};
    const char *equals = text ? strchr(text, '=') : NULL;
    size_t length = equals ? (size_t)(equals - text) : 0;
    plan->slo_metric = NULL;
    plan->slo = "";
    for (size_t i = 0; equals && i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].word) != length || strncmp(known[i].word, text, length) != 0) continue;
        if (assay__text_duration_s(equals + 1, &plan->slo_s) || !(plan->slo_s > 0) ||
            equals[strlen(equals) - 1] < 'a') /* its unit: 20 of what? */
            break;
        plan->slo_metric = known[i].metric;
        plan->slo = text;
        return true;
    }
    plan->slo_s = NAN;
    return false;
}
