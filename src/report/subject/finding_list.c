/* finding_list.c - findings: a sentence or a row each, and one in full. A potential is marked: it
 * is derived from measured shares (=) or based on an assumed cost (~), and has not been tried. */
#include "report/subject/subject.h"

#include "base/text.h"
#include "experiment/verify.h"
#include "judge/require_advice.h"

#include <math.h>
#include <string.h>

#define TIMES ASSAY__UNIT_TIMES
const struct assay__column assay__finding_columns[ASSAY__FINDING_COLUMNS] = {
    {.key = "id"},
    {.key = "title"},
    {.key = "severity"},
    {.key = "state"},
    {.key = "effort"},
    {.key = "expected_gain"},
    {.key = "expected_state"},
    {.key = "expected_of"},
    {.key = "energy_saving"},
    {.key = "tried"},
    {.key = "verified_gain"},
    {.key = "verified_low"},
    {.key = "verified_high"},
    {.key = "verified_of"},
    {.key = "verified_smallest"},
    {.key = "verified_energy"},
    {.key = "verified_energy_low"},
    {.key = "verified_energy_high"},
    {.key = "verified_drift"},
    {.key = "drift_note"},
    {.key = "advice"},
    {.key = "reason"},
    {.key = "evidence"},
};

static const char *or_empty(const char *maybe)
{
    return maybe ? maybe : "";
}

const char *assay__finding_state(const struct assay__finding *f)
{
    const char *own = or_empty(f->state);
    return strcmp(own, "verified") == 0 || strcmp(own, "withdrawn") == 0 ? own : "open";
}

void assay__add_finding_table(struct assay__doc *doc, const struct assay_profile *profile)
{
    struct assay__table *t = assay__doc_add_table(doc, "findings", NULL, assay__finding_columns,
                                                  ASSAY__FINDING_COLUMNS);
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__finding *f = &profile->findings[i];
        enum assay_state state = assay__finding_gain_state(f);
        bool potential = isfinite(f->expected_gain), tried = isfinite(f->verified_gain);
        const double measured[] = {f->verified_gain, f->verified_low, f->verified_high},
                     energies[] = {f->verified_smallest, f->verified_energy, f->verified_energy_low,
                                   f->verified_energy_high, f->verified_drift};
        assay__table_row_of(t, 0, f->id, f->title, f->severity, assay__finding_state(f), f->effort);
        assay__table_number(t, f->expected_gain, state);
        assay__table_texts(t, potential ? assay_state_name(state) : "",
                           potential ? assay__rule_gain_of(or_empty(f->id)) : "");
        assay__table_number(t, f->energy_saving, state);
        assay__table_text(t, f->tried);
        for (size_t k = 0; k < sizeof measured / sizeof measured[0]; k++)
            assay__table_number(t, tried ? measured[k] : (double)NAN, ASSAY_MEASURED);
        assay__table_text(t, f->verified_of);
        for (size_t k = 0; k < sizeof energies / sizeof energies[0]; k++)
            assay__table_number(t, tried ? energies[k] : (double)NAN, ASSAY_MEASURED);
        assay__table_texts(t, f->drift_note, f->advice, f->reason,
                           assay__doc_join(doc, f->evidence, f->evidence_count));
    }
}

const char *assay__finding_about(const struct assay__finding *f)
{
    return assay__finding_gain_state(f) == ASSAY_ESTIMATED ? "about " : "";
}

/* "verified: 1.25 × as fast, 95 %: 1.21 to 1.3" */
const char *assay__finding_outcome(struct assay__doc *doc, const struct assay__finding *f)
{
    const char *state = assay__finding_state(f), *id = or_empty(f->id);
    if (strcmp(state, "verified") == 0 && isfinite(f->verified_gain))
        return assay__doc_printf(doc, "verified: %s × %s, 95 %%: %s%s%s",
                                 assay__digits(f->verified_gain, 3).text,
                                 assay__gain_words(f->verified_of),
                                 assay__digits_range(f->verified_low, f->verified_high).text,
                                 *or_empty(f->reason) ? "; " : "", or_empty(f->reason));
    if (strcmp(state, "withdrawn") == 0)
        return assay__doc_printf(doc, "withdrawn: %s", or_empty(f->reason));
    if (*or_empty(f->verified_of)) return assay__doc_printf(doc, "open: %s", or_empty(f->reason));
    if (!isfinite(f->expected_gain)) return "not tried";
    return assay__doc_printf(doc, "not tried; at most %s%s × %s", assay__finding_about(f),
                             assay__digits(f->expected_gain, 3).text,
                             assay__gain_words(assay__rule_gain_of(id)));
}

void assay__add_finding_point(struct assay__doc *doc, const struct assay__finding *f)
{
    bool advised = *or_empty(f->advice);
    assay__doc_point(doc, "%s: %s%s%s (%s)", or_empty(f->severity), or_empty(f->title),
                     advised ? ": " : "", or_empty(f->advice), assay__finding_outcome(doc, f));
}

