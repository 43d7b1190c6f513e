/* ncp.c - the costs of a Neural Circuit Policy by time step and by group of neurons, from the names
 * of its nodes ("/step<k>/<group>/…"; a Scan's body has "/step/<group>/…" and runs once per step),
 * and the FLOPs that its wiring needs.
 *
 * What the wiring needs: a dense graph multiplies by every pair, synapse or not.
 *   CfC  a product ff1 or ff2 of K inputs and N neurons executes 2 K N per row (and N for a bias);
 *        the wiring masks the pairs from the previous group, so that 2 per missing synapse are not
 *        needed. Recurrent weights, time_a and time_b are dense by definition. A rewrite may have
 *        replaced the Gemm with a quantised product; one that is not in the table below, or is in
 *        no group's scope, leaves the need unknown.
 *   LTC  all nodes below a scope "synapses" work on every pair: of their FLOPs the share of the
 *        existing synapses is needed.
 * A node that computes all neurons at once (scope "neurons") is divided among the groups: what it
 * executes by the number of neurons, what is needed of it by the synapses into them. */
#include "cost/ncp.h"

#include "cost/cost_walk.h"
#include "cost/ncp_wiring.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MOST 32 /* groups and parts */

bool assay__ncp_place(const char *node_name, int64_t *step, char *group, size_t group_size)
{
    const char *at = node_name;
    if (strncmp(at, "/step", 5) != 0) return false;
    at += 5;
    *step = -1;
    if (isdigit((unsigned char)*at)) {
        char *end = NULL;
        long long number = strtoll(at, &end, 10);
        if (end - at > 9) return false;
        *step = number;
        at = end;
    }
    if (*at++ != '/') return false;
    size_t length = strcspn(at, "/");
    if (length == 0 || at[length] != '/') return false;
    if (length == strlen("input") && strncmp(at, "input", length) == 0) {
        at = "sensory"; /* reading the inputs of a step is their work */
        length = strlen(at);
    }
    if (group_size == 0) return true;
    if (length >= group_size) length = group_size - 1;
    memcpy(group, at, length);
    group[length] = '\0';
    return true;
}

/* --- the walk --------------------------------------------------------------------------------- */

struct part {
    struct assay__ncp_group group;
    double pair_flops; /* of its FLOPs: of nodes that work on every pair (LTC) */
};

struct tally {
    struct assay__ncp *ncp;
    const struct assay__ncp_wiring *wiring;
    struct assay__arena *arena;
    struct part parts[PARTS_MOST]; /* by scope */
    size_t part_count;
    double other, other_needed; /* outside the steps */
    size_t masked;              /* nodes of which the wiring does not need everything */
    double *steps, *step_bytes; /* per step: its own nodes */
    double each, each_bytes;    /* of a body, per step */
};

static struct part *part_named(struct tally *tally, const char *name)
{
    for (size_t i = 0; i < tally->part_count; i++)
        if (strcmp(tally->parts[i].group.name, name) == 0) return &tally->parts[i];
    return NULL;
}

/* The entry of the scope, a new one if it does not exist yet; NULL if there are too many. */
static struct part *part_of(struct tally *tally, const char *scope)
{
    struct part *part = part_named(tally, scope);
    if (part || tally->part_count == PARTS_MOST) return part;
    const char *name = assay__arena_strdup(tally->arena, scope);
    if (!name) return NULL;
    part = &tally->parts[tally->part_count++];
    part->group.name = name;
    return part;
}

static const struct assay__ncp_range *range_named(const struct assay__ncp_wiring *wiring,
                                                  const char *name)
{
    for (size_t i = 0; i < wiring->group_count; i++)
        if (strcmp(wiring->groups[i].name, name) == 0) return &wiring->groups[i];
    return NULL;
}

/* Products that are a dense layer, and which of their inputs is its bias (-1: none). */
static const struct {
    const char *op;
    int bias;
} products[] = {
    {"Gemm", 2},
    {"MatMul", -1},
    {"MatMulInteger", -1},
    {"QLinearMatMul", -1},
    {"FusedGemm", 2},
    {"FusedMatMul", -1},
    {"FusedMatMulActivation", -1},
    {"MatMulIntegerToFloat", 6},
    {"DynamicQuantizeMatMul", 4},
    {"MatMulNBits", 5},
    {"QGemm", 6},
};

/* Additions per output besides the multiply-adds: 1 with a bias; NaN: not a product in the
 * table. */
static double bias_of(const struct assay__node *node)
{
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        if (strcmp(node->op, products[i].op) != 0) continue;
        size_t at = products[i].bias < 0 ? SIZE_MAX : (size_t)products[i].bias;
        return at < node->input_count && *node->inputs[at] ? 1 : 0;
    }
    return NAN;
}

/* FLOPs of one run of a CfC's product that multiply by missing synapses; NaN: it is not the one
 * that the metadata describes. */
