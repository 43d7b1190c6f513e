/* require.c - a trial judged by a requirement table: a pure function of the profile. An unknown
 * metric does not count against the trial: its verdict is "unavailable", with the metric's
 * reason. */
#include "judge/require.h"

#include "judge/require_advice.h"
#include "base/metric_value.h"
#include "base/text.h"
#include "cost/score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *assay__require_state_name(enum assay__require_state state)
{
    static const char *const names[] = {"none", "pass", "fail", "unavailable"};
    return names[state];
}

/* --- one row ---------------------------------------------------------------------------------- */

static const struct assay_metric *measured_of(const struct assay__trial *trial,
                                              enum assay__require_kind kind)
{
    if (kind == ASSAY__REQUIRE_MEMORY)
        return assay__peak_memory(trial->metrics, assay__trial_on_cpu(trial));
    return assay_metrics_get(trial->metrics, assay__require_info(kind)->metric);
}

static const char *reason_of(const struct assay_metric *metric, enum assay__require_kind kind,
                             struct assay__arena *arena)
{
    return assay__arena_text(
        arena, "%s: %s", metric ? metric->name : assay__require_info(kind)->metric,
        metric && metric->note && *metric->note ? metric->note : "it was not measured");
}

static enum assay__require_state state_of(const struct assay__requirement *row, double required,
                                          double ratio)
{
    if (!isfinite(required)) return ASSAY__REQUIRE_NONE;
    if (!isfinite(ratio)) return ASSAY__REQUIRE_UNKNOWN;
    bool met = row->info->floor ? ratio >= 1 : ratio <= 1;
    return met ? ASSAY__REQUIRE_MET : ASSAY__REQUIRE_NOT_MET;
}

static enum assay__require_level level_of(const struct assay__requirement *row)
{
    double minimum = row->minimum_ratio, target = row->target_ratio;
    if (row->info->floor) {
        if (minimum < ASSAY__REQUIRE_LOW) return ASSAY__REQUIRE_TO_MINIMUM;
        return target < ASSAY__REQUIRE_LOW ? ASSAY__REQUIRE_TO_TARGET : ASSAY__REQUIRE_FINE;
    }
    if (minimum > 1) return ASSAY__REQUIRE_TO_MINIMUM;
    if (target > 1) return ASSAY__REQUIRE_TO_TARGET;
    return minimum > ASSAY__REQUIRE_LOW || target > ASSAY__REQUIRE_LOW ? ASSAY__REQUIRE_WARN
                                                                       : ASSAY__REQUIRE_FINE;
}

/* Rates are work / p50, so p50's interval is theirs: the one between launches where it is known. */
static bool too_close(const struct assay__trial *trial, const struct assay__requirement *row,
                      double required)
{
    double p50 = assay__trial_value(trial, "latency.p50"),
           low = assay__trial_value(trial, "latency.between_low"),
           high = assay__trial_value(trial, "latency.between_high");
    if (isnan(low) || isnan(high)) {
        low = assay__trial_value(trial, "latency.ci_low");
        high = assay__trial_value(trial, "latency.ci_high");
    }
    if (!(low > 0)) return false;
    if (row->kind == ASSAY__REQUIRE_TFLOPS || row->kind == ASSAY__REQUIRE_BANDWIDTH)
        return row->value * p50 / high <= required && required <= row->value * p50 / low;
    return row->kind == ASSAY__REQUIRE_P50 && low <= required && required <= high;
}

static const char *note_of(const struct assay__trial *trial, const struct assay__requirement *row,
                           struct assay__arena *arena)
{
    bool minimum = too_close(trial, row, row->minimum), target = too_close(trial, row, row->target);
    if (!minimum && !target) return "";
    return assay__arena_text(
        arena, "the %s lies within the 95 %% interval of the measurement: too close to be sure",
        minimum ? "minimum" : "target");
}

