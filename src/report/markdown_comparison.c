/* markdown_comparison.c - a comparison before its trials: the numbers, the ratios to the reference,
 * outputs and nodes, what to choose. */
#include "judge/comparison.h"
#include "base/text.h"
#include "report/parts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void put_number(struct assay__buf *out, enum assay_state state, double value,
                       const char *unit)
{
    char text[64] = "—";
    if (isfinite(value)) assay__text_scaled(text, sizeof text, value, unit);
    assay__buf_printf(out, " %s%s |", isfinite(value) ? assay__markdown_mark(state) : "", text);
}

/* How a number of a row is known: as the trial's metric (or the other, where the first is not
 * known); what is no metric is derived. */
static enum assay_state state_of(const struct assay__trial *trial, const char *metric,
                                 const char *other)
{
    const struct assay_metric *m = trial->metrics ? assay__trial_metric(trial, metric) : NULL;
    if (!m && other && trial->metrics) m = assay__trial_metric(trial, other);
    return m ? m->state : ASSAY_DERIVED;
}

static void put_numbers(struct assay__buf *out, const struct assay_profile *profile,
                        const struct assay__comparison *all)
{
    assay__buf_puts(out, "| | p50 | p99 | per second | memory | on device | power | energy (gross) "
                         "| OPS/W "
                         "| score |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *r = &all->rows[i];
        assay__buf_puts(out, "| ");
        assay__markdown_text(out, r->label);
        assay__buf_puts(out, " |");
        const struct assay__trial *t = &profile->trials[r->trial];
        put_number(out, state_of(t, "latency.p50", NULL), r->latency_s, "s");
        put_number(out, state_of(t, "latency.p99", NULL), r->latency_p99_s, "s");
        put_number(out, state_of(t, "throughput.samples", "throughput.inferences"), r->throughput,
                   "1/s");
        put_number(out, state_of(t, "memory.peak.worker", NULL), r->memory_bytes, "B");
        put_number(out, state_of(t, "memory.peak.device", NULL), r->device_memory_bytes, "B");
        put_number(out, state_of(t, "power.average", NULL), r->power_w, "W");
        put_number(out, state_of(t, "energy.inference.gross", NULL), r->energy_j, "J");
        put_number(out, state_of(t, "efficiency.tops_per_watt", NULL), r->tops_per_watt, "TOPS/W");
        if (isfinite(r->score))
            assay__buf_printf(out, " %s%.1f |\n",
                              assay__markdown_mark(state_of(t, "score.efficiency", NULL)),
                              r->score);
        else
            assay__buf_puts(out, " — |\n");
    }
}

static void put_interval(struct assay__buf *out, const struct assay__ratio *ratio, double plain,
                         const char *reason)
{
    if (isfinite(ratio->ratio))
        assay__buf_printf(out, " =%s × (%s)%s |", assay__digits(ratio->ratio, 3).text,
                          assay__digits_range(ratio->ci.low, ratio->ci.high).text,
                          assay__ratio_by_words(ratio->by));
    else if (isfinite(plain)) {
        assay__buf_printf(out, " =%s ×, no interval: ", assay__digits(plain, 3).text);
        assay__markdown_text(out, reason);
        assay__buf_puts(out, " |");
    } else
        assay__buf_puts(out, " — |");
}

static void put_ratios(struct assay__buf *out, const struct assay__comparison *all)
{
    assay__buf_puts(out, "\n| | role | speed-up | verdict | energy (gross) | why not |\n"
                         "|---|---|--:|---|--:|---|\n");
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *r = &all->rows[i];
        assay__buf_puts(out, "| ");
        assay__markdown_text(out, r->label);
        assay__buf_puts(out, " | ");
        assay__markdown_text(
            out, assay__role_name(i == all->reference ? ASSAY__ROLE_REFERENCE : r->role));
        assay__buf_puts(out, " |");
        put_interval(out, &r->speed, NAN, "");
        assay__buf_printf(out, " %s |", assay__verdict_name(r->verdict));
        put_interval(out, &r->energy, r->energy_ratio, r->energy_reason);
        assay__buf_putc(out, ' ');
        assay__markdown_text(out, *r->unadvised ? r->unadvised : r->reason);
        assay__buf_puts(out, " |\n");
    }
}

static void put_share(struct assay__buf *out, enum assay_state state, double value,
                      const char *format)
{
    char text[64] = "—";
    if (isfinite(value)) snprintf(text, sizeof text, format, value);
    assay__buf_printf(out, " %s%s |", isfinite(value) ? assay__markdown_mark(state) : "", text);
}

static void put_drift(struct assay__buf *out, const struct assay__trial *trial, const char *metric,
                      double factor, const char *format)
{
    put_share(out, state_of(trial, metric, NULL), assay__trial_value(trial, metric) * factor,
              format);
}

static void put_placement(struct assay__buf *out, const struct assay_profile *profile,
                          const struct assay__comparison *all)
{
    assay__buf_puts(out,
                    "\n| | relative L2 | cosine | same first class | NaN or infinite | nodes on "
                    "it | elsewhere | pieces | crossings | crossing bytes | crossing time |\n"
                    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *r = &all->rows[i];
        const struct assay__trial *trial = &profile->trials[r->trial];
        const struct assay__placement_summary *f = &r->placement;
        assay__buf_puts(out, "| ");
        assay__markdown_text(out, r->label);
        assay__buf_puts(out, " |");
        enum assay_state nodes = f->inferred > 0 ? ASSAY_DERIVED : ASSAY_MEASURED;
        put_drift(out, trial, "drift.relative_l2", 1, "%.2g");
        put_drift(out, trial, "drift.cosine", 1, "%.6f");
        put_drift(out, trial, "drift.top1", 100, "%.3g %%");
        put_share(out, state_of(trial, "drift.nonfinite", NULL), r->nonfinite, "%.0f");
        put_share(out, nodes, f->nodes, "%.0f");
        put_share(out, nodes, f->elsewhere, "%.0f");
        put_share(out, ASSAY_DERIVED, f->partitions, "%.0f");
        put_share(out, ASSAY_DERIVED, f->crossings, "%.0f");
        put_number(out, ASSAY_DERIVED, f->crossing_bytes, "B");
        put_number(out, ASSAY_DERIVED, f->crossing_time_s, "s");
        assay__buf_putc(out, '\n');
    }
}

void assay__markdown_comparison(struct assay__buf *out, const struct assay_profile *profile)
{
    struct assay__arena *arena = NULL;
    struct assay__comparison all;
    if (profile->kind != ASSAY__PROFILE_COMPARE) return;
    arena = assay__arena_new();
    if (!arena || assay__comparison(profile, arena, &all)) {
        out->failed = true;
        goto out;
    }
    assay__buf_puts(out, "\n## Comparison\n\n");
    put_numbers(out, profile, &all);
    put_ratios(out, &all);
    put_placement(out, profile, &all);
    assay__buf_putc(out, '\n');
    if (*all.batches) {
        assay__buf_puts(out, "- ");
        assay__markdown_text(out, all.batches);
        assay__buf_putc(out, '\n');
    }
    for (int goal = 0; goal < ASSAY__FOR_COUNT; goal++) {
        assay__buf_printf(out, "- **%s**: ", assay__goal_name((enum assay__goal_kind)goal));
        assay__markdown_text(out, all.recommendations[goal].why);
        assay__buf_putc(out, '\n');
    }
out:
    assay__arena_free(arena);
}
