/* check.h - whether all of a model will run on a target, and well. Rules on the graph (rows of
 * tables: check_ane*.c), or the engine's own assignment (check_ort.c), produce items; the items and
 * the placement of the nodes give a verdict and a map of partitions.
 *
 * The model is not run and no weights are read: shapes, costs and liveness come from
 * cost/analysis.h. The severity of a rule is bounded by its source: Apple's own documentation, or
 * several sources that agree, may be an error; a single source is at most a warning. */
#ifndef ASSAY_CHECK_CHECK_H
#define ASSAY_CHECK_CHECK_H

#include "cost/analysis.h"

#include <assay/check.h>
#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum assay__check_severity { ASSAY__CHECK_ERROR, ASSAY__CHECK_WARNING, ASSAY__CHECK_NOTE };
enum assay__check_verdict {
    ASSAY__CHECK_PASS,
    ASSAY__CHECK_WARN,
    ASSAY__CHECK_FAIL,
    ASSAY__CHECK_NONE /* it could not be queried, and the rules alone are not enough */
};

/* What a rule is based on. */
enum assay__check_basis {
    ASSAY__BASIS_VENDOR,  /* the manufacturer's own documentation */
    ASSAY__BASIS_SEVERAL, /* independent sources that agree */
    ASSAY__BASIS_SINGLE,  /* one independent source: at most a warning */
    ASSAY__BASIS_ENGINE,  /* the engine reported it here */
    ASSAY__BASIS_GRAPH    /* follows from the model alone */
};

/* Where a node runs, as far as is known. */
enum assay__place {
    ASSAY__PLACE_ON,  /* on the target */
    ASSAY__PLACE_OFF, /* elsewhere */
    ASSAY__PLACE_UNKNOWN,
    ASSAY__PLACE_FOLDED /* computed once, when the model is loaded: it does not run */
};

struct assay__check;
struct assay__check_rule;
/* Examines check->node, or the model, and adds items. */
typedef void assay__check_fn(struct assay__check *check);

struct assay__check_rule {
    const char *id;    /* "rank" */
    const char *title; /* "More than five axes" */
    enum assay__check_severity severity;
    enum assay__check_basis basis;
    enum assay__place place; /* of a node that violates it; ON: it stays */
    const char *source;      /* its source, to cite */
    const char *fix;
    assay__check_fn *look;
    bool once; /* evaluated for the model, not for each node */
};

struct assay__check_item {
    const struct assay__check_rule *rule;
    enum assay__check_severity severity; /* that of the rule or milder */
    size_t node;                         /* in file order; SIZE_MAX: the model */
    const char *name, *op;               /* how the node is shown; "" and "" for the model */
    const char *reason;
    const char *fix;
    const char *chips; /* "A14, M1": fails only on these; "" on all that were checked */
    double bytes;      /* bytes of memory that it wastes or moves; NaN: not about memory */
    size_t index;      /* in which it was found */
    size_t order;      /* of its rule among those that were evaluated */
};

/* Nodes that run together on one side. */
struct assay__check_segment {
    bool on;            /* on the target */
    size_t first, last; /* node indices, in execution order */
    size_t nodes;
    double flops;    /* NaN: one of them is unknown */
    double in_bytes; /* that cross into it; NaN: a size is unknown */
};

struct assay__check_partitions {
    const char *method;                        /* "rules" or "engine" */
    size_t on, off, unknown, folded;           /* nodes */
    double on_flops, off_flops, unknown_flops; /* known part */
    size_t uncosted;                           /* nodes with unknown FLOPs */
    size_t on_segments, off_segments;
    size_t on_segments_most; /* if the unknown ones leave the target too */
    size_t crossings;        /* tensors produced on one side and read on the other */
    double crossing_bytes;   /* the known part */
    size_t crossing_unsized; /* crossings of unknown size */
    struct assay__check_segment
        *segments; /* in a possible execution order; unknown counted as on */
    size_t segment_count;
    size_t merged; /* nodes the engine did not report: it merged them into neighbours */
    /* nodes the engine assigns to no provider, counted on the target: see check_ort.c */
    size_t inferred;
    /* as split by the engine, for a provider that compiles; 0: it did not report it */
    size_t engine_pieces;
};

/* A chip's engine, as far as sources document it; check_ane_chips.c. */
struct assay__ane_chip {
    const char *name;
    int64_t extent;                      /* maximum width and height */
    int64_t kernel_width, kernel_height; /* of a float16 convolution */
    bool sampler; /* texture unit: resampling, gather, sorting, dynamic slices */
    bool sine;
    bool int8;            /* int8 × int8 at a higher rate */
    int64_t slice_offset; /* maximum along the width; 0: no known limit */
    bool weight_notch;    /* transfers of whole MiB per core are slow */
    double on_chip_bytes; /* NaN: no source */
};