static double missing_flops(const struct tally *tally, const struct assay__node *node,
                            const char *scope, const struct assay__cost *own)
{
    const struct assay__ncp_wiring *wiring = tally->wiring;
    const struct assay__ncp_range *to = range_named(wiring, scope), *from = NULL;
    bool all = strcmp(scope, "neurons") == 0;
    if (!to && !all) return 0;
    if (to && strcmp(scope, "command") == 0) from = range_named(wiring, "inter");
    if (to && strcmp(scope, "motor") == 0) from = range_named(wiring, "command");
    double sources = from ? (double)from->count : (double)wiring->inputs;
    double targets = to ? (double)to->count : (double)wiring->units;
    double missing = sources * targets - (double)assay__ncp_between(wiring, from, to);
    double rows = own->macs / ((sources + targets + bias_of(node)) * targets);
    if (!(rows > 0 && fabs(rows - rint(rows)) <= 1e-9 * rows)) return NAN;
    return 2 * rint(rows) * missing;
}

/* Of a node's FLOPs, those that the wiring needs. */
static double needed_flops(struct tally *tally, const struct assay__node *node, const char *scope,
                           const struct assay__cost *own)
{
    const struct assay__ncp *ncp = tally->ncp;
    bool ltc = strcmp(ncp->cell, "LTC") == 0, from_inputs = strcmp(scope, "sensory") == 0;
    if (!ncp->wired) return own->flops;
    if (ltc && strstr(node->name, "/synapses/")) {
        tally->masked++;
        return own->flops * (1 - (from_inputs ? ncp->sensory_sparsity : ncp->sparsity));
    }
    bool masked = strstr(node->name, "/ff1/") || strstr(node->name, "/ff2/");
    if (ltc || !masked || own->macs == 0) return own->flops;
    tally->masked++;
    return own->flops - missing_flops(tally, node, scope, own);
}

static int visit(void *context, const struct assay__cost_visited *visited)
{
    struct tally *tally = context;
    const struct assay__node *node = visited->node;
    const struct assay__cost *own = &visited->own;
    double times = visited->times;
    char scope[64];
    int64_t step = -1;
    double flops = own->flops * times, bytes = (own->bytes_read + own->bytes_written) * times;
    struct part *part = NULL;
    if (own->constant) return 0;
    if (assay__ncp_place(node->name, &step, scope, sizeof scope) && step < tally->ncp->steps)
        part = part_of(tally, scope);
    if (!part) {
        tally->other += flops;
        /* a product without its group's name may be one that the wiring masks */
        tally->other_needed += tally->ncp->wired && own->macs > 0 ? (double)NAN : flops;
        return 0;
    }
    part->group.nodes++;
    part->group.flops += flops;
    part->group.bytes += bytes;
    part->group.flops_needed += needed_flops(tally, node, scope, own) * times;
    if (strstr(node->name, "/synapses/")) part->pair_flops += flops;
    if (step < 0) { /* a body: once per step */
        tally->each += flops / (double)tally->ncp->steps;
        tally->each_bytes += bytes / (double)tally->ncp->steps;
    } else {
        tally->steps[step] += flops;
        tally->step_bytes[step] += bytes;
    }
    return 0;
}

/* --- groups ----------------------------------------------------------------------------------- */

/* The scope's own nodes, if it has any. */
static void add_part(struct assay__ncp_group *group, const struct part *part)
{
    if (!part) return;
    group->flops += part->group.flops;
    group->flops_needed += part->group.flops_needed;
    group->bytes += part->group.bytes;
    group->nodes += part->group.nodes;
}

/* A group of neurons: its own nodes, and its share of those that compute all neurons. */
static void put_group(struct tally *tally, const struct assay__ncp_range *range,
                      struct assay__ncp_group *group)
{
    const struct assay__ncp_wiring *wiring = tally->wiring;
    double share = (double)range->count / (double)wiring->units;
    *group = (struct assay__ncp_group){.name = range->name, .neurons = (int64_t)range->count};
    assay__ncp_degrees(wiring, range, &group->in, &group->out);
    add_part(group, part_named(tally, range->name));
    const struct part *all = part_named(tally, "neurons");
    if (!all) return;
    size_t into = 0;
    for (size_t i = 0; i < wiring->group_count; i++)
        into += assay__ncp_between(wiring, &wiring->groups[i], range);
    double needed_pairs = all->pair_flops * (1 - tally->ncp->sparsity);
    double existing = (double)tally->ncp->synapses;
    group->flops += all->group.flops * share;
    group->bytes += all->group.bytes * share;
    group->flops_needed += (all->group.flops_needed - needed_pairs) * share;
    if (existing > 0) group->flops_needed += needed_pairs * (double)into / existing;
    group->shared = true;
}

