/* verdict.c - the sentence. It is composed of parts, each in a longer and a shorter form; the first
 * combination of at most 20 words is used. */
#include "judge/verdict.h"

#include "judge/trust.h"
#include "profile/trial_values.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* share of the layers' time that must have a roof to judge the whole by roofs */
#define COVERED 0.9
#define AT_PEAK 1.05   /* up to this multiple it counts as running at its peak */
#define SHARE_SAID 0.1 /* below it nothing takes much */

size_t assay__count_words(const char *text)
{
    size_t words = 0;
    while (*(text += strspn(text, " "))) {
        words++;
        text += strcspn(text, " ");
    }
    return words;
}

/* --- what the sentence is based on ------------------------------------------------------------ */

static const char *noun_of(const struct assay__trial *trial, struct assay__arena *arena)
{
    bool images = assay__trial_metric(trial, "throughput.images") != NULL;
    if (trial->batch > 1) return assay__arena_text(arena, "batch of %" PRId64, trial->batch);
    return trial->generation.tokens ? "generation" : images ? "image" : "inference";
}

/* The latency relative to what the roofs allow; layers without a roof keep their time. */
static double find_distance(const struct assay__trial *trial, const struct assay__roofline *r)
{
    double p50_ns = assay__trial_value(trial, "latency.p50") * 1e9, sum = 0;
    for (size_t i = 0; i < trial->layers.count; i++)
        if (assay__layer_is_timed(&trial->layers.items[i])) sum += trial->layers.items[i].time_ns;
    if (r->reason[0] || !(r->least_ns > 0) || !(r->least_of_ns >= COVERED * sum)) return NAN;
    double distance = p50_ns / (r->least_ns + fmax(0, sum - r->least_of_ns));
    return distance >= 1 ? distance : NAN; /* faster than its roofs: a ceiling must be wrong */
}

struct part {
    const char *op;
    double time_ns, lost_ns;
};

static int by_op(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return strcmp(a->op, b->op);
}

/* The layers' operators with their times and what they lose; one each. */
static struct part *sum_operators(const struct assay__trial *trial, const struct assay__roofline *r,
                                  struct assay__arena *arena, size_t *count)
{
    const struct assay__layers *layers = &trial->layers;
    struct part *parts = assay__arena_array(arena, layers->count + 1, sizeof *parts);
    size_t timed = 0;
    *count = 0;
    for (size_t i = 0; parts && i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        if (!assay__layer_is_timed(l)) continue;
        double least = !r->reason[0] && i < r->layer_count ? r->layers[i].least_ns : (double)NAN;
        parts[timed++] = (struct part){l->op ? l->op : "", l->time_ns,
                                       isfinite(least) ? fmax(0, l->time_ns - least) : 0};
    }
    if (timed) qsort(parts, timed, sizeof *parts, by_op);
    for (size_t i = 0; i < timed; i++) {
        struct part *last = *count ? &parts[*count - 1] : NULL;
        if (last && strcmp(last->op, parts[i].op) == 0) {
            last->time_ns += parts[i].time_ns;
            last->lost_ns += parts[i].lost_ns;
        } else {
            parts[(*count)++] = parts[i];
        }
    }
    return parts;
}

/* What takes most of an inference: an operator's layers, the cost of running small layers, the
 * engine, or nobody knows. *loser: the operator that loses most against its roofs, where that is
 * another; "". */
static void find_cause(const struct assay__trial *trial, const struct assay__roofline *r,
                       struct assay__arena *arena, struct assay__trial_verdict *out,
                       const char **loser)
{
    const struct assay__layers *layers = &trial->layers;
    double whole = assay__layers_whole(trial);
    size_t count;
    const struct part *parts = sum_operators(trial, r, arena, &count);
    struct part longest = {"", 0, 0}, most = {"", 0, 0};
    for (size_t i = 0; i < count; i++) {
        if (parts[i].time_ns > longest.time_ns) longest = parts[i];
        if (parts[i].lost_ns > most.lost_ns) most = parts[i];
    }
    *loser = *most.op && strcmp(most.op, longest.op) != 0 && most.lost_ns > longest.lost_ns
                 ? most.op
                 : "";
    if (!(longest.time_ns > 0) || !(whole > 0)) return;
    double small_ns = r->reason[0] ? 0 : r->time_ns[ASSAY__BOUND_OVERHEAD];
    if (small_ns > longest.time_ns) {
        longest = (struct part){"overhead of small layers", small_ns, 0};
        *loser = "";
    }
    if (layers->engine_ns > longest.time_ns && layers->engine_ns >= layers->unattributed_ns)
        longest = (struct part){"engine overhead", layers->engine_ns, 0};
    else if (layers->unattributed_ns > longest.time_ns)
        longest = (struct part){"no layer", layers->unattributed_ns, 0};
    out->cause = longest.op;
    out->cause_share = longest.time_ns / whole;
}

