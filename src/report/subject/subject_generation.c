/* subject_generation.c - a language model that generates: how long the first token and each further
 * one take, and how many tokens that makes per second. */
#include "report/subject/subject.h"

#include <inttypes.h>

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

static const struct assay__metric_fact facts[] = {
    {"tokens", "llm.prefill", "prefill", "of the prompt"},
    {"tokens", "llm.decode", "decode", "from the first to the last"},
    {"tokens", "llm.overall", "overall", "prompt included"},
    {"choosing", "llm.choose", NULL, "per token, included in the times above"},
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
    assay__doc_section(doc, "generation", "Generation", remark, ASSAY__VIEW_OVERVIEW);
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
    "generation", ASSAY__OF_TRIAL, build, {{0}}};
