/* steps_find.c - which intervals repeat? The profiler's own marks of steps come first; then the
 * optimiser's, each of which ends a step; then the sequence of launches: a name that occurs seldom,
 * but at least three times, with the same names between its occurrences, marks a period. Of several
 * periods the longest is taken: layers repeat within steps. */
#include "explain/steps.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_STEPS 3     /* fewer repetitions of launches are a coincidence */
#define SAME_SHARE 0.75   /* of the intervals between an anchor's occurrences: alike */
#define COVERED_SHARE 0.5 /* of the launches: within steps */
#define ANCHORS_MOST 16
#define STRIDES_MOST 64

static void add(struct assay__explain *x, struct assay__step_list *list, struct assay__step step)
{
    struct assay__step *grown = assay__arena_grow(x->arena, list->items, list->count, sizeof step);
    if (!grown) return;
    list->items = grown;
    list->items[list->count++] = step;
}

/* --- annotations ------------------------------------------------------------------------------ */

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* "ProfilerStep#3"; other frameworks' marks of the same kind end in a number too. */
static bool is_step(const char *name)
{
    static const char *const marks[] = {"ProfilerStep#", "Iteration#",  "iteration ",
                                        "Iteration ",    "train_step ", "step ",
                                        "Step ",         "Step#",       "StepNum "};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (begins(name, marks[i])) {
            const char *number = name + strlen(marks[i]);
            return *number && strspn(number, "0123456789") == strlen(number);
        }
    return false;
}

static bool is_optimiser(const char *name)
{
    return begins(name, "Optimizer.step#");
}

/* Ranges of the rank whose name fits, in order of start; nested ones are left out. */
static void find_ranges(struct assay__explain *x, int32_t rank, bool (*fits)(const char *),
                        struct assay__step_list *list)
{
    const struct assay__events *events = x->events;
    size_t texts = assay__events_text_count(events);
    uint8_t *fit = calloc(texts + 1, 1);
    int64_t last_ns = INT64_MIN;
    bool any = false;
    if (!fit) assay__arena_fail(x->arena);
    for (size_t i = 0; fit && i < texts; i++)
        any |= fit[i] = fits(assay__events_text(events, (uint32_t)i));
    for (size_t i = 0; fit && any && i < events->count; i++) {
        if (assay__placed_kind(events, i) != ASSAY__EVENT_RANGE || events->name[i] >= texts ||
            !fit[events->name[i]] || events->tracks[events->track[i]].rank != rank ||
            events->start_ns[i] < last_ns)
            continue;
        last_ns = assay__event_end_ns(events, i);
        add(x, list,
            (struct assay__step){.start_ns = events->start_ns[i],
                                 .end_ns = last_ns,
                                 .from_ns = events->start_ns[i],
                                 .to_ns = last_ns,
                                 .name = assay__event_name(events, i)});
    }
    free(fit);
}

/* An optimiser's step ends a step: the next begins there. */
static void from_optimiser(struct assay__explain *x, struct assay__step_list *list,
                           int64_t first_ns)
{
    for (size_t i = 0; i < list->count; i++) {
        struct assay__step *step = &list->items[i];
        step->start_ns = step->from_ns = i ? step[-1].end_ns : first_ns;
        step->name = assay__arena_text(x->arena, "step %zu", i + 1);
    }
}

/* --- the sequence of launches ----------------------------------------------------------------- */

struct sequence {
    struct assay__explain *x;
    const struct assay__launched *work;
    size_t count;
    uint64_t *hash;  /* of the first i names; count + 1 */
    uint64_t *power; /* of the multiplier */
};

#define MULTIPLIER 0x9e3779b97f4a7c15u

static uint32_t name_at(const struct sequence *s, size_t i)
{
    return s->x->events->name[s->work[i].event];
}

static void fill_hashes(struct sequence *s)
{
    s->power[0] = 1;
    for (size_t i = 0; i < s->count; i++) {
        s->hash[i + 1] = s->hash[i] * MULTIPLIER + name_at(s, i) + 1;
        s->power[i + 1] = s->power[i] * MULTIPLIER;
    }
}

static uint64_t hash_of(const struct sequence *s, size_t first, size_t end)
{
    return s->hash[end] - s->hash[first] * s->power[end - first];
}

struct period {
    size_t length, first, count; /* launches of one, place of the first, repetitions in a row */
};

