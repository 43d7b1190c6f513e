/* subject_generation.c - a language model that generates: how long the first token and each further
 * one take, and how many tokens that makes per second. */
#include "report/subject/subject.h"

#include <inttypes.h>
#include <string.h>

static const struct assay__column columns[] = {
    {NULL, "time to", NULL, 0, 0, ASSAY__COLUMN_NAME, 0},
    {NULL, "median", "s", 0, 0, ASSAY__COLUMN_KEEP, 0},
    {NULL, "p90", "s", 0, 0, ASSAY__COLUMN_KEEP, 0},
    {NULL, "p99", "s", 0, 0, ASSAY__COLUMN_KEEP, 0},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const struct {
    const char *name, *metrics[COLUMN_COUNT - 1]; /* NULL: there is none of it */
} rows[] = {
    {"the first token (TTFT)", {"llm.ttft", "llm.ttft_p90", "llm.ttft_p99"}},
    {"each further token (ITL)", {"llm.itl", "llm.itl_p90", "llm.itl_p99"}},
    {"ITL, first quarter of a generation", {"llm.itl_first"}},
    {"ITL, last quarter of a generation", {"llm.itl_last"}},
};

static void add_times(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__table *t = assay__doc_table(
        doc, NULL, "Time to the first token and between tokens", ASSAY__COLUMNS(columns));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assay__table_row(t, 0, NULL);
        assay__table_text(t, rows[i].name);
        for (size_t k = 0; k < COLUMN_COUNT - 1; k++)
            if (rows[i].metrics[k])
                assay__table_metric(t, assay_metrics_get(trial->metrics, rows[i].metrics[k]));
            else
                assay__table_skip(t, 1);
    }
}

static void add_item(struct assay__doc *doc, const struct assay__trial *trial, const char *metric,
                     const char *name, const char *after)
{
    const struct assay_metric *known = assay__trial_metric(trial, metric);
    if (known) assay__doc_item_after(doc, name, assay__datum_metric(known), after);
}

static void add_speed(struct assay__doc *doc, const struct assay__trial *trial)
{
    assay__doc_fact(doc, "tokens");
    add_item(doc, trial, "llm.prefill", "prefill", "of the prompt");
    add_item(doc, trial, "llm.decode", "decode", "from the first to the last");
    add_item(doc, trial, "llm.overall", "overall", "prompt included");
    assay__doc_fact(doc, "choosing");
    add_item(doc, trial, "llm.choose", NULL, "per token, included in the times above");
    assay__doc_fact(doc, "generations");
    add_item(doc, trial, "llm.generations", NULL, "measured");
    add_item(doc, trial, "llm.dropped", NULL, "more without room for the times of their tokens");
}

static void add_ids(struct assay__doc *doc, const struct assay__generation_info *made)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < made->id_count; i++)
        assay__buf_printf(&text, "%s%" PRId64, i ? " " : "", made->ids[i]);
    assay__doc_fold(doc, NULL, "Generated token ids", NULL);
    assay__doc_say(doc, ASSAY__TONE_PLAIN, assay__doc_take(doc, &text));
    assay__doc_end(doc);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__generation_info *made = &trial->generation;
    if (!made->tokens || !trial->metrics || !assay_metrics_get(trial->metrics, "llm.ttft")) return;
    const char *remark = assay__doc_printf(doc, "a prompt of %" PRId64 ", then %" PRId64 " token%s",
                                           made->prompt, made->tokens,
                                           made->tokens == 1 ? "" : "s");
    assay__doc_section(doc, "generation", "Generation", remark, ASSAY__VIEW_OVERVIEW);
    add_times(doc, trial);
    add_speed(doc, trial);
    add_ids(doc, made);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_generation = {
    "generation", ASSAY__OF_TRIAL, build, {{0}}};
