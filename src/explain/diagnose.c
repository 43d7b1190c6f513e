/* diagnose.c - the one thing that is wrong, and the guide's three scenarios. Everything is a share
 * of the devices' time, so that neither the length of a trace nor the speed of its machine matters;
 * doc/explain.md has each rule with its reason. */
#include "explain/parts.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* Smallest share of the devices' time that a cause must cost to be the diagnosis. Waiting and
 * copying that a program asks for can always be asked for less often; launching and the host's own
 * work are partly unavoidable, so that more of them is normal. */
#define LEAST_SYNCHRONISATION 0.10
#define LEAST_TRANSFERS 0.10
#define LEAST_STARVED 0.20
#define LEAST_LAUNCHES 0.30
#define LEAST_TALKING 0.15 /* of communication: not one of the diagnoses, but worth saying */
#define LEAST_SLOW 0.15    /* of what better kernels would gain: half of the slow ones' time */
#define SLOW_GAIN 0.5

#define BUSY 0.80 /* the guide: a device is well used from here on */
#define IDLE 0.30 /* … and poorly used below this */
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
#define MISSING_MOST 0.05 /* of the events: what is missing looks like idle time */

struct scores {
    double utilization, compute, launches, transfers, syncs, starved, unseen, waiting, talking;
    double slow, fast; /* of kernel time, or of all computing if copies on devices make it longer */
    double on_device;  /* of the devices' time: those copies */
    double slow_gain;  /* of the devices' time */
    double copying;    /* of the devices' time: the loss to transfers, without what follows them */
    double missing;    /* of the events of recordings of devices: dropped, or unreadable */
    bool first_use;    /* most of what is lost is in a few calls unlike others of their name */
    bool after_first;  /* all shares are of the steps after the first one */
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

/* Copies from one place of a device to another, or to another device. */
static int64_t on_device_ns(const struct assay__explain *x)
{
    int64_t sum_ns = 0;
    for (size_t d = 0; d < x->device_count; d++)
        for (size_t i = 0; i < x->timeline->devices[d].count; i++) {
            uint32_t event = x->timeline->devices[d].work[i];
            uint8_t direction = x->events->kind[event] == ASSAY__EVENT_COPY
                                    ? assay__event_args(x->events, event)->direction
                                    : ASSAY__COPY_UNKNOWN;
            if (direction == ASSAY__COPY_ON_DEVICE || direction == ASSAY__COPY_PEER)
                sum_ns += x->events->duration_ns[event];
        }
    return sum_ns;
}

/* Samples that are lost take nothing from what devices did. */
static double missing_share(const struct assay__explain *x)
{
    double missing = 0, kept = 0;
    for (size_t i = 0; i < x->events->source_count; i++) {
        const struct assay__trace_source *source = &x->events->sources[i];
        if (strcmp(source->format, "cpu") == 0) continue;
        missing += (double)source->skipped;
        kept += (double)source->events;
    }
    return missing > 0 ? missing / (missing + kept) : 0;
}

static void consider(struct scores *s, enum assay__diagnosis_id id, double value, double least)
{
    if (value < least || value <= s->best_share) return;
    s->best = id;
    s->best_share = value;
}

static void consider_all(struct scores *s, double refill)
{
    s->best = ASSAY__DIAGNOSIS_NONE;
    s->best_share = 0;
    s->slow_gain = SLOW_GAIN * s->slow * s->compute;
    consider(s, ASSAY__DIAGNOSIS_SYNCHRONISATION, s->syncs, LEAST_SYNCHRONISATION);
    consider(s, ASSAY__DIAGNOSIS_TRANSFERS, s->transfers, LEAST_TRANSFERS);
    consider(s, ASSAY__DIAGNOSIS_STARVED, s->starved, LEAST_STARVED);
    consider(s, ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD, s->launches - refill, LEAST_LAUNCHES);
    consider(s, ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS, s->slow_gain, LEAST_SLOW);
}

/* A synchronisation costs what its removal would gain: also the launches that follow it one by one
 * because the queue is empty. Likewise transfers; of the few launches right after a copy that the
 * host waited for, half the cost is the copy's, because either change would save it. */
static struct scores score(const struct assay__explain *x)
{
    const int64_t *loss = x->loss_ns;
    double computing = fmax((double)kernel_ns(x), (double)x->compute_ns);
    struct scores s = {0};
    s.utilization = share(x, x->busy_ns);
    s.compute = share(x, x->compute_ns);
    s.launches = share(x, loss[ASSAY__LOSS_LAUNCHING]);
    s.starved = share(x, loss[ASSAY__LOSS_STARVATION]);
    s.unseen = share(x, loss[ASSAY__LOSS_UNEXPLAINED]);
    s.waiting = share(x, loss[ASSAY__LOSS_WAITING]);
    s.talking = share(x, loss[ASSAY__LOSS_COMMUNICATING]);
    double refill = share(x, x->refill_ns) / 2;
    s.copying = share(x, loss[ASSAY__LOSS_TRANSFERS]);
    s.transfers = fmax(s.copying + refill, gain_of(x, ASSAY__LOSS_TRANSFERS));
    s.syncs = fmax(share(x, loss[ASSAY__LOSS_SYNCHRONISING]),
                   gain_of(x, ASSAY__LOSS_SYNCHRONISING));
    s.slow = computing > 0 ? (double)x->slow_ns / computing : 0;
    s.fast = computing > 0 ? (double)x->known_ns / computing : 0;
    s.on_device = share(x, on_device_ns(x));
    s.missing = missing_share(x);
    consider_all(&s, refill);
    return s;
}

/* The same of the steps after the first one, for which nothing is replayed. */
static struct scores score_after(const struct scores *all, const struct assay__after_first *after)
{
    const int64_t *loss = after->loss_ns;
    double span_ns = (double)after->span_ns;
    struct scores s = *all;
    s.after_first = true;
    s.first_use = false;
    s.utilization = (double)after->busy_ns / span_ns;
    s.compute = (double)after->compute_ns / span_ns;
    s.launches = (double)loss[ASSAY__LOSS_LAUNCHING] / span_ns;
    s.starved = (double)loss[ASSAY__LOSS_STARVATION] / span_ns;
    s.unseen = (double)loss[ASSAY__LOSS_UNEXPLAINED] / span_ns;
    s.waiting = (double)loss[ASSAY__LOSS_WAITING] / span_ns;
    s.transfers = s.copying = (double)loss[ASSAY__LOSS_TRANSFERS] / span_ns;
    s.syncs = (double)loss[ASSAY__LOSS_SYNCHRONISING] / span_ns;
    consider_all(&s, 0);
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

/* "a; b": clauses of the evidence. */
static void next(struct assay__buf *out)
{
    if (out->length) assay__buf_puts(out, "; ");
}

static void say_launches(struct assay__buf *out, const struct assay__explain *x)
{
    struct totals t = totals_of(x);
    if (!t.kernels) return;
    next(out);
    assay__buf_printf(out, "%zu kernel%s of %s", t.kernels, t.kernels == 1 ? "" : "s",
                      TIME(kernel_ns(x) / (int64_t)t.kernels));
    if (t.kernels > 1) assay__buf_puts(out, " on average");
    if (t.gaps)
        assay__buf_printf(out, "; %zu gap%s of %s", t.gaps, t.gaps == 1 ? "" : "s",
                          TIME(t.gap_ns / (int64_t)t.gaps));
    if (t.gaps > 1) assay__buf_puts(out, " on average");
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
        next(out);
        assay__buf_printf(out, "%zu %scop%s %s", c->count, memory_word(c->memory),
                          c->count == 1 ? "y" : "ies", direction_word(c->direction));
        if (c->sized)
            assay__buf_printf(out, " (%s%s)",
                              assay__scaled((double)c->bytes / (double)c->sized, "B").text,
                              c->sized > 1 ? " on average" : "");
        if (c->blocking) assay__buf_printf(out, ", %zu of them waited for", c->blocking);
    }
    if (!x->transfer_count) {
        next(out);
        assay__buf_puts(out, "no copies between host and device");
    }
}

static void say_syncs(struct assay__buf *out, const struct assay__explain *x)
{
    size_t drained = 0, calls = totals_of(x).calls;
    if (!calls) return;
    for (size_t i = 0; i < x->sync_count; i++)
        drained += x->syncs[i].drained;
    const struct assay__sync_class *first = &x->syncs[0];
    next(out);
    if (first->count < calls)
        assay__buf_printf(out, "%zu synchronising calls, %zu of them %s", calls, first->count,
                          assay__events_text(x->events, first->name));
    else
        assay__buf_printf(out, "%zu call%s of %s", calls, calls == 1 ? "" : "s",
                          assay__events_text(x->events, first->name));
    if (first->op != ASSAY__EVENT_UNKNOWN)
        assay__buf_printf(out, " in %s", assay__events_text(x->events, first->op));
    if (drained)
        assay__buf_printf(out,
                          "; after %zu of them the device was empty until the host had launched "
                          "again",
                          drained);
}

static void say_starved(struct assay__buf *out, const struct assay__explain *x)
{
    for (size_t i = 0; i < x->host_time_count && i < 3; i++) {
        const struct assay__host_time *h = &x->host_times[i];
        const char *name = h->name == ASSAY__EVENT_UNKNOWN ? NULL
                                                           : assay__events_text(x->events, h->name);
        if (assay__loss_of(ASSAY__DEVICE_STARVED, h->cause) != ASSAY__LOSS_STARVATION) continue;
        if (share(x, h->ns) < 0.01) continue;
        next(out);
        if (h->cause == ASSAY__HOST_UNTRACED)
            assay__buf_printf(out, "the host was asleep or in code that is not traced%s%s",
                              name ? ", within " : "", name ? name : "");
        else
            assay__buf_printf(out, "the host was in %s", name ? name : "work without a name");
        assay__buf_printf(out, " for %s of the time", PERCENT(share(x, h->ns)));
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
                {2, "in kernels named naive"}};
    double kernels = (double)kernel_ns(x);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((double)x->trait_ns[rows[i].bit] >= 0.01 * kernels && kernels > 0) {
            next(out);
            assay__buf_printf(out, "%s of kernel time %s",
                              PERCENT((double)x->trait_ns[rows[i].bit] / kernels), rows[i].what);
        }
    if (s->on_device >= NAMED_SLOW) {
        next(out);
        assay__buf_printf(out, "copies on and between devices take %s of the time",
                          PERCENT(s->on_device));
    }
    if (s->fast < 0.01) return;
    next(out);
    assay__buf_printf(out,
                      "%s of kernel time in kernels known to be efficient: vendors' "
                      "libraries, matrix units, vector loads",
                      PERCENT((double)x->known_ns / kernels));
}

/* --- scenarios -------------------------------------------------------------------------------- */

static enum assay__verdict3 judge_launches(const struct assay__explain *x, const struct scores *s)
{
    if (s->missing >= MISSING_MOST) return ASSAY__VERDICT_OPEN;
    if (s->unseen >= UNSEEN_MOST)
        return s->utilization < IDLE && looks_like_launches(x) ? ASSAY__VERDICT_YES
                                                               : ASSAY__VERDICT_OPEN;
    if (s->launches >= LEAST_LAUNCHES && s->best == ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD)
        return ASSAY__VERDICT_YES;
    return s->launches < OPEN_LAUNCHES ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
}

static enum assay__verdict3 judge_transfers(const struct scores *s)
{
    if (s->missing >= MISSING_MOST) return ASSAY__VERDICT_OPEN;
    if (s->transfers >= SURELY_TRANSFERS || s->best == ASSAY__DIAGNOSIS_TRANSFERS)
        return ASSAY__VERDICT_YES;
    return s->transfers < OPEN_TRANSFERS ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
}

static enum assay__verdict3 judge_kernels(const struct scores *s)
{
    if (s->missing >= MISSING_MOST) return ASSAY__VERDICT_OPEN;
    if (s->slow * s->compute >= SLOW_SURELY) return ASSAY__VERDICT_YES;
    if (s->compute < HALF) return s->slow < SLOW_SURELY ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
    return s->fast >= NAMED_FAST && s->slow < NAMED_SLOW ? ASSAY__VERDICT_NO : ASSAY__VERDICT_OPEN;
}

static const struct {
    const char *id, *title;
} scenarios[] = {{"launch-overhead", "Kernel launch overhead dominates"},
                 {"transfers", "Memory transfer bottleneck"},
                 {"inefficient-kernels", "Inefficient kernels"}};

/* Of a trace without devices nothing is known about them. */
static void leave_open(struct assay__explain *x)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        x->scenarios[i] = (struct assay__scenario){scenarios[i].id, scenarios[i].title,
                                                   ASSAY__VERDICT_OPEN,
                                                   "the trace contains no device activity"};
}

