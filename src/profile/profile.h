/* profile.h - the document: everything in a profile, as plain structures in one arena. Capture
 * fills it, the store writes it to SQLite as it grows and loads it, analysis and renderers only
 * read it. Unknown numbers are NaN (double) or negative (counts); unknown strings are "". Times are
 * in ns unless named. */
#ifndef ASSAY_PROFILE_DOCUMENT_H
#define ASSAY_PROFILE_DOCUMENT_H

#include "base/arena.h"
#include "profile/facts.h"

#include <assay/error.h>
#include <assay/metric.h>
#include <assay/profile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__pair {
    const char *key;
    const char *value;
};

struct assay__tensor_info {
    const char *name;
    const char *dtype;          /* "float32", "int64", … */
    int rank;                   /* -1 unknown */
    const int64_t *dims;        /* -1 where symbolic */
    const char *const *symbols; /* per dimension, NULL or "" where fixed; may be NULL as a whole */
    /* workload inputs: how the values were made ("uniform [-1, 1), seed 1"); else "" */
    const char *fill;
};

struct assay__operator_info {
    const char *op;
    int64_t count;
    double flops, macs, bytes; /* NaN unknown */
};

/** A group of neurons of a recurrent cell, or a part of the cell ("backbone", …; 0 neurons). */
struct assay__cell_group {
    const char *name;
    int64_t neurons;            /* -1 unknown */
    double flops, flops_needed; /* of all steps; NaN unknown */
    enum assay_state state; /* state of the FLOPs: estimated if a node computes several groups */
};

#define ASSAY__CELL_GROUPS 64 /* at most */

/** What a model's metadata says about a recurrent cell over time steps (doc/ncp.md). */
struct assay__cell_info {
    const char *kind;  /* "CfC", "LTC"; "": no such model */
    const char *form;  /* "step" | "unrolled" | "scan" */
    int64_t steps;     /* of one inference; -1 unknown */
    const char *fault; /* what is wrong with the metadata; "" nothing */
    struct assay__cell_group *groups;
    size_t group_count;
};

struct assay__model_info {
    int id;                           /* 1, 2, … within its profile */
    const char *name, *path, *format; /* "onnx" */
    const char *fingerprint;          /* graph and shapes, not weights */
    const char *sha256;               /* "" unless it was asked for */
    int64_t parameters;               /* -1 unknown */
    int64_t weight_bytes;             /* -1 unknown */
    int64_t node_count;
    int ir_version;
    const char *opset; /* "17" or "ai.onnx 17, com.microsoft 1" */
    const char *producer;
    struct assay__operator_info *operators;
    size_t operator_count;
    struct assay__tensor_info *inputs, *outputs;
    size_t input_count, output_count;
    struct assay__cell_info cell;
};

/** The CPU, the operating system and their state; `disturbances` are sentences with numbers, empty
 * if none was seen. */
struct assay__environment {
    const char *host, *os, *kernel, *architecture, *cpu_model, *virtualized, *governor, *simd,
        *container;
    int packages, cores, threads;                                   /* 0 unknown */
    double memory_bytes, cpu_max_hz, l1d_bytes, l2_bytes, l3_bytes; /* NaN unknown */
    const char **disturbances;
    unsigned char *disturbance_kinds; /* enum assay__disturbance_kind of each; NULL: not known */
    size_t disturbance_count;
    const char **unknown; /* what could not be observed, with the reason */
    size_t unknown_count;
};

enum assay__trial_state {
    ASSAY__TRIAL_RUNNING,
    ASSAY__TRIAL_OK,
    ASSAY__TRIAL_FAILED,
    ASSAY__TRIAL_SKIPPED,
    ASSAY__TRIAL_INTERRUPTED
};
const char *assay__trial_state_name(
    enum assay__trial_state state); /* "running", "ok", "failed", "skipped", "interrupted" */
int assay__trial_state_parse(const char *name);
extern const struct assay__enum_names assay__trial_state_names;

/** One worker process. Samples are durations in time order; the first `warmup` of them are warm-up
 * (detected from the data). */
