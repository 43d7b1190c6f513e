/* subject_sweep.c - the points of a sweep: their numbers, what share of the device's peaks each
 * reaches, which is best and why, which are tied, and where the time of the sweep went. */
#include "report/subject/subject.h"

#include <math.h>
#include <stdint.h>

enum { LABEL = 1, PAIRS_NAMED = 12 };
enum { NUMBERS = 1, RATES };

static const struct assay__heading parts[] = {
    {.title = "Points", .remark = "per second: samples; energy: gross"},
    {.title = "Rates and spread",
     .remark = "min, max: of the launch medians; scaling: throughput relative to the smallest "
               "batch (or fewest threads), 100 % is linear"}};
/* the configuration matrix of the NCP guides */
static const struct assay__heading matrix_parts[] = {
    {.title = "Points", .remark = "per second: samples; energy: gross"},
    {.title = "Configurations",
     .remark = "compiled: graph optimisation on; accelerator: not the CPU"}};

static const struct assay__column columns[] = {
    {.key = "trial"},
    {.key = "point", .flags = ASSAY__COLUMN_NAME}, /* the axes follow */
    {.key = "device"},
    {"p50_s", "p50", "s", .part = NUMBERS},
    {"p99_s", "p99", "s", .part = NUMBERS},
    {"throughput_per_s", "per second", "1/s", .part = NUMBERS},
    {.title = "bar", .unit = "ratio", .priority = 4, .flags = ASSAY__COLUMN_BAR, .part = NUMBERS},
    {"memory_bytes", "memory", "B", .part = NUMBERS},
    {"energy_j", "energy", "J", .part = NUMBERS},
    {.title = "compiled", .part = RATES},
    {.title = "accelerator", .part = RATES},
    {"bandwidth_bytes_per_s", "bandwidth", "B/s", .part = RATES},
    {"utilization", "utilisation", "ratio", .part = RATES},
    {"flops_per_s", "compute", "FLOP/s", .part = RATES},
    {"scaling", "scaling", "ratio", .part = RATES},
    {.key = "mark"},
    {.key = "state"},
    {.key = "reason"},
    {.title = "mark", .part = NUMBERS},
    {"tokens_per_s", "tokens", "1/s", .part = NUMBERS},
    {"p50_low_s", "p50 min", "s", .priority = 2, .part = RATES},
    {"p50_high_s", "p50 max", "s", .priority = 2, .part = RATES},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

struct view {
    struct assay__doc *doc;
    const struct assay_profile *profile;
    const struct assay__sweep *sweep;
    struct assay__table *table;
    size_t axes; /* that are columns */
    double most_per_s;
};

/* Nothing for a point that did not run. */
static void put(struct view *v, const struct assay__judged *j, double number,
                enum assay_state state)
{
    assay__table_cell(v->table,
                      j->usable ? assay__datum_number(number, NULL, state) : assay__datum_none());
}

static const char *state_of(const struct assay__sweep_point *p)
{
    return p->unreached        ? "not reached"
           : p->interrupted    ? "interrupted"
           : !p->judged.usable ? "failed"
           : p->within         ? "ok"
           : p->sound          ? "beyond limits"
                               : "wrong outputs";
}

static void put_row(struct view *v, size_t i)
{
    const struct assay__sweep *sweep = v->sweep;
    const struct assay__sweep_point *p = &sweep->points[i];
    const struct assay__judged *j = &p->judged;
    bool best = i == sweep->best, matrix = assay__sweep_is_matrix(sweep), tied = false;
    for (size_t k = 0; k < sweep->alike_count; k++)
        tied |= sweep->alike[k] == i;
    bool knee = i == sweep->knee;
    const char *mark = best && knee ? "best knee" /* read by programs */
                       : best       ? "best"
                       : knee       ? "knee"
                                    : "";
    assay__table_row(v->table,
                     (best ? ASSAY__ROW_BEST : 0) | (tied ? ASSAY__ROW_TIED : 0) |
                         (j->usable ? 0 : ASSAY__ROW_FAULT),
                     NULL);
    assay__table_number(v->table, v->profile->trials[j->trial].id, ASSAY_MEASURED);
    assay__table_text(v->table, j->label);
    for (size_t a = 0; a < v->axes; a++)
        assay__table_text(v->table, p->values[a]);
    assay__table_text(v->table, p->device);
    assay__table_judged(v->table, j->usable, &j->latency, &j->p99, &j->throughput);
    put(v, j, j->throughput.value / v->most_per_s, ASSAY_DERIVED);
    assay__table_judged(v->table, j->usable, &j->memory, &j->energy);
    assay__table_texts(v->table, matrix ? assay__sweep_compiled(sweep, i) : NULL,
                       matrix ? assay__sweep_accelerated(p) : NULL);
    assay__table_judged(v->table, j->usable, &j->bandwidth, &j->utilization, &j->compute);
    put(v, j, p->efficiency, ASSAY_DERIVED);
    assay__table_texts(v->table, mark, state_of(p), *j->reason ? j->reason : j->lost,
                       knee && tied   ? "knee, tied"
                       : knee && best ? "best, knee"
                       : *mark        ? mark
                       : tied         ? "tied"
                       : !p->within   ? state_of(p)
                       : p->software  ? "software"
                                      : NULL);
    put(v, j, sweep->per_token ? j->throughput.value * p->sequence : (double)NAN, ASSAY_DERIVED);
    put(v, j, p->low_s, ASSAY_MEASURED);
    put(v, j, p->high_s, ASSAY_MEASURED);
}

static void add_table(struct view *v)
{
    const struct assay__sweep *sweep = v->sweep;
    size_t count = COLUMN_COUNT;
    const struct assay__column *own = assay__point_columns(v->doc, columns, &count, LABEL,
                                                           &sweep->axes);
    v->axes = count - COLUMN_COUNT;
    bool matrix = assay__sweep_is_matrix(sweep);
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->points[i].judged.throughput.value > v->most_per_s)
            v->most_per_s = sweep->points[i].judged.throughput.value;
    v->table = assay__doc_add_table(v->doc, "sweep", "The points of the sweep", own, count);
    v->table->parts = matrix ? matrix_parts : parts;
    v->table->part_count = sizeof parts / sizeof *parts;
    for (size_t i = 0; i < sweep->count; i++)
        put_row(v, i);
}

