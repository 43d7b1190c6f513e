/* token_stats.c - computes the statistics and metrics of text generation.
 *
 * A launch: time to the first token is a generation's first time; the latency between tokens is the
 * difference between two neighbours, all generations pooled (they run in the same process and
 * produce the same tokens). Rates are ratios of sums: decode = (tokens - 1) x batch x generations /
 * sum of (last - first), overall = tokens x batch x generations / sum of last, prefill = prompt x
 * batch / median time to the first token. Percentiles need as many values as those of the latency.
 * A trial: the median over launches of each. */
#include "run/trial/token_stats.h"

#include "base/stats.h"
#include "base/vec.h"
#include "run/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* 32 MB of times in the parent; the rest counts as dropped */
#define VALUES_MOST ((size_t)1 << 22)
#define QUARTERS_NEED 8 /* decode steps in a generation */
#define BATCH_MOST ((int64_t)1 << 20)

static void bad(struct assay_error *error, const char *what)
{
    assay_error_set(error, ASSAY_EFORMAT, "worker sent %s", what);
}

/* --- messages from the worker ----------------------------------------------------------------- */

void assay__tokens_hear(struct assay__tokens *tokens, int64_t asked, const struct assay__json *json,
                        struct assay_error *error)
{
    int64_t count = assay__json_get_integer(json, "tokens", 0),
            prompt = assay__json_get_integer(json, "prompt", 0),
            batch = assay__json_get_integer(json, "batch", 0),
            generations = assay__json_get_integer(json, "generations", -1),
            dropped = assay__json_get_integer(json, "dropped", -1);
    double choose_ns = assay__json_get_number(json, "choose_ns", NAN);
    if (tokens->heard != tokens->expected) {
        bad(error, "fewer token times than announced");
        return;
    }
    if (count != asked || prompt < 1 || batch < 1 || batch > BATCH_MOST || prompt > INT32_MAX ||
        generations < 0 || generations > INT32_MAX || dropped < 0 || dropped > INT32_MAX ||
        (tokens->tokens && (tokens->prompt != prompt || tokens->batch != batch))) {
        bad(error, "a generation with impossible numbers");
        return;
    }
    tokens->tokens = count;
    tokens->prompt = prompt;
    tokens->batch = batch;
    tokens->dropped += (size_t)dropped;
    tokens->expected += (size_t)generations * (size_t)count;
    tokens->choose_sum_ns += choose_ns * (double)generations;
    const struct assay__json *list = assay__json_get(json, "ids");
    if (!list || list->count == 0 || list->count > ASSAY__GENERATED_IDS) {
        bad(error, "an impossible number of token ids");
        return;
    }
    int64_t *ids = realloc(tokens->ids, list->count * sizeof *ids);
    if (!ids) {
        assay__no_memory(error);
        return;
    }
    tokens->ids = ids;
    tokens->id_count = 0;
    for (const struct assay__json *item = list->first; item; item = item->next)
        ids[tokens->id_count++] = item->integer;
}

void assay__tokens_hear_times(struct assay__tokens *tokens, const struct assay__json *json,
                              struct assay_error *error)
{
    if (json->kind != ASSAY__JSON_ARRAY || json->count > tokens->expected - tokens->heard) {
        bad(error, "more token times than announced");
        return;
    }
    /* Only whole generations are kept. */
    size_t width = (size_t)tokens->tokens, room = (VALUES_MOST / width + 1) * width;
    size_t needed = tokens->count + json->count < room ? tokens->count + json->count : room;
    if (assay__vec_grow((void **)&tokens->times_ns, &tokens->capacity, needed,
                        sizeof *tokens->times_ns)) {
        assay__no_memory(error);
        return;
    }
    for (const struct assay__json *item = json->first; item; item = item->next) {
        double before = tokens->heard % width ? tokens->last_ns : 0;
        if (!(item->number >= before)) {
            bad(error, "token times that run backwards");
            return;
        }
        if (tokens->count < room) tokens->times_ns[tokens->count++] = item->number;
        tokens->last_ns = item->number;
        tokens->heard++;
    }
}

