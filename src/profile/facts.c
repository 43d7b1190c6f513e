/* facts.c - names and properties of the typed facts, and how their names are read. */
#include "profile/facts.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES(...)                                                            \
    {                                                                         \
        (const char *const[]){__VA_ARGS__},                                   \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *) \
    }

/* The value of a name; 0 (not known) for any other name. */
static unsigned value_of(const struct assay__enum_names *names, const char *name)
{
    int found = assay__enum_value(names, name);
    return found < 0 ? 0 : (unsigned)found;
}

/* --- kinds ------------------------------------------------------------------------------------ */

const struct assay__enum_names assay__kind_names =
    NAMES([ASSAY__PROFILE_UNKNOWN] = "", [ASSAY__PROFILE_RUN] = "run",
          [ASSAY__PROFILE_COMPARE] = "compare", [ASSAY__PROFILE_SWEEP] = "sweep",
          [ASSAY__PROFILE_TUNE] = "tune", [ASSAY__PROFILE_POWER] = "power",
          [ASSAY__PROFILE_MEMORY] = "memory", [ASSAY__PROFILE_COUNTERS] = "counters",
          [ASSAY__PROFILE_ADVISE] = "advise", [ASSAY__PROFILE_PREDICT] = "predict",
          [ASSAY__PROFILE_EXPLAIN] = "explain", [ASSAY__PROFILE_BENCH] = "bench",
          [ASSAY__PROFILE_WATCH] = "watch");

enum assay__profile_kind assay__kind_of_command(const char *command)
{
    return (enum assay__profile_kind)value_of(&assay__kind_names, command);
}

/* --- roles ------------------------------------------------------------------------------------ */

const struct assay__enum_names assay__role_names =
    NAMES([ASSAY__ROLE_NONE] = "", [ASSAY__ROLE_REFERENCE] = "reference",
          [ASSAY__ROLE_CONTROL] = "control", [ASSAY__ROLE_SOFTWARE] = "software",
          [ASSAY__ROLE_CONFIRM] = "confirm", [ASSAY__ROLE_START] = "start",
          [ASSAY__ROLE_SEARCH] = "search", [ASSAY__ROLE_REFUSED] = "refused",
          [ASSAY__ROLE_FINALIST] = "finalist", [ASSAY__ROLE_ABLATION] = "ablation");

const char *assay__role_name(enum assay__trial_role role)
{
    return assay__enum_name(&assay__role_names, role);
}

enum assay__trial_role assay__role_parse(const char *name)
{
    return (enum assay__trial_role)value_of(&assay__role_names, name);
}

/* --- the target, and how it is measured ------------------------------------------------------- */

const struct assay__enum_names assay__device_class_names = NAMES("", "cpu", "gpu", "npu"),
                               assay__optimization_names = NAMES("", "none", "basic", "extended",
                                                                 "all"),
                               assay__layer_method_names = NAMES("off", "auto", "markers",
                                                                 "isolated", "engine");

const char *assay__device_class_name(enum assay__device_class device_class)
{
    return assay__enum_name(&assay__device_class_names, device_class);
}

enum assay__device_class assay__device_class_parse(const char *name)
{
    return (enum assay__device_class)value_of(&assay__device_class_names, name);
}

const char *assay__optimization_name(enum assay__optimization level)
{
    return assay__enum_name(&assay__optimization_names, level);
}

enum assay__optimization assay__optimization_parse(const char *name)
{
    return (enum assay__optimization)value_of(&assay__optimization_names, name);
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

/* --- disturbances and energy ------------------------------------------------------------------ */

const struct assay__enum_names assay__disturbance_names = NAMES("", "clock", "throttled", "slowed",
                                                                "quota"),
                               assay__power_gap_names = NAMES("", "known", "no-sensor", "lost");

/* --- feedback --------------------------------------------------------------------------------- */

const struct assay__enum_names assay__feedback_names = NAMES("", "name", "given", "graph", "shape");

/* --- axes ------------------------------------------------------------------------------------- */

const struct assay__enum_names assay__axis_names =
    NAMES([ASSAY__AXIS_BENCHMARK] = "benchmark", [ASSAY__AXIS_DEVICE] = "device",
          [ASSAY__AXIS_PRECISION] = "precision", [ASSAY__AXIS_OPT] = "opt",
          [ASSAY__AXIS_THREADS] = "threads", [ASSAY__AXIS_SPINNING] = "spinning",
          [ASSAY__AXIS_SEQ] = "seq", [ASSAY__AXIS_BATCH] = "batch");

const char *assay__axis_name(enum assay__axis axis)
{
    return assay__enum_name(&assay__axis_names, axis);
}

enum assay__axis assay__axis_parse(const char *name, size_t length)
{
    enum assay__axis axis = (enum assay__axis)0;
    while (axis < ASSAY__AXIS_COUNT && (strlen(assay__axis_name(axis)) != length ||
                                        memcmp(assay__axis_name(axis), name, length) != 0))
        axis++;
    return axis;
}

bool assay__axis_is_number(enum assay__axis axis)
{
    return axis == ASSAY__AXIS_THREADS || axis == ASSAY__AXIS_SEQ || axis == ASSAY__AXIS_BATCH;
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
    case ASSAY__AXIS_BENCHMARK:
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

const struct assay__enum_names assay__goal_names = NAMES("throughput", "latency", "energy");

const char *assay__plan_goal_name(enum assay__plan_goal goal)
{
    return assay__enum_name(&assay__goal_names, goal);
}

enum assay__plan_goal assay__plan_goal_parse(const char *name)
{
    return (enum assay__plan_goal)value_of(&assay__goal_names, name);
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