/* The longest run of equal intervals, each from one place to the `stride`th after it. */
static struct period run_of(const struct sequence *s, const uint32_t *places, size_t count,
                            size_t stride)
{
    struct period best = {0, 0, 0}, run = {0, 0, 0};
    uint64_t hash = 0;
    for (size_t i = 0; i + stride < count; i += stride) {
        size_t length = places[i + stride] - places[i];
        uint64_t now = hash_of(s, places[i], places[i + stride]);
        if (run.count && length == run.length && now == hash) {
            run.count++;
        } else {
            run = (struct period){length, places[i], 1};
            hash = now;
        }
        if (run.count > best.count) best = run;
    }
    /* the last place may begin one more, which ends with the trace */
    size_t end = best.first + best.length * best.count;
    if (best.count && end + best.length <= s->count &&
        hash_of(s, end, end + best.length) == hash_of(s, best.first, best.first + best.length))
        best.count++;
    return best;
}

static bool convinces(const struct sequence *s, const struct period *p, size_t intervals)
{
    if (p->length < 2 || hash_of(s, p->first, p->first + p->length - 1) ==
                             hash_of(s, p->first + 1, p->first + p->length))
        return false; /* one name over and over */
    return p->count >= LEAST_STEPS && (double)p->count >= SAME_SHARE * (double)intervals &&
           (double)(p->count * p->length) >= COVERED_SHARE * (double)s->count;
}

/* A step may hold a name several times: 1, 2, … of its occurrences are tried as one interval. */
static struct period period_of(const struct sequence *s, const uint32_t *places, size_t count)
{
    for (size_t stride = 1; stride <= STRIDES_MOST && stride * LEAST_STEPS <= count; stride++) {
        struct period p = run_of(s, places, count, stride);
        if (convinces(s, &p, (count - 1) / stride)) return p;
    }
    return (struct period){0, 0, 0};
}

/* Moves the first place by a part of a period towards the beginning, if that part is there. */
static bool move_back(const struct sequence *s, struct period *p, size_t by)
{
    if (by > p->first || hash_of(s, p->first - by, p->first) !=
                             hash_of(s, p->first + p->length - by, p->first + p->length))
        return false;
    p->first -= by;
    if (p->first + p->length * (p->count + 1) <= s->count &&
        hash_of(s, p->first, p->first + p->length) ==
            hash_of(s, p->first + p->length * p->count, p->first + p->length * (p->count + 1)))
        p->count++;
    return true;
}

/* Steps begin where the trace does, else after the longest pause of the host: not at the anchor.
 */
static void rotate(const struct sequence *s, struct period *p)
{
    size_t best = 0;
    int64_t most_ns = -1;
    if (p->first < p->length && move_back(s, p, p->first)) return;
    for (size_t offset = 0; offset < p->length; offset++) {
        int64_t sum_ns = 0;
        for (size_t i = 1; i < p->count; i++) {
            size_t at = p->first + i * p->length + offset;
            if (at < s->count) sum_ns += s->work[at].at_ns - s->work[at - 1].at_ns;
        }
        if (sum_ns <= most_ns) continue;
        most_ns = sum_ns;
        best = offset;
    }
    if (!best || move_back(s, p, p->length - best)) return;
    p->first += best;
    while (p->count && p->first + p->length * p->count > s->count)
        p->count--;
}

struct anchor {
    uint32_t name, count;
};

static int compare_anchors(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* Names that occur often enough, the rarest first. */
static size_t list_anchors(const struct sequence *s, uint32_t *counts, struct anchor *anchors)
{
    size_t found = 0, texts = assay__events_text_count(s->x->events);
    for (size_t i = 0; i < s->count; i++)
        if (name_at(s, i) < texts) counts[name_at(s, i)]++;
    for (size_t i = 0; i < texts; i++)
        if (counts[i] >= LEAST_STEPS) anchors[found++] = (struct anchor){(uint32_t)i, counts[i]};
    if (found) qsort(anchors, found, sizeof *anchors, compare_anchors);
    return found < ANCHORS_MOST ? found : ANCHORS_MOST;
}

static struct period longest_period(const struct sequence *s, const struct anchor *anchors,
                                    size_t count, uint32_t *places)
{
    for (size_t a = 0; a < count; a++) {
        size_t found = 0;
        for (size_t i = 0; i < s->count; i++)
            if (name_at(s, i) == anchors[a].name) places[found++] = (uint32_t)i;
        struct period p = period_of(s, places, found);
        if (p.count) {
            rotate(s, &p);
            return p;
        }
    }
    return (struct period){0, 0, 0};
}

/* Long pauses of the host with the same launches between them: they begin steps. */
static struct period paused_period(const struct sequence *s, uint32_t *places)
{
    const struct assay__timeline *t = s->x->timeline;
    size_t found = 0;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t call = s->work[i].call;
        if (call != ASSAY__NO_EVENT && t->calls[call].idle_before_ns > t->patience_ns)
            places[found++] = (uint32_t)i;
    }
    struct period p = found >= LEAST_STEPS ? run_of(s, places, found, 1) : (struct period){0, 0, 0};
    if (!found || !convinces(s, &p, found - 1)) p.count = 0;
    return p;
}

