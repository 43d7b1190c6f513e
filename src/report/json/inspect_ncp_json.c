/* inspect_ncp_json.c - the wiring of a Neural Circuit Policy, as a member of inspect's JSON. */
#include "report/json/inspect_json.h"

#include <math.h>

static void json_degree(struct assay__json_writer *w, const char *key,
                        const struct assay__ncp_degree *d)
{
    assay__json_key(w, key);
    if (!isfinite(d->mean)) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_integer(w, "min", (int64_t)d->min);
    assay__json_put_integer(w, "max", (int64_t)d->max);
    assay__json_put_number(w, "mean", d->mean);
    assay__json_object_end(w);
}

static void json_groups(struct assay__json_writer *w, const struct assay__ncp *n)
{
    assay__json_put_array(w, "groups");
    for (size_t i = 0; i < n->group_count; i++) {
        const struct assay__ncp_group *g = &n->groups[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", g->name);
        assay__json_put_integer(w, "neurons", g->neurons);
        json_degree(w, "in", &g->in);
        json_degree(w, "out", &g->out);
        assay__json_put_number(w, "flops", g->flops);
        assay__json_put_number(w, "flops_needed", g->flops_needed);
        assay__json_put_number(w, "bytes", g->bytes);
        assay__json_put_bool(w, "shared", g->shared);
        assay__json_put_integer(w, "nodes", (int64_t)g->nodes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_array(w, "steps");
    for (size_t i = 0; i < n->per_step_count; i++) {
        assay__json_object(w);
        assay__json_put_integer(w, "step", n->per_step[i].step);
        assay__json_put_number(w, "flops", n->per_step[i].flops);
        assay__json_put_number(w, "bytes", n->per_step[i].bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void json_wiring(struct assay__json_writer *w, const struct assay__ncp *n)
{
    const struct {
        const char *key;
        size_t value;
    } counts[] = {{"synapses", n->synapses},
                  {"sensory_synapses", n->sensory_synapses},
                  {"excitatory", n->excitatory},
                  {"inhibitory", n->inhibitory},
                  {"components", n->components},
                  {"largest_component", n->largest_component},
                  {"cyclic_components", n->cyclic_components},
                  {"longest_path", n->longest_path}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (n->wired)
            assay__json_put_integer(w, counts[i].key, (int64_t)counts[i].value);
        else
            assay__json_put_null(w, counts[i].key);
    }
    assay__json_put_number(w, "sparsity", n->sparsity);
    assay__json_put_number(w, "sensory_sparsity", n->sensory_sparsity);
}

void assay__inspect_json_ncp(struct assay__json_writer *w, const struct assay__inspect *inspect)
{
    const struct assay__ncp *n = &inspect->ncp;
    assay__json_key(w, "ncp");
    if (!inspect->has_ncp) {
        assay__json_null(w);
        if (inspect->ncp_fault) assay__json_put_string(w, "ncp_fault", inspect->ncp_fault);
        return;
    }
    assay__json_object(w);
    assay__json_put_string(w, "cell", n->cell);
    assay__json_put_string(w, "wiring", n->wiring);
    assay__json_put_string(w, "mode", n->mode && *n->mode ? n->mode : NULL);
    assay__json_put_string(w, "form", n->form);
    assay__json_put_integer(w, "units", n->units);
    assay__json_put_integer(w, "inputs", n->inputs);
    assay__json_put_integer(w, "outputs", n->outputs);
    assay__json_put_integer(w, "step_count", n->steps);
    assay__json_put_integer(w, "unfolds", n->unfolds);
    assay__json_put_bool(w, "wired", n->wired);
    assay__json_put_bool(w, "mixed_memory", n->mixed_memory);
    json_wiring(w, n);
    assay__json_put_number(w, "flops", n->flops);
    assay__json_put_number(w, "flops_needed", n->flops_needed);
    assay__json_put_number(w, "flops_per_step", n->flops_per_step);
    assay__json_put_number(w, "bytes_per_step", n->bytes_per_step);
    json_groups(w, n);
    assay__json_put_string(w, "note", n->note && *n->note ? n->note : NULL);
    assay__json_object_end(w);
}