static void add_tied(struct view *v)
{
    const struct assay__sweep *sweep = v->sweep;
    struct assay__buf tied = {0}, pairs = {0};
    size_t others = 0;
    for (size_t i = 0; i < sweep->alike_count; i++)
        assay__buf_join(&tied, sweep->points[sweep->alike[i]].judged.label);
    if (tied.length)
        assay__buf_puts(&tied, ": not distinguishable from the best (launches overlap)");
    if (tied.length && !sweep->confirmation.asked)
        assay__buf_puts(&tied,
                        "; a confirmation tests the best two, 10 launches per point test all");
    for (size_t i = 0; i < sweep->pair_count; i++) {
        const struct assay__sweep_pair *pair = &sweep->pairs[i];
        if (pair->a == sweep->best || pair->b == sweep->best || others++ >= PAIRS_NAMED) continue;
        assay__buf_printf(&pairs, "%s%s and %s", others > 1 ? "; " : "",
                          sweep->points[pair->a].judged.label, sweep->points[pair->b].judged.label);
    }
    if (others > PAIRS_NAMED)
        assay__buf_printf(&pairs, "; and %zu more pairs", others - PAIRS_NAMED);
    assay__doc_fact_text(v->doc, "tied", assay__doc_take(v->doc, &tied));
    assay__doc_fact_text(v->doc, "tied pairs", assay__doc_take(v->doc, &pairs));
}

static void add_scaling(struct view *v)
{
    const struct assay__sweep *sweep = v->sweep;
    if (sweep->scaled == SIZE_MAX) return;
    const struct assay__sweep_point *to = &sweep->points[sweep->scaled],
                                    *from = &sweep->points[to->base];
    if (!isfinite(to->efficiency) || to->base == sweep->scaled) return;
    assay__doc_fact(v->doc, "scaling");
    if (assay__sweep_overlap(from, to))
        assay__doc_item_text(v->doc, "%s is not distinguishable from %s: their launches overlap",
                             to->judged.label, from->judged.label);
    else
        assay__doc_item_text(v->doc, "%s %% of linear from %s to %s",
                             assay__digits(to->efficiency * 100, 3).text, from->judged.label,
                             to->judged.label);
}