enum assay__ane_limit {
    ASSAY__ANE_EXTENT = 1,
    ASSAY__ANE_KERNEL_WIDTH,
    ASSAY__ANE_KERNEL_HEIGHT,
    ASSAY__ANE_SLICE_OFFSET,
    ASSAY__ANE_ON_CHIP,
    ASSAY__ANE_LACKS_SAMPLER,
    ASSAY__ANE_LACKS_SINE,
    ASSAY__ANE_LACKS_INT8,
    ASSAY__ANE_WEIGHT_NOTCH
};

/* The result of the check for one family of chips. */
struct assay__check_chip {
    const struct assay__ane_chip *chip;
    enum assay__check_verdict verdict;
    size_t off, unknown, on_segments;
    double share; /* share of the FLOPs that stay; NaN unknown */
};

/* What the table of operators contains for one operator: check_ane_ops.c. */
enum assay__ane_path {
    ASSAY__ANE_PLAIN,   /* no known obstacle */
    ASSAY__ANE_UNKNOWN, /* in no table */
    ASSAY__ANE_NO_PATH,
    ASSAY__ANE_RECURRENT,
    ASSAY__ANE_CUSTOM,
    ASSAY__ANE_CONTROL,
    ASSAY__ANE_SAMPLER,
    ASSAY__ANE_GATHER,
    ASSAY__ANE_SORT,
    ASSAY__ANE_SINE
};

struct assay__check {
    struct assay__arena *arena;
    const char *name;                 /* of the model, as the user wrote it */
    bool zoo;                         /* whether it was built */
    const char *target, *chip;        /* chip "": every chip of the table */
    struct assay__model *model;       /* owned; its functions are inlined */
    struct assay__workload *workload; /* owned, or in the arena */
    bool planned;
    const char *unplanned; /* why the inputs could not be fixed; NULL */
    struct assay__analysis *analysis;
    const struct assay__ane_chip **chips;
    size_t chip_count;
    struct assay__check_chip *by_chip; /* chip_count of them */
    enum assay__ane_path *paths;       /* per node, of target ane */
    struct assay__check_item *items;   /* by severity, then in the order of the rules and nodes */
    size_t item_count, item_capacity;
    size_t rules_asked;
    const struct assay__check_rule *rule; /* asked now … */
    size_t at;                            /* … about this node; SIZE_MAX: the model */
    const struct assay__node *node;       /* NULL: the model */
    enum assay__place *places;            /* per node */
    /* per node, its provider as named by the engine, NULL if it names none; NULL: not queried */
    const char **providers;
    bool *indices; /* per node that runs elsewhere: it only produces shapes and indices */
    /* values that exist before it runs: weights, and what is derived from them */
    struct assay__map *constants;
    struct assay__map *producers; /* value -> the node that produces it */
    struct assay__check_partitions partitions;
    bool has_partitions;
    enum assay__check_verdict verdict;
    const char *asked;   /* "ONNX Runtime 1.31.1, CUDAExecutionProvider"; "" none was queried */
    const char *unasked; /* why the engine could not be queried; "" */
    bool failed;         /* ran out of memory */
};

struct assay__check_options {
    const char *target;       /* "ane", or a device: "cuda:0", "ovn/openvino:npu" */
    const char *chip;         /* of target ane; NULL: all */
    const char *engine;       /* NULL: "ort" */
    const char *library;      /* of the engine; NULL: its default */
    const char *optimization; /* of the session; NULL: all */
    const char *name;         /* of the model, as the user wrote it */
    bool zoo;
    const struct assay__workload_options *workload;
    double timeout_s; /* for the engine; 0: its default */
    const volatile int *interrupt;
};

/** Takes ownership of the model, even on failure. ASSAY_EINVAL: an unknown chip, with the nearest
 *  one. */
int assay__check_new(struct assay__model *model, const struct assay__check_options *options,
                     struct assay__check **check, struct assay_error *error);
/** Opens the model of the options and checks it: assay_check(). */
int assay__check_model(const struct assay_check_options *options, struct assay__check **check,
                       struct assay_error *error);
void assay__check_free(struct assay__check *check);

const char *assay__check_severity_name(enum assay__check_severity severity); /* "error" */
const char *assay__check_verdict_name(enum assay__check_verdict verdict);    /* NULL for NONE */
const char *assay__check_basis_name(enum assay__check_basis basis);
size_t assay__check_count(const struct assay__check *check, enum assay__check_severity severity);
/** Share of the known FLOPs that stays on the target; NaN if some are unknown, or there are
 *  none. */
double assay__check_share(const struct assay__check_partitions *partitions);

/* --- for the files of the checks -------------------------------------------------------------- */

/** Adds an item about a node (SIZE_MAX: the model); the reason is printed into the arena. The node
 *  is placed according to the rule. NULL when out of memory (check->failed). */
struct assay__check_item *assay__check_say(struct assay__check *check,
                                           const struct assay__check_rule *rule, size_t node,
                                           const char *reason, ...) ASSAY_PRINTF(4, 5);
/** The same for the rule and node being evaluated. chips: as returned by assay__ane_fails, ""
 *  all. */
struct assay__check_item *assay__check_add(struct assay__check *check, const char *chips,
                                           const char *reason, ...) ASSAY_PRINTF(3, 4);