/* --- its parts -------------------------------------------------------------------------------- */

enum { LONG, SHORT, FORMS };

struct parts {
    const char *time, *distance[FORMS], *cause[FORMS], *fix[FORMS]; /* "" where unknown */
};

static const char *device_word(const struct assay__trial *trial)
{
    static const char *const words[ASSAY__CLASS_COUNT] = {"device", "CPU", "GPU", "NPU"};
    return words[trial->target.device_class];
}

static struct assay__digits percent(double share)
{
    return assay__digits(share * 100, share < 0.1 ? 1 : 2);
}

static const char *say_time(const struct assay__trial *trial, const char *noun,
                            struct assay__arena *arena)
{
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50"),
                              *rate = assay__trial_metric(trial, "llm.decode"),
                              *first = assay__trial_metric(trial, "llm.ttft");
    const char *state = p50->state == ASSAY_ESTIMATED ? "Estimated: " : "";
    if (trial->generation.tokens && rate && first)
        return assay__arena_text(arena, "%s%s tokens/s, the first after %s", state,
                                 assay__digits(rate->value, 3).text,
                                 assay__scaled(first->value, "s").text);
    return assay__arena_text(arena, "%s%s per %s", state, assay__scaled(p50->value, "s").text,
                             noun);
}

static void say_distance(const struct assay__trial *trial, double distance,
                         struct assay__arena *arena, struct parts *say)
{
    say->distance[LONG] = say->distance[SHORT] = "";
    if (!isfinite(distance)) return;
    if (distance <= AT_PEAK) {
        say->distance[LONG] = assay__arena_text(arena, ", at the peak of this %s",
                                                device_word(trial));
        say->distance[SHORT] = ", at its peak";
        return;
    }
    const char *times = assay__arena_text(arena, "%s×", assay__digits(distance, 2).text);
    say->distance[LONG] = assay__arena_text(arena, ", %s the time this %s would need at its peak",
                                            times, device_word(trial));
    say->distance[SHORT] = assay__arena_text(arena, ", %s its time at peak", times);
}

static void say_cause(const struct assay__trial *trial, const struct assay__trial_verdict *v,
                      const char *loser, struct assay__arena *arena, struct parts *say)
{
    bool missing = isnan(assay__layers_add_up(trial)) && assay__layers_were_asked(trial);
    say->cause[LONG] = say->cause[SHORT] = missing ? "; layer times are unknown" : "";
    if (!*v->cause || v->cause_share < SHARE_SAID) return;
    say->cause[SHORT] = strcmp(v->cause, "no layer") == 0
                            ? assay__arena_text(arena, "; %s %% is in no layer",
                                                percent(v->cause_share).text)
                            : assay__arena_text(arena, "; %.40s takes %s %%", v->cause,
                                                percent(v->cause_share).text);
    say->cause[LONG] = *loser ? assay__arena_text(arena, "%s, %.40s loses most", say->cause[SHORT],
                                                  loser)
                              : say->cause[SHORT];
}

static void say_fix(const struct assay__finding *fix, struct assay__arena *arena, struct parts *say)
{
    say->fix[LONG] = say->fix[SHORT] = "";
    if (!fix) return;
    bool rate = strcmp(fix->verified_of, "latency") != 0;
    struct assay__digits gain = assay__digits(fix->verified_gain, 2);
    const char *what = rate ? "the throughput" : "as fast";
    say->fix[SHORT] = assay__arena_text(arena, "; a verified change: %s× %s", gain.text, what);
    say->fix[LONG] = fix->tried && *fix->tried ? assay__arena_text(arena, "; %.60s measured %s× %s",
                                                                   fix->tried, gain.text, what)
                                               : say->fix[SHORT];
}

/* --- together --------------------------------------------------------------------------------- */