static void fill_scenarios(struct assay__explain *x, const struct scores *s)
{
    struct assay__buf launches = {0}, transfers = {0}, kernels = {0};
    const char *when = s->after_first ? "after the first step " : "";
    if (!x->device_count) {
        leave_open(x);
        return;
    }
    assay__buf_printf(&launches, "%slaunching costs %s of the devices' time", when,
                      PERCENT(s->launches));
    if (s->unseen >= UNSEEN_MOST)
        assay__buf_printf(&launches, "; the trace does not say why the device was idle %s of it",
                          PERCENT(s->unseen));
    say_launches(&launches, x);
    assay__buf_printf(&transfers, "%stransfers cost %s of the devices' time", when,
                      PERCENT(s->copying));
    say_transfers(&transfers, x);
    assay__buf_printf(&kernels, "%sthe device computes %s of the time", when, PERCENT(s->compute));
    say_kernels(&kernels, x, s);
    const enum assay__verdict3 verdicts[] = {judge_launches(x, s), judge_transfers(s),
                                             judge_kernels(s)};
    const char *const evidence[] = {take(x, &launches), take(x, &transfers), take(x, &kernels)};
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        x->scenarios[i] = (struct assay__scenario){scenarios[i].id, scenarios[i].title, verdicts[i],
                                                   evidence[i]};
}

