/* ncp.h - what is known about a Neural Circuit Policy beyond its operators: facts about its wiring,
 * the work that the wiring needs compared with what the dense graph executes, and the cost of a
 * time step and of a group of neurons.
 *
 * Source: the metadata entry "assay.ncp" that the builders write (a JSON object; doc/ncp.md has its
 * members), and the node names "/step<k>/<group>/…". Both come from an untrusted file: every size
 * is checked against the others. */
#ifndef ASSAY_COST_NCP_H
#define ASSAY_COST_NCP_H

#include "cost/analysis.h"

#define ASSAY__NCP_METADATA "assay.ncp"
#define ASSAY__NCP_UNITS 4096 /* maximum number of neurons, and of inputs */

struct assay__ncp_degree {
    size_t min, max;
    double mean; /* NaN if the group has no neurons or such synapses are impossible */
};

/* A group of neurons, or a part of the cell that belongs to none ("backbone", "memory", …). */
struct assay__ncp_group {
    const char *name;
    int64_t neurons; /* 0 for a part of the cell */
    /* synapses into and out of each neuron (sensory: in is NaN); only when the network is wired */
    struct assay__ncp_degree in, out;
    /* over all steps; NaN unknown. For the nodes in the group's scope; if a node computes all
     * neurons at once, by the group's share of the neurons (then shared is true) */
    double flops, flops_needed, bytes;
    bool shared;
    size_t nodes; /* in the group's scope; nodes of bodies count once */
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
    bool wired; /* false: none of the facts about the wiring apply (counts 0, the rest NaN) */
    bool mixed_memory;                    /* an LSTM around the cell */
    size_t synapses, sensory_synapses;    /* between neurons; from inputs to neurons */
    size_t excitatory, inhibitory;        /* of both */
    double sparsity, sensory_sparsity;    /* 1 - synapses / units²; 1 - sensory / (inputs units) */
    size_t components, largest_component; /* strongly connected, of the neurons */
    size_t cyclic_components; /* of more than one neuron, or a neuron with a self-synapse */
    /* synapses of the longest path through the condensation (each component counts as one),
     * including the one from a sensory input */
    size_t longest_path;
    struct assay__ncp_group *groups;
    size_t group_count;
    /* unrolled: one entry per step; scan and step: one, the mean */
    struct assay__ncp_step *per_step;
    size_t per_step_count;
    double flops_per_step, bytes_per_step; /* mean over the steps; NaN unknown */
    /* per run: executed by the graph, and without the work on missing synapses; NaN unknown */
    double flops, flops_needed;
    const char *note; /* a sentence for people, "" none */
};

/** *found is false, and 0 is returned, if the model has no such metadata. ASSAY_EFORMAT if it has
 *  and they contradict themselves. Everything is in the arena. */
int assay__ncp_facts(const struct assay__model *model, const struct assay__analysis *analysis,
                     struct assay__arena *arena, bool *found, struct assay__ncp *out,
                     struct assay_error *error);
/** Which time step and group a node of such a model belongs to, by its name alone:
 *  "/step3/inter/ff1/Gemm" is step 3, "inter"; "/step/inter/…" (a Scan's body) is step -1. What
 *  reads the inputs of a step ("/step3/input/…") belongs to the sensory neurons: "sensory". false:
 *  neither. group is truncated to group_size. */
bool assay__ncp_place(const char *node_name, int64_t *step, char *group, size_t group_size);

#endif
