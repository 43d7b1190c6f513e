/* ort_markers.h - shared by the files of layer timing by markers (the method is described in
 * ort_markers.c).
 *
 *   ort_markers.c         the whole, and the result
 *   ort_markers_graph.c   the graphs with markers, the order in which their nodes run, and what a
 *                         marker itself costs
 *   ort_markers_block.c   blocks of runs of these graphs */
#ifndef ASSAY_ENGINE_ORT_ORT_MARKERS_H
#define ASSAY_ENGINE_ORT_ORT_MARKERS_H

#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_layers.h"

#include "base/stats.h"

/** How many runs of each graph are kept. */
struct assay__marking_runs {
    size_t marked, bracket;
};

struct assay__marking {
    struct assay__layer_work *work;
    size_t node_count;
    char marked_path[ASSAY__LAYERS_PATH], bracket_path[ASSAY__LAYERS_PATH];
    struct assay__mark_plan plan, bracket_plan; /* in the arenas of the models below */
    struct assay__model *marked, *bracket;
    size_t event_count;         /* markers in one run, each as often as it runs */
    uint32_t *sequence;         /* marker ids in the order of time */
    size_t *first_of;           /* by position: the node whose first marker this is, or SIZE_MAX */
    size_t *position;           /* by node: position of its first marker, or SIZE_MAX */
    size_t *input_position;     /* by graph input */
    double gap_ns, own_ns;      /* c, and a marker's entry to exit */
    double frame_ns;            /* additional cost per value */
    bool *scalars, has_scalars; /* by marker id */

    struct assay__timed plain, marked_session, bracket_session;
    double plain_ns; /* an unprofiled run, about */
    bool alone;      /* one session open at a time */

    double *rows;                   /* by marked run: the time of each node, NaN if it has none */
    double *sums;                   /* by marked run: its nodes together */
    double *marked_ns;              /* by marked run: the whole run */
    double *totals, *rests, *times; /* by run of the bracket: all nodes, the rest, the whole run */
    size_t runs_most;
    struct assay__marking_runs runs, before; /* now, and before the last block */
    int blocks, dropped;
    uint64_t copies;
};

/** Builds and tries both graphs. shared: several sessions will be open, ASSAY_EUNSUPPORTED if the
 *  model must be timed with one. Free the result even if it fails. */
int assay__marking_open(struct assay__layer_work *work, bool shared,
                        struct assay__marking **marking, struct assay_error *error);
/** The layers and the result, from the blocks that were kept. */
int assay__marking_conclude(struct assay__marking *m, struct assay_error *error);
void assay__marking_free(struct assay__marking *m);
/** Only the graph with a marker after every node, its session open, and the session without
 *  markers. Free the result even if it fails. */
int assay__marking_open_marked(struct assay__layer_work *work, struct assay__marking **marking,
                               struct assay_error *error);

/** Room for the events of a run, and for the number of every marker. */
static inline size_t assay__marking_room(const struct assay__marking *m)
{
    return (m->event_count > m->plan.mark_count ? m->event_count : m->plan.mark_count) + 1;
}

/** Sorts the values; returns their inter-quartile mean. */
static inline double assay__marking_iqm(double *values, size_t count)
{
    assay__stats_sort(values, count);
    return assay__stats_iqm(values, count);
}

/** Measures gap_ns, own_ns and frame_ns. */
int assay__marking_chain(struct assay__marking *m, struct assay_error *error);

/** The graph with a marker after every node: written, tried (it must load, run and have the same
 *  outputs), its order learnt. Needs `plain`. */
int assay__marking_make(struct assay__marking *m, struct assay_error *error);
/** The graph with markers only on its inputs and after its last node. */
int assay__marking_make_bracket(struct assay__marking *m, struct assay_error *error);
/** Stores the execution order in the work: by marker; a node without one comes before the first
 *  node that uses it. */
int assay__marking_order(struct assay__marking *m);

/** Decides whether sessions must be alone, and allocates room for the runs. */
bool assay__marking_wants_alone(const struct assay__marking *m);
int assay__marking_plan(struct assay__marking *m, struct assay_error *error);
/** Runs both graphs with markers for about that long, at least twice each. */
int assay__marking_block(struct assay__marking *m, double seconds, struct assay_error *error);
/** Discards the last block. */
void assay__marking_drop(struct assay__marking *m);
/** The median run of the bracket without its markers, in ns: the sum of layers and engine; NaN
 *  unknown. */
double assay__marking_total_ns(const struct assay__marking *m);
/** Blocks between blocks of unprofiled runs, until there are enough or the budget is spent. */
int assay__marking_alternate(struct assay__marking *m, struct assay_error *error);
/** Closes the session without markers, so that another is alone. */
void assay__marking_put_plain_away(struct assay__marking *m);

#endif
