/* steps.c - what each step took, the slowest one, and what made it slow. */
#include "explain/steps.h"

#include "base/text.h"

#include <stdlib.h>

#define SLOW 1.15 /* times the median: worth a reason */

/* Work of the first device with the most of it, in order of launch. */
static size_t main_device(const struct assay__explain *x)
{
    size_t best = 0;
    for (size_t i = 1; i < x->device_count; i++)
        if (x->devices[i].rank == x->devices[0].rank &&
            x->timeline->devices[i].count > x->timeline->devices[best].count)
            best = i;
    return best;
}

static int compare_launched(const void *a, const void *b)
{
    const struct assay__launched *x = a, *y = b;
    if (x->at_ns != y->at_ns) return x->at_ns < y->at_ns ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static void list_work(const struct assay__explain *x, size_t device, struct assay__launched *work)
{
    const struct assay__timeline_device *of = &x->timeline->devices[device];
    bool sorted = true;
    for (size_t i = 0; i < of->count; i++) {
        uint32_t call = of->launch[i];
        uint32_t from = call == ASSAY__NO_EVENT ? of->work[i] : x->timeline->calls[call].event;
        work[i] = (struct assay__launched){of->work[i], call, x->events->start_ns[from]};
        sorted &= !i || work[i - 1].at_ns <= work[i].at_ns;
    }
    if (!sorted) qsort(work, of->count, sizeof *work, compare_launched);
}

/* The step that something launched then belongs to; NULL: none. */
static struct assay__step *step_at(struct assay__steps *s, int64_t at_ns)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->items[middle].from_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at_ns < s->items[low - 1].to_ns ? &s->items[low - 1] : NULL;
}

static int64_t launched_at(const struct assay__explain *x, uint32_t call, int64_t otherwise_ns)
{
    return call == ASSAY__NO_EVENT ? otherwise_ns
                                   : x->events->start_ns[x->timeline->calls[call].event];
}

static void add_device(struct assay__explain *x, size_t place)
{
    const struct assay__explain_device *d = &x->devices[place];
    const struct assay__timeline_device *of = &x->timeline->devices[place];
    struct assay__united busy = {0}, compute = {0};
    for (size_t i = 0; i < of->count; i++) {
        uint32_t event = of->work[i];
        int64_t start_ns = x->events->start_ns[event],
                stop_ns = assay__event_end_ns(x->events, event);
        struct assay__step *step = step_at(&x->steps, launched_at(x, of->launch[i], start_ns));
        int64_t more_ns = assay__unite(&busy, start_ns, stop_ns);
        int64_t computing_ns = assay__is_host_copy(x->events, event)
                                   ? 0
                                   : assay__unite(&compute, start_ns, stop_ns);
        if (!step) continue;
        step->kernels += x->events->kind[event] == ASSAY__EVENT_KERNEL;
        step->busy_ns += more_ns;
        step->compute_ns += computing_ns;
    }
    for (size_t i = 0; i < d->gap.count; i++) {
        const struct assay__idle_gap *gap = &d->gaps[i];
        struct assay__step *step = step_at(&x->steps, launched_at(x, gap->call, gap->end_ns));
        if (!step) continue;
        step->idle_ns += gap->end_ns - gap->start_ns;
        step->idle[assay__loss_of((enum assay__device_cause)gap->cause,
                                  (enum assay__host_cause)gap->host)] += gap->end_ns -
                                                                         gap->start_ns;
    }
}

/* --- the slowest ------------------------------------------------------------------------------ */

static int compare_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Median of one number of the steps. */
static int64_t usual(const struct assay__steps *s, int64_t *scratch,
                     int64_t (*number)(const struct assay__step *, int), int which)
{
    for (size_t i = 0; i < s->count; i++)
        scratch[i] = number(&s->items[i], which);
    if (s->count) qsort(scratch, s->count, sizeof *scratch, compare_ns);
    return scratch[(s->count - 1) / 2];
}

static int64_t busy_of(const struct assay__step *step, int which)
{
    (void)which;
    return step->busy_ns;
}

static int64_t idle_of(const struct assay__step *step, int which)
{
    return step->idle[which];
}

static void say_why(struct assay__explain *x, int64_t *scratch)
{
    struct assay__steps *s = &x->steps;
    const struct assay__step *slow = &s->items[s->slowest];
    const char *what = "computing";
    int64_t most_ns = slow->busy_ns - usual(s, scratch, busy_of, 0);
    int64_t more_ns = slow->end_ns - slow->start_ns - s->time.median_ns;
    s->why = "";
    if ((double)(slow->end_ns - slow->start_ns) < SLOW * (double)s->time.median_ns) return;
    for (int i = 0; i < ASSAY__LOSSES; i++) {
        int64_t ns = slow->idle[i] - usual(s, scratch, idle_of, i);
        if (ns <= most_ns) continue;
        most_ns = ns;
        what = assay__losses[i].meaning;
    }
    s->why = most_ns <= 0
                 ? assay__arena_text(x->arena, "%s longer than the median, on the host",
                                     assay__scaled((double)more_ns * 1e-9, "s").text)
                 : assay__arena_text(x->arena, "%s longer than the median, of which %s %s",
                                     assay__scaled((double)more_ns * 1e-9, "s").text,
                                     assay__scaled((double)most_ns * 1e-9, "s").text, what);
}

static void sum_up(struct assay__explain *x)
{
    struct assay__steps *s = &x->steps;
    int64_t *scratch = calloc(s->count + 1, sizeof *scratch);
    if (!scratch) {
        assay__arena_fail(x->arena);
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        scratch[i] = s->items[i].end_ns - s->items[i].start_ns;
        if (scratch[i] > s->items[s->slowest].end_ns - s->items[s->slowest].start_ns)
            s->slowest = i;
    }
    s->time = assay__durations_of(scratch, s->count);
    say_why(x, scratch);
    free(scratch);
}

static void find(struct assay__explain *x, struct assay__step_list *list)
{
    size_t device = main_device(x), count = x->timeline->devices[device].count;
    struct assay__launched *work = calloc(count + 1, sizeof *work);
    if (!work) {
        assay__arena_fail(x->arena);
        return;
    }
    list_work(x, device, work);
    assay__find_steps(x, device, work, count, list);
    free(work);
}

void assay__explain_steps(struct assay__explain *x)
{
    struct assay__steps *s = &x->steps;
    struct assay__step_list list = {.by = ""};
    s->by = s->why = "";
    if (x->device_count)
        find(x, &list);
    else
        assay__find_host_steps(x, &list);
    if (!list.count) return;
    s->items = list.items;
    s->count = list.count;
    s->by = list.by;
    for (size_t i = 0; i < x->device_count; i++)
        if (x->devices[i].rank == x->devices[0].rank) add_device(x, i);
    sum_up(x);
}
