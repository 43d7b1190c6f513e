/* tops.c - kernels by name, operators by the kernels they launch, and what the names say. The
 * tables are arrays over the store's texts while they are counted, and short lists afterwards. */
#include "explain/parts.h"

#include <math.h>
#include <stdlib.h>

struct counting {
    struct assay__explain *x;
    struct assay__kernel_time *kernels; /* by name; the last: no name */
    struct assay__operator_time *operators;
    int64_t *vote_ns; /* of each kernel's operator: a majority by time */
    size_t texts;
};

static size_t slot_of(const struct counting *c, uint32_t name)
{
    return name < c->texts ? name : c->texts;
}

/* The operator around the call that launched it. */
static uint32_t operator_of(const struct assay__explain *x, uint32_t call)
{
    uint32_t op = call == ASSAY__NO_EVENT ? call : x->timeline->calls[call].op;
    return op == ASSAY__NO_EVENT ? ASSAY__EVENT_UNKNOWN : x->events->name[op];
}

/* Boyer and Moore's majority: the operator with more than half of a kernel's time wins. */
static void vote(struct assay__kernel_time *kernel, int64_t *vote_ns, uint32_t op, int64_t ns)
{
    if (*vote_ns == 0) kernel->op = op;
    *vote_ns += kernel->op == op ? ns : -ns;
    if (*vote_ns < 0) {
        kernel->op = op;
        *vote_ns = -*vote_ns;
    }
}

static void add_kernel(struct counting *c, uint32_t event, uint32_t call)
{
    const struct assay__events *events = c->x->events;
    size_t slot = slot_of(c, events->name[event]);
    struct assay__kernel_time *kernel = &c->kernels[slot];
    int64_t ns = events->duration_ns[event];
    uint32_t op = operator_of(c->x, call);
    double flops = assay__event_args(events, event)->flops;
    if (!kernel->count || ns < kernel->min_ns) kernel->min_ns = ns;
    if (ns > kernel->max_ns) kernel->max_ns = ns;
    kernel->name = events->name[event];
    kernel->count++;
    kernel->ns += ns;
    kernel->flops += flops > 0 ? flops : 0;
    vote(kernel, &c->vote_ns[slot], op, ns);
    if (op == ASSAY__EVENT_UNKNOWN) return;
    struct assay__operator_time *of = &c->operators[slot_of(c, op)];
    of->name = op;
    of->kernels++;
    of->device_ns += ns;
}

static void count_all(struct counting *c)
{
    const struct assay__events *events = c->x->events;
    const struct assay__timeline *t = c->x->timeline;
    for (size_t d = 0; d < t->device_count; d++)
        for (size_t i = 0; i < t->devices[d].count; i++)
            if (events->kind[t->devices[d].work[i]] == ASSAY__EVENT_KERNEL)
                add_kernel(c, t->devices[d].work[i], t->devices[d].launch[i]);
    for (size_t i = 0; i < events->count; i++)
        if (events->kind[i] == ASSAY__EVENT_OPERATOR)
            c->operators[slot_of(c, events->name[i])].calls++;
}

static int compare_kernels(const void *a, const void *b)
{
    const struct assay__kernel_time *x = a, *y = b;
    if (x->ns != y->ns) return x->ns < y->ns ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

static int compare_operators(const void *a, const void *b)
{
    const struct assay__operator_time *x = a, *y = b;
    if (x->device_ns != y->device_ns) return x->device_ns < y->device_ns ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

static void classify(struct assay__explain *x, struct assay__kernel_time *kernel)
{
    struct assay__kernel_class class = assay__kernel_class_of(
        assay__events_text(x->events, kernel->name));
    kernel->kind = class.kind;
    kernel->traits = class.traits;
    if (kernel->flops == 0) kernel->flops = NAN;
    x->kernel_kind_ns[class.kind] += kernel->ns;
    for (unsigned i = 0; i < ASSAY__KERNEL_TRAITS; i++)
        if (class.traits >> i & 1) x->trait_ns[i] += kernel->ns;
    if (class.traits & ASSAY__TRAITS_SLOW) x->slow_ns += kernel->ns;
    if (class.traits & ASSAY__TRAITS_FAST) x->known_ns += kernel->ns;
}

static void keep(struct counting *c)
{
    struct assay__explain *x = c->x;
    size_t kernels = 0, operators = 0;
    for (size_t i = 0; i <= c->texts; i++) {
        kernels += c->kernels[i].count > 0;
        operators += c->operators[i].kernels > 0;
    }
    x->kernels = assay__arena_array(x->arena, kernels, sizeof *x->kernels);
    x->operators = assay__arena_array(x->arena, operators, sizeof *x->operators);
    if (!x->kernels || !x->operators) return;
    for (size_t i = 0; i <= c->texts; i++) {
        if (c->kernels[i].count) x->kernels[x->kernel_count++] = c->kernels[i];
        if (c->operators[i].kernels) x->operators[x->operator_count++] = c->operators[i];
    }
    for (size_t i = 0; i < kernels; i++)
        classify(x, &x->kernels[i]);
    if (kernels) qsort(x->kernels, kernels, sizeof *x->kernels, compare_kernels);
    if (operators) qsort(x->operators, operators, sizeof *x->operators, compare_operators);
}

void assay__explain_tops(struct assay__explain *x)
{
    size_t texts = assay__events_text_count(x->events);
    struct counting c = {.x = x, .texts = texts};
    c.kernels = calloc(texts + 1, sizeof *c.kernels);
    c.operators = calloc(texts + 1, sizeof *c.operators);
    c.vote_ns = calloc(texts + 1, sizeof *c.vote_ns);
    if (c.kernels && c.operators && c.vote_ns) {
        count_all(&c);
        keep(&c);
    } else {
        assay__arena_fail(x->arena);
    }
    free(c.kernels);
    free(c.operators);
    free(c.vote_ns);
}
