/* advise.c - evaluates every rule of the tables on one trial and sorts the findings. A rule whose
 * inputs are incomplete is not called; the result says what is missing. */
#include "advise/advise.h"

#include "advise/finding_rank.h"
#include "advise/rules.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(FAMILY) assay__rules_##FAMILY,
static const struct assay__rule *const families[] = {ASSAY__RULE_FAMILIES(ROW)};

const struct assay__rule *assay__rule_at(size_t index)
{
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
        for (size_t i = 0; families[f][i].id; i++)
            if (index-- == 0) return &families[f][i];
    return NULL;
}

const struct assay__rule *assay__rule_find(const char *id)
{
    const struct assay__rule *rule;
    for (size_t i = 0; (rule = assay__rule_at(i)); i++)
        if (strcmp(rule->id, id) == 0) return rule;
    return NULL;
}

/* --- inputs ----------------------------------------------------------------------------------- */

static const char *const need_names[ASSAY__NEED_COUNT] = {
    "latency",     "layers", "costs",  "ceilings", "memory", "counters",
    "allocations", "model",  "shapes", "start",    "trials"};

static const char *no_layers(const struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    for (size_t i = 0; i < layers->count; i++)
        if (assay__advice_time(&layers->items[i]) > 0) return NULL;
    if (!layers->count && a->trial->generation.tokens > 0)
        return "layers: not timed during a whole generation (profile a single step, such as "
               "gpt2:phase=decode,past=32)";
    if (layers->count) return "layers: the engine reports only enqueue times";
    return layers->reason && *layers->reason ? layers->reason : "layers: they were not timed";
}

/* Is one of the metrics known? */
static bool knows(const struct assay__advice *a, const char *const *metrics)
{
    while (*metrics && !isfinite(assay__trial_value(a->trial, *metrics)))
        metrics++;
    return *metrics;
}

/* What is missing for that input; NULL: nothing. */
static const char *missing(const struct assay__advice *a, enum assay__need need)
{
    static const char *const memory[] = {"memory.peak.worker", "memory.peak.device", NULL};
    static const char *const counters[] = {"hardware.cpus_busy", "hardware.page_faults",
                                           "hardware.context_switches", "hardware.cycles", NULL};
    static const char *const start[] = {"timing.session", "timing.first", NULL};
    const struct assay__layers *layers = &a->trial->layers;
    const struct assay__allocations *all = &a->trial->allocations;
    switch (need) {
    case ASSAY__NEED_LATENCY: return a->p50_ns > 0 ? NULL : "latency: no inference was timed";
    case ASSAY__NEED_LAYERS: return no_layers(a);
    case ASSAY__NEED_COSTS:
        for (size_t i = 0; i < layers->count; i++)
            if (isfinite(layers->items[i].flops) && isfinite(layers->items[i].bytes)) return NULL;
        return "costs: no layer's FLOPs and bytes are known";
    case ASSAY__NEED_CEILINGS:
        if (a->roofline.reason && *a->roofline.reason) return a->roofline.reason;
        return a->roofline.least_of_ns > 0 ? NULL : "ceilings: none that fit a layer were measured";
    case ASSAY__NEED_MEMORY:
        return knows(a, memory) ? NULL
                                : "memory: the peaks of the worker and the device are unknown";
    case ASSAY__NEED_COUNTERS: return knows(a, counters) ? NULL : "counters: none were read";
    case ASSAY__NEED_ALLOCATIONS:
        if (!all->reason) return "allocations: they were not counted";
        return *all->reason ? all->reason : NULL;
    case ASSAY__NEED_MODEL: return a->model ? NULL : a->model_reason;
    case ASSAY__NEED_SHAPES:
        return a->analysis ? NULL : a->model ? a->shapes_reason : a->model_reason;
    case ASSAY__NEED_START:
        return knows(a, start)
                   ? NULL
                   : "start: neither the session's creation nor the first inference was timed";
    case ASSAY__NEED_TRIALS:
        for (size_t i = 0; i < a->profile->trial_count; i++) {
            const struct assay__trial *t = &a->profile->trials[i];
            if (t->state == ASSAY__TRIAL_OK && t->batch > 0 && t->batch != a->trial->batch)
                return NULL;
        }
        return "an experiment: sweep batch sizes around a power of two, such as 7,8,9";
    }
    return NULL;
}

