/* ort_markers_graph.c - the graphs with markers: built from the optimised graph and tried, with the
 * order of markers and nodes learnt from a run. A graph with markers that has different outputs is
 * rejected. And the cost of a marker, from graphs that are just a chain of markers: the gap between
 * two of them, a marker's own time, and the additional cost of one more value.
 */
#include "engine/ort/ort_markers.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>

#define CHAIN_LENGTH 20
#define CHAIN_RUNS 400
#define EVENTS_MOST ((size_t)1 << 18) /* of a graph with loops, in one run */
/* usual: 20 to 50; beyond it the machine changed between the two chains */
#define FRAME_MOST_NS 80
/* A GPU's libraries choose kernels by trying them, in each session anew: of other precision, too.
 */
#define DEVICE_DIFFERENCE 2e-2

/* --- built, tried, their order recorded ------------------------------------------------------- */

static int write_marked(struct assay__marking *m, const struct assay__mark_options *options,
                        const char *name, struct assay__model **model,
                        struct assay__mark_plan *plan, char *path, struct assay_error *error)
{
    assay__model_free(*model);
    *model = NULL;
    struct assay__mark_options own = *options;
    own.flat = m->work->flat.body_count > 0;
    if (m->work->markable && !own.nodes) own.nodes = m->work->markable;
    own.no_inputs = m->work->markable != NULL;
    int code = assay__layers_path(m->work, name, path, ASSAY__LAYERS_PATH, error);
    if (!code) code = assay__model_read(m->work->optimized_path, model, error);
    if (!code) code = assay__markers_insert(*model, &own, plan, error);
    if (!code) code = assay__model_write(*model, path, error);
    return code;
}

/** Whether the marker at position p ends what ran before it. A node ends with the first of its
 *  markers in time, and again with that one in every iteration of a loop; the first marker of an
 *  iteration ends what the loop itself does between two iterations. */
static size_t ends_at(const struct assay__marking *m, size_t p)
{
    const struct assay__mark *mark = &m->plan.marks[m->sequence[p]];
    if (mark->input) return SIZE_MAX;
    if (mark->enters) {
        const struct assay__mark *before = p ? &m->plan.marks[m->sequence[p - 1]] : NULL;
        return before && before->enters && before->index == mark->index ? SIZE_MAX : mark->index;
    }
    return m->sequence[m->position[mark->index]] == m->sequence[p] ? mark->index : SIZE_MAX;
}

static int make_room(struct assay__marking *m, size_t events, struct assay_error *error)
{
    struct assay__arena *arena = m->work->arena;
    m->event_count = events;
    m->sequence = assay__arena_array(arena, events + 1, sizeof *m->sequence);
    m->first_of = assay__arena_array(arena, events + 1, sizeof *m->first_of);
    m->position = assay__arena_array(arena, m->node_count + 1, sizeof *m->position);
    m->input_position = assay__arena_array(arena, m->work->optimized->graph.input_count + 1,
                                           sizeof *m->input_position);
    m->work->ran = assay__arena_array(arena, m->node_count + 1, sizeof *m->work->ran);
    return assay__arena_failed(arena) ? assay__no_memory(error) : 0;
}

/** Nodes of bodies that did not run are not layers. */
static int note_ran(struct assay__marking *m, struct assay_error *error)
{
    const struct assay__flat *flat = &m->work->flat;
    bool *bodies = calloc(flat->body_count + 1, sizeof *bodies);
    if (!bodies) return assay__no_memory(error);
    bodies[0] = true;
    for (size_t i = 0; i < m->node_count; i++)
        bodies[flat->body[i]] |= m->position[i] != SIZE_MAX;
    for (size_t i = 0; i < m->node_count; i++)
        m->work->ran[i] = bodies[flat->body[i]];
    free(bodies);
    return 0;
}

/** The order in which the markers ran, and from it the order of the nodes. Without bodies each runs
 *  once. */