/* --- the diagnosis ---------------------------------------------------------------------------- */

static enum assay__diagnosis_id decide(const struct assay__explain *x, const struct scores *s)
{
    if (!x->device_count || x->span_ns <= 0 || s->missing >= MISSING_MOST)
        return ASSAY__DIAGNOSIS_UNDECIDED;
    if (s->best != ASSAY__DIAGNOSIS_NONE && s->best_share >= s->unseen) return s->best;
    if (s->unseen >= UNSEEN_MOST)
        return x->scenarios[0].verdict == ASSAY__VERDICT_YES ? ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD
                                                             : ASSAY__DIAGNOSIS_UNDECIDED;
    if (s->utilization < BUSY || s->talking >= LEAST_TALKING) return ASSAY__DIAGNOSIS_UNDECIDED;
    return x->scenarios[2].verdict == ASSAY__VERDICT_NO ? ASSAY__DIAGNOSIS_NONE
                                                        : ASSAY__DIAGNOSIS_UNDECIDED;
}

/* --- in words --------------------------------------------------------------------------------- */

enum { NAME_BYTES = 40 };

/* One device, or several. */
static const char *by_number(const struct assay__explain *x, const char *one, const char *several)
{
    return x->device_count > 1 ? several : one;
}
#define WHOSE by_number(x, "device's", "devices'")
#define COMPUTES by_number(x, "device computes", "devices compute")