void assay__tokens_free(struct assay__tokens *tokens)
{
    free(tokens->times_ns);
    free(tokens->ids);
    tokens->times_ns = NULL;
    tokens->ids = NULL;
}

/* --- one launch ------------------------------------------------------------------------------- */

static double percentile(const double *sorted, size_t count, double q)
{
    return count >= assay__stats_percentile_needs(q) ? assay__stats_percentile(sorted, count, q)
                                                     : NAN;
}

/* The times between tokens `first` to `end` - 1 (from 1), all generations, sorted into `out`;
 * returns how many. */
static size_t between(const struct assay__tokens *tokens, size_t generations, size_t first,
                      size_t end, double *out)
{
    size_t width = (size_t)tokens->tokens, count = 0;
    for (size_t g = 0; g < generations; g++)
        for (size_t k = first; k < end; k++)
            out[count++] = tokens->times_ns[g * width + k] - tokens->times_ns[g * width + k - 1];
    assay__stats_sort(out, count);
    return count;
}

/* The standard deviation of the tokens per second of each generation; NaN for fewer than two.
 * scratch has room for a value per generation. */
static double rate_deviation(const struct assay__tokens *tokens, size_t generations, bool prefill,
                             double *scratch)
{
    size_t width = (size_t)tokens->tokens;
    double made = (double)(prefill ? tokens->prompt : tokens->tokens - 1) * (double)tokens->batch;
    for (size_t g = 0; g < generations; g++) {
        const double *times = tokens->times_ns + g * width;
        scratch[g] = made * 1e9 / (prefill ? times[0] : times[width - 1] - times[0]);
    }
    return assay__stats_stddev(scratch, generations);
}