struct assay__launch {
    int id; /* 1, 2, … within its trial */
    enum assay__trial_state state;
    const char *reason; /* why it failed; "" when ok */
    int streams;
    double *samples_ns; /* all streams, by stream then time (stream_offsets) */
    size_t sample_count;
    size_t *stream_offsets; /* streams + 1 entries */
    size_t warmup;          /* leading samples of the first stream that statistics leave out */
    double wall_ns;         /* wall time of all measured windows */
    double p50_ns;          /* NaN when no sample */
    const char *log_tail;   /* last log lines, for failures */
    struct assay_metrics *metrics; /* of this launch */
};

struct assay__layer {
    int index; /* execution order */
    const char *name, *op, *provider;
    double time_ns;         /* NaN: unavailable (note says why) */
    double host_enqueue_ns; /* NaN unless the engine's profile has only enqueue times */
    double share;           /* of latency.p50, or of the sum if that is more; NaN */
    double flops, bytes;    /* NaN unknown */
    double weight_bytes;    /* the part of its bytes that is weights; NaN unknown */
    double live_bytes;      /* activations alive while it runs, by liveness analysis; NaN unknown */
    const char *bound;      /* "compute" | "memory" | "overhead" | "unknown" */
    enum assay_state state;
    const char *method; /* "markers" | "kernels" | "isolated" | "engine" | "fake" */
    const char *note;   /* "alone, hot cache", …; "" */
    const char **from;  /* original nodes */
    size_t from_count;
    /* only during capture: counts of one inference, by counter; or NULL; not stored */
    double *counters;
    /* only during capture: the values that the layer reads and writes, from the engine's graph;
     * none: the engine does not report them; not stored */
    const char **reads, **makes;
    size_t read_count, make_count;
    /* one per launch of layers.launch_ids, NaN where it has none; NULL: not known */
    const double *launch_times_ns;
    /* shapes and types at the fixed inputs: "1x64x112x112 float32, …", values inside a fused layer
     * left out; attributes of its nodes: "kernel_shape 3x3, strides 2x2". NULL or "": not known, or
     * there are none */
    const char *inputs, *weights, *outputs, *attributes;
    const char *title; /* assay__layer_title, where a file has it */
    /* of a layer on a GPU: the kernels that it launches, the idle time of the GPU just before them,
     * and their names in order, each once, separated by "; " (as the compiler made them) */
    double kernel_count, gap_ns; /* NaN unknown */
    const char *kernels;         /* NULL or "": not known, or there are none */
};

/* maximum length of each of these texts in bytes; a longer one is cut and ends in "…" */
#define ASSAY__LAYER_TEXT 400

/** A tensor that one layer writes and another reads. */
struct assay__edge {
    int producer;       /* index of the layer in its trial; -1: an input of the model */
    int consumer;       /* -1: an output of the model */
    const char *tensor; /* its name in the model, or in the engine's graph if only that has it */
    double bytes;       /* of the tensor, by the shapes at the fixed inputs; NaN unknown */
};

/* beyond this there are none, and the layers' reason says so */
#define ASSAY__CONTENTION_LIMIT 0.05

struct assay__layers {
    const char *method; /* what was used, "" when off */
    const char *reason; /* why there are none, or a caveat */
    struct assay__layer *items;
    size_t count;
    double engine_ns;        /* fixed cost per run; NaN */
    double unattributed_ns;  /* signed; NaN */
    double scale_factor;     /* factor that scaled node times to the bracket; NaN none */
    double slowdown;         /* instrumented run / plain run; NaN */
    double spread;           /* (max - min) / median of the sums over sessions; NaN */
    double contention;       /* sum of means / sum of medians - 1; NaN */
    int sessions, discarded; /* passes used and thrown away */
    /* a run on a GPU while its work was recorded: traced = kernels + copies + gaps + host, exactly;
     * NaN unknown */
    double traced_ns;
    double kernels_ns; /* at least one kernel ran */
    double copies_ns;  /* copies or memsets ran, and no kernel */
    double gaps_ns;    /* nothing ran, between its first and its last work */
    double host_ns;    /* before the first and after the last work */
    double kernel_count;
    double plain_ns;     /* the runs without recording beside the traced ones; NaN */
    double lasting;      /* these / runs before recording was first possible; NaN */
    size_t launch_count; /* launches whose layer times are stored */
    const int *launch_ids;
    struct assay__edge *edges; /* by consumer, in the order it reads them; outputs at the end */
    size_t edge_count;         /* 0: not known */
    /* only during capture: how the layers' counters were read, or why not; NULL; not stored */
    const char *counter_note;
};

