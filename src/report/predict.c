/* predict.c - see predict.h. Every estimate stands with "~" before it and the median error of such
 * estimates behind it; what cannot be predicted stands with the reason. */
#include "report/predict.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

void assay__predict_heading(struct assay__page *page, const char *title, const char *remark)
{
    bool fits = assay__text_width(title) + 2 + assay__text_width(remark) <= (size_t)page->columns;
    assay__page_heading(page, title, fits ? remark : "");
    if (!fits) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", remark);
}

/* --- one estimate ----------------------------------------------------------------------------- */

static void put_metric(struct assay__buf *items, const struct assay__trial *trial, const char *name,
                       const char *behind)
{
    const struct assay_metric *m = assay__trial_metric(trial, name);
    struct assay__buf value = {0};
    if (!m) return;
    assay__render_metric(&value, m);
    assay__page_item(items, "%s%s", text_of(&value), behind);
    assay__buf_free(&value);
}

static void put_row(struct assay__page *page, const char *label, struct assay__buf *items,
                    const struct assay__trial *trial, const char *name)
{
    if (!items->length) { /* why there is none */
        const struct assay_metric *m = assay_metrics_get(trial->metrics, name);
        assay__buf_printf(items, "— %s", m && m->note ? m->note : "not known");
    }
    assay__page_row(page, label, text_of(items));
    assay__buf_clear(items);
}

/* " (median error 14 %)", and whether that is of models like this one. */
static void put_latency(const struct assay__page *page, struct assay__buf *items,
                        const struct assay__trial *trial, const struct assay__fit *fit)
{
    char label[64], behind[112];
    bool covered = !*trial->target.uncovered, narrow = page->columns < ASSAY__PREDICT_NARROW;
    assay__fit_label(fit, label, sizeof label);
    snprintf(behind, sizeof behind, " (%s%s)", label, covered ? "" : ", not of such models");
    put_metric(items, trial, "latency.p50", narrow ? "" : behind);
    if (narrow && items->length) assay__page_item(items, "%s", behind + 1); /* a line of its own */
}

static void put_fit_row(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf items = {0};
    const struct assay_metric *share = assay__trial_metric(trial, "memory.capacity_share");
    put_metric(&items, trial, "memory.model", " of weights");
    put_metric(&items, trial, "memory.activation.predicted", " of activations");
    if (share) {
        struct assay__buf capacity = {0};
        char percent[64];
        put_metric(&capacity, trial, "memory.capacity", "");
        if (share->value < 0.001)
            snprintf(percent, sizeof percent, "less than 0.1 %%");
        else
            snprintf(percent, sizeof percent, "~%s %%", assay__digits(share->value * 100, 3).text);
        assay__page_item(&items, "%s of %s: %s", percent, text_of(&capacity),
                         share->value <= 0.75  ? "fits"
                         : share->value <= 1.0 ? "tight: the system needs memory too"
                                               : "does not fit");
        assay__buf_free(&capacity);
    } else {
        const struct assay_metric *m = assay_metrics_get(trial->metrics, "memory.capacity_share");
        assay__page_item(&items, "fit unknown: %s", m && m->note ? m->note : "");
    }
    assay__page_row(page, "memory", text_of(&items));
    assay__buf_free(&items);
}

static void put_estimate(struct assay__page *page, const struct assay__trial *trial,
                         const struct assay__fit *fit)
{
    struct assay__buf items = {0};
    assay__predict_heading(page, "Estimate", trial->target.device);
    put_latency(page, &items, trial, fit);
    put_row(page, "latency", &items, trial, "latency.p50");
    put_metric(&items, trial, "throughput.inferences", "");
    put_metric(&items, trial, "throughput.images", " images");
    put_metric(&items, trial, "throughput.tokens", " tokens");
    put_row(page, "throughput", &items, trial, "throughput.inferences");
    put_metric(&items, trial, "compute.rate", "");
    put_metric(&items, trial, "compute.utilization", " of the peak");
    put_metric(&items, trial, "compute.flops", " per inference");
    put_row(page, "compute", &items, trial, "compute.rate");
    put_metric(&items, trial, "memory.bandwidth", "");
    put_metric(&items, trial, "memory.bandwidth_utilization", " of the roof");
    put_row(page, "bandwidth", &items, trial, "memory.bandwidth");
    put_fit_row(page, trial);
    put_metric(&items, trial, "power.average", "");
    put_metric(&items, trial, "energy.inference.gross", " per inference");
    if (items.length) assay__page_item(&items, "%s", "not validated");
    put_row(page, "power", &items, trial, "power.average");
    assay__buf_free(&items);
}

/* --- layers ----------------------------------------------------------------------------------- */

enum { OP_COLUMNS = 16, TIME_COLUMNS = 11, SHARE_COLUMNS = 8, BOUND_COLUMNS = 10 };
#define TIME_LEAST_NS 0.1
enum { CELLS = TIME_COLUMNS + SHARE_COLUMNS + BOUND_COLUMNS, NAME_LEAST = 8 };

static void put_layer(struct assay__page *page, const char *op, const char *name, double time_ns,
                      double share, const char *bound)
{
    int room = page->columns - 2 - OP_COLUMNS - 1 - CELLS;
    bool narrow = room < NAME_LEAST; /* the numbers take a line of their own then */
    struct assay__buf cell = {0};
    char percent[32];
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, op, OP_COLUMNS, 0);
    assay__buf_putc(page->out, ' ');
    assay__page_fit_middle(page, name, narrow ? room + CELLS : room);
    if (narrow) {
        assay__buf_putc(page->out, '\n');
        assay__buf_repeat(page->out, " ", (size_t)(page->columns - CELLS));
    }
    if (time_ns < TIME_LEAST_NS) { /* nothing a clock could show */
        assay__buf_puts(&cell, "< 0.1 ns");
    } else {
        assay__buf_puts(&cell, "~");
        assay__render_ns(&cell, time_ns);
    }
    assay__page_right(page, text_of(&cell), TIME_COLUMNS);
    snprintf(percent, sizeof percent, "%.1f %%", share * 100);
    assay__page_right(page, percent, SHARE_COLUMNS);
    if (*bound) assay__page_right(page, bound, BOUND_COLUMNS);
    assay__buf_putc(page->out, '\n');
    assay__buf_free(&cell);
}

