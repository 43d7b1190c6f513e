/* rules_memory.c - rules about memory: growth, allocations, what is held and not used. */
#include "advise/rules.h"

#include <math.h>
#include <string.h>

#define ALLOCATION_S 50e-9 /* an allocation and its release in a common C library: 20 to 100 ns */
#define FRAGMENTED 0.5     /* of the heap not in use */
#define HEAP_LEAST 16777216.0 /* below 16 MiB it is irrelevant */
#define ARENA_TIMES 4.0       /* what the engine's arena holds over what the graph needs */
#define COPIES_TIMES 2.5 /* peak of the worker over the weights: two copies and the activations */

static enum assay__rule_outcome growth(struct assay__advice *a)
{
    const struct assay__allocations *m = &a->trial->allocations;
    if (!isfinite(m->growth_bytes) || !isfinite(m->growth_low))
        return assay__rule_without(a, "memory.growth");
    if (!(m->growth_low > 0)) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "live memory grows by %s with every inference (95 %% interval %s to %s)",
        assay__scaled(m->growth_bytes, "B").text, assay__scaled(m->growth_low, "B").text,
        assay__scaled(m->growth_high, "B").text);
    assay__rule_evidence(a, "a million inferences: %s",
                         assay__scaled(m->growth_bytes * 1e6, "B").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome allocations(struct assay__advice *a)
{
    double count = assay__trial_value(a->trial, "memory.allocations"),
           bytes = assay__trial_value(a->trial, "memory.allocated");
    if (!isfinite(count)) return assay__rule_without(a, "memory.allocations");
    double share = count * ALLOCATION_S * 1e9 / a->p50_ns;
    assay__rule_evidence(a, "%.0f allocations in a warm inference%s%s", count,
                         isfinite(bytes) ? ", " : "",
                         isfinite(bytes) ? assay__scaled(bytes, "B").text : "");
    assay__rule_evidence(a,
                         "estimated at %.3g ns each, including their release: %s %% of the latency",
                         ALLOCATION_S * 1e9, assay__percent(share).text);
    a->result->finding.gain_estimated = true;
    return assay__rule_found(a, assay__amdahl(fmin(share, 0.9), (double)INFINITY));
}

static enum assay__rule_outcome fragmentation(struct assay__advice *a)
{
    double unused = assay__trial_value(a->trial, "memory.fragmentation"),
           heap = a->trial->allocations.heap_bytes;
    if (!isfinite(unused)) return assay__rule_without(a, "memory.fragmentation");
    if (unused < FRAGMENTED || !(heap >= HEAP_LEAST)) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%s %% of the %s that the allocator holds is not in use",
                         assay__percent(unused).text, assay__scaled(heap, "B").text);
    return assay__rule_found(a, NAN);
}

/* The arena holds weights as well as activations, so what exceeds both is unused. */
static enum assay__rule_outcome arena(struct assay__advice *a)
{
    double held = assay__trial_value(a->trial, "memory.activation.arena"),
           needed = assay__trial_value(a->trial, "memory.activation.predicted"),
           weights = assay__trial_value(a->trial, "memory.model");
    if (!isfinite(held)) return assay__rule_without(a, "memory.activation.arena");
    if (!isfinite(needed)) return assay__rule_without(a, "memory.activation.predicted");
    if (!isfinite(weights)) return assay__rule_without(a, "memory.model");
    double beyond = held - weights;
    if (beyond < HEAP_LEAST || beyond < ARENA_TIMES * needed) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "the engine's arena holds %s: %s besides the weights, while activations need %s at once",
        assay__scaled(held, "B").text, assay__scaled(beyond, "B").text,
        assay__scaled(needed, "B").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome weight_copies(struct assay__advice *a)
{
    double peak = assay__trial_value(a->trial, "memory.peak.worker"),
           weights = assay__trial_value(a->trial, "memory.model"),
           activations = assay__trial_value(a->trial, "memory.activation.predicted");
    if (!isfinite(peak)) return assay__rule_without(a, "memory.peak.worker");
    if (!isfinite(weights)) return assay__rule_without(a, "memory.model");
    if (!isfinite(activations)) return assay__rule_without(a, "memory.activation.predicted");
    peak -= activations;
    if (weights < HEAP_LEAST || peak < COPIES_TIMES * weights) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "the worker's peak without the activations is %s, %s times the weights of %s",
        assay__scaled(peak, "B").text, assay__digits(peak / weights, 3).text,
        assay__scaled(weights, "B").text);
    return assay__rule_found(a, NAN);
}

#define TRACKED (ASSAY__NEED_LATENCY | ASSAY__NEED_ALLOCATIONS)

const struct assay__rule assay__rules_memory[] = {
    {"memory-growth", "memory", "high", "medium", ASSAY__NEED_ALLOCATIONS, growth, NULL, NULL,
     "Memory grows with every inference",
     "growth of live memory per inference whose 95 % interval lies above 0",
     "find the call sites that hold it (assay memory lists them); release every output, and update "
     "the engine"},
    {"allocations", "memory", "low", "small", TRACKED, allocations, NULL, NULL,
     "Warm inferences allocate",
     "allocations that take 2 % of the latency or more at an estimated 50 ns each",
     "bind outputs to preallocated memory (I/O binding), turn the engine's arena on, and use fixed "
     "shapes (memory patterns)"},
    {"fragmentation", "memory", "low", "small", ASSAY__NEED_ALLOCATIONS, fragmentation, NULL, NULL,
     "The heap is mostly unused", "50 % or more of a heap of at least 16 MiB",
     "release it after loading (malloc_trim), or use another allocator (jemalloc, mimalloc)"},
    {"arena-held", "memory", "low", "small", 0, arena, NULL, NULL,
     "The engine holds far more than the graph needs",
     "an arena with 16 MiB or more besides the weights, at least 4 times the predicted activations",
     "let the arena grow by the requested size only (arena_extend_strategy kSameAsRequested), or "
     "shrink it after a run (memory.enable_memory_arena_shrinkage)"},
    {"weight-copies", "memory", "low", "small", ASSAY__NEED_MEMORY, weight_copies, NULL, NULL,
     "The weights are in memory more than once",
     "a peak, without the activations, of at least 2.5 times the weights, for weights of 16 MiB or "
     "more",
     "weights are packed into a second copy: set session.disable_prepacking = 1 where memory is "
     "short, or map external data and share it between sessions"},
    {0},
};