/* What was measured when it was tried. */
static void add_measured(struct assay__doc *doc, const struct assay__finding *f)
{
    bool each = strcmp(or_empty(f->verified_of), "latency") == 0;
    if (!isfinite(f->verified_gain)) return;
    assay__doc_fact(doc, "measured");
    assay__doc_item_after(
        doc, NULL, assay__measured(f->verified_gain, TIMES),
        assay__doc_printf(doc, "%s (%s, 95 %%)", assay__gain_words(f->verified_of),
                          assay__digits_range(f->verified_low, f->verified_high).text));
    if (f->verified_smallest > 0)
        assay__doc_item_text(doc, "too noisy to detect changes below %s %%",
                             assay__digits(f->verified_smallest * 100, 2).text);
    if (isfinite(f->verified_energy)) {
        assay__doc_fact(doc, "energy");
        assay__doc_item_after(
            doc, NULL, assay__measured(f->verified_energy, TIMES),
            assay__doc_printf(
                doc, "that without, per %s (%s)", each ? "inference" : "sample",
                isfinite(f->verified_energy_low)
                    ? assay__doc_printf(
                          doc, "%s, 95 %%",
                          assay__digits_range(f->verified_energy_low, f->verified_energy_high).text)
                    : "one number per side: no interval"));
    }
    assay__doc_fact(doc, "outputs");
    if (isfinite(f->verified_drift))
        assay__doc_item_text(doc, "relative L2 distance =%.2g", f->verified_drift);
    assay__doc_item_text(doc, "%s", or_empty(f->drift_note));
}

/* "/layer4.0.conv2 1.01 ms, … and 12 more: 34 % of the latency" */
static void add_layers(struct assay__doc *doc, const struct assay__trial *trial,
                       const struct assay__finding *f)
{
    enum { NAMED = 4 };
    const struct assay__layer *longest[NAMED] = {NULL};
    double sum_ns = 0, p50_ns = assay__trial_value(trial, "latency.p50") * 1e9;
    size_t named = 0;
    for (size_t i = 0, k = 0; i < f->layer_count; i++) {
        while (k < trial->layers.count && trial->layers.items[k].index != f->layers[i])
            k++; /* both are in order of execution */
        if (k == trial->layers.count) break;
        const struct assay__layer *layer = &trial->layers.items[k];
        if (!(layer->time_ns > 0)) continue;
        sum_ns += layer->time_ns;
        size_t at = named < NAMED ? named++ : NAMED;
        for (; at > 0 && layer->time_ns > longest[at - 1]->time_ns; at--)
            if (at < NAMED) longest[at] = longest[at - 1];
        if (at < NAMED) longest[at] = layer;
    }
    assay__doc_fact(doc, "layers");
    for (size_t i = 0; i < named; i++) {
        struct assay__datum name = assay__datum_text(assay__layer_title(longest[i]));
        if (doc->study) name.link = assay__doc_printf(doc, "layer-%d", longest[i]->index);
        assay__doc_item_after(
            doc, NULL, name,
            assay__doc_printf(doc, "%s", assay__scaled(longest[i]->time_ns / 1e9, "s").text));
    }
    if (f->layer_count > named) assay__doc_item_text(doc, "and %zu more", f->layer_count - named);
    if (named && p50_ns > 0 && sum_ns <= p50_ns)
        assay__doc_item_text(doc, "%s %% of the latency",
                             assay__digits(sum_ns / p50_ns * 100, 2).text);
}

void assay__add_finding(struct assay__doc *doc, const struct assay__trial *trial,
                        const struct assay__finding *f)
{
    assay__doc_fact_text(doc, "evidence", assay__doc_join(doc, f->evidence, f->evidence_count));
    if (trial && f->layer_count) add_layers(doc, trial, f);
    assay__doc_fact_text(doc, "change", f->advice);
    enum assay_state state = assay__finding_gain_state(f);
    bool combined = strcmp(or_empty(f->id), ASSAY__VERIFY_COMBINED) == 0;
    assay__doc_fact(doc, "potential"); /* nothing, where none can be derived */
    if (isfinite(f->expected_gain))
        assay__doc_item_after(doc, NULL, assay__datum_number(f->expected_gain, TIMES, state),
                              combined ? "if gains multiplied"
                                       : assay__gain_words(assay__rule_gain_of(or_empty(f->id))));
    if (isfinite(f->energy_saving))
        assay__doc_item_after(doc, "energy per inference",
                              assay__datum_number(-f->energy_saving, "ratio", state),
                              "at unchanged power");
    assay__doc_fact_text(doc, "tried", f->tried);
    add_measured(doc, f);
    assay__doc_fact_text(doc, "verdict", f->reason);
    assay__doc_fact_text(doc, "effort", f->effort);
}