static void put_layers(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    size_t *order = page->top != 0 ? assay__render_layer_order(layers) : NULL;
    double sum = 0, rest = 0, all = assay__trial_metric(trial, "latency.p50")->value * 1e9;
    size_t fused = 0, shown = 0, more = 0;
    if (!order) return;
    assay__predict_heading(page, "Operators", "slowest first, and what bounds each");
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[order[i]];
        fused += l->note[0] != 0;
        sum += l->time_ns;
        if (l->note[0]) continue;
        if (page->top > 0 && shown >= (size_t)page->top) {
            rest += l->time_ns;
            more++;
            continue;
        }
        put_layer(page, l->op, l->name, l->time_ns, l->share, l->bound);
        shown++;
    }
    char label[80];
    snprintf(label, sizeof label, "%zu more", more);
    if (more) put_layer(page, label, "", rest, rest / all, "");
    put_layer(page, "per inference",
              page->columns < ASSAY__PREDICT_NARROW ? "floor and transfers"
                                                    : "the floor, inputs and outputs",
              all - sum, 1 - sum / all, "");
    if (fused) {
        snprintf(label, sizeof label, "%zu are done by the operator before.", fused);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", label);
    }
    free(order);
}

static double latency(const struct assay__trial *trial)
{
    const struct assay_metric *m = assay__trial_metric(trial, "latency.p50");
    return m ? m->value : (double)NAN;
}

static void put_units(struct assay__page *page, const struct assay_profile *profile,
                      const struct assay__fit *fits)
{
    assay__predict_heading(page, "Units", "of the chip");
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        struct assay__buf items = {0};
        put_latency(page, &items, trial, &fits[i]);
        put_metric(&items, trial, "throughput.inferences", "");
        put_metric(&items, trial, "compute.rate", "");
        if (!items.length) assay__buf_printf(&items, "— %s", trial->reason);
        assay__page_row(page, assay__trial_option(trial, "unit"), text_of(&items));
        assay__buf_free(&items);
    }
}

static void put_trust(struct assay__page *page, const struct assay__trial *trial,
                      const struct assay__fit *fit)
{
    struct assay__buf text = {0};
    bool here = strcmp(trial->target.chip, "this") == 0, measured = !trial->target.published;
    assay__predict_heading(page, "How far to trust it",
                           here       ? "assay run measures what this estimates"
                           : measured ? "ceilings were measured there; the model was not run"
                                      : "nothing here was measured on that chip");
    assay__buf_printf(&text, "Efficiencies %s.", fit->origin);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text_of(&text));
    assay__buf_clear(&text);
    if (isfinite(fit->out.median))
        assay__buf_printf(
            &text,
            "Half of the errors are within %.0f %%, 9 of 10 within %.0f %%: %s (%zu). In sample "
            "%.0f %%.",
            fit->out.median * 100, fit->out.p90 * 100, fit->validation, fit->out.count,
            fit->in.median * 100);
    else
        assay__buf_printf(&text, "Error unknown: %s.", fit->validation);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text_of(&text));
    for (size_t i = 0; i < trial->note_count; i++)
        assay__page_wrap(page,
                         *trial->target.uncovered &&
                                 strcmp(trial->notes[i], trial->target.uncovered) == 0
                             ? ASSAY__STYLE_WARN
                             : ASSAY__STYLE_DIM,
                         "  ", trial->notes[i]);
    if (trial->target.device_class == ASSAY__CLASS_NPU)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ",
                         "Whether all of it runs there: assay check MODEL --target ane.");
    assay__buf_free(&text);
}

static void put_title(struct assay__page *page, const struct assay_profile *profile,
                      const struct assay__trial *trial)
{
    struct assay__buf title = {0}, right = {0};
    const char *chip = trial->target.chip;
    assay__buf_printf(&title, "%s on %s, %s", profile->models[0]->name,
                      strcmp(chip, "this") == 0 ? "this machine" : chip, trial->target.precision);
    assay__buf_printf(&right, "assay %s", profile->assay_version);
    assay__page_title(page, text_of(&title), text_of(&right));
    assay__buf_free(&title);
    assay__buf_free(&right);
}

void assay__predict_text(struct assay__page *page, const struct assay_profile *profile,
                         const struct assay__fit *fits)
{
    size_t best = 0;
    for (size_t i = 1; i < profile->trial_count; i++) {
        double a = latency(&profile->trials[best]), b = latency(&profile->trials[i]);
        /* an estimate whose error is known goes before one whose error is not */
        bool known = isfinite(fits[i].out.median), was = isfinite(fits[best].out.median);
        if (isfinite(b) && (!isfinite(a) || (known && !was) || (known == was && b < a))) best = i;
    }
    const struct assay__trial *trial = &profile->trials[best];
    put_title(page, profile, trial);
    if (profile->trial_count > 1) put_units(page, profile, fits);
    if (trial->state != ASSAY__TRIAL_OK) {
        if (profile->trial_count == 1) put_units(page, profile, fits);
        return;
    }
    put_estimate(page, trial, &fits[best]);
    put_layers(page, trial);
    put_trust(page, trial, &fits[best]);
    if (page->ascii) assay__page_to_ascii(page->out, 0);
}
