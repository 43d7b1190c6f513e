/* describe.h - what is measured, written into the document beforehand: the machine, the model, the
 * workload; and, from the graph, what a run computes and moves. */
#ifndef ASSAY_RUN_TRIAL_DESCRIBE_H
#define ASSAY_RUN_TRIAL_DESCRIBE_H

#include "base/buf.h"
#include "base/no_memory.h"
#include "cost/cost_walk.h"
#include "model/inputs/generation_roles.h"
#include "model/graph.h"
#include "model/inputs/inputs.h"
#include "model/shapes/shapes.h"
#include "profile/profile.h"

#include <assay/run.h>

/** A model's costs: per node (file order) and in total. A node with bodies has the cost of what
 *  runs in them, and each node of a body its own, times its trips. */
struct assay__model_costs {
    struct assay__cost *nodes;               /* node_count entries; NULL without a model */
    double flops, bytes;                     /* NaN when any node's is unknown */
    const char *flops_reason, *bytes_reason; /* why NaN: how many nodes and which operators */
    double *live_bytes;      /* activations alive while each node runs; NULL or NaN unknown */
    double live_peak_bytes;  /* NaN: live_reason says why */
    const char *live_reason; /* "" */
    const struct assay__graph *graph;   /* the model's nodes, followed by … */
    size_t main_count;                  /* … those of bodies that run, from this index on */
    size_t *parents;                    /* by node: the node whose body it is in; SIZE_MAX: none */
    const struct assay__shapes **inner; /* by node: shapes in its body; NULL: `shapes` */
    struct assay__map *by_name;         /* node name, else an output -> node index */
    struct assay__map *consumers; /* value -> how many nodes read it, + 1 for a graph output */
    struct assay__map *constants; /* names of weights and other constants */
    /* shapes of one inference; NULL: they change during it, or are unknown */
    struct assay__shapes *shapes;
    struct assay__arena *shapes_arena; /* holds them */
    struct assay__peak peak; /* of the activations; its texts live in the profile's arena */
};

/** profile->ceilings: copies of the caller's ceilings for its device. A value that is not above 0
 * is unavailable. */
int assay__describe_ceilings(struct assay_profile *profile, const struct assay__ceiling_info *given,
                             size_t count, struct assay_error *error);
int assay__describe_machine(struct assay_profile *profile, struct assay_error *error);
/** Fills *info, one of the profile's models, and *costs (assay__costs_free it). `shown` is the path
 *  or zoo name as the user gave it. */
int assay__describe_model(struct assay_profile *profile, struct assay__model_info *info,
                          const struct assay__model *model, const struct assay__workload *workload,
                          const char *shown, const char *path, struct assay__model_costs *costs,
                          struct assay_error *error);
/** Turns *costs (of the first run, as assay__describe_model left them) into those of a whole
 * generation: the prompt and every decode step at its own cache length; and updates the operators
 * of *info. */
int assay__describe_generation(struct assay_profile *profile, struct assay__model_info *info,
                               const struct assay__model *model,
                               const struct assay__workload *workload,
                               const struct assay__generation *generation,
                               struct assay__model_costs *costs, struct assay_error *error);
/** costs->constants. */
int assay__describe_constants(struct assay__model_costs *costs);
/** Shapes, weights and attributes of a layer that came from these nodes, as text. 0 or
 *  ASSAY_ENOMEM. */
int assay__describe_layer(struct assay__arena *arena, const struct assay__model_costs *costs,
                          const size_t *nodes, size_t count, struct assay__layer *layer);
/** "1x64x112x112 float32", "?"; false if nothing about it is known. */
bool assay__describe_type(struct assay__buf *out, const struct assay__shapes *shapes,
                          const char *name);
void assay__costs_free(struct assay__model_costs *costs);
/** The trial's inputs, batch and notes. */
int assay__describe_workload(struct assay_profile *profile, struct assay__trial *trial,
                             const struct assay__workload *workload, struct assay_error *error);
/** Index of an original node by its name (or first output), or ASSAY__MAP_NONE. */
size_t assay__costs_find(const struct assay__model_costs *costs, const char *node);

#endif