void assay__rule_needs(struct assay__buf *out, const struct assay__rule *rule)
{
    const char *mark = "";
    for (size_t i = 0; i < ASSAY__NEED_COUNT; i++) {
        if (!(rule->needs & (1u << i))) continue;
        assay__buf_printf(out, "%s%s", mark, need_names[i]);
        mark = ", ";
    }
    if (!*mark) assay__buf_puts(out, "the profile");
}

const char *assay__rule_outcome_name(enum assay__rule_outcome outcome)
{
    static const char *const names[] = {"nothing", "found", "not-evaluated"};
    return names[outcome];
}

const char *assay__rule_gain_of(const char *id)
{
    const struct assay__rule *rule = assay__rule_find(id);
    unsigned flags = rule ? rule->needs : 0;
    return flags & ASSAY__POTENTIAL_SAMPLES  ? "samples per second"
           : flags & ASSAY__POTENTIAL_TOKENS ? "time per token"
                                             : "latency";
}

void assay__rules_markdown(struct assay__buf *out)
{
    const struct assay__rule *rule;
    const char *family = "";
    for (size_t i = 0; (rule = assay__rule_at(i)); i++) {
        if (strcmp(family, rule->family) != 0)
            assay__buf_printf(out,
                              "%s## %s\n\n| rule | finding | looks for | needs | effort |\n"
                              "|---|---|---|---|---|\n",
                              i ? "\n" : "", rule->family);
        family = rule->family;
        assay__buf_printf(out, "| `%s` | %s | %s | ", rule->id, rule->title, rule->looks);
        assay__rule_needs(out, rule);
        assay__buf_printf(out, " | %s |\n", rule->effort);
    }
}

/* --- evaluation ------------------------------------------------------------------------------- */

/* The layers that the finding is about, in order of execution. */
static void keep_layers(struct assay__advice *advice, struct assay__finding *f)
{
    const struct assay__layers *layers = &advice->trial->layers;
    size_t count = 0;
    for (size_t i = 0; advice->about && i < layers->count; i++)
        count += advice->about[i];
    int *kept = count ? assay__arena_array(advice->profile->arena, count, sizeof *kept) : NULL;
    for (size_t i = 0; kept && i < layers->count; i++)
        if (advice->about[i]) kept[f->layer_count++] = layers->items[i].index;
    f->layers = kept;
}

static void evaluate(struct assay__advice *advice, const struct assay__rule *rule,
                     struct assay__rule_result *result)
{
    struct assay__finding *f = &result->finding;
    const char *why = NULL;
    *result = (struct assay__rule_result){.rule = rule, .missing = ""};
    *f = (struct assay__finding){
        .id = rule->id,
        .severity = rule->severity,
        .title = rule->title,
        .advice = "",
        .effort = rule->effort,
        .state = "open",
        .reason = "",
        .verified_of = "",
        .tried = "",
        .drift_note = "",
        .expected_gain = NAN,
        .verified_gain = NAN,
        .energy_saving = NAN,
    };
    advice->result = result;
    for (size_t i = 0; advice->about && i < advice->trial->layers.count; i++)
        advice->about[i] = false;
    for (size_t i = 0; i < ASSAY__NEED_COUNT && !why; i++)
        if (rule->needs & (1u << i)) why = missing(advice, (enum assay__need)(1u << i));
    result->outcome = why ? assay__rule_missing(advice, why) : rule->evaluate(advice);
    advice->found += result->outcome == ASSAY__RULE_FOUND;
    advice->missing += result->outcome == ASSAY__RULE_MISSING;
    advice->nothing += result->outcome == ASSAY__RULE_NOTHING;
    if (result->outcome != ASSAY__RULE_FOUND) return;
    if (isfinite(f->expected_gain))
        f->severity = f->expected_gain >= ASSAY__GAIN_HIGH     ? "high"
                      : f->expected_gain >= ASSAY__GAIN_MEDIUM ? "medium"
                                                               : "low";
    keep_layers(advice, f);
    if (rule->advice) f->advice = rule->advice;
    if (f->expected_gain > 1 && assay__trial_value(advice->trial, "energy.inference.gross") > 0)
        f->energy_saving = 1 - 1 / f->expected_gain; /* the same power for a shorter time */
    if (rule->apply) rule->apply(advice, &result->change);
}