static int put_groups(struct tally *tally)
{
    struct assay__ncp *ncp = tally->ncp;
    ncp->groups = assay__arena_array(tally->arena, PARTS_MOST + ASSAY__NCP_GROUPS + 1,
                                     sizeof *ncp->groups);
    if (!ncp->groups) return ASSAY_ENOMEM;
    if (ncp->wired) {
        struct assay__ncp_group *first = &ncp->groups[ncp->group_count++];
        *first = (struct assay__ncp_group){
            .name = "sensory", .neurons = ncp->inputs, .in = {0, 0, NAN}};
        assay__ncp_sensory_degrees(tally->wiring, &first->out);
        add_part(first, part_named(tally, "sensory"));
        for (size_t i = 0; i < tally->wiring->group_count; i++)
            put_group(tally, &tally->wiring->groups[i], &ncp->groups[ncp->group_count++]);
    }
    for (size_t i = 0; i < tally->part_count; i++) {
        const char *name = tally->parts[i].group.name;
        if (ncp->wired && (strcmp(name, "sensory") == 0 || strcmp(name, "neurons") == 0 ||
                           range_named(tally->wiring, name)))
            continue; /* in a group already */
        struct assay__ncp_group *part = &ncp->groups[ncp->group_count++];
        *part = tally->parts[i].group;
        part->in = part->out = (struct assay__ncp_degree){0, 0, NAN};
    }
    return 0;
}

/* --- steps and sums --------------------------------------------------------------------------- */

static int put_steps(struct tally *tally)
{
    struct assay__ncp *ncp = tally->ncp;
    bool unrolled = strcmp(ncp->form, "unrolled") == 0;
    ncp->per_step_count = unrolled ? (size_t)ncp->steps : 1;
    ncp->per_step = assay__arena_array(tally->arena, ncp->per_step_count, sizeof *ncp->per_step);
    if (!ncp->per_step) return ASSAY_ENOMEM;
    double flops = 0, bytes = 0;
    for (int64_t i = 0; i < ncp->steps; i++) {
        tally->steps[i] += tally->each;
        tally->step_bytes[i] += tally->each_bytes;
        flops += tally->steps[i];
        bytes += tally->step_bytes[i];
        if (unrolled)
            ncp->per_step[i] = (struct assay__ncp_step){i, tally->steps[i], tally->step_bytes[i]};
    }
    ncp->flops_per_step = flops / (double)ncp->steps;
    ncp->bytes_per_step = bytes / (double)ncp->steps;
    if (!unrolled)
        ncp->per_step[0] = (struct assay__ncp_step){0, ncp->flops_per_step, ncp->bytes_per_step};
    ncp->flops = tally->other;
    ncp->flops_needed = ncp->wired && !tally->masked ? (double)NAN : tally->other_needed;
    for (size_t i = 0; i < tally->part_count; i++) {
        ncp->flops += tally->parts[i].group.flops;
        ncp->flops_needed += tally->parts[i].group.flops_needed;
    }
    return 0;
}

static const char *note_of(const struct assay__ncp *ncp)
{
    bool cfc = strcmp(ncp->cell, "CfC") == 0;
    if (!ncp->wired)
        return "the backbone mixes all neurons: the sparsity of a wiring does not apply";
    if (!cfc)
        return "the graph computes every pair of neurons: costs of inter, command and motor "
               "neurons are their shares";
    if (strcmp(ncp->wiring, "Random") == 0 || strcmp(ncp->wiring, "FullyConnected") == 0)
        return "a CfC uses only the sensory synapses of this wiring: its recurrent weights are "
               "dense";
    return "the wiring masks ff1 and ff2 between groups; recurrent weights within a group, time_a "
           "and time_b are dense";
}

int assay__ncp_facts(const struct assay__model *model, const struct assay__analysis *analysis,
                     struct assay__arena *arena, bool *found, struct assay__ncp *out,
                     struct assay_error *error)
{
    const char *text = assay__model_metadata(model, ASSAY__NCP_METADATA);
    struct assay__ncp_wiring wiring;
    struct tally *tally = NULL;
    struct assay__cost *costs = NULL;
    *found = text != NULL;
    *out = (struct assay__ncp){.sparsity = NAN, .sensory_sparsity = NAN, .note = ""};
    if (!text) return 0;
    int code = assay__ncp_read(text, arena, out, &wiring, error);
    if (code == 0 && out->wired && assay__ncp_wiring_facts(&wiring, out)) code = ASSAY_ENOMEM;
    if (code) goto out;
    code = ASSAY_ENOMEM;
    tally = assay__arena_alloc(arena, sizeof *tally);
    costs = calloc(model->graph.node_count + 1, sizeof *costs);
    if (!tally || !costs) goto out;
    *tally = (struct tally){.ncp = out, .wiring = &wiring, .arena = arena};
    tally->steps = assay__arena_array(arena, (size_t)out->steps, sizeof *tally->steps);
    tally->step_bytes = assay__arena_array(arena, (size_t)out->steps, sizeof *tally->step_bytes);
    if (!tally->steps || !tally->step_bytes) goto out;
    code = assay__cost_walk(model, analysis->shapes, costs, visit, tally, error);
    if (code == 0) code = put_groups(tally);
    if (code == 0) code = put_steps(tally);
    if (code == 0) out->note = note_of(out);
out:
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    free(costs);
    return code;
}
