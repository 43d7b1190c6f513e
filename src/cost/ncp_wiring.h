/* ncp_wiring.h - the wiring of a Neural Circuit Policy from its metadata, checked, and what follows
 * from it alone. */
#ifndef ASSAY_COST_NCP_WIRING_H
#define ASSAY_COST_NCP_WIRING_H

#include "cost/ncp.h"

#define ASSAY__NCP_GROUPS 8 /* of neurons */

struct assay__ncp_range {
    const char *name;
    size_t first, count;
};

struct assay__ncp_wiring {
    size_t units, inputs;
    const char *adjacency, *sensory; /* units², inputs × units: '+', '-', '.'; NULL: not wired */
    struct assay__ncp_range groups[ASSAY__NCP_GROUPS]; /* cover all neurons once */
    size_t group_count;
};

/** Fills the names and sizes of `ncp` and the wiring from the metadata's text. */
int assay__ncp_read(const char *text, struct assay__arena *arena, struct assay__ncp *ncp,
                    struct assay__ncp_wiring *wiring, struct assay_error *error);
/** Synapses, sparsity, components, longest path. 0 or ASSAY_ENOMEM. */
int assay__ncp_wiring_facts(const struct assay__ncp_wiring *wiring, struct assay__ncp *ncp);
/** Synapses into and out of the neurons of a group. */
void assay__ncp_degrees(const struct assay__ncp_wiring *wiring,
                        const struct assay__ncp_range *group, struct assay__ncp_degree *in,
                        struct assay__ncp_degree *out);
/** For the inputs: out only. */
void assay__ncp_sensory_degrees(const struct assay__ncp_wiring *wiring,
                                struct assay__ncp_degree *out);
/** Existing synapses from one group to another (from NULL: from the inputs; to NULL: all). */
size_t assay__ncp_between(const struct assay__ncp_wiring *wiring,
                          const struct assay__ncp_range *from, const struct assay__ncp_range *to);

#endif
