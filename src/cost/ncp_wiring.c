/* ncp_wiring.c - what follows from a wiring alone: degrees, strongly connected components (Tarjan,
 * SIAM J. Comput. 1, 1972, without recursion) and the longest path through their condensation.
 * Tarjan finds components in reverse topological order: all that a component leads to has a smaller
 * number, so that one pass in that order gives the longest path from each. The matrices are scanned
 * as they are: O(units²). */
#include "cost/ncp_wiring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool synapse(const struct assay__ncp_wiring *wiring, size_t from, size_t to)
{
    return wiring->adjacency[from * wiring->units + to] != '.';
}

static bool sensory(const struct assay__ncp_wiring *wiring, size_t from, size_t to)
{
    return wiring->sensory[from * wiring->units + to] != '.';
}

/* --- counts ----------------------------------------------------------------------------------- */

static size_t count_of(const char *matrix, size_t count, char wanted)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += matrix[i] == wanted;
    return found;
}

size_t assay__ncp_between(const struct assay__ncp_wiring *wiring,
                          const struct assay__ncp_range *from, const struct assay__ncp_range *to)
{
    size_t first = from ? from->first : 0, rows = from ? from->count : wiring->inputs, found = 0;
    size_t target = to ? to->first : 0, columns = to ? to->count : wiring->units;
    for (size_t i = first; i < first + rows; i++)
        for (size_t j = target; j < target + columns; j++)
            found += from ? synapse(wiring, i, j) : sensory(wiring, i, j);
    return found;
}

static void degree_add(struct assay__ncp_degree *degree, size_t index, size_t value, size_t count)
{
    if (index == 0 || value < degree->min) degree->min = value;
    if (index == 0 || value > degree->max) degree->max = value;
    degree->mean = (index ? degree->mean : 0) + (double)value / (double)count;
}

void assay__ncp_degrees(const struct assay__ncp_wiring *wiring,
                        const struct assay__ncp_range *group, struct assay__ncp_degree *in,
                        struct assay__ncp_degree *out)
{
    *in = *out = (struct assay__ncp_degree){0, 0, NAN};
    for (size_t k = 0; k < group->count; k++) {
        size_t neuron = group->first + k, into = 0, from = 0;
        for (size_t i = 0; i < wiring->units; i++) {
            into += synapse(wiring, i, neuron);
            from += synapse(wiring, neuron, i);
        }
        for (size_t i = 0; i < wiring->inputs; i++)
            into += sensory(wiring, i, neuron);
        degree_add(in, k, into, group->count);
        degree_add(out, k, from, group->count);
    }
}

void assay__ncp_sensory_degrees(const struct assay__ncp_wiring *wiring,
                                struct assay__ncp_degree *out)
{
    *out = (struct assay__ncp_degree){0, 0, NAN};
    for (size_t i = 0; i < wiring->inputs; i++) {
        size_t from = 0;
        for (size_t j = 0; j < wiring->units; j++)
            from += sensory(wiring, i, j);
        degree_add(out, i, from, wiring->inputs);
    }
}

/* --- components ------------------------------------------------------------------------------- */

struct search {
    const struct assay__ncp_wiring *wiring;
    size_t *number, *low; /* order of discovery from 1; 0: not yet seen */
    size_t *component;    /* SIZE_MAX: none yet */
    size_t *stack, *path; /* Tarjan's stack; the calls that a recursion would have */
    size_t *next;         /* per neuron: the next target to look at */
    size_t stack_count, counter, components, largest;
};

/* The neuron's component is complete: it is what lies above it on the stack. */
static void close_component(struct search *search, size_t neuron)
{
    size_t size = 0, member;
    do {
        member = search->stack[--search->stack_count];
        search->component[member] = search->components;
        size++;
    } while (member != neuron);
    search->components++;
    if (size > search->largest) search->largest = size;
}

static void discover(struct search *search, size_t neuron, size_t *depth)
{
    search->number[neuron] = search->low[neuron] = ++search->counter;
    search->stack[search->stack_count++] = neuron;
    search->path[(*depth)++] = neuron;
}

