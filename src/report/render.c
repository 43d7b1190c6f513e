/* render.c - pieces that several report formats show in the same words: numbers with their marks,
 * shapes, the order of layers, the sentence that says where the time goes, the alerts, and
 * unavailable metrics by reason. */
#include "report/render.h"

#include "judge/comparison.h"
#include "judge/sweep.h"
#include "base/json.h"
#include "base/metric_value.h"
#include "base/text.h"
#include "base/vec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers ---------------------------------------------------------------------------------- */

void assay__render_number(struct assay__buf *out, double value)
{
    if (!isfinite(value)) return;
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_number(&writer, value);
}

void assay__render_json_head(struct assay__json_writer *w, const char *version, int schema)
{
    assay__json_object(w);
    assay__json_key(w, "assay");
    assay__json_object(w);
    assay__json_put_string(w, "version", version);
    assay__json_put_integer(w, "schema", schema);
    assay__json_object_end(w);
}

void assay__render_count(struct assay__buf *out, int64_t value)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    for (int i = 0; i < length; i++) {
        assay__buf_putc(out, digits[i]);
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0)
            assay__buf_putc(out, ',');
    }
}

void assay__render_short_count(struct assay__buf *out, int64_t value)
{
    static const char *const prefixes[] = {"k", "M", "G", "T"};
    if (value < 10000) {
        assay__render_count(out, value);
        return;
    }
    double scaled = (double)value;
    size_t p = 0;
    for (scaled /= 1000; scaled >= 999.5 && p < 3; p++)
        scaled /= 1000;
    assay__buf_printf(out, "%.*f %s",
                      scaled < 9.995   ? 2
                      : scaled < 99.95 ? 1
                                       : 0,
                      scaled, prefixes[p]);
}

const char *assay__render_mark(enum assay_state state)
{
    return state == ASSAY_DERIVED ? "=" : state == ASSAY_ESTIMATED ? "~" : "";
}

void assay__render_metric(struct assay__buf *out, const struct assay_metric *metric)
{
    char text[64];
    if (!metric || metric->state == ASSAY_UNAVAILABLE || !isfinite(metric->value)) {
        assay__buf_puts(out, "—");
        return;
    }
    if (strcmp(metric->name, "overhead.layers") == 0 ||
        strcmp(metric->name, "overhead.counters") == 0 ||
        strcmp(metric->name, "overhead.allocations") == 0)
        snprintf(text, sizeof text, "%.2f ×", metric->value); /* how many times as long */
    else if (strcmp(metric->name, "hardware.ipc") == 0)
        snprintf(text, sizeof text, "%.2f", metric->value); /* a quotient, no share */
    else
        assay__text_scaled(text, sizeof text, metric->value, metric->unit);
    assay__buf_printf(out, "%s%s%s", assay__render_mark(metric->state), text,
                      metric->state == ASSAY_PUBLISHED ? " (published)" : "");
}

enum assay_state assay__render_gain_state(const struct assay__finding *finding)
{
    return finding->gain_estimated ? ASSAY_ESTIMATED : ASSAY_DERIVED;
}

void assay__render_ns(struct assay__buf *out, double time_ns)
{
    char text[64];
    assay__text_scaled(text, sizeof text, time_ns / 1e9, "s");
    assay__buf_puts(out, text);
}

void assay__render_shape(struct assay__buf *out, const struct assay__tensor_info *tensor)
{
    if (tensor->rank < 0) assay__buf_puts(out, "unknown shape");
    if (tensor->rank == 0) assay__buf_puts(out, "scalar");
    for (int d = 0; d < tensor->rank; d++) {
        const char *symbol = tensor->symbols && tensor->symbols[d] ? tensor->symbols[d] : "";
        if (d) assay__buf_putc(out, 'x');
        if (tensor->dims[d] >= 0)
            assay__buf_printf(out, "%" PRId64, tensor->dims[d]);
        else
            assay__buf_puts(out, *symbol ? symbol : "?");
    }
}

void assay__render_model_names(struct assay__buf *out, const struct assay_profile *profile)
{
    const char *own = profile->models[0]->name;
    size_t more = 0;
    while (assay__trial_of_model(profile, more + 1))
        more++;
    assay__buf_puts(out, own && *own ? own : "(unnamed model)");
    if (more == 1)
        assay__buf_printf(out, " and %s", profile->models[1]->name);
    else if (more)
        assay__buf_printf(out, " and %zu more models", more);
}