/* A name within a verdict is one word, and short. */
static const char *word_of(const struct assay__explain *x, const char *name)
{
    size_t length = strcspn(name, " (<");
    const char *more = name[length] ? "…" : "";
    while (length > NAME_BYTES || (name[length] & 0xc0) == 0x80) { /* not within a character */
        length--;
        more = "…";
    }
    return assay__arena_text(x->arena, "%.*s%s", (int)length, name, more);
}

/* Most of what starves the device, or of launching, is in a few calls unlike others of their name.
 */
static bool is_first_use(const struct assay__explain *x, enum assay__diagnosis_id id)
{
    int64_t lost_ns = x->loss_ns[ASSAY__LOSS_STARVATION] + x->loss_ns[ASSAY__LOSS_LAUNCHING];
    bool late = id == ASSAY__DIAGNOSIS_STARVED || id == ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD;
    return late && x->long_calls.count && x->long_calls.ns > lost_ns / 2;
}

static bool calls_begin_with(const struct assay__explain *x, const char *prefix)
{
    for (size_t i = 0; i < x->timeline->call_count; i++) {
        const char *name = assay__event_name(x->events, x->timeline->calls[i].event);
        if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
    }
    return false;
}

/* Most kernels are nodes of CUDA graphs: the gaps between them are the device's own. */
static bool replays_graphs(const struct assay__explain *x)
{
    size_t kernels = 0, nodes = 0;
    for (size_t i = 0; i < x->events->count; i++) {
        if (x->events->kind[i] != ASSAY__EVENT_KERNEL) continue;
        const char *state = assay__event_args(x->events, i)->state;
        kernels++;
        nodes += state && strncmp(state, "CUDA graph", strlen("CUDA graph")) == 0;
    }
    return nodes > kernels / 2;
}