static int learn_order(struct assay__marking *m, const struct assay__timed *timed,
                       struct assay_error *error)
{
    const struct assay__marker_log *log = &timed->log;
    bool bodies = m->work->flat.body_count > 0;
    if (log->dropped || (!bodies && log->count != m->plan.mark_count))
        return assay_error_set(error, ASSAY_EENGINE, "%zu of %zu markers ran in one run",
                               log->count, m->plan.mark_count);
    int code = make_room(m, log->count, error);
    if (code) return code;
    for (size_t i = 0; i < m->node_count; i++)
        m->position[i] = SIZE_MAX;
    for (size_t p = 0; p < log->count; p++) {
        uint32_t id = log->events[p].id;
        if (id >= m->plan.mark_count)
            return assay_error_set(error, ASSAY_EENGINE, "an unknown marker ran");
        const struct assay__mark *mark = &m->plan.marks[id];
        m->sequence[p] = id;
        if (mark->input)
            m->input_position[mark->index] = p;
        else if (!mark->enters && m->position[mark->index] == SIZE_MAX)
            m->position[mark->index] = p;
    }
    for (size_t p = 0; p < log->count; p++)
        m->first_of[p] = ends_at(m, p);
    return note_ran(m, error);
}

static int check_outputs(struct assay__marking *m, struct assay__timed *timed,
                         struct assay_error *error)
{
    struct assay__session *session = m->work->session;
    double largest = 0;
    if (m->work->random) {
        assay__layers_say(m->work,
                          "The model uses random numbers: outputs with markers were not compared.");
        return 0;
    }
    for (size_t i = 0; i < timed->output_count; i++)
        largest = fmax(largest, assay__values_difference(&session->ort, session->allocator,
                                                         m->plain.outputs[i], timed->outputs[i]));
    if (largest == 0) return 0;
    if (largest > (m->work->mark_provider ? DEVICE_DIFFERENCE : 1e-3))
        return assay_error_set(error, ASSAY_EENGINE,
                               "the graph with markers has different outputs");
    assay__layers_say(m->work, "Outputs with markers differ by up to %.1e of the largest value.",
                      largest);
    return 0;
}

/** Opens the marked graph: it must load, run, and have the same outputs. The session stays open if
 *  it can be used for the blocks. */
static int try_marked(struct assay__marking *m, struct assay_error *error)
{
    struct assay__timed *timed = &m->marked_session;
    struct assay__timed_options options = {.path = m->marked_path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .mark_count = m->plan.mark_count + 1,
                                           .mark_provider = m->work->mark_provider};
    if (m->plan.loops && options.mark_count < EVENTS_MOST) options.mark_count = EVENTS_MOST;
    int code = assay__timed_open(m->work->session, &options, timed, error);
    assay__timed_restart(&m->plain); /* as many runs from the initial state as the other */
    for (int i = 0; !code && i < 2; i++) {
        code = assay__timed_run(timed, NULL, error);
        if (!code) code = assay__timed_run(&m->plain, NULL, error);
    }
    if (!code) code = learn_order(m, timed, error);
    if (!code) code = check_outputs(m, timed, error);
    m->has_scalars = false;
    for (size_t i = 0; !code && i < m->plan.mark_count; i++) {
        m->scalars[i] = timed->log.scalars[i];
        m->has_scalars |= m->scalars[i];
    }
    if (code || m->alone) assay__timed_close(timed);
    return code;
}

/** Writes and tries the marked graph with these options, and again if it has scalars: shapes after
 *  them are known once the graph declares them. */
static int make_with(struct assay__marking *m, struct assay__mark_options options,
                     struct assay_error *error)
{
    int code = write_marked(m, &options, "marked.onnx", &m->marked, &m->plan, m->marked_path,
                            error);
    if (code) return code;
    m->scalars = assay__arena_array(m->work->arena, m->plan.mark_count + 1, sizeof *m->scalars);
    if (!m->scalars) return assay__no_memory(error);
    code = try_marked(m, error);
    if (code || !m->has_scalars) return code;
    assay__timed_close(&m->marked_session);
    options.scalars = m->scalars;
    code = write_marked(m, &options, "marked.onnx", &m->marked, &m->plan, m->marked_path, error);
    return code ? code : try_marked(m, error);
}