struct assay__launch_counts assay__render_launch_counts(const struct assay__launch *launch)
{
    size_t streams = launch->streams > 1 ? (size_t)launch->streams : 1;
    size_t found = launch->sample_count ? launch->warmup * streams : 0;
    struct assay__launch_counts counts = {NAN, launch->sample_count, found, 0};
    const struct assay_metric *all = launch->metrics
                                         ? assay_metrics_get(launch->metrics, "latency.warmup")
                                         : NULL;
    if (found > counts.kept) counts.found = found = counts.kept;
    counts.counted = counts.kept - found;
    if (all && all->state != ASSAY_UNAVAILABLE && all->value >= (double)launch->warmup)
        counts.prerun = all->value - (double)launch->warmup; /* the metric is their sum */
    return counts;
}

/* --- layers ----------------------------------------------------------------------------------- */

struct layer_rank {
    double time_ns, enqueue_ns;
    size_t position;
};

static int compare_known(double a, double b)
{
    bool known_a = isfinite(a), known_b = isfinite(b);
    if (known_a != known_b) return known_a ? -1 : 1;
    if (!known_a || a == b) return 0;
    return a > b ? -1 : 1;
}

static int compare_ranks(const void *left, const void *right)
{
    const struct layer_rank *a = left, *b = right;
    int order = compare_known(a->time_ns, b->time_ns);
    if (!order) order = compare_known(a->enqueue_ns, b->enqueue_ns);
    return order ? order : a->position < b->position ? -1 : a->position > b->position;
}

const char *assay__render_layer_title(const struct assay__layer *layer)
{
    if (layer->from_count && layer->from[0] && *layer->from[0]) return layer->from[0];
    return layer->name && *layer->name ? layer->name : layer->op;
}

size_t *assay__render_layer_order(const struct assay__layers *layers)
{
    if (!layers->count) return NULL;
    struct layer_rank *ranks = calloc(layers->count, sizeof *ranks);
    size_t *order = calloc(layers->count, sizeof *order);
    if (!ranks || !order) {
        free(ranks);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        bool known = l->state != ASSAY_UNAVAILABLE;
        ranks[i] = (struct layer_rank){known ? l->time_ns : (double)NAN, l->host_enqueue_ns, i};
    }
    qsort(ranks, layers->count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < layers->count; i++)
        order[i] = ranks[i].position;
    free(ranks);
    return order;
}

double assay__render_layer_sum(const struct assay__layers *layers, const size_t *order,
                               size_t first, size_t count)
{
    double sum = 0;
    for (size_t i = first; i < count; i++) {
        const struct assay__layer *l = &layers->items[order ? order[i] : i];
        sum += l->state == ASSAY_UNAVAILABLE ? (double)NAN : l->time_ns;
    }
    return sum;
}

double assay__render_layer_total(const struct assay__trial *trial, const char **mark)
{
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    *mark = p50 ? assay__render_mark(p50->state) : "=";
    if (p50) return p50->value * 1e9;
    const struct assay__layers *layers = &trial->layers;
    return assay__render_layer_sum(layers, NULL, 0, layers->count) + layers->engine_ns +
           layers->unattributed_ns;
}

void assay__render_layer_method(struct assay__buf *out, const struct assay__layers *layers)
{
    const char *method = layers->method ? layers->method : "";
    if (strcmp(method, "isolated") == 0)
        assay__buf_puts(out, "timed alone, hot cache (isolated)");
    else if (strcmp(method, "engine") == 0)
        assay__buf_puts(out, "timed by the engine's own profiler");
    else
        assay__buf_printf(out, "timed by %s", *method && strlen(method) < 20 ? method : "?");
}

/* --- the answer ------------------------------------------------------------------------------- */

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
        if (l->state != ASSAY_UNAVAILABLE && isfinite(l->time_ns)) now.time_ns += l->time_ns;
        if (now.time_ns > best.time_ns || strcmp(now.op, best.op) == 0) best = now;
    }
    free(sorted);
    return best;
}

