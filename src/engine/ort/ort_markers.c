/* ort_markers.c - layer times from markers inside the real graph.
 *
 * The optimised graph gets a marker behind every node (ort_instrument.c) and runs in a session of
 * its own. Then
 *   time of a node = entry of its first marker - exit of the marker before that in time - c,
 * c being the same gap between two markers with nothing in between, from a chain of markers. A node
 * ends with the first of its markers in time; gaps before its other markers and before markers of
 * graph inputs hold no node and are dropped.
 *
 * A second session, the bracket, has markers on the graph inputs and behind the last node only:
 * almost undisturbed, it gives the time of all nodes together and what a run costs before the first
 * and after the last node. The node times are scaled to the bracket's total; the factor is
 * reported. Nothing is scaled to the latency.
 *
 * One round = unprofiled runs, marked session, bracket session, unprofiled runs; sessions are fresh
 * in each round because two sessions of one model differ by percents. A round counts when the
 * unprofiled medians before and after it agree within 4 % with each other and with the launch's
 * latency: otherwise the machine was in another state, and its times would not belong to that
 * latency. For the same reason the marked graph's sum and the bracket's total must agree within 15
 * %. Within a round a node's time is the inter-quartile mean of its runs (finer than the clock's
 * step), over rounds the median. When means and medians of the nodes differ by more than 5 %,
 * something else ran, and the result says so.
 *
 * The speed of a model that streams large weights depends on where they are in memory: of two
 * sessions open at once the later one ran 2 to 5 % faster on an AlexNet (4 kB pages; either model
 * first), one after the other they ran equally fast. For such models no two sessions are open at
 * once while one is timed.
 *
 * Limits: CPU provider, sequential execution, one run at a time. */
#include "engine/ort/ort_markers.h"

#include "base/stats.h"
#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 2000
#define SAMPLE_MEMORY ((size_t)64 << 20)

/* --- the result ------------------------------------------------------------------------------- */

/** Median over rounds of the double at `offset` in each. */
static double over_rounds(const struct assay__marking *m, size_t count, size_t offset)
{
    double values[ASSAY__ROUNDS_MOST];
    for (size_t i = 0; i < count; i++)
        memcpy(&values[i], (const char *)&m->rounds[i] + offset, sizeof values[i]);
    assay__stats_sort(values, count);
    return assay__stats_median(values, count);
}

#define OVER_ROUNDS(m, count, member) \
    over_rounds(m, count, offsetof(struct assay__marking_round, member))

static void fill_layers(struct assay__marking *m, size_t count)
{
    struct assay__layer_result *result = m->work->result;
    double values[ASSAY__ROUNDS_MOST], sum_ns = 0;
    for (size_t i = 0; i < m->node_count; i++) {
        for (size_t r = 0; r < count; r++)
            values[r] = m->rounds[r].node_ns[i];
        if (isnan(values[0])) continue;
        assay__stats_sort(values, count);
        m->work->layers[i].time_ns = assay__stats_median(values, count);
        sum_ns += m->work->layers[i].time_ns;
    }
    double bracket_ns = OVER_ROUNDS(m, count, bracket_ns);
    result->engine_ns = OVER_ROUNDS(m, count, engine_ns);
    result->scale_factor = sum_ns > 0 && bracket_ns > 0 ? bracket_ns / sum_ns : NAN;
    for (size_t i = 0; i < m->node_count; i++) {
        struct assay__engine_layer *layer = &m->work->layers[i];
        const struct assay__node *node = &m->work->optimized->graph.nodes[i];
        layer->state = isnan(layer->time_ns) ? ASSAY_UNAVAILABLE : ASSAY_MEASURED;
        if (isfinite(result->scale_factor)) layer->time_ns *= result->scale_factor;
        if (m->position[i] == SIZE_MAX)
            layer->note =
                node->output_count
                    ? "its values cannot carry a marker: its time is in the layer that ran after it"
                    : "has no output: its time is in the layer that ran after it";
        else if (m->position[i] == 0)
            layer->note = "runs before the first marker: its time is in the engine row";
    }
}

