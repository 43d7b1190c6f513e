/* subject_comparison.c - trials compared: the numbers of each, the ratios to the reference with
 * their intervals, whether the outputs agree, which provider ran the nodes, and what to choose. */
#include "report/subject/subject.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { NUMBERS = 1, RATIOS, OUTPUTS, NODES };

static const struct assay__heading parts[] = {
    {.title = "Numbers", .remark = "medians over alternating launches"},
    {.title = "Speed and energy", .remark = "against the reference; 95 % intervals over launches"},
    {.title = "Outputs", .remark = "on the same inputs, compared with the reference"},
    {.title = "Placement of the nodes", .remark = "from the engine's record"},
};

#define NAME ASSAY__COLUMN_NAME
#define PROSE ASSAY__COLUMN_PROSE
static const struct assay__column columns[] = {
    {.key = "trial"},
    {"label", "trial", .flags = NAME},
    {.key = "device"},
    {"role", "role", .priority = 5, .part = RATIOS},
    {.key = "usable"},
    {"latency_s", "p50", "s", .part = NUMBERS},
    {"latency_p99_s", "p99", "s", .part = NUMBERS},
    {"throughput_per_s", "per second", "1/s", .part = NUMBERS},
    {"memory_bytes", "memory", "B", .part = NUMBERS},
    {"device_memory_bytes", "on device", "B", .part = NUMBERS},
    {"power_w", "power", "W", .part = NUMBERS},
    {"energy_j", "gross energy", "J", .part = NUMBERS},
    {"tops_per_watt", "OPS/W", "TOPS/W", .part = NUMBERS},
    {"score", "score", "points", .part = NUMBERS},
    {"speedup", "speed-up", ASSAY__UNIT_TIMES, .part = RATIOS},
    {.key = "speedup_low"},
    {.key = "speedup_high"},
    {"p_value", "p", ASSAY__UNIT_PLAIN, .priority = 4, .part = RATIOS},
    {"smallest_difference", "detectable", "ratio", .priority = 3, .part = RATIOS},
    {"verdict", "verdict", .part = RATIOS},
    {.key = "speedup_of"},
    {"energy_ratio", "energy", ASSAY__UNIT_TIMES, .part = RATIOS},
    {.key = "energy_ratio_low"},
    {.key = "energy_ratio_high"},
    {"drift_max_absolute", "max difference", ASSAY__UNIT_PLAIN, .priority = 2, .part = OUTPUTS},
    {"drift_relative_l2", "relative L2", ASSAY__UNIT_PLAIN, .part = OUTPUTS},
    {"drift_cosine", "cosine", ASSAY__UNIT_PLAIN, .priority = 3, .part = OUTPUTS},
    {"drift_top1", "same top class", "ratio", .priority = 3, .part = OUTPUTS},
    {"drift_nonfinite", "NaN or infinite", ASSAY__UNIT_COUNT, .part = OUTPUTS},
    {"nodes", "on device", ASSAY__UNIT_COUNT, .part = NODES},
    {"elsewhere", "elsewhere", ASSAY__UNIT_COUNT, .part = NODES},
    {"partitions", "subgraphs", ASSAY__UNIT_COUNT, .priority = 2, .part = NODES},
    {"crossings", "copies", ASSAY__UNIT_COUNT, .priority = 2, .part = NODES},
    {"crossing_bytes", "copied", "B", .priority = 3, .part = NODES},
    {"crossing_time_s", "copy time", "s", .priority = 3, .part = NODES},
    {"flops_share", "FLOPs on it", "ratio", .priority = 1, .part = NODES},
    {.key = "recommended_for"},
    {"reason", "remark", .flags = PROSE, .part = RATIOS},
    {.key = "not_advised"},                /* an alert says it to people */
    {.title = "outputs", .part = NUMBERS}, /* wherever a wrong trial looks fast */
    {.title = "outputs", .part = RATIOS},
    {.key = "drift_reason"}, /* why there is no drift */
    {.title = "recommended for", .priority = 4, .part = RATIOS},
};

#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

struct view {
    struct assay__doc *doc;
    const struct assay_profile *profile;
    const struct assay__comparison *all;
    struct assay__table *table;
};

