/* subject_generation.c - a language model that generates: how long the first token and each further
 * one take, and how many tokens that makes per second. */
#include "report/subject/subject.h"

#include <inttypes.h>
#include <math.h>

static const struct assay__column columns[] = {
    {.title = "time to", .flags = ASSAY__COLUMN_NAME},
    {.title = "median", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p90", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p99", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const struct {
    const char *name, *metrics[COLUMN_COUNT - 1]; /* NULL: not measured */
} rows[] = {
    {"the first token (TTFT)", {"llm.ttft", "llm.ttft_p90", "llm.ttft_p99"}},
    {"each further token (ITL)", {"llm.itl", "llm.itl_p90", "llm.itl_p99"}},
    {"ITL, first quarter of a generation", {"llm.itl_first"}},
    {"ITL, last quarter of a generation", {"llm.itl_last"}},
};

/* As llama-bench prints it: pp512, and tg128 after a prompt of 512. */
static const struct assay__column bench_columns[] = {
    {.key = "trial"},
    {"model", "model", .flags = ASSAY__COLUMN_NAME},
    {"size_bytes", "size", "B", .priority = 3},
    {.key = "parameters"},
    {.title = "params", .priority = 2},
    {"backend", "backend", .priority = 1},
    {"threads", "threads", .priority = 4},
    {.key = "test"},
    {.title = "test"},
    {"tokens_per_second", "t/s", "1/s", .flags = ASSAY__COLUMN_KEEP},
    {"sd", .unit = "1/s"},
    {.key = "prompt"},
    {.key = "tokens"},
};

static void put_bench(struct assay__doc *doc, struct assay__table *t,
                      const struct assay__trial *trial, const char *test, const char *label,
                      const char *rate, const char *deviation)
{
    const struct assay__model_info *m = trial->model;
    const struct assay_metric *mean = assay_metrics_get(trial->metrics, rate),
                              *sd = assay__trial_metric(trial, deviation);
    struct assay__datum value = assay__datum_metric(mean);
    struct assay__buf count = {0};
    if (m && m->parameters >= 0) assay__print_short_count(&count, m->parameters);
    if (mean && mean->state != ASSAY_UNAVAILABLE)
        value.text = assay__doc_printf(doc, sd ? "%s%.2f ± %.2f" : "%s%.2f",
                                       assay__state_mark(mean->state), mean->value,
                                       sd ? sd->value : 0);
    assay__table_row(t, 0, NULL);
    assay__table_number(t, trial->id, ASSAY_MEASURED);
    assay__table_text(t, m ? m->name : "");
    assay__table_known(t, m && m->weight_bytes >= 0 ? (double)m->weight_bytes : (double)NAN,
                       ASSAY_MEASURED);
    assay__table_known(t, m && m->parameters >= 0 ? (double)m->parameters : (double)NAN,
                       ASSAY_MEASURED);
    assay__table_text(t, assay__doc_take(doc, &count));
    assay__table_texts(t, trial->target.device, assay__trial_option(trial, "threads"), test, label);
    assay__table_cell(t, value);
    assay__table_known(t, sd ? sd->value : (double)NAN, ASSAY_DERIVED);
    assay__table_numbers(t, ASSAY_MEASURED, (double)trial->generation.prompt,
                         (double)trial->generation.tokens);
}

static void add_bench(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__generation_info *made = &trial->generation;
    struct assay__table *t = assay__doc_table(doc, "bench", "Tokens per second, ± sd",
                                              bench_columns);
    const char *prefill = assay__doc_printf(doc, "pp%" PRId64, made->prompt),
               *decode = assay__doc_printf(doc, "tg%" PRId64, made->tokens);
    put_bench(doc, t, trial, prefill, prefill, "llm.prefill", "llm.prefill_sd");
    if (made->tokens > 1)
        put_bench(doc, t, trial, decode,
                  assay__doc_printf(doc, "%s @ d%" PRId64, decode, made->prompt), "llm.decode",
                  "llm.decode_sd");
}

static const struct assay__metric_fact facts[] = {
    {"tokens per second", "llm.prefill", "of the prompt (prefill)", NULL},
    {"tokens per second", "llm.decode", "generated after the first (decode)", NULL},
    {"tokens per second", "llm.overall", "generated, over the whole generation", NULL},
    {"choosing a token", "llm.choose", NULL, "each, included in the times above"},
    {"generations", "llm.generations", NULL, "measured"},
    {"generations", "llm.dropped", NULL, "more whose token times did not fit"},
};

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__generation_info *made = &trial->generation;
    if (!made->tokens || !trial->metrics || !assay_metrics_get(trial->metrics, "llm.ttft")) return;
    const char *remark = assay__doc_printf(doc, "a prompt of %" PRId64 ", then %" PRId64 " token%s",
                                           made->prompt, made->tokens,
                                           made->tokens == 1 ? "" : "s");
    bool alone = !trial->layers.count && doc->study->profile->trial_count == 1;
    assay__doc_section(doc, "generation", "Generation", remark,
                       alone ? ASSAY__TAB_OVERVIEW | ASSAY__SECTION_FIRST | ASSAY__SECTION_PAIR
                             : ASSAY__TAB_GENERATE);
    assay__doc_picture(doc, "tokens", trial, ASSAY__PICTURE_DETAIL);
    add_bench(doc, trial);
    struct assay__table *t = assay__doc_table(
        doc, NULL, "Time to the first token and between tokens", columns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assay__table_row_of(t, 0, rows[i].name);
        for (size_t k = 0; k < COLUMN_COUNT - 1; k++)
            if (rows[i].metrics[k])
                assay__table_metric(t, assay_metrics_get(trial->metrics, rows[i].metrics[k]));
            else
                assay__table_skip(t, 1);
    }
    assay__doc_metrics(doc, trial, false, ASSAY__ARRAY(facts));
    struct assay__buf text = {0};
    for (size_t i = 0; i < made->id_count; i++)
        assay__buf_printf(&text, "%s%" PRId64, i ? " " : "", made->ids[i]);
    assay__doc_fold(doc, NULL, "Generated token ids", NULL);
    assay__doc_say(doc, ASSAY__TONE_PLAIN, assay__doc_take(doc, &text));
    assay__doc_end(doc);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_generation = {
    "generation", ASSAY__OF_TRIAL, build, {{"bench", ASSAY__ARRAY(bench_columns)}}};