static void describe(struct assay__marking *m, size_t count, size_t good)
{
    struct assay__layer_result *result = m->work->result;
    double low = INFINITY, high = 0;
    for (size_t r = 0; r < count; r++) {
        low = fmin(low, m->rounds[r].bracket_ns);
        high = fmax(high, m->rounds[r].bracket_ns);
    }
    result->method = "markers";
    result->sessions = (int)count;
    result->discarded = (int)(m->round_count - count);
    result->spread = count > 1 && low > 0 ? (high - low) / low : NAN;
    result->contention = OVER_ROUNDS(m, count, contention);
    result->slowdown = OVER_ROUNDS(m, count, marked_run_ns) / OVER_ROUNDS(m, count, before_ns);
    double bracket_run = OVER_ROUNDS(m, count, bracket_run_ns) / OVER_ROUNDS(m, count, before_ns);
    if (good == 0 && m->rounds[0].deviation > ASSAY__STATE_TOLERANCE)
        assay__layers_say(m->work,
                          "The machine did not keep the speed of the latency pass: the unprofiled "
                          "runs around the layer passes differ by %.0f %% or more from it or from "
                          "each other.",
                          100 * m->rounds[0].deviation);
    else if (good == 0)
        assay__layers_say(m->work,
                          "The sum of the layers and the total of the bracket differ by %.0f %%.",
                          100 * m->rounds[0].apart);
    if (fabs(bracket_run - 1) > 0.05)
        assay__layers_say(m->work, "The reloaded graph runs %.2f times as long as the model.",
                          bracket_run);
    if (result->contention > ASSAY__CONTENTION_LIMIT)
        assay__layers_say(
            m->work,
            "Means of the nodes are %.0f %% above their medians: other processes disturbed them.",
            100 * result->contention);
    if (m->copies)
        assay__layers_say(m->work, "Markers had to copy %llu times: layer times are too high.",
                          (unsigned long long)m->copies);
}

/* --- the whole -------------------------------------------------------------------------------- */

static struct assay__marking *marking_new(struct assay__layer_work *work)
{
    struct assay__marking *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->work = work;
    m->node_count = work->optimized->graph.node_count;
    return m;
}

static void marking_free(struct assay__marking *m)
{
    assay__timed_close(&m->plain);
    assay__model_free(m->marked);
    assay__model_free(m->bracket);
    assay__layers_unlink(m->marked_path);
    assay__layers_unlink(m->bracket_path);
    free(m->samples);
    free(m->totals);
    free(m->rests);
    free(m->times);
    free(m);
}

static int prepare(struct assay__marking *m, struct assay_error *error)
{
    int code = assay__timed_borrow(m->work->session, &m->plain, error);
    if (!code) code = assay__timed_median(&m->plain, 1, 3, &m->plain_ns, error);
    if (!code) code = assay__marking_chain(m, error);
    if (!code) code = assay__marking_make(m, error);
    if (!code) code = assay__marking_make_bracket(m, error);
    if (code) return code;
    size_t room = SAMPLE_MEMORY / sizeof(double) / (m->node_count + 1);
    m->runs_most = room < 8 ? 8 : room > RUNS_MOST ? RUNS_MOST : room;
    m->samples = calloc((m->node_count + 1) * m->runs_most, sizeof *m->samples);
    m->totals = calloc(m->runs_most + 1, sizeof *m->totals);
    m->rests = calloc(m->runs_most + 1, sizeof *m->rests);
    m->times = calloc(m->runs_most + 1, sizeof *m->times);
    if (!m->samples || !m->totals || !m->rests || !m->times) return assay__no_memory(error);
    return 0;
}

static void count_layers(struct assay__marking *m)
{
    double plain_ns = m->round_count ? OVER_ROUNDS(m, m->round_count, after_ns) : m->plain_ns;
    struct assay__counted_graph graph = {m->marked_path, m->plan.mark_count, m->node_count,
                                         m->sequence,    m->first_of,        plain_ns};
    if (m->alone) assay__marking_put_plain_away(m);
    assay__layers_counted(m->work, &graph);
}

int assay__layers_markers(struct assay__layer_work *work, struct assay_error *error)
{
    size_t good = 0;
    struct assay__marking *m = marking_new(work);
    if (!m) return assay__no_memory(error);
    int code = prepare(m, error);
    if (!code) code = assay__marking_rounds(m, &good, error);
    if (!code) {
        size_t used = good ? good : m->round_count < 3 ? m->round_count : 3;
        fill_layers(m, used);
        describe(m, used, good);
        if (assay__marking_order(m))
            code = assay__no_memory(error);
        else if (work->counters)
            count_layers(m);
    }
    marking_free(m);
    /* The caller goes on with the session it gave, also after a failed round. */
    int resumed = assay__timed_resume(work->session, code ? NULL : error);
    return code ? code : resumed;
}

void assay__layers_learn_order(struct assay__layer_work *work)
{
    struct assay__marking *m = marking_new(work);
    if (!m) return;
    if (assay__timed_borrow(work->session, &m->plain, NULL) || assay__marking_make(m, NULL) ||
        assay__marking_order(m))
        work->order = NULL;
    marking_free(m);
}
