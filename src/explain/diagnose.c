/* diagnose.c - the one thing that is wrong, and the guide's three scenarios. Everything is a share
 * of the devices' time, so that neither the length of a trace nor the speed of its machine matters;
 * doc/explain.md has each rule with its reason. */
#include "explain/parts.h"

#include "base/text.h"

#include <math.h>

/* Smallest share of the devices' time that a cause must cost to be the diagnosis. Waiting and
 * copying that a program asks for can always be asked for less often; launching and the host's own
 * work are partly unavoidable, so that more of them is normal. */
#define LEAST_SYNCHRONISATION 0.10
#define LEAST_TRANSFERS 0.10
#define LEAST_STARVED 0.20
#define LEAST_LAUNCHES 0.30
#define LEAST_TALKING 0.15 /* of communication: none of the diagnoses, but not nothing either */
#define LEAST_SLOW 0.15    /* of what better kernels would gain: half of the slow ones' time */
#define SLOW_GAIN 0.5

#define BUSY 0.80 /* the guide: a device that is used well */
#define IDLE 0.30 /* … and one that is not */
#define HALF 0.50
#define NAMED_FAST 0.50 /* of kernel time: names show that it is spent well */
#define NAMED_SLOW 0.10 /* … and that it is not: above this, no acquittal */
#define SLOW_SURELY 0.30
#define OPEN_LAUNCHES 0.15 /* from here on a scenario is open, below it is refuted */
#define OPEN_TRANSFERS 0.05
#define SURELY_TRANSFERS 0.20
#define UNSEEN_MOST 0.20 /* idle time of unknown cause, beyond which launches cannot be judged */
#define SHORT_GAP_NS 200000
#define SHORT_KERNEL_NS 50000
#define MANY_KERNELS 32

struct scores {
    double utilization, compute, launches, transfers, syncs, starved, unseen, waiting, talking;
    double slow, fast; /* of kernel time */
    double slow_gain;  /* of the devices' time */
    enum assay__diagnosis_id best;
    double best_share;
};

static double gain_of(const struct assay__explain *x, enum assay__loss loss)
{
    for (size_t i = 0; i < x->what_if.count; i++)
        if (x->what_if.items[i].loss == loss) return x->what_if.items[i].gain;
    return 0;
}

static double share(const struct assay__explain *x, int64_t ns)
{
    return x->span_ns > 0 ? (double)ns / (double)x->span_ns : 0;
}

static int64_t kernel_ns(const struct assay__explain *x)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < x->device_count; i++)
        sum_ns += x->devices[i].kernel_sum_ns;
    return sum_ns;
}

static void consider(struct scores *s, enum assay__diagnosis_id id, double value, double least)
{
    if (value < least || value <= s->best_share) return;
    s->best = id;
    s->best_share = value;
}

/* A synchronisation costs what its removal would gain: also the launches that follow it one by one
 * because the queue is empty. Likewise transfers; of the few launches right after a copy that the
 * host waited for, half the cost is the copy's, because either change would save it. */
static struct scores score(const struct assay__explain *x)
{
    const int64_t *loss = x->loss_ns;
    double kernels = (double)kernel_ns(x);
    struct scores s = {.best = ASSAY__DIAGNOSIS_NONE};
    s.utilization = share(x, x->busy_ns);
    s.compute = share(x, x->compute_ns);
    s.launches = share(x, loss[ASSAY__LOSS_LAUNCHING]);
    s.starved = share(x, loss[ASSAY__LOSS_STARVATION]);
    s.unseen = share(x, loss[ASSAY__LOSS_UNEXPLAINED]);
    s.waiting = share(x, loss[ASSAY__LOSS_WAITING]);
    s.talking = share(x, loss[ASSAY__LOSS_COMMUNICATING]);
    double refill = share(x, x->refill_ns) / 2;
    s.transfers = fmax(share(x, loss[ASSAY__LOSS_TRANSFERS]) + refill,
                       gain_of(x, ASSAY__LOSS_TRANSFERS));
    s.syncs = fmax(share(x, loss[ASSAY__LOSS_SYNCHRONISING]),
                   gain_of(x, ASSAY__LOSS_SYNCHRONISING));
    s.slow = kernels > 0 ? (double)x->slow_ns / kernels : 0;
    s.fast = kernels > 0 ? (double)x->known_ns / kernels : 0;
    s.slow_gain = SLOW_GAIN * s.slow * s.compute;
    consider(&s, ASSAY__DIAGNOSIS_SYNCHRONISATION, s.syncs, LEAST_SYNCHRONISATION);
    consider(&s, ASSAY__DIAGNOSIS_TRANSFERS, s.transfers, LEAST_TRANSFERS);
    consider(&s, ASSAY__DIAGNOSIS_STARVED, s.starved, LEAST_STARVED);
    consider(&s, ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD, s.launches - refill, LEAST_LAUNCHES);
    consider(&s, ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS, s.slow_gain, LEAST_SLOW);
    return s;
}

