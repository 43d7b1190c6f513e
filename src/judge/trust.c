/* trust.c - how far the numbers of a trial can be trusted, with the reasons, and its key numbers.
 *
 * Timing the layers slows a run down, by a factor that is measured: layers that add up to that
 * factor are as expected, and only proportions are read from them. If they differ from it by more
 * than a quarter, they explain nothing. */
#include "judge/trust.h"

#include "base/metric_value.h"
#include "base/stats.h"
#include "base/text.h"
#include "cost/score.h"
#include "profile/trial_values.h"
#include "run/trial/tail.h"
#include "run/trial/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ADD_UP_LOW 0.75
#define ADD_UP_HIGH 1.25
/* (max - min) / median of launches that are too few for an interval. Student's interval of three
 * such launches is about ± 4.4 %, near what is accepted of more. */
#define AGREE_FEW 0.03
#define SLOWDOWN_SAID 1.05
#define SAID_OFF 0.05 /* from here on, the reasons say by how much layers miss the latency */

/* --- numbers ---------------------------------------------------------------------------------- */

double assay__launch_spread(const struct assay__trial *trial)
{
    size_t count;
    double *medians = assay__trial_costs(trial, "latency.p50", &count), spread = NAN;
    if (medians && count > 1) {
        assay__stats_sort(medians, count);
        spread = (medians[count - 1] - medians[0]) / assay__stats_median(medians, count);
    }
    free(medians);
    return spread;
}

bool assay__layers_were_asked(const struct assay__trial *trial)
{
    const char *method = trial->layers.method;
    return !trial->generation.tokens &&
           ((method && *method) || trial->protocol.layers != ASSAY_LAYERS_OFF);
}

double assay__layers_add_up(const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    double sum = 0, p50_ns = assay__trial_value(trial, "latency.p50") * 1e9;
    size_t timed = 0;
    for (size_t i = 0; i < layers->count; i++) {
        if (!assay__layer_is_timed(&layers->items[i])) continue;
        sum += layers->items[i].time_ns;
        timed++;
    }
    if (isfinite(layers->engine_ns)) sum += layers->engine_ns;
    return timed ? sum / p50_ns : (double)NAN;
}

/* Half the interval of the median between launches, or within a launch, relative to it. NaN
 * unknown. */
static double half_width(const struct assay__trial *trial, const char *low_name,
                         const char *high_name)
{
    double p50 = assay__trial_value(trial, "latency.p50"),
           low = assay__trial_value(trial, low_name), high = assay__trial_value(trial, high_name);
    return p50 > 0 ? (high - low) / 2 / p50 : (double)NAN;
}

static double between_launches(const struct assay__trial *trial)
{
    return half_width(trial, "latency.between_low", "latency.between_high");
}

static double between_runs(const struct assay__trial *trial)
{
    return half_width(trial, "latency.runs_low", "latency.runs_high");
}

static double within_launch(const struct assay__trial *trial)
{
    return half_width(trial, "latency.ci_low", "latency.ci_high");
}

/* --- the level -------------------------------------------------------------------------------- */

/* Markers time every layer of the same run: only then must the layers add up. */
static bool must_add_up(const struct assay__layers *layers)
{
    return layers->method && strcmp(layers->method, "markers") == 0;
}

static bool layers_are_off(const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    double ratio = assay__layers_add_up(trial);
    double explained = isfinite(layers->slowdown) ? fmax(1, layers->slowdown) : 1;
    return must_add_up(layers) && isfinite(ratio) &&
           (ratio < ADD_UP_LOW || ratio / explained > ADD_UP_HIGH);
}

/* Another launch would give about the same median, whatever happened within them: by the interval
 * that stability is judged by, or, if there are too few launches for one, by how they differ. */
static bool median_holds(const struct assay__trial *trial)
{
    double between = between_launches(trial);
    if (isfinite(between)) return between <= ASSAY__LAUNCHES_HALF_WIDTH;
    return assay__launch_spread(trial) <= AGREE_FEW; /* unknown: no */
}