/* "=1.34 × (1.31 to 1.36)" */
static void put_ratio(struct view *v, const struct assay__ratio *r, double plain)
{
    struct assay__datum value = assay__derived(plain, NULL);
    if (isfinite(r->ratio))
        value.text = assay__doc_printf(v->doc, "=%s × (%s)%s", assay__digits(r->ratio, 3).text,
                                       assay__digits_range(r->ci.low, r->ci.high).text,
                                       assay__ratio_by_words(r->by));
    if (!isfinite(plain)) value = assay__datum_unknown(NULL);
    assay__table_cell(v->table, value);
    assay__table_numbers(v->table, ASSAY_DERIVED, r->ci.low, r->ci.high);
}

static void put_metric(struct view *v, const struct assay__trial *t, const char *name)
{
    struct assay__number number = {assay__trial_value(t, name),
                                   assay_metrics_get(t->metrics, name)};
    assay__table_cell(v->table, assay__datum_judged(&number));
}

static void put_nodes(struct view *v, const struct assay__placement_summary *f)
{
    enum assay_state state = f->inferred > 0 ? ASSAY_DERIVED : ASSAY_MEASURED;
    const struct {
        double number;
        enum assay_state state;
        const char *why;
    } cells[] = {{f->nodes, state, f->reason},
                 {f->elsewhere, state, NULL},
                 {f->partitions, ASSAY_DERIVED, NULL},
                 {f->crossings, ASSAY_DERIVED, NULL},
                 {f->crossing_bytes, ASSAY_DERIVED, NULL},
                 {f->crossing_time_s, ASSAY_DERIVED, f->time_reason},
                 {f->flops_share, ASSAY_DERIVED, NULL}};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        struct assay__datum value = assay__datum_number(cells[i].number, NULL, cells[i].state);
        if (!isfinite(cells[i].number))
            value = assay__datum_unknown(f->asked ? cells[i].why : NULL);
        assay__table_cell(v->table, value);
    }
}

static const struct assay__number *number_at(const struct assay__judged *j, size_t offset)
{
    return (const struct assay__number *)((const char *)j + offset);
}

/* What needs a sensor or a separate device; if no trial has it, the list of unavailable metrics
 * gives the reason once. */
static const size_t often_unknown[] = {
    offsetof(struct assay__judged, device_memory), offsetof(struct assay__judged, power),
    offsetof(struct assay__judged, energy), offsetof(struct assay__judged, tops_per_watt),
    offsetof(struct assay__judged, score)};

static void put_where_known(struct view *v, const struct assay__judged *j, size_t offset)
{
    bool any = false;
    for (size_t i = 0; i < v->all->count; i++)
        any |= isfinite(number_at(&v->all->rows[i].judged, offset)->value);
    assay__table_cell(v->table,
                      any ? assay__datum_judged(number_at(j, offset)) : assay__datum_none());
}

