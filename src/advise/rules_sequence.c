/* rules_sequence.c - rules about work over time: recurrent cells, sparse wirings, text
 * generation. */
#include "advise/rules.h"

#include "cost/ncp.h"
#include "judge/comparison.h"
#include "zoo/zoo.h"

#include <math.h>
#include <string.h>

#define STEPS_LEAST 8 /* shorter loops are not worth another form */
/* share of the latency in the engine's cost per run, which grows with the nodes */
#define ENGINE_SHARE 0.05
#define SCAN_SHARE 0.5
/* share of the FLOPs that the wiring needs: above it sparsity gains nothing */
#define NEEDED_SHARE 0.75
#define CACHE_GROWTH 1.2 /* last quarter of a generation over its first */
#define DECODE_NEAR 0.4  /* share of the memory bandwidth used for reading weights */
#define PRODUCTS "Gemm|MatMul|FusedGemm|FusedMatMul"

static enum assay__rule_outcome unrolled(struct assay__advice *a)
{
    const struct assay__cell_info *cell = &a->trial->model->cell;
    const struct assay__layers *layers = &a->trial->layers;
    double share = layers->engine_ns / a->p50_ns;
    if (!cell->kind || !*cell->kind || strcmp(cell->form, "unrolled") != 0 ||
        cell->steps < STEPS_LEAST)
        return ASSAY__RULE_NOTHING;
    if (!isfinite(share))
        return assay__rule_missing(a, "layers: the engine's cost per run is unknown");
    if (share < ENGINE_SHARE || share >= 1) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%lld steps of a %s are unrolled into %lld nodes",
                         (long long)cell->steps, cell->kind,
                         (long long)a->trial->model->node_count);
    assay__rule_evidence(a, "the engine's cost per run is %s, %s %% of the latency",
                         assay__scaled(layers->engine_ns / 1e9, "s").text,
                         assay__percent(share).text);
    return assay__rule_found(a, assay__amdahl(share, (double)INFINITY));
}

/* Share of the latency: the Scan's own row and those of its body. */
static double scan_share(const struct assay__advice *a, size_t *count)
{
    const struct assay__layers *layers = &a->trial->layers;
    double share = assay__advice_share(a, "Scan|Loop", count);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        int64_t step = 0;
        char group[64];
        if (layer->from_count && assay__ncp_place(layer->from[0], &step, group, sizeof group) &&
            step < 0)
            share += assay__advice_time(layer) / a->p50_ns;
    }
    return share < 1 ? share : 1;
}

static enum assay__rule_outcome scanned(struct assay__advice *a)
{
    const struct assay__cell_info *cell = &a->trial->model->cell;
    size_t count = 0;
    double share = scan_share(a, &count);
    if (!cell->kind || !*cell->kind || strcmp(cell->form, "scan") != 0 ||
        cell->steps < STEPS_LEAST || !count || share < SCAN_SHARE)
        return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the Scan of %lld steps takes %s %% of the latency: %s per step",
                         (long long)cell->steps, assay__percent(share).text,
                         assay__scaled(share * a->p50_ns / 1e9 / (double)cell->steps, "s").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome sparse(struct assay__advice *a)
{
    const struct assay__cell_info *cell = &a->trial->model->cell;
    double flops = 0, needed = 0;
    size_t count = 0;
    if (!cell->kind || !*cell->kind) return ASSAY__RULE_NOTHING;
    for (size_t i = 0; i < cell->group_count; i++) {
        if (!isfinite(cell->groups[i].flops) || !isfinite(cell->groups[i].flops_needed)) continue;
        flops += cell->groups[i].flops;
        needed += cell->groups[i].flops_needed;
    }
    double share = assay__advice_share(a, PRODUCTS, &count);
    if (!(needed > 0) || needed > NEEDED_SHARE * flops || !count) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the wiring needs %s of the %s that the dense graph executes (%s %%)",
                         assay__scaled(needed, "FLOP").text, assay__scaled(flops, "FLOP").text,
                         assay__percent(needed / flops).text);
    assay__rule_evidence(a, "%zu products take %s %% of the latency", count,
                         assay__percent(share).text);
    return assay__rule_found(a, assay__amdahl(share, flops / needed));
}

/* --- text ------------------------------------------------------------------------------------- */

static bool generates(const struct assay__advice *a)
{
    return a->trial->generation.tokens > 0;
}

static enum assay__rule_outcome cache(struct assay__advice *a)
{
    double first = assay__trial_value(a->trial, "llm.itl_first"),
           last = assay__trial_value(a->trial, "llm.itl_last"),
           all = assay__trial_value(a->trial, "llm.itl");
    if (!generates(a)) return ASSAY__RULE_NOTHING;
    if (!isfinite(first)) return assay__rule_without(a, "llm.itl_first");
    if (!isfinite(last)) return assay__rule_without(a, "llm.itl_last");
    if (last < CACHE_GROWTH * first) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a,
                         "a token takes %s in the first quarter of a generation and %s in the last",
                         assay__scaled(first, "s").text, assay__scaled(last, "s").text);
    return assay__rule_found(a, isfinite(all) ? all / first : NAN);
}