static void add_period(struct sequence *s, struct period p, struct assay__step_list *list)
{
    const struct assay__events *events = s->x->events;
    for (size_t i = 0; i < p.count; i++) {
        const struct assay__launched *first = &s->work[p.first + i * p.length];
        const struct assay__launched *last = first + p.length - 1;
        bool more = p.first + (i + 1) * p.length < s->count;
        int64_t ended_ns = assay__event_end_ns(events, last->event);
        add(s->x, list,
            (struct assay__step){.start_ns = events->start_ns[first->event],
                                 .end_ns = more ? events->start_ns[last[1].event] : ended_ns,
                                 .from_ns = first->at_ns,
                                 .to_ns = more ? last[1].at_ns : ended_ns,
                                 .name = assay__arena_text(s->x->arena, "step %zu", i + 1)});
    }
    list->by = assay__arena_text(s->x->arena, "every %zu launches, by their names", p.length);
}

static void find_period(struct assay__explain *x, const struct assay__launched *work, size_t count,
                        struct assay__step_list *list)
{
    size_t texts = assay__events_text_count(x->events);
    struct sequence s = {x, work, count, calloc(count + 1, 8), calloc(count + 1, 8)};
    uint32_t *counts = calloc(texts + 1, sizeof *counts), *places = calloc(count + 1, 4);
    struct anchor *anchors = calloc(texts + 1, sizeof *anchors);
    if (s.hash && s.power && counts && places && anchors) {
        fill_hashes(&s);
        size_t found = list_anchors(&s, counts, anchors);
        struct period p = longest_period(&s, anchors, found, places);
        struct period paused = paused_period(&s, places);
        if (paused.count && paused.length > p.length) p = paused;
        if (p.count >= LEAST_STEPS) add_period(&s, p, list);
    } else {
        assay__arena_fail(x->arena);
    }
    free(s.hash);
    free(s.power);
    free(counts);
    free(places);
    free(anchors);
}

/* --- without a device ------------------------------------------------------------------------- */

/* Of the names of annotations that repeat, that which covers the most time: the runs of a model. */
void assay__find_host_steps(struct assay__explain *x, struct assay__step_list *list)
{
    const struct assay__events *events = x->events;
    size_t texts = assay__events_text_count(events), best = texts;
    struct repeated {
        int64_t ns;
        size_t count;
    } *of = calloc(texts + 1, sizeof *of);
    *list = (struct assay__step_list){.by = ""};
    if (!of) assay__arena_fail(x->arena);
    for (size_t i = 0; of && i < events->count; i++) {
        if (events->kind[i] != ASSAY__EVENT_RANGE || events->name[i] >= texts) continue;
        of[events->name[i]].ns += events->duration_ns[i];
        of[events->name[i]].count++;
    }
    for (size_t i = 0; of && i < texts; i++)
        if (of[i].count > 1 && (best == texts || of[i].ns > of[best].ns)) best = i;
    free(of);
    for (size_t i = 0; best < texts && i < events->count; i++)
        if (events->kind[i] == ASSAY__EVENT_RANGE && events->name[i] == best)
            add(x, list,
                (struct assay__step){.start_ns = events->start_ns[i],
                                     .end_ns = assay__event_end_ns(events, i),
                                     .name = assay__arena_text(x->arena, "%s %zu",
                                                               assay__event_name(events, i),
                                                               list->count + 1)});
    if (list->count) list->by = "annotations of one name";
}

void assay__find_steps(struct assay__explain *x, size_t device, const struct assay__launched *work,
                       size_t count, struct assay__step_list *list)
{
    *list = (struct assay__step_list){.by = ""};
    if (!count) return;
    find_ranges(x, x->devices[device].rank, is_step, list);
    if (list->count) {
        list->by = "the profiler's annotations";
        return;
    }
    find_ranges(x, x->devices[device].rank, is_optimiser, list);
    if (list->count > 1) {
        list->by = "the optimiser's annotations";
        from_optimiser(x, list, work[0].at_ns);
        return;
    }
    list->count = 0;
    find_period(x, work, count, list);
}
