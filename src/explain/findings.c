/* findings.c - what else a timeline shows, each with its evidence, what to do, and what it could
 * gain. The rules are the table at the end; one that has nothing to say adds nothing. */
#include "explain/parts.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT(value) assay__scaled(value, "ratio").text
#define TIME(ns) assay__scaled((double)(ns)*1e-9, "s").text

struct rule_text {
    const char *id, *title, *effort, *advice;
};

static const char *severity_of(double gain)
{
    return !(gain >= 0.05) ? "low" : gain >= 0.20 ? "high" : "medium";
}

static void add(struct assay__explain *x, const struct rule_text *rule, double gain,
                const char *evidence)
{
    struct assay__explain_finding *grown = assay__arena_grow(x->arena, x->findings,
                                                             x->finding_count, sizeof *grown);
    if (!grown) return;
    x->findings = grown;
    grown[x->finding_count++] = (struct assay__explain_finding){
        rule->id, severity_of(gain), rule->title, evidence, rule->advice, rule->effort, gain};
}

static double share(const struct assay__explain *x, int64_t ns)
{
    return x->span_ns > 0 ? (double)ns / (double)x->span_ns : 0;
}

static double gain_of(const struct assay__explain *x, enum assay__loss loss)
{
    for (size_t i = 0; i < x->what_if.count; i++)
        if (x->what_if.items[i].loss == loss) return x->what_if.items[i].gain;
    return share(x, x->loss_ns[loss]);
}

static int64_t kernel_sum_ns(const struct assay__explain *x)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < x->device_count; i++)
        sum_ns += x->devices[i].kernel_sum_ns;
    return sum_ns;
}

static size_t kernel_count(const struct assay__explain *x)
{
    size_t count = 0;
    for (size_t i = 0; i < x->device_count; i++)
        count += x->devices[i].kernel.count;
    return count;
}

static double of_kernels(const struct assay__explain *x, int64_t ns)
{
    int64_t sum_ns = kernel_sum_ns(x);
    return sum_ns > 0 ? (double)ns / (double)sum_ns : 0;
}

/* --- launching -------------------------------------------------------------------------------- */

static void find_short_kernels(struct assay__explain *x, const struct rule_text *rule)
{
    const struct assay__timeline *t = x->timeline;
    size_t shorter = 0, known = 0;
    for (size_t d = 0; d < t->device_count; d++)
        for (size_t i = 0; i < t->devices[d].count; i++) {
            uint32_t event = t->devices[d].work[i], call = t->devices[d].launch[i];
            if (x->events->kind[event] != ASSAY__EVENT_KERNEL || call == ASSAY__NO_EVENT) continue;
            known++;
            shorter += x->events->duration_ns[event] < x->events->duration_ns[t->calls[call].event];
        }
    if (!known || shorter * 2 < known || known < 16) return;
    if (share(x, x->loss_ns[ASSAY__LOSS_LAUNCHING]) < 0.05) return;
    add(x, rule, gain_of(x, ASSAY__LOSS_LAUNCHING),
        assay__arena_text(x->arena,
                          "%zu of %zu kernels are shorter than the call that launches them",
                          shorter, known));
}

static void find_long_calls(struct assay__explain *x, const struct rule_text *rule)
{
    const struct assay__long_calls *l = &x->long_calls;
    if (!l->count) return;
    add(x, rule, share(x, l->ns),
        assay__arena_text(x->arena,
                          "%zu call%s took far longer than others of the same name, and devices "
                          "were idle in them for %s; the longest is %s with %s",
                          l->count, l->count == 1 ? "" : "s", TIME(l->ns),
                          assay__event_name(x->events, l->longest),
                          TIME(x->events->duration_ns[l->longest])));
}

/* --- the optimiser ---------------------------------------------------------------------------- */

/* Whether each call was made within an annotation of the optimiser's step: both are in order. */
struct within {
    size_t kernels, steps;
    int64_t ns;
};

