/* validation_document.c - measurements against predictions: one row each, predicted by a fit that
 * did not use it, the statistics of the errors, and what is not used and why. */
#include "report/report_model.h"

#include <math.h>

/* For published measurements; for one machine the rows are models, and `row` is their family. */
static const struct assay__column columns[] = {
    {"row", "row", .priority = 3},
    {"measurement", "measurement", .flags = ASSAY__COLUMN_NAME},
    {"chip", .title = "chip"},
    {"measured_s", "measured", .unit = "s"},
    {.title = "predicted", .unit = "s"}, /* by the fit with the least information */
    {.key = "chip_out_s"},
    {.key = "model_out_s"},
    {.key = "in_sample_s"},
    {.key = "never_fitted_s"},
    {.title = "both out", .unit = "ratio"},
    {.title = "chip out", .unit = "ratio", .priority = 2},
    {.title = "model out", .unit = "ratio", .priority = 2},
    {.title = "seen", .unit = "ratio", .priority = 3},
    {.title = "never fitted", .unit = "ratio"},
    {.key = "excluded"},
    {.key = "source"},
    {.key = "both_out_s"},
};

/* "+15 %", signed: too long or too short. Nothing if there is none. */
static void put_error(struct assay__table *t, double predicted_s, double measured_s)
{
    double error = predicted_s / measured_s - 1;
    struct assay__datum value = assay__derived(error, NULL);
    if (isfinite(error)) value.text = assay__doc_printf(t->doc, "%+.0f %%", error * 100);
    assay__table_cell(t, isfinite(error) ? value : assay__datum_none());
}

static void put_row(struct assay__table *t, const struct assay__validation_row *row)
{
    bool held = row->excluded != NULL; /* never fitted: predicted by a fit of the others */
    double in_s = held ? (double)NAN : row->in_s, never_s = held ? row->in_s : (double)NAN;
    double unseen_s = held                        ? never_s
                      : isfinite(row->both_out_s) ? row->both_out_s
                                                  : row->model_out_s;
    assay__table_row_of(t, 0, row->row, row->label, row->chip);
    assay__table_known(t, row->measured_s, ASSAY_MEASURED);
    assay__table_known(t, unseen_s, ASSAY_ESTIMATED);
    const double predicted_s[] = {row->chip_out_s, row->model_out_s, in_s, never_s};
    for (size_t i = 0; i < 4; i++)
        assay__table_known(t, predicted_s[i], ASSAY_ESTIMATED);
    put_error(t, row->both_out_s, row->measured_s);
    for (size_t i = 0; i < 4; i++)
        put_error(t, predicted_s[i], row->measured_s);
    assay__table_texts(t, row->excluded, row->source);
    assay__table_known(t, row->both_out_s, ASSAY_ESTIMATED);
}

/* held: rows that no fit has seen. */
static void add_rows(struct assay__doc *doc, const struct assay__validation *v, bool held)
{
    struct assay__table *t = assay__doc_table(doc, "validation", "Measured and predicted", columns);
    for (size_t i = 0; i < v->count; i++)
        if (isfinite(v->rows[i].measured_s) && (v->rows[i].excluded != NULL) == held)
            put_row(t, &v->rows[i]);
}

static const struct assay__column error_columns[] = {
    {"of", "of", .flags = ASSAY__COLUMN_NAME},
    {"median", "median", .unit = "ratio"},
    {"p90", "90th percentile", .unit = "ratio"},
    {"count", "measurements", .unit = ASSAY__UNIT_COUNT},
};

static void put_errors(struct assay__table *t, const char *of,
                       const struct assay__fit_errors *errors)
{
    if (!errors->count) return;
    assay__table_row_of(t, 0, of);
    assay__table_numbers(t, ASSAY_DERIVED, errors->median, errors->p90);
    assay__table_number(t, (double)errors->count, ASSAY_MEASURED);
}

static const struct assay__column excluded_columns[] = {
    {"row", .title = "row"},
    {"measurement", "measurement", .flags = ASSAY__COLUMN_NAME},
    {"chip", "chip", .priority = 2},
    {"excluded", "why", .flags = ASSAY__COLUMN_PROSE},
    {.key = "source"},
};

int assay__validation_document(const struct assay__validation *v, bool published,
                               struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "predict",
                                             published
                                                 ? "Published measurements against predictions"
                                                 : "This machine against predictions");
    if (!doc) return ASSAY_ENOMEM;
    doc->table = "validation";
    const char *remark = assay__doc_printf(doc, "%zu, predicted by a fit without the %s", v->used,
                                           published ? "chip and the model" : "family");
    assay__doc_section(doc, "predicted", "Predicted", remark, 0);
    add_rows(doc, v, false);
    assay__doc_end(doc);
    assay__doc_section(doc, "never-fitted", "Never fitted", "further measurements from one source",
                       0);
    add_rows(doc, v, true);
    assay__doc_end(doc);
    assay__doc_section(doc, "errors", "Errors", "|predicted / measured - 1|", 0);
    struct assay__table *t = assay__doc_table(doc, "errors", "Errors", error_columns);
    put_errors(t, "one chip left out", &v->chip_out);
    put_errors(t, published ? "one model left out" : "one family left out", &v->model_out);
    put_errors(t, "chip and model left out", &v->both_out);
    put_errors(t, "never fitted", &v->held_out);
    put_errors(t, "the last two together", &v->blind);
    put_errors(t, "of these, with a third or more of fixed cost", &v->fixed);
    put_errors(t, "of these, with half or more of fixed cost", &v->floor);
    put_errors(t, "in sample", &v->in);
    assay__doc_note(
        doc, "In-sample errors are for comparison only; estimates are never labelled with them.");
    if (v->missing)
        assay__doc_warn(doc, "%zu measured model%s left out: the file no longer exists", v->missing,
                        v->missing == 1 ? " is" : "s are");
    assay__doc_end(doc);
    assay__doc_section(doc, "excluded", "Not used", "and why", 0);
    t = assay__doc_table(doc, "excluded", "Not used", excluded_columns);
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__validation_row *row = &v->rows[i];
        if (!row->excluded || isfinite(row->measured_s)) continue;
        assay__table_row_of(t, 0, row->row, row->label, row->chip, row->excluded, row->source);
    }
    assay__doc_end(doc);
    return 0;
}