/* The launches agree, but earlier runs on this machine were faster or slower by more than launches
 * may differ. */
static bool runs_differ(const struct assay__trial *trial)
{
    return between_runs(trial) > ASSAY__LAUNCHES_HALF_WIDTH; /* unknown: no */
}

static enum assay__trust find_level(const struct assay_profile *profile,
                                    const struct assay__trial *trial)
{
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    const char *verdict = trial->stability.verdict ? trial->stability.verdict : "";
    bool stopped = trial->state == ASSAY__TRIAL_INTERRUPTED ||
                   trial->state == ASSAY__TRIAL_RUNNING || profile->interrupted ||
                   !profile->complete;
    if (stopped) return ASSAY__TRUST_INTERRUPTED;
    if (!p50 || !(p50->value > 0)) return ASSAY__TRUST_FAILED;
    if (p50->state == ASSAY_ESTIMATED) return ASSAY__TRUST_ESTIMATED;
    bool unstable = strcmp(verdict, "unstable") == 0;
    if (unstable && !median_holds(trial)) return ASSAY__TRUST_NOISY;
    if (layers_are_off(trial)) return ASSAY__TRUST_LAYERS;
    if (unstable) return ASSAY__TRUST_UNSTEADY;
    if (strcmp(verdict, "too-few") == 0) return ASSAY__TRUST_FEW;
    if (strcmp(verdict, "stable") != 0) return ASSAY__TRUST_UNKNOWN;
    return isfinite(assay__trial_tail(trial).mean) || runs_differ(trial) ? ASSAY__TRUST_UNSTEADY
                                                                         : ASSAY__TRUST_STABLE;
}

static bool is_judged(enum assay__trust level)
{
    return level == ASSAY__TRUST_STABLE || level == ASSAY__TRUST_UNSTEADY ||
           level == ASSAY__TRUST_NOISY;
}

/* How far the median may be off, relative to it. NaN unknown, or not to be said. */
static double width_of(enum assay__trust level, const struct assay__trial *trial)
{
    double between = between_launches(trial), runs = between_runs(trial);
    if (!is_judged(level)) return NAN;
    if (level != ASSAY__TRUST_NOISY && isfinite(runs) && !runs_differ(trial)) return runs;
    if (isfinite(between)) return between;
    if (assay__trial_good_launches(trial) > 1) return NAN;
    double within = within_launch(trial);
    /* many samples make it narrow however irregular they are */
    return level == ASSAY__TRUST_NOISY && within <= ASSAY__LAUNCHES_HALF_WIDTH ? (double)NAN
                                                                               : within;
}

/* What is wrong although the median is known: "1 in 10 takes 4.1×"; "" */
static const char *despite(const struct assay__trial *trial, struct assay__arena *arena)
{
    struct assay__tail tail = assay__trial_tail(trial);
    double off = assay__layers_add_up(trial) - 1;
    bool stable = strcmp(trial->stability.verdict, "stable") == 0;
    if (stable && runs_differ(trial)) /* before a tail: the interval beside the median shows it */
        return assay__arena_text(arena, "runs differ by ±%s %%",
                                 assay__digits(between_runs(trial) * 100, 2).text);
    if (stable)
        return isfinite(tail.factor)
                   ? assay__arena_text(arena, "1 in %d takes %s×", tail.one_in,
                                       assay__digits(tail.factor, 2).text)
                   : assay__arena_text(arena, "mean %s×", assay__digits(tail.mean, 2).text);
    if (must_add_up(&trial->layers) && isfinite(between_launches(trial)) && fabs(off) > SAID_OFF)
        return assay__arena_text(arena, "layers off by %s %%",
                                 assay__digits(fabs(off) * 100, 2).text);
    return "";
}