/** The 95 % interval of a layer's time over launches (base/stats.h: 93.75 % with five), in ns.
 * False, and both NaN, with fewer than five launches that timed it. *coverage may be NULL. */
bool assay__layer_interval(const struct assay__layers *layers, const struct assay__layer *layer,
                           double *low_ns, double *high_ns, double *coverage);
/** The name that people know a layer by: the first node it came from, else the engine's. Every
 *  report, JSON, CSV and the stored layer have it. */
const char *assay__layer_title(const struct assay__layer *layer);
/** Why no layer has an interval, with what would provide one; "" if they may have one. */
const char *assay__layer_interval_reason(const struct assay__layers *layers);

/** An activation that is alive at the peak. */
struct assay__peak_tensor {
    const char *name;
    const char *type;          /* "1x64x112x112 float32"; "" unknown */
    double bytes;              /* NaN unknown */
    const char *producer, *op; /* the node that makes it; "" for an input of the model */
    const char *first, *last;  /* the nodes between which it lives, both included; "" unknown */
};

#define ASSAY__PEAK_TENSORS 200 /* kept at most, the largest */

/** The tensors that are alive while activations take the most memory, by liveness analysis
 * (cost/liveness.h). */
struct assay__peak {
    const char *reason;    /* why nothing is known; NULL: not looked for, "" known */
    const char *node, *op; /* that runs then */
    double bytes;          /* NaN: a size is unknown; the tensors are then a lower bound */
    double body_bytes;     /* of it: inside the subgraphs of that node */
    struct assay__peak_tensor *tensors; /* unknown sizes first, then the largest */
    size_t count;
    int64_t alive;     /* all tensors, including those left out; -1 unknown */
    double rest_bytes; /* of those left out; 0 if there are none, NaN unknown */
};
/** Nothing looked for. */
struct assay__peak assay__peak_unknown(void);

struct assay__stability {
    const char *verdict; /* "stable" | "unstable" | "too-few" | "" */
    const char **reasons;
    size_t reason_count;
    int64_t more_iterations; /* how many more would have met the goal; -1 unknown, 0 it is met */
};

/** A metric over time. A channel that could not be read is here too: unavailable, without values,
 *  with the reason. */
struct assay__series_info {
    int launch;       /* 0: the whole trial */
    const char *name; /* unique within trial and launch: "power.gpu0", "memory.rss.worker" */
    const char *quantity, *rail; /* as probe/probe.h names them: "power", "gpu0"; "" */
    const char *unit;            /* base unit */
    const char *probe, *source;  /* "nvml", "NVML"; "" */
    enum assay_state state;
    const char *note;     /* why unavailable, or a remark; "" */
    bool counter;         /* values are the increase since the first reading */
    double period_s;      /* update period of the source; NaN unknown */
    bool period_is_bound; /* it updates at least that often */
    size_t count;
    double *times_ns; /* since the run began */
    double *values;   /* NaN: no value then */
};

/** What the machine was doing when. */
struct assay__span {
    int launch;              /* 0: none */
    const char *kind;        /* "idle" | "measure" */
    double begin_ns, end_ns; /* since the run began */
    int64_t completions;     /* -1 unknown */
};

/** What one phase of a worker's life allocated: "load" (session), "first" (inference), "prerun"
 *  (until it is warm), "warm" (further ones). */
struct assay__allocation_phase {
    const char *name;
    int64_t inferences;  /* in the phase; 0 for load */
    double count, bytes; /* allocated */
    double freed_count, freed_bytes;
    double live_bytes, peak_live_bytes; /* at its end; at most during it */
};

struct assay__allocation_class { /* of one phase, by size */
    const char *phase;
    double low_bytes, high_bytes; /* low <= size < high; high INFINITY: no limit */
    double count, bytes;
};

