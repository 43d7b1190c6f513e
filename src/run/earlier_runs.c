/* earlier_runs.c - the file: {"assay_runs": 1, "key": "…", "medians_s": [12.1e-6, …]}, oldest
 * first. It is untrusted: what no run could have written makes it void, and a new one begins. */
#include "run/earlier_runs.h"

#include "base/file.h"
#include "base/json.h"
#include "base/stats.h"
#include "model/cache_file.h"
#include "profile/trial_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1
#define FILE_MOST ((size_t)1 << 16)
#define RATIO_MOST 100.0 /* no drift of a machine is that large: it is other work */

struct history {
    double medians_s[ASSAY__EARLIER_RUNS + 1]; /* the last one is this run's */
    size_t count;
};

double assay__earlier_runs_half_width(const double *medians, size_t count)
{
    /* 97.5 % quantiles of Student's t with 2, 3, … 10 degrees of freedom */
    static const double t[] = {4.3027, 3.1824, 2.7764, 2.5706, 2.4469,
                               2.3646, 2.3060, 2.2622, 2.2281};
    double logs[ASSAY__EARLIER_RUNS + 1];
    if (count < ASSAY__EARLIER_LEAST || count > ASSAY__EARLIER_RUNS + 1) return NAN;
    for (size_t i = 0; i < count; i++)
        logs[i] = log(medians[i]);
    return expm1(t[count - ASSAY__EARLIER_LEAST] * assay__stats_stddev(logs, count));
}

/* --- the key and the file --------------------------------------------------------------------- */

/* What must be the same for two runs to be repeats of each other; one per line. How many launches
 * it took is a result: a default run adds launches until they agree. */
static const char *make_key(const struct assay_profile *profile, const struct assay__trial *trial,
                            struct assay__arena *arena)
{
    const struct assay__environment *e = &profile->environment;
    const struct assay__target *target = &trial->target;
    struct assay__buf buf = {0};
    assay__buf_printf(&buf, "model %s %s\n", trial->model->name, trial->model->fingerprint);
    for (size_t i = 0; i < trial->input_count; i++) {
        const struct assay__tensor_info *input = &trial->inputs[i];
        assay__buf_printf(&buf, "input %s %s %s", input->name, input->dtype, input->fill);
        for (int d = 0; d < input->rank; d++)
            assay__buf_printf(&buf, " %lld", (long long)input->dims[d]);
        assay__buf_printf(&buf, "\n");
    }
    assay__buf_printf(&buf, "engine %s %s %s\ndevice %s\n", target->engine, target->engine_version,
                      target->engine_library, target->device);
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, "launches") != 0)
            assay__buf_printf(&buf, "%s %s\n", trial->options[i].key, trial->options[i].value);
    assay__buf_printf(&buf, "host %s %s %s\ncpu %s %d %d\n", e->host, e->kernel, e->container,
                      e->cpu_model, e->cores, e->threads);
    return assay__buf_keep(&buf, arena);
}

static bool read_medians(const struct assay__json *list, double p50_s, struct history *history)
{
    if (!list || list->kind != ASSAY__JSON_ARRAY || list->count > ASSAY__EARLIER_RUNS) return false;
    for (const struct assay__json *at = list->first; at; at = at->next) {
        double ratio = at->kind == ASSAY__JSON_NUMBER ? at->number / p50_s : (double)NAN;
        if (!(ratio > 1 / RATIO_MOST && ratio < RATIO_MOST)) return false;
        history->medians_s[history->count++] = at->number;
    }
    return true;
}

/* Nothing, if there is no file or none that can be used. */
static void load(struct assay__arena *arena, const char *path, const char *key, double p50_s,
                 struct history *history)
{
    struct assay_error ignored = {0};
    struct assay__json *root = NULL;
    char *text = NULL;
    size_t length = 0;
    if (assay__file_read(path, FILE_MOST, &text, &length, &ignored)) return;
    if (assay__json_parse(arena, text, length, &root, &ignored) == 0 &&
        assay__json_get_integer(root, "assay_runs", -1) == FORMAT &&
        strcmp(assay__json_get_string(root, "key", ""), key) == 0 &&
        !read_medians(assay__json_get(root, "medians_s"), p50_s, history))
        history->count = 0;
    free(text);
}

static int save(const char *path, const char *key, const struct history *history,
                struct assay_error *error)
{
    size_t first = history->count > ASSAY__EARLIER_RUNS ? 1 : 0;
    struct assay__buf buf = {0};
    struct assay__json_writer json, *w = &json;
    assay__json_start(w, &buf, true);
    assay__json_object(w);
    assay__json_put_integer(w, "assay_runs", FORMAT);
    assay__json_put_string(w, "key", key);
    assay__json_put_array(w, "medians_s");
    for (size_t i = first; i < history->count; i++)
        assay__json_number(w, history->medians_s[i]);
    assay__json_array_end(w);
    assay__json_object_end(w);
    int code = assay__file_keep(path, &buf, error);
    assay__buf_free(&buf);
    return code;
}

/* --- the metrics ------------------------------------------------------------------------------ */

static void unavailable(struct assay_metrics *metrics, const char *note)
{
    static const char *const names[] = {"latency.runs_low", "latency.runs_high"};
    for (size_t i = 0; i < 2; i++)
        assay_metrics_unavailable(metrics, names[i], note);
}

/* At least as wide as the interval between the launches of this run. */
static void put_interval(const struct assay__trial *trial, double p50_s, double half_width)
{
    char note[256];
    size_t runs = (size_t)assay__trial_value(trial, "latency.runs");
    double low = p50_s / (1 + half_width), high = p50_s * (1 + half_width);
    snprintf(note, sizeof note,
             "this run and the last %zu of the same work on this machine: Student's t on the "
             "logarithms of their medians",
             runs);
    low = fmin(low, assay__trial_value(trial, "latency.between_low")); /* NaN: the other */
    high = fmax(high, assay__trial_value(trial, "latency.between_high"));
    assay_metrics_derived(trial->metrics, "latency.runs_low", low, "clock", note);
    assay_metrics_derived(trial->metrics, "latency.runs_high", high, "clock", note);
}

static int apply(struct assay_profile *profile, struct assay__trial *trial, double p50_s)
{
    struct assay_error why = {0};
    struct history history = {0};
    char path[4096];
    const char *key = make_key(profile, trial, profile->arena);
    if (!key) return ASSAY_ENOMEM;
    if (assay__cache_path("runs", key, path, sizeof path, &why)) {
        unavailable(trial->metrics, why.message);
        return 0;
    }
    load(profile->arena, path, key, p50_s, &history);
    assay_metrics_measured(trial->metrics, "latency.runs", (double)history.count, "clock",
                           "earlier runs of the same work on this machine that were stable");
    history.medians_s[history.count++] = p50_s;
    double half_width = assay__earlier_runs_half_width(history.medians_s, history.count);
    if (isfinite(half_width))
        put_interval(trial, p50_s, half_width);
    else
        unavailable(trial->metrics, "needs at least 2 earlier stable runs of the same work on this "
                                    "machine: the launches of one run lie within seconds");
    bool stable = trial->stability.verdict && strcmp(trial->stability.verdict, "stable") == 0;
    if (stable) save(path, key, &history, &why); /* the next run has one less to compare with */
    return 0;
}

int assay__earlier_runs_apply(struct assay_profile *profile, struct assay__trial *trial)
{
    double p50_s = assay__trial_value(trial, "latency.p50");
    bool made_up = strcmp(trial->target.engine, "fake") == 0; /* no machine has its times */
    return p50_s > 0 && !made_up ? apply(profile, trial, p50_s) : 0;
}