static const char *advice_on_launches(const struct assay__explain *x)
{
    const char *format = x->events->source_count ? x->events->sources[0].format : "";
    if (strcmp(format, "xctrace") == 0)
        return "Give each launch more work: a larger batch, fused operators, and fewer command "
               "buffers with more encoders each.";
    if (replays_graphs(x))
        return "The kernels are those of CUDA graphs already: give each kernel more work, by a "
               "larger batch or fused operators (a compiler does that: torch.compile, XLA).";
    return assay__arena_text(
        x->arena,
        "Give each launch more work: a larger batch, fused operators (a compiler does that: "
        "torch.compile, XLA), or a recorded graph%s that launches all of a step at once.",
        calls_begin_with(x, "hip")  ? " (HIP graphs)"
        : calls_begin_with(x, "cu") ? " (CUDA graphs)"
                                    : "");
}

static const char *advice_for(const struct assay__explain *x, const struct scores *s,
                              enum assay__diagnosis_id id)
{
    if (s->first_use)
        return "First uses initialise the device and load code: trace again after a warm-up. If "
               "such calls come back then, look for what blocks the thread in them.";
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD: return advice_on_launches(x);
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
        return "Wait for the device less often: keep values on it, and read them back together, "
               "once per step or later (in PyTorch: no .item(), no printing of tensors inside the "
               "loop).";
    default: return "";
    }
}

/* The provider of a device in a profile of ONNX Runtime: there a node's time is that of enqueuing
 * it. NULL: its nodes ran on the CPU, or it is no such profile. */
static const char *enqueuing_provider(const struct assay__explain *x)
{
    static const char *const providers[] = {"CUDA",     "Tensorrt", "NvTensorRTRTX", "ROCM",
                                            "MIGraphX", "Dml",      "WebGpu",        "CANN"};
    const struct assay__events *events = x->events;
    if (!events->source_count || strcmp(events->sources[0].format, "ort") != 0) return NULL;
    for (size_t i = 0; i < events->count; i++) {
        const struct assay__event_args *args = assay__event_args(events, i);
        for (size_t k = 0; args && args->provider && k < sizeof providers / sizeof *providers; k++)
            if (strncmp(args->provider, providers[k], strlen(providers[k])) == 0)
                return args->provider;
    }
    return NULL;
}

