/* ort_markers.c - layer times from markers inside the real graph.
 *
 * The optimised graph gets a marker after every node (ort_instrument.c) and runs in a separate
 * session. Then
 *   time of a node = entry to its first marker - exit from the previous marker in time - c,
 * c being the same gap between two markers with nothing in between, from a chain of markers. A node
 * ends with the first of its markers in time; gaps before its other markers and before markers of
 * graph inputs contain no node and are dropped.
 *
 * A second session, the bracket, has markers only on the graph inputs and after the last node:
 * almost undisturbed, it gives the time of all nodes together and the cost of a run before the
 * first and after the last node. The node times are scaled to the bracket's total; the factor is
 * reported. Nothing is scaled to the latency.
 *
 * Both sessions run in short blocks that alternate with unprofiled runs: the measured windows if
 * the caller requests blocks, else our own. All three then see the machine in the same state. A
 * node's time is its mean over the marked runs in the middle of the order by total time, so that
 * the nodes add up to a median run whatever the distribution: medians of single nodes would not
 * (with a busy second core they summed to 47 % of the run).
 *
 * The speed of a model that streams large weights depends on where they are in memory: of two
 * sessions open at once the later one ran 2 to 5 % faster on an AlexNet (4 kB pages; either model
 * first), one after the other they ran equally fast. For such models only one session is open while
 * it is timed.
 *
 * Limits: CPU provider, sequential execution, one run at a time. */
#include "engine/ort/ort_markers.h"

#include "base/stats.h"
#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CENTRAL_SHARE 0.2 /* of the runs, around the median … */
#define CENTRAL_LEAST 5u  /* … and at least this many */

/* --- the result ------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    double x = ((const struct assay__ranked_run *)a)->key,
           y = ((const struct assay__ranked_run *)b)->key;
    return x < y ? -1 : x > y;
}

struct assay__ranked_run *assay__layers_rank(const double *keys, size_t count, size_t *first,
                                             size_t *chosen)
{
    struct assay__ranked_run *order = malloc((count + 1) * sizeof *order);
    if (!order) return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (struct assay__ranked_run){keys[i], i};
    qsort(order, count, sizeof *order, by_key);
    *chosen = (size_t)ceil((double)count * CENTRAL_SHARE);
    if (*chosen < CENTRAL_LEAST) *chosen = CENTRAL_LEAST;
    if (*chosen > count) *chosen = count;
    *first = (count - *chosen) / 2;
    return order;
}

double assay__layers_mean(const struct assay__ranked_run *runs, size_t count, const double *values,
                          size_t stride)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[runs[i].run * stride];
    return sum / (double)count;
}

static int fill_layers(struct assay__marking *m)
{
    struct assay__layers *result = m->work->result;
    size_t first, chosen, bracket_first, bracket_chosen;
    struct assay__ranked_run *marked = assay__layers_rank(m->sums, m->runs.marked, &first, &chosen);
    struct assay__ranked_run *bracket = assay__layers_rank(m->times, m->runs.bracket,
                                                           &bracket_first, &bracket_chosen);
    double sum_ns = 0, bracket_ns = 0;
    if (marked && bracket) {
        const struct assay__ranked_run *runs = bracket + bracket_first;
        bracket_ns = assay__layers_mean(runs, bracket_chosen, m->totals, 1);
        result->engine_ns = assay__layers_mean(runs, bracket_chosen, m->rests, 1);
        for (size_t i = 0; i < m->node_count; i++) {
            double time_ns = assay__layers_mean(marked + first, chosen, m->rows + i, m->node_count);
            if (time_ns < 0) time_ns = 0; /* below a marker's own cost */
            m->work->layers[i].time_ns = time_ns;
            if (isfinite(time_ns)) sum_ns += time_ns;
        }
        double low = bracket[m->runs.bracket / 4].key, high = bracket[m->runs.bracket * 3 / 4].key;
        result->spread = low > 0 ? (high - low) / low : NAN;
        double median = marked[m->runs.marked / 2].key;
        result->contention = assay__stats_mean(m->sums, m->runs.marked) / median - 1;
    }
    result->scale_factor = sum_ns > 0 && bracket_ns > 0 ? bracket_ns / sum_ns : NAN;
    int code = marked && bracket ? 0 : ASSAY_ENOMEM;
    free(marked);
    free(bracket);
    return code;
}

/* For a node in a loop: its time is that of all iterations. */
static void note_trips(struct assay__marking *m)
{
    size_t *times = calloc(m->node_count + 1, sizeof *times);
    for (size_t p = 0; times && p < m->event_count; p++)
        if (m->first_of[p] != SIZE_MAX && !m->plan.marks[m->sequence[p]].enters)
            times[m->first_of[p]]++;
    for (size_t i = 0; times && i < m->node_count; i++)
        if (times[i] > 1)
            m->work->layers[i].note = assay__arena_text(
                m->work->arena, "sum over all %zu iterations of a loop", times[i]);
    free(times);
}

static void note_layers(struct assay__marking *m)
{
    double factor = m->work->result->scale_factor;
    bool scaled = isfinite(factor);
    for (size_t i = 0; i < m->node_count; i++) {
        struct assay__layer *layer = &m->work->layers[i];
        const struct assay__node *node = &m->work->flat.graph.nodes[i];
        bool known = !isnan(layer->time_ns);
        layer->state = !known ? ASSAY_UNAVAILABLE : scaled ? ASSAY_DERIVED : ASSAY_MEASURED;
        if (scaled) layer->time_ns *= factor;
        if (m->position[i] == SIZE_MAX)
            layer->note =
                node->output_count
                    ? "its values cannot pass through a marker: its time is part of the next layer"
                    : "has no output: its time is part of the next layer";
        else if (m->position[i] == 0)
            layer->note = "runs before the first marker: its time is part of the engine row";
    }
    if (m->plan.loops) note_trips(m);
}