static void put_row(struct view *v, size_t i)
{
    const struct assay__comparison_row *r = &v->all->rows[i];
    const struct assay__judged *j = &r->judged;
    const struct assay__trial *t = &v->profile->trials[j->trial];
    bool best = v->all->recommendations[ASSAY__FOR_LATENCY].row == i;
    assay__table_row(v->table, (best ? ASSAY__ROW_BEST : 0) | (j->usable ? 0 : ASSAY__ROW_FAULT),
                     NULL);
    assay__table_number(v->table, t->id, ASSAY_MEASURED);
    assay__table_texts(v->table, j->label, t->target.device,
                       assay__role_name(i == v->all->reference ? ASSAY__ROLE_REFERENCE : j->role),
                       j->usable ? "yes" : "no");
    assay__table_judged(v->table, true, &j->latency, &j->p99, &j->throughput, &j->memory);
    for (size_t k = 0; k < sizeof often_unknown / sizeof often_unknown[0]; k++)
        put_where_known(v, j, often_unknown[k]);
    put_ratio(v, &r->speed, r->speed.ratio);
    assay__table_numbers(v->table, ASSAY_DERIVED, r->speed.p_value, r->speed.smallest);
    assay__table_texts(v->table, assay__verdict_name(r->verdict),
                       isfinite(r->speed.ratio) ? assay__ratio_by_name(r->speed.by) : "");
    put_ratio(v, &r->energy, r->energy_ratio);
    double cosine = assay__trial_value(t, "drift.cosine");
    struct assay__datum value = assay__derived(cosine, NULL);
    if (isfinite(cosine)) value.text = assay__doc_printf(v->doc, "=%.6f", cosine);
    put_metric(v, t, "drift.max_absolute");
    assay__table_cell(v->table, assay__datum_judged(&j->drift));
    assay__table_cell(v->table, value);
    put_metric(v, t, "drift.top1");
    assay__table_number(v->table, j->nonfinite.value, ASSAY_MEASURED);
    put_nodes(v, &r->placement);
    const char *outputs = !*r->unadvised           ? ""
                          : j->nonfinite.value > 0 ? "NaN or infinite"
                                                   : "differ";
    struct assay__buf text = {0}, list = {0};
    for (int goal = 0; goal < ASSAY__FOR_COUNT; goal++) {
        const char *name = assay__goal_name((enum assay__goal_kind)goal);
        if (v->all->recommendations[goal].row != i) continue;
        assay__buf_printf(&text, "%s%s", text.length ? " " : "", name);
        assay__buf_join(&list, name);
    }
    const struct assay__number *drift = &j->drift;
    const char *undrifted = isfinite(drift->value)   ? ""
                            : i == v->all->reference ? "the others are compared with it"
                            : drift->metric          ? drift->metric->note
                            : *j->reason             ? j->reason
                                                     : "its outputs were not compared";
    assay__table_texts(v->table, assay__doc_take(v->doc, &text), j->reason, r->unadvised, outputs,
                       outputs, undrifted, assay__doc_take(v->doc, &list));
}

/* The outputs of models with different tasks are not compared in the report. */
static const struct assay__column *columns_of(struct view *v)
{
    struct assay__column *own = assay__doc_columns(v->doc, columns, COLUMN_COUNT, 0);
    size_t related = 0;
    for (size_t i = 0; i < v->all->count; i++)
        related += i != v->all->reference && !v->all->rows[i].unrelated;
    for (size_t c = 0; own && !related && c < COLUMN_COUNT; c++)
        if (own[c].part == OUTPUTS) own[c].title = NULL;
    return own ? own : columns;
}

static void add_table(struct view *v, bool data)
{
    v->table = assay__doc_add_table(v->doc, "comparison", "Comparison of trials", columns_of(v),
                                    COLUMN_COUNT);
    v->table->parts = parts;
    v->table->part_count = sizeof parts / sizeof *parts;
    v->table->data = data;
    for (size_t i = 0; i < v->all->count; i++)
        put_row(v, i);
}

static void add_warnings(struct view *v)
{
    bool undisturbed = false, by_launch = false;
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay__comparison_row *r = &v->all->rows[i];
        const struct assay__placement_summary *f = &r->placement;
        undisturbed |= isfinite(r->speed.ratio) && r->speed.by == ASSAY__BY_UNDISTURBED;
        by_launch |= isfinite(r->energy.ratio);
        if (*r->unadvised)
            assay__doc_alert(v->doc, "%s is not recommended: %s.", r->judged.label, r->unadvised);
        if (r->judged.own_nonfinite.value > 0 && i == v->all->reference)
            assay__doc_warn(v->doc, "%s: %.0f of its outputs are NaN or infinite.", r->judged.label,
                            r->judged.own_nonfinite.value);
        if (r->judged.usable && assay__placement_is_elsewhere(f))
            assay__doc_warn(v->doc,
                            "%s: none of the %.0f nodes ran on it, all on %s: this row does not "
                            "measure the device.",
                            r->judged.label, f->elsewhere,
                            *f->provider ? f->provider : "another provider");
    }
    if (undisturbed)
        assay__doc_note(
            v->doc, "When undisturbed: the medians of the launches do not differ detectably, so "
                    "their 5th percentiles are compared, the time of an inference that nothing "
                    "disturbs. On a busy machine the p50 column may suggest the opposite.");
    if (by_launch)
        assay__doc_note(v->doc,
                        "Energies here are medians over launches, as the times are; the summary "
                        "and the metrics divide the energy of the whole run by its inferences.");
}