static const char *verdict_on_host(struct assay__buf *out, const struct assay__explain *x)
{
    const struct assay__host_function *f = x->functions;
    const char *provider = enqueuing_provider(x);
    if (x->function_count && x->host_ns > 0)
        assay__buf_printf(out, "the largest part of the host's %s goes to %s%s%s%s: %s",
                          TIME(x->host_ns), assay__events_text(x->events, f->name),
                          f->type ? " (" : "", f->type ? f->type : "", f->type ? ")" : "",
                          PERCENT((double)f->self_ns / (double)x->host_ns));
    else if (x->function_count && x->sampled_ns > 0)
        assay__buf_printf(
            out, "threads ran on processors for %s in %s, the largest part of it in %s: %s",
            TIME(x->sampled_ns), TIME(x->timeline->last_ns - x->timeline->first_ns),
            assay__events_text(x->events, f->name),
            PERCENT((double)f->self_ns / (double)x->sampled_ns));
    else if (x->function_count && x->samples)
        assay__buf_printf(out, "of %zu samples the largest part is in %s: %zu", x->samples,
                          assay__events_text(x->events, f->name), f->count);
    if (x->steps.count && *x->steps.why) {
        next(out);
        assay__buf_printf(out, "%s took %s: %s", x->steps.items[x->steps.slowest].name,
                          TIME(x->steps.time.max_ns), x->steps.why);
    }
    if (!provider) return "Undecided: the trace contains no device activity.";
    return assay__arena_text(x->arena,
                             "Undecided: no device work is recorded; times of nodes on %s are "
                             "those of enqueuing them.",
                             word_of(x, provider));
}

/* Shares that matter, of those that nothing stands out among. */
static void say_shares(struct assay__buf *out, const struct assay__explain *x)
{
    for (int i = 0; i < ASSAY__LOSSES; i++) {
        if (share(x, x->loss_ns[i]) < 0.01) continue;
        next(out);
        assay__buf_printf(out, "%s %s", assay__losses[i].meaning, PERCENT(share(x, x->loss_ns[i])));
    }
}

static const char *verdict_on_undecided(struct assay__buf *out, const struct assay__explain *x,
                                        const struct scores *s)
{
    struct assay__arena *arena = x->arena;
    const char *subject = by_number(x, "the device is", "the devices are");
    if (!x->device_count) return verdict_on_host(out, x);
    if (x->span_ns <= 0) return "Undecided: the device's work begins and ends at one instant.";
    if (s->missing >= MISSING_MOST) {
        say_launches(out, x);
        return assay__arena_text(arena,
                                 "Undecided: %s of the trace's events are missing; where they "
                                 "were, the device%s idle.",
                                 PERCENT(s->missing), by_number(x, " seems", "s seem"));
    }
    if (s->unseen >= UNSEEN_MOST) {
        say_launches(out, x);
        return assay__arena_text(arena,
                                 "Undecided: %s idle for %s of the time, and the trace does not "
                                 "say why.",
                                 subject, PERCENT(s->unseen));
    }
    if (s->talking >= LEAST_TALKING) {
        bool late = x->ranks.straggler < x->ranks.count;
        const char *rank = late ? assay__arena_text(arena, "; rank %d is late",
                                                    (int)x->ranks.items[x->ranks.straggler].rank)
                                : "";
        say_shares(out, x);
        return assay__arena_text(arena,
                                 "Undecided: %s of the devices' time is communication not "
                                 "hidden by computation%s.",
                                 PERCENT(s->talking), rank);
    }
    if (s->utilization < BUSY) {
        say_shares(out, x);
        return assay__arena_text(arena,
                                 "Undecided: %s idle for %s of the time, and no single cause "
                                 "explains it.",
                                 subject, PERCENT(1 - s->utilization));
    }
    say_kernels(out, x, s);
    return assay__arena_text(arena,
                             "Undecided: the %s %s of the time; the trace does not show whether "
                             "the kernels are good.",
                             COMPUTES, PERCENT(s->compute));
}

