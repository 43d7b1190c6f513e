/* answer.c - one sentence: where the time of one inference goes. */
#include "report/subject/answer.h"

#include "report/doc/datum.h"
#include "report/subject/layer_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct op_total {
    const char *op;
    double time_ns;
    size_t layers;
};

static int compare_ops(const void *left, const void *right)
{
    const struct assay__layer *const *a = left, *const *b = right;
    int order = strcmp((*a)->op, (*b)->op);
    return order ? order : (*a)->index < (*b)->index ? -1 : (*a)->index > (*b)->index;
}

/* The operator whose layers take longest together. Sorted, not searched: a profile may hold very
 * many layers. */
static struct op_total longest_op(const struct assay__layers *layers)
{
    struct op_total best = {"", 0, 0}, now = {"", 0, 0};
    const struct assay__layer **sorted = calloc(layers->count, sizeof *sorted);
    if (!sorted) return best;
    for (size_t i = 0; i < layers->count; i++)
        sorted[i] = &layers->items[i];
    qsort(sorted, layers->count, sizeof *sorted, compare_ops);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = sorted[i];
        if (!now.layers || strcmp(now.op, l->op) != 0) now = (struct op_total){l->op, 0, 0};
        now.layers++;
        if (assay__layer_is_timed(l)) now.time_ns += l->time_ns;
        if (now.time_ns > best.time_ns || strcmp(now.op, best.op) == 0) best = now;
    }
    free(sorted);
    return best;
}

static struct assay__digits percent(double ratio)
{
    struct assay__digits made;
    snprintf(made.text, sizeof made.text, fabs(ratio) < 0.0995 ? "%.1f %%" : "%.0f %%",
             ratio * 100);
    return made;
}

/* What is known of the layers' times together. */
struct times {
    struct op_total op;                 /* the operator that takes longest */
    const struct assay__layer *slowest; /* NULL: none has a time */
    double sum_ns;
};

static struct times known_times(const struct assay__layers *layers)
{
    struct times known = {.op = longest_op(layers)};
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        if (!assay__layer_is_timed(l)) continue;
        known.sum_ns += l->time_ns;
        if (!known.slowest || l->time_ns > known.slowest->time_ns) known.slowest = l;
    }
    return known;
}

/* "; the slowest layer, fc, takes 12 %." */
static void add_slowest(struct assay__buf *out, const struct assay__layers *layers,
                        const struct times *known, double whole_ns)
{
    if (known->slowest && layers->count > 1)
        assay__buf_printf(out, "; the slowest layer, %s, takes %s",
                          assay__layer_title(known->slowest),
                          percent(known->slowest->time_ns / whole_ns).text);
    assay__buf_putc(out, '.');
}

/* Layers that take longer together than the run they are part of say nothing about its time, only
 * about each other. */
static void answer_proportions(struct assay__buf *out, const struct assay__layers *layers,
                               const struct times *known, double p50_ns)
{
    assay__buf_printf(out, "The layers sum to %s of the %s per inference: ",
                      percent(known->sum_ns / p50_ns).text, assay__scaled(p50_ns / 1e9, "s").text);
    if (isfinite(layers->slowdown) && layers->slowdown > 1.05)
        assay__buf_printf(out, "timing them made the run %.2f times as long; ", layers->slowdown);
    assay__buf_printf(out,
                      "read them as proportions. %s takes %s of their sum (%zu of %zu layer%s)",
                      known->op.op, percent(known->op.time_ns / known->sum_ns).text,
                      known->op.layers, layers->count, assay__plural(layers->count));
    add_slowest(out, layers, known, known->sum_ns);
}

static void answer_engine(struct assay__buf *out, const struct assay__layers *layers, double p50_ns)
{
    bool most = layers->engine_ns > 0.5 * p50_ns;
    bool hidden = isfinite(layers->unattributed_ns) && layers->unattributed_ns > layers->engine_ns;
    assay__buf_printf(
        out,
        "Of %s per inference, %s the engine's fixed cost per run (%s), more than any kind of layer",
        assay__scaled(p50_ns / 1e9, "s").text,
        most     ? "most goes to"
        : hidden ? "the largest part that could be attributed is"
                 : "the largest single part is",
        percent(layers->engine_ns / p50_ns).text);
}