int assay__tokens_summarise(struct assay__tokens *tokens)
{
    struct assay__token_summary *out = &tokens->summary;
    *out = (struct assay__token_summary){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
                                         NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    size_t width = (size_t)tokens->tokens, generations = width ? tokens->count / width : 0;
    if (width == 0) return 0;
    out->generations = (double)generations;
    out->dropped = (double)(tokens->dropped + tokens->heard / width - generations);
    if (generations == 0) return 0;
    double *scratch = malloc(generations * width * sizeof *scratch), decode_ns = 0, whole_ns = 0;
    if (!scratch) return ASSAY_ENOMEM;
    double made = (double)generations * (double)tokens->batch;
    for (size_t g = 0; g < generations; g++) {
        const double *times = tokens->times_ns + g * width;
        scratch[g] = times[0];
        decode_ns += times[width - 1] - times[0];
        whole_ns += times[width - 1];
    }
    assay__stats_sort(scratch, generations);
    out->ttft = assay__stats_median(scratch, generations);
    out->ttft_p90 = percentile(scratch, generations, 0.90);
    out->ttft_p99 = percentile(scratch, generations, 0.99);
    size_t steps = width - 1, quarter = (steps + 3) / 4;
    size_t count = between(tokens, generations, 1, width, scratch);
    if (count > 0) {
        out->itl = assay__stats_median(scratch, count);
        out->itl_p90 = percentile(scratch, count, 0.90);
        out->itl_p99 = percentile(scratch, count, 0.99);
    }
    if (steps >= QUARTERS_NEED) {
        count = between(tokens, generations, 1, 1 + quarter, scratch);
        out->itl_first = assay__stats_median(scratch, count);
        count = between(tokens, generations, width - quarter, width, scratch);
        out->itl_last = assay__stats_median(scratch, count);
    }
    if (decode_ns > 0) out->decode = made * (double)(width - 1) * 1e9 / decode_ns;
    if (whole_ns > 0) out->overall = made * (double)width * 1e9 / whole_ns;
    if (out->ttft > 0)
        out->prefill = (double)tokens->prompt * (double)tokens->batch * 1e9 / out->ttft;
    out->choose = tokens->choose_sum_ns / (double)generations;
    out->prefill_sd = rate_deviation(tokens, generations, true, scratch);
    out->decode_sd = rate_deviation(tokens, generations, false, scratch);
    free(scratch);
    return 0;
}

/* --- metrics ---------------------------------------------------------------------------------- */

#define AT(field) offsetof(struct assay__outcome, tokens.summary.field)

static const struct row {
    const char *name;
    size_t offset;
    double q;      /* percentile; 0: none */
    bool steps;    /* based on decode steps: needs two tokens */
    bool quarters; /* needs QUARTERS_NEED decode steps */
    bool derived;  /* else measured */
    bool several;  /* needs two generations */
    const char *note;
} rows[] = {
    {"llm.ttft", AT(ttft), 0, false, false, false, false,
     "median; time to run the prompt and choose the first token"},
    {"llm.ttft_p90", AT(ttft_p90), 0.90, false, false, false, false, "nearest rank"},
    {"llm.ttft_p99", AT(ttft_p99), 0.99, false, false, false, false, "nearest rank"},
    {"llm.itl", AT(itl), 0, true, false, false, false, "median over all decode steps"},
    {"llm.itl_p90", AT(itl_p90), 0.90, true, false, false, false,
     "nearest rank over all decode steps"},
    {"llm.itl_p99", AT(itl_p99), 0.99, true, false, false, false,
     "nearest rank over all decode steps"},
    {"llm.itl_first", AT(itl_first), 0, true, true, false, false,
     "median over the first quarter of the decode steps"},
    {"llm.itl_last", AT(itl_last), 0, true, true, false, false,
     "median over the last quarter of the decode steps"},
    {"llm.prefill", AT(prefill), 0, false, false, true, false, "prompt x batch / llm.ttft"},
    {"llm.decode", AT(decode), 0, true, false, true, false,
     "(tokens - 1) x batch / time from the first token to the last, all generations together"},
    {"llm.overall", AT(overall), 0, false, false, true, false,
     "tokens x batch / time of the generation, prompt included, all generations together"},
    {"llm.choose", AT(choose), 0, false, false, false, false,
     "mean per token, included in the times above: choosing the most likely token of each "
     "sequence"},
    {"llm.prefill_sd", AT(prefill_sd), 0, false, false, true, true,
     "standard deviation of prompt x batch / time to the first token over the generations"},
    {"llm.decode_sd", AT(decode_sd), 0, true, false, true, true,
     "standard deviation of (tokens - 1) x batch / decode time over the generations"},
};

/* Why this row is not known. */
static const char *reason_of(const struct row *row, const struct assay__outcome *const *used,
                             size_t count, int64_t tokens, char *text, size_t size)
{
    size_t told = 0, least = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct assay__tokens *one = &used[i]->tokens;
        size_t values = one->tokens ? one->count / (size_t)one->tokens : 0;
        if (row->steps && !row->several && tokens > 1) values *= (size_t)tokens - 1;
        told += values > 0;
        if (values < least) least = values;
    }
    if (row->steps && tokens < 2) return "one token: there is no decode step";
    if (!told) return "the worker ended before it sent the times of its tokens";
    if (row->quarters && tokens - 1 < QUARTERS_NEED)
        snprintf(text, size, "needs at least %d decode steps in a generation, got %lld",
                 QUARTERS_NEED, (long long)(tokens - 1));
    else if (row->several && least < 2)
        snprintf(text, size, "needs two generations in a launch, got one: run longer");
    else if (row->q > 0)
        snprintf(text, size, "needs %zu %s in a launch, got %zu: run longer",
                 assay__stats_percentile_needs(row->q), row->steps ? "decode steps" : "generations",
                 least);
    else
        snprintf(text, size, "the clock did not advance between tokens");
    return text;
}

static void put_row(const struct row *row, const struct assay__outcome *const *used, size_t count,
                    int64_t tokens, bool on_cpu, struct assay_metrics *metrics)
{
    char text[256];
    bool everywhere = true;
    double value = assay__trial_median(used, count, row->offset);
    /* A percentile counts only if every launch has it. */
    for (size_t i = 0; i < count && row->q > 0; i++)
        everywhere &= isfinite(*(const double *)(const void *)((const char *)used[i] +
                                                               row->offset)) != 0;
    if (!isfinite(value) || !everywhere) {
        assay_metrics_unavailable(metrics, row->name,
                                  reason_of(row, used, count, tokens, text, sizeof text));
        return;
    }
    snprintf(text, sizeof text, "%s%s%s", row->note,
             count > 1 ? "; median over launches of each launch's value" : "",
             row->steps && !on_cpu
                 ? "; the engine copies the cache to host memory and back for every token"
                 : "");
    if (row->derived)
        assay_metrics_derived(metrics, row->name, value, "clock", text);
    else
        assay_metrics_measured(metrics, row->name, value / 1e9, "clock", text);
}

