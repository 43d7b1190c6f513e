/* predict_json.c - the chips that predict knows, and measurements against predictions, as JSON.
 * Each number of a chip has its source; one without a source is null, with the reason. */
#include "report/json/json_members.h"
#include "report/report_model.h"

#include <assay/assay.h>
#include <math.h>

/* --- chips ------------------------------------------------------------------------------------ */

static void put_cell(struct assay__json_writer *w, const char *name, const struct assay__cell *cell,
                     const char *unit)
{
    bool known = isfinite(cell->value);
    assay__json_record(w, name, json_number("value", known ? cell->value : NAN),
                       json_string("unit", unit),
                       json_string("state", !known                       ? "unavailable"
                                            : assay__cell_is_rough(cell) ? "estimated"
                                                                         : "published"),
                       json_string("source", cell->source ? cell->source
                                             : known      ? ""
                                                          : "no published value"));
}

void assay__chips_json(struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay__chip *chip;
    assay__json_head(w, out, "predict");
    assay__json_put_array(w, "chips");
    for (size_t i = 0; (chip = assay__chip_at(i)); i++) {
        assay__json_object(w);
        assay__json_put_string(w, "name", chip->name);
        put_cell(w, "memory_bandwidth", &chip->bandwidth, "B/s");
        put_cell(w, "memory", &chip->memory, "B");
        put_cell(w, "gpu_flops", &chip->gpu_flops, "FLOP/s");
        put_cell(w, "ane_flops", &chip->ane_flops, "FLOP/s");
        put_cell(w, "ane_bandwidth", &chip->ane_bandwidth, "B/s");
        put_cell(w, "ane_conv_watts", &chip->ane_conv_watts, "W");
        put_cell(w, "ane_gemm_watts", &chip->ane_gemm_watts, "W");
        put_cell(w, "ane_floor_watts", &chip->ane_floor_watts, "W");
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_tail(w);
}

/* --- validation ------------------------------------------------------------------------------- */

static void put_errors(struct assay__json_writer *w, const char *key,
                       const struct assay__fit_errors *errors)
{
    assay__json_key(w, key);
    if (!errors->count) {
        assay__json_null(w);
        return;
    }
    assay__json_record(w, NULL, json_number("median", errors->median),
                       json_number("p90", errors->p90), json_integer("count", errors->count));
}

void assay__validation_json(const struct assay__validation *v, bool published,
                            struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_head(w, out, "predict");
    assay__json_put_object(w, "validation");
    assay__json_put_string(w, "of", published ? "published measurements" : "this machine");
    for (ASSAY__JSON_EACH(i, w, "rows", v->count)) {
        const struct assay__validation_row *row = &v->rows[i];
        assay__json_object(w);
        assay__json_members(w, json_string(published ? "row" : "family", row->row),
                            json_string(published ? "measurement" : "model", row->label),
                            json_string("chip", row->chip),
                            json_number("measured_s", row->measured_s));
        if (published) assay__json_put_number(w, "chip_out_s", row->chip_out_s);
        assay__json_members(
            w, json_number(published ? "model_out_s" : "family_out_s", row->model_out_s),
            json_number(row->excluded ? "never_fitted_s" : "in_sample_s", row->in_s),
            json_text("excluded", row->excluded), json_text("source", row->source));
        if (published) assay__json_put_number(w, "both_out_s", row->both_out_s);
        assay__json_object_end(w);
    }
    if (published) put_errors(w, "leave_chip_out", &v->chip_out);
    if (published) put_errors(w, "leave_both_out", &v->both_out);
    if (published) put_errors(w, "blind", &v->blind);
    if (published) put_errors(w, "fixed_cost", &v->fixed);
    if (published) put_errors(w, "mostly_fixed_cost", &v->floor);
    put_errors(w, published ? "leave_model_out" : "leave_family_out", &v->model_out);
    if (published) put_errors(w, "never_fitted", &v->held_out);
    put_errors(w, "in_sample", &v->in);
    assay__json_put_integer(w, "missing", (int64_t)v->missing);
    assay__json_put_object(w, "fit");
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        assay__json_put_number(w, assay__fit_parameter_name(i), v->fit.value[i]);
    assay__json_object_end(w);
    assay__json_object_end(w);
    assay__json_tail(w);
}