static struct within within_optimiser(const struct assay__explain *x)
{
    const struct assay__events *events = x->events;
    const struct assay__timeline *t = x->timeline;
    struct within found = {0};
    size_t at = 0,
           left = 16 * t->call_count; /* annotations may overlap: of ranks, or without end */
    for (size_t i = 0; i < events->count; i++) {
        if (assay__placed_kind(events, i) != ASSAY__EVENT_RANGE ||
            strncmp(assay__event_name(events, i), "Optimizer.step", 14) != 0)
            continue;
        int64_t start_ns = events->start_ns[i], end_ns = assay__event_end_ns(events, i);
        int32_t rank = assay__timeline_rank(t, (uint32_t)i);
        found.steps++;
        while (at < t->call_count && events->start_ns[t->calls[at].event] < start_ns)
            at++;
        for (size_t c = at;
             c < t->call_count && left && events->start_ns[t->calls[c].event] < end_ns;
             c++, left--) {
            uint32_t work = t->calls[c].work;
            if (work == ASSAY__NO_EVENT || events->kind[work] != ASSAY__EVENT_KERNEL ||
                assay__timeline_rank(t, work) != rank)
                continue;
            found.kernels++;
            found.ns += events->duration_ns[work];
        }
    }
    return found;
}

static void find_optimiser(struct assay__explain *x, const struct rule_text *rule)
{
    struct within w = within_optimiser(x);
    if (!w.kernels) /* no annotations: by the kernels' names */
        for (size_t i = 0; i < x->kernel_count; i++)
            if (x->kernels[i].kind == ASSAY__KERNEL_OPTIMISER) {
                w.kernels += x->kernels[i].count;
                w.ns += x->kernels[i].ns;
            }
    size_t all = kernel_count(x);
    if (!all || w.kernels * 10 < all) return;
    struct assay__buf text = {0};
    assay__buf_printf(&text,
                      "%zu of %zu kernels belong to the optimiser (%s of kernel time, %s "
                      "on average)",
                      w.kernels, all, PERCENT(of_kernels(x, w.ns)),
                      TIME(w.ns / (int64_t)w.kernels));
    if (w.steps > 1)
        assay__buf_printf(&text, ", %zu in each of %zu steps", w.kernels / w.steps, w.steps);
    const char *evidence = assay__buf_keep(&text, x->arena);
    if (evidence) add(x, rule, share(x, w.ns) / 2, evidence);
}

/* --- kernels ---------------------------------------------------------------------------------- */

static void find_trait(struct assay__explain *x, const struct rule_text *rule, unsigned bit,
                       double least, double gain, const char *what)
{
    double part = of_kernels(x, x->trait_ns[bit]);
    if (part < least) return;
    add(x, rule, gain * share(x, x->trait_ns[bit]),
        assay__arena_text(x->arena, "%s of kernel time is %s", PERCENT(part), what));
}

static void find_float64(struct assay__explain *x, const struct rule_text *rule)
{
    find_trait(x, rule, 0, 0.05, 0.5, "in double precision, as the kernels' names show");
}

static void find_strided(struct assay__explain *x, const struct rule_text *rule)
{
    find_trait(x, rule, 1, 0.05, 0.5,
               "in element-wise kernels for tensors that are not contiguous");
}

static void find_naive(struct assay__explain *x, const struct rule_text *rule)
{
    find_trait(x, rule, 2, 0.05, 0.5, "in kernels whose names say naive, slow or reference");
}

static void find_float32(struct assay__explain *x, const struct rule_text *rule)
{
    find_trait(x, rule, 6, 0.20, 0.5,
               "in single-precision products without matrix units (tensor cores)");
}

/* --- host and device -------------------------------------------------------------------------- */

static void find_pageable(struct assay__explain *x, const struct rule_text *rule)
{
    size_t count = 0;
    int64_t bytes = 0, call_ns = 0;
    for (size_t i = 0; i < x->transfer_count; i++)
        if (x->transfers[i].memory == ASSAY__MEMORY_PAGEABLE) {
            count += x->transfers[i].count;
            bytes = assay__add_bytes(bytes, x->transfers[i].bytes);
            call_ns += x->transfers[i].call_ns;
        }
    if (!count || share(x, call_ns) < 0.01) return;
    add(x, rule, share(x, x->loss_ns[ASSAY__LOSS_TRANSFERS]) / 2,
        assay__arena_text(x->arena,
                          "%zu copies from or to pageable memory (%s) keep the host %s in "
                          "their calls",
                          count, assay__scaled((double)bytes, "B").text, TIME(call_ns)));
}