void assay__generation_metrics(const struct assay__outcome *const *used, size_t count,
                               int64_t tokens, bool on_cpu, struct assay_metrics *metrics)
{
    double generations = 0, dropped = 0;
    char note[256];
    if (tokens < 1) return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_row(&rows[i], used, count, tokens, on_cpu, metrics);
    for (size_t i = 0; i < count; i++)
        if (used[i]->tokens.tokens) {
            generations += used[i]->tokens.summary.generations;
            dropped += used[i]->tokens.summary.dropped;
        }
    snprintf(note, sizeof note,
             "whole generations with the time of every token, all launches; those before "
             "measuring are not counted%s",
             dropped > 0 ? "; more were generated than could be stored" : "");
    assay_metrics_measured(metrics, "llm.generations", generations, "clock", note);
    if (dropped > 0)
        assay_metrics_measured(metrics, "llm.dropped", dropped, "clock",
                               "measured generations whose token times did not fit");
}

int assay__generation_ids(const struct assay__outcome *const *used, size_t count,
                          struct assay_profile *profile, struct assay__trial *trial)
{
    const struct assay__tokens *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (used[i]->tokens.id_count) last = &used[i]->tokens;
    int64_t *ids = last ? assay__arena_array(profile->arena, last->id_count, sizeof *ids) : NULL;
    if (last && !ids) return ASSAY_ENOMEM;
    for (size_t i = 0; last && i < last->id_count; i++)
        ids[i] = last->ids[i];
    trial->generation.ids = ids;
    trial->generation.id_count = last ? last->id_count : 0;
    return 0;
}

/* --- token by token --------------------------------------------------------------------------- */

/* The time of token k in every generation: since its start, or since the previous token; sorted
 * into `out`; returns how many. */
static size_t times_of(const struct assay__outcome *const *used, size_t count, size_t width,
                       size_t k, bool since_before, double *out)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct assay__tokens *tokens = &used[i]->tokens;
        for (size_t g = 0; tokens->tokens && g < tokens->count / width; g++) {
            const double *times = tokens->times_ns + g * width;
            out[found++] = times[k] - (since_before && k ? times[k - 1] : 0);
        }
    }
    assay__stats_sort(out, found);
    return found;
}

int assay__generation_times(const struct assay__outcome *const *used, size_t count,
                            struct assay_profile *profile, struct assay__trial *trial)
{
    size_t width = (size_t)trial->generation.tokens, generations = 0;
    for (size_t i = 0; i < count; i++)
        if (used[i]->tokens.tokens) generations += used[i]->tokens.count / width;
    if (!generations) return 0;
    size_t kept = width < ASSAY__TOKEN_TIMES ? width : ASSAY__TOKEN_TIMES;
    double *scratch = malloc(generations * sizeof *scratch);
    struct assay__token_time *times = assay__arena_array(profile->arena, kept, sizeof *times);
    for (size_t i = 0; scratch && times && i < kept; i++) {
        size_t k = kept > 1 ? i * (width - 1) / (kept - 1) : 0;
        size_t found = times_of(used, count, width, k, false, scratch);
        times[i].token = (int64_t)k + 1;
        times[i].at_ns = assay__stats_median(scratch, found);
        found = times_of(used, count, width, k, true, scratch);
        times[i].step_ns = assay__stats_median(scratch, found);
        times[i].low_ns = assay__stats_percentile(scratch, found, 0.05);
        times[i].high_ns = assay__stats_percentile(scratch, found, 0.95);
    }
    trial->generation.times = times;
    trial->generation.time_count = scratch && times ? kept : 0;
    bool done = scratch && times;
    free(scratch);
    return done ? 0 : ASSAY_ENOMEM;
}