static enum assay__rule_outcome decode(struct assay__advice *a)
{
    double token = assay__trial_value(a->trial, "llm.itl"), most = NAN,
           weights = assay__trial_value(a->trial, "memory.model");
    for (size_t i = 0; i < a->profile->ceiling_count && isnan(most); i++) {
        const struct assay__ceiling_info *c = &a->profile->ceilings[i];
        if (strcmp(c->device, a->trial->target.device) == 0 && c->value > 0 &&
            assay__op_among(c->name, "bandwidth.dram.read.all-cores|bandwidth.device.copy"))
            most = c->value; /* of the memory that holds the weights */
    }
    if (!generates(a)) return ASSAY__RULE_NOTHING;
    if (!isfinite(token)) return assay__rule_without(a, "llm.itl");
    if (!isfinite(weights)) return assay__rule_without(a, "memory.model");
    if (!isfinite(most))
        return assay__rule_missing(a, "ceilings: the memory bandwidth was not measured");
    double share = weights / most / token;
    if (share < DECODE_NEAR || share > 1) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "every token reads %s of weights: at %s, that alone takes %s %% of the %s per token",
        assay__scaled(weights, "B").text, assay__scaled(most, "B/s").text,
        assay__percent(share).text, assay__scaled(token, "s").text);
    return assay__rule_found(a, assay__amdahl(share, 4));
}

/* The zoo's model in the other form: the same weights, so the same outputs. Only the zoo can build
 * it. */
static void other_form(const struct assay__advice *a, struct assay__change *change)
{
    const struct assay__model_info *m = a->trial->model;
    const char *old = m->cell.form, *form = strcmp(old, "scan") == 0 ? "unrolled" : "scan";
    const char *at = m->name ? strstr(m->name, "form=") : NULL;
    const char **names = assay__arena_array(a->profile->arena, 1, sizeof *names);
    if (!names || !m->name || (m->path && *m->path) || !assay__zoo_knows(m->name)) return;
    if (at)
        names[0] = assay__arena_printf(a->profile->arena, "%.*sform=%s%s", (int)(at - m->name),
                                       m->name, form, at + strcspn(at, ","));
    else
        names[0] = assay__arena_printf(a->profile->arena, "%s%sform=%s", m->name,
                                       strchr(m->name, ':') ? "," : ":", form);
    if (names[0]) *change = (struct assay__change){ASSAY__CHANGE_ZOO, 0, names, 1};
}

#define TIMED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS)

const struct assay__rule assay__rules_sequence[] = {
    {"cell-unrolled", "sequence", "note", "medium", TIMED, unrolled, other_form, NULL,
     "An unrolled cell makes the engine's graph long",
     "an unrolled recurrent cell of 8 steps or more, with 5 % or more of the latency in the "
     "engine's cost per run",
     "compare with the same cell as one Scan (form=scan in the zoo): one node for the engine, but "
     "its steps may cost more than is saved"},
    {"cell-scan", "sequence", "note", "medium", TIMED, scanned, other_form, NULL,
     "A Scan keeps the engine from optimising across steps",
     "a recurrent cell of 8 steps or more as a Scan that takes half of the latency or more",
     "compare with the unrolled form (form=unrolled in the zoo): the engine optimises across "
     "steps, at the cost of a slower start and a larger graph"},
    {"sparse-as-dense", "sequence", "medium", "large", TIMED, sparse, NULL, NULL,
     "A sparse wiring is executed as a dense one",
     "a wiring that needs at most 75 % of the executed FLOPs",
     "leave missing synapses out: smaller products per neuron group, or a sparse kernel; "
     "overhead-bound products gain nothing"},
    {"cache-growth", "sequence", "medium", "large", ASSAY__POTENTIAL_TOKENS, cache, NULL, NULL,
     "Tokens become slower as the cache grows",
     "the last quarter of a generation is at least 1.2 times as slow as the first",
     "do not copy the cache for every token: one buffer for past and present (GroupQueryAttention, "
     "past_present_share_buffer), a window, or a 16-bit or 8-bit cache"},
    {"decode-bandwidth", "sequence", "medium", "medium", ASSAY__POTENTIAL_TOKENS, decode,
     assay__try_weights_int8, NULL, "Token time is spent reading the weights",
     "weight bytes divided by memory bandwidth are 40 % or more of the time per token; the "
     "potential assumes int8 weights",
     "read fewer bytes per token: int8 weights, or several sequences per batch; the potential "
     "assumes a quarter of the bytes"},
    {0},
};
