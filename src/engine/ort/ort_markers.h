/* ort_markers.h - what the files of layer times from markers share (the method is described in
 * ort_markers.c).
 *
 *   ort_markers.c         passes over each graph, rounds of them, and the result
 *   ort_markers_graph.c   the graphs with markers, the order in which their nodes run, and what a
 *                         marker itself costs */
#ifndef ASSAY_ENGINE_ORT_ORT_MARKERS_H
#define ASSAY_ENGINE_ORT_ORT_MARKERS_H

#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_layers.h"

#include "base/stats.h"

#define ASSAY__ROUNDS_MOST 24
#define ASSAY__STATE_TOLERANCE 0.04

struct assay__marking_round {
    double *node_ns; /* by node; NaN where it has none */
    double sum_ns;
    double bracket_ns, engine_ns; /* all nodes; the rest of a run */
    double marked_run_ns, bracket_run_ns;
    double before_ns, after_ns;
    double contention; /* sum of means / sum of medians - 1 */
    double deviation;  /* of the unprofiled runs around it from each other and from the latency */
    double apart;      /* of the marked graph's sum from the bracket's total */
};

struct assay__marking {
    struct assay__layer_work *work;
    size_t node_count;
    char marked_path[ASSAY__LAYERS_PATH], bracket_path[ASSAY__LAYERS_PATH];
    struct assay__mark_plan plan, bracket_plan; /* in the arenas of the models below */
    struct assay__model *marked, *bracket;
    uint32_t *sequence;     /* marker ids in the order of time */
    size_t *first_of;       /* by position: the node whose first marker this is, or SIZE_MAX */
    size_t *position;       /* by node: position of its first marker, or SIZE_MAX */
    size_t *input_position; /* by graph input */
    double gap_ns, own_ns;  /* c, and a marker's entry to exit */
    double frame_ns;        /* what one more value costs the run beyond that */
    double *samples;        /* node_count x runs */
    double *totals, *rests, *times;
    size_t runs_most;
    struct assay__timed plain;
    double plain_ns;
    bool alone; /* one session open at a time */
    struct assay__marking_round rounds[ASSAY__ROUNDS_MOST];
    size_t round_count;
    uint64_t copies;
    bool *scalars, has_scalars; /* by marker id */
};

/** Puts the values in order; their inter-quartile mean. */
static inline double assay__marking_iqm(double *values, size_t count)
{
    assay__stats_sort(values, count);
    return assay__stats_iqm(values, count);
}

/** Measures gap_ns, own_ns and frame_ns. */
int assay__marking_chain(struct assay__marking *m, struct assay_error *error);

/** The graph with a marker behind every node: written, tried (it must load, run and give the same
 *  outputs), its order learnt. Wants `plain`. */
int assay__marking_make(struct assay__marking *m, struct assay_error *error);
/** The graph with markers on its inputs and behind its last node only. */
int assay__marking_make_bracket(struct assay__marking *m, struct assay_error *error);
/** The execution order into the work: by marker; a node without one comes before the first node
 * that uses it. */
int assay__marking_order(struct assay__marking *m);

#endif