/* The calls that a first use shows in, where the diagnosis is of one. */
static const char *verdict_on_first_use(struct assay__buf *out, const struct assay__explain *x,
                                        enum assay__diagnosis_id id)
{
    const struct assay__long_calls *l = &x->long_calls;
    const char *longest = word_of(x, assay__event_name(x->events, l->longest));
    int64_t ns = x->events->duration_ns[l->longest];
    const char *what = id == ASSAY__DIAGNOSIS_STARVED ? "Starved by the host" : "Launch overhead";
    if (id == ASSAY__DIAGNOSIS_STARVED)
        say_starved(out, x);
    else
        say_launches(out, x);
    if (l->count == 1)
        return assay__arena_text(x->arena, "%s: one %s of %s takes %s of the %s time.", what,
                                 longest, TIME(ns), PERCENT(share(x, l->ns)), WHOSE);
    return assay__arena_text(x->arena,
                             "%s: %zu unusually long calls take %s of the time, one %s %s.", what,
                             l->count, PERCENT(share(x, l->ns)), longest, TIME(ns));
}

/* Shares of the steps after a first one that took far longer. */
static const char *verdict_after_first(struct assay__buf *out, const struct assay__explain *x,
                                       const struct scores *s, enum assay__diagnosis_id id)
{
    const struct assay__steps *steps = &x->steps;
    struct assay__arena *arena = x->arena;
    assay__buf_printf(out, "%s took %s, %.3g × the median of %zu steps, which is %s",
                      steps->items[0].name, TIME(steps->time.max_ns),
                      (double)steps->time.max_ns / (double)steps->time.median_ns, steps->count,
                      TIME(steps->time.median_ns));
    if (x->timeline->call_ns)
        assay__buf_printf(out, "; a launching call takes %s (median)", TIME(x->timeline->call_ns));
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD:
        return assay__arena_text(arena,
                                 "Launch overhead after the first step: launching takes %s of the "
                                 "time, computing %s.",
                                 PERCENT(s->launches), PERCENT(s->compute));
    case ASSAY__DIAGNOSIS_TRANSFERS:
        return assay__arena_text(arena,
                                 "Transfers between host and device after the first step: they "
                                 "cost %s of the time.",
                                 PERCENT(s->transfers));
    case ASSAY__DIAGNOSIS_SYNCHRONISATION:
        return assay__arena_text(arena,
                                 "Drained by synchronisation after the first step: waiting for "
                                 "the device costs %s of the time.",
                                 PERCENT(s->syncs));
    case ASSAY__DIAGNOSIS_STARVED:
        return assay__arena_text(arena,
                                 "Starved by the host after the first step: the %s for it %s of "
                                 "the time.",
                                 by_number(x, "device waits", "devices wait"), PERCENT(s->starved));
    default:
        return assay__arena_text(arena,
                                 "Nothing wrong found after the first step: the %s %s of the "
                                 "time.",
                                 COMPUTES, PERCENT(s->compute));
    }
}

