/* metric.c - the metric and its ordered set.
 *
 * The set owns its strings: each entry keeps one heap block with name, unit, source and note, so
 * replacing an entry frees the old block (a monitor may put the same names for days). The unit of a
 * known name comes from the table. `power.average.RAIL` rows of the table end in ".RAIL" and match
 * any single or dotted suffix. */
#include "base/map.h"
#include "base/metric_table.h"
#include "base/metric_value.h"
#include "base/vec.h"

#include <assay/error.h>
#include <assay/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {"unavailable", "measured", "derived", "estimated",
                                     "published"};
const struct assay__enum_names assay__state_names = {states, sizeof states / sizeof states[0]};

const char *assay_state_name(enum assay_state state)
{
    const char *name = assay__enum_name(&assay__state_names, state);
    return *name ? name : states[ASSAY_UNAVAILABLE];
}

int assay_state_parse(const char *name)
{
    return assay__enum_value(&assay__state_names, name);
}

const struct assay_metric_info *assay_metric_lookup(const char *name)
{
    static const char suffix[] = ".RAIL";
    for (size_t i = 0; name && i < assay__metric_table_count; i++) {
        const char *row = assay__metric_table[i].name;
        size_t length = strlen(row), stem = length - (sizeof suffix - 1) + 1; /* with its dot */
        bool rails = length > sizeof suffix - 1 && strcmp(row + stem - 1, suffix) == 0;
        if (rails ? strncmp(row, name, stem) == 0 && name[stem] : strcmp(row, name) == 0)
            return &assay__metric_table[i];
    }
    return NULL;
}

struct assay_metrics {
    struct assay_metric **items; /* each with its strings in the same block */
    size_t count, capacity;
    struct assay__map *index; /* keys are the items' names */
    int failed;               /* the first error of a put */
};

struct assay_metrics *assay_metrics_new(void)
{
    struct assay_metrics *set = calloc(1, sizeof *set);
    if (set) set->index = assay__map_new();
    if (set && set->index) return set;
    free(set);
    return NULL;
}

void assay_metrics_free(struct assay_metrics *set)
{
    if (!set) return;
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i]);
    free(set->items);
    assay__map_free(set->index);
    free(set);
}

size_t assay_metrics_count(const struct assay_metrics *set)
{
    return set ? set->count : 0;
}

const struct assay_metric *assay_metrics_at(const struct assay_metrics *set, size_t index)
{
    return set && index < set->count ? set->items[index] : NULL;
}

const struct assay_metric *assay_metrics_get(const struct assay_metrics *set, const char *name)
{
    if (!set || !name) return NULL;
    size_t at = assay__map_get(set->index, name);
    return at == ASSAY__MAP_NONE ? NULL : set->items[at];
}

bool assay__metric_is_known(const struct assay_metric *metric)
{
    return metric && metric->state != ASSAY_UNAVAILABLE && isfinite(metric->value);
}

const struct assay_metric *assay__metrics_known(const struct assay_metrics *set, const char *name)
{
    const struct assay_metric *metric = set && name ? assay_metrics_get(set, name) : NULL;
    return assay__metric_is_known(metric) ? metric : NULL;
}

double assay__metrics_value(const struct assay_metrics *set, const char *name)
{
    const struct assay_metric *metric = assay__metrics_known(set, name);
    return metric ? metric->value : (double)NAN;
}

static const char *append(char **cursor, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*cursor, text, size);
    *cursor += size;
    return copy;
}

static struct assay_metric *copy_metric(const struct assay_metric *metric)
{
    const struct assay_metric_info *info = assay_metric_lookup(metric->name);
    bool known = assay__metric_is_known(metric);
    const char *unit = metric->unit && metric->unit[0] ? metric->unit : info ? info->unit : "";
    const char *source = !known ? "none" : metric->source ? metric->source : "";
    const char *note = metric->note ? metric->note : "";
    if (!known && note[0] == '\0') /* only when a known state came with a non-finite value */
        note = "the value was not finite";
    size_t size = sizeof(struct assay_metric) + strlen(metric->name) + strlen(unit) +
                  strlen(source) + strlen(note) + 4;
    struct assay_metric *copy = calloc(1, size);
    if (!copy) return NULL;
    char *cursor = (char *)(copy + 1);
    copy->name = append(&cursor, metric->name);
    copy->unit = append(&cursor, unit);
    copy->source = append(&cursor, source);
    copy->note = append(&cursor, note);
    copy->state = known ? metric->state : ASSAY_UNAVAILABLE;
    copy->value = known ? metric->value : NAN;
    return copy;
}