/* Without the host's side: many short kernels with gaps of one size between them are launches. */
static bool looks_like_launches(const struct assay__explain *x)
{
    int64_t short_ns = 0, gap_ns = 0;
    size_t kernels = 0;
    for (size_t i = 0; i < x->device_count; i++) {
        const struct assay__explain_device *d = &x->devices[i];
        for (size_t g = 0; g < d->gap.count; g++) {
            int64_t ns = d->gaps[g].end_ns - d->gaps[g].start_ns;
            gap_ns += ns;
            if (ns < SHORT_GAP_NS) short_ns += ns;
        }
        kernels += d->kernel.count;
    }
    return kernels >= MANY_KERNELS && kernel_ns(x) / (int64_t)kernels < SHORT_KERNEL_NS &&
           (double)short_ns >= BUSY * (double)gap_ns;
}

/* --- evidence --------------------------------------------------------------------------------- */

#define PERCENT(value) assay__scaled(value, "ratio").text
#define TIME(ns) assay__scaled((double)(ns)*1e-9, "s").text

static const char *take(struct assay__explain *x, struct assay__buf *text)
{
    const char *kept = assay__buf_keep(text, x->arena);
    return kept ? kept : "";
}

struct totals {
    size_t kernels, gaps, copies, calls;
    int64_t gap_ns;
};

static struct totals totals_of(const struct assay__explain *x)
{
    struct totals t = {0};
    for (size_t i = 0; i < x->device_count; i++) {
        t.kernels += x->devices[i].kernel.count;
        t.gaps += x->devices[i].gap.count;
        t.gap_ns += x->devices[i].gap.total_ns;
    }
    for (size_t i = 0; i < x->transfer_count; i++)
        t.copies += x->transfers[i].count;
    for (size_t i = 0; i < x->sync_count; i++)
        t.calls += x->syncs[i].count;
    return t;
}

static void say_launches(struct assay__buf *out, const struct assay__explain *x)
{
    struct totals t = totals_of(x);
    if (!t.kernels) return;
    assay__buf_printf(out, "%zu kernels of %s on average", t.kernels,
                      TIME(kernel_ns(x) / (int64_t)t.kernels));
    if (t.gaps)
        assay__buf_printf(out, ", %zu gaps of %s on average", t.gaps,
                          TIME(t.gap_ns / (int64_t)t.gaps));
    if (x->timeline->op_ns)
        assay__buf_printf(out, "; a launching call takes %s, the operator around it %s (medians)",
                          TIME(x->timeline->call_ns), TIME(x->timeline->op_ns));
    else if (x->timeline->call_ns)
        assay__buf_printf(out, "; a launching call takes %s (median)", TIME(x->timeline->call_ns));
}

static const char *direction_word(uint8_t direction)
{
    return direction == ASSAY__COPY_TO_DEVICE ? "to the device" : "to the host";
}

static const char *memory_word(uint8_t memory)
{
    return memory == ASSAY__MEMORY_PAGEABLE ? "pageable "
           : memory == ASSAY__MEMORY_PINNED ? "pinned "
                                            : "";
}

