/* subject_bench.c - the standard benchmarks: the numbers of each, its throughput against a
 * baseline, and its key performance indicators: how much of the time is spent in kernels, how long
 * they and the gaps between them are, and the share of the device's ceilings that is reached. */
#include "report/subject/subject.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NUMBERS = 1, KPIS, AGAINST };

static const struct assay__heading parts[] = {
    {.title = "Benchmarks", .remark = "medians over alternating launches"},
    {.title = "Key performance indicators",
     .remark =
         "kernels (on the CPU the nodes as the engine runs them), mean time of one and, as the "
         "gap, "
         "of the rest of the latency per kernel (on a GPU the copies and the host are in it); "
         "bandwidth and compute as shares of the measured ceilings"},
    {.title = "Against the baseline", .remark = "throughput now / before; 95 % intervals"},
};

static const struct assay__column columns[] = {
    {.key = "trial"},
    {"label", "benchmark", .flags = ASSAY__COLUMN_NAME},
    {.key = "benchmark"},
    {.key = "family"},
    {.key = "device"},
    {.key = "usable"},
    {"p50_s", "p50", "s", .part = NUMBERS},
    {"p99_s", "p99", "s", .part = NUMBERS},
    {"inferences_per_s", "per second", "1/s", .part = NUMBERS},
    {"measured_s", "measured", "s", .priority = 2, .part = NUMBERS},
    {"bandwidth_bytes_per_s", "bandwidth", "B/s", .part = NUMBERS},
    {"flops_per_s", "compute", "FLOP/s", .part = NUMBERS},
    {"drift_relative_l2", "relative L2", ASSAY__UNIT_PLAIN, .priority = 1, .part = NUMBERS},
    {"kernel_efficiency", "in kernels", "ratio", .part = KPIS},
    {"kernels", "count", ASSAY__UNIT_COUNT, .part = KPIS},
    {"kernel_mean_s", "kernel", "s", .part = KPIS},
    {"gap_mean_s", "gap", "s", .part = KPIS},
    {"gpu_busy", "GPU busy", "ratio", .part = KPIS},
    {"bandwidth_share", "bandwidth", "ratio", .part = KPIS},
    {.key = "level"},
    {"compute_share", "compute", "ratio", .part = KPIS},
    {"baseline_per_s", "before", "1/s", .part = AGAINST},
    {.title = "now", .unit = "1/s", .part = AGAINST},
    {"ratio", "ratio", ASSAY__UNIT_TIMES, .part = AGAINST},
    {.key = "ratio_low"},
    {.key = "ratio_high"},
    {.key = "p_value"},
    {"smallest_difference", "detectable", "ratio", .priority = 2, .part = AGAINST},
    {"verdict", "verdict", .part = AGAINST},
    {.key = "reason"},
    {.key = "kernels_reason"},
    {.key = "bandwidth_reason"},
    {.key = "ratio_reason"},
};

struct view {
    struct assay__doc *doc;
    const struct assay_profile *profile;
    const struct assay__bench *bench;
    struct assay__table *table;
    bool usable; /* the row */
};

/* Nothing for one that did not run. */
static void put(struct view *v, double number, enum assay_state state)
{
    struct assay__datum value = assay__datum_number(number, NULL, state);
    if (!isfinite(number)) value = assay__datum_unknown(NULL);
    assay__table_cell(v->table, v->usable ? value : assay__datum_none());
}

/* "=1.34 × (1.31 to 1.36)" */
static struct assay__datum ratio_datum(struct view *v, const struct assay__ratio *ratio)
{
    struct assay__datum value = assay__derived(ratio->ratio, NULL);
    if (!v->usable) return assay__datum_none();
    if (!isfinite(ratio->ratio)) return assay__datum_unknown(NULL);
    if (ratio->ci.known)
        value.text = assay__doc_printf(v->doc, "=%s × (%s)", assay__digits(ratio->ratio, 3).text,
                                       assay__digits_range(ratio->ci.low, ratio->ci.high).text);
    return value;
}

/* "=18 % of l3" */
static struct assay__datum share_datum(struct view *v, const struct assay__bench_row *row)
{
    struct assay__datum value = assay__derived(row->bandwidth_share, NULL);
    if (!v->usable) return assay__datum_none();
    if (!isfinite(row->bandwidth_share)) return assay__datum_unknown(NULL);
    value.text = assay__doc_printf(v->doc, "=%s %% of %s",
                                   assay__digits(row->bandwidth_share * 100, 2).text, row->level);
    return value;
}

static void put_row(struct view *v, const struct assay__bench_row *row)
{
    const struct assay__judged *j = &row->judged;
    struct assay__table *t = v->table;
    v->usable = j->usable;
    assay__table_row(t, j->usable ? 0 : ASSAY__ROW_FAULT, NULL);
    assay__table_number(t, v->profile->trials[j->trial].id, ASSAY_MEASURED);
    assay__table_texts(t, j->label, row->benchmark, row->row ? row->row->family : NULL, row->device,
                       j->usable ? "yes" : "no");
    assay__table_judged(t, j->usable, &j->latency, &j->p99, &row->rate);
    put(v, row->measured_s, ASSAY_MEASURED);
    assay__table_judged(t, j->usable, &j->bandwidth, &j->compute, &j->drift);
    put(v, row->efficiency, ASSAY_DERIVED);
    put(v, row->kernels, ASSAY_MEASURED);
    put(v, row->kernel_mean_s, ASSAY_DERIVED);
    put(v, row->gap_mean_s, ASSAY_DERIVED);
    put(v, row->busy, ASSAY_DERIVED);
    assay__table_cell(t, share_datum(v, row));
    assay__table_text(t, row->level);
    assay__table_judged(t, j->usable, &j->utilization);
    put(v, row->baseline_per_s, ASSAY_DERIVED);
    put(v, isfinite(row->baseline_per_s) ? row->rate.value : (double)NAN, ASSAY_MEASURED);
    assay__table_cell(t, ratio_datum(v, &row->ratio));
    assay__table_numbers(t, ASSAY_DERIVED, row->ratio.ci.low, row->ratio.ci.high,
                         row->ratio.p_value, row->ratio.smallest);
    assay__table_texts(t, assay__verdict_name(row->verdict), j->reason, row->kernels_reason,
                       row->bandwidth_reason, row->ratio_reason);
}

