/* subject_ncp_groups.c - where the time of a recurrent cell goes: by neuron group and by time step.
 * The rows of the groups, with engine and unattributed, add up to the latency. */
#include "report/subject/subject.h"

#include "report/subject/layer_list.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define KEEP ASSAY__COLUMN_KEEP
#define SUM ASSAY__COLUMN_SUM
static const struct assay__column group_columns[] = {
    {.key = "trial"},
    {"group", "group", .flags = ASSAY__COLUMN_NAME},
    {.key = "kind"},
    {"time_us", "time", "s", .factor = 1e-6, .flags = KEEP | SUM},
    {"share", "share", "ratio", .flags = SUM},
    {"flops", "FLOP", "FLOP", .priority = 2},
    {"layers", "layers", ASSAY__UNIT_COUNT, .priority = 1},
    {.key = "state"},
    {.key = "flops_state"},
    {.title = "neurons", .unit = ASSAY__UNIT_COUNT, .priority = 3},
    {.title = "FLOP needed", .unit = "FLOP", .priority = 4},
    {"note", "note", .flags = ASSAY__COLUMN_PROSE},
};

static const struct assay__column step_columns[] = {
    {.key = "trial"},
    {"step", "step", .flags = ASSAY__COLUMN_NAME},
    {"kind", "kind", .priority = 3},
    {"time_us", "time", "s", .factor = 1e-6, .flags = KEEP | SUM},
    {"share", "share", "ratio", .flags = SUM},
    {"flops", "FLOP", "FLOP", .priority = 2},
    {"layers", "layers", ASSAY__UNIT_COUNT, .priority = 1},
    {.key = "state"},
    {.key = "flops_state"},
    {"note", "note", .flags = ASSAY__COLUMN_PROSE},
};

/* Engine and unattributed have no layers and no FLOPs: people see nothing there. */
static bool has_work(const struct assay__part *row)
{
    return row->kind <= ASSAY__PART_ADDED;
}

static void put_part(struct assay__table *t, const struct assay__ncp_groups *g,
                     const struct assay__part *row, int trial, bool step)
{
    bool one = step && row->kind == ASSAY__PART_GROUP;
    assay__table_row(t, 0, NULL);
    assay__table_number(t, trial, ASSAY_MEASURED);
    assay__table_texts(t, row->name, one ? "step" : assay__part_kind_name(row->kind));
    assay__table_number(t, row->time_ns / 1e3, row->state);
    assay__table_number(t, row->share, ASSAY_MEASURED);
    assay__table_cell(t, has_work(row) || isfinite(row->flops)
                             ? assay__datum_number(row->flops, NULL, row->flops_state)
                             : assay__datum_none());
    struct assay__datum layers = assay__measured((double)row->layers, NULL);
    if (!has_work(row)) layers.text = "";
    assay__table_cell(t, g->layers ? layers : assay__datum_none());
    assay__table_texts(t, assay_state_name(row->state), assay_state_name(row->flops_state));
    if (!step) {
        assay__table_known(t, row->neurons >= 0 ? (double)row->neurons : (double)NAN,
                           ASSAY_MEASURED);
        assay__table_known(t, row->flops_needed, row->flops_state);
    }
    assay__table_text(t, row->note);
}

static void put_total(struct assay__table *t, const struct assay__trial *trial)
{
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    double total_ns = assay__layer_total(trial);
    assay__table_row(t, ASSAY__ROW_PEOPLE | ASSAY__ROW_TOTAL, NULL);
    assay__table_skip(t, 1);
    assay__table_text(t, "total (the unprofiled median)");
    assay__table_skip(t, 1);
    assay__table_number(t, total_ns / 1e3, p50 ? p50->state : ASSAY_DERIVED);
    assay__table_number(t, isfinite(total_ns) ? 1 : (double)NAN, ASSAY_MEASURED);
}

