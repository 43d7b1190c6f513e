/* figures_card.c - the essence of a trial in one picture: model, target, quality, verdict, key
 * numbers, strip and machine. If there are several trials, the one that the report leads with. */
#include "report/figure/figures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add_item(struct assay__buf *out, const char *before, const char *text)
{
    if (text && *text) assay__buf_printf(out, "%s%s%s", out->length ? " · " : "", before, text);
}

/* "cpu · ort 1.31.1 · 2 threads · float32 · batch 1" */
static const char *target_of(struct assay__sketch *k, const struct assay__trial *trial)
{
    const struct assay__target *t = &trial->target;
    const struct assay__roofline *r = assay__study_roofline(k->study, trial);
    struct assay__buf out = {0};
    if (k->study->profile->trial_count > 1) add_item(&out, "", trial->label);
    add_item(&out, "", t->device);
    add_item(&out, "", t->engine);
    if (t->engine_version && *t->engine_version) assay__buf_printf(&out, " %s", t->engine_version);
    if (t->threads > 0 && !t->threads_default)
        add_item(&out, "",
                 assay__sketch_printf(k, "%d thread%s", t->threads, assay__plural(t->threads)));
    add_item(&out, "", t->precision && *t->precision ? t->precision : r->type ? r->type : "");
    if (trial->batch >= 0)
        add_item(&out, "batch ", assay__sketch_printf(k, "%" PRId64, trial->batch));
    return assay__sketch_take(k, &out);
}

/* "NVIDIA H200 · AMD EPYC, 2 cores · Debian GNU/Linux 12" */
static const char *machine_of(struct assay__sketch *k, const struct assay__trial *trial)
{
    const struct assay__environment *e = &k->study->profile->environment;
    struct assay__buf out = {0};
    add_item(&out, "", assay__trial_option(trial, "hardware"));
    add_item(&out, "", e->cpu_model);
    if (e->cores > 0)
        assay__buf_printf(&out, "%s%d core%s", e->cpu_model && *e->cpu_model ? ", " : "", e->cores,
                          assay__plural(e->cores));
    add_item(&out, "", e->os);
    return assay__sketch_take(k, &out);
}

static void add_numbers(struct assay__sketch *k, const struct assay__trial_verdict *v,
                        struct assay__figure_card *card)
{
    for (size_t i = 0; i < v->kpi_count; i++) {
        const struct assay__kpi *kpi = &v->kpis[i];
        struct assay__digits value = kpi->is_rate
                                         ? assay__digits(kpi->metric->value, 3)
                                         : assay__scaled(kpi->metric->value, kpi->metric->unit);
        card->numbers[card->number_count++] = (struct assay__card_number){
            assay__sketch_printf(k, "%s", value.text), kpi->label};
    }
}

/* The strip of the trial; it is not an error if there is none. */
static const struct assay__figure_strip *strip_of(struct assay__sketch *k,
                                                  const struct assay__trial *trial)
{
    struct assay__figure figure = {0};
    struct assay__sketch own = {
        .study = k->study, .trial = trial, .arena = k->arena, .figure = &figure};
    int code = assay__figure_strip(&own, 0);
    k->failed |= code == ASSAY_ENOMEM;
    return code ? NULL : figure.strip;
}

int assay__figure_card(struct assay__sketch *k, size_t part)
{
    const struct assay__trial *trial = assay__study_main_trial(k->study);
    struct assay__figure_card *card = assay__arena_array(k->arena, 1, sizeof *card);
    if (part || !trial) return assay__sketch_none(k, "there is only one card");
    if (!card) k->failed = true;
    if (k->failed) return assay__sketch_end(k);
    const struct assay__trial_verdict *v = assay__study_verdict(k->study, trial);
    const char *model = trial->model && trial->model->name ? trial->model->name : "";
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_CARD, "card",
                                                  *model ? model : "model");
    *card = (struct assay__figure_card){
        .title = f->title,
        .target = target_of(k, trial),
        .chip = v->chip,
        .trust = v->trust,
        .verdict = v->text,
        .machine = machine_of(k, trial),
        .version = assay__sketch_printf(
            k, "assay %s",
            k->study->profile->assay_version ? k->study->profile->assay_version : "")};
    add_numbers(k, v, card);
    f->card = card;
    f->width = ASSAY__CARD_WIDTH;
    f->strip = strip_of(k, trial);
    f->caption = "Per-layer times laid end to end: width is time.";
    f->description = assay__sketch_printf(k, "%s, %s. %s", card->target, v->chip, v->text);
    return assay__sketch_end(k);
}