static void say_transfers(struct assay__buf *out, const struct assay__explain *x)
{
    for (size_t i = 0; i < x->transfer_count; i++) {
        const struct assay__transfer_class *c = &x->transfers[i];
        assay__buf_printf(out, "%s%zu %scop%s %s", i ? ", " : "", c->count, memory_word(c->memory),
                          c->count == 1 ? "y" : "ies", direction_word(c->direction));
        if (c->sized)
            assay__buf_printf(out, " (%s on average)",
                              assay__scaled((double)c->bytes / (double)c->sized, "B").text);
        if (c->blocking) assay__buf_printf(out, ", %zu of them waited for", c->blocking);
    }
    if (!x->transfer_count) assay__buf_puts(out, "no copies between host and device");
}

static void say_syncs(struct assay__buf *out, const struct assay__explain *x)
{
    size_t drained = 0;
    for (size_t i = 0; i < x->sync_count; i++)
        drained += x->syncs[i].drained;
    assay__buf_printf(out, "%zu synchronising call%s", totals_of(x).calls,
                      totals_of(x).calls == 1 ? "" : "s");
    if (!drained) return;
    assay__buf_printf(out,
                      "; after %zu of them the device was empty until the host had launched "
                      "again",
                      drained);
    const struct assay__sync_class *first = &x->syncs[0];
    assay__buf_printf(out, "; most by %s", assay__events_text(x->events, first->name));
    if (first->op != ASSAY__EVENT_UNKNOWN)
        assay__buf_printf(out, " in %s", assay__events_text(x->events, first->op));
}

static void say_starved(struct assay__buf *out, const struct assay__explain *x)
{
    bool any = false;
    for (size_t i = 0; i < x->host_time_count && i < 3; i++) {
        const struct assay__host_time *h = &x->host_times[i];
        if (assay__loss_of(ASSAY__DEVICE_STARVED, h->cause) != ASSAY__LOSS_STARVATION) continue;
        assay__buf_printf(out, "%s%s ", any ? ", " : "meanwhile the host was ",
                          PERCENT(share(x, h->ns)));
        any = true;
        if (h->cause == ASSAY__HOST_UNTRACED)
            assay__buf_puts(out, "asleep or in code that is not traced");
        else
            assay__buf_printf(out, "in %s", assay__events_text(x->events, h->name));
        if (h->cause == ASSAY__HOST_UNTRACED && h->name != ASSAY__EVENT_UNKNOWN)
            assay__buf_printf(out, " (within %s)", assay__events_text(x->events, h->name));
    }
}

static void say_kernels(struct assay__buf *out, const struct assay__explain *x,
                        const struct scores *s)
{
    static const struct {
        unsigned bit;
        const char *what;
    } rows[] = {{0, "in double precision"},
                {1, "in strided element-wise kernels"},
                {2, "in kernels called naive"}};
    double kernels = (double)kernel_ns(x);
    assay__buf_printf(out, "the device computes %s of the time", PERCENT(s->compute));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((double)x->trait_ns[rows[i].bit] >= 0.01 * kernels && kernels > 0)
            assay__buf_printf(out, "; %s of kernel time %s",
                              PERCENT((double)x->trait_ns[rows[i].bit] / kernels), rows[i].what);
    if (s->fast > 0)
        assay__buf_printf(out, "; %s in tuned products and vectorised kernels", PERCENT(s->fast));
}

/* --- scenarios -------------------------------------------------------------------------------- */

static enum assay__verdict3 judge_launches(const struct assay__explain *x, const struct scores *s)
{
    if (s->unseen >= UNSEEN_MOST)
        return s->utilization < IDLE && looks_like_launches(x) ? ASSAY__VERDICT_YES
                                                               : ASSAY__VERDICT_OPEN;
    if (s->launches >= LEAST_LAUNCHES && s->best == ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD)
        return ASSAY__VERDICT_YES;
    return s->launches < OPEN_LAUNCHES ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
}