struct assay__allocation_site { /* of one phase, by call site */
    const char *phase;
    const char *site; /* "libonnxruntime.so.1+0x12ab34 < …": innermost first, allocators left out */
    double count, bytes, live_bytes; /* live: at the phase's end */
};

/** What the allocation tracker recorded in a separate launch. */
struct assay__allocations {
    const char *reason; /* why nothing is known; "" if something is */
    struct assay__allocation_phase *phases;
    size_t phase_count;
    struct assay__allocation_class *classes;
    size_t class_count;
    struct assay__allocation_site *sites; /* the largest ones of each phase */
    size_t site_count;
    double growth_bytes, growth_low,
        growth_high; /* of live memory per warm inference, 95 % interval */
    /* held by the C library's allocator, and the part of it in use */
    double heap_bytes, heap_used_bytes;
    double slowdown; /* tracked / plain latency.p50 */
};

/** The same of a process of a traced program. */
struct assay__program_allocations {
    const char *program; /* "python3 (1234)" */
    const struct assay__allocations *seen;
};

/** Counters of one class of layers (an operator) in one inference. */
struct assay__class_counters {
    const char *op;
    int64_t layers;
    double time_ns;
    double *values; /* one per name of the trial's counter_names; NaN unknown */
};

struct assay__trial {
    int id;
    enum assay__trial_state state;
    const char *reason;
    const char *label; /* what distinguishes it from the others; "": its device */
    enum assay__trial_role role;
    struct assay__target target;
    const struct assay__model_info *model; /* one of the profile's; never NULL */
    int model_id;                          /* id of `model` in the file, only used when reading */
    struct assay__axis_value *axes;        /* of a sweep or a tuning, by axis */
    size_t axis_count;
    struct assay__protocol protocol;
    struct assay__generation_info generation;
    struct assay__feedback *feedback; /* none: every inference has the same inputs */
    size_t feedback_count;
    struct assay__real_time real_time;
    struct assay__power_info power;
    const struct assay__requirements *required; /* NULL: nothing is */
    struct assay__placement placement;
    /* target, protocol, role … as text for people and JSON; shown and compared, never parsed */
    struct assay__pair *options;
    size_t option_count;
    int64_t batch;                     /* -1 unknown */
    struct assay__tensor_info *inputs; /* the workload's, fixed */
    size_t input_count;
    const char **notes; /* "symbolic dimension 'batch' set to 1", … */
    size_t note_count;
    /* sizes that neither the file nor the options specify: "x 1x3x224x224 (…)" */
    const char **assumed;
    size_t assumed_count;
    struct assay__launch *launches;
    size_t launch_count;
    struct assay_metrics *metrics;
    struct assay__layers layers;
    struct assay__peak peak; /* of the activations */
    struct assay__stability stability;
    struct assay__series_info *series; /* NULL: none was asked for */
    size_t series_count;
    struct assay__span *spans; /* of the run, when series were taken */
    size_t span_count;
    struct assay__allocations allocations; /* reason NULL: not asked for */
    const char **counter_names;            /* "cycles", …; NULL: not asked for */
    size_t counter_count;
    struct assay__class_counters *class_counters;
    size_t class_counter_count;
    const char *class_counter_note; /* how they were taken, or why there are none; "" */
};

/** The measured peak of a device, which analysis compares results with. */
struct assay__ceiling_info {
    const char *device, *name;
    double value; /* NaN: unavailable, the note says why */
    const char *unit;
    double low, high; /* NaN unknown */
    const char *source, *note, *measured_at;
};

