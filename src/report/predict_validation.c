/* predict_validation.c - measurements against predictions: a row each, out of sample first, and the
 * statistics of the errors. */
#include "report/predict.h"

#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_time(struct assay__page *page, double seconds, const char *mark, int columns)
{
    char scaled[48] = "—", cell[56];
    if (isfinite(seconds)) assay__text_scaled(scaled, sizeof scaled, seconds, "s");
    snprintf(cell, sizeof cell, "%s%s", isfinite(seconds) ? mark : "", scaled);
    assay__page_right(page, cell, columns);
}

static void put_error(struct assay__page *page, double predicted_s, double measured_s, int columns)
{
    char cell[32] = "—";
    double error = predicted_s / measured_s - 1;
    if (isfinite(error)) snprintf(cell, sizeof cell, "%+.0f %%", error * 100);
    assay__page_right(page, cell, columns);
}

/* What was measured stands before its numbers, or on a narrow page above them. */
enum { ROW = 4, CHIP = 8, TIMES = 9 + 10, ERROR = 7, LABEL_LEAST = 8 };

struct layout {
    bool published, narrow;
    int label, numbers; /* columns */
};

static struct layout layout_of(const struct assay__page *page, bool published)
{
    struct layout l = {.published = published};
    l.numbers = TIMES + (published ? 3 : 2) * ERROR;
    int before = 2 + (published ? ROW + CHIP : 0);
    l.narrow = page->columns - before - l.numbers < (published ? LABEL_LEAST : 20);
    l.label = page->columns - before - (l.narrow ? 0 : l.numbers);
    return l;
}

static void break_line(struct assay__page *page, const struct layout *l)
{
    if (!l->narrow) return;
    assay__buf_putc(page->out, '\n');
    assay__buf_repeat(page->out, " ", (size_t)(page->columns - l->numbers));
}

static void put_head(struct assay__page *page, const struct layout *l)
{
    bool published = l->published;
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_puts(page->out, "  ");
    if (published) {
        assay__page_fit(page, "row measurement", l->label + ROW, 0);
        assay__page_fit(page, "chip", CHIP, 0);
    } else {
        assay__page_fit(page, "model", l->label, 0);
    }
    break_line(page, l);
    assay__page_right(page, "measured", 9);
    assay__page_right(page, "predicted", 10);
    assay__page_right(page, published ? "-chip" : "unseen", ERROR);
    if (published) assay__page_right(page, "-model", ERROR);
    assay__page_right(page, "seen", ERROR);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

static void put_line(struct assay__page *page, const struct assay__validation_row *row,
                     const struct layout *l)
{
    bool published = l->published;
    bool held = row->excluded != NULL; /* never fitted: what a fit of the others says */
    double unseen = held                         ? row->in_s
                    : isfinite(row->model_out_s) ? row->model_out_s
                                                 : row->chip_out_s;
    assay__buf_puts(page->out, "  ");
    if (published) {
        assay__page_fit(page, row->row, ROW - 1, 0);
        assay__buf_putc(page->out, ' ');
        assay__page_fit(page, row->label, l->label - 1, 0);
        assay__buf_putc(page->out, ' ');
        assay__page_fit(page, row->chip, CHIP, 0);
    } else {
        assay__page_fit_middle(page, row->label, l->label);
    }
    break_line(page, l);
    put_time(page, row->measured_s, "", 9);
    put_time(page, unseen, "~", 10);
    if (published) put_error(page, held ? row->in_s : row->chip_out_s, row->measured_s, ERROR);
    if (published || !held)
        put_error(page, held ? row->in_s : row->model_out_s, row->measured_s, ERROR);
    put_error(page, held ? (double)NAN : row->in_s, row->measured_s, ERROR);
    assay__buf_putc(page->out, '\n');
}

static void put_errors(struct assay__page *page, const char *label,
                       const struct assay__fit_errors *errors, const char *remark)
{
    char text[160];
    if (!errors->count) return;
    snprintf(text, sizeof text, "median %.1f %%, 90th percentile %.1f %%, of %zu%s%s",
             errors->median * 100, errors->p90 * 100, errors->count, remark[0] ? ": " : "", remark);
    struct assay__buf first = {0};
    assay__buf_puts(&first, "  ");
    assay__text_fit(&first, label, 17, 0);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, first.data ? first.data : "", text);
    assay__buf_free(&first);
}