/* " ±1.6 %" */
static const char *say_width(enum assay__trust level, double width,
                             const struct assay__trial *trial, struct assay__arena *arena)
{
    /* What is stable needs no second digit; of the others the reasons give it too. */
    int digits = level == ASSAY__TRUST_STABLE && width < 0.095 ? 1 : 2;
    bool within = isnan(between_launches(trial)) && assay__trial_good_launches(trial) == 1;
    if (!(width > 0)) return "";
    return assay__arena_text(arena, " ±%s %%%s", assay__digits(width * 100, digits).text,
                             within ? " within one launch" : "");
}

static const char *chip_of(enum assay__trust level, double width, const struct assay__trial *trial,
                           struct assay__arena *arena)
{
    static const char *const words[] = {
        [ASSAY__TRUST_STABLE] = "stable",       [ASSAY__TRUST_FEW] = "too few samples",
        [ASSAY__TRUST_ESTIMATED] = "estimated", [ASSAY__TRUST_UNKNOWN] = "not judged",
        [ASSAY__TRUST_UNSTEADY] = "unsteady",   [ASSAY__TRUST_LAYERS] = "layers do not add up",
        [ASSAY__TRUST_NOISY] = "noisy",         [ASSAY__TRUST_INTERRUPTED] = "interrupted",
        [ASSAY__TRUST_FAILED] = "failed"};
    double spread = assay__launch_spread(trial);
    const char *said = say_width(level, width, trial, arena);
    const char *but = level == ASSAY__TRUST_UNSTEADY ? despite(trial, arena) : "";
    if (*but) return assay__arena_text(arena, "median%s, %s", *said ? said : " steady", but);
    if (!*said && level == ASSAY__TRUST_NOISY && spread > 0)
        return assay__arena_text(arena, "%s, launches differ by %s %%", words[level],
                                 assay__digits(spread * 100, 2).text);
    return assay__arena_text(arena, "%s%s", words[level], said);
}

/* --- why -------------------------------------------------------------------------------------- */

static void add(struct assay__trial_verdict *out, struct assay__arena *arena, const char *reason)
{
    const char **grown = assay__arena_grow(arena, out->reasons, out->reason_count, sizeof *grown);
    if (!grown || !reason || !*reason) return;
    out->reasons = grown;
    grown[out->reason_count++] = reason;
}

static bool only_enqueued(const struct assay__layers *layers)
{
    bool enqueued = false;
    for (size_t i = 0; i < layers->count; i++)
        enqueued |= isfinite(layers->items[i].host_enqueue_ns) != 0;
    return enqueued;
}

/* Why no layer has a time: the reason of the layers themselves takes precedence over a note on all
 * of them. */
static const char *why_untimed(const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const char *note = NULL, *said = layers->reason ? layers->reason : "";
    bool differ = false;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        if (!l->note || !*l->note) continue;
        differ |= note && strcmp(note, l->note) != 0;
        if (!note) note = l->note;
    }
    if (only_enqueued(layers))
        return "the engine reports only how long the host took to enqueue each layer";
    if (note) return differ ? "no layer has a time; their notes say why" : note;
    if (*said) return said;
    if (!assay__layers_were_asked(trial)) return "";
    return trial->state != ASSAY__TRIAL_OK ? "the run ended before the layers were timed"
                                           : "the graph has no nodes left to time";
}

static void add_layers(const struct assay__trial *trial, struct assay__arena *arena,
                       struct assay__trial_verdict *out)
{
    const struct assay__layers *layers = &trial->layers;
    double ratio = assay__layers_add_up(trial);
    if (isnan(ratio)) {
        const char *why = why_untimed(trial);
        if (*why) add(out, arena, assay__arena_text(arena, "layer times are unknown: %s", why));
        if (only_enqueued(layers)) add(out, arena, layers->reason); /* what to do about it */
        return;
    }
    add(out, arena, layers->reason);
    if (fabs(ratio - 1) > SAID_OFF)
        add(out, arena,
            assay__arena_text(arena, "the layers add up to %s %% of the latency",
                              assay__digits(ratio * 100, 3).text));
    if (layers->slowdown > SLOWDOWN_SAID)
        add(out, arena,
            assay__arena_text(arena, "timing the layers made the run %s× as long",
                              assay__digits(layers->slowdown, 3).text));
    if (layers->scale_factor > 0 && fabs(layers->scale_factor - 1) > SAID_OFF)
        add(out, arena,
            assay__arena_text(arena, "layer times were scaled by %s to match the whole run",
                              assay__digits(layers->scale_factor, 3).text));
}