/* The forms of distance, cause and fix to try, the most detailed first; -1: left out. */
static const signed char forms[][3] = {
    {LONG, LONG, LONG},   {SHORT, LONG, LONG},   {LONG, SHORT, LONG}, {SHORT, SHORT, LONG},
    {SHORT, LONG, SHORT}, {SHORT, SHORT, SHORT}, {SHORT, -1, LONG},   {SHORT, -1, SHORT},
    {-1, -1, LONG},       {-1, -1, SHORT},       {SHORT, SHORT, -1},  {-1, -1, -1},
};

static const char *form(const char *const *texts, int which)
{
    return which < 0 ? "" : texts[which];
}

static const char *join(const struct parts *say, struct assay__arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        text = assay__arena_text(arena, "%s%s%s%s.", say->time, form(say->distance, forms[i][0]),
                                 form(say->cause, forms[i][1]), form(say->fix, forms[i][2]));
        if (assay__count_words(text) <= ASSAY__VERDICT_WORDS) break;
    }
    return text;
}

/* The median itself is uncertain: as the quality mark says it. */
static const char *say_noise(const struct assay__trial *trial, const struct assay__trial_verdict *v,
                             struct assay__arena *arena)
{
    double spread = assay__launch_spread(trial);
    if (isnan(spread))
        return "Too noisy to trust: irregular within its only launch. Measure again on an idle "
               "machine, with more launches.";
    if (v->width > 0)
        return assay__arena_text(arena,
                                 "Too noisy to trust: the median is only known to ±%s %%. Measure "
                                 "again on an idle machine.",
                                 assay__digits(v->width * 100, 2).text);
    return assay__arena_text(arena,
                             "Too noisy for so few launches: %zu differ by %s %%. Measure again on "
                             "an idle machine, with more.",
                             assay__trial_good_launches(trial),
                             assay__digits(spread * 100, 2).text);
}

/* For numbers that cannot be trusted: says so, and what to do. */
static const char *say_trust(const struct assay__trial *trial, const struct assay__trial_verdict *v,
                             struct assay__arena *arena)
{
    double samples = assay__trial_value(trial, "latency.samples");
    switch (v->trust) {
    case ASSAY__TRUST_FAILED:
        return "Nothing was measured: fix the problem shown here and run it again.";
    case ASSAY__TRUST_INTERRUPTED:
        return samples > 0
                   ? assay__arena_text(arena,
                                       "Interrupted after %s sample%s: run it again to completion.",
                                       assay__digits(samples, 3).text, samples == 1 ? "" : "s")
                   : "Interrupted: run it again to completion.";
    case ASSAY__TRUST_NOISY: return say_noise(trial, v, arena);
    case ASSAY__TRUST_LAYERS:
        return assay__arena_text(arena,
                                 "%s, but the layers add up to %s %%: measure again when idle.",
                                 say_time(trial, v->noun, arena),
                                 assay__digits(assay__layers_add_up(trial) * 100, 2).text);
    default: return NULL;
    }
}

int assay__trial_verdict(const struct assay_profile *profile, const struct assay__trial *trial,
                         const struct assay__roofline *roofline, struct assay__arena *arena,
                         struct assay__trial_verdict *out)
{
    struct parts say;
    const char *loser = "";
    *out = (struct assay__trial_verdict){.cause = "", .distance = NAN, .cause_share = NAN};
    out->noun = noun_of(trial, arena);
    assay__trust(profile, trial, arena, out);
    assay__kpis(trial, out);
    out->text = say_trust(trial, out, arena);
    if (out->text) return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
    out->distance = find_distance(trial, roofline);
    find_cause(trial, roofline, arena, out, &loser);
    out->fix = assay__best_verified(profile);
    say.time = say_time(trial, out->noun, arena);
    say_distance(trial, out->distance, arena, &say);
    say_cause(trial, out, loser, arena, &say);
    say_fix(out->fix, arena, &say);
    out->text = join(&say, arena);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}

const struct assay__finding *assay__best_verified(const struct assay_profile *profile)
{
    const struct assay__finding *best[2] = {NULL, NULL}; /* of the latency; of something else */
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__finding *f = &profile->findings[i];
        if (!f->state || strcmp(f->state, "verified") != 0 || !(f->verified_low > 1)) continue;
        int other = !f->verified_of || strcmp(f->verified_of, "latency") != 0;
        if (!best[other] || f->verified_gain > best[other]->verified_gain) best[other] = f;
    }
    return best[0] ? best[0] : best[1];
}
