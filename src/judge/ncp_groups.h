/* ncp_groups.h - where the time of a recurrent cell over time steps goes: by time step and by
 * neuron group. From the profile alone: what the model declares about itself (its cell), and the
 * nodes each layer came from, whose names begin with "/step<k>/<group>/". A layer that came from
 * nodes of several groups (or steps) is never split: its row names all of them. The rows of a list,
 * including engine and unattributed, add up to latency.p50. */
#ifndef ASSAY_JUDGE_NCP_GROUPS_H
#define ASSAY_JUDGE_NCP_GROUPS_H

#include "base/buf.h"
#include "profile/profile.h"

/* In the order of the rows. */
enum assay__part_kind {
    ASSAY__PART_GROUP,       /* one group, one step */
    ASSAY__PART_SHARED,      /* layers of several groups, of several steps */
    ASSAY__PART_SCAN,        /* the Scan that holds all steps */
    ASSAY__PART_OUTSIDE,     /* of nodes that belong to no step */
    ASSAY__PART_ADDED,       /* from no node of the model: the engine added them */
    ASSAY__PART_ENGINE,      /* engine per run */
    ASSAY__PART_UNATTRIBUTED /* signed */
};

struct assay__part {
    enum assay__part_kind kind;
    const char *name;       /* "inter", "shared by inter, command", "Scan"; for a step "0" */
    int64_t step;           /* a step's number; -1 */
    double time_ns, share;  /* NaN unknown; of latency.p50 */
    double flops;           /* of the layers, or without layers of the graph; NaN unknown */
    int64_t neurons;        /* of a group; -1 unknown or none */
    double flops_needed;    /* for a group, by the wiring; NaN unknown */
    size_t layers, untimed; /* its layers; those of them without a time */
    enum assay_state state, flops_state;
    const char *note;
};

struct assay__ncp_groups {
    const struct assay__cell_info *cell;
    double p50_ns, per_step_ns;       /* per_step_ns = p50_ns / steps */
    double scan_step_ns;              /* time of the Scan / steps; NaN without one */
    double first_ns;                  /* the first step by its layers; NaN */
    double min_ns, median_ns, max_ns; /* of the steps after the first; NaN */
    /* fastest layer; (timed layers × it + engine per run) / p50_ns: an upper bound on the cost of
     * calling layers; NaN */
    double floor_ns, floor_share;
    size_t layers, timed; /* of the trial; of these with a time */
    struct assay__part *groups, *steps;
    size_t group_count, step_count;
    const char *note; /* a sentence for people; "" none */
    struct assay__arena *arena;
};

/** *out is NULL if the model is not such a cell. Everything is in the arena or borrowed from the
 * profile. 0 or ASSAY_ENOMEM. */
int assay__ncp_groups_make(const struct assay_profile *profile, const struct assay__trial *trial,
                           struct assay__arena *arena, struct assay__ncp_groups **out);
/** "group", "shared", "scan", "outside", "added", "engine", "unattributed" */
const char *assay__part_kind_name(enum assay__part_kind kind);

#endif