static void put_excluded(struct assay__page *page, const struct assay__validation *v)
{
    assay__predict_heading(page, "Not used", "and why");
    for (size_t i = 0; i < v->count; i++) {
        const struct assay__validation_row *row = &v->rows[i];
        if (!row->excluded || isfinite(row->measured_s)) continue;
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s (%s): %s", row->label, row->chip, row->excluded);
        char first[16];
        snprintf(first, sizeof first, "  %-3s ", row->row);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, first, text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

static void put_lines(struct assay__page *page, const struct assay__validation *v, bool published,
                      bool held)
{
    struct layout l = layout_of(page, published);
    put_head(page, &l);
    for (size_t i = 0; i < v->count; i++)
        if (isfinite(v->rows[i].measured_s) && (v->rows[i].excluded != NULL) == held)
            put_line(page, &v->rows[i], &l);
}

void assay__validation_text(struct assay__page *page, const struct assay__validation *v,
                            bool published)
{
    char remark[80];
    bool narrow = page->columns < ASSAY__PREDICT_NARROW;
    assay__page_title(page,
                      narrow      ? published ? "Published measurements" : "This machine"
                      : published ? "predict --validate: published measurements"
                                  : "predict --validate: this machine",
                      "assay " ASSAY_VERSION_STRING);
    snprintf(remark, sizeof remark, "%zu, errors by a fit that has not seen the %s", v->used,
             published ? "chip, the model" : "family");
    assay__predict_heading(page, "Predicted", remark);
    put_lines(page, v, published, false);
    if (v->held_out.count) {
        assay__predict_heading(page, "Never fitted", "further measurements of one source");
        put_lines(page, v, published, true);
    }
    assay__predict_heading(page, "Errors", "|predicted / measured - 1|");
    put_errors(page, "one chip out", &v->chip_out, "");
    put_errors(page, published ? "one model out" : "one family out", &v->model_out, "");
    put_errors(page, "never fitted", &v->held_out, "");
    put_errors(page, "in sample", &v->in, "beside the others, never the label");
    if (v->missing) {
        snprintf(remark, sizeof remark, "%zu measured model%s left out: the file is gone",
                 v->missing, v->missing == 1 ? " is" : "s are");
        assay__page_wrap(page, ASSAY__STYLE_WARN, "  ", remark);
    }
    if (published) put_excluded(page, v);
    if (page->ascii) assay__page_to_ascii(page->out, 0);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_errors(struct assay__json_writer *w, const char *key,
                        const struct assay__fit_errors *errors)
{
    assay__json_key(w, key);
    if (!errors->count) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_number(w, "median", errors->median);
    assay__json_put_number(w, "p90", errors->p90);
    assay__json_put_integer(w, "count", (int64_t)errors->count);
    assay__json_object_end(w);
}

static void json_row(struct assay__json_writer *w, const struct assay__validation_row *row,
                     bool published)
{
    assay__json_object(w);
    assay__json_put_string(w, published ? "row" : "family", row->row);
    assay__json_put_string(w, published ? "measurement" : "model", row->label);
    assay__json_put_string(w, "chip", row->chip);
    assay__json_put_number(w, "measured_s", row->measured_s);
    if (published) assay__json_put_number(w, "chip_out_s", row->chip_out_s);
    assay__json_put_number(w, published ? "model_out_s" : "family_out_s", row->model_out_s);
    assay__json_put_number(w, row->excluded ? "never_fitted_s" : "in_sample_s", row->in_s);
    assay__json_put_text(w, "excluded", row->excluded);
    assay__json_put_text(w, "source", row->source);
    assay__json_object_end(w);
}

void assay__validation_json(struct assay__buf *out, const struct assay__validation *v,
                            bool published)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__render_json_head(w, ASSAY_VERSION_STRING, 1);
    assay__json_put_string(w, "command", "predict");
    assay__json_key(w, "validation");
    assay__json_object(w);
    assay__json_put_string(w, "of", published ? "published measurements" : "this machine");
    assay__json_key(w, "rows");
    assay__json_array(w);
    for (size_t i = 0; i < v->count; i++)
        json_row(w, &v->rows[i], published);
    assay__json_array_end(w);
    if (published) json_errors(w, "leave_chip_out", &v->chip_out);
    json_errors(w, published ? "leave_model_out" : "leave_family_out", &v->model_out);
    if (published) json_errors(w, "never_fitted", &v->held_out);
    json_errors(w, "in_sample", &v->in);
    assay__json_put_integer(w, "missing", (int64_t)v->missing);
    assay__json_key(w, "fit");
    assay__json_object(w);
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        assay__json_put_number(w, assay__fit_parameter_name(i), v->fit.value[i]);
    assay__json_object_end(w);
    assay__json_object_end(w);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