void assay__trust(const struct assay_profile *profile, const struct assay__trial *trial,
                  struct assay__arena *arena, struct assay__trial_verdict *out)
{
    out->trust = find_level(profile, trial);
    out->width = width_of(out->trust, trial);
    out->chip = chip_of(out->trust, out->width, trial, arena);
    if (trial->state != ASSAY__TRIAL_OK) add(out, arena, trial->reason);
    for (size_t i = 0; i < trial->stability.reason_count; i++)
        add(out, arena, trial->stability.reasons[i]);
    for (size_t i = 0; i < profile->environment.disturbance_count; i++)
        add(out, arena, profile->environment.disturbances[i]);
    if (out->trust == ASSAY__TRUST_UNSTEADY && runs_differ(trial))
        add(out, arena,
            assay__arena_text(arena,
                              "this machine changes between runs: the last %d of the same work "
                              "differ by ±%s %%, the launches of this one by less",
                              (int)assay__trial_value(trial, "latency.runs"),
                              assay__digits(between_runs(trial) * 100, 2).text));
    add_layers(trial, arena, out);
}

/* --- the key numbers -------------------------------------------------------------------------- */

static void add_kpi(struct assay__trial_verdict *out, const char *label,
                    const struct assay_metric *metric, bool is_rate)
{
    if (metric && assay__metric_is_known(metric) && out->kpi_count < ASSAY__KPIS)
        out->kpis[out->kpi_count++] = (struct assay__kpi){label, metric, is_rate};
}

/* The unit of its task: tokens, images, samples of a batch, else inferences. */
static void add_rate(const struct assay__trial *trial, struct assay__trial_verdict *out)
{
    static const struct {
        const char *metric, *label;
    } rates[] = {{"llm.decode", "tokens/s"},
                 {"throughput.images", "images/s"},
                 {"throughput.tokens", "tokens/s"},
                 {"throughput.samples", "samples/s"},
                 {"throughput.inferences", "inferences/s"}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0] && !out->kpi_count; i++) {
        bool single = strcmp(rates[i].metric, "throughput.samples") == 0 && trial->batch <= 1;
        if (!single)
            add_kpi(out, rates[i].label, assay__trial_metric(trial, rates[i].metric), true);
    }
}

static void add_rows(const struct assay__trial *trial, struct assay__trial_verdict *out,
                     const char *const (*rows)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_kpi(out, rows[i][1], assay__trial_metric(trial, rows[i][0]), false);
}

void assay__kpis(const struct assay__trial *trial, struct assay__trial_verdict *out)
{
    static const char *const times[][2] = {{"llm.ttft", "first token"},
                                           {"llm.itl", "between tokens"},
                                           {"realtime.factor", "real-time factor"},
                                           {"latency.p95", "p95"},
                                           {"latency.p99", "p99"},
                                           {"compute.rate", "compute"}};
    const char *const costs[][2] = {{"energy.inference.gross", trial->batch > 1 ? "energy per batch"
                                                               : strcmp(out->noun, "image") == 0
                                                                   ? "energy per image"
                                                                   : "energy per inference"},
                                    {"power.average", "power"}};
    add_rate(trial, out);
    add_rows(trial, out, times, sizeof times / sizeof times[0]);
    bool apart = trial->target.device_class == ASSAY__CLASS_GPU ||
                 trial->target.device_class == ASSAY__CLASS_NPU; /* it has memory of its own */
    add_kpi(out, "peak memory", assay__peak_memory(trial->metrics, !apart), false);
    add_rows(trial, out, costs, sizeof costs / sizeof costs[0]);
}