static void add_percent(struct assay__buf *out, double ratio)
{
    assay__buf_printf(out, fabs(ratio) < 0.0995 ? "%.1f %%" : "%.0f %%", ratio * 100);
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
        if (l->state == ASSAY_UNAVAILABLE || !isfinite(l->time_ns)) continue;
        known.sum_ns += l->time_ns;
        if (!known.slowest || l->time_ns > known.slowest->time_ns) known.slowest = l;
    }
    return known;
}

/* "; the slowest layer, fc, takes 12 %." */
static void add_slowest(struct assay__buf *out, const struct assay__layers *layers,
                        const struct times *known, double whole_ns)
{
    if (known->slowest && layers->count > 1) {
        assay__buf_printf(out, "; the slowest layer, %s, takes ",
                          assay__render_layer_title(known->slowest));
        add_percent(out, known->slowest->time_ns / whole_ns);
    }
    assay__buf_putc(out, '.');
}

/* Layers that take longer together than the run they are part of say nothing about its time, only
 * about each other. */
static void answer_proportions(struct assay__buf *out, const struct assay__layers *layers,
                               const struct times *known, double p50_ns)
{
    assay__buf_puts(out, "The layers sum to ");
    add_percent(out, known->sum_ns / p50_ns);
    assay__buf_puts(out, " of the ");
    assay__render_ns(out, p50_ns);
    assay__buf_puts(out, " per inference: ");
    if (isfinite(layers->slowdown) && layers->slowdown > 1.05)
        assay__buf_printf(out, "timing them made the run %.2f times as long; ", layers->slowdown);
    assay__buf_printf(out, "read them as proportions. %s takes ", known->op.op);
    add_percent(out, known->op.time_ns / known->sum_ns);
    assay__buf_printf(out, " of their sum (%zu of %zu layer%s)", known->op.layers, layers->count,
                      layers->count == 1 ? "" : "s");
    add_slowest(out, layers, known, known->sum_ns);
}

static void answer_engine(struct assay__buf *out, const struct assay__layers *layers, double p50_ns)
{
    bool most = layers->engine_ns > 0.5 * p50_ns;
    bool hidden = isfinite(layers->unattributed_ns) && layers->unattributed_ns > layers->engine_ns;
    assay__buf_puts(out, "Of ");
    assay__render_ns(out, p50_ns);
    assay__buf_printf(out, " per inference, %s the engine's fixed cost per run (",
                      most     ? "most goes to"
                      : hidden ? "the largest part that could be attributed is"
                               : "the largest single part is");
    add_percent(out, layers->engine_ns / p50_ns);
    assay__buf_puts(out, "), more than any kind of layer takes");
}

static void answer_layers(struct assay__buf *out, const struct assay__trial *trial, double p50_ns)
{
    const struct assay__layers *layers = &trial->layers;
    struct times known = known_times(layers);
    if (known.sum_ns > 1.05 * p50_ns || known.op.time_ns > 1.005 * p50_ns) {
        answer_proportions(out, layers, &known, p50_ns);
        return;
    }
    if (isfinite(layers->engine_ns) && layers->engine_ns > known.op.time_ns) {
        answer_engine(out, layers, p50_ns);
    } else {
        assay__buf_printf(out, "%s takes ", known.op.op);
        add_percent(out, known.op.time_ns / p50_ns);
        assay__buf_puts(out, " of the ");
        assay__render_ns(out, p50_ns);
        assay__buf_printf(out, " per inference (%zu of %zu layer%s)", known.op.layers,
                          layers->count, layers->count == 1 ? "" : "s");
    }
    add_slowest(out, layers, &known, p50_ns);
    if (isfinite(layers->unattributed_ns) && fabs(layers->unattributed_ns) > 0.05 * p50_ns) {
        double share = layers->unattributed_ns / p50_ns;
        assay__buf_puts(out, share > 0 ? " " : " The layers and the engine's cost sum to ");
        add_percent(out, fabs(share));
        assay__buf_puts(out, share > 0
                                 ? " could not be attributed: read the layers with that in mind."
                                 : " more than that: read them with that in mind.");
    }
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
    bool timed = (layers->method && *layers->method) || trial->protocol.layers;
    bool said = layers->reason && *layers->reason;
    if (enqueued)
        reason = "the engine tells only how long the host took to enqueue each layer";
    else if (note)
        reason = differ ? "no layer has a time; their notes say why" : note;
    else if (said && (layers->count || !layers->method || !*layers->method))
        reason = layers->reason;
    else if (!layers->count && timed && trial->state != ASSAY__TRIAL_OK)
        reason = "the layers were not timed yet when the run ended";
    else if (!layers->count && timed)
        reason = "the graph has no nodes left to time";
    size_t length = strlen(reason);
    if (length) assay__buf_printf(out, ": %s", reason);
    if (!length || reason[length - 1] != '.') assay__buf_putc(out, '.');
}

