/* make_document.c - the file that `assay make` wrote, what each step did, and how far the outputs
 * are from the original's. */
#include "report/report_make.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

double assay__made_write_rate(const struct assay__made *made)
{
    return made->write_s > 0 ? (double)made->bytes / made->write_s : (double)NAN;
}

void assay__drift_numbers(const struct assay__drift_output *output,
                          struct assay__drift_number numbers[ASSAY__DRIFT_NUMBERS])
{
    const struct assay__drift_number rows[] = {
        {"max_absolute", "1", output->max_absolute, ""},
        {"relative_l2", "ratio", output->relative_l2, "the original is all zero"},
        {"cosine", "ratio", output->cosine, "one of the two is all zero"},
        {"top1", "ratio", output->top1, "no class axis"},
    };
    for (size_t i = 0; i < ASSAY__DRIFT_NUMBERS; i++) {
        numbers[i] = rows[i];
        if (*output->reason || !isnan(rows[i].value)) numbers[i].gap = output->reason;
    }
}

static double parameters_of(const struct assay__made *made)
{
    return made->parameters_known ? (double)made->parameters : (double)NAN;
}

static void add_model(struct assay__doc *doc, const struct assay__made *made)
{
    assay__doc_section(doc, "model", "Model", NULL, ASSAY__SECTION_QUIET);
    assay__doc_fact_text(doc, "from", made->source);
    assay__doc_fact(doc, "file");
    assay__doc_item(doc, NULL, assay__measured((double)made->bytes, "B"));
    assay__doc_item_after(doc, NULL, assay__measured(parameters_of(made), ASSAY__UNIT_COUNT),
                          "parameters");
    assay__doc_item_after(doc, NULL, assay__datum_count((double)made->nodes), "operators");
    assay__doc_item(doc, "operator set", assay__datum_count((double)made->opset));
    assay__doc_fact(doc, "time");
    assay__doc_item(doc, made->zoo ? "built in" : "read in", assay__measured(made->build_s, "s"));
    if (made->rewritten)
        assay__doc_item(doc, "rewritten in", assay__measured(made->rewrite_s, "s"));
    assay__doc_item(doc, "written in", assay__measured(made->write_s, "s"));
    assay__doc_item(doc, NULL, assay__derived(assay__made_write_rate(made), "B/s"));
    assay__doc_points(doc, (const char *const *)made->notes->lines, made->notes->count);
    static const struct assay__column columns[] = {
        {.key = "path"},      {.key = "source"},  {.key = "bytes"},      {.key = "parameters"},
        {.key = "nodes"},     {.key = "opset"},   {.key = "ir_version"}, {.key = "read_s"},
        {.key = "rewrite_s"}, {.key = "write_s"},
    };
    struct assay__table *t = assay__doc_table(doc, "model", NULL, columns);
    const double numbers[] = {(double)made->bytes, parameters_of(made), (double)made->nodes,
                              (double)made->opset, (double)made->ir,    made->build_s,
                              made->rewrite_s,     made->write_s};
    assay__table_row_of(t, 0, made->path, made->source);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assay__table_number(t, numbers[i], ASSAY_MEASURED);
    assay__doc_end(doc);
}

static const struct assay__column columns[] = {
    {"output", "output", .flags = ASSAY__COLUMN_NAME},
    {.key = "dtype"},
    {"max_absolute", "max |error|", .unit = ASSAY__UNIT_PLAIN},
    {"relative_l2", "relative L2", .unit = ASSAY__UNIT_PLAIN},
    {"cosine", "cosine", .unit = ASSAY__UNIT_PLAIN},
    {"top1", "top-1 same", .unit = "ratio"},
    {.key = "rows"},
    {.key = "elements"},
    {.key = "nonfinite"},
    {.key = "broken"},
    {.key = "reason"},
};

static void put_output(struct assay__table *t, const struct assay__drift_output *output)
{
    static const char *const formats[ASSAY__DRIFT_NUMBERS] = {"%.2e", "%.2e", "%.6f", NULL};
    const int64_t counts[] = {output->rows, output->elements, output->nonfinite, output->broken};
    struct assay__drift_number numbers[ASSAY__DRIFT_NUMBERS];
    assay__drift_numbers(output, numbers);
    assay__table_row_of(t, 0, output->name, assay__dtype_name(output->dtype));
    for (size_t i = 0; i < ASSAY__DRIFT_NUMBERS; i++) {
        char text[48];
        struct assay__datum value = assay__measured(numbers[i].value, NULL);
        if (isnan(value.number))
            value = assay__datum_unknown(numbers[i].gap);
        else if (formats[i]) {
            snprintf(text, sizeof text, formats[i], value.number);
            value.text = assay__doc_printf(t->doc, "%s", text);
        }
        assay__table_cell(t, value);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assay__table_number(t, (double)counts[i], ASSAY_MEASURED);
    assay__table_text(t, output->reason);
}

static void add_drift(struct assay__doc *doc, const struct assay__made *made)
{
    const struct assay__drift *drift = made->drift;
    assay__doc_section(doc, "drift", "Drift", "rewritten against original, same inputs", 0);
    if (drift) {
        assay__doc_fact(doc, "measured with");
        assay__doc_item_text(doc, "%s %s on the CPU", drift->engine, drift->version);
        assay__doc_item_text(doc, "seed %llu", (unsigned long long)drift->seed);
        if (drift->assumed && *drift->assumed)
            assay__doc_item_text(doc, "assumed: %s", drift->assumed);
    } else if (made->rewritten) {
        assay__doc_fact(doc, "outputs");
        assay__doc_item(doc, NULL, assay__datum_unknown(made->drift_reason));
    }
    struct assay__table *t = assay__doc_table(doc, "drift", "Outputs", columns);
    for (size_t i = 0; drift && i < drift->output_count; i++)
        put_output(t, &drift->outputs[i]);
    for (size_t i = 0; drift && i < drift->output_count; i++)
        if (drift->outputs[i].nonfinite)
            assay__doc_point(
                doc, "%s: %lld elements that are infinite or NaN in both models are not compared",
                drift->outputs[i].name, (long long)drift->outputs[i].nonfinite);
    if (drift && made->drift_note) assay__doc_note(doc, "Note: %s.", made->drift_note);
    assay__doc_end(doc);
}

int assay__make_document(const struct assay__made *made, struct assay__doc **doc)
{
    struct assay__doc *own = assay__doc_open(doc, "make", made->path);
    if (!own) return ASSAY_ENOMEM;
    add_model(own, made);
    add_drift(own, made);
    return 0;
}