static enum assay__verdict3 judge_transfers(const struct scores *s)
{
    if (s->transfers >= SURELY_TRANSFERS || s->best == ASSAY__DIAGNOSIS_TRANSFERS)
        return ASSAY__VERDICT_YES;
    return s->transfers < OPEN_TRANSFERS ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
}

static enum assay__verdict3 judge_kernels(const struct scores *s)
{
    if (s->slow * s->compute >= SLOW_SURELY) return ASSAY__VERDICT_YES;
    if (s->compute < HALF) return s->slow < SLOW_SURELY ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
    return s->fast >= NAMED_FAST && s->slow < NAMED_SLOW ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
}

static void fill_scenarios(struct assay__explain *x, const struct scores *s)
{
    struct assay__buf launches = {0}, transfers = {0}, kernels = {0};
    assay__buf_printf(&launches, "launching costs %s of the devices' time: ", PERCENT(s->launches));
    if (s->unseen >= UNSEEN_MOST)
        assay__buf_printf(&launches, "the trace does not say why the device was idle %s of it; ",
                          PERCENT(s->unseen));
    say_launches(&launches, x);
    assay__buf_printf(&transfers, "transfers cost %s of the devices' time: ",
                      PERCENT(share(x, x->loss_ns[ASSAY__LOSS_TRANSFERS])));
    say_transfers(&transfers, x);
    say_kernels(&kernels, x, s);
    x->scenarios[0] = (struct assay__scenario){"launch-overhead",
                                               "Kernel launch overhead dominates",
                                               judge_launches(x, s), take(x, &launches)};
    x->scenarios[1] = (struct assay__scenario){"transfers", "Memory transfer bottleneck",
                                               judge_transfers(s), take(x, &transfers)};
    x->scenarios[2] = (struct assay__scenario){"inefficient-kernels", "Inefficient kernels",
                                               judge_kernels(s), take(x, &kernels)};
}

/* --- the diagnosis ---------------------------------------------------------------------------- */

static enum assay__diagnosis_id decide(const struct assay__explain *x, const struct scores *s)
{
    if (!x->device_count || x->span_ns <= 0) return ASSAY__DIAGNOSIS_UNDECIDED;
    if (s->best != ASSAY__DIAGNOSIS_NONE && s->best_share >= s->unseen) return s->best;
    if (s->unseen >= UNSEEN_MOST)
        return x->scenarios[0].verdict == ASSAY__VERDICT_YES ? ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD
                                                             : ASSAY__DIAGNOSIS_UNDECIDED;
    if (s->utilization < BUSY || s->talking >= LEAST_TALKING) return ASSAY__DIAGNOSIS_UNDECIDED;
    return x->scenarios[2].verdict == ASSAY__VERDICT_NO ? ASSAY__DIAGNOSIS_NONE
                                                        : ASSAY__DIAGNOSIS_UNDECIDED;
}

static const char *advice_for(enum assay__diagnosis_id id)
{
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD:
        return "Give each launch more work: a larger batch, fused operators (torch.compile), or a "
               "recorded graph (CUDA graphs) that launches all of a step at once.";
    case ASSAY__DIAGNOSIS_TRANSFERS:
        return "Keep data on the device between steps, copy once instead of many times, from "
               "pinned memory, and without waiting for each copy (non_blocking).";
    case ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS:
        return "Use single or half precision where the results allow it, make tensors contiguous "
               "before loops over them, and use a library's kernels.";
    case ASSAY__DIAGNOSIS_STARVED:
        return "Prepare the next step's input while the device computes this one: worker "
               "processes, prefetching, less work on the launching thread.";
    case ASSAY__DIAGNOSIS_SYNCHRONISATION:
        return "Read values back less often: keep them on the device and look at them once per "
               "step or later (no .item(), no printing of tensors inside the loop).";
    default: return "";
    }
}