/** The same about memory: bytes that are wasted or moved. */
struct assay__check_item *assay__check_add_bytes(struct assay__check *check, const char *chips,
                                                 double bytes, const char *reason, ...)
    ASSAY_PRINTF(4, 5);
/** Runs a table of rules that ends with a NULL id: those of the model first, then node by node in
 *  execution order. */
void assay__check_rules(struct assay__check *check, const struct assay__check_rule *rules);
/** How a node is shown: its name, else that of its first output. */
const char *assay__check_node_name(const struct assay__node *node);
/** Fills check->partitions from check->places. half: floats count as float16. */
int assay__check_partition(struct assay__check *check, const char *method, bool half,
                           struct assay_error *error);
/** Bytes of a value, floats as float16 when half; NaN unknown. */
double assay__check_bytes(const struct assay__check *check, const char *value, bool half);
const struct assay__shape_entry *assay__check_shape(const struct assay__check *check,
                                                    const char *value);
/** The node that produces the value; ASSAY__MAP_NONE: none does. */
size_t assay__check_producer(const struct assay__check *check, const char *value);
/** Whether it exists before the model runs: a weight, or derived from weights when the model is
 *  loaded. */
bool assay__check_is_constant(const struct assay__check *check, const char *value);
/** The shape of an input or output of check->node; NULL: it has none, or an unknown rank. */
const struct assay__shape_entry *assay__check_in(const struct assay__check *check, size_t index);
const struct assay__shape_entry *assay__check_out(const struct assay__check *check, size_t index);
/** The input or output of a node; "" if it has none. */
const char *assay__check_input(const struct assay__node *node, size_t index);
const char *assay__check_output(const struct assay__node *node, size_t index);

/* Neural Engine. */
int assay__check_ane(struct assay__check *check, const char *chip, struct assay_error *error);
/** Fills check->chips: one family by a chip's name ("M1 Max" is M1), or all. */
int assay__ane_choose(struct assay__check *check, const char *chip, struct assay_error *error);
/** Of the chips that are checked, those whose limit the value exceeds, or that lack the unit. NULL:
 *  none; "" all; else their names in the arena. */
const char *assay__ane_fails(struct assay__check *check, enum assay__ane_limit limit, double value);
/** Whether the item applies to that chip. */
bool assay__ane_holds(const struct assay__check_item *item, const struct assay__ane_chip *chip);
/** Fills check->by_chip: verdict, places and pieces for each chip alone (check_ane_chips.c). */
int assay__ane_by_chip(struct assay__check *check, struct assay_error *error);
/** Every rule of the engine: rows of check_ane.c, ends with a NULL id. */
extern const struct assay__check_rule assay__ane_rules[];
/** The tables' functions: check_ane_ops.c, check_ane_shapes.c, check_ane_layout.c,
 *  check_ane_model.c. */
assay__check_fn assay__ane_by_path, assay__ane_sampler, assay__ane_dynamic_slice,
    assay__ane_old_layer, assay__ane_unknown_operator, assay__ane_integer_math,
    assay__ane_data_type;
assay__check_fn assay__ane_rank, assay__ane_extent, assay__ane_kernel, assay__ane_kernel_memory,
    assay__ane_groups, assay__ane_dilated, assay__ane_conv3d, assay__ane_pool, assay__ane_upsample,
    assay__ane_arg_axis, assay__ane_matmul_depth, assay__ane_width_slice,
    assay__ane_dynamic_reshape, assay__ane_data_shape;
assay__check_fn assay__ane_last_axis_one, assay__ane_alignment, assay__ane_linear,
    assay__ane_copies, assay__ane_working_set, assay__ane_on_chip, assay__ane_live_set,
    assay__ane_weight_notch;
assay__check_fn assay__ane_conflict, assay__ane_size, assay__ane_dynamic_inputs, assay__ane_half,
    assay__ane_range, assay__ane_int8, assay__ane_per_block, assay__ane_palettise,
    assay__ane_surface, assay__ane_batch, assay__ane_ping_pong;
/** By the table of operators (check_ane_ops.c). */
enum assay__ane_path assay__ane_path_of(const struct assay__node *node);

/* An engine's devices. */
struct assay__assignment;
/** Finds the target, queries the engine for the assignment of the nodes and places them. model_path
 *  "": the model has no format that the engine reads. */
int assay__check_ort(struct assay__check *check, const struct assay__check_options *options,
                     const char *model_path, struct assay_error *error);
int assay__check_ort_place(struct assay__check *check, const struct assay__assignment *assignment,
                           struct assay_error *error);
/** The assignment from the engine's profile of one run: for builds that cannot report it.
 *  ASSAY_EUNSUPPORTED: the profile does not contain it either. */
int assay__check_ort_profile(struct assay__check *check, const struct assay__check_options *options,
                             const char *library, const char *device, const char *model_path,
                             struct assay__assignment *assignment, struct assay_error *error);
/** Names every unnamed node after its first output, so that the engine's answer can be matched;
 *  true if one was named. */
bool assay__check_name_nodes(struct assay__model *model);

#endif