struct assay__finding {
    const char *id, *severity, *title, *advice;
    const char **evidence;
    size_t evidence_count;
    double expected_gain, verified_gain; /* ratio; NaN */
    bool gain_estimated;  /* it is based on an assumed cost, not on the profile alone */
    const char *effort;   /* "small" | "medium" | "large"; "" unknown */
    const char *state;    /* "open" | "verified" | "withdrawn"; "" as "open" */
    const char *reason;   /* why it was withdrawn, or a note on its state; "" */
    double energy_saving; /* potential, share of an inference's energy 0 … 1; NaN */
    /* what was measured when it was tried; only if verified_gain is known */
    double verified_low, verified_high; /* of verified_gain, 95 % */
    double verified_smallest; /* smallest relative difference that could have been detected */
    /* energy per inference (per sample if batches differ), after / before; NaN */
    double verified_energy;
    double verified_energy_low, verified_energy_high; /* 95 %, by launches; NaN unknown */
    double verified_drift;   /* relative L2 of the outputs; NaN: not compared */
    const char *verified_of; /* what the gain refers to: "latency", "samples per second"; "" */
    const char *tried;       /* the change: "threads=2"; "" none was */
    const char *drift_note;  /* the limit, or why the outputs were not compared; "" */
    const int *layers; /* indices of the layers it is about, while rules run; NULL; not stored */
    size_t layer_count;
};

struct assay_profile {
    struct assay__arena *arena;
    struct assay_profile *earlier; /* whose memory this one borrows, closed with it; NULL: none */
    const char *path;              /* "" in memory */
    const char *assay_version;
    int schema;
    enum assay__profile_kind kind;
    const char *command;      /* the kind's name for people, "run"; assay__profile_set_command */
    const char *command_line; /* exact, shell-quoted */
    const char *created;      /* ISO 8601 UTC */
    bool complete;            /* false: the capture was killed or interrupted */
    bool interrupted;
    struct assay__plan plan;
    struct assay__environment environment;
    struct assay__model_info **models; /* at least one: the first trial's */
    size_t model_count;
    struct assay__trial *trials;
    size_t trial_count;
    struct assay__finding *findings;
    size_t finding_count;
    struct assay__ceiling_info *ceilings;
    size_t ceiling_count;
};

/** Sets the option with that key, or appends it; both texts are borrowed. A NULL value means out of
 * memory: ASSAY_ENOMEM. */
int assay__trial_set_option(struct assay_profile *profile, struct assay__trial *trial,
                            const char *key, const char *value);
/** Appends a warning about its power; both texts are copied. 0 or ASSAY_ENOMEM. */
int assay__trial_warn_power(struct assay_profile *profile, struct assay__trial *trial,
                            const char *about, const char *text);
/** Appends a series / a span to a trial; strings and columns are borrowed (they live in the
 *  profile's arena). 0 or ASSAY_ENOMEM. */
int assay__trial_add_series(struct assay_profile *profile, struct assay__trial *trial,
                            const struct assay__series_info *series);
int assay__trial_add_span(struct assay_profile *profile, struct assay__trial *trial,
                          const struct assay__span *span);
/** Appends a note, borrowed, to a trial whose notes were all added by this function. NULL: out of
 * memory. 0 or ASSAY_ENOMEM. */
int assay__trial_add_note(struct assay_profile *profile, struct assay__trial *trial,
                          const char *note);
/** Nothing tracked, and no reason: every number unknown. */
struct assay__allocations assay__allocations_unknown(void);

/** No layers yet: every number unknown. */
struct assay__layers assay__layers_unknown(void);
/** A layer of which nothing is known. */
struct assay__layer assay__layer_unknown(void);
/** The state of its expected gain: derived or estimated. */
enum assay_state assay__finding_gain_state(const struct assay__finding *finding);
/** The finding; the results of trying it are unknown if it was not tried. */
struct assay__finding assay__finding_tried(const struct assay__finding *finding);

/** An empty document with its arena (unknown numbers set to unknown). NULL when out of memory. */
struct assay_profile *assay__profile_new(void);
/** What it is a profile of, and with it its kind; the text is borrowed. */
void assay__profile_set_command(struct assay_profile *profile, const char *command);
/** Appends a model about which nothing is known yet; its address does not change. NULL when out of
 * memory. */
struct assay__model_info *assay__profile_model(struct assay_profile *profile);
/** Append a trial / a launch to a trial, initialised to unknown; NULL when out of memory. Pointers
 *  to earlier ones may move. */
struct assay__trial *assay__profile_trial(struct assay_profile *profile);
struct assay__launch *assay__trial_launch(struct assay_profile *profile,
                                          struct assay__trial *trial);

#endif
