/* ncp_wiring.c - reads the metadata entry "assay.ncp" (doc/ncp.md), and what follows from the
 * wiring alone. The file is untrusted: sizes are limited, the size of the matrices must match the
 * neurons, and the groups must cover each neuron exactly once.
 *
 * Degrees, strongly connected components (Tarjan, SIAM J. Comput. 1, 1972, without recursion) and
 * the longest path through their condensation. Tarjan finds components in reverse topological
 * order: everything reachable from a component has a smaller number, so one pass in that order
 * gives the longest path from each. The matrices are scanned as they are: O(units²). */
#include "cost/ncp_wiring.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

#define STEPS_MOST 1000000

static int bad_metadata(struct assay_error *error, const char *what)
{
    return assay_error_set(error, ASSAY_EFORMAT, "the metadata \"%s\": %s", ASSAY__NCP_METADATA,
                           what);
}

static bool read_size(const struct assay__json *root, const char *key, int64_t low, int64_t high,
                      int64_t *value)
{
    const struct assay__json *found = assay__json_get(root, key);
    if (!found || found->kind != ASSAY__JSON_NUMBER || !found->is_integer) return false;
    *value = found->integer;
    return *value >= low && *value <= high;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0) return true;
    return false;
}

static int read_names(const struct assay__json *root, struct assay__ncp *ncp,
                      struct assay_error *error)
{
    static const char *const cells[] = {"CfC", "LTC", NULL};
    static const char *const wirings[] = {"AutoNCP",        "NCP",  "Random",
                                          "FullyConnected", "none", NULL};
    static const char *const modes[] = {"default", "no_gate", "pure", "", NULL};
    static const char *const forms[] = {"step", "unrolled", "scan", NULL};
    ncp->cell = assay__json_get_string(root, "cell", "");
    ncp->wiring = assay__json_get_string(root, "wiring", "");
    ncp->mode = assay__json_get_string(root, "mode", "");
    ncp->form = assay__json_get_string(root, "form", "");
    if (!is_one_of(ncp->cell, cells)) return bad_metadata(error, "an unknown cell");
    if (!is_one_of(ncp->wiring, wirings)) return bad_metadata(error, "an unknown wiring");
    if (!is_one_of(ncp->mode, modes)) return bad_metadata(error, "an unknown mode");
    if (!is_one_of(ncp->form, forms)) return bad_metadata(error, "an unknown form");
    ncp->mixed_memory = assay__json_get_bool(root, "mixed_memory", false);
    ncp->wired = strcmp(ncp->wiring, "none") != 0;
    return 0;
}

static int read_matrix(const struct assay__json *root, const char *key, size_t count,
                       const char **matrix, struct assay_error *error)
{
    *matrix = assay__json_get_string(root, key, "");
    if (strlen(*matrix) != count || strspn(*matrix, "+-.") != count)
        return bad_metadata(error, "a matrix does not have one of '+', '-', '.' per pair");
    return 0;
}

/* Every neuron in one group. */
static int read_groups(const struct assay__json *list, struct assay__ncp_wiring *wiring,
                       struct assay_error *error)
{
    bool *taken = calloc(wiring->units, sizeof *taken);
    size_t total = 0;
    bool good = list && list->kind == ASSAY__JSON_ARRAY && list->count <= ASSAY__NCP_GROUPS;
    if (!taken) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (const struct assay__json *item = good ? list->first : NULL; item && good;
         item = item->next) {
        struct assay__ncp_range *group = &wiring->groups[wiring->group_count++];
        int64_t first = 0, count = 0, units = (int64_t)wiring->units;
        group->name = assay__json_get_string(item, "name", "");
        good = *group->name && strlen(group->name) < 64 &&
               read_size(item, "first", 0, units - 1, &first) &&
               read_size(item, "count", 1, units, &count) && first + count <= units;
        group->first = (size_t)first;
        group->count = (size_t)count;
        for (size_t i = group->first; good && i < group->first + group->count; i++) {
            good = !taken[i];
            taken[i] = true;
            total++;
        }
    }
    free(taken);
    if (!good || total != wiring->units)
        return bad_metadata(error, "the groups do not contain every neuron exactly once");
    return 0;
}

int assay__ncp_read(const char *text, struct assay__arena *arena, struct assay__ncp *ncp,
                    struct assay__ncp_wiring *wiring, struct assay_error *error)
{
    struct assay__json *root = NULL;
    *wiring = (struct assay__ncp_wiring){.adjacency = NULL};
    int code = assay__json_parse(arena, text, strlen(text), &root, error);
    if (code == ASSAY_ENOMEM) return code;
    if (code || root->kind != ASSAY__JSON_OBJECT) return bad_metadata(error, "not a JSON object");
    if (assay__json_get_integer(root, "version", 0) != 1)
        return bad_metadata(error, "its version is not 1");
    code = read_names(root, ncp, error);
    if (code) return code;
    if (!read_size(root, "units", 1, ASSAY__NCP_UNITS, &ncp->units) ||
        !read_size(root, "inputs", 1, ASSAY__NCP_UNITS, &ncp->inputs) ||
        !read_size(root, "outputs", 1, ncp->units, &ncp->outputs))
        return bad_metadata(error, "units, inputs or outputs are missing or implausible");
    if (!read_size(root, "steps", 1, STEPS_MOST, &ncp->steps))
        return bad_metadata(error, "steps are missing or implausible");
    if (strcmp(ncp->cell, "LTC") == 0 && !read_size(root, "unfolds", 1, STEPS_MOST, &ncp->unfolds))
        return bad_metadata(error, "unfolds are missing or implausible");
    wiring->units = (size_t)ncp->units;
    wiring->inputs = (size_t)ncp->inputs;
    if (!ncp->wired) return 0;
    code = read_matrix(root, "adjacency", wiring->units * wiring->units, &wiring->adjacency, error);
    if (!code)
        code = read_matrix(root, "sensory", wiring->inputs * wiring->units, &wiring->sensory,
                           error);
    return code ? code : read_groups(assay__json_get(root, "groups"), wiring, error);
}

/* --- counts ----------------------------------------------------------------------------------- */

static bool synapse(const struct assay__ncp_wiring *wiring, size_t from, size_t to)
{
    return wiring->adjacency[from * wiring->units + to] != '.';
}

static bool sensory(const struct assay__ncp_wiring *wiring, size_t from, size_t to)
{
    return wiring->sensory[from * wiring->units + to] != '.';
}

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
    size_t *stack, *path; /* Tarjan's stack; the call stack of the recursion */
    size_t *next;         /* per neuron: the next target to look at */
    size_t stack_count, counter, components, largest;
};

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
        if (search->low[at] ==
            search->number[at]) { /* complete: everything above it on the stack */
            size_t size = 0, member;
            do {
                member = search->stack[--search->stack_count];
                search->component[member] = search->components;
                size++;
            } while (member != at);
            search->components++;
            if (size > search->largest) search->largest = size;
        }
        if (--depth == 0) break;
        size_t caller = search->path[depth - 1];
        if (search->low[at] < search->low[caller]) search->low[caller] = search->low[at];
    }
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
    size_t *cycle = search.path; /* more than one neuron, or a synapse of a neuron onto itself */
    memset(cycle, 0, units * sizeof *cycle);
    for (size_t i = 0; i < units; i++)
        cycle[search.component[i]] += 1 + (size_t)synapse(wiring, i, i);
    for (size_t c = 0; c < search.components; c++)
        ncp->cyclic_components += cycle[c] > 1;
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
