/* rule.c - helpers for rules: shares, conclusions, the graph, and changes that several rules
 * propose. */
#include "advise/rule.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

double assay__amdahl(double share, double local)
{
    if (!(share >= 0) || !(share <= 1) || !(local > 0)) return NAN;
    double rest = 1 - share + share / local;
    return rest > 0 ? 1 / rest : NAN;
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
        assay__rule_about(advice, i);
        seen += time > 0;
        sum += time;
    }
    if (count) *count = seen;
    double share = sum / advice->p50_ns;
    return share > 1 ? 1 : share; /* layer times may sum to slightly more than the latency */
}

/* --- conclusions ------------------------------------------------------------------------------ */

void assay__rule_about(const struct assay__advice *advice, size_t layer)
{
    if (advice->about && layer < advice->trial->layers.count) advice->about[layer] = true;
}

void assay__rule_evidence(struct assay__advice *advice, const char *format, ...)
{
    struct assay__finding *f = &advice->result->finding;
    struct assay__arena *arena = advice->profile->arena;
    const char **grown = assay__arena_grow(arena, (void *)f->evidence, f->evidence_count,
                                           sizeof *grown);
    if (!grown) return;
    va_list args;
    va_start(args, format);
    grown[f->evidence_count++] = assay__arena_vtext(arena, format, args);
    va_end(args);
    f->evidence = grown;
}

void assay__rule_advice(struct assay__advice *advice, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    advice->result->finding.advice = assay__arena_vtext(advice->profile->arena, format, args);
    va_end(args);
}

enum assay__rule_outcome assay__rule_found(struct assay__advice *advice, double gain)
{
    if (isfinite(gain) && gain < ASSAY__GAIN_LEAST) return ASSAY__RULE_NOTHING;
    advice->result->finding.expected_gain = isfinite(gain) ? gain : NAN;
    return ASSAY__RULE_FOUND;
}

enum assay__rule_outcome assay__rule_missing(struct assay__advice *advice, const char *reason)
{
    advice->result->missing = reason;
    return ASSAY__RULE_MISSING;
}

enum assay__rule_outcome assay__rule_without(struct assay__advice *advice, const char *metric)
{
    const struct assay_metric *m = assay_metrics_get(advice->trial->metrics, metric);
    const char *why = m && m->note && *m->note ? m->note : "not in the profile";
    return assay__rule_missing(advice,
                               assay__arena_text(advice->profile->arena, "%s: %s", metric, why));
}

/* --- the graph -------------------------------------------------------------------------------- */

size_t assay__advice_producer(const struct assay__advice *advice, const char *value)
{
    return assay__fold_producer(&advice->fold, value);
}

size_t assay__advice_only_reader(const struct assay__advice *advice, size_t node)
{
    return assay__fold_only_reader(&advice->fold, node);
}

const char *assay__advice_node_name(const struct assay__node *node)
{
    if (node->name && *node->name) return node->name;
    return node->output_count && node->outputs[0] ? node->outputs[0] : node->op;
}

/* --- changes ---------------------------------------------------------------------------------- */

#define BATCH_LARGEST 4096 /* beyond this, eight times the size is not worth trying */

void assay__try_optimization(const struct assay__advice *advice, struct assay__change *change)
{
    enum assay__optimization level = advice->trial->target.optimization;
    if (level && level != ASSAY__OPTIMIZATION_ALL) change->kind = ASSAY__CHANGE_OPTIMIZE;
}

void assay__try_layout_off(const struct assay__advice *advice, struct assay__change *change)
{
    enum assay__optimization level = advice->trial->target.optimization;
    if (!level || level > ASSAY__OPTIMIZATION_EXTENDED) change->kind = ASSAY__CHANGE_LAYOUT_OFF;
}

void assay__try_fuse_hardswish(const struct assay__advice *advice, struct assay__change *change)
{
    if (assay__model_is_onnx(advice->model)) change->kind = ASSAY__CHANGE_FUSE_HARDSWISH;
}

void assay__try_fold_affine(const struct assay__advice *advice, struct assay__change *change)
{
    if (assay__model_is_onnx(advice->model)) change->kind = ASSAY__CHANGE_FOLD_AFFINE;
}

void assay__try_batch(const struct assay__advice *advice, struct assay__change *change)
{
    int64_t batch = advice->trial->batch;
    if (batch < 1 || batch > BATCH_LARGEST) return;
    *change = (struct assay__change){ASSAY__CHANGE_BATCH, batch * ASSAY__BATCH_TIMES, NULL, 0};
}

void assay__try_weights_int8(const struct assay__advice *advice, struct assay__change *change)
{
    (void)advice;
    change->kind = ASSAY__CHANGE_WEIGHTS_INT8;
}

void assay__try_spinning_off(const struct assay__advice *advice, struct assay__change *change)
{
    if (!advice->trial->target.spinning_off) change->kind = ASSAY__CHANGE_SPINNING_OFF;
}