static int by_rank(const void *left, const void *right)
{
    const struct assay__rule_result *a = *(const struct assay__rule_result *const *)left,
                                    *b = *(const struct assay__rule_result *const *)right;
    int order = assay__finding_compare(&a->finding, &b->finding);
    return order ? order : a < b ? -1 : a > b; /* the order of the tables among equals */
}

/* Evaluates the requested rules; the profile's findings are replaced by the result. */
static int evaluate_all(struct assay__advice *advice, const struct assay__advise_options *options)
{
    const struct assay__rule *rule;
    size_t rules = 0;
    while (assay__rule_at(rules))
        rules++;
    advice->results = assay__arena_array(advice->arena, rules, sizeof *advice->results);
    advice->about = assay__arena_array(advice->arena, advice->trial->layers.count + 1,
                                       sizeof *advice->about);
    if (!advice->results || !advice->about) return ASSAY_ENOMEM;
    for (size_t i = 0; (rule = assay__rule_at(i)); i++) {
        bool wanted = options->only_count == 0;
        for (size_t k = 0; k < options->only_count && !wanted; k++)
            wanted = strcmp(options->only[k], rule->id) == 0;
        if (wanted) evaluate(advice, rule, &advice->results[advice->result_count++]);
    }
    struct assay_profile *profile = advice->profile;
    const struct assay__rule_result **found = assay__arena_array(advice->arena, advice->found + 1,
                                                                 sizeof *found);
    struct assay__finding *findings = assay__arena_array(profile->arena, advice->found + 1,
                                                         sizeof *findings);
    size_t count = 0;
    if (!found || !findings) return ASSAY_ENOMEM;
    for (size_t i = 0; i < advice->result_count; i++)
        if (advice->results[i].outcome == ASSAY__RULE_FOUND) found[count++] = &advice->results[i];
    qsort(found, count, sizeof *found, by_rank);
    for (size_t i = 0; i < count; i++)
        findings[i] = found[i]->finding;
    profile->findings = findings;
    profile->finding_count = count;
    bool failed = assay__arena_failed(advice->arena) || assay__arena_failed(profile->arena);
    return failed ? ASSAY_ENOMEM : 0;
}

int assay__advise(struct assay_profile *profile, const struct assay__advise_options *options,
                  struct assay__advice **out, struct assay_error *error)
{
    static const struct assay__advise_options all = {.trial = SIZE_MAX};
    if (!options) options = &all;
    *out = NULL;
    size_t at = options->trial == SIZE_MAX ? 0 : options->trial;
    for (size_t i = 0; i < profile->trial_count && options->trial == SIZE_MAX; i++) {
        at = i;
        if (profile->trials[i].state == ASSAY__TRIAL_OK) break;
    }
    const struct assay__trial *trial = at < profile->trial_count ? &profile->trials[at] : NULL;
    if (!trial) return assay_error_set(error, ASSAY_ENOTFOUND, "the profile has no such trial");
    struct assay__advice *advice = calloc(1, sizeof *advice);
    int code = ASSAY_ENOMEM;
    if (!advice) goto out;
    *advice = (struct assay__advice){.profile = profile,
                                     .trial = trial,
                                     .p50_ns = assay__trial_value(trial, "latency.p50") * 1e9,
                                     .arena = assay__arena_new()};
    if (!advice->arena) goto out;
    code = assay__roofline(profile, trial, advice->arena, &advice->roofline);
    if (code == 0) code = assay__advice_open_model(advice, options->model);
    if (code == 0) code = evaluate_all(advice, options);
    if (code) goto out;
    *out = advice;
    return 0;
out:
    assay__advice_free(advice);
    return assay_error_set(error, code, "%s", assay_error_text(code));
}

const struct assay__rule_result *assay__advice_finding(const struct assay__advice *advice,
                                                       size_t index)
{
    if (index >= advice->profile->finding_count) return NULL;
    for (size_t i = 0; i < advice->result_count; i++)
        if (advice->results[i].outcome == ASSAY__RULE_FOUND &&
            strcmp(advice->results[i].rule->id, advice->profile->findings[index].id) == 0)
            return &advice->results[i];
    return NULL;
}

void assay__advice_free(struct assay__advice *advice)
{
    if (!advice) return;
    assay__advice_close_model(advice);
    assay__arena_free(advice->arena);
    free(advice);
}