static void answer_layers(struct assay__buf *out, const struct assay__trial *trial, double p50_ns)
{
    const struct assay__layers *layers = &trial->layers;
    struct times known = known_times(layers);
    if (known.sum_ns > 1.05 * p50_ns || known.op.time_ns > 1.005 * p50_ns) {
        answer_proportions(out, layers, &known, p50_ns);
        return;
    }
    if (isfinite(layers->engine_ns) && layers->engine_ns > known.op.time_ns)
        answer_engine(out, layers, p50_ns);
    else
        assay__buf_printf(out, "%s takes %s of the %s per inference (%zu of %zu layer%s)",
                          known.op.op, percent(known.op.time_ns / p50_ns).text,
                          assay__scaled(p50_ns / 1e9, "s").text, known.op.layers, layers->count,
                          assay__plural(layers->count));
    add_slowest(out, layers, &known, p50_ns);
    double rest = layers->unattributed_ns / p50_ns;
    if (rest > 0.05)
        assay__buf_printf(out, " %s could not be attributed: read the layers with that in mind.",
                          percent(rest).text);
    else if (rest < -0.05)
        assay__buf_printf(out,
                          " The layers and the engine's cost sum to %s more than that: read them "
                          "with that in mind.",
                          percent(-rest).text);
}

/* Why no layer has a time: what the layers themselves say comes before a remark about all of
 * them. */
static void add_reason(struct assay__buf *out, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const char *note = NULL, *reason = "";
    bool enqueued = false, differ = false;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        enqueued |= isfinite(l->host_enqueue_ns);
        if (!l->note || !*l->note) continue;
        differ |= note && strcmp(note, l->note) != 0;
        if (!note) note = l->note;
    }
    bool timed = (layers->method && *layers->method) || trial->protocol.layers != ASSAY_LAYERS_OFF;
    bool said = layers->reason && *layers->reason;
    if (enqueued)
        reason = "the engine reports only how long the host took to enqueue each layer";
    else if (note)
        reason = differ ? "no layer has a time; their notes say why" : note;
    else if (said && (layers->count || !layers->method || !*layers->method))
        reason = layers->reason;
    else if (!layers->count && timed && trial->state != ASSAY__TRIAL_OK)
        reason = "the run ended before the layers were timed";
    else if (!layers->count && timed)
        reason = "the graph has no nodes left to time";
    size_t length = strlen(reason);
    if (length) assay__buf_printf(out, ": %s", reason);
    if (!length || reason[length - 1] != '.') assay__buf_putc(out, '.');
}

/* "One inference is a generation (a prompt of 32, then 16 tokens) and takes 9 ms: the first token
 * after 5 ms, then one every 0.3 ms." */
static void answer_generation(struct assay__buf *out, const struct assay__trial *trial,
                              double p50_s)
{
    const struct assay_metric *first = assay__trial_metric(trial, "llm.ttft"),
                              *next = assay__trial_metric(trial, "llm.itl");
    const struct assay__generation_info *made = &trial->generation;
    assay__buf_printf(out,
                      "One inference is a generation (a prompt of %" PRId64 ", then %" PRId64
                      " token%s) and takes %s",
                      made->prompt, made->tokens, assay__plural((double)made->tokens),
                      assay__scaled(p50_s, "s").text);
    if (first)
        assay__buf_printf(out, ": the first token after %s", assay__scaled(first->value, "s").text);
    if (first && next)
        assay__buf_printf(out, ", then one every %s", assay__scaled(next->value, "s").text);
    assay__buf_puts(out, first ? "." : "; the times of its tokens are not known.");
}

void assay__answer(struct assay__buf *out, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    bool any = false;
    for (size_t i = 0; i < layers->count; i++)
        any |= layers->items[i].state != ASSAY_UNAVAILABLE && layers->items[i].time_ns > 0;
    if (!p50 || p50->value <= 0) {
        assay__buf_puts(out, "The latency is not known, so neither is where the time goes.");
    } else if (any) {
        answer_layers(out, trial, p50->value * 1e9);
    } else if (trial->generation.tokens) {
        answer_generation(out, trial, p50->value);
    } else {
        assay__buf_printf(out, "One inference takes %s; where it goes inside is not known",
                          assay__scaled(p50->value, "s").text);
        add_reason(out, trial);
    }
}
