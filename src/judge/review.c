/* review.c - finds bottlenecks, opportunities and recommendations of a trial. Removing a part that
 * takes the share s of the latency makes the whole at most 1 / (1 - s) times as fast (Amdahl
 * 1967). */
#include "judge/review.h"

#include "judge/comparison.h"
#include "judge/require_advice.h"
#include "profile/trial_values.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_NAMED 3
#define SHARE_LISTED 0.01   /* of the layers' time: what limits less is left out */
#define SHARE_NAMED 0.10    /* a part below this share of the latency is no bottleneck */
#define TAIL_NAMED 1.5      /* p99 / p50 from here on is one */
#define GAIN_NAMED 1.05     /* an opportunity below this is none */
#define UTILIZATION_LOW 0.8 /* of the monitoring guide */

struct reviewing {
    const struct assay__trial *trial;
    const struct assay_profile *profile;
    struct assay__require_evidence evidence;
    struct assay__arena *arena;
    struct assay__review *out;
};

static void add(struct reviewing *r, struct assay__sentence_list *list, const char *format, ...)
    ASSAY_PRINTF(3, 4);

static void add(struct reviewing *r, struct assay__sentence_list *list, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (list->count < ASSAY__REVIEW_SENTENCES)
        list->items[list->count++] = assay__arena_vtext(r->arena, format, args);
    va_end(args);
}

/* --- bottlenecks ------------------------------------------------------------------------------ */

