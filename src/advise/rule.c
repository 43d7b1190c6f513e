/* rule.c - what rules are written with: see rule.h. */
#include "advise/rule.h"

#include "judge/comparison.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

double assay__amdahl(double share, double local)
{
    if (!(share >= 0) || !(share <= 1) || !(local > 0)) return NAN;
    double rest = 1 - share + share / local;
    return rest > 0 ? 1 / rest : NAN;
}

const char *assay__advice_scaled(struct assay__advice *advice, double value, const char *unit)
{
    char text[64];
    assay__text_scaled(text, sizeof text, value, unit);
    const char *copy = assay__arena_strdup(advice->profile->arena, text);
    if (!copy) advice->failed = true;
    return copy ? copy : "";
}

double assay__advice_time(const struct assay__layer *layer)
{
    bool known = layer->state != ASSAY_UNAVAILABLE && isfinite(layer->time_ns) &&
                 layer->time_ns > 0;
    return known ? layer->time_ns : 0;
}

bool assay__op_among(const char *op, const char *ops)
{
    size_t length = op ? strlen(op) : 0;
    for (const char *at = ops; length && at && *at;) {
        size_t own = strcspn(at, "|");
        if (own == length && strncmp(at, op, own) == 0) return true;
        at += own + (at[own] == '|');
    }
    return false;
}

double assay__advice_share(const struct assay__advice *advice, const char *ops, size_t *count)
{
    const struct assay__layers *layers = &advice->trial->layers;
    double sum = 0;
    size_t seen = 0;
    for (size_t i = 0; i < layers->count; i++) {
        if (!assay__op_among(layers->items[i].op, ops)) continue;
        double time = assay__advice_time(&layers->items[i]);
        seen += time > 0;
        sum += time;
    }
    if (count) *count = seen;
    double share = sum / advice->p50_ns;
    return share > 1 ? 1 : share; /* times of layers may sum to a little more than the latency */
}

/* --- conclusions ------------------------------------------------------------------------------ */

static const char *format_text(struct assay__advice *advice, const char *format, va_list args)
{
    struct assay__buf text = {0};
    assay__buf_vprintf(&text, format, args);
    const char *copy = text.failed || !text.data
                           ? NULL
                           : assay__arena_strdup(advice->profile->arena, text.data);
    assay__buf_free(&text);
    if (!copy) advice->failed = true;
    return copy ? copy : "";
}

void assay__rule_evidence(struct assay__advice *advice, struct assay__rule_result *result,
                          const char *format, ...)
{
    struct assay__finding *f = &result->finding;
    va_list args;
    va_start(args, format);
    const char *text = format_text(advice, format, args);
    va_end(args);
    const char **grown = assay__arena_array(advice->profile->arena, f->evidence_count + 1,
                                            sizeof *grown);
    if (!grown) {
        advice->failed = true;
        return;
    }
    if (f->evidence_count) memcpy(grown, f->evidence, f->evidence_count * sizeof *grown);
    grown[f->evidence_count++] = text;
    f->evidence = grown;
}

void assay__rule_advice(struct assay__advice *advice, struct assay__rule_result *result,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    result->finding.advice = format_text(advice, format, args);
    va_end(args);
}

enum assay__rule_outcome assay__rule_found(struct assay__rule_result *result, double gain)
{
    if (isfinite(gain) && gain < ASSAY__GAIN_LEAST) return ASSAY__RULE_NOTHING;
    result->finding.expected_gain = isfinite(gain) ? gain : NAN;
    return ASSAY__RULE_FOUND;
}

enum assay__rule_outcome assay__rule_missing(struct assay__rule_result *result, const char *reason)
{
    result->missing = reason;
    return ASSAY__RULE_MISSING;
}

enum assay__rule_outcome assay__rule_without(struct assay__advice *advice,
                                             struct assay__rule_result *result, const char *metric)
{
    const struct assay_metric *m = assay_metrics_get(advice->trial->metrics, metric);
    const char *reason = assay__arena_printf(
        advice->profile->arena, "%s: %s", metric,
        m && m->note && *m->note ? m->note : "the profile does not hold it");
    if (!reason) advice->failed = true;
    return assay__rule_missing(result, reason ? reason : metric);
}

/* --- the graph -------------------------------------------------------------------------------- */

size_t assay__advice_producer(const struct assay__advice *advice, const char *value)
{
    return value && *value ? assay__map_get(advice->producer, value) : ASSAY__MAP_NONE;
}

size_t assay__advice_only_reader(const struct assay__advice *advice, size_t node)
{
    return node != SIZE_MAX && advice->readers[node] == 1 ? advice->reader[node] : SIZE_MAX;
}

const char *assay__advice_node_name(const struct assay__node *node)
{
    if (node->name && *node->name) return node->name;
    return node->output_count && node->outputs[0] ? node->outputs[0] : node->op;
}