static void find_small_copies(struct assay__explain *x, const struct rule_text *rule)
{
    size_t count = 0, small = 0;
    if (share(x, x->loss_ns[ASSAY__LOSS_TRANSFERS]) < 0.02) return;
    for (size_t i = 0; i < x->transfer_count; i++) {
        count += x->transfers[i].sized;
        small += x->transfers[i].small;
    }
    if (small < 16 || small * 2 < count) return;
    add(x, rule, gain_of(x, ASSAY__LOSS_TRANSFERS),
        assay__arena_text(x->arena, "%zu of %zu copies between host and device are below 64 KiB",
                          small, count));
}

static void find_exposed_copies(struct assay__explain *x, const struct rule_text *rule)
{
    int64_t ns = 0, hidden_ns = 0;
    for (size_t i = 0; i < x->transfer_count; i++) {
        ns += x->transfers[i].ns;
        hidden_ns += x->transfers[i].hidden_ns;
    }
    if (share(x, ns - hidden_ns) < 0.02) return;
    add(x, rule, share(x, ns - hidden_ns),
        assay__arena_text(x->arena, "copies take %s on the device; kernels hide %s of it", TIME(ns),
                          PERCENT((double)hidden_ns / (double)ns)));
}

static void find_syncs(struct assay__explain *x, const struct rule_text *rule)
{
    for (size_t i = 0; i < x->sync_count && i < 3; i++) {
        const struct assay__sync_class *c = &x->syncs[i];
        if (share(x, c->idle_ns) < 0.03) continue;
        const char *op = c->op == ASSAY__EVENT_UNKNOWN ? "" : assay__events_text(x->events, c->op);
        add(x, rule, share(x, c->idle_ns),
            assay__arena_text(x->arena,
                              "%zu × %s%s%s: the host waited %s in it, and then the device was "
                              "idle for %s",
                              c->count, assay__events_text(x->events, c->name), *op ? " in " : "",
                              op, TIME(c->wait_ns), TIME(c->idle_ns)));
    }
}