/* "the minimum of 8 TFLOP/s" of a requirement above `peak`; "" it is not above. */
static const char *name_above(const struct assay__requirement *row, double peak, bool *minimum,
                              struct assay__arena *arena)
{
    char required[64];
    *minimum = row->minimum > peak;
    if (!*minimum && !(row->target > peak)) return "";
    assay__text_scaled(required, sizeof required, *minimum ? row->minimum : row->target,
                       row->info->unit);
    return assay__arena_text(arena, "the %s of %s", *minimum ? "minimum" : "target", required);
}

/* A requirement above the published peak of the table's chip. */
static const char *unreachable_of(const struct assay__require_evidence *evidence,
                                  struct assay__requirement *row, struct assay__arena *arena)
{
    const struct assay__chip *chip = evidence->table->chip;
    double published = chip ? assay__require_peak(chip, row->kind) : NAN;
    const char *name = name_above(row, published, &row->minimum_unreachable, arena);
    char peak[64];
    if (!*name) return "";
    assay__text_scaled(peak, sizeof peak, published, row->info->unit);
    return assay__arena_text(
        arena, "%s is unreachable: above the published peak of %s's %s, %s%s", name, chip->name,
        row->kind == ASSAY__REQUIRE_TFLOPS ? "GPU (float32)" : "memory", peak,
        row->value > published ? " (exceeded here: another device, or caches)" : "");
}

/* A rate above the measured peak of this device. Not for bandwidth: a model's bytes may come from
 * caches. */
static const char *beyond_of(const struct assay__require_evidence *evidence,
                             struct assay__requirement *row, struct assay__arena *arena)
{
    if (row->kind != ASSAY__REQUIRE_TFLOPS) return "";
    const char *name = name_above(row, evidence->ceiling, &row->minimum_beyond, arena);
    char peak[64];
    if (!*name) return "";
    assay__text_scaled(peak, sizeof peak, evidence->ceiling, row->info->unit);
    return assay__arena_text(arena, "%s is out of reach here: the measured peak of %s is %s", name,
                             evidence->trial->target.device, peak);
}

static struct assay__requirement judge_row(const struct assay__require_evidence *evidence,
                                           enum assay__require_kind kind,
                                           struct assay__arena *arena)
{
    struct assay__requirement row = {.kind = kind,
                                     .info = assay__require_info(kind),
                                     .measured = measured_of(evidence->trial, kind),
                                     .minimum = evidence->table->minimum[kind],
                                     .target = evidence->table->target[kind],
                                     .reason = "",
                                     .note = "",
                                     .advice = "",
                                     .advice_limit = ""};
    row.value = assay__metric_is_known(row.measured) ? row.measured->value : NAN;
    row.minimum_ratio = row.value / row.minimum;
    row.target_ratio = row.value / row.target;
    row.minimum_state = state_of(&row, row.minimum, row.minimum_ratio);
    row.target_state = state_of(&row, row.target, row.target_ratio);
    row.level = level_of(&row);
    row.unreachable = unreachable_of(evidence, &row, arena);
    row.beyond = beyond_of(evidence, &row, arena);
    if (isfinite(row.value))
        row.note = note_of(evidence->trial, &row, arena);
    else
        row.reason = reason_of(row.measured, kind, arena);
    if (row.level != ASSAY__REQUIRE_FINE) row.advice = assay__require_advice(evidence, &row, arena);
    return row;
}

/* --- all of them ------------------------------------------------------------------------------ */

static enum assay__require_state worse(enum assay__require_state a, enum assay__require_state b)
{
    static const int order[] = {0, 1, 3, 2}; /* none, met, not met, unknown */
    return order[a] >= order[b] ? a : b;
}

