/* ort_layers.h - what the files of the layer timing share: ort_layers.c (choice of method, the
 * optimised model, the result), ort_timed.c (sessions that are timed), ort_markers.c, ort_counted.c
 * (counters by markers), ort_kernels.c and ort_markable.c (CUDA), ort_isolated.c, ort_profile.c
 * (the methods), ort_origin.c (where a node of the optimised graph came from), ort_wires.c (which
 * values it reads and writes). How it works: doc/layer-timing.md. */
#ifndef ASSAY_ENGINE_ORT_ORT_LAYERS_H
#define ASSAY_ENGINE_ORT_ORT_LAYERS_H

#include "base/arena.h"
#include "base/buf.h"
#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_session.h"
#include "model/graph.h"

#include "engine/engine.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__LAYERS_PATH 4096

struct assay__marking; /* ort_markers.h */

/** One call of layers(), or all from layers_begin() to it. */
struct assay__layer_work {
    struct assay__session *session;
    struct assay__arena *arena; /* the result's */
    struct assay__layers *result;
    /* one per node of `flat` once that is known, by node index */
    struct assay__layer *layers;
    size_t layer_count;
    size_t *order; /* execution order of the nodes; NULL: as in the file */
    bool *ran;     /* by node: false if it is in a body that did not run; NULL: all did */
    double budget_s;
    uint64_t start_ns;
    double latency_ns; /* the unprofiled median to validate passes; NaN unknown */
    const struct assay__layer_counters *counters; /* requested for each layer; NULL: none */
    struct assay__marking *marking;               /* since layers_begin(); NULL otherwise */
    struct assay__buf reason;

    const char *keep;                /* folder that other processes use too; NULL: none */
    char folder[ASSAY__LAYERS_PATH]; /* private; removed at the end */
    /* "" or the folder of the weights: files go there, named .assay-… */
    char beside[ASSAY__LAYERS_PATH];
    char optimized_path[ASSAY__LAYERS_PATH];
    char weights_path[ASSAY__LAYERS_PATH]; /* "": the weights are in the optimised model itself */
    struct assay__model *optimized;        /* what the engine actually runs; NULL unknown */
    struct assay__model *original;
    struct assay__flat flat; /* the optimised graph, including bodies if they are timed too */
    bool random;             /* it uses random numbers: outputs cannot be compared */
    /* layers by their kernels: what the markers run on (NULL: the CPU), and which nodes have some
     * (by node index; NULL: all, and the inputs too) */
    const char *mark_provider;
    const bool *markable;
};

/** Adds a sentence to the result's reason. */
void assay__layers_say(struct assay__layer_work *work, const char *format, ...) ASSAY_PRINTF(2, 3);
double assay__layers_elapsed_s(const struct assay__layer_work *work);
/** Path of a file `name` that ONNX Runtime must load (next to the weights, if they are in separate
 *  files). */
int assay__layers_path(struct assay__layer_work *work, const char *name, char *out, size_t out_size,
                       struct assay_error *error);
/** Removes such a file. */
void assay__layers_unlink(const char *path);
/** Writes the optimised model with a name of ours for each node, so that what ONNX Runtime says of
 * a node is known to be of this one; `path` has room for ASSAY__LAYERS_PATH and is removed by the
 * caller. */
int assay__layers_write_named(struct assay__layer_work *work, char *path,
                              struct assay_error *error);
/** Which layer such a name is of; SIZE_MAX: of none (a node inside a body, or one that ONNX Runtime
 * added). */
size_t assay__layers_named(const struct assay__layer_work *work, const char *name);
/** What to call a node: its name, else its first output's. */
const char *assay__layers_node_name(const struct assay__node *node);

#define ASSAY__ORT_CPU "CPUExecutionProvider"
#define ASSAY__ORT_CUDA "CUDAExecutionProvider"
bool assay__layers_runs_on(const struct assay__session *session, const char *provider);
/** Discards the session's last result and makes the work of a new one, which the session owns until
 *  assay__ort_layers_free. */
int assay__layers_work(struct assay__session *session, const struct assay__layer_options *options,
                       struct assay__layer_work **work, struct assay_error *error);
/** The optimised model and its layers; bodies: also those inside If, Loop and Scan, which only
 *  markers can time. */