static void describe(struct assay__marking *m)
{
    struct assay__layers *result = m->work->result;
    double latency_ns = m->work->latency_ns > 0 ? m->work->latency_ns : m->plain_ns;
    assay__stats_sort(m->marked_ns, m->runs.marked);
    assay__stats_sort(m->times, m->runs.bracket);
    double bracket_run = assay__stats_median(m->times, m->runs.bracket) / latency_ns;
    result->method = "markers";
    result->sessions = m->alone ? m->blocks - m->dropped : 1;
    result->discarded = m->dropped;
    result->slowdown = assay__stats_median(m->marked_ns, m->runs.marked) / latency_ns;
    if (fabs(bracket_run - 1) > 0.05)
        assay__layers_say(m->work,
                          "The optimised graph, loaded again, is %.0f %% %s than the model.",
                          100 * fabs(1 - (bracket_run > 1 ? bracket_run : 1 / bracket_run)),
                          bracket_run > 1 ? "slower" : "faster");
    if (result->contention > ASSAY__CONTENTION_LIMIT)
        assay__layers_say(m->work,
                          "The mean is %.0f %% above the median: other processes interfered.",
                          100 * result->contention);
    if (m->copies)
        assay__layers_say(m->work, "Markers had to copy data %llu times: layer times are too high.",
                          (unsigned long long)m->copies);
}

/* --- the whole -------------------------------------------------------------------------------- */

void assay__marking_free(struct assay__marking *m)
{
    if (!m) return;
    assay__timed_close(&m->plain);
    assay__timed_close(&m->marked_session);
    assay__timed_close(&m->bracket_session);
    assay__model_free(m->marked);
    assay__model_free(m->bracket);
    assay__layers_unlink(m->marked_path);
    assay__layers_unlink(m->bracket_path);
    free(m->rows);
    free(m->sums);
    free(m->marked_ns);
    free(m->totals);
    free(m->rests);
    free(m->times);
    free(m);
}

static struct assay__marking *marking_new(struct assay__layer_work *work)
{
    struct assay__marking *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->work = work;
    m->node_count = work->flat.graph.node_count;
    return m;
}

int assay__marking_open(struct assay__layer_work *work, bool shared,
                        struct assay__marking **marking, struct assay_error *error)
{
    struct assay__marking *m = *marking = marking_new(work);
    if (!m) return assay__no_memory(error);
    int code = assay__timed_borrow(work->session, &m->plain, error);
    if (!code) code = assay__timed_median(&m->plain, 1, 3, &m->plain_ns, error);
    m->alone = !code && assay__marking_wants_alone(m);
    if (m->alone && shared)
        code = assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "a model that streams this many weights is timed with only one session open");
    if (!code) code = assay__marking_chain(m, error);
    if (!code) code = assay__marking_make(m, error);
    if (!code) code = assay__marking_make_bracket(m, error);
    if (!code) code = assay__marking_plan(m, error);
    return code;
}

double assay__marking_total_ns(const struct assay__marking *m)
{
    double *copy = malloc((m->runs.bracket + 1) * sizeof *copy), total_ns = NAN;
    if (copy && m->runs.bracket) {
        memcpy(copy, m->times, m->runs.bracket * sizeof *copy);
        assay__stats_sort(copy, m->runs.bracket);
        total_ns = assay__stats_median(copy, m->runs.bracket);
    }
    free(copy);
    return total_ns;
}

int assay__marking_conclude(struct assay__marking *m, struct assay_error *error)
{
    if (m->runs.marked == 0 || m->runs.bracket == 0)
        return assay_error_set(error, ASSAY_EENGINE, "no run with markers could be used");
    if (fill_layers(m) || assay__marking_order(m)) return assay__no_memory(error);
    note_layers(m);
    describe(m);
    if (!m->work->counters) return 0;
    struct assay__counted_graph graph = {m->marked_path, m->event_count, assay__marking_room(m),
                                         m->node_count,  m->sequence,    m->first_of,
                                         m->plain_ns};
    if (m->alone) assay__marking_put_plain_away(m);
    assay__layers_counted(m->work, &graph);
    return 0;
}

int assay__layers_markers(struct assay__layer_work *work, struct assay_error *error)
{
    struct assay__marking *m;
    int code = assay__marking_open(work, false, &m, error);
    if (!code) code = assay__marking_alternate(m, error);
    if (!code) code = assay__marking_conclude(m, error);
    assay__marking_free(m);
    /* The caller continues with the session it gave, even after a failed block. */
    int resumed = assay__timed_resume(work->session, code ? NULL : error);
    return code ? code : resumed;
}

int assay__marking_open_marked(struct assay__layer_work *work, struct assay__marking **marking,
                               struct assay_error *error)
{
    struct assay__marking *m = *marking = marking_new(work);
    if (!m) return assay__no_memory(error);
    int code = assay__timed_borrow(work->session, &m->plain, error);
    return code ? code : assay__marking_make(m, error);
}

void assay__layers_learn_order(struct assay__layer_work *work)
{
    struct assay__marking *m;
    if (assay__marking_open_marked(work, &m, NULL) || assay__marking_order(m)) work->order = NULL;
    assay__marking_free(m);
}