static int slower_first(const void *a, const void *b)
{
    const struct assay__layer *const *x = a, *const *y = b;
    if ((*x)->time_ns != (*y)->time_ns) return (*x)->time_ns < (*y)->time_ns ? 1 : -1;
    return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

/* Timed layers, the slowest first; in the arena. */
static const struct assay__layer **by_time(struct reviewing *r, size_t *count)
{
    const struct assay__layers *layers = &r->trial->layers;
    const struct assay__layer **order = assay__arena_array(r->arena, layers->count + 1,
                                                           sizeof *order);
    *count = 0;
    for (size_t i = 0; order && i < layers->count; i++)
        if (layers->items[i].state != ASSAY_UNAVAILABLE && isfinite(layers->items[i].time_ns))
            order[(*count)++] = &layers->items[i];
    if (*count) qsort(order, *count, sizeof *order, slower_first);
    return order;
}

/* "86 %", "0.3 %", "below 0.1 %": a small share is not shown as zero. */
struct percent_text {
    char text[24];
};
static struct percent_text percent(double share)
{
    struct percent_text out;
    double value = share * 100;
    if (value > 0 && value < 0.05)
        snprintf(out.text, sizeof out.text, "below 0.1 %%");
    else
        snprintf(out.text, sizeof out.text, "%.*f %%", value > 0 && value < 0.95 ? 1 : 0, value);
    return out;
}

/* ", memory 12 %, overhead 4 %": what limits the rest, where it is not next to nothing. */
static const char *other_bounds(struct reviewing *r)
{
    const struct assay__require_evidence *e = &r->evidence;
    const char *text = "";
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        if (b != (int)e->bound && e->share[b] >= SHARE_LISTED)
            text = assay__arena_text(r->arena, "%s, %s %s", text,
                                     assay__bound_name((enum assay__bound)b),
                                     percent(e->share[b]).text);
    return *text ? assay__arena_text(r->arena, " (%s)", text + 2) : "";
}

static void review_layers(struct reviewing *r, double whole_ns)
{
    static const char *const words[] = {[ASSAY__BOUND_COMPUTE] = "compute",
                                        [ASSAY__BOUND_MEMORY] = "memory",
                                        [ASSAY__BOUND_OVERHEAD] = "the overhead of small layers",
                                        [ASSAY__BOUND_NEITHER] = "neither arithmetic nor memory"};
    const struct assay__require_evidence *e = &r->evidence;
    struct assay__sentence_list *list = &r->out->bottlenecks;
    size_t count;
    const struct assay__layer **order = by_time(r, &count);
    if (e->bound != ASSAY__BOUND_UNKNOWN)
        add(r, list, "%s of the layers' time is limited by %s%s", percent(e->share[e->bound]).text,
            words[e->bound], other_bounds(r));
    for (size_t i = 0; i < count && i < LAYERS_NAMED && whole_ns > 0; i++) {
        const struct assay__roofline *roofline = &e->roofline;
        double share = order[i]->time_ns / whole_ns;
        size_t at = (size_t)(order[i] - r->trial->layers.items);
        const char *roof = "";
        if (share < SHARE_NAMED) break;
        if (!roofline->reason[0] && at < roofline->layer_count &&
            isfinite(roofline->layers[at].utilization) &&
            roofline->layers[at].bound != ASSAY__BOUND_UNKNOWN)
            roof = assay__arena_text(r->arena, "; limited by %s, at %.0f %% of its roof",
                                     assay__bound_name(roofline->layers[at].bound),
                                     roofline->layers[at].utilization * 100);
        add(r, list, "layer %.80s (%.40s) takes %.0f %% of the time%s",
            assay__layer_title(order[i]), order[i]->op, share * 100, roof);
    }
    if (count == 0)
        add(r, list, "it is unknown which layers are slow: %s",
            r->trial->layers.reason && r->trial->layers.reason[0] ? r->trial->layers.reason
                                                                  : "layers were not timed");
}

static void review_rest(struct reviewing *r, double p50_ns, double whole_ns)
{
    struct assay__sentence_list *list = &r->out->bottlenecks;
    const struct assay__layers *layers = &r->trial->layers;
    double fixed = layers->engine_ns / whole_ns, rest = layers->unattributed_ns / whole_ns;
    double tail = assay__trial_value(r->trial, "latency.p99") * 1e9 / p50_ns;
    if (fixed >= SHARE_NAMED)
        add(r, list, "the engine's fixed cost per run takes %.0f %% of the time", fixed * 100);
    if (rest >= SHARE_NAMED)
        add(r, list, "%.0f %% of the time is not attributed to any layer", rest * 100);
    if (tail >= TAIL_NAMED)
        add(r, list, "the slowest 1 %% of inferences take %.1f × the median or more", tail);
}

/* --- opportunities ---------------------------------------------------------------------------- */

static void offer(struct reviewing *r, double gain, const char *what)
{
    if (isfinite(gain) && gain >= GAIN_NAMED)
        add(r, &r->out->opportunities, "at most %s × as fast: %s", assay__digits(gain, 3).text,
            what);
}

static void review_opportunities(struct reviewing *r, double p50_ns, double whole_ns)
{
    const struct assay__require_evidence *e = &r->evidence;
    const struct assay__roofline *roofline = &e->roofline;
    size_t count;
    if (!roofline->reason[0] && roofline->least_of_ns > 0 && p50_ns > 0) {
        double rest = p50_ns - roofline->least_of_ns; /* without a known roof: unchanged */
        offer(r, p50_ns / (fmax(rest, 0) + roofline->least_ns),
              assay__arena_text(r->arena,
                                "with every layer at its roof (%s now, %s at best) and the "
                                "rest as it is",
                                assay__scaled(roofline->least_of_ns * 1e-9, "s").text,
                                assay__scaled(roofline->least_ns * 1e-9, "s").text));
        double overhead = roofline->time_ns[ASSAY__BOUND_OVERHEAD] / whole_ns;
        offer(r, 1 / (1 - overhead),
              "with no time in overhead-bound layers (a larger batch, or fused nodes)");
    }
    double fixed = r->trial->layers.engine_ns / whole_ns;
    offer(r, 1 / (1 - fixed), "with no fixed engine cost per run (a larger batch amortises it)");
    const struct assay__layer **order = by_time(r, &count);
    if (count && whole_ns > order[0]->time_ns)
        offer(r, 1 / (1 - order[0]->time_ns / whole_ns),
              assay__arena_text(r->arena, "without the slowest layer, %.80s (%.40s)",
                                assay__layer_title(order[0]), order[0]->op));
    const struct assay_metric *peak = assay__peak_memory(r->trial->metrics,
                                                         assay__trial_on_cpu(r->trial));
    double weights = assay__trial_value(r->trial, "memory.model");
    if (peak && peak->value > 2 * weights)
        add(r, &r->out->opportunities,
            "memory: the peak of %s is %s × the weights (%s); 'assay memory' shows where it goes",
            assay__scaled(peak->value, "B").text, assay__digits(peak->value / weights, 3).text,
            assay__scaled(weights, "B").text);
}

/* --- recommendations -------------------------------------------------------------------------- */

/* Advice of the table first: minimum before target before warnings. */
static void recommend(struct reviewing *r)
{
    struct assay__sentence_list *list = &r->out->recommendations;
    const struct assay__judgement *j = &r->out->judgement;
    double utilization = assay__trial_value(r->trial, "compute.utilization");
    for (int level = ASSAY__REQUIRE_TO_MINIMUM; level > ASSAY__REQUIRE_FINE; level--)
        for (size_t i = 0; i < j->count; i++)
            if ((int)j->rows[i].level == level) add(r, list, "%s", j->rows[i].advice);
    if (r->trial->target.optimization == ASSAY__OPTIMIZATION_NONE)
        add(r, list, "graph optimisation is off: turn it on");
    if (utilization < UTILIZATION_LOW && !r->out->required)
        add(r, list, "compute reaches %s %% of the measured ceiling: try a larger batch%s",
            assay__digits(utilization * 100, 3).text,
            r->evidence.bound == ASSAY__BOUND_COMPUTE ? ", float16 or int8" : "");
    r->out->to_change = list->count;
    if (r->trial->stability.verdict && strcmp(r->trial->stability.verdict, "unstable") == 0)
        add(r, list, "the measurement is unstable: repeat it on a quieter machine, with %s",
            r->profile->kind == ASSAY__PROFILE_TUNE                ? "a larger budget"
            : r->trial->launch_count >= ASSAY__COMPARISON_LAUNCHES ? "longer launches"
                                                                   : "5 launches");
    if (isnan(assay__trial_value(r->trial, "power.average")))
        add(r, list, "%s",
            r->trial->protocol.watched & ASSAY__WATCHED_POWER
                ? "power is unknown, so there is no score: 'assay doctor' shows which sensor is "
                  "missing"
                : "power was not sampled, so there is no score");
    if (r->evidence.roofline.reason[0])
        add(r, list, "it is unknown what limits the layers (%s)", r->evidence.roofline.reason);
}

/* --- together --------------------------------------------------------------------------------- */

int assay__review(const struct assay_profile *profile, const struct assay__trial *trial,
                  struct assay__arena *arena, struct assay__review *out)
{
    struct reviewing r = {.trial = trial, .profile = profile, .arena = arena, .out = out};
    const struct assay__require_table *table = NULL;
    memset(out, 0, sizeof *out);
    int code = assay__require_of(trial, arena, &table);
    if (code == 0 && table) {
        out->required = true;
        code = assay__require_judge(profile, trial, table, arena, &out->judgement);
    }
    if (code == 0) code = assay__require_evidence(profile, trial, table, arena, &r.evidence);
    if (code) return code;
    assay__score(trial->metrics, assay__trial_on_cpu(trial), &out->score);
    double p50_ns = assay__trial_value(trial, "latency.p50") * 1e9;
    double whole_ns = assay__layers_whole(trial); /* of which the tables of layers give shares */
    review_layers(&r, whole_ns);
    if (!isfinite(whole_ns)) whole_ns = p50_ns;
    review_rest(&r, p50_ns, whole_ns);
    review_opportunities(&r, p50_ns, whole_ns);
    recommend(&r);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