static void add_steps(struct assay__doc *doc, const struct assay__ncp_groups *g, int trial)
{
    if (!g->step_count) return;
    assay__doc_fold(doc, NULL, "Time by step", NULL);
    struct assay__table *t = assay__doc_table(doc, "steps", "Time by step", step_columns);
    t->more = "steps";
    for (size_t i = 0; i < g->step_count; i++)
        put_part(t, g, &g->steps[i], trial, true);
    assay__doc_end(doc);
}

static void add_time(struct assay__doc *doc, const char *name, double time_ns, const char *after)
{
    if (isfinite(time_ns))
        assay__doc_item_after(doc, name, assay__derived(time_ns / 1e9, "s"), after);
}

static void add_by_layers(struct assay__doc *doc, const struct assay__ncp_groups *g)
{
    assay__doc_fact(doc, "by layers");
    add_time(doc, g->cell->steps == 1 ? "the step" : "first step", g->first_ns, NULL);
    if (g->cell->steps == 2) {
        add_time(doc, "second step", g->median_ns, NULL);
    } else {
        add_time(doc, "later steps: median", g->median_ns, NULL);
        add_time(doc, "min", g->min_ns, NULL);
        add_time(doc, "max", g->max_ns, NULL);
    }
    for (size_t i = 0; i < g->step_count; i++) {
        const struct assay__part *row = &g->steps[i];
        if (row->kind == ASSAY__PART_SHARED || row->kind == ASSAY__PART_OUTSIDE ||
            row->kind == ASSAY__PART_ADDED)
            add_time(doc, row->name, row->time_ns, NULL);
    }
}

/* "CfC, unrolled over 16 steps" */
static const char *form_of(struct assay__doc *doc, const struct assay__cell_info *cell)
{
    if (strcmp(cell->form, "step") == 0) return assay__doc_printf(doc, "%s, one step", cell->kind);
    return assay__doc_printf(doc, "%s, %s over %" PRId64 " step%s", cell->kind,
                             strcmp(cell->form, "scan") == 0 ? "a Scan" : cell->form, cell->steps,
                             cell->steps == 1 ? "" : "s");
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    const struct assay__ncp_groups *g = assay__study_groups(study, trial);
    assay__doc_section(doc, "time-steps", "Time steps and neuron groups",
                       g ? form_of(doc, g->cell) : NULL, ASSAY__TAB_GRAPH);
    assay__doc_say(doc, ASSAY__TONE_WARN, study->profile->models[0]->cell.fault);
    if (g) {
        int64_t steps = g->cell->steps;
        assay__doc_fact(doc, "per step");
        add_time(doc, NULL, g->per_step_ns,
                 steps == 1
                     ? "one inference is one step"
                     : assay__doc_printf(doc, "of the latency (latency.p50 / %" PRId64 ")", steps));
        add_time(doc, NULL, g->scan_step_ns,
                 assay__doc_printf(doc, "of the Scan (its time / %" PRId64 ")", steps));
        add_by_layers(doc, g);
        if (isfinite(g->floor_share)) {
            assay__doc_fact(doc, "call cost");
            assay__doc_item_after(doc, "at most", assay__derived(g->floor_share, "ratio"),
                                  "of the latency, independent of what the layers compute");
            assay__doc_item_after(doc, assay__doc_printf(doc, "%zu ×", g->timed),
                                  assay__derived(g->floor_ns / 1e9, "s"),
                                  "(the fastest layer), and the engine's cost per run");
        }
        if (g->group_count) {
            struct assay__table *t = assay__doc_table(doc, "groups", "Time by neuron group",
                                                      group_columns);
            for (size_t i = 0; i < g->group_count; i++)
                put_part(t, g, &g->groups[i], trial->id, false);
            if (g->layers) put_total(t, trial);
        }
        assay__doc_say(doc, ASSAY__TONE_NOTE, g->note);
        add_steps(doc, g, trial->id);
    }
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_ncp_groups = {
    "time-steps",
    ASSAY__OF_TRIAL,
    build,
    {{"groups", ASSAY__ARRAY(group_columns)}, {"steps", ASSAY__ARRAY(step_columns)}}};