static void search_from(struct search *search, size_t root)
{
    size_t depth = 0, units = search->wiring->units;
    discover(search, root, &depth);
    while (depth > 0) {
        size_t at = search->path[depth - 1], to = search->next[at]++;
        if (to < units) {
            if (!synapse(search->wiring, at, to)) continue;
            if (search->number[to] == 0)
                discover(search, to, &depth);
            else if (search->component[to] == SIZE_MAX && search->number[to] < search->low[at])
                search->low[at] = search->number[to];
            continue;
        }
        if (search->low[at] == search->number[at]) close_component(search, at);
        if (--depth == 0) break;
        size_t caller = search->path[depth - 1];
        if (search->low[at] < search->low[caller]) search->low[caller] = search->low[at];
    }
}

/* Components with a cycle: more than one neuron, or a synapse of a neuron onto itself. */
static size_t count_cyclic(const struct search *search, size_t *scratch)
{
    size_t units = search->wiring->units, found = 0;
    memset(scratch, 0, units * sizeof *scratch);
    for (size_t i = 0; i < units; i++) {
        scratch[search->component[i]]++;
        if (synapse(search->wiring, i, i)) scratch[search->component[i]]++;
    }
    for (size_t c = 0; c < search->components; c++)
        found += scratch[c] > 1;
    return found;
}

/* Longest path in synapses between components; one more from an input. */
static size_t longest_path(const struct search *search, size_t *depth)
{
    const struct assay__ncp_wiring *wiring = search->wiring;
    size_t units = wiring->units, longest = 0;
    memset(depth, 0, units * sizeof *depth);
    for (size_t c = 0; c < search->components; c++)
        for (size_t i = 0; i < units; i++)
            for (size_t j = 0; search->component[i] == c && j < units; j++) {
                size_t to = search->component[j];
                if (to != c && synapse(wiring, i, j) && depth[to] + 1 > depth[c])
                    depth[c] = depth[to] + 1;
            }
    for (size_t i = 0; i < units; i++) {
        size_t from_here = depth[search->component[i]];
        for (size_t s = 0; s < wiring->inputs; s++)
            if (sensory(wiring, s, i)) {
                from_here++;
                break;
            }
        if (from_here > longest) longest = from_here;
    }
    return longest;
}

int assay__ncp_wiring_facts(const struct assay__ncp_wiring *wiring, struct assay__ncp *ncp)
{
    size_t units = wiring->units, pairs = units * units, from_inputs = wiring->inputs * units;
    size_t *memory = calloc(6 * units, sizeof *memory);
    if (!memory) return ASSAY_ENOMEM;
    struct search search = {.wiring = wiring,
                            .number = memory,
                            .low = memory + units,
                            .component = memory + 2 * units,
                            .stack = memory + 3 * units,
                            .path = memory + 4 * units,
                            .next = memory + 5 * units};
    for (size_t i = 0; i < units; i++)
        search.component[i] = SIZE_MAX;
    for (size_t i = 0; i < units; i++)
        if (search.number[i] == 0) search_from(&search, i);
    ncp->components = search.components;
    ncp->largest_component = search.largest;
    ncp->cyclic_components = count_cyclic(&search, search.path);
    ncp->longest_path = longest_path(&search, search.path);
    free(memory);
    ncp->synapses = pairs - count_of(wiring->adjacency, pairs, '.');
    ncp->sensory_synapses = from_inputs - count_of(wiring->sensory, from_inputs, '.');
    ncp->excitatory = count_of(wiring->adjacency, pairs, '+') +
                      count_of(wiring->sensory, from_inputs, '+');
    ncp->inhibitory = ncp->synapses + ncp->sensory_synapses - ncp->excitatory;
    ncp->sparsity = 1 - (double)ncp->synapses / (double)pairs;
    ncp->sensory_sparsity = 1 - (double)ncp->sensory_synapses / (double)from_inputs;
    return 0;
}