int assay__marking_make(struct assay__marking *m, struct assay_error *error)
{
    bool bodies = m->work->flat.body_count > 0;
    int code = ASSAY_EENGINE;
    /* Perhaps a value without a declared type is not a tensor after all (strict); perhaps bodies
     * cannot be marked. */
    for (int with = bodies; with >= 0 && code; with--)
        for (int strict = 0; strict < 2 && code && code != ASSAY_ENOMEM; strict++)
            code = make_with(
                m, (struct assay__mark_options){.bodies = with != 0, .strict = strict != 0}, error);
    return code;
}

int assay__marking_make_bracket(struct assay__marking *m, struct assay_error *error)
{
    bool *wanted = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *wanted);
    if (!wanted) return assay__no_memory(error);
    const size_t *parent = m->work->flat.parent;
    for (size_t p = m->event_count; p-- > 0;)
        if (m->first_of[p] != SIZE_MAX && parent[m->first_of[p]] == SIZE_MAX) {
            wanted[m->first_of[p]] = true;
            break;
        }
    /* Without an input before it, the bracket begins at the first node. */
    if (m->event_count && m->first_of[0] != SIZE_MAX && parent[m->first_of[0]] == SIZE_MAX)
        wanted[m->first_of[0]] = true;
    struct assay__mark_options options = {.nodes = wanted};
    return write_marked(m, &options, "bracket.onnx", &m->bracket, &m->bracket_plan, m->bracket_path,
                        error);
}

/* --- the order of the nodes ------------------------------------------------------------------- */

struct ranked {
    double key;
    size_t node;
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

int assay__marking_order(struct assay__marking *m)
{
    const struct assay__graph *graph = &m->work->flat.graph;
    struct ranked *ranks = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *ranks);
    m->work->order = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *m->work->order);
    struct assay__map *keys =
        assay__map_new(); /* value -> lowest position of a consumer, doubled */
    int code = ranks && m->work->order && keys ? 0 : ASSAY_ENOMEM;
    /* Consumers come first: the file is in topological order. */
    for (size_t i = m->node_count; !code && i-- > 0;) {
        const struct assay__node *node = &graph->nodes[i];
        size_t key = 2 * m->event_count + 2;
        if (m->position[i] != SIZE_MAX) {
            key = 2 * m->position[i] + 1;
        } else {
            for (size_t k = 0; k < node->output_count; k++) {
                size_t found = assay__map_get(keys, node->outputs[k]);
                if (found != ASSAY__MAP_NONE && found < key) key = found;
            }
            key -= key % 2; /* just before its consumer; equal keys keep the order of the file */
        }
        ranks[i] = (struct ranked){.key = (double)key, .node = i};
        for (size_t k = 0; !code && k < node->input_count; k++) {
            size_t found = assay__map_get(keys, node->inputs[k]);
            if (found == ASSAY__MAP_NONE || key < found)
                code = assay__map_set(keys, node->inputs[k], key);
        }
    }
    assay__map_free(keys);
    if (code) return code;
    qsort(ranks, m->node_count, sizeof *ranks, by_key);
    for (size_t i = 0; i < m->node_count; i++)
        m->work->order[i] = ranks[i].node;
    return 0;
}

/* --- what a marker costs ---------------------------------------------------------------------- */

/* What a chain of markers measures: gaps between them, their own time, the whole run. */
struct chain_times {
    double gap_ns, own_ns, run_ns;
};

