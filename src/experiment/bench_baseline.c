/* bench_baseline.c - compares each benchmark with an earlier profile by the rank test on the
 * throughputs of the launches. The two did not alternate: the interval covers the spread between
 * launches, not changes of the machine between the runs. So the notes say what else differs. */
#include "experiment/bench_baseline.h"

#include "base/metric_value.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "judge/comparison.h"
#include "judge/diff.h"

#include <math.h>
#include <string.h>

#define POSSIBLE 50 /* weight of a difference that may explain another speed (judge/diff.h) */

static const char throughput[] = "throughput.inferences";

int assay__bench_baseline_open(const char *path, struct assay_profile **baseline,
                               struct assay_error *error)
{
    int code = assay_profile_open(path, baseline, error);
    if (code || (*baseline)->kind == ASSAY__PROFILE_BENCH) return code;
    const char *command = (*baseline)->command;
    code = assay__refuse_option(error, "against", "%s is a profile of '%s', not of benchmarks",
                                path, command && *command ? command : "another command");
    assay_profile_close(*baseline);
    *baseline = NULL;
    return code;
}

/* The same benchmark on the same device; if the baseline has only one device, on that. *other: on
 * another device of several. */
static const struct assay__trial *find(const struct assay_profile *baseline,
                                       const struct assay__trial *trial, bool *other)
{
    const char *name = assay__trial_axis(trial, ASSAY__AXIS_BENCHMARK);
    const struct assay__trial *found = NULL;
    bool single = true;
    *other = false;
    for (size_t i = 0; i < baseline->trial_count; i++) {
        const struct assay__trial *t = &baseline->trials[i];
        single &= strcmp(t->target.device, baseline->trials[0].target.device) == 0;
        if (strcmp(assay__trial_axis(t, ASSAY__AXIS_BENCHMARK), name) != 0) continue;
        if (strcmp(t->target.device, trial->target.device) == 0) return t;
        found = t;
    }
    *other = found && !single;
    return single ? found : NULL;
}

/* "engine version 1.30.0 → 1.31.1, processor A → B": what may explain another speed. */
static const char *list_differences(const struct assay_profile *now,
                                    const struct assay__trial *trial,
                                    const struct assay_profile *baseline,
                                    const struct assay__trial *base, struct assay__arena *arena)
{
    struct assay__diff_side sides[] = {{.profile = baseline, .trial = base},
                                       {.profile = now, .trial = trial}};
    struct assay__diff diff = {.sides = sides, .count = 2};
    const char *list = "";
    assay__diff_causes(&diff, arena);
    for (size_t i = 0; i < diff.cause_count; i++) {
        const struct assay__diff_cause *cause = &diff.causes[i];
        bool place = strcmp(cause->kind, "engine") == 0 || strcmp(cause->kind, "machine") == 0 ||
                     strcmp(cause->kind, "option") == 0;
        if (!(place && cause->weight >= POSSIBLE) && strcmp(cause->name, "assay version") != 0)
            continue;
        list = assay__arena_text(arena, "%s%s%s %s → %s", list, *list ? ", " : "", cause->name,
                                 cause->values[0], cause->values[1]);
    }
    return list;
}

/* Why the two cannot be compared; "" they can. */
static const char *objection(const struct assay__trial *trial, const struct assay__trial *base,
                             bool other)
{
    if (!base)
        return other ? "the baseline has it on other devices only"
                     : "the baseline does not have this benchmark";
    if (strcmp(trial->model->fingerprint, base->model->fingerprint) != 0)
        return "the baseline measured another model under this name";
    if (!(assay__trial_value(base, throughput) > 0)) return "the baseline has no throughput for it";
    return assay__trial_value(trial, throughput) > 0 ? "" : "it has no throughput";
}

static void put(struct assay_profile *now, struct assay__trial *trial,
                const struct assay_profile *baseline, const char *withdrawn,
                struct assay__arena *arena)
{
    bool other;
    const struct assay__trial *base = find(baseline, trial, &other);
    const char *no = objection(trial, base, other), *reason = "", *note = "";
    struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
    double before = NAN;
    if (!*no) {
        const char *differ = list_differences(now, trial, baseline, base, arena);
        note = assay__arena_text(arena, "%s (%s)%s%s", baseline->path, baseline->created,
                                 *differ ? "; differs in: " : "", differ);
        before = assay__trial_value(base, throughput);
        ratio = assay__comparison_launches(base, trial, throughput, arena, &reason);
        if (isnan(ratio.ratio)) ratio.ratio = assay__trial_value(trial, throughput) / before;
        if (*withdrawn) ratio.ci.low = ratio.ci.high = ratio.p_value = NAN;
    }
    const char *missing = *no ? no : *withdrawn ? withdrawn : reason;
    const struct {
        const char *name;
        double value;
    } rows[] = {{"bench.baseline", before},        {"bench.ratio", ratio.ratio},
                {"bench.ratio_low", ratio.ci.low}, {"bench.ratio_high", ratio.ci.high},
                {"bench.p_value", ratio.p_value},  {"bench.smallest_difference", ratio.smallest}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assay__metrics_put_known(trial->metrics, rows[i].name, ASSAY_DERIVED, rows[i].value,
                                 "baseline", i ? "" : note, missing);
}

int assay__bench_baseline_put(struct assay_profile *now, const struct assay_profile *baseline,
                              struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    int failed = arena ? 0 : ASSAY_ENOMEM;
    const char *withdrawn = failed ? "" : assay__load_withdraws(now, arena);
    if (!failed && !*withdrawn) {
        withdrawn = assay__load_withdraws(baseline, arena);
        if (*withdrawn) withdrawn = assay__arena_text(arena, "the baseline: %s", withdrawn);
    }
    for (size_t i = 0; i < now->trial_count && !failed; i++) {
        put(now, &now->trials[i], baseline, withdrawn, arena);
        failed = assay_metrics_failed(now->trials[i].metrics);
    }
    failed |= arena && assay__arena_failed(arena);
    assay__arena_free(arena);
    return failed ? assay__no_memory(error) : 0;
}