/* "One generation (a prompt of 32 tokens, then 16 more) takes 9 ms: the first token after 5 ms,
 * then one every 0.3 ms." */
static void answer_generation(struct assay__buf *out, const struct assay__trial *trial,
                              double p50_ns)
{
    const struct assay_metric *first = assay__trial_metric(trial, "llm.ttft"),
                              *next = assay__trial_metric(trial, "llm.itl");
    const struct assay__generation_info *g = &trial->generation;
    assay__buf_printf(out,
                      "One inference is a generation (a prompt of %" PRId64 ", then %" PRId64
                      " token%s) and takes ",
                      g->prompt, g->tokens, g->tokens == 1 ? "" : "s");
    assay__render_ns(out, p50_ns);
    if (first) {
        assay__buf_puts(out, ": the first token after ");
        assay__render_ns(out, first->value * 1e9);
    }
    if (first && next) {
        assay__buf_puts(out, ", then one every ");
        assay__render_ns(out, next->value * 1e9);
    }
    assay__buf_puts(out, first ? "." : "; when its tokens were there is not known.");
}

void assay__render_answer(struct assay__buf *out, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    bool any = false;
    for (size_t i = 0; i < layers->count; i++)
        any |= layers->items[i].state != ASSAY_UNAVAILABLE && layers->items[i].time_ns > 0;
    if (!p50 || p50->value <= 0) {
        assay__buf_puts(out, "The latency is not known, so where the time goes cannot be said.");
    } else if (any) {
        answer_layers(out, trial, p50->value * 1e9);
    } else if (trial->generation.tokens) {
        answer_generation(out, trial, p50->value * 1e9);
    } else {
        assay__buf_puts(out, "One inference takes ");
        assay__render_ns(out, p50->value * 1e9);
        assay__buf_puts(out, "; where it goes inside is not known");
        add_reason(out, trial);
    }
}

/* --- alerts ----------------------------------------------------------------------------------- */

static bool same_alert(const struct assay_profile *profile, const struct assay__trial *a,
                       const struct assay__trial *b)
{
    bool stands = assay__render_stands(profile, a);
    return a->state == b->state && stands == assay__render_stands(profile, b) &&
           (!stands || a->launch_count == b->launch_count) &&
           strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

bool assay__render_stands(const struct assay_profile *profile, const struct assay__trial *trial)
{
    bool tested = profile->kind == ASSAY__PROFILE_COMPARE || trial->role == ASSAY__ROLE_CONFIRM;
    size_t least = tested                                  ? ASSAY__COMPARISON_LAUNCHES
                   : profile->kind == ASSAY__PROFILE_SWEEP ? ASSAY__SWEEP_LAUNCHES
                                                           : 0;
    return least && trial->state == ASSAY__TRIAL_FAILED && assay__trial_went_on(trial, least);
}

/* "NOTE: trial 2 lost 1 of 8 launches: judged by the 7 that are left (launch 3: killed)" */
static void put_lost(struct assay__buf *out, const struct assay_profile *profile,
                     const struct assay__trial *trial, size_t alike)
{
    size_t good = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        good += trial->launches[i].state == ASSAY__TRIAL_OK;
    if (alike > 1)
        assay__buf_printf(out, "NOTE: %zu of %zu trials", alike, profile->trial_count);
    else
        assay__buf_printf(out, "NOTE: trial %d", trial->id);
    assay__buf_printf(out, " lost %zu of %zu launches%s: judged by the %zu that are left",
                      trial->launch_count - good, trial->launch_count, alike > 1 ? " each" : "",
                      good);
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        if (launch->state == ASSAY__TRIAL_OK || !*launch->reason) continue;
        assay__buf_printf(out, " (launch %d: %s)", launch->id, launch->reason);
        break;
    }
}