/* Which nodes ran elsewhere, and what the record leaves out. */
static void add_placement(struct view *v)
{
    enum { NAMED = 20 };
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay__placement_summary *f = &v->all->rows[i].placement;
        struct assay__buf text = {0};
        if (*f->reason)
            assay__doc_point(v->doc, "%s: which nodes ran on it is not known (%s)",
                             v->all->rows[i].judged.label, f->reason);
        for (size_t k = 0; k < f->name_count && k < NAMED; k++)
            assay__buf_printf(&text, "%s%s", k ? ", " : "", f->names[k]);
        if (f->name_count > NAMED) assay__buf_printf(&text, " and %zu more", f->name_count - NAMED);
        if (text.length && !assay__placement_is_elsewhere(f))
            assay__doc_point(v->doc, "%s: %s ran %s", v->all->rows[i].judged.label, f->provider,
                             text.data);
        if (f->inferred > 0)
            assay__doc_point(v->doc,
                             "%s: %.0f of its nodes by exclusion: the record omits nodes that the "
                             "provider runs in another layout",
                             v->all->rows[i].judged.label, f->inferred);
        if (text.failed) v->doc->failed = true;
        assay__buf_free(&text);
    }
}

/* The notes of the trials; a note that several trials have is shown once. */
static void add_notes(struct view *v)
{
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay__trial *trial = &v->profile->trials[v->all->rows[i].judged.trial];
        for (size_t n = 0; n < trial->note_count; n++) {
            bool said = false;
            for (size_t k = 0; k < i && !said; k++) {
                const struct assay__trial *other =
                    &v->profile->trials[v->all->rows[k].judged.trial];
                for (size_t m = 0; m < other->note_count; m++)
                    said |= strcmp(other->notes[m], trial->notes[n]) == 0;
            }
            if (!said)
                assay__doc_point(v->doc, "%s: %s", v->all->rows[i].judged.label, trial->notes[n]);
        }
    }
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    const struct assay_profile *profile = study->profile;
    if (!trial) return;
    struct view v = {doc, profile, assay__study_comparison(study), NULL};
    if (profile->kind != ASSAY__PROFILE_COMPARE) { /* programs may compare any trials */
        add_table(&v, true);
        return;
    }
    assay__doc_section(doc, "comparison", "Comparison", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET | ASSAY__SECTION_DECK);
    assay__doc_say(doc, ASSAY__TONE_WARN, v.all->batches);
    assay__doc_picture(doc, "spread", trial, 0);
    assay__doc_section(doc, "comparison-rows", parts[0].title, parts[0].remark,
                       ASSAY__SECTION_HALF);
    add_table(&v, false);
    assay__doc_end(doc);
    add_warnings(&v);
    assay__doc_section(doc, "choice", "What to choose", NULL, ASSAY__SECTION_HALF);
    for (int goal = 0; goal < ASSAY__FOR_COUNT; goal++)
        if (goal != ASSAY__FOR_ENERGY || v.all->recommendations[goal].first != SIZE_MAX)
            assay__doc_fact_text(doc, assay__goal_name((enum assay__goal_kind)goal),
                                 v.all->recommendations[goal].why);
    assay__doc_end(doc);
    assay__doc_picture(doc, "devices", trial, ASSAY__PICTURE_DETAIL);
    assay__doc_end(doc);
    assay__doc_section(doc, "comparison-notes", "Notes on the trials", NULL, ASSAY__TAB_EVIDENCE);
    for (size_t i = 0; i < v.all->count; i++)
        if (v.all->rows[i].unrelated)
            assay__doc_point(doc, "%s is a different model from %s: their outputs are not compared",
                             v.all->rows[i].judged.label,
                             v.all->rows[v.all->reference].judged.label);
    add_placement(&v);
    add_notes(&v);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_comparison = {
    "comparison", ASSAY__OF_PROFILE, build, {{"comparison", ASSAY__ARRAY(columns)}}};
