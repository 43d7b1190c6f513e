/* csv_comparison.c - a comparison as one flat table: a row per trial, base units, an empty cell
 * where a number is not known. */
#include "judge/comparison.h"
#include "report/parts.h"

#include <math.h>
#include <stdint.h>

const char assay__csv_comparison_header[] =
    "trial,label,device,role,usable,latency_s,latency_p99_s,throughput_per_s,memory_bytes,"
    "device_memory_bytes,power_w,energy_j,tops_per_watt,score,speedup,speedup_low,speedup_high,"
    "p_value,smallest_difference,verdict,speedup_of,energy_ratio,energy_ratio_low,energy_ratio_"
    "high,"
    "drift_max_absolute,drift_relative_l2,drift_cosine,drift_top1,drift_nonfinite,nodes,elsewhere,"
    "partitions,crossings,crossing_bytes,crossing_time_s,flops_share,recommended_for,reason,"
    "not_advised\n";

static void put_goals(struct assay__buf *out, const struct assay__comparison *all, size_t row)
{
    const char *between = "";
    assay__buf_putc(out, ',');
    for (int goal = 0; goal < ASSAY__FOR_COUNT; goal++) {
        if (all->recommendations[goal].row != row) continue;
        assay__buf_printf(out, "%s%s", between, assay__goal_name((enum assay__goal_kind)goal));
        between = " ";
    }
}

static void put_row(struct assay__buf *out, const struct assay_profile *profile,
                    const struct assay__comparison *all, size_t i)
{
    const struct assay__comparison_row *r = &all->rows[i];
    const struct assay__trial *trial = &profile->trials[r->trial];
    const struct assay__placement_summary *f = &r->placement;
    const double numbers[] = {r->latency_s,     r->latency_p99_s,       r->throughput,
                              r->memory_bytes,  r->device_memory_bytes, r->power_w,
                              r->energy_j,      r->tops_per_watt,       r->score,
                              r->speed.ratio,   r->speed.ci.low,        r->speed.ci.high,
                              r->speed.p_value, r->speed.smallest};
    const double more[] = {r->energy_ratio,
                           r->energy.ci.low,
                           r->energy.ci.high,
                           assay__trial_value(trial, "drift.max_absolute"),
                           assay__trial_value(trial, "drift.relative_l2"),
                           assay__trial_value(trial, "drift.cosine"),
                           assay__trial_value(trial, "drift.top1"),
                           r->nonfinite,
                           f->nodes,
                           f->elsewhere,
                           f->partitions,
                           f->crossings,
                           f->crossing_bytes,
                           f->crossing_time_s,
                           f->flops_share};
    assay__buf_printf(out, "%d", trial->id);
    assay__csv_next_text(out, r->label);
    assay__csv_next_text(out, trial->target.device);
    assay__csv_next_text(out,
                         assay__role_name(i == all->reference ? ASSAY__ROLE_REFERENCE : r->role));
    assay__buf_puts(out, r->usable ? ",yes" : ",no");
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        assay__csv_next_number(out, numbers[k]);
    assay__csv_next_text(out, assay__verdict_name(r->verdict));
    assay__csv_next_text(out, isfinite(r->speed.ratio) ? assay__ratio_by_name(r->speed.by) : "");
    for (size_t k = 0; k < sizeof more / sizeof more[0]; k++)
        assay__csv_next_number(out, more[k]);
    put_goals(out, all, i);
    assay__csv_next_text(out, r->reason);
    assay__csv_next_text(out, r->unadvised);
    assay__buf_putc(out, '\n');
}

void assay__csv_comparison(const struct assay_profile *profile, struct assay__buf *out)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    if (!arena || assay__comparison(profile, arena, &all))
        out->failed = true;
    else
        for (size_t i = 0; i < all.count; i++)
            put_row(out, profile, &all, i);
    assay__arena_free(arena);
}