int assay__chain_open(struct assay__layer_work *work, size_t length,
                      const struct assay__layer_counters *counters, struct assay__chain *chain,
                      struct assay_error *error)
{
    static const char *const input_names[] = {"x"}, *const output_names[] = {"y"};
    const struct assay__ort *ort = &work->session->ort;
    char path[ASSAY__LAYERS_PATH];
    *chain = (struct assay__chain){.number = 1};
    const int64_t one = 1;
    int code = assay__path_join(work->folder, "chain.onnx", path, sizeof path);
    struct assay__model *model = assay__marker_chain(length);
    if (!code && !model) code = assay__no_memory(error);
    if (!code) code = assay__model_write(model, path, error);
    if (!code)
        code = assay__ort_check(ort,
                                ort->create_tensor_with_data(
                                    work->session->cpu_memory, &chain->number, sizeof chain->number,
                                    &one, 1, ASSAY__ORT_ELEMENT_FLOAT, &chain->value),
                                error, "cannot create a tensor");
    struct assay__timed_options options = {.path = path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .mark_count = length,
                                           .counters = counters,
                                           .input_names = input_names,
                                           .inputs = (const OrtValue *const *)&chain->value,
                                           .input_count = 1,
                                           .output_names = output_names,
                                           .output_count = 1};
    if (!code) code = assay__timed_open(work->session, &options, &chain->timed, error);
    assay__model_free(model);
    return code;
}

void assay__chain_close(struct assay__layer_work *work, struct assay__chain *chain)
{
    assay__timed_close(&chain->timed);
    assay__ort_release_values(&work->session->ort, &chain->value, 1);
}

static int time_chain(struct assay__marking *m, size_t length, struct chain_times *times,
                      struct assay_error *error)
{
    struct assay__chain chain;
    size_t room = (size_t)CHAIN_RUNS * CHAIN_LENGTH, count = 0;
    double *gaps = calloc(room, sizeof *gaps), *owns = calloc(room, sizeof *owns);
    double runs[CHAIN_RUNS] = {0};
    int code = assay__chain_open(m->work, length, NULL, &chain, error);
    if (!code && (!gaps || !owns)) code = assay__no_memory(error);
    for (size_t i = 0; !code && i < CHAIN_RUNS / 4; i++)
        code = assay__timed_run(&chain.timed, NULL, error);
    for (size_t i = 0; !code && i < CHAIN_RUNS; i++) {
        code = assay__timed_run(&chain.timed, &runs[i], error);
        const struct assay__marker_event *events = chain.timed.log.events;
        for (size_t k = 1; !code && k < chain.timed.log.count && count < room; k++, count++) {
            gaps[count] = (double)(events[k].entry_ns - events[k - 1].exit_ns);
            owns[count] = (double)(events[k].exit_ns - events[k].entry_ns);
        }
    }
    if (!code && count)
        *times = (struct chain_times){assay__marking_iqm(gaps, count),
                                      assay__marking_iqm(owns, count),
                                      assay__marking_iqm(runs, CHAIN_RUNS)};
    assay__chain_close(m->work, &chain);
    free(gaps);
    free(owns);
    return code;
}

/* A marker costs more than its own time and the gap, because the engine manages one more value. Two
 * chains of different length give the total cost; what exceeds time and gap is subtracted for the
 * bracket's markers, so that it is not attributed to the engine. */
int assay__marking_chain(struct assay__marking *m, struct assay_error *error)
{
    struct chain_times full = {0}, half = {0};
    int code = time_chain(m, CHAIN_LENGTH, &full, error);
    if (!code) code = time_chain(m, CHAIN_LENGTH / 2, &half, error);
    if (code) return code;
    m->gap_ns = full.gap_ns;
    m->own_ns = full.own_ns;
    double whole_ns = (full.run_ns - half.run_ns) / (CHAIN_LENGTH - CHAIN_LENGTH / 2);
    m->frame_ns = fmin(fmax(whole_ns - full.gap_ns - full.own_ns, 0), FRAME_MOST_NS);
    return 0;
}