int assay_metrics_failed(const struct assay_metrics *set)
{
    return set ? set->failed : ASSAY_ENOMEM;
}

static int put_metric(struct assay_metrics *set, const struct assay_metric *metric)
{
    if (!metric || !metric->name || metric->name[0] == '\0') return ASSAY_EINVAL;
    if (!*assay__enum_name(&assay__state_names, metric->state)) return ASSAY_EINVAL;
    if (metric->state == ASSAY_UNAVAILABLE && (!metric->note || metric->note[0] == '\0'))
        return ASSAY_EINVAL;
    struct assay_metric *copy = copy_metric(metric);
    if (!copy) return ASSAY_ENOMEM;
    size_t at = assay__map_get(set->index, metric->name);
    if (at != ASSAY__MAP_NONE) {
        /* The key of the map is in the old block: remove it before the block is freed. */
        assay__map_remove(set->index, copy->name);
        free(set->items[at]);
        set->items[at] = copy;
        return assay__map_set(set->index, copy->name, at); /* cannot fail: a slot was just freed */
    }
    if (assay__vec_grow((void **)&set->items, &set->capacity, set->count + 1, sizeof *set->items) ||
        assay__map_set(set->index, copy->name, set->count)) {
        free(copy);
        return ASSAY_ENOMEM;
    }
    set->items[set->count++] = copy;
    return 0;
}

int assay_metrics_put(struct assay_metrics *set, const struct assay_metric *metric)
{
    if (!set) return ASSAY_EINVAL;
    int code = put_metric(set, metric);
    if (code && !set->failed) set->failed = code;
    return code;
}

int assay_metrics_measured(struct assay_metrics *set, const char *name, double value,
                           const char *source, const char *note)
{
    struct assay_metric metric = {name, value, NULL, ASSAY_MEASURED, source, note};
    return assay_metrics_put(set, &metric);
}

int assay_metrics_derived(struct assay_metrics *set, const char *name, double value,
                          const char *source, const char *formula)
{
    struct assay_metric metric = {name, value, NULL, ASSAY_DERIVED, source, formula};
    return assay_metrics_put(set, &metric);
}

int assay_metrics_unavailable(struct assay_metrics *set, const char *name, const char *reason)
{
    struct assay_metric metric = {name, NAN, NULL, ASSAY_UNAVAILABLE, "", reason};
    return assay_metrics_put(set, &metric);
}

void assay__metrics_put_known(struct assay_metrics *set, const char *name, enum assay_state state,
                              double value, const char *source, const char *note,
                              const char *reason)
{
    struct assay_metric metric = {name, value, NULL, state, source, note};
    if (isfinite(value))
        assay_metrics_put(set, &metric);
    else
        assay_metrics_unavailable(set, name, reason && reason[0] ? reason : "not known");
}

/* Why an operand cannot be used, into `reason`: what depends on it is unknown for the same reason.
 * False: it can be used. */
static bool missing(const struct assay_metric *operand, const char *role, char reason[512])
{
    if (assay__metric_is_known(operand)) return false;
    if (!operand)
        snprintf(reason, 512, "the %s is not known", role);
    else
        snprintf(reason, 512, "%s",
                 operand->note && operand->note[0] ? operand->note : "no reason given");
    return true;
}

int assay_metrics_ratio(struct assay_metrics *set, const char *name,
                        const struct assay_metric *numerator,
                        const struct assay_metric *denominator, const char *formula)
{
    char reason[512];
    if (missing(numerator, "numerator", reason) || missing(denominator, "denominator", reason))
        return assay_metrics_unavailable(set, name, reason);
    if (denominator->value == 0) {
        snprintf(reason, sizeof reason, "%s is zero", denominator->name);
        return assay_metrics_unavailable(set, name, reason);
    }
    /* What depends on an estimate is an estimate; what depends on a published value says so in its
     * formula. */
    bool estimate = numerator->state == ASSAY_ESTIMATED || denominator->state == ASSAY_ESTIMATED;
    struct assay_metric metric = {name,      numerator->value / denominator->value,
                                  NULL,      estimate ? ASSAY_ESTIMATED : ASSAY_DERIVED,
                                  "derived", formula};
    return assay_metrics_put(set, &metric);
}