static bool is_allocation(const char *name)
{
    static const char *const names[] = {"cudaMalloc", "cudaFree",   "hipMalloc",
                                        "hipFree",    "cuMemAlloc", "cuMemFree"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

/* Calls of the runtime are long because they are the first of their name: long-calls says so. */
static bool is_first_use(const struct assay__explain *x)
{
    return x->long_calls.ns > x->loss_ns[ASSAY__LOSS_STARVATION] / 2;
}

static void find_host(struct assay__explain *x, const struct rule_text *rule)
{
    for (size_t i = 0, said = 0; i < x->host_time_count && said < 2; i++) {
        const struct assay__host_time *h = &x->host_times[i];
        const char *name = h->name == ASSAY__EVENT_UNKNOWN ? ""
                                                           : assay__events_text(x->events, h->name);
        bool host = h->cause == ASSAY__HOST_CPU || h->cause == ASSAY__HOST_PYTHON ||
                    h->cause == ASSAY__HOST_UNTRACED ||
                    (h->cause == ASSAY__HOST_RUNTIME && !is_allocation(name) && !is_first_use(x));
        if (!host || share(x, h->ns) < 0.05) continue;
        said++;
        add(x, rule, share(x, h->ns),
            h->cause == ASSAY__HOST_UNTRACED
                ? assay__arena_text(x->arena,
                                    "the device waited %s while the host was asleep or in code "
                                    "that is not traced%s%s",
                                    TIME(h->ns), *name ? ", within " : "", name)
                : assay__arena_text(x->arena, "the device waited %s while the host was in %s",
                                    TIME(h->ns), name));
    }
}

static void find_allocations(struct assay__explain *x, const struct rule_text *rule)
{
    int64_t ns = 0;
    for (size_t i = 0; i < x->host_time_count; i++)
        if (x->host_times[i].cause == ASSAY__HOST_RUNTIME &&
            is_allocation(assay__events_text(x->events, x->host_times[i].name)))
            ns += x->host_times[i].ns;
    if (share(x, ns) < 0.02 || is_first_use(x)) return;
    add(x, rule, share(x, ns),
        assay__arena_text(x->arena,
                          "the device waited %s while the host allocated or freed its "
                          "memory",
                          TIME(ns)));
}

static void find_dependencies(struct assay__explain *x, const struct rule_text *rule)
{
    int64_t ns = x->loss_ns[ASSAY__LOSS_WAITING];
    if (share(x, ns) < 0.03) return;
    add(x, rule, share(x, ns),
        assay__arena_text(x->arena, "queued work waited %s for other streams or events", TIME(ns)));
}

static void find_profiler(struct assay__explain *x, const struct rule_text *rule)
{
    int64_t ns = x->loss_ns[ASSAY__LOSS_PROFILING];
    if (share(x, ns) < 0.02) return;
    add(x, rule, (double)NAN,
        assay__arena_text(x->arena, "the profiler itself kept the device waiting %s (%s)", TIME(ns),
                          PERCENT(share(x, ns))));
}

/* --- steps and ranks -------------------------------------------------------------------------- */

static void find_slow_step(struct assay__explain *x, const struct rule_text *rule)
{
    const struct assay__steps *s = &x->steps;
    if (s->count < 3 || !*s->why || share(x, s->time.max_ns - s->time.median_ns) < 0.02) return;
    add(x, rule, share(x, s->time.max_ns - s->time.median_ns),
        assay__arena_text(x->arena, "%s took %s: %s", s->items[s->slowest].name,
                          TIME(s->time.max_ns), s->why));
}

static void find_straggler(struct assay__explain *x, const struct rule_text *rule)
{
    const struct assay__ranks *r = &x->ranks;
    if (r->straggler >= r->count) return;
    const struct assay__rank_time *t = &r->items[r->straggler];
    int64_t exposed_ns = 0; /* what the others could save at most */
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].communication_ns - r->items[i].overlap_ns > exposed_ns)
            exposed_ns = r->items[i].communication_ns - r->items[i].overlap_ns;
    if (t->arrival_ns < exposed_ns) exposed_ns = t->arrival_ns;
    add(x, rule, t->span_ns > 0 ? (double)exposed_ns / (double)t->span_ns : (double)NAN,
        assay__arena_text(x->arena, "rank %d enters collectives last; the others waited %s for it",
                          (int)t->rank, TIME(t->arrival_ns)));
}

/* Some recordings of a job stop early, or a rank skips steps. */
static void find_unequal_ranks(struct assay__explain *x, const struct rule_text *rule)
{
    const struct assay__rank_time *fewest = NULL, *most = NULL;
    for (size_t i = 0; i < x->ranks.count; i++) {
        const struct assay__rank_time *t = &x->ranks.items[i];
        if (!fewest || t->collectives < fewest->collectives) fewest = t;
        if (!most || t->collectives > most->collectives) most = t;
    }
    if (!most || most->collectives < 8 || fewest->collectives * 10 > most->collectives * 9) return;
    add(x, rule, (double)NAN,
        assay__arena_text(x->arena, "rank %d took part in %zu collectives, rank %d in %zu",
                          (int)fewest->rank, fewest->collectives, (int)most->rank,
                          most->collectives));
}

static void find_communication(struct assay__explain *x, const struct rule_text *rule)
{
    int64_t talk_ns = 0, overlap_ns = 0;
    for (size_t i = 0; i < x->ranks.count; i++) {
        talk_ns += x->ranks.items[i].communication_ns;
        overlap_ns += x->ranks.items[i].overlap_ns;
    }
    if (share(x, talk_ns - overlap_ns) < 0.05) return;
    add(x, rule, share(x, talk_ns - overlap_ns),
        assay__arena_text(x->arena, "communication takes %s, of which computation hides %s",
                          TIME(talk_ns), PERCENT((double)overlap_ns / (double)talk_ns)));
}