int assay__layers_prepare(struct assay__layer_work *work, bool bodies, struct assay_error *error);

/* --- runs in the middle (ort_markers.c) ------------------------------------------------------- */

/** Means over the runs whose total is near the median add up to a median run, whatever the
 * distribution; medians of single layers would not. */
struct assay__ranked_run {
    double key;
    size_t run;
};
/** The runs around the median of `keys`, first … first + *chosen - 1 of a sorted list that the
 * caller frees; NULL: out of memory. */
struct assay__ranked_run *assay__layers_rank(const double *keys, size_t count, size_t *first,
                                             size_t *chosen);
/** Of values[run * stride] over these runs. */
double assay__layers_mean(const struct assay__ranked_run *runs, size_t count, const double *values,
                          size_t stride);

/* --- the marker: passes its tensor through and records when it ran (ort_marker.c) ------------- */

/* the first API version with alias maps, without which a marker copies */
#define ASSAY__MARKER_API 18

struct assay__marker_event {
    uint64_t entry_ns, exit_ns;
    uint32_t id;
};

/** Where the markers of one session write. Set count to 0 before a run; afterwards events are in
 *  chronological order. */
struct assay__marker_log {
    struct assay__marker_event *events;
    size_t count, capacity;
    bool *scalars;    /* by id, capacity entries; set when a marker has seen a scalar */
    uint64_t dropped; /* events that did not fit */
    /* times the engine gave a marker a separate buffer, so that it had to copy */
    uint64_t copies;
    const struct assay__layer_counters *counters; /* read by every marker; NULL: none */
    double *counts; /* of event i: counters->count at its entry, as many at its exit, from 2 i */
    bool on_device; /* the values are in the memory of a device */
    /* called by every marker, for what it joins to the node that runs next; NULL: nothing */
    void (*passed)(void *context);
    void *passed_context;
};

struct assay__marker_ops;

/** The operators of one session (domain and names: ort_instrument.h), which run on that provider
 * (NULL: the CPU's). `log`, the provider's name and the result outlive that session.
 * ASSAY_EUNSUPPORTED when the library is older than ASSAY__MARKER_API. */
int assay__marker_ops_new(const struct assay__ort *ort, struct assay__marker_log *log,
                          const char *provider, struct assay__marker_ops **ops,
                          struct assay_error *error);
int assay__marker_ops_add(struct assay__marker_ops *ops, OrtSessionOptions *options,
                          struct assay_error *error);
void assay__marker_ops_free(struct assay__marker_ops *ops); /* NULL legal */

/* --- sessions that are timed (ort_timed.c) ---------------------------------------------------- */

struct assay__timed {
    struct assay__session *owner;
    OrtSession *session;
    struct assay__marker_ops *ops; /* NULL: without markers */
    struct assay__marker_log log;
    const char *const *input_names;
    const OrtValue *const *inputs;
    size_t input_count;
    const char *const *output_names;
    OrtValue **outputs;
    size_t output_count;
    struct assay__ort_feed feed; /* of a whole model: its states; else nothing */
};

struct assay__timed_options {
    const char *path;
    int optimization;          /* ASSAY__ORT_OPT_* */
    size_t mark_count;         /* > 0: with the marker operators and room for that many events */
    const char *mark_provider; /* that the markers run on; NULL: the CPU's */
    const struct assay__layer_counters *counters; /* read by the markers; NULL: none */
    const char *save_path;                        /* NULL or: save the optimised model there */
    const char *weights_name;   /* file beside save_path for its weights; NULL: inside */
    const char *profile_prefix; /* NULL or: with ONNX Runtime's own profiler */
    bool records_assignment;    /* assay__ort_assigned can ask it */
    /* Names NULL: the owner's inputs, the owner's outputs. Borrowed. */
    const char *const *input_names;
    const OrtValue *const *inputs;
    size_t input_count;
    const char *const *output_names;
    size_t output_count;
};

int assay__timed_open(struct assay__session *owner, const struct assay__timed_options *options,
                      struct assay__timed *timed, struct assay_error *error);
/** One run, as in the measured loop: states are fed back, the other last outputs are released, then
 * Run. Time in *run_ns (may be NULL). */