/* "FAILED (trial 3): …", or "FAILED (23 of 96 trials): …" of those that failed for the same reason:
 * the index-th reason. */
static int put_failures(struct assay__buf *out, const struct assay_profile *profile, size_t index)
{
    enum { REASONS = 64 }; /* told apart; nobody asks for more */
    const struct assay__trial *first[REASONS];
    size_t kinds = 0, alike = 0;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *t = &profile->trials[i];
        size_t at = 0;
        if (t->state != ASSAY__TRIAL_FAILED && t->state != ASSAY__TRIAL_SKIPPED) continue;
        while (at < kinds && !same_alert(profile, first[at], t))
            at++;
        if (at == kinds && kinds < REASONS) first[kinds++] = t;
        alike += at == index;
    }
    if (index >= kinds) return 0;
    const struct assay__trial *t = first[index];
    if (assay__render_stands(profile, t)) {
        put_lost(out, profile, t, alike);
        return 1;
    }
    assay__buf_puts(out, t->state == ASSAY__TRIAL_FAILED ? "FAILED" : "SKIPPED");
    if (alike > 1)
        assay__buf_printf(out, " (%zu of %zu trials)", alike, profile->trial_count);
    else if (profile->trial_count > 1)
        assay__buf_printf(out, " (trial %d)", t->id);
    assay__buf_printf(out, ": %s", t->reason && *t->reason ? t->reason : "no reason was recorded");
    return 1;
}

int assay__render_alert(struct assay__buf *out, const struct assay_profile *profile, size_t index)
{
    bool whole = profile->complete || profile->interrupted;
    if (!whole && index-- == 0)
        assay__buf_puts(
            out, "INCOMPLETE: the capture did not end (killed, or its disk was full); what it "
                 "had measured until then follows.");
    else if (profile->interrupted && index-- == 0)
        assay__buf_puts(out, "INTERRUPTED: the capture was stopped before it ended; what it had "
                             "measured until then follows.");
    else if (!profile->trial_count && index-- == 0)
        assay__buf_puts(out, "EMPTY: this profile holds no trial.");
    else
        return put_failures(out, profile, index);
    return 1;
}

/* --- unavailable ------------------------------------------------------------------------------ */

/* A profile from elsewhere may hold any number of reasons: more than a reader reads are joined. */
#define REASONS_MAX 100

/* Names that share their first part are joined short: "latency.transfer_in, .execute". */
static void add_name(struct assay__reason_group *group, const char *last, const char *name)
{
    const char *dot = strchr(name, '.');
    size_t family = dot ? (size_t)(dot - name) : strlen(name);
    bool same = last && strncmp(last, name, family) == 0 && last[family] == '.' && dot;
    if (last) assay__buf_puts(&group->names, ", ");
    assay__buf_puts(&group->names, same ? dot : name);
}

int assay__render_unavailable(const struct assay_metrics *metrics,
                              struct assay__reason_group **groups, size_t *count)
{
    size_t capacity = 0, last_capacity = 0;
    const char **last = NULL;
    int code = 0;
    *groups = NULL;
    *count = 0;
    for (size_t i = 0; metrics && !code && i < assay_metrics_count(metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(metrics, i);
        if (m->state != ASSAY_UNAVAILABLE) continue;
        const char *reason = assay__metrics_root(metrics, m)->note;
        if (!reason || !*reason) reason = "no reason was recorded";
        size_t g = 0;
        while (g < *count && g < REASONS_MAX && strcmp((*groups)[g].reason, reason) != 0)
            g++;
        if (g == *count) {
            if (g == REASONS_MAX) reason = "other reasons (the JSON and CSV reports have them all)";
            code = assay__vec_grow((void **)groups, &capacity, g + 1, sizeof **groups);
            if (!code) code = assay__vec_grow((void **)&last, &last_capacity, g + 1, sizeof *last);
            if (code) break;
            (*groups)[g] = (struct assay__reason_group){.reason = reason};
            (*count)++;
        }
        add_name(&(*groups)[g], last[g], m->name);
        last[g] = m->name;
    }
    free(last);
    return code;
}