static void find_no_host(struct assay__explain *x, const struct rule_text *rule)
{
    size_t work = 0, correlated = 0;
    for (size_t i = 0; i < x->device_count; i++) {
        work += x->timeline->devices[i].count;
        correlated += x->devices[i].correlated;
    }
    if (!work || correlated * 2 >= work) return;
    add(x, rule, (double)NAN,
        correlated
            ? assay__arena_text(x->arena,
                                "only %zu of %zu device events name the call that launched "
                                "them",
                                correlated, work)
            : assay__arena_text(x->arena,
                                "none of %zu device events names the call that launched it", work));
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct {
    struct rule_text text;
    void (*find)(struct assay__explain *, const struct rule_text *);
} rules[] = {
    {{"short-kernels", "Kernels shorter than their launch", "Medium",
      "Fuse operators (torch.compile), use larger batches, or record a graph and launch that."},
     find_short_kernels},
    {{"long-calls", "Calls that take far longer than usual", "Low",
      "First uses initialise the device and load code: trace after a warm-up. If such calls come "
      "back then, look for what blocks the thread in them."},
     find_long_calls},
    {{"optimiser-kernels", "The optimiser's small kernels", "Low",
      "Use the fused implementation (fused=True), or update less often (accumulate gradients)."},
     find_optimiser},
    {{"float64", "Double precision", "Low",
      "Find what makes tensors float64 (NumPy's default, Python scalars) and use float32 or less "
      "where the results allow it."},
     find_float64},
    {{"strided", "Strided element-wise kernels", "Low",
      "Call .contiguous() once, or choose the layout so that transposes are not needed."},
     find_strided},
    {{"naive-kernels", "Naive kernels", "High", "Use a library's kernel, or tile and vectorise."},
     find_naive},
    {{"float32-products", "Products without matrix units", "Low",
      "Allow TF32, or use bfloat16 (autocast) where the results allow it."},
     find_float32},
    {{"pageable-copies", "Copies from or to pageable memory", "Low",
      "Allocate host buffers in pinned memory (pin_memory) and copy with non_blocking."},
     find_pageable},
    {{"small-copies", "Many small copies", "Medium",
      "Copy once: gather the values on one side, then transfer them together."},
     find_small_copies},
    {{"exposed-copies", "Copies not hidden by kernels", "Medium",
      "Copy on a stream of its own while kernels run: prefetch the next input."},
     find_exposed_copies},
    {{"synchronisation", "Waiting for the device", "Low",
      "Wait once per step at most; read values back later or less often."},
     find_syncs},
    {{"host-work", "The host keeps the device waiting", "Medium",
      "Move it to another thread or process, or do it while the device computes."},
     find_host},
    {{"allocations", "Allocating device memory", "Low",
      "Reuse memory: a caching allocator, buffers that are allocated once; warm up before the "
      "measurement."},
     find_allocations},
    {{"dependencies", "Waiting between streams", "Medium",
      "Check events and stream waits: independent work can run at the same time."},
     find_dependencies},
    {{"profiler", "The profiler's own cost", "Low",
      "Record fewer kinds of events, or a shorter window."},
     find_profiler},
    {{"slow-step", "One step is much slower", "Medium",
      "Look at that step for allocations, a compilation or late data."},
     find_slow_step},
    {{"straggler", "A straggling rank", "High",
      "Compare that rank's steps with another's: input, clocks, placement."},
     find_straggler},
    {{"unequal-ranks", "Ranks took part in different numbers of collectives", "Low",
      "Record the same steps on every rank: numbers of different lengths cannot be compared."},
     find_unequal_ranks},
    {{"communication", "Exposed communication", "High",
      "Start collectives earlier, in smaller buckets, while the backward pass computes."},
     find_communication},
    {{"no-launches", "The trace does not show launches", "Low",
      "Record the host's runtime calls too: idle time can then be explained."},
     find_no_host},
};

static int compare_findings(const void *a, const void *b)
{
    const struct assay__explain_finding *x = a, *y = b;
    double gain_x = isfinite(x->gain) ? x->gain : -1, gain_y = isfinite(y->gain) ? y->gain : -1;
    if (gain_x != gain_y) return gain_x < gain_y ? 1 : -1;
    return strcmp(x->id, y->id);
}

void assay__explain_find(struct assay__explain *x)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        rules[i].find(x, &rules[i].text);
    if (x->finding_count)
        qsort(x->findings, x->finding_count, sizeof *x->findings, compare_findings);
}