static void say_host(struct assay__buf *out, const struct assay__explain *x)
{
    const struct assay__host_function *f = x->functions;
    assay__buf_puts(out, "the trace holds no work of a device");
    if (x->function_count && x->host_ns > 0)
        assay__buf_printf(out, "; of the host's %s most goes to %s%s%s%s: %s", TIME(x->host_ns),
                          assay__events_text(x->events, f->name), f->type ? " (" : "",
                          f->type ? f->type : "", f->type ? ")" : "",
                          PERCENT((double)f->self_ns / (double)x->host_ns));
    else if (x->function_count && x->sampled_ns > 0)
        assay__buf_printf(out, "; threads ran on processors for %s in %s, most of it in %s: %s",
                          TIME(x->sampled_ns), TIME(x->timeline->last_ns - x->timeline->first_ns),
                          assay__events_text(x->events, f->name),
                          PERCENT((double)f->self_ns / (double)x->sampled_ns));
    else if (x->function_count && x->samples)
        assay__buf_printf(out, "; of %zu samples most are in %s: %zu", x->samples,
                          assay__events_text(x->events, f->name), f->count);
    if (x->steps.count && *x->steps.why)
        assay__buf_printf(out, "; %s took %s: %s", x->steps.items[x->steps.slowest].name,
                          TIME(x->steps.time.max_ns), x->steps.why);
}

static void say_undecided(struct assay__buf *out, const struct assay__explain *x,
                          const struct scores *s)
{
    if (!x->device_count) {
        say_host(out, x);
        return;
    }
    assay__buf_printf(out, "the device is busy %s of the time; ", PERCENT(s->utilization));
    if (s->unseen >= UNSEEN_MOST)
        assay__buf_printf(out, "for %s of it the trace does not say when work was launched; ",
                          PERCENT(s->unseen));
    if (s->talking >= LEAST_TALKING) {
        assay__buf_printf(out, "%s of it is communication that no computation hides",
                          PERCENT(s->talking));
        if (x->ranks.straggler < x->ranks.count)
            assay__buf_printf(out, "; rank %d keeps the others waiting",
                              (int)x->ranks.items[x->ranks.straggler].rank);
        return;
    }
    if (s->utilization < BUSY)
        assay__buf_printf(out,
                          "no single cause explains the rest: launching %s, waiting for the "
                          "host %s, synchronisation %s, transfers %s, dependencies %s",
                          PERCENT(s->launches), PERCENT(s->starved), PERCENT(s->syncs),
                          PERCENT(s->transfers), PERCENT(s->waiting));
    else
        assay__buf_puts(out, "whether its kernels are good ones cannot be told: the trace holds "
                             "no FLOPs, and their names say too little: ");
    if (s->utilization >= BUSY) say_kernels(out, x, s);
}

void assay__explain_diagnose(struct assay__explain *x)
{
    struct scores s = score(x);
    struct assay__buf out = {0};
    fill_scenarios(x, &s);
    enum assay__diagnosis_id id = decide(x, &s);
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD:
        assay__buf_printf(&out, "launching takes %s of the device's time, which is busy %s of it: ",
                          PERCENT(s.launches > 0 ? s.launches : s.unseen), PERCENT(s.utilization));
        say_launches(&out, x);
        break;
    case ASSAY__DIAGNOSIS_TRANSFERS:
        assay__buf_printf(&out, "transfers and waiting for them take %s of the device's time: ",
                          PERCENT(share(x, x->loss_ns[ASSAY__LOSS_TRANSFERS])));
        say_transfers(&out, x);
        break;
    case ASSAY__DIAGNOSIS_SYNCHRONISATION:
        assay__buf_printf(&out,
                          "synchronisation costs %s of the device's time: ", PERCENT(s.syncs));
        say_syncs(&out, x);
        break;
    case ASSAY__DIAGNOSIS_STARVED:
        assay__buf_printf(&out, "the device waits for the host %s of the time; ",
                          PERCENT(s.starved));
        say_starved(&out, x);
        break;
    case ASSAY__DIAGNOSIS_UNDECIDED: say_undecided(&out, x, &s); break;
    default: say_kernels(&out, x, &s);
    }
    x->diagnosis = (struct assay__explain_diagnosis){id, take(x, &out), advice_for(id)};
}
