/* roofline.h - each layer compared with what the device can do: a pure function of the profile (its
 * ceilings, its layers' FLOPs, bytes and times). With P the compute roof of the layer's data type,
 * B the bandwidth of the nearest memory level that can hold the layer's bytes, and W that of
 * reading from the nearest level that can hold all weights of the model (every inference reads all
 * of them, so no nearer level still has them),
 *
 *   minimum time = max(FLOPs / P, bytes / B, weights / W)       utilisation = minimum time / time
 *   intensity = FLOPs / bytes       attainable = FLOPs / minimum time       achieved = FLOPs / time
 *
 * which is attainable = min(P, intensity × B) where weights do not matter: the roofline of
 * Williams, Waterman and Patterson (2009) with one roof per memory level, as in the hierarchical
 * and cache-aware ones (Ilic, Pratas and Sousa 2014). What the roofs are, and when a layer is bound
 * by what, is in doc/roofline.md. Limits: bytes are those that the operators read and write, each
 * once, as if nothing stayed in a register or was fetched twice; a layer has one data type. */
#ifndef ASSAY_COST_ROOFLINE_H
#define ASSAY_COST_ROOFLINE_H

#include "profile/profile.h"

/* A layer below this share of its roof is overhead if it takes less than this on the CPU, else
 * bound by neither roof. */
#define ASSAY__ROOFLINE_OVERHEAD_NS 20000.0
#define ASSAY__ROOFLINE_OVERHEAD_SHARE 0.10
#define ASSAY__ROOFLINE_ABOVE 1.05 /* above this share of its roof the report says so */
#define ASSAY__ROOFLINE_LEVELS 4   /* l1, l2, l3, dram */

enum assay__bound {
    ASSAY__BOUND_COMPUTE,
    ASSAY__BOUND_MEMORY,
    ASSAY__BOUND_OVERHEAD,
    ASSAY__BOUND_NEITHER,
    ASSAY__BOUND_UNKNOWN,
    ASSAY__BOUND_COUNT
};
/** "compute", "memory", "overhead", "neither", "unknown" */
const char *assay__bound_name(enum assay__bound bound);
enum assay__bound assay__bound_parse(const char *name); /* anything else is unknown */

struct assay__roof {
    /* the ceiling: "compute.float32.all-cores", "3 x bandwidth.l2.read.one-core" */
    const char *name;
    const char *kind;   /* "float32", "int8"; "l2", "dram", "device" */
    const char *label;  /* human-readable: the kind, or "dram read" */
    double value;       /* FLOP/s or B/s */
    double holds_bytes; /* memory: what fits into the level; INFINITY for the last one */
};

struct assay__roofline_layer {
    enum assay__bound bound;
    const char *reason;              /* why it is unknown; "" */
    bool under_memory;               /* the roof that limits it first; else compute */
    const struct assay__roof *peak;  /* compute roof; NULL unknown */
    const struct assay__roof *level; /* memory roof; NULL unknown */
    double intensity;   /* FLOP/B; 0: computes nothing; INFINITY: moves nothing; NaN unknown */
    double rate;        /* FLOP/s achieved; NaN unknown, or it computes nothing */
    double attainable;  /* FLOP/s; the same */
    double least_ns;    /* what its roofs allow; NaN unknown */
    double utilization; /* least_ns / time, not clipped; NaN unknown */
};

struct assay__roofline {
    const char *reason;               /* why nothing can be said; "" */
    const char *type;                 /* data type of the model: "float32" */
    const char *type_from;            /* how it was determined */
    const char *cores_note;           /* which ceilings are used for the cores that ran it */
    const struct assay__roof *peak;   /* compute roof of the model's type; NULL: none */
    const char *peak_note;            /* a type used instead of another, or why there is none; "" */
    const struct assay__roof *levels; /* nearest first */
    size_t level_count;               /* 0: none */
    const struct assay__roof *memory; /* the outermost level; NULL: not measured */
    const struct assay__roof *weights; /* where weights are read from; NULL: as everything else */
    struct assay__roofs *roofs;        /* where further compute roofs are looked up */
    double overhead_ns;                /* a layer below this may be overhead */
    struct assay__roofline_layer *layers; /* as the trial's layers */
    size_t layer_count;
    double time_ns[ASSAY__BOUND_COUNT]; /* of the layers by bound */
    double least_ns,
        least_of_ns; /* sum of the layers' minimum times, and the time these layers took */
    size_t above;    /* layers faster than their roof */
};

/** Everything is in the arena. 0 or ASSAY_ENOMEM; a profile without ceilings is a reason, not a
 *  failure. */
int assay__roofline(const struct assay_profile *profile, const struct assay__trial *trial,
                    struct assay__arena *arena, struct assay__roofline *out);
/** Sets the bound of every layer of the trial and puts compute.utilization,
 *  memory.bandwidth_utilization and roofline.*, or why they are unavailable. 0 or ASSAY_ENOMEM. */
int assay__roofline_apply(struct assay_profile *profile, struct assay__trial *trial);

/** No ceilings are saved, and measuring them would give a roofline, which is not the case for
 *  scripted times and for another machine's files. */
bool assay__ceilings_would_help(const struct assay_profile *profile,
                                const struct assay__trial *trial);
/** The type that an operator computes in: "int8" for the integer products, else the model's. */
const char *assay__roofline_type(const char *op, const char *model_type);

#endif