/* --- what it shows ---------------------------------------------------------------------------- */

static void add_baseline(struct view *v)
{
    const struct assay__bench *bench = v->bench;
    size_t judged = bench->faster + bench->slower + bench->same;
    if (!judged && !bench->unjudged) return;
    assay__doc_fact_text(v->doc, "baseline", bench->baseline);
    assay__doc_fact(v->doc, "throughput");
    if (judged)
        assay__doc_item_text(
            v->doc,
            "%zu faster, %zu slower, %zu without a difference; by chance one in twenty of "
            "equal ones would differ",
            bench->faster, bench->slower, bench->same);
    if (bench->unjudged) assay__doc_item_text(v->doc, "%zu without a verdict", bench->unjudged);
}

static void add_scaling(struct view *v)
{
    for (size_t i = 0; i < v->bench->scaling_count; i++) {
        const struct assay__bench_scaling *s = &v->bench->scalings[i];
        const struct assay__bench_row *first = &v->bench->rows[s->first],
                                      *last = &v->bench->rows[s->last];
        double plain = last->judged.latency.value / first->judged.latency.value;
        const char *interval =
            s->ratio.ci.known
                ? assay__doc_printf(v->doc, " (%s)",
                                    assay__digits_range(s->ratio.ci.low, s->ratio.ci.high).text)
                : "; no interval";
        double shown = isfinite(s->ratio.ratio) ? s->ratio.ratio : plain;
        assay__doc_fact(v->doc, "rank scaling");
        assay__doc_item_text(v->doc, "%s takes %s × the time of %s%s", last->judged.label,
                             assay__digits(shown, 3).text, first->judged.label, interval);
    }
}

/* Why cells are empty, each reason once with the benchmarks that have it. */
static void add_reasons(struct view *v)
{
    const struct assay__bench *bench = v->bench;
    struct assay__fault *faults = assay__doc_array(v->doc, 4 * bench->count + 1, sizeof *faults);
    for (size_t i = 0; faults && i < bench->count; i++) {
        const struct assay__bench_row *row = &bench->rows[i];
        const char *label = row->judged.label,
                   *limits = assay__doc_reason(v->doc, "memory.bandwidth_utilization",
                                               row->bandwidth_reason);
        faults[i] = (struct assay__fault){row->judged.usable ? NULL : "not run", label,
                                          row->judged.reason};
        faults[bench->count + i] = (struct assay__fault){*row->kernels_reason ? "kernels" : NULL,
                                                         label, row->kernels_reason};
        faults[2 * bench->count + i] = (struct assay__fault){
            *row->bandwidth_reason ? "share of ceilings" : NULL, label, limits};
        faults[3 * bench->count + i] = (struct assay__fault){
            *row->ratio_reason ? "no verdict" : NULL, label, row->ratio_reason};
    }
    if (faults) assay__point_faults(v->doc, faults, 4 * bench->count);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    if (!trial || study->profile->kind != ASSAY__PROFILE_BENCH) return;
    struct view v = {.doc = doc, .profile = study->profile, .bench = assay__study_bench(study)};
    const struct assay__bench *bench = v.bench;
    if (study->failed) return;
    assay__doc_section(doc, "bench", "Benchmarks", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET);
    assay__doc_fact_number(doc, "measured", bench->measured_s, "s");
    if (bench->device_count > 1) {
        assay__doc_fact(doc, "in kernels");
        for (size_t i = 0; i < bench->device_count; i++)
            assay__doc_item_text(doc, "%s: %s %%", bench->efficiencies[i].device,
                                 assay__digits(bench->efficiencies[i].median * 100, 3).text);
    } else {
        assay__doc_fact_number(doc, "in kernels", bench->efficiency, "ratio");
    }
    if (bench->efficient_count > 1)
        assay__doc_item_text(
            doc, "median%s over the benchmarks; least in %s: %s %%",
            bench->device_count > 1 ? "s" : "", bench->rows[bench->least_efficient].judged.label,
            assay__digits(bench->rows[bench->least_efficient].efficiency * 100, 3).text);
    add_scaling(&v);
    add_baseline(&v);
    v.table = assay__doc_table(doc, "benchmarks", "The benchmarks", columns);
    v.table->parts = parts;
    v.table->part_count = bench->faster + bench->slower + bench->same + bench->unjudged ? 3 : 2;
    for (size_t i = 0; i < bench->count; i++)
        put_row(&v, &bench->rows[i]);
    add_reasons(&v);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_bench = {
    "bench", ASSAY__OF_PROFILE, build, {{"benchmarks", ASSAY__ARRAY(columns)}}};