int assay__require_judge(const struct assay_profile *profile, const struct assay__trial *trial,
                         const struct assay__require_table *table, struct assay__arena *arena,
                         struct assay__judgement *out)
{
    struct assay__require_evidence evidence;
    *out = (struct assay__judgement){.table = table};
    int code = assay__require_evidence(profile, trial, table, arena, &evidence);
    for (int i = 0; i < ASSAY__REQUIRE_COUNT && code == 0; i++) {
        if (!isfinite(table->minimum[i]) && !isfinite(table->target[i])) continue;
        struct assay__requirement *row = &out->rows[out->count++];
        *row = judge_row(&evidence, (enum assay__require_kind)i, arena);
        out->minimum = worse(out->minimum, row->minimum_state);
        out->target = worse(out->target, row->target_state);
    }
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : code;
}

int assay__require_of(const struct assay__trial *trial, struct assay__arena *arena,
                      const struct assay__require_table **out)
{
    const struct assay__requirements *kept = trial->required;
    const struct assay__chip *chip = kept && *kept->chip ? assay__chip_find(kept->chip, NULL)
                                                         : NULL;
    *out = NULL;
    if (!kept || (*kept->chip && !chip)) return 0; /* profiles are untrusted */
    struct assay__require_table *table = assay__arena_alloc(arena, sizeof *table);
    if (!table) return ASSAY_ENOMEM;
    *table = (struct assay__require_table){.name = kept->name,
                                           .origin = kept->name,
                                           .chip = chip,
                                           .batch = kept->batch,
                                           .backbone_units = kept->backbone_units};
    memcpy(table->minimum, kept->minimum, sizeof table->minimum);
    memcpy(table->target, kept->target, sizeof table->target);
    *out = table;
    return 0;
}

/* --- kept with the trial ---------------------------------------------------------------------- */

/* Typed, and in one line as an option. */
static int keep_table(struct assay_profile *profile, struct assay__trial *trial,
                      const struct assay__require_table *table)
{
    struct assay__requirements *kept = assay__arena_alloc(profile->arena, sizeof *kept);
    if (!kept) return ASSAY_ENOMEM;
    *kept = (struct assay__requirements){
        .name = assay__arena_text(profile->arena, "%s", table->name),
        .chip = assay__arena_text(profile->arena, "%s", table->chip ? table->chip->name : ""),
        .batch = table->batch,
        .backbone_units = table->backbone_units};
    memcpy(kept->minimum, table->minimum, sizeof kept->minimum);
    memcpy(kept->target, table->target, sizeof kept->target);
    trial->required = kept;
    return assay__trial_set_option(profile, trial, "require",
                                   assay__require_text(profile->arena, table));
}

static void put_share(struct assay__trial *trial, const struct assay__require_table *table,
                      enum assay__require_kind kind)
{
    const struct assay__require_info *info = assay__require_info(kind);
    struct assay_metric required = {"required",      table->minimum[kind], info->unit,
                                    ASSAY_PUBLISHED, table->name,          ""};
    char formula[200], value[64];
    if (!isfinite(table->minimum[kind])) {
        snprintf(formula, sizeof formula, "the requirement table '%.64s' has no %s of %s",
                 table->name, info->floor ? "minimum" : "budget", info->label);
        assay_metrics_unavailable(trial->metrics, info->share, formula);
        return;
    }
    const struct assay_metric *measured = measured_of(trial, kind);
    assay__text_scaled(value, sizeof value, table->minimum[kind], info->unit);
    snprintf(formula, sizeof formula, "%s / %s, the minimum of '%.64s'",
             measured ? measured->name : info->metric, value, table->name);
    assay_metrics_ratio(trial->metrics, info->share, measured, &required, formula);
}

int assay__require_apply(struct assay_profile *profile, struct assay__trial *trial,
                         const struct assay__require_table *table)
{
    int code = keep_table(profile, trial, table);
    for (int i = 0; i < ASSAY__REQUIRE_COUNT && code == 0; i++)
        if (assay__require_info((enum assay__require_kind)i)->share)
            put_share(trial, table, (enum assay__require_kind)i);
    return code ? code : assay_metrics_failed(trial->metrics);
}
