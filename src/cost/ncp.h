/* ncp.h - what can be said of a Neural Circuit Policy beyond its operators: the facts of its
 * wiring, the work that the wiring needs against the work that the dense graph executes, and the
 * cost of a time step and of a group of neurons.
 *
 * Source: the metadata entry "assay.ncp" that the builders write (a JSON object; doc/ncp.md has its
 * members), and the node names "/step<k>/<group>/…". Both come from an untrusted file: every size
 * is checked against the others. */
#ifndef ASSAY_COST_NCP_H
#define ASSAY_COST_NCP_H

#include "cost/analysis.h"

#define ASSAY__NCP_METADATA "assay.ncp"
#define ASSAY__NCP_UNITS 4096 /* neurons, and inputs, at most */

struct assay__ncp_degree {
    size_t min, max;
    double mean; /* NaN when the group has no neurons or such synapses cannot be */
};

/* A group of neurons, or a part of the cell that belongs to none ("backbone", "memory", …). */
struct assay__ncp_group {
    const char *name;
    int64_t neurons; /* 0 for a part of the cell */
    /* synapses into and out of each neuron (sensory: in is NaN); only when the network is wired */
    struct assay__ncp_degree in, out;
    /* of all steps; NaN unknown. Of the nodes that carry the group's scope; where a node computes
       all neurons at once, by the group's share of the neurons (then shared is true) */
    double flops, flops_needed, bytes;
    bool shared;
    size_t nodes; /* that carry the group's scope; bodies' nodes count once */
};

struct assay__ncp_step {
    int64_t step;
    double flops, bytes; /* NaN unknown */
};

struct assay__ncp {
    const char *cell;   /* "CfC", "LTC" */
    const char *wiring; /* "AutoNCP", "NCP", "Random", "FullyConnected"; "none": a dense cell */
    const char *mode;   /* "default", "no_gate", "pure"; "" for LTC */
    const char *form;   /* "step", "unrolled", "scan" */
    int64_t units, inputs, outputs, steps, unfolds;
    bool wired;        /* false: none of the wiring's facts apply (counts 0, the rest NaN) */
    bool mixed_memory; /* an LSTM around the cell */
    size_t synapses, sensory_synapses;    /* between neurons; from inputs to neurons */
    size_t excitatory, inhibitory;        /* of both */
    double sparsity, sensory_sparsity;    /* 1 - synapses / units²; 1 - sensory / (inputs units) */
    size_t components, largest_component; /* strongly connected, of the neurons */
    size_t cyclic_components; /* of more than one neuron, or a neuron with a self-synapse */
    /* synapses of the longest path through the condensation (each component is one place), the one
       from a sensory input included */
    size_t longest_path;
    struct assay__ncp_group *groups;
    size_t group_count;
    /* unrolled: one entry per step; scan and step: one, the mean */
    struct assay__ncp_step *per_step;
    size_t per_step_count;
    double flops_per_step, bytes_per_step; /* mean over the steps; NaN unknown */
    /* of one run: executed by the graph, and without the work on synapses that do not exist; NaN
       unknown */
    double flops, flops_needed;
    const char *note; /* a sentence for people, "" none */
};

/** *found is false, and 0 is returned, when the model carries no such metadata. ASSAY_EFORMAT when
 *  it does and it contradicts itself. Everything lies in the arena. */
int assay__ncp_facts(const struct assay__model *model, const struct assay__analysis *analysis,
                     struct assay__arena *arena, bool *found, struct assay__ncp *out,
                     struct assay_error *error);
/** Which time step and group a node of such a model belongs to, by its name alone:
 *  "/step3/inter/ff1/Gemm" is step 3, "inter"; "/step/inter/…" (a Scan's body) is step -1. What
 *  takes a step's inputs ("/step3/input/…") belongs to the sensory neurons: "sensory". false:
 *  neither. group is cut to group_size. */
bool assay__ncp_place(const char *node_name, int64_t *step, char *group, size_t group_size);

#endif