int assay__timed_run(struct assay__timed *timed, double *run_ns, struct assay_error *error);
/** The next run begins with the initial states. */
void assay__timed_restart(struct assay__timed *timed);
/** The median of `count` runs after `warm` runs that do not count. */
int assay__timed_median(struct assay__timed *timed, size_t warm, size_t count, double *median_ns,
                        struct assay_error *error);
void assay__timed_close(struct assay__timed *timed);

/** A view of the owner's own session, for the unprofiled runs around a pass. Closing it leaves
 * the session open. */
int assay__timed_borrow(struct assay__session *owner, struct assay__timed *timed,
                        struct assay_error *error);

/** Closes the owner's own session temporarily (nothing may be borrowed from it), and opens it
 *  again. */
void assay__timed_suspend(struct assay__session *owner);
int assay__timed_resume(struct assay__session *owner, struct assay_error *error);

/** For tests: called for the options of every session that layer timing opens (to add custom
 *  operators). NULL: none. */
typedef int assay__timed_hook_fn(void *context, OrtSessionOptions *options);
void assay__timed_hook(assay__timed_hook_fn *hook, void *context);

/** Largest difference of two values: 0 bit-equal; relative to the largest magnitude for floating
 * point, infinity otherwise. NaN equals NaN. */
double assay__values_difference(const struct assay__ort *ort, OrtAllocator *allocator,
                                const OrtValue *a, const OrtValue *b);

/* --- a chain of markers (ort_markers.c) ------------------------------------------------- */

struct assay__chain {
    struct assay__timed timed;
    float number; /* the input, after `value` */
    OrtValue *value;
};

/** A session of `length` markers with nothing in between, to measure the cost of a marker. It must
 *  always be closed, and must not move until then. */
int assay__chain_open(struct assay__layer_work *work, size_t length,
                      const struct assay__layer_counters *counters, struct assay__chain *chain,
                      struct assay_error *error);
void assay__chain_close(struct assay__layer_work *work, struct assay__chain *chain);

/* --- methods ---------------------------------------------------------------------------------- */

int assay__layers_markers(struct assay__layer_work *work, struct assay_error *error);
/** Sets work->order from one run with markers; leaves the order of the file if that is not
 *  possible. */
void assay__layers_learn_order(struct assay__layer_work *work);
int assay__layers_isolated(struct assay__layer_work *work, struct assay_error *error);
int assay__layers_profile(struct assay__layer_work *work, struct assay_error *error);
/** The time of every layer on a CUDA device (ort_kernels.c). */
int assay__layers_kernels(struct assay__layer_work *work, struct assay_error *error);
/** Sets the work's mark_provider and markable, and the provider of each layer. ASSAY_EUNSUPPORTED:
 * no node can have a marker on the device. */
int assay__kernels_markable(struct assay__layer_work *work, struct assay_error *error);
/** After it: whether the node runs on the device. */
bool assay__kernels_placed(const struct assay__layer_work *work, size_t node);

/** The graph with a marker after every node, as learnt by the marker pass. */
struct assay__counted_graph {
    const char *path;
    size_t mark_count; /* markers in one run, each as often as it runs */
    size_t room;       /* for them, and for the number of every marker */
    size_t node_count;
    const uint32_t *sequence; /* marker ids in the order of time */
    const size_t *first_of;   /* by position: the node whose first marker this is, or SIZE_MAX */
    double plain_ns;          /* an unprofiled run */
};
/** Runs it with counters read at every marker and stores the counts of each node in its layer. A
 *  failure is the result's counter_note, never an error. */
void assay__layers_counted(struct assay__layer_work *work,
                           const struct assay__counted_graph *graph);

/* --- origin ----------------------------------------------------------------------------------- */

/** Fills from/from_count of layers[i] for node i of `optimized`. Strings go into `arena`. */
int assay__layers_origin(const struct assay__flat *original, const struct assay__flat *optimized,
                         struct assay__arena *arena, struct assay__layer *layers);
/** Fills `reads` and `makes` of layers[i] for node i of `flat`; bodies: including the nodes of
 * bodies. Strings go into `arena`. */
int assay__layers_wires(const struct assay__flat *flat, bool bodies, struct assay__arena *arena,
                        struct assay__layer *layers);

#endif