static const char *verdict_of(struct assay__buf *out, const struct assay__explain *x,
                              const struct scores *s, enum assay__diagnosis_id id)
{
    struct assay__arena *arena = x->arena;
    if (s->first_use) return verdict_on_first_use(out, x, id);
    if (s->after_first) return verdict_after_first(out, x, s, id);
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD:
        say_launches(out, x);
        if (s->unseen >= UNSEEN_MOST)
            return assay__arena_text(arena,
                                     "Launch overhead, by its shape: short kernels with short "
                                     "gaps, which take %s of the time.",
                                     PERCENT(1 - s->utilization));
        return assay__arena_text(arena,
                                 "Launch overhead: launching takes %s of the %s time, computing "
                                 "%s.",
                                 PERCENT(s->launches), WHOSE, PERCENT(s->compute));
    case ASSAY__DIAGNOSIS_TRANSFERS:
        say_transfers(out, x);
        return assay__arena_text(arena,
                                 "Transfers between host and device: copying, and waiting for it, "
                                 "costs %s of the time.",
                                 PERCENT(s->transfers));
    case ASSAY__DIAGNOSIS_SYNCHRONISATION:
        say_syncs(out, x);
        return assay__arena_text(arena,
                                 "Drained by synchronisation: waiting for the device and then "
                                 "filling its queue costs %s of the time.",
                                 PERCENT(s->syncs));
    case ASSAY__DIAGNOSIS_STARVED:
        say_starved(out, x);
        return assay__arena_text(arena, "Starved by the host: the %s for it %s of the time.",
                                 by_number(x, "device waits", "devices wait"), PERCENT(s->starved));
    case ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS:
        say_kernels(out, x, s);
        return assay__arena_text(arena,
                                 "Inefficient kernels: the %s %s of the time, %s of it in slow "
                                 "kernels.",
                                 COMPUTES, PERCENT(s->compute), PERCENT(s->slow));
    case ASSAY__DIAGNOSIS_NONE:
        say_kernels(out, x, s);
        return assay__arena_text(arena, "Nothing wrong found: the %s %s of the time.", COMPUTES,
                                 PERCENT(s->compute));
    default: return verdict_on_undecided(out, x, s);
    }
}

/* The share of the devices' time that the verdict names. */
static double cost_of(const struct assay__explain *x, const struct scores *s,
                      enum assay__diagnosis_id id)
{
    if (s->first_use) return share(x, x->long_calls.ns);
    switch (id) {
    case ASSAY__DIAGNOSIS_LAUNCH_OVERHEAD:
        return s->unseen >= UNSEEN_MOST ? 1 - s->utilization : s->launches;
    case ASSAY__DIAGNOSIS_TRANSFERS: return s->transfers;
    case ASSAY__DIAGNOSIS_SYNCHRONISATION: return s->syncs;
    case ASSAY__DIAGNOSIS_STARVED: return s->starved;
    case ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS: return s->slow * s->compute;
    default: return (double)NAN;
    }
}

/* What the steps after a long first one say, if that is clear: the kernels' names are of all. */
static enum assay__diagnosis_id decide_after_first(struct assay__explain *x, struct scores *s)
{
    struct assay__after_first rest;
    if (!assay__explain_after_first(x, &rest)) return ASSAY__DIAGNOSIS_UNDECIDED;
    struct scores after = score_after(s, &rest);
    if (after.unseen >= UNSEEN_MOST) return ASSAY__DIAGNOSIS_UNDECIDED;
    fill_scenarios(x, &after);
    enum assay__diagnosis_id id = decide(x, &after);
    if (id == ASSAY__DIAGNOSIS_UNDECIDED || id == ASSAY__DIAGNOSIS_INEFFICIENT_KERNELS) {
        fill_scenarios(x, s);
        return ASSAY__DIAGNOSIS_UNDECIDED;
    }
    *s = after;
    return id;
}

void assay__explain_diagnose(struct assay__explain *x)
{
    struct scores s = score(x);
    struct assay__buf out = {0};
    fill_scenarios(x, &s);
    enum assay__diagnosis_id id = decide(x, &s), later = decide_after_first(x, &s);
    s.first_use = !s.after_first && is_first_use(x, id);
    if (s.after_first) id = later;
    const char *verdict = verdict_of(&out, x, &s, id);
    x->diagnosis = (struct assay__explain_diagnosis){id, verdict, take(x, &out),
                                                     advice_for(x, &s, id), cost_of(x, &s, id)};
}
