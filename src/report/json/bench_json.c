/* bench_json.c - "bench": the benchmarks of a profile with their key performance indicators (design
 * section 10); and the list of the benchmarks. */
#include "judge/bench.h"
#include "report/json/json_parts.h"
#include "report/report_bench.h"

#include <math.h>
#include <stdint.h>

static void put_row(struct assay__json_writer *w, const struct assay_profile *profile,
                    const struct assay__bench_row *row)
{
    const struct assay__judged *j = &row->judged;
    assay__json_record(
        w, NULL, json_integer("trial", profile->trials[j->trial].id),
        json_string("label", j->label), json_text("benchmark", row->benchmark),
        json_text("family", row->row ? row->row->family : ""), json_string("device", row->device),
        json_bool("usable", j->usable), json_text("reason", j->reason),
        json_number("latency_s", j->latency.value), json_number("latency_p99_s", j->p99.value),
        json_number("inferences_per_s", row->rate.value),
        json_number("measured_s", row->measured_s), json_number("kernels", row->kernels),
        json_number("kernel_efficiency", row->efficiency),
        json_number("kernel_mean_s", row->kernel_mean_s),
        json_number("gap_mean_s", row->gap_mean_s), json_number("gpu_busy", row->busy),
        json_text("kernels_reason", row->kernels_reason),
        json_number("bandwidth_bytes_per_s", j->bandwidth.value),
        json_number("bandwidth_share", row->bandwidth_share), json_text("level", row->level),
        json_text("bandwidth_reason", row->bandwidth_reason),
        json_number("flops_per_s", j->compute.value),
        json_number("compute_share", j->utilization.value),
        json_number("baseline_per_s", row->baseline_per_s), json_number("ratio", row->ratio.ratio),
        json_number("ratio_low", row->ratio.ci.low), json_number("ratio_high", row->ratio.ci.high),
        json_number("p_value", row->ratio.p_value),
        json_number("smallest_difference", row->ratio.smallest),
        json_text("verdict", assay__verdict_name(row->verdict)),
        json_text("ratio_reason", row->ratio_reason));
}

void assay__json_bench(struct assay__json_writer *w, struct assay__study *study)
{
    const struct assay__bench *bench = assay__study_bench(study);
    assay__json_put_object(w, "bench");
    for (ASSAY__JSON_EACH(i, w, "benchmarks", bench->count))
        put_row(w, study->profile, &bench->rows[i]);
    for (ASSAY__JSON_EACH(i, w, "rank_scaling", bench->scaling_count)) {
        const struct assay__bench_scaling *s = &bench->scalings[i];
        assay__json_record(w, NULL, json_string("device", s->device),
                           json_string("from", bench->rows[s->first].judged.label),
                           json_string("to", bench->rows[s->last].judged.label),
                           json_number("time_ratio", s->ratio.ratio),
                           json_number("time_ratio_low", s->ratio.ci.low),
                           json_number("time_ratio_high", s->ratio.ci.high),
                           json_text("reason", s->reason));
    }
    assay__json_members(
        w, json_number("measured_s", bench->measured_s),
        json_number("kernel_efficiency", bench->efficiency), json_text("baseline", bench->baseline),
        json_integer("faster", (int64_t)bench->faster),
        json_integer("slower", (int64_t)bench->slower), json_integer("same", (int64_t)bench->same),
        json_integer("unjudged", (int64_t)bench->unjudged));
    assay__json_object_end(w);
}

void assay__benchmarks_json(struct assay__buf *out)
{
    const struct assay__benchmark *row;
    struct assay__json_writer w;
    assay__json_head(&w, out, "bench");
    assay__json_put_array(&w, "benchmarks");
    for (size_t i = 0; (row = assay__benchmark_at(i)); i++)
        assay__json_record(&w, NULL, json_string("name", row->name),
                           json_string("family", row->family), json_string("model", row->model),
                           json_string("summary", row->summary));
    assay__json_array_end(&w);
    assay__json_tail(&w);
}