static void add_verdict(struct view *v)
{
    static const char *const names[] = {"measuring", "loading", "overhead"};
    const struct assay__sweep *sweep = v->sweep;
    const struct assay__sweep_wall *wall = &sweep->wall;
    const double parts_s[] = {wall->measuring, wall->loading, wall->overhead};
    bool software = false;
    for (size_t i = 0; i < sweep->count; i++)
        software |= sweep->points[i].software && sweep->points[i].judged.usable;
    assay__doc_fact_text(v->doc, "best", sweep->why);
    add_tied(v);
    if (sweep->confirmation.asked)
        assay__doc_fact_text(v->doc, "confirmation", sweep->confirmation.why);
    assay__doc_fact_text(v->doc, "knee", sweep->knee_why);
    assay__doc_fact_text(v->doc, "gain", sweep->gain);
    add_scaling(v);
    if (software)
        assay__doc_fact_text(v->doc, "software",
                             "a device that is emulated in software is measured, not recommended");
    assay__doc_fact(v->doc, "time");
    if (wall->total > 0) assay__doc_item(v->doc, "total", assay__measured(wall->total, "s"));
    for (size_t i = 0; wall->total > 0 && i < sizeof names / sizeof names[0]; i++)
        assay__doc_item_after(
            v->doc, names[i], assay__measured(parts_s[i], "s"),
            assay__doc_printf(v->doc, "(%.1f %%)", parts_s[i] / wall->total * 100));
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    if (!trial || study->profile->kind != ASSAY__PROFILE_SWEEP) return;
    struct view v = {.doc = doc, .profile = study->profile, .sweep = assay__study_sweep(study)};
    if (study->failed) return;
    assay__doc_section(doc, "sweep", "Sweep", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET | ASSAY__SECTION_PAIR);
    assay__doc_picture(doc, "heat", trial, ASSAY__PICTURE_WIDE); /* above the words */
    assay__doc_picture(doc, "sweep", trial, ASSAY__PICTURE_DETAIL);
    assay__doc_picture(doc, "pareto", trial, ASSAY__PICTURE_DETAIL);
    assay__doc_section(doc, "sweep-verdict", "What it shows", NULL, ASSAY__SECTION_THIRD);
    add_verdict(&v);
    const struct assay__sweep *sweep = v.sweep;
    struct assay__fault *faults = assay__doc_array(doc, 2 * sweep->count + 1, sizeof *faults);
    for (size_t i = 0; faults && i < sweep->count; i++) {
        const struct assay__sweep_point *p = &sweep->points[i];
        const struct assay__judged *j = &p->judged;
        bool failed = !j->usable && !p->interrupted;
        const char *kind = failed ? "not run" : p->within ? NULL : state_of(p);
        const char *reason = j->reason;
        if (p->sound && !p->within && isnan(p->slo_s))
            reason = assay__doc_reason(doc, v.profile->plan.slo_metric, reason);
        faults[i] = (struct assay__fault){kind, j->label, reason};
        faults[sweep->count + i] = (struct assay__fault){*j->lost ? "lost" : NULL, j->label,
                                                         j->lost};
    }
    if (faults) assay__point_faults(doc, faults, 2 * sweep->count);
    assay__doc_end(doc);
    assay__doc_end(doc);
    assay__doc_section(doc, "sweep-points", "Points of the sweep", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET | ASSAY__SECTION_DECK);
    assay__doc_section(doc, "sweep-rows", parts[0].title, parts[0].remark, ASSAY__SECTION_HALF);
    add_table(&v);
    assay__point_common(doc, &sweep->axes);
    assay__doc_end(doc);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_sweep = {
    "sweep", ASSAY__OF_PROFILE, build, {{"sweep", ASSAY__ARRAY(columns)}}};
